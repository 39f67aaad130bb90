//! Treatment of rows that cannot be used: `--on-error stop|skip|quarantine=FILE`.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use mercer_session::model::Own;

use crate::data::rows::Origin;
use crate::report::failure::Failure;
use crate::report::output::{refuse_place, refuse_same_places};
use mercer_session::lock::is_named;

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
    /// True if rows that cannot be read are left out, of commands that put none aside.
    pub(crate) fn skips(&self) -> Result<bool, Failure> {
        match self {
            Self::Stop => Ok(false),
            Self::Skip => Ok(true),
            Self::Quarantine(_) => Err(Failure::usage(
                "--on-error quarantine=FILE belongs to train and predict; take --on-error skip here",
            )),
        }
    }

    /// Refuses a quarantine in a file of the `inputs`, which would feed on itself, or of another
    /// output: its option and where it goes.
    pub(crate) fn check(&self, inputs: &[&Path], output: (&str, &Option<PathBuf>)) -> Result<(), Failure> {
        let Self::Quarantine(path) = self else { return Ok(()) };
        refuse_place("--on-error quarantine", path, inputs)?;
        refuse_same_places(&[output, ("--on-error quarantine", &Some(path.clone()))])
    }
}

/// Bytes of rows that wait at most.
const WAITING: usize = 1 << 20;

/// Key under which a model keeps its quarantine: the length of the file when the model was saved,
/// and its name.
const QUARANTINE: &str = "quarantine";

/// The bad rows so far.
pub(crate) struct BadRows {
    choice: OnError,
    file: Option<File>,
    /// Lines that are put aside once the model is saved that has met their rows: a run that is
    /// killed and resumed meets those again which the file of its model does not know.
    waiting: Vec<u8>,
    /// Rows that are there already and come again: of a run that was killed after it had put them
    /// aside, and before it had saved the model that has met them.
    ahead: Vec<u8>,
    count: u64,
    first: Option<String>,
}

impl BadRows {
    /// Opens the file of a quarantine, behind what it holds already.
    pub(crate) fn new(choice: &OnError) -> Result<Self, Failure> {
        let file = match choice {
            OnError::Quarantine(path) => {
                let opened = OpenOptions::new().create(true).read(true).append(true).open(path);
                let file = opened.map_err(|error| {
                    Failure::because(format!("{}: cannot be written ({error}); give another file", path.display()))
                })?;
                // In a folder of several users a link may lead to what is none of the writer's.
                if !is_named(path, &file) {
                    let path = path.display();
                    return Err(Failure::because(format!("{path}: is a link; give the file that it leads to")));
                }
                Some(file)
            }
            OnError::Stop | OnError::Skip => None,
        };
        Ok(Self { file, ..Self::with_choice(choice.clone()) })
    }

    /// The same choice with nothing left out yet, for another look at the same rows; nothing is put
    /// aside twice.
    pub(crate) fn afresh(&self) -> Self {
        let choice = if self.choice == OnError::Stop { OnError::Stop } else { OnError::Skip };
        Self::with_choice(choice)
    }

    fn with_choice(choice: OnError) -> Self {
        Self { choice, file: None, waiting: Vec::new(), ahead: Vec::new(), count: 0, first: None }
    }

    /// The same behind what a model keeps of its quarantine.
    pub(crate) fn behind(mut self, own: &Own) -> Self {
        let kept = own.iter().find(|(key, _)| key == QUARANTINE).and_then(|(_, kept)| kept.split_once(' '));
        if let (Some(file), OnError::Quarantine(path), Some((length, name))) = (&mut self.file, &self.choice, kept)
            && path.to_string_lossy() == name
            && let Ok(length) = length.parse()
        {
            let read = file.seek(SeekFrom::Start(length)).and_then(|_| file.read_to_end(&mut self.ahead));
            // What cannot be read is not known to be there.
            drop(read);
        }
        self
    }

    /// Has a model that is about to be saved keep how long the file is.
    pub(crate) fn keep(&self, own: &mut Own) {
        own.retain(|(key, _)| key != QUARANTINE);
        if let (Some(file), OnError::Quarantine(path)) = (&self.file, &self.choice)
            && let Ok(facts) = file.metadata()
            && facts.is_file()
        {
            own.push((QUARANTINE.to_owned(), format!("{} {}", facts.len(), path.to_string_lossy())));
        }
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

    /// The row from there is bad, and this is why. It waits for [`put_aside`](Self::put_aside).
    ///
    /// # Errors
    /// When that ends the run.
    pub(crate) fn take(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        if self.file.is_some() {
            self.waiting.extend_from_slice(origin.record());
            self.waiting.push(b'\n');
        }
        self.leave_out(Failure::because(why))
    }

    /// True if so many rows wait that they should be put aside.
    pub(crate) fn are_many(&self) -> bool {
        self.waiting.len() >= WAITING
    }

    /// Puts the rows that wait into their file, and brings it to the disk.
    ///
    /// # Errors
    /// When that cannot be done; what could not be written waits no longer.
    pub(crate) fn put_aside(&mut self) -> Result<(), Failure> {
        let (Some(file), OnError::Quarantine(path)) = (&mut self.file, &self.choice) else { return Ok(()) };
        let both = self.ahead.len().min(self.waiting.len());
        if self.ahead[..both] == self.waiting[..both] {
            self.ahead.drain(..both);
            self.waiting.drain(..both);
        } else {
            self.ahead.clear();
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let written = file.write_all(&self.waiting);
        self.waiting.clear();
        written.map_err(|error| {
            Failure::because(format!("{}: cannot be written ({error}); make room for it", path.display()))
        })?;
        // What is no file, such as a pipe, has no disk.
        drop(file.sync_data());
        Ok(())
    }

    /// A line on what was left out, if anything was.
    pub(crate) fn report(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match &self.choice {
            OnError::Quarantine(path) => told(self.count, &format!("put into {}", path.display()), first),
            OnError::Stop | OnError::Skip => left_out(self.count, first),
        })
    }
}

/// The line on so many rows that were left out.
pub(crate) fn left_out(count: u64, first: &str) -> String {
    told(count, "left out", first)
}

fn told(count: u64, place: &str, first: &str) -> String {
    let rows = if count == 1 { "row was" } else { "rows were" };
    format!("{count} bad {rows} {place}, the first: {first}")
}
