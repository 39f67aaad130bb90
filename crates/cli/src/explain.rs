//! `mercer explain`: what each column does to the predictions of a model.

#[cfg(feature = "plots")]
mod picture;
mod report;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_session::explain::{Absence, Aim, Explainer, Explanation, Ground, NoGround, output_place};
use mercer_session::model::Task;
use mercer_session::{Row, Session};

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
use report::{ExplainReport, ExplainedOutput, ExplainedRow};

/// Columns that are told, unless given.
const TOP: &str = "5";

/// Rows that are the background at most, where the model has none and nothing is told.
const BACKGROUND: usize = 256;

/// Tell what each column does to the predictions of a model
///
/// The effects of the columns and the base add up to the prediction. They are Shapley values: the
/// mean, over all orders of the columns, of what a column changes when it becomes known. The base
/// is the mean prediction where no column is known.
///
/// A column that is not known has the values that it has in the background, by itself: a sample of
/// the rows that the model has learnt (the first 256 rows of DATA where it was fitted to sums and
/// keeps none). With --background the columns that are not known stay together as in its rows,
/// which is what SHAP calls interventional.
///
/// Expansions of Gaussian kernels, random Fourier features and linear models, of numbers or of
/// words, are explained exactly. For all other learners effects are means over --permutations
/// orders, told with their standard errors; they add up all the same. Of auto on numbers only the
/// rest is sampled that its dictionaries, random features and linear members leave. Of classes,
/// what is explained is the score, the logit where the learner has probabilities: of two that of 1,
/// +1 or the later label in sorted order. The inputs that come from one column, such as the places
/// of its categories or the words of its texts, have one effect. In sparse rows, as LIBSVM has
/// them, the columns that are not 0 have effects, beside a row without any, where the learner is
/// linear in them.
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
    #[arg(long, value_name = "N", default_value = TOP, value_parser = count)]
    top: NonZeroUsize,
    /// The class whose score is explained, where there are more than two
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// The target whose prediction is explained, where there are several
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
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
    refuse_groups(&model, &arguments.model)?;
    let report = explain(arguments, &model)?.without_unused();
    let text = if arguments.json { report.json()? } else { report.text() };
    #[cfg(feature = "plots")]
    if let Some(plot) = plot {
        plot.finish(&picture::draw(&report))?;
    }
    output::print(&text)
}

/// Explains the rows of DATA by a model.
fn explain(arguments: &ExplainArguments, model: &Session) -> Result<ExplainReport, Failure> {
    let (aim, subject) = aim(model, arguments)?;
    let mut rows = InputRows::open(arguments, &arguments.data, model)?;
    let (ground, ahead) = ground(arguments, model, &mut rows)?;
    let explainer = Explainer::new(model, &ground, aim, arguments.absence())
        .map_err(|error| Failure::because(format!("{}: {error}", arguments.model.display())))?
        .permutations(arguments.permutations.get(), arguments.seed);
    let (names, explained) = named(ground.names(), explained(arguments, &mut rows, ahead, &explainer)?);
    let (data, top) = (arguments.data.display().to_string(), arguments.top.get());
    let exact = explainer.exactness();
    Ok(ExplainReport { data, names, rows: explained, exact, subject, left_out: rows.bad.report(), top })
}

/// Explains the rows of DATA, the first of which are `ahead`.
fn explained(
    arguments: &ExplainArguments,
    rows: &mut InputRows<'_>,
    ahead: Vec<(u64, Row)>,
    explainer: &Explainer<'_>,
) -> Result<Vec<(u64, Explanation)>, Failure> {
    let limit = arguments.limit.map_or(usize::MAX, NonZeroUsize::get);
    let mut explained = Vec::new();
    let mut ahead = ahead.into_iter();
    while explained.len() < limit {
        let Some((number, row)) = ahead.next().map_or_else(|| rows.next(), |row| Ok(Some(row)))? else { break };
        let explanation = explainer
            .explain(&row)
            .map_err(|error| Failure::because(format!("{}, row {number}: {error}", arguments.data.display())))?;
        explained.push((number, explanation));
    }
    rows.bad.put_aside()?;
    if explained.is_empty() {
        return Err(Failure::because(format!("{}: has no rows", arguments.data.display())));
    }
    Ok(explained)
}

/// The columns of all rows, and the rows with the places of theirs.
fn named(names: &[String], explained: Vec<(u64, Explanation)>) -> (Vec<String>, Vec<ExplainedRow>) {
    let (mut names, mut places) = (names.to_vec(), HashMap::new());
    let mut row = |(row, mut explanation): (u64, Explanation)| {
        let own = std::mem::take(&mut explanation.names).into_iter();
        let own = own.map(|name| {
            *places.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() - 1
            })
        });
        let own: Vec<usize> = own.collect();
        ExplainedRow { row, explanation, own }
    };
    let rows = explained.into_iter().map(&mut row).collect();
    (names, rows)
}

impl ExplainArguments {
    fn absence(&self) -> Absence {
        if self.background.is_some() { Absence::Together } else { Absence::Independent }
    }
}

/// Rows that are inputs of the model, with their numbers in DATA.
struct InputRows<'a> {
    model: &'a Session,
    source: TimedSource,
    sample: Row,
    read: u64,
    bad: BadRows,
}

