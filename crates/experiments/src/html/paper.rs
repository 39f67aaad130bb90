//! The page of a paper: its statements, then its experiments, each with the result of this run and
//! that at the paper's size.

use maud::{Markup, html};

use super::markdown::words;
use super::{FULL, OWN, content, counts, duration, file, shell, standing};
use crate::experiment::Paper;
use crate::report::edition::{Edition, Section, SectionState};
use crate::report::kept::KeptReport;
use crate::statements::{self, Evidence, Statement, Status};

pub(super) fn page(edition: &Edition, paper: &Paper) -> Markup {
    let statements = statements::find(paper.name);
    let main = html! {
        h1 { (paper.title) }
        (super::source(paper))
        p.command { code { (edition.provenance.plan.command(&[paper.name])) } }
        nav.contents aria-label="Experiments" {
            ol {
                @for section in edition.sections_of(paper) { li { a href={ "#" (section.experiment.name) } { (section.experiment.title) } } }
            }
        }
        @if !statements.is_empty() { (table(&statements)) }
        @for section in edition.sections_of(paper) { (experiment(edition, section)) }
    };
    shell(edition, &file(paper), &format!("{} · Mercer, reproduced", paper.name), &main)
}

fn table(statements: &[Statement]) -> Markup {
    html! {
        section aria-labelledby="statements" {
            h2 #statements { "Statement by statement" }
            p.counts { (numbers(statements)) }
            div.scroll tabindex="0" role="group" aria-labelledby="statements" {
                table.stack aria-labelledby="statements" {
                    thead { tr { @for name in ["statement", "in our words", "code", "shown by", "how it stands"] { th scope="col" { (name) } } } }
                    tbody {
                        @for each in statements {
                            tr {
                                td { (each.name) }
                                td.long { (super::formula::inline(&each.words)) }
                                td.evidence { (evidence(&each.code)) }
                                td.evidence { (evidence(&each.shown)) }
                                td.long { (standing(each.status, each.status.name())) " " (words(&each.reason)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Files, tests, and tables with their counts, a line each.
fn evidence(all: &[Evidence]) -> Markup {
    html! {
        ul {
            @for each in all {
                li {
                    @let path = if let Evidence::File { path, .. } = each { Some(path) } else { None };
                    code title=[path] { (each) }
                    @if let Evidence::Table { count: Some((came_out, all)), .. } = each { " " (came_out) " of " (all) }
                }
            }
        }
    }
}

/// Numbers of statements by status.
pub(super) fn numbers(statements: &[Statement]) -> Markup {
    html! {
        @for status in Status::ALL {
            @let count = statements.iter().filter(|each| each.status == status).count();
            @if count > 0 { (standing(status, &format!("{count} {}", status.name()))) " " }
        }
    }
}

fn experiment(edition: &Edition, section: &Section) -> Markup {
    let experiment = section.experiment;
    let beside = section.beside(&edition.provenance.plan);
    html! {
        section.experiment #(experiment.name) aria-labelledby={ (experiment.name) "-title" } {
            h2 #{ (experiment.name) "-title" } { (experiment.title) }
            p.place { @if experiment.place.starts_with(char::is_uppercase) { "In the paper: " } (experiment.place) }
            h3 { "Question" }
            p.words { (experiment.question) }
            p.command { code { (edition.provenance.plan.command(&[experiment.name])) } }
            @match &section.state {
                SectionState::Waiting => { p.quiet { "Not in this run; the command above adds it." } },
                SectionState::Failed(error) => { p.failed { strong { "It failed: " } (error) } },
                SectionState::Done { kept, reused } => {
                    p.counts {
                        (counts(&kept.tally()))
                        span.quiet {
                            (duration(kept.seconds)) ", finished " (kept.finished) @if *reused { ", reused from an earlier run" }
                        }
                    }
                    @if beside.is_some() {
                        details { summary { "This run, at a reduced size" } (content::result(&kept.report, experiment.reading, OWN, "run-")) }
                    } @else { (content::result(&kept.report, experiment.reading, OWN, "run-")) }
                },
            }
            @if let Some(full) = beside {
                div.kept {
                    h3 { "At the paper’s size, from an earlier run" }
                    p.counts { (counts(&full.tally())) }
                    (origin(full, section))
                    (content::result(&full.report, experiment.reading, FULL, "full-"))
                }
            }
        }
    }
}

/// Where a kept result comes from.
fn origin(full: &KeptReport, section: &Section) -> Markup {
    let provenance = &full.provenance;
    html! {
        p.quiet {
            "From commit " code { (provenance.program.commit) } ", finished " (full.finished) " after " (duration(full.seconds)) " on "
            (provenance.machine.processor) "; " (provenance.data.len()) " data sets found, " (provenance.absent.len()) " not. "
            @if !full.is_current(section.experiment) { "The experiment’s sources have changed since. " }
            code { (full.command()) }
        }
    }
}
