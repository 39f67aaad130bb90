//! Parquet in stores: the columns of a row group come by requests of their own, and not page by
//! page.

use std::sync::Arc;

use bytes::{Buf, Bytes};
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::parquet::PageSource;
use crate::stores::StoredObject;

impl Length for StoredObject {
    fn len(&self) -> u64 {
        self.length()
    }
}

impl ChunkReader for StoredObject {
    type T = Self;

    fn get_read(&self, start: u64) -> Result<Self, ParquetError> {
        Ok(self.at(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.range(start, length as u64)?)
    }
}

impl PageSource for StoredObject {
    fn pages(self: &Arc<Self>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Box<dyn PageReader>, ParquetError> {
        let (start, length) = chunk.byte_range();
        let near = NearChunk { start, bytes: self.stretch(start, length)? };
        Ok(Box::new(SerializedPageReader::new(Arc::new(near), chunk, rows, None)?))
    }
}

/// The bytes of one chunk, which begin so far into their object.
struct NearChunk {
    start: u64,
    bytes: Bytes,
}

impl NearChunk {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let before = start.checked_sub(self.start).and_then(|before| usize::try_from(before).ok());
        match before.filter(|before| *before <= self.bytes.len()) {
            Some(before) => Ok(self.bytes.slice(before..)),
            None => Err(ParquetError::EOF("a page lies outside of its chunk".to_owned())),
        }
    }
}

impl Length for NearChunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for NearChunk {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF("a page ends behind its chunk".to_owned()));
        }
        Ok(bytes.slice(..length))
    }
}
