//! `mercer predict`: a line out for each row in, from a model file that may go on learning.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::Args;
use mercer::data::{ColumnChoice, Format, TargetColumn};
use mercer::model::{Description, Regression};
use mercer::{Regressor, Scratch};

use super::bad_rows::{BadRows, OnError};
use super::failure::Failure;
use super::learning::Learning;
use super::notes::Watch;
use super::replies::{Replies, Style};
use super::rows::{Origin, Reading, Row, Rows};
use super::saving::Saving;
use super::source::{Columns, Source};
use super::stop::Stop;
use super::table::Table;
use super::{every, store};

/// Predict row by row with a model that `mercer train` has saved
///
/// One line out for each row in, in the target's own units: a number for CSV, TSV and LIBSVM (below the line `prediction` when DATA has
/// a header), {"prediction":…} for NDJSON. Lines are handed on whenever no input is at hand, so a program may write a row and wait
/// for its answer. A bad row that is left out is answered by an empty line, or null.
///
/// SIGINT and SIGTERM end the rows: with --learn the model is written and the run has succeeded; without, the exit code is 128 and the
/// signal's number, and no file of predictions appears.
///
/// DATA has the columns of the training data. Where both have names the columns are found by them, in any order and among any others; the
/// target may be missing, or hold anything, unless --learn is given.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArguments {
    /// A file, `-` for standard input, or a data set's name
    data: PathBuf,
    /// The file of the model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Learn each row after it was predicted; the model's file is written when the rows end, or a signal ends them
    #[arg(long)]
    learn: bool,
    /// With --learn, write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every, requires = "learn")]
    checkpoint: Option<NonZeroU64>,
    /// Write the lines to this file instead of stdout; it appears when they are complete
    #[arg(long, value_name = "OUT")]
    predictions: Option<PathBuf>,
    /// What becomes of rows that cannot be read or predicted: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// Which column is the target, if not that of the training data
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<TargetColumn>,
    /// Columns that are not looked at, by name or by number from 1, with commas between; not needed where columns are found by name
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    /// csv, tsv, ndjson or libsvm; the file's name tells it unless given, standard input needs it
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// No table on stderr
    #[arg(long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer predict new.csv --model krls.mercer > predictions.csv
  tail -f live.csv | mercer predict - --format csv --model live.mercer --learn --checkpoint 10000
  mercer predict new.csv --model krls.mercer --on-error quarantine=bad.csv
";

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let inputs: [&Path; 2] = [&arguments.data, &arguments.model];
    // Lines for stdout go there anyway.
    let predictions = arguments.predictions.clone().filter(|path| path != Path::new("-"));
    arguments.on_error.check(&inputs, ("--predictions", &predictions))?;
    let model = store::load_regression(&arguments.model)?;
    if arguments.learn {
        store::check_place("--model", &arguments.model)?;
    }
    let stop = Stop::listen()?;
    let replies = Replies::create(predictions.as_deref(), &inputs)?;
    let named = arguments.target.is_none() && is_data_set(&arguments.data);
    let target = arguments.target.as_ref().or((!named).then_some(&model.description.target));
    let reading = Reading {
        data: &arguments.data,
        format: arguments.format,
        target,
        ignore: &arguments.ignore,
        names: known_names(&model.description, arguments.target.is_some()),
        dimension: Some(model.learner.dimension()),
        features_alone: !arguments.learn,
    };
    let idle = replies.clone();
    let opened = Rows::open(&reading, stop.clone(), move || idle.flush());
    // Before the first row came.
    stop.failure()?;
    let rows = opened?;
    check_columns(&model, &rows, &arguments.model)?;
    let style = if rows.are_objects() { Style::Ndjson } else { Style::Csv };
    replies.begin(style, !rows.columns().features().is_empty());
    let bad = BadRows::new(&arguments.on_error)?;
    if arguments.learn {
        let table = Table::new(arguments.quiet, model.scaling.is_some(), &model.progress.score);
        let saving = Saving::new("--model", arguments.model.clone(), arguments.checkpoint);
        learn(Learning { model, bad, table, saving, watch: Watch::default() }, rows, &replies)
    } else {
        predict(&model, bad, rows, &replies, &stop)
    }
}

