//! The factor itself: what is stored of `R` and `U`, and the passes over it.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, dispatch, dot};

use super::outputs::{Coefficients, Outputs, groups, split_output};
use super::rotations::Turn;
use super::sweep::{FactorSweep, Passing, RowResult, Solve, SweepPrediction, WaitingRow};
use super::{Moving, SquareRootScratch};
use crate::tiles::{Tile, ZERO_TILE, are_blocks, split};

/// Squares of rows and sums of squares stay below this, so that no product of two intermediate
/// numbers overflows.
const LARGEST_SQUARE: f64 = 1e250;

/// Up to this ratio of the trace of `V` to its least pivot, rounding cannot make `τ` grow by
/// itself: the ratio of what is lost in an entry of the row to the pivot that it meets, squared, is
/// about `1e-32` times this. Beyond it a step is checked after it was made.
const TAME: f64 = 1e30;

/// `R = D^{½}L` as inverse pivots `1/d_j` and rows `l_j`, and the rows `c_j` of `D^{−½}U`.
///
/// Block `b` of eight rows holds its tiles of eight columns from the diagonal on, row by row; the
/// `c_j` beside it in tiles of eight rows and four outputs. A pass reads and writes memory front to
/// back.
///
/// # Invariants
/// `L` is upper triangular with unit diagonal. Rows past `n` are those of the identity, columns
/// past `n` and outputs past `m` are zero. `largest` bounds the trace of `V` and `Σ‖y‖²`,
/// `smallest` the least eigenvalue of `V` from below, `steepest` the inverse pivots.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "super::stored::StoredFactor", into = "super::stored::StoredFactor"))]
pub(super) struct Factor {
    pub(super) n: usize,
    pub(super) m: usize,
    pub(super) tiles: Vec<Tile>,
    pub(super) inverse_pivots: AlignedVec,
    pub(super) coefficients: Vec<Coefficients>,
    pub(super) largest: [f64; 2],
    pub(super) smallest: f64,
    pub(super) steepest: f64,
}

/// A calm row that is learnt but not yet in the factor, and what it makes of each block.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingRow {
    pub(super) row: Moving,
    turns: Vec<Turn>,
}

/// Outlook on adding a row, from bounds that cost `O(n)`.
pub(super) struct Outlook {
    /// Bounds `1 + φᵀV⁻¹φ`.
    pub(super) tau: f64,
    /// Value that `largest` takes.
    pub(super) largest: [f64; 2],
    /// True if sums of squares stay in range.
    pub(super) fits: bool,
    /// True if everything does, for certain.
    pub(super) tame: bool,
}

impl Validate for Factor {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "square-root factor";
        Inconsistent::size(self.n, WHAT)?;
        Inconsistent::size(self.m, WHAT)?;
        self.inverse_pivots.validate()?;
        let blocks = self.blocks();
        let whole = self.m > 0
            && are_blocks(self.tiles.len(), blocks)
            && self.coefficients.len() == blocks * groups(self.m)
            && self.inverse_pivots.len() == blocks * LANES;
        Inconsistent::require(whole, WHAT, "it has one number for each entry, and outputs beside it")?;
        self.tiles.as_flattened().validate()?;
        self.coefficients.iter().flat_map(|c| c.0.as_flattened()).try_for_each(Validate::validate)?;
        self.largest.validate()?;
        self.smallest.validate()?;
        let positive = self.inverse_pivots.iter().all(|inverse| *inverse > 0.0) && self.smallest >= 0.0;
        Inconsistent::require(positive, WHAT, "its pivots are positive")?;
        for i in 0..blocks * LANES {
            let (b, row) = split(i);
            let diagonal = &self.tiles[self.block_start(b)][row].0;
            let unit = diagonal[row] == 1.0 && diagonal[..row].iter().all(|value| *value == 0.0);
            Inconsistent::require(unit, WHAT, "it is triangular with a unit diagonal")?;
        }
        Ok(())
    }
}

impl Factor {
    pub(super) fn new(prior: &[f64], m: usize) -> Self {
        let n = prior.len();
        let blocks = n.div_ceil(LANES);
        let mut factor = Self {
            n,
            m,
            tiles: vec![ZERO_TILE; blocks * (blocks + 1) / 2],
            inverse_pivots: AlignedVec::zeros(blocks * LANES),
            coefficients: vec![Coefficients::ZERO; blocks * groups(m)],
            largest: [0.0; 2],
            smallest: 0.0,
            steepest: 1.0,
        };
        factor.restart(prior);
        factor
    }

    pub(super) fn restart(&mut self, prior: &[f64]) {
        self.tiles.fill(ZERO_TILE);
        self.coefficients.fill(Coefficients::ZERO);
        for i in 0..self.inverse_pivots.len() {
            let (b, row) = split(i);
            let diagonal = self.block_start(b);
            self.tiles[diagonal][row].0[row] = 1.0;
            self.inverse_pivots[i] = prior.get(i).map_or(1.0, |p| 1.0 / p);
        }
        self.largest = [prior.iter().sum(), 0.0];
        self.smallest = prior.iter().copied().fold(f64::INFINITY, f64::min);
        self.bound_pivots();
    }

    pub(super) fn scale(&mut self, factor: f64, least_pivot: f64) {
        for inverse in &mut self.inverse_pivots[..self.n] {
            *inverse = (*inverse / factor).min(1.0 / least_pivot);
        }
        self.bound_pivots();
        // A pivot that was lifted adds to the trace.
        let lifted = self.n as f64 * least_pivot;
        self.largest = [self.largest[0] * factor + lifted, self.largest[1] * factor];
        self.smallest *= factor;
    }

