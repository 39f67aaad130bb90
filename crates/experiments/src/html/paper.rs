//! The page of a paper: its experiments one below the other.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{block, colour, counts, shell, status};
use crate::figure::FigureError;
use crate::report::edition::{Chapter, Edition, Section, State};

pub(super) fn page(edition: &Edition, chapter: &Chapter) -> Result<Markup, FigureError> {
    let mut colours = BTreeSet::new();
    let sections: Result<Vec<Markup>, FigureError> =
        chapter.experiments.iter().map(|section| experiment(section, &mut colours)).collect();
    let sections = sections?;
    let main = html! {
        h1 { (chapter.title) }
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
    Ok(shell(edition, Some(chapter), &title, &colour::style(&colours), &main))
}

fn experiment(section: &Section, colours: &mut BTreeSet<colour::Rgb>) -> Result<Markup, FigureError> {
    let content = match &section.state {
        State::Waiting => html! { p.quiet { "Not in this run; the command above adds it." } },
        State::Failed { error } => html! { p.failed { strong { "It failed: " } (error) } },
        State::Done { kept, .. } => {
            let blocks = kept.report.blocks().iter().map(|each| block::block(each, &section.command, colours));
            let blocks: Result<Vec<Markup>, FigureError> = blocks.collect();
            html! { @for block in &blocks? { (block) } }
        }
    };
    Ok(html! {
        section.experiment #(section.name) aria-labelledby={ (section.name) "-title" } {
            h2 #{ (section.name) "-title" } { (section.report().map_or(section.title.as_str(), |report| report.title())) }
            p.counts { @if section.report().is_some() { (counts(&section.tally())) } span.quiet { (status(section)) } }
            p.command { code { (section.command) } }
            (content)
        }
    })
}
