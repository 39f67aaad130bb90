//! The two passes of square-root least squares: one that reads, one that reads and writes.

use mercer_simd::{LANES, Lane, Op, Simd};

use crate::tiles::{Tile, split};

/// Tiles swept together, so that the dependent chain of one hides behind the others.
const TOGETHER: usize = 4;

/// Forward elimination of a row with the leading block, changing nothing; returns `τ` of the leading block.
pub(super) struct Solve<'a> {
    pub(super) tiles: &'a [Tile],
    /// Blocks of the whole factor.
    pub(super) blocks: usize,
    pub(super) reciprocals: &'a [Lane],
    pub(super) u: &'a [Tile],
    /// The row, as many lanes as the leading block has; eliminated in place.
    pub(super) residual: &'a mut [Lane],
    pub(super) sums: &'a mut [Lane],
    pub(super) leading: usize,
    pub(super) at_leading: &'a mut [Lane],
}

impl Op for Solve<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let Self { mut tiles, blocks, reciprocals, u, residual, sums, leading, at_leading } = self;
        let (last, rows) = split(leading);
        let outputs = sums.len();
        let (mut tau, mut tau_at_leading) = (1.0, 1.0);
        for b in 0..residual.len() {
            let (block, rest) = tiles.split_at(blocks - b);
            tiles = rest;
            let v = substitute(&block[0], &reciprocals[b], residual[b]);
            let (_, after) = accumulate(tau, 1.0, &v);
            eliminate(simd, &v, &block[1..], &mut residual[b + 1..]);
            let u = &u[b * outputs..(b + 1) * outputs];
            if b == last {
                tau_at_leading = if rows == 0 { tau } else { after.0[rows - 1] };
                leading_rows(simd, &v, rows, u, sums, at_leading);
            }
            for (sum, u) in sums.iter_mut().zip(u) {
                let mut s = simd.load(sum);
                for j in 0..LANES {
                    s = simd.mul_add(simd.splat(v.0[j]), simd.load(&u[j]), s);
                }
                simd.store(s, sum);
            }
            tau = after.0[LANES - 1];
        }
        if last >= residual.len() {
            at_leading.copy_from_slice(sums);
            tau_at_leading = tau;
        }
        tau_at_leading
    }
}

/// Adds (`sign = 1`) or takes back (`sign = −1`) a row of the whole factor; returns `τ` of the leading block before.
pub(super) struct Sweep<'a> {
    pub(super) tiles: &'a mut [Tile],
    pub(super) reciprocals: &'a mut [Lane],
    pub(super) u: &'a mut [Tile],
    pub(super) residual: &'a mut [Lane],
    pub(super) outputs: &'a [Lane],
    pub(super) sums: &'a mut [Lane],
    pub(super) sign: f64,
    pub(super) leading: usize,
    pub(super) at_leading: &'a mut [Lane],
}

impl Op for Sweep<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let Self { mut tiles, reciprocals, u, residual, outputs, sums, sign, leading, at_leading } = self;
        let blocks = residual.len();
        let (last, rows) = split(leading);
        let (mut tau, mut tau_at_leading) = (1.0, 1.0);
        // Nothing of the row is eliminated by rows of R that come before its first entry.
        let first = residual.iter().position(|lane| *lane != Lane::ZERO).unwrap_or(blocks);
        for b in 0..blocks {
            let (block, rest) = tiles.split_at_mut(blocks - b);
            tiles = rest;
            if b < first {
                continue;
            }
            let (diagonal, others) = block.split_at_mut(1);
            let v = substitute(&diagonal[0], &reciprocals[b], residual[b]);
            let (before, after) = accumulate(tau, sign, &v);
            let rotations = Rotations::new(simd, sign, v, &before, &after);
            rotations.rotate(simd, others, &mut residual[b + 1..]);
            reciprocals[b] = rotations.rotate_diagonal(simd, &mut diagonal[0], &residual[b]);
            let u = &mut u[b * outputs.len()..(b + 1) * outputs.len()];
            if b == last {
                tau_at_leading = if rows == 0 { tau } else { after.0[rows - 1] };
                leading_rows(simd, &v, rows, u, sums, at_leading);
            }
            for ((sum, u), y) in sums.iter_mut().zip(u).zip(outputs) {
                rotations.rotate_outputs(simd, u, y, sum);
            }
            tau = after.0[LANES - 1];
        }
        if last >= blocks {
            at_leading.copy_from_slice(sums);
            tau_at_leading = tau;
        }
        tau_at_leading
    }
}