impl<'a> InputRows<'a> {
    fn open(arguments: &ExplainArguments, data: &Path, model: &'a Session) -> Result<Self, Failure> {
        let ExplainArguments { target, ignore, dialect, .. } = arguments;
        let rows = RowsForModel { data, learn: false, target, weight: &None, ignore, label_id: &None, dialect };
        let source = TimedSource::open(&reading(&rows, model), Stop::never(), || ())?;
        if model.encoding.is_none() {
            check_columns(model, &source, &arguments.model)?;
        }
        Ok(Self { model, source, sample: Row::default(), read: 0, bad: BadRows::new(&arguments.on_error)? })
    }

    fn next(&mut self) -> Result<Option<(u64, Row)>, Failure> {
        loop {
            let Some(kind) = self.source.next(&mut self.sample)? else { return Ok(None) };
            self.read += 1;
            let row = match kind {
                RowKind::Bad(why) => Err(why),
                RowKind::Good => self.model.inputs(&self.sample).map_err(|error| error.to_string()),
            };
            match row {
                Ok(_) => return Ok(Some((self.read, self.sample.clone()))),
                Err(why) => {
                    let why = format!("{}: {why}", self.source.place());
                    self.bad.take(why, &self.source)?;
                }
            }
        }
    }
}

/// What rows are compared with, and the rows of DATA that were read for it.
fn ground(
    arguments: &ExplainArguments,
    model: &Session,
    rows: &mut InputRows<'_>,
) -> Result<(Ground, NumberedRows), Failure> {
    let others = rows.source.input().columns().features().to_vec();
    match (Ground::kept(model, &others), &arguments.background) {
        (Err(why @ NoGround::Sparse(_)), _) => {
            return Err(Failure::because(format!("{}: {why}", arguments.model.display())));
        }
        (Ok(_), Some(_)) if model.has_sparse_rows() => {
            return Err(Failure::usage(
                "--background: in sparse rows, an absent column is 0, as in most of them; leave it out",
            ));
        }
        (Ok(kept), None) => return Ok((kept, Vec::new())),
        _ => {}
    }
    let (background, ahead) = background(arguments, model, rows)?;
    let made = Ground::of_rows(model, &others, &background);
    Ok((made.map_err(|error| Failure::because(error.to_string()))?, ahead))
}

/// Rows with their numbers.
type NumberedRows = Vec<(u64, Row)>;

/// The rows of the background, and those of DATA that were read for it.
fn background(
    arguments: &ExplainArguments,
    model: &Session,
    rows: &mut InputRows<'_>,
) -> Result<(Vec<Row>, NumberedRows), Failure> {
    let mut ahead = Vec::new();
    let empty = |path: &Path| Failure::because(format!("{}: has no rows", path.display()));
    if let Some(Background::File(path)) = &arguments.background {
        let mut rows = InputRows::open(arguments, path, model)?;
        let mut background = Vec::new();
        while let Some((_, row)) = rows.next()? {
            background.push(row);
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
    Ok((ahead.iter().map(|(_, row)| row.clone()).collect(), ahead))
}

/// The rows that a model keeps, with which others are compared where it answers.
///
/// # Errors
/// A model that keeps none, or whose effects are not told.
pub(crate) fn kept_ground(model: &Session, others: &[String], path: &Path) -> Result<Ground, Failure> {
    Ground::kept(model, others).map_err(|why| {
        let remedy = match why {
            NoGround::Rows => "; mercer explain compares with the first rows of DATA",
            _ => "",
        };
        Failure::because(format!("{}: {why}{remedy}", path.display()))
    })
}

/// The place of the number that `--output` names.
///
/// # Errors
/// As [`output_place`].
pub(crate) fn asked_output(model: &Session, asked: Option<&str>, path: &Path) -> Result<usize, Failure> {
    output_place(model, asked, "--output").map_err(|why| Failure::usage(format!("{}: {why}", path.display())))
}

/// Refuses models whose rows are answered by several.
fn refuse_groups(model: &Session, path: &Path) -> Result<(), Failure> {
    if model.groups.is_none() {
        return Ok(());
    }
    Err(Failure::because(format!(
        "{}: has models of groups; mercer predict --explain {} explains each row by the one that answers it",
        path.display(),
        TOP
    )))
}

/// What is explained.
fn aim(model: &Session, arguments: &ExplainArguments) -> Result<(Aim, ExplainedOutput), Failure> {
    let path = arguments.model.display();
    let output = asked_output(model, arguments.output.as_deref(), &arguments.model)?;
    let task = match (&model.task, &arguments.class) {
        (Task::Numbers(_), Some(_)) => {
            return Err(Failure::usage(format!("{path}: predicts numbers, and --class is for classes; leave it out")));
        }
        (Task::Numbers(_), None) => {
            let subject = arguments.output.clone().map_or(ExplainedOutput::Number, ExplainedOutput::Output);
            return Ok((Aim::number(output, model.outputs()), subject));
        }
        (Task::Classes(task), _) => task,
    };
    let labels = &task.labels;
    let class = match &arguments.class {
        Some(name) => labels.find(name).ok_or_else(|| {
            let known: Vec<&str> = (0..labels.len()).filter_map(|k| labels.get(k)).collect();
            Failure::usage(format!("{path}: knows no class {name:?}; its classes are {}", known.join(", ")))
        })?,
        None if labels.len() > 2 => {
            return Err(Failure::usage(format!(
                "{path}: knows more than two classes; say with --class whose score is explained"
            )));
        }
        None => labels.later(0, 1).unwrap_or(0),
    };
    let subject = labels.get(class).map_or(ExplainedOutput::Number, |name| ExplainedOutput::Class(name.to_owned()));
    Ok((Aim::class(&task.classifier, class), subject))
}
