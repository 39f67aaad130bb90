//! The coordinates in which experts see a series: as it is, and by logarithms where all of it is
//! positive.
//!
//! The logarithm here and the exponential of `mercer_simd` are sums and products alone, so that a
//! forecast has the same bits on every machine.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{LANES, Lane, exp_in_place};

/// Largest size of a forecast, so that squares of errors are numbers.
pub(super) const LARGEST: f64 = 1e120;

/// A coordinate `z` of a series `y`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Coordinate {
    /// `z = y`
    Plain,
    /// `z = ln max(y, least)`
    Log { least: f64 },
}

impl Coordinate {
    /// The coordinates of a series that begins with these rows: logarithms join where all are
    /// positive.
    pub(super) fn choose(beginning: impl Iterator<Item = f64>) -> Vec<Self> {
        let smallest = beginning.fold(f64::INFINITY, f64::min);
        // A tenth of the smallest number must still be one.
        let logs = smallest > 1e-200 && smallest.is_finite();
        let log = logs.then_some(Self::Log { least: smallest / 10.0 });
        std::iter::once(Self::Plain).chain(log).collect()
    }

    /// `z` of `y`.
    pub(super) fn of_value(self, y: f64) -> f64 {
        match self {
            Self::Plain => y,
            Self::Log { least } => ln(y.max(least)),
        }
    }

    /// `y` of each `z`.
    pub(super) fn values(self, path: &mut [f64]) {
        if self != Self::Plain {
            exp_each(path);
        }
    }
}

impl Validate for Coordinate {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Plain => Ok(()),
            Self::Log { least } => {
                Inconsistent::positive(*least, "least logarithm")?;
                Inconsistent::require(least.is_normal(), "least logarithm", "it is of a normal number")
            }
        }
    }
}

/// `x ← eˣ`, each.
pub(super) fn exp_each(numbers: &mut [f64]) {
    for part in numbers.chunks_mut(LANES) {
        let mut lane = [Lane::ZERO];
        lane[0].0[..part.len()].copy_from_slice(part);
        exp_in_place(&mut lane);
        part.copy_from_slice(&lane[0].0[..part.len()]);
    }
}

/// `ln x` of a positive normal number, to a few units of the last place: `x = 2ᵉ m` with `m` around
/// 1, and `ln m = 2 artanh((m − 1)/(m + 1))` by its series.
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        exponent += 1;
    }
    let f = (m - 1.0) / (m + 1.0);
    let square = f * f;
    // |f| ≤ 0.1716: twelve terms are below the last place.
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * f * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_system() {
        for i in -3000..3000 {
            let x = 1.234_f64.powi(i / 3) * (1.0 + f64::from(i % 7) * 0.11);
            if x.is_normal() {
                assert!((ln(x) - x.ln()).abs() <= 4.0 * f64::EPSILON * x.ln().abs().max(1.0), "{x}");
            }
        }
        assert_eq!(ln(1.0), 0.0);
    }

    #[test]
    fn there_and_back() {
        let positive = Coordinate::choose([2.0, 5.0].into_iter());
        assert_eq!(positive, [Coordinate::Plain, Coordinate::Log { least: 0.2 }]);
        assert_eq!(Coordinate::choose([2.0, 0.0].into_iter()), [Coordinate::Plain]);
        let mut path: Vec<f64> = (1..12).map(|y| positive[1].of_value(f64::from(y))).collect();
        positive[1].values(&mut path);
        for (y, back) in (1..12).zip(path) {
            assert!((back - f64::from(y)).abs() < 1e-14 * f64::from(y));
        }
        assert_eq!(positive[1].of_value(-3.0), ln(0.2));
    }
}
