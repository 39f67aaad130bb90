//! Sums of a ridge regression in a file: the state of a shard, which merges with those of others
//! and from which a learner is made.

use std::borrow::Cow;
use std::fmt::Display;

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_encoding::{Encoding, ScaledTargets};
use mercer_kernels::AnyKernel;
use mercer_learners::update::{Awv, Ridge};
use mercer_learners::{Classifier, Error, FeatureMap, FixedMap, RegressorExt, RidgeMoments, RidgePath, RidgePoint};
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use serde::{Deserialize, Serialize};

use super::part::{Part, PartSource, digest, twice};
use super::tabular::check_columns;
use super::{
    BackgroundRows, ClassUnion, Classes, Classification, Description, MOST_CLASSES, Model, ModelError, ModelKind,
    Numbers, Progress, Regression, Tabular, frame,
};

/// Sums of any fixed features.
type Sums = RidgeMoments<FixedMap<AnyKernel>>;

/// The part of a class's weight that retracting may leave by rounding alone.
const ROUNDING: f64 = 1e-12;

/// The sums of some shards, with what is needed to merge them and to predict with them.
///
/// ```
/// use mercer_session::fit::FitSpec;
/// use mercer_session::model::Moments;
/// use mercer_learners::RegressorExt;
///
/// let spec: FitSpec = "learner=pkrr-taylor kernel=gaussian:1 degree=4 lambda=0.01".parse()?;
/// let mut shards = (0..2).map(|_| spec.start(1, 1, None)).collect::<Result<Vec<_>, _>>()?;
/// for t in 0..100 {
///     let x = f64::from(t) * 0.02 - 1.0;
///     shards[t as usize % 2].sums.add(&[x], (3.0 * x).sin())?;
/// }
/// let part = Moments::from_bytes(&shards[1].to_bytes()?)?;
/// shards[0].merge(&part)?;
/// let learner = shards[0].fit()?.task.learner;
/// assert!((learner.predict(&[0.5])? - 1.5f64.sin()).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Classes by least squares.** Sums of classes have an output for each class, 1 for its own rows
/// and 0 for the others, in the sorted order of their names. A class that a shard never met has
/// sums of 0 there, so shards that met different classes merge: their classes are the union. The
/// fit is that of targets `+1` and `−1`, which the sums tell ([`RidgeMoments::sign`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moments {
    /// What the learner is, in words, and the columns of the data.
    pub description: Description,
    /// Whether the learner is the forecaster of Azoury, Vovk and Warmuth; otherwise it is ridge
    /// regression.
    pub awv: bool,
    /// The ridge; `None` is that of the least generalised cross-validation.
    pub lambda: Option<f64>,
    /// The shards that are in the sums, in order.
    pub parts: Vec<Part>,
    /// The sums.
    pub sums: RidgeMoments<FixedMap<AnyKernel>>,
    /// The classes met, in sorted order, each of which has an output; `None` for sums of numbers.
    /// Before any class is met there is one output.
    pub classes: Option<Labels>,
    /// How the columns of a table become the inputs, the same for every row. The columns are then
    /// those of its schema; `features` of the description is empty.
    pub encoding: Option<Encoding>,
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
    /// The same rows twice.
    #[error("rows of {} are in both states, and would count twice; give each file once", told(name))]
    Twice {
        /// What they were read from.
        name: String,
    },
    /// Columns in another order.
    #[error(
        "the columns of the two states are the same in another order: {ours} and {theirs}; sum up one of them again with its \
         columns in the order of the other"
    )]
    Order {
        /// Those of the first state.
        ours: String,
        /// Those of the second.
        theirs: String,
    },
    /// One has weights, and the other has none.
    #[error("the weights of the two states differ: {ours} and {theirs}; sum up all shards with the same --weight")]
    Weights {
        /// The column of the first state, or none.
        ours: String,
        /// That of the second.
        theirs: String,
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
    /// Classes beyond measure.
    #[error(
        "there are {classes} classes, and sums hold {MOST_CLASSES} at most; if the target is a number, leave out --task class"
    )]
    TooManyClasses {
        /// How many.
        classes: usize,
    },
    /// Why the sums do not go together.
    #[error(transparent)]
    Sums(#[from] Error),
}

