//! The result of a forecast, for people and as JSON.

use std::fmt::Write as _;

use mercer_forecast::{Forecaster, Seasons};
use mercer_session::model::{Prediction, SeriesErrors};
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::anomalies::AnomalyReport;
use super::backtest::BacktestScores;
use super::effects::EffectReport;
use super::feed::SeriesFeed;
use super::parts;
use super::pass::{SeriesAhead, SeriesPass};
use super::passes::Passes;
use super::record::SeriesRecord;
use super::seconds;
use super::total::TOTAL;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::{digits, number};
use crate::report::plain::Plain;
use crate::report::scores::{Scores, Section, table};

/// The fields are the JSON object's keys, in its order; the last four are there when asked for.
#[derive(serde::Serialize)]
pub(super) struct ForecastReport {
    method: String,
    parameters: MethodParameters,
    rows: usize,
    outputs: usize,
    sum_squared_error: f64,
    mse: Option<f64>,
    epochs: Vec<Epoch>,
    seconds: f64,
    /// Scores of the rows of this run that are scored, and of the later half of them.
    scores: SeriesScores,
    second_half: Scores,
    /// Scores of forecasts of several steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    backtest: Option<BacktestScores>,
    #[serde(skip)]
    scored: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Vec<f64>>,
    /// Coverage of forecasts of 2, 3, … steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage_further: Option<Vec<Vec<f64>>>,
    /// The column of times, and what was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Time>,
    /// The next rows of a file without groups.
    #[serde(flatten)]
    coming: Option<Coming>,
    /// By the names of the groups.
    #[serde(skip_serializing_if = "Map::is_empty")]
    groups: Map<String, Value>,
    /// By the names of the files of --future, if there are several.
    #[serde(skip_serializing_if = "Map::is_empty")]
    scenarios: Map<String, Value>,
    /// Of the total of the groups, if it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Coming>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anomalies: Option<AnomalyReport>,
    /// Remarks on the result.
    notes: Vec<String>,
    /// The groups or the scenarios, and which of them these are.
    #[serde(skip)]
    named: (&'static str, Vec<(String, Coming)>),
}

/// Results beside the scores.
pub(super) struct ForecastResults {
    pub(super) backtest: Option<BacktestScores>,
    /// The next rows of each group, or of the series.
    pub(super) comings: Vec<(Option<String>, Coming)>,
    /// The next rows by scenario, if there are several.
    pub(super) scenarios: Vec<(String, Coming)>,
    pub(super) total: Option<Coming>,
    pub(super) anomalies: Option<AnomalyReport>,
}

/// The next rows of a series.
#[derive(serde::Serialize)]
pub(super) struct Coming {
    /// The number of the first row.
    #[serde(skip)]
    k: usize,
    /// The lengths of the seasons in rows, of season mixtures; of several outputs a list for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    periods: Option<Periods>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<Vec<Vec<f64>>>,
    /// Times of the rows of the forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<Value>>,
    /// The ends of its intervals; null where there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast_intervals: Option<Vec<Vec<Option<[f64; 2]>>>>,
    /// Rows as those of the forecast, by the probability that a value is below.
    #[serde(skip_serializing_if = "Quantiles::is_empty")]
    quantiles: Quantiles,
    /// The parts of each step and output, if they are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Vec<Value>>,
    /// The effects of the known inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    input_effects: Vec<EffectReport>,
}

/// Groups whose forecasts are in the table.
const GROUPS: usize = 20;

/// By probability, in the order in which they were asked for.
type Quantiles = Map<String, Value>;

/// Lengths of seasons.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Periods {
    One(Vec<usize>),
    Several(Vec<Vec<usize>>),
}

impl Periods {
    fn from_seasons(seasons: &Seasons) -> Self {
        let of = |output: usize| seasons.mixture(output).periods().to_vec();
        match seasons.outputs() {
            1 => Self::One(of(0)),
            outputs => Self::Several((0..outputs).map(of).collect()),
        }
    }

