//! The one loop behind every vectorised kernel row.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::points::Points;
use crate::support::{BLOCKS_A_GROUP, WIDE, support};

/// A kernel as an accumulation over the coordinates and a function of the sum.
pub(crate) trait RowProfile: Copy {
    /// Adds what one coordinate contributes: `(x_i − z_i)²` or `x_i z_i`.
    fn accumulate<S: Simd>(self, simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64;
    /// The kernel value from the sum.
    fn finish<S: Simd>(self, simd: S, sum: S::F64) -> S::F64;
}

/// `sum + (x − z)²`
#[inline(always)]
pub(crate) fn squared_difference<S: Simd>(simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64 {
    let difference = simd.sub(x, z);
    simd.mul_add(difference, difference, sum)
}

/// Fills `row` with the kernel values at the coordinates of the points from `offset` on, and zero
/// padding.
pub(crate) fn fill<P: RowProfile>(profile: P, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
    let stride = points.stride();
    debug_assert!(offset + x.len() <= points.dimension());
    row.resize(points.len());
    let of_x = if points.dimension() >= WIDE { support(x, offset) } else { None };
    match of_x {
        Some(of_x) => fill_groups(profile, points, (offset, &of_x), x, row.lanes_mut()),
        None => fill_blocks(profile, points.lanes(), (stride, offset), x, row.lanes_mut()),
    }
    if !points.len().is_multiple_of(LANES)
        && let Some(last) = row.lanes_mut().last_mut()
    {
        last.0[points.len() % LANES..].fill(0.0);
    }
}

/// The same where few coordinates of `x` are not 0: the others are passed over in groups of points
/// of which few are so, too. What both have as 0 adds 0 to a sum, so the bits are the same.
fn fill_groups<P: RowProfile>(
    profile: P,
    points: &Points,
    (offset, of_x): (usize, &[usize]),
    x: &[f64],
    row: &mut [Lane],
) {
    let stride = points.stride();
    let lanes = points.lanes().chunks(BLOCKS_A_GROUP * stride);
    for (group, (lanes, row)) in lanes.zip(row.chunks_mut(BLOCKS_A_GROUP)).enumerate() {
        match points.places_of_group(group, of_x, offset..offset + x.len()) {
            Some(places) => dispatch(SparseRow { profile, lanes, stride, offset, places: &places, x, row }),
            None => fill_blocks(profile, lanes, (stride, offset), x, row),
        }
    }
}

/// The kernel values at as many blocks of points as `row` has lanes, each of `stride` lanes from
/// whose lane `offset` on the coordinates are.
pub(crate) fn fill_blocks<P: RowProfile>(
    profile: P,
    lanes: &[Lane],
    (stride, offset): (usize, usize),
    x: &[f64],
    row: &mut [Lane],
) {
    dispatch(KernelRow { profile, lanes, stride, offset, x, row });
}

impl Points {
    /// `distances ← ‖x − z_i‖²` for each point, with padding 0. `Jd` multiply-adds, vectorised.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn squared_distances(&self, x: &[f64], distances: &mut AlignedVec) {
        assert_eq!(x.len(), self.dimension(), "an input has one coordinate for each dimension");
        fill(SquaredDistance, self, 0, x, distances);
    }

    /// The same for the points of some blocks alone, point `8b + i` in place `i` of block `b`.
    /// Places without a point have the distance of 0.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates, or there are not as many blocks from `first` on.
    pub fn squared_distances_of_blocks(&self, first: usize, x: &[f64], distances: &mut [Lane]) {
        assert_eq!(x.len(), self.dimension(), "an input has one coordinate for each dimension");
        fill_blocks(SquaredDistance, &self.lanes()[first * self.stride()..], (self.stride(), 0), x, distances);
    }
}

/// The sum itself.
#[derive(Clone, Copy)]
struct SquaredDistance;

impl RowProfile for SquaredDistance {
    #[inline(always)]
    fn accumulate<S: Simd>(self, simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64 {
        squared_difference(simd, sum, x, z)
    }

    #[inline(always)]
    fn finish<S: Simd>(self, _: S, sum: S::F64) -> S::F64 {
        sum
    }
}

struct SparseRow<'a, P> {
    profile: P,
    lanes: &'a [Lane],
    stride: usize,
    offset: usize,
    /// The lanes of a block that count.
    places: &'a [usize],
    x: &'a [f64],
    row: &'a mut [Lane],
}

impl<P: RowProfile> Op for SparseRow<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { profile, lanes, stride, offset, places, x, row } = self;
        for (block, out) in lanes.chunks(stride).zip(row) {
            let sum = places.iter().fold(simd.splat(0.0), |sum, place| {
                profile.accumulate(simd, sum, simd.splat(x[place - offset]), simd.load(&block[*place]))
            });
            simd.store(profile.finish(simd, sum), out);
        }
    }
}

