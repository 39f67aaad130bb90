//! Members of a mixture that learn together: one learner, or several on one dictionary.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_sparsify::Ald;

use crate::regression::on_dictionary::{GrowThenStep, OnDictionary};
use crate::regression::update::{GradientStep, LeastSquares, LinearUpdate, NewtonStep};
use crate::{AnyRegressor, Error, Regressor, Scratch};

/// One learner, or several that share what they have in common.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Team<K> {
    /// Places of the members in the mixture.
    members: Vec<usize>,
    engine: Engine<K>,
    /// What became of the last block.
    #[cfg_attr(feature = "serde", serde(skip))]
    outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Engine<K> {
    One(AnyRegressor<K>),
    /// NONS-ALD, KRLS and AOGD-ALD on the same points.
    OneDictionary(Box<OnDictionary<K, Ald, Panel, GrowThenStep>>),
}

/// A member's part in a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// One prediction a row that was learnt.
    pub(super) predictions: Vec<f64>,
    /// Why the next row was not, and what was predicted for it.
    pub(super) failure: Option<(Error, Option<f64>)>,
}

impl Outcome {
    fn clear(&mut self) {
        self.predictions.clear();
        self.failure = None;
    }

    /// The prediction for row `row`, if there is one.
    pub(super) fn prediction(&self, row: usize) -> Option<f64> {
        let guess = || self.failure.as_ref().filter(|_| row == self.predictions.len()).and_then(|failure| failure.1);
        self.predictions.get(row).copied().or_else(guess)
    }
}

impl<K: Kernel + Clone + PartialEq + Send> Team<K> {
    /// Puts untrained learners that will keep the same dictionary together.
    pub(super) fn gather(members: Vec<AnyRegressor<K>>) -> Vec<Self> {
        let mut teams: Vec<Self> = Vec::new();
        for (place, learner) in members.into_iter().enumerate() {
            let engine = match learner {
                AnyRegressor::NonsAld(learner) if learner.basis().is_empty() => {
                    Engine::OneDictionary(Box::new(learner.map_update(|update| Panel::of(Step::Newton(update)))))
                }
                AnyRegressor::Krls(learner) if learner.basis().is_empty() => {
                    Engine::OneDictionary(Box::new(learner.map_update(|update| Panel::of(Step::LeastSquares(update)))))
                }
                AnyRegressor::AogdAld(learner) if learner.dictionary_size() == 0 => match learner.into_dictionary() {
                    Ok(learner) => {
                        Engine::OneDictionary(Box::new(learner.map_update(|update| Panel::of(Step::Gradient(update)))))
                    }
                    Err(learner) => Engine::One(AnyRegressor::AogdAld(learner)),
                },
                learner => Engine::One(learner),
            };
            let engine = match engine {
                Engine::OneDictionary(own) => {
                    let same = teams.iter_mut().find_map(|team| match &mut team.engine {
                        Engine::OneDictionary(theirs) if theirs.keeps_the_points_of(&own) => {
                            Some((&mut team.members, theirs))
                        }
                        _ => None,
                    });
                    if let Some((places, theirs)) = same {
                        places.push(place);
                        theirs.linear_mut().steps.append(&mut own.into_linear().steps);
                        continue;
                    }
                    Engine::OneDictionary(own)
                }
                one => one,
            };
            teams.push(Self { members: vec![place], engine, outcomes: Vec::new() });
        }
        teams
    }
}

impl<K> Team<K> {
    /// Places of the members in the mixture.
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }
}

impl<K: Kernel + Clone + Send + Validate> Team<K> {
    /// [`Validate::validate`] for a team of learners of this dimension.
    pub(super) fn validate(&self, dimension: usize) -> Result<(), Inconsistent> {
        let (members, own) = match &self.engine {
            Engine::One(learner) => {
                learner.validate()?;
                (1, learner.dimension())
            }
            Engine::OneDictionary(learner) => {
                learner.validate()?;
                (learner.linear().steps.len(), learner.basis().dimension())
            }
        };
        Inconsistent::require(self.members.len() == members, "team", "it has a learner for each member")?;
        Inconsistent::require(own == dimension, "team", "its learners have the mixture's dimension")
    }
}

