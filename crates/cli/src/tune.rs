//! `mercer tune`: good settings of a learner for these data.

mod report;

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;
use mercer_kernels::AnyKernel;
use mercer_registry::catalogue::{self, Entry, Kind as KeyKind, nearest};
use mercer_registry::tune::{Dimension, Plan, SearchResult, Space, TuneError, search};

use crate::arguments::{count, typed};
use crate::eval::arguments::EvalArguments;
use crate::eval::scaled_table::{PassResult, ScaledTable};
use crate::eval_options::{ExtraArgs, WithEval};
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::scores::Metric;
use crate::report::verbosity;
use report::{PassExtras, TuneReport};

#[derive(Args)]
pub(crate) struct TuneArgs {
    /// Points that are tried
    ///
    /// Half of them are spread over the ranges and tried on a ninth of the rows. The best third
    /// goes on to a third of the rows, the best third of these to all. On each of these prefixes
    /// some more are tried around the best point.
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, help_heading = "Search")]
    trials: NonZeroUsize,
    /// Look for this key between these values; may be given several times
    ///
    /// `sigma` is the width of the kernel. `:log` spreads the values evenly by their logarithms,
    /// `:linear` as they are; unless given it is as for the learner's own range, or linear. Unless
    /// given, the width is looked for within a factor of 8 of the median heuristic, and keys in the
    /// ranges of `mercer learners NAME`.
    #[arg(long, value_name = "KEY=LOW..HIGH[:log]", help_heading = "Search")]
    search: Vec<String>,
    /// The kernel: gaussian:SIGMA, laplace:SIGMA, … as for `eval`, and then it is not looked for
    ///
    /// With --search sigma=LOW..HIGH its family stays and its width is looked for. Unless given, it
    /// is a Gaussian whose width is looked for.
    #[arg(long, value_name = "SPEC", help_heading = "Search")]
    kernel: Option<String>,
    /// Threads, each with a learner of its own; as many as there are processors unless given. The
    /// result is the same
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Search")]
    threads: Option<NonZeroUsize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Find good settings of a learner for these data, and print the command that has them
///
/// Runs the learner with many settings over prefixes of DATA as `eval` does, and prints the best
/// ones and the command that won. `eval` then prints the same score, to the last digit. All rows
/// are in memory, and a learner for each thread.
///
/// The score is that of --metric over all rows that are scored (--skip); unless given the root mean
/// squared error, or for classes the log loss (accuracy where the learner has no probabilities).
/// `--set` fixes a key. `--seed` is also that of the points that are tried.
pub(crate) type TuneArguments = WithEval<TuneArgs>;

impl ExtraArgs for TuneArgs {
    const WITHOUT: &'static [&'static str] = &[
        "kernel",
        "threads",
        "json",
        "predictions",
        "columns",
        "intervals",
        "interval_width",
        "plot",
        "window",
        "group",
        "max_groups",
        "label_id",
        "max_kept",
        "watch",
        "alarm_rate",
    ];
    const EXAMPLES: &'static str = "\
Examples:
  mercer tune diamonds --learner krls --scale standard
  mercer tune data.csv --learner fogd --scale standard --limit 10000 --set features=200 --threads 4
  mercer tune data.csv --learner nons-ald --kernel laplace:1 --search sigma=0.1..10:log --search mu=0.01..1:log --json
";
}

