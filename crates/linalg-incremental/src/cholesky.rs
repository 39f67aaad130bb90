//! The growing Cholesky factor `L Lᵀ = K`.
//!
//! Appending a point to a kernel dictionary adds one row `[φᵀ, √δ]` to `L`, where `φ = L⁻¹k` has just been solved for and
//! `δ = k(x,x) − ‖φ‖²`: `O(n)` work, and no recursion of an explicit inverse (Engel et al. 2004 recurse `K⁻¹`, which loses
//! digits as `cond(K)` grows).
//!
//! Layout: panels of eight rows; each tile is stored by columns, so that the forward solve multiplies a column of eight
//! rows by one solved coordinate and never sums across a vector. The diagonal tile of a panel is stored inverted beside
//! the factor's own, which turns the last eight dependent steps of a panel into one small product.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::tiles::{Tile, ZERO_TILE, block, block_start, split};

/// Right-hand sides that [`GrowingCholesky::forward_solve_together`] takes at once.
pub const TOGETHER: usize = 4;

/// Lower-triangular `L` (`n × n`) with positive diagonal, growing one row at a time.
///
/// # Invariants
/// Tile `q < b` of block `b` holds `L[8b..8b+8, 8q..8q+8]` by columns; tile `b` holds the inverse of the diagonal tile,
/// whose own entries are in `diagonal[b]`. Rows past `n` are zero in both, so solutions keep a zero padding.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GrowingCholesky {
    n: usize,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) diagonal: Vec<Tile>,
}

impl GrowingCholesky {
    /// The factor of the empty matrix.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty factor with room for `n` rows.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        let blocks = n.div_ceil(LANES);
        Self { n: 0, tiles: Vec::with_capacity(block_start(blocks)), diagonal: Vec::with_capacity(blocks) }
    }

    /// Number of rows `n`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// Forgets every row, keeping the memory.
    pub fn clear(&mut self) {
        self.n = 0;
        self.tiles.clear();
        self.diagonal.clear();
    }

    /// `L[i, j]` (zero above the diagonal).
    ///
    /// # Panics
    /// If `i ≥ n`.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.n, "row {i} of a factor with {} rows", self.n);
        let ((b, row), (q, column)) = (split(i), split(j));
        match q.cmp(&b) {
            std::cmp::Ordering::Less => block(&self.tiles, b)[q][column].0[row],
            std::cmp::Ordering::Equal => self.diagonal[b][column].0[row],
            std::cmp::Ordering::Greater => 0.0,
        }
    }

    /// Appends the row `[row, pivot]`: `K` gains the column `L row` and the corner `‖row‖² + pivot²`. `O(n)`.
    ///
    /// # Panics
    /// If `row` has not `n` entries or `pivot` is not positive.
    pub fn append(&mut self, row: &AlignedVec, pivot: f64) {
        assert_eq!(row.len(), self.n, "an appended row has one entry for each row of the factor");
        assert!(pivot > 0.0, "the pivot of an appended row is positive, got {pivot}");
        let (b, lane) = split(self.n);
        if lane == 0 {
            self.tiles.resize(block_start(b + 1), ZERO_TILE);
            self.diagonal.push(ZERO_TILE);
        }
        let start = block_start(b);
        for (tile, values) in self.tiles[start..start + b].iter_mut().zip(row.lanes()) {
            for (column, value) in tile.iter_mut().zip(values.0) {
                column.0[lane] = value;
            }
        }
        let diagonal = &mut self.diagonal[b];
        for (column, value) in diagonal.iter_mut().zip(&row[b * LANES..]) {
            column.0[lane] = *value;
        }
        diagonal[lane].0[lane] = pivot;
        let inverse = &mut self.tiles[start + b];
        extend_inverse(diagonal, inverse, lane);
        self.n += 1;
    }

    /// `x ← L⁻¹ b`: `½n²` multiply-adds, one read of the factor.
    ///
    /// # Panics
    /// If `b` has not `n` entries.
    pub fn forward_solve(&self, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        x.resize(self.n);
        dispatch(Forward { tiles: &self.tiles, b: b.lanes(), x: x.lanes_mut(), first: 0 });
    }

    /// `x[i] ← L⁻¹ b[i]` for [`TOGETHER`] right-hand sides in one read of the factor, the same bits as one by one.
    ///
    /// # Panics
    /// If a right-hand side has not `n` entries.
    pub fn forward_solve_together(&self, b: [&AlignedVec; TOGETHER], x: [&mut AlignedVec; TOGETHER]) {
        let x = x.map(|x| {
            x.resize(self.n);
            x.lanes_mut()
        });
        let b = b.map(|b| {
            assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
            b.lanes()
        });
        dispatch(ForwardTogether { tiles: &self.tiles, b, x });
    }

    /// `x ← L⁻¹ b` where the first `known` entries of `x` are solved already, as they are when the factor has grown since:
    /// the same bits as [`forward_solve`](Self::forward_solve), `n(n − known)` multiply-adds.
    ///
    /// # Panics
    /// If `b` has not `n` entries, or `x` fewer than `known`.
    pub fn forward_solve_from(&self, known: usize, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        assert!(known <= x.len(), "{known} known entries of a solution of {}", x.len());
        x.resize(self.n);
        dispatch(Forward { tiles: &self.tiles, b: b.lanes(), x: x.lanes_mut(), first: known / LANES });
    }

    /// `x ← L⁻ᵀ b`: `½n²` multiply-adds, one read of the factor.
    ///
    /// # Panics
    /// If `b` has not `n` entries.
    pub fn backward_solve(&self, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        x.assign(b);
        dispatch(Backward { tiles: &self.tiles, x: x.lanes_mut() });
    }
}

