//! Members of a mixture that learn together: one learner, or several that share work.

use mercer_core::{Inconsistent, Validate};

use crate::learner::Rows;
use crate::{Error, Regressor, Scratch};

/// Learners that learn together, and their places in the mixture.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Team<G> {
    /// Places of the learners in the mixture.
    places: Vec<usize>,
    group: G,
    /// What became of the last block.
    #[cfg_attr(feature = "serde", serde(skip))]
    outcomes: Vec<Outcome>,
}

/// One learner or several, each with one output. Their indices in the group count from 0.
pub trait Group: Send + Sync {
    /// How many learners.
    fn count(&self) -> usize;

    /// Input dimension of each.
    fn input_dimension(&self) -> usize;

    /// Points kept.
    fn points(&self) -> usize;

    /// Hands each learner's index and prediction at `x` to `take`.
    fn predict_each(&self, x: &[f64], scratch: &mut Scratch, take: impl FnMut(usize, f64)) -> Result<(), Error>;

    /// Lets every learner learn the rows until it fails, and says what became of each in its entry of `outcomes`, which are empty.
    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<Outcome>);

    /// Inputs have `added` features more.
    fn grow_inputs(&mut self, added: usize) -> Result<(), Error>;

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
pub struct Outcome {
    /// One prediction a row that was learnt.
    pub(super) predictions: Vec<f64>,
    /// Why the next row was not, and what was predicted for it.
    pub(super) failure: Option<(Error, Option<f64>)>,
}

impl Outcome {
    fn clear(&mut self) {
        self.predictions.clear();
        self.failure = None;
    }

    /// The prediction for row `row`, if there is one.
    pub(super) fn prediction(&self, row: usize) -> Option<f64> {
        let guess = || self.failure.as_ref().filter(|_| row == self.predictions.len()).and_then(|failure| failure.1);
        self.predictions.get(row).copied().or_else(guess)
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

    /// The group, and the places to which another learner of it is added.
    pub(super) fn parts_mut(&mut self) -> (&mut Vec<usize>, &mut G) {
        (&mut self.places, &mut self.group)
    }

    /// What became of the last block, one a learner.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (usize, &Outcome)> {
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
    /// Points kept.
    pub(super) fn dictionary_size(&self) -> usize {
        self.group.points()
    }

    /// Hands each learner's place and prediction at `x` to `take`.
    pub(super) fn predict(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, f64),
    ) -> Result<(), Error> {
        self.group.predict_each(x, scratch, |index, prediction| take(self.places[index], prediction))
    }

    /// Lets every learner learn the rows until it fails.
    pub(super) fn learn(&mut self, rows: Rows<'_>) {
        self.outcomes.resize_with(self.places.len(), Outcome::default);
        self.outcomes.iter_mut().for_each(Outcome::clear);
        self.group.learn_each(rows, &mut self.outcomes);
    }

    /// Inputs have `added` features more.
    pub(super) fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.group.grow_inputs(added)
    }

    /// Takes out the learners that failed before row `learnt`; `false` when none is left.
    pub(super) fn keep_survivors(&mut self, learnt: usize) -> bool {
        for index in (0..self.places.len()).rev() {
            let Outcome { predictions, failure } = &self.outcomes[index];
            if failure.is_some() && predictions.len() < learnt {
                self.places.remove(index);
                self.outcomes.remove(index);
                if !self.places.is_empty() {
                    self.group.take_out(index);
                }
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

    fn points(&self) -> usize {
        self.dictionary_size()
    }

    fn predict_each(&self, x: &[f64], scratch: &mut Scratch, mut take: impl FnMut(usize, f64)) -> Result<(), Error> {
        let prediction = self.predict_with(x, scratch)?;
        // Infinities are clipped, but a learner of a user's own may predict NaN.
        if prediction.is_nan() {
            return Err(Error::Diverged);
        }
        take(0, prediction);
        Ok(())
    }

    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<Outcome>) {
        let Outcome { predictions, failure } = &mut outcomes[0];
        if let Err(error) = learn_all(self, rows, predictions) {
            let refused = rows.input(predictions.len());
            let guess = self.predict(refused).ok();
            *failure = Some((error, guess));
        }
        if let Some(row) = predictions.iter().position(|prediction| prediction.is_nan()) {
            predictions.truncate(row);
            *failure = Some((Error::Diverged, None));
        }
    }

    fn grow_inputs(&mut self, added: usize) -> Result<(), Error> {
        self.grow(added)
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
    if rows.len() > 1 {
        return learner.learn_rows(rows, predictions);
    }
    let mut made = [0.0];
    rows.iter().try_for_each(|(x, target)| learner.learn(x, target, &mut made))?;
    predictions.extend(made);
    Ok(())
}
