//! The rectangular matrix of an operator learner: rank-one steps, decay by a scalar, growth by rows
//! and columns of zeros.
//!
//! A step of gradient descent on an operator is `A ← κA + u vᵀ` after a product `A x`. As in
//! [`SymmetricMatrix`](crate::SymmetricMatrix), the rank-one term is deferred and applied by the
//! next [`StateMatrix::multiply`] on its way, so that a step reads and writes each stored element
//! once. The factor `κ` goes into one scalar: with the stored matrix `S`, the scalar `s` and the
//! deferred `u vᵀ`,
//!
//! ```text
//! A = s (S + u vᵀ),     κA + r zᵀ = (κs) (S + u vᵀ + r zᵀ/(κs)).
//! ```
//!
//! `s` is multiplied into `S` before it leaves `[1e−100, 1e100]`, and at once when `κ = 0`.
//!
//! Layout: panels of eight rows, a panel's columns one lane after the other, with room for columns
//! to come. A row is added by a new panel at the end every eighth time; a column finds its place
//! until the room is used up, when it grows by half. Memory is `8·1.5²·n²` bytes at most for a
//! square matrix that grew one by one.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch, dot, scale};

/// The scalar is kept within `[LEAST_SCALE, 1/LEAST_SCALE]`, so that neither it nor the stored
/// numbers leave the range of `f64`.
const LEAST_SCALE: f64 = 1e-100;

/// A dense matrix that takes `A ← κA + u vᵀ` in one pass with the next product, and grows.
///
/// # Invariants
/// Lane `p · room + j` holds rows `8p..8p+8` of column `j`. `room` is a multiple of eight and at
/// least the number of columns; rows and columns past the end are zero. The matrix meant is
/// `scale · (stored + u vᵀ)`, where empty `u` stand for none.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateMatrix {
    rows: usize,
    columns: usize,
    room: usize,
    lanes: Vec<Lane>,
    scale: f64,
    u: AlignedVec,
    v: AlignedVec,
}

impl Default for StateMatrix {
    fn default() -> Self {
        Self { rows: 0, columns: 0, room: 0, lanes: Vec::new(), scale: 1.0, u: AlignedVec::new(), v: AlignedVec::new() }
    }
}

