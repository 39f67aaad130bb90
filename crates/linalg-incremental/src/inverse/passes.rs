//! The passes over the tiles of a symmetric matrix.

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::tiles::{Panel, Tile, block_start};

/// Rank-one terms `gains[k] · u_k u_kᵀ` in groups of eight, the columns `u_k` of a group side by side in panels of eight rows.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) gains: &'a [Lane],
    /// For each eight rows the panels of all groups.
    pub(crate) us: &'a [Panel],
}

/// Groups of columns that one pass can subtract.
pub(crate) const MAX_GROUPS: usize = 8;

/// `P ← P − Σ gains · u uᵀ` over all columns, in one pass over the tiles, `backwards` or not.
///
/// # Panics
/// If there are more than [`MAX_GROUPS`] groups.
pub(crate) fn subtract(tiles: &mut [Tile], columns: Columns<'_>, backwards: bool) {
    let groups = columns.gains.len();
    assert!(groups <= MAX_GROUPS, "{groups} groups of columns");
    dispatch(Subtract { tiles, columns, backwards });
}

struct Subtract<'a> {
    tiles: &'a mut [Tile],
    columns: Columns<'a>,
    backwards: bool,
}

impl Op for Subtract<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, columns: Columns { gains, us }, backwards } = self;
        let groups = gains.len();
        let blocks = us.len().checked_div(groups).unwrap_or(0);
        let mut scaled = [[Lane::ZERO; LANES]; MAX_GROUPS];
        for step in 0..blocks {
            let b = if backwards { blocks - 1 - step } else { step };
            for ((scaled, gains), u) in scaled.iter_mut().zip(gains).zip(&us[b * groups..]) {
                for k in 0..LANES {
                    simd.store(simd.mul(simd.splat(gains.0[k]), simd.load(&u[k])), &mut scaled[k]);
                }
            }
            let scaled = &scaled[..groups];
            let column = &mut tiles[block_start(b)..][..=b];
            // Two tiles at a time share each factor that is spread over a register.
            let (pairs, last) = column.as_chunks_mut::<2>();
            for (pair, us) in pairs.iter_mut().zip(us.chunks_exact(2 * groups)) {
                let (one, two) = us.split_at(groups);
                subtract_from(simd, pair, scaled, [one, two]);
            }
            for tile in last {
                subtract_from(simd, std::array::from_mut(tile), scaled, [&us[b * groups..][..groups]]);
            }
        }
    }
}

/// `A_p ← A_p − Σ u_p scaledᵀ` for `N` tiles of one column of tiles.
#[inline(always)]
fn subtract_from<S: Simd, const N: usize>(simd: S, tiles: &mut [Tile; N], scaled: &[Panel], us: [&[Panel]; N]) {
    let mut a: [[S::F64; LANES]; N] = load_tiles(simd, tiles);
    for (g, scaled) in scaled.iter().enumerate() {
        for k in 0..LANES {
            let mut rows = [simd.splat(0.0); N];
            for p in 0..N {
                rows[p] = simd.load(&us[p][g][k]);
            }
            for j in 0..LANES {
                let factor = simd.splat(scaled[k].0[j]);
                for p in 0..N {
                    a[p][j] = simd.negate_mul_add(rows[p], factor, a[p][j]);
                }
            }
        }
    }
    store_tiles(simd, a, tiles);
}

#[inline(always)]
pub(crate) fn load_tiles<S: Simd, const N: usize>(simd: S, tiles: &[Tile; N]) -> [[S::F64; LANES]; N] {
    let mut loaded = [[simd.splat(0.0); LANES]; N];
    for (loaded, tile) in loaded.iter_mut().zip(tiles) {
        for j in 0..LANES {
            loaded[j] = simd.load(&tile[j]);
        }
    }
    loaded
}

#[inline(always)]
pub(crate) fn store_tiles<S: Simd, const N: usize>(simd: S, values: [[S::F64; LANES]; N], tiles: &mut [Tile; N]) {
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
    /// A single group.
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
                factors.0[k] *= gains[0].0[k];
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
    /// A single group.
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
            gains[0].0.iter().zip(along.0).fold(stored, |value, (gain, along)| value - gain * along * along)
        })
    }
}
