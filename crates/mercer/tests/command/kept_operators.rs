//! `koopman --out` and `--model`: an operator that was kept goes on as if it had never been put
//! away, or is told as it is.

use serde_json::Value;

use crate::koopman::{csv, oscillator};
use crate::support::Folder;

/// Rows `from..to` below a header.
fn part(rows: &str, from: usize, to: usize) -> String {
    let rows = rows.lines().skip(from).take(to - from);
    std::iter::once("x,v,x_next,v_next").chain(rows).map(|line| format!("{line}\n")).collect()
}

/// A report without what is told of the run alone.
fn of_the_model(mut report: Value) -> Value {
    for key in ["seconds", "full_rejections"] {
        report.as_object_mut().unwrap().remove(key).unwrap();
    }
    report
}

fn folder(rows: &str) -> Folder {
    Folder::new()
        .with("all.csv", part(rows, 0, 900))
        .with("first.csv", part(rows, 0, 431))
        .with("second.csv", part(rows, 431, 900))
        .with("q.csv", "0.5,0.25\n-1,1\n")
}

#[test]
fn half_and_half_is_one_uninterrupted_run() {
    let rows = csv(&oscillator(900));
    let folder = folder(&rows);
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    for making in [
        "--method sogd",
        "--method sogd --set kernel=gaussian:0.5 --set eta=2 --set eta_schedule=power:0.75,30 --set lambda=0.1 --set budget=0.002 --set budget_schedule=eta-squared",
        "--method sogd --set kernel=laplace:0.7 --set output_kernel=gaussian:0.6 --set dictionary_shape=rectangular --set budget=0.05 --eigen 0",
        "--method sogd --set kernel=matern32:1 --set budget_test=output-ald --set budget=0.02 --set max_dictionary=60 --set eta=0.9",
    ] {
        let eigen = if making.contains("--eigen") { "--eigen 0" } else { "" };
        let making = making.replace("--eigen 0", "");
        let whole = folder.json(&format!("koopman all.csv {making} {eigen} --predict q.csv --out whole.mercer"));
        let whole = of_the_model(whole);
        assert!(whole["dictionary_size"].as_u64().unwrap() > 10, "{whole}");
        folder.json(&format!("koopman first.csv {making} {eigen} --out m.mercer"));
        let outputs = "--predict q.csv --weights w.csv --dictionary d.csv";
        let report = folder.json(&format!("koopman second.csv --model m.mercer --out m.mercer {eigen} {outputs}"));
        assert_eq!(of_the_model(report), whole, "{making}");
        assert!(read("m.mercer") == read("whole.mercer"), "{making}: the files differ");
        // The same from a pipe.
        let piped = |name: &str, arguments: &str| {
            folder.json_of(&read(name), &format!("koopman - --format csv {arguments}"));
        };
        piped("first.csv", &format!("{making} {eigen} --out p.mercer"));
        piped("second.csv", &format!("--model p.mercer --out p.mercer {eigen}"));
        assert!(read("p.mercer") == read("whole.mercer"), "{making}: the files differ");
        // Without pairs nothing is learnt, and all is told.
        let told = folder
            .json(&format!("koopman --model m.mercer {eigen} --predict q.csv --weights v.csv --dictionary e.csv"));
        assert_eq!(of_the_model(told), whole, "{making}");
        assert_eq!((folder.read("v.csv"), folder.read("e.csv")), (folder.read("w.csv"), folder.read("d.csv")));
        assert!(folder.read("e.csv").starts_with("index,x,v,x_next,v_next\n"));
    }
}

#[test]
fn a_resumed_run_writes_the_file_of_an_uninterrupted_one() {
    let rows = csv(&oscillator(900));
    let folder =
        folder(&rows).with("broken.csv", part(&rows, 0, 610) + "1,2,x,4\n").with("other.csv", part(&rows, 1, 900));
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    // The width is that of the first rows, which a resumed run must find again.
    folder.json("koopman all.csv --method sogd --set eta=0.5 --out whole.mercer");
    folder.json("koopman first.csv --method sogd --set eta=0.5 --out m.mercer --checkpoint 100");
    folder.json("koopman all.csv --method sogd --set eta=0.5 --out m.mercer --resume");
    assert!(read("m.mercer") == read("whole.mercer"));
    let stopped = folder.run("koopman broken.csv --method sogd --set eta=0.5 --out s.mercer --checkpoint 100");
    assert_eq!(stopped.code, Some(1), "{}", stopped.err);
    assert_eq!(folder.json("inspect s.mercer")["learnt"].as_u64(), Some(610));
    folder.json("koopman all.csv --method sogd --set eta=0.5 --out s.mercer --resume --checkpoint 100");
    assert!(read("s.mercer") == read("whole.mercer"));
    for (arguments, parts) in [
        ("first.csv --set eta=0.5", &["first 900 rows are not those that m.mercer has learnt"][..]),
        ("other.csv --set eta=0.5", &["its kernel is gaussian:"]),
        ("all.csv --set eta=0.4", &["its eta is 0.5, not 0.4"]),
        ("all.csv --set eta=0.5 --set lambda=0.1", &["its lambda is 0, not 0.1"]),
        ("all.csv --set eta=0.5 --set max_dictionary=none", &["its max_dictionary is 1000, not none"]),
    ] {
        folder.refused(1, &format!("koopman {arguments} --method sogd --out m.mercer --resume"), parts);
    }
}

