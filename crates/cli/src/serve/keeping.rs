//! Where a service keeps what was learnt: the file of the model, a folder for when that refuses,
//! and a journal.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use mercer_serve::{Journal, Keeping, Model, Reason, Replica, Snapshot};

use super::journal::{JournalFile, JournalSync, number};
use super::shadowed::Challenger;
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// What is told of the journal.
#[derive(Args, Clone)]
pub(super) struct JournalArguments {
    /// Write every accepted row to this file before it is learnt, until the model is saved; a
    /// service that was killed learns anew what is in it
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    journal: Option<PathBuf>,
    /// When the journal is brought to the disk: `row` before each request to learn is answered, or
    /// after a time. A kill takes nothing in either case, a loss of power what came since
    #[arg(long, value_name = "row|TIME", default_value = "1s", value_parser = JournalSync::parse, requires = "journal")]
    journal_sync: JournalSync,
}

impl JournalArguments {
    /// The journal, to be told from other places.
    pub(super) fn place(&self) -> Option<PathBuf> {
        self.journal.clone()
    }

    /// The same of a group, whose journal is in this file if there is to be one.
    pub(super) fn of_group(&self, file: &Path) -> Self {
        Self { journal: self.journal.as_ref().map(|_| file.to_owned()), ..*self }
    }
}

/// The place of a model in a folder for when its own refuses.
pub(super) fn rescued(file: &Path, folder: &Path) -> PathBuf {
    folder.join(file.file_name().unwrap_or_default())
}

/// The place of the copy of a model.
pub(super) fn snapshot_of(model: &Path) -> PathBuf {
    let mut file = model.as_os_str().to_os_string();
    file.push(".snapshot");
    file.into()
}

/// Where the model is saved.
pub(super) struct ModelPlace {
    file: PathBuf,
    /// What was there when this process last read or wrote it.
    kept: Option<Identity>,
    /// Where it is saved if it cannot be saved there.
    rescue: Option<PathBuf>,
    /// The file that was written last, which stays locked.
    saved: Option<store::SavedModel>,
}

impl ModelPlace {
    /// The place of the model in a file, as it is now.
    ///
    /// # Errors
    /// If the other place cannot be written, or has a file already, which would be lost.
    pub(super) fn of(file: &Path, rescue: Option<&Path>) -> Result<Self, Failure> {
        let rescue = rescue.map(|folder| rescued(file, folder));
        if let Some(rescue) = &rescue {
            if rescue.exists() {
                return Err(Failure::because(format!(
                    "{}: is there already, and may be what an earlier service could not save elsewhere; move it away, or give \
                     another --rescue",
                    rescue.display()
                )));
            }
            store::check_place("--rescue", rescue)?;
        }
        Ok(Self { file: file.to_owned(), kept: Identity::of(file), rescue, saved: None })
    }

    /// Saves the model here or, if that fails, in the other place. The error then tells so: the
    /// file that the next service will read has not what was learnt.
    fn save(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        let copy = self.rescue.as_ref().map(|_| bytes.clone());
        let Err(why) = self.save_here(bytes) else { return Ok(()) };
        let (Some(rescue), Some(bytes)) = (&self.rescue, copy) else { return Err(why) };
        let told = match store::save("--rescue", rescue, Ok(bytes)) {
            Ok(saved) => {
                self.saved = Some(saved);
                format!("{why}; it is saved in {}", rescue.display())
            }
            Err(failure) => format!("{why}; {failure}"),
        };
        Err(told.into())
    }

    fn save_here(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        if self.file.exists() && !self.kept.as_ref().is_some_and(|kept| kept.is_in(&self.file)) {
            let place = self.file.display();
            return Err(format!("{place}: another file was put there, which is left alone; move it away, and the model is saved there again").into());
        }
        let sum = crc32fast::hash(&bytes);
        let saved = store::save("--model", &self.file, Ok(bytes)).map_err(|failure| failure.to_string())?;
        self.saved = Some(saved);
        self.kept = Identity::with(&self.file, sum);
        Ok(())
    }
}

