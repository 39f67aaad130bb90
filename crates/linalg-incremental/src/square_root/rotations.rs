//! Rotations by which a row changes eight rows of the factor, and the tiles beside them.

use mercer_simd::{LANES, Lane, Simd};

use super::outputs::{Coefficients, Outputs};
use crate::tiles::{Tile, split};

/// Tiles swept together, so that the dependent chain of one hides behind the others.
pub(super) const TILES_TOGETHER: usize = 3;

/// Above this growth of `τ` in one row, its rotation is formed so that nothing cancels (Gill,
/// Golub, Murray and Saunders 1974, p. 517).
const STEEP: f64 = 4.0;

/// Row `j` of the identity, and ones where a unit upper triangle has other entries.
const UNIT: Tile = triangle(1.0, 0.0);
const ABOVE: Tile = triangle(0.0, 1.0);

const fn triangle(on: f64, above: f64) -> Tile {
    let mut tile = [Lane::ZERO; LANES];
    let mut j = 0;
    while j < LANES {
        tile[j].0[j] = on;
        let mut k = j + 1;
        while k < LANES {
            tile[j].0[k] = above;
            k += 1;
        }
        j += 1;
    }
    tile
}

/// Change of eight rows `l_j` of the factor by a calm row: `r ← r − p_j l_j`, `l_j ← l_j + β_j r`,
/// and the inverse pivots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) p: Lane,
    pub(super) beta: Lane,
    pub(super) inverse_pivots: Lane,
}

impl Turn {
    pub(super) const NONE: Self = Self { p: Lane::ZERO, beta: Lane::ZERO, inverse_pivots: Lane::ZERO };

    /// One tile right of the diagonal.
    #[inline(always)]
    pub(super) fn rotate<S: Simd>(&self, simd: S, tile: &mut Tile, residual: &mut Lane) {
        let (tiles, residuals) = (std::array::from_mut(tile), [std::slice::from_mut(residual)]);
        rotate_together::<S, 1, 1, false>(simd, [self], &Lane::ZERO, tiles, residuals);
    }

    /// The diagonal tile. `l_j + β_j r_after` leaves what is on and below the diagonal exactly as
    /// it is, for there the residual is exactly zero. The last row has nothing else.
    #[inline(always)]
    pub(super) fn rotate_diagonal<S: Simd>(&self, simd: S, tile: &mut Tile, residual: &Lane) {
        let mut r = simd.load(residual);
        for j in 0..LANES - 1 {
            let l = simd.load(&tile[j]);
            r = simd.negate_mul_add(simd.splat(self.p.0[j]), l, r);
            simd.store(simd.mul_add(simd.splat(self.beta.0[j]), r, l), &mut tile[j]);
        }
    }

    #[inline(always)]
    pub(super) fn rotate_outputs<S: Simd>(&self, simd: S, c: &mut Coefficients, residual: &mut Outputs) {
        c.rotate::<S, false>(simd, self, &Lane::ZERO, residual, &mut Outputs::default());
    }
}

/// Change of eight rows of the factor by a row, steep or not.
#[derive(Clone, Copy)]
pub(super) struct BlockRotations {
    pub(super) turn: Turn,
    pub(super) taus: Taus,
    /// `τ_{j−1}/τ_j`
    keep: Lane,
    pub(super) steep: bool,
}

impl BlockRotations {
    #[inline(always)]
    pub(super) fn new<S: Simd>(simd: S, tau: f64, sign: f64, p: Lane, inverse_pivots: &Lane) -> Self {
        let taus = Taus::new(tau, sign, &p, inverse_pivots);
        let (mut beta, mut keep, mut after) = (Lane::ZERO, Lane::ZERO, Lane::ZERO);
        let (e, inverse) = (simd.load(inverse_pivots), simd.div(simd.splat(1.0), simd.load(&taus.after)));
        let kept = simd.mul(simd.load(&taus.before), inverse);
        simd.store(kept, &mut keep);
        simd.store(simd.mul(e, kept), &mut after);
        let signed = simd.mul(simd.splat(sign), simd.load(&p));
        simd.store(simd.mul(simd.mul(signed, e), inverse), &mut beta);
        Self { turn: Turn { p, beta, inverse_pivots: after }, taus, keep, steep: taus.are_steep() }
    }

