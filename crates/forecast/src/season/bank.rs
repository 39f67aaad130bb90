//! A bank of Kalman filters of one structural model on a grid of noises.
//!
//! ```text
//! y = μ + u + Σ_f first(c_f) + ε,                     ε ~ N(0, 1)
//! μ' = μ + φ b + η,   b' = φ b + ζ,   u' = ρ u + ξ,   c_f' = rotation(2πf) c_f + ω
//! ```
//!
//! with a level `μ`, a slope `b`, an autoregression `u` and, for each frequency `f = j/m` of the
//! periods, a pair `c_f` that turns. Only ratios of variances matter for the forecasts, so that of
//! `ε` is 1. The covariances do not depend on the data: **all coordinates of a series share the
//! gains**. Once a filter's gain no longer moves, or after 1500 rows, it is kept; a missing row
//! sets it going again for a while, so gaps are exact.
//!
//! Cost a row: `s` states, `K` filters, `C` coordinates: `3sKC` multiply-adds, and `4s²K` while
//! gains move. Memory: `½s²K` numbers. Source: Harvey 1989, *Forecasting, Structural Time Series
//! Models and the Kalman Filter*, 2.3 and 4.1.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, dispatch};

use super::bank_model::BankModel;
use super::covariances::CovarianceStep;

/// Rows after which a gain is kept, and rows that it moves again after a missing one.
const MOVING: usize = 1500;
const MOVING_AFTER_A_GAP: usize = 50;

/// A gain is kept when no part of it moved by more than this.
const SETTLED: f64 = 1e-9;

/// The filters of a series in all its coordinates.
///
/// # Invariants
/// `states` is `C × s × K`, the prediction of the states of the next row. `covariances` holds the
/// lower triangle of each filter's.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SeasonBank {
    states: Vec<f64>,
    gains: Vec<f64>,
    covariances: Vec<f64>,
    /// Rows that each filter's gain still moves.
    moving: Vec<usize>,
    begun: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    lanes: AlignedVec,
}

impl SeasonBank {
    pub(super) fn new(model: &BankModel, coordinates: usize) -> Self {
        let (s, filters) = (model.states(), model.filters());
        let mut covariances = Vec::with_capacity(filters * s * (s + 1) / 2);
        for noises in &model.grid {
            for (i, variance) in noises.prior(model.turns.len()).iter().enumerate() {
                covariances.extend(std::iter::repeat_n(0.0, i).chain([*variance]));
            }
        }
        Self {
            states: vec![0.0; coordinates * s * filters],
            gains: vec![0.0; s * filters],
            covariances,
            moving: vec![MOVING; filters],
            begun: false,
            work: Vec::new(),
            lanes: AlignedVec::new(),
        }
    }

    /// The forecasts of all filters: `steps` numbers for each coordinate and filter, in that order.
    /// `work` is scratch memory.
    pub(super) fn forecast(&self, model: &BankModel, steps: usize, paths: &mut [f64], work: &mut Vec<f64>) {
        let (s, filters) = (model.states(), model.filters());
        work.clear();
        work.resize((s + 1) * filters, 0.0);
        let (x, outputs) = work.split_at_mut(s * filters);
        for (states, paths) in self.states.chunks_exact(s * filters).zip(paths.chunks_exact_mut(filters * steps)) {
            x.copy_from_slice(states);
            for step in 0..steps {
                model.outputs(x, outputs);
                for (path, output) in paths.chunks_exact_mut(steps).zip(&*outputs) {
                    path[step] = *output;
                }
                if step + 1 < steps {
                    model.advance(x);
                }
            }
        }
    }

    /// Hands on the states of all filters (`s × K`) in a coordinate at each of the next steps,
    /// counted from 0. `work` is scratch memory.
    pub(super) fn visit(
        &self,
        model: &BankModel,
        coordinate: usize,
        steps: usize,
        work: &mut Vec<f64>,
        mut each: impl FnMut(usize, &[f64]),
    ) {
        let size = model.states() * model.filters();
        work.clear();
        work.extend_from_slice(&self.states[coordinate * size..][..size]);
        for step in 0..steps {
            each(step, work);
            model.advance(work);
        }
    }

    /// Time passes, with the coordinates of an observation or without one.
    pub(super) fn step(&mut self, model: &BankModel, observed: Option<&[f64]>) {
        let (s, filters) = (model.states(), model.filters());
        if !self.begun {
            let Some(z) = observed else { return };
            for (states, z) in self.states.chunks_exact_mut(s * filters).zip(z) {
                states[..filters].fill(*z);
            }
            self.begun = true;
        }
        self.step_covariances(model, observed.is_some());
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        work.resize(filters, 0.0);
        for (c, x) in self.states.chunks_exact_mut(s * filters).enumerate() {
            if let Some(z) = observed {
                model.outputs(x, &mut work);
                for (state, gain) in x.chunks_exact_mut(filters).zip(self.gains.chunks_exact(filters)) {
                    for ((value, gain), output) in state.iter_mut().zip(gain).zip(&work) {
                        *value += gain * (z[c] - output);
                    }
                }
            }
            model.advance(x);
        }
        self.work = work;
    }

