//! Judgements: the outcome of one comparison, what it compares with, and what of ours it needs.
//!
//! Three kinds of comparison are counted apart, because they show different things: a **number that
//! a paper prints**, a **bound or order** that a paper proves or states without a number, and a
//! **claim** of this project. A printed number that comes out only with a setting that the paper
//! does not give says so in its verdict, and a bound that is loose by more than a factor of
//! [`LOOSE`] says by how much.
//!
//! A paper prints mean ± standard deviation over ten permutations; we measure the same over ours.
//! The gap is told in two ways: relative to the printed mean, and in combined standard errors
//! `√(s²/n + s_p²/n_p + u²/12)`, where `u` is the printed number's last digit (a deviation printed
//! as 0.00000 is no certainty). A [`Tolerance`] says which gaps still count as reproduced.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digits::{short, signed};
use crate::stats::Summary;

/// From this factor between a bound and what was measured on, a verdict tells the factor.
pub const LOOSE: f64 = 10.0;

/// Outcome of a comparison, whatever its words.
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
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Differs => "differs",
            Self::NotRun => "not run",
        }
    }
}

/// Kind of a comparison, by what it compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonKind {
    /// A number that a paper prints.
    Printed,
    /// A bound, an order of growth or an order of methods that a paper proves or states.
    Bound,
    /// A statement or a reference of this project.
    Claim,
}

impl ComparisonKind {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 3] = [Self::Printed, Self::Bound, Self::Claim];

    /// Name of the kind, for a heading.
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "Printed numbers",
            Self::Bound => "Bounds and orders",
            Self::Claim => "Our own claims",
        }
    }

    /// Words for the comparisons that came out with a qualification.
    pub fn qualified(self) -> &'static str {
        match self {
            Self::Printed | Self::Claim => "of them only with a choice of ours, which the verdict names",
            Self::Bound => "of them loose by more than a factor of 10",
        }
    }

    /// Word for an outcome of this kind.
    pub fn word(self, outcome: Outcome) -> &'static str {
        match (self, outcome) {
            (_, Outcome::NotRun) => "not run",
            (Self::Printed, Outcome::Reproduced) => "reproduced",
            (Self::Printed, Outcome::Differs) => "differ",
            (_, Outcome::Reproduced) => "hold",
            (_, Outcome::Differs) => "do not hold",
        }
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Its kind.
    pub kind: ComparisonKind,
    /// Its outcome.
    pub outcome: Outcome,
    /// The verdict's words, without the choice.
    pub words: String,
    /// The choice of ours that it needs: a setting or an assumption that the paper does not give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The bound as a multiple of what was measured, from [`LOOSE`] on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loose: Option<f64>,
}

impl Judgement {
    /// A comparison in words of its own.
    pub fn new(kind: ComparisonKind, outcome: Outcome, words: impl Into<String>) -> Self {
        Self { kind, outcome, words: words.into(), choice: None, loose: None }
    }

    /// One of two words.
    pub fn either(kind: ComparisonKind, came_out: bool, yes: impl Into<String>, no: impl Into<String>) -> Self {
        if came_out { Self::new(kind, Outcome::Reproduced, yes) } else { Self::new(kind, Outcome::Differs, no) }
    }

    /// A comparison that could not be made.
    pub fn not_run(kind: ComparisonKind, reason: &str) -> Self {
        Self::new(kind, Outcome::NotRun, format!("not run ({reason})"))
    }

    /// A printed number that this run is too short to be compared with.
    pub fn shortened(kind: ComparisonKind) -> Self {
        Self::not_run(kind, "shortened run")
    }

    /// True if it came out.
    pub fn came_out(&self) -> bool {
        self.outcome == Outcome::Reproduced
    }

    /// "yes" or "NO" to a bound on what was measured. Of pairs, the least loose one counts. A bound
    /// that nothing was measured for does not hold: it was not run.
    pub fn bound(holds: bool, pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        // A measured value that is not positive is below its bound by no factor.
        let factor = |(measured, bound): (f64, f64)| if measured > 0.0 { bound / measured } else { f64::INFINITY };
        let mut pairs = pairs.into_iter().map(factor).peekable();
        if holds && pairs.peek().is_none() {
            return Self::not_run(ComparisonKind::Bound, "nothing was measured");
        }
        let least = pairs.fold(f64::INFINITY, f64::min);
        let mut judgement = Self::either(ComparisonKind::Bound, holds, "yes", "NO");
        if holds && least.is_finite() && least > LOOSE {
            judgement.loose = Some(least);
            judgement.words += &format!("; loose by a factor of {}", short(least));
        }
        judgement
    }

