//! The text by which a category is known.

use std::fmt::Write as _;

use mercer_core::{Cell, duration_text, instant_text, parse_instant, parse_truth};

use crate::span;

/// The text of a cell as a category: of one value the same, typed or written. Truth values are
/// `true` and `false`, instants those of ISO 8601. Numbers are written without touching the heap.
pub(crate) struct Key<'a> {
    text: Option<&'a str>,
    written: [u8; 48],
    length: usize,
}

impl<'a> Key<'a> {
    /// `None` for a cell without a value.
    pub(crate) fn from_cell(cell: Cell<'a>) -> Option<Self> {
        let mut key = Self { text: None, written: [0; 48], length: 0 };
        match cell {
            Cell::Missing => return None,
            Cell::Text(text) => match (parse_truth(text), iso_instant(text)) {
                (Some(truth), _) => key.text = Some(truth_text(truth)),
                (_, Some(seconds)) => key.write_instant(seconds)?,
                _ => key.text = Some(text),
            },
            Cell::List(list) => key.text = Some(list.text()),
            Cell::Truth(truth) => key.text = Some(truth_text(truth)),
            // A whole number of a column with fractions is the same as one of a column without.
            Cell::Numeral(_, text) => key.text = Some(whole(text)),
            Cell::Integer(number) => key.write(format_args!("{number}"))?,
            Cell::Instant(seconds) | Cell::LocalTime(seconds) if !seconds.is_finite() => return None,
            Cell::Instant(seconds) | Cell::LocalTime(seconds) => key.write_instant(seconds)?,
            Cell::TimeOfDay(seconds) | Cell::Duration(seconds) if !seconds.is_finite() => return None,
            Cell::TimeOfDay(seconds) | Cell::Duration(seconds) => {
                key.write(format_args!("{}", duration_text(seconds)))?;
            }
            Cell::Number(number) if !number.is_finite() => return None,
            // A negative zero is a zero.
            Cell::Number(0.0) => key.text = Some("0"),
            // As the usual writers of text files do.
            Cell::Number(number) if (1e-5..1e16).contains(&number.abs()) => key.write(format_args!("{number}"))?,
            Cell::Number(number) => key.write(format_args!("{number:e}"))?,
        }
        Some(key)
    }

    /// A day where it is midnight, as most writers have days.
    fn write_instant(&mut self, seconds: f64) -> Option<()> {
        let text = instant_text(seconds);
        self.write(format_args!("{}", text.strip_suffix("T00:00:00Z").unwrap_or(&text)))
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) -> Option<()> {
        self.write_fmt(text).ok()
    }

    pub(crate) fn as_str(&self) -> &str {
        self.text.unwrap_or_else(|| std::str::from_utf8(&self.written[..self.length]).unwrap_or_default())
    }
}

impl std::fmt::Write for Key<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let room = self.written.get_mut(self.length..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn truth_text(truth: bool) -> &'static str {
    if truth { "true" } else { "false" }
}

/// The instant of a text that begins as `2024-05-31` does.
fn iso_instant(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_date = |at: usize| bytes.get(at) == Some(&b'-');
    // A span of a day ends as an offset from UTC would: its text is kept.
    if is_date(4) && is_date(7) && span::begin(text).is_none() { parse_instant(text) } else { None }
}

/// The digits of a whole number that is written with a fraction of one zero.
fn whole(text: &str) -> &str {
    let digits = |text: &str| {
        let text = text.strip_prefix('-').unwrap_or(text);
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.strip_suffix(".0").filter(|text| digits(text)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_by_hand() {
        let key = |cell| Key::from_cell(cell).map(|key| key.as_str().to_owned());
        for (number, text) in [(3.0, "3"), (-0.0, "0"), (2.5, "2.5"), (1e300, "1e300"), (-1e14, "-100000000000000")] {
            assert_eq!(key(Cell::Number(number)).as_deref(), Some(text));
        }
        for (text, known) in [("01234", "01234"), ("3.10", "3.10"), ("1E5", "1E5"), ("7.0", "7"), ("-7.0", "-7")] {
            assert_eq!(key(Cell::Numeral(1.0, text)).as_deref(), Some(known));
        }
        assert_eq!(key(Cell::Integer((1 << 53) + 1)).as_deref(), Some("9007199254740993"));
        assert_eq!(key(Cell::Number(1234.5)).as_deref(), Some("1234.5"));
        assert_eq!(key(Cell::Text("a b")).as_deref(), Some("a b"));
        assert_eq!(key(Cell::Missing), None);
        assert_eq!(key(Cell::Number(f64::NAN)), None);
    }

    proptest! {
        #[test]
        fn every_number_has_a_key_that_reads_back(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            let key = Key::from_cell(Cell::Number(number)).unwrap();
            prop_assert_eq!(key.as_str().parse::<f64>(), Ok(number));
        }
    }
}
