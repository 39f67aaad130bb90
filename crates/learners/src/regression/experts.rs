//! A mixture of learners: online choice of `λ`, `σ`, `M` and anything else by prediction with expert advice.
//!
//! Every member predicts and learns every example; the mixture predicts `ŷ = Σ p_k ŷ_k`, with weights that an
//! [`Aggregation`](crate::experts::Aggregation) learns from the linearised regrets `2(ŷ − y)(ŷ − ŷ_k)`. A bound of its rule is a
//! bound on `Σ (ŷ − y)² − Σ (ŷ_k − y)²` for every `k` (the calibration that \[B\] section 3.1 proposes).
//!
//! - **Clipping.** `ŷ_k` is what the member predicts, clipped to the smallest interval that holds 0 and all targets seen: as long
//!   as targets stay there no loss is larger for it, and a member that blows up cannot blow up the mixture.
//! - **Failure.** A member that refuses an example which others take (its update is not finite, or its kernel
//!   overflows) is dropped with weight 0 from the next round on; the mixture goes on. An example that all refuse changes nothing. A round whose regrets
//!   exceed 1e100, which takes a target of that size, teaches nothing about the members.
//! - **Shared work.** Untrained members that are [`NonsAld`](crate::NonsAld), [`Krls`](crate::Krls) or [`AogdAld`](crate::AogdAld)
//!   with the same kernel, threshold and largest dictionary (none for [`AogdAld`](crate::AogdAld), which at its limit goes on otherwise)
//!   keep the same points, whatever their regularisers. They share one dictionary and one probe a round: with `m`
//!   of them `Jd + ½J² + 1½mJ²` multiply-adds instead of `m(Jd + 2J²)`, and the same predictions bit for bit. (Ridges on the
//!   same Taylor features would share only the `r` multiplications that make them, of `2r²`, so they do not.)
//! - **Blocks.** The weights act on no member, so [`learn_block`](Regressor::learn_block) lets each member learn the whole block in
//!   its own blocked pass (those on one dictionary one after the other, on the same coordinates), on several threads if asked
//!   ([`set_threads`](Regressor::set_threads)), and then goes through the rounds. The result does not depend on the threads.
//!
//! Cost: that of the members, and `O(K)` a round.

mod auto;
mod team;

use std::sync::Mutex;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::experts::{Aggregation, Rule, square_loss_regret};
use crate::regression::regressor::{check_block, check_example, check_input};
use crate::{AnyRegressor, Error, Regressor, Scratch};

pub use auto::{Auto, AutoParams};
use team::Team;

/// Regrets beyond this are not learnt: see the module's rule on failure.
const LARGEST_REGRET: f64 = 1e100;

/// A mixture of learners.
///
/// # Invariants
/// Every member that is active in `aggregation` belongs to exactly one team; `low ≤ 0 ≤ high`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "K: serde::Deserialize<'de>")))]
pub struct Experts<K> {
    dimension: usize,
    names: Vec<String>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    teams: Vec<Team<K>>,
    aggregation: Aggregation,
    losses: Vec<f64>,
    loss: f64,
    low: f64,
    high: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

#[cfg(feature = "serde")]
pub(super) fn one() -> usize {
    1
}

/// Memory of a round: predictions, NaN where there is none, and regrets.
#[derive(Clone, Debug, Default)]
struct Work {
    predictions: Vec<f64>,
    regrets: Vec<f64>,
}

/// A member of a mixture, as it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expert<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its weight in the next mixture.
    pub weight: f64,
    /// `Σ (ŷ_k − y)²` over the rounds in which it took part.
    pub cumulative_loss: f64,
    /// Whether it has taken part in all of them; a member that failed was dropped.
    pub active: bool,
}

