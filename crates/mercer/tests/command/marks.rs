//! Decimal marks and marks between thousands, as tables of many countries have them.

use std::fmt::Write as _;

use crate::support::Folder;

/// A text beside places with an area and many people, by a rule.
fn places(people: impl Fn(u32) -> String) -> String {
    let mut text = "place;area;people\n".to_owned();
    for i in 0..300_u32 {
        let area = 100 + i * 37 % 800;
        writeln!(text, "p{};{area};{}", i % 7, people(area * 40 + i % 13)).unwrap();
    }
    text
}

/// `1234567` as `1.234.567`.
fn grouped(number: u32, mark: &str) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(mark)
}

#[test]
fn points_that_may_stand_between_thousands_are_refused_until_told() {
    let folder = Folder::new().with("places.csv", places(|people| grouped(people, ".")));
    let complaint = [
        "places.csv, line 2, column 3 (\"people\"): \"4.000\" may mean 4000 or 4.000; say which with --thousands point or --decimal point",
    ];
    folder.refused(1, "eval places.csv --learner auto --target people", &complaint);
    folder.refused(1, "eval places.csv --learner krls --target area", &complaint);
    folder.refused(1, "inspect places.csv", &complaint);
    folder.refused(1, "train places.csv --learner krls --out m --on-error skip", &complaint);
    let plain = Folder::new().with("places.csv", places(|people| people.to_string()));
    let said = |folder: &Folder, more: &str| {
        let report = folder.json(&format!("eval places.csv --learner krls --scale standard --target people -q {more}"));
        (report["rows"].clone(), report["mse"].clone())
    };
    assert_eq!(said(&folder, "--thousands point"), said(&plain, ""));
    assert_eq!(said(&folder, "--decimal comma"), said(&plain, ""));
    assert_ne!(said(&folder, "--decimal point"), said(&plain, ""));
    // A column that nobody looks at is in no doubt.
    let without = folder.run("eval places.csv --learner krls --target area --ignore people --scale standard");
    assert_eq!(without.code, Some(0), "{}", without.err);
}

