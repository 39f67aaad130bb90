//! `mercer compare`: several learners on the same rows.

mod report;

use std::num::NonZeroUsize;

use clap::{ArgMatches, Args, Command as Parsed, FromArgMatches};
use mercer::catalogue::{self, Settings, split};
use mercer::tune::in_parallel;

use super::eval::held::{Held, Passed};
use super::failure::Failure;
use super::of_eval::{Words, with_options};
use super::plot::PlotArguments;
use super::{EvalArguments, count, output, voice};
use report::{Report, Row};

/// Options of `eval` that this command does not take, or takes as its own.
const WITHOUT: [&str; 10] =
    ["learner", "kernel", "set", "threads", "json", "predictions", "columns", "intervals", "interval_width", "plot"];

#[derive(Args)]
struct Own {
    /// The learners, with commas between: NAME, or NAME KEY=VALUE …, where kernel=SPEC may be one of the settings
    ///
    /// With ; between if there is one, for settings that have commas of their own: 'krls lambda=0.1; kogd kernel=polynomial:3,1'.
    #[arg(long, value_name = "NAME KEY=VALUE …,…", required = true)]
    learners: Vec<String>,
    /// The kernel of learners that name none, as for `eval`
    #[arg(long, value_name = "SPEC")]
    kernel: Option<String>,
    /// Learners that run at the same time. The result is the same, but what a row takes is measured side by side
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
/// DATA is read once, into memory. Each learner then makes one pass as `eval` does, with the same scores. The table shows the score of --metric (unless
/// given the root mean squared error, or the accuracy of classes) over all rows, over their second half and over the last window, the time of a row and the
/// points kept, and two baselines that cost nothing. The best of each column has a star. --plot draws the scores of windows, one curve a learner.
pub(crate) struct CompareArguments {
    own: Own,
    /// The options of `eval`.
    words: Words,
}

impl FromArgMatches for CompareArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { own: Own::from_arg_matches(matches)?, words: Words::of(matches, &WITHOUT) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CompareArguments {
    fn augment_args(command: Parsed) -> Parsed {
        with_options(Own::augment_args(command), &WITHOUT).after_help(EXAMPLES)
    }

    fn augment_args_for_update(command: Parsed) -> Parsed {
        Self::augment_args(command)
    }
}

const EXAMPLES: &str = "\
Examples:
  mercer compare diamonds --learners auto,krls,fogd --scale paper01
  mercer compare data.csv --learners 'krls lambda=0.1, nons-ald mu=0.5, kogd' --metric mae --json
  mercer compare data.csv --learners 'krls kernel=gaussian:2; kogd kernel=polynomial:3,1' --scale paper01 --plot curves.svg
";

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Failure> {
    let CompareArguments { own, words } = arguments;
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
    let mut formula = None;
    for run in &runs {
        let settings = Settings::new(catalogue::find(&run.common.learner)?, run.common.set.iter().map(String::as_str))?;
        formula = formula.or(settings.needs_rounds());
    }
    #[cfg(not(feature = "plots"))]
    own.plot.refuse()?;
    #[cfg(feature = "plots")]
    let plot = own.plot.create(&[first.common.data.as_path()])?;
    let held = Held::read(first, formula)?;
    let metric = held.followed(first)?;
    let bar = voice::bar(Some(runs.len() as u64), "{bar:40} {pos}/{len} learners");
    let passed = in_parallel(own.threads.into(), runs.len(), |i| {
        let passed = held.pass(&runs[i], usize::MAX);
        bar.inc(1);
        passed
    });
    bar.finish_and_clear();
    let window = first.scores.window.map_or((held.len() / 10).max(1), usize::from);
    let mut failure = None;
    let mut rows: Vec<Row> = Vec::new();
    for (spec, passed) in specs.into_iter().zip(passed) {
        let passed: Result<Passed, String> = passed.map_err(|why| {
            let told = why.to_string();
            failure.get_or_insert(why);
            told
        });
        rows.push(Row { spec, passed });
    }
    if let (Some(failure), true) = (failure, rows.iter().all(|row| row.passed.is_err())) {
        return Err(failure);
    }
    let data = first.common.data.display().to_string();
    let report = Report { data, n: held.len(), d: held.dimension(), metric, window, rows };
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

/// What `eval` would be told for one learner.
fn of_spec(spec: &str, words: &Words, kernel: Option<&str>) -> Result<EvalArguments, Failure> {
    let mut words = words.clone();
    let mut parts = split(spec, char::is_whitespace).filter(|part| !part.is_empty());
    words.add("learner", parts.next().unwrap_or_default());
    let (kernels, settings): (Vec<&str>, Vec<&str>) = parts.partition(|part| part.starts_with("kernel="));
    let named = kernels.iter().map(|part| &part["kernel=".len()..]);
    // A mixture chooses its kernels itself; one that is meant for the others is not meant for it.
    let autonomous = catalogue::find(spec.split(' ').next().unwrap_or_default())?.autonomous;
    let common = kernel.filter(|_| kernels.is_empty() && !autonomous);
    named.chain(common).for_each(|kernel| words.add("kernel", kernel));
    settings.iter().for_each(|pair| words.add("set", pair));
    words.parsed().map_err(|failure| failure.with(&format!("learner {spec:?}")))
}
