//! Sums of a ridge regression in a file: the state of a shard, which merges with those of others and from which a learner is made.

use std::fmt::Display;

use mercer_core::{Inconsistent, Validate};
use mercer_data::Scaling;
use mercer_kernels::AnyKernel;
use mercer_learners::update::{Awv, Ridge};
use mercer_learners::{AnyRegressor, Error, FeatureMap, FixedMap, Regressor, RidgeMoments, RidgePoint};
use serde::{Deserialize, Serialize};

use super::{Description, Model, ModelError, ModelKind, Progress, Regression, check_scaling, frame};

/// The sums of some shards, with what is needed to merge them and to predict with them.
///
/// ```
/// use mercer::fit::FitSpec;
/// use mercer::model::Moments;
/// use mercer::Regressor;
///
/// let spec: FitSpec = "learner=pkrr-taylor kernel=gaussian:1 degree=4 lambda=0.01".parse()?;
/// let mut shards = (0..2).map(|_| spec.start(1, 1, None)).collect::<Result<Vec<_>, _>>()?;
/// for t in 0..100 {
///     let x = f64::from(t) * 0.02 - 1.0;
///     shards[t as usize % 2].sums.add(&[x], (3.0 * x).sin())?;
/// }
/// let part = Moments::from_bytes(&shards[1].to_bytes()?)?;
/// shards[0].merge(&part)?;
/// let learner = shards[0].fit()?.learner;
/// assert!((learner.predict(&[0.5])? - 1.5f64.sin()).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moments {
    /// What the learner is, in words, and the columns of the data.
    pub description: Description,
    /// How columns were scaled before they were summed up.
    pub scaling: Option<Scaling>,
    /// Whether the learner is the forecaster of Azoury, Vovk and Warmuth; otherwise it is ridge regression.
    pub awv: bool,
    /// The ridge; `None` is that of the least generalised cross-validation.
    pub lambda: Option<f64>,
    /// The shards that are in the sums, in order.
    pub parts: Vec<Part>,
    /// The sums.
    pub sums: RidgeMoments<FixedMap<AnyKernel>>,
}

/// One shard that was summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Into how many shards the rows were cut.
    pub of: u64,
    /// Which of them, from 0.
    pub shard: u64,
    /// Its rows.
    pub rows: u64,
    /// A checksum of its sums, by which the same shard is known again.
    pub fingerprint: u32,
}

/// Why two states do not go together. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They are states of different things.
    #[error("{what} of the two states differ: {ours} and {theirs}; sum up all shards with the same options")]
    Different {
        /// What differs.
        what: &'static str,
        /// That of the first state.
        ours: String,
        /// That of the second.
        theirs: String,
    },
    /// The same shard twice.
    #[error("shard {shard}/{of} of {rows} rows is in both states; give each shard once")]
    Twice {
        /// Which shard.
        shard: u64,
        /// Of how many.
        of: u64,
        /// Its rows.
        rows: u64,
    },
    /// A shard that is to be taken back is not there.
    #[error("shard {shard}/{of} of {rows} rows is not in the state; only what was merged can be taken back")]
    NotThere {
        /// Which shard.
        shard: u64,
        /// Of how many.
        of: u64,
        /// Its rows.
        rows: u64,
    },
    /// Why the sums do not go together.
    #[error(transparent)]
    Sums(#[from] Error),
}

fn different(what: &'static str, ours: &dyn Display, theirs: &dyn Display) -> MergeError {
    MergeError::Different { what, ours: ours.to_string(), theirs: theirs.to_string() }
}

