//! Search for the separator of a delimited text.

use crate::cells::Cells;
use crate::dialect::{LONGEST_RECORD, Separator};
use crate::lines::Lines;
use crate::marks;
use crate::number::is_value;
use crate::printed;
use crate::row_names;

/// Fit of a separator to a record; less is better.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct SeparatorFit {
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
    let mut fits: Vec<(Separator, usize, SeparatorFit)> = Vec::new();
    for &separator in &rivals {
        if let Some(columns) = split(lines, cells, separator) {
            fits.push((separator, columns, fit(cells, separator, &rivals)));
        }
    }
    if lines.text().contains(&b'|') && printed::is_doubled(lines, b'|') {
        return Separator::Twice(b'|');
    }
    let found = best(&fits).copied();
    if found.is_none_or(|(separator, ..)| separator == Separator::Spaces)
        && let Some(unusual) = unusual(lines, cells)
    {
        return unusual;
    }
    let whole = lines.text().trim_ascii();
    let Some((separator, _, fit)) = found else { return Separator::Comma };
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
    match best(&fits) {
        Some(&(Separator::Spaces, columns, _)) if !are_columns(lines, &mut behind, cells, columns) => Separator::Comma,
        Some(&(separator, ..)) => separator,
        None => {
            let lacks = |separator: &Separator| {
                split(lines, cells, *separator).is_some() && row_names::are_there(lines, *separator, cells)
            };
            rivals.into_iter().find(lacks).unwrap_or(Separator::Comma)
        }
    }
}

/// A separator that is rather a part of cells, if the records behind the current one have it as
/// often as that has: one above which there are names, or one that no cell has.
fn unusual(lines: &mut Lines, cells: &mut Cells) -> Option<Separator> {
    const BYTES: [u8; 6] = [0x1f, 0x01, b'~', b'^', b':', b'!'];
    const FOLLOWING: usize = 8;
    BYTES.into_iter().find_map(|byte| {
        if !lines.text().contains(&byte) {
            return None;
        }
        if byte.is_ascii_punctuation() && printed::is_doubled(lines, byte) {
            return Some(Separator::Twice(byte));
        }
        let separator = Separator::Other(byte);
        let columns = split(lines, cells, separator)?;
        let are_names = cells.iter().all(|cell| !is_value(cell));
        let (mut behind, mut values) = (lines.ahead(FOLLOWING), false);
        while let Ok(true) = behind.advance() {
            if split(&mut behind, cells, separator) != Some(columns) {
                return None;
            }
            values |= cells.iter().any(|cell| is_value(cell) || marks::has_decimal_comma(cell));
        }
        // `12:30` is a time, and `a: b` a text.
        (values && (are_names || byte != b':' && byte != b'!')).then_some(separator)
    })
}

/// True if blanks separate cells rather than the words of two sentences: the record `behind` has
/// values alone, or half of those below have as many cells.
fn are_columns(lines: &mut Lines, behind: &mut Lines, cells: &mut Cells, columns: usize) -> bool {
    const FOLLOWING: usize = 8;
    if split(behind, cells, Separator::Spaces).is_some() && cells.iter().all(is_value) {
        return true;
    }
    // Records may go over several lines.
    let (mut below, mut rows, mut alike) = (lines.ahead(LONGEST_RECORD), 0, 0);
    while let Ok(true) = below.advance()
        && rows < FOLLOWING
    {
        rows += 1;
        let split = cells.split(&mut below, Separator::Spaces, LONGEST_RECORD);
        alike += usize::from(split.is_ok() && cells.len() == columns);
    }
    2 * alike >= rows
}

fn best(fits: &[(Separator, usize, SeparatorFit)]) -> Option<&(Separator, usize, SeparatorFit)> {
    // The first of several that are equal.
    fits.iter().reduce(|best, other| if other.2 < best.2 { other } else { best })
}

/// Number of cells in the current record, if they are several.
fn split(lines: &mut Lines, cells: &mut Cells, separator: Separator) -> Option<usize> {
    let split = cells.split(lines, separator, LONGEST_RECORD);
    lines.unjoin();
    split.ok().map(|()| cells.len()).filter(|&cells| cells > 1)
}

fn fit(cells: &Cells, separator: Separator, rivals: &[Separator]) -> SeparatorFit {
    let mut fit = SeparatorFit { unexplained: 0, texts: 0 };
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
        use Separator::{Bar, Comma, Other, Semicolon, Spaces, Tab, Twice};
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
            ("x y\na 1 2\nb 1 2\nc 1 2\n", Spaces),
            ("name of size\na b 3\nc d 4\n", Spaces),
            ("Report of May\nas of June\na,b\n1,2\n3,4\n", Comma),
            ("outside temperature\n1\n2\n", Comma),
            ("outside temperature\n", Comma),
            ("2024-05-31 12:30\n", Comma),
            ("x~y\n1~2\n3~4\n", Other(b'~')),
            ("1^2\n3^4\n", Other(b'^')),
            ("x:y\n1:2\n3:4\n", Other(b':')),
            ("x\u{1f}y\n1\u{1f}2\n", Other(0x1f)),
            ("x::y\n1::2\n", Twice(b':')),
            ("1::2::3\n4::5::6\n", Twice(b':')),
            ("x||y\n1||2\n", Twice(b'|')),
            // Times, a gap between bars, one row, and rows of another number of cells.
            ("12:30\n12:45\n", Comma),
            ("time\n12:30\n", Comma),
            ("x||y\n1|2|3\n", Bar),
            ("x~y\n", Comma),
            ("x~y\n1\n2~3\n", Comma),
            ("note: a\nnote: b c d\n", Comma),
        ] {
            if !text.is_empty() {
                assert_eq!(found(text), separator, "{text:?}");
            }
        }
    }
}
