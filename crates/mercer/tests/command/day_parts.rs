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

#[test]
fn a_trajectory_has_them_too() {
    let folder = hours();
    let pairs = |line: &str| object(&folder.run(&format!("koopman {line} --trajectory --json")).out)["pairs"].clone();
    assert_eq!(pairs("clock.csv --time Date"), pairs("one.csv --time ts"));
    assert!(pairs("clock.csv --time Date").as_u64() > Some(460));
}
