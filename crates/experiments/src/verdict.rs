//! When a measured number counts as the printed one.
//!
//! A paper prints mean ± standard deviation over ten permutations; we measure the same over ours.
//! The gap is told in two ways: relative to the printed mean, and in combined standard errors
//! `√(s²/n + s_p²/n_p + u²/12)`, where `u` is the printed number's last digit (a deviation printed
//! as 0.00000 is no certainty). A [`Tolerance`] says which gaps still count as reproduced.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digits::signed;
use crate::stats::Summary;

/// A mean and a standard deviation as a paper prints them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// Printed mean.
    pub mean: f64,
    /// Printed standard deviation.
    pub std: f64,
    /// Number of runs behind them.
    pub runs: usize,
    /// Digits printed after the point.
    pub decimals: u8,
}

impl Printed {
    /// `mean ± std` over ten runs, printed with five decimals: the form of the benchmark table.
    #[must_use]
    pub const fn new(mean: f64, std: f64) -> Self {
        Self { mean, std, runs: 10, decimals: 5 }
    }

    /// Variance of the printed mean: of the runs, and of rounding to the last digit.
    fn variance(&self) -> f64 {
        let unit = 10f64.powi(-i32::from(self.decimals));
        self.std * self.std / self.runs as f64 + unit * unit / 12.0
    }
}

/// Which gaps count as reproduced: those within one of the two limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Largest gap relative to the printed mean.
    pub relative: f64,
    /// Largest gap in combined standard errors; `None` if that is no excuse.
    pub standard_errors: Option<f64>,
    /// Largest difference of mean dictionary sizes.
    pub size: f64,
}

impl Tolerance {
    /// For learners whose error hardly depends on chance: 3%, three points of the dictionary.
    pub const STRICT: Self = Self { relative: 0.03, standard_errors: None, size: 3.0 };

    /// For learners that draw what they keep: 6% or three standard errors, five points.
    pub const RANDOM: Self = Self { relative: 0.06, standard_errors: Some(3.0), size: 5.0 };

    /// The tolerance of a learner of the benchmark table (NOGD's dictionary is its budget, and
    /// exact).
    #[must_use]
    pub fn of(learner: &str) -> Self {
        match learner.to_ascii_uppercase().as_str() {
            "CON-KONS" | "PROS-N-KONS" => Self::RANDOM,
            "NOGD" => Self { size: 0.0, ..Self::RANDOM },
            _ => Self::STRICT,
        }
    }

    /// Compares measured samples, one a run, with the printed numbers. A single run has no spread
    /// of its own; the printed one then stands for it.
    #[must_use]
    pub fn judge(&self, samples: &[f64], printed: &Printed) -> Verdict {
        let Ok(measured) = Summary::of(samples) else {
            return Verdict::not_run("no run");
        };
        if !samples.iter().all(|v| v.is_finite()) || !measured.mean.is_finite() {
            return Verdict::Differs { relative: f64::INFINITY, standard_errors: f64::INFINITY };
        }
        let std = if measured.count > 1 { measured.std } else { printed.std };
        let variance = std * std / measured.count as f64 + printed.variance();
        let gap = measured.mean - printed.mean;
        let relative = gap / printed.mean.abs();
        let standard_errors = gap.abs() / variance.sqrt();
        let within =
            relative.abs() <= self.relative || self.standard_errors.is_some_and(|most| standard_errors <= most);
        if within {
            Verdict::Reproduced { relative, standard_errors }
        } else {
            Verdict::Differs { relative, standard_errors }
        }
    }

    /// Compares a measured mean dictionary size with the printed one.
    #[must_use]
    pub fn judge_size(&self, measured: f64, printed: f64) -> SizeVerdict {
        let difference = measured - printed;
        SizeVerdict { difference, reproduced: difference.abs() <= self.size }
    }
}

/// What a comparison comes to, whatever its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The printed number came out, or the bound holds.
    Reproduced,
    /// It did not.
    Differs,
    /// There was nothing to compare.
    NotRun,
}

impl Outcome {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 3] = [Self::Reproduced, Self::Differs, Self::NotRun];

    /// One word, or two, for a person.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Differs => "differs",
            Self::NotRun => "not run",
        }
    }
}

/// How a measured mean compares with the printed one. Shown as `reproduced (+0.4%, 0.9 se)`.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Within the tolerance.
    Reproduced {
        /// Gap over the printed mean, positive if ours is larger.
        relative: f64,
        /// Size of the gap in combined standard errors.
        standard_errors: f64,
    },
    /// Outside; infinite if a run diverged.
    Differs {
        /// Gap over the printed mean, positive if ours is larger.
        relative: f64,
        /// Size of the gap in combined standard errors.
        standard_errors: f64,
    },
    /// There is nothing to compare.
    NotRun {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// The verdict on a cell that was not run.
    #[must_use]
    pub fn not_run(reason: impl Into<String>) -> Self {
        Self::NotRun { reason: reason.into() }
    }

    /// What it comes to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Reproduced { .. } => Outcome::Reproduced,
            Self::Differs { .. } => Outcome::Differs,
            Self::NotRun { .. } => Outcome::NotRun,
        }
    }

    /// Whether the printed number was reproduced.
    #[must_use]
    pub fn is_reproduced(&self) -> bool {
        matches!(self, Self::Reproduced { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, relative, errors) = match self {
            Self::Reproduced { relative, standard_errors } => ("reproduced", relative, standard_errors),
            Self::Differs { relative, standard_errors } => ("differs", relative, standard_errors),
            Self::NotRun { reason } => return write!(f, "not run ({reason})"),
        };
        if !relative.is_finite() {
            return write!(f, "{word} (diverged)");
        }
        let decimals = usize::from(*errors < 10.0);
        let percent = signed(100.0 * relative, 1);
        write!(f, "{word} ({percent}%, {errors:.decimals$} se)")
    }
}

