//! Sums over contiguous blocks of pairs: all that is kept of the data.
//!
//! `G = Σ φφᵀ`, `A = Σ φψᵀ` and the diagonal of `C = Σ ψψᵀ` for features `φ` of `x` and `ψ` of
//! `x⁺`, `B = Σ φ₋ψᵀ` where the pair before, of the features `φ₋`, led to `x`, and `Σ φ(x_t)
//! φ(x_{t+k})ᵀ` at two lags `k`. A score on held-out pairs and a jackknife need no data, only the
//! sums of each block.

use std::borrow::Cow;

use mercer_core::{Inconsistent, Validate};
use mercer_linalg_incremental::Matrix;

/// Blocks are merged in pairs when there are more.
pub(crate) const MOST_BLOCKS: usize = 16;

/// `G`, `A`, `B`, the diagonal of `C` and the products at two lags of some pairs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Sums {
    pub(crate) gram: Matrix,
    pub(crate) cross: Matrix,
    /// `B`, without columns where `x` carries inputs.
    pub(crate) lagged: Matrix,
    pub(crate) squares: Vec<f64>,
    /// `Σ φ(x_t)φ(x_{t+k})ᵀ` at the lags `L` and `2L`, without columns where `x` carries inputs.
    pub(crate) lag_sums: [Matrix; 2],
    /// Weight of the pairs in `B`.
    pub(crate) lags: f64,
    /// Weight of the pairs in the products at each lag.
    pub(crate) lag_weights: [f64; 2],
    /// Weight and number of the pairs in all; parts of them after a retraction.
    pub(crate) weight: f64,
    pub(crate) rows: f64,
}

impl Validate for Sums {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of an operator";
        for matrix in [&self.gram, &self.cross, &self.lagged, &self.lag_sums[0], &self.lag_sums[1]] {
            matrix.values().validate()?;
            let fits = matrix.rows().checked_mul(matrix.columns()) == Some(matrix.values().len());
            Inconsistent::require(fits, WHAT, "a matrix has all its entries")?;
        }
        self.squares.validate()?;
        ((self.weight, self.rows), self.lags).validate()?;
        self.lag_weights.iter().try_for_each(Validate::validate)?;
        let (p, q) = self.shape();
        let of = |matrix: &Matrix| (matrix.rows(), matrix.columns());
        let lagged = |matrix: &Matrix| of(matrix) == (p, lagged(p, q));
        let along = lagged(&self.lagged) && self.lag_sums.iter().all(lagged);
        let fits = of(&self.gram) == (p, p) && of(&self.cross) == (p, q) && along;
        Inconsistent::require(fits, WHAT, "a row for each feature")
    }
}

/// Some blocks, whose sum is made only while it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a>(pub(crate) Vec<&'a Sums>);

impl<'a> Group<'a> {
    /// Their sum; a block alone is not copied.
    pub(crate) fn sums(&self) -> Cow<'a, Sums> {
        let mut sums = Cow::Owned(Sums::new(0, 0));
        for (i, block) in self.0.iter().enumerate() {
            if i == 0 { sums = Cow::Borrowed(*block) } else { sums.to_mut().add(1.0, block) }
        }
        sums
    }

    /// Pairs in them.
    pub(crate) fn rows(&self) -> f64 {
        self.0.iter().map(|block| block.rows).sum()
    }
}

