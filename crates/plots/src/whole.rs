//! Writing a file so that a reader never sees half of it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// Writes `bytes` to `path`: beside it first, then renamed over it, so that a failure leaves an
/// older file as it was. Missing folders are made.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut aside = OsString::from(path);
    aside.push(".partial");
    fs::write(&aside, bytes)?;
    fs::rename(&aside, path).inspect_err(|_| {
        // The rename's own error is the one to report; a left-over is only untidy.
        let _ = fs::remove_file(&aside);
    })
}

#[cfg(test)]
mod tests {
    use super::write_whole;

    #[test]
    fn folders_are_made_and_nothing_is_left_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/file.txt");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("occupied");
        std::fs::create_dir_all(path.join("inside")).unwrap();
        assert!(write_whole(&path, b"text").is_err());
        assert!(path.join("inside").is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