/// How a measured mean dictionary size compares with the printed one. Shown as `differs (−8)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeVerdict {
    /// Ours less theirs.
    pub difference: f64,
    /// Whether that is within the tolerance.
    pub reproduced: bool,
}

impl fmt::Display for SizeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.reproduced { "reproduced" } else { "differs" };
        let decimals = usize::from(self.difference.fract() != 0.0);
        write!(f, "{word} ({})", signed(self.difference, decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten samples, five at `mean − d` and five at `mean + d`: sample standard deviation
    /// `d·√(10/9)`.
    fn ten(mean: f64, d: f64) -> Vec<f64> {
        (0..10).map(|i| if i % 2 == 0 { mean - d } else { mean + d }).collect()
    }

    #[test]
    fn within_three_percent_is_reproduced() {
        let printed = Printed::new(0.00284, 0.00005);
        let verdict = Tolerance::of("NONS-ALD").judge(&ten(0.00285, 0.00005), &printed);
        assert!(verdict.is_reproduced());
        // Gap 1e-5; variances (5e-5)²/9, (5e-5)²/10 and (1e-5)²/12: 1e-5 / 2.3146e-5.
        assert_eq!(verdict.to_string(), "reproduced (+0.4%, 0.4 se)");
    }

    #[test]
    fn standard_errors_excuse_only_those_that_draw() {
        let printed = Printed::new(0.01, 0.001);
        let samples = ten(0.0109, 0.001);
        let strict = Tolerance::of("FOGD").judge(&samples, &printed);
        let random = Tolerance::of("CON-KONS").judge(&samples, &printed);
        // 0.0009 / √(1e-6/9 + 1e-6/10 + 1e-10/12) = 1.96.
        assert_eq!(strict.to_string(), "differs (+9.0%, 2.0 se)");
        assert_eq!(random.to_string(), "reproduced (+9.0%, 2.0 se)");
        let far = Tolerance::of("PROS-N-KONS").judge(&ten(0.0080, 0.0001), &printed);
        assert_eq!(far.to_string(), "differs (−20.0%, 6.3 se)");
    }

    #[test]
    fn many_standard_errors_are_shown_without_a_fraction() {
        let verdict = Verdict::Differs { relative: -0.081, standard_errors: 12.3 };
        assert_eq!(verdict.to_string(), "differs (−8.1%, 12 se)");
    }

    #[test]
    fn a_deviation_printed_as_zero_is_no_certainty() {
        let printed = Printed::new(0.00043, 0.0);
        let verdict = Tolerance::STRICT.judge(&[0.00044; 10], &printed);
        // 1e-5 / (1e-5/√12) = 3.46.
        assert_eq!(verdict.to_string(), "reproduced (+2.3%, 3.5 se)");
    }

    #[test]
    fn one_run_borrows_the_printed_spread() {
        let printed = Printed::new(1.0, 0.1);
        let verdict = Tolerance::RANDOM.judge(&[1.2], &printed);
        // 0.2 / √(0.01 + 0.001) = 1.91.
        assert_eq!(verdict.to_string(), "reproduced (+20.0%, 1.9 se)");
    }

    #[test]
    fn nothing_run_and_runs_that_diverge() {
        let printed = Printed::new(1.0, 0.1);
        let none = Tolerance::STRICT.judge(&[], &printed);
        assert_eq!(none.to_string(), "not run (no run)");
        let missing = Verdict::not_run("data set not found");
        assert_eq!(missing.to_string(), "not run (data set not found)");
        let wild = Tolerance::RANDOM.judge(&[1.0, f64::NAN], &printed);
        assert_eq!(wild.to_string(), "differs (diverged)");
        let huge = Tolerance::RANDOM.judge(&[f64::MAX, f64::MAX], &printed);
        assert!(!huge.is_reproduced());
    }

    #[test]
    fn sizes() {
        let nons = Tolerance::of("nons-ald");
        assert_eq!(nons.judge_size(29.0, 28.0).to_string(), "reproduced (+1)");
        assert_eq!(nons.judge_size(31.4, 28.0).to_string(), "differs (+3.4)");
        assert_eq!(nons.judge_size(28.0, 28.0).to_string(), "reproduced (0)");
        let con = Tolerance::of("CON-KONS");
        assert_eq!(con.judge_size(29.0, 34.0).to_string(), "reproduced (−5)");
        assert!(!Tolerance::of("NOGD").judge_size(399.0, 400.0).reproduced);
    }
}
