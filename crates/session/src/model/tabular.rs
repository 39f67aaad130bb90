//! Learners of rows in files, of numbers or of classes, alone or behind the encoding of a table.

use mercer_core::{Inconsistent, Validate};
use mercer_encoding::{Encoding, ScaledTargets};
use mercer_kernels::AnyKernel;
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::{ClassScore, Classifier, Regressor, RegressorExt, Score};
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::groups::Groups;

use super::{BackgroundRows, Description, Model, ModelError, ModelKind, RowDigest, check_names, frame};

/// A learner of rows in a file, with what is needed to use it and to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tabular<T> {
    /// What it is, in words.
    pub description: Description,
    /// How the columns of a table become the inputs; `None` where they are numbers as they are. The
    /// schema has the names of the columns: `features` of the description is then empty.
    pub encoding: Option<Encoding>,
    /// How far it has come.
    pub progress: Progress,
    /// A sample of the inputs that it has learnt.
    pub background: BackgroundRows,
    /// The learner, and what goes with its kind of targets.
    pub task: T,
    /// Models of groups, beside which the learner is the common one. A file that has them is of a
    /// kind of its own.
    #[serde(skip, default = "no_groups")]
    pub groups: Option<Groups<T>>,
}

fn no_groups<T>() -> Option<Groups<T>> {
    None
}

/// A learner of numbers in a file.
pub type Regression = Tabular<Numbers>;

/// A learner of classes in a file.
pub type Classification = Tabular<Classes>;

/// What a model has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Rows met, bad ones included.
    pub rows: u64,
    /// Rows that were left out.
    pub bad: u64,
    /// A checksum of all rows met in their order, by which the same data are known again.
    pub fingerprint: u32,
}

/// A learner of numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// The learner, and what it does with the units of its targets and with implausible ones.
    pub learner: ScaledTargets<AnyRegressor<AnyKernel>>,
    /// Intervals around its predictions, in the units in which it learns.
    pub intervals: Option<LearnerIntervals>,
    /// The predictions made before the targets were shown, in these units.
    pub score: Score,
}

/// A learner of classes, and their names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Classes {
    /// The learner.
    pub classifier: Classifier<AnyRegressor<AnyKernel>>,
    /// The names of the classes: class `k` of the classifier is `labels.get(k)`.
    pub labels: Labels,
    /// Rows learnt or, with a weight of 0, predicted.
    pub learnt: u64,
    /// The classes predicted before they were shown.
    pub score: ClassScore,
}

/// Either, for programs that take both.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Task {
    /// A learner of numbers.
    Numbers(Box<Numbers>),
    /// A learner of classes.
    Classes(Box<Classes>),
}

/// What is learnt of rows.
pub trait Taught: Validate {
    /// What files of it are.
    fn kind(&self) -> ModelKind;

    /// The learner alone.
    fn learner(&self) -> &AnyRegressor<AnyKernel>;

    /// Numbers in a target; 1 for a class.
    fn outputs(&self) -> usize;
}

impl Progress {
    /// The rows met.
    #[must_use]
    pub fn seen(&self) -> RowDigest {
        RowDigest { rows: self.rows, fingerprint: self.fingerprint }
    }

    /// Rows were met.
    pub fn meet(&mut self, RowDigest { rows, fingerprint }: RowDigest) {
        (self.rows, self.fingerprint) = (rows, fingerprint);
    }
}

impl Numbers {
    /// A learner that has learnt nothing yet, without intervals.
    #[must_use]
    pub fn new(learner: ScaledTargets<AnyRegressor<AnyKernel>>) -> Self {
        Self { learner, intervals: None, score: Score::default() }
    }
}

impl Classes {
    /// A classifier that has learnt nothing yet, and the names of the classes that it knows.
    #[must_use]
    pub fn new(classifier: Classifier<AnyRegressor<AnyKernel>>, labels: Labels) -> Self {
        Self { classifier, labels, learnt: 0, score: ClassScore::default() }
    }
}

impl<T> Tabular<T> {
    /// A model of rows of numbers as they are, of which nothing is said.
    #[must_use]
    pub fn plain(task: T) -> Self {
        let (description, progress) = (Description::default(), Progress::default());
        Self { description, encoding: None, progress, background: BackgroundRows::default(), task, groups: None }
    }

    /// The same model with another form of its task.
    pub fn map<U>(self, form: impl Fn(T) -> U) -> Tabular<U> {
        let Self { description, encoding, progress, background, task, groups } = self;
        let groups = groups.map(|groups| groups.map(&form));
        Tabular { description, encoding, progress, background, task: form(task), groups }
    }
}

impl<T: Taught> Tabular<T> {
    /// [`Model::to_bytes`] without a [`Model`] around it, as for a checkpoint in the midst of
    /// learning.
    ///
    /// # Errors
    /// As [`Model::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError>
    where
        T: Serialize,
    {
        match &self.groups {
            None => frame::pack(self.task.kind(), self),
            Some(groups) => frame::pack_parts(self.kind(), self, &(self, groups)),
        }
    }

