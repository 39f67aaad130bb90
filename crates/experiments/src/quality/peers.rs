//! The peers' scores, as they were measured.
//!
//! `crates/experiments/quality/peers.csv` has a row for each stream and method; `peers.py` beside it, which needs Python, runs them again and says which versions
//! it runs. The versions behind the committed scores were not recorded. With river 0.26.1, scikit-learn 1.9.1, LightGBM 4.7.0 and Vowpal Wabbit 9.11.9 the
//! script gives the same on casp and ccpp: Vowpal Wabbit to 0.1 %, nearest neighbours to 1 %, the others that were tried (linear, trees, network, LightGBM) to 4 %.
//!
//! | method | what |
//! |---|---|
//! | `vw`, `vw-q` | Vowpal Wabbit; also with all products of two features |
//! | `sk-mlp`, `sk-nys`, `sk-rff` | scikit-learn's network by `partial_fit`; its SGD on Nyström and on Fourier features |
//! | `rv-linear`, `rv-knn`, `rv-hat` | river's linear regression, nearest neighbours, Hoeffding adaptive tree |
//! | `rv-arf`, `rv-amf`, `rv-srp` | river's adaptive random forest, aggregated Mondrian forest, streaming random patches |
//! | `b-lgbm`, `b-gp`, `b-gp-iso`, `b-krr` | LightGBM, Gaussian processes with and without length scales for each feature, and kernel ridge, each refitted whenever the stream has doubled |

const SCORES: &str = include_str!("../../quality/peers.csv");

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

/// All scores on a stream, none for one that has none.
pub fn scores(stream: &str) -> impl Iterator<Item = Score> {
    let rows = SCORES.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        Some((cells.next()?, cells.next()?, cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
    });
    rows.filter(move |(name, ..)| *name == stream).map(|(_, method, nmse, seconds)| Score { method, nmse, seconds })
}

/// The best of those that learn row by row.
#[must_use]
pub fn best_online(stream: &str) -> Option<Score> {
    scores(stream).filter(|score| !score.method.starts_with("b-")).min_by(|a, b| a.nmse.total_cmp(&b.nmse))
}

/// LightGBM, refitted at doublings.
#[must_use]
pub fn light_gbm(stream: &str) -> Option<Score> {
    scores(stream).find(|score| score.method == LIGHTGBM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::streams::STREAMS;

    #[test]
    fn every_line_is_a_score_of_a_stream() {
        let streams: Vec<String> = STREAMS.iter().map(|stream| stream.name.to_owned()).collect();
        let read: usize = streams.iter().map(|stream| scores(stream).count()).sum();
        assert_eq!(read, SCORES.lines().count() - 1);
        for stream in &streams {
            assert!(best_online(stream).is_some_and(|best| best.nmse > 0.0 && best.nmse < 1.0), "{stream}");
            assert!(light_gbm(stream).is_some(), "{stream}");
        }
        assert_eq!(best_online("casp").map(|best| (best.method, best.nmse)), Some(("rv-amf", 0.56533)));
    }
}
