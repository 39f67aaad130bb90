//! Scores of classifications.

/// Sums over the rounds of a prequential pass of a classifier, each with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClassScore {
    rounds: usize,
    weight: f64,
    correct: f64,
    /// For each class its weight, and the weight of its rounds that were predicted right.
    classes: Vec<(f64, f64)>,
    log_loss: f64,
    /// True if every round had a probability.
    all_probable: bool,
    confidences: Vec<Bin>,
}

/// Rounds of about the same confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Bin {
    weight: f64,
    confidence: f64,
    right: f64,
}

/// Bins of equal width of the confidences from 0 to 1.
const BINS: usize = 15;

/// Probabilities below this count as this, so that one round cannot make the mean infinite.
const LEAST_PROBABILITY: f64 = 1e-15;

impl ClassScore {
    /// Takes in a round: the class, the class predicted before it was shown, the probability given
    /// to the true class if there are probabilities, and the weight. Rounds of weight 0 do not
    /// count.
    pub fn record(&mut self, class: usize, predicted: Option<usize>, probability: Option<f64>, weight: f64) {
        if weight == 0.0 {
            return;
        }
        let right = if predicted == Some(class) { weight } else { 0.0 };
        if self.classes.len() <= class {
            self.classes.resize(class + 1, (0.0, 0.0));
        }
        self.classes[class].0 += weight;
        self.classes[class].1 += right;
        self.correct += right;
        self.all_probable = (self.rounds == 0 || self.all_probable) && probability.is_some();
        self.log_loss -= weight * probability.unwrap_or(1.0).max(LEAST_PROBABILITY).ln();
        self.weight += weight;
        self.rounds += 1;
    }

    /// Takes in how confident a round was, for the [calibration error](Self::calibration_error):
    /// the probability given to the class that was predicted, and whether that was right. Beside
    /// [`record`](Self::record), for rounds with probabilities.
    pub fn record_confidence(&mut self, confidence: f64, right: bool, weight: f64) {
        if weight == 0.0 || confidence.is_nan() {
            return;
        }
        self.confidences.resize(BINS, Bin::default());
        let bin = &mut self.confidences[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.weight += weight;
        bin.confidence += weight * confidence;
        bin.right += if right { weight } else { 0.0 };
    }

    /// Takes in the rounds of another score, which come behind those of this one.
    pub fn merge(&mut self, other: &Self) {
        if other.rounds == 0 {
            return;
        }
        if self.classes.len() < other.classes.len() {
            self.classes.resize(other.classes.len(), (0.0, 0.0));
        }
        for (ours, theirs) in self.classes.iter_mut().zip(&other.classes) {
            *ours = (ours.0 + theirs.0, ours.1 + theirs.1);
        }
        if self.confidences.len() < other.confidences.len() {
            self.confidences.resize(other.confidences.len(), Bin::default());
        }
        for (ours, theirs) in self.confidences.iter_mut().zip(&other.confidences) {
            ours.weight += theirs.weight;
            ours.confidence += theirs.confidence;
            ours.right += theirs.right;
        }
        self.all_probable = (self.rounds == 0 || self.all_probable) && other.all_probable;
        self.log_loss += other.log_loss;
        self.correct += other.correct;
        self.weight += other.weight;
        self.rounds += other.rounds;
    }

    /// The weight of all rounds.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The weight of a class.
    #[must_use]
    pub fn weight_of(&self, class: usize) -> f64 {
        self.classes.get(class).map_or(0.0, |(weight, _)| *weight)
    }

    /// The weight of the rounds that were predicted wrong.
    #[must_use]
    pub fn mistakes(&self) -> f64 {
        self.weight - self.correct
    }

    /// Number of rounds that counted.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Share of the weight that was predicted right, NaN without a round.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.correct / self.weight
    }

    /// The mean over the classes of the share of each that was predicted right, NaN without a
    /// round.
    #[must_use]
    pub fn balanced_accuracy(&self) -> f64 {
        let met = || self.classes.iter().filter(|(weight, _)| *weight > 0.0);
        met().map(|(weight, right)| right / weight).sum::<f64>() / met().count() as f64
    }

    /// The mean of `−ln p(class)`, a class not met before having probability 10⁻¹⁵; `None` without
    /// probabilities.
    #[must_use]
    pub fn log_loss(&self) -> Option<f64> {
        (self.all_probable && self.rounds > 0).then(|| self.log_loss / self.weight)
    }

    /// Expected calibration error: how far the probability given to the predicted class is from the
    /// share of such predictions that were right.
    ///
    /// `Σ_b |Σ_{t∈b} ω_t([right_t] − p_t)| / Σ_t ω_t` over 15 bins `b` of equal width of the
    /// confidences `p` (Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017). Rounds without a
    /// prediction or probability do not count; `None` if there are no others.
    #[must_use]
    pub fn calibration_error(&self) -> Option<f64> {
        let weight: f64 = self.confidences.iter().map(|bin| bin.weight).sum();
        let gaps: f64 = self.confidences.iter().map(|bin| (bin.right - bin.confidence).abs()).sum();
        (weight > 0.0).then(|| gaps / weight)
    }

