//! What DATA and `--scale-from` name, the columns found there, and the ranges learned from them.

use std::fmt;
use std::path::Path;

use mercer::datasets::Registry;
use mercer::encoding::EncodingOptions;
use mercer::readers::{Ranges, RowReader};

use super::CommonArguments;
use super::encoded::{Looking, Sample, TableRanges};
use super::failure::Failure;
use super::input::{Input, read_options};
use super::opening::Opening;
use super::stop::Stop;
use super::task::{Kind, Wanted};

/// Where data come from.
pub(crate) enum Source<'a> {
    File(&'a Path),
    StandardInput,
    Named(&'a str),
}

impl<'a> Source<'a> {
    /// A file goes before a data set of the same name.
    pub(crate) fn of(path: &'a Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::StandardInput);
        }
        if path.is_dir() {
            return Err(Failure::because(format!("{}: is a folder; give a file in it", path.display())));
        }
        let name = path.to_str().filter(|name| !name.contains(['/', '\\', '.']) && !path.exists());
        let Some(name) = name else { return Ok(Self::File(path)) };
        let registry = Registry::load()?;
        if registry.find(name).is_some() {
            return Ok(Self::Named(name));
        }
        let known: Vec<&str> = registry.entries().iter().map(|entry| entry.name.as_str()).collect();
        Err(Failure::because(format!(
            "{name}: there is no such file, and no data set of that name; known are {}",
            known.join(", ")
        )))
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::StandardInput => f.write_str("standard input"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// What is known of the columns of a table.
#[derive(Clone)]
pub(crate) struct Columns {
    /// d.
    pub(crate) dimension: usize,
    /// The features' names, then those of the targets.
    names: Option<Vec<String>>,
}

impl Columns {
    pub(crate) fn new(dimension: usize, features: Option<&[String]>, targets: Option<&[String]>) -> Self {
        let names = features.map(|features| features.iter().chain(targets.unwrap_or_default()).cloned().collect());
        Self { dimension, names }
    }

    pub(crate) fn of_reader(reader: &RowReader) -> Self {
        Self::new(reader.dimension(), reader.feature_names(), reader.target_names())
    }

    /// The features' names, if there are names.
    pub(crate) fn features(&self) -> &[String] {
        self.names.as_ref().map_or(&[], |names| &names[..names.len().min(self.dimension)])
    }

    /// The names of the targets, if there are names and targets.
    pub(crate) fn targets(&self) -> &[String] {
        self.names.as_ref().map_or(&[], |names| &names[names.len().min(self.dimension)..])
    }

    /// Refuses to scale `other` by these columns when they are not the same.
    pub(crate) fn check(&self, shown: &str, other: &Self, other_shown: &str) -> Result<(), Failure> {
        let refused = |difference| {
            Failure::because(format!("{shown}: {difference}; take the ranges from data of the same columns"))
        };
        self.difference(other, other_shown).map_or(Ok(()), |difference| Err(refused(difference)))
    }

    /// Refuses to predict `data` by a model with these columns when they are not the same.
    pub(crate) fn check_data(&self, model: &str, data: &Self, data_shown: &str) -> Result<(), Failure> {
        let refused = |difference| {
            Failure::because(format!("{model}: {difference}; give data with the columns that the model was trained on"))
        };
        self.difference(data, data_shown).map_or(Ok(()), |difference| Err(refused(difference)))
    }

    fn difference(&self, other: &Self, other_shown: &str) -> Option<String> {
        let (ours, theirs) = (self.dimension, other.dimension);
        if ours != theirs {
            let plural = if ours == 1 { "" } else { "s" };
            return Some(format!("has {ours} feature{plural} and {other_shown} has {theirs}"));
        }
        let (Some(ours), Some(theirs)) = (&self.names, &other.names) else { return None };
        let (ours, theirs) = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs)?;
        Some(format!("has a column {ours:?} where {other_shown} has {theirs:?}"))
    }
}

/// The ranges of the columns of another file than the data.
pub(crate) struct Learned {
    pub(crate) shown: String,
    pub(crate) columns: Columns,
    /// Of numbers; nothing is known of columns that are encoded.
    pub(crate) ranges: Ranges,
    /// For a table the columns of which are encoded; `None` without --scale.
    pub(crate) table: Option<TableRanges>,
    /// Numbers in a target; 1 for a class.
    outputs: usize,
    /// Good rows.
    pub(crate) rows: usize,
}

impl Learned {
    /// Refuses ranges that are not those of the targets of data of this kind.
    pub(crate) fn check_outputs(&self, kind: Kind, shown: &str) -> Result<(), Failure> {
        let (ours, theirs) = (self.outputs, kind.outputs());
        if ours == theirs {
            return Ok(());
        }
        Err(Failure::because(format!(
            "{}: has {ours} targets and {shown} has {theirs}; take the ranges from data of the same columns",
            self.shown
        )))
    }

    /// Reads the file of `--scale-from`, one row in memory at a time; `skip_bad` leaves bad rows out.
    pub(crate) fn from(path: &Path, told: &CommonArguments, skip_bad: bool) -> Result<Self, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let wanted = Wanted::of(told);
        let mut input = match source {
            Source::Named(name) => Input::named(name, &Looking::default(), wanted)?,
            Source::StandardInput => {
                return Err(Failure::usage("--scale-from must be a file, since standard input can be read only once"));
            }
            Source::File(_) => {
                let looking =
                    Looking { options: EncodingOptions::default(), skips: skip_bad, ..Looking::of(told, &source)? };
                let opening = Opening::of(path, &Stop::never(), || ())?;
                Input::look(opening, &read_options(told, path, wanted), &looking, wanted, true)?
            }
        };
        let dimension = input.columns().dimension;
        let outputs = input.kind().outputs();
        let encoded = input.encoding().is_some();
        let mut ranges = Ranges::several(dimension, outputs);
        let mut table = told.scale.scheme().map(|scheme| match input.encoding() {
            Some(encoding) => TableRanges::of_schema(encoding.schema(), input.kind(), scheme),
            None => TableRanges::of_numbers(input.columns().features(), input.kind(), scheme),
        });
        let (mut sample, mut rows) = (Sample::default(), 0);
        loop {
            let read = input.next_sample(&mut sample);
            let Sample { example, .. } = &sample;
            match read {
                Ok(true) if encoded => {}
                Ok(true) if input.kind().is_class() => ranges.observe_features(&example.features)?,
                Ok(true) => ranges.observe_targets(&example.features, &example.targets)?,
                Ok(false) => {
                    return Ok(Self { shown, columns: input.columns().clone(), ranges, table, outputs, rows });
                }
                Err(error) if skip_bad && error.concerns_one_row() => continue,
                Err(error) => return Err(error.into()),
            }
            table.iter_mut().for_each(|table| table.observe(&sample));
            rows += 1;
        }
    }
}
