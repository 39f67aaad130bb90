//! Kinds of columns: gap marks, signs, codes, days, columns and categories that come late; and what
//! is told of each.

use super::support::{Folder, object};

/// Rows `t` of a table in which the second column tells `y`.
fn table(rows: usize, header: &str, row: impl Fn(usize, f64) -> String) -> String {
    let mut text = format!("{header}\n");
    for t in 0..rows {
        let x = ((t * 37) % 101) as f64;
        text += &(row(t, x) + "\n");
    }
    text
}

/// The mean squared error of the second half of the rows, and what is said on stderr.
fn eval(folder: &Folder, arguments: &str) -> (f64, String) {
    let said = folder.run(&format!("eval {arguments} --json"));
    assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
    (object(&said.out)["second_half"]["mse"].as_f64().unwrap(), said.err)
}

#[test]
fn any_number_of_gap_marks_leaves_numbers_numbers() {
    for mark in ["-", "\\N", "NA", "n/a", "NaN", "None", "nil", ".", "?", "missing"] {
        for every in [3, 10, 200] {
            let marked = |t: usize, x: f64| if t % every == 1 { mark.to_owned() } else { x.to_string() };
            let folder = Folder::new().with("d.csv", table(600, "x,y", |t, x| format!("{},{}", marked(t, x), 2.0 * x)));
            let columns = object(&folder.run("inspect d.csv --json").out)["columns"].clone();
            assert_eq!(columns[0]["kind"], "number", "{mark} {every}");
            let (_, err) = eval(&folder, "d.csv --learner krls --target y");
            assert!(err.contains("column \"x\": number, "), "{err}");
            assert!(err.contains(&format!("column \"x\": {} cells empty", (599 - 1) / every + 1)), "{err}");
        }
    }
}

#[test]
fn one_sign_around_all_numbers_is_read_and_told() {
    for (sign, written) in [
        ("%", (|x| format!("{x}%")) as fn(f64) -> String),
        ("$", |x| format!("${x}")),
        ("€", |x| format!("{x} €")),
        ("kg", |x| format!("{x} kg")),
    ] {
        let folder = Folder::new().with("d.csv", table(400, "rate,y", |_, x| format!("{},{}", written(x), x + 1.0)));
        let (mse, err) = eval(&folder, "d.csv --learner krls --target y");
        assert!(mse < 1.0, "{sign}: {mse}");
        assert!(err.contains("column \"rate\": number, written with") && err.contains(sign), "{err}");
    }
    // What may be two numbers is none.
    let folder =
        Folder::new().with("d.csv", table(400, "p,x,y", |t, x| format!("\"${}.{:03}\",{x},{x}", t % 7 + 1, t)));
    let (_, err) = eval(&folder, "d.csv --learner krls --target y");
    assert!(err.contains("column \"p\": left out, for \"$") && err.contains("may be read as two numbers"), "{err}");
}

#[test]
fn codes_keep_their_zeros_and_exponents() {
    let codes = ["01234", "1234", "1E5", "100000", "3.1", "3.10"];
    let row = |t: usize, _| format!("{},{}", codes[t % 6], [10, -10, 20, -20, 30, -30][t % 6]);
    let folder = Folder::new().with("d.csv", table(600, "code,y", row));
    let inspected = object(&folder.run("inspect d.csv --as code=category --json").out);
    assert_eq!(inspected["columns"][0]["distinct"], 6);
    let (mse, _) = eval(&folder, "d.csv --learner krls --target y --as code=category");
    assert!(mse < 0.1, "{mse}");
    // Left as numbers, they are told.
    let (_, err) = eval(&folder, "d.csv --learner krls --target y");
    assert!(
        err.contains("column \"code\": number, some begin with a zero; --as 'code=category' keeps codes apart"),
        "{err}"
    );
}

