//! The growing Cholesky factor `L Lᵀ = K`.
//!
//! Appending a point to a kernel dictionary adds one row `[φᵀ, √δ]` to `L`, where `φ = L⁻¹k` has
//! just been solved for and `δ = k(x,x) − ‖φ‖²`: `O(n)` work, and no recursion of an explicit
//! inverse (Engel et al. 2004 recurse `K⁻¹`, which loses digits as `cond(K)` grows).
//!
//! Layout: panels of eight rows; each tile is stored by columns, so that the forward solve
//! multiplies a column of eight rows by one solved coordinate and never sums across a vector. The
//! last eight coordinates of a panel come by substitution in the diagonal tile, with stored
//! reciprocals of the pivots. (Multiplying by an inverted tile would shorten that chain, but is not
//! backward stable: at pivots near 1e−5 it lost five digits and streams of near duplicates
//! diverged.)

use std::ops::Range;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::tiles::{CHUNK, Tile, ZERO_TILE, are_blocks, block, block_start, split};

/// Right-hand sides that [`GrowingCholesky::forward_solve_together`] takes at once.
pub const SOLVES_TOGETHER: usize = 4;

/// Running sums of a forward solve, each over every fourth coordinate: they hide the latency of the
/// multiply-add. A backward solve takes as many panels together.
const CHAINS: usize = 4;

/// Lower-triangular `L` (`n × n`) with positive diagonal, growing one row at a time.
///
/// # Invariants
/// Tile `q ≤ b` of block `b` holds `L[8b..8b+8, 8q..8q+8]` by columns, and `reciprocals` holds
/// `1/L[i, i]`. Rows past `n` are zero in both, so solutions keep a zero padding.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GrowingCholesky {
    n: usize,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) reciprocals: AlignedVec,
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
        Self { n: 0, tiles: Vec::with_capacity(block_start(n.div_ceil(LANES))), reciprocals: AlignedVec::new() }
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
        self.reciprocals.resize(0);
    }

    /// `L[i, j]` (zero above the diagonal).
    ///
    /// # Panics
    /// If `i ≥ n`.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.n, "row {i} of a factor with {} rows", self.n);
        let ((b, row), (q, column)) = (split(i), split(j));
        if j > i { 0.0 } else { block(&self.tiles, b)[q][column].0[row] }
    }

    /// Appends the row `[row, pivot]`: `K` gains the column `L row` and the corner
    /// `‖row‖² + pivot²`. `O(n)`.
    ///
    /// # Panics
    /// If `row` has not `n` entries or `pivot` is not positive.
    pub fn append(&mut self, row: &AlignedVec, pivot: f64) {
        assert_eq!(row.len(), self.n, "an appended row has one entry for each row of the factor");
        assert!(pivot > 0.0, "the pivot of an appended row is positive, got {pivot}");
        let (b, lane) = split(self.n);
        if lane == 0 {
            self.tiles.resize(block_start(b + 1), ZERO_TILE);
        }
        for (tile, values) in self.tiles[block_start(b)..].iter_mut().zip(row.lanes()) {
            for (column, value) in tile.iter_mut().zip(values.0) {
                column.0[lane] = value;
            }
        }
        self.tiles[block_start(b) + b][lane].0[lane] = pivot;
        self.reciprocals.push(1.0 / pivot);
        self.n += 1;
    }

    /// Drops the last row, which the caller has cleared in the tiles that stay.
    pub(crate) fn shrink(&mut self) {
        self.n -= 1;
        self.tiles.truncate(block_start(self.n.div_ceil(LANES)));
        self.reciprocals.resize(self.n);
    }

    /// `x ← L⁻¹ b`: `½n²` multiply-adds, one read of the factor.
    ///
    /// # Panics
    /// If `b` has not `n` entries.
    pub fn forward_solve(&self, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        x.assign(b);
        dispatch(Forward { factor: self, x: x.lanes_mut(), zero: 0, known: 0 });
    }

    /// `x[i] ← L⁻¹ b[i]` for [`SOLVES_TOGETHER`] right-hand sides in one read of the factor, the
    /// same bits as one by one.
    ///
    /// # Panics
    /// If a right-hand side has not `n` entries.
    pub fn forward_solve_together(&self, b: [&AlignedVec; SOLVES_TOGETHER], x: [&mut AlignedVec; SOLVES_TOGETHER]) {
        let x = x.map(|x| {
            x.resize(self.n);
            x.lanes_mut()
        });
        let b = b.map(|b| {
            assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
            b.lanes()
        });
        dispatch(ForwardTogether { factor: self, b, x });
    }

    /// `x ← L⁻¹ b` where the first `known` entries of `x` are solved already, as they are when the
    /// factor has grown since: the same bits as [`forward_solve`](Self::forward_solve),
    /// `n(n − known)` multiply-adds.
    ///
    /// # Panics
    /// If `b` has not `n` entries, or `x` fewer than `known`.
    pub fn forward_solve_from(&self, known: usize, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        assert!(known <= x.len(), "{known} known entries of a solution of {}", x.len());
        let known = known / LANES;
        x.resize(self.n);
        x.lanes_mut()[known..].copy_from_slice(&b.lanes()[known..]);
        dispatch(Forward { factor: self, x: x.lanes_mut(), zero: 0, known });
    }

    /// `x ← L⁻¹ e_i`, column `i` of the inverse factor: `½(n − i)²` multiply-adds.
    ///
    /// # Panics
    /// If `i ≥ n`.
    pub fn unit_solve(&self, i: usize, x: &mut AlignedVec) {
        assert!(i < self.n, "row {i} of a factor with {} rows", self.n);
        x.resize(0);
        x.resize(self.n);
        x[i] = 1.0;
        dispatch(Forward { factor: self, x: x.lanes_mut(), zero: i / LANES, known: i / LANES });
    }

    /// `x ← L⁻ᵀ b`: `½n²` multiply-adds, one read of the factor.
    ///
    /// # Panics
    /// If `b` has not `n` entries.
    pub fn backward_solve(&self, b: &AlignedVec, x: &mut AlignedVec) {
        assert_eq!(b.len(), self.n, "the right-hand side has one entry for each row of the factor");
        x.assign(b);
        dispatch(Backward { factor: self, x: x.lanes_mut() });
    }
}

