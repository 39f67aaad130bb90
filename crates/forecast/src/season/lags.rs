//! Regressions upon lags around an anchor, whose coefficients are expected to fall with the
//! distance to the anchor.
//!
//! ```text
//! (z_{t+1} − a_t)/s ≈ θᵀ x,     x = (0.3, γ^{d(l)} (z_{t+1−l} − a_t)/s  for each lag l, random cosines of the same)
//! V ← αV + (1 − α)λI + x xᵀ
//! ```
//!
//! An anchor `a_t` is a forecast by itself: the last value, that of a season ago, the sum of the
//! two's changes, the running mean. So the regression learns a correction, and its prior is the
//! anchor. Lags near 1 and near multiples of a period stand a distance `d(l)` apart from the
//! nearest of them, and the factor `γ^d` has the role of the forgetting factor of
//! [`Opf`](crate::Opf). The share `(1 − α)λ` of the regulariser goes to one coordinate after the
//! other, `n` shares at a time.
//!
//! Several steps ahead an expert goes on upon its own path; in a gap the path is kept. Cost a row
//! and expert: `n²`, and `½n²` where coefficients are solved for; `n` a step ahead. Memory: `½n²`.

use mercer_core::{Inconsistent, Validate};
use mercer_linalg_incremental::SquareRootRls;
use mercer_simd::{AlignedVec, dot};

use super::cosines::Cosines;
use super::history::{Mean, RecentRows};
use super::params::Detail;
use crate::ForecastScratch;

/// The regressor of the constant.
const CONSTANT: f64 = 0.3;

/// Lags count no more than this many scales.
const FARTHEST: f64 = 1e9;

/// Anchor that a regression learns a correction of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Anchor {
    /// `z_t`
    Last,
    /// `z_{t+1−m}`
    Season(usize),
    /// `z_t + z_{t+1−m} − z_{t−m}`
    Both(usize),
    /// The running mean.
    Mean,
}

/// A coordinate of the series as a regression sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) recent: &'a [f64],
    pub(super) mean: f64,
    /// `s`
    pub(super) scale: f64,
    /// Where paths may go.
    pub(super) bounds: (f64, f64),
}

/// Design of a set of regressions: it follows from the periods and the detail.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Design {
    lags: Vec<usize>,
    /// `γ^d` of each lag.
    weights: Vec<f64>,
    cosines: Option<Cosines>,
    lambda: f64,
    /// Rows from one solution for the coefficients to the next.
    every: usize,
    /// Anchor and `α` of each regression.
    members: Vec<(Anchor, f64)>,
}

/// Choice of the lags near 1 and of the prior of a set.
#[derive(Clone, Copy)]
struct LagChoice {
    near: usize,
    gamma: f64,
    lambda: f64,
    cosines: usize,
    every: usize,
    forgets: bool,
    /// The first so many anchors alone.
    anchors: usize,
}

/// Rows that the lags of all sets reach back, and the anchors.
pub(super) fn reach(periods: &[usize]) -> usize {
    (3 * periods.last().copied().unwrap_or(0) + 2).max(16)
}

impl Design {
    fn all(periods: &[usize], detail: Detail, seed: u64) -> Vec<Self> {
        let longest = periods.last().copied().unwrap_or(1);
        let plain =
            LagChoice { near: 10, gamma: 0.8, lambda: 1.0, cosines: 0, every: 1, forgets: true, anchors: usize::MAX };
        let mut choices = vec![plain];
        if detail != Detail::Light {
            // What a learner knows better needs less.
            let (cosines, anchors) = match detail {
                Detail::WithLearner { .. } => (40, 2),
                _ => (if longest > 26 { 60 } else { 100 }, usize::MAX),
            };
            choices.push(LagChoice { near: 6, cosines, every: 4, forgets: false, anchors, ..plain });
            if periods.is_empty() {
                let (cosines, lambda) = (300, 1e-3);
                choices.push(LagChoice { near: 8, lambda, cosines, every: 8, forgets: false, anchors, ..plain });
            }
        }
        let mut designs: Vec<Self> = choices.iter().map(|choice| Self::new(periods, choice, longest, seed)).collect();
        if !periods.is_empty() {
            // A season that has gone, or that never was.
            designs.push(Self::new(&[], &plain, 1, seed));
        }
        designs
    }