#[test]
fn a_day_above_twelve_tells_the_order_and_else_it_is_asked_for() {
    let day = |t: usize| (t % 12 + 1, t / 12 % 28 + 1);
    let row = |t: usize, x: f64| format!("{}/{}/2020,{x},{x}", day(t).0, day(t).1);
    let folder = Folder::new()
        .with("sure.csv", table(300, "day,x,y", row))
        .with("doubt.csv", table(100, "day,x,y", |t, x| format!("{}/{}/2020,{x},{x}", t % 12 + 1, t % 11 + 1)))
        .with("none.csv", table(300, "day,x,y", |t, x| format!("day {t},{x},{x}")));
    let (_, err) = eval(&folder, "sure.csv --learner krls --target y");
    assert!(err.contains("column \"day\": time, month/day/year"), "{err}");
    let (_, err) = eval(&folder, "doubt.csv --learner krls --target y");
    assert!(
        err.contains("column \"day\": left out, for \"") && err.contains("--as 'day=dmy' or --as 'day=mdy'"),
        "{err}"
    );
    let (_, err) = eval(&folder, "doubt.csv --learner krls --target y --as day=dmy");
    assert!(err.contains("column \"day\": time, day/month/year"), "{err}");
    let refused = folder.run("eval none.csv --learner krls --target y --as day=time");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("column \"day\" is told to be a time, but \"day 0\" is none"), "{}", refused.err);
}

#[test]
fn columns_and_categories_that_come_late_are_learnt() {
    let late = |t: usize, x: f64| {
        if t < 300 { format!("{x},,,{x}") } else { format!("{x},{},{},{}", t % 7, ["a", "b"][t % 2], 10 * (t % 7)) }
    };
    let folder = Folder::new().with("late.csv", table(1500, "a,b,c,y", late)).with(
        "stores.csv",
        // Three stores in the first rows, thirty in all.
        table(3000, "store,y", |t, _| {
            let store = if t < 300 { t % 3 } else { t % 30 };
            format!("s{store},{}", 7 * store)
        }),
    );
    let (mse, err) = eval(&folder, "late.csv --learner auto --target y");
    assert!(mse < 1.0, "{mse}");
    for name in ["b", "c"] {
        let told =
            format!("column {name:?}: has no value in the first 256 rows, and begins with the first that it has");
        assert!(err.contains(&told), "{err}");
    }
    let (mse, _) = eval(&folder, "stores.csv --learner krls --target y");
    assert!(mse < 1.0, "{mse}");
}

#[test]
fn formats_agree_on_codes() {
    let row = |t: usize, _| format!("{},{}", ["01234", "1234"][t % 2], [10, -10][t % 2]);
    let json = |(code, y): (&str, i32)| format!("{{\"code\":\"{code}\",\"y\":{y}}}\n");
    let lines: String = (0..400).map(|t| json([("01234", 10), ("1234", -10)][t % 2])).collect();
    let folder = Folder::new()
        .with("train.ndjson", lines)
        .with("ask.csv", table(2, "code,y", row))
        .with("ask.ndjson", "{\"code\":\"01234\"}\n{\"code\":\"1234\"}\n");
    assert_eq!(folder.run("train train.ndjson --learner krls --target y --out m --quiet").code, Some(0));
    let numbers = |text: &str| -> Vec<f64> {
        text.lines()
            .filter_map(|line| line.trim_matches(|c: char| !c.is_ascii_digit() && !"-.e".contains(c)).parse().ok())
            .collect()
    };
    let csv = numbers(&folder.run("predict ask.csv --model m").out);
    assert!(csv.len() == 2 && csv[0] > 9.0 && csv[1] < -9.0, "{csv:?}");
}

#[test]
fn one_text_among_the_targets_makes_no_classes() {
    let row = |t: usize, x: f64| if t == 150 { "x,y".to_owned() } else { format!("{x},{}", 2.0 * x) };
    let folder = Folder::new().with("d.csv", table(300, "x,y", row));
    for arguments in ["eval d.csv --learner krls --target y", "train d.csv --learner krls --target y --out m"] {
        let refused = folder.run(arguments);
        assert_eq!(refused.code, Some(1), "{arguments}");
        assert!(refused.err.contains("line 152"), "{}", refused.err);
    }
}

