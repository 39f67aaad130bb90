//! A learner of an operator in a file.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AnyKernel;
use mercer_koopman::{DenseSogd, OperatorLearner, Sogd};
use serde::{Deserialize, Serialize};

use super::{ModelError, ModelKind, Own, Seen, check_names, frame};

/// A learner of an operator in a file, with all that is needed to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Operator {
    /// What it was made of: keys with their values, as the command's options write them.
    pub parameters: Vec<(String, String)>,
    /// What the program that made it keeps for itself.
    pub own: Own,
    /// The names of the inputs' columns and then of the outputs', if the pairs had names.
    pub columns: Vec<String>,
    /// The [fingerprint](Seen) of all pairs learnt.
    pub fingerprint: u32,
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
}

impl AnyOperator {
    /// The learner behind its face.
    #[must_use]
    pub fn inner(&self) -> &dyn OperatorLearner<AnyKernel, AnyKernel> {
        match self {
            Self::Sparse(learner) => &**learner,
            Self::Dense(learner) => &**learner,
        }
    }

    /// The same, to teach it.
    pub fn inner_mut(&mut self) -> &mut dyn OperatorLearner<AnyKernel, AnyKernel> {
        match self {
            Self::Sparse(learner) => &mut **learner,
            Self::Dense(learner) => &mut **learner,
        }
    }

    /// Rounds, counted from 0, whose `x` and whose `x⁺` are in the dictionaries: oldest first.
    #[must_use]
    pub fn kept_rounds(&self) -> [Vec<u64>; 2] {
        match self {
            Self::Sparse(learner) => [learner.input_rounds().to_vec(), learner.output_rounds().to_vec()],
            Self::Dense(learner) => [(); 2].map(|()| (0..learner.rounds()).collect()),
        }
    }

    /// Pairs whose error exceeded the budget, but which a guard against dependent points kept out.
    #[must_use]
    pub fn forced_rejections(&self) -> u64 {
        match self {
            Self::Sparse(learner) => learner.forced_rejections(),
            Self::Dense(_) => 0,
        }
    }
}

impl Operator {
    /// A learner of which nothing more is known.
    #[must_use]
    pub fn new(columns: Vec<String>, learner: AnyOperator) -> Self {
        Self { parameters: Vec::new(), own: Own::new(), columns, fingerprint: 0, learner }
    }

    /// The pairs learnt.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { rows: self.learner.inner().rounds(), fingerprint: self.fingerprint }
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
        }
        let operator = self.learner.inner().operator();
        check_names(&self.columns, operator.input_dimension() + operator.output_dimension())
    }
}
