//! The registry: which data sets there are, where their files lie on this machine, and their reading and checking.
//!
//! The manifest is compiled in, so the registry needs no file to answer what exists. A file is looked for in the folder given
//! (`--data`), in `$MERCER_DATA`, in `datasets/cache` and in `datasets`, the last two below the working directory and, while they
//! are there, in the repository and in this package. A bundled set that is nowhere found is read from the program itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::dataset::Dataset;
use crate::error::{DataError, shown_path};
use crate::lines::Source;
use crate::manifest::{Entry, Manifest, Task};
use crate::options::{Missing, ReadOptions, TargetColumn};
use crate::reader::{RowReader, read_source};
use crate::series::Series;

/// The environment variable that names a folder of data sets.
pub const DATA_VARIABLE: &str = "MERCER_DATA";

const MANIFEST: &str = include_str!("../datasets/manifest.json");

/// Folders below the working directory, each with its counterpart where the program was built: the cache of the repository and the
/// bundled files of this package. An installed program may find neither, and leaves them out.
const USUAL: [(&str, &str); 2] = [
    ("datasets/cache", concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/cache")),
    ("datasets", concat!(env!("CARGO_MANIFEST_DIR"), "/datasets")),
];

/// Whether a folder is one that only the machine knows where the program was built.
fn where_built(folder: &Path) -> bool {
    let is_within = |built: &str| Path::new(built).canonicalize().is_ok_and(|built| folder.starts_with(built));
    folder.is_absolute() && USUAL.iter().any(|(_, built)| is_within(built))
}

/// Bundled files by name, compiled in.
#[cfg(feature = "bundled")]
const BUNDLED: &[(&str, &[u8])] = &[
    ("diamonds.csv.gz", include_bytes!("../datasets/diamonds.csv.gz")),
    ("earth_orientation.csv.gz", include_bytes!("../datasets/earth_orientation.csv.gz")),
];
#[cfg(not(feature = "bundled"))]
const BUNDLED: &[(&str, &[u8])] = &[];

/// The data sets of the manifest and the folders to look in.
///
/// ```
/// let registry = mercer_data::Registry::load()?;
/// let diamonds = registry.open("diamonds")?;
/// assert_eq!((diamonds.len(), diamonds.dimension()), (53_940, 9));
/// # Ok::<(), mercer_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    entries: Vec<Entry>,
    folders: Vec<PathBuf>,
}

impl Registry {
    /// The manifest with the usual folders.
    ///
    /// # Errors
    /// [`DataError::Manifest`] if the compiled manifest is malformed, which this crate's tests exclude.
    pub fn load() -> Result<Self, DataError> {
        let named = std::env::var_os(DATA_VARIABLE).filter(|folder| !folder.is_empty());
        let mut folders: Vec<PathBuf> = named.into_iter().map(PathBuf::from).collect();
        for (folder, built) in USUAL {
            let here = PathBuf::from(folder);
            let developed = Path::new(built).canonicalize().ok();
            let elsewhere = developed.filter(|path| here.canonicalize().ok().as_ref() != Some(path));
            folders.push(here);
            folders.extend(elsewhere);
        }
        Self::load_from(folders)
    }

    /// The manifest with these folders and no others.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(folders: Vec<PathBuf>) -> Result<Self, DataError> {
        let manifest: Manifest = serde_json::from_str(MANIFEST).map_err(|source| DataError::Manifest { source })?;
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

    /// Whether [`open`](Self::open) would find something to read.
    pub fn is_available(&self, name: &str) -> bool {
        self.locate(name).is_some() || self.find(name).is_some_and(|entry| compiled_in(entry).is_some())
    }

    /// Reads a data set and checks that it has the manifest's shape.
    ///
    /// # Errors
    /// [`DataError::UnknownDataset`], [`DataError::NotHere`], [`DataError::IsSeries`], [`DataError::WrongShape`] or an error of
    /// reading.
    pub fn open(&self, name: &str) -> Result<Dataset, DataError> {
        self.read(self.known(name)?, false)
    }

    /// As [`open`](Self::open), and checks the sha256 where the manifest has one.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`DataError::WrongDigest`].
    pub fn open_verified(&self, name: &str) -> Result<Dataset, DataError> {
        self.read(self.known(name)?, true)
    }

