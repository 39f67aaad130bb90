//! Why a data set cannot be had, each as one line that says what to do.

use mercer_readers::DataError;

/// Errors of data sets. [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The registry has no data set of this name.
    #[error("no data set is named {name:?}; known are {}", known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A data set without a target was asked for with one.
    #[error("{name}: is a series and has no target; forecast it, or read its file and name a target column")]
    IsSeries {
        /// The data set.
        name: String,
    },
    /// The registry knows the data set but finds no file.
    #[error(
        "{name}: {file} is in none of {}; get it from {page} and put it there, or name its folder in MERCER_DATA",
        searched.join(", ")
    )]
    NotHere {
        /// The data set.
        name: String,
        /// The file looked for.
        file: String,
        /// Where it is published.
        page: String,
        /// The folders searched.
        searched: Vec<String>,
    },
    /// A file has another shape than the manifest says.
    #[error("{file}: has {got_n} rows of {got_d} features, the manifest says {n} of {d}; fetch the file again")]
    WrongShape {
        /// The file.
        file: String,
        /// Rows in the manifest.
        n: usize,
        /// Features in the manifest.
        d: usize,
        /// Rows found.
        got_n: usize,
        /// Features found.
        got_d: usize,
    },
    /// A file has other bytes than the manifest says.
    #[error("{file}: its sha256 is {got}, the manifest says {expected}; fetch the file again")]
    WrongDigest {
        /// The file.
        file: String,
        /// The digest in the manifest.
        expected: String,
        /// The digest found.
        got: String,
    },
    /// The manifest itself cannot be read.
    #[error("datasets/manifest.json: {source}; correct the manifest")]
    Manifest {
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The file cannot be read as a table.
    #[error(transparent)]
    Data(#[from] DataError),
}
