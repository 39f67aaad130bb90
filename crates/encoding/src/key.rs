//! The text by which a category is known.

use std::fmt::Write as _;

use mercer_core::Cell;

/// The text of a cell as a category; numbers are written without touching the heap.
pub(crate) struct Key<'a> {
    text: Option<&'a str>,
    written: [u8; 32],
    length: usize,
}

impl<'a> Key<'a> {
    /// `None` for a cell without a value.
    pub(crate) fn of(cell: Cell<'a>) -> Option<Self> {
        let mut key = Self { text: None, written: [0; 32], length: 0 };
        match cell {
            Cell::Missing => return None,
            Cell::Text(text) => key.text = Some(text),
            Cell::Number(number) | Cell::Instant(number) if !number.is_finite() => return None,
            // A negative zero is a zero.
            Cell::Number(number) | Cell::Instant(number) if number == 0.0 => key.text = Some("0"),
            Cell::Number(number) | Cell::Instant(number) => {
                let whole = number == number.trunc() && number.abs() < 1e15;
                // 25 bytes at most.
                let written = if whole || (1e-3..1e3).contains(&number.abs()) {
                    write!(key, "{number}")
                } else {
                    write!(key, "{number:e}")
                };
                if written.is_err() {
                    return None;
                }
            }
        }
        Some(key)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_by_hand() {
        let key = |cell| Key::of(cell).map(|key| key.as_str().to_owned());
        for (number, text) in [(3.0, "3"), (-0.0, "0"), (2.5, "2.5"), (1e300, "1e300"), (-1e14, "-100000000000000")] {
            assert_eq!(key(Cell::Number(number)).as_deref(), Some(text));
        }
        assert_eq!(key(Cell::Text("a b")).as_deref(), Some("a b"));
        assert_eq!(key(Cell::Missing), None);
        assert_eq!(key(Cell::Number(f64::NAN)), None);
    }

    proptest! {
        #[test]
        fn every_number_has_a_key_that_reads_back(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            let key = Key::of(Cell::Number(number)).unwrap();
            prop_assert_eq!(key.as_str().parse::<f64>(), Ok(number));
        }
    }
}
