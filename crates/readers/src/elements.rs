//! The elements of a JSON array, one a line, so that an array is read as NDJSON is: its rows are
//! counted, not its lines.

use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Damage to an array as a whole. Damage to an element is told when the element is read.
#[derive(Debug)]
pub(crate) struct BadArray {
    pub(crate) expected: &'static str,
}

impl fmt::Display for BadArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl std::error::Error for BadArray {}

/// The rows of JSON text as lines: the elements of an array of objects or arrays, which is told by
/// the first two characters, or the text as it is. The answer says whether it is an array.
pub(crate) fn lines(mut source: Box<dyn BufRead + Send>) -> io::Result<(bool, Box<dyn BufRead + Send>)> {
    let (mut head, mut opened) = (Vec::new(), None);
    let array = loop {
        let before = head.len();
        source.by_ref().take(1).read_to_end(&mut head)?;
        let Some(&byte) = head.get(before) else { break false };
        match (byte, opened) {
            (b' ' | b'\t' | b'\r' | b'\n', _) | (0xef | 0xbb | 0xbf, None) => {}
            (b'[', None) => opened = Some(head.len()),
            (b'[' | b'{' | b']', Some(_)) => break true,
            _ => break false,
        }
    };
    let begin = opened.filter(|_| array).unwrap_or(0);
    let rest = Cursor::new(head.split_off(begin)).chain(source);
    Ok((array, if array { Box::new(BufReader::new(Elements::new(rest))) } else { Box::new(BufReader::new(rest)) }))
}

/// The text of an array behind its opening bracket, with a line end for every comma between its
/// elements.
struct Elements<R> {
    source: R,
    depth: usize,
    state: ElementState,
    /// True if the current element has begun.
    begun: bool,
    /// True if an element has ended with a comma.
    several: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum ElementState {
    /// Between or within elements, not in a string.
    Plain,
    Quoted,
    Escaped,
    /// Behind the closing bracket.
    Closed,
}

impl<R: BufRead> Elements<R> {
    fn new(source: R) -> Self {
        Self { source, depth: 0, state: ElementState::Plain, begun: false, several: false }
    }

    /// The byte that stands for `byte`.
    fn take(&mut self, byte: u8) -> Result<u8, BadArray> {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            ElementState::Escaped => self.state = ElementState::Quoted,
            ElementState::Quoted => match byte {
                b'"' => self.state = ElementState::Plain,
                b'\\' => self.state = ElementState::Escaped,
                _ => {}
            },
            ElementState::Closed if blank => {}
            ElementState::Closed => return Err(BadArray { expected: "nothing behind the array" }),
            ElementState::Plain if blank => {}
            ElementState::Plain => match (byte, self.depth) {
                (b',' | b']', 0) if !self.begun && (byte == b',' || self.several) => {
                    return Err(BadArray { expected: "an element between two commas, and before the closing ]" });
                }
                (b',', 0) => {
                    self.several = true;
                    self.begun = false;
                    return Ok(b'\n');
                }
                (b']', 0) => {
                    self.state = ElementState::Closed;
                    return Ok(b'\n');
                }
                _ => {
                    self.begun = true;
                    match byte {
                        b'"' => self.state = ElementState::Quoted,
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                }
            },
        }
        // An element is one line.
        Ok(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte })
    }
}

impl<R: BufRead> Read for Elements<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let mut taken = 0;
        while taken == 0 && !bytes.is_empty() {
            let available = self.source.fill_buf()?;
            if available.is_empty() {
                return match self.state {
                    ElementState::Closed => Ok(0),
                    _ => Err(invalid(BadArray { expected: "a closing ] at the end of the array" })),
                };
            }
            let count = available.len().min(bytes.len());
            bytes[..count].copy_from_slice(&available[..count]);
            for at in 0..count {
                match self.take(bytes[at]) {
                    Ok(byte) => bytes[at] = byte,
                    // What comes before is given out first; the error comes again with its byte.
                    Err(error) if at == 0 => return Err(invalid(error)),
                    Err(_) => {
                        self.source.consume(at);
                        return Ok(at);
                    }
                }
                taken = at + 1;
            }
            self.source.consume(taken);
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines, or what is wrong, taken `piece` bytes at a time.
    fn read(text: &str, piece: usize) -> Result<Vec<String>, String> {
        let source = BufReader::with_capacity(piece, Cursor::new(text.as_bytes().to_vec()));
        let (array, source) = lines(Box::new(source)).unwrap();
        assert!(array, "{text}");
        let mut out = String::new();
        let read = BufReader::with_capacity(piece, source).read_to_string(&mut out);
        read.map_err(|error| error.to_string())?;
        Ok(out.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "{\"a\":1}\n", "\n\n [1,2]\n[3,4]\n", "[", "[\n1", "1,2\n", "\u{feff}{}\n"] {
            let (array, mut source) = lines(Box::new(Cursor::new(text.to_owned()))).unwrap();
            let mut out = String::new();
            source.read_to_string(&mut out).unwrap();
            assert_eq!((array, &out[..]), (false, text));
        }
    }

    #[test]
    fn elements_are_lines() {
        let text = " \n[{\"a\": [1, 2],\n \"b\": \"x],\\\"[\"} ,\r\n{} , [3,4]\n]\n\n";
        let expected = ["{\"a\": [1, 2],  \"b\": \"x],\\\"[\"}", "{}", "[3,4]"];
        for piece in [1, 2, 3, 100] {
            assert_eq!(read(text, piece).unwrap(), expected, "{piece}");
        }
        assert!(read("[]", 9).unwrap().is_empty());
        assert!(read("[ ]\n", 9).unwrap().is_empty());
        for (text, expected) in [
            ("[{}", "expected a closing ] at the end of the array"),
            ("[{\"a]", "expected a closing ]"),
            ("[{},]", "expected an element"),
            ("[{},\n,{}]", "expected an element"),
            ("[{},,{}]", "expected an element"),
            ("[{}] x", "expected nothing behind the array"),
        ] {
            let message = read(text, 3).unwrap_err();
            assert!(message.starts_with(expected), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[\\[\\]{}\",\\\\a \n]{0,40}", piece in 1_usize..7) {
            let text = format!("[{{}}{text}");
            prop_assert_eq!(read(&text, piece), read(&text, 1000));
        }
    }
}