    /// The tiles right of the diagonal; if `N = 2`, after the row that `waits`.
    #[inline(always)]
    pub(super) fn rotate<S: Simd, const N: usize>(
        &self,
        simd: S,
        waiting: &Turn,
        tiles: &mut [Tile],
        residuals: [&mut [Lane]; N],
    ) {
        let turns = std::array::from_fn(|k| if k + 1 < N { waiting } else { &self.turn });
        if self.steep {
            rotate::<S, N, true>(simd, turns, &self.keep, tiles, residuals);
        } else {
            rotate::<S, N, false>(simd, turns, &self.keep, tiles, residuals);
        }
    }

    /// The diagonal tile. A steep rotation leaves rounding on and below the diagonal, which stays
    /// out.
    #[inline(always)]
    pub(super) fn rotate_diagonal<S: Simd>(&self, simd: S, tile: &mut Tile, residual: &mut Lane) {
        if self.steep {
            let (tiles, residuals) = (std::array::from_mut(tile), [std::slice::from_mut(residual)]);
            rotate_together::<S, 1, 1, true>(simd, [&self.turn], &self.keep, tiles, residuals);
            for j in 0..LANES {
                let rotated = simd.mul(simd.load(&tile[j]), simd.load(&ABOVE[j]));
                simd.store(simd.add(rotated, simd.load(&UNIT[j])), &mut tile[j]);
            }
        } else {
            self.turn.rotate_diagonal(simd, tile, residual);
        }
    }

    #[inline(always)]
    pub(super) fn rotate_outputs<S: Simd>(
        &self,
        simd: S,
        c: &mut Coefficients,
        residual: &mut Outputs,
        sum: &mut Outputs,
    ) {
        if self.steep {
            c.rotate::<S, true>(simd, &self.turn, &self.keep, residual, sum);
        } else {
            c.rotate::<S, false>(simd, &self.turn, &self.keep, residual, sum);
        }
    }
}

impl Coefficients {
    /// `s ← s + p_j c_j`, `ρ ← ρ − p_j c_j`, `c_j ← c_j + β_j ρ` for eight rows; if `STEEP`, in the
    /// form that does not cancel (`keep` is `τ_{j−1}/τ_j`). The prediction `s` is summed apart from
    /// what is left of the outputs, `ρ`: their rounding must not reach it.
    #[inline(always)]
    pub(super) fn rotate<S: Simd, const STEEP: bool>(
        &mut self,
        simd: S,
        turn: &Turn,
        keep: &Lane,
        residual: &mut Outputs,
        sum: &mut Outputs,
    ) {
        let (mut rho, mut s) = (simd.load_half(residual), simd.load_half(sum));
        for j in 0..LANES {
            let (p, beta) = (simd.splat_half(turn.p.0[j]), simd.splat_half(turn.beta.0[j]));
            let (old, before) = (simd.load_half(&self.0[j]), rho);
            s = simd.mul_add_half(p, old, s);
            rho = simd.negate_mul_add_half(p, old, before);
            let rotated = if STEEP {
                simd.mul_add_half(beta, before, simd.mul_half(simd.splat_half(keep.0[j]), old))
            } else {
                simd.mul_add_half(beta, rho, old)
            };
            simd.store_half(rotated, &mut self.0[j]);
        }
        simd.store_half(rho, residual);
        simd.store_half(s, sum);
    }
}

/// `l_j` after its rotation. `l_j + β_j r_after` costs least, and cancels when the row outweighs
/// all before it: then `l_j τ_{j−1}/τ_j + β_j r_before` is the same and does not.
#[inline(always)]
fn rotated<S: Simd, const STEEP: bool>(
    simd: S,
    beta: S::F64,
    keep: f64,
    old: S::F64,
    before: S::F64,
    after: S::F64,
) -> S::F64 {
    if STEEP { simd.mul_add(beta, before, simd.mul(simd.splat(keep), old)) } else { simd.mul_add(beta, after, old) }
}

#[inline(always)]
fn rotate<S: Simd, const N: usize, const STEEP: bool>(
    simd: S,
    turns: [&Turn; N],
    keep: &Lane,
    tiles: &mut [Tile],
    residuals: [&mut [Lane]; N],
) {
    // A lane in two registers is two chains already, and the processor begins with the next tile by
    // itself.
    if S::REGISTERS > LANES {
        rotate_by::<S, N, TILES_TOGETHER, STEEP>(simd, turns, keep, tiles, residuals);
    } else {
        rotate_by::<S, N, 1, STEEP>(simd, turns, keep, tiles, residuals);
    }
}

