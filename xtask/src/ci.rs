//! `cargo xtask ci`: everything that must hold beside the tests.
//!
//! The table of the steps is in [`steps`]. Some are run for every change; the others take longer
//! than the change, and are run every night, before a release, and by whoever touches their inputs.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::root;

mod checks;
mod steps;

use steps::{CiStep, STEPS};

/// Keeps the commit that all steps have passed on.
const PASSED: &str = "target/ci-passed";

#[derive(Args)]
#[group(multiple = false)]
pub(crate) struct Arguments {
    /// Every step, also those that take long; remembers the commit for --release
    #[arg(long)]
    all: bool,
    /// The steps that take long and whose inputs have changed since this commit
    #[arg(long, value_name = "BASE")]
    touched: Option<String>,
    /// These steps
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    only: Vec<String>,
    /// Nothing but the question whether --all has passed on this commit
    #[arg(long)]
    release: bool,
    /// Names the steps and what calls for them
    #[arg(long)]
    list: bool,
}

/// # Errors
/// The first step that fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    if arguments.list {
        print!("{}", steps::table());
        return Ok(());
    }
    if arguments.release {
        return released(&shell);
    }
    let before = if arguments.all { commit(&shell)? } else { None };
    for step in chosen(&shell, arguments)? {
        let start = Instant::now();
        (step.run)(&shell).with_context(|| format!("the step '{}' failed", step.name))?;
        println!("{}: ok ({:.0} s)", step.name, start.elapsed().as_secs_f64());
    }
    match before {
        Some(before) if commit(&shell)?.as_ref() == Some(&before) => Ok(shell.write_file(PASSED, before)?),
        _ => Ok(()),
    }
}

fn chosen(shell: &Shell, arguments: &Arguments) -> Result<Vec<&'static CiStep>> {
    let unknown = arguments.only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name));
    let names = STEPS.map(|step| step.name).join(", ");
    ensure!(unknown.is_none(), "there is no step '{}'; there are {names}", unknown.map_or("", String::as_str));
    let changed = match &arguments.touched {
        Some(base) => Some(changed(shell, base)?),
        None => None,
    };
    Ok(STEPS
        .iter()
        .filter(|step| match &changed {
            Some(files) => files.iter().any(|file| step.is_called_for(file)),
            None if arguments.only.is_empty() => arguments.all || step.inputs.is_empty(),
            None => arguments.only.iter().any(|name| name == step.name),
        })
        .collect())
}

/// The files that differ from a commit, those among them that are not committed.
fn changed(shell: &Shell, base: &str) -> Result<BTreeSet<String>> {
    let tracked = cmd!(shell, "git diff --name-only {base}").quiet().read()?;
    let others = cmd!(shell, "git ls-files --others --exclude-standard").quiet().read()?;
    Ok(tracked.lines().chain(others.lines()).map(str::to_owned).collect())
}

/// The commit, if nothing is changed since.
fn commit(shell: &Shell) -> Result<Option<String>> {
    let changes = cmd!(shell, "git status --porcelain").quiet().read()?;
    let commit = cmd!(shell, "git rev-parse HEAD").quiet().read()?;
    Ok(changes.is_empty().then_some(commit))
}

fn released(shell: &Shell) -> Result<()> {
    let commit = commit(shell)?.context("a release is made of a commit, and the tree has changes")?;
    let passed = shell.read_file(PASSED).unwrap_or_default();
    ensure!(passed.trim() == commit, "`cargo xtask ci --all` has not passed on {commit}; run it first");
    println!("release: all steps have passed on {commit}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_calls_for_its_steps() {
        let called = |file: &str| -> Vec<&str> {
            STEPS.iter().filter(|step| step.is_called_for(file)).map(|step| step.name).collect()
        };
        assert_eq!(called("deny.toml"), ["dependencies"]);
        assert_eq!(called("crates/core/README.md"), ["packages"]);
        assert!(called("crates/kernels/Cargo.toml").contains(&"dependencies"));
        assert!(called("python/mercer/sktime.py").contains(&"sktime"));
        assert!(called("CHANGELOG.md").is_empty());
        // Every change calls for the others.
        assert!(!called("crates/core/src/lib.rs").contains(&"clippy"));
    }

    #[test]
    fn a_step_has_one_name_and_inputs_that_are_there() {
        let names: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        for input in STEPS.iter().flat_map(|step| step.inputs) {
            let there = root().join(input.split('*').next().unwrap_or_default()).exists();
            assert!(there, "{input} is not there");
        }
    }

    #[test]
    fn the_table_is_in_contributing() -> Result<()> {
        let text = std::fs::read_to_string(root().join("CONTRIBUTING.md"))?;
        assert!(text.contains(&steps::table()), "put this into CONTRIBUTING.md:\n{}", steps::table());
        Ok(())
    }
}
