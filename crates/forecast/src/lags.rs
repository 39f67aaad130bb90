//! The last outputs and inputs of a system, scaled as a regression wants them.
//!
//! A row is `[u_k, D_1(y_{k−1}, u_{k−1}), D_2(y_{k−2}, u_{k−2}), …]`, `u_k` with feed-through only.
//! Lags come most recent first, outputs and inputs of a lag side by side, so that the row of fewer
//! lags is the beginning of the row of more.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_linalg_incremental::AlignedVec;

/// Weights below this are zero: their squares are nothing beside a regulariser, and products with
/// them would be slow subnormal numbers.
const LEAST_WEIGHT: f64 = 1e-150;

/// Factor by which each further lag counts less: the block `D` of lag `a` is the `(a − 1)`-th power
/// of this.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Forgetting {
    /// `γ^(a−1)`, `0 < γ ≤ 1`.
    Scalar(f64),
    /// `Γ^(a−1)`; the matrix row by row, as wide as the signal it scales, its powers bounded (\[Q\]
    /// F.2).
    Matrix(Vec<f64>),
}

/// Sizes of the rows of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SystemShape {
    /// `m`
    pub(crate) outputs: usize,
    /// `q`
    pub(crate) inputs: usize,
    pub(crate) feed_through: bool,
}

impl SystemShape {
    /// Numbers a lag, `m + q`.
    pub(crate) fn channels(&self) -> usize {
        self.outputs + self.inputs
    }

    /// Numbers in front of the first lag.
    pub(crate) fn front(&self) -> usize {
        if self.feed_through { self.inputs } else { 0 }
    }

    /// Numbers in a row of `lags` lags.
    pub(crate) fn coordinates(&self, lags: usize) -> usize {
        self.front() + lags * self.channels()
    }
}

impl Validate for SystemShape {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.outputs, "number of outputs")?;
        Inconsistent::size(self.inputs, "number of inputs")?;
        Inconsistent::require(self.outputs > 0, "number of outputs", "it is at least 1")
    }
}

/// The factors `D`, lag by lag.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LagWeights {
    shape: SystemShape,
    /// One number for each coordinate of a lag; ones where a matrix scales.
    weights: Vec<f64>,
    /// `Γ^(a−1)` of outputs and of inputs, if matrices.
    output_powers: Option<Vec<f64>>,
    input_powers: Option<Vec<f64>>,
}

impl LagWeights {
    pub(crate) fn new(
        shape: SystemShape,
        lags: usize,
        outputs: &Forgetting,
        inputs: &Forgetting,
    ) -> Result<Self, ParameterError> {
        let (output_gamma, output_powers) = factors(outputs, shape.outputs, lags)?;
        let (input_gamma, input_powers) = factors(inputs, shape.inputs, lags)?;
        let lag = |a: usize| {
            let power = move |gamma: f64| Some(gamma.powi(a as i32)).filter(|w| *w >= LEAST_WEIGHT).unwrap_or(0.0);
            let of_outputs = std::iter::repeat_n(power(output_gamma), shape.outputs);
            of_outputs.chain(std::iter::repeat_n(power(input_gamma), shape.inputs))
        };
        Ok(Self { shape, weights: (0..lags).flat_map(lag).collect(), output_powers, input_powers })
    }

    /// [`Validate::validate`] for rows of `shape` with `lags` lags.
    pub(crate) fn validate(&self, shape: SystemShape, lags: usize) -> Result<(), Inconsistent> {
        self.weights.validate()?;
        self.output_powers.validate()?;
        self.input_powers.validate()?;
        let powers = |powers: &Option<Vec<f64>>, size: usize| {
            powers.as_ref().is_none_or(|powers| {
                size > 0 && size.checked_mul(size).and_then(|square| square.checked_mul(lags)) == Some(powers.len())
            })
        };
        let fits = self.shape == shape
            && self.weights.len() == lags * shape.channels()
            && powers(&self.output_powers, shape.outputs)
            && powers(&self.input_powers, shape.inputs);
        Inconsistent::require(fits, "weights of lags", "there is one for each number of a row")
    }

