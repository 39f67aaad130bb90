//! A mixture of learners: online choice of `λ`, `σ`, `M` and anything else by prediction with
//! expert advice.
//!
//! Members are learners with as many outputs as each other, usually one: boxes of any learners
//! (`Box<dyn Regressor>`), an [enum](crate::one_of) of learners, which share work and are saved, or
//! a type of one's own, which says that it is a [`Member`] in one line.
//!
//! Every member predicts and learns every example; the mixture predicts `ŷ = Σ p_k ŷ_k`, with
//! weights that an [`Aggregation`](mercer_experts::Aggregation) learns from the linearised regrets
//! `2(ŷ − y)(ŷ − ŷ_k)`. A bound of its rule is a bound on `Σ (ŷ − y)² − Σ (ŷ_k − y)²` for every `k`
//! (the calibration that \[B\] section 3.1 proposes).
//!
//! - **Clipping.** `ŷ_k` is what the member predicts, clipped to the smallest interval that holds 0
//!   and all targets seen, those of all outputs: as long as targets stay there no loss is larger
//!   for it, and a member that blows up cannot blow up the mixture.
//! - **Failure.** A member that refuses an example which others take (its update is not finite, or
//!   its kernel overflows) is dropped with weight 0 from the next round on; the mixture goes on. An
//!   example that all refuse changes nothing. A round whose regrets exceed 1e100, which takes a
//!   target of that size, teaches nothing about the members.
//!
//! Cost: that of the members, and `O(K)` a round.

mod entry;
mod rows;
mod sharing;
mod team;

use std::sync::Mutex;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};

use self::team::{Gather, Group, Team};
use crate::example::{Rows, Target};
use crate::input::Input;
use crate::learner::{Tokens, learn_one_by_one};
use crate::loss::Loss;
use crate::{Blocks, Error, Growth, Problem, Regressor, Scratch, Shape, Variance};
use mercer_experts::{Aggregation, Rule, Share, square_loss_regret};

pub use self::entry::{EXPERTS, MixtureParams, mixture};
pub use self::sharing::{OnOneDictionary, Sharer, Sharing};

/// Regrets beyond this are not learnt: see the module's rule on failure.
pub const LARGEST_REGRET: f64 = 1e100;

/// A learner that a [`Mixture`] can be made of.
///
/// Boxes of learners are members, and so are [enums](crate::one_of) of learners. A learner of one's
/// own becomes one in a line, which says that it learns alone:
/// `impl Member for MyLearner { type Group = Self; }`.
pub trait Member: Sized {
    /// The type that learns in the mixture: `Self`, or for learners that share work one type that
    /// holds several of them.
    type Group;
}

impl<R: Regressor + ?Sized> Member for Box<R> {
    type Group = Self;
}

