//! The header around a model's body, and the body.

use std::io::Read;

use mercer_core::Validate;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ModelError, ModelKind};

/// The version of the format.
pub const VERSION: u16 = 1;

/// Largest file: 4 GiB.
pub const MOST_BYTES: u64 = 1 << 32;

/// What every model file begins with. No text file begins so, and a transfer that changes line ends
/// or cuts the eighth bit breaks it.
pub const MAGIC: [u8; 8] = *b"\x89Mercer\n";

/// What files began with before the first release.
const DEVELOPMENT: [u8; 8] = *b"\x89MERCER\n";

/// Bytes before the body.
const HEADER: usize = 24;

/// The fields behind the magic.
struct Header {
    version: u16,
    kind: u16,
    checksum: u32,
    length: u64,
}

impl Header {
    /// `None` when it is not whole.
    fn read(bytes: &[u8]) -> Option<Self> {
        let field = |from: usize, to: usize| bytes.get(from..to);
        Some(Self {
            version: u16::from_le_bytes(field(8, 10)?.try_into().ok()?),
            kind: u16::from_le_bytes(field(10, 12)?.try_into().ok()?),
            checksum: u32::from_le_bytes(field(12, 16)?.try_into().ok()?),
            length: u64::from_le_bytes(field(16, 24)?.try_into().ok()?),
        })
    }

    /// The CRC-32 of version, kind, length and body.
    fn checksum(&self, body: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.version.to_le_bytes());
        hasher.update(&self.kind.to_le_bytes());
        hasher.update(&self.length.to_le_bytes());
        hasher.update(body);
        hasher.finalize()
    }
}

/// The file of a model that holds together.
pub(super) fn pack(kind: ModelKind, model: &(impl Serialize + Validate)) -> Result<Vec<u8>, ModelError> {
    pack_parts(kind, model, model)
}

/// The same of a model that is written in these parts.
pub(super) fn pack_parts(
    kind: ModelKind,
    model: &impl Validate,
    parts: &impl Serialize,
) -> Result<Vec<u8>, ModelError> {
    model.validate()?;
    // The header's place is left in front of the body, so that it need not be copied.
    let mut bytes = postcard::to_extend(parts, vec![0; HEADER])?;
    let (place, body) = bytes.split_at_mut(HEADER);
    if body.len() as u64 > MOST_BYTES - HEADER as u64 {
        return Err(ModelError::TooLarge { most: MOST_BYTES });
    }
    let mut header = Header { version: VERSION, kind: kind.code(), checksum: 0, length: body.len() as u64 };
    header.checksum = header.checksum(body);
    place[..8].copy_from_slice(&MAGIC);
    place[8..10].copy_from_slice(&header.version.to_le_bytes());
    place[10..12].copy_from_slice(&header.kind.to_le_bytes());
    place[12..16].copy_from_slice(&header.checksum.to_le_bytes());
    place[16..24].copy_from_slice(&header.length.to_le_bytes());
    Ok(bytes)
}

/// The bytes of a file, whose header is looked at before its body is read: no more of that than the
/// header says, and a byte by which what is behind it is known.
pub(super) fn read(mut input: impl Read) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    input.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(ModelError::Io)?;
    if let Some(header) = check_beginning(&bytes)? {
        if header.length > MOST_BYTES - HEADER as u64 {
            return Err(ModelError::TooLarge { most: MOST_BYTES });
        }
        input.take(header.length + 1).read_to_end(&mut bytes).map_err(ModelError::Io)?;
    }
    Ok(bytes)
}

/// Refuses what does not begin as a file of this version and of a known kind; `None` where it ends
/// within the header.
fn check_beginning(bytes: &[u8]) -> Result<Option<Header>, ModelError> {
    if bytes.starts_with(&DEVELOPMENT) {
        return Err(ModelError::Development);
    }
    let begun = bytes.len().min(MAGIC.len());
    if begun == 0 || bytes[..begun] != MAGIC[..begun] {
        return Err(ModelError::NotAModel);
    }
    let Some(header) = Header::read(bytes) else { return Ok(None) };
    if header.version != VERSION {
        return Err(ModelError::UnknownVersion { version: header.version });
    }
    match ModelKind::of_code(header.kind) {
        Some(_) => Ok(Some(header)),
        None => Err(ModelError::UnknownKind(header.kind)),
    }
}

/// A file that is whole and as it was written.
pub(super) struct ModelFrame<'a> {
    pub(super) kind: ModelKind,
    pub(super) body: &'a [u8],
}

/// The parts of a file.
pub(super) fn open(bytes: &[u8]) -> Result<ModelFrame<'_>, ModelError> {
    let header = check_beginning(bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ModelError::TooLarge { most: MOST_BYTES });
    }
    let got = bytes.len() as u64;
    let Some(header) = header else { return Err(ModelError::Truncated { expected: HEADER as u64, got }) };
    let Some(kind) = ModelKind::of_code(header.kind) else { return Err(ModelError::UnknownKind(header.kind)) };
    let body = &bytes[HEADER..];
    let expected = header.length.saturating_add(HEADER as u64);
    if got < expected {
        return Err(ModelError::Truncated { expected, got });
    }
    if got > expected {
        return Err(ModelError::Trailing { extra: got - expected });
    }
    let computed = header.checksum(body);
    if header.checksum != computed {
        return Err(ModelError::Altered { stored: header.checksum, computed });
    }
    Ok(ModelFrame { kind, body })
}

/// The model of a body, if it holds together.
pub(super) fn decode<T: DeserializeOwned + Validate>(body: &[u8]) -> Result<T, ModelError> {
    let model: T = decode_parts(body)?;
    model.validate()?;
    Ok(model)
}

/// The parts of a body, which are yet to be looked at.
pub(super) fn decode_parts<T: DeserializeOwned>(body: &[u8]) -> Result<T, ModelError> {
    let (parts, rest) = postcard::take_from_bytes(body)?;
    if !rest.is_empty() {
        return Err(ModelError::Trailing { extra: rest.len() as u64 });
    }
    Ok(parts)
}
