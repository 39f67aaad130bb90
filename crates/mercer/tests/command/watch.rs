//! `mercer watch`: alarms with their columns, rows, and what is refused.

use serde_json::Value;

use super::support::{Folder, noise, object};

/// A table with a date, a category, a gap now and then, and three columns of numbers, of which `b`
/// changes in row 1500 and the category in row 2200.
fn table() -> String {
    let mut table = "day,shop,a,b,c,note,y\n".to_owned();
    for t in 0..3000_u64 {
        let [a, b, c, u, e] = [0, 1, 2, 3, 4].map(|j| noise(5 * t + j));
        let b = if t < 1500 { b } else { b + 1.2 };
        let shop = if u < if t < 2200 { -0.2 } else { 0.6 } { "Ulm" } else { "Bonn" };
        let c = if t % 50 == 7 { String::new() } else { c.to_string() };
        let y = a + 0.1 * e;
        let (year, month, day) = (2015 + t / 336, 1 + t / 28 % 12, 1 + t % 28);
        table += &format!("{year}-{month:02}-{day:02},{shop},{a},{b},{c},remark number {t} of a person,{y}\n");
    }
    table
}

fn alarms<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    report["alarms"].as_array().unwrap().iter().filter(|alarm| alarm["kind"] == kind).collect()
}

