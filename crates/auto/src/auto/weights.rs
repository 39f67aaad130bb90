//! The weights of the members: of a mixture that remembers all rounds, of one that follows the last
//! two thousand, and of one without the windows, weighed in their turn.
//!
//! With `p_k` of the first, `q_k` of the second, `r_k` of the third and `(a, b, c)` of the mixture
//! of these, member `k` has the weight `a p_k + b q_k + c r_k`. Where nothing changes, the first is
//! better than the second and soon has nearly all of the weight; after a change, the second has
//! forgotten the losses of before. Where the target depends little on the inputs the third is the
//! best, because it has fewer members to tell apart. Under ML-Poly the second and the mixture of
//! the three forget by a factor; under the other rules they share a part of the weight (Herbster
//! and Warmuth 1998). `3K` operations a round and output.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_experts::{Aggregation, Rule, Share, square_loss_regret};
use mercer_learners::Error;
use mercer_learners::Target;
use mercer_learners::mixture::LARGEST_REGRET;

/// Rounds that the one which follows remembers.
const ROUNDS: f64 = 2000.0;

/// See the head of this file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Weights {
    steady: Aggregation,
    quick: Aggregation,
    /// Weights of the first members, which are not of the windows.
    rest: Aggregation,
    parts: Aggregation,
    /// Predictions of the three, and of all together.
    #[cfg_attr(feature = "serde", serde(skip))]
    made: Vec<f64>,
}

/// Follows the last rounds.
fn following(experts: usize, rule: Rule) -> Result<Aggregation, ParameterError> {
    let new = Aggregation::new(experts, rule)?.recovering();
    if rule == Rule::MlPoly { new.forgetting(ROUNDS) } else { new.sharing(Share::Fixed(1.0 / ROUNDS)) }
}

impl Weights {
    /// Equal weights of so many members, of which the first `rest` are not of the windows.
    pub(super) fn new(members: usize, rest: usize, rule: Rule) -> Result<Self, Error> {
        let steady = |members| Aggregation::new(members, rule).map(Aggregation::recovering);
        // Without windows the third would be the first.
        let parts = if rest < members { 3 } else { 2 };
        let (quick, parts) = (following(members, rule)?, following(parts, rule)?);
        Ok(Self { steady: steady(members)?, quick, rest: steady(rest)?, parts, made: Vec::new() })
    }

    /// Members.
    pub(super) fn len(&self) -> usize {
        self.steady.weights().len()
    }

    /// The weights of those that are not of the windows, in the mixture of them alone.
    pub(super) fn rest(&self) -> &[f64] {
        self.rest.weights()
    }

    /// The weight of a member; all together are 1.
    pub(super) fn weight(&self, member: usize) -> f64 {
        let parts = [&self.steady, &self.quick, &self.rest].into_iter().zip(self.parts.weights());
        parts.map(|(part, share)| share * part.weights().get(member).copied().unwrap_or(0.0)).sum()
    }

    /// The weights of all members.
    pub(super) fn weights(&self) -> impl Iterator<Item = f64> {
        (0..self.len()).map(|member| self.weight(member))
    }

    /// Learns from what the members predicted, and a target.
    pub(super) fn learn(&mut self, predictions: &[f64], target: Target<'_>, regrets: &mut Vec<f64>) {
        let outputs = target.y.len();
        let count = self.parts.weights().len();
        self.made.resize((count + 1) * outputs, 0.0);
        let (parts, mixture) = self.made.split_at_mut(count * outputs);
        for (part, made) in
            [&mut self.steady, &mut self.quick, &mut self.rest].into_iter().zip(parts.chunks_exact_mut(outputs))
        {
            let predictions = &predictions[..part.weights().len() * outputs];
            mix(part.weights().iter().copied(), predictions, made);
            charge(part, predictions, made, target, regrets);
        }
        mix(self.parts.weights().iter().copied(), parts, mixture);
        charge(&mut self.parts, parts, mixture, target, regrets);
    }
}

/// `mixture ← Σ p_k ŷ_k`
pub(super) fn mix(weights: impl Iterator<Item = f64>, predictions: &[f64], mixture: &mut [f64]) {
    mixture.fill(0.0);
    for (weight, made) in weights.zip(predictions.chunks_exact(mixture.len())) {
        mixture.iter_mut().zip(made).for_each(|(mixture, made)| *mixture += weight * made);
    }
}

/// Teaches the weights the regrets of a round; out of the range of numbers they teach nothing.
fn charge(
    aggregation: &mut Aggregation,
    predictions: &[f64],
    mixture: &[f64],
    Target { y, weight }: Target<'_>,
    regrets: &mut Vec<f64>,
) {
    regrets.clear();
    regrets.extend(predictions.chunks_exact(y.len()).map(|made| weight * square_loss_regret(mixture, y, made)));
    if regrets.iter().all(|regret| regret.abs() <= LARGEST_REGRET) {
        // As many regrets as experts are always taken.
        let _ = aggregation.learn(regrets);
    }
}

impl Validate for Weights {
    fn validate(&self) -> Result<(), Inconsistent> {
        [&self.steady, &self.quick, &self.rest, &self.parts].into_iter().try_for_each(Validate::validate)?;
        let parts = if self.rest().len() < self.len() { 3 } else { 2 };
        let fits = self.quick.weights().len() == self.len() && self.parts.weights().len() == parts;
        Inconsistent::require(
            fits && self.rest().len() <= self.len(),
            "weights of members",
            "mixtures have one for each",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Learns `rounds` rounds in which the member of this number is right and the other two are
    /// wrong; the weight of the first after each.
    fn told(weights: &mut Weights, right: usize, rounds: usize) -> Vec<f64> {
        let mut regrets = Vec::new();
        let mut round = |t: usize| {
            let y = (t as f64).sin();
            let made: Vec<f64> = (0..3).map(|k| if k == right { y } else { y + 1.0 + 0.1 * k as f64 }).collect();
            weights.learn(&made, Target::weighted(&[y], 1.0), &mut regrets);
            weights.weight(0)
        };
        (0..rounds).map(&mut round).collect()
    }

    #[test]
    fn weights_sum_to_one_and_follow_a_member_that_becomes_the_best_one() -> Result<(), Error> {
        for rule in Rule::ALL {
            let mut weights = Weights::new(3, 2, rule)?;
            assert!(told(&mut weights, 0, 20_000).last().is_some_and(|weight| *weight > 0.95), "{rule}");
            // What remembers all rounds would need as many again.
            assert!(told(&mut weights, 2, 2000).last().is_some_and(|weight| *weight < 0.1), "{rule}");
            assert!((weights.weights().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(weights.validate(), Ok(()));
        }
        Ok(())
    }
}
