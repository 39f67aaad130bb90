//! The bytes of a journal.
//!
//! Eight bytes of magic, and two slots for marks, 16 bytes each: a mark is where the model stood
//! when a save of it began. The slots are written in turn and in place, so that a full disk cannot
//! refuse a mark. Then frames of rows: a head of 12 bytes (length and CRC-32 of the body, and the
//! CRC-32 of these two), and the body in postcard. A flipped bit of a length is so told from the
//! end of a file that was cut off.
//!
//! A frame is written before its rows are learnt, so a kill or a loss of power can only leave a
//! frame behind that is not whole at the end of the file. It is shorter than it says, or has blank
//! sectors. Whatever else does not fit its checksum is damaged.

use mercer_serve::Row;
use serde::{Deserialize, Serialize};

use super::Place;

pub(super) const MAGIC: &[u8; 8] = b"MERCERJ2";
/// Of journals in the format before, which had no marks of their own.
const MAGIC_BEFORE: &[u8; 8] = b"MERCERJ1";

/// The bytes of a mark, and those before the first frame.
const SLOT: usize = 16;
pub(super) const BEGINNING: usize = MAGIC.len() + 2 * SLOT;

/// The bytes before the body of a frame.
const HEAD: usize = 12;

/// A disk writes sectors of this size whole.
const SECTOR: usize = 512;

/// Rows of one request, and where the model stood before them.
#[derive(Serialize, Deserialize)]
struct Body {
    met: u64,
    fingerprint: u32,
    rows: Vec<Row>,
}

/// A frame that was read.
pub(super) struct RowFrame {
    /// Where it begins in the file.
    pub(super) at: usize,
    pub(super) place: Place,
    pub(super) rows: Vec<Row>,
}

/// What a file holds.
#[derive(Default)]
pub(super) struct Contents {
    /// By slot.
    pub(super) marks: [Option<Place>; 2],
    pub(super) frames: Vec<RowFrame>,
    /// Where the last frame ends that has only whole ones before it.
    pub(super) end: usize,
    pub(super) rest: Rest,
}

/// What is behind the whole frames.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Rest {
    #[default]
    Nothing,
    /// A frame that was not written whole, and so not accepted.
    Torn,
    /// What a crash does not leave.
    Damaged,
}

/// Why bytes are none of a journal.
#[derive(Debug, PartialEq)]
pub(super) enum NoJournal {
    Other,
    Before,
}

/// The head of a file without rows.
pub(super) fn beginning() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.resize(BEGINNING, 0);
    bytes
}

/// The place of a slot in the file, and the bytes of a mark.
pub(super) fn mark(slot: usize, place: Place) -> (u64, Vec<u8>) {
    let mut bytes = [&place.met.to_le_bytes()[..], &place.fingerprint.to_le_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    ((MAGIC.len() + slot * SLOT) as u64, bytes)
}

/// The bytes of a frame.
///
/// # Errors
/// If the rows have more bytes than a frame can.
pub(super) fn frame(place: Place, rows: &[Row]) -> Result<Vec<u8>, mercer_serve::Reason> {
    let Place { met, fingerprint } = place;
    let body = postcard::to_allocvec(&Body { met, fingerprint, rows: rows.to_vec() })?;
    let size = u32::try_from(body.len())?;
    let mut bytes = [size, crc32fast::hash(&body)].map(u32::to_le_bytes).concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    Ok([bytes, body].concat())
}

/// Reads a whole file.
///
/// # Errors
/// If it is something else.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, NoJournal> {
    if bytes.starts_with(MAGIC_BEFORE) {
        return Err(NoJournal::Before);
    }
    // A kill may have come while the first bytes were written, or have left them blank.
    let blank = bytes.iter().all(|byte| *byte == 0);
    if !blank && !MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) {
        return Err(NoJournal::Other);
    }
    if bytes.len() < BEGINNING || blank {
        return Ok(Contents::default());
    }
    let slot = |slot: usize| {
        let at = MAGIC.len() + slot * SLOT;
        let place = Place { met: number8(bytes, at), fingerprint: number4(bytes, at + 8) };
        (crc32fast::hash(&bytes[at..at + 12]) == number4(bytes, at + 12)).then_some(place)
    };
    let mut contents = Contents { marks: [slot(0), slot(1)], end: BEGINNING, ..Contents::default() };
    while let Some((frame, next)) = frame_at(bytes, contents.end) {
        contents.frames.push(frame);
        contents.end = next;
    }
    contents.rest = rest(bytes, contents.end);
    Ok(contents)
}

