//! The two passes of square-root least squares: one that reads, one that reads and writes.

use mercer_simd::{LANES, Lane, Op, Simd};

use super::outputs::{Coefficients, Outputs};
use super::rotations::{BlockRotations, TILES_TOGETHER, Taus, Turn, substitute};
use crate::tiles::{Tile, split};

/// Tiles that a second level of cache keeps where registers are few.
const SECOND_CACHE: usize = 1 << 10;

/// A row on its way through the factor: what is left of its entries and of its outputs.
pub(super) struct Passing<'a> {
    pub(super) entries: &'a mut [Lane],
    pub(super) outputs: &'a mut [Outputs],
}

/// The prediction, and that of a leading block caught on the way.
pub(super) struct SweepPrediction<'a> {
    /// Coordinates of the leading block.
    pub(super) leading: usize,
    /// `Σ p_k c_k` over the rows of the factor passed.
    pub(super) sums: &'a mut [Outputs],
    /// The sums where the leading block ends.
    pub(super) at_leading: &'a mut [Outputs],
}

/// Result of a pass for its last row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowResult {
    /// `τ` of the leading block, as it was before.
    pub(super) tau: f64,
    /// True if no rotation is steep.
    pub(super) calm: bool,
}

/// A calm row that waits, and what it makes of the factor.
pub(super) struct WaitingRow<'a> {
    pub(super) row: Passing<'a>,
    /// One for each block.
    pub(super) turns: &'a [Turn],
}

/// Forward elimination of a row with the leading block, changing nothing. A row that waits counts
/// as added.
pub(super) struct Solve<'a> {
    pub(super) tiles: &'a [Tile],
    /// Blocks of the whole factor.
    pub(super) blocks: usize,
    pub(super) inverse_pivots: &'a [Lane],
    pub(super) coefficients: &'a [Coefficients],
    pub(super) waiting: Option<WaitingRow<'a>>,
    /// As many lanes as the leading block has.
    pub(super) entries: &'a mut [Lane],
    /// Changes that the row would make to each block, if they are wanted.
    pub(super) turns: Option<&'a mut [Turn]>,
    pub(super) prediction: SweepPrediction<'a>,
}

impl Op for Solve<'_> {
    type Output = RowResult;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> RowResult {
        let Self { mut tiles, blocks, inverse_pivots, coefficients, mut waiting, entries, mut turns, mut prediction } =
            self;
        let outputs = prediction.sums.len();
        let (mut tau, mut tau_at_leading, mut calm) = (1.0, None, true);
        // With registers for few tiles at a time, what waits for the third level of cache is too
        // little to keep it busy.
        let far = S::REGISTERS <= LANES && tiles.len() > SECOND_CACHE;
        for b in 0..entries.len() {
            let (block, rest) = tiles.split_at(blocks - b);
            tiles = rest;
            let coefficients = &coefficients[b * outputs..(b + 1) * outputs];
            let (p, pivots) = match &mut waiting {
                None => {
                    let p = substitute(&block[0], entries[b]);
                    eliminate(simd, &p, &block[1..], &mut entries[b + 1..], far);
                    for (o, c) in coefficients.iter().enumerate() {
                        prediction.pass(simd, (b, o), &p, c);
                    }
                    (p, &inverse_pivots[b])
                }
                // What the waiting row makes of a tile is formed on the way and forgotten.
                Some(WaitingRow { row: waiting, turns }) => {
                    let turn = &turns[b];
                    let mut diagonal = block[0];
                    turn.rotate_diagonal(simd, &mut diagonal, &waiting.entries[b]);
                    let p = substitute(&diagonal, entries[b]);
                    for (i, tile) in (b + 1..entries.len()).zip(&block[1..]) {
                        let mut tile = *tile;
                        turn.rotate(simd, &mut tile, &mut waiting.entries[i]);
                        eliminate(simd, &p, std::slice::from_ref(&tile), std::slice::from_mut(&mut entries[i]), false);
                    }
                    for (o, c) in coefficients.iter().enumerate() {
                        let mut c = *c;
                        turn.rotate_outputs(simd, &mut c, &mut waiting.outputs[o]);
                        prediction.pass(simd, (b, o), &p, &c);
                    }
                    (p, &turn.inverse_pivots)
                }
            };
            let taus = match &mut turns {
                None => Taus::new(tau, 1.0, &p, pivots),
                Some(turns) => {
                    let rotations = BlockRotations::new(simd, tau, 1.0, p, pivots);
                    turns[b] = rotations.turn;
                    rotations.taus
                }
            };
            if b == split(prediction.leading).0 {
                tau_at_leading = Some(taus.at(prediction.leading));
            }
            calm &= !taus.are_steep();
            tau = taus.last();
        }
        RowResult { tau: tau_at_leading.unwrap_or_else(|| prediction.at_end(tau)), calm }
    }
}

/// Adds (`sign = 1`) or takes back (`sign = −1`) a row of the whole factor; if `N = 2`, after one
/// that waits.
pub(super) struct FactorSweep<'a, const N: usize> {
    pub(super) tiles: &'a mut [Tile],
    pub(super) inverse_pivots: &'a mut [Lane],
    pub(super) coefficients: &'a mut [Coefficients],
    /// The one that waits first.
    pub(super) rows: [Passing<'a>; N],
    /// Changes that the row which waits makes to each block.
    pub(super) turns: &'a [Turn],
    pub(super) sign: f64,
    pub(super) prediction: SweepPrediction<'a>,
}