/// Whether DATA is the name of a known data set and no file.
fn is_data_set(data: &Path) -> bool {
    matches!(Source::of(data), Ok(Source::Named(_)))
}

/// The names by which columns are found: none if they are not each the name of one. A target that is `told` goes before its name.
fn known_names(about: &Description, told: bool) -> (&[String], Option<&str>) {
    let mut sorted: Vec<&String> = about.features.iter().collect();
    sorted.sort();
    let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    let features: &[String] = if distinct { &about.features } else { &[] };
    (features, about.target_name.as_deref().filter(|_| !told))
}

/// Refuses columns that are not those of the training data.
fn check_columns(model: &Regression, rows: &Rows, path: &Path) -> Result<(), Failure> {
    let names = Some(&*model.description.features).filter(|names| !names.is_empty());
    let trained = Columns::new(model.learner.dimension(), names, None);
    trained.check_data(&path.display().to_string(), rows.columns(), rows.shown())
}

fn learn(mut learning: Learning, mut rows: Rows, replies: &Replies) -> Result<(), Failure> {
    let mut features = Vec::new();
    let ended = loop {
        let answer = match rows.next(&mut features) {
            Ok(Some(Row::Good(target))) => learning.learn(&rows, &mut features, target),
            Ok(Some(Row::Bad(why))) => learning.unreadable(why, &rows).map(|()| None),
            Ok(None) => break Ok(()),
            Err(failure) => Err(failure),
        };
        match answer {
            Ok(prediction) => {
                if !replies.answer(prediction) {
                    break Ok(());
                }
            }
            Err(failure) => break Err(failure),
        }
    };
    // What was answered was learnt, and is kept whatever ended the rows.
    let saved = learning.saving.save(learning.model.to_bytes());
    let replied = finish(replies, ended);
    learning.report();
    replied.and(saved)
}

fn predict(
    model: &Regression,
    mut bad: BadRows,
    mut rows: Rows,
    replies: &Replies,
    stop: &Stop,
) -> Result<(), Failure> {
    let (mut features, mut scratch) = (Vec::new(), Scratch::default());
    let ended = loop {
        let row = match rows.next(&mut features) {
            Ok(Some(row)) => row,
            Ok(None) => break stop.failure(),
            Err(failure) => break Err(failure),
        };
        let answer = match row {
            Row::Good(_) => {
                predict_one(model, &mut features, &mut scratch).map_err(|why| format!("{}: {why}", rows.place()))
            }
            Row::Bad(why) => Err(why),
        };
        if let Err(failure) = answer.as_ref().map_or_else(|why| bad.take(why.clone(), &rows), |_| Ok(())) {
            break Err(failure);
        }
        if !replies.answer(answer.ok()) {
            break Ok(());
        }
    };
    let replied = finish(replies, ended);
    if let Some(report) = bad.report() {
        eprintln!("mercer: {report}");
    }
    replied
}

/// What was answered on stdout stays; a file of answers that are not complete does not appear.
fn finish(replies: &Replies, ended: Result<(), Failure>) -> Result<(), Failure> {
    match ended {
        Ok(()) => replies.finish(),
        Err(failure) => {
            replies.flush();
            Err(failure)
        }
    }
}

fn predict_one(model: &Regression, features: &mut [f64], scratch: &mut Scratch) -> Result<f64, String> {
    let Regression { learner, scaling, .. } = model;
    if let Some(scaling) = scaling {
        scaling.row(features).map_err(|error| error.to_string())?;
    }
    let prediction = learner.predict_with(features, scratch).map_err(|error| error.to_string())?;
    Ok(scaling.as_ref().map_or(prediction, |scaling| scaling.invert_target(prediction)))
}