#[test]
fn the_model_knows_its_columns_and_is_told() {
    let rows = csv(&oscillator(900));
    let folder = folder(&rows)
        .with("swapped.csv", part(&rows, 0, 9).replacen("x,v", "v,x", 1))
        .with("bare.csv", rows.lines().take(9).map(|line| format!("{line}\n")).collect::<String>())
        .with("narrow.csv", "1,2\n2,3\n");
    folder.json("koopman first.csv --method sogd --set kernel=gaussian:0.5 --set eta=0.4 --out m.mercer");
    let facts = folder.json("inspect m.mercer");
    assert_eq!((facts["kind"].as_str(), facts["learnt"].as_u64()), (Some("operator"), Some(431)));
    assert_eq!(facts["columns"], serde_json::json!(["x", "v", "x_next", "v_next"]));
    assert_eq!(facts["parameters"]["eta"].as_str(), Some("0.4"));
    assert_eq!(facts["parameters"]["budget"].as_str(), Some("0.016000000000000004"));
    assert_eq!(folder.json("koopman bare.csv --model m.mercer")["pairs"].as_u64(), Some(440));
    let text = folder.done("koopman second.csv --model m.mercer");
    assert!(text.contains("second.csv: 900 pairs") && text.contains("469, behind 431 that the model had"), "{text}");
    let text = folder.done("koopman --model m.mercer --eigen 1");
    assert!(text.contains("Koopman operator of m.mercer: 431 pairs, x of 2 and x⁺ of 2 numbers"), "{text}");

    folder.refused(1, "koopman swapped.csv --model m.mercer", &["m.mercer: has a column \"x\" where swapped.csv"]);
    folder.refused(1, "koopman narrow.csv --model m.mercer", &["m.mercer: has 4 columns and narrow.csv has 2"]);
    folder.refused(1, "koopman all.csv --model all.csv", &["all.csv: is not a model file"]);
    folder.refused(1, "forecast all.csv --model m.mercer", &["kind operator", "mercer koopman uses it"]);
    folder.refused(
        2,
        "koopman all.csv --model m.mercer --set eta=0.3",
        &["--model", "cannot be used with", "'--set <KEY=VALUE>'"],
    );
    folder.refused(2, "koopman --model m.mercer --out n.mercer", &["PAIRS", "leave --out out"]);
    folder.refused(2, "koopman all.csv --out all.csv", &["all.csv: is read, so give another --out"]);
    folder.refused(2, "koopman all.csv --method sogd --out o --weights o", &["--weights and --out name the same file"]);
    folder.refused(1, "koopman --model m.mercer --weights m.mercer", &["m.mercer: is a file that is read"]);
    folder.refused(2, "koopman all.csv --resume", &["--out"]);
    folder.refused(2, "koopman --eigen 3", &["PAIRS"]);
}

/// The library's learner that keeps every pair is used alike.
#[test]
fn an_operator_on_all_points_goes_on_too() {
    use mercer::koopman::{DenseSogd, DenseSogdParams};
    use mercer::model::{AnyOperator, Model, Operator};
    let kernel: mercer::AnyKernel = "gaussian:0.5".parse().unwrap();
    let dense = DenseSogd::new(kernel.clone(), 2, kernel, 2, DenseSogdParams::default()).unwrap();
    let model = Operator::new(Vec::new(), AnyOperator::Dense(Box::new(dense)));
    let bytes = Model::Operator(Box::new(model)).to_bytes().unwrap();
    let rows = csv(&oscillator(900));
    let folder = folder(&rows).with("d.mercer", bytes);
    let report = folder.json("koopman first.csv --model d.mercer --out d.mercer --eigen 0");
    assert_eq!(report["dictionary_size"].as_u64(), Some(431));
    assert_eq!(folder.json("koopman second.csv --model d.mercer --eigen 0")["pairs"].as_u64(), Some(900));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_stream_with_its_operator_saved() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let rows = csv(&oscillator(900));
    let folder = folder(&rows);
    folder.json("koopman all.csv --method sogd --set kernel=gaussian:0.5 --out whole.mercer");
    let arguments =
        "koopman - --method sogd --format csv --set kernel=gaussian:0.5 --out m.mercer --checkpoint 20 --json";
    let mut child = folder
        .command(&arguments.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Every pair is learnt as it comes; the last is cut off in the middle.
    write!(stdin, "{}1,2,3", part(&rows, 0, 60)).unwrap();
    stdin.flush().unwrap();
    let begun = Instant::now();
    let learnt =
        || if folder.path("m.mercer").exists() { folder.json("inspect m.mercer")["learnt"].as_u64() } else { None };
    while learnt() != Some(60) && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(stdin);
    assert_eq!(learnt(), Some(60));
    folder.json("koopman all.csv --method sogd --set kernel=gaussian:0.5 --out m.mercer --resume");
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(read("m.mercer") == read("whole.mercer"));
}