/// Why the other kind of targets is needed.
fn refused(requirement: &'static str, value: usize) -> ModelError {
    Error::from(ParameterError { name: "the targets", requirement, value: value as f64 }).into()
}

fn different(what: &'static str, ours: &dyn Display, theirs: &dyn Display) -> MergeError {
    MergeError::Different { what, ours: ours.to_string(), theirs: theirs.to_string() }
}

/// A source in a message.
fn told(source: &str) -> &str {
    if source.is_empty() { "the same sums" } else { source }
}

/// A list for a message, short.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

impl Moments {
    /// Has the sums be those of shard `shard` of `of`, of so many rows from these sources. Rows
    /// that came from no file are known again by their sums.
    ///
    /// # Errors
    /// When the sums cannot be written.
    pub fn close(&mut self, (shard, of): (u64, u64), rows: u64, sources: Vec<PartSource>) -> Result<(), ModelError> {
        let sources = if sources.is_empty() { vec![self.nameless(rows)?] } else { sources };
        self.parts = vec![Part { of, shard, rows, sources }];
        Ok(())
    }

    /// A source without a name, with the sums for its contents.
    fn nameless(&self, rows: u64) -> Result<PartSource, ModelError> {
        let mut bytes = postcard::to_allocvec(&self.sums)?;
        if let Some(classes) = &self.classes {
            bytes = postcard::to_extend(classes, bytes)?;
        }
        Ok(PartSource::new("", digest(&bytes), 0..rows.max(1)))
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
        if self.encoding != other.encoding {
            let told = |state: &Self| if state.encoding.is_some() { "encoded" } else { "numbers as they are" };
            let (ours, theirs) = match (told(self), told(other)) {
                ("encoded", "encoded") => ("learnt from some rows", "from others"),
                told => told,
            };
            return Err(different("the encodings of the columns", &ours, &theirs));
        }
        let sorted = |names: &[String]| {
            let mut sorted = names.to_vec();
            sorted.sort_unstable();
            sorted
        };
        if ours.features != theirs.features && sorted(&ours.features) == sorted(&theirs.features) {
            return Err(MergeError::Order { ours: listed(&ours.features), theirs: listed(&theirs.features) });
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
        if self.classes.is_some() != other.classes.is_some() {
            let told = |state: &Self| if state.classes.is_some() { "classes" } else { "numbers" };
            return Err(different("the targets", &told(self), &told(other)));
        }
        let weight = |about: &Description| {
            about.weight.as_ref().map_or("none".to_owned(), |column| format!("column {:?}", column.text()))
        };
        if ours.weight.is_some() != theirs.weight.is_some() {
            return Err(MergeError::Weights { ours: weight(ours), theirs: weight(theirs) });
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
    /// When it is the state of something else, or rows of it are in this one already; nothing is
    /// changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_same(other)?;
        if let Some(source) = twice(&self.parts, &other.parts) {
            return Err(MergeError::Twice { name: source.name.clone() });
        }
        match self.union(other)? {
            None => self.sums.merge(&other.sums)?,
            Some((union, theirs)) => {
                let mut sums = self.sums.clone();
                sums.arrange(&union.ours)?;
                sums.merge(&theirs)?;
                (self.sums, self.classes) = (sums, Some(union.labels));
            }
        }
        self.parts.extend(other.parts.iter().cloned());
        // Two lists in order, which this sort joins by going through them once.
        self.parts.sort();
        Ok(())
    }

    /// Takes the shards of another state back. `O(r²)`.
    ///
    /// # Errors
    /// When it is the state of something else, or has a shard that is not in this one; nothing is
    /// changed.
    pub fn retract(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_same(other)?;
        if let Some(Part { shard, of, rows, .. }) = other.parts.iter().find(|part| !self.parts.contains(part)) {
            return Err(MergeError::NotThere { shard: *shard, of: *of, rows: *rows });
        }
        match self.union(other)? {
            None => self.sums.retract(&other.sums)?,
            Some((union, theirs)) => {
                let mut sums = self.sums.clone();
                sums.arrange(&union.ours)?;
                let before = sums.sums().totals().to_vec();
                sums.retract(&theirs)?;
                (self.sums, self.classes) = (sums, Some(union.labels));
                self.drop_classes(&before)?;
            }
        }
        self.parts.retain(|part| !other.parts.contains(part));
        Ok(())
    }

    /// The classes of both, and the sums of the other in their order; `None` for numbers.
    fn union(&self, other: &Self) -> Result<Option<(ClassUnion, Sums)>, MergeError> {
        let (Some(ours), Some(theirs)) = (&self.classes, &other.classes) else { return Ok(None) };
        let union = ClassUnion::of(ours, theirs)?;
        let mut sums = other.sums.clone();
        sums.arrange(&union.theirs)?;
        Ok(Some((union, sums)))
    }

    /// Drops the classes of which no more is left than rounding; `before` are the weights that they
    /// had.
    fn drop_classes(&mut self, before: &[f64]) -> Result<(), Error> {
        let Some(classes) = &mut self.classes else { return Ok(()) };
        let weights = self.sums.sums().totals().iter().zip(before);
        let left: Vec<usize> =
            weights.enumerate().filter(|(_, (now, before))| **now > ROUNDING * **before).map(|(k, _)| k).collect();
        *classes = classes.select(&left);
        let places: Vec<Option<usize>> = left.into_iter().map(Some).collect();
        self.sums.arrange(if places.is_empty() { &[None] } else { &places })
    }

    /// Adds a row of the class of this name; a weight of 0 adds nothing. `½r²`, and `O(r)` a class
    /// where it is a new one.
    ///
    /// # Errors
    /// When these are sums of numbers, there would be too many classes, and as
    /// [`RidgeMoments::add_class`]. A new class may then stay, without a row.
    pub fn add_label(&mut self, x: &[f64], label: &str, weight: f64) -> Result<(), MergeError> {
        let Some(classes) = &self.classes else { return Err(different("the targets", &"numbers", &"classes")) };
        if weight == 0.0 {
            return Ok(());
        }
        let mut new = Labels::new();
        new.insert(label);
        let name = new.get(0).unwrap_or_default();
        let class = match classes.find(name) {
            Some(class) => class,
            None => {
                let union = ClassUnion::of(classes, &new)?;
                let class = union.labels.find(name).unwrap_or_default();
                self.sums.arrange(&union.ours)?;
                self.classes = Some(union.labels);
                class
            }
        };
        Ok(self.sums.add_class(x, class, weight)?)
    }

    /// The sums that are fitted: of classes those of targets `+1` and `−1`, an output for each
    /// class.
    #[must_use]
    pub fn fitted_sums(&self) -> Cow<'_, RidgeMoments<FixedMap<AnyKernel>>> {
        if self.classes.is_none() {
            return Cow::Borrowed(&self.sums);
        }
        let mut sums = self.sums.clone();
        sums.sign();
        Cow::Owned(sums)
    }

    /// The ridge regressions of all `λ`. About `10r³`.
    fn path(&self) -> Result<RidgePath, Error> {
        self.fitted_sums().path()
    }

    /// The ridge, chosen if it is not given.
    ///
    /// # Errors
    /// As [`point`](Self::point).
    pub fn ridge(&self) -> Result<f64, Error> {
        self.lambda.map_or_else(|| self.point().map(|point| point.lambda), Ok)
    }

    /// The mean squared error on `shard`, which was merged, of the fit to all other shards; the
    /// mean over the outputs. Of classes it is that of the targets `+1` and `−1`. `r³`.
    ///
    /// # Errors
    /// As [`RidgeMoments::held_out`], and when the shard is the state of something else.
    pub fn held_out(&self, shard: &Self, lambda: f64) -> Result<f64, MergeError> {
        self.check_same(shard)?;
        let errors = match self.union(shard)? {
            None => self.sums.held_out(&shard.sums, lambda)?,
            Some((union, mut theirs)) => {
                let mut ours = self.sums.clone();
                ours.arrange(&union.ours)?;
                ours.sign();
                theirs.sign();
                ours.held_out(&theirs, lambda)?
            }
        };
        Ok(errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// What the fit comes to: its ridge, errors, R², effective dimension and generalised
    /// cross-validation. About `10r³`.
    ///
    /// # Errors
    /// When the sums are not finite.
    pub fn point(&self) -> Result<RidgePoint, Error> {
        let path = self.path()?;
        match self.lambda {
            Some(lambda) => path.at(lambda),
            None => path.choose(),
        }
    }

    /// The learner of all rows, as a model that predicts and goes on learning. `r³`, and about
    /// `10r³` to choose the ridge.
    ///
    /// # Errors
    /// When these are sums of classes, the sums are not finite, or so much was taken back that no
    /// ridge regression fits them.
    pub fn fit(&self) -> Result<Regression, ModelError> {
        if let Some(classes) = &self.classes {
            let requirement = "numbers; these sums are of classes, so that fit_classes makes their learner";
            return Err(refused(requirement, classes.len()));
        }
        let learner = self.learner(&self.sums)?;
        Ok(self.model(Numbers::new(ScaledTargets::unscaled(learner))))
    }

    /// The classifier of all rows by least squares on targets `+1` and `−1`: one output for two
    /// classes, and otherwise one a class beside that in reserve for a class to come. `r³`, and
    /// about `10r³` to choose the ridge.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and when these are sums of numbers.
    pub fn fit_classes(&self) -> Result<Classification, ModelError> {
        let Some(labels) = self.classes.clone() else {
            let requirement = "classes; these sums are of numbers, so that fit makes their learner";
            return Err(refused(requirement, self.sums.outputs()));
        };
        let mut sums = self.sums.clone();
        if labels.len() == 2 {
            sums.sign();
            sums.arrange(&[Some(1)])?;
        } else {
            // A class that was never met has the output in reserve.
            let places: Vec<Option<usize>> = std::iter::once(None).chain((0..labels.len()).map(Some)).collect();
            sums.arrange(&places)?;
            sums.sign();
        }
        let classifier = Classifier::learnt(self.learner(&sums)?, labels.len())?;
        Ok(self.model(Classes { learnt: self.rows(), ..Classes::new(classifier, labels) }))
    }

    /// The learner of all rows, as the model of its kind: of numbers or of classes.
    ///
    /// # Errors
    /// When the sums are not finite, or so much was taken back that no ridge regression fits them.
    pub fn fit_model(&self) -> Result<Model, ModelError> {
        Ok(match &self.classes {
            None => Model::Regression(Box::new(self.fit()?)),
            Some(_) => Model::Classification(Box::new(self.fit_classes()?)),
        })
    }

    /// A model of all rows.
    fn model<T>(&self, task: T) -> Tabular<T> {
        Tabular {
            description: self.description.clone(),
            encoding: self.encoding.clone(),
            progress: Progress { rows: self.rows(), ..Progress::default() },
            background: BackgroundRows::default(),
            task,
            groups: None,
        }
    }

    fn learner(&self, sums: &Sums) -> Result<AnyRegressor<AnyKernel>, Error> {
        let lambda = self.ridge()?;
        let learner: AnyRegressor<AnyKernel> = match self.awv {
            true => sums.fit::<Awv>(lambda)?.into(),
            false => sums.fit::<Ridge>(lambda)?.into(),
        };
        debug_assert_eq!(learner.outputs(), sums.outputs());
        Ok(learner)
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
        let (d, outputs) = (self.sums.feature_map().input_dimension(), self.sums.outputs());
        check_columns(&self.description, self.encoding.as_ref(), d, outputs)?;
        self.lambda.map_or(Ok(()), |lambda| Inconsistent::positive(lambda, "ridge"))?;
        if let Some(classes) = &self.classes {
            classes.validate()?;
            let sorted = classes.names().is_sorted_by(|a, b| Labels::order(a, b).is_lt());
            let fits = self.sums.outputs() == classes.len().max(1) && classes.len() <= MOST_CLASSES;
            Inconsistent::require(sorted && fits, "list of classes", "they are in order, and each has its sums")?;
        }
        let counted = self.parts.iter().all(|part| {
            part.shard < part.of
                && part.rows < u64::MAX >> 32
                && part.sources.iter().all(|source| source.first <= source.end)
        });
        Inconsistent::require(counted && self.parts.len() < 1 << 31, WHAT, "each is one of so many")?;
        Inconsistent::require(self.parts.is_sorted(), WHAT, "they are in order")
    }
}
