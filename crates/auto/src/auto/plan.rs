//! How many metrics a budget allows, and how large their windows.

use super::metrics::{Kind, Metric};
use super::scales::unbend;
use super::search::Relevances;
use super::series::{Effort, Series, cost_of_processes};

/// Rows that are predicted to compare what the first rows say.
const JUDGED: usize = 512;

/// A metric that is wanted: the rows whose likelihood tells the relevance at first (0: all features
/// alike), and the nearest examples of a prediction.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: Kind,
    sample: usize,
    neighbours: usize,
}

const fn slot(kind: Kind, sample: usize, neighbours: usize) -> Slot {
    Slot { kind, sample, neighbours }
}

/// What a budget buys.
#[derive(Debug)]
struct Plan {
    slots: &'static [Slot],
    /// Frequencies of each learner that forgets.
    frequencies: usize,
    /// Examples without which the next smaller plan is the better one, for so many features.
    least: fn(f64) -> f64,
}

/// From the largest on.
const PLANS: [Plan; 3] = [
    Plan {
        slots: &[
            slot(Kind::Ranks, 512, 32),
            slot(Kind::Time, 512, 32),
            slot(Kind::Other, 512, 16),
            slot(Kind::Ranks, 128, 16),
            slot(Kind::Alike, 0, 8),
        ],
        frequencies: 200,
        least: |_| 1500.0,
    },
    Plan {
        slots: &[slot(Kind::Ranks, 512, 16), slot(Kind::Time, 512, 8), slot(Kind::Alike, 0, 8)],
        frequencies: 64,
        least: |_| 600.0,
    },
    Plan { slots: &[slot(Kind::Alike, 0, 8), slot(Kind::Time, 0, 8)], frequencies: 32, least: |d| 256.0 + 16.0 * d },
];

/// A plan, and the window that a budget allows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    plan: &'static Plan,
    /// Nearest examples of a prediction at most.
    neighbours: usize,
    pub(super) window: usize,
}

impl Size {
    /// The largest plan that `budget` multiply-adds a round allow, with `steps` learners that
    /// forget; `None` where not even the smallest has room.
    pub(super) fn within(
        budget: f64,
        (dimension, outputs): (usize, usize),
        neighbours: usize,
        steps: usize,
    ) -> Option<Self> {
        let (d, m) = (dimension as f64, outputs as f64);
        PLANS.iter().filter(|_| neighbours > 0).find_map(|plan| {
            let size = Self { plan, neighbours, window: 0 };
            let processes: f64 =
                size.slots().map(|slot| cost_of_processes((dimension, outputs), slot.neighbours)).sum();
            // An exponential costs as much as twenty multiply-adds.
            let forgetting = (steps * plan.frequencies) as f64 * (d + 22.0 + 2.0 * m);
            let window = (budget - processes - forgetting) / (plan.slots.len() as f64 * (d + 1.0));
            (window >= (plan.least)(d)).then_some(Self { window: window as usize, ..size })
        })
    }

    /// Frequencies of each learner that forgets.
    pub(super) fn frequencies(&self) -> usize {
        self.plan.frequencies
    }

    fn slots(&self) -> impl Iterator<Item = Slot> {
        let most = self.neighbours;
        self.plan.slots.iter().map(move |slot| Slot { neighbours: slot.neighbours.min(most), ..*slot })
    }

    /// The metrics that the past says, and what fewer rows said `before`.
    pub(super) fn metrics(
        &self,
        unit: f64,
        ranked: &[f64],
        past: Past<'_>,
        before: Option<&Relevances>,
    ) -> Vec<Metric> {
        let scaled: Vec<f64> = past.scaled.iter().copied().map(unbend).collect();
        let (timed, ranks) = (past.series(&scaled, true), past.series(ranked, false));
        let mut known = vec![(0, Relevances::uniform(past.dimension, unit))];
        let metric = |slot: Slot| {
            let found = known.iter().position(|(sample, _)| *sample == slot.sample).unwrap_or_else(|| {
                let effort = Effort { sample: slot.sample, judged: JUDGED };
                known.push((slot.sample, known[0].1.sought(before, &timed, &ranks, effort)));
                known.len() - 1
            });
            let relevance = known[found].1.of_kind(slot.kind);
            Metric::new(slot.kind, relevance, (self.window, slot.neighbours), past.outputs)
        };
        self.slots().map(metric).collect()
    }
}

/// Rows of the past: as they came, scaled and bent, and what the grid predicted for each when it
/// came. Targets and predictions are `outputs` numbers a row.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) dimension: usize,
    pub(super) outputs: usize,
    pub(super) raw: &'a [f64],
    pub(super) scaled: &'a [f64],
    pub(super) targets: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) predictions: &'a [f64],
}

impl Past<'_> {
    /// The rows in these numbers, with or without the time.
    fn series(&self, rows: &[f64], timed: bool) -> Series {
        let count = self.targets.len() / self.outputs;
        let time = |t: usize| timed.then_some(t as f64);
        let row = |t: usize| rows[t * self.dimension..(t + 1) * self.dimension].iter().copied().chain(time(t));
        Series {
            shape: (self.dimension + usize::from(timed), self.outputs),
            rows: (0..count).flat_map(row).collect(),
            targets: self.targets.to_vec(),
            spreads: (0..count).map(|t| self.weights.get(t).map_or(1.0, |weight| 1.0 / weight)).collect(),
            timed,
        }
    }
}
