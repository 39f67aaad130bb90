//! Least squares as the formulas are printed: with explicit inverses. Comparators only; they show
//! what the square-root form saves.
//!
//! [`ExplicitInverse`] is (15) on `P = Ṽ⁻¹`, kept by the Sherman–Morrison formula, O((pm)²) a step:
//! the textbook's recursive least squares. What differs is how an epoch begins ([`EpochStart`]).
//! Its relative error grows with `cond(Ṽ)`, which reaches 1e13 to 1e16 on a system that integrates;
//! the square root of that is what a triangular factor sees.

use mercer_forecast::EpochSchedule;

use crate::stats::dot;

/// Method to compute the coefficients of an epoch from the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EpochStart {
    /// (E.1): the sums over the past, times the explicit inverse of Ṽ.
    Direct,
    /// (E.1) with a Cholesky factor and two triangular solves in place of the inverse.
    Triangular,
    /// (E.2): row after row from `G̃ = 0`, `P = I/λ`.
    Iterative,
}

/// OPF by (15) on an explicit inverse; it keeps its whole past, which every epoch goes over again.
pub(super) struct ExplicitInverse {
    m: usize,
    schedule: EpochSchedule,
    lambda: f64,
    gamma: f64,
    beginning: EpochStart,
    past: Vec<f64>,
    lags: usize,
    next_start: usize,
    /// P, pm × pm.
    inverse: Vec<f64>,
    /// G̃, m × pm.
    coefficients: Vec<f64>,
    row: Vec<f64>,
    gain: Vec<f64>,
}

impl ExplicitInverse {
    pub(super) fn new(m: usize, schedule: EpochSchedule, lambda: f64, gamma: f64, beginning: EpochStart) -> Self {
        let next_start = schedule.first_start();
        let (inverse, coefficients, row, gain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            m,
            schedule,
            lambda,
            gamma,
            beginning,
            past: Vec::new(),
            lags: 0,
            next_start,
            inverse,
            coefficients,
            row,
            gain,
        }
    }

    /// Predicts y_k (the last value during the warm-up), then learns it. What comes is whatever the
    /// arithmetic gives, NaN included.
    pub(super) fn step(&mut self, y: &[f64], prediction: &mut [f64]) {
        let k = self.past.len() / self.m;
        if k == self.next_start {
            self.lags = self.schedule.epoch(k).lags;
            self.begin(k);
            self.next_start = EpochSchedule::next_start(k);
        }
        if self.lags > 0 {
            self.fill_row(k);
            self.predict(prediction);
            self.learn(y, prediction);
        } else if k > 0 {
            prediction.copy_from_slice(&self.past[(k - 1) * self.m..]);
        }
        self.past.extend_from_slice(y);
    }

    fn begin(&mut self, start: usize) {
        let (m, n) = (self.m, self.m * self.lags);
        self.row = vec![0.0; n];
        self.gain = vec![0.0; n];
        self.coefficients = vec![0.0; m * n];
        self.inverse = vec![0.0; n * n];
        if self.beginning == EpochStart::Iterative {
            for i in 0..n {
                self.inverse[i * n + i] = 1.0 / self.lambda;
            }
            let mut nominal = vec![0.0; m];
            for t in self.lags..start {
                self.fill_row(t);
                self.predict(&mut nominal);
                let y = self.past[t * m..(t + 1) * m].to_vec();
                self.learn(&y, &nominal);
            }
            return;
        }
        let (mut gram, mut cross) = (vec![0.0; n * n], vec![0.0; m * n]);
        for i in 0..n {
            gram[i * n + i] = self.lambda;
        }
        for t in self.lags..start {
            self.fill_row(t);
            for i in 0..n {
                for j in 0..n {
                    gram[i * n + j] += self.row[i] * self.row[j];
                }
            }
            for i in 0..m {
                for j in 0..n {
                    cross[i * n + j] += self.past[t * m + i] * self.row[j];
                }
            }
        }
        self.inverse = inverse(n, &gram);
        for i in 0..m {
            let right = &cross[i * n..(i + 1) * n];
            let solved = match self.beginning {
                EpochStart::Triangular => cholesky_solve(n, &gram, right),
                // Ṽ⁻¹ is symmetric, so that S Ṽ⁻¹ = (Ṽ⁻¹ Sᵀ)ᵀ.
                _ => self.inverse.chunks_exact(n).map(|row| dot(row, right)).collect(),
            };
            self.coefficients[i * n..(i + 1) * n].copy_from_slice(&solved);
        }
    }

    /// Z̃_t, the most recent lag first.
    fn fill_row(&mut self, t: usize) {
        let m = self.m;
        let mut scale = 1.0;
        for (lag, entries) in self.row.chunks_exact_mut(m).enumerate() {
            let y = &self.past[(t - lag - 1) * m..(t - lag) * m];
            for (entry, y) in entries.iter_mut().zip(y) {
                *entry = scale * y;
            }
            scale *= self.gamma;
        }
    }

