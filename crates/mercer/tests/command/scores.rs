//! Scores of `eval`: against their formulas, over all rows, the second half and a window, with a
//! warm-up left out, beside two baselines.

use serde_json::Value;

use crate::support::{Folder, csv, examples, predictions};

type Row = (usize, f64, f64);

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        (sum, count) = (sum + value, count + 1.0);
    }
    sum / count
}

/// Mean squared and absolute error, root and R² of guesses, from the formulas.
fn formulas(pairs: &[(f64, f64)]) -> [f64; 4] {
    let mse = mean(pairs.iter().map(|(y, made)| (y - made).powi(2)));
    let centre = mean(pairs.iter().map(|(y, _)| *y));
    let spread = mean(pairs.iter().map(|(y, _)| (y - centre).powi(2)));
    [mse, mean(pairs.iter().map(|(y, made)| (y - made).abs())), mse.sqrt(), 1.0 - mse / spread]
}

fn check(scores: &Value, pairs: &[(f64, f64)], what: &str) {
    for (key, expected) in ["mse", "mae", "rmse", "r2"].into_iter().zip(formulas(pairs)) {
        let got = scores[key].as_f64().unwrap();
        assert!((got - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{what} {key}: {got} for {expected}");
    }
}

/// The scores of a report and of its baselines over the rows `from..to`, from the predictions that
/// the run wrote.
fn check_rows(scores: &Value, rows: &[Row], from: usize, to: usize) {
    let what = format!("rows {from} to {to}");
    check(scores, &rows[from..to].iter().map(|(_, y, made)| (*y, *made)).collect::<Vec<_>>(), &what);
    let before = |t: usize| mean(rows[..t].iter().map(|row| row.1));
    let guess = |guess: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        (from..to).map(|t| (rows[t].1, if t == 0 { 0.0 } else { guess(t) })).collect()
    };
    check(&scores["baselines"]["running_mean"], &guess(&before), &format!("{what}, running mean"));
    check(&scores["baselines"]["last_value"], &guess(&|t| rows[t - 1].1), &format!("{what}, last value"));
}

/// Before the first row nothing is known: `auto` does not predict it, and says so.
#[test]
fn what_auto_does_not_predict_is_not_scored() {
    let folder = Folder::new().with("data.csv", csv(&examples(60))).with("one.csv", csv(&examples(1)));
    let run = "--learner auto --set budget=20000";
    let report = folder.json(&format!("eval data.csv {run} --predictions p.csv"));
    let rows = predictions(&folder.path("p.csv"));
    check_rows(&report, &rows, 1, 60);
    check_rows(&folder.json(&format!("eval data.csv {run} --skip 20")), &rows, 20, 60);
    let text = folder.done(&format!("eval data.csv {run}"));
    assert!(text.contains("rows from 2 on") && text.contains("auto does not predict the first row"), "{text}");
    let compared = crate::support::object(&folder.done_with(&[
        "compare",
        "data.csv",
        "--json",
        "--learners",
        "auto budget=20000, krls",
    ]));
    let same = folder.json("eval data.csv --learner krls --skip 1");
    assert_eq!(compared["learners"][1]["mse"], same["mse"]);
    folder.refused(1, &format!("eval one.csv {run}"), &["one row is learnt", "give more rows"]);
}

#[test]
fn every_stretch_is_what_the_formulas_say() {
    let folder = Folder::new().with("data.csv", csv(&examples(403)));
    let run = "eval data.csv --learner krls --set lambda=0.1 --predictions p.csv";
    let report = folder.json(run);
    let rows = predictions(&folder.path("p.csv"));
    check_rows(&report, &rows, 0, 403);
    check_rows(&report["second_half"], &rows, 201, 403);
    assert_eq!(report["last_window"]["rows"].as_u64(), Some(40));
    check_rows(&report["last_window"], &rows, 363, 403);

    let report = folder.json(&format!("{run} --skip 53 --window 100 --block 7"));
    assert_eq!(predictions(&folder.path("p.csv")).len(), 403);
    let rows = predictions(&folder.path("p.csv"));
    check_rows(&report, &rows, 53, 403);
    check_rows(&report["second_half"], &rows, 228, 403);
    assert_eq!(report["last_window"]["rows"].as_u64(), Some(100));
    check_rows(&report["last_window"], &rows, 303, 403);
    let checkpoints = report["checkpoints"].as_array().unwrap();
    // The first ends while the warm-up lasts.
    assert!(checkpoints[0]["window_score"].is_null() && checkpoints[0]["cumulative_loss"] == 0.0);
    let scored: Vec<(f64, f64)> = rows[61..161].iter().map(|(_, y, made)| (*y, *made)).collect();
    assert_eq!(checkpoints[3]["t"].as_u64(), Some(161));
    assert!((checkpoints[3]["window_score"].as_f64().unwrap() - formulas(&scored)[2]).abs() < 1e-12);
    let absolute = folder.json(&format!("{run} --skip 53 --window 100 --metric mae"));
    let last = &absolute["checkpoints"][9]["window_score"];
    assert!((last.as_f64().unwrap() - report["last_window"]["mae"].as_f64().unwrap()).abs() < 1e-12);
    // A window longer than the stream is the stream.
    let whole = folder.json(&format!("{run} --window 5000"));
    assert_eq!((whole["last_window"]["rows"].as_u64(), &whole["last_window"]["mae"]), (Some(403), &whole["mae"]));
}

#[test]
fn weights_count_in_every_score() {
    let twice = |weighted: bool| -> String {
        let mut text = if weighted { "a,w,y\n".to_owned() } else { "a,y\n".to_owned() };
        for i in 0..60 {
            let (a, y) = (f64::from(i % 7), f64::from(i % 5) / 2.0);
            let heavy = i % 3 == 0;
            match weighted {
                true => text += &format!("{a},{},{y}\n", if heavy { 2 } else { 1 }),
                false => (0..if heavy { 2 } else { 1 }).for_each(|_| text += &format!("{a},{y}\n")),
            }
        }
        text
    };
    let folder = Folder::new().with("w.csv", twice(true)).with("two.csv", twice(false));
    // A learner that learns nothing: two rows of weight 1 are then one of weight 2.
    let still = "--learner kogd --kernel linear --set radius=1e-9";
    let weighted = folder.json(&format!("eval w.csv --weight w {still}"));
    let doubled = folder.json(&format!("eval two.csv {still}"));
    for key in ["mse", "mae", "rmse", "r2"] {
        let [one, two] = [&weighted, &doubled].map(|report| report[key].as_f64().unwrap());
        assert!((one - two).abs() < 1e-6, "{key}: {one} and {two}");
    }
}

/// Area under the curve by all pairs, ties counting half.
fn area(rows: &[(f64, bool)]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for (score, _) in rows.iter().filter(|row| row.1) {
        for (other, _) in rows.iter().filter(|row| !row.1) {
            pairs += 1.0;
            won += if score > other {
                1.0
            } else if score == other {
                0.5
            } else {
                0.0
            };
        }
    }
    won / pairs
}

#[test]
fn scores_of_classes_are_what_the_formulas_say() {
    let table = examples(350);
    let lines = table
        .iter()
        .map(|(x, _)| format!("{},{},{}\n", x[0], x[1], if x[0] + 0.3 * x[2] > 0.1 { "yes" } else { "no" }));
    let text: String = std::iter::once("a,b,y\n".to_owned()).chain(lines).collect();
    let folder = Folder::new().with("c.csv", text);
    let run = "eval c.csv --learner krls --set lambda=0.1 --kernel gaussian:1 --predictions p.csv";
    let columns = "--columns prediction,score,p_yes,p_no";
    let report = folder.json(&format!("{run} {columns} --skip 20 --window 90"));
    let rows: Vec<Vec<String>> =
        folder.read("p.csv").lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let check = |scores: &Value, from: usize, to: usize| {
        let rows_of = |class: &str| rows[from..to].iter().filter(|row| row[1] == class).cloned().collect::<Vec<_>>();
        let right = |rows: &[Vec<String>]| mean(rows.iter().map(|row| f64::from(u8::from(row[1] == row[2]))));
        let accuracy = right(&rows[from..to]);
        let balanced = (right(&rows_of("yes")) + right(&rows_of("no"))) / 2.0;
        let loss = mean(rows[from..to].iter().map(|row| {
            let probability: f64 = row[if row[1] == "yes" { 4 } else { 5 }].parse().unwrap();
            -probability.ln()
        }));
        let pairs: Vec<(f64, bool)> =
            rows[from..to].iter().map(|row| (row[3].parse().unwrap(), row[1] == "yes")).collect();
        for (key, expected) in
            [("accuracy", accuracy), ("balanced_accuracy", balanced), ("log_loss", loss), ("auc", area(&pairs))]
        {
            let got = scores[key].as_f64().unwrap();
            assert!((got - expected).abs() < 1e-12, "{key} of {from} to {to}: {got} for {expected}");
        }
        let before = |t: usize, class: &str| rows[..t].iter().filter(|row| row[1] == class).count();
        let majority = mean((from..to).map(|t| {
            let (yes, no) = (before(t, "yes"), before(t, "no"));
            // Of equals the one that was ahead stays.
            let ahead = (0..=t).rev().find_map(|s| {
                let (yes, no) = (before(s, "yes"), before(s, "no"));
                (yes != no).then_some(if yes > no { "yes" } else { "no" })
            });
            let guess = if yes == no { ahead } else { Some(if yes > no { "yes" } else { "no" }) };
            f64::from(u8::from(guess == Some(rows[t][1].as_str())))
        }));
        let last = mean((from..to).map(|t| f64::from(u8::from(rows[t][1] == rows[t - 1][1]))));
        let baselines = &scores["baselines"];
        for (name, expected) in [("majority_class", majority), ("last_class", last)] {
            let got = baselines[name]["accuracy"].as_f64().unwrap();
            assert!((got - expected).abs() < 1e-12, "{name} of {from} to {to}: {got} for {expected}");
        }
    };
    check(&report, 20, 350);
    check(&report["second_half"], 185, 350);
    check(&report["last_window"], 260, 350);
}

#[test]
fn the_metric_asked_for_is_the_one_that_is_shown() {
    let folder = Folder::new().with("data.csv", csv(&examples(200)));
    let all = folder.done("eval data.csv --learner krls --set lambda=0.1");
    for part in ["RMSE", "MAE", "R²", "MSE", "all rows", "second half", "last 20 rows", "running mean", "last value"] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert!(all.contains("RMSE so far") && all.contains("RMSE of last 20 rows"), "{all}");
    let one = folder.done("eval data.csv --learner krls --set lambda=0.1 --metric mae --skip 9 --window 30");
    assert!(one.contains("MAE of last 30 rows") && one.contains("rows from 10 on") && !one.contains("RMSE"), "{one}");
    // Numbers for people are short.
    let long = |word: &str| word.parse::<f64>().is_ok() && word.trim_start_matches("0.").len() > 11;
    let table = all.split("RMSE").nth(1).unwrap();
    assert!(!table.split_whitespace().any(long), "{all}");
    let intervals = folder.done("eval data.csv --learner krls --set lambda=0.1 --intervals 0.9 --metric coverage");
    assert!(intervals.contains("intervals hold") && !intervals.contains("mean width"), "{intervals}");
}

#[test]
fn what_cannot_be_scored_is_refused_in_words() {
    let folder = Folder::new().with("data.csv", csv(&examples(50))).with("c.csv", "1,a\n2,b\n3,a\n");
    folder.refused(2, "eval data.csv --learner krls --metric auc", &["--metric auc", "rmse, mae, r2", "--task class"]);
    folder.refused(2, "eval c.csv --learner krls --metric rmse", &["--metric rmse", "accuracy", "--task regression"]);
    folder.refused(2, "eval data.csv --learner krls --metric coverage", &["--intervals 0.9"]);
    folder.refused(2, "eval data.csv --learner krls --metric best", &["best", "--metric"]);
    folder.refused(
        1,
        "eval data.csv --learner krls --skip 50 --predictions p.csv",
        &["--skip 50", "none of the 50 rows"],
    );
    folder.refused(2, "eval data.csv --learner krls --skip some", &["--skip", "at least 0"]);
    folder.refused(2, "eval data.csv --learner krls --window 0", &["--window", "at least 1"]);
}

#[test]
fn a_pipe_is_scored_as_a_file_is() {
    let text = csv(&examples(300));
    let folder = Folder::new().with("data.csv", &text);
    let options = "--learner krls --set lambda=0.1 --kernel gaussian:1 --skip 10 --window 50 --metric r2";
    let file = folder.json(&format!("eval data.csv {options} --block 1"));
    let pipe = folder.json_of(text.as_bytes(), &format!("eval - --format csv {options}"));
    for key in ["mse", "r2", "baselines", "second_half", "last_window", "checkpoints"] {
        assert_eq!(file[key], pipe[key], "{key}");
    }
}
