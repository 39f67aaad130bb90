//! NDJSON: one flat JSON object of numbers a line.
//!
//! The first row names the columns and fixes their order, unless the features are asked for by name; the later rows must have the same
//! keys, in any order. Objects this flat
//! are scanned here rather than by a general parser, so that an error knows its key and `NaN`, which many writers put out although
//! JSON has no such value, is refused as what it is.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::columns::{Plan, Role};
use crate::error::DataError;
use crate::lines::Lines;
use crate::number::{self, Parsed};
use crate::options::{Missing, ReadOptions, TargetColumn};

/// The rows of an NDJSON file.
pub(crate) struct Ndjson {
    names: Vec<String>,
    columns: HashMap<String, usize>,
    plan: Plan,
    missing: Missing,
    /// Other keys than these are none of a row's business.
    chosen: bool,
    /// The first row is read for its keys and not yet given out.
    pending: bool,
    /// The values of the current row by column; `None` is a key not seen.
    row: Vec<Option<f64>>,
}

impl Ndjson {
    /// Takes the columns from the first row, unless they are known.
    pub(crate) fn begin(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        if !options.features.is_empty() {
            return Self::chosen(lines, options);
        }
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
        let plan = Plan::new(lines.file(), names.len(), Some(&names), options)?;
        let (row, missing) = (vec![None; names.len()], options.missing);
        Ok(Self { names, columns, plan, missing, chosen: false, pending: true, row })
    }

    /// The columns are those that are asked for by name; no row is needed to tell them.
    fn chosen(lines: &Lines, options: &ReadOptions) -> Result<Self, DataError> {
        let mut names = options.features.clone();
        let told = match &options.target {
            TargetColumn::Name(name) => Some(name),
            _ => None,
        };
        let target = options.target_name.as_ref().or(told).filter(|_| options.features_alone.is_none());
        names.extend(target.cloned());
        let plan = Plan::new(lines.file(), names.len(), Some(&names), options)?;
        let columns = names.iter().cloned().enumerate().map(|(column, name)| (name, column)).collect();
        let (row, missing) = (vec![None; names.len()], options.missing);
        Ok(Self { names, columns, plan, missing, chosen: true, pending: false, row })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Delimited::row`](crate::delimited::Delimited::row).
    pub(crate) fn row(&mut self, lines: &mut Lines, features: &mut Vec<f64>) -> Result<Option<Option<f64>>, DataError> {
        if !std::mem::take(&mut self.pending) && !lines.advance()? {
            return Ok(None);
        }
        self.row.fill(None);
        let Self { names, columns, plan, missing, chosen, row, .. } = self;
        let (target, missing, chosen) = (plan.target(), *missing, *chosen);
        let mut usual = 0;
        Scanner::new(lines).pairs(|key, value| {
            // Nearly every writer keeps the order of the keys, so the next column is tried before the map.
            let column = match names.get(usual) {
                Some(name) if name == key => usual,
                _ => match columns.get(key) {
                    Some(column) => *column,
                    None if chosen => return Ok(()),
                    None => return Err(DataError::UnknownKey { line: lines.line(), key: key.to_owned() }),
                },
            };
            usual = column + 1;
            if plan.role(column) == Role::Ignored {
                return Ok(());
            }
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
        if let (Some(column), Missing::Refuse) = (target, missing)
            && row[column].is_none()
        {
            return Err(DataError::MissingTarget { cell: lines.cell(column, Some(&names[column])) });
        }
        for &column in plan.features() {
            match row[column] {
                Some(value) => features.push(value),
                None if missing == Missing::Nan => features.push(f64::NAN),
                None => return Err(DataError::MissingKey { line: lines.line(), key: names[column].clone() }),
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
