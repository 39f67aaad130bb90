//! What ends a command early: one line and an exit code.

use std::fmt;
use std::process::ExitCode;

use clap::error::ErrorKind;
use mercer::catalogue::CatalogueError;
use mercer::data::DataError;

/// A message that says what, where and how to mend it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    usage: bool,
}

impl Failure {
    /// The arguments cannot be right, whatever the data.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), usage: true }
    }

    /// The arguments may be right, but it did not work.
    pub(crate) fn because(message: impl Into<String>) -> Self {
        Self { message: message.into(), usage: false }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
    }

    /// The argument parser writes paragraphs; their substance fits one line, with the command whose help tells more.
    pub(crate) fn from_clap(error: &clap::Error) -> Self {
        if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            return Self::usage("no command was given; see mercer --help");
        }
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_hint = |line: &str| line.starts_with("Usage:") || line.starts_with("For more");
        let said: Vec<&str> = lines.take_while(|line| !is_hint(line)).collect();
        let first = std::env::args_os().nth(1).and_then(|word| word.into_string().ok());
        let commands = ["eval", "forecast", "inspect", "koopman", "learners", "predict", "train"];
        let named = first.filter(|word| commands.contains(&word.as_str()));
        let command = named.map_or(String::new(), |word| word + " ");
        Self::usage(format!("{}; see mercer {command}--help", said.join("; ").replace(":; ", ": ")))
    }
}

impl fmt::Display for Failure {
    /// One line, whatever names and values it quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.message.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        let more = match &error {
            CatalogueError::UnknownLearner { .. } => "; see mercer learners".to_owned(),
            CatalogueError::NeedsRounds { .. } => " (--rows N)".to_owned(),
            CatalogueError::UnknownKey { learner, .. }
            | CatalogueError::NotAPair { learner, .. }
            | CatalogueError::NoSuchWord { learner, .. }
            | CatalogueError::Syntax { learner, .. }
            | CatalogueError::NotFinite { learner, .. }
            | CatalogueError::NotWhole { learner, .. }
            | CatalogueError::Learner { learner, .. } => format!("; see mercer learners {learner}"),
            _ => String::new(),
        };
        Self::usage(format!("{error}{more}"))
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match &error {
            DataError::UnknownFormat { file } if file == "standard input" => {
                Self::usage("standard input: say its format with --format csv, tsv, ndjson or libsvm")
            }
            DataError::UnknownFormat { .. } => Self::usage(error.to_string()),
            DataError::NotHere { name, file, page, searched } => Self::because(format!(
                "{name}: {file} is in none of {}; get it from {page}, and put it there or name its folder in MERCER_DATA",
                searched.join(", ")
            )),
            DataError::IndexTooLarge { line, limit, .. } => Self::because(format!(
                "{line}: an index is above {limit}, the number of features; correct it, or leave out --scale-from if that \
                 file has fewer of them"
            )),
            _ => Self::because(error.to_string()),
        }
    }
}