    /// A statement that holds or does not.
    pub fn statement(kind: ComparisonKind, holds: bool) -> Self {
        Self::either(kind, holds, "holds", "DOES NOT HOLD")
    }

    /// The same, needing a choice of ours.
    pub fn with_choice(self, choice: impl Into<String>) -> Self {
        Self { choice: Some(choice.into()), ..self }
    }
}

/// A mean and a standard deviation as a paper prints them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedValue {
    /// Printed mean.
    pub mean: f64,
    /// Printed standard deviation.
    pub std: f64,
    /// Number of runs behind them.
    pub runs: usize,
    /// Digits printed after the point.
    pub decimals: u8,
}

impl PrintedValue {
    /// `mean ± std` over ten runs, printed with five decimals: the form of the benchmark table.
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
    pub fn for_learner(learner: &str) -> Self {
        match learner.to_ascii_uppercase().as_str() {
            "CON-KONS" | "PROS-N-KONS" => Self::RANDOM,
            "NOGD" => Self { size: 0.0, ..Self::RANDOM },
            _ => Self::STRICT,
        }
    }

    /// Compares measured samples, one a run, with the printed numbers. A single run has no spread
    /// of its own; the printed one then stands for it.
    pub fn judge(&self, samples: &[f64], printed: &PrintedValue) -> Judgement {
        let Some(measured) = Summary::from_samples(samples) else {
            return Judgement::not_run(ComparisonKind::Printed, "no run");
        };
        let std = if measured.count > 1 { measured.std } else { printed.std };
        let variance = std * std / measured.count as f64 + printed.variance();
        let gap = measured.mean - printed.mean;
        let relative = gap / printed.mean.abs();
        if !relative.is_finite() {
            return Judgement::new(ComparisonKind::Printed, Outcome::Differs, "differs (diverged)");
        }
        let errors = gap.abs() / variance.sqrt();
        let within = relative.abs() <= self.relative || self.standard_errors.is_some_and(|most| errors <= most);
        let decimals = usize::from(errors < 10.0);
        let words = format!("({}%, {errors:.decimals$} se)", signed(100.0 * relative, 1));
        Judgement::either(ComparisonKind::Printed, within, format!("reproduced {words}"), format!("differs {words}"))
    }

