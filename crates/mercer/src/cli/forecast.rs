//! `mercer forecast`: predicts every row of a series from the rows before it, and what comes after the last.

mod feed;
mod method;
mod pass;
mod report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use mercer::data::Format;

use super::failure::Failure;
use super::output::{self, Predictions};
use super::source::Source;
use feed::Feed;
use method::{Gamma, Method};
use pass::Pass;

/// Forecast a series: predict every row from the rows before it, then learn from it
///
/// SERIES is a CSV or TSV file (with or without a header) or NDJSON, each also gzipped, one row a moment; or `-` for standard
/// input; or, if there is no such file, the name of a known series such as `earth_orientation`, which is built in. All columns
/// are outputs, to be predicted, unless named in --inputs. An empty cell or NaN is a missing value: nothing is learnt from it,
/// and its prediction stands in for it afterwards.
///
/// From standard input, and unless --json or --predictions is given, the forecast of the next row is printed as soon as a row
/// has come: one line `k,…` for each row in (with --feed-through that of the row itself, which needs its input).
///
/// Errors are summed over the rows after the warm-up, k > --t-init, missing values left out; the mean is over single values.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct ForecastArguments {
    /// A file, `-` for standard input, or a series' name
    series: PathBuf,
    /// How to predict; `experts` unless given (`opf` with a --gamma that is given)
    ///
    /// opf: online prediction with forgetting. tsiamis-pappas: the same with γ = 1. discounted: past rows count α times less a
    /// row. slip: ridge on spectral filters of the last --horizon rows. slip-window: of as many rows as opf would use. spectral:
    /// ridge on spectral filters beside the last values. kalman: the steady-state predictor of a known --model. experts: a grid of γ,
    /// weighted by how well each did; nothing need be known.
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    /// Rows looked back, per natural logarithm of the time [default: 2.5]
    #[arg(long, value_name = "B")]
    beta: Option<f64>,
    /// Rows of the warm-up, in which the last value is the prediction [default: 60]
    #[arg(long, value_name = "N")]
    t_init: Option<usize>,
    /// Regulariser; it should be small against the squares of the data [default: 1]
    #[arg(long, value_name = "L")]
    lambda: Option<f64>,
    /// Forgetting factor γ, or auto, the grid of experts: coefficients are expected to fall like γ to the power of the lag
    /// [default: auto]
    #[arg(long, value_name = "G|auto")]
    gamma: Option<Gamma>,
    /// A matrix of forgetting factors instead, one row of the file a row, as many as there are outputs
    #[arg(long, value_name = "FILE", conflicts_with = "gamma")]
    gamma_matrix: Option<PathBuf>,
    /// Discount of past rows, of --method discounted [default: 1]
    #[arg(long, value_name = "A")]
    alpha: Option<f64>,
    /// Number of spectral filters [default: 10]
    #[arg(long, value_name = "K")]
    rank: Option<usize>,
    /// Rows over which spectral filters run, of slip and spectral [default: 1000]
    #[arg(long, value_name = "N")]
    horizon: Option<usize>,
    /// The system's matrices for --method kalman: one JSON object {"a": [[…], …], "c": …, "q": …, "r": …}, and "b", "d" with
    /// --inputs
    #[arg(long, value_name = "FILE.json")]
    model: Option<PathBuf>,
    /// Columns that act on the outputs and are not predicted, by name or by number from 1
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Forgetting factor of the inputs; that of the outputs unless given
    #[arg(long, value_name = "G", requires = "inputs")]
    gamma_input: Option<f64>,
    /// The input of a row acts on the outputs of the same row
    #[arg(long, requires = "inputs")]
    feed_through: bool,
    /// How many rows ahead to forecast: after the last row, or after each from standard input
    ///
    /// With --inputs only one step is possible; to go further under known inputs, append rows with empty outputs.
    #[arg(long, value_name = "H", value_parser = steps)]
    steps: Option<NonZeroUsize>,
    /// Add intervals that hold this share of the values, such as 0.9, calibrated as the series goes
    #[arg(long, value_name = "SHARE")]
    intervals: Option<f64>,
    /// csv, tsv or ndjson; the file's name tells it unless given, standard input needs it
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the prediction of every row, made before it was seen, to this CSV file: k from 0, then one column an output; then
    /// the rows of --steps. It appears when the run is complete
    #[arg(long, value_name = "OUT.csv")]
    predictions: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer forecast earth_orientation --steps 7
  mercer forecast track.csv --method opf --gamma 0.5 --predictions out.csv --json
  mercer forecast plant.csv --inputs valve,pump --feed-through --intervals 0.9
  tail -f log.csv | mercer forecast - --format csv
";

pub(crate) fn run(arguments: &ForecastArguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> = [Some(&arguments.series), arguments.gamma_matrix.as_ref(), arguments.model.as_ref()]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    let source = Source::of(&arguments.series)?;
    let streaming = matches!(source, Source::StandardInput) && !arguments.json && arguments.predictions.is_none();
    let mut feed = Feed::open(&source, arguments)?;
    let built = method::build(arguments, feed.columns())?;
    let mut pass = Pass::new(built.forecaster, feed.columns().clone(), arguments)?;
    let header = pass.header(if streaming { pass.ahead() } else { 1 });
    let mut file = match &arguments.predictions {
        Some(path) => Some(Predictions::create(path, &inputs, &header)?),
        None => None,
    };
    if streaming && !output::print_on(&header)? {
        return Ok(());
    }
    let bar = feed.progress();
    let mut line = String::new();
    while feed.next()? {
        pass.step(feed.row()).map_err(|error| error.at(&feed.place()))?;
        if let Some(file) = &mut file {
            line.clear();
            pass.write_row(&mut line);
            file.write(&line)?;
        } else if streaming {
            line.clear();
            if arguments.feed_through {
                pass.write_row(&mut line);
            } else {
                pass.write_next(&mut line).map_err(|error| error.at(&feed.place()))?;
            }
            if !output::print_on(&line)? {
                return Ok(());
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if streaming {
        return Ok(());
    }
    let forecast = match arguments.steps {
        Some(steps) => Some(pass.forecast(steps.get()).map_err(|error| error.at(&feed.place()))?),
        None => None,
    };
    if let (Some(file), Some(forecast)) = (&mut file, &forecast) {
        line.clear();
        pass.write_forecast(forecast, &mut line);
        file.write(&line)?;
    }
    let report = report::Report::of(built.name, built.parameters, &pass, forecast);
    let text = if arguments.json { report.json()? } else { report.text(&source.to_string(), &pass) };
    if let Some(file) = file {
        file.finish()?;
    }
    output::print(&text)
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

/// The name of a choice as it is typed.
fn typed(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}