impl Validate for GrowingCholesky {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "Cholesky factor";
        let blocks = self.n.div_ceil(LANES);
        let whole = are_blocks(self.tiles.len(), blocks);
        Inconsistent::require(whole, WHAT, "it has one number for each entry of the triangle")?;
        self.reciprocals.validate()?;
        Inconsistent::require(self.reciprocals.len() == self.n, WHAT, "it has a reciprocal for each pivot")?;
        self.tiles.as_flattened().validate()?;
        for b in 0..blocks {
            let used = LANES.min(self.n - b * LANES);
            let (diagonal, rows) = (&block(&self.tiles, b)[b], block(&self.tiles, b).as_flattened());
            for (i, column) in diagonal.iter().enumerate() {
                let pivot = column.0[i];
                let right = if i < used { self.reciprocals[b * LANES + i] == 1.0 / pivot } else { pivot == 0.0 };
                Inconsistent::require(pivot >= 0.0 && right, WHAT, "its pivots are positive, with their reciprocals")?;
                let clear = column.0[..i].iter().all(|value| *value == 0.0);
                Inconsistent::require(clear, WHAT, "it is zero above the diagonal")?;
            }
            let clear = rows.iter().all(|column| column.0[used..].iter().all(|value| *value == 0.0));
            Inconsistent::require(clear, WHAT, "it is zero past its last row")?;
        }
        Ok(())
    }
}

/// Solves in place.
struct Forward<'a> {
    factor: &'a GrowingCholesky,
    x: &'a mut [Lane],
    /// Panels of the solution before this one are zero.
    zero: usize,
    /// Panels before this one are solved.
    known: usize,
}

