//! `--plot`: a picture in the format that its name says, whole or not at all, whatever the result
//! looks like.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Folder, csv, examples};

fn classes(rows: usize, names: usize) -> String {
    let table = examples(rows);
    let class = |x: &[f64]| (((x[0] + 1.0) / 2.0 * names as f64) as usize).min(names - 1);
    let lines = table.iter().map(|(x, _)| format!("{},{},class {}\n", x[0], x[1], class(x)));
    std::iter::once("a,b,y\n".to_owned()).chain(lines).collect()
}

fn series(rows: usize) -> String {
    let mut text = "load,wind\n".to_owned();
    for k in 0..rows {
        let _ = writeln!(text, "{},{}", (0.3 * k as f64).sin(), (0.11 * k as f64).cos() * 100.0);
    }
    text
}

/// Pairs of a rotation that is damped.
fn pairs(rows: usize) -> String {
    let mut text = "a,b,next_a,next_b\n".to_owned();
    for (x, _) in examples(rows).iter() {
        let _ = writeln!(text, "{},{},{},{}", x[0], x[1], 0.9 * x[0] - 0.2 * x[1], 0.2 * x[0] + 0.9 * x[1]);
    }
    text
}

/// The text of a picture, which has to be one.
fn svg(folder: &Folder, name: &str) -> String {
    let text = folder.read(name);
    assert!(text.contains("<svg") && text.trim_end().ends_with("</svg>"), "{name}");
    // A file of one colour of points is not too much to look at in a browser.
    assert!(text.len() < 3_000_000, "{name}: {} bytes", text.len());
    text
}

fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in the picture");
    }
}

