//! A classifier on the scores of a learner.
//!
//! | way | made by | outputs of the learner | learnt at class `c` | for |
//! |---|---|---|---|---|
//! | two classes | [`Classifier::two`] | one, `z` | `+1` for class 1, `−1` for class 0 | every loss with targets ±1, and squared |
//! | one against the rest | [`Classifier::new`] | one a class, and one in reserve | `+1` for `c`, `−1` for the others | the same losses |
//! | softmax | [`Classifier::new`] | one a class | `c` | the softmax loss |
//!
//! The class with the largest score is predicted, the first on ties; of two classes, class 1 where
//! `z ≥ 0`.
//!
//! **Classes that appear later.** One against the rest keeps an output in reserve that is taught
//! `−1` in every round. A class that is met for the first time begins as a copy of it, which is
//! exactly the learner that had known the class from the start and had never seen it (with a
//! bounded norm, `radius`, up to the common projection). Softmax has no such history: a new class
//! begins with the score 0.
//!
//! **Probabilities.** Logistic: `σ(z)`, for one against the rest scaled to sum to 1. Softmax: its
//! own. Squared: the score estimates `2p − 1`, so `(1 + z)/2` clipped to `[0, 1]`, then scaled to
//! sum to 1. The hinge losses have none.
//!
//! [Calibrated](Classifier::calibrated), a logistic model of the scores and of the classes of late
//! makes the probabilities, of any loss, beside the shares of the classes so far: over a run their
//! log loss is above that of these shares by one bit at most in all.
//!
//! Cost: the learner's with so many outputs. With a shared matrix (least squares, softmax Newton)
//! an output costs `4n` multiply-adds.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};

use super::probability::ProbabilityModel;
use crate::example::{Rows, Target, Targets};
use crate::input::{Input, Inputs};
use crate::learner::{check_input, predict_input};
use crate::loss::{Logistic, Loss, Softmax};
use crate::{Error, Regressor, RegressorExt, Scratch};

/// Coding of classes as targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum TargetCoding {
    Two,
    OneAgainstRest,
    Softmax,
}

/// A learner of classes `0, 1, …`, two or many.
///
/// ```
/// use mercer_kernels::Gaussian;
/// use mercer_learners::{Classifier, Krls, KrlsParams};
///
/// let learner = Krls::new(Gaussian::new(0.5)?, 1, KrlsParams::default().lambda(0.1))?;
/// let mut classifier = Classifier::new(learner)?;
/// let mut mistakes = 0;
/// for t in 0..300 {
///     let x = f64::from(t % 30) / 10.0;
///     let class = x as usize; // three intervals
///     let predicted = classifier.learn(&[x], class, 1.0)?;
///     mistakes += usize::from(predicted != Some(class));
/// }
/// assert!(classifier.classes() == 3 && mistakes < 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Classifier<R> {
    learner: R,
    way: TargetCoding,
    classes: usize,
    probability: ProbabilityModel,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: ClassifierMemory,
}

/// Memory of a round or a block.
#[derive(Clone, Debug, Default)]
struct ClassifierMemory {
    targets: Vec<f64>,
    scores: Vec<f64>,
    classes: Vec<f64>,
}

impl<R: Regressor> Classifier<R> {
    /// A classifier for the classes 0 and 1, on an untrained learner with one output.
    ///
    /// # Errors
    /// When the learner has several outputs, or a loss that is neither squared nor takes ±1.
    pub fn two(learner: R) -> Result<Self, Error> {
        check_one_output(&learner)?;
        check_loss(learner.loss(), false)?;
        Ok(Self::with_coding(learner, TargetCoding::Two, 2))
    }

    /// A classifier that knows no class yet, on an untrained learner with one output; classes join
    /// as they are met. With the softmax loss outputs belong together, with others each class is
    /// learnt against the rest.
    ///
    /// # Errors
    /// When the learner has several outputs, or a loss without classes.
    pub fn new(learner: R) -> Result<Self, Error> {
        check_one_output(&learner)?;
        check_loss(learner.loss(), true)?;
        let way = if learner.loss() == Loss::SOFTMAX { TargetCoding::Softmax } else { TargetCoding::OneAgainstRest };
        Ok(Self::with_coding(learner, way, 0))
    }

    /// A classifier on a learner that has learnt `classes` classes already: one output for two
    /// classes, or one in reserve and then one a class, with the targets of the table above.
    /// [`RidgeMoments::sign`](crate::RidgeMoments::sign) makes such targets.
    ///
    /// # Errors
    /// When the learner has other outputs, or a loss that is neither squared nor takes ±1.
    pub fn learnt(learner: R, classes: usize) -> Result<Self, Error> {
        check_loss(learner.loss(), false)?;
        let way = match learner.outputs() {
            1 if classes == 2 => TargetCoding::Two,
            outputs if outputs == classes + 1 => TargetCoding::OneAgainstRest,
            got => return Err(ExampleError::Outputs { expected: classes + 1, got }.into()),
        };
        Ok(Self::with_coding(learner, way, classes))
    }

