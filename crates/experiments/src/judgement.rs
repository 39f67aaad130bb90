//! What one comparison comes to, what it compares with, and what of ours it needs.
//!
//! Three kinds of comparison are counted apart, because they show different things: a **number that
//! a paper prints**, a **bound or order** that a paper proves or states without a number, and a
//! **claim** of this project. A printed number that comes out only with a setting that the paper
//! does not give says so in its verdict, and a bound that is loose by more than a factor of
//! [`LOOSE`] says by how much.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digits::short;
use crate::verdict::{Outcome, SizeVerdict, Verdict};

/// From this factor between a bound and what was measured on, a verdict tells the factor.
pub const LOOSE: f64 = 10.0;

/// What a comparison compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A number that a paper prints.
    Printed,
    /// A bound, an order of growth or an order of methods that a paper proves or states.
    Bound,
    /// A statement or a reference of this project.
    Claim,
}

impl Kind {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 3] = [Self::Printed, Self::Bound, Self::Claim];

    /// What is counted, for a heading.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Printed => "Printed numbers",
            Self::Bound => "Bounds and orders",
            Self::Claim => "Our own claims",
        }
    }

    /// What is said of those that came out with a qualification.
    #[must_use]
    pub fn qualified(self) -> &'static str {
        match self {
            Self::Printed | Self::Claim => "of them only with a choice of ours, which the verdict names",
            Self::Bound => "of them loose by more than a factor of 10",
        }
    }

    /// What an outcome of this kind is called.
    #[must_use]
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
    /// What it compares with.
    pub kind: Kind,
    /// What it comes to.
    pub outcome: Outcome,
    /// The verdict's words, without the choice.
    pub words: String,
    /// What of ours it needs: a setting or an assumption that the paper does not give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// How many times the bound is larger than what was measured, from [`LOOSE`] on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loose: Option<f64>,
}

impl Judgement {
    /// A comparison in words of its own.
    #[must_use]
    pub fn new(kind: Kind, outcome: Outcome, words: impl Into<String>) -> Self {
        Self { kind, outcome, words: words.into(), choice: None, loose: None }
    }

    /// With a printed number. `choice` names what the paper leaves open and this project chose;
    /// `None` says that nothing was.
    #[must_use]
    pub fn printed(verdict: &Verdict, choice: Option<String>) -> Self {
        Self { choice, ..Self::new(Kind::Printed, verdict.outcome(), verdict.to_string()) }
    }

    /// A printed number that this run is too short to be compared with.
    #[must_use]
    pub fn shortened(kind: Kind) -> Self {
        Self::new(kind, Outcome::NotRun, "not run (shortened run)")
    }

    /// "yes" or "NO" to a bound on what was measured. Of pairs, the least loose one counts. A bound
    /// that nothing was measured for does not hold: it was not run.
    #[must_use]
    pub fn bound(holds: bool, pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        // A measured value that is not positive is below its bound by no factor.
        let factor = |(measured, bound): (f64, f64)| if measured > 0.0 { bound / measured } else { f64::INFINITY };
        let mut pairs = pairs.into_iter().map(factor).peekable();
        if holds && pairs.peek().is_none() {
            return Self::new(Kind::Bound, Outcome::NotRun, "not run (nothing was measured)");
        }
        let least = pairs.fold(f64::INFINITY, f64::min);
        let outcome = if holds { Outcome::Reproduced } else { Outcome::Differs };
        let mut judgement = Self::new(Kind::Bound, outcome, if holds { "yes" } else { "NO" });
        if holds && least.is_finite() && least > LOOSE {
            judgement.loose = Some(least);
            judgement.words += &format!("; loose by a factor of {}", short(least));
        }
        judgement
    }

    /// A statement that holds or does not.
    #[must_use]
    pub fn statement(kind: Kind, holds: bool) -> Self {
        if holds {
            Self::new(kind, Outcome::Reproduced, "holds")
        } else {
            Self::new(kind, Outcome::Differs, "DOES NOT HOLD")
        }
    }

    /// The same, needing a choice of ours.
    #[must_use]
    pub fn with_choice(self, choice: impl Into<String>) -> Self {
        Self { choice: Some(choice.into()), ..self }
    }

    /// Whether it came out without qualification: no choice of ours, and no loose bound.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.choice.is_none() && self.loose.is_none()
    }
}

impl SizeVerdict {
    /// The comparison with the printed size; `choice` as in [`Judgement::printed`].
    #[must_use]
    pub fn judgement(&self, choice: Option<String>) -> Judgement {
        let outcome = if self.reproduced { Outcome::Reproduced } else { Outcome::Differs };
        Judgement { choice, ..Judgement::new(Kind::Printed, outcome, self.to_string()) }
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
        let verdict = Verdict::Reproduced { relative: 0.01, standard_errors: 0.5 };
        let plain = Judgement::printed(&verdict, None);
        let chosen = Judgement::printed(&verdict, Some("μ = 1".into()));
        assert!(plain.is_plain() && !chosen.is_plain());
        assert_eq!(chosen.to_string(), "reproduced (+1.0%, 0.5 se); with our choice of μ = 1");
        assert_eq!(Judgement::printed(&Verdict::not_run("no data"), None).outcome, Outcome::NotRun);
    }
}
