//! Everything that can be wrong: the exit code, one line that says what, where and how to mend it,
//! and no file left behind.

use crate::support::{Folder, csv, examples};

/// Runs `eval FILE --learner krls --predictions out.csv` on a spoilt file.
fn spoilt(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new().with(name, bytes);
    folder.refused(1, &format!("eval {name} --learner krls --predictions out.csv"), parts);
}

/// As many good rows as make the program learn before it meets what follows.
fn good_rows() -> String {
    csv(&examples(600))
}

#[test]
fn spoilt_cells() {
    for (value, what) in [
        ("nan", "the cell has no value"),
        ("NaN", "the cell has no value"),
        ("inf", "\"inf\" is not a finite number"),
        ("-Infinity", "is not a finite number"),
        ("1e999", "\"1e999\" is not a finite number"),
        ("abc", "\"abc\" is not a number"),
        ("1,5", "has 5 cells, the first row has 4"),
    ] {
        spoilt("d.csv", good_rows() + &format!("1,{value},3,4\n"), &["d.csv, line 602", what]);
    }
    spoilt("d.csv", good_rows() + "1,2,3,\n", &["d.csv, line 602, column 4 (\"y\")", "target is missing"]);
    spoilt("d.csv", good_rows() + "1,,3,4\n", &["line 602, column 2 (\"b\")", "cell has no value"]);
    spoilt("d.csv", good_rows() + "1,2,3\n", &["line 602", "has 3 cells", "first row has 4"]);
    spoilt("d.csv", good_rows() + "1,2,x\u{1b}[31m\u{7}y,4\n", &["line 602, column 3"]);
    // Among the first rows it would be a category.
    let numbers: String = (0..300).map(|t| format!("{t}\t2\n")).collect();
    spoilt("d.tsv", numbers + "x\t3\n", &["d.tsv, line 301, column 1", "\"x\" is not a number"]);
    spoilt("d.ndjson", "{\"x\":1,\"y\":2}\n{\"x\":1}\n", &["d.ndjson, line 2", "\"y\""]);
    spoilt("d.ndjson", "{\"x\":1,\"y\":2}\n{\"x\":[1],\"y\":2}\n", &["d.ndjson, line 2", "holds a list of numbers"]);
    spoilt("d.libsvm", "1 1:2\n1 0:2\n", &["d.libsvm, line 2", "index 0"]);
    spoilt("d.libsvm", "1 1:2\n1:2\n", &["d.libsvm, line 2", "target is missing"]);
}

#[test]
fn rows_that_cannot_be_read_are_left_out_on_demand() {
    let (good, bad) = (good_rows(), "1,2,3,\n1,2,3\n");
    let mut lines: Vec<&str> = good.lines().collect();
    lines.insert(400, "7,8,x,9");
    let folder = Folder::new().with("good.csv", &good).with("bad.csv", lines.join("\n") + "\n" + bad);
    let of = |words: &str| folder.run(&format!("eval {words} --learner krls"));
    let stopped = of("bad.csv");
    assert!(stopped.code == Some(1) && stopped.err.contains("line 401") && stopped.err.contains("--on-error skip"));
    // The scores are those of the good rows, and a note says what was left out.
    let (clean, skipped) = (of("good.csv --json"), of("bad.csv --json --on-error skip"));
    let value = |said: &str, key: &str| -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(said).unwrap()[key].clone()
    };
    for key in ["rows", "mse", "second_half"] {
        assert_eq!(value(&skipped.out, key), value(&clean.out, key), "{key}");
    }
    let notes = value(&skipped.out, "notes").to_string();
    assert!(notes.contains("3 bad rows were left out") && notes.contains("line 401"), "{notes}");
    let compared = folder.run("compare bad.csv --learners krls --on-error skip");
    assert!(compared.code == Some(0) && compared.err.contains("3 bad rows were left out"), "{}", compared.err);
    // Rows in a random order are left out, too.
    let permuted = folder.run("eval bad.csv --learner krls --on-error skip --permute 1 --json");
    assert_eq!((permuted.code, value(&permuted.out, "n")), (Some(0), value(&clean.out, "n")));
    folder.refused(2, "eval bad.csv --learner krls --on-error quarantine=b.csv", &["train and predict"]);
}

