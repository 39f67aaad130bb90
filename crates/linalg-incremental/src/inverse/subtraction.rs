//! Rank-one terms taken off a symmetric matrix.

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::tiles::{HALF, Panel, Tile, ZERO_TILE, block_start};

/// Rank-one terms `gains[k] · u_k u_kᵀ` in groups of eight, the columns `u_k` of a group side by side in panels of eight rows.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) gains: &'a [Lane],
    /// For each eight rows the panels of all groups.
    pub(crate) us: &'a [Panel],
}

impl Columns<'_> {
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
        let Self { tiles, columns, backwards } = self;
        let (groups, us) = (columns.gains.len(), columns.us);
        let blocks = us.len().checked_div(groups).unwrap_or(0);
        let mut scaled = [ZERO_TILE; MAX_GROUPS];
        for step in 0..blocks {
            let b = if backwards { blocks - 1 - step } else { step };
            columns.scale(simd, b, &mut scaled);
            let scaled = &scaled[..groups];
            let column = &mut tiles[block_start(b)..][..=b];
            subtract_from(simd, column, scaled, &us[..(b + 1) * groups]);
        }
    }
}

/// `A_p ← A_p − Σ u_p scaledᵀ` for all tiles of one column of tiles.
#[inline(always)]
pub(super) fn subtract_from<S: Simd>(simd: S, tiles: &mut [Tile], scaled: &[Panel], us: &[Panel]) {
    let groups = scaled.len();
    // Two tiles at a time share each factor that is spread over a register, where there are registers enough.
    let (pairs, rest) = tiles.as_chunks_mut::<2>();
    let (us_pairs, us_rest) = us.split_at(2 * groups * pairs.len());
    for (pair, us) in pairs.iter_mut().zip(us_pairs.chunks_exact(2 * groups)) {
        let (one, two) = us.split_at(groups);
        if S::REGISTERS > 2 * LANES + 2 {
            subtract_columns::<S, 2, 0, LANES>(simd, pair, scaled, [one, two]);
        } else {
            for (tile, u) in pair.iter_mut().zip([one, two]) {
                subtract_from_tile(simd, tile, scaled, u);
            }
        }
    }
    for tile in rest {
        subtract_from_tile(simd, tile, scaled, us_rest);
    }
}

#[inline(always)]
fn subtract_from_tile<S: Simd>(simd: S, tile: &mut Tile, scaled: &[Panel], u: &[Panel]) {
    let tile = std::array::from_mut(tile);
    if S::REGISTERS > LANES + 2 {
        subtract_columns::<S, 1, 0, LANES>(simd, tile, scaled, [u]);
    } else {
        subtract_columns::<S, 1, 0, HALF>(simd, tile, scaled, [u]);
        subtract_columns::<S, 1, HALF, LANES>(simd, tile, scaled, [u]);
    }
}

/// Columns `FROM..TO` of `A_p ← A_p − Σ u_p scaledᵀ` for `N` tiles of one column of tiles; returns them, the others zero.
#[inline(always)]
pub(super) fn subtract_columns<S: Simd, const N: usize, const FROM: usize, const TO: usize>(
    simd: S,
    tiles: &mut [Tile; N],
    scaled: &[Panel],
    us: [&[Panel]; N],
) -> [[S::F64; LANES]; N] {
    let mut a = [[simd.splat(0.0); LANES]; N];
    for p in 0..N {
        for j in FROM..TO {
            a[p][j] = simd.load(&tiles[p][j]);
        }
    }
    let us = us.map(|u| &u[..scaled.len()]);
    for (g, scaled) in scaled.iter().enumerate() {
        for k in 0..LANES {
            let mut rows = [simd.splat(0.0); N];
            for p in 0..N {
                rows[p] = simd.load(&us[p][g][k]);
            }
            for j in FROM..TO {
                let factor = simd.splat(scaled[k].0[j]);
                for p in 0..N {
                    a[p][j] = simd.negate_mul_add(rows[p], factor, a[p][j]);
                }
            }
        }
    }
    for p in 0..N {
        for j in FROM..TO {
            simd.store(a[p][j], &mut tiles[p][j]);
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