    fn text(&self) -> String {
        let one = |periods: &Vec<usize>| match &periods[..] {
            [] => "none".to_owned(),
            periods => format!("{} rows", periods.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ")),
        };
        match self {
            Self::One(periods) => one(periods),
            Self::Several(all) if all.windows(2).all(|two| two[0] == two[1]) => one(&all[0]),
            Self::Several(all) => all.iter().map(one).collect::<Vec<_>>().join("; "),
        }
    }
}

/// Scores of one step.
#[derive(serde::Serialize)]
struct SeriesScores {
    #[serde(flatten)]
    scores: Scores,
    /// The mean absolute error in units of the mean change over a season, or from row to row
    /// without one.
    mase: Option<f64>,
}

#[derive(serde::Serialize)]
struct Epoch {
    start: usize,
    lags: usize,
}

#[derive(serde::Serialize)]
struct Time {
    column: String,
    /// Null where the rows are not even.
    step: Option<String>,
    /// Rows that were put in.
    missing_rows: u64,
    last: Option<String>,
}

/// The parameters that the method uses, in their order.
struct MethodParameters(Vec<(String, Value)>);

/// The parameters of a model, which keeps them as JSON.
pub(crate) fn parameters(model: &Prediction) -> impl Iterator<Item = (String, Value)> {
    let value = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
    model.parameters.iter().map(move |(key, text)| (key.clone(), value(text)))
}

impl serde::Serialize for MethodParameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Coming {
    /// `feed` is behind the last row of the series.
    pub(super) fn new(pass: &SeriesPass, feed: &SeriesFeed, ahead: Option<&SeriesAhead>, quantiles: &[f64]) -> Self {
        let forecast = ahead.map(|ahead| &ahead.forecast);
        let outputs = pass.columns().outputs.len();
        let forecast: Option<Vec<Vec<f64>>> =
            forecast.map(|rows| rows.chunks_exact(outputs).map(<[f64]>::to_vec).collect());
        let ends = |(step, row): (usize, &Vec<f64>)| pass.ends(step, row);
        let clock = feed.clock().filter(|clock| clock.step().is_some());
        let time_of = |step| clock.zip(feed.time(step)).map_or(Value::Null, |(clock, time)| clock.value(time));
        let times = forecast.as_ref().filter(|_| clock.is_some()).map(|rows| (1..=rows.len()).map(time_of).collect());
        let known = forecast.as_ref().filter(|_| pass.has_intervals());
        let forecast_intervals = known.map(|rows| (1..).zip(rows).map(ends).collect());
        let quantile = |p: f64| {
            let row = |(step, row): (usize, &Vec<f64>)| pass.quantile(p, step, row);
            (1..).zip(forecast.iter().flatten()).map(row).collect::<Option<Vec<_>>>().unwrap_or_default()
        };
        let asked = quantiles.iter().filter(|_| forecast.is_some());
        let quantiles = asked.map(|&p| (p.to_string(), json!(quantile(p)))).collect();
        let periods = pass.seasons().map(Periods::from_seasons);
        let parts = ahead.map_or_else(Vec::new, |ahead| parts::told(&ahead.parts, &pass.columns().input_names()));
        let input_effects = Vec::new();
        Self { k: pass.rows(), periods, forecast, times, forecast_intervals, quantiles, parts, input_effects }
    }

    /// The same with the effects of inputs.
    pub(super) fn with_effects(self, input_effects: Vec<EffectReport>) -> Self {
        Self { input_effects, ..self }
    }

