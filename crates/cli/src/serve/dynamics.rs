//! An operator of exact sums as the server asks for it: states are forecast, modes and functions
//! are told, and nothing is learnt, since reading an operator off its sums takes longer than a
//! request may.

use std::path::Path;

use mercer_koopman::{Error, OperatorModel, Trajectory};
use mercer_serve::{
    Column, Forecast, ForecastRows, FunctionQuery, Model, Oddity, Prediction, Reason, Row, Schema, Standing, Takes,
    Value,
};
use mercer_session::model::Operator;
use serde_json::{Value as Json, json};

use crate::koopman::{COVERAGE, MODES, findings};
use crate::report::failure::Failure;

/// Most steps that a series is forecast ahead, and most values in them.
const MOST_STEPS: usize = 1000;
const MOST_VALUES: usize = 2 * MOST_STEPS;

/// Most steps that a series of so many outputs is forecast.
pub(super) fn most_steps(outputs: usize) -> usize {
    (MOST_VALUES / outputs).clamp(1, MOST_STEPS)
}

/// An operator. One that was learnt from a trajectory goes on from its end; others take `x`.
pub(super) struct Dynamics {
    file: Operator,
    model: OperatorModel,
    modes: Json,
}

impl Dynamics {
    pub(super) fn new(path: &Path, file: Operator) -> Result<Self, Failure> {
        let because = |error: Error| Failure::because(format!("{}: {error}", path.display()));
        let Some(sums) = file.learner.sums() else { return Err(because(Error::OtherFeatures)) };
        let steps = most_steps(sums.output_dimension());
        let model = sums.model(MODES, if file.trajectory.is_some() { steps } else { 1 }).map_err(because)?;
        Ok(Self { modes: findings(&file, &model).map_err(because)?, model, file })
    }
}

/// A state, of which the last numbers are told, and its interval.
fn told(model: &OperatorModel, mut state: Vec<f64>, step: usize, newest: usize) -> Prediction {
    let first = state.len() - newest;
    let values = state.split_off(first);
    let half = model.half_widths(step, COVERAGE).split_off(first);
    let end = |sign: f64| {
        let of = |(x, half): (&f64, &Option<f64>)| x + sign * half.unwrap_or(f64::INFINITY);
        values.iter().zip(&half).map(of).collect()
    };
    Prediction::Numbers { lower: end(-1.0), upper: end(1.0), values, variance: Vec::new(), anomaly: Vec::new() }
}

impl Model for Dynamics {
    fn schema(&self) -> Schema {
        let [d, state] = self.file.learner.dimensions();
        let name = |i: usize, other: String| self.file.columns.get(i).cloned().unwrap_or(other);
        let trajectory = self.file.trajectory.as_ref();
        // Of a trajectory the newest row of x⁺ has the names last.
        let first = trajectory.map_or(d, |rows| d - rows.columns());
        let outputs = match trajectory {
            Some(_) => (first..d).map(|i| name(i, format!("x{}", i + 1))).collect(),
            None => (0..state).map(|i| name(d + i, format!("next{}", i + 1))).collect::<Vec<String>>(),
        };
        let column = |name: String| {
            let (about, categories) = (String::new(), Vec::new());
            Column { name, takes: Takes::Number, about, needed: true, categories }
        };
        let states: Vec<String> = (0..d).map(|i| name(i, format!("x{}", i + 1))).collect();
        Schema {
            learner: "koopman".to_owned(),
            loss: "mean squared error".to_owned(),
            named: trajectory.is_none(),
            series: trajectory.map(|_| most_steps(state)),
            columns: match trajectory {
                Some(_) => outputs.iter().cloned().map(column).collect(),
                None => states.iter().cloned().map(column).collect(),
            },
            outputs,
            interval_share: Some(COVERAGE),
            states,
            ..Schema::default()
        }
    }

    fn standing(&self) -> Standing {
        let (seen, size) = (self.file.seen(), self.model.forecast_choice().size);
        Standing {
            met: seen.rows,
            fingerprint: seen.fingerprint,
            rounds: seen.rows,
            weight: 0.0,
            loss: 0.0,
            size,
            implausible: 0,
            alarms: Default::default(),
        }
    }

    fn predict(&self, row: &Row, _: bool) -> Result<Prediction, Reason> {
        let x: Vec<f64> = row.values.iter().map(Value::number).collect();
        let state = self.model.forecast(&x, &[], 1)?.concat();
        let newest = state.len();
        Ok(told(&self.model, state, 1, newest))
    }

    fn odd(&self, _: &Row) -> Vec<(usize, Oddity)> {
        Vec::new()
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn modes(&self) -> Option<&Json> {
        Some(&self.modes)
    }

    fn functions(&self, asked: &FunctionQuery) -> Result<Json, Reason> {
        let sets = asked.sets.map(|count| self.model.sets(count)).transpose()?;
        let (mut functions, mut members) = (Vec::new(), Vec::new());
        for x in &asked.rows {
            let at = self.model.eigenfunctions(x)?;
            members.extend(sets.as_ref().map(|sets| sets.memberships(&at)));
            functions.push(at.into_iter().take(MODES).collect::<Vec<_>>());
        }
        let mut told = json!({ "functions": functions });
        if let Some(sets) = &sets {
            (told["weights"], told["jumps"]) = (json!(sets.weights()), json!(sets.jumps()));
            if let Some([from, to]) = asked.committor {
                let reached = sets.committor(from, to)?;
                let of = |members: &Vec<f64>| members.iter().zip(&reached).map(|(a, q)| a * q).sum::<f64>();
                told["committor"] = members.iter().map(|members| of(members).clamp(0.0, 1.0)).collect();
            }
            told["memberships"] = json!(members);
        }
        Ok(told)
    }

    fn learn(&mut self, _: &Row) -> Result<Prediction, Reason> {
        Err("an operator is served as it is; mercer koopman --model FILE learns further rows".into())
    }

    fn forecast(&self) -> Forecast {
        let (model, trajectory) = (self.model.clone(), self.file.trajectory.clone());
        Box::new(move |asked| {
            let Some(end) = trajectory.as_ref().and_then(Trajectory::state) else {
                return Err("the trajectory was cut in its last rows, and there is no state to go on from".into());
            };
            let newest = trajectory.as_ref().map_or(end.len(), Trajectory::columns);
            let states = model.forecast(end, &[], asked.steps)?;
            let rows = states.into_iter().zip(1..).map(|(state, step)| told(&model, state, step, newest)).collect();
            Ok(ForecastRows { rows, times: None, parts: None }.into())
        })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        Ok(self.file.to_bytes()?)
    }
}
