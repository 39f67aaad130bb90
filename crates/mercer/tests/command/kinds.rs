//! What people have, kind by kind: it gives the right value, or a sentence that says what was not
//! understood, and a remedy that works.

use crate::support::{Folder, noise};

/// A table of `x`, which `written` tells, and `y`, twice the number.
fn table(rows: usize, written: impl Fn(f64) -> String) -> String {
    let row = |t: usize| {
        let x = (noise(t as u64) * 800.0).round() / 8.0;
        format!("{};{:?}\n", written(x), 2.0 * x + 0.5)
    };
    "x;y\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

/// A remark of a run that succeeds.
fn told(folder: &Folder, arguments: &str, part: &str) {
    let said = folder.run(arguments);
    assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
    assert!(said.err.contains(part), "{arguments}: {part:?} is not in {}", said.err);
}

#[test]
fn numbers_of_other_programs_and_scripts_are_numbers() {
    let ascii = |x: f64| format!("{x:?}");
    let digits = |text: &str, zero: char| -> String {
        let other = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(u32::from(zero) + digit)).unwrap_or(c);
        text.chars().map(other).collect()
    };
    let fortran = |x: f64| format!("{x:.6e}").replace('e', "D");
    let mathematica = |x: f64| format!("{x:.6e}").replace('e', "*^");
    let dash = |x: f64| ascii(x).replace('-', "–");
    let full = |x: f64| digits(&ascii(x), '０').replace('-', "－").replace('.', "．");
    let arabic = |x: f64| digits(&ascii(x), '٠').replace('.', "٫");
    let hidden = |x: f64| format!("\u{200b}{x:?}\u{feff}");
    let rupees = |x: f64| format!("Rs. {x:?}/-");
    let folder = Folder::new().with("plain.csv", "x\n12.5\n-30.25\n");
    let ways: [(&str, &dyn Fn(f64) -> String); 7] = [
        ("fortran", &fortran),
        ("mathematica", &mathematica),
        ("dash", &dash),
        ("full", &full),
        ("arabic", &arabic),
        ("hidden", &hidden),
        ("rupees", &rupees),
    ];
    let folder = ways.iter().fold(folder, |folder, (name, way)| folder.with(&format!("{name}.csv"), table(300, way)));
    for (name, _) in ways {
        let x = &folder.json(&format!("inspect {name}.csv"))["columns"][0];
        assert_eq!((&x["kind"], &x["missing"]), (&"number".into(), &0.into()), "{name}: {x}");
        assert!(x["smallest"].as_f64().unwrap() < -45.0 && x["largest"].as_f64().unwrap() > 45.0, "{name}: {x}");
        let options = "--learner krls --kernel linear --target y --quiet --out m.mercer";
        folder.done(&format!("train {name}.csv {options}"));
        // The unit of a sum is a part of it.
        if name != "rupees" {
            let made = folder.done("predict plain.csv --model m.mercer");
            let made: Vec<f64> = made.lines().skip(1).map(|line| line.parse().unwrap()).collect();
            assert!((made[0] - 25.5).abs() < 1.0 && (made[1] + 60.0).abs() < 1.0, "{name}: {made:?}");
        }
    }
}

#[test]
fn what_looks_like_a_time_is_told_with_a_way_that_works() {
    for way in ["Jan %d 03:00:00", "2022-0%d", "FY%d", "KW %d", "20h%d"] {
        let row = |t: usize, day: String| format!("{day},{}\n", noise(t as u64));
        let day = |t: usize| way.replace("%d", &(10 + t % 19).to_string());
        let odd: String = (0..100).map(|t| row(t, day(t))).collect();
        let iso: String = (0..100).map(|t| row(t, format!("2024-05-{:02}T08:30", 10 + t % 19))).collect();
        let folder =
            Folder::new().with("odd.csv", "t,y\n".to_owned() + &odd).with("iso.csv", "t,y\n".to_owned() + &iso);
        for quiet in ["", " --scale standard", " --target y"] {
            let remark = "looks like a time, and is not read as one: write it as 2024-05-31T08:30";
            told(&folder, &format!("eval odd.csv --learner krls{quiet}"), remark);
        }
        assert_eq!(folder.json("inspect iso.csv")["columns"][0]["kind"], "time");
    }
}

#[test]
fn times_of_programs_are_times() {
    for way in ["%dJAN2022:03:00:00", "%d-JAN-22 03.00.00.000000 AM", "2022-01-%d-03.00.00", "[2022-01-%d 03:00:00,5]"]
    {
        let row = |t: usize| format!("\"{}\";{}\n", way.replace("%d", &(10 + t % 20).to_string()), noise(t as u64));
        let folder = Folder::new().with("t.csv", "t;y\n".to_owned() + &(0..60).map(row).collect::<String>());
        let column = &folder.json("inspect t.csv")["columns"][0];
        assert_eq!(column["kind"], "time", "{column}");
        assert!(column["smallest"].as_str().unwrap().starts_with("2022-01-10T03:00:00"), "{column}");
    }
    let clock = |t: usize| format!("{:02}.{:02}.00;{}\n", t % 24, t % 60, t % 24);
    let folder = Folder::new().with("c.csv", "t;y\n".to_owned() + &(0..200).map(clock).collect::<String>());
    let column = &folder.json("inspect c.csv")["columns"][0];
    assert_eq!((&column["kind"], &column["largest"]), (&"time".into(), &"23:59:00".into()), "{column}");
}

