//! Separators of a delimited text and marks in its numbers, as they may be told.

use std::fmt;
use std::str::FromStr;

use crate::error::{DataError, DialectError};

/// Most lines that a record in quotes may go over. A stray quote would otherwise swallow the file.
pub(crate) const LONGEST_RECORD: usize = 100;

/// Names by which the values of a type are told. The first of them is the one that is written.
macro_rules! named {
    ($type:ident: $($value:ident = $name:literal $(| $other:literal)*),+; $refusal:literal) => {
        impl std::str::FromStr for $type {
            type Err = $crate::error::DataError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($name $(| $other)* => Ok(Self::$value),)+
                    _ => Err($crate::error::DialectError::UnknownName { name: text.to_owned(), why: $refusal }.into()),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$value => $name,)+
                })
            }
        }
    };
}

pub(crate) use named;

named!(Decimal: Point = "point" | ".", Comma = "comma" | ","; "is not a decimal mark; they are point and comma");
named!(
    Thousands: Point = "point" | ".", Comma = "comma" | ",", Blank = "blank" | " ", Apostrophe = "apostrophe" | "'",
    Nothing = "none";
    "is not a mark between thousands; they are point, comma, blank, apostrophe and none"
);

/// Separator between two cells of a CSV file. A TSV file has tabs unless the options say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Separator {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Bar,
    /// Any number of blanks and tabs; those at the beginning and the end of a line separate
    /// nothing.
    Spaces,
    /// Another character of ASCII: `~`, `^`, `:`, or the control character 0x1F.
    Other(u8),
    /// A character of ASCII that is written twice: `::`, `||`.
    Twice(u8),
}

impl Separator {
    /// Separators that are looked for. The one that is rather a separator than the others is first.
    pub(crate) const ALL: [Self; 5] = [Self::Tab, Self::Semicolon, Self::Bar, Self::Comma, Self::Spaces];

    /// True if `byte` separates.
    #[inline]
    pub(crate) fn is(self, byte: u8) -> bool {
        byte == self.byte() || (self == Self::Spaces && byte == b'\t')
    }

    /// The byte that separates; of several the usual one.
    #[inline]
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Bar => b'|',
            Self::Spaces => b' ',
            Self::Other(byte) | Self::Twice(byte) => byte,
        }
    }

    /// Number of bytes that it is written with.
    pub(crate) fn length(self) -> usize {
        1 + usize::from(matches!(self, Self::Twice(_)))
    }

    /// The place where it stands first in `text`.
    #[inline]
    pub(crate) fn find(self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Twice(byte) => text.windows(2).position(|two| two == [byte; 2]),
            _ => text.iter().position(|&byte| self.is(byte)),
        }
    }

    /// The separator that these characters are: one that no number, name or quote has.
    fn of_characters(text: &str) -> Option<Self> {
        let byte = |text: &str| match text.as_bytes() {
            [byte @ (1..=8 | 0x0b..=0x0c | 0x0e..=0x1f)] => Some(*byte),
            [byte] if byte.is_ascii_punctuation() && !b"\"'.+-_#\\".contains(byte) => Some(*byte),
            _ => None,
        };
        match text.strip_prefix("\\x") {
            Some(digits) => byte(std::str::from_utf8(&[u8::from_str_radix(digits, 16).ok()?]).ok()?).map(Self::Other),
            None if text.len() == 2 && text[..1] == text[1..] => byte(&text[..1]).map(Self::Twice),
            None => byte(text).map(Self::Other),
        }
    }
}

impl FromStr for Separator {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        const WHY: &str =
            "is not a separator; they are comma, semicolon, tab, bar, spaces, or a mark such as ~, ::, \\x1f";
        Ok(match text {
            "comma" | "," => Self::Comma,
            "semicolon" | ";" => Self::Semicolon,
            "tab" | "\t" | "\\t" => Self::Tab,
            "bar" | "|" => Self::Bar,
            "spaces" | " " | "space" => Self::Spaces,
            _ if !text.is_ascii() => return Err(DialectError::UnknownName { name: text.to_owned(), why: WHY }.into()),
            _ => Self::of_characters(text)
                .ok_or_else(|| DialectError::UnknownName { name: text.to_owned(), why: WHY })?,
        })
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Comma => f.write_str("comma"),
            Self::Semicolon => f.write_str("semicolon"),
            Self::Tab => f.write_str("tab"),
            Self::Bar => f.write_str("bar"),
            Self::Spaces => f.write_str("spaces"),
            Self::Other(byte) if byte.is_ascii_control() => write!(f, "\\x{byte:02x}"),
            Self::Other(byte) => write!(f, "{}", char::from(*byte)),
            Self::Twice(byte) => write!(f, "{0}{0}", char::from(*byte)),
        }
    }
}

