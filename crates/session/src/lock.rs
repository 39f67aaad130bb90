//! One writer at a time for a model file: an advisory lock of the operating system, held from
//! before the model is read until the command ends.
//!
//! The lock is on a file of its own beside the model, `.mercer-NAME.lock`, where NAME is a checksum
//! of the model's name. A lock on the model alone would be lost: every save renames another file to
//! its place, and whoever opened the old file would hold the lock of a file without a name. A new
//! model has no file to lock at all. The model that is read is locked, too, and so is each that is
//! written, since a hard link gives it another name. Readers take no lock: a rename shows them the
//! old model or the new one, whole.
//!
//! The holder removes the lock file when it ends, while it still has the lock. So a file that was
//! opened and locked may have lost its name in between; whoever takes the lock looks whether the
//! name still leads to what it has locked, and begins anew if not. Two processes that both found
//! the name would hold the lock of the same file, which the operating system does not grant. A
//! killed process leaves the file behind, but not the lock, and the next writer takes it over.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Times that a lock file may vanish between opening and locking: each is another writer that has
/// just ended.
const TRIES: usize = 1000;

/// The right to write a model file, until this is dropped.
#[must_use]
pub struct ModelLock {
    /// None where locks cannot be had.
    held: Option<(PathBuf, File)>,
    /// The file that was there when the lock was taken.
    _model: Option<File>,
    /// Why nothing keeps another process out, if so.
    unlocked: Option<io::Error>,
}

/// A lock that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{}: {} is learning this model and would write over what is learnt here; wait until it has ended", path.display(), holder.map_or("another process".to_owned(), |id| format!("process {id}")))]
    Taken {
        /// The model.
        path: PathBuf,
        /// The process, if it is known.
        holder: Option<u32>,
    },
    /// Its file cannot be opened.
    #[error("{}: its lock {} cannot be opened ({error}); remove that file if no other process learns this model", path.display(), lock.display())]
    Unopened {
        /// The model.
        path: PathBuf,
        /// The file of the lock.
        lock: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Other writers come and go.
    #[error("{}: its lock {} changes all the time; try again", path.display(), lock.display())]
    Restless {
        /// The model.
        path: PathBuf,
        /// The file of the lock.
        lock: PathBuf,
    },
}

impl ModelLock {
    /// Takes the lock of the model that `path` names, or will name.
    ///
    /// # Errors
    /// At once, when another process holds it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let lock = lock_path(path);
        for _ in 0..TRIES {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&lock);
            let file = match opened {
                Ok(file) => file,
                // Where nothing can be written the model cannot be written either, which is said in
                // its own words later.
                Err(_) if fs::symlink_metadata(&lock).is_err() => return Ok(Self::none(None)),
                Err(error) => {
                    return Err(LockError::Unopened { path: path.to_owned(), lock, error });
                }
            };
            match file.try_lock() {
                Ok(()) if is_named(&lock, &file) => {
                    write_holder(&file);
                    let mut taking = Self::none(None);
                    taking.held = Some((lock, file));
                    taking._model = lock_model(path)?;
                    return Ok(taking);
                }
                // Its holder has just removed it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(taken(path, Some(file))),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // A file system that knows no locks: the model is written as it always was. The
                // file may be another's, so it stays.
                Err(TryLockError::Error(error)) => return Ok(Self::none(Some(error))),
            }
        }
        Err(LockError::Restless { path: path.to_owned(), lock })
    }

    fn none(unlocked: Option<io::Error>) -> Self {
        Self { held: None, _model: None, unlocked }
    }

    /// Why nothing keeps another process from writing over the model, if the file system knows no
    /// locks.
    #[must_use]
    pub fn unlocked(&self) -> Option<&io::Error> {
        self.unlocked.as_ref()
    }
}

impl Drop for ModelLock {
    fn drop(&mut self) {
        let Some((path, _locked)) = &self.held else { return };
        // Elsewhere than on Unix the name of an open file may live on after its removal, so it
        // stays.
        if cfg!(unix) {
            drop(fs::remove_file(path));
        }
    }
}

/// Locks the model itself, if it is there.
#[cfg(unix)]
fn lock_model(path: &Path) -> Result<Option<File>, LockError> {
    // What is no file, such as a pipe, must not be waited for; what cannot be read is refused later
    // in better words.
    let Some(file) = fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| File::open(path).ok()) else {
        return Ok(None);
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(taken(path, None)),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

/// A lock would keep readers out here.
#[cfg(not(unix))]
fn lock_model(_path: &Path) -> Result<Option<File>, LockError> {
    Ok(None)
}

/// Beside the file that a link leads to, so that all names of one model have one lock.
fn lock_path(path: &Path) -> PathBuf {
    let place = path.canonicalize().or_else(|_| {
        // A model to come: its folder is there.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.canonicalize().map(|folder| folder.join(path.file_name().unwrap_or_default()))
    });
    let place = place.unwrap_or_else(|_| path.to_owned());
    let name = place.file_name().unwrap_or_default().as_encoded_bytes();
    place.with_file_name(format!(".mercer-{:08x}.lock", crc32fast::hash(name)))
}

/// Whether the path, if it is no link, leads to the open file.
#[cfg(unix)]
pub fn is_named(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(named), Ok(open)) => (named.dev(), named.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

/// Lock files are not removed here, and links are rare.
#[cfg(not(unix))]
pub fn is_named(_path: &Path, _file: &File) -> bool {
    true
}

/// Who has the lock, for the message to others; a lock is as good without.
fn write_holder(mut file: &File) {
    let told = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    drop(told);
}

/// The lock file, if it is that which is locked, tells who holds it.
fn taken(path: &Path, file: Option<File>) -> LockError {
    let mut holder = String::new();
    // A number of at most ten digits; less if it is just being written.
    let read = file.is_some_and(|file| file.take(10).read_to_string(&mut holder).is_ok());
    LockError::Taken { path: path.to_owned(), holder: holder.parse().ok().filter(|_| read) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_holder_at_a_time_and_nothing_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (model, link) = (folder.path().join("m.mercer"), folder.path().join("link.mercer"));
        let first = ModelLock::take(&model).unwrap();
        let refused = ModelLock::take(&model).err().unwrap().to_string();
        let id = std::process::id();
        assert!(refused.contains(&format!("m.mercer: process {id} is learning")), "{refused}");
        // A save puts another file into the model's place.
        fs::write(folder.path().join("aside"), "new").unwrap();
        fs::rename(folder.path().join("aside"), &model).unwrap();
        assert!(ModelLock::take(&model).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&model, &link).unwrap();
            assert!(ModelLock::take(&link).is_err());
            fs::remove_file(&link).unwrap();
        }
        drop(first);
        // Another name of the same file is no other model.
        #[cfg(unix)]
        {
            let first = ModelLock::take(&model).unwrap();
            fs::hard_link(&model, &link).unwrap();
            let refused = ModelLock::take(&link).err().unwrap().to_string();
            assert!(refused.contains("link.mercer: another process is learning"), "{refused}");
            fs::remove_file(&link).unwrap();
            drop(first);
        }
        #[cfg(unix)]
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // What a killed process leaves is taken over.
        fs::write(lock_path(&model), "99999999").unwrap();
        drop(ModelLock::take(&model).unwrap());
    }

    /// Locks taken and given up by several threads at once: the file's name vanishes between
    /// another's opening and locking.
    #[test]
    fn holders_never_overlap() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.mercer");
        let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Ok(lock) = ModelLock::take(&model) {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }
}
