//! `cargo xtask tables`: the tables of learners in docs/learners.md, GUIDE and the documentation of mercer-learners, written from the catalogue. `tidy` looks
//! whether they are its.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use mercer_learners::Loss;
use mercer_learners::catalogue::{Entry, entries, trial};

/// A table stands between these lines.
const MARKERS: [&str; 2] = ["<!-- learners: cargo xtask tables -->", "<!-- /learners -->"];

/// A table of the learners.
#[derive(Clone, Copy)]
struct Table {
    file: &'static str,
    /// How each of its lines begins.
    prefix: &'static str,
    columns: &'static [&'static str],
    /// The cells of a row.
    cells: fn(&Entry) -> Result<Vec<String>>,
}

const TABLES: [Table; 3] = [
    Table {
        file: "docs/learners.md",
        prefix: "",
        columns: &["learner", "what it is", "targets", "losses"],
        cells: |entry| {
            let all = entry.takes.losses == Loss::NAMES;
            let losses = if all { "all".to_owned() } else { entry.takes.losses.join(", ") };
            let targets: Vec<&str> = entry.takes.targets().collect();
            Ok(vec![format!("`{}`", entry.name), entry.summary.to_owned(), targets.join(", "), losses])
        },
    },
    Table {
        file: "GUIDE.md",
        prefix: "",
        columns: &["learner", "step", "memory", "take it when", "first settings"],
        cells: |entry| {
            let grows = if entry.memory.grows() { ", **grows**" } else { "" };
            let memory = format!("{}{grows}", quoted(&entry.memory.to_string()));
            let name = format!("`{}`", entry.name);
            Ok(vec![name, quoted(&entry.time.to_string()), memory, entry.advice.to_owned(), entry.start.to_owned()])
        },
    },
    Table {
        file: "crates/learners/src/lib.rs",
        prefix: "//! ",
        columns: &["learner", "type", "source", "multiply-adds a round", "memory"],
        cells: |entry| {
            let learner = trial(entry, "gaussian:1".parse()?, 2)?;
            let (name, learner) = (format!("`{}`", entry.name), format!("[`{}`]", learner.name()));
            let [time, memory] = [entry.time, entry.memory].map(|cost| quoted(&cost.to_string()));
            Ok(vec![name, learner, entry.source.to_owned(), time, memory])
        },
    },
];

/// A formula as code; words stay words.
fn quoted(cost: &str) -> String {
    if cost.ends_with('\'') { cost.to_owned() } else { format!("`{cost}`") }
}

/// Writes the tables.
///
/// # Errors
/// When a file cannot be read or written, or has no markers, or a learner cannot be made.
pub(crate) fn write(root: &Path) -> Result<()> {
    for table in TABLES {
        let path = root.join(table.file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let written = with_table(&text, table)?.with_context(|| missing(table))?;
        if written != text {
            fs::write(&path, written).with_context(|| format!("writing {}", path.display()))?;
            println!("{} has a new table", table.file);
        }
    }
    Ok(())
}

/// What is wrong with the tables.
///
/// # Errors
/// When a file cannot be read, or a learner cannot be made.
pub(crate) fn violations(root: &Path, found: &mut Vec<String>) -> Result<()> {
    for table in TABLES {
        let path = root.join(table.file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        match with_table(&text, table)? {
            None => found.push(missing(table)),
            Some(written) if written != text => {
                found.push(format!(
                    "{}: its table of learners is not that of the catalogue; run cargo xtask tables",
                    table.file
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn missing(Table { file, .. }: Table) -> String {
    format!("{file}: the table of learners stands between {} and {}", MARKERS[0], MARKERS[1])
}

/// The text with its table anew; `None` without markers.
///
/// # Errors
/// When a learner cannot be made.
fn with_table(text: &str, Table { prefix, columns, cells, .. }: Table) -> Result<Option<String>> {
    let Some((before, rest)) = text.split_once(MARKERS[0]) else { return Ok(None) };
    let Some((_, after)) = rest.split_once(MARKERS[1]) else { return Ok(None) };
    let mut lines = vec![MARKERS[0].to_owned(), format!("| {} |", columns.join(" | "))];
    lines.push(format!("|{}", "---|".repeat(columns.len())));
    for entry in entries() {
        lines.push(format!("| {} |", cells(entry)?.join(" | ")));
    }
    lines.push(MARKERS[1].to_owned());
    Ok(Some(format!("{before}{}{after}", lines.join(&format!("\n{prefix}")))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_and_nothing_else() -> Result<()> {
        let text = format!("above\n{}\nSTALE\n{}\nbelow\n", MARKERS[0], MARKERS[1]);
        let written = with_table(&text, TABLES[1])?.context("markers")?;
        assert!(written.starts_with("above\n") && written.ends_with("-->\nbelow\n") && !written.contains("STALE"));
        assert!(written.contains("| `kons` | `td + ½t²` | `td + ½t²`, **grows** |"));
        assert!(written.contains("| `experts` | the members' | the members' |"));
        assert_eq!(with_table(&written, TABLES[1])?, Some(written));
        assert_eq!(with_table("no markers", TABLES[0])?, None);
        Ok(())
    }

    /// In a source file each line of the table stays a comment, and names types that there are.
    #[test]
    fn a_table_in_a_comment_is_a_comment() -> Result<()> {
        let text = format!("//! above\n//! {}\n//! {}\ncode\n", MARKERS[0], MARKERS[1]);
        let written = with_table(&text, TABLES[2])?.context("markers")?;
        let commented = written.lines().filter(|line| line.starts_with("//! ")).count();
        assert_eq!(commented, written.lines().count() - 1);
        assert!(written.ends_with("\ncode\n"));
        assert!(written.contains("//! | `kons` | [`Kons`] |") && written.contains("//! | `experts` | [`Mixture`] |"));
        Ok(())
    }
}
