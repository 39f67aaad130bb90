//! Tables for people (aligned text; pages) and for programs (CSV), from the same cells.
//!
//! People see numbers in a column's format; programs see every digit, and a mean ± deviation as two
//! columns.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::judgement::{ComparisonKind, Judgement, Outcome};
use crate::stats::Summary;
use mercer_plots::{decimals_of, significant};

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A row of a table from anything that is a cell.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::table::Cell::from($cell)),*] };
}
pub(crate) use row;

/// Format in which the numbers of a column are shown to people. Words are shown as they are in any
/// column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// The shortest form that reads back the same.
    Shortest,
    /// This many digits after the point.
    Decimals(usize),
    /// This many digits that count; very large and very small numbers with an exponent. A deviation
    /// gets as many decimals as its mean.
    Significant(usize),
}

impl Format {
    /// The format of this mark of [`Table::with`].
    fn marked(mark: &str) -> Option<Self> {
        match mark.split_at_checked(1)? {
            ("#", "") => Some(Self::Shortest),
            (".", digits) => Some(Self::Decimals(digits.parse().ok()?)),
            ("~", digits) => Some(Self::Significant(digits.parse().ok()?)),
            _ => None,
        }
    }

    /// A number as a column of this format shows it.
    pub fn number(self, v: f64) -> String {
        match self {
            _ if !v.is_finite() => v.to_string(),
            Self::Shortest => shortest(v),
            Self::Decimals(decimals) => format!("{v:.decimals$}"),
            Self::Significant(digits) => significant(v, digits),
        }
    }
}

/// Content of one place of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number.
    Number(#[serde(with = "mercer_plots::exact")] f64),
    /// Mean ± standard deviation.
    Spread {
        /// The mean.
        #[serde(with = "mercer_plots::exact")]
        mean: f64,
        /// The deviation.
        #[serde(with = "mercer_plots::exact")]
        std: f64,
    },
    /// Outcome of a comparison.
    Verdict(Box<Judgement>),
    /// Nothing; people see a dash.
    Empty,
}

impl From<Judgement> for Cell {
    fn from(judgement: Judgement) -> Self {
        Self::Verdict(Box::new(judgement))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<Summary> for Cell {
    /// A single sample is shown without a deviation.
    fn from(summary: Summary) -> Self {
        if summary.std.is_nan() {
            Self::Number(summary.mean)
        } else {
            Self::Spread { mean: summary.mean, std: summary.std }
        }
    }
}

impl<C: Into<Self>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Empty, Into::into)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TableColumn {
    name: String,
    align: Align,
    format: Format,
}

/// One cell as a person sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellText {
    /// Its words or number.
    pub text: String,
    /// On which side it stands.
    pub align: Align,
    /// Its outcome, if it is a verdict.
    pub outcome: Option<Outcome>,
}

/// A verdict of a table and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableVerdict {
    /// The words that begin its row.
    pub subject: String,
    /// Its kind.
    pub kind: ComparisonKind,
    /// The verdict's words, with the choice of ours that it needs.
    pub words: String,
    /// Its outcome.
    pub outcome: Outcome,
    /// The choice of ours that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The bound as a multiple of what was measured, if that is much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loose: Option<f64>,
}

