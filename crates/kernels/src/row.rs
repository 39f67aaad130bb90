//! The one loop behind every vectorised kernel row.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::points::Points;

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
    fill_blocks(profile, points.lanes(), (stride, offset), x, row.lanes_mut());
    if !points.len().is_multiple_of(LANES)
        && let Some(last) = row.lanes_mut().last_mut()
    {
        last.0[points.len() % LANES..].fill(0.0);
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
