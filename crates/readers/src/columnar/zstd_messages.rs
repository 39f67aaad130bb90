//! Arrow's messages of which the buffers are compressed by zstd, with buffers that are not.
//!
//! The arrow crate decompresses zstd by a library in C alone. A body that says it is compressed may
//! have buffers that are not, which begin with the length −1; so each is decompressed here, and its
//! place in the message's own table is set anew.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, CompressionType, Message, RecordBatch as Batch, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use crate::compressed::{Zstd, whole_frame};

/// The four bytes before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The bytes before each buffer of a compressed body: its length once it is decompressed.
const LENGTH: usize = 8;

/// A stream of messages.
pub(super) struct ZstdMessages<R> {
    source: R,
    /// Bytes that are given out next.
    ready: Cursor<Vec<u8>>,
    /// Bytes of a body behind these, which are given out as they are.
    plain: u64,
}

/// A message without its body.
struct Head {
    /// The bytes before its table, and those of the table.
    prefix: Vec<u8>,
    table: Vec<u8>,
}

impl<R: Read> ZstdMessages<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, ready: Cursor::default(), plain: 0 }
    }

    /// The next message up to its body; `None` at the end.
    fn head(&mut self) -> io::Result<Option<Head>> {
        let mut prefix = Vec::new();
        if self.source.by_ref().take(4).read_to_end(&mut prefix)? == 4 && prefix == CONTINUATION {
            self.source.by_ref().take(4).read_to_end(&mut prefix)?;
        }
        let length = prefix.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let mut table = Vec::new();
        self.source.by_ref().take(length.into()).read_to_end(&mut table)?;
        Ok((!prefix.is_empty()).then_some(Head { prefix, table }))
    }

    fn go_on(&mut self) -> io::Result<bool> {
        let Some(Head { mut prefix, mut table }) = self.head()? else { return Ok(false) };
        let Ok(message) = root_as_message(&table) else {
            // The reader says what is wrong with it, or that it is the end.
            prefix.append(&mut table);
            self.ready = Cursor::new(prefix);
            return Ok(true);
        };
        let length = u64::try_from(message.bodyLength()).unwrap_or(0);
        if !is_zstd(message).unwrap_or(false) {
            prefix.append(&mut table);
            (self.ready, self.plain) = (Cursor::new(prefix), length);
            return Ok(true);
        }
        let mut body = Vec::new();
        self.source.by_ref().take(length).read_to_end(&mut body)?;
        let changes = decompressed(message, &table, &body)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a buffer compressed by zstd is damaged"))?;
        let Changes { mut places, body } = changes;
        for (place, value) in places.drain(..) {
            table[place..place + 8].copy_from_slice(&value.to_le_bytes());
        }
        prefix.append(&mut table);
        prefix.extend_from_slice(&body);
        self.ready = Cursor::new(prefix);
        Ok(true)
    }
}

impl<R: Read> Read for ZstdMessages<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let taken = self.ready.read(bytes)?;
            if taken > 0 || bytes.is_empty() {
                return Ok(taken);
            }
            if self.plain > 0 {
                let taken = self.source.by_ref().take(self.plain).read(bytes)?;
                self.plain = if taken == 0 { 0 } else { self.plain - taken as u64 };
                return Ok(taken);
            }
            if !self.go_on()? {
                return Ok(0);
            }
        }
    }
}

/// The batches of a file that are compressed by zstd, by its own table of their places.
pub(super) struct ZstdFile<R> {
    input: R,
    decoder: FileDecoder,
    blocks: std::vec::IntoIter<Block>,
}

impl<R: Read + Seek> ZstdFile<R> {
    pub(super) fn open(mut input: R) -> Result<(SchemaRef, Self), ArrowError> {
        let bytes = footer(&mut input)?;
        let footer = root_as_footer(&bytes).map_err(|error| damaged(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        let schema = SchemaRef::new(try_fb_to_schema(schema)?);
        let blocks: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        let decoder = FileDecoder::new(SchemaRef::clone(&schema), footer.version());
        let mut file = Self { input, decoder, blocks: blocks.into_iter() };
        for place in footer.dictionaries().into_iter().flatten() {
            let (place, bytes) = file.decompressed(place)?;
            file.decoder.read_dictionary(&place, &bytes.into())?;
        }
        Ok((schema, file))
    }

    /// A block that is not compressed, and its place.
    fn decompressed(&mut self, place: &Block) -> Result<(Block, Vec<u8>), ArrowError> {
        let (bytes, mut plain) = (block(&mut self.input, place)?, Vec::new());
        ZstdMessages::new(&*bytes).read_to_end(&mut plain)?;
        let table = i64::from(place.metaDataLength());
        Ok((Block::new(place.offset(), place.metaDataLength(), plain.len() as i64 - table), plain))
    }
}

impl<R: Read + Seek> Iterator for ZstdFile<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.blocks.next()?;
        let read = self.decompressed(&place);
        read.and_then(|(place, bytes)| self.decoder.read_record_batch(&place, &bytes.into())).transpose()
    }
}

