//! Overdamped Langevin dynamics in a potential with four wells.
//!
//! `dX = −∇V(X) dt + √(2/β) dB` with `V(x) = (x₁² − 1)² + (x₂² − 1)²`. The wells are at (±1, ±1),
//! one in each quadrant, behind barriers of height 1: at β = 4 a trajectory stays in a well for a
//! long time and jumps rarely, so that the four quadrants are metastable sets. The coordinates are
//! independent of each other, and the law at rest has the density `∝ exp(−βV)`.
//!
//! Integrated by Euler–Maruyama with `interval/substeps` a step. Source: Hou, Sanjari, Dahlin,
//! Koppel, Bose, *Nonparametric Sparse Online Learning of the Koopman Operator*, section 5.4.

use mercer_core::ParameterError;

use crate::random::{NOISE_STREAM, START_STREAM, generator, symmetric};

use super::Pairs;
use super::integrate::euler_maruyama;

/// Half the side of the square on which trajectories start.
const HALF_SIDE: f64 = 2.0;

/// The process. Its default is the paper's: β = 4, a pair every 0.1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FourWells {
    /// Inverse temperature β, > 0.
    pub beta: f64,
    /// Time between a state and its successor, > 0.
    pub interval: f64,
    /// Steps of the integrator in that time, ≥ 1. The step must stay below 0.04, where the scheme
    /// loses its stability on the square's edge.
    pub substeps: usize,
}

impl Default for FourWells {
    fn default() -> Self {
        Self { beta: 4.0, interval: 0.1, substeps: 50 }
    }
}

impl FourWells {
    /// `V(x)`.
    #[must_use]
    pub fn potential(x: [f64; 2]) -> f64 {
        x.map(|x| (x * x - 1.0) * (x * x - 1.0)).iter().sum()
    }

    /// The well in whose quadrant a point lies, 0 to 3: 1 is added for a first coordinate above
    /// zero, 2 for a second one.
    #[must_use]
    pub fn well(x: [f64; 2]) -> usize {
        usize::from(x[0] > 0.0) + 2 * usize::from(x[1] > 0.0)
    }

    /// The states at times 0, `interval`, …, `steps · interval`.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter out of range.
    pub fn trajectory(&self, start: [f64; 2], steps: usize, seed: u64) -> Result<Vec<[f64; 2]>, ParameterError> {
        self.check()?;
        let mut noise = generator(seed, NOISE_STREAM);
        Ok(self.states(start, steps, |state, sigma, dt| euler_maruyama(downhill, sigma, state, dt, &mut noise)))
    }

    /// The pairs of `trajectories` trajectories one after another, `length` pairs each, which start
    /// uniformly on [−2, 2]².
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn pairs(&self, trajectories: usize, length: usize, seed: u64) -> Result<Pairs, ParameterError> {
        self.check()?;
        let (mut starts, mut noise) = (generator(seed, START_STREAM), generator(seed, NOISE_STREAM));
        let mut pairs = Pairs::new(2, 2);
        for _ in 0..trajectories {
            let start = [(); 2].map(|()| HALF_SIDE * symmetric(&mut starts));
            let step = |state: &mut [f64; 2], sigma, dt| euler_maruyama(downhill, sigma, state, dt, &mut noise);
            pairs.push_trajectory(&self.states(start, length, step));
        }
        Ok(pairs)
    }

    fn states(&self, start: [f64; 2], steps: usize, mut step: impl FnMut(&mut [f64; 2], f64, f64)) -> Vec<[f64; 2]> {
        let (sigma, dt) = ((2.0 / self.beta).sqrt(), self.interval / self.substeps as f64);
        let (mut state, mut states) = (start, Vec::with_capacity(steps + 1));
        states.push(state);
        for _ in 0..steps {
            (0..self.substeps).for_each(|_| step(&mut state, sigma, dt));
            states.push(state);
        }
        states
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::require(self.beta > 0.0 && self.beta.is_finite(), "beta", "positive and finite", self.beta)?;
        ParameterError::require(
            self.interval > 0.0 && self.interval.is_finite(),
            "interval",
            "positive and finite",
            self.interval,
        )?;
        ParameterError::require(self.substeps > 0, "substeps", "at least 1", self.substeps as f64)?;
        let step = self.interval / self.substeps as f64;
        ParameterError::require(step <= 0.04, "interval/substeps", "at most 0.04; take more substeps", step).map(drop)
    }
}

/// `−∇V`.
fn downhill(x: &[f64; 2]) -> [f64; 2] {
    x.map(|x| -4.0 * x * (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drift_is_the_slope_of_the_potential() {
        let (x, h) = ([0.3, -1.7], 1e-6);
        let slope = |i: usize| {
            let at = |by: f64| FourWells::potential(std::array::from_fn(|j| x[j] + if i == j { by } else { 0.0 }));
            (at(h) - at(-h)) / (2.0 * h)
        };
        let drift = downhill(&x);
        assert!((drift[0] + slope(0)).abs() < 1e-8 && (drift[1] + slope(1)).abs() < 1e-8);
        assert_eq!(FourWells::potential([1.0, -1.0]), 0.0);
        assert_eq!([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]].map(FourWells::well), [0, 1, 2, 3]);
    }

    /// At rest each coordinate has the density ∝ exp(−β(x² − 1)²).
    #[test]
    fn a_long_run_has_the_law_of_rest() {
        let wells = FourWells::default();
        let walk = wells.trajectory([1.0, 1.0], 100_000, 5).unwrap();
        let measured = walk.iter().flatten().map(|x| x * x).sum::<f64>() / (2 * walk.len()) as f64;
        let grid = (-3000..=3000).map(|i| f64::from(i) / 1000.0);
        let weighed: Vec<(f64, f64)> = grid.map(|x| (x, (-4.0 * (x * x - 1.0).powi(2)).exp())).collect();
        let expected =
            weighed.iter().map(|(x, w)| x * x * w).sum::<f64>() / weighed.iter().map(|(_, w)| w).sum::<f64>();
        assert!((measured - expected).abs() < 0.01, "{measured} {expected}");
        let crossings = walk.windows(2).filter(|pair| FourWells::well(pair[0]) != FourWells::well(pair[1])).count();
        assert!((500..5000).contains(&crossings), "{crossings} jumps in a time of 10,000");
    }

    #[test]
    fn pairs_are_trajectories_and_a_longer_run_has_more_of_them() {
        let wells = FourWells::default();
        let pairs = wells.pairs(3, 4, 1).unwrap();
        let rows: Vec<_> = pairs.iter().collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[0].1, rows[1].0);
        assert_ne!(rows[3].1, rows[4].0);
        let mut longer = wells.pairs(5, 4, 1).unwrap();
        longer.truncate(12);
        assert_eq!(longer, pairs);
        assert_ne!(wells.pairs(3, 4, 2).unwrap(), pairs);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let message = |wells: FourWells| wells.pairs(1, 1, 0).unwrap_err().to_string();
        let default = FourWells::default();
        assert!(message(FourWells { beta: 0.0, ..default }).starts_with("beta must be "));
        assert!(message(FourWells { interval: f64::NAN, ..default }).ends_with(", got NaN"));
        assert!(message(FourWells { substeps: 0, ..default }).starts_with("substeps must be "));
        assert!(message(FourWells { substeps: 1, ..default }).contains("take more substeps"));
    }
}
