//! The engine of the fixed-feature columns of the grid: a [`FeatureMap`] and a [`LinearUpdate`].

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, RandomFourier};

use crate::regression::regressor::{check_block, check_example, check_input};
use crate::regression::update::LinearUpdate;
use crate::{Error, Regressor, Scratch};

/// Coordinates that do not change while learning.
pub trait FeatureMap: Sync {
    /// Input dimension `d`.
    fn input_dimension(&self) -> usize;
    /// Number of coordinates.
    fn coordinates(&self) -> usize;
    /// What the learner reports as its dictionary size.
    fn size(&self) -> usize;
    /// `features ← z(x)`; `work` is memory for intermediate results.
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec);

    /// [`map`](Self::map) for the rows of a row-major block, the same bits; maps that share work between rows override it.
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        for (x, features) in xs.chunks_exact(self.input_dimension().max(1)).zip(features) {
            self.map(x, features, work);
        }
    }
}

impl FeatureMap for RandomFourier {
    fn input_dimension(&self) -> usize {
        Self::input_dimension(self)
    }
    fn coordinates(&self) -> usize {
        self.dimension()
    }
    fn size(&self) -> usize {
        self.frequencies()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, _: &mut AlignedVec) {
        Self::map(self, x, features);
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], _: &mut AlignedVec) {
        Self::map_block(self, xs, features);
    }
}

/// Rows that a map takes together at least.
const ROWS_TOGETHER: usize = 8;

/// A linear update on fixed features.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnFeatures<F, U> {
    map: F,
    update: U,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: Memory,
    #[cfg_attr(feature = "serde", serde(skip))]
    threads: usize,
}

/// Memory for features, reused from block to block.
#[derive(Clone, Debug, Default)]
struct Memory {
    features: Vec<AlignedVec>,
    work: AlignedVec,
}

impl<F: FeatureMap, U: LinearUpdate> OnFeatures<F, U> {
    /// The learner with these features and this update, whose dimensions must agree.
    pub fn from_parts(map: F, update: U) -> Self {
        Self { map, update, memory: Memory::default(), threads: 1 }
    }

    /// The feature map.
    pub fn feature_map(&self) -> &F {
        &self.map
    }

    /// The linear learner on the features.
    pub fn linear(&self) -> &U {
        &self.update
    }
}

impl<F: FeatureMap + Validate, U: LinearUpdate + Validate> Validate for OnFeatures<F, U> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.map.validate()?;
        self.update.validate()?;
        let fits = self.update.coordinates() == self.map.coordinates();
        Inconsistent::require(fits, "learner on features", "it has a coefficient for each feature")
    }
}

impl<F: FeatureMap, U: LinearUpdate> Regressor for OnFeatures<F, U> {
    fn dimension(&self) -> usize {
        self.map.input_dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.map.size()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        self.map.map(x, &mut scratch.features, &mut scratch.work);
        let prediction = self.update.predict(&scratch.features);
        if prediction.is_finite() { Ok(prediction) } else { Err(Error::KernelOverflow) }
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let Memory { features, work } = &mut self.memory;
        features.resize(features.len().max(1), AlignedVec::new());
        self.map.map(x, &mut features[0], work);
        self.update.step(&mut features[0], None, y).map_err(|error| cause(error, features.first()))
    }

    /// Maps rows together, and lets the update look ahead over them.
    ///
    /// With two threads, in a block of at least 50 rows a feature and for an update that solves normal equations, the second
    /// thread sums up the first two thirds of the block while the first learns them, and learns the rest from there.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension();
        check_block(xs, ys, d)?;
        let first = (SUMMED * ys.len() as f64) as usize;
        let is_good = || xs.chunks_exact(d.max(1)).zip(ys).all(|(x, y)| check_example(x, *y, d).is_ok());
        if self.threads < 2 || ys.len() < LONG * self.map.size() || !is_good() {
            return learn_rows(&self.map, &mut self.update, &mut self.memory, (xs, ys), predictions);
        }
        let (map, before) = (&self.map, self.update.clone());
        let ((xs, later_xs), (ys, later_ys)) = (xs.split_at(first * d), ys.split_at(first));
        std::thread::scope(|scope| {
            let later = scope.spawn(move || {
                let mut memory = Memory::default();
                let mut update = after(map, &before, &mut memory, (xs, ys))?;
                let mut predictions = Vec::with_capacity(later_ys.len());
                let learnt = learn_rows(map, &mut update, &mut memory, (later_xs, later_ys), &mut predictions);
                Some((update, predictions, learnt))
            });
            learn_rows(map, &mut self.update, &mut self.memory, (xs, ys), predictions)?;
            match later.join() {
                Ok(Some((update, made, learnt))) => {
                    self.update = update;
                    predictions.extend(made);
                    learnt
                }
                Ok(None) => learn_rows(map, &mut self.update, &mut self.memory, (later_xs, later_ys), predictions),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
    }
}

/// What the second thread only sums up: a sum costs it about half a round, so that both end at the same time.
const SUMMED: f64 = 0.65;
/// Rows a feature of a block that is worth a second thread.
const LONG: usize = 50;

/// Learns rows in order, as many together as the update likes.
fn learn_rows<F: FeatureMap, U: LinearUpdate>(
    map: &F,
    update: &mut U,
    memory: &mut Memory,
    (xs, ys): (&[f64], &[f64]),
    predictions: &mut Vec<f64>,
) -> Result<(), Error> {
    let d = map.input_dimension();
    let rows = update.block_size().max(ROWS_TOGETHER);
    let Memory { features, work } = memory;
    features.resize(features.len().max(rows), AlignedVec::new());
    for (xs, ys) in xs.chunks(rows * d.max(1)).zip(ys.chunks(rows)) {
        let examples = || xs.chunks_exact(d.max(1)).zip(ys);
        let good = examples().take_while(|(x, y)| check_example(x, **y, d).is_ok()).count();
        let features = &mut features[..good];
        map.map_block(&xs[..good * d], features, work);
        let before = predictions.len();
        update
            .learn_block(features, &ys[..good], predictions)
            .map_err(|error| cause(error, features.get(predictions.len() - before)))?;
        examples().nth(good).map_or(Ok(()), |(x, y)| check_example(x, *y, d))?;
    }
    Ok(())
}

/// Why a round was refused: no update can take features that are not finite.
fn cause(error: Error, features: Option<&AlignedVec>) -> Error {
    let finite = features.is_none_or(|features| features.iter().all(|feature| feature.is_finite()));
    if finite { error } else { Error::KernelOverflow }
}

/// The update after rows whose predictions nobody asks for, where normal equations tell it.
fn after<F: FeatureMap, U: LinearUpdate>(
    map: &F,
    update: &U,
    Memory { features, work }: &mut Memory,
    (xs, ys): (&[f64], &[f64]),
) -> Option<U> {
    let mut equations = update.normal_equations()?;
    features.resize(ROWS_TOGETHER, AlignedVec::new());
    for (xs, ys) in xs.chunks(ROWS_TOGETHER * map.input_dimension().max(1)).zip(ys.chunks(ROWS_TOGETHER)) {
        map.map_block(xs, &mut features[..ys.len()], work);
        features.iter().zip(ys).for_each(|(phi, y)| equations.add(phi, *y));
    }
    update.solving(&equations)
}
