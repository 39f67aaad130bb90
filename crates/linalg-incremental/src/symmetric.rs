//! A symmetric matrix that takes rank-one updates and grows: most often an inverse `P = A⁻¹`,
//! sometimes a Gram matrix.
//!
//! `A ← A + w x xᵀ` is `P ← P − γ c cᵀ` with `c = Px`, `γ = w/(1 + w xᵀc)` (Sherman and Morrison
//! 1950). A step of an online learner therefore needs one product and one rank-one update.
//! [`SymmetricMatrix::subtract`] only notes the update: a product corrects for the few that are
//! noted in `O(n)` each, and every eighth applies eight of them on its way. A step reads each
//! stored element once and writes an eighth of them: the second level of cache, whose writes are
//! dear, then keeps up with the arithmetic.
//!
//! Layout: half of the matrix by columns in tiles of eight rows, block `b` holding rows `0..8b+8`
//! of columns `8b..8b+8` in two runs of four columns. A tile serves both triangles: with its
//! columns `a_j`, `y_rows += a_j x_j` at once, while the sums `a_jᵀ x_rows` stay in registers and
//! are summed across lanes once at the end of the block.

mod halves;
mod outer;
mod product;
mod removal;
mod subtraction;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, axpy, dispatch, dot};

use crate::tiles::{HALF, Panel, ZERO_TILE, split};
use crate::{GrowingCholesky, NotPositiveDefinite};
pub(crate) use halves::{HalfTile, RUNS, runs, runs_mut};
use halves::{ZERO_HALF, are_runs, start};
pub use outer::OuterProducts;
use product::{PendingTerms, Product, Quadratic, SubtractThenProduct};
pub use removal::Removal;
pub(crate) use subtraction::{MAX_GROUPS, RankOneTerms, load_tiles, store_tiles, subtract};

/// A symmetric matrix `P` (`n × n`), half of it stored: the inverse of what a learner has summed
/// up, or a Gram matrix that is yet to be [inverted](Self::inverted).
///
/// # Invariants
/// The matrix meant is the stored one minus `Σ gains[k] · u_k u_kᵀ` over the `deferred` columns
/// `u_k` of `us`, whose other columns are finite memory with gain 0. Rows and columns past `n` are
/// zero.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SymmetricMatrix {
    n: usize,
    #[cfg_attr(feature = "serde", serde(with = "halves::stored"))]
    tiles: Vec<HalfTile>,
    deferred: usize,
    gains: Lane,
    us: Vec<Panel>,
    /// The direction of the next pass, the other way than the last, over what is in the cache
    /// still.
    backwards: bool,
}

impl SymmetricMatrix {
    /// The empty matrix.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `value · I` of dimension `n`.
    #[must_use]
    pub fn scaled_identity(n: usize, value: f64) -> Self {
        let mut matrix = Self::new();
        matrix.restart(n, value);
        matrix
    }

    /// Becomes `value · I` of dimension `n`, keeping the memory.
    pub fn restart(&mut self, n: usize, value: f64) {
        self.n = 0;
        self.tiles.clear();
        self.tiles.reserve_exact(start(n.div_ceil(LANES)));
        self.clear_deferred();
        self.us.clear();
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
        let stored = runs(&self.tiles, b)[column / HALF][p][column % HALF].0[row];
        let ((pi, ri), (pj, rj)) = (split(i), split(j));
        let gains = self.gains.0[..self.deferred].iter().enumerate();
        gains.fold(stored, |value, (k, gain)| value - gain * self.us[pi][k].0[ri] * self.us[pj][k].0[rj])
    }

    /// The sum of the diagonal. `O(n)`.
    #[must_use]
    pub fn trace(&self) -> f64 {
        (0..self.n).map(|i| self.entry(i, i)).sum()
    }

