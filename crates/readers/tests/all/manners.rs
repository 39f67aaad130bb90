//! Rows with weights, several targets or labels read the same however a file is written.

use std::fmt::Write as _;
use std::io::Cursor;

use mercer_readers::{ColumnChoice, Example, ReadOptions, RowReader, TargetColumn, Targets};
use proptest::prelude::*;

/// A table of text as it is to be written: a header and rows, with what each row should read as.
#[derive(Clone, Debug)]
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    examples: Vec<Example>,
    options: ReadOptions,
}

/// Columns in any order: two features, a weight, an ignored text, and two targets or a label.
fn tables() -> impl Strategy<Value = Table> {
    let number = || prop_oneof![-1e3..1e3_f64, any::<f64>().prop_filter("finite", |x| x.is_finite())];
    let label = "[a-z\"][ a-z,\";é]{0,8}[a-zé]";
    let row = ((number(), number()), (number(), number()), 0.0..10.0_f64, label, label);
    let order = Just(["a", "b", "w", "id", "y", "z"]).prop_shuffle();
    (prop::collection::vec(row, 1..12), order, any::<bool>()).prop_map(|(rows, order, labelled)| {
        let order: Vec<&str> = order.into_iter().filter(|name| !labelled || *name != "z").collect();
        let mut examples = Vec::new();
        let cells = rows.iter().map(|((a, b), (y, z), w, id, label)| {
            // Features come in the order of their columns.
            let first = order.iter().position(|name| *name == "a") < order.iter().position(|name| *name == "b");
            examples.push(Example {
                features: if first { vec![*a, *b] } else { vec![*b, *a] },
                targets: if labelled { Vec::new() } else { vec![*z, *y] },
                label: if labelled { label.clone() } else { String::new() },
                weight: *w,
                tokens: None,
            });
            let cell = |name: &&str| match *name {
                "a" => a.to_string(),
                "b" => format!("{b:e}"),
                "w" => w.to_string(),
                "id" => id.clone(),
                "y" if labelled => label.clone(),
                "y" => y.to_string(),
                _ => z.to_string(),
            };
            order.iter().map(cell).collect()
        });
        let rows = cells.collect();
        let name = |name: &str| ColumnChoice::Name(name.to_owned());
        let options = ReadOptions {
            target: if labelled { name("y").into() } else { TargetColumn::Several(vec![name("z"), name("y")]) },
            targets: if labelled { Targets::Labels } else { Targets::Numbers },
            ignore: vec![name("id")],
            weight: Some(name("w")),
            ..ReadOptions::default()
        };
        Table { names: order.iter().map(|&name| name.to_owned()).collect(), rows, examples, options }
    })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn read(name: &str, text: String, options: &ReadOptions) -> Vec<Example> {
    let mut reader = RowReader::from_reader(name, Cursor::new(text.into_bytes()), options).unwrap();
    let (mut example, mut all) = (Example::default(), Vec::new());
    while reader.next_example(&mut example).unwrap() {
        all.push(example.clone());
    }
    all
}

proptest! {
    #[test]
    fn however_it_is_written(table in tables(), quotes: u64, crlf: bool, mark: bool, tabs: bool) {
        let Table { names, rows, examples, options } = table;
        let (separator, end) = (if tabs { "\t" } else { "," }, if crlf { "\r\n" } else { "\n" });
        let mut csv = if mark { "\u{feff}".to_owned() } else { String::new() };
        csv += &names.join(separator);
        csv += end;
        let mut ndjson = String::new();
        for (i, row) in rows.iter().enumerate() {
            let written: Vec<String> = row.iter().enumerate().map(|(j, cell)| {
                let needed = cell.contains(['"', ',']);
                if needed || quotes >> ((i * 7 + j) % 64) & 1 == 1 { quoted(cell) } else { cell.clone() }
            }).collect();
            csv += &written.join(separator);
            csv += end;
            let pairs: Vec<String> = names.iter().zip(row).map(|(name, cell)| {
                let number = cell.parse::<f64>().is_ok_and(f64::is_finite);
                format!("{name:?}:{}", if number { cell.clone() } else { format!("{cell:?}") })
            }).collect();
            write!(ndjson, "{{{}}}{end}", pairs.join(", ")).unwrap();
        }
        prop_assert_eq!(&read(if tabs { "f.tsv" } else { "f.csv" }, csv, &options), &examples);
        prop_assert_eq!(&read("f.ndjson", ndjson, &options), &examples);
    }
}

#[test]
fn one_example_serves_for_all_rows() {
    let labels = "w,a,y\n1,2,a long label\n2,3,b\n\"3\",\"4\",\"c, d\"\n5,6,7.0\n";
    let label_objects = "{\"w\":1,\"a\":2,\"y\":\"a long label\"}\n{\"a\":2,\"w\":3,\"y\":\"b\"}\n";
    let several = "w,y,a,z\n1,2,3,4\n2,3,4,5\n\"3\",\"4\",5,6\n";
    for (name, text, target, targets) in [
        ("f.csv", labels, "y", Targets::Labels),
        ("f.csv", labels, "y", Targets::Auto),
        ("f.ndjson", label_objects, "y", Targets::Labels),
        ("f.csv", several, "z,y", Targets::Numbers),
        ("f.libsvm", "1 1:2\n2 2:3\n", "", Targets::Labels),
    ] {
        let libsvm = target.is_empty();
        let options = ReadOptions {
            target: if libsvm { TargetColumn::Last } else { target.parse().unwrap() },
            targets,
            weight: (!libsvm).then(|| ColumnChoice::Name("w".to_owned())),
            libsvm_dimension: Some(2),
            ..ReadOptions::default()
        };
        let mut reader = RowReader::from_reader(name, text.as_bytes(), &options).unwrap();
        let mut example = Example::default();
        assert!(reader.next_example(&mut example).unwrap());
        let places = |example: &Example| {
            (example.features.as_ptr(), example.targets.as_ptr(), example.label.as_ptr(), example.label.capacity())
        };
        let before = places(&example);
        while reader.next_example(&mut example).unwrap() {
            assert_eq!(places(&example), before, "{name}");
        }
    }
}
