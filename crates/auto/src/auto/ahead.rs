//! Members that learn from every row alike, ahead of the windows: the grid and the linear members.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Gaussian;
use mercer_learners::{Error, Mixture, Regressor, RegressorExt, Rows, Scratch, learn_one_by_one};

use super::AutoParams;
use super::grid::{GridLearner, grid};
use super::linear::Linear;
use super::plan::Size;
use super::scales::{ScaledRow, ScaledRows};

/// Rows that these learn before the windows look at them.
pub(super) const PIECE: usize = 64;

/// Multiply-adds of blocks that count as one elsewhere, up to so many a row. Those of larger
/// dictionaries take longer, and fewer count as one.
const IN_BLOCKS: f64 = 4.0;
const QUICKEST: f64 = 800_000.0;
const OF_LARGE: f64 = 1.6;

/// Multiply-adds in blocks for so many elsewhere.
pub(super) fn in_blocks(budget: f64) -> f64 {
    (IN_BLOCKS * budget).min(QUICKEST).max(OF_LARGE * budget)
}

/// The grid and the linear members.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Ahead {
    pub(super) grid: Mixture<GridLearner<Gaussian>>,
    pub(super) linear: Linear,
    /// Predictions of the grid for a piece, and of all members together.
    #[cfg_attr(feature = "serde", serde(skip))]
    work: [Vec<f64>; 2],
}

/// Rows of scaled features with their targets; the features of `rows` are bent.
#[derive(Clone, Copy)]
pub(super) struct FeatureBlock<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) straight: &'a [f64],
}

impl<'a> FeatureBlock<'a> {
    fn width(&self) -> usize {
        if self.rows.is_empty() { 0 } else { self.straight.len() / self.rows.len() }
    }

    fn range(&self, from: usize, to: usize) -> Self {
        let d = self.width();
        Self { rows: self.rows.range(from, to), straight: &self.straight[from * d..to * d] }
    }

    /// Row `t`.
    pub(super) fn row(&self, t: usize) -> ScaledRow<'a> {
        let d = self.width();
        ScaledRow { straight: &self.straight[t * d..(t + 1) * d], bent: self.rows.input(t) }
    }
}

impl Ahead {
    /// Members that have room beside the windows, for scaled rows whose distances have the median
    /// `unit`.
    pub(super) fn new(
        shape: (usize, usize),
        unit: f64,
        rows: &ScaledRows,
        size: Size,
        params: AutoParams,
    ) -> Result<Self, Error> {
        let budget = in_blocks(size.share_ahead() * params.budget as f64);
        let (linear, cost) = Linear::new(shape, rows, budget)?;
        let members = grid(shape, unit, budget - cost)?;
        Ok(Self { grid: Mixture::new(members, params.rule)?.recovering(), linear, work: Default::default() })
    }

    /// Predictions of a row: the grid's, and each linear member's.
    pub(super) fn len(&self) -> usize {
        1 + self.linear.len()
    }

    /// `made ←` what each predicts, 0 where it is not `needed`.
    pub(super) fn predict(
        &self,
        row: ScaledRow<'_>,
        needed: impl Fn(usize) -> bool,
        scratch: &mut Scratch,
        made: &mut [f64],
    ) -> Result<(), Error> {
        made.fill(0.0);
        let (of_grid, of_linear) = made.split_at_mut(made.len() / self.len());
        if needed(0) {
            self.grid.predict_into(row.bent, scratch, of_grid)?;
        }
        if (1..self.len()).any(needed) {
            self.linear.predict(row, scratch, of_linear);
        }
        Ok(())
    }

    /// Learns a block, and predicts the rows that it learnt.
    fn learn(&mut self, block: FeatureBlock<'_>, made: &mut Vec<f64>) -> Result<(), Error> {
        let mut of_grid = std::mem::take(&mut self.work[0]);
        of_grid.clear();
        let learnt = match block.rows.len() {
            1 => learn_one_by_one(&mut self.grid, block.rows, &mut of_grid),
            _ => self.grid.learn_rows(block.rows, &mut of_grid),
        };
        let outputs = self.grid.outputs();
        let (rows, width) = (of_grid.len() / outputs, self.len() * outputs);
        made.clear();
        made.resize(rows * width, 0.0);
        if rows > 0 {
            let grids = made.chunks_exact_mut(width).zip(of_grid.chunks_exact(outputs));
            grids.for_each(|(made, of_grid)| made[..outputs].copy_from_slice(of_grid));
            let inputs = (0..rows).map(|t| block.row(t));
            self.linear.learn(inputs, block.rows.targets().range(0, rows), made, (outputs, width));
        }
        self.work[0] = of_grid;
        learnt
    }

    /// Learns rows in pieces of [`PIECE`], and hands the predictions of each row to `take`, in
    /// order; `beside`, it learns the next piece on a thread of its own meanwhile. The pieces are
    /// the same, so threads change no bit.
    pub(super) fn learn_in_pieces(
        &mut self,
        block: FeatureBlock<'_>,
        beside: bool,
        mut take: impl FnMut(&[f64]),
    ) -> Result<(), Error> {
        let (count, width) = (block.rows.len(), self.len() * self.grid.outputs());
        let pieces = (0..count).step_by(PIECE).map(|first| block.range(first, count.min(first + PIECE)));
        let mut take = |made: &[f64]| made.chunks_exact(width).for_each(&mut take);
        if !beside || count <= PIECE {
            let mut made = std::mem::take(&mut self.work[1]);
            let learnt = pieces.into_iter().try_for_each(|piece| {
                let learnt = self.learn(piece, &mut made);
                take(&made);
                learnt
            });
            self.work[1] = made;
            return learnt;
        }
        std::thread::scope(|scope| {
            // The one ahead need not wait, but the other is to have its rows in the cache still.
            let (send, receive) = std::sync::mpsc::sync_channel(2);
            scope.spawn(move || {
                for piece in pieces {
                    let mut made = Vec::new();
                    let learnt = self.learn(piece, &mut made);
                    let stop = learnt.is_err();
                    if send.send((made, learnt)).is_err() || stop {
                        break;
                    }
                }
            });
            receive.into_iter().try_for_each(|(made, learnt)| {
                take(&made);
                learnt
            })
        })
    }

    /// The window has a thread of its own.
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.grid.set_threads(threads.saturating_sub(1).max(1));
    }

    /// Features join that were 0 so far.
    pub(super) fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.grid.grow(added)?;
        self.linear.grow(added)
    }

    /// Gains an output, a copy of output `like` or zero. Nothing is changed where one cannot.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut grown = self.clone();
        grown.grid.add_output(like)?;
        grown.linear.add_output(like)?;
        *self = grown;
        Ok(())
    }

    /// True if it is of so many features and outputs.
    pub(super) fn fits(&self, width: usize, outputs: usize) -> bool {
        (self.grid.dimension(), self.grid.outputs()) == (width, outputs) && self.linear.fits(width, outputs)
    }
}

impl Validate for Ahead {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.grid.validate()?;
        self.linear.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_buys_no_less_in_blocks() {
        let budgets: Vec<f64> = (0..80).map(|k| 250.0 * 1.2_f64.powi(k)).collect();
        assert!(budgets.iter().map(|budget| in_blocks(*budget)).is_sorted());
        assert_eq!([1e4, 3e5, 1e6].map(in_blocks), [4e4, QUICKEST, 1.6e6]);
    }
}
