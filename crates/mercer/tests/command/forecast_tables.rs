//! `mercer forecast`: the rows of the backtest, parts, anomalies, effects, scenarios, and pictures
//! of groups.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::Folder;
use crate::times::day_after;

const WEEK: [f64; 7] = [20.0, 5.0, 0.0, 3.0, 9.0, 30.0, 25.0];

fn noise(t: usize) -> f64 {
    ((t * 7919 + 13) % 101) as f64 / 50.5 - 1.0
}

/// Daily sales with promotions that sell 30 more; the first row has none.
fn sales(rows: std::ops::Range<usize>, jump: Option<usize>) -> String {
    let mut text = "day,promotion,sold\n".to_owned();
    for t in rows {
        let (day, promotion) = (day_after("2024-01-01", t), u32::from(t * t % 11 == 4));
        let more = if jump == Some(t) { 60.0 } else { 0.0 };
        let sold = 100.0 + WEEK[t % 7] + f64::from(30 * promotion) + 2.0 * noise(t) + more;
        let _ = writeln!(text, "{day},{promotion},{sold:.3}");
    }
    text
}

/// The rows to come, all with a promotion or none.
fn plan(promotion: u32) -> String {
    let days = (200..207).map(|t| format!("{},{promotion}\n", day_after("2024-01-01", t)));
    format!("day,promotion\n{}", days.collect::<String>())
}

