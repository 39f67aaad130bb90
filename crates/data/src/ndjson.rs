//! NDJSON: one flat JSON object of numbers a line; the target may be a label, which is a string, a boolean or a number.
//!
//! The first row names the columns and fixes their order, unless the features are asked for by name; the later rows must have the same
//! keys, in any order. Objects this flat
//! are scanned here rather than by a general parser, so that an error knows its key and `NaN`, which many writers put out although
//! JSON has no such value, is refused as what it is.

use std::borrow::Cow;
use std::collections::HashMap;

use mercer_core::Number;

use crate::columns::{Beside, Plan, Role};
use crate::error::{Cell, DataError};
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::Lines;
use crate::number::{self, Parsed};
use crate::options::{ColumnChoice, Missing, ReadOptions, TargetColumn, Targets};

/// The rows of an NDJSON file.
pub(crate) struct Ndjson {
    names: Vec<String>,
    columns: HashMap<String, usize>,
    plan: Plan,
    /// What the first rows hold as their target, if that was to be found out.
    head: Option<TargetHead>,
    missing: Missing,
    /// Other keys than these are none of a row's business.
    chosen: bool,
    /// The first row is read for its keys and not yet given out.
    pending: bool,
    /// The values of the current row by column, some number for a label; `None` is a key not seen.
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
        Self::with_columns(lines, names, columns, options, true)
    }

    /// The columns are those that are asked for by name; no row is needed to tell them.
    fn chosen(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        let mut names = options.features.clone();
        let told = |choice: &ColumnChoice| match choice {
            ColumnChoice::Name(name) => Some(name.clone()),
            ColumnChoice::Index(_) => None,
        };
        if options.features_alone.is_none() {
            match (&options.target_name, &options.target) {
                (Some(name), _) | (None, TargetColumn::Name(name)) => names.push(name.clone()),
                (None, TargetColumn::Several(choices)) => names.extend(choices.iter().filter_map(told)),
                (None, _) => {}
            }
        }
        names.extend(options.weight.as_ref().and_then(told));
        let columns = names.iter().cloned().enumerate().map(|(column, name)| (name, column)).collect();
        Self::with_columns(lines, names, columns, options, false)
    }

    /// `read` says that the columns come from the first row, which is read and not yet given out.
    fn with_columns(
        lines: &mut Lines,
        names: Vec<String>,
        columns: HashMap<String, usize>,
        options: &ReadOptions,
        read: bool,
    ) -> Result<Self, DataError> {
        let mut plan = Plan::new(lines.file(), names.len(), Some(&names), options)?;
        let mut head = None;
        if let (Targets::Auto, [target]) = (options.targets, plan.targets()) {
            let seen = head.insert(TargetHead::new());
            let key = &names[*target];
            if read {
                see(lines, key, seen);
            }
            let mut ahead = lines.ahead();
            while let Ok(true) = ahead.advance() {
                see(&ahead, key, seen);
            }
            if seen.text {
                plan.read_labels(lines.file())?;
            }
        }
        let row = vec![None; names.len()];
        Ok(Self { names, columns, plan, head, missing: options.missing, chosen: !read, pending: read, row })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    pub(crate) fn head(&self) -> Option<TargetHead> {
        self.head
    }

    /// As [`Delimited::row`](crate::delimited::Delimited::row).
    pub(crate) fn row(
        &mut self,
        lines: &mut Lines,
        features: &mut Vec<f64>,
        beside: &mut Beside,
    ) -> Result<bool, DataError> {
        if !std::mem::take(&mut self.pending) && !lines.advance()? {
            return Ok(false);
        }
        self.row.fill(None);
        let Self { names, columns, plan, head, missing, chosen, row, .. } = self;
        let (missing, chosen) = (*missing, *chosen);
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
            let place = || lines.cell(column, Some(key));
            let value = match plan.role(column) {
                Role::Ignored => return Ok(()),
                Role::Feature(_) => value.number(missing, place, || DataError::EmptyCell { cell: place() })?,
                Role::Target(_) => match (value, head.as_ref()) {
                    (Value::Text(text), Some(head)) => {
                        let (value, rows) = (text.into_owned(), head.rows);
                        return Err(DataError::LateLabel { cell: place(), value, rows });
                    }
                    (value, _) => value.number(missing, place, || DataError::MissingTarget { cell: place() })?,
                },
                Role::Weight => value.weight(place)?,
                Role::Label => value.label(place, &mut beside.label)?,
            };
            match row[column].replace(value) {
                None => Ok(()),
                Some(_) => Err(DataError::RepeatedKey { line: lines.line(), key: key.to_owned() }),
            }
        })?;
        let place = |column: usize| lines.cell(column, Some(&names[column]));
        for &column in plan.targets() {
            match row[column] {
                Some(_) if plan.role(column) == Role::Label => {}
                Some(value) => beside.targets.push(value),
                None if missing == Missing::Nan && plan.role(column) != Role::Label => beside.targets.push(f64::NAN),
                None => return Err(DataError::MissingTarget { cell: place(column) }),
            }
        }
        if let Some(column) = plan.weight() {
            match row[column] {
                Some(value) => beside.weight = value,
                None => return Err(DataError::BadWeight { cell: place(column), value: String::new() }),
            }
        }
        for &column in plan.features() {
            match row[column] {
                Some(value) => features.push(value),
                None if missing == Missing::Nan => features.push(f64::NAN),
                None => return Err(DataError::MissingKey { line: lines.line(), key: names[column].clone() }),
            }
        }
        Ok(true)
    }
}

