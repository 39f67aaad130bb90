//! Copies of pipes, which can be read only once, in files that are read as often as it takes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::report::failure::Failure;

/// All that a pipe held, in a file of the folder for temporary files that is removed at the end.
pub(super) struct Spool {
    file: NamedTempFile,
    shown: String,
}

impl Spool {
    /// The copy of standard input (`-`), or of a path that is no ordinary file; `None` for files,
    /// and for names of data sets.
    pub(super) fn of(path: &Path) -> Result<Option<Self>, Failure> {
        if path == Path::new("-") {
            return Self::copy("standard input", &mut io::stdin().lock()).map(Some);
        }
        let shown = path.display().to_string();
        let is_pipe = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
        let opened = || File::open(path).map_err(|error| Failure::because(format!("{shown}: {error}")));
        is_pipe.then(|| Self::copy(&shown, &mut opened()?)).transpose()
    }

    fn copy(shown: &str, source: &mut dyn Read) -> Result<Self, Failure> {
        let copied = (|| {
            let mut file = NamedTempFile::new()?;
            io::copy(source, &mut file)?;
            Ok(file)
        })();
        let failed = |error: io::Error| Failure::because(format!("{shown}: cannot be copied to a file ({error})"));
        Ok(Self { file: copied.map_err(failed)?, shown: shown.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The name of what was copied.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }
}
