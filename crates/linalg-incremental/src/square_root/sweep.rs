//! The two passes of square-root least squares: one that reads, one that reads and writes.

use mercer_simd::{LANES, Lane, Op, Simd};

use super::rotations::{Rotations, TOGETHER, Taus, Turn, substitute};
use crate::tiles::{Tile, split};

/// A row on its way through the factor.
pub(super) struct Passing<'a> {
    /// What is left of the row; eliminated in place.
    pub(super) residual: &'a mut [Lane],
    pub(super) outputs: &'a [Lane],
    /// `Σ p_k c_k` over the rows of the factor passed.
    pub(super) sums: &'a mut [Lane],
}

/// The prediction of a leading block, caught on a row's way.
pub(super) struct Leading<'a> {
    /// Coordinates of the leading block.
    pub(super) size: usize,
    /// The row's `sums` where the leading block ends.
    pub(super) prediction: &'a mut [Lane],
}

/// What a pass says of its last row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// `τ` of the leading block, as it was before.
    pub(super) tau: f64,
    /// Whether no rotation is steep.
    pub(super) calm: bool,
}

/// A calm row that waits, and what it makes of the factor.
pub(super) struct Waiting<'a> {
    pub(super) row: Passing<'a>,
    /// One for each block.
    pub(super) turns: &'a [Turn],
}

/// Forward elimination of a row with the leading block, changing nothing. A row that waits counts as added.
pub(super) struct Solve<'a> {
    pub(super) tiles: &'a [Tile],
    /// Blocks of the whole factor.
    pub(super) blocks: usize,
    pub(super) inverse_pivots: &'a [Lane],
    pub(super) coefficients: &'a [Tile],
    pub(super) waiting: Option<Waiting<'a>>,
    /// As many lanes as the leading block has.
    pub(super) row: Passing<'a>,
    /// What the row would make of each block, if that is wanted.
    pub(super) turns: Option<&'a mut [Turn]>,
    pub(super) leading: Leading<'a>,
}

impl Op for Solve<'_> {
    type Output = Passed;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Passed {
        let Self { mut tiles, blocks, inverse_pivots, coefficients, mut waiting, row, mut turns, mut leading } = self;
        let outputs = row.sums.len();
        let (mut tau, mut tau_at_leading, mut calm) = (1.0, None, true);
        for b in 0..row.residual.len() {
            let (block, rest) = tiles.split_at(blocks - b);
            tiles = rest;
            let coefficients = &coefficients[b * outputs..(b + 1) * outputs];
            let (p, pivots) = match &mut waiting {
                None => {
                    let p = substitute(&block[0], row.residual[b]);
                    eliminate(simd, &p, &block[1..], &mut row.residual[b + 1..]);
                    for (o, c) in coefficients.iter().enumerate() {
                        leading.pass(simd, (b, o), &p, c, &mut row.sums[o]);
                    }
                    (p, &inverse_pivots[b])
                }
                // What the waiting row makes of a tile is formed on the way and forgotten.
                Some(Waiting { row: waiting, turns }) => {
                    let turn = &turns[b];
                    let mut diagonal = block[0];
                    turn.rotate(simd, &mut diagonal, &mut waiting.residual[b]);
                    let p = substitute(&diagonal, row.residual[b]);
                    for (i, tile) in (b + 1..row.residual.len()).zip(&block[1..]) {
                        let mut tile = *tile;
                        turn.rotate(simd, &mut tile, &mut waiting.residual[i]);
                        eliminate(simd, &p, std::slice::from_ref(&tile), std::slice::from_mut(&mut row.residual[i]));
                    }
                    for (o, c) in coefficients.iter().enumerate() {
                        let mut c = *c;
                        turn.rotate_outputs(simd, &mut c, &waiting.outputs[o], &mut waiting.sums[o]);
                        leading.pass(simd, (b, o), &p, &c, &mut row.sums[o]);
                    }
                    (p, &turn.inverse_pivots)
                }
            };
            let taus = match &mut turns {
                None => Taus::new(tau, 1.0, &p, pivots),
                Some(turns) => {
                    let rotations = Rotations::new(simd, tau, 1.0, p, pivots);
                    turns[b] = rotations.turn;
                    rotations.taus
                }
            };
            if b == split(leading.size).0 {
                tau_at_leading = Some(taus.at(leading.size));
            }
            calm &= !taus.are_steep();
            tau = taus.last();
        }
        Passed { tau: tau_at_leading.unwrap_or_else(|| leading.at_end(row.sums, tau)), calm }
    }
}

