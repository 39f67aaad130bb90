//! Numbers of metrics that a budget allows, and the sizes of their windows.

use super::AutoParams;
use super::metrics::{Metric, MetricKind};
use super::scales::ScaledRows;
use super::search::Relevances;
use super::series::{Effort, OrderedRows, cost_of_processes};

/// Steps of the learners that forget.
pub(super) const STEPS: [f64; 2] = [0.3, 1.0];
/// Rows that are predicted to compare what the first rows say.
const JUDGED: usize = 512;

/// A metric that is wanted: the rows whose likelihood tells the relevance at first (0: all features
/// alike), and the nearest examples of a prediction.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: MetricKind,
    sample: usize,
    neighbours: usize,
}

const fn slot(kind: MetricKind, sample: usize, neighbours: usize) -> Slot {
    Slot { kind, sample, neighbours }
}

/// Plan that a budget buys.
#[derive(Debug)]
struct BudgetPlan {
    slots: &'static [Slot],
    /// Frequencies of each learner that forgets.
    frequencies: usize,
    /// Examples without which the next smaller plan is the better one, for so many features.
    least: fn(f64) -> f64,
}

/// From the largest on.
const PLANS: [BudgetPlan; 3] = [
    BudgetPlan {
        slots: &[
            slot(MetricKind::Ranks, 512, 32),
            slot(MetricKind::Time, 512, 32),
            slot(MetricKind::Other, 512, 16),
            slot(MetricKind::Ranks, 128, 16),
        ],
        frequencies: 200,
        least: |_| 1500.0,
    },
    BudgetPlan {
        slots: &[slot(MetricKind::Ranks, 512, 16), slot(MetricKind::Time, 512, 8), slot(MetricKind::Ranks, 0, 8)],
        frequencies: 64,
        least: |_| 600.0,
    },
    BudgetPlan {
        slots: &[slot(MetricKind::Ranks, 0, 8), slot(MetricKind::Time, 0, 8)],
        frequencies: 32,
        least: |d| 256.0 + 16.0 * d,
    },
];
/// Where not even the last has room.
const NOTHING: BudgetPlan = BudgetPlan { slots: &[], frequencies: 0, least: |_| 0.0 };

/// A plan, and the window that a budget allows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    plan: &'static BudgetPlan,
    /// Nearest examples of a prediction at most.
    neighbours: usize,
    pub(super) window: usize,
}

impl Size {
    /// The largest plan that three quarters of the budget allow.
    pub(super) fn choose((width, outputs): (usize, usize), AutoParams { budget, neighbours, .. }: AutoParams) -> Self {
        let (d, m, budget) = (width as f64, outputs as f64, 0.75 * budget as f64);
        let with_room = PLANS.iter().find_map(|plan| {
            let size = Self { plan, neighbours, window: 0 };
            let processes: f64 = size.slots().map(|slot| cost_of_processes((width, outputs), slot.neighbours)).sum();
            // An exponential costs as much as twenty multiply-adds.
            let forgetting = (STEPS.len() * plan.frequencies) as f64 * (d + 22.0 + 2.0 * m);
            let left = budget - processes - forgetting;
            let window = left / (plan.slots.len() as f64 * (d + 1.0));
            (neighbours > 0 && window >= (plan.least)(d)).then_some(Self { window: window as usize, ..size })
        });
        with_room.unwrap_or(Self { plan: &NOTHING, neighbours, window: 0 })
    }

    /// The share of the whole that what learns from every row alike has.
    pub(super) fn share_ahead(&self) -> f64 {
        if self.plan.slots.is_empty() { 1.0 } else { 0.25 }
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
        let (timed, ranks) = (past.series(&past.scaled.straight, true), past.series(ranked, false));
        let mut known = vec![(0, Relevances::uniform(past.width, unit))];
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

/// Rows of the past, and what was predicted of each ahead of the windows: `given` numbers for each
/// of its `outputs` targets.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) width: usize,
    pub(super) outputs: usize,
    pub(super) given: usize,
    pub(super) scaled: &'a ScaledRows,
    pub(super) targets: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) predictions: &'a [f64],
}

impl Past<'_> {
    /// The rows in these numbers, with or without the time.
    fn series(&self, rows: &[f64], timed: bool) -> OrderedRows {
        let count = self.targets.len() / self.outputs;
        let time = |t: usize| timed.then_some(t as f64).into_iter();
        let row = |t: usize| time(t).chain(rows[t * self.width..(t + 1) * self.width].iter().copied());
        OrderedRows {
            shape: (self.width + usize::from(timed), self.outputs),
            rows: (0..count).flat_map(row).collect(),
            targets: self.targets.to_vec(),
            spreads: (0..count).map(|t| self.weights.get(t).map_or(1.0, |weight| 1.0 / weight)).collect(),
            timed,
        }
    }
}
