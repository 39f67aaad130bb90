//! The formats, told by a file's name or by the user.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::compressed::Compression;
use crate::error::DataError;

/// Format of the rows of a file. Any of them may be compressed by gzip or zstd as well; that is
/// seen from the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Format {
    /// Cells separated by commas, with or without a header.
    Csv,
    /// Cells separated by tabs, with or without a header.
    Tsv,
    /// JSON: one object a line, or an array of objects; or the same with an array for every row.
    Ndjson,
    /// `target index:value index:value …`, indices from 1, absent ones 0.
    Libsvm,
    /// Apache Parquet, read with the feature `arrow` of this crate. Standard input is read into
    /// memory first.
    Parquet,
    /// Arrow IPC, a file (Feather is one) or a stream, read with the feature `arrow` of this crate.
    Arrow,
    /// Columns aligned by blanks, each always at the same places of the line, below a header line.
    /// Up to 256 lines, or one megabyte, are read ahead to find the places.
    Fixed,
    /// The first sheet of a spreadsheet, read with the feature `spreadsheet` of this crate and
    /// held in memory.
    Spreadsheet,
}

impl Format {
    /// The format that a file's name tells, a final `.gz` or `.zst` aside; upper and lower case are
    /// one.
    ///
    /// `.csv`; `.tsv`, `.tab`; `.ndjson`, `.jsonl`, `.json`; `.libsvm`, `.svmlight`, `.svm`;
    /// `.parquet`, `.pq`; `.arrow`, `.arrows`, `.ipc`, `.feather`; `.fixed`; `.xlsx`, `.xlsm`,
    /// `.xlsb`, `.xls`, `.ods`.
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = Compression::strip(&name);
        Self::from_ending(name.rsplit_once('.')?.1)
    }

    fn from_ending(ending: &str) -> Option<Self> {
        match ending {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "ndjson" | "jsonl" | "json" => Some(Self::Ndjson),
            "libsvm" | "svmlight" | "svm" => Some(Self::Libsvm),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "ipc" | "feather" => Some(Self::Arrow),
            "fixed" => Some(Self::Fixed),
            "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => Some(Self::Spreadsheet),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = DataError;

    /// `csv`, `tsv`, `ndjson`, `libsvm`, `parquet`, `arrow`, `fixed` or `xlsx`, or another ending
    /// of [`from_path`](Self::from_path), optionally with `.gz` or `.zst`.
    fn from_str(name: &str) -> Result<Self, DataError> {
        let lower = name.to_ascii_lowercase();
        let ending = Compression::strip(&lower);
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
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Fixed => "fixed",
            Self::Spreadsheet => "xlsx",
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
        assert_eq!(told("b.json.zst"), Some(Format::Ndjson));
        assert_eq!(told("b.feather"), Some(Format::Arrow));
        assert_eq!(told("cod-rna.t.libsvm.gz"), Some(Format::Libsvm));
        assert_eq!(told("cod-rna.t"), None);
        assert_eq!(told("csv"), None);
        assert_eq!(told("b.gz"), None);
    }

    #[test]
    fn written_names_read_back() {
        for format in [
            Format::Csv,
            Format::Tsv,
            Format::Ndjson,
            Format::Libsvm,
            Format::Parquet,
            Format::Arrow,
            Format::Fixed,
            Format::Spreadsheet,
        ] {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
            assert_eq!(format!("{format}.gz").parse::<Format>().unwrap(), format);
            assert_eq!(format!("{format}.zst").parse::<Format>().unwrap(), format);
        }
        let message = "orc".parse::<Format>().unwrap_err().to_string();
        assert_eq!(
            message,
            "\"orc\" is not a format; the formats are csv, tsv, ndjson, json, libsvm, parquet, arrow, fixed and xlsx"
        );
    }
}
