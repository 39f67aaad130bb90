//! The x86-64 back ends. pulp's tokens prove that the instructions exist, so everything here is
//! safe code.

use std::arch::x86_64::{__m256d, __m512d, _MM_HINT_T0, _mm_prefetch};

use pulp::x86::{V3, V4};
use pulp::{cast, f64x4, f64x8, u64x4, u64x8};

use crate::aligned::Lane;
use crate::backend::{FEW, MANY, Simd};

/// Code that is the same on both levels: four `f64` are one register.
macro_rules! common {
    () => {
        type Half = f64x4;

        #[inline(always)]
        #[allow(
            unsafe_code,
            reason = "the instruction is a hint: it reads nothing and cannot fault, whatever the address"
        )]
        fn prefetch(self, line: *const Lane) {
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
        }

        #[inline(always)]
        fn splat_half(self, value: f64) -> f64x4 {
            self.0.splat_f64x4(value)
        }
        #[inline(always)]
        fn load_half(self, from: &[f64; 4]) -> f64x4 {
            cast(*from)
        }
        #[inline(always)]
        fn store_half(self, value: f64x4, to: &mut [f64; 4]) {
            *to = cast(value);
        }
        #[inline(always)]
        fn mul_half(self, a: f64x4, b: f64x4) -> f64x4 {
            self.0.mul_f64x4(a, b)
        }
        #[inline(always)]
        fn mul_add_half(self, a: f64x4, b: f64x4, c: f64x4) -> f64x4 {
            self.0.mul_add_f64x4(a, b, c)
        }
        #[inline(always)]
        fn negate_mul_add_half(self, a: f64x4, b: f64x4, c: f64x4) -> f64x4 {
            self.0.negate_mul_add_f64x4(a, b, c)
        }
    };
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(pub(crate) V4);

impl Simd for Avx512 {
    type F64 = f64x8;
    common!();

    const REGISTERS: usize = MANY;

    #[inline(always)]
    fn splat(self, value: f64) -> f64x8 {
        self.0.splat_f64x8(value)
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> f64x8 {
        *bytemuck::cast_ref(from)
    }
    #[inline(always)]
    fn store(self, value: f64x8, to: &mut Lane) {
        *bytemuck::cast_mut(to) = value;
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
        (cast(v.xor_u64x8(v.xor_u64x8(sin, swap), sin_sign)), cast(v.xor_u64x8(v.xor_u64x8(cos, swap), cos_sign)))
    }
    #[inline(always)]
    fn transpose_sum(self, a: [f64x8; 8]) -> f64x8 {
        let low = self.sum_blocks(self.sum_pairs(a[0], a[1]), self.sum_pairs(a[2], a[3]));
        let high = self.sum_blocks(self.sum_pairs(a[4], a[5]), self.sum_pairs(a[6], a[7]));
        cast(self.sum_blocks(low, high))
    }
    #[inline(always)]
    fn transpose(self, a: [f64x8; 8]) -> [f64x8; 8] {
        let v = self.0.avx512f;
        let [a0, a1, a2, a3, a4, a5, a6, a7]: [__m512d; 8] = cast(a);
        // Pairs of rows woven together, then blocks of two lanes dealt out twice.
        let (e0, e1, e2, e3) = self.deal(
            [v._mm512_unpacklo_pd(a0, a1), v._mm512_unpacklo_pd(a2, a3)],
            [v._mm512_unpacklo_pd(a4, a5), v._mm512_unpacklo_pd(a6, a7)],
        );
        let (o0, o1, o2, o3) = self.deal(
            [v._mm512_unpackhi_pd(a0, a1), v._mm512_unpackhi_pd(a2, a3)],
            [v._mm512_unpackhi_pd(a4, a5), v._mm512_unpackhi_pd(a6, a7)],
        );
        cast([e0, o0, e1, o1, e2, o2, e3, o3])
    }
    #[inline(always)]
    fn join(self, low: f64x4, high: f64x4) -> f64x8 {
        let v = self.0.avx512f;
        cast(v._mm512_insertf64x4::<1>(v._mm512_castpd256_pd512(cast(low)), cast(high)))
    }
    #[inline(always)]
    fn shift(self, a: f64x8, next: f64x8) -> f64x8 {
        cast(self.0.avx512f._mm512_alignr_epi64::<1>(cast(next), cast(a)))
    }
}

impl Avx512 {
    /// Adjacent lanes of `x` and `y` added, the sums of `x` and `y` alternating.
    #[inline(always)]
    fn sum_pairs(self, x: f64x8, y: f64x8) -> __m512d {
        let (v, x, y) = (self.0.avx512f, cast(x), cast(y));
        v._mm512_add_pd(v._mm512_unpacklo_pd(x, y), v._mm512_unpackhi_pd(x, y))
    }

