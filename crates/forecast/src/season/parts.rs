//! The parts of a forecast: trend, seasons, effects of known inputs, and the rest.
//!
//! The filters with the waves of the periods know a level and waves; other experts know no parts.
//! So trend and seasons are those of the mixture of **these filters alone**: `Σ w_k part_k`, with
//! the weights that the filters would have if nothing else took part. What the forecast is more or
//! less than that is the rest: the filters' autoregressions, what the other experts know, the
//! learner's correction, and bounds. So the parts always sum to the forecast.
//!
//! A filter of logarithms forecasts `e^{μ+v}`, with the level `μ` and the sum `v` of its waves and
//! autoregression. Its trend is `e^μ`, and a wave `s` adds
//!
//! ```text
//! s · (e^{μ+v} − e^μ)/v
//! ```
//!
//! which splits the difference without an order of the parts: the logarithmic mean divisia index
//! (Ang 2004, *Energy Policy* 32). The level of a bound that a path is clipped to is that bound.

/// The parts of a forecast of some steps, which sum to it: see
/// [`SeasonMixture::parts`](crate::SeasonMixture::parts).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ForecastParts {
    /// The level with its slope, a number for each step.
    pub trend: Vec<f64>,
    /// For each period, the shortest first, what its waves add at each step. Of a harmonic that two
    /// periods have in common the shorter has all.
    pub seasons: Vec<Vec<f64>>,
    /// For each known input what it adds at each step, beside its value in the first row.
    pub inputs: Vec<Vec<f64>>,
    /// What is left of the forecast. While experts have not begun it is all.
    pub rest: Vec<f64>,
}

impl ForecastParts {
    /// No trend, no seasons: all of a forecast is rest.
    pub(super) fn new(path: &[f64], periods: usize) -> Self {
        let none = vec![0.0; path.len()];
        Self { seasons: vec![none.clone(); periods], trend: none, inputs: Vec::new(), rest: path.to_vec() }
    }

    /// The forecast of a step, counted from 0.
    #[must_use]
    pub fn sum(&self, step: usize) -> f64 {
        let of_all = |parts: &[Vec<f64>]| parts.iter().map(|part| part[step]).sum::<f64>();
        self.trend[step] + of_all(&self.seasons) + of_all(&self.inputs) + self.rest[step]
    }

    /// The names of the numbers of [`row`](Self::row), with so many seasons and these inputs.
    pub fn names<'a>(seasons: usize, inputs: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
        let season = |i: usize| if i == 0 { "season".to_owned() } else { format!("season_{}", i + 1) };
        let first = std::iter::once("trend".to_owned()).chain((0..seasons).map(season));
        first.chain(inputs.iter().map(|name| format!("effect_{name}"))).chain(["rest".to_owned()])
    }

    /// All parts of a step: trend, so many seasons (0 for those that there are not yet), inputs,
    /// and the rest.
    pub fn row(&self, step: usize, seasons: usize) -> impl Iterator<Item = f64> {
        let season = move |i: usize| self.seasons.get(i).map_or(0.0, |season| season[step]);
        let inputs = self.inputs.iter().map(move |input| input[step]);
        std::iter::once(self.trend[step]).chain((0..seasons).map(season)).chain(inputs).chain([self.rest[step]])
    }

    /// Moves trend and waves of a step out of the rest.
    pub(super) fn explain(&mut self, step: usize, trend: f64, waves: impl Iterator<Item = f64>) {
        self.trend[step] += trend;
        self.rest[step] -= trend;
        for (season, wave) in self.seasons.iter_mut().zip(waves) {
            season[step] += wave;
            self.rest[step] -= wave;
        }
    }

    /// Takes the share `weights` of each step from these parts, and the rest from others. Inputs
    /// that the others lack are nothing there.
    pub(crate) fn mix(&mut self, others: &Self, weights: &[f64]) {
        let mix = |ours: &mut Vec<f64>, theirs: Option<&Vec<f64>>| {
            for (step, (own, weight)) in ours.iter_mut().zip(weights).enumerate() {
                *own = weight * *own + (1.0 - weight) * theirs.map_or(0.0, |theirs| theirs[step]);
            }
        };
        mix(&mut self.trend, Some(&others.trend));
        mix(&mut self.rest, Some(&others.rest));
        self.seasons.iter_mut().enumerate().for_each(|(i, season)| mix(season, others.seasons.get(i)));
        self.inputs.iter_mut().enumerate().for_each(|(i, input)| mix(input, others.inputs.get(i)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_two_forecasts_sum_to_their_mean() {
        let mut ours = ForecastParts::new(&[10.0, 20.0], 1);
        ours.explain(0, 6.0, [3.0].into_iter());
        ours.inputs.push(vec![2.0, -1.0]);
        let mut theirs = ForecastParts::new(&[4.0, 8.0], 1);
        theirs.explain(1, 5.0, [1.0].into_iter());
        assert_eq!((ours.sum(0), ours.sum(1), theirs.sum(1)), (12.0, 19.0, 8.0));
        assert_eq!((ours.rest[0], ours.rest[1]), (1.0, 20.0));
        ours.mix(&theirs, &[0.5, 0.25]);
        assert_eq!((ours.sum(0), ours.sum(1)), (8.0, 0.25 * 19.0 + 0.75 * 8.0));
        assert_eq!((ours.trend[0], ours.inputs[0][1]), (3.0, -0.25));
    }
}
