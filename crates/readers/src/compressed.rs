//! Bytes that are compressed, by gzip or zstd, as they were before. What they are is seen from
//! their first bytes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Bytes asked of the system at once.
const BUFFER: usize = 128 << 10;

/// Compression of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

impl Compression {
    const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    /// True if this may be the beginning of it, and if it is one for certain; no text begins so.
    /// zstd may begin with a frame that is to be skipped.
    fn begins(self, head: &[u8]) -> (bool, bool) {
        let is_begun = |magic: &[u8]| (magic.starts_with(head), head == magic);
        match (self, head) {
            (Self::Gzip, _) => is_begun(b"\x1f\x8b"),
            (Self::Zstd, [first @ 0x50..=0x5f, ..]) => is_begun(&[*first, 0x2a, 0x4d, 0x18]),
            (Self::Zstd, _) => is_begun(b"\x28\xb5\x2f\xfd"),
        }
    }

    /// The ending of a file's name, without the dot.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    /// The compression that a file's name promises.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        Self::ALL.into_iter().find(|compression| ending.eq_ignore_ascii_case(compression.ending()))
    }

    /// A name without the ending that promises compression, in lower case.
    pub(crate) fn strip(name: &str) -> &str {
        let endings = [".gz", ".zst"];
        endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }

    /// Finds out what the bytes of `input` are, and gives the bytes that they were.
    pub(crate) fn undo(mut input: Box<dyn Read + Send>) -> io::Result<(Option<Self>, Box<dyn BufRead + Send>)> {
        let mut head = Vec::new();
        // A byte more only where the bytes so far are those of a compression, so that a slow
        // writer's first line need not be longer than it is.
        let found = loop {
            let begun = |compression: &Self| compression.begins(&head).0;
            let Some(compression) = Self::ALL.into_iter().find(begun) else { break None };
            if compression.begins(&head).1 {
                break Some(compression);
            }
            if input.by_ref().take(1).read_to_end(&mut head)? == 0 {
                break None;
            }
        };
        let whole = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(input));
        Ok((
            found,
            match found {
                None => Box::new(whole),
                Some(Self::Gzip) => Box::new(BufReader::with_capacity(BUFFER, Gzip::new(whole))),
                Some(Self::Zstd) => Box::new(BufReader::with_capacity(BUFFER, Zstd::new(whole))),
            },
        ))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// The bytes of members of gzip that follow one another. Zeros behind the last are none, as tapes
/// and some writers leave them.
struct Gzip<R> {
    /// The member that is given out; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    fn new(source: R) -> Self {
        Self { member: Some(GzDecoder::new(source)) }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let taken = member.read(bytes)?;
            if taken > 0 || bytes.is_empty() {
                return Ok(taken);
            }
            self.member = match self.member.take() {
                Some(ended) => behind_zeros(ended.into_inner())?.map(GzDecoder::new),
                None => None,
            };
        }
        Ok(0)
    }
}

/// The bytes behind the zeros that these begin with; `None` if there are none.
fn behind_zeros<R: BufRead>(mut source: R) -> io::Result<Option<R>> {
    loop {
        let behind = source.fill_buf()?;
        let (zeros, all) = (behind.iter().take_while(|byte| **byte == 0).count(), behind.len());
        source.consume(zeros);
        if zeros < all || all == 0 {
            return Ok((all > 0).then_some(source));
        }
    }
}

/// A window of zstd that is too long to be read, for a person to know.
#[derive(Debug, thiserror::Error)]
#[error("its window has {0} MiB, and at most {MOST} are read; compress it with a window of {MOST} MiB or less (zstd --long=27)", MOST = LONGEST_WINDOW >> 20)]
pub(crate) struct LongWindow(u64);

/// Bytes of the longest window of zstd that is read.
const LONGEST_WINDOW: u64 = 128 << 20;

/// The bytes of zstd frames that follow one another, each checked by its checksum if it has one.
pub(crate) struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    /// True if a frame has begun and not been given out to its end.
    within: bool,
}

impl<R: BufRead> Zstd<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), within: false }
    }

    /// Goes to the next frame that holds something; false at the end.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let mut skipped = self.source.by_ref().take(u64::from(length));
                    if io::copy(&mut skipped, &mut io::sink())? < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(FrameDecoderError::WindowSizeTooBig { requested, .. }) => {
                    return Err(io::Error::new(io::ErrorKind::Unsupported, LongWindow(requested >> 20)));
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        while self.within || self.enter()? {
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let step = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                step.map_err(damaged)?;
            }
            let taken = self.decoder.read(bytes)?;
            if taken > 0 {
                return Ok(taken);
            }
            self.within = false;
            let (written, found) = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
            if written.is_some() && written != found {
                return Err(damaged("the checksum is another one"));
            }
        }
        Ok(0)
    }
}

/// Times that zstd makes bytes shorter at most, about: a block of 128 KiB takes four bytes or more.
#[cfg(feature = "arrow")]
const MOST_SHORTER: u64 = 1 << 16;

