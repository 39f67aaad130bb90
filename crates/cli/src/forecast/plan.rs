//! Rows at the end of a series that have no outputs: those that are to be forecast.

use std::collections::VecDeque;

/// A row, and where it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct PlacedRow {
    pub(super) values: Vec<f64>,
    /// The group that it is of.
    pub(super) group: usize,
    pub(super) time: Option<f64>,
    pub(super) place: String,
}

/// Rows without outputs, which wait until a row of their group has one. They were gaps then;
/// those that still wait at the end are the plan of their group.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanRows {
    waiting: Vec<Vec<PlacedRow>>,
    /// True for each group that has had an output.
    begun: Vec<bool>,
    ready: VecDeque<PlacedRow>,
}

impl PlanRows {
    /// Has so many groups behind their beginning, as those of a model are.
    pub(super) fn behind(groups: usize) -> Self {
        Self { begun: vec![true; groups], ..Self::default() }
    }

    /// True if a row of the group must be taken: it has no output, or others wait before it.
    pub(super) fn wants(&mut self, group: usize, is_open: bool) -> bool {
        let groups = self.begun.len().max(group + 1);
        self.begun.resize(groups, false);
        self.waiting.resize_with(groups, Vec::new);
        self.begun[group] |= !is_open;
        self.begun[group] && (is_open || !self.waiting[group].is_empty())
    }

    /// Takes a row. One that has an output is ready, behind those that waited for it.
    pub(super) fn take(&mut self, row: PlacedRow, is_open: bool) {
        let waiting = &mut self.waiting[row.group];
        waiting.push(row);
        if !is_open {
            self.ready.extend(waiting.drain(..));
        }
    }

    /// The next row that is ready.
    pub(super) fn next(&mut self) -> Option<PlacedRow> {
        self.ready.pop_front()
    }

    /// The rows that still wait in a group.
    pub(super) fn of_group(&self, group: usize) -> &[PlacedRow] {
        self.waiting.get(group).map_or(&[], Vec::as_slice)
    }

    /// The groups in which rows still wait, and those rows.
    pub(super) fn counts(&self) -> (usize, usize) {
        let rows: Vec<usize> = self.waiting.iter().map(Vec::len).filter(|rows| *rows > 0).collect();
        (rows.len(), rows.iter().sum())
    }
}
