//! The back end of vectors of two `f64`, four of them a lane: NEON of aarch64, relaxed SIMD of
//! WebAssembly. pulp's tokens prove that the instructions exist, so everything here is safe code.
//!
//! WebAssembly lets the engine choose whether a relaxed multiply-add rounds once or twice.
//! [`token`] asks it, so an engine that rounds twice gets the portable code, which is slow there
//! and exact.

use pulp::{Simd as Instructions, cast, f64x2};

use crate::aligned::Lane;
use crate::backend::{FEW, Simd};

#[cfg(target_arch = "aarch64")]
pub(crate) type Token = pulp::aarch64::Neon;
#[cfg(target_arch = "wasm32")]
pub(crate) type Token = pulp::wasm::RelaxedSimd;

/// The instructions, if they are there and a multiply-add rounds once.
#[cfg(target_arch = "aarch64")]
pub(crate) fn token() -> Option<Token> {
    Token::try_new()
}

/// The instructions, if they are there and a multiply-add rounds once.
#[cfg(target_arch = "wasm32")]
pub(crate) fn token() -> Option<Token> {
    use std::hint::black_box;
    use std::sync::OnceLock;
    static FUSES: OnceLock<bool> = OnceLock::new();
    let token = Token::try_new()?;
    let fuses = || {
        let [a, b, c] = [1.0 + f64::EPSILON, 1.0 - f64::EPSILON, -1.0].map(|x| black_box(f64x2(x, x)));
        let exact = -f64::EPSILON * f64::EPSILON;
        token.mul_add_e_f64s(a, b, c) == f64x2(exact, exact)
    };
    FUSES.get_or_init(fuses).then_some(token)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow<V>(pub(crate) V);

/// Applies an operation to each part; spelt out, since a closure might stay out of line and lose
/// the instruction set.
macro_rules! parts {
    ($simd:expr, $operation:ident, [$($part:literal),+], $operands:tt) => {
        [$(parts!(@one $simd, $operation, $part, $operands)),+]
    };
    (@one $simd:expr, $operation:ident, $part:literal, ($($operand:ident),+)) => {
        $simd.$operation($($operand[$part]),+)
    };
}

/// Bits of both numbers changed, with constants that the compiler makes vectors of.
#[inline(always)]
fn bits(a: f64x2, change: impl Fn(u64) -> u64) -> f64x2 {
    f64x2(f64::from_bits(change(a.0.to_bits())), f64::from_bits(change(a.1.to_bits())))
}

/// The bits of `a` changed by those of `b`.
#[inline(always)]
fn bits2(a: f64x2, b: f64x2, change: impl Fn(u64, u64) -> u64) -> f64x2 {
    let one = |a: f64, b: f64| f64::from_bits(change(a.to_bits(), b.to_bits()));
    f64x2(one(a.0, b.0), one(a.1, b.1))
}

impl<V: Instructions<f64s = f64x2>> Narrow<V> {
    /// The sums of adjacent numbers of `x` and of `y`.
    #[inline(always)]
    fn sum_pairs(self, x: f64x2, y: f64x2) -> f64x2 {
        self.0.add_f64s(f64x2(x.0, y.0), f64x2(x.1, y.1))
    }

    /// The sums over the lanes of `x` and of `y`, as `((0+1)+(2+3))+((4+5)+(6+7))`.
    #[inline(always)]
    fn sum_two(self, x: [f64x2; 4], y: [f64x2; 4]) -> f64x2 {
        let pairs = parts!(self, sum_pairs, [0, 1, 2, 3], (x, y));
        self.0.add_f64s(self.0.add_f64s(pairs[0], pairs[1]), self.0.add_f64s(pairs[2], pairs[3]))
    }

    #[inline(always)]
    fn select_one(self, a: f64x2, b: f64x2, yes: f64x2, no: f64x2) -> f64x2 {
        self.0.select_f64s(self.0.less_than_f64s(a, b), yes, no)
    }
}

impl<V: Instructions<f64s = f64x2>> Simd for Narrow<V> {
    type F64 = [f64x2; 4];
    type Half = [f64x2; 2];

    const REGISTERS: usize = FEW;

    #[inline(always)]
    fn splat(self, value: f64) -> Self::F64 {
        [f64x2(value, value); 4]
    }
    #[inline(always)]
    fn load(self, from: &Lane) -> Self::F64 {
        cast(from.0)
    }
    #[inline(always)]
    fn store(self, value: Self::F64, to: &mut Lane) {
        to.0 = cast(value);
    }
    #[inline(always)]
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        parts!(self.0, add_f64s, [0, 1, 2, 3], (a, b))
    }
    #[inline(always)]
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        parts!(self.0, sub_f64s, [0, 1, 2, 3], (a, b))
    }
    #[inline(always)]
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        parts!(self.0, mul_f64s, [0, 1, 2, 3], (a, b))
    }
    #[inline(always)]
    fn div(self, a: Self::F64, b: Self::F64) -> Self::F64 {
        parts!(self.0, div_f64s, [0, 1, 2, 3], (a, b))
    }
    #[inline(always)]
    fn mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        parts!(self.0, mul_add_e_f64s, [0, 1, 2, 3], (a, b, c))
    }
    #[inline(always)]
    fn negate_mul_add(self, a: Self::F64, b: Self::F64, c: Self::F64) -> Self::F64 {
        parts!(self.0, negate_mul_add_e_f64s, [0, 1, 2, 3], (a, b, c))
    }
    #[inline(always)]
    fn sqrt(self, a: Self::F64) -> Self::F64 {
        parts!(self.0, sqrt_f64s, [0, 1, 2, 3], (a))
    }
    #[inline(always)]
    fn select_less(self, a: Self::F64, b: Self::F64, yes: Self::F64, no: Self::F64) -> Self::F64 {
        parts!(self, select_one, [0, 1, 2, 3], (a, b, yes, no))
    }
    #[inline(always)]
    fn exponent_from_low_bits(self, a: Self::F64) -> Self::F64 {
        a.map(|a| bits(a, |a| a << 52))
    }
    #[inline(always)]
    fn rotate_quarter_turns(self, sin: Self::F64, cos: Self::F64, turns: Self::F64) -> (Self::F64, Self::F64) {
        let swap = |i: usize| {
            let odd = bits(turns[i], |turns| (turns & 1).wrapping_neg());
            bits2(bits2(sin[i], cos[i], |sin, cos| sin ^ cos), odd, |differing, odd| differing & odd)
        };
        let swapped = |part: Self::F64, i: usize| bits2(part[i], swap(i), |part, swap| part ^ swap);
        let signed = |part: Self::F64, i: usize, ahead: u64| {
            bits2(swapped(part, i), turns[i], |part, turns| part ^ ((turns.wrapping_add(ahead) & 2) << 62))
        };
        (std::array::from_fn(|i| signed(sin, i, 0)), std::array::from_fn(|i| signed(cos, i, 1)))
    }
    #[inline(always)]
    fn transpose_sum(self, a: [Self::F64; 8]) -> Self::F64 {
        [self.sum_two(a[0], a[1]), self.sum_two(a[2], a[3]), self.sum_two(a[4], a[5]), self.sum_two(a[6], a[7])]
    }
    #[inline(always)]
    fn transpose(self, a: [Self::F64; 8]) -> [Self::F64; 8] {
        let column = |j: usize| {
            std::array::from_fn(|i| {
                let (x, y) = (a[2 * i][j / 2], a[2 * i + 1][j / 2]);
                if j % 2 == 0 { f64x2(x.0, y.0) } else { f64x2(x.1, y.1) }
            })
        };
        std::array::from_fn(column)
    }
    #[inline(always)]
    fn shift(self, a: Self::F64, next: Self::F64) -> Self::F64 {
        let after = [a[1], a[2], a[3], next[0]];
        std::array::from_fn(|i| f64x2(a[i].1, after[i].0))
    }
    #[inline(always)]
    fn splat_half(self, value: f64) -> Self::Half {
        [f64x2(value, value); 2]
    }
    #[inline(always)]
    fn load_half(self, from: &[f64; 4]) -> Self::Half {
        cast(*from)
    }
    #[inline(always)]
    fn join(self, [a0, a1]: Self::Half, [a2, a3]: Self::Half) -> Self::F64 {
        [a0, a1, a2, a3]
    }
    #[inline(always)]
    fn store_half(self, value: Self::Half, to: &mut [f64; 4]) {
        *to = cast(value);
    }
    #[inline(always)]
    fn mul_half(self, a: Self::Half, b: Self::Half) -> Self::Half {
        parts!(self.0, mul_f64s, [0, 1], (a, b))
    }
    #[inline(always)]
    fn mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
        parts!(self.0, mul_add_e_f64s, [0, 1], (a, b, c))
    }
    #[inline(always)]
    fn negate_mul_add_half(self, a: Self::Half, b: Self::Half, c: Self::Half) -> Self::Half {
        parts!(self.0, negate_mul_add_e_f64s, [0, 1], (a, b, c))
    }
}