#[test]
fn spoilt_files() {
    spoilt("d.csv", "", &["d.csv: is empty"]);
    spoilt("d.csv", "\n\n", &["d.csv: is empty"]);
    spoilt("d.csv", "x,y\n", &["d.csv: has a header and no row"]);
    spoilt("d.csv", "x\n1\n", &["d.csv: has too few columns"]);
    spoilt("d.csv.gz", "1,2\n", &["d.csv.gz: is not gzip"]);
    spoilt("d.csv.gz", b"\x1f\x8b\x08\x00garbage that is no gzip stream", &["d.csv.gz: the gzip data is damaged"]);
    let folder = Folder::new();
    folder.refused(1, "eval nothing.csv --learner krls", &["nothing.csv: cannot be read", "check the path"]);
    folder.refused(1, "eval nothing --learner krls", &["nothing: there is no such file", "no data set", "diamonds"]);
    folder.refused(1, "eval . --learner krls", &[".: is a folder"]);
    let folder = Folder::new().with("notes.txt", "hello");
    folder.refused(2, "eval notes.txt --learner krls", &["notes.txt", "does not tell the format", "--format"]);
    folder.refused(1, "eval notes.txt --learner krls --format csv", &["notes.txt"]);
}

#[test]
fn huge_values() {
    let huge = "1e308,-1e308\n-1e308,1e308\n1e308,1e308\n-1e308,-1e308\n";
    let folder = Folder::new().with("d.csv", huge);
    let scale = "scale the data (--scale standard)";
    folder.refused(1, "eval d.csv --learner krls --predictions o.csv", &["d.csv, line 1 (row 1)", "diverged", scale]);
    for learner in ["kogd", "aogd-ald", "kons", "sketched-kons", "nons-ald", "fogd", "nogd"] {
        folder.refused(1, &format!("eval d.csv --learner {learner}"), &["d.csv, line 1 (row 1)", scale]);
    }
    for learner in ["con-kons", "pros-n-kons"] {
        folder.refused(1, &format!("eval d.csv --learner {learner}"), &["d.csv, line ", scale]);
    }
    folder.refused(1, "eval d.csv --learner krls --kernel linear", &["d.csv, line 1", "kernel overflows"]);
    // Errors are in the target's own unit, in which their squares are too large.
    folder.refused(1, "eval d.csv --learner krls --scale standard", &["d.csv, line 1", "the squared error overflows"]);
}

#[test]
fn steps_that_diverge() {
    let folder = Folder::new().with("d.csv", good_rows());
    for learner in ["fogd", "nogd"] {
        let arguments = format!("eval d.csv --learner {learner} --set step=1e9 --predictions o.csv");
        folder.refused(1, &arguments, &["d.csv, line ", "(row ", learner, "take a smaller step"]);
        folder.refused(1, &format!("{arguments} --permute 1"), &["d.csv, line ", "(row ", learner]);
    }
    // What was scaled is not to be scaled again.
    let scaled = folder.run("eval d.csv --learner fogd --set step=1e9 --scale standard");
    assert_eq!(scaled.code, Some(1));
    assert!(scaled.err.contains("; take a smaller step\n") && !scaled.err.contains("--scale"), "{}", scaled.err);
}

#[test]
fn wrong_names_and_numbers() {
    let folder = Folder::new().with("d.csv", "1,2\n2,3\n");
    for (arguments, parts) in [
        ("evil d.csv", &["evil", "eval"][..]),
        ("eval", &["<DATA>", "mercer eval --help"]),
        ("eval d.csv --learner nons", &["\"nons\"", "is nons-ald meant?", "mercer learners"]),
        ("eval d.csv --learner krls --set gamma=1", &["no key \"gamma\"", "nu, lambda, forgetting, max_dictionary"]),
        ("eval d.csv --learner krls --set nu", &["\"nu\" is not KEY=VALUE"]),
        ("eval d.csv --learner krls --set nu=1/", &["nu must be a number ≥ 0, got \"1/\"", "mercer learners krls"]),
        ("eval d.csv --learner krls --set nu=-1", &["nu must be a number ≥ 0, got -1"]),
        ("eval d.csv --learner krls --kernel rbf:1", &["no kernel is called \"rbf:1\"", "gaussian:SIGMA"]),
        ("eval d.csv --learner krls --kernel gaussian:-1", &["width sigma must be a positive number"]),
        ("eval d.csv --learner fogd --kernel laplace:1", &["fogd cannot use the kernel laplace:1", "gaussian:SIGMA"]),
        ("eval d.csv --learner krls --format orc", &["\"orc\" is not a format", "csv, tsv, ndjson"]),
        ("eval d.csv --learner krls --scale paper", &["\"paper\" is not a scaling", "none, standard, robust or range"]),
        (
            "eval d.csv --learner krls --block 0",
            &["--block", "a block is auto or a whole number of rows from 1 to 1048576"],
        ),
        ("eval d.csv --learner krls --block many", &["a block is auto or a whole number"]),
        ("eval d.csv --learner auto --kernel linear", &["auto chooses its kernels itself; leave --kernel out"]),
        ("eval d.csv --learner experts --set members=nons", &["in members, no learner", "is nons-ald meant?"]),
        (
            "eval d.csv --learner pkawv-taylor --set degree=400 --set centre=1,2",
            &["centre has 2 numbers for 1 features"],
        ),
        ("eval d.csv --learner krls --limit 0", &["--limit", "at least 1"]),
        ("eval d.csv --learner krls --threads 0", &["--threads", "at least 1"]),
        ("eval d.csv --learner krls --seed 1.5", &["--seed", "whole number"]),
        ("eval d.csv --learner krls --frobnicate", &["--frobnicate", "mercer eval --help"]),
        ("eval diamonds --learner krls --target carat", &["--target is for files"]),
        ("learners svm", &["no learner is called \"svm\""]),
    ] {
        folder.refused(2, arguments, parts);
    }
}