/// Columns, then rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table with these columns: their names between bars, each with the [`Format`] of its
    /// numbers behind it, `#` (shortest), `.2` (decimals) or `~3` (significant digits); without
    /// one it is of words. `"learner | MSE .5 | J # | verdict"`
    pub fn with(head: &str) -> Self {
        head.split(" | ").fold(Self::new(), |table, column| {
            let marked = column.rsplit_once(' ').and_then(|(name, mark)| Some((name, Format::marked(mark)?)));
            match marked {
                Some((name, format)) => table.numbers(name, format),
                None => table.words(column),
            }
        })
    }

    /// One more column on the right. Columns come before rows.
    pub fn column(mut self, name: impl Into<String>, align: Align, format: Format) -> Self {
        self.columns.push(TableColumn { name: name.into(), align, format });
        self
    }

    /// One more column of words.
    pub fn words(self, name: impl Into<String>) -> Self {
        self.column(name, Align::Left, Format::Shortest)
    }

    /// One more column of numbers.
    pub fn numbers(self, name: impl Into<String>, format: Format) -> Self {
        self.column(name, Align::Right, format)
    }

    /// One more row at the bottom; an error unless there is one cell a column.
    pub fn push(&mut self, row: Vec<Cell>) -> Result<()> {
        let (number, got, expected) = (self.rows.len() + 1, row.len(), self.columns.len());
        ensure!(
            got == expected,
            "row {number} has {got} cells but the table has {expected} columns; give one cell a column"
        );
        self.rows.push(row);
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The columns' names, each with the side its cells stand on.
    pub fn header(&self) -> impl Iterator<Item = (&str, Align)> {
        self.columns.iter().map(|column| (column.name.as_str(), column.align))
    }

    /// The rows as people see them.
    pub fn shown(&self) -> impl Iterator<Item = Vec<CellText>> {
        self.rows.iter().map(|row| row.iter().zip(&self.columns).map(|(cell, column)| shown(cell, column)).collect())
    }

    /// The verdicts, row by row.
    pub fn judged(&self) -> Vec<TableVerdict> {
        let mut all = Vec::new();
        for (cells, shown) in self.rows.iter().zip(self.shown()) {
            // The words that a row begins with say what it is about; a row of numbers is told by
            // the first of them.
            let words = cells.iter().zip(&shown).take_while(|(cell, _)| matches!(cell, Cell::Text(_)));
            let words: Vec<&str> = words.map(|(_, shown)| shown.text.as_str()).take(4).collect();
            let first = || shown.first().map(|shown| shown.text.clone()).unwrap_or_default();
            let subject = if words.is_empty() { first() } else { words.join(", ") };
            let verdicts = cells
                .iter()
                .filter_map(|cell| if let Cell::Verdict(judgement) = cell { Some(judgement) } else { None });
            all.extend(verdicts.map(|judgement| TableVerdict {
                subject: subject.clone(),
                kind: judgement.kind,
                words: judgement.to_string(),
                outcome: judgement.outcome,
                choice: judgement.choice.clone(),
                loose: judgement.loose,
            }));
        }
        all
    }

    /// Aligned plain text.
    pub fn text(&self) -> String {
        let line = |row: Vec<CellText>| row.into_iter().map(|cell| cell.text.replace(['\n', '\r'], " ")).collect();
        let mut lines: Vec<Vec<String>> = vec![self.columns.iter().map(|column| column.name.clone()).collect()];
        lines.extend(self.shown().map(line));
        let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        lines.insert(1, widths.iter().map(|&width| "─".repeat(width)).collect());
        let pad = |((cell, column), &width): ((&String, &TableColumn), &usize)| match column.align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        };
        let aligned = |line: &Vec<String>| {
            let cells: Vec<String> = line.iter().zip(&self.columns).zip(&widths).map(pad).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        lines.iter().map(aligned).collect()
    }

    /// Comma-separated values (RFC 4180). Numbers keep every digit; a column that holds a mean ±
    /// deviation becomes two, the second named `… std`.
    pub fn csv(&self) -> String {
        let spread = |i: usize| self.rows.iter().any(|row| matches!(row[i], Cell::Spread { .. }));
        let spreads: Vec<bool> = (0..self.columns.len()).map(spread).collect();
        let parts = |cell: &Cell| match cell {
            Cell::Text(text) => [text.clone(), String::new()],
            Cell::Verdict(judgement) => [judgement.to_string(), String::new()],
            Cell::Number(v) => [shortest(*v), String::new()],
            Cell::Spread { mean, std } => [shortest(*mean), shortest(*std)],
            Cell::Empty => Default::default(),
        };
        let quote = |text: String| {
            if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        };
        let line = |cells: Vec<[String; 2]>| {
            let wanted =
                cells.into_iter().zip(&spreads).flat_map(|(parts, &two)| parts.into_iter().take(1 + usize::from(two)));
            wanted.map(quote).collect::<Vec<_>>().join(",") + "\n"
        };
        let head = self.columns.iter().map(|column| [column.name.clone(), format!("{} std", column.name)]).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(parts).collect());
        std::iter::once(head).chain(rows).map(line).collect()
    }
}

fn shown(cell: &Cell, column: &TableColumn) -> CellText {
    let outcome = match cell {
        Cell::Verdict(judgement) => Some(judgement.outcome),
        _ => None,
    };
    CellText { text: show(cell, column.format), align: column.align, outcome }
}

fn show(cell: &Cell, format: Format) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Verdict(judgement) => judgement.to_string(),
        Cell::Number(v) => format.number(*v),
        Cell::Spread { mean, std } => {
            let decimals = match format {
                Format::Significant(digits) => decimals_of(*mean, digits),
                _ => None,
            };
            match decimals {
                Some(decimals) => format!("{mean:.decimals$} ± {std:.decimals$}"),
                None => format!("{} ± {}", format.number(*mean), format.number(*std)),
            }
        }
        Cell::Empty => "–".to_owned(),
    }
}