/// The sums of all groups.
pub(crate) fn sum(groups: &[Group<'_>]) -> Sums {
    let mut groups = groups.iter();
    let mut total = groups.next().map_or_else(|| Sums::new(0, 0), |group| group.sums().into_owned());
    groups.for_each(|group| total.add(1.0, &group.sums()));
    total
}

/// Columns of `B`.
fn lagged(p: usize, q: usize) -> usize {
    if p == q { q } else { 0 }
}

impl Sums {
    /// None yet, of `p` features of `x` and `q` of `x⁺`.
    pub(crate) fn new(p: usize, q: usize) -> Self {
        let (gram, cross, lagged) = (Matrix::zeros(p, p), Matrix::zeros(p, q), Matrix::zeros(p, lagged(p, q)));
        let lag_sums = [lagged.clone(), lagged.clone()];
        let (squares, lag_weights) = (vec![0.0; q], [0.0; 2]);
        Self { gram, cross, lagged, lag_sums, squares, lags: 0.0, lag_weights, weight: 0.0, rows: 0.0 }
    }

    /// Numbers of `φ` and `ψ`.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.gram.rows(), self.squares.len())
    }

    /// Those of the first `count` features, which `x` and `x⁺` share.
    pub(crate) fn leading(&self, count: usize) -> Self {
        let part = |matrix: &Matrix| Matrix::from_fn(count, count, |i, j| matrix.entry(i, j));
        Self {
            gram: part(&self.gram),
            cross: part(&self.cross),
            lagged: part(&self.lagged),
            lag_sums: self.lag_sums.each_ref().map(part),
            squares: self.squares[..count].to_vec(),
            ..*self
        }
    }

    fn matrices(&mut self) -> [&mut Matrix; 5] {
        let [near, far] = &mut self.lag_sums;
        [&mut self.gram, &mut self.cross, &mut self.lagged, near, far]
    }

    /// Adds `factor` times other sums of the same features. `O(p²)`.
    pub(crate) fn add(&mut self, factor: f64, other: &Self) {
        let [near, far] = &other.lag_sums;
        let others = [&other.gram, &other.cross, &other.lagged, near, far];
        self.matrices().into_iter().zip(others).for_each(|(ours, theirs)| add(ours, factor, theirs));
        self.squares.iter_mut().zip(&other.squares).for_each(|(ours, theirs)| *ours += factor * theirs);
        self.weight += factor * other.weight;
        self.lags += factor * other.lags;
        self.lag_weights.iter_mut().zip(other.lag_weights).for_each(|(ours, theirs)| *ours += factor * theirs);
        self.rows += factor * other.rows;
    }

    /// Weighs all pairs `factor` times as much.
    pub(crate) fn fade(&mut self, factor: f64) {
        for matrix in self.matrices() {
            scale(matrix, factor);
        }
        self.squares.iter_mut().for_each(|square| *square *= factor);
        self.weight *= factor;
        self.lags *= factor;
        self.lag_weights.iter_mut().for_each(|weight| *weight *= factor);
    }

    /// Makes room for features that were near 0 on all pairs so far.
    fn widen(&mut self, p: usize, q: usize) {
        self.gram = widened(&self.gram, p, p);
        self.cross = widened(&self.cross, p, q);
        self.lagged = widened(&self.lagged, p, lagged(p, q));
        self.lag_sums.iter_mut().for_each(|sum| *sum = widened(sum, p, lagged(p, q)));
        self.squares.resize(q, 0.0);
    }
}

pub(crate) fn add(to: &mut Matrix, factor: f64, other: &Matrix) {
    for j in 0..to.columns() {
        to.column_mut(j).iter_mut().zip(other.column(j)).for_each(|(ours, theirs)| *ours += factor * theirs);
    }
}

pub(crate) fn scale(matrix: &mut Matrix, factor: f64) {
    for j in 0..matrix.columns() {
        matrix.column_mut(j).iter_mut().for_each(|entry| *entry *= factor);
    }
}

/// The matrix with zeros behind its rows and columns.
pub(crate) fn widened(matrix: &Matrix, rows: usize, columns: usize) -> Matrix {
    let (r, c) = (matrix.rows(), matrix.columns());
    Matrix::from_fn(rows, columns, |i, j| if i < r && j < c { matrix.entry(i, j) } else { 0.0 })
}

/// The sums of a stream, cut into contiguous blocks of equal length, at most [`MOST_BLOCKS`].
///
/// # Invariants
/// All blocks have the same shape; there is at least one; every one but the last is full unless it
/// came by a merge.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Blocks {
    blocks: Vec<Sums>,
    length: f64,
}

impl Validate for Blocks {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "blocks of sums";
        self.blocks.validate()?;
        Inconsistent::positive(self.length, WHAT)?;
        let alike = self.blocks.windows(2).all(|pair| pair[0].shape() == pair[1].shape());
        let counted = (1..=MOST_BLOCKS).contains(&self.blocks.len());
        Inconsistent::require(alike && counted, WHAT, "some of them, all of one shape")
    }
}

impl Blocks {
    /// Blocks of `length` pairs to begin with.
    pub(crate) fn new(p: usize, q: usize, length: usize) -> Self {
        Self { blocks: vec![Sums::new(p, q)], length: length as f64 }
    }

    /// Numbers of `φ` and `ψ`.
    pub(crate) fn shape(&self) -> (usize, usize) {
        self.blocks[0].shape()
    }

