//! Files that are something else than their name, or what was told, says.

use crate::error::ContainerError;

/// Kind of a file, and advice about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtherKind {
    pub(crate) kind: &'static str,
    pub(crate) remedy: &'static str,
}

impl OtherKind {
    pub(crate) fn error(self, file: &str) -> ContainerError {
        ContainerError::OtherKind { file: file.to_owned(), kind: self.kind, remedy: self.remedy }
    }
}

const SPREADSHEET: OtherKind = OtherKind { kind: "a spreadsheet", remedy: "save the sheet as CSV" };

/// The first bytes of files that are no text, or none of rows; letters in lower case.
const BEGINNINGS: [(&[u8], OtherKind); 15] = {
    const fn other(kind: &'static str, remedy: &'static str) -> OtherKind {
        OtherKind { kind, remedy }
    }
    const EXPORT: &str = "write the table as CSV or Parquet";
    const UNPACK: &str = "unpack it, or compress it by gzip or zstd";
    [
        (b"pk\x03\x04", other("a spreadsheet or an archive", "save the sheet as CSV, or unpack the archive")),
        (b"\xd0\xcf\x11\xe0", SPREADSHEET),
        (b"par1", other("Parquet", "name it *.parquet, or say --format parquet")),
        (b"arrow1", other("Arrow", "name it *.arrow, or say --format arrow")),
        (b"sqlite format 3\0", other("a database", EXPORT)),
        (b"\x89hdf", other("HDF5", EXPORT)),
        (b"\x93numpy", other("an array of NumPy", EXPORT)),
        (b"%pdf-", other("PDF", EXPORT)),
        (b"@relation ", other("ARFF", EXPORT)),
        (b"bzh91ay&sy", other("bzip2", UNPACK)),
        (b"\xfd7zxz\0", other("xz", UNPACK)),
        (b"7z\xbc\xaf", other("an archive", UNPACK)),
        (b"<!doctype", other("a page of the web", "fetch the file behind it")),
        (b"<html", other("a page of the web", "fetch the file behind it")),
        (b"<?xml", other("XML", EXPORT)),
    ]
};

/// Kind of the file that begins with these bytes, if that is known and no format of lines.
pub(crate) fn of_bytes(beginning: &[u8]) -> Option<OtherKind> {
    let begins = |bytes: &[u8]| beginning.get(..bytes.len()).is_some_and(|first| first.eq_ignore_ascii_case(bytes));
    BEGINNINGS.into_iter().find(|(bytes, _)| begins(bytes)).map(|(_, other)| other)
}

/// Kind of a file with that ending, if it is none that is read.
pub(crate) fn of_ending(ending: &str) -> Option<OtherKind> {
    let spreadsheet = ["xlsx", "xlsm", "xls", "ods"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    spreadsheet.then_some(SPREADSHEET)
}
