//! Table 3 of the sublinear-regression paper: six learners on real streams, ten permutations each.
//!
//! For each data set, learner and permutation one prequential pass; measured mean ± standard
//! deviation of the squared error, dictionary size and time beside the printed ones, with a verdict
//! a cell. [`protocol`](Table3Setting) says what is run, [`printed`] what the paper prints,
//! [`report()`] makes tables and pictures of it.
//!
//! Every pass depends on the experiment's seed and on names alone: the third permutation of a data
//! set is the same for every learner and every number of threads, and a learner's own draws are the
//! same for every setting of its grid.

mod figures;
pub mod measure;
pub mod printed;
mod protocol;
mod restarted;
mod tables;

use mercer_readers::Dataset;

pub use measure::{Table3Checkpoint, Table3Pass};
use printed::PrintedCell;
pub use protocol::{STREAMS, Table3Learner, Table3Setting, Table3Stream};
pub use tables::report;

use crate::prelude::*;

/// Permutations at the paper's setting.
fn permutations(plan: &Plan) -> usize {
    plan.repetitions_or(3, 10)
}

/// Permutations, the first ones, over which the rest of the grid is run.
fn grid_permutations(plan: &Plan) -> usize {
    if plan.full { permutations(plan) } else { 1 }
}

/// Runs the experiment and reports it.
pub(super) fn run(plan: &Plan) -> Result<Report> {
    report(&measure(plan)?, plan)
}

/// The passes of one setting, one a permutation.
#[derive(Clone, Debug, PartialEq)]
pub struct Table3Runs {
    /// The setting.
    pub setting: Table3Setting,
    /// Its passes, in the order of the permutations; those that failed are left out.
    pub passes: Vec<Table3Pass>,
}

impl Table3Runs {
    /// Mean squared errors, one a pass.
    pub fn errors(&self) -> Vec<f64> {
        self.passes.iter().map(|pass| pass.mse).collect()
    }
}

/// Outcome of one data set.
#[derive(Clone, Debug)]
pub enum Table3Result {
    /// It was run.
    Measured {
        /// Rounds a pass, `T`.
        rounds: usize,
        /// Features, `d`.
        dimension: usize,
        /// All settings run, those of a learner together.
        runs: Vec<Table3Runs>,
        /// Passes that failed, other than by divergence.
        failures: Vec<String>,
    },
    /// It is not on this machine.
    NotFound {
        /// The public page that offers it.
        page: String,
    },
    /// It could not be read.
    Unreadable {
        /// Why.
        message: String,
    },
}

/// One data set of the table.
#[derive(Clone, Debug)]
pub struct StreamResult {
    /// Which one, and how it is run.
    pub stream: Table3Stream,
    /// Its outcome.
    pub outcome: Table3Result,
}

impl StreamResult {
    /// The passes of a learner at the paper's setting.
    pub fn at_paper_setting(&self, learner: Table3Learner) -> Option<&Table3Runs> {
        let setting = self.stream.setting(learner);
        self.runs().iter().find(|runs| runs.setting == setting)
    }

    /// The passes of the NOGD that forgets at its switch.
    pub fn restarted_nogd(&self) -> Option<&Table3Runs> {
        let setting = self.stream.restarted(Table3Learner::Nogd)?;
        self.runs().iter().find(|runs| runs.setting == setting)
    }

    /// The passes of a learner at the setting of the grid that has the smallest mean error over the
    /// first `grid_permutations` permutations. Chosen on the very passes that it is reported on, as
    /// in the paper.
    pub fn tuned(&self, learner: Table3Learner, grid_permutations: usize) -> Option<&Table3Runs> {
        let mean = |runs: &Table3Runs| {
            let errors = runs.errors();
            crate::stats::mean(&errors[..grid_permutations.min(errors.len())])
        };
        let grid = learner.grid();
        let candidates = self.runs().iter().filter(|runs| grid.contains(&runs.setting) && !runs.passes.is_empty());
        candidates.min_by(|a, b| mean(a).total_cmp(&mean(b)))
    }

    /// All settings run.
    pub fn runs(&self) -> &[Table3Runs] {
        match &self.outcome {
            Table3Result::Measured { runs, .. } => runs,
            _ => &[],
        }
    }
}

/// One pass to be made.
#[derive(Clone, Copy, Debug)]
struct Table3Task {
    /// Index of the data set.
    stream: usize,
    setting: Table3Setting,
    permutation: usize,
}

