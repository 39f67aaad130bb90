//! `mercer_evaluate(model, y, x1, …, xd)`: how well a model predicts rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type};
use datafusion::common::{ScalarValue, exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use mercer::Scratch;

use crate::numbers::{Columns, model, models, number};
use crate::predict::Shelf;

const NAME: &str = "mercer_evaluate";

/// `n`, the mean and `Σ(y − ȳ)²` of the targets, `Σe²` and `Σ|e|`.
const SUMS: [&str; 5] = ["rows", "mean", "spread", "squared", "absolute"];

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MercerEvaluate {
    signature: Signature,
}

impl Default for MercerEvaluate {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

fn fields() -> Fields {
    ["rows", "mse", "rmse", "mae", "r2"].map(|name| Field::new(name, DataType::Float64, true)).to_vec().into()
}

impl AggregateUDFImpl for MercerEvaluate {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(fields()))
    }

    fn coerce_types(&self, kinds: &[DataType]) -> Result<Vec<DataType>> {
        let Some((first, columns)) = kinds.split_first().filter(|(_, columns)| columns.len() >= 2) else {
            return plan_err!("{NAME} takes a model, the target and the features: {NAME}(model, y, x1, x2)");
        };
        let numbers = columns.iter().enumerate().map(|(place, kind)| number(NAME, place + 2, kind));
        [model(NAME, first)].into_iter().chain(numbers).collect()
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |sum: &str| Arc::new(Field::new(format!("{}[{sum}]", args.name), DataType::Float64, false));
        Ok(SUMS.map(field).to_vec())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::<Errors>::default())
    }
}

#[derive(Default)]
struct Errors {
    sums: [f64; 5],
    shelf: Shelf,
}

impl std::fmt::Debug for Errors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Errors").field("sums", &self.sums).finish_non_exhaustive()
    }
}

impl Errors {
    /// Adds the sums of other rows.
    fn add(&mut self, [n, mean, spread, squared, absolute]: [f64; 5]) {
        let [rows, our_mean, our_spread, our_squared, our_absolute] = &mut self.sums;
        if n == 0.0 {
            return;
        }
        let (gap, total) = (mean - *our_mean, *rows + n);
        *our_spread += spread + gap * gap * *rows * n / total;
        *our_mean += gap * n / total;
        *rows = total;
        *our_squared += squared;
        *our_absolute += absolute;
    }
}

impl Accumulator for Errors {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some((first, columns)) = values.split_first() else { return exec_err!("{NAME} needs a model") };
        let (models, columns, dimension) = (models(first)?, Columns::new(NAME, columns)?, columns.len() - 1);
        let (mut row, mut scratch) = (Vec::new(), Scratch::default());
        let mut last = None;
        for index in 0..models.len() {
            row.clear();
            if models.is_null(index) || !columns.row(index, &mut row) {
                continue;
            }
            let bytes = models.value(index);
            let ready = match last.take() {
                Some((ready, known)) if crate::predict::is_same(known, bytes) => ready,
                _ => self.shelf.get(NAME, bytes, dimension)?,
            };
            let y = row[0];
            let error = y - ready.predict(NAME, &mut row[1..], &mut scratch)?;
            self.add([1.0, y, 0.0, error * error, error.abs()]);
            last = Some((ready, bytes));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let [n, _, spread, squared, absolute] = self.sums;
        let some = |value: f64| (n > 0.0 && value.is_finite()).then_some(value);
        let mse = squared / n;
        let values = [Some(n), some(mse), some(mse.sqrt()), some(absolute / n), some(1.0 - squared / spread)];
        let columns = values.map(|value| Arc::new(Float64Array::from(vec![value])) as ArrayRef).to_vec();
        Ok(ScalarValue::Struct(Arc::new(StructArray::new(fields(), columns, None))))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.sums.map(|sum| ScalarValue::Float64(Some(sum))).to_vec())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let columns: Vec<&Float64Array> = states.iter().map(|column| column.as_primitive::<Float64Type>()).collect();
        for row in 0..columns.first().map_or(0, |column| column.len()) {
            let mut sums = [0.0; 5];
            sums.iter_mut().zip(&columns).for_each(|(sum, column)| *sum = column.value(row));
            self.add(sums);
        }
        Ok(())
    }
}