    /// Compares a measured mean dictionary size with the printed one: `differs (−8)`.
    pub fn judge_size(&self, measured: f64, printed: f64) -> Judgement {
        let difference = measured - printed;
        let words = format!("({})", signed(difference, usize::from(difference.fract() != 0.0)));
        let within = difference.abs() <= self.size;
        Judgement::either(ComparisonKind::Printed, within, format!("reproduced {words}"), format!("differs {words}"))
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)?;
        match &self.choice {
            Some(choice) => write!(f, "; with our choice of {choice}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loose_bound_says_by_how_much() {
        assert_eq!(Judgement::bound(true, [(1.0, 9.0), (1.0, 100.0)]).to_string(), "yes");
        let loose = Judgement::bound(true, [(2.0, 100.0), (1.0, 1e4)]);
        assert_eq!((loose.to_string().as_str(), loose.loose), ("yes; loose by a factor of 50.0", Some(50.0)));
        assert_eq!(Judgement::bound(false, [(2.0, 1.0)]).to_string(), "NO");
        // Nothing measured is nothing shown.
        assert_eq!(Judgement::bound(true, []).outcome, Outcome::NotRun);
        // A regret below 0 is below its bound by no factor.
        assert_eq!(Judgement::bound(true, [(-1.0, 100.0)]).to_string(), "yes");
    }

    #[test]
    fn a_choice_is_named() {
        let plain = Judgement::new(ComparisonKind::Printed, Outcome::Reproduced, "reproduced (+1.0%, 0.5 se)");
        let chosen = plain.clone().with_choice("μ = 1");
        assert_eq!((plain.choice, chosen.choice.as_deref()), (None, Some("μ = 1")));
        assert_eq!(chosen.to_string(), "reproduced (+1.0%, 0.5 se); with our choice of μ = 1");
    }

    /// Ten samples, five at `mean − d` and five at `mean + d`: sample standard deviation
    /// `d·√(10/9)`.
    fn ten(mean: f64, d: f64) -> Vec<f64> {
        (0..10).map(|i| if i % 2 == 0 { mean - d } else { mean + d }).collect()
    }

    #[test]
    fn within_three_percent_is_reproduced() {
        let printed = PrintedValue::new(0.00284, 0.00005);
        let verdict = Tolerance::for_learner("NONS-ALD").judge(&ten(0.00285, 0.00005), &printed);
        assert!(verdict.came_out());
        // Gap 1e-5; variances (5e-5)²/9, (5e-5)²/10 and (1e-5)²/12: 1e-5 / 2.3146e-5.
        assert_eq!(verdict.to_string(), "reproduced (+0.4%, 0.4 se)");
    }

    #[test]
    fn standard_errors_excuse_only_those_that_draw() {
        let printed = PrintedValue::new(0.01, 0.001);
        let samples = ten(0.0109, 0.001);
        let strict = Tolerance::for_learner("FOGD").judge(&samples, &printed);
        let random = Tolerance::for_learner("CON-KONS").judge(&samples, &printed);
        // 0.0009 / √(1e-6/9 + 1e-6/10 + 1e-10/12) = 1.96.
        assert_eq!(strict.to_string(), "differs (+9.0%, 2.0 se)");
        assert_eq!(random.to_string(), "reproduced (+9.0%, 2.0 se)");
        let far = Tolerance::for_learner("PROS-N-KONS").judge(&ten(0.0080, 0.0001), &printed);
        assert_eq!(far.to_string(), "differs (−20.0%, 6.3 se)");
    }

    #[test]
    fn many_standard_errors_are_shown_without_a_fraction() {
        // 0.081 / √(0.02²/10 + …) = 12.8.
        let printed = PrintedValue { mean: 1.0, std: 0.02, runs: 10, decimals: 5 };
        assert_eq!(Tolerance::STRICT.judge(&[0.919; 10], &printed).to_string(), "differs (−8.1%, 13 se)");
    }

    #[test]
    fn a_deviation_printed_as_zero_is_no_certainty() {
        let printed = PrintedValue::new(0.00043, 0.0);
        let verdict = Tolerance::STRICT.judge(&[0.00044; 10], &printed);
        // 1e-5 / (1e-5/√12) = 3.46.
        assert_eq!(verdict.to_string(), "reproduced (+2.3%, 3.5 se)");
    }

    #[test]
    fn one_run_borrows_the_printed_spread() {
        let printed = PrintedValue::new(1.0, 0.1);
        let verdict = Tolerance::RANDOM.judge(&[1.2], &printed);
        // 0.2 / √(0.01 + 0.001) = 1.91.
        assert_eq!(verdict.to_string(), "reproduced (+20.0%, 1.9 se)");
    }

    #[test]
    fn nothing_run_and_runs_that_diverge() {
        let printed = PrintedValue::new(1.0, 0.1);
        let none = Tolerance::STRICT.judge(&[], &printed);
        assert_eq!(none.to_string(), "not run (no run)");
        let missing = Judgement::not_run(ComparisonKind::Printed, "data set not found");
        assert_eq!(missing.to_string(), "not run (data set not found)");
        let wild = Tolerance::RANDOM.judge(&[1.0, f64::NAN], &printed);
        assert_eq!(wild.to_string(), "differs (diverged)");
        let huge = Tolerance::RANDOM.judge(&[f64::MAX, f64::MAX], &printed);
        assert!(!huge.came_out());
    }

    #[test]
    fn sizes() {
        let nons = Tolerance::for_learner("nons-ald");
        assert_eq!(nons.judge_size(29.0, 28.0).to_string(), "reproduced (+1)");
        assert_eq!(nons.judge_size(31.4, 28.0).to_string(), "differs (+3.4)");
        assert_eq!(nons.judge_size(28.0, 28.0).to_string(), "reproduced (0)");
        let con = Tolerance::for_learner("CON-KONS");
        assert_eq!(con.judge_size(29.0, 34.0).to_string(), "reproduced (−5)");
        assert!(!Tolerance::for_learner("NOGD").judge_size(399.0, 400.0).came_out());
    }
}
