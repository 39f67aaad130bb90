//! The steps of `cargo xtask ci` in the order in which they fail fastest, and what calls for each.

use anyhow::Result;
use xshell::Shell;

use super::checks;
use crate::{browser, features, package, service, tidy};

/// One check.
pub(super) struct CiStep {
    pub(super) name: &'static str,
    /// The statement that it holds.
    about: &'static str,
    /// Files, folders, and patterns with one star. A change of one of them calls for the step;
    /// without any, every change does.
    pub(super) inputs: &'static [&'static str],
    pub(super) run: fn(&Shell) -> Result<()>,
}

impl CiStep {
    /// True if the step takes long, and this file is among its inputs.
    pub(super) fn is_called_for(&self, file: &str) -> bool {
        self.inputs.iter().any(|input| match input.split_once('*') {
            Some((start, end)) => file.starts_with(start) && file.ends_with(end),
            None => file == *input || file.strip_prefix(input).is_some_and(|rest| rest.starts_with('/')),
        })
    }
}

/// A check for every change.
const fn always(name: &'static str, about: &'static str, run: fn(&Shell) -> Result<()>) -> CiStep {
    CiStep { name, about, inputs: &[], run }
}

/// A check that takes long.
const fn seldom(
    name: &'static str,
    about: &'static str,
    inputs: &'static [&'static str],
    run: fn(&Shell) -> Result<()>,
) -> CiStep {
    CiStep { name, about, inputs, run }
}

pub(super) const STEPS: [CiStep; 26] = [
    always("format", "rustfmt has nothing to change", checks::format),
    always("tidy", "the rules of the tree", |_| tidy::run()),
    always("spelling", "no misspelt word that typos knows", checks::spelling),
    always("clippy", "no warning in any target, with all features", checks::clippy),
    always("documentation", "no warning of rustdoc, no broken link", checks::documentation),
    always("features", "published crates compile without features and pass them on", features::none),
    always("service", "the service starts, answers and ends", service::answers),
    always("python", "the wheel: its own tests, examples and types", |shell| checks::python(shell, "tests")),
    seldom(
        "each-feature",
        "published crates compile with each feature alone",
        &["crates/*.rs", "datasets/*.rs", "*/Cargo.toml"],
        features::each,
    ),
    seldom(
        "32-bit",
        "the command compiles where sizes have 32 bits",
        &["crates/*.rs", "datasets/*.rs", "Cargo.lock"],
        checks::narrow,
    ),
    seldom(
        "dependencies",
        "licences, sources and versions of other crates",
        &["Cargo.lock", "deny.toml", "*/Cargo.toml"],
        checks::dependencies,
    ),
    seldom(
        "packages",
        "each crate is packed, published in a rehearsal, and used alone by the program of its README",
        &["Cargo.toml", "*/Cargo.toml", "*/README.md", "xtask/src/package.rs"],
        |_| package::run(),
    ),
    seldom(
        "contract",
        "the service keeps its OpenAPI document; the unit and the container start it",
        &["crates/serve", "crates/cli/src/serve", "crates/cli/src/serve.rs", "docs/serving"],
        service::contract,
    ),
    seldom(
        "page",
        "the page of the service in a browser tells what the service answers",
        &["crates/serve", "crates/cli/src/serve", "crates/cli/src/serve.rs", "xtask/browser"],
        service::page,
    ),
    seldom(
        "report",
        "the report of a small run in a browser",
        &["crates/experiments", "crates/plots", "docs/papers", "xtask/browser"],
        |_| browser::report(),
    ),
    seldom(
        "guide",
        "the commands of the guide print what it shows, and draw its pictures",
        &[
            "GUIDE.md",
            "docs/bakery.py",
            "crates/watch",
            "crates/plots",
            "crates/cli/src/watch",
            "crates/cli/src/explain",
        ],
        |shell| checks::task(shell, &["guide", "--check"]),
    ),
    seldom(
        "web",
        "the command in WebAssembly gives the command's answers on its page",
        &["web", "crates/cli", "crates/readers", "xtask/browser", "xtask/src/web.rs"],
        |shell| checks::task(shell, &["web", "--check"]),
    ),
    seldom(
        "wheel",
        "the package as pip builds it for users: tests, examples and types",
        &["python", "crates/python"],
        |shell| checks::python(shell, "wheel"),
    ),
    seldom(
        "sktime",
        "the forecasters of sktime",
        &["python/mercer", "python/tests/test_sktime.py", "crates/python", "crates/forecast"],
        |shell| checks::python(shell, "sktime"),
    ),
    seldom(
        "site",
        "the scripts of the gallery, and all pages of the site in a browser",
        &["docs", "python/docs", "python/mercer", "README.md", "GUIDE.md", "xtask/browser"],
        |shell| checks::python(shell, "site"),
    ),
    seldom(
        "stores",
        "objects of stores are read by their addresses",
        &["crates/readers", "crates/cli/src/data", "crates/cli/src/fit"],
        checks::stores,
    ),
    seldom(
        "engines-check",
        "the functions of DataFusion compile, without a warning",
        &[
            "engines",
            "crates/auto/src",
            "crates/core/src",
            "crates/encoding/src",
            "crates/experts/src",
            "crates/forecast/src",
            "crates/kernels/src",
            "crates/koopman/src",
            "crates/learners/src",
            "crates/linalg-incremental/src",
            "crates/mercer/src",
            "crates/readers/src",
            "crates/registry/src",
            "crates/session/src",
            "crates/simd/src",
            "crates/sparsify/src",
            "crates/streams/src",
            "crates/watch/src",
            "datasets/src",
        ],
        |shell| checks::engines(shell, &["check"]),
    ),
    seldom(
        "engines",
        "the functions of DataFusion make the models of one pass",
        &["engines/datafusion", "engines/Cargo.lock", "engines/ci", "crates/session", "docs/scale.md"],
        |shell| checks::engines(shell, &[]),
    ),
    seldom(
        "recipes",
        "Spark, Dask, Ray and DuckDB add up to one fit; the lines of docs/scale.md",
        &["engines/recipes", "crates/cli", "crates/encoding", "crates/readers", "docs/scale.md"],
        checks::recipes,
    ),
    seldom(
        "fuzz",
        "guided fuzzing of readers, model files, kernels and settings, a minute each",
        &["fuzz", "crates/readers", "crates/encoding", "crates/kernels", "crates/registry", "crates/session"],
        |shell| checks::task(shell, &["fuzz"]),
    ),
    seldom(
        "faults",
        "runs and services that are killed lose nothing; forged model files harm nobody",
        &["crates/serve", "crates/cli", "xtask/src/faults", "xtask/src/faults.rs"],
        |shell| checks::task(shell, &["faults", "--kills", "20", "--forged", "200"]),
    ),
];

/// The steps as a table of Markdown.
pub(super) fn table() -> String {
    let mut table = String::from("| step | it holds that | called for by |\n|---|---|---|\n");
    for CiStep { name, about, inputs, .. } in &STEPS {
        let called = match inputs {
            [] => "every change".to_owned(),
            inputs => inputs.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(", "),
        };
        table.push_str(&format!("| {name} | {about} | {called} |\n"));
    }
    table
}
