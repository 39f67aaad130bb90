//! `cargo xtask tidy`: rules of the source tree that no compiler checks. Also a test, so that `cargo test` enforces them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Longest source file, tests included.
const MAX_LINES: usize = 600;

/// Which workspace crates each library may depend on: arrows point up only.
const GRAPH: [(&str, &[&str]); 9] = [
    ("core", &[]),
    ("simd", &["core"]),
    ("kernels", &["core", "simd"]),
    ("linalg-incremental", &["core", "simd"]),
    ("sparsify", &["core", "simd", "kernels", "linalg-incremental"]),
    ("learners", &["core", "simd", "kernels", "linalg-incremental", "sparsify"]),
    ("data", &["core"]),
    ("mercer", &["core", "simd", "kernels", "linalg-incremental", "sparsify", "learners", "data"]),
    ("experiments", &["core", "simd", "kernels", "linalg-incremental", "sparsify", "learners", "data"]),
];

/// Crates whose sources other people link: no panicking short cuts, no printing.
const LIBRARIES: [&str; 7] = ["core", "simd", "kernels", "linalg-incremental", "sparsify", "learners", "data"];

/// Prints every violation.
///
/// # Errors
/// When there is one.
pub(crate) fn run() -> Result<()> {
    let violations = violations(&root())?;
    violations.iter().for_each(|violation| println!("{violation}"));
    if violations.is_empty() { Ok(()) } else { bail!("{} rule(s) of the source tree broken", violations.len()) }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn violations(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut sources = Vec::new();
    for folder in ["crates", "xtask", "benches", "fuzz"] {
        collect(&root.join(folder), &mut sources)?;
    }
    for path in &sources {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        source_rules(&name, &text, &mut found);
    }
    for (name, allowed) in GRAPH {
        let manifest = root.join("crates").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| format!("reading {}", manifest.display()))?;
        graph_rule(name, allowed, &text, &mut found);
    }
    Ok(found)
}

pub(crate) fn collect(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
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
    if lines > MAX_LINES {
        found.push(format!("{name}: {lines} lines, more than {MAX_LINES}; split it by concern"));
    }
    // This file names what it forbids.
    if name.ends_with("xtask/src/tidy.rs") {
        return;
    }
    let library = LIBRARIES.iter().any(|library| name.starts_with(&format!("crates/{library}/src/")));
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        let mut forbid = |what: &str, instead: &str| {
            if line.contains(what) {
                found.push(format!("{name}:{}: `{what}`; {instead}", number + 1));
            }
        };
        forbid("todo!(", "finish it");
        forbid("unimplemented!(", "finish it");
        forbid("dbg!(", "take it out");
        if library {
            forbid(".unwrap()", "return an error");
            forbid(".expect(", "return an error");
            forbid("println!(", "a library does not print");
            forbid("thread_rng", "seeds are arguments");
        }
    }
}

fn graph_rule(name: &str, allowed: &[&str], manifest: &str, found: &mut Vec<String>) {
    let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or(manifest);
    for line in dependencies.lines() {
        let Some(dependency) = line.strip_prefix("mercer-").and_then(|rest| rest.split(['.', ' ', '=']).next()) else {
            continue;
        };
        if !allowed.contains(&dependency) {
            found
                .push(format!("crates/{name}: depends on {dependency}; the crate graph of ARCHITECTURE.md forbids it"));
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
        source_rules("crates/simd/src/x.rs", "fn f() {\n    g().unwrap();\n}\n", &mut found);
        graph_rule("simd", &[], "[dependencies]\nmercer-learners.workspace = true\n", &mut found);
        source_rules("crates/simd/src/y.rs", &"//! y\n".repeat(601), &mut found);
        assert_eq!(found.len(), 4, "{found:?}");
    }
}
