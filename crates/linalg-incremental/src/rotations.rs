//! Removal of a point from a growing factor by plane rotations.
//!
//! Without row `i`, the factor `L` of `K = L Lᵀ` is lower Hessenberg from row `i` on. Rotations of
//! the column pairs `(i, i+1), …, (n−2, n−1)`, product `G`, make it triangular again:
//! `[L without row i] G = [L' 0]` (Golub and Van Loan, §6.5.3). They are orthogonal, so `L' L'ᵀ` is
//! `K` without row and column `i`, with no loss of digits. Newton coordinates `φ = L⁻¹k` become
//! `Gᵀφ`: the first `n − 1` entries are the coordinates in the smaller span, the last one is the
//! component along the direction that leaves it.

use std::ops::Range;

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::cholesky::GrowingCholesky;
use crate::tiles::{block_start, split};

/// Panels rotated together, so that the dependent chain of one hides behind the others.
const PANELS_ROTATED: usize = 4;

/// Sums of squares up to this one are in range, with room for their rounding.
const LARGEST_SQUARE: f64 = 1e300;

/// Lane `k` of unit vector `k` is 1.
const UNITS: [Lane; LANES] = masks::<false>();

/// Lanes `k + 1..` of vector `k` are 1.
const BELOW: [Lane; LANES] = masks::<true>();

const fn masks<const BELOW: bool>() -> [Lane; LANES] {
    let mut masks = [Lane::ZERO; LANES];
    let mut at = 0;
    while at < LANES * LANES {
        let (k, row) = (at / LANES, at % LANES);
        if (BELOW && row > k) || (!BELOW && row == k) {
            masks[k].0[row] = 1.0;
        }
        at += 1;
    }
    masks
}

/// The rotations `G` of a removal: rotation `k` turns the pair of coordinates `(k, k + 1)`, `k`
/// from `first` to `n − 2`.
///
/// [`GrowingCholesky::remove`] fills it; [`apply`](Self::apply) and
/// [`SymmetricMatrix::rotate`](crate::SymmetricMatrix::rotate) carry vectors and matrices from the
/// old coordinates to the new. The memory is reused from removal to removal.
#[derive(Clone, Debug, Default)]
pub struct Rotations {
    dimension: usize,
    first: usize,
    /// Cosine and sine of rotation `k`, a lane for eight of them; the identity where there is no
    /// rotation.
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

    /// True if nothing is rotated: the removed point was the last.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `v ← Gᵀv`. `O(n − first)`. The last of the `n` entries is then the one that leaves the span;
    /// the caller drops it.
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

    /// The same, each in all lanes.
    #[inline(always)]
    pub(crate) fn spread<S: Simd>(&self, simd: S, k: usize) -> (S::F64, S::F64) {
        let (cosine, sine) = self.pair(k);
        (simd.splat(cosine), simd.splat(sine))
    }

    #[inline(always)]
    fn set(&mut self, k: usize, (cosine, sine): (f64, f64)) {
        let (lane, at) = split(k);
        (self.cosines[lane].0[at], self.sines[lane].0[at]) = (cosine, sine);
    }
}

/// `(c a + s b, c b − s a)`
#[inline(always)]
pub(crate) fn rotate<S: Simd>(simd: S, (c, s): (S::F64, S::F64), a: S::F64, b: S::F64) -> (S::F64, S::F64) {
    // The entry that goes on to the next rotation waits for one multiply-add only.
    (simd.mul_add(c, a, simd.mul(s, b)), simd.negate_mul_add(s, a, simd.mul(c, b)))
}

/// The same for two numbers.
#[inline(always)]
pub(crate) fn rotate_numbers((c, s): (f64, f64), a: f64, b: f64) -> (f64, f64) {
    (c.mul_add(a, s * b), (-s).mul_add(a, c * b))
}