/// The whole frames at and behind a place that is damaged.
pub(super) fn behind(bytes: &[u8], from: usize) -> Vec<RowFrame> {
    let (mut found, mut at) = (Vec::new(), from);
    while at < bytes.len() {
        at = match frame_at(bytes, at) {
            Some((frame, next)) => {
                found.push(frame);
                next
            }
            None => at + 1,
        };
    }
    found
}

/// The length of the body of a frame, if its head is whole.
fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let head = bytes.get(at..at + HEAD)?;
    (crc32fast::hash(&head[..8]) == number4(head, 8)).then(|| number4(head, 0) as usize)
}

/// The frame at a place, and where the next one begins.
fn frame_at(bytes: &[u8], at: usize) -> Option<(RowFrame, usize)> {
    let start = at + HEAD;
    let end = start.checked_add(length_at(bytes, at)?)?;
    let body = bytes.get(start..end)?;
    if crc32fast::hash(body) != number4(bytes, at + 4) {
        return None;
    }
    let Body { met, fingerprint, rows } = postcard::from_bytes(body).ok()?;
    Some((RowFrame { at, place: Place { met, fingerprint }, rows }, end))
}

/// What stands at the end of the whole frames.
fn rest(bytes: &[u8], at: usize) -> Rest {
    let left = &bytes[at.min(bytes.len())..];
    if left.is_empty() {
        return Rest::Nothing;
    }
    let cut = left.len() < HEAD || length_at(bytes, at).is_some_and(|length| at + HEAD + length > bytes.len());
    match (cut || has_blank_sector(bytes, at)) && behind(bytes, at).is_empty() {
        true => Rest::Torn,
        false => Rest::Damaged,
    }
}

/// True if a sector is blank from there on, or the part of one at an end: a disk that lost its
/// power had the length of the file, and not yet what was in it.
fn has_blank_sector(bytes: &[u8], from: usize) -> bool {
    let mut at = from;
    while at < bytes.len() {
        let end = (at / SECTOR + 1) * SECTOR;
        let part = &bytes[at..end.min(bytes.len())];
        // A few zeros at an end may be those of numbers.
        if part.len() >= HEAD && part.iter().all(|byte| *byte == 0) {
            return true;
        }
        at = end;
    }
    false
}

fn number4(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

fn number8(bytes: &[u8], at: usize) -> u64 {
    u64::from(number4(bytes, at)) | u64::from(number4(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use mercer_serve::Value;

    use super::*;

    fn journal(requests: u64) -> Vec<u8> {
        let mut bytes = beginning();
        for met in 0..requests {
            let row = Row { values: vec![Value::Number(0.1)], targets: vec![Value::Number(met as f64)], weight: 1.0 };
            bytes.extend(frame(Place { met, fingerprint: 7 }, &[row]).unwrap());
        }
        bytes
    }

    /// Of a bit of a length, too; a tail is torn only where nothing whole stands behind it.
    #[test]
    fn each_flipped_bit_is_found() {
        let whole = journal(4);
        for at in BEGINNING..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                let contents = read(&bytes).unwrap();
                assert_eq!(contents.rest, Rest::Damaged, "byte {at}, bit {bit}");
                // Only the frame of the bit is lost.
                assert_eq!(contents.frames.len() + behind(&bytes, contents.end).len(), 3);
            }
        }
        for bit in 0..64 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes).is_err());
        }
    }

    #[test]
    fn each_end_that_a_crash_leaves_is_torn() {
        let whole = journal(3);
        let last = journal(2).len();
        for length in last + 1..whole.len() {
            let contents = read(&whole[..length]).unwrap();
            assert_eq!((contents.frames.len(), contents.rest), (2, Rest::Torn), "{length}");
            // The length is there, and nothing else.
            let mut bytes = whole[..last].to_vec();
            bytes.resize(whole.len().max(last + HEAD), 0);
            assert_eq!(read(&bytes).unwrap().rest, Rest::Torn);
        }
        for length in 0..BEGINNING {
            let contents = read(&whole[..length]).unwrap();
            assert!(contents.frames.is_empty() && contents.rest == Rest::Nothing && contents.end == 0, "{length}");
            assert_eq!(read(&vec![0; length]).unwrap().end, 0);
        }
        assert_eq!(read(b"MERCERJ1xx").err(), Some(NoJournal::Before));
        assert_eq!(read(b"a,b\n1,2\n").err(), Some(NoJournal::Other));
    }
}
