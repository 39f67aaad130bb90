//! One JSON object that holds a whole table.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::other_kind::OtherKind;

const PANDAS: &str = "write it with orient=\"records\" and lines=True";

/// Kind of the text, if its first object is no row, but has all of them within.
pub(crate) fn find(lines: &mut Lines) -> Option<OtherKind> {
    let text = lines.text().trim_ascii();
    if !matches!(text.last(), Some(b'}')) {
        // An object of several lines ends on another.
        let goes_on = matches!(text.last(), Some(b'{' | b'[' | b',')) && text.first() == Some(&b'{');
        return goes_on.then_some(OtherKind {
            kind: "one JSON object over several lines",
            remedy: "write one row a line, as jq -c '.KEY[]' does of an object that holds them under KEY",
        });
    }
    // Most rows end the search here.
    if !text.contains(&b'[') && text.iter().filter(|byte| **byte == b'{').count() < 2 {
        return None;
    }
    let object: BTreeMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    let begins = |value: &&RawValue, with: char| value.get().starts_with(with);
    let holds = |key: &str, with| object.get(key).is_some_and(|value| begins(value, with));
    let pandas = |kind| Some(OtherKind { kind, remedy: PANDAS });
    if holds("data", '[') && holds("columns", '[') {
        return pandas("a table as pandas writes it with orient=\"split\"");
    }
    if holds("data", '[') && holds("schema", '{') {
        return pandas("a table as pandas writes it with orient=\"table\"");
    }
    let is_flat = |value: &&RawValue| {
        let inner = serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get());
        inner.is_ok_and(|inner| !inner.is_empty() && !inner.values().any(|value| value.get().starts_with(['{', '['])))
    };
    let by_columns = object.len() > 1 && object.values().all(is_flat) && keys_agree(&object);
    let within = object.values().any(|value| holds_objects(value));
    if !(by_columns || within) || matches!(lines.ahead(1).advance(), Ok(true)) {
        return None;
    }
    if by_columns {
        return pandas("a table as pandas writes it with orient=\"columns\" or \"index\"");
    }
    Some(OtherKind {
        kind: "one JSON object that holds a list of others",
        remedy: "write one row a line, as jq -c '.KEY[]' does with the key of the list",
    })
}

/// True if a value is a list of several objects.
fn holds_objects(value: &RawValue) -> bool {
    let list: Option<Vec<&RawValue>> = serde_json::from_str(value.get()).ok();
    list.is_some_and(|list| list.len() > 1 && list.iter().all(|value| value.get().starts_with('{')))
}

/// True if all values are objects with the same keys.
fn keys_agree(object: &BTreeMap<String, &RawValue>) -> bool {
    let keys = |value: &RawValue| {
        let inner: Option<BTreeMap<String, IgnoredAny>> = serde_json::from_str(value.get()).ok();
        inner.map(|inner| inner.into_keys().collect::<Vec<_>>())
    };
    let mut values = object.values();
    let first = values.next().and_then(|value| keys(value));
    first.is_some() && values.all(|value| keys(value) == first)
}

#[cfg(test)]
mod tests {
    use crate::{Format, ReadOptions, RowReader};

    fn read(text: &str) -> Result<u64, String> {
        let options = ReadOptions { format: Some(Format::Ndjson), ..ReadOptions::default() };
        let text = std::io::Cursor::new(text.as_bytes().to_vec());
        let mut reader = RowReader::records_from("f", text, &options).map_err(|error| error.to_string())?;
        reader.skip_rows(u64::MAX).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_in_one_object_is_refused_by_its_orient() {
        for (text, kind) in [
            (r#"{"columns":["a","y"],"index":[0,1],"data":[[1,2],[3,4]]}"#, r#"orient="split""#),
            (r#"{"schema":{"fields":[]},"data":[{"a":1}]}"#, r#"orient="table""#),
            (r#"{"a":{"0":1,"1":3},"y":{"0":2,"1":4}}"#, r#"orient="columns" or "index""#),
            (r#"{"type":"x","features":[{"a":1},{"a":2}]}"#, "holds a list of others"),
            ("{\n  \"rows\": [\n    {\"a\": 1}\n  ]\n}\n", "one JSON object over several lines"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("f: is ") && error.contains(kind), "{error}");
        }
        // Written as the remedy says it is read.
        assert_eq!(read("{\"a\":1,\"y\":2}\n{\"a\":3,\"y\":4}\n"), Ok(2));
        // An object in a row is a cell of pairs.
        assert_eq!(read("{\"a\":{\"x\":1},\"y\":2}\n"), Ok(1));
    }
}
