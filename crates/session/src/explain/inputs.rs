//! Effects of the columns that become numbers.

use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Input, RegressorExt};
use mercer_registry::AnyRegressor;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::closed::ClosedSum;
use super::permutations::sampled;
use super::products::ProductSum;
use super::{Absence, Aim, Exactness, ExplainedColumns, Explanation, PERMUTATIONS, ROUNDING};
use crate::model::{Task, Taught};

/// Rows at which a sum must be the prediction.
const CHECKED: usize = 8;

/// Explains the predictions of a learner of numbers.
pub(super) struct InputExplainer<'a> {
    task: &'a Task,
    columns: &'a ExplainedColumns,
    aim: Aim,
    absence: Absence,
    background: &'a [Vec<f64>],
    exact: Option<ProductSum>,
    /// What is exact of a learner that is not.
    closed: Option<ClosedSum<'a>>,
    permutations: usize,
    seed: u64,
}

impl<'a> InputExplainer<'a> {
    /// For a learner whose inputs come from these columns; `background` are inputs of at least one
    /// row. `O(rows·J·d)`.
    ///
    /// # Errors
    /// The learner's, of a background row that it refuses.
    ///
    /// # Panics
    /// If there is no background, or an input without a column.
    pub(super) fn new(
        task: &'a Task,
        columns: &'a ExplainedColumns,
        aim: Aim,
        absence: Absence,
        background: &'a [Vec<f64>],
    ) -> Result<Self, Error> {
        assert!(!background.is_empty(), "a background has rows");
        let learner = task.learner();
        assert!(columns.of_inputs().len() == learner.dimension(), "inputs have columns");
        let (exact, closed, permutations, seed) = (None, None, PERMUTATIONS, 0);
        let mut made = Self { task, columns, aim, absence, background, exact, closed, permutations, seed };
        let rows = made.background.iter().take(CHECKED).cloned().collect::<Vec<_>>();
        made.exact = made.sum(learner).filter(|sum| made.fits(sum, &rows)).or_else(|| made.affine());
        let players = (columns.of_inputs(), columns.names().len());
        match (&mut made.exact, learner) {
            (Some(sum), _) => sum.set_background(background, players.0, players.1, absence),
            (None, AnyRegressor::Auto(auto)) => {
                made.closed = ClosedSum::new(auto, &made.units(), (background, absence), players);
            }
            _ => {}
        }
        Ok(made)
    }

    /// The weights of the learner's outputs in what is explained.
    fn weights(&self) -> Vec<f64> {
        match self.task {
            Task::Numbers(_) => self.aim.0.clone(),
            Task::Classes(task) => task.classifier.output_weights(&self.aim.0),
        }
    }

    /// The same of outputs in the units in which they are learnt.
    fn units(&self) -> Vec<f64> {
        let mut weights = self.weights();
        if let Task::Numbers(task) = self.task {
            weights.iter_mut().zip(task.learner.scales()).for_each(|(weight, scale)| *weight *= scale.scale());
        }
        weights
    }

    /// The learner as a sum of products in the units of what is explained, if it is one.
    fn sum(&self, learner: &AnyRegressor<AnyKernel>) -> Option<ProductSum> {
        let mut sum = ProductSum::of_learner(learner, &self.weights())?;
        if let Task::Numbers(task) = self.task
            && let Some(output) = self.aim.0.iter().position(|weight| *weight != 0.0)
            && let Some(scale) = task.learner.scales().get(output)
        {
            sum.scale(scale.undo(0.0), scale.scale());
        }
        Some(sum)
    }

    /// True if a sum gives the predictions at these inputs.
    fn fits(&self, sum: &ProductSum, rows: &[Vec<f64>]) -> bool {
        let fit = |x: &Vec<f64>| {
            let unit = |value: f64| ROUNDING * sum.size(x).max(value.abs());
            self.value(x).is_ok_and(|value| (sum.value(x) - value).abs() <= unit(value))
        };
        rows.iter().all(fit)
    }

