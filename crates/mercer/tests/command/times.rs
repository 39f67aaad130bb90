//! Columns of times of a series, and trajectories.

use std::fmt::Write as _;

use mercer::encoding::{TimeStep, Zone};
use mercer::readers::{instant_text, parse_instant};
use serde_json::json;

use crate::support::{Folder, object};

/// The day so many days after another.
pub(crate) fn day_after(day: &str, days: usize) -> String {
    let time = TimeStep::Days(1).after(parse_instant(day).unwrap(), days as u64);
    instant_text(time)[..10].to_owned()
}

/// A series with and without its times, and with two rows in the wrong order.
fn series() -> Folder {
    let (mut timed, mut plain, mut late) = ("day,a,b\n".to_owned(), "a,b\n".to_owned(), "day,a,b\n".to_owned());
    for t in 0..200_usize {
        let row = format!("{:.6},{:.6}", (t as f64 / 5.0).sin(), (t as f64 / 9.0).cos());
        let day = |t: usize| day_after("2024-01-01", t);
        let _ = writeln!(timed, "{},{row}", day(t));
        let _ = writeln!(plain, "{row}");
        let _ = writeln!(late, "{},{row}", day(if t == 100 { 50 } else { t }));
    }
    Folder::new().with("timed.csv", timed).with("plain.csv", plain).with("late.csv", late)
}

#[test]
fn times_of_a_series_are_left_out_or_checked() {
    let folder = series();
    let expected = folder.done("forecast plain.csv --method experts --steps 3 --json");
    // What is told of times stands behind the scores, and in front of the forecast.
    let without_seconds = |text: &str| {
        let report = object(text);
        let facts = ["method", "parameters", "rows", "outputs", "mse", "epochs", "forecast"];
        facts.map(|fact| report[fact].clone())
    };
    let said = folder.run("forecast timed.csv --method experts --steps 3 --json");
    assert_eq!(said.err, "mercer: timed.csv: column \"day\" holds the times, with a step of 1 day\n");
    assert_eq!(without_seconds(&said.out), without_seconds(&expected));
    let checked = folder.done("forecast timed.csv --method experts --steps 3 --json --time day");
    assert_eq!(without_seconds(&checked), without_seconds(&expected));
    let piped =
        folder.piped(folder.read("timed.csv").as_bytes(), "forecast - --format csv --method experts --steps 3 --json");
    assert_eq!(without_seconds(&piped.out), without_seconds(&expected));
    folder.refused(
        1,
        "forecast late.csv --time day",
        &["late.csv, line 102, column 1 (\"day\")", "2024-02-20 is before", "sort the rows"],
    );
    folder.refused(1, "forecast late.csv --time no", &["--time \"no\": there is no such column", "\"day\""]);
    folder.refused(2, "forecast earth_orientation --time no", &["--time is for files"]);
    let one = folder.json("forecast timed.csv --ignore b --time day --season none");
    assert_eq!(one["outputs"].as_u64(), Some(1));
    assert_eq!(one["mse"], folder.json("forecast plain.csv --ignore b --season none")["mse"]);
    // A column of numbers orders rows as well.
    let numbered: String = (0..50).map(|t| format!("{},{}\n", 2 * t, f64::from(t).sin())).collect();
    let folder = folder.with("numbered.csv", numbered);
    let report = folder.json("forecast numbered.csv --time 1 --steps 2");
    assert_eq!((report["outputs"].as_u64(), &report["times"]), (Some(1), &json!([100.0, 102.0])));
}

#[test]
fn a_trajectory_is_the_pairs_of_its_rows() {
    let folder = series();
    let plain = folder.read("plain.csv");
    let rows: Vec<&str> = plain.lines().skip(1).collect();
    let pairs: String = rows.windows(2).map(|two| format!("{},{}\n", two[0], two[1])).collect();
    let delayed: String =
        rows.windows(3).map(|three| format!("{},{},{},{}\n", three[0], three[1], three[1], three[2])).collect();
    let folder = folder.with("pairs.csv", pairs).with("delayed.csv", delayed);
    let facts = |arguments: &str| {
        let mut facts = folder.json(arguments);
        facts.as_object_mut().unwrap().remove("seconds");
        facts
    };
    let kernel = "--method sogd --set kernel=gaussian:1 --set budget=1e-4";
    assert_eq!(
        facts(&format!("koopman plain.csv --trajectory {kernel}")),
        facts(&format!("koopman pairs.csv {kernel}"))
    );
    assert_eq!(
        facts(&format!("koopman plain.csv --trajectory --delay 2 {kernel}")),
        facts(&format!("koopman delayed.csv {kernel}"))
    );
    let timed = folder.run(&format!("koopman timed.csv --trajectory --time day {kernel} --dictionary d.csv"));
    assert_eq!((timed.code, timed.err.as_str()), (Some(0), ""));
    assert!(folder.read("d.csv").starts_with("index,a,b,a[+1],b[+1]\n"), "{}", folder.read("d.csv"));
    folder.refused(2, "koopman plain.csv --delay 2", &["--trajectory"]);
    folder.refused(
        2,
        "koopman plain.csv --trajectory --delay 18446744073709551615",
        &["--delay", "take a smaller one"],
    );
    folder.refused(
        1,
        "koopman plain.csv --state-dim 18446744073709551615",
        &["a pair of states of --state-dim 18446744073709551615 has 36893488147419103230"],
    );
}

