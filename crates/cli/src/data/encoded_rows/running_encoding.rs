//! An encoding that moves with the rows that it encodes.

use mercer_encoding::{Encoding, EncodingError};
use mercer_readers::{Example, Record};

use crate::arguments::task::Kind;

/// An encoding whose statistics move with each row, unless it is frozen.
#[derive(Clone)]
pub(crate) struct RunningEncoding {
    pub(crate) encoding: Encoding,
    /// The first class, if it is known.
    first: Option<String>,
    learns: bool,
}

impl RunningEncoding {
    pub(crate) fn new(encoding: Encoding, kind: Kind) -> Self {
        let first = if let Kind::Class(Some([first, _])) = kind { Some(first.to_owned()) } else { None };
        Self { encoding, first, learns: true }
    }

    /// The same that stays as it is.
    pub(crate) fn frozen(self) -> Self {
        Self { learns: false, ..self }
    }

    /// Appends the numbers of a record with these targets, which are in their own units, and then
    /// learns its statistics unless its weight is 0.
    pub(crate) fn take(
        &mut self,
        record: &Record,
        example: &mut Example,
        numbers: &mut Vec<f64>,
    ) -> Result<(), EncodingError> {
        self.encoding.encode(record, numbers)?;
        let mut row = example.tokens.take().unwrap_or_default();
        example.tokens = self.encoding.tokens(record, &mut row)?.then_some(row);
        if !self.learns || example.weight == 0.0 {
            return Ok(());
        }
        if !example.label.is_empty() {
            self.first.get_or_insert_with(|| example.label.clone());
        }
        self.encoding.learn_with(record, told(example, self.first.as_deref()))
    }
}

/// The target that moves the means of columns: the first of several; of classes, whether it is the
/// `first` of them.
pub(crate) fn told(example: &Example, first: Option<&str>) -> Option<f64> {
    match &*example.label {
        "" => example.targets.first().copied(),
        label => Some(f64::from(first == Some(label))),
    }
}
