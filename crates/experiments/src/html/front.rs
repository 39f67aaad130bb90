//! The front page: what was reproduced, what differs and what was not run, with the reasons, and where all of it comes from.

use maud::{Markup, html};

use super::{block, class, counts, duration, file, mark, shell, status};
use crate::judgement::Kind;
use crate::report::Remark;
use crate::report::edition::{Chapter, Edition, Section, State};
use crate::report::tally::Tally;
use crate::table::Judged;
use crate::verdict::Outcome;

pub(super) fn page(edition: &Edition) -> Markup {
    let main = html! {
        h1 { "Mercer, reproduced" }
        p.lead {
            "What the papers on online learning with kernels print, beside what this code measures. "
            @if edition.provenance.plan.full { "At the papers’ size." }
            @else { "At a reduced size: fewer repetitions, and shorter streams where the papers’ take long." }
            @if edition.kept().next().is_some() {
                " " a href="#kept" { "Results of earlier runs at the papers’ size" } " stand apart and are not counted here."
            }
        }
        (summary(&edition.tally()))
        section aria-labelledby="papers" {
            h2 #papers { "Papers" }
            @for chapter in &edition.papers { (card(chapter)) }
        }
        (super::kept::summary(edition))
        (reasons(edition, Outcome::Differs, "Where we differ, and why"))
        (reasons(edition, Outcome::NotRun, "What was not run, and why"))
        (origin(edition))
    };
    shell(edition, super::FRONT, "Mercer, reproduced", "", &main)
}

/// The three tallies, a tile each. They are not added up.
fn summary(tally: &Tally) -> Markup {
    html! {
        ul.tiles {
            @for kind in Kind::ALL {
                @let own = tally.of(kind);
                li.tile {
                    strong { (kind.name()) }
                    ul.outcomes {
                        @for outcome in Outcome::ALL {
                            li class=(class(outcome)) {
                                span.count { (mark(outcome)) (own.of(outcome)) } " " (kind.word(outcome))
                                @if outcome == Outcome::Reproduced && own.qualified > 0 {
                                    span.quiet { " (" (own.qualified) " of them " (qualified(kind)) ")" }
                                }
                            }
                        }
                    }
                    @if own.total() > 0 {
                        div.shares aria-hidden="true" {
                            @for outcome in Outcome::ALL {
                                @if own.of(outcome) > 0 { span class=(class(outcome)) style={ "flex-grow:" (own.of(outcome)) } {} }
                            }
                        }
                    }
                    span.quiet { (meaning(kind)) }
                }
            }
        }
    }
}

fn qualified(kind: Kind) -> &'static str {
    match kind {
        Kind::Printed | Kind::Claim => "only with a choice of ours, which the verdict names",
        Kind::Bound => "loose by more than a factor of 10",
    }
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Printed => "Numbers that a paper prints, beside ours.",
        Kind::Bound => {
            "What a paper proves or states without a number: bounds, orders of growth, which method is ahead."
        }
        Kind::Claim => "What this project says of itself, and references that it computed.",
    }
}

