//! Model files: a learner with what is needed to use it and to go on, checked when it is read back.
//!
//! A [`Model`] is a learner of numbers or of classes of the
//! [`catalogue`](mercer_registry::catalogue), alone or behind the encoding of a table
//! ([`Tabular`]), a forecaster or an operator learner, together with the names of the columns it
//! was trained on. [`Model::to_bytes`] and [`Model::from_bytes`] are exact: a model that is read
//! back predicts and goes on learning bit for bit like the one that was saved.
//!
//! **Format.** A header of 24 bytes, little-endian: the magic `89 4D 65 72 63 65 72 0A`
//! (`\x89Mercer\n`), the format's version (`u16`), the kind (`u16`: 1 regression, 2 prediction, 3
//! operator, 4 classification, 5 sums, 6 forecasters of groups), a CRC-32 (`u32`) of version, kind,
//! length and body, and the body's length (`u64`); then the body in
//! [postcard](https://postcard.jamesmunns.com), whose layout is that of the learners' fields. There
//! is one version, 1. A golden file of every kind and learner is part of the tests. Files of
//! development versions, which began with `\x89MERCER\n`, are refused.
//!
//! **A learner alone.** [`to_bytes`] and [`from_bytes`] do the same for a regression learner that
//! comes with no description.
//!
//! **Untrusted bytes.** A file from elsewhere may be damaged or made to do harm. Nothing is
//! allocated on the word of a length field; the checksum is compared before anything is decoded;
//! nesting is bounded; and what was decoded must [validate](mercer_core::Validate): sizes agree,
//! numbers are finite, pivots positive, parameters in their ranges. So a model that was read does
//! not panic, whatever the bytes. What would be refused when it is read is refused when it is
//! written. It may still be nonsense that somebody composed with care: a checksum is no signature.

mod background;
mod class_union;
mod error;
mod frame;
mod groups;
mod merged;
mod moments;
mod operator;
mod part;
mod row_digest;
mod series;
mod sum_table;
mod tabular;

use std::fmt;
use std::io::Read;

use mercer_core::Inconsistent;
use mercer_encoding::ScaledTargets;
use mercer_kernels::AnyKernel;
use mercer_readers::{ColumnChoice, Marks, TargetColumn};
use mercer_registry::AnyRegressor;
use serde::{Deserialize, Serialize};

pub use background::BackgroundRows;
pub use class_union::{ClassUnion, MOST_CLASSES};
pub use error::ModelError;
pub use frame::{MAGIC, MOST_BYTES, VERSION};
pub use groups::GroupPredictions;
pub use merged::FilterMergeError;
pub use moments::{MergeError, Moments};
pub use operator::{AnyOperator, Operator};
pub use part::{Part, PartSource, copies, digest_of};
pub use row_digest::RowDigest;
pub use series::{Prediction, SeriesErrors};
pub use sum_table::{SumTableError, SumTerm};
pub use tabular::{Classes, Classification, Numbers, Progress, Regression, Tabular, Task, Taught};

/// What a model file holds.
///
/// ```
/// use mercer_encoding::ScaledTargets;
/// use mercer_session::model::{Description, Model, Numbers, Tabular};
/// use mercer_kernels::AnyKernel;
/// use mercer_learners::RegressorExt;
/// use mercer_learners::families::{Krls, KrlsParams};
///
/// let mut learner = Krls::new("gaussian:0.5".parse::<AnyKernel>()?, 1, KrlsParams::default().lambda(0.0))?;
/// learner.update(&[0.3], 1.0)?;
/// let mut model = Tabular::plain(Numbers::new(ScaledTargets::unscaled(learner.into())));
/// model.description = Description { learner: "krls".to_owned(), ..Description::default() };
/// let bytes = Model::Regression(Box::new(model)).to_bytes()?;
/// let Model::Regression(restored) = Model::from_bytes(&bytes)? else { panic!("another kind") };
/// assert!((restored.task.learner.predict(&[0.3])? - 1.0).abs() < 1e-12);
/// assert!(Model::from_bytes(&bytes[..40]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Model {
    /// A regression learner.
    Regression(Box<Regression>),
    /// A forecaster of a series.
    Prediction(Box<Prediction>),
    /// A learner of an operator.
    Operator(Box<Operator>),
    /// A learner of classes.
    Classification(Box<Classification>),
    /// Sums of a ridge regression, which merge with those of other shards.
    Moments(Box<Moments>),
    /// Forecasters of the groups of a table.
    GroupPredictions(Box<GroupPredictions>),
}

