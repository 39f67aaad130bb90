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
    /// True if a quote within quotes was met that a backslash stands before and nothing separates
    /// from what follows: all such quotes close nothing then.
    escaped: bool,
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
                if let Some(inside) = inside_quotes(rest, separator) {
                    self.quoted = true;
                    rest = inside;
                }
            }
            if self.quoted {
                match self.unquote(rest, separator) {
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

    /// True if backslashes stand before quotes within quotes.
    pub(crate) fn has_escapes(&self) -> bool {
        self.escaped
    }

    /// True if a quote between these bytes stands within the cell, for a backslash is before it, as
    /// data bases write it. Where no such quote was met, one before a separator closes the cell.
    fn is_escaped(&mut self, before: &[u8], behind: &[u8], separator: Separator) -> bool {
        let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let closes = || matches!(behind, [] | [b'"' | b'\r' | b'\n', ..]) || separator.find(behind) == Some(0);
        if backslashes % 2 == 1 && !self.escaped {
            self.escaped = !closes();
        }
        backslashes % 2 == 1 && self.escaped
    }

    /// Takes text up to the closing quote and gives what follows; `None`, and all text taken, if
    /// there is no closing quote.
    fn unquote<'a>(&mut self, mut quoted: &'a [u8], separator: Separator) -> Option<&'a [u8]> {
        loop {
            let Some(end) = quoted.iter().position(|&byte| byte == b'"') else {
                self.bytes.extend_from_slice(quoted);
                return None;
            };
            let (before, behind) = (&quoted[..end], &quoted[end + 1..]);
            quoted = behind;
            if self.is_escaped(before, behind, separator) {
                self.bytes.extend_from_slice(&before[..end - 1]);
                self.bytes.push(b'"');
                continue;
            }
            self.bytes.extend_from_slice(before);
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

/// The text behind the quote that a cell begins with. Where blanks stand before it, as in
/// `"a", "b"`, it is one only if another closes the cell on the same line.
fn inside_quotes(cell: &[u8], separator: Separator) -> Option<&[u8]> {
    let blanks = cell.iter().take_while(|&&byte| byte == b' ').count();
    let inside = cell[blanks..].strip_prefix(b"\"")?;
    (blanks == 0 || is_closed(inside, separator)).then_some(inside)
}

/// True if a quote closes the cell whose text begins here, and only blanks stand behind it.
fn is_closed(mut inside: &[u8], separator: Separator) -> bool {
    while let Some(quote) = inside.iter().position(|&byte| byte == b'"') {
        let behind = &inside[quote + 1..];
        let Some(doubled) = behind.strip_prefix(b"\"") else {
            let blanks = behind.iter().take_while(|&&byte| byte == b' ').count();
            let behind = &behind[blanks..];
            return behind.trim_ascii_end().is_empty() || separator.find(behind) == Some(0);
        };
        inside = doubled;
    }
    false
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

    #[test]
    fn quotes_with_a_backslash_close_nothing() {
        let cells = |texts: &[&str]| -> Vec<Vec<String>> {
            let mut cells = Cells::default();
            let split = |text: &&str| {
                assert!(cells.whole(text.as_bytes(), Separator::Comma), "{text}");
                cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
            };
            texts.iter().map(split).collect()
        };
        let said = "\"say \\\"hi, you\\\", he\",3";
        assert_eq!(cells(&[said]), [["say \"hi, you\", he", "3"]]);
        // Behind such a row a quote before a separator closes nothing, too.
        assert_eq!(cells(&[said, "\"5\\\",x\",3"])[1], ["5\",x", "3"]);
        // A path may end with a backslash.
        assert_eq!(cells(&["\"C:\\dir\\\",3", "\"C:\\dir\\\\\",3"]), [["C:\\dir\\", "3"], ["C:\\dir\\\\", "3"]]);
        assert_eq!(cells(&["\"5\\\"\",x\",3"]), [["5\\\",x", "3"]]);
    }

    #[test]
    fn blanks_may_stand_before_a_quote() {
        let cells = |text: &str| -> Vec<String> {
            let mut cells = Cells::default();
            assert!(cells.whole(text.as_bytes(), Separator::Comma), "{text}");
            cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
        };
        assert_eq!(cells("\"a\",  \"b, c\" ,\"d\""), ["a", "b, c ", "d"]);
        assert_eq!(cells("1, \"say \"\"hi\"\", he\""), ["1", "say \"hi\", he"]);
        // Quotes within a text are quotes, and so is one that nothing closes.
        assert_eq!(cells("1, \"a\" or \"b\",2"), ["1", " \"a\" or \"b\"", "2"]);
        assert_eq!(cells("1, \"5,2"), ["1", " \"5", "2"]);
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
