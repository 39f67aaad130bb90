//! Forecasters of series as the server asks for them.

use mercer_forecast::Forecaster;
use mercer_serve::{
    Column, Forecast, ForecastAnswer, ForecastQuery, ForecastRows, Model, Oddity, Prediction, Reason, Row, Schema,
    Standing, Takes, Value,
};
use mercer_session::model::{Prediction as SavedPrediction, SeriesErrors};
use mercer_session::series::UsualShare;
use serde_json::json;

use super::cells::{are_distinct, cell_of};
use super::dynamics::most_steps;
use crate::forecast::{AnomalyLog, EffectReport, PassOptions, SeriesColumns, SeriesPass, TimeMemory, told_parts};
use crate::report::failure::Failure;

/// A forecaster, which observes the rows of its series one after the other.
pub(super) struct ServedSeries {
    pass: SeriesPass,
    /// The times of the rows, where they are known: a column behind the others, which rows may
    /// leave out.
    times: Option<TimeMemory>,
    /// The rows since the service began, of season mixtures.
    anomalies: Option<AnomalyLog>,
}

/// A row of a series, and the ends of its intervals if there are any.
fn foretold(row: &[f64], ends: Option<&[Option<[f64; 2]>]>) -> Prediction {
    let unknown = [f64::NEG_INFINITY, f64::INFINITY];
    let ends =
        |side: usize| ends.map_or(Vec::new(), |ends| ends.iter().map(|end| end.unwrap_or(unknown)[side]).collect());
    Prediction::Numbers {
        values: row.to_vec(),
        lower: ends(0),
        upper: ends(1),
        variance: Vec::new(),
        anomaly: Vec::new(),
    }
}

impl ServedSeries {
    pub(super) fn new(model: SavedPrediction) -> Result<Self, Failure> {
        let (columns, times) = (SeriesColumns::of_saved(&model), TimeMemory::from_model(&model));
        let usual = model.seasons().map(|_| UsualShare::default());
        let pass = SeriesPass::new(model, columns, PassOptions::judging(usual))?;
        Ok(Self { pass, times, anomalies: usual.map(AnomalyLog::new) })
    }
}

/// So many rows to come, with these inputs.
fn rows_to_come(
    pass: &mut SeriesPass,
    times: Option<&TimeMemory>,
    (steps, inputs): (usize, Vec<f64>),
) -> Result<ForecastRows, String> {
    pass.await_inputs(steps, inputs)?;
    let ahead = pass.ahead_of(steps).map_err(|error| error.to_string())?;
    let intervals = pass.has_intervals();
    let rows = ahead.forecast.chunks_exact(pass.model().forecaster.outputs()).zip(1..);
    let rows = rows.map(|(row, step)| foretold(row, intervals.then(|| pass.ends(step, row)).as_deref()));
    let parts = told_parts(&ahead.parts, &pass.columns().input_names());
    Ok(ForecastRows {
        rows: rows.collect(),
        times: times.and_then(|times| times.ahead(steps)),
        parts: (!parts.is_empty()).then(|| json!(parts)),
    })
}

impl Model for ServedSeries {
    /// All columns are learnt together, and none is needed to predict.
    fn schema(&self) -> Schema {
        let model = self.pass.model();
        let columns: Vec<(&str, bool)> = self.pass.columns().all().collect();
        let outputs = columns.iter().filter(|(_, input)| !input).map(|(name, _)| (*name).to_owned()).collect();
        let column = |&(name, input): &(&str, bool)| Column {
            name: name.to_owned(),
            takes: if input { Takes::Number } else { Takes::NumberOrNull },
            about: String::new(),
            needed: true,
            categories: Vec::new(),
        };
        let mut columns: Vec<Column> = columns.iter().map(column).collect();
        let known = columns.iter().filter(|column| column.takes == Takes::Number).map(|c| c.name.clone()).collect();
        columns.extend(self.times.as_ref().map(|times| Column {
            name: times.name().to_owned(),
            takes: Takes::Time,
            about: String::new(),
            needed: false,
            categories: times.ahead(1).iter().flatten().map(text).collect(),
        }));
        Schema {
            learner: model.method.clone(),
            loss: "mean squared error".to_owned(),
            named: are_distinct(columns.iter().map(|column| &column.name)),
            series: Some(most_steps(model.forecaster.outputs())),
            known,
            columns,
            outputs,
            interval_share: self.pass.interval_share(),
            tells_parts: self.anomalies.is_some(),
            ..Schema::default()
        }
    }

