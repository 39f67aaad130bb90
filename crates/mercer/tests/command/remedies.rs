//! Remedies: what a sentence says is done, and helps.

use std::fmt::Write as _;

use crate::support::{Folder, Said};

/// The option that a sentence offers, with its value, without the quotes of a shell.
fn offered(said: &str, option: &str) -> Vec<String> {
    let at = said.find(&format!("{option} ")).unwrap_or_else(|| panic!("{option} is not in {said}"));
    let value = &said[at + option.len() + 1..];
    let end = match value.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map(|end| end + 2),
        None => value.find([' ', ';', ',', ')', '\n']),
    };
    vec![option.to_owned(), value[..end.unwrap_or(value.len())].trim_matches('\'').to_owned()]
}

fn run(folder: &Folder, line: &str, more: &[String]) -> Said {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).chain(more.iter().cloned()).collect();
    let output = folder.command(&words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn table(header: &str, row: impl Fn(usize) -> String) -> String {
    (0..120).fold(format!("{header}\n"), |mut table, t| {
        let _ = writeln!(table, "{}", row(t));
        table
    })
}

/// What is told of a file, the option that it offers, and what is told once that is taken.
struct Remedy {
    file: String,
    line: &'static str,
    told: &'static str,
    option: &'static str,
    then: &'static str,
}

/// Where a column is not what it may have been meant for.
fn of_columns() -> Vec<Remedy> {
    let size = |t: usize| t * 7 % 40;
    let eval = "eval d.csv --learner krls --target y";
    vec![
        Remedy {
            file: table("name,x,y", |t| format!("n{t}x,{},{}", size(t), size(t) + 1)),
            line: eval,
            told: "left out, for it names rows",
            option: "--as",
            then: "column \"name\": category",
        },
        Remedy {
            file: table("code,x,y", |t| {
                format!("{},{},{}", if t % 3 == 0 { "<5".to_owned() } else { size(t).to_string() }, t % 9, size(t))
            }),
            line: eval,
            told: "\"<5\" is no number",
            option: "--as",
            then: "did not fit and counted as missing",
        },
        Remedy {
            file: table("h,y", |t| format!("{},{}", if t % 20 == 3 { -200 } else { size(t) as i64 }, size(t))),
            line: eval,
            told: "-200 is far from all others",
            option: "--gap",
            then: "cells empty, counted as missing",
        },
        Remedy {
            file: table("h,y", |t| {
                format!("{},{}", if t % 20 == 3 { "-999.25".to_owned() } else { size(t).to_string() }, size(t))
            }),
            line: eval,
            told: "-999.25 is far from all others",
            option: "--gap",
            then: "cells empty, counted as missing",
        },
        Remedy {
            file: table("day,x,y", |t| format!("{}/{}/2024,{},{}", t % 12 + 1, t * 5 % 12 + 1, size(t), size(t))),
            line: eval,
            told: "may be two days",
            option: "--as",
            then: "time, day/month/year",
        },
        Remedy {
            file: table("x,y", |t| format!("{},{}", size(t), t % 3 + 1)),
            line: eval,
            told: "as codes of classes do",
            option: "--task",
            then: "",
        },
        Remedy {
            file: table("zip,y", |t| format!("{:05},{}", 1000 + t % 7, size(t))),
            line: eval,
            told: "begin with a zero",
            option: "--as",
            then: "column \"zip\": category",
        },
    ]
}

/// Where rows are left out, refused, or in an order.
fn of_rows() -> Vec<Remedy> {
    let eval = "eval d.csv --learner krls --target y";
    let day = |t: usize| format!("2024-{:02}-{:02}", t / 28 + 1, t % 28 + 1);
    vec![
        Remedy {
            file: table("x,y", |t| format!("{},{}", t % 11, if t == 70 { String::new() } else { (t % 5).to_string() })),
            line: eval,
            told: "--on-error skip leaves such rows out",
            option: "--on-error",
            then: "left out",
        },
        Remedy {
            file: table("x,k", |t| format!("{}.5,{}", t * 13 % 17, ["a", "b", "c"][t / 40])),
            line: "eval d.csv --learner krls --target k",
            told: "classes come in blocks",
            option: "--permute",
            then: "",
        },
        Remedy {
            file: table("day,shop,y", |t| format!("{},{},{}", day(t / 2), ["u", "b"][t % 2], t % 7)),
            line: "forecast d.csv --target y",
            told: "is that of the row before, too",
            option: "--repeats",
            then: "taken together",
        },
    ]
}

#[test]
fn a_remedy_that_a_sentence_names_helps() {
    for Remedy { file, line, told, option, then } in of_columns().into_iter().chain(of_rows()) {
        let folder = Folder::new().with("d.csv", file);
        let before = run(&folder, line, &[]);
        let all = format!("{}{}", before.err, before.out);
        let sentence = all.lines().find(|line| line.contains(told)).unwrap_or_else(|| panic!("{told}: {all}"));
        let taken = offered(&sentence[sentence.find(told).unwrap()..], option);
        let after = run(&folder, line, &taken);
        let said = format!("{}{}", after.err, after.out);
        assert_eq!(after.code, Some(0), "{line} {taken:?}: {said}");
        assert!(!said.contains(told) && said.contains(then), "{told:?}, then {taken:?}: {said}");
    }
}

/// A group is named by a word that stands for the column.
#[test]
fn repeated_times_of_several_series_are_forecast_by_group() {
    let file = table("day,shop,y", |t| format!("2024-{:02}-{:02},{},{}", t / 56 + 1, t / 2 % 28 + 1, t % 2, t % 7));
    let folder = Folder::new().with("d.csv", file);
    assert!(folder.run("forecast d.csv --target y").err.contains("--group NAME forecasts several series"));
    let grouped = folder.run("forecast d.csv --target y --group shop");
    assert_eq!(grouped.code, Some(0), "{}", grouped.err);
}

/// What is left out is told whatever else is asked for.
#[test]
fn no_option_hides_what_is_left_out() {
    let file = table("name,when,x,y", |t| format!("n{t}x,2024-01-01,{},{}", t % 9, t % 7));
    let folder = Folder::new().with("d.csv", "a title\n\n".to_owned() + &file);
    for more in ["", "--target y", "--scale standard", "--scale robust --target y", "--quiet", "--quiet --scale range"]
    {
        let said = folder.run(&format!("eval d.csv --learner krls {more}"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        let lines = ["\"name\"", "left out", "stands above the table"];
        assert!(lines.iter().all(|part| said.err.contains(part)), "{more}: {}", said.err);
    }
}
