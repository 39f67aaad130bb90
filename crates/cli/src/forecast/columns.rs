//! Which columns of a series are outputs and which inputs.

use std::path::Path;

use mercer_forecast::Forecaster;
use mercer_readers::ColumnChoice;
use mercer_session::model::Prediction;

use crate::data::source::no_column;
use crate::report::failure::Failure;

/// Which column of a row is what.
#[derive(Clone, Debug)]
pub(crate) struct SeriesColumns {
    /// Positions of the outputs, in their order.
    pub(super) outputs: Vec<usize>,
    /// Positions of the inputs, in the order in which they were named.
    pub(super) inputs: Vec<usize>,
    /// A name for every column: the file's own, or else the model's, or else `y1`, `y2`, ….
    names: Vec<String>,
    /// True if the names are the file's own.
    own: bool,
}

impl SeriesColumns {
    /// `inputs` are positions, in the order in which `option` names them.
    pub(super) fn new(
        shown: &str,
        dimension: usize,
        names: Option<&[String]>,
        option: &str,
        inputs: Vec<usize>,
    ) -> Result<Self, Failure> {
        if let Some((_, again)) = inputs.iter().enumerate().find(|(i, input)| inputs[..*i].contains(input)) {
            let column = names.map_or_else(|| (again + 1).to_string(), |names| names[*again].clone());
            return Err(Failure::usage(format!("{option} names the column {column:?} twice; name it once")));
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

    /// Where the columns that `option` names stand in a series all of whose columns are numbers.
    pub(super) fn positions(
        shown: &str,
        dimension: usize,
        names: Option<&[String]>,
        option: &str,
        wanted: &[ColumnChoice],
    ) -> Result<Vec<usize>, Failure> {
        let position = |choice: &ColumnChoice| {
            let listed =
                || names.map_or_else(|| (1..=dimension).map(|at| at.to_string()).collect(), <[String]>::to_vec);
            choice.place(dimension, names).ok_or_else(|| no_column(shown, option, choice, &listed()))
        };
        wanted.iter().map(position).collect()
    }

    /// The columns of a model, if they are those of the file.
    pub(super) fn of_model(
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

    /// The names of the inputs, in the order in which they were named.
    pub(crate) fn input_names(&self) -> Vec<&str> {
        self.inputs.iter().map(|column| self.names[*column].as_str()).collect()
    }

    /// The name of an output, by its place among the outputs.
    pub(super) fn output_name(&self, output: usize) -> &str {
        &self.names[self.outputs[output]]
    }

    /// The first input that has no value in this row.
    pub(super) fn missing_input(&self, row: &[f64]) -> Option<&str> {
        self.inputs.iter().find(|&&column| !row[column].is_finite()).map(|&column| self.names[column].as_str())
    }

    /// True if no output has a value in this row.
    pub(super) fn lacks_outputs(&self, row: &[f64]) -> bool {
        self.outputs.iter().all(|&column| row[column].is_nan())
    }

    /// The inputs of a row, in their order.
    pub(super) fn inputs_of<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.inputs.iter().map(|&column| row[column])
    }
}
