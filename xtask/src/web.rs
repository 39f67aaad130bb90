//! `cargo xtask web`: the command for browsers and Node, with its page, as a package for npm.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::cross::{Compiler, Target};
use crate::{browser, product, root};

/// Features of the command in the browser: no server, and no Parquet.
const FEATURES: [&str; 3] = ["--no-default-features", "--features", "cli,plots"];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Drops files on the page in a headless Chromium, if there is one, and compares the answers
    /// with those of the command.
    #[arg(long)]
    check: bool,
}

/// Writes `target/web`.
///
/// # Errors
/// When a compiler is missing, the command does not build, or the page says something else.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    let compiler = Compiler::find(&shell, Target::Web)?;
    let build = compiler.cargo(&shell, "build").args(["--package", "mercer", "--bin", "mercer", "--profile", "web"]);
    build.args(FEATURES).run()?;
    let place = root().join("target/web");
    fs::create_dir_all(&place)?;
    for file in fs::read_dir(root().join("web"))? {
        let file = file?;
        fs::copy(file.path(), place.join(file.file_name()))?;
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(licence), place.join(licence))?;
    }
    let program = place.join("mercer.wasm");
    let made = compiler.made("web", "mercer.wasm");
    fs::copy(&made, &program).with_context(|| format!("copying {}", made.display()))?;
    let version = env!("CARGO_PKG_VERSION");
    let package = fs::read_to_string(place.join("package.json"))?;
    ensure!(package.contains(&format!("\"version\": \"{version}\"")), "web/package.json is not of version {version}");
    let (whole, packed) = sizes(&program)?;
    println!("web: {}: {whole} bytes, {packed} by gzip", program.display());
    if arguments.check {
        browser::page(&place, &product::tested()?)?;
    }
    Ok(())
}

/// The size of a file, also as a server sends it.
fn sizes(file: &Path) -> Result<(usize, usize)> {
    let bytes = fs::read(file)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    Ok((bytes.len(), gzip.finish()?.len()))
}
