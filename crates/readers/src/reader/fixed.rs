//! Fixed-width text: a header line, and below it columns that always stand at the same places of
//! the line, as printed tables have them.
//!
//! ```text
//! city      population   area
//! New York   8 335 897  778.2
//! Ulm          128 928
//! ```
//!
//! A place is a gap if the header and all of the first lines have a blank there, or end before it.
//! Between two gaps is a column; the first begins with the line, and the last ends with it. Places
//! are counted in characters. A line that ends early has no values in its last columns, and one
//! with text in a gap is refused.

use std::ops::Range;
use std::str;

use mercer_core::{Cell, is_gap_mark};

use crate::columns::{ColumnPlan, Role};
use crate::dialect::{Marks, Separator};
use crate::error::{CellPlace, DataError, DialectError, Finding, Remark};
use crate::head::TargetHead;
use crate::lines::{HEAD_LINES, Lines, Source};
use crate::marks::{self, CellReading, MarkSearch, Notation};
use crate::number::{self, ParsedCell};
use crate::options::{Header, ReadOptions};
use crate::record::Record;
use crate::rows::Rows;

/// The rows of a fixed-width text, and its lines.
pub(super) fn open(mut source: Source, options: &ReadOptions) -> Result<(Box<dyn Rows>, Lines), DataError> {
    let mut lines = source.lines()?;
    Ok((Box::new(Fixed::begin(&mut lines, options)?), lines))
}

/// The rows of a fixed-width text.
struct Fixed {
    /// The places of each column, from 0.
    places: Vec<Range<usize>>,
    names: Option<Vec<String>>,
    /// The header line, which is no row when it comes again.
    header: Option<Vec<u8>>,
    plan: ColumnPlan,
    notation: Notation,
    /// Remarks that a person should know, until they are asked for.
    remarks: Vec<Remark>,
    /// The current line is a row not yet given out: the first, when there is no header.
    pending: bool,
    /// The bytes of each cell of the current line.
    cells: Vec<Range<usize>>,
}

impl Fixed {
    /// Takes the header and finds the columns, for which up to [`HEAD_LINES`] lines are read ahead.
    fn begin(lines: &mut Lines, options: &ReadOptions) -> Result<Self, DataError> {
        if !lines.advance()? {
            return Err(DataError::Empty { file: lines.file().to_owned() });
        }
        if let (Some(mark), Some(thousands)) = (options.decimal, options.thousands)
            && thousands.as_decimal() == Some(mark)
        {
            return Err(DialectError::MarkTwice { file: lines.file().to_owned(), mark }.into());
        }
        let places = find_columns(lines);
        let (mut names, mut header) = (None, None);
        if options.header != Header::Absent {
            let mut cells = Vec::new();
            let text = split(lines, &places, &mut cells)?;
            names = Some(cells.iter().map(|cell| text[cell.clone()].trim().to_owned()).collect::<Vec<_>>());
            header = Some(lines.text().to_vec());
        }
        let plan = ColumnPlan::new(lines.file(), places.len(), names.as_deref(), options)?;
        let notation = Notation::new(options, Separator::Spaces, places.len());
        let (pending, remarks, cells) = (header.is_none(), Vec::new(), Vec::new());
        Ok(Self { places, names, header, plan, notation, remarks, pending, cells })
    }

    /// Makes a record of the current line, which has been split; false if the lines behind it are
    /// to be looked at before.
    fn cells_into(&mut self, lines: &Lines, record: &mut Record) -> Result<bool, DataError> {
        let Self { cells, plan, names, notation, remarks, .. } = self;
        record.blank(plan.width());
        for (column, cell) in cells.iter().enumerate() {
            let text = str::from_utf8(&lines.text()[cell.clone()]).unwrap_or_default().trim();
            let place = || lines.cell(column, names.as_ref().map(|names| names[column].as_str()));
            let slot = match plan.role(column) {
                Role::Ignored => continue,
                Role::Label(_) if notation.gaps().has_text(text.as_bytes()) => continue,
                Role::Label(slot) => {
                    record.set(slot, number::text_cell(text));
                    continue;
                }
                Role::Value(slot) => slot,
            };
            let Some(parsed) = parse((notation, remarks), text, (lines.line_number(), column), place)? else {
                return Ok(false);
            };
            let cell = match parsed {
                ParsedCell::Number(value) => Cell::Numeral(value, text),
                ParsedCell::Empty => Cell::Missing,
                ParsedCell::NotFinite if !notation.holds_text(column) => {
                    return Err(DataError::NotFinite { cell: place(), value: text.to_owned() });
                }
                ParsedCell::NotFinite | ParsedCell::Nan | ParsedCell::Text => {
                    if !is_gap_mark(text) {
                        notation.see_text(column);
                    }
                    number::text_cell(text)
                }
            };
            record.set(slot, cell);
        }
        Ok(true)
    }

