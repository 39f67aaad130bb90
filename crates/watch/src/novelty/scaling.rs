//! Columns in units in which they are alike.

/// Deviations beyond which values are left out of the moments, and scaled values are bent.
const FAR: f64 = 4.0;
/// Share of gaps from which on a gap is nothing new.
const USUAL: f64 = 0.01;

/// Mean and inverse deviation of each column, without values beyond four deviations; and what
/// stands for a gap.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RowScale {
    columns: Vec<(f64, f64)>,
    /// `−ln` of the share of gaps: far where there were none, and the mean where they are usual.
    gaps: Vec<f64>,
}

impl RowScale {
    /// By these rows. Of a constant column any other value is far: 3 deviations at its own size.
    pub(crate) fn new(rows: &[Vec<f64>], columns: usize) -> Self {
        let scale = |j: usize| {
            let values: Vec<f64> = rows.iter().map(|row| row[j]).filter(|value| !value.is_nan()).collect();
            let (mean, deviation) = moments(&values, |_| true);
            let inside = |value: &f64| (value - mean).abs() <= FAR * deviation + 1e-12;
            let (mean, deviation) = moments(&values, inside);
            let varies = deviation > 1e-9 * mean.abs() + 1e-300;
            (mean, if varies { 1.0 / deviation } else { 3.0 / (mean.abs() + 1.0) })
        };
        let gap = |j: usize| {
            let gaps = rows.iter().filter(|row| row[j].is_nan()).count();
            let share = (gaps + 1) as f64 / (rows.len() + 2) as f64;
            if share < USUAL { -share.ln() } else { 0.0 }
        };
        Self { columns: (0..columns).map(scale).collect(), gaps: (0..columns).map(gap).collect() }
    }

    /// `z`, beyond ±4 bent to `±(4 + ln(1 + |z| − 4))`.
    pub(crate) fn scaled(&self, row: &[f64], z: &mut Vec<f64>) {
        z.clear();
        z.extend(row.iter().zip(&self.columns).zip(&self.gaps).map(|((value, (mean, inverse)), gap)| {
            let z = if value.is_nan() { *gap } else { (value - mean) * inverse };
            if z.abs() <= FAR { z } else { z.signum() * (FAR + (z.abs().min(f64::MAX) - FAR).ln_1p()) }
        }));
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let gaps = self.gaps.len() == columns && self.gaps.iter().all(|gap| gap.is_finite());
        gaps && self.columns.len() == columns
            && self.columns.iter().all(|(mean, scale)| mean.is_finite() && *scale > 0.0)
    }
}

/// Mean and deviation of some values; both 0 without any.
fn moments(values: &[f64], keep: impl Fn(&f64) -> bool) -> (f64, f64) {
    let kept = || values.iter().filter(|value| keep(value));
    let n = kept().count().max(1) as f64;
    let mean = kept().map(|value| value / n).sum::<f64>();
    let square: f64 = kept().map(|value| (value - mean) / n.sqrt()).map(|part| part * part).sum();
    (mean, square.sqrt())
}