/// Takes the target of the current line into account. A line with errors says nothing here; they are told when it is read.
fn see(lines: &Lines, target: &str, head: &mut TargetHead) {
    // The scan's result is that of its errors, which do not matter.
    let _ = Scanner::new(lines).pairs(|key, value| {
        if key == target {
            head.see(match value {
                Value::Number(value) => Parsed::Number(value),
                Value::Text(text) if text.trim().is_empty() => Parsed::Empty,
                Value::Text(_) => Parsed::Text,
                Value::Nan(_) | Value::NotFinite(_) | Value::Null | Value::Nested => Parsed::Empty,
            });
        }
        Ok(())
    });
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

impl Value<'_> {
    /// The number of a feature or a target.
    fn number(
        self,
        missing: Missing,
        place: impl Fn() -> Cell,
        empty: impl Fn() -> DataError,
    ) -> Result<f64, DataError> {
        match self {
            Self::Number(value) => Ok(value),
            Self::Nan(_) | Self::Null if missing == Missing::Nan => Ok(f64::NAN),
            Self::Nan(text) | Self::NotFinite(text) => {
                Err(DataError::NotFinite { cell: place(), value: text.into_owned() })
            }
            Self::Text(text) => Err(DataError::NotANumber { cell: place(), value: text.into_owned() }),
            Self::Null => Err(empty()),
            Self::Nested => Err(DataError::NestedValue { cell: place() }),
        }
    }

    fn weight(self, place: impl Fn() -> Cell) -> Result<f64, DataError> {
        let value = match self {
            Self::Number(value) if value >= 0.0 => return Ok(value),
            Self::Number(value) => Number(value).to_string(),
            Self::Nan(text) | Self::NotFinite(text) | Self::Text(text) => text.into_owned(),
            Self::Null => String::new(),
            Self::Nested => return Err(DataError::NestedValue { cell: place() }),
        };
        Err(DataError::BadWeight { cell: place(), value })
    }

    /// Puts the label into `label` and gives some number for it.
    fn label(self, place: impl Fn() -> Cell, label: &mut String) -> Result<f64, DataError> {
        label.clear();
        match self {
            Self::Number(value) => Labels::canonical_number(value, label),
            Self::Text(text) => Labels::canonical(&text, label),
            Self::Nan(text) | Self::NotFinite(text) => {
                return Err(DataError::NotFinite { cell: place(), value: text.into_owned() });
            }
            Self::Null => {}
            Self::Nested => return Err(DataError::NestedValue { cell: place() }),
        }
        if label.is_empty() { Err(DataError::MissingTarget { cell: place() }) } else { Ok(0.0) }
    }
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
