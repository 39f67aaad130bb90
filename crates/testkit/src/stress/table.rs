//! The matrix as a table in Markdown, cell by cell on several threads.

use std::fmt;
use std::sync::Mutex;
use std::thread;

use super::{BEHIND, STRESSES, StressResult, Undisturbed, Verdict, cell, middle, series, subjects};

/// Part of the matrix that is made.
#[derive(Clone, Debug)]
pub struct MatrixParams {
    /// Rows of each stream.
    pub rows: usize,
    /// Only the learners and forecasters whose name begins so.
    pub learner: String,
    /// Only the stresses whose name begins so.
    pub stress: String,
    /// Cells at a time.
    pub threads: usize,
}

impl MatrixParams {
    fn stresses<S: Copy>(&self, all: &[(&'static str, S)]) -> Vec<(&'static str, S)> {
        all.iter().copied().filter(|(name, _)| name.contains(&self.stress)).collect()
    }
}

/// A line a stress, a column a learner.
#[derive(Clone, Debug)]
pub struct Matrix {
    columns: Vec<String>,
    lines: Vec<&'static str>,
    cells: Vec<Vec<(Verdict, Option<String>)>>,
}

type Find<'a> = dyn Fn(usize, usize) -> StressResult<(Verdict, Option<String>)> + Sync + 'a;

impl Matrix {
    fn made(columns: Vec<String>, lines: Vec<&'static str>, threads: usize, find: &Find<'_>) -> StressResult<Self> {
        let places = (0..lines.len() * columns.len()).map(|place| (place / columns.len(), place % columns.len()));
        let (waiting, found) = (Mutex::new(places.collect::<Vec<_>>()), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let Some((line, column)) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) else { return };
                let cell = find(line, column);
                found.lock().into_iter().for_each(|mut found| {
                    found.push(((line, column), cell.as_ref().map_err(ToString::to_string).cloned()));
                });
            }
        };
        thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
        let mut cells = vec![vec![(Verdict::Idle, None); columns.len()]; lines.len()];
        for ((line, column), cell) in found.into_inner().unwrap_or_default() {
            cells[line][column] = cell.map_err(|error| format!("{}, {}: {error}", columns[column], lines[line]))?;
        }
        Ok(Self { columns, lines, cells })
    }

    /// The matrix of the learners.
    ///
    /// # Errors
    /// When a learner cannot be made, or fails without a stress.
    pub fn for_learners(params: &MatrixParams) -> StressResult<Self> {
        let subjects: Vec<_> =
            subjects().into_iter().filter(|subject| subject.name.starts_with(&params.learner)).collect();
        let stresses = params.stresses(&STRESSES);
        let known = Undisturbed::new();
        let find = |line: usize, column: usize| {
            let subject: &super::StressSubject = &subjects[column];
            Ok((cell((column, subject), stresses[line].1, middle(subject, params.rows), &known)?, None))
        };
        let columns = subjects.iter().map(|subject| subject.name.clone()).collect();
        Self::made(columns, stresses.iter().map(|(name, _)| *name).collect(), params.threads, &find)
    }

    /// The matrix of the forecasters.
    ///
    /// # Errors
    /// As [`for_learners`](Self::for_learners).
    pub fn for_forecasters(params: &MatrixParams) -> StressResult<Self> {
        let names: Vec<_> = series::subjects().into_iter().filter(|name| name.starts_with(&params.learner)).collect();
        let stresses = params.stresses(&series::STRESSES);
        let middle = params.rows.saturating_sub(BEHIND).max(600);
        let known = Undisturbed::new();
        let find = |line: usize, column: usize| series::cell((column, names[column]), stresses[line].1, middle, &known);
        let columns = names.iter().map(|name| (*name).to_owned()).collect();
        Self::made(columns, stresses.iter().map(|(name, _)| *name).collect(), params.threads, &find)
    }

    /// Cells that say something.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cells.iter().flatten().filter(|(verdict, _)| *verdict != Verdict::Idle).count()
    }

    /// The cells that do not hold: learner, stress, and why.
    #[must_use]
    pub fn failing(&self) -> Vec<String> {
        let mut failing = Vec::new();
        for (line, cells) in self.lines.iter().zip(&self.cells) {
            for (column, (verdict, interval)) in self.columns.iter().zip(cells) {
                if verdict.fails() {
                    failing.push(format!("{column}, {line}: {verdict}"));
                } else if let Some(interval) = interval {
                    failing.push(format!("{column}, {line}: {interval}"));
                }
            }
        }
        failing.sort();
        failing
    }
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| stress | {} |\n|---|{}", self.columns.join(" | "), "---:|".repeat(self.columns.len()))?;
        for (line, cells) in self.lines.iter().zip(&self.cells) {
            let cells: Vec<String> = cells
                .iter()
                .map(|(verdict, more)| verdict.to_string() + if more.is_some() { "!" } else { "" })
                .collect();
            writeln!(f, "| {line} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}
