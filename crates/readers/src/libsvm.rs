//! LIBSVM: `target index:value index:value …`, indices from 1 and increasing, absent ones 0, `#`
//! begins a comment.
//!
//! A row does not say how wide the table is. A file is read twice, first for its largest index; a
//! stream that can be read only once needs the dimension from the user. Told a dimension of 0, the
//! pairs of a row are its tokens: one pass, any index from 0 to 2⁶⁴ − 1, and the time of a row
//! follows its pairs. The token of an index is that of the dense column.

use mercer_core::{Cell, Token, TokenRow, column_key};

use crate::choice::TargetColumn;
use crate::columns::ColumnPlan;
use crate::error::{CellPlace, DataError};
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::{HEAD_LINES, Lines, Source};
use crate::number::{self, ParsedCell};
use crate::options::ReadOptions;
use crate::record::Record;
use crate::rows::{Next, Rows};

/// Name of the target.
const TARGET: &str = "target";

/// The largest index read. Rows are stored densely, so that an index of 10¹² (a typing error, or a
/// hashed feature) would otherwise ask for terabytes.
const LARGEST_INDEX: usize = 1 << 24;

/// Rows with an index above this are wide.
const WIDE: u64 = 1024;

/// The rows of a LIBSVM file: the features, and behind them the target.
pub(crate) struct Libsvm {
    plan: ColumnPlan,
    /// The numbers of a row that becomes a record.
    row: Vec<f64>,
    /// The tokens of the row last taken, where pairs are tokens.
    tokens: Option<TokenRow>,
}

impl Libsvm {
    /// Checks the options, and goes through a source whose dimension they do not tell. `records`
    /// says that the target is a cell like any other.
    pub(crate) fn begin(mut source: Source, options: &ReadOptions, records: bool) -> Result<(Self, Lines), DataError> {
        let file = source.shown();
        if options.target == TargetColumn::None && !records {
            return Err(DataError::TargetInherent { file });
        }
        if !matches!(options.target, TargetColumn::Last | TargetColumn::None) {
            return Err(DataError::TargetFixed { file, target: options.target.clone() });
        }
        if let Some(weight) = options.weight.clone() {
            return Err(DataError::NoWeights { file, weight });
        }
        if !options.ignore.is_empty() && !records {
            return Err(DataError::NoColumns { file });
        }
        if !options.gaps.is_empty() {
            return Err(DataError::NoGaps { file });
        }
        let told = options.libsvm_dimension;
        let wide = options.libsvm_tokens && told.is_none() && !source.is_once() && is_wide(&mut source.lines()?);
        if (told == Some(0) || wide) && !records {
            let plan = ColumnPlan::of_tokens(&file, options.targets)?;
            return Ok((Self { plan, row: vec![0.0], tokens: Some(TokenRow::default()) }, source.lines()?));
        }
        let dimension = match told {
            Some(dimension) => dimension,
            None if source.is_once() => return Err(DataError::DimensionUnknown { file }),
            None => widest(&mut source.lines()?)?,
        };
        if dimension == 0 {
            return Err(DataError::NoPairs { file });
        }
        let options =
            ReadOptions { target: options.target.clone(), targets: options.targets, ..ReadOptions::default() };
        let plan = ColumnPlan::new(&file, dimension + 1, None, &options)?;
        Ok((Self { plan, row: vec![0.0; dimension + 1], tokens: None }, source.lines()?))
    }
}

impl Rows for Libsvm {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        None
    }

    fn name(&self, column: usize) -> Option<&str> {
        (column + 1 == self.plan.columns()).then_some(TARGET)
    }

    fn head(&mut self, lines: &mut Lines, _target: usize, _options: &ReadOptions) -> Result<TargetHead, DataError> {
        let (mut head, mut ahead) = (TargetHead::default(), lines.ahead(HEAD_LINES));
        while let Ok(true) = advance(&mut ahead) {
            // Rows with errors say nothing here; what is no number is refused when it is read.
            if let Some(ParsedCell::Number(value)) = tokens(ahead.text()).next().map(number::parse) {
                head.see(ParsedCell::Number(value));
            }
        }
        Ok(head)
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        let read = values(lines, &mut self.row)?;
        if read {
            self.row.iter().for_each(|value| record.push(Cell::Number(*value)));
        }
        Ok(read)
    }

    fn numbers(&mut self, lines: &mut Lines, row: &mut [f64], label: &mut String) -> Result<Next, DataError> {
        let read = match &mut self.tokens {
            Some(tokens) => pairs(lines, row, tokens)?,
            None => values(lines, row)?,
        };
        if !read {
            return Ok(Next::End);
        }
        if let (Some(_), Some(target)) = (self.plan.label(), row.last()) {
            Labels::canonical_number(*target, label);
        }
        Ok(Next::Numbers)
    }

    fn swap_tokens(&mut self, tokens: &mut Option<TokenRow>) {
        match &mut self.tokens {
            Some(own) => std::mem::swap(own, tokens.get_or_insert_default()),
            None => *tokens = None,
        }
    }
}

