//! From one list, map or struct of an Arrow array to the text of a list.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Fields};

use mercer_core::{Cell, ListText};

use super::value::{cell, is_single};

/// True if a column of that type holds lists of texts, lists of pairs of a text and a value, maps
/// from texts to values, or structs of values.
pub(super) fn is_list(kind: &DataType) -> bool {
    match kind {
        DataType::List(member) | DataType::LargeList(member) | DataType::FixedSizeList(member, _) => {
            match member.data_type() {
                DataType::Struct(fields) => is_pair(fields),
                kind => is_text(kind),
            }
        }
        DataType::Map(entries, _) => matches!(entries.data_type(), DataType::Struct(fields) if is_pair(fields)),
        DataType::Struct(fields) => fields.iter().all(|field| is_single(field.data_type())),
        _ => false,
    }
}

fn is_pair(fields: &Fields) -> bool {
    matches!(&**fields, [name, value] if is_text(name.data_type()) && is_single(value.data_type()))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// The text of the list in a row; `None` where there is none.
pub(super) fn text(values: &dyn Array, row: usize) -> Option<String> {
    if values.is_null(row) {
        return None;
    }
    let members = match values.data_type() {
        DataType::List(_) => values.as_list::<i32>().value(row),
        DataType::LargeList(_) => values.as_list::<i64>().value(row),
        DataType::FixedSizeList(..) => values.as_fixed_size_list().value(row),
        DataType::Map(..) => return Some(pairs(&values.as_map().value(row))),
        _ => {
            let row_of = values.as_struct();
            let mut object = ListText::object();
            for (name, column) in row_of.column_names().into_iter().zip(row_of.columns()) {
                push(&mut object, name, cell(column.as_ref(), row));
            }
            return Some(object.finish());
        }
    };
    if let DataType::Struct(_) = members.data_type() {
        return Some(pairs(members.as_struct()));
    }
    let mut list = ListText::list();
    for member in 0..members.len() {
        if let Some(Cell::Text(name)) = cell(members.as_ref(), member) {
            list.name(name);
        }
    }
    Some(list.finish())
}

/// Rows of a name and a value as one object.
fn pairs(entries: &arrow_array::StructArray) -> String {
    let mut object = ListText::object();
    if let [names, values] = entries.columns() {
        for entry in 0..entries.len() {
            if let Some(Cell::Text(name)) = cell(names.as_ref(), entry) {
                push(&mut object, name, cell(values.as_ref(), entry));
            }
        }
    }
    object.finish()
}

/// Writes a name with its value, unless that is missing.
fn push(object: &mut ListText, name: &str, value: Option<Cell<'_>>) {
    let Some(value) = value.filter(|value| *value != Cell::Missing) else { return };
    object.name(name);
    match value.number() {
        Some(number) => object.number(number),
        None => object.quoted(&value.to_string()),
    }
}