    /// The losses are those of single values; of the rows of the warm-up none is scored. Missing
    /// rows that were put in between those that were met are none of them.
    fn standing(&self) -> Standing {
        let (seen, SeriesErrors { scored, sum, .. }) = (self.pass.model().seen(), self.pass.model().errors);
        Standing {
            met: seen.rows - self.times.as_ref().map_or(0, TimeMemory::put_in).min(seen.rows),
            fingerprint: seen.fingerprint,
            rounds: self.pass.rows() as u64,
            weight: scored as f64,
            loss: sum,
            size: self.pass.model().forecaster.lags(),
            implausible: 0,
            alarms: Default::default(),
        }
    }

    fn predict(&self, _: &Row, _: bool) -> Result<Prediction, Reason> {
        Err("a series is forecast".into())
    }

    fn odd(&self, _: &Row) -> Vec<(usize, Oddity)> {
        Vec::new()
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason> {
        let Self { pass, times, anomalies } = self;
        let mut values: Vec<f64> = row.values.iter().map(Value::number).collect();
        match (times.as_mut(), row.values.last()) {
            (Some(times), Some(time)) => {
                values.pop();
                pass.step_at(times, cell_of(time), &values)?;
            }
            _ => pass.step(&values).map_err(|error| error.to_string())?,
        }
        let [_, prediction] = pass.last();
        let mut told = foretold(prediction, pass.has_intervals().then(|| pass.band()));
        if let (Some(log), Prediction::Numbers { values, anomaly, .. }) = (anomalies, &mut told) {
            *anomaly = vec![false; values.len()];
            let outside = log.take(pass, (None, times.as_ref().map(TimeMemory::shown)));
            outside.iter().for_each(|(output, _)| anomaly[*output] = true);
        }
        Ok(told)
    }

    fn forecast(&self) -> Forecast {
        let (mut pass, times, anomalies) = (self.pass.clone(), self.times.clone(), self.anomalies.clone());
        Box::new(move |asked| {
            let ForecastQuery { steps, mut inputs, scenarios, parts, input_effects, anomalies: wanted } = asked;
            if parts {
                pass.explaining();
            }
            if let ([], [(_, first), ..]) = (&inputs[..], &scenarios[..]) {
                inputs.clone_from(first);
            }
            let named = |(name, inputs): (String, Vec<f64>)| {
                let rows = rows_to_come(&mut pass, times.as_ref(), (steps, inputs));
                Ok((name.clone(), rows.map_err(|why| format!("scenario {name:?}: {why}"))?))
            };
            let scenarios = scenarios.into_iter().map(named).collect::<Result<Vec<_>, String>>()?;
            let ahead = rows_to_come(&mut pass, times.as_ref(), (steps, inputs))?;
            Ok(ForecastAnswer {
                ahead,
                scenarios,
                input_effects: input_effects.then(|| json!(EffectReport::all(&pass))),
                anomalies: anomalies.filter(|_| wanted).map(|log| json!(log.report())),
            })
        })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        let Some(times) = &self.times else { return Ok(self.pass.model().to_bytes()?) };
        let mut pass = self.pass.clone();
        pass.keep(times);
        Ok(pass.model().to_bytes()?)
    }
}

/// A time as a row has it.
fn text(time: &serde_json::Value) -> String {
    time.as_str().map_or_else(|| time.to_string(), str::to_owned)
}
