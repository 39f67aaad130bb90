//! Scales of numbers, and their running state.
//!
//! | name | `u(v)` | a gap becomes |
//! |---|---|---|
//! | `none` | `v` | the running mean |
//! | `standard` | `(v − mean)/deviation`, running | 0 |
//! | `robust` | `(v − median)/(0.7413 (q₇₅ − q₂₅))`, running | 0 |
//! | `range` | `2(v − min)/(max − min) − 1`, running | that of the running mean |
//!
//! All but `none` bend what lies beyond ±4: `|u| = 4 + e` becomes `4 + 4e/(4 + e) < 8`. A single
//! wild value then neither wastes a point of a dictionary nor throws a polynomial feature out of
//! range. A column without any spread so far is 0.
//!
//! `robust` divides by the interquartile range, in units in which a Gaussian has deviation 1. If
//! most values are the same the quartiles coincide; then it takes the range from the 5th to the
//! 95th percentile (times 0.3040), and else half the range of all. The quantiles come from a
//! [`QuantileSketch`] and are taken anew whenever the number of values has grown by a sixteenth.
//!
//! A column that began with 256 equal values or more, such as the zeros of a sensor that is silent,
//! counts them as one under `standard` and `robust`: its scale is that of the values from then on.
//! Otherwise the scale would grow for as many rows again, and what was learnt would be out of
//! place.

use std::fmt;
use std::str::FromStr;

use mercer_core::{Inconsistent, Validate, ValueRange};

use crate::error::EncodingError;
use crate::moments::RunningMoments;
use crate::quantiles::QuantileSketch;

/// Scaled values beyond this are bent.
const BEND: f64 = 4.0;
/// Equal values from which on a column that began with them was silent.
const SILENCE: u64 = 256;
/// The deviation of a Gaussian by its interquartile range, `1/(2·0.67449)`.
const BY_QUARTILES: f64 = 0.741_301_109_252_800_9;
/// The deviation of a Gaussian by the range from its 5th to its 95th percentile, `1/(2·1.64485)`.
const BY_TAILS: f64 = 0.303_978_415_952_283_6;

/// Scales of numbers; [this module](self) has the formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Scale {
    /// Not at all.
    #[default]
    None,
    /// By the running mean and deviation.
    Standard,
    /// By the running median and quartiles.
    Robust,
    /// By the running range, to [−1, 1].
    Range,
}

mercer_core::names!(pub Scale { None = "none", Standard = "standard", Robust = "robust", Range = "range" });

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scale {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::named(text).ok_or_else(|| EncodingError::Scale(text.to_owned()))
    }
}

/// A column of numbers: what has been seen of it, and how its values are scaled by that.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum NumberScale {
    None(RunningMoments),
    Standard(RunningMoments),
    Robust(Box<Robust>),
    Range(ValueRange, RunningMoments),
}

impl NumberScale {
    /// Nothing seen yet.
    pub(crate) fn new(scale: Scale) -> Self {
        let moments = RunningMoments::default();
        match scale {
            Scale::None => Self::None(moments),
            Scale::Standard => Self::Standard(moments),
            Scale::Robust => Self::Robust(Box::default()),
            Scale::Range => Self::Range(ValueRange::NOTHING, moments),
        }
    }

    /// The scaled value of a finite number: finite.
    pub(crate) fn encode(&self, value: f64) -> f64 {
        match self {
            Self::None(_) => value,
            Self::Standard(moments) => bent(divided(value, moments.mean(), moments.deviation())),
            Self::Robust(robust) => bent(divided(value, robust.centre, robust.scale)),
            Self::Range(range, _) => range.share(value).map_or(0.0, |u| bent(2.0 * u - 1.0)),
        }
    }

    /// The number that stands for a value that is missing.
    pub(crate) fn gap(&self) -> f64 {
        match self {
            Self::Standard(_) | Self::Robust(_) => 0.0,
            Self::None(moments) | Self::Range(_, moments) => self.encode(moments.mean()),
        }
    }

