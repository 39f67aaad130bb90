//! Batches of rows: tables of numpy, and sparse rows, whose cells are tokens as those of LIBSVM are.

use mercer::core::TokenRow;
use mercer::learners::{Input, Inputs};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{arrays, errors};

/// A batch as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum Batch<'py> {
    /// Row-major numbers.
    Dense(PyReadonlyArray2<'py, f64>),
    /// Where each row begins and ends, the columns of its cells, and their numbers.
    Sparse(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>),
}

/// Its rows.
pub(crate) struct Block<'a> {
    numbers: &'a [f64],
    tokens: Vec<TokenRow>,
    pub(crate) rows: usize,
    pub(crate) dimension: usize,
}

impl Batch<'_> {
    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(..))
    }

    /// Its rows, of finite numbers where they are sparse.
    pub(crate) fn block(&self) -> PyResult<Block<'_>> {
        let (bounds, columns, values) = match self {
            Self::Dense(table) => {
                let (numbers, rows, dimension) = arrays::table(table)?;
                return Ok(Block { numbers, tokens: Vec::new(), rows, dimension });
            }
            Self::Sparse(bounds, columns, values) => {
                let whole = |_| errors::data("the sparse rows are not contiguous");
                (bounds.as_slice().map_err(whole)?, columns.as_slice().map_err(whole)?, arrays::numbers(values)?)
            }
        };
        let tokens = bounds.windows(2).enumerate().map(|(row, ends)| {
            let cells = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let cells = cells.and_then(|(from, to)| columns.get(from..to)?.iter().zip(values.get(from..to)?).into());
            let cells = cells.ok_or_else(|| errors::data("the sparse rows contradict one another"))?;
            if let Some((column, value)) = cells.clone().find(|(_, value)| !value.is_finite()) {
                let refused = format!("row {row}: Input X contains {value} in column {column}; replace it");
                return Err(errors::data(refused));
            }
            let mut tokens = TokenRow::default();
            tokens.fill_sparse(cells.map(|(column, value)| (*column as u64, *value)));
            Ok(tokens)
        });
        let tokens = tokens.collect::<PyResult<Vec<_>>>()?;
        Ok(Block { numbers: &[], rows: tokens.len(), tokens, dimension: 0 })
    }
}

impl<'a> Block<'a> {
    /// The numbers of all rows.
    pub(crate) fn numbers(&self) -> &'a [f64] {
        self.numbers
    }

    /// The tokens of all rows; none of numbers.
    pub(crate) fn tokens(&self) -> &[TokenRow] {
        &self.tokens
    }

    /// All rows.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs { numbers: self.numbers, tokens: &self.tokens }
    }

    /// One row.
    pub(crate) fn input(&self, row: usize) -> Input<'_> {
        self.inputs().row(row, self.dimension)
    }
}
