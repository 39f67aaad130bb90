//! The result of an evaluation, for people and as JSON.

use std::fmt::Write as _;

use mercer_registry::catalogue::Value;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::report::alarms::Alarms;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::digits;
use crate::report::plain::Plain;
use crate::report::scores::{IntervalScores, Metric, Scores, Section, table};

/// The fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(crate) struct EvalReport {
    pub(crate) learner: &'static str,
    pub(crate) kernel: String,
    pub(crate) parameters: Parameters,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    #[serde(flatten)]
    pub(crate) scores: Scores,
    /// Over the later half of the rounds that are scored, and over the last of them.
    pub(crate) second_half: Scores,
    pub(crate) last_window: WindowScores,
    /// One by one, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<Output>,
    /// The largest first, if there are groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<GroupScores>,
    pub(crate) dictionary_size: usize,
    pub(crate) seconds: f64,
    pub(crate) seconds_per_example: f64,
    pub(crate) checkpoints: Vec<CurvePoint>,
    /// The kind of the targets.
    pub(crate) task: &'static str,
    /// Why, where nobody told it.
    #[serde(rename = "task_why", skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The kinds of the columns, and the counts of odd cells, of a table whose columns are encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) columns: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<serde_json::Value>,
    /// The alarms and their promise, where rows were watched.
    #[serde(flatten)]
    pub(crate) alarms: Option<Alarms>,
    /// Remarks on the result.
    pub(crate) notes: Vec<String>,
    /// The score asked for, if one was.
    #[serde(skip)]
    pub(crate) asked: Option<Metric>,
    /// The score that is followed.
    #[serde(skip)]
    pub(crate) followed: Metric,
    /// Rows at the beginning that were not scored, and rows of a window.
    #[serde(skip)]
    pub(crate) skipped: usize,
    #[serde(skip)]
    pub(crate) window: usize,
}

/// The scores of the last rows.
#[derive(serde::Serialize)]
pub(crate) struct WindowScores {
    /// The number of these rows.
    pub(crate) rows: usize,
    #[serde(flatten)]
    pub(crate) scores: Scores,
}

/// The state of the run at a checkpoint.
#[derive(serde::Serialize)]
pub(crate) struct CurvePoint {
    pub(crate) t: usize,
    /// Loss of the rows that are scored.
    pub(crate) cumulative_loss: f64,
    pub(crate) dictionary_size: usize,
    /// The score that is followed: of the window that ends here, and of all rows so far.
    pub(crate) window_score: Option<f64>,
    #[serde(skip)]
    pub(crate) score: Option<f64>,
}

/// The scores of a group that has a model of its own, or of the rows that the common one answered.
#[derive(serde::Serialize)]
pub(crate) struct GroupScores {
    /// None where the common model answered.
    pub(crate) group: Option<String>,
    /// The rows that are scored.
    pub(crate) rows: usize,
    pub(crate) dictionary_size: usize,
    #[serde(flatten)]
    pub(crate) scores: Scores,
}

/// Groups that have lines in the text.
const MOST_GROUPS: usize = 10;

/// The scores of one output of several.
#[derive(serde::Serialize)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) mse: f64,
    pub(crate) mae: f64,
    pub(crate) r2: f64,
    #[serde(flatten)]
    pub(crate) intervals: Option<IntervalScores>,
}

/// The learner's keys with their values, as an object that keeps their order.
pub(crate) struct Parameters(pub(crate) Vec<(&'static str, Value)>);

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            match value {
                Value::None => map.serialize_entry(key, &None::<f64>)?,
                Value::Whole(count) => map.serialize_entry(key, count)?,
                Value::Number(number) => map.serialize_entry(key, number)?,
                Value::Numbers(numbers) => map.serialize_entry(key, numbers)?,
                Value::Words(words) => map.serialize_entry(key, words)?,
                Value::Kernels(kernels) => {
                    let specs: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                    map.serialize_entry(key, &specs)?;
                }
            }
        }
        map.end()
    }
}

