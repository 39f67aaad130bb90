//! `mercer forecast`: numbers, files, standard input, and what is refused.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use mercer::forecast::{EpochSchedule, Forecaster, Forgetting, Opf, OpfParams};
use mercer::streams::{LinearSystem, SystemMatrices};
use serde_json::Value;

use crate::support::Folder;

pub(crate) const METHODS: [&str; 2] = ["opf", "experts"];

/// Two coupled outputs, a few hundred rows.
pub(crate) fn track(rows: usize) -> Vec<Vec<f64>> {
    let outputs = LinearSystem::slow_decay().simulate(rows, 4).unwrap().outputs;
    outputs.iter().map(|row| row[..2].to_vec()).collect()
}

pub(crate) fn csv(rows: &[Vec<f64>]) -> String {
    let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once("left,right\n".to_owned()).chain(rows.iter().map(line)).collect()
}

/// The rows of a file of predictions behind its header: k and the predictions.
fn rows_of(text: &str) -> (String, Vec<(usize, Vec<f64>)>) {
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_owned();
    let row = |line: &str| {
        let (k, rest) = line.split_once(',').unwrap();
        // An interval that there is not yet has no ends.
        let cell = |cell: &str| if cell.is_empty() { f64::INFINITY } else { cell.parse().unwrap() };
        (k.parse().unwrap(), rest.split(',').map(cell).collect())
    };
    (header, lines.map(row).collect())
}

/// A report without what is of one run alone: its time, and the scores beside the baselines.
pub(crate) fn without_seconds(mut report: Value) -> Value {
    let facts = report.as_object_mut().unwrap();
    assert!(facts.remove("seconds").unwrap().as_f64().unwrap() > 0.0);
    assert!(facts.remove("scores").is_some() && facts.remove("second_half").is_some());
    facts.remove("backtest");
    report
}