/// A mixture of learners.
///
/// - **Shared work.** Untrained members of an [enum](crate::one_of) that are
///   [`NonsAld`](crate::NonsAld), [`Krls`](crate::Krls) or [`AogdAld`](crate::AogdAld) with the
///   same kernel, threshold and largest dictionary (none for [`AogdAld`](crate::AogdAld), which at
///   its limit goes on otherwise) keep the same points, whatever their regularisers. They share one
///   dictionary and one probe a round: with `m` of them `Jd + ½J² + 1½mJ²` multiply-adds instead of
///   `m(Jd + 2J²)`, and the same predictions bit for bit. (Ridges on the same Taylor features would
///   share only the `r` multiplications that make them, of `2r²`, so they do not.)
/// - **Variance.** Of the members that tell one the mixture takes the mean
///   `σ̂² = Σ p_k σ_k²/Σ p_k`, and adds how far all of them are apart:
///   `σ² = σ̂² + Σ p_k (ŷ_k − ŷ)²`, the variance of the mixture of their distributions.
/// - **Change.** Members that forget, or start anew ([`Restarting`](crate::Restarting)), follow a
///   target that changes; with a [share](Mixture::sharing) of the weight for all, the mixture moves
///   to them within rows instead of making up for the whole past.
/// - **Blocks.** The weights act on no member, so [`learn_block`](crate::RegressorExt::learn_block)
///   lets each member learn the whole block in its own blocked pass (those on one dictionary one
///   after the other, on the same coordinates), on several threads if asked
///   ([`set_threads`](crate::RegressorExt::set_threads)), and then goes through the rounds. The
///   result does not depend on the threads.
///
/// ```
/// use mercer_kernels::Gaussian;
/// use mercer_experts::Rule;
/// use mercer_learners::{
///     Blocks, Error, Growth, Mixture, NonsAld, NonsAldParams, Problem, Regressor, RegressorExt, Scratch, Target, Tokens,
///     Variance,
/// };
///
/// /// Predicts the last target.
/// struct Persistence(f64);
///
/// impl Regressor for Persistence {
///     fn problem(&self) -> Problem {
///         Problem::squared(1, 1)
///     }
///     fn dictionary_size(&self) -> usize {
///         0
///     }
///     fn predict_into(&self, _: &[f64], _: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
///         scores[0] = self.0;
///         Ok(())
///     }
///     fn step(&mut self, _: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
///         scores[0] = self.0;
///         self.0 = target.y[0];
///         Ok(())
///     }
///     fn variance(&self) -> Option<&dyn Variance> {
///         None
///     }
///     fn blocks(&mut self) -> Option<&mut dyn Blocks> {
///         None
///     }
///     fn tokens(&self) -> Option<&dyn Tokens> {
///         None
///     }
///     fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
///         None
///     }
///     fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
///         Err(growth.refused())
///     }
/// }
///
/// let nons = NonsAld::new(Gaussian::new(0.5)?, 1, NonsAldParams::default())?;
/// let members: [(String, Box<dyn Regressor>); 2] =
///     [("persistence".into(), Box::new(Persistence(0.0))), ("nons-ald".into(), Box::new(nons))];
/// let mut mixture = Mixture::new(members, Rule::MlPoly)?;
/// for t in 0..500 {
///     let x = f64::from(t) * 0.7;
///     mixture.update(&[x.cos()], (3.0 * x.cos()).sin())?;
/// }
/// // The target depends on the input and jumps from round to round.
/// let weights: Vec<f64> = mixture.members().map(|member| member.weight).collect();
/// assert!(weights[1] > 0.9, "{weights:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Invariants
/// Every member that is active in `aggregation` belongs to exactly one team; `low ≤ 0 ≤ high`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "M::Group: serde::Serialize", deserialize = "M::Group: serde::Deserialize<'de>"))
)]
pub struct Mixture<M: Member> {
    dimension: usize,
    names: Vec<String>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    teams: Vec<Team<M::Group>>,
    aggregation: Aggregation,
    losses: Vec<f64>,
    loss: f64,
    low: f64,
    high: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: RoundMemory,
}

#[cfg(feature = "serde")]
pub(crate) fn one() -> usize {
    1
}

/// Memory of a round: the members' predictions, NaN where there is none, the mixture's, and
/// regrets.
#[derive(Clone, Debug, Default)]
struct RoundMemory {
    predictions: Vec<f64>,
    mixture: Vec<f64>,
    regrets: Vec<f64>,
}

/// A member of a mixture, as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expert<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its weight in the next mixture.
    pub weight: f64,
    /// `Σ (ŷ_k − y)²` over the rounds in which it took part.
    pub cumulative_loss: f64,
    /// True if it has taken part in all of them; a member that failed was dropped.
    pub active: bool,
}