    fn with_coding(learner: R, way: TargetCoding, classes: usize) -> Self {
        Self { learner, way, classes, probability: ProbabilityModel::Loss, work: ClassifierMemory::default() }
    }

    /// The same untrained classifier, whose probabilities are learnt from its scores and from the
    /// classes that came before: by online Newton steps on a logistic model with eight
    /// coefficients, whatever the classes, beside the shares of the classes so far. It then chooses
    /// the most probable class.
    #[must_use]
    pub fn calibrated(self) -> Self {
        Self { probability: ProbabilityModel::mixture(self.classes), ..self }
    }

    /// Number of classes known.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// True if it takes further classes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.way != TargetCoding::Two
    }

    /// True if its probabilities are learnt from its scores.
    #[must_use]
    pub fn is_calibrated(&self) -> bool {
        self.probability.classes().is_some()
    }

    /// The learner of the scores.
    pub fn learner(&self) -> &R {
        &self.learner
    }

    /// The learner of the scores, to set its threads; teaching it apart breaks the classifier.
    pub fn learner_mut(&mut self) -> &mut R {
        &mut self.learner
    }

    /// True if its scores have probabilities.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        self.is_calibrated() || matches!(self.learner.loss(), Loss::Squared(_) | Loss::Logistic(_) | Loss::Softmax(_))
    }

    /// `scores ← ` one a class; of two classes `[−z, z]`. Never changes the classifier.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`].
    pub fn scores_with<'x>(
        &self,
        input: impl Into<Input<'x>>,
        scratch: &mut Scratch,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let mut raw = std::mem::take(&mut scratch.numbers);
        raw.resize(self.learner.outputs(), 0.0);
        let predicted = predict_input(&self.learner, input.into(), scratch, &mut raw);
        scores.clear();
        self.append_scores(&raw, scores);
        scratch.numbers = raw;
        predicted
    }

    /// The class of `x`; `None` before any class was met.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`].
    pub fn predict(&self, x: &[f64]) -> Result<Option<usize>, Error> {
        let mut scores = Vec::new();
        self.scores_with(x, &mut Scratch::default(), &mut scores)?;
        Ok(choose(&scores))
    }

    /// Turns scores into probabilities that sum to 1; `false`, and nothing done, where the loss has
    /// none.
    pub fn probabilities(&self, scores: &mut [f64]) -> bool {
        if self.probability.probabilities(scores) {
            return true;
        }
        match self.learner.loss() {
            Loss::Softmax(_) => Softmax.probabilities(scores),
            Loss::Logistic(_) => share(scores, Logistic::probability),
            Loss::Squared(_) => share(scores, |z| (0.5 + 0.5 * z).clamp(0.0, 1.0)),
            _ => return false,
        }
        true
    }

    /// The class chosen by scores: the largest, the first on ties, but class 1 of two where
    /// `z = 0`. Calibrated, the most probable.
    #[must_use]
    pub fn choice(&self, scores: &[f64]) -> Option<usize> {
        if self.is_calibrated() {
            let mut probabilities = scores.to_vec();
            self.probability.probabilities(&mut probabilities);
            return choose(&probabilities);
        }
        match (self.way, scores) {
            (TargetCoding::Two, [_, z]) => Some(usize::from(*z >= 0.0)),
            _ => choose(scores),
        }
    }

    /// Inputs have `added` features more: [`RegressorExt::grow`].
    ///
    /// # Errors
    /// As [`RegressorExt::grow`].
    pub fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.learner.grow(added)
    }

    /// Appends the scores of the classes, `raw` being those of the learner.
    fn append_scores(&self, raw: &[f64], scores: &mut Vec<f64>) {
        match self.way {
            TargetCoding::Two => scores.extend([-raw[0], raw[0]]),
            // Output 0 is the one in reserve.
            TargetCoding::OneAgainstRest => scores.extend_from_slice(&raw[1..=self.classes]),
            TargetCoding::Softmax => scores.extend_from_slice(&raw[..self.classes]),
        }
    }

    /// The weights of the learner's outputs in a sum of scores with the weights `of_scores`: scores
    /// are linear in the outputs.
    #[must_use]
    pub fn output_weights(&self, of_scores: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.learner.outputs()];
        let first = usize::from(self.way == TargetCoding::OneAgainstRest);
        match (self.way, of_scores) {
            (TargetCoding::Two, [no, yes]) => weights[0] = yes - no,
            _ => weights.iter_mut().skip(first).zip(of_scores).for_each(|(weight, of)| *weight = *of),
        }
        weights
    }

    /// Numbers in a target.
    fn width(&self) -> usize {
        if self.way == TargetCoding::OneAgainstRest { 1 + self.classes } else { 1 }
    }

    /// Appends the target of a class.
    fn append_target(&self, class: usize, targets: &mut Vec<f64>) {
        let sign = |is: bool| if is { 1.0 } else { -1.0 };
        match self.way {
            TargetCoding::Two => targets.push(sign(class == 1)),
            TargetCoding::OneAgainstRest => {
                targets.push(-1.0);
                targets.extend((0..self.classes).map(|k| sign(k == class)));
            }
            TargetCoding::Softmax => targets.push(class as f64),
        }
    }

    /// Refuses a class that cannot be learnt, not even after it has joined.
    fn check_class(&self, class: usize) -> Result<(), Error> {
        let most = if self.is_open() { self.classes } else { self.classes - 1 };
        let requirement = if self.is_open() { "at most one above those met" } else { "0 or 1; it was made for two" };
        Ok(ParameterError::require(class <= most, "the class", requirement, class as f64).map(drop)?)
    }
}

