//! The passes over the tiles of a symmetric matrix.

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::tiles::{Panel, Tile, block_start};

/// Up to eight rank-one terms `gains[k] · u_k u_kᵀ`, the columns `u_k` side by side in panels of eight rows.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) gains: [f64; LANES],
    pub(crate) us: &'a [Panel],
}

/// Groups of columns that one pass can subtract.
pub(crate) const MAX_GROUPS: usize = 8;

/// `P ← P − Σ gains · u uᵀ` over all columns, in one pass over the tiles, `backwards` or not.
///
/// # Panics
/// If there are more than [`MAX_GROUPS`].
pub(crate) fn subtract(tiles: &mut [Tile], groups: &[Columns<'_>], backwards: bool) {
    assert!(groups.len() <= MAX_GROUPS, "{} groups of columns", groups.len());
    dispatch(Subtract { tiles, groups, backwards });
}

struct Subtract<'a> {
    tiles: &'a mut [Tile],
    groups: &'a [Columns<'a>],
    backwards: bool,
}

impl Op for Subtract<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let blocks = self.groups.first().map_or(0, |group| group.us.len());
        let mut scaled = [[Lane::ZERO; LANES]; MAX_GROUPS];
        for step in 0..blocks {
            let b = if self.backwards { blocks - 1 - step } else { step };
            for (scaled, group) in scaled.iter_mut().zip(self.groups) {
                for k in 0..LANES {
                    let gain = simd.splat(group.gains[k]);
                    simd.store(simd.mul(gain, simd.load(&group.us[b][k])), &mut scaled[k]);
                }
            }
            let column = &mut self.tiles[block_start(b)..][..=b];
            // Two tiles at a time share each factor that is spread over a register.
            let (pairs, last) = column.as_chunks_mut::<2>();
            for (i, pair) in pairs.iter_mut().enumerate() {
                let mut a: [[S::F64; LANES]; 2] = load_tiles(simd, pair);
                for (scaled, group) in scaled.iter().zip(self.groups) {
                    let us = &group.us[2 * i..2 * i + 2];
                    for k in 0..LANES {
                        let rows = [simd.load(&us[0][k]), simd.load(&us[1][k])];
                        for j in 0..LANES {
                            let factor = simd.splat(scaled[k].0[j]);
                            a[0][j] = simd.negate_mul_add(rows[0], factor, a[0][j]);
                            a[1][j] = simd.negate_mul_add(rows[1], factor, a[1][j]);
                        }
                    }
                }
                store_tiles(simd, a, pair);
            }
            for tile in last {
                let mut a = load_tiles(simd, std::array::from_ref(tile));
                for (scaled, group) in scaled.iter().zip(self.groups) {
                    for k in 0..LANES {
                        let rows = simd.load(&group.us[b][k]);
                        for j in 0..LANES {
                            a[0][j] = simd.negate_mul_add(rows, simd.splat(scaled[k].0[j]), a[0][j]);
                        }
                    }
                }
                store_tiles(simd, a, std::array::from_mut(tile));
            }
        }
    }
}

#[inline(always)]
fn load_tiles<S: Simd, const N: usize>(simd: S, tiles: &[Tile; N]) -> [[S::F64; LANES]; N] {
    let mut loaded = [[simd.splat(0.0); LANES]; N];
    for (loaded, tile) in loaded.iter_mut().zip(tiles) {
        for j in 0..LANES {
            loaded[j] = simd.load(&tile[j]);
        }
    }
    loaded
}

#[inline(always)]
fn store_tiles<S: Simd, const N: usize>(simd: S, values: [[S::F64; LANES]; N], tiles: &mut [Tile; N]) {
    for (values, tile) in values.into_iter().zip(tiles) {
        for j in 0..LANES {
            simd.store(values[j], &mut tile[j]);
        }
    }
}

/// `u_kᵀx` for all eight columns.
#[inline(always)]
fn along<S: Simd>(simd: S, us: &[Panel], x: &[Lane]) -> Lane {
    let mut sums = [simd.splat(0.0); LANES];
    for (panel, x) in us.iter().zip(x) {
        let x = simd.load(x);
        for k in 0..LANES {
            sums[k] = simd.mul_add(simd.load(&panel[k]), x, sums[k]);
        }
    }
    let mut along = Lane::ZERO;
    simd.store(simd.transpose_sum(sums), &mut along);
    along
}

/// `y ← P x`
pub(crate) struct Product<'a> {
    pub(crate) tiles: &'a [Tile],
    /// Whether to begin with the last column of tiles.
    pub(crate) backwards: bool,
    pub(crate) deferred: Option<Columns<'a>>,
    pub(crate) x: &'a [Lane],
    pub(crate) y: &'a mut [Lane],
}

