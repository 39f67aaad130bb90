//! Programs of others that the tasks use: the one on the path, or one of the version named here,
//! installed into `target/tools` from its registry.

use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::root;

/// Where programs are installed, once for this tree.
fn folder() -> PathBuf {
    root().join("target/tools")
}

/// The first place in PATH that has a program of this name.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file())
}

/// Says that a step was left out because this program is not to be had.
pub(crate) fn skipped(step: &str, program: &str) -> Result<()> {
    println!("{step}: skipped: {program} is not installed and could not be installed");
    Ok(())
}

/// A program of PyPI, in a virtual environment of its own.
pub(crate) fn from_pypi(shell: &Shell, name: &str, version: &str) -> Option<PathBuf> {
    let place = folder().join(format!("{name}-{version}"));
    let program = place.join("bin").join(name);
    if !program.is_file() {
        cmd!(shell, "python3 -m venv {place}").quiet().ignore_stdout().ignore_stderr().run().ok()?;
        let pip = place.join("bin/pip");
        let package = format!("{name}=={version}");
        let install = cmd!(shell, "{pip} install --quiet --only-binary :all: {package}");
        install.quiet().ignore_stdout().ignore_stderr().run().ok()?;
    }
    Some(program)
}

/// A subcommand of cargo from crates.io.
pub(crate) fn from_crates(shell: &Shell, name: &str, version: &str) -> Option<PathBuf> {
    let root = folder();
    let program = root.join("bin").join(name);
    if let Some(found) = on_path(name) {
        return Some(found);
    }
    // Not optimised: it starts other programs, and is built more often than it is run.
    let _level = shell.push_env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    let target = root.join("build");
    let install = cmd!(shell, "cargo install --quiet --locked --root {root} --target-dir {target} {name}@{version}");
    install.quiet().ignore_stderr().run().ok()?;
    Some(program)
}

/// The folder of these packages of npm, installed together.
pub(crate) fn from_npm(shell: &Shell, name: &str, packages: &[&str]) -> Option<PathBuf> {
    let place = folder().join(name);
    let listed = place.join("installed");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&listed).is_ok_and(|found| found == wanted) {
        return Some(place);
    }
    let install = cmd!(shell, "npm install --silent --no-save --no-audit --no-fund --prefix {place} {packages...}");
    install.quiet().ignore_stdout().ignore_stderr().run().ok()?;
    std::fs::write(listed, wanted).ok()?;
    Some(place)
}