/// A list for a message, short.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Moments {
    /// Has the sums be those of one shard, of so many rows.
    ///
    /// # Errors
    /// When the sums cannot be written.
    pub fn close(&mut self, shard: u64, of: u64, rows: u64) -> Result<(), ModelError> {
        let fingerprint = crc32fast::hash(&postcard::to_allocvec(&self.sums)?);
        self.parts = vec![Part { of, shard, rows, fingerprint }];
        Ok(())
    }

    /// The rows of all shards.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// Refuses the state of something else.
    ///
    /// # Errors
    /// [`MergeError::Different`], which says what differs.
    pub fn check_same(&self, other: &Self) -> Result<(), MergeError> {
        let (ours, theirs) = (&self.description, &other.description);
        if ours.learner != theirs.learner {
            return Err(different("the learners", &ours.learner, &theirs.learner));
        }
        if ours.kernel != theirs.kernel {
            return Err(different("the kernels", &ours.kernel, &theirs.kernel));
        }
        if self.scaling != other.scaling {
            let told = |scaling: &Option<Scaling>| if scaling.is_some() { "scaled" } else { "not scaled" };
            let (ours, theirs) = match (told(&self.scaling), told(&other.scaling)) {
                ("scaled", "scaled") => ("by some ranges", "by others"),
                told => told,
            };
            return Err(different("the scalings of the columns", &ours, &theirs));
        }
        if ours.features != theirs.features {
            return Err(different("the columns", &listed(&ours.features), &listed(&theirs.features)));
        }
        let targets = |about: &Description| match &about.target_names[..] {
            [] => about.target_name.clone().unwrap_or_default(),
            names => listed(names),
        };
        if targets(ours) != targets(theirs) {
            return Err(different("the targets", &targets(ours), &targets(theirs)));
        }
        if ours.parameters != theirs.parameters {
            let told = |about: &Description| {
                about.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
            };
            return Err(different("the parameters", &told(ours), &told(theirs)));
        }
        let (ours, theirs) = (self.sums.feature_map(), other.sums.feature_map());
        if ours != theirs {
            let (mut ours, mut theirs) = (ours.to_string(), theirs.to_string());
            if ours == theirs {
                (ours, theirs) = (format!("{ours} with some values"), format!("{theirs} with others"));
            }
            return Err(different("the feature maps", &ours, &theirs));
        }
        Ok(())
    }

    /// Adds the shards of another state. `O(r²)`.
    ///
    /// # Errors
    /// When it is the state of something else, or has a shard that is in this one already; nothing is changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_same(other)?;
        if let Some(Part { shard, of, rows, .. }) = other.parts.iter().find(|part| self.parts.contains(part)) {
            return Err(MergeError::Twice { shard: *shard, of: *of, rows: *rows });
        }
        self.sums.merge(&other.sums)?;
        self.parts.extend(&other.parts);
        self.parts.sort_unstable();
        Ok(())
    }

    /// Takes the shards of another state back. `O(r²)`.
    ///
    /// # Errors
    /// When it is the state of something else, or has a shard that is not in this one; nothing is changed.
    pub fn retract(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_same(other)?;
        if let Some(Part { shard, of, rows, .. }) = other.parts.iter().find(|part| !self.parts.contains(part)) {
            return Err(MergeError::NotThere { shard: *shard, of: *of, rows: *rows });
        }
        self.sums.retract(&other.sums)?;
        self.parts.retain(|part| !other.parts.contains(part));
        Ok(())
    }

    /// What the fit comes to: its ridge, errors, R², effective dimension and generalised cross-validation. About `10r³`.
    ///
    /// # Errors
    /// When the sums are not finite.
    pub fn point(&self) -> Result<RidgePoint, Error> {
        let path = self.sums.path()?;
        match self.lambda {
            Some(lambda) => path.at(lambda),
            None => path.best(&path.grid()),
        }
    }

    /// The learner of all rows, as a model that predicts and goes on learning. `r³`, and about `10r³` to choose the ridge.
    ///
    /// # Errors
    /// When the sums are not finite, or so much was taken back that no ridge regression fits them.
    pub fn fit(&self) -> Result<Regression, Error> {
        let lambda = match self.lambda {
            Some(lambda) => lambda,
            None => self.point()?.lambda,
        };
        let learner: AnyRegressor<AnyKernel> = match self.awv {
            true => self.sums.fit::<Awv>(lambda)?.into(),
            false => self.sums.fit::<Ridge>(lambda)?.into(),
        };
        debug_assert_eq!(learner.outputs(), self.sums.outputs());
        let progress = Progress { rows: self.rows(), ..Progress::default() };
        let (description, scaling) = (self.description.clone(), self.scaling.clone());
        Ok(Regression { description, scaling, progress, intervals: None, learner })
    }

    /// The file.
    ///
    /// # Errors
    /// As [`Model::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Moments, self)
    }

    /// The state of a whole file.
    ///
    /// # Errors
    /// As [`Model::from_bytes`], and [`ModelError::OtherKind`] for a model of another kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        match Model::from_bytes(bytes)? {
            Model::Moments(moments) => Ok(*moments),
            other => Err(ModelError::OtherKind { expected: ModelKind::Moments, got: other.kind() }),
        }
    }
}

impl Validate for Moments {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "list of shards";
        self.sums.validate()?;
        let d = self.sums.feature_map().input_dimension();
        self.description.check(d, self.sums.outputs())?;
        self.lambda.map_or(Ok(()), |lambda| Inconsistent::positive(lambda, "ridge"))?;
        if let Some(scaling) = &self.scaling {
            check_scaling(scaling, d)?;
            let fits = scaling.outputs() == self.sums.outputs();
            Inconsistent::require(fits, "scaling", "it has a range for each target")?;
        }
        let counted = self.parts.iter().all(|part| part.shard < part.of && part.rows < u64::MAX >> 32);
        Inconsistent::require(counted && self.parts.len() < 1 << 31, WHAT, "each is one of so many")?;
        Inconsistent::require(self.parts.is_sorted(), WHAT, "they are in order")
    }
}
