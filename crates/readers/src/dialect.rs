//! What stands between the cells of a delimited text, told or found out.

use std::fmt;
use std::str::FromStr;

use crate::cells::Cells;
use crate::error::{DataError, DialectError};
use crate::lines::Lines;
use crate::marks;
use crate::number::{self, Parsed};
use mercer_core::parse_instant;

/// Most lines that a record in quotes may go over. A stray quote would otherwise swallow the file.
pub(crate) const LONGEST_RECORD: usize = 100;

/// What stands between two cells of a CSV file. A TSV file has tabs unless the options say
/// otherwise.
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
    /// Those that are looked for, the one that is rather a separator than the others first.
    const ALL: [Self; 5] = [Self::Tab, Self::Semicolon, Self::Bar, Self::Comma, Self::Spaces];

    /// Whether `byte` separates.
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

impl FromStr for Separator {
    type Err = DataError;

    /// The character itself, or its name: `comma`, `semicolon`, `tab` (also `\t`), `bar`, `spaces`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "," | "comma" => Ok(Self::Comma),
            ";" | "semicolon" => Ok(Self::Semicolon),
            "\t" | "\\t" | "tab" => Ok(Self::Tab),
            "|" | "bar" => Ok(Self::Bar),
            " " | "spaces" | "space" => Ok(Self::Spaces),
            _ => Err(DialectError::UnknownSeparator { name: text.to_owned() }.into()),
        }
    }
}

impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
            Self::Bar => "bar",
            Self::Spaces => "spaces",
        })
    }
}

/// What stands before the fraction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Decimal {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

impl FromStr for Decimal {
    type Err = DataError;

    /// The character itself, or `point` or `comma`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "." | "point" => Ok(Self::Point),
            "," | "comma" => Ok(Self::Comma),
            _ => Err(DialectError::UnknownDecimal { name: text.to_owned() }.into()),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Point => "point",
            Self::Comma => "comma",
        })
    }
}

/// What stands between the groups of three digits of a number.
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
    /// The mark that a symbol is.
    pub(crate) fn of(symbol: char) -> Option<Self> {
        match symbol {
            '.' => Some(Self::Point),
            ',' => Some(Self::Comma),
            ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => Some(Self::Blank),
            '\'' | '\u{2019}' => Some(Self::Apostrophe),
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

    /// Whether it never stands before a fraction.
    pub(crate) fn is_no_decimal(self) -> bool {
        self.as_decimal().is_none()
    }
}

impl FromStr for Thousands {
    type Err = DataError;

    /// The character itself, or `point`, `comma`, `blank`, `apostrophe` or `none`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "." | "point" => Ok(Self::Point),
            "," | "comma" => Ok(Self::Comma),
            " " | "blank" => Ok(Self::Blank),
            "'" | "apostrophe" => Ok(Self::Apostrophe),
            "none" => Ok(Self::Nothing),
            _ => Err(DialectError::UnknownThousands { name: text.to_owned() }.into()),
        }
    }
}

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Point => "point",
            Self::Comma => "comma",
            Self::Blank => "blank",
            Self::Apostrophe => "apostrophe",
            Self::Nothing => "none",
        })
    }
}

/// The marks in the numbers of a file, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Marks {
    /// What stands before a fraction.
    pub decimal: Option<Decimal>,
    /// What stands between thousands.
    pub thousands: Option<Thousands>,
}

impl Marks {
    /// Those that are known, and otherwise those of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { decimal: self.decimal.or(other.decimal), thousands: self.thousands.or(other.thousands) }
    }
}

/// How well a separator fits a record; less is better.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Fit {
    /// Cells of text in which another separator stands.
    unexplained: usize,
    /// Cells of text.
    texts: usize,
}

