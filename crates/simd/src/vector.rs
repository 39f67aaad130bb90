//! Dot products and scaled additions over whole lanes.

use crate::aligned::Lane;
use crate::backend::Simd;
use crate::dispatch::{Op, dispatch};

/// `Σ aᵢ bᵢ` inside a dispatched computation; four running sums hide the latency of the fused
/// multiply-add.
///
/// Vectors of unequal length are cut to the shorter one.
#[inline(always)]
pub fn dot_lanes<S: Simd>(simd: S, a: &[Lane], b: &[Lane]) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = a[..n].as_chunks::<4>();
    let (b, b_rest) = b[..n].as_chunks::<4>();
    let mut sums = [simd.splat(0.0); 4];
    for (a, b) in a.iter().zip(b) {
        for i in 0..4 {
            sums[i] = simd.mul_add(simd.load(&a[i]), simd.load(&b[i]), sums[i]);
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        sums[0] = simd.mul_add(simd.load(a), simd.load(b), sums[0]);
    }
    simd.sum(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])))
}

/// `y ← y + a x` inside a dispatched computation.
#[inline(always)]
pub fn axpy_lanes<S: Simd>(simd: S, a: f64, x: &[Lane], y: &mut [Lane]) {
    let a = simd.splat(a);
    for (x, y) in x.iter().zip(y) {
        simd.store(simd.mul_add(a, simd.load(x), simd.load(y)), y);
    }
}

struct Dot<'a>(&'a [Lane], &'a [Lane]);

impl Op for Dot<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        dot_lanes(simd, self.0, self.1)
    }
}

/// `Σ aᵢ bᵢ`; vectors of unequal length are cut to the shorter one.
#[must_use]
pub fn dot(a: &[Lane], b: &[Lane]) -> f64 {
    dispatch(Dot(a, b))
}

struct Axpy<'a>(f64, &'a [Lane], &'a mut [Lane]);

impl Op for Axpy<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        axpy_lanes(simd, self.0, self.1, self.2);
    }
}

/// `y ← y + a x`
pub fn axpy(a: f64, x: &[Lane], y: &mut [Lane]) {
    dispatch(Axpy(a, x, y));
}

