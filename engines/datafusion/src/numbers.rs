//! Parts that the functions share: the types of arguments, rows of numbers, model files in columns.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Float64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;

/// The type to which an argument that is to be a number is cast.
pub(crate) fn number(function: &str, place: usize, kind: &DataType) -> Result<DataType> {
    match kind {
        kind if kind.is_numeric() || *kind == DataType::Null || *kind == DataType::Boolean => Ok(DataType::Float64),
        other => plan_err!("{function}: argument {place} is {other}, and a number is needed; cast it, or leave it out"),
    }
}

/// The type to which a model is cast.
pub(crate) fn model(function: &str, kind: &DataType) -> Result<DataType> {
    match kind {
        DataType::Binary | DataType::BinaryView | DataType::LargeBinary | DataType::Null => Ok(DataType::Binary),
        other => plan_err!("{function}: the first argument is {other}, and a model is needed, as mercer_fit gives it"),
    }
}

/// A column of models.
pub(crate) fn models(column: &ArrayRef) -> Result<BinaryArray> {
    let column =
        if *column.data_type() == DataType::Binary { column.clone() } else { cast(column, &DataType::Binary)? };
    Ok(column.as_binary::<i32>().clone())
}

/// Columns of numbers, some of which may be null in a row.
pub(crate) struct Columns<'a> {
    columns: Vec<&'a Float64Array>,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(function: &str, columns: &'a [ArrayRef]) -> Result<Self> {
        let one = |column: &'a ArrayRef| match column.as_primitive_opt::<Float64Type>() {
            Some(column) => Ok(column),
            None => exec_err!("{function}: a column of {} came where a number is needed", column.data_type()),
        };
        Ok(Self { columns: columns.iter().map(one).collect::<Result<_>>()? })
    }

    /// Puts the numbers of a row behind what is there; false, and nothing, where one is null.
    pub(crate) fn row(&self, row: usize, numbers: &mut Vec<f64>) -> bool {
        if self.columns.iter().any(|column| column.is_null(row)) {
            return false;
        }
        numbers.extend(self.columns.iter().map(|column| column.value(row)));
        true
    }
}
