//! Errors of predictions, each made before its row was learnt.

use mercer_encoding::{Encoding, ScaledTargets};
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_registry::catalogue::{self, Built, Context, Settings};
use mercer_session::model::{Classes, Numbers, Tabular, Task};
use mercer_session::notes::Watch;
use mercer_session::{Row, RowPrediction, Session};

use crate::arguments::task::Kind;
use crate::model::classes::Fresh;
use crate::report::failure::Failure;

/// The learner auto behind the encoding of the table.
pub(super) struct Predictor {
    session: Session,
    watch: Watch,
    answer: RowPrediction,
}

impl Predictor {
    pub(super) fn new(encoding: Encoding, kind: Kind, seed: u64) -> Result<Self, Failure> {
        let entry = catalogue::find("auto")?;
        let refused = |error: String| Failure::because(error);
        let kernel = Gaussian::new(1.0).map(AnyKernel::Gaussian).map_err(|error| refused(error.to_string()))?;
        let (outputs, classes) = (kind.outputs(), kind.is_class());
        let (dimension, tokens) = (encoding.dimension(), encoding.has_tokens());
        let context = Context { dimension, seed, rows: &[], outputs, classes, tokens };
        let build = |more: Option<&str>| -> Result<Built, Failure> {
            Ok(Settings::new(entry, more)?.build(kernel.clone(), &context)?)
        };
        let task = match kind {
            Kind::Numbers(_) => {
                let learner = ScaledTargets::unscaled(build(None)?.learner);
                Task::Numbers(Box::new(Numbers::new(learner)))
            }
            Kind::Class(two) => {
                let Fresh { classifier, labels, .. } = Fresh::make(entry, two, build)?;
                Task::Classes(Box::new(Classes::new(classifier, labels)))
            }
        };
        let session = Session { encoding: Some(encoding), ..Tabular::plain(task) };
        Ok(Self { session, watch: Watch::default(), answer: RowPrediction::default() })
    }

    /// The [signed error](RowPrediction::signed_error) of a row, which is then learnt. NaN where
    /// the row has no target or nothing was predicted yet.
    pub(super) fn error(&mut self, row: &mut Row) -> Result<f64, mercer_session::StepError> {
        if !self.session.has_target(&row.example) {
            return Ok(f64::NAN);
        }
        let before = self.session.running_score();
        self.session.learn(row, &mut self.watch, &mut self.answer)?;
        let after = self.session.running_score();
        Ok(if after.weight == before.weight { f64::NAN } else { self.answer.signed_error(row, &self.session.task) })
    }
}
