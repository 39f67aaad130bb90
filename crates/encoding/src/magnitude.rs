//! Numbers with a word for thousands or millions behind them: `4.3M`, `$596K`, `1,2 Mio. €`.

use std::collections::HashSet;

use crate::numeral::Numeral;

/// The words, with what they multiply by. A single letter in small case may be a unit, but for `k`.
const MULTIPLIERS: [(&str, f64); 22] = [
    ("k", 1e3),
    ("K", 1e3),
    ("tsd", 1e3),
    ("Tsd", 1e3),
    ("thousand", 1e3),
    ("lakh", 1e5),
    ("M", 1e6),
    ("mn", 1e6),
    ("Mn", 1e6),
    ("mio", 1e6),
    ("Mio", 1e6),
    ("million", 1e6),
    ("Million", 1e6),
    ("millions", 1e6),
    ("crore", 1e7),
    ("B", 1e9),
    ("bn", 1e9),
    ("Bn", 1e9),
    ("mrd", 1e9),
    ("Mrd", 1e9),
    ("billion", 1e9),
    ("trillion", 1e12),
];

/// A number without its word, and what the word multiplies by: 1 where there is none.
pub(crate) fn split(text: &str) -> Option<(String, f64)> {
    let text = text.trim();
    let (digits, behind) = text.split_at(text.rfind(|c: char| c.is_ascii_digit())? + 1);
    let words = behind.trim_start();
    let end = words.find(|c: char| !c.is_alphabetic()).unwrap_or(words.len());
    let (word, rest) = words.split_at(end);
    // `300 K` may be a temperature.
    let may_be_unit = word.len() == 1 && words.len() < behind.len() && !text.contains(CURRENCIES);
    let known = MULTIPLIERS.into_iter().find(|(known, _)| *known == word && !may_be_unit);
    Some(match known {
        Some((_, factor)) => (format!("{digits}{}", rest.strip_prefix('.').unwrap_or(rest)), factor),
        None => (text.to_owned(), 1.0),
    })
}

/// Texts without their words, if these are words for how large a number is: `5K` in all rows is a
/// name or a unit, and so is `12B`.
pub(crate) fn without_words<'a>(texts: impl Iterator<Item = (&'a str, u64)>) -> Option<Vec<(String, u64)>> {
    let (mut bare, mut factors, mut told) = (Vec::new(), HashSet::new(), false);
    for (text, count) in texts {
        let (rest, factor) = split(text).unwrap_or_else(|| (text.to_owned(), 1.0));
        if factor != 1.0 {
            let word = text.trim_end_matches('.').chars().rev().take_while(|c| c.is_alphabetic()).count() > 1;
            told |= word || factor == 1e3 || text.contains(CURRENCIES);
        }
        factors.insert(factor.to_bits());
        bare.push((rest, count));
    }
    let money = factors.len() == 1 && bare.iter().all(|(rest, _)| rest.contains(CURRENCIES));
    (told && (factors.len() > 1 || money)).then_some(bare)
}

const CURRENCIES: [char; 7] = ['$', '€', '£', '¥', '₹', '₽', '₩'];

impl Numeral {
    /// The number of a text that may have a word for thousands or millions behind its digits.
    pub(crate) fn read_magnitude(&self, text: &str) -> Option<f64> {
        let (bare, factor) = split(text)?;
        self.read_on(&bare).map(|number| number * factor).filter(|number| number.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_from_numbers() {
        let bare = |text: &str| split(text).map(|(rest, factor)| format!("{rest} * {factor}"));
        for (text, read) in [
            ("4.3M", "4.3 * 1000000"),
            ("$596K", "$596 * 1000"),
            ("1,2 Mio. €", "1,2 € * 1000000"),
            ("(1.5 bn)", "(1.5) * 1000000000"),
            ("12 kg", "12 kg * 1"),
            ("300 K", "300 K * 1"),
            ("$1.2 B", "$1.2 * 1000000000"),
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
            told(&["19M", "201k"]) && told(&["950", "1.2k"]) && told(&["$4.3M", "$2M"]) && told(&["3 million", "7"])
        );
        assert!(!told(&["5K", "10K"]) && !told(&["1B", "2B", "12"]) && !told(&["12 kg", "3"]) && !told(&["$5", "$7"]));
    }
}
