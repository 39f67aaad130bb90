//! Treatment of targets that are taken for errors of measurement.

use mercer_core::{Inconsistent, Validate};
use mercer_experts::{OutlierScreen, Outliers};
use mercer_learners::{Rows, Target};

/// Weighs rows by how plausible their targets are: by the screen of each output, and of several
/// outputs by the least plausible.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Screening {
    outliers: Outliers,
    screens: Vec<OutlierScreen>,
    /// Rows of positive weight.
    rows: u64,
    found: Option<Implausible>,
}

/// Rows whose targets were implausible.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Implausible {
    /// The number of these rows.
    pub rows: u64,
    /// The first, counted from 1 among the rows of positive weight.
    pub first: u64,
    /// Its target.
    pub target: f64,
}

impl Implausible {
    /// One more.
    fn and(before: Option<Self>, row: u64, target: f64) -> Self {
        match before {
            None => Self { rows: 1, first: row, target },
            Some(before) if before.first < row => Self { rows: before.rows + 1, ..before },
            Some(before) => Self { rows: before.rows + 1, first: row, target },
        }
    }
}

impl Screening {
    /// A screening of so many outputs; none where every row counts as it is.
    pub(crate) fn new(outliers: Outliers, outputs: usize) -> Option<Self> {
        let screens = vec![OutlierScreen::default(); outputs];
        (outliers != Outliers::Keep).then_some(Self { outliers, screens, rows: 0, found: None })
    }

    /// The treatment of the rows.
    pub(crate) fn outliers(&self) -> Outliers {
        self.outliers
    }

    /// The weight that is left to an example.
    pub(crate) fn weight(&self, target: Target<'_>) -> f64 {
        let shares = self.screens.iter().zip(target.y).map(|(screen, y)| screen.share(*y));
        target.weight * self.outliers.weight(shares.fold(1.0, f64::min))
    }

    /// An example was learnt, with the [weight](Self::weight) that was left to it.
    pub(crate) fn observe(&mut self, target: Target<'_>) {
        if target.weight == 0.0 {
            return;
        }
        let mut implausible = None;
        for (screen, y) in self.screens.iter_mut().zip(target.y) {
            if screen.observe(*y) < 1.0 {
                implausible = implausible.or(Some(*y));
            }
        }
        self.rows += 1;
        if let Some(target) = implausible {
            self.found = Some(Implausible::and(self.found, self.rows, target));
        }
    }

    /// The weights that are left to rows which are learnt in this order.
    pub(crate) fn weights(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut ahead = self.clone();
        let weigh = |target| {
            let weight = ahead.weight(target);
            ahead.observe(target);
            weight
        };
        rows.targets().iter().map(weigh).collect()
    }

    /// Rows of positive weight that it has seen.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The implausible rows.
    pub(crate) fn found(&self) -> Option<Implausible> {
        self.found
    }

    /// Takes the weight from those of the first rows of a stream that the rows after them show to
    /// be implausible; whether there is one. `places` are the numbers of the rows, 0 for those that
    /// are known.
    pub(crate) fn judge_again(&mut self, targets: &[f64], places: &[u64], weights: &mut [f64]) -> bool {
        let outputs = self.screens.len();
        let mut changed = false;
        for output in 0..outputs {
            let column: Vec<f64> = targets.iter().skip(output).step_by(outputs).copied().collect();
            let found = OutlierScreen::implausible(&column);
            let rows = found.into_iter().zip(column).zip(places).zip(&mut *weights);
            for (((found, y), place), weight) in rows {
                if found && *weight > 0.0 {
                    *weight = 0.0;
                    changed = true;
                    if *place > 0 {
                        self.found = Some(Implausible::and(self.found, *place, y));
                    }
                }
            }
        }
        changed
    }
}

impl Validate for Screening {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.screens.validate()?;
        let counted = |found: Implausible| {
            found.target.is_finite() && found.first >= 1 && found.first <= self.rows && found.rows <= self.rows
        };
        let told = self.outliers != Outliers::Keep && self.found.is_none_or(counted) && self.rows < u64::MAX;
        Inconsistent::require(told, "screening of targets", "it has a purpose, and counts what it found")
    }
}