#[test]
fn the_report_is_what_the_library_gives() {
    let rows = track(300);
    let folder = Folder::new().with("s.csv", csv(&rows));
    let report = folder.json("forecast s.csv --method opf --gamma 0.7 --t-init 40 --lambda 1 --predictions p.csv");
    let params = OpfParams::default()
        .schedule(EpochSchedule { beta: 2.5, t_init: 40, max_lags: None })
        .lambda(1.0)
        .forgetting(Forgetting::Scalar(0.7));
    let mut opf = Opf::new(2, &params).unwrap();
    let (header, predictions) = rows_of(&folder.read("p.csv"));
    assert_eq!((header.as_str(), predictions.len()), ("k,left,right", 300));
    let (mut sum, mut own) = (0.0, [0.0; 2]);
    for (k, row) in rows.iter().enumerate() {
        opf.predict_then_observe(&[], row, &mut own).unwrap();
        assert_eq!(predictions[k], (k, own.to_vec()));
        if k > 40 {
            sum += (row[0] - own[0]).powi(2) + (row[1] - own[1]).powi(2);
        }
    }
    let total = report["sum_squared_error"].as_f64().unwrap();
    assert!((total - sum).abs() < 1e-9 * sum, "{total} {sum}");
    let mse = report["mse"].as_f64().unwrap();
    assert!((mse - sum / (2.0 * 259.0)).abs() < 1e-9 * mse, "{mse}");
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = vec!["method", "parameters", "rows", "outputs", "sum_squared_error", "mse", "epochs", "seconds"];
    expected.extend(["scores", "second_half", "notes"]);
    expected.sort_unstable();
    let mut sorted = keys;
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(report["method"], "opf");
    assert_eq!((report["rows"].as_u64(), report["outputs"].as_u64()), (Some(300), Some(2)));
    assert_eq!(report["parameters"]["gamma"].as_f64(), Some(0.7));
    // 41 … 80, 81 … 160, 161 … 320, and ⌈2.5 ln T⌉ lags.
    let epochs: Vec<(u64, u64)> = report["epochs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|epoch| (epoch["start"].as_u64().unwrap(), epoch["lags"].as_u64().unwrap()))
        .collect();
    assert_eq!(epochs, [(41, 10), (81, 11), (161, 13)]);
}

/// Beside the errors stand those of the running mean and of the last value, on the same rows.
#[test]
fn errors_stand_beside_those_of_the_baselines() {
    let mut rows = track(300);
    rows[120][1] = f64::NAN;
    let text = csv(&rows).replace("NaN", "");
    let folder = Folder::new().with("s.csv", &text);
    let report = folder.json("forecast s.csv --method opf --gamma 0.7 --t-init 40 --lambda 1 --predictions p.csv");
    let (_, predictions) = rows_of(&folder.read("p.csv"));
    for (from, key) in [(41, "scores"), (41 + 259 / 2, "second_half")] {
        let (mut count, mut sums) = (0.0, [[0.0; 2]; 3]);
        let mut seen = [Vec::new(), Vec::new()];
        for (k, row) in rows.iter().enumerate() {
            for (output, value) in row.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                let known: &mut Vec<f64> = &mut seen[output];
                let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
                let guesses = [predictions[k].1[output], mean, known.last().copied().unwrap_or(0.0)];
                if k >= from {
                    count += 1.0;
                    for (sums, guess) in sums.iter_mut().zip(guesses) {
                        sums[0] += (guess - value).powi(2);
                        sums[1] += (guess - value).abs();
                    }
                }
                known.push(*value);
            }
        }
        let scores = &report[key];
        let baselines = &scores["baselines"];
        for (found, [squared, absolute]) in
            [scores, &baselines["running_mean"], &baselines["last_value"]].into_iter().zip(sums)
        {
            for (name, expected) in
                [("mse", squared / count), ("mae", absolute / count), ("rmse", (squared / count).sqrt())]
            {
                let found = found[name].as_f64().unwrap();
                assert!((found - expected).abs() < 1e-9 * expected, "{key} {name}: {found} {expected}");
            }
        }
    }
    let [own, whole] = [&report["scores"]["mse"], &report["mse"]].map(|mse| mse.as_f64().unwrap());
    assert!((own - whole).abs() < 1e-12 * whole, "{own} {whole}");
    let text = folder.done("forecast s.csv --method opf --gamma 0.7 --t-init 40 --lambda 1");
    for line in ["rows after warm-up", "second half", "  running mean", "  last value", "RMSE", "MAE"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn every_method_forecasts() {
    let folder = Folder::new().with("s.csv", csv(&track(400)));
    for method in METHODS {
        let gamma = if method == "opf" { "--gamma 0.8" } else { "" };
        let report = folder.json(&format!("forecast s.csv --method {method} {gamma}"));
        assert_eq!(report["method"], method);
        let mse = report["mse"].as_f64().unwrap();
        assert!(mse > 50.0 && mse < 1000.0, "{method}: {mse}");
    }
    // What other methods have no use for means the grid of experts, and so does opf with γ unknown.
    let experts = without_seconds(folder.json("forecast s.csv --t-init 60"));
    assert_eq!(experts["method"], "experts");
    assert_eq!(experts["parameters"]["gamma"], "auto");
    let opf = without_seconds(folder.json("forecast s.csv --method opf --gamma auto"));
    assert_eq!((&opf["mse"], &opf["epochs"]), (&experts["mse"], &experts["epochs"]));
    // A γ alone means opf.
    assert_eq!(folder.json("forecast s.csv --gamma 0.9")["method"], "opf");
    // Options at their defaults are accepted by all.
    for method in METHODS {
        let all = "--beta 2.5 --t-init 60 --lambda auto --gamma auto";
        assert_eq!(folder.json(&format!("forecast s.csv --method {method} {all}"))["method"], method);
    }
}

/// A system that does what its input says.
pub(crate) fn driven() -> String {
    let system = LinearSystem::new(SystemMatrices {
        states: 1,
        outputs: 1,
        inputs: 1,
        a: vec![0.8],
        b: vec![1.0],
        c: vec![1.0],
        d: vec![0.0],
        q: vec![0.01],
        r: vec![0.01],
    })
    .unwrap();
    let run = system.simulate(600, 9).unwrap();
    let inputs = run.inputs.unwrap();
    let rows = inputs.iter().zip(run.outputs.iter()).map(|(u, y)| format!("{},{}\n", u[0], y[0]));
    std::iter::once("valve,level\n".to_owned()).chain(rows).collect()
}

#[test]
fn inputs_are_used_and_not_predicted() {
    let folder = Folder::new().with("s.csv", driven());
    let deaf = folder.json("forecast s.csv --gamma 0.9")["mse"].as_f64().unwrap();
    for inputs in ["valve", "1"] {
        let report = folder.json(&format!("forecast s.csv --gamma 0.9 --inputs {inputs}"));
        assert_eq!(report["outputs"].as_u64(), Some(1));
        let mse = report["mse"].as_f64().unwrap();
        assert!(mse < 0.06 && mse < deaf / 5.0, "{mse} {deaf}");
    }
    for method in METHODS.iter().filter(|method| **method != "opf") {
        assert_eq!(
            folder.json(&format!("forecast s.csv --method {method} --inputs valve"))["outputs"].as_u64(),
            Some(1)
        );
    }
    // Appended rows without outputs are forecast under their inputs.
    let future = driven() + "0.5,\n0.5,\n";
    let folder = folder.with("f.csv", future);
    folder.done("forecast f.csv --gamma 0.9 --inputs valve --predictions p.csv --quiet");
    let (_, rows) = rows_of(&folder.read("p.csv"));
    assert_eq!(rows.len(), 602);
    assert!(rows[601].1[0].is_finite());
}

#[test]
fn steps_go_beyond_the_end() {
    let rows = track(300);
    let folder = Folder::new().with("s.csv", csv(&rows)).with("t.csv", csv(&rows) + ",\n,\n,\n");
    let report = folder.json("forecast s.csv --gamma 0.8 --steps 3 --predictions p.csv");
    folder.done("forecast t.csv --gamma 0.8 --predictions q.csv --quiet");
    let forecast = report["forecast"].as_array().unwrap();
    let (_, own) = rows_of(&folder.read("p.csv"));
    let (_, missed) = rows_of(&folder.read("q.csv"));
    assert_eq!((forecast.len(), own.len(), missed.len()), (3, 303, 303));
    // Several steps ahead are predictions of rows that are missing.
    assert_eq!(own, missed);
    for (step, row) in forecast.iter().enumerate() {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert_eq!(own[300 + step], (300 + step, row));
    }
}

#[test]
fn missing_values_do_not_end_a_series() {
    let mut rows = track(500);
    for k in (100..500).step_by(7) {
        rows[k][k % 2] = f64::NAN;
    }
    let text = csv(&rows).replace("NaN", "");
    let folder = Folder::new().with("s.csv", text);
    for method in METHODS {
        let gamma = if method == "opf" { "--gamma 0.8" } else { "" };
        let report = folder.json(&format!("forecast s.csv --method {method} {gamma} --predictions p.csv"));
        assert!(report["mse"].as_f64().unwrap() < 1000.0, "{method}: {report}");
        let (_, predictions) = rows_of(&folder.read("p.csv"));
        assert!(predictions.iter().all(|(_, row)| row.iter().all(|value| value.is_finite())), "{method}");
    }
}

/// Nothing depends on the units of any column: predictions of s·y are s times those of y.
#[test]
fn units_do_not_matter() {
    let rows = track(400);
    let scaled = |left: f64, right: f64| -> Vec<Vec<f64>> {
        rows.iter().map(|row| vec![row[0] * left, row[1] * right]).collect()
    };
    let (left, right) = (2f64.powi(-20), 2f64.powi(9));
    let folder = Folder::new().with("a.csv", csv(&scaled(1.0, 1.0))).with("b.csv", csv(&scaled(left, right)));
    for arguments in ["--method experts", "--lambda auto --intervals 0.9", "--gamma 0.7", "--steps 3 --t-init 30"] {
        let lines = |file: &str| {
            folder.done(&format!("forecast {file} --predictions p.csv {arguments}"));
            rows_of(&folder.read("p.csv")).1
        };
        let (plain, other) = (lines("a.csv"), lines("b.csv"));
        assert_eq!(plain.len(), other.len());
        for ((k, a), (_, b)) in plain.iter().zip(&other) {
            // Predictions of both columns, then the intervals of one and of the other.
            let by = if a.len() == 2 { vec![left, right] } else { vec![left, right, left, left, right, right] };
            let expected: Vec<f64> = a.iter().zip(by).map(|(value, by)| value * by).collect();
            assert_eq!(&expected, b, "{arguments}: row {k}");
        }
    }
    // Numbers about 5 with noise of 0.3, in other units: no worse.
    let level =
        |s: f64| -> String { (0..500).map(|k| format!("{}\n", s * (5.0 + 0.3 * (k as f64 * 1.7).sin()))).collect() };
    let folder = folder.with("one.csv", level(1.0)).with("milli.csv", level(1e-3));
    let mse = |file: &str| folder.json(&format!("forecast {file} --method experts"))["mse"].as_f64().unwrap();
    let (one, milli) = (mse("one.csv"), mse("milli.csv") * 1e6);
    assert!(one < 1e-3 && (milli - one).abs() < 1e-3 * one, "{one} {milli}");
    let folder = folder.with("flat.csv", "0.003\n".repeat(100));
    let flat = folder.json("forecast flat.csv --steps 1")["forecast"][0][0].as_f64().unwrap();
    assert!((flat / 0.003 - 1.0).abs() < 1e-9, "{flat}");
}

/// A table of one column has its gaps as blank lines: as many predictions as rows, and time does
/// not shift.
#[test]
fn blank_lines_of_one_column_are_missing_rows() {
    let value = |k: usize| (0.3 * k as f64).sin() + 2.0;
    let gap = |k: usize| k % 9 == 4 || (100..104).contains(&k);
    let with = |missing: &str| -> String {
        let rows = (0..200).map(|k| if gap(k) { missing.to_owned() } else { value(k).to_string() });
        std::iter::once("y".to_owned()).chain(rows).map(|line| line + "\n").collect()
    };
    let folder = Folder::new().with("blank.csv", with("") + "\n\n").with("nan.csv", with("NaN"));
    let report = without_seconds(folder.json("forecast blank.csv --predictions p.csv"));
    assert_eq!(report, without_seconds(folder.json("forecast nan.csv --predictions q.csv")));
    assert_eq!((report["rows"].as_u64(), folder.read("p.csv")), (Some(200), folder.read("q.csv")));
    let said = folder.piped(with("").as_bytes(), "forecast - --format csv");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 201), "{}", said.err);
}