/// Reads back to the same number: integers without a point, extremes with an exponent.
fn shortest(v: f64) -> String {
    if v.fract() == 0.0 && v.abs() < 1e15 { v.to_string() } else { format!("{v:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new()
            .words("learner")
            .numbers("MSE", Format::Decimals(5))
            .numbers("J", Format::Shortest)
            .numbers("time, s", Format::Significant(3))
            .words("seen")
            .words("verdict");
        let verdict = Judgement::new(ComparisonKind::Printed, Outcome::Reproduced, "reproduced (+0.4%, 0.9 se)");
        let summary = Summary { mean: 0.002_851_234, std: 0.000_051, count: 10 };
        table
            .push(vec![
                "NONS-ALD".into(),
                summary.into(),
                28usize.into(),
                0.012_345_6.into(),
                "x".into(),
                verdict.into(),
            ])
            .unwrap();
        table
            .push(vec![
                "a | b, \"c\"".into(),
                f64::NAN.into(),
                400usize.into(),
                1.5e-7.into(),
                Cell::Empty,
                Judgement::not_run(ComparisonKind::Printed, "no data").into(),
            ])
            .unwrap();
        table
    }

    #[test]
    fn text() {
        insta::assert_snapshot!(sample().text(), @r#"
        learner                   MSE    J  time, s  seen  verdict
        ──────────  ─────────────────  ───  ───────  ────  ──────────────────────────
        NONS-ALD    0.00285 ± 0.00005   28   0.0123  x     reproduced (+0.4%, 0.9 se)
        a | b, "c"                NaN  400  1.50e-7  –     not run (no data)
        "#);
    }

    #[test]
    fn csv() {
        insta::assert_snapshot!(sample().csv(), @r#"
        learner,MSE,MSE std,J,"time, s",seen,verdict
        NONS-ALD,0.002851234,5.1e-5,28,0.0123456,x,"reproduced (+0.4%, 0.9 se)"
        "a | b, ""c""",NaN,,400,1.5e-7,,not run (no data)
        "#);
    }

    #[test]
    fn significant_digits() {
        let three = |v| Format::Significant(3).number(v);
        assert_eq!(three(0.012_345), "0.0123");
        assert_eq!(three(9.996), "10.0");
        assert_eq!(three(12_345.0), "12345");
        assert_eq!(three(0.0), "0.00");
        assert_eq!(three(-1.5e-9), "-1.50e-9");
        assert_eq!(three(f64::INFINITY), "inf");
        let spread = Cell::Spread { mean: 0.055_14, std: 0.000_08 };
        assert_eq!(show(&spread, Format::Significant(4)), "0.05514 ± 0.00008");
        let tiny = Cell::Spread { mean: 2e-9, std: 3e-10 };
        assert_eq!(show(&tiny, Format::Significant(2)), "2.0e-9 ± 3.0e-10");
    }

    #[test]
    fn numbers_read_back_from_csv() {
        let mut table = Table::new().numbers("v", Format::Decimals(2));
        for v in [0.1 + 0.2, 1e300, 5e-324] {
            table.push(vec![v.into()]).unwrap();
            let text = table.csv();
            let last = text.lines().last().unwrap();
            assert_eq!(last.parse::<f64>().unwrap(), v);
        }
    }

    #[test]
    fn a_row_of_the_wrong_width_is_refused() {
        let mut table = Table::new().words("a").words("b");
        let error = table.push(vec!["x".into()]).unwrap_err();
        assert_eq!(error.to_string(), "row 1 has 1 cells but the table has 2 columns; give one cell a column");
        assert!(table.is_empty());
    }

    #[test]
    fn verdicts_are_found_with_what_they_are_about() {
        let judged = sample().judged();
        let said: Vec<_> = judged.iter().map(|j| (j.subject.as_str(), j.words.as_str(), j.outcome)).collect();
        assert_eq!(
            said,
            [
                ("NONS-ALD", "reproduced (+0.4%, 0.9 se)", Outcome::Reproduced),
                ("a | b, \"c\"", "not run (no data)", Outcome::NotRun)
            ]
        );
        let mut table = Table::new().numbers("M", Format::Shortest).words("yes").words("within");
        table.push(vec![2.0.into(), "yes".into(), Judgement::bound(false, []).into()]).unwrap();
        let judged = table.judged();
        assert_eq!(judged.len(), 1);
        assert_eq!((judged[0].subject.as_str(), judged[0].outcome), ("2", Outcome::Differs));
    }

    #[test]
    fn missing_values_and_single_samples() {
        assert_eq!(Cell::from(None::<f64>), Cell::Empty);
        assert_eq!(Cell::from(Some(2.0)), Cell::Number(2.0));
        let single = Summary::from_samples(&[1.5]).unwrap();
        assert_eq!(Cell::from(single), Cell::Number(1.5));
    }
}
