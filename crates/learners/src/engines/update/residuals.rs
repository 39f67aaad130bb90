//! The noise as a least-squares fit sees it, from which the variance of its predictions follows.
//!
//! Ridge regression is the posterior mean of the model `y = wᵀφ + ε`, `ε ~ N(0, σ²)`,
//! `w ~ N(0, σ²I/λ)`. Given the rounds before, a target is then distributed as `N(z, σ²(1 + s))`,
//! `z` being the value of the fit and `s = φᵀPφ` (Rasmussen and Williams 2006, eq. 2.9, with `σ²P`
//! the covariance of `w`). The product of these densities over the rounds is the marginal
//! likelihood of all targets, which `σ²` maximises at
//!
//! ```text
//! σ̂² = Σ ω e²/(1 + ωs) / Σ ω,    e = y − z before the target was learnt,
//! ```
//!
//! a weight `ω` counting as `ω` rows with one input and one target. No row is predicted from
//! itself, so the estimate needs no correction for the number of coordinates. KRLS-T scales its
//! variance in this way (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012). Where the fit
//! forgets by `γ`, both sums do, and what they have forgotten counts as one more row with the mean
//! error of all that was forgotten. On a stretch without error the estimate therefore falls to
//! about `1 − γ` of what it was, and not to 0. A round that is interpolated because there is no
//! prior (`λ = 0`) says nothing of the noise and is left out.
//!
//! The estimate is that of the noise and of the model's own misfit alike: what a small dictionary
//! cannot follow counts as noise.

use mercer_core::{Inconsistent, Validate};

use super::make_room;

/// `Σ ω e²/(1 + ωs)` for each output, and `Σ ω`. The default has seen nothing.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Residuals {
    sums: Vec<f64>,
    weight: f64,
    /// The forgotten part of both.
    past: Vec<f64>,
    past_weight: f64,
}

impl Residuals {
    /// `Σ ω e²/(1 + ωs)` of each output over rounds of this weight together.
    pub(crate) fn from_sums(sums: &[f64], weight: f64) -> Self {
        let clamped = |value: &f64| value.clamp(0.0, f64::MAX);
        Self { sums: sums.iter().map(clamped).collect(), weight: clamped(&weight), ..Self::default() }
    }

    /// `Σ ω`, once there is an estimate.
    pub(crate) fn weight(&self) -> Option<f64> {
        Some(self.weight).filter(|weight| *weight > 0.0 && !self.sums.is_empty())
    }

    /// Takes in a round of weight `ω` with `ω e²/(1 + ωs)` for each output, after the sums were
    /// multiplied by `keep`. They stay in the range of numbers whatever the targets.
    #[inline(always)]
    pub(crate) fn record(&mut self, keep: f64, weight: f64, squares: impl ExactSizeIterator<Item = f64>) {
        make_room(&mut self.sums, squares.len());
        if keep < 1.0 {
            make_room(&mut self.past, squares.len());
            for (past, sum) in self.past.iter_mut().zip(&self.sums) {
                *past = (*past + (1.0 - keep) * sum).min(f64::MAX);
            }
            self.past_weight = (self.past_weight + (1.0 - keep) * self.weight).min(f64::MAX);
        }
        for (sum, square) in self.sums.iter_mut().zip(squares) {
            *sum = (keep * *sum + square.max(0.0)).min(f64::MAX);
        }
        self.weight = (keep * self.weight + weight).min(f64::MAX);
    }

    /// `σ̂²` of an output, once there is an estimate.
    pub(crate) fn noise(&self, output: usize) -> Option<f64> {
        self.sums.get(output).filter(|_| self.weight > 0.0)?;
        Some(self.estimate(output))
    }

    /// `σ̂²` of an output that there is, once there is a weight.
    fn estimate(&self, output: usize) -> f64 {
        let sum = self.sums[output];
        if self.past_weight == 0.0 {
            return sum / self.weight;
        }
        let before = self.past.get(output).map_or(0.0, |past| past / self.past_weight);
        // A weight of all rounds below 1 is one that they had from the start.
        let one = self.past_weight.min(1.0);
        (sum + one * before) / (self.weight + one)
    }

    /// `σ̂²(1 + s)` for each output, `f64::MAX` at most; NaN, and the answer false, before there is
    /// an estimate.
    pub(crate) fn variances(&self, s: f64, variances: &mut [f64]) -> bool {
        let known = self.weight > 0.0 && self.sums.len() == variances.len();
        if !known {
            variances.fill(f64::NAN);
            return false;
        }
        for (output, variance) in variances.iter_mut().enumerate() {
            *variance = (self.estimate(output) * (1.0 + s.max(0.0))).min(f64::MAX);
        }
        true
    }

    /// Takes over the rounds of another before its own.
    pub(crate) fn follow(&mut self, earlier: &Self) {
        if self.sums.is_empty() {
            self.sums.resize(earlier.sums.len(), 0.0);
        }
        self.past.resize(earlier.past.len().max(self.past.len()), 0.0);
        self.past.iter_mut().zip(&earlier.past).for_each(|(past, before)| *past = (*past + before).min(f64::MAX));
        self.past_weight = (self.past_weight + earlier.past_weight).min(f64::MAX);
        self.sums.iter_mut().zip(&earlier.sums).for_each(|(sum, before)| *sum = (*sum + before).min(f64::MAX));
        self.weight = (self.weight + earlier.weight).min(f64::MAX);
    }

    /// Gains an output with the errors of output `like`, or with none.
    pub(crate) fn add_output(&mut self, like: Option<usize>) {
        if !self.sums.is_empty() {
            self.sums.push(like.and_then(|like| self.sums.get(like).copied()).unwrap_or(0.0));
        }
        if !self.past.is_empty() {
            self.past.push(like.and_then(|like| self.past.get(like).copied()).unwrap_or(0.0));
        }
    }

    /// True if it can be that of so many outputs.
    pub(crate) fn fits(&self, outputs: usize) -> bool {
        [&self.sums, &self.past].iter().all(|sums| sums.is_empty() || sums.len() == outputs)
    }
}

impl Validate for Residuals {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.sums.iter().try_for_each(|sum| Inconsistent::non_negative(*sum, "sum of squared residuals"))?;
        self.past.iter().try_for_each(|sum| Inconsistent::non_negative(*sum, "sum of forgotten residuals"))?;
        Inconsistent::non_negative(self.past_weight, "weight of the forgotten residuals")?;
        Inconsistent::non_negative(self.weight, "weight of the residuals")
    }
}
