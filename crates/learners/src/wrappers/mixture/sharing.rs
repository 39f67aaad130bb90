//! Members of a mixture that keep the same points share one dictionary: NONS-ALD, KRLS and
//! AOGD-ALD.

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_sparsify::Ald;

use super::team::{Gather, Group, MemberBlock, Team, learn_all};
use crate::engines::basis::{GrowThenStep, OnDictionary};
use crate::engines::update::{
    ByValues, Coefficients, GradientStep, GrowingUpdate, LeastSquares, LinearBlocks, LinearUpdate, LinearVariance,
    NewtonStep, NormalSystem,
};
use crate::error::Error;
use crate::example::{Problem, Rows, Shape, Target, Targets};
use crate::input::Input;
use crate::learner::{Regressor, RegressorExt, Scratch};

/// Members among which some keep their points on an ALD dictionary, which they can share.
pub trait Sharer: Regressor + Sized {
    /// The kernel of the dictionary.
    type Kernel;

    /// The learner as one that others can join, or as it was if it is none of those or has learnt.
    ///
    /// # Errors
    /// The learner, when it shares nothing.
    fn on_dictionary(self) -> Result<OnOneDictionary<Self::Kernel>, Self>;
}

/// One member, or several on one dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Sharing<M, K> {
    /// One that shares nothing.
    One(M),
    /// Several on the same points.
    OneDictionary(Box<OnOneDictionary<K>>),
}

/// Learners on the same points.
pub type OnOneDictionary<K> = OnDictionary<K, Ald, Steps, GrowThenStep>;

impl<K, M> Gather<M> for Sharing<M, K>
where
    K: Kernel + Clone + PartialEq + Send,
    M: Sharer<Kernel = K>,
{
    fn gather(members: Vec<M>) -> Vec<Team<Self>> {
        let mut teams: Vec<Team<Self>> = Vec::new();
        for (place, learner) in members.into_iter().enumerate() {
            let own = match learner.on_dictionary() {
                Ok(own) => own,
                Err(learner) => {
                    teams.push(Team::new(place, Self::One(learner)));
                    continue;
                }
            };
            let same = teams.iter_mut().find_map(|team| match team.parts_mut() {
                (places, Self::OneDictionary(theirs)) if theirs.keeps_the_points_of(&own) => Some((places, theirs)),
                _ => None,
            });
            if let Some((places, theirs)) = same {
                places.push(place);
                theirs.linear_mut().steps.append(&mut own.into_linear().steps);
            } else {
                teams.push(Team::new(place, Self::OneDictionary(Box::new(own))));
            }
        }
        teams
    }
}

impl<K, U> Sharer for OnDictionary<K, Ald, U, GrowThenStep>
where
    Self: Regressor,
    K: Kernel + Clone,
    U: GrowingUpdate + Into<Step>,
{
    type Kernel = K;

    fn on_dictionary(self) -> Result<OnOneDictionary<K>, Self> {
        if self.basis().is_empty() { Ok(self.map_update(|update| Steps::new(update.into()))) } else { Err(self) }
    }
}

impl<M: Validate, K: Kernel + Clone + Send + Validate> Validate for Sharing<M, K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::One(learner) => learner.validate(),
            Self::OneDictionary(learner) => learner.validate(),
        }
    }
}