    /// Fits the sums to more features.
    pub(crate) fn widen(&mut self, p: usize, q: usize) {
        self.blocks.iter_mut().for_each(|block| block.widen(p, q));
    }

    /// The block that the next pairs belong to. Pairs that come together belong to one block.
    pub(crate) fn last(&mut self) -> &mut Sums {
        let (p, q) = self.shape();
        if self.blocks.last().is_none_or(|block| block.rows >= self.length) {
            if self.blocks.len() == MOST_BLOCKS {
                self.halve();
            }
            self.blocks.push(Sums::new(p, q));
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    fn halve(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks).into_iter();
        while let Some(mut block) = blocks.next() {
            if let Some(other) = blocks.next() {
                block.add(1.0, &other);
            }
            self.blocks.push(block);
        }
        self.length *= 2.0;
    }

    /// Weighs all pairs so far `factor` times as much.
    pub(crate) fn fade(&mut self, factor: f64) {
        self.blocks.iter_mut().for_each(|block| block.fade(factor));
    }

    /// Appends the blocks of other pairs, of the same features.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.blocks.extend(other.blocks.iter().cloned());
        self.length = self.length.max(other.length);
        while self.blocks.len() > MOST_BLOCKS {
            self.halve();
        }
    }

    /// Takes sums back: from each block by its share of the weight, since where they were is not
    /// known.
    pub(crate) fn retract(&mut self, other: &Self) {
        let (taken, weight) = (other.total(), self.total().weight);
        for block in &mut self.blocks {
            block.add(-block.weight / weight, &taken);
        }
    }

    pub(crate) fn total(&self) -> Sums {
        let (p, q) = self.shape();
        let mut total = Sums::new(p, q);
        self.blocks.iter().for_each(|block| total.add(1.0, block));
        total
    }

    /// The blocks in at most `most` contiguous groups of about equal weight.
    pub(crate) fn groups(&self, most: usize) -> Vec<Group<'_>> {
        let weight: f64 = self.blocks.iter().map(|block| block.weight).sum();
        let mut groups: Vec<Group<'_>> = Vec::with_capacity(most);
        let mut before = 0.0;
        for block in self.blocks.iter().filter(|block| block.weight > 0.0) {
            // The group in which the middle of the block falls.
            let middle = (before + 0.5 * block.weight) / weight;
            before += block.weight;
            if groups.is_empty() || middle * most as f64 >= groups.len() as f64 {
                groups.push(Group(vec![block]));
            } else if let Some(Group(blocks)) = groups.last_mut() {
                blocks.push(block);
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_rows(blocks: &mut Blocks, count: usize) {
        for _ in 0..count {
            let block = blocks.last();
            let one = Matrix::from_fn(1, 1, |_, _| 1.0);
            block.matrices().into_iter().for_each(|sum| add(sum, 1.0, &one));
            block.squares[0] += 1.0;
            (block.weight, block.rows) = (block.weight + 1.0, block.rows + 1.0);
        }
    }

    #[test]
    fn full_blocks_merge_in_pairs_and_nothing_is_lost() {
        let mut blocks = Blocks::new(1, 1, 2);
        with_rows(&mut blocks, 75);
        let rows: Vec<f64> = blocks.blocks.iter().map(|block| block.rows).collect();
        assert_eq!(rows, [8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 3.0]);
        assert!(blocks.validate().is_ok());
        let total = blocks.total();
        assert_eq!((total.weight, total.gram.entry(0, 0)), (75.0, 75.0));
        let groups = blocks.groups(4);
        assert_eq!(groups.iter().map(Group::rows).sum::<f64>(), 75.0);
        assert_eq!(groups.len(), 4);
        let mut both = blocks.clone();
        both.merge(&blocks);
        assert_eq!((both.total().weight, both.blocks.len()), (150.0, 10));
        both.retract(&blocks);
        assert!((both.total().weight - 75.0).abs() < 1e-12);
    }

    #[test]
    fn what_fades_counts_less_but_was_seen() {
        let mut blocks = Blocks::new(1, 1, 4);
        with_rows(&mut blocks, 4);
        blocks.fade(0.5);
        let total = blocks.total();
        assert_eq!((total.weight, total.rows, total.squares[0]), (2.0, 4.0, 2.0));
    }
}
