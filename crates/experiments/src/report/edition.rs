//! The whole report: every paper with what became of each of its experiments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::experiment::{Experiment, Paper, Source};
use crate::report::full::FullResult;
use crate::report::keep::Kept;
use crate::report::provenance::{Asked, Machine, Moment, Provenance};
use crate::report::tally::Tally;
use crate::report::{Remark, Report, ReportError};
use crate::table::{Judged, TableError};
use crate::verdict::Outcome;
use mercer_plots::write_whole;

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Edition {
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// When it was written.
    pub written: Moment,
    /// The papers, in the order in which they run.
    pub papers: Vec<Chapter>,
}

/// One paper.
#[derive(Clone, Debug, Serialize)]
pub struct Chapter {
    /// The name all its experiments are called by, and of its page.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Who wrote it and where it can be found.
    pub source: Option<Source>,
    /// What it claims.
    pub claim: &'static str,
    /// Its experiments.
    pub experiments: Vec<Section>,
}

/// One experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The name it is called by.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// How its result is to be read.
    pub reading: &'static str,
    /// The command that runs it.
    pub command: String,
    /// What became of it.
    pub state: State,
    /// What the repository keeps of it from a run at the papers' size.
    #[serde(skip)]
    pub full: Option<Beside>,
}

/// A result at the papers' size that an earlier run gave.
#[derive(Clone, Debug)]
pub enum Beside {
    /// What this version of the experiment gave.
    Current(Box<FullResult>),
    /// Of another version of the experiment: it is not shown.
    Stale {
        /// The version that gave it.
        kept: u32,
        /// The version now.
        now: u32,
    },
}

/// What became of an experiment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not asked for, or not yet run.
    Waiting,
    /// It ended with an error.
    Failed {
        /// The error's words.
        error: String,
    },
    /// It ran to its end.
    Done {
        /// What it gave.
        kept: Box<Kept>,
        /// Whether an earlier run gave it.
        reused: bool,
    },
}

impl Section {
    fn new(experiment: &Experiment, provenance: &Provenance) -> Self {
        Self {
            name: experiment.name.to_owned(),
            title: experiment.title.to_owned(),
            place: experiment.place,
            question: experiment.question,
            reading: experiment.reading,
            command: provenance.plan.command(&[experiment.name]),
            state: State::Waiting,
            full: None,
        }
    }

    /// What is kept of a run at the papers' size, if this run of `plan` is smaller, lacks data or did not run it.
    #[must_use]
    pub fn beside(&self, plan: &Asked) -> Option<&Beside> {
        let complete = self.report().is_some_and(|report| Tally::of_report(report).any(Outcome::NotRun) == 0);
        self.full.as_ref().filter(|_| !plan.is_papers() || !complete)
    }

    /// What [`Self::beside`] gives, unless it is stale.
    #[must_use]
    pub fn kept(&self, plan: &Asked) -> Option<&FullResult> {
        match self.beside(plan)? {
            Beside::Current(full) => Some(full),
            Beside::Stale { .. } => None,
        }
    }

    /// What it handed back, if it ran to its end.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        match &self.state {
            State::Done { kept, .. } => Some(&kept.report),
            _ => None,
        }
    }

    /// The verdicts of its tables.
    #[must_use]
    pub fn judged(&self) -> Vec<Judged> {
        self.report().map(Report::judged).unwrap_or_default()
    }

    /// What differs or was not run, and why, as far as it says so.
    pub fn remarks(&self) -> impl Iterator<Item = &Remark> {
        self.report().into_iter().flat_map(Report::remarks)
    }

    /// The verdicts of its tables, and the comparisons that it says could not be made.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.report().map(Tally::of_report).unwrap_or_default()
    }
}

impl Chapter {
    /// Over all its experiments.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::sum(self.experiments.iter().map(Section::tally))
    }
}

impl Edition {
    /// A report of these papers in which every experiment still waits.
    #[must_use]
    pub fn new(papers: &[Paper], provenance: Provenance) -> Self {
        let chapter = |paper: &Paper| Chapter {
            name: paper.name.to_owned(),
            title: paper.title.to_owned(),
            source: paper.source,
            claim: paper.claim,
            experiments: paper.experiments.iter().map(|experiment| Section::new(experiment, &provenance)).collect(),
        };
        Self { papers: papers.iter().map(chapter).collect(), written: Moment::now(), provenance }
    }

    /// The experiment of this name.
    pub fn section_mut(&mut self, name: &str) -> Option<&mut Section> {
        self.sections_mut().find(|section| section.name == name)
    }

    fn sections_mut(&mut self) -> impl Iterator<Item = &mut Section> {
        self.papers.iter_mut().flat_map(|paper| &mut paper.experiments)
    }

