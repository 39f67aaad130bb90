//! The model of all filters of a bank: its grid of noises, and the frequencies of the periods.

use mercer_simd::{AlignedVec, sincos_quarter_turns};

use super::params::Detail;

/// States before the pairs: level, slope, autoregression.
pub(super) const FRONT: usize = 3;

/// The noises of a filter, all in units of the observations' variance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Noises {
    /// `q_l`, variance of `η`.
    pub(super) level: f64,
    /// `φ`, 0 without a slope.
    pub(super) damping: f64,
    /// `q_b`, variance of `ζ`.
    pub(super) slope: f64,
    /// `ρ`, 0 without an autoregression.
    pub(super) memory: f64,
    /// `q_a`, variance of `ξ`.
    pub(super) autoregression: f64,
    /// `q_s`, variance of `ω`.
    pub(super) season: f64,
}

impl Noises {
    const NONE: Self = Self { level: 0.0, damping: 0.0, slope: 0.0, memory: 0.0, autoregression: 0.0, season: 0.0 };

    /// The grid.
    fn grid(seasonal: bool, detail: Detail) -> Vec<Self> {
        let seasons: &[f64] = match (seasonal, detail) {
            (false, _) => &[0.0],
            (true, Detail::Light) => &[1e-6, 1e-3],
            (true, _) => &[1e-6, 1e-3, 3e-2],
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
    pub(super) fn of_states(&self, pairs: usize) -> Vec<f64> {
        let share = self.season / (pairs as f64 / 6.0).max(1.0);
        let slope = if self.damping > 0.0 { self.slope } else { 0.0 };
        [self.level, slope, self.autoregression].into_iter().chain(std::iter::repeat_n(share, 2 * pairs)).collect()
    }

    /// Variances of the states before the first row.
    pub(super) fn prior(&self, pairs: usize) -> Vec<f64> {
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
    pub(super) grid: Vec<Noises>,
    /// Variances of the noise of each state, filter by filter (`K × s`).
    noises: Vec<f64>,
    /// `cos 2πf, sin 2πf` of each pair.
    pub(super) turns: Vec<(f64, f64)>,
}

impl BankModel {
    pub(super) fn new(periods: &[usize], detail: Detail) -> Self {
        let frequencies = Self::frequencies(periods);
        let angles: AlignedVec = frequencies.iter().map(|(j, period)| (4 * j) as f64 / *period as f64).collect();
        let (mut sin, mut cos) = (AlignedVec::zeros(angles.len()), AlignedVec::zeros(angles.len()));
        sincos_quarter_turns(angles.lanes(), sin.lanes_mut(), cos.lanes_mut());
        let turns: Vec<_> = cos.iter().copied().zip(sin.iter().copied()).collect();
        let grid = Noises::grid(!periods.is_empty(), detail);
        let noises = grid.iter().flat_map(|noises| noises.of_states(turns.len())).collect();
        Self { grid, noises, turns }
    }

    /// The frequencies `j/m` of the pairs, as `(j, m)`.
    pub(super) fn frequencies(periods: &[usize]) -> Vec<(usize, usize)> {
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
        frequencies
    }

    pub(super) fn filters(&self) -> usize {
        self.grid.len()
    }

    pub(super) fn states(&self) -> usize {
        FRONT + 2 * self.turns.len()
    }

    /// `x ← A x` of all filters, `x` state by state (`s × K`).
    pub(super) fn advance(&self, x: &mut [f64]) {
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
    pub(super) fn outputs(&self, x: &[f64], outputs: &mut [f64]) {
        let filters = self.grid.len();
        let states = x.chunks_exact(filters);
        outputs.fill(0.0);
        for (i, state) in states.enumerate() {
            if is_seen(i) {
                outputs.iter_mut().zip(state).for_each(|(output, value)| *output += value);
            }
        }
    }

    /// The variance of the noise of a state of filter `k`.
    pub(super) fn noise(&self, k: usize, state: usize) -> f64 {
        self.noises[k * self.states() + state]
    }
}

/// True if the observation has this state in it.
pub(super) fn is_seen(state: usize) -> bool {
    matches!(state, 0 | 2) || state >= FRONT && (state - FRONT).is_multiple_of(2)
}
