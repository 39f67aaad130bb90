//! The symmetric inverse `P = A⁻¹` of a matrix that takes rank-one updates and grows.
//!
//! `A ← A + w x xᵀ` is `P ← P − γ c cᵀ` with `c = Px`, `γ = w/(1 + w xᵀc)` (Sherman and Morrison 1950). A step of an online
//! learner therefore needs one product and one rank-one update. [`SymmetricInverse::subtract`] defers the update and the
//! next [`SymmetricInverse::multiply`] applies it on the way, so a step reads and writes each stored element **once**.
//!
//! Layout: half of the matrix by columns in 8×8 tiles, block `b` holding rows `0..8b+8` of columns `8b..8b+8`. A tile
//! serves both triangles: with its eight columns `a_j`, `y_rows += a_j x_j` at once, while the sums `a_jᵀ x_rows` stay in
//! eight registers for the whole block and are summed across lanes once at its end.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, axpy, dispatch, dot, scale};

use crate::NotPositiveDefinite;
use crate::tiles::{Tile, ZERO_TILE, block_start, split};

/// Symmetric positive definite `P` (`n × n`), half of it stored.
///
/// # Invariants
/// The matrix meant is the stored one minus `gain · u uᵀ`. Rows and columns past `n` are zero.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SymmetricInverse {
    n: usize,
    tiles: Vec<Tile>,
    gain: f64,
    u: AlignedVec,
}

impl SymmetricInverse {
    /// The empty matrix.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `value · I` of dimension `n`.
    #[must_use]
    pub fn scaled_identity(n: usize, value: f64) -> Self {
        let mut inverse = Self::new();
        inverse.restart(n, value);
        inverse
    }

    /// Becomes `value · I` of dimension `n`, keeping the memory.
    pub fn restart(&mut self, n: usize, value: f64) {
        self.n = 0;
        self.tiles.clear();
        self.gain = 0.0;
        self.u.resize(0);
        for _ in 0..n {
            self.grow(value);
        }
    }

