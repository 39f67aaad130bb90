//! Papers and their experiments.

use std::time::Instant;

use anyhow::Result;
use mercer_learners::{NonsAld, NonsAldParams, prequential};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::decay::Regime;
use crate::plan::Plan;
use crate::report::Report;

/// A paper, or a subject of its own that several papers share.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// The name all its experiments are called by.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who wrote it and where it can be found; `None` for a subject of this project.
    pub source: Option<Source>,
    /// Its claim in a sentence.
    pub claim: &'static str,
    /// The stem of the picture that the front page shows of it.
    pub picture: &'static str,
    /// Its experiments, in the order in which they run.
    pub experiments: &'static [Experiment],
}

/// Where a paper can be found.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Source {
    /// Who wrote it.
    pub authors: &'static str,
    /// When it appeared.
    pub year: u16,
    /// Where it appeared.
    pub place: &'static str,
    /// Where it can be read.
    pub link: &'static str,
}

/// One experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name it is called by, and of its main table.
    pub name: &'static str,
    /// Its title, which says what it shows.
    pub title: &'static str,
    /// Where it stands in the paper, in the paper's own numbering; in small letters, why it is not
    /// in it.
    pub place: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// Advice on how to read its result.
    pub reading: &'static str,
    /// The texts of the files of this crate that its numbers depend on: its own, and shared ones.
    pub sources: &'static [&'static [&'static str]],
    /// Runs it.
    pub run: fn(&Plan) -> Result<Report>,
    /// About how many seconds it will take at the papers' size; `None` if that cannot be told.
    pub estimate: fn(&Plan) -> Option<f64>,
}

impl Experiment {
    /// The sha256 of its sources, without comments, indentation and tests: a result
    /// [kept](crate::report::kept) says by it whether the experiment is still the one that gave it.
    pub fn fingerprint(&self) -> String {
        let mut digest = Sha256::new();
        for source in self.sources.concat() {
            let code = source.lines().take_while(|line| *line != "#[cfg(test)]").map(str::trim);
            for line in code.filter(|line| !line.is_empty() && !line.starts_with("//")) {
                digest.update(line);
                digest.update("\n");
            }
        }
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The texts of files of this crate, named from `src`.
macro_rules! sources {
    ($($file:literal),*) => { &[$(include_str!($file)),*] };
}
pub(crate) use sources;

/// Seconds that a piece of work takes on this machine and its threads, if it took `seconds` of one
/// core on a machine where [`probe`] takes [`PROBE_SECONDS`].
pub(crate) fn scaled(plan: &Plan, seconds: f64) -> Option<f64> {
    Some(seconds * probe().ok()? / PROBE_SECONDS / plan.threads as f64)
}

const PROBE_SECONDS: f64 = 0.1;

/// The time of a fixed piece of work.
fn probe() -> Result<f64> {
    let stream = Regime::MATERN_32.stream(1000, 0)?;
    let params = NonsAldParams::default().alpha(1e-8);
    let mut learner = NonsAld::new(Regime::MATERN_32.kernel()?, stream.dimension(), params)?;
    let start = Instant::now();
    prequential(&mut learner, stream.iter(), |_| {})?;
    Ok(start.elapsed().as_secs_f64())
}