    /// Looks at the current line and those behind it, and learns of their marks.
    fn look(&mut self, lines: &mut Lines) {
        let Self { places, plan, notation, cells, .. } = self;
        let (mut look, line) = (MarkSearch::new(plan.columns()), lines.line_number());
        let mut see = |text: &[u8], cells: &[Range<usize>], line| {
            for (column, cell) in cells.iter().enumerate() {
                let cell = &text[cell.clone()];
                if matches!(plan.role(column), Role::Value(_)) && !notation.gaps().has_text(cell) {
                    look.see(cell, line, column);
                }
            }
        };
        see(lines.text(), cells, line);
        let (mut behind, mut others) = (lines.ahead(HEAD_LINES), Vec::new());
        while let Ok(true) = behind.advance() {
            if split(&behind, places, &mut others).is_ok() {
                see(behind.text(), &others, line + behind.line_number());
            }
        }
        notation.learn(&look);
        notation.go_on(line);
    }
}

impl Rows for Fixed {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn head(&mut self, lines: &mut Lines, target: usize, options: &ReadOptions) -> Result<TargetHead, DataError> {
        let (mut head, mut cells) = (TargetHead::default(), Vec::new());
        let mut see = |lines: &Lines| {
            // What cannot be split is told when it is read.
            if let Ok(text) = split(lines, &self.places, &mut cells) {
                head.see(marks::kind(text[cells[target].clone()].as_bytes(), options));
            }
        };
        if self.pending {
            see(lines);
        }
        let mut behind = lines.ahead(HEAD_LINES);
        while let Ok(true) = behind.advance() {
            see(&behind);
        }
        Ok(head)
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        if !std::mem::take(&mut self.pending) && !lines.advance()? {
            return Ok(false);
        }
        if self.header.as_deref() == Some(lines.text()) {
            return Err(DataError::RepeatedHeader { line: lines.line() });
        }
        split(lines, &self.places, &mut self.cells)?;
        let mut known = self.notation.known();
        loop {
            match self.cells_into(lines, record) {
                Ok(true) => return Ok(true),
                Ok(false) => {
                    self.look(lines);
                    known = self.notation.known();
                }
                Err(error) => {
                    self.notation.back_to(known);
                    return Err(error);
                }
            }
        }
    }

    fn take_remark(&mut self) -> Option<Remark> {
        (!self.remarks.is_empty()).then(|| self.remarks.remove(0))
    }

    fn marks(&self) -> Marks {
        self.notation.marks()
    }

    fn has_header(&self) -> bool {
        self.names.is_some()
    }
}

/// The places of the columns, by the current line and those behind it.
fn find_columns(lines: &mut Lines) -> Vec<Range<usize>> {
    let mut filled = Vec::new();
    let mut see = |text: &[u8]| {
        for (place, character) in String::from_utf8_lossy(text).chars().enumerate() {
            if filled.len() <= place {
                filled.push(false);
            }
            filled[place] |= character != ' ';
        }
    };
    see(lines.text());
    let mut behind = lines.ahead(HEAD_LINES);
    while let Ok(true) = behind.advance() {
        see(behind.text());
    }
    let mut places: Vec<Range<usize>> = Vec::new();
    for (place, _) in filled.iter().enumerate().filter(|(_, filled)| **filled) {
        match places.last_mut() {
            Some(last) if last.end == place => last.end += 1,
            _ => places.push(place..place + 1),
        }
    }
    if let Some(first) = places.first_mut() {
        first.start = 0;
    }
    if let Some(last) = places.last_mut() {
        last.end = usize::MAX;
    }
    places
}

