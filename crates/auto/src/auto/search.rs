//! Search for the relevance of features: where the likelihood leads to from two beginnings, and
//! what would have predicted the last rows best.
//!
//! There are several peaks: for rough targets one at short lengths besides that at long ones, which
//! is often the better one when many rows have come. So relevance is learnt from the first rows,
//! and anew from the windows at each doubling of the rows.

use super::metrics::{Metric, MetricKind};
use super::series::{Effort, OrderedRows, ROWS_OF_TIME};
use crate::local::relevance::Relevance;

/// The shorter of two lengths from which relevance is sought, as a share of the longer one.
const SHORT: f64 = 0.25;
/// Rows after which relevance is first learnt anew from the windows; then at each doubling.
const FIRST: u64 = 2048;
/// Rows of the windows that are looked at.
const KEPT: usize = 4096;
/// Largest cost of that, as a share of what predictions from full windows would have cost since the
/// last time.
const SHARE: f64 = 0.4;
/// Bounds of the sample.
const LEAST_SAMPLE: usize = 128;
const LARGEST_SAMPLE: usize = 1024;

/// Lets metrics learn relevance anew from their windows where `round` is a doubling and the rounds
/// since the last one pay for a sample: the first metric of each kind. A second by ranks stays with
/// what few rows said.
pub(super) fn learn_anew(metrics: &mut [Metric], round: u64, allowed: f64) {
    if round < FIRST || !round.is_power_of_two() {
        return;
    }
    let Some(known) = Relevances::from_metrics(metrics) else { return };
    let (Some(timed), Some(ranks)) = (first(metrics, MetricKind::Time), first(metrics, MetricKind::Ranks)) else {
        return;
    };
    let series = timed.series(KEPT);
    let paid = SHARE * 0.5 * round as f64 * allowed;
    let sample = (paid / Effort::cost(series.len(), series.shape)).min(0.25 * round as f64) as usize;
    if sample < LEAST_SAMPLE {
        return;
    }
    let sample = sample.min(LARGEST_SAMPLE);
    let found = known.sought(None, &series, &ranks.series(KEPT), Effort { sample, judged: sample / 2 });
    let mut learnt = Vec::new();
    for metric in metrics.iter_mut() {
        if !learnt.contains(&metric.kind) {
            learnt.push(metric.kind);
            metric.set_relevance(found.of_kind(metric.kind));
        }
    }
}

/// The first metric of a kind.
fn first(metrics: &[Metric], kind: MetricKind) -> Option<&Metric> {
    metrics.iter().find(|metric| metric.kind == kind)
}

/// The relevance of features for each kind of metric.
#[derive(Clone, Debug)]
pub(super) struct Relevances {
    /// Relevance of the time, and of scaled features.
    timed: Relevance,
    /// Relevance of scaled features.
    other: Relevance,
    ranks: Relevance,
}

impl Relevances {
    /// All features alike, of length `unit`, and [`ROWS_OF_TIME`] as far as that.
    pub(super) fn uniform(dimension: usize, unit: f64) -> Self {
        let [long, short] = [1.0, SHORT].map(|share| Relevance::uniform(dimension, share * unit));
        let mut timed = long.clone();
        timed.weights.insert(0, ROWS_OF_TIME.powi(-2));
        Self { timed, other: short, ranks: long }
    }

    /// Relevances of metrics, where there is one for the time and one for ranks.
    pub(super) fn from_metrics(metrics: &[Metric]) -> Option<Self> {
        let of = |kind: MetricKind| first(metrics, kind).map(Metric::relevance);
        let (timed, ranks) = (of(MetricKind::Time)?, of(MetricKind::Ranks)?);
        let shorter = || {
            let mut shorter = without_time(&timed);
            shorter.weights.iter_mut().for_each(|weight| *weight /= SHORT * SHORT);
            shorter
        };
        Some(Self { other: of(MetricKind::Other).unwrap_or_else(shorter), timed, ranks })
    }

    /// Features join, as relevant as the others are on average.
    pub(super) fn grow(&mut self, added: usize) {
        for (relevance, timed) in [(&mut self.timed, 1), (&mut self.other, 0), (&mut self.ranks, 0)] {
            relevance.grow(timed, added);
        }
    }

