//! Lorenz's three equations: `ẋ = σ(y − x)`, `ẏ = x(ρ − z) − y`, `ż = xy − βz`.
//!
//! With the default σ = 10, ρ = 28, β = 8/3 every trajectory comes to a chaotic attractor, on which
//! neighbours part at the rate 0.9056 (Lyapunov's exponent): what can be forecast is told in
//! Lyapunov times of 1.104. Integrated by Runge–Kutta with steps of at most 0.005. Source: Lorenz,
//! *Deterministic Nonperiodic Flow*, J. Atmos. Sci. 20 (1963).

use mercer_core::ParameterError;

use crate::random::{START_STREAM, generator, symmetric};

use super::integrate::rk4;

/// The longest step of the integrator.
const LONGEST_STEP: f64 = 0.005;
/// Time given to a trajectory to come to the attractor.
const ARRIVAL: f64 = 20.0;

/// The system, sampled every `interval`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lorenz {
    /// Prandtl's number σ, > 0.
    pub sigma: f64,
    /// Rayleigh's number relative to its critical value ρ, > 0.
    pub rho: f64,
    /// β, > 0.
    pub beta: f64,
    /// Time between a state and its successor, > 0.
    pub interval: f64,
}

impl Default for Lorenz {
    fn default() -> Self {
        Self { sigma: 10.0, rho: 28.0, beta: 8.0 / 3.0, interval: 0.05 }
    }
}

impl Lorenz {
    /// Lyapunov's exponent of the default system.
    pub const LYAPUNOV_EXPONENT: f64 = 0.9056;

    /// The states at times 0, `interval`, …, `steps · interval`.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter out of range.
    pub fn trajectory(&self, start: [f64; 3], steps: usize) -> Result<Vec<[f64; 3]>, ParameterError> {
        self.check()?;
        let (mut state, mut states) = (start, Vec::with_capacity(steps + 1));
        states.push(state);
        for _ in 0..steps {
            self.advance(&mut state, self.interval);
            states.push(state);
        }
        Ok(states)
    }

    /// A state on the attractor: where a random one is after a time of 20.
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn on_the_attractor(&self, seed: u64) -> Result<[f64; 3], ParameterError> {
        self.check()?;
        let mut starts = generator(seed, START_STREAM);
        let mut state = [0.0, 0.0, 25.0].map(|centre| centre + 10.0 * symmetric(&mut starts));
        self.advance(&mut state, ARRIVAL);
        Ok(state)
    }

    /// A time `interval` onward.
    fn advance(&self, state: &mut [f64; 3], interval: f64) {
        let field = |&[x, y, z]: &[f64; 3]| [self.sigma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z];
        let steps = (interval / LONGEST_STEP).ceil();
        (0..steps as usize).for_each(|_| rk4(field, state, interval / steps));
    }

    fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in [("sigma", self.sigma), ("rho", self.rho), ("beta", self.beta)] {
            ParameterError::require(value > 0.0 && value.is_finite(), name, "positive and finite", value)?;
        }
        let allowed = "positive and at most 1000";
        ParameterError::require(self.interval > 0.0 && self.interval <= 1000.0, "interval", allowed, self.interval)
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_points_rest_and_neighbours_part_at_lyapunovs_rate() {
        let lorenz = Lorenz::default();
        let side = 72f64.sqrt();
        let end = lorenz.trajectory([side, side, 27.0], 20).unwrap()[20];
        assert!((end[0] - side).abs() < 1e-10 && (end[2] - 27.0).abs() < 1e-10);
        let (mut a, mut logarithm) = (lorenz.on_the_attractor(1).unwrap(), 0.0);
        let mut b = a.map(|x| x + 1e-8);
        let distance = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let mut gap = distance(&a, &b);
        for _ in 0..2000 {
            lorenz.advance(&mut a, 0.5);
            lorenz.advance(&mut b, 0.5);
            let wider = distance(&a, &b);
            logarithm += (wider / gap).ln();
            gap = 1e-8;
            b = std::array::from_fn(|i| a[i] + gap / wider * (b[i] - a[i]));
        }
        let rate = logarithm / 1000.0;
        assert!((rate - Lorenz::LYAPUNOV_EXPONENT).abs() < 0.03, "{rate}");
    }

    #[test]
    fn seeds_are_states_of_the_attractor() {
        let lorenz = Lorenz::default();
        let states: Vec<_> = (0..20).map(|seed| lorenz.on_the_attractor(seed).unwrap()).collect();
        assert!(states.iter().all(|[x, y, z]| x.abs() < 21.0 && y.abs() < 29.0 && (0.0..50.0).contains(z)));
        assert_ne!(states[0], states[1]);
        assert_eq!(states[3], lorenz.on_the_attractor(3).unwrap());
        let message = Lorenz { rho: -1.0, ..lorenz }.trajectory([1.0; 3], 1).unwrap_err().to_string();
        assert_eq!(message, "rho must be positive and finite, got -1");
        assert!(Lorenz { interval: 0.0, ..lorenz }.on_the_attractor(0).is_err());
    }
}