/// Puts the bytes of each cell of the current line into `cells`; gives the line's text. `O(bytes)`.
fn split<'a>(lines: &'a Lines, places: &[Range<usize>], cells: &mut Vec<Range<usize>>) -> Result<&'a str, DataError> {
    cells.clear();
    let text = match str::from_utf8(lines.text()) {
        Ok(text) => text,
        Err(error) => {
            let place = String::from_utf8_lossy(&lines.text()[..error.valid_up_to()]).chars().count();
            let column = places.iter().position(|column| place < column.end).unwrap_or_default();
            return Err(DataError::CellEncoding { cell: lines.cell(column, None) });
        }
    };
    let mut rest = text.char_indices().map(|(at, character)| (at, character == ' ')).enumerate().peekable();
    for column in places {
        while let Some((place, (_, blank))) = rest.next_if(|(place, _)| *place < column.start) {
            if !blank {
                return Err(DataError::BetweenColumns { line: lines.line(), character: place + 1 });
            }
        }
        let begin = rest.peek().map_or(text.len(), |(_, (at, _))| *at);
        while rest.next_if(|(place, _)| *place < column.end).is_some() {}
        cells.push(begin..rest.peek().map_or(text.len(), |(_, (at, _))| *at));
    }
    Ok(text)
}

/// Value of a cell at that line and column, by the marks of the file; `None` if the lines behind it
/// are to be looked at before.
fn parse(
    (notation, remarks): (&mut Notation, &mut Vec<Remark>),
    text: &str,
    (line, column): (u64, usize),
    place: impl Fn() -> CellPlace,
) -> Result<Option<ParsedCell>, DataError> {
    let (told, value) = (notation.tells_groups(), || text.to_owned());
    match notation.read(text.as_bytes(), line, column) {
        CellReading::Parsed(parsed) => Ok(Some(parsed)),
        CellReading::Grouped(parsed, mark) => {
            if let (false, ParsedCell::Number(number)) = (told, parsed) {
                let found = Finding::ReadAsThousands { cell: place(), text: value(), value: number, mark };
                remarks.push(found.remark());
            }
            Ok(Some(parsed))
        }
        CellReading::Asks => Ok(None),
        CellReading::Mixed(first) => Err(DialectError::MixedDecimals { cell: place(), value: value(), first }.into()),
        CellReading::Doubtful(mark) => Err(DialectError::DoubtfulMark { cell: place(), value: value(), mark }.into()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Cell, DataError, Dataset, Format, Header, Missing, ReadOptions, Record, RowReader, Targets, read_bytes,
    };

    const TOWNS: &str = "\u{feff}city      population    area  class\n\
                         New York   8 335 897  778.25  a b\n\
                         \n\
                         Köln       1 073 096  405.01  c\n\
                         Ulm          128 928\n\
                         Zürich       443 037   87.88  longer-than-all\n";

    fn options() -> ReadOptions {
        ReadOptions { format: Some(Format::Fixed), ..ReadOptions::default() }
    }

    fn table(text: &str, options: &ReadOptions) -> Result<Dataset, DataError> {
        read_bytes("table", text.as_bytes().to_vec(), options)
    }

    #[test]
    fn cells_stand_at_the_places_of_the_first_lines() {
        for text in [TOWNS.to_owned(), TOWNS.replace('\n', "\r\n")] {
            let mut reader = RowReader::records_from("towns", std::io::Cursor::new(text), &options()).unwrap();
            assert_eq!(reader.columns(), ["city", "population", "area", "class"]);
            let (mut record, mut rows) = (Record::new(), Vec::new());
            while reader.next_record(&mut record).unwrap() {
                rows.push((reader.line(), record.clone()));
            }
            let (last, of) = (Cell::Text("longer-than-all"), |cells: [Cell<'_>; 4]| cells.into_iter().collect());
            let ulm = of([Cell::Text("Ulm"), Cell::Numeral(128_928.0, "128 928"), Cell::Missing, Cell::Missing]);
            let york = [Cell::Numeral(8_335_897.0, "8 335 897"), Cell::Numeral(778.25, "778.25"), Cell::Text("a b")];
            assert_eq!(rows[0], (2, of([Cell::Text("New York"), york[0], york[1], york[2]])));
            assert_eq!(rows[2], (5, ulm));
            let (line, zurich) = &rows[3];
            assert_eq!((*line, zurich.cell(0), zurich.cell(3)), (6, Cell::Text("Zürich"), last));
            assert!(reader.take_remark().is_some_and(|remark| remark.to_string().contains("8 335 897")));
        }
    }

    #[test]
    fn numbers_and_labels_are_read() {
        let text = "  x    y  kind\n 1.5  -2   red\n10.25  3  blue\n  7       blue\n";
        let labelled = ReadOptions { targets: Targets::Auto, missing: Missing::Nan, ..options() };
        let labels = table(text, &labelled).unwrap();
        assert_eq!((labels.len(), labels.classes().unwrap()), (3, &["blue".to_owned(), "red".to_owned()][..]));
        assert!(labels.row(2)[1].is_nan());
        let refused = table(text, &ReadOptions { targets: Targets::Auto, ..options() }).unwrap_err().to_string();
        assert_eq!(refused, "table, line 4, column 2 (\"y\"): the cell has no value; fill it, or remove the row");
        let bare = table("1 20\n3  4\n", &ReadOptions { header: Header::Absent, ..options() }).unwrap();
        assert_eq!((bare.len(), bare.row(0), bare.row(1)), (2, &[1.0][..], &[3.0][..]));
    }

    #[test]
    fn what_does_not_stand_in_its_column_is_refused_by_its_line() {
        let mut text = "name   size\n".to_owned();
        (0..300).for_each(|t| text += &format!("town   {t:>4}\n"));
        text += "Hamburg   5\nBonn      6\nname   size\n";
        let mut reader = RowReader::records_from("table", std::io::Cursor::new(text), &options()).unwrap();
        assert_eq!(reader.skip_rows(300).unwrap(), 300);
        let mut record = Record::new();
        let error = reader.next_record(&mut record).unwrap_err();
        let told =
            "table, line 302, character 5: has text between two columns; align it with those above, or remove it";
        assert_eq!((error.to_string().as_str(), error.concerns_one_row()), (told, true));
        assert_eq!(reader.text(), b"Hamburg   5");
        assert!(reader.next_record(&mut record).unwrap());
        assert!(record.cells().eq([Cell::Text("Bonn"), Cell::Numeral(6.0, "6")]));
        assert!(matches!(reader.next_record(&mut record), Err(DataError::RepeatedHeader { .. })));
        assert!(!reader.next_record(&mut record).unwrap());

        let empty = table("", &options()).unwrap_err().to_string();
        assert!(empty.contains("is empty"), "{empty}");
        let header = table("a  b\n", &options()).unwrap_err().to_string();
        assert!(header.contains("has a header and no row"), "{header}");
        let damaged = read_bytes("t", &b"a    b\nK\x81ln 1\n"[..], &options()).unwrap_err().to_string();
        assert!(damaged.contains("line 2, column 1") && damaged.contains("UTF-8"), "{damaged}");
    }

    #[test]
    fn a_mark_that_may_mean_two_things_is_refused_until_it_is_told() {
        let text = "item  price  y\nnut   1.234  1\nbolt  5.678  2\n";
        let mut reader = RowReader::records_from("t", text.as_bytes(), &options()).unwrap();
        assert!(reader.next_record(&mut Record::new()).unwrap_err().to_string().contains("1.234"));
        let told = ReadOptions { thousands: Some(".".parse().unwrap()), ..options() };
        let (mut reader, mut record) = (RowReader::records_from("t", text.as_bytes(), &told).unwrap(), Record::new());
        assert!(reader.next_record(&mut record).unwrap());
        assert_eq!(record.cell(1), Cell::Numeral(1234.0, "1.234"));
    }
}
