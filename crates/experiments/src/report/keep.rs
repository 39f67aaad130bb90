//! Finished experiments on disk, so that a run that was interrupted goes on where it was.
//!
//! An experiment is kept in one file, `kept/NAME.json` in the folder of the run, with its report and with a [`key`]: the sha256 of
//! all that its numbers depend on. One with the same key need not be run again; one with another key is replaced.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::report::Report;
use crate::report::provenance::{Moment, Provenance};
use mercer_plots::write_whole;

/// Raised whenever the file's form changes.
const FORM: u32 = 2;

/// A finished experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its name.
    pub experiment: String,
    /// The sha256 of all it depends on.
    pub key: String,
    /// When it finished.
    pub finished: Moment,
    /// How many seconds it took.
    pub seconds: f64,
    /// What it handed back.
    pub report: Report,
}

/// Why an experiment could not be kept or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The file is there but cannot be read.
    #[error("{path:?}: {source}; it is run again", path = path.display().to_string())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not what this program writes.
    #[error("{path:?} is damaged or of another version ({source}); it is run again", path = path.display().to_string())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file could not be written.
    #[error("cannot write {path:?}: {source}; check the folder and the space left", path = path.display().to_string())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The sha256 of all that an experiment's numbers and times depend on: the program's own bytes, the machine, the plan, the data
/// found and the experiment's name. The commit is left out, because the program's bytes say more.
#[must_use]
pub fn key(provenance: &Provenance, experiment: &str) -> String {
    let Provenance { program, machine, plan, data, absent } = provenance;
    // Debug forms quote and escape their strings, so that no two different values read the same.
    let all = format!("{FORM} {experiment:?} {:?} {machine:?} {plan:?} {data:?} {absent:?}", program.sha256);
    Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The finished experiment of this key, if there is one.
///
/// # Errors
/// [`KeepError`] when the file is there but cannot be read.
pub fn load(out: &Path, experiment: &str, key: &str) -> Result<Option<Kept>, KeepError> {
    /// Read alone first: a report of another version may not read at all, and that is no damage.
    #[derive(Deserialize)]
    struct Label {
        key: String,
    }
    let path = place(out, experiment);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeepError::Read { path, source }),
    };
    let damaged = |source| KeepError::Damaged { path: path.clone(), source };
    let label: Label = serde_json::from_slice(&bytes).map_err(damaged)?;
    if label.key == key { serde_json::from_slice(&bytes).map(Some).map_err(damaged) } else { Ok(None) }
}

/// Keeps a finished experiment in place of an earlier one of the same name.
///
/// # Errors
/// [`KeepError::Write`]; the earlier one is then still there.
pub fn store(out: &Path, kept: &Kept) -> Result<(), KeepError> {
    let path = place(out, &kept.experiment);
    let text = serde_json::to_vec(kept).map_err(io::Error::from);
    let done = text.and_then(|text| write_whole(&path, &text));
    done.map_err(|source| KeepError::Write { path, source })
}

fn place(out: &Path, experiment: &str) -> PathBuf {
    out.join("kept").join(format!("{experiment}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(key: &str) -> Kept {
        let mut report = Report::new("Sizes");
        report.words("Small ones.");
        Kept { experiment: "sizes".into(), key: key.into(), finished: Moment(7), seconds: 0.25, report }
    }

    #[test]
    fn only_the_same_key_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load(folder.path(), "sizes", "a").unwrap().is_none());
        store(folder.path(), &kept("a")).unwrap();
        let back = load(folder.path(), "sizes", "a").unwrap().unwrap();
        assert_eq!(
            (back.finished, back.seconds, back.report.markdown()),
            (Moment(7), 0.25, kept("a").report.markdown())
        );
        assert!(load(folder.path(), "sizes", "b").unwrap().is_none());
        store(folder.path(), &kept("b")).unwrap();
        assert!(load(folder.path(), "sizes", "a").unwrap().is_none());
    }

    #[test]
    fn a_damaged_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &kept("a")).unwrap();
        let path = place(folder.path(), "sizes");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        let error = load(folder.path(), "sizes", "a").unwrap_err();
        assert!(
            matches!(error, KeepError::Damaged { .. }) && error.to_string().ends_with("it is run again"),
            "{error}"
        );
    }
}