impl StateMatrix {
    /// The matrix without rows and columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The matrix with entries `entry(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let room = columns.next_multiple_of(LANES);
        let mut matrix =
            Self { rows, columns, room, lanes: vec![Lane::ZERO; rows.div_ceil(LANES) * room], ..Self::default() };
        for i in 0..rows {
            for j in 0..columns {
                matrix.lanes[i / LANES * room + j].0[i % LANES] = entry(i, j);
            }
        }
        matrix
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// `A[i, j]`
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.rows && j < self.columns, "entry ({i}, {j}) of a {} × {} matrix", self.rows, self.columns);
        let stored = self.lanes[i / LANES * self.room + j].0[i % LANES];
        self.scale * if self.is_deferred() { stored + self.u[i] * self.v[j] } else { stored }
    }

    /// `y ← A x`, applying a deferred rank-one term in the same pass. `2·rows·columns`
    /// multiply-adds with a deferred term, half of that without.
    ///
    /// # Panics
    /// If `x` has not one entry for each column.
    pub fn multiply(&mut self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.columns, "the vector has one entry for each column of the matrix");
        if !self.is_deferred() {
            return self.product(x, y);
        }
        y.resize(self.rows);
        dispatch(UpdateAndProduct {
            lanes: &mut self.lanes,
            room: self.room,
            u: self.u.lanes(),
            v: self.v.lanes(),
            x: x.lanes(),
            y: y.lanes_mut(),
        });
        self.forget_deferred();
        scale(self.scale, y);
    }

    /// `y ← A x`, changing nothing. `rows·columns` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not one entry for each column.
    pub fn product(&self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.columns, "the vector has one entry for each column of the matrix");
        y.resize(self.rows);
        dispatch(StateProduct { lanes: &self.lanes, room: self.room, x: x.lanes(), y: y.lanes_mut() });
        if self.is_deferred() {
            mercer_simd::axpy(dot(self.v.lanes(), x.lanes()), self.u.lanes(), y.lanes_mut());
        }
        scale(self.scale, y);
    }

    /// `y ← Aᵀ x`, changing nothing. `rows·columns` multiply-adds.
    ///
    /// # Panics
    /// If `x` has not one entry for each row.
    pub fn transposed_product(&self, x: &AlignedVec, y: &mut AlignedVec) {
        assert_eq!(x.len(), self.rows, "the vector has one entry for each row of the matrix");
        y.resize(self.columns);
        dispatch(TransposedProduct { lanes: &self.lanes, room: self.room, x: x.lanes(), y: y.lanes_mut() });
        if self.is_deferred() {
            mercer_simd::axpy(dot(self.u.lanes(), x.lanes()), self.v.lanes(), y.lanes_mut());
        }
        scale(self.scale, y);
    }

    /// `A ← keep · A + u vᵀ`, deferred to the next [`multiply`](Self::multiply).
    /// `O(rows + columns)` when none is pending.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn decay_and_add(&mut self, keep: f64, u: &AlignedVec, v: &AlignedVec) {
        assert!(u.len() == self.rows && v.len() == self.columns, "one entry for each row, and one for each column");
        self.flush();
        self.decay(keep);
        self.u.assign(u);
        self.v.assign(v);
        scale(1.0 / self.scale, &mut self.u);
    }

    /// `A ← keep · A`. `O(1)`, and now and then a pass.
    pub fn decay(&mut self, keep: f64) {
        self.scale *= keep;
        if !(LEAST_SCALE..=1.0 / LEAST_SCALE).contains(&self.scale.abs()) {
            self.flush();
            self.lanes.iter_mut().flat_map(|lane| &mut lane.0).for_each(|value| *value *= self.scale);
            self.scale = 1.0;
        }
    }

    /// Applies a deferred rank-one term now; the matrix meant is the same before and after.
    pub fn flush(&mut self) {
        if self.is_deferred() {
            dispatch(AddOuter { lanes: &mut self.lanes, room: self.room, u: self.u.lanes(), v: self.v.lanes() });
            self.forget_deferred();
        }
    }

    /// Gains a row of zeros.
    pub fn grow_row(&mut self) {
        if self.rows.is_multiple_of(LANES) {
            self.lanes.resize(self.lanes.len() + self.room, Lane::ZERO);
        }
        self.rows += 1;
        if self.is_deferred() {
            self.u.resize(self.rows);
        }
    }

    /// Gains a column of zeros. `O(1)`, and a copy of the matrix when the room is used up.
    pub fn grow_column(&mut self) {
        if self.columns == self.room {
            let room = (self.room + self.room / 2).next_multiple_of(LANES).max(LANES);
            let panels = self.rows.div_ceil(LANES);
            let mut lanes = Vec::with_capacity(panels.max(room / LANES) * room);
            for p in 0..panels {
                lanes.extend_from_slice(&self.lanes[p * self.room..(p + 1) * self.room]);
                lanes.resize((p + 1) * room, Lane::ZERO);
            }
            (self.room, self.lanes) = (room, lanes);
        }
        self.columns += 1;
        if self.is_deferred() {
            self.v.resize(self.columns);
        }
    }

    /// Gains a column with the given entries.
    ///
    /// # Panics
    /// If `column` has not one entry for each row.
    pub fn append_column(&mut self, column: &AlignedVec) {
        assert_eq!(column.len(), self.rows, "the column has one entry for each row of the matrix");
        self.grow_column();
        let last = self.columns - 1;
        for (p, values) in column.lanes().iter().enumerate() {
            self.lanes[p * self.room + last] = Lane(values.0.map(|value| value / self.scale));
        }
    }

    /// The sum of the squared entries. One read of the matrix.
    #[must_use]
    pub fn sum_of_squares(&self) -> f64 {
        let (u, v) = if self.is_deferred() {
            (self.u.clone(), self.v.clone())
        } else {
            (AlignedVec::zeros(self.rows), AlignedVec::zeros(self.columns))
        };
        let stored = dispatch(SumOfSquares { lanes: &self.lanes, room: self.room, u: u.lanes(), v: v.lanes() });
        stored * self.scale * self.scale
    }

    fn is_deferred(&self) -> bool {
        !self.u.is_empty()
    }

    fn forget_deferred(&mut self) {
        self.u.resize(0);
        self.v.resize(0);
    }
}

impl Validate for StateMatrix {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "operator's matrix";
        Inconsistent::size(self.rows, WHAT)?;
        Inconsistent::size(self.columns, WHAT)?;
        self.u.validate()?;
        self.v.validate()?;
        // Room for columns to come grows by half.
        let roomy = self.room >= self.columns
            && self.room.is_multiple_of(LANES)
            && self.room <= 2 * self.columns + 2 * LANES
            && self.lanes.len() == self.rows.div_ceil(LANES) * self.room;
        Inconsistent::require(roomy, WHAT, "it has one number for each entry, and some room")?;
        let fits = !self.is_deferred() || (self.u.len(), self.v.len()) == (self.rows, self.columns);
        Inconsistent::require(fits, WHAT, "a step that waits fits it")?;
        let scaled = (LEAST_SCALE..=1.0 / LEAST_SCALE).contains(&self.scale.abs());
        Inconsistent::require(scaled, WHAT, "its scale is within the range of numbers")?;
        self.lanes.validate()?;
        let used = self.rows % LANES;
        let last = if used > 0 { &self.lanes[self.lanes.len() - self.room..] } else { &[] };
        let mut clear = last.iter().all(|lane| lane.0[used..].iter().all(|value| *value == 0.0));
        for panel in self.lanes.chunks_exact(self.room.max(1)) {
            clear &= panel[self.columns..].iter().all(|lane| *lane == Lane::ZERO);
        }
        Inconsistent::require(clear, WHAT, "it is zero past its last row and column")
    }
}

