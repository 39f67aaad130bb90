//! Delimited text as people have it: any separator, decimal commas, comments, dates, categories and
//! gaps.

use std::io::Cursor;

use mercer_readers::{
    Cell, DataError, Decimal, Format, Header, ReadOptions, Record, RowReader, Separator, TargetColumn, parse_instant,
    read_bytes,
};
use proptest::prelude::*;

pub(crate) fn csv() -> ReadOptions {
    ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() }
}

pub(crate) fn open(text: &str, options: &ReadOptions) -> Result<RowReader, DataError> {
    RowReader::records_from("f", Cursor::new(text.as_bytes().to_vec()), options)
}

/// The names of the columns and all records.
pub(crate) fn records(text: &str, options: &ReadOptions) -> (Vec<String>, Vec<Record>) {
    let mut reader = open(text, options).unwrap();
    let (mut record, mut all) = (Record::new(), Vec::new());
    while reader.next_record(&mut record).unwrap() {
        all.push(record.clone());
    }
    (reader.columns().to_vec(), all)
}

/// All rows of numbers, the target last.
fn numbers(text: &str, options: &ReadOptions) -> Vec<Vec<f64>> {
    let table = read_bytes("f", text.as_bytes().to_vec(), options).unwrap();
    table.iter().map(|(row, target)| row.iter().copied().chain([target]).collect()).collect()
}

