//! Records in, predictions out: an encoding and a learner in one object.

use std::ops::Range;

use mercer_core::{Cells, ExampleError, Inconsistent, Validate};
use mercer_learners::{Error, Regressor, RegressorExt, Rows, Scratch, Target, Targets};

use crate::encoding::Encoding;
use crate::error::EncodingError;
use crate::kind::ToldKind;

/// Rows that are encoded together.
const BLOCK: usize = 256;

/// Memory of a prediction, reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct PipelineScratch {
    pub(crate) numbers: Vec<f64>,
    pub(crate) learner: Scratch,
}

impl PipelineScratch {
    /// For so many inputs to come: see [`Scratch::for_inputs`].
    #[must_use]
    pub fn for_inputs(inputs: usize) -> Self {
        Self { numbers: Vec::new(), learner: Scratch::for_inputs(inputs) }
    }
}

/// An encoding and a learner of numbers. A learner in [`ScaledTargets`](crate::ScaledTargets) takes
/// targets of any unit.
///
/// A record is encoded with the statistics of the rows before it, learnt by the learner, and then
/// learnt by the encoding. What is refused is learnt by neither. A row of weight 0 is only
/// predicted.
///
/// ```
/// use mercer_encoding::{Cell, Encoding, EncodingError, EncodingOptions, Overrides, Pipeline, Scale, ScaledTargets};
/// use mercer_kernels::{Gaussian, median_width};
/// use mercer_learners::{NonsAld, NonsAldParams};
///
/// // What a reader gives: a date, a city, a size with gaps, and a price in euros.
/// let days: Vec<String> = (0..300).map(|t| format!("2024-{:02}-{:02}", 1 + t / 28 % 12, 1 + t % 28)).collect();
/// let row = |t: usize| {
///     let size = if t % 9 == 4 { Cell::Missing } else { Cell::Number(40.0 + (t * 37 % 80) as f64) };
///     [Cell::Text(&days[t]), Cell::Text(["Ulm", "Bonn", "Kiel"][t % 3]), size]
/// };
/// let price = |t: usize| 1e5 * (1.0 + (t % 3) as f64) + 2e3 * (t * 37 % 80) as f64;
///
/// let names = ["day", "city", "size"].map(str::to_owned);
/// let head: Vec<_> = (0..100).map(row).collect();
/// let options = EncodingOptions::default().scale(Scale::Standard);
/// let encoding = Encoding::look(&names, &head, &Overrides::default(), options)?;
/// let mut pipeline = Pipeline::with_head(encoding, &head, |dimension, encoded| {
///     let kernel = Gaussian::new(median_width(dimension, encoded)).map_err(mercer_learners::Error::from)?;
///     ScaledTargets::new(NonsAld::new(kernel, dimension, NonsAldParams::default())?)
/// })?;
/// let (mut loss, mut baseline) = (0.0, 0.0);
/// for t in 0..300 {
///     let prediction = pipeline.learn(&row(t), price(t))?; // in euros
///     if t >= 150 {
///         loss += (prediction - price(t)).powi(2);
///         baseline += (2.8e5 - price(t)).powi(2);
///     }
/// }
/// assert!(loss < 0.2 * baseline, "{loss} {baseline}");
/// # Ok::<(), EncodingError>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pipeline<R> {
    encoding: Encoding,
    learner: R,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
}

impl<R: Regressor> Pipeline<R> {
    /// An encoding before a learner.
    ///
    /// # Errors
    /// [`EncodingError::Dimension`] when the learner was made for other inputs.
    pub fn new(encoding: Encoding, learner: R) -> Result<Self, EncodingError> {
        check_dimension(&encoding, learner.dimension())?;
        Ok(Self { encoding, learner, work: Vec::new() })
    }

