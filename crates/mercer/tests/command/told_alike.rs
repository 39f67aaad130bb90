//! One messy file through `inspect`, `eval`, `train`, `predict` and `serve`: each tells the same of
//! its columns and cells.

use serde_json::Value;

use crate::support::{Folder, object};

const HEADER: &str = "order_id,when,shop,price,code,humidity,note,amount,grade\n";

/// Signs, codes with zeros, days by the month, gaps, cells that do not fit, long texts, names of
/// rows, and shops that come late.
fn row(t: usize) -> String {
    let shop = if t < 300 { t % 3 } else { t % 90 };
    let humidity = match t {
        _ if t % 20 == 3 => "-".to_owned(),
        330 | 390 => "broken".to_owned(),
        _ => (t * 7 % 50).to_string(),
    };
    format!(
        "{},{}/{}/2021,s{shop},${}.50,{:03},{humidity},the {t}th order was left at the back door of the house,{},{}\n",
        1000 + t,
        t % 12 + 1,
        t % 28 + 1,
        t * 13 % 40,
        t % 5,
        t * 13 % 40 + shop,
        ["good", "bad"][t / 2 % 2],
    )
}

fn table(rows: std::ops::Range<usize>) -> String {
    HEADER.to_owned() + &rows.map(row).collect::<String>()
}

/// The messages about columns and cells, wherever the cells stand.
fn lines(said: &str) -> Vec<&str> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("mercer: "));
    lines.filter_map(|line| line.find("column").map(|at| &line[at..])).collect()
}

/// The facts of the columns, of each the four that all tell.
fn facts(report: &Value) -> Vec<[Value; 4]> {
    let columns = report["columns"].as_array().unwrap().iter();
    columns.map(|column| ["name", "kind", "use", "why"].map(|fact| column[fact].clone())).collect()
}

#[test]
fn the_command_tells_the_same_everywhere() {
    let folder = Folder::new().with("d.csv", table(0..500));
    for (target, task) in [("amount", "regression"), ("grade", "class")] {
        let inspected = folder.json(&format!("inspect d.csv --target {target}"));
        let evaluated = folder.run(&format!("eval d.csv --target {target} --learner auto --json"));
        let report = object(&evaluated.out);
        let trained = folder.run(&format!("train d.csv --target {target} --learner auto --out m.mercer"));
        assert_eq!((evaluated.code, trained.code), (Some(0), Some(0)), "{} {}", evaluated.err, trained.err);
        let told = facts(&report);
        assert_eq!(told, facts(&inspected));
        assert_eq!(told, facts(&folder.json("inspect m.mercer")));
        assert_eq!(lines(&evaluated.err), lines(&trained.err));
        // What a line tells is the fact of its column.
        for [name, kind, used, why] in &told {
            let begin = format!("column {name}: ");
            let line = lines(&trained.err).into_iter().find(|line| line.starts_with(&begin));
            let plain = why == "" && kind == "number" || used == "set aside";
            assert!(plain || line.is_some_and(|line| line.ends_with(why.as_str().unwrap())), "{begin}{why} {line:?}");
        }
        let counts = &report["counts"];
        assert!([&counts["gaps"], &counts["misfits"], &counts["hashed"]].iter().all(|count| count.as_u64() > Some(0)));
        // The task, and why it is one of classes.
        assert_eq!([&report["task"], &inspected["task"]], [task; 2]);
        assert_eq!(report["task_why"], inspected["task_why"]);
        let why = report["task_why"].as_str().map(|why| format!("mercer: d.csv: task {task}, for {why}\n"));
        assert_eq!(why.is_some(), task == "class");
        assert!(why.is_none_or(|why| trained.err.contains(&why)), "{}", trained.err);
    }
}

