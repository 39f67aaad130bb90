//! The sources that DATA names, and the columns found there.

use std::fmt;
use std::path::Path;

use mercer_datasets::Registry;
use mercer_readers::{ColumnChoice, RowReader, StoredObject, remedy_of_commas};

use crate::report::failure::Failure;

/// Where data come from.
pub(crate) enum Source<'a> {
    File(&'a Path),
    StandardInput,
    Named(&'a str),
}

impl<'a> Source<'a> {
    /// A file goes before a data set of the same name.
    pub(crate) fn resolve(path: &'a Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::StandardInput);
        }
        if path.is_dir() {
            return Err(Failure::because(format!("{}: is a folder; give a file in it", path.display())));
        }
        refuse_address(path)?;
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

/// Refuses the address of an object store or of the web, where it is none that is read, and says
/// what reads it.
pub(crate) fn refuse_address(path: &Path) -> Result<(), Failure> {
    let Some(address) = path.to_str().filter(|text| text.contains("://") && !path.exists()) else { return Ok(()) };
    if StoredObject::is_address(path) {
        return Ok(());
    }
    let fetch = match address.split("://").next() {
        Some("http" | "https" | "ftp") => format!("curl -sL '{address}'"),
        Some("s3") => format!("aws s3 cp '{address}' -"),
        Some("gs") => format!("gcloud storage cat '{address}'"),
        Some("file") => format!("cat '{}'", address.trim_start_matches("file://")),
        _ => return Ok(()),
    };
    let feature = match address.split("://").next() {
        Some("http" | "https" | "s3") if !cfg!(feature = "stores") => ", or build it with the feature stores",
        _ => "",
    };
    Err(Failure::because(format!(
        "{address}: is an address, and this program reads files and pipes; copy it to a file, or say {fetch} | mercer … - --format FORMAT{feature}"
    )))
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

/// Why a choice is none of these columns, or no single one.
pub(crate) fn no_column(shown: &str, option: &str, choice: &ColumnChoice, columns: &[String]) -> Failure {
    let name = choice.text();
    let mut called = (1..).zip(columns).filter(|(_, column)| **column == name).map(|(place, _)| place);
    let why = match (called.next(), called.next()) {
        (Some(first), Some(second)) => {
            format!("columns {first} and {second} are both called so; say which by its number")
        }
        _ => not_among(columns),
    };
    Failure::because(format!("{shown}: {option} {choice}: {why}"))
}

/// That a column is none of these.
pub(crate) fn not_among(columns: &[String]) -> String {
    let listed: Vec<String> = columns.iter().map(|column| format!("{column:?}")).collect();
    format!("there is no such column; the columns are {}{}", listed.join(", "), remedy_of_commas(columns))
}

/// The known facts about the columns of a table.
#[derive(Clone)]
pub(crate) struct TableColumns {
    /// d.
    pub(crate) dimension: usize,
    /// The features' names, then those of the targets.
    names: Option<Vec<String>>,
}

impl TableColumns {
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
