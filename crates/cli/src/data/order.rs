//! The order of the rows of DATA, as they are read.

use mercer_encoding::{Column, Kind, Schema, Use, is_name_of_steps, is_name_of_times};
use mercer_readers::{Example, Record};
use mercer_session::notes::{Face, OrderTarget, RowOrder};

/// Watches the order of rows whose columns are numbers, or are to be encoded.
#[derive(Default)]
pub(crate) struct OrderWatch(RowOrder);

impl OrderWatch {
    /// Takes note of a row of numbers.
    pub(crate) fn observe_numbers(&mut self, example: &Example) {
        let Example { features, .. } = example;
        self.0.observe(features.len(), |column| Some(features[column]), target(example));
    }

    /// Takes note of a record with the targets of `example`.
    pub(crate) fn observe_record(&mut self, schema: &Schema, record: &Record, example: &Example) {
        let columns = schema.columns();
        let number = |place: usize| match columns[place].kind {
            Kind::Number => columns[place].notation.number(record.cell(place)),
            Kind::Time => columns[place].notation.instant(record.cell(place)),
            // A counter.
            Kind::Identifier => record.cell(place).number(),
            _ => None,
        };
        self.0.observe(columns.len().min(record.len()), number, target(example));
    }

    /// The remark on rows of numbers in columns of these names, if they have some.
    pub(crate) fn note_of_numbers(&self, names: &[String]) -> Option<String> {
        let name = |place: usize| names.get(place).cloned().unwrap_or_else(|| (place + 1).to_string());
        self.note(|place| Some(name(place)), |place| names.get(place).is_some_and(|name| orders(name)))
    }

    /// The remark on records.
    pub(crate) fn note_of_records(&self, schema: &Schema) -> Option<String> {
        let columns = schema.columns();
        let is_feature = |column: &Column| column.used == Use::Encoded;
        let name = |place: usize| Some(&columns[place]).filter(|column| is_feature(column)).map(|one| one.name.clone());
        self.note(name, |place| {
            let Column { kind, used, name, .. } = &columns[place];
            // A target is not its own explanation.
            *used != Use::SetAside && (*kind == Kind::Time || orders(name))
        })
    }

    fn note(&self, name: impl Fn(usize) -> Option<String>, is_time: impl Fn(usize) -> bool) -> Option<String> {
        self.0.note(name, is_time, Face::Command).map(|note| note.text)
    }
}

/// True if a column of this name, which runs one way, holds the times of the rows.
fn orders(name: &str) -> bool {
    is_name_of_times(name) || is_name_of_steps(name)
}

fn target(example: &Example) -> Option<OrderTarget<'_>> {
    match &*example.label {
        "" => example.targets.first().copied().map(OrderTarget::Number),
        label => Some(OrderTarget::Class(label)),
    }
}
