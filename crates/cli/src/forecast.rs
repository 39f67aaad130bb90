//! `mercer forecast`: predicts every row of a series from the rows before it, and what comes after
//! the last.

mod anomalies;
mod backtest;
mod beginning;
mod clock;
mod columns;
mod effects;
mod feed;
mod future;
mod method;
mod overshoots;
mod parts;
mod pass;
mod passes;
#[cfg(feature = "plots")]
mod picture;
mod plan;
mod record;
mod report;
mod rows;
mod run_output;
mod tables;
mod times;
mod total;

use std::iter;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use mercer_forecast::{Forecaster, Periods, TotalMethod};
use mercer_readers::ColumnChoice;
use mercer_session::model::Prediction;

use crate::arguments::dialect::Dialect;
use crate::arguments::zone::ZoneArguments;
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::model::saving::{Fact, SaveArguments, Saving, check_same, parameter_facts};
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::plot::PlotArguments;
use beginning::Beginning;
use clock::{Clock, Repeats};
use feed::SeriesFeed;
use future::Future;
use method::{ForecastMethod, Gamma, Lambda, Season, SeasonSetup};
use passes::Passes;
use run_output::ForecastOutput;
use tables::TableArguments;

pub(crate) use pass::{PassOptions, SeriesPass};

pub(crate) use report::parameters;
#[cfg(feature = "serve")]
pub(crate) use {
    anomalies::AnomalyLog, columns::SeriesColumns, effects::EffectReport, parts::told as told_parts, times::TimeMemory,
};