    /// That of a metric.
    pub(super) fn of_kind(&self, kind: MetricKind) -> &Relevance {
        match kind {
            MetricKind::Ranks => &self.ranks,
            MetricKind::Time => &self.timed,
            MetricKind::Other => &self.other,
        }
    }

    /// Relevances that rows lead to, from here and from those that fewer of the rows led to.
    pub(super) fn sought(
        &self,
        before: Option<&Self>,
        timed: &OrderedRows,
        ranks: &OrderedRows,
        effort: Effort,
    ) -> Self {
        let begins = |own: &[&Relevance], of: fn(&Self) -> &Relevance| -> Vec<Relevance> {
            own.iter().copied().chain(before.map(of)).cloned().collect()
        };
        let untimed = without_time(&self.timed);
        let other = timed.without_time().relevance(begins(&[&self.other, &untimed], |before| &before.other), effort);
        let timed = timed.relevance(begins(&[&self.timed], |before| &before.timed), effort);
        // Ranks are nearly as long as scaled features, so what these say is a good beginning for
        // them.
        let ranks = ranks.relevance(begins(&[&self.ranks, &other], |before| &before.ranks), effort);
        Self { timed, other, ranks }
    }
}

fn without_time(relevance: &Relevance) -> Relevance {
    let mut untimed = relevance.clone();
    untimed.weights.remove(0);
    untimed
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::super::scales::ScaledRow;
    use super::super::series::PACE;
    use super::*;
    use crate::local::{NeighbourMemory, TARGETS};

    /// Two features, of which the second matters, and its target.
    fn example(t: usize) -> ([f64; 2], f64) {
        let x = [1.7, 2.3].map(|step| 2.0 * (t as f64 * step + (t * t % 97) as f64).sin());
        (x, (2.0 * x[1]).sin())
    }

    fn push(metric: &mut Metric, t: usize) {
        let ((x, y), mut point) = (example(t), Vec::new());
        metric.place(ScaledRow { straight: &x, bent: &x }, &x, t as u64, &mut point);
        metric.neighbours.push(&point, [&[y]; TARGETS], if t.is_multiple_of(3) { 0.5 } else { 1.0 });
    }

    fn metrics(window: usize) -> Vec<Metric> {
        let uniform = Relevances::uniform(2, 1.5);
        let metric = |kind| Metric::new(kind, uniform.of_kind(kind), (window, 8), 1);
        [MetricKind::Ranks, MetricKind::Time, MetricKind::Ranks].map(metric).into()
    }

    #[test]
    fn a_series_is_the_end_of_the_window_in_the_order_of_time() {
        for mut metric in metrics(50).into_iter().take(2) {
            (0..80).for_each(|t| push(&mut metric, t));
            let series = metric.series(20);
            assert_eq!((series.len(), series.timed), (20, metric.kind == MetricKind::Time));
            for (place, t) in (60..80).enumerate() {
                let (x, y, spread) = series.example(place);
                let (exact, target) = example(t);
                assert!(
                    x.iter()
                        .rev()
                        .zip(exact.iter().rev().chain([&(t as f64)]))
                        .all(|(x, exact)| (x - exact).abs() < 1e-12)
                );
                assert_eq!((y, spread), (&[target][..], if t.is_multiple_of(3) { 2.0 } else { 1.0 }));
            }
        }
    }

    #[test]
    fn a_metric_with_another_relevance_is_that_which_had_it_from_the_first_row() {
        let uniform = Relevances::uniform(2, 1.5);
        for kind in [MetricKind::Ranks, MetricKind::Time] {
            let mut relevance = uniform.of_kind(kind).clone();
            relevance.weights.iter_mut().enumerate().for_each(|(f, weight)| *weight *= 1.0 + 3.0 * f as f64);
            relevance.noise = 0.02;
            let new = |relevance| Metric::new(kind, relevance, (50, 8), 1);
            let (mut changed, mut fresh) = (new(uniform.of_kind(kind)), new(&relevance));
            (0..80).for_each(|t| [&mut changed, &mut fresh].into_iter().for_each(|metric| push(metric, t)));
            changed.set_relevance(&relevance);
            let mut memory = [NeighbourMemory::default(), NeighbourMemory::default()];
            for (metric, memory) in [&changed, &fresh].into_iter().zip(&mut memory) {
                let (x, mut point) = ([0.3, -0.4], Vec::new());
                metric.place(ScaledRow { straight: &x, bent: &x }, &x, 80, &mut point);
                metric.neighbours.means(&point, memory);
            }
            let [changed, fresh] = memory.each_ref().map(NeighbourMemory::means);
            assert!(changed.iter().zip(fresh).all(|(a, b)| (a - b).abs() < 1e-9), "{changed:?} {fresh:?}");
        }
    }

    #[test]
    fn relevance_is_learnt_anew_at_doublings_by_the_first_metric_of_each_kind() {
        let mut metrics = metrics(20_000);
        (0..2048).for_each(|t| metrics.iter_mut().for_each(|metric| push(metric, t)));
        let of = |metrics: &[Metric]| -> Vec<Relevance> { metrics.iter().map(Metric::relevance).collect() };
        let before = of(&metrics);
        let allowed = metrics.iter().map(|metric| metric.cost_of_looks(40_000)).sum();
        for round in [1024, 2047, 3000] {
            learn_anew(&mut metrics, round, allowed);
            assert_eq!(of(&metrics), before);
        }
        learn_anew(&mut metrics, 2048, allowed);
        let after = of(&metrics);
        for learnt in &after[..2] {
            let [.., first, second] = learnt.weights[..] else { panic!("no weights") };
            assert!(second > 10.0 * first, "{learnt:?}");
        }
        assert_eq!(after[2..], before[2..]);
        // The time cannot be forgotten, though nothing changes here.
        let [time, features @ ..] = &after[1].weights[..] else { panic!("no weights") };
        let least = PACE * 2.0 * features.iter().sum::<f64>() / ROWS_OF_TIME.powi(2);
        assert!(*time >= least * (1.0 - 1e-12), "{time} {least}");
    }

    #[test]
    fn a_doubling_that_a_window_cannot_pay_for_changes_nothing() {
        let mut metrics = metrics(300);
        (0..2048).for_each(|t| metrics.iter_mut().for_each(|metric| push(metric, t)));
        let before: Vec<Relevance> = metrics.iter().map(Metric::relevance).collect();
        let allowed = metrics.iter().map(Metric::cost).sum();
        learn_anew(&mut metrics, 2048, allowed);
        assert_eq!(metrics.iter().map(Metric::relevance).collect::<Vec<_>>(), before);
    }

    /// The parity of three of twelve bits: the nearest of many rows share all three and say nothing
    /// of them, the nearest of few rows do not.
    #[test]
    fn what_few_rows_said_is_a_beginning_for_many() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let rows: Vec<f64> = (0..12 * 1024).map(|_| f64::from(rng.random_range(0..2_u8))).collect();
        let targets: Vec<f64> = rows.chunks_exact(12).map(|x| (x[0] + x[1] + x[2]) % 2.0).collect();
        let series = |count: usize, timed: bool| {
            let time = |t: usize| timed.then_some(t as f64);
            let rows = (0..count)
                .flat_map(|t| time(t).into_iter().chain(rows[12 * t..12 * (t + 1)].iter().copied()))
                .collect();
            let shape = (12 + usize::from(timed), 1);
            OrderedRows { shape, rows, targets: targets[..count].to_vec(), spreads: vec![1.0; count], timed }
        };
        let effort = Effort { sample: 512, judged: 256 };
        let uniform = Relevances::uniform(12, 2.4);
        let few = uniform.sought(None, &series(256, true), &series(256, false), effort);
        let many = uniform.sought(Some(&few), &series(1024, true), &series(1024, false), effort);
        for found in [few, many] {
            let (parity, rest) = found.other.weights.split_at(3);
            let most = rest.iter().fold(0.0_f64, |most, weight| most.max(*weight));
            assert!(parity.iter().all(|weight| *weight > 30.0 * most), "{found:?}");
        }
    }
}