/// The rotation that turns `(a, b)`, `b > 0`, into `(r, 0)`, and `r > 0`. Dividing by the larger
/// keeps squares in range.
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
    /// Removes point `i`: `K` loses row and column `i`, and `rotations` tells how coordinates
    /// follow. `2(n − i)²` multiply-adds, and `(n − i) i` numbers move up by a row. No allocation
    /// once `rotations` has held as many entries.
    ///
    /// # Panics
    /// If `i ≥ n`.
    pub fn remove(&mut self, i: usize, rotations: &mut Rotations) {
        let n = self.dimension();
        assert!(i < n, "row {i} of a factor with {n} rows");
        rotations.restart(n, i);
        let lanes = self.tiles.as_flattened_mut();
        dispatch(Remove { columns: RowPanels { lanes, n, i }, reciprocals: &mut self.reciprocals, rotations });
        self.shrink();
    }
}

/// The factor as panels of eight rows, a lane a column; new row `r ≥ i` is old row `r + 1`.
struct RowPanels<'a> {
    lanes: &'a mut [Lane],
    n: usize,
    i: usize,
}

impl RowPanels<'_> {
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
    fn moved_up<S: Simd>(&self, simd: S, b: usize, m: usize) -> Lane {
        let (old, mut rows) = (self.old(b, m), Lane::ZERO);
        simd.store(simd.shift(simd.load(&old), simd.load(&self.old(b + 1, m))), &mut rows);
        let (first, kept) = split(self.i);
        if b == first {
            rows.0[..kept].copy_from_slice(&old.0[..kept]);
        }
        rows
    }

    /// Turns columns `columns` of `N` panels from `first` on, all of whose rows move up, with what
    /// is `left` of the column before them in each.
    #[inline(always)]
    fn sweep<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        rotations: &Rotations,
        first: usize,
        columns: Range<usize>,
        left: &mut [S::F64; N],
    ) {
        let mut rest = &mut self.lanes[block_start(first) * LANES..];
        let panels: [&mut [Lane]; N] = std::array::from_fn(|k| {
            let (panel, after) = std::mem::take(&mut rest).split_at_mut((first + k + 1) * LANES);
            rest = after;
            panel
        });
        let mut turned = *left;
        for m in columns {
            // Column m − 1 is written when column m has been read, so the row for the panel before
            // is there still.
            let pair = rotations.spread(simd, m - 1);
            let mut below = rest.get(m).map_or(simd.splat(0.0), |lane| simd.load(lane));
            for k in (0..N).rev() {
                let old = simd.load(&panels[k][m]);
                let right = simd.shift(old, below);
                below = old;
                let (done, next) = rotate(simd, pair, turned[k], right);
                simd.store(done, &mut panels[k][m - 1]);
                turned[k] = next;
            }
        }
        *left = turned;
    }
}

struct Remove<'a> {
    columns: RowPanels<'a>,
    reciprocals: &'a mut AlignedVec,
    rotations: &'a mut Rotations,
}

impl Op for Remove<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let RowPanels { n, i, .. } = self.columns;
        let panels = (n - 1).div_ceil(LANES);
        let mut first = i / LANES;
        while first < panels {
            let group = PANELS_ROTATED.min(panels - first);
            match group {
                PANELS_ROTATED => self.group::<S, PANELS_ROTATED>(simd, first),
                3 => self.group::<S, 3>(simd, first),
                2 => self.group::<S, 2>(simd, first),
                _ => self.group::<S, 1>(simd, first),
            }
            first += group;
        }
    }
}

