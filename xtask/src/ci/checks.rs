//! Checks that are one or two commands each.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::cross::{Compiler, Target};
use crate::tools;

pub(super) fn format(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo fmt --all --check").run()?)
}

/// Words that are known to be misspelt; `typos.toml` names those that are right here.
pub(super) fn spelling(shell: &Shell) -> Result<()> {
    match tools::on_path("typos").or_else(|| tools::from_pypi(shell, "typos", "1.52.0")) {
        Some(typos) => Ok(cmd!(shell, "{typos} --format brief").run()?),
        None => tools::skipped("spelling", "typos"),
    }
}

pub(super) fn clippy(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings").run()?)
}

pub(super) fn documentation(shell: &Shell) -> Result<()> {
    let _flags = shell.push_env("RUSTDOCFLAGS", "-D warnings");
    Ok(cmd!(shell, "cargo doc --workspace --all-features --no-deps --quiet").run()?)
}

/// Licences, sources and versions of the dependencies, by the rules of `deny.toml`.
pub(super) fn dependencies(shell: &Shell) -> Result<()> {
    let Some(deny) = tools::from_crates(shell, "cargo-deny", "0.20.2") else {
        return tools::skipped("dependencies", "cargo-deny");
    };
    Ok(cmd!(shell, "{deny} --all-features check bans licenses sources").quiet().run()?)
}

/// Sizes have 64 bits on the machines of most people who write this code, and 32 on some that run
/// it.
pub(super) fn narrow(shell: &Shell) -> Result<()> {
    match Compiler::find(shell, Target::Narrow) {
        // All features but the stores', whose cryptography wants a C compiler for the processor,
        // too.
        Ok(compiler) => Ok(compiler.cargo(shell, "check").args(["--quiet", "-p", "mercer"]).run()?),
        Err(missing) => {
            println!("32-bit: skipped: {missing:#}");
            Ok(())
        }
    }
}

/// A part of the script that tests the Python package, which says what it skips.
pub(super) fn python(shell: &Shell, part: &str) -> Result<()> {
    Ok(cmd!(shell, "python/ci {part}").quiet().run()?)
}

/// The recipes for other engines, which use the command and not the package.
pub(super) fn recipes(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "engines/recipes/ci").quiet().run()?)
}

/// The functions of DataFusion, in a workspace of their own.
pub(super) fn engines(shell: &Shell, arguments: &[&str]) -> Result<()> {
    Ok(cmd!(shell, "engines/ci {arguments...}").quiet().run()?)
}

/// The tests of a feature that is not in the command as it is built.
pub(super) fn stores(shell: &Shell) -> Result<()> {
    cmd!(shell, "cargo test --quiet -p mercer-readers --features stores --lib stores").quiet().run()?;
    Ok(cmd!(shell, "cargo test --quiet -p mercer --features stores --test command stores").quiet().run()?)
}

/// Another task of this program.
pub(super) fn task(shell: &Shell, arguments: &[&str]) -> Result<()> {
    let xtask = std::env::current_exe()?;
    Ok(cmd!(shell, "{xtask} {arguments...}").quiet().run()?)
}
