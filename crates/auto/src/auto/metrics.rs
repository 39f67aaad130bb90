//! In what nearness is measured: the metrics of the windows, and how their units are found.
//!
//! | metric | of | relevance |
//! |---|---|---|
//! | ranks | features by their ranks among the first rows | from the likelihood of 512 rows, and once more of 128 |
//! | time | scaled features, and the number of the row | the same, with the time |
//! | otherwise | scaled features | the same |
//!
//! The likelihood of 128 rows says less of each feature, so the prior keeps their lengths together:
//! better where many rows lead astray, as on rough targets. Those of 512 rows are learnt anew at
//! doublings (`auto/search.rs`).

use mercer_core::{Inconsistent, Validate};
use mercer_simd::LANES;

use super::scales::ScaledRow;
use super::series::{OrderedRows, cost_of_processes, processes, rates};
use crate::local::Neighbours;
use crate::local::relevance::Relevance;

/// Names of the processes of a metric.
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

/// Quantities that nearness is measured in.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum MetricKind {
    /// Ranks, by relevance.
    #[default]
    Ranks,
    /// Scaled features and the time, by relevance.
    Time,
    /// Scaled features, by relevance.
    Other,
}

impl MetricKind {
    /// Names of the processes.
    pub(super) fn names(self) -> [&'static str; LANES] {
        match self {
            Self::Ranks => processes_named!("near by ranks"),
            Self::Time => processes_named!("near by time"),
            Self::Other => processes_named!("near otherwise"),
        }
    }

    /// With a length of time.
    fn timed(self) -> bool {
        self == Self::Time
    }
}

/// Examples in the units of a metric.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Metric {
    /// `√w_j`
    rates: Vec<f64>,
    pub(super) neighbours: Neighbours,
    pub(super) kind: MetricKind,
}

impl Metric {
    /// Without examples.
    pub(super) fn new(
        kind: MetricKind,
        relevance: &Relevance,
        (window, neighbours): (usize, usize),
        outputs: usize,
    ) -> Self {
        let rates = rates(relevance);
        let neighbours = Neighbours::new((rates.len(), outputs), window, neighbours, processes(relevance.noise));
        Self { rates, neighbours, kind }
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

    /// Features join that were 0 in all examples, as relevant as the others are on average.
    pub(super) fn grow(&mut self, added: usize) {
        let mut relevance = self.relevance();
        relevance.grow(usize::from(self.kind.timed()), added);
        self.rates = rates(&relevance);
        self.neighbours.grow(added);
    }

    /// The last `count` examples, or as many as there are.
    pub(super) fn series(&self, count: usize) -> OrderedRows {
        let shape = (self.rates.len(), self.neighbours.outputs());
        let (rows, targets, spreads) = (Vec::new(), Vec::new(), Vec::new());
        let mut series = OrderedRows { shape, rows, targets, spreads, timed: self.kind.timed() };
        self.neighbours.for_each_of_last(count, |place, point| {
            series.rows.extend(point.iter().zip(&self.rates).map(|(value, rate)| value / rate));
            let (target, spread) = self.neighbours.target(place);
            series.targets.extend_from_slice(target);
            series.spreads.push(spread);
        });
        series
    }

    /// True if it is of so many features and outputs.
    pub(super) fn fits(&self, features: usize, outputs: usize) -> bool {
        self.rates.len() == features + usize::from(self.kind.timed()) && self.neighbours.outputs() == outputs
    }

    /// Place of a row: the values that it looks at, in its units.
    pub(super) fn place(&self, row: ScaledRow<'_>, ranked: &[f64], round: u64, point: &mut Vec<f64>) {
        point.clear();
        let x = if self.kind == MetricKind::Ranks { ranked } else { row.straight };
        let numbers = self.kind.timed().then_some(round as f64).into_iter().chain(x.iter().copied());
        point.extend(numbers.zip(&self.rates).map(|(value, rate)| value * rate));
    }
}

impl Validate for Metric {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.neighbours.validate()?;
        self.rates.iter().try_for_each(|rate| Inconsistent::positive(*rate, "rate of a feature"))?;
        let fits = self.neighbours.dimension() == self.rates.len();
        Inconsistent::require(fits, "metric", "it has a rate for each feature")
    }
}
