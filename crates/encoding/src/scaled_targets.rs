//! Targets in units of their own: a learner sees numbers of the size of 1, its user those of the
//! file.
//!
//! **Scale.** `z = (y − c)/s` with `c` the middle and `s` half the range of the first targets, so
//! that these lie in [−1, 1], where the bounds of learners are by default. Targets more than 10
//! interquartile ranges beyond the quartiles do not count: a single error of measurement would
//! otherwise squeeze all others. Mean and deviation would be worse: a bound of two deviations makes
//! the error of NONS-ALD three times as large where targets have a long tail. Least squares does
//! not care.
//!
//! **When the scale changes.** What a learner has learnt in one scale is wrong in another. So the
//! scale is found after 16, 64 and 256 rows and then stays. Each time a fresh copy of the learner
//! learns the rows so far again in the new scale. Until the 16th row the mean of the targets is
//! predicted. A scale that moves with every row was worse, and failed where the first two targets
//! are nearly the same.
//!
//! Against the scale of the whole file, over the last half of 4000 rows of seven data sets
//! (`cargo test -p mercer-encoding --test scores -- --nocapture`), the error of NONS-ALD, KRLS,
//! FOGD and PKAWV is 0.3% larger at most, and up to 8% smaller. That of AOGD-ALD, whose steps
//! depend on the size of targets, is between 1% smaller and 14% larger.
//!
//! **Implausible targets** are weighed or kept from the learner where [`ScaledTargets::screening`]
//! says so. Those of the first rows are judged again by the rows after them: each time the scale is
//! found, or after 16 rows where there is nothing to find. A copy that is fresh then learns the
//! others.
//!
//! A later target may lie far outside [−1, 1]. A learner with a bound then predicts its bound, so a
//! series that leaves its range for good needs a new model. Cost: 336 rows learnt twice, and the
//! memory of 256 rows until then; later two multiplications a prediction.

mod abilities;
mod validation;

use mercer_core::ExampleError;
use mercer_experts::Outliers;
use mercer_learners::{
    Blocks, Error, Growth, Input, Loss, Problem, Regressor, RegressorExt, Rows, Scratch, Target, Targets, TokenRow,
    Tokens, Variance, step_input,
};

use crate::error::EncodingError;
use crate::open_rows::Open;
use crate::screening::{Implausible, RowEvent, Screening};
use crate::target_scale::TargetScale;

/// A learner behind scales of its targets, one for each output; see [the module](self). It takes
/// and answers targets in their own units.
///
/// # Invariants
/// `open` is there while the scales are to be found, or the first rows to be judged again: an
/// untaught copy of the learner, and the rows so far. Where no scales are there and none to be
/// found, targets pass as they are.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScaledTargets<R> {
    inner: R,
    scales: Vec<TargetScale>,
    open: Option<Open<R>>,
    screening: Option<Screening>,
    /// The state before a new level that is on trial.
    aside: Option<Box<SetAside<R>>>,
    /// Rows that left a constant, until another confirms them.
    waiting: Vec<WaitingRow>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
}

/// State that comes back where the rows since were wrong.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SetAside<R> {
    inner: R,
    scales: Vec<TargetScale>,
    open: Option<Open<R>>,
}

/// A row that is learnt later, or not.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct WaitingRow {
    /// Its number among those of positive weight.
    place: u64,
    x: Vec<f64>,
    tokens: Option<TokenRow>,
    y: Vec<f64>,
    weight: f64,
}

impl<R: Regressor + Clone> ScaledTargets<R> {
    /// An untaught learner behind scales that the first targets tell.
    ///
    /// # Errors
    /// [`EncodingError::Loss`] for a learner with another loss than the squared one.
    pub fn new(learner: R) -> Result<Self, EncodingError> {
        check_loss(learner.loss())?;
        let open = Some(Open::new(learner.clone(), true));
        Ok(Self {
            inner: learner,
            scales: Vec::new(),
            open,
            screening: None,
            aside: None,
            waiting: Vec::new(),
            work: Vec::new(),
        })
    }

    /// A learner behind scales that are known, one for each output.
    ///
    /// # Errors
    /// [`EncodingError::Loss`] as [`new`](Self::new), [`EncodingError::Learner`] when the scales
    /// are not as many as the outputs.
    pub fn fixed(learner: R, scales: Vec<TargetScale>) -> Result<Self, EncodingError> {
        check_loss(learner.loss())?;
        if learner.outputs() != scales.len() {
            return Err(Error::Example(ExampleError::Outputs { expected: learner.outputs(), got: scales.len() }).into());
        }
        Ok(Self {
            inner: learner,
            scales,
            open: None,
            screening: None,
            aside: None,
            waiting: Vec::new(),
            work: Vec::new(),
        })
    }

    /// A learner whose targets pass as they are, of any loss: for programs in which scaling is an
    /// option.
    #[must_use]
    pub fn unscaled(learner: R) -> Self {
        Self {
            inner: learner,
            scales: Vec::new(),
            open: None,
            screening: None,
            aside: None,
            waiting: Vec::new(),
            work: Vec::new(),
        }
    }