    fn new(periods: &[usize], choice: &LagChoice, longest: usize, seed: u64) -> Self {
        let near = periods.first().map_or(choice.near, |first| choice.near.max((first + 1).min(13)));
        let mut lags: Vec<usize> = (1..=near).collect();
        let mut distances: Vec<usize> = (0..near).collect();
        for period in periods {
            for (multiple, spread) in [(1, 2), (2, 1), (3, 0)] {
                for lag in (multiple * period).saturating_sub(spread)..=multiple * period + spread {
                    if lag > 0 && !lags.contains(&lag) {
                        lags.push(lag);
                        distances.push(lag.abs_diff(multiple * period) + multiple - 1);
                    }
                }
            }
        }
        let weights: Vec<f64> =
            distances.iter().map(|distance| (0..*distance).fold(1.0, |weight, _| weight * choice.gamma)).collect();
        let mut anchors = vec![Anchor::Last];
        anchors.extend(periods.iter().map(|period| Anchor::Season(*period)));
        anchors.extend(periods.first().map(|period| Anchor::Both(*period)));
        anchors.push(Anchor::Mean);
        anchors.truncate(choice.anchors);
        let forgetting = 1.0 - 1.0 / (4.0 * longest as f64).max(100.0);
        let factors = if choice.forgets { &[1.0, forgetting][..] } else { &[1.0] };
        let members = anchors.iter().flat_map(|anchor| factors.iter().map(move |alpha| (*anchor, *alpha))).collect();
        let cosines = (choice.cosines > 0).then(|| Cosines::draw(&weights, choice.cosines, seed));
        Self { lags, weights, cosines, lambda: choice.lambda, every: choice.every, members }
    }

    /// Coordinates `n` of a regression.
    fn width(&self) -> usize {
        1 + self.lags.len() + self.cosines.as_ref().map_or(0, Cosines::count)
    }

    /// The row of a regression after `own`, values of its own that continue the series; returns the
    /// anchor.
    fn row(&self, anchor: Anchor, view: &View, own: &[f64], row: &mut AlignedVec, work: &mut AlignedVec) -> f64 {
        let end = view.recent.len() + own.len();
        let value = |lag: usize| {
            let index = end.checked_sub(lag)?;
            view.recent.get(index).or_else(|| own.get(index - view.recent.len())).copied()
        };
        let last = value(1).unwrap_or(0.0);
        let a = match anchor {
            Anchor::Last => last,
            Anchor::Season(m) => value(m).unwrap_or(last),
            Anchor::Both(m) => value(m).zip(value(m + 1)).map_or(last, |(season, before)| last + season - before),
            Anchor::Mean => view.mean,
        };
        row.resize(self.width());
        let (front, features) = row.split_at_mut(1 + self.lags.len());
        front[0] = CONSTANT;
        for (entry, lag) in front[1..].iter_mut().zip(&self.lags) {
            let scaled = value(*lag).map_or(0.0, |value| (value - a) / view.scale);
            *entry = scaled.clamp(-FARTHEST, FARTHEST);
        }
        if let Some(cosines) = &self.cosines {
            cosines.features(&front[1..], features, work);
        }
        front[1..].iter_mut().zip(&self.weights).for_each(|(entry, weight)| *entry *= weight);
        a
    }
}

/// A regression: one anchor, one forgetting, one coordinate of the series.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Regression {
    factor: SquareRootRls,
    coefficients: AlignedVec,
    /// In a gap, the recent rows with the path of its own.
    path: Vec<f64>,
}

/// Regressions upon the same lags, for each coordinate of the series those of all anchors.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LagSet {
    design: Design,
    regressions: Vec<Regression>,
    learnt: usize,
}

impl LagSet {
    /// The sets of a mixture.
    pub(super) fn all(periods: &[usize], detail: Detail, coordinates: usize, seed: u64) -> Vec<Self> {
        let reach = reach(periods);
        let set = |design: Design| {
            let n = design.width();
            let regression = Regression {
                factor: SquareRootRls::new(&vec![design.lambda; n], 1),
                coefficients: AlignedVec::zeros(n),
                path: Vec::with_capacity(reach + 1),
            };
            let regressions = vec![regression; coordinates * design.members.len()];
            Self { design, regressions, learnt: 0 }
        };
        Design::all(periods, detail, seed).into_iter().map(set).collect()
    }

    pub(super) fn experts(&self) -> usize {
        self.regressions.len()
    }

    /// Experts of one coordinate; those of the next come after them.
    pub(super) fn members(&self) -> usize {
        self.design.members.len()
    }

    fn member(&self, expert: usize) -> (Anchor, f64) {
        self.design.members[expert % self.members()]
    }

