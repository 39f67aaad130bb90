//! What is predicted of a row, and by which model; and why a row is not.

use mercer_core::Cells;
use mercer_encoding::{Encoding, EncodingError};
use mercer_learners::{Error, Input, Scratch, TokenRow};
use serde::{Deserialize, Serialize};

use crate::classes::ClassPrediction;

/// A prediction of a row; the memory is used again.
#[derive(Default)]
pub struct RowPrediction {
    /// One number a target, in the targets' own units.
    pub numbers: Vec<f64>,
    /// Lower ends of the intervals in the targets' own units, NaN where there is none yet; empty if
    /// the model has none.
    pub lower: Vec<f64>,
    /// Upper ends of the same.
    pub upper: Vec<f64>,
    /// Of a model of classes.
    pub judged: ClassPrediction,
    /// Classes that were met before the row.
    pub known: usize,
    /// Of classes, the scores of the learner.
    pub scores: Vec<f64>,
    /// Distances of the ends of intervals below and above each number.
    pub reach: Vec<f64>,
    /// Scales of the errors of the numbers, with which intervals learn a target that comes late.
    pub scales: Vec<f64>,
    /// Variances of the targets as the learner expects them, if they are asked for.
    pub variances: Option<Vec<f64>>,
    /// The model that answered, where groups have models of their own.
    pub group: GroupAnswer,
    /// True if the learner had learnt nothing and predicts nothing then.
    pub silent: bool,
    /// The input of the learner that a record became.
    pub input: EncodedInput,
    /// Working memory of the learner, which may be prepared for many rows.
    pub scratch: Scratch,
}

/// The input that a record becomes; the memory is used again.
#[derive(Clone, Debug, Default)]
pub struct EncodedInput {
    numbers: Vec<f64>,
    tokens: TokenRow,
}

/// A row that was not predicted or learnt.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The learner refused it.
    #[error(transparent)]
    Learner(#[from] Error),
    /// Its cells are not those of the table.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// Its label cannot be a class, or the model learns other targets.
    #[error("{0}")]
    Target(String),
}

/// A running score: rounds, their weight, and their loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunningScore {
    /// Rows that were scored.
    pub rounds: usize,
    /// Sum of their weights.
    pub weight: f64,
    /// Squared errors, or mistakes, by weight.
    pub loss: f64,
}

/// The model that answered a row of a group.
#[derive(Default)]
pub struct GroupAnswer {
    /// The name of the group; empty where the row has none, or no models are kept for groups.
    pub name: String,
    /// True if the common model answered, because the group has none.
    pub is_common: bool,
    /// What a model of the group says of its own classes: the answer has those of the common one.
    pub(crate) own: Option<ClassPrediction>,
    /// Memory for the answer of the common model.
    pub(crate) beside: Option<Box<RowPrediction>>,
}

/// A prediction that was made before its label came.
#[derive(Clone, Debug, Default)]
pub struct EarlyPrediction {
    pub(crate) numbers: Vec<f64>,
    /// With which the intervals learn how far it was off.
    pub(crate) scales: Vec<f64>,
    pub(crate) judged: ClassPrediction,
    /// True if the learner had learnt nothing, and predicts nothing then.
    pub(crate) silent: bool,
}

impl EarlyPrediction {
    /// An answer, to be scored when the label has come.
    #[must_use]
    pub fn new(answer: &RowPrediction) -> Self {
        let RowPrediction { numbers, scales, judged, group, silent, .. } = answer;
        let judged = group.own.as_ref().unwrap_or(judged).clone();
        Self { numbers: numbers.clone(), scales: scales.clone(), judged, silent: *silent }
    }
}

impl RowPrediction {
    /// Memory for so many predictions: a learner may prepare more for more of them.
    #[must_use]
    pub fn for_rows(rows: usize) -> Self {
        Self { scratch: Scratch::for_inputs(rows), ..Self::default() }
    }

    /// Turns reaches into the ends of intervals.
    pub(crate) fn set_ends(&mut self) {
        let end = |number: &f64, reach: f64| if reach.is_finite() { number + reach } else { f64::NAN };
        for (ends, side, sign) in [(&mut self.lower, 0, -1.0), (&mut self.upper, 1, 1.0)] {
            ends.clear();
            let reaches = self.reach.iter().skip(side).step_by(2);
            ends.extend(self.numbers.iter().zip(reaches).map(|(number, reach)| end(number, sign * reach)));
        }
    }
}

impl EncodedInput {
    /// The input that a record becomes.
    ///
    /// # Errors
    /// As [`Encoding::encode`].
    pub fn encode(&mut self, encoding: &Encoding, record: &(impl Cells + ?Sized)) -> Result<Input<'_>, EncodingError> {
        let Self { numbers, tokens } = self;
        numbers.clear();
        encoding.encode(record, numbers)?;
        let has_tokens = encoding.tokens(record, tokens)?;
        Ok(Input { numbers, tokens: has_tokens.then_some(&*tokens) })
    }

    /// The numbers of the record that was encoded last.
    #[must_use]
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}
