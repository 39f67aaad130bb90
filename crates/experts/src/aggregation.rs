//! Aggregation of experts: weights for `K` predictors that compete with the best of them, whatever
//! the data.
//!
//! Round: the mixture predicts `ŷ = Σ p_k ŷ_k`, the target `y` is shown, and every expert is
//! charged its *regret* `r_k = ℓ(ŷ) − ℓ(ŷ_k)` (positive when it was better than the mixture). For
//! the square loss the rules are fed the linearised regret `r_k = 2⟨ŷ − y, ŷ − ŷ_k⟩`
//! ([`square_loss_regret`]): it is at least the true one, so that a bound on `R_k = Σ r_k` is a
//! bound on the regret, and it makes the mixture compete with the best fixed convex combination.
//! Any `r` with `Σ p_k r_k ≤ 0` will do: every convex loss, linearised or not.
//!
//! No rule needs a horizon, the range of the losses or a rate. `K` is the number of experts,
//! `V_k = Σ r_k²`, and `b_t = max_{s≤t,k} |r_{k,s}|` the range seen so far.
//!
//! **Fixed share.** The bounds of [`Rule`] are against one expert for the whole stream. Where the
//! best one changes, [`Aggregation::sharing`] gives a part `α` of the weight to all experts after
//! each round, and bounds the regret against every sequence of experts.
//!
//! Cost: `O(K)` a round and in memory; nothing is allocated after construction.

mod recovery;
mod rule;
mod share;

use mercer_core::{Inconsistent, ParameterError, Validate};

use self::recovery::Recovery;
pub use self::rule::Rule;
use self::share::Sharing;
pub use self::share::{Share, UnknownShare};

use crate::Error;

/// Largest size of a regret that counts as finite: its square times any number of rounds is.
const LARGEST_REGRET: f64 = 1e100;

/// The linearised regret `2⟨ŷ − y, ŷ − ŷ_k⟩ ≥ ‖ŷ − y‖² − ‖ŷ_k − y‖²` of an expert that predicts
/// `expert` when the mixture predicts `mixture` and the target is `target`. One number each for
/// scalar outputs: `&[y]`.
#[must_use]
pub fn square_loss_regret(mixture: &[f64], target: &[f64], expert: &[f64]) -> f64 {
    2.0 * mixture.iter().zip(target).zip(expert).map(|((m, y), e)| (m - y) * (m - e)).sum::<f64>()
}

/// Weights of experts, learnt from their regrets.
///
/// An expert is *dropped*, with weight 0 from then on, when its regret is
/// NaN or below −1e100. In such a round, and in one with a regret above 1e100, all regrets are out
/// of scale, since the experts share the mixture the failed one took part in; so those that are
/// left start anew, from uniform weights, which costs at most one bound more. An expert known to
/// have failed before it did such harm leaves by [`Aggregation::drop_expert`], and the others keep
/// what they have learnt.
///
/// Invariants: weights are ≥ 0 and sum to 1; an expert that is not active has weight 0; at least
/// one is active.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Aggregation {
    rule: Rule,
    weights: Vec<f64>,
    active: Vec<bool>,
    /// `R_k`; for BOA its second-order surrogate.
    sums: Vec<f64>,
    /// `V_k`
    squares: Vec<f64>,
    /// `b_t`
    range: f64,
    /// AdaHedge's `Δ`.
    gap: f64,
    /// `None` where nothing is shared. Then `sums` are as said; else they are what makes the
    /// weights after the last share.
    sharing: Option<Sharing>,
    /// Factor that multiplies ML-Poly's sums before a round, as its distance from 1.
    forgets: f64,
    /// `None` where every round counts as it is.
    recovery: Option<Recovery>,
}

