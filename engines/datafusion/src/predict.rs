//! `mercer_predict(model, x1, …, xd)`: what a model predicts for a row.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{Array, ArrayRef, Float64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use mercer::encoding::ScaledTargets;
use mercer::model::Model;
use mercer::{AnyKernel, AnyRegressor, Regressor, RegressorExt, Scratch};

use crate::numbers::{Columns, model, models, number};

const NAME: &str = "mercer_predict";

/// Models that are kept ready.
const KEPT: usize = 64;

/// A model from its file.
pub(crate) struct Ready {
    bytes: Vec<u8>,
    learner: ScaledTargets<AnyRegressor<AnyKernel>>,
}

impl Ready {
    fn load(function: &str, bytes: &[u8], dimension: usize) -> Result<Self> {
        let model = match Model::from_bytes(bytes) {
            Ok(Model::Regression(model)) => *model,
            Ok(Model::Moments(sums)) => match sums.fit() {
                Ok(model) => model,
                Err(error) => return exec_err!("{function}: the model cannot be fitted: {error}"),
            },
            Ok(other) => {
                return exec_err!("{function}: the model is of the kind {}, which SQL cannot use", other.kind());
            }
            Err(error) => return exec_err!("{function}: the model {error}"),
        };
        if model.encoding.is_some() {
            return exec_err!(
                "{function}: the model encodes the columns of a table, which SQL cannot; use one of numbers"
            );
        }
        let (d, outputs) = (model.dimension(), model.outputs());
        if d != dimension {
            return exec_err!("{function}: the model takes {d} features, and {dimension} are given");
        }
        if outputs != 1 {
            return exec_err!("{function}: the model has {outputs} targets; use one with a single target");
        }
        Ok(Self { bytes: bytes.to_vec(), learner: model.task.learner })
    }

    /// The prediction for a row, in the target's own units.
    pub(crate) fn predict(&self, function: &str, x: &mut [f64], scratch: &mut Scratch) -> Result<f64> {
        let mut made = [0.0];
        if let Err(error) = self.learner.predict_into(x, scratch, &mut made) {
            return exec_err!("{function}: {error}");
        }
        Ok(made[0])
    }
}

/// The models used last, so that one is fitted once and not for each batch of rows.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<VecDeque<Arc<Ready>>>);

impl Shelf {
    pub(crate) fn get(&self, function: &str, bytes: &[u8], dimension: usize) -> Result<Arc<Ready>> {
        let find = |shelf: &VecDeque<Arc<Ready>>| shelf.iter().find(|ready| ready.bytes == bytes).cloned();
        let known = find(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let ready = match known {
            Some(ready) if ready.learner.dimension() == dimension => return Ok(ready),
            _ => Arc::new(Ready::load(function, bytes, dimension)?),
        };
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.len() == KEPT {
            shelf.pop_front();
        }
        shelf.push_back(ready.clone());
        Ok(ready)
    }
}

/// The function.
pub struct MercerPredict {
    signature: Signature,
    shelf: Shelf,
}

impl Default for MercerPredict {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), shelf: Shelf::default() }
    }
}

impl std::fmt::Debug for MercerPredict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MercerPredict")
    }
}

impl PartialEq for MercerPredict {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for MercerPredict {}

impl Hash for MercerPredict {
    fn hash<H: Hasher>(&self, state: &mut H) {
        NAME.hash(state);
    }
}

impl ScalarUDFImpl for MercerPredict {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn coerce_types(&self, kinds: &[DataType]) -> Result<Vec<DataType>> {
        let Some((first, columns)) = kinds.split_first().filter(|(_, columns)| !columns.is_empty()) else {
            return plan_err!("{NAME} takes a model and its features: {NAME}(model, x1, x2)");
        };
        let numbers = columns.iter().enumerate().map(|(place, kind)| number(NAME, place + 2, kind));
        [model(NAME, first)].into_iter().chain(numbers).collect()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays: Vec<ArrayRef> = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<_>>()?;
        let Some((first, columns)) = arrays.split_first() else { return exec_err!("{NAME} needs a model") };
        let (models, columns, dimension) = (models(first)?, Columns::new(NAME, columns)?, columns.len());
        let (mut x, mut scratch) = (Vec::new(), Scratch::default());
        let mut last: Option<Arc<Ready>> = None;
        let mut made = Vec::with_capacity(rows);
        for row in 0..rows {
            x.clear();
            if models.is_null(row) || !columns.row(row, &mut x) {
                made.push(None);
                continue;
            }
            let bytes = models.value(row);
            let ready = match last.take().filter(|ready| is_same(&ready.bytes, bytes)) {
                Some(ready) => ready,
                None => self.shelf.get(NAME, bytes, dimension)?,
            };
            made.push(Some(ready.predict(NAME, &mut x, &mut scratch)?));
            last = Some(ready);
        }
        Ok(ColumnarValue::Array(Arc::new(Float64Array::from(made))))
    }
}

/// True if two model files are the same. The checksum in their headers tells nearly all others
/// apart at once.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && (std::ptr::eq(a, b) || (a.get(..24) == b.get(..24) && a == b))
}