/// `x ← a x`
pub fn scale(a: f64, x: &mut [f64]) {
    x.iter_mut().for_each(|x| *x *= a);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlignedVec, Level, dispatch_at};
    use proptest::prelude::*;

    struct TransposeSum([Lane; 8]);
    impl Op for TransposeSum {
        type Output = [f64; 8];
        fn run<S: Simd>(self, simd: S) -> [f64; 8] {
            let mut out = Lane::ZERO;
            simd.store(simd.transpose_sum(self.0.map(|lane| simd.load(&lane))), &mut out);
            out.0
        }
    }

    struct Transpose([Lane; 8]);
    impl Op for Transpose {
        type Output = [Lane; 8];
        fn run<S: Simd>(self, simd: S) -> [Lane; 8] {
            let mut out = [Lane::ZERO; 8];
            let transposed = simd.transpose(self.0.map(|lane| simd.load(&lane)));
            out.iter_mut().zip(transposed).for_each(|(out, lane)| simd.store(lane, out));
            out
        }
    }

    /// `a b + c`, `c − a b` and `2 a b` of four numbers.
    struct Halves([[f64; 4]; 3]);
    impl Op for Halves {
        type Output = [[f64; 4]; 3];
        fn run<S: Simd>(self, simd: S) -> [[f64; 4]; 3] {
            let [a, b, c] = self.0.map(|half| simd.load_half(&half));
            let doubled = simd.mul_half(simd.splat_half(2.0), simd.mul_half(a, b));
            let mut out = [[0.0; 4]; 3];
            simd.store_half(simd.mul_add_half(a, b, c), &mut out[0]);
            simd.store_half(simd.negate_mul_add_half(a, b, c), &mut out[1]);
            simd.store_half(doubled, &mut out[2]);
            out
        }
    }

    #[test]
    fn halves_round_once() {
        let a: [[f64; 4]; 3] =
            [[1.0 + f64::EPSILON, -3.0, 0.1, 7.0], [1.0 - f64::EPSILON, 2.0, 0.3, -1e300], [-1.0, 5.0, -0.03, 1e300]];
        let expected: [[f64; 4]; 3] = std::array::from_fn(|k| {
            std::array::from_fn(|i| match k {
                0 => a[0][i].mul_add(a[1][i], a[2][i]),
                1 => (-a[0][i]).mul_add(a[1][i], a[2][i]),
                _ => 2.0 * (a[0][i] * a[1][i]),
            })
        });
        for level in Level::available() {
            assert_eq!(dispatch_at(level, Halves(a)), Some(expected), "{level:?}");
        }
    }

    struct Join([[f64; 4]; 2]);
    impl Op for Join {
        type Output = Lane;
        fn run<S: Simd>(self, simd: S) -> Lane {
            let mut out = Lane::ZERO;
            let [low, high] = self.0.map(|half| simd.load_half(&half));
            simd.store(simd.join(low, high), &mut out);
            out
        }
    }

    #[test]
    fn two_halves_are_a_whole() {
        for level in Level::available() {
            let whole = dispatch_at(level, Join([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]));
            assert_eq!(whole, Some(Lane([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])), "{level:?}");
        }
    }

    #[test]
    fn transposes_have_rows_for_columns() {
        let a: [Lane; 8] = std::array::from_fn(|i| Lane(std::array::from_fn(|j| (10 * i + j) as f64)));
        for level in Level::available() {
            let transposed = dispatch_at(level, Transpose(a));
            assert!(transposed.is_some_and(|t| (0..64).all(|k| t[k / 8].0[k % 8] == a[k % 8].0[k / 8])), "{level:?}");
        }
    }

    struct Shift([Lane; 2]);
    impl Op for Shift {
        type Output = Lane;
        fn run<S: Simd>(self, simd: S) -> Lane {
            let mut out = Lane::ZERO;
            let [a, next] = self.0.map(|lane| simd.load(&lane));
            simd.store(simd.shift(a, next), &mut out);
            out
        }
    }

    #[test]
    fn a_shift_goes_on_with_the_next_lane() {
        let both: [Lane; 2] = std::array::from_fn(|i| Lane(std::array::from_fn(|j| (8 * i + j) as f64)));
        for level in Level::available() {
            let shifted = dispatch_at(level, Shift(both));
            assert_eq!(shifted, Some(Lane(std::array::from_fn(|j| (j + 1) as f64))), "{level:?}");
        }
    }

    proptest! {
        #[test]
        fn every_instruction_set_gives_the_same_bits(
            values in prop::collection::vec(-1e3..1e3, 64..200usize),
        ) {
            let a = AlignedVec::from_slice(&values);
            let b: AlignedVec = values.iter().rev().map(|v| v * 0.37).collect();
            let tiles: [Lane; 8] = std::array::from_fn(|i| a.lanes()[i]);
            let dots: Vec<_> = Level::available().into_iter()
                .map(|level| dispatch_at(level, Dot(a.lanes(), b.lanes())).map(f64::to_bits)).collect();
            let sums: Vec<_> = Level::available().into_iter()
                .map(|level| dispatch_at(level, TransposeSum(tiles)).map(|s| s.map(f64::to_bits))).collect();
            prop_assert!(dots.iter().all(|d| *d == dots[0]));
            prop_assert!(sums.iter().all(|s| *s == sums[0]));
        }

        #[test]
        fn dot_is_the_sum_of_products(values in prop::collection::vec(-1e3..1e3, 0..100usize)) {
            let a = AlignedVec::from_slice(&values);
            let expected: f64 = values.iter().map(|v| v * v).sum();
            prop_assert!((dot(a.lanes(), a.lanes()) - expected).abs() <= 1e-12 * expected);
        }
    }

    #[test]
    fn axpy_by_hand() {
        let x = AlignedVec::from_slice(&[1.0, 2.0, 3.0]);
        let mut y = AlignedVec::from_slice(&[10.0, 20.0, 30.0]);
        axpy(2.0, x.lanes(), y.lanes_mut());
        scale(0.5, &mut y);
        assert_eq!(*y, [6.0, 12.0, 18.0]);
    }
}
