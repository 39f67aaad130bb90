//! The whole report: every paper with what became of each of its experiments.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use crate::experiment::{Experiment, Paper};
use crate::judgement::Outcome;
use crate::report::Report;
use crate::report::kept::KeptReport;
use crate::report::provenance::{Moment, Provenance, Request};
use crate::report::tally::Tally;
use crate::table::save;

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
    /// What it is.
    pub experiment: &'static Experiment,
    /// What became of it.
    pub state: SectionState,
    /// What the repository keeps of it from a run at the papers' size.
    pub full: Option<KeptReport>,
}

/// What became of an experiment.
#[derive(Clone, Debug)]
pub enum SectionState {
    /// Not asked for, or not yet run.
    Waiting,
    /// It ended with an error, in these words.
    Failed(String),
    /// It ran to its end, now or in an earlier run (`reused`) of the same program, machine, plan
    /// and data.
    Done {
        /// What it gave.
        kept: Box<KeptReport>,
        /// Whether an earlier run gave it.
        reused: bool,
    },
}

impl Section {
    /// What it handed back, if it ran to its end.
    pub fn done(&self) -> Option<&KeptReport> {
        match &self.state {
            SectionState::Done { kept, .. } => Some(kept),
            _ => None,
        }
    }

    /// What is kept of a run at the papers' size, if this run of `plan` is smaller, lacks data or
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

    /// Of this run.
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

    /// The experiment of this name.
    pub fn section_mut(&mut self, name: &str) -> Option<&mut Section> {
        self.sections.iter_mut().find(|section| section.experiment.name == name)
    }

    /// The experiments of a paper.
    pub fn of(&self, paper: &Paper) -> impl Iterator<Item = &Section> {
        let names = paper.experiments;
        self.sections.iter().filter(move |section| names.iter().any(|own| own.name == section.experiment.name))
    }

    /// The results at the papers' size that stand beside this run.
    pub fn kept(&self) -> impl Iterator<Item = &KeptReport> {
        self.sections.iter().filter_map(|section| section.beside(&self.provenance.plan))
    }

    /// How many seconds the experiments took, those reused included.
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
            let experiments: Vec<Value> = self.of(paper).map(section).collect();
            json!({ "name": paper.name, "title": paper.title, "source": paper.source, "experiments": experiments })
        };
        json!({
            "form": 4, "provenance": self.provenance, "written": self.written,
            "tally": Tally::sum(self.sections.iter().map(Section::tally)),
            "kept": Tally::sum(self.kept().map(KeptReport::tally)),
            "papers": self.papers.iter().map(paper).collect::<Vec<Value>>(),
        })
    }

    /// All of it as Markdown; pictures by their names beside it.
    pub fn markdown(&self) -> String {
        let plan = &self.provenance.plan;
        let size = if plan.full { "the papers' size" } else { "reduced size (`--full` for the papers')" };
        let mut text = format!(
            "# Reproduction\n\n{size}; seed {}; {} threads; {:.0} s; commit {}; {}. Numbers depend on the seed alone, times on the \
             machine.\n",
            plan.seed,
            plan.threads,
            self.seconds(),
            self.provenance.program.commit,
            self.provenance.machine.processor,
        );
        for section in &self.sections {
            match &section.state {
                SectionState::Waiting => continue,
                SectionState::Failed(error) => {
                    text += &format!("\n## {}\n\n**Failed**: {error}\n", section.experiment.title);
                }
                SectionState::Done { kept, reused } => {
                    text += &format!("\n{}", kept.report.markdown());
                    if *reused {
                        text += &format!("\n*Reused from a run that finished {}.*\n", kept.finished);
                    }
                }
            }
            if let Some(full) = section.beside(plan) {
                let commit = &full.provenance.program.commit;
                text += &format!("\n*At the papers' size, kept from commit {commit}: `{}`.*\n", full.command());
                if let Some(table) = full.report.find_table(section.experiment.name) {
                    text += &format!("\n{}", table.markdown());
                }
            }
        }
        text
    }

    /// Writes `summary.md`, the pages and `report.json` of the folder `report`, and in `full` the
    /// pictures of the kept results that the pages show, into `out`, and gives the files' paths.
    pub fn save(&self, out: &Path) -> Result<Vec<PathBuf>> {
        let mut files = vec![(out.join("summary.md"), self.markdown())];
        files.push((out.join("report/report.json"), self.json().to_string()));
        files.extend(crate::html::pages(self).into_iter().map(|(name, text)| (out.join("report").join(name), text)));
        for kept in self.kept() {
            files.extend(kept.report.pictures()?.into_iter().map(|(name, text)| (out.join("full").join(name), text)));
        }
        for (path, text) in &files {
            save(path, text)?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}