/// Forecast a series: predict every row from the rows before it, then learn from it
///
/// SERIES is a CSV or TSV file (with or without a header), JSON, each also compressed by gzip or
/// zstd, Parquet or Arrow, one row a moment; or `-` for standard input; or, if there is no such
/// file, the name of a known series such as `earth_orientation`, which is built in. All columns of
/// numbers are forecast, each by itself, unless they hold times, count the rows or are named in
/// --known; --target names those that are. An empty cell or NaN is a missing value: nothing is
/// learnt from it, and its prediction stands in for it afterwards. In a CSV or TSV file of one
/// column a blank line between two rows is such a cell (from standard input it is answered when the
/// row after it comes); blank lines before the first row or behind the last are no rows.
///
/// From standard input, and unless --json or --predictions is given, the forecast of the next row
/// is printed as soon as a row has come: one line `k,…` for each row in.
///
/// Errors are summed over the rows after the warm-up, k > --t-init, missing values left out; the
/// mean is over single values. Beside them stand those of baselines that cost nothing: the running
/// mean of each output, its last value and, with a season, its value of a season ago, over the rows
/// of this run. MASE is the mean absolute error in units of the mean change over a season. With
/// --steps H forecasts of H steps are scored, too.
///
/// With --out the forecaster is kept in a file, and --model goes on with it: the rows are counted
/// on, and predictions and errors are those of one run over all rows. The same file may be both.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct ForecastArguments {
    /// A file, `-` for standard input, or a series' name
    series: PathBuf,
    #[command(flatten)]
    making: ForecastMaking,
    /// Number of rows ahead to forecast: after the last row, or after each from standard input
    ///
    /// Rows at the end of a file that have no value to forecast are a plan: the forecast begins
    /// with them, and is of all of them unless --steps is given. Under --known or --inputs the rows
    /// to come are such rows, or in --future.
    #[arg(long, alias = "horizon", value_name = "H", value_parser = steps)]
    steps: Option<NonZeroUsize>,
    /// The column of times, by name or by number from 1 [default: the first one that holds dates or
    /// times]
    ///
    /// Dates, dates with times, days in eight digits, months such as 2020-01 and quarters such as
    /// 2020Q1 are known by their look; years, months in six digits and seconds since 1970 (or
    /// thousandths of them and less) by the column's name or by this option, which also takes plain
    /// numbers. The rows must be in order of time: an earlier one is refused. Where they have an
    /// even step, such as a day, a working day, a month or 30 minutes, missing rows are put in as
    /// gaps and counted, and the times go on beyond the last row. It is not forecast, and neither
    /// are other columns of times.
    #[arg(long, value_name = "NAME|INDEX")]
    time: Option<ColumnChoice>,
    #[command(flatten)]
    zone: ZoneArguments,
    /// Treatment of rows that have the time of the row before: sum, mean or last makes one row of
    /// them [default: refuse]
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Repeats::Refuse, hide_default_value = true, hide_possible_values = true)]
    repeats: Repeats,
    /// The columns that are forecast, by name or by number from 1, with commas between [default:
    /// all columns of numbers]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    target: Vec<ColumnChoice>,
    /// The column that says which of many series a row is of: each is forecast by itself, in one
    /// table
    ///
    /// A series has a state of about 0.25 MB, with fewer experts than a single series has. What
    /// experts are worth in the series so far, a new one begins with. The output has the names of
    /// the groups. A model file keeps them all, and the column. --plot draws the first twelve.
    #[arg(long, value_name = "NAME|INDEX", conflicts_with_all = ["model", "future", "inputs"])]
    group: Option<ColumnChoice>,
    /// Forecast the total of the groups, too, so that their forecasts add up to it: bottom-up is
    /// the sum of theirs; mint forecasts it by itself and shares the difference out by how errors
    /// of one step went together, so that all have the least errors
    ///
    /// MinT of Wickramasuriya, Athanasopoulos and Hyndman (2019), with the covariance of the last
    /// 400 errors, shrunk. A forecast that was not negative may become so. All groups must end at
    /// the same time; one that begins late adds nothing before. The total is the group `total` in
    /// --predictions.
    #[arg(long, value_name = "HOW", value_parser = total::methods(), requires = "group", conflicts_with = "model")]
    total: Option<TotalMethod>,
    /// Columns that are not forecast, by name or by number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    /// Kind of a column, against what the first rows show: number, category, time, dmy, mdy or ymd
    #[arg(long = "as", value_name = "NAME=KIND")]
    kinds: Vec<String>,
    /// Add quantiles, such as 0.05,0.5,0.95, of --method season: the share of values that are below
    #[arg(long, value_name = "P,…", value_delimiter = ',', value_parser = probability)]
    quantiles: Vec<f64>,
    /// With --steps H, forecasts of H steps are scored as the series goes, each from where the one
    /// before ended: the last K of them count [default: 10]
    #[arg(long, value_name = "K", requires = "steps", value_parser = origins)]
    backtest: Option<usize>,
    /// The rows that follow: a file with the columns of --known or --inputs, and with the times if
    /// the series has some
    ///
    /// As many steps are forecast as it has rows, unless --steps says fewer. Several files are
    /// scenarios, such as --future plan.csv --future bold.csv: each is forecast, and named by its
    /// file without the ending.
    #[arg(long, value_name = "FILE")]
    future: Vec<PathBuf>,
    #[command(flatten)]
    dialect: Dialect,
    /// Write the prediction of every row, made before it was seen, to this CSV file: k from 0, then
    /// one column an output; then the rows of --steps. It appears when the run is complete
    #[arg(long, value_name = "OUT.csv")]
    predictions: Option<PathBuf>,
    #[command(flatten)]
    tables: TableArguments,
    #[command(flatten)]
    plot: PlotArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: SaveArguments,
}

