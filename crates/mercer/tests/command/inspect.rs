//! `inspect`: what is told of a model file or of data is what the file says, and harms no terminal.

use std::fs;

use mercer::model::{Description, Model, VERSION};
use serde_json::Value;

use crate::support::Folder;

fn golden(name: &str) -> String {
    format!("{}/tests/golden/{name}.mercer", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn inspect_tells_the_format_of_the_file() {
    let folder = Folder::new().with("a.csv", "a,y\n1,2\n");
    folder.done("train a.csv --learner krls --out new.mercer --quiet");
    let facts: Value = serde_json::from_str(&folder.done("inspect new.mercer --json")).unwrap();
    assert_eq!(facts["format"].as_u64(), Some(u64::from(VERSION)));
    assert!(folder.done("inspect new.mercer").contains(&format!("format               {VERSION}\n")));
}

#[test]
fn inspect_tells_the_columns_of_a_table() {
    let folder = Folder::new().with("x.csv", "1,2\n");
    for (file, kind) in [("table", "regression"), ("class-table", "classification")] {
        let facts: Value = serde_json::from_str(&folder.done_with(&["inspect", &golden(file), "--json"])).unwrap();
        assert_eq!(facts["kind"].as_str(), Some(kind));
        let columns = facts["columns"].as_array().unwrap();
        let kinds: Vec<&str> = columns.iter().map(|column| column["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["number", "number", "category", "time"]);
        assert_eq!((columns[0]["name"].as_str(), columns[0]["missing"].as_u64()), (Some("size"), Some(3)));
        assert!(columns[0]["treatment"].as_str().unwrap().ends_with("gaps told"), "{}", columns[0]);
        let text = folder.done_with(&["inspect", &golden(file)]);
        let city = text.lines().find(|line| line.contains("city: ")).unwrap();
        let parts = ["kind category", "distinct 5", "treatment one-hot ("];
        assert!(parts.iter().all(|part| city.contains(part)), "{city}");
        let predict = format!("predict x.csv --model {}", golden(file));
        folder.refused(1, &predict, &["none of the columns", "it needs \"size\""]);
    }
}

/// A name may hold what a terminal takes for a command: to clear the screen, to set its title.
#[test]
fn names_of_a_file_do_not_command_the_terminal() {
    let evil = ["\u{1b}[2J", "b\u{9b}31m", "c\r\nd\u{7f}"];
    let Model::Prediction(mut model) = Model::from_bytes(&fs::read(golden("series")).unwrap()).unwrap() else {
        panic!("another kind")
    };
    model.method = evil[0].to_owned();
    model.columns = evil[1..].iter().map(|name| (*name).to_owned()).collect();
    model.parameters.push((evil[0].to_owned(), format!("\"{}\"", evil[1])));
    let description = Description { learner: evil[0].to_owned(), kernel: evil[1].to_owned(), ..Description::default() };
    let Model::Regression(mut learner) = Model::from_bytes(&fs::read(golden("krls")).unwrap()).unwrap() else {
        panic!("another kind")
    };
    learner.description = Description {
        features: vec![evil[0].to_owned(), evil[1].to_owned()],
        target_name: Some(evil[2].to_owned()),
        parameters: vec![(evil[2].to_owned(), evil[0].to_owned())],
        ..description
    };
    let folder = Folder::new()
        .with("p.mercer", model.to_bytes().unwrap())
        .with("r.mercer", learner.to_bytes().unwrap())
        .with("next.csv", "1,2\n2,3\n3,5\n");
    let commands = [
        "inspect p.mercer",
        "inspect p.mercer --json",
        "inspect r.mercer",
        "inspect r.mercer --json",
        "forecast next.csv --model p.mercer",
    ];
    for command in commands {
        let text = folder.done(command);
        let raw: Vec<char> = text.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(raw.is_empty(), "{command}: {raw:?} in {text}");
        assert!(text.contains("[2J") && text.contains("31m"), "{command}: {text}");
    }
    assert_eq!(folder.json("inspect r.mercer")["target"].as_str(), Some(evil[2]), "JSON gives back the name itself");
}

/// Semicolons, decimal commas, dates of two notations, gaps, a category and an identifier.
const SALES: &str = "\
order_id;day;city;size;price
1;31.05.2024;Ulm;40,5;100
2;01.06.2024;Bonn;;120,5
3;2024-06-02;Ulm;41;99
4;;Kiel;39,5;130
";

#[test]
fn inspect_tells_the_columns_of_data() {
    let folder = Folder::new().with("sales.csv", SALES);
    let facts = folder.json("inspect sales.csv");
    assert_eq!((facts["kind"].as_str(), facts["rows_looked_at"].as_u64()), (Some("data"), Some(4)));
    assert_eq!((facts["all_rows"].as_bool(), facts["needs_encoding"].as_bool()), (Some(true), Some(true)));
    let column = |name: &str| {
        let columns = facts["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    for (name, kind, missing) in [
        ("order_id", "identifier", 0),
        ("day", "time", 1),
        ("city", "category", 0),
        ("size", "number", 1),
        ("price", "number", 0),
    ] {
        let told = column(name);
        assert_eq!((told["kind"].as_str(), told["missing"].as_u64()), (Some(kind), Some(missing)), "{told}");
    }
    let (day, size) = (column("day"), column("size"));
    assert_eq!(day["smallest"].as_str(), Some("2024-05-31T00:00:00Z"));
    assert_eq!(day["largest"].as_str(), Some("2024-06-02T00:00:00Z"));
    assert_eq!((size["smallest"].as_f64(), size["largest"].as_f64()), (Some(39.5), Some(41.0)));
    assert_eq!(column("city")["distinct"].as_u64(), Some(3));
    assert_eq!(column("order_id")["treatment"].as_str(), Some("ignored: it names rows"));
    assert_eq!(column("price")["treatment"].as_str(), Some("the target"));
    assert!(size["treatment"].as_str().unwrap().ends_with("gaps told"), "{size}");

    let text = folder.done("inspect sales.csv --target city");
    for part in ["rows looked at       4\n", "price: kind number", "largest 130", "smallest 99"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let city = text.lines().find(|line| line.contains("city: ")).unwrap();
    assert!(city.contains("the target"), "{city}");
    let facts_as = folder.json("inspect sales.csv --as order_id=number --as size=text");
    assert_eq!(facts_as["columns"][0]["treatment"].as_str(), Some("as it is"));
    assert_eq!(facts_as["columns"][3]["treatment"].as_str(), Some("its words become tokens"));
    let piped = folder.json_of(SALES.as_bytes(), "inspect - --format csv");
    assert_eq!(piped, facts, "a pipe is data like any other");
}

/// A column that cannot be read is told with the option that leaves it out.
#[test]
fn inspect_leaves_columns_out() {
    let rows: String =
        (0..30).map(|t| format!("{{\"at\": {{\"x\": [1]}}, \"load\": {t}, \"y\": {}}}\n", t % 7)).collect();
    let folder = Folder::new().with("log.ndjson", rows).with("sales.csv", SALES);
    folder.refused(1, "inspect log.ndjson", &["log.ndjson, line 1", "--ignore"]);
    let facts = folder.json("inspect log.ndjson --ignore at");
    assert_eq!(facts["columns"][0]["treatment"].as_str(), Some("ignored as asked"));
    assert_eq!((facts["features"].as_u64(), facts["rows_looked_at"].as_u64()), (Some(1), Some(30)));
    folder.refused(1, "inspect sales.csv --ignore none_such", &["has no column \"none_such\""]);
    folder.refused(2, "inspect diamonds --ignore carat", &["--ignore is for files"]);
}

/// A complete table of numbers passes as it is; only its first 256 rows are looked at.
#[test]
fn inspect_tells_what_needs_no_encoding() {
    let rows: String = (0..1200).map(|t| format!("{},{},{}\n", t % 7, t % 5, t % 3)).collect();
    let folder =
        Folder::new().with("plain.csv", rows).with("bad.csv", "a,b\n1,2\n3\n4,5\n").with("one.csv", "a\n1\n2\n");
    let facts = folder.json("inspect plain.csv");
    assert_eq!((facts["rows_looked_at"].as_u64(), facts["all_rows"].as_bool()), (Some(256), Some(false)));
    assert_eq!((facts["needs_encoding"].as_bool(), facts["features"].as_u64()), (Some(false), Some(2)));
    assert_eq!(facts["columns"][0]["treatment"].as_str(), Some("as it is"));

    let facts = folder.json("inspect bad.csv");
    assert_eq!((facts["rows_looked_at"].as_u64(), facts["bad_rows"].as_u64()), (Some(2), Some(1)));
    assert!(facts["notes"][0].as_str().unwrap().contains("line 3"), "{facts}");
    assert_eq!(folder.json("inspect one.csv")["features"].as_u64(), Some(1), "a single column is no target");
    let facts = folder.json("inspect diamonds");
    assert_eq!((facts["needs_encoding"].as_bool(), facts["rows_looked_at"].as_u64()), (Some(false), Some(256)));
}

#[test]
fn inspect_counts_the_columns_of_wide_tables() {
    let names = (0..1500).map(|j| format!("x{j}")).chain(["y".to_owned()]);
    let row = |t: usize| (0..1501).map(|j| (t * (j + 3) % 97).to_string()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..30).map(row).collect();
    let table = format!("{}\n{}\n", names.collect::<Vec<_>>().join(","), rows.join("\n"));
    let folder = Folder::new().with("wide.csv", table);
    let said = folder.run("inspect wide.csv").out;
    for line in [
        "x999: kind number",
        "  y: kind number",
        "more columns         5 of kind constant, 495 of kind number; --json tells all",
    ] {
        assert!(said.contains(line), "{line}");
    }
    assert!(!said.contains("x1000: "));
    let told: serde_json::Value = serde_json::from_str(&folder.run("inspect wide.csv --json").out).unwrap();
    assert_eq!(told["columns"].as_array().unwrap().len(), 1501);
    assert!(told["more_columns"].is_null());
}

#[test]
fn inspect_refuses_in_one_line() {
    let folder = Folder::new().with("sales.csv", SALES).with("sales.txt", SALES).with("a.csv", "a,y\n1,2\n");
    folder.done("train a.csv --learner krls --out m.mercer --quiet");
    folder.refused(1, "inspect sales.csv --target none_such", &["sales.csv: there is no column \"none_such\""]);
    folder.refused(1, "inspect sales.txt", &["is not a model file", "--format"]);
    folder.refused(2, "inspect m.mercer --target y", &["--target is for data"]);
    folder.refused(1, "inspect absent.csv", &["absent.csv"]);
    folder.refused(1, "inspect absent", &["there is no such file"]);
    folder.refused_input(2, SALES, "inspect -", &["say its format with --format"]);
    assert!(folder.done("inspect sales.txt --format csv").contains("city: kind category"));
}

/// `inspect` tells the number of restarts of a learner, in words and as JSON, for numbers and for
/// classes.
#[test]
fn inspect_tells_restarts() {
    let mut text = "a,b,class,y\n".to_owned();
    for t in 0..1200_u32 {
        let (a, b) = (f64::from(t * 37 % 100) / 50.0 - 1.0, f64::from(t * 61 % 97) / 48.0 - 1.0);
        let sign = if t < 800 { 1.0 } else { -1.0 };
        let class = if sign * a > 0.0 { "up" } else { "down" };
        text += &format!("{a},{b},{class},{}\n", sign * 5.0 * a);
    }
    let folder = Folder::new().with("t.csv", text);
    let learner = "--learner restart --kernel gaussian:1 --quiet";
    for (model, options, restarts) in [
        ("plain", "--ignore class", true),
        ("table", "--ignore class --scale standard", true),
        ("classes", "--target class --ignore y", false),
        ("class-table", "--target class --ignore y --scale standard", false),
    ] {
        folder.done(&format!("train t.csv {learner} {options} --out {model}.mercer"));
        let facts = folder.json(&format!("inspect {model}.mercer"));
        let (count, since) = (facts["restarts"].as_u64().unwrap(), facts["rows_since_restart"].as_u64().unwrap());
        assert!(count >= 1 || !restarts, "{model}: {facts}");
        assert!(if count > 0 { since < 400 } else { since == 1200 }, "{model}: {facts}");
        let said = folder.done(&format!("inspect {model}.mercer"));
        assert!(said.contains(&format!("restarts             {count}\n")), "{said}");
        assert!(said.contains(&format!("rows since restart   {since}\n")), "{said}");
    }
    folder.done("train t.csv --learner krls --ignore class --out k.mercer --quiet");
    assert!(folder.json("inspect k.mercer").get("restarts").is_none());
}

/// A file of which no row can be read is refused by the reason of the first.
#[test]
fn a_file_without_a_row_that_can_be_read_is_refused() {
    let rows = "0.5,\"0,5\",0.5\n".repeat(300);
    let folder = Folder::new().with("bad.csv", format!("i,x,y\n{rows}"));
    folder.refused(1, "inspect bad.csv", &["line 2, column 2", "another decimal mark than another cell of its line"]);
}
