//! Parquet: row groups of column chunks, the pages of which are compressed one by one.
//!
//! The parquet crate decompresses zstd by a library in C alone. Where a file has chunks of zstd,
//! their pages are therefore read as they stand, and decompressed here.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowGroups};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::{BatchIterator, Batches, ColumnarFile};
use crate::compressed::{Zstd, whole_frame};

/// Rows of a batch.
const BATCH: usize = 1024;

/// Bytes of which the pages of a column chunk are read.
pub(super) trait PageSource: ChunkReader + Sized + 'static {
    /// Pages of a chunk, as they stand.
    fn pages(self: &Arc<Self>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Box<dyn PageReader>, ParquetError> {
        Ok(Box::new(SerializedPageReader::new(Arc::clone(self), chunk, rows, None)?))
    }
}

impl PageSource for File {}

impl PageSource for Bytes {}

/// Opens a file twice: once for what it says of itself, once for its pages.
pub(super) fn open<R: PageSource>(input: R, again: R) -> Result<ColumnarFile, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(input).map_err(|error| error.to_string())?;
    let metadata = Arc::clone(builder.metadata());
    let compressions = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    for compression in compressions.map(ColumnChunkMetaData::compression) {
        use Compression::{BROTLI, GZIP, LZ4, LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD};
        if !matches!(compression, UNCOMPRESSED | SNAPPY | GZIP(_) | BROTLI(_) | LZ4 | LZ4_RAW | ZSTD(_)) {
            let name = compression.to_string();
            let name = name.split('(').next().unwrap_or_default();
            return Err(format!(
                "its pages are compressed by {name}, which is not read here; use snappy, zstd, gzip, brotli or lz4"
            ));
        }
    }
    let schema = builder.schema().clone();
    let fields = schema.fields().clone();
    let groups = metadata.row_groups().iter().map(rows_of).collect();
    let batches = move |wanted: &[usize]| -> Result<Batches, String> {
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        let levels = parquet_to_arrow_field_levels(builder.parquet_schema(), mask, Some(&fields));
        let levels = levels.map_err(|error| error.to_string())?;
        Ok(Box::new(GroupBatches { levels, input: Arc::new(again), metadata, next: 0, current: None, left: 0 }))
    };
    Ok(ColumnarFile { schema, groups, batches: Box::new(batches) })
}

/// Rows that a group says it has. One that says otherwise than its pages is met as an error when
/// these end.
fn rows_of(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

/// The batches of a file, group by group: none holds rows of two.
struct GroupBatches<R> {
    levels: FieldLevels,
    input: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    /// The group behind the one that is read.
    next: usize,
    current: Option<ParquetRecordBatchReader>,
    /// Rows of the group that are still to be read.
    left: u64,
}

impl<R: PageSource> GroupBatches<R> {
    /// Begins the next group; false at the end.
    fn enter(&mut self) -> Result<bool, ParquetError> {
        let Some(group) = self.metadata.row_groups().get(self.next) else { return Ok(false) };
        let chunks = Chunks { input: Arc::clone(&self.input), metadata: Arc::clone(&self.metadata), group: self.next };
        let reader = ParquetRecordBatchReader::try_new_with_row_groups(&self.levels, &chunks, BATCH, None)?;
        (self.current, self.left, self.next) = (Some(reader), rows_of(group), self.next + 1);
        Ok(true)
    }
}

impl<R: PageSource> Iterator for GroupBatches<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.current.as_mut().and_then(Iterator::next) {
                Some(Ok(batch)) => {
                    self.left = self.left.saturating_sub(batch.num_rows() as u64);
                    return Some(Ok(batch));
                }
                Some(Err(error)) => return Some(Err(error)),
                None => match self.enter() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(error) => return Some(Err(error.into())),
                },
            }
        }
    }
}

impl<R: PageSource> BatchIterator for GroupBatches<R> {
    fn pass(&mut self, most: u64) -> u64 {
        let mut passed = 0;
        if self.left == 0 {
            for group in &self.metadata.row_groups()[self.next..] {
                if rows_of(group) > most - passed {
                    break;
                }
                (passed, self.next, self.current) = (passed + rows_of(group), self.next + 1, None);
            }
        }
        passed
    }
}

/// The column chunks of a group.
struct Chunks<R> {
    input: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    group: usize,
}

impl<R> Chunks<R> {
    fn of_group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }
}

impl<R: PageSource> RowGroups for Chunks<R> {
    fn num_rows(&self) -> usize {
        usize::try_from(rows_of(self.of_group())).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let pages = pages(&self.input, self.of_group().column(column), self.num_rows());
        Ok(Box::new(ColumnChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.of_group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of one column in a group.
struct ColumnChunk(Option<Result<Box<dyn PageReader>, ParquetError>>);

impl Iterator for ColumnChunk {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take()
    }
}

impl PageIterator for ColumnChunk {}

/// The pages of a chunk, decompressed.
fn pages<R: PageSource>(
    input: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
) -> Result<Box<dyn PageReader>, ParquetError> {
    if !matches!(chunk.compression(), Compression::ZSTD(_)) {
        return input.pages(chunk, rows);
    }
    let most = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
    let as_they_stand = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    Ok(Box::new(ZstdPages { inner: input.pages(&as_they_stand, rows)?, most }))
}

/// Pages that were compressed by zstd.
struct ZstdPages {
    inner: Box<dyn PageReader>,
    /// Bytes that a page has at most when it is decompressed: those of its chunk.
    most: u64,
}

impl ZstdPages {
    fn decompressed(&self, mut page: Page) -> Result<Page, ParquetError> {
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.decompress(buf, 0)?.into(),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } if *is_compressed => {
                // The levels in front are not compressed.
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                *buf = self.decompress(buf, usize::try_from(levels).unwrap_or(usize::MAX))?.into();
                *is_compressed = false;
            }
            Page::DataPageV2 { .. } => {}
        }
        Ok(page)
    }

    /// The bytes of a page, the first `plain` of which are not compressed.
    fn decompress(&self, bytes: &[u8], plain: usize) -> Result<Vec<u8>, ParquetError> {
        let damaged = |why: &str| ParquetError::General(format!("a page that is compressed by zstd {why}"));
        let (levels, compressed) = bytes.split_at_checked(plain).ok_or_else(|| damaged("is too short"))?;
        if let Some(values) = whole_frame(compressed, self.most) {
            return Ok(if levels.is_empty() { values } else { [levels, &values].concat() });
        }
        let mut whole = levels.to_vec();
        let mut values = Zstd::new(compressed).take(self.most + 1);
        let read = values.read_to_end(&mut whole).map_err(|error| damaged(&format!("is damaged ({error})")))?;
        if read as u64 > self.most { Err(damaged("is longer than its chunk")) } else { Ok(whole) }
    }
}

impl Iterator for ZstdPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ZstdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let page = self.inner.get_next_page()?;
        page.map(|page| self.decompressed(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.inner.at_record_boundary()
    }
}
