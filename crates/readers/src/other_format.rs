//! Delimited text that is JSON or LIBSVM.

use crate::cells::Cells;
use crate::dialect::Separator;
use crate::lines::Lines;
use crate::number::{self, ParsedCell};
use crate::other_kind::OtherKind;

const JSON: OtherKind = OtherKind { kind: "JSON", remedy: "name it *.ndjson or *.json, or say --format ndjson" };
const LIBSVM: OtherKind = OtherKind { kind: "LIBSVM", remedy: "name it *.libsvm, or say --format libsvm" };

/// Format of the first record of a delimited text, if it is JSON or LIBSVM. The latter is known by
/// the records behind it, if these `may` be waited for.
pub(crate) fn of_record(lines: &mut Lines, may: bool) -> Option<OtherKind> {
    let text = lines.text().trim_ascii();
    let is_json = match text.first()? {
        b'{' => text == b"{" || serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok(),
        b'[' => text == b"[" || matches!(text.get(1), Some(b'{' | b'[')),
        _ => false,
    };
    if is_json {
        return Some(JSON);
    }
    (may && is_libsvm(lines)).then_some(LIBSVM)
}

/// True if rows are `target index:value …`, with indices that rise. `8:30 12:45` may be times.
fn is_libsvm(lines: &mut Lines) -> bool {
    const ROWS: usize = 8;
    let mut cells = Cells::default();
    if !cells.whole(lines.text(), Separator::Spaces) || pairs(&cells).is_none() {
        return false;
    }
    let mut certain = pairs(&cells) == Some(true);
    let mut behind = lines.ahead(ROWS);
    while let Ok(true) = behind.advance() {
        let split = cells.whole(behind.text(), Separator::Spaces);
        match pairs(&cells).filter(|_| split) {
            Some(more) => certain |= more,
            None => return false,
        }
    }
    certain
}

/// Tells if pairs of an index and a value follow a number, and some pair is no time of day. `None`
/// for a record that is not so.
fn pairs(cells: &Cells) -> Option<bool> {
    let is_number = |text: &[u8]| matches!(number::parse(text), ParsedCell::Number(_));
    let mut cells = cells.iter();
    cells.next().filter(|target| is_number(target))?;
    let (mut last, mut certain) = (None, false);
    for cell in cells {
        let (index, value) = std::str::from_utf8(cell).ok()?.split_once(':')?;
        let rises = index.parse::<u64>().ok().filter(|index| last.is_none_or(|last| last < *index));
        last = Some(rises.filter(|_| is_number(value.as_bytes()))?);
        certain |= value.len() != 2;
    }
    last.map(|_| certain)
}

#[cfg(test)]
mod tests {
    use crate::{Format, ReadOptions, RowReader};

    fn refused(bytes: &[u8]) -> Option<String> {
        let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
        RowReader::records_from("f", std::io::Cursor::new(bytes.to_vec()), &options)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn what_is_no_table_is_refused_by_its_kind() {
        for (bytes, kind) in [
            (&b"PK\x03\x04..."[..], "a spreadsheet or an archive"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"ARROW1\0\0", "Arrow"),
            (b"SQLite format 3\0\x10", "a database"),
            (b"BZh91AY&SY\x01", "bzip2"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet"),
            (b"\x89HDF\r\n\x1a\n", "HDF5"),
            (b"\x93NUMPY\x01\0v\0{'descr'", "an array of NumPy"),
            (b"Obj\x01\x04\x14avro.codec", "Avro"),
            (b"ORC\x08\x03", "ORC"),
            (b"\x80\x04\x95\x10", "a pickle of Python"),
            (b"CDF\x01\0\0", "NetCDF"),
            (b"%PDF-1.7\n", "PDF"),
            (b"\x89PNG\r\n\x1a\n", "a picture"),
            (b"\n  <table><tr><td>1", "a page of the web"),
            (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
            (b"<!DOCTYPE html>\n<p>1,2\n", "a page of the web"),
            (b"@RELATION x\n@DATA\n1,2\n", "ARFF"),
            (b"{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":3}\n", "JSON"),
            (b"{\n  \"a\": 1\n}\n", "JSON"),
            (b"[{\"a\":1,\"b\":2},\n{\"a\":2,\"b\":3}]\n", "JSON"),
            (b"[\n{\"a\":1}\n]\n", "JSON"),
            (b"1 1:0.5 2:1\n-1 1:0.25\n", "LIBSVM"),
            (b"+1 3:1 11:1\n-1 7:1 12:1 120:1\n", "LIBSVM"),
        ] {
            let told = format!("f: is {kind}; ");
            let message = refused(bytes).unwrap();
            assert!(message.starts_with(&told), "{message}");
        }
        for text in [
            "{a},b\n1,2\n",
            "[a],b\n1,2\n",
            "5 8:30\n6 9:30\n",
            "5 8:30 12:45\n6 9:30 12:45\n",
            "1 1:0.5\n1 a\n",
            "pk,b\n1,2\n",
            "ORC,b\n1,2\n",
            "obj,b\n1,2\n",
            "version https,b\n1,2\n",
        ] {
            assert_eq!(refused(text.as_bytes()), None, "{text}");
        }
    }
}
