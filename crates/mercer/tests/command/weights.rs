//! `--weight`: a row counts as often as its weight says.

use mercer::median_width;

use crate::support::{Folder, examples};

/// Rows with the weights 0, 1 and 2.
fn weighted(rows: usize) -> (String, String) {
    let (mut told, mut repeated) = ("a,w,b,c,y\n".to_owned(), "a,b,c,y\n".to_owned());
    for (t, (x, y)) in examples(rows).iter().enumerate() {
        told.push_str(&format!("{},{},{},{},{y}\n", x[0], t % 3, x[1], x[2]));
        (0..t % 3).for_each(|_| repeated.push_str(&format!("{},{},{},{y}\n", x[0], x[1], x[2])));
    }
    (told, repeated)
}

fn numbers(lines: &str) -> Vec<f64> {
    lines.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

#[test]
fn weights_of_0_and_2_are_rows_dropped_and_repeated() {
    let (told, repeated) = weighted(120);
    let folder = Folder::new().with("w.csv", told).with("r.csv", repeated);
    let learner = "--learner krls --set lambda=0.1 --quiet";
    folder.done(&format!("train w.csv --weight w {learner} --out w.mercer"));
    folder.done(&format!("train r.csv {learner} --out r.mercer"));
    let [ours, theirs] = ["w", "r"].map(|name| numbers(&folder.done(&format!("predict r.csv --model {name}.mercer"))));
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9));
    // The median of the weighted rows is that of the repeated ones.
    let kernels = ["w", "r"].map(|name| folder.json(&format!("inspect {name}.mercer"))["kernel"].clone());
    assert_eq!(kernels[0], kernels[1]);
    let width =
        median_width(3, &examples(120).iter().enumerate().flat_map(|(t, (x, _))| x.repeat(t % 3)).collect::<Vec<_>>());
    assert_eq!(kernels[0].as_str(), Some(format!("gaussian:{width}").as_str()));
}

#[test]
fn scores_are_weighted_means() {
    let (told, _) = weighted(90);
    let folder = Folder::new().with("w.csv", told);
    let learner = "--learner krls --set lambda=0.1 --kernel gaussian:1";
    let report = folder.json(&format!("eval w.csv --weight w {learner} --predictions p.csv"));
    let rows = crate::support::predictions(&folder.path("p.csv"));
    let mean = |of: &dyn Fn(f64) -> f64, from: usize| {
        let weight = |t: usize| ((t - 1) % 3) as f64;
        let kept = || rows.iter().filter(|(t, ..)| *t > from);
        kept().map(|(t, y, made)| weight(*t) * of(made - y)).sum::<f64>()
            / kept().map(|(t, ..)| weight(*t)).sum::<f64>()
    };
    let near = |score: &serde_json::Value, expected: f64| (score.as_f64().unwrap() / expected - 1.0).abs() < 1e-12;
    assert!(near(&report["mse"], mean(&|e| e * e, 0)) && near(&report["mae"], mean(&f64::abs, 0)));
    assert!(near(&report["rmse"], mean(&|e| e * e, 0).sqrt()));
    assert!(near(&report["second_half"]["mse"], mean(&|e| e * e, 45)));
    // Row by row it is the same, and a row of weight 0 teaches nothing.
    let alone = folder.json(&format!("eval w.csv --weight 2 {learner} --block 1"));
    assert!(near(&alone["mse"], report["mse"].as_f64().unwrap()));
}

#[test]
fn weights_are_checked() {
    let folder = Folder::new().with("w.csv", "a,w,y\n1,1,2\n2,-1,3\n").with("ok.csv", "a,w,y\n1,1,2\n2,0.5,3\n");
    let learner = "--learner krls --kernel gaussian:1";
    folder.refused(1, &format!("eval w.csv --weight w {learner}"), &["line 3", "weight", "-1"]);
    folder.refused(1, &format!("eval w.csv --weight v {learner}"), &["no column \"v\""]);
    folder.refused(1, &format!("eval w.csv --weight y {learner} --target y"), &["weight"]);
    folder.done(&format!("train ok.csv --weight w {learner} --out m.mercer --quiet"));
    let said = folder.run("predict w.csv --model m.mercer --learn --quiet");
    assert!(said.code == Some(1) && said.err.contains("line 3") && said.err.contains("weight"), "{}", said.err);
    assert_eq!(folder.done("predict w.csv --model m.mercer").lines().count(), 3);
    folder.refused(2, &format!("eval diamonds --weight w {learner}"), &["--weight is for files"]);
}