    /// What files of it are.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        match self.task.kind() {
            ModelKind::Regression if self.groups.is_some() => ModelKind::RegressionGroups,
            ModelKind::Classification if self.groups.is_some() => ModelKind::ClassificationGroups,
            kind => kind,
        }
    }

    /// Inputs of the learner.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.task.learner().dimension()
    }

    /// Numbers in a target; 1 for a class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.task.outputs()
    }

    /// Points that the learner keeps.
    #[must_use]
    pub fn dictionary_size(&self) -> usize {
        self.task.learner().dictionary_size()
    }
}

impl<T: Taught + DeserializeOwned> Tabular<T> {
    /// A model with those of its groups.
    pub(super) fn decode_groups(body: &[u8]) -> Result<Self, ModelError> {
        let (mut model, groups): (Self, Groups<T>) = frame::decode_parts(body)?;
        model.groups = Some(groups);
        model.validate()?;
        Ok(model)
    }
}

impl Tabular<Task> {
    /// The learner of rows that a model is.
    ///
    /// # Errors
    /// The model, if it is of another kind.
    pub fn of(model: Model) -> Result<Self, Model> {
        match model {
            Model::Regression(model) => Ok(model.map(|task| Task::Numbers(Box::new(task)))),
            Model::Classification(model) => Ok(model.map(|task| Task::Classes(Box::new(task)))),
            other => Err(other),
        }
    }

    /// Its learner, if it is one of numbers.
    #[must_use]
    pub fn numbers(&self) -> Option<&Numbers> {
        if let Task::Numbers(task) = &self.task { Some(task) } else { None }
    }

    /// Its learner, if it is one of classes.
    #[must_use]
    pub fn classes(&self) -> Option<&Classes> {
        if let Task::Classes(task) = &self.task { Some(task) } else { None }
    }
}

impl Taught for Numbers {
    fn kind(&self) -> ModelKind {
        ModelKind::Regression
    }

    fn learner(&self) -> &AnyRegressor<AnyKernel> {
        self.learner.learner()
    }

    fn outputs(&self) -> usize {
        self.learner.outputs()
    }
}

impl Taught for Classes {
    fn kind(&self) -> ModelKind {
        ModelKind::Classification
    }

    fn learner(&self) -> &AnyRegressor<AnyKernel> {
        self.classifier.learner()
    }

    fn outputs(&self) -> usize {
        1
    }
}

/// What the two have in common.
fn either(task: &Task) -> &dyn Taught {
    match task {
        Task::Numbers(task) => &**task,
        Task::Classes(task) => &**task,
    }
}

impl Taught for Task {
    fn kind(&self) -> ModelKind {
        either(self).kind()
    }

    fn learner(&self) -> &AnyRegressor<AnyKernel> {
        either(self).learner()
    }

    fn outputs(&self) -> usize {
        either(self).outputs()
    }
}

impl Validate for Task {
    fn validate(&self) -> Result<(), Inconsistent> {
        either(self).validate()
    }
}

impl Validate for Numbers {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.learner.validate()?;
        let Some(intervals) = &self.intervals else { return Ok(()) };
        intervals.validate()?;
        let fits = intervals.outputs() == self.learner.outputs();
        Inconsistent::require(fits, "intervals", "there is one for each target")?;
        let told = intervals.scale() == IntervalScale::Error || self.learner.has_variance();
        Inconsistent::require(told, "intervals", "the learner tells the deviations that scale them")
    }
}

impl Validate for Classes {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.classifier.validate()?;
        self.labels.validate()?;
        let (known, classes) = (self.labels.len(), self.classifier.classes());
        // Of two classes the second may not have been met.
        let named = known == classes || (!self.classifier.is_open() && known < classes);
        Inconsistent::require(named, "list of classes", "each class of the learner has a name")
    }
}

impl<T: Taught> Validate for Tabular<T> {
    fn validate(&self) -> Result<(), Inconsistent> {
        let Self { description, encoding, progress: Progress { rows, bad, .. }, background, task, groups } = self;
        task.validate()?;
        background.validate()?;
        if let Some(groups) = groups {
            let width = encoding.as_ref().map_or(0, |encoding| encoding.schema().columns().len());
            Inconsistent::require(groups.column < width, "groups", "a column names them")?;
            Inconsistent::require(groups.models.len() <= groups.most, "groups", "they are bounded")?;
            for model in groups.models.values() {
                model.validate()?;
                let alike = model.learner().dimension() == self.dimension() && model.outputs() == self.outputs();
                Inconsistent::require(alike, "groups", "all have the columns of the common model")?;
            }
        }
        check_columns(description, encoding.as_ref(), self.dimension(), self.outputs())?;
        let counted = bad <= rows && *rows < u64::MAX / 2;
        Inconsistent::require(counted, "count of rows", "bad ones are among them")
    }
}

/// The columns are those of a learner of `d` inputs and so many outputs.
pub(super) fn check_columns(
    description: &Description,
    encoding: Option<&Encoding>,
    d: usize,
    outputs: usize,
) -> Result<(), Inconsistent> {
    check_names(&description.features, d)?;
    check_names(&description.target_names, outputs)?;
    if let Some(encoding) = encoding {
        encoding.validate()?;
        let fits = encoding.dimension() == d && description.features.is_empty();
        Inconsistent::require(fits, "encoding", "it makes the inputs, and the schema has the names")?;
    }
    Ok(())
}
