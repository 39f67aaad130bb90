//! Scores of a row that are frozen after the first rows: a change of the law moves one of them.
//!
//! | score | weight in all | it moves when |
//! |---|---|---|
//! | column `z_j` | .5 | the law of a column changes |
//! | residual `(Ωz)_j`, `Ω = (C + .1 I)⁻¹` | .15 | a column is no more what the others foretell |
//! | product `z_i z_j`, 256 pairs at most | .2 | two columns depend otherwise |
//! | mean distance to the 3 nearest, and density, of kept rows | .15 | rows come where none were |
//!
//! A column that was constant has its own score, all of these together that of one column. Scores
//! that followed the stream would break the promise: a rank is uniform because nothing but the
//! order of the rows is random.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Points;
use mercer_simd::{AlignedVec, Lane, Op, Simd, dispatch, exp_lane};

use crate::distances::smallest;
use crate::inverse::inverse;
use crate::random::Random;

/// Pairs at most.
const PAIRS: usize = 256;
/// Rows kept at most, for distances.
const KEPT: usize = 256;
/// Nearest rows whose distance counts.
const NEAREST: usize = 3;
/// Products are kept within `±FAR`.
const FAR: f64 = 1e100;

/// Kind of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ScoreKind {
    /// The law of a column.
    Column,
    /// A column given the others.
    Residual,
    /// Two columns together.
    Pair,
    /// A place where no rows were.
    Novelty,
}

mercer_core::names!(pub ScoreKind { Column = "column", Residual = "residual", Pair = "pair", Novelty = "novelty" });

/// A score: its kind, the columns that it is about, and its weight.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ScoreFacts {
    pub(crate) kind: ScoreKind,
    pub(crate) about: Vec<usize>,
    pub(crate) weight: f64,
}

/// The frozen scores.
///
/// # Invariants
/// `varying` are columns of a row; `precision` is `Ω` of these, column by column; `kept` holds rows
/// of them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FrozenScores {
    scales: Vec<(f64, f64)>,
    varying: Vec<usize>,
    quiet: Vec<usize>,
    precision: Vec<f64>,
    pairs: Vec<(usize, usize)>,
    kept: Points,
    width: f64,
    facts: Vec<ScoreFacts>,
    z: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    distances: AlignedVec,
}

impl FrozenScores {
    /// Scores of rows such as these; column `j` of them is about column `about[j]` of the stream.
    pub(crate) fn freeze(rows: &[Vec<f64>], about: &[usize], seed: u64) -> Self {
        let n = rows.len() as f64;
        let scale = |j: usize| {
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
            let square = rows.iter().map(|row| (row[j] - mean) * (row[j] - mean)).sum::<f64>() / n;
            (mean, square.sqrt() + 1e-12)
        };
        let is_quiet = |j: &usize| rows.iter().all(|row| row[*j] == rows[0][*j]);
        let (quiet, varying): (Vec<usize>, Vec<usize>) = (0..about.len()).partition(is_quiet);
        let mut scores = Self {
            scales: (0..about.len()).map(scale).collect(),
            precision: Vec::new(),
            pairs: Vec::new(),
            kept: Points::default(),
            width: 1.0,
            facts: Vec::new(),
            distances: AlignedVec::new(),
            z: vec![0.0; varying.len()],
            varying,
            quiet,
        };
        if scores.varying.len() > 1 {
            scores.fit(rows, seed);
        }
        scores.weigh(about);
        scores
    }