/// A run that a signal ends leaves no file behind, and says so.
#[cfg(unix)]
#[test]
fn signals_clear_away_files_of_predictions() {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    let folder = series();
    let names = folder.names();
    for arguments in [
        "eval - --format csv --learner krls --kernel gaussian:1 --predictions p.csv",
        "forecast - --format csv --method experts --predictions p.csv",
        "koopman - --method sogd --format csv --trajectory --set kernel=gaussian:1 --dictionary d.csv",
    ] {
        let mut command = folder.command(&arguments.split(' ').collect::<Vec<_>>());
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(folder.read("plain.csv").as_bytes()).unwrap();
        while folder.names() == names {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // Signals are listened for soon after the file is begun.
        std::thread::sleep(std::time::Duration::from_millis(200));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments}: {said}");
        assert!(said.contains("ended by a signal"), "{arguments}: {said}");
        assert!(said.contains("written"), "{arguments}: {said}");
        assert_eq!(folder.names(), names, "{arguments}");
        drop(stdin);
    }
}

/// Times as calendars and programs write them go on behind the last row.
#[test]
fn times_go_on_as_they_are_written() {
    let cases: [(&str, &[&str], &str, [&str; 2]); 8] = [
        (
            "lastworking",
            &["2022-01-31", "2022-02-28", "2022-03-31", "2022-04-29", "2022-05-31", "2022-06-30"],
            "date holds the times, with a step of 1 month, on its last working day",
            ["2022-07-29", "2022-08-31"],
        ),
        (
            "twice",
            &["2021-10-01", "2021-10-15", "2021-11-01", "2021-11-15", "2021-12-01", "2021-12-15"],
            "date holds the times, with a step of days 1 and 15 of each month",
            ["2022-01-01", "2022-01-15"],
        ),
        (
            "uneven",
            &["2021-01-03", "2021-01-15", "2021-02-21", "2021-03-02", "2021-04-13", "2021-05-30"],
            "date holds the times, which are not evenly apart",
            ["6", "7"],
        ),
        (
            "quarters",
            &["1Q22", "2Q22", "3Q22", "4Q22", "1Q23", "2Q23"],
            "date holds the times (years of two digits are 1930 to 2029), with a step of 1 quarter",
            ["2023Q3", "2023Q4"],
        ),
        (
            "trimestres",
            &["T1 2022", "T2 2022", "T3 2022", "T4 2022", "T1 2023", "T2 2023"],
            "date holds the times, with a step of 1 quarter",
            ["2023Q3", "2023Q4"],
        ),
        (
            "halves",
            &["2021H1", "2021H2", "2022H1", "2022H2", "2023H1", "2023H2"],
            "date holds the times, with a step of 6 months",
            ["2024H1", "2024H2"],
        ),
        (
            "sheet",
            &["45122", "45123", "45124", "45125", "45126", "45127"],
            "date holds the times (days of a spreadsheet), with a step of 1 day",
            ["2023-07-21", "2023-07-22"],
        ),
        (
            "oldmonths",
            &["Jan-31", "Feb-31", "Mar-31", "Apr-31", "May-31", "Jun-31"],
            "date holds the times (years of two digits are 1930 to 2029), with a step of 1 month",
            ["1931-07", "1931-08"],
        ),
    ];
    for (name, dates, told, next) in cases {
        let rows: String = (1..).zip(dates).map(|(t, date)| format!("{date},{t}.5\n")).collect();
        let folder = Folder::new().with("s.csv", "date,v\n".to_owned() + &rows);
        let said = folder.run("forecast s.csv --target v --steps 2 --predictions p.csv");
        assert_eq!(said.code, Some(0), "{name}: {}", said.err);
        assert!(said.err.replace('"', "").contains(told), "{name}: {}", said.err);
        for day in next {
            assert!(said.out.lines().any(|line| line.trim().starts_with(&format!("{day}  "))), "{name}: {}", said.out);
        }
    }
}