/// `v_j = r_j / R_jj` for the eight rows of a diagonal tile, each taken off the later ones at once: the dependent chain is one
/// multiplication and one fused multiply-add a row.
#[inline(always)]
fn substitute(tile: &Tile, reciprocals: &Lane, mut residual: Lane) -> Lane {
    for j in 0..LANES {
        residual.0[j] *= reciprocals.0[j];
        for k in j + 1..LANES {
            residual.0[k] = (-tile[j].0[k]).mul_add(residual.0[j], residual.0[k]);
        }
    }
    residual
}

/// `τ` before and after each of eight rows.
#[inline(always)]
fn accumulate(mut tau: f64, sign: f64, v: &Lane) -> (Lane, Lane) {
    let (mut before, mut after) = (Lane::ZERO, Lane::ZERO);
    for j in 0..LANES {
        before.0[j] = tau;
        tau = (sign * v.0[j]).mul_add(v.0[j], tau);
        after.0[j] = tau;
    }
    (before, after)
}

/// `Σ v_k U_k` up to row `rows` of a block: what a leading block that ends there predicts.
#[inline(always)]
fn leading_rows<S: Simd>(simd: S, v: &Lane, rows: usize, u: &[Tile], sums: &[Lane], at_leading: &mut [Lane]) {
    for ((at_leading, sum), u) in at_leading.iter_mut().zip(sums).zip(u) {
        let mut s = simd.load(sum);
        for j in 0..rows {
            s = simd.mul_add(simd.splat(v.0[j]), simd.load(&u[j]), s);
        }
        simd.store(s, at_leading);
    }
}

/// Takes eight rows of `R` off the residual, in the order in which the rotations do.
#[inline(always)]
fn eliminate<S: Simd>(simd: S, v: &Lane, tiles: &[Tile], residual: &mut [Lane]) {
    let v: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(v.0[j]));
    let (tiles, tiles_rest) = tiles.as_chunks::<TOGETHER>();
    // The leading block may be narrower than the tiles at hand.
    let (residual, residual_rest) = residual.as_chunks_mut::<TOGETHER>();
    let rest = tiles.get(residual.len()).map_or(tiles_rest, |chunk| chunk);
    for (tiles, residual) in tiles.iter().zip(residual) {
        eliminate_together(simd, &v, tiles, residual);
    }
    for (tile, residual) in rest.iter().zip(residual_rest) {
        eliminate_together(simd, &v, std::array::from_ref(tile), std::array::from_mut(residual));
    }
}

#[inline(always)]
fn eliminate_together<S: Simd, const N: usize>(
    simd: S,
    v: &[S::F64; LANES],
    tiles: &[Tile; N],
    residual: &mut [Lane; N],
) {
    let mut r: [S::F64; N] = std::array::from_fn(|g| simd.load(&residual[g]));
    for j in 0..LANES {
        for g in 0..N {
            r[g] = simd.negate_mul_add(v[j], simd.load(&tiles[g][j]), r[g]);
        }
    }
    for g in 0..N {
        simd.store(r[g], &mut residual[g]);
    }
}

/// The rotations of eight rows: `R_j ← keep_j R_j + mix_j r`, `r ← r − v_j R_j`.
struct Rotations {
    v: Lane,
    keep: Lane,
    mix: Lane,
}

