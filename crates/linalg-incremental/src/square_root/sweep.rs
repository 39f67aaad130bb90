//! The two passes of square-root least squares: one that reads, one that reads and writes.

use mercer_simd::{LANES, Lane, Op, Simd};

use crate::tiles::{Tile, split};

/// Tiles swept together, so that the dependent chain of one hides behind the others.
const TOGETHER: usize = 4;

/// Above this growth of `τ` in one row, its rotation is formed so that nothing cancels (Gill, Golub, Murray and Saunders
/// 1974, p. 517).
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

/// Forward elimination of a row with the leading block, changing nothing; returns `τ` of the leading block.
pub(super) struct Solve<'a> {
    pub(super) tiles: &'a [Tile],
    /// Blocks of the whole factor.
    pub(super) blocks: usize,
    pub(super) inverse_pivots: &'a [Lane],
    pub(super) coefficients: &'a [Tile],
    /// The row, as many lanes as the leading block has; eliminated in place.
    pub(super) residual: &'a mut [Lane],
    pub(super) leading: Leading<'a>,
}

/// The prediction of the leading block, caught on the way.
pub(super) struct Leading<'a> {
    /// Coordinates of the leading block.
    pub(super) size: usize,
    /// `Σ p_k c_k` over the rows passed.
    pub(super) sums: &'a mut [Lane],
    /// The same where the leading block ends.
    pub(super) prediction: &'a mut [Lane],
}

impl Op for Solve<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let Self { mut tiles, blocks, inverse_pivots, coefficients, residual, mut leading } = self;
        let outputs = leading.sums.len();
        let (mut tau, mut tau_at_leading) = (1.0, None);
        for b in 0..residual.len() {
            let (block, rest) = tiles.split_at(blocks - b);
            tiles = rest;
            let p = substitute(&block[0], residual[b]);
            let taus = Taus::new(tau, 1.0, &p, &inverse_pivots[b]);
            eliminate(simd, &p, &block[1..], &mut residual[b + 1..]);
            let coefficients = &coefficients[b * outputs..(b + 1) * outputs];
            leading.catch(simd, b, &p, coefficients).then(|| tau_at_leading = Some(taus.at(leading.size)));
            for (sum, c) in leading.sums.iter_mut().zip(coefficients) {
                add_rows(simd, &p, LANES, c, sum);
            }
            tau = taus.last();
        }
        tau_at_leading.unwrap_or_else(|| leading.at_end(tau))
    }
}

/// Adds (`sign = 1`) or takes back (`sign = −1`) a row of the whole factor; returns `τ` of the leading block before.
pub(super) struct Sweep<'a> {
    pub(super) tiles: &'a mut [Tile],
    pub(super) inverse_pivots: &'a mut [Lane],
    pub(super) coefficients: &'a mut [Tile],
    pub(super) residual: &'a mut [Lane],
    pub(super) outputs: &'a [Lane],
    pub(super) sign: f64,
    pub(super) leading: Leading<'a>,
}

impl Op for Sweep<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let Self { tiles, inverse_pivots, coefficients, residual, outputs, sign, mut leading } = self;
        let blocks = residual.len();
        // Rows of the factor that come before the first entry of the row stay as they are.
        let first = residual.iter().position(|lane| *lane != Lane::ZERO).unwrap_or(blocks);
        let (_, mut tiles) = tiles.split_at_mut(first * (2 * blocks + 1 - first) / 2);
        let mut tau_at_leading = (leading.size < first * LANES).then_some(1.0);
        let mut ahead = match tiles.first() {
            Some(tile) => Rotations::new(simd, 1.0, sign, substitute(tile, residual[first]), &inverse_pivots[first]),
            None => return leading.at_end(1.0),
        };
        for b in first..blocks {
            let (block, rest) = tiles.split_at_mut(blocks - b);
            tiles = rest;
            let now = ahead;
            // The next eight scalars before this block's tiles: their chain and their divisions hide behind the pass.
            if let (Some(next), Some(tile)) = (tiles.first(), block.get(1)) {
                let mut r = residual[b + 1];
                eliminate(simd, &now.p, std::slice::from_ref(tile), std::slice::from_mut(&mut r));
                ahead = Rotations::new(simd, now.taus.last(), sign, substitute(next, r), &inverse_pivots[b + 1]);
            }
            let (diagonal, others) = block.split_at_mut(1);
            let coefficients = &mut coefficients[b * outputs.len()..(b + 1) * outputs.len()];
            leading.catch(simd, b, &now.p, coefficients).then(|| tau_at_leading = Some(now.taus.at(leading.size)));
            let (own, others_residual) = residual.split_at_mut(b + 1);
            if now.steep {
                now.rotate::<S, true>(simd, others, others_residual);
                now.rotate_diagonal::<S, true>(simd, &mut diagonal[0], &mut own[b]);
                now.rotate_coefficients::<S, true>(simd, coefficients, outputs, leading.sums);
            } else {
                now.rotate::<S, false>(simd, others, others_residual);
                now.rotate_diagonal::<S, false>(simd, &mut diagonal[0], &mut own[b]);
                now.rotate_coefficients::<S, false>(simd, coefficients, outputs, leading.sums);
            }
            inverse_pivots[b] = now.inverse_pivots;
        }
        tau_at_leading.unwrap_or_else(|| leading.at_end(ahead.taus.last()))
    }
}

