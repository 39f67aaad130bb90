//! The rows of a series, and which of their columns are outputs and which inputs.

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use mercer::forecast::Forecaster;
use mercer::model::Prediction;
use mercer::readers::{ColumnChoice, Example, Missing, ReadOptions, TargetColumn};

use super::ForecastArguments;
use super::clock::{Clock, Course};
use super::rows::{Rows, Wanted};
use crate::cli::FIRST_ROWS;
use crate::cli::failure::Failure;
use crate::cli::input::{Input, refuse_for_named};
use crate::cli::opening::Opening;
use crate::cli::source::{self, Source};
use crate::cli::stop::Stop;

/// Which column of a row is what.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// Positions of the outputs, in their order.
    pub(super) outputs: Vec<usize>,
    /// Positions of the inputs, in the order in which they were named.
    pub(super) inputs: Vec<usize>,
    /// A name for every column: the file's own, or else the model's, or else `y1`, `y2`, ….
    names: Vec<String>,
    /// Whether they are the file's own.
    own: bool,
}

impl Columns {
    fn new(shown: &str, dimension: usize, names: Option<&[String]>, wanted: &[String]) -> Result<Self, Failure> {
        let listed = || names.map_or_else(|| format!("{dimension} columns without names"), |names| names.join(", "));
        let mut inputs = Vec::new();
        for column in wanted.iter().map(|column| column.trim()) {
            let position = match column.parse::<usize>() {
                Ok(number) => Some(number).filter(|number| (1..=dimension).contains(number)).map(|number| number - 1),
                Err(_) => names.and_then(|names| names.iter().position(|name| name == column)),
            };
            let Some(position) = position else {
                let listed = listed();
                return Err(Failure::usage(format!("{shown}: no column {column:?} for --inputs; it has {listed}")));
            };
            if inputs.contains(&position) {
                return Err(Failure::usage(format!("--inputs names the column {column:?} twice; name it once")));
            }
            inputs.push(position);
        }
        let outputs: Vec<usize> = (0..dimension).filter(|column| !inputs.contains(column)).collect();
        if outputs.is_empty() {
            return Err(Failure::usage(format!("{shown}: every column is an input; leave one to be predicted")));
        }
        let own = names.is_some();
        let names =
            names.map_or_else(|| (1..=dimension).map(|number| format!("y{number}")).collect(), <[String]>::to_vec);
        Ok(Self { outputs, inputs, names, own })
    }

    /// The columns of a model, if they are those of the file.
    fn of_model(
        path: &Path,
        model: &Prediction,
        shown: &str,
        dimension: usize,
        names: Option<&[String]>,
    ) -> Result<Self, Failure> {
        let refused = |what: String| {
            let path = path.display();
            Err(Failure::because(format!("{path}: {what}; give data with the columns that the model has learnt")))
        };
        let (m, q) = (model.forecaster.outputs(), model.forecaster.inputs());
        let width = m + q;
        if width != dimension {
            let plural = if width == 1 { "" } else { "s" };
            return refused(format!("has {width} column{plural} and {shown} has {dimension}"));
        }
        let Self { outputs, inputs, names: known, .. } = Self::of_saved(model);
        let own = names.is_some();
        let names = names.map_or_else(|| known.clone(), <[String]>::to_vec);
        if let Some((ours, theirs)) =
            known.iter().zip(&names).find(|(ours, theirs)| ours != theirs && !model.columns.is_empty())
        {
            return refused(format!("has a column {ours:?} where {shown} has {theirs:?}"));
        }
        Ok(Self { outputs, inputs, names, own })
    }

    /// The columns of a model, with its names if it has any.
    pub(crate) fn of_saved(model: &Prediction) -> Self {
        let (m, q) = (model.forecaster.outputs(), model.forecaster.inputs());
        let width = m + q;
        let inputs: Vec<usize> = match &model.inputs[..] {
            [] => (m..width).collect(),
            places => places.iter().map(|column| *column as usize).collect(),
        };
        let outputs: Vec<usize> = (0..width).filter(|column| !inputs.contains(column)).collect();
        // The model lists outputs before inputs.
        let mut known: Vec<String> = (1..=width).map(|number| format!("y{number}")).collect();
        for (name, column) in model.columns.iter().zip(outputs.iter().chain(&inputs)) {
            known[*column].clone_from(name);
        }
        Self { outputs, inputs, names: known, own: !model.columns.is_empty() }
    }

    /// The names of all columns, and which of them are inputs.
    #[cfg(feature = "serve")]
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, bool)> {
        self.names.iter().enumerate().map(|(column, name)| (name.as_str(), self.inputs.contains(&column)))
    }

    /// The file's own names, those of outputs before those of inputs; none if it has none.
    pub(super) fn file_names(&self) -> Vec<String> {
        let columns = self.outputs.iter().chain(&self.inputs).filter(|_| self.own);
        columns.map(|column| self.names[*column].clone()).collect()
    }

    /// The name of an output, by its place among the outputs.
    pub(super) fn output_name(&self, output: usize) -> &str {
        &self.names[self.outputs[output]]
    }

    /// The first input that has no value in this row.
    pub(super) fn missing_input(&self, row: &[f64]) -> Option<&str> {
        self.inputs.iter().find(|&&column| !row[column].is_finite()).map(|&column| self.names[column].as_str())
    }
}

/// Rows one by one.
pub(super) struct Feed {
    body: Body,
    stop: Stop,
    columns: Columns,
    example: Example,
}

enum Body {
    /// Complete rows of numbers.
    Numbers(Box<Input>),
    /// Rows beside a column of times, or beside columns that are not forecast.
    Records(Box<Rows>),
}

/// The key of what a model keeps of the times of its series.
const TIME: &str = "time";

