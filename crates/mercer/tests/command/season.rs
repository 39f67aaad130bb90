//! `mercer forecast --method season`: ordinary series with dates, seasons and quantiles.

use std::fmt::Write as _;

use crate::support::{Folder, object};
use crate::times::day_after;

/// Monthly sales from January 2010: a line, a year and something that is no pattern.
fn sales(month: usize) -> f64 {
    let noise = ((month * 7919 + 13) % 101) as f64 / 50.5 - 1.0;
    200.0 + month as f64 + 40.0 * (std::f64::consts::TAU * month as f64 / 12.0).sin() + 2.0 * noise
}

/// Rows of a file of months, from one to another.
fn months(rows: std::ops::Range<usize>) -> String {
    let mut text = "month,shop,sales\n".to_owned();
    for t in rows {
        let _ = writeln!(text, "{}-{:02}-01,{},{:.3}", 2010 + t / 12, t % 12 + 1, t % 5, sales(t));
    }
    text
}

/// The report of a run that tells its times beside it.
fn report(folder: &Folder, arguments: &str) -> serde_json::Value {
    let said = folder.run(&format!("{arguments} --json"));
    assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
    object(&said.out)
}

#[test]
fn a_year_of_months_is_forecast_with_dates_and_quantiles() {
    let folder = Folder::new().with("s.csv", months(0..120));
    let report =
        report(&folder, "forecast s.csv --target sales --steps 12 --quantiles 0.05,0.5,0.95 --backtest 3 --plot p.png");
    assert_eq!(report["method"], "season");
    assert_eq!(report["periods"], serde_json::json!([12]));
    let rows = report["forecast"].as_array().unwrap();
    let (first, last) = (report["times"][0].as_str().unwrap(), report["times"][11].as_str().unwrap());
    assert!(first.starts_with("2020-01-01") && last.starts_with("2020-12-01"), "{first} {last}");
    for (step, row) in rows.iter().enumerate() {
        let (point, truth) = (row[0].as_f64().unwrap(), sales(120 + step));
        assert!((point - truth).abs() < 8.0, "step {step}: {point}, {truth}");
        let [low, middle, high] = ["0.05", "0.5", "0.95"].map(|p| report["quantiles"][p][step][0].as_f64().unwrap());
        assert!(low < middle && middle < high, "step {step}: {low} {middle} {high}");
    }
    let mase = report["scores"]["mase"].as_f64().unwrap();
    assert!(mase < 0.5, "{mase}");
    assert_eq!(report["backtest"]["origins"], 3);
    assert!(folder.path("p.png").metadata().unwrap().len() > 5_000);
}

/// Else five hours of minutes have no forecast but their last value.
#[test]
fn a_season_of_the_times_waits_until_it_has_come_again() {
    let noise = |t: usize| ((t * 7919 + 13) % 101) as f64 / 101.0;
    let rows = |step: usize, wave: &dyn Fn(usize) -> f64| -> String {
        let time = |t: usize| format!("2024-01-{:02} {:02}:{:02}", 1 + t / 1440, t / 60 % 24, t % 60);
        let row = |t: usize| format!("{},{:.3}\n", time(step * t), 10.0 + 3.0 * wave(t) + noise(t));
        std::iter::once("t,y\n".to_owned()).chain((0..300).map(row)).collect()
    };
    let turn = |t: usize, m: f64| (std::f64::consts::TAU * t as f64 / m).sin();
    let folder = Folder::new()
        .with("minutes.csv", rows(1, &|t| turn(t, 10.0)))
        .with("shifts.csv", rows(60, &|t| turn(t, 7.0)))
        .with("hours.csv", rows(60, &|t| turn(t, 24.0)));
    for (file, periods) in [("minutes.csv", 10), ("shifts.csv", 7), ("hours.csv", 24)] {
        let report = report(&folder, &format!("forecast {file} --horizon 5"));
        assert_eq!(report["periods"][0], periods, "{file}");
        for (step, row) in report["forecast"].as_array().unwrap().iter().enumerate() {
            let truth = 10.5 + 3.0 * turn(300 + step, f64::from(periods));
            assert!((row[0].as_f64().unwrap() - truth).abs() < 1.2, "{file}, step {step}: {row}, {truth}");
        }
    }
}

