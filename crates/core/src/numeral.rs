//! Numbers with marks among their digits: before a fraction, and between groups of three.

/// Punctuation of a number that has marks. A single group behind a point or a comma may be a
/// fraction as well: [`doubt`](Self::doubt).
///
/// | text | `decimal` | `groups` |
/// |---|---|---|
/// | `12.5` | point | |
/// | `1.234,5` | comma | point |
/// | `1 234 567` | | blank |
/// | `1,234` | | comma, in doubt |
/// | `12,34,567` | | comma, as in India |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punctuation {
    /// Mark before its fraction: a point or a comma.
    pub decimal: Option<char>,
    /// Mark between its groups: a point, a comma, a blank or an apostrophe.
    pub groups: Option<char>,
    /// True if there are three groups or more.
    pub several: bool,
}

/// The mark that a symbol is: the fixed and the thin blanks are blanks, and so for apostrophes.
fn mark(symbol: char) -> Option<char> {
    match symbol {
        '.' | ',' => Some(symbol),
        ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => Some(' '),
        '\'' | '\u{2019}' => Some('\''),
        _ => None,
    }
}

/// True if a mark may stand before a fraction.
fn is_decimal(mark: char) -> bool {
    matches!(mark, '.' | ',')
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

impl Punctuation {
    /// That of a text; `None` for what is no number, or has no mark. A sign may stand before the
    /// digits, an exponent behind a fraction. `O(text)`.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, mut rest) = text.split_at(digits(text));
        // A leading 0 is no thousands.
        let grouped = matches!(whole.as_bytes(), [b'1'..=b'9'] | [b'1'..=b'9', _] | [b'1'..=b'9', _, _]);
        let (mut decimal, mut groups, mut several, mut fraction) = (None, None, false, 0);
        // Groups of two are before the last, which is of three; none stands behind that.
        let (mut pairs, mut closed) = (false, false);
        while let Some(symbol) = rest.chars().next().filter(|symbol| !matches!(symbol, 'e' | 'E')) {
            let mark = mark(symbol)?;
            let behind = &rest[symbol.len_utf8()..];
            let (behind, next) = behind.split_at(digits(behind));
            let groups_so = grouped && decimal.is_none() && groups.is_none_or(|groups| groups == mark) && !closed;
            let begins = groups.is_none() && whole.len() < 3;
            if groups_so && behind.len() == 2 && mark == ',' && (begins || pairs) && next.starts_with(',') {
                (groups, pairs, several) = (Some(mark), true, true);
            } else if groups_so && behind.len() == 3 {
                several |= groups.is_some();
                groups = Some(mark);
                closed = pairs;
            } else if decimal.is_none() && groups != Some(mark) && is_decimal(mark) {
                decimal = Some(mark);
                fraction = behind.len();
            } else {
                return None;
            }
            rest = next;
        }
        let written = Self { decimal, groups, several };
        if (decimal.is_none() && groups.is_none()) || whole.len() + fraction == 0 {
            return None;
        }
        if rest.is_empty() {
            return Some(written);
        }
        // An exponent stands behind a fraction.
        let exponent = rest[1..].strip_prefix(['-', '+']).unwrap_or(&rest[1..]);
        let is_exponent = !exponent.is_empty() && digits(exponent) == exponent.len();
        match written.doubt() {
            Some(_) => Some(written.with_fraction()),
            None => groups.is_none().then_some(written),
        }
        .filter(|_| is_exponent)
    }

    /// The mark, if it may as well stand before a fraction.
    #[must_use]
    pub fn doubt(self) -> Option<char> {
        let alone = self.decimal.is_none() && !self.several;
        self.groups.filter(|groups| alone && is_decimal(*groups))
    }

    /// The same with its only mark before a fraction.
    #[must_use]
    pub fn with_fraction(self) -> Self {
        Self { decimal: self.groups.filter(|mark| is_decimal(*mark)), groups: None, several: false }
    }

    /// Mark before the fractions of a file with that number, if it tells.
    #[must_use]
    pub fn shows(self) -> Option<char> {
        match (self.decimal, self.groups) {
            (Some(mark), _) => Some(mark),
            (None, Some('.')) if self.several => Some(','),
            (None, Some(',')) if self.several => Some('.'),
            (None, _) => None,
        }
    }

    /// The finite number that a text of this punctuation is. `O(text)`, without touching the heap.
    #[must_use]
    pub fn value(self, text: &str) -> Option<f64> {
        /// Longer numbers are nobody's.
        const LONGEST: usize = 512;
        let (mut plain, mut length) = ([0; LONGEST], 0);
        for symbol in text.chars() {
            let byte = match mark(symbol) {
                Some(mark) if Some(mark) == self.groups => continue,
                Some(_) => b'.',
                None => u8::try_from(symbol).ok().filter(u8::is_ascii)?,
            };
            *plain.get_mut(length)? = byte;
            length += 1;
        }
        let value: f64 = std::str::from_utf8(&plain[..length]).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_values() {
        for (text, decimal, groups, value) in [
            ("12.5", Some('.'), None, 12.5),
            ("-1.234,5", Some(','), Some('.'), -1234.5),
            ("1 234 567", None, Some(' '), 1_234_567.0),
            ("1\u{2009}234,25", Some(','), Some(' '), 1234.25),
            ("12’345.5", Some('.'), Some('\''), 12_345.5),
            ("1,234", None, Some(','), 1234.0),
            ("0,123", Some(','), None, 0.123),
            (",5", Some(','), None, 0.5),
            ("1,5e3", Some(','), None, 1500.0),
            ("1,23,456", None, Some(','), 123_456.0),
            ("12,34,567.5", Some('.'), Some(','), 1_234_567.5),
        ] {
            let written = Punctuation::detect(text).unwrap();
            assert_eq!((written.decimal, written.groups), (decimal, groups), "{text}");
            assert_eq!(written.value(text), Some(value), "{text}");
        }
        assert_eq!(
            Punctuation::detect("1,234").map(|written| (written.doubt(), written.with_fraction().value("1,234"))),
            { Some((Some(','), Some(1.234))) }
        );
        for text in [
            "12",
            "1.2.3",
            "1.23.456",
            "1,23,45",
            "123,45,678",
            "1,234,56,789",
            "1,23,456,789",
            "1 23",
            "a",
            "1,5e",
            "192.168.100.2",
            "",
            ".",
            "1'5",
        ] {
            assert_eq!(Punctuation::detect(text), None, "{text}");
        }
        assert_eq!(
            ["1.234.567", "1,234,567", "1,234"].map(|text| Punctuation::detect(text).and_then(Punctuation::shows)),
            [Some(','), Some('.'), None]
        );
    }
}