impl Validate for Aggregation {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "list of experts";
        let experts = self.weights.len();
        let lengths = [self.active.len(), self.sums.len(), self.squares.len()];
        let whole = experts > 0 && lengths == [experts; 3] && self.active.contains(&true);
        Inconsistent::require(whole, WHAT, "each has a weight and sums, and one is active")?;
        self.weights.validate()?;
        self.sums.validate()?;
        self.sharing.validate()?;
        self.recovery.validate()?;
        let forgets = (0.0..1.0).contains(&self.forgets) && (self.forgets == 0.0 || self.rule == Rule::MlPoly);
        Inconsistent::require(forgets, WHAT, "it forgets a share below 1, under ml-poly alone")?;
        let shared = self.sharing.is_none() || self.rule.shares();
        Inconsistent::require(shared, WHAT, "its rule is one that shares")?;
        self.squares
            .iter()
            .chain([&self.range, &self.gap])
            .try_for_each(|sum| Inconsistent::non_negative(*sum, WHAT))?;
        let kept = self.weights.iter().zip(&self.active).all(|(weight, active)| *weight == 0.0 || *active);
        let positive = self.weights.iter().all(|weight| *weight >= 0.0);
        let total: f64 = self.weights.iter().sum();
        let sound = kept && positive && (total - 1.0).abs() < 1e-9;
        Inconsistent::require(sound, WHAT, "weights are positive, sum to 1, and are 0 where an expert was dropped")
    }
}

