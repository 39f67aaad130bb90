//! Records in, classes out: an encoding and a classifier in one object.

use mercer_core::{Cells, Inconsistent, Validate};
use mercer_learners::{Classifier, Error, Regressor, RegressorExt};

use crate::encoding::Encoding;
use crate::error::EncodingError;
use crate::kind::ToldKind;
use crate::pipeline::{PipelineScratch, check_dimension, in_blocks, validate_dimension};

/// An encoding and a classifier. Classes are numbers `0, 1, …`, in the order in which they are met.
///
/// The order of encoding and learning is that of [`Pipeline`](crate::Pipeline).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClassPipeline<R> {
    encoding: Encoding,
    classifier: Classifier<R>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
}

impl<R: Regressor + Clone> ClassPipeline<R> {
    /// An encoding before a classifier.
    ///
    /// # Errors
    /// [`EncodingError::Dimension`] when its learner was made for other inputs.
    pub fn new(encoding: Encoding, classifier: Classifier<R>) -> Result<Self, EncodingError> {
        check_dimension(&encoding, classifier.learner().dimension())?;
        Ok(Self { encoding, classifier, work: Vec::new() })
    }

    /// The encoding.
    #[must_use]
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The classifier, which sees encoded inputs.
    #[must_use]
    pub fn classifier(&self) -> &Classifier<R> {
        &self.classifier
    }

    /// The classifier, to set the threads of its learner. One that is taught apart no longer
    /// belongs to the encoding.
    pub fn classifier_mut(&mut self) -> &mut Classifier<R> {
        &mut self.classifier
    }

    /// Columns appear late: [`Encoding::add_column`] and [`Classifier::grow`]. In the rows learnt
    /// so far their numbers count as 0.
    ///
    /// # Errors
    /// [`EncodingError::SameName`], and [`Error::FixedInputs`] for learners that cannot grow; the
    /// pipeline is then unchanged.
    pub fn add_columns<'a>(
        &mut self,
        columns: impl IntoIterator<Item = (&'a str, impl Into<ToldKind>)>,
    ) -> Result<(), EncodingError> {
        let mut encoding = self.encoding.clone();
        columns.into_iter().try_for_each(|(name, kind)| encoding.add_column(name, kind).map(drop))?;
        let added = encoding.dimension() - self.encoding.dimension();
        if added > 0 {
            self.classifier.grow(added)?;
        }
        self.encoding = encoding;
        Ok(())
    }

    /// The class of a record; `None` before any class was met. Changes nothing.
    ///
    /// # Errors
    /// As [`scores_with`](Self::scores_with).
    pub fn predict(&self, record: &(impl Cells + ?Sized)) -> Result<Option<usize>, EncodingError> {
        let mut scores = Vec::new();
        self.scores_with(record, &mut PipelineScratch::default(), &mut scores)?;
        Ok(self.classifier.choice(&scores))
    }

    /// `probabilities ← ` one for each class of a record; `false`, and the scores, where the loss
    /// has no probabilities. Changes nothing.
    ///
    /// # Errors
    /// As [`scores_with`](Self::scores_with).
    pub fn probabilities_with(
        &self,
        record: &(impl Cells + ?Sized),
        scratch: &mut PipelineScratch,
        probabilities: &mut Vec<f64>,
    ) -> Result<bool, EncodingError> {
        self.scores_with(record, scratch, probabilities)?;
        Ok(self.classifier.probabilities(probabilities))
    }

    /// `scores ← ` one for each class, as [`Classifier::scores_with`]. Changes nothing.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and as [`Regressor::predict_into`].
    pub fn scores_with(
        &self,
        record: &(impl Cells + ?Sized),
        scratch: &mut PipelineScratch,
        scores: &mut Vec<f64>,
    ) -> Result<(), EncodingError> {
        scratch.numbers.clear();
        self.encoding.encode(record, &mut scratch.numbers)?;
        Ok(self.classifier.scores_with(&scratch.numbers, &mut scratch.learner, scores)?)
    }

    /// Predicts a record, then learns that it belongs to `class`; returns the class predicted.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and as [`Classifier::learn`]; nothing is then learnt.
    pub fn learn(
        &mut self,
        record: &(impl Cells + ?Sized),
        class: usize,
        weight: f64,
    ) -> Result<Option<usize>, EncodingError> {
        let mut predicted = None;
        self.learn_rows(&[record], &[class], &[weight], |_, classifier, scores| predicted = classifier.choice(scores))?;
        Ok(predicted)
    }

    /// Learns records in order, as [`Classifier::learn_rows`]; no weights mean 1 for each.
    ///
    /// # Errors
    /// Those of the first record that is refused. The records before it are learnt and were
    /// observed.
    pub fn learn_rows<T: Cells>(
        &mut self,
        records: &[T],
        classes: &[usize],
        weights: &[f64],
        mut observe: impl FnMut(usize, &Classifier<R>, &[f64]),
    ) -> Result<(), EncodingError> {
        let Self { encoding, classifier, work } = self;
        if records.len() != classes.len() || !(weights.is_empty() || weights.len() == classes.len()) {
            return Err(Error::Targets { numbers: classes.len(), width: 1, weights: weights.len() }.into());
        }
        // Of classes the mean is the share of the first.
        let share = |row: usize| Some(f64::from(classes[row] == 0));
        let taken = |row: usize| (weights.get(row).copied().unwrap_or(1.0), share(row));
        in_blocks(encoding, work, records, taken, |rows, inputs| {
            let (first, some) = (rows.start, weights.get(rows.clone()).unwrap_or_default());
            let mut learnt = 0;
            let taught = classifier.learn_rows(inputs, &classes[rows], some, |row, classifier, scores| {
                learnt = row + 1;
                observe(first + row, classifier, scores);
            });
            (learnt, taught)
        })
    }
}

impl<R: Regressor + Validate> Validate for ClassPipeline<R> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.encoding.validate()?;
        self.classifier.validate()?;
        validate_dimension(&self.encoding, self.classifier.learner().dimension())
    }
}