impl Remove<'_> {
    /// The `N` panels from `first` on; those before are done.
    #[inline(always)]
    fn group<S: Simd, const N: usize>(&mut self, simd: S, first: usize) {
        let i = self.columns.i;
        // Panels in ascending order: each takes a row from the next before that one moves.
        for b in first..first + N {
            for m in 0..i.min((b + 1) * LANES) {
                self.columns.lanes[block_start(b) * LANES + m] = self.columns.moved_up(simd, b, m);
            }
        }
        let mut left = [simd.splat(0.0); N];
        for k in 0..N {
            left[k] = simd.load(&self.columns.moved_up(simd, first + k, i));
        }
        self.columns.sweep(simd, self.rotations, first, i + 1..first * LANES + 1, &mut left);
        for k in 0..N {
            let b = first + k;
            let columns = i.max(first * LANES) + 1..b * LANES + 1;
            let mut own = [left[k]];
            self.columns.sweep(simd, self.rotations, b, columns, &mut own);
            self.diagonal(simd, b, own[0]);
        }
    }

    /// The diagonal tile of panel `b`, which chooses its rotations; `left` is its first column that
    /// is rotated.
    ///
    /// With `w` the solution of the triangle `T` of the columns to come against `left`, and
    /// `τ_k = 1 + Σ_{j<k} w_j²`, rotation `k` has the cosine `±w_k/√τ_{k+1}` and the sine
    /// `√(τ_k/τ_{k+1})`: square roots and divisions of eight rotations go together, where choosing
    /// one from the entries that the last has left would wait for each of them. What the rotations
    /// leave where they should leave zero is rounding of the size of the row, and is dropped in
    /// both ways.
    #[inline(always)]
    fn diagonal<S: Simd>(&mut self, simd: S, b: usize, mut left: S::F64) {
        let RowPanels { n, i, .. } = self.columns;
        let top = b * LANES;
        let (from, to) = (i.max(top) - top, LANES.min(n - 1 - top));
        let mut right = [Lane::ZERO; LANES];
        for k in from..to {
            right[k] = self.columns.moved_up(simd, b, top + k + 1);
        }
        let mut rows = Lane::ZERO;
        simd.store(left, &mut rows);
        let (mut w, mut before, mut after) = (Lane::ZERO, Lane([1.0; LANES]), Lane([1.0; LANES]));
        let mut square = 1.0;
        for k in from..to {
            w.0[k] = rows.0[k] * self.reciprocals[top + k + 1];
            for row in k + 1..LANES {
                rows.0[row] = (-right[k].0[row]).mul_add(w.0[k], rows.0[row]);
            }
            before.0[k] = square;
            square = w.0[k].mul_add(w.0[k], square);
            after.0[k] = square;
        }
        let together = square < LARGEST_SQUARE;
        let (mut sines, mut stretches) = (Lane::ZERO, Lane::ZERO);
        let (root_before, root_after) = (simd.sqrt(simd.load(&before)), simd.sqrt(simd.load(&after)));
        simd.store(simd.div(simd.load(&w), root_after), &mut w);
        simd.store(simd.div(root_before, root_after), &mut sines);
        simd.store(simd.div(root_after, root_before), &mut stretches);
        let mut pivots = Lane([1.0; LANES]);
        for k in from..to {
            let column = right[k];
            let mut pair = (if (k - from) % 2 == 0 { w.0[k] } else { -w.0[k] }, sines.0[k]);
            pivots.0[k] = column.0[k] * stretches.0[k];
            if !together {
                simd.store(left, &mut rows);
                (pair, pivots.0[k]) = rotation(rows.0[k], column.0[k]);
            }
            self.rotations.set(top + k, pair);
            let (done, next) = rotate(simd, (simd.splat(pair.0), simd.splat(pair.1)), left, simd.load(&column));
            left = next;
            // Zero above the diagonal, and the pivot on it.
            let pivot = simd.mul(simd.splat(pivots.0[k]), simd.load(&UNITS[k]));
            let column = &mut self.columns.lanes[(block_start(b) * LANES) + top + k];
            simd.store(simd.mul_add(done, simd.load(&BELOW[k]), pivot), column);
        }
        let mut reciprocals = Lane::ZERO;
        simd.store(simd.div(simd.splat(1.0), simd.load(&pivots)), &mut reciprocals);
        self.reciprocals[top + from..top + to].copy_from_slice(&reciprocals.0[from..to]);
        // The last column has become zero.
        if let Some(at) = self.columns.at(b, n - 1) {
            self.columns.lanes[at] = Lane::ZERO;
        }
    }
}
