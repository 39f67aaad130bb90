//! The front page: of each paper a picture and how its statements stand, what differs and why, and
//! where all of it comes from.

use maud::{Markup, html};

use super::markdown::words;
use super::paper::numbers;
use super::{FULL, OWN, badge, content, counts, duration, file, shell};
use crate::experiment::Paper;
use crate::judgement::Outcome;
use crate::report::ReportBlock;
use crate::report::edition::{Edition, Section, SectionState};
use crate::report::kept::KeptReport;
use crate::report::tally::Tally;
use crate::statements::{self, Status};

pub(super) fn page(edition: &Edition) -> Markup {
    let (papers, own): (Vec<&Paper>, Vec<&Paper>) = edition.papers.iter().partition(|paper| paper.source.is_some());
    let main = html! {
        h1 { "Mercer, reproduced" }
        p.lead {
            "What the papers on online learning with kernels state, beside what this code measures: every theorem, lemma, algorithm, \
             table and figure has a row. Pictures and reasons are those at the papers’ size where the repository keeps a result."
        }
        section aria-labelledby="papers" {
            h2 #papers { "Papers" }
            @for paper in papers { (card(edition, paper)) }
        }
        section aria-labelledby="own" {
            h2 #own { "Of our own" }
            @for paper in own { (card(edition, paper)) }
        }
        (this_run(edition))
        (origin(edition))
    };
    shell(edition, super::FRONT, "Mercer, reproduced", &main)
}

fn card(edition: &Edition, paper: &Paper) -> Markup {
    let statements = statements::find(paper.name);
    let different: Vec<_> = statements.iter().filter(|each| each.status == Status::Differs).collect();
    let guards: Vec<(&str, String)> = edition
        .sections_of(paper)
        .filter_map(|section| Some((section.experiment.title, section.best(&edition.provenance.plan)?)))
        .flat_map(|(title, best)| best.report.guards().map(move |words| (title, words)))
        .collect();
    html! {
        article.card {
            h3 { a href=(file(paper)) { (paper.title) } }
            (super::source(paper))
            @if !statements.is_empty() { p.counts { span.quiet { (statements.len()) " statements:" } " " (numbers(&statements)) } }
            (picture(edition, paper))
            @if !different.is_empty() {
                details open {
                    summary { "What differs, and why" }
                    dl.facts {
                        @for each in different { div { dt { (each.name) } dd { (words(&each.reason)) } } }
                    }
                }
            }
            @if !guards.is_empty() {
                details {
                    summary { "How often guards acted" }
                    dl.facts { @for (title, words) in &guards { div { dt { (title) } dd { (words) } } } }
                }
            }
            details {
                summary { "Experiments" }
                ul.experiments {
                    @for section in edition.sections_of(paper) {
                        li {
                            a href={ (file(paper)) "#" (section.experiment.name) } { (section.experiment.title) }
                            @if let Some(best) = section.best(&edition.provenance.plan) { span.counts { (counts(&best.tally())) } }
                        }
                    }
                }
            }
        }
    }
}

/// The picture of a paper, from the result that says most.
fn picture(edition: &Edition, paper: &Paper) -> Markup {
    let plan = &edition.provenance.plan;
    let found = edition.sections_of(paper).find_map(|section| {
        let best = section.best(plan)?;
        let caption = best.report.blocks().iter().find_map(|block| match block {
            ReportBlock::Picture { stem, caption, .. } if stem == paper.picture => Some(caption),
            _ => None,
        })?;
        Some((if section.beside(plan).is_some() { FULL } else { OWN }, caption))
    });
    html! {
        @if let Some((folder, caption)) = found {
            figure { (content::drawing(folder, paper.picture, caption)) figcaption { (super::formula::inline(caption)) } }
        }
    }
}

/// Comparisons of this very run, apart from the kept results.
fn this_run(edition: &Edition) -> Markup {
    // What a kept result stands in for is not missing.
    let own = |section: &Section| {
        let stands_in = section.beside(&edition.provenance.plan).is_some();
        if stands_in { section.tally().made() } else { section.tally() }
    };
    let (own, kept) = (Tally::sum(edition.sections.iter().map(own)), Tally::sum(edition.kept().map(KeptReport::tally)));
    let failed = edition.sections.iter().filter_map(|section| match &section.state {
        SectionState::Failed(error) => Some((section.experiment.title, error)),
        _ => None,
    });
    // What is kept at the papers' size was compared there.
    let missing = edition.sections.iter().filter(|section| section.beside(&edition.provenance.plan).is_none());
    let missing: Vec<_> = missing
        .filter_map(Section::done)
        .flat_map(|done| done.report.remarks().filter(|remark| remark.outcome == Outcome::NotRun))
        .collect();
    html! {
        section aria-labelledby="run" {
            h2 #run { "This run" }
            p.words {
                @if edition.provenance.plan.full { "At the papers’ size." }
                @else { "At a reduced size: fewer repetitions, and shorter streams where the papers’ take long." }
                " It compared:"
            }
            p.counts { (counts(&own)) }
            @if edition.kept().next().is_some() {
                p.words { "The results at the papers’ size that stand beside it, from earlier runs, compared:" }
                p.counts { (counts(&kept)) }
            }
            @for (title, error) in failed { p.failed { (badge(Outcome::Differs, "failed")) " " strong { (title) } ": " (error) } }
            @for remark in missing { (content::remark(remark)) }
        }
    }
}

/// Program, machine, plan and data.
fn origin(edition: &Edition) -> Markup {
    let provenance = &edition.provenance;
    let (program, machine, plan) = (&provenance.program, &provenance.machine, &provenance.plan);
    let repetitions = plan.repetitions.map_or_else(|| "each experiment’s own".to_owned(), |n| n.to_string());
    let facts = [
        ("Command", html! { code { (plan.command(&[])) } }),
        ("Commit", html! { code { (program.commit) } }),
        ("Program", html! { "sha256 " code { (program.sha256) } }),
        ("Machine", html! { (machine.processor) ", cores: " (machine.cores) ", " (machine.system) }),
        ("Seed", html! { (plan.seed) "; every permutation, stream and learner derives its own from it" }),
        ("Repetitions", html! { (repetitions) }),
        ("Threads", html! { (plan.threads) "; no number but times depends on them" }),
        ("Time", html! { (duration(edition.seconds())) " of experiments" }),
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
                            @match &file.sha256 {
                                None => "compiled into the program",
                                Some(digest) => { code { (digest) } @if file.as_listed == Some(false) { " (not the listed file)" } }
                            }
                        }
                    }
                    @for name in &provenance.absent { li { (name) ": " span.quiet { "not found" } } }
                }
            }
        }
    }
}