impl EvalReport {
    pub(crate) fn json(&self) -> Result<String, Failure> {
        json::line(self)
    }

    /// `data` is how the data were named.
    pub(crate) fn text(&self, data: &str) -> String {
        let mut text = format!("{} on {data}: {} rows of {} features\n\n", self.learner, self.rows, self.features);
        let settings: Vec<String> = self.parameters.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<21}{value}");
        };
        if let Some(why) = &self.why {
            line("task", &format!("{}, for {why}", self.task));
        }
        line("kernel", &self.kernel);
        line("parameters", &settings.join(" "));
        let held = |IntervalScores { coverage, mean_width }: &IntervalScores| {
            format!("{} of the targets, mean width {}", digits(*coverage), digits(*mean_width))
        };
        for Output { name, mse, mae, r2, intervals } in &self.outputs {
            let mut scores =
                format!("mean squared error {}, absolute {}, R² {}", digits(*mse), digits(*mae), digits(*r2));
            if let Some(intervals) = intervals {
                let _ = write!(scores, ", intervals hold {}", held(intervals));
            }
            line("", &format!("{}: {scores}", Plain(name)));
        }
        line("dictionary size", &self.dictionary_size.to_string());
        line("seconds", &format!("{}, {} a row", digits(self.seconds), digits(self.seconds_per_example)));
        text.push('\n');
        text += &table(&self.sections(), self.asked);
        text += &self.group_lines();
        let losses = if self.scores.classes.is_some() { "mistakes" } else { "squared error" };
        let head = self.followed.head();
        let [so_far, window] = [format!("{head} so far"), format!("{head} of {}", last(self.window))];
        let _ = writeln!(text, "\n  {:>12}  {:>12}  {losses:>14}  {so_far:>18}  {window}", "row", "dictionary");
        let shown = |score: Option<f64>| score.map_or_else(|| "–".to_owned(), digits);
        for CurvePoint { t, cumulative_loss, dictionary_size, window_score, score } in &self.checkpoints {
            let (loss, so_far, window) = (digits(*cumulative_loss), shown(*score), shown(*window_score));
            let _ = writeln!(text, "  {t:>12}  {dictionary_size:>12}  {loss:>14}  {so_far:>18}  {window}");
        }
        if let Some(alarms) = &self.alarms {
            let gap = if alarms.alarms.is_empty() { "" } else { "\n" };
            let _ = write!(text, "\n{} in {} rows\n{gap}{}", alarms.counted(), self.rows, alarms.lines());
        }
        for note in &self.notes {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }

    /// A line for each of the largest groups.
    fn group_lines(&self) -> String {
        let mut text = String::new();
        if self.groups.is_empty() {
            return text;
        }
        let head = self.followed.head();
        let _ = writeln!(text, "\n  {:<24}  {:>10}  {:>12}  {head}", "group", "rows", "dictionary");
        for GroupScores { group, rows, dictionary_size, scores } in self.groups.iter().take(MOST_GROUPS) {
            let name = group.as_deref().map_or("(the common model)".to_owned(), |name| Plain(name).to_string());
            let score = self.followed.value(scores).map_or_else(|| "–".to_owned(), digits);
            let _ = writeln!(text, "  {name:<24}  {rows:>10}  {dictionary_size:>12}  {score}");
        }
        if self.groups.len() > MOST_GROUPS {
            let _ = writeln!(text, "  and {} groups more; --json has all", self.groups.len() - MOST_GROUPS);
        }
        text
    }

    fn sections(&self) -> [Section<'_>; 3] {
        let all = if self.skipped == 0 { "all rows".to_owned() } else { format!("rows from {} on", self.skipped + 1) };
        [
            Section { name: all, scores: &self.scores },
            Section { name: "second half".to_owned(), scores: &self.second_half },
            Section { name: last(self.last_window.rows), scores: &self.last_window.scores },
        ]
    }
}

fn last(rows: usize) -> String {
    if rows == 1 { "last row".to_owned() } else { format!("last {rows} rows") }
}
