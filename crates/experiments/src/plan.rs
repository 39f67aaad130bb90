//! What an experiment is given, and how it may fail.

use std::path::PathBuf;

use mercer_core::{ExampleError, ParameterError};
use mercer_datasets::{DatasetError, Registry};
use mercer_kernels::KernelError;
use mercer_learners::Error as LearnerError;
use mercer_learners::catalogue::BuildError;
use mercer_linalg_incremental::NoConvergence;
use mercer_readers::DataError;
use mercer_streams::StreamError;

use crate::progress::{JobProgress, Progress};
use crate::report::ReportError;
use crate::runner::{self, Job, JobError, RunnerError};
use crate::table::TableError;

/// How much is run, from what, and with what help.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where data sets are found.
    pub registry: Registry,
    /// The papers' size, or a reduced one that takes minutes.
    pub full: bool,
    /// Permutations or repetitions; `None` is each experiment's own number.
    pub repetitions: Option<usize>,
    /// How much an experiment runs of its own unit (rounds, rows, pairs, epochs), for tests; `None`
    /// is its own size.
    pub size: Option<usize>,
    /// The folder of the streams of the comparison of quality, if there is one.
    pub quality: Option<PathBuf>,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; no result depends on them.
    pub threads: usize,
    /// Whether to draw progress bars on a terminal.
    pub progress: bool,
}

/// Why an experiment gave no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The threads could not be made.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// A piece of the work failed.
    #[error(transparent)]
    Job(Box<JobError<ExperimentError>>),
    /// A table could not be read, made or scaled.
    #[error(transparent)]
    Data(Box<DataError>),
    /// A named data set could not be had.
    #[error(transparent)]
    Dataset(Box<DatasetError>),
    /// A stream could not be simulated.
    #[error(transparent)]
    Stream(Box<StreamError>),
    /// A learner refused its parameters or an example.
    #[error(transparent)]
    Learner(#[from] LearnerError),
    /// A forecaster refused its parameters or a row.
    #[error(transparent)]
    Forecast(#[from] mercer_forecast::Error),
    /// A learner of operators refused its parameters or a pair.
    #[error(transparent)]
    Operator(#[from] mercer_koopman::Error),
    /// A part or a simulated system was asked for with parameters out of their ranges.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Intervals refused what came of a prediction.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// A learner could not be made of its settings.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A kernel refused its parameters.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// An eigen-decomposition failed.
    #[error(transparent)]
    Eigen(#[from] NoConvergence),
    /// The report could not be made.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl From<DataError> for ExperimentError {
    fn from(error: DataError) -> Self {
        Self::Data(error.into())
    }
}

impl From<DatasetError> for ExperimentError {
    fn from(error: DatasetError) -> Self {
        Self::Dataset(error.into())
    }
}

impl From<StreamError> for ExperimentError {
    fn from(error: StreamError) -> Self {
        Self::Stream(error.into())
    }
}

impl From<TableError> for ExperimentError {
    fn from(error: TableError) -> Self {
        Self::Report(error.into())
    }
}

impl Plan {
    /// How often an experiment repeats itself, unless the plan says otherwise.
    #[must_use]
    pub fn repetitions_or(&self, reduced: usize, full: usize) -> usize {
        self.repetitions.unwrap_or(if self.full { full } else { reduced })
    }

    /// How much of its unit an experiment runs, unless the plan says otherwise.
    #[must_use]
    pub fn size_or(&self, reduced: usize, full: usize) -> usize {
        self.size.unwrap_or(if self.full { full } else { reduced })
    }

    /// Runs a job for each input and gives what came of it beside the input. `work` is handed the
    /// input and the seed that belongs to its name.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn each<I: Sync, O: Send>(
        &self,
        inputs: impl IntoIterator<Item = I>,
        name: impl Fn(&I) -> String,
        work: impl Fn(&I, u64) -> Result<O, ExperimentError> + Sync,
    ) -> Result<Runs<I, O>, ExperimentError> {
        let job = |input: I| Job::new(name(&input), self.seed, 1, input);
        let jobs: Vec<Job<I>> = inputs.into_iter().map(job).collect();
        let outcomes = self.run(&jobs, |job, bar| {
            let outcome = work(&job.input, job.seed);
            bar.advance(1);
            outcome
        })?;
        Ok(Runs(jobs.into_iter().map(|job| job.input).zip(outcomes).collect()))
    }

    /// Runs independent jobs on the plan's threads and gives their results in order.
    ///
    /// # Errors
    /// The first job's that failed, or [`RunnerError`].
    pub fn run<I: Sync, O: Send>(
        &self,
        jobs: &[Job<I>],
        work: impl Fn(&Job<I>, &JobProgress) -> Result<O, ExperimentError> + Sync,
    ) -> Result<Vec<O>, ExperimentError> {
        let bars = if self.progress { Progress::on_terminal(jobs.len()) } else { Progress::hidden(jobs.len()) };
        let results = runner::run(jobs, self.threads, &bars, work)?;
        results.into_iter().map(|result| result.map_err(|error| ExperimentError::Job(Box::new(error)))).collect()
    }
}

/// Inputs with what came of them, in their order.
#[derive(Clone, Debug)]
pub struct Runs<I, O>(pub Vec<(I, O)>);

impl<I, O> Runs<I, O> {
    /// What came of the inputs for which this holds.
    pub fn of(&self, wanted: impl Fn(&I) -> bool) -> Vec<&O> {
        self.0.iter().filter(|(input, _)| wanted(input)).map(|(_, outcome)| outcome).collect()
    }
}
