//! The report as pages for a browser: a front page and a page a paper.
//!
//! Style and script are inside a page; pictures are the files of the run, in the folder above, and
//! those of kept results in `full` beside them. Nothing is asked of a network. Pages follow the
//! reader's choice of a light or dark theme (paper is always light), fit a phone (a wide table or
//! picture scrolls within its own box), and work without the script, which sorts tables. A verdict
//! is told by its word and its mark as well as by its colour.
//!
//! Everything is made from the values of an [`Edition`] by templates that escape what they are
//! given; Markdown keeps no HTML of its own.

use std::path::{Path, PathBuf};

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::experiment::Paper;
use crate::judgement::ComparisonKind;
use crate::judgement::Outcome;
use crate::report;
use crate::report::edition::Edition;
use crate::report::tally::Tally;
use crate::statements::Status;

mod content;
mod formula;
mod front;
mod markdown;
mod paper;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes the pages and `report.json` into `report` of the folder `out`, the pictures of the kept
/// results that the pages show into its `full`, and gives the files' paths.
pub fn save(edition: &Edition, out: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = pages(edition);
    pages.push(("report.json".to_owned(), edition.json().to_string()));
    let mut files = report::save(&out.join("report"), pages)?;
    for kept in edition.kept() {
        files.extend(report::save(&out.join("full"), kept.report.pictures()?)?);
    }
    Ok(files)
}

/// The pages' file names and texts, the front page first.
pub fn pages(edition: &Edition) -> Vec<(String, String)> {
    let front = (FRONT.to_owned(), front::page(edition).into_string());
    let papers = edition.papers.iter().map(|paper| (file(paper), paper::page(edition, paper).into_string()));
    std::iter::once(front).chain(papers).collect()
}

/// The page of a paper.
fn file(paper: &Paper) -> String {
    format!("{}.html", paper.name)
}

/// The front page.
const FRONT: &str = "index.html";

/// Where the files of this run lie, seen from a page.
const OWN: &str = "../";

/// Where the pictures of kept results lie.
const FULL: &str = "../full/";

/// The frame that all pages share; `here` is the page's file.
fn shell(edition: &Edition, here: &str, title: &str, main: &Markup) -> Markup {
    let current = |file: &str| (file == here).then_some("page");
    let provenance = &edition.provenance;
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
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    nav aria-label="Pages" {
                        a href=(FRONT) aria-current=[current(FRONT)] { "Overview" }
                        @for paper in edition.papers {
                            a href=(file(paper)) aria-current=[current(&file(paper))] title=(paper.title) { (paper.name) }
                        }
                    }
                }
                main #main { (main) }
                footer {
                    p {
                        "Commit " (provenance.program.commit) " · seed " (provenance.plan.seed) " · " (provenance.machine.processor)
                        " · " (provenance.plan.threads) " threads · written " (edition.written)
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Who wrote a paper, when, where it can be found, and what it claims.
fn source(paper: &Paper) -> Markup {
    html! {
        @if let Some(source) = &paper.source {
            p.source { (source.authors) " (" (source.year) "). " (source.place) ". " a href=(source.link) { (source.link) } }
        }
        p.words { @if paper.source.is_some() { strong { "It claims: " } } (paper.claim) }
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

/// How a statement stands, with its words: what was built and what needs a choice of ours have
/// badges of their own, because neither is a statement that holds as printed.
fn standing(status: Status, words: &str) -> Markup {
    let (class, path) = match status {
        Status::Holds => return badge(Outcome::Reproduced, words),
        Status::Differs => return badge(Outcome::Differs, words),
        Status::NotTested | Status::NotTestable => return badge(Outcome::NotRun, words),
        // A brick, and a fork.
        Status::Built => ("built", "M2.5 4.5h11v7h-11ZM8 4.5v7"),
        Status::WithOurChoice => ("choice", "M8 13.5V8.5L3.5 3M8 8.5 12.5 3"),
    };
    html! {
        span class={ "badge " (class) } {
            svg.mark viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" { path d=(path) {} }
            (words)
        }
    }
}

/// Numbers of comparisons by outcome, the kinds apart. An outcome without comparisons is left out.
fn counts(tally: &Tally) -> Markup {
    html! {
        @if *tally == Tally::default() { span.quiet { "nothing compared" } }
        @for kind in ComparisonKind::ALL {
            @let own = tally.counts(kind);
            @if own.total() > 0 {
                span.kind {
                    span.quiet { (kind.name()) ":" } " "
                    @for outcome in Outcome::ALL {
                        @if own.count(outcome) > 0 { (badge(outcome, &format!("{} {}", own.count(outcome), kind.word(outcome)))) " " }
                    }
                    @if own.qualified > 0 { span.quiet { "(" (own.qualified) " " (kind.qualified()) ")" } }
                }
            }
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
