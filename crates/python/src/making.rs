//! From the parameters of a Python object to a learner.

use mercer::catalogue::{self, Built, Context, Entry, Settings, Value};
use mercer::core::TokenUse;
use mercer::experts::IntervalParams;
use mercer::kernels::weighted_median_width;
use mercer::learners::intervals::{IntervalScale, LearnerIntervals};
use mercer::model::{Description, Numbers};
use mercer::{AnyKernel, AnyRegressor, Classifier, Error, Gaussian, KernelSpec, Loss, RegressorExt};
use pyo3::prelude::*;

use crate::errors;

/// What a Python object says of its learner.
#[derive(FromPyObject)]
pub(crate) struct LearnerSpec(String, Vec<String>, String, u64);

/// Whether a learner takes tokens, and so sparse rows.
#[pyfunction]
pub(crate) fn takes_tokens(spec: LearnerSpec) -> PyResult<bool> {
    Ok(spec.tokens()? != TokenUse::Never)
}

/// What is known of the data when it is made.
#[derive(Clone, Copy, Default)]
pub(crate) struct DataFacts<'a> {
    pub(crate) dimension: usize,
    pub(crate) outputs: usize,
    pub(crate) classes: bool,
    pub(crate) rows: &'a [f64],
    pub(crate) weights: &'a [f64],
    pub(crate) tokens: bool,
}

/// What a model has beside its learner: the share of its intervals, whether they are local though
/// those of its learner are not by themselves, and whether probabilities are calibrated.
#[derive(Clone, Copy, Default, FromPyObject, IntoPyObject)]
pub(crate) struct Extras(pub(crate) Option<f64>, pub(crate) bool, pub(crate) bool);

impl Extras {
    pub(crate) fn of(task: &Numbers) -> Self {
        let (intervals, own) = (task.intervals.as_ref(), has_local_intervals(task.learner.learner()));
        let local = intervals.is_some_and(|intervals| intervals.scale() != IntervalScale::Error) && !own;
        Self(intervals.map(LearnerIntervals::coverage), local, false)
    }
}

/// Rows that are looked at, as by the command.
const FIRST_ROWS: usize = 256;

impl LearnerSpec {
    /// The learner of the catalogue.
    pub(crate) fn entry(&self) -> PyResult<&'static Entry> {
        catalogue::find(&self.0).map_err(errors::catalogue)
    }

    /// The tables of whose rows the learner takes the tokens.
    pub(crate) fn tokens(&self) -> PyResult<TokenUse> {
        let settings = Settings::new(self.entry()?, self.1.iter().map(String::as_str));
        settings.map(|settings| settings.tokens()).map_err(errors::catalogue)
    }

    /// The kernel: `auto` is the Gaussian whose width is the usual distance of standardised inputs,
    /// `√(2d)`; `median` looks at the rows.
    pub(crate) fn kernel(&self, known: &DataFacts<'_>) -> PyResult<AnyKernel> {
        let gaussian = |width: f64| Gaussian::new(width).map(AnyKernel::Gaussian).map_err(errors::settings);
        if self.2.trim() == "auto" {
            return gaussian((2.0 * known.dimension.max(1) as f64).sqrt());
        }
        match self.2.parse::<KernelSpec>().map_err(errors::settings)? {
            KernelSpec::Given(kernel) => Ok(kernel),
            // Rows of texts alone have no distances.
            KernelSpec::Median if known.dimension == 0 => gaussian(1.0),
            KernelSpec::Median if known.rows.is_empty() => Err(errors::settings(
                "kernel=\"median\" looks at the first rows: begin with fit, partial_fit or learn_many, or give a width such as \
                 kernel=\"gaussian:0.5\"",
            )),
            KernelSpec::Median => gaussian(weighted_median_width(known.dimension, known.rows, known.weights)),
        }
    }

    /// The learner with these settings, and perhaps one more.
    pub(crate) fn build(&self, kernel: &AnyKernel, known: &DataFacts<'_>, more: Option<&str>) -> PyResult<Built> {
        let entry = self.entry()?;
        let pairs = self.1.iter().map(String::as_str).chain(more);
        let settings = Settings::new(entry, pairs).map_err(errors::catalogue)?;
        let rows = known.rows.len().min(FIRST_ROWS * known.dimension);
        let context = Context {
            dimension: known.dimension,
            seed: self.3,
            rows: &known.rows[..rows],
            outputs: known.outputs,
            classes: known.classes,
            tokens: known.tokens,
        };
        settings.build(kernel.clone(), &context).map_err(errors::catalogue)
    }

    /// A classifier for two classes or for classes to come, and what its parameters came to.
    pub(crate) fn classifier(
        &self,
        kernel: &AnyKernel,
        known: &DataFacts<'_>,
        two: bool,
        calibrated: bool,
    ) -> PyResult<(Classifier<AnyRegressor<AnyKernel>>, Vec<(&'static str, Value)>)> {
        let entry = self.entry()?;
        let built = self.build(kernel, known, None)?;
        // The loss that suits the classes, unless one was given: then two losses are refused.
        let with_loss = |loss: &str| {
            let has = entry.key("loss").is_some();
            has.then(|| self.build(kernel, known, Some(loss)).ok()).flatten()
        };
        let Built { learner, parameters } = if two && built.learner.loss() == Loss::SOFTMAX {
            with_loss("loss=logistic").unwrap_or(built)
        } else if !two && !is_open(&built.learner) {
            with_loss("loss=softmax").filter(|built| is_open(&built.learner)).unwrap_or(built)
        } else {
            built
        };
        let open = !two && is_open(&learner);
        let classifier = if open { Classifier::new(learner) } else { Classifier::two(learner) };
        let classifier = classifier.map_err(errors::learner)?;
        let calibrated = calibrated || entry.calibrates(classifier.learner().loss());
        Ok((if calibrated { classifier.calibrated() } else { classifier }, parameters))
    }

    /// What a model file says of it.
    pub(crate) fn describe(&self, kernel: &AnyKernel, parameters: &[(&'static str, Value)]) -> Description {
        Description {
            learner: self.0.clone(),
            kernel: kernel.to_string(),
            parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect(),
            seed: self.3,
            ..Description::default()
        }
    }
}

/// Whether a learner takes classes as they come.
fn is_open(learner: &AnyRegressor<AnyKernel>) -> bool {
    let like = (learner.loss() != Loss::SOFTMAX).then_some(0);
    learner.clone().add_output(like).is_ok()
}

/// Whether intervals are local unless they are told to be.
fn has_local_intervals(learner: &AnyRegressor<AnyKernel>) -> bool {
    matches!(learner, AnyRegressor::Auto(_))
}

/// Intervals around the predictions of a learner, if a share of targets is given that they are to
/// hold; perhaps scaled by its deviations.
pub(crate) fn intervals(
    learner: &AnyRegressor<AnyKernel>,
    coverage: Option<f64>,
    local: bool,
) -> PyResult<Option<LearnerIntervals>> {
    let Some(coverage) = coverage else { return Ok(None) };
    let scale = match (has_local_intervals(learner), local) {
        (true, _) => IntervalScale::Sides,
        (false, true) => IntervalScale::Deviation,
        (false, false) => IntervalScale::Error,
    };
    if scale != IntervalScale::Error && !learner.has_variance() {
        return Err(errors::learner(Error::NoVariance));
    }
    let intervals = LearnerIntervals::new(learner.outputs(), IntervalParams::default().coverage(coverage), scale);
    intervals.map(Some).map_err(errors::settings)
}
