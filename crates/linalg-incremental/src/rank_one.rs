//! Rank-one update and downdate of a Cholesky factor, `L' L'ᵀ = L Lᵀ + σ v vᵀ` with `σ = ±1`.
//!
//! With `w = L⁻¹v` and `τ_j = τ_{j−1} + σ w_j²`, `τ_{−1} = 1`, column `j` becomes
//! `L'_j = √(τ_j/τ_{j−1}) L_j + σ w_j/√(τ_j τ_{j−1}) · r_j`, where `r_j = v − Σ_{k≤j} w_k L_k`
//! (Gill, Golub, Murray and Saunders 1974, method C1). Every scalar is known before the sweep, so a
//! downdate that would fail is refused with the factor untouched, and the sweep holds no square
//! root or division.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::NotPositiveDefinite;
use crate::cholesky::GrowingCholesky;
use crate::tiles::{Tile, block_start};

/// Panels swept together, so that the dependent chain of one hides behind the others.
const PANELS_SWEPT: usize = 4;

/// Scratch memory of [`GrowingCholesky::update`] and [`GrowingCholesky::downdate`]; grows to the
/// factor's size and is then reused.
#[derive(Clone, Debug, Default)]
pub struct RankOneScratch {
    w: AlignedVec,
    keep: AlignedVec,
    mix: AlignedVec,
}

impl GrowingCholesky {
    /// `L Lᵀ ← L Lᵀ + v vᵀ`: `n²` multiply-adds.
    ///
    /// # Panics
    /// If `v` has not `n` entries.
    pub fn update(&mut self, v: &AlignedVec, scratch: &mut RankOneScratch) {
        // An update cannot fail: every τ is at least 1.
        let _ = self.rank_one(v, 1.0, scratch);
    }

    /// `L Lᵀ ← L Lᵀ − v vᵀ`: `n²` multiply-adds.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when `‖L⁻¹v‖ ≥ 1` (to rounding); the factor is unchanged.
    ///
    /// # Panics
    /// If `v` has not `n` entries.
    pub fn downdate(&mut self, v: &AlignedVec, scratch: &mut RankOneScratch) -> Result<(), NotPositiveDefinite> {
        self.rank_one(v, -1.0, scratch)
    }

    fn rank_one(&mut self, v: &AlignedVec, sign: f64, scratch: &mut RankOneScratch) -> Result<(), NotPositiveDefinite> {
        let RankOneScratch { w, keep, mix } = scratch;
        self.forward_solve(v, w);
        keep.resize(w.len());
        mix.resize(w.len());
        let mut before = 1.0;
        for ((w, keep), mix) in w.iter().zip(keep.iter_mut()).zip(mix.iter_mut()) {
            let after = before + sign * w * w;
            if after.is_nan() || after <= f64::EPSILON {
                return Err(NotPositiveDefinite { pivot: after });
            }
            *keep = (after / before).sqrt();
            *mix = sign * w / (after * before).sqrt();
            before = after;
        }
        dispatch(Sweep { tiles: &mut self.tiles, v: v.lanes(), w: w.lanes(), keep: keep.lanes(), mix: mix.lanes() });
        for (reciprocal, keep) in self.reciprocals.iter_mut().zip(keep.iter()) {
            *reciprocal /= keep;
        }
        Ok(())
    }
}

struct Sweep<'a> {
    tiles: &'a mut [Tile],
    v: &'a [Lane],
    w: &'a [Lane],
    keep: &'a [Lane],
    mix: &'a [Lane],
}

impl Sweep<'_> {
    /// Moves one tile, whose columns are those of lane `q`; returns what is left of `v` after them.
    #[inline(always)]
    fn tile<S: Simd>(&self, simd: S, tile: &mut Tile, q: usize, mut residual: S::F64) -> S::F64 {
        for (j, column) in tile.iter_mut().enumerate() {
            let old = simd.load(column);
            residual = simd.negate_mul_add(simd.splat(self.w[q].0[j]), old, residual);
            let kept = simd.mul(simd.splat(self.keep[q].0[j]), old);
            simd.store(simd.mul_add(simd.splat(self.mix[q].0[j]), residual, kept), column);
        }
        residual
    }
}

impl Op for Sweep<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let tiles = std::mem::take(&mut self.tiles);
        for first in (0..self.v.len()).step_by(PANELS_SWEPT) {
            let group = PANELS_SWEPT.min(self.v.len() - first);
            let mut residuals = [simd.splat(0.0); PANELS_SWEPT];
            for k in 0..group {
                residuals[k] = simd.load(&self.v[first + k]);
            }
            for q in 0..first {
                for k in 0..group {
                    residuals[k] = self.tile(simd, &mut tiles[block_start(first + k) + q], q, residuals[k]);
                }
            }
            for k in 0..group {
                let (b, start) = (first + k, block_start(first + k));
                for q in first..b {
                    residuals[k] = self.tile(simd, &mut tiles[start + q], q, residuals[k]);
                }
                sweep_diagonal(&self, simd, &mut tiles[start + b], b, residuals[k]);
            }
        }
    }
}

/// The diagonal tile: as the others, but what the recurrence leaves above and on the diagonal is
/// rounding and stays out.
#[inline(always)]
fn sweep_diagonal<S: Simd>(sweep: &Sweep<'_>, simd: S, tile: &mut Tile, b: usize, residual: S::F64) {
    let old = *tile;
    sweep.tile(simd, tile, b, residual);
    for j in 0..LANES {
        tile[j].0[..j].fill(0.0);
        tile[j].0[j] = sweep.keep[b].0[j] * old[j].0[j];
    }
}
