//! Costs of a round, in time and in memory: sums of products of sizes, which a program can compute
//! with and a reader can read.

use std::fmt::{self, Write as _};

/// A size on which a cost depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symbol {
    /// `t`, the round.
    Round,
    /// `d`, the features of an input.
    Features,
    /// `J`, the points of a dictionary.
    Dictionary,
    /// `D`, random frequencies.
    Frequencies,
    /// `B`, the points of a fixed number.
    Budget,
    /// `k`, a rank.
    Rank,
    /// `r`, Taylor features.
    Taylor,
    /// `m`, outputs.
    Outputs,
    /// `P`, kernels of one learner.
    Kernels,
    /// `p`, examples in a window.
    Window,
    /// Multiply-adds that may be spent.
    Operations,
}

impl Symbol {
    /// Text of the symbol.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Round => "t",
            Self::Features => "d",
            Self::Dictionary => "J",
            Self::Frequencies => "D",
            Self::Budget => "B",
            Self::Rank => "k",
            Self::Taylor => "r",
            Self::Outputs => "m",
            Self::Kernels => "P",
            Self::Window => "p",
            Self::Operations => "budget",
        }
    }
}

/// A number times sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The number, shown in eighths.
    pub factor: f64,
    /// The sizes; one that is written twice in a row is squared.
    pub symbols: &'static [Symbol],
}

impl Term {
    fn value(&self, size: &impl Fn(Symbol) -> f64) -> f64 {
        self.symbols.iter().fold(self.factor, |product, symbol| product * size(*symbol))
    }
}

/// A number of operations or of stored numbers. [`cost!`](crate::cost) writes one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cost {
    /// A sum.
    Sum(&'static [Term]),
    /// A size times a sum.
    Times(Symbol, &'static [Term]),
    /// That of the members of a mixture.
    Members,
}

impl Cost {
    /// Value of the cost for these sizes; `None` when it depends on members.
    #[must_use]
    pub fn value(&self, size: impl Fn(Symbol) -> f64) -> Option<f64> {
        let sum = |terms: &[Term]| terms.iter().map(|term| term.value(&size)).sum::<f64>();
        match self {
            Self::Sum(terms) => Some(sum(terms)),
            Self::Times(symbol, terms) => Some(size(*symbol) * sum(terms)),
            Self::Members => None,
        }
    }

    /// True if it grows with the rounds.
    #[must_use]
    pub fn grows(&self) -> bool {
        let within = |terms: &[Term]| terms.iter().any(|term| term.symbols.contains(&Symbol::Round));
        match self {
            Self::Sum(terms) => within(terms),
            Self::Times(symbol, terms) => *symbol == Symbol::Round || within(terms),
            Self::Members => false,
        }
    }
}

impl fmt::Display for Cost {
    /// As in a paper: `Jd + 2½J²`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        match self {
            Self::Sum(terms) => write_sum(&mut text, terms)?,
            Self::Times(symbol, terms) => {
                write!(text, "{}(", symbol.text())?;
                write_sum(&mut text, terms)?;
                text.push(')');
            }
            Self::Members => text.push_str("the members'"),
        }
        f.pad(&text)
    }
}

fn write_sum(text: &mut String, terms: &[Term]) -> fmt::Result {
    for (i, term) in terms.iter().enumerate() {
        text.push_str(if i == 0 { "" } else { " + " });
        write_term(text, term)?;
    }
    Ok(())
}

fn write_term(text: &mut String, term: &Term) -> fmt::Result {
    const EIGHTHS: [&str; 8] = ["", "⅛", "¼", "⅜", "½", "⅝", "¾", "⅞"];
    let (whole, eighths) = (term.factor.trunc(), term.factor.fract() * 8.0);
    if term.factor != 1.0 {
        match EIGHTHS.get(eighths as usize) {
            Some(fraction) if eighths.fract() == 0.0 && whole == 0.0 => text.push_str(fraction),
            Some(fraction) if eighths.fract() == 0.0 => write!(text, "{whole}{fraction}")?,
            _ => write!(text, "{}", term.factor)?,
        }
    }
    let mut last = None;
    for symbol in term.symbols {
        let word = symbol.text();
        if last == Some(symbol) {
            text.push('²');
            last = None;
            continue;
        }
        if word.len() > 1 && !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        text.push_str(word);
        last = Some(symbol);
    }
    Ok(())
}

/// A [`Cost`]: terms of a number and sizes, separated by commas, or `t * (…)` for a size times such
/// a sum.
///
/// ```
/// use mercer_core::{Symbol, cost};
///
/// let memory = cost!(1.0 t d, 0.5 t t);
/// assert_eq!(memory.to_string(), "td + ½t²");
/// assert!(memory.grows());
/// assert_eq!(memory.value(|size| if size == Symbol::Round { 100.0 } else { 3.0 }), Some(5300.0));
/// assert_eq!(cost!(t * (1.0 d, 1.0 J)).to_string(), "t(d + J)");
/// ```
#[macro_export]
macro_rules! cost {
    (@ t) => { $crate::Symbol::Round };
    (@ d) => { $crate::Symbol::Features };
    (@ J) => { $crate::Symbol::Dictionary };
    (@ D) => { $crate::Symbol::Frequencies };
    (@ B) => { $crate::Symbol::Budget };
    (@ k) => { $crate::Symbol::Rank };
    (@ r) => { $crate::Symbol::Taylor };
    (@ m) => { $crate::Symbol::Outputs };
    (@ P) => { $crate::Symbol::Kernels };
    (@ p) => { $crate::Symbol::Window };
    (@ budget) => { $crate::Symbol::Operations };
    (@ $($factor:literal $($symbol:ident)+),+) => {
        &[$($crate::Term { factor: $factor, symbols: &[$($crate::cost!(@ $symbol)),+] }),+]
    };
    ($each:ident * ($($sum:tt)+)) => { $crate::Cost::Times($crate::cost!(@ $each), $crate::cost!(@ $($sum)+)) };
    ($($sum:tt)+) => { $crate::Cost::Sum($crate::cost!(@ $($sum)+)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_written_as_in_a_paper() {
        for (cost, text, grows) in [
            (cost!(1.0 t d), "td", true),
            (cost!(1.0 J d, 2.5 J J), "Jd + 2½J²", false),
            (cost!(1.0 D d, 4.0 D), "Dd + 4D", false),
            (cost!(1.5 r r), "1½r²", false),
            (cost!(0.625 budget), "⅝ budget", false),
            (cost!(1.0 budget), "budget", false),
            (cost!(0.3 t), "0.3t", true),
            (cost!(t * (1.0 d, 1.0 J)), "t(d + J)", true),
            (Cost::Members, "the members'", false),
        ] {
            assert_eq!((cost.to_string().as_str(), cost.grows()), (text, grows));
        }
    }

    #[test]
    fn values_by_hand() {
        let size = |symbol| match symbol {
            Symbol::Round => 10.0,
            Symbol::Features => 3.0,
            _ => 2.0,
        };
        assert_eq!(cost!(1.0 t d, 0.5 t t).value(size), Some(80.0));
        assert_eq!(cost!(t * (1.0 d, 1.0 J)).value(size), Some(50.0));
        assert_eq!(Cost::Members.value(size), None);
    }
}