/// The file's marks elsewhere, or an option of its reader, settle numbers with a sign as well.
#[test]
fn marks_reach_numbers_with_a_sign() {
    let with_sign = |people: u32| format!("{} €", grouped(people, "."));
    let folder = Folder::new()
        .with("signs.csv", places(with_sign))
        .with("commas.csv", places(with_sign).replace(";people\n", ";people;share\n").replace("€\n", "€;1,5\n"));
    let column = |file: &str, more: &str| {
        let facts = folder.json(&format!("inspect {file} {more}"));
        let columns = facts["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == "people").unwrap().clone()
    };
    let doubtful = column("signs.csv", "");
    let why = doubtful["why"].as_str().unwrap();
    assert!(why.contains("\"4.000 €\" may be read as two numbers; --decimal or --thousands tells which"), "{why}");
    for (file, more, largest) in [
        ("signs.csv", "--decimal comma", 36_000.0),
        ("signs.csv", "--thousands point", 36_000.0),
        ("signs.csv", "--decimal point", 36.0),
        ("commas.csv", "", 36_000.0),
    ] {
        let found = column(file, more)["largest"].as_f64().unwrap();
        assert!(found > 0.9 * largest && found < 1.1 * largest, "{file} {more} {found}");
    }
}

#[test]
fn thousands_that_cannot_be_mistaken_are_read_and_told_once() {
    let plain = Folder::new().with("t.csv", places(|people| (people * 100).to_string()));
    let command = "eval t.csv --learner krls --scale standard --target people";
    let expected = plain.json(&format!("{command} -q"))["mse"].clone();
    for (mark, more) in [(".", 0), (" ", 0), ("\u{202f}", 0), ("'", 0), (".", 50)] {
        let mut text = places(|people| grouped(people * 100, mark));
        if more > 0 {
            // Fewer than a million first.
            text = text.replacen("4.00.000", "400.000", 1);
        }
        let folder = Folder::new().with("t.csv", text);
        let said = folder.run(&format!("{command} --json"));
        assert_eq!(said.code, Some(0), "{mark:?}: {}", said.err);
        let told = said.err.matches("separate thousands; overrule this with --thousands or --decimal").count();
        assert_eq!(told, 1, "{mark:?}: {}", said.err);
        assert_eq!(crate::support::object(&said.out)["mse"], expected, "{mark:?}");
    }
    let said = Folder::new().with("t.csv", places(|people| grouped(people * 100, "."))).run("inspect t.csv");
    assert!(said.err.contains("points separate thousands"), "{}", said.err);
    assert!(said.out.contains("number"), "{}", said.out);
}

#[test]
fn decimal_commas_in_quotes() {
    let (mut commas, mut points) = ("\"a\",\"y\"\n".to_owned(), "a,y\n".to_owned());
    for i in 0..300_u32 {
        let cells =
            [f64::from(i * 37 % 400) / 4.0, f64::from(i * 37 % 400) / 2.0 + 1.0].map(|cell| format!("{cell:.2}"));
        writeln!(points, "{},{}", cells[0], cells[1]).unwrap();
        writeln!(commas, "\"{}\",\"{}\"", cells[0].replace('.', ","), cells[1].replace('.', ",")).unwrap();
    }
    let folder = Folder::new().with("commas.csv", commas).with("points.csv", points);
    let mse = |file: &str| folder.json(&format!("eval {file} --learner krls --target y"))["mse"].clone();
    assert_eq!(mse("commas.csv"), mse("points.csv"));
    let doubt = Folder::new().with("t.csv", "a,y\n1,\"1,234\"\n2,\"2,345\"\n");
    doubt.refused(1, "eval t.csv --learner krls", &["t.csv, line 2, column 2 (\"y\"): \"1,234\" may mean"]);
    assert_eq!(doubt.json("eval t.csv --learner krls --thousands comma")["rows"], 2);
}

/// A model that was learnt with decimal commas predicts with them.
#[test]
fn a_model_remembers_the_marks() {
    let mut text = "a;b;y\n".to_owned();
    for i in 0..400_u32 {
        let a = f64::from(i * 6151 % 300_000) / 100.0;
        writeln!(
            text,
            "{};{};{}",
            format!("{a:.2}").replace('.', ","),
            i % 7,
            format!("{:.2}", 2.0 * a).replace('.', ",")
        )
        .unwrap();
    }
    let folder = Folder::new()
        .with("train.csv", &text)
        .with("comma.csv", "a;b\n1234,00;1\n2500,00;2\n")
        .with("point.csv", "a,b\n1234.00,1\n2500.00,2\n")
        .with("groups.csv", "a;b\n1.234;1\n2.500;2\n")
        .with("one.csv", "a;b\n1.234;1\n2500,00;2\n")
        .with("both.csv", "a;b\n1.234;1\n2500.5;2\n")
        .with("separated.csv", "a,b\n1.234,1\n2.500,2\n");
    folder.done("train train.csv --learner krls --target y --scale standard --out m -q");
    let said = |file: &str, told: usize| {
        let said = folder.run(&format!("predict {file} --model m"));
        assert_eq!(said.code, Some(0), "{file}: {}", said.err);
        assert_eq!(
            said.err.matches("\"1.234\" is read as 1234, because points separate thousands").count(),
            told,
            "{file}: {}",
            said.err
        );
        said.out
    };
    let plain = said("comma.csv", 0);
    assert_eq!(said("point.csv", 0), plain);
    assert_eq!(said("groups.csv", 1), plain);
    assert_eq!(said("one.csv", 1), plain);
    let both = folder.run("predict both.csv --model m");
    let complaint = "both.csv, line 3, column 1 (\"a\"): \"2500.5\" has another decimal mark than line 2";
    assert!(both.code == Some(1) && both.err.contains(complaint), "{}", both.err);
    let separated = folder.run("predict separated.csv --model m");
    let complaint = "separated.csv, line 2, column 1 (\"a\"): \"1.234\" may mean 1234 or 1.234";
    assert!(separated.code == Some(1) && separated.err.contains(complaint), "{}", separated.err);
    assert_eq!(folder.done("predict separated.csv --model m --thousands point -q"), plain);
    // Standard input is answered without a look ahead.
    let piped = folder.piped(b"a;b\n1.234;1\n2.500;2\n", "predict - --format csv --model m");
    assert_eq!(piped.out, plain, "{}", piped.err);
    // In training the same cell is read alike.
    let folder = folder.with("more.csv", text + "1.234;1;2.468\n");
    let said = folder.run("train more.csv --learner krls --target y --scale standard --out m2 -q");
    assert_eq!(said.code, Some(0), "{}", said.err);
    // The row that learns keeps what is known.
    let learnt = folder.piped(b"a;b;y\n1.234;1;2.468\n", "predict - --format csv --model m --learn");
    assert_eq!(learnt.code, Some(0), "{}", learnt.err);
    assert_eq!(folder.done("predict groups.csv --model m -q").lines().count(), 3);
}

/// Sums of shards remember them as well.
#[test]
fn sums_remember_the_marks() {
    let mut text = "a;y\n".to_owned();
    for i in 0..300_u32 {
        writeln!(text, "{},5;{},5", i * 10, i * 20 + 1).unwrap();
    }
    let folder = Folder::new().with("t.csv", text).with("new.csv", "a\n1.234\n").with("plain.csv", "a\n1234\n");
    folder.done("fit t.csv --learner ridge --out m");
    let said = folder.run("predict new.csv --model m --separator semicolon");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(said.out, folder.done("predict plain.csv --model m"));
}