pub(crate) fn refused(text: &str, options: &ReadOptions) -> String {
    let message = read_bytes("f", text.as_bytes().to_vec(), options).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

/// Records whose texts are taken for what they look like.
fn meant(records: &[Record]) -> Vec<Record> {
    let cell = |cell| match cell {
        Cell::Numeral(value, _) => Cell::Number(value),
        Cell::Text(text) => parse_instant(text).map_or(cell, Cell::Instant),
        cell => cell,
    };
    records.iter().map(|record| record.cells().map(cell).collect()).collect()
}

/// Banks and instruments write what a table is about above it.
#[test]
fn lines_above_a_table_are_left_out() {
    let table = "day;shop;amount\n2024-01-02;Ulm;1,5\n2024-01-03;Bonn;2,5\n2024-01-04;Ulm;3,5\n";
    let titles = [
        "Account:;DE12\nPeriod:;January\n\n",
        "Report of January\n",
        "Report of January\n\n",
        "Shop;Report of January\n\n\nas of May\n\n",
        "a;b\n\"c\nd\";e\n",
        // Separators fill the rows of a spreadsheet; words are no cells, nor what commas separate.
        "Report of January;;\nas of;;\n;;\n",
        "Report of May\nas of June\n",
        "Sales, May\nUlm, Bonn\n",
        "Sales, May\n",
        // An empty line parts a value from what it describes.
        "Source;World Bank\n\nUpdated;2025-10-07\n\n",
    ];
    for above in titles {
        let text = format!("{above}{table}");
        let mut reader = open(&text, &csv()).unwrap();
        assert_eq!(reader.columns(), ["day", "shop", "amount"], "{above:?}");
        let line = above.lines().count() + 1;
        let told = format!("f, line 1: stands above the table, which begins on line {line} with fuller rows,");
        assert!(reader.take_remark().map(|remark| remark.to_string()).unwrap().starts_with(&told), "{above}");
        let mut record = Record::new();
        assert!(reader.next_record(&mut record).unwrap() && record.cell(2) == Cell::Numeral(1.5, "1,5"));
        assert_eq!(reader.take_remark().map(|remark| remark.to_string()), None);
        let told = ReadOptions { header: Header::Present, ..csv() };
        let first = above.lines().next().unwrap().split([';', ',']).count();
        assert_eq!(open(&text, &told).unwrap().columns().len(), first);
    }
    // The World Bank's lines end with a comma, and its columns are years.
    let rows = "Peru,PER,1,,3,\nChad,TCD,4,5,,\n".repeat(2);
    let text = format!("Source,Indicators,\n\nUpdated,2025-10-07,\n\nCountry,Code,1960,1961,1962,\n{rows}");
    let (columns, read) = records(&text, &csv());
    assert_eq!(columns, ["Country", "Code", "1960", "1961", "1962"]);
    assert_eq!((read.len(), read[1].cell(3)), (4, Cell::Numeral(5.0, "5")));
    // A last value that is missing in one row alone is no end of a line.
    assert_eq!(records("a,1960,1961\nx,1,2\ny,3,\n", &csv()).0.len(), 3);
    // Comments are no rows, and another separator than that of the names has no say.
    let text = "a\tb\n\t\n# x, y\n# x, y\n# x, y\n\t1,5\n# x, y\n";
    assert_eq!(records(text, &csv()).0, ["a", "b"]);
    // Rows with cells too many are refused as ever.
    for text in ["a,b\nx,y\nx,y,z\nx,y,z\n", "a,b\n1,2\n1,2,3\n1,2,3\n1,2,3\n", "a,b\n1,2,3\n1,2\n"] {
        assert_eq!(open(text, &csv()).unwrap().columns(), ["a", "b"]);
    }
}

#[test]
fn what_a_person_has() {
    let text = "\u{feff}# exported\r\nday;colour;area;price in €\r\n31.05.2024;red;1,5;10\r\n\
                # the shop was shut\r\n01.06.2024;;;12,25\r\n02.06.2024;\"dark; red\";NA;-0,5\r\n";
    let (columns, records) = records(text, &csv());
    assert_eq!(columns, ["day", "colour", "area", "price in €"]);
    let day = 86_400.0;
    let first = 1_717_113_600.0;
    let expected: [[Cell<'_>; 4]; 3] = [
        [Cell::Instant(first), Cell::Text("red"), Cell::Number(1.5), Cell::Number(10.0)],
        [Cell::Instant(first + day), Cell::Missing, Cell::Missing, Cell::Number(12.25)],
        // Among categories a mark of a gap is a value.
        [Cell::Instant(first + 2.0 * day), Cell::Text("dark; red"), Cell::Text("NA"), Cell::Number(-0.5)],
    ];
    let expected: Vec<Record> = expected.into_iter().map(Record::from_iter).collect();
    assert_eq!(meant(&records), expected);
    // The text of a cell stays.
    assert_eq!(records[0].cell(2), Cell::Numeral(1.5, "1,5"));

    // Columns are chosen, and ordered, by the options.
    let chosen = ReadOptions { features: vec!["area".into(), "day".into()], ..csv() };
    let (columns, records) = self::records(text, &chosen);
    assert_eq!(columns, ["area", "day"]);
    assert_eq!(meant(&records)[0], Record::from_iter([Cell::Number(1.5), Cell::Instant(first)]));
    let ignored = ReadOptions { ignore: vec!["2".parse().unwrap()], ..csv() };
    assert_eq!(self::records(text, &ignored).0, ["day", "area", "price in €"]);
}

#[test]
fn numbers_with_any_separator() {
    let expected = [[1.0, 2.5, 3.0], [4.0, -5.25, 6.0]];
    for text in [
        "1,2.5,3\n4,-5.25,6\n",
        "1, 2.5, 3\n4 ,-5.25 ,6\n",
        "1;2.5;3\n4;-5.25;6\n",
        "1;2,5;3\n4;-5,25;6\n",
        "1\t2,5\t3\n4\t-5,25\t6\n",
        "1|2.5|3\n4|-5.25|6\n",
        " 1  2.5 3\n4 -5.25   6  \n",
        "1 2,5 3\n4 \t-5,25 6\n",
        "a;b;y\n1;2,5;3\n4;-5,25;6\n",
        "a b y\n1 2.5 3\n4 -5.25 6\n",
        "# a table of numbers\n#\n1,2.5,3\n# and more\n4,-5.25,6\n#\n",
        "# a,b,y\n1,2.5,3\n4,-5.25,6\n",
        "\"1\";\"2,5\";\"3\"\n4;\"-5,25\";6\n",
    ] {
        assert_eq!(numbers(text, &csv()), expected, "{text:?}");
    }
    let told = ReadOptions { separator: Some(Separator::Semicolon), decimal: Some(Decimal::Comma), ..csv() };
    assert_eq!(numbers("1;1,234\n2;2,345\n", &told), [[1.0, 1.234], [2.0, 2.345]]);
    // A tab is the separator of TSV, and can be overruled.
    let tsv = ReadOptions { format: Some(Format::Tsv), ..csv() };
    assert_eq!(numbers("1\t1,5\n", &tsv), [[1.0, 1.5]]);
    assert_eq!(numbers("1;1.5\n", &ReadOptions { separator: Some(Separator::Semicolon), ..tsv }), [[1.0, 1.5]]);
}

#[test]
fn targets_with_decimal_commas_are_numbers() {
    let auto = ReadOptions { targets: mercer_readers::Targets::Auto, ..csv() };
    assert_eq!(numbers("a;y\n1;0,5\n2;1,5\n", &auto), [[1.0, 0.5], [2.0, 1.5]]);
    assert_eq!(numbers("1;0,5\n2;1,5\n", &auto), [[1.0, 0.5], [2.0, 1.5]]);
    let point = ReadOptions { decimal: Some(Decimal::Point), ..auto };
    let table = read_bytes("f", &b"a;y\n1;0,5\n2;1,5\n"[..], &point).unwrap();
    assert_eq!(table.classes().unwrap(), ["0,5", "1,5"]);
}

#[test]
fn comments_may_hold_the_names() {
    let names = |text: &str| open(text, &csv()).map(|reader| reader.columns().to_vec()).unwrap();
    assert_eq!(names("# made by hand\n#id,a,b\n1,2,3\n"), ["id", "a", "b"]);
    assert_eq!(names("# x y z\n1 2 3\n"), ["x", "y", "z"]);
    assert_eq!(names("# made by hand, in May\nx,y\n1,2\n"), ["x", "y"]);
    assert_eq!(names("# made in May\n1,2\n"), ["x1", "x2"]);
    assert_eq!(names("# made in 2024, by hand\n1,2\n"), ["made in 2024", "by hand"]);
    // A row may begin with #.
    let (_, rows) = records("colour,x\n#ff0000,1\n# no row\n#00ff00,2\n", &csv());
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].cell(0), Cell::Text("#00ff00"));
    // Behind one that does, a line with cells is a row, and a ragged one is refused.
    let text = "colour,x\n#ff0000,1\n#00ff00,2,\n";
    let mut reader = RowReader::records_from("f", Cursor::new(text), &csv()).unwrap();
    assert!(reader.next_record(&mut Record::new()).unwrap());
    let ragged = reader.next_record(&mut Record::new()).unwrap_err().to_string();
    assert!(ragged.starts_with("f, line 3: has 3 cells"), "{ragged}");
    assert_eq!(records("colour,x\nff0000,1\n#00ff00,2,\nff,2\n", &csv()).1.len(), 2);
    assert_eq!(
        refused("# a\n# b\n", &csv()),
        "f: every line begins with #, which makes it a comment; add rows, or put the first cell of each in quotes"
    );
    assert!(refused("1,2\n#1,2\n", &csv()).starts_with("f, line 2, column 1: \"#1\" is not a number;"));
}

