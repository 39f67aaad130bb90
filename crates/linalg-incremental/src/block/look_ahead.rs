//! Look ahead at a block before its first round: products with `P`, and the scalars among its
//! rounds.

use mercer_simd::{AlignedVec, LANES, Op, Simd};

use super::LaneRow;
use crate::symmetric::{HalfTile, RUNS, load_tiles, runs};
use crate::tiles::{HALF, Panel, ZERO_TILE};

/// `C = P Φ`, the rows of `G = Cᵀ Φ` from the diagonal on, and `z = Φᵀ w` for each output.
pub(super) struct LookAhead<'a> {
    pub(super) tiles: &'a [HalfTile],
    pub(super) ws: &'a [AlignedVec],
    /// Panels of a group of eight rounds.
    pub(super) blocks: usize,
    pub(super) xs: &'a [Panel],
    pub(super) cs: &'a mut [Panel],
    pub(super) h: &'a mut [LaneRow],
    pub(super) z: &'a mut [LaneRow],
}

impl Op for LookAhead<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, ws, blocks, xs, cs, h, z } = self;
        product(simd, tiles, blocks, xs, cs);
        let groups = xs.chunks_exact(blocks).zip(cs.chunks_exact(blocks)).zip(h.chunks_exact_mut(LANES));
        for (g, ((x, c), h)) in groups.enumerate() {
            let mut later = xs[g * blocks..].chunks_exact(blocks).enumerate();
            while let Some((k, x_k)) = later.next() {
                if S::REGISTERS > 2 * LANES {
                    match later.next() {
                        Some((_, next)) => gram::<S, 2, 0, LANES>(simd, c, [x_k, next], h, g + k),
                        None => gram::<S, 1, 0, LANES>(simd, c, [x_k], h, g + k),
                    }
                } else {
                    gram::<S, 1, 0, HALF>(simd, c, [x_k], h, g + k);
                    gram::<S, 1, HALF, LANES>(simd, c, [x_k], h, g + k);
                }
            }
            for (w, z) in ws.iter().zip(z.iter_mut()) {
                let mut values = [simd.splat(0.0); 4];
                for (x, w) in x.iter().zip(w.lanes()) {
                    for r in 0..LANES {
                        values[r % 4] = simd.mul_add(simd.splat(w.0[r]), simd.load(&x[r]), values[r % 4]);
                    }
                }
                simd.store(simd.add(simd.add(values[0], values[1]), simd.add(values[2], values[3])), &mut z[g]);
            }
        }
    }
}

/// Lanes `first..first + N` of rows `FROM..TO` of `G`: the columns `c` with the rounds of `N`
/// groups.
#[inline(always)]
fn gram<S: Simd, const N: usize, const FROM: usize, const TO: usize>(
    simd: S,
    c: &[Panel],
    xs: [&[Panel]; N],
    h: &mut [LaneRow],
    first: usize,
) {
    let mut rows = [[simd.splat(0.0); LANES]; N];
    for (p, c) in c.iter().enumerate() {
        for i in 0..LANES {
            let mut x = [simd.splat(0.0); N];
            for g in 0..N {
                x[g] = simd.load(&xs[g][p][i]);
            }
            for r in FROM..TO {
                let c = simd.splat(c[i].0[r]);
                for g in 0..N {
                    rows[g][r] = simd.mul_add(c, x[g], rows[g][r]);
                }
            }
        }
    }
    for (r, h) in h.iter_mut().enumerate().take(TO).skip(FROM) {
        for g in 0..N {
            simd.store(rows[g][r], &mut h[first + g]);
        }
    }
}

/// Columns of tiles, and tiles of each, that stay in the first level of cache while the groups pass
/// by.
const TILE_COLUMNS: usize = 4;
const TILE_ROWS: usize = 8;

