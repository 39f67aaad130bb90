//! Parquet and Arrow IPC in a build that does not read them.

use std::convert::Infallible;
use std::io::Read;

use crate::columns::{Beside, Plan};
use crate::error::{ContainerError, DataError};
use crate::format::Format;
use crate::head::TargetHead;
use crate::lines::{Lines, Source};
use crate::options::ReadOptions;
use crate::record::Record;

/// The rows of a file that there cannot be.
pub(crate) struct Columnar(Infallible);

impl Columnar {
    pub(crate) fn open(source: &Source, format: Format, _options: &ReadOptions) -> Result<(Self, Lines), DataError> {
        Err(ContainerError::NotBuilt { file: source.shown(), format }.into())
    }

    pub(crate) fn read(
        file: String,
        _input: Box<dyn Read + Send>,
        format: Format,
        _options: &ReadOptions,
    ) -> Result<(Self, Lines), DataError> {
        Err(ContainerError::NotBuilt { file, format }.into())
    }

    pub(crate) fn names(&self) -> &[String] {
        match self.0 {}
    }

    pub(crate) fn plan(&self) -> &Plan {
        match self.0 {}
    }

    pub(crate) fn plan_mut(&mut self) -> &mut Plan {
        match self.0 {}
    }

    pub(crate) fn head(&self) -> Option<TargetHead> {
        match self.0 {}
    }

    pub(crate) fn skip(&mut self, _lines: &Lines, _most: u64) -> Result<u64, DataError> {
        match self.0 {}
    }

    pub(crate) fn record(&mut self, _lines: &mut Lines, _record: &mut Record) -> Result<bool, DataError> {
        match self.0 {}
    }

    pub(crate) fn row(
        &mut self,
        _lines: &mut Lines,
        _features: &mut Vec<f64>,
        _beside: &mut Beside,
    ) -> Result<bool, DataError> {
        match self.0 {}
    }
}
