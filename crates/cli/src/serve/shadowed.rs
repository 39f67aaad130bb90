//! A model with a challenger beside it, which predicts and learns the same rows: `--shadow`. The
//! challenger answers nobody.
//!
//! The test of the difference may be looked at after every row. Of the losses of both, `d_t = l_t −
//! l'_t`, the mean of `t` rows has the asymptotic confidence sequence `d̄ ± s √(2 (tρ² + 1) /
//! (t²ρ²) · ln(√(tρ² + 1) / α))`, with `s` their standard deviation, `α = 0.05` and `ρ = 0.05`, for
//! which it is narrowest near 3000 rows (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
//! Time-uniform central limit theory and asymptotic confidence sequences, 2021, theorem 2.2). It
//! holds where the expected difference changes with the rows, and is about its mean then.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mercer_serve::{
    Compared, Explain, Forecast, FunctionQuery, Model, Oddity, Prediction, Reason, Row, Schema, Standing,
};

use crate::model::lock::{self, ModelLock};
use crate::model::store;
use crate::report::failure::Failure;

/// One less the probability that the interval holds at all times, and where it is narrowest.
const ALPHA: f64 = 0.05;
const RHO: f64 = 0.05;

/// Fewest rows that are a sample.
const FEWEST: u64 = 30;

/// The challenger and how it compares. It is learnt and saved by one thread, and looked at by
/// others.
#[derive(Clone)]
pub(super) struct Challenger(Arc<Mutex<ChallengerState>>);

struct ChallengerState {
    model: Box<dyn Model>,
    learner: String,
    file: PathBuf,
    losses: PairedLosses,
    refused: u64,
    unsaved: Option<String>,
    _lock: ModelLock,
}

/// Sums of the losses of both.
#[derive(Default)]
struct PairedLosses {
    rows: u64,
    sums: [f64; 2],
    /// The mean difference, and the sum of squares about it.
    mean: f64,
    squares: f64,
}

impl PairedLosses {
    fn observe(&mut self, losses: [f64; 2]) {
        self.rows += 1;
        self.sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
        let away = losses[0] - losses[1] - self.mean;
        self.mean += away / self.rows as f64;
        self.squares += away * (losses[0] - losses[1] - self.mean);
    }

    /// The mean difference and the ends of its interval.
    fn difference(&self) -> [f64; 3] {
        if self.rows < FEWEST {
            return [self.mean, f64::NEG_INFINITY, f64::INFINITY];
        }
        let t = self.rows as f64;
        let scaled = t * RHO * RHO + 1.0;
        let variance = self.squares / t;
        let width = (variance * 2.0 * scaled / (t * t * RHO * RHO) * (scaled.sqrt() / ALPHA).ln()).sqrt();
        [self.mean, self.mean - width, self.mean + width]
    }
}