/// With more lags than rows there is nothing to learn from, which is told.
#[test]
fn windows_beyond_the_beginning_are_told() {
    let folder = Folder::new().with("s.csv", csv(&track(300)));
    let text = folder.done("forecast s.csv --gamma 0.7 --beta 60 --t-init 20");
    assert!(text.contains("Note: from row 21 on 183 lags reach back beyond the first row"), "{text}");
    assert!(!folder.done("forecast s.csv --gamma 0.7").contains("reach back"));
}

/// Several β are a grid with the γ.
#[test]
fn a_grid_of_windows() {
    let folder = Folder::new().with("s.csv", csv(&track(300)));
    let report = folder.json("forecast s.csv --beta 1,2.5");
    assert_eq!(report["parameters"]["beta"], serde_json::json!([1.0, 2.5]));
    // The epochs are those of the longest window.
    assert_eq!(report["epochs"], folder.json("forecast s.csv --method experts")["epochs"]);
    let (both, one) =
        (report["mse"].as_f64().unwrap(), folder.json("forecast s.csv --beta 1")["mse"].as_f64().unwrap());
    assert!(both < 1.2 * one && both != one, "{both} {one}");
    folder.refused(2, "forecast s.csv --gamma 0.7 --beta 1,2", &["one β", "--method experts"]);
}

