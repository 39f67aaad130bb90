//! Scalings of features and targets, learnt from the first rows, and which inputs vary.

use mercer_core::{Inconsistent, Validate};

/// Beyond so many deviations scaled features are bent: the dictionaries' kernels and Taylor
/// features need them near.
const STRAIGHT: f64 = 4.0;
/// The farthest that a scaled feature is.
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
    pub(super) fn fit(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        // In units of the largest, so that nothing overflows or vanishes.
        let unit = values.clone().fold(0.0, |unit: f64, (v, _)| unit.max(v.abs()));
        if unit == 0.0 {
            return Self { centre: 0.0, scale: 1.0 };
        }
        let count: f64 = values.clone().map(|(_, weight)| weight).sum();
        // Weights whose sum overflows are taken in smaller units.
        let share = if count.is_finite() { 1.0 } else { 1e-300 };
        let values = values.map(move |(v, weight)| (v, share * weight));
        let count: f64 = if count.is_finite() { count } else { values.clone().map(|(_, weight)| weight).sum() };
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

    /// [Fits](Self::fit) the values that lie near the others.
    fn fit_most(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sorted: Vec<(f64, f64)> = values.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (low, high) = (sorted[sorted.len() / 4].0, sorted[sorted.len() - 1 - sorted.len() / 4].0);
        let far = FAR * (high - low);
        let near = |v: &(f64, f64)| far == 0.0 || (low - far..=high + far).contains(&v.0);
        Self::fit(sorted.iter().copied().filter(near))
    }

    pub(super) fn apply(self, value: f64) -> f64 {
        let difference = value - self.centre;
        if difference.is_finite() { difference / self.scale } else { value / self.scale - self.centre / self.scale }
    }

    pub(super) fn undo(self, value: f64) -> f64 {
        self.centre + self.scale * value
    }
}

/// Values of an input that joined alone which settle its unit.
const SETTLING: usize = 5;

/// An input that varies.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Feature {
    input: usize,
    affine: Affine,
    /// True if it joined alone, so that its unit is a guess.
    late: bool,
    /// Distances of its first values from the one that it had before; fewer than [`SETTLING`] while
    /// its unit is open.
    steps: Vec<f64>,
}

impl Feature {
    /// True if this value takes part in settling the unit.
    fn is_open_to(&self, x: &[f64]) -> bool {
        self.late && self.steps.len() < SETTLING && x[self.input] != self.affine.centre
    }

    /// Takes a value in. The unit is the median of the first steps, the smaller middle one of an
    /// even number: one wrong value leaves it alone. Rows of before had the value that is the
    /// centre, and stay at 0 in any unit.
    fn settle(&mut self, x: &[f64]) {
        let step = (x[self.input] - self.affine.centre).abs();
        self.steps.push(if step.is_normal() { step } else { 1.0 });
        let mut sorted = self.steps.clone();
        sorted.sort_by(f64::total_cmp);
        self.affine.scale = sorted[(sorted.len() - 1) / 2];
    }
}

/// Which inputs vary, and the scalings of these and of targets.
///
/// An input counts from the row in which it first varies, behind those before it. Until then it
/// costs a comparison a row.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Scales {
    features: Vec<Feature>,
    /// Inputs that have had one value only, and that value.
    still: Vec<(usize, f64)>,
    /// One an output.
    pub(super) targets: Vec<Affine>,
}

impl Scales {
    /// Scales of row-major `rows` of `dimension` inputs with `outputs` targets each. Inputs that
    /// were known to vary `before` are the first, in their order.
    pub(super) fn fit(
        (dimension, outputs): (usize, usize),
        rows: &[f64],
        targets: &[f64],
        weights: &[f64],
        before: Option<&Self>,
    ) -> Self {
        let affine = |numbers: &[f64], width: usize, j: usize| {
            Affine::fit_most(weighted(numbers.iter().skip(j).step_by(width).copied(), weights))
        };
        let varies = |input: &usize| rows.iter().skip(*input).step_by(dimension).any(|value| *value != rows[*input]);
        let (mut moving, still): (Vec<_>, Vec<_>) = (0..dimension).partition(varies);
        let known: Vec<usize> = before.into_iter().flat_map(|before| &before.features).map(|f| f.input).collect();
        moving.sort_by_key(|input| known.iter().position(|other| other == input).unwrap_or(known.len()));
        let feature = |input| Feature { input, affine: affine(rows, dimension, input), late: false, steps: Vec::new() };
        Self {
            features: moving.into_iter().map(feature).collect(),
            still: still.into_iter().map(|input| (input, rows[input])).collect(),
            targets: (0..outputs).map(|output| affine(targets, outputs, output)).collect(),
        }
    }

    /// Inputs that vary.
    pub(super) fn live(&self) -> usize {
        self.features.len()
    }

    /// The input of each feature.
    pub(super) fn inputs(&self) -> impl Iterator<Item = usize> {
        self.features.iter().map(|feature| feature.input)
    }

    /// True if an input varies in this row for the first time, or settles its unit.
    pub(super) fn wakes(&self, x: &[f64]) -> bool {
        self.still.iter().any(|(input, value)| x[*input] != *value)
            || self.features.iter().any(|feature| feature.is_open_to(x))
    }

