//! `eval` of tables that are not all numbers: the columns are encoded, and the rest is as ever.

use mercer::encoding::{Encoding, EncodingOptions, Overrides, Schema};
use mercer::readers::{Format, ReadOptions, Record, RowReader};
use serde_json::Value;

use crate::support::{Folder, csv, examples, object};

/// `rows` sales: a date, a city, a size with gaps, and a price that depends on all but the date.
fn sales(rows: usize) -> String {
    let row = |t: usize| {
        let size = if t % 9 == 4 { String::new() } else { format!("{},5", 40 + t * 37 % 80) };
        let price = 100 * (1 + t % 3) + 2 * (t * 37 % 80);
        format!("{:02}.{:02}.2024;{};{size};{price}\n", 1 + t % 28, 1 + t / 28 % 12, ["Ulm", "Bonn", "Kiel"][t % 3])
    };
    "day;city;size;price\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// The same table as numbers, encoded here; with the ranges of all rows if it is scaled.
fn by_hand(text: &str, overrides: Overrides) -> String {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let mut reader = RowReader::records_from("sales", std::io::Cursor::new(text.to_owned()), &options).unwrap();
    let (mut rows, mut record) = (Vec::new(), Record::new());
    while reader.next_record(&mut record).unwrap() {
        rows.push(record.clone());
    }
    let overrides = overrides.aside(["price"]);
    let head = &rows[..rows.len().min(256)];
    let schema = Schema::infer(reader.columns(), head, &overrides).unwrap();
    let mut encoding = Encoding::new(schema, EncodingOptions::default()).unwrap();
    encoding.learn_head(head).unwrap();
    let mut lines = String::new();
    for record in &rows {
        let mut numbers = Vec::new();
        encoding.encode(record, &mut numbers).unwrap();
        encoding.learn(record).unwrap();
        let price = record.cell(3).number().expect("a price");
        numbers.push(price);
        let cells: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        lines += &(cells.join(",") + "\n");
    }
    lines
}

/// The report of a run that says on stderr what it does with the columns.
fn encoded(folder: &Folder, arguments: &str) -> (Value, String) {
    let said = folder.run(&format!("{arguments} --json"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("is not a complete table of numbers"), "{}", said.err);
    (object(&said.out), said.err)
}

#[test]
fn columns_of_any_kind_are_encoded_row_by_row() {
    let text = sales(400);
    let chosen = || Overrides::default().parse_kind("size=category").unwrap().ignore(["day"]);
    let folder = Folder::new()
        .with("sales.csv", &text)
        .with("plain.csv", by_hand(&text, Overrides::default()))
        .with("chosen.csv", by_hand(&text, chosen()));
    for (options, plain) in [("", "plain.csv"), ("--as size=category --ignore day", "chosen.csv")] {
        for more in ["", " --limit 300"] {
            let learner = format!("--learner krls --kernel gaussian:5{more}");
            let (got, err) = encoded(&folder, &format!("eval sales.csv {learner} {options}"));
            let expected = folder.json(&format!("eval {plain} {learner}"));
            for key in ["features", "rows", "mse", "mae", "dictionary_size"] {
                assert_eq!(got[key], expected[key], "{key} of {options}{more}");
            }
            assert!(err.contains(&format!("encoded to {} numbers", got["features"])), "{err}");
            let hashed = err.contains("column \"size\": has no number of its own for this category");
            assert_eq!(hashed, plain == "chosen.csv", "{err}");
            assert!(err.contains("column \"city\": category, 3 values so far"), "{err}");
        }
    }
    let (report, _) = encoded(&folder, "eval sales.csv --learner auto");
    let r2 = report["second_half"]["r2"].as_f64().unwrap();
    assert!(r2 > 0.8, "{r2}");
}

/// Hundreds of shops, each of its own level: their means tell more than places that they share.
#[test]
fn many_categories_may_be_known_by_their_means() {
    let row = |t: usize| format!("s{},{},{}\n", t * 7919 % 200, t * 37 % 80, 1000 * (t * 7919 % 200 % 7) + t * 37 % 80);
    let folder = Folder::new().with("shops.csv", "shop,x,price\n".to_owned() + &(0..3000).map(row).collect::<String>());
    let mse = |more: &str| {
        let arguments = format!("eval shops.csv --learner krls --set lambda=0.1 --scale standard {more}");
        let (report, err) = encoded(&folder, &arguments);
        (report["second_half"]["mse"].as_f64().unwrap(), report["features"].as_u64(), err)
    };
    let (hashed, _, err) = mse("--as shop=category");
    assert!(err.contains("200 values so far; --as 'shop=mean' takes the mean"), "{err}");
    // Without a word the mean stands beside the places.
    let (both, d, err) = mse("");
    assert_eq!(d, Some(66));
    assert!(err.contains("beside the mean target of each; --as 'shop=mean' takes the mean alone"), "{err}");
    assert!(both < hashed / 2.0, "{both} {hashed}");
    let (means, d, err) = mse("--as shop=mean");
    assert_eq!(d, Some(2));
    assert!(err.contains("column \"shop\": mean, 200 values so far"), "{err}");
    assert!(means < hashed / 4.0, "{means} {hashed}");
    let said = folder.run(
        "fit shops.csv --learner pkrr-taylor --kernel gaussian:2 --scale-from shops.csv --as shop=mean --out m.mercer",
    );
    assert!(said.err.contains("--as shop=mean: means move with the rows"), "{}", said.err);
}

#[test]
fn text_is_a_class_and_weights_are_numbers() {
    let rows: String = (0..400)
        .map(|t| format!("{},{},{}\n", ["a", "b", "c"][t % 3], 1 + t % 2, ["no", "yes"][usize::from(t % 3 == 1)]))
        .collect();
    let folder = Folder::new().with("c.csv", "letter,w,answer\n".to_owned() + &rows);
    let eval = "eval c.csv --learner krls --kernel gaussian:1 --weight w";
    let (report, _) = encoded(&folder, &format!("{eval} --predictions p.csv"));
    assert!(report["features"].as_u64() >= Some(3), "{report}");
    assert!(report["second_half"]["accuracy"].as_f64().unwrap() > 0.99, "{report}");
    assert!(folder.read("p.csv").lines().nth(400).unwrap().starts_with("400,no,no"), "{}", folder.read("p.csv"));
    let (again, _) = encoded(&folder, &format!("{eval} --permute 3"));
    assert_eq!(again["rows"].as_u64(), Some(400));
    // The target alone is text: a table of numbers, as ever.
    assert_eq!(
        folder.json("eval c.csv --learner krls --kernel gaussian:1 --ignore letter")["features"].as_u64(),
        Some(1)
    );
}

/// A cell that does not fit is told once for each column.
#[test]
fn oddities_are_told_once() {
    let text = sales(300) + "01.02.2024;Köln;big;100\n02.02.2024;Jena;wide;100\n";
    let folder = Folder::new().with("sales.csv", text);
    let (_, err) = encoded(&folder, "eval sales.csv --learner krls --kernel gaussian:5");
    // There is room for a city more.
    assert_eq!(err.matches("does not fit its column").count(), 1, "{err}");
    assert!(err.contains("line 302, column \"size\": \"big\" does not fit its column and counts as missing"), "{err}");
    assert!(err.contains("column \"size\": 2 cells did not fit and counted as missing"), "{err}");
    assert!(!err.contains("Jena") && !err.contains("hashes"), "{err}");
}

#[test]
fn what_cannot_be_encoded_is_refused() {
    let plain = csv(&examples(300));
    let folder = Folder::new()
        .with("sales.csv", sales(50))
        .with("late.csv", sales(300) + "01.02.2024;Ulm;1;x\n")
        .with("plain.csv", &plain);
    let eval = "eval sales.csv --learner krls";
    folder.refused(1, &format!("{eval} --as none_such=number"), &["there is no column \"none_such\"", "\"city\""]);
    folder.refused(2, &format!("{eval} --as city"), &["--as: \"city\" is not NAME=KIND"]);
    folder.refused(1, &format!("{eval} --target none_such"), &["none_such"]);
    folder.refused(2, "eval diamonds --learner krls --as carat=number", &["--as is for files"]);
    let none = "eval - --format csv --learner krls --as none_such=number";
    folder.refused_input(1, &plain, none, &["there is no column \"none_such\""]);
    let said = folder.run("eval late.csv --learner krls");
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("late.csv, line 302, column 4 (\"price\"): \"x\" is not a number"), "{}", said.err);
}
