//! From the bytes of a cell to a number, or to what else it holds.

use mercer_core::{Cell, is_gap_mark, parse_instant};

/// Value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ParsedCell {
    /// A finite number.
    Number(f64),
    /// NaN, or another mark of a gap.
    Nan,
    /// An infinity, or digits beyond the largest double.
    NotFinite,
    /// Nothing but blanks.
    Empty,
    /// Anything else.
    Text,
}

/// The finite number that `text` begins with and how many bytes it takes. What follows is the
/// caller's to look at.
#[inline]
pub(crate) fn quick(text: &[u8]) -> Option<(f64, usize)> {
    fast_float2::parse_partial::<f64, _>(text).ok().filter(|(value, _)| value.is_finite())
}

/// Value of a cell, blanks around it aside.
pub(crate) fn parse(cell: &[u8]) -> ParsedCell {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return ParsedCell::Empty;
    }
    if let Some((value, length)) = quick(cell)
        && length == cell.len()
    {
        return ParsedCell::Number(value);
    }
    let Ok(text) = std::str::from_utf8(cell) else { return ParsedCell::Text };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => ParsedCell::Number(value),
        Ok(value) if value.is_nan() => ParsedCell::Nan,
        Ok(_) => ParsedCell::NotFinite,
        Err(_) if is_gap_mark(text) => ParsedCell::Nan,
        Err(_) => ParsedCell::Text,
    }
}

/// The cell that a text of a file is, if the text is no number: the text without the blanks around
/// it, or nothing.
pub fn text_cell(text: &str) -> Cell<'_> {
    let text = text.trim();
    if text.is_empty() { Cell::Missing } else { Cell::Text(text) }
}

/// Value of a cell that was read.
pub(crate) fn cell_kind(cell: Cell<'_>) -> ParsedCell {
    match cell {
        Cell::Missing => ParsedCell::Empty,
        Cell::Text(text) => parse(text.as_bytes()),
        _ => cell.number().map_or(ParsedCell::Text, ParsedCell::Number),
    }
}

/// True if a cell is a number, a date or empty.
pub(crate) fn is_value(cell: &[u8]) -> bool {
    match parse(cell) {
        ParsedCell::Text => std::str::from_utf8(cell).is_ok_and(|text| parse_instant(text.trim()).is_some()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells() {
        assert_eq!(parse(b" -1.5e308\t"), ParsedCell::Number(-1.5e308));
        assert_eq!(parse(b"+.5"), ParsedCell::Number(0.5));
        assert_eq!(parse(b"5e-324"), ParsedCell::Number(f64::from_bits(1)));
        for (text, kind) in [
            ("nan", ParsedCell::Nan),
            ("-NaN", ParsedCell::Nan),
            ("-inf", ParsedCell::NotFinite),
            ("Infinity", ParsedCell::NotFinite),
            ("1e309", ParsedCell::NotFinite),
        ] {
            assert_eq!(parse(text.as_bytes()), kind, "{text}");
            assert_eq!(quick(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"  "), ParsedCell::Empty);
        for text in ["1,5", "0x10", "1 2", "--1", "1_000", "é"] {
            assert_eq!(parse(text.as_bytes()), ParsedCell::Text, "{text}");
        }
        assert_eq!(parse(b"\xff"), ParsedCell::Text);
        assert_eq!(quick(b" 1"), None);
        assert_eq!(quick(b""), None);
        assert_eq!(quick(b"1.5e3,2"), Some((1500.0, 5)));
        assert!(quick(b"-0").is_some_and(|(zero, _)| zero.is_sign_negative()));
    }

    proptest! {
        /// The two parsers agree with the library's to the bit, so that it does not matter which
        /// way a row went.
        #[test]
        fn quick_and_careful_agree(bits: u64, digits in "-?[0-9]{1,25}(\\.[0-9]{0,25})?(e-?[0-9]{1,3})?") {
            for text in [f64::from_bits(bits).to_string(), format!("{:e}", f64::from_bits(bits)), digits] {
                match (parse(text.as_bytes()), quick(text.as_bytes())) {
                    (ParsedCell::Number(value), Some((quick, length))) => {
                        prop_assert_eq!((value.to_bits(), text.len()), (quick.to_bits(), length));
                        prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
                    }
                    (careful, quick) => {
                        prop_assert!(matches!(careful, ParsedCell::Nan | ParsedCell::NotFinite) && quick.is_none(), "{text}");
                    }
                }
            }
        }
    }
}
