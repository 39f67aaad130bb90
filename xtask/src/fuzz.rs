//! `cargo xtask fuzz`: coverage-guided runs of the targets in `fuzz/`, on the stable toolchain.
//!
//! The targets are libFuzzer programs in a workspace of their own. What cargo-fuzz asks a nightly
//! compiler for is the sanitizer alone; the coverage that guides libFuzzer is an LLVM pass, which
//! stable passes on by `-C passes` and `-C llvm-args`. There is little `unsafe` code for a
//! sanitizer to watch: the two promises of `simd`, and zstd's decoder, which has a target of its
//! own; assertions and overflow checks are on instead. A C++ compiler builds libFuzzer.
//!
//! What a run finds beyond the committed corpus (`fuzz/corpus`, and the golden model files) gathers
//! in `target/fuzz/corpus`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use xshell::{Shell, cmd};

/// The targets, with where their committed corpus lies.
const TARGETS: [(&str, &str); 5] = [
    ("readers", "fuzz/corpus/readers"),
    ("model", "crates/mercer/tests/golden"),
    ("kernel", "fuzz/corpus/kernel"),
    ("settings", "fuzz/corpus/settings"),
    ("zstd", "fuzz/corpus/zstd"),
];

/// Coverage of edges with counters, and of comparisons, for code and not for build scripts.
const INSTRUMENTATION: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Executions of each target at most; 0 leaves the end to the clock
    #[arg(long, default_value_t = 0)]
    runs: u64,
    /// Only this target: readers, model, kernel, settings or zstd
    #[arg(long)]
    target: Option<String>,
}

/// Builds the targets and runs them one after the other.
///
/// # Errors
/// When one does not build, or an input was found that crashes it, hangs it or takes its memory;
/// the input's file is named.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let chosen: Vec<_> =
        TARGETS.iter().filter(|(name, _)| arguments.target.as_ref().is_none_or(|wanted| wanted == name)).collect();
    if chosen.is_empty() {
        bail!("there is no such target; there are {}", TARGETS.map(|(name, _)| name).join(", "));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    let programs = build(root)?;
    for (name, corpus) in chosen {
        let start = Instant::now();
        run_target(root, &programs.join(name), name, corpus, arguments)?;
        println!("{name}: nothing found in {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// The folder of the built targets.
fn build(root: &Path) -> Result<PathBuf> {
    let shell = Shell::new()?;
    shell.change_dir(root.join("fuzz"));
    let version = cmd!(shell, "rustc -vV").read()?;
    // With a target named, flags are not those of build scripts and macros.
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names its host")?;
    let target = root.join("target/fuzz");
    let _flags = shell.push_env("RUSTFLAGS", INSTRUMENTATION);
    cmd!(shell, "cargo build --release --quiet --target {host} --target-dir {target}").run()?;
    Ok(target.join(host).join("release"))
}

fn run_target(root: &Path, program: &Path, name: &str, corpus: &str, arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    let grown = root.join("target/fuzz/corpus").join(name);
    let artifacts = root.join("target/fuzz/artifacts").join(name);
    shell.create_dir(&grown)?;
    shell.create_dir(&artifacts)?;
    let seeds = root.join(corpus);
    let mut options = vec![
        format!("-max_total_time={}", arguments.seconds),
        format!("-artifact_prefix={}/", artifacts.display()),
        "-max_len=65536".to_owned(),
        "-timeout=20".to_owned(),
        "-rss_limit_mb=4096".to_owned(),
        "-print_final_stats=1".to_owned(),
        "-verbosity=0".to_owned(),
    ];
    if arguments.runs > 0 {
        options.push(format!("-runs={}", arguments.runs));
    }
    let ran = cmd!(shell, "{program} {options...} {grown} {seeds}").quiet().run();
    ran.with_context(|| format!("the target {name} failed; what it failed on is in {}", artifacts.display()))
}