impl Challenger {
    /// The challenger in a file, which must take the rows of the model.
    ///
    /// # Errors
    /// If it cannot be read, locked or written, or has other columns.
    pub(super) fn open(
        file: &Path,
        champion: &dyn Model,
        load: impl Fn(&Path) -> Result<Box<dyn Model>, Failure>,
    ) -> Result<Self, Failure> {
        let lock = lock::take("--shadow", file)?;
        let model = load(file)?;
        store::check_place("--shadow", file)?;
        let (mine, its) = (champion.schema(), model.schema());
        let names = |schema: &Schema| -> Vec<String> {
            let columns = schema.columns.iter().map(|column| column.name.clone());
            columns.chain(schema.targets.clone()).chain(schema.weight.clone()).collect()
        };
        if names(&mine) != names(&its) || mine.loss != its.loss || mine.series.is_some() != its.series.is_some() {
            return Err(Failure::because(format!(
                "{}: takes other rows than --model; train both with the same columns, target and weight",
                file.display()
            )));
        }
        let state = ChallengerState {
            model,
            learner: its.learner,
            file: file.to_owned(),
            losses: PairedLosses::default(),
            refused: 0,
            unsaved: None,
            _lock: lock,
        };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    fn state(&self) -> MutexGuard<'_, ChallengerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns a row; `loss` is that of the model.
    fn learn(&self, row: &Row, loss: f64) {
        let mut state = self.state();
        let before = state.model.standing();
        if state.model.learn(row).is_err() {
            state.refused += 1;
            return;
        }
        let its = state.model.standing().loss_since(&before);
        if loss.is_finite() && its.is_finite() {
            state.losses.observe([loss, its]);
        }
    }

    /// Saves it where it was. That it cannot be is told by `/compare`, and harms the model nothing.
    pub(super) fn save(&self) {
        let mut state = self.state();
        let saved = state.model.to_bytes().map_err(|why| why.to_string());
        let saved = saved.and_then(|bytes| {
            store::save("--shadow", &state.file, Ok(bytes)).map(drop).map_err(|failure| failure.to_string())
        });
        state.unsaved = saved.err();
    }

    fn compared(&self) -> Compared {
        let state = self.state();
        let PairedLosses { rows, sums, .. } = state.losses;
        Compared {
            challenger: state.learner.clone(),
            rows,
            refused: state.refused,
            losses: sums.map(|sum| sum / rows as f64),
            difference: state.losses.difference(),
            unsaved: state.unsaved.clone(),
        }
    }
}

/// The model that is served.
pub(super) struct ShadowedModel {
    pub(super) model: Box<dyn Model>,
    pub(super) challenger: Challenger,
}

impl Model for ShadowedModel {
    fn schema(&self) -> Schema {
        self.model.schema()
    }

    fn standing(&self) -> Standing {
        self.model.standing()
    }

    fn predict(&self, row: &Row, variance: bool) -> Result<Prediction, Reason> {
        self.model.predict(row, variance)
    }

    fn odd(&self, row: &Row) -> Vec<(usize, Oddity)> {
        self.model.odd(row)
    }

    fn screen(&self, rows: &[Row]) -> Result<(), (usize, Reason)> {
        self.model.screen(rows)
    }

    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason> {
        let before = self.model.standing();
        let prediction = self.model.learn(row)?;
        self.challenger.learn(row, self.model.standing().loss_since(&before));
        Ok(prediction)
    }

    fn compared(&self) -> Option<Compared> {
        Some(self.challenger.compared())
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.model.remarks()
    }

    fn forecast(&self) -> Forecast {
        self.model.forecast()
    }

    fn modes(&self) -> Option<&serde_json::Value> {
        self.model.modes()
    }

    fn functions(&self, asked: &FunctionQuery) -> Result<serde_json::Value, Reason> {
        self.model.functions(asked)
    }

    fn explain(&self, rows: &[Row], output: usize) -> Explain {
        self.model.explain(rows, output)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        self.model.to_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Of equal models the interval leaves 0 at some time in 5 % of streams at most, though it is
    /// looked at after every row; a test at one time of its own, looked at as often, does so far
    /// more often.
    #[test]
    fn looking_after_every_row_finds_no_difference_where_none_is() {
        let (mut wrong, mut fixed, streams) = (0, 0, 200);
        let mut state = 1;
        for _ in 0..streams {
            let mut losses = PairedLosses::default();
            let (mut left, mut left_fixed) = (false, false);
            for _ in 0..2000 {
                losses.observe([uniform(&mut state), uniform(&mut state)]);
                let [mean, lower, upper] = losses.difference();
                left |= lower > 0.0 || upper < 0.0;
                let rows = losses.rows as f64;
                left_fixed |= losses.rows >= FEWEST && mean.abs() > 1.96 * (losses.squares / rows / rows).sqrt();
            }
            wrong += u32::from(left);
            fixed += u32::from(left_fixed);
        }
        assert!(wrong <= streams / 20, "{wrong} of {streams}");
        assert!(fixed > streams / 5, "{fixed} of {streams}");
    }

    #[test]
    fn a_better_challenger_is_found() {
        let (mut losses, mut state) = (PairedLosses::default(), 3);
        for _ in 0..1000 {
            losses.observe([0.3 + uniform(&mut state), uniform(&mut state)]);
        }
        let [mean, lower, upper] = losses.difference();
        assert!(lower > 0.0 && lower < 0.3 && upper > 0.3 && (mean - 0.3).abs() < 0.05, "{lower} {mean} {upper}");
    }
}
