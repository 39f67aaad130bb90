//! The failure that ends a command early: one line and an exit code.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use mercer_datasets::DatasetError;
use mercer_readers::{CellPlace, Column, ColumnChoice, DataError};
use mercer_registry::catalogue::CatalogueError;

use crate::report::plain::Plain;

/// A message that says what, where and how to mend it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
    /// A file has no row.
    no_rows: bool,
}

impl Failure {
    /// The arguments cannot be right, whatever the data.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2, no_rows: false }
    }

    /// The arguments may be right, but it did not work.
    pub(crate) fn because(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1, no_rows: false }
    }

    /// A signal of that number ended a run that has nothing to keep.
    pub(crate) fn signal(number: u8) -> Self {
        Self { message: "ended by a signal".to_owned(), code: 128 + number, no_rows: false }
    }

    /// The same with something more to be said.
    pub(crate) fn with(self, more: &str) -> Self {
        Self { message: format!("{}; {more}", self.message), ..self }
    }

    /// True if all that is wrong is that a file has no row.
    pub(crate) fn is_of_no_rows(&self) -> bool {
        self.no_rows
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }

    /// The argument parser writes paragraphs; their substance fits one line, with the command whose
    /// help tells more.
    pub(crate) fn from_clap(error: &clap::Error) -> Self {
        if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return Self::usage("no command was given; see mercer --help");
        }
        let text = error.render().to_string();
        let names_file = |more: &ContextValue| matches!(more, ContextValue::String(name) if Path::new(name).is_file());
        if error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::InvalidArg).is_some_and(names_file) {
            return Self::usage(format!("only one file can be given; {SEVERAL}"));
        }
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_hint = |line: &str| line.starts_with("Usage:") || line.starts_with("For more");
        // An option that a command does not have is hardly ever meant as the name of a file.
        let as_value = |line: &str| line.starts_with("tip: to pass ");
        let said: Vec<&str> = lines.take_while(|line| !is_hint(line)).filter(|line| !as_value(line)).collect();
        // The command is the first word that may be one, behind options of every command.
        let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
        let is_command = |word: &String| word.bytes().all(|byte| byte.is_ascii_lowercase());
        let named = words.take_while(|word| word != "--").find(is_command);
        let known = named.filter(|_| error.kind() != ErrorKind::InvalidSubcommand);
        let command = known.map_or(String::new(), |word| word + " ");
        Self::usage(format!("{}; see mercer {command}--help", said.join("; ").replace(":; ", ": ")))
    }
}

/// Ways to read several files.
const SEVERAL: &str = "several of CSV are one by awk 'FNR > 1 || NR == 1' FILES | mercer COMMAND - --format csv, \
                       and mercer fit takes several, and patterns";

impl fmt::Display for Failure {
    /// One line, whatever names and values it quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Plain(&self.message), f)
    }
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        let more = match &error {
            CatalogueError::UnknownLearner { .. } => "; see mercer learners".to_owned(),
            CatalogueError::UnknownKey { learner, .. }
            | CatalogueError::NotAPair { learner, .. }
            | CatalogueError::NoSuchWord { learner, .. }
            | CatalogueError::NotAName { learner, .. }
            | CatalogueError::NotWhole { learner, .. }
            | CatalogueError::Learner { learner, .. } => format!("; see mercer learners {learner}"),
            _ => String::new(),
        };
        Self::usage(format!("{error}{more}"))
    }
}

impl From<DatasetError> for Failure {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Data(error) => error.into(),
            error => Self::because(error.to_string()),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match &error {
            DataError::UnknownFormat { file } if file == "standard input" => Self::usage(
                "standard input: say its format with --format csv, tsv, ndjson, libsvm, parquet, arrow, fixed or xlsx",
            ),
            DataError::UnknownFormat { .. } => Self::usage(error.to_string()),
            DataError::IndexTooLarge { line, limit, .. } => Self::because(format!(
                "{line}: an index is above {limit}, the number of features; correct it, or what tells that number: the model \
                 or --dimension"
            )),
            DataError::DimensionUnknown { file } => Self::usage(format!(
                "{file}: a libsvm stream tells its number of features only at its end; say it with --dimension N, or give a file"
            )),
            DataError::ColumnNotFound { column: ColumnChoice::Name(_), target: false, names: None, .. } => {
                Self::because(format!("{error}; tell them by number"))
            }
            DataError::Io { file, source } if source.kind() == io::ErrorKind::NotFound && file.contains(['*', '?']) => {
                Self::because(format!(
                    "{file}: is no file, and may be a pattern, which the shell would fill in without quotes; {SEVERAL}"
                ))
            }
            DataError::Empty { .. } | DataError::HeaderOnly { .. } => {
                Self { no_rows: true, ..Self::because(error.to_string()) }
            }
            _ => Self::because(error.to_string()),
        }
    }
}

/// The remedy that `--as` offers for a row that cannot be read.
pub(crate) fn remedy(error: &DataError) -> Option<String> {
    let DataError::EmptyCell { cell: CellPlace { column: Column { number, name }, .. } } = error else { return None };
    let name = name.clone().unwrap_or_else(|| format!("#{number}"));
    Some(format!("--as '{name}=number' reads gaps as missing values"))
}