impl<M: Regressor, K: Kernel + Clone + Send> Group for Sharing<M, K> {
    fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::OneDictionary(learner) => learner.linear().steps.len(),
        }
    }

    fn input_dimension(&self) -> usize {
        match self {
            Self::One(learner) => learner.dimension(),
            Self::OneDictionary(learner) => learner.dimension(),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::One(learner) => learner.outputs(),
            Self::OneDictionary(learner) => learner.outputs(),
        }
    }

    fn points(&self) -> usize {
        match self {
            Self::One(learner) => learner.dictionary_size(),
            Self::OneDictionary(learner) => learner.dictionary_size(),
        }
    }

    fn takes_tokens(&self) -> bool {
        if let Self::One(learner) = self { learner.takes_tokens() } else { false }
    }

    fn predict_each(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.predict_each(input, scratch, take),
            Self::OneDictionary(learner) => {
                let x = input.numbers;
                let (steps, width) = (&learner.linear().steps, learner.outputs());
                let mut scores = scratch.lend(steps.len() * width);
                let predicted = learner.values_by_coefficients(x, scratch, &mut scores).and_then(|made| {
                    let coordinates = if made { None } else { Some(learner.coordinates(x, scratch)?) };
                    for (index, (step, scores)) in steps.iter().zip(scores.chunks_exact_mut(width)).enumerate() {
                        match (coordinates, step.by_values()) {
                            (Some(coordinates), _) => step.predict(coordinates, scores),
                            (None, reading) => reading.into_iter().for_each(|reading| reading.read(scores)),
                        }
                        take(index, scores);
                    }
                    Ok(())
                });
                scratch.take_back(scores);
                predicted
            }
        }
    }

    fn tells_variance(&self) -> bool {
        match self {
            Self::One(learner) => learner.has_variance(),
            Self::OneDictionary(learner) => learner.linear().steps.iter().any(|step| step.variance().is_some()),
        }
    }

    fn predict_variance_each(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64], &[f64]),
    ) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.predict_variance_each(x, scratch, take),
            Self::OneDictionary(learner) => {
                learner.coordinates(x, scratch)?;
                let (mut scores, mut variances) = (scratch.lend(learner.outputs()), scratch.lend(learner.outputs()));
                let (phi, outside) = (scratch.probe.coordinates(), scratch.probe.residual().max(0.0));
                for (index, step) in learner.linear().steps.iter().enumerate() {
                    step.predict_variance(phi, outside, &mut scores, &mut variances);
                    take(index, &scores, &variances);
                }
                scratch.take_back(scores);
                scratch.take_back(variances);
                Ok(())
            }
        }
    }

    fn noise_of(&self, index: usize, output: usize) -> Option<f64> {
        match self {
            Self::One(learner) => learner.noise(output),
            Self::OneDictionary(learner) => learner.linear().steps[index].noise(output),
        }
    }

    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<MemberBlock>) {
        match self {
            Self::One(learner) => learner.learn_each(rows, outcomes),
            Self::OneDictionary(learner) => {
                // The steps keep the outcomes while they learn.
                std::mem::swap(&mut learner.linear_mut().outcomes, outcomes);
                let mut rounds = std::mem::take(&mut learner.linear_mut().rounds);
                rounds.clear();
                let learnt = learn_all(&mut **learner, rows, &mut rounds);
                std::mem::swap(&mut learner.linear_mut().outcomes, outcomes);
                if let Err(error) = learnt {
                    // A probe that overflows fails all that are left, before any of them is asked.
                    let left = outcomes.iter_mut().filter(|outcome| outcome.failure.is_none());
                    left.for_each(|outcome| outcome.failure = Some((error.clone(), None)));
                }
                learner.linear_mut().rounds = rounds;
            }
        }
    }

    fn grow_inputs(&mut self, added: usize) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.grow(added),
            Self::OneDictionary(learner) => learner.grow(added),
        }
    }

    fn add_output_each(&mut self, like: Option<usize>) -> Vec<usize> {
        match self {
            Self::One(learner) => learner.add_output_each(like),
            Self::OneDictionary(learner) => {
                let steps = learner.linear_mut().steps.iter_mut().enumerate();
                steps.filter_map(|(index, step)| step.add_output(like).is_err().then_some(index)).collect()
            }
        }
    }

    fn take_out(&mut self, index: usize) {
        if let Self::OneDictionary(learner) = self {
            learner.linear_mut().steps.remove(index);
        }
    }
}

/// One of the updates that work on an ALD dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    Newton(NewtonStep),
    LeastSquares(LeastSquares),
    Gradient(GradientStep),
}

macro_rules! steps {
    ($($variant:ident($update:ty)),*) => {$(
        impl From<$update> for Step {
            fn from(update: $update) -> Self {
                Self::$variant(update)
            }
        }
    )*};
}

steps!(Newton(NewtonStep), LeastSquares(LeastSquares), Gradient(GradientStep));

impl Validate for Step {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Newton(update) => update.validate(),
            Self::LeastSquares(update) => update.validate(),
            Self::Gradient(update) => update.validate(),
        }
    }
}

/// Calls `$call` on the update inside.
macro_rules! inner {
    ($step:expr, $update:ident => $call:expr) => {
        match $step {
            Step::Newton($update) => $call,
            Step::LeastSquares($update) => $call,
            Step::Gradient($update) => $call,
        }
    };
}

impl LinearUpdate for Step {
    fn problem(&self) -> Problem {
        inner!(self, update => update.problem())
    }
    fn coefficients(&self) -> Option<&Coefficients> {
        inner!(self, update => update.coefficients())
    }
    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        inner!(self, update => update.predict(phi, scores));
    }
    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        inner!(self, update => update.step(phi, growth, target, scores))
    }
    fn by_values(&self) -> Option<&dyn ByValues> {
        inner!(self, update => update.by_values())
    }
    fn variance(&self) -> Option<&dyn LinearVariance> {
        inner!(self, update => update.variance())
    }
    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        inner!(self, update => update.blocks())
    }
    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        inner!(self, update => update.equations())
    }
    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        inner!(self, update => update.add_output(like))
    }
}

