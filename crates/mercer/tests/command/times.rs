//! Columns of times of a series, and trajectories.

use std::fmt::Write as _;

use mercer::encoding::TimeStep;
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
