//! One axis: its range, its ticks' words, and where a value lies on it.

use std::sync::Arc;

use kuva::TickFormat;
use kuva::render::render_utils::{compute_tick_step, generate_ticks, generate_ticks_log};

use super::typeset::text_width;

/// Number of ticks that a linear axis aims at.
const TICKS: usize = 6;
/// Size of the letters of tick labels, and what keeps two of them apart.
pub(super) const LABEL_SIZE: u32 = 12;
pub(super) const LABEL_GAP: f64 = 6.0;

/// The most labels on a logarithmic axis of many decades.
const MOST_LOG_LABELS: usize = 12;

/// The plotting crate takes everything below 1e−10 on a logarithmic axis for 1e−10.
const SMALLEST_EXPONENT: i32 = -9;

/// An axis with its final range. On a logarithmic axis `low` and `high` are positive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
}

impl Axis {
    /// The range around `values` (already cleaned: finite, and positive if `log`), with a margin of
    /// `pad` of its length on both sides. A linear range whose low end is at most the share `reach`
    /// of its high end starts at zero. `None` without a value.
    pub(super) fn around(values: impl Iterator<Item = f64>, log: bool, pad: f64, reach: f64) -> Option<Self> {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            None
        } else if log {
            Some(Self::around_log(low, high, pad))
        } else {
            Some(Self::around_linear(low, high, pad, reach))
        }
    }

    fn around_linear(low: f64, high: f64, pad: f64, reach: f64) -> Self {
        let low = if low >= 0.0 && low <= reach * high { 0.0 } else { low };
        // A single value sits in the middle of an axis that shows it to scale.
        let margin = match (high - low, low) {
            (length, _) if length > 0.0 => pad * length,
            (_, 0.0) => 1.0,
            _ => 0.5 * low.abs(),
        };
        // An end at zero is a floor or a ceiling, not a value that needs air.
        let end_at_zero = |end: f64| end == 0.0 && high > low;
        Self {
            low: if end_at_zero(low) { 0.0 } else { low - margin },
            high: if end_at_zero(high) { 0.0 } else { high + margin },
            log: false,
        }
    }

    fn around_log(low: f64, high: f64, pad: f64) -> Self {
        let (first, last) = (low.log10(), high.log10());
        let margin = pad * (last - first);
        let (mut low, mut high) = (10f64.powf(first - margin), 10f64.powf(last + margin));
        // A short range would show one tick or none: it grows to the next tick on each side.
        if last - first < 1.0 {
            low = tick_at_most(low);
            high = tick_at_least(high);
            if low == high {
                (low, high) = (low / 2.0, high * 2.0);
            }
        }
        Self { low, high, log: true }
    }

    /// Where `v` lies: 0 at the low end, 1 at the high end.
    pub(super) fn fraction(&self, v: f64) -> f64 {
        if self.log {
            (v.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (v - self.low) / (self.high - self.low)
        }
    }

    /// The value at a fraction of the axis.
    pub(super) fn value_at(&self, fraction: f64) -> f64 {
        if self.log {
            let (first, last) = (self.low.log10(), self.high.log10());
            10f64.powf(first + fraction * (last - first))
        } else {
            self.low + fraction * (self.high - self.low)
        }
    }

    /// A value in the units handed to the plotting crate.
    pub(super) fn place(&self, v: f64) -> f64 {
        v * self.scale()
    }

    /// The power of ten by which a logarithmic axis is lifted into what the plotting crate can
    /// show.
    fn scale(&self) -> f64 {
        let exponent = self.low.log10().floor() as i32;
        if self.log && exponent < SMALLEST_EXPONENT { 10f64.powi(SMALLEST_EXPONENT - exponent) } else { 1.0 }
    }

    /// The range in the units of [`Axis::place`].
    pub(super) fn placed_range(&self) -> (f64, f64) {
        (self.place(self.low), self.place(self.high))
    }

    /// Number of ticks to aim at so that their labels, side by side on `width` pixels, keep clear
    /// of each other.
    pub(super) fn ticks(&self, width: f64) -> usize {
        if self.log {
            return TICKS;
        }
        let format = self.tick_format();
        let fits = |ticks: &usize| {
            let labels = generate_ticks(self.low, self.high, *ticks).into_iter().map(|tick| format.format(tick));
            let widths: Vec<f64> = labels.map(|label| text_width(&label, LABEL_SIZE) + LABEL_GAP).collect();
            widths.iter().fold(0.0, |widest: f64, width| widest.max(*width)) * widths.len() as f64 <= width
        };
        (3..=TICKS).rev().find(fits).unwrap_or(3)
    }

    /// Number of ticks that a linear axis of `width` pixels aims at, and distance of the ticks that
    /// have words. Words as wide as `widest` then keep clear of each other.
    pub(super) fn ticks_of_words(&self, width: f64, widest: f64) -> (usize, f64) {
        let step = compute_tick_step(self.low, self.high, TICKS);
        let every = (widest * (self.high - self.low) / (step * width)).ceil().max(1.0);
        (TICKS, step * every)
    }

    /// Tick labels in the axis' own units, written alike along the whole axis.
    pub(super) fn tick_format(&self) -> TickFormat {
        let scale = self.scale();
        let (low, high) = self.placed_range();
        if self.log {
            let ticks = generate_ticks_log(low, high);
            let plain = ticks.iter().all(|tick| (1e-3..=1e4).contains(&(tick / scale)));
            // Over many decades there is a tick a decade: only every second, third, … has room for
            // words.
            let every = ticks.len().div_ceil(MOST_LOG_LABELS) as i32;
            return TickFormat::Custom(Arc::new(move |tick| {
                let v = tick / scale;
                if plain {
                    shortest(v)
                } else if v.log10().round() as i32 % every == 0 {
                    power(v)
                } else {
                    String::new()
                }
            }));
        }
        let ticks = generate_ticks(low, high, TICKS);
        let largest = ticks.iter().fold(0.0f64, |m, tick| m.max(tick.abs()));
        if largest >= 1e6 || (largest > 0.0 && largest < 1e-3) {
            return TickFormat::Custom(Arc::new(power));
        }
        let decimals = ticks.iter().map(|&tick| decimals(tick)).max().unwrap_or(0);
        TickFormat::Custom(Arc::new(move |v| minus(&format!("{v:.decimals$}"))))
    }
}

