//! What is known of a block before its first round: products with `P`, and the scalars among its rounds.

use mercer_simd::{LANES, Lane, Op, Simd};

use super::Row;
use crate::inverse::{load_tiles, store_tiles};
use crate::tiles::{Panel, Tile, ZERO_TILE, block_start};

/// `C = P Φ`, the rows of `G = Cᵀ Φ` from the diagonal on, and `z = Φᵀ w`.
pub(super) struct LookAhead<'a> {
    pub(super) tiles: &'a [Tile],
    pub(super) w: &'a [Lane],
    /// Panels of a group of eight rounds.
    pub(super) blocks: usize,
    pub(super) xs: &'a [Panel],
    pub(super) cs: &'a mut [Panel],
    pub(super) h: &'a mut [Row],
    pub(super) z: &'a mut Row,
}

impl Op for LookAhead<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, w, blocks, xs, cs, h, z } = self;
        product(simd, tiles, blocks, xs, cs);
        let groups = xs.chunks_exact(blocks).zip(cs.chunks_exact(blocks)).zip(h.chunks_exact_mut(LANES)).zip(z);
        for (g, (((x, c), h), z)) in groups.enumerate() {
            let mut later = xs[g * blocks..].chunks_exact(blocks).enumerate();
            while let Some((k, x_k)) = later.next() {
                match later.next() {
                    Some((_, next)) => gram(simd, c, [x_k, next], h, g + k),
                    None => gram(simd, c, [x_k], h, g + k),
                }
            }
            let mut values = [simd.splat(0.0); 4];
            for (x, w) in x.iter().zip(w) {
                for r in 0..LANES {
                    values[r % 4] = simd.mul_add(simd.splat(w.0[r]), simd.load(&x[r]), values[r % 4]);
                }
            }
            simd.store(simd.add(simd.add(values[0], values[1]), simd.add(values[2], values[3])), z);
        }
    }
}

/// Lanes `first..first + N` of eight rows of `G`: the columns `c` with the rounds of `N` groups.
#[inline(always)]
fn gram<S: Simd, const N: usize>(simd: S, c: &[Panel], xs: [&[Panel]; N], h: &mut [Row], first: usize) {
    let mut rows = [[simd.splat(0.0); LANES]; N];
    for (p, c) in c.iter().enumerate() {
        for i in 0..LANES {
            let mut x = [simd.splat(0.0); N];
            for g in 0..N {
                x[g] = simd.load(&xs[g][p][i]);
            }
            for r in 0..LANES {
                let c = simd.splat(c[i].0[r]);
                for g in 0..N {
                    rows[g][r] = simd.mul_add(c, x[g], rows[g][r]);
                }
            }
        }
    }
    for (r, h) in h.iter_mut().enumerate() {
        for g in 0..N {
            simd.store(rows[g][r], &mut h[first + g]);
        }
    }
}

/// Columns of tiles, and tiles of each, that stay in the first level of cache while the groups pass by.
const TILE_COLUMNS: usize = 4;
const TILE_ROWS: usize = 8;

/// `C ← P Φ`
///
/// A group holds the eight values of one row in a lane: an element `a_ij` read from a tile then serves `C_i += a_ij X_j` and
/// `C_j += a_ij X_i` for eight right-hand sides, so a tile costs 64 spread elements for 128 vector multiply-adds and the
/// arithmetic sets the pace.
#[inline(always)]
fn product<S: Simd>(simd: S, tiles: &[Tile], blocks: usize, xs: &[Panel], cs: &mut [Panel]) {
    cs.fill(ZERO_TILE);
    for first in (0..blocks).step_by(TILE_COLUMNS) {
        let columns = first..(first + TILE_COLUMNS).min(blocks);
        for top in (0..columns.end).step_by(TILE_ROWS) {
            for (x, y) in xs.chunks_exact(blocks).zip(cs.chunks_exact_mut(blocks)) {
                for b in columns.clone() {
                    let (above, below) = y.split_at_mut(b);
                    let rows = top..(top + TILE_ROWS).min(b);
                    let column = &tiles[block_start(b)..][..=b];
                    let mut y_b = load_tiles(simd, std::array::from_ref(&below[0]))[0];
                    if !rows.is_empty() {
                        y_b = tiles_times_group(
                            simd,
                            &column[rows.clone()],
                            &x[rows.clone()],
                            &mut above[rows],
                            &x[b],
                            y_b,
                        );
                    }
                    if (top..top + TILE_ROWS).contains(&b) {
                        y_b = diagonal_times_group(simd, &column[b], &x[b], y_b);
                    }
                    store_tiles(simd, [y_b], std::array::from_mut(&mut below[0]));
                }
            }
        }
    }
}

/// `y_p += A_pb x_b` for each tile, and what `Σ A_pbᵀ x_p` adds to `y_b`.
#[inline(always)]
fn tiles_times_group<S: Simd>(
    simd: S,
    tiles: &[Tile],
    x: &[Panel],
    y: &mut [Panel],
    x_b: &Panel,
    mut y_b: [S::F64; LANES],
) -> [S::F64; LANES] {
    let [x_b] = load_tiles(simd, std::array::from_ref(x_b));
    for ((tile, x), y) in tiles.iter().zip(x).zip(y) {
        for i in 0..LANES {
            let (x_i, mut y_i) = (simd.load(&x[i]), [simd.load(&y[i]), simd.splat(0.0)]);
            for j in 0..LANES {
                let a = simd.splat(tile[j].0[i]);
                y_i[j % 2] = simd.mul_add(a, x_b[j], y_i[j % 2]);
                y_b[j] = simd.mul_add(a, x_i, y_b[j]);
            }
            simd.store(simd.add(y_i[0], y_i[1]), &mut y[i]);
        }
    }
    y_b
}

/// `y + A x` for a tile on the diagonal, both of whose triangles are stored.
#[inline(always)]
fn diagonal_times_group<S: Simd>(simd: S, tile: &Tile, x: &Panel, mut y: [S::F64; LANES]) -> [S::F64; LANES] {
    for i in 0..LANES {
        let x_i = simd.load(&x[i]);
        for j in 0..LANES {
            y[j] = simd.mul_add(simd.splat(tile[j].0[i]), x_i, y[j]);
        }
    }
    y
}
