//! `cargo xtask tidy`: rules of the source tree that no compiler checks. Also a test, so that
//! `cargo test` enforces them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{bench_report, root};

mod shape;

/// Longest source file, tests included.
const MAX_LINES: usize = 600;

/// The crates from the ground up: each may depend on those before it.
const FLOORS: [&str; 23] = [
    "plots",
    "core",
    "serve",
    "readers",
    "datasets",
    "streams",
    "experts",
    "simd",
    "linalg-incremental",
    "kernels",
    "watch",
    "sparsify",
    "koopman",
    "learners",
    "encoding",
    "auto",
    "forecast",
    "registry",
    "session",
    "export",
    "cli",
    "mercer",
    "experiments",
];

/// Crates whose sources other people link: all but the experiments.
pub(crate) fn libraries() -> impl Iterator<Item = &'static str> {
    FLOORS.into_iter().filter(|name| *name != "experiments")
}

/// Where a crate lies in the repository.
fn folder(library: &str) -> PathBuf {
    if library == "datasets" { PathBuf::from(library) } else { Path::new("crates").join(library) }
}

/// Lints that clippy looks for in the libraries, and not in their tests: panicking short cuts and
/// printing.
const LINTS: [&str; 5] = ["unwrap_used", "expect_used", "panic", "print_stdout", "print_stderr"];

/// Prints every violation.
///
/// # Errors
/// When there is one.
pub(crate) fn run() -> Result<()> {
    let violations = violations(&root())?;
    violations.iter().for_each(|violation| println!("{violation}"));
    if violations.is_empty() { Ok(()) } else { bail!("{} rule(s) of the source tree broken", violations.len()) }
}

fn violations(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut paths = Vec::new();
    for folder in ["crates", "datasets", "xtask", "benches", "fuzz"] {
        collect(&root.join(folder), &mut paths)?;
    }
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        source_rules(&name, &text, &mut found);
        sources.push((name, text));
    }
    shape::rules(&sources, &mut found);
    for (floor, name) in FLOORS.into_iter().enumerate() {
        let manifest = root.join(folder(name)).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
        floor_rule(name, &FLOORS[..floor], &text, &mut found);
    }
    bench_report::violations(root, &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(path);
        }
    }
    Ok(())
}

fn source_rules(name: &str, text: &str, found: &mut Vec<String>) {
    if !text.starts_with("//!") {
        found.push(format!("{name}: a file begins with //! and says what it is"));
    }
    let lines = text.lines().count();
    let may = ["crates/simd/", "crates/testkit/", "xtask/src/tidy.rs"].iter().any(|place| name.starts_with(place));
    if !may && text.contains("allow(unsafe_code") {
        found.push(format!("{name}: unsafe code outside of simd and testkit"));
    }
    if lines > MAX_LINES {
        found.push(format!("{name}: {lines} lines, more than {MAX_LINES}; split it by concern"));
    }
    let is_root = |library: &str| Path::new(name) == folder(library).join("src/lib.rs");
    if libraries().any(is_root) {
        for lint in LINTS.iter().filter(|lint| !text.contains(&format!("clippy::{lint}"))) {
            found.push(format!("{name}: does not ask clippy for {lint}, as the other libraries do"));
        }
    }
    let library = libraries().any(|library| Path::new(name).starts_with(folder(library).join("src")));
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let lines = code.lines().enumerate().filter(|(_, line)| library && !line.trim_start().starts_with("//"));
    for (number, _) in lines.filter(|(_, line)| line.contains("thread_rng")) {
        found.push(format!("{name}:{}: `thread_rng`; seeds are arguments", number + 1));
    }
}

fn floor_rule(name: &str, below: &[&str], manifest: &str, found: &mut Vec<String>) {
    let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or(manifest);
    for line in dependencies.lines() {
        let Some(dependency) = line.strip_prefix("mercer-").and_then(|rest| rest.split(['.', ' ', '=']).next()) else {
            continue;
        };
        if !below.contains(&dependency) {
            found.push(format!("crates/{name}: depends on {dependency}, which does not lie below it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() -> Result<()> {
        assert_eq!(violations(&root())?, Vec::<String>::new());
        Ok(())
    }

    #[test]
    fn violations_are_found() {
        let mut found = Vec::new();
        source_rules("crates/simd/src/x.rs", "fn f() {\n    thread_rng();\n}\n", &mut found);
        floor_rule("simd", &[], "[dependencies]\nmercer-learners.workspace = true\n", &mut found);
        source_rules("crates/simd/src/y.rs", &"//! y\n".repeat(601), &mut found);
        source_rules("crates/simd/src/lib.rs", "//! y\n#![warn(clippy::unwrap_used)]\n", &mut found);
        assert_eq!(found.len(), 8, "{found:?}");
    }
}