impl Aggregation {
    /// Uniform weights on `experts` experts.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(experts: usize, rule: Rule) -> Result<Self, ParameterError> {
        let experts = ParameterError::at_least_one("experts", experts)?;
        Ok(Self {
            rule,
            weights: vec![1.0 / experts as f64; experts],
            active: vec![true; experts],
            sums: vec![0.0; experts],
            squares: vec![0.0; experts],
            range: 0.0,
            gap: 0.0,
            sharing: None,
            forgets: 0.0,
            recovery: None,
        })
    }

    /// The same, with a share of the weight for all experts after each round (fixed share; Herbster
    /// and Warmuth 1998). It may be set at any time; [`Share::Fixed`]`(0.0)` shares nothing.
    ///
    /// After a round, the weights `v` of the rule become `p_k ← (1 − α)v_k + α/K`, and the next
    /// round goes on from there: when it is made at the rate `η` and its weights at `η′`,
    /// `v_k ∝ p_k^{η′/η} exp(η′r_k)` (Cesa-Bianchi et al. 2012, section 5). `K` counts the experts
    /// not dropped.
    ///
    /// The regret `Σ r_{k_t,t}` against every sequence of experts `k_1, …, k_T` that changes `m`
    /// times is, with `c = m ln(K/α) + (T − 1 − m) ln 1/(1 − α)`, at most
    /// - *EWA*: `Δ(2 + c/ln K)`, where AdaHedge's `Δ` is at most `√(V ln K) + S(2/3 ln K + 1)` as
    ///   without a share;
    /// - *BOA*: `(ln K + c + W)/min η + Σ η_{k_t} r̄² + b`, with
    ///   `W = Σ_t ln(1 + Σ_j (η_{j,t−1}/η_{j,t} − 1)/(eK))`, which is `O(ln T)`. Here the share is
    ///   given to `p_k/η_k`.
    ///
    /// `α = m/T` makes `c` about `m(1 + ln(KT/m))`. [`Share::Decreasing`] has
    /// `c = m ln(KT) + ln T`, whatever `m` and `T` are. (The proofs are those of the papers, with
    /// the rules' own rates in them.) The weights of *ML-Poly* are not exponential, and no such
    /// bound is known: it refuses a share.
    ///
    /// # Errors
    /// When the share is not in `[0, 1)`, or not 0 under [`Rule::MlPoly`].
    pub fn sharing(mut self, share: Share) -> Result<Self, ParameterError> {
        self.sharing = Sharing::new(share)?;
        let first = self.sharing.map_or(0.0, |mut sharing| sharing.next());
        let allowed = self.sharing.is_none() || self.rule.shares();
        ParameterError::require(allowed, "share", "0 under the rule ml-poly; take the rule ewa or boa", first)?;
        Ok(self)
    }

    /// The same, where rounds count less with time: `R_k ← γR_k + r̄_k` and `V_k ← γV_k + r̄_k²`
    /// with `γ = 1 − 1/rounds`, so that the weights follow who was best in about the last `rounds`
    /// rounds. It is for [`Rule::MlPoly`], whose weights cannot be [shared](Self::sharing). No
    /// bound on the regret is claimed: put the forgetting mixture beside one that does not forget,
    /// into a mixture of the two, whose bound holds.
    ///
    /// # Errors
    /// When `rounds` is not above 1, or the rule is another.
    pub fn forgetting(mut self, rounds: f64) -> Result<Self, ParameterError> {
        ParameterError::require(rounds > 1.0, "rounds", "above 1", rounds)?;
        ParameterError::require(self.rule == Rule::MlPoly, "rounds", "for the rule ml-poly; take a share", rounds)?;
        self.forgets = 1.0 / rounds;
        Ok(self)
    }

    /// The same, where no round decides for good. The rules' rates fall with the largest regret
    /// ever seen, and their sums keep it; after one round out of all proportion they would need as
    /// many ordinary ones to tell the experts apart again.
    ///
    /// - *Rounds are weighed.* A round whose size `max_k |r_k|` is implausible by the sizes of late
    ///   has its regrets multiplied by `ω_t`, the square of the
    ///   [share](crate::OutlierScreen::share) of that size: twice what is plausible counts half as
    ///   much as the largest that is, and what is beyond all measure nothing. Since `Σ p_k r_k ≤ 0`
    ///   is kept, the bounds of the rules hold for `Σ ω_t r_{k,t}`: they are those of the stream in
    ///   which the round has the weight `ω_t`, with the range of plausible rounds. Where sizes stay
    ///   within ten times those of late, all `ω_t` are 1 and every weight is the same to the bit.
    /// - *What was outgrown is left.* Where the sizes of the last 1000 rounds or more are below a
    ///   millionth of the largest before, the experts start anew from uniform weights. The regret
    ///   of the whole is then that of its parts: at most one bound more for each time, and the
    ///   times are at most `log_10⁶` of the largest size over the smallest, plus the number of
    ///   implausible rounds that passed.
    #[must_use]
    pub fn recovering(self) -> Self {
        Self { recovery: Some(Recovery::default()), ..self }
    }

    /// The part of the weight that all experts get after a round.
    #[must_use]
    pub fn share(&self) -> Share {
        self.sharing.map_or(Share::default(), |sharing| sharing.share())
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The weights `p_k ≥ 0` of the next mixture; they sum to 1.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// True if expert `expert` has not been dropped.
    #[must_use]
    pub fn is_active(&self, expert: usize) -> bool {
        self.active.get(expert).copied().unwrap_or(false)
    }

    /// The mixture `Σ p_k ŷ_k` of `predictions`, row-major with one row of `mixture.len()` numbers
    /// an expert. An active expert whose row is not finite is left out and the others' weights are
    /// scaled to sum to 1 (uniform, should they all be 0); rows of dropped experts are not read.
    ///
    /// # Errors
    /// When the rows are not as many as the experts, or no active one is finite.
    pub fn mix(&self, predictions: &[f64], mixture: &mut [f64]) -> Result<(), Error> {
        let width = mixture.len();
        if predictions.len() != self.weights.len() * width {
            return Err(Error::Experts { expected: self.weights.len() * width, got: predictions.len() });
        }
        let row = |k: usize| &predictions[k * width..(k + 1) * width];
        let usable = |k: &usize| self.active[*k] && row(*k).iter().all(|value| value.is_finite());
        let experts = 0..self.weights.len();
        let count = experts.clone().filter(usable).count();
        if count == 0 {
            return Err(Error::NoExpertLeft);
        }
        let total: f64 = experts.clone().filter(usable).map(|k| self.weights[k]).sum();
        mixture.fill(0.0);
        for k in experts.filter(usable) {
            let weight = if total > 0.0 { self.weights[k] / total } else { 1.0 / count as f64 };
            for (sum, value) in mixture.iter_mut().zip(row(k)) {
                *sum += weight * value;
            }
        }
        Ok(())
    }

    /// Learns the regrets `r_k = ℓ(ŷ) − ℓ(ŷ_k)` of a round in which the mixture had the
    /// [weights](Self::weights) of now. What is given for dropped experts is not read.
    ///
    /// # Errors
    /// When there are not as many regrets as experts, or the last active expert fails. Nothing is
    /// changed then.
    pub fn learn(&mut self, regrets: &[f64]) -> Result<(), Error> {
        if regrets.len() != self.weights.len() {
            return Err(Error::Experts { expected: self.weights.len(), got: regrets.len() });
        }
        // NaN is no survivor.
        let survives = |regret: f64| regret >= -LARGEST_REGRET;
        let survivors = self.actives().filter(|k| survives(regrets[*k])).count();
        if survivors == 0 {
            return Err(Error::NoExpertLeft);
        }
        if self.actives().any(|k| regrets[k].is_nan() || regrets[k].abs() > LARGEST_REGRET) {
            for (active, regret) in self.active.iter_mut().zip(regrets) {
                *active &= survives(*regret);
            }
            self.start_anew();
            return Ok(());
        }
        if survivors == 1 {
            return Ok(()); // it has all the weight, and nothing to compete with
        }
        let weight = self.weigh(regrets);
        let regret = |k: usize| weight * regrets[k];
        let share = self.sharing.as_mut().map(Sharing::next);
        match self.rule {
            Rule::Ewa => self.learn_ewa(regret, share),
            Rule::Boa => self.learn_boa(regret, share),
            Rule::MlPoly => self.learn_ml_poly(regret),
        }
        debug_assert!((self.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "the weights do not sum to 1");
        Ok(())
    }

    /// Takes expert `expert` out for good, with weight 0; the others keep what they have learnt.
    /// Dropping it again does nothing.
    ///
    /// # Errors
    /// When it is the last one, or there is no such expert. Nothing is changed then.
    pub fn drop_expert(&mut self, expert: usize) -> Result<(), Error> {
        if expert >= self.active.len() {
            return Err(Error::Experts { expected: self.active.len(), got: expert + 1 });
        }
        if !self.active[expert] {
            return Ok(());
        }
        if self.active.iter().filter(|active| **active).count() == 1 {
            return Err(Error::NoExpertLeft);
        }
        self.active[expert] = false;
        self.weights[expert] = 0.0;
        if !self.normalise() {
            self.set_uniform();
        }
        Ok(())
    }

    /// The weight of a round with these regrets; the past is left behind where it was outgrown.
    fn weigh(&mut self, regrets: &[f64]) -> f64 {
        let size = self.actives().map(|k| regrets[k].abs()).fold(0.0, f64::max);
        // A round in which all experts said the same has no size.
        let Some(recovery) = self.recovery.as_mut().filter(|_| size > 0.0) else { return 1.0 };
        let (weight, outgrown) = recovery.weigh(size);
        if outgrown {
            self.start_anew();
        }
        weight
    }

    fn learn_ewa(&mut self, regret: impl Fn(usize) -> f64, share: Option<f64>) {
        let log_experts = (self.weights.len() as f64).ln();
        let eta = log_experts / self.gap;
        let mean: f64 = self.actives().map(|k| self.weights[k] * regret(k)).sum();
        let before = self.leader();
        for k in 0..self.weights.len() {
            if self.active[k] {
                self.sums[k] += regret(k) - mean;
            }
        }
        let gap = if eta.is_finite() {
            let top = self.actives().map(|k| eta * (regret(k) - mean)).fold(f64::NEG_INFINITY, f64::max);
            let scaled: f64 = self.actives().map(|k| self.weights[k] * (eta * (regret(k) - mean) - top).exp()).sum();
            (top + scaled.ln()) / eta
        } else {
            self.leader() - before
        };
        self.gap += gap.max(0.0);
        let eta = log_experts / self.gap;
        let leader = self.leader();
        for k in 0..self.weights.len() {
            let behind = self.sums[k] - leader;
            // An infinite rate leaves the weight to the leaders; 0 · ∞ must not make it NaN.
            let exponent = if behind == 0.0 { 0.0 } else { eta * behind };
            self.weights[k] = if self.active[k] { exponent.exp() } else { 0.0 };
        }
        self.normalise();
        if let Some(share) = share {
            self.share_out(share, |_, _| eta);
        }
    }

    fn learn_boa(&mut self, regret: impl Fn(usize) -> f64, share: Option<f64>) {
        let log_experts = (self.weights.len() as f64).ln();
        let rate = |range: f64, squares: f64| (0.5 / range).min((log_experts / squares).sqrt());
        let shrink = self.widen_range(&regret);
        let before = self.range * shrink;
        for k in 0..self.weights.len() {
            if self.active[k] && before > 0.0 {
                let own = regret(k) * shrink;
                self.sums[k] += own - rate(before, self.squares[k]) * own * own;
                self.squares[k] += own * own;
            }
        }
        if self.range == 0.0 {
            return;
        }
        let rate_of = |this: &Self, k: usize| rate(this.range, this.squares[k]);
        if let Some(share) = share {
            // What is shared are the weights before the rates multiply them.
            self.set_exponential(|this, k| if this.sums[k] == 0.0 { 0.0 } else { rate_of(this, k) * this.sums[k] });
            self.share_out(share, rate_of);
        }
        self.set_exponential(|this, k| {
            let eta = rate_of(this, k);
            eta.ln() + eta * this.sums[k]
        });
    }

    fn learn_ml_poly(&mut self, regret: impl Fn(usize) -> f64) {
        let shrink = self.widen_range(&regret);
        for k in 0..self.weights.len() {
            if self.active[k] {
                let own = regret(k) * shrink;
                // Without forgetting the product is exact.
                self.sums[k] = (1.0 - self.forgets) * self.sums[k] + own;
                self.squares[k] = (1.0 - self.forgets) * self.squares[k] + own * own;
            }
            let positive = if self.active[k] { self.sums[k].max(0.0) } else { 0.0 };
            // Divided twice by the range, so that a tiny range does not underflow.
            let scale = self.range.max(f64::MIN_POSITIVE);
            self.weights[k] = positive / scale / (1.0 + self.squares[k] / scale / scale);
        }
        if !self.normalise() {
            self.set_uniform();
        }
    }

    /// Takes regrets into the range; returns `b_{t−1}/b_t`, 1 while all are 0.
    fn widen_range(&mut self, regret: impl Fn(usize) -> f64) -> f64 {
        let before = self.range;
        self.range = self.actives().map(|k| regret(k).abs()).fold(before, f64::max);
        if self.range > 0.0 { before / self.range } else { 1.0 }
    }

    fn actives(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.active.len()).filter(|k| self.active[*k])
    }

    fn leader(&self) -> f64 {
        self.actives().map(|k| self.sums[k]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Weights in proportion to `exp(exponent)`, uniform when that is no number.
    fn set_exponential(&mut self, exponent: impl Fn(&Self, usize) -> f64) {
        let top = self.actives().map(|k| exponent(self, k)).fold(f64::NEG_INFINITY, f64::max);
        for k in 0..self.weights.len() {
            self.weights[k] = if self.active[k] { (exponent(self, k) - top).exp() } else { 0.0 };
        }
        if !self.normalise() {
            self.set_uniform();
        }
    }

    /// Gives `share` of the weight to all experts, and makes the sums those of which an exponential
    /// rule makes these weights at its rates.
    fn share_out(&mut self, share: f64, rate: impl Fn(&Self, usize) -> f64) {
        let count = self.actives().count() as f64;
        for k in 0..self.weights.len() {
            if self.active[k] {
                let weight = ((1.0 - share) * self.weights[k] + share / count).max(f64::MIN_POSITIVE);
                self.weights[k] = weight;
                self.sums[k] = (count * weight).ln() / rate(self, k);
            }
        }
    }

    /// Scales the weights to sum to 1; `false` when they are all 0.
    fn normalise(&mut self) -> bool {
        let total: f64 = self.weights.iter().sum();
        if total > 0.0 && total.is_finite() {
            self.weights.iter_mut().for_each(|weight| *weight /= total);
            true
        } else {
            false
        }
    }

    fn set_uniform(&mut self) {
        let count = self.actives().count() as f64;
        for (weight, active) in self.weights.iter_mut().zip(&self.active) {
            *weight = if *active { 1.0 / count } else { 0.0 };
        }
    }

    fn start_anew(&mut self) {
        self.sums.fill(0.0);
        self.squares.fill(0.0);
        (self.range, self.gap) = (0.0, 0.0);
        self.set_uniform();
    }
}
