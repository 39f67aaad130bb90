//! Days and times of day in two columns of a series.

use std::fmt::Write as _;

use mercer::readers::instant_text;

use crate::support::{Folder, Said, object};

/// 20 days of hours as one column of times, and as days beside clocks and beside hours from 1 to
/// 24.
fn hours() -> Folder {
    let mut files = ["ts,y", "Date,Time,y", "Date,HE,y", "Date,Time,shop,y"].map(|header| format!("{header}\n"));
    for t in 0..480_u32 {
        let (at, y) = (1_640_995_200.0 + 3600.0 * f64::from(t), (f64::from(t) / 3.8).sin());
        let (text, hour) = (instant_text(at), t % 24);
        let day = &text[..10];
        let _ = writeln!(files[0], "{text},{y}");
        let _ = writeln!(files[1], "{day},{hour:02}.00.00,{y}");
        let _ = writeln!(files[2], "{day},{},{y}", hour + 1);
        ["u", "b"].iter().for_each(|shop| {
            let _ = writeln!(files[3], "{day},{hour:02}:00,{shop},{y}");
        });
    }
    let [one, clock, hours, shops] = files;
    Folder::new().with("one.csv", one).with("clock.csv", clock).with("he.csv", hours).with("shops.csv", shops)
}

fn forecast(folder: &Folder, line: &str) -> (Said, serde_json::Value) {
    let said = folder.run(&format!("forecast {line} --steps 3 --json"));
    assert_eq!(said.code, Some(0), "{line}: {}", said.err);
    let report = object(&said.out);
    (said, report)
}

#[test]
fn days_and_times_of_day_are_one_time() {
    let folder = hours();
    let (_, one) = forecast(&folder, "one.csv");
    for (file, told) in [
        ("clock.csv", "column \"Date\" with column \"Time\" holds the times, with a step of 1 hour"),
        ("he.csv", "column \"Date\" with column \"HE\", whose hour 1 begins at 00:00 holds the times"),
    ] {
        let (said, joined) = forecast(&folder, file);
        assert!(said.err.contains(told), "{}", said.err);
        assert_eq!((&joined["forecast"], &joined["mse"]), (&one["forecast"], &one["mse"]), "{file}");
        assert_eq!(joined["times"][0], "2022-01-21T00:00");
    }
    let (_, shops) = forecast(&folder, "shops.csv --group shop");
    assert!(shops.to_string().contains("2022-01-21T00:00"), "{shops}");
}

/// Where days tell the rows apart, a column of times of day is another matter; an odd one is named.
#[test]
fn only_days_that_come_again_are_joined() {
    let days: String = (1..=28).fold("day,at,y\n".to_owned(), |mut text, t| {
        let _ = writeln!(text, "2024-02-{t:02},{:02}:30,{}", t * 7 % 24, t % 7);
        text
    });
    let odd = hours().read("clock.csv").replacen("2022-01-16,05.00.00", "2022-01-16,tea", 1);
    let folder = Folder::new().with("days.csv", days).with("odd.csv", odd);
    let said = folder.run("forecast days.csv --target y");
    assert!(said.err.contains("with a step of 1 day") && said.err.contains("\"at\": left out"), "{}", said.err);
    let said = folder.run("forecast odd.csv");
    assert!(said.code == Some(1) && said.err.contains("line 367") && said.err.contains("\"tea\""), "{}", said.err);
}

/// Clocks that start again are hours of days that follow, also where a spreadsheet gives them its
/// first day; rows out of order are refused as ever.
#[test]
fn clocks_alone_go_on_over_midnight() {
    let folder = hours();
    let (_, one) = forecast(&folder, "one.csv");
    let pairs = |folder: &Folder, line: &str| {
        object(&folder.run(&format!("koopman {line} --trajectory --json")).out)["pairs"].clone()
    };
    let expected = pairs(&folder, "one.csv --time ts");
    let bare = |day: &str, file: &str| {
        let mut text = folder.read("clock.csv").replace("Date,Time", "Time");
        for date in 1..=20 {
            text = text.replace(&format!("2022-01-{date:02},"), day);
        }
        (file.to_owned(), text.replace(".00.00,", ":00,"))
    };
    let (plain, sheet) = (bare("", "plain.csv"), bare("1899-12-30 ", "sheet.csv"));
    let first = bare("1900-01-01 ", "first.csv");
    let odd = plain.1.replacen("06:00,", "06:30,", 1).replacen("07:00,", "06:15,", 1);
    let folder = Folder::new().with("plain.csv", &plain.1).with("sheet.csv", &sheet.1).with("odd.csv", odd);
    let folder = folder.with("first.csv", &first.1);
    for file in ["plain.csv", "sheet.csv", "first.csv"] {
        let (said, clocks) = forecast(&folder, file);
        let told = "with a step of 1 hour; each that falls back begins the next day";
        assert!(said.err.contains(told), "{}", said.err);
        assert_eq!((&clocks["forecast"], &clocks["mse"]), (&one["forecast"], &one["mse"]), "{file}");
        assert_eq!(clocks["times"][0], "00:00");
        assert_eq!(pairs(&folder, &format!("{file} --time Time")), expected, "{file}");
    }
    let said = folder.run("koopman plain.csv --trajectory --time Time --json");
    assert!(said.err.contains("column \"Time\" holds times of day; each that falls back begins"), "{}", said.err);
    assert_eq!(object(&folder.run("inspect plain.csv --json").out)["columns"][0]["largest"], "23:00:00");
    let said = folder.run("forecast odd.csv");
    assert!(
        said.code == Some(1) && said.err.contains("the time 06:15 is before that of the row before"),
        "{}",
        said.err
    );
}

