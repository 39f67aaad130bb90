//! Examples from a file that is no complete table of numbers: its columns are encoded row by row.

use std::path::Path;

use mercer::data::{
    Cell, CellPlace, Column, ColumnChoice, Counts, DataError, Dataset, Example, Format, Labels, Line, ReadOptions,
    Record, RecordReader, TargetColumn, Targets, instant_text,
};
use mercer::encoding::{Encoding, EncodingError, EncodingOptions, Kind as ColumnKind, Look, Oddity, Overrides, Use};

use super::FIRST_ROWS;
use super::dialect;
use super::failure::Failure;
use super::input::{Kind, Wanted};
use super::pipe;
use super::source::{Columns, Source};
use super::voice;

/// Rows of a file as examples. The statistics of an encoding move with each row: it is encoded by those of the rows before it and of the first rows.
pub(crate) struct Encoded {
    shown: String,
    reader: RecordReader,
    record: Record,
    encoding: Encoding,
    /// Where a record has its targets, and its weight.
    targets: Vec<usize>,
    weight: Option<usize>,
    kind: Kind,
    /// What was odd of which column, told once. Nothing is told of a second reading.
    odd: Option<Vec<(usize, Oddity)>>,
}

impl Encoded {
    /// The rows of a file with a column, beside its targets and weights, that is not numbers or has gaps in the first rows. `None` for every other file, also
    /// for one that cannot be read: whoever reads it as a table of numbers tells why.
    pub(crate) fn open(
        path: &Path,
        shown: &str,
        options: &ReadOptions,
        overrides: &Overrides,
        wanted: Wanted,
    ) -> Result<Option<Self>, Failure> {
        if options.format == Some(Format::Libsvm) {
            return Ok(None);
        }
        // The encoding leaves columns out, so that places are those of the file.
        let whole = ReadOptions { ignore: Vec::new(), ..options.clone() };
        let Some(Head { rows, look, names }) = Head::of(path, &whole) else { return Ok(None) };
        let names = names.as_slice();
        let Some(targets) = targets(&options.target, names) else { return Ok(None) };
        let weight = match &options.weight {
            None => None,
            Some(choice) => match place(choice, names) {
                Some(place) if !targets.contains(&place) => Some(place),
                _ => return Ok(None),
            },
        };
        let Some(ignored) = options.ignore.iter().map(|choice| place(choice, names)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let number = |place: &usize| format!("#{}", place + 1);
        let overrides =
            overrides.clone().aside(targets.iter().chain(&weight).map(number)).ignore(ignored.iter().map(number));
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {error}"));
        let schema = match look.finish(&overrides) {
            // A column that is named and is not there.
            Err(error @ EncodingError::NoColumn { .. }) => return Err(refused(error)),
            Err(_) => return Ok(None),
            Ok(schema) => schema,
        };
        if !schema.needs_encoding() {
            return Ok(None);
        }
        let Some(kind) = kind(&rows, &targets, wanted) else { return Ok(None) };
        let mut encoding = Encoding::new(schema, EncodingOptions::default()).map_err(refused)?;
        encoding.learn_head(&rows).map_err(refused)?;
        let reader = RecordReader::open(path, &whole)?;
        let shown = shown.to_owned();
        Ok(Some(Self { shown, reader, record: Record::new(), encoding, targets, weight, kind, odd: None }))
    }

    /// Tells a person what is done with the columns, and later once of each column that a cell does not fit it.
    pub(crate) fn aloud(mut self) -> Self {
        dialect::tell_doubt(self.reader.doubt());
        voice::remark(self.told());
        self.odd = Some(Vec::new());
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.weight.is_some()
    }

    /// The numbers that a row becomes, and the targets.
    pub(crate) fn columns(&self) -> Columns {
        let targets: Vec<String> = self.targets.iter().map(|&place| self.reader.columns()[place].clone()).collect();
        let features = self.encoding.names();
        let named = self.reader.is_named();
        Columns::new(self.encoding.dimension(), named.then_some(&*features), named.then_some(&*targets))
    }

    /// What is done with the columns, as one line for people.
    fn told(&self) -> String {
        let schema = self.encoding.schema();
        let encoded = schema.columns().iter().filter(|column| column.used == Use::Encoded);
        let count = |kind: ColumnKind| encoded.clone().filter(|column| column.kind == kind).count();
        let gaps = encoded.clone().filter(|column| column.missing > 0).count();
        format!(
            "{}: is not a complete table of numbers, so its columns are encoded to {} numbers ({} with categories, {} with times, {gaps} \
             with missing cells); mercer inspect tells more",
            self.shown,
            self.encoding.dimension(),
            count(ColumnKind::Category),
            count(ColumnKind::Time),
        )
    }

    /// The line of the row last read, and what it counts.
    pub(crate) fn line(&self) -> (u64, Counts) {
        (self.reader.line(), self.reader.counts())
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.reader.text()
    }

    /// Encodes the next row, and learns its statistics; false at the end.
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let Example { features, targets, label, weight } = example;
        features.clear();
        targets.clear();
        label.clear();
        *weight = 1.0;
        if !self.reader.next_record(&mut self.record)? {
            return Ok(false);
        }
        for &place in &self.targets {
            let spoilt = |value: String| DataError::NotANumber { cell: self.cell(place), value };
            match (self.record.cell(place), self.kind) {
                (Cell::Missing, _) => return Err(DataError::MissingTarget { cell: self.cell(place) }),
                (Cell::Number(value), Kind::Numbers(_)) => targets.push(value),
                (Cell::Number(value), Kind::Class(_)) => Labels::canonical_number(value, label),
                (Cell::Text(text), Kind::Class(_)) => Labels::canonical(text, label),
                (Cell::Instant(seconds), Kind::Class(_)) => label.push_str(&instant_text(seconds)),
                (Cell::Text(text), Kind::Numbers(_)) => return Err(spoilt(text.to_owned())),
                (Cell::Instant(seconds), Kind::Numbers(_)) => return Err(spoilt(instant_text(seconds))),
            }
        }
        if let Some(place) = self.weight {
            let spoilt = |value: String| DataError::BadWeight { cell: self.cell(place), value };
            *weight = match self.record.cell(place) {
                Cell::Number(value) if value >= 0.0 => value,
                Cell::Number(value) => return Err(spoilt(value.to_string())),
                Cell::Missing => return Err(spoilt(String::new())),
                Cell::Text(text) => return Err(spoilt(text.to_owned())),
                Cell::Instant(seconds) => return Err(spoilt(instant_text(seconds))),
            };
        }
        let learnt = self.encoding.encode(&self.record, features).and_then(|()| self.encoding.learn(&self.record));
        if learnt.is_err() {
            let (expected, got) = (self.encoding.schema().columns().len(), self.record.len());
            return Err(DataError::Ragged { line: self.cell(0).line, expected, got });
        }
        self.tell_oddities();
        Ok(true)
    }

