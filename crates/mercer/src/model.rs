//! Model files: a learner with what is needed to use it and to go on, checked when it is read back.
//!
//! A [`Model`] is a regression learner of the [`catalogue`](crate::catalogue), a forecaster or an operator learner, together with the
//! names of the columns it was trained on. [`Model::to_bytes`] and [`Model::from_bytes`] are exact: what is read back predicts and
//! goes on learning bit for bit like what was saved.
//!
//! **Format.** A header of 24 bytes, little-endian: the magic `89 4D 45 52 43 45 52 0A` (`\x89MERCER\n`), the format's version
//! (`u16`), the kind (`u16`: 1 regression, 2 prediction, 3 operator), a CRC-32 (`u32`) of version, kind, length and body, and the body's
//! length (`u64`); then the body in [postcard](https://postcard.jamesmunns.com), whose layout is that of the
//! learners' fields. A change of those fields is a new version, whose reader keeps reading the old ones: golden files of
//! every kind, learner and version are part of the tests. Version 2 added to forecasters and operators what a run needs to go on in the
//! midst of its data; regression learners are the same in both.
//!
//! **Untrusted bytes.** A file from elsewhere may be damaged or made to do harm. Nothing is allocated on the word of a length field;
//! the checksum is compared before anything is decoded; nesting is bounded; and what was decoded must
//! [validate](crate::core::Validate): sizes agree, numbers are finite, pivots positive, parameters in their ranges. So a model that was
//! read does not panic, whatever the bytes. It may still be nonsense that somebody composed with care: a checksum is no signature.
//!
//! ```
//! use mercer::model::{Description, Model, Progress, Regression};
//! use mercer::{AnyKernel, Krls, KrlsParams, Regressor};
//!
//! let mut learner = Krls::new("gaussian:0.5".parse::<AnyKernel>()?, 1, KrlsParams::default())?;
//! learner.update(&[0.3], 1.0)?;
//! let model = Regression {
//!     learner: learner.into(),
//!     scaling: None,
//!     description: Description { learner: "krls".to_owned(), ..Description::default() },
//!     progress: Progress::default(),
//! };
//! let bytes = Model::Regression(Box::new(model)).to_bytes()?;
//! let Model::Regression(restored) = Model::from_bytes(&bytes)? else { panic!("another kind") };
//! assert!((restored.learner.predict(&[0.3])? - 1.0).abs() < 1e-12);
//! assert!(Model::from_bytes(&bytes[..40]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod frame;
mod operator;
mod seen;
mod series;

use std::fmt;
use std::io::Read;

use mercer_core::{Inconsistent, Validate};
use mercer_data::{Scaling, TargetColumn};
use mercer_kernels::AnyKernel;
use mercer_learners::{AnyRegressor, Regressor, Score};
use serde::{Deserialize, Serialize};

use operator::OperatorV1;
use series::PredictionV1;

pub use error::ModelError;
pub use frame::{MAGIC, MOST_BYTES, VERSION};
pub use operator::{AnyOperator, Operator};
pub use seen::Seen;
pub use series::{Prediction, SeriesErrors};

/// What a model file holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Model {
    /// A regression learner.
    Regression(Box<Regression>),
    /// A forecaster of a series.
    Prediction(Box<Prediction>),
    /// A learner of an operator.
    Operator(Box<Operator>),
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
}

impl ModelKind {
    const ALL: [Self; 3] = [Self::Regression, Self::Prediction, Self::Operator];

    fn code(self) -> u16 {
        match self {
            Self::Regression => 1,
            Self::Prediction => 2,
            Self::Operator => 3,
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
        })
    }
}

/// A regression learner in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Regression {
    /// What it is, in words.
    pub description: Description,
    /// How columns were scaled before they were learnt, and are to be before a prediction.
    pub scaling: Option<Scaling>,
    /// How far it has come.
    pub progress: Progress,
    /// The learner.
    pub learner: AnyRegressor<AnyKernel>,
}

/// What a regression learner was made of, in words, and the columns it was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its name in the [`catalogue`](crate::catalogue).
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
}

/// What a regression learner has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Rows met, bad ones included.
    pub rows: u64,
    /// Rows that were left out.
    pub bad: u64,
    /// A checksum of all rows met in their order, by which the same data are known again.
    pub fingerprint: u32,
    /// The predictions made before the targets were shown.
    pub score: Score,
}

impl Progress {
    /// The rows met.
    #[must_use]
    pub fn seen(&self) -> Seen {
        Seen { rows: self.rows, fingerprint: self.fingerprint }
    }

    /// The same with one row more: `rows` and `fingerprint` are those after it.
    #[must_use]
    pub fn after(&self, features: &[f64], target: f64) -> Self {
        let Seen { rows, fingerprint } = self.seen().after([features, &[target]]);
        Self { rows, fingerprint, ..*self }
    }
}

impl Regression {
    /// [`Model::to_bytes`] without a [`Model`] around it, as for a checkpoint in the midst of learning.
    ///
    /// # Errors
    /// As [`Model::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Regression, self)
    }
}

/// As many names as columns, or none.
fn check_names(names: &[String], columns: usize) -> Result<(), Inconsistent> {
    Inconsistent::require(names.is_empty() || names.len() == columns, "list of columns", "each has a name")
}

impl Validate for Regression {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.learner.validate()?;
        let d = self.learner.dimension();
        check_names(&self.description.features, d)?;
        if let Some(scaling) = &self.scaling {
            scaling.validate()?;
            Inconsistent::require(scaling.dimension() == d, "scaling", "it has a range for each feature")?;
        }
        let Progress { rows, bad, .. } = self.progress;
        Inconsistent::require(bad <= rows && rows < u64::MAX / 2, "count of rows", "bad ones are among them")
    }
}

impl Model {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Regression(_) => ModelKind::Regression,
            Self::Prediction(_) => ModelKind::Prediction,
            Self::Operator(_) => ModelKind::Operator,
        }
    }

    /// The file, whole.
    ///
    /// # Errors
    /// [`ModelError::Inconsistent`] when the learner holds what could not be read back, such as an infinite number;
    /// [`ModelError::TooLarge`] beyond [`MOST_BYTES`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Regression(model) => model.to_bytes(),
            Self::Prediction(model) => model.to_bytes(),
            Self::Operator(model) => model.to_bytes(),
        }
    }

    /// The model of a whole file.
    ///
    /// # Errors
    /// Whatever is wrong with it, in words: see [`ModelError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let frame::Opened { version, kind, body } = frame::open(bytes)?;
        Ok(match (kind, version) {
            (ModelKind::Regression, _) => Self::Regression(Box::new(frame::decode(body)?)),
            (ModelKind::Prediction, 1) => Self::Prediction(Box::new(frame::decode_old::<PredictionV1, _>(body)?)),
            (ModelKind::Prediction, _) => Self::Prediction(Box::new(frame::decode(body)?)),
            (ModelKind::Operator, 1) => Self::Operator(Box::new(frame::decode_old::<OperatorV1, _>(body)?)),
            (ModelKind::Operator, _) => Self::Operator(Box::new(frame::decode(body)?)),
        })
    }

    /// The model that `input` holds up to its end; no more than [`MOST_BYTES`] are read.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when `input` cannot be read.
    pub fn read(input: impl Read) -> Result<Self, ModelError> {
        let mut bytes = Vec::new();
        input.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(ModelError::Io)?;
        Self::from_bytes(&bytes)
    }
}
