//! `cargo xtask audit`: what the dependencies are allowed to be, and where `unsafe` may stand.
//!
//! `deny.toml` says it for cargo-deny, which is run when it is installed (it knows advisories, too). The same rules are checked here from
//! `cargo metadata`, so that they hold on a machine without it: every licence on the list, every source the public registry,
//! one version of each crate that must not be there twice, none of those that are banned.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xshell::{Shell, cmd};

/// Licences that may be linked into a program under MIT or Apache-2.0 without more than a notice.
const LICENCES: [&str; 12] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "CC0-1.0",
    "BSL-1.0",
    "Unlicense",
    "Unicode-3.0",
];

/// Certificates of the download feature, and tools whose licence does not reach the program.
const EXCEPTIONS: [(&str, &str); 2] =
    [("webpki-roots", "CDLA-Permissive-2.0"), ("webpki-root-certs", "CDLA-Permissive-2.0")];

/// Two versions of these would be two random streams, two matrix types, two formats.
const ONE_VERSION: [&str; 7] = ["rand", "rand_chacha", "rand_distr", "faer", "pulp", "serde", "postcard"];

/// Not maintained, or in need of a C library for what a Rust crate here does.
const BANNED: [&str; 6] = ["bincode", "openssl-sys", "aws-lc-sys", "zstd-sys", "libz-sys", "serde_yaml"];

/// Where the word may stand: the promises and the prefetch of simd, and the counting allocator that no release has.
const UNSAFE: [&str; 2] = ["crates/simd/", "crates/testkit/"];

/// Checks dependencies and sources.
///
/// # Errors
/// When a rule is broken; every violation is printed.
pub(crate) fn run() -> Result<()> {
    let shell = Shell::new()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    shell.change_dir(root);
    let metadata = cmd!(shell, "cargo metadata --format-version 1 --all-features --locked").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    let mut violations = dependencies(packages);
    violations.extend(unsafe_code(root)?);
    violations.iter().for_each(|violation| println!("{violation}"));
    if cmd!(shell, "cargo deny --version").quiet().ignore_stderr().read().is_ok() {
        cmd!(shell, "cargo deny --all-features check bans licenses sources").run()?;
    } else {
        println!("cargo-deny is not installed; its rules were checked from cargo metadata, advisories were not");
    }
    if violations.is_empty() {
        println!("{} packages: licences, sources, versions and unsafe code as they should be", packages.len());
        Ok(())
    } else {
        bail!("{} rule(s) of the audit broken", violations.len())
    }
}

fn dependencies(packages: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let (name, version, licence, source) = (text("name"), text("version"), text("license"), text("source"));
        versions.entry(name).or_default().insert(version);
        if !source.is_empty() && !source.starts_with("registry+https://github.com/rust-lang/crates.io-index") {
            found.push(format!("{name} {version}: comes from {source}, not from the public registry"));
        }
        if !EXCEPTIONS.contains(&(name, licence)) && !is_allowed(licence) {
            found.push(format!("{name} {version}: its licence {licence:?} is not on the list"));
        }
        if BANNED.contains(&name) {
            found.push(format!("{name} {version}: is banned"));
        }
    }
    for name in ONE_VERSION {
        if let Some(versions) = versions.get(name).filter(|versions| versions.len() > 1) {
            let versions: Vec<_> = versions.iter().copied().collect();
            found.push(format!("{name}: is there in the versions {}", versions.join(" and ")));
        }
    }
    found
}

/// Whether an SPDX expression leaves a choice that is on the list: all of what AND joins, any of what OR joins.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // AND binds tighter than OR; of brackets only those around an alternative occur, and joined by AND they are each to be met.
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    for word in expression.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            "AND" if depth == 0 => parts.push(String::new()),
            _ => {
                let part = parts.last_mut().map_or_else(String::new, std::mem::take);
                if let Some(last) = parts.last_mut() {
                    *last = format!("{part} {word}");
                }
            }
        }
    }
    parts.iter().all(|part| {
        part.split(" OR ").any(|choice| choice.split(" AND ").all(|licence| LICENCES.contains(&licence.trim())))
    })
}

fn unsafe_code(root: &Path) -> Result<Vec<String>> {
    let mut sources = Vec::new();
    for folder in ["crates", "benches", "xtask", "fuzz"] {
        crate::tidy::collect(&root.join(folder), &mut sources)?;
    }
    let mut found = Vec::new();
    for path in sources {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let allowed = UNSAFE.iter().any(|place| name.starts_with(place)) || name.ends_with("xtask/src/audit.rs");
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code {
            if !allowed
                && ["unsafe {", "unsafe fn", "unsafe impl", "allow(unsafe_code"].iter().any(|mark| line.contains(mark))
            {
                found.push(format!("{name}:{}: unsafe code outside of simd", number + 1));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licences_are_expressions() {
        for allowed in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "Apache-2.0 WITH LLVM-exception OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 AND ISC",
            "Zlib OR Apache-2.0 OR MIT",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", "LGPL-2.1 OR GPL-2.0"] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn violations_are_found() {
        let package = |name: &str, version: &str, licence: &str, source: &str| json!({"name": name, "version": version, "license": licence, "source": source});
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let packages = [
            package("rand", "0.9.0", "MIT", registry),
            package("rand", "0.10.0", "MIT", registry),
            package("bincode", "1.0.0", "MIT", registry),
            package("closed", "1.0.0", "proprietary", registry),
            package("elsewhere", "1.0.0", "MIT", "git+https://example.org/x"),
            package("webpki-roots", "1.0.0", "CDLA-Permissive-2.0", registry),
        ];
        let found = dependencies(&packages);
        assert_eq!(found.len(), 4, "{found:#?}");
    }

    #[test]
    fn only_simd_and_the_testkit_have_unsafe_code() -> Result<()> {
        assert_eq!(unsafe_code(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?, Vec::<String>::new());
        Ok(())
    }
}
