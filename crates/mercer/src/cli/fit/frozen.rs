//! Columns of any kind: how they become numbers is learnt from one file, and then every row of every shard is encoded alike.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mercer::datasets::Registry;
use mercer::encoding::{Encoding, EncodingError, EncodingOptions, TargetScale};
use mercer::readers::{ColumnChoice, Counts, DataError, Example, Marks, ReadOptions, TargetColumn};

use crate::cli::dialect::Dialect;
use crate::cli::encoded::{self, Encoded, Known, Looking, Oddities, Records, Sample, TableRanges};
use crate::cli::failure::Failure;
use crate::cli::opening::Opening;
use crate::cli::source::Source;
use crate::cli::stop::Stop;
use crate::cli::task::{Kind, Wanted};
use crate::cli::{ScaleChoice, TaskChoice};

/// What the files are told.
pub(super) struct Reading<'a> {
    pub(super) data: &'a [PathBuf],
    pub(super) dialect: &'a Dialect,
    pub(super) target: Option<&'a TargetColumn>,
    pub(super) weight: Option<&'a ColumnChoice>,
    pub(super) ignore: &'a [ColumnChoice],
    /// Whether the target is a class; a target of text is one unless this says otherwise.
    pub(super) task: Option<TaskChoice>,
    /// The file that settles how columns are scaled and encoded.
    pub(super) scale_from: Option<&'a Path>,
    pub(super) scale: ScaleChoice,
    /// What the user says of its columns.
    pub(super) kinds: &'a [String],
}

/// The encoding of a table, as the rows of one file have made it.
pub(super) struct Frozen {
    encoding: Encoding,
    /// How targets are scaled, one each; none where they are in their own units.
    scales: Vec<TargetScale>,
    kind: Kind,
    target: TargetColumn,
    /// The names of the targets, if there are names.
    targets: Vec<String>,
    weight: Option<ColumnChoice>,
    /// What was odd in the rows, told once for all files.
    odd: Arc<Mutex<Oddities>>,
}

/// The rows of a file, encoded.
pub(super) struct FrozenRows {
    encoded: Encoded,
    sample: Sample,
    scales: Vec<TargetScale>,
    odd: Arc<Mutex<Oddities>>,
    shown: String,
}

impl Frozen {
    /// Learns from a file; `None` where it is a complete table of numbers that needs no encoding.
    pub(super) fn learn(path: &Path, reading: &Reading<'_>, options: &ReadOptions) -> Result<Option<Self>, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let wanted = Wanted { task: reading.task, ..Wanted::default() };
        let scale = reading.scale.online().unwrap_or_default();
        let overrides = encoded::overrides(reading.kinds, &source)?;
        let looking = Looking { overrides, options: EncodingOptions::default().scale(scale), ..Looking::default() };
        let found = match source {
            Source::Named(name) => {
                Encoded::of_named(name, &Registry::load()?.open(name)?, &looking, wanted)?.map(Encoded::aloud)
            }
            Source::File(path) => {
                let opening = Opening::of(path, &Stop::never(), || ())?;
                if opening.is_pipe() {
                    return Err(not_a_file());
                }
                Encoded::look(&mut Some(opening), options, &looking, wanted, true)?
            }
            Source::StandardInput => return Err(not_a_file()),
        };
        let Some(found) = found else { return Ok(None) };
        let targets = found.columns().targets().to_vec();
        let choice = |name: &String| ColumnChoice::Name(name.clone());
        let mut frozen = Self {
            encoding: found.encoding().clone(),
            scales: Vec::new(),
            // As in data that need no encoding, 0 and 1 are numbers unless the user says otherwise.
            kind: match found.kind() {
                Kind::Class(Some(_)) if reading.task.is_none() => Kind::Numbers(1),
                kind => kind,
            },
            target: match &targets[..] {
                [] => options.target.clone(),
                [name] => TargetColumn::Name(name.clone()),
                names => TargetColumn::Several(names.iter().map(choice).collect()),
            },
            targets,
            weight: options.weight.clone(),
            odd: Arc::default(),
        };
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {error}"));
        let (schema, options_of) = (frozen.encoding.schema().clone(), frozen.encoding.transform().options());
        let mut encoding = match reading.scale.scheme() {
            None => Encoding::new(schema, options_of).map_err(refused)?,
            Some(scheme) => {
                let mut ranges = TableRanges::of_schema(&schema, frozen.kind, scheme);
                let mut rows = frozen.open(path, options)?;
                while rows.encoded.next_record(&mut rows.sample)? {
                    ranges.observe(&rows.sample);
                }
                frozen.scales = ranges.targets().map_err(refused)?;
                ranges.encoding(schema, options_of, &[]).map_err(refused)?
            }
        };
        let mut rows = frozen.open(path, options)?;
        while rows.encoded.next_record(&mut rows.sample)? {
            if rows.sample.example.weight != 0.0 {
                encoding.learn(&rows.sample.record).map_err(refused)?;
            }
        }
        frozen.encoding = encoding;
        Ok(Some(frozen))
    }