impl Op for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { factor, x, zero, known } = self;
        let mut tiles = &factor.tiles[block_start(known)..];
        for p in known..x.len() {
            let (panel, rest) = tiles.split_at(p + 1);
            tiles = rest;
            let (solved, unsolved) = x.split_at_mut(p);
            let mut sums = [simd.splat(0.0); CHAINS];
            sums[0] = simd.load(&unsolved[0]);
            for (tile, x) in panel[zero..].iter().zip(&solved[zero..]) {
                for j in 0..LANES {
                    let c = j % CHAINS;
                    sums[c] = simd.negate_mul_add(simd.splat(x.0[j]), simd.load(&tile[j]), sums[c]);
                }
            }
            let mut rest = Lane::ZERO;
            simd.store(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])), &mut rest);
            unsolved[0] = substitute(&panel[p], &factor.reciprocals.lanes()[p], rest);
        }
    }
}

struct ForwardTogether<'a> {
    factor: &'a GrowingCholesky,
    b: [&'a [Lane]; SOLVES_TOGETHER],
    x: [&'a mut [Lane]; SOLVES_TOGETHER],
}

impl Op for ForwardTogether<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { factor, b, x } = self;
        let mut tiles = factor.tiles.as_slice();
        for p in 0..b[0].len() {
            let (panel, rest) = tiles.split_at(p + 1);
            tiles = rest;
            // Chain by chain, in the order of a single right-hand side.
            let mut sums = [[simd.splat(0.0); SOLVES_TOGETHER]; CHAINS];
            for i in 0..SOLVES_TOGETHER {
                sums[0][i] = simd.load(&b[i][p]);
            }
            if S::REGISTERS > CHAINS * SOLVES_TOGETHER {
                eliminate(simd, &panel[..p], x.each_ref().map(|x| &x[..p]), 0, &mut sums);
            } else {
                // A chain at a time, for as many tiles as the first level of cache keeps.
                for first in (0..p).step_by(CHUNK) {
                    let rows = first..(first + CHUNK).min(p);
                    for (c, sums) in sums.iter_mut().enumerate() {
                        let x = x.each_ref().map(|x| &x[rows.clone()]);
                        eliminate(simd, &panel[rows.clone()], x, c, std::array::from_mut(sums));
                    }
                }
            }
            let mut rest = [simd.splat(0.0); SOLVES_TOGETHER];
            for i in 0..SOLVES_TOGETHER {
                rest[i] = simd.add(simd.add(sums[0][i], sums[1][i]), simd.add(sums[2][i], sums[3][i]));
            }
            let solved = substitute_together(simd, &panel[p], &factor.reciprocals.lanes()[p], rest);
            for i in 0..SOLVES_TOGETHER {
                simd.store(solved[i], &mut x[i][p]);
            }
        }
    }
}

/// Takes the solved coordinates off `N` of the chains of sums of all right-hand sides, from chain
/// `first` on.
#[inline(always)]
fn eliminate<S: Simd, const N: usize>(
    simd: S,
    tiles: &[Tile],
    [x0, x1, x2, x3]: [&[Lane]; SOLVES_TOGETHER],
    first: usize,
    sums: &mut [[S::F64; SOLVES_TOGETHER]; N],
) {
    let mut rest = *sums;
    for ((((tile, x0), x1), x2), x3) in tiles.iter().zip(x0).zip(x1).zip(x2).zip(x3) {
        let x = [x0, x1, x2, x3];
        for half in 0..LANES / CHAINS {
            for c in 0..N {
                let j = half * CHAINS + first + c;
                let column = simd.load(&tile[j]);
                for i in 0..SOLVES_TOGETHER {
                    rest[c][i] = simd.negate_mul_add(simd.splat(x[i].0[j]), column, rest[c][i]);
                }
            }
        }
    }
    *sums = rest;
}