    /// Number of rows `n`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// `P[i, j]`, with the deferred update applied.
    ///
    /// # Panics
    /// If `i ≥ n` or `j ≥ n`.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(i.max(j) < self.n, "entry ({i}, {j}) of a matrix of dimension {}", self.n);
        let ((p, row), (b, column)) = (split(i.min(j)), split(i.max(j)));
        let stored = self.tiles[block_start(b) + p][column].0[row];
        if self.gain == 0.0 { stored } else { stored - self.gain * self.u[i] * self.u[j] }
    }

    /// The sum of the diagonal. `O(n)`.
    #[must_use]
    pub fn trace(&self) -> f64 {
        (0..self.n).map(|i| self.entry(i, i)).sum()
    }

    /// `y ← P x`, applying a deferred update in the same pass; returns `xᵀ P x`. `n²` multiply-adds, and `½n²` more when
    /// an update was deferred.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    pub fn multiply(&mut self, x: &AlignedVec, y: &mut AlignedVec) -> f64 {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        y.resize(self.n);
        let (x_lanes, y_lanes) = (x.lanes(), y.lanes_mut());
        if self.gain == 0.0 {
            dispatch(Product { tiles: &self.tiles, x: x_lanes, y: y_lanes });
        } else {
            let (gain, u) = (self.gain, self.u.lanes());
            dispatch(UpdateAndProduct { tiles: &mut self.tiles, gain, u, x: x_lanes, y: y_lanes });
            self.gain = 0.0;
        }
        dot(x.lanes(), y.lanes())
    }

    /// `y ← P x` with the deferred update applied, changing nothing. `n²` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    pub fn product(&self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        y.resize(self.n);
        dispatch(Product { tiles: &self.tiles, x: x.lanes(), y: y.lanes_mut() });
        if self.gain != 0.0 {
            let along = dot(self.u.lanes(), x.lanes());
            axpy(-self.gain * along, self.u.lanes(), y.lanes_mut());
        }
    }

    /// `xᵀ P x` with the deferred update applied, changing nothing. `½n²` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    #[must_use]
    pub fn quadratic(&self, x: &AlignedVec) -> f64 {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        let stored = dispatch(Quadratic { tiles: &self.tiles, x: x.lanes() });
        if self.gain == 0.0 {
            return stored;
        }
        let along = dot(self.u.lanes(), x.lanes());
        stored - self.gain * along * along
    }

    /// `P ← P − gain · u uᵀ`, deferred to the next [`multiply`](Self::multiply). `O(n)` when none is pending.
    ///
    /// # Panics
    /// If `u` has not `n` entries.
    pub fn subtract(&mut self, gain: f64, u: &AlignedVec) {
        assert_eq!(u.len(), self.n, "the vector has one entry for each row of the matrix");
        self.flush();
        self.gain = gain;
        self.u.assign(u);
    }

    /// Applies a deferred update now; the matrix meant is the same before and after.
    pub fn flush(&mut self) {
        if self.gain != 0.0 {
            let gains = [self.gain];
            subtract_outer_products(&mut self.tiles, &gains, std::slice::from_ref(&self.u));
            self.gain = 0.0;
        }
    }

    /// Gains a row and column `[column; corner]`. `O(n)`.
    ///
    /// # Panics
    /// If `column` has not `n` entries.
    pub fn border(&mut self, column: &AlignedVec, corner: f64) {
        assert_eq!(column.len(), self.n, "a bordering column has one entry for each row of the matrix");
        let (b, lane) = split(self.n);
        self.grow(corner);
        let start = block_start(b);
        for (tile, values) in self.tiles[start..start + b].iter_mut().zip(column.lanes()) {
            tile[lane] = *values;
        }
        let diagonal = &mut self.tiles[start + b];
        for (j, value) in column[b * LANES..].iter().enumerate() {
            diagonal[lane].0[j] = *value;
            diagonal[j].0[lane] = *value;
        }
    }

    /// Gains a row and column of zeros with `corner` on the diagonal: `A` gains the independent entry `1/corner`. `O(n)`.
    pub fn grow(&mut self, corner: f64) {
        let (b, lane) = split(self.n);
        if lane == 0 {
            self.tiles.resize(block_start(b + 1), ZERO_TILE);
        }
        let diagonal = block_start(b) + b;
        self.tiles[diagonal][lane].0[lane] = corner;
        self.n += 1;
        // The deferred update does not reach the new row.
        self.u.resize(if self.gain == 0.0 { 0 } else { self.n });
    }

    /// `A ← A + weight · x xᵀ` by Sherman–Morrison.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when `1 + weight · xᵀPx` is not positive (a downdate too large); nothing is changed.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    pub fn rank_one(&mut self, weight: f64, x: &AlignedVec, c: &mut AlignedVec) -> Result<(), NotPositiveDefinite> {
        let pivot = 1.0 + weight * self.multiply(x, c);
        if pivot.is_nan() || pivot <= f64::EPSILON {
            return Err(NotPositiveDefinite { pivot });
        }
        self.subtract(weight / pivot, c);
        Ok(())
    }

    /// `A ← A + Σ_b weights[b] · x_b x_bᵀ` by Woodbury's identity, in the form of a Cholesky recursion inside the block:
    /// `c_b = P x_b − Σ_{a<b} γ_a c_a (c_aᵀ x_b)`, `γ_b = w_b/(1 + w_b x_bᵀ c_b)`, then `P ← P − Σ γ_b c_b c_bᵀ` in one pass.
    /// `columns` receives the `c_b`; its memory is reused.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when a pivot `1 + w_b x_bᵀ c_b` is not positive; nothing is changed.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn rank_many(
        &mut self,
        weights: &[f64],
        xs: &[AlignedVec],
        columns: &mut Vec<AlignedVec>,
    ) -> Result<(), NotPositiveDefinite> {
        assert_eq!(weights.len(), xs.len(), "one weight for each vector");
        columns.resize(xs.len(), AlignedVec::new());
        for (b, x) in xs.iter().enumerate() {
            let (earlier, rest) = columns.split_at_mut(b);
            let c = &mut rest[0];
            self.multiply(x, c);
            // The earlier columns are stored as √|γ| c, so that the products below and the last pass agree.
            for (a, column) in earlier.iter().enumerate() {
                let along = dot(column.lanes(), x.lanes()) * weights[a].signum();
                axpy(-along, column.lanes(), c.lanes_mut());
            }
            let pivot = 1.0 + weights[b] * dot(x.lanes(), c.lanes());
            if pivot.is_nan() || pivot <= f64::EPSILON {
                return Err(NotPositiveDefinite { pivot });
            }
            scale((weights[b].abs() / pivot).sqrt(), c);
        }
        let signs: Vec<f64> = weights.iter().map(|w| w.signum()).collect();
        subtract_outer_products(&mut self.tiles, &signs, columns);
        Ok(())
    }
}

/// `P ← P − Σ_b gains[b] · u_b u_bᵀ` in one pass over the tiles.
fn subtract_outer_products(tiles: &mut [Tile], gains: &[f64], us: &[AlignedVec]) {
    dispatch(OuterProducts { tiles, gains, us });
}