#[test]
fn a_saved_season_goes_on_as_if_it_had_never_stopped() {
    let folder =
        Folder::new().with("all.csv", months(0..90)).with("a.csv", months(0..61)).with("b.csv", months(61..90));
    let making = "--steps 6 --intervals 0.8 --quantiles 0.1";
    let whole = report(&folder, &format!("forecast all.csv {making}"));
    report(&folder, &format!("forecast a.csv {making} --out m.mercer"));
    let later = report(&folder, "forecast b.csv --model m.mercer --steps 6 --quantiles 0.1");
    // The shops take turns of five, of which the months know nothing.
    assert_eq!(whole["periods"], serde_json::json!([[5], [12]]));
    for key in ["method", "rows", "mse", "periods", "forecast", "times", "forecast_intervals", "quantiles"] {
        assert_eq!(whole[key], later[key], "{key}");
    }
}

#[test]
fn what_a_season_has_no_use_for_is_refused() {
    let folder = Folder::new().with("s.csv", months(0..60));
    for (arguments, parts) in [
        ("--method opf --gamma 0.9 --season 12", &["--season"][..]),
        ("--method opf --known shop", &["--known", "season"]),
        ("--method experts --steps 3 --quantiles 0.5", &["--quantiles", "--method season"]),
        ("--steps 3 --quantiles 1.5", &["between 0 and 1"]),
        ("--method season --lambda 1", &["--lambda"]),
        ("--method season --inputs shop", &["--inputs", "--known"]),
        ("--known shop --steps 2", &["inputs of 2 rows to come", "--future"]),
        ("--known shop,shop", &["twice"]),
    ] {
        folder.refused(2, &format!("forecast s.csv --time month {arguments}"), parts);
    }
}

/// Daily sales with promotions that sell 30 more, from 2024 on.
fn daily(rows: std::ops::Range<usize>, sold: bool) -> String {
    let mut text = "day,promotion,sold,shop\n".to_owned();
    for t in rows {
        let promotion = u32::from(t * t % 11 == 4);
        let week = [20.0, 5.0, 0.0, 3.0, 9.0, 30.0, 25.0][t % 7];
        let sold = if sold { (100.0 + week + f64::from(30 * promotion)).to_string() } else { String::new() };
        let _ = writeln!(text, "{},{promotion},{sold},north", day_after("2024-01-01", t));
    }
    text
}

#[test]
fn known_inputs_of_the_future_are_in_the_forecast() {
    let folder = Folder::new()
        .with("s.csv", daily(0..200, true))
        .with("f.csv", daily(200..207, false))
        .with("late.csv", daily(201..207, false))
        .with("all.csv", daily(0..200, true) + daily(200..207, false).split_once('\n').unwrap().1)
        .with("a.csv", daily(0..90, true))
        .with("b.csv", daily(90..200, true));
    let said = folder.run("forecast s.csv --known promotion --future f.csv --intervals 0.9 --json");
    let told = "mercer: s.csv: column \"day\" holds the times, with a step of 1 day\n\
                mercer: s.csv: \"sold\" is forecast; \"shop\" (holds no numbers) is not (--target NAME,… chooses)\n";
    assert_eq!((said.code, said.err.as_str()), (Some(0), told));
    let found = object(&said.out);
    for (step, t) in (200..207_usize).enumerate() {
        let truth: f64 = daily(t..t + 1, true).lines().nth(1).unwrap().split(',').nth(2).unwrap().parse().unwrap();
        let point = found["forecast"][step][0].as_f64().unwrap();
        assert!((point - truth).abs() < 1.5, "step {step}: {point}, {truth}");
    }
    assert_eq!(found["times"][6], "2024-07-25");
    // Rows with empty targets are the same forecast.
    report(&folder, "forecast all.csv --known promotion --predictions p.csv");
    let lines = folder.read("p.csv");
    let appended: Vec<f64> =
        lines.lines().skip(201).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    for (step, point) in appended.iter().enumerate() {
        assert!((found["forecast"][step][0].as_f64().unwrap() - point).abs() < 1e-9, "step {step}");
    }
    let planned = folder.run("forecast all.csv --known promotion --intervals 0.9 --json");
    assert!(
        planned.err.contains("all.csv: the last 7 rows have no value of \"sold\"; they are forecast\n"),
        "{}",
        planned.err
    );
    assert_eq!(object(&planned.out)["forecast"], found["forecast"]);
    assert_eq!(object(&planned.out)["times"], found["times"]);
    let fewer = folder.run("forecast all.csv --known promotion --steps 3 --intervals 0.9 --json");
    assert!(fewer.err.contains("; the forecast begins with them; --steps 7 forecasts all\n"), "{}", fewer.err);
    assert_eq!(object(&fewer.out)["forecast"].as_array().unwrap()[..], found["forecast"].as_array().unwrap()[..3]);
    let more = folder.run("forecast all.csv --known promotion --steps 8");
    assert!(more.code == Some(2) && more.err.contains("the inputs of 8 rows to come, and 7 are known"), "{}", more.err);
    // A model goes on to the digit.
    report(&folder, "forecast a.csv --known promotion --intervals 0.9 --out m.mercer");
    let later = report(&folder, "forecast b.csv --model m.mercer --future f.csv");
    for key in ["rows", "mse", "forecast", "forecast_intervals"] {
        assert_eq!(later[key], found[key], "{key}");
    }
    let said = folder.run("forecast s.csv --known promotion --future late.csv");
    assert!(said.code == Some(1) && said.err.contains("late.csv, row 1: is of 2024-07-20"), "{}", said.err);
    folder.refused(2, "forecast s.csv --time day --target sold --future f.csv", &["--future is for", "--known"]);
}

