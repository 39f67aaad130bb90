//! Members of a mixture that keep the same points share one dictionary: NONS-ALD, KRLS and
//! AOGD-ALD.

mod steps;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;
use mercer_sparsify::Ald;

use super::team::{Gather, Group, MemberBlock, Team, learn_all};
use super::{Member, Mixture};
use crate::engines::basis::{GrowThenStep, OnDictionary};
use crate::engines::update::{GrowingUpdate, LinearUpdate};
use crate::error::Error;
use crate::example::Rows;
use crate::input::Input;
use crate::learner::{Regressor, RegressorExt, Scratch};
use steps::{Step, Steps};

/// Members among which some keep their points on an ALD dictionary, which they can share.
pub trait Sharer: Regressor + Sized {
    /// The kernel of the dictionary.
    type Kernel;

    /// The learner as one that others can join, or as it was if it is none of those or has learnt.
    ///
    /// # Errors
    /// The learner, when it shares nothing.
    fn on_dictionary(self) -> Result<OnOneDictionary<Self::Kernel>, Self>;
}

/// One member, or several on one dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Sharing<M, K> {
    /// One that shares nothing.
    One(M),
    /// Several on the same points.
    OneDictionary(Box<OnOneDictionary<K>>),
}

/// Learners on the same points.
pub type OnOneDictionary<K> = OnDictionary<K, Ald, Steps, GrowThenStep>;

impl<K, M> Gather<M> for Sharing<M, K>
where
    K: Kernel + Clone + PartialEq + Send,
    M: Sharer<Kernel = K>,
{
    fn gather(members: Vec<M>) -> Vec<Team<Self>> {
        let mut teams: Vec<Team<Self>> = Vec::new();
        for (place, learner) in members.into_iter().enumerate() {
            let own = match learner.on_dictionary() {
                Ok(own) => own,
                Err(learner) => {
                    teams.push(Team::new(place, Self::One(learner)));
                    continue;
                }
            };
            let same = teams.iter_mut().find_map(|team| match team.parts_mut() {
                (places, Self::OneDictionary(theirs)) if theirs.keeps_the_points_of(&own) => Some((places, theirs)),
                _ => None,
            });
            if let Some((places, theirs)) = same {
                places.push(place);
                theirs.linear_mut().steps.append(&mut own.into_linear().steps);
            } else {
                teams.push(Team::new(place, Self::OneDictionary(Box::new(own))));
            }
        }
        teams
    }
}

impl<K, U> Sharer for OnDictionary<K, Ald, U, GrowThenStep>
where
    Self: Regressor,
    K: Kernel + Clone,
    U: GrowingUpdate + Into<Step>,
{
    type Kernel = K;

    fn on_dictionary(self) -> Result<OnOneDictionary<K>, Self> {
        if self.basis().is_empty() { Ok(self.map_update(|update| Steps::new(update.into()))) } else { Err(self) }
    }
}

impl<M: Member<Group = Sharing<M, K>>, K> Mixture<M> {
    /// The members that share nothing, with their weights in the next mixture.
    pub fn alone<'a>(&'a self) -> impl Iterator<Item = (f64, &'a M)>
    where
        K: 'a,
    {
        self.teams.iter().filter_map(|team| match team.group() {
            Sharing::One(learner) => Some((self.aggregation.weights()[*team.places().first()?], learner)),
            Sharing::OneDictionary(_) => None,
        })
    }
}

impl<M: Validate, K: Kernel + Clone + Send + Validate> Validate for Sharing<M, K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::One(learner) => learner.validate(),
            Self::OneDictionary(learner) => learner.validate(),
        }
    }
}

