//! The library's own speed, to measure the cost of Python against in the same process.

use std::time::Instant;

use mercer::{AnyKernel, AnyRegressor, Rows};
use mercer::{Regressor, RegressorExt, Scratch, Target, Targets};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::making::{DataFacts, LearnerSpec};
use crate::{arrays, errors};

/// Seconds that the library itself needs for these rows: to learn them one by one, to learn them
/// together, and to predict them, each by a learner of numbers that has learnt them once.
#[pyfunction]
pub(crate) fn rates(
    py: Python<'_>,
    spec: LearnerSpec,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
) -> PyResult<(f64, f64, f64)> {
    let (inputs, rows, dimension) = arrays::table(&x)?;
    let ys = arrays::numbers(&y)?;
    let known = DataFacts { dimension, outputs: 1, rows: inputs, ..DataFacts::default() };
    let kernel = spec.kernel(&known)?;
    let mut learner: AnyRegressor<AnyKernel> = spec.build(&kernel, &known, None)?.learner;
    py.detach(move || {
        let all = Rows::new(inputs, dimension, Targets::numbers(ys))?;
        let mut made = Vec::with_capacity(rows);
        learner.learn_rows(all, &mut made)?;
        let mut other = learner.clone();
        let start = Instant::now();
        let mut score = [0.0];
        for (x, target) in all.iter() {
            learner.learn(x, Target::new(target.y), &mut score)?;
        }
        let singly = start.elapsed().as_secs_f64();
        made.clear();
        let start = Instant::now();
        other.learn_rows(all, &mut made)?;
        let together = start.elapsed().as_secs_f64();
        let mut scratch = Scratch::default();
        made.clear();
        made.resize(rows, 0.0);
        let start = Instant::now();
        for (row, score) in made.iter_mut().enumerate() {
            learner.predict_into(all.input(row), &mut scratch, std::slice::from_mut(score))?;
        }
        Ok((singly, together, start.elapsed().as_secs_f64()))
    })
    .map_err(errors::learner)
}