    /// The predictions as an affine function, if they are one: by the differences along each input,
    /// checked at rows of the background and at points where all inputs differ from these.
    fn affine(&self) -> Option<ProductSum> {
        let start = self.background.first()?;
        let first = self.value(start).ok()?;
        let step = |j: usize| {
            let far = self.background.iter().map(|row| (row[j] - start[j]).abs()).fold(0.0, f64::max);
            if far > 0.0 { far } else { 1.0 }
        };
        let steps: Vec<f64> = (0..start.len()).map(step).collect();
        let moved = |by: &dyn Fn(usize) -> f64| -> Vec<f64> {
            start.iter().enumerate().map(|(j, x)| x + steps[j] * by(j)).collect()
        };
        // Most learners are no such function, which two points tell.
        let middle = 0.5 * (first + self.value(&moved(&|_| 2.0)).ok()?);
        if (self.value(&moved(&|_| 1.0)).ok()? - middle).abs() > 1e-6 * middle.abs().max(first.abs()) {
            return None;
        }
        let slope = |j: usize| Some((self.value(&moved(&|k| f64::from(u8::from(k == j)))).ok()? - first) / steps[j]);
        let slopes: Vec<f64> = (0..start.len()).map(slope).collect::<Option<_>>()?;
        let offset = first - slopes.iter().zip(start).map(|(w, x)| w * x).sum::<f64>();
        let sum = ProductSum::affine(offset, slopes);
        let tilted = (1..=CHECKED).map(|k| moved(&|j| 2.0 * ((1 + j * k) as f64).sin()));
        let checked: Vec<Vec<f64>> = self.background.iter().take(4 * CHECKED).cloned().chain(tilted).collect();
        self.fits(&sum, &checked).then_some(sum)
    }

    /// The same with so many permutations, two at least, where effects are sampled.
    pub(super) fn permutations(self, permutations: usize, seed: u64) -> Self {
        Self { permutations: permutations.max(2), seed, ..self }
    }

    /// The same, with what is exact sampled, too, unless it is `wanted`.
    #[cfg(test)]
    pub(super) fn with_exact_parts(self, wanted: bool) -> Self {
        Self { closed: self.closed.filter(|_| wanted), ..self }
    }

    /// What of the effects is exact.
    pub(super) fn exactness(&self) -> Exactness {
        match (&self.exact, &self.closed) {
            (Some(_), _) => Exactness::All,
            (None, Some(_)) => Exactness::Parts,
            (None, None) => Exactness::Nothing,
        }
    }

    /// The prediction that is explained.
    fn value(&self, x: &[f64]) -> Result<f64, Error> {
        self.aim.of_input(self.task, Input { numbers: x, tokens: None })
    }

    /// Explains the prediction at inputs `x`.
    ///
    /// # Errors
    /// The learner's.
    pub(super) fn explain(&self, x: &[f64]) -> Result<Explanation, Error> {
        let prediction = self.value(x)?;
        let (players, count) = (self.columns.of_inputs(), self.columns.names().len());
        if let Some(sum) = &self.exact {
            let (base, effects) = sum.explain(x, players, count);
            let told = base + effects.iter().sum::<f64>();
            if (told - prediction).abs() <= ROUNDING * sum.size(x).max(prediction.abs()) {
                return Ok(Explanation { prediction, base, effects, standard_errors: Vec::new(), names: Vec::new() });
            }
        }
        // The same draws for each row, so that all have one base.
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let put = |z: &mut Vec<f64>, from: &Vec<f64>, player: usize| {
            let own = players.iter().enumerate().filter(|(_, owner)| **owner == player);
            own.for_each(|(j, _)| z[j] = from[j]);
        };
        let background = (self.background, self.absence);
        let draws = (self.permutations, &mut rng);
        let Some(closed) = &self.closed else {
            return sampled((&x.to_vec(), prediction), count, background, draws, put, |x| self.value(x));
        };
        let rest = |x: &Vec<f64>| Ok::<f64, Error>(self.value(x)? - closed.value(x)?);
        let rest_here = prediction - closed.value(x)?;
        let mut told = sampled((&x.to_vec(), rest_here), count, background, draws, put, rest)?;
        let (base, effects) = closed.explain(x, count);
        told.effects.iter_mut().zip(effects).for_each(|(sum, effect)| *sum += effect);
        Ok(Explanation { prediction, base: told.base + base, ..told })
    }
}
