//! Columns beside the features: targets and weights.

use mercer::readers::{Cell, CellPlace, DataError, Example, Labels, Record, TargetColumn, Targets, instant_text};

use crate::cli::input::{Kind, Wanted};

/// Where a record has its targets, and its weight.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    pub(crate) targets: Vec<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) kind: Kind,
}

impl Beside {
    /// Puts the targets and the weight of a record into an example, which has no features then.
    pub(crate) fn take(
        &self,
        record: &Record,
        example: &mut Example,
        cell: impl Fn(usize) -> CellPlace,
    ) -> Result<(), DataError> {
        let Example { targets, label, weight, .. } = example;
        for &place in &self.targets {
            let spoilt = |value: String| DataError::NotANumber { cell: cell(place), value };
            match (record.cell(place), self.kind) {
                (Cell::Missing, _) => return Err(DataError::MissingTarget { cell: cell(place) }),
                (Cell::Number(value), Kind::Numbers(_)) => targets.push(value),
                (Cell::Number(value), Kind::Class(_)) => Labels::canonical_number(value, label),
                (Cell::Text(text), Kind::Class(_)) => Labels::canonical(text, label),
                (Cell::Instant(seconds), Kind::Class(_)) => label.push_str(&instant_text(seconds)),
                (Cell::Text(text), Kind::Numbers(_)) => return Err(spoilt(text.to_owned())),
                (Cell::Instant(seconds), Kind::Numbers(_)) => return Err(spoilt(instant_text(seconds))),
            }
        }
        if let Some(place) = self.weight {
            let spoilt = |value: String| DataError::BadWeight { cell: cell(place), value };
            *weight = match record.cell(place) {
                Cell::Number(value) if value >= 0.0 => value,
                Cell::Number(value) => return Err(spoilt(value.to_string())),
                Cell::Missing => return Err(spoilt(String::new())),
                Cell::Text(text) => return Err(spoilt(text.to_owned())),
                Cell::Instant(seconds) => return Err(spoilt(instant_text(seconds))),
            };
        }
        Ok(())
    }
}

/// Where the targets stand among so many columns, of these names if they have some, if all are there, and there once.
pub(crate) fn targets(target: &TargetColumn, columns: usize, names: Option<&[String]>) -> Option<Vec<usize>> {
    match target {
        TargetColumn::Last => columns.checked_sub(1).map(|last| vec![last]),
        TargetColumn::Several(choices) => {
            let places: Vec<usize> =
                choices.iter().map(|choice| choice.place(columns, names)).collect::<Option<_>>()?;
            let twice = (1..places.len()).any(|last| places[..last].contains(&places[last]));
            (!twice).then_some(places)
        }
        one => one.choice()?.place(columns, names).map(|place| vec![place]),
    }
}

/// What the first rows have as their target, by the rules for numbers.
pub(crate) fn kind(rows: &[Record], targets: &[usize], wanted: Wanted) -> Option<Kind> {
    let several = targets.len() > 1;
    let cells = || rows.iter().map(|record| record.cell(targets[0])).filter(|cell| *cell != Cell::Missing);
    let all = |holds: &dyn Fn(f64) -> bool| {
        cells().next().is_some() && cells().all(|cell| matches!(cell, Cell::Number(value) if holds(value)))
    };
    let (zero_one, signs) = (all(&|y| y == 0.0 || y == 1.0), all(&|y| y.abs() == 1.0));
    let text = cells().any(|cell| !matches!(cell, Cell::Number(_))) && wanted.targets() == Targets::Auto;
    let classes = text || wanted.takes(zero_one && !several, signs && !several);
    match (classes, several) {
        (true, true) => None,
        (true, false) => Some(Kind::Class(wanted.two(zero_one, signs))),
        (false, _) => Some(Kind::Numbers(targets.len())),
    }
}
