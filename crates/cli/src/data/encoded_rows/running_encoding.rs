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
    /// Records whose targets come late, with those, and true if they are learnt.
    late: Option<LateRows<(Record, Option<f64>, bool)>>,
    /// The numbers of those whose targets came before the last row.
    due: Vec<f64>,
}

impl RunningEncoding {
    pub(crate) fn new(encoding: Encoding, kind: Kind) -> Self {
        let first = if let Kind::Class(Some([first, _])) = kind { Some(first.to_owned()) } else { None };
        Self { encoding, first, learns: true, late: None, due: Vec::new() }
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
        while let Some((record, target, learns)) = self.late.as_mut().and_then(|late| late.due(time)) {
            self.encoding.encode(&record, &mut self.due)?;
            if learns {
                self.encoding.learn_with(&record, target)?;
            }
        }
        self.encoding.encode(record, numbers)?;
        let mut row = example.tokens.take().unwrap_or_default();
        example.tokens = self.encoding.tokens(record, &mut row)?.then_some(row);
        if !self.learns || example.weight == 0.0 {
            self.late.iter_mut().for_each(|late| late.wait((record.clone(), None, false)));
            return Ok(());
        }
        if !example.label.is_empty() {
            self.first.get_or_insert_with(|| example.label.clone());
        }
        let target = told(example, self.first.as_deref());
        match &mut self.late {
            None => self.encoding.learn_with(record, target),
            Some(late) => {
                late.wait((record.clone(), target, true));
                Ok(())
            }
        }
    }

    /// The rows before the last one taken that still waited for their targets when it came.
    pub(crate) fn waiting(&self) -> usize {
        self.late.as_ref().map_or(0, |late| late.len().saturating_sub(1))
    }

    /// Moves the numbers of the rows whose targets came before the last one behind others.
    pub(crate) fn take_due(&mut self, numbers: &mut Vec<f64>) {
        numbers.append(&mut self.due);
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
