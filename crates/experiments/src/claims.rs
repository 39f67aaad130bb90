//! Statements with what was measured and a verdict, as tables.

use anyhow::Result;

use crate::digits::signed;
use crate::judgement::{ComparisonKind, Judgement};
use crate::table::{Cell, Table, row};

/// A dictionary's size beside the printed one, by its relative `gap`, of which `most` is allowed.
pub(crate) fn size_near(gap: f64, most: f64, decimals: usize, choice: &str) -> Judgement {
    let gap_words = format!("({}%)", signed(100.0 * gap, decimals));
    let (yes, no) = (format!("reproduced {gap_words}"), format!("differs {gap_words}"));
    Judgement::either(ComparisonKind::Printed, gap.abs() <= most, yes, no).with_choice(choice)
}

/// A claim about the papers' size as a table: a mean over `seeds` that should be at least `wanted`.
/// A shortened run is judged by none.
pub(crate) fn claim(words: String, seeds: usize, measured: f64, wanted: f64, whole: bool) -> Result<Table> {
    let verdict = if whole {
        Judgement::statement(ComparisonKind::Claim, measured >= wanted)
    } else {
        Judgement::shortened(ComparisonKind::Claim)
    };
    let mut table = Table::with("claim | seeds # | measured .3 | at least # | verdict");
    table.push(row![words, seeds, measured, wanted, verdict])?;
    Ok(table)
}

/// Table of claims: the statement of a paper (`of_paper`) or of this project (`ours`), the
/// measurement, and the verdict.
pub(crate) struct Claims(Table);

impl Claims {
    pub(crate) fn new() -> Self {
        Self(Table::with("statement | measured | verdict"))
    }

    /// A statement of the paper without a number: a bound, an order of growth, an order of methods.
    pub(crate) fn of_paper(
        &mut self,
        statement: impl Into<String>,
        measured: impl Into<String>,
        holds: bool,
    ) -> Result<()> {
        self.judge(statement, measured, Judgement::statement(ComparisonKind::Bound, holds))
    }

    /// A statement of this project.
    pub(crate) fn ours(
        &mut self,
        statement: impl Into<String>,
        measured: impl Into<String>,
        holds: bool,
    ) -> Result<()> {
        self.judge(statement, measured, Judgement::statement(ComparisonKind::Claim, holds))
    }

    /// A statement with a verdict of its own.
    pub(crate) fn judge(
        &mut self,
        statement: impl Into<String>,
        measured: impl Into<String>,
        verdict: Judgement,
    ) -> Result<()> {
        self.0.push(row![Cell::Text(statement.into()), Cell::Text(measured.into()), verdict])
    }

    /// An observation that is no verdict.
    pub(crate) fn observe(
        &mut self,
        statement: impl Into<String>,
        measured: impl Into<String>,
        words: &str,
    ) -> Result<()> {
        self.0.push(row![Cell::Text(statement.into()), Cell::Text(measured.into()), words])
    }

    pub(crate) fn table(self) -> Table {
        self.0
    }
}