#[test]
fn columns_are_forecast_each_by_itself() {
    let row = |t: usize, late: bool| {
        let noise = ((t * 7919 + 13) % 101) as f64 / 50.5 - 1.0;
        let b = if late && t < 60 { String::new() } else { format!("{}", 5.0 * noise) };
        format!("{},{b}\n", 10.0 + (t % 5) as f64 + noise)
    };
    let table = |late: bool| (0..150).map(|t| row(t, late)).fold("a,b\n".to_owned(), |text, row| text + &row);
    let folder = Folder::new().with("s.csv", table(false)).with("late.csv", table(true));
    let both = folder.json("forecast s.csv --steps 3");
    let alone = folder.json("forecast s.csv --steps 3 --target a");
    let late = folder.json("forecast late.csv --steps 3");
    for step in 0..3 {
        assert_eq!(both["forecast"][step][0], alone["forecast"][step][0]);
        assert_eq!(late["forecast"][step][0], alone["forecast"][step][0]);
    }
    let never = folder.with("never.csv", "a,b\n".to_owned() + &"1,\n2,\n3,\n".repeat(20));
    let said = never.run("forecast never.csv --steps 2 --json");
    assert_eq!(said.err, "mercer: never.csv: column \"b\" has no value, so that its forecasts are 0\n");
}

/// Days of some shops from 2024 on, which begin on days of their own, sorted by day.
fn shops(names: &[(&str, usize)], until: usize) -> String {
    let mut text = "day,shop,sold\n".to_owned();
    for t in 0..until {
        for (number, (name, _)) in names.iter().enumerate().filter(|(_, (_, from))| t >= *from) {
            let noise = ((t * 7919 + 13 * number) % 101) as f64 / 50.5 - 1.0;
            let sold = 100.0 * (number + 1) as f64 + [20.0, 5.0, 0.0, 3.0, 9.0, 30.0, 25.0][t % 7] + noise;
            let _ = writeln!(text, "{},{name},{sold:.3}", day_after("2024-01-01", t));
        }
    }
    text
}

