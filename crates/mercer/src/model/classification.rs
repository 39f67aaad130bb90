//! A learner of classes in a file, with the names of the classes.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AnyKernel;
use mercer_learners::{ClassScore, Classifier, Regressor, RegressorExt};
use mercer_readers::{Labels, Scaling};
use mercer_registry::AnyRegressor;
use serde::{Deserialize, Serialize};

use super::{Description, ModelError, ModelKind, Seen, check_counts, check_scaling, frame};

/// A learner of classes in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Classification {
    /// What it is, in words.
    pub description: Description,
    /// The names of the classes: class `k` of the classifier is `labels.get(k)`.
    pub labels: Labels,
    /// How features were scaled before they were learnt, and are to be before a prediction.
    pub scaling: Option<Scaling>,
    /// How far it has come.
    pub progress: ClassProgress,
    /// The learner.
    pub classifier: Classifier<AnyRegressor<AnyKernel>>,
}

/// What a learner of classes has seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassProgress {
    /// Rows met, bad ones included.
    pub rows: u64,
    /// Rows that were left out.
    pub bad: u64,
    /// A checksum of all rows met in their order, by which the same data are known again.
    pub fingerprint: u32,
    /// Rows learnt or, with a weight of 0, predicted.
    pub learnt: u64,
    /// The classes predicted before they were shown.
    pub score: ClassScore,
}

impl ClassProgress {
    /// The rows met.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { rows: self.rows, fingerprint: self.fingerprint }
    }
}

impl Classification {
    /// [`Model::to_bytes`](super::Model::to_bytes) without a [`Model`](super::Model) around it, as for a checkpoint in the midst of learning.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Classification, self)
    }
}

/// Each class has a name.
pub(super) fn check_labels<R: Regressor>(labels: &Labels, classifier: &Classifier<R>) -> Result<(), Inconsistent> {
    let (known, classes) = (labels.len(), classifier.classes());
    // Of two classes the second may not have been met.
    let named = known == classes || (!classifier.is_open() && known < classes);
    Inconsistent::require(named, "list of classes", "each class of the learner has a name")
}

impl Validate for Classification {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.classifier.validate()?;
        self.labels.validate()?;
        check_labels(&self.labels, &self.classifier)?;
        let d = self.classifier.learner().dimension();
        self.description.check(d, 1)?;
        if let Some(scaling) = &self.scaling {
            check_scaling(scaling, d)?;
        }
        check_counts(self.progress.rows, self.progress.bad)
    }
}
