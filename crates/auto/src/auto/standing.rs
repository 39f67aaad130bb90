//! Which metrics of the windows are asked in a round, by what each is worth for its cost.
//!
//! The worth of a metric is by how much it lowers the loss: with weights `p_k`, predictions `ŷ_k`
//! and the mixture `ŷ = Σ p_k ŷ_k`, the mixture without the metric's members `M` is
//! `(ŷ − Σ_{k∈M} p_k ŷ_k)/(1 − Σ_{k∈M} p_k)`. A metric rests while its worth, averaged over 512
//! rounds, is below its share of the cost times 1 % of the loss. It is then asked in every fourth
//! round only; in the others its members say what all others say together, so that they change
//! nothing and learn nothing. One metric at a time is put to rest, not before row 4096 and not
//! within 512 rounds of another change. It is called back when its worth is twice as much, and all
//! are when the losses of the last 32 rounds are twice those of late: something has changed.

use mercer_core::{Inconsistent, Validate};

/// A resting metric is asked in every so many rounds.
pub(super) const PROBE: u64 = 4;
/// The share of the loss that all metrics together must be worth.
const WORTH: f64 = 0.01;
/// Rounds over which losses are averaged, and between two changes.
pub(super) const LATE: f64 = 512.0;
/// The same for the average that sees changes, and for that of a resting metric.
pub(super) const NOW: f64 = 32.0;
/// What a metric is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Standing {
    /// Its share of the cost of all metrics.
    pub(super) price: f64,
    /// By how much it lowered the loss of a round, on average of late.
    worth: f64,
    /// Rounds that the average is of.
    rounds: f64,
    pub(super) resting: bool,
}

impl Standing {
    pub(super) fn new(price: f64) -> Self {
        Self { price, ..Self::default() }
    }

    /// Whether it is asked in this round.
    pub(super) fn is_asked(&self, round: u64) -> bool {
        !self.resting || round.is_multiple_of(PROBE)
    }

    /// The share of rounds in which it is asked.
    pub(super) fn share(&self) -> f64 {
        if self.resting { 1.0 / PROBE as f64 } else { 1.0 }
    }

    /// Notes by how much it lowered the loss of a round.
    pub(super) fn learn(&mut self, worth: f64) {
        self.rounds = (self.rounds + 1.0).min(if self.resting { NOW } else { LATE });
        self.worth += (worth - self.worth) / self.rounds;
    }

    /// Its worth for its price; 1 is what it must be.
    pub(super) fn ratio(&self, loss: f64) -> f64 {
        if loss > 0.0 { self.worth / (WORTH * self.price * loss) } else { f64::INFINITY }
    }
}

impl Validate for Standing {
    fn validate(&self) -> Result<(), Inconsistent> {
        [self.price, self.worth, self.rounds].iter().try_for_each(Validate::validate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worth of a metric of this price in a stream of loss 1.
    fn told(standing: &mut Standing, worth: f64, rounds: usize) {
        (0..rounds).for_each(|_| standing.learn(worth));
    }

    #[test]
    fn what_is_worth_its_price_is_asked_in_every_round() {
        let (mut dear, mut cheap) = (Standing::new(0.9), Standing::new(0.1));
        told(&mut dear, 0.005, 100);
        told(&mut cheap, 0.005, 100);
        assert!(dear.ratio(1.0) < 1.0 && cheap.ratio(1.0) > 1.0, "{dear:?} {cheap:?}");
        assert!((dear.ratio(1.0) - 0.005 / 0.009).abs() < 1e-12);
        assert!((0..8).all(|round| dear.is_asked(round)));
        dear.resting = true;
        assert_eq!((0..8).filter(|round| dear.is_asked(*round)).collect::<Vec<_>>(), [0, 4]);
        // Nothing is lost, so nothing can be gained.
        assert_eq!(dear.ratio(0.0), f64::INFINITY);
    }
}
