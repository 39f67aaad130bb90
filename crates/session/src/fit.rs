//! Ridge regressions that are sums over rows, by name: what `mercer fit` and the SQL engines take
//! as options.
//!
//! | learner | features of a row | keys |
//! |---|---|---|
//! | `ridge` | the inputs in units of their deviation, and 1, not penalised | `lambda`, `intercept` (1 or 0) |
//! | `pkrr-taylor` | Taylor features of a Gaussian kernel, `r = C(d + M, M)` | `lambda`, `degree` (M), `centre` |
//! | `pkawv-taylor` | the same, predicting as Azoury, Warmuth and Vovk do | the same |
//! | `pkrr-fourier` | `D` random frequencies of a Gaussian kernel, `r = 2D` | `lambda`, `features` (D), `seed` |
//! | `pkrr-frozen` | given points of any kernel, `r` of them | `lambda` |
//!
//! `lambda=auto`, the default, takes the ridge of the least generalised cross-validation when a
//! prediction is asked for. All else is settled before the first row is read, so that the states of
//! all shards add up.

use std::fmt;
use std::str::FromStr;

use mercer_kernels::{AnyKernel, KernelError, Points, RandomFourier, TaylorFeatures};
use mercer_learners::basis::Identity;
use mercer_learners::{Error, FixedMap, MapError, RidgeMoments};
use mercer_readers::Labels;

use crate::model::{Description, Moments};
use mercer_registry::catalogue::Value;

/// Most bytes that the matrix of Taylor features may take.
const MOST_BYTES: u64 = 4 << 30;

/// The learners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FitLearner {
    Ridge,
    PkrrTaylor,
    PkawvTaylor,
    PkrrFourier,
    PkrrFrozen,
}

mercer_core::names!(FitLearner {
    Ridge = "ridge",
    PkrrTaylor = "pkrr-taylor",
    PkawvTaylor = "pkawv-taylor",
    PkrrFourier = "pkrr-fourier",
    PkrrFrozen = "pkrr-frozen",
});

impl FitLearner {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Ridge => &["lambda", "intercept"],
            Self::PkrrTaylor | Self::PkawvTaylor => &["lambda", "degree", "centre"],
            Self::PkrrFourier => &["lambda", "features", "seed"],
            Self::PkrrFrozen => &["lambda"],
        }
    }
}

/// What is summed up and how it predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct FitSpec {
    learner: FitLearner,
    kernel: Option<AnyKernel>,
    lambda: Option<f64>,
    intercept: bool,
    degree: usize,
    centre: Vec<f64>,
    features: usize,
    seed: u64,
}

/// Why a fit cannot be made of these options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No such learner.
    #[error("there is no learner {name:?} that adds up over shards; take one of {}", LearnerNames)]
    UnknownLearner {
        /// What was given.
        name: String,
    },
    /// No learner at all.
    #[error("the options name no learner; add learner=pkrr-taylor, or another of {}", LearnerNames)]
    NoLearner,
    /// No such key.
    #[error("{learner} has no key {key:?}; its keys are {known}")]
    UnknownKey {
        /// The learner.
        learner: &'static str,
        /// What was given.
        key: String,
        /// The keys that there are.
        known: String,
    },
    /// No key and value.
    #[error("{text:?} is not KEY=VALUE; write for instance lambda=0.1")]
    NotAPair {
        /// What was given.
        text: String,
    },
    /// A value out of its range.
    #[error("{key} must be {range}, got {value:?}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it takes.
        range: &'static str,
        /// What was given.
        value: String,
    },
    /// A kernel that cannot be read.
    #[error("kernel: {0}")]
    Kernel(#[from] KernelError),
    /// A kernel of another family than the features are of.
    #[error("{learner} needs a Gaussian kernel: give gaussian:SIGMA")]
    NeedsGaussian {
        /// The learner.
        learner: &'static str,
    },
    /// A learner whose points were not given.
    #[error("pkrr-frozen needs its points before the first row is read; give them (mercer fit: --points FILE)")]
    NeedsPoints,
    /// Points of another dimension.
    #[error("the points have {got} coordinates and the rows have {expected}; give points of the same columns")]
    PointDimension {
        /// That of the rows.
        expected: usize,
        /// That of the points.
        got: usize,
    },
    /// A centre of another dimension.
    #[error("centre has {got} numbers and the rows have {expected} features; give one for each")]
    Centre {
        /// That of the rows.
        expected: usize,
        /// That of the centre.
        got: usize,
    },
    /// Points that make no map.
    #[error(transparent)]
    Points(#[from] MapError),
    /// What the sums refuse.
    #[error(transparent)]
    Sums(#[from] Error),
}

/// The names of all learners, for messages.
struct LearnerNames;

impl fmt::Display for LearnerNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&FitSpec::learners().join(", "))
    }
}

