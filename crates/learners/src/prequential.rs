//! Predict, score, learn: the one pass that every evaluation makes.

use crate::{Error, Regressor, RegressorExt};

/// Sums over the rounds of a prequential pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Score {
    rounds: usize,
    squared: f64,
    absolute: f64,
    wrong_signs: usize,
    all_labels: bool,
    /// `Σ (ω − 1)` over all rounds, and over those with a wrong sign.
    excess: f64,
    wrong_excess: f64,
}

impl Score {
    /// Takes in one round of weight 1.
    pub fn record(&mut self, prediction: f64, target: f64) {
        self.record_weighted(&[prediction], &[target], 1.0);
    }

    /// Takes in one round with its weight, of one output or several. With several outputs the loss
    /// of a round is the mean over them, and there is no error rate.
    pub fn record_weighted(&mut self, predictions: &[f64], targets: &[f64], weight: f64) {
        let count = targets.len() as f64;
        let errors = || predictions.iter().zip(targets).map(|(prediction, target)| prediction - target);
        self.squared += weight * (errors().map(|error| error * error).sum::<f64>() / count);
        self.absolute += weight * (errors().map(f64::abs).sum::<f64>() / count);
        let signed = match (predictions, targets) {
            ([prediction], [target]) => {
                if (*prediction >= 0.0) != (*target >= 0.0) {
                    self.wrong_signs += 1;
                    self.wrong_excess += weight - 1.0;
                }
                target.abs() == 1.0
            }
            _ => false,
        };
        self.all_labels = (self.rounds == 0 || self.all_labels) && signed;
        self.excess += weight - 1.0;
        self.rounds += 1;
    }

    /// Adds the rounds of another score.
    pub fn merge(&mut self, other: &Self) {
        let labels = |score: &Self| score.rounds == 0 || score.all_labels;
        self.all_labels = labels(self) && labels(other) && self.rounds + other.rounds > 0;
        self.rounds += other.rounds;
        self.squared += other.squared;
        self.absolute += other.absolute;
        self.wrong_signs += other.wrong_signs;
        self.excess += other.excess;
        self.wrong_excess += other.wrong_excess;
    }

    /// Number of rounds `n`, those of weight 0 among them.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// `Σ ω`, which is `n` without weights.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.rounds as f64 + self.excess
    }

    /// `Σ ω (ŷ − y)²`
    #[must_use]
    pub fn cumulative_loss(&self) -> f64 {
        self.squared
    }

    /// `Σ ω (ŷ − y)²/Σ ω`, NaN without a round that counts.
    #[must_use]
    pub fn mse(&self) -> f64 {
        self.squared / self.weight()
    }

    /// `Σ ω |ŷ − y|/Σ ω`, NaN without a round that counts.
    #[must_use]
    pub fn mae(&self) -> f64 {
        self.absolute / self.weight()
    }

    /// Share of the rounds, by weight, whose prediction has the wrong sign (0 counts as positive);
    /// `None` unless every target was ±1.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        self.all_labels.then(|| (self.wrong_signs as f64 + self.wrong_excess) / self.weight())
    }
}

/// One round, as an observer of [`prequential`] sees it after the learner has learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round<'a> {
    /// The round, from 1.
    pub t: usize,
    /// The target.
    pub target: f64,
    /// The prediction made before the target was shown.
    pub prediction: f64,
    /// The learner's dictionary size after the round.
    pub dictionary_size: usize,
    /// Sums over the rounds so far.
    pub score: &'a Score,
}

/// The round of a [`prequential`] pass that a learner refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("round {round}: {error}")]
pub struct RoundError {
    /// The round, from 1.
    pub round: usize,
    /// Why it was refused.
    #[source]
    pub error: Error,
}

impl From<RoundError> for Error {
    /// The learner's own error, without the round.
    fn from(refused: RoundError) -> Self {
        refused.error
    }
}

/// Runs `learner` over a stream of `(input, target)`: predicts, scores, learns; `observe` sees
/// every round.
///
/// # Errors
/// The learner's with its round; the learner has then learnt the rounds before it.
pub fn prequential<'a, R: Regressor + ?Sized>(
    learner: &mut R,
    stream: impl IntoIterator<Item = (&'a [f64], f64)>,
    mut observe: impl FnMut(Round<'_>),
) -> Result<Score, RoundError> {
    let mut score = Score::default();
    for (index, (x, target)) in stream.into_iter().enumerate() {
        let t = index + 1;
        let prediction = learner.predict_then_update(x, target).map_err(|error| RoundError { round: t, error })?;
        score.record(prediction, target);
        observe(Round { t, target, prediction, dictionary_size: learner.dictionary_size(), score: &score });
    }
    Ok(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        let mut score = Score::default();
        score.record(0.5, 1.0);
        score.record(0.5, -1.0);
        assert_eq!((score.mse(), score.mae(), score.error_rate()), (1.25, 1.0, Some(0.5)));
        score.record(0.0, 0.5);
        assert_eq!((score.rounds(), score.error_rate()), (3, None));
    }

    #[test]
    fn weights_and_several_outputs_by_hand() {
        let mut score = Score::default();
        score.record_weighted(&[0.5], &[1.0], 2.0);
        score.record_weighted(&[0.5], &[-1.0], 0.5);
        score.record_weighted(&[9.0], &[-1.0], 0.0);
        assert_eq!((score.rounds(), score.weight()), (3, 2.5));
        assert_eq!((score.mse(), score.mae(), score.error_rate()), (1.625 / 2.5, 1.75 / 2.5, Some(0.2)));
        let mut score = Score::default();
        score.record_weighted(&[1.0, 2.0], &[1.0, -1.0], 1.0);
        assert_eq!((score.mse(), score.mae(), score.error_rate()), (4.5, 1.5, None));
    }
}
