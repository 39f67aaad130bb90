//! The built `mercer` command and rows to feed it, for the tasks that use it as its users do.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// The command that was given, or one that is built in release mode.
///
/// # Errors
/// When it does not build, or is not there.
pub(crate) fn given_or_built(program: Option<&Path>) -> Result<PathBuf> {
    program
        .map_or_else(|| built("release", &["--release", "--package", "mercer"]), |program| Ok(program.canonicalize()?))
}

/// The command as the tests of the workspace have built it.
///
/// # Errors
/// When it does not build.
pub(crate) fn tested() -> Result<PathBuf> {
    built("debug", &["--workspace", "--tests", "--bin", "mercer"])
}

fn built(folder: &str, what: &[&str]) -> Result<PathBuf> {
    let shell = Shell::new()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    shell.change_dir(root);
    cmd!(shell, "cargo build --quiet {what...}").run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(folder).join("mercer"))
}

/// The object that `mercer ARGUMENTS --json` prints.
///
/// # Errors
/// When the command fails, or prints something else.
pub(crate) fn json(program: &Path, arguments: &[&str]) -> Result<serde_json::Value> {
    let output = Command::new(program).args(arguments).arg("--json").output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "mercer {}: {}", arguments.join(" "), said.trim());
    serde_json::from_slice(&output.stdout).with_context(|| format!("mercer {} prints JSON", arguments.join(" ")))
}

/// Rows of four features in [−1, 1] and a smooth, noisy target whose surface drifts slowly, the
/// same for the same seed.
pub(crate) struct DriftStream {
    state: u64,
    row: u64,
}

impl DriftStream {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, row: 0 }
    }

    /// Uniform in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next row as a line of CSV.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        let ([a, b, c, d], y) = self.next();
        writeln!(out, "{a:.3},{b:.3},{c:.3},{d:.3},{y:.4}")
    }

    /// The next row with the sign of its target in the target's place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write_class(&mut self, out: &mut impl Write) -> io::Result<()> {
        let ([a, b, c, d], y) = self.next();
        writeln!(out, "{a:.3},{b:.3},{c:.3},{d:.3},{}", if y < 0.0 { -1 } else { 1 })
    }

    fn next(&mut self) -> ([f64; 4], f64) {
        // Three digits, so that making the text is not what takes the time.
        let x: [f64; 4] = std::array::from_fn(|_| (self.uniform() * 2000.0).round() / 1000.0 - 1.0);
        let drift = (self.row as f64 * 1e-6).sin();
        let y = 0.5 * (2.0 * x[0]).sin() + 0.3 * x[1] * x[2] + 0.1 * drift * x[3] + 0.1 * (self.uniform() - 0.5);
        self.row += 1;
        (x, y)
    }
}
