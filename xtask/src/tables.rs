//! `cargo xtask tables`: the tables of learners in README and GUIDE, written from the catalogue. `tidy` looks whether they are its.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use mercer_learners::Loss;
use mercer_learners::catalogue::{Entry, entries};

/// A table stands between these lines.
const MARKERS: [&str; 2] = ["<!-- learners: cargo xtask tables -->", "<!-- /learners -->"];

/// A file with a table, its head, and the cells of a row after the name.
type Table = (&'static str, &'static str, fn(&Entry) -> Vec<String>);

const TABLES: [Table; 2] = [
    ("README.md", "| learner | what it is | targets | losses |\n|---|---|---|---|\n", |entry| {
        let all = entry.takes.losses == Loss::NAMES;
        let losses = if all { "all".to_owned() } else { entry.takes.losses.join(", ") };
        let targets: Vec<&str> = entry.takes.targets().collect();
        vec![entry.summary.to_owned(), targets.join(", "), losses]
    }),
    ("GUIDE.md", "| learner | step | memory | take it when | first settings |\n|---|---|---|---|---|\n", |entry| {
        let grows = if entry.memory.grows() { ", **grows**" } else { "" };
        let memory = format!("{}{grows}", quoted(&entry.memory.to_string()));
        vec![quoted(&entry.time.to_string()), memory, entry.advice.to_owned(), entry.start.to_owned()]
    }),
];

/// A formula as code; words stay words.
fn quoted(cost: &str) -> String {
    if cost.ends_with('\'') { cost.to_owned() } else { format!("`{cost}`") }
}

/// Writes the tables.
///
/// # Errors
/// When a file cannot be read or written, or has no markers.
pub(crate) fn write(root: &Path) -> Result<()> {
    for table in TABLES {
        let path = root.join(table.0);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let written = with_table(&text, table).with_context(|| missing(table.0))?;
        if written != text {
            fs::write(&path, written).with_context(|| format!("writing {}", path.display()))?;
            println!("{} has a new table", table.0);
        }
    }
    Ok(())
}

/// What is wrong with the tables.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn violations(root: &Path, found: &mut Vec<String>) -> Result<()> {
    for table in TABLES {
        let path = root.join(table.0);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        match with_table(&text, table) {
            None => found.push(missing(table.0)),
            Some(written) if written != text => {
                found.push(format!(
                    "{}: its table of learners is not that of the catalogue; run cargo xtask tables",
                    table.0
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn missing(file: &str) -> String {
    format!("{file}: the table of learners stands between {} and {}", MARKERS[0], MARKERS[1])
}

/// The text with its table anew; `None` without markers.
fn with_table(text: &str, (_, head, cells): Table) -> Option<String> {
    let (before, rest) = text.split_once(MARKERS[0])?;
    let (_, after) = rest.split_once(MARKERS[1])?;
    let row = |entry: &Entry| format!("| `{}` | {} |\n", entry.name, cells(entry).join(" | "));
    let rows: String = entries().iter().map(row).collect();
    Some(format!("{before}{}\n{head}{rows}{}{after}", MARKERS[0], MARKERS[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_and_nothing_else() {
        let text = format!("above\n{}\nold\n{}\nbelow\n", MARKERS[0], MARKERS[1]);
        let written = with_table(&text, TABLES[1]).expect("markers");
        assert!(written.starts_with("above\n") && written.ends_with("-->\nbelow\n") && !written.contains("old"));
        assert!(written.contains("| `kons` | `td + ½t²` | `td + ½t²`, **grows** |"));
        assert!(written.contains("| `experts` | the members' | the members' |"));
        assert_eq!(with_table(&written, TABLES[1]), Some(written));
        assert_eq!(with_table("no markers", TABLES[0]), None);
    }
}
