//! The whole report: every paper with what became of each of its experiments.

use serde_json::{Value, json};

use crate::experiment::{Experiment, Paper};
use crate::judgement::Outcome;
use crate::report::Report;
use crate::report::kept::KeptReport;
use crate::report::provenance::{Moment, Provenance, Request};
use crate::report::tally::Tally;

/// The whole report.
#[derive(Clone, Debug)]
pub struct Edition {
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// When it was written.
    pub written: Moment,
    /// The papers, in the order in which they run.
    pub papers: &'static [Paper],
    /// Their experiments.
    pub sections: Vec<Section>,
}

/// One experiment.
#[derive(Clone, Debug)]
pub struct Section {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Its state.
    pub state: SectionState,
    /// The report of a run at the papers' size that the repository keeps.
    pub full: Option<KeptReport>,
}

/// State of an experiment.
#[derive(Clone, Debug)]
pub enum SectionState {
    /// Not asked for, or not yet run.
    Waiting,
    /// It ended with an error, in these words.
    Failed(String),
    /// It ran to its end, now or in an earlier run (`reused`) of the same program, machine, plan
    /// and data.
    Done {
        /// Its report.
        kept: Box<KeptReport>,
        /// True if an earlier run gave it.
        reused: bool,
    },
}

impl Section {
    /// Its report, if it ran to its end.
    pub fn done(&self) -> Option<&KeptReport> {
        match &self.state {
            SectionState::Done { kept, .. } => Some(kept),
            _ => None,
        }
    }

    /// Kept report of a run at the papers' size, if this run of `plan` is smaller, lacks data or
    /// did not run it.
    pub fn beside(&self, plan: &Request) -> Option<&KeptReport> {
        let complete = self.done().is_some_and(|done| done.tally().any(Outcome::NotRun) == 0);
        self.full.as_ref().filter(|_| !plan.is_papers() || !complete)
    }

    /// The result that says most: the kept one at the papers' size where there is one, else this
    /// run's.
    pub fn best(&self, plan: &Request) -> Option<&KeptReport> {
        self.beside(plan).or_else(|| self.done())
    }

    /// Tally of this run.
    pub fn tally(&self) -> Tally {
        self.done().map(KeptReport::tally).unwrap_or_default()
    }
}

impl Edition {
    /// A report of these papers in which every experiment still waits.
    pub fn new(papers: &'static [Paper], provenance: Provenance) -> Self {
        let section = |experiment| Section { experiment, state: SectionState::Waiting, full: None };
        let sections = papers.iter().flat_map(|paper| paper.experiments).map(section).collect();
        Self { papers, sections, written: Moment::now(), provenance }
    }

    /// The experiments of a paper.
    pub fn sections_of(&self, paper: &Paper) -> impl Iterator<Item = &Section> {
        let names = paper.experiments;
        self.sections.iter().filter(move |section| names.iter().any(|own| own.name == section.experiment.name))
    }

    /// The results at the papers' size that stand beside this run.
    pub fn kept(&self) -> impl Iterator<Item = &KeptReport> {
        self.sections.iter().filter_map(|section| section.beside(&self.provenance.plan))
    }

    /// Seconds that the experiments took, those reused included.
    pub fn seconds(&self) -> f64 {
        self.sections.iter().filter_map(Section::done).map(|done| done.seconds).sum()
    }

    /// All of it for programs: of every experiment the report, how many comparisons came to what,
    /// and every verdict; the same of the results at the papers' size that earlier runs gave, apart
    /// and without their reports.
    pub fn json(&self) -> Value {
        let verdicts = |report: &Report| json!({ "tally": Tally::of_report(report), "verdicts": report.judged() });
        let section = |section: &Section| {
            let (state, error) = match &section.state {
                SectionState::Waiting => ("waiting", None),
                SectionState::Failed(error) => ("failed", Some(error)),
                SectionState::Done { .. } => ("done", None),
            };
            let full = section.beside(&self.provenance.plan).map(|kept| {
                json!({
                    "results": verdicts(&kept.report), "command": kept.command(), "commit": kept.provenance.program.commit,
                    "machine": kept.provenance.machine, "finished": kept.finished, "seconds": kept.seconds,
                    "current": kept.is_current(section.experiment),
                })
            });
            let done = section.done();
            json!({
                "name": section.experiment.name, "title": section.experiment.title, "state": state, "error": error,
                "seconds": done.map(|done| done.seconds), "results": done.map(|done| verdicts(&done.report)),
                "report": done.map(|done| &done.report), "kept": full,
            })
        };
        let paper = |paper: &Paper| {
            let experiments: Vec<Value> = self.sections_of(paper).map(section).collect();
            json!({ "name": paper.name, "title": paper.title, "source": paper.source, "experiments": experiments })
        };
        json!({
            "form": 4, "provenance": self.provenance, "written": self.written,
            "tally": Tally::sum(self.sections.iter().map(Section::tally)),
            "kept": Tally::sum(self.kept().map(KeptReport::tally)),
            "papers": self.papers.iter().map(paper).collect::<Vec<Value>>(),
        })
    }
}
