//! `--set kernels=`: learners with several kernels.

use crate::support::{Folder, csv, examples};

fn folder() -> Folder {
    Folder::new().with("d.csv", csv(&examples(300)))
}

const LEARNERS: [&str; 2] = ["mknlms-cs", "mxklms"];

/// The predictions of one pass with these settings, and the kernels that the report names.
fn pass(folder: &Folder, learner: &str, settings: &str) -> (String, Vec<String>) {
    let report = folder.json(&format!("eval d.csv --learner {learner} {settings} --predictions p.csv"));
    let kernels = report["parameters"]["kernels"].as_array().unwrap();
    (folder.read("p.csv"), kernels.iter().map(|spec| spec.as_str().unwrap().to_owned()).collect())
}

#[test]
fn commas_and_semicolons_separate() {
    let folder = folder();
    for learner in LEARNERS {
        let (by_comma, kernels) = pass(&folder, learner, "--set kernels=gaussian:0.3,gaussian:0.6");
        assert_eq!(kernels, ["gaussian:0.3", "gaussian:0.6"]);
        for list in ["gaussian:0.3;gaussian:0.6", ";gaussian:0.3;gaussian:0.6;", "gaussian:0.30,gaussian:6e-1,"] {
            assert_eq!(pass(&folder, learner, &format!("--set kernels={list}")).0, by_comma, "{learner}, {list}");
        }
        // A kernel with a comma of its own, alone or not.
        let steps = "--set eta=0.01 --set max_dictionary=20";
        for (list, expected) in [
            ("polynomial:3,1;linear", vec!["polynomial:3,1", "linear"]),
            ("polynomial:3,1;", vec!["polynomial:3,1"]),
            ("polynomial:2,linear", vec!["polynomial:2,0", "linear"]),
        ] {
            assert_eq!(pass(&folder, learner, &format!("--set kernels={list} {steps}")).1, expected, "{learner}");
        }
        // The order of kernels changes sums in their last bits only, the kernels change more.
        assert_ne!(pass(&folder, learner, "--set kernels=gaussian:0.3").0, by_comma, "{learner}");
    }
}

#[test]
fn the_default_is_the_given_kernel_at_several_widths() {
    let folder = folder();
    for learner in LEARNERS {
        let (scaled, kernels) = pass(&folder, learner, "--kernel gaussian:0.5");
        assert_eq!(kernels, ["gaussian:0.125", "gaussian:0.25", "gaussian:0.5", "gaussian:1", "gaussian:2"]);
        assert_eq!(pass(&folder, learner, "--kernel gaussian:0.5 --set kernels=auto").0, scaled);
        let listed = format!("--kernel linear --set kernels={}", kernels.join(","));
        assert_eq!(pass(&folder, learner, &listed).0, scaled, "the list alone counts");
        assert_eq!(pass(&folder, learner, "--kernel laplace:2").1, ["laplace:2"]);
        // The width of the first rows by default.
        assert_eq!(pass(&folder, learner, "").1.len(), 5);
    }
}

#[test]
fn lists_that_are_none_are_told() {
    let folder = folder();
    for learner in LEARNERS {
        for (list, parts) in [
            ("", ["kernels must be kernels separated by commas", "got \"\""]),
            (",;", ["no kernel is called \",\"", "separate kernels by commas"]),
            ("median", ["or auto", "got \"median\""]),
            ("none", ["kernels cannot be none", "such as kernels=auto"]),
            ("rbf:1,gaussian:1", ["in kernels, no kernel is called \"rbf:1\"", "use gaussian:SIGMA"]),
            ("gaussian:1,gaussian:-1", ["the width sigma must be a positive number", "separate kernels by commas"]),
            ("polynomial:3,1,linear", ["no kernel is called \"1\"", "or by ; where one has a comma of its own"]),
            ("gaussian", ["\"\" is not a number; write it like gaussian:1.5", "separate kernels by commas"]),
        ] {
            let command = format!("eval d.csv --learner {learner} --set kernels={list}");
            folder.refused(2, &command, &[learner, parts[0], parts[1]]);
        }
        folder.refused(2, &format!("eval d.csv --learner {learner} --set kernel=linear"), &["is kernels meant?"]);
        folder.refused(2, &format!("eval d.csv --learner {learner} --set eta=-1"), &["eta must be a number > 0"]);
    }
    folder.refused(2, "eval d.csv --learner mknlms-cs --set delta=-1", &["delta must be a number ≥ 0, got -1"]);
    folder.refused(2, "eval d.csv --learner mxklms --set mu=-1", &["mu must be a number ≥ 0, got -1"]);
}

#[test]
fn models_keep_their_kernels() {
    let folder = folder();
    for learner in LEARNERS {
        folder.done(&format!("train d.csv --learner {learner} --kernel gaussian:0.5 --out m.mercer --quiet"));
        let facts = folder.json("inspect m.mercer");
        let kernels = facts["parameters"]["kernels"].as_str();
        assert_eq!(kernels, Some("gaussian:0.125;gaussian:0.25;gaussian:0.5;gaussian:1;gaussian:2"), "{facts}");
    }
    // Members of a mixture are separated by semicolons, their kernels by commas.
    let members = "members=mknlms-cs kernels=gaussian:0.3,laplace:1; mxklms kernels=gaussian:0.5";
    folder.done_with(&["eval", "d.csv", "--learner", "experts", "--set", members]);
}