#[test]
fn without_a_command_the_usual_ones_are_shown() {
    let said = Folder::new().run("");
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    for part in ["mercer inspect FILE", "mercer forecast FILE", "\nmercer: no command was given; see mercer --help\n"] {
        assert!(said.err.contains(part), "{part:?} is not in {}", said.err);
    }
}

#[test]
fn wrong_columns() {
    let folder = Folder::new().with("d.csv", "a,b,y\n1,2,3\n").with("e.libsvm", "1 1:2\n");
    folder.refused(
        1,
        "eval d.csv --learner krls --target z",
        &["no target column \"z\"", "3 columns", "\"a\", \"b\", \"y\""],
    );
    folder.refused(1, "eval d.csv --learner krls --target 4", &["no target column 4"]);
    folder.refused(1, "eval e.libsvm --learner krls --target 1", &["libsvm file has its target first"]);
}

#[test]
fn predictions_that_cannot_be_written() {
    let folder = Folder::new().with("d.csv", "1,2\n2,3\n");
    let arguments = "eval d.csv --learner krls --predictions";
    folder.refused(
        1,
        &format!("{arguments} no/such/out.csv"),
        &["no/such/out.csv: cannot be written", "make the folder no/such"],
    );
    folder.refused(1, &format!("{arguments} ."), &[".: is not a file"]);
    folder.refused(1, &format!("{arguments} ./d.csv"), &["./d.csv: is a file that is read"]);
    assert_eq!(folder.read("d.csv"), "1,2\n2,3\n");
}

#[test]
fn a_failure_leaves_the_old_predictions() {
    let folder = Folder::new().with("d.csv", good_rows() + "1,2,3,oops\n").with("out.csv", "old");
    folder.refused(1, "eval d.csv --learner krls --predictions out.csv", &["line 602"]);
    assert_eq!(folder.read("out.csv"), "old");
}

#[test]
fn addresses_are_refused_with_what_reads_them() {
    let folder = Folder::new();
    let built = [
        ("https://example.org/a.csv", "curl -sL 'https://example.org/a.csv' | mercer"),
        ("s3://bucket/day=*/part.parquet", "aws s3 cp 's3://bucket/day=*/part.parquet' - | mercer"),
    ];
    let never = [
        ("gs://bucket/a.csv", "gcloud storage cat 'gs://bucket/a.csv' | mercer"),
        ("file:///tmp/none.csv", "cat '/tmp/none.csv' | mercer"),
    ];
    if cfg!(not(feature = "stores")) {
        for (address, _) in built {
            folder.refused(1, &format!("inspect {address}"), &["build it with the feature stores"]);
        }
    }
    for (address, fetch) in built.iter().filter(|_| cfg!(not(feature = "stores"))).chain(&never) {
        folder.refused(1, &format!("fit {address} --learner ridge --out m.mercer"), &[address, "is an address", fetch]);
        folder.refused(1, &format!("inspect {address}"), &[address, "is an address", fetch]);
    }
}

#[test]
fn standard_input_that_is_not_told_enough_about() {
    let folder = Folder::new();
    let rows = "1,2\n2,3\n";
    for (arguments, parts) in [
        ("--learner krls", &["standard input", "--format"][..]),
        ("--learner krls --format libsvm", &["libsvm", "--dimension N"]),
    ] {
        folder.refused_input(2, rows, &format!("eval - {arguments}"), parts);
    }
}
