//! The model that is served: of examples, or of a series.

use std::path::Path;

use mercer::learners::prediction::Forecaster;
use mercer::model::{Model, ModelError, SeriesErrors};

use super::answer;
use crate::cli::encoded::Sample;
use crate::cli::failure::Failure;
use crate::cli::forecast::{Columns, Pass};
use crate::cli::learning::seen_after;
use crate::cli::notes::Watch;
use crate::cli::store;
use crate::cli::table::Standing;
use crate::cli::trained::{Answer, Trained};

pub(super) enum Served {
    Examples(Trained),
    /// Its rows are observed one after the other.
    Series(Box<Pass>),
}

impl Served {
    /// The model in a file, if it can be served.
    pub(super) fn load(path: &Path) -> Result<Self, Failure> {
        let model = match store::load(path)?.model {
            Model::Prediction(model) => model,
            other => return store::trained(path, other).map(Self::Examples),
        };
        if model.forecaster.feed_through() {
            return Err(Failure::because(format!(
                "{}: needs the inputs of the very row that it predicts (--feed-through), which cannot be served; mercer forecast uses it",
                path.display()
            )));
        }
        let columns = Columns::of_saved(&model);
        Pass::new(*model, columns, None).map(|pass| Self::Series(pass.into()))
    }

    /// Rows that it has met in its life.
    pub(super) fn met(&self) -> u64 {
        match self {
            Self::Examples(model) => model.seen().rows,
            Self::Series(pass) => pass.model().seen().rows,
        }
    }

    /// How good it has been; of a series, over its single values.
    pub(super) fn standing(&self) -> Standing {
        match self {
            Self::Examples(model) => model.standing(),
            Self::Series(pass) => {
                let SeriesErrors { scored, sum, .. } = pass.model().errors;
                // Of the rows of the warm-up no value is scored.
                Standing { rounds: pass.rows(), weight: scored as f64, loss: sum }
            }
        }
    }

    /// Points that it keeps, or rows that it looks back.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Examples(model) => model.dictionary_size(),
            Self::Series(pass) => pass.model().forecaster.lags(),
        }
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        match self {
            Self::Examples(model) => model.to_bytes(),
            Self::Series(pass) => pass.model().to_bytes(),
        }
    }

    /// Predicts a row, learns it, and appends the object that tells the prediction. What is refused leaves the model as it was, and does not count as met.
    pub(super) fn learn(
        &mut self,
        sample: &mut Sample,
        weighted: bool,
        watch: &mut Watch,
        made: &mut Answer,
        text: &mut String,
    ) -> Result<(), String> {
        match self {
            Self::Examples(model) => {
                // Scaling changes the row, so it is taken note of first.
                let met = seen_after(model.seen(), sample, weighted);
                model.learn(sample, watch, made)?;
                model.meet(met);
                answer::write(model, made, None, text);
            }
            Self::Series(pass) => {
                pass.step(&sample.example.features).map_err(|error| error.to_string())?;
                let [_, prediction, radii] = pass.last();
                answer::write_forecast(prediction, pass.model().intervals.as_ref().map(|_| radii), text);
            }
        }
        Ok(())
    }
}
