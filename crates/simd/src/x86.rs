//! The x86-64 back ends. pulp's tokens prove that the instructions exist, so everything here is safe code.

use std::arch::x86_64::{__m256d, __m512d};

use pulp::x86::{V3, V4};
use pulp::{cast, f64x4, f64x8, u64x4, u64x8};

use crate::aligned::Lane;
use crate::backend::Simd;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(pub(crate) V4);

impl Simd for Avx512 {
    type F64 = f64x8;

    #[inline(always)]
    fn splat(self, value: f64) -> f64x8 {
        self.0.splat_f64x8(value)
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> f64x8 {
        cast(from.0)
    }
    #[inline(always)]
    fn store(self, value: f64x8, to: &mut Lane) {
        to.0 = cast(value);
    }
    #[inline(always)]
    fn add(self, a: f64x8, b: f64x8) -> f64x8 {
        self.0.add_f64x8(a, b)
    }
    #[inline(always)]
    fn sub(self, a: f64x8, b: f64x8) -> f64x8 {
        self.0.sub_f64x8(a, b)
    }
    #[inline(always)]
    fn mul(self, a: f64x8, b: f64x8) -> f64x8 {
        self.0.mul_f64x8(a, b)
    }
    #[inline(always)]
    fn div(self, a: f64x8, b: f64x8) -> f64x8 {
        self.0.div_f64x8(a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: f64x8, b: f64x8, c: f64x8) -> f64x8 {
        self.0.mul_add_f64x8(a, b, c)
    }
    #[inline(always)]
    fn negate_mul_add(self, a: f64x8, b: f64x8, c: f64x8) -> f64x8 {
        self.0.negate_mul_add_f64x8(a, b, c)
    }
    #[inline(always)]
    fn sqrt(self, a: f64x8) -> f64x8 {
        self.0.sqrt_f64x8(a)
    }
    #[inline(always)]
    fn select_less(self, a: f64x8, b: f64x8, yes: f64x8, no: f64x8) -> f64x8 {
        self.0.select_f64x8(self.0.cmp_lt_f64x8(a, b), yes, no)
    }
    #[inline(always)]
    fn exponent_from_low_bits(self, a: f64x8) -> f64x8 {
        cast(self.0.shl_const_u64x8::<52>(cast(a)))
    }
    #[inline(always)]
    fn rotate_quarter_turns(self, sin: f64x8, cos: f64x8, turns: f64x8) -> (f64x8, f64x8) {
        let v = self.0;
        let (sin, cos, turns): (u64x8, u64x8, u64x8) = (cast(sin), cast(cos), cast(turns));
        let (one, two) = (v.splat_u64x8(1), v.splat_u64x8(2));
        let odd = v.wrapping_sub_u64x8(v.splat_u64x8(0), v.and_u64x8(turns, one));
        let swap = v.and_u64x8(v.xor_u64x8(sin, cos), odd);
        let sin_sign = v.shl_const_u64x8::<62>(v.and_u64x8(turns, two));
        let cos_sign = v.shl_const_u64x8::<62>(v.and_u64x8(v.wrapping_add_u64x8(turns, one), two));
        (
            cast(v.xor_u64x8(v.xor_u64x8(sin, swap), sin_sign)),
            cast(v.xor_u64x8(v.xor_u64x8(cos, swap), cos_sign)),
        )
    }
    #[inline(always)]
    fn transpose_sum(self, a: [f64x8; 8]) -> f64x8 {
        let v = self.0;
        let a: [__m512d; 8] = a.map(|a| cast(a));
        let add = |x, y| v.avx512f._mm512_add_pd(x, y);
        let pairs = |x, y| add(v.avx512f._mm512_unpacklo_pd(x, y), v.avx512f._mm512_unpackhi_pd(x, y));
        let blocks = |x, y| {
            let even = v.avx512f._mm512_shuffle_f64x2::<0b10_00_10_00>(x, y);
            let odd = v.avx512f._mm512_shuffle_f64x2::<0b11_01_11_01>(x, y);
            add(even, odd)
        };
        let low = blocks(pairs(a[0], a[1]), pairs(a[2], a[3]));
        let high = blocks(pairs(a[4], a[5]), pairs(a[6], a[7]));
        cast(blocks(low, high))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(pub(crate) V3);

/// Eight `f64` in two registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    low: f64x4,
    high: f64x4,
}

impl Pair {
    #[inline(always)]
    fn map2(self, other: Self, f: impl Fn(f64x4, f64x4) -> f64x4) -> Self {
        Self { low: f(self.low, other.low), high: f(self.high, other.high) }
    }
    #[inline(always)]
    fn map3(self, b: Self, c: Self, f: impl Fn(f64x4, f64x4, f64x4) -> f64x4) -> Self {
        Self { low: f(self.low, b.low, c.low), high: f(self.high, b.high, c.high) }
    }
}

impl Avx2 {
    /// The sums over the lanes of four vectors, as `(0+1)+(2+3)`.
    #[inline(always)]
    fn transpose_sum4(self, a: f64x4, b: f64x4, c: f64x4, d: f64x4) -> f64x4 {
        let v = self.0;
        let (a, b, c, d): (__m256d, __m256d, __m256d, __m256d) = (cast(a), cast(b), cast(c), cast(d));
        let ab = v.avx._mm256_hadd_pd(a, b);
        let cd = v.avx._mm256_hadd_pd(c, d);
        let low = v.avx._mm256_permute2f128_pd::<0x20>(ab, cd);
        let high = v.avx._mm256_permute2f128_pd::<0x31>(ab, cd);
        cast(v.avx._mm256_add_pd(low, high))
    }

    #[inline(always)]
    fn rotate4(self, sin: f64x4, cos: f64x4, turns: f64x4) -> (f64x4, f64x4) {
        let v = self.0;
        let (sin, cos, turns): (u64x4, u64x4, u64x4) = (cast(sin), cast(cos), cast(turns));
        let (one, two) = (v.splat_u64x4(1), v.splat_u64x4(2));
        let odd = v.wrapping_sub_u64x4(v.splat_u64x4(0), v.and_u64x4(turns, one));
        let swap = v.and_u64x4(v.xor_u64x4(sin, cos), odd);
        let sin_sign = v.shl_const_u64x4::<62>(v.and_u64x4(turns, two));
        let cos_sign = v.shl_const_u64x4::<62>(v.and_u64x4(v.wrapping_add_u64x4(turns, one), two));
        (
            cast(v.xor_u64x4(v.xor_u64x4(sin, swap), sin_sign)),
            cast(v.xor_u64x4(v.xor_u64x4(cos, swap), cos_sign)),
        )
    }
}

impl Simd for Avx2 {
    type F64 = Pair;

    #[inline(always)]
    fn splat(self, value: f64) -> Pair {
        let half = self.0.splat_f64x4(value);
        Pair { low: half, high: half }
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> Pair {
        let [low, high]: [f64x4; 2] = cast(from.0);
        Pair { low, high }
    }
    #[inline(always)]
    fn store(self, value: Pair, to: &mut Lane) {
        to.0 = cast([value.low, value.high]);
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        a.map2(b, |a, b| self.0.add_f64x4(a, b))
    }
    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        a.map2(b, |a, b| self.0.sub_f64x4(a, b))
    }
    #[inline(always)]
    fn mul(self, a: Pair, b: Pair) -> Pair {
        a.map2(b, |a, b| self.0.mul_f64x4(a, b))
    }
    #[inline(always)]
    fn div(self, a: Pair, b: Pair) -> Pair {
        a.map2(b, |a, b| self.0.div_f64x4(a, b))
    }
    #[inline(always)]
    fn mul_add(self, a: Pair, b: Pair, c: Pair) -> Pair {
        a.map3(b, c, |a, b, c| self.0.mul_add_f64x4(a, b, c))
    }
    #[inline(always)]
    fn negate_mul_add(self, a: Pair, b: Pair, c: Pair) -> Pair {
        a.map3(b, c, |a, b, c| self.0.negate_mul_add_f64x4(a, b, c))
    }
    #[inline(always)]
    fn sqrt(self, a: Pair) -> Pair {
        Pair { low: self.0.sqrt_f64x4(a.low), high: self.0.sqrt_f64x4(a.high) }
    }
    #[inline(always)]
    fn select_less(self, a: Pair, b: Pair, yes: Pair, no: Pair) -> Pair {
        let half = |a, b, yes, no| self.0.select_f64x4(self.0.cmp_lt_f64x4(a, b), yes, no);
        Pair { low: half(a.low, b.low, yes.low, no.low), high: half(a.high, b.high, yes.high, no.high) }
    }
    #[inline(always)]
    fn exponent_from_low_bits(self, a: Pair) -> Pair {
        let half = |a| cast(self.0.shl_const_u64x4::<52>(cast(a)));
        Pair { low: half(a.low), high: half(a.high) }
    }
    #[inline(always)]
    fn rotate_quarter_turns(self, sin: Pair, cos: Pair, turns: Pair) -> (Pair, Pair) {
        let (sin_low, cos_low) = self.rotate4(sin.low, cos.low, turns.low);
        let (sin_high, cos_high) = self.rotate4(sin.high, cos.high, turns.high);
        (Pair { low: sin_low, high: sin_high }, Pair { low: cos_low, high: cos_high })
    }
    #[inline(always)]
    fn transpose_sum(self, a: [Pair; 8]) -> Pair {
        let four = |a: &[Pair]| {
            let low = self.transpose_sum4(a[0].low, a[1].low, a[2].low, a[3].low);
            let high = self.transpose_sum4(a[0].high, a[1].high, a[2].high, a[3].high);
            self.0.add_f64x4(low, high)
        };
        Pair { low: four(&a[..4]), high: four(&a[4..]) }
    }
}