#[test]
fn changes_are_told_with_row_time_and_column() {
    let folder = Folder::new().with("t.csv", table());
    let said = folder.run("watch t.csv --for inputs --ignore y --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let report = object(&said.out);
    assert_eq!(report["rows"], 3000);
    let inputs = alarms(&report, "inputs");
    let at = |row: u64, column: &str| {
        inputs.iter().any(|alarm| {
            let told = alarm["row"].as_u64().unwrap();
            (row..row + 150).contains(&told) && alarm["columns"][0]["name"] == column
        })
    };
    assert!(at(1500, "b") && at(2200, "shop") && inputs.len() <= 4, "{inputs:?}");
    let change = inputs.iter().find(|alarm| alarm["columns"][0]["name"] == "b").unwrap();
    assert!(change["time"].as_str().unwrap().starts_with("2019-"), "{change}");
    assert!((1490..=1520).contains(&change["since"].as_u64().unwrap()), "{change}");
    assert_eq!(report["promise"]["rows_to_a_false_alarm"], 10000.0);
    let notes = report["notes"].to_string();
    assert!(notes.contains("day") && notes.contains("it is the time"), "{notes}");
}

/// Texts of words some of which are common; from row `moved` on a third are of another subject.
fn texts(seed: u64, moved: u64) -> String {
    let mut table = "text,a\n".to_owned();
    for t in 0..3000_u64 {
        let uniform = |j: u64| 0.5 + 0.5 * noise(seed + 32 * t + j);
        let words: Vec<String> = (0..4 + (10.0 * uniform(30)) as u64)
            .map(|j| {
                let rank = (3000.0_f64.powf(uniform(j))) as u64;
                if t >= moved && uniform(j + 15) < 0.3 { format!("other{}", rank % 100) } else { format!("word{rank}") }
            })
            .collect();
        table += &format!("{},{}\n", words.join(" "), uniform(31));
    }
    table
}

#[test]
fn texts_are_watched_by_the_surprise_of_their_words() {
    let folder = Folder::new().with("moved.csv", texts(1, 2000)).with("still.csv", texts(2, u64::MAX));
    let report = object(&folder.run("watch moved.csv --json").out);
    let [alarm] = &alarms(&report, "inputs")[..] else { panic!("{report}") };
    assert_eq!(alarm["columns"][0]["name"], "text");
    assert!((2000..2100).contains(&alarm["row"].as_u64().unwrap()), "{alarm}");
    assert!((1980..2100).contains(&alarm["since"].as_u64().unwrap()), "{alarm}");
    let still = object(&folder.run("watch still.csv --json").out);
    assert!(still["alarms"].as_array().unwrap().is_empty(), "{still}");
    // A short reference is enough, with texts as without.
    for columns in ["", "--ignore text "] {
        let short: String = texts(2, u64::MAX).lines().take(320).map(|line| format!("{line}\n")).collect();
        let folder = Folder::new().with("moved.csv", texts(1, 2000)).with("short.csv", short);
        folder.run(&format!("watch moved.csv --reference short.csv {columns}-o rows.csv"));
        let scored = folder.read("rows.csv").lines().skip(1).filter(|row| !row.ends_with(",,,,")).count();
        assert_eq!(scored, 3000, "{columns}");
        let few: String = texts(2, u64::MAX).lines().take(296).map(|line| format!("{line}\n")).collect();
        let said = folder.with("few.csv", few).run(&format!("watch moved.csv --reference few.csv {columns}--json"));
        assert!(said.out.contains("newness needs 296"), "{}", said.out);
    }
}

#[test]
fn the_text_says_the_same() {
    let folder = Folder::new().with("t.csv", table());
    let said = folder.run("watch t.csv --for inputs --ignore y,note,day");
    assert!(said.out.starts_with("t.csv: 3000 rows, "), "{}", said.out);
    assert!(said.out.contains("inputs changed") && said.out.contains("since 15"), "{}", said.out);
    assert!(
        said.out.contains("Promise: 10000 rows to a false alarm in the mean, at least\nTaken out: nothing"),
        "{}",
        said.out
    );
}

/// What is taken out follows a drift of many deviations as it follows a season, and this is said.
#[test]
fn a_drift_that_is_taken_out_has_a_note() {
    let table = |season: f64| {
        let row = |t: u64| {
            let wave = season * (std::f64::consts::TAU * t as f64 / 24.0).sin();
            let drift = 0.002 * t.saturating_sub(1500) as f64;
            format!("{},{}\n", wave + drift + noise(2 * t), noise(2 * t + 1))
        };
        format!("a,b\n{}", (0..3500).map(row).collect::<String>())
    };
    let folder = Folder::new().with("followed.csv", table(5.0)).with("told.csv", table(0.0));
    let note = "a slow drift of such columns may give no alarm";
    let [followed, told] = ["followed", "told"].map(|name| folder.run(&format!("watch {name}.csv --for inputs")).out);
    assert!(followed.contains(note) && followed.contains("a season of 24 rows"), "{followed}");
    assert!(!told.contains(note) && told.contains("inputs changed"), "{told}");
    let json = object(&folder.run("watch followed.csv --for inputs --json").out);
    assert!(json["notes"].to_string().contains(note), "{json}");
}

#[test]
fn a_new_row_has_its_line_and_its_column() {
    let mut lines: Vec<String> = table().lines().map(str::to_owned).collect();
    lines[1201] = "2018-07-22,Ulm,14,0.1,0.2,x,0.3".to_owned();
    let folder = Folder::new().with("t.csv", lines[..1400].join("\n"));
    let said = folder.run("watch t.csv --ignore y,note --out rows.csv --plot p.svg --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let report = object(&said.out);
    let rows = alarms(&report, "rows");
    assert!(rows.iter().any(|alarm| alarm["row"] == 1201 && alarm["columns"][0]["name"] == "a"), "{rows:?}");
    let written = folder.read("rows.csv");
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!((lines[0], lines[1], lines.len()), ("row,score,p,column,share", "1,,,,", 1400));
    let cells: Vec<&str> = lines[1201].split(',').collect();
    assert!(cells[0] == "1201" && cells[2].parse::<f64>().unwrap() < 1e-4 && cells[3] == "a", "{cells:?}");
    assert!(folder.read("p.svg").contains("How new rows are"));
}

#[test]
fn risen_errors_name_the_slope() {
    let mut table = "a,b,c,y\n".to_owned();
    for t in 0..3000_u64 {
        let [a, b, c, e] = [0, 1, 2, 3].map(|j| noise(4 * t + j));
        let y = a + if t < 2000 { b } else { -b } + 0.1 * e;
        table += &format!("{a},{b},{c},{y}\n");
    }
    let folder = Folder::new().with("t.csv", table);
    let report = object(&folder.run("watch t.csv --target y --for errors,inputs --json").out);
    let errors = alarms(&report, "errors");
    let first = errors.iter().find(|alarm| alarm["row"].as_u64().unwrap() > 2000).unwrap();
    assert!(first["row"].as_u64().unwrap() < 2060 && first["columns"][0]["name"] == "b", "{errors:?}");
    assert!(alarms(&report, "inputs").len() <= 1);
}

#[test]
fn a_reference_keeps_what_is_frequent_new() {
    let clean: String = table().lines().take(1000).map(|line| format!("{line}\n")).collect();
    let mut lines: Vec<String> = clean.lines().map(str::to_owned).collect();
    lines.iter_mut().skip(1).step_by(10).for_each(|line| *line = "2015-05-05,Ulm,9,0.1,0.2,x,0.3".to_owned());
    let folder = Folder::new().with("clean.csv", clean).with("t.csv", lines.join("\n"));
    let count = |words: &str| alarms(&object(&folder.run(words).out), "rows").len();
    let with = count("watch t.csv --reference clean.csv --for rows --ignore y,note --alarm-rate 1/1000 --json");
    let without = count("watch t.csv --for rows --ignore y,note --alarm-rate 1/1000 --json");
    assert!(with > 80 && without < 40, "{with} with a reference and {without} without");
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let folder =
        Folder::new().with("t.csv", table()).with("other.csv", "a,b\n1,2\n").with("bad.csv", "a,b\n1,2\n3\n4,5\n");
    for (words, why) in [
        ("watch t.csv --for errors", "say with --target"),
        ("watch t.csv --target nothing", "there is no column"),
        ("watch t.csv --alarm-rate 5", "give 1/ROWS"),
        ("watch t.csv --burn-in 5", "at least 64"),
        ("watch t.csv --for storms", "rows, inputs, errors and target"),
        ("watch t.csv --reference other.csv", "give a reference with the same columns"),
        ("watch bad.csv", "--on-error skip"),
        ("watch nothing.csv", "nothing.csv"),
    ] {
        let said = folder.run(words);
        assert!(said.code != Some(0) && said.err.contains(why) && said.out.is_empty(), "{words}: {}", said.err);
    }
    let said = folder.run("watch bad.csv --on-error skip");
    assert!(said.code == Some(0) && said.out.contains("1 bad row was left out"), "{}{}", said.out, said.err);
    assert!(said.out.contains("2 rows are too few"), "{}", said.out);
}

/// Names that hardly come twice neither hide a change of another column, nor are one.
#[test]
fn categories_without_end_hide_nothing() {
    let mut table = "who,city,kind,a\n".to_owned();
    for t in 0..3000_u64 {
        let [who, city, kind, a] = [0, 1, 2, 3].map(|j| noise(5 * t + j));
        // Of 2000 persons, and of cities of which few are common.
        let (who, city) = (1000.0 + 1000.0 * who, (1.0 / (1.02 + city)) as u64);
        let kind = if kind < if t < 2000 { -0.3 } else { 0.5 } { "old" } else { "new" };
        table += &format!("p{},city {city},{kind},{a}\n", who as u64);
    }
    let folder = Folder::new().with("t.csv", table);
    let said = folder.run("watch t.csv --for inputs --json");
    let report = object(&said.out);
    let inputs = alarms(&report, "inputs");
    let kinds = |alarm: &&&Value| alarm["columns"][0]["name"] == "kind";
    assert!(inputs.len() <= 2 && inputs.iter().filter(kinds).count() == 1, "{report}");
    assert!((2000..2100).contains(&inputs.last().unwrap()["row"].as_u64().unwrap()), "{inputs:?}");
    assert_eq!(report["promise"]["taken_out"].as_array().map(Vec::len), Some(0), "{report}");
    assert!(report["notes"].to_string().contains("none of its categories"), "{report}");
}

/// Which input the mistakes of classes depend on shows by their sign alone.
#[test]
fn mistakes_of_two_classes_name_the_input() {
    let mut table = "a,b,label\n".to_owned();
    for t in 0..3000_u64 {
        let [a, b] = [0, 1].map(|j| noise(7 * t + j));
        table += &format!("{a},{b},{}\n", if (a > 0.0) == (t < 1800) { "yes" } else { "no" });
    }
    let folder = Folder::new().with("t.csv", table);
    let said = folder.run("watch t.csv --for errors --target label --json");
    let report = object(&said.out);
    let errors = alarms(&report, "errors");
    assert!(errors.len() == 1 && errors[0]["columns"][0]["name"] == "a", "{report}");
}