/// The columns `8b..8b+8` of a panel.
type ColumnBlock = [Lane; LANES];

/// The panels of the matrix, each cut to the blocks of columns in use.
#[inline(always)]
fn panel(lanes: &[Lane], room: usize, p: usize, blocks: usize) -> &[ColumnBlock] {
    &lanes[p * room..(p + 1) * room].as_chunks::<LANES>().0[..blocks]
}

struct UpdateAndProduct<'a> {
    lanes: &'a mut [Lane],
    room: usize,
    u: &'a [Lane],
    v: &'a [Lane],
    x: &'a [Lane],
    y: &'a mut [Lane],
}

/// Adds `u vᵀ` to `N` panels and multiplies them with `x`: each broadcast of `v` and `x` serves all
/// of them.
#[inline(always)]
fn update_and_multiply<S: Simd, const N: usize>(
    simd: S,
    mut panels: [&mut [ColumnBlock]; N],
    u: &[Lane; N],
    v: &[Lane],
    x: &[Lane],
    y: &mut [Lane; N],
) {
    let u: [S::F64; N] = std::array::from_fn(|k| simd.load(&u[k]));
    let mut sums = [[simd.splat(0.0); 2]; N];
    for b in 0..x.len().min(v.len()) {
        let (v, x) = (&v[b], &x[b]);
        let blocks: [&mut ColumnBlock; N] = panels.each_mut().map(|panel| &mut panel[b]);
        for j in 0..LANES {
            let (v, x) = (simd.splat(v.0[j]), simd.splat(x.0[j]));
            for k in 0..N {
                let a = simd.mul_add(u[k], v, simd.load(&blocks[k][j]));
                simd.store(a, &mut blocks[k][j]);
                sums[k][j % 2] = simd.mul_add(a, x, sums[k][j % 2]);
            }
        }
    }
    for k in 0..N {
        simd.store(simd.add(sums[k][0], sums[k][1]), &mut y[k]);
    }
}

impl Op for UpdateAndProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { lanes, room, u, v, x, y } = self;
        let blocks = x.len();
        let mut rest = lanes;
        let (u_pairs, u_last) = u.as_chunks::<2>();
        let (y_pairs, y_last) = y.as_chunks_mut::<2>();
        for (u, y) in u_pairs.iter().zip(y_pairs) {
            let (both, others) = rest.split_at_mut(2 * room);
            rest = others;
            let (first, second) = both.split_at_mut(room);
            let panels =
                [&mut first.as_chunks_mut::<LANES>().0[..blocks], &mut second.as_chunks_mut::<LANES>().0[..blocks]];
            update_and_multiply(simd, panels, u, v, x, y);
        }
        if let ([u], [y]) = (u_last, y_last) {
            let panels = [&mut rest.as_chunks_mut::<LANES>().0[..blocks]];
            update_and_multiply(simd, panels, &[*u], v, x, std::array::from_mut(y));
        }
    }
}

struct StateProduct<'a> {
    lanes: &'a [Lane],
    room: usize,
    x: &'a [Lane],
    y: &'a mut [Lane],
}

impl Op for StateProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (p, y) in self.y.iter_mut().enumerate() {
            let mut sums = [simd.splat(0.0); 4];
            for (block, x) in panel(self.lanes, self.room, p, self.x.len()).iter().zip(self.x) {
                for j in 0..LANES {
                    sums[j % 4] = simd.mul_add(simd.load(&block[j]), simd.splat(x.0[j]), sums[j % 4]);
                }
            }
            simd.store(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])), y);
        }
    }
}

struct TransposedProduct<'a> {
    lanes: &'a [Lane],
    room: usize,
    x: &'a [Lane],
    y: &'a mut [Lane],
}

impl Op for TransposedProduct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (b, y) in self.y.iter_mut().enumerate() {
            let mut sums = [simd.splat(0.0); LANES];
            for (p, x) in self.x.iter().enumerate() {
                let (block, x) = (&panel(self.lanes, self.room, p, b + 1)[b], simd.load(x));
                for j in 0..LANES {
                    sums[j] = simd.mul_add(simd.load(&block[j]), x, sums[j]);
                }
            }
            simd.store(simd.transpose_sum(sums), y);
        }
    }
}