    /// Takes a finite number in.
    pub(crate) fn learn(&mut self, value: f64) {
        match self {
            Self::Robust(robust) => robust.learn(value),
            Self::Range(range, moments) => {
                range.observe(value);
                moments.observe(value);
            }
            Self::Standard(moments) => {
                let only = moments.mean();
                if moments.count() >= SILENCE && moments.deviation() == 0.0 && value != only {
                    *moments = RunningMoments::default();
                    moments.observe(only);
                }
                moments.observe(value);
            }
            Self::None(moments) => moments.observe(value),
        }
    }

    /// In words.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::None(_) => "as it is",
            Self::Standard(_) => "by running mean and deviation",
            Self::Robust(_) => "by running median and quartiles",
            Self::Range(..) => "by running range",
        }
    }
}

impl Validate for NumberScale {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::None(moments) | Self::Standard(moments) => moments.validate(),
            Self::Robust(robust) => robust.validate(),
            Self::Range(range, moments) => {
                range.validate()?;
                moments.validate()
            }
        }
    }
}

/// Bends what lies beyond [`BEND`]; NaN is impossible.
pub(crate) fn bent(u: f64) -> f64 {
    let beyond = u.abs() - BEND;
    // The reciprocal is also right for infinity.
    if beyond <= 0.0 { u } else { (BEND + BEND / (BEND / beyond + 1.0)).copysign(u) }
}

/// `(value − centre)/scale`, from halves where the difference overflows; 0 where there is no scale.
pub(crate) fn divided(value: f64, centre: f64, scale: f64) -> f64 {
    if scale == 0.0 {
        return 0.0;
    }
    let difference = value - centre;
    if difference.is_finite() { difference / scale } else { 2.0 * ((value / 2.0 - centre / 2.0) / scale) }
}

/// Median and quartiles.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Robust {
    sketch: QuantileSketch,
    centre: f64,
    /// 0 while there is no spread.
    scale: f64,
    /// Number of values at which quantiles are taken anew.
    next: u64,
}

impl Robust {
    /// Median and spread; none before there is a spread.
    pub(crate) fn centre_and_scale(&self) -> Option<(f64, f64)> {
        (self.scale != 0.0).then_some((self.centre, self.scale))
    }

    fn learn(&mut self, value: f64) {
        let silent = self.sketch.ends().filter(|(low, high)| low == high && value != *low);
        if let Some((only, _)) = silent.filter(|_| self.sketch.count() >= SILENCE) {
            *self = Self::default();
            self.sketch.observe(only);
        }
        self.sketch.observe(value);
        let count = self.sketch.count();
        if count >= self.next {
            self.next = count + (count / 16).max(1);
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        let Some(([p05, p25, p50, p75, p95], (low, high))) =
            self.sketch.quantiles([0.05, 0.25, 0.5, 0.75, 0.95]).zip(self.sketch.ends())
        else {
            return;
        };
        let spread = |to: f64, from: f64, factor: f64| factor * to - factor * from;
        let spreads = [spread(p75, p25, BY_QUARTILES), spread(p95, p05, BY_TAILS), spread(high, low, 0.5)];
        self.centre = p50;
        self.scale = spreads.into_iter().find(|spread| spread.is_normal()).unwrap_or(0.0);
    }
}

impl Validate for Robust {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.sketch.validate()?;
        self.centre.validate()?;
        Inconsistent::non_negative(self.scale, "scale of a column")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taught(scale: Scale, values: &[f64]) -> NumberScale {
        let mut made = NumberScale::new(scale);
        values.iter().for_each(|value| made.learn(*value));
        made
    }

    #[test]
    fn names_read_back() {
        for scale in Scale::ALL {
            assert_eq!(scale.to_string().parse(), Ok(scale));
        }
        assert!("minmax".parse::<Scale>().is_err());
    }

    #[test]
    fn values_by_hand() {
        let values = [1.0, 2.0, 3.0, 4.0, 10.0];
        for (scale, value, expected, gap) in [
            (Scale::None, 7.5, 7.5, 4.0),
            (Scale::Standard, 4.0 + 10_f64.sqrt(), 1.0, 0.0),
            (Scale::Robust, 5.0, 2.0 / (BY_QUARTILES * 2.0), 0.0),
            (Scale::Range, 5.5, 0.0, 2.0 * 3.0 / 9.0 - 1.0),
        ] {
            let made = taught(scale, &values);
            assert!((made.encode(value) - expected).abs() < 1e-15, "{scale}");
            assert!((made.gap() - gap).abs() < 1e-15, "{scale}");
        }
    }