/// Lengthens the axis with more room for a unit on both sides, so that units are equal on `width`
/// by `height` pixels. Logarithmic axes stay as they are.
pub(super) fn make_equal(x_axis: &mut Axis, y_axis: &mut Axis, width: f64, height: f64) {
    if x_axis.log || y_axis.log {
        return;
    }
    let unit = f64::max((x_axis.high - x_axis.low) / width, (y_axis.high - y_axis.low) / height);
    for (axis, pixels) in [(x_axis, width), (y_axis, height)] {
        let more = (unit * pixels - (axis.high - axis.low)) / 2.0;
        if more > 0.0 {
            (axis.low, axis.high) = (axis.low - more, axis.high + more);
        }
    }
}

/// The largest of …, 1, 2, 5, 10, 20, … that is at most `v`.
fn tick_at_most(v: f64) -> f64 {
    let decade = 10f64.powf(v.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|m| m * decade).find(|&tick| tick <= v * (1.0 + 1e-9)).unwrap_or(decade)
}

/// The smallest of …, 1, 2, 5, 10, 20, … that is at least `v`.
fn tick_at_least(v: f64) -> f64 {
    let decade = 10f64.powf(v.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|&tick| tick >= v * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
}

/// Digits after the point that `v` needs, rounding noise apart.
fn decimals(v: f64) -> usize {
    (0..12)
        .find(|&digits| {
            let factor = 10f64.powi(digits as i32);
            (v * factor - (v * factor).round()).abs() < 1e-6
        })
        .unwrap_or(12)
}

fn shortest(v: f64) -> String {
    minus(&format!("{v:.*}", decimals(v)))
}

/// `2·10⁻⁵`, with the factor left out when it is one.
fn power(v: f64) -> String {
    if v == 0.0 {
        return "0".to_owned();
    }
    let mut exponent = v.abs().log10().floor() as i32;
    let mut factor = v / 10f64.powi(exponent);
    if factor.abs() > 10.0 - 1e-6 {
        factor /= 10.0;
        exponent += 1;
    }
    let raised: String = exponent
        .to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            // The other superscript digits stand in order in their block.
            digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect();
    if (factor - 1.0).abs() < 1e-6 { format!("10{raised}") } else { format!("{}·10{raised}", shortest(factor)) }
}

/// A true minus sign, which is as wide as the digits.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(values: &[f64], log: bool) -> Axis {
        Axis::around(values.iter().copied(), log, 0.04, 0.3).unwrap()
    }

    #[test]
    fn linear_ranges() {
        let near_zero = around(&[1.0, 10.0], false);
        assert_eq!(near_zero.low, 0.0);
        assert!((near_zero.high - 10.4).abs() < 1e-12);
        let far = around(&[100.0, 110.0], false);
        assert!((far.low - 99.6).abs() < 1e-12);
        let single = around(&[4.0], false);
        assert_eq!((single.low, single.high), (2.0, 6.0));
        let zero = around(&[0.0], false);
        assert!(zero.low < zero.high);
        assert!(Axis::around(std::iter::empty(), false, 0.04, 0.3).is_none());
    }

    #[test]
    fn a_short_logarithmic_range_reaches_ticks_on_both_sides() {
        let axis = around(&[0.013, 0.027], true);
        assert!((axis.low - 0.01).abs() < 1e-12);
        assert!((axis.high - 0.05).abs() < 1e-12);
        let single = around(&[2.0], true);
        assert!((single.low - 1.0).abs() < 1e-12 && (single.high - 4.0).abs() < 1e-12);
    }

    #[test]
    fn units_become_equal_around_the_same_middle() {
        let (mut x, mut y) = (around(&[-1.0, 1.0], false), around(&[-1.0, 1.0], false));
        let middle = (y.low + y.high) / 2.0;
        make_equal(&mut x, &mut y, 400.0, 300.0);
        assert!(((x.high - x.low) / 400.0 - (y.high - y.low) / 300.0).abs() < 1e-12);
        assert!((y.low + y.high - 2.0 * middle).abs() < 1e-12 && x.low < -1.0 && y.low <= -1.0);
    }

    #[test]
    fn fractions_go_back_and_forth() {
        for axis in [around(&[3.0, 700.0], true), around(&[-3.0, 700.0], false)] {
            for v in [4.0, 50.0, 699.0] {
                assert!((axis.value_at(axis.fraction(v)) / v - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn values_too_small_for_the_plotting_crate_are_lifted_and_labelled_in_their_own_units() {
        let axis = around(&[1e-16, 1e-2], true);
        assert!(axis.placed_range().0 >= 1e-10);
        assert_eq!(axis.tick_format().format(axis.place(1e-14)), "10⁻¹⁴");
        assert_eq!(around(&[1e-3, 1.0], true).place(0.5), 0.5);
    }

    #[test]
    fn many_decades_are_labelled_sparsely() {
        let axis = around(&[1e-40, 1e40], true);
        let format = axis.tick_format();
        let labelled = (-40..=40).filter(|&e| !format.format(axis.place(10f64.powi(e))).is_empty()).count();
        assert!((6..=12).contains(&labelled), "{labelled}");
    }

    #[test]
    fn wide_labels_make_fewer_ticks() {
        assert_eq!(around(&[0.0, 10.0], false).ticks(390.0), TICKS);
        assert!(around(&[-1e-4, 9.3e-5], false).ticks(390.0) < TICKS);
    }

    #[test]
    fn words_keep_clear_of_each_other() {
        for (low, high, widest) in [(90.0, 168.0, 75.0), (0.0, 7.0, 110.0), (12.0, 18_000.0, 60.0), (3.0, 9.0, 400.0)] {
            let axis = around(&[low, high], false);
            let (ticks, apart) = axis.ticks_of_words(340.0, widest);
            assert!(axis.fraction(apart) - axis.fraction(0.0) >= widest / 340.0, "{low} {high}");
            let step = compute_tick_step(axis.low, axis.high, ticks);
            assert!((apart / step).fract() < 1e-9, "{apart} is no tick");
        }
        // Where all fit, all have words.
        assert_eq!(around(&[0.0, 60.0], false).ticks_of_words(600.0, 60.0), (TICKS, 10.0));
    }

    #[test]
    fn labels() {
        assert_eq!(around(&[0.0, 0.0052], false).tick_format().format(0.002), "0.002");
        assert_eq!(around(&[-1.0, 1.0], false).tick_format().format(-0.5), "−0.5");
        assert_eq!(around(&[0.0, 4e6], false).tick_format().format(2e6), "2·10⁶");
        assert_eq!(around(&[0.0, 5e4], false).tick_format().format(2e4), "20000");
        assert_eq!(around(&[0.01, 1e3], true).tick_format().format(0.1), "0.1");
        assert_eq!(around(&[1.0, 1e6], true).tick_format().format(1000.0), "10³");
        assert_eq!(power(9.999_999_99e4), "10⁵");
        assert_eq!(power(-2.5e-7), "−2.5·10⁻⁷");
    }
}
