//! `cargo xtask ci`: everything that must hold beside the tests, in the order in which it fails
//! fastest.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{browser, features, package, root, service, tidy, tools};

/// A target whose sizes have 32 bits.
const NARROW: &str = "i686-unknown-linux-gnu";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only the report of a small run in a headless Chromium, if there is one; without this option
    /// all but that.
    #[arg(long)]
    browser: bool,
    /// Only the pages of the site at this address in a headless Chromium, if there is one.
    #[arg(long, value_name = "URL", conflicts_with = "browser")]
    site: Option<String>,
}

/// # Errors
/// The first step that fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    if arguments.browser {
        return step("browser", browser::report);
    }
    if let Some(url) = &arguments.site {
        return step("site", || browser::site(url));
    }
    step("format", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
    step("tidy", tidy::run)?;
    step("spelling", || spelling(&shell))?;
    step("clippy", || {
        Ok(cmd!(shell, "cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings").run()?)
    })?;
    step("features", || features::check(&shell))?;
    step("32 bits", || narrow(&shell))?;
    step("documentation", || {
        let _flags = shell.push_env("RUSTDOCFLAGS", "-D warnings");
        Ok(cmd!(shell, "cargo doc --workspace --all-features --no-deps --quiet").run()?)
    })?;
    step("dependencies", || dependencies(&shell))?;
    step("service", || service::run(&shell))?;
    step("packages", package::run)
}

/// Words that are known to be misspelt; `typos.toml` names those that are right here.
fn spelling(shell: &Shell) -> Result<()> {
    match tools::on_path("typos").or_else(|| tools::from_pypi(shell, "typos", "1.52.0")) {
        Some(typos) => Ok(cmd!(shell, "{typos} --format brief").run()?),
        None => tools::skipped("spelling", "typos"),
    }
}

/// Licences, sources and versions of the dependencies, by the rules of `deny.toml`.
fn dependencies(shell: &Shell) -> Result<()> {
    let Some(deny) = tools::from_crates(shell, "cargo-deny", "0.20.2") else {
        return tools::skipped("dependencies", "cargo-deny");
    };
    Ok(cmd!(shell, "{deny} --all-features check bans licenses sources").quiet().run()?)
}

/// Sizes have 64 bits on the machines of most people who write this code, and 32 on some that run
/// it.
fn narrow(shell: &Shell) -> Result<()> {
    let here = cmd!(shell, "rustc --print target-libdir --target {NARROW}").quiet().read()?;
    if !Path::new(&here).is_dir() {
        println!("32 bits: skipped: no standard library of {NARROW} (rustup target add {NARROW})");
        return Ok(());
    }
    Ok(cmd!(shell, "cargo check --quiet -p mercer --all-features --target {NARROW}").run()?)
}

fn step(name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    run().with_context(|| format!("the step '{name}' failed"))?;
    println!("{name}: ok ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}
