//! Rows one by one, from a file, a pipe or a data set with a name; a bad row is handed on as such, and the next can be read.

use std::path::Path;

use mercer::datasets::Registry;
use mercer::encoding::{Encoding, TargetScale};
use mercer::readers::{ColumnChoice, Format, Marks, ReadOptions, TargetColumn, Targets};

use super::dialect::{self, Dialect};
use super::encoded::{self, Encoded, Known, Looking, Oddities, Records, Sample};
use super::failure::{self, Failure};
use super::input::{Input, refuse_for_named};
use super::opening::Opening;
use super::source::{Columns, Source};
use super::stop::Stop;
use super::task::{Kind, Wanted};

/// How to read DATA.
pub(crate) struct Reading<'a> {
    pub(crate) data: &'a Path,
    pub(crate) dialect: &'a Dialect,
    pub(crate) target: Option<TargetColumn>,
    /// The column of the weights.
    pub(crate) weight: Option<ColumnChoice>,
    /// Columns that are not looked at.
    pub(crate) ignore: &'a [ColumnChoice],
    /// The features' names in their order, and the target's, if rows are to be found by them.
    pub(crate) names: (&'a [String], Option<&'a str>),
    /// The features that there must be, if that is known.
    pub(crate) dimension: Option<usize>,
    /// Whether rows may do without a target; what is there of one is not looked at.
    pub(crate) features_alone: bool,
    /// How the targets are read, and what decides whether they are classes.
    pub(crate) targets: Targets,
    pub(crate) wanted: Wanted,
    pub(crate) columns: Reads<'a>,
    /// The marks in the numbers of files of the same origin.
    pub(crate) marks: Marks,
    /// The target, if it must be there although it is not looked at.
    pub(crate) named_target: Option<&'a TargetColumn>,
}

/// What becomes of columns that are not numbers.
pub(crate) enum Reads<'a> {
    /// They are refused.
    Numbers,
    /// The first rows tell.
    Looks(Looking),
    /// By a model that knows them.
    Knows(Known<'a>),
}

pub(crate) struct Rows {
    input: Input,
    /// Whether the user may say what columns are.
    asks: bool,
    stop: Stop,
}

/// What the next row is.
#[derive(Clone)]
pub(crate) enum Row {
    /// It is in the caller's memory.
    Good,
    /// Why it is none.
    Bad(String),
}

impl Rows {
    /// `idle` is called whenever a pipe has nothing to read.
    pub(crate) fn open(
        reading: &Reading<'_>,
        stop: Stop,
        idle: impl FnMut() + Send + 'static,
    ) -> Result<Self, Failure> {
        let source = Source::of(reading.data)?;
        let shown = source.to_string();
        let asks = matches!(reading.columns, Reads::Looks(_));
        if let Source::Named(name) = source {
            let target = reading.target.is_some() && !matches!(reading.columns, Reads::Knows(_));
            refuse_for_named(name, target, reading.dialect, reading.ignore, reading.weight.is_some())?;
            let plain = Looking::default();
            let input = match &reading.columns {
                Reads::Numbers => Input::named(name, &plain, reading.wanted)?,
                Reads::Looks(looking) => Input::named(name, looking, reading.wanted)?,
                Reads::Knows(known) => {
                    let records = Records::of_table(Registry::load()?.open(name)?);
                    Input::of_encoded(shown.clone(), Encoded::known(&shown, records, known)?)
                }
            };
            return Ok(Self { input, asks, stop });
        }
        let told = reading.dialect.told(reading.data, ReadOptions::default());
        // LIBSVM puts the target in front of every row.
        let features_alone = reading.features_alone && told.format != Some(Format::Libsvm);
        let (names, target_name) = reading.names;
        let options = ReadOptions {
            target: reading.target.clone().unwrap_or_default(),
            weight: reading.weight.clone(),
            ignore: reading.ignore.to_vec(),
            features: names.to_vec(),
            target_name: target_name.map(str::to_owned),
            features_alone: reading.dimension.filter(|_| features_alone),
            libsvm_dimension: reading.dimension,
            targets: reading.targets,
            marks: reading.marks,
            ..told
        };
        let opening = Opening::of(reading.data, &stop, idle)?;
        let input = match &reading.columns {
            Reads::Numbers => {
                if let Some(target) = reading.named_target {
                    check_target(&opening, &options, target)?;
                }
                let reader = opening.rows(&options)?;
                dialect::tell_doubt(reader.doubt());
                Input::of_reader(shown, reader, reading.wanted)?
            }
            Reads::Looks(looking) => {
                let looking = Looking { at_once: looking.at_once && opening.is_pipe(), ..looking.clone() };
                Input::look(opening, &options, &looking, reading.wanted, false)?
            }
            Reads::Knows(known) => {
                let columns = known.encoding.schema().columns().iter().map(|column| column.name.clone());
                let names = if known.encoding.schema().is_named() { columns.collect() } else { Vec::new() };
                let records = Records::Read(
                    opening.last_records(&ReadOptions { known: names, later_keys: true, ..options })?.into(),
                );
                Input::of_encoded(shown.clone(), Encoded::known(&shown, records, known)?)
            }
        };
        Ok(Self { input, asks, stop })
    }

