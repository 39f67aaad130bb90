//! Search for the separator of a delimited text.

use crate::cells::Cells;
use crate::dialect::{LONGEST_RECORD, Separator};
use crate::lines::Lines;
use crate::marks;
use crate::number::is_value;
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

/// True if blanks separate cells rather than the words of two sentences: the record `behind` has
/// values alone, or half of those below have as many cells.
fn are_columns(lines: &mut Lines, behind: &mut Lines, cells: &mut Cells, columns: usize) -> bool {
    const FOLLOWING: usize = 8;
    if split(behind, cells, Separator::Spaces).is_some() && cells.iter().all(is_value) {
        return true;
    }
    let (mut below, mut rows, mut alike) = (lines.ahead(FOLLOWING), 0, 0);
    while let Ok(true) = below.advance() {
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
            ("x y\na 1 2\nb 1 2\nc 1 2\n", Spaces),
            ("name of size\na b 3\nc d 4\n", Spaces),
            ("Report of May\nas of June\na,b\n1,2\n3,4\n", Comma),
            ("outside temperature\n1\n2\n", Comma),
            ("outside temperature\n", Comma),
            ("2024-05-31 12:30\n", Comma),
        ] {
            if !text.is_empty() {
                assert_eq!(found(text), separator, "{text:?}");
            }
        }
    }
}