#[test]
fn an_evaluation_is_drawn() {
    let folder = Folder::new().with("data.csv", csv(&examples(700)));
    let run = "eval data.csv --learner krls --set lambda=0.1";
    let plain = folder.json(run);
    let drawn = folder.json(&format!("{run} --plot out.svg"));
    for key in ["mse", "second_half", "last_window", "checkpoints"] {
        assert_eq!(plain[key], drawn[key], "{key}");
    }
    has(
        &svg(&folder, "out.svg"),
        &[
            "krls on data.csv: RMSE 0.",
            "running mean",
            "last value",
            "Score of the last 70 rows",
            "Predictions beside targets",
            "Residuals",
            "prediction − target",
            "Size of the dictionary",
        ],
    );
    folder.done(&format!("{run} --intervals 0.9 --metric mae --window 33 --skip 50 --plot out.svg"));
    has(&svg(&folder, "out.svg"), &["Score of the last 33 rows", ">MAE<"]);
    folder.done(&format!("{run} --plot OUT.PNG"));
    assert_eq!(fs::read(folder.path("OUT.PNG")).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(folder.names(), ["OUT.PNG", "data.csv", "out.svg"]);
}

#[test]
fn the_same_run_gives_the_same_picture() {
    let folder = Folder::new().with("data.csv", csv(&examples(400)));
    let drawn = |options: &str| {
        folder.done(&format!("eval data.csv --learner nons-ald --plot p.svg {options}"));
        folder.read("p.svg")
    };
    let first = drawn("");
    assert_eq!(first, drawn(""));
    assert_eq!(first, drawn("--threads 2"));
}

#[test]
fn classes_are_drawn() {
    let folder = Folder::new().with("two.csv", classes(500, 2)).with("many.csv", classes(800, 30));
    folder.done("eval two.csv --learner krls --set lambda=0.1 --plot p.svg");
    has(
        &svg(&folder, "p.svg"),
        &["accuracy", "majority class", "last class", "Confusion matrix", "class 0", "Calibration", "ROC curve"],
    );
    folder.done("eval two.csv --learner krls --set lambda=0.1 --metric auc --plot p.svg");
    has(&svg(&folder, "p.svg"), &[">AUC<"]);
    folder.done("eval many.csv --learner krls --set lambda=0.1 --plot p.svg");
    has(&svg(&folder, "p.svg"), &["Confusion matrix", "others", "log loss"]);
}

#[test]
fn a_forecast_is_drawn() {
    let folder = Folder::new().with("s.csv", series(400)).with("short.csv", series(3));
    folder.done("forecast s.csv --method experts --steps 20 --intervals 0.9 --plot p.svg");
    has(&svg(&folder, "p.svg"), &["experts on s.csv: RMSE", ">load<", ">wind<", ">forecast<", "last value", "row k"]);
    let plain = folder.done("forecast short.csv --plot p.svg");
    assert!(plain.contains("Note"), "{plain}");
    svg(&folder, "p.svg");
    let piped = folder.piped(series(50).as_bytes(), "forecast - --format csv --plot q.svg");
    assert_eq!(piped.code, Some(0), "{}", piped.err);
    has(&svg(&folder, "q.svg"), &[">load<"]);
}

#[test]
fn an_operator_is_drawn() {
    let line: String = (0..200).map(|i| f64::from(i) / 100.0 - 1.0).map(|x| format!("{x},{}\n", 0.8 * x)).collect();
    let deep: String = examples(150)
        .iter()
        .map(|(x, _)| format!("{},{},{},{},{},{}\n", x[0], x[1], x[2], x[0].sin(), 0.8 * x[1].cos(), 0.7 * x[2].tanh()))
        .collect();
    let folder = Folder::new().with("p.csv", pairs(300)).with("line.csv", line).with("deep.csv", deep);
    folder.done("koopman p.csv --method sogd --set kernel=gaussian:0.7 --plot p.svg");
    has(&svg(&folder, "p.svg"), &["Koopman operator of p.csv", "unit circle", "Eigenfunction of ", ">a<", ">b<"]);
    folder.done("koopman line.csv --method sogd --set kernel=gaussian:0.5 --plot p.svg");
    has(&svg(&folder, "p.svg"), &["unit circle", "Eigenfunction of "]);
    folder.done("koopman deep.csv --plot p.svg");
    has(&svg(&folder, "p.svg"), &["unit circle", "eigenvalue ± two spreads", "Eigenfunction of "]);
    // Linear features keep no points: functions are drawn over the latest states.
    let straight = folder.done("koopman p.csv --plot p.svg --eigenfunctions f.csv");
    assert!(straight.contains("linear features"), "{straight}");
    has(&svg(&folder, "p.svg"), &["p.csv: linear features", "eigenvalue ± two spreads", "Eigenfunction of ", ">a<"]);
    assert_eq!(folder.read("f.csv").lines().count(), 301);
    folder.done("koopman deep.csv --method sogd --plot p.svg");
    has(&svg(&folder, "p.svg"), &["point, in order"]);
    folder.refused(2, "koopman p.csv --state-dim 1 --input-dim 3 --plot q.svg", &["--plot", "an action"]);
}

#[test]
fn strange_results_are_drawn_or_refused_in_words() {
    let folder = Folder::new()
        .with("one.csv", "1,2\n")
        .with("same.csv", "1,5\n1,5\n1,5\n1,5\n")
        .with("wild.csv", "0,1e150\n1,-1e150\n2,3\n3,4\n")
        .with("first.csv", (0..300).map(|i| format!("{},{}\n", i % 7, 1e6 + f64::from(i % 5))).collect::<String>())
        .with("names.csv", "a,\"say \"\"<b>\"\" & $x$\"\n1,2\n2,3\n3,4\n");
    for name in ["one.csv", "same.csv", "wild.csv", "first.csv", "names.csv"] {
        folder.done(&format!("eval {name} --learner krls --set lambda=0.1 --kernel gaussian:1 --plot p.svg"));
        svg(&folder, "p.svg");
    }
}

#[test]
fn what_is_no_picture_is_refused_before_anything_is_read() {
    let folder = Folder::new().with("data.csv", csv(&examples(30)));
    let run = "eval data.csv --learner krls";
    folder.refused(2, &format!("{run} --plot out.pdf"), &["--plot", ".svg or .png", "not in .pdf"]);
    folder.refused(2, &format!("{run} --plot out"), &["--plot", "no ending"]);
    folder.refused(2, "eval absent.csv --learner krls --plot out.gif", &[".svg or .png"]);
    folder.refused(2, &format!("{run} --plot a.svg --predictions a.svg"), &["the same file"]);
    folder.refused(1, &format!("{run} --plot no/folder.svg"), &["make the folder"]);
    folder.refused(2, &format!("{run} --plot -"), &["--plot"]);
    folder.refused(2, "forecast earth_orientation --plot out.pdf", &[".svg or .png"]);
    // A run that fails leaves an older picture as it was.
    fs::write(folder.path("old.svg"), "old").unwrap();
    fs::write(folder.path("bad.csv"), "1,2\n3,x\n4,5\n").unwrap();
    folder.refused(1, &format!("{run} --skip 30 --plot old.svg"), &["--skip"]);
    assert_eq!(folder.read("old.svg"), "old");
}

#[test]
fn memory_does_not_grow_with_the_stream() {
    // Long enough for every thinning to happen: 70,000 rows are more than the trace, the stretches
    // and the sample hold.
    let text: String = (0..70_000).map(|i| format!("{},{}\n", f64::from(i % 11), f64::from(i % 13))).collect();
    let folder = Folder::new();
    let said = folder.piped(
        text.as_bytes(),
        "eval - --format csv --learner fogd --set features=4 --kernel gaussian:1 --metric mae --window 1000 --plot p.svg",
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let text = svg(&folder, "p.svg");
    assert!(text.matches("<circle").count() < 4000, "{}", text.matches("<circle").count());
}