    /// All rows that are left, in memory.
    pub(crate) fn read_all(mut self) -> Result<Dataset, DataError> {
        let (mut example, columns) = (Example::default(), self.columns());
        let (mut features, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let (mut labels, mut classes) = (Vec::new(), Labels::new());
        while self.next(&mut example)? {
            features.extend_from_slice(&example.features);
            targets.extend_from_slice(&example.targets);
            weights.push(example.weight);
            if self.kind.is_class() {
                labels.push(classes.insert(&example.label));
            }
        }
        let (name, dimension) = (self.shown.clone(), columns.dimension);
        let table = match self.kind {
            Kind::Class(_) => Dataset::labelled(name, dimension, features, &labels, &classes)?,
            Kind::Numbers(outputs) => Dataset::several(name, dimension, features, outputs, targets)?,
        };
        let table = if self.is_weighted() { table.with_weights(weights)? } else { table };
        if self.reader.is_named() {
            table.with_all_names(columns.features().to_vec(), columns.targets().to_vec())
        } else {
            Ok(table)
        }
    }

    fn tell_oddities(&mut self) {
        let Some(odd) = &mut self.odd else { return };
        for (place, oddity) in self.encoding.transform().oddities(&self.record) {
            if odd.contains(&(place, oddity)) {
                continue;
            }
            odd.push((place, oddity));
            let what = match oddity {
                Oddity::NewCategory => "has no number of its own for this category and hashes it",
                _ => "does not fit its column and counts as missing",
            };
            let (line, counts) = (self.reader.line(), self.reader.counts());
            let counted = if counts == Counts::Lines { "line" } else { "row" };
            let name = &self.reader.columns()[place];
            voice::remark(format!("{}, {counted} {line}, column {name:?}: {what}", self.shown));
        }
    }

    /// Where a cell of the record last read stands.
    fn cell(&self, place: usize) -> CellPlace {
        let (number, counts) = self.line();
        let line = Line { file: self.shown.clone(), number, counts };
        let name = self.reader.is_named().then(|| self.reader.columns()[place].clone());
        CellPlace { line, column: Column { number: place + 1, name } }
    }
}

/// The first rows of a file.
struct Head {
    rows: Vec<Record>,
    look: Look,
    /// Of each column, if columns have names.
    names: Vec<Option<String>>,
}

impl Head {
    /// Reads them, without those that cannot be read.
    fn of(path: &Path, options: &ReadOptions) -> Option<Self> {
        let mut reader = RecordReader::open(path, options).ok()?;
        let (width, named) = (reader.columns().len(), reader.is_named());
        let mut look = if named { Look::new(reader.columns()).ok()? } else { Look::unnamed(width) };
        let names = reader.columns().iter().map(|name| named.then(|| name.clone())).collect();
        let mut rows = Vec::new();
        for _ in 0..FIRST_ROWS {
            let mut record = Record::new();
            match reader.next_record(&mut record) {
                Ok(true) => look.observe(&record).ok()?,
                Ok(false) => break,
                Err(error) if error.concerns_one_row() => continue,
                Err(_) => return None,
            }
            rows.push(record);
        }
        Some(Self { rows, look, names })
    }
}

/// What `--as` says of the columns of a file.
pub(crate) fn overrides(kinds: &[String], source: &Source<'_>) -> Result<Overrides, Failure> {
    let readable = matches!(source, Source::File(path) if !pipe::is_one(path));
    if !(kinds.is_empty() || readable) {
        return Err(Failure::usage(format!(
            "{source}: --as is for files, whose columns can be looked at beforehand; leave it out"
        )));
    }
    let told = kinds.iter().try_fold(Overrides::default(), |overrides, kind| overrides.parse_kind(kind));
    told.map_err(|error| Failure::usage(format!("--as: {error}")))
}

/// Where a column stands, if it is there, and there once.
fn place(choice: &ColumnChoice, names: &[Option<String>]) -> Option<usize> {
    match choice {
        ColumnChoice::Index(number) => (1..=names.len()).contains(number).then(|| number - 1),
        ColumnChoice::Name(name) => names.iter().position(|other| other.as_ref() == Some(name)),
    }
}

/// Where the targets stand, if all are there.
fn targets(target: &TargetColumn, names: &[Option<String>]) -> Option<Vec<usize>> {
    let one = |choice: &ColumnChoice| place(choice, names).map(|place| vec![place]);
    match target {
        TargetColumn::Last => names.len().checked_sub(1).map(|last| vec![last]),
        TargetColumn::None => None,
        TargetColumn::Name(name) => one(&ColumnChoice::Name(name.clone())),
        TargetColumn::Index(number) => one(&ColumnChoice::Index(*number)),
        TargetColumn::Several(choices) => {
            let places: Vec<usize> = choices.iter().map(|choice| place(choice, names)).collect::<Option<_>>()?;
            let twice = (1..places.len()).any(|last| places[..last].contains(&places[last]));
            (!twice).then_some(places)
        }
    }
}

/// What the first rows have as their target, by the rules for numbers.
fn kind(rows: &[Record], targets: &[usize], wanted: Wanted) -> Option<Kind> {
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
