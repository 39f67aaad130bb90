//! Decimal points and decimal commas: which of them a file has, and what is refused because it may
//! mean two things.
//!
//! Where commas separate cells, numbers have points. Elsewhere the first number with a fraction
//! decides for the whole file, unless the options do. What contradicts it later is refused, and so
//! are groups of thousands: `1,234` is read as neither 1.234 nor 1234.

use crate::dialect::{Decimal, Separator};
use crate::number::{self, Parsed};

/// What a file has, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Told(Decimal),
    /// With the line that showed it.
    Found(Decimal, u64),
    Open,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reading {
    Parsed(Parsed),
    /// A number with the other mark than the one on this line.
    Mixed(u64),
    /// A number in groups of thousands.
    Thousands,
    /// A number with a fraction of three digits, or one in thousands.
    Doubtful,
}

/// Reads numbers, and finds out on the way which mark they have.
pub(crate) struct Decimals {
    state: State,
}

impl Decimals {
    /// `told` is what the options say.
    pub(crate) fn new(told: Option<Decimal>, separator: Separator) -> Self {
        let told = told.or((separator == Separator::Comma).then_some(Decimal::Point));
        Self { state: told.map_or(State::Open, State::Told) }
    }

    /// Whether numbers have points, or may have.
    #[inline]
    pub(crate) fn may_be_points(&self) -> bool {
        !matches!(self.state, State::Told(Decimal::Comma) | State::Found(Decimal::Comma, _))
    }

    /// Whether the mark is not yet known.
    #[inline]
    pub(crate) fn are_open(&self) -> bool {
        self.state == State::Open
    }

    /// Takes the text of a plain number with a decimal point, or without a fraction, into account.
    #[inline]
    pub(crate) fn see(&mut self, number: &[u8], line: u64) {
        if self.state == State::Open && number.contains(&b'.') {
            self.state = State::Found(Decimal::Point, line);
        }
    }

    /// What a cell on that line holds.
    pub(crate) fn read(&mut self, cell: &[u8], line: u64) -> Reading {
        let parsed = number::parse(cell);
        if self.may_be_points() { self.with_points(cell, parsed, line) } else { self.with_commas(cell, parsed) }
    }

    fn with_points(&mut self, cell: &[u8], parsed: Parsed, line: u64) -> Reading {
        match parsed {
            Parsed::Number(_) => self.see(cell, line),
            Parsed::Text => {
                if let (Some(value), false) = (with_comma(cell), matches!(self.state, State::Told(_))) {
                    return match self.state {
                        State::Found(_, line) => Reading::Mixed(line),
                        _ if in_thousands(cell, b',') => Reading::Doubtful,
                        _ => {
                            self.state = State::Found(Decimal::Comma, line);
                            Reading::Parsed(value)
                        }
                    };
                }
                if in_thousands(cell, b',') {
                    return Reading::Thousands;
                }
                if self.state == State::Open && in_thousands(cell, b'.') && cell.contains(&b',') {
                    return Reading::Thousands;
                }
            }
            Parsed::Nan | Parsed::NotFinite | Parsed::Empty => {}
        }
        Reading::Parsed(parsed)
    }

    fn with_commas(&self, cell: &[u8], parsed: Parsed) -> Reading {
        match (parsed, with_comma(cell)) {
            (Parsed::Text, Some(value)) => Reading::Parsed(value),
            (Parsed::Number(_) | Parsed::Text, _) if in_thousands(cell, b'.') => Reading::Thousands,
            (Parsed::Number(_), _) if cell.contains(&b'.') => match self.state {
                State::Found(_, line) => Reading::Mixed(line),
                _ => Reading::Parsed(Parsed::Text),
            },
            _ => Reading::Parsed(parsed),
        }
    }

    /// Whether a cell, and nothing before it, leaves open which mark numbers have.
    pub(crate) fn doubts(&self, cell: &[u8]) -> bool {
        self.are_open() && in_thousands(cell, b',') && with_comma(cell).is_some()
    }

    /// Takes the mark from a cell on that line; false if it does not tell.
    pub(crate) fn settle(&mut self, cell: &[u8], line: u64) -> bool {
        let found = match number::parse(cell) {
            Parsed::Number(_) if cell.contains(&b'.') => Decimal::Point,
            Parsed::Text if with_comma(cell).is_some() && !in_thousands(cell, b',') => Decimal::Comma,
            _ => return false,
        };
        self.state = State::Found(found, line);
        true
    }
}

/// The number that a cell is if its comma is a decimal point, finite or beyond the largest double.
pub(crate) fn with_comma(cell: &[u8]) -> Option<Parsed> {
    /// Longer numbers are nobody's.
    const LONGEST: usize = 512;
    let cell = cell.trim_ascii();
    let comma = cell.iter().position(|&byte| byte == b',')?;
    let mut text = [0; LONGEST];
    let text = text.get_mut(..cell.len())?;
    text.copy_from_slice(cell);
    if text.contains(&b'.') {
        return None;
    }
    text[comma] = b'.';
    match number::parse(text) {
        parsed @ (Parsed::Number(_) | Parsed::NotFinite) => Some(parsed),
        Parsed::Nan | Parsed::Empty | Parsed::Text => None,
    }
}

