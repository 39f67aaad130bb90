//! The contents of `manifest.json` about each data set.

use serde::{Deserialize, Serialize};

/// One data set of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name by which commands and experiments ask for it.
    pub name: String,
    /// The place of the file: in the repository or elsewhere.
    pub kind: Kind,
    /// The file's name within a data folder.
    pub file: String,
    /// Number of rows, n.
    pub n: usize,
    /// Number of features, d; of columns for a series.
    pub d: usize,
    /// Regression, classes −1 and 1, or a series to be forecast.
    pub task: Task,
    /// The meaning of the target, or of the columns of a series.
    pub target: String,
    /// The target's column from 1; `None` is the last.
    pub target_column: Option<usize>,
    /// Where the data come from.
    pub origin: String,
    /// The public page that offers or describes them.
    pub page: String,
    /// A file on that page which a program can fetch.
    pub download: Option<Download>,
    /// The steps that make `file` of what the page offers.
    pub prepare: String,
    /// The sha256 of `file` in hexadecimal, if it is known.
    pub sha256: Option<String>,
    /// The size of `file`, if it is known.
    pub bytes: Option<u64>,
    /// The licence as the origin states it.
    pub licence: String,
    /// The published experiment that uses the data, if there is one.
    pub paper: Option<Paper>,
    /// Notes on the data.
    pub notes: String,
}

/// Place of a file: in the repository or elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// In the repository, and with the feature `bundled` in the program.
    Bundled,
    /// In the repository, but neither in the program nor in the published crate.
    Repository,
    /// To be fetched by the user.
    External,
}

/// The quantity that is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A real number.
    Regression,
    /// One of two classes.
    Binary,
    /// The next row: a series, which has no target column.
    Series,
}

/// A file that a program can fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Download {
    /// Where, always over HTTPS.
    pub url: String,
    /// Its sha256 if known; when it is the entry's own, the fetched file needs no preparing.
    pub sha256: Option<String>,
}

/// The use of a data set in a published experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The study and its table or figure.
    pub study: String,
    /// The name used there.
    pub name: String,
    /// Rows there.
    pub n: usize,
    /// Features there.
    pub d: usize,
    /// The relation to the set used there.
    pub same: Same,
}

/// The relation between two data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Same {
    /// By content, or by name and shape.
    Yes,
    /// By shape; others would fit too.
    Likely,
    /// A part or a relative of it.
    No,
}

/// The whole manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The layout of this file.
    #[expect(dead_code, reason = "read so that a manifest without it is refused; there is one layout so far")]
    version: u32,
    pub(crate) datasets: Vec<Entry>,
}