#[test]
fn what_may_mean_two_things_is_refused() {
    for (text, complaint) in [
        (
            "1;1,5\n2;2.5\n",
            "f, line 2, column 2: \"2.5\" has another decimal mark than line 1; write all numbers with the same, or say which it is (--decimal, --thousands)",
        ),
        ("1;1.5\n2;2,5\n", "f, line 2, column 2: \"2,5\" has another decimal mark than line 1;"),
        (
            "1;1,234\n2;3,456\n",
            "f, line 1, column 2: \"1,234\" may mean 1234 or 1.234; say which with --thousands comma or --decimal comma",
        ),
        (
            "1;1.234\n2;3.456\n",
            "f, line 1, column 2: \"1.234\" may mean 1234 or 1.234; say which with --thousands point or --decimal point",
        ),
        ("1\t1.234\n", "f, line 1, column 2: \"1.234\" may mean"),
        ("1|1.234\n", "f, line 1, column 2: \"1.234\" may mean"),
        ("1 -1.234\n", "f, line 1, column 2: \"-1.234\" may mean"),
        ("1,\"1,234\"\n2,\"987\"\n", "f, line 1, column 2: \"1,234\" may mean 1234 or 1.234;"),
        // No row is read before one of these tells.
        ("1;12\n2;1.234\n3;2.345\n", "f, line 2, column 2: \"1.234\" may mean"),
        ("a;y\n1;1.234.5\n", "f, line 2, column 2 (\"y\"): \"1.234.5\" is not a number"),
        ("1,5\n2,1 23\n", "f, line 2, column 2: \"1 23\" is not a number"),
        ("1,5\n2,0 234\n", "f, line 2, column 2: \"0 234\" is not a number"),
        ("1;2 345\n2;2'345\n", "f, line 1, column 2: \"2 345\" is not a number"),
        // Beside commas a point stands before a fraction.
        ("1,\"1.234\"\n2,\"12,5\"\n", "f, line 2, column 2: \"12,5\" has another decimal mark than line 1"),
    ] {
        let message = refused(text, &csv());
        assert!(message.starts_with(complaint), "{message}\nshould begin: {complaint}");
    }
    // Other cells tell.
    assert_eq!(numbers("0,5;1,234\n", &csv()), [[0.5, 1.234]]);
    assert_eq!(numbers("1;1,234\n2;2,5\n", &csv()), [[1.0, 1.234], [2.0, 2.5]]);
    assert_eq!(numbers("1;1,234\n2;2.5\n", &csv()), [[1.0, 1234.0], [2.0, 2.5]]);
    assert_eq!(numbers("1;1.234\n2;2.5\n", &csv()), [[1.0, 1.234], [2.0, 2.5]]);
    assert_eq!(numbers("0.125;1.234\n", &csv()), [[0.125, 1.234]]);
    let comma = ReadOptions { separator: Some(Separator::Comma), decimal: Some(Decimal::Comma), ..csv() };
    assert!(refused("1,2\n", &comma).contains("commas cannot both"));
    // A stray text is told as such.
    let told = ReadOptions { decimal: Some(Decimal::Point), ..csv() };
    assert!(refused("1;2\n1;2,5\n", &told).contains("\"2,5\" is not a number"));
}