impl<K: Kernel + Clone + Send> Team<K> {
    /// What became of the last block, one a member.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (usize, &Outcome)> {
        self.members.iter().copied().zip(&self.outcomes)
    }

    /// Points kept.
    pub(super) fn dictionary_size(&self) -> usize {
        match &self.engine {
            Engine::One(learner) => learner.dictionary_size(),
            Engine::OneDictionary(learner) => learner.dictionary_size(),
        }
    }

    /// Hands each member's place and prediction at `x` to `take`.
    pub(super) fn predict(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), Error> {
        match &self.engine {
            Engine::One(learner) => take(self.members[0], learner.predict_with(x, scratch)?),
            Engine::OneDictionary(learner) => {
                let coordinates = learner.coordinates(x, scratch)?;
                for (place, step) in self.members.iter().zip(&learner.linear().steps) {
                    take(*place, step.predict(coordinates));
                }
            }
        }
        Ok(())
    }

    /// Lets every member learn the rows until it fails.
    pub(super) fn learn(&mut self, xs: &[f64], ys: &[f64]) {
        self.outcomes.resize_with(self.members.len(), Outcome::default);
        self.outcomes.iter_mut().for_each(Outcome::clear);
        let d = xs.len() / ys.len().max(1);
        let mut scratch = Scratch::default();
        match &mut self.engine {
            Engine::One(learner) => {
                let outcome = &mut self.outcomes[0];
                // One row goes the way that allocates nothing.
                let learnt = if ys.len() == 1 {
                    learner.predict_then_update(xs, ys[0]).map(|prediction| outcome.predictions.push(prediction))
                } else {
                    learner.learn_block(xs, ys, &mut outcome.predictions)
                };
                if let Err(error) = learnt {
                    let row = outcome.predictions.len();
                    let guess = learner.predict_with(&xs[row * d..(row + 1) * d], &mut scratch).ok();
                    outcome.failure = Some((error, guess));
                }
            }
            Engine::OneDictionary(learner) => {
                // The panel keeps the outcomes while it learns.
                std::mem::swap(&mut learner.linear_mut().outcomes, &mut self.outcomes);
                let mut rounds = std::mem::take(&mut learner.linear_mut().rounds);
                rounds.clear();
                let learnt = if ys.len() == 1 {
                    learner.predict_then_update(xs, ys[0]).map(|prediction| rounds.push(prediction))
                } else {
                    learner.learn_block(xs, ys, &mut rounds)
                };
                std::mem::swap(&mut learner.linear_mut().outcomes, &mut self.outcomes);
                if let Err(error) = learnt {
                    // A probe that overflows fails all that are left, before any of them is asked.
                    let left = self.outcomes.iter_mut().filter(|outcome| outcome.failure.is_none());
                    left.for_each(|outcome| outcome.failure = Some((error.clone(), None)));
                }
                learner.linear_mut().rounds = rounds;
            }
        }
    }

    /// Takes out the members that failed before row `learnt`; `false` when none is left.
    pub(super) fn keep_survivors(&mut self, learnt: usize) -> bool {
        for index in (0..self.members.len()).rev() {
            let Outcome { predictions, failure } = &self.outcomes[index];
            if failure.is_some() && predictions.len() < learnt {
                self.members.remove(index);
                self.outcomes.remove(index);
                if let Engine::OneDictionary(learner) = &mut self.engine {
                    learner.linear_mut().steps.remove(index);
                }
            }
        }
        !self.members.is_empty()
    }
}

/// One of the updates that work on an ALD dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Step {
    Newton(NewtonStep),
    LeastSquares(LeastSquares),
    Gradient(GradientStep),
}

impl Validate for Step {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Newton(update) => update.validate(),
            Self::LeastSquares(update) => update.validate(),
            Self::Gradient(update) => update.validate(),
        }
    }
}

impl LinearUpdate for Step {
    fn coordinates(&self) -> usize {
        match self {
            Self::Newton(update) => update.coordinates(),
            Self::LeastSquares(update) => update.coordinates(),
            Self::Gradient(update) => update.coordinates(),
        }
    }

