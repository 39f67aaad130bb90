//! Tables as terminals print them, by their first lines; and separators that are doubled.

use crate::frame::{has_bar, is_drawn, is_rule};
use crate::lines::Lines;
use crate::number::is_value;

/// Records behind the first that show a doubled separator.
const ENOUGH: usize = 8;

/// Tells if a line of types stands below the names of a printed table, which begins on the current
/// line: a rule stands between names and rows, or above the names as well. `None` for other tables.
pub(crate) fn of_printed(lines: &mut Lines) -> Option<bool> {
    let first = String::from_utf8_lossy(lines.text()).trim().to_owned();
    if !is_rule(&first) && !has_bar(&first) {
        return None;
    }
    // Whoever writes a row and waits is answered at once.
    let mut line = |number: usize| {
        let mut behind = lines.ahead(number);
        let there = (0..number).all(|_| matches!(behind.advance(), Ok(true)));
        there.then(|| String::from_utf8_lossy(behind.text()).trim().to_owned())
    };
    let second = line(1)?;
    if !is_rule(&first) {
        let joins = second.contains(|c: char| matches!(c, '+' | '|') || is_drawn(c) && c != '─');
        return (is_rule(&second) && joins).then_some(false);
    }
    if !has_bar(&second) {
        return None;
    }
    let third = line(2)?;
    let has_types = has_bar(&third) && line(3).is_some_and(|fourth| is_rule(&fourth));
    (is_rule(&third) || has_types).then_some(has_types)
}

/// Number of lines, the current one and those behind it, above a printed table between rules, as
/// reports have their titles.
pub(crate) fn titles_above(lines: &mut Lines) -> Option<usize> {
    const MOST: usize = 16;
    let is_title = |text: &str| !text.contains([',', ';', '\t']) && !is_value(text.as_bytes());
    let shown = |lines: &Lines| String::from_utf8_lossy(lines.text()).trim().to_owned();
    let first = shown(lines);
    if is_rule(&first) || has_bar(&first) || !is_title(&first) {
        return None;
    }
    // Whoever writes a row and waits is answered at once.
    let next = (1..4).find_map(|most| {
        let mut next = lines.ahead(most);
        matches!(next.advance(), Ok(true)).then(|| shown(&next))
    });
    if !is_title(&next?) {
        return None;
    }
    let (mut behind, mut texts) = (lines.ahead(MOST), Vec::new());
    while let Ok(true) = behind.advance() {
        texts.push(shown(&behind));
    }
    let begins = |window: &[String]| is_rule(&window[0]) && has_bar(&window[1]) && is_rule(&window[2]);
    let above = texts.windows(3).position(begins)?;
    (!texts[..above].iter().any(|text| has_bar(text))).then_some(above + 1)
}

/// True if a separator is doubled wherever it stands, in the current line and those behind it.
pub(crate) fn is_doubled(lines: &mut Lines, byte: u8) -> bool {
    let doubled = |line: &[u8]| {
        let runs = line.chunk_by(|a, b| a == b).filter(|run| run[0] == byte);
        let mut count = 0;
        runs.inspect(|_| count += 1).all(|run| run.len().is_multiple_of(2)).then_some(count)
    };
    let Some(1..) = doubled(lines.text()) else { return false };
    let (mut behind, mut rows) = (lines.ahead(ENOUGH), 0);
    while let Ok(true) = behind.advance() {
        if !matches!(doubled(behind.text()), Some(1..)) {
            return false;
        }
        rows += 1;
    }
    rows > 0
}

#[cfg(test)]
mod tests {
    use crate::{Cell, Format, ReadOptions, Record, RowReader};

    /// The names and the rows of a text, and what is told.
    fn read(text: &str) -> (Vec<String>, Vec<Vec<String>>, Vec<String>) {
        let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
        let mut reader =
            RowReader::records_from("f", std::io::Cursor::new(text.as_bytes().to_vec()), &options).unwrap();
        let (mut record, mut rows) = (Record::new(), Vec::new());
        while reader.next_record(&mut record).unwrap_or(true) {
            rows.push(record.cells().filter(|cell| *cell != Cell::Missing).map(|cell| cell.to_string()).collect());
        }
        let told = std::iter::from_fn(|| reader.take_remark()).map(|remark| remark.to_string()).collect();
        (reader.columns().to_vec(), rows, told)
    }

    #[test]
    fn tables_of_terminals_are_read() {
        for text in [
            " x  | c | y\n----+---+---\n  1 | a | 2.5\n 30 | b | 4\n(2 rows)\n",
            "+----+---+-----+\n| x  | c | y   |\n+----+---+-----+\n|  1 | a | 2.5 |\n| 30 | b |   4 |\n+----+---+-----+\n2 rows in set (0.00 sec)\n",
            "| x | c | y |\n|---|:---:|---:|\n| 1 | a | 2.5 |\n| 30 | b | 4 |\n",
            "┌────┬───┬─────┐\n│ x  │ c │  y  │\n├────┼───┼─────┤\n│  1 │ a │ 2.5 │\n│ 30 │ b │   4 │\n└────┴───┴─────┘\n",
            "┌────┬─────────┬────────┐\n│ x  │    c    │   y    │\n│ int32 │ varchar │ double │\n├────┼─────────┼────────┤\n│  1 │ a │ 2.5 │\n│ 30 │ b │ 4 │\n└────┴─────────┴────────┘\n",
            "╒════╤═══╤═════╕\n│ x  │ c │  y  │\n╞════╪═══╪═════╡\n│  1 │ a │ 2.5 │\n├────┼───┼─────┤\n│ 30 │ b │   4 │\n╘════╧═══╧═════╛\n",
            "Sales of May\n\n---------------\n| x  | c | y   |\n---------------\n|  1 | a | 2.5 |\n| 30 | b |   4 |\n---------------\n",
        ] {
            let (names, rows, told) = read(text);
            assert_eq!(names, ["x", "c", "y"], "{text}");
            assert_eq!(rows, [["1", "a", "2.5"], ["30", "b", "4"]], "{text}");
            let title = text.starts_with("Sales");
            assert!(
                told[0]
                    .starts_with(&format!("f, line {}: is a table as a terminal prints it", if title { 3 } else { 1 }))
            );
            assert_eq!(told[0].ends_with("what stands above it, from line 1 on, is left out"), title, "{told:?}");
        }
    }

    #[test]
    fn other_tables_have_no_frame() {
        for text in ["a|b\n-|-\n1|2\n", "a|b\n--|--\n1|2\n", "a|b\n1|2\n", "---\n1\n2\n", "a\n---\n1\n"] {
            let told = read(text).2;
            assert!(!told.iter().any(|told| told.contains("terminal")), "{text}: {told:?}");
        }
    }

    #[test]
    fn doubled_separators_are_one() {
        for (text, names) in [
            ("a::b::c\n1::2::x\n3::4::y\n", &["a", "b", "c"][..]),
            ("a||b\n1||2\n3||4\n", &["a", "b"]),
            ("1::1193::5\n1::661::3\n", &["x1", "x2", "x3"]),
        ] {
            assert_eq!(read(text).0, names, "{text}");
        }
        // A gap between two bars is one.
        assert_eq!(read("a||b\n1|2|3\n").0, ["a", "", "b"]);
    }
}