impl<const N: usize> Op for FactorSweep<'_, N> {
    type Output = RowResult;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> RowResult {
        let Self { tiles, inverse_pivots, coefficients, mut rows, turns, sign, mut prediction } = self;
        let (blocks, outputs) = (inverse_pivots.len(), prediction.sums.len());
        // Rows of the factor that come before the first entry of each row stay as they are.
        let first_entry = |row: &Passing<'_>| row.entries.iter().position(|lane| *lane != Lane::ZERO);
        let first = rows.iter().filter_map(first_entry).min().unwrap_or(blocks);
        let (_, mut tiles) = tiles.split_at_mut(first * (2 * blocks + 1 - first) / 2);
        let mut tau_at_leading = (prediction.leading < first * LANES).then_some(1.0);
        let (mut tau, mut calm) = (1.0, true);
        for b in first..blocks {
            let (block, rest) = tiles.split_at_mut(blocks - b);
            tiles = rest;
            let Some((diagonal, others)) = block.split_first_mut() else { break };
            let mut waiting = &Turn::NONE;
            if N == 2 {
                waiting = &turns[b];
                waiting.rotate_diagonal(simd, diagonal, &rows[0].entries[b]);
                inverse_pivots[b] = waiting.inverse_pivots;
            }
            let residual = &mut rows[N - 1].entries[b];
            let now = BlockRotations::new(simd, tau, sign, substitute(diagonal, *residual), &inverse_pivots[b]);
            now.rotate_diagonal(simd, diagonal, residual);
            inverse_pivots[b] = now.turn.inverse_pivots;
            now.rotate(simd, waiting, others, rows.each_mut().map(|row| &mut row.entries[b + 1..]));
            let coefficients = &mut coefficients[b * outputs..(b + 1) * outputs];
            for (o, c) in coefficients.iter_mut().enumerate() {
                if N == 2 {
                    waiting.rotate_outputs(simd, c, &mut rows[0].outputs[o]);
                }
                prediction.catch(simd, (b, o), &now.turn.p, c);
                now.rotate_outputs(simd, c, &mut rows[N - 1].outputs[o], &mut prediction.sums[o]);
            }
            if b == split(prediction.leading).0 {
                tau_at_leading = Some(now.taus.at(prediction.leading));
            }
            calm &= !now.steep;
            tau = now.taus.last();
        }
        RowResult { tau: tau_at_leading.unwrap_or_else(|| prediction.at_end(tau)), calm }
    }
}

impl SweepPrediction<'_> {
    /// In the block where the leading block ends, its prediction.
    #[inline(always)]
    fn catch<S: Simd>(&mut self, simd: S, (b, o): (usize, usize), p: &Lane, c: &Coefficients) {
        let (last, rows) = split(self.leading);
        if b == last {
            self.at_leading[o] = self.sums[o];
            c.add_rows(simd, p, rows, &mut self.at_leading[o]);
        }
    }

    /// The same, and the row goes on.
    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, (b, o): (usize, usize), p: &Lane, c: &Coefficients) {
        self.catch(simd, (b, o), p, c);
        c.add_rows(simd, p, LANES, &mut self.sums[o]);
    }

    /// When the leading block ends with the pass.
    #[inline(always)]
    fn at_end(&mut self, tau: f64) -> f64 {
        self.at_leading.copy_from_slice(self.sums);
        tau
    }
}

/// Takes eight rows of the factor off the residual, in the order in which the rotations do; asks
/// for tiles ahead if they are `far`.
#[inline(always)]
fn eliminate<S: Simd>(simd: S, p: &Lane, tiles: &[Tile], residual: &mut [Lane], far: bool) {
    let p: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(p.0[j]));
    let (tiles, tiles_rest) = tiles.as_chunks::<TILES_TOGETHER>();
    // The leading block may be narrower than the tiles at hand.
    let (residual, residual_rest) = residual.as_chunks_mut::<TILES_TOGETHER>();
    let rest = tiles.get(residual.len()).map_or(tiles_rest, |chunk| chunk);
    for (tiles, residual) in tiles.iter().zip(residual) {
        if far {
            for column in tiles.as_flattened() {
                simd.prefetch(std::ptr::from_ref(column).wrapping_add(10 * LANES));
            }
        }
        eliminate_together(simd, &p, tiles, residual);
    }
    for (tile, residual) in rest.iter().zip(residual_rest) {
        eliminate_together(simd, &p, std::array::from_ref(tile), std::array::from_mut(residual));
    }
}

#[inline(always)]
fn eliminate_together<S: Simd, const N: usize>(
    simd: S,
    p: &[S::F64; LANES],
    tiles: &[Tile; N],
    residual: &mut [Lane; N],
) {
    let mut r: [S::F64; N] = std::array::from_fn(|g| simd.load(&residual[g]));
    for j in 0..LANES {
        for g in 0..N {
            r[g] = simd.negate_mul_add(p[j], simd.load(&tiles[g][j]), r[g]);
        }
    }
    for g in 0..N {
        simd.store(r[g], &mut residual[g]);
    }
}