#[test]
fn groups_are_series_of_their_own() {
    let all = shops(&[("north", 0), ("south", 0), ("new", 50)], 90);
    let mut lines: Vec<&str> = all.lines().skip(1).collect();
    lines.sort_by_key(|line| line.split(',').nth(1).map(str::to_owned));
    let folder = Folder::new()
        .with("all.csv", &all)
        .with("one.csv", shops(&[("north", 0)], 90))
        .with("sorted.csv", "day,shop,sold\n".to_owned() + &lines.join("\n") + "\n");
    let asked = "--group shop --steps 7 --intervals 0.9 --quantiles 0.5";
    let found = report(&folder, &format!("forecast all.csv {asked} --predictions p.csv"));
    assert_eq!((found["rows"].as_u64(), found["groups"].as_object().unwrap().len()), (Some(90 + 90 + 40), 3));
    for (number, name) in ["north", "south", "new"].iter().enumerate() {
        let group = &found["groups"][name];
        assert_eq!((&group["times"][0], &group["periods"]), (&"2024-03-31".into(), &serde_json::json!([7])));
        for step in 0..7 {
            let truth = 100.0 * (number + 1) as f64 + [20.0, 5.0, 0.0, 3.0, 9.0, 30.0, 25.0][(90 + step) % 7];
            let point = group["forecast"][step][0].as_f64().unwrap();
            assert!((point - truth).abs() < 2.0, "{name} {step}: {point}, {truth}");
        }
        assert_eq!(group["forecast_intervals"].as_array().unwrap().len(), 7);
    }
    // Series that begin together do not change each other, and the order of groups does not matter
    // to them.
    let one = report(&folder, &format!("forecast one.csv {asked}"));
    assert_eq!(one["groups"]["north"], found["groups"]["north"]);
    let sorted = report(&folder, &format!("forecast sorted.csv {asked}"));
    assert_eq!(sorted["groups"].as_object().unwrap().keys().next().unwrap(), "new");
    assert_eq!(sorted["rows"], found["rows"]);
    let lines = folder.read("p.csv");
    assert!(lines.starts_with("shop,k,time,sold,sold_low,sold_high,sold_0.5\nnorth,0,2024-01-01,"), "{lines}");
    assert!(lines.lines().last().unwrap().starts_with("new,46,2024-04-06,"), "{lines}");
    let text = folder.run(&format!("forecast all.csv {asked}")).out;
    assert!(text.contains("220 rows of 1 output in 3 groups") && text.contains("group"), "{text}");
    let said = folder.piped(all.as_bytes(), "forecast - --format csv --group shop");
    assert!(said.out.starts_with("shop,k,time,sold\nnorth,1,,"), "{}{}", said.err, said.out);
    folder.refused(1, "forecast all.csv --group no", &["--group \"no\"", "no such column"]);
}

#[test]
fn saved_groups_go_on_as_if_nothing_had_been() {
    let all = shops(&[("north", 0), ("south", 0), ("new", 50)], 90);
    let half = all.lines().take(90).map(|line| line.to_owned() + "\n").collect::<String>();
    let later =
        "day,shop,sold\n".to_owned() + &all.lines().skip(90).map(|line| line.to_owned() + "\n").collect::<String>();
    let folder = Folder::new().with("all.csv", &all).with("half.csv", half).with("later.csv", later);
    let asked = "--steps 7 --intervals 0.9 --quantiles 0.5";
    let whole = report(&folder, &format!("forecast all.csv --group shop {asked} --out whole.mercer"));
    report(&folder, &format!("forecast half.csv --group shop {asked} --out m.mercer --checkpoint 25"));
    folder.run("forecast half.csv --group shop --steps 7 --intervals 0.9 --out again.mercer");
    let file = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let found = report(&folder, "forecast later.csv --model m.mercer --steps 7 --quantiles 0.5 --out on.mercer");
    assert_eq!((&found["groups"], &found["rows"], &found["mse"]), (&whole["groups"], &whole["rows"], &whole["mse"]));
    assert_eq!(file("on.mercer"), file("whole.mercer"));
    report(&folder, "forecast all.csv --group shop --steps 7 --intervals 0.9 --out again.mercer --resume");
    assert_eq!(file("again.mercer"), file("whole.mercer"));
    let facts = folder.json("inspect whole.mercer");
    assert_eq!((&facts["group_column"], &facts["observed"]), (&"shop".into(), &220.into()));
    assert_eq!(facts["groups"], serde_json::json!(["north", "south", "new"]));
    // Other names, another column of names and other commands are refused.
    let folder = folder.with("other.csv", all.replace("south", "west")).with("shops.csv", all.replace("shop", "store"));
    let resumed = "--steps 7 --intervals 0.9 --out again.mercer --resume";
    let refuses = |arguments: &str, part: &str| {
        let said = folder.run(arguments);
        assert!(said.code == Some(1) && said.err.contains(part), "{arguments}: {}", said.err);
    };
    refuses(&format!("forecast other.csv --group shop {resumed}"), "first 220 rows are not those that again.mercer");
    refuses(&format!("forecast all.csv --target sold {resumed}"), "are other ones");
    refuses("forecast shops.csv --model whole.mercer", "--group \"shop\": there is no such column");
    refuses("predict all.csv --model whole.mercer", "predictions of groups");
    #[cfg(feature = "serve")]
    refuses("serve --model whole.mercer", "holds many series");
}
