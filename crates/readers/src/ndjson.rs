//! JSON: one flat object or array a row; the target may be a label, which is a string, a boolean or
//! a number. Rows are lines, or the elements of one array, which come as lines too.
//!
//! The first object names the columns and fixes their order, unless the features are asked for by
//! name or later keys are allowed for; the later rows must have the same keys, in any order, and
//! others that they have are left out. Where
//! rows are arrays the first may hold names.

use std::cell::{Cell as Flag, RefCell};
use std::collections::{HashMap, HashSet};

use mercer_core::{Cell, List, is_gap_mark};

use crate::choice::{ColumnChoice, TargetColumn};
use crate::columns::{ColumnPlan, Role};
use crate::error::{DataError, Remark};
use crate::gaps::Gaps;
use crate::head::TargetHead;
use crate::json_scanner::{JsonValue, Scanner};
use crate::late_keys::LateKeys;
use crate::lines::{HEAD_LINES, Lines};
use crate::number::{self, ParsedCell};
use crate::options::{Header, Missing, ReadOptions};
use crate::record::Record;
use crate::rows::Rows;
use crate::whole_json;

/// The rows of an NDJSON file.
pub(crate) struct Ndjson {
    columns: ColumnPlaces,
    plan: ColumnPlan,
    missing: Missing,
    /// Other keys than these are none of a row's business.
    chosen: bool,
    /// Columns that are asked for or known, one of which each row has.
    asked: Vec<usize>,
    /// The first row is read for its keys and not yet given out.
    pending: bool,
    /// Which columns the current row has.
    seen: Vec<bool>,
    late: LateKeys,
}

/// Where the value of a column stands.
struct ColumnPlaces {
    /// Rows are arrays, with or without names above them.
    arrays: bool,
    /// Number of columns.
    width: usize,
    names: Option<Vec<String>>,
    /// By name; empty for arrays.
    columns: HashMap<String, usize>,
    /// Texts and numbers that stand for no value.
    gaps: Gaps,
}

impl ColumnPlaces {
    fn new(arrays: bool, width: usize, names: Option<Vec<String>>, columns: HashMap<String, usize>) -> Self {
        Self { arrays, width, names, columns, gaps: Gaps::default() }
    }

    /// The column of a key. Nearly every writer keeps the order of the keys, so the `usual` column
    /// is tried before the map.
    fn find(&self, key: &str, usual: usize) -> Option<usize> {
        match self.names.as_ref().and_then(|names| names.get(usual)) {
            Some(name) if name == key => Some(usual),
            _ => self.columns.get(key).copied(),
        }
    }

    fn name(&self, column: usize) -> Option<&str> {
        self.names.as_ref().map(|names| names[column].as_str())
    }

    /// Hands the values of the current row to `take`, each with its column, and keys that are of no
    /// column to `other`.
    fn values<'a>(
        &self,
        lines: &'a Lines,
        mut other: impl FnMut(&str),
        mut take: impl FnMut(usize, JsonValue<'a>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let mut take = |column: usize, value: JsonValue<'a>| take(column, value.without(&self.gaps));
        if self.arrays {
            let mut got = 0;
            Scanner::new(lines).items(|column, value| {
                got = column + 1;
                if column < self.width { take(column, value) } else { Ok(()) }
            })?;
            return if got == self.width {
                Ok(())
            } else {
                Err(DataError::Ragged { line: lines.line(), expected: self.width, got })
            };
        }
        let mut usual = 0;
        Scanner::new(lines).pairs(|key, value| match self.find(key, usual) {
            Some(column) => {
                usual = column + 1;
                take(column, value)
            }
            None => {
                other(key);
                Ok(())
            }
        })
    }
}

