//! The states of `--predict`, and what follows them.

use std::path::Path;

use mercer_kernels::{AnyKernel, Points};
use mercer_koopman::{Error, KernelOperator};
use mercer_readers::Example;

use super::pairs;
use crate::arguments::dialect::Dialect;
use crate::data::stop::Stop;
use crate::data::timed_series::SeriesOptions;
use crate::report::failure::Failure;

pub(super) struct Queries {
    rows: Vec<Vec<f64>>,
}

impl Queries {
    /// Rows of `wanted` numbers: x, and the inputs of the steps behind the first one.
    pub(super) fn read(path: &Path, dialect: Dialect, wanted: usize) -> Result<Self, Failure> {
        // Queries may be a grid.
        let series = SeriesOptions { counters: true, ..SeriesOptions::default() };
        let mut input = pairs::open(path, &dialect.beside(path), &Stop::never(), &series)?;
        let (shown, got) = (input.shown(), input.columns().dimension);
        if got != wanted {
            let plural = if got == 1 { "column" } else { "columns" };
            return Err(Failure::because(format!(
                "{shown}: has {got} {plural}, but x has {wanted} in the pairs; give the numbers of x alone, a row a query"
            )));
        }
        let (mut rows, mut example) = (Vec::new(), Example::default());
        while input.next(&mut example)? {
            rows.push(example.features.clone());
        }
        Ok(Self { rows })
    }

    pub(super) fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The expected state `steps` steps after each query.
    pub(super) fn forecast(&self, operator: &KernelOperator<AnyKernel>, steps: usize) -> Result<Vec<Vec<f64>>, Error> {
        let points = Points::from_rows(operator.input_dimension(), &self.rows.concat());
        let mut forecasts = vec![Vec::new(); self.rows.len()];
        for coordinate in 0..operator.output_dimension() {
            let values = operator.observe(|state| state[coordinate]);
            let last = operator.forecasts(&values, &points, steps)?.pop().unwrap_or_default();
            forecasts.iter_mut().zip(last).for_each(|(forecast, value)| forecast.push(value));
        }
        Ok(forecasts)
    }
}
