//! Why a prediction: effects of the columns that add up to it.
//!
//! The effects are Shapley values. A column that is not in a set has the law that it has in
//! background rows: by itself ([`Absence::Independent`], columns are drawn independently), or with
//! the other absent columns of the same row ([`Absence::Together`], SHAP's interventional
//! definition). The inputs that come from one column, such as the places of its categories, are one
//! player.
//!
//! | learner | how |
//! |---|---|
//! | expansions `Σ α_i k(c_i, x)` of Gaussian kernels and mixtures of them | exactly, by quadrature |
//! | gradient steps on random Fourier features | exactly, by the same with complex factors |
//! | expansions of the linear kernel | exactly |
//! | all others, `auto` among them | permutations of the true prediction, with a standard error |
//!
//! An expansion counts as the learner's only where it gives the prediction itself. Of numbers the
//! effects have the target's unit; of classes they are those on the score, the logit of the second
//! class or of the one that is asked for.

mod permutations;
mod products;

use mercer_learners::{Error, Input, RegressorExt, Scratch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::Session;
use crate::model::Task;
use crate::step::RowPrediction;
use permutations::sampled;
use products::ProductSum;

/// Difference of an expansion from the prediction that is rounding.
const ROUNDING: f64 = 1e-9;

/// The law of columns that are absent from a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// Each column by itself.
    #[default]
    Independent,
    /// All of them as in one background row.
    Together,
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
    session: &'a Session,
    /// The player of each input.
    players: Vec<usize>,
    count: usize,
    output: usize,
    absence: Absence,
    background: Vec<Vec<f64>>,
    exact: Option<ProductSum>,
    permutations: usize,
    seed: u64,
}

impl<'a> Explainer<'a> {
    /// For output `output` of a model, whose input `j` belongs to column `players[j]` of `count`;
    /// `background` are inputs of at least one row.
    ///
    /// # Errors
    /// The learner's, of a background row that it refuses.
    ///
    /// # Panics
    /// If there is no background, or an input without a player.
    pub fn new(
        session: &'a Session,
        (players, count): (Vec<usize>, usize),
        output: usize,
        absence: Absence,
        background: Vec<Vec<f64>>,
    ) -> Result<Self, Error> {
        assert!(!background.is_empty(), "a background has rows");
        assert!(
            players.len() == session.dimension() && players.iter().all(|player| *player < count),
            "inputs have players"
        );
        let learner = match &session.task {
            Task::Numbers(task) => task.learner.learner(),
            Task::Classes(task) => task.classifier.learner(),
        };
        let mut made =
            Self { session, players, count, output, absence, background, exact: None, permutations: 200, seed: 0 };
        if let Some(mut sum) = ProductSum::of_learner(learner, output.min(learner.outputs() - 1)) {
            if let Task::Numbers(task) = &session.task
                && let Some(scale) = task.learner.scales().get(output)
            {
                sum.scale(scale.undo(0.0), scale.scale());
            }
            let fits = made.background.iter().take(8).all(|x| {
                made.value(x).is_ok_and(|value| (sum.value(x) - value).abs() <= ROUNDING * sum.size().max(value.abs()))
            });
            if fits {
                sum.set_background(&made.background, &made.players, made.count, absence);
                made.exact = Some(sum);
            }
        }
        Ok(made)
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
        let mut answer = RowPrediction::default();
        let input = Input { numbers: x, tokens: None };
        match &self.session.task {
            Task::Numbers(_) => {
                self.session.task.predict(input, 0, &mut answer)?;
                Ok(answer.numbers[self.output])
            }
            Task::Classes(task) => {
                let mut scores = Vec::new();
                task.classifier.scores_with(input, &mut Scratch::default(), &mut scores)?;
                Ok(scores[self.output.min(scores.len() - 1)])
            }
        }
    }

    /// Explains the prediction at inputs `x`.
    ///
    /// # Errors
    /// The learner's.
    pub fn explain(&self, x: &[f64]) -> Result<Explanation, Error> {
        let prediction = self.value(x)?;
        if let Some(sum) = &self.exact {
            let (base, effects) = sum.explain(x, &self.players, self.count);
            return Ok(Explanation { prediction, base, effects, standard_errors: Vec::new() });
        }
        // The same draws for each row, so that all have one base.
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        sampled(
            x,
            prediction,
            (&self.players, self.count),
            (&self.background, self.absence),
            self.permutations,
            &mut rng,
            &mut |x| self.value(x),
        )
    }
}
