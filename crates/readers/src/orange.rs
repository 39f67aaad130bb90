//! The two lines that Orange writes below the names of columns: their types, and their roles.

use crate::cells::Cells;
use crate::dialect::Separator;
use crate::lines::Lines;

/// Names of types, and of roles.
const TYPES: [&str; 9] = ["continuous", "discrete", "string", "time", "c", "d", "s", "t", "basket"];
const ROLES: [&str; 7] = ["class", "meta", "ignore", "weight", "i", "m", "w"];

/// The column of the class, or none, if the two lines behind the current one are such.
pub(crate) fn find(lines: &mut Lines, separator: Separator, columns: usize) -> Option<Option<usize>> {
    let mut cells = Cells::default();
    // Whoever writes a row and waits is answered at once.
    let mut record = |number: usize| {
        let mut behind = lines.ahead(number);
        let there = (0..number).all(|_| matches!(behind.advance(), Ok(true)));
        (there && cells.whole(behind.text(), separator) && cells.len() == columns)
            .then(|| cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_lowercase()).collect::<Vec<_>>())
    };
    let types = record(1)?;
    // A discrete column may list its values in place of its type.
    let known = types.iter().filter(|cell| TYPES.contains(&cell.as_str())).count();
    let are_types = types.iter().all(|cell| !cell.is_empty() && cell.parse::<f64>().is_err());
    if !are_types || 2 * known <= columns {
        return None;
    }
    let roles = record(2)?;
    let is_role = |cell: &String| cell.is_empty() || cell.contains('=') || ROLES.contains(&cell.as_str());
    let told = roles.iter().any(|cell| ROLES.contains(&cell.as_str()));
    let are_long = types.iter().any(|cell| TYPES[..4].contains(&cell.as_str()));
    (roles.iter().all(is_role) && (told || are_long && known == columns))
        .then(|| roles.iter().position(|cell| cell == "class"))
}

#[cfg(test)]
mod tests {
    use crate::{Format, ReadOptions, Record, RowReader};

    #[test]
    fn lines_of_types_and_roles_are_no_rows() {
        for (text, rows, told) in [
            ("x\tcolor\tiris\ncontinuous\tdiscrete\tdiscrete\n\t\tclass\n1\tr\ta\n2\tg\tb\n", 2, ""),
            ("iris\tx\tcolor\nd\tc\tr g\nclass\t\t\na\t1\tr\nb\t2\tg\n", 2, ", and the class is \"iris\" (--target)"),
            ("x\ty\ncontinuous\tcontinuous\n\t\n1\t2\n", 1, ""),
        ] {
            let options = ReadOptions { format: Some(Format::Tsv), ..ReadOptions::default() };
            let mut reader =
                RowReader::records_from("f", std::io::Cursor::new(text.as_bytes().to_vec()), &options).unwrap();
            let remark = reader.take_remark().unwrap().to_string();
            assert_eq!(
                remark,
                format!(
                    "f, line 2: begins two lines of types and roles, as Orange writes them; they are no rows{told}"
                )
            );
            assert_eq!(reader.skip_rows(u64::MAX).unwrap(), rows);
        }
        // Letters may be categories.
        for text in ["x\ty\nc\td\n\t\n1\t2\n", "x\ty\nc\td\na\tb\n", "kind\ty\nstring\t1\nclass\t2\n"] {
            let options = ReadOptions { format: Some(Format::Tsv), ..ReadOptions::default() };
            let mut reader =
                RowReader::records_from("f", std::io::Cursor::new(text.as_bytes().to_vec()), &options).unwrap();
            assert!(reader.next_record(&mut Record::new()).is_ok_and(|read| read), "{text}");
            assert_eq!(reader.line(), 2, "{text}");
        }
    }
}