    fn predict(&self, phi: &AlignedVec) -> f64 {
        match self {
            Self::Newton(update) => update.predict(phi),
            Self::LeastSquares(update) => update.predict(phi),
            Self::Gradient(update) => update.predict(phi),
        }
    }
    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        match self {
            Self::Newton(update) => update.step(phi, growth, y),
            Self::LeastSquares(update) => update.step(phi, growth, y),
            Self::Gradient(update) => update.step(phi, growth, y),
        }
    }
    fn block_size(&self) -> usize {
        match self {
            Self::Newton(update) => update.block_size(),
            Self::LeastSquares(update) => update.block_size(),
            Self::Gradient(update) => update.block_size(),
        }
    }
    fn learn_block(&mut self, phis: &mut [AlignedVec], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        match self {
            Self::Newton(update) => update.learn_block(phis, ys, predictions),
            Self::LeastSquares(update) => update.learn_block(phis, ys, predictions),
            Self::Gradient(update) => update.learn_block(phis, ys, predictions),
        }
    }
    fn grow(&mut self) {
        match self {
            Self::Newton(update) => update.grow(),
            Self::LeastSquares(update) => update.grow(),
            Self::Gradient(update) => update.grow(),
        }
    }
    fn restart(&mut self, n: usize) {
        match self {
            Self::Newton(update) => update.restart(n),
            Self::LeastSquares(update) => update.restart(n),
            Self::Gradient(update) => update.restart(n),
        }
    }
}

/// Several updates at the same coordinates. Its own prediction, which nobody asks for, is that of the first.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Panel {
    steps: Vec<Step>,
    #[cfg_attr(feature = "serde", serde(skip))]
    outcomes: Vec<Outcome>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rounds: Vec<f64>,
}

impl Panel {
    fn of(step: Step) -> Self {
        Self { steps: vec![step], outcomes: Vec::new(), rounds: Vec::new() }
    }
}

impl Validate for Panel {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.steps.validate()?;
        let same = self.steps.iter().all(|step| step.coordinates() == self.coordinates());
        Inconsistent::require(same && !self.steps.is_empty(), "team", "all have the same coordinates")
    }
}

impl LinearUpdate for Panel {
    fn coordinates(&self) -> usize {
        self.steps.first().map_or(0, LinearUpdate::coordinates)
    }

    fn predict(&self, phi: &AlignedVec) -> f64 {
        self.steps.first().map_or(0.0, |step| step.predict(phi))
    }

    /// Fails when all fail that have not failed in this block before; each is unchanged then, and so is the dictionary.
    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let n = phi.len();
        let mut learnt = Err(Error::Diverged);
        for (step, outcome) in self.steps.iter_mut().zip(&mut self.outcomes) {
            if outcome.failure.is_some() {
                continue;
            }
            match step.step(phi, growth, y) {
                Ok(prediction) => {
                    outcome.predictions.push(prediction);
                    learnt = Ok(prediction);
                }
                Err(error) => {
                    phi.resize(n);
                    outcome.failure = Some((error, Some(step.predict(phi))));
                }
            }
            phi.resize(n);
        }
        if let (Some(new), Ok(_)) = (growth, &learnt) {
            phi.push(new);
        }
        learnt
    }

    fn block_size(&self) -> usize {
        self.steps.iter().map(LinearUpdate::block_size).max().unwrap_or(1)
    }

    /// Every member learns the block in its own way; the rounds learnt are those of the member that came furthest.
    fn learn_block(&mut self, phis: &mut [AlignedVec], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let before = predictions.len();
        let mut learnt = Err(Error::Diverged);
        for (step, outcome) in self.steps.iter_mut().zip(&mut self.outcomes) {
            if outcome.failure.is_some() {
                continue;
            }
            let first = outcome.predictions.len();
            let own = step.learn_block(phis, ys, &mut outcome.predictions);
            let made = &outcome.predictions[first..];
            predictions.extend(made.iter().skip(predictions.len() - before));
            match own {
                Ok(()) => learnt = Ok(()),
                Err(error) => outcome.failure = Some((error, Some(step.predict(&phis[made.len()])))),
            }
        }
        learnt
    }

    fn grow(&mut self) {
        self.steps.iter_mut().for_each(LinearUpdate::grow);
    }

    fn restart(&mut self, n: usize) {
        self.steps.iter_mut().for_each(|step| step.restart(n));
    }
}
