//! Plan of an experiment, and the run of its jobs.

use std::path::PathBuf;

use anyhow::Result;
use mercer_datasets::Registry;

use crate::runner::{self, seed_of};

/// Size, data and help of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where data sets are found.
    pub registry: Registry,
    /// The papers' size, or a reduced one that takes minutes.
    pub full: bool,
    /// Permutations or repetitions; `None` is each experiment's own number.
    pub repetitions: Option<usize>,
    /// Size of an experiment in its own unit (rounds, rows, pairs, epochs), for tests; `None` is
    /// its own size.
    pub size: Option<usize>,
    /// The folder of the streams of the comparison of quality, if there is one.
    pub quality: Option<PathBuf>,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; no result depends on them.
    pub threads: usize,
    /// True to draw a progress bar on a terminal.
    pub progress: bool,
}

impl Plan {
    /// A reduced run without data but the bundled, streams of the comparison of quality or a bar.
    pub fn reduced(registry: Registry, seed: u64, threads: usize) -> Self {
        Self { registry, full: false, repetitions: None, size: None, quality: None, seed, threads, progress: false }
    }

    /// Number of repetitions of an experiment, unless the plan says otherwise.
    pub fn repetitions_or(&self, reduced: usize, full: usize) -> usize {
        self.repetitions.unwrap_or(if self.full { full } else { reduced })
    }

    /// Size of an experiment in its unit, unless the plan says otherwise.
    pub fn size_or(&self, reduced: usize, full: usize) -> usize {
        self.size.unwrap_or(if self.full { full } else { reduced })
    }

    /// The data sets of these that are on this machine, and the others.
    pub fn available<T: Copy>(&self, sets: &[T], name: impl Fn(&T) -> &'static str) -> (Vec<T>, Vec<T>) {
        sets.iter().partition(|set| self.registry.is_available(name(set)))
    }

    /// Runs a job for each input and gives what came of it beside the input, or the first error.
    /// `work` is handed the input and the seed that belongs to its name.
    pub fn each<I: Sync, O: Send>(
        &self,
        inputs: impl IntoIterator<Item = I>,
        name: impl Fn(&I) -> String,
        work: impl Fn(&I, u64) -> Result<O> + Sync,
    ) -> Result<Runs<I, O>> {
        let done = self.each_or_error(inputs, name, work)?;
        Ok(Runs(done.into_iter().map(|(input, outcome)| Ok((input, outcome?))).collect::<Result<_>>()?))
    }

    /// The same with the error of each input that failed in its place.
    pub fn each_or_error<I: Sync, O: Send>(
        &self,
        inputs: impl IntoIterator<Item = I>,
        name: impl Fn(&I) -> String,
        work: impl Fn(&I, u64) -> Result<O> + Sync,
    ) -> Result<Vec<(I, Result<O>)>> {
        let jobs: Vec<(String, I)> = inputs.into_iter().map(|input| (name(&input), input)).collect();
        let work = |name: &str, input: &I| work(input, seed_of(self.seed, name));
        let outcomes = runner::run(&jobs, self.threads, self.progress, work)?;
        Ok(jobs.into_iter().map(|(_, input)| input).zip(outcomes).collect())
    }
}

/// Inputs with what came of them, in their order.
#[derive(Clone, Debug)]
pub struct Runs<I, O>(pub Vec<(I, O)>);

impl<I, O> Runs<I, O> {
    /// Outcomes of the inputs for which this holds.
    pub fn outcomes_where(&self, wanted: impl Fn(&I) -> bool) -> Vec<&O> {
        self.0.iter().filter(|(input, _)| wanted(input)).map(|(_, outcome)| outcome).collect()
    }
}