/// True if the first batch of a file is compressed by zstd.
pub(super) fn has_zstd(input: &mut (impl Read + Seek)) -> Result<bool, ArrowError> {
    let bytes = footer(input)?;
    let footer = root_as_footer(&bytes).map_err(|error| damaged(&error.to_string()))?;
    let Some(first) = footer.recordBatches().and_then(|blocks| blocks.iter().next().copied()) else { return Ok(false) };
    let head = ZstdMessages::new(&*block(input, &first)?).head()?;
    Ok(head.is_some_and(|head| root_as_message(&head.table).ok().and_then(is_zstd) == Some(true)))
}

/// The bytes of the table at the end of a file.
fn footer(input: &mut (impl Read + Seek)) -> Result<Vec<u8>, ArrowError> {
    let mut trailer = [0; 10];
    let end = input.seek(SeekFrom::End(-(trailer.len() as i64)))?;
    input.read_exact(&mut trailer)?;
    let length = read_footer_length(trailer)? as u64;
    let begin = end.checked_sub(length).ok_or_else(|| damaged("its footer is longer than the file"))?;
    slice(input, (begin, length))
}

/// The bytes of a block.
fn block(input: &mut (impl Read + Seek), place: &Block) -> Result<Vec<u8>, ArrowError> {
    let number = |number: i64| u64::try_from(number).map_err(|_| damaged("a block has no place"));
    let length = number(place.metaDataLength().into())?.saturating_add(number(place.bodyLength())?);
    slice(input, (number(place.offset())?, length))
}

fn slice(input: &mut (impl Read + Seek), (begin, length): (u64, u64)) -> Result<Vec<u8>, ArrowError> {
    let mut bytes = Vec::new();
    input.seek(SeekFrom::Start(begin))?;
    let read = input.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(damaged("it is cut short")) }
}

fn damaged(why: &str) -> ArrowError {
    ArrowError::ParseError(why.to_owned())
}

/// The batch of a message, if it has one.
fn batch(message: Message<'_>) -> Option<Batch<'_>> {
    let of_dictionary = || message.header_as_dictionary_batch()?.data();
    message.header_as_record_batch().or_else(of_dictionary)
}

/// True if the batch of a message is compressed by zstd; `None` if it has none.
fn is_zstd(message: Message<'_>) -> Option<bool> {
    Some(batch(message)?.compression().is_some_and(|compression| compression.codec() == CompressionType::ZSTD))
}

/// What is another in a message whose body is decompressed.
struct Changes {
    /// Places in the message's table, with the numbers that stand there.
    places: Vec<(usize, i64)>,
    body: Vec<u8>,
}

/// A body with buffers that are not compressed; `None` if it is damaged.
fn decompressed(message: Message<'_>, table: &[u8], body: &[u8]) -> Option<Changes> {
    let buffers = batch(message)?.buffers()?;
    let begin = (buffers.bytes().as_ptr() as usize).checked_sub(table.as_ptr() as usize)?;
    let mut changes = Changes { places: Vec::new(), body: Vec::new() };
    for (buffer, place) in buffers.iter().zip((begin..).step_by(2 * size_of::<i64>())) {
        let at = usize::try_from(buffer.offset()).ok()?;
        let bytes = body.get(at..at.checked_add(usize::try_from(buffer.length()).ok()?)?)?;
        // Buffers begin at multiples of 64 bytes.
        changes.body.resize(changes.body.len().next_multiple_of(64), 0);
        let offset = changes.body.len();
        if let Some((length, compressed)) = bytes.split_first_chunk::<LENGTH>() {
            changes.body.extend_from_slice(&(-1_i64).to_le_bytes());
            match u64::try_from(i64::from_le_bytes(*length)) {
                Ok(length) => match whole_frame(compressed, length) {
                    Some(values) => {
                        (values.len() as u64 == length).then(|| changes.body.extend_from_slice(&values))?;
                    }
                    None => {
                        let read = Zstd::new(compressed).take(length.saturating_add(1)).read_to_end(&mut changes.body);
                        read.ok().filter(|read| *read as u64 == length)?;
                    }
                },
                Err(_) => changes.body.extend_from_slice(compressed),
            }
        }
        changes.places.push((place, i64::try_from(offset).ok()?));
        changes.places.push((place + size_of::<i64>(), i64::try_from(changes.body.len() - offset).ok()?));
    }
    changes.body.resize(changes.body.len().next_multiple_of(64), 0);
    let length = message._tab.loc() + usize::from(message._tab.vtable().get(Message::VT_BODYLENGTH));
    changes.places.push((length, i64::try_from(changes.body.len()).ok()?));
    let fits = |(place, _): &(usize, i64)| place.checked_add(8).is_some_and(|end| end <= table.len());
    changes.places.iter().all(fits).then_some(changes)
}
