//! The portable back end: plain arrays. Slow where the target has no fused multiply-add, and the
//! oracle of the others.

use crate::aligned::{LANES, Lane};
use crate::backend::Simd;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar<const REGISTERS: usize>;

#[inline(always)]
fn map2(a: [f64; LANES], b: [f64; LANES], f: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl<const REGISTERS: usize> Simd for Scalar<REGISTERS> {
    type F64 = [f64; LANES];
    type Half = [f64; 4];

    const REGISTERS: usize = REGISTERS;

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F64 {
        [value; LANES]
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> Self::F64 {
        from.0
    }
    #[inline(always)]
    fn store(self, value: Self::F64, to: &mut Lane) {
        to.0 = value;
    }
    #[inline(always)]
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        map2(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        map2(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        map2(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        map2(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn negate_mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        std::array::from_fn(|i| (-a[i]).mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn sqrt(self, a: Self::F64) -> Self::F64 {
        a.map(f64::sqrt)
    }
    #[inline(always)]
    fn select_less(self, a: Self::F64, b: Self::F64, yes: Self::F64, no: Self::F64) -> Self::F64 {
        std::array::from_fn(|i| if a[i] < b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn exponent_from_low_bits(self, a: Self::F64) -> Self::F64 {
        a.map(|a| f64::from_bits(a.to_bits() << 52))
    }
    #[inline(always)]
    fn rotate_quarter_turns(self, sin: Self::F64, cos: Self::F64, turns: Self::F64) -> (Self::F64, Self::F64) {
        let rotated: [(f64, f64); LANES] = std::array::from_fn(|i| match turns[i].to_bits() & 3 {
            0 => (sin[i], cos[i]),
            1 => (cos[i], -sin[i]),
            2 => (-sin[i], -cos[i]),
            _ => (-cos[i], sin[i]),
        });
        (rotated.map(|r| r.0), rotated.map(|r| r.1))
    }
    #[inline(always)]
    fn transpose_sum(self, a: [Self::F64; 8]) -> Self::F64 {
        a.map(|a| self.sum(a))
    }
    #[inline(always)]
    fn transpose(self, a: [Self::F64; 8]) -> [Self::F64; 8] {
        std::array::from_fn(|j| a.map(|row| row[j]))
    }
    #[inline(always)]
    fn shift(self, [_, rest @ ..]: Self::F64, next: Self::F64) -> Self::F64 {
        let [a1, a2, a3, a4, a5, a6, a7] = rest;
        [a1, a2, a3, a4, a5, a6, a7, next[0]]
    }
    #[inline(always)]
    fn splat_half(self, value: f64) -> Self::Half {
        [value; 4]
    }
    #[inline(always)]
    fn load_half(self, from: &[f64; 4]) -> Self::Half {
        *from
    }
    #[inline(always)]
    fn join(self, [a0, a1, a2, a3]: Self::Half, [a4, a5, a6, a7]: Self::Half) -> Self::F64 {
        [a0, a1, a2, a3, a4, a5, a6, a7]
    }
    #[inline(always)]
    fn store_half(self, value: Self::Half, to: &mut [f64; 4]) {
        *to = value;
    }
    #[inline(always)]
    fn mul_half(self, a: Self::Half, b: Self::Half) -> Self::Half {
        std::array::from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn negate_mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
        std::array::from_fn(|i| (-a[i]).mul_add(b[i], c[i]))
    }
}
