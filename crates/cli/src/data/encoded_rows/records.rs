//! Records, and what they have beside the features.

use mercer_encoding::{Column as EncodedColumn, Face, Kind as ColumnKind, Notation};
use mercer_readers::{
    Cell, CellPlace, DataError, Example, Labels, Record, RowReader, TargetColumn, Targets, is_gap_mark,
};

use crate::arguments::dialect;
use crate::arguments::task::{Kind, TaskOptions, Values};
use crate::report::failure::Failure;

/// Puts the next record into `record`, and tells what a person should know; false at the end.
pub(crate) fn next(reader: &mut RowReader, record: &mut Record) -> Result<bool, DataError> {
    let read = reader.next_record(record);
    dialect::tell_remarks(reader);
    read
}

/// Where a record has a target, and how its numbers are written if its column is one of numbers.
pub(crate) type TargetPlace = (usize, Option<Notation>);

/// Where a record has its targets, and its weight.
#[derive(Clone, Debug)]
pub(crate) struct TargetColumns {
    pub(crate) targets: Vec<TargetPlace>,
    pub(crate) weight: Option<usize>,
    pub(crate) kind: Kind,
    /// True if a row may lack its target: its targets are then NaN, or its label is empty.
    pub(crate) may_lack: bool,
}

impl TargetColumns {
    /// Puts the targets and the weight of a record into an example, which has no features then.
    pub(crate) fn take(
        &self,
        record: &Record,
        example: &mut Example,
        cell: impl Fn(usize) -> CellPlace,
    ) -> Result<(), DataError> {
        let Example { targets, label, weight, .. } = example;
        for (place, notation) in &self.targets {
            let (place, read) = (*place, record.cell(*place));
            let is_gap = match (read, self.kind) {
                (Cell::List(_), _) => return Err(DataError::NestedValue { cell: cell(place) }),
                (Cell::Missing, _) => true,
                // Where classes are texts, a mark of a gap is one.
                (Cell::Text(text), Kind::Class(Some(_)) | Kind::Numbers(_)) => is_gap_mark(text),
                _ => false,
            };
            match self.kind {
                _ if is_gap && self.may_lack => {
                    label.clear();
                    targets.clear();
                    targets.resize(if self.kind.is_class() { 0 } else { self.targets.len() }, f64::NAN);
                    return Ok(());
                }
                Kind::Class(_) if is_gap => return Err(DataError::MissingTarget { cell: cell(place) }),
                Kind::Class(_) => Labels::canonical_cell(read, label),
                Kind::Numbers(_) => match number(notation, read) {
                    Some(value) => targets.push(value),
                    None if is_gap => return Err(DataError::MissingTarget { cell: cell(place) }),
                    None => return Err(DataError::NotANumber { cell: cell(place), value: read.to_string() }),
                },
            }
        }
        if let Some(place) = self.weight {
            let read = record.cell(place);
            *weight = read
                .number()
                .filter(|weight| *weight >= 0.0)
                .ok_or_else(|| DataError::BadWeight { cell: cell(place), value: read.to_string() })?;
        }
        Ok(())
    }
}

/// Where the targets stand among so many columns, of these names if they have some, if all are
/// there, and there once.
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

/// The places with how the columns of a schema at `columns` write their numbers.
pub(crate) fn with_notation(
    places: Vec<usize>,
    columns: &[EncodedColumn],
    of: impl Fn(usize) -> Option<usize>,
) -> Vec<TargetPlace> {
    let notation = |place| {
        let column = columns.get(of(place)?)?;
        (column.kind == ColumnKind::Number).then(|| column.notation.clone())
    };
    places.into_iter().map(|place| (place, notation(place))).collect()
}

/// Whether its numbers are written with something around them.
pub(crate) fn is_marked((_, notation): &TargetPlace) -> bool {
    notation.as_ref().is_some_and(|notation| !notation.is_plain())
}

fn number(notation: &Option<Notation>, cell: Cell<'_>) -> Option<f64> {
    notation.as_ref().map_or_else(|| cell.number(), |notation| notation.number(cell))
}

/// So many rows tell whether texts are classes.
const ENOUGH_ROWS: u64 = 20;

/// Refuses a target in doubt, and one that nobody called a class where most rows have a text of
/// their own.
pub(crate) fn check_target(target: &EncodedColumn, rows: u64, wanted: TaskOptions, shown: &str) -> Result<(), Failure> {
    let EncodedColumn { name, kind, distinct, why, .. } = target;
    let why = Face::Command.said(name, why);
    let refused = |what: String| Err(Failure::because(format!("{shown}: column {name:?}: {what}")));
    match kind {
        ColumnKind::Text if !why.is_empty() => refused(why),
        ColumnKind::Time if !wanted.is_told() && rows >= ENOUGH_ROWS && 2 * distinct > rows => refused(format!(
            "has {distinct} different times in the first {rows} rows, and a time is no number; --as {name}=duration reads clocks as durations, --task class takes each as a class"
        )),
        ColumnKind::Text | ColumnKind::Category | ColumnKind::Identifier
            if !wanted.is_told() && rows >= ENOUGH_ROWS && 2 * distinct > rows =>
        {
            let more = if why.is_empty() { String::new() } else { format!("{why}; ") };
            refused(format!(
                "has {distinct} different texts in the first {rows} rows, too many for classes; {more}--task class takes each as one"
            ))
        }
        _ => Ok(()),
    }
}

/// What the first rows have as their target: numbers if nearly all are, whatever the rest is, and
/// marks of gaps do not count. The rows that are none are refused by their lines.
pub(crate) fn kind(rows: &[Record], targets: &[TargetPlace], wanted: TaskOptions) -> Option<Kind> {
    // Of so many targets one may be something else; of a column of numbers, which may be told,
    // half.
    let a_misfit = if targets[0].1.is_some() { 2 } else { 20 };
    let several = targets.len() > 1;
    let is_there =
        |cell: &Cell<'_>| !matches!(cell, Cell::Missing) && !matches!(cell, Cell::Text(text) if is_gap_mark(text));
    let (target, notation) = &targets[0];
    let cells = || rows.iter().map(|record| record.cell(*target)).filter(is_there);
    let numbers = || cells().filter_map(|cell| number(notation, cell));
    let (present, others) = (cells().count(), cells().count() - numbers().count());
    let values = if others == 0 && !several { Values::from_numbers(numbers()) } else { Values::default() };
    let marked = rows.iter().any(|record| matches!(record.cell(*target), Cell::Text(_)));
    let text = (others * a_misfit > present || (present == 0 && marked)) && wanted.targets() == Targets::Auto;
    let classes = text || wanted.takes(values);
    match (classes, several) {
        (true, true) => None,
        (true, false) => Some(Kind::Class(wanted.two(values))),
        (false, _) => Some(Kind::Numbers(targets.len())),
    }
}