/// What a column may have been meant for, and why it is left out, whatever is done with the rows.
#[test]
fn series_trajectories_and_watches_tell_the_doubts_of_inspect() {
    let row = |t: usize| {
        let crp = if t % 5 == 2 { "<5".to_owned() } else { (t * 7 % 40).to_string() };
        let level = if t % 20 == 3 { "-999".to_owned() } else { (t * 3 % 50).to_string() };
        let day = format!("2024-{:02}-{:02}", t / 28 + 1, t % 28 + 1);
        format!("{day},n{t}x,{crp},{level},{:02}:30,{}\n", t % 24, t % 9)
    };
    let header = "day,name,crp,level,at,y\n";
    let whole = header.to_owned() + &(0..200).map(row).collect::<String>();
    let plain = whole.lines().map(|line| line.split(',').enumerate().filter(|(place, _)| *place != 2));
    let plain: String = plain.map(|cells| cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n").collect();
    let folder = Folder::new().with("d.csv", whole).with("plain.csv", plain);
    let inspected = folder.json("inspect d.csv");
    let why = |name: &str| {
        let columns = inspected["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column["name"] == name).unwrap();
        column["why"].as_str().unwrap().to_owned()
    };
    let doubt = |name: &str| why(name)[why(name).find("\"<5\"").unwrap_or(0)..].to_owned();
    assert!(doubt("crp").starts_with("\"<5\" is no number; --as 'crp=number'"), "{}", doubt("crp"));
    assert!(why("level").starts_with("-999 is far from all others; --gap -999"), "{}", why("level"));
    for (line, told) in [
        ("eval d.csv --learner krls", &["crp", "level", "name"][..]),
        ("watch d.csv", &["crp", "level", "name"]),
        ("forecast d.csv", &["crp", "level"]),
        ("forecast d.csv --target y", &["crp", "level"]),
        ("forecast d.csv --target y --quiet", &[]),
        ("koopman plain.csv --trajectory", &["level"]),
        ("koopman plain.csv --trajectory --time day", &["level"]),
    ] {
        let said = folder.run(line);
        assert_eq!(said.code, Some(0), "{line}: {}", said.err);
        told.iter().for_each(|name| assert!(said.err.contains(&doubt(name)), "{line}, {name}: {}", said.err));
        // Whatever is left out is told, with a remedy only where there is one.
        let series = line.starts_with("forecast") || line.starts_with("koopman");
        assert!(!series || said.err.contains("\"at\": left out, for it holds times\n"), "{line}: {}", said.err);
        let names = line.starts_with("koopman");
        assert!(!names || said.err.contains("\"name\": left out, for it holds no numbers\n"), "{line}: {}", said.err);
    }
}

#[cfg(all(unix, feature = "serve"))]
#[test]
fn the_service_counts_what_the_command_counts_and_describes_columns_in_its_words() {
    use serde_json::json;

    let folder = Folder::new().with("d.csv", table(0..300)).with("rest.csv", table(300..500));
    let trained = folder.run("train d.csv --target amount --learner krls --out m.mercer --quiet");
    assert_eq!(trained.err, "mercer: \"order_id\", \"note\" are left out; mercer inspect tells why\n");
    std::fs::copy(folder.path("m.mercer"), folder.path("file.mercer")).unwrap();
    let said = folder.run("predict rest.csv --model file.mercer --learn");
    assert_eq!(said.code, Some(0), "{}", said.err);

    let service = crate::http::Service::start(&folder, "--model m.mercer");
    let names: Vec<&str> = HEADER.trim_end().split(',').collect();
    let object = |line: &str| -> Value {
        let cells = names.iter().zip(line.split(','));
        cells.map(|(name, cell)| ((*name).to_owned(), cell.parse::<f64>().map_or(json!(cell), Value::from))).collect()
    };
    // A code is a text, as in the file.
    let rows = (300..500).map(|t| {
        let mut row = object(row(t).trim_end());
        row["code"] = json!(format!("{:03}", t % 5));
        row
    });
    let learnt = service.learn(&json!({ "rows": rows.collect::<Vec<_>>() }));
    let mut counted = 0;
    for column in learnt["columns"].as_array().unwrap() {
        for (fact, words) in [
            ("gaps", "empty, counted as missing"),
            ("misfits", "did not fit and counted as missing"),
            ("hashed", "of categories without a number of their own"),
        ] {
            let count = column[fact].as_u64().unwrap();
            counted += count;
            let line = format!("mercer: column {}: {count} cells {words}\n", column["name"]);
            assert_eq!(said.err.contains(&line), count > 1, "{line} {}", said.err);
        }
    }
    let all = ["gaps", "misfits", "hashed"].map(|fact| learnt["counts"][fact].as_u64().unwrap());
    assert!(counted == all.iter().sum::<u64>() && counted > 30, "{learnt}");

    let described = service.get("/openapi.json").json();
    let form = &described["components"]["schemas"]["RowByName"];
    for [name, kind, _, why] in facts(&folder.json("inspect m.mercer")) {
        let (kind, why) = (kind.as_str().unwrap(), why.as_str().unwrap());
        let told = &form["properties"][name.as_str().unwrap()]["description"];
        let told = told.as_str().unwrap_or_default();
        assert!(told.contains(kind) && told.contains(why) || name == "amount", "{name}: {told:?}, {kind} {why}");
    }
    service.ends_well();
}

/// Rows that sum up others are told where the first is met, and counted at the end.
#[test]
fn sums_among_rows_are_counted_by_every_command() {
    let month = |m: u32| {
        let sales = [m + 3, 2 * m + 1, 50 - m];
        let rows: String = ["N", "S", "E"].iter().zip(sales).map(|(shop, y)| format!("{shop},{m},{y}\n")).collect();
        format!("{rows}All,{m},{}\n", sales.iter().sum::<u32>())
    };
    let text = (1..=40).fold("shop,month,sales\n".to_owned(), |text, m| text + &month(m));
    let folder = Folder::new().with("s.csv", text);
    let counted = "40 rows that sum up others: left out, the last on line 161";
    let told = |command: &str| {
        let said = folder.run(command);
        assert_eq!(said.code, Some(0), "{command}: {}", said.err);
        said.out + &said.err
    };
    for command in [
        "eval s.csv --learner krls --target sales",
        "train s.csv --learner krls --target sales --out m.mercer",
        "compare s.csv --learners krls,klms --target sales",
        "fit s.csv --learner ridge --target sales --scale-from s.csv --out f.mercer",
        "watch s.csv",
        "inspect s.csv",
    ] {
        let left = told(command);
        assert!(left.contains(counted), "{command}: {left}");
        let kept = told(&format!("{command} --keep-totals"));
        assert!(!kept.contains("left out, the last"), "{command}: {kept}");
    }
    // Each row has its answer.
    let answers = told("predict s.csv --model m.mercer");
    assert_eq!(answers.lines().filter(|line| line.parse::<f64>().is_ok()).count(), 160, "{answers}");
}

/// Groups that differ in capitals alone are two, and every command that has groups says so.
#[test]
fn groups_that_differ_in_capitals_are_told() {
    let row = |t: u32| {
        format!("{},{},{}\n", if t % 40 < 20 { "North" } else { "north" }, t % 7, f64::from(t % 7) * 2.0 + 1.0)
    };
    let table = format!("shop,a,y\n{}", (0..160).map(row).collect::<String>());
    let folder = Folder::new().with("other.csv", table.replace("north", "South")).with("t.csv", table);
    let told = "the groups \"North\" and \"north\" differ in capitals or marks alone, and are two";
    for words in [
        "eval t.csv --target y --group shop",
        "train t.csv --target y --group shop --model m.mercer",
        "predict t.csv --model m.mercer --learn",
        "forecast t.csv --target y --group shop",
    ] {
        let said = folder.run(words);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(format!("{}{}", said.out, said.err).contains(told), "{words}: {}{}", said.out, said.err);
    }
    for words in ["eval other.csv --target y --group shop", "forecast other.csv --target y --group shop"] {
        let said = folder.run(words);
        assert!(said.code == Some(0) && !format!("{}{}", said.out, said.err).contains(told), "{words}");
    }
}