/// `T⁻¹ rest` for a lower-triangular tile. Each solved coordinate is taken off all later ones at
/// once, so the dependent chain is one multiplication and one fused multiply-add a coordinate.
#[inline(always)]
fn substitute(tile: &Tile, reciprocals: &Lane, mut rest: Lane) -> Lane {
    for j in 0..LANES {
        rest.0[j] *= reciprocals.0[j];
        for k in j + 1..LANES {
            rest.0[k] = (-tile[j].0[k]).mul_add(rest.0[j], rest.0[k]);
        }
    }
    rest
}

/// The same for all right-hand sides, each in a lane of its own.
#[inline(always)]
fn substitute_together<S: Simd>(
    simd: S,
    tile: &Tile,
    reciprocals: &Lane,
    [a, b, c, d]: [S::F64; SOLVES_TOGETHER],
) -> [S::F64; SOLVES_TOGETHER] {
    let none = simd.splat(0.0);
    let mut coordinates = simd.transpose([a, b, c, d, none, none, none, none]);
    for j in 0..LANES {
        coordinates[j] = simd.mul(coordinates[j], simd.splat(reciprocals.0[j]));
        for k in j + 1..LANES {
            let factor = simd.splat(tile[j].0[k]);
            coordinates[k] = simd.negate_mul_add(factor, coordinates[j], coordinates[k]);
        }
    }
    let [a, b, c, d, ..] = simd.transpose(coordinates);
    [a, b, c, d]
}

/// `T⁻ᵀ rest` for a lower-triangular tile, taking each solved coordinate off all others at once.
#[inline(always)]
fn substitute_back(tile: &Tile, reciprocals: &Lane, mut rest: Lane) -> Lane {
    for j in (0..LANES).rev() {
        rest.0[j] *= reciprocals.0[j];
        for i in 0..j {
            rest.0[i] = (-tile[i].0[j]).mul_add(rest.0[j], rest.0[i]);
        }
    }
    rest
}

struct Backward<'a> {
    factor: &'a GrowingCholesky,
    x: &'a mut [Lane],
}

impl Op for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let mut end = self.x.len();
        while end > 0 {
            let group = CHAINS.min(end);
            let first = end - group;
            for p in (first..end).rev() {
                let diagonal = &block(&self.factor.tiles, p)[p];
                self.x[p] = substitute_back(diagonal, &self.factor.reciprocals.lanes()[p], self.x[p]);
                self.eliminate::<S, 1>(simd, p, first..p);
            }
            match group {
                CHAINS => self.eliminate::<S, CHAINS>(simd, first, 0..first),
                3 => self.eliminate::<S, 3>(simd, first, 0..first),
                2 => self.eliminate::<S, 2>(simd, first, 0..first),
                _ => self.eliminate::<S, 1>(simd, first, 0..first),
            }
            end = first;
        }
    }
}

impl Backward<'_> {
    /// Takes what `N` panels from `first` on have solved off the coordinates of the panels `rest`.
    /// A sum goes over the rows of all of them before it goes across a vector.
    #[inline(always)]
    fn eliminate<S: Simd, const N: usize>(&mut self, simd: S, first: usize, rest: Range<usize>) {
        let panels: [&[Tile]; N] = std::array::from_fn(|k| &block(&self.factor.tiles, first + k)[rest.clone()]);
        let mut solved = [simd.splat(0.0); N];
        for k in 0..N {
            solved[k] = simd.load(&self.x[first + k]);
        }
        for (q, rest) in self.x[rest].iter_mut().enumerate() {
            let mut sums = [simd.splat(0.0); LANES];
            for k in 0..N {
                let tile = &panels[k][q];
                for j in 0..LANES {
                    sums[j] = simd.mul_add(simd.load(&tile[j]), solved[k], sums[j]);
                }
            }
            simd.store(simd.sub(simd.load(rest), simd.transpose_sum(sums)), rest);
        }
    }
}