impl<R: Regressor + Clone> Classifier<R> {
    /// Predicts `x`, then learns that it belongs to `class`; returns the class predicted, `None`
    /// before any was met. A class one above those known joins them.
    ///
    /// # Errors
    /// As [`RegressorExt::learn`], and when the class is none of two, or skips one; the classifier
    /// is then unchanged.
    pub fn learn(&mut self, x: &[f64], class: usize, weight: f64) -> Result<Option<usize>, Error> {
        let mut predicted = None;
        let weights = [weight];
        self.learn_rows(x, &[class], &weights, |_, classifier, scores| predicted = classifier.choice(scores))?;
        Ok(predicted)
    }

    /// Learns rows in order, `inputs` row by row, a class and a weight for each (no weights: all
    /// 1), and hands each row's number and the scores predicted for the classes known before it to
    /// `observe`, with the classifier itself to make classes or probabilities of them.
    ///
    /// # Errors
    /// The first refused row's; those before it are learnt and were observed.
    pub fn learn_rows<'x>(
        &mut self,
        inputs: impl Into<Inputs<'x>>,
        classes: &[usize],
        weights: &[f64],
        mut observe: impl FnMut(usize, &Self, &[f64]),
    ) -> Result<(), Error> {
        let (inputs, d) = (inputs.into(), self.learner.dimension());
        let Inputs { numbers, tokens } = inputs;
        if numbers.len() != classes.len() * d || !(tokens.is_empty() || tokens.len() == classes.len()) {
            return Err(ExampleError::Block { inputs: numbers.len(), rows: classes.len(), dimension: d }.into());
        }
        if !(weights.is_empty() || weights.len() == classes.len()) {
            return Err(Error::Targets { numbers: classes.len(), width: 1, weights: weights.len() });
        }
        let weight = |row: usize| weights.get(row).copied().unwrap_or(1.0);
        let mut first = 0;
        while first < classes.len() {
            // Rows up to the first whose class is new, or that is only predicted.
            let known = |row: &usize| classes[*row] < self.classes && weight(*row) != 0.0;
            let end = (first..classes.len()).find(|row| !known(row)).unwrap_or(classes.len());
            if end > first {
                let some = weights.get(first..end).unwrap_or_default();
                self.learn_known(inputs.range(first, end, d), &classes[first..end], some, first, &mut observe)?;
            }
            if end < classes.len() {
                self.learn_new(inputs.row(end, d), classes[end], weight(end), end, &mut observe)?;
            }
            first = end + 1;
        }
        Ok(())
    }

    /// Learns rows of known classes and positive weights.
    fn learn_known(
        &mut self,
        inputs: Inputs<'_>,
        classes: &[usize],
        weights: &[f64],
        first: usize,
        observe: &mut impl FnMut(usize, &Self, &[f64]),
    ) -> Result<(), Error> {
        let mut work = std::mem::take(&mut self.work);
        work.targets.clear();
        classes.iter().for_each(|class| self.append_target(*class, &mut work.targets));
        work.scores.clear();
        let targets = Targets::new(&work.targets, weights, self.width())?;
        let rows = Rows::new(inputs.numbers, self.learner.dimension(), targets)?.with_tokens(inputs.tokens)?;
        let outputs = self.learner.outputs();
        let learnt = if rows.len() == 1 {
            work.scores.resize(outputs, 0.0);
            let learnt = self.learner.learn_input(rows.whole_input(0), rows.target(0), &mut work.scores);
            work.scores.truncate(if learnt.is_ok() { outputs } else { 0 });
            learnt
        } else {
            self.learner.learn_rows(rows, &mut work.scores)
        };
        for (row, raw) in work.scores.chunks_exact(outputs).enumerate() {
            work.classes.clear();
            self.append_scores(raw, &mut work.classes);
            observe(first + row, self, &work.classes);
            let weight = weights.get(row).copied().unwrap_or(1.0);
            self.probability.learn(&work.classes, classes[row], weight);
        }
        self.work = work;
        learnt
    }

    /// A row of a class that is new, or of weight 0.
    fn learn_new(
        &mut self,
        input: Input<'_>,
        class: usize,
        weight: f64,
        row: usize,
        observe: &mut impl FnMut(usize, &Self, &[f64]),
    ) -> Result<(), Error> {
        check_input(input.numbers, self.learner.dimension())?;
        self.check_class(class)?;
        let mut scores = Vec::with_capacity(self.classes);
        self.scores_with(input, &mut Scratch::default(), &mut scores)?;
        if weight != 0.0 {
            // A refused example must not leave its class behind.
            let mut grown = self.clone();
            grown.join()?;
            let mut targets = Vec::new();
            grown.append_target(class, &mut targets);
            let mut made = vec![0.0; grown.learner.outputs()];
            grown.learner.learn_input(input, Target::weighted(&targets, weight), &mut made)?;
            let mut made_scores = Vec::with_capacity(grown.classes);
            grown.append_scores(&made, &mut made_scores);
            grown.probability.learn(&made_scores, class, weight);
            observe(row, self, &scores);
            *self = grown;
        } else {
            observe(row, self, &scores);
        }
        Ok(())
    }

    /// Another class joins.
    fn join(&mut self) -> Result<(), Error> {
        match self.way {
            TargetCoding::OneAgainstRest => self.learner.add_output(Some(0))?,
            TargetCoding::Softmax if self.classes > 0 => self.learner.add_output(None)?,
            // The first class has the output that the learner was made with.
            TargetCoding::Softmax | TargetCoding::Two => {}
        }
        self.probability.join();
        self.classes += 1;
        Ok(())
    }
}