#[test]
fn a_series_without_change_and_one_too_short() {
    let folder = Folder::new().with("flat.csv", "3\n".repeat(300)).with("short.csv", "1\n2\n4\n");
    for method in METHODS {
        let gamma = if method == "opf" { "--gamma 0.8" } else { "" };
        let flat = folder.json(&format!("forecast flat.csv --method {method} {gamma} --steps 2"));
        assert!(flat["mse"].as_f64().unwrap() < 0.01, "{method}: {flat}");
        let short = folder.json(&format!("forecast short.csv --method {method} {gamma} --steps 2"));
        assert_eq!((&short["mse"], short["sum_squared_error"].as_f64()), (&Value::Null, Some(0.0)), "{method}");
        // The warm-up predicts the last value.
        assert_eq!(short["forecast"][1][0].as_f64(), Some(4.0), "{method}");
    }
    assert!(folder.done("forecast short.csv").contains("belong to the warm-up"));
}

#[test]
fn intervals_hold_their_share() {
    let folder = Folder::new().with("s.csv", csv(&track(3000)));
    let report = folder.json("forecast s.csv --method experts --intervals 0.8 --predictions p.csv --steps 2");
    for share in report["coverage"].as_array().unwrap() {
        assert!((share.as_f64().unwrap() - 0.8).abs() < 0.03, "{report}");
    }
    let text = folder.read("p.csv");
    let (header, rows) = rows_of(&text);
    assert_eq!(header, "k,left,right,left_low,left_high,right_low,right_high");
    let row = &rows[2000].1;
    assert!(row[2] < row[0] && row[0] < row[3] && row[4] < row[1] && row[1] < row[5]);
    folder.refused(2, "forecast s.csv --intervals 1.5", &["--intervals", "coverage"]);
}