/// Runs the table on every data set of [`STREAMS`] that is found. Streams of a plan with a size are
/// cut to it, and are not compared with the paper's numbers.
pub fn measure(plan: &Plan) -> Result<Vec<StreamResult>> {
    let loaded: Vec<Result<Dataset, Table3Result>> = STREAMS.iter().map(|stream| load(stream, plan)).collect();
    let tasks = (0..STREAMS.len()).filter(|stream| loaded[*stream].is_ok()).flat_map(|stream| tasks(stream, plan));
    let learner = |Table3Task { stream, setting, permutation }: &Table3Task| {
        format!("{} / {}", permutation_name(&STREAMS[*stream], *permutation), setting.learner().name())
    };
    let name = |task: &Table3Task| format!("{}, {}", learner(task), task.setting.words());
    let passes = plan.each_or_error(tasks, name, |task, _| {
        let stream = &STREAMS[task.stream];
        let Ok(table) = &loaded[task.stream] else { unreachable!("a job without its table") };
        let permuted = table.permuted(seed_of(plan.seed, &permutation_name(stream, task.permutation)));
        // The seed is that of the learner on this permutation, whatever its setting.
        let seed = seed_of(plan.seed, &learner(task));
        let mut learner = task.setting.build(stream.width, permuted.dimension(), permuted.len(), seed)?;
        measure::run(learner.as_mut(), &permuted)
    })?;
    let mut passes = passes.into_iter().peekable();
    let mut streams = Vec::new();
    for (index, (stream, table)) in STREAMS.iter().zip(loaded).enumerate() {
        let outcome = match table {
            Err(outcome) => outcome,
            Ok(table) => {
                let (mut runs, mut failures): (Vec<Table3Runs>, Vec<String>) = Default::default();
                while let Some((task, result)) = passes.next_if(|(task, _)| task.stream == index) {
                    if runs.last().is_none_or(|last| last.setting != task.setting) {
                        runs.push(Table3Runs { setting: task.setting, passes: Vec::new() });
                    }
                    match (result, runs.last_mut()) {
                        (Ok(pass), Some(last)) => last.passes.push(pass),
                        (Err(error), _) => failures.push(error.to_string()),
                        (Ok(_), None) => {}
                    }
                }
                Table3Result::Measured { rounds: table.len(), dimension: table.dimension(), runs, failures }
            }
        };
        streams.push(StreamResult { stream: *stream, outcome });
    }
    Ok(streams)
}

/// About how many seconds [`measure()`] will take: every setting is run on the beginning of every
/// data set, and what that took is stretched to the whole.
pub(super) fn estimate(plan: &Plan) -> Result<f64> {
    const PROBE: usize = 1200;
    let mut seconds = 0.0;
    for (index, stream) in STREAMS.iter().enumerate() {
        let Ok(mut table) = load(stream, plan) else { continue };
        let rounds = table.len();
        // The beginning of a permutation: the file's own order may be anything but typical.
        table = table.permuted(seed_of(plan.seed, &permutation_name(stream, 0)));
        table.truncate(PROBE);
        for task in tasks(index, plan).into_iter().filter(|task| task.permutation == 0) {
            let mut learner = task.setting.build(stream.width, table.dimension(), rounds, plan.seed)?;
            let passes = passes_of(stream, task.setting, plan) as f64;
            let pass = measure::run(learner.as_mut(), &table)?;
            seconds += pass.seconds * passes * rounds as f64 / table.len().max(1) as f64;
        }
    }
    Ok(seconds / plan.threads as f64)
}

fn load(stream: &Table3Stream, plan: &Plan) -> Result<Dataset, Table3Result> {
    let needed = [Some(stream.dataset), stream.ranges_of];
    if let Some(absent) = needed.into_iter().flatten().find(|name| !plan.registry.is_available(name)) {
        let page = plan.registry.find(absent).map_or_else(String::new, |entry| entry.page.clone());
        return Err(Table3Result::NotFound { page });
    }
    let table = stream.load(&plan.registry).map_err(|error| Table3Result::Unreadable { message: error.to_string() })?;
    match plan.size {
        // A file may be sorted: its beginning is taken from a permutation.
        Some(limit) if limit < table.len() => {
            let mut table = table.permuted(seed_of(plan.seed, stream.dataset));
            table.truncate(limit);
            Ok(table)
        }
        _ => Ok(table),
    }
}

/// The paper's setting first, then the rest of the grid, learner by learner.
fn tasks(stream: usize, plan: &Plan) -> Vec<Table3Task> {
    let mut tasks = Vec::new();
    for learner in Table3Learner::ALL {
        let own = STREAMS[stream].setting(learner);
        let rest = learner.grid().into_iter().filter(|setting| *setting != own);
        let explanation = STREAMS[stream].restarted(learner);
        for setting in std::iter::once(own).chain(explanation).chain(rest) {
            let passes = passes_of(&STREAMS[stream], setting, plan);
            tasks.extend((0..passes).map(|permutation| Table3Task { stream, setting, permutation }));
        }
    }
    tasks
}

/// Number of permutations that a setting is run on.
fn passes_of(stream: &Table3Stream, setting: Table3Setting, plan: &Plan) -> usize {
    let learner = setting.learner();
    let compared = stream.setting(learner) == setting || stream.restarted(learner) == Some(setting);
    if compared { permutations(plan) } else { grid_permutations(plan) }
}

fn permutation_name(stream: &Table3Stream, permutation: usize) -> String {
    format!("{} / permutation {}", stream.dataset, permutation + 1)
}

fn printed(result: &StreamResult, learner: Table3Learner) -> Option<PrintedCell> {
    result.stream.printed.map(|set| set.cells[learner.index()])
}

fn mean_size(runs: &Table3Runs) -> f64 {
    mean_of(&runs.passes, |pass| pass.size as f64)
}

/// True if the passes are as long as the paper's.
fn is_whole(runs: &Table3Runs, plan: &Plan) -> bool {
    runs.passes.iter().all(|pass| plan.size.is_none_or(|limit| pass.rounds < limit))
}
