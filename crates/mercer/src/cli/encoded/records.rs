//! Records of a file, a pipe, or a data set with a name, and what they have beside the features.

use mercer::encoding::{Column as EncodedColumn, Kind as ColumnKind, Notation};
use mercer::readers::{
    Cell, CellPlace, Column, Counts, DataError, Dataset, Example, Labels, Line, Marks, Record, RecordReader,
    TargetColumn, Targets, is_gap_mark,
};

use crate::cli::dialect;
use crate::cli::task::{Kind, Wanted};

pub(crate) enum Records {
    Read(Box<RecordReader>),
    Table(Box<Table>),
}

/// A data set with a name, as records: the features, then the targets.
pub(crate) struct Table {
    table: Dataset,
    columns: Vec<String>,
    named: bool,
    given: usize,
}

impl Records {
    pub(crate) fn of_table(table: Dataset) -> Self {
        let targets = if table.classes().is_some() { 1 } else { table.outputs() };
        let width = table.dimension() + targets;
        let names = [table.feature_names(), table.target_names()].into_iter().flatten().flatten().cloned();
        let mut columns: Vec<String> = names.collect();
        let named = columns.len() == width;
        if !named {
            columns = (1..=width).map(|number| format!("x{number}")).collect();
        }
        Self::Table(Table { table, columns, named, given: 0 }.into())
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Read(reader) => reader.columns(),
            Self::Table(table) => &table.columns,
        }
    }

    /// Whether the names are the file's own.
    pub(crate) fn is_named(&self) -> bool {
        match self {
            Self::Read(reader) => reader.is_named(),
            Self::Table(table) => table.named,
        }
    }

    /// The names, if columns have some.
    pub(crate) fn names(&self) -> Option<&[String]> {
        self.is_named().then(|| self.columns())
    }

    pub(crate) fn are_objects(&self) -> bool {
        matches!(self, Self::Read(reader) if reader.are_objects())
    }

    pub(crate) fn doubt(&self) -> Option<&str> {
        match self {
            Self::Read(reader) => reader.doubt(),
            Self::Table(_) => None,
        }
    }

    /// The line of the record last read, and what it counts.
    pub(crate) fn line(&self) -> (u64, Counts) {
        match self {
            Self::Read(reader) => (reader.line(), reader.counts()),
            Self::Table(table) => (table.given as u64, Counts::Rows),
        }
    }

    /// The record last read, as it stands in the file.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Read(reader) => reader.text(),
            Self::Table(_) => &[],
        }
    }

    /// How many rows there are, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Read(_) => None,
            Self::Table(table) => Some(table.table.len()),
        }
    }

    /// Puts the next record into `record`; false at the end.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool, DataError> {
        match self {
            Self::Read(reader) => {
                let read = reader.next_record(record);
                dialect::tell_remark(reader.take_remark());
                read
            }
            Self::Table(table) => Ok(table.next(record)),
        }
    }

    /// The marks in the numbers so far.
    pub(crate) fn marks(&self) -> Marks {
        match self {
            Self::Read(reader) => reader.marks(),
            Self::Table(_) => Marks::default(),
        }
    }

    /// Where a cell of the record last read stands.
    pub(crate) fn cell(&self, shown: &str, place: usize) -> CellPlace {
        match self {
            Self::Read(reader) => cell(shown, reader, place),
            Self::Table(table) => {
                let line = Line { file: shown.to_owned(), number: table.given as u64, counts: Counts::Rows };
                let name = table.columns.get(place).filter(|_| table.named).cloned();
                CellPlace { line, column: Column { number: place + 1, name } }
            }
        }
    }
}

/// Where a cell of the record that was last read stands.
pub(crate) fn cell(shown: &str, reader: &RecordReader, place: usize) -> CellPlace {
    let line = Line { file: shown.to_owned(), number: reader.line(), counts: reader.counts() };
    let name = reader.columns().get(place).filter(|_| reader.is_named()).cloned();
    CellPlace { line, column: Column { number: place + 1, name } }
}

impl Table {
    fn next(&mut self, record: &mut Record) -> bool {
        record.clear();
        let row = self.given;
        if row == self.table.len() {
            return false;
        }
        self.given += 1;
        self.table.row(row).iter().for_each(|&value| record.push(Cell::Number(value)));
        match self.table.label(row) {
            Some(label) => record.push(Cell::Text(label)),
            None => self.table.targets_of(row).iter().for_each(|&value| record.push(Cell::Number(value))),
        }
        true
    }
}

/// Where a record has a target, and how its numbers are written if its column is one of numbers.
pub(crate) type TargetPlace = (usize, Option<Notation>);

/// Where a record has its targets, and its weight.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    pub(crate) targets: Vec<TargetPlace>,
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
        for (place, notation) in &self.targets {
            let place = *place;
            let read = record.cell(place);
            match (read, self.kind) {
                (Cell::Missing, _) => return Err(DataError::MissingTarget { cell: cell(place) }),
                // Where classes are numbers, a mark of a gap is one.
                (Cell::Text(text), Kind::Class(Some(_))) if is_gap_mark(text) => {
                    return Err(DataError::MissingTarget { cell: cell(place) });
                }
                (Cell::Number(value), Kind::Class(_)) => Labels::canonical_number(value, label),
                (Cell::Numeral(_, text) | Cell::Text(text), Kind::Class(_)) => Labels::canonical(text, label),
                (Cell::Integer(_) | Cell::Instant(_), Kind::Class(_)) => Labels::canonical(&read.to_string(), label),
                (_, Kind::Numbers(_)) => match number(notation, read) {
                    Some(value) => targets.push(value),
                    None if matches!(read, Cell::Text(text) if is_gap_mark(text)) => {
                        return Err(DataError::MissingTarget { cell: cell(place) });
                    }
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
    notation.as_ref().is_some_and(|notation| *notation != Notation::Plain)
}

fn number(notation: &Option<Notation>, cell: Cell<'_>) -> Option<f64> {
    notation.as_ref().map_or_else(|| cell.number(), |notation| notation.number(cell))
}

/// What the first rows have as their target: numbers if nearly all are, whatever the rest is, and
/// marks of gaps do not count. The rows that are none are refused by their lines.
pub(crate) fn kind(rows: &[Record], targets: &[TargetPlace], wanted: Wanted) -> Option<Kind> {
    /// Of so many targets one may be something else.
    const TARGETS_A_MISFIT: usize = 20;
    let several = targets.len() > 1;
    let is_there =
        |cell: &Cell<'_>| !matches!(cell, Cell::Missing) && !matches!(cell, Cell::Text(text) if is_gap_mark(text));
    let (target, notation) = &targets[0];
    let cells = || rows.iter().map(|record| record.cell(*target)).filter(is_there);
    let numbers = || cells().filter_map(|cell| number(notation, cell));
    let (present, others) = (cells().count(), cells().count() - numbers().count());
    let all = |holds: &dyn Fn(f64) -> bool| present > 0 && others == 0 && numbers().all(holds);
    let (zero_one, signs) = (all(&|y| y == 0.0 || y == 1.0), all(&|y| y.abs() == 1.0));
    let marked = rows.iter().any(|record| matches!(record.cell(*target), Cell::Text(_)));
    let text = (others * TARGETS_A_MISFIT > present || (present == 0 && marked)) && wanted.targets() == Targets::Auto;
    let classes = text || wanted.takes(zero_one && !several, signs && !several);
    match (classes, several) {
        (true, true) => None,
        (true, false) => Some(Kind::Class(wanted.two(zero_one, signs))),
        (false, _) => Some(Kind::Numbers(targets.len())),
    }
}
