//! The four text formats, told by a file's name or by the user.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::DataError;

/// How the rows of a file are written. Any of them may be gzipped as well; that is seen from the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Format {
    /// Cells separated by commas, with or without a header.
    Csv,
    /// Cells separated by tabs, with or without a header.
    Tsv,
    /// One JSON object of numbers a line.
    Ndjson,
    /// `target index:value index:value …`, indices from 1, absent ones 0.
    Libsvm,
}

impl Format {
    /// The format that a file's name tells, a final `.gz` aside; upper and lower case are one.
    ///
    /// `.csv`; `.tsv`, `.tab`; `.ndjson`, `.jsonl`; `.libsvm`, `.svmlight`, `.svm`.
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Self::from_ending(name.rsplit_once('.')?.1)
    }

    fn from_ending(ending: &str) -> Option<Self> {
        match ending {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "libsvm" | "svmlight" | "svm" => Some(Self::Libsvm),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = DataError;

    /// `csv`, `tsv`, `ndjson` or `libsvm` (or another ending of [`from_path`](Self::from_path)), optionally with `.gz`.
    fn from_str(name: &str) -> Result<Self, DataError> {
        let lower = name.to_ascii_lowercase();
        let ending = lower.strip_suffix(".gz").unwrap_or(&lower);
        Self::from_ending(ending).ok_or_else(|| DataError::UnknownFormatName { name: name.to_owned() })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Ndjson => "ndjson",
            Self::Libsvm => "libsvm",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let told = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(told("a/b.csv"), Some(Format::Csv));
        assert_eq!(told("B.CSV.GZ"), Some(Format::Csv));
        assert_eq!(told("b.tab"), Some(Format::Tsv));
        assert_eq!(told("b.tsv.gz"), Some(Format::Tsv));
        assert_eq!(told("b.jsonl"), Some(Format::Ndjson));
        assert_eq!(told("cod-rna.t.libsvm.gz"), Some(Format::Libsvm));
        assert_eq!(told("cod-rna.t"), None);
        assert_eq!(told("csv"), None);
        assert_eq!(told("b.gz"), None);
    }

    #[test]
    fn written_names_read_back() {
        for format in [Format::Csv, Format::Tsv, Format::Ndjson, Format::Libsvm] {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
            assert_eq!(format!("{format}.gz").parse::<Format>().unwrap(), format);
        }
        let message = "parquet".parse::<Format>().unwrap_err().to_string();
        assert_eq!(message, "\"parquet\" is not a format; the formats are csv, tsv, ndjson and libsvm");
    }
}