impl Rotations {
    #[inline(always)]
    fn new<S: Simd>(simd: S, sign: f64, v: Lane, before: &Lane, after: &Lane) -> Self {
        let (mut keep, mut mix) = (Lane::ZERO, Lane::ZERO);
        let (tau, v_signed) = (simd.load(after), simd.mul(simd.splat(sign), simd.load(&v)));
        let root = simd.sqrt(simd.div(simd.load(before), tau));
        simd.store(root, &mut keep);
        // v/√(τ_before τ) without a product that could overflow.
        simd.store(simd.div(v_signed, simd.mul(tau, root)), &mut mix);
        Self { v, keep, mix }
    }

    /// The tiles right of the diagonal.
    #[inline(always)]
    fn rotate<S: Simd>(&self, simd: S, tiles: &mut [Tile], residual: &mut [Lane]) {
        let (tiles, tiles_rest) = tiles.as_chunks_mut::<TOGETHER>();
        let (residual, residual_rest) = residual.as_chunks_mut::<TOGETHER>();
        for (tiles, residual) in tiles.iter_mut().zip(residual) {
            self.rotate_together(simd, tiles, residual);
        }
        for (tile, residual) in tiles_rest.iter_mut().zip(residual_rest) {
            self.rotate_together(simd, std::array::from_mut(tile), std::array::from_mut(residual));
        }
    }

    #[inline(always)]
    fn rotate_together<S: Simd, const N: usize>(&self, simd: S, tiles: &mut [Tile; N], residual: &mut [Lane; N]) {
        let mut r: [S::F64; N] = std::array::from_fn(|g| simd.load(&residual[g]));
        for j in 0..LANES {
            let (v, keep, mix) = self.row(simd, j);
            for g in 0..N {
                let old = simd.load(&tiles[g][j]);
                simd.store(simd.mul_add(mix, r[g], simd.mul(keep, old)), &mut tiles[g][j]);
                r[g] = simd.negate_mul_add(v, old, r[g]);
            }
        }
        for g in 0..N {
            simd.store(r[g], &mut residual[g]);
        }
    }

    /// The diagonal tile: as the others, but what the recurrence leaves below the diagonal is rounding and stays out. Returns the
    /// reciprocals of the new diagonal.
    #[inline(always)]
    fn rotate_diagonal<S: Simd>(&self, simd: S, tile: &mut Tile, residual: &Lane) -> Lane {
        let mut r = simd.load(residual);
        let mut pivots = Lane::ZERO;
        for j in 0..LANES {
            let (v, keep, mix) = self.row(simd, j);
            let old = simd.load(&tile[j]);
            simd.store(simd.mul_add(mix, r, simd.mul(keep, old)), &mut tile[j]);
            tile[j].0[..j].fill(0.0);
            pivots.0[j] = tile[j].0[j];
            r = simd.negate_mul_add(v, old, r);
        }
        simd.store(simd.div(simd.splat(1.0), simd.load(&pivots)), &mut pivots);
        pivots
    }

    /// The rows of `U`, whose residual is `y` less what has been predicted so far.
    #[inline(always)]
    fn rotate_outputs<S: Simd>(&self, simd: S, u: &mut Tile, y: &Lane, sum: &mut Lane) {
        let (y, mut s) = (simd.load(y), simd.load(sum));
        for j in 0..LANES {
            let (v, keep, mix) = self.row(simd, j);
            let old = simd.load(&u[j]);
            simd.store(simd.mul_add(mix, simd.sub(y, s), simd.mul(keep, old)), &mut u[j]);
            s = simd.mul_add(v, old, s);
        }
        simd.store(s, sum);
    }

    #[inline(always)]
    fn row<S: Simd>(&self, simd: S, j: usize) -> (S::F64, S::F64, S::F64) {
        (simd.splat(self.v.0[j]), simd.splat(self.keep.0[j]), simd.splat(self.mix.0[j]))
    }
}
