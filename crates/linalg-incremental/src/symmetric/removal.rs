//! Removal of a point from a symmetric inverse: rotation of its coordinates, and the loss of the
//! last one.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch, scale};

use super::SymmetricMatrix;
use super::halves::{HalfTile, RUNS, runs_mut, start};
use crate::rotations::{Rotations, rotate, rotate_numbers};
use crate::tiles::{HALF, split};

/// Treatment of the coordinate that [`SymmetricMatrix::drop_last`] drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Removal {
    /// It is integrated out: of a covariance `P` the other rows and columns stay as they are.
    Marginalise,
    /// It is set to zero: `P ← P − P_j P_jᵀ/P_jj`, which takes row and column `j` off `A = P⁻¹`.
    Condition,
}

impl SymmetricMatrix {
    /// `P ← Gᵀ P G`: the matrix in the coordinates after a removal. `4(n − i) n` multiply-adds,
    /// after deferred updates are applied.
    ///
    /// # Panics
    /// If the rotations are of vectors whose length is not `n`.
    pub fn rotate(&mut self, rotations: &Rotations) {
        assert_eq!(rotations.dimension(), self.n, "rotations of vectors with one entry for each row of the matrix");
        if !rotations.is_empty() {
            dispatch(Rotate { tiles: self.flushed_tiles(), rotations });
        }
    }

    /// Drops the last coordinate `j = n − 1`: `last` becomes the first `n − 1` entries of column
    /// `P_j`, and `P_jj` is returned. `O(n)`, and a deferred update for [`Removal::Condition`];
    /// `½n²` when it applies those deferred before. A `P_jj` whose reciprocal overflows has nothing
    /// to condition on: `last` is then zero.
    ///
    /// Coefficients `w` follow with `w ← w − P_j w_j/P_jj` for [`Removal::Condition`], and without
    /// their last entry for both.
    ///
    /// # Panics
    /// If the matrix is empty.
    pub fn drop_last(&mut self, how: Removal, last: &mut AlignedVec) -> f64 {
        assert!(self.n > 0, "the matrix has a coordinate to drop");
        self.flush();
        let n = self.n - 1;
        let corner = self.entry(n, n);
        last.resize(n);
        let (b, lane) = split(n);
        let mut runs = runs_mut(&mut self.tiles, b);
        // The upper triangle is stored, and all of the last tile.
        for (values, tile) in last.lanes_mut().iter_mut().zip(runs[lane / HALF].iter_mut()) {
            *values = std::mem::take(&mut tile[lane % HALF]);
        }
        if lane > 0 {
            last.lanes_mut()[b].0[lane] = 0.0;
            runs.iter_mut().flat_map(|run| &mut run[b]).for_each(|column| column.0[lane] = 0.0);
        }
        self.n = n;
        self.tiles.truncate(start(n.div_ceil(LANES)));
        // Nothing is deferred; columns of the old length go.
        self.us.clear();
        if how == Removal::Condition {
            if (1.0 / corner).is_finite() {
                self.subtract(1.0 / corner, last);
            } else {
                // A coordinate without variance has none in common with the others.
                last.iter_mut().for_each(|entry| *entry = 0.0);
            }
        }
        corner
    }

    /// `P ← keep · P + (1 − keep) · prior · I`: forgetting that goes back to the prior (Van
    /// Vaerenbergh, Lázaro-Gredilla and Santamaría 2012). `½n²`; deferred updates stay deferred.
    pub fn discount_to_prior(&mut self, keep: f64, prior: f64) {
        self.scale_stored(keep);
        scale(keep, &mut self.gains.0);
        let added = (1.0 - keep) * prior;
        for b in 0..self.n.div_ceil(LANES) {
            let runs = runs_mut(&mut self.tiles, b);
            for lane in 0..LANES.min(self.n - b * LANES) {
                runs[lane / HALF][b][lane % HALF].0[lane] += added;
            }
        }
    }
}

/// `P ← Gᵀ P G` on the upper triangle.
///
/// Rotation `k` turns rows and columns `k, k + 1`. An entry above the diagonal meets the rotations
/// of its row before those of its column. Block `b` of eight columns therefore takes three steps,
/// after all blocks before it:
///
/// 1. Turn the rows above the block, by the rotations among them.
/// 2. Turn the columns within these rows, together with the last column of the block before.
/// 3. Turn rows and columns of the square of nine on the diagonal, the [`Corner`].
struct Rotate<'a> {
    tiles: &'a mut [HalfTile],
    rotations: &'a Rotations,
}

impl Op for Rotate<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tiles, rotations } = self;
        let first = rotations.first();
        // The first block that has one of its columns, or the last before it, rotated.
        for b in (first + 1) / LANES..rotations.dimension().div_ceil(LANES) {
            let (earlier, block) = tiles[..start(b + 1)].split_at_mut(start(b));
            let before = &mut earlier[start(b.saturating_sub(1))..];
            let mut block =
                RemovalBlock { b, before: before.split_at_mut(b).into(), runs: block.split_at_mut(b + 1).into() };
            block.rotate_rows(simd, rotations);
            let corner = block.corner();
            block.rotate_columns(simd, rotations);
            block.set_corner(&rotate_corner(corner, b, rotations));
        }
    }
}

