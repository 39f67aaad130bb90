//! `mercer compare`: several learners on the same rows.

mod report;

use std::num::NonZeroUsize;

use clap::Args;
use mercer_registry::catalogue::{self, Settings, split};
use mercer_registry::tune::in_parallel;

use crate::arguments::count;
use crate::eval::arguments::EvalArguments;
use crate::eval::scaled_table::{PassResult, ScaledTable};
use crate::eval_options::{ExtraArgs, WithEval, Words};
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::plot::PlotArguments;
use crate::report::verbosity;
use report::{ComparisonReport, ComparisonRow};

#[derive(Args)]
pub(crate) struct CompareArgs {
    /// The learners, with commas between: NAME, or NAME KEY=VALUE …, where kernel=SPEC may be one
    /// of the settings
    ///
    /// With ; between if there is one, for settings that have commas of their own: 'krls
    /// lambda=0.1; kogd kernel=polynomial:3,1'.
    #[arg(long, value_name = "NAME KEY=VALUE …,…", required = true)]
    learners: Vec<String>,
    /// The kernel of learners that name none, as for `eval`
    #[arg(long, value_name = "SPEC")]
    kernel: Option<String>,
    /// Learners that run at the same time. The result is the same, but what a row takes is measured
    /// side by side
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    threads: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: PlotArguments,
}

/// Run several learners over the same rows, and print their scores side by side
///
/// DATA is read once, into memory. Each learner then makes one pass as `eval` does, with the same
/// scores. The table shows the score of --metric (unless given the root mean squared error, or the
/// accuracy of classes) over all rows, over their second half and over the last window, the time of
/// a row and the points kept, and two baselines that cost nothing. The best of each column has a
/// star. --plot draws the scores of windows, one curve a learner.
pub(crate) type CompareArguments = WithEval<CompareArgs>;

impl ExtraArgs for CompareArgs {
    const WITHOUT: &'static [&'static str] = &[
        "learner",
        "kernel",
        "set",
        "threads",
        "json",
        "predictions",
        "columns",
        "intervals",
        "interval_width",
        "plot",
        "group",
        "max_groups",
        "label_id",
        "max_kept",
        "watch",
        "alarm_rate",
    ];
    const EXAMPLES: &'static str = "\
Examples:
  mercer compare diamonds --learners auto,krls,fogd --scale standard
  mercer compare data.csv --learners 'krls lambda=0.1, nons-ald mu=0.5, kogd' --metric mae --json
  mercer compare data.csv --learners 'krls kernel=gaussian:2; kogd kernel=polynomial:3,1' --scale standard --plot curves.svg
";
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Failure> {
    let WithEval { own, words } = arguments;
    let specs: Vec<String> = own.learners.iter().flat_map(|list| listed(list)).collect();
    let mut runs: Vec<EvalArguments> =
        specs.iter().map(|spec| of_spec(spec, words, own.kernel.as_deref())).collect::<Result<_, _>>()?;
    // All are scored on the same rows.
    let mut skip = 0;
    for run in &runs {
        skip = skip.max(run.scores.skipped(catalogue::find(&run.common.learner)?));
    }
    runs.iter_mut().for_each(|run| run.scores.skip = skip);
    let Some(first) = runs.first() else {
        return Err(Failure::usage("--learners names none; give some with commas between, such as krls,fogd"));
    };
    for run in &runs {
        Settings::new(catalogue::find(&run.common.learner)?, run.common.set.iter().map(String::as_str))?;
    }
    #[cfg(not(feature = "plots"))]
    own.plot.refuse()?;
    #[cfg(feature = "plots")]
    let plot = own.plot.create(&[first.common.data.as_path()])?;
    let held = ScaledTable::read(first)?;
    let metric = held.followed(first)?;
    let bar = verbosity::bar(Some(runs.len() as u64), "{bar:40} {pos}/{len} learners");
    let passed = in_parallel(own.threads.into(), runs.len(), |i| {
        let passed = held.pass(&runs[i], usize::MAX);
        bar.inc(1);
        passed
    });
    bar.finish_and_clear();
    let window = first.scores.window.map_or((held.len() / 10).max(1), usize::from);
    let mut failure = None;
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for (spec, passed) in specs.into_iter().zip(passed) {
        let passed: Result<PassResult, String> = passed.map_err(|why| {
            let told = why.to_string();
            failure.get_or_insert(why);
            told
        });
        rows.push(ComparisonRow { spec, passed });
    }
    if let (Some(failure), true) = (failure, rows.iter().all(|row| row.passed.is_err())) {
        return Err(failure);
    }
    let data = first.common.data.display().to_string();
    let report = ComparisonReport { data, n: held.len(), d: held.dimension(), metric, window, rows };
    #[cfg(feature = "plots")]
    let picture = plot.map(|plot| (plot, report.picture()));
    let text = if own.json { report.json()? } else { report.text() };
    #[cfg(feature = "plots")]
    if let Some((plot, picture)) = picture {
        plot.finish(&picture)?;
    }
    output::print(&text)
}

/// The learners of a list.
fn listed(list: &str) -> Vec<String> {
    let separator = if split(list, |c| c == ';').nth(1).is_some() { ';' } else { ',' };
    let specs = split(list, |c| c == separator).map(|spec| spec.split_whitespace().collect::<Vec<_>>().join(" "));
    specs.filter(|spec| !spec.is_empty()).collect()
}

/// The arguments that `eval` would get for one learner.
fn of_spec(spec: &str, words: &Words, kernel: Option<&str>) -> Result<EvalArguments, Failure> {
    let mut words = words.clone();
    let mut parts = split(spec, char::is_whitespace);
    // A mixture chooses its kernels itself; one that is meant for the others is not meant for it.
    let autonomous = catalogue::find(parts.next().unwrap_or_default())?.autonomous;
    let named = parts.any(|part| part.starts_with("kernel="));
    kernel.filter(|_| !named && !autonomous).inspect(|kernel| words.add("kernel", kernel));
    words.add("learner", spec);
    words.parsed().map_err(|failure| failure.with(&format!("learner {spec:?}")))
}