/// Blocks of eight points worked on together, so that their sums and exponentials overlap.
const BLOCKS_TOGETHER: usize = 4;

struct KernelRow<'a, P> {
    profile: P,
    lanes: &'a [Lane],
    /// Lanes of a block of eight points, and the first of them that is used.
    stride: usize,
    offset: usize,
    x: &'a [f64],
    row: &'a mut [Lane],
}

impl<P: RowProfile> Op for KernelRow<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let d = self.x.len();
        let block = |b: usize| {
            let start = b * self.stride + self.offset;
            &self.lanes[start..start + d]
        };
        let whole = self.row.len() / BLOCKS_TOGETHER * BLOCKS_TOGETHER;
        let (together, rest) = self.row.split_at_mut(whole);
        for (g, out) in together.as_chunks_mut::<BLOCKS_TOGETHER>().0.iter_mut().enumerate() {
            let blocks: [&[Lane]; BLOCKS_TOGETHER] = std::array::from_fn(|k| block(g * BLOCKS_TOGETHER + k));
            let mut sums = [simd.splat(0.0); BLOCKS_TOGETHER];
            for (i, x) in self.x.iter().enumerate() {
                let x = simd.splat(*x);
                for k in 0..BLOCKS_TOGETHER {
                    sums[k] = self.profile.accumulate(simd, sums[k], x, simd.load(&blocks[k][i]));
                }
            }
            for k in 0..BLOCKS_TOGETHER {
                simd.store(self.profile.finish(simd, sums[k]), &mut out[k]);
            }
        }
        for (k, out) in rest.iter_mut().enumerate() {
            let sum = block(whole + k)
                .iter()
                .zip(self.x)
                .fold(simd.splat(0.0), |sum, (z, x)| self.profile.accumulate(simd, sum, simd.splat(*x), simd.load(z)));
            simd.store(self.profile.finish(simd, sum), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, Polynomial};

    /// A row of 0 but at some places, which `k` tells.
    fn sparse(k: usize) -> Vec<f64> {
        let mut x = vec![0.0; WIDE + 5];
        for i in 0..5 {
            x[(k * 7919 + i * i * 131 + k * i) % (WIDE + 5)] = 0.1 + (k * i % 13) as f64 / 7.0;
        }
        x
    }

    fn check(points: &Points, profile: impl RowProfile, x: &[f64], offset: usize) {
        let (mut few, mut all) = (AlignedVec::new(), AlignedVec::new());
        fill(profile, points, offset, x, &mut few);
        all.resize(points.len());
        fill_blocks(profile, points.lanes(), (points.stride(), offset), x, all.lanes_mut());
        assert_eq!(few[..points.len()], all[..points.len()]);
    }

    /// Coordinates that are passed over leave the bits of kernel rows, whatever became of the
    /// points before.
    #[test]
    fn rows_of_few_coordinates_are_those_of_all() {
        let mut points = Points::new(WIDE + 5);
        (0..75).for_each(|k| points.push(&sparse(k)));
        let kept =
            |points: &Points| (0..3).filter(|group| points.places_of_group(*group, &[], 0..WIDE + 5).is_some()).count();
        let all = |points: &Points| {
            for k in [3, 40, 90, 200] {
                let x = sparse(k);
                check(points, Gaussian::new(2.0).unwrap(), &x, 0);
                check(points, Polynomial::new(2, 1.0).unwrap(), &x, 0);
                check(points, Gaussian::new(2.0).unwrap(), &x[500..1700], 500);
                check(points, Gaussian::new(2.0).unwrap(), &vec![0.5; WIDE + 5], 0);
                assert_eq!(points.position(&x), (0..points.len()).find(|i| points.point(*i) == x));
            }
        };
        assert_eq!(kept(&points), 3);
        all(&points);
        points.replace(40, &vec![0.25; WIDE + 5]);
        assert_eq!(kept(&points), 2, "a group with a point that is 0 nowhere has no support");
        all(&points);
        points.remove(40);
        [1, 30, 33].into_iter().for_each(|index| points.remove(index));
        points.replace(35, &sparse(90));
        all(&points);
        // Points that come and go leave no support behind that grows for ever.
        (0..3000).for_each(|k| points.replace(k % 30, &sparse(k)));
        assert_eq!(kept(&points), 2);
        all(&points);
        points.grow(3);
        assert_eq!(points.dimension(), WIDE + 8);
        // What a support leaves out is passed over.
        let mut narrow = Points::new(WIDE - 1);
        (0..9).for_each(|k| narrow.push(&sparse(k)[..WIDE - 1]));
        assert_eq!(kept(&narrow), 0);
        narrow.grow(6);
        assert_eq!(kept(&narrow), 1);
        all(&narrow);
    }
}
