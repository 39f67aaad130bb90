//! The journal in a file, locked for this process.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mercer_serve::{Journal, Model, Reason, Row, Standing};
use mercer_session::file::folder;

use super::Place;
use super::frames::{self, NoJournal, Rest};
use super::row_log::{Medium, Misfit, Phase, Replayed, RowLog};
use crate::report::failure::Failure;
use crate::report::verbosity;

/// When written rows are brought to the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::serve) enum JournalSync {
    /// Before their request is answered.
    Row,
    /// After so long at most; a loss of power may take what came since.
    Time(Duration),
}

impl JournalSync {
    pub(in crate::serve) fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "row" => Ok(Self::Row),
            other => {
                crate::serve::time(other).map(Self::Time).map_err(|_| "give row, or a number with its unit, such as 1s")
            }
        }
    }
}

/// The open file.
pub(in crate::serve) struct JournalFile {
    path: PathBuf,
    number: FileNumber,
    log: RowLog<File>,
    sync: JournalSync,
    /// Since when the disk may not have all.
    unsynced: Option<Instant>,
}

/// A model that learns what a killed service had accepted.
struct Anew<'a> {
    model: &'a mut dyn Model,
    shape: (usize, usize),
}

impl Replayed for Anew<'_> {
    fn place(&self) -> Place {
        Place::of(self.model.standing())
    }

    fn learn(&mut self, row: &Row) -> Result<(), String> {
        let (columns, targets) = self.shape;
        if (row.values.len(), row.targets.len()) != self.shape {
            return Err(format!(
                "it has {} values and {} targets, and a row of the model has {columns} and {targets}",
                row.values.len(),
                row.targets.len()
            ));
        }
        self.model.learn(row).map(drop).map_err(|why| why.to_string())
    }
}

