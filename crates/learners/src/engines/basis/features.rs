//! The engine of the fixed-feature columns of the grid: a [`FeatureMap`] and a [`LinearUpdate`].

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;

use crate::engines::basis::FeatureMap;
use crate::engines::update::LinearUpdate;
use crate::example::{Rows, Target};
use crate::learner::{check_input, check_scores};
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Shape, Tokens, Variance};

/// Rows that a map takes together at least.
const ROWS_TOGETHER: usize = 8;

/// A linear update on fixed features.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnFeatures<F, U> {
    map: F,
    update: U,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: FeatureMemory,
    #[cfg_attr(feature = "serde", serde(skip))]
    threads: usize,
}

/// Memory for features, reused from block to block.
#[derive(Clone, Debug, Default)]
struct FeatureMemory {
    features: Vec<AlignedVec>,
    work: AlignedVec,
}

impl<F: FeatureMap, U: LinearUpdate> OnFeatures<F, U> {
    /// The learner with these features and this update.
    ///
    /// # Errors
    /// When the update has not as many coordinates as the map.
    pub fn from_parts(map: F, update: U) -> Result<Self, Error> {
        let (needed, has) = (map.coordinates(), update.coordinates());
        ParameterError::require(needed == has, "coordinates of the update", "those of the feature map", has as f64)?;
        Ok(Self { map, update, memory: FeatureMemory::default(), threads: 1 })
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
    fn problem(&self) -> Problem {
        problem_of(&self.map, &self.update)
    }

    fn dictionary_size(&self) -> usize {
        self.map.size()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension())?;
        let [features, work, _] = &mut scratch.vectors;
        self.map.map(x, features, work);
        self.update.predict(features, scores);
        check_scores(scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let FeatureMemory { features, work } = &mut self.memory;
        features.resize(features.len().max(1), AlignedVec::new());
        self.map.map(x, &mut features[0], work);
        self.update.step(&mut features[0], None, target, scores).map_err(|error| cause(error, features.first()))
    }

    fn variance(&self) -> Option<&dyn Variance> {
        self.update.variance().map(|_| self as &dyn Variance)
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => self.map.grow(added),
            Growth::Output { like } => self.update.add_output(like),
        }
    }
}

impl<F: FeatureMap, U: LinearUpdate> Variance for OnFeatures<F, U> {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        self.update.noise(output)
    }

    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        check_input(x, self.dimension())?;
        let [features, work, _] = &mut scratch.vectors;
        self.map.map(x, features, work);
        let outside = self.map.outside(x, features);
        let known = self.update.predict_variance(features, outside, scores, variances);
        check_scores(scores).map(|()| known)
    }
}

impl<F: FeatureMap, U: LinearUpdate> Blocks for OnFeatures<F, U> {
    /// Maps rows together, and lets the update look ahead over them.
    ///
    /// With two threads, in a block of at least 50 rows a feature and for an update that solves
    /// normal equations, the second thread sums up the first two thirds of the block while the
    /// first learns them, and learns the rest from there.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let first = (SUMMED * rows.len() as f64) as usize;
        let problem = self.problem();
        let is_good = || rows.iter().all(|(x, target)| problem.check(x, target).is_ok());
        if self.threads < 2 || rows.len() < LONG * self.map.size() || !is_good() {
            return learn(&self.map, &mut self.update, &mut self.memory, rows, scores);
        }
        let (map, before) = (&self.map, self.update.clone());
        let (rows, later) = (rows.range(0, first), rows.range(first, rows.len()));
        std::thread::scope(|scope| {
            let second = scope.spawn(move || {
                let mut memory = FeatureMemory::default();
                let mut update = after(map, before, &mut memory, rows)?;
                let mut scores = Vec::with_capacity(later.len() * update.outputs());
                let learnt = learn(map, &mut update, &mut memory, later, &mut scores);
                Some((update, scores, learnt))
            });
            learn(map, &mut self.update, &mut self.memory, rows, scores)?;
            match second.join() {
                Ok(Some((mut update, made, learnt))) => {
                    if let (Some(now), Some(earlier)) = (update.equations(), self.update.equations()) {
                        now.residuals().follow(earlier.residuals());
                    }
                    self.update = update;
                    scores.extend(made);
                    learnt
                }
                Ok(None) => learn(map, &mut self.update, &mut self.memory, later, scores),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn limit_threads(&mut self, threads: usize) {
        self.threads = threads;
    }
}

fn problem_of<F: FeatureMap, U: LinearUpdate>(map: &F, update: &U) -> Problem {
    let shape = Shape { inputs: map.input_dimension(), outputs: update.outputs() };
    Problem { shape, loss: update.loss() }
}

/// Share of the rows that the second thread only sums up. A sum costs it about half a round, so
/// both threads end at the same time.
const SUMMED: f64 = 0.65;
/// Rows a feature of a block that is worth a second thread.
const LONG: usize = 50;

/// Learns rows in order, as many together as the update likes.
fn learn<F: FeatureMap, U: LinearUpdate>(
    map: &F,
    update: &mut U,
    memory: &mut FeatureMemory,
    rows: Rows<'_>,
    scores: &mut Vec<f64>,
) -> Result<(), Error> {
    let problem = problem_of(map, update);
    let at_once = update.block_size().max(ROWS_TOGETHER);
    let FeatureMemory { features, work } = memory;
    features.resize(features.len().max(at_once), AlignedVec::new());
    for first in (0..rows.len()).step_by(at_once) {
        let some = rows.range(first, rows.len().min(first + at_once));
        let check = |(x, target): (&[f64], Target<'_>)| problem.check(x, target);
        let good = some.iter().take_while(|row| check(*row).is_ok()).count();
        let refused = some.iter().nth(good).map_or(Ok(()), check);
        let features = &mut features[..good];
        map_rows(map, some.range(0, good), features, work);
        let before = scores.len();
        update
            .learn_block(features, some.targets().range(0, good), scores)
            .map_err(|error| cause(error, features.get((scores.len() - before) / update.outputs())))?;
        refused?;
    }
    Ok(())
}

/// The features of rows. Rows without inputs cannot be told from their inputs, so they are mapped
/// one by one.
fn map_rows<F: FeatureMap>(map: &F, rows: Rows<'_>, features: &mut [AlignedVec], work: &mut AlignedVec) {
    if map.input_dimension() == 0 {
        return features.iter_mut().for_each(|features| map.map(&[], features, work));
    }
    map.map_block(rows.inputs(), features, work);
}

/// Why a round was refused: no update can take features that are not finite.
fn cause(error: Error, features: Option<&AlignedVec>) -> Error {
    let finite = features.is_none_or(|features| features.iter().all(|feature| feature.is_finite()));
    if finite { error } else { Error::Example(ExampleError::KernelOverflow) }
}

/// The update after rows whose predictions nobody asks for, where normal equations tell it.
fn after<F: FeatureMap, U: LinearUpdate>(
    map: &F,
    mut update: U,
    FeatureMemory { features, work }: &mut FeatureMemory,
    rows: Rows<'_>,
) -> Option<U> {
    let system = update.equations()?;
    let mut equations = system.normal_equations()?;
    features.resize(ROWS_TOGETHER, AlignedVec::new());
    for first in (0..rows.len()).step_by(ROWS_TOGETHER) {
        let some = rows.range(first, rows.len().min(first + ROWS_TOGETHER));
        map_rows(map, some, &mut features[..some.len()], work);
        features.iter().zip(some.targets().iter()).for_each(|(phi, target)| equations.add(phi, target));
    }
    system.solve(&equations).then_some(update)
}
