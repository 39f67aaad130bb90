//! Several targets at once.

use crate::support::{Folder, examples};

fn folder(rows: usize) -> Folder {
    let mut text = "a,b,u,c,v\n".to_owned();
    for (x, y) in examples(rows).iter() {
        text.push_str(&format!("{},{},{y},{},{}\n", x[0], x[1], x[2], 100.0 * (x[0] - x[1])));
    }
    Folder::new().with("m.csv", text)
}

fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// The same numbers as any country writes them give the same model, and data of one the predictions
/// of another.
#[test]
fn targets_may_be_written_as_features_are() {
    let number = |t: usize| (t * 37 % 60) as f64 * 100.0 + 0.25;
    let (mut plain, mut american, mut german) = (String::from("x,y\n"), String::from("x,y\n"), String::from("x;y\n"));
    for t in 0..120 {
        let (whole, grouped) = (number(t).trunc(), |mark: &str| match number(t) as usize {
            whole if whole < 1000 => whole.to_string(),
            whole => format!("{}{mark}{:03}", whole / 1000, whole % 1000),
        });
        plain += &format!("{},{whole}.25\n", t % 60);
        american += &format!("{},\"${}.25\"\n", t % 60, grouped(","));
        german += &format!("{};{},25 €\n", t % 60, grouped("."));
    }
    let folder = Folder::new().with("plain.csv", plain).with("us.csv", american).with("de.csv", german);
    let learner = "--learner krls --kernel gaussian:3";
    let expected = folder.json(&format!("eval plain.csv {learner}"))["mse"].clone();
    for file in ["us.csv", "de.csv"] {
        let said = folder.run(&format!("eval {file} {learner} --json"));
        let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!((&report["task"], &report["mse"]), (&"regression".into(), &expected), "{file}");
        assert!(said.err.contains("column \"y\": target or weight, written with"), "{}", said.err);
        assert_eq!(folder.json(&format!("inspect {file}"))["task"], "regression");
        folder.run(&format!("train {file} {learner} --out {file}.mercer --quiet"));
        let predictions = folder.done(&format!("predict plain.csv --model {file}.mercer"));
        assert_eq!(predictions, folder.done("predict plain.csv --model us.csv.mercer"));
    }
    let doubtful = "x,y\n1,\"$1,234\"\n2,\"$5,678\"\n";
    let folder = folder.with("doubtful.csv", doubtful);
    folder.refused(
        1,
        &format!("eval doubtful.csv {learner}"),
        &["column \"y\": \"$1,234\" may be read as two numbers"],
    );
}

#[test]
fn a_vector_is_learnt_as_its_parts() {
    let folder = folder(150);
    for scale in ["", " --scale standard"] {
        let learner = format!("--learner krls --set lambda=0.1 --kernel gaussian:1{scale}");
        let both = folder.json(&format!("eval m.csv {learner} --target v,u --predictions p.csv"));
        let text = folder.read("p.csv");
        assert!(text.starts_with("t,target_v,target_u,prediction_v,prediction_u\n"), "{text}");
        let mut mse = 0.0;
        for (place, (one, other)) in [("v", "u"), ("u", "v")].into_iter().enumerate() {
            let report =
                folder.json(&format!("eval m.csv {learner} --target {one} --ignore {other} --predictions 1.csv"));
            for (ours, theirs) in rows(&text).iter().zip(rows(&folder.read("1.csv"))) {
                assert_eq!(ours[1 + place], theirs[1]);
                assert!((ours[3 + place] - theirs[2]).abs() <= 1e-9 * theirs[2].abs().max(1.0));
            }
            let output = &both["outputs"][place];
            assert_eq!(output["name"].as_str(), Some(one));
            assert!((output["r2"].as_f64().unwrap() - report["r2"].as_f64().unwrap()).abs() < 1e-9);
            mse += report["mse"].as_f64().unwrap() / 2.0;
        }
        assert!((both["mse"].as_f64().unwrap() / mse - 1.0).abs() < 1e-9);
        assert!(both["error_rate"].is_null());
    }
    let said = folder.done("eval m.csv --learner krls --target v,u");
    assert!(said.contains("v: mean squared error ") && said.contains(", R² "), "{said}");
}

#[test]
fn a_model_of_several_targets_goes_on() {
    let folder = folder(120);
    let text = folder.read("m.csv");
    let lines: Vec<&str> = text.lines().collect();
    let part = |from: usize, to: usize| format!("{}\n{}\n", lines[0], lines[from..to].join("\n"));
    let folder = folder.with("first.csv", part(1, 71)).with("rest.csv", part(71, 121)).with("x.csv", "c,a,b\n1,2,3\n");
    let learner = "--learner krls --set lambda=0.1 --kernel gaussian:1 --quiet";
    folder.done(&format!("train m.csv --target v,u {learner} --out all.mercer"));
    folder.done(&format!("train first.csv --target v,u {learner} --out m.mercer"));
    let made = folder.done("predict rest.csv --model m.mercer --learn --quiet");
    assert!(made.starts_with("prediction_v,prediction_u\n"), "{made}");
    assert_eq!(std::fs::read(folder.path("all.mercer")).unwrap(), std::fs::read(folder.path("m.mercer")).unwrap());
    assert_eq!(folder.done("predict x.csv --model m.mercer").lines().count(), 2);
    let facts = folder.json("inspect m.mercer");
    assert_eq!(facts["targets"], serde_json::json!(["v", "u"]));
}

#[test]
fn learners_of_one_target_say_so() {
    let folder = folder(30);
    let parts = ["kons has one output, and cannot learn 2 numbers", "krls"];
    folder.refused(2, "eval m.csv --learner kons --target u,v", &parts);
    folder.refused(2, "train m.csv --learner kons --target u,v --out x.mercer --quiet", &parts);
    folder.refused(1, "eval m.csv --learner krls --target u,z", &["no target column \"z\""]);
}