    /// A row of the table of what comes.
    fn line(&self, step: usize, row: &[f64]) -> String {
        let ends = self.forecast_intervals.as_ref().and_then(|rows| rows.get(step));
        let cell = |(output, value): (usize, &f64)| match ends.and_then(|ends| ends.get(output).copied().flatten()) {
            Some([low, high]) => format!("{} [{}, {}]", digits(*value), digits(low), digits(high)),
            None => digits(*value),
        };
        let mut cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        let quantiles = |rows: &Value| rows.get(step).and_then(Value::as_array).cloned().unwrap_or_default();
        cells.extend(self.quantiles.values().flat_map(quantiles).filter_map(|value| value.as_f64().map(digits)));
        let known = self.times.as_ref().and_then(|times| times.get(step)).filter(|time| !time.is_null());
        let at = known.map_or_else(|| (self.k + step).to_string(), shown);
        format!("{at:>16}  {}", cells.join("  "))
    }
}

impl ForecastReport {
    pub(super) fn new(
        passes: &Passes,
        feed: &SeriesFeed,
        scored: &SeriesRecord,
        results: ForecastResults,
        stopped: bool,
    ) -> Self {
        let ForecastResults { backtest, mut comings, scenarios, total, anomalies } = results;
        let (pass, all) = (passes.first(), passes.all());
        let (model, outputs) = (pass.model(), pass.columns().outputs.len());
        let epochs = model.forecaster.epochs();
        let time = feed.clock().map(|clock| Time {
            column: clock.name.clone(),
            step: clock.words(),
            missing_rows: feed.missing(),
            last: feed.time(0).map(|time| clock.text(time)),
        });
        let scores = scored.between(0, scored.rows());
        let change = scored.change(0..scored.groups());
        let mase = change.zip(scores.mae).map(|(change, mae)| mae / change).filter(|mase| mase.is_finite());
        let sum = |of: fn(&SeriesErrors) -> f64| all.iter().map(|pass| of(&pass.model().errors)).sum::<f64>();
        let (squares, count) = (sum(|errors| errors.sum), sum(|errors| errors.scored as f64));
        let coming = comings.pop_if(|(name, _)| name.is_none()).map(|(_, coming)| coming);
        let named: Vec<(String, Coming)> =
            comings.into_iter().filter_map(|(name, coming)| Some((name?, coming))).collect();
        let mut report = Self {
            method: model.method.clone(),
            parameters: MethodParameters(parameters(model).collect()),
            rows: all.iter().map(SeriesPass::rows).sum(),
            outputs,
            sum_squared_error: squares,
            mse: (count > 0.0).then(|| squares / count),
            epochs: epochs.iter().map(|epoch| Epoch { start: epoch.start, lags: epoch.lags }).collect(),
            seconds: all.iter().map(|pass| seconds(pass.time())).sum(),
            scores: SeriesScores { scores, mase },
            backtest,
            second_half: scored.between(scored.rows() / 2, scored.rows()),
            scored: scored.rows(),
            coverage: passes.coverage(),
            coverage_further: pass.coverage_further(),
            time,
            groups: objects(&named),
            scenarios: objects(&scenarios),
            total,
            anomalies,
            named: if scenarios.is_empty() { ("group", named) } else { ("scenario", scenarios) },
            coming,
            notes: Vec::new(),
        };
        report.notes = report.remarks(pass, stopped);
        report
    }

    pub(super) fn json(&self) -> Result<String, Failure> {
        json::line(self)
    }

