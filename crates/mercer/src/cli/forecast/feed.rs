//! The rows of a series, and which of their columns are outputs and which inputs.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use mercer::data::{Format, Missing, ReadOptions, Registry, RowReader, Series, TargetColumn};

use super::ForecastArguments;
use crate::cli::failure::Failure;
use crate::cli::source::Source;

/// Which column of a row is what.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// Positions of the outputs, in their order.
    pub(super) outputs: Vec<usize>,
    /// Positions of the inputs, in the order in which they were named.
    pub(super) inputs: Vec<usize>,
    /// A name for every column: the file's own, or `y1`, `y2`, ….
    names: Vec<String>,
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
        let names = match names {
            Some(names) => names.to_vec(),
            None => (1..=dimension).map(|number| format!("y{number}")).collect(),
        };
        Ok(Self { outputs, inputs, names })
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
    shown: String,
    columns: Columns,
    body: Body,
    row: Vec<f64>,
    given: usize,
}

enum Body {
    Stream(Box<RowReader>),
    Series(Series),
}

impl Feed {
    pub(super) fn open(source: &Source<'_>, arguments: &ForecastArguments) -> Result<Self, Failure> {
        let options = ReadOptions {
            format: arguments.format,
            target: TargetColumn::None,
            missing: Missing::Nan,
            ..ReadOptions::default()
        };
        let shown = source.to_string();
        let body = match source {
            Source::Named(_) if arguments.format.is_some() => {
                return Err(Failure::usage(format!("{shown} is a data set of its own format; leave --format out")));
            }
            Source::Named(name) => Body::Series(Registry::load()?.open_series(name)?),
            // It cannot be a series whatever it holds, and is not waited for.
            Source::StandardInput if arguments.format == Some(Format::Libsvm) => {
                return Err(Failure::usage(
                    "a libsvm row has a target, and a series has none; write it as csv, tsv or ndjson",
                ));
            }
            Source::File(_) | Source::StandardInput => {
                Body::Stream(Box::new(RowReader::open(&arguments.series, &options)?))
            }
        };
        let (dimension, names) = match &body {
            Body::Stream(reader) => (reader.dimension(), reader.feature_names()),
            Body::Series(series) => (series.dimension(), series.column_names()),
        };
        let columns = Columns::new(&shown, dimension, names, &arguments.inputs)?;
        Ok(Self { shown, columns, body, row: Vec::new(), given: 0 })
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Goes to the next row; false at the end.
    pub(super) fn next(&mut self) -> Result<bool, Failure> {
        match &mut self.body {
            Body::Stream(reader) => {
                if !reader.next_features(&mut self.row)? {
                    return Ok(false);
                }
            }
            Body::Series(series) => {
                if self.given == series.len() {
                    return Ok(false);
                }
                self.row.clear();
                self.row.extend_from_slice(series.row(self.given));
            }
        }
        self.given += 1;
        Ok(true)
    }

    pub(super) fn row(&self) -> &[f64] {
        &self.row
    }

    /// Where the row stands.
    pub(super) fn place(&self) -> String {
        let (shown, row) = (&self.shown, self.given);
        match &self.body {
            Body::Stream(reader) => format!("{shown}, line {} (row {row})", reader.line()),
            Body::Series(_) => format!("{shown}, row {row}"),
        }
    }

    /// A bar for a person who waits at a terminal for a file.
    pub(super) fn progress(&self) -> ProgressBar {
        if !io::stderr().is_terminal() || self.shown == Source::StandardInput.to_string() {
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
