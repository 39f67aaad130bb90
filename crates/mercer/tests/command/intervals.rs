//! `--intervals` of eval, train and predict, and the column `variance`.

use serde_json::Value;

use crate::support::{Folder, csv, examples};

const LEARNER: &str = "--learner krls --set lambda=0.1 --kernel gaussian:1";

/// A line of CSV whose empty cells are NaN.
fn cells(line: &str) -> Vec<f64> {
    line.split(',').map(|cell| if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() }).collect()
}

fn lines(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(cells).collect()
}

/// True if the numbers agree to rounding.
fn close(these: &[f64], those: &[f64]) -> bool {
    these.len() == those.len() && these.iter().zip(those).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

fn near(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() <= 1e-12 * expected.abs()
}

#[test]
fn eval_tells_coverage_and_width() {
    let folder = Folder::new().with("d.csv", csv(&examples(1200)));
    let report = folder.json(&format!("eval d.csv {LEARNER} --intervals 0.9 --predictions p.csv"));
    let text = folder.read("p.csv");
    assert!(text.starts_with("t,target,prediction,lower,upper\n1,"), "{text}");
    let rows = lines(&text);
    let known = |row: &&Vec<f64>| row[3].is_finite();
    assert_eq!(rows.iter().position(|row| row[3].is_finite()), Some(9));
    assert!(rows[9..].iter().all(|row| row[3] <= row[2] && row[2] <= row[4]));
    let score = |from: usize| {
        let rows: Vec<&Vec<f64>> = rows[from..].iter().filter(known).collect();
        let held = rows.iter().filter(|row| row[3] <= row[1] && row[1] <= row[4]).count();
        let width = rows.iter().map(|row| row[4] - row[3]).sum::<f64>();
        (held as f64 / rows.len() as f64, width / rows.len() as f64)
    };
    // Without noise errors fall all the time: more than the share at first is paid for by less
    // later.
    for (scores, from, gap) in [(&report, 0, 0.01), (&report["second_half"], 600, 0.03)] {
        let (coverage, width) = score(from);
        assert!(near(&scores["coverage"], coverage) && (coverage - 0.9).abs() < gap, "{scores}");
        assert!((scores["mean_width"].as_f64().unwrap() / width - 1.0).abs() < 1e-9, "{scores}");
    }
    // Blocks give what rows give, and without the option there is nothing of it.
    let alone = folder.json(&format!("eval d.csv {LEARNER} --intervals 0.9 --block 1"));
    assert_eq!(alone["coverage"], report["coverage"]);
    let without = folder.json(&format!("eval d.csv {LEARNER}"));
    assert!(without.get("coverage").is_none() && without.get("mean_width").is_none());
    assert!(folder.done(&format!("eval d.csv {LEARNER} --intervals 0.8")).contains("intervals hold"));
}

#[test]
fn local_widths_follow_the_variance() {
    // With noise, so that errors do not fall as long as there are rows.
    let noisy = |(x, y): (&[f64], f64)| format!("{},{},{},{}\n", x[0], x[1], x[2], y + 0.3 * (9999.0 * x[0]).sin());
    let text: String = examples(800).iter().map(noisy).collect();
    let folder = Folder::new().with("d.csv", format!("a,b,c,y\n{text}"));
    let columns = "--predictions p.csv --columns variance,lower,upper,size";
    let report = folder.json(&format!("eval d.csv {LEARNER} --intervals 0.9 --interval-width local {columns}"));
    assert!((report["coverage"].as_f64().unwrap() - 0.9).abs() < 0.012, "{report}");
    let text = folder.read("p.csv");
    assert!(text.starts_with("t,target,variance,lower,upper,size\n"), "{text}");
    let rows = lines(&text);
    assert!(rows[0][2].is_nan() && rows[1..].iter().all(|row| row[2] > 0.0));
    // In units of the deviation intervals change slowly, whatever the row.
    let scaled: Vec<f64> = rows[700..].iter().map(|row| (row[4] - row[3]) / row[2].sqrt()).collect();
    assert!(rows[700..].windows(2).any(|pair| pair[0][4] - pair[0][3] > 1.001 * (pair[1][4] - pair[1][3])));
    assert!(scaled.windows(2).all(|pair| (pair[1] / pair[0] - 1.0).abs() < 0.5));
    // Without intervals there is the variance all the same.
    folder.done(&format!("eval d.csv {LEARNER} --predictions v.csv --columns variance"));
    assert_eq!(lines(&folder.read("v.csv"))[5..].iter().map(|row| row[2]).collect::<Vec<_>>(), {
        rows[5..].iter().map(|row| row[2]).collect::<Vec<_>>()
    });
    let local = "--intervals 0.9 --interval-width local";
    folder.refused(2, &format!("eval d.csv --learner nons-ald {local}"), &["tells a variance", "krls"]);
    let variance = "--predictions x.csv --columns variance";
    folder.refused(2, &format!("eval d.csv --learner nons-ald {variance}"), &["tells no variance"]);
}

#[test]
fn several_targets_have_intervals_of_their_own() {
    let text: String =
        examples(700).iter().map(|(x, y)| format!("{},{},{},{y},{}\n", x[0], x[1], x[2], 10.0 * y)).collect();
    let folder = Folder::new().with("d.csv", format!("a,b,c,y,z\n{text}"));
    let report = folder.json(&format!("eval d.csv {LEARNER} --target y,z --intervals 0.8 --predictions p.csv"));
    assert!(
        folder
            .read("p.csv")
            .starts_with("t,target_y,target_z,prediction_y,prediction_z,lower_y,upper_y,lower_z,upper_z\n")
    );
    let [y, z] = [0, 1].map(|output| report["outputs"][output]["mean_width"].as_f64().unwrap());
    assert!((z / y - 10.0).abs() < 1e-6 && near(&report["mean_width"], (y + z) / 2.0), "{report}");
    folder.done(&format!("train d.csv {LEARNER} --target y,z --intervals 0.8 --out m.mercer --quiet"));
    let made = folder.done("predict d.csv --model m.mercer --intervals 0.8");
    assert!(made.starts_with("prediction_y,prediction_z,lower_y,upper_y,lower_z,upper_z\n"), "{made}");
}

#[test]
fn a_model_keeps_its_intervals() {
    let all = csv(&examples(600));
    let part = |from: usize, to: usize| {
        let rows: Vec<&str> = all.lines().skip(1).skip(from).take(to - from).collect();
        format!("{}\n{}\n", all.lines().next().unwrap(), rows.join("\n"))
    };
    let folder = Folder::new().with("all.csv", &all).with("first.csv", part(0, 400)).with("rest.csv", part(400, 600));
    for (how, width) in [("", ""), ("", "--interval-width local"), ("--scale standard", "")] {
        let intervals = format!("--intervals 0.9 {width}");
        folder.done(&format!("eval all.csv {LEARNER} {how} {intervals} --block 1 --predictions e.csv"));
        folder.done(&format!("train first.csv {LEARNER} {how} {intervals} --out m.mercer --quiet"));
        let still = folder.done("predict rest.csv --model m.mercer --intervals 0.9");
        let made = folder.done("predict rest.csv --model m.mercer --intervals 0.9 --learn --quiet");
        assert!(made.starts_with("prediction,lower,upper\n"), "{made}");
        // Predictions that are asked for come from kernel coefficients, those of learning from
        // coordinates.
        assert!(close(&lines(&still)[0], &lines(&made)[0]), "{still}\n{made}");
        if how.is_empty() {
            let expected = folder.read("e.csv");
            for (made, expected) in lines(&made).iter().zip(&lines(&expected)[400..]) {
                assert!(close(made, &expected[2..]), "{width}");
            }
        } else {
            // In the target's own units.
            let (rows, held) = (lines(&made), lines(&folder.read("rest.csv")));
            let held = rows.iter().zip(&held).filter(|(row, y)| row[1] <= y[3] && y[3] <= row[2]).count();
            assert!((140..=195).contains(&held), "{held} of 200");
        }
        // It is the file of one run, and an interrupted run goes on.
        folder.done(&format!("train all.csv {LEARNER} {how} {intervals} --out w.mercer --quiet"));
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(bytes("m.mercer") == bytes("w.mercer"), "{how} {width}");
        folder.done(&format!("train all.csv {LEARNER} {how} {intervals} --limit 100 --out r.mercer --quiet"));
        folder.done(&format!("train all.csv {LEARNER} {how} {intervals} --out r.mercer --resume --quiet"));
        assert!(bytes("r.mercer") == bytes("w.mercer"), "{how} {width}");
        let facts = folder.json("inspect m.mercer");
        assert_eq!((facts["intervals"].as_f64(), facts["tells_variance"].as_bool()), (Some(0.9), Some(true)));
        assert!((facts["intervals_hold"][0].as_f64().unwrap() - 0.9).abs() < 0.03, "{facts}");
    }
    let row = b"{\"a\":0.5,\"b\":0.1,\"c\":0.2}\n";
    let told = folder.piped(row, "predict - --format ndjson --model m.mercer --intervals 0.9");
    let object: Value = serde_json::from_str(&told.out).unwrap();
    assert!(object["lower"].as_f64().unwrap() < object["upper"].as_f64().unwrap(), "{object}");
    // Without the option the lines are as ever.
    assert!(folder.done("predict rest.csv --model m.mercer").starts_with("prediction\n"));
}

#[test]
fn a_model_without_intervals_learns_them() {
    let folder = Folder::new().with("d.csv", csv(&examples(200)));
    folder.done(&format!("train d.csv {LEARNER} --out m.mercer --quiet"));
    let refused = ["m.mercer", "without intervals", "--learn"];
    folder.refused(2, "predict d.csv --model m.mercer --intervals 0.9", &refused);
    let made = lines(&folder.done("predict d.csv --model m.mercer --intervals 0.9 --learn --quiet"));
    assert_eq!(made.iter().position(|row| row[1].is_finite()), Some(9));
    assert!(made[9..].iter().all(|row| row[1] <= row[0] && row[0] <= row[2]));
    folder.done("predict d.csv --model m.mercer --intervals 0.9");
    folder.refused(2, "predict d.csv --model m.mercer --intervals 0.8", &["hold 0.9", "--intervals 0.9"]);
    let resumed = format!("train d.csv {LEARNER} --out m.mercer --resume --quiet");
    folder.refused(1, &resumed, &["share of intervals is 0.9, not none"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new().with("d.csv", csv(&examples(50))).with("c.csv", "a,y\n1,red\n2,blue\n3,red\n4,blue\n");
    for share in ["1.5", "0", "1", "nan"] {
        folder.refused(2, &format!("eval d.csv {LEARNER} --intervals {share}"), &["--intervals", "coverage"]);
    }
    for command in ["eval c.csv", "train c.csv --quiet --out c.mercer"] {
        folder.refused(2, &format!("{command} {LEARNER} --intervals 0.9"), &["is a class", "--task regression"]);
    }
    folder.done(&format!("train c.csv {LEARNER} --out c.mercer --quiet"));
    folder.refused(2, "predict c.csv --model c.mercer --intervals 0.9", &["is a class"]);
    folder.refused(2, &format!("eval d.csv {LEARNER} --interval-width local"), &["--intervals"]);
    let lower = "--predictions x.csv --columns lower";
    folder.refused(2, &format!("eval d.csv {LEARNER} {lower}"), &["lower comes with intervals", "--intervals 0.9"]);
    folder.refused(2, &format!("eval c.csv {LEARNER} --predictions x.csv --columns variance"), &["is for numbers"]);
}

#[test]
fn classes_have_a_calibration_error() {
    let folder = Folder::new().with("d.csv", csv(&examples(400)));
    let report = folder.json("eval diamonds --learner nons-ald --limit 300 --intervals 0.9 --scale standard");
    assert!(report["coverage"].is_f64());
    let text: String =
        examples(400).iter().map(|(x, y)| format!("{},{},{}\n", x[0], x[1], u8::from(y > 0.3))).collect();
    let folder = folder.with("c.csv", format!("a,b,y\n{text}"));
    let scores = folder.json(&format!("eval c.csv {LEARNER} --predictions p.csv"));
    let (mut bins, mut rows) = (vec![(0.0, 0.0); 15], 0.0);
    for line in folder.read("p.csv").lines().skip(1) {
        // t, target, prediction, p_0, p_1, score
        let row: Vec<&str> = line.split(',').collect();
        let Ok(predicted) = row[2].parse::<usize>() else { continue };
        let Ok(confidence) = row[3 + predicted].parse::<f64>() else { continue };
        let bin = &mut bins[((confidence * 15.0) as usize).min(14)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(row[1] == row[2])));
        rows += 1.0;
    }
    let error = bins.iter().map(|(confidence, right)| (confidence - right).abs()).sum::<f64>() / rows;
    assert!((scores["calibration_error"].as_f64().unwrap() - error).abs() < 1e-12, "{scores}, {error}");
    assert!(scores["second_half"]["calibration_error"].is_f64());
}
