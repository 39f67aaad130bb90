//! From one value of an Arrow array to a cell.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

use mercer_core::Cell;

use crate::number::text_cell;

/// True if a column of that type holds single values: numbers, booleans, texts, dates and times, or
/// a dictionary of these.
pub(super) fn is_single(kind: &DataType) -> bool {
    match kind {
        DataType::Null | DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => true,
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => true,
        DataType::Dictionary(_, values) => is_single(values),
        kind => kind.is_numeric(),
    }
}

/// The value of a row; `None` is an infinite number.
pub(super) fn cell(values: &dyn Array, row: usize) -> Option<Cell<'_>> {
    if values.is_null(row) {
        return Some(Cell::Missing);
    }
    let number = match values.data_type() {
        DataType::Boolean => return Some(Cell::Truth(values.as_boolean().value(row))),
        DataType::Utf8 => return Some(text_cell(values.as_string::<i32>().value(row))),
        DataType::LargeUtf8 => return Some(text_cell(values.as_string::<i64>().value(row))),
        DataType::Utf8View => return Some(text_cell(values.as_string_view().value(row))),
        DataType::Dictionary(..) => {
            let dictionary = values.as_any_dictionary();
            let Some(Cell::Number(key)) = cell(dictionary.keys(), row) else { return Some(Cell::Missing) };
            // A key is a whole number below the number of values.
            return cell(dictionary.values().as_ref(), key as usize);
        }
        DataType::Timestamp(_, Some(_)) => return Some(Cell::Instant(seconds(values, row))),
        DataType::Timestamp(_, None) => return Some(Cell::LocalTime(seconds(values, row))),
        DataType::Date32 => return Some(Cell::LocalTime(86_400.0 * f64::from(native::<Date32Type>(values, row)))),
        DataType::Date64 => return Some(Cell::LocalTime(native::<Date64Type>(values, row) as f64 / 1e3)),
        DataType::Int8 => native::<Int8Type>(values, row).into(),
        DataType::Int16 => native::<Int16Type>(values, row).into(),
        DataType::Int32 => native::<Int32Type>(values, row).into(),
        DataType::Int64 => return Some(Cell::integer(native::<Int64Type>(values, row).into())),
        DataType::UInt8 => native::<UInt8Type>(values, row).into(),
        DataType::UInt16 => native::<UInt16Type>(values, row).into(),
        DataType::UInt32 => native::<UInt32Type>(values, row).into(),
        DataType::UInt64 => return Some(Cell::integer(native::<UInt64Type>(values, row).into())),
        DataType::Float16 => native::<Float16Type>(values, row).to_f64(),
        DataType::Float32 => native::<Float32Type>(values, row).into(),
        DataType::Float64 => native::<Float64Type>(values, row),
        DataType::Decimal32(..) => return decimal(&values.as_primitive::<Decimal32Type>().value_as_string(row)),
        DataType::Decimal64(..) => return decimal(&values.as_primitive::<Decimal64Type>().value_as_string(row)),
        DataType::Decimal128(..) => return decimal(&values.as_primitive::<Decimal128Type>().value_as_string(row)),
        DataType::Decimal256(..) => return decimal(&values.as_primitive::<Decimal256Type>().value_as_string(row)),
        DataType::Time32(_) | DataType::Time64(_) => return Some(Cell::TimeOfDay(seconds(values, row))),
        DataType::Duration(_) => return Some(Cell::Duration(seconds(values, row))),
        // What holds no single values was refused, and nulls were met above.
        _ => return Some(Cell::Missing),
    };
    match number {
        number if number.is_finite() => Some(Cell::Number(number)),
        number if number.is_nan() => Some(Cell::Missing),
        _ => None,
    }
}

/// Puts a column of numbers into every `stride`th place of `rows`, from `first` on. `false` if it
/// is another, has gaps, or has a number that is not finite; what is in `rows` is then worth
/// nothing.
pub(super) fn spread(values: &dyn Array, rows: &mut [f64], first: usize, stride: usize) -> bool {
    if values.null_count() > 0 {
        return false;
    }
    let places = rows.get_mut(first..).unwrap_or_default().iter_mut().step_by(stride);
    match values.data_type() {
        DataType::Float64 => put::<Float64Type>(values, places, |value| value),
        DataType::Float32 => put::<Float32Type>(values, places, f64::from),
        DataType::Int8 => put::<Int8Type>(values, places, f64::from),
        DataType::Int16 => put::<Int16Type>(values, places, f64::from),
        DataType::Int32 => put::<Int32Type>(values, places, f64::from),
        DataType::Int64 => put::<Int64Type>(values, places, |value| value as f64),
        DataType::UInt8 => put::<UInt8Type>(values, places, f64::from),
        DataType::UInt16 => put::<UInt16Type>(values, places, f64::from),
        DataType::UInt32 => put::<UInt32Type>(values, places, f64::from),
        DataType::UInt64 => put::<UInt64Type>(values, places, |value| value as f64),
        _ => false,
    }
}

fn put<'a, T: ArrowPrimitiveType>(
    values: &dyn Array,
    places: impl Iterator<Item = &'a mut f64>,
    number: impl Fn(T::Native) -> f64,
) -> bool {
    let mut finite = true;
    for (place, value) in places.zip(values.as_primitive::<T>().values().iter()) {
        *place = number(*value);
        finite &= place.is_finite();
    }
    finite
}

fn native<T: ArrowPrimitiveType>(values: &dyn Array, row: usize) -> T::Native {
    values.as_primitive::<T>().value(row)
}

/// A decimal number: whole ones exactly, others rounded once.
fn decimal(text: &str) -> Option<Cell<'static>> {
    let number = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Cell::Number);
    text.parse().map(Cell::integer).ok().or_else(number)
}

/// Seconds of a time of day, of a duration, or since 1970. Whole seconds are exact.
fn seconds(values: &dyn Array, row: usize) -> f64 {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let (count, unit): (i64, _) = match values.data_type() {
        DataType::Time32(Second) => (native::<Time32SecondType>(values, row).into(), Second),
        DataType::Time32(_) => (native::<Time32MillisecondType>(values, row).into(), Millisecond),
        DataType::Time64(Nanosecond) => (native::<Time64NanosecondType>(values, row), Nanosecond),
        DataType::Time64(_) => (native::<Time64MicrosecondType>(values, row), Microsecond),
        DataType::Duration(Second) => (native::<DurationSecondType>(values, row), Second),
        DataType::Duration(Millisecond) => (native::<DurationMillisecondType>(values, row), Millisecond),
        DataType::Duration(Microsecond) => (native::<DurationMicrosecondType>(values, row), Microsecond),
        DataType::Duration(Nanosecond) => (native::<DurationNanosecondType>(values, row), Nanosecond),
        DataType::Timestamp(Second, _) => (native::<TimestampSecondType>(values, row), Second),
        DataType::Timestamp(Millisecond, _) => (native::<TimestampMillisecondType>(values, row), Millisecond),
        DataType::Timestamp(Microsecond, _) => (native::<TimestampMicrosecondType>(values, row), Microsecond),
        DataType::Timestamp(Nanosecond, _) => (native::<TimestampNanosecondType>(values, row), Nanosecond),
        _ => return f64::NAN,
    };
    let of_second = match unit {
        Second => 1,
        Millisecond => 1_000,
        Microsecond => 1_000_000,
        Nanosecond => 1_000_000_000,
    };
    count.div_euclid(of_second) as f64 + count.rem_euclid(of_second) as f64 / of_second as f64
}
