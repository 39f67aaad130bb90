//! Means over seeds with their standard errors, as curves and as tables of statements.

use crate::judgement::{PrintedValue, Tolerance};
use crate::prelude::*;

/// The mean of one curve a seed, and one standard error around it.
pub(super) fn band<'a>(curves: impl IntoIterator<Item = &'a [f64]>) -> Band {
    let curves: Vec<&[f64]> = curves.into_iter().collect();
    let points = curves.first().map_or(0, |curve| curve.len());
    Band::from_samples((0..points).map(|i| all_of(&curves, |curve| curve[i])), standard_error)
}

/// Regret curves of methods.
pub(super) struct Curves {
    pub(super) names: Vec<String>,
    /// Where they were looked at.
    pub(super) marks: Vec<usize>,
    /// Seeds by methods by marks.
    pub(super) seeds: Vec<Vec<Vec<f64>>>,
}

impl Curves {
    pub(super) fn find(&self, name: &str) -> usize {
        self.names.iter().position(|own| own == name).unwrap_or(0)
    }

    /// The final regret of every seed.
    pub(super) fn finals(&self, method: usize) -> Vec<f64> {
        all_of(&self.seeds, |seed| seed[method].last().copied().unwrap_or(f64::NAN))
    }

    /// The same of the method of this name.
    pub(super) fn named_finals(&self, name: &str) -> Vec<f64> {
        self.finals(self.find(name))
    }

    pub(super) fn band(&self, name: &str) -> Band {
        let method = self.find(name);
        band(self.seeds.iter().map(|seed| seed[method].as_slice()))
    }

    /// The method of least mean regret among those whose name begins so.
    pub(super) fn best(&self, beginning: &str) -> (usize, f64) {
        let own = (0..self.names.len()).filter(|&i| self.names[i].starts_with(beginning));
        let means = own.map(|i| (i, mean(&self.finals(i))));
        means.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN))
    }

    /// Final regrets, beside the references if the run is `whole`.
    pub(super) fn table(&self, references: &'static [ReferenceRegret], whole: bool) -> Result<Table> {
        let mut table = Table::with("method | regret ~4 | reference # | verdict");
        for (i, name) in self.names.iter().enumerate() {
            let finals = self.finals(i);
            let reference = references.iter().find(|reference| reference.method == name && whole);
            let verdict = reference.map(|reference| reference.judge(&finals));
            table.push(row![
                name.as_str(),
                Summary::from_samples(&finals),
                reference.map(ReferenceRegret::value),
                verdict
            ])?;
        }
        Ok(table)
    }
}

/// Whole numbers for an axis.
pub(super) fn axis(marks: &[usize]) -> Vec<f64> {
    marks.iter().map(|mark| *mark as f64).collect()
}

/// In how many of the pairs the first is smaller: `47 of 50`.
pub(super) fn smaller_in(first: &[f64], second: &[f64]) -> (usize, String) {
    let count = first.iter().zip(second).filter(|(a, b)| a < b).count();
    (count, format!("{count} of {} seeds", first.len()))
}

/// A mean regret to compare with: that of an independent dense implementation over 100 seeds of its
/// own, known to some decimals of a unit.
pub(super) struct ReferenceRegret {
    pub(super) method: &'static str,
    pub(super) mean: f64,
    pub(super) unit: f64,
    pub(super) decimals: u8,
}

impl ReferenceRegret {
    /// The reference's mean in plain numbers.
    pub(super) fn value(&self) -> f64 {
        self.mean * self.unit
    }

    /// Within four combined standard errors? Its deviation, which is not known, is taken to be
    /// ours.
    pub(super) fn judge(&self, finals: &[f64]) -> Judgement {
        let scaled: Vec<f64> = finals.iter().map(|regret| regret / self.unit).collect();
        let printed = PrintedValue { mean: self.mean, std: sample_std(&scaled), runs: 100, decimals: self.decimals };
        let verdict = Tolerance { relative: 0.0, standard_errors: Some(4.0), size: 0.0 }.judge(&scaled, &printed);
        Judgement { kind: ComparisonKind::Claim, ..verdict }
    }
}