    fn predict(&self, prediction: &mut [f64]) {
        for (value, row) in prediction.iter_mut().zip(self.coefficients.chunks_exact(self.row.len())) {
            *value = dot(row, &self.row);
        }
    }

    /// (15): `P ← P − Pzzᵀ P/(1 + zᵀPz)`, `G̃ ← G̃ + (y − ỹ) zᵀP`.
    fn learn(&mut self, y: &[f64], prediction: &[f64]) {
        let n = self.row.len();
        for (gain, row) in self.gain.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *gain = dot(row, &self.row);
        }
        let pivot = 1.0 + dot(&self.gain, &self.row);
        for (i, row) in self.inverse.chunks_exact_mut(n).enumerate() {
            let share = self.gain[i] / pivot;
            for (entry, gain) in row.iter_mut().zip(&self.gain) {
                *entry -= share * gain;
            }
        }
        // zᵀP after the update is gain / pivot.
        for (i, row) in self.coefficients.chunks_exact_mut(n).enumerate() {
            let share = (y[i] - prediction[i]) / pivot;
            for (entry, gain) in row.iter_mut().zip(&self.gain) {
                *entry += share * gain;
            }
        }
    }
}

/// The inverse by Gauss–Jordan elimination with row exchanges, as a general routine computes it.
fn inverse(n: usize, matrix: &[f64]) -> Vec<f64> {
    let mut left = matrix.to_vec();
    let mut right: Vec<f64> = (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
    for column in 0..n {
        let size = |row: &usize| left[row * n + column].abs();
        let pivot_row = (column..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(column);
        for j in 0..n {
            left.swap(column * n + j, pivot_row * n + j);
            right.swap(column * n + j, pivot_row * n + j);
        }
        let pivot = left[column * n + column];
        for j in 0..n {
            left[column * n + j] /= pivot;
            right[column * n + j] /= pivot;
        }
        for row in (0..n).filter(|row| *row != column) {
            let share = left[row * n + column];
            for j in 0..n {
                left[row * n + j] -= share * left[column * n + j];
                right[row * n + j] -= share * right[column * n + j];
            }
        }
    }
    right
}

/// `V⁻¹ x` by `V = KKᵀ`; a pivot that rounding has made negative gives NaN.
fn cholesky_solve(n: usize, matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let mut factor = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let known: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let left = matrix[i * n + j] - known;
            factor[i * n + j] = if i == j { left.sqrt() } else { left / factor[j * n + j] };
        }
    }
    let mut solved = x.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| factor[i * n + k] * solved[k]).sum();
        solved[i] = (solved[i] - known) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| factor[k * n + i] * solved[k]).sum();
        solved[i] = (solved[i] - known) / factor[i * n + i];
    }
    solved
}

#[cfg(test)]
mod tests {
    use mercer_forecast::{Forecaster, Forgetting, Opf, OpfParams};
    use mercer_streams::LinearSystem;

    use super::*;

    #[test]
    fn small_matrices_by_hand() {
        let matrix = [4.0, 2.0, 2.0, 3.0];
        let expected = [0.375, -0.25, -0.25, 0.5];
        assert!(inverse(2, &matrix).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        let solved = cholesky_solve(2, &matrix, &[8.0, 8.0]);
        assert!((solved[0] - 1.0).abs() < 1e-15 && (solved[1] - 2.0).abs() < 1e-15);
        assert!(inverse(1, &[0.0])[0].is_infinite());
    }

    /// While numbers are small all beginnings are the same estimator, and the engine's.
    #[test]
    fn on_a_short_run_all_agree_with_the_square_root() {
        let outputs = LinearSystem::slow_decay().simulate(300, 3).unwrap().outputs;
        let schedule = EpochSchedule { beta: 1.0, t_init: 20, max_lags: None };
        for gamma in [0.6, 1.0] {
            let params = OpfParams::default().schedule(schedule).lambda(1.0).forgetting(Forgetting::Scalar(gamma));
            let mut opf = Opf::new(3, &params).unwrap();
            let ways = [EpochStart::Direct, EpochStart::Triangular, EpochStart::Iterative];
            let mut explicit = ways.map(|way| ExplicitInverse::new(3, schedule, 1.0, gamma, way));
            let (mut ours, mut theirs) = ([0.0; 3], [0.0; 3]);
            for (k, y) in outputs.iter().enumerate() {
                opf.predict_then_observe(&[], y, &mut ours).unwrap();
                for other in &mut explicit {
                    other.step(y, &mut theirs);
                    for (a, b) in ours.iter().zip(theirs) {
                        assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{k}: {a} {b}");
                    }
                }
            }
        }
    }
}