/// The kinds of models, as their files name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelKind {
    /// [`Model::Regression`]
    Regression,
    /// [`Model::Prediction`]
    Prediction,
    /// [`Model::Operator`]
    Operator,
    /// [`Model::Classification`]
    Classification,
    /// [`Model::Moments`]
    Moments,
    /// [`Model::GroupPredictions`]
    GroupPredictions,
    /// [`Model::Regression`] with models of groups
    RegressionGroups,
    /// [`Model::Classification`] with models of groups
    ClassificationGroups,
}

impl ModelKind {
    const ALL: [Self; 8] = [
        Self::Regression,
        Self::Prediction,
        Self::Operator,
        Self::Classification,
        Self::Moments,
        Self::GroupPredictions,
        Self::RegressionGroups,
        Self::ClassificationGroups,
    ];

    fn code(self) -> u16 {
        match self {
            Self::Regression => 1,
            Self::Prediction => 2,
            Self::Operator => 3,
            Self::Classification => 4,
            Self::Moments => 5,
            Self::GroupPredictions => 6,
            Self::RegressionGroups => 7,
            Self::ClassificationGroups => 8,
        }
    }

    fn of_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Regression => "regression",
            Self::Prediction => "prediction",
            Self::Operator => "operator",
            Self::Classification => "classification",
            Self::Moments => "sums",
            Self::GroupPredictions => "predictions of groups",
            Self::RegressionGroups => "regression of groups",
            Self::ClassificationGroups => "classification of groups",
        })
    }
}

/// What a learner was made of, in words, and the columns it was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its name in the [`catalogue`](mercer_registry::catalogue).
    pub learner: String,
    /// The kernel's `SPEC`.
    pub kernel: String,
    /// Its keys with their values.
    pub parameters: Vec<(String, String)>,
    /// The seed of what it draws.
    pub seed: u64,
    /// The names of the features, if the data had names.
    pub features: Vec<String>,
    /// The name of the target, if the data had names.
    pub target_name: Option<String>,
    /// How the target was told.
    pub target: TargetColumn,
    /// The names of the targets, if there are several and the data had names; `target_name` is then
    /// the first.
    pub target_names: Vec<String>,
    /// The column of the weights.
    pub weight: Option<ColumnChoice>,
    /// The marks in the numbers of the data, where they were text.
    pub marks: Marks,
    /// What the program that made the model keeps for itself.
    pub own: Own,
}

/// What the program that made a model keeps for itself, as keys with JSON values: Python the
/// parameters as they were given, the command the values of a file that stand for none. Nothing of
/// it bears upon the prediction for a row that has been read.
pub type Own = Vec<(String, String)>;

/// The key of [`Own`] under which the command keeps the values that stand for none in the data: a
/// JSON array of texts.
pub const GAPS: &str = "gaps";

/// As many names as columns, or none.
fn check_names(names: &[String], columns: usize) -> Result<(), Inconsistent> {
    Inconsistent::require(names.is_empty() || names.len() == columns, "list of columns", "each has a name")
}