/// Options that make a forecaster; a saved one has them already.
#[derive(Args)]
struct ForecastMaking {
    /// Method of prediction; `season` unless given (`opf` with a --gamma that is given, `experts`
    /// with --beta, --t-init, --lambda or --inputs)
    ///
    /// season: for ordinary series, each column by itself, with trend, seasons and the effects of
    /// --known; filters, regressions and simple forecasts, weighed for each horizon by how well
    /// each did; more than eight columns have fewer of them. opf: online prediction with
    /// forgetting. experts: a grid of γ (and of β, where --beta lists several), weighted by how
    /// well each did; nothing need be known.
    #[arg(long, value_name = "METHOD", conflicts_with = "model")]
    method: Option<ForecastMethod>,
    /// The lengths of the seasons in rows, of --method season: up to three such as 24,168; none; or
    /// auto: those that go with the step of the times (12 months, 4 quarters, 52 weeks, 7 days, 5
    /// working days, a day and a week of hours or minutes), and else those found in the data
    /// [default: auto]
    #[arg(long, value_name = "ROWS,…|auto|none", conflicts_with = "model")]
    season: Option<Season>,
    /// Rows looked back, per natural logarithm of the time; several for a grid of β and γ, of
    /// experts [default: 2.5]
    #[arg(long, value_name = "B,…", value_delimiter = ',', conflicts_with = "model")]
    beta: Vec<f64>,
    /// Rows of the warm-up, in which the last value is the prediction [default: 60]
    #[arg(long, value_name = "N", conflicts_with = "model")]
    t_init: Option<usize>,
    /// Regulariser: auto, or a number that is small against the squares of the data [default: auto]
    ///
    /// auto divides every column by a scale of its own, so that results do not depend on units, and
    /// regularises by 0.01 there. The scale is the root mean square of the changes from row to row
    /// in the warm-up (in its first 1024 rows at most), though at least a millionth of that of the
    /// values, and 1 for a column of zeros.
    #[arg(long, value_name = "L|auto", conflicts_with = "model")]
    lambda: Option<Lambda>,
    /// Forgetting factor γ, or auto, the grid of experts: coefficients are expected to fall like γ
    /// to the power of the lag [default: auto]
    #[arg(long, value_name = "G|auto", conflicts_with = "model")]
    gamma: Option<Gamma>,
    /// Columns that are known in advance, such as promotions, holidays or prices, by name or by
    /// number from 1: their effect on the row that they stand in is learnt. The rows to come are in
    /// --future, or appended with empty outputs
    #[arg(long, value_name = "COL,…", value_delimiter = ',', conflicts_with_all = ["model", "inputs"])]
    known: Vec<ColumnChoice>,
    /// Columns that act on the outputs and are not predicted, by name or by number from 1; not of
    /// --method season
    #[arg(long, value_name = "COL,…", value_delimiter = ',', conflicts_with = "model")]
    inputs: Vec<ColumnChoice>,
    /// Add intervals that hold this share of the values, such as 0.9, calibrated as the series
    /// goes; an end that does not exist yet is empty
    ///
    /// With --steps H each of the H steps has intervals of its own, calibrated by the errors of
    /// forecasts of as many steps. For that all H steps are forecast after each row, which costs a
    /// copy of the forecaster and H predictions a row; H is at most 1000 then.
    #[arg(long, value_name = "SHARE", conflicts_with = "model")]
    intervals: Option<f64>,
}

const EXAMPLES: &str = "\
Examples:
  mercer forecast sales.csv --steps 14 --intervals 0.9
  mercer forecast sales.csv --target sold --known promotion,price --future plan.csv --predictions out.csv
  mercer forecast energy.csv --target load --season 24,168 --steps 48 --quantiles 0.1,0.5,0.9 --plot energy.png
  mercer forecast earth_orientation --steps 7
  mercer forecast track.csv --method opf --gamma 0.5 --predictions out.csv --json
  mercer forecast plant.csv --inputs valve,pump --intervals 0.9
  tail -f log.csv | mercer forecast - --format csv --out log.mercer --checkpoint 1000
  mercer forecast later.csv --model log.mercer --steps 7
";