impl Leading<'_> {
    /// In the block where the leading block ends: its prediction. Says whether this is that block.
    #[inline(always)]
    fn catch<S: Simd>(&mut self, simd: S, b: usize, p: &Lane, coefficients: &[Tile]) -> bool {
        let (last, rows) = split(self.size);
        if b == last {
            self.prediction.copy_from_slice(self.sums);
            for (prediction, c) in self.prediction.iter_mut().zip(coefficients) {
                add_rows(simd, p, rows, c, prediction);
            }
        }
        b == last
    }

    /// When the leading block ends with the pass.
    #[inline(always)]
    fn at_end(&mut self, tau: f64) -> f64 {
        self.prediction.copy_from_slice(self.sums);
        tau
    }
}

/// `τ` before and after each of eight rows.
#[derive(Clone, Copy)]
struct Taus {
    before: Lane,
    after: Lane,
}

impl Taus {
    #[inline(always)]
    fn new(mut tau: f64, sign: f64, p: &Lane, inverse_pivots: &Lane) -> Self {
        let (mut before, mut after) = (Lane::ZERO, Lane::ZERO);
        for j in 0..LANES {
            before.0[j] = tau;
            tau = (sign * p.0[j] * inverse_pivots.0[j]).mul_add(p.0[j], tau);
            after.0[j] = tau;
        }
        Self { before, after }
    }

    #[inline(always)]
    fn last(&self) -> f64 {
        self.after.0[LANES - 1]
    }

    /// `τ` of the first `size` coordinates, which end in these eight rows.
    #[inline(always)]
    fn at(&self, size: usize) -> f64 {
        self.before.0[split(size).1]
    }
}