    #[test]
    fn what_lies_far_away_is_bent_in_order() {
        let ladder = [0.0, 3.9, 4.0, 4.1, 5.0, 8.0, 100.0, 1e300, f64::INFINITY];
        assert!(ladder.windows(2).all(|pair| bent(pair[0]) <= bent(pair[1]) && bent(-pair[0]) == -bent(pair[0])));
        assert_eq!((bent(4.0), bent(8.0), bent(f64::INFINITY)), (4.0, 6.0, 8.0));
    }

    #[test]
    fn the_first_row_and_constants_are_zero() {
        for scale in Scale::ALL {
            let expected = if scale == Scale::None { 7.0 } else { 0.0 };
            assert_eq!([taught(scale, &[]), taught(scale, &[7.0; 9])].map(|made| made.encode(7.0)), [expected; 2]);
            assert!(taught(scale, &[]).gap().is_finite());
        }
    }

    /// The scale is soon that of the signal, and the same whatever the length of the silence.
    #[test]
    fn a_silence_at_the_start_is_one_value() {
        for scale in [Scale::Standard, Scale::Robust] {
            let after = |silence: usize| {
                let signal = (0..50).map(|t| 5.0 + f64::from(t * 7 % 10));
                let values: Vec<f64> = vec![0.5; silence].into_iter().chain(signal).collect();
                taught(scale, &values)
            };
            assert_eq!(after(1000), after(1), "{scale}");
            assert_eq!(after(256), after(1), "{scale}");
            assert_ne!(after(255), after(1), "{scale}");
        }
    }

    /// Most values are 0, as in counts: the quartiles coincide.
    #[test]
    fn robust_finds_a_spread_behind_many_zeros() {
        let mut values = vec![0.0; 90];
        values.extend([1.0; 10]);
        assert!((taught(Scale::Robust, &values).encode(1.0) - 1.0 / BY_TAILS).abs() < 1e-12);
        values.extend([0.0; 200]);
        assert_eq!(taught(Scale::Robust, &values).encode(1.0), 2.0);
    }

    proptest! {
        #[test]
        fn everything_stays_finite(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 0..60)) {
            for scale in Scale::ALL {
                let mut made = NumberScale::new(scale);
                for value in &values {
                    prop_assert!(made.encode(*value).is_finite() && made.gap().is_finite());
                    made.learn(*value);
                    prop_assert_eq!(made.validate(), Ok(()));
                }
            }
        }

        /// Mean and deviation by two passes, quartiles by sorting.
        #[test]
        fn agrees_with_the_plain_formulas(values in prop::collection::vec(-1e3..1e3_f64, 4..150), value in -1e3..1e3_f64) {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            // Exactly the quantiles of the number of values at which they were taken last.
            let mut robust = Robust::default();
            let mut taken = 0;
            for (i, v) in values.iter().enumerate() {
                let before = robust.next;
                robust.learn(*v);
                if robust.next != before {
                    taken = i + 1;
                }
            }
            let mut part = values[..taken].to_vec();
            part.sort_by(f64::total_cmp);
            let quantile = |share: f64| part[((share * taken as f64).ceil() as usize).max(1) - 1];
            let scale = BY_QUARTILES * (quantile(0.75) - quantile(0.25));
            prop_assume!(deviation > 1.0 && scale > 1.0);
            let made = [Scale::Standard, Scale::Robust, Scale::Range].map(|scale| taught(scale, &values).encode(value));
            let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
            let plain = [(value - mean) / deviation, (value - quantile(0.5)) / scale, 2.0 * (value - low) / (high - low) - 1.0];
            for (made, plain) in made.into_iter().zip(plain) {
                prop_assert!((made - bent(plain)).abs() < 1e-9, "{} {}", made, plain);
            }
        }
    }
}