/// What a model keeps of them: the column, and the time of the last row.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    clock: Clock,
    last: f64,
}

impl Feed {
    /// `model` knows which column is what if there is one, and otherwise the arguments.
    pub(super) fn open(
        source: &Source<'_>,
        arguments: &ForecastArguments,
        model: Option<&Prediction>,
        stop: Stop,
    ) -> Result<Self, Failure> {
        let body = match source {
            Source::Named(name) => {
                refuse_for_named(name, !arguments.target.is_empty(), &arguments.dialect, &arguments.ignore, false)?;
                if arguments.time.is_some() {
                    return Err(Failure::usage(format!("{name}: --time is for files; leave it out")));
                }
                Body::Numbers(Input::series(name)?.into())
            }
            Source::File(_) | Source::StandardInput => Body::of_file(arguments, model, &stop)?,
        };
        let found = body.columns();
        let (shown, dimension, names) = (body.shown(), found.dimension, found.features());
        let names = Some(names).filter(|names| !names.is_empty());
        let columns = match (model, &arguments.model.model) {
            (Some(model), Some(path)) => Columns::of_model(path, model, shown, dimension, names)?,
            _ => Columns::new(shown, dimension, names, &arguments.making.inputs)?,
        };
        Ok(Self { body, stop, columns, example: Example::default() })
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Goes to the next row; false at the end, and when a signal has come: what it cut off is no row.
    pub(super) fn next(&mut self) -> Result<bool, Failure> {
        let read = match &mut self.body {
            Body::Numbers(input) => input.next(&mut self.example).map_err(Failure::from),
            Body::Records(rows) => rows.next(&mut self.example.features),
        };
        if self.stop.requested() { Ok(false) } else { read }
    }

    pub(super) fn row(&self) -> &[f64] {
        &self.example.features
    }

    /// Where the row stands.
    pub(super) fn place(&self) -> String {
        match &self.body {
            Body::Numbers(input) => format!("{}, {}", input.shown(), input.place()),
            Body::Records(rows) => rows.place(),
        }
    }

    /// The column of times, if there is one.
    pub(super) fn clock(&self) -> Option<&Clock> {
        self.records()?.clock.as_ref()
    }

    fn records(&self) -> Option<&Rows> {
        if let Body::Records(rows) = &self.body { Some(rows) } else { None }
    }

    /// The time of the row that comes `ahead` rows after the one given last, 0 for that itself, if it is known.
    pub(super) fn time(&self, ahead: usize) -> Option<f64> {
        let rows = self.records()?;
        let last = rows.course.last()?;
        if ahead == 0 { Some(last) } else { rows.clock.as_ref()?.later(last, ahead as u64) }
    }

    /// Rows that were missing between others.
    pub(super) fn missing(&self) -> u64 {
        self.records().map_or(0, |rows| rows.course.missing.0)
    }

    /// Tells a person what was found between the rows.
    pub(super) fn tell_gaps(&self) {
        if let Some(rows) = self.records() {
            rows.tell_gaps();
        }
    }

    /// What a model is to keep of the times.
    pub(super) fn kept(&self) -> Option<(String, String)> {
        let rows = self.records()?;
        let kept = Kept { clock: rows.clock.clone()?, last: rows.course.last()? };
        Some((TIME.to_owned(), serde_json::to_string(&kept).ok()?))
    }

    /// A bar for a person who waits at a terminal for a file.
    pub(super) fn progress(&self) -> ProgressBar {
        if !io::stderr().is_terminal() || self.body.shown() == Source::StandardInput.to_string() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let bar = bar.with_finish(ProgressFinish::AndClear);
        match ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Body {
    fn of_file(arguments: &ForecastArguments, model: Option<&Prediction>, stop: &Stop) -> Result<Self, Failure> {
        let path = &arguments.series;
        let choice = |text: &String| text.trim().parse::<ColumnChoice>();
        let Ok(inputs) = arguments.making.inputs.iter().map(choice).collect::<Result<Vec<_>, _>>();
        let mentioned = arguments.time.iter().chain(&arguments.target).cloned().collect();
        let options = arguments.dialect.told(
            path,
            ReadOptions {
                target: TargetColumn::None,
                missing: Missing::Nan,
                ignore: arguments.ignore.clone(),
                mentioned,
                ..ReadOptions::default()
            },
        );
        let mut opening = Some(Opening::of(path, stop, || ())?);
        let waits = arguments.json || arguments.predictions.is_some();
        let head = if opening.as_ref().is_some_and(Opening::is_pipe) && !waits { 1 } else { FIRST_ROWS };
        let wanted = Wanted {
            time: arguments.time.as_ref(),
            targets: &arguments.target,
            inputs: &inputs,
            chooses: false,
            repeats: arguments.repeats,
            head,
        };
        let Some(mut rows) = Rows::look(&mut opening, &options, &wanted)? else {
            return Ok(Self::Numbers(Input::of_numbers(opening, &options)?.into()));
        };
        let kept = model.and_then(|model| model.own.iter().find(|(key, _)| key == TIME));
        let kept = kept.and_then(|(_, text)| serde_json::from_str::<Kept>(text).ok());
        if let (Some(clock), Some(Kept { clock: known, last })) = (&mut rows.clock, kept) {
            clock.go_on(&known);
            rows.course = Course::behind(Some(last));
        }
        Ok(Self::Records(rows.into()))
    }

    fn shown(&self) -> &str {
        match self {
            Self::Numbers(input) => input.shown(),
            Self::Records(rows) => rows.shown(),
        }
    }

    fn columns(&self) -> source::Columns {
        match self {
            Self::Numbers(input) => input.columns().clone(),
            Self::Records(rows) => rows.columns(),
        }
    }
}
