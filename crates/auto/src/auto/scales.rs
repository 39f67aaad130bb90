//! Scalings of features and targets, learnt from the first rows.

/// Beyond so many deviations scaled features are bent: the dictionaries' kernels and Taylor
/// features need them near.
const STRAIGHT: f64 = 4.0;
/// The farthest that a feature is unbent to.
const FARTHEST: f64 = 1e100;
/// Quartile ranges beyond the quartiles where a value counts as an error of measurement: such as a
/// −9999 for a missing one.
const FAR: f64 = 10.0;

/// `v ↦ (v − centre)/scale`
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Affine {
    pub(super) centre: f64,
    pub(super) scale: f64,
}

impl Affine {
    /// Mean and standard deviation of values with weights; a constant has scale 1.
    pub(super) fn of(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        // In units of the largest, so that nothing overflows or vanishes.
        let unit = values.clone().fold(0.0, |unit: f64, (v, _)| unit.max(v.abs()));
        if unit == 0.0 {
            return Self { centre: 0.0, scale: 1.0 };
        }
        let count: f64 = values.clone().map(|(_, weight)| weight).sum();
        let mean = values.clone().map(|(v, weight)| weight * (v / unit)).sum::<f64>() / count;
        let squares = values.map(|(v, weight)| weight * (v / unit - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        let scale = deviation * unit;
        // A deviation of rounding errors is none.
        if deviation > 1e-12 && scale.is_normal() {
            Self { centre: mean * unit, scale }
        } else {
            Self { centre: mean * unit, scale: 1.0 }
        }
    }

    /// [`of`](Self::of) the values that lie near the others.
    fn of_most(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sorted: Vec<(f64, f64)> = values.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (low, high) = (sorted[sorted.len() / 4].0, sorted[sorted.len() - 1 - sorted.len() / 4].0);
        let far = FAR * (high - low);
        let near = |v: &(f64, f64)| far == 0.0 || (low - far..=high + far).contains(&v.0);
        Self::of(sorted.iter().copied().filter(near))
    }

    pub(super) fn apply(self, value: f64) -> f64 {
        let difference = value - self.centre;
        if difference.is_finite() { difference / self.scale } else { value / self.scale - self.centre / self.scale }
    }

    pub(super) fn undo(self, value: f64) -> f64 {
        self.centre + self.scale * value
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Scales {
    pub(super) features: Vec<Affine>,
    /// One an output.
    pub(super) targets: Vec<Affine>,
}

impl Scales {
    /// Those of row-major `rows` of `dimension` features with `outputs` targets each.
    pub(super) fn of((dimension, outputs): (usize, usize), rows: &[f64], targets: &[f64], weights: &[f64]) -> Self {
        let columns = |numbers: &[f64], width: usize| -> Vec<Affine> {
            let column = |j: usize| numbers.iter().skip(j).step_by(width).copied();
            (0..width).map(|j| Affine::of_most(weighted(column(j), weights))).collect()
        };
        Self { features: columns(rows, dimension), targets: columns(targets, outputs) }
    }

    /// Scales whole targets, one after the other.
    pub(super) fn targets(&self, ys: &[f64], scaled: &mut Vec<f64>) {
        scaled.clear();
        scaled.extend(ys.iter().zip(self.targets.iter().cycle()).map(|(y, affine)| affine.apply(*y)));
    }

    /// Brings a prediction of scaled targets into their units.
    pub(super) fn undo(&self, prediction: &mut [f64]) {
        prediction.iter_mut().zip(&self.targets).for_each(|(made, affine)| *made = affine.undo(*made));
    }

    /// Scales `count` inputs, and bends them.
    pub(super) fn rows(&self, xs: &[f64], count: usize, scaled: &mut Vec<f64>) {
        scaled.clear();
        let d = self.features.len();
        for x in (0..count).map(|row| &xs[row * d..(row + 1) * d]) {
            scaled.extend(x.iter().zip(&self.features).map(|(v, affine)| bend(affine.apply(*v))));
        }
    }
}

/// The value within four deviations; beyond, it grows as the logarithm, so that a feature that
/// wanders away still says something.
fn bend(value: f64) -> f64 {
    let beyond = value.abs() - STRAIGHT;
    if beyond <= 0.0 { value } else { (STRAIGHT + beyond.min(f64::MAX).ln_1p()).copysign(value) }
}

/// What was bent to this.
pub(super) fn unbend(value: f64) -> f64 {
    let beyond = value.abs() - STRAIGHT;
    if beyond <= 0.0 { value } else { (STRAIGHT + beyond.exp_m1()).min(FARTHEST).copysign(value) }
}

/// Values with their weights, 1 where there are none.
pub(super) fn weighted<'a>(
    values: impl Iterator<Item = f64> + Clone + 'a,
    weights: &'a [f64],
) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
    values.zip(weights.iter().copied().chain(std::iter::repeat(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bending_keeps_the_order_and_is_undone() {
        let values = [-1e300, -1e9, -50.0, -4.1, -4.0, -1.0, 0.0, 3.9, 4.0, 4.001, 7.0, 1e6, 1e90];
        assert!(values.map(bend).is_sorted());
        for value in values {
            let undone = unbend(bend(value));
            assert!((undone / value.clamp(-FARTHEST, FARTHEST) - 1.0).abs() < 1e-12 || undone == value, "{value}");
        }
        assert!(bend(f64::INFINITY).is_finite() && unbend(bend(f64::NEG_INFINITY)) == -FARTHEST);
    }
}
