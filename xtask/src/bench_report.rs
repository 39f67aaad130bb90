//! `cargo xtask bench-report`: every operation as a share of the machine's roofs, and a few
//! learners beside other libraries, into `benches/results`; the table of speed in the README is
//! that of the report.
//!
//! Takes about three minutes once built, on one core. What the columns mean, and how to make the
//! programs of other libraries, is in `benches/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use xshell::{Shell, cmd};

use crate::root;

/// The README's table stands between these lines, below a sentence that links to its report.
const MARKERS: [&str; 2] = ["<!-- speed: cargo xtask bench-report -->", "<!-- /speed -->"];

/// Packages of Python that are peers, with the variables that name their programs.
const PACKAGES: [(&str, &str); 2] = [("river", "MERCER_PEER_RIVER"), ("sklearn", "MERCER_PEER_SKLEARN")];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Date in the name of the report, as 2026-11-21 [default: today, UTC]
    #[arg(long)]
    date: Option<String>,
    /// The Python whose packages river and scikit-learn are timed, if it has them
    #[arg(long, default_value = "python3")]
    python: String,
}

/// Builds and runs the reporter, and puts its table into the README.
///
/// # Errors
/// When it does not build, or cannot write its results.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    let root = root().canonicalize()?;
    shell.change_dir(&root);
    let python = &arguments.python;
    for (package, variable) in PACKAGES {
        let found = cmd!(shell, "{python} -c").arg(format!("import {package}")).quiet().ignore_stderr().run().is_ok();
        if std::env::var_os(variable).is_none() && found {
            let script = root.join("benches/peers/speed.py");
            shell.set_var(variable, format!("{python} {} {package}", script.display()));
        }
    }
    let date = arguments.date.iter().flat_map(|date| ["--date", date.as_str()]);
    cmd!(shell, "cargo run --release --quiet --package mercer-benches --bin report -- {date...}").run()?;
    let report = newest(&root.join("benches/results"))?;
    let readme = root.join("README.md");
    let text = fs::read_to_string(&readme).with_context(|| format!("reading {}", readme.display()))?;
    let name = report.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let table = table_of(&fs::read_to_string(&report)?).with_context(|| format!("{name} has no table of peers"))?;
    let Some(written) = with_table(&text, &name, &table) else {
        bail!("README.md: no {} … {}", MARKERS[0], MARKERS[1])
    };
    fs::write(&readme, written).with_context(|| format!("writing {}", readme.display()))
}

/// Adds a fault if the README's table is not that of the report which it links to.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn violations(root: &Path, found: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root.join("README.md")).context("reading README.md")?;
    let Some(part) = part(&text) else {
        found.push(format!("README.md: the table of speed stands between {} and {}", MARKERS[0], MARKERS[1]));
        return Ok(());
    };
    let name = part.split("(benches/results/").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let report = fs::read_to_string(root.join("benches/results").join(name)).unwrap_or_default();
    if table_of(&report).is_none_or(|table| lines_of(part) != table) {
        found.push(
            "README.md: its table of speed is not that of the report it links to; run cargo xtask bench-report"
                .to_owned(),
        );
    }
    Ok(())
}

/// The report that was written last.
fn newest(folder: &Path) -> Result<PathBuf> {
    let mut reports = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            reports.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    reports.into_iter().max().map(|(_, path)| path).context("there is no report")
}

/// What stands between the markers.
fn part(readme: &str) -> Option<&str> {
    readme.split_once(MARKERS[0])?.1.split_once(MARKERS[1]).map(|(part, _)| part)
}

/// The table below the heading of the peers.
fn table_of(report: &str) -> Option<String> {
    let table = lines_of(report.split_once("\n## Peers\n")?.1);
    (!table.is_empty()).then_some(table)
}

/// Its lines that are a table.
fn lines_of(text: &str) -> String {
    text.lines().filter(|line| line.starts_with('|')).flat_map(|line| [line, "\n"]).collect()
}

/// The README with the table of the report of this name; `None` without markers.
fn with_table(readme: &str, name: &str, table: &str) -> Option<String> {
    let old = part(readme)?;
    let new = format!(
        "\nSteps a second on one core, each a prediction and then an update, on the same stream, all from\n\
         [one run on one machine](benches/results/{name}).\n\n{table}"
    );
    let both = |part: &str| format!("{}{part}{}", MARKERS[0], MARKERS[1]);
    Some(readme.replacen(&both(old), &both(&new), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readmes_table_is_that_of_the_report() {
        let report = "# Benches\n\n| a |\n\n## Peers\n\nWords.\n\n| J | dlib |\n|---|---|\n| 50 | 1 |\n";
        let readme = format!("# M\n\n{}\nold\n\n| x |\n{}\n\nMore.\n", MARKERS[0], MARKERS[1]);
        let table = table_of(report).unwrap();
        let written = with_table(&readme, "r.md", &table).unwrap();
        assert!(written.contains("(benches/results/r.md).\n\n| J | dlib |\n|---|---|\n| 50 | 1 |\n<!--"), "{written}");
        assert!(written.starts_with("# M\n") && written.ends_with("\n\nMore.\n") && !written.contains("old"));
        assert_eq!(lines_of(part(&written).unwrap()), table);
        assert_eq!(with_table("none", "r.md", &table), None);
    }
}
