//! Members of a mixture that learn together: one learner, or several that share work.

use mercer_core::{ExampleError, Inconsistent, Validate};

use crate::example::Rows;
use crate::input::Input;
use crate::learner::{learn_one_by_one, predict_input};
use crate::{Error, Regressor, RegressorExt, Scratch};

/// Learners that learn together, and their places in the mixture.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Team<G> {
    /// Places of the learners in the mixture.
    places: Vec<usize>,
    group: G,
    /// Outcomes of the last block.
    #[cfg_attr(feature = "serde", serde(skip))]
    outcomes: Vec<MemberBlock>,
}

/// One learner or several, all with as many outputs. Their indices in the group count from 0.
pub trait Group: Send + Sync {
    /// Number of learners.
    fn count(&self) -> usize;

    /// Input dimension of each.
    fn input_dimension(&self) -> usize;

    /// Outputs of each.
    fn width(&self) -> usize;

    /// Points kept.
    fn points(&self) -> usize;

    /// Hands each learner's index and prediction of `input` to `take`.
    fn predict_each(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        take: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error>;

    /// True if a learner takes tokens.
    fn takes_tokens(&self) -> bool;

    /// True if a learner has variances.
    fn tells_variance(&self) -> bool;

    /// [`predict_each`](Self::predict_each) with variances, NaN where a learner has none.
    fn predict_variance_each(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        take: impl FnMut(usize, &[f64], &[f64]),
    ) -> Result<(), Error>;

    /// The noise in this output, as the learner with this index estimates it.
    fn noise_of(&self, index: usize, output: usize) -> Option<f64>;

    /// Lets every learner learn the rows until it fails, and says what became of each in its entry
    /// of `outcomes`, which are empty.
    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<MemberBlock>);

    /// Inputs have `added` features more.
    fn grow_inputs(&mut self, added: usize) -> Result<(), Error>;

    /// Every learner that can gains an output, a copy of output `like` or zero; the indices of
    /// those that cannot.
    fn add_output_each(&mut self, like: Option<usize>) -> Vec<usize>;

    /// Takes out a learner, which is not the only one.
    fn take_out(&mut self, index: usize);
}

/// Groups into which members of type `M` are put.
pub trait Gather<M>: Group + Sized {
    /// Puts untrained learners together that share work.
    fn gather(members: Vec<M>) -> Vec<Team<Self>>;
}

/// A member's part in a block.
#[derive(Clone, Debug, Default)]
pub struct MemberBlock {
    /// A prediction, which is `width` numbers, for each row that was learnt.
    pub(super) predictions: Vec<f64>,
    /// Why the next row was not, and what was predicted for it.
    pub(super) failure: Option<(Error, Option<Vec<f64>>)>,
    width: usize,
}

impl MemberBlock {
    fn clear(&mut self, width: usize) {
        self.predictions.clear();
        self.failure = None;
        self.width = width;
    }

    /// Number of rows learnt.
    pub(super) fn learnt(&self) -> usize {
        self.predictions.len() / self.width
    }

    /// The prediction for row `row`, if there is one.
    pub(super) fn prediction(&self, row: usize) -> Option<&[f64]> {
        let made = self.predictions.get(row * self.width..(row + 1) * self.width);
        let guess = || self.failure.as_ref().filter(|_| row == self.learnt()).and_then(|failure| failure.1.as_deref());
        made.or_else(guess)
    }
}

impl<G> Team<G> {
    /// A team of one.
    pub(super) fn new(place: usize, group: G) -> Self {
        Self { places: vec![place], group, outcomes: Vec::new() }
    }

    /// Places of the learners in the mixture.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// The learners.
    pub(super) fn group(&self) -> &G {
        &self.group
    }

    /// The group, and the places to which another learner of it is added.
    pub(super) fn parts_mut(&mut self) -> (&mut Vec<usize>, &mut G) {
        (&mut self.places, &mut self.group)
    }

    /// Outcomes of the last block, one a learner.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (usize, &MemberBlock)> {
        self.places.iter().copied().zip(&self.outcomes)
    }
}

impl<G: Group + Validate> Team<G> {
    /// [`Validate::validate`] for a team of learners of this dimension.
    pub(super) fn validate(&self, dimension: usize) -> Result<(), Inconsistent> {
        self.group.validate()?;
        let placed = self.places.len() == self.group.count();
        Inconsistent::require(placed, "team", "it has a learner for each member")?;
        let own = self.group.input_dimension();
        Inconsistent::require(own == dimension, "team", "its learners have the mixture's dimension")
    }
}

impl<G: Group> Team<G> {
    /// Outputs of each learner.
    pub(super) fn width(&self) -> usize {
        self.group.width()
    }

    /// Points kept.
    pub(super) fn dictionary_size(&self) -> usize {
        self.group.points()
    }

    /// Hands each learner's place and prediction of `input` to `take`.
    pub(super) fn predict(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        self.group.predict_each(input, scratch, |index, prediction| take(self.places[index], prediction))
    }

    /// True if a learner takes tokens.
    pub(super) fn takes_tokens(&self) -> bool {
        self.group.takes_tokens()
    }

    /// True if a learner has variances.
    pub(super) fn tells_variance(&self) -> bool {
        self.group.tells_variance()
    }