    pub(super) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(super) fn scales(&self) -> &[TargetScale] {
        &self.scales
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// The names of the targets, if there are names.
    pub(super) fn targets(&self) -> &[String] {
        &self.targets
    }

    /// The rows of a file with the same columns, found by their names where both have names.
    pub(super) fn open(&self, path: &Path, options: &ReadOptions) -> Result<FrozenRows, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let schema = self.encoding.schema();
        let records = match source {
            Source::Named(name) => Records::of_table(Registry::load()?.open(name)?),
            Source::StandardInput => return Err(not_a_file()),
            Source::File(path) => {
                let columns = schema.columns().iter().map(|column| column.name.clone());
                let known = if schema.is_named() { columns.collect() } else { Vec::new() };
                let ignore = Vec::new();
                let options = ReadOptions { known, ignore, later_keys: true, ..options.clone() };
                let opening = Opening::of(path, &Stop::never(), || ())?;
                Records::Read(opening.last_records(&options)?.into())
            }
        };
        let known = Known {
            encoding: &self.encoding,
            kind: self.kind,
            target: Some(self.target.clone()),
            weight: self.weight.clone(),
        };
        let encoded = Encoded::matched(&shown, records, &known)?;
        if let [name, ..] = encoded.missing() {
            return Err(Failure::because(format!(
                "{shown}: has no column {name:?}, which the file of --scale-from has; give files with the same columns"
            )));
        }
        let (scales, odd) = (self.scales.clone(), Arc::clone(&self.odd));
        Ok(FrozenRows { encoded, sample: Sample::default(), scales, odd, shown })
    }
}

fn not_a_file() -> Failure {
    Failure::usage("standard input and pipes can be read only once; give files")
}

impl FrozenRows {
    /// Puts the next row into `example`; false at the end.
    pub(super) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let Self { encoded, sample, scales, odd, shown } = self;
        if !encoded.next_record(sample)? {
            return Ok(false);
        }
        let encoding = encoded.encoding();
        std::mem::swap(&mut sample.example, example);
        // The record is as wide as the schema, so that nothing is refused.
        let _ = encoding.encode(&sample.record, &mut example.features);
        example.targets.iter_mut().zip(scales).for_each(|(y, scale)| *y = scale.apply(*y));
        odd.lock().unwrap_or_else(PoisonError::into_inner).tell(encoding, &sample.record, || {
            let (line, counts) = encoded.line();
            format!("{shown}, {} {line}", if counts == Counts::Lines { "line" } else { "row" })
        });
        Ok(true)
    }

    /// The marks in the numbers so far.
    pub(super) fn marks(&self) -> Marks {
        self.encoded.marks()
    }

    /// Leaves out so many rows, and says how many there were.
    pub(super) fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        for passed in 0..rows {
            if !self.encoded.next_record(&mut self.sample)? {
                return Ok(passed);
            }
        }
        Ok(rows)
    }
}