fn card(chapter: &Chapter) -> Markup {
    html! {
        article.card {
            h3 { a href=(file(chapter)) { (chapter.title) } }
            (super::source(chapter))
            @if chapter.experiments.iter().any(|section| section.report().is_some()) { p.counts { (counts(&chapter.tally())) } }
            ul.experiments {
                @for section in &chapter.experiments {
                    li {
                        a href={ (file(chapter)) "#" (section.name) } { (section.title) }
                        span.counts {
                            @match &section.state {
                                State::Done { kept, reused } => {
                                    (counts(&section.tally()))
                                    span.quiet { (duration(kept.seconds)) @if *reused { ", reused" } }
                                }
                                State::Failed { .. } => { span.failed { "failed" } }
                                State::Waiting => { span.quiet { (status(section)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The experiments' remarks of one kind, and every verdict of it.
fn reasons(edition: &Edition, outcome: Outcome, title: &str) -> Markup {
    let concerned = |section: &&Section| section.tally().any(outcome) > 0 || of_kind(section, outcome).next().is_some();
    let chapters: Vec<(&Chapter, Vec<&Section>)> = edition
        .papers
        .iter()
        .map(|chapter| (chapter, chapter.experiments.iter().filter(concerned).collect()))
        .collect();
    let failed = edition.sections().filter_map(|section| match &section.state {
        State::Failed { error } if outcome == Outcome::NotRun => Some((section, error)),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    let waiting = edition.sections().filter(|section| matches!(section.state, State::Waiting)).count();
    let id = class(outcome);
    html! {
        section.reasons aria-labelledby=(id) {
            h2 #(id) { (title) }
            @if chapters.iter().all(|(_, sections)| sections.is_empty()) && failed.is_empty() { p.quiet { "Nothing." } }
            @for (chapter, sections) in &chapters {
                @for section in sections {
                    h3 { a href={ (file(chapter)) "#" (section.name) } { (section.title) } }
                    @for remark in of_kind(section, outcome) { (block::remark(remark)) }
                    @if of_kind(section, outcome).next().is_none() {
                        p.quiet { "No reason set apart; the words of the experiment say what is known." }
                    }
                    (verdicts(&section.judged(), outcome))
                }
            }
            @for (section, error) in &failed {
                h3 { (section.title) }
                p.failed { strong { "It failed: " } (error) }
            }
            @if outcome == Outcome::NotRun && waiting > 0 {
                p.quiet { (waiting) " of " (edition.sections().count()) " experiments are not in this run." }
            }
        }
    }
}

fn of_kind(section: &Section, outcome: Outcome) -> impl Iterator<Item = &Remark> {
    section.remarks().filter(move |remark| remark.outcome == outcome)
}

/// Every verdict of one kind, out of sight until asked for.
fn verdicts(judged: &[Judged], outcome: Outcome) -> Markup {
    let own: Vec<&Judged> = judged.iter().filter(|judged| judged.outcome == outcome).collect();
    html! {
        @if !own.is_empty() {
            details {
                summary { (own.len()) " of " (judged.len()) " comparisons" }
                ul.verdicts { @for judged in own { li { (judged.subject) ": " span.quiet { (judged.words) } } } }
            }
        }
    }
}

/// Program, machine, plan and data.
fn origin(edition: &Edition) -> Markup {
    let provenance = &edition.provenance;
    let (program, machine, plan) = (&provenance.program, &provenance.machine, &provenance.plan);
    let repetitions = plan.repetitions.map_or_else(|| "each experiment’s own".to_owned(), |n| n.to_string());
    let cores = machine.cores;
    let facts = [
        ("Command", html! { code { (plan.command(&[])) } }),
        ("Commit", html! { code { (program.commit) } }),
        ("Program", html! { "sha256 " code { (program.sha256) } }),
        (
            "Machine",
            html! { (machine.processor) ", " (cores) @if cores == 1 { " core, " } @else { " cores, " } (machine.system) },
        ),
        ("Seed", html! { (plan.seed) "; every permutation, stream and learner derives its own from it" }),
        ("Repetitions", html! { (repetitions) }),
        ("Threads", html! { (plan.threads) "; no number but times depends on them" }),
        ("Time", html! { (duration(edition.seconds())) " of experiments" }),
        ("Written", html! { (edition.written) }),
        ("For programs", html! { a href="report.json" { "report.json" } }),
    ];
    html! {
        section aria-labelledby="origin" {
            h2 #origin { "Where the numbers come from" }
            dl.facts { @for (name, fact) in &facts { div { dt { (name) } dd { (fact) } } } }
            details {
                summary { "Data sets: " (provenance.data.len()) " found, " (provenance.absent.len()) " not" }
                ul.verdicts {
                    @for file in &provenance.data {
                        li {
                            (file.name) ": "
                            @match (&file.sha256, file.as_listed) {
                                (None, _) => "compiled into the program",
                                (Some(digest), listed) => {
                                    code { (digest) }
                                    @if listed == Some(false) { " (not the listed file)" }
                                }
                            }
                        }
                    }
                    @for name in &provenance.absent { li { (name) ": " span.quiet { "not found" } } }
                }
            }
        }
    }
}

/// What stands at the foot of every page.
pub(super) fn colophon(edition: &Edition) -> Markup {
    let provenance = &edition.provenance;
    html! {
        p {
            "Commit " (provenance.program.commit) " · seed " (provenance.plan.seed) " · " (provenance.machine.processor) " · "
            (provenance.plan.threads) " threads · written " (edition.written)
        }
    }
}
