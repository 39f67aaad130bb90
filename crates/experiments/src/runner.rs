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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// Runs `work` on every job, a name and an input, on `threads` threads, and gives the results in
/// the order of the jobs. `work` should depend on the job alone. A bar is drawn if that is asked
/// for and standard error is a terminal; it vanishes in the end.
pub fn run<I: Sync, O: Send>(
    jobs: &[(String, I)],
    threads: usize,
    progress: bool,
    work: impl Fn(&str, &I) -> Result<O> + Sync,
) -> Result<Vec<Result<O>>> {
    ensure!(threads > 0, "no job can run on 0 threads; give at least 1");
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.with_context(|| format!("{threads} threads could not be started; give fewer"))?;
    let bar = bar(jobs.len(), progress);
    let one = |(name, input): &(String, I)| {
        bar.set_message(name.clone());
        // A job owns what it changes and its result is dropped with the panic, so that no broken
        // state can be seen afterwards.
        let result = match catch_unwind(AssertUnwindSafe(|| work(name, input))) {
            Ok(result) => result.map_err(|error| anyhow!("job {name:?}: {error:#}")),
            Err(payload) => {
                Err(anyhow!("job {name:?} panicked: {}; this is a defect, please report it", words(payload.as_ref())))
            }
        };
        bar.inc(1);
        result
    };
    // Jobs differ in length by orders of magnitude: they are handed out one by one.
    let results = pool.install(|| jobs.par_iter().with_max_len(1).map(one).collect());
    bar.finish_and_clear();
    Ok(results)
}

const TEMPLATE: &str = "{bar:30} {pos}/{len} jobs, {elapsed} gone, {eta} to go; {msg}";

fn bar(jobs: usize, progress: bool) -> ProgressBar {
    let target = if progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(jobs as u64), target);
    // The template is fixed; a wrong one costs a plainer bar, not the run.
    let style = ProgressStyle::with_template(TEMPLATE);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    if progress {
        bar.enable_steady_tick(Duration::from_secs(1));
    }
    bar
}

/// The seed of whatever has this name within an experiment: 64-bit FNV-1a of the name, mixed with
/// the experiment's seed by the finaliser of SplitMix64. Part of what a recorded run means, so it
/// never changes.
///
/// Things that must share their randomness share a name: the third permutation of a data set is
/// `seed_of(seed, "bank / permutation 3")` for every learner.
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

    fn jobs() -> Vec<(String, u32)> {
        (0..40).map(|i| (format!("job {i}"), i)).collect()
    }

    /// A walk that depends on the seed and takes a different time for every job.
    fn walk(name: &str, input: &u32) -> Result<f64> {
        let (mut state, mut sum) = (seed_of(7, name), 0.0);
        for _ in 0..(input % 7) * 2000 {
            state = seed_of(state, "");
            sum += state as f64 / u64::MAX as f64 - 0.5;
        }
        match input {
            13 => Err(anyhow!("input 13 is not wanted")),
            21 => panic!("twenty-one"),
            _ => Ok(sum),
        }
    }

    fn run_on(threads: usize) -> Vec<Result<f64, String>> {
        let results = run(&jobs(), threads, false, walk).unwrap();
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
    fn seeds_depend_on_name_and_experiment() {
        let mut seeds: Vec<u64> = jobs().iter().map(|(name, _)| seed_of(7, name)).collect();
        assert_ne!(seed_of(8, "job 3"), seeds[3]);
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
    fn no_threads_are_refused_and_the_bar_is_understood() {
        assert!(run(&jobs(), 0, false, walk).unwrap_err().to_string().contains("give at least 1"));
        assert!(run(&[], 2, false, walk).unwrap().is_empty());
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
