//! `cargo xtask ci --only packages`: every crate can be published, and works alone.
//!
//! Cargo packs the crates and rehearses their publishing in order. Then all are checked outside
//! of the repository, from what was packed, and the programs of some READMEs are checked, built and
//! run there. Each depends on one packed crate, as a user's program would.
//!
//! `cargo package` could check the crates itself. But it unpacks them into cargo's home by name and
//! version, and finds there what an earlier run has left.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

/// Files that every packed crate holds beside its sources.
const PAPERS: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// The largest packed crate: crates.io refuses 10 MB, and the bundled data take 0.6.
const LARGEST: u64 = 1 << 20;

/// Crates that a program can depend on alone; the program is that of their README.
const ALONE: [&str; 8] = [
    "mercer-experts",
    "mercer-forecast",
    "mercer-kernels",
    "mercer-koopman",
    "mercer-learners",
    "mercer-linalg-incremental",
    "mercer-sparsify",
    "mercer-watch",
];

/// A crate that is published: its name, version and packed file.
struct PackedCrate {
    name: String,
    version: String,
    file: PathBuf,
}

impl PackedCrate {
    /// The folder that its file unpacks into.
    fn folder(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

/// Packs and checks all crates, rehearses publishing, and runs programs that depend on one of them.
///
/// # Errors
/// When a crate cannot be packed, built or published, lacks a file, or does not work alone.
pub(crate) fn run() -> Result<()> {
    let shell = Shell::new()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    shell.change_dir(root);
    let metadata = cmd!(shell, "cargo metadata --format-version 1 --no-deps").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is JSON")?;
    let (packed, private) = crates(&metadata)?;

    let _incremental = shell.push_env("CARGO_INCREMENTAL", "0");
    let private: Vec<_> = private.iter().flat_map(|name| ["--exclude", name]).collect();
    // What is not committed is packed as well: the step is for a tree at work, too.
    cmd!(shell, "cargo package --workspace {private...} --no-verify --allow-dirty --quiet").run()?;
    let rehearsal = cmd!(shell, "cargo publish --workspace --dry-run --no-verify --allow-dirty");
    let said = rehearsal.quiet().output()?.stderr;
    rehearsed(&packed, &String::from_utf8_lossy(&said))?;

    let outside = tempfile::tempdir()?;
    for krate in &packed {
        let size = fs::metadata(&krate.file).with_context(|| format!("reading {}", krate.file.display()))?.len();
        ensure!(
            size <= LARGEST,
            "{} is packed into {size} bytes, more than {LARGEST}; exclude what users need not",
            krate.name
        );
        let (file, folder) = (&krate.file, outside.path());
        // `-m`: cargo packs with dates long past, and would take the files for those of an earlier
        // run.
        cmd!(shell, "tar -xzmf {file} -C {folder}").quiet().run()?;
        complete(&outside.path().join(krate.folder()))?;
    }
    for name in ALONE {
        let krate = packed.iter().find(|krate| krate.name == name).with_context(|| format!("{name} is not packed"))?;
        let code = readme_program(&outside.path().join(krate.folder()))?;
        let folder = outside.path().join(format!("with-{name}"));
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), code)?;
        fs::write(folder.join("Cargo.toml"), program(name, &packed)?)?;
    }
    fs::write(outside.path().join("Cargo.toml"), workspace(&packed, &shell.read_file(root.join("Cargo.toml"))?)?)?;
    // The versions of the dependencies that the workspace is tested with.
    fs::copy(root.join("Cargo.lock"), outside.path().join("Cargo.lock"))?;
    let target = target(&metadata)?;
    let _outside = shell.push_dir(outside.path());
    for name in ALONE {
        cmd!(shell, "cargo check --quiet --package with-{name} --target-dir {target}").run()?;
    }
    // All at once. That each crate compiles with its own features alone is looked at inside of the
    // repository.
    cmd!(shell, "cargo check --quiet --workspace --lib --bins --target-dir {target}").run()?;
    let programs = ALONE.map(|name| format!("--package=with-{name}"));
    cmd!(shell, "cargo build --quiet {programs...} --target-dir {target}").run()?;
    for name in ALONE {
        let program = target.join(format!("debug/with-{name}"));
        cmd!(shell, "{program}").ignore_stdout().run()?;
    }
    Ok(())
}