impl<R: Regressor + Validate> Validate for Classifier<R> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "classifier";
        self.learner.validate()?;
        self.probability.validate()?;
        let calibrates = self.probability.classes().is_none_or(|classes| classes == self.classes);
        Inconsistent::require(calibrates, WHAT, "its calibration has its classes")?;
        let loss = self.learner.loss();
        let outputs = match self.way {
            TargetCoding::Two => 1,
            TargetCoding::OneAgainstRest => self.classes.saturating_add(1),
            TargetCoding::Softmax => self.classes.max(1),
        };
        let sound = check_loss(loss, self.way != TargetCoding::Two).is_ok()
            && (self.way == TargetCoding::Softmax) == (loss == Loss::SOFTMAX)
            && (self.way != TargetCoding::Two || self.classes == 2);
        Inconsistent::require(sound, WHAT, "its loss is one for classes")?;
        Inconsistent::require(self.learner.outputs() == outputs, WHAT, "its learner has an output for each class")
    }
}

/// The class with the largest score, the first on ties.
fn choose(scores: &[f64]) -> Option<usize> {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|score| *score == best)
}

/// Scores turned into probabilities one by one, then scaled to sum to 1; all alike where every one
/// is 0.
fn share(scores: &mut [f64], probability: impl Fn(f64) -> f64) {
    scores.iter_mut().for_each(|z| *z = probability(*z));
    let (sum, count) = (scores.iter().sum::<f64>(), scores.len() as f64);
    scores.iter_mut().for_each(|p| *p = if sum > 0.0 { *p / sum } else { 1.0 / count });
}

fn check_one_output(learner: &impl Regressor) -> Result<(), Error> {
    let outputs = learner.outputs();
    if outputs == 1 { Ok(()) } else { Err(ExampleError::Outputs { expected: 1, got: outputs }.into()) }
}

/// Refuses losses without classes.
fn check_loss(loss: Loss, open: bool) -> Result<(), Error> {
    let fits = loss.is_margin() || loss == Loss::SQUARED || (open && loss == Loss::SOFTMAX);
    let instead = if open {
        "squared, logistic, hinge, squared-hinge or softmax"
    } else {
        "squared, logistic, hinge or squared-hinge; softmax is for many classes"
    };
    if fits { Ok(()) } else { Err(Error::Loss { update: "a classifier", loss: loss.name(), instead }) }
}