/// Births of two-digit years are of one hundred years that are told, and in no future.
#[test]
fn years_of_two_digits_are_told() {
    let born = |t: usize| (1935 + 79 * t / 199, 1 + t % 12, 1 + t % 28);
    let rows: String = (0..200)
        .map(born)
        .map(|(year, month, day)| format!("{month:02}/{day:02}/{:02},{}\n", year % 100, 2024 - year))
        .collect();
    let folder = Folder::new().with("s.csv", "born,age\n".to_owned() + &rows);
    let found = folder.json("inspect s.csv");
    let column = &found["columns"][0];
    assert_eq!((&column["kind"], &column["smallest"]), (&json!("time"), &json!("1935-01-01T00:00:00Z")));
    assert!(column["largest"].as_str().unwrap().starts_with("2014-"), "{column}");
    let said = folder.run("eval s.csv --learner auto --target age --json");
    assert!(said.err.contains("month/day/year, years of two digits are 1930 to 2029"), "{}", said.err);
    assert!(object(&said.out)["second_half"]["rmse"].as_f64().unwrap() < 1.0, "{}", said.out);
}

/// Local times of a zone are the hours of UTC, where clocks are set back and where they are set
/// forward; days are those of the zone.
#[test]
fn local_times_of_a_zone() {
    let vienna = Zone::named("Europe/Vienna").unwrap();
    for (begin, next) in
        [("2024-10-20T00:00", "2024-10-31T16:00+01:00"), ("2024-03-25T00:00", "2024-04-05T17:00+02:00")]
    {
        let begin = parse_instant(begin).unwrap();
        let (mut utc, mut local) = ("ts,y\n".to_owned(), "ts,y\n".to_owned());
        for t in 0..280 {
            let (at, y) = (begin + 3600.0 * f64::from(t - 1), (f64::from(t) / 3.8).sin());
            let shown = instant_text(at + vienna.offset(at));
            let _ = writeln!(utc, "{},{y}", instant_text(at));
            let _ = writeln!(local, "{},{y}", shown.trim_end_matches(":00Z").replace('T', " "));
        }
        let folder = Folder::new().with("u.csv", utc).with("l.csv", local);
        let expected = folder.json("forecast u.csv --time ts --steps 3");
        let found = folder.json("forecast l.csv --time ts --steps 3 --zone Europe/Vienna --out m.mercer");
        for key in ["n", "mse", "forecast"] {
            assert_eq!(found[key], expected[key], "{key}");
        }
        assert_eq!((&found["times"][0], &found["time"]["missing_rows"]), (&json!(next), &json!(0)));
    }
    let days: String = (0..60)
        .map(|t| {
            let local = parse_instant("2024-03-01T00:00").unwrap() + 86_400.0 * f64::from(t);
            let offset = vienna.offset(local - 7200.0) / 3600.0;
            format!("{}+0{offset}:00,{}\n", instant_text(local).trim_end_matches('Z'), t % 7)
        })
        .collect();
    let folder = Folder::new()
        .with("d.csv", "day,y\n".to_owned() + &days)
        .with("never.csv", "ts,y\n2024-03-31 01:00,1\n2024-03-31 02:00,2\n2024-03-31 03:00,3\n")
        .with("twice.csv", "ts,y\n2024-10-27 01:00,1\n2024-10-27 02:00,2\n2024-10-27 02:00,3\n2024-10-27 03:00,3\n");
    let found = folder.json("forecast d.csv --time day --steps 2 --zone Europe/Vienna");
    assert_eq!((&found["time"]["step"], &found["times"][1]), (&json!("1 day"), &json!("2024-05-01")));
    folder.refused(
        1,
        "forecast never.csv --time ts --zone Europe/Vienna",
        &["line 3", "02:00:00 is none in Europe/Vienna"],
    );
    folder.refused(1, "forecast twice.csv --time ts", &["line 4", "set back", "--zone Europe/Vienna"]);
    // Some files call the two hours A and B.
    let hours = |name: fn(usize) -> String| {
        let rows = (0..60).map(|t| format!("{}.10.2024 {}:00,{}\n", 20 + t / 24, name(t), t * 7 % 5));
        "ts,y\n".to_owned() + &rows.collect::<String>()
    };
    let named = hours(|t| if t == 50 { "2A".to_owned() } else { format!("{:02}", t % 24) });
    let wrong = hours(|t| if t == 50 { "2X".to_owned() } else { format!("{:02}", t % 24) });
    let folder = Folder::new().with("named.csv", named).with("wrong.csv", wrong);
    folder.refused(1, "forecast named.csv --target y --quiet", &["line 52", "2A:00", "comes twice", "02:00+02:00"]);
    folder.refused(1, "forecast wrong.csv --target y --quiet", &["line 52", "2X:00", "correct it"]);
    folder.refused(2, "forecast twice.csv --zone Mars", &["no such time zone"]);
}
