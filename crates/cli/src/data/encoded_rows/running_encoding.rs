//! An encoding that moves with the rows that it encodes.

use mercer_encoding::{Encoding, EncodingError};
use mercer_readers::{Example, Record};
use mercer_session::{LabelDelay, LateRows, record_time};

use crate::arguments::task::Kind;

/// An encoding whose statistics move with each row, unless it is frozen.
#[derive(Clone)]
pub(crate) struct RunningEncoding {
    pub(crate) encoding: Encoding,
    /// The first class, if it is known.
    first: Option<String>,
    learns: bool,
    /// Records whose targets come late, if they are learnt, with those.
    late: Option<LateRows<(Option<Record>, Option<f64>)>>,
}

impl RunningEncoding {
    pub(crate) fn new(encoding: Encoding, kind: Kind) -> Self {
        let first = if let Kind::Class(Some([first, _])) = kind { Some(first.to_owned()) } else { None };
        Self { encoding, first, learns: true, late: None }
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
        let time = self.late.as_ref().and_then(|_| record_time(self.encoding.schema(), record));
        while let Some((record, target)) = self.late.as_mut().and_then(|late| late.due(time)) {
            if let Some(record) = record {
                self.encoding.learn_with(&record, target)?;
            }
        }
        self.encoding.encode(record, numbers)?;
        let mut row = example.tokens.take().unwrap_or_default();
        example.tokens = self.encoding.tokens(record, &mut row)?.then_some(row);
        if !self.learns || example.weight == 0.0 {
            self.late.iter_mut().for_each(|late| late.wait((None, None)));
            return Ok(());
        }
        if !example.label.is_empty() {
            self.first.get_or_insert_with(|| example.label.clone());
        }
        let target = told(example, self.first.as_deref());
        match &mut self.late {
            None => self.encoding.learn_with(record, target),
            Some(late) => {
                late.wait((Some(record.clone()), target));
                Ok(())
            }
        }
    }

    /// Has targets come so much later than their rows.
    pub(crate) fn delay(&mut self, delay: LabelDelay) {
        self.late = Some(LateRows::new(delay));
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
