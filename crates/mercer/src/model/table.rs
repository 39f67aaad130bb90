//! Learners behind an encoding of a table, in files: of numbers, and of classes.

use mercer_core::{Inconsistent, Validate};
use mercer_encoding::{ClassPipeline, Encoding, Pipeline, ScaledTargets};
use mercer_kernels::AnyKernel;
use mercer_learners::RegressorExt;
use mercer_learners::intervals::LearnerIntervals;
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use serde::{Deserialize, Serialize};

use super::{
    ClassProgress, Description, ModelError, ModelKind, Progress, check_counts, check_intervals, check_names, frame,
};

/// A learner of numbers behind the encoding of a table, in a file. Its targets are in their own units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// What it is, in words. The columns are those of the encoding's schema; `features` is empty.
    pub description: Description,
    /// How far it has come; the score is in the units of the targets.
    pub progress: Progress,
    /// Intervals around its predictions, in the units of the targets.
    pub intervals: Option<LearnerIntervals>,
    /// The encoding and the learner.
    pub pipeline: Pipeline<ScaledTargets<AnyRegressor<AnyKernel>>>,
}

/// A learner of classes behind the encoding of a table, in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClassTable {
    /// What it is, in words. The columns are those of the encoding's schema; `features` is empty.
    pub description: Description,
    /// The names of the classes: class `k` of the classifier is `labels.get(k)`.
    pub labels: Labels,
    /// How far it has come.
    pub progress: ClassProgress,
    /// The encoding and the classifier.
    pub pipeline: ClassPipeline<AnyRegressor<AnyKernel>>,
}

impl Table {
    /// [`Model::to_bytes`](super::Model::to_bytes) without a [`Model`](super::Model) around it, as for a checkpoint in the midst of learning.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Table, self)
    }

    /// What the columns are, and how they become numbers.
    #[must_use]
    pub fn encoding(&self) -> &Encoding {
        self.pipeline.encoding()
    }
}

impl ClassTable {
    /// [`Model::to_bytes`](super::Model::to_bytes) without a [`Model`](super::Model) around it, as for a checkpoint in the midst of learning.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::ClassTable, self)
    }

    /// What the columns are, and how they become numbers.
    #[must_use]
    pub fn encoding(&self) -> &Encoding {
        self.pipeline.encoding()
    }
}

/// The schema has the names of the columns.
fn check_columns(description: &Description) -> Result<(), Inconsistent> {
    Inconsistent::require(description.features.is_empty(), "list of columns", "the schema has the names of a table")
}

impl Validate for Table {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.pipeline.validate()?;
        check_columns(&self.description)?;
        let learner = self.pipeline.learner();
        check_names(&self.description.target_names, learner.outputs())?;
        self.intervals.as_ref().map_or(Ok(()), |intervals| check_intervals(intervals, learner))?;
        check_counts(self.progress.rows, self.progress.bad)
    }
}

impl Validate for ClassTable {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.pipeline.validate()?;
        self.labels.validate()?;
        super::classification::check_labels(&self.labels, self.pipeline.classifier())?;
        check_columns(&self.description)?;
        check_counts(self.progress.rows, self.progress.bad)
    }
}
