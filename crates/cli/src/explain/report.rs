//! Effects as lines for people, and as JSON.

use std::fmt::Write as _;

use mercer_session::explain::{Exactness, Explanation, SHARED};
use serde_json::{Map, Value, json};

use crate::report::facts::Facts;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::digits;
use crate::report::plain::Plain;

/// Rows that are told one by one.
const ROWS: usize = 10;

pub(super) struct ExplainedRow {
    /// Its number in DATA, from 1.
    pub(super) row: u64,
    pub(super) explanation: Explanation,
    /// The places of its columns where not all rows have the same; empty where they have.
    pub(super) own: Vec<usize>,
}

impl ExplainedRow {
    /// The place of the column of an effect.
    pub(super) fn place(&self, effect: usize) -> usize {
        self.own.get(effect).copied().unwrap_or(effect)
    }
}

/// What is explained.
pub(super) enum ExplainedOutput {
    /// The number that is predicted.
    Number,
    /// The prediction of this target, of several.
    Output(String),
    /// The score of this class.
    Class(String),
}

/// The result of a run.
pub(super) struct ExplainReport {
    pub(super) data: String,
    /// The columns.
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<ExplainedRow>,
    pub(super) exact: Exactness,
    pub(super) subject: ExplainedOutput,
    pub(super) left_out: Option<String>,
    pub(super) top: usize,
}

impl ExplainReport {
    /// Leaves out what columns share, where it does nothing.
    pub(super) fn without_unused(mut self) -> Self {
        let unused = |j: &usize| self.rows.iter().all(|row| row.explanation.effects[*j] == 0.0);
        let place = self.names.iter().position(|name| name == SHARED).filter(unused);
        if let Some(place) = place {
            self.names.remove(place);
            for row in &mut self.rows {
                row.explanation.effects.remove(place);
                if !row.explanation.standard_errors.is_empty() {
                    row.explanation.standard_errors.remove(place);
                }
            }
        }
        self
    }

    pub(super) fn base(&self) -> Option<f64> {
        self.rows.first().map(|row| row.explanation.base)
    }

    /// Mean sizes of the effects, the largest first, with their columns.
    pub(super) fn sizes(&self) -> Vec<(usize, f64)> {
        let n = self.rows.len().max(1) as f64;
        let mut sizes: Vec<(usize, f64)> = (0..self.names.len()).map(|j| (j, 0.0)).collect();
        for row in &self.rows {
            let effects = row.explanation.effects.iter().enumerate();
            effects.for_each(|(effect, size)| sizes[row.place(effect)].1 += size.abs() / n);
        }
        sizes.sort_by(|a, b| b.1.total_cmp(&a.1));
        sizes
    }

    pub(super) fn json(&self) -> Result<String, Failure> {
        let named = |row: &ExplainedRow, values: &[f64]| -> Value {
            let pair = |(effect, value): (usize, &f64)| (self.names[row.place(effect)].clone(), json!(value));
            Value::Object(values.iter().enumerate().map(pair).collect::<Map<_, _>>())
        };
        let row = |row: &ExplainedRow| {
            let Explanation { prediction, effects, standard_errors, .. } = &row.explanation;
            let errors = if standard_errors.is_empty() { Value::Null } else { named(row, standard_errors) };
            let effects = named(row, effects);
            json!({"row": row.row, "prediction": prediction, "effects": effects, "standard_error": errors})
        };
        let mut facts = Facts::default();
        facts.tell("base", self.base());
        let (class, output) = match &self.subject {
            ExplainedOutput::Number => (None, None),
            ExplainedOutput::Class(name) => (Some(name.clone()), None),
            ExplainedOutput::Output(name) => (None, Some(name.clone())),
        };
        facts.tell("class", class);
        facts.tell("output", output);
        facts.tell("rows", self.rows.iter().map(row).collect::<Vec<_>>());
        facts.tell("notes", self.notes());
        json::line(&facts)
    }

    fn notes(&self) -> Vec<String> {
        let sampled = match self.exact {
            Exactness::All => None,
            Exactness::Parts => Some(
                "the effects are exact for the dictionaries, random features and linear members of the mixture, and means \
                 over permutations for the rest: its processes on the nearest rows, and what is clipped; standard errors \
                 are told, and the sum is exact",
            ),
            Exactness::Nothing => Some(
                "the effects are means over permutations, because the learner is no sum over kernels that are products; \
                 standard errors are told, and the sum is exact",
            ),
        };
        let sampled = sampled.map(str::to_owned);
        sampled.into_iter().chain(self.left_out.clone()).collect()
    }

    /// The number of rows, in words.
    pub(super) fn counted(&self) -> String {
        let rows = self.rows.len();
        format!("{rows} row{}", if rows == 1 { "" } else { "s" })
    }

    /// The largest effects of the first rows, and the mean sizes over all where they are more than
    /// one.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}: {}\n\n", Plain(&self.data), self.counted());
        let width = self.names.iter().map(|name| Plain(name).to_string().chars().count()).max().unwrap_or(0).max(10);
        // Writing to a string cannot fail.
        let _ = match &self.subject {
            ExplainedOutput::Number => Ok(()),
            ExplainedOutput::Output(name) => writeln!(text, "Effects are those on the prediction of {}\n", Plain(name)),
            ExplainedOutput::Class(name) => writeln!(text, "Effects are those on the score of class {}\n", Plain(name)),
        };
        for row in self.rows.iter().take(ROWS) {
            self.tell(row, width, &mut text);
        }
        if self.rows.len() > 1 {
            self.tell_sizes(width, &mut text);
        }
        for note in self.notes() {
            let _ = writeln!(text, "Note: {note}");
        }
        text
    }

    fn tell_sizes(&self, width: usize, text: &mut String) {
        let _ = writeln!(text, "Mean size of the effects in {}", self.counted());
        for (j, size) in self.sizes().into_iter().take(self.top.max(ROWS)) {
            let _ = writeln!(text, "  {:<width$}  {}", Plain(&self.names[j]).to_string(), digits(size));
        }
    }

    fn tell(&self, row: &ExplainedRow, width: usize, text: &mut String) {
        let Explanation { prediction, base, effects, standard_errors, .. } = &row.explanation;
        let mut order: Vec<usize> = (0..effects.len()).collect();
        order.sort_by(|a, b| effects[*b].abs().total_cmp(&effects[*a].abs()));
        let _ = writeln!(text, "row {}: {}", row.row, digits(*prediction));
        let _ = writeln!(text, "  {:<width$}  {}", "base", digits(*base));
        let signed = |value: f64| format!("{}{}", if value < 0.0 { "" } else { "+" }, digits(value));
        for j in order.iter().take(self.top) {
            let error = standard_errors.get(*j).map(|error| format!(" ± {}", digits(*error))).unwrap_or_default();
            let name = Plain(&self.names[row.place(*j)]).to_string();
            let _ = writeln!(text, "  {name:<width$}  {}{error}", signed(effects[*j]));
        }
        if order.len() > self.top {
            let rest: f64 = order[self.top..].iter().map(|j| effects[*j]).sum();
            let count = order.len() - self.top;
            let others = format!("{count} other{}", if count == 1 { "" } else { "s" });
            let _ = writeln!(text, "  {others:<width$}  {}", signed(rest));
        }
        text.push('\n');
    }
}
