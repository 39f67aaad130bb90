//! Parquet: row groups of column chunks, the pages of which are compressed one by one.
//!
//! The parquet crate decompresses zstd by a library in C alone. Where a file has chunks of zstd,
//! their pages are therefore read as they stand, and decompressed here.

use std::io::Read;
use std::sync::Arc;

use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowGroups};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::{Batches, ColumnarFile};
use crate::compressed::Zstd;

/// Rows of a batch.
const BATCH: usize = 1024;

/// Opens a file twice: once for what it says of itself, once for its pages.
pub(super) fn open<R: ChunkReader + 'static>(input: R, again: R) -> Result<ColumnarFile, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(input).map_err(|error| error.to_string())?;
    let metadata = Arc::clone(builder.metadata());
    let compressions = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let mut has_zstd = false;
    for compression in compressions.map(ColumnChunkMetaData::compression) {
        use Compression::{BROTLI, GZIP, LZ4, LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD};
        has_zstd |= matches!(compression, ZSTD(_));
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
    let batches = move |wanted: &[usize]| -> Result<Batches, String> {
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        let reader = if has_zstd {
            let chunks = Chunks { input: Arc::new(again), metadata };
            parquet_to_arrow_field_levels(builder.parquet_schema(), mask, Some(&fields))
                .and_then(|levels| ParquetRecordBatchReader::try_new_with_row_groups(&levels, &chunks, BATCH, None))
        } else {
            builder.with_projection(mask).with_batch_size(BATCH).build()
        };
        Ok(Box::new(reader.map_err(|error| error.to_string())?))
    };
    Ok(ColumnarFile { schema, batches: Box::new(batches) })
}

/// The column chunks of a file.
struct Chunks<R> {
    input: Arc<R>,
    metadata: Arc<ParquetMetaData>,
}

impl<R: ChunkReader + 'static> RowGroups for Chunks<R> {
    fn num_rows(&self) -> usize {
        // A file that says otherwise is met as an error when its pages end.
        usize::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let (input, metadata) = (Arc::clone(&self.input), Arc::clone(&self.metadata));
        Ok(Box::new(ColumnChunks { input, metadata, column, group: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The chunks of one column, group by group.
struct ColumnChunks<R> {
    input: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    column: usize,
    /// The next group.
    group: usize,
}

impl<R: ChunkReader + 'static> Iterator for ColumnChunks<R> {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.metadata.row_groups().get(self.group)?;
        self.group += 1;
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        Some(pages(&self.input, group.column(self.column), rows))
    }
}

impl<R: ChunkReader + 'static> PageIterator for ColumnChunks<R> {}

/// The pages of a chunk, decompressed.
fn pages<R: ChunkReader + 'static>(
    input: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
) -> Result<Box<dyn PageReader>, ParquetError> {
    let read = |chunk: &ColumnChunkMetaData| SerializedPageReader::new(Arc::clone(input), chunk, rows, None);
    if !matches!(chunk.compression(), Compression::ZSTD(_)) {
        return Ok(Box::new(read(chunk)?));
    }
    let most = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
    let as_they_stand = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    Ok(Box::new(ZstdPages { inner: read(&as_they_stand)?, most }))
}

/// Pages that were compressed by zstd.
struct ZstdPages<P> {
    inner: P,
    /// Bytes that a page has at most when it is decompressed: those of its chunk.
    most: u64,
}

impl<P: PageReader> ZstdPages<P> {
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
        let mut whole = levels.to_vec();
        let mut values = Zstd::new(compressed).take(self.most + 1);
        let read = values.read_to_end(&mut whole).map_err(|error| damaged(&format!("is damaged ({error})")))?;
        if read as u64 > self.most { Err(damaged("is longer than its chunk")) } else { Ok(whole) }
    }
}

impl<P: PageReader> Iterator for ZstdPages<P> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for ZstdPages<P> {
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