/// The bytes of one frame of zstd that says how many there are, and no more than `most`; `None` of
/// any other, which a stream may still read, or say why not. On the pages of Parquet this takes a
/// quarter of the stream's time.
#[cfg(feature = "arrow")]
pub(crate) fn whole_frame(frame: &[u8], most: u64) -> Option<Vec<u8>> {
    let told = zstd::zstd_safe::get_frame_content_size(frame).ok().flatten()?;
    if told > most || told / MOST_SHORTER > frame.len() as u64 {
        return None;
    }
    let mut whole = Vec::new();
    whole.try_reserve_exact(usize::try_from(told).ok()?).ok()?;
    let read = zstd::bulk::Decompressor::new().ok()?.decompress_to_buffer(frame, &mut whole).ok()?;
    (read as u64 == told).then_some(whole)
}

fn damaged(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn undone(bytes: Vec<u8>) -> io::Result<(Option<Compression>, Vec<u8>)> {
        let (found, mut input) = Compression::undo(Box::new(Cursor::new(bytes)))?;
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        Ok((found, text))
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn frames_follow_one_another() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        let mut bytes = zstd(&text);
        // A frame that is to be skipped, and an empty one.
        bytes.extend_from_slice(b"\x53\x2a\x4d\x18\x03\x00\x00\x00abc");
        bytes.extend(zstd(b""));
        bytes.extend(zstd(b"end\n"));
        let (found, whole) = undone(bytes).unwrap();
        assert_eq!(found, Some(Compression::Zstd));
        assert!(whole == [&text[..], b"end\n"].concat());
    }

    #[test]
    fn members_and_zeros_behind_them() {
        let gzip = |text: &[u8]| {
            let mut bytes = Vec::new();
            flate2::bufread::GzEncoder::new(text, flate2::Compression::fast()).read_to_end(&mut bytes).unwrap();
            bytes
        };
        for padding in [0, 1, 511, 200_000] {
            let bytes = [gzip(b"a\n"), vec![0; padding], gzip(b"b\n"), vec![0; padding]].concat();
            assert_eq!(undone(bytes).unwrap(), (Some(Compression::Gzip), b"a\nb\n".to_vec()));
        }
        let mut behind = gzip(b"a\n");
        behind.extend_from_slice(b"\0\0text");
        assert!(undone(behind).is_err());
    }

    #[test]
    fn frames_to_skip_may_come_first_and_windows_be_too_long() {
        for first in [0x50, 0x5f] {
            let bytes = [&[first, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 9, 9, 9, 9][..], &zstd(b"end\n")].concat();
            assert_eq!(undone(bytes).unwrap(), (Some(Compression::Zstd), b"end\n".to_vec()));
        }
        // A frame with a window of 2^28 bytes.
        let error = undone(b"\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00".to_vec()).unwrap_err();
        assert!(error.to_string().starts_with("its window has 256 MiB, and at most 128 are read"), "{error}");
    }

    #[cfg(feature = "arrow")]
    #[test]
    fn a_whole_frame_is_the_stream() {
        let text: Vec<u8> =
            (0..50_000_u32).flat_map(|i| format!("{}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        let length = text.len() as u64;
        let frame = zstd::bulk::compress(&text, 1).unwrap();
        assert!(whole_frame(&frame, length).is_some_and(|whole| whole == text));
        assert!(undone(frame.clone()).unwrap().1 == text);
        // More than is wanted, damage, another frame behind, and a length that is not told.
        assert!(whole_frame(&frame, length - 1).is_none());
        assert!(whole_frame(&frame[..frame.len() - 1], length).is_none());
        assert!(whole_frame(&[&frame[..], &frame].concat(), 3 * length).is_none());
        assert!(whole_frame(&zstd::stream::encode_all(&text[..], 1).unwrap(), length).is_none());
        // A frame of one byte that says it holds 2^62.
        let forged = b"\x28\xb5\x2f\xfd\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x40\x09\x00\x00a";
        assert!(whole_frame(forged, u64::MAX).is_none());
    }

    #[test]
    fn damage_is_seen() {
        let whole = zstd(b"some text, and some text again, and some text");
        for cut in [5, whole.len() - 5, whole.len() - 1] {
            assert!(undone(whole[..cut].to_vec()).is_err(), "{cut}");
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(undone(changed).unwrap_err().to_string().contains("checksum"));
        let mut behind = whole;
        behind.extend_from_slice(b"\n");
        assert!(undone(behind).is_err());
    }

    #[test]
    fn other_bytes_stay_as_they_are() {
        for text in [&b""[..], b"P*", b"P,Q\n", b"\x1f", b"\x28\xb5\x2f", b"\x28", b"(1)\n", b"1,2\n"] {
            assert_eq!(undone(text.to_vec()).unwrap(), (None, text.to_vec()));
        }
    }
}
