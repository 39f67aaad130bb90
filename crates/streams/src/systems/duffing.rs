//! The unforced Duffing oscillator.
//!
//! `z̈ = −δż − z(β + αz²)`, state `x = (z, ż)`. With the default δ = 0.5, β = −1, α = 1 the points
//! (±1, 0) attract and (0, 0) is a saddle: the plane falls into two regions of attraction, wound
//! around each other. Integrated by Runge–Kutta with steps of at most 0.01. Source: Hou, Sanjari,
//! Dahlin, Koppel, Bose, *Nonparametric Sparse Online Learning of the Koopman Operator*, section
//! 7.1.

use mercer_core::ParameterError;

use crate::random::{START_STREAM, generator, symmetric};

use super::Pairs;
use super::integrate::rk4;

/// Half the side of the square on which trajectories start.
const HALF_SIDE: f64 = 2.0;
/// The longest step of the integrator.
const LONGEST_STEP: f64 = 0.01;
/// Time for which [`Duffing::attractor`] follows a state before it gives up.
const PATIENCE: f64 = 200.0;

/// The oscillator. Its default is the paper's, sampled every 0.25.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Duffing {
    /// Damping δ, ≥ 0.
    pub delta: f64,
    /// Linear stiffness β.
    pub beta: f64,
    /// Cubic stiffness α, > 0.
    pub alpha: f64,
    /// Time between a state and its successor, > 0.
    pub interval: f64,
}

impl Default for Duffing {
    fn default() -> Self {
        Self { delta: 0.5, beta: -1.0, alpha: 1.0, interval: 0.25 }
    }
}

impl Duffing {
    /// The states at times 0, `interval`, …, `steps · interval`.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter out of range.
    pub fn trajectory(&self, start: [f64; 2], steps: usize) -> Result<Vec<[f64; 2]>, ParameterError> {
        self.check()?;
        Ok(self.states(start, steps))
    }

    /// The pairs of `trajectories` trajectories one after another, `length` pairs each, which start
    /// uniformly on [−2, 2]².
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn pairs(&self, trajectories: usize, length: usize, seed: u64) -> Result<Pairs, ParameterError> {
        self.check()?;
        let (mut starts, mut pairs) = (generator(seed, START_STREAM), Pairs::new(2, 2));
        for _ in 0..trajectories {
            let start = [(); 2].map(|()| HALF_SIDE * symmetric(&mut starts));
            pairs.push_trajectory(&self.states(start, length));
        }
        Ok(pairs)
    }

    /// The sign of the point (±√(−β/α), 0) that attracts this state, or `None` if there are no two
    /// such points or neither is reached, as from the saddle.
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn attractor(&self, start: [f64; 2]) -> Result<Option<f64>, ParameterError> {
        self.check()?;
        if self.beta >= 0.0 || self.delta == 0.0 {
            return Ok(None);
        }
        // Below the saddle's energy there is no way from one well into the other, and damping only
        // takes energy away.
        let energy =
            |x: &[f64; 2]| x[1] * x[1] / 2.0 + x[0] * x[0] * (self.beta / 2.0 + self.alpha * x[0] * x[0] / 4.0);
        let mut state = start;
        for _ in 0..(PATIENCE / self.interval).ceil() as usize {
            if energy(&state) < 0.0 {
                return Ok(Some(state[0].signum()));
            }
            self.advance(&mut state);
        }
        Ok(None)
    }

    fn states(&self, start: [f64; 2], steps: usize) -> Vec<[f64; 2]> {
        let (mut state, mut states) = (start, Vec::with_capacity(steps + 1));
        states.push(state);
        for _ in 0..steps {
            self.advance(&mut state);
            states.push(state);
        }
        states
    }

    /// One interval onward.
    fn advance(&self, state: &mut [f64; 2]) {
        let field = |x: &[f64; 2]| [x[1], -self.delta * x[1] - x[0] * (self.beta + self.alpha * x[0] * x[0])];
        let steps = (self.interval / LONGEST_STEP).ceil();
        (0..steps as usize).for_each(|_| rk4(field, state, self.interval / steps));
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::require(
            self.delta >= 0.0 && self.delta.is_finite(),
            "delta",
            "at least 0 and finite",
            self.delta,
        )?;
        ParameterError::require(self.beta.is_finite(), "beta", "finite", self.beta)?;
        ParameterError::require(
            self.alpha > 0.0 && self.alpha.is_finite(),
            "alpha",
            "positive and finite",
            self.alpha,
        )?;
        let allowed = "positive and at most 1000";
        ParameterError::require(self.interval > 0.0 && self.interval <= 1000.0, "interval", allowed, self.interval)
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without damping the energy is conserved.
    #[test]
    fn energy_is_conserved_without_damping() {
        let energy = |[z, v]: [f64; 2]| v * v / 2.0 - z * z / 2.0 + z.powi(4) / 4.0;
        let walk = Duffing { delta: 0.0, ..Duffing::default() }.trajectory([1.5, -1.0], 400).unwrap();
        let drift = walk.iter().map(|state| (energy(*state) - energy(walk[0])).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-6, "{drift}");
        assert!(walk.iter().any(|state| state[0] < -1.0), "over the saddle and back");
    }

    #[test]
    fn the_attractor_is_where_a_long_run_ends() {
        let duffing = Duffing::default();
        for start in [[2.0, 2.0], [-2.0, 2.0], [-1.0, 1.5], [0.1, 0.0], [-0.1, 0.0], [0.5, -1.2], [2.0, -2.0]] {
            let end = *duffing.trajectory(start, 400).unwrap().last().unwrap();
            let sign = duffing.attractor(start).unwrap().unwrap();
            assert!((end[0] - sign).abs() < 1e-6 && end[1].abs() < 1e-6, "{start:?}: {end:?}");
            // The equations are odd.
            assert_eq!(duffing.attractor(start.map(|x| -x)).unwrap(), Some(-sign));
        }
        assert_eq!(duffing.attractor([0.0, 0.0]).unwrap(), None);
        assert_eq!(Duffing { beta: 1.0, ..duffing }.attractor([1.0, 0.0]).unwrap(), None);
    }

    #[test]
    fn pairs_start_on_the_square() {
        let pairs = Duffing::default().pairs(200, 5, 9).unwrap();
        assert_eq!(pairs.len(), 1000);
        assert!(pairs.iter().step_by(5).all(|(x, _)| x.iter().all(|x| x.abs() <= 2.0)));
        let (x, next) = pairs.iter().next().unwrap();
        assert_eq!(Duffing::default().trajectory([x[0], x[1]], 1).unwrap()[1], next);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let message = |duffing: Duffing| duffing.trajectory([0.0, 0.0], 1).unwrap_err().to_string();
        let default = Duffing::default();
        assert!(message(Duffing { delta: -1.0, ..default }).starts_with("delta must be "));
        assert!(message(Duffing { beta: f64::NAN, ..default }).ends_with(", got NaN"));
        assert!(message(Duffing { alpha: 0.0, ..default }).starts_with("alpha must be "));
        assert!(message(Duffing { interval: 1e9, ..default }).starts_with("interval must be "));
    }
}
