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
use mercer_simd::{AlignedVec, sincos_quarter_turns};

use super::params::Detail;

/// Rows after which a gain is kept, and rows that it moves again after a missing one.
const MOVING: usize = 1500;
const MOVING_AFTER_A_GAP: usize = 50;

/// A gain is kept when no part of it moved by more than this.
const SETTLED: f64 = 1e-9;

/// States before the pairs: level, slope, autoregression.
const FRONT: usize = 3;

/// The noises of a filter, all in units of the observations' variance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Noises {
    /// `q_l`, variance of `η`.
    level: f64,
    /// `φ`, 0 without a slope.
    damping: f64,
    /// `q_b`, variance of `ζ`.
    slope: f64,
    /// `ρ`, 0 without an autoregression.
    memory: f64,
    /// `q_a`, variance of `ξ`.
    autoregression: f64,
    /// `q_s`, variance of `ω`.
    season: f64,
}

impl Noises {
    const NONE: Self = Self { level: 0.0, damping: 0.0, slope: 0.0, memory: 0.0, autoregression: 0.0, season: 0.0 };

    /// The grid.
    fn grid(seasonal: bool, detail: Detail) -> Vec<Self> {
        let seasons: &[f64] = match (seasonal, detail) {
            (false, _) => &[0.0],
            (true, Detail::Full) => &[1e-6, 1e-3, 3e-2],
            (true, Detail::Light) => &[1e-6, 1e-3],
        };
        let mut grid = Vec::new();
        for season in seasons {
            let base = Self { season: *season, ..Self::NONE };
            grid.extend([1e-5, 0.01, 0.1, 1.0, 10.0].map(|level| Self { level, ..base }));
            let damped = |level: f64| Self { level, damping: 0.98, slope: 0.01 * level, ..base };
            let slow = |memory, autoregression| Self { level: 1e-3, memory, autoregression, ..base };
            if detail == Detail::Light {
                grid.extend([0.01, 1.0].map(damped));
                grid.extend([0.8, 0.95].iter().flat_map(|memory| [1.0, 10.0].map(|noise| slow(*memory, noise))));
                continue;
            }
            let trend = |level: f64, slope| Self { level, damping: 1.0, slope, ..base };
            for level in [1e-4, 0.01, 0.1, 1.0, 10.0] {
                grid.extend([damped(level), trend(level, 1e-4 * level)]);
            }
            grid.push(trend(1e-3, 1e-5));
            for (memory, noise) in [0.5, 0.8, 0.95].iter().flat_map(|memory| [(*memory, 1.0), (*memory, 10.0)]) {
                let rising = Self { memory, autoregression: noise, ..trend(1e-3 * noise, 1e-7) };
                grid.extend([slow(memory, noise), rising]);
            }
        }
        grid
    }

    /// Variances of the noise of each state.
    fn of_states(&self, pairs: usize) -> Vec<f64> {
        let share = self.season / (pairs as f64 / 6.0).max(1.0);
        let slope = if self.damping > 0.0 { self.slope } else { 0.0 };
        [self.level, slope, self.autoregression].into_iter().chain(std::iter::repeat_n(share, 2 * pairs)).collect()
    }

    /// Variances of the states before the first row.
    fn prior(&self, pairs: usize) -> Vec<f64> {
        let slope = if self.damping > 0.0 { 1.0 + 100.0 * self.level.max(100.0 * self.slope) } else { 0.0 };
        let memory = if self.memory > 0.0 { self.autoregression / (1.0 - self.memory * self.memory) } else { 0.0 };
        let seasons = (0..pairs).flat_map(|pair| [1000.0 / (1 + pair % 12) as f64; 2]);
        [1e6, slope, memory].into_iter().chain(seasons).collect()
    }
}

/// The model of all filters. It follows from the periods and the detail.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct BankModel {
    grid: Vec<Noises>,
    /// Variances of the noise of each state, filter by filter (`K × s`).
    noises: Vec<f64>,
    /// `cos 2πf, sin 2πf` of each pair.
    turns: Vec<(f64, f64)>,
}

impl BankModel {
    pub(super) fn new(periods: &[usize], detail: Detail) -> Self {
        let mut frequencies: Vec<(usize, usize)> = Vec::new();
        for &period in periods {
            let harmonics = match period {
                ..=24 => (period / 2).min(12),
                25..100 => (period / 2).min(10),
                _ => 14,
            };
            for j in 1..=harmonics {
                // Of two periods with a common harmonic the first has it.
                if !frequencies.iter().any(|(i, of)| i * period == j * of) {
                    frequencies.push((j, period));
                }
            }
        }
        let angles: AlignedVec = frequencies.iter().map(|(j, period)| (4 * j) as f64 / *period as f64).collect();
        let (mut sin, mut cos) = (AlignedVec::zeros(angles.len()), AlignedVec::zeros(angles.len()));
        sincos_quarter_turns(angles.lanes(), sin.lanes_mut(), cos.lanes_mut());
        let turns: Vec<_> = cos.iter().copied().zip(sin.iter().copied()).collect();
        let grid = Noises::grid(!periods.is_empty(), detail);
        let noises = grid.iter().flat_map(|noises| noises.of_states(turns.len())).collect();
        Self { grid, noises, turns }
    }