    /// Adjacent blocks of two lanes of `x`, then of `y`, added.
    #[inline(always)]
    fn sum_blocks(self, x: __m512d, y: __m512d) -> __m512d {
        let v = self.0.avx512f;
        let even = v._mm512_shuffle_f64x2::<0b10_00_10_00>(x, y);
        let odd = v._mm512_shuffle_f64x2::<0b11_01_11_01>(x, y);
        v._mm512_add_pd(even, odd)
    }
}

impl Avx512 {
    /// Blocks `0, 1, 2, 3` of two lanes of each of four vectors, gathered.
    #[inline(always)]
    fn deal(self, first: [__m512d; 2], last: [__m512d; 2]) -> (__m512d, __m512d, __m512d, __m512d) {
        let v = self.0.avx512f;
        let even = [
            v._mm512_shuffle_f64x2::<0b10_00_10_00>(first[0], first[1]),
            v._mm512_shuffle_f64x2::<0b10_00_10_00>(last[0], last[1]),
        ];
        let odd = [
            v._mm512_shuffle_f64x2::<0b11_01_11_01>(first[0], first[1]),
            v._mm512_shuffle_f64x2::<0b11_01_11_01>(last[0], last[1]),
        ];
        (
            v._mm512_shuffle_f64x2::<0b10_00_10_00>(even[0], even[1]),
            v._mm512_shuffle_f64x2::<0b10_00_10_00>(odd[0], odd[1]),
            v._mm512_shuffle_f64x2::<0b11_01_11_01>(even[0], even[1]),
            v._mm512_shuffle_f64x2::<0b11_01_11_01>(odd[0], odd[1]),
        )
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

/// Applies an operation to both halves; spelt out, since a closure might stay out of line and lose
/// the instruction set.
macro_rules! halves {
    ($simd:expr, $operation:ident, $($operand:ident),+) => {
        Pair { low: $simd.$operation($($operand.low),+), high: $simd.$operation($($operand.high),+) }
    };
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
    fn transpose4(self, a: [f64x4; 4]) -> [f64x4; 4] {
        let v = self.0.avx;
        let [a0, a1, a2, a3]: [__m256d; 4] = cast(a);
        let (even, odd) = (v._mm256_unpacklo_pd(a0, a1), v._mm256_unpackhi_pd(a0, a1));
        let (even_below, odd_below) = (v._mm256_unpacklo_pd(a2, a3), v._mm256_unpackhi_pd(a2, a3));
        cast([
            v._mm256_permute2f128_pd::<0x20>(even, even_below),
            v._mm256_permute2f128_pd::<0x20>(odd, odd_below),
            v._mm256_permute2f128_pd::<0x31>(even, even_below),
            v._mm256_permute2f128_pd::<0x31>(odd, odd_below),
        ])
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
        (cast(v.xor_u64x4(v.xor_u64x4(sin, swap), sin_sign)), cast(v.xor_u64x4(v.xor_u64x4(cos, swap), cos_sign)))
    }
}

impl Simd for Avx2 {
    type F64 = Pair;
    common!();

    const REGISTERS: usize = FEW;

    #[inline(always)]
    fn splat(self, value: f64) -> Pair {
        let half = self.0.splat_f64x4(value);
        Pair { low: half, high: half }
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> Pair {
        let [low, high]: &[f64x4; 2] = bytemuck::cast_ref(from);
        Pair { low: *low, high: *high }
    }
    #[inline(always)]
    fn store(self, value: Pair, to: &mut Lane) {
        *bytemuck::cast_mut(to) = [value.low, value.high];
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        halves!(self.0, add_f64x4, a, b)
    }
    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        halves!(self.0, sub_f64x4, a, b)
    }
    #[inline(always)]
    fn mul(self, a: Pair, b: Pair) -> Pair {
        halves!(self.0, mul_f64x4, a, b)
    }
    #[inline(always)]
    fn div(self, a: Pair, b: Pair) -> Pair {
        halves!(self.0, div_f64x4, a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: Pair, b: Pair, c: Pair) -> Pair {
        halves!(self.0, mul_add_f64x4, a, b, c)
    }
    #[inline(always)]
    fn negate_mul_add(self, a: Pair, b: Pair, c: Pair) -> Pair {
        halves!(self.0, negate_mul_add_f64x4, a, b, c)
    }
    #[inline(always)]
    fn sqrt(self, a: Pair) -> Pair {
        halves!(self.0, sqrt_f64x4, a)
    }
    #[inline(always)]
    fn select_less(self, a: Pair, b: Pair, yes: Pair, no: Pair) -> Pair {
        let v = self.0;
        Pair {
            low: v.select_f64x4(v.cmp_lt_f64x4(a.low, b.low), yes.low, no.low),
            high: v.select_f64x4(v.cmp_lt_f64x4(a.high, b.high), yes.high, no.high),
        }
    }
    #[inline(always)]
    fn exponent_from_low_bits(self, a: Pair) -> Pair {
        let v = self.0;
        Pair { low: cast(v.shl_const_u64x4::<52>(cast(a.low))), high: cast(v.shl_const_u64x4::<52>(cast(a.high))) }
    }
    #[inline(always)]
    fn rotate_quarter_turns(self, sin: Pair, cos: Pair, turns: Pair) -> (Pair, Pair) {
        let (sin_low, cos_low) = self.rotate4(sin.low, cos.low, turns.low);
        let (sin_high, cos_high) = self.rotate4(sin.high, cos.high, turns.high);
        (Pair { low: sin_low, high: sin_high }, Pair { low: cos_low, high: cos_high })
    }
    #[inline(always)]
    fn transpose_sum(self, a: [Pair; 8]) -> Pair {
        let first = self.0.add_f64x4(
            self.transpose_sum4(a[0].low, a[1].low, a[2].low, a[3].low),
            self.transpose_sum4(a[0].high, a[1].high, a[2].high, a[3].high),
        );
        let second = self.0.add_f64x4(
            self.transpose_sum4(a[4].low, a[5].low, a[6].low, a[7].low),
            self.transpose_sum4(a[4].high, a[5].high, a[6].high, a[7].high),
        );
        Pair { low: first, high: second }
    }
    #[inline(always)]
    fn transpose(self, a: [Pair; 8]) -> [Pair; 8] {
        let top_left = self.transpose4([a[0].low, a[1].low, a[2].low, a[3].low]);
        let bottom_left = self.transpose4([a[4].low, a[5].low, a[6].low, a[7].low]);
        let top_right = self.transpose4([a[0].high, a[1].high, a[2].high, a[3].high]);
        let bottom_right = self.transpose4([a[4].high, a[5].high, a[6].high, a[7].high]);
        std::array::from_fn(|j| {
            if j < 4 {
                Pair { low: top_left[j], high: bottom_left[j] }
            } else {
                Pair { low: top_right[j - 4], high: bottom_right[j - 4] }
            }
        })
    }
    #[inline(always)]
    fn join(self, low: f64x4, high: f64x4) -> Pair {
        Pair { low, high }
    }
    #[inline(always)]
    fn shift(self, a: Pair, next: Pair) -> Pair {
        let between = |low: f64x4, high: f64x4| {
            let v = self.0.avx;
            let middle = v._mm256_permute2f128_pd::<0x21>(cast(low), cast(high));
            cast(v._mm256_shuffle_pd::<0b0101>(cast(low), middle))
        };
        Pair { low: between(a.low, a.high), high: between(a.high, next.low) }
    }
}
