//! Objects of stores in a build that does not read them: there is none.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use NoObject as StoredObject;

/// An object, of which there is none.
#[derive(Clone, Debug)]
pub enum NoObject {}

impl NoObject {
    /// False: no path is the address of an object.
    #[must_use]
    pub fn is_address(_: &Path) -> bool {
        false
    }

    /// Finds nothing.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Lists nothing.
    ///
    /// # Errors
    /// Always.
    pub fn list(_: &str) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Of nothing.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        match *self {}
    }

    /// Of nothing.
    #[must_use]
    pub fn length(&self) -> u64 {
        match *self {}
    }
}

impl Read for NoObject {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}
