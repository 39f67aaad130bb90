//! Values and columns of requests as the rest of the command has them.

use mercer_encoding::List;
use mercer_readers::{Cell, text_cell};
use mercer_serve::Value;

/// A value as a file would have it.
pub(super) fn cell_of(value: &Value) -> Cell<'_> {
    match value {
        Value::Missing => Cell::Missing,
        Value::Number(number) => Cell::Number(*number),
        Value::Text(text) => text_cell(text),
        Value::Truth(truth) => Cell::Truth(*truth),
        Value::List(text) => Cell::List(List::known(text)),
    }
}

pub(super) fn are_distinct<'a>(names: impl Iterator<Item = &'a String>) -> bool {
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.windows(2).all(|pair| pair[0] != pair[1])
}
