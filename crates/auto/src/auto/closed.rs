//! What members outside of the windows add to a prediction, at the weights that they have.
//!
//! In scaled targets a prediction is `Σ_k p_k clip(ŷ_k)`, and a process that tells the rest has
//! `ŷ_k = m_k + Σ_l r_l clip(ŷ_l)` over the members outside of the windows. So member `l` of these
//! stands in the whole with the weight
//!
//! ```text
//! p_l + r_l Σ_{k tells the rest} p_k
//! ```
//!
//! as far as nothing is clipped. Dictionaries and random features are sums of products over the
//! features, linear members are polynomials of degree 2. Two things are left out: clipping, and the
//! divisor `1 + φᵀPφ` of the ridge regressions, which is near 1 where rows like this one were
//! learnt.

use mercer_kernels::Gaussian;
use mercer_learners::{Fogd, Krls};

use super::Auto;
use super::grid::GridLearner;
use super::linear::within_reach;
use super::polynomial::Polynomial;
use super::scales::{ScaledRows, Scales};

/// The members of [`Auto`] that have a closed form, at their weights: functions of the features
/// that add up to their part of a sum of predictions.
#[derive(Debug)]
pub struct ClosedForm<'a> {
    scaling: &'a Scales,
    dimension: usize,
    /// Functions of bent features.
    pub parts: Vec<ClosedPart<'a>>,
    /// A function of both kinds of features.
    pub polynomial: Polynomial,
}

/// A learner on the bent features, and the weight of each of its outputs.
#[derive(Debug)]
pub struct ClosedPart<'a> {
    /// The learner.
    pub member: ClosedMember<'a>,
    /// One an output.
    pub weights: Vec<f64>,
}

/// A learner of the mixture.
#[derive(Clone, Copy, Debug)]
pub enum ClosedMember<'a> {
    /// On a dictionary.
    Dictionary(&'a Krls<Gaussian>),
    /// On random features.
    Waves(&'a Fogd),
}

impl ClosedForm<'_> {
    /// The input of each feature.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        self.scaling.inputs()
    }

    /// `straight` and `bent ←` the features of the inputs `x`.
    ///
    /// # Panics
    /// If `x` is of another dimension.
    pub fn features(&self, x: &[f64], straight: &mut Vec<f64>, bent: &mut Vec<f64>) {
        assert!(x.len() == self.dimension, "inputs are those of the learner");
        let mut rows = ScaledRows { straight: std::mem::take(straight), bent: std::mem::take(bent) };
        self.scaling.rows(x, self.dimension, &mut rows);
        rows.straight.iter_mut().for_each(|value| *value = within_reach(*value));
        (*straight, *bent) = (rows.straight, rows.bent);
    }
}

impl Auto {
    /// What the members outside of the windows add to the sum of the outputs with the weights of
    /// `aim`, in the targets' units, while nothing is clipped; `None` before the first stage.
    ///
    /// # Panics
    /// If `aim` has not a weight for each output.
    #[must_use]
    pub fn closed_form(&self, aim: &[f64]) -> Option<ClosedForm<'_>> {
        let stage = self.mixture.as_ref()?;
        let (scaling, ahead, nearest) = (&stage.scaling, &stage.ahead, &stage.nearest);
        assert!(aim.len() == scaling.targets.len(), "each output has a weight");
        // A scaled target is undone by a factor and a constant.
        let units: Vec<f64> = aim.iter().zip(&scaling.targets).map(|(aim, target)| aim * target.scale).collect();
        let weighed = |weight: f64| units.iter().map(|unit| weight * unit).collect::<Vec<f64>>();
        let weights: Vec<f64> = nearest.outside().collect();
        let mut parts = Vec::new();
        for (share, member) in ahead.grid.alone() {
            let member = match member {
                GridLearner::Krls(learner) => ClosedMember::Dictionary(learner),
                GridLearner::Fogd(learner) => ClosedMember::Waves(learner),
                GridLearner::Restarting(restarting) => match restarting.learner() {
                    GridLearner::Krls(learner) => ClosedMember::Dictionary(learner),
                    _ => continue,
                },
            };
            parts.push(ClosedPart { member, weights: weighed(weights[0] * share) });
        }
        let (of_linear, of_own) = weights[1..].split_at(ahead.linear.len());
        // The first of its own is the mean of the targets, 0 in their scale.
        for (learner, weight) in nearest.forgetting().iter().zip(&of_own[1..]) {
            parts.push(ClosedPart { member: ClosedMember::Waves(learner), weights: weighed(*weight) });
        }
        let mut polynomial = Polynomial::new(scaling.live());
        polynomial.offset = aim.iter().zip(&scaling.targets).map(|(aim, target)| aim * target.undo(0.0)).sum();
        ahead.linear.add_to(&mut polynomial, of_linear, &units);
        parts.retain(|part| part.weights.iter().any(|weight| *weight != 0.0));
        Some(ClosedForm { scaling, dimension: self.dimension, parts, polynomial })
    }
}
