//! Files that appear whole or not at all: written beside their place, brought to the disk, and
//! renamed.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::lock::{LockError, ModelLock};

/// A file that is written beside its place and renamed when all is there.
pub struct NewFile {
    place: PathBuf,
    file: BufWriter<NamedTempFile>,
}

/// A file in its place.
pub struct PlacedFile {
    /// It keeps its lock as long as this is kept.
    pub file: File,
    /// Why a power failure may bring the old file back, if its folder could not be brought to the
    /// disk.
    pub unsynced: Option<io::Error>,
}

/// A model that was not saved; the old file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// Another process learns the model.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The file cannot be written.
    #[error("{}: cannot be written ({error}); nothing was left there", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Saves the bytes of a model: in one step, durably, and not while another process learns it.
///
/// # Errors
/// Every [`SaveError`].
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    let _lock = ModelLock::take(path)?;
    let failed = |error| SaveError::Io { path: path.to_owned(), error };
    let place = place(path).map_err(failed)?;
    clear_abandoned(&place);
    let mut file = NewFile::create(place).map_err(failed)?;
    file.write(bytes).map_err(failed)?;
    file.finish_durably().map(drop).map_err(failed)
}

/// The place of a file that is to be written: a link is followed, so that the file it names is
/// replaced and not the link.
///
/// # Errors
/// If something else than a file is there.
pub fn place(path: &Path) -> io::Result<PathBuf> {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&place).is_ok_and(|existing| !existing.is_file()) {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(place)
}

/// Removes what killed processes have left beside a place, which may take the room that is needed.
pub fn clear_abandoned(place: &Path) {
    PartialFiles::of(place).clear_abandoned();
}

impl NewFile {
    /// A file beside its [`place`].
    ///
    /// # Errors
    /// As creating any file.
    pub fn create(place: PathBuf) -> io::Result<Self> {
        let file = PartialFiles::of(&place).create()?;
        Ok(Self { place, file: BufWriter::new(file) })
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// As writing to any file.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// As writing and renaming any file; the old one is then as it was.
    pub fn finish(self) -> io::Result<()> {
        self.put(false).map(drop)
    }

    /// The same so that it is still there after a power failure: the bytes reach the disk before
    /// the name does, and the name before this returns.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_durably(self) -> io::Result<PlacedFile> {
        self.put(true)
    }

    fn put(self, durably: bool) -> io::Result<PlacedFile> {
        let Self { place, file } = self;
        let written = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        if durably {
            written.as_file().sync_all()?;
        }
        #[cfg(unix)]
        keep_owner_and_mode(&place, written.as_file());
        let file = written.persist(&place).map_err(|error| error.error)?;
        // Elsewhere a folder cannot be opened.
        let synced = if durably && cfg!(unix) {
            File::open(folder(&place)).and_then(|folder| folder.sync_all())
        } else {
            Ok(())
        };
        Ok(PlacedFile { file, unsynced: synced.err() })
    }
}

/// Gives a file the owner, the group and the mode of the one that it is about to replace, as far as
/// the user may.
#[cfg(unix)]
fn keep_owner_and_mode(path: &Path, file: &File) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let (Ok(old), Ok(new)) = (fs::metadata(path), file.metadata()) else { return };
    // Only root gives a file away, but others may give it to a group of theirs. The mode comes
    // last, since a change of owner takes some of it away.
    if old.gid() != new.gid() {
        drop(fchown(file, None, Some(old.gid())));
    }
    if old.uid() != new.uid() {
        drop(fchown(file, Some(old.uid()), None));
    }
    drop(file.set_permissions(old.permissions()));
}

/// The folder of a place.
pub fn folder(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The files beside a place that are to be put there: `.mercer-PLACE-RANDOM.partial`, where PLACE
/// is a checksum of the place's name.
///
/// Whoever writes one holds a lock on it, which ends with the process however it ends. So a file
/// without a lock was left behind by a process that was killed, or is so new that its lock is still
/// to come: its maker looks, once it has the lock, whether it is still there. (A file system that
/// knows no locks keeps such files.)
struct PartialFiles<'a> {
    /// It tells the mode, where files have one.
    #[cfg(unix)]
    place: &'a Path,
    folder: &'a Path,
    prefix: String,
}

impl<'a> PartialFiles<'a> {
    const SUFFIX: &'static str = ".partial";
    const RANDOM: usize = 6;

    fn of(place: &'a Path) -> Self {
        let name = place.file_name().unwrap_or_default().as_encoded_bytes();
        Self {
            #[cfg(unix)]
            place,
            folder: folder(place),
            prefix: format!(".mercer-{:08x}-", crc32fast::hash(name)),
        }
    }

    /// A new one, locked.
    fn create(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(&self.prefix).suffix(Self::SUFFIX).rand_bytes(Self::RANDOM);
        #[cfg(unix)]
        {
            // As for any file that a program creates, all that the user's mask allows; and never
            // more than those may do who have the file that is replaced.
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(self.place).map_or(0o666, |old| old.permissions().mode() & 0o666);
            builder.permissions(fs::Permissions::from_mode(mode | 0o200));
        }
        loop {
            let file = builder.tempfile_in(self.folder)?;
            if file.as_file().lock().is_err() || file.path().exists() {
                return Ok(file);
            }
        }
    }

    /// Removes those whose writers are gone. What cannot be removed stays; it is in nobody's way.
    fn clear_abandoned(&self) {
        let entries = fs::read_dir(self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| self.names(&entry.file_name())) {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let opened = OpenOptions::new().read(true).write(true).open(entry.path());
            if let (true, Ok(file)) = (is_file, opened)
                && file.try_lock().is_ok()
            {
                // The lock is held until the file is gone.
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn names(&self, name: &OsStr) -> bool {
        let random = name.to_str().and_then(|name| name.strip_prefix(&self.prefix)?.strip_suffix(Self::SUFFIX));
        random.is_some_and(|random| random.len() == Self::RANDOM && random.bytes().all(|c| c.is_ascii_alphanumeric()))
    }
}