pub(crate) fn run(arguments: &ForecastArguments) -> Result<(), Failure> {
    let read: Vec<&Path> = iter::once(&arguments.series).chain(&arguments.future).map(PathBuf::as_path).collect();
    arguments.check()?;
    let source = Source::resolve(&arguments.series)?;
    let (asked, saved) = (&arguments.model, arguments.model.resumed());
    let _lock = asked.lock()?;
    let start = asked.model.as_deref().map(Beginning::load).transpose()?;
    let saved = saved.map(|path| Beginning::load(path).map(|model| (path, model))).transpose()?;
    let stop = asked.prepare(&read)?;
    // What would be left of a file of predictions is cleared away.
    let stop = if asked.out.is_none() && arguments.predictions.is_some() { Stop::listen()? } else { stop };
    let opened = SeriesFeed::open(&source, arguments, start.as_ref(), stop.clone());
    if asked.out.is_none() {
        // A signal is what ended input that seems to be too short.
        stop.failure()?;
    }
    let mut feed = opened?;
    let scenarios = Future::all(arguments, &feed, &stop)?;
    let (inputs, rows) = scenarios.first().map_or((Vec::new(), 0), |first| (first.inputs.clone(), first.rows));
    let steps = arguments.steps.or(NonZeroUsize::new(rows));
    let fresh = start.map_or_else(|| arguments.fresh(&feed, steps), Ok)?;
    let before = fresh.seen();
    let model = match saved {
        Some((path, saved)) => check_resumable(path, saved, &fresh)?,
        None => fresh,
    };
    let mut saving = asked.saving(&source.to_string(), before, model.seen());
    let wanted = arguments.wanted(steps, inputs);
    let total = arguments.total.map(|_| (model.pattern().clone(), wanted.clone()));
    let mut passes = Passes::new(model, feed.columns().clone(), wanted)?;
    let streaming = arguments.is_streaming(&source);
    if streaming {
        passes.plan(&mut feed, steps, 0)?;
    }
    arguments.check_method(passes.first())?;
    let read: Vec<&Path> = read.into_iter().chain(asked.model.as_deref()).collect();
    let Some(mut told) = ForecastOutput::begin(arguments, &source, &read, passes.first(), &feed)? else {
        return Ok(());
    };
    let bar = feed.progress();
    let ended = learn(&mut feed, &mut passes, &mut saving, |pass, feed| {
        bar.inc(1);
        told.row(pass, feed)
    });
    bar.finish_and_clear();
    match &saving {
        Some(saving) => saving.end(ended, &stop, || passes.file_bytes(&feed))?,
        None => ended?,
    }
    feed.tell_gaps();
    feed.tell_plan(arguments.steps);
    scenarios.iter().try_for_each(|future| future.check(&feed))?;
    if !streaming {
        passes.plan(&mut feed, arguments.steps, rows)?;
    }
    if saving.is_none() {
        arguments.refuse_stopped(&stop, &passes)?;
    }
    told.end(arguments, (&mut passes, &scenarios, total), &mut feed, stop.requested())
}

impl ForecastArguments {
    /// Refuses a run that a signal has ended, if it has predictions to write and no model.
    fn refuse_stopped(&self, stop: &Stop, passes: &Passes) -> Result<(), Failure> {
        let Some(path) = &self.predictions else { return Ok(()) };
        let rows = passes.all().iter().map(SeriesPass::rows).sum::<usize>();
        let unwritten = format!("{rows} rows were observed, and {} was not written", path.display());
        stop.failure().map_err(|failure| failure.with(&unwritten))
    }

    /// Refuses options that cannot go together.
    fn check(&self) -> Result<(), Failure> {
        output::refuse_same_places(&[
            ("--predictions", &self.predictions),
            ("--backtest-rows", &self.tables.backtest_rows),
            ("--parts", &self.tables.parts),
            ("--anomalies", &self.tables.anomalies),
            ("--out", &self.model.out),
            ("--plot", &self.plot.plot),
        ])?;
        if self.zone.zone.is_some() && self.model.model.is_some() {
            return Err(Failure::usage(
                "--zone cannot be used with --model, which keeps the zone of its times; leave it out",
            ));
        }
        total::check(self.total, !self.making.acting().1.is_empty(), self.model.out.as_deref())
    }

    /// Refuses what only season mixtures know.
    fn check_method(&self, pass: &SeriesPass) -> Result<(), Failure> {
        match pass.seasons() {
            Some(_) => Ok(()),
            None if self.quantiles.is_empty() => self.tables.refuse(),
            None => Err(Failure::usage("--quantiles are those of --method season; use --intervals with other methods")),
        }
    }

