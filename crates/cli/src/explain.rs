//! `mercer explain`: what each column does to the predictions of a model.

mod columns;
#[cfg(feature = "plots")]
mod picture;
mod report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_session::explain::{Absence, Explainer};
use mercer_session::model::Task;
use mercer_session::{Row, Session, StepError};

use crate::arguments::dialect::Dialect;
use crate::arguments::{count, seed};
use crate::data::bad_rows::{BadRows, OnError};
use crate::data::rows::{Origin, RowKind, TimedSource};
use crate::data::stop::Stop;
use crate::model::store;
use crate::predict::{RowsForModel, check_columns, reading};
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::plot::PlotArguments;
use columns::Players;
use report::{ExplainReport, ExplainedRow};

/// Rows that are the background at most, unless told.
const BACKGROUND: usize = 256;

/// Tell what each column does to the predictions of a model
///
/// The effects of the columns and the base add up to the prediction. They are Shapley values: the
/// mean, over all orders of the columns, of what a column changes when it becomes known. The base
/// is the mean prediction where no column is known.
///
/// A column that is not known has the values that it has in the background, by itself: the first
/// 256 rows of DATA. With --background the columns that are not known stay together as in its rows,
/// which is what SHAP calls interventional.
///
/// Expansions of Gaussian kernels, random Fourier features and linear models are explained exactly.
/// For all other learners, auto among them, effects are means over --permutations orders, told with
/// their standard errors; they add up all the same. Of classes, what is explained is the score, the
/// logit where the learner has probabilities. The inputs that come from one column, such as the
/// places of its categories, have one effect.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArguments {
    /// A file, `-` for standard input, or a data set's name
    data: PathBuf,
    /// The file of the model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Rows in which absent columns stay together: a file with the same columns, or so many first
    /// rows of DATA
    #[arg(long, value_name = "FILE|N")]
    background: Option<Background>,
    /// Columns that are told of each row, those with the largest effects; all are in the JSON
    #[arg(long, value_name = "N", default_value = "5", value_parser = count)]
    top: NonZeroUsize,
    /// The class whose score is explained, where there are more than two
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Orders of the columns, where effects are sampled
    #[arg(long, value_name = "N", default_value = "200", value_parser = count)]
    permutations: NonZeroUsize,
    /// Seed of these orders
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Explain only the first N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    limit: Option<NonZeroUsize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: PlotArguments,
    /// What becomes of rows that cannot be read or predicted: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// Which column is the target, if not that of the training data
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<TargetColumn>,
    /// Columns that are not looked at, by name or by number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    #[command(flatten)]
    dialect: Dialect,
}

const EXAMPLES: &str = "\
Examples:
  mercer explain new.csv --model krls.mercer
  mercer explain new.csv --model auto.mercer --background train.csv --json
  mercer explain new.csv --model krls.mercer -n 1 --plot why.png
";

/// The rows in which absent columns stay together.
#[derive(Clone, Debug)]
enum Background {
    Rows(NonZeroUsize),
    File(PathBuf),
}

impl FromStr for Background {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<usize>() {
            Ok(_) => count(text).map(Self::Rows),
            Err(_) => Ok(Self::File(text.into())),
        }
    }
}

pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let inputs = [arguments.data.as_path(), arguments.model.as_path()];
    arguments.on_error.check(&inputs, ("--plot", &arguments.plot.plot))?;
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs)?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;
    let model = store::load_trained(&arguments.model)?;
    refuse_tokens(&model, &arguments.model)?;
    let output = output(&model, arguments)?;
    let stop = Stop::never();
    let mut rows = InputRows::open(arguments, &arguments.data, &model, &stop)?;
    let players = Players::of(&model, &rows.source);
    let (background, ahead) = background(arguments, &model, &mut rows, &stop)?;
    let absence = if arguments.background.is_some() { Absence::Together } else { Absence::Independent };
    let explainer =
        Explainer::new(&model, (players.of_inputs.clone(), players.names.len()), output, absence, background)
            .map_err(|error| Failure::because(format!("{}: {error}", arguments.model.display())))?
            .permutations(arguments.permutations.get(), arguments.seed);
    let limit = arguments.limit.map_or(usize::MAX, NonZeroUsize::get);
    let mut explained = Vec::new();
    let mut ahead = ahead.into_iter();
    while explained.len() < limit {
        let Some((row, x)) = ahead.next().map_or_else(|| rows.next(), |row| Ok(Some(row)))? else { break };
        let explanation = explainer
            .explain(&x)
            .map_err(|error| Failure::because(format!("{}, row {row}: {error}", arguments.data.display())))?;
        explained.push(ExplainedRow { row, explanation });
    }
    rows.bad.put_aside()?;
    let class = model.classes().and_then(|task| task.labels.get(output_class(&model, output)).map(str::to_owned));
    let report = ExplainReport {
        data: arguments.data.display().to_string(),
        names: players.names,
        rows: explained,
        exact: explainer.is_exact(),
        class,
        left_out: rows.bad.report(),
        top: arguments.top.get(),
    };
    let report = report.without_unused();
    let text = if arguments.json { report.json()? } else { report.text() };
    #[cfg(feature = "plots")]
    if let Some(plot) = plot {
        plot.finish(&picture::draw(&report))?;
    }
    output::print(&text)
}