/// Mark before the fraction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Decimal {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

impl Decimal {
    /// The mark of that [punctuation](mercer_core::Punctuation).
    pub(crate) fn from_mark(mark: char) -> Option<Self> {
        match mark {
            '.' => Some(Self::Point),
            ',' => Some(Self::Comma),
            _ => None,
        }
    }
}

/// Mark between the groups of three digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Thousands {
    /// `1.234`
    Point,
    /// `1,234`
    Comma,
    /// `1 234`; also with a thin or a fixed blank (U+2009, U+202F, U+00A0).
    Blank,
    /// `1'234`; also with U+2019.
    Apostrophe,
    /// There are no groups: `1.234` and `1,234` have fractions.
    #[cfg_attr(feature = "serde", serde(rename = "none"))]
    Nothing,
}

impl Thousands {
    /// The mark of that [punctuation](mercer_core::Punctuation).
    pub(crate) fn from_mark(mark: char) -> Option<Self> {
        match mark {
            '.' => Some(Self::Point),
            ',' => Some(Self::Comma),
            ' ' => Some(Self::Blank),
            '\'' => Some(Self::Apostrophe),
            _ => None,
        }
    }

    /// The same mark before a fraction, if it may stand there.
    pub(crate) fn as_decimal(self) -> Option<Decimal> {
        match self {
            Self::Point => Some(Decimal::Point),
            Self::Comma => Some(Decimal::Comma),
            Self::Blank | Self::Apostrophe | Self::Nothing => None,
        }
    }

    /// True if it never stands before a fraction.
    pub(crate) fn is_no_decimal(self) -> bool {
        self.as_decimal().is_none()
    }
}

/// The marks in the numbers of a file, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Marks {
    /// Mark before a fraction.
    pub decimal: Option<Decimal>,
    /// Mark between thousands.
    pub thousands: Option<Thousands>,
}

impl Marks {
    /// Marks that are known, and otherwise those of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { decimal: self.decimal.or(other.decimal), thousands: self.thousands.or(other.thousands) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_names_read_back() {
        for separator in Separator::ALL {
            assert_eq!(separator.to_string().parse::<Separator>().unwrap(), separator);
            assert_eq!(char::from(separator.byte()).to_string().parse::<Separator>().unwrap(), separator);
        }
        for (text, separator) in [
            ("~", Separator::Other(b'~')),
            ("\u{1f}", Separator::Other(0x1f)),
            ("::", Separator::Twice(b':')),
            ("||", Separator::Twice(b'|')),
        ] {
            assert_eq!(text.parse::<Separator>().unwrap(), separator);
            assert_eq!(separator.to_string().parse::<Separator>().unwrap(), separator);
        }
        assert_eq!(Separator::Other(0x1f).to_string(), "\\x1f");
        for text in ["", "a", "1", "\"", ".", "-", "~~~", "ab", "é", "\n", "\\x0a", "\\x"] {
            assert!(text.parse::<Separator>().is_err(), "{text:?}");
        }
        for decimal in [Decimal::Point, Decimal::Comma] {
            assert_eq!(decimal.to_string().parse::<Decimal>().unwrap(), decimal);
        }
        for (symbol, thousands) in [
            (".", Thousands::Point),
            (",", Thousands::Comma),
            (" ", Thousands::Blank),
            ("'", Thousands::Apostrophe),
            ("none", Thousands::Nothing),
        ] {
            assert_eq!(symbol.parse::<Thousands>().unwrap(), thousands);
            assert_eq!(thousands.to_string().parse::<Thousands>().unwrap(), thousands);
        }
        let message = "x".parse::<Separator>().unwrap_err().to_string();
        assert!(message.starts_with("\"x\" is not a separator; they are comma, semicolon, tab, bar, spaces, or"));
    }
}
