//! What the command writes: stdout, and files, which appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mercer_readers::Format;
use mercer_session::file::{self, NewFile, PlacedFile, clear_abandoned, folder};
pub(crate) use mercer_session::notes::{digits, number};

use crate::report::failure::Failure;

/// The name of a choice as it is typed.
pub(crate) fn typed(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

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

/// Refuses a name that tells another format than those which an `option` writes: whoever reads the
/// file by its name would find something else in it.
pub(crate) fn refuse_format(option: &str, path: &Path, written: &[&str]) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase).unwrap_or_default();
    let is_other = Format::from_path(path).is_some() || OTHERS.contains(&ending.as_str());
    if !is_other || written.contains(&ending.as_str()) {
        return Ok(());
    }
    let written: Vec<String> = written.iter().map(|ending| format!(".{ending}")).collect();
    Err(Failure::usage(format!(
        "{}: {option} does not write {ending}; give it a name that ends in {}",
        path.display(),
        written.join(", ")
    )))
}

/// Endings of files that nothing here writes, and no reader takes.
const OTHERS: [&str; 12] = ["gz", "zst", "zip", "bz2", "xz", "pdf", "html", "xml", "h5", "hdf5", "npy", "sqlite"];

/// Whether a file is among the `inputs`.
pub(crate) fn is_read(path: &Path, inputs: &[&Path]) -> bool {
    // Standard input may be a file, too.
    let file = |input| if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
    inputs.iter().any(|input| same_file(path, file(input)))
}

/// Whether two paths name one file: there is one, or there would be.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    FileKey::of(one).is_some_and(|one| FileKey::of(other) == Some(one))
}

/// What two names of one file have in common.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum FileKey {
    #[cfg(unix)]
    Node { device: u64, number: u64 },
    /// The whole path of a file, there or not.
    Place(PathBuf),
}

impl FileKey {
    /// That of a file which is there, or would be; `None` of what is none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            #[cfg(unix)]
            Ok(about) => {
                use std::os::unix::fs::MetadataExt;
                // A device or a pipe takes in what comes from several.
                about.is_file().then(|| Self::Node { device: about.dev(), number: about.ino() })
            }
            #[cfg(not(unix))]
            Ok(_) => path.canonicalize().ok().map(Self::Place),
            Err(_) => Some(Self::Place(folder(path).canonicalize().ok()?.join(path.file_name()?))),
        }
    }
}

/// A file that is written beside its place and renamed when all is there, with what is said if it
/// cannot be.
pub(crate) struct Aside {
    path: PathBuf,
    file: NewFile,
}

/// A file of predictions.
pub(crate) type Predictions = Aside;

impl Aside {
    /// A file of predictions; `inputs` are read, and must not be written over; `header` is the
    /// first line.
    pub(crate) fn create(path: &Path, inputs: &[&Path], header: &str) -> Result<Self, Failure> {
        Self::create_table("--predictions", path, inputs, header)
    }

    /// The same for any CSV that an `option` asks for.
    pub(crate) fn create_table(option: &str, path: &Path, inputs: &[&Path], header: &str) -> Result<Self, Failure> {
        refuse_format(option, path, &["csv"])?;
        Self::create_for(option, path, inputs, header)
    }

    /// The same for what another `option` asks to be written. What killed runs left of it is
    /// cleared away first, for it may take the room that is needed.
    pub(crate) fn create_for(option: &str, path: &Path, inputs: &[&Path], header: &str) -> Result<Self, Failure> {
        let place = place(option, path, inputs)?;
        clear_abandoned(&place);
        let mut aside = Self::begin(option, place)?;
        aside.write(header)?;
        Ok(aside)
    }

    /// The same for what a run writes again and again, and has created before.
    pub(crate) fn create_again(option: &str, path: &Path) -> Result<Self, Failure> {
        Self::begin(option, place(option, path, &[])?)
    }

    fn begin(option: &str, path: PathBuf) -> Result<Self, Failure> {
        let file = NewFile::create(path.clone()).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.split(" at path").next().unwrap_or(&reason);
            let folder = folder(&path).display();
            let mend = match error.kind() {
                io::ErrorKind::NotFound => format!("make the folder {folder}, or "),
                io::ErrorKind::PermissionDenied => format!("get the right to write in the folder {folder}, or "),
                _ => String::new(),
            };
            Failure::because(format!("{}: cannot be written ({reason}); {mend}give another {option}", path.display()))
        })?;
        Ok(Self { path, file })
    }

    /// A line, or several, with their ends.
    pub(crate) fn write(&mut self, lines: &str) -> Result<(), Failure> {
        self.write_bytes(lines.as_bytes())
    }

    /// Bytes as they are.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write(bytes).map_err(|error| failed(&self.path, &error))
    }

    /// Puts the file in its place.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { path, file } = self;
        file.finish().map_err(|error| failed(&path, &error))
    }

    /// The same so that it is still there after a power failure. The file keeps its lock as long as
    /// what is returned is kept.
    pub(crate) fn finish_durably(self) -> Result<fs::File, Failure> {
        let Self { path, file } = self;
        let PlacedFile { file, unsynced } = file.finish_durably().map_err(|error| failed(&path, &error))?;
        // The file is in its place all the same.
        if let Some(error) = unsynced {
            crate::report::verbosity::remark(format!(
                "{}: the folder could not be synchronised to the disk ({error}), so a power failure may bring the old file back",
                folder(&path).display()
            ));
        }
        Ok(file)
    }
}

/// Where the file of an `option` is put, if it can be; `inputs` are read, and must not be written
/// over.
fn place(option: &str, path: &Path, inputs: &[&Path]) -> Result<PathBuf, Failure> {
    refuse_place(option, path, inputs)?;
    file::place(path).map_err(|_| {
        Failure::because(format!(
            "{}: is not a file, so nothing can be written to it; give another {option}",
            path.display()
        ))
    })
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("{}: cannot be written ({error}); nothing was left there", path.display()))
}