/// A class called `NA` or `None` is a class whether columns are encoded or not.
#[test]
fn marks_are_classes_among_classes() {
    let row = |t: usize, x: f64| format!("{x},{}", ["NA", "DE", "None"][t % 3]);
    let folder = Folder::new().with("d.csv", table(300, "x,land", row));
    for more in ["", " --scale standard"] {
        let said = folder.run(&format!("eval d.csv --learner krls --target land --json{more}"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(object(&said.out)["rows"], 300, "{more}");
        assert_eq!(object(&said.out)["task"], "class", "{more}");
    }
}

#[test]
fn what_columns_are_is_told_as_json() {
    let row = |t: usize, x: f64| format!("{t},{},{},{x}", ["red", "blue"][t % 2], if t % 50 == 7 { "" } else { "1" });
    let folder = Folder::new().with("d.csv", table(300, "id,colour,gap,y", row));
    let said = folder.run("eval d.csv --learner krls --target y --json");
    let report = object(&said.out);
    let column = |place: usize, key: &str| report["columns"][place][key].as_str().unwrap().to_owned();
    assert_eq!(column(0, "use"), "ignored: it names rows");
    assert_eq!((column(1, "kind"), column(1, "why")), ("category".to_owned(), "2 values so far".to_owned()));
    assert_eq!(report["counts"]["gaps"], 6);
    assert!(said.err.contains("column \"id\": left out, for it names rows"), "{}", said.err);
    // Beside numbers alone it is taken as one, with a word.
    let folder = Folder::new().with("d.csv", table(300, "id,x,y", |t, x| format!("{t},{x},{x}")));
    let (_, err) = eval(&folder, "d.csv --learner krls --target y");
    assert!(err.contains("column \"id\": counts the rows, and is taken as a number"), "{err}");
}

/// Numbers and days are read as other programs write them, with a word about it.
#[test]
fn numbers_and_days_as_other_programs_write_them() {
    let below = |x: f64| if x < 50.0 { format!("({:.2})", 50.0 - x) } else { format!("{:.2}", x - 50.0) };
    let week = |t: usize| format!("2020-W{:02}", t % 52 + 1);
    let day = |t: usize| format!("{:02}-{}-20", t % 28 + 1, ["Jan", "Feb", "Mar"][t % 3]);
    let gap = |t: usize, x: f64| if t % 15 == 4 { "#DIV/0!".to_owned() } else { x.to_string() };
    let folder = Folder::new()
        .with("below.csv", table(400, "x,y", |_, x| format!("{},{}", below(x), 2.0 * x)))
        .with(
            "minus.csv",
            table(400, "x;y", |_, x| format!("{:.2}{};{x}", (x - 50.0).abs(), if x < 50.0 { "-" } else { "" })),
        )
        .with("target.csv", table(400, "x,y", |_, x| format!("{x},{}", below(x))))
        .with("india.csv", table(400, "x;y", |_, x| format!("12,{:02},000;{}", x as u32 % 100, x % 100.0)))
        .with("week.csv", table(400, "week,x,y", |t, x| format!("{},{x},{x}", week(t))))
        .with("day.csv", table(400, "day,x,y", |t, x| format!("{},{x},{x}", day(t))))
        .with("gap.csv", table(400, "x,z,y", |t, x| format!("{},{x},{x}", gap(t, x))))
        .with(
            "texts.ndjson",
            (0..400).map(|t| format!("{{\"x\":\"{}.5\",\"y\":{}}}\n", t % 50, t % 50)).collect::<String>(),
        );
    for (file, told) in [
        ("below.csv", "column \"x\": number, written as text, \"(50.00)\" is -50"),
        ("minus.csv", "column \"x\": number, written as text, \"50.00-\" is -50"),
        ("target.csv", "column \"y\": target or weight, written as text"),
        ("india.csv", "is read as 12"),
        ("week.csv", "column \"week\": time"),
        ("day.csv", "column \"day\": time"),
        ("gap.csv", "column \"x\": number, 17 of the first 256 cells missing"),
        ("texts.ndjson", ""),
    ] {
        let (mse, err) = eval(&folder, &format!("{file} --learner krls --target y --scale standard"));
        assert!(mse < 2.0 && err.contains(told), "{file}: {mse} {err}");
    }
}

/// A doubt about the meaning of a column is told with the column.
#[test]
fn what_may_be_codes_or_two_spellings_is_told() {
    let folder = Folder::new()
        .with("e.csv", table(300, "sku,y", |t, x| format!("{},{x}", ["2e3", "20e2", "1e5"][t % 3])))
        .with("long.csv", table(300, "account,y", |t, x| format!("{},{x}", (1_u64 << 53) + t as u64 % 4)))
        .with("key.csv", table(300, "user_id,y", |t, x| format!("{},{x}", t * 7919 % 100_003)))
        .with("flag.csv", table(300, "flag,y", |t, x| format!("{},{x}", ["true", "TRUE", "false"][t % 3])))
        .with("label.csv", table(300, "x,y", |t, x| format!("{x},{}", ["Yes", "yes", "no"][t % 3])))
        .with("mixed.csv", table(300, "p,y", |t, x| format!("{x}{},{x}", ["%", ""][t % 2])))
        .with("only.csv", table(300, "name,y", |t, x| format!("n{t},{x}")));
    for (file, told) in [
        ("e.csv", "column \"sku\": number, some are written with an E; --as 'sku=category' keeps codes apart"),
        ("long.csv", "some have more digits than a number holds; --as 'account=category' keeps codes apart"),
        ("key.csv", "column \"user_id\": number, another one in each row; --as 'user_id=identifier' leaves it out"),
        ("flag.csv", "column \"flag\": category, 2 values so far\n"),
        ("label.csv", "column \"y\": target or weight, \"Yes\" and \"yes\" differ in capitals alone"),
        ("mixed.csv", "\"0%\" and \"37\" are numbers written in two ways; write all in one"),
    ] {
        let said = folder.run(&format!("eval {file} --learner krls --target y"));
        assert!(said.code == Some(0) && said.err.contains(told), "{file}: {}", said.err);
    }
    folder.refused(1, "eval only.csv --learner krls", &["column \"name\": left out, for it names rows or is text"]);
}

/// Zeros alone may be the beginning of numbers.
#[test]
fn a_target_of_zeros_alone_is_numbers() {
    let late = |t: usize, x: f64| if t < 300 { 0.0 } else { x };
    let folder = Folder::new()
        .with("d.csv", table(600, "x,y", |t, x| format!("{x},{}", late(t, x))))
        .with("e.csv", table(600, "x,z,y", |t, x| format!("{x},,{}", late(t, x))));
    for file in ["d.csv", "e.csv"] {
        let said = folder.run(&format!("eval {file} --learner krls --target y --json"));
        assert_eq!(object(&said.out)["task"], "regression", "{file}: {}", said.err);
    }
    for (more, task) in [("--learner krls --task class", "class"), ("--learner perceptron", "class")] {
        let said = folder.run(&format!("eval d.csv {more} --target y --limit 300 --json"));
        assert_eq!(object(&said.out)["task"], task, "{}", said.err);
    }
    // Texts that are numbers are read as such, also as targets.
    let line = |t: usize| format!("{{\"x\":\"{0}\",\"y\":\"{0}.5\"}}\n", t % 50);
    let folder = Folder::new().with("t.ndjson", (0..300).map(line).collect::<String>());
    let (mse, err) = eval(&folder, "t.ndjson --learner krls");
    assert!(mse < 1.0, "{mse} {err}");
    // What made the target a class is told.
    let folder = Folder::new().with("d.csv", table(300, "x,y", |t, x| format!("{x},{}", t % 2)));
    let said = folder.done("eval d.csv --learner krls");
    assert!(said.contains("the first rows hold 0 and 1 alone; --task regression takes it as a number"), "{said}");
}

/// The ranges of a whole file are those of the numbers and days that its cells are read as.
#[test]
fn ranges_are_of_what_is_read() {
    let day = |t: usize, iso: bool| {
        let (year, month, day) = (2020 + t / 336, t / 28 % 12 + 1, t % 28 + 1);
        if iso { format!("{year}-{month:02}-{day:02}") } else { format!("{month}/{day}/{year}") }
    };
    let row = |t: usize, x: f64, iso: bool| {
        let rate = if t < 300 { x } else { 10.0 * x };
        format!("{rate}{},{},{}", if iso { "" } else { "%" }, day(t, iso), rate + t as f64)
    };
    let folder = Folder::new()
        .with("plain.csv", table(600, "rate,day,y", |t, x| row(t, x, true)))
        .with("signs.csv", table(600, "rate,day,y", |t, x| row(t, x, false)));
    let [plain, signs] =
        ["plain", "signs"].map(|name| eval(&folder, &format!("{name}.csv --learner krls --scale standard")).0);
    assert_eq!(plain, signs);
}

/// Amounts of which more than one of twenty are words: as a target they would be hundreds of
/// classes.
#[test]
fn a_target_with_a_value_of_its_own_in_each_row_is_no_class() {
    let amount =
        |t: usize| if t % 12 == 5 { "geschlossen".to_owned() } else { format!("1.{:03},{:02} €", t, t % 90) };
    let folder = Folder::new()
        .with("money.csv", table(300, "x;Umsatz", |t, x| format!("{};{}", x.to_string().replace('.', ","), amount(t))))
        .with("names.csv", table(300, "x,name", |t, x| format!("{x},name {t}")));
    let many = ["column \"Umsatz\"", "too many for classes", "\"geschlossen\" is no number", "--as 'Umsatz=number'"];
    folder.refused(1, "eval money.csv --learner krls --target Umsatz", &many);
    let (mse, err) = eval(&folder, "money.csv --learner krls --target Umsatz --as Umsatz=number --on-error skip");
    assert!(mse < 1e5 && err.contains("written with"), "{mse} {err}");
    folder.refused(
        1,
        "eval names.csv --learner krls --target name",
        &["256 different", "--task class takes each as one"],
    );
}

/// A name with a comma is told by quotes or by its number, and the refusal says so.
#[test]
fn names_with_commas_have_quotes() {
    let rows: String = (0..40).map(|t| format!("{t},{},{}\n", t * 7 % 11, t * 3 % 13)).collect();
    let folder = Folder::new()
        .with("d.csv", format!("a,\"b, net\",\"Sales, EUR\"\n{rows}"))
        .with("e.csv", format!("a,b,y\n{rows}"));
    let said = |file: &str, target: &str| {
        let line = ["eval", file, "--learner", "krls", "--scale", "standard", "--target", target];
        let output = folder.command(&line).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, err) = said("d.csv", "Sales, EUR");
    let told = "a name with a comma is told in quotes, '\"b, net\"', or by its number";
    assert!(code == Some(1) && err.contains("no target column \"Sales\"") && err.contains(told), "{err}");
    for target in ["\"Sales, EUR\"", "3"] {
        let (code, err) = said("d.csv", target);
        assert_eq!(code, Some(0), "{err}");
    }
    // So do commands with readers of their own.
    let said_of = |line: &[&str]| String::from_utf8(folder.command(line).output().unwrap().stderr).unwrap();
    for line in [["forecast", "d.csv", "--target", "Sales, EUR"], ["koopman", "d.csv", "--time", "Sales"]] {
        let err = said_of(&line);
        assert!(err.contains("there is no such column") && err.contains(told), "{line:?}: {err}");
    }
    // Where no name has a comma, nothing is said of one.
    let (code, err) = said("e.csv", "y, z");
    assert!(code == Some(1) && err.contains("no target column \"z\"") && !err.contains("comma"), "{err}");
}

/// A number that counts the rows is no series, and `inspect` says so as `forecast` does.
#[test]
fn inspect_tells_what_counts_the_rows_of_a_series() {
    let rows: String = (1..=120).map(|t| format!("{t},{},{}\n", 1950 + t / 12, t * 37 % 101)).collect();
    let folder = Folder::new().with("s.csv", format!("day,size,v\n{rows}"));
    let columns = object(&folder.run("inspect s.csv --json").out)["columns"].clone();
    let why = |place: usize| columns[place]["why"].as_str().unwrap_or_default().to_owned();
    assert!(
        columns[0]["kind"] == "number" && why(0).contains("no forecast is made of it; --as 'day=number' has one"),
        "{columns}"
    );
    assert!(!why(1).contains("forecast") && !why(2).contains("forecast"), "{columns}");
    let said = folder.run("forecast s.csv --steps 2");
    assert!(said.err.contains("\"size\", \"v\" are forecast; \"day\" (counts rows or time) is not"), "{}", said.err);
}