/// The program in the README of a packed crate.
fn readme_program(folder: &Path) -> Result<String> {
    let readme = fs::read_to_string(folder.join("README.md"))
        .with_context(|| format!("reading the README of {}", folder.display()))?;
    let program = readme.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```"));
    Ok(program.with_context(|| format!("{} has no program in its README", folder.display()))?.0.to_owned())
}

/// True if a package of cargo's metadata is for others: it has a list of registries, null for any,
/// empty for `publish = false`.
pub(crate) fn is_published(package: &Value) -> bool {
    !package["publish"].as_array().is_some_and(Vec::is_empty)
}

/// The crates that are published, and the names of those that are not.
fn crates(metadata: &Value) -> Result<(Vec<PackedCrate>, Vec<String>)> {
    let (mut packed, mut private) = (Vec::new(), Vec::new());
    for package in metadata["packages"].as_array().context("cargo metadata lists packages")? {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        if is_published(package) {
            let file = target(metadata)?.join(format!("package/{name}-{version}.crate"));
            packed.push(PackedCrate { name, version, file });
        } else {
            private.push(name);
        }
    }
    Ok((packed, private))
}

fn target(metadata: &Value) -> Result<PathBuf> {
    Ok(PathBuf::from(metadata["target_directory"].as_str().context("cargo metadata names the target directory")?))
}

/// Checks that cargo says of every crate that it would upload it.
fn rehearsed(packed: &[PackedCrate], said: &str) -> Result<()> {
    for PackedCrate { name, version, .. } in packed {
        ensure!(said.contains(&format!("Uploading {name} v{version}")), "{name} would not be published:\n{said}");
    }
    if said.contains("already exists") {
        bail!("a version is published already; raise it:\n{said}")
    }
    Ok(())
}

/// Checks that the papers are there as files of their own: a link into the repository would point
/// nowhere.
fn complete(folder: &Path) -> Result<()> {
    for paper in PAPERS {
        let path = folder.join(paper);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|what| what.is_file() && what.len() > 0);
        ensure!(is_file, "{} is not packed as a file", path.display());
    }
    Ok(())
}

/// The manifest of a program that depends on one crate.
fn program(name: &str, packed: &[PackedCrate]) -> Result<String> {
    let own = packed.iter().find(|krate| krate.name == name).with_context(|| format!("{name} is not published"))?;
    Ok(format!(
        "[package]\nname = \"with-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{name} = \"{}\"\n",
        own.version
    ))
}

/// The manifest of a workspace of what was unpacked and the programs, in which no published crate
/// takes another from elsewhere. Its profile is that of the repository's manifest `own`: what that
/// has compiled of other crates is not compiled again.
fn workspace(packed: &[PackedCrate], own: &str) -> Result<String> {
    let (_, from_profile) = own.split_once("[profile.dev]").context("the workspace has a profile of its own")?;
    let (profile, _) = from_profile.split_once("[profile.release]").context("`dev` stands before `release`")?;
    let mut text =
        format!("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[profile.dev]{profile}\n[patch.crates-io]\n");
    for krate in packed {
        text.push_str(&format!("{} = {{ path = {:?} }}\n", krate.name, krate.folder()));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn published_crates_are_told_from_private_ones() {
        let metadata = json!({"target_directory": "/t", "packages": [
            {"name": "a", "version": "1.2.3", "publish": null},
            {"name": "b", "version": "1.2.3", "publish": []},
        ]});
        let (packed, private) = crates(&metadata).unwrap();
        assert_eq!(packed.len(), 1);
        assert_eq!(packed[0].file, Path::new("/t/package/a-1.2.3.crate"));
        assert_eq!(private, ["b"]);
        assert!(rehearsed(&packed, "   Uploading a v1.2.3 (/a)\nwarning: aborting upload due to dry run").is_ok());
        assert!(rehearsed(&packed, "error: no network").is_err());
    }

    #[test]
    fn a_packed_crate_has_its_papers() {
        let folder = tempfile::tempdir().unwrap();
        for paper in PAPERS {
            assert!(complete(folder.path()).is_err());
            fs::write(folder.path().join(paper), "text").unwrap();
        }
        complete(folder.path()).unwrap();
    }
}