/// Each step has intervals of its own, which hold its share, and wider ones the further ahead.
#[test]
fn every_step_has_intervals() {
    let folder = Folder::new().with("s.csv", csv(&track(3000)));
    let report = folder.json("forecast s.csv --intervals 0.9 --steps 4 --gamma 0.7 --predictions p.csv --out m.mercer");
    let further = report["coverage_further"].as_array().unwrap();
    assert_eq!(further.len(), 3);
    for share in further.iter().flat_map(|step| step.as_array().unwrap()) {
        assert!((share.as_f64().unwrap() - 0.9).abs() < 0.01, "{report}");
    }
    let width = |step: usize, output: usize| {
        let ends = report["forecast_intervals"][step][output].as_array().unwrap();
        ends[1].as_f64().unwrap() - ends[0].as_f64().unwrap()
    };
    assert!((0..2).all(|output| width(3, output) > width(0, output)), "{report}");
    // The rows behind the last: their cells are those of the report.
    let (_, rows) = rows_of(&folder.read("p.csv"));
    for (step, (k, row)) in rows[3000..].iter().enumerate() {
        assert_eq!(*k, 3000 + step);
        for output in 0..2 {
            let ends = [2 + 2 * output, 3 + 2 * output].map(|place| row[place]);
            let told = [0, 1].map(|end| report["forecast_intervals"][step][output][end].as_f64().unwrap());
            assert_eq!(ends, told);
        }
    }
    // Row by row, the widths of every step stand beside it, and hold the values that come.
    let said =
        folder.piped(csv(&track(1500)).as_bytes(), "forecast - --format csv --gamma 0.7 --intervals 0.9 --steps 3");
    let (header, lines) = rows_of(&said.out);
    let expected = "k,left,right,left_low,left_high,right_low,right_high,left+2,right+2,left+2_low,left+2_high,right+2_low,right+2_high,left+3";
    assert!(header.starts_with(expected), "{header}");
    let truth = track(1500);
    for step in 0..3_usize {
        let held = |(k, row): &&(usize, Vec<f64>)| {
            let ends = [row[6 * step + 2], row[6 * step + 3]];
            truth.get(k + step).is_some_and(|y| ends[0] <= y[0] && y[0] <= ends[1])
        };
        let later: Vec<&(usize, Vec<f64>)> = lines[500..1490].iter().collect();
        let share = later.iter().copied().filter(|line| held(line)).count() as f64 / later.len() as f64;
        assert!((share - 0.9).abs() < 0.03, "{share} for {} steps", step + 1);
    }
    // Kept, they go on; further steps begin anew.
    let later = folder.json("forecast s.csv --model m.mercer --steps 5");
    assert_eq!(later["coverage_further"].as_array().unwrap().len(), 4);
    assert!(later["forecast_intervals"][4][1].is_array(), "{later}");
    folder.refused(2, "forecast s.csv --gamma 0.7 --intervals 0.9 --steps 1001", &["1000 steps", "--steps"]);
}

