//! The features of the published crates: none of them, each by itself, and whether they are passed
//! on. Clippy has them all at once.
//!
//! Crates that have a feature are checked together, which compiles what they depend on once. That
//! could hide a crate that does not ask its dependencies for the feature where another one does, so
//! each crate's list is read for that.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::package::is_published;

/// Features of a published crate with what they switch on, and the crates it depends on.
struct Manifest {
    features: BTreeMap<String, Vec<String>>,
    dependencies: Vec<String>,
}

/// All crates without features, and what they pass on.
///
/// # Errors
/// When one does not compile, or a feature is not passed on.
pub(crate) fn none(shell: &Shell) -> Result<()> {
    let manifests = manifests(shell)?;
    let forgotten = not_passed_on(&manifests);
    ensure!(forgotten.is_empty(), "features that are not passed on:\n{}", forgotten.join("\n"));
    let packages = manifests.keys().map(|name| format!("--package={name}"));
    Ok(cmd!(shell, "cargo check --quiet --no-default-features {packages...}").run()?)
}

/// Each feature by itself.
///
/// # Errors
/// When a combination does not compile.
pub(crate) fn each(shell: &Shell) -> Result<()> {
    let manifests = manifests(shell)?;
    let mut having = BTreeMap::<&str, Vec<&str>>::new();
    for (name, Manifest { features, .. }) in &manifests {
        for feature in features.keys().filter(|feature| *feature != "default") {
            having.entry(feature).or_default().push(name);
        }
    }
    for (feature, names) in having {
        let packages = names.iter().map(|name| format!("--package={name}"));
        let each = names.iter().map(|name| format!("--features={name}/{feature}"));
        cmd!(shell, "cargo check --quiet --no-default-features {packages...} {each...}").run()?;
    }
    Ok(())
}

fn manifests(shell: &Shell) -> Result<BTreeMap<String, Manifest>> {
    let metadata = cmd!(shell, "cargo metadata --format-version 1 --no-deps").quiet().read()?;
    published(&serde_json::from_str(&metadata).context("cargo metadata is JSON")?)
}

fn published(metadata: &Value) -> Result<BTreeMap<String, Manifest>> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let manifests = packages.iter().filter(|package| is_published(package)).map(|package| {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let needed = dependencies.filter(|dependency| dependency["kind"].is_null());
        let manifest = Manifest {
            features: serde_json::from_value(package["features"].clone()).context("features are lists")?,
            dependencies: needed.map(|dependency| text(&dependency["name"])).collect(),
        };
        Ok((text(&package["name"]), manifest))
    });
    manifests.collect()
}

/// Features to add: a crate's feature has to switch on that of the same name of each crate of the
/// workspace that it depends on.
fn not_passed_on(manifests: &BTreeMap<String, Manifest>) -> Vec<String> {
    let mut forgotten = Vec::new();
    for (name, Manifest { features, dependencies }) in manifests {
        for (feature, switched) in features.iter().filter(|(feature, _)| *feature != "default") {
            let has_it = |dependency: &&String| {
                manifests.get(*dependency).is_some_and(|manifest| manifest.features.contains_key(feature))
            };
            for dependency in dependencies.iter().filter(has_it) {
                let ways = [format!("{dependency}/{feature}"), format!("{dependency}?/{feature}")];
                if !switched.iter().any(|one| ways.contains(one)) {
                    forgotten.push(format!("{name}: {feature} does not list {}", ways[0]));
                }
            }
        }
    }
    forgotten
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_feature_that_is_not_passed_on_is_found() {
        let package = |name: &str, switched: &[&str]| {
            json!({"name": name, "publish": null, "features": {"serde": switched, "default": []},
                "dependencies": [{"name": "base", "kind": null}, {"name": "other", "kind": null}, {"name": "tests", "kind": "dev"}]})
        };
        let found = |switched: &[&str]| {
            let packages = [
                package("top", switched),
                json!({"name": "base", "publish": null, "features": {"serde": []}, "dependencies": []}),
                json!({"name": "tests", "publish": null, "features": {"serde": []}, "dependencies": []}),
                json!({"name": "private", "publish": [], "features": {}, "dependencies": []}),
            ];
            let manifests = published(&json!({ "packages": packages })).unwrap();
            assert_eq!(manifests.len(), 3);
            not_passed_on(&manifests)
        };
        assert_eq!(found(&["dep:serde"]), ["top: serde does not list base/serde"]);
        assert!(found(&["base/serde"]).is_empty());
        assert!(found(&["base?/serde"]).is_empty());
    }
}
