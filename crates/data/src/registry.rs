//! The registry: which data sets there are, where their files lie on this machine, and their reading and checking.
//!
//! The manifest is compiled in, so the registry needs no file to answer what exists. A file is looked for in the folder given
//! (`--data`), in `$MERCER_DATA`, in `datasets/cache` and in `datasets`, the last two both below the working directory and, while
//! the repository is there, below it. A bundled set that is nowhere found is read from the program itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::dataset::Dataset;
use crate::error::{DataError, shown_path};
use crate::manifest::{Entry, Manifest};
use crate::options::{ReadOptions, TargetColumn};
use crate::reader::{read_all, read_bytes};

/// The environment variable that names a folder of data sets.
pub const DATA_VARIABLE: &str = "MERCER_DATA";

const MANIFEST: &str = include_str!("../../../datasets/manifest.json");

/// The repository during development; an installed program finds no such folder and leaves it out.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Bundled files by name, compiled in.
#[cfg(feature = "bundled")]
const BUNDLED: &[(&str, &[u8])] = &[("diamonds.csv.gz", include_bytes!("../../../datasets/diamonds.csv.gz"))];
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
        for folder in ["datasets/cache", "datasets"] {
            let here = PathBuf::from(folder);
            let developed = Path::new(REPOSITORY).join(folder).canonicalize().ok();
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
    /// [`DataError::UnknownDataset`], [`DataError::NotHere`], [`DataError::WrongShape`] or an error of reading.
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

    fn known(&self, name: &str) -> Result<&Entry, DataError> {
        self.find(name).ok_or_else(|| DataError::UnknownDataset {
            name: name.to_owned(),
            known: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }

    fn read(&self, entry: &Entry, verify: bool) -> Result<Dataset, DataError> {
        let target = entry.target_column.map_or(TargetColumn::Last, TargetColumn::Index);
        let options = ReadOptions { target, ..ReadOptions::default() };
        let expected = entry.sha256.as_ref().filter(|_| verify);
        let (file, table) = if let Some(path) = self.locate(&entry.name) {
            let file = shown_path(&path);
            if let Some(expected) = expected {
                check_digest(&file, expected, sha256_file(&path)?)?;
            }
            (file, read_all(&path, &options)?)
        } else if let Some(bytes) = compiled_in(entry) {
            if let Some(expected) = expected {
                check_digest(&entry.file, expected, hexadecimal(&Sha256::digest(bytes)))?;
            }
            (entry.file.clone(), read_bytes(&entry.file, bytes, &options)?)
        } else {
            return Err(DataError::NotHere {
                name: entry.name.clone(),
                file: entry.file.clone(),
                page: entry.page.clone(),
                searched: self.folders.iter().map(|folder| shown_path(folder)).collect(),
            });
        };
        let (got_n, got_d) = (table.len(), table.dimension());
        if (got_n, got_d) != (entry.n, entry.d) {
            return Err(DataError::WrongShape { file, n: entry.n, d: entry.d, got_n, got_d });
        }
        Ok(table.renamed(&entry.name))
    }
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
