//! One flat object or array of JSON, scanned here rather than by a general parser: an error knows
//! its key, and `NaN`, which many writers put out although JSON has no such value, is refused as
//! what it is.

use std::borrow::Cow;

use mercer_core::Cell;

use crate::error::DataError;
use crate::gaps::Gaps;
use crate::lines::Lines;
use crate::number::{self, ParsedCell};

/// The whole number that a word is digit by digit.
fn whole(word: &[u8]) -> Option<i128> {
    // Shorter ones are exact.
    if word.len() < 16 { None } else { std::str::from_utf8(word).ok()?.parse().ok() }
}

/// The value behind a key.
pub(crate) enum JsonValue<'a> {
    Number(f64),
    /// One whose digits a number would lose.
    Integer(i128),
    Nan(Cow<'a, str>),
    NotFinite(Cow<'a, str>),
    Text(Cow<'a, str>),
    Truth(bool),
    Null,
    /// The text of an array or an object.
    List(&'a str),
}

impl JsonValue<'_> {
    /// The value, or null in its place if it stands for none.
    pub(crate) fn without(self, gaps: &Gaps) -> Self {
        let gap = match &self {
            Self::Text(text) => gaps.has_text(text.as_bytes()),
            Self::Number(value) => gaps.has_number(*value),
            Self::Integer(value) => gaps.has_number(*value as f64),
            Self::Truth(truth) => gaps.without(Cell::Truth(*truth)) == Cell::Missing,
            Self::Nan(_) | Self::NotFinite(_) | Self::Null | Self::List(_) => false,
        };
        if gap { Self::Null } else { self }
    }
}

/// Goes through one line that should be one flat object.
pub(crate) struct Scanner<'a> {
    lines: &'a Lines,
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(lines: &'a Lines) -> Self {
        Self { lines, text: lines.text(), at: 0 }
    }

    /// Hands every key and value to `take`, and ends the scan at its first error.
    pub(crate) fn pairs(
        mut self,
        mut take: impl FnMut(&str, JsonValue<'a>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        self.symbol(b'{', "an object that begins with {")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                let key = self.string("a key in double quotes")?;
                self.symbol(b':', "a colon behind the key")?;
                let value = self.value()?;
                take(&key, value)?;
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return Err(self.wrong("a comma or a closing }")),
                }
            }
            self.at += 1;
        }
        if self.peek().is_some() { Err(self.wrong("the end of the line")) } else { Ok(()) }
    }

    /// The same for the values of an array, each with its place.
    pub(crate) fn items(
        mut self,
        mut take: impl FnMut(usize, JsonValue<'a>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        self.symbol(b'[', "an array that begins with [, as the first row does")?;
        for place in 0.. {
            let value = self.value()?;
            take(place, value)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.wrong("a comma or a closing ]")),
            }
        }
        self.at += 1;
        if self.peek().is_some() { Err(self.wrong("the end of the row")) } else { Ok(()) }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn symbol(&mut self, symbol: u8, expected: &'static str) -> Result<(), DataError> {
        if self.peek() == Some(symbol) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.wrong(expected))
        }
    }

    fn string(&mut self, expected: &'static str) -> Result<Cow<'a, str>, DataError> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong(expected));
        }
        let begin = self.at;
        let mut escaped = false;
        loop {
            self.at += 1;
            match self.text.get(self.at) {
                None => return Err(self.wrong("a closing double quote")),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                }
                Some(_) => {}
            }
        }
        self.at += 1;
        let quoted = &self.text[begin..self.at];
        let decoded = if escaped {
            serde_json::from_slice(quoted).ok().map(Cow::Owned)
        } else {
            std::str::from_utf8(&quoted[1..quoted.len() - 1]).ok().map(Cow::Borrowed)
        };
        decoded.ok_or_else(|| {
            self.at = begin;
            self.wrong("a string of valid characters and escapes")
        })
    }

    fn value(&mut self) -> Result<JsonValue<'a>, DataError> {
        const EXPECTED: &str = "a number";
        match self.peek() {
            Some(b'"') => return Ok(JsonValue::Text(self.string(EXPECTED)?)),
            Some(b'{' | b'[') => return self.skip().map(JsonValue::List),
            _ => {}
        }
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t')).unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            b"null" => JsonValue::Null,
            b"true" | b"false" => JsonValue::Truth(word == b"true"),
            _ => match number::parse(word) {
                ParsedCell::Number(value) => match whole(word).map(Cell::integer) {
                    Some(Cell::Integer(value)) => JsonValue::Integer(value),
                    _ => JsonValue::Number(value),
                },
                ParsedCell::Nan => JsonValue::Nan(String::from_utf8_lossy(word)),
                ParsedCell::NotFinite => JsonValue::NotFinite(String::from_utf8_lossy(word)),
                ParsedCell::Empty | ParsedCell::Text => return Err(self.wrong(EXPECTED)),
            },
        };
        self.at += end;
        Ok(value)
    }

    /// Goes behind an object or an array, whose brackets only are looked at, and gives its text.
    fn skip(&mut self) -> Result<&'a str, DataError> {
        let (begin, mut depth) = (self.at, 0_usize);
        loop {
            match self.peek() {
                None => return Err(self.wrong("the closing bracket of a nested value")),
                Some(b'"') => {
                    self.string("a string")?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
            }
            self.at += 1;
            if depth == 0 {
                let text = std::str::from_utf8(&self.text[begin..self.at]);
                return text.map_err(|_| self.wrong("valid characters in the value before"));
            }
        }
    }

    fn wrong(&self, expected: &'static str) -> DataError {
        DataError::BadJson { line: self.lines.line(), character: self.at + 1, expected }
    }
}
