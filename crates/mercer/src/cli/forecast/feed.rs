//! The rows of a series, and which of their columns are outputs and which inputs.

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use mercer::forecast::Forecaster;
use mercer::model::Prediction;
use mercer::readers::{Example, Missing};

use super::ForecastArguments;
use crate::cli::failure::Failure;
use crate::cli::input::{Input, refuse_for_named};
use crate::cli::source::Source;
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
    input: Input,
    stop: Stop,
    columns: Columns,
    example: Example,
}

impl Feed {
    /// `model` knows which column is what if there is one, and otherwise the arguments.
    pub(super) fn open(
        source: &Source<'_>,
        arguments: &ForecastArguments,
        model: Option<&Prediction>,
        stop: Stop,
    ) -> Result<Self, Failure> {
        let input = match source {
            Source::Named(name) => {
                refuse_for_named(name, false, &arguments.dialect, &arguments.ignore, false)?;
                if arguments.time.is_some() {
                    return Err(Failure::usage(format!("{name}: --time is for files; leave it out")));
                }
                Input::series(name)?
            }
            Source::File(_) | Source::StandardInput => {
                let beside = (arguments.time.as_ref(), &*arguments.ignore);
                Input::plain(&arguments.series, &arguments.dialect, Missing::Nan, &stop, beside)?
            }
        };
        let (shown, dimension, names) = (input.shown(), input.columns().dimension, input.columns().features());
        let names = Some(names).filter(|names| !names.is_empty());
        let columns = match (model, &arguments.model.model) {
            (Some(model), Some(path)) => Columns::of_model(path, model, shown, dimension, names)?,
            _ => Columns::new(shown, dimension, names, &arguments.making.inputs)?,
        };
        Ok(Self { input, stop, columns, example: Example::default() })
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Goes to the next row; false at the end, and when a signal has come: what it cut off is no row.
    pub(super) fn next(&mut self) -> Result<bool, Failure> {
        let read = self.input.next(&mut self.example);
        if self.stop.requested() { Ok(false) } else { Ok(read?) }
    }

    pub(super) fn row(&self) -> &[f64] {
        &self.example.features
    }

    /// Where the row stands.
    pub(super) fn place(&self) -> String {
        format!("{}, {}", self.input.shown(), self.input.place())
    }

    /// A bar for a person who waits at a terminal for a file.
    pub(super) fn progress(&self) -> ProgressBar {
        if !io::stderr().is_terminal() || self.input.shown() == Source::StandardInput.to_string() {
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
