//! The rows and the errors of an evaluation under watch.

use mercer_encoding::{Encoding, EncodingOptions, Kind, Schema};
use mercer_readers::{Cell, Record};
use mercer_session::model::Task;
use mercer_session::{AlarmKind, Row, RowPrediction, WatchChoices, Watcher};

use super::arguments::EvalArguments;
use super::feed::ExampleFeed;
use crate::report::alarms::Alarms;
use crate::report::failure::Failure;

/// Watches what a pass learns.
pub(super) struct EvalWatch {
    watcher: Watcher,
    rows_to_a_false_alarm: f64,
    /// Rows in which a learner begins: their errors say nothing.
    burn_in: u64,
    /// The record of a row of plain numbers, with its target; none where rows are records.
    plain: Option<Record>,
}

impl EvalWatch {
    /// For the rows of a feed, if they are to be watched.
    ///
    /// # Errors
    /// Several targets, and columns of which none can be watched.
    pub(super) fn of(arguments: &EvalArguments, feed: &ExampleFeed) -> Result<Option<Self>, Failure> {
        if !arguments.watch {
            return Ok(None);
        }
        let shown = arguments.common.data.display();
        if !feed.kind().is_class() && feed.kind().outputs() > 1 {
            return Err(Failure::usage(format!("{shown}: --watch is for one target; say with --target which it is")));
        }
        let refused = |error: String| Failure::because(format!("{shown}: --watch: {error}"));
        let choices = WatchChoices {
            rows_to_a_false_alarm: arguments.alarm_rate.rows,
            kinds: AlarmKind::ALL.to_vec(),
            seed: arguments.common.seed,
            ..WatchChoices::default()
        };
        let burn_in = choices.burn_in as u64;
        let plain = feed.encoding().is_none();
        let made = match feed.encoding() {
            Some(encoding) => Watcher::new(encoding.schema(), feed.target(), choices),
            None => {
                let schema = numbers(feed).map_err(|error| refused(error.to_string()))?;
                let target = schema.columns().len() - 1;
                Watcher::without(&schema, target, choices)
            }
        };
        let watcher = made.map_err(|error| refused(error.to_string()))?;
        let rows_to_a_false_alarm = arguments.alarm_rate.rows;
        Ok(Some(Self { watcher, rows_to_a_false_alarm, burn_in, plain: plain.then(Record::new) }))
    }

    /// Takes a row that was predicted and learnt, with its target as the data have it.
    pub(super) fn take(&mut self, row: &Row, target: f64, answer: &RowPrediction, task: &Task) -> Result<(), Failure> {
        let begins = answer.silent || self.watcher.rows() < self.burn_in;
        let error = if begins { f64::NAN } else { error(row, answer, task) };
        let record = match &mut self.plain {
            None => &row.record,
            Some(record) => {
                record.clear();
                let cell = |value: &f64| if value.is_nan() { Cell::Missing } else { Cell::Number(*value) };
                row.example.features.iter().chain([&target]).for_each(|value| record.push(cell(value)));
                record
            }
        };
        let taken = self.watcher.learn(record, error);
        taken.map(drop).map_err(|error| Failure::because(error.to_string()))
    }

    /// All alarms.
    pub(super) fn alarms(&mut self) -> Alarms {
        Alarms::of(&mut self.watcher, self.rows_to_a_false_alarm)
    }
}

/// The signed error of a prediction; of classes 1 for a mistake. NaN without a target.
fn error(row: &Row, answer: &RowPrediction, task: &Task) -> f64 {
    match task {
        Task::Numbers(_) => row.example.targets[0] - answer.numbers[0],
        Task::Classes(_) if row.example.label.is_empty() => f64::NAN,
        Task::Classes(task) => {
            let made = answer.judged.class.and_then(|class| task.labels.get(class));
            f64::from(u8::from(made != Some(&row.example.label)))
        }
    }
}

/// Columns of numbers, the target behind them: of classes its place among those that were met.
fn numbers(feed: &ExampleFeed) -> Result<Schema, mercer_encoding::EncodingError> {
    let names = feed.columns().features();
    let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| (j + 1).to_string());
    let inputs = (0..feed.dimension()).map(name);
    // A name that no input has.
    let target = (0..).map(|k| format!("target{}", "_".repeat(k))).find(|name| !names.contains(name));
    let columns = inputs.chain(target).map(|name| (name, Kind::Number));
    Ok(Encoding::of_kinds(columns, EncodingOptions::default())?.schema().clone())
}