impl GrowingUpdate for Step {
    fn grow(&mut self) -> Result<(), Error> {
        inner!(self, update => update.grow())
    }
    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        inner!(self, update => update.remove(rotations, how));
    }
    fn restart(&mut self, n: usize) -> Result<(), Error> {
        inner!(self, update => update.restart(n))
    }
}

/// Several updates at the same coordinates. Its own prediction, which nobody asks for, is that of
/// the first.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Steps {
    steps: Vec<Step>,
    /// Outcomes of the last block, one a step.
    #[cfg_attr(feature = "serde", serde(skip))]
    outcomes: Vec<MemberBlock>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rounds: Vec<f64>,
}

impl Steps {
    fn new(step: Step) -> Self {
        Self { steps: vec![step], outcomes: Vec::new(), rounds: Vec::new() }
    }
}

impl Validate for Steps {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.steps.validate()?;
        let same = |step: &Step| step.coordinates() == self.coordinates() && step.outputs() == self.outputs();
        Inconsistent::require(
            !self.steps.is_empty() && self.steps.iter().all(same),
            "learners on one dictionary",
            "all have the same coordinates and outputs",
        )
    }
}

impl LinearUpdate for Steps {
    /// The coordinates are those of the steps that have not failed: one that failed in this round
    /// did not grow, and leaves the mixture.
    fn problem(&self) -> Problem {
        let inputs = self.steps.iter().map(LinearUpdate::coordinates).max().unwrap_or(0);
        let first = self.steps.first().map_or(Problem::squared(0, 1), LinearUpdate::problem);
        Problem { shape: Shape { inputs, ..first.shape }, ..first }
    }

    /// Coefficients of the only update; several share no dictionary from which points leave.
    fn coefficients(&self) -> Option<&Coefficients> {
        self.steps.first()?.coefficients()
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        if let Some(step) = self.steps.first() {
            step.predict(phi, scores);
        }
    }

    /// Fails when all fail that have not failed in this block before; each is unchanged then, and
    /// so is the dictionary.
    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let n = phi.len();
        let mut learnt = Err(ExampleError::Diverged.into());
        for (step, outcome) in self.steps.iter_mut().zip(&mut self.outcomes) {
            if outcome.failure.is_some() {
                continue;
            }
            match step.step(phi, growth, target, scores) {
                Ok(()) => {
                    outcome.predictions.extend_from_slice(scores);
                    learnt = Ok(());
                }
                Err(error) => {
                    phi.resize(n);
                    let mut guess = vec![0.0; scores.len()];
                    step.predict(phi, &mut guess);
                    outcome.failure = Some((error, Some(guess)));
                }
            }
            phi.resize(n);
        }
        if let (Some(new), Ok(())) = (growth, &learnt) {
            phi.push(new);
        }
        learnt
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        Some(self)
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        self.steps.first()?.variance()
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        Some(self)
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    /// The mixture drops the members that cannot.
    fn add_output(&mut self, _: Option<usize>) -> Result<(), Error> {
        Err(Error::FixedOutputs)
    }
}

impl ByValues for Steps {
    /// Functions of the first step, then those of the next.
    fn function(&self, index: usize) -> Option<&AlignedVec> {
        let outputs = self.outputs();
        self.steps.get(index / outputs)?.by_values()?.function(index % outputs)
    }

    fn read(&self, values: &mut [f64]) {
        if let Some(step) = self.steps.first().and_then(LinearUpdate::by_values) {
            step.read(values);
        }
    }
}

impl LinearBlocks for Steps {
    fn size(&mut self) -> usize {
        self.steps.iter_mut().map(LinearUpdate::block_size).max().unwrap_or(1)
    }

    /// Every member learns the block in its own way; the rounds learnt are those of the member that
    /// came furthest.
    fn learn_together(
        &mut self,
        phis: &mut [AlignedVec],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let before = scores.len();
        let mut learnt = Err(ExampleError::Diverged.into());
        for (step, outcome) in self.steps.iter_mut().zip(&mut self.outcomes) {
            if outcome.failure.is_some() {
                continue;
            }
            let first = outcome.predictions.len();
            let own = step.learn_block(phis, targets, &mut outcome.predictions);
            let made = &outcome.predictions[first..];
            scores.extend(made.iter().skip(scores.len() - before));
            match own {
                Ok(()) => learnt = Ok(()),
                Err(error) => {
                    let mut guess = vec![0.0; step.outputs()];
                    step.predict(&phis[made.len() / guess.len()], &mut guess);
                    outcome.failure = Some((error, Some(guess)));
                }
            }
        }
        learnt
    }
}

impl GrowingUpdate for Steps {
    fn grow(&mut self) -> Result<(), Error> {
        self.steps.iter_mut().try_for_each(GrowingUpdate::grow)
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        self.steps.iter_mut().for_each(|step| step.remove(rotations, how));
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.steps.iter_mut().try_for_each(|step| step.restart(n))
    }
}
