//! Removal of a point from a growing factor by plane rotations.
//!
//! Without row `i`, the factor `L` of `K = L Lᵀ` is lower Hessenberg from row `i` on. Rotations of the column pairs
//! `(i, i+1), …, (n−2, n−1)`, product `G`, make it triangular again: `[L without row i] G = [L' 0]` (Golub and Van Loan, §6.5.3).
//! They are orthogonal, so `L' L'ᵀ` is `K` without row and column `i`, with no loss of digits. Newton coordinates
//! `φ = L⁻¹k` become `Gᵀφ`: the first `n − 1` entries are the coordinates in the smaller span, the last one is the
//! component along the direction that leaves it.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::cholesky::GrowingCholesky;
use crate::tiles::{block_start, split};

/// Panels rotated together, so that the dependent chain of one hides behind the others.
const PANELS_ROTATED: usize = 4;

/// The rotations `G` of a removal: rotation `k` turns the pair of coordinates `(k, k + 1)`, `k` from `first` to `n − 2`.
///
/// [`GrowingCholesky::remove`] fills it; [`apply`](Self::apply) and [`SymmetricMatrix::rotate`](crate::SymmetricMatrix::rotate)
/// carry vectors and matrices from the old coordinates to the new. The memory is reused from removal to removal.
#[derive(Clone, Debug, Default)]
pub struct Rotations {
    dimension: usize,
    first: usize,
    /// Cosine and sine of rotation `k`, a lane for eight of them; the identity where there is no rotation.
    pub(crate) cosines: Vec<Lane>,
    pub(crate) sines: Vec<Lane>,
}

impl Rotations {
    /// No rotations, of vectors without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Entries `n` of the vectors that are rotated.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Index `i` of the point that was removed: coordinates before it stay as they are.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// Number of rotations, `n − 1 − first`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dimension.saturating_sub(self.first + 1)
    }

    /// Whether nothing is rotated: the removed point was the last.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `v ← Gᵀv`. `O(n − first)`. The last of the `n` entries is then the one that leaves the span; the caller drops it.
    ///
    /// # Panics
    /// If `v` has not `n` entries.
    pub fn apply(&self, v: &mut AlignedVec) {
        assert_eq!(v.len(), self.dimension, "the vector has one entry for each row of the factor before the removal");
        dispatch(Apply { rotations: self, v });
    }

    /// The identity on vectors of `dimension` entries, with room for the rotations from `first` on.
    fn restart(&mut self, dimension: usize, first: usize) {
        (self.dimension, self.first) = (dimension, first);
        let lanes = dimension.div_ceil(LANES);
        for (values, identity) in [(&mut self.cosines, 1.0), (&mut self.sines, 0.0)] {
            values.clear();
            values.resize(lanes, Lane([identity; LANES]));
        }
    }

    /// Cosine and sine of rotation `k`.
    #[inline(always)]
    pub(crate) fn pair(&self, k: usize) -> (f64, f64) {
        let (lane, at) = split(k);
        (self.cosines[lane].0[at], self.sines[lane].0[at])
    }

    #[inline(always)]
    fn set(&mut self, k: usize, (cosine, sine): (f64, f64)) {
        let (lane, at) = split(k);
        (self.cosines[lane].0[at], self.sines[lane].0[at]) = (cosine, sine);
    }
}

/// `(c a + s b, c b − s a)`
#[inline(always)]
pub(crate) fn rotate<S: Simd>(simd: S, (c, s): (f64, f64), a: S::F64, b: S::F64) -> (S::F64, S::F64) {
    let (c, s) = (simd.splat(c), simd.splat(s));
    // The entry that goes on to the next rotation waits for one multiply-add only.
    (simd.mul_add(c, a, simd.mul(s, b)), simd.negate_mul_add(s, a, simd.mul(c, b)))
}

/// The same for two numbers.
#[inline(always)]
pub(crate) fn rotate_numbers((c, s): (f64, f64), a: f64, b: f64) -> (f64, f64) {
    (c.mul_add(a, s * b), (-s).mul_add(a, c * b))
}

/// The rotation that turns `(a, b)`, `b > 0`, into `(r, 0)`, and `r > 0`. Dividing by the larger keeps squares in range.
#[inline(always)]
fn rotation(a: f64, b: f64) -> ((f64, f64), f64) {
    let size = a.abs().max(b);
    let (a, b) = (a / size, b / size);
    let norm = a.mul_add(a, b * b).sqrt();
    ((a / norm, b / norm), size * norm)
}

struct Apply<'a> {
    rotations: &'a Rotations,
    v: &'a mut [f64],
}

impl Op for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { rotations, v } = self;
        for k in rotations.first..rotations.first + rotations.len() {
            (v[k], v[k + 1]) = rotate_numbers(rotations.pair(k), v[k], v[k + 1]);
        }
    }
}

