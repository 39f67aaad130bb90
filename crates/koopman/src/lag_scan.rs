//! Operators of several lags side by side: implied time scales, and the test of Chapman and
//! Kolmogorov.
//!
//! If the state tells all that matters, the operator of `k` steps is the `k`-th power of that of
//! one: eigenvalues are `μᵏ`, and the time scales `−k/ln|μ(k)|` do not depend on the lag. Where
//! they rise with it, the state misses something that is slow.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use mercer_core::ParameterError;

use crate::sums::{Mode, OperatorSums, OperatorSumsParams, Reason, Reliability};
use crate::{Eigenvalue, Error};

/// Spreads within which a power is the eigenvalue of a lag.
const WITHIN: f64 = 2.0;
/// Differences below this are rounding.
const ROUNDING: f64 = 1e-6;

/// Learners of the pairs `(x_t, x_{t+k})` for several lags `k`, fed with the pairs of one step.
///
/// # Invariants
/// The lags ascend, and there is a learner for each; `path` ends with the newest state, and has no
/// more states than the largest lag needs.
#[derive(Clone, Debug)]
pub struct LagScan {
    lags: Vec<usize>,
    learners: Vec<OperatorSums>,
    path: VecDeque<Vec<f64>>,
}

/// An eigenvalue at a lag beside the power of that at the shortest lag.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LagMode {
    /// Steps.
    pub lag: usize,
    /// The mode of the shortest lag that it is compared with, from 1; the constant is left out.
    pub mode: usize,
    /// The eigenvalue at this lag nearest to the power, and its spread.
    pub value: Eigenvalue,
    /// See [`Mode::spread`].
    pub spread: f64,
    /// `μ^(k/k₀)` of the shortest lag `k₀`, and its spread.
    pub power: Eigenvalue,
    /// That of the power, to first order.
    pub power_spread: f64,
    /// True if they agree within two spreads; `None` where both are within two spreads of 0.
    pub agrees: Option<bool>,
}

impl LagScan {
    /// States of `state` numbers, at lags that are sorted here.
    ///
    /// # Errors
    /// When there is no lag, or a parameter is out of its range.
    pub fn new(state: usize, lags: &[NonZeroUsize], params: OperatorSumsParams) -> Result<Self, Error> {
        let mut lags: Vec<usize> = lags.iter().map(|lag| lag.get()).collect();
        lags.sort_unstable();
        lags.dedup();
        ParameterError::at_least_one("lags", lags.len())?;
        let learners = lags.iter().map(|_| OperatorSums::new(state, 0, params)).collect::<Result<_, _>>()?;
        Ok(Self { lags, learners, path: VecDeque::new() })
    }

    /// The lags in ascending order.
    #[must_use]
    pub fn lags(&self) -> &[usize] {
        &self.lags
    }

    /// Pairs of each lag so far.
    #[must_use]
    pub fn rounds(&self) -> Vec<u64> {
        self.learners.iter().map(OperatorSums::rounds).collect()
    }

    /// Takes a pair of one step. Where `x` is not the `x⁺` before, another path begins.
    ///
    /// # Errors
    /// Those of [`OperatorSums::update`].
    pub fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<(), Error> {
        if self.path.back().is_none_or(|last| last != x) {
            self.path.clear();
            self.path.push_back(x.to_vec());
        }
        let most = self.lags[self.lags.len() - 1];
        if self.path.len() > most {
            self.path.pop_front();
        }
        self.path.push_back(x_plus.to_vec());
        let newest = self.path.len() - 1;
        for (lag, learner) in self.lags.iter().zip(&mut self.learners) {
            if let Some(before) = newest.checked_sub(*lag) {
                learner.update(&self.path[before], x_plus)?;
            }
        }
        Ok(())
    }

    /// The `count` leading modes of the shortest lag with what becomes of them at each lag, mode by
    /// mode. Of a complex pair the first tells it all.
    ///
    /// # Errors
    /// As [`OperatorSums::model`].
    pub fn modes(&self, count: usize) -> Result<Vec<LagMode>, Error> {
        let mut spectra = Vec::with_capacity(self.lags.len());
        for learner in &self.learners {
            spectra.push(learner.plain_modes(count)?);
        }
        let is_first = |mode: &&Mode| {
            mode.reason != Reason::Constant && mode.reliability != Reliability::Unreliable && mode.value.im >= 0.0
        };
        let mut found = Vec::new();
        for (k, first) in spectra[0].iter().filter(is_first).take(count).enumerate() {
            for (lag, spectrum) in self.lags.iter().zip(&spectra) {
                let times = *lag as f64 / self.lags[0] as f64;
                let power = power(first.value, times);
                let away = |mode: &&Mode| (mode.value.re - power.re).hypot(mode.value.im - power.im);
                let others = spectrum.iter().filter(|mode| mode.reason != Reason::Constant);
                let Some(nearest) = others.min_by(|a, b| away(a).total_cmp(&away(b))) else { continue };
                // |d μⁿ| = n |μ|ⁿ⁻¹ |dμ|
                let power_spread = times * first.value.modulus().powf(times - 1.0) * first.spread;
                let spread = nearest.spread.hypot(power_spread);
                let told = power.modulus().max(nearest.value.modulus()) > WITHIN * spread;
                let near = away(&nearest) <= (WITHIN * spread).max(ROUNDING);
                found.push(LagMode {
                    lag: *lag,
                    mode: k + 1,
                    value: nearest.value,
                    spread: nearest.spread,
                    power,
                    power_spread,
                    agrees: told.then_some(near),
                });
            }
        }
        Ok(found)
    }
}

/// `μⁿ` on the branch of the least angle.
fn power(value: Eigenvalue, n: f64) -> Eigenvalue {
    let (modulus, angle) = (value.modulus().powf(n), value.im.atan2(value.re) * n);
    // A negative number has no root of its own; whole powers are exact.
    Eigenvalue {
        re: modulus * angle.cos(),
        im: if value.im == 0.0 && n.fract() == 0.0 { 0.0 } else { modulus * angle.sin() },
    }
}
