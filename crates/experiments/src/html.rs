//! The report as pages for a browser: a front page, a page a paper, and one for each paper with results at its size that earlier runs
//! gave, as far as this run is smaller.
//!
//! A page is one file that needs nothing else: style, script and pictures are inside it, and it asks no network for anything. Links
//! lead to the other pages and, in the folder above, to the same pictures and tables as files. Pages follow the reader's choice of a
//! light or dark theme (paper is always light), fit a phone (a wide table or picture scrolls within its own box), and work without
//! the script, which reads values off pictures, turns series on and off, zooms and sorts tables. A verdict is told by its word and its mark as well as by its colour.
//!
//! Everything is made from the values of an [`Edition`] by templates that escape what they are given; Markdown keeps no HTML of its
//! own.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::FigureError;
use crate::judgement::Kind;
use crate::report::edition::{Chapter, Edition, Section, State};
use crate::report::tally::Tally;
use crate::verdict::Outcome;

mod block;
mod colour;
mod formula;
mod front;
mod kept;
mod markdown;
mod paper;
mod picture;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The pages' file names and texts, the front page first.
///
/// # Errors
/// [`FigureError`] of the first picture that cannot be drawn.
pub fn pages(edition: &Edition) -> Result<Vec<(String, String)>, FigureError> {
    let mut pages = vec![(FRONT.to_owned(), front::page(edition).into_string())];
    for chapter in &edition.papers {
        pages.push((file(chapter), paper::page(edition, chapter)?.into_string()));
        if has_kept(edition, chapter) {
            pages.push((full_file(chapter), kept::page(edition, chapter)?.into_string()));
        }
    }
    Ok(pages)
}

/// The names of pages that another run may have and this one has not.
pub(crate) fn absent(edition: &Edition) -> impl Iterator<Item = String> {
    edition.papers.iter().filter(|chapter| !has_kept(edition, chapter)).map(full_file)
}

fn has_kept(edition: &Edition, chapter: &Chapter) -> bool {
    chapter.experiments.iter().any(|section| section.kept(&edition.provenance.plan).is_some())
}

/// The page of a paper.
fn file(chapter: &Chapter) -> String {
    format!("{}.html", chapter.name)
}

/// The page of its results at the paper's size from earlier runs.
fn full_file(chapter: &Chapter) -> String {
    format!("{}-full.html", chapter.name)
}

/// The front page.
const FRONT: &str = "index.html";

/// What all pages share; `here` is the page's file. `colours` are the style's part for the pictures of this page.
fn shell(edition: &Edition, here: &str, title: &str, colours: &str, main: &Markup) -> Markup {
    let current = |file: &str| (file == here).then_some("page");
    html! {
        (DOCTYPE)
        html lang="en-GB" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="cargo xtask reproduce";
                title { (title) }
                // Without an icon of its own a page on a server would ask for one.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) (PreEscaped(colours)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    nav aria-label="Pages" {
                        a href=(FRONT) aria-current=[current(FRONT)] { "Overview" }
                        @for chapter in &edition.papers {
                            a href=(file(chapter)) aria-current=[current(&file(chapter))] title=(chapter.title) { (chapter.name) }
                        }
                    }
                }
                main #main.page[here != FRONT] { (main) }
                footer { (front::colophon(edition)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Who wrote a paper, when, where it can be found, and what it claims.
fn source(chapter: &Chapter) -> Markup {
    html! {
        @if let Some(source) = &chapter.source {
            p.source { (source.authors) " (" (source.year) "). " (source.place) ". " a href=(source.link) { (source.link) } }
        }
        p.words { @if chapter.source.is_some() { strong { "It claims: " } } (chapter.claim) }
    }
}

/// A verdict: a mark, its words and a colour.
fn badge(outcome: Outcome, words: &str) -> Markup {
    html! { span class={ "badge " (class(outcome)) } { (mark(outcome)) (words) } }
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Reproduced => "reproduced",
        Outcome::Differs => "differs",
        Outcome::NotRun => "not-run",
    }
}

/// A tick, a crossed-out equals sign, an empty circle.
fn mark(outcome: Outcome) -> Markup {
    let path = match outcome {
        Outcome::Reproduced => "M3 8.5 6.5 12 13 4.5",
        Outcome::Differs => "M3 6h10M3 10h10M10.5 2.5l-5 11",
        Outcome::NotRun => "M8 3a5 5 0 1 0 .01 0Z",
    };
    html! { svg.mark viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" { path d=(path) {} } }
}

/// How many came to what, the kinds apart, without those that none came to.
fn counts(tally: &Tally) -> Markup {
    html! {
        @if tally.is_empty() { span.quiet { "nothing compared" } }
        @for kind in Kind::ALL {
            @let own = tally.of(kind);
            @if own.total() > 0 {
                span.kind {
                    span.quiet { (kind.name()) ":" } " "
                    @for outcome in Outcome::ALL {
                        @if own.of(outcome) > 0 { (badge(outcome, &format!("{} {}", own.of(outcome), kind.word(outcome)))) " " }
                    }
                }
            }
        }
    }
}

/// Whether, when and for how long an experiment ran.
fn status(section: &Section) -> String {
    match &section.state {
        State::Waiting => "not in this run".to_owned(),
        State::Failed { .. } => "failed".to_owned(),
        State::Done { kept, reused } => {
            let earlier = if *reused { ", reused from an earlier run" } else { "" };
            format!("{}, finished {}{earlier}", duration(kept.seconds), kept.finished)
        }
    }
}

fn duration(seconds: f64) -> String {
    if seconds < 0.95 {
        "under a second".to_owned()
    } else if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests;