    /// A forecaster that has seen nothing.
    fn fresh(&self, feed: &SeriesFeed, steps: Option<NonZeroUsize>) -> Result<Beginning, Failure> {
        let periods = feed.clock().and_then(Clock::step).map_or(Periods::Found, method::periods_of);
        let setup = SeasonSetup { periods, steps, grouped: self.group.is_some() };
        Ok(Beginning::new(method::build(&self.making, feed.columns(), &setup)?, feed.group_column()))
    }

    /// What each pass is asked for, where the rows to come have these inputs.
    fn wanted(&self, steps: Option<NonZeroUsize>, inputs: Vec<f64>) -> PassOptions {
        PassOptions {
            steps,
            future: inputs,
            quantiles: self.quantiles.clone(),
            usual: self.tables.usual(),
            explains: self.tables.parts.is_some(),
        }
    }

    /// True if each row is answered on standard output when it comes.
    fn is_streaming(&self, source: &Source<'_>) -> bool {
        matches!(source, Source::StandardInput) && !self.waits()
    }

    /// True if nothing is answered before the last row.
    fn waits(&self) -> bool {
        self.json || self.predictions.is_some() || self.total.is_some() || self.tables.are_asked()
    }
}

/// Takes all rows; `tell` is called after each, and answers whether anybody listens.
fn learn(
    feed: &mut SeriesFeed,
    passes: &mut Passes,
    saving: &mut Option<Saving>,
    mut tell: impl FnMut(&mut SeriesPass, &SeriesFeed) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    while feed.next()? {
        if let Some(saving) = saving
            && saving.knows_after(|met| Passes::after(met, feed))?
        {
            continue;
        }
        passes.step(feed)?;
        if let Some(saving) = saving {
            saving.checkpoint(passes.seen().rows, || passes.file_bytes(feed))?;
        }
        if !tell(&mut passes.all_mut()[feed.now()], feed)? {
            break;
        }
    }
    Ok(())
}

/// The saved model, if it is one of the run that would begin now.
fn check_resumable(path: &Path, found: Beginning, begun: &Beginning) -> Result<Beginning, Failure> {
    let (saved, fresh) = (found.pattern(), begun.pattern());
    let method = [Fact { name: "method", saved: &saved.method, now: &fresh.method }];
    let facts = method.into_iter().chain(parameter_facts(&saved.parameters, &fresh.parameters));
    let group = |beginning: &Beginning| beginning.groups().map(|groups| groups.column.clone());
    let otherwise = if saved.parameters.len() != fresh.parameters.len() || saved.errors.warm_up != fresh.errors.warm_up
    {
        Some("its parameters are other ones")
    } else {
        let outputs = |model: &Prediction| model.forecaster.outputs();
        let same = saved.columns == fresh.columns && saved.inputs == fresh.inputs && outputs(saved) == outputs(fresh);
        (!same || group(&found) != group(begun)).then_some("its columns are other ones")
    };
    check_same(path, facts, otherwise)?;
    Ok(found)
}

fn probability(text: &str) -> Result<f64, &'static str> {
    let p = text.trim().parse().ok().filter(|p: &f64| *p > 0.0 && *p < 1.0);
    p.ok_or("give numbers between 0 and 1, such as 0.05,0.5,0.95")
}

fn origins(text: &str) -> Result<usize, &'static str> {
    let origins = text.parse().ok().filter(|origins| (1..=100_000).contains(origins));
    origins.ok_or("give a whole number from 1 to 100000")
}

/// So many that all of them fit into memory.
fn steps(text: &str) -> Result<NonZeroUsize, &'static str> {
    let steps = text.parse().ok().filter(|steps: &NonZeroUsize| steps.get() <= 1_000_000);
    steps.ok_or("give a whole number of at least 1 and at most 1000000, in digits")
}

/// Seconds as a number.
fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