impl<M: Member + Regressor> Mixture<M>
where
    M::Group: Gather<M>,
{
    /// A mixture of these learners, which have names for reports, under this rule.
    ///
    /// # Errors
    /// When there is no member, not all have one dimension and as many outputs, or one minimises
    /// another loss than the squared one, by which they compete.
    pub fn new(members: impl IntoIterator<Item = (String, M)>, rule: Rule) -> Result<Self, Error> {
        let (names, members): (Vec<String>, Vec<M>) = members.into_iter().unzip();
        let aggregation = Aggregation::new(names.len(), rule)?;
        let shape = members.first().map_or(Shape { inputs: 0, outputs: 1 }, |member| member.problem().shape);
        for other in members.iter().map(|member| member.problem().shape) {
            if other.outputs != shape.outputs {
                return Err(ExampleError::Outputs { expected: shape.outputs, got: other.outputs }.into());
            }
            if other.inputs != shape.inputs {
                return Err(ExampleError::Dimension { expected: shape.inputs, got: other.inputs }.into());
            }
        }
        if let Some(other) = members.iter().map(Regressor::problem).find(|problem| problem.loss != Loss::SQUARED) {
            return Err(Error::Loss { update: "a mixture", loss: other.loss.name(), instead: "squared" });
        }
        Ok(Self {
            dimension: shape.inputs,
            losses: vec![0.0; names.len()],
            names,
            teams: Gather::gather(members),
            aggregation,
            loss: 0.0,
            low: 0.0,
            high: 0.0,
            threads: 1,
            work: RoundMemory::default(),
        })
    }
}

impl<M: Member> Mixture<M> {
    /// The same mixture, in which all members get a share of the weight after each round: it then
    /// competes with the best *sequence* of members. [`Aggregation::sharing`] has formula and
    /// bound.
    ///
    /// # Errors
    /// When the share is not in `[0, 1)`, or not 0 under [`Rule::MlPoly`].
    pub fn sharing(self, share: Share) -> Result<Self, ParameterError> {
        Ok(Self { aggregation: self.aggregation.sharing(share)?, ..self })
    }

    /// The same mixture, in which no round decides the weights for good: see
    /// [`Aggregation::recovering`].
    #[must_use]
    pub fn recovering(self) -> Self {
        Self { aggregation: self.aggregation.recovering(), ..self }
    }

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

    /// `Σ (ŷ − y)² − min_k Σ (ŷ_k − y)²` over the members that took part in every round; it may be
    /// negative.
    #[must_use]
    pub fn regret(&self) -> f64 {
        let best = self.members().filter(|expert| expert.active).map(|expert| expert.cumulative_loss);
        self.loss - best.fold(f64::INFINITY, f64::min)
    }
}

impl<M: Member> Validate for Mixture<M>
where
    M::Group: Group + Validate,
{
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
            mercer_core::validate_nested(|| team.validate(self.dimension))?;
            for member in team.places() {
                Inconsistent::require(*member < members, WHAT, "members of teams are members")?;
                teams[*member] += 1;
            }
        }
        // Only of teams that are sound can the outputs be asked.
        let same = self.teams.iter().all(|team| team.width() == self.width());
        Inconsistent::require(same, WHAT, "its learners have the same outputs")?;
        let active = |k: usize| usize::from(self.aggregation.is_active(k));
        let placed = teams.iter().enumerate().all(|(k, count)| *count == active(k));
        Inconsistent::require(placed, WHAT, "every active member is in one team")
    }
}