/// A run that is cut in two is one run, also with the forecasts that wait for their rows.
#[test]
fn intervals_of_several_steps_are_kept() {
    let text = csv(&track(400));
    let rows: Vec<&str> = text.lines().collect();
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("first.csv", rows[..150].join("\n") + "\n")
        .with("second.csv", [&rows[..1], &rows[150..]].concat().join("\n") + "\n");
    let making = "--intervals 0.8 --steps 5 --t-init 30 --gamma 0.6";
    let whole = without_seconds(folder.json(&format!("forecast all.csv {making} --out whole.mercer")));
    folder.json(&format!("forecast first.csv {making} --out half.mercer"));
    let second = folder.json("forecast second.csv --model half.mercer --out end.mercer --steps 5");
    assert_eq!(without_seconds(second), whole);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("end.mercer") == bytes("whole.mercer"));
}

/// From standard input a line comes out for each row that goes in, before the next is sent.
#[test]
fn standard_input_is_forecast_row_by_row() {
    let folder = Folder::new();
    let rows = track(80);
    let arguments = "forecast - --format csv --gamma 0.7 --t-init 20 --steps 2";
    let mut child = folder
        .command(&arguments.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut text = csv(&rows).lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
    writeln!(stdin, "{}", text.next().unwrap()).unwrap();
    stdin.flush().unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "k,left,right,left+2,right+2");
    let mut out = Vec::new();
    for (k, line) in text.enumerate() {
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with(&format!("{},", k + 1)), "{line}");
        out.push(line);
    }
    drop(stdin);
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // They are the predictions that a file gives.
    let folder = folder.with("s.csv", csv(&rows));
    folder.done("forecast s.csv --gamma 0.7 --t-init 20 --predictions p.csv");
    let (_, file) = rows_of(&folder.read("p.csv"));
    for (line, (k, row)) in out.iter().zip(&file[1..]) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!((cells[0] as usize, &cells[1..3]), (*k, &row[..]));
    }
}

#[test]
fn standard_input_gives_reports_like_a_file() {
    let text = csv(&track(300));
    let folder = Folder::new().with("s.csv", &text);
    let file = without_seconds(folder.json("forecast s.csv --method experts"));
    assert_eq!(without_seconds(folder.json_of(text.as_bytes(), "forecast - --format csv --method experts")), file);
    let said = folder.piped(text.as_bytes(), "forecast - --format csv --method experts --predictions p.csv");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    assert!(said.out.starts_with("experts on standard input: 300 rows of 2 outputs"), "{}", said.out);
    assert_eq!(folder.read("p.csv").lines().count(), 301);
    let fed = folder.piped(driven().as_bytes(), "forecast - --format csv --inputs valve --gamma 0.9");
    assert!(fed.out.starts_with("k,level\n"), "{}", fed.out);
}

