//! What becomes of rows that cannot be used: `--on-error stop|skip|quarantine=FILE`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::failure::Failure;
use super::output::{refuse_place, refuse_same_places};
use super::rows::Origin;

/// The choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum OnError {
    #[default]
    Stop,
    Skip,
    Quarantine(PathBuf),
}

impl FromStr for OnError {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            None if text == "stop" => Ok(Self::Stop),
            None if text == "skip" => Ok(Self::Skip),
            Some(("quarantine", file)) if !file.is_empty() => Ok(Self::Quarantine(file.into())),
            _ => Err("give stop, skip or quarantine=FILE"),
        }
    }
}

impl OnError {
    /// Refuses a quarantine in a file of the `inputs`, which would feed on itself, or of another output: its option and where it goes.
    pub(crate) fn check(&self, inputs: &[&Path], output: (&str, &Option<PathBuf>)) -> Result<(), Failure> {
        let Self::Quarantine(path) = self else { return Ok(()) };
        refuse_place("--on-error quarantine", path, inputs)?;
        refuse_same_places(&[output, ("--on-error quarantine", &Some(path.clone()))])
    }
}

/// The bad rows so far.
pub(crate) struct BadRows {
    choice: OnError,
    file: Option<File>,
    count: u64,
    first: Option<String>,
}

impl BadRows {
    /// Opens the file of a quarantine, behind what it holds already.
    pub(crate) fn new(choice: &OnError) -> Result<Self, Failure> {
        let file = match choice {
            OnError::Quarantine(path) => {
                let opened = OpenOptions::new().create(true).append(true).open(path);
                Some(opened.map_err(|error| {
                    Failure::because(format!("{}: cannot be written ({error}); give another file", path.display()))
                })?)
            }
            OnError::Stop | OnError::Skip => None,
        };
        Ok(Self { choice: choice.clone(), file, count: 0, first: None })
    }

    /// The same choice with nothing left out yet, for another look at the same rows; nothing is put aside twice.
    pub(crate) fn afresh(&self) -> Self {
        let choice = if self.choice == OnError::Stop { OnError::Stop } else { OnError::Skip };
        Self { choice, file: None, count: 0, first: None }
    }

    /// A row is bad, this is why, and its text is not wanted.
    ///
    /// # Errors
    /// When that ends the run.
    pub(crate) fn leave_out(&mut self, why: Failure) -> Result<(), Failure> {
        if self.choice == OnError::Stop {
            return Err(why.with("--on-error skip leaves such rows out"));
        }
        self.count += 1;
        self.first.get_or_insert_with(|| why.to_string());
        Ok(())
    }

    /// The row from there is bad, and this is why.
    ///
    /// # Errors
    /// When that ends the run, or the row cannot be put aside.
    pub(crate) fn take(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        if let (Some(file), OnError::Quarantine(path)) = (&mut self.file, &self.choice) {
            let mut line = origin.record().to_vec();
            line.push(b'\n');
            file.write_all(&line).map_err(|error| {
                Failure::because(format!("{}: cannot be written ({error}); make room for it", path.display()))
            })?;
        }
        self.leave_out(Failure::because(why))
    }

    /// A line on what was left out, if anything was.
    pub(crate) fn report(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let rows = if self.count == 1 { "row was" } else { "rows were" };
        let place = match &self.choice {
            OnError::Quarantine(path) => format!("put into {}", path.display()),
            OnError::Stop | OnError::Skip => "left out".to_owned(),
        };
        Some(format!("{} bad {rows} {place}, the first: {first}", self.count))
    }
}
