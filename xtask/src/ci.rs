//! `cargo xtask ci`: everything that must hold beside the tests, in the order in which it fails fastest.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{browser, package, tidy};

/// The families of learners, each of which builds without the others.
const LEARNERS: [&str; 3] = ["regression", "prediction", "operator"];

/// What the face of the workspace is built with, beside its default: nothing, what a library user saves models with, the rest,
/// and the command without Parquet and pictures.
const FACES: [&str; 5] = ["", "serde", "model", "arrow", "cli"];

/// A target whose sizes have 32 bits.
const NARROW: &str = "i686-unknown-linux-gnu";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only the report of a small run in a headless Chromium, if there is one; without this option all but that.
    #[arg(long)]
    browser: bool,
    /// Only the pages of the site at this address in a headless Chromium, if there is one.
    #[arg(long, value_name = "URL", conflicts_with = "browser")]
    site: Option<String>,
}

/// Formatting, the rules of the tree, lints, feature combinations, documentation and packages; or the report or a site in a browser.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.browser {
        return step("browser", browser::run);
    }
    if let Some(url) = &arguments.site {
        return step("site", || browser::site::run(url));
    }
    let shell = Shell::new()?;
    step("format", || Ok(cmd!(shell, "cargo fmt --all --check").run()?))?;
    step("tidy", tidy::run)?;
    step("clippy", || Ok(cmd!(shell, "cargo clippy --workspace --all-targets --quiet -- -D warnings").run()?))?;
    // Crates that work alone: each is checked without features and with all of them.
    for library in tidy::libraries().filter(|library| *library != "mercer") {
        let library = format!("mercer-{library}");
        step(&format!("{library} alone"), || {
            cmd!(shell, "cargo check --quiet -p {library} --no-default-features").run()?;
            Ok(cmd!(shell, "cargo clippy --quiet -p {library} --all-features -- -D warnings").run()?)
        })?;
    }
    for feature in LEARNERS {
        step(&format!("mercer-learners with {feature} alone"), || {
            Ok(cmd!(shell, "cargo check --quiet -p mercer-learners --no-default-features --features {feature}")
                .run()?)
        })?;
    }
    for features in FACES {
        step(&format!("mercer with {}", if features.is_empty() { "no feature" } else { features }), || {
            Ok(cmd!(shell, "cargo check --quiet -p mercer --no-default-features --features {features}").run()?)
        })?;
    }
    step("32 bits", || narrow(&shell))?;
    step("documentation", || {
        let _flags = shell.push_env("RUSTDOCFLAGS", "-D warnings");
        Ok(cmd!(shell, "cargo doc --workspace --no-deps --quiet").run()?)
    })?;
    step("packages", package::run)
}

/// Sizes have 64 bits on the machines of most people who write this code, and 32 on some that run it.
fn narrow(shell: &Shell) -> Result<()> {
    let here = cmd!(shell, "rustc --print target-libdir --target {NARROW}").quiet().read()?;
    if !Path::new(&here).is_dir() {
        println!(
            "the standard library of {NARROW} is not installed (rustup target add {NARROW}); nothing is checked for it"
        );
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