/// All tiles, `T` at a time.
#[inline(always)]
fn rotate_by<S: Simd, const N: usize, const T: usize, const STEEP: bool>(
    simd: S,
    turns: [&Turn; N],
    keep: &Lane,
    tiles: &mut [Tile],
    mut residuals: [&mut [Lane]; N],
) {
    let (chunks, rest) = tiles.as_chunks_mut::<T>();
    let mut at = 0;
    for chunk in chunks {
        let residuals = residuals.each_mut().map(|residual| &mut residual[at..at + T]);
        rotate_together::<S, N, T, STEEP>(simd, turns, keep, chunk, residuals);
        at += T;
    }
    for tile in rest {
        let residuals = residuals.each_mut().map(|residual| &mut residual[at..=at]);
        rotate_together::<S, N, 1, STEEP>(simd, turns, keep, std::array::from_mut(tile), residuals);
        at += 1;
    }
}

/// `T` tiles by `N` rows one after the other; only the last may be steep.
#[inline(always)]
fn rotate_together<S: Simd, const N: usize, const T: usize, const STEEP: bool>(
    simd: S,
    turns: [&Turn; N],
    keep: &Lane,
    tiles: &mut [Tile; T],
    residuals: [&mut [Lane]; N],
) {
    let mut r = [[simd.splat(0.0); T]; N];
    for k in 0..N {
        for g in 0..T {
            r[k][g] = simd.load(&residuals[k][g]);
        }
    }
    for j in 0..LANES {
        // Spread over registers once for all tiles: from memory each time, the loads would be more
        // than the arithmetic.
        let (mut p, mut beta) = ([simd.splat(0.0); N], [simd.splat(0.0); N]);
        for k in 0..N {
            (p[k], beta[k]) = (simd.splat(turns[k].p.0[j]), simd.splat(turns[k].beta.0[j]));
        }
        for g in 0..T {
            let mut l = simd.load(&tiles[g][j]);
            for k in 0..N {
                let before = r[k][g];
                r[k][g] = simd.negate_mul_add(p[k], l, before);
                l = if STEEP && k == N - 1 {
                    rotated::<S, true>(simd, beta[k], keep.0[j], l, before, r[k][g])
                } else {
                    rotated::<S, false>(simd, beta[k], 1.0, l, before, r[k][g])
                };
            }
            simd.store(l, &mut tiles[g][j]);
        }
    }
    for (r, residual) in r.into_iter().zip(residuals) {
        for g in 0..T {
            simd.store(r[g], &mut residual[g]);
        }
    }
}

/// `τ` before and after each of eight rows.
#[derive(Clone, Copy)]
pub(super) struct Taus {
    before: Lane,
    after: Lane,
}

impl Taus {
    #[inline(always)]
    pub(super) fn new(mut tau: f64, sign: f64, p: &Lane, inverse_pivots: &Lane) -> Self {
        let (mut before, mut after) = (Lane::ZERO, Lane::ZERO);
        for j in 0..LANES {
            before.0[j] = tau;
            tau = (sign * p.0[j] * inverse_pivots.0[j]).mul_add(p.0[j], tau);
            after.0[j] = tau;
        }
        Self { before, after }
    }

    #[inline(always)]
    pub(super) fn last(&self) -> f64 {
        self.after.0[LANES - 1]
    }

    /// True if `τ` grows so much that the rotations cancel.
    #[inline(always)]
    pub(super) fn are_steep(&self) -> bool {
        self.last() > STEEP * self.before.0[0]
    }

    /// `τ` of the first `size` coordinates, which end in these eight rows.
    #[inline(always)]
    pub(super) fn at(&self, size: usize) -> f64 {
        self.before.0[split(size).1]
    }
}

/// `p = T⁻ᵀ residual` for the eight rows of a diagonal tile (of unit diagonal), each taken off the
/// later ones at once: the dependent chain is one fused multiply-add a row.
#[inline(always)]
pub(super) fn substitute(tile: &Tile, mut residual: Lane) -> Lane {
    for j in 0..LANES {
        for k in j + 1..LANES {
            residual.0[k] = (-tile[j].0[k]).mul_add(residual.0[j], residual.0[k]);
        }
    }
    residual
}