struct OuterProducts<'a> {
    tiles: &'a mut [Tile],
    gains: &'a [f64],
    us: &'a [AlignedVec],
}

impl Op for OuterProducts<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let blocks = self.us.first().map_or(0, |u| u.lanes().len());
        let mut tiles = self.tiles;
        for b in 0..blocks {
            let (column, rest) = tiles.split_at_mut(b + 1);
            tiles = rest;
            for (p, tile) in column.iter_mut().enumerate() {
                let mut a: [S::F64; LANES] = std::array::from_fn(|j| simd.load(&tile[j]));
                for (gain, u) in self.gains.iter().zip(self.us) {
                    let (rows, columns) = (simd.load(&u.lanes()[p]), &u.lanes()[b]);
                    for j in 0..LANES {
                        a[j] = simd.negate_mul_add(rows, simd.splat(gain * columns.0[j]), a[j]);
                    }
                }
                for j in 0..LANES {
                    simd.store(a[j], &mut tile[j]);
                }
            }
        }
    }
}

struct Product<'a> {
    tiles: &'a [Tile],
    x: &'a [Lane],
    y: &'a mut [Lane],
}

impl Op for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut tiles = self.tiles;
        for b in 0..self.x.len() {
            let (column, rest) = tiles.split_at(b + 1);
            tiles = rest;
            let x_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.x[b].0[j]));
            let mut sums = [simd.splat(0.0); LANES];
            for ((tile, x), y) in column[..b].iter().zip(self.x).zip(&mut *self.y) {
                let x_rows = simd.load(x);
                let mut y_rows = [simd.load(y), simd.splat(0.0)];
                for j in 0..LANES {
                    let a = simd.load(&tile[j]);
                    y_rows[j % 2] = simd.mul_add(a, x_columns[j], y_rows[j % 2]);
                    sums[j] = simd.mul_add(a, x_rows, sums[j]);
                }
                simd.store(simd.add(y_rows[0], y_rows[1]), y);
            }
            let mut y_rows = [simd.transpose_sum(sums), simd.splat(0.0)];
            for j in 0..LANES {
                y_rows[j % 2] = simd.mul_add(simd.load(&column[b][j]), x_columns[j], y_rows[j % 2]);
            }
            simd.store(simd.add(y_rows[0], y_rows[1]), &mut self.y[b]);
        }
    }
}

struct Quadratic<'a> {
    tiles: &'a [Tile],
    x: &'a [Lane],
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
        simd.sum(simd.add(simd.add(off, off), on))
    }
}

struct UpdateAndProduct<'a> {
    tiles: &'a mut [Tile],
    gain: f64,
    u: &'a [Lane],
    x: &'a [Lane],
    y: &'a mut [Lane],
}

impl Op for UpdateAndProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut tiles = self.tiles;
        for b in 0..self.x.len() {
            let (column, rest) = tiles.split_at_mut(b + 1);
            tiles = rest;
            let x_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.x[b].0[j]));
            let u_columns: [S::F64; LANES] = std::array::from_fn(|j| simd.splat(self.gain * self.u[b].0[j]));
            let mut sums = [simd.splat(0.0); LANES];
            let (above, diagonal) = column.split_at_mut(b);
            for (((tile, x), u), y) in above.iter_mut().zip(self.x).zip(self.u).zip(&mut *self.y) {
                let (x_rows, u_rows) = (simd.load(x), simd.load(u));
                let mut y_rows = [simd.load(y), simd.splat(0.0)];
                for j in 0..LANES {
                    let a = simd.negate_mul_add(u_rows, u_columns[j], simd.load(&tile[j]));
                    simd.store(a, &mut tile[j]);
                    y_rows[j % 2] = simd.mul_add(a, x_columns[j], y_rows[j % 2]);
                    sums[j] = simd.mul_add(a, x_rows, sums[j]);
                }
                simd.store(simd.add(y_rows[0], y_rows[1]), y);
            }
            let u_rows = simd.load(&self.u[b]);
            let mut y_rows = [simd.transpose_sum(sums), simd.splat(0.0)];
            for j in 0..LANES {
                let a = simd.negate_mul_add(u_rows, u_columns[j], simd.load(&diagonal[0][j]));
                simd.store(a, &mut diagonal[0][j]);
                y_rows[j % 2] = simd.mul_add(a, x_columns[j], y_rows[j % 2]);
            }
            simd.store(simd.add(y_rows[0], y_rows[1]), &mut self.y[b]);
        }
    }
}
