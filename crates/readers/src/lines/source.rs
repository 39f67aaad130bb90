//! Where the bytes of lines come from.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::Lines;
use crate::compressed::Compression;
use crate::error::{DataError, shown_path};
use crate::format::Format;
use crate::stores::StoredObject;

/// Where bytes come from.
pub(crate) enum Source {
    Path(PathBuf),
    StandardInput,
    Memory {
        name: String,
        bytes: Cow<'static, [u8]>,
    },
    /// Bytes that come only once, with the name of what gives them.
    Once {
        name: String,
        input: Box<dyn Read + Send>,
    },
}

/// What a path names.
pub(crate) enum OpenPath {
    File(File),
    Object(StoredObject),
}

impl OpenPath {
    /// The one place where a path is opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match StoredObject::is_address(path) && !path.exists() {
            true => StoredObject::open(path).map(Self::Object),
            false => File::open(path).map(Self::File),
        }
    }
}

impl Source {
    /// A path, where `-` is standard input.
    pub(crate) fn from_path(path: &Path) -> Self {
        if path == Path::new("-") { Self::StandardInput } else { Self::Path(path.to_owned()) }
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Path(path) => shown_path(path),
            Self::StandardInput => "standard input".to_owned(),
            Self::Memory { name, .. } | Self::Once { name, .. } => name.clone(),
        }
    }

    /// The name for the data set: the file's, without its folder and endings.
    pub(crate) fn stem(&self) -> String {
        let shown = self.shown();
        let name = match self {
            Self::Path(path) => path.file_name().and_then(|name| name.to_str()).unwrap_or(&shown),
            Self::StandardInput | Self::Memory { .. } | Self::Once { .. } => &shown,
        };
        let name = Compression::strip(name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    }

    /// The path to tell a format from, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::StandardInput => None,
            Self::Memory { name, .. } | Self::Once { name, .. } => Some(Path::new(name)),
        }
    }

    /// Format of its rows: as told, or as the name says.
    pub(crate) fn format(&self, told: Option<Format>) -> Result<Format, DataError> {
        told.or_else(|| self.path().and_then(Format::from_path))
            .ok_or_else(|| DataError::UnknownFormat { file: self.shown() })
    }

    /// True if its bytes come only once.
    pub(crate) fn is_once(&self) -> bool {
        matches!(self, Self::StandardInput | Self::Once { .. })
    }

    pub(crate) fn open(&mut self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Path(path) => match OpenPath::open(path)? {
                OpenPath::File(file) => Box::new(file),
                OpenPath::Object(object) => Box::new(object),
            },
            Self::StandardInput => Box::new(io::stdin()),
            Self::Memory { bytes, .. } => Box::new(Cursor::new(bytes.clone())),
            Self::Once { input, .. } => std::mem::replace(input, Box::new(io::empty())),
        })
    }

    /// The lines from the beginning.
    pub(crate) fn lines(&mut self) -> Result<Lines, DataError> {
        let file = self.shown();
        let promised = if self.is_once() { None } else { self.path().and_then(Compression::of_path) };
        match self.open() {
            Ok(input) => Lines::new(file, input, promised),
            Err(source) => Err(DataError::Io { file, source }),
        }
    }

    /// The same source, readable more than once: standard input is read into memory.
    pub(crate) fn rereadable(mut self) -> Result<Self, DataError> {
        if !self.is_once() {
            return Ok(self);
        }
        let name = self.shown();
        let mut bytes = Vec::new();
        match self.open().and_then(|mut input| input.read_to_end(&mut bytes)) {
            Ok(_) => Ok(Self::Memory { name, bytes: bytes.into() }),
            Err(source) => Err(DataError::Io { file: name, source }),
        }
    }
}
