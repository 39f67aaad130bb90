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

/// The first bytes of files that are no text, or none of rows; letters in lower case.
const BEGINNINGS: [(&[u8], OtherKind); 39] = {
    const fn other(kind: &'static str, remedy: &'static str) -> OtherKind {
        OtherKind { kind, remedy }
    }
    const EXPORT: &str = "write the table as CSV or Parquet";
    const UNPACK: &str = "unpack it, or compress it by gzip or zstd";
    const PICTURE: OtherKind = other("a picture", "give the numbers behind it");
    const PAGE: OtherKind = other("a page of the web", "fetch the file behind it");
    const PICKLE: OtherKind = other("a pickle of Python", EXPORT);
    const NETCDF: OtherKind = other("NetCDF", EXPORT);
    [
        (
            b"pk\x03\x04",
            other("a spreadsheet or an archive", "name it *.xlsx or *.ods if it is a spreadsheet, else unpack it"),
        ),
        (b"\xd0\xcf\x11\xe0", other("a spreadsheet", "name it *.xls")),
        (b"par1", other("Parquet", "name it *.parquet, or say --format parquet")),
        (b"arrow1", other("Arrow", "name it *.arrow, or say --format arrow")),
        (b"sqlite format 3\0", other("a database", EXPORT)),
        (b"\x89hdf", other("HDF5", EXPORT)),
        (b"\x93numpy", other("an array of NumPy", EXPORT)),
        (b"obj\x01", other("Avro", EXPORT)),
        (b"orc\x08", other("ORC", EXPORT)),
        (b"orc\x12", other("ORC", EXPORT)),
        (b"\x80\x02", PICKLE),
        (b"\x80\x03", PICKLE),
        (b"\x80\x04", PICKLE),
        (b"\x80\x05", PICKLE),
        (b"cdf\x01", NETCDF),
        (b"cdf\x02", NETCDF),
        (b"cdf\x05", NETCDF),
        (b"matlab 5.0", other("a file of MATLAB", EXPORT)),
        (b"$fl2@(#)", other("a file of SPSS", EXPORT)),
        (b"<stata_dta>", other("a file of Stata", EXPORT)),
        (b"rdx2\n", other("a file of R", EXPORT)),
        (b"rdx3\n", other("a file of R", EXPORT)),
        (b"%pdf-", other("PDF", EXPORT)),
        (b"{\\rtf", other("RTF", "save it as plain text")),
        (b"\x89png", PICTURE),
        (b"\xff\xd8\xff", PICTURE),
        (b"gif8", PICTURE),
        (b"@relation ", other("ARFF", EXPORT)),
        (b"bzh91ay&sy", other("bzip2", UNPACK)),
        (b"\xfd7zxz\0", other("xz", UNPACK)),
        (b"7z\xbc\xaf", other("an archive", UNPACK)),
        (b"rar!\x1a", other("an archive", UNPACK)),
        (b"\x04\x22\x4d\x18", other("LZ4", UNPACK)),
        (b"\xff\x06\0\0snappy", other("Snappy", UNPACK)),
        (b"<!doctype", PAGE),
        (b"<html", PAGE),
        (b"<table", PAGE),
        (b"<?xml", other("XML", EXPORT)),
        (b"version https://git-lfs", other("a pointer of Git LFS", "fetch the file that it stands for (git lfs pull)")),
    ]
};

/// Kind of the file that begins with these bytes, if that is known and no format of lines.
pub(crate) fn of_bytes(beginning: &[u8]) -> Option<OtherKind> {
    let beginning = beginning.trim_ascii_start();
    let begins = |bytes: &[u8]| beginning.get(..bytes.len()).is_some_and(|first| first.eq_ignore_ascii_case(bytes));
    BEGINNINGS.into_iter().find(|(bytes, _)| begins(bytes)).map(|(_, other)| other)
}
