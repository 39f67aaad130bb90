//! How surprising a text is beside those of some rows.

use std::collections::BTreeMap;

use mercer_core::{Cell, Entry, Inconsistent, Validate};

use crate::key::Key;
use crate::notation::is_gap;
use crate::schema::{Column, Kind};
use crate::words::{list_of, words};

/// Words that are counted at most, and their bytes; words of a cell.
const MOST_WORDS: usize = 10_000;
const LONGEST_WORD: usize = 64;
const MOST_OF_CELL: usize = 1000;
/// Count of a word that no row has, for its share.
const UNMET: f64 = 0.5;

/// The words of texts with their counts; of lists, their members and names.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WordShares {
    counts: BTreeMap<String, u32>,
    /// Words met, with those that are not counted.
    all: u64,
    /// True where texts may be written lists.
    lists: bool,
}

impl WordShares {
    /// Those of a column, before any row.
    pub(super) fn new(column: &Column) -> Self {
        Self { lists: column.kind == Kind::List, ..Self::default() }
    }

    /// The words of a cell, in lower case: of a list each member, and of an object each name, with
    /// its text if it has one.
    pub(super) fn words(&self, cell: Cell<'_>) -> Vec<String> {
        let is_list = self.lists || matches!(cell, Cell::List(_));
        if let Some(list) = is_list.then(|| list_of(cell)).flatten() {
            let word = |entry: Entry<'_>| match entry {
                Entry::Name(name) | Entry::Number(name, _) => name.trim().to_lowercase(),
                Entry::Text(name, text) => format!("{name}={text}").to_lowercase(),
            };
            return list.entries().take(MOST_OF_CELL).map(word).collect();
        }
        let text = Key::from_cell(cell).filter(|_| !is_gap(cell)).map(|key| key.as_str().to_lowercase());
        let text = text.unwrap_or_default();
        match self.lists {
            true => Some(text.trim().to_owned()).filter(|one| !one.is_empty()).into_iter().collect(),
            false => words(&text).take(MOST_OF_CELL).map(str::to_owned).collect(),
        }
    }

    /// Counts the words of a cell.
    pub(super) fn learn(&mut self, words: &[String]) {
        self.all += words.len() as u64;
        for word in words {
            if let Some(count) = self.counts.get_mut(word) {
                *count += 1;
            } else if self.counts.len() < MOST_WORDS && word.len() <= LONGEST_WORD {
                self.counts.insert(word.clone(), 1);
            }
        }
    }

    /// The mean of `−log₂` of the shares of a cell's words, in bits: of a word met `n` times in `N`
    /// words `n/N`, of one that was not `½/N`. None without a word. `O(words)` searches.
    pub(super) fn surprise(&self, words: &[String]) -> Option<f64> {
        self.surprise_less(words, &BTreeMap::new(), 0)
    }

    /// The same of a cell whose words are among those counted, by those of the other cells.
    pub(super) fn surprise_by_others(&self, words: &[String]) -> Option<f64> {
        let mut own = BTreeMap::new();
        words.iter().for_each(|word| *own.entry(word.as_str()).or_default() += 1);
        self.surprise_less(words, &own, words.len() as u64)
    }

    /// By the counts less `own`, which are so many in all.
    fn surprise_less(&self, words: &[String], own: &BTreeMap<&str, u32>, number: u64) -> Option<f64> {
        let all = self.all.saturating_sub(number).max(1) as f64;
        let one = |word: &String| {
            let own = own.get(word.as_str()).copied().unwrap_or(0);
            let others = self.counts.get(word).map_or(0, |count| count.saturating_sub(own));
            (all / f64::from(others).max(UNMET)).log2()
        };
        (!words.is_empty()).then(|| words.iter().map(one).sum::<f64>() / words.len() as f64)
    }
}

impl Validate for WordShares {
    fn validate(&self) -> Result<(), Inconsistent> {
        let counted: u64 = self.counts.values().map(|count| u64::from(*count)).sum();
        let right = self.counts.len() <= MOST_WORDS && counted <= self.all;
        Inconsistent::require(right, "words of texts", "those counted are among those met")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprise(shares: &WordShares, text: &str) -> Option<f64> {
        shares.surprise(&shares.words(Cell::Text(text)))
    }

    fn learnt(mut shares: WordShares, texts: &[&str]) -> WordShares {
        for text in texts {
            let words = shares.words(Cell::Text(text));
            shares.learn(&words);
        }
        shares
    }

    #[test]
    fn surprise_is_the_mean_of_logarithms_of_shares() {
        assert_eq!(surprise(&WordShares::default(), "red"), Some(1.0), "half of one");
        let texts = ["Red fish", "blue fish", "", "red car!"];
        let shares = learnt(WordShares::default(), &texts);
        // red 2, fish 2, blue, car, !: 7 words.
        for (text, shares_of_words) in [
            ("RED", &[2.0 / 7.0][..]),
            ("fish blue", &[2.0 / 7.0, 1.0 / 7.0]),
            ("car, red", &[1.0 / 7.0, 0.5 / 7.0, 2.0 / 7.0]),
            ("cow", &[0.5 / 7.0]),
        ] {
            let mean =
                shares_of_words.iter().map(|share: &f64| -share.log2()).sum::<f64>() / shares_of_words.len() as f64;
            let found = surprise(&shares, text).unwrap();
            assert!((found - mean).abs() < 1e-14, "{text}: {found} and {mean}");
        }
        for gap in ["", "  "] {
            assert_eq!(surprise(&shares, gap), None);
        }
        assert!(shares.validate().is_ok() && WordShares { all: 0, ..shares }.validate().is_err());
    }

    #[test]
    fn a_text_that_is_counted_is_judged_by_the_others() {
        let texts = ["red fish", "blue fish fish", "red car"];
        let shares = learnt(WordShares::default(), &texts);
        for (place, text) in texts.into_iter().enumerate() {
            let others: Vec<&str> = (0..3).filter(|other| *other != place).map(|other| texts[other]).collect();
            let alone = learnt(WordShares::default(), &others);
            assert_eq!(shares.surprise_by_others(&shares.words(Cell::Text(text))), surprise(&alone, text), "{text}");
        }
    }

    #[test]
    fn members_of_lists_are_whole() {
        let lists = WordShares { lists: true, ..WordShares::default() };
        let lists = learnt(lists, &["[\"A b\", \"c\"]", "{\"c\": 2, \"d\": \"e\"}"]);
        // a b, c 2, d=e.
        assert_eq!(surprise(&lists, "[\"c\"]"), Some((4.0_f64 / 2.0).log2()));
        assert_eq!(surprise(&lists, "[\"a b\"]"), Some(4.0_f64.log2()));
        assert_eq!(surprise(&lists, "A b"), Some(4.0_f64.log2()), "a list of one");
    }
}