impl GrowingCholesky {
    /// Removes point `i`: `K` loses row and column `i`, and `rotations` tells how coordinates follow. `2(n − i)²`
    /// multiply-adds, and `(n − i) i` numbers move up by a row. No allocation once `rotations` has held as many entries.
    ///
    /// # Panics
    /// If `i ≥ n`.
    pub fn remove(&mut self, i: usize, rotations: &mut Rotations) {
        let n = self.dimension();
        assert!(i < n, "row {i} of a factor with {n} rows");
        rotations.restart(n, i);
        let lanes = self.tiles.as_flattened_mut();
        dispatch(Remove { columns: Columns { lanes, n, i }, reciprocals: &mut self.reciprocals, rotations });
        self.shrink();
    }
}

/// The factor as panels of eight rows, a lane a column; new row `r ≥ i` is old row `r + 1`.
struct Columns<'a> {
    lanes: &'a mut [Lane],
    n: usize,
    i: usize,
}

impl Columns<'_> {
    /// Where panel `b` keeps column `m`, if it has it.
    #[inline(always)]
    fn at(&self, b: usize, m: usize) -> Option<usize> {
        (b * LANES < self.n && m < (b + 1) * LANES).then_some(block_start(b) * LANES + m)
    }

    #[inline(always)]
    fn old(&self, b: usize, m: usize) -> Lane {
        self.at(b, m).map_or(Lane::ZERO, |at| self.lanes[at])
    }

    /// New rows of panel `b`, not rotated, of column `m`; panel `b + 1` still holds old rows.
    #[inline(always)]
    fn moved_up(&self, b: usize, m: usize) -> Lane {
        let ([_, rest @ ..], next) = (self.old(b, m).0, self.old(b + 1, m).0[0]);
        let [r1, r2, r3, r4, r5, r6, r7] = rest;
        let mut rows = Lane([r1, r2, r3, r4, r5, r6, r7, next]);
        let (first, kept) = split(self.i);
        if b == first {
            rows.0[..kept].copy_from_slice(&self.old(b, m).0[..kept]);
        }
        rows
    }

    /// Rotates columns `m − 1`, whose values so far are `left`, and `m`; returns column `m`.
    #[inline(always)]
    fn rotate<S: Simd>(&mut self, simd: S, pair: (f64, f64), b: usize, m: usize, left: S::F64) -> S::F64 {
        let right = simd.load(&self.moved_up(b, m));
        let (done, left) = rotate(simd, pair, left, right);
        simd.store(done, &mut self.lanes[block_start(b) * LANES + m - 1]);
        left
    }
}

struct Remove<'a> {
    columns: Columns<'a>,
    reciprocals: &'a mut [f64],
    rotations: &'a mut Rotations,
}

impl Op for Remove<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Columns { n, i, .. } = self.columns;
        let panels = (n - 1).div_ceil(LANES);
        for first in (i / LANES..panels).step_by(PANELS_ROTATED) {
            let group = PANELS_ROTATED.min(panels - first);
            // Panels in ascending order: each takes a row from the next before that one moves.
            for b in first..first + group {
                for m in 0..i.min((b + 1) * LANES) {
                    self.columns.lanes[block_start(b) * LANES + m] = self.columns.moved_up(b, m);
                }
            }
            let mut left = [simd.splat(0.0); PANELS_ROTATED];
            for k in 0..group {
                left[k] = simd.load(&self.columns.moved_up(first + k, i));
            }
            // Column m − 1 is written when column m has been read, so the row for the panel before is there still.
            for m in i + 1..=first * LANES {
                let pair = self.rotations.pair(m - 1);
                for k in 0..group {
                    left[k] = self.columns.rotate(simd, pair, first + k, m, left[k]);
                }
            }
            for k in 0..group {
                let b = first + k;
                for m in i.max(first * LANES) + 1..=b * LANES {
                    left[k] = self.columns.rotate(simd, self.rotations.pair(m - 1), b, m, left[k]);
                }
                self.diagonal(simd, b, left[k]);
            }
        }
    }
}

impl Remove<'_> {
    /// The diagonal tile of panel `b`, which chooses its rotations; `left` is its first column that is rotated.
    #[inline(always)]
    fn diagonal<S: Simd>(&mut self, simd: S, b: usize, mut left: S::F64) {
        let Columns { n, i, .. } = self.columns;
        let top = b * LANES;
        for k in i.max(top)..(top + LANES).min(n - 1) {
            let (row, mut rows) = (k - top, Lane::ZERO);
            simd.store(left, &mut rows);
            let (pair, pivot) = rotation(rows.0[row], self.columns.moved_up(b, k + 1).0[row]);
            self.rotations.set(k, pair);
            left = self.columns.rotate(simd, pair, b, k + 1, left);
            let column = &mut self.columns.lanes[block_start(b) * LANES + k];
            column.0[..row].fill(0.0);
            column.0[row] = pivot;
            self.reciprocals[k] = 1.0 / pivot;
            // The rotation makes this entry zero; rounding may leave something there.
            simd.store(left, &mut rows);
            rows.0[..=row].fill(0.0);
            left = simd.load(&rows);
        }
        // The last column has become zero.
        if let Some(at) = self.columns.at(b, n - 1) {
            self.columns.lanes[at] = Lane::ZERO;
        }
    }
}