#[test]
fn series_along_rows_are_refused_and_read_when_turned() {
    let names: Vec<String> = (0..24).map(|t| format!("{}-{:02}", 2020 + t / 12, t % 12 + 1)).collect();
    let value = |t: usize, place: usize| (t % 12 + 3 * place).to_string();
    let row = |place: usize| {
        let values: Vec<String> = (0..24).map(|t| value(t, place)).collect();
        format!("{},{}\n", ["Chad", "Peru"][place], values.join(","))
    };
    let wide = format!("country,{}\n{}{}", names.join(","), row(0), row(1));
    let turned = |(t, name): (usize, &String)| format!("{name},{},{}\n", value(t, 0), value(t, 1));
    let long = "month,Chad,Peru\n".to_owned() + &names.iter().enumerate().map(turned).collect::<String>();
    let folder = Folder::new().with("wide.csv", wide).with("long.csv", long);
    for command in ["forecast wide.csv --steps 2", "forecast wide.csv --group country", "koopman wide.csv --trajectory"]
    {
        folder.refused(1, command, &["called by times, from \"2020-01\" to \"2021-12\"", "turn the table round"]);
    }
    let said = folder.run("forecast long.csv --steps 1");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("2022-01"), "{}", said.out);
}

#[test]
fn rows_that_sum_up_others_are_left_out_and_counted() {
    let row = |t: usize| match t % 10 {
        9 => format!("{} Total,,{}\n", ["A", "B"][t / 10 % 2], 900),
        _ => format!("{},{},{}\n", ["A", "B"][t / 10 % 2], t % 7, 100 + t % 7),
    };
    let folder = Folder::new().with("t.csv", "shop,day,sales\n".to_owned() + &(0..300).map(row).collect::<String>());
    let left = "30 rows that sum up others: left out, the last on line 301; --keep-totals keeps them";
    for quiet in ["", " --quiet", " --scale standard"] {
        told(&folder, &format!("eval t.csv --learner krls --target sales{quiet}"), left);
        told(&folder, &format!("train t.csv --learner krls --target sales --out m.mercer{quiet}"), left);
        told(&folder, &format!("forecast t.csv --target sales{}", quiet.replace(" --scale standard", "")), left);
    }
    let rows = |options: &str| {
        let said = folder.run(&format!("eval t.csv --learner krls --target sales --json {options}"));
        serde_json::from_str::<serde_json::Value>(&said.out).unwrap()["rows"].as_u64()
    };
    assert_eq!((rows(""), rows("--keep-totals")), (Some(270), Some(300)));
    // Each row has its answer.
    let said = folder.run("predict t.csv --model m.mercer");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 301));
}

#[test]
fn output_is_in_the_format_of_its_name_or_refused() {
    let folder = Folder::new().with("t.csv", table(60, |x| format!("{x:?}")));
    folder.done("train t.csv --learner krls --out m.mercer --quiet");
    let numbers: Vec<f64> =
        folder.done("predict t.csv --model m.mercer").lines().skip(1).map(|line| line.parse().unwrap()).collect();
    folder.done("predict t.csv --model m.mercer --out p.json");
    let array: Vec<serde_json::Value> = serde_json::from_str(&folder.read("p.json")).unwrap();
    folder.done("predict t.csv --model m.mercer --out p.ndjson");
    let lines = folder.read("p.ndjson");
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for rows in [array, lines] {
        assert_eq!(rows.iter().map(|row| row["prediction"].as_f64().unwrap()).collect::<Vec<_>>(), numbers);
    }
    for name in ["p.parquet", "p.arrow", "p.feather", "p.tsv", "p.csv.gz", "p.xlsx"] {
        let options = format!("eval t.csv --learner krls --predictions {name}");
        folder.refused(2, &options, &[name, "does not write", "a name that ends in .csv"]);
    }
    for name in ["p.tsv", "p.csv.gz", "p.xlsx"] {
        let options = format!("predict t.csv --model m.mercer --out {name}");
        folder.refused(2, &options, &[name, "does not write", ".ndjson"]);
    }
    folder.refused(2, "forecast t.csv --predictions p.json", &["p.json", "does not write json"]);
}