#[test]
fn earth_orientation_is_built_in() {
    let folder = Folder::new();
    let report = folder.json("forecast earth_orientation --method experts --steps 7");
    assert_eq!((report["rows"].as_u64(), report["outputs"].as_u64()), (Some(7681), Some(3)));
    assert!(report["mse"].as_f64().unwrap() < 0.2, "{report}");
    folder.refused(1, "eval earth_orientation --learner krls", &["is a series and has no target", "forecast"]);
    let text = folder.done("forecast earth_orientation --gamma 0.5 --steps 1");
    assert!(text.contains("opf on earth_orientation: 7681 rows of 3 outputs") && text.contains("pole_x"), "{text}");
}

#[test]
fn arguments_that_cannot_be_right() {
    let folder = Folder::new().with("s.csv", csv(&track(100)));
    for (arguments, parts) in [
        ("--method magic", &["magic", "opf"][..]),
        ("--method experts --gamma 0.5", &["grid", "--method opf"]),
        ("--method season --gamma 0.5", &["--gamma", "opf", "leave it out"]),
        ("--method season --beta 3", &["--beta", "leave it out"]),
        ("--method slip", &["slip", "opf"]),
        ("--gamma much", &["auto or a number"]),
        ("--gamma 0", &["gamma", "got 0"]),
        ("--gamma 0.5 --lambda -1", &["lambda", "got -1"]),
        ("--t-init 0", &["t_init", "got 0"]),
        ("--beta 0", &["beta", "got 0"]),
        ("--inputs left,left", &["twice"]),
        ("--inputs left,right", &["every column is an input"]),
        ("--inputs left --steps 2", &["the inputs of 1 rows to come", "--future", "append rows"]),
        ("--steps 0", &["at least 1"]),
        ("--steps 100000000000", &["at most 1000000"]),
        ("--beta 1e6", &["coordinates must be at most 8192", "lower beta"]),
        ("--beta 1e300", &["coordinates must be at most 8192"]),
        ("--t-init 18446744073709551615", &["t_init must be at most 2^40"]),
    ] {
        folder.refused(2, &format!("forecast s.csv {arguments}"), parts);
    }
    for (column, named) in [("up", "--inputs \"up\""), ("3", "--inputs 3")] {
        folder.refused(1, &format!("forecast s.csv --inputs {column}"), &[named, "no such column", "\"left\""]);
    }
    // Long, but not too long: no room is made before it is needed.
    assert_eq!(folder.json("forecast s.csv --t-init 1000000000000")["mse"], Value::Null);
    folder.refused(2, "forecast", &["SERIES"]);
    folder.refused_input(2, "1\n", "forecast -", &["--format csv, tsv, ndjson"]);
    folder.refused_input(2, "1 1:2\n", "forecast - --format libsvm", &["libsvm"]);
    folder.refused(2, "forecast earth_orientation --format csv", &["leave --format out"]);
}

#[test]
fn spoilt_series() {
    let good = csv(&track(100));
    let folder = Folder::new()
        .with("text.csv", good.clone() + "1,x\n")
        .with("inf.csv", good.clone() + "1,inf\n")
        .with("ragged.csv", good.clone() + "1\n")
        .with("input.csv", good.clone() + "1,\n")
        .with("huge.csv", good.clone() + "1e200,1\n-1e200,1\n")
        .with("s.libsvm", "1 1:2\n");
    for (file, parts) in [
        ("text.csv", &["text.csv, line 102, column 2 (\"right\")", "\"x\" is not a number"][..]),
        ("inf.csv", &["inf.csv, line 102", "not a finite number"]),
        ("ragged.csv", &["ragged.csv, line 102", "has 1 cell"]),
        ("input.csv --inputs right", &["input.csv, line 102 (row 101)", "the input \"right\" has no value"]),
        ("huge.csv", &["huge.csv, line 10"]),
        ("none.csv", &["none.csv: cannot be read"]),
        ("none", &["none: there is no such file", "earth_orientation"]),
    ] {
        folder.refused(1, &format!("forecast {file} --predictions p.csv"), parts);
    }
    folder.refused(2, "forecast s.libsvm", &["s.libsvm", "a libsvm row has a target", "csv, tsv or ndjson"]);
    folder.refused(1, "forecast text.csv --predictions text.csv", &["is a file that is read"]);
}