/// Lines of a table by the names of its columns.
fn table(folder: &Folder, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = folder.read(name);
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let names = cells(text.lines().next().unwrap());
    text.lines().skip(1).map(|line| names.iter().cloned().zip(cells(line)).collect()).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// MASE from the rows: the mean over groups and origins of mean(|y − forecast|)/scale.
fn mase(rows: &[BTreeMap<String, String>]) -> f64 {
    let mut origins: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows {
        let error = (number(row, "y") - number(row, "forecast")).abs() / number(row, "scale");
        let key = format!("{:?} {}", row.get("shop"), row["origin"]);
        origins.entry(key).or_default().push(error);
    }
    let means = origins.values().map(|errors| errors.iter().sum::<f64>() / errors.len() as f64);
    means.sum::<f64>() / origins.len() as f64
}

#[test]
fn rows_of_a_backtest_are_those_that_were_scored() {
    let folder = Folder::new().with("s.csv", sales(0..200, None)).with("plan.csv", plan(0));
    for known in ["", "--known promotion --future plan.csv"] {
        let options = format!("--target sold {known} --steps 7 --backtest 4 --intervals 0.8 --quantiles 0.25");
        let report = folder.json(&format!("forecast s.csv --time day {options} --backtest-rows b.csv"));
        let rows = table(&folder, "b.csv");
        let told = report["backtest"]["mase"].as_f64().unwrap();
        assert!((mase(&rows) - told).abs() < 1e-12 * told, "{known}: {} {told}", mase(&rows));
        assert_eq!((rows.len(), &report["backtest"]["origins"]), (28, &Value::from(4)));
        let squares: f64 = rows.iter().map(|row| (number(row, "y") - number(row, "forecast")).powi(2)).sum();
        assert!(((squares / 28.0).sqrt() - report["backtest"]["rmse"].as_f64().unwrap()).abs() < 1e-9);
        for row in &rows {
            let t = number(row, "origin") as usize + number(row, "step") as usize - 1;
            assert_eq!(row["time"], day_after("2024-01-01", t));
            let truth: f64 = sales(t..t + 1, None).lines().nth(1).unwrap().split(',').nth(2).unwrap().parse().unwrap();
            assert_eq!(number(row, "y"), truth, "row {t}");
            let [low, quarter, high] = ["low", "0.25", "high"].map(|end| number(row, &format!("forecast_{end}")));
            assert!(low <= quarter && quarter <= number(row, "forecast") && number(row, "forecast") <= high);
        }
        // A forecast from an origin is what a run that ends there tells.
        let (first, origin) = (&rows[0], number(&rows[0], "origin") as usize);
        if known.is_empty() {
            let folder = Folder::new().with("s.csv", sales(0..origin, None));
            let report = folder.json(&format!("forecast s.csv --time day {options}"));
            assert_eq!(report["forecast"][0][0].as_f64().unwrap(), number(first, "forecast"));
        } else {
            // Promotions are in the forecasts of rows that have one.
            assert!(told < 0.4, "{told}");
        }
    }
    folder.refused(2, "forecast s.csv --time day --backtest-rows b.csv", &["--steps"]);
    folder.refused(2, "forecast s.csv --time day --steps 2 --backtest-rows b.pdf", &["--backtest-rows", ".parquet"]);
}

#[test]
fn tables_have_the_format_of_their_names() {
    let folder = Folder::new().with("s.csv", sales(0..120, None));
    let options = "--target sold --steps 7 --backtest 2";
    for name in ["b.csv", "b.ndjson", "b.json", "b.parquet", "b.arrow"] {
        folder.done(&format!("forecast s.csv --time day {options} --backtest-rows {name}"));
    }
    let rows = table(&folder, "b.csv");
    let lines: Vec<Value> = folder.read("b.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let array: Vec<Value> = serde_json::from_str(&folder.read("b.json")).unwrap();
    assert_eq!((lines.len(), &lines), (14, &array));
    for (row, line) in rows.iter().zip(&lines) {
        assert_eq!(
            (number(row, "forecast"), &row["time"][..]),
            (line["forecast"].as_f64().unwrap(), line["time"].as_str().unwrap())
        );
    }
    for name in ["b.parquet", "b.arrow"] {
        let found = folder.json(&format!("eval {name} --target forecast --ignore time --learner krls -q"));
        assert_eq!(found["rows"], 14, "{name}");
    }
}

#[test]
fn parts_sum_to_the_forecast_and_are_what_the_series_was_made_of() {
    let folder = Folder::new().with("s.csv", sales(0..200, None)).with("plan.csv", plan(1));
    let options = "--known promotion --future plan.csv --parts p.csv --predictions f.csv --plot p.svg";
    let report = folder.json(&format!("forecast s.csv --time day {options}"));
    let (rows, predictions) = (table(&folder, "p.csv"), table(&folder, "f.csv"));
    assert_eq!((rows.len(), predictions.len()), (207, 207));
    let parts = ["trend", "season", "season_2", "effect_promotion", "rest"];
    for (row, told) in rows.iter().zip(&predictions) {
        let sum: f64 = parts.iter().map(|part| number(row, part)).sum();
        assert!((sum - number(told, "sold")).abs() < 1e-9, "{row:?} {told:?}");
        if !row["y"].is_empty() {
            let y = number(row, "forecast") + number(row, "remainder");
            assert!((number(row, "y") - y).abs() < 1e-9);
        }
    }
    let middle = WEEK.iter().sum::<f64>() / 7.0;
    for (step, row) in rows[200..].iter().enumerate() {
        let near = |column: &str, truth: f64, by: f64| {
            assert!((number(row, column) - truth).abs() < by, "{column} of step {step}: {row:?}, {truth}");
        };
        near("trend", 100.0 + middle, 2.0);
        near("season", WEEK[(200 + step) % 7] - middle, 2.5);
        near("effect_promotion", 30.0, 1.5);
        let json = &report["parts"][step][0];
        assert_eq!(json["trend"].as_f64().unwrap(), number(row, "trend"));
        assert_eq!(json["seasons"][0].as_f64().unwrap(), number(row, "season"));
        assert_eq!(json["effects"]["promotion"].as_f64().unwrap(), number(row, "effect_promotion"));
    }
    let picture = folder.read("p.svg");
    for title in [">trend<", ">season of 7 rows<", ">effect of promotion<", ">rest<"] {
        assert!(picture.contains(title), "{title}");
    }
    folder.done("forecast s.csv --time day --target sold --plot q.svg");
    assert!(!folder.read("q.svg").contains(">trend<"));
    folder.refused(2, "forecast s.csv --time day --method experts --parts p.csv", &["--parts", "--method season"]);
}

#[test]
fn rows_outside_of_their_band_are_told_and_others_are_not() {
    let jump = 150;
    let folder = Folder::new().with("s.csv", sales(0..200, None)).with("jump.csv", sales(0..200, Some(jump)));
    let told = |file: &str, more: &str| {
        folder.json(&format!("forecast {file} --time day --known promotion --target sold {more}"))["anomalies"].clone()
    };
    let found = told("jump.csv", "--anomalies a.csv --plot p.svg");
    let rows = found["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["row"] == jump).unwrap_or_else(|| panic!("{found}"));
    assert_eq!(
        (row["time"].as_str().unwrap(), row["column"].as_str().unwrap()),
        (&*day_after("2024-01-01", jump), "sold")
    );
    assert!(row["y"].as_f64().unwrap() > row["upper"].as_f64().unwrap());
    assert!(row["lower"].as_f64().unwrap() <= row["forecast"].as_f64().unwrap());
    assert!(folder.read("p.svg").contains(">anomaly<"));
    let table = table(&folder, "a.csv");
    assert_eq!(table.len() as u64, found["count"].as_u64().unwrap());
    assert_eq!(number(table.iter().find(|row| row["k"] == "150").unwrap(), "y"), row["y"].as_f64().unwrap());
    // Without the jump the row is ordinary, and few others are outside.
    let plain = told("s.csv", "--anomaly-share 0.99");
    assert!(plain["rows"].as_array().unwrap().iter().all(|row| row["row"] != jump), "{plain}");
    let [count, judged] = ["count", "judged"].map(|key| plain[key].as_u64().unwrap());
    assert!(judged == 184 && count <= 6, "{plain}");
    // A narrow band leaves more outside, about as many as told.
    let half = told("s.csv", "--anomaly-share 0.5");
    let share = half["count"].as_f64().unwrap() / half["judged"].as_f64().unwrap();
    assert!((0.3..0.7).contains(&share), "{share}");
    assert_eq!(folder.json("forecast s.csv --time day --target sold").get("anomalies"), None);
    folder.refused(2, "forecast s.csv --time day --anomaly-share 1", &["below 1"]);
    folder.refused(2, "forecast s.csv --time day --method opf --gamma 0.5 --anomalies a.csv", &["--method season"]);
}

#[test]
fn effects_are_told_and_scenarios_are_forecast() {
    let folder = Folder::new().with("s.csv", sales(0..200, None)).with("plain.csv", plan(0)).with("bold.csv", plan(1));
    let alone = folder.json("forecast s.csv --time day --known promotion --future bold.csv");
    let both = folder.json(
        "forecast s.csv --time day --known promotion --future plain.csv --future bold.csv --predictions f.csv --plot p.svg",
    );
    let effect = &both["input_effects"][0];
    assert_eq!((&effect["input"], &effect["column"]), (&Value::from("promotion"), &Value::from("sold")));
    let [per_unit, error, of_mean, share] =
        ["per_unit", "standard_error", "of_mean", "share"].map(|key| effect[key].as_f64().unwrap());
    assert!((per_unit - 30.0).abs() < 3.0 * error && error > 0.0 && error < 2.0, "{effect}");
    assert!((of_mean * 121.0 - per_unit).abs() < 2.0 && share > 0.95 && share <= 1.0, "{effect}");
    let scenario = |name: &str, step: usize| both["scenarios"][name]["forecast"][step][0].as_f64().unwrap();
    for step in 0..7 {
        assert_eq!(scenario("bold", step), alone["forecast"][step][0].as_f64().unwrap());
        assert_eq!(scenario("plain", step), both["forecast"][step][0].as_f64().unwrap());
        let gained = scenario("bold", step) - scenario("plain", step);
        assert!((gained - 30.0).abs() < 1.5, "step {step}: {gained}");
    }
    assert_eq!(alone.get("scenarios"), None);
    let rows = table(&folder, "f.csv");
    assert_eq!((rows.len(), &rows[199]["scenario"][..]), (214, ""));
    assert_eq!((&rows[200]["scenario"][..], &rows[207]["scenario"][..]), ("plain", "bold"));
    assert_eq!(number(&rows[207], "sold"), scenario("bold", 0));
    let picture = folder.read("p.svg");
    assert!(picture.contains(">plain<") && picture.contains(">bold<"));
    let text = folder.done("forecast s.csv --time day --known promotion --future plain.csv --future bold.csv");
    assert!(text.contains("effect of one unit") && text.contains("scenario"), "{text}");
    let short: String = plan(1).lines().take(4).map(|line| format!("{line}\n")).collect();
    let folder = folder.with("short.csv", short);
    folder.refused(
        1,
        "forecast s.csv --time day --known promotion --future plain.csv --future short.csv",
        &["7", "3", "same rows"],
    );
    folder.refused(
        2,
        "forecast s.csv --time day --known promotion --future bold.csv --future bold.csv",
        &["scenario", "\"bold\""],
    );
}

#[test]
fn each_group_has_a_panel() {
    let mut text = "day,shop,sold\n".to_owned();
    for t in 0..60 {
        for shop in 0..14 {
            let sold = f64::from(50 + shop) + WEEK[t % 7] + noise(14 * t + shop as usize);
            let _ = writeln!(text, "{},shop{shop},{sold:.2}", day_after("2024-01-01", t));
        }
    }
    let folder = Folder::new().with("g.csv", text);
    let report = folder.json("forecast g.csv --time day --group shop --steps 7 --plot p.svg --backtest-rows b.csv");
    let picture = folder.read("p.svg");
    let panels = (0..14).filter(|shop| picture.contains(&format!(">shop{shop}<"))).count();
    assert!(panels == 12 && picture.contains("the first 12 of 14 groups"), "{panels}");
    let rows = table(&folder, "b.csv");
    let told = report["backtest"]["mase"].as_f64().unwrap();
    assert!((mase(&rows) - told).abs() < 1e-12 * told, "{} {told}", mase(&rows));
    assert!(rows.iter().any(|row| row["shop"] == "shop13"));
}

/// Sales of three shops that go together, until a row; the third begins late.
fn shops(rows: usize, last: [usize; 3], names: [&str; 3]) -> String {
    let mut text = "day,shop,sold\n".to_owned();
    for t in 0..rows {
        for (shop, name) in names.iter().enumerate().filter(|(shop, _)| t < last[*shop] && (*shop < 2 || t >= 20)) {
            let common = 6.0 * noise(t / 3);
            let sold = 40.0 * (shop + 1) as f64 + WEEK[t % 7] + common + 3.0 * noise(3 * t + shop + 7);
            let _ = writeln!(text, "{},{name},{sold:.3}", day_after("2024-01-01", t));
        }
    }
    text
}

#[test]
fn forecasts_of_groups_add_up_to_their_total() {
    let names = ["north", "south", "east"];
    let folder = Folder::new().with("g.csv", shops(90, [90; 3], names));
    let options = "--group shop --steps 5 --intervals 0.9";
    let report = |more: &str| folder.json(&format!("forecast g.csv --time day {options} {more}"));
    let value = |of: &Value, step: usize| of["forecast"][step][0].as_f64().unwrap();
    let (plain, simple) = (report(""), report("--total bottom-up --predictions b.csv"));
    let best = report("--total mint --predictions m.csv");
    assert_eq!(plain.get("total"), None);
    let (mut moved, mut differs) = (0.0_f64, 0.0_f64);
    for step in 0..5 {
        let sum = |of: &Value| names.iter().map(|name| value(&of["groups"][name], step)).sum::<f64>();
        assert!((sum(&simple) - value(&simple["total"], step)).abs() < 1e-9);
        assert!((sum(&best) - value(&best["total"], step)).abs() < 1e-9);
        assert!((sum(&plain) - sum(&simple)).abs() < 1e-9);
        for name in names {
            assert_eq!(value(&plain["groups"][name], step), value(&simple["groups"][name], step));
            let change = value(&best["groups"][name], step) - value(&plain["groups"][name], step);
            let [low, high] =
                [0, 1].map(|end| best["groups"][name]["forecast_intervals"][step][0][end].as_f64().unwrap());
            assert!((low..=high).contains(&value(&best["groups"][name], step)));
            moved = moved.max(change.abs());
        }
        differs = differs.max((value(&best["total"], step) - value(&simple["total"], step)).abs());
        // A total of ordinary days is near the sum of what the shops were made of.
        let truth = 240.0 + 3.0 * WEEK[(90 + step) % 7];
        assert!((value(&best["total"], step) - truth).abs() < 30.0, "{}", value(&best["total"], step));
    }
    assert!(moved > 0.01 && differs > 0.01, "{moved} {differs}");
    let rows = table(&folder, "m.csv");
    let total: Vec<_> = rows.iter().filter(|row| row["shop"] == "total").collect();
    assert_eq!((total.len(), &total[0]["k"][..], &total[4]["time"][..]), (5, "90", &*day_after("2024-01-01", 94)));
    assert_eq!(number(total[2], "sold"), value(&best["total"], 2));
    let text = folder.done(&format!("forecast g.csv --time day {options} --total mint"));
    assert!(text.contains("  total  "), "{text}");
    let folder = folder
        .with("named.csv", shops(60, [60; 3], ["total", "south", "east"]))
        .with("early.csv", shops(60, [60, 58, 60], names));
    let said = folder.run("forecast named.csv --time day --group shop --steps 2 --total mint");
    assert!(
        said.code == Some(1) && said.err.contains("a group has the name \"total\", too; rename it"),
        "{}",
        said.err
    );
    folder.refused(
        1,
        "forecast early.csv --time day --group shop --steps 2 --total mint",
        &["\"south\"", "ends before"],
    );
    folder.refused(2, "forecast g.csv --time day --steps 2 --total mint", &["--group"]);
    folder.refused(2, "forecast g.csv --group shop --steps 2 --total mint --out m.mercer", &["--out"]);
    folder.refused(2, "forecast g.csv --group shop --known day --steps 2 --total mint", &["--known"]);
}