    /// What is told of odd cells; that a column is lacking was told before.
    pub(crate) fn oddities(&self) -> Oddities {
        self.input.encoded().map_or_else(Oddities::default, |encoded| Oddities::lacking(encoded.missing()))
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        self.input.shown()
    }

    pub(crate) fn columns(&self) -> &Columns {
        self.input.columns()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.input.kind()
    }

    /// How columns become numbers, of rows that are read as records.
    pub(crate) fn encoding(&self) -> Option<&Encoding> {
        self.input.encoding()
    }

    /// How the targets of encoded rows are scaled by ranges of a whole file; `None` where they are not.
    pub(crate) fn target_scales(&self) -> Option<&[TargetScale]> {
        self.input.target_scales()
    }

    /// Whether rows have weights.
    pub(crate) fn are_weighted(&self) -> bool {
        self.input.is_weighted()
    }

    /// The marks in the numbers so far.
    pub(crate) fn marks(&self) -> Marks {
        self.input.marks()
    }

    /// Whether rows are JSON objects.
    pub(crate) fn are_objects(&self) -> bool {
        self.input.are_objects()
    }

    /// How many rows there are, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        self.input.length()
    }

    /// Puts the next row into `sample`; `None` at the end, and when a signal has come: what it cut off is no row.
    ///
    /// # Errors
    /// Those after which no row can be read.
    pub(crate) fn next(&mut self, sample: &mut Sample) -> Result<Option<Row>, Failure> {
        let read = self.input.next_sample(sample);
        if self.stop.requested() {
            return Ok(None);
        }
        match read {
            Ok(false) => Ok(None),
            Ok(true) => Ok(Some(Row::Good)),
            Err(error) if error.concerns_one_row() => {
                let remedy = failure::remedy(&error).filter(|_| self.asks);
                Ok(Some(Row::Bad(remedy.map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}")))))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Refuses a target that is not there.
fn check_target(opening: &Opening, options: &ReadOptions, target: &TargetColumn) -> Result<(), Failure> {
    let whole = ReadOptions { features: Vec::new(), ignore: Vec::new(), ..options.clone() };
    // What cannot be read tells why when it is.
    let Ok(reader) = opening.records(&whole) else { return Ok(()) };
    let records = Records::Read(reader.into());
    if options.format == Some(Format::Libsvm) || encoded::targets(target, &records.names()).is_some() {
        return Ok(());
    }
    let columns: Vec<String> = records.columns().iter().map(|column| format!("{column:?}")).collect();
    Err(Failure::because(format!(
        "{}: --target {target}: there is no such column; the columns are {}",
        opening.shown(),
        columns.join(", ")
    )))
}

/// Where a row comes from.
pub(crate) trait Origin {
    /// Its place, for a message.
    fn place(&self) -> String;
    /// Its text as it stands in the file.
    fn record(&self) -> &[u8];
}

/// The row last read.
impl Origin for Rows {
    fn place(&self) -> String {
        format!("{}, {}", self.input.shown(), self.input.place())
    }

    fn record(&self) -> &[u8] {
        self.input.record()
    }
}

/// A row that was read ahead.
pub(crate) struct Kept {
    pub(crate) row: Row,
    pub(crate) sample: Sample,
    place: String,
    record: Vec<u8>,
}

impl Kept {
    /// The row last read.
    pub(crate) fn of(rows: &Rows, row: Row, sample: &Sample) -> Self {
        Self { row, sample: sample.clone(), place: rows.place(), record: rows.record().to_vec() }
    }
}

impl Origin for Kept {
    fn place(&self) -> String {
        self.place.clone()
    }
    fn record(&self) -> &[u8] {
        &self.record
    }
}