    /// The same before it has learnt anything, where this is done with rows whose targets are
    /// implausible by those before them ([`OutlierScreen`](mercer_experts::OutlierScreen), of
    /// several outputs by any). The default is [`Outliers::Keep`].
    #[must_use]
    pub fn screening(self, outliers: Outliers) -> Self {
        let screening = Screening::new(outliers, self.inner.outputs());
        let finds = self.open.as_ref().is_some_and(|open| open.finds);
        let open = (finds || screening.is_some()).then(|| Open::new(self.inner.clone(), finds));
        Self { screening, open, ..self }
    }

    /// The treatment of rows whose targets are implausible.
    #[must_use]
    pub fn outliers(&self) -> Outliers {
        self.screening.as_ref().map_or(Outliers::Keep, Screening::outliers)
    }

    /// The rows with implausible targets; none before there is one.
    #[must_use]
    pub fn implausible(&self) -> Option<Implausible> {
        self.screening.as_ref().and_then(Screening::found)
    }

    /// The row whose target left a constant, while no other confirms it: it is not learnt yet.
    #[must_use]
    pub fn waiting(&self) -> Option<Implausible> {
        let row = self.waiting.first()?;
        Some(Implausible { rows: 1, first: row.place, target: row.y[0], mark: None })
    }

    /// The number of rows of positive weight that were screened.
    #[must_use]
    pub fn screened(&self) -> u64 {
        self.screening.as_ref().map_or(0, Screening::rows)
    }

    /// The learner, which sees scaled targets.
    #[must_use]
    pub fn learner(&self) -> &R {
        &self.inner
    }

    /// The learner, to join what another of the same scales has learnt; teaching it apart breaks
    /// the scores.
    pub fn learner_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The scale of each output; none before the 16th row, and none where targets pass as they are.
    #[must_use]
    pub fn scales(&self) -> &[TargetScale] {
        &self.scales
    }

    /// The learner, without what is around it.
    #[must_use]
    pub fn into_learner(self) -> R {
        self.inner
    }

