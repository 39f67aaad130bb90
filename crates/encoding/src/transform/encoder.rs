//! How a column becomes numbers.

use mercer_core::{Cell, List, Oddity};

use super::category::Categories;
use super::late::Late;
use super::mean::Means;
use super::time::Times;
use crate::notation::Notation;
use crate::scale::{NumberScale, Scale};
use crate::schema::Column;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Encoder {
    /// A target or a weight.
    Aside,
    Ignored,
    Number(NumberColumn),
    Category(Categories),
    Time(Times),
    Late(Late),
    Mean(Means),
    /// A column of many categories.
    Many(Categories, Means),
    /// A column of addresses, which are categories of their networks.
    Network(Categories),
    /// A column of addresses of many networks.
    ManyNetworks(Categories, Means),
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NumberColumn {
    pub(super) scale: NumberScale,
    pub(super) gaps: bool,
    pub(super) notation: Notation,
}

impl Encoder {
    pub(super) fn of_categories(categories: Categories, column: &Column, scale: Scale) -> Self {
        let networks = column.notation == Notation::Network;
        let one = if networks { Self::Network } else { Self::Category };
        let many = if networks { Self::ManyNetworks } else { Self::Many };
        if column.mean { many(categories, Means::new(scale, false)) } else { one(categories) }
    }

    /// The cell as its column takes it. An address becomes its network, which is written to
    /// `network`, and what is none has no value there.
    pub(super) fn read<'a>(&self, cell: Cell<'a>, network: &'a mut String) -> Cell<'a> {
        if !matches!(self, Self::Network(_) | Self::ManyNetworks(..)) {
            return if self.is_stray(cell) { Cell::Missing } else { cell };
        }
        let Some(name) = Notation::network(cell) else { return Cell::Missing };
        *network = name;
        Cell::Text(network)
    }

    /// True for a list in a column of categories, unless it was one of them when the column was
    /// looked at: as a category it would stand for nothing else.
    pub(super) fn is_stray(&self, cell: Cell<'_>) -> bool {
        let is_list = match cell {
            Cell::List(_) => true,
            Cell::Text(text) => List::begins(text) && List::read(text).is_ok(),
            _ => false,
        };
        let own = self.categories().filter(|_| is_list && !matches!(self, Self::Late(_)));
        own.is_some_and(|own| own.oddity(cell) == Some(Oddity::NewCategory))
    }

    /// The categories of a column that may have some.
    pub(super) fn categories(&self) -> Option<&Categories> {
        match self {
            Self::Category(own) | Self::Many(own, _) | Self::Network(own) | Self::ManyNetworks(own, _) => Some(own),
            Self::Late(late) => Some(&late.categories),
            Self::Aside | Self::Ignored | Self::Number(_) | Self::Time(_) | Self::Mean(_) => None,
        }
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Self::Aside | Self::Ignored => 0,
            Self::Number(numbers) => 1 + usize::from(numbers.gaps),
            Self::Category(categories) | Self::Network(categories) => categories.width(),
            Self::Time(times) => times.width(),
            Self::Late(_) => 1,
            Self::Mean(means) => means.width(),
            Self::Many(categories, means) | Self::ManyNetworks(categories, means) => categories.width() + means.width(),
        }
    }
}

impl NumberColumn {
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.scale, NumberScale::None(_)) && !self.gaps && self.notation.is_plain()
    }

    pub(super) fn new(scale: Scale, gaps: bool, column: &Column) -> Self {
        Self { scale: NumberScale::new(scale), gaps, notation: column.notation.clone() }
    }

    pub(super) fn encode(&self, cell: Cell<'_>, numbers: &mut [f64]) {
        let value = self.notation.number(cell);
        numbers[0] = value.map_or_else(|| self.scale.gap(), |value| self.scale.encode(value));
        tell_gap(self.gaps && value.is_none(), numbers);
    }

    pub(super) fn words(&self) -> String {
        let read = self.notation.words().map(|words| format!("; {words}"));
        format!("{}{}", self.scale.words(), read.unwrap_or_default())
    }

    pub(super) fn learn(&mut self, cell: Cell<'_>) {
        if let Some(value) = self.notation.number(cell) {
            self.scale.learn(value);
        }
    }
}

/// The last number tells a gap, where there is a number for it.
pub(super) fn tell_gap(gap: bool, numbers: &mut [f64]) {
    if let Some(told) = numbers.last_mut().filter(|_| gap) {
        *told = 1.0;
    }
}

pub(super) fn gap_name(name: &str) -> String {
    format!("{name} is missing")
}