impl<M: Member> Mixture<M>
where
    M::Group: Group,
{
    /// Outputs of each member.
    fn width(&self) -> usize {
        self.teams.first().map_or(1, Team::width)
    }

    /// Lets every team learn rows that are fit to be learnt.
    fn learn_members(&mut self, rows: Rows<'_>) {
        if self.threads <= 1 || rows.len() == 1 || self.teams.len() == 1 {
            return self.teams.iter_mut().for_each(|team| team.learn(rows));
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
                        team.learn(rows);
                    }
                });
            }
        });
    }

    /// Learns rows of positive weight that are fit to be learnt, up to the first that no member
    /// takes.
    fn learn_good(&mut self, rows: Rows<'_>, mut take: impl FnMut(&[f64])) -> Result<(), Error> {
        self.learn_members(rows);
        let outcomes = || self.teams.iter().flat_map(Team::outcomes);
        let learnt = outcomes().map(|(_, outcome)| outcome.learnt()).max().unwrap_or(0);
        let refused = outcomes().find_map(|(_, outcome)| {
            let last = outcome.learnt() == learnt;
            outcome.failure.as_ref().filter(|_| last).map(|failure| failure.0.clone())
        });
        for (row, target) in rows.targets().range(0, learnt).iter().enumerate() {
            self.score(row, target);
            take(&self.work.mixture);
        }
        self.teams.retain_mut(|team| team.keep_survivors(learnt));
        if learnt < rows.len() { Err(refused.unwrap_or(mercer_experts::Error::NoExpertLeft.into())) } else { Ok(()) }
    }

    /// One round of the aggregation, the members having learnt it: `work.mixture` is then the
    /// mixture's prediction.
    fn score(&mut self, row: usize, Target { y, weight }: Target<'_>) {
        let RoundMemory { predictions, mixture, regrets } = &mut self.work;
        let width = y.len();
        predictions.clear();
        predictions.resize(self.names.len() * width, f64::NAN);
        for (place, outcome) in self.teams.iter().flat_map(Team::outcomes) {
            if let Some(prediction) = outcome.prediction(row) {
                let clipped = predictions[place * width..].iter_mut().zip(prediction);
                clipped.for_each(|(clipped, made)| *clipped = made.clamp(self.low, self.high));
            }
        }
        mixture.clear();
        mixture.resize(width, 0.0);
        // A row that was learnt was predicted by someone.
        let mixed = self.aggregation.mix(predictions, mixture);
        debug_assert!(mixed.is_ok(), "no member predicted a row that was learnt");
        regrets.clear();
        for (loss, made) in self.losses.iter_mut().zip(predictions.chunks_exact(width)) {
            if made.iter().all(|made| made.is_finite()) {
                regrets.push(weight * square_loss_regret(mixture, y, made));
                *loss += weight * squared_error(made, y);
            } else {
                regrets.push(0.0);
            }
        }
        self.loss += weight * squared_error(mixture, y);
        if regrets.iter().all(|regret| regret.abs() <= LARGEST_REGRET) {
            let learnt = self.aggregation.learn(regrets);
            debug_assert!(learnt.is_ok(), "finite regrets of all members are learnt");
        }
        for (place, outcome) in self.teams.iter().flat_map(Team::outcomes) {
            // It failed on this row, which others took: out.
            if outcome.failure.is_some() && outcome.learnt() == row {
                let dropped = self.aggregation.drop_expert(place);
                debug_assert!(dropped.is_ok(), "a member that learnt the row is left");
            }
        }
        (self.low, self.high) = y.iter().fold((self.low, self.high), |(low, high), y| (low.min(*y), high.max(*y)));
    }
}

