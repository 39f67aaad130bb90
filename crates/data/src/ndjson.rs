//! NDJSON: one flat JSON object of numbers a line.
//!
//! The first row names the columns and fixes their order; the later rows must have the same keys, in any order. Objects this flat
//! are scanned here rather than by a general parser, so that an error knows its key and `NaN`, which many writers put out although
//! JSON has no such value, is refused as what it is.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::DataError;
use crate::lines::Lines;
use crate::number::{self, Parsed};
use crate::options::{Missing, ReadOptions};

/// The rows of an NDJSON file.
pub(crate) struct Ndjson {
    names: Vec<String>,
    columns: HashMap<String, usize>,
    target: Option<usize>,
    missing: Missing,
    /// The first row is read for its keys and not yet given out.
    pending: bool,
    /// The values of the current row by column; `None` is a key not seen.
    row: Vec<Option<f64>>,
}

impl Ndjson {
    /// Takes the columns from the first row.
    pub(crate) fn begin(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        if !lines.advance()? {
            return Err(DataError::Empty { file: lines.file().to_owned() });
        }
        let mut names: Vec<String> = Vec::new();
        let mut columns = HashMap::new();
        Scanner::new(lines).pairs(|key, value| {
            let column = names.len();
            names.push(key.to_owned());
            if matches!(value, Value::Nested) {
                return Err(DataError::NestedValue { cell: lines.cell(column, Some(key)) });
            }
            match columns.insert(key.to_owned(), column) {
                None => Ok(()),
                Some(_) => Err(DataError::RepeatedKey { line: lines.line(), key: key.to_owned() }),
            }
        })?;
        let target = options.target.resolve(lines.file(), names.len(), Some(&names))?;
        Ok(Self { row: vec![None; names.len()], names, columns, target, missing: options.missing, pending: true })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn target(&self) -> Option<usize> {
        self.target
    }

    /// As [`Delimited::row`](crate::delimited::Delimited::row).
    pub(crate) fn row(&mut self, lines: &mut Lines, features: &mut Vec<f64>) -> Result<Option<Option<f64>>, DataError> {
        if !std::mem::take(&mut self.pending) && !lines.advance()? {
            return Ok(None);
        }
        self.row.fill(None);
        let Self { names, columns, target, missing, row, .. } = self;
        let (target, missing) = (*target, *missing);
        let mut usual = 0;
        Scanner::new(lines).pairs(|key, value| {
            // Nearly every writer keeps the order of the keys, so the next column is tried before the map.
            let column = match names.get(usual) {
                Some(name) if name == key => usual,
                _ => *columns
                    .get(key)
                    .ok_or_else(|| DataError::UnknownKey { line: lines.line(), key: key.to_owned() })?,
            };
            usual = column + 1;
            let place = || lines.cell(column, Some(key));
            let value = match value {
                Value::Number(value) => value,
                Value::Nan(_) | Value::Null if missing == Missing::Nan => f64::NAN,
                Value::Nan(text) | Value::NotFinite(text) => {
                    return Err(DataError::NotFinite { cell: place(), value: text.into_owned() });
                }
                Value::Text(text) => {
                    return Err(DataError::NotANumber { cell: place(), value: text.into_owned() });
                }
                Value::Null if target == Some(column) => {
                    return Err(DataError::MissingTarget { cell: place() });
                }
                Value::Null => return Err(DataError::EmptyCell { cell: place() }),
                Value::Nested => return Err(DataError::NestedValue { cell: place() }),
            };
            match row[column].replace(value) {
                None => Ok(()),
                Some(_) => Err(DataError::RepeatedKey { line: lines.line(), key: key.to_owned() }),
            }
        })?;
        for (column, value) in row.iter().enumerate() {
            match value {
                Some(value) if target != Some(column) => features.push(*value),
                Some(_) => {}
                None if missing == Missing::Nan && target != Some(column) => features.push(f64::NAN),
                None if missing == Missing::Nan => {}
                None if target == Some(column) => {
                    return Err(DataError::MissingTarget { cell: lines.cell(column, Some(&names[column])) });
                }
                None => {
                    return Err(DataError::MissingKey { line: lines.line(), key: names[column].clone() });
                }
            }
        }
        Ok(Some(target.map(|column| row[column].unwrap_or(f64::NAN))))
    }
}

/// What stands behind a key.
enum Value<'a> {
    Number(f64),
    Nan(Cow<'a, str>),
    NotFinite(Cow<'a, str>),
    Text(Cow<'a, str>),
    Null,
    Nested,
}

/// Goes through one line that should be one flat object.
struct Scanner<'a> {
    lines: &'a Lines,
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(lines: &'a Lines) -> Self {
        Self { lines, text: lines.text(), at: 0 }
    }

    /// Hands every key and value to `take`, and ends the scan at its first error.
    fn pairs(mut self, mut take: impl FnMut(&str, Value<'a>) -> Result<(), DataError>) -> Result<(), DataError> {
        self.symbol(b'{', "an object that begins with {")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                let key = self.string("a key in double quotes")?;
                self.symbol(b':', "a colon behind the key")?;
                let value = self.value()?;
                let nested = matches!(value, Value::Nested);
                take(&key, value)?;
                if nested {
                    return Ok(());
                }
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

    fn value(&mut self) -> Result<Value<'a>, DataError> {
        const EXPECTED: &str = "a number";
        match self.peek() {
            Some(b'"') => return Ok(Value::Text(self.string(EXPECTED)?)),
            Some(b'{' | b'[') => return Ok(Value::Nested),
            _ => {}
        }
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t')).unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            b"null" => Value::Null,
            b"true" | b"false" => Value::Text(String::from_utf8_lossy(word)),
            _ => match number::parse(word) {
                Parsed::Number(value) => Value::Number(value),
                Parsed::Nan => Value::Nan(String::from_utf8_lossy(word)),
                Parsed::NotFinite => Value::NotFinite(String::from_utf8_lossy(word)),
                Parsed::Empty | Parsed::Text => return Err(self.wrong(EXPECTED)),
            },
        };
        self.at += end;
        Ok(value)
    }

    fn wrong(&self, expected: &'static str) -> DataError {
        DataError::BadJson { line: self.lines.line(), character: self.at + 1, expected }
    }
}
