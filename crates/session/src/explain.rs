//! Why a prediction: effects of the columns that add up to it.
//!
//! The effects are Shapley values. A column that is not in a set has the law that it has in
//! background rows: by itself ([`Absence::Independent`], columns are drawn independently), or with
//! the other absent columns of the same row ([`Absence::Together`], SHAP's interventional
//! definition). The inputs that come from one column, such as the places of its categories, are one
//! player. A model has a sample of the rows that it has learnt for a background.
//!
//! | learner | how |
//! |---|---|
//! | expansions `Σ α_i k(c_i, x)` of Gaussian kernels and mixtures of them | exact, by quadrature |
//! | linear updates on random Fourier features | exactly, by the same with complex factors |
//! | whatever is affine in its inputs: linear kernels, `ridge` | exactly |
//! | all others, `auto` among them | permutations of the true prediction, with a standard error |
//! | whatever learns words | the same with the cells of records ([`CellExplainer`]) |
//!
//! An expansion counts as the learner's only where it gives the prediction itself: a row whose
//! prediction is another, because it is clipped, has sampled effects. Of numbers the effects have
//! the target's unit; of classes they are those on a score, the logit where the learner has
//! probabilities: that of the later of two classes, or of the one that is asked for ([`Aim`]).

mod cells;
mod columns;
mod permutations;
mod products;
mod rows;

use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Input, Loss, RegressorExt, Scratch};
use mercer_registry::AnyRegressor;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::answer::RowPrediction;
use crate::classes::AnyClassifier;
use crate::model::{Task, Taught};
use permutations::sampled;
use products::ProductSum;

pub use cells::CellExplainer;
pub use columns::{ExplainedColumns, SHARED};
pub use rows::RowExplainers;

/// Difference of an expansion from the prediction that is rounding.
const ROUNDING: f64 = 1e-9;

/// Rows at which a sum must be the prediction.
const CHECKED: usize = 8;

/// Permutations, unless told.
pub const PERMUTATIONS: usize = 200;

/// The law of columns that are absent from a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// Each column by itself.
    #[default]
    Independent,
    /// All of them as in one background row.
    Together,
}

/// What is explained: a sum of the numbers, or of the scores of classes, that are predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim(Vec<f64>);

impl Aim {
    /// One of so many numbers.
    #[must_use]
    pub fn number(output: usize, outputs: usize) -> Self {
        Self((0..outputs).map(|k| f64::from(u8::from(k == output))).collect())
    }

    /// The score of a class: of two, its lead over the other as
    /// [`ClassPrediction`](crate::classes::ClassPrediction) has it.
    #[must_use]
    pub fn class(classifier: &AnyClassifier, class: usize) -> Self {
        let classes = classifier.classes();
        if classes != 2 {
            return Self::number(class, classes);
        }
        let share = if classifier.learner().loss() == Loss::SOFTMAX { 1.0 } else { 0.5 };
        Self((0..2).map(|k| if k == class { share } else { -share }).collect())
    }

    fn of(&self, values: &[f64]) -> f64 {
        self.0.iter().zip(values).map(|(weight, value)| weight * value).sum()
    }

    /// The same of the prediction at an input.
    fn of_input(&self, task: &Task, input: Input<'_>) -> Result<f64, Error> {
        match task {
            Task::Numbers(_) => {
                let mut answer = RowPrediction::default();
                task.predict(input, 0, &mut answer)?;
                Ok(self.of(&answer.numbers))
            }
            Task::Classes(task) => {
                let mut scores = Vec::new();
                task.classifier.scores_with(input, &mut Scratch::default(), &mut scores)?;
                Ok(self.of(&scores))
            }
        }
    }
}

/// An explanation of a prediction: `base + Σ effects = prediction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What is explained: the prediction, or the score of a class.
    pub prediction: f64,
    /// The mean prediction of the background, in the law of absent columns.
    pub base: f64,
    /// One for each column.
    pub effects: Vec<f64>,
    /// Standard errors of effects that were sampled; empty where they are exact.
    pub standard_errors: Vec<f64>,
}

/// Explains the predictions of a model.
pub struct Explainer<'a> {
    task: &'a Task,
    columns: &'a ExplainedColumns,
    aim: Aim,
    absence: Absence,
    background: &'a [Vec<f64>],
    exact: Option<ProductSum>,
    permutations: usize,
    seed: u64,
}

impl<'a> Explainer<'a> {
    /// For a learner whose inputs come from these columns; `background` are inputs of at least one
    /// row. `O(rows·J·d)`.
    ///
    /// # Errors
    /// The learner's, of a background row that it refuses.
    ///
    /// # Panics
    /// If there is no background, or an input without a column.
    pub fn new(
        task: &'a Task,
        columns: &'a ExplainedColumns,
        aim: Aim,
        absence: Absence,
        background: &'a [Vec<f64>],
    ) -> Result<Self, Error> {
        assert!(!background.is_empty(), "a background has rows");
        let learner = task.learner();
        assert!(columns.of_inputs().len() == learner.dimension(), "inputs have columns");
        let mut made =
            Self { task, columns, aim, absence, background, exact: None, permutations: PERMUTATIONS, seed: 0 };
        let rows = made.background.iter().take(CHECKED).cloned().collect::<Vec<_>>();
        made.exact = made.sum(learner).filter(|sum| made.fits(sum, &rows)).or_else(|| made.affine());
        if let Some(sum) = &mut made.exact {
            sum.set_background(background, columns.of_inputs(), columns.names().len(), absence);
        }
        Ok(made)
    }

    /// The learner as a sum of products in the units of what is explained, if it is one.
    fn sum(&self, learner: &AnyRegressor<AnyKernel>) -> Option<ProductSum> {
        let weights = match self.task {
            Task::Numbers(_) => self.aim.0.clone(),
            Task::Classes(task) => task.classifier.output_weights(&self.aim.0),
        };
        let mut sum = ProductSum::of_learner(learner, &weights)?;
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
    #[must_use]
    pub fn permutations(self, permutations: usize, seed: u64) -> Self {
        Self { permutations: permutations.max(2), seed, ..self }
    }

    /// True if the effects are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The prediction that is explained.
    fn value(&self, x: &[f64]) -> Result<f64, Error> {
        self.aim.of_input(self.task, Input { numbers: x, tokens: None })
    }

    /// Explains the prediction at inputs `x`.
    ///
    /// # Errors
    /// The learner's.
    pub fn explain(&self, x: &[f64]) -> Result<Explanation, Error> {
        let prediction = self.value(x)?;
        let (players, count) = (self.columns.of_inputs(), self.columns.names().len());
        if let Some(sum) = &self.exact {
            let (base, effects) = sum.explain(x, players, count);
            let told = base + effects.iter().sum::<f64>();
            if (told - prediction).abs() <= ROUNDING * sum.size(x).max(prediction.abs()) {
                return Ok(Explanation { prediction, base, effects, standard_errors: Vec::new() });
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
        sampled((&x.to_vec(), prediction), count, background, draws, put, |x| self.value(x))
    }
}