impl Model {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Regression(model) => model.kind(),
            Self::Prediction(_) => ModelKind::Prediction,
            Self::Operator(_) => ModelKind::Operator,
            Self::Classification(model) => model.kind(),
            Self::Moments(_) => ModelKind::Moments,
            Self::GroupPredictions(_) => ModelKind::GroupPredictions,
        }
    }

    /// The file, whole.
    ///
    /// # Errors
    /// [`ModelError::Inconsistent`] when the learner holds what could not be read back, such as an
    /// infinite number; [`ModelError::TooLarge`] beyond [`MOST_BYTES`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Regression(model) => model.to_bytes(),
            Self::Prediction(model) => model.to_bytes(),
            Self::Operator(model) => model.to_bytes(),
            Self::Classification(model) => model.to_bytes(),
            Self::Moments(model) => model.to_bytes(),
            Self::GroupPredictions(model) => model.to_bytes(),
        }
    }

    /// The model of a whole file.
    ///
    /// # Errors
    /// Whatever is wrong with it, in words: see [`ModelError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let frame::ModelFrame { kind, body } = frame::open(bytes)?;
        Ok(match kind {
            ModelKind::Regression => Self::Regression(frame::decode(body)?),
            ModelKind::Prediction => Self::Prediction(frame::decode(body)?),
            ModelKind::Operator => Self::Operator(frame::decode(body)?),
            ModelKind::Classification => Self::Classification(frame::decode(body)?),
            ModelKind::Moments => Self::Moments(frame::decode(body)?),
            ModelKind::GroupPredictions => Self::GroupPredictions(frame::decode(body)?),
            ModelKind::RegressionGroups => Self::Regression(Tabular::decode_groups(body)?.into()),
            ModelKind::ClassificationGroups => Self::Classification(Tabular::decode_groups(body)?.into()),
        })
    }

    /// The model that `input` holds up to its end. The header is looked at first: of what is no
    /// model no more is read, and of a model no more than its header says.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when `input` cannot be read.
    pub fn read(input: impl Read) -> Result<Self, ModelError> {
        Self::from_bytes(&frame::read(input)?)
    }
}

/// The model file of a regression learner that comes with nothing else: its [`Description`] and its
/// [`Progress`] are the defaults.
///
/// The learner is copied once. [`Tabular::to_bytes`] needs no copy, and keeps names and progress
/// as well.
///
/// ```
/// use mercer_kernels::AnyKernel;
/// use mercer_learners::RegressorExt;
/// use mercer_learners::families::{Krls, KrlsParams};
/// use mercer_session::model;
///
/// let mut learner = Krls::new("gaussian:0.5".parse::<AnyKernel>()?, 1, KrlsParams::default())?;
/// learner.update(&[0.3], 1.0)?;
/// let bytes = model::to_bytes(&learner)?;
/// let mut restored = model::from_bytes(&bytes)?;
/// assert_eq!(restored.predict(&[0.2])?, learner.predict(&[0.2])?);
/// restored.update(&[0.4], 0.5)?; // it goes on learning
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Model::to_bytes`].
pub fn to_bytes(learner: &(impl Clone + Into<AnyRegressor<AnyKernel>>)) -> Result<Vec<u8>, ModelError> {
    Tabular::plain(Numbers::new(ScaledTargets::unscaled(learner.clone().into()))).to_bytes()
}

/// The learner of a regression model's file, by [`to_bytes`] or by the `mercer` command.
///
/// # Errors
/// As [`Model::from_bytes`]; [`ModelError::OtherKind`] for a forecaster or an operator;
/// [`ModelError::Encoded`] when the learner has learnt encoded columns, because it would predict
/// wrongly without their encoding.
pub fn from_bytes(bytes: &[u8]) -> Result<AnyRegressor<AnyKernel>, ModelError> {
    match Model::from_bytes(bytes)? {
        Model::Regression(model) if model.encoding.is_some() => Err(ModelError::Encoded),
        Model::Regression(model) => Ok(model.task.learner.into_learner()),
        other => Err(ModelError::OtherKind { expected: ModelKind::Regression, got: other.kind() }),
    }
}
