//! The rows and the errors of a session under watch.

use mercer_encoding::{Encoding, EncodingError, EncodingOptions, Kind, Schema};
use mercer_readers::{Cell, Record};
use mercer_session::model::Task;
use mercer_session::{Row, RowPrediction, WatchChoices, Watcher};

use crate::report::alarms::Alarms;

/// Watches what a session learns.
pub(crate) struct SessionWatch {
    pub(crate) watcher: Watcher,
    /// Rows in which a learner begins: their errors say nothing.
    burn_in: u64,
    /// The record of a row of plain numbers, with its target; none where rows are records.
    plain: Option<Record>,
}

impl SessionWatch {
    /// For records of a table, whose target is at that place.
    ///
    /// # Errors
    /// In words, if there is no column to be watched or a choice is outside its range.
    pub(crate) fn of_table(schema: &Schema, target: Option<usize>, choices: WatchChoices) -> Result<Self, String> {
        let burn_in = choices.burn_in as u64;
        Ok(Self { watcher: Watcher::new(schema, target, choices).map_err(unwatchable)?, burn_in, plain: None })
    }

    /// For rows of so many numbers, which have these names if they have some.
    ///
    /// # Errors
    /// As [`of_table`](Self::of_table).
    pub(crate) fn of_numbers(names: &[String], dimension: usize, choices: WatchChoices) -> Result<Self, String> {
        let burn_in = choices.burn_in as u64;
        let watcher = Watcher::without(&numbers(names, dimension).map_err(unwatchable)?, dimension, choices);
        Ok(Self { watcher: watcher.map_err(unwatchable)?, burn_in, plain: Some(Record::new()) })
    }

    /// Takes a row that was predicted and learnt, with its target as a number.
    pub(crate) fn take(
        &mut self,
        row: &Row,
        target: f64,
        answer: &RowPrediction,
        task: &Task,
    ) -> Result<(), EncodingError> {
        let begins = answer.silent || self.watcher.rows() < self.burn_in;
        let error = if begins { f64::NAN } else { answer.signed_error(row, task) };
        let record = match &mut self.plain {
            None => &row.record,
            Some(record) => {
                record.clear();
                let cell = |value: &f64| if value.is_nan() { Cell::Missing } else { Cell::Number(*value) };
                row.example.features.iter().chain([&target]).for_each(|value| record.push(cell(value)));
                record
            }
        };
        self.watcher.learn(record, error).map(drop)
    }

    /// All alarms, in which there may be one false one in so many rows.
    pub(crate) fn alarms(&mut self, rows_to_a_false_alarm: f64) -> Alarms {
        Alarms::of(&mut self.watcher, rows_to_a_false_alarm)
    }
}

fn unwatchable(error: impl std::fmt::Display) -> String {
    format!("--watch: {error}")
}

/// Columns of numbers, the target behind them: of classes its place among those that were met.
fn numbers(names: &[String], dimension: usize) -> Result<Schema, EncodingError> {
    let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| (j + 1).to_string());
    // A name that no input has.
    let target = (0..).map(|k| format!("target{}", "_".repeat(k))).find(|name| !names.contains(name));
    let columns = (0..dimension).map(name).chain(target).map(|name| (name, Kind::Number));
    Ok(Encoding::of_kinds(columns, EncodingOptions::default())?.schema().clone())
}
