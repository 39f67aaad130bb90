//! Weights that experts had in other series of the same kind, for a series that begins.

use mercer_core::{Inconsistent, Validate};

/// Mean losses of the experts of some series: a [`SeasonMixture`](crate::SeasonMixture) that
/// [begins like them](crate::SeasonMixture::begin_like) has their weights from its first forecast
/// on, and unlearns them as its own errors come.
///
/// Kept is, for each bucket of horizons, the mean over the series of `ln(L_k / min L)`. It counts
/// as the losses of 24 rows, the smallest of them that of a usual change.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SharedWeights {
    kinds: Vec<SeriesKind>,
}

/// Series with the same experts.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SeriesKind {
    periods: Vec<usize>,
    experts: usize,
    buckets: Vec<MeanRatios>,
}

/// Means of a bucket: the series that had errors in it, and means of the logarithms.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MeanRatios {
    series: usize,
    pub(super) logarithms: Vec<f64>,
}

impl SharedWeights {
    /// Learns what the experts of a series with these losses were worth; buckets without errors
    /// have none.
    pub(super) fn learn(&mut self, periods: &[usize], experts: usize, losses: &[Option<Vec<f64>>]) {
        let same = |kind: &SeriesKind| {
            kind.periods == periods && kind.experts == experts && kind.buckets.len() == losses.len()
        };
        let place = self.kinds.iter().position(same).unwrap_or_else(|| {
            let buckets = vec![MeanRatios { series: 0, logarithms: vec![0.0; experts] }; losses.len()];
            self.kinds.push(SeriesKind { periods: periods.to_vec(), experts, buckets });
            self.kinds.len() - 1
        });
        for (mean, ratios) in self.kinds[place].buckets.iter_mut().zip(losses) {
            let Some(ratios) = ratios else { continue };
            mean.series += 1;
            for (mean_ratio, ratio) in mean.logarithms.iter_mut().zip(ratios) {
                *mean_ratio += (ratio - *mean_ratio) / mean.series as f64;
            }
        }
    }

    /// Means of series with these experts: none, or one for each bucket.
    pub(super) fn means(&self, periods: &[usize], experts: usize, buckets: usize) -> &[MeanRatios] {
        let same =
            |kind: &&SeriesKind| kind.periods == periods && kind.experts == experts && kind.buckets.len() == buckets;
        let all = |kind: &&SeriesKind| kind.buckets.iter().all(|mean| mean.series > 0);
        self.kinds.iter().find(same).filter(all).map_or(&[], |kind| &kind.buckets)
    }
}

impl Validate for SharedWeights {
    fn validate(&self) -> Result<(), Inconsistent> {
        for mean in self.kinds.iter().flat_map(|kind| &kind.buckets) {
            mean.logarithms.validate()?;
            Inconsistent::require(mean.series < usize::MAX / 4, "shared weights", "their series can be counted")?;
        }
        let whole = |kind: &SeriesKind| kind.buckets.iter().all(|mean| mean.logarithms.len() == kind.experts);
        Inconsistent::require(self.kinds.iter().all(whole), "shared weights", "each expert has one")
    }
}
