//! Tokens: words, categories, members of lists, and cells of sparse rows, each a 64-bit key and a
//! number.
//!
//! Keys are hashes, made by [`KeyHash`], which are the same on every machine and in every version.
//! Two texts share one with a probability of about `n²/2⁶⁵` among `n` texts.

/// The factor of [`mixed`].
const MIXER: u64 = 0xd6e8_feb8_6659_fd93;
/// The factor of the number of a column.
const COLUMNS: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key with its number.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token {
    /// The hash of what it stands for.
    pub key: u64,
    /// Its number: 1 for a category.
    pub value: f64,
}

/// The tokens of a row, each key once: what is no number, what is one, and the factors of which
/// products are made.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TokenRow {
    texts: Vec<Token>,
    numbers: Vec<Token>,
    factors: Vec<Token>,
}

impl TokenRow {
    /// Fills the row anew: `fill` appends texts, numbers and factors. They are put in the order of
    /// their keys; equal keys become one with the sum of their numbers. No key is one of texts and
    /// of numbers.
    pub fn fill(&mut self, fill: impl FnOnce([&mut Vec<Token>; 3])) {
        let Self { texts, numbers, factors } = self;
        [&mut *texts, &mut *numbers, &mut *factors].into_iter().for_each(Vec::clear);
        fill([texts, numbers, factors]);
        [texts, numbers, factors].into_iter().for_each(add_equal);
    }

    /// Fills the row anew with the cells of a sparse row: columns from 0, each with its number, of
    /// which those that are 0 say nothing. Each is a text and a factor.
    pub fn fill_sparse(&mut self, cells: impl Iterator<Item = (u64, f64)>) {
        self.fill(|[all, _, factors]| {
            let cells = cells.filter(|(_, value)| *value != 0.0);
            all.extend(cells.map(|(column, value)| Token { key: column_key(column), value }));
            factors.extend_from_slice(all);
        });
    }

    /// All that the row says.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        self.texts.iter().chain(&self.numbers).copied()
    }

    /// Words, categories and cells of sparse rows, in the order of the keys.
    #[must_use]
    pub fn texts(&self) -> &[Token] {
        &self.texts
    }

    /// Numbers and their bins, in the order of the keys.
    #[must_use]
    pub fn numbers(&self) -> &[Token] {
        &self.numbers
    }

    /// The factors of products, in the order of the keys.
    #[must_use]
    pub fn factors(&self) -> &[Token] {
        &self.factors
    }
}

/// Sorts tokens by their keys and adds those of one key.
pub fn add_equal(tokens: &mut Vec<Token>) {
    tokens.sort_by_key(|token| token.key);
    tokens.dedup_by(|next, kept| {
        let equal = next.key == kept.key;
        if equal {
            kept.value += next.value;
        }
        equal
    });
}

/// The tables whose rows have tokens, of those that a learner takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TokenUse {
    /// None.
    #[default]
    Never,
    /// Those with a column of texts, of lists, or of more categories than have a number of their
    /// own.
    WithTexts,
    /// All.
    Always,
}

/// A hash of the parts of a key, one after the other: FNV-1a with a byte 31 between parts, mixed at
/// the end.
///
/// ```
/// use mercer_core::KeyHash;
///
/// let words_of_title = KeyHash::new("title").part("w");
/// assert_ne!(words_of_title.part("red").key(), words_of_title.part("blue").key());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyHash(u64);

impl KeyHash {
    /// The hash of a first part.
    #[must_use]
    pub fn new(part: &str) -> Self {
        Self(0xcbf2_9ce4_8422_2325).with(part.as_bytes())
    }

    /// The hash with another part behind it.
    #[must_use]
    pub fn part(self, part: &str) -> Self {
        self.with(&[31]).with(part.as_bytes())
    }

    /// The hash with a number behind it.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.with(&[30]).with(&number.to_le_bytes())
    }

    fn with(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// The key.
    #[must_use]
    pub fn key(self) -> u64 {
        mixed(self.0)
    }
}

/// The key of numeric column `column`, from 0.
#[must_use]
pub fn column_key(column: u64) -> u64 {
    mixed(column.wrapping_add(1).wrapping_mul(COLUMNS))
}

/// The numeric column with that key, from 0: the inverse of [`column_key`].
#[must_use]
pub fn column_of_key(key: u64) -> u64 {
    // Each factor is odd, and a shift by half of the bits is its own inverse.
    let hash = (key ^ (key >> 32)).wrapping_mul(inverse(MIXER));
    (hash ^ (hash >> 32)).wrapping_mul(inverse(COLUMNS)).wrapping_sub(1)
}

/// The inverse of an odd number modulo 2⁶⁴, by Newton's method.
const fn inverse(odd: u64) -> u64 {
    // The square of an odd number is 1 modulo 8, and each step doubles the bits that are right.
    let mut made = odd;
    let mut bits = 3;
    while bits < 64 {
        made = made.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(made)));
        bits *= 2;
    }
    made
}

/// Spreads every bit of a hash over all of them.
#[must_use]
pub fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(MIXER);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_add_in_the_order_of_keys() {
        let mut row = TokenRow::default();
        row.fill(|[texts, numbers, factors]| {
            texts.extend([(5, 1.0), (2, 0.5), (5, 2.0)].map(|(key, value)| Token { key, value }));
            numbers.push(Token { key: 1, value: -1.0 });
            factors.push(Token { key: 9, value: 1.0 });
        });
        assert_eq!(row.texts(), [Token { key: 2, value: 0.5 }, Token { key: 5, value: 3.0 }]);
        assert_eq!(row.tokens().map(|token| token.key).collect::<Vec<_>>(), [2, 5, 1]);
        assert_eq!(row.factors(), [Token { key: 9, value: 1.0 }]);
        row.fill(|_| ());
        assert_eq!(row, TokenRow::default());
    }

    /// Files hold keys, so they stay what they are.
    #[test]
    fn keys_are_fixed() {
        let key = |parts: [&str; 3]| KeyHash::new(parts[0]).part(parts[1]).part(parts[2]).key();
        assert_eq!(key(["title", "w", "red"]), 0x7039_0b60_f1f1_cbf8);
        assert_eq!(column_key(0), 0x17fb_89ee_9dca_b42a);
        assert_ne!(KeyHash::new("ab").part("c"), KeyHash::new("a").part("bc"));
        for column in (0..5000).chain([1 << 31, (1 << 53) + 1, u64::MAX - 1, u64::MAX]) {
            assert_eq!(column_of_key(column_key(column)), column);
        }
    }
}
