//! The tables of learners in the documents are those of the catalogue. `MERCER_BLESS=1` writes
//! them.

use std::fs;
use std::path::Path;

use mercer::Loss;
use mercer::catalogue::{Entry, entries, trial};

/// A table of the learners.
struct Table {
    file: &'static str,
    /// It stands between `<!-- name -->` and `<!-- /name -->`.
    name: &'static str,
    columns: &'static [&'static str],
    /// The cells of a row.
    cells: fn(&Entry) -> Vec<String>,
}

const TABLES: [Table; 3] = [
    Table {
        file: "docs/learners.md",
        name: "learners",
        columns: &["learner", "what it is", "targets", "losses"],
        cells: |entry| {
            let all = entry.takes.losses == Loss::NAMES;
            let losses = if all { "all".to_owned() } else { entry.takes.losses.join(", ") };
            let targets: Vec<&str> = entry.takes.targets().collect();
            vec![format!("`{}`", entry.name), entry.summary.to_owned(), targets.join(", "), losses]
        },
    },
    Table {
        file: "docs/learners.md",
        name: "costs",
        columns: &["learner", "step", "memory", "take it when", "first settings"],
        cells: |entry| {
            let grows = if entry.memory.grows() { ", **grows**" } else { "" };
            let memory = format!("{}{grows}", quoted(&entry.memory.to_string()));
            let name = format!("`{}`", entry.name);
            vec![name, quoted(&entry.time.to_string()), memory, entry.advice.to_owned(), entry.start.to_owned()]
        },
    },
    Table {
        file: "crates/registry/README.md",
        name: "learners",
        columns: &["learner", "type", "source", "multiply-adds a round", "memory"],
        cells: |entry| {
            let learner = trial(entry, "gaussian:1".parse().unwrap(), 2).unwrap();
            let (name, learner) = (format!("`{}`", entry.name), format!("`{}`", learner.name()));
            let [time, memory] = [entry.time, entry.memory].map(|cost| quoted(&cost.to_string()));
            vec![name, learner, entry.source.to_owned(), time, memory]
        },
    },
];

/// A formula as code; words stay words.
fn quoted(cost: &str) -> String {
    if cost.ends_with('\'') { cost.to_owned() } else { format!("`{cost}`") }
}

/// The text with its table anew.
fn with_table(text: &str, Table { file, name, columns, cells }: &Table) -> String {
    let [begin, end] = [format!("<!-- {name} -->"), format!("<!-- /{name} -->")];
    let parts = text.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?)));
    let Some((before, (_, after))) = parts else { panic!("{file}: no {begin} … {end}") };
    let mut lines = vec![begin, format!("| {} |", columns.join(" | "))];
    lines.push(format!("|{}", "---|".repeat(columns.len())));
    lines.extend(entries().iter().map(|entry| format!("| {} |", cells(entry).join(" | "))));
    lines.push(end);
    format!("{before}{}{after}", lines.join("\n"))
}

#[test]
fn tables_of_the_documents_are_those_of_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for table in &TABLES {
        let text = fs::read_to_string(root.join(table.file)).unwrap();
        let written = with_table(&text, table);
        if std::env::var_os("MERCER_BLESS").is_some() {
            fs::write(root.join(table.file), &written).unwrap();
        } else {
            assert!(written == text, "{}: its table of learners is out of date; see CONTRIBUTING.md", table.file);
        }
    }
}

#[test]
fn a_table_is_replaced_and_nothing_else() {
    let text = "above\n<!-- learners -->\nSTALE\n<!-- /learners -->\nbelow\n";
    let written = with_table(text, &TABLES[2]);
    assert!(written.starts_with("above\n") && written.ends_with("-->\nbelow\n") && !written.contains("STALE"));
    assert!(written.contains("\n| `kons` | `Kons` |") && written.contains("\n| `experts` | `Mixture` |"));
    assert_eq!(with_table(&written, &TABLES[2]), written);
}
