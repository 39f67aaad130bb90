//! Results at the papers' size that earlier runs gave: a box beside a smaller run, a page of their
//! own, and their counts on the front page. Each says which commit, machine, date and command it
//! comes from.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::block::result;
use super::picture::Surroundings;
use super::{block, colour, counts, duration, full_file, has_kept, shell};
use crate::figure::FigureError;
use crate::report::Block;
use crate::report::edition::{Beside, Chapter, Edition, Section};
use crate::report::full::FullResult;
use crate::table::Table;

/// The page of a paper's kept results.
pub(super) fn page(edition: &Edition, chapter: &Chapter) -> Result<Markup, FigureError> {
    let mut colours = BTreeSet::new();
    let plan = &edition.provenance.plan;
    let kept: Vec<(&Section, &FullResult)> =
        chapter.experiments.iter().filter_map(|section| Some((section, section.kept(plan)?))).collect();
    let sections: Result<Vec<Markup>, FigureError> =
        kept.iter().map(|(section, full)| experiment(section, full, &mut colours)).collect();
    let sections = sections?;
    let main = html! {
        h1 { (chapter.title) ": at the paper’s size" }
        p.lead {
            "Nothing on this page was computed by this run. The repository keeps these results from earlier runs with all repetitions, \
             full streams and the data at hand; each names its run. Pictures keep five digits of each number. "
            a href=(super::file(chapter)) { "What this run gave" } "."
        }
        nav.contents aria-label="Experiments" {
            ol {
                @for (section, full) in &kept {
                    li { a href={ "#" (section.name) } { (section.title) } " " span.counts { (counts(&full.tally())) } }
                }
            }
        }
        @for section in &sections { (section) }
    };
    let title = format!("{} at the paper’s size · Mercer, reproduced", chapter.name);
    Ok(shell(edition, &full_file(chapter), &title, &colour::style(&colours), &main))
}

fn experiment(
    section: &Section,
    full: &FullResult,
    colours: &mut BTreeSet<colour::Rgb>,
) -> Result<Markup, FigureError> {
    let command = full.command();
    let around = Surroundings { prefix: "figure-", command: &command, files: false };
    let content = result(&full.report, section.reading, &around, colours)?;
    Ok(html! {
        section.experiment #(section.name) aria-labelledby={ (section.name) "-title" } {
            h2 #{ (section.name) "-title" } { (section.title) }
            p.place { "In the paper: " (section.place) }
            p.quiet { (origin(full)) }
            p.counts { (counts(&full.tally())) }
            p.command { code { (command) } }
            (content)
        }
    })
}

/// In the section of a smaller run: what is kept, from where, and its main table, open where this
/// run has none.
pub(super) fn beside(
    edition: &Edition,
    chapter: &Chapter,
    section: &Section,
    colours: &mut BTreeSet<colour::Rgb>,
) -> Result<Markup, FigureError> {
    Ok(match section.beside(&edition.provenance.plan) {
        None => html! {},
        Some(Beside::Stale { kept, now }) => html! {
            p.quiet {
                "A result at the paper’s size is kept, but of version " (kept) " of this experiment, and this is version " (now)
                "; it is not shown. " code { (edition.provenance.plan.papers().command(&[&section.name])) " --keep" } " renews it."
            }
        },
        Some(Beside::Current(full)) => {
            let command = full.command();
            let around = Surroundings { prefix: "kept-", command: &command, files: false };
            let is_main = |block: &&Block| matches!(block, Block::Table { stem, .. } if *stem == section.name);
            let main = full.report.blocks().iter().find(is_main);
            let main = main.map(|table| block::block(table, &around, colours)).transpose()?;
            let own = section.report().and_then(|report| report.find_table(&section.name));
            let lacks = own.is_none_or(Table::is_empty);
            html! {
                div.kept {
                    h3 { "At the paper’s size, from an earlier run" }
                    p.counts { (counts(&full.tally())) }
                    p.words {
                        (origin(full)) " "
                        a href={ (full_file(chapter)) "#" (section.name) } { "All tables and figures of that run" } "."
                    }
                    @if let Some(main) = main {
                        details open[lacks] {
                            summary { "Its main table" }
                            (main)
                        }
                    }
                }
            }
        }
    })
}

/// The kept results on the front page, counted apart from this run's.
pub(super) fn summary(edition: &Edition) -> Markup {
    let plan = &edition.provenance.plan;
    let stale = edition.sections().filter(|section| matches!(section.beside(plan), Some(Beside::Stale { .. }))).count();
    html! {
        @if edition.kept().next().is_some() || stale > 0 {
            section aria-labelledby="kept" {
                h2 #kept { "At the papers’ size, from earlier runs" }
                p.words {
                    "This run is smaller than the papers’ or lacks data. The repository keeps results of earlier runs at the papers’ size. The \
                     tallies above leave them out. Of the " (edition.kept().count()) " shown, the tally is:"
                }
                p.counts { (counts(&edition.kept_tally())) }
                @if stale > 0 {
                    p.quiet { "Not shown, because an earlier version of the experiment gave them: " (stale) "." }
                }
                @for chapter in edition.papers.iter().filter(|chapter| has_kept(edition, chapter)) {
                    h3 { a href=(full_file(chapter)) { (chapter.title) } }
                    ul.experiments {
                        @for section in &chapter.experiments {
                            @if let Some(full) = section.kept(plan) {
                                li {
                                    a href={ (full_file(chapter)) "#" (section.name) } { (section.title) }
                                    span.counts {
                                        (counts(&full.tally()))
                                        span.quiet { (full.finished) ", commit " (full.provenance.program.commit) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where a kept result comes from.
fn origin(full: &FullResult) -> Markup {
    let provenance = &full.provenance;
    html! {
        "From commit " code { (provenance.program.commit) } ", finished " (full.finished) " after " (duration(full.seconds)) " on "
        (provenance.machine.processor) " (" (provenance.machine.system) ") with " (provenance.plan.threads)
        @if provenance.plan.threads == 1 { " thread" } @else { " threads" }
        "; " (provenance.data.len()) " data sets found, " (provenance.absent.len()) " not. Version " (full.version) " of the experiment."
    }
}
