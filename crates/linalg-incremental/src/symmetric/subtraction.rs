//! Rank-one terms taken off a symmetric matrix.

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use super::halves::{HalfTile, RUNS, runs_mut};
use crate::tiles::{CHUNK, HALF, Panel, Tile, ZERO_TILE};

/// Rank-one terms `gains[k] · u_k u_kᵀ` in groups of eight, the columns `u_k` of a group side by
/// side in panels of eight rows.
#[derive(Clone, Copy)]
pub(crate) struct RankOneTerms<'a> {
    pub(crate) gains: &'a [Lane],
    /// For each eight rows the panels of all groups.
    pub(crate) us: &'a [Panel],
}

impl RankOneTerms<'_> {
    /// The columns of block `b` times their gains.
    #[inline(always)]
    pub(super) fn scale<S: Simd>(&self, simd: S, b: usize, scaled: &mut [Panel; MAX_GROUPS]) {
        let groups = self.gains.len();
        for ((scaled, gains), u) in scaled.iter_mut().zip(self.gains).zip(&self.us[b * groups..]) {
            for k in 0..LANES {
                simd.store(simd.mul(simd.splat(gains.0[k]), simd.load(&u[k])), &mut scaled[k]);
            }
        }
    }
}

/// Groups of columns that one pass can subtract.
pub(crate) const MAX_GROUPS: usize = 8;

/// Columns of a group that a pass takes where no more are used: a matrix that is rotated in every
/// round never has more.
const FEW_COLUMNS: usize = 2;

/// `P ← P − Σ gains · u uᵀ` over the first `used` columns of each group, in one pass over the
/// tiles, `backwards` or not.
///
/// # Panics
/// If there are more than [`MAX_GROUPS`] groups.
pub(crate) fn subtract(tiles: &mut [HalfTile], columns: RankOneTerms<'_>, used: usize, backwards: bool) {
    let groups = columns.gains.len();
    assert!(groups <= MAX_GROUPS, "{groups} groups of columns");
    dispatch(Subtract { tiles, columns, used, backwards });
}

struct Subtract<'a> {
    tiles: &'a mut [HalfTile],
    columns: RankOneTerms<'a>,
    used: usize,
    backwards: bool,
}

impl Op for Subtract<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if self.used <= FEW_COLUMNS { self.first::<S, FEW_COLUMNS>(simd) } else { self.first::<S, LANES>(simd) }
    }
}

impl Subtract<'_> {
    /// The first `K` columns of each group.
    #[inline(always)]
    fn first<S: Simd, const K: usize>(self, simd: S) {
        let Self { tiles, columns, backwards, .. } = self;
        let (groups, us) = (columns.gains.len(), columns.us);
        let blocks = us.len().checked_div(groups).unwrap_or(0);
        let mut scaled = [ZERO_TILE; MAX_GROUPS];
        for step in 0..blocks {
            let b = if backwards { blocks - 1 - step } else { step };
            columns.scale(simd, b, &mut scaled);
            let scaled = &scaled[..groups];
            subtract_from::<S, K>(simd, runs_mut(tiles, b), scaled, &us[..(b + 1) * groups]);
        }
    }
}

/// `A_p ← A_p − Σ u_p scaledᵀ` for all tiles of one block, over the first `K` columns of each
/// group.
#[inline(always)]
pub(super) fn subtract_from<S: Simd, const K: usize>(
    simd: S,
    [left, right]: [&mut [HalfTile]; RUNS],
    scaled: &[Panel],
    us: &[Panel],
) {
    let groups = scaled.len();
    if S::REGISTERS > 2 * LANES + 2 {
        // Two tiles at a time share each factor that is spread over a register.
        let ((left, left_rest), (right, right_rest)) = (left.as_chunks_mut::<2>(), right.as_chunks_mut::<2>());
        let (us, us_rest) = us.split_at(2 * groups * left.len());
        for ((left, right), us) in left.iter_mut().zip(right).zip(us.chunks_exact(2 * groups)) {
            let (one, two) = us.split_at(groups);
            subtract_columns::<S, 2, RUNS, 0, K>(simd, &mut [left, right], scaled, [one, two]);
        }
        for (left, right) in left_rest.iter_mut().zip(right_rest) {
            let tile = &mut [left, right].map(std::array::from_mut);
            subtract_columns::<S, 1, RUNS, 0, K>(simd, tile, scaled, [us_rest]);
        }
    } else {
        for ((left, right), us) in left.chunks_mut(CHUNK).zip(right.chunks_mut(CHUNK)).zip(us.chunks(CHUNK * groups)) {
            subtract_from_run::<S, 0, K>(simd, left, scaled, us);
            subtract_from_run::<S, HALF, K>(simd, right, scaled, us);
        }
    }
}

/// The same for tiles of the run whose first column is `FROM`.
#[inline(always)]
fn subtract_from_run<S: Simd, const FROM: usize, const K: usize>(
    simd: S,
    tiles: &mut [HalfTile],
    scaled: &[Panel],
    us: &[Panel],
) {
    for (tile, u) in tiles.iter_mut().zip(us.chunks_exact(scaled.len())) {
        subtract_columns::<S, 1, 1, FROM, K>(simd, &mut [std::array::from_mut(tile)], scaled, [u]);
    }
}

/// `A_p ← A_p − Σ u_p scaledᵀ` for `N` tiles in `R` runs of one block, the first of which has
/// column `FROM`; returns those columns, the others zero.
#[inline(always)]
pub(super) fn subtract_columns<S: Simd, const N: usize, const R: usize, const FROM: usize, const K: usize>(
    simd: S,
    runs: &mut [&mut [HalfTile; N]; R],
    scaled: &[Panel],
    us: [&[Panel]; N],
) -> [[S::F64; LANES]; N] {
    let mut a = [[simd.splat(0.0); LANES]; N];
    for p in 0..N {
        for j in 0..R * HALF {
            a[p][FROM + j] = simd.load(&runs[j / HALF][p][j % HALF]);
        }
    }
    let us = us.map(|u| &u[..scaled.len()]);
    for (g, scaled) in scaled.iter().enumerate() {
        for k in 0..K {
            let mut rows = [simd.splat(0.0); N];
            for p in 0..N {
                rows[p] = simd.load(&us[p][g][k]);
            }
            for j in FROM..FROM + R * HALF {
                let factor = simd.splat(scaled[k].0[j]);
                for p in 0..N {
                    a[p][j] = simd.negate_mul_add(rows[p], factor, a[p][j]);
                }
            }
        }
    }
    for p in 0..N {
        for j in 0..R * HALF {
            simd.store(a[p][FROM + j], &mut runs[j / HALF][p][j % HALF]);
        }
    }
    a
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
