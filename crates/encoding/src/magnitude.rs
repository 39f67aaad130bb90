//! Numbers with a word for thousands or millions behind them: `4.3M`, `$596K`, `1,2 Mio. €`.

use std::collections::HashSet;

use crate::numeral::{Affix, Numeral};

/// Letters, with what they multiply by. Small ones may be units, but for `k`.
const LETTERS: [(&str, f64); 4] = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("B", 1e9)];
/// Words, in any case.
const WORDS: [(&str, f64); 12] = [
    ("tsd", 1e3),
    ("thousand", 1e3),
    ("lakh", 1e5),
    ("mn", 1e6),
    ("mio", 1e6),
    ("million", 1e6),
    ("millions", 1e6),
    ("crore", 1e7),
    ("bn", 1e9),
    ("mrd", 1e9),
    ("billion", 1e9),
    ("trillion", 1e12),
];

/// A number apart from the word behind it.
#[derive(Debug, PartialEq)]
pub(crate) struct Magnitude {
    bare: String,
    /// The factor that the word stands for, 1 where there is none.
    factor: f64,
    /// True if the word can hardly be a unit or a part of a name.
    certain: bool,
}

impl Magnitude {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (digits, behind) = text.split_at(text.rfind(|c: char| c.is_ascii_digit())? + 1);
        let words = behind.trim_start();
        let end = words.find(|c: char| !c.is_alphabetic()).unwrap_or(words.len());
        let (word, rest) = words.split_at(end);
        let bare = format!("{digits}{}", rest.strip_prefix('.').unwrap_or(rest));
        let is_money = Affix::is_money(&bare);
        // `300 K` may be a temperature.
        let letter = || LETTERS.iter().find(|(known, _)| *known == word && (words == behind || is_money));
        let factor = WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).or_else(letter);
        Some(match factor {
            Some((known, factor)) => {
                Self { bare, factor: *factor, certain: known.len() > 1 || *factor == 1e3 || is_money }
            }
            None => Self { bare: text.to_owned(), factor: 1.0, certain: false },
        })
    }
}

/// Texts without their words, if these are words for how large a number is: `5K` in all rows is a
/// name or a unit, and so is `12B`.
pub(crate) fn without_words<'a>(texts: impl Iterator<Item = (&'a str, u64)>) -> Option<Vec<(String, u64)>> {
    let (mut all, mut factors, mut certain, mut money) = (Vec::new(), HashSet::new(), false, true);
    for (text, count) in texts {
        let Magnitude { bare, factor, certain: told } =
            Magnitude::parse(text).unwrap_or_else(|| Magnitude { bare: text.to_owned(), factor: 1.0, certain: false });
        certain |= told;
        money &= Affix::is_money(&bare);
        factors.insert(factor.to_bits());
        all.push((bare, count));
    }
    (certain && (factors.len() > 1 || money)).then_some(all)
}

impl Numeral {
    /// The number of a text that may have a word for thousands or millions behind its digits.
    pub(crate) fn read_magnitude(&self, text: &str) -> Option<f64> {
        let Magnitude { bare, factor, .. } = Magnitude::parse(text)?;
        self.read_on(&bare).map(|number| number * factor).filter(|number| number.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_from_numbers() {
        let bare = |text: &str| Magnitude::parse(text).map(|read| format!("{} * {}", read.bare, read.factor));
        for (text, read) in [
            ("4.3M", "4.3 * 1000000"),
            ("$596K", "$596 * 1000"),
            ("1,2 Mio. €", "1,2 € * 1000000"),
            ("(1.5 bn)", "(1.5) * 1000000000"),
            ("12 kg", "12 kg * 1"),
            ("300 K", "300 K * 1"),
            ("$1.2 B", "$1.2 * 1000000000"),
            ("CHF 1.2 MILLION", "CHF 1.2 * 1000000"),
            ("7", "7 * 1"),
        ] {
            assert_eq!(bare(text).as_deref(), Some(read), "{text}");
        }
        assert_eq!(bare("none"), None);
    }

    #[test]
    fn a_letter_alone_is_no_word() {
        let told = |texts: &[&str]| without_words(texts.iter().map(|text| (*text, 1))).is_some();
        assert!(
            told(&["19M", "201k"]) && told(&["950", "1.2k"]) && told(&["$4.3M", "USD 2M"]) && told(&["3 million", "7"])
        );
        assert!(!told(&["5K", "10K"]) && !told(&["1B", "2B", "12"]) && !told(&["12 kg", "3"]) && !told(&["$5", "$7"]));
    }
}
