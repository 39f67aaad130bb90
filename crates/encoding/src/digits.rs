//! Numbers in the digits and signs of other programs and scripts, as the usual programs write them:
//! `1.25D+02` of Fortran, `1.25*^2` of Mathematica, `1.5×10^3`, `–3` with a dash, `１２．５`, `١٢٫٥`,
//! and digits with characters between them that nobody sees.

use std::borrow::Cow;

/// The text as the usual programs write numbers; the same where it is written so. `O(bytes)`.
pub(crate) fn usual(text: &str) -> Cow<'_, str> {
    let begins = text.trim_start().starts_with(|c: char| !c.is_ascii_alphabetic());
    let shows = |byte: u8| !byte.is_ascii() || matches!(byte, b'D' | b'd' | b'^');
    if !begins || !text.bytes().any(shows) {
        return Cow::Borrowed(text);
    }
    let ascii: String = text.chars().filter_map(ascii).collect();
    match with_exponent(&ascii) {
        Some(number) => Cow::Owned(number),
        None if ascii != text => Cow::Owned(ascii),
        None => Cow::Borrowed(text),
    }
}

/// A character as ASCII has it; `None` for one that has no width.
fn ascii(c: char) -> Option<char> {
    let digit = |zero: char| char::from_digit(u32::from(c) - u32::from(zero), 10);
    match c {
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => None,
        '٠'..='٩' => digit('٠'),
        '۰'..='۹' => digit('۰'),
        '०'..='९' => digit('०'),
        '٫' => Some('.'),
        '٬' => Some(','),
        '‐' | '‑' | '‒' | '–' | '−' | '﹣' => Some('-'),
        '’' => Some('\''),
        // The full width of what ASCII has.
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{3000}' => Some(' '),
        c => Some(c),
    }
}

/// A number whose exponent stands behind another mark than `E`, with that; `None` for other texts.
/// `12D3` may be a code: Fortran writes a point.
fn with_exponent(text: &str) -> Option<String> {
    let mut marks = ["*^", "×10^", "x10^", "D", "d"].into_iter();
    let (digits, exponent, mark) = marks.find_map(|mark| text.split_once(mark).map(|(a, b)| (a, b, mark)))?;
    let (digits, exponent) = (digits.trim(), exponent.trim());
    let whole = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_exponent = (1..=3).contains(&whole.len()) && whole.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = digits.parse().is_ok_and(f64::is_finite) && (mark.len() > 1 || digits.contains('.'));
    (is_exponent && is_number).then(|| format!("{digits}E{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_programs_and_scripts() {
        for (text, number) in [
            ("1.25D+02", 125.0),
            ("-.5d0", -0.5),
            ("3.D-2", 0.03),
            ("1.25*^2", 125.0),
            ("1.5×10^3", 1500.0),
            ("1.5 x10^-3", 0.0015),
            ("–3.5", -3.5),
            ("\u{200b}12\u{200b}", 12.0),
            ("１２．５", 12.5),
            ("－３", -3.0),
            ("١٢٫٥", 12.5),
            ("۱۲", 12.0),
            ("१२", 12.0),
        ] {
            assert_eq!(usual(text).parse(), Ok(number), "{text}");
        }
        for text in ["12D3", "3D-2", "1.25", "1D", "D12", "5–10", "2.0-1", "3d printer", "12.5-2020", "x10^3"] {
            assert!(usual(text).parse::<f64>().is_err() || usual(text) == text, "{text}");
        }
    }
}