/// What a cell of a first row holds, while it is not known which mark numbers have. One in
/// thousands is a number that will be refused.
pub(crate) fn kind(cell: &[u8], separator: Separator, told: Option<Decimal>) -> Parsed {
    match number::parse(cell) {
        Parsed::Text if has_thousands(cell) => Parsed::NotFinite,
        Parsed::Text if separator != Separator::Comma && told != Some(Decimal::Point) => {
            with_comma(cell).unwrap_or(Parsed::Text)
        }
        parsed => parsed,
    }
}

/// Whether a cell is a number in groups of thousands, whatever stands between them.
fn has_thousands(cell: &[u8]) -> bool {
    in_thousands(cell, b',') || (in_thousands(cell, b'.') && number::parse(cell) == Parsed::Text)
}

/// Whether a cell is digits in groups of three behind one to three others, with `mark` between
/// them, and perhaps a fraction behind the other mark. A leading 0 is no thousands.
fn in_thousands(cell: &[u8], mark: u8) -> bool {
    let cell = cell.trim_ascii();
    let cell = cell.strip_prefix(b"-").or(cell.strip_prefix(b"+")).unwrap_or(cell);
    let other = if mark == b'.' { b',' } else { b'.' };
    let (whole, fraction) = match cell.iter().position(|&byte| byte == other) {
        Some(point) => (&cell[..point], &cell[point + 1..]),
        None => (cell, &b""[..]),
    };
    let mut groups = whole.split(|&byte| byte == mark);
    let digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    let first = groups.next().unwrap_or_default();
    let mut several = false;
    let all = groups.all(|group| {
        several = true;
        group.len() == 3 && digits(group)
    });
    all && several && matches!(first, [b'1'..=b'9', ..]) && first.len() <= 3 && digits(first) && digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(told: Option<Decimal>, separator: Separator, cells: &[&str]) -> Vec<Reading> {
        let mut decimals = Decimals::new(told, separator);
        cells.iter().zip(1..).map(|(cell, line)| decimals.read(cell.as_bytes(), line)).collect()
    }

    #[test]
    fn the_first_fraction_decides() {
        use Reading::{Doubtful, Mixed, Thousands};
        let number = |value| Reading::Parsed(Parsed::Number(value));
        let text = Reading::Parsed(Parsed::Text);
        for (told, separator, cells, expected) in [
            (
                None,
                Separator::Semicolon,
                &["1", "1,5", "2,25e3", "1.5", "-0,125"][..],
                vec![number(1.0), number(1.5), number(2250.0), Mixed(2), number(-0.125)],
            ),
            (None, Separator::Tab, &["1.5", "1,5", "x"], vec![number(1.5), Mixed(1), text]),
            (
                None,
                Separator::Semicolon,
                &["1,234", "1,5", "1,234", "12.345", "1.234,5", "1.5"],
                vec![Doubtful, number(1.5), number(1.234), Thousands, Thousands, Mixed(2)],
            ),
            (None, Separator::Semicolon, &["0,125", "1,234,567"], vec![number(0.125), text]),
            (None, Separator::Semicolon, &["1.234,5", "1,234.5", "1,234,567"], vec![Thousands, Thousands, Thousands]),
            (
                Some(Decimal::Comma),
                Separator::Semicolon,
                &["1,234", "1.5", "192.168.0.1"],
                vec![number(1.234), text, text],
            ),
            (Some(Decimal::Point), Separator::Semicolon, &["1,5", "1.5", "1,234"], vec![text, number(1.5), Thousands]),
            (
                None,
                Separator::Comma,
                &["1,5", "1.234", "1,234.5", "192.168.100.200"],
                vec![text, number(1.234), Thousands, text],
            ),
        ] {
            assert_eq!(readings(told, separator, cells), expected, "{cells:?}");
        }
    }

    #[test]
    fn doubt_is_settled_by_other_cells() {
        for (cells, settled, reading) in [
            (&["1,234", "2,5"][..], true, Reading::Parsed(Parsed::Number(1.234))),
            (&["x", "0,125"], true, Reading::Parsed(Parsed::Number(1.234))),
            (&["2,345", "7"], false, Reading::Doubtful),
            (&["2.5"], true, Reading::Mixed(3)),
        ] {
            let mut decimals = Decimals::new(None, Separator::Semicolon);
            assert!(decimals.doubts(b"1,234"));
            assert_eq!(cells.iter().any(|cell| decimals.settle(cell.as_bytes(), 3)), settled);
            assert_eq!(decimals.read(b"1,234", 4), reading, "{cells:?}");
        }
    }
}