/// Finds the separator from the current record. Where that record leaves a doubt, the one behind it
/// is looked at too. One column is said to have commas.
///
/// Each separator that makes two cells or more is tried. The best leaves the fewest cells of text
/// with another separator in them, and of those that are equal the one with the fewest cells of
/// text. A comma in a number is a decimal comma then, and blanks in a text are part of it.
pub(crate) fn find(lines: &mut Lines, cells: &mut Cells) -> Separator {
    let rivals: Vec<Separator> =
        Separator::ALL.into_iter().filter(|&separator| split(lines, cells, separator).is_some()).collect();
    let mut fits: Vec<(Separator, usize, Fit)> = Vec::new();
    for &separator in &rivals {
        if let Some(columns) = split(lines, cells, separator) {
            fits.push((separator, columns, fit(cells, separator, &rivals)));
        }
    }
    let whole = lines.text().trim_ascii();
    let Some(&(separator, _, fit)) = best(&fits) else { return Separator::Comma };
    let settled = match separator {
        // A name or a date of several words is no row.
        Separator::Spaces if is_value(whole) => return Separator::Comma,
        Separator::Spaces => fit.texts == 0,
        _ => fit.unexplained == 0,
    };
    if settled {
        return separator;
    }
    let mut behind = lines.ahead(1);
    let quoted = |behind: &mut Lines, cells: &mut Cells| {
        let open = |&separator: &Separator| cells.split(behind, separator, LONGEST_RECORD).is_err();
        rivals.iter().all(open)
    };
    let mut any = matches!(behind.advance(), Ok(true));
    if any && quoted(&mut behind, cells) {
        // It goes over several lines.
        behind = lines.ahead(LONGEST_RECORD);
        any = matches!(behind.advance(), Ok(true));
    }
    if !any {
        return if separator == Separator::Spaces { Separator::Comma } else { separator };
    }
    // A header in doubt: the row below it has as many cells.
    fits.retain(|&(separator, columns, _)| split(&mut behind, cells, separator) == Some(columns));
    best(&fits).map_or(Separator::Comma, |&(separator, ..)| separator)
}

fn best(fits: &[(Separator, usize, Fit)]) -> Option<&(Separator, usize, Fit)> {
    // The first of several that are equal.
    fits.iter().reduce(|best, other| if other.2 < best.2 { other } else { best })
}

/// How many cells the current record has, if they are several.
fn split(lines: &mut Lines, cells: &mut Cells, separator: Separator) -> Option<usize> {
    let split = cells.split(lines, separator, LONGEST_RECORD);
    lines.unjoin();
    split.ok().map(|()| cells.len()).filter(|&cells| cells > 1)
}

fn fit(cells: &Cells, separator: Separator, rivals: &[Separator]) -> Fit {
    let mut fit = Fit { unexplained: 0, texts: 0 };
    for cell in cells.iter() {
        if is_value(cell) || (separator != Separator::Comma && marks::has_decimal_comma(cell)) {
            continue;
        }
        fit.texts += 1;
        let mut others = rivals.iter().filter(|&&rival| !matches!(rival, Separator::Spaces) && rival != separator);
        fit.unexplained += usize::from(others.any(|rival| cell.contains(&rival.byte())));
    }
    fit
}

/// Whether a cell is a number, a date or empty.
pub(crate) fn is_value(cell: &[u8]) -> bool {
    match number::parse(cell) {
        Parsed::Text => std::str::from_utf8(cell).is_ok_and(|text| parse_instant(text.trim()).is_some()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Source;

    fn found(text: &str) -> Separator {
        let mut lines =
            Source::Memory { name: "f.csv".into(), bytes: text.as_bytes().to_vec().into() }.lines().unwrap();
        assert!(lines.advance().unwrap());
        let separator = find(&mut lines, &mut Cells::default());
        assert_eq!(lines.line().number, 1);
        separator
    }

    #[test]
    fn separators_are_found() {
        use Separator::{Bar, Comma, Semicolon, Spaces, Tab};
        for (text, separator) in [
            ("1,2,3\n", Comma),
            ("1, 2, 3\n", Comma),
            ("5\n", Comma),
            ("", Comma),
            ("a b,c d\n1,2\n", Comma),
            ("x;y,z\n1,2\n", Comma),
            ("x;y,z\n1;2\n", Semicolon),
            ("a;b\n", Semicolon),
            ("2024-05-31;red;1,5\n", Semicolon),
            ("x;1,2\n", Semicolon),
            ("\"a;b\",\"c\"\n", Comma),
            ("\"a,b\";\"c\"\n", Semicolon),
            ("\"a,\nb\";c\n1;2\n", Semicolon),
            ("price;name, long\n1;x\n", Semicolon),
            ("1|2|3\n", Bar),
            ("1\t2,5\n", Tab),
            ("a, b\tc\n1\t2\n", Tab),
            ("1 2 3\n", Spaces),
            ("  1   2 \n", Spaces),
            ("1,5 2,5 3\n", Spaces),
            ("x y z\n1 2 3\n", Spaces),
            ("outside temperature\n1\n2\n", Comma),
            ("outside temperature\n", Comma),
            ("2024-05-31 12:30\n", Comma),
        ] {
            if !text.is_empty() {
                assert_eq!(found(text), separator, "{text:?}");
            }
        }
    }

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
