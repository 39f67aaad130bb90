//! What DATA and `--scale-from` name, the columns found there, and the ranges learned from them.

use std::fmt;
use std::path::Path;

use mercer::data::{Format, Ranges, ReadOptions, Registry, RowReader, TargetColumn};

use super::EvalArguments;
use super::failure::Failure;

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
pub(crate) struct Columns {
    /// d.
    pub(crate) dimension: usize,
    /// The features' names, then the target's.
    names: Option<Vec<String>>,
}

impl Columns {
    pub(crate) fn new(dimension: usize, features: Option<&[String]>, target: Option<&str>) -> Self {
        let names = features.map(|features| features.iter().cloned().chain(target.map(str::to_owned)).collect());
        Self { dimension, names }
    }

    /// Refuses to scale `other` by these columns when they are not the same.
    pub(crate) fn check(&self, shown: &str, other: &Self, other_shown: &str) -> Result<(), Failure> {
        let refused = |difference: String| {
            Failure::because(format!("{shown}: {difference}; take the ranges from data of the same columns"))
        };
        let (ours, theirs) = (self.dimension, other.dimension);
        if ours != theirs {
            let plural = if ours == 1 { "" } else { "s" };
            return Err(refused(format!("has {ours} feature{plural} and {other_shown} has {theirs}")));
        }
        let (Some(ours), Some(theirs)) = (&self.names, &other.names) else { return Ok(()) };
        match ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs) {
            Some((ours, theirs)) => Err(refused(format!("has a column {ours:?} where {other_shown} has {theirs:?}"))),
            None => Ok(()),
        }
    }
}

/// The ranges of the columns of another file than the data.
pub(crate) struct Learned {
    pub(crate) shown: String,
    pub(crate) columns: Columns,
    pub(crate) ranges: Ranges,
}

impl Learned {
    /// Reads the file of `--scale-from`, one row in memory at a time.
    pub(crate) fn from(path: &Path, arguments: &EvalArguments) -> Result<Self, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let target = match source {
            Source::Named(name) => {
                let table = Registry::load()?.open(name)?;
                let columns = Columns::new(table.dimension(), table.feature_names(), table.target_name());
                return Ok(Self { shown, columns, ranges: Ranges::of(&table) });
            }
            Source::StandardInput => {
                return Err(Failure::usage("--scale-from must be a file, since standard input can be read only once"));
            }
            Source::File(_) => arguments.target.clone().unwrap_or(TargetColumn::Last),
        };
        // Its own name tells its format; that of the data serves when it does not.
        let format = Format::from_path(path).or(arguments.format);
        let mut reader = RowReader::open(path, &ReadOptions { format, target, ..ReadOptions::default() })?;
        let columns = Columns::new(reader.dimension(), reader.feature_names(), reader.target_name());
        let (mut ranges, mut row) = (Ranges::new(columns.dimension), Vec::new());
        while let Some(target) = reader.next_row(&mut row)? {
            ranges.observe(&row, target)?;
        }
        Ok(Self { shown, columns, ranges })
    }
}
