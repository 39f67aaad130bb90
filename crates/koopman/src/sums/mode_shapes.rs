//! Shapes of modes: the part of the state that moves with each of them.
//!
//! With eigenfunctions `f_k` the state is `x ≈ Σ_k v_k f_k(x)`, and `n` steps later it is on
//! average `Σ_k v_k μ_kⁿ f_k(x)`. The shapes `v_k` (Koopman modes, Mezić 2005; those of DMD where
//! functions are linear) are those of least squares over all pairs, and come from the sums alone.

use std::ops::Range;

use mercer_linalg_incremental::Matrix;

use super::blocks::Sums;
use super::modes::{Mode, Spectrum, parts};
use super::scale::ColumnScale;
use crate::Error;

/// A ridge against functions that depend on each other; they have norm 1.
const SLIGHT: f64 = 1e-10;

/// The shapes of some modes, and how much of the state they hold.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModeShapes {
    /// `v_k` of each mode: real and imaginary part for each column of the newest row of a state, in
    /// the column's unit.
    pub shapes: Vec<Vec<[f64; 2]>>,
    /// The root mean square of `v_k f_k(x)`, each column in its deviation, as a part of the
    /// deviation of the newest row. That of the constant is the size of the mean.
    pub amplitudes: Vec<f64>,
    /// The part of the variance of the newest row that `Σ_k v_k f_k(x)` misses.
    pub state_error: f64,
    /// The part of the variance of the row behind it that `Σ_k v_k μ_k f_k(x)` misses; `None` where
    /// `x` carries inputs, which move the state as well.
    pub step_error: Option<f64>,
}

/// Mean products of the real functions that the modes are made of with each other and with the
/// newest row, in scaled units.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShapeSums {
    gram: Matrix,
    /// With 1 and each column of `x`.
    now: Matrix,
    /// With each column of `x⁺`.
    next: Matrix,
    /// `E z²` of the columns of `x` and of `x⁺`, and the variances summed over the columns.
    squares: [Vec<f64>; 2],
    variances: [f64; 2],
    /// The columns of the newest row among the numbers of a state.
    newest: Range<usize>,
    /// True if `x` carries inputs.
    acts: bool,
}

impl ShapeSums {
    /// Of the modes of `spectrum` by the sums of all pairs; `newest` are the features that are the
    /// newest row. `O(p²m)`.
    pub(crate) fn new(spectrum: &Spectrum, total: &Sums, newest: Range<usize>) -> Self {
        let modes = spectrum.modes.iter().zip(&spectrum.functions);
        let functions = parts(modes.map(|(mode, [re, im])| (&mode.value, (re, im))));
        let columns = Matrix::from_fn(total.gram.rows(), functions.len(), |i, j| functions[j][i]);
        let mean = |value: f64| value / total.weight;
        let image = total.gram.times(&columns);
        let product = columns.transposed_times(&image);
        let after = columns.transposed_times(&total.cross);
        let (m, q, first) = (functions.len(), newest.len(), newest.start);
        let second = |j: usize| [mean(total.gram.entry(j, j)), mean(total.squares[j])];
        // The first feature is 1.
        let means = |j: usize| [mean(total.gram.entry(0, j)), mean(total.cross.entry(0, j))];
        let squares = [0, 1].map(|k| newest.clone().map(|j| second(j)[k]).collect::<Vec<f64>>());
        let variance = |k: usize, j: usize| (second(j)[k] - means(j)[k].powi(2)).max(0.0);
        Self {
            gram: Matrix::from_fn(m, m, |i, j| mean(product.entry(i, j)) + if i == j { SLIGHT } else { 0.0 }),
            now: Matrix::from_fn(m, 1 + q, |i, j| mean(image.entry(if j == 0 { 0 } else { first + j - 1 }, i))),
            next: Matrix::from_fn(m, q, |i, j| mean(after.entry(i, first + j))),
            squares,
            variances: [0, 1].map(|k| newest.clone().map(|j| variance(k, j)).sum()),
            newest: first - 1..first - 1 + q,
            acts: total.cross.columns() < total.cross.rows(),
        }
    }