    fn blocks(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// Index of the first tile of block `b`, the one on the diagonal: blocks `0, 1, …` hold
    /// `B, B − 1, …` tiles.
    fn block_start(&self, b: usize) -> usize {
        b * self.blocks() - b * b.saturating_sub(1) / 2
    }

    /// `L[i, j]`, zero below the diagonal.
    pub(super) fn unit_entry(&self, i: usize, j: usize) -> f64 {
        let ((b, row), (q, column)) = (split(i), split(j));
        if j < i { 0.0 } else { self.tiles[self.block_start(b) + q - b][row].0[column] }
    }

    /// `c_i` of one output.
    pub(super) fn coefficient(&self, i: usize, output: usize) -> f64 {
        let ((b, row), (o, place)) = (split(i), split_output(output));
        self.coefficients[b * groups(self.m) + o].0[row][place]
    }

    /// `1/√d_i`
    pub(super) fn inverse_root(&self, i: usize) -> f64 {
        self.inverse_pivots[i].sqrt()
    }

    pub(super) fn log_determinant(&self, leading: usize) -> f64 {
        -self.inverse_pivots[..leading].iter().map(|inverse| inverse.ln()).sum::<f64>()
    }

    pub(super) fn outlook(&self, row: &AlignedVec, outputs: &[f64]) -> Outlook {
        let squares = [dot(row.lanes(), row.lanes()), outputs.iter().map(|y| y * y).sum::<f64>()];
        let largest = [self.largest[0] + squares[0], self.largest[1] + squares[1]];
        let tau = squares[0] / self.smallest;
        let fits = largest[0] < LARGEST_SQUARE && largest[1] < LARGEST_SQUARE;
        let tame = fits && tau < LARGEST_SQUARE && largest[0] * self.steepest < TAME;
        Outlook { tau, largest, fits, tame }
    }

    /// Adding rows makes no pivot smaller; everything else calls this.
    pub(super) fn bound_pivots(&mut self) {
        self.steepest = self.inverse_pivots.iter().copied().fold(0.0, f64::max);
    }

    /// Takes over the bound of the outlook, once the row is learnt.
    pub(super) fn bound(&mut self, largest: [f64; 2]) {
        self.largest = largest;
    }

    pub(super) fn has_shape_of(&self, other: &Self) -> bool {
        (self.n, self.m) == (other.n, other.m)
    }

    /// Becomes `other` of the same shape.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.tiles.copy_from_slice(&other.tiles);
        self.inverse_pivots.copy_from_slice(&other.inverse_pivots);
        self.coefficients.copy_from_slice(&other.coefficients);
        (self.largest, self.smallest, self.steepest) = (other.largest, other.smallest, other.steepest);
    }

    /// True if squares of all numbers, and of a prediction, are numbers.
    pub(super) fn is_in_range(&self, prediction: &[Outputs]) -> bool {
        let root = LARGEST_SQUARE.sqrt();
        let within = |numbers: &[f64]| numbers.iter().all(|x| x.abs() < root);
        let pivots = self.inverse_pivots.iter().all(|e| (1.0 / LARGEST_SQUARE..LARGEST_SQUARE).contains(e));
        pivots
            && within(prediction.as_flattened())
            && self.coefficients.iter().all(|c| within(c.0.as_flattened()))
            && self.tiles.as_flattened().iter().all(|lane| within(&lane.0))
    }

    /// Eliminates the row of the scratch memory with the leading block, leaving the prediction
    /// there.
    pub(super) fn solve(
        &self,
        waiting: Option<&PendingRow>,
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> RowResult {
        let SquareRootScratch { row, waiting: moving, prediction, .. } = scratch;
        let waiting = waiting.map(|waiting| WaitingRow { row: moving.started(&waiting.row), turns: &waiting.turns });
        self.elimination(waiting, row, None, prediction.caught_at(leading))
    }

    /// The same with the whole factor, and the row becomes one that waits if it is calm.
    pub(super) fn solve_to_wait(
        &self,
        waiting: &mut PendingRow,
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> RowResult {
        let SquareRootScratch { row, prediction, .. } = scratch;
        waiting.row.assign(row);
        waiting.turns.resize(self.blocks(), Turn::NONE);
        self.elimination(None, row, Some(&mut waiting.turns), prediction.caught_at(leading))
    }

    fn elimination(
        &self,
        waiting: Option<WaitingRow<'_>>,
        row: &mut Moving,
        turns: Option<&mut [Turn]>,
        prediction: SweepPrediction<'_>,
    ) -> RowResult {
        dispatch(Solve {
            tiles: &self.tiles,
            blocks: self.blocks(),
            inverse_pivots: self.inverse_pivots.lanes(),
            coefficients: &self.coefficients,
            waiting,
            entries: row.entries.lanes_mut(),
            turns,
            prediction,
        })
    }

    /// Adds (`sign = 1`) or takes back (`sign = −1`) the row of the scratch memory, after the one
    /// that waits, which is used up.
    pub(super) fn sweep(
        &mut self,
        waiting: Option<&mut PendingRow>,
        sign: f64,
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> RowResult {
        let row = scratch.row.passing();
        let prediction = scratch.prediction.caught_at(leading);
        match waiting {
            None => self.pass([row], &[], sign, prediction),
            Some(waiting) => self.pass([waiting.row.passing(), row], &waiting.turns, sign, prediction),
        }
    }

    fn pass<const N: usize>(
        &mut self,
        rows: [Passing<'_>; N],
        turns: &[Turn],
        sign: f64,
        prediction: SweepPrediction<'_>,
    ) -> RowResult {
        dispatch(FactorSweep {
            tiles: &mut self.tiles,
            inverse_pivots: self.inverse_pivots.lanes_mut(),
            coefficients: &mut self.coefficients,
            rows,
            turns,
            sign,
            prediction,
        })
    }
}
