//! The operations that every instruction set provides.

use crate::aligned::Lane;

/// [`Simd::REGISTERS`] of AVX-512: one register a vector.
#[cfg(any(target_arch = "x86_64", feature = "wide-order"))]
pub(crate) const MANY: usize = 32;
/// [`Simd::REGISTERS`] of AVX2: sixteen registers, two a vector.
pub(crate) const FEW: usize = 8;

/// A proof that an instruction set is present, and its operations on vectors of eight `f64`.
///
/// Implementations are zero-sized tokens handed out by [`dispatch`](crate::dispatch); results are
/// the same bits for all of them (`mul_add` is fused everywhere, sums over lanes follow one fixed
/// tree).
pub trait Simd: Copy {
    /// Eight `f64` in registers.
    type F64: Copy;
    /// Four `f64` in registers, for what has few columns.
    type Half: Copy;

    /// Number of [`F64`](Self::F64) that the registers hold. Kernels that need more at once go over
    /// their operands in another order, with the same sums.
    const REGISTERS: usize;

    /// All lanes equal to `value`.
    fn splat(self, value: f64) -> Self::F64;
    /// Reads a lane.
    fn load(self, from: &Lane) -> Self::F64;
    /// Writes a lane.
    fn store(self, value: Self::F64, to: &mut Lane);
    /// Asks for the cache line at an address, which may be any: nothing is read.
    #[inline(always)]
    fn prefetch(self, _: *const Lane) {}
    /// `a + b`
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64;
    /// `a − b`
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64;
    /// `a · b`
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64;
    /// `a / b`
    fn div(self, a: Self::F64, b: Self::F64) -> Self::F64;
    /// `a · b + c`, rounded once
    fn mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64;
    /// `c − a · b`, rounded once
    fn negate_mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64;
    /// `√a`
    fn sqrt(self, a: Self::F64) -> Self::F64;
    /// `if a < b { yes } else { no }` lane by lane (a NaN compares false).
    fn select_less(self, a: Self::F64, b: Self::F64, yes: Self::F64, no: Self::F64) -> Self::F64;
    /// Each lane's bits shifted left by 52 and read as an `f64`: `2ⁿ` when the lane holds
    /// `n + 1023 + 3·2⁵¹`.
    fn exponent_from_low_bits(self, a: Self::F64) -> Self::F64;
    /// Rotates `(sin, cos)` by the number of quarter turns in the two lowest bits of each lane of
    /// `turns`.
    fn rotate_quarter_turns(self, sin: Self::F64, cos: Self::F64, turns: Self::F64) -> (Self::F64, Self::F64);
    /// Lane `j` of the result is the sum over the lanes of `a[j]`, as
    /// `((0+1)+(2+3))+((4+5)+(6+7))`.
    fn transpose_sum(self, a: [Self::F64; 8]) -> Self::F64;
    /// Lane `i` of vector `j` of the result is lane `j` of `a[i]`.
    fn transpose(self, a: [Self::F64; 8]) -> [Self::F64; 8];
    /// `(a[1], …, a[7], next[0])`: eight numbers from the second on, where `next` goes on after
    /// `a`.
    fn shift(self, a: Self::F64, next: Self::F64) -> Self::F64;
    /// All four equal to `value`.
    fn splat_half(self, value: f64) -> Self::Half;
    /// Reads four numbers.
    fn load_half(self, from: &[f64; 4]) -> Self::Half;
    /// Both halves of a vector.
    fn join(self, low: Self::Half, high: Self::Half) -> Self::F64;
    /// Writes four numbers.
    fn store_half(self, value: Self::Half, to: &mut [f64; 4]);
    /// `a · b`
    fn mul_half(self, a: Self::Half, b: Self::Half) -> Self::Half;
    /// `a · b + c`, rounded once
    fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half;
    /// `c − a · b`, rounded once
    fn negate_mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half;
    /// The sum over the lanes of `a`, in the order of [`transpose_sum`](Self::transpose_sum).
    fn sum(self, a: Self::F64) -> f64 {
        let mut lane = Lane::ZERO;
        self.store(a, &mut lane);
        let v = lane.0;
        ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))
    }
}