/// Puts the pairs of the next row into `tokens` and its target into `row`; false at the end.
fn pairs(lines: &mut Lines, row: &mut [f64], tokens: &mut TokenRow) -> Result<bool, DataError> {
    let Some(target) = row.last_mut() else { return Ok(false) };
    if !advance(lines)? {
        return Ok(false);
    }
    let mut words = self::tokens(lines.text());
    *target = target_of(words.next(), || lines.cell(0, Some(TARGET)))?;
    let mut refused = Ok(());
    tokens.fill(|[all, _, factors]| {
        let mut previous = None;
        for word in words {
            match pair(word, previous, lines) {
                Ok((index, value)) => {
                    previous = Some(index);
                    if value != 0.0 {
                        all.push(Token { key: column_key(index.wrapping_sub(1)), value });
                    }
                }
                Err(error) => {
                    refused = Err(error);
                    break;
                }
            }
        }
        factors.extend_from_slice(all);
    });
    refused.map(|()| true)
}

/// The index and the number of a pair behind that of the index `previous`.
fn pair(word: &[u8], previous: Option<u64>, lines: &Lines) -> Result<(u64, f64), DataError> {
    let Some((index, text)) = split(word) else {
        return Err(DataError::BadPair { line: lines.line(), token: lossy(word) });
    };
    let Ok(number) = index.parse::<u64>() else {
        let (line, index, limit) = (lines.line(), index.to_owned(), usize::MAX);
        return Err(DataError::IndexTooLarge { line, index, limit });
    };
    if let Some(previous) = previous.filter(|previous| number <= *previous) {
        let (previous, index) = (previous as usize, number as usize);
        return Err(DataError::IndexOrder { line: lines.line(), previous, index });
    }
    let place = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    Ok((number, value(text, || lines.cell(place, None))?))
}

/// The number in front of a row.
fn target_of(word: Option<&[u8]>, place: impl Fn() -> CellPlace) -> Result<f64, DataError> {
    match word {
        Some(label) if !label.contains(&b':') => value(label, place),
        _ => Err(DataError::MissingTarget { cell: place() }),
    }
}

/// Puts the features of the next row, and then its target, into `row`; false at the end.
fn values(lines: &mut Lines, row: &mut [f64]) -> Result<bool, DataError> {
    let Some((target, features)) = row.split_last_mut() else { return Ok(false) };
    if !advance(lines)? {
        return Ok(false);
    }
    let (mut tokens, dimension) = (tokens(lines.text()), features.len());
    // The target is shown as the column behind the last feature, as everywhere.
    let place = || lines.cell(dimension, Some(TARGET));
    *target = target_of(tokens.next(), place)?;
    features.fill(0.0);
    let mut previous = 0;
    for token in tokens {
        let Some((index, text)) = split(token) else {
            return Err(DataError::BadPair { line: lines.line(), token: lossy(token) });
        };
        let index = match index.parse::<usize>() {
            Ok(0) => return Err(DataError::IndexZero { line: lines.line() }),
            Ok(index) if index <= dimension => index,
            _ => {
                let (line, index, limit) = (lines.line(), index.to_owned(), dimension);
                return Err(DataError::IndexTooLarge { line, index, limit });
            }
        };
        if index <= previous {
            return Err(DataError::IndexOrder { line: lines.line(), previous, index });
        }
        previous = index;
        features[index - 1] = value(text, || lines.cell(index - 1, None))?;
    }
    Ok(true)
}

/// True if the first rows have an index above [`WIDE`] and less than a tenth of the cells up to it.
fn is_wide(lines: &mut Lines) -> bool {
    let (mut ahead, mut rows, mut pairs, mut largest) = (lines.ahead(HEAD_LINES), 0.0, 0.0, 0);
    while let Ok(true) = advance(&mut ahead) {
        rows += 1.0;
        for (index, _) in tokens(ahead.text()).skip(1).filter_map(split) {
            pairs += 1.0;
            largest = largest.max(index.parse::<u64>().unwrap_or(u64::MAX));
        }
    }
    largest > WIDE && pairs < 0.1 * rows * largest as f64
}

/// The largest index of all rows: the dimension. Rows with errors count as far as they can be read;
/// the second pass names them.
fn widest(lines: &mut Lines) -> Result<usize, DataError> {
    let mut widest = None;
    while advance(lines)? {
        for (index, _) in tokens(lines.text()).skip(1).filter_map(split) {
            match index.parse::<usize>() {
                Ok(number) if number <= LARGEST_INDEX => widest = widest.max(Some(number)),
                _ => {
                    let (line, index, limit) = (lines.line(), index.to_owned(), LARGEST_INDEX);
                    return Err(DataError::IndexTooLarge { line, index, limit });
                }
            }
        }
        widest = widest.max(Some(0));
    }
    widest.ok_or_else(|| DataError::Empty { file: lines.file().to_owned() })
}

/// Goes to the next line with a token.
fn advance(lines: &mut Lines) -> Result<bool, DataError> {
    while lines.advance()? {
        if tokens(lines.text()).next().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.iter().position(|&byte| byte == b'#').map_or(text, |comment| &text[..comment]);
    text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

/// The index and the value of `index:value`, where the index is digits.
fn split(token: &[u8]) -> Option<(&str, &[u8])> {
    let colon = token.iter().position(|&byte| byte == b':')?;
    let index = std::str::from_utf8(&token[..colon]).ok()?;
    let digits = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some((index, &token[colon + 1..]))
}

fn value(text: &[u8], place: impl Fn() -> CellPlace) -> Result<f64, DataError> {
    match number::parse(text) {
        ParsedCell::Number(value) => Ok(value),
        ParsedCell::Nan | ParsedCell::NotFinite => Err(DataError::NotFinite { cell: place(), value: lossy(text) }),
        ParsedCell::Text => Err(DataError::NotANumber { cell: place(), value: lossy(text) }),
        ParsedCell::Empty => Err(DataError::EmptyCell { cell: place() }),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
