//! Text of other encodings than UTF-8, as UTF-8: UTF-16 from its first bytes, and lines of
//! Windows-1252 where they are no UTF-8.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes of a text that were UTF-16.
struct Utf16 {
    source: Box<dyn BufRead + Send>,
    decoder: Decoder,
    /// Text that is decoded.
    ready: Cursor<Vec<u8>>,
    /// True once all bytes are decoded; a decoder must not be asked again then.
    ended: bool,
}

/// The encoding of a text, if it is UTF-16, and its bytes as UTF-8.
pub(crate) fn undo(mut source: Box<dyn BufRead + Send>) -> io::Result<(Option<&'static str>, Box<dyn BufRead + Send>)> {
    let mut head = Vec::new();
    // Two bytes tell, and every line has them, or is blank.
    while head.len() < 2 && head != b"\n" && source.by_ref().take(1).read_to_end(&mut head)? > 0 {}
    let encoding: Option<&'static Encoding> = match head[..] {
        [0xff, 0xfe] | [b' '..=b'~', 0] => Some(UTF_16LE),
        [0xfe, 0xff] | [0, b' '..=b'~'] => Some(UTF_16BE),
        _ => None,
    };
    let whole = Box::new(Cursor::new(head).chain(source));
    Ok(match encoding {
        None => (None, whole),
        Some(encoding) => {
            let decoder = encoding.new_decoder_with_bom_removal();
            (
                Some(encoding.name()),
                Box::new(BufReader::new(Utf16 { source: whole, decoder, ready: Cursor::default(), ended: false })),
            )
        }
    })
}

impl Read for Utf16 {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Self { source, decoder, ready, ended } = self;
        // A character needs more room than some ask for.
        while !*ended && ready.position() == ready.get_ref().len() as u64 {
            let more = source.fill_buf()?;
            *ended = more.is_empty();
            let mut text = vec![0; 4 * more.len() + 16];
            let (result, read, written) = decoder.decode_to_utf8_without_replacement(more, &mut text, *ended);
            source.consume(read);
            if matches!(result, DecoderResult::Malformed(..)) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "damaged UTF-16"));
            }
            text.truncate(written);
            *ready = Cursor::new(text);
        }
        ready.read(bytes)
    }
}

/// The text of bytes that are no UTF-8, if they may be Windows-1252: no control characters are
/// among them, and none that it lacks.
pub(crate) fn of_windows(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let is_text =
        |byte: &u8| !matches!(byte, 0..=8 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f | 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    if std::str::from_utf8(bytes).is_ok() || !bytes.iter().all(is_text) {
        return None;
    }
    WINDOWS_1252.decode_without_bom_handling_and_without_replacement(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(bytes: &[u8]) -> (Option<&'static str>, String) {
        let (encoding, mut text) = undo(Box::new(Cursor::new(bytes.to_vec()))).unwrap();
        let mut all = String::new();
        text.read_to_string(&mut all).unwrap();
        // Whoever looks ahead may ask again at the end.
        assert_eq!(text.read(&mut [0; 8]).unwrap(), 0);
        (encoding, all)
    }

    #[test]
    fn utf16_is_seen_by_its_first_bytes() {
        let text = "größe,y\n1,2\n𝄞,3\n";
        for mark in ["", "\u{feff}"] {
            let units = format!("{mark}{text}").encode_utf16().collect::<Vec<u16>>();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            assert_eq!(undone(&little), (Some("UTF-16LE"), text.to_owned()));
            assert_eq!(undone(&big), (Some("UTF-16BE"), text.to_owned()));
        }
        for text in ["", "1", "\n", "\n1\n", "1\n", "é\n"] {
            assert_eq!(undone(text.as_bytes()), (None, text.to_owned()));
        }
        // Half a character, and half of a pair of units.
        for damaged in [&b"\xff\xfea\0b"[..], b"\xff\xfe\x34\xd8a\0"] {
            let (_, mut text) = undo(Box::new(Cursor::new(damaged.to_vec()))).unwrap();
            assert!(text.read_to_end(&mut Vec::new()).is_err());
        }
    }

    #[test]
    fn lines_of_windows_have_no_control_characters() {
        assert_eq!(of_windows(b"Gr\xf6\xdfe;12 \x80\n").as_deref(), Some("Größe;12 €\n"));
        for bytes in ["Größe".as_bytes(), b"plain", b"\xff\x00\x01", b"\x81\xe9", b"\xe9\x1b[0m"] {
            assert_eq!(of_windows(bytes), None, "{bytes:?}");
        }
    }
}
