//! What is told of the columns of a table: what each is, once, and the odd cells of each, the first
//! by its place and all by their number.

use std::collections::HashMap;

use mercer_encoding::{Column, Encoding, Face, OddCells, Oddity, Schema, Use};
use mercer_readers::Record;
use serde_json::Value;

use crate::report::verbosity;

/// Lines on columns that are told.
const MOST_TOLD: usize = 30;
/// Columns of which the same is said together.
const MANY_ALIKE: usize = 8;

/// How many cells of which column were odd.
#[derive(Default)]
pub(crate) struct Oddities {
    cells: OddCells,
    /// Columns that the table does not have.
    lacking: Vec<String>,
    /// First odd cells of columns.
    told: usize,
}

impl Oddities {
    /// Of a table that has not all columns.
    pub(crate) fn lacking(columns: &[String]) -> Self {
        Self { lacking: columns.to_vec(), ..Self::default() }
    }

    /// Tells what is odd in a record, which is to be encoded by `encoding` and stands at `place`.
    pub(crate) fn tell(&mut self, encoding: &Encoding, record: &Record, place: impl Fn() -> String) {
        for (column, oddity) in encoding.transform().oddities(record) {
            let is_first = self.cells.take(column, oddity);
            let said = || encoding.remark_on(column, oddity, record.cell(column));
            let column = &encoding.schema().columns()[column];
            let is_told = is_first && !(oddity == Oddity::Gap && self.has_gaps(column));
            self.told += usize::from(is_told);
            if is_told && self.told <= MOST_TOLD {
                verbosity::remark(format!("{}, column {:?}: {}", place(), column.name, said()));
            }
        }
    }

    /// Whether gaps are nothing odd in a column: the first rows have some, which is told with the
    /// column, or the table has none of it.
    fn has_gaps(&self, column: &Column) -> bool {
        column.missing > 0 || self.lacking.contains(&column.name)
    }

    /// What was odd in all rows of a stream that was not looked at.
    pub(crate) fn report_new(&self, encoding: &Encoding) {
        let new = |column: &Column, oddity| oddity != Oddity::Gap || !self.has_gaps(column);
        self.report_those(encoding, new);
    }

    /// What was odd in all rows, column by column. Cells that were not understood are told even
    /// where there are to be no remarks.
    pub(crate) fn report(&self, encoding: &Encoding) {
        self.report_those(encoding, |column, _| !self.lacking.contains(&column.name));
    }

    fn report_those(&self, encoding: &Encoding, is_told: impl Fn(&Column, Oddity) -> bool) {
        let mut lines = 0;
        for (column, counts) in self.cells.columns() {
            let column = &encoding.schema().columns()[*column];
            let name = &column.name;
            for (oddity, count) in Oddity::ALL.into_iter().zip(counts) {
                let lost = oddity == Oddity::Misfit && verbosity::is_quiet();
                if (*count > 1 || lost && *count > 0) && is_told(column, oddity) {
                    lines += 1;
                    let tell = if lost { verbosity::say } else { verbosity::remark };
                    let cells = if *count == 1 { "cell" } else { "cells" };
                    if lines <= MOST_TOLD {
                        tell(format!("column {name:?}: {count} {cells} {}", oddity.words_of_all()));
                    }
                }
            }
        }
        if lines > MOST_TOLD {
            verbosity::remark(format!("and cells of {} columns more; --json counts all", lines - MOST_TOLD));
        }
    }

    /// The columns and how many cells were odd, as JSON; people are told, too.
    pub(crate) fn facts(&self, encoding: &Encoding) -> (Value, Value) {
        self.report(encoding);
        (columns(encoding), self.counts())
    }

    /// The same as an object: how many cells were what.
    pub(crate) fn counts(&self) -> Value {
        self.cells.totals().into_iter().map(|(name, count)| (name.to_owned(), Value::from(count))).collect()
    }
}

/// What each column is that is no plain number, in lines for people.
pub(crate) fn tell_columns(encoding: &Encoding) {
    let schema = encoding.schema();
    if verbosity::is_quiet() {
        return tell_left_out(schema);
    }
    tell_together(schema, |column| column.line(schema.rows(), Face::Command));
}

/// Tells the columns that are left out though nobody wished it, where there are to be no remarks.
fn tell_left_out(schema: &Schema) {
    let left = schema.columns().iter().filter(|column| matches!(column.used, Use::Identifier | Use::Text));
    let names: Vec<String> = left.map(|column| format!("{:?}", column.name)).collect();
    let (are, more) = (if names.len() == 1 { "is" } else { "are" }, names.len().saturating_sub(MANY_ALIKE));
    let (listed, more) = (
        names.iter().take(MANY_ALIKE).cloned().collect::<Vec<_>>().join(", "),
        if more > 0 { format!(" and {more} more") } else { String::new() },
    );
    if !names.is_empty() {
        verbosity::say(format!("{listed}{more} {are} left out; mercer inspect tells why"));
    }
}

/// Tells lines of columns; many of which the same is to be said together.
fn tell_together(schema: &Schema, line: impl Fn(&Column) -> Option<String>) {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for column in schema.columns() {
        let Some(line) = line(column) else { continue };
        let name = format!("column {:?}: ", column.name);
        let words = line.strip_prefix(&name).unwrap_or(&line).to_owned();
        let place = *places.entry(words).or_insert_with_key(|words| {
            groups.push((words.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(&column.name);
    }
    let mut lines: Vec<String> = Vec::new();
    for (words, names) in groups {
        if names.len() < MANY_ALIKE {
            lines.extend(names.iter().map(|name| format!("column {name:?}: {words}")));
        } else {
            let [first, second, ..] = names[..] else { continue };
            lines.push(format!("columns {first:?}, {second:?} and {} more: {words}", names.len() - 2));
        }
    }
    lines.iter().take(MOST_TOLD).for_each(verbosity::remark);
    if lines.len() > MOST_TOLD {
        verbosity::remark(format!("and {} columns more; mercer inspect tells all", lines.len() - MOST_TOLD));
    }
}

/// What may surprise of a table that is read as numbers as they are.
pub(crate) fn tell_plain(schema: &Schema) {
    tell_together(schema, |column| column.line_of_numbers(Face::Command));
}

/// The columns as JSON.
fn columns(encoding: &Encoding) -> Value {
    let rows = encoding.schema().rows();
    let columns = encoding.schema().columns().iter();
    columns.map(|column| serde_json::json!(column.facts(rows, Face::Command))).collect()
}