/// Adds (`sign = 1`) or takes back (`sign = −1`) a row of the whole factor; if `N = 2`, after one that waits.
pub(super) struct Sweep<'a, const N: usize> {
    pub(super) tiles: &'a mut [Tile],
    pub(super) inverse_pivots: &'a mut [Lane],
    pub(super) coefficients: &'a mut [Tile],
    /// The one that waits first.
    pub(super) rows: [Passing<'a>; N],
    /// What the one that waits makes of each block.
    pub(super) turns: &'a [Turn],
    pub(super) sign: f64,
    pub(super) leading: Leading<'a>,
}

impl<const N: usize> Op for Sweep<'_, N> {
    type Output = Passed;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Passed {
        let Self { tiles, inverse_pivots, coefficients, mut rows, turns, sign, mut leading } = self;
        let (blocks, outputs) = (inverse_pivots.len(), leading.prediction.len());
        // Rows of the factor that come before the first entry of each row stay as they are.
        let first_entry = |row: &Passing<'_>| row.residual.iter().position(|lane| *lane != Lane::ZERO);
        let first = rows.iter().filter_map(first_entry).min().unwrap_or(blocks);
        let (_, mut tiles) = tiles.split_at_mut(first * (2 * blocks + 1 - first) / 2);
        let mut tau_at_leading = (leading.size < first * LANES).then_some(1.0);
        let (mut tau, mut calm) = (1.0, true);
        for b in first..blocks {
            let (block, rest) = tiles.split_at_mut(blocks - b);
            tiles = rest;
            let Some((diagonal, others)) = block.split_first_mut() else { break };
            if N == 2 {
                turns[b].rotate(simd, diagonal, &mut rows[0].residual[b]);
                inverse_pivots[b] = turns[b].inverse_pivots;
            }
            let residual = &mut rows[N - 1].residual[b];
            let now = Rotations::new(simd, tau, sign, substitute(diagonal, *residual), &inverse_pivots[b]);
            now.rotate_diagonal(simd, diagonal, residual);
            inverse_pivots[b] = now.turn.inverse_pivots;
            now.rotate(simd, turns, others, &mut rows, b);
            for (o, c) in coefficients[b * outputs..(b + 1) * outputs].iter_mut().enumerate() {
                if N == 2 {
                    turns[b].rotate_outputs(simd, c, &rows[0].outputs[o], &mut rows[0].sums[o]);
                }
                let row = &mut rows[N - 1];
                leading.catch(simd, (b, o), &now.turn.p, c, &row.sums[o]);
                now.rotate_outputs(simd, c, &row.outputs[o], &mut row.sums[o]);
            }
            if b == split(leading.size).0 {
                tau_at_leading = Some(now.taus.at(leading.size));
            }
            calm &= !now.steep;
            tau = now.taus.last();
        }
        Passed { tau: tau_at_leading.unwrap_or_else(|| leading.at_end(rows[N - 1].sums, tau)), calm }
    }
}

impl Leading<'_> {
    /// In the block where the leading block ends: its prediction of eight outputs.
    #[inline(always)]
    fn catch<S: Simd>(&mut self, simd: S, (b, o): (usize, usize), p: &Lane, c: &Tile, sum: &Lane) {
        let (last, rows) = split(self.size);
        if b == last {
            self.prediction[o] = *sum;
            add_rows(simd, p, rows, c, &mut self.prediction[o]);
        }
    }

    /// The same, and the row goes on.
    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, at: (usize, usize), p: &Lane, c: &Tile, sum: &mut Lane) {
        self.catch(simd, at, p, c, sum);
        add_rows(simd, p, LANES, c, sum);
    }

    /// When the leading block ends with the pass.
    #[inline(always)]
    fn at_end(&mut self, sums: &[Lane], tau: f64) -> f64 {
        self.prediction.copy_from_slice(sums);
        tau
    }
}

/// `sum ← sum + Σ_{k < rows} p_k c_k`
#[inline(always)]
fn add_rows<S: Simd>(simd: S, p: &Lane, rows: usize, c: &Tile, sum: &mut Lane) {
    let mut s = simd.load(sum);
    for j in 0..rows {
        s = simd.mul_add(simd.splat(p.0[j]), simd.load(&c[j]), s);
    }
    simd.store(s, sum);
}

/// Takes eight rows of the factor off the residual, in the order in which the rotations do.
#[inline(always)]
fn eliminate<S: Simd>(simd: S, p: &Lane, tiles: &[Tile], residual: &mut [Lane]) {
    let p: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(p.0[j]));
    let (tiles, tiles_rest) = tiles.as_chunks::<TOGETHER>();
    // The leading block may be narrower than the tiles at hand.
    let (residual, residual_rest) = residual.as_chunks_mut::<TOGETHER>();
    let rest = tiles.get(residual.len()).map_or(tiles_rest, |chunk| chunk);
    for (tiles, residual) in tiles.iter().zip(residual) {
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