pub(crate) fn run(arguments: &TuneArguments) -> Result<(), Failure> {
    let WithEval { own, words } = arguments;
    let begun = Instant::now();
    let with_kernel = |kernel: Option<&str>| {
        let mut words = words.clone();
        kernel.inspect(|kernel| words.add("kernel", kernel));
        words
    };
    let base = with_kernel(own.kernel.as_deref()).parsed()?;
    let entry = catalogue::find(&base.common.learner)?;
    catalogue::Settings::new(entry, base.common.set.iter().map(String::as_str))?;
    let ranges: Vec<Dimension> = own.search.iter().map(|range| wanted(range, entry)).collect::<Result<_, _>>()?;
    let held = ScaledTable::read(&base)?;
    let kernel = held.kernel(&base, entry)?;
    let metric = held.metric(&base)?;
    let space = space(entry, &base, own.kernel.as_deref(), &kernel, ranges)?;
    let threads = own.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, usize::from);
    let plan = Plan::new(held.len()).in_blocks(held.chunk()).after(base.scores.skipped(entry));
    let plan = plan.trials(own.trials.into()).seed(base.common.seed).threads(threads);
    let of_point = |values: &[f64]| {
        let mut words = match space.width(values) {
            Some(width) => with_kernel(Some(&format!("{}:{}", family(&kernel), output::number(width)))),
            None => with_kernel(own.kernel.as_deref()),
        };
        space.pairs(values).iter().for_each(|pair| words.add("set", pair));
        words
    };
    let passes = SeenPasses::begin(&plan, held.len());
    let score = |values: &[f64], rows: usize| -> Result<f64, Failure> {
        let passed = of_point(values).parsed().and_then(|arguments| held.pass(&arguments, rows));
        passes.bar.inc(1);
        let passed = passed?;
        let score = lost(metric, &passed);
        passes.take(score, (values, rows), passed);
        Ok(score)
    };
    let found: SearchResult = search(&space, &plan, score).map_err(|error| failure(entry.name, error))?;
    let seen = passes.end();
    let report = TuneReport {
        learner: entry.name,
        data: base.common.data.display().to_string(),
        n: held.len(),
        d: held.dimension(),
        space: &space,
        family: family(&kernel),
        found: &found,
        seen: &seen,
        metric: typed(&metric),
        is_gain: !metric.is_error(),
        command: of_point(&found.best().values).command(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    output::print(&if own.json { report.json()? } else { report.text() })
}

/// The passes so far, and the best score of one over all rows.
struct SeenPasses {
    bar: ProgressBar,
    all: usize,
    best: Mutex<f64>,
    seen: Mutex<Vec<PassExtras>>,
}

impl SeenPasses {
    fn begin(plan: &Plan, all: usize) -> Self {
        let bar = verbosity::bar(Some(plan.passes() as u64), "{bar:40} {pos}/{len} passes, {eta} left, best {msg}");
        Self { bar, all, best: Mutex::new(f64::INFINITY), seen: Mutex::default() }
    }

    fn take(&self, score: f64, (values, rows): (&[f64], usize), passed: PassResult) {
        let (Ok(mut best), Ok(mut seen)) = (self.best.lock(), self.seen.lock()) else { return };
        let PassResult { dictionary_size: size, notes, .. } = passed;
        seen.push(PassExtras { values: values.to_vec(), rows, size, notes });
        if rows == self.all && score < *best {
            *best = score;
            self.bar.set_message(output::digits(score.abs()));
        }
    }

    fn end(self) -> Vec<PassExtras> {
        self.bar.finish_and_clear();
        self.seen.into_inner().unwrap_or_default()
    }
}

/// The score of a pass, the lower the better.
fn lost(metric: Metric, passed: &PassResult) -> f64 {
    metric.value(&passed.scores()).map_or(f64::NAN, |score| if metric.is_error() { score } else { -score })
}

/// Why nothing was found for a learner.
fn failure(learner: &str, error: TuneError<Failure>) -> Failure {
    match error {
        TuneError::Failed(failure) => failure,
        TuneError::Nothing => Failure::usage(format!(
            "{learner}: there is nothing to tune; name a key and its range with --search KEY=LOW..HIGH, or take another learner"
        )),
        error @ TuneError::NotFinite => {
            Failure::because(format!("{learner}: {error}; give other ranges with --search"))
        }
    }
}

/// The box.
fn space(
    entry: &'static Entry,
    base: &EvalArguments,
    kernel: Option<&str>,
    usual: &AnyKernel,
    ranges: Vec<Dimension>,
) -> Result<Space, Failure> {
    let width = match usual {
        AnyKernel::Gaussian(gaussian) if kernel.is_none() && !entry.autonomous => Some(gaussian.sigma()),
        _ => None,
    };
    let fixed = base.common.set.iter().filter_map(|pair| pair.split_once('=')).map(|(key, _)| key.trim());
    let fixed: Vec<&str> = fixed.collect();
    let mut space = fixed.iter().fold(Space::for_entry(entry, width), |space, key| space.without(key));
    for range in ranges {
        if fixed.contains(&range.name.as_str()) {
            return Err(Failure::usage(format!(
                "{0} is both fixed by --set and looked for by --search; leave one out",
                range.name
            )));
        }
        if range.name == Space::WIDTH && (family(usual).is_empty() || entry.autonomous) {
            return Err(Failure::usage(format!(
                "--search {}: this kernel has no width; take gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA or matern52:SIGMA",
                Space::WIDTH
            )));
        }
        space = space.with(range);
    }
    Ok(space)
}

/// The name of a kernel whose one number is its width; empty for others.
fn family(kernel: &AnyKernel) -> &'static str {
    match kernel {
        AnyKernel::Gaussian(_) => "gaussian",
        AnyKernel::Laplace(_) => "laplace",
        AnyKernel::Matern32(_) => "matern32",
        AnyKernel::Matern52(_) => "matern52",
        _ => "",
    }
}

/// The dimension that `--search` describes: `KEY=LOW..HIGH`, perhaps with `:log` or `:linear`.
fn wanted(text: &str, entry: &'static Entry) -> Result<Dimension, Failure> {
    let refused = |why: &str| Failure::usage(format!("--search {text}: {why}"));
    let form =
        || refused("write KEY=LOW..HIGH, KEY=LOW..HIGH:log or KEY=LOW..HIGH:linear, such as lambda=0.01..10:log");
    let (key, range) = text.split_once('=').ok_or_else(form)?;
    let key = key.trim();
    let tunable = |one: &&catalogue::Key| matches!(one.kind, KeyKind::Number | KeyKind::Count);
    let mut known: Vec<&str> = entry.keys.iter().filter(tunable).map(|key| key.name).collect();
    known.push(Space::WIDTH);
    if !known.contains(&key) {
        let meant = nearest(key, &known).map_or(String::new(), |name| format!(" (is {name} meant?)"));
        let known = known.join(", ");
        return Err(refused(&format!("{} has no key {key:?} that is a number{meant}; these are {known}", entry.name)));
    }
    let (range, how) = match range.rsplit_once(':') {
        Some((range, how)) => (range, Some(how.trim())),
        None => (range, None),
    };
    let own = entry.search().find(|range| range.key == key);
    let logarithmic = match how {
        Some("log") => true,
        Some("linear") => false,
        Some(_) => return Err(form()),
        None => key == Space::WIDTH || own.is_some_and(|range| range.logarithmic),
    };
    let (low, high) = range.split_once("..").ok_or_else(form)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| form());
    let dimension = Dimension::new(key, number(low)?, number(high)?, logarithmic);
    let dimension = dimension.ok_or_else(|| {
        refused("LOW must be below HIGH, and above 0 where values are spread by their logarithms (:log)")
    })?;
    Ok(dimension.of_key(entry))
}