#[test]
fn headers_in_doubt() {
    let doubt = |text: &str, header: Header| {
        let reader = open(text, &ReadOptions { header, ..csv() }).unwrap();
        (reader.columns()[0].clone(), reader.doubt().map(str::to_owned))
    };
    let found = |text: &str| {
        let (first, told) = doubt(text, Header::Detect);
        (first, told.is_some())
    };
    for (text, first, in_doubt) in [
        ("a,b\nx,1\n", "a", false),
        ("a,b\nx,y\n", "a", true),
        ("x,y\nx,z\n", "x1", false),
        ("a,b\n", "a", false),
        ("id,2019,2020\n7,1.5,2\n", "id", true),
        ("red,1\nblue,2\n", "x1", false),
        ("id,2019,2020,2021\nx,1.5,2,3\n", "id", true),
        ("country,code,1960,1961\nAruba,ABW,54608,55811\nAruba,ABW,54608,55811\n", "country", true),
        ("country,2000,1995,1990\nA,1,2,3\nB,4,5,6\n", "country", true),
        // As Eurostat writes them, with flags and colons for gaps.
        ("geo,2019 ,2020 \nAT,: ,7.1 b\nBE,1.5 ,2 \n", "geo", true),
        // Rows of years, a text that is there again, and years out of order are data.
        ("Bob,1985,2003\nAnn,1990,2001\n", "x1", false),
        ("red,1999,2001\nred,5,6\n", "x1", false),
        ("red,2001,1999,2000\nblue,5,6,7\n", "x1", false),
        // One year alone may be anything.
        ("red,1999\nblue,5\n", "x1", true),
        ("1990,1995,2000\n0.5,0.25,0.75\n0.5,0.25,0.75\n", "1990", true),
        ("2019,2020,2021\n0,0,0\n1,2,3\n", "2019", true),
        ("2019,2020\n2020,2021\n", "x1", false),
        ("400,410,420\n0.5,1.5,2.5\n", "400", true),
        ("400,410,420\n0.5,1.5,2.5\n1,2,3\n", "x1", false),
        ("400.0,410.0,420.0\n0.5,1.5,2.5\n", "x1", false),
        ("a,b\nx,\n,\ny,2\n", "a", false),
        (",a,b\n0,1,2\n", "", false),
        ("0,1,2\n0.5,1.5,2.5\n", "0", true),
        ("0,1,2\n0.5,1.5,2.5\n3,4,5\n", "x1", true),
        ("0,1,2\n3,4,5\n", "x1", false),
        ("3,1,2\n0.5,1.5,2.5\n", "x1", false),
        ("day;price\n2024-05-31;1,5\n", "day", false),
        ("2024-05-31;red;1,5\n2024-06-01;blue;2,5\n", "x1", false),
    ] {
        if text != "a,b\n" {
            assert_eq!(found(text), (first.to_owned(), in_doubt), "{text:?}");
        }
    }
    let text = "0,1,2\n0.5,1.5,2.5\n";
    assert_eq!(
        doubt(text, Header::Detect).1.unwrap(),
        "f, line 1: holds whole numbers that count, as names of columns may; it is read as a header: --header no reads it otherwise"
    );
    assert_eq!(doubt(text, Header::Present), ("0".to_owned(), None));
    assert_eq!(doubt(text, Header::Absent), ("x1".to_owned(), None));
    // Where all cells must be numbers the same is said.
    let reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), &csv()).unwrap();
    assert!(reader.doubt().is_some_and(|doubt| doubt.contains("line 1: holds whole numbers that count")));
    assert_eq!("yes".parse::<Header>().unwrap(), Header::Present);
    assert!("maybe".parse::<Header>().is_err());
}

