//! The registry: which data sets there are, where their files lie on this machine, and their
//! reading and checking.
//!
//! The manifest is compiled in, so the registry needs no file to answer what exists. A file is
//! looked for in the folder given (`--data`), in `$MERCER_DATA`, in `datasets/cache` and `datasets`
//! below the working directory, and in `datasets` beside the program. A bundled set that is nowhere
//! found is read from the program itself.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use mercer_readers::{DataError, Dataset, Missing, ReadOptions, RowReader, Series, TargetColumn, shown_path};
use sha2::{Digest, Sha256};

use crate::error::DatasetError;
use crate::manifest::{Entry, Manifest, Task};

/// The environment variable that names a folder of data sets.
pub const DATA_VARIABLE: &str = "MERCER_DATA";

const MANIFEST: &str = include_str!("../manifest.json");

/// Folders below the working directory.
const USUAL: [&str; 2] = ["datasets/cache", "datasets"];

/// Bundled files by name, compiled in.
#[cfg(feature = "bundled")]
const BUNDLED: &[(&str, &[u8])] = &[
    ("diamonds.csv.gz", include_bytes!("../diamonds.csv.gz")),
    ("earth_orientation.csv.gz", include_bytes!("../earth_orientation.csv.gz")),
];
#[cfg(not(feature = "bundled"))]
const BUNDLED: &[(&str, &[u8])] = &[];

/// The data sets of the manifest and the folders to look in.
#[derive(Clone, Debug)]
pub struct Registry {
    entries: Vec<Entry>,
    folders: Vec<PathBuf>,
}

impl Registry {
    /// The manifest with the usual folders.
    ///
    /// # Errors
    /// [`DatasetError::Manifest`] if the compiled manifest is malformed, which this crate's tests
    /// exclude.
    pub fn load() -> Result<Self, DatasetError> {
        let named = std::env::var_os(DATA_VARIABLE).filter(|folder| !folder.is_empty());
        let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("datasets")));
        let usual = USUAL.map(PathBuf::from).into_iter();
        let folders = named.map(PathBuf::from).into_iter().chain(usual).chain(beside).collect();
        Self::load_from(folders)
    }

    /// The manifest with these folders and no others.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(folders: Vec<PathBuf>) -> Result<Self, DatasetError> {
        let manifest: Manifest = serde_json::from_str(MANIFEST).map_err(|source| DatasetError::Manifest { source })?;
        Ok(Self { entries: manifest.datasets, folders })
    }

    /// The same registry, looking in `folder` before all others.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.insert(0, folder.into());
        self
    }

    /// All data sets, in the manifest's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The folders, in the order in which they are searched.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The data set of this name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The first file found for the data set of this name, whatever it holds.
    pub fn locate(&self, name: &str) -> Option<PathBuf> {
        let entry = self.find(name)?;
        self.folders.iter().map(|folder| folder.join(&entry.file)).find(|path| path.is_file())
    }

    /// True if [`open`](Self::open) would find something to read.
    pub fn is_available(&self, name: &str) -> bool {
        self.locate(name).is_some() || self.find(name).is_some_and(|entry| compiled_in(entry).is_some())
    }

    /// Reads a data set and checks that it is what the manifest says: its sha256, if one is known,
    /// and its shape.
    ///
    /// # Errors
    /// [`DatasetError::Unknown`], [`DatasetError::NotHere`], [`DatasetError::IsSeries`],
    /// [`DatasetError::WrongDigest`], [`DatasetError::WrongShape`] or an error of reading.
    pub fn open(&self, name: &str) -> Result<Dataset, DatasetError> {
        let entry = self.known(name)?;
        if entry.task == Task::Series {
            return Err(DatasetError::IsSeries { name: entry.name.clone() });
        }
        let target = entry.target_column.map_or(TargetColumn::Last, TargetColumn::Index);
        let (file, mut rows) = self.rows(entry, &ReadOptions { target, ..ReadOptions::default() })?;
        let table = rows.read_rows(usize::MAX)?;
        check_shape(file, entry, table.len(), table.dimension(), entry.d)?;
        Ok(table.renamed(&entry.name))
    }

    /// Reads a data set as a [`Series`]: all its columns, without a target, missing values as NaN.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_series(&self, name: &str) -> Result<Series, DatasetError> {
        let entry = self.known(name)?;
        let options = ReadOptions { target: TargetColumn::None, missing: Missing::Nan, ..ReadOptions::default() };
        let (file, mut rows) = self.rows(entry, &options)?;
        let series = Series::read(&entry.name, &mut rows)?;
        let columns = entry.d + usize::from(entry.task != Task::Series);
        check_shape(file, entry, series.len(), series.dimension(), columns)?;
        Ok(series)
    }

    /// Reads a data set of either kind through, with the checks of [`open`](Self::open).
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn verify(&self, name: &str) -> Result<(), DatasetError> {
        match self.known(name)?.task {
            Task::Series => self.open_series(name).map(drop),
            Task::Regression | Task::Binary => self.open(name).map(drop),
        }
    }

    fn known(&self, name: &str) -> Result<&Entry, DatasetError> {
        self.find(name).ok_or_else(|| DatasetError::Unknown {
            name: name.to_owned(),
            known: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }

    /// The name of a data set's file as messages show it, and its rows, from bytes whose digest is
    /// right.
    fn rows(&self, entry: &Entry, options: &ReadOptions) -> Result<(String, RowReader), DatasetError> {
        let (file, bytes) = self.bytes(entry)?;
        if let Some(expected) = &entry.sha256 {
            let got = hexadecimal(&Sha256::digest(&bytes));
            if !got.eq_ignore_ascii_case(expected) {
                return Err(DatasetError::WrongDigest { file, expected: expected.clone(), got });
            }
        }
        let rows = RowReader::from_reader(&file, Cursor::new(bytes), options)?;
        Ok((file, rows))
    }

    fn bytes(&self, entry: &Entry) -> Result<(String, Cow<'static, [u8]>), DatasetError> {
        if let Some(path) = self.locate(&entry.name) {
            let bytes = fs::read(&path).map_err(|source| unreadable(&path, source))?;
            return Ok((shown_path(&path), bytes.into()));
        }
        let bytes = compiled_in(entry).ok_or_else(|| DatasetError::NotHere {
            name: entry.name.clone(),
            file: entry.file.clone(),
            page: entry.page.clone(),
            searched: self.folders.iter().map(|path| shown_path(path)).collect(),
        })?;
        Ok((entry.file.clone(), bytes.into()))
    }
}

fn check_shape(file: String, entry: &Entry, got_n: usize, got_d: usize, d: usize) -> Result<(), DatasetError> {
    let n = entry.n;
    if (got_n, got_d) == (n, d) { Ok(()) } else { Err(DatasetError::WrongShape { file, n, d, got_n, got_d }) }
}

fn compiled_in(entry: &Entry) -> Option<&'static [u8]> {
    BUNDLED.iter().find(|(file, _)| *file == entry.file).map(|(_, bytes)| *bytes)
}

/// The sha256 of a file's bytes, in hexadecimal.
///
/// # Errors
/// [`DataError::Io`] if the file cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, DataError> {
    let digest = || -> io::Result<String> {
        let (mut file, mut hasher, mut buffer) = (fs::File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hexadecimal(&hasher.finalize())),
                taken => hasher.update(&buffer[..taken]),
            }
        }
    };
    digest().map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> DataError {
    DataError::Io { file: shown_path(path), source }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