    /// `scaled ← D values`, lag by lag.
    fn apply(&self, values: &[f64], scaled: &mut [f64]) {
        for ((scaled, value), weight) in scaled.iter_mut().zip(values).zip(&self.weights) {
            *scaled = weight * value;
        }
        let (c, m, q) = (self.shape.channels(), self.shape.outputs, self.shape.inputs);
        for (powers, first, size) in [(&self.output_powers, 0, m), (&self.input_powers, m, q)] {
            let Some(powers) = powers else { continue };
            for (a, power) in powers.chunks_exact(size * size).enumerate() {
                let lag = a * c + first..a * c + first + size;
                let (values, scaled) = (&values[lag.clone()], &mut scaled[lag]);
                for (scaled, row) in scaled.iter_mut().zip(power.chunks_exact(size)) {
                    *scaled = row.iter().zip(values).map(|(g, y)| g * y).sum();
                }
            }
        }
    }

    /// Coefficients of unscaled lags from those of scaled ones, `G = G̃ D`: `coefficients` is one
    /// row of `G̃`, without what stands in front of the first lag.
    pub(crate) fn unscale(&self, coefficients: &mut [f64]) {
        let (c, m, q) = (self.shape.channels(), self.shape.outputs, self.shape.inputs);
        for (g, weight) in coefficients.iter_mut().zip(&self.weights) {
            *g *= weight;
        }
        for (powers, first, size) in [(&self.output_powers, 0, m), (&self.input_powers, m, q)] {
            let Some(powers) = powers else { continue };
            for (lag, power) in coefficients.chunks_exact_mut(c).zip(powers.chunks_exact(size * size)) {
                let scaled = lag[first..first + size].to_vec();
                for j in 0..size {
                    lag[first + j] = (0..size).map(|i| scaled[i] * power[i * size + j]).sum();
                }
            }
        }
    }
}

/// `γ`, or 1 and the powers of `Γ`.
fn factors(forgetting: &Forgetting, size: usize, lags: usize) -> Result<(f64, Option<Vec<f64>>), ParameterError> {
    match forgetting {
        Forgetting::Scalar(gamma) => {
            let inside = *gamma > 0.0 && *gamma <= 1.0;
            ParameterError::require(inside, "gamma", "a number above 0 and at most 1", *gamma)
                .map(|gamma| (gamma, None))
        }
        Forgetting::Matrix(gamma) => {
            let square = gamma.len() == size * size;
            ParameterError::require(square, "gamma", "a matrix as wide as its signal", gamma.len() as f64)?;
            let mut powers: Vec<f64> = (0..size * size).map(|i| if i % (size + 1) == 0 { 1.0 } else { 0.0 }).collect();
            for a in 1..lags {
                let last = (a - 1) * size * size;
                for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                    let product = (0..size).map(|k| gamma[i * size + k] * powers[last + k * size + j]).sum::<f64>();
                    powers.push(if product.abs() < LEAST_WEIGHT { 0.0 } else { product });
                }
            }
            let largest =
                powers.iter().fold(0.0, |largest: f64, p| if p.is_nan() { f64::NAN } else { largest.max(p.abs()) });
            ParameterError::require(largest <= 1e6, "gamma", "a matrix whose powers stay bounded", largest)?;
            Ok((1.0, Some(powers)))
        }
    }
}

/// The last outputs and inputs, newest first; zeros before the beginning.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct LagWindow {
    shape: SystemShape,
    values: Vec<f64>,
}

impl LagWindow {
    pub(crate) fn new(shape: SystemShape, lags: usize) -> Self {
        Self { shape, values: vec![0.0; shape.channels() * lags] }
    }

    /// [`Validate::validate`] for rows of `shape` with `lags` lags.
    pub(crate) fn validate(&self, shape: SystemShape, lags: usize) -> Result<(), Inconsistent> {
        self.values.validate()?;
        let fits = self.shape == shape && self.values.len() == lags * shape.channels();
        Inconsistent::require(fits, "window of lags", "it has one number for each of a row")
    }