    /// [`predict`](Self::predict) with variances, NaN where a learner has none.
    pub(super) fn predict_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64], &[f64]),
    ) -> Result<(), Error> {
        self.group.predict_variance_each(x, scratch, |index, made, variances| take(self.places[index], made, variances))
    }

    /// Each learner's place, and the noise that it estimates in this output.
    pub(super) fn noises(&self, output: usize) -> impl Iterator<Item = (usize, Option<f64>)> {
        let noises = (0..self.places.len()).map(move |index| self.group.noise_of(index, output));
        self.places.iter().copied().zip(noises)
    }

    /// Lets every learner learn the rows until it fails.
    pub(super) fn learn(&mut self, rows: Rows<'_>) {
        self.outcomes.resize_with(self.places.len(), MemberBlock::default);
        let width = self.group.width();
        self.outcomes.iter_mut().for_each(|outcome| outcome.clear(width));
        self.group.learn_each(rows, &mut self.outcomes);
    }

    /// Inputs have `added` features more.
    pub(super) fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.group.grow_inputs(added)
    }

    /// Every learner that can gains an output; the indices of those that cannot, in order.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Vec<usize> {
        self.group.add_output_each(like)
    }

    /// Takes out the learners that failed before row `learnt`; `false` when none is left.
    pub(super) fn keep_survivors(&mut self, learnt: usize) -> bool {
        let failed = |outcome: &MemberBlock| outcome.failure.is_some() && outcome.learnt() < learnt;
        let failed: Vec<usize> = (0..self.places.len()).filter(|index| failed(&self.outcomes[*index])).collect();
        self.take_out(&failed)
    }

    /// Takes out the learners with these indices, which are in order; `false` when none is left.
    pub(super) fn take_out(&mut self, indices: &[usize]) -> bool {
        for index in indices.iter().rev() {
            self.places.remove(*index);
            self.outcomes.truncate(self.places.len() + 1);
            if *index < self.outcomes.len() {
                self.outcomes.remove(*index);
            }
            if !self.places.is_empty() {
                self.group.take_out(*index);
            }
        }
        !self.places.is_empty()
    }
}

/// A learner is a group of one.
impl<R: Regressor> Group for R {
    fn count(&self) -> usize {
        1
    }

    fn input_dimension(&self) -> usize {
        self.dimension()
    }

    fn width(&self) -> usize {
        self.outputs()
    }

    fn points(&self) -> usize {
        self.dictionary_size()
    }

    fn takes_tokens(&self) -> bool {
        self.tokens().is_some()
    }

    fn predict_each(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        let mut scores = scratch.lend(self.outputs());
        let predicted = predict_input(self, input, scratch, &mut scores);
        let predicted = match predicted {
            // Infinities are clipped, but a learner of a user's own may predict NaN.
            Ok(()) if scores.iter().any(|score| score.is_nan()) => Err(ExampleError::Diverged.into()),
            Ok(()) => {
                take(0, &scores);
                Ok(())
            }
            refused => refused,
        };
        scratch.take_back(scores);
        predicted
    }

    fn tells_variance(&self) -> bool {
        self.has_variance()
    }

    fn predict_variance_each(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64], &[f64]),
    ) -> Result<(), Error> {
        let (mut scores, mut variances) = (scratch.lend(self.outputs()), scratch.lend(self.outputs()));
        let predicted = match self.predict_variance_into(x, scratch, &mut scores, &mut variances) {
            Ok(_) if scores.iter().any(|score| score.is_nan()) => Err(ExampleError::Diverged.into()),
            Ok(_) => {
                take(0, &scores, &variances);
                Ok(())
            }
            Err(error) => Err(error),
        };
        scratch.take_back(scores);
        scratch.take_back(variances);
        predicted
    }

    fn noise_of(&self, _: usize, output: usize) -> Option<f64> {
        self.noise(output)
    }

    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<MemberBlock>) {
        let width = self.outputs();
        let MemberBlock { predictions, failure, .. } = &mut outcomes[0];
        if let Err(error) = learn_all(self, rows, predictions) {
            let refused = rows.whole_input(predictions.len() / width);
            let mut guess = vec![0.0; width];
            let predicted = predict_input(self, refused, &mut Scratch::default(), &mut guess);
            *failure = Some((error, predicted.ok().map(|()| guess)));
        }
        if let Some(place) = predictions.iter().position(|prediction| prediction.is_nan()) {
            predictions.truncate(place / width * width);
            *failure = Some((Error::Example(ExampleError::Diverged), None));
        }
    }

    fn grow_inputs(&mut self, added: usize) -> Result<(), Error> {
        self.grow(added)
    }

    fn add_output_each(&mut self, like: Option<usize>) -> Vec<usize> {
        if self.add_output(like).is_ok() { Vec::new() } else { vec![0] }
    }

    /// It is the only one.
    fn take_out(&mut self, _: usize) {}
}

impl<R: Regressor> Gather<R> for R {
    fn gather(members: Vec<R>) -> Vec<Team<R>> {
        members.into_iter().enumerate().map(|(place, learner)| Team::new(place, learner)).collect()
    }
}

/// Learns rows, one alone in the way that allocates nothing.
pub(super) fn learn_all(learner: &mut impl Regressor, rows: Rows<'_>, predictions: &mut Vec<f64>) -> Result<(), Error> {
    if rows.len() > 1 { learner.learn_rows(rows, predictions) } else { learn_one_by_one(learner, rows, predictions) }
}