impl<M: Regressor, K: Kernel + Clone + Send> Group for Sharing<M, K> {
    fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::OneDictionary(learner) => learner.linear().steps.len(),
        }
    }

    fn input_dimension(&self) -> usize {
        match self {
            Self::One(learner) => learner.dimension(),
            Self::OneDictionary(learner) => learner.dimension(),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::One(learner) => learner.outputs(),
            Self::OneDictionary(learner) => learner.outputs(),
        }
    }

    fn points(&self) -> usize {
        match self {
            Self::One(learner) => learner.dictionary_size(),
            Self::OneDictionary(learner) => learner.dictionary_size(),
        }
    }

    fn takes_tokens(&self) -> bool {
        if let Self::One(learner) = self { learner.takes_tokens() } else { false }
    }

    fn predict_each(
        &self,
        input: Input<'_>,
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64]),
    ) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.predict_each(input, scratch, take),
            Self::OneDictionary(learner) => {
                let x = input.numbers;
                let (steps, width) = (&learner.linear().steps, learner.outputs());
                let mut scores = scratch.lend(steps.len() * width);
                let predicted = learner.values_by_coefficients(x, scratch, &mut scores).and_then(|made| {
                    let coordinates = if made { None } else { Some(learner.coordinates(x, scratch)?) };
                    for (index, (step, scores)) in steps.iter().zip(scores.chunks_exact_mut(width)).enumerate() {
                        match (coordinates, step.by_values()) {
                            (Some(coordinates), _) => step.predict(coordinates, scores),
                            (None, reading) => reading.into_iter().for_each(|reading| reading.read(scores)),
                        }
                        take(index, scores);
                    }
                    Ok(())
                });
                scratch.take_back(scores);
                predicted
            }
        }
    }

    fn tells_variance(&self) -> bool {
        match self {
            Self::One(learner) => learner.has_variance(),
            Self::OneDictionary(learner) => learner.linear().steps.iter().any(|step| step.variance().is_some()),
        }
    }

    fn predict_variance_each(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        mut take: impl FnMut(usize, &[f64], &[f64]),
    ) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.predict_variance_each(x, scratch, take),
            Self::OneDictionary(learner) => {
                learner.coordinates(x, scratch)?;
                let (mut scores, mut variances) = (scratch.lend(learner.outputs()), scratch.lend(learner.outputs()));
                let (phi, outside) = (scratch.probe.coordinates(), scratch.probe.residual().max(0.0));
                for (index, step) in learner.linear().steps.iter().enumerate() {
                    step.predict_variance(phi, outside, &mut scores, &mut variances);
                    take(index, &scores, &variances);
                }
                scratch.take_back(scores);
                scratch.take_back(variances);
                Ok(())
            }
        }
    }

    fn noise_of(&self, index: usize, output: usize) -> Option<f64> {
        match self {
            Self::One(learner) => learner.noise(output),
            Self::OneDictionary(learner) => learner.linear().steps[index].noise(output),
        }
    }

    fn learn_each(&mut self, rows: Rows<'_>, outcomes: &mut Vec<MemberBlock>) {
        match self {
            Self::One(learner) => learner.learn_each(rows, outcomes),
            Self::OneDictionary(learner) => {
                // The steps keep the outcomes while they learn.
                std::mem::swap(&mut learner.linear_mut().outcomes, outcomes);
                let mut rounds = std::mem::take(&mut learner.linear_mut().rounds);
                rounds.clear();
                let learnt = learn_all(&mut **learner, rows, &mut rounds);
                std::mem::swap(&mut learner.linear_mut().outcomes, outcomes);
                if let Err(error) = learnt {
                    // A probe that overflows fails all that are left, before any of them is asked.
                    let left = outcomes.iter_mut().filter(|outcome| outcome.failure.is_none());
                    left.for_each(|outcome| outcome.failure = Some((error.clone(), None)));
                }
                learner.linear_mut().rounds = rounds;
            }
        }
    }

    fn grow_inputs(&mut self, added: usize) -> Result<(), Error> {
        match self {
            Self::One(learner) => learner.grow(added),
            Self::OneDictionary(learner) => learner.grow(added),
        }
    }

    fn add_output_each(&mut self, like: Option<usize>) -> Vec<usize> {
        match self {
            Self::One(learner) => learner.add_output_each(like),
            Self::OneDictionary(learner) => {
                let steps = learner.linear_mut().steps.iter_mut().enumerate();
                steps.filter_map(|(index, step)| step.add_output(like).is_err().then_some(index)).collect()
            }
        }
    }

    fn take_out(&mut self, index: usize) {
        if let Self::OneDictionary(learner) = self {
            learner.linear_mut().steps.remove(index);
        }
    }
}