impl Op for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.y.fill(Lane::ZERO);
        let blocks = self.x.len();
        for step in 0..blocks {
            let b = if self.backwards { blocks - 1 - step } else { step };
            let column = &self.tiles[block_start(b)..][..=b];
            let (y_above, y_below) = self.y.split_at_mut(b);
            let x_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.x[b].0[j]));
            let mut sums = [simd.splat(0.0); LANES];
            for ((tile, x), y) in column.iter().zip(self.x).zip(y_above) {
                let x_rows = simd.load(x);
                let mut y_rows = [simd.load(y), simd.splat(0.0)];
                for j in 0..LANES {
                    let a = simd.load(&tile[j]);
                    y_rows[j % 2] = simd.mul_add(a, x_columns[j], y_rows[j % 2]);
                    sums[j] = simd.mul_add(a, x_rows, sums[j]);
                }
                simd.store(simd.add(y_rows[0], y_rows[1]), y);
            }
            let mut y_rows = [simd.transpose_sum(sums), simd.load(&y_below[0])];
            for j in 0..LANES {
                y_rows[j % 2] = simd.mul_add(simd.load(&column[b][j]), x_columns[j], y_rows[j % 2]);
            }
            simd.store(simd.add(y_rows[0], y_rows[1]), &mut y_below[0]);
        }
        if let Some(Columns { gains, us }) = self.deferred {
            let mut factors = along(simd, us, self.x);
            for k in 0..LANES {
                factors.0[k] *= gains[k];
            }
            for (panel, y) in us.iter().zip(self.y) {
                let mut rest = [simd.load(y), simd.splat(0.0)];
                for k in 0..LANES {
                    rest[k % 2] = simd.negate_mul_add(simd.splat(factors.0[k]), simd.load(&panel[k]), rest[k % 2]);
                }
                simd.store(simd.add(rest[0], rest[1]), y);
            }
        }
    }
}

/// `xᵀ P x`
pub(crate) struct Quadratic<'a> {
    pub(crate) tiles: &'a [Tile],
    pub(crate) deferred: Option<Columns<'a>>,
    pub(crate) x: &'a [Lane],
}

impl Op for Quadratic<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let mut tiles = self.tiles;
        // Tiles off the diagonal stand for both triangles.
        let (mut off, mut on) = ([simd.splat(0.0); 2], simd.splat(0.0));
        for b in 0..self.x.len() {
            let (column, rest) = tiles.split_at(b + 1);
            tiles = rest;
            let x_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.x[b].0[j]));
            for (p, (tile, x)) in column.iter().zip(self.x).enumerate() {
                let mut y_rows = [simd.splat(0.0); 2];
                for j in 0..LANES {
                    y_rows[j % 2] = simd.mul_add(simd.load(&tile[j]), x_columns[j], y_rows[j % 2]);
                }
                let y_rows = simd.add(y_rows[0], y_rows[1]);
                if p < b {
                    off[p % 2] = simd.mul_add(y_rows, simd.load(x), off[p % 2]);
                } else {
                    on = simd.mul_add(y_rows, simd.load(x), on);
                }
            }
        }
        let off = simd.add(off[0], off[1]);
        let stored = simd.sum(simd.add(simd.add(off, off), on));
        self.deferred.map_or(stored, |Columns { gains, us }| {
            let along = along(simd, us, self.x);
            gains.iter().zip(along.0).fold(stored, |value, (gain, along)| value - gain * along * along)
        })
    }
}

/// `Y ← P X` for groups of eight right-hand sides.
///
/// A group holds the eight values of one row in a lane: an element `a_ij` read from a tile then serves `Y_i += a_ij X_j` and
/// `Y_j += a_ij X_i` for eight right-hand sides, so a tile costs 64 spread elements for 128 vector multiply-adds and the
/// arithmetic sets the pace.
pub(crate) struct ProductOfGroups<'a> {
    pub(crate) tiles: &'a [Tile],
    /// Groups one after the other, each of as many panels as the matrix has.
    pub(crate) xs: &'a [Panel],
    pub(crate) ys: &'a mut [Panel],
    pub(crate) blocks: usize,
}

/// Columns of tiles, and tiles of each, that stay in the first level of cache while the groups pass by.
const TILE_COLUMNS: usize = 4;
const TILE_ROWS: usize = 8;

impl Op for ProductOfGroups<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, xs, ys, blocks } = self;
        ys.fill([Lane::ZERO; LANES]);
        for first in (0..blocks).step_by(TILE_COLUMNS) {
            let columns = first..(first + TILE_COLUMNS).min(blocks);
            for top in (0..columns.end).step_by(TILE_ROWS) {
                for (x, y) in xs.chunks_exact(blocks).zip(ys.chunks_exact_mut(blocks)) {
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