/// `p = T⁻ᵀ residual` for the eight rows of a diagonal tile (of unit diagonal), each taken off the later ones at once: the
/// dependent chain is one fused multiply-add a row.
#[inline(always)]
fn substitute(tile: &Tile, mut residual: Lane) -> Lane {
    for j in 0..LANES {
        for k in j + 1..LANES {
            residual.0[k] = (-tile[j].0[k]).mul_add(residual.0[j], residual.0[k]);
        }
    }
    residual
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

/// The rotations of eight rows `l_j` of the factor: `r ← r − p_j l_j`, `l_j ← l_j + β_j r`.
#[derive(Clone, Copy)]
struct Rotations {
    p: Lane,
    taus: Taus,
    beta: Lane,
    /// `τ_{j−1}/τ_j`
    keep: Lane,
    /// What the inverse pivots become.
    inverse_pivots: Lane,
    steep: bool,
}

impl Rotations {
    #[inline(always)]
    fn new<S: Simd>(simd: S, tau: f64, sign: f64, p: Lane, inverse_pivots: &Lane) -> Self {
        let taus = Taus::new(tau, sign, &p, inverse_pivots);
        let (mut beta, mut keep, mut after) = (Lane::ZERO, Lane::ZERO, Lane::ZERO);
        let (e, inverse) = (simd.load(inverse_pivots), simd.div(simd.splat(1.0), simd.load(&taus.after)));
        let kept = simd.mul(simd.load(&taus.before), inverse);
        simd.store(kept, &mut keep);
        simd.store(simd.mul(e, kept), &mut after);
        let signed = simd.mul(simd.splat(sign), simd.load(&p));
        simd.store(simd.mul(simd.mul(signed, e), inverse), &mut beta);
        let steep = taus.last() > STEEP * taus.before.0[0];
        Self { p, taus, beta, keep, inverse_pivots: after, steep }
    }

    /// The tiles right of the diagonal.
    #[inline(always)]
    fn rotate<S: Simd, const STEEP: bool>(&self, simd: S, tiles: &mut [Tile], residual: &mut [Lane]) {
        let (tiles, tiles_rest) = tiles.as_chunks_mut::<TOGETHER>();
        let (residual, residual_rest) = residual.as_chunks_mut::<TOGETHER>();
        for (tiles, residual) in tiles.iter_mut().zip(residual) {
            self.rotate_together::<S, TOGETHER, STEEP>(simd, tiles, residual);
        }
        for (tile, residual) in tiles_rest.iter_mut().zip(residual_rest) {
            let (tile, residual) = (std::array::from_mut(tile), std::array::from_mut(residual));
            self.rotate_together::<S, 1, STEEP>(simd, tile, residual);
        }
    }

    #[inline(always)]
    fn rotate_together<S: Simd, const N: usize, const STEEP: bool>(
        &self,
        simd: S,
        tiles: &mut [Tile; N],
        residual: &mut [Lane; N],
    ) {
        let mut r: [S::F64; N] = std::array::from_fn(|g| simd.load(&residual[g]));
        for j in 0..LANES {
            for g in 0..N {
                let old = simd.load(&tiles[g][j]);
                let before = r[g];
                r[g] = simd.negate_mul_add(simd.splat(self.p.0[j]), old, before);
                simd.store(self.rotated::<S, STEEP>(simd, j, old, before, r[g]), &mut tiles[g][j]);
            }
        }
        for g in 0..N {
            simd.store(r[g], &mut residual[g]);
        }
    }

    /// `l_j` after its rotation. `l_j + β_j r_after` costs least, and cancels when the row outweighs all before it: then
    /// `l_j τ_{j−1}/τ_j + β_j r_before` is the same and does not.
    #[inline(always)]
    fn rotated<S: Simd, const STEEP: bool>(
        &self,
        simd: S,
        j: usize,
        old: S::F64,
        before: S::F64,
        after: S::F64,
    ) -> S::F64 {
        let beta = simd.splat(self.beta.0[j]);
        if STEEP {
            simd.mul_add(beta, before, simd.mul(simd.splat(self.keep.0[j]), old))
        } else {
            simd.mul_add(beta, after, old)
        }
    }

    /// The diagonal tile: as the others. `l_j + β_j r_after` leaves what is on and below the diagonal exactly as it is, for there the
    /// residual is exactly zero; the other form leaves rounding, which stays out.
    #[inline(always)]
    fn rotate_diagonal<S: Simd, const STEEP: bool>(&self, simd: S, tile: &mut Tile, residual: &mut Lane) {
        self.rotate_together::<S, 1, STEEP>(simd, std::array::from_mut(tile), std::array::from_mut(residual));
        if STEEP {
            for j in 0..LANES {
                let rotated = simd.mul(simd.load(&tile[j]), simd.load(&ABOVE[j]));
                simd.store(simd.add(rotated, simd.load(&UNIT[j])), &mut tile[j]);
            }
        }
    }

    /// The rows of coefficients, whose residual is `y` less what has been predicted so far.
    #[inline(always)]
    fn rotate_coefficients<S: Simd, const STEEP: bool>(
        &self,
        simd: S,
        coefficients: &mut [Tile],
        outputs: &[Lane],
        sums: &mut [Lane],
    ) {
        for ((sum, c), y) in sums.iter_mut().zip(coefficients).zip(outputs) {
            let (y, mut s) = (simd.load(y), simd.load(sum));
            for j in 0..LANES {
                let old = simd.load(&c[j]);
                let before = simd.sub(y, s);
                s = simd.mul_add(simd.splat(self.p.0[j]), old, s);
                let rotated = self.rotated::<S, STEEP>(simd, j, old, before, simd.sub(y, s));
                simd.store(rotated, &mut c[j]);
            }
            simd.store(s, sum);
        }
    }
}