/// Rows that are inputs of the model, with their numbers in DATA.
struct InputRows<'a> {
    source: TimedSource,
    model: &'a Session,
    sample: Row,
    read: u64,
    bad: BadRows,
}

impl<'a> InputRows<'a> {
    fn open(arguments: &'a ExplainArguments, data: &'a Path, model: &'a Session, stop: &Stop) -> Result<Self, Failure> {
        let ExplainArguments { target, ignore, dialect, .. } = arguments;
        let rows = RowsForModel { data, learn: false, target, weight: &None, ignore, label_id: &None, dialect };
        let source = TimedSource::open(&reading(&rows, model), stop.clone(), || ())?;
        if model.encoding.is_none() {
            check_columns(model, &source, &arguments.model)?;
        }
        Ok(Self { source, model, sample: Row::default(), read: 0, bad: BadRows::new(&arguments.on_error)? })
    }

    fn next(&mut self) -> Result<Option<(u64, Vec<f64>)>, Failure> {
        loop {
            let Some(kind) = self.source.next(&mut self.sample)? else { return Ok(None) };
            self.read += 1;
            let taken = match kind {
                RowKind::Bad(why) => Err(why),
                RowKind::Good => self.inputs().map_err(|error| error.to_string()),
            };
            match taken {
                Ok(inputs) => return Ok(Some((self.read, inputs))),
                Err(why) => {
                    let why = format!("{}: {why}", self.source.place());
                    self.bad.take(why, &self.source)?;
                }
            }
        }
    }

    fn inputs(&self) -> Result<Vec<f64>, StepError> {
        let Row { example, record, .. } = &self.sample;
        let Some(encoding) = &self.model.encoding else { return Ok(example.features.clone()) };
        let mut numbers = Vec::new();
        encoding.encode(record, &mut numbers)?;
        Ok(numbers)
    }
}

/// The background, and the rows of DATA that were read for it.
type Gathered = (Vec<Vec<f64>>, Vec<(u64, Vec<f64>)>);

fn background(
    arguments: &ExplainArguments,
    model: &Session,
    rows: &mut InputRows<'_>,
    stop: &Stop,
) -> Result<Gathered, Failure> {
    let mut ahead = Vec::new();
    let empty = |path: &Path| Failure::because(format!("{}: has no rows", path.display()));
    if let Some(Background::File(path)) = &arguments.background {
        let mut rows = InputRows::open(arguments, path, model, stop)?;
        let mut background = Vec::new();
        while let Some((_, x)) = rows.next()? {
            background.push(x);
        }
        return if background.is_empty() { Err(empty(path)) } else { Ok((background, ahead)) };
    }
    let wanted = match &arguments.background {
        Some(Background::Rows(rows)) => rows.get(),
        _ => BACKGROUND,
    };
    while ahead.len() < wanted {
        let Some(row) = rows.next()? else { break };
        ahead.push(row);
    }
    if ahead.is_empty() {
        return Err(empty(&arguments.data));
    }
    Ok((ahead.iter().map(|(_, x)| x.clone()).collect(), ahead))
}

fn refuse_tokens(model: &Session, path: &Path) -> Result<(), Failure> {
    let tokens = model.encoding.as_ref().is_some_and(mercer_encoding::Encoding::has_tokens);
    if !tokens && model.dimension() > 0 {
        return Ok(());
    }
    Err(Failure::because(format!(
        "{}: is a model of words, whose effects are not told; train one of numbers (--as COLUMN=identifier leaves a text out)",
        path.display()
    )))
}

/// The output that is explained.
fn output(model: &Session, arguments: &ExplainArguments) -> Result<usize, Failure> {
    let path = arguments.model.display();
    match (&model.task, &arguments.class) {
        (Task::Numbers(_), Some(_)) => {
            Err(Failure::usage(format!("{path}: predicts numbers, and --class is for classes; leave it out")))
        }
        (Task::Numbers(_), None) if model.outputs() > 1 => {
            Err(Failure::because(format!("{path}: predicts several numbers; effects are told for models of one")))
        }
        (Task::Numbers(_), None) => Ok(0),
        (Task::Classes(task), Some(name)) => {
            let place = (0..task.labels.len()).find(|k| task.labels.get(*k) == Some(name));
            place.ok_or_else(|| {
                let known: Vec<&str> = (0..task.labels.len()).filter_map(|k| task.labels.get(k)).collect();
                Failure::usage(format!("{path}: knows no class {name:?}; its classes are {}", known.join(", ")))
            })
        }
        (Task::Classes(task), None) if task.labels.len() > 2 => Err(Failure::usage(format!(
            "{path}: knows more than two classes; say with --class whose score is explained"
        ))),
        (Task::Classes(_), None) => Ok(1),
    }
}

/// The class whose score an output is: a learner of one output scores the second class.
fn output_class(model: &Session, output: usize) -> usize {
    use mercer_learners::RegressorExt;
    match &model.task {
        Task::Classes(task) if task.classifier.learner().outputs() == 1 => 1,
        _ => output,
    }
}
