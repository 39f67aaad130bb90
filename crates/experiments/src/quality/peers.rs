//! The peers' scores, as they were measured.
//!
//! `crates/experiments/quality/peers.csv` has a row for each stream of numbers and method; `peers.py` beside it, which needs Python, runs them again and says which versions
//! it runs. The versions behind these scores were not recorded. With river 0.26.1, scikit-learn 1.9.1, LightGBM 4.7.0 and Vowpal Wabbit 9.11.9 the
//! script gives the same on casp and ccpp: Vowpal Wabbit to 0.1 %, nearest neighbours to 1 %, the others that were tried (linear, trees, network, LightGBM) to 4 %.
//! On ccpp, SGD on Nyström and on Fourier features gives 0.15 and 0.14 in place of 0.18 and 0.41, and Gaussian processes 5 % less. The Mondrian forest
//! depends on how features are scaled: from features as they are, the script's `rv-amf` gives 0.99 on casp in place of 0.57; scaled to their ranges, 0.56; standardised, 0.50. So `rv-amf-std` stands
//! beside it, measured with the versions above.
//!
//! `peers_first.csv` has the scores of the first 1000 rows. They were measured with the versions above, Python 3.11.7 and NumPy 2.4.6:
//! `python peers.py FOLDER --rows 1000 | cut -d, -f1,2,4`.
//!
//! | method | what |
//! |---|---|
//! | `vw`, `vw-q` | Vowpal Wabbit; also with all products of two features |
//! | `sk-mlp`, `sk-nys`, `sk-rff` | scikit-learn's network by `partial_fit`; its SGD on Nyström and on Fourier features |
//! | `rv-linear`, `rv-knn`, `rv-hat` | river's linear regression, nearest neighbours, Hoeffding adaptive tree |
//! | `rv-arf`, `rv-amf`, `rv-srp` | river's adaptive random forest, aggregated Mondrian forest, streaming random patches |
//! | `rv-arf-std`, `rv-amf-std` | the first two on standardised features; the first only where this was measured: on the first rows and on two streams of classes |
//! | `b-lgbm`, `b-gp`, `b-gp-iso`, `b-krr` | LightGBM, Gaussian processes with and without length scales for each feature, and kernel ridge, each refitted whenever the stream has doubled |
//!
//! `peers_classes.csv` has the scores on the streams of classes, and `classes.py` runs these methods. Those of `class_susy` and `class_segments` were measured by it with
//! the same versions; those of the other four came with the streams, from versions that were not recorded. On digits and cod_rna the script gives accuracies within 0.012 of
//! them, except for the Hoeffding tree (0.016), SGD on Fourier features (0.027), the adaptive random forest (0.04), and the Mondrian forest on cod_rna: 0.93 in
//! place of 0.74.
//!
//! | method | what |
//! |---|---|
//! | `c-prior`, `c-markov` | nothing but labels: their shares so far, and their shares after the last label |
//! | `vw`, `vw-std`, `vw-std-q` | Vowpal Wabbit with the logistic loss on features as they are, on standardised ones, and also with all products of two |
//! | `sk-mlp`, `sk-nys`, `sk-rff` | as above, for classes |
//! | `rv-logreg`, `rv-logreg-ovr`, `rv-softmax` | river's logistic regression, one for each class, and its softmax regression |
//! | `rv-gnb`, `rv-hat`, `rv-knn`, `rv-knn-exact` | river's naive Bayes, tree, nearest neighbours by its default engine, and nearest neighbours in the last 1000 rows |
//! | `rv-arf`, `rv-amf`, `rv-arf-std`, `rv-amf-std` | river's forests, for classes |
//! | `b-lgbm`, `b-svc` | LightGBM and support vectors with calibrated probabilities, refitted at doublings |

const SCORES: &str = include_str!("../../quality/peers.csv");
const FIRST: &str = include_str!("../../quality/peers_first.csv");
const CLASSES: &str = include_str!("../../quality/peers_classes.csv");

/// What LightGBM is called.
pub(super) const LIGHTGBM: &str = "b-lgbm";

/// A method and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The method.
    pub method: &'static str,
    /// NMSE over the last half.
    pub nmse: f64,
    /// The whole pass on one core of the machine where it was measured.
    pub seconds: f64,
}

/// A method and its score on the first rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstScore {
    /// The method.
    pub method: &'static str,
    /// NMSE over the first 1000 rows, from the second on.
    pub nmse: f64,
}

/// A method and its scores on a stream of classes, over the last half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassScore {
    /// The method.
    pub method: &'static str,
    /// Share of the rows with the right class.
    pub accuracy: f64,
    /// Mean of −ln p of the right class, where p is clipped to `[1e-6, 1 − 1e-6]`.
    pub log_loss: f64,
}

