//! In what nearness is measured: the metrics of the windows, how many of them a budget allows, and how their units are found.
//!
//! | metric | of | relevance |
//! |---|---|---|
//! | ranks | features by their ranks among the first rows | from the likelihood of 512 rows, and once more of 128 |
//! | time | scaled features, and the number of the row | the same, with the time |
//! | otherwise | scaled features | the same |
//! | all ranks alike | features by their ranks | all features alike |
//!
//! The likelihood of 128 rows says less of each feature, so the prior keeps their lengths together: better where many rows lead astray, as on rough targets.
//! Those of 512 rows are learnt anew at doublings (`auto/search.rs`).

use mercer_core::{Inconsistent, Validate};
use mercer_simd::LANES;

use super::scales::unbend;
use super::search::{Effort, Relevances, Series};
use super::standing::Standing;
use crate::local::relevance::Relevance;
use crate::local::{Neighbours, Process};

/// Rows that are predicted to compare what the first rows say.
const JUDGED: usize = 512;
/// Least noise of the Laplace processes.
const ROUGH: f64 = 0.1;

/// What the processes of a metric are called.
macro_rules! processes_named {
    ($metric:literal) => {
        [
            concat!($metric, ", matern32"),
            concat!($metric, ", laplace 2x"),
            concat!($metric, ", laplace"),
            concat!($metric, ", matern32 2x"),
            concat!($metric, ", matern32, rest"),
            concat!($metric, ", laplace 2x, rest"),
            concat!($metric, ", laplace, rest"),
            concat!($metric, ", matern32 2x, rest"),
        ]
    };
}

/// What nearness is measured in.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Kind {
    /// Ranks, by relevance.
    #[default]
    Ranks,
    /// Scaled features and the time, by relevance.
    Time,
    /// Scaled features, by relevance.
    Other,
    /// Ranks, all alike.
    Alike,
}

impl Kind {
    /// What the processes are called.
    pub(super) fn names(self) -> [&'static str; LANES] {
        match self {
            Self::Ranks => processes_named!("near by ranks"),
            Self::Time => processes_named!("near by time"),
            Self::Other => processes_named!("near otherwise"),
            Self::Alike => processes_named!("near by all ranks alike"),
        }
    }

    fn of_ranks(self) -> bool {
        matches!(self, Self::Ranks | Self::Alike)
    }

    /// With a length of time.
    fn timed(self) -> bool {
        self == Self::Time
    }
}

/// A metric that is wanted: the rows whose likelihood tells the relevance at first (0: all features alike), and the nearest examples of a prediction.
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
    /// The largest plan that `budget` multiply-adds a round allow, with `steps` learners that forget; `None` where not even the smallest has room.
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

/// Multiply-adds of the eight processes: their systems, and exponentials that cost as much as twenty each.
pub(super) fn cost_of_processes((d, m): (usize, usize), neighbours: usize) -> f64 {
    let (k, d, m) = (neighbours as f64, d as f64, m as f64);
    let solutions = k * k * k / 6.0 + (1.0 + 0.5 * m) * k * k;
    LANES as f64 * (solutions + 20.0 * (0.5 * k * k + k)) + 0.5 * k * k * d
}

/// Rows of the past: as they came, scaled and bent, and what the grid predicted for each when it came. Targets and predictions are `outputs` numbers a row.
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

/// A row: as it came, and scaled and bent.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) raw: &'a [f64],
    pub(super) scaled: &'a [f64],
}

/// Examples in the units of a metric.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Metric {
    /// `√w_j`
    rates: Vec<f64>,
    pub(super) neighbours: Neighbours,
    pub(super) kind: Kind,
    pub(super) standing: Standing,
}

impl Metric {
    /// Without examples.
    pub(super) fn new(kind: Kind, relevance: &Relevance, (window, neighbours): (usize, usize), outputs: usize) -> Self {
        let rates = rates(relevance);
        let neighbours = Neighbours::new((rates.len(), outputs), window, neighbours, processes(relevance.noise));
        Self { rates, neighbours, kind, standing: Standing::default() }
    }