impl Ndjson {
    /// Takes the columns from the first row, unless they are known.
    pub(crate) fn begin(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        lines.take_elements()?;
        if !options.features.is_empty() {
            return Self::chosen(lines, options);
        }
        if !lines.advance()? {
            return Err(DataError::Empty { file: lines.file().to_owned() });
        }
        if lines.text().trim_ascii_start().starts_with(b"[") {
            return Self::of_arrays(lines, options);
        }
        if let Some(other) = whole_json::find(lines) {
            return Err(other.error(lines.file()).into());
        }
        let mut names: Vec<String> = Vec::new();
        let mut columns = HashMap::new();
        Scanner::new(lines).pairs(|key, _| {
            let column = names.len();
            names.push(key.to_owned());
            match columns.insert(key.to_owned(), column) {
                None => Ok(()),
                Some(_) => Err(DataError::RepeatedKey { line: lines.line(), key: key.to_owned() }),
            }
        })?;
        if options.later_keys {
            let last = names.pop();
            names.extend(later_keys(lines, &options.known, &columns));
            names.extend(last);
            columns = names.iter().cloned().enumerate().map(|(column, name)| (name, column)).collect();
        }
        let absent: Vec<String> = ignored(options).filter(|name| !columns.contains_key(*name)).cloned().collect();
        if !absent.is_empty() {
            let last = names.pop();
            names.extend(absent.iter().cloned().chain(last));
            columns = names.iter().cloned().enumerate().map(|(column, name)| (name, column)).collect();
        }
        let width = names.len();
        let mut rows = Self::with_columns(lines, ColumnPlaces::new(false, width, Some(names), columns), options, true)?;
        rows.late = LateKeys::expecting(absent.into_iter().map(|name| (rows.columns.columns[&name], name)));
        Ok(rows)
    }

    /// The first row is an array: of names, if it has nothing but text and the options do not say
    /// otherwise.
    fn of_arrays(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        let mut names = Some(Vec::new());
        let mut width = 0;
        Scanner::new(lines).items(|column, value| {
            width = column + 1;
            match (value, &mut names) {
                (JsonValue::Text(text), Some(names)) => names.push(text.into_owned()),
                _ => names = None,
            }
            Ok(())
        })?;
        let names = names.filter(|names| options.header != Header::Absent && !names.is_empty());
        let read = names.is_none();
        Self::with_columns(lines, ColumnPlaces::new(true, width, names, HashMap::new()), options, read)
    }

    /// The columns are those that are asked for by name; no row is needed to tell them.
    fn chosen(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        let mut names = options.features.clone();
        let told = |choice: &ColumnChoice| match choice {
            ColumnChoice::Name(name) => Some(name.clone()),
            ColumnChoice::Index(_) | ColumnChoice::Either(_) => None,
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
        // All other keys are left out, those that are to be among them.
        let mut options = options.clone();
        options.ignore.retain(|choice| !matches!(choice, ColumnChoice::Name(name) if !names.contains(name)));
        let width = names.len();
        Self::with_columns(lines, ColumnPlaces::new(false, width, Some(names), columns), &options, false)
    }

    /// `read` says that the first row is read and not yet given out.
    fn with_columns(
        lines: &mut Lines,
        mut columns: ColumnPlaces,
        options: &ReadOptions,
        read: bool,
    ) -> Result<Self, DataError> {
        columns.gaps = Gaps::new(&options.gaps);
        let plan = ColumnPlan::new(lines.file(), columns.width, columns.names.as_deref(), options)?;
        let seen = vec![false; columns.width];
        let chosen = !columns.arrays && !read;
        let names = if chosen { columns.names.as_deref().unwrap_or_default() } else { &options.known };
        let asked = names.iter().filter_map(|name| columns.columns.get(name).copied()).collect();
        let (missing, late) = (options.missing, LateKeys::default());
        Ok(Self { columns, plan, missing, chosen, asked, pending: read, seen, late })
    }
}

impl Rows for Ndjson {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        self.columns.names.as_deref()
    }

    fn are_objects(&self) -> bool {
        !self.columns.arrays
    }

    fn has_types(&self) -> bool {
        true
    }

    fn take_remark(&mut self) -> Option<Remark> {
        self.late.take_remark()
    }

    fn left_out(&self) -> Vec<String> {
        self.late.report()
    }

    fn head(&mut self, lines: &mut Lines, target: usize, _options: &ReadOptions) -> Result<TargetHead, DataError> {
        let mut head = TargetHead::default();
        if self.pending {
            see(lines, &self.columns, target, &mut head);
        }
        let mut ahead = lines.ahead(HEAD_LINES);
        while let Ok(true) = ahead.advance() {
            see(&ahead, &self.columns, target, &mut head);
        }
        Ok(head)
    }