    /// The shapes of the given modes, which are the leading ones.
    ///
    /// # Errors
    /// When the functions depend on each other.
    pub(crate) fn shapes(&self, modes: &[Mode], scale: &ColumnScale) -> Result<ModeShapes, Error> {
        let m: usize = modes.iter().map(functions_of).sum();
        let q = self.newest.len();
        if m == 0 {
            return Ok(ModeShapes::default());
        }
        let gram = Matrix::from_fn(m, m, |i, j| self.gram.entry(i, j));
        let found = gram.solve_positive_definite(&Matrix::from_fn(m, 1 + q, |i, j| self.now.entry(i, j)))?;
        let mut made = ModeShapes::default();
        let (mut steps, mut at) = (Matrix::zeros(m, q), 0);
        let total = self.variances[0];
        let units = |j: usize| (scale.means()[self.newest.start + j], scale.deviations()[self.newest.start + j]);
        for mode in modes {
            let scaled: Vec<[f64; 2]> = match functions_of(mode) {
                // The conjugate of the one before it.
                0 => Vec::new(),
                1 => (0..=q).map(|j| [found.entry(at, j), 0.0]).collect(),
                _ => (0..=q).map(|j| [0.5 * found.entry(at, j), -0.5 * found.entry(at + 1, j)]).collect(),
            };
            let shape: Vec<[f64; 2]> = match scaled.is_empty() {
                true => made.shapes.last().map_or_else(Vec::new, |shape| shape.iter().map(|[a, b]| [*a, -b]).collect()),
                // x = mean · 1 + deviation · z, and 1 is made of the functions as well.
                false => (0..q)
                    .map(|j| {
                        let (mean, deviation) = units(j);
                        [0, 1].map(|part| mean * scaled[0][part] + deviation * scaled[1 + j][part])
                    })
                    .collect(),
            };
            let square = |(j, [a, b]): (usize, &[f64; 2])| (a.hypot(*b) / units(j).1).powi(2);
            let square: f64 = shape.iter().enumerate().map(square).sum();
            made.amplitudes.push(if total > 0.0 { (square / total).sqrt() } else { 0.0 });
            made.shapes.push(shape);
            for j in 0..q {
                let ([a, b], re, im) = (scaled.get(1 + j).copied().unwrap_or_default(), mode.value.re, mode.value.im);
                match functions_of(mode) {
                    0 => {}
                    1 => steps.column_mut(j)[at] = re * a,
                    // 2 Re(vμf)
                    _ => {
                        steps.column_mut(j)[at] = 2.0 * (re * a - im * b);
                        steps.column_mut(j)[at + 1] = -2.0 * (re * b + im * a);
                    }
                }
            }
            at += functions_of(mode);
        }
        let state = Matrix::from_fn(m, q, |i, j| found.entry(i, 1 + j));
        made.state_error = self.missed(&state, 0, &gram);
        made.step_error = (!self.acts).then(|| self.missed(&steps, 1, &gram));
        Ok(made)
    }

    /// The part of the variance of `x` (0) or `x⁺` (1) that these coefficients miss.
    fn missed(&self, coefficients: &Matrix, k: usize, gram: &Matrix) -> f64 {
        let image = gram.times(coefficients);
        let product = |(i, c): (usize, &f64), j: usize| {
            let cross = if k == 0 { self.now.entry(i, 1 + j) } else { self.next.entry(i, j) };
            c * (image.entry(i, j) - 2.0 * cross)
        };
        let of_column = |j: usize| {
            let products = coefficients.column(j).iter().enumerate().map(|entry| product(entry, j));
            self.squares[k][j] + products.sum::<f64>()
        };
        let missed: f64 = (0..coefficients.columns()).map(of_column).sum();
        if self.variances[k] > 0.0 { missed.max(0.0) / self.variances[k] } else { 0.0 }
    }
}

/// Real functions that a mode adds: of a complex pair the first has both parts.
fn functions_of(mode: &Mode) -> usize {
    if mode.value.im < 0.0 { 0 } else { 1 + usize::from(mode.value.im > 0.0) }
}
