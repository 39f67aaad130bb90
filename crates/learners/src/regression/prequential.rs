//! Predict, score, learn: the one pass that every evaluation makes.

use crate::{Error, Regressor};

/// Sums over the rounds of a prequential pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Score {
    rounds: usize,
    squared: f64,
    absolute: f64,
    wrong_signs: usize,
    all_labels: bool,
}

impl Score {
    /// Takes in one round.
    pub fn record(&mut self, prediction: f64, target: f64) {
        let error = prediction - target;
        self.squared += error * error;
        self.absolute += error.abs();
        self.wrong_signs += usize::from((prediction >= 0.0) != (target >= 0.0));
        self.all_labels = (self.rounds == 0 || self.all_labels) && target.abs() == 1.0;
        self.rounds += 1;
    }

    /// Number of rounds `n`.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// `Σ (ŷ − y)²`
    #[must_use]
    pub fn cumulative_loss(&self) -> f64 {
        self.squared
    }

    /// `Σ (ŷ − y)²/n`, NaN without a round.
    #[must_use]
    pub fn mse(&self) -> f64 {
        self.squared / self.rounds as f64
    }

    /// `Σ |ŷ − y|/n`, NaN without a round.
    #[must_use]
    pub fn mae(&self) -> f64 {
        self.absolute / self.rounds as f64
    }

    /// Share of rounds whose prediction has the wrong sign (0 counts as positive); `None` unless every target was ±1.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        self.all_labels.then(|| self.wrong_signs as f64 / self.rounds as f64)
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

/// Runs `learner` over a stream of `(input, target)`: predicts, scores, learns; `observe` sees every round.
///
/// # Errors
/// The learner's, with the round at which it arose; the learner has then learnt the rounds before it.
pub fn prequential<'a, R: Regressor + ?Sized>(
    learner: &mut R,
    stream: impl IntoIterator<Item = (&'a [f64], f64)>,
    mut observe: impl FnMut(Round<'_>),
) -> Result<Score, (usize, Error)> {
    let mut score = Score::default();
    for (index, (x, target)) in stream.into_iter().enumerate() {
        let t = index + 1;
        let prediction = learner.predict_then_update(x, target).map_err(|error| (t, error))?;
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
}