    /// What needs two columns.
    fn fit(&mut self, rows: &[Vec<f64>], seed: u64) {
        let (n, d) = (rows.len(), self.varying.len());
        let mut random = Random::new(seed, Random::PAIRS);
        let z: Vec<Vec<f64>> = rows.iter().map(|row| self.standardised(row)).collect();
        let rows = inverse(d, |i, j| {
            let sum: f64 = z.iter().map(|row| row[i] * row[j]).sum();
            sum / (n - 1) as f64 + if i == j { 0.1 } else { 0.0 }
        });
        self.precision = (0..d * d).map(|k| rows[k % d * d + k / d]).collect();
        self.pairs = (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))).collect();
        if self.pairs.len() > PAIRS {
            random.shuffle(&mut self.pairs);
            self.pairs.truncate(PAIRS);
        }
        let kept = &z[..(n / 2).clamp(1, KEPT)];
        self.kept = Points::from_rows(d, &kept.concat());
        let squares = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut all: Vec<f64> =
            kept.iter().enumerate().flat_map(|(i, a)| kept[..i].iter().map(move |b| squares(a, b))).collect();
        all.sort_unstable_by(f64::total_cmp);
        self.width = all.get(all.len() / 2).copied().unwrap_or(1.0) + 1e-9;
    }

    fn weigh(&mut self, about: &[usize]) {
        let (d, columns) = (self.varying.len(), self.varying.len() + usize::from(!self.quiet.is_empty()));
        let each = 0.5 / columns.max(1) as f64;
        let mut facts = Vec::new();
        let mut add = |kind, about: Vec<usize>, weight: f64| facts.push(ScoreFacts { kind, about, weight });
        self.varying.iter().for_each(|j| add(ScoreKind::Column, vec![about[*j]], each));
        if d > 1 {
            self.varying.iter().for_each(|j| add(ScoreKind::Residual, vec![about[*j]], 0.15 / d as f64));
            for (i, j) in &self.pairs {
                let both = vec![about[self.varying[*i]], about[self.varying[*j]]];
                add(ScoreKind::Pair, both, 0.2 / self.pairs.len() as f64);
            }
            (0..2).for_each(|_| add(ScoreKind::Novelty, Vec::new(), 0.075));
        }
        let quiet = each / self.quiet.len().max(1) as f64;
        self.quiet.iter().for_each(|j| add(ScoreKind::Column, vec![about[*j]], quiet));
        let sum: f64 = facts.iter().map(|score| score.weight).sum();
        facts.iter_mut().for_each(|score| score.weight /= sum);
        self.facts = facts;
    }

    fn standardised(&self, row: &[f64]) -> Vec<f64> {
        let one = |j: &usize| (row[*j] - self.scales[*j].0) / self.scales[*j].1;
        self.varying.iter().map(one).collect()
    }

    pub(crate) fn facts(&self) -> &[ScoreFacts] {
        &self.facts
    }

    /// Appends the scores of a row: `O(d² + 256 d)`.
    pub(crate) fn score(&mut self, row: &[f64], scores: &mut Vec<f64>) {
        let Self { scales, varying, quiet, precision, pairs, kept, width, distances, z, .. } = self;
        let d = varying.len();
        for (z, j) in z.iter_mut().zip(&*varying) {
            *z = (row[*j] - scales[*j].0) / scales[*j].1;
        }
        scores.extend_from_slice(z);
        if d > 1 {
            let first = scores.len();
            scores.resize(first + d, 0.0);
            dispatch(Residuals { precision, z, residuals: &mut scores[first..] });
            scores.extend(pairs.iter().map(|(i, j)| (z[*i] * z[*j]).clamp(-FAR, FAR)));
            kept.squared_distances(z, distances);
            let nearest = smallest::<NEAREST>(distances);
            let found = NEAREST.min(kept.len());
            let mean = nearest[..found].iter().map(|(distance, _)| distance).sum::<f64>() / found as f64;
            dispatch(Nearness { width: *width, distances: distances.lanes_mut() });
            scores.extend([mean.sqrt().min(FAR), -distances.iter().sum::<f64>() / kept.len() as f64]);
        }
        scores.extend(quiet.iter().map(|j| row[*j]));
    }
}

/// `residuals ← Ωz`, each a sum in the order of the columns.
struct Residuals<'a> {
    precision: &'a [f64],
    z: &'a [f64],
    residuals: &'a mut [f64],
}

impl Op for Residuals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (column, z) in self.precision.chunks_exact(self.z.len()).zip(self.z) {
            self.residuals.iter_mut().zip(column).for_each(|(sum, p)| *sum += p * z);
        }
    }
}

/// `s ← exp(−s/width)` of squared distances.
struct Nearness<'a> {
    width: f64,
    distances: &'a mut [Lane],
}

impl Op for Nearness<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (width, most) = (simd.splat(self.width), simd.splat(700.0));
        for lane in self.distances {
            let far = simd.div(simd.load(lane), width);
            let far = simd.select_less(far, most, far, most);
            simd.store(exp_lane(simd, simd.sub(simd.splat(0.0), far)), lane);
        }
    }
}

impl Validate for FrozenScores {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "frozen scores";
        let (d, all) = (self.varying.len(), self.scales.len());
        self.scales.validate()?;
        self.precision.validate()?;
        self.kept.validate()?;
        let columns = self.varying.iter().chain(&self.quiet).all(|j| *j < all) && d + self.quiet.len() == all;
        Inconsistent::require(columns, WHAT, "each column varies or does not")?;
        let several = d > 1;
        let pairs = self.pairs.iter().all(|(i, j)| *i < d && *j < d) && self.pairs.len() <= PAIRS;
        let sizes = self.precision.len() == if several { d * d } else { 0 }
            && self.kept.dimension() == if several { d } else { 0 }
            && self.kept.is_empty() != several
            && self.z.len() == d;
        Inconsistent::require(pairs && sizes && self.width > 0.0, WHAT, "they have the columns that vary")?;
        let count = all + if several { d + self.pairs.len() + 2 } else { 0 };
        let facts = self.facts.len() == count && self.facts.iter().all(|score| score.weight >= 0.0);
        Inconsistent::require(facts, WHAT, "each has a weight")
    }
}