/// The methods and the numbers of this stream in a file.
fn rows<const N: usize>(file: &'static str, stream: &str) -> impl Iterator<Item = (&'static str, [f64; N])> {
    let row = |line: &'static str| {
        let mut cells = line.split(',');
        let (name, method, mut numbers) = (cells.next()?, cells.next()?, [0.0; N]);
        for number in &mut numbers {
            *number = cells.next()?.parse().ok()?;
        }
        Some((name, method, numbers))
    };
    let rows = file.lines().skip(1).filter_map(row);
    rows.filter(move |(name, ..)| *name == stream).map(|(_, method, numbers)| (method, numbers))
}

/// Whether a method learns row by row; the others are refitted at doublings.
pub(super) fn is_online(method: &str) -> bool {
    !method.starts_with("b-")
}

/// All scores on a stream, none for one that has none.
pub fn scores(stream: &str) -> impl Iterator<Item = Score> {
    rows(SCORES, stream).map(|(method, [nmse, seconds])| Score { method, nmse, seconds })
}

/// All scores on the first rows of a stream, none for one that has none.
pub fn first_scores(stream: &str) -> impl Iterator<Item = FirstScore> {
    rows(FIRST, stream).map(|(method, [nmse])| FirstScore { method, nmse })
}

/// All scores on a stream of classes, none for one that has none.
pub fn class_scores(stream: &str) -> impl Iterator<Item = ClassScore> {
    rows(CLASSES, stream).map(|(method, [accuracy, log_loss])| ClassScore { method, accuracy, log_loss })
}

/// The best of those that learn row by row.
#[must_use]
pub fn best_online(stream: &str) -> Option<Score> {
    scores(stream).filter(|score| is_online(score.method)).min_by(|a, b| a.nmse.total_cmp(&b.nmse))
}

/// LightGBM, refitted at doublings.
#[must_use]
pub fn light_gbm(stream: &str) -> Option<Score> {
    scores(stream).find(|score| score.method == LIGHTGBM)
}

/// The best of those that learn row by row on the first rows.
#[must_use]
pub fn best_online_first(stream: &str) -> Option<FirstScore> {
    first_scores(stream).filter(|score| is_online(score.method)).min_by(|a, b| a.nmse.total_cmp(&b.nmse))
}

/// LightGBM on the first rows.
#[must_use]
pub fn light_gbm_first(stream: &str) -> Option<FirstScore> {
    first_scores(stream).find(|score| score.method == LIGHTGBM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::streams::STREAMS;

    fn streams(of_classes: bool) -> impl Iterator<Item = &'static str> {
        STREAMS.iter().filter(move |stream| stream.of_classes == of_classes).map(|stream| stream.name)
    }

    #[test]
    fn every_line_is_a_score_of_a_stream() {
        let lines = |file: &str| file.lines().count() - 1;
        assert_eq!(streams(false).map(|stream| scores(stream).count()).sum::<usize>(), lines(SCORES));
        assert_eq!(streams(false).map(|stream| first_scores(stream).count()).sum::<usize>(), lines(FIRST));
        assert_eq!(streams(true).map(|stream| class_scores(stream).count()).sum::<usize>(), lines(CLASSES));
    }

    #[test]
    fn every_stream_of_numbers_has_an_online_peer_and_light_gbm() {
        for stream in streams(false) {
            assert!(best_online(stream).is_some_and(|best| best.nmse > 0.0 && best.nmse < 1.0), "{stream}");
            assert!(best_online_first(stream).is_some_and(|best| best.nmse > 0.0 && best.nmse < 1.0), "{stream}");
            assert!(light_gbm(stream).is_some() && light_gbm_first(stream).is_some(), "{stream}");
        }
        assert_eq!(best_online("casp").map(|best| (best.method, best.nmse)), Some(("rv-amf-std", 0.50437)));
        assert_eq!(best_online_first("ccpp").map(|best| (best.method, best.nmse)), Some(("vw", 0.092_591_9)));
    }

    #[test]
    fn every_stream_of_classes_has_both_kinds_of_peers() {
        for stream in streams(true) {
            let kinds = [true, false].map(|online| class_scores(stream).filter(move |s| is_online(s.method) == online));
            assert_eq!(kinds.map(|scores| usize::from(scores.count() >= 2)), [1, 1], "{stream}");
            assert!(class_scores(stream).all(|s| (0.0..1.0).contains(&s.accuracy) && s.log_loss > 0.0), "{stream}");
        }
    }
}