impl<K: Kernel + Clone + PartialEq + Send> Experts<K> {
    /// A mixture of these learners, which have names for reports, under this rule.
    ///
    /// # Errors
    /// When there is no member, or not all have one dimension.
    pub fn new(members: impl IntoIterator<Item = (String, AnyRegressor<K>)>, rule: Rule) -> Result<Self, Error> {
        let (names, members): (Vec<String>, Vec<AnyRegressor<K>>) = members.into_iter().unzip();
        let aggregation = Aggregation::new(names.len(), rule)?;
        let dimension = members.first().map_or(0, Regressor::dimension);
        if let Some(other) = members.iter().find(|member| member.dimension() != dimension) {
            return Err(Error::Dimension { expected: dimension, got: other.dimension() });
        }
        Ok(Self {
            dimension,
            losses: vec![0.0; names.len()],
            names,
            teams: Team::gather(members),
            aggregation,
            loss: 0.0,
            low: 0.0,
            high: 0.0,
            threads: 1,
            work: Work::default(),
        })
    }
}

impl<K> Experts<K> {
    /// The members, in the order in which they were given.
    pub fn members(&self) -> impl ExactSizeIterator<Item = Expert<'_>> {
        self.names.iter().enumerate().map(|(k, name)| Expert {
            name,
            weight: self.aggregation.weights()[k],
            cumulative_loss: self.losses[k],
            active: self.aggregation.is_active(k),
        })
    }

    /// The aggregation rule and its weights.
    #[must_use]
    pub fn aggregation(&self) -> &Aggregation {
        &self.aggregation
    }

    /// `Σ (ŷ − y)²` of the mixture.
    #[must_use]
    pub fn cumulative_loss(&self) -> f64 {
        self.loss
    }

    /// `Σ (ŷ − y)² − min_k Σ (ŷ_k − y)²` over the members that took part in every round; it may be negative.
    #[must_use]
    pub fn regret(&self) -> f64 {
        let best = self.members().filter(|expert| expert.active).map(|expert| expert.cumulative_loss);
        self.loss - best.fold(f64::INFINITY, f64::min)
    }
}

impl<K: Kernel + Clone + Send + Validate> Validate for Experts<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "mixture of learners";
        Inconsistent::size(self.dimension, WHAT)?;
        self.aggregation.validate()?;
        let members = self.aggregation.weights().len();
        let named = self.names.len() == members && self.losses.len() == members;
        Inconsistent::require(named, WHAT, "each member has a name and a loss")?;
        let mut losses = self.losses.iter().chain([&self.loss]);
        // Huge targets make infinite losses, which harm no prediction.
        Inconsistent::require(losses.all(|loss| *loss >= 0.0), WHAT, "losses are not negative")?;
        let ranged = self.low <= 0.0 && self.high >= 0.0 && self.low.is_finite() && self.high.is_finite();
        Inconsistent::require(ranged, WHAT, "its range holds 0")?;
        let mut teams = vec![0_usize; members];
        for team in &self.teams {
            team.validate(self.dimension)?;
            for member in team.members() {
                Inconsistent::require(*member < members, WHAT, "members of teams are members")?;
                teams[*member] += 1;
            }
        }
        let active = |k: usize| usize::from(self.aggregation.is_active(k));
        let placed = teams.iter().enumerate().all(|(k, count)| *count == active(k));
        Inconsistent::require(placed, WHAT, "every active member is in one team")
    }
}

