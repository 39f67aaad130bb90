//! The header around a model's body, and the body.

use mercer_core::Validate;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ModelError, ModelKind};

/// The version that is written.
pub const VERSION: u16 = 7;

/// Largest file: 4 GiB.
pub const MOST_BYTES: u64 = 1 << 32;

/// What every model file begins with. No text file begins so, and a transfer that changes line ends or cuts the eighth bit breaks it.
pub const MAGIC: [u8; 8] = *b"\x89MERCER\n";

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
    model.validate()?;
    // The header's place is left in front of the body, so that it need not be copied.
    let mut bytes = postcard::to_extend(model, vec![0; HEADER])?;
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

/// A file that is whole and as it was written.
pub(super) struct Opened<'a> {
    /// From 1 to [`VERSION`].
    pub(super) version: u16,
    pub(super) kind: ModelKind,
    pub(super) body: &'a [u8],
}

/// The parts of a file.
pub(super) fn open(bytes: &[u8]) -> Result<Opened<'_>, ModelError> {
    let begun = bytes.len().min(MAGIC.len());
    if begun == 0 || bytes[..begun] != MAGIC[..begun] {
        return Err(ModelError::NotAModel);
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ModelError::TooLarge { most: MOST_BYTES });
    }
    let got = bytes.len() as u64;
    let Some(header) = Header::read(bytes) else {
        return Err(ModelError::Truncated { expected: HEADER as u64, got });
    };
    if !(1..=VERSION).contains(&header.version) {
        return Err(ModelError::UnknownVersion { version: header.version, newest: VERSION });
    }
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
    Ok(Opened { version: header.version, kind, body })
}

/// The model of a body that `version` wrote, if it holds together.
pub(super) fn decode<T: DeserializeOwned + Validate>(version: u16, body: &[u8]) -> Result<T, ModelError> {
    decode_old::<T, T>(version, body)
}

/// The same of a body with another layout, which is made into the present one.
pub(super) fn decode_old<Old: DeserializeOwned, T: From<Old> + Validate>(
    version: u16,
    body: &[u8],
) -> Result<T, ModelError> {
    // Fields that learners gained later are not in the body: see `mercer_core::since`.
    let (old, rest) = mercer_core::reading(version, || postcard::take_from_bytes::<Old>(body))?;
    if !rest.is_empty() {
        return Err(ModelError::Trailing { extra: rest.len() as u64 });
    }
    let model = T::from(old);
    model.validate()?;
    Ok(model)
}

#[cfg(test)]
mod tests {
    use mercer_core::Inconsistent;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Grown {
        weight: f64,
        #[serde(deserialize_with = "mercer_core::since::<3, _, _>")]
        rounds: Option<u64>,
        last: u8,
    }

    impl Validate for Grown {
        fn validate(&self) -> Result<(), Inconsistent> {
            Ok(())
        }
    }

    #[test]
    fn fields_are_read_by_the_version_of_the_file() -> Result<(), ModelError> {
        let old = postcard::to_allocvec(&(0.5, 7_u8))?;
        for version in [1, 2] {
            assert_eq!(decode::<Grown>(version, &old)?, Grown { weight: 0.5, rounds: None, last: 7 });
        }
        let file = pack(ModelKind::Regression, &Grown { weight: 0.5, rounds: Some(9), last: 7 })?;
        let opened = open(&file)?;
        let read: Grown = decode(opened.version, opened.body)?;
        assert_eq!((opened.version, read.rounds), (VERSION, Some(9)));
        assert!(matches!(decode::<Grown>(2, opened.body), Err(ModelError::Trailing { .. })));
        Ok(())
    }
}