    /// The gains for this row, and the covariances for the next, of all filters that move.
    fn step_covariances(&mut self, model: &BankModel, observed: bool) {
        if !observed {
            self.moving.iter_mut().for_each(|rows| *rows = (*rows).max(MOVING_AFTER_A_GAP));
        }
        let (s, filters) = (model.states(), model.filters());
        let mut next = 0;
        while let Some(first) = (next..filters).find(|k| self.moving[*k] > 0) {
            let (mut group, mut count) = ([first; LANES], 0);
            for k in (first..filters).filter(|k| self.moving[*k] > 0).take(LANES) {
                group[count] = k;
                count += 1;
            }
            next = group[count - 1] + 1;
            self.lanes.resize((s * s + s) * LANES);
            let Self { covariances, gains, lanes, .. } = self;
            let changes =
                dispatch(CovarianceStep { model, group, observed, covariances, gains, work: lanes.lanes_mut() });
            if observed {
                for (k, change) in group[..count].iter().zip(changes) {
                    self.moving[*k] = if change < SETTLED { 0 } else { self.moving[*k] - 1 };
                }
            }
        }
    }

    pub(super) fn validate(&self, model: &BankModel, coordinates: usize) -> Result<(), Inconsistent> {
        let (s, filters) = (model.states(), model.filters());
        self.states.validate()?;
        self.gains.validate()?;
        self.covariances.validate()?;
        let whole = self.states.len() == coordinates * s * filters
            && self.gains.len() == s * filters
            && self.covariances.len() == filters * s * (s + 1) / 2
            && self.moving.len() == filters;
        Inconsistent::require(whole, "bank of filters", "it has the states of all filters")
    }
}

#[cfg(test)]
mod tests {
    use super::super::bank_model::FRONT;
    use super::super::params::Detail;
    use super::*;

    type Matrix = Vec<Vec<f64>>;

    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        let columns = b[0].len();
        a.iter().map(|row| (0..columns).map(|j| row.iter().zip(b).map(|(x, b)| x * b[j]).sum()).collect()).collect()
    }

    fn transposed(a: &Matrix) -> Matrix {
        (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
    }

    /// Every filter against the textbook's with dense matrices, on a series with gaps in two
    /// coordinates.
    #[test]
    fn filters_are_those_of_dense_matrices() {
        let model = BankModel::new(&[5], Detail::Full);
        let (s, filters, steps) = (FRONT + 4, 84, 3);
        assert_eq!((model.states(), model.filters()), (s, filters));
        let mut bank = SeasonBank::new(&model, 2);
        let series: Vec<Option<f64>> = (0..60_usize)
            .map(|t| (t % 13 != 7 && !(30..34).contains(&t)).then(|| (t * t % 17) as f64 + 0.3 * t as f64))
            .collect();
        for row in &series {
            bank.step(&model, row.map(|y| [y, 2.0 - 0.5 * y]).as_ref().map(|z| &z[..]));
        }
        let mut paths = vec![0.0; 2 * filters * steps];
        bank.forecast(&model, steps, &mut paths, &mut Vec::new());
        for k in 0..filters {
            let noises = &model.grid[k];
            let mut a: Matrix = vec![vec![0.0; s]; s];
            (a[0][0], a[0][1], a[1][1], a[2][2]) = (1.0, noises.damping, noises.damping, noises.memory);
            for j in 1..=2 {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(j) / 5.0).sin_cos();
                let r = FRONT + 2 * (j as usize - 1);
                (a[r][r], a[r][r + 1], a[r + 1][r], a[r + 1][r + 1]) = (cos, sin, -sin, cos);
            }
            let c: Vec<f64> = vec![1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0];
            let prior = noises.prior(2);
            let p: Matrix = (0..s).map(|i| (0..s).map(|j| if i == j { prior[i] } else { 0.0 }).collect()).collect();
            for coordinate in 0..2 {
                let mut x = vec![0.0; s];
                let mut p_now = p.clone();
                for (t, row) in series.iter().enumerate() {
                    if let Some(y) = row {
                        let z = if coordinate == 0 { *y } else { 2.0 - 0.5 * y };
                        if t == 0 {
                            x[0] = z;
                        }
                        let seen: Vec<f64> =
                            p_now.iter().map(|row| row.iter().zip(&c).map(|(p, c)| p * c).sum()).collect();
                        let variance = 1.0 + seen.iter().zip(&c).map(|(p, c)| p * c).sum::<f64>();
                        let error = z - x.iter().zip(&c).map(|(x, c)| x * c).sum::<f64>();
                        for i in 0..s {
                            x[i] += seen[i] / variance * error;
                            (0..s).for_each(|j| p_now[i][j] -= seen[i] * seen[j] / variance);
                        }
                    }
                    x = a.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
                    p_now = product(&product(&a, &p_now), &transposed(&a));
                    (0..s).for_each(|i| p_now[i][i] += noises.of_states(2)[i]);
                }
                for step in 0..steps {
                    let expected: f64 = x.iter().zip(&c).map(|(x, c)| x * c).sum();
                    let path = paths[(coordinate * filters + k) * steps + step];
                    assert!((path - expected).abs() < 1e-6 * expected.abs().max(1.0), "{noises:?}: {path} {expected}");
                    x = a.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
                }
            }
        }
    }
}