    /// The prediction of the step after `own`.
    fn predict(&self, expert: usize, view: &View, own: &[f64], scratch: &mut ForecastScratch) -> f64 {
        let regression = &self.regressions[expert];
        let view = if regression.path.is_empty() { *view } else { View { recent: &regression.path, ..*view } };
        let anchor = self.design.row(self.member(expert).0, &view, own, &mut scratch.row, &mut scratch.features);
        let value = anchor + view.scale * dot(scratch.row.lanes(), regression.coefficients.lanes());
        let (low, high) = view.bounds;
        if value.is_nan() { anchor.clamp(low, high) } else { value.clamp(low, high) }
    }

    /// The paths of all experts, `steps` numbers each.
    pub(super) fn forecast<'a>(
        &self,
        view: impl Fn(usize) -> View<'a>,
        steps: usize,
        paths: &mut [f64],
        scratch: &mut ForecastScratch,
    ) {
        for (expert, path) in paths.chunks_exact_mut(steps).enumerate() {
            let view = view(expert / self.members());
            for step in 0..steps {
                let (own, rest) = path.split_at_mut(step);
                rest[0] = self.predict(expert, &view, own, scratch);
            }
        }
    }

    /// Learns the coordinates of the next row.
    pub(super) fn learn<'a>(
        &mut self,
        view: impl Fn(usize) -> View<'a>,
        observed: &[f64],
        scratch: &mut ForecastScratch,
    ) {
        let n = self.design.width();
        let solves = self.learnt < 4 * self.design.every || self.learnt.is_multiple_of(self.design.every);
        for expert in 0..self.experts() {
            let (anchor, alpha) = self.member(expert);
            let c = expert / self.members();
            let view = view(c);
            let regression = &mut self.regressions[expert];
            regression.path.clear();
            let ForecastScratch { row, features, factor, .. } = scratch;
            let a = self.design.row(anchor, &view, &[], row, features);
            let target = (observed[c] - a) / view.scale;
            // A row out of range is not learnt; what comes before it stands.
            if regression.factor.update(row, &[target], factor).is_err() {
                continue;
            }
            if alpha < 1.0 {
                let lambda = self.design.lambda;
                regression.factor.scale(alpha, lambda * 1e-12);
                row.fill(0.0);
                row[self.learnt % n] = (n as f64 * (1.0 - alpha) * lambda).sqrt();
                // A share of the regulariser is always in range.
                let _ = regression.factor.update(row, &[0.0], factor);
            }
            if solves {
                regression.factor.coefficients(n, &mut regression.coefficients);
            }
        }
        self.learnt += 1;
    }

    /// A row is missing: every path goes on by itself.
    pub(super) fn skip<'a>(&mut self, view: impl Fn(usize) -> View<'a>, reach: usize, scratch: &mut ForecastScratch) {
        for expert in 0..self.experts() {
            let view = view(expert / self.members());
            let value = self.predict(expert, &view, &[], scratch);
            let path = &mut self.regressions[expert].path;
            if path.is_empty() {
                path.extend_from_slice(view.recent);
            }
            path.push(value);
            if path.len() > reach {
                path.remove(0);
            }
        }
    }

    pub(super) fn validate(
        sets: &[Self],
        periods: &[usize],
        detail: Detail,
        coordinates: usize,
        seed: u64,
    ) -> Result<(), Inconsistent> {
        const WHAT: &str = "regressions around anchors";
        let designs = Design::all(periods, detail, seed);
        Inconsistent::require(sets.len() == designs.len(), WHAT, "all sets are there")?;
        for (set, design) in sets.iter().zip(designs) {
            let same = set.design == design && set.experts() == coordinates * design.members.len();
            Inconsistent::require(same, WHAT, "they are those of the periods")?;
            Inconsistent::require(set.learnt < usize::MAX / 4, WHAT, "their rows can be counted")?;
            for regression in &set.regressions {
                regression.validate(design.width(), reach(periods))?;
            }
        }
        Ok(())
    }
}

impl Regression {
    fn validate(&self, n: usize, reach: usize) -> Result<(), Inconsistent> {
        self.factor.validate()?;
        self.coefficients.validate()?;
        self.path.validate()?;
        let fits = (self.factor.dimension(), self.factor.outputs()) == (n, 1)
            && self.coefficients.len() == n
            && self.path.len() <= reach;
        Inconsistent::require(fits, "regression around an anchor", "it has all coordinates")
    }
}

/// Past of a coordinate, as the regressions need it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Past {
    pub(super) recent: RecentRows,
    pub(super) mean: Mean,
    pub(super) scale: f64,
}

