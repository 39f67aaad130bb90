//! The page of JSON names each key that the commands print, with the command, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::support::{Folder, noise, object};

/// Runs that print all keys between them.
const RUNS: &[&str] = &[
    "eval t.csv --target y --learner krls",
    "eval n.csv --target y --learner krls --watch",
    "eval t.csv --target y --learner krls --intervals 0.9",
    "eval t.csv --target colour --learner krls",
    "eval t.csv --target y,x --learner krls",
    "eval t.csv --target y --learner krls --group colour",
    "eval t.csv --target y --learner krls --watch",
    "inspect g.mercer",
    "compare t.csv --target y --learners krls,knlms",
    "tune t.csv --target y --learner krls --trials 8",
    "inspect t.csv",
    "inspect t.csv --target colour",
    "inspect m.mercer",
    "inspect s.mercer",
    "forecast t.csv --target y --time day --steps 3 --quantiles 0.1 --intervals 0.9",
    "forecast t.csv --target y --time day --known x --future f.csv --future h.csv --parts p.csv --anomaly-share 0.9",
    "forecast g.csv --target y --time day --group colour --steps 2 --total mint",
    "forecast t.csv --target y --time day --method opf --steps 2",
    "koopman n.csv --trajectory",
    "koopman n.csv --trajectory --method sogd",
    "merge s.mercer --out all.mercer",
    "watch t.csv --target y",
    "explain t.csv --model m.mercer -n 1",
    "export k.mercer --to c --out k.c",
    "learners",
];

fn folder() -> Folder {
    let (mut table, mut numbers) = ("day,x,colour,y\n".to_owned(), "x,y\n".to_owned());
    for t in 0..200_u64 {
        let (x, colour) = (noise(t), if noise(7 * t + 1) < 0.0 { "red" } else { "blue" });
        let y = (3.0 * x).sin() + f64::from(u8::from(colour == "red"));
        table += &format!("2024-{:02}-{:02},{x},{colour},{y}\n", 1 + t / 28, 1 + t % 28);
        numbers += &format!("{x},{y}\n");
    }
    let both = |t: usize| ["red", "blue"].map(|colour| format!("2024-01-{:02},{colour},{}\n", t, t * t % 7));
    let groups = "day,colour,y\n".to_owned() + &(1..30).flat_map(both).collect::<String>();
    let future = "x\n0.5\n0.1\n";
    Folder::new()
        .with("t.csv", table)
        .with("n.csv", numbers)
        .with("f.csv", future)
        .with("h.csv", future)
        .with("g.csv", groups)
}

/// Pairs of a command and a key.
type Keys = BTreeSet<(String, String)>;

fn documented(page: &str) -> Keys {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let keys: Vec<String> = cells[0].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let commands: Vec<String> = cells[2].split(", ").map(|name| name.trim().to_owned()).collect();
        keys.into_iter().flat_map(move |key| commands.clone().into_iter().map(move |command| (command, key.clone())))
    })
    .collect()
}

fn printed() -> Keys {
    let folder = folder();
    let run = |words: &str| {
        let said = folder.run(words);
        assert_eq!(said.code, Some(0), "{words}: {}", said.err);
        said.out
    };
    run("train t.csv --target y --learner auto --intervals 0.9 --out m.mercer");
    run("train t.csv --target y --learner krls --group colour --out g.mercer");
    run("train n.csv --target y --learner krls --out k.mercer");
    let fit = "fit n.csv --target y --learner pkrr-taylor --kernel gaussian:1 --out s.mercer";
    let mut keys: Keys = BTreeSet::new();
    for words in [fit].iter().chain(RUNS) {
        let command = words.split(' ').next().unwrap();
        let object = object(&run(&format!("{words} --json")));
        keys.extend(object.as_object().unwrap().keys().map(|key| (command.to_owned(), key.clone())));
    }
    keys
}

#[test]
fn the_page_names_each_key_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let (page, printed) = (documented(&fs::read_to_string(path).unwrap()), printed());
    let difference = |a: &Keys, b: &Keys| a.difference(b).cloned().collect::<Vec<_>>();
    assert_eq!(difference(&printed, &page), [], "these keys are not on the page");
    assert_eq!(difference(&page, &printed), [], "these keys of the page are not printed");
}

#[test]
fn a_key_that_is_not_on_the_page_is_found() {
    let page = documented("| `rows`, `mse` | numbers | eval, fit |\n");
    let pair = |command: &str, key: &str| (command.to_owned(), key.to_owned());
    let expected = [("eval", "mse"), ("eval", "rows"), ("fit", "mse"), ("fit", "rows")];
    assert_eq!(page, expected.map(|(command, key)| pair(command, key)).into());
}
