//! The cells of one record of CSV or TSV, without their quotes.
//!
//! A record in quotes may go over several lines. Splitting then continues where the line before
//! ended, so that every byte of a record is examined once, however many lines it has and whether or
//! not its quote is ever closed.

use crate::dialect::{LONGEST_RECORD, Separator};
use crate::error::DataError;
use crate::lines::Lines;

/// The unquoted cells of one record, in one buffer.
#[derive(Default)]
pub(crate) struct Cells {
    bytes: Vec<u8>,
    /// Where each cell ends in `bytes`.
    ends: Vec<usize>,
    /// Bytes of the record that have been split.
    split: usize,
    /// True if the bytes split so far end within quotes.
    quoted: bool,
    /// Bytes examined since the beginning, over all records.
    #[cfg(test)]
    examined: usize,
}

impl Cells {
    /// Splits the current record, and takes the lines that follow while it ends within quotes:
    /// `longest` in all at most. `O(bytes)`.
    pub(crate) fn split(&mut self, lines: &mut Lines, separator: Separator, longest: usize) -> Result<(), DataError> {
        self.clear();
        for taken in 1..=longest {
            if self.go_on(lines.text(), separator) {
                return Ok(());
            }
            if taken == longest || !lines.join()? {
                break;
            }
        }
        lines.unjoin();
        Err(DataError::UnclosedQuote { line: lines.line(), limit: longest })
    }

    /// Splits a record that is whole; false if it ends within quotes.
    pub(crate) fn whole(&mut self, text: &[u8], separator: Separator) -> bool {
        self.clear();
        self.go_on(text, separator)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.split = 0;
        self.quoted = false;
    }

    /// Splits what `text` has beyond the bytes that were split before; false if it ends within
    /// quotes.
    fn go_on(&mut self, text: &[u8], separator: Separator) -> bool {
        let mut rest = &text[self.split..];
        #[cfg(test)]
        {
            self.examined += rest.len();
        }
        loop {
            if !self.quoted {
                if separator == Separator::Spaces {
                    rest = rest.trim_ascii_start();
                    // What stands behind the last cell separates nothing.
                    if rest.is_empty() && !self.ends.is_empty() {
                        return true;
                    }
                }
                if let [b'"', inside @ ..] = rest {
                    self.quoted = true;
                    rest = inside;
                }
            }
            if self.quoted {
                match self.unquote(rest) {
                    Some(after) => rest = after,
                    None => {
                        self.split = text.len();
                        return false;
                    }
                }
                self.quoted = false;
            }
            // What is left of the cell: all of it, or whatever a sloppy writer put behind the
            // closing quote.
            match separator.find(rest) {
                Some(end) => {
                    self.bytes.extend_from_slice(&rest[..end]);
                    self.ends.push(self.bytes.len());
                    rest = &rest[end + separator.length()..];
                }
                None => {
                    self.bytes.extend_from_slice(rest);
                    self.ends.push(self.bytes.len());
                    return true;
                }
            }
        }
    }

    /// Takes text up to the closing quote and gives what follows; `None`, and all text taken, if
    /// there is no closing quote.
    fn unquote<'a>(&mut self, mut quoted: &'a [u8]) -> Option<&'a [u8]> {
        loop {
            let Some(end) = quoted.iter().position(|&byte| byte == b'"') else {
                self.bytes.extend_from_slice(quoted);
                return None;
            };
            self.bytes.extend_from_slice(&quoted[..end]);
            quoted = &quoted[end + 1..];
            match quoted {
                [b'"', rest @ ..] => {
                    self.bytes.push(b'"');
                    quoted = rest;
                }
                _ => return Some(quoted),
            }
        }
    }

    /// Puts an empty cell before the first.
    pub(crate) fn put_empty_first(&mut self) {
        self.ends.insert(0, 0);
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let cell = &self.bytes[begin..end];
            begin = end;
            cell
        })
    }
}

/// Hands the records behind the current one to `take`, as far as a look of `most` lines goes, with
/// the lines that stand at each. Those that cannot be split, or have another number of cells than
/// `columns`, are passed over: they are told when they are read.
pub(crate) fn behind(
    lines: &mut Lines,
    separator: Separator,
    (most, columns): (usize, usize),
    mut take: impl FnMut(&mut Lines, &Cells),
) {
    let (mut behind, mut cells) = (lines.ahead(most), Cells::default());
    while let Ok(true) = behind.advance() {
        if cells.split(&mut behind, separator, LONGEST_RECORD).is_ok() && cells.len() == columns {
            take(&mut behind, &cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lines::Source;

    const LONGEST: usize = 100;

    fn lines(text: &str) -> Lines {
        Source::Memory { name: "f.csv".into(), bytes: text.as_bytes().to_vec().into() }.lines().unwrap()
    }

    /// Goes through a text, passing over the records that cannot be split or have another number of
    /// cells than `columns`. How many were good, how many bad, and the bytes examined.
    fn work(text: &str, columns: usize) -> (usize, usize, usize) {
        let (mut lines, mut cells, mut good, mut bad) = (lines(text), Cells::default(), 0, 0);
        while lines.advance().unwrap() {
            let split = cells.split(&mut lines, Separator::Comma, LONGEST);
            if split.is_ok() && cells.len() == columns {
                good += 1;
            } else {
                if split.is_ok() {
                    lines.unjoin();
                }
                bad += 1;
            }
        }
        (good, bad, cells.examined)
    }

    /// Without it a record of a hundred lines is split a hundred times.
    #[test]
    fn a_stray_quote_costs_work_linear_in_the_text() {
        let plain = format!("key,{}\n", "1.25,".repeat(40));
        let columns = plain.matches(',').count() + 1;
        let stray = format!("\"{plain}");
        for (text, expected) in [
            (format!("{stray}{}", plain.repeat(299)), (299, 1)),
            (format!("{stray}{}", plain.repeat(149)).repeat(2), (298, 2)),
            // Here every second quote closes a cell that began on a line before.
            (stray.repeat(300), (150, 0)),
            (format!("{stray}{}", plain.repeat(9)).repeat(30), (15 + 15 * 9, 0)),
        ] {
            let (good, bad, examined) = work(&text, columns);
            assert_eq!((good, bad), expected);
            assert!(examined <= 3 * text.len(), "{examined} bytes examined of {}", text.len());
        }
    }

    proptest! {
        /// A record split as its lines come is the record split when it is whole.
        #[test]
        fn splitting_goes_on_where_it_stopped(text in "[\",a\r\n]{0,60}") {
            let (mut joined, mut cells) = (lines(&text), Cells::default());
            while joined.advance().unwrap() {
                let split = cells.split(&mut joined, Separator::Comma, 4);
                let mut whole = Cells::default();
                let closed = whole.go_on(joined.text(), Separator::Comma);
                match split {
                    Ok(()) => {
                        prop_assert!(closed);
                        prop_assert_eq!((&cells.bytes, &cells.ends), (&whole.bytes, &whole.ends));
                    }
                    // The record is its first line again, which alone does not close its quote.
                    Err(_) => prop_assert!(!closed),
                }
            }
        }
    }
}