    /// An encoding that has learnt the head of a table, before a learner that `make` makes of the
    /// input dimension and of the encoded head, row by row (for the width of a kernel by the median
    /// heuristic, say).
    ///
    /// # Errors
    /// As [`new`](Self::new), those of `make`, and [`EncodingError::Cells`].
    pub fn with_head<H: Cells, E: From<EncodingError>>(
        encoding: Encoding,
        head: &[H],
        make: impl FnOnce(usize, &[f64]) -> Result<R, E>,
    ) -> Result<Self, E> {
        let mut encoded = Vec::with_capacity(head.len() * encoding.dimension());
        head.iter().try_for_each(|record| encoding.encode(record, &mut encoded))?;
        let learner = make(encoding.dimension(), &encoded)?;
        Ok(Self::new(encoding, learner)?)
    }

    /// The encoding.
    #[must_use]
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The learner, which sees encoded inputs.
    #[must_use]
    pub fn learner(&self) -> &R {
        &self.learner
    }

    /// The learner, to set its threads. One that is taught apart no longer belongs to the encoding.
    pub fn learner_mut(&mut self) -> &mut R {
        &mut self.learner
    }

    /// Columns appear late: [`Encoding::add_column`] and [`RegressorExt::grow`]. In the rows learnt
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
            self.learner.grow(added)?;
        }
        self.encoding = encoding;
        Ok(())
    }

    /// The prediction for a record, of a learner with one output. Changes nothing.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and as [`RegressorExt::predict_with`].
    pub fn predict(&self, record: &(impl Cells + ?Sized)) -> Result<f64, EncodingError> {
        let mut numbers = Vec::with_capacity(self.encoding.dimension());
        self.encoding.encode(record, &mut numbers)?;
        Ok(self.learner.predict(&numbers)?)
    }

    /// `scores ← ` the predictions for a record, one for each output. Changes nothing, and
    /// allocates nothing once `scratch` has grown.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and as [`Regressor::predict_into`].
    ///
    /// # Panics
    /// If there is not room for each output in `scores`.
    pub fn predict_into(
        &self,
        record: &(impl Cells + ?Sized),
        scratch: &mut PipelineScratch,
        scores: &mut [f64],
    ) -> Result<(), EncodingError> {
        scratch.numbers.clear();
        self.encoding.encode(record, &mut scratch.numbers)?;
        Ok(self.learner.predict_into(&scratch.numbers, &mut scratch.learner, scores)?)
    }

    /// Predicts a record, then learns that its target is `y`; returns the prediction. For a learner
    /// with one output.
    ///
    /// # Errors
    /// As [`learn_target`](Self::learn_target).
    pub fn learn(&mut self, record: &(impl Cells + ?Sized), y: f64) -> Result<f64, EncodingError> {
        let outputs = self.learner.outputs();
        if outputs != 1 {
            return Err(Error::Example(ExampleError::Outputs { expected: outputs, got: 1 }).into());
        }
        let mut score = [0.0];
        self.learn_target(record, Target::new(&[y]), &mut score)?;
        Ok(score[0])
    }

    /// Predicts a record into `scores`, then learns its target.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and as [`RegressorExt::learn`]; nothing is then learnt.
    ///
    /// # Panics
    /// If there is not room for each output in `scores`.
    pub fn learn_target(
        &mut self,
        record: &(impl Cells + ?Sized),
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), EncodingError> {
        let Self { encoding, learner, work } = self;
        in_blocks(
            encoding,
            work,
            &[record],
            |_| (target.weight, target.y.first().copied()),
            |_, x| match learner.learn(x, target, scores) {
                Ok(()) => (1, Ok(())),
                Err(error) => (0, Err(error)),
            },
        )
    }

    /// Has `teach` teach the learner a record, which is told as its numbers, and then learns it,
    /// unless its weight is 0: for what is around a learner, such as intervals.
    ///
    /// # Errors
    /// [`EncodingError::Cells`], and those of `teach`; the encoding has then learnt nothing.
    pub fn learn_by<T>(
        &mut self,
        record: &(impl Cells + ?Sized),
        target: Target<'_>,
        teach: impl FnOnce(&mut R, &[f64]) -> Result<T, Error>,
    ) -> Result<T, EncodingError> {
        let Self { encoding, learner, work } = self;
        work.clear();
        encoding.encode(record, work)?;
        let taught = teach(learner, work)?;
        if target.weight != 0.0 {
            encoding.learn_with(record, target.y.first().copied())?;
        }
        Ok(taught)
    }

    /// Learns records in order and appends their predictions. Encoded inputs are the same, bit for
    /// bit, as one by one; the learner may share work between rows, as [`RegressorExt::learn_rows`]
    /// says.
    ///
    /// # Errors
    /// Those of the first record that is refused. The records before it are learnt, and `scores`
    /// tells how many they are.
    pub fn learn_rows<T: Cells>(
        &mut self,
        records: &[T],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), EncodingError> {
        let Self { encoding, learner, work } = self;
        let d = encoding.dimension();
        if records.len() != targets.len() {
            return Err(Error::Example(ExampleError::Block {
                inputs: records.len() * d,
                rows: targets.len(),
                dimension: d,
            })
            .into());
        }
        let outputs = learner.outputs().max(1);
        let taken = |row: usize| (targets.get(row).weight, targets.get(row).y.first().copied());
        in_blocks(encoding, work, records, taken, |rows, inputs| {
            let start = scores.len();
            let learnt = Rows::new(inputs, d, targets.range(rows.start, rows.end))
                .and_then(|rows| learner.learn_rows(rows, scores));
            ((scores.len() - start) / outputs, learnt)
        })
    }
}

