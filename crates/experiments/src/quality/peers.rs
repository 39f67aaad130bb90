//! The peers' scores, as they were measured.
//!
//! `crates/experiments/quality/README.md` says by which versions, and what the methods are.

const SCORES: &str = include_str!("../../quality/peers.csv");
const FIRST: &str = include_str!("../../quality/peers_first.csv");
const CLASSES: &str = include_str!("../../quality/peers_classes.csv");

/// Name of LightGBM.
const LIGHTGBM: &str = "b-lgbm";

/// A method and its score over some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PeerScore {
    /// The method.
    pub(crate) method: &'static str,
    /// Squared error as a share of that of the running mean.
    pub(crate) nmse: f64,
    /// The whole pass on one core of the machine where it was measured; not told of the first rows.
    pub(crate) seconds: f64,
}

/// A method and its scores on a stream of classes, over the last half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClassScore {
    /// The method.
    pub(crate) method: &'static str,
    /// Share of the rows with the right class.
    pub(crate) accuracy: f64,
    /// Mean of −ln p of the right class, where p is clipped to `[1e-6, 1 − 1e-6]`.
    pub(crate) log_loss: f64,
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

/// True if a method learns row by row; the others are refitted at doublings.
pub(super) fn is_online(method: &str) -> bool {
    !method.starts_with("b-")
}

/// All scores over the last half of a stream, none for one that has none.
pub(crate) fn scores(stream: &str) -> impl Iterator<Item = PeerScore> {
    rows(SCORES, stream).map(|(method, [nmse, seconds])| PeerScore { method, nmse, seconds })
}

/// All scores over the first 1000 rows of a stream, from the second on; none for one that has none.
pub(crate) fn first_scores(stream: &str) -> impl Iterator<Item = PeerScore> {
    rows(FIRST, stream).map(|(method, [nmse])| PeerScore { method, nmse, seconds: f64::NAN })
}

/// All scores on a stream of classes, none for one that has none.
pub(crate) fn class_scores(stream: &str) -> impl Iterator<Item = ClassScore> {
    rows(CLASSES, stream).map(|(method, [accuracy, log_loss])| ClassScore { method, accuracy, log_loss })
}

/// The best of those that learn row by row.
pub(crate) fn best_online(scores: impl Iterator<Item = PeerScore>) -> Option<PeerScore> {
    scores.filter(|score| is_online(score.method)).min_by(|a, b| a.nmse.total_cmp(&b.nmse))
}

/// LightGBM, refitted at doublings.
pub(crate) fn light_gbm(mut scores: impl Iterator<Item = PeerScore>) -> Option<PeerScore> {
    scores.find(|score| score.method == LIGHTGBM)
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
            for best in [best_online(scores(stream)), best_online(first_scores(stream))] {
                assert!(best.is_some_and(|best| best.nmse > 0.0 && best.nmse < 1.0), "{stream}");
            }
            assert!(light_gbm(scores(stream)).is_some() && light_gbm(first_scores(stream)).is_some(), "{stream}");
        }
        assert_eq!(best_online(scores("casp")).map(|best| (best.method, best.nmse)), Some(("rv-amf-std", 0.50437)));
        assert_eq!(best_online(first_scores("ccpp")).map(|best| (best.method, best.nmse)), Some(("vw", 0.092_591_9)));
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