    /// Reads a data set as a [`Series`]: all its columns, without a target, missing values as NaN.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_series(&self, name: &str) -> Result<Series, DataError> {
        self.read_series(self.known(name)?, false)
    }

    /// Reads a data set of either kind through and checks sha256 and shape.
    ///
    /// # Errors
    /// Those of [`open_verified`](Self::open_verified).
    pub fn verify(&self, name: &str) -> Result<(), DataError> {
        let entry = self.known(name)?;
        match entry.task {
            Task::Series => self.read_series(entry, true).map(drop),
            Task::Regression | Task::Binary => self.read(entry, true).map(drop),
        }
    }

    fn known(&self, name: &str) -> Result<&Entry, DataError> {
        self.find(name).ok_or_else(|| DataError::UnknownDataset {
            name: name.to_owned(),
            known: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }

    fn read(&self, entry: &Entry, verify: bool) -> Result<Dataset, DataError> {
        if entry.task == Task::Series {
            return Err(DataError::IsSeries { name: entry.name.clone() });
        }
        let target = entry.target_column.map_or(TargetColumn::Last, TargetColumn::Index);
        let source = self.source(entry, verify)?;
        let file = source.shown();
        let table = read_source(source, &ReadOptions { target, ..ReadOptions::default() })?;
        check_shape(file, entry, table.len(), table.dimension(), entry.d)?;
        Ok(table.renamed(&entry.name))
    }

    fn read_series(&self, entry: &Entry, verify: bool) -> Result<Series, DataError> {
        let source = self.source(entry, verify)?;
        let options = ReadOptions { target: TargetColumn::None, missing: Missing::Nan, ..ReadOptions::default() };
        let series = Series::read(&entry.name, &mut RowReader::from_source(&source, &options)?)?;
        let columns = entry.d + usize::from(entry.task != Task::Series);
        check_shape(source.shown(), entry, series.len(), series.dimension(), columns)?;
        Ok(series)
    }

    /// Where the bytes of a data set are, their sha256 checked if that is asked for and known.
    fn source(&self, entry: &Entry, verify: bool) -> Result<Source, DataError> {
        let expected = entry.sha256.as_ref().filter(|_| verify);
        if let Some(path) = self.locate(&entry.name) {
            if let Some(expected) = expected {
                check_digest(&shown_path(&path), expected, sha256_file(&path)?)?;
            }
            return Ok(Source::Path(path));
        }
        let Some(bytes) = compiled_in(entry) else {
            return Err(DataError::NotHere {
                name: entry.name.clone(),
                file: entry.file.clone(),
                page: entry.page.clone(),
                searched: self
                    .folders
                    .iter()
                    .filter(|folder| !where_built(folder))
                    .map(|path| shown_path(path))
                    .collect(),
            });
        };
        if let Some(expected) = expected {
            check_digest(&entry.file, expected, hexadecimal(&Sha256::digest(bytes)))?;
        }
        Ok(Source::Memory { name: entry.file.clone(), bytes: bytes.into() })
    }
}

fn check_shape(file: String, entry: &Entry, got_n: usize, got_d: usize, d: usize) -> Result<(), DataError> {
    let n = entry.n;
    if (got_n, got_d) == (n, d) { Ok(()) } else { Err(DataError::WrongShape { file, n, d, got_n, got_d }) }
}

fn compiled_in(entry: &Entry) -> Option<&'static [u8]> {
    BUNDLED.iter().find(|(file, _)| *file == entry.file).map(|(_, bytes)| *bytes)
}

fn check_digest(file: &str, expected: &str, got: String) -> Result<(), DataError> {
    if got.eq_ignore_ascii_case(expected) {
        Ok(())
    } else {
        Err(DataError::WrongDigest { file: file.to_owned(), expected: expected.to_owned(), got })
    }
}

/// The sha256 of a file's bytes, in hexadecimal.
///
/// # Errors
/// [`DataError::Io`] if the file cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, DataError> {
    let digest = || -> io::Result<String> {
        let (mut file, mut hasher, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hexadecimal(&hasher.finalize())),
                taken => hasher.update(&buffer[..taken]),
            }
        }
    };
    digest().map_err(|source| DataError::Io { file: shown_path(path), source })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