struct AddOuter<'a> {
    lanes: &'a mut [Lane],
    room: usize,
    u: &'a [Lane],
    v: &'a [Lane],
}

impl Op for AddOuter<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (panel, u) in self.lanes.chunks_exact_mut(self.room.max(1)).zip(self.u) {
            let u = simd.load(u);
            for (block, v) in panel.as_chunks_mut::<LANES>().0.iter_mut().zip(self.v) {
                for j in 0..LANES {
                    simd.store(simd.mul_add(u, simd.splat(v.0[j]), simd.load(&block[j])), &mut block[j]);
                }
            }
        }
    }
}

struct SumOfSquares<'a> {
    lanes: &'a [Lane],
    room: usize,
    u: &'a [Lane],
    v: &'a [Lane],
}

impl Op for SumOfSquares<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let mut sums = [simd.splat(0.0); 4];
        for (p, u) in self.u.iter().enumerate() {
            let u = simd.load(u);
            for (block, v) in panel(self.lanes, self.room, p, self.v.len()).iter().zip(self.v) {
                for j in 0..LANES {
                    let a = simd.mul_add(u, simd.splat(v.0[j]), simd.load(&block[j]));
                    sums[j % 4] = simd.mul_add(a, a, sums[j % 4]);
                }
            }
        }
        simd.sum(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every change mirrored on a plain matrix; the sizes cross the borders of panels, blocks and
    /// room.
    #[test]
    fn agrees_with_a_plain_matrix_through_growth_and_decay() {
        let wave = |n: usize, t: usize| (0..n).map(|i| ((i * 7 + t * 3) as f64 * 0.31).sin()).collect::<AlignedVec>();
        let (mut fast, mut plain) = (StateMatrix::new(), Vec::<Vec<f64>>::new());
        let mut y = AlignedVec::new();
        for t in 0..60 {
            if t % 3 != 2 {
                fast.grow_row();
                plain.push(vec![0.0; fast.columns()]);
            }
            if t % 2 == 0 {
                fast.grow_column();
                plain.iter_mut().for_each(|row| row.push(0.0));
            }
            let (u, v) = (wave(fast.rows(), t), wave(fast.columns(), t + 1));
            let keep = if t == 40 { 0.0 } else { 0.9 - 1e-3 * t as f64 };
            fast.decay_and_add(keep, &u, &v);
            for (row, u) in plain.iter_mut().zip(u.iter()) {
                row.iter_mut().zip(v.iter()).for_each(|(a, v)| *a = keep * *a + u * v);
            }
            if t % 5 == 4 {
                let column = wave(fast.rows(), t + 2);
                fast.append_column(&column);
                plain.iter_mut().zip(column.iter()).for_each(|(row, value)| row.push(*value));
            }
            let x = wave(fast.columns(), t + 5);
            let dense = |x: &[f64]| -> Vec<f64> {
                plain.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
            };
            let close = |y: &AlignedVec, expected: &[f64]| {
                assert_eq!(y.len(), expected.len());
                assert!(y.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
                assert!(y.lanes().iter().flat_map(|lane| lane.0).skip(y.len()).all(|padding| padding == 0.0));
            };
            fast.product(&x, &mut y);
            close(&y, &dense(&x));
            let w = wave(fast.rows(), t + 9);
            fast.transposed_product(&w, &mut y);
            let transposed: Vec<f64> =
                (0..fast.columns()).map(|j| plain.iter().zip(w.iter()).map(|(row, w)| row[j] * w).sum()).collect();
            close(&y, &transposed);
            let squares: f64 = plain.iter().flatten().map(|a| a * a).sum();
            assert!((fast.sum_of_squares() - squares).abs() <= 1e-11 * squares);
            if t % 4 != 1 {
                fast.multiply(&x, &mut y);
                close(&y, &dense(&x));
            }
            assert!((fast.entry(fast.rows() - 1, 0) - plain[fast.rows() - 1][0]).abs() < 1e-13);
        }
    }

    #[test]
    fn a_long_decay_neither_underflows_nor_forgets() {
        let one = AlignedVec::from_slice(&[1.0]);
        let (mut matrix, mut y) = (StateMatrix::from_fn(1, 1, |_, _| 1.0), AlignedVec::new());
        for _ in 0..10_000 {
            matrix.multiply(&one, &mut y);
            matrix.decay_and_add(0.5, &one, &one);
        }
        // a ← a/2 + 1 has the fixed point 2.
        assert!((matrix.entry(0, 0) - 2.0).abs() < 1e-14);
        assert_eq!(StateMatrix::from_fn(2, 3, |i, j| (i * 3 + j) as f64).entry(1, 2), 5.0);
    }
}
