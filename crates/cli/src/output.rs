//! What the command writes: stdout, and files, which appear whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

pub(crate) use mercer_session::notes::{digits, number};

use super::failure::Failure;

/// Writes on stdout; a reader that has gone away wants no more, which is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_on(text).map(|_| ())
}

/// The same for what more may follow: whether there still is a reader. Nothing waits in a buffer
/// afterwards.
pub(crate) fn print_on(text: &str) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::because(format!(
            "standard output cannot be written ({error}); check what it is redirected to"
        ))),
    }
}

/// One file cannot hold two results: options with the places that they name.
pub(crate) fn refuse_same_places(wanted: &[(&str, &Option<PathBuf>)]) -> Result<(), Failure> {
    for (i, (option, path)) in wanted.iter().enumerate() {
        let Some(path) = path else { continue };
        let taken = |(_, before): &&(&str, &Option<PathBuf>)| before.as_ref().is_some_and(|one| same_file(one, path));
        if let Some((other, _)) = wanted[..i].iter().find(taken) {
            return Err(Failure::usage(format!("{other} and {option} name the same file; give each its own")));
        }
    }
    Ok(())
}

/// Refuses a place that an `option` names where it cannot mean what it says: `-`, which is no file,
/// and what is among the `inputs`, which are read and must not be written over.
pub(crate) fn refuse_place(option: &str, path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::usage(format!(
            "{option} cannot be standard output; give it a file (./- for one whose name is -)"
        )));
    }
    if is_read(path, inputs) {
        return Err(Failure::because(format!("{}: is a file that is read; give another {option}", path.display())));
    }
    Ok(())
}

/// Whether a file is among the `inputs`.
pub(crate) fn is_read(path: &Path, inputs: &[&Path]) -> bool {
    // Standard input may be a file, too.
    let file = |input| if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
    inputs.iter().any(|input| same_file(path, file(input)))
}

/// Whether two paths name one file: there is one, or there would be.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        #[cfg(unix)]
        (Ok(one), Ok(other)) => {
            use std::os::unix::fs::MetadataExt;
            // A device or a pipe takes in what comes from several.
            one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
        }
        #[cfg(not(unix))]
        (Ok(_), Ok(_)) => one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other)),
        (Err(_), Err(_)) => {
            let whole = |path: &Path| Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
            whole(one).is_some_and(|one| whole(other) == Some(one))
        }
        _ => false,
    }
}

/// A file that is written beside its place and renamed when all is there.
pub(crate) struct Aside {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

/// A file of predictions.
pub(crate) type Predictions = Aside;

impl Aside {
    /// A file of predictions; `inputs` are read, and must not be written over; `header` is the
    /// first line.
    pub(crate) fn create(path: &Path, inputs: &[&Path], header: &str) -> Result<Self, Failure> {
        Self::create_for("--predictions", path, inputs, header)
    }

    /// The same for what another `option` asks to be written. What killed runs left of it is
    /// cleared away first, for it may take the room that is needed.
    pub(crate) fn create_for(option: &str, path: &Path, inputs: &[&Path], header: &str) -> Result<Self, Failure> {
        let place = place(option, path, inputs)?;
        PartialFiles::of(&place).clear_abandoned();
        let mut aside = Self::begin(option, place)?;
        aside.write(header)?;
        Ok(aside)
    }

    /// The same for what a run writes again and again, and has created before.
    pub(crate) fn create_again(option: &str, path: &Path) -> Result<Self, Failure> {
        Self::begin(option, place(option, path, &[])?)
    }

    fn begin(option: &str, place: PathBuf) -> Result<Self, Failure> {
        let file = PartialFiles::of(&place).create().map_err(|error| {
            let reason = error.to_string();
            let reason = reason.split(" at path").next().unwrap_or(&reason);
            let folder = folder(&place).display();
            let mend = match error.kind() {
                io::ErrorKind::NotFound => format!("make the folder {folder}, or "),
                io::ErrorKind::PermissionDenied => format!("get the right to write in the folder {folder}, or "),
                _ => String::new(),
            };
            Failure::because(format!("{}: cannot be written ({reason}); {mend}give another {option}", place.display()))
        })?;
        Ok(Self { path: place, file: BufWriter::new(file) })
    }

    /// A line, or several, with their ends.
    pub(crate) fn write(&mut self, lines: &str) -> Result<(), Failure> {
        self.write_bytes(lines.as_bytes())
    }

    /// Bytes as they are.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| failed(&self.path, &error))
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.put(false).map(drop)
    }

    /// The same so that it is still there after a power failure: the bytes reach the disk before
    /// the name does, and the name before this returns. The file keeps its lock as long as what is
    /// returned is kept.
    pub(crate) fn finish_durably(self) -> Result<fs::File, Failure> {
        self.put(true)
    }

    fn put(self, durably: bool) -> Result<fs::File, Failure> {
        let Self { path, file, .. } = self;
        let written = file.into_inner().map_err(|error| failed(&path, error.error()))?;
        if durably {
            written.as_file().sync_all().map_err(|error| failed(&path, &error))?;
        }
        #[cfg(unix)]
        keep_owner_and_mode(&path, written.as_file());
        let file = written.persist(&path).map_err(|error| failed(&path, &error.error))?;
        #[cfg(unix)]
        if durably {
            let folder = folder(&path);
            // The file is in its place all the same.
            if let Err(error) = fs::File::open(folder).and_then(|folder| folder.sync_all()) {
                super::verbosity::remark(format!(
                    "{}: the folder could not be synchronised to the disk ({error}), so a power failure may bring the old file back",
                    folder.display()
                ));
            }
        }
        Ok(file)
    }
}

/// Gives a file the owner, the group and the mode of the one that it is about to replace, as far as
/// the user may.
#[cfg(unix)]
fn keep_owner_and_mode(path: &Path, file: &fs::File) {
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

/// Where the file of an `option` is put, if it can be; `inputs` are read, and must not be written
/// over.
fn place(option: &str, path: &Path, inputs: &[&Path]) -> Result<PathBuf, Failure> {
    refuse_place(option, path, inputs)?;
    // A link is followed, so that the file it names is replaced and not the link.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&place).is_ok_and(|existing| !existing.is_file()) {
        return Err(Failure::because(format!(
            "{}: is not a file, so nothing can be written to it; give another {option}",
            path.display()
        )));
    }
    Ok(place)
}

fn folder(place: &Path) -> &Path {
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

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("{}: cannot be written ({error}); nothing was left there", path.display()))
}
