//! A column of which the head does not tell what it holds.

use mercer_core::{Cell, Oddity};

use crate::notation::is_gap;
use crate::scale::Scale;
use crate::schema::Column;

use super::NumberColumn;
use super::category::{Categories, Pool};

/// A column without a value so far: numbers come to the first place, other values to those behind.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Late {
    pub(super) numbers: NumberColumn,
    pub(super) categories: Categories,
}

impl Late {
    pub(super) fn new(column: &Column, scale: Scale, sizes: (usize, usize)) -> Self {
        let categories = Categories::new(column, 0, sizes, false);
        Self { numbers: NumberColumn::new(scale, false, column), categories }
    }

    pub(super) fn learn(&mut self, cell: Cell<'_>, pool: &mut Pool) {
        self.numbers.learn(cell);
        self.categories.learn(self.rest(cell), pool);
    }

    /// A gap is nothing odd in a column that begins late.
    pub(super) fn oddity(&self, cell: Cell<'_>) -> Option<Oddity> {
        self.categories.oddity(self.rest(cell)).filter(|oddity| *oddity != Oddity::Gap)
    }

    /// The cell, if it is no number.
    pub(super) fn rest<'a>(&self, cell: Cell<'a>) -> Cell<'a> {
        if is_gap(cell) || self.numbers.notation.number(cell).is_some() { Cell::Missing } else { cell }
    }
}