#[test]
fn numbers_that_may_be_classes_are_told_and_taken() {
    let row = |t: usize| format!("{},{}\n", noise(t as u64), t % 3 + 1);
    let folder = Folder::new().with("t.csv", "x,k\n".to_owned() + &(0..90).map(row).collect::<String>());
    let remark = "holds 1 to 3 alone, as codes of classes do; --task class takes them as classes";
    for option in ["", " --scale standard", " --target k", " --learner auto"] {
        told(&folder, &format!("eval t.csv --learner krls{option}").replace("krls --learner ", ""), remark);
    }
    let column = &folder.json("inspect t.csv")["columns"][1];
    assert!(column["why"].as_str().unwrap().contains(remark), "{column}");
    assert_eq!(folder.json("eval t.csv --learner krls --task class")["task"], "class");
    assert_eq!(folder.run("eval t.csv --learner krls --task regression").err, "");
}

#[test]
fn classes_that_are_new_or_alike_are_told() {
    let row = |names: [&str; 2], t: usize| format!("{},{}\n", noise(t as u64) + (t % 2) as f64, names[t % 2]);
    let rows = |names| (0..80).map(|t| row(names, t)).collect::<String>();
    let (old, new) = (rows(["<=50K", ">50K"]), rows(["<=50K.", ">50K."]));
    let folder = Folder::new()
        .with("old.csv", format!("x,k\n{old}"))
        .with("new.csv", format!("x,k\n{new}"))
        .with("both.csv", format!("x,k\n{old}{new}"));
    let alike = "the classes \"<=50K\" and \"<=50K.\" differ in capitals or marks alone";
    let said = folder.run("eval both.csv --learner krls");
    assert!(said.out.contains(alike), "{}", said.out);
    folder.run("train old.csv --learner krls --out m.mercer --quiet");
    let said = folder.run("predict new.csv --model m.mercer --learn");
    for part in ["line 2", "the class \"<=50K.\" is new to the model", "2 classes were new to the model", alike] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let said = folder.run("predict old.csv --model m.mercer --learn");
    assert!(!said.err.contains("new to the model"), "{}", said.err);
}

#[test]
fn several_files_are_refused_with_a_way_that_works() {
    let folder = Folder::new().with("p1.csv", table(40, |x| format!("{x:?}"))).with("p2.csv", "x;y\n1;2\n3;4\n");
    let way = "awk 'FNR > 1 || NR == 1' FILES | mercer COMMAND - --format csv";
    folder.refused(2, "eval p1.csv p2.csv --learner krls", &["only one file", way]);
    folder.refused(1, "eval p*.csv --learner krls", &["may be a pattern", way]);
    #[cfg(unix)]
    {
        let awk = "awk 'FNR > 1 || NR == 1' p1.csv p2.csv";
        let both = std::process::Command::new("sh").args(["-c", awk]).current_dir(folder.path("")).output().unwrap();
        assert_eq!(folder.json_of(&both.stdout, "eval - --format csv --learner krls")["rows"], 42);
    }
}

#[test]
fn many_columns_of_one_kind_are_told_in_a_line() {
    let names: Vec<String> = (0..300).map(|column| format!("t{column}")).collect();
    let row = |t: usize| {
        let cells: Vec<&str> = (0..300).map(|column| ["red", "green", "blue"][(t * 7 + column * t) % 3]).collect();
        format!("{},{}\n", cells.join(","), noise(t as u64))
    };
    let rows: String = (0..40).map(row).collect();
    let folder = Folder::new().with("t.csv", format!("{},y\n{rows}", names.join(",")));
    let said = folder.run("eval t.csv --learner krls");
    assert!(said.err.lines().count() < 10, "{}", said.err);
    assert!(said.err.contains("more: category, 3 values so far"), "{}", said.err);
}

#[test]
fn targets_too_large_for_a_score_are_refused() {
    let row = |t: usize| format!("{},{}1e155\n", noise(t as u64), if t.is_multiple_of(2) { "" } else { "-" });
    let folder = Folder::new().with("t.csv", "x,y\n".to_owned() + &(0..40).map(row).collect::<String>());
    for scale in ["none", "standard"] {
        let said = folder.run(&format!("train t.csv --learner krls --scale {scale} --out m.mercer"));
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(said.err.contains("line 2") && said.err.contains("divide the targets by a constant"), "{}", said.err);
    }
}

#[test]
fn a_constant_series_has_no_note_on_its_range() {
    let rows: String = (0..120).map(|_| "5\n").collect();
    let folder = Folder::new().with("c.csv", "y\n".to_owned() + &rows);
    let said = folder.run("forecast c.csv --steps 2");
    assert!(said.code == Some(0) && !said.out.contains("times their range"), "{}", said.out);
}

#[test]
fn a_class_may_go_over_two_lines() {
    let row = |t: usize| format!("{},\"{}\nday\"\n", noise(t as u64), ["first", "second"][t % 2]);
    let folder = Folder::new().with("t.csv", "x,k\n".to_owned() + &(0..60).map(row).collect::<String>());
    for learner in ["auto", "krls"] {
        let said = folder.run(&format!("eval t.csv --learner {learner} --target k --json"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.contains("\"rows\":60"), "{}", said.out);
    }
}
