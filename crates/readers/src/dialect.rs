//! Separators of a delimited text and marks in its numbers, as they may be told.

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

named!(
    Separator: Comma = "comma" | ",", Semicolon = "semicolon" | ";", Tab = "tab" | "\t" | "\\t", Bar = "bar" | "|",
    Spaces = "spaces" | " " | "space";
    "is not a separator; they are comma, semicolon, tab, bar and spaces"
);
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
        assert_eq!(message, "\"x\" is not a separator; they are comma, semicolon, tab, bar and spaces");
    }
}