fn parsed<T: FromStr>(key: &'static str, range: &'static str, value: &str) -> Result<T, FitError> {
    value.parse().map_err(|_| FitError::Value { key, range, value: value.to_owned() })
}

impl FitSpec {
    /// The names of the learners that add up.
    #[must_use]
    pub fn learners() -> Vec<&'static str> {
        FitLearner::ALL.map(FitLearner::name).to_vec()
    }

    /// The learner of that name, with its keys set by `KEY=VALUE` pairs. Without a kernel it has
    /// the Gaussian of width 1.
    ///
    /// # Errors
    /// Unknown names and values out of their range, in words.
    pub fn new<'p>(
        learner: &str,
        kernel: Option<AnyKernel>,
        pairs: impl IntoIterator<Item = &'p str>,
        seed: u64,
    ) -> Result<Self, FitError> {
        let found = FitLearner::named(learner.trim());
        let learner = found.ok_or_else(|| FitError::UnknownLearner { name: learner.to_owned() })?;
        let mut spec =
            Self { learner, kernel, lambda: None, intercept: true, degree: 2, centre: vec![], features: 100, seed };
        for pair in pairs {
            let (key, value) = pair.split_once('=').ok_or_else(|| FitError::NotAPair { text: pair.to_owned() })?;
            spec.set(key.trim(), value.trim())?;
        }
        if matches!(learner, FitLearner::PkrrTaylor | FitLearner::PkawvTaylor | FitLearner::PkrrFourier) {
            spec.width()?;
        }
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), FitError> {
        let learner = self.learner.name();
        let Some(key) = self.learner.keys().iter().find(|known| **known == key) else {
            let known = self.learner.keys().join(", ");
            return Err(FitError::UnknownKey { learner, key: key.to_owned(), known });
        };
        match *key {
            "lambda" => {
                const RANGE: &str = "a positive number, or auto";
                let number = (value != "auto").then(|| parsed::<f64>("lambda", RANGE, value)).transpose()?;
                if number.is_some_and(|number| !(number > 0.0 && (1.0 / number).is_finite() && number.is_finite())) {
                    return Err(FitError::Value { key: "lambda", range: RANGE, value: value.to_owned() });
                }
                self.lambda = number;
            }
            "intercept" => self.intercept = parsed::<u8>("intercept", "1 or 0", value)? != 0,
            "degree" => self.degree = parsed("degree", "a whole number ≥ 0", value)?,
            "features" => {
                const RANGE: &str = "a whole number from 1 to 100000";
                self.features = parsed("features", RANGE, value)?;
                if !(1..=100_000).contains(&self.features) {
                    return Err(FitError::Value { key: "features", range: RANGE, value: value.to_owned() });
                }
            }
            "seed" => self.seed = parsed("seed", "a whole number ≥ 0", value)?,
            _ => {
                const RANGE: &str = "none, or finite numbers separated by commas";
                let numbers = (value != "none").then_some(value).into_iter().flat_map(|value| value.split(','));
                self.centre = numbers.map(|one| parsed("centre", RANGE, one.trim())).collect::<Result<_, _>>()?;
                if self.centre.iter().any(|number: &f64| !number.is_finite()) {
                    return Err(FitError::Value { key: "centre", range: RANGE, value: value.to_owned() });
                }
            }
        }
        Ok(())
    }

    /// The name of the learner.
    #[must_use]
    pub fn learner(&self) -> &'static str {
        self.learner.name()
    }

    /// Whether the learner uses a kernel.
    #[must_use]
    pub fn has_kernel(&self) -> bool {
        self.learner != FitLearner::Ridge
    }

    /// Whether the learner needs points.
    #[must_use]
    pub fn needs_points(&self) -> bool {
        self.learner == FitLearner::PkrrFrozen
    }

    /// The ridge, if it is not to be chosen.
    #[must_use]
    pub fn lambda(&self) -> Option<f64> {
        self.lambda
    }

    fn kernel(&self) -> Result<AnyKernel, FitError> {
        match &self.kernel {
            Some(kernel) => Ok(kernel.clone()),
            None => Ok("gaussian:1".parse()?),
        }
    }

    fn width(&self) -> Result<f64, FitError> {
        let AnyKernel::Gaussian(gaussian) = self.kernel()? else {
            return Err(FitError::NeedsGaussian { learner: self.learner.name() });
        };
        Ok(gaussian.sigma())
    }

    /// The keys with their values.
    #[must_use]
    pub fn parameters(&self) -> Vec<(String, String)> {
        let number = |value: f64| Value::Number(value).to_string();
        let value = |key: &str| match key {
            "lambda" => self.lambda.map_or("auto".to_owned(), number),
            "intercept" => u8::from(self.intercept).to_string(),
            "degree" => self.degree.to_string(),
            "features" => self.features.to_string(),
            "seed" => self.seed.to_string(),
            _ if self.centre.is_empty() => "none".to_owned(),
            _ => self.centre.iter().map(|one| number(*one)).collect::<Vec<_>>().join(","),
        };
        self.learner.keys().iter().map(|key| ((*key).to_owned(), value(key))).collect()
    }

    /// The features for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When the options do not fit that dimension, or points are needed and not given.
    pub fn map(&self, dimension: usize, points: Option<&Points>) -> Result<FixedMap<AnyKernel>, FitError> {
        match self.learner {
            FitLearner::Ridge => Ok(FixedMap::Identity(Identity::new(dimension, self.intercept))),
            FitLearner::PkrrTaylor | FitLearner::PkawvTaylor => {
                let centre = if self.centre.is_empty() { vec![0.0; dimension] } else { self.centre.clone() };
                if centre.len() != dimension {
                    return Err(FitError::Centre { expected: dimension, got: centre.len() });
                }
                Ok(FixedMap::Taylor(TaylorFeatures::new(self.width()?, self.degree, centre, MOST_BYTES)?))
            }
            FitLearner::PkrrFourier => {
                Ok(FixedMap::Fourier(RandomFourier::draw(dimension, self.width()?, self.features, self.seed)?))
            }
            FitLearner::PkrrFrozen => {
                let points = points.ok_or(FitError::NeedsPoints)?;
                if points.dimension() != dimension {
                    return Err(FitError::PointDimension { expected: dimension, got: points.dimension() });
                }
                Ok(FixedMap::nystrom(self.kernel()?, points)?)
            }
        }
    }

    /// The state that has seen nothing yet, for rows of `dimension` features and `outputs` targets.
    ///
    /// # Errors
    /// As [`map`](Self::map), and when there is no target.
    pub fn start(&self, dimension: usize, outputs: usize, points: Option<&Points>) -> Result<Moments, FitError> {
        let kernel = if self.has_kernel() { self.kernel()?.to_string() } else { "none".to_owned() };
        let (learner, parameters) = (self.learner.name().to_owned(), self.parameters());
        Ok(Moments {
            description: Description { learner, kernel, parameters, seed: self.seed, ..Description::default() },
            awv: self.learner == FitLearner::PkawvTaylor,
            lambda: self.lambda,
            parts: Vec::new(),
            sums: RidgeMoments::several(self.map(dimension, points)?, 0.0, outputs)?,
            classes: None,
            encoding: None,
        })
    }

    /// The same for rows of a class each; the classes are those that are met.
    ///
    /// ```
    /// use mercer_session::fit::FitSpec;
    ///
    /// let spec: FitSpec = "learner=ridge lambda=0.1".parse()?;
    /// let mut shards = [spec.start_classes(1, None)?, spec.start_classes(1, None)?];
    /// for t in 0..60 {
    ///     let x = f64::from(t) / 30.0 - 1.0;
    ///     // The second shard meets one class only.
    ///     shards[usize::from(x > 0.5)].add_label(&[x], if x < 0.0 { "low" } else { "high" }, 1.0)?;
    /// }
    /// let [mut all, other] = shards;
    /// all.merge(&other)?;
    /// let model = all.fit_classes()?;
    /// let class = model.task.classifier.predict(&[-0.7])?.and_then(|class| model.task.labels.get(class));
    /// assert_eq!(class, Some("low"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`map`](Self::map).
    pub fn start_classes(&self, dimension: usize, points: Option<&Points>) -> Result<Moments, FitError> {
        Ok(Moments { classes: Some(Labels::new()), ..self.start(dimension, 1, points)? })
    }
}

