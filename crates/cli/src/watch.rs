//! `mercer watch`: what is new in a stream, what has changed, and which column.

mod pass;
#[cfg(feature = "plots")]
mod picture;
mod predictor;
mod report;
mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_session::AlarmKind;

use crate::arguments::alarm_rate::AlarmRate;
use crate::arguments::dialect::Dialect;
use crate::arguments::{count, seed};
use crate::data::bad_rows::OnError;
use crate::data::stop::Stop;
use crate::report::failure::Failure;
use crate::report::output::{self, Aside};
use crate::report::plot::PlotArguments;
use pass::WatchPass;

/// Tell what is new in a stream, what has changed, since when, and in which column
///
/// Four kinds of alarms: rows unlike those before, changes of the inputs, changes of the target,
/// and errors of predictions that have risen; the last two where --target is given. Errors are
/// those of the learner auto, which predicts each row before it learns it.
///
/// --alarm-rate says how often a false alarm may come. For inputs and target it is kept while rows
/// are exchangeable, whatever their law: the mean number of rows to a false alarm is at least that
/// of the rate. Serial dependence and seasons that the first rows show are taken out before, and
/// told. Where alarms come more than three times as often as a false one may, it says that the
/// stream changes all the time, or depends on its past in a way that was not taken out.
///
/// The first 512 rows settle what is usual (--burn-in); where rows depend on one another up to four
/// times as many do. A gap is a value like others. A text, or a list, is watched by the mean
/// surprise of its words, in bits, by the words of the first 256 rows. Times and identifiers are
/// not watched.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArguments {
    /// A file, `-` for standard input, or a data set's name
    pub(crate) data: PathBuf,
    /// How often a false alarm may come, of all kinds together: 1/ROWS, or a share of the rows
    #[arg(long, value_name = "RATE", default_value = "1/10000")]
    pub(crate) alarm_rate: AlarmRate,
    /// Clean rows with the same columns: rows are new or not by these, and the stream does not make
    /// them usual
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,
    /// Which column is the target, by name or by number from 1; none unless given
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) target: Option<ColumnChoice>,
    /// Kinds of alarms, with commas between: rows, inputs, errors, target; all that there can be
    /// unless given
    #[arg(long = "for", value_name = "KINDS", value_delimiter = ',', value_parser = kind)]
    pub(crate) kinds: Vec<AlarmKind>,
    /// Columns that an alarm names at most
    #[arg(long, value_name = "N", default_value = "3", value_parser = count)]
    pub(crate) columns: NonZeroUsize,
    /// Rows that settle what is usual, 64 or more
    #[arg(long, value_name = "N", default_value = "512", value_parser = burn_in)]
    pub(crate) burn_in: NonZeroUsize,
    /// Rows are known to be independent: take no serial dependence out
    #[arg(long)]
    pub(crate) independent: bool,
    /// Write a line for each row to this CSV: row, score, p, column, share
    #[arg(short = 'o', long, value_name = "ROWS.csv")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    /// Watch only the first N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// What becomes of rows that cannot be read: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    pub(crate) on_error: OnError,
    /// Columns that are not watched, by name or by number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) ignore: Vec<ColumnChoice>,
    /// Kind of the values of a column of a file, as for `mercer eval`; may be given several times
    #[arg(long = "as", value_name = "NAME=KIND")]
    pub(crate) as_kinds: Vec<String>,
    /// Seed of the rows that are kept, and of the pairs of columns where there are more than 256
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) dialect: Dialect,
}

const EXAMPLES: &str = "\
Examples:
  mercer watch sensors.csv
  mercer watch sales.csv --target revenue --alarm-rate 1/100000 --plot alarms.png
  mercer watch today.csv --reference clean.csv -o rows.csv
";

fn kind(text: &str) -> Result<AlarmKind, &'static str> {
    AlarmKind::named(text).ok_or("the kinds are rows, inputs, errors and target")
}

fn burn_in(text: &str) -> Result<NonZeroUsize, &'static str> {
    count(text).ok().filter(|rows| rows.get() >= 64).ok_or("give a whole number of at least 64, in digits")
}

pub(crate) fn run(arguments: &WatchArguments) -> Result<(), Failure> {
    let kinds = kinds(arguments)?;
    let inputs: Vec<_> = std::iter::once(&arguments.data).chain(&arguments.reference).map(PathBuf::as_path).collect();
    output::refuse_same_places(&[("--out", &arguments.out), ("--plot", &arguments.plot.plot)])?;
    arguments.on_error.check(&inputs, ("--out", &arguments.out))?;
    let create = |path: &PathBuf| Aside::create_table("--out", path, &inputs, "row,score,p,column,share\n");
    let rows = arguments.out.as_ref().map(create).transpose()?;
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs)?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;
    // A run that writes nothing is ended by a signal as any other.
    let stop = if rows.is_some() || arguments.plot.plot.is_some() { Stop::listen()? } else { Stop::never() };
    let mut pass = WatchPass::open(arguments, kinds, rows, &stop)?;
    pass.over(arguments, &stop)?;
    stop.failure()?;
    let report = pass.report(arguments);
    let text = if arguments.json { report.json()? } else { report.text() };
    #[cfg(feature = "plots")]
    if let Some(plot) = plot {
        plot.finish(&picture::draw(pass.traced(), &report))?;
    }
    pass.finish()?;
    output::print(&text)
}

/// The kinds that are wanted, all that there can be unless told.
fn kinds(arguments: &WatchArguments) -> Result<Vec<AlarmKind>, Failure> {
    let of_target = [AlarmKind::Errors, AlarmKind::Target];
    let mut kinds = arguments.kinds.clone();
    if kinds.is_empty() {
        kinds = AlarmKind::ALL.to_vec();
        kinds.retain(|kind| arguments.target.is_some() || !of_target.contains(kind));
    }
    kinds.sort_unstable();
    kinds.dedup();
    match kinds.iter().find(|kind| of_target.contains(kind) && arguments.target.is_none()) {
        Some(kind) => {
            Err(Failure::usage(format!("--for {}: needs a target; say with --target which column it is", kind.name())))
        }
        None => Ok(kinds),
    }
}

impl WatchArguments {
    /// The target as others take it.
    pub(crate) fn target_column(&self) -> TargetColumn {
        self.target.clone().map_or(TargetColumn::None, TargetColumn::from)
    }
}