    /// `y ← P x`; returns `xᵀ P x`. `n²` multiply-adds, and `½n²` more an update when it applies
    /// eight that were deferred.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    pub fn multiply(&mut self, x: &AlignedVec, y: &mut AlignedVec) -> f64 {
        if self.deferred == LANES {
            self.subtract_then_product(x, y);
        } else {
            self.product(x, y);
        }
        dot(x.lanes(), y.lanes())
    }

    /// The deferred updates are applied in the same pass.
    fn subtract_then_product(&mut self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        y.resize(self.n);
        dispatch(SubtractThenProduct {
            tiles: &mut self.tiles,
            columns: RankOneTerms { gains: std::slice::from_ref(&self.gains), us: &self.us },
            backwards: self.backwards,
            x: x.lanes(),
            y: y.lanes_mut(),
        });
        self.clear_deferred();
    }

    /// `y ← P x`, changing nothing. `n²` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    pub fn product(&self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        y.resize(self.n);
        dispatch(Product {
            tiles: &self.tiles,
            backwards: self.backwards,
            deferred: self.deferred(),
            x,
            y: y.lanes_mut(),
        });
    }

    /// `xᵀ P x` with the deferred update applied, changing nothing. `½n²` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not `n` entries.
    #[must_use]
    pub fn quadratic(&self, x: &AlignedVec) -> f64 {
        assert_eq!(x.len(), self.n, "the vector has one entry for each row of the matrix");
        dispatch(Quadratic { tiles: &self.tiles, deferred: self.deferred(), x: x.lanes() })
    }

    /// `P ← P − gain · u uᵀ`, deferred. `O(n)`, and `½n²` multiply-adds an update when it applies
    /// those noted before.
    ///
    /// # Panics
    /// If `u` has not `n` entries.
    pub fn subtract(&mut self, gain: f64, u: &AlignedVec) {
        assert_eq!(u.len(), self.n, "the vector has one entry for each row of the matrix");
        if self.deferred == LANES {
            self.flush();
        }
        self.us.resize(u.lanes().len(), ZERO_TILE);
        for (panel, u) in self.us.iter_mut().zip(u.lanes()) {
            panel[self.deferred] = *u;
        }
        self.gains.0[self.deferred] = gain;
        self.deferred += 1;
        // Here and not in a product, so that one whose update is never made leaves no trace in the
        // rounding of the next.
        self.backwards = !self.backwards;
    }

    /// Applies the deferred updates now; the matrix meant is the same before and after.
    pub fn flush(&mut self) {
        if self.deferred > 0 {
            let columns = RankOneTerms { gains: std::slice::from_ref(&self.gains), us: &self.us };
            subtract(&mut self.tiles, columns, self.deferred, self.backwards);
            self.clear_deferred();
        }
    }

    /// `P ← factor · P`. `½n²`.
    pub fn scale(&mut self, factor: f64) {
        self.flush();
        self.scale_stored(factor);
    }

    /// The stored matrix times `factor`, whatever is deferred.
    fn scale_stored(&mut self, factor: f64) {
        dispatch(Scale { lanes: self.tiles.as_flattened_mut(), factor });
    }

    /// `P ← P + factor · other`. `½n²`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn add(&mut self, factor: f64, other: &Self) {
        assert_eq!(self.n, other.n, "matrices of the same dimension");
        self.flush();
        let mut other = other.clone();
        other.flush();
        axpy(factor, other.tiles.as_flattened(), self.tiles.as_flattened_mut());
    }

    /// The stored tiles once nothing is deferred.
    pub(crate) fn flushed_tiles(&mut self) -> &mut [HalfTile] {
        self.flush();
        &mut self.tiles
    }

    fn deferred(&self) -> PendingTerms<'_> {
        PendingTerms { count: self.deferred, gains: &self.gains, us: &self.us }
    }

    fn clear_deferred(&mut self) {
        (self.deferred, self.gains) = (0, Lane::ZERO);
    }

    /// `P⁻¹`, by way of a Cholesky factor. `n³`.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when `P` is not, to rounding.
    pub fn inverted(&self) -> Result<Self, NotPositiveDefinite> {
        let (mut factor, mut inverse) = (GrowingCholesky::with_capacity(self.n), Self::new());
        self.invert(&mut factor, &mut inverse, &mut Default::default()).map(|()| inverse)
    }

    /// [`inverted`](Self::inverted) in memory that is there, with the factor of `P`.
    ///
    /// # Errors
    /// As [`inverted`](Self::inverted); `factor` and `inverse` then mean nothing.
    pub fn invert(
        &self,
        factor: &mut GrowingCholesky,
        inverse: &mut Self,
        [column, solved]: &mut [AlignedVec; 2],
    ) -> Result<(), NotPositiveDefinite> {
        factor.clear();
        for i in 0..self.n {
            column.resize(i);
            column.iter_mut().enumerate().for_each(|(j, value)| *value = self.entry(i, j));
            factor.forward_solve(column, solved);
            let pivot = self.entry(i, i) - dot(solved.lanes(), solved.lanes());
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(NotPositiveDefinite { pivot });
            }
            factor.append(solved, pivot.sqrt());
        }
        inverse.restart(0, 0.0);
        for j in 0..self.n {
            factor.unit_solve(j, solved);
            factor.backward_solve(solved, column);
            let corner = column[j];
            column.resize(j);
            inverse.border(column, corner);
        }
        Ok(())
    }

    /// `P ← P + value · I`. `O(n)`.
    pub fn add_to_diagonal(&mut self, value: f64) {
        for i in 0..self.n {
            let (b, lane) = split(i);
            runs_mut(&mut self.tiles, b)[lane / HALF][b][lane % HALF].0[lane] += value;
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
        let mut runs = runs_mut(&mut self.tiles, b);
        for (tile, values) in runs[lane / HALF][..b].iter_mut().zip(column.lanes()) {
            tile[lane % HALF] = *values;
        }
        let diagonal = runs.each_mut().map(|run| &mut run[b]);
        for (j, value) in column[b * LANES..].iter().enumerate() {
            diagonal[lane / HALF][lane % HALF].0[j] = *value;
            diagonal[j / HALF][j % HALF].0[lane] = *value;
        }
    }

    /// Gains a row and column of zeros with `corner` on the diagonal: `A` gains the independent
    /// entry `1/corner`. `O(n)`.
    pub fn grow(&mut self, corner: f64) {
        let (b, lane) = split(self.n);
        if lane == 0 {
            self.tiles.resize(start(b + 1), ZERO_HALF);
        }
        runs_mut(&mut self.tiles, b)[lane / HALF][b][lane % HALF].0[lane] = corner;
        self.n += 1;
        // The deferred updates do not reach the new row: its entries of their columns are zero.
        self.us.resize(self.n.div_ceil(LANES), ZERO_TILE);
    }

    /// `A ← A + weight · x xᵀ` by Sherman–Morrison.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when `1 + weight · xᵀPx` is not positive (a downdate too large);
    /// nothing is changed.
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
}

