//! Independent jobs on several threads.
//!
//! A job is one permutation of one data set through one learner, or anything else that depends on
//! nothing but its input and its seed. Results come in the order of the jobs and are the same for
//! every number of threads. A job that fails, even by a panic, is an error in its place; the others
//! go on.
//!
//! A job's seed is made from the experiment's seed and the job's name alone ([`seed_of`]), not from
//! its place: leaving out a data set or adding a learner changes no other job.

use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::ThreadPoolBuilder;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::progress::{JobProgress, Progress};

/// One piece of work.
#[derive(Clone, Debug)]
pub struct Job<I> {
    /// Says what it is, in errors and on the progress bar: `"bank / NONS-ALD / 3"`.
    pub name: String,
    /// Seed of everything random in the job.
    pub seed: u64,
    /// Length of its progress bar.
    pub steps: u64,
    /// What the work is about.
    pub input: I,
}

impl<I> Job<I> {
    /// A job whose seed is [`seed_of`] the experiment's seed and the name.
    #[must_use]
    pub fn new(name: impl Into<String>, experiment_seed: u64, steps: u64, input: I) -> Self {
        let name = name.into();
        Self { seed: seed_of(experiment_seed, &name), name, steps, input }
    }
}

/// Why the jobs could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// Zero threads were asked for.
    #[error("no job can run on 0 threads; give at least 1")]
    NoThreads,
    /// The threads could not be made.
    #[error("{threads} threads could not be started ({source}); give fewer")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// The reason.
        source: rayon::ThreadPoolBuildError,
    },
}

/// How a job failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError<E: Error + 'static> {
    /// The work returned an error.
    #[error("job {name:?}: {source}")]
    Failed {
        /// The job.
        name: String,
        /// Its error.
        source: E,
    },
    /// The work panicked: a defect of ours, not of the data.
    #[error("job {name:?} panicked: {message}; this is a defect, please report it")]
    Panicked {
        /// The job.
        name: String,
        /// The panic's words.
        message: String,
    },
}

/// Runs `work` on every job, on `threads` threads, and gives the results in the order of the jobs.
///
/// `work` reports its steps to the bar that it is handed. It should depend on the job alone.
///
/// # Errors
/// [`RunnerError`] when the threads cannot be made; a job's own failure is in its place of the
/// list.
pub fn run<I, O, E, F>(
    jobs: &[Job<I>],
    threads: usize,
    progress: &Progress,
    work: F,
) -> Result<Vec<Result<O, JobError<E>>>, RunnerError>
where
    I: Sync,
    O: Send,
    E: Error + Send + 'static,
    F: Fn(&Job<I>, &JobProgress) -> Result<O, E> + Sync,
{
    if threads == 0 {
        return Err(RunnerError::NoThreads);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| RunnerError::Threads { threads, source })?;
    let one = |job: &Job<I>| {
        let bar = progress.job(&job.name, job.steps);
        // A job owns what it changes and its result is dropped with the panic, so that no broken
        // state can be seen afterwards.
        match catch_unwind(AssertUnwindSafe(|| work(job, &bar))) {
            Ok(result) => result.map_err(|source| JobError::Failed { name: job.name.clone(), source }),
            Err(payload) => Err(JobError::Panicked { name: job.name.clone(), message: words(payload.as_ref()) }),
        }
    };
    // Jobs differ in length by orders of magnitude: they are handed out one by one.
    Ok(pool.install(|| jobs.par_iter().with_max_len(1).map(one).collect()))
}

/// The seed of whatever has this name within an experiment: 64-bit FNV-1a of the name, mixed with
/// the experiment's seed by the finaliser of SplitMix64. Part of what a recorded run means, so it
/// never changes.
///
/// Things that must share their randomness share a name: the third permutation of a data set is
/// `seed_of(seed, "bank / permutation 3")` for every learner.
#[must_use]
pub fn seed_of(experiment_seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut z = hash.wrapping_add(experiment_seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn words(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, thiserror::Error)]
    #[error("input {0} is not wanted")]
    struct Unwanted(u32);

    fn jobs() -> Vec<Job<u32>> {
        (0..40).map(|i| Job::new(format!("job {i}"), 7, 1, i)).collect()
    }

    /// A walk that depends on the seed and takes a different time for every job.
    fn walk(job: &Job<u32>, bar: &JobProgress) -> Result<f64, Unwanted> {
        let (mut state, mut sum) = (job.seed, 0.0);
        for _ in 0..(job.input % 7) * 2000 {
            state = seed_of(state, "");
            sum += state as f64 / u64::MAX as f64 - 0.5;
        }
        bar.advance(1);
        match job.input {
            13 => Err(Unwanted(13)),
            21 => panic!("twenty-one"),
            _ => Ok(sum),
        }
    }

    fn run_on(threads: usize) -> Vec<Result<f64, String>> {
        let (jobs, progress) = (jobs(), Progress::hidden(40));
        let results = run(&jobs, threads, &progress, walk).unwrap();
        assert_eq!(progress.done(), 40);
        results.into_iter().map(|r| r.map_err(|e| e.to_string())).collect()
    }

    #[test]
    fn one_and_four_threads_agree_bit_for_bit() {
        let (one, four) = (run_on(1), run_on(4));
        assert_eq!(one.len(), 40);
        assert_eq!(one, four);
    }

    #[test]
    fn a_failing_job_is_an_error_in_its_place_and_the_others_go_on() {
        let results = run_on(3);
        assert_eq!(results[13], Err("job \"job 13\": input 13 is not wanted".to_owned()));
        assert_eq!(results[21], Err("job \"job 21\" panicked: twenty-one; this is a defect, please report it".into()));
        assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 38);
    }

    #[test]
    fn seeds_depend_on_name_and_experiment_but_not_on_place() {
        let jobs = jobs();
        let mut seeds: Vec<u64> = jobs.iter().map(|job| job.seed).collect();
        assert_eq!(seed_of(7, "job 3"), jobs[3].seed);
        assert_ne!(seed_of(8, "job 3"), jobs[3].seed);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 40);
    }

    #[test]
    fn recorded_seeds_never_change() {
        // From an independent implementation, checked against FNV-1a's published value for "a".
        assert_eq!(seed_of(0, "a"), 0x02c0_bdbf_4814_20f8);
        assert_eq!(seed_of(1, "bank / permutation 3"), 0x68d2_b319_bba8_e66e);
    }

    #[test]
    fn no_threads_are_refused() {
        let result = run(&jobs(), 0, &Progress::hidden(0), walk);
        assert!(matches!(result, Err(RunnerError::NoThreads)));
        let empty: &[Job<u32>] = &[];
        let result = run(empty, 2, &Progress::hidden(0), walk).unwrap();
        assert!(result.is_empty());
    }
}