/// Rows and columns `8b − 1..8b + 8`; without the first for block 0.
type Corner = [[f64; LANES + 1]; LANES + 1];

/// Eight columns and those of the block before, of which the last is rotated along.
struct RemovalBlock<'a> {
    b: usize,
    before: [&'a mut [HalfTile]; RUNS],
    runs: [&'a mut [HalfTile]; RUNS],
}

impl RemovalBlock<'_> {
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, p: usize) -> [S::F64; LANES] {
        let mut columns = [simd.splat(0.0); LANES];
        for j in 0..LANES {
            columns[j] = simd.load(&self.runs[j / HALF][p][j % HALF]);
        }
        simd.transpose(columns)
    }

    #[inline(always)]
    fn set_rows<S: Simd>(&mut self, simd: S, p: usize, rows: [S::F64; LANES]) {
        let columns = simd.transpose(rows);
        for j in 0..LANES {
            simd.store(columns[j], &mut self.runs[j / HALF][p][j % HALF]);
        }
    }

    /// The rotations among the rows above the block.
    #[inline(always)]
    fn rotate_rows<S: Simd>(&mut self, simd: S, rotations: &Rotations) {
        let top = rotations.first() / LANES;
        let mut above = [simd.splat(0.0); LANES];
        for p in top..self.b {
            let mut rows = self.rows(simd, p);
            if p > top {
                let pair = rotations.spread(simd, p * LANES - 1);
                (above[LANES - 1], rows[0]) = rotate(simd, pair, above[LANES - 1], rows[0]);
                self.set_rows(simd, p - 1, above);
            }
            for r in 0..LANES - 1 {
                let pair = rotations.spread(simd, p * LANES + r);
                (rows[r], rows[r + 1]) = rotate(simd, pair, rows[r], rows[r + 1]);
            }
            above = rows;
        }
        if top < self.b {
            self.set_rows(simd, self.b - 1, above);
        }
    }

    /// The rotations of the nine columns, in all rows above the block.
    #[inline(always)]
    fn rotate_columns<S: Simd>(&mut self, simd: S, rotations: &Rotations) {
        for p in 0..self.b {
            let mut left = simd.load(&self.before[RUNS - 1][p][HALF - 1]);
            for j in 0..LANES {
                let right = simd.load(&self.runs[j / HALF][p][j % HALF]);
                let pair = rotations.spread(simd, self.b * LANES + j - 1);
                let (done, next) = rotate(simd, pair, left, right);
                simd.store(done, self.column(p, j));
                left = next;
            }
            simd.store(left, self.column(p, LANES));
        }
    }

    /// Rows `8p..8p + 8` of column `j` of the nine.
    #[inline(always)]
    fn column(&mut self, p: usize, j: usize) -> &mut Lane {
        match j.checked_sub(1) {
            None => &mut self.before[RUNS - 1][p][HALF - 1],
            Some(j) => &mut self.runs[j / HALF][p][j % HALF],
        }
    }

    #[inline(always)]
    fn corner(&self) -> Corner {
        let (b, mut corner) = (self.b, Corner::default());
        for j in 0..LANES {
            let run = &self.runs[j / HALF];
            for r in 0..LANES {
                corner[r + 1][j + 1] = run[b][j % HALF].0[r];
            }
            if b > 0 {
                let value = run[b - 1][j % HALF].0[LANES - 1];
                (corner[0][j + 1], corner[j + 1][0]) = (value, value);
            }
        }
        if b > 0 {
            corner[0][0] = self.before[RUNS - 1][b - 1][HALF - 1].0[LANES - 1];
        }
        corner
    }

    #[inline(always)]
    fn set_corner(&mut self, corner: &Corner) {
        let b = self.b;
        for j in 0..LANES {
            let run = &mut self.runs[j / HALF];
            for r in 0..LANES {
                run[b][j % HALF].0[r] = corner[r + 1][j + 1];
            }
            if b > 0 {
                run[b - 1][j % HALF].0[LANES - 1] = corner[0][j + 1];
            }
        }
        if b > 0 {
            self.column(b - 1, 0).0[LANES - 1] = corner[0][0];
            // Tiles on the diagonal hold both triangles.
            for (j, value) in self.column(b - 1, 0).0.into_iter().enumerate() {
                self.before[j / HALF][b - 1][j % HALF].0[LANES - 1] = value;
            }
        }
    }
}

/// Rotates rows and columns of a symmetric square.
#[inline(always)]
fn rotate_corner(mut corner: Corner, b: usize, rotations: &Rotations) -> Corner {
    for j in usize::from(b == 0)..LANES {
        let pair = rotations.pair(b * LANES + j - 1);
        for m in 0..=LANES {
            (corner[j][m], corner[j + 1][m]) = rotate_numbers(pair, corner[j][m], corner[j + 1][m]);
        }
        for row in &mut corner[j..=j + 1] {
            (row[j], row[j + 1]) = rotate_numbers(pair, row[j], row[j + 1]);
        }
        corner[j + 1][j] = corner[j][j + 1];
        for m in (0..=LANES).filter(|m| !(j..=j + 1).contains(m)) {
            (corner[m][j], corner[m][j + 1]) = (corner[j][m], corner[j + 1][m]);
        }
    }
    corner
}