/// Columns that are called by numbers.
#[test]
fn a_number_is_a_name_first() {
    let named = |text: &str, target: &str| {
        let options = ReadOptions { target: target.parse().unwrap(), ..csv() };
        let reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), &options).unwrap();
        (reader.target_name().map(str::to_owned), reader.doubt().is_some())
    };
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(named("1990,2005,1995\n1,2,3\n4,5,6\n", "2005"), (name("2005"), false));
    assert_eq!(named("3,1,2\n0.5,1.5,2.5\n", "3"), (None, false));
    assert_eq!(named("a,b,c\n1,2,3\n", "2"), (name("b"), false));
    let options = ReadOptions { mentioned: vec!["2005".parse().unwrap()], ..csv() };
    assert_eq!(records("1990,2005\n2000,2001\n", &options).0, ["1990", "2005"]);
}

#[test]
fn a_first_line_tells_the_separator() {
    let rows = [[1.0, 2.5], [3.0, 4.0]];
    for text in [
        "sep=;\na;y\n1;2,5\n3;4\n",
        "\u{feff}sep=;\r\na;y\r\n1;2,5\r\n3;4\r\n",
        "\"sep=,\"\na,y\n1,2.5\n3,4\n",
        "SEP=\t\na\ty\n1\t2.5\n3\t4\n",
        "sep=~\na~y\n1~2.5\n3~4\n",
        "sep=|\n# made by hand\na|y\n1|2.5\n3|4\n",
    ] {
        assert_eq!(numbers(text, &csv()), rows, "{text:?}");
    }
    let told = ReadOptions { separator: Some(Separator::Comma), ..csv() };
    assert_eq!(numbers("sep=;\n1,2.5\n3,4\n", &told), rows);
    assert_eq!(
        refused("sep=.\na.y\n", &csv()),
        "f, line 1: \"sep=.\" tells no separator; they are comma, semicolon, tab, bar, spaces, or a mark such as ~"
    );
    assert!(refused("a,y\n1,x\n", &csv()).starts_with("f, line 2"));
}

