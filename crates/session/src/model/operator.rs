//! A learner of an operator in a file.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AnyKernel;
use mercer_koopman::{DenseSogd, Error, KernelOperator, OperatorLearner, OperatorStep, OperatorSums, Sogd, Trajectory};
use serde::{Deserialize, Serialize};

use super::{ModelError, ModelKind, Own, RowDigest, check_names, frame};

/// A learner of an operator in a file, with all that is needed to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Operator {
    /// What it was made of: keys with their values, as the command's options write them.
    pub parameters: Vec<(String, String)>,
    /// What the program that made it keeps for itself.
    pub own: Own,
    /// The names of the inputs' columns and then of the outputs', if the pairs had names.
    pub columns: Vec<String>,
    /// The [fingerprint](RowDigest) of all pairs learnt.
    pub fingerprint: u32,
    /// Where the trajectory stands that the pairs came from, if they came from one.
    pub trajectory: Option<Trajectory>,
    /// The learner.
    pub learner: AnyOperator,
}

/// One of the learners of operators.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AnyOperator {
    /// [`Sogd`]
    Sparse(Box<Sogd<AnyKernel>>),
    /// [`DenseSogd`]
    Dense(Box<DenseSogd<AnyKernel>>),
    /// [`OperatorSums`]
    Sums(Box<OperatorSums>),
}

impl AnyOperator {
    /// The learner by gradient descent behind its face; `None` of exact sums, from which an
    /// operator is read by [`OperatorSums::model`].
    #[must_use]
    pub fn descent(&self) -> Option<&dyn OperatorLearner<AnyKernel, AnyKernel>> {
        match self {
            Self::Sparse(learner) => Some(&**learner),
            Self::Dense(learner) => Some(&**learner),
            Self::Sums(_) => None,
        }
    }

    /// Exact sums.
    #[must_use]
    pub fn sums(&self) -> Option<&OperatorSums> {
        if let Self::Sums(sums) = self { Some(sums) } else { None }
    }

    /// Numbers of `x` and of `x⁺`.
    #[must_use]
    pub fn dimensions(&self) -> [usize; 2] {
        let of = |operator: &KernelOperator<_, _>| [operator.input_dimension(), operator.output_dimension()];
        match self {
            Self::Sparse(learner) => of(learner.operator()),
            Self::Dense(learner) => of(learner.operator()),
            Self::Sums(sums) => [sums.input_dimension(), sums.output_dimension()],
        }
    }

    /// Pairs learnt so far.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        match self {
            Self::Sparse(learner) => learner.rounds(),
            Self::Dense(learner) => learner.rounds(),
            Self::Sums(sums) => sums.rounds(),
        }
    }

    /// Learns one pair; gradient descent tells what became of it.
    ///
    /// # Errors
    /// Those of the learner, which is then as it was.
    pub fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<Option<OperatorStep>, Error> {
        match self {
            Self::Sparse(learner) => learner.update(x, x_plus).map(Some),
            Self::Dense(learner) => learner.update(x, x_plus).map(Some),
            Self::Sums(sums) => sums.update(x, x_plus).map(|()| None),
        }
    }

    /// Rounds, counted from 0, whose `x` and whose `x⁺` are in the dictionaries: oldest first. None
    /// of exact sums, whose dictionary is chosen when they are read.
    #[must_use]
    pub fn kept_rounds(&self) -> [Vec<u64>; 2] {
        match self {
            Self::Sparse(learner) => [learner.input_rounds().to_vec(), learner.output_rounds().to_vec()],
            Self::Dense(learner) => [(); 2].map(|()| (0..learner.rounds()).collect()),
            Self::Sums(_) => Default::default(),
        }
    }

    /// Pairs whose error exceeded the budget, but which a guard against dependent points kept out.
    #[must_use]
    pub fn forced_rejections(&self) -> u64 {
        match self {
            Self::Sparse(learner) => learner.forced_rejections(),
            Self::Dense(_) | Self::Sums(_) => 0,
        }
    }
}

impl Operator {
    /// A learner of which nothing more is known.
    #[must_use]
    pub fn new(columns: Vec<String>, learner: AnyOperator) -> Self {
        Self { parameters: Vec::new(), own: Own::new(), columns, fingerprint: 0, trajectory: None, learner }
    }

    /// The pairs learnt.
    #[must_use]
    pub fn seen(&self) -> RowDigest {
        RowDigest { rows: self.learner.rounds(), fingerprint: self.fingerprint }
    }

    /// [`Model::to_bytes`](super::Model::to_bytes) without a model around it.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Operator, self)
    }
}

impl Validate for Operator {
    fn validate(&self) -> Result<(), Inconsistent> {
        match &self.learner {
            AnyOperator::Sparse(learner) => learner.validate()?,
            AnyOperator::Dense(learner) => learner.validate()?,
            AnyOperator::Sums(sums) => sums.validate()?,
        }
        let [d, d_plus] = self.learner.dimensions();
        if let Some(trajectory) = &self.trajectory {
            trajectory.validate()?;
            let fits = [d, d_plus] == [trajectory.state_dimension(); 2];
            Inconsistent::require(fits, "rows of a trajectory", "a state is what the learner takes")?;
        }
        check_names(&self.columns, d + d_plus)
    }
}