struct Scale<'a> {
    lanes: &'a mut [Lane],
    factor: f64,
}

impl Op for Scale<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let factor = simd.splat(self.factor);
        for lane in self.lanes {
            simd.store(simd.mul(factor, simd.load(lane)), lane);
        }
    }
}

impl Validate for SymmetricMatrix {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "symmetric matrix";
        let blocks = self.n.div_ceil(LANES);
        let whole = are_runs(self.tiles.len(), blocks);
        Inconsistent::require(whole, WHAT, "it has one number for each entry of the triangle")?;
        let noted = self.deferred <= LANES
            && if self.deferred > 0 { self.us.len() == blocks } else { self.us.len() <= blocks }
            && self.gains.0[self.deferred..].iter().all(|gain| *gain == 0.0);
        Inconsistent::require(noted, WHAT, "updates that wait have a gain and a column each")?;
        self.gains.validate()?;
        self.tiles.as_flattened().validate()?;
        self.us.as_flattened().validate()?;
        let used = self.n % LANES;
        if used == 0 {
            return Ok(());
        }
        let past = |columns: &[Lane]| columns.iter().all(|column| column.0[used..].iter().all(|value| *value == 0.0));
        let last = runs(&self.tiles, blocks - 1);
        let columns = |p: usize| last.iter().flat_map(move |run| &run[p]);
        let clear = last.iter().all(|run| past(&run[blocks - 1]))
            && (0..blocks).all(|p| columns(p).skip(used).flat_map(|column| column.0).all(|value| value == 0.0))
            && self.us.get(blocks - 1).is_none_or(|panel| past(panel));
        Inconsistent::require(clear, WHAT, "it is zero past its last row and column")
    }
}
