//! What a learner does with targets that are taken for errors of measurement.

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
    /// Rows whose weight was changed, and the target of the first that made it so.
    found: u64,
    first: Option<f64>,
}

impl Screening {
    /// Of so many outputs; none where every row counts as it is.
    pub(crate) fn new(outliers: Outliers, outputs: usize) -> Option<Self> {
        let screens = vec![OutlierScreen::default(); outputs];
        (outliers != Outliers::Keep).then_some(Self { outliers, screens, found: 0, first: None })
    }

    /// What is done.
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
        self.found += u64::from(implausible.is_some());
        self.first = self.first.or(implausible);
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

    /// Rows whose weight was changed, and the target of the first.
    pub(crate) fn found(&self) -> Option<(u64, f64)> {
        self.first.map(|first| (self.found, first))
    }

    /// Takes the weight from those of the first rows of a stream that the rows after them show to
    /// be implausible.
    pub(crate) fn judge_again(&mut self, targets: &[f64], weights: &mut [f64]) {
        let outputs = self.screens.len();
        for output in 0..outputs {
            let column: Vec<f64> = targets.iter().skip(output).step_by(outputs).copied().collect();
            let found = OutlierScreen::implausible(&column);
            for ((found, y), weight) in found.into_iter().zip(column).zip(&mut *weights) {
                if found && *weight > 0.0 {
                    *weight = 0.0;
                    self.found += 1;
                    self.first = self.first.or(Some(y));
                }
            }
        }
    }
}

impl Validate for Screening {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.screens.validate()?;
        self.first.validate()?;
        let told = self.outliers != Outliers::Keep && (self.found > 0) == self.first.is_some();
        Inconsistent::require(told, "screening of targets", "it has a purpose, and counts what it found")
    }
}