#[test]
fn lines_that_are_no_rows_are_refused_by_name() {
    let bad = |text: &str, options: &ReadOptions| {
        let mut reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), options).unwrap();
        let (mut example, mut bad, mut rows) = (mercer_readers::Example::default(), Vec::new(), 0);
        loop {
            match reader.next_example(&mut example) {
                Ok(true) => rows += 1,
                Ok(false) => return (rows, bad),
                Err(error) if error.concerns_one_row() => bad.push(error.to_string()),
                Err(error) => panic!("{error}"),
            }
        }
    };
    let auto = ReadOptions { targets: mercer_readers::Targets::Auto, ..csv() };
    let repeated = "f, line 3: repeats the header, as joined files do; remove the line";
    for (text, options) in [
        ("a,y\n1,2\na,y\n3,4\n", &csv()),
        ("a,y\n1,2\n\"a\", y\n3,4\n", &csv()),
        ("a,y\n1,2\na,y\n3,4\n", &auto),
        ("a,y\n1,red\na,y\n3,blue\n", &auto),
        ("1990,1995\n0.5,1.5\n1990,1995\n0.5,0.25\n", &csv()),
    ] {
        assert_eq!(bad(text, options), (2, vec![repeated.to_owned()]), "{text:?}");
    }
    // Numbers that may be a row are one.
    let told = ReadOptions { header: Header::Present, ..csv() };
    assert_eq!(bad("1,2\n3,4\n1,2\n", &told), (2, Vec::new()));
    let unit = "f, line 2, column 1 (\"a\"): \"cm\" stands between a name and numbers, as a unit does; remove the line";
    for text in ["a,y\ncm,kg\n1,2\n3,4\n", "a,y\ncm,-\n1,red\n3,blue\n", "a,y\ncm,\n1,2\n3,4\n"] {
        assert_eq!(bad(text, &auto), (2, vec![unit.to_owned()]), "{text:?}");
    }
    // A reader of records says the same, and takes rows of text as they are.
    let records = |text: &str| {
        let mut reader = open(text, &csv()).unwrap();
        let mut record = Record::new();
        reader.next_record(&mut record).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(records("a,c\ncm,-\n1,red\n3,blue\n").unwrap_err(), unit);
    assert_eq!(records("a,c\nx,red\ny,blue\nz,2\n"), Ok(()));
    assert_eq!(records("a,c\n,\n1,red\n"), Ok(()));
}