/// `C ← P Φ`
///
/// A group holds the eight values of one row in a lane: an element `a_ij` read from a tile then
/// serves `C_i += a_ij X_j` and `C_j += a_ij X_i` for eight right-hand sides, so a tile costs 64
/// spread elements for 128 vector multiply-adds and the arithmetic sets the pace.
#[inline(always)]
fn product<S: Simd>(simd: S, tiles: &[HalfTile], blocks: usize, xs: &[Panel], cs: &mut [Panel]) {
    cs.fill(ZERO_TILE);
    for first in (0..blocks).step_by(TILE_COLUMNS) {
        let columns = first..(first + TILE_COLUMNS).min(blocks);
        for top in (0..columns.end).step_by(TILE_ROWS) {
            for (x, y) in xs.chunks_exact(blocks).zip(cs.chunks_exact_mut(blocks)) {
                for b in columns.clone() {
                    let (above, below) = y.split_at_mut(b);
                    let rows = top..(top + TILE_ROWS).min(b);
                    let runs = runs(tiles, b);
                    let diagonal = (top..top + TILE_ROWS).contains(&b).then_some(runs.map(|run| &run[b]));
                    let tiles = Tiles { above: runs.map(|run| &run[rows.clone()]), diagonal };
                    let (x_rows, x_b, y_rows, y_b) = (&x[rows.clone()], &x[b], &mut above[rows], &mut below[0]);
                    if S::REGISTERS > 2 * LANES {
                        tiles.times_group::<S, 0, LANES>(simd, x_rows, x_b, y_rows, y_b);
                    } else {
                        tiles.times_group::<S, 0, HALF>(simd, x_rows, x_b, y_rows, y_b);
                        tiles.times_group::<S, HALF, LANES>(simd, x_rows, x_b, y_rows, y_b);
                    }
                }
            }
        }
    }
}

/// Some tiles of one block.
struct Tiles<'a> {
    above: [&'a [HalfTile]; RUNS],
    diagonal: Option<[&'a HalfTile; RUNS]>,
}

impl Tiles<'_> {
    /// `y_p += A_pb x_b` and `y_b += A_pbᵀ x_p`, and on the diagonal, both of whose triangles are
    /// stored, `y_b += A_bb x_b`: what columns `FROM..TO` give.
    #[inline(always)]
    fn times_group<S: Simd, const FROM: usize, const TO: usize>(
        &self,
        simd: S,
        x: &[Panel],
        x_b: &Panel,
        y: &mut [Panel],
        y_b: &mut Panel,
    ) {
        let [columns] = load_tiles(simd, std::array::from_ref(x_b));
        let mut sums = [simd.splat(0.0); LANES];
        for j in FROM..TO {
            sums[j] = simd.load(&y_b[j]);
        }
        let [left, right] = self.above;
        for (((left, right), x), y) in left.iter().zip(right).zip(x).zip(y) {
            for i in 0..LANES {
                // A chain for each half of the columns, so that both halves at once and one after
                // the other are the same.
                let (x_i, mut y_i) = (simd.load(&x[i]), [simd.splat(0.0); 2]);
                y_i[0] = simd.load(&y[i]);
                for j in FROM..TO {
                    let a = simd.splat([left, right][j / HALF][j % HALF].0[i]);
                    y_i[j / HALF] = simd.mul_add(a, columns[j], y_i[j / HALF]);
                    sums[j] = simd.mul_add(a, x_i, sums[j]);
                }
                let y_i = if TO > HALF { simd.add(y_i[0], y_i[1]) } else { y_i[0] };
                simd.store(y_i, &mut y[i]);
            }
        }
        if let Some(tile) = self.diagonal {
            for i in 0..LANES {
                for j in FROM..TO {
                    let a = simd.splat(tile[j / HALF][j % HALF].0[i]);
                    sums[j] = simd.mul_add(a, simd.load(&x_b[i]), sums[j]);
                }
            }
        }
        for j in FROM..TO {
            simd.store(sums[j], &mut y_b[j]);
        }
    }
}