    /// True if the scales stay as they are.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.open.as_ref().is_none_or(|open| !open.finds)
    }

    /// Scaled numbers back to the units of the targets, row by row.
    fn undo(&self, scores: &mut [f64]) {
        if !self.scales.is_empty() {
            for row in scores.chunks_exact_mut(self.scales.len()) {
                row.iter_mut().zip(&self.scales).for_each(|(score, scale)| *score = scale.undo(*score));
            }
        }
    }

    /// One scaled unit of an output in units of its target.
    fn unit(&self, output: usize) -> f64 {
        self.scales.get(output).map_or(1.0, |scale| scale.scale())
    }

    /// The open state, where only means can be predicted yet.
    fn has_no_scale(&self) -> Option<&Open<R>> {
        self.open.as_ref().filter(|open| open.finds && self.scales.is_empty())
    }

    /// Keeps a row. Where it completes a stage, the scales are found anew and the rows judged
    /// again.
    fn keep(&mut self, input: Input<'_>, target: Target<'_>, implausible: bool) {
        let Some(open) = &mut self.open else { return };
        open.inputs.extend_from_slice(input.numbers);
        open.tokens.extend(input.tokens.cloned());
        open.targets.extend_from_slice(target.y);
        open.weights.push(target.weight);
        let place = self.screening.as_ref().map_or(0, Screening::rows) + 1;
        open.places.push(if implausible { 0 } else { place });
        if !open.stages().contains(&open.rows()) {
            return;
        }
        let (outputs, dimension) = (target.y.len(), input.numbers.len());
        let weights = open.weights.clone();
        let judged = self
            .screening
            .as_mut()
            .map(|screening| screening.judge_again(&open.targets, &open.places, &mut open.weights));
        let (changed, waits) = judged.unwrap_or((false, None));
        if let Some(row) = waits {
            self.waiting.push(WaitingRow {
                place: open.places[row],
                x: open.inputs[row * dimension..(row + 1) * dimension].to_vec(),
                tokens: open.tokens.get(row).cloned(),
                y: open.targets[row * outputs..(row + 1) * outputs].to_vec(),
                weight: weights[row],
            });
        }
        if open.finds {
            let column = |output: usize| open.targets.iter().skip(output).step_by(outputs).copied();
            self.scales = (0..outputs).map(|output| TargetScale::from_targets(column(output))).collect();
        }
        if open.finds || changed {
            self.inner = open.fresh.clone();
            let (mut scaled, mut scores) = (vec![0.0; outputs], vec![0.0; outputs]);
            for (row, weight) in open.weights.iter().enumerate() {
                scaled.copy_from_slice(&open.targets[row * outputs..(row + 1) * outputs]);
                scaled.iter_mut().zip(&self.scales).for_each(|(z, scale)| *z = scale.apply(*z));
                let numbers = &open.inputs[row * dimension..(row + 1) * dimension];
                let input = Input { numbers, tokens: open.tokens.get(row) };
                // A row that the learner refuses in this scale leaves no trace in it, as in any
                // other.
                let _ = self.inner.learn_input(input, Target::weighted(&scaled, *weight), &mut scores);
            }
        }
        if Some(&open.rows()) == open.stages().last() {
            self.open = None;
        }
    }

    /// [`step_as_it_is`](Self::step_as_it_is) with this weight.
    fn step_with(
        &mut self,
        input: Input<'_>,
        target: Target<'_>,
        weight: f64,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        self.step_as_it_is(input, Target { weight, ..target }, weight < target.weight, scores)
    }

    /// Learns rows whose targets count as they are, as the learner does.
    fn learn_scaled(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        if self.scales.is_empty() {
            return self.inner.learn_rows(rows, scores);
        }
        let (problem, outputs) = (self.inner.problem(), self.inner.outputs());
        // Up to the first row that is refused: scaled, it might pass, or be refused in other words.
        let refused = rows.iter().position(|(x, target)| problem.check(x, target).is_err());
        let good = rows.range(0, refused.unwrap_or(rows.len()));
        let weights: Vec<f64> = good.targets().iter().map(|target| target.weight).collect();
        let mut scaled = std::mem::take(&mut self.work);
        scaled.clear();
        for target in good.targets().iter() {
            scaled.extend(target.y.iter().zip(&self.scales).map(|(y, scale)| scale.apply(*y)));
        }
        let start = scores.len();
        let learnt = Targets::new(&scaled, &weights, outputs)
            .and_then(|targets| Rows::new(good.inputs(), self.inner.dimension(), targets))
            .and_then(|rows| rows.with_tokens(good.tokens()))
            .and_then(|rows| self.inner.learn_rows(rows, scores));
        self.work = scaled;
        self.undo(&mut scores[start..]);
        learnt?;
        refused.map_or(Ok(()), |row| problem.check(rows.input(row), rows.target(row)))
    }

    /// The row was learnt, or waits; those that waited before are learnt if it confirms them.
    fn observe(&mut self, input: Input<'_>, target: Target<'_>, event: RowEvent) {
        let Some(screening) = &mut self.screening else { return };
        screening.observe(target);
        if !screening.is_on_trial() {
            self.aside = None;
        }
        if event == RowEvent::Waits {
            let (x, y, weight) = (input.numbers.to_vec(), target.y.to_vec(), target.weight);
            let tokens = input.tokens.cloned();
            self.waiting.push(WaitingRow { place: screening.rows(), x, tokens, y, weight });
        }
        if self.waiting.is_empty() || screening.waits() {
            return;
        }
        for WaitingRow { place, x, tokens, y, weight } in std::mem::take(&mut self.waiting) {
            if self.screening.as_mut().is_some_and(|screening| screening.confirms(place, &y)) {
                // A row that the learner refuses leaves no trace in it.
                let input = Input { numbers: &x, tokens: tokens.as_ref() };
                let _ = self.step_as_it_is(input, Target::weighted(&y, weight), false, &mut vec![0.0; y.len()]);
            }
        }
    }

    /// A step with the positive weight that is left to it.
    fn step_as_it_is(
        &mut self,
        input: Input<'_>,
        target: Target<'_>,
        implausible: bool,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        if let Some(open) = self.has_no_scale() {
            let outputs = scores.len();
            scores.iter_mut().enumerate().for_each(|(output, score)| *score = open.mean(output, outputs));
        } else if self.scales.is_empty() {
            step_input(&mut self.inner, input, target, scores)?;
        } else {
            let mut scaled = std::mem::take(&mut self.work);
            scaled.clear();
            scaled.extend(target.y.iter().zip(&self.scales).map(|(y, scale)| scale.apply(*y)));
            let learnt = step_input(&mut self.inner, input, Target::weighted(&scaled, target.weight), scores);
            self.work = scaled;
            learnt?;
            self.undo(scores);
        }
        self.keep(input, target, implausible);
        Ok(())
    }
}

impl<R: Regressor + Clone> Regressor for ScaledTargets<R> {
    fn problem(&self) -> Problem {
        self.inner.problem()
    }

    fn dictionary_size(&self) -> usize {
        self.inner.dictionary_size()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.predict_input(x.into(), scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.step_input(x.into(), target, scores)
    }

    fn variance(&self) -> Option<&dyn Variance> {
        self.inner.variance().map(|_| self as &dyn Variance)
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        self.inner.tokens().map(|_| self as &dyn Tokens)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        if self.inner.tokens().is_some() { Some(self) } else { None }
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                let before = self.inner.dimension();
                self.inner.grow(added)?;
                if let Some(aside) = &mut self.aside {
                    aside.inner.grow(added)?;
                    aside.open.iter_mut().try_for_each(|open| open.grow(before, added))?;
                }
                self.waiting.iter_mut().for_each(|row| row.x.resize(before + added, 0.0));
                if let Some(open) = &mut self.open {
                    open.grow(before, added)?;
                }
                Ok(())
            }
            Growth::Output { .. } => Err(growth.refused()),
        }
    }
}

fn check_loss(loss: Loss) -> Result<(), EncodingError> {
    if loss == Loss::SQUARED { Ok(()) } else { Err(EncodingError::Loss { loss: loss.name() }) }
}