impl<K: Kernel + Clone + Send> Experts<K> {
    /// Lets every team learn rows that are fit to be learnt.
    fn learn_members(&mut self, xs: &[f64], ys: &[f64]) {
        if self.threads <= 1 || ys.len() == 1 || self.teams.len() == 1 {
            return self.teams.iter_mut().for_each(|team| team.learn(xs, ys));
        }
        let threads = self.threads.min(self.teams.len());
        let queue = Mutex::new(self.teams.iter_mut());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        // The lock is let go before the work begins.
                        let next = queue.lock().ok().and_then(|mut teams| teams.next());
                        let Some(team) = next else { break };
                        team.learn(xs, ys);
                    }
                });
            }
        });
    }

    /// Learns rows that are fit to be learnt, up to the first that no member takes.
    fn learn(&mut self, xs: &[f64], ys: &[f64], mut take: impl FnMut(f64)) -> Result<(), Error> {
        self.learn_members(xs, ys);
        let outcomes = || self.teams.iter().flat_map(Team::outcomes);
        let learnt = outcomes().map(|(_, outcome)| outcome.predictions.len()).max().unwrap_or(0);
        let refused = outcomes().find_map(|(_, outcome)| {
            let last = outcome.predictions.len() == learnt;
            outcome.failure.as_ref().filter(|_| last).map(|failure| failure.0.clone())
        });
        for (row, y) in ys[..learnt].iter().enumerate() {
            take(self.score(row, *y));
        }
        self.teams.retain_mut(|team| team.keep_survivors(learnt));
        if learnt < ys.len() { Err(refused.unwrap_or(Error::NoExpertLeft)) } else { Ok(()) }
    }

    /// One round of the aggregation, the members having learnt it: the mixture's prediction.
    fn score(&mut self, row: usize, y: f64) -> f64 {
        let Work { predictions, regrets } = &mut self.work;
        predictions.clear();
        predictions.resize(self.names.len(), f64::NAN);
        for (place, outcome) in self.teams.iter().flat_map(Team::outcomes) {
            if let Some(prediction) = outcome.prediction(row) {
                predictions[place] = prediction.clamp(self.low, self.high);
            }
        }
        let mut mixture = [0.0];
        // A row that was learnt was predicted by someone.
        let mixed = self.aggregation.mix(predictions, &mut mixture);
        debug_assert!(mixed.is_ok(), "no member predicted a row that was learnt");
        regrets.clear();
        regrets.extend(predictions.iter().map(|prediction| {
            if prediction.is_finite() { square_loss_regret(&mixture, &[y], &[*prediction]) } else { 0.0 }
        }));
        for (loss, prediction) in self.losses.iter_mut().zip(&*predictions) {
            *loss += if prediction.is_finite() { (prediction - y).powi(2) } else { 0.0 };
        }
        self.loss += (mixture[0] - y).powi(2);
        if regrets.iter().all(|regret| regret.abs() <= LARGEST_REGRET) {
            let learnt = self.aggregation.learn(regrets);
            debug_assert!(learnt.is_ok(), "finite regrets of all members are learnt");
        }
        for (place, outcome) in self.teams.iter().flat_map(Team::outcomes) {
            // It failed on this row, which others took: out.
            if outcome.failure.is_some() && outcome.predictions.len() == row {
                let dropped = self.aggregation.drop_expert(place);
                debug_assert!(dropped.is_ok(), "a member that learnt the row is left");
            }
        }
        (self.low, self.high) = (self.low.min(y), self.high.max(y));
        mixture[0]
    }
}

impl<K: Kernel + Clone + Send> Regressor for Experts<K> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn dictionary_size(&self) -> usize {
        self.teams.iter().map(Team::dictionary_size).sum()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension)?;
        let (mut weighted, mut weight, mut plain, mut count) = (0.0, 0.0, 0.0, 0.0);
        let mut refused = None;
        for team in &self.teams {
            let answer = team.predict(x, scratch, |place, prediction| {
                let prediction = prediction.clamp(self.low, self.high);
                let p = self.aggregation.weights()[place];
                weighted += p * prediction;
                weight += p;
                plain += prediction;
                count += 1.0;
            });
            refused = refused.or(answer.err());
        }
        match refused {
            Some(error) if count == 0.0 => Err(error),
            _ if weight > 0.0 => Ok(weighted / weight),
            _ => Ok(plain / count),
        }
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension)?;
        let mut prediction = 0.0;
        self.learn(x, &[y], |made| prediction = made)?;
        Ok(prediction)
    }

    /// Each member learns the block in its own way, then the rounds are scored: see the module.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension;
        check_block(xs, ys, d)?;
        let refused =
            xs.chunks_exact(d.max(1)).zip(ys).map(|(x, y)| check_example(x, *y, d)).position(|row| row.is_err());
        let rows = refused.unwrap_or(ys.len());
        if rows > 0 {
            self.learn(&xs[..rows * d], &ys[..rows], |prediction| predictions.push(prediction))?;
        }
        match refused {
            Some(row) => check_example(&xs[row * d..(row + 1) * d], ys[row], d),
            None => Ok(()),
        }
    }

    fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }
}
