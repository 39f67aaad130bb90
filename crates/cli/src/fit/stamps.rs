//! Whether files stayed as they were while they were read: the digest of a file that grows is not
//! that of the rows that were summed up, so that these would count twice later.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::report::failure::Failure;

/// Lengths and times of files.
pub(super) struct Stamps(Vec<(PathBuf, (u64, Option<SystemTime>))>);

fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let about = path.metadata().ok()?;
    Some((about.len(), about.modified().ok()))
}

impl Stamps {
    /// Of files as they are now. What is no file, such as an object of a store, has none.
    pub(super) fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        Self(paths.into_iter().filter_map(|path| Some((path.to_owned(), stamp(path)?))).collect())
    }

    /// Refuses to go on if a file is another one now.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.0.iter().find(|(path, before)| stamp(path).as_ref() != Some(before)) {
            Some((path, _)) => Err(Failure::because(format!(
                "{}: has changed while it was read; run again when it is complete",
                path.display()
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_grows_or_goes_is_met() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let paths = [path("a.csv"), path("b.csv"), path("none.csv")];
        paths[..2].iter().for_each(|path| fs::write(path, "a,y\n1,2\n").unwrap());
        let stamps = || Stamps::of(paths.iter().map(PathBuf::as_path));
        let before = stamps();
        assert!(before.check().is_ok());
        fs::File::options().append(true).open(&paths[1]).unwrap().write_all(b"3,4\n").unwrap();
        assert!(before.check().unwrap_err().to_string().starts_with(&format!("{}: has changed", paths[1].display())));
        let before = stamps();
        fs::remove_file(&paths[0]).unwrap();
        assert!(before.check().is_err() && stamps().check().is_ok());
    }
}