/// Row `lane` of the inverse of a lower-triangular tile, from its earlier rows.
pub(crate) fn extend_inverse(tile: &Tile, inverse: &mut Tile, lane: usize) {
    let pivot = tile[lane].0[lane];
    for column in 0..lane {
        let product: f64 = (column..lane).map(|k| tile[k].0[lane] * inverse[column].0[k]).sum();
        inverse[column].0[lane] = -product / pivot;
    }
    inverse[lane].0[lane] = 1.0 / pivot;
}

struct Forward<'a> {
    tiles: &'a [Tile],
    b: &'a [Lane],
    x: &'a mut [Lane],
    /// The first panel that is not solved.
    first: usize,
}

impl Op for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut tiles = &self.tiles[block_start(self.first)..];
        for p in self.first..self.b.len() {
            let (panel, rest) = tiles.split_at(p + 1);
            tiles = rest;
            let (solved, unsolved) = self.x.split_at_mut(p);
            let mut sums = [simd.load(&self.b[p]), simd.splat(0.0), simd.splat(0.0), simd.splat(0.0)];
            for (tile, x) in panel.iter().zip(solved.iter()) {
                for j in 0..LANES {
                    sums[j % 4] = simd.negate_mul_add(simd.splat(x.0[j]), simd.load(&tile[j]), sums[j % 4]);
                }
            }
            let mut rest = Lane::ZERO;
            simd.store(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])), &mut rest);
            simd.store(solve_diagonal(simd, &panel[p], &rest), &mut unsolved[0]);
        }
    }
}

struct ForwardTogether<'a> {
    tiles: &'a [Tile],
    b: [&'a [Lane]; TOGETHER],
    x: [&'a mut [Lane]; TOGETHER],
}

impl Op for ForwardTogether<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { mut tiles, b, x } = self;
        for p in 0..b[0].len() {
            let (panel, rest) = tiles.split_at(p + 1);
            tiles = rest;
            let mut sums = [[simd.splat(0.0); 4]; TOGETHER];
            for i in 0..TOGETHER {
                sums[i][0] = simd.load(&b[i][p]);
            }
            for (q, tile) in panel[..p].iter().enumerate() {
                let known: [&Lane; TOGETHER] = [&x[0][q], &x[1][q], &x[2][q], &x[3][q]];
                for j in 0..LANES {
                    let column = simd.load(&tile[j]);
                    for i in 0..TOGETHER {
                        sums[i][j % 4] = simd.negate_mul_add(simd.splat(known[i].0[j]), column, sums[i][j % 4]);
                    }
                }
            }
            for i in 0..TOGETHER {
                let [a, b, c, d] = sums[i];
                let mut rest = Lane::ZERO;
                simd.store(simd.add(simd.add(a, b), simd.add(c, d)), &mut rest);
                simd.store(solve_diagonal(simd, &panel[p], &rest), &mut x[i][p]);
            }
        }
    }
}

/// The product of an inverted diagonal tile with what is left of a right-hand side.
#[inline(always)]
fn solve_diagonal<S: Simd>(simd: S, inverse: &Tile, rest: &Lane) -> S::F64 {
    let mut solution = [simd.splat(0.0), simd.splat(0.0)];
    for j in 0..LANES {
        solution[j % 2] = simd.mul_add(simd.splat(rest.0[j]), simd.load(&inverse[j]), solution[j % 2]);
    }
    simd.add(solution[0], solution[1])
}

struct Backward<'a> {
    tiles: &'a [Tile],
    x: &'a mut [Lane],
}

impl Op for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for p in (0..self.x.len()).rev() {
            let (panel, inverse) = block(self.tiles, p).split_at(p);
            let (unsolved, solved) = self.x.split_at_mut(p);
            let products = |tile: &Tile, x| simd.transpose_sum(tile.map(|column| simd.mul(simd.load(&column), x)));
            let x = products(&inverse[0], simd.load(&solved[0]));
            simd.store(x, &mut solved[0]);
            for (tile, rest) in panel.iter().zip(unsolved) {
                simd.store(simd.sub(simd.load(rest), products(tile, x)), rest);
            }
        }
    }
}