    /// `data` is how the series was named.
    pub(super) fn text(&self, data: &str, passes: &Passes) -> String {
        let pass = passes.first();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (n, m) = (self.rows, self.outputs);
        let (method, data) = (Plain(&self.method), Plain(data));
        let groups = match self.named.1.len() {
            0 => String::new(),
            _ if !self.scenarios.is_empty() => String::new(),
            groups => format!(" in {groups} group{}", plural(groups)),
        };
        let mut text = format!("{method} on {data}: {n} row{} of {m} output{}{groups}\n\n", plural(n), plural(m));
        let now = passes.all().iter().map(SeriesPass::rows_now).sum::<usize>();
        self.write_facts(now, &mut text);
        if self.scored > 0 {
            let all = if now < n { "rows of this run" } else { "rows after warm-up" };
            let sections = [(all, &self.scores.scores), ("second half", &self.second_half)];
            let sections = sections.map(|(name, scores)| Section { name: name.to_owned(), scores });
            text.push('\n');
            text += &table(&sections, None);
        }
        self.write_backtest(&mut text);
        if let Some(coming) = &self.coming {
            EffectReport::write(&coming.input_effects, m > 1, &mut text);
        }
        if let Some(anomalies) = &self.anomalies {
            anomalies.write(&mut text);
        }
        if !self.epochs.is_empty() {
            let _ = writeln!(text, "\n  {:>12}  {:>6}", "from row", "lags");
            for Epoch { start, lags } in &self.epochs {
                let _ = writeln!(text, "  {start:>12}  {lags:>6}");
            }
        }
        self.write_forecast(pass, &mut text);
        for note in &self.notes {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }

    /// A line a fact, of which `now` rows are of this run.
    fn write_facts(&self, now: usize, text: &mut String) {
        let n = self.rows;
        let settings: Vec<String> =
            self.parameters.0.iter().map(|(key, value)| format!("{}={}", Plain(key), shown(value))).collect();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<23}{value}");
        };
        line("parameters", &settings.join(" "));
        if now < n {
            line("rows of this run", &format!("{now}, behind {} that the model had observed", n - now));
        }
        if let Some(Time { column, step, missing_rows, last }) = &self.time {
            let step = step.as_ref().map_or("rows are not evenly apart".to_owned(), |step| format!("a step of {step}"));
            let missing = if *missing_rows > 0 { format!(", {missing_rows} rows missing") } else { String::new() };
            let last = last.as_ref().map_or(String::new(), |last| format!(", until {last}"));
            line("time", &format!("{}: {step}{missing}{last}", Plain(column)));
        }
        if let Some(periods) = self.coming.as_ref().and_then(|coming| coming.periods.as_ref()) {
            line("seasons", &periods.text());
        }
        line("mean squared error", &self.mse.map_or("nothing was scored".to_owned(), digits));
        line("sum of squared errors", &digits(self.sum_squared_error));
        if let Some(coverage) = &self.coverage {
            line("intervals hold", &shares(coverage));
        }
        for (step, coverage) in (2..).zip(self.coverage_further.iter().flatten()) {
            line(&format!("those of {step} steps"), &shares(coverage));
        }
        let per_row = self.seconds / now.max(1) as f64;
        line("seconds", &format!("{}, {} a row", digits(self.seconds), digits(per_row)));
    }

    /// Scores of several steps beside those of what costs nothing.
    fn write_backtest(&self, text: &mut String) {
        let Some(backtest) = &self.backtest else { return };
        let origins = if backtest.origins == 1 { "origin" } else { "origins" };
        let steps = if backtest.steps == 1 { "step" } else { "steps" };
        let head = format!("{} {steps}, {} {origins}", backtest.steps, backtest.origins);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {head:<26}  {:>12}  {:>12}  {:>12}", "MASE", "RMSE", "MAE");
        let mut line = |name: &str, scores: [Option<f64>; 3]| {
            let [mase, rmse, mae] = scores.map(|score| score.map_or_else(|| "–".to_owned(), digits));
            let _ = writeln!(text, "  {name:<26}  {mase:>12}  {rmse:>12}  {mae:>12}");
        };
        line("  forecast", [backtest.mase, Some(backtest.rmse), Some(backtest.mae)]);
        for baseline in &backtest.baselines.0 {
            line(&format!("  {}", baseline.said()), [baseline.mase, baseline.rmse, baseline.mae]);
        }
    }