/// Rows of known inputs behind the last begin on its day or the next, without that being told.
#[test]
fn clocks_of_known_inputs_go_on_behind_the_last() {
    let rows = |rows: std::ops::Range<u32>| {
        rows.fold("Time,temp,y\n".to_owned(), |mut text, t| {
            let _ = writeln!(text, "{:02}:30,{},{}", t % 24, t % 9, (t % 24) + 2 * (t % 9));
            text
        })
    };
    let folder =
        Folder::new().with("s.csv", rows(0..130)).with("next.csv", rows(130..190)).with("gap.csv", rows(131..190));
    let line = "forecast s.csv --target y --known temp --season 24 --json --steps 60 --future";
    let said = folder.run(&format!("{line} next.csv"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    let times = object(&said.out)["times"].clone();
    assert_eq!((&times[0], &times[14], &times[59]), (&"10:30".into(), &"00:30".into(), &"21:30".into()));
    let said = folder.run(&format!("{line} gap.csv"));
    assert!(said.code == Some(1) && said.err.contains("gap.csv, row 1: is of 11:30"), "{}", said.err);
}

#[test]
fn a_trajectory_has_them_too() {
    let folder = hours();
    let pairs = |line: &str| object(&folder.run(&format!("koopman {line} --trajectory --json")).out)["pairs"].clone();
    assert_eq!(pairs("clock.csv --time Date"), pairs("one.csv --time ts"));
    assert!(pairs("clock.csv --time Date").as_u64() > Some(460));
}

/// The month, the day and the hour stand beside the year.
#[test]
fn years_have_their_parts_beside_them() {
    let of_month =
        |t: usize| format!("{},{},{}\n", 2010 + t / 12, t % 12 + 1, (0.5 * t as f64).sin() + 0.01 * t as f64);
    let of_hour = |t: usize| {
        let (day, hour) = (t / 24, t % 24);
        let month = ["Jan", "Feb"][usize::from(day >= 31)];
        format!("2013,{month},{},{hour},{}\n", day % 31 + 1, (0.3 * t as f64).sin())
    };
    let of_quarter = |t: usize| format!("{},{},{}\n", 2001 + t / 4, t % 4 + 1, t % 4);
    let rows = |from: usize, to: usize, row: &dyn Fn(usize) -> String| (from..to).map(row).collect::<String>();
    let folder = Folder::new()
        .with("months.csv", format!("Year,Month,sales\n{}", rows(0, 60, &of_month)))
        .with("quarters.csv", format!("year,quarter,sales\n{}", rows(0, 60, &of_quarter)))
        .with("hours.csv", format!("year,month,day,hour,load\n{}", rows(0, 900, &of_hour)))
        .with("next.csv", format!("year,month,day,hour,load\n{}", rows(900, 901, &of_hour)))
        .with("odd.csv", format!("Year,Month,sales\n{}2110,13,4\n", rows(0, 1200, &of_month)));
    for (file, told, next) in [
        ("months", "column \"Year\" with column \"Month\" holds the times, with a step of 1 month", "2015-01-01"),
        ("quarters", "column \"year\" with column \"quarter\" holds the times", "2016-01-01"),
        ("hours", "with column \"month\" and with column \"day\" and with column \"hour\"", "2013-02-07T12:00"),
    ] {
        let said = folder.run(&format!("forecast {file}.csv --steps 1 --json --out {file}.mercer"));
        assert!(said.err.contains(told), "{file}: {}", said.err);
        let times = &object(&said.out)["times"];
        assert_eq!(times[0], next, "{file}: {}", said.out);
    }
    // One row more is behind those that the model knows.
    let said = folder.run("forecast next.csv --model hours.mercer --steps 1 --json");
    assert_eq!(object(&said.out)["times"][0], "2013-02-07T13:00", "{}", said.err);
    let said = folder.run("forecast hours.csv --model hours.mercer --steps 1");
    assert!(said.err.contains("is not behind 2013-02-07T11:00, the last that the model has learnt"), "{}", said.err);
    // A month that is none is told where it stands.
    let said = folder.run("forecast odd.csv");
    assert!(said.err.contains("line 1202, column 2 (\"Month\"): \"13\" is no time"), "{}", said.err);
}