    /// An absent key is a cell without a value, where values may be missing.
    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        if !std::mem::take(&mut self.pending) && !lines.advance()? {
            return Ok(false);
        }
        let Self { columns, plan, missing, chosen, asked, seen, late, .. } = self;
        let (late, others) = (RefCell::new(late), Flag::new(false));
        let other = |key: &str| {
            others.set(true);
            if !*chosen {
                late.borrow_mut().take(key, || lines.line());
            }
        };
        seen.fill(false);
        record.blank(plan.width());
        columns.values(lines, other, |column, value| {
            let (Role::Value(slot) | Role::Label(slot)) = plan.role(column) else {
                late.borrow_mut().meet(column);
                return Ok(());
            };
            let place = || lines.cell(column, columns.name(column));
            match value {
                JsonValue::Number(value) => record.set(slot, Cell::Number(value)),
                JsonValue::Integer(value) => record.set(slot, Cell::Integer(value)),
                JsonValue::Text(text) => record.set(slot, number::text_cell(&text)),
                JsonValue::Truth(truth) => record.set(slot, Cell::Truth(truth)),
                JsonValue::Null => {}
                JsonValue::Nan(_) if *missing == Missing::Nan && plan.label() != Some(column) => {}
                JsonValue::Nan(text) | JsonValue::NotFinite(text) => {
                    return Err(DataError::NotFinite { cell: place(), value: text.into_owned() });
                }
                JsonValue::List(text) => match List::read(text) {
                    Ok(list) => record.set(slot, Cell::List(list)),
                    Err(why) => return Err(DataError::NoList { cell: place(), why }),
                },
            }
            if std::mem::replace(&mut seen[column], true) {
                let key = columns.name(column).unwrap_or_default().to_owned();
                return Err(DataError::RepeatedKey { line: lines.line(), key });
            }
            Ok(())
        })?;
        let has_others = || others.get() || seen.contains(&true);
        if !asked.is_empty() && asked.iter().all(|column| !seen[*column]) && has_others() {
            let names = asked.iter().filter_map(|column| columns.name(*column).map(str::to_owned)).collect();
            return Err(DataError::OtherKeys { line: lines.line(), names });
        }
        let absent = plan.features().iter().find(|&&column| *missing == Missing::Refuse && !seen[column]);
        match absent {
            Some(&column) => {
                let key = columns.name(column).unwrap_or_default().to_owned();
                Err(DataError::MissingKey { line: lines.line(), key })
            }
            None => Ok(true),
        }
    }
}

/// Names of columns that are to be left out.
fn ignored(options: &ReadOptions) -> impl Iterator<Item = &String> {
    let choices = options.ignore.iter().chain(&options.unread);
    choices.filter_map(|choice| if let ColumnChoice::Name(name) = choice { Some(name) } else { None })
}

/// Keys that rows behind the first may have, and the first has not.
fn later_keys(lines: &mut Lines, known: &[String], first: &HashMap<String, usize>) -> Vec<String> {
    let mut later: Vec<String> = known.iter().filter(|name| !first.contains_key(*name)).cloned().collect();
    if !known.is_empty() {
        return later;
    }
    let (mut ahead, mut seen) = (lines.ahead(HEAD_LINES), HashSet::new());
    while let Ok(true) = ahead.advance() {
        // Rows with errors are told when they are read.
        let _ = Scanner::new(&ahead).pairs(|key, _| {
            if !first.contains_key(key) && seen.insert(key.to_owned()) {
                later.push(key.to_owned());
            }
            Ok(())
        });
    }
    later
}

/// Takes the target of the current line into account. A line with errors says nothing here; they
/// are told when it is read.
fn see(lines: &Lines, columns: &ColumnPlaces, target: usize, head: &mut TargetHead) {
    // The result is that of the errors, which do not matter; neither do keys that are none.
    let _ = columns.values(
        lines,
        |_| {},
        |column, value| {
            if column == target {
                head.see(match value {
                    JsonValue::Number(value) => ParsedCell::Number(value),
                    JsonValue::Integer(value) => ParsedCell::Number(value as f64),
                    JsonValue::Text(text) if is_gap_mark(&text) => ParsedCell::Empty,
                    JsonValue::Text(_) | JsonValue::Truth(_) => ParsedCell::Text,
                    JsonValue::Nan(_) | JsonValue::NotFinite(_) | JsonValue::Null => ParsedCell::Empty,
                    JsonValue::List(_) => ParsedCell::Text,
                });
            }
            Ok(())
        },
    );
}