    fn write_forecast(&self, pass: &SeriesPass, text: &mut String) {
        let (kind, named) = &self.named;
        let named: Vec<(&str, &Coming)> = named.iter().map(|(name, coming)| (name.as_str(), coming)).collect();
        let alone = self.coming.iter().filter(|_| named.is_empty()).map(|coming| ("", coming));
        let total = self.total.iter().map(|coming| (TOTAL, coming));
        let all: Vec<(&str, &Coming)> = alone.chain(total).chain(named.iter().copied()).collect();
        let Some((_, first)) = all.first().filter(|(_, coming)| coming.forecast.is_some()) else { return };
        let mut names: Vec<String> =
            (0..self.outputs).map(|output| Plain(pass.columns().output_name(output)).to_string()).collect();
        let of = |name: &str| if self.outputs == 1 { String::new() } else { format!("{name}, ") };
        let quantiles = |p: &String| names.iter().map(|name| format!("{}{p} quantile", of(name))).collect::<Vec<_>>();
        let more: Vec<String> = first.quantiles.keys().flat_map(quantiles).collect();
        names.extend(more);
        // The names of groups are a column of their own.
        let width = all.iter().take(GROUPS).map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let width = if width == 0 { 0 } else { width.max(kind.len()) + 2 };
        let head = if width == 0 { "" } else { kind };
        let _ = writeln!(text, "\n{head:>width$}  {:>16}  {}", "forecast of", names.join("  "));
        for (name, coming) in all.iter().take(GROUPS) {
            for (step, row) in coming.forecast.iter().flatten().enumerate() {
                let _ = writeln!(text, "{:>width$}  {}", Plain(name).to_string(), coming.line(step, row));
            }
        }
        if all.len() > GROUPS {
            let _ = writeln!(text, "\nNote: {} more {kind}s are in --predictions and --json", all.len() - GROUPS);
        }
    }

    fn remarks(&self, pass: &SeriesPass, stopped: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if stopped {
            notes.push("ended by a signal; the same command with --resume goes on from here".to_owned());
        }
        if self.mse.is_none() {
            let shorter = if pass.seasons().is_some() { "" } else { "shorten it (--t-init) or " };
            notes.push(format!(
                "all {} rows belong to the warm-up, so that no error counts; {shorter}give more rows",
                self.rows
            ));
        }
        if let Some(epoch) = self.epochs.iter().find(|epoch| epoch.lags >= epoch.start) {
            notes.push(format!(
                "from row {} on {} lags reach back beyond the first row, so that predictions are 0 until there is a row to learn \
                 from; lower --beta, or lengthen the warm-up (--t-init)",
                epoch.start, epoch.lags
            ));
        }
        if let Some(epoch) = pass.model().forecaster.epochs().iter().find(|epoch| epoch.saturated) {
            notes.push(format!("from row {} on the number of lags has reached its limit", epoch.start));
        }
        let held = pass.model().forecaster.held();
        if held > 0 {
            let values = if held == 1 { "1 value lies" } else { &format!("{held} values lie") };
            notes.push(format!(
                "{values} far beyond the others of late, counted as missing and not learnt; a value that marks a gap, such as \
                 -9999, is named by --gap=-9999"
            ));
        }
        let shifts = pass.model().forecaster.shifts();
        if shifts > 0 {
            let times = if shifts == 1 { "once".to_owned() } else { format!("{shifts} times") };
            notes.push(format!("the level shifted {times}; the rows behind it are learnt less the shift"));
        }
        notes.extend(pass.overshoot());
        notes
    }
}

/// What comes, by name.
fn objects(named: &[(String, Coming)]) -> Map<String, Value> {
    named.iter().map(|(name, coming)| (name.clone(), json!(coming))).collect()
}

/// Shares in a line of text; none before the first row.
fn shares(coverage: &[f64]) -> String {
    let one = |share: &f64| if share.is_nan() { "none yet".to_owned() } else { format!("{share:.4}") };
    coverage.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A parameter in a line of text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => Plain(text).to_string(),
        Value::Number(own) => own.as_f64().map_or_else(|| own.to_string(), number),
        Value::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}