    pub(super) fn filters(&self) -> usize {
        self.grid.len()
    }

    fn states(&self) -> usize {
        FRONT + 2 * self.turns.len()
    }

    /// `x ← A x` of all filters, `x` state by state (`s × K`).
    fn advance(&self, x: &mut [f64]) {
        let filters = self.grid.len();
        let (front, pairs) = x.split_at_mut(FRONT * filters);
        for (k, noises) in self.grid.iter().enumerate() {
            let slope = noises.damping * front[filters + k];
            front[k] += slope;
            front[filters + k] = slope;
            front[2 * filters + k] *= noises.memory;
        }
        for (pair, (cos, sin)) in pairs.chunks_exact_mut(2 * filters).zip(&self.turns) {
            let (first, second) = pair.split_at_mut(filters);
            for (a, b) in first.iter_mut().zip(second) {
                (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
            }
        }
    }

    /// `C x` of all filters.
    fn outputs(&self, x: &[f64], outputs: &mut [f64]) {
        let filters = self.grid.len();
        let states = x.chunks_exact(filters);
        outputs.fill(0.0);
        for (i, state) in states.enumerate() {
            if is_seen(i) {
                outputs.iter_mut().zip(state).for_each(|(output, value)| *output += value);
            }
        }
    }

    /// `P ← A P Aᵀ + Q` of a filter, `P` row by row.
    fn advance_covariance(&self, k: usize, p: &mut [f64]) {
        let s = self.states();
        let noises = &self.grid[k];
        // A symmetric matrix: rows are combined, the result is transposed, and rows are combined
        // again.
        for _ in 0..2 {
            for j in 0..s {
                let slope = noises.damping * p[s + j];
                p[j] += slope;
                p[s + j] = slope;
                p[2 * s + j] *= noises.memory;
            }
            for (pair, (cos, sin)) in p[FRONT * s..].chunks_exact_mut(2 * s).zip(&self.turns) {
                let (first, second) = pair.split_at_mut(s);
                for (a, b) in first.iter_mut().zip(second) {
                    (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
                }
            }
            for i in 0..s {
                for j in 0..i {
                    p.swap(i * s + j, j * s + i);
                }
            }
        }
        for (i, noise) in self.noises[k * s..][..s].iter().enumerate() {
            p[i * s + i] += noise;
        }
    }
}

/// Whether the observation has this state in it.
fn is_seen(state: usize) -> bool {
    matches!(state, 0 | 2) || state >= FRONT && (state - FRONT).is_multiple_of(2)
}

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
        for k in 0..filters {
            self.step_covariance(model, k, observed.is_some());
        }
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

    /// The gain of filter `k` for this row, and its covariance for the next.
    fn step_covariance(&mut self, model: &BankModel, k: usize, observed: bool) {
        if !observed {
            self.moving[k] = self.moving[k].max(MOVING_AFTER_A_GAP);
        }
        if self.moving[k] == 0 {
            return;
        }
        let (s, filters) = (model.states(), model.filters());
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        work.resize(s * s + s, 0.0);
        let (p, seen) = work.split_at_mut(s * s);
        let packed = &mut self.covariances[k * s * (s + 1) / 2..(k + 1) * s * (s + 1) / 2];
        for i in 0..s {
            for j in 0..=i {
                let value = packed[i * (i + 1) / 2 + j];
                (p[i * s + j], p[j * s + i]) = (value, value);
            }
        }
        if observed {
            for (i, seen) in seen.iter_mut().enumerate() {
                *seen = (0..s).filter(|j| is_seen(*j)).map(|j| p[i * s + j]).sum();
            }
            let variance = 1.0 + (0..s).filter(|i| is_seen(*i)).map(|i| seen[i]).sum::<f64>();
            let mut change = 0.0_f64;
            for i in 0..s {
                let gain = seen[i] / variance;
                let kept = &mut self.gains[i * filters + k];
                change = change.max((gain - *kept).abs());
                *kept = gain;
                for j in 0..s {
                    p[i * s + j] -= gain * seen[j];
                }
            }
            self.moving[k] = if change < SETTLED { 0 } else { self.moving[k] - 1 };
        }
        model.advance_covariance(k, p);
        for i in 0..s {
            packed[i * (i + 1) / 2..][..=i].copy_from_slice(&p[i * s..][..=i]);
        }
        self.work = work;
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
