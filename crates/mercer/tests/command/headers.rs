//! First lines, headers of years, lines that are no rows, and names that are there twice.

use std::fmt::Write as _;

use crate::support::Folder;

/// A table with a header and a row for each number, and the header once more in the middle.
fn joined(header: &str, row: impl Fn(u32) -> String) -> String {
    let mut text = format!("{header}\n");
    for i in 0..300 {
        if i == 150 {
            text += &format!("{header}\n");
        }
        text += &(row(i) + "\n");
    }
    text
}

#[test]
fn a_header_in_the_middle_is_no_row() {
    let folder = Folder::new()
        .with(
            "num.csv",
            joined("shop,len,y", |i| format!("{},{},{}", ["A", "B"][i as usize % 2], i % 17, 2 * (i % 17))),
        )
        .with(
            "cls.csv",
            joined("len,wid,species", |i| format!("{},{},{}", i % 17, i % 5, ["a", "b"][usize::from(i % 17 > 8)])),
        )
        .with(
            "enc.csv",
            joined("shop,len,cls", |i| {
                format!("{},{},{}", ["A", "B"][i as usize % 2], i % 17, ["a", "b"][usize::from(i % 17 > 8)])
            }),
        );
    for (file, target) in [("num", "y"), ("cls", "species"), ("enc", "cls")] {
        let command = format!("eval {file}.csv --learner krls --target {target}");
        let said = folder.run(&command);
        let words = format!("{file}.csv, line 152: repeats the header, as joined files do; remove the line");
        assert!(said.code == Some(1) && said.err.contains(&words), "{file}: {}", said.err);
        let said = folder.run(&format!("{command} --on-error skip --json"));
        assert_eq!(said.code, Some(0), "{file}: {}", said.err);
        let told = folder.run(&format!("{command} --on-error skip")).out;
        assert!(told.contains(&format!("1 bad row was left out, the first: {words}")), "{file}: {told}");
        assert_eq!(crate::support::object(&said.out)["rows"], 300, "{file}");
    }
    let said = folder.run("train num.csv --learner krls --target y --out m --on-error skip");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("300 rows learnt"), "{}", said.out);
}

#[test]
fn a_line_of_units_is_no_row() {
    let mut text = "len,wid,species\ncm,cm,-\n".to_owned();
    (0..60).for_each(|i| writeln!(text, "{},{},{}", i % 17, i % 5, ["a", "b"][usize::from(i % 17 > 8)]).unwrap());
    let folder = Folder::new().with("t.csv", text);
    let said = folder.run("eval t.csv --learner krls");
    assert!(
        said.err.contains("t.csv, line 2, column 1 (\"len\"): \"cm\" stands between a name and numbers"),
        "{}",
        said.err
    );
    let said = folder.run("eval t.csv --learner krls --on-error skip --json");
    assert_eq!(crate::support::object(&said.out)["rows"], 60, "{}", said.err);
}

#[test]
fn the_separator_of_a_first_line() {
    let mut text = "sep=;\na;b;y\n".to_owned();
    (0..60).for_each(|i| writeln!(text, "{};{};{}", i % 17, i % 5, i % 17 + i % 5).unwrap());
    let folder = Folder::new().with("t.csv", text);
    assert_eq!(folder.json("eval t.csv --learner krls --target y")["rows"], 60);
    assert!(folder.done("inspect t.csv").contains("b: kind number"));
}

#[test]
fn years_are_names() {
    let (mut country, mut numbers) = ("country,1990,1995,2000\n".to_owned(), "1990,1995,2000,2005\n".to_owned());
    for i in 0..300_u32 {
        writeln!(country, "C{},{i},{},{}", i % 9, 2 * i, 3 * i).unwrap();
        let cells = [37, 41, 43, 47].map(|step| format!("{:.3}", f64::from(i * step % 1000) / 1000.0));
        writeln!(numbers, "{}", cells.join(",")).unwrap();
    }
    let folder = Folder::new().with("f.csv", country).with("d.csv", numbers);
    for file in ["f.csv", "d.csv"] {
        for command in [format!("inspect {file}"), format!("eval {file} --learner krls --metric rmse")] {
            let said = folder.run(&command);
            let words =
                format!("{file}, line 1: holds years, as names of columns may; it is read as a header: --header no");
            assert!(said.code == Some(0) && said.err.contains(&words), "{command}: {}", said.err);
        }
    }
    let rows = |command: &str| {
        let said = folder.run(&format!("{command} --json"));
        assert!(said.code == Some(0) && !said.err.contains("line 1"), "{command}: {}", said.err);
        crate::support::object(&said.out)["rows"].as_u64().unwrap()
    };
    assert_eq!(rows("eval f.csv --learner krls --target 2000"), 300);
    assert_eq!(rows("eval d.csv --learner krls --target 2005"), 300);
    assert_eq!(rows("eval d.csv --learner krls --only 1990"), 300);
    assert_eq!(rows("eval d.csv --learner krls --as 1990=number"), 300);
    // A number that is no name is a place.
    assert_eq!(folder.json("eval d.csv --learner krls --target 2 --header yes")["rows"], 300);
}