    /// Takes in the inputs that vary in this row for the first time, in units of by how much; how
    /// many. Those that did so lately settle their units.
    pub(super) fn wake(&mut self, x: &[f64]) -> usize {
        self.features.iter_mut().filter(|feature| feature.is_open_to(x)).for_each(|feature| feature.settle(x));
        let before = self.features.len();
        for (input, value) in self.still.extract_if(.., |(input, value)| x[*input] != *value) {
            let affine = Affine { centre: value, scale: 1.0 };
            let mut feature = Feature { input, affine, late: true, steps: Vec::new() };
            feature.settle(x);
            self.features.push(feature);
        }
        self.features.len() - before
    }

    /// Inputs that have been 0 so far join behind the others.
    pub(super) fn grow(&mut self, inputs: std::ops::Range<usize>) {
        self.still.extend(inputs.map(|input| (input, 0.0)));
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

    /// Scales what varies of inputs of so many numbers.
    pub(super) fn rows(&self, xs: &[f64], dimension: usize, rows: &mut ScaledRows) {
        rows.straight.clear();
        for x in xs.chunks_exact(dimension.max(1)) {
            rows.straight.extend(self.features.iter().map(|feature| {
                let value = feature.affine.apply(x[feature.input]).clamp(-FARTHEST, FARTHEST);
                if feature.late { bend(value) } else { value }
            }));
        }
        rows.bent.clear();
        rows.bent.extend(rows.straight.iter().copied().map(bend));
    }

    /// True if it is of so many inputs and outputs.
    pub(super) fn fits(&self, dimension: usize, outputs: usize) -> bool {
        let mut inputs: Vec<usize> = self.inputs().collect();
        inputs.extend(self.still.iter().map(|(input, _)| *input));
        inputs.sort_unstable();
        inputs.into_iter().eq(0..dimension) && self.targets.len() == outputs
    }
}

impl Validate for Scales {
    fn validate(&self) -> Result<(), Inconsistent> {
        let features = self.features.iter().map(|feature| &feature.affine);
        features.chain(&self.targets).try_for_each(|affine| {
            affine.centre.validate()?;
            Inconsistent::positive(affine.scale, "scale of a column")
        })?;
        let steps = self.features.iter().flat_map(|feature| &feature.steps);
        steps.into_iter().try_for_each(|step| Inconsistent::positive(*step, "step of a column"))?;
        self.still.iter().try_for_each(|(_, value)| value.validate())
    }
}

/// Rows of scaled features: as they are, and [bent](bend).
#[derive(Clone, Debug, Default)]
pub(super) struct ScaledRows {
    pub(super) straight: Vec<f64>,
    pub(super) bent: Vec<f64>,
}

impl ScaledRows {
    /// Row `t` of so many features.
    pub(super) fn row(&self, t: usize, width: usize) -> ScaledRow<'_> {
        let [straight, bent] = [&self.straight, &self.bent].map(|rows| &rows[t * width..(t + 1) * width]);
        ScaledRow { straight, bent }
    }
}

/// A row of scaled features: as they are, and bent.
#[derive(Clone, Copy)]
pub(super) struct ScaledRow<'a> {
    pub(super) straight: &'a [f64],
    pub(super) bent: &'a [f64],
}

/// The value within four deviations; beyond, it grows as the logarithm, so that a feature that
/// wanders away still says something.
fn bend(value: f64) -> f64 {
    let beyond = value.abs() - STRAIGHT;
    if beyond <= 0.0 { value } else { (STRAIGHT + beyond.ln_1p()).copysign(value) }
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
    fn bending_keeps_the_order() {
        let values = [-1e100, -1e9, -50.0, -4.1, -4.0, -1.0, 0.0, 3.9, 4.0, 4.001, 7.0, 1e6, 1e90];
        assert!(values.map(bend).is_sorted());
        assert_eq!(values[4..8], values.map(bend)[4..8]);
    }

    #[test]
    fn one_wrong_value_does_not_settle_a_unit() {
        for wrong in [1e9, 1e-9] {
            let mut scales = Scales::fit((1, 1), &[0.0, 0.0], &[0.0, 1.0], &[], None);
            for value in [wrong, 0.5, 0.7, 0.0, 0.4, 0.6, 1e6] {
                assert!(value == 0.0 || value == 1e6 || scales.wakes(&[value]), "{value}");
                assert_eq!(scales.wake(&[value]), usize::from(value == wrong));
            }
            let mut scaled = ScaledRows::default();
            scales.rows(&[1.0], 1, &mut scaled);
            assert!((1.0..3.0).contains(&scaled.straight[0]) && scales.validate().is_ok(), "{scaled:?}");
        }
    }

    #[test]
    fn an_input_counts_from_the_row_in_which_it_first_varies() {
        let rows = [1.0, 5.0, 0.0, 3.0, 5.0, 0.0];
        let mut scales = Scales::fit((3, 1), &rows, &[0.0, 1.0], &[], None);
        assert!(scales.live() == 1 && !scales.wakes(&[9.0, 5.0, 0.0]) && scales.fits(3, 1));
        assert!(scales.wakes(&[1.0, 5.0, -2.0]));
        assert_eq!((scales.wake(&[1.0, 5.0, -2.0]), scales.wake(&[1.0, 5.0, 7.0]), scales.live()), (1, 0, 2));
        scales.grow(3..4);
        assert_eq!(scales.wake(&[1.0, 6.0, 0.0, 1.0]), 2);
        let mut scaled = ScaledRows::default();
        scales.rows(&[3.0, 7.0, -4.0, 0.5], 4, &mut scaled);
        assert_eq!(scaled.straight, [1.0, -2.0, 2.0, 0.5]);
        assert!(scales.fits(4, 1) && scales.validate().is_ok());
    }
}