/// A writer that gives one line at a time, and counts those that were asked for.
struct Slow(std::collections::VecDeque<Vec<u8>>, std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl std::io::Read for Slow {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let Some(line) = self.0.front_mut() else { return Ok(0) };
        let count = bytes.len().min(line.len());
        bytes[..count].copy_from_slice(&line[..count]);
        line.drain(..count);
        if line.is_empty() {
            self.0.pop_front();
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(count)
    }
}

#[test]
fn a_record_is_given_before_the_next_is_asked_for() {
    for (text, before) in [
        ("day,colour,y\n2024-05-31,red,1\n2024-06-01,red,2\n2024-06-02,blue,3\n", 2),
        ("day;colour;y\n2024-05-31;red;1,5\n2024-06-01;red;2\n2024-06-02;blue;3\n", 2),
        ("2024-05-31,red,1\n2024-06-01,blue,2\n2024-06-02,blue,3\n", 2),
        ("1,2,4\n2,3,5\n", 1),
        ("outside temperature\n20.5\n21\n", 2),
        ("{\"a\":1}\n{\"a\":2}\n", 1),
    ] {
        let lines = text.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
        let taken = std::sync::Arc::default();
        let format = Some(if text.starts_with('{') { Format::Ndjson } else { Format::Csv });
        let input = Slow(lines, std::sync::Arc::clone(&taken));
        let mut reader = RowReader::records_from("f", input, &ReadOptions { format, ..csv() }).unwrap();
        let mut record = Record::new();
        let (mut rows, asked) = (0, || taken.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(asked(), before, "{text:?}");
        while reader.next_record(&mut record).unwrap() {
            rows += 1;
            assert!(asked() <= before.max(rows + usize::from(reader.is_named())), "{text:?}");
        }
    }
}

/// A record that cannot be read is one record's affair.
#[test]
fn bad_records_are_passed_over() {
    let mut reader = open("a;b\n1,5;x\n2;\n2.5;y\ninf;u\n4\n5;inf\n", &csv()).unwrap();
    let (mut record, mut said) = (Record::new(), Vec::new());
    loop {
        match reader.next_record(&mut record) {
            Ok(true) => said.push(record.len().to_string()),
            Ok(false) => break,
            Err(error) => {
                assert!(error.concerns_one_row() && record.is_empty());
                said.push(error.to_string());
            }
        }
    }
    assert_eq!(said.len(), 6);
    assert_eq!((&said[0][..], &said[1][..], &said[5][..]), ("2", "2", "2"));
    assert!(said[2].starts_with("f, line 4, column 1 (\"a\"): \"2.5\" has another decimal mark than line 2;"));
    assert!(said[3].starts_with("f, line 5, column 1 (\"a\"): \"inf\" is not a finite number;"));
    assert!(said[4].starts_with("f, line 6: has 1 cell"));
}

/// A cell as it is to come back.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Missing,
    Number(f64),
    Text(String),
    Day(u32),
}

impl Value {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(value) => Cell::Number(*value),
            Self::Text(text) => Cell::Text(text),
            Self::Day(day) => Cell::Instant(f64::from(86_400 * day)),
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Missing),
        4 => prop_oneof![-1e3..1e3_f64, any::<f64>().prop_filter("finite", |x| x.is_finite())].prop_map(Value::Number),
        2 => "[a-z]([ -~é;,|\n]{0,8}[a-z])?".prop_filter("not a number", |text| {
            text.parse::<f64>().is_err() && !["null"].contains(&&text[..])
        }).prop_map(Value::Text),
        1 => (1_u32..30).prop_map(Value::Day),
    ]
}

#[derive(Clone, Debug)]
struct Manner {
    separator: Separator,
    comma: bool,
    told: bool,
    comments: bool,
    crlf: bool,
}

fn manner() -> impl Strategy<Value = Manner> {
    let separator = prop::sample::select(vec![
        Separator::Comma,
        Separator::Semicolon,
        Separator::Tab,
        Separator::Bar,
        Separator::Spaces,
        Separator::Other(b'~'),
        Separator::Twice(b':'),
    ]);
    (separator, any::<[bool; 4]>()).prop_map(|(separator, [comma, told, comments, crlf])| Manner {
        separator,
        comma: comma && separator != Separator::Comma,
        told: told || matches!(separator, Separator::Other(_) | Separator::Twice(_)),
        comments,
        crlf,
    })
}

