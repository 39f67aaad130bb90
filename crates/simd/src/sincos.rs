//! Sine and cosine together, of an angle given in quarter turns.
//!
//! With the unit `π/2` the range reduction `f = u − round(u)` is exact, whatever the size of `u`;
//! then `sin(π/2 f) = f S(f²)` and `cos(π/2 f) = 1 + f² C(f²)` with polynomials of degree 6
//! interpolated at Chebyshev nodes (absolute truncation error 3e−17), and a rotation by the
//! remaining whole quarter turns.

use crate::aligned::Lane;
use crate::backend::Simd;
use crate::dispatch::{Op, dispatch};

/// `3·2⁵¹`: added to a number below 2⁵¹ in size, it rounds it to an integer whose lowest bits are
/// the sum's.
const MAGIC: f64 = 6_755_399_441_055_744.0;
const S: [f64; 7] = [
    std::f64::consts::FRAC_PI_2,
    -0.645_964_097_506_244_3,
    0.079_692_626_246_042_76,
    -0.004_681_754_132_336_218,
    0.000_160_441_150_701_417_75,
    -3.598_643_193_555_75e-6,
    5.633_910_598_053_464e-8,
];
const C: [f64; 7] = [
    -1.233_700_550_136_169_7,
    0.253_669_507_901_047_8,
    -0.020_863_480_763_340_75,
    0.000_919_260_274_546_377,
    -2.520_203_902_402_203_8e-5,
    4.710_678_248_821_57e-7,
    -6.329_373_560_219_462e-9,
];

/// `(sin(π/2 u), cos(π/2 u))` of eight values inside a dispatched computation; absolute error below
/// 4e−16 for `|u| < 2⁵¹`, NaN for NaN; meaningless above.
#[inline(always)]
pub fn sincos_lane<V: Simd>(simd: V, u: V::F64) -> (V::F64, V::F64) {
    let magic = simd.splat(MAGIC);
    let turns = simd.add(u, magic);
    let f = simd.sub(u, simd.sub(turns, magic));
    let z = simd.mul(f, f);
    let sin = simd.mul(f, polynomial(simd, &S, z));
    let cos = simd.mul_add(z, polynomial(simd, &C, z), simd.splat(1.0));
    simd.rotate_quarter_turns(sin, cos, turns)
}

/// `Σ cᵢ zⁱ`; a function and not a closure, which might stay out of line and lose the instruction
/// set.
#[inline(always)]
fn polynomial<V: Simd>(simd: V, c: &[f64; 7], z: V::F64) -> V::F64 {
    let z2 = simd.mul(z, z);
    let low = simd.mul_add(simd.splat(c[1]), z, simd.splat(c[0]));
    let middle = simd.mul_add(simd.splat(c[3]), z, simd.splat(c[2]));
    let high = simd.mul_add(simd.splat(c[5]), z, simd.splat(c[4]));
    let high = simd.mul_add(simd.splat(c[6]), z2, high);
    simd.mul_add(simd.mul_add(high, z2, middle), z2, low)
}

struct SinCos<'a> {
    angles: &'a [Lane],
    sin: &'a mut [Lane],
    cos: &'a mut [Lane],
}

impl Op for SinCos<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Simd>(self, simd: V) {
        for ((u, sin), cos) in self.angles.iter().zip(self.sin).zip(self.cos) {
            let (s, c) = sincos_lane(simd, simd.load(u));
            simd.store(s, sin);
            simd.store(c, cos);
        }
    }
}

/// `sin[i], cos[i] ← sin(π/2 angles[i]), cos(π/2 angles[i])`, lane by lane, as [`sincos_lane`].
pub fn sincos_quarter_turns(angles: &[Lane], sin: &mut [Lane], cos: &mut [Lane]) {
    dispatch(SinCos { angles, sin, cos });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, dispatch_at};
    use std::f64::consts::FRAC_PI_2;

    fn at(level: Level, angles: [f64; 8]) -> Option<([f64; 8], [f64; 8])> {
        let (mut sin, mut cos) = ([Lane::ZERO], [Lane::ZERO]);
        dispatch_at(level, SinCos { angles: &[Lane(angles)], sin: &mut sin, cos: &mut cos })?;
        Some((sin[0].0, cos[0].0))
    }

    #[test]
    fn agrees_with_the_system_and_across_instruction_sets() {
        for step in 0..100_000u32 {
            let angles: [f64; 8] = std::array::from_fn(|i| -3.0 + f64::from(step) * 6e-5 + i as f64 * 7e-6);
            let reference = at(Level::Scalar, angles).unwrap_or_default();
            for i in 0..8 {
                let radians = angles[i] * FRAC_PI_2;
                // The rounding of the product `radians` itself moves the sine by up to 5 · 1.1e-16
                // / 2 · 2.
                assert!((reference.0[i] - radians.sin()).abs() < 8e-16, "sin at {}", angles[i]);
                assert!((reference.1[i] - radians.cos()).abs() < 8e-16, "cos at {}", angles[i]);
            }
            for level in Level::available() {
                let (sin, cos) = at(level, angles).unwrap_or_default();
                assert_eq!(sin.map(f64::to_bits), reference.0.map(f64::to_bits));
                assert_eq!(cos.map(f64::to_bits), reference.1.map(f64::to_bits));
            }
        }
    }

    #[test]
    fn whole_quarter_turns_are_exact_however_many() {
        for base in [0.0, 4.0, 4e9, -8e12] {
            let (sin, cos) = at(Level::Scalar, std::array::from_fn(|i| base + i as f64)).unwrap_or_default();
            assert_eq!(sin, [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0]);
            assert_eq!(cos, [1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0]);
        }
    }
}