    /// The bins behind the [calibration error](Self::calibration_error) that are not empty, by
    /// rising confidence: mean confidence, share of the predictions that were right, and weight.
    #[must_use]
    pub fn reliability(&self) -> Vec<[f64; 3]> {
        let met = self.confidences.iter().filter(|bin| bin.weight > 0.0);
        met.map(|bin| [bin.confidence / bin.weight, bin.right / bin.weight, bin.weight]).collect()
    }

    /// Share of the weight of the heaviest class: the accuracy of one who knew it and nothing else.
    #[must_use]
    pub fn majority(&self) -> f64 {
        self.classes.iter().map(|(weight, _)| *weight).fold(0.0, f64::max) / self.weight
    }
}

/// Area under the curve of two classes: the probability that a round of the positive class has the
/// higher score, ties counting half, pairs weighted by the product of their weights. Each round is
/// `(score, is positive, weight)`; they are sorted in place. `None` when a class is missing.
/// `O(n ln n)`.
#[must_use]
pub fn area_under_curve(rounds: &mut [(f64, bool, f64)]) -> Option<f64> {
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut area, mut positive) = (0.0, 0.0, 0.0);
    // Equal scores together: their pairs count half.
    for tied in rounds.chunk_by(|a, b| a.0 == b.0) {
        let sum = |of: bool| tied.iter().filter(|round| round.1 == of).map(|round| round.2).sum::<f64>();
        let (ours, theirs) = (sum(true), sum(false));
        area += ours * (below + 0.5 * theirs);
        positive += ours;
        below += theirs;
    }
    (positive > 0.0 && below > 0.0).then(|| area / (positive * below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        let mut score = ClassScore::default();
        score.record(0, None, Some(0.5), 1.0);
        score.record(0, Some(0), Some(0.5), 1.0);
        score.record(1, Some(1), Some(1.0), 2.0);
        score.record(1, Some(0), Some(0.1), 0.0);
        assert_eq!(
            (score.rounds(), score.accuracy(), score.balanced_accuracy(), score.majority()),
            (3, 0.75, 0.75, 0.5)
        );
        assert!((score.log_loss().unwrap_or(0.0) - 0.5 * 2f64.ln()).abs() < 1e-15);
        assert_eq!((score.mistakes(), score.weight_of(1), score.weight_of(7)), (1.0, 2.0, 0.0));
        let (before, mut last) = (score.clone(), ClassScore::default());
        last.record(2, Some(1), None, 1.0);
        score.record(2, Some(1), None, 1.0);
        assert_eq!((score.log_loss(), score.balanced_accuracy()), (None, 0.5));
        let mut merged = ClassScore::default();
        merged.merge(&before);
        merged.merge(&ClassScore::default());
        assert_eq!(merged, before);
        merged.merge(&last);
        assert_eq!(merged, score);
    }

    #[test]
    fn calibration_by_hand() {
        let (mut all, mut parts) = (ClassScore::default(), [ClassScore::default(), ClassScore::default()]);
        assert_eq!(all.calibration_error(), None);
        // Bins are a fifteenth wide: 0.9 and 0.92 share one, and so do 0.5 and 0.52; 1 lies in the
        // last, as 0.97 does.
        let rounds = [
            (0.9, true, 1.0),
            (0.92, false, 2.0),
            (0.5, true, 1.0),
            (0.52, false, 0.5),
            (1.0, true, 3.0),
            (0.97, true, 1.0),
        ];
        for (t, (confidence, right, weight)) in rounds.into_iter().enumerate() {
            for score in [&mut all, &mut parts[t % 2]] {
                score.record(0, Some(usize::from(!right)), Some(confidence), weight);
                score.record_confidence(confidence, right, weight);
            }
        }
        all.record_confidence(0.1, false, 0.0);
        all.record_confidence(f64::NAN, false, 1.0);
        let gaps = (1.0 - 0.9 - 2.0 * 0.92_f64).abs() + (1.0 - 0.5 - 0.5 * 0.52_f64).abs() + 0.03;
        let [mut merged, odd] = parts;
        merged.merge(&odd);
        for score in [all, merged] {
            assert!((score.calibration_error().unwrap_or(9.0) - gaps / 8.5).abs() < 1e-15);
            let [low, ..] = score.reliability()[..] else { panic!("no bin") };
            assert!(
                (low[0] - (0.5 + 0.5 * 0.52) / 1.5).abs() < 1e-15
                    && (low[1] - 1.0 / 1.5).abs() < 1e-15
                    && low[2] == 1.5
            );
        }
    }

    #[test]
    fn area_counts_pairs() {
        let rounds = [(0.1, false, 1.0), (0.4, true, 1.0), (0.4, false, 2.0), (0.8, true, 3.0), (0.2, true, 0.5)];
        let mut pairs = (0.0, 0.0);
        for a in rounds.iter().filter(|round| round.1) {
            for b in rounds.iter().filter(|round| !round.1) {
                let won = if a.0 > b.0 {
                    1.0
                } else if a.0 == b.0 {
                    0.5
                } else {
                    0.0
                };
                pairs = (pairs.0 + a.2 * b.2 * won, pairs.1 + a.2 * b.2);
            }
        }
        let area = area_under_curve(&mut rounds.to_vec()).unwrap_or(0.0);
        assert!((area - pairs.0 / pairs.1).abs() < 1e-15);
        assert_eq!(area_under_curve(&mut [(1.0, true, 1.0)]), None);
    }
}
