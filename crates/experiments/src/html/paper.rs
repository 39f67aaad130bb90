//! The page of a paper: its experiments one below the other.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::picture::Surroundings;
use super::{block, colour, counts, file, kept, shell, status};
use crate::figure::FigureError;
use crate::report::edition::{Chapter, Edition, Section, State};

pub(super) fn page(edition: &Edition, chapter: &Chapter) -> Result<Markup, FigureError> {
    let mut colours = BTreeSet::new();
    let sections: Result<Vec<Markup>, FigureError> =
        chapter.experiments.iter().map(|section| experiment(edition, chapter, section, &mut colours)).collect();
    let sections = sections?;
    let main = html! {
        h1 { (chapter.title) }
        (super::source(chapter))
        (citation(chapter))
        @if chapter.experiments.iter().any(|section| section.report().is_some()) { p.counts { (counts(&chapter.tally())) } }
        p.command { code { (edition.provenance.plan.command(&[&chapter.name])) } }
        nav.contents aria-label="Experiments" {
            ol {
                @for section in &chapter.experiments {
                    li { a href={ "#" (section.name) } { (section.title) } @if section.report().is_some() { " " span.counts { (counts(&section.tally())) } } }
                }
            }
        }
        @for section in &sections { (section) }
    };
    let title = format!("{} · Mercer, reproduced", chapter.name);
    Ok(shell(edition, &file(chapter), &title, &colour::style(&colours), &main))
}

/// How to cite the paper, to be copied.
fn citation(chapter: &Chapter) -> Markup {
    html! {
        @if let Some(source) = &chapter.source {
            details.cite {
                summary { "Cite the paper" }
                pre #citation { (source.authors) " (" (source.year) "). " (chapter.title) ". " (source.place) ". " (source.link) }
                button type="button" data-copy="citation" hidden { "Copy" }
            }
        }
    }
}

fn experiment(
    edition: &Edition,
    chapter: &Chapter,
    section: &Section,
    colours: &mut BTreeSet<colour::Rgb>,
) -> Result<Markup, FigureError> {
    let content = match &section.state {
        State::Waiting => html! { p.quiet { "Not in this run; the command above adds it." } },
        State::Failed { error } => html! { p.failed { strong { "It failed: " } (error) } },
        State::Done { kept: done, .. } => {
            let around = Surroundings { prefix: "figure-", command: &section.command, files: true };
            block::result(&done.report, section.reading, &around, colours)?
        }
    };
    Ok(html! {
        section.experiment #(section.name) aria-labelledby={ (section.name) "-title" } {
            h2 #{ (section.name) "-title" } { (section.title) }
            p.place { "In the paper: " (section.place) }
            h3 { "Question" }
            p.words { (section.question) }
            p.counts { @if section.report().is_some() { (counts(&section.tally())) } span.quiet { (status(section)) } }
            p.command { code { (section.command) } }
            (content)
            (kept::beside(edition, chapter, section, colours)?)
        }
    })
}