    /// The window as a row at time `t` saw it, from the beginning of a series: `channels` numbers
    /// for each of `past`.
    pub(crate) fn replay(&mut self, past: &[f64], t: usize) {
        let c = self.shape.channels();
        self.values.fill(0.0);
        for (lag, row) in self.values.chunks_exact_mut(c).zip(past[..t * c].chunks_exact(c).rev()) {
            lag.copy_from_slice(row);
        }
    }

    /// Makes the row that was observed lag 1.
    pub(crate) fn push(&mut self, output: &[f64], input: &[f64]) {
        let c = self.shape.channels();
        let kept = self.values.len() - c;
        self.values.copy_within(..kept, c);
        self.values[..self.shape.outputs].copy_from_slice(output);
        self.values[self.shape.outputs..c].copy_from_slice(input);
    }

    /// The last output.
    pub(crate) fn last(&self) -> &[f64] {
        &self.values[..self.shape.outputs]
    }

    /// `row ← [u_k, D (…)]`; `input` is `u_k` with feed-through.
    pub(crate) fn row(&self, scaling: &LagWeights, input: &[f64], row: &mut AlignedVec) {
        let front = self.shape.front();
        row.resize(front + self.values.len());
        row[..front].copy_from_slice(&input[..front]);
        scaling.apply(&self.values, &mut row[front..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_newest_first_with_the_inputs_of_a_lag_beside_its_outputs() -> Result<(), ParameterError> {
        let shape = SystemShape { outputs: 1, inputs: 1, feed_through: true };
        let scaling = LagWeights::new(shape, 3, &Forgetting::Scalar(0.5), &Forgetting::Scalar(0.1))?;
        let mut window = LagWindow::new(shape, 3);
        window.push(&[8.0], &[100.0]);
        window.push(&[4.0], &[200.0]);
        let mut row = AlignedVec::new();
        window.row(&scaling, &[7.0], &mut row);
        assert_eq!(*row, [7.0, 4.0, 200.0, 4.0, 10.0, 0.0, 0.0]);
        let mut replayed = LagWindow::new(shape, 3);
        replayed.replay(&[8.0, 100.0, 4.0, 200.0, 1.0, 1.0], 2);
        assert_eq!(replayed, window);
        Ok(())
    }

    #[test]
    fn a_matrix_that_is_a_multiple_of_the_identity_is_a_scalar() -> Result<(), ParameterError> {
        let shape = SystemShape { outputs: 2, inputs: 0, feed_through: false };
        let values = [1.0, -2.0, 3.0, 5.0, -7.0, 11.0];
        let scalar = LagWeights::new(shape, 3, &Forgetting::Scalar(0.5), &Forgetting::Scalar(1.0))?;
        let matrix = Forgetting::Matrix(vec![0.5, 0.0, 0.0, 0.5]);
        let matrix = LagWeights::new(shape, 3, &matrix, &Forgetting::Scalar(1.0))?;
        let (mut a, mut b) = ([0.0; 6], [0.0; 6]);
        scalar.apply(&values, &mut a);
        matrix.apply(&values, &mut b);
        assert_eq!(a, b);
        assert_eq!(a, [1.0, -2.0, 1.5, 2.5, -1.75, 2.75]);
        let (mut a, mut b) = (values, values);
        scalar.unscale(&mut a);
        matrix.unscale(&mut b);
        assert_eq!(a, b);
        Ok(())
    }

    #[test]
    fn factors_out_of_range_are_refused() {
        let shape = SystemShape { outputs: 1, inputs: 0, feed_through: false };
        let one = Forgetting::Scalar(1.0);
        for bad in [
            Forgetting::Scalar(0.0),
            Forgetting::Scalar(1.1),
            Forgetting::Scalar(f64::NAN),
            Forgetting::Matrix(vec![3.0]),
            Forgetting::Matrix(vec![f64::NAN]),
            Forgetting::Matrix(vec![0.5; 2]),
        ] {
            assert!(LagWeights::new(shape, 20, &bad, &one).is_err(), "{bad:?}");
        }
        // Far lags underflow to nothing, and not to a number that is not one.
        let scaling = LagWeights::new(shape, 3000, &Forgetting::Scalar(0.5), &one).expect("a factor in range");
        assert_eq!(scaling.weights[2999], 0.0);
    }
}