impl Past {
    /// Nothing yet, in units of the size of the changes of a beginning.
    pub(super) fn new(beginning: &[f64], reach: usize) -> Self {
        let largest = beginning.iter().fold(0.0, |largest: f64, z| largest.max(z.abs()));
        let changes = beginning.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0]));
        let mean = changes.sum::<f64>() / beginning.len().saturating_sub(1).max(1) as f64;
        // Rounding, or nothing, is no unit.
        let scale = [mean.sqrt(), largest].into_iter().find(|scale| *scale > 1e-9 * largest);
        Self { recent: RecentRows::new(reach), mean: Mean::default(), scale: scale.unwrap_or(1.0).max(1e-150) }
    }

    pub(super) fn validate(&self, reach: usize) -> Result<(), Inconsistent> {
        self.recent.validate(reach)?;
        self.mean.validate()?;
        Inconsistent::positive(self.scale, "unit of a regression")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves `V θ = s` by elimination; `V` is positive definite.
    fn solve(v: &[Vec<f64>], s: &[f64]) -> Vec<f64> {
        let n = s.len();
        let mut rows: Vec<Vec<f64>> = v.iter().zip(s).map(|(row, s)| [row.as_slice(), &[*s]].concat()).collect();
        for i in 0..n {
            for j in 0..n {
                let factor = rows[j][i] / rows[i][i];
                if j != i {
                    (i..=n).for_each(|k| rows[j][k] -= factor * rows[i][k]);
                }
            }
        }
        (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
    }

    /// The regressions of a period of 4, from the normal equations written out.
    #[test]
    fn regressions_are_those_of_their_normal_equations() {
        let period = 4;
        let series: Vec<f64> =
            (0..90_usize).map(|t| [3.0, 7.0, 4.0, 1.0][t % 4] + (t * t % 11) as f64 * 0.3 + 0.02 * t as f64).collect();
        let scale = 1.7;
        let mut sets = LagSet::all(&[period], Detail::Light, 1, 0);
        let set = &mut sets[0];
        // Lags 1 … 10 at the distances 0 … 9, and 12 = 3·4 at 2; 2·4 ± 1 are near.
        let lags: Vec<usize> = (1..=10).chain([12]).collect();
        let distances: Vec<i32> = (0..=9).chain([2]).collect();
        assert_eq!(set.design.lags, lags);
        let n = 12;
        let value = |t: usize, lag: usize| t.checked_sub(lag).map(|i| series[i]);
        let anchor = |kind: usize, t: usize| -> f64 {
            match (kind, value(t, period), value(t, period + 1)) {
                (1, Some(season), _) => season,
                (2, Some(season), Some(before)) => series[t - 1] + season - before,
                (3, ..) => series[..t].iter().sum::<f64>() / t as f64,
                _ => series[t - 1],
            }
        };
        let row = |a: f64, t: usize| -> Vec<f64> {
            let lagged = lags
                .iter()
                .zip(&distances)
                .map(|(lag, distance)| value(t, *lag).map_or(0.0, |z| (z - a) / scale) * 0.8_f64.powi(*distance));
            std::iter::once(0.3).chain(lagged).collect()
        };
        let alphas = [1.0, 0.99];
        let mut normal = vec![(vec![vec![0.0; n]; n], vec![0.0; n]); 8];
        normal.iter_mut().for_each(|(v, _)| (0..n).for_each(|i| v[i][i] = 1.0));
        let (mut recent, mut mean) = (RecentRows::new(reach(&[period])), Mean::default());
        let mut scratch = ForecastScratch::default();
        for t in 0..series.len() {
            if t >= 2 {
                let view = View { recent: recent.rows(), mean: mean.value(), scale, bounds: (-1e9, 1e9) };
                let mut paths = [0.0; 8];
                set.forecast(|_| view, 1, &mut paths, &mut scratch);
                for (k, path) in paths.iter().enumerate() {
                    let (v, s) = &mut normal[k];
                    let (a, alpha) = (anchor(k / 2, t), alphas[k % 2]);
                    let x = row(a, t);
                    let theta = solve(v, s);
                    let expected = a + scale * theta.iter().zip(&x).map(|(c, x)| c * x).sum::<f64>();
                    assert!((path - expected).abs() < 1e-8, "row {t}, expert {k}: {path} {expected}");
                    let target = (series[t] - a) / scale;
                    for i in 0..n {
                        (0..n).for_each(|j| v[i][j] = alpha * (v[i][j] + x[i] * x[j]));
                        s[i] = alpha * (s[i] + x[i] * target);
                    }
                    v[(t - 2) % n][(t - 2) % n] += n as f64 * (1.0 - alpha);
                }
                set.learn(|_| view, &[series[t]], &mut scratch);
            }
            recent.push(series[t]);
            mean.push(series[t]);
        }
    }
}