impl FromStr for FitSpec {
    type Err = FitError;

    /// Options in one text: `KEY=VALUE` pairs with blanks or semicolons between them, among them
    /// `learner=NAME` and `kernel=SPEC`.
    fn from_str(text: &str) -> Result<Self, FitError> {
        let (mut learner, mut kernel, mut pairs) = (None, None, Vec::new());
        for pair in text.split(|c: char| c.is_whitespace() || c == ';').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("learner", name)) => learner = Some(name),
                Some(("kernel", spec)) => kernel = Some(spec.parse()?),
                _ => pairs.push(pair),
            }
        }
        Self::new(learner.ok_or(FitError::NoLearner)?, kernel, pairs, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_told_again() -> Result<(), FitError> {
        let spec: FitSpec = "learner=pkrr-fourier; kernel=gaussian:2 features=8 seed=5 lambda=0.5".parse()?;
        let told: Vec<String> = spec.parameters().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(told, ["lambda=0.5", "features=8", "seed=5"]);
        let again = FitSpec::new("pkrr-fourier", Some("gaussian:2".parse()?), told.iter().map(String::as_str), 9)?;
        assert_eq!(again, spec);
        assert_eq!(spec.map(3, None)?, FixedMap::Fourier(RandomFourier::draw(3, 2.0, 8, 5)?));
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("lambda=1", "name no learner"),
            ("learner=krls", "there is no learner \"krls\" that adds up over shards; take one of ridge, pkrr-taylor"),
            ("learner=ridge degree=2", "ridge has no key \"degree\"; its keys are lambda, intercept"),
            ("learner=ridge lambda=0", "lambda must be a positive number, or auto, got \"0\""),
            ("learner=ridge lambda=1e-320", "lambda must be a positive number"),
            ("learner=ridge lambda", "\"lambda\" is not KEY=VALUE"),
            ("learner=pkrr-taylor kernel=laplace:1", "pkrr-taylor needs a Gaussian kernel: give gaussian:SIGMA"),
            ("learner=pkrr-taylor kernel=gaus", "kernel: "),
            ("learner=pkrr-taylor centre=1,inf", "centre must be none, or finite numbers"),
            ("learner=pkrr-fourier features=0", "features must be a whole number from 1"),
        ] {
            let error = text.parse::<FitSpec>().map(drop).map_err(|error| error.to_string());
            assert!(error.clone().is_err_and(|error| error.contains(words)), "{text}: {error:?}");
        }
        let map = |text: &str| text.parse::<FitSpec>().and_then(|spec| spec.map(3, None)).map(drop);
        assert_eq!(map("learner=pkrr-frozen kernel=laplace:1"), Err(FitError::NeedsPoints));
        let centre = map("learner=pkrr-taylor centre=1,2");
        assert_eq!(centre, Err(FitError::Centre { expected: 3, got: 2 }));
    }
}
