//! In what nearness is measured: the metrics of the windows, how many of them a budget allows, and how their units are found.
//!
//! | metric | of | relevance |
//! |---|---|---|
//! | ranks | features by their ranks among the first rows | from the marginal likelihood of 400 rows, and once more of 128 |
//! | time | scaled features, and the number of the row with a length of 1000 rows | the same, except for the time |
//! | otherwise | scaled features | from the next best peak of the likelihood |
//! | all ranks alike | features by their ranks | all features alike |
//!
//! The likelihood of 128 rows says less of each feature, so the prior keeps their lengths together: better where 400 rows lead astray, as on rough targets.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::LANES;

use super::standing::Standing;
use crate::local::relevance::Relevance;
use crate::local::{Memory, Neighbours, Process, TARGETS};

/// Rows from which relevance is learnt.
const ROWS_FOR_RELEVANCE: usize = 256;
/// The shorter of two lengths from which relevance is sought, in units of the median distance.
const SHORT: f64 = 0.25;
/// Length of the time, in rows.
const ROWS_OF_TIME: f64 = 1000.0;
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
    /// Scaled features by relevance, and the time.
    Time,
    /// Scaled features, by the next best relevance.
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

/// A metric that is wanted: the rows whose likelihood tells the relevance (0: all features alike), and the nearest examples of a prediction.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: Kind,
    rows: usize,
    neighbours: usize,
}

const fn slot(kind: Kind, rows: usize, neighbours: usize) -> Slot {
    Slot { kind, rows, neighbours }
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
            slot(Kind::Ranks, 400, 32),
            slot(Kind::Time, 400, 32),
            slot(Kind::Other, 400, 16),
            slot(Kind::Ranks, 128, 16),
            slot(Kind::Alike, 0, 8),
        ],
        frequencies: 200,
        least: |_| 4000.0,
    },
    Plan {
        slots: &[slot(Kind::Ranks, 128, 16), slot(Kind::Time, 128, 8), slot(Kind::Alike, 0, 8)],
        frequencies: 64,
        least: |_| 2000.0,
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
            let processes: f64 = size.slots().map(|slot| slot.processes(d, m)).sum();
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

    /// The metrics that the past says.
    pub(super) fn metrics(&self, unit: f64, ranked: &[f64], past: Past<'_>) -> Vec<Metric> {
        let (d, m) = (past.dimension, past.outputs);
        let [long, short] = [1.0, SHORT].map(|share| Relevance::uniform(d, share * unit));
        let price = |slot: Slot| slot.processes(d as f64, m as f64) + self.window as f64 * (d as f64 + 1.0);
        let all: f64 = self.slots().map(price).sum();
        let mut known: Vec<(usize, [Relevance; 3])> = vec![(0, [&long, &short, &long].map(Relevance::clone))];
        let metric = |slot: Slot| {
            let finder = Finder { slot, window: self.window, past };
            let found = known.iter().position(|(rows, _)| *rows == slot.rows).unwrap_or_else(|| {
                let [of_scaled, of_other] = finder.relevance([&long, &short], Kind::Time, past.scaled);
                // Ranks are nearly as long as scaled features, so what these say is a good beginning for them.
                let [of_ranks, _] = finder.relevance([&long, &short, &of_scaled], Kind::Ranks, ranked);
                known.push((slot.rows, [of_scaled, of_other, of_ranks]));
                known.len() - 1
            });
            let [of_scaled, of_other, of_ranks] = &known[found].1;
            let relevance = match slot.kind {
                Kind::Ranks | Kind::Alike => of_ranks,
                Kind::Time => of_scaled,
                Kind::Other => of_other,
            };
            Metric { standing: Standing::new(price(slot) / all), ..finder.metric(slot.kind, relevance) }
        };
        self.slots().map(metric).collect()
    }
}

impl Slot {
    /// Multiply-adds of the eight processes: their systems, and exponentials that cost as much as twenty each.
    fn processes(&self, d: f64, m: f64) -> f64 {
        let k = self.neighbours as f64;
        let solutions = k * k * k / 6.0 + (1.0 + 0.5 * m) * k * k;
        LANES as f64 * (solutions + 20.0 * (0.5 * k * k + k)) + 0.5 * k * k * d
    }
}

/// Rows of the past: as they came, scaled, and what the grid predicted for each when it came. Targets and predictions are `outputs` numbers a row.
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