    /// Multiply-adds of a prediction, as far as they are known.
    pub(super) fn cost(&self) -> f64 {
        self.cost_of_looks(self.neighbours.looked())
    }

    /// Multiply-adds of a prediction after a look at so many examples.
    pub(super) fn cost_of_looks(&self, looks: usize) -> f64 {
        let shape = (self.rates.len(), self.neighbours.outputs());
        cost_of_processes(shape, self.neighbours.limits().0) + looks as f64 * (shape.0 as f64 + 1.0)
    }

    /// The weights of what it looks at, and the noise.
    pub(super) fn relevance(&self) -> Relevance {
        Relevance { weights: self.rates.iter().map(|rate| rate * rate).collect(), noise: self.neighbours.noise() }
    }

    /// Goes over to this relevance.
    pub(super) fn set_relevance(&mut self, relevance: &Relevance) {
        let rates = rates(relevance);
        let ratios: Vec<f64> = rates.iter().zip(&self.rates).map(|(new, old)| new / old).collect();
        self.neighbours.rescale(&ratios, processes(relevance.noise));
        self.rates = rates;
    }

    /// The last `count` examples, or as many as there are.
    pub(super) fn series(&self, count: usize) -> Series {
        let shape = (self.rates.len(), self.neighbours.outputs());
        let (rows, targets, spreads) = (Vec::new(), Vec::new(), Vec::new());
        let mut series = Series { shape, rows, targets, spreads, timed: self.kind.timed() };
        self.neighbours.for_each_of_last(count, |place, point| {
            series.rows.extend(point.iter().zip(&self.rates).map(|(value, rate)| value / rate));
            let (target, spread) = self.neighbours.target(place);
            series.targets.extend_from_slice(target);
            series.spreads.push(spread);
        });
        series
    }

    /// Whether it is of so many features and outputs.
    pub(super) fn fits(&self, features: usize, outputs: usize) -> bool {
        self.rates.len() == features + usize::from(self.kind.timed()) && self.neighbours.outputs() == outputs
    }

    /// What it looks at of a row, in its units.
    pub(super) fn place(&self, row: Row<'_>, ranked: &[f64], round: u64, point: &mut Vec<f64>) {
        point.clear();
        let (x, as_seen): (_, fn(f64) -> f64) = match self.kind.of_ranks() {
            true => (ranked, |value| value),
            false => (row.scaled, unbend),
        };
        let numbers = x.iter().copied().map(as_seen).chain(self.kind.timed().then_some(round as f64));
        point.extend(numbers.zip(&self.rates).map(|(value, rate)| value * rate));
    }
}

/// `√w_j`
pub(super) fn rates(relevance: &Relevance) -> Vec<f64> {
    relevance.weights.iter().map(|weight| weight.sqrt()).collect()
}

/// The eight processes of a metric in which the length of Matérn 3/2 is 1, with this noise.
pub(super) fn processes(noise: f64) -> [Process; LANES] {
    let rough = noise.max(ROUGH);
    std::array::from_fn(|lane| {
        let (length, noise, smooth) = match lane % 4 {
            0 => (1.0, noise, true),
            1 => (2.0, rough, false),
            2 => (1.0, 3.0 * rough, false),
            _ => (2.0, 2.0 * noise, true),
        };
        let rate = if smooth { 3.0_f64.sqrt() } else { 1.0 } / length;
        Process { rate, smooth: f64::from(u8::from(smooth)), noise, target: u8::from(lane >= LANES / 2) }
    })
}

impl Validate for Metric {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.neighbours.validate()?;
        self.standing.validate()?;
        self.rates.iter().try_for_each(|rate| Inconsistent::positive(*rate, "rate of a feature"))?;
        let fits = self.neighbours.dimension() == self.rates.len();
        Inconsistent::require(fits, "metric", "it has a rate for each feature")
    }
}
