//! Names of rows, above which no name stands.

use std::collections::HashSet;

use crate::cells::Cells;
use crate::dialect::{LONGEST_RECORD, Separator};
use crate::lines::Lines;
use crate::marks::has_decimal_comma;
use crate::number::is_value;

/// Rows of a table by which their names are known.
const ENOUGH: usize = 3;
/// Lines that are looked at behind the first record.
const MOST: usize = 24;

/// True if the rows behind a first record of names have one cell more than that, a name of their
/// own in front, as R writes tables.
pub(crate) fn are_there(lines: &mut Lines, separator: Separator, first: &Cells) -> bool {
    if first.len() < 2 || first.iter().any(|cell| is_value(cell) || cell.trim_ascii().is_empty()) {
        return false;
    }
    let (mut cells, mut names) = (Cells::default(), HashSet::new());
    // The next line settles it for most files.
    for most in [1, MOST] {
        names.clear();
        let mut behind = lines.ahead(most);
        while let Ok(true) = behind.advance() {
            // A record may go on beyond the look.
            if cells.split(&mut behind, separator, LONGEST_RECORD).is_err() {
                break;
            }
            let name = cells.iter().next().unwrap_or_default();
            // Names of columns under a title have no values.
            let are_names = names.is_empty() && !cells.iter().any(|cell| is_value(cell) || has_decimal_comma(cell));
            if cells.len() != first.len() + 1 || are_names || !names.insert(name.to_vec()) {
                return false;
            }
        }
    }
    names.len() >= ENOUGH
}