impl Medium for File {
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn shorten(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl JournalFile {
    /// Opens the journal, or begins one, and has the model learn the rows that it has not met yet;
    /// how many they were. A tail that is torn is kept beside the journal.
    ///
    /// # Errors
    /// If it cannot be opened, another process has it, it is something else, of another model, or
    /// damaged. The file is then as it was.
    pub(in crate::serve) fn open(
        path: &Path,
        sync: JournalSync,
        model: &mut dyn Model,
    ) -> Result<(Self, u64), Failure> {
        let (file, number, bytes) = Self::whole(path)?;
        let contents = frames::read(&bytes).map_err(|why| no_journal(path, &why))?;
        if contents.rest == Rest::Damaged {
            return Err(damaged(path, &bytes, contents.end));
        }
        let torn = (contents.rest == Rest::Torn).then(|| &bytes[contents.end..]);
        let mut log = RowLog::new(file, contents).map_err(|error| failed(path, &error))?;
        let schema = model.schema();
        let mut anew = Anew { model, shape: (schema.columns.len(), schema.targets.len()) };
        let replayed = log.replay(&mut anew, &|| torn.map_or(Ok(()), |tail| keep_torn(path, tail)));
        let (learnt, refused) = replayed.map_err(|why| misfit(path, &why, anew.model.standing().met))?;
        if refused > 0 {
            verbosity::remark(format!("{}: its last row is refused again, as it was before", path.display()));
        }
        Ok((Self { path: path.to_owned(), number, log, sync, unsynced: None }, learnt))
    }

    /// True if the saved model may lack rows that are in the file.
    pub(in crate::serve) fn is_unsaved(&self) -> bool {
        self.log.phase() == Phase::Unsaved
    }

    /// The file, which one it is, and its bytes.
    fn whole(path: &Path) -> Result<(File, FileNumber, Vec<u8>), Failure> {
        if fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
            return Err(refused(path, "is not a file"));
        }
        let new = !path.exists();
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(|error| refused(path, &format!("cannot be opened ({error})")))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(refused(path, "is the journal of another process"));
        }
        if new {
            // A loss of power must not take the name of a file that has rows. A folder that cannot
            // be synchronised was told of when the model was saved there.
            drop(File::open(folder(path)).and_then(|folder| folder.sync_all()));
        }
        let unreadable = |error| failed(path, &error);
        let number = number(&file.metadata().map_err(unreadable)?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok((file, number, bytes))
    }

    /// Whether the next start will find the file. One that was removed is begun anew, as soon as it
    /// has no rows.
    fn find(&mut self) -> Result<(), Reason> {
        let place = self.path.display();
        match fs::metadata(&self.path) {
            Ok(facts) if number(&facts) == self.number => Ok(()),
            Ok(_) => Err(format!("{place}: another file was put there, which is left alone; move it away").into()),
            Err(_) if self.log.phase() == Phase::Unsaved => {
                Err(format!("{place}: was removed, and is begun anew once the model is saved").into())
            }
            Err(_) => {
                let (file, number, _) = Self::whole(&self.path).map_err(|failure| failure.to_string())?;
                self.log = RowLog::new(file, frames::Contents::default())?;
                (self.number, self.unsynced) = (number, None);
                Ok(())
            }
        }
    }

    fn told(&self, why: impl std::fmt::Display) -> Reason {
        format!("{}: the journal cannot be kept ({why})", self.path.display()).into()
    }
}

impl Journal for JournalFile {
    fn append(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason> {
        self.find()?;
        let durably = self.sync == JournalSync::Row;
        self.log.accept(rows, Place::of(standing), durably).map_err(|why| self.told(why))?;
        if !durably {
            self.unsynced.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    fn save(&mut self, standing: Standing, save: &mut dyn FnMut() -> Result<(), Reason>) -> Result<(), Reason> {
        self.log.save(Place::of(standing), save)
    }

    fn sync(&mut self) -> Result<(), Reason> {
        self.log.forget().map_err(|why| self.told(why))?;
        if self.log.phase() == Phase::Empty {
            self.unsynced = None;
        }
        let (JournalSync::Time(most), Some(since)) = (self.sync, self.unsynced) else { return Ok(()) };
        if since.elapsed() >= most {
            self.unsynced = None;
            self.log.medium.sync().map_err(|why| self.told(why))?;
        }
        Ok(())
    }

    fn size(&self) -> [u64; 2] {
        self.log.size()
    }

    fn takes_rows(&mut self, bytes: usize) -> bool {
        self.find().is_ok() && self.log.has_room(bytes)
    }
}

/// Keeps the bytes of a tail that is cut off, in a file of its own.
fn keep_torn(path: &Path, tail: &[u8]) -> io::Result<()> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_os_string();
        name.push(if number == 1 { ".torn".to_owned() } else { format!(".torn-{number}") });
        PathBuf::from(name)
    };
    for number in 1.. {
        match OpenOptions::new().write(true).create_new(true).open(name(number)) {
            Ok(mut file) => {
                file.write_all(tail)?;
                file.sync_all()?;
                verbosity::remark(format!(
                    "{}: its last {} bytes are of rows that were not written whole, and so not accepted; they are kept in {}",
                    path.display(),
                    tail.len(),
                    name(number).display()
                ));
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(super) fn no_journal(path: &Path, why: &NoJournal) -> Failure {
    match why {
        NoJournal::Other => refused(path, "is there already and is no journal"),
        NoJournal::Before => Failure::because(format!(
            "{}: is a journal of an earlier version; have that version start once, which saves its rows, or move it away",
            path.display()
        )),
    }
}

fn damaged(path: &Path, bytes: &[u8], end: usize) -> Failure {
    let rows: usize = frames::behind(bytes, end).iter().map(|frame| frame.rows.len()).sum();
    let file = path.display();
    Failure::because(format!(
        "{file}: is damaged at byte {end}, and {rows} rows can be read behind that; it is left as it is. mercer journal rescue \
         {file} prints its rows; move it away then, and start without it"
    ))
}

fn misfit(path: &Path, why: &Misfit, met: u64) -> Failure {
    let file = path.display();
    let what = match why {
        Misfit::Medium(error) => return failed(path, error),
        Misfit::Row { at, why } => {
            return Failure::because(format!(
                "{file}: row {at} was accepted, and the model refuses it now ({why}); start the version that wrote the journal, or \
                 have mercer journal rescue print its rows"
            ));
        }
        Misfit::Behind { first } => {
            format!(
                "its rows follow row {first}, and the model has met {met} rows: it is an older copy, or another model"
            )
        }
        Misfit::Beyond { last } => {
            format!(
                "its rows end at row {last}, and the model has met {met} rows: it has learnt elsewhere, or is another model"
            )
        }
        Misfit::Other => format!("it is of another model than this one, which has met {met} other rows"),
    };
    Failure::because(format!("{file}: {what}; give the model that it belongs to, or move it away"))
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::because(format!("{}: {why}; give another --journal", path.display()))
}

pub(super) fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("{}: the journal cannot be kept ({error})", path.display()))
}

/// The numbers of a device and of a file on it.
pub(in crate::serve) type FileNumber = (u64, u64);

/// Which file it is, where the system numbers files.
pub(in crate::serve) fn number(facts: &Metadata) -> FileNumber {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (facts.dev(), facts.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = facts;
        (0, 0)
    }
}
