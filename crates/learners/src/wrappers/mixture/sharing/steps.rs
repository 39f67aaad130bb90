//! The updates of members on one dictionary, as one update.

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations};

use super::super::team::MemberBlock;
use crate::engines::update::{
    ByValues, Coefficients, GradientStep, GrowingUpdate, LeastSquares, LinearBlocks, LinearUpdate, LinearVariance,
    NewtonStep, NormalSystem,
};
use crate::error::Error;
use crate::example::{Problem, Shape, Target, Targets};

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
    pub(super) steps: Vec<Step>,
    /// Outcomes of the last block, one a step.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) outcomes: Vec<MemberBlock>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) rounds: Vec<f64>,
}

impl Steps {
    pub(super) fn new(step: Step) -> Self {
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
