//! The learner that the options name, made for data of which the first rows are known.

use mercer_kernels::AnyKernel;
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{Built, Context, Entry, Settings, Value};

use crate::arguments::CommonArguments;
use crate::arguments::task::Kind;
use crate::model::classes::Fresh;
use crate::report::failure::Failure;
use crate::report::notes;
use mercer_session::classes::AnyClassifier;

/// Facts about the data that a learner needs before it is made.
#[derive(Clone, Copy)]
pub(crate) struct Premises<'a> {
    pub(crate) dimension: usize,
    pub(crate) kind: Kind,
    /// The first rows, and their weights if there are any.
    pub(crate) rows: &'a [f64],
    pub(crate) weights: &'a [f64],
    /// Whether rows have tokens.
    pub(crate) tokens: bool,
}

/// A learner that has learnt nothing yet.
pub(crate) enum FreshLearner {
    Numbers(AnyRegressor<AnyKernel>),
    /// With the names of its classes, as far as they are settled beforehand.
    Classes(Box<AnyClassifier>, Labels),
}

/// The learner with its kernel and its parameters, as they are told.
pub(crate) struct Construction {
    pub(crate) learner: FreshLearner,
    pub(crate) kernel: String,
    pub(crate) parameters: Vec<(&'static str, Value)>,
}

impl Construction {
    pub(crate) fn new(
        common: &CommonArguments,
        entry: &'static Entry,
        premises: &Premises<'_>,
    ) -> Result<Self, Failure> {
        let Premises { dimension, kind, rows, weights, tokens } = *premises;
        let (made, kernel) = common.kernel(entry, dimension, rows, weights)?;
        let (outputs, classes) = (kind.outputs(), kind.is_class());
        let context = Context { dimension, seed: common.seed, rows, outputs, classes, tokens };
        let build = |more: Option<&str>| -> Result<Built, Failure> {
            let settings = Settings::new(entry, common.set.iter().map(String::as_str).chain(more))?;
            let built = settings.build(made.clone(), &context)?;
            notes::tell_measured(&settings, &built);
            Ok(built)
        };
        match kind {
            Kind::Numbers(_) => {
                let Built { learner, parameters } = build(None)?;
                Ok(Self { learner: FreshLearner::Numbers(learner), kernel, parameters })
            }
            Kind::Class(two) => {
                common.intervals.refuse_for_classes()?;
                let Fresh { classifier, labels, parameters } = Fresh::make(entry, two, build)?;
                Ok(Self { learner: FreshLearner::Classes(classifier.into(), labels), kernel, parameters })
            }
        }
    }
}
