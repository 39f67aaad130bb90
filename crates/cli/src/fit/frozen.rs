//! Columns of any kind: how they become numbers is learnt from one file, and then every row of
//! every shard is encoded alike.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mercer_datasets::Registry;
use mercer_encoding::{Encoding, EncodingError, EncodingOptions, Face, Kind as ColumnKind};
use mercer_readers::{ColumnChoice, ReadOptions, TargetColumn};
use mercer_session::Row;

use super::FitArguments;
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::encoded_rows::{self, ColumnSource, EncodedRows, Looking, Oddities};
use crate::data::input::Input;
use crate::data::opening::Opening;
use crate::data::reading::{Reading, Reads};
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// The encoding of a table, as the rows of one file have made it.
pub(super) struct Frozen {
    encoding: Encoding,
    kind: Kind,
    target: TargetColumn,
    /// The names of the targets, if there are names.
    targets: Vec<String>,
    weight: Option<ColumnChoice>,
    /// Odd cells of the rows, told once for all files.
    odd: Arc<Mutex<Oddities>>,
}

/// Tells that a target which could be a class is taken for a number.
pub(super) fn tell_zero_one(shown: &str) {
    verbosity::remark(format!(
        "{shown}: the target is nothing but 0 and 1 in the first rows, and is taken for a number; say --task class if it is a class"
    ));
}

/// Refuses texts and times as classes where nearly each is another one, as `mercer train` does.
pub(super) fn check_classes(path: &Path, options: &ReadOptions) -> Result<(), Failure> {
    if let Source::File(path) = Source::resolve(path)? {
        let opening = Opening::new(path, &Stop::never(), || ())?;
        EncodedRows::look(&mut Some(opening), options, &Looking::default(), TaskOptions::default(), false)?;
    }
    Ok(())
}

impl Frozen {
    /// Learns from a file; `None` where it is a complete table of numbers that needs no encoding.
    pub(super) fn learn(path: &Path, arguments: &FitArguments, options: &ReadOptions) -> Result<Option<Self>, Failure> {
        let source = Source::resolve(path)?;
        let shown = source.to_string();
        let wanted = TaskOptions { task: arguments.task, ..TaskOptions::default() };
        let overrides = encoded_rows::overrides(&arguments.kinds, arguments.zone.zone.as_ref(), &source)?;
        let looking =
            Looking { overrides, options: EncodingOptions::default().scale(arguments.scale), ..Looking::default() };
        let found = match source {
            Source::Named(name) => {
                EncodedRows::of_named(name, &Registry::load()?.open(name)?, &looking, wanted)?.map(EncodedRows::aloud)
            }
            Source::File(path) => {
                let opening = Opening::new(path, &Stop::never(), || ())?;
                if opening.is_pipe() {
                    return Err(not_a_file());
                }
                EncodedRows::look(&mut Some(opening), options, &looking, wanted, true)?
            }
            Source::StandardInput => return Err(not_a_file()),
        };
        let Some(found) = found else { return Ok(None) };
        let targets = found.columns().targets().to_vec();
        let choice = |name: &String| ColumnChoice::Name(name.clone());
        let mut frozen = Self {
            encoding: found.encoding().clone(),
            // As in data that need no encoding, 0 and 1 are numbers unless the user says otherwise.
            kind: match found.kind() {
                Kind::Class(Some(_)) if arguments.task.is_none() => {
                    tell_zero_one(&shown);
                    Kind::Numbers(1)
                }
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
        if let Some(column) = frozen.encoding.schema().columns().iter().find(|column| column.kind == ColumnKind::Mean) {
            return Err(Failure::usage(format!(
                "--as {0}=mean: means move with the rows, and fit encodes all rows alike; say --as {0}=category",
                column.name
            )));
        }
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
        let (schema, options_of) = (frozen.encoding.schema().clone(), frozen.encoding.transform().options());
        let mut encoding = Encoding::new(schema, options_of).map_err(refused)?;
        let (mut rows, mut sample) = (frozen.open(path, options)?.frozen(Some(&Arc::default())), Row::default());
        while rows.next_sample(&mut sample)? {
            if sample.example.weight != 0.0 {
                encoding.learn(&sample.record).map_err(refused)?;
            }
        }
        frozen.encoding = encoding;
        Ok(Some(frozen))
    }

    pub(super) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// The names of the targets, if there are names.
    pub(super) fn targets(&self) -> &[String] {
        &self.targets
    }

    /// The same rows, of which what is odd is counted, and told once of all files.
    pub(super) fn counted(&self, rows: Input) -> Input {
        rows.frozen(Some(&self.odd))
    }

    /// Tells how many cells of all rows were odd: a part that lacks what the others have shows in
    /// the log.
    pub(super) fn report(&self) {
        self.odd.lock().unwrap_or_else(PoisonError::into_inner).report(&self.encoding);
    }

    /// The rows of a file with the same columns, found by their names where both have names. Of
    /// what is odd in them nothing is told.
    pub(super) fn open(&self, path: &Path, options: &ReadOptions) -> Result<Input, Failure> {
        if let Source::StandardInput = Source::resolve(path)? {
            return Err(not_a_file());
        }
        let known = ColumnSource {
            encoding: &self.encoding,
            kind: self.kind,
            target: Some(self.target.clone()),
            weight: self.weight.clone(),
            may_lack: false,
            label_id: None,
        };
        let options = ReadOptions { ignore: Vec::new(), ..options.clone() };
        let columns = Reads::Knows(known);
        let reading =
            Reading { data: path, options, wanted: TaskOptions::default(), columns, given: None, aloud: false };
        let input = reading.open(&Stop::never(), || ())?;
        if let Some([name, ..]) = input.encoded().map(EncodedRows::missing) {
            return Err(Failure::because(format!(
                "{}: has no column {name:?}, which the file of --scale-from has; give files with the same columns",
                input.shown()
            )));
        }
        Ok(input.frozen(None))
    }
}

fn not_a_file() -> Failure {
    Failure::usage("standard input and pipes can be read only once; give files")
}
