//! Entries of Table 1 for each learner, as functions of T.
//!
//! Bounds hold up to constants, so what can be measured is a slope in the logarithm. A bound with
//! logarithms has none of its own; its slope over the same rounds as the measurement's is what both
//! are compared by.

use crate::decay::Law;
use crate::prelude::*;

use super::Table1Method;

/// `T^power (ln T)^logs`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    /// Exponent of `T`.
    pub(crate) power: f64,
    /// Exponent of `ln T`.
    pub(crate) logs: i32,
}

impl Growth {
    const fn new(power: f64, logs: i32) -> Self {
        Self { power, logs }
    }

    /// Its value at `t > 1`.
    pub(crate) fn at(self, t: f64) -> f64 {
        t.powf(self.power) * t.ln().powi(self.logs)
    }

    /// The slope of its logarithm over these rounds, by the fit that measurements get.
    pub(crate) fn slope(self, rounds: &[f64]) -> Option<f64> {
        let values: Vec<f64> = rounds.iter().map(|&t| self.at(t)).collect();
        Some(PowerLaw::fit(rounds, &values)?.exponent)
    }

    /// Draws a measured curve, and this growth through its first point: only its slope means
    /// anything.
    pub(crate) fn draw(self, figure: Figure, name: &str, by: &str, rounds: &[f64], means: &[f64]) -> Figure {
        let theory = all_of(rounds, |&t| means[0] * self.at(t) / self.at(rounds[0]));
        figure.line(name, rounds, means).dashed(format!("{name}, {by}"), rounds, &theory)
    }

    /// As a formula.
    pub(crate) fn words(self) -> String {
        let power = match self.power {
            0.0 => String::new(),
            1.0 => "T".to_owned(),
            power => format!("T^{}", (power * 100.0).round() / 100.0),
        };
        let logs = match self.logs {
            0 => String::new(),
            1 => "ln T".to_owned(),
            logs => format!("ln^{logs} T"),
        };
        match (power.is_empty(), logs.is_empty()) {
            (true, true) => "1".to_owned(),
            (true, false) => logs,
            (false, true) => power,
            (false, false) => format!("{power} {logs}"),
        }
    }
}

/// Bounds of one learner under one law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// Bound of the regret. `√L(f)` and `√(T L(f)/D)` count the noise's share of `L(f)`, which
    /// grows like T.
    pub(crate) regret: Growth,
    /// Bound of the number of stored points; never more than T.
    pub(crate) size: Growth,
    /// Bound of the time a round.
    pub(crate) time: Growth,
}

/// The table's entries.
pub(crate) fn bounds(method: Table1Method, law: Law) -> Bounds {
    let growth = Growth::new;
    // No dictionary holds more than all points, and no learner of this table costs more than T² a
    // round then.
    let capped = |size: Growth| if size.power >= 1.0 { growth(1.0, 0) } else { size };
    match (method, law) {
        (Table1Method::Fogd, _) => Bounds { regret: growth(1.0, 0), size: growth(0.0, 0), time: growth(0.0, 0) },
        (Table1Method::NonsAld, Law::Exponential { .. }) => {
            Bounds { regret: growth(0.0, 2), size: growth(0.0, 1), time: growth(0.0, 2) }
        }
        (Table1Method::AogdAld, Law::Exponential { .. }) => {
            Bounds { regret: growth(0.5, 0), size: growth(0.0, 1), time: growth(0.0, 2) }
        }
        (Table1Method::ProsNKons, Law::Exponential { .. }) => {
            Bounds { regret: growth(0.0, 5), size: growth(0.0, 3), time: growth(0.0, 6) }
        }
        (Table1Method::SketchedKons, Law::Exponential { .. }) => {
            Bounds { regret: growth(0.0, 2), size: growth(1.0, 0), time: growth(2.0, 0) }
        }
        (Table1Method::NonsAld, Law::Polynomial { degree: p }) => {
            let size = capped(growth((1.0 + 5.0 * p) / (p * (1.0 + p)), 0));
            Bounds { regret: growth(1.0 / (1.0 + p), 1), size, time: growth(2.0 * size.power, 0) }
        }
        (Table1Method::AogdAld, Law::Polynomial { degree: p }) => {
            // From p = 4 down the dictionary passes B₀, and every example is kept: O(dT).
            let (size, time) = if p > 4.0 { (2.0 / p, 4.0 / p) } else { (1.0, 1.0) };
            Bounds { regret: growth(0.5, 0), size: growth(size, 0), time: growth(time, 0) }
        }
        (Table1Method::ProsNKons, Law::Polynomial { degree: p }) => {
            let q = (1.0 + p) * (1.0 + p);
            Bounds {
                regret: growth((3.0 * p + 1.0) / q, 2),
                size: growth(2.0 * p / q, 2),
                time: growth(4.0 * p / q, 4),
            }
        }
        (Table1Method::SketchedKons, Law::Polynomial { degree: p }) => {
            Bounds { regret: growth(1.0 / (1.0 + p), 1), size: growth(1.0, 0), time: growth(2.0, 0) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nons_ald_is_sublinear_from_ten_on() {
        let time = |degree| bounds(Table1Method::NonsAld, Law::Polynomial { degree }).time.power;
        assert!(time(10.0) < 1.0 && time(9.0) > 1.0, "{} {}", time(10.0), time(9.0));
        assert_eq!(time(2.0), 2.0);
    }

    #[test]
    fn growths_have_words_and_slopes() {
        assert_eq!(Growth::new(0.25, 1).words(), "T^0.25 ln T");
        assert_eq!(Growth::new(0.0, 2).words(), "ln^2 T");
        assert_eq!((Growth::new(1.0, 0).words(), Growth::new(0.0, 0).words()), ("T".into(), "1".into()));
        let rounds = [100.0, 1000.0, 10_000.0];
        assert!((Growth::new(0.3, 0).slope(&rounds).unwrap() - 0.3).abs() < 1e-12);
        // ln² T from ln 100 to ln 10⁴ grows fourfold over two decades.
        let slope = Growth::new(0.0, 2).slope(&[100.0, 10_000.0]).unwrap();
        assert!((slope - 4f64.ln() / 100f64.ln()).abs() < 1e-12);
    }
}