/// A row: as it came, and scaled.
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
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<6, _, _>"))]
    pub(super) kind: Kind,
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<6, _, _>"))]
    pub(super) standing: Standing,
}

/// Up to format 5 there were three metrics, one after the other.
#[cfg(feature = "serde")]
pub(super) fn three_before_format_6<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Metric>, D::Error> {
    use serde::Deserialize;
    if mercer_core::version() >= 6 {
        return Vec::deserialize(deserializer);
    }
    let mut metrics = <[Metric; 3]>::deserialize(deserializer)?;
    for (metric, kind) in metrics.iter_mut().zip([Kind::Ranks, Kind::Time, Kind::Other]) {
        (metric.kind, metric.standing) = (kind, Standing::new(1.0 / 3.0));
    }
    Ok(metrics.into())
}

impl Metric {
    /// Whether it is of so many features and outputs.
    pub(super) fn fits(&self, features: usize, outputs: usize) -> bool {
        self.rates.len() == features + usize::from(self.kind.timed()) && self.neighbours.outputs() == outputs
    }

    /// What it looks at of a row, in its units.
    pub(super) fn place(&self, row: Row<'_>, ranked: &[f64], round: u64, point: &mut Vec<f64>) {
        point.clear();
        let x = if self.kind.of_ranks() { ranked } else { row.scaled };
        let numbers = x.iter().copied().chain(self.kind.timed().then_some(round as f64));
        point.extend(numbers.zip(&self.rates).map(|(value, rate)| value * rate));
    }
}

/// How a metric is found.
struct Finder<'a> {
    slot: Slot,
    window: usize,
    past: Past<'a>,
}

impl Finder<'_> {
    /// The relevance of these inputs that would have predicted the past best of those that the likelihood leads to from
    /// each beginning, and the next best. The likelihood has several peaks: for rough targets one at short lengths besides that at long ones, which
    /// is often the better one when many rows have come.
    fn relevance<const N: usize>(&self, begins: [&Relevance; N], kind: Kind, rows: &[f64]) -> [Relevance; 2] {
        let (d, m) = (self.past.dimension, self.past.outputs);
        let n = self.past.targets.len() / m;
        if n < ROWS_FOR_RELEVANCE || d == 0 {
            return [begins[0].clone(), begins[1].clone()];
        }
        // As many of the last rows as are looked at.
        let first = n - n.min(self.slot.rows);
        let mut found = begins.map(|begin| {
            let found = begin.learn(&rows[first * d..], &self.past.targets[first * m..], m);
            (self.loss(self.metric(kind, &found), rows), found)
        });
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        [found[0].1.clone(), found[1].1.clone()]
    }

    fn metric(&self, kind: Kind, relevance: &Relevance) -> Metric {
        let mut rates: Vec<f64> = relevance.weights.iter().map(|weight| weight.sqrt()).collect();
        rates.extend(kind.timed().then_some(1.0 / ROWS_OF_TIME));
        let shape = (rates.len(), self.past.outputs);
        let neighbours = Neighbours::new(shape, self.window, self.slot.neighbours, processes(relevance.noise));
        Metric { neighbours, rates, kind, standing: Standing::default() }
    }

    /// What the best of its processes loses over the second half of the past.
    fn loss(&self, mut metric: Metric, rows: &[f64]) -> f64 {
        let (mut losses, mut memory, mut point) = ([0.0; LANES / 2], Memory::default(), Vec::new());
        let Past { dimension, outputs, targets, weights, .. } = self.past;
        for (t, (x, y)) in rows.chunks_exact(dimension).zip(targets.chunks_exact(outputs)).enumerate() {
            let weight = weights.get(t).copied().unwrap_or(1.0);
            metric.place(Row { raw: x, scaled: x }, x, t as u64, &mut point);
            if 2 * t >= targets.len() / outputs {
                metric.neighbours.means(&point, &mut memory);
                for (means, y) in memory.means().chunks_exact(LANES).zip(y) {
                    losses.iter_mut().zip(means).for_each(|(loss, mean)| *loss += weight * (mean - y).powi(2));
                }
            }
            metric.neighbours.push(&point, [y; TARGETS], weight);
        }
        losses.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// The eight processes of a metric in which the length of Matérn 3/2 is 1, with this noise.
fn processes(noise: f64) -> [Process; LANES] {
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