/// Encodes and learns records in order, block by block, and hands the numbers of a block to
/// `teach`. That says how many rows of it the learner has learnt, and why no more: those that it
/// has not, the encoding forgets again. `taken` tells the weight of a row, and the target that
/// moves means.
pub(crate) fn in_blocks<T: Cells>(
    encoding: &mut Encoding,
    work: &mut Vec<f64>,
    records: &[T],
    taken: impl Fn(usize) -> (f64, Option<f64>),
    mut teach: impl FnMut(Range<usize>, &[f64]) -> (usize, Result<(), Error>),
) -> Result<(), EncodingError> {
    if let [record] = records {
        work.clear();
        encoding.encode(record, work)?;
        teach(0..1, work).1?;
        let (weight, target) = taken(0);
        return if weight == 0.0 { Ok(()) } else { encoding.learn_with(record, target) };
    }
    for first in (0..records.len()).step_by(BLOCK) {
        let block = &records[first..(first + BLOCK).min(records.len())];
        let before = encoding.clone();
        let mut encoded = 0;
        let mut refused = Ok(());
        work.clear();
        while encoded < block.len() && refused.is_ok() {
            refused = encode_and_learn(encoding, &block[encoded], taken(first + encoded), work);
            encoded += usize::from(refused.is_ok());
        }
        let (learnt, stopped) = teach(first..first + encoded, work);
        if let Err(error) = stopped {
            *encoding = before;
            for (row, record) in block.iter().enumerate().take(learnt) {
                encode_and_learn(encoding, record, taken(first + row), work)?;
            }
            return Err(error.into());
        }
        refused?;
    }
    Ok(())
}

/// Appends the numbers of a record; then learns it, unless its weight is 0.
fn encode_and_learn(
    encoding: &mut Encoding,
    record: &(impl Cells + ?Sized),
    (weight, target): (f64, Option<f64>),
    numbers: &mut Vec<f64>,
) -> Result<(), EncodingError> {
    encoding.encode(record, numbers)?;
    if weight == 0.0 { Ok(()) } else { encoding.learn_with(record, target) }
}

pub(crate) fn check_dimension(encoding: &Encoding, learner: usize) -> Result<(), EncodingError> {
    let encoded = encoding.dimension();
    if learner == encoded { Ok(()) } else { Err(EncodingError::Dimension { learner, encoded }) }
}

impl<R: Regressor + Validate> Validate for Pipeline<R> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.encoding.validate()?;
        self.learner.validate()?;
        validate_dimension(&self.encoding, self.learner.dimension())
    }
}

pub(crate) fn validate_dimension(encoding: &Encoding, learner: usize) -> Result<(), Inconsistent> {
    Inconsistent::require(encoding.dimension() == learner, "pipeline", "its learner takes the numbers of its encoding")
}