#[test]
fn names_that_are_there_twice() {
    let table = |header: &str, row: &dyn Fn(u32) -> String| {
        (0..60).fold(format!("{header}\n"), |text, i| text + &row(i) + "\n")
    };
    let of_text = |i: u32| format!("{i},{},{},{}", i % 7, ["u", "v"][i as usize % 2], i % 7);
    let folder = Folder::new()
        .with("numbers.csv", table("a,a,y", &|i| format!("{i},{},{}", i % 7, i % 7)))
        .with("twice.csv", table("a,a,s,y", &of_text))
        .with("empty.csv", table(",,s,y", &of_text))
        .with("plain.csv", table("a,b,s,y", &of_text))
        .with("target.csv", table("y,b,y", &|i| format!("{i},{},{}", i % 7, i % 7)));
    assert_eq!(folder.json("eval numbers.csv --learner krls --target y")["rows"], 60);
    assert!(folder.done("inspect numbers.csv").contains("columns 1 and 2 are both called \"a\""));
    for (file, name) in [("twice", "a"), ("empty", "")] {
        let words = format!("{file}.csv: columns 1 and 2 are both called \"{name}\"; rename one");
        for command in
            ["eval FILE --learner krls --target y", "train FILE --learner krls --target y --out m", "inspect FILE"]
        {
            folder.refused(1, &command.replace("FILE", &format!("{file}.csv")), &[&words]);
        }
    }
    folder.done("train plain.csv --learner krls --target y --out m -q");
    folder.refused(1, "predict twice.csv --model m", &["twice.csv: columns 1 and 2 are both called \"a\"; rename one"]);
    folder.refused(1, "eval target.csv --learner krls --target y", &["columns 1 and 3 are both named \"y\""]);
    folder.refused(1, "eval twice.csv --learner krls --only a", &["--only \"a\": columns 1 and 2 are both called so"]);
}

/// A separator behind the last cell, and lines that end with a carriage return alone.
#[test]
fn ends_of_lines() {
    let rows = |end: &str, names_end: &str| {
        let mut text = format!("x,note,y{names_end}");
        (0..60).for_each(|i| write!(text, "{},\"a, {}\",{}{end}", i % 17, i % 2, i % 17).unwrap());
        text
    };
    let folder = Folder::new()
        .with("plain.csv", rows("\n", "\n"))
        .with("all.csv", rows(",\n", ",\n"))
        .with("rows.csv", rows(",\r\n", "\r\n"))
        .with("returns.csv", rows("\r", "\r"));
    let of = |file: &str| {
        let said = folder.run(&format!("eval {file} --learner krls --json"));
        assert_eq!(said.code, Some(0), "{file}: {}", said.err);
        (crate::support::object(&said.out)["mse"].clone(), said.err)
    };
    let (plain, _) = of("plain.csv");
    for file in ["all.csv", "rows.csv"] {
        let (mse, told) = of(file);
        let words = format!("{file}, line 1: the separator at the end of lines separates nothing");
        assert!(mse == plain && told.contains(&words), "{told}");
    }
    assert_eq!(of("returns.csv").0, plain);
    let damaged = format!("{}x\r", rows("\r", "\r"));
    let said = folder.with("damaged.csv", damaged).run("eval damaged.csv --learner krls");
    assert!(said.code == Some(1) && said.err.contains("damaged.csv, line 62: has 1 cell"), "{}", said.err);
}