/// Opens the journal, has the model learn what a killed service had accepted, and saves it: so it
/// is known from the start whether it can be, and the journal is shortened only then. A model that
/// has learnt nothing is saved with the bytes of its file, and one that is not to be written is
/// not.
///
/// # Errors
/// If the journal cannot be kept, or belongs to another model.
pub(super) fn begin(
    mut place: ModelPlace,
    arguments: &JournalArguments,
    model: &mut dyn Model,
    challenger: Option<Challenger>,
    read_only: bool,
) -> Result<Keeping, Failure> {
    let opened = arguments.journal.as_deref().map(|path| JournalFile::open(path, arguments.journal_sync, model));
    let (mut journal, learnt) = opened.transpose()?.unzip();
    if let Some(learnt @ 1..) = learnt {
        verbosity::remark(format!("{learnt} rows of the journal were learnt, which the model had not been saved with"));
    }
    let same = learnt.is_none_or(|learnt| learnt == 0).then(|| std::fs::read(&place.file).ok()).flatten();
    let mut save_all = move |bytes: Vec<u8>| {
        place.save(bytes)?;
        challenger.iter().for_each(Challenger::save);
        Ok(())
    };
    let mut save = || save_all(same.clone().map_or_else(|| model.to_bytes(), Ok)?);
    let saved = match &mut journal {
        Some(journal) => Journal::save(journal, model.standing(), &mut save).and_then(|()| journal.sync()),
        None if read_only => Ok(()),
        None => save(),
    };
    if let Err(why) = &saved {
        let rows =
            if journal.as_ref().is_some_and(JournalFile::is_unsaved) { "; the journal keeps its rows" } else { "" };
        verbosity::say(format!("{why}{rows}"));
    }
    Ok(Keeping {
        snapshot: None,
        replica: None,
        groups: None,
        access_log: None,
        unsaved: saved.is_err(),
        save: Box::new(save_all),
        journal: journal.map(|journal| Box::new(journal) as Box<dyn Journal>),
    })
}

/// The file of a service that only reads it.
pub(super) struct ReadFile<L> {
    file: PathBuf,
    /// The file as it was when it was read last.
    read: Option<FileFacts>,
    load: L,
}

/// What changes when another file is put in a place, or this one is written.
type FileFacts = ((u64, u64), u64, Option<SystemTime>);

fn facts(path: &Path) -> Option<FileFacts> {
    let facts = std::fs::metadata(path).ok()?;
    Some((number(&facts), facts.len(), facts.modified().ok()))
}

impl<L> ReadFile<L> {
    pub(super) fn of(file: &Path, load: L) -> Self {
        Self { file: file.to_owned(), read: facts(file), load }
    }
}

impl<L: FnMut(&Path) -> Result<Box<dyn Model>, Failure> + Send> Replica for ReadFile<L> {
    fn has_changed(&mut self) -> bool {
        // A file that is gone for a moment may come back.
        facts(&self.file).is_some_and(|now| Some(now) != self.read)
    }

    fn model(&mut self) -> Result<Box<dyn Model>, Reason> {
        self.read = facts(&self.file);
        (self.load)(&self.file).map_err(|failure| failure.to_string().into())
    }
}

/// The end of a log, which may be there already.
///
/// # Errors
/// If it cannot be written.
pub(super) fn access_log(path: &Path) -> Result<Box<dyn io::Write + Send>, Failure> {
    match OpenOptions::new().append(true).create(true).open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => {
            Err(Failure::because(format!("{}: cannot be written ({error}); give another --access-log", path.display())))
        }
    }
}

/// The copy of the model to go back to, in a file beside it.
pub(super) struct Copy<L> {
    file: PathBuf,
    load: L,
}

impl<L> Copy<L> {
    pub(super) fn of(model: &Path, load: L) -> Self {
        Self { file: snapshot_of(model), load }
    }
}

impl<L: FnMut(&Path) -> Result<Box<dyn Model>, Failure> + Send> Snapshot for Copy<L> {
    fn keep(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        store::check_place("--model", &self.file).map_err(|failure| failure.to_string())?;
        store::save("--model", &self.file, Ok(bytes)).map_err(|failure| failure.to_string())?;
        Ok(())
    }

    fn model(&mut self) -> Result<Box<dyn Model>, Reason> {
        (self.load)(&self.file).map_err(|failure| failure.to_string().into())
    }
}

/// The file that this process read or wrote last in a place. It is the same file as long as it has
/// the same bytes: `touch` and a copy with another time do not make it another.
struct Identity {
    file: (u64, u64),
    length: u64,
    written: Option<SystemTime>,
    sum: u32,
}

impl Identity {
    /// None if there is no file that can be read.
    fn of(path: &Path) -> Option<Self> {
        Self::with(path, crc32fast::hash(&std::fs::read(path).ok()?))
    }

    /// The same of a file whose checksum is known.
    fn with(path: &Path, sum: u32) -> Option<Self> {
        let facts = std::fs::metadata(path).ok()?;
        Some(Self { file: number(&facts), length: facts.len(), written: facts.modified().ok(), sum })
    }

    /// True if the file is still in its place.
    fn is_in(&self, path: &Path) -> bool {
        let Ok(facts) = std::fs::metadata(path) else { return false };
        let same = |facts: &std::fs::Metadata| (number(facts), facts.modified().ok()) == (self.file, self.written);
        facts.len() == self.length
            && (same(&facts) || std::fs::read(path).is_ok_and(|bytes| crc32fast::hash(&bytes) == self.sum))
    }
}
