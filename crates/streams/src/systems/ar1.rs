//! The autoregression of order one: `x⁺ = ax + sξ`, ξ standard normal.
//!
//! For |a| < 1 its law at rest is normal with variance `s²/(1 − a²)`. [`Ar1::chain`] puts it on a
//! grid, where every operator is a matrix and every limit can be computed.

use mercer_core::ParameterError;

use crate::random::{NOISE_STREAM, START_STREAM, generator, standard_normal};

use super::{FiniteChain, Pairs};

/// The process. Its default has variance 1 at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ar1 {
    /// Coefficient a, between −1 and 1.
    pub coefficient: f64,
    /// Standard deviation s of the innovations, > 0.
    pub deviation: f64,
}

impl Default for Ar1 {
    fn default() -> Self {
        Self { coefficient: 0.8, deviation: 0.6 }
    }
}

impl Ar1 {
    /// The `n` pairs of one trajectory that starts at rest.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter out of range.
    pub fn pairs(&self, n: usize, seed: u64) -> Result<Pairs, ParameterError> {
        self.check()?;
        let (mut starts, mut noise) = (generator(seed, START_STREAM), generator(seed, NOISE_STREAM));
        let mut pairs = Pairs::new(1, 1);
        let mut x = standard_normal(&mut starts) * self.deviation / (1.0 - self.coefficient.powi(2)).sqrt();
        for _ in 0..n {
            let next = self.coefficient * x + self.deviation * standard_normal(&mut noise);
            pairs.push(&[x], &[next]);
            x = next;
        }
        Ok(pairs)
    }

    /// The process on `points` equally spaced points of [−`bound`, `bound`]: from a point x, a
    /// point z is reached with probability `∝ exp(−(z − ax)²/2s²)`.
    ///
    /// # Errors
    /// [`ParameterError`] for a parameter out of range, fewer than two points, or a bound that is
    /// not positive and at most a thousand deviations (farther out a whole row of probabilities can
    /// be zero).
    pub fn chain(&self, points: usize, bound: f64) -> Result<FiniteChain, ParameterError> {
        self.check()?;
        ParameterError::require(points >= 2, "points", "at least 2", points as f64)?;
        let allowed = "positive and at most 1000 deviations";
        ParameterError::require(bound > 0.0 && bound <= 1000.0 * self.deviation, "bound", allowed, bound)?;
        let spacing = 2.0 * bound / (points - 1) as f64;
        let states: Vec<f64> = (0..points).map(|i| -bound + spacing * i as f64).collect();
        let mut transition = Vec::with_capacity(points * points);
        for x in &states {
            let exponent = |z: &f64| -((z - self.coefficient * x) / self.deviation).powi(2) / 2.0;
            // Relative to the largest, so that a coarse grid does not lose all of a row.
            let largest = states.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = states.iter().map(|z| (exponent(z) - largest).exp()).collect();
            let total: f64 = weights.iter().sum();
            transition.extend(weights.iter().map(|weight| weight / total));
        }
        FiniteChain::new(1, states, transition)
    }

    fn check(&self) -> Result<(), ParameterError> {
        let (a, s) = (self.coefficient, self.deviation);
        ParameterError::require(a.abs() < 1.0, "coefficient", "between -1 and 1", a)?;
        ParameterError::require(s > 0.0 && s.is_finite(), "deviation", "positive and finite", s).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_has_the_variance_and_the_correlation() {
        let pairs = Ar1::default().pairs(200_000, 1).unwrap();
        let n = pairs.len() as f64;
        let variance = pairs.iter().map(|(x, _)| x[0] * x[0]).sum::<f64>() / n;
        let covariance = pairs.iter().map(|(x, next)| x[0] * next[0]).sum::<f64>() / n;
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        assert!((covariance / variance - 0.8).abs() < 0.005, "{covariance}");
        let rows: Vec<_> = pairs.iter().take(3).collect();
        assert_eq!((rows[0].1, rows[1].1), (rows[1].0, rows[2].0));
    }

    /// On a fine grid that is wide enough the chain's law at rest is the process's.
    #[test]
    fn the_chain_is_the_process_on_a_grid() {
        let chain = Ar1::default().chain(161, 5.0).unwrap();
        assert_eq!((chain.len(), chain.state(0), chain.state(80)), (161, &[-5.0][..], &[0.0][..]));
        for (i, probability) in chain.stationary().into_iter().enumerate() {
            let x = chain.state(i)[0];
            let density = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
            assert!((probability / 0.0625 - density).abs() < 1e-5, "{x}: {probability}");
        }
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let default = Ar1::default();
        assert!(Ar1 { coefficient: 1.0, ..default }.pairs(1, 0).is_err());
        assert!(Ar1 { deviation: 0.0, ..default }.chain(3, 1.0).is_err());
        assert!(default.chain(1, 1.0).is_err());
        assert_eq!(
            default.chain(3, 1e9).unwrap_err().to_string(),
            "bound must be positive and at most 1000 deviations, got 1000000000"
        );
    }
}
