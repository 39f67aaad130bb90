//! What DATA and `--scale-from` name, the columns found there, and the ranges learned from them.

use std::fmt;
use std::path::Path;

use mercer::data::{Format, Ranges, ReadOptions, Registry, RowReader};

use super::CommonArguments;
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

    /// The features' names, if there are names.
    pub(crate) fn features(&self) -> &[String] {
        self.names.as_ref().map_or(&[], |names| &names[..names.len().min(self.dimension)])
    }

    /// The target's name, if there are names and a target.
    pub(crate) fn target(&self) -> Option<&str> {
        self.names.as_ref().and_then(|names| names.get(self.dimension)).map(String::as_str)
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
    pub(crate) ranges: Ranges,
    /// Good rows.
    pub(crate) rows: usize,
}

impl Learned {
    /// Reads the file of `--scale-from`, one row in memory at a time; `skip_bad` leaves bad rows out.
    pub(crate) fn from(path: &Path, told: &CommonArguments, skip_bad: bool) -> Result<Self, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let target = match source {
            Source::Named(name) => {
                let table = Registry::load()?.open(name)?;
                let columns = Columns::new(table.dimension(), table.feature_names(), table.target_name());
                return Ok(Self { shown, columns, ranges: Ranges::of(&table), rows: table.len() });
            }
            Source::StandardInput => {
                return Err(Failure::usage("--scale-from must be a file, since standard input can be read only once"));
            }
            Source::File(_) => told.target.clone().unwrap_or_default(),
        };
        // Its own name tells its format; that of the data serves when it does not.
        let format = Format::from_path(path).or(told.format);
        let ignore = told.ignore.clone();
        let mut reader = RowReader::open(path, &ReadOptions { format, target, ignore, ..ReadOptions::default() })?;
        let columns = Columns::new(reader.dimension(), reader.feature_names(), reader.target_name());
        let (mut ranges, mut row, mut rows) = (Ranges::new(columns.dimension), Vec::new(), 0);
        loop {
            match reader.next_row(&mut row) {
                Ok(Some(target)) => ranges.observe(&row, target)?,
                Ok(None) => return Ok(Self { shown, columns, ranges, rows }),
                Err(error) if skip_bad && error.concerns_one_row() => continue,
                Err(error) => return Err(error.into()),
            }
            rows += 1;
        }
    }
}