    /// All experiments.
    pub fn sections(&self) -> impl Iterator<Item = &Section> {
        self.papers.iter().flat_map(|paper| &paper.experiments)
    }

    /// Over all papers.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::sum(self.papers.iter().map(Chapter::tally))
    }

    /// Over all results at the papers' size that are shown beside this run.
    #[must_use]
    pub fn kept_tally(&self) -> Tally {
        Tally::sum(self.kept().map(|(_, full)| full.tally()))
    }

    /// The results at the papers' size that are shown beside this run.
    pub fn kept(&self) -> impl Iterator<Item = (&Section, &FullResult)> {
        self.sections().filter_map(|section| Some((section, section.kept(&self.provenance.plan)?)))
    }

    /// How many seconds the experiments took, those reused included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let seconds = self.sections().filter_map(|section| match &section.state {
            State::Done { kept, .. } => Some(kept.seconds),
            _ => None,
        });
        seconds.sum()
    }

    /// All of it for programs: this report, how many comparisons came to what, and every verdict; and the same of the results at the
    /// papers' size that earlier runs gave, apart.
    ///
    /// # Errors
    /// None that a caller can bring about.
    pub fn json<'a>(&'a self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            form: u32,
            tally: Tally,
            tallies: BTreeMap<&'a str, Tally>,
            verdicts: BTreeMap<&'a str, Vec<Judged>>,
            kept: KeptResults<'a>,
            #[serde(flatten)]
            edition: &'a Edition,
        }
        /// Results at the papers' size from earlier runs.
        #[derive(Serialize)]
        struct KeptResults<'a> {
            tally: Tally,
            experiments: BTreeMap<&'a str, KeptResult<'a>>,
        }
        #[derive(Serialize)]
        struct KeptResult<'a> {
            version: u32,
            commit: &'a str,
            machine: &'a Machine,
            command: String,
            finished: Moment,
            seconds: f64,
            tally: Tally,
            verdicts: Vec<Judged>,
        }
        let kept = |(section, full): (&'a Section, &'a FullResult)| {
            let one = KeptResult {
                version: full.version,
                commit: &full.provenance.program.commit,
                machine: &full.provenance.machine,
                command: full.command(),
                finished: full.finished,
                seconds: full.seconds,
                tally: full.tally(),
                verdicts: full.report.judged(),
            };
            (section.name.as_str(), one)
        };
        let done = || self.sections().filter(|section| section.report().is_some());
        let whole = Whole {
            form: 3,
            tally: self.tally(),
            tallies: done().map(|section| (section.name.as_str(), section.tally())).collect(),
            verdicts: done().map(|section| (section.name.as_str(), section.judged())).collect(),
            kept: KeptResults { tally: self.kept_tally(), experiments: self.kept().map(kept).collect() },
            edition: self,
        };
        serde_json::to_string(&whole)
    }

    /// All of it as Markdown; pictures by their names beside it.
    #[must_use]
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
        for section in self.sections() {
            match &section.state {
                State::Waiting => continue,
                State::Failed { error } => text += &format!("\n## {}\n\n**Failed**: {error}\n", section.title),
                State::Done { kept, reused } => {
                    text += &format!("\n{}", kept.report.markdown());
                    if *reused {
                        text += &format!("\n*Reused from a run that finished {}.*\n", kept.finished);
                    }
                }
            }
            if let Some(full) = section.kept(plan) {
                text += &format!(
                    "\n*At the papers' size, kept from a run of commit {} that finished {}: `{}`.*\n",
                    full.provenance.program.commit,
                    full.finished,
                    full.command(),
                );
                if let Some(table) = full.report.find_table(&section.name) {
                    text += &format!("\n{}", table.markdown());
                }
            }
        }
        text
    }

    /// Writes `summary.md` and the pages and `report.json` of the folder `report` into `out`, and gives the files' paths.
    ///
    /// # Errors
    /// [`ReportError`] of the first one that cannot be made or written; a file that exists is replaced as a whole or not at all.
    pub fn save(&self, out: &Path) -> Result<Vec<PathBuf>, ReportError> {
        let mut files = vec![(out.join("summary.md"), self.markdown())];
        let pages = crate::html::pages(self)?;
        for name in crate::html::absent(self) {
            // Of an earlier run into this folder; that it is not there is the rule.
            let _ = std::fs::remove_file(out.join("report").join(name));
        }
        files.extend(pages.into_iter().map(|(name, text)| (out.join("report").join(name), text)));
        let json = self.json().map_err(std::io::Error::from);
        let place = out.join("report").join("report.json");
        let failed = |path: &Path, source| TableError::Write { path: path.to_owned(), source };
        files.push((place.clone(), json.map_err(|source| failed(&place, source))?));
        for (path, text) in &files {
            write_whole(path, text.as_bytes()).map_err(|source| failed(path, source))?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}