impl<M: Member> Mixture<M>
where
    M::Group: Group,
{
    /// `scores ←` the mean of what the members predict, with these weights of their places;
    /// `false`, and no prediction, when those that predict have none.
    fn predict_weighted(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
        weight_of: impl Fn(usize) -> f64,
    ) -> Result<bool, Error> {
        scores.fill(0.0);
        let (mut weights, mut count, mut refused) = (0.0, 0, None);
        for team in &self.teams {
            let answer = team.predict(input, scratch, |place, made| {
                let weight = weight_of(place);
                let clipped = made.iter().map(|made| made.clamp(self.low, self.high));
                scores.iter_mut().zip(clipped).for_each(|(score, made)| *score += weight * made);
                weights += weight;
                count += 1;
            });
            refused = refused.or(answer.err());
        }
        match refused {
            Some(error) if count == 0 => Err(error),
            _ if weights > 0.0 => {
                scores.iter_mut().for_each(|score| *score /= weights);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn grow_inputs(&mut self, added: usize) -> Result<(), Error> {
        // Members that cannot grow must not leave the others grown; growing by nothing asks whether
        // they can.
        self.teams.iter_mut().try_for_each(|team| team.grow(0))?;
        self.teams.iter_mut().try_for_each(|team| team.grow(added))?;
        self.dimension += added;
        Ok(())
    }

    /// Members that cannot are dropped, as those are that refuse an example; when all cannot,
    /// nothing is changed.
    fn add_output_to_members(&mut self, like: Option<usize>) -> Result<(), Error> {
        let refused: Vec<Vec<usize>> = self.teams.iter_mut().map(|team| team.add_output(like)).collect();
        if self.teams.iter().zip(&refused).all(|(team, refused)| team.places().len() == refused.len()) {
            return Err(Error::FixedOutputs);
        }
        for (team, refused) in self.teams.iter().zip(&refused) {
            for index in refused {
                let dropped = self.aggregation.drop_expert(team.places()[*index]);
                debug_assert!(dropped.is_ok(), "a member that can is left");
            }
        }
        let mut refused = refused.iter();
        self.teams.retain_mut(|team| refused.next().is_none_or(|refused| team.take_out(refused)));
        Ok(())
    }
}

/// `‖ŷ − y‖²`
#[must_use]
pub fn squared_error(made: &[f64], y: &[f64]) -> f64 {
    made.iter().zip(y).map(|(made, y)| (made - y).powi(2)).sum()
}

impl<M: Member> Regressor for Mixture<M>
where
    M::Group: Group,
{
    fn problem(&self) -> Problem {
        Problem::squared(self.dimension, self.width())
    }

    fn dictionary_size(&self) -> usize {
        self.teams.iter().map(Team::dictionary_size).sum()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.predict_input(x.into(), scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.step_input(x.into(), target, scores)
    }

    fn variance(&self) -> Option<&dyn Variance> {
        // Members that take tokens tell none.
        let told = self.teams.iter().any(Team::tells_variance) && self.tokens().is_none();
        told.then_some(self as &dyn Variance)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        self.teams.iter().any(Team::takes_tokens).then_some(self as &dyn Tokens)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        if self.tokens().is_some() { Some(self) } else { None }
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => self.grow_inputs(added),
            Growth::Output { like } => self.add_output_to_members(like),
        }
    }
}

impl<M: Member> Variance for Mixture<M>
where
    M::Group: Group,
{
    fn noise_variance(&self, output: usize) -> Option<f64> {
        let weights = self.aggregation.weights();
        let (mut noise, mut known) = (0.0, 0.0);
        for (place, own) in self.teams.iter().flat_map(|team| team.noises(output)) {
            if let Some(own) = own {
                noise += weights[place] * own;
                known += weights[place];
            }
        }
        (known > 0.0).then(|| noise / known)
    }

    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        self.predict_into(x, scratch, scores)?;
        let weights = self.aggregation.weights();
        let (mut apart, mut known) = (scratch.lend(scores.len()), 0.0);
        apart.fill(0.0);
        variances.fill(0.0);
        for team in &self.teams {
            // One that refuses took no part in the prediction.
            let _ = team.predict_variance(x, scratch, |place, made, own| {
                let weight = weights[place];
                for (apart, (made, score)) in apart.iter_mut().zip(made.iter().zip(&*scores)) {
                    *apart += weight * (made.clamp(self.low, self.high) - score).powi(2);
                }
                if own.iter().all(|variance| variance.is_finite()) {
                    variances.iter_mut().zip(own).for_each(|(variance, own)| *variance += weight * own);
                    known += weight;
                }
            });
        }
        let is_known = known > 0.0;
        for (variance, apart) in variances.iter_mut().zip(&apart) {
            *variance = if is_known { *variance / known + apart } else { f64::NAN };
        }
        scratch.take_back(apart);
        Ok(is_known)
    }
}

impl<M: Member> Blocks for Mixture<M>
where
    M::Group: Group,
{
    /// Each member learns the block in its own way, then the rounds are scored: see the module.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let (mut first, problem) = (0, self.problem());
        while first < rows.len() {
            let learnable = |row: usize| {
                let (x, target) = (rows.input(row), rows.target(row));
                target.weight != 0.0 && problem.check(x, target).is_ok()
            };
            let end = (first..rows.len()).find(|row| !learnable(*row)).unwrap_or(rows.len());
            if end > first {
                self.learn_good(rows.range(first, end), |made| scores.extend_from_slice(made))?;
            }
            if end < rows.len() {
                // It is refused, or only predicted.
                learn_one_by_one(self, rows.range(end, end + 1), scores)?;
            }
            first = end + 1;
        }
        Ok(())
    }

    fn limit_threads(&mut self, threads: usize) {
        self.threads = threads;
    }
}