fn written(columns: usize, rows: &[Vec<Value>], manner: &Manner) -> String {
    let separator = match manner.separator {
        Separator::Comma => ",",
        Separator::Semicolon => ";",
        Separator::Tab => "\t",
        Separator::Bar => "|",
        Separator::Spaces => "  ",
        Separator::Other(_) => "~",
        Separator::Twice(_) => "::",
    };
    let cell = |value: &Value| match value {
        Value::Missing => "\"\"".to_owned(),
        Value::Number(value) if manner.comma => value.to_string().replace('.', ","),
        Value::Number(value) => value.to_string(),
        Value::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        Value::Day(day) => format!("1970-01-{:02}", day + 1),
    };
    let mut lines = vec![(0..columns).map(|column| format!("name{column}")).collect::<Vec<_>>().join(separator)];
    for row in rows {
        if manner.comments {
            lines.push("# a comment, or two; or three".to_owned());
        }
        lines.push(row.iter().map(cell).collect::<Vec<_>>().join(separator));
    }
    lines.join(if manner.crlf { "\r\n" } else { "\n" })
}

proptest! {
    /// A table comes back the same from every dialect, told or found.
    #[test]
    fn every_dialect_reads_back(
        (columns, rows) in (2_usize..5).prop_flat_map(|columns| {
            (Just(columns), prop::collection::vec(prop::collection::vec(value(), columns), 1..8))
        }),
        manner in manner(),
    ) {
        // A comment in quotes, or with as many cells as a row, is none.
        let comments = manner.comments && columns != 3 && !matches!(manner.separator, Separator::Comma | Separator::Semicolon | Separator::Spaces);
        let manner = Manner { comments, ..manner };
        // Three digits behind the first comma leave a doubt; the first number settles it here.
        let mut rows = rows;
        rows[0][0] = Value::Number(0.5);
        let text = written(columns, &rows, &manner);
        let told = ReadOptions {
            separator: Some(manner.separator),
            decimal: Some(if manner.comma { Decimal::Comma } else { Decimal::Point }),
            header: Header::Present,
            ..csv()
        };
        let (names, found) = records(&text, &if manner.told { told } else { csv() });
        prop_assert_eq!(names, (0..columns).map(|column| format!("name{column}")).collect::<Vec<_>>());
        let expected: Vec<Record> = rows.iter().map(|row| row.iter().map(Value::cell).collect()).collect();
        prop_assert_eq!(meant(&found), expected, "{}", text);
    }

    /// Rows of numbers and records of the same text agree to the bit.
    #[test]
    fn rows_and_records_agree(
        rows in prop::collection::vec(prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 3), 1..8),
        manner in manner(),
    ) {
        let values: Vec<Vec<Value>> = rows.iter().map(|row| row.iter().copied().map(Value::Number).collect()).collect();
        let text = written(3, &values, &Manner { comments: false, ..manner.clone() });
        let decimal = Some(if manner.comma { Decimal::Comma } else { Decimal::Point });
        let options = ReadOptions { target: TargetColumn::None, decimal, ..csv() };
        let mut reader = RowReader::from_reader("f", Cursor::new(text.clone().into_bytes()), &options).unwrap();
        let (mut row, (_, records)) = (Vec::new(), records(&text, &options));
        for (record, expected) in records.iter().zip(&rows) {
            prop_assert!(reader.next_features(&mut row).unwrap());
            prop_assert_eq!(row.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            prop_assert!(record.cells().map(Cell::number).eq(expected.iter().copied().map(Some)));
        }
        prop_assert!(!reader.next_features(&mut row).unwrap());
        prop_assert_eq!(records.len(), rows.len());
    }

    /// Any bytes in any dialect: records or refusals, never a panic, and every record is whole.
    #[test]
    fn anything_is_read_or_refused(text in "[0-9a-z\"#;,|. \t\r\n-]{0,80}", header in 0_usize..3) {
        let header = [Header::Detect, Header::Present, Header::Absent][header];
        let Ok(mut reader) = open(&text, &ReadOptions { header, ..csv() }) else { return Ok(()) };
        let mut record = Record::new();
        loop {
            match reader.next_record(&mut record) {
                Ok(true) => prop_assert_eq!(record.len(), reader.columns().len()),
                Ok(false) => break,
                Err(error) if error.concerns_one_row() => prop_assert!(record.is_empty()),
                Err(_) => break,
            }
        }
    }
}
