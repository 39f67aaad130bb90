//! Operators of several lags side by side: implied time scales, and the test of Chapman and
//! Kolmogorov.
//!
//! If the state tells all that matters, the operator of `k` steps is the `k`-th power of that of
//! one: eigenvalues are `μᵏ`, and the time scales `−k/ln|μ(k)|` do not depend on the lag. Where
//! they rise with it, the state misses something that is slow.
//!
//! **Bias.** An eigenfunction of which the state sees the part `α` has `μ(k) = αμᵏ`, so that the
//! rate `−ln|μ(k)|/k` is off by `c/k`. Of that a lag `j` shows `|c/k − c/j|`, and `j/|j − k|` times
//! the change is what the rate at lag `k` is off by. Changes beyond chance widen the spread.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use mercer_core::ParameterError;

use crate::sums::{Mode, OperatorSums, OperatorSumsParams, Reason, Reliability};
use crate::{Eigenvalue, Error};

/// Spreads within which a power is the eigenvalue of a lag.
const WITHIN: f64 = 2.0;
/// Differences below this are rounding.
const ROUNDING: f64 = 1e-6;
/// The most that a change between lags is multiplied by: that of lags near each other is chance.
const MOST_FACTOR: f64 = 2.0;

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
    /// The eigenvalue at this lag nearest to the power; of the slowest mode, if that is real, the
    /// largest one that exceeds it by more than chance.
    pub value: Eigenvalue,
    /// Standard error of its modulus: that of chance, and [`bias`](Self::bias).
    pub spread: f64,
    /// The part of the spread that is bias: the change of the time scale to other lags that chance
    /// does not explain, and as for [`Mode::spread`] the change from half of the points of a full
    /// dictionary, or half the residual for a deterministic system.
    pub bias: f64,
    /// `μ^(k/k₀)` of the shortest lag `k₀`.
    pub power: Eigenvalue,
    /// Its standard error by chance, to first order.
    pub power_spread: f64,
    /// True if they agree within two standard errors of chance alone; `None` where both are within
    /// two of 0.
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
        let is_first = |(mode, _): &&(Mode, f64)| {
            mode.reason != Reason::Constant && mode.reliability != Reliability::Unreliable && mode.value.im >= 0.0
        };
        let mut found = Vec::new();
        for (k, (first, _)) in spectra[0].iter().filter(is_first).take(count).enumerate() {
            let lags = self.lags.iter().zip(&spectra);
            let mut own: Vec<LagMode> = lags
                .filter_map(|(lag, spectrum)| LagMode::new((*lag, self.lags[0]), (k + 1, first), spectrum))
                .collect();
            widen(&mut own);
            found.extend(own);
        }
        Ok(found)
    }
}

impl LagMode {
    /// What becomes of mode `number` of the shortest lag at lag `lag`; the bias is that of its
    /// function, and the spread that of chance.
    fn new((lag, shortest): (usize, usize), (number, first): (usize, &Mode), at: &[(Mode, f64)]) -> Option<Self> {
        let times = lag as f64 / shortest as f64;
        let power = power(first.value, times);
        let away = |mode: &Mode| (mode.value.re - power.re).hypot(mode.value.im - power.im);
        // |d μⁿ| = n |μ|ⁿ⁻¹ |dμ|
        let power_spread = times * first.value.modulus().powf(times - 1.0) * first.spread;
        let others = || at.iter().filter(|(mode, _)| mode.reason != Reason::Constant);
        // What is slower than the slowest mode is that mode itself, of which a lag sees more: among
        // faster ones there is always one that is nearer to too small a power.
        let slower = others().filter(|(mode, _)| {
            let chance = mode.spread.hypot(power_spread);
            let is_alike = number == 1 && power.im == 0.0 && mode.value.im == 0.0 && power.re > 0.0;
            is_alike && mode.reliability != Reliability::Unreliable && mode.value.re - power.re > WITHIN * chance
        });
        let slowest = slower.max_by(|(a, _), (b, _)| a.value.re.total_cmp(&b.value.re));
        let nearest = || others().min_by(|(a, _), (b, _)| away(a).total_cmp(&away(b)));
        let (nearest, bias) = slowest.or_else(nearest)?;
        let spread = nearest.spread.hypot(power_spread);
        let told = power.modulus().max(nearest.value.modulus()) > WITHIN * spread;
        let near = away(nearest) <= (WITHIN * spread).max(ROUNDING);
        Some(Self {
            lag,
            mode: number,
            value: nearest.value,
            spread: nearest.spread,
            bias: *bias,
            power,
            power_spread,
            agrees: told.then_some(near),
        })
    }

    /// `−ln|μ(k)|/k` and its standard error; `None` where the modulus is within two spreads of 0.
    fn rate(&self) -> Option<(f64, f64)> {
        let (modulus, lag) = (self.value.modulus(), self.lag as f64);
        (modulus > WITHIN * self.spread).then(|| (-modulus.ln() / lag, self.spread / (lag * modulus)))
    }
}

/// Adds what is seen of bias to the spreads of a mode at all lags, which are those of chance.
fn widen(own: &mut [LagMode]) {
    let rates: Vec<_> = own.iter().map(|mode| (mode.lag as f64, mode.rate())).collect();
    for mode in own {
        let (lag, rate) = (mode.lag as f64, mode.rate());
        let off = |(other, there): &(f64, Option<(f64, f64)>)| {
            let ((here, error), (there, its)) = (rate?, (*there)?);
            let (change, chance) = ((here - there).abs(), error.hypot(its));
            let told = *other != lag && change > WITHIN * chance && change > ROUNDING;
            let factor = (other / (other - lag).abs()).min(MOST_FACTOR);
            told.then(|| factor * (change * change - chance * chance).sqrt())
        };
        let off = rates.iter().filter_map(off).fold(0.0, f64::max);
        mode.bias = mode.bias.hypot((mode.value.modulus() * (off * lag).exp_m1()).min(1.0));
        mode.spread = mode.spread.hypot(mode.bias);
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
