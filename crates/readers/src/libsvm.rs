//! LIBSVM: `target index:value index:value …`, indices from 1 and increasing, absent ones 0, `#`
//! begins a comment.
//!
//! A row does not say how wide the table is. A file is read twice, first for its largest index; a
//! stream that can be read only once needs the dimension from the user.

use crate::choice::TargetColumn;
use crate::columns::Beside;
use crate::error::{CellPlace, DataError};
use crate::format::Format;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::{HEAD_LINES, Lines, Source};
use crate::number::{self, Parsed};
use crate::options::{ReadOptions, Targets};

/// The largest index read. Rows are stored densely, so that an index of 10¹² (a typing error, or a
/// hashed feature) would otherwise ask for terabytes.
const LARGEST_INDEX: usize = 1 << 24;

/// The rows of a LIBSVM file.
pub(crate) struct Libsvm {
    dimension: usize,
    /// Whether the target is a label.
    label: bool,
    /// What the first rows hold as their target, if that was asked.
    head: Option<TargetHead>,
}

impl Libsvm {
    /// Checks the options; `dimension` is theirs or that of [`widest`].
    pub(crate) fn begin(lines: &mut Lines, dimension: usize, options: &ReadOptions) -> Result<Self, DataError> {
        if options.target == TargetColumn::None {
            return Err(DataError::TargetInherent { file: lines.file().to_owned() });
        }
        if options.target != TargetColumn::Last {
            return Err(DataError::TargetFixed { file: lines.file().to_owned(), target: options.target.clone() });
        }
        if let Some(weight) = &options.weight {
            return Err(DataError::NoWeights { file: lines.file().to_owned(), weight: weight.clone() });
        }
        if !options.ignore.is_empty() {
            return Err(DataError::NoColumns { file: lines.file().to_owned() });
        }
        if !options.gaps.is_empty() {
            return Err(DataError::NoGaps { file: lines.file().to_owned() });
        }
        if dimension == 0 {
            return Err(DataError::NoPairs { file: lines.file().to_owned() });
        }
        let mut head = None;
        if options.targets == Targets::Auto {
            let seen = head.insert(TargetHead::new());
            let mut ahead = lines.ahead(HEAD_LINES);
            while let Ok(true) = advance(&mut ahead) {
                // Rows with errors say nothing here; what is no number is refused when it is read.
                if let Some(Parsed::Number(value)) = tokens(ahead.text()).next().map(number::parse) {
                    seen.see(Parsed::Number(value));
                }
            }
        }
        Ok(Self { dimension, label: options.targets == Targets::Labels, head })
    }

    pub(crate) fn label(&self) -> bool {
        self.label
    }

    /// Has the target read as a label.
    pub(crate) fn read_labels(&mut self) {
        self.label = true;
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
        let Some(target) = self.values(lines, features)? else { return Ok(false) };
        if self.label {
            Labels::canonical_number(target, &mut beside.label);
        } else {
            beside.targets.push(target);
        }
        Ok(true)
    }

    /// Appends the features of the next row to `features` and gives its target; `None` at the end.
    pub(crate) fn values(&mut self, lines: &mut Lines, features: &mut Vec<f64>) -> Result<Option<f64>, DataError> {
        let before = features.len();
        if !advance(lines)? {
            return Ok(None);
        }
        let mut tokens = tokens(lines.text());
        // The target is shown as the column behind the last feature, as the rest of the crate
        // counts it.
        let place = || lines.cell(self.dimension, Some("target"));
        let target = match tokens.next() {
            Some(label) if !label.contains(&b':') => value(label, place)?,
            _ => return Err(DataError::MissingTarget { cell: place() }),
        };
        features.resize(before + self.dimension, 0.0);
        let mut previous = 0;
        for token in tokens {
            let Some((index, text)) = split(token) else {
                return Err(DataError::BadPair { line: lines.line(), token: lossy(token) });
            };
            let index = match index.parse::<usize>() {
                Ok(0) => return Err(DataError::IndexZero { line: lines.line() }),
                Ok(index) if index <= self.dimension => index,
                _ => {
                    let (line, index, limit) = (lines.line(), index.to_owned(), self.dimension);
                    return Err(DataError::IndexTooLarge { line, index, limit });
                }
            };
            if index <= previous {
                return Err(DataError::IndexOrder { line: lines.line(), previous, index });
            }
            previous = index;
            features[before + index - 1] = value(text, || lines.cell(index - 1, None))?;
        }
        Ok(Some(target))
    }
}

/// The dimension of a LIBSVM source that can be read twice, and 0 for another format: what the
/// options say, or else its largest index.
pub(crate) fn dimension(source: &Source, format: Format, options: &ReadOptions) -> Result<usize, DataError> {
    match (format, options.libsvm_dimension) {
        (Format::Libsvm, None) if !matches!(source, Source::StandardInput) => widest(&mut source.lines()?),
        _ => told(source, format, options),
    }
}

/// The same of a source that can be read only once.
pub(crate) fn told(source: &Source, format: Format, options: &ReadOptions) -> Result<usize, DataError> {
    match (format, options.libsvm_dimension) {
        (Format::Libsvm, None) => Err(DataError::DimensionUnknown { file: source.shown() }),
        (_, dimension) => Ok(dimension.unwrap_or(0)),
    }
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
        Parsed::Number(value) => Ok(value),
        Parsed::Nan | Parsed::NotFinite => Err(DataError::NotFinite { cell: place(), value: lossy(text) }),
        Parsed::Text => Err(DataError::NotANumber { cell: place(), value: lossy(text) }),
        Parsed::Empty => Err(DataError::EmptyCell { cell: place() }),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
