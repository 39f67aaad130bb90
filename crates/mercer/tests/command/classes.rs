//! Classes: what is one, what is written of them, and models that go on.

use mercer::catalogue;

use crate::support::Folder;

/// Rows of two features with three colours, one of which appears late and has to be quoted.
fn colours(rows: usize) -> Vec<(f64, f64, &'static str)> {
    let table = crate::support::examples(rows);
    let colour = |t: usize, x: &[f64]| match (x[0] > 0.2, x[1] > 0.0 && t > rows / 2) {
        (true, _) => "red",
        (_, true) => "dark, \"blue\"",
        _ => " grey ",
    };
    table.iter().enumerate().map(|(t, (x, _))| (x[0], x[1], colour(t, x))).collect()
}

fn csv(rows: &[(f64, f64, &str)]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let lines = rows.iter().map(|(a, b, label)| format!("{a},{b},{}\n", quoted(label)));
    std::iter::once("a,b,colour\n".to_owned()).chain(lines).collect()
}

/// 0 and 1, or −1 and 1.
fn signs(rows: usize, low: i32) -> String {
    let sign = |a: f64, b: f64| if a > b { 1 } else { low };
    let lines = colours(rows).into_iter().map(|(a, b, _)| format!("{a},{b},{}\n", sign(a, b)));
    std::iter::once("a,b,y\n".to_owned()).chain(lines).collect()
}

#[test]
fn text_is_classified_and_a_class_may_come_late() {
    let folder = Folder::new().with("c.csv", csv(&colours(200)));
    let report = folder.json("eval c.csv --learner krls --set lambda=0.1 --predictions p.csv");
    for key in ["mse", "mae", "error_rate", "rmse", "r2", "auc"] {
        assert!(report[key].is_null(), "{key}");
    }
    for scores in [&report, &report["second_half"]] {
        for key in ["accuracy", "balanced_accuracy", "log_loss"] {
            assert!(scores[key].is_f64(), "{key} in {scores}");
        }
    }
    assert!(report["accuracy"].as_f64().unwrap() > 0.7);
    let text = folder.read("p.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "t,target,prediction,\"p_dark, \"\"blue\"\"\",p_grey,p_red");
    assert!(lines[1].ends_with(",,,,"), "{}", lines[1]);
    assert_eq!(lines.len(), 201);
    let right = lines[1..].iter().filter(|line| {
        let rest = line.split_once(',').unwrap().1;
        ["red", "grey", "\"dark, \"\"blue\"\"\""].iter().any(|name| rest.starts_with(&format!("{name},{name},")))
    });
    assert_eq!(right.count() as f64 / 200.0, report["accuracy"].as_f64().unwrap());
    // Row by row or in blocks, from a file or a pipe.
    let alone = folder.json("eval c.csv --learner krls --set lambda=0.1 --block 1");
    let piped = folder.json_of(csv(&colours(200)).as_bytes(), "eval - --format csv --learner krls --set lambda=0.1");
    assert_eq!((&alone["accuracy"], &piped["accuracy"]), (&report["accuracy"], &report["accuracy"]));
    let said = folder.done("eval c.csv --learner krls --set lambda=0.1");
    assert!(said.contains("majority class") && !said.contains("RMSE"), "{said}");
}

#[test]
fn zero_and_one_are_classes_and_signs_when_they_are_asked_for() {
    let folder = Folder::new().with("z.csv", signs(150, 0)).with("s.csv", signs(150, -1));
    let learner = "--learner nons-ald --kernel gaussian:1";
    let classes = folder.json(&format!("eval z.csv {learner} --predictions z.out"));
    let asked = folder.json(&format!("eval s.csv {learner} --task class --predictions s.out"));
    for key in ["accuracy", "log_loss", "balanced_accuracy", "auc"] {
        assert!(classes[key].is_f64(), "{key}");
        assert_eq!(classes[key], asked[key], "{key}");
    }
    assert!(folder.read("z.out").starts_with("t,target,prediction,p_0,p_1,score\n1,"));
    assert!(folder.read("s.out").starts_with("t,target,prediction,p_-1,p_1,score\n1,"));
    for line in folder.read("s.out").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[5].parse::<f64>().unwrap() >= 0.0, cells[2] == "1", "{line}");
    }
    let numbers = folder.json(&format!("eval s.csv {learner}"));
    assert!(numbers["error_rate"].is_f64() && numbers["mse"].is_f64() && numbers.get("accuracy").is_none());
    let told = folder.json(&format!("eval z.csv {learner} --task regression"));
    assert!(told["mse"].is_f64() && told.get("accuracy").is_none());
}

#[test]
fn columns_are_exactly_those_that_are_named() {
    let folder = Folder::new().with("z.csv", signs(60, 0)).with("n.csv", "a,y\n1,2\n2,3\n3,5\n");
    let learner = "--learner krls --set lambda=0.1 --kernel gaussian:1";
    folder.done(&format!("eval z.csv {learner} --predictions p.csv --columns score,size,p_1,loss,prediction"));
    let text = folder.read("p.csv");
    assert!(text.starts_with("t,target,score,size,p_1,loss,prediction\n1,"), "{text}");
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [_, y, z, _, p, loss, prediction] = cells[..] else { panic!("{line}") };
        assert!((p - (0.5 + z / 2.0).clamp(0.0, 1.0)).abs() < 1e-15 && prediction == f64::from(z >= 0.0), "{line}");
        assert!((loss - (z - (2.0 * y - 1.0)).powi(2)).abs() < 1e-12, "{line}");
    }
    folder.done(&format!("eval n.csv {learner} --predictions n.out --columns size"));
    assert!(folder.read("n.out").starts_with("t,target,size\n1,2,1\n"), "{}", folder.read("n.out"));
    for (columns, part) in [
        ("prediction,lower", "comes with intervals"),
        ("width", "there is no column \"width\""),
        ("score", "is for classes"),
        ("p_1", "is for classes"),
    ] {
        folder.refused(2, &format!("eval n.csv {learner} --predictions x.out --columns {columns}"), &[part]);
    }
    folder.refused(2, &format!("eval n.csv {learner} --columns size"), &["--predictions"]);
}

#[test]
fn a_model_of_classes_predicts_and_goes_on_bit_for_bit() {
    let rows = colours(160);
    let folder = Folder::new()
        .with("all.csv", csv(&rows))
        .with("first.csv", csv(&rows[..90]))
        .with("rest.csv", csv(&rows[90..]))
        .with(
            "bare.csv",
            csv(&rows)
                .lines()
                .map(|line| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",") + "\n")
                .collect::<String>(),
        );
    let learner = "--learner krls --set lambda=0.1 --kernel gaussian:1 --quiet";
    folder.done(&format!("train all.csv {learner} --out all.mercer"));
    folder.done(&format!("train first.csv {learner} --out m.mercer"));
    folder.done("predict rest.csv --model m.mercer --learn --quiet");
    assert_eq!(std::fs::read(folder.path("all.mercer")).unwrap(), std::fs::read(folder.path("m.mercer")).unwrap());
    let lines = folder.done("predict bare.csv --model m.mercer");
    assert!(lines.starts_with("prediction,\"p_dark, \"\"blue\"\"\",p_grey,p_red\n"), "{lines}");
    assert_eq!(lines, folder.done("predict all.csv --model m.mercer"));
    assert!(lines.lines().any(|line| line.starts_with("\"dark, \"\"blue\"\"\",")));
    let facts = folder.json("inspect m.mercer");
    assert_eq!((facts["kind"].as_str(), facts["learnt"].as_u64()), (Some("classification"), Some(160)));
    let counts = facts["classes"].as_object().unwrap();
    assert_eq!(counts.values().map(|count| count.as_f64().unwrap()).sum::<f64>(), 160.0);
    // Resumed from a checkpoint, it is the same file.
    folder.done(&format!("train all.csv {learner} --out r.mercer --limit 70"));
    folder.done(&format!("train all.csv {learner} --out r.mercer --resume"));
    assert_eq!(folder.json("inspect r.mercer")["log_loss"], facts["log_loss"]);
    let object = folder.piped(b"{\"a\":0.9,\"b\":0.1}\n", "predict - --format ndjson --model m.mercer");
    let object: serde_json::Value = serde_json::from_str(&object.out).unwrap();
    assert!(object["prediction"].is_string() && object["probabilities"]["grey"].is_number(), "{object}");
}

#[test]
fn two_classes_are_no_three() {
    let mut zero_one: String = signs(300, 0);
    zero_one.push_str("0.1,0.2,2\n");
    let folder = Folder::new().with("c.csv", csv(&colours(200))).with("z.csv", zero_one);
    let third = ["is a third class", "\"dark, \\\"blue\\\"\"", "such as krls"];
    folder.refused(1, "eval c.csv --learner kons", &third);
    // What was learnt before is kept.
    let said = folder.run("train c.csv --learner kons --out x.mercer --quiet");
    assert!(said.code == Some(1) && third.iter().all(|part| said.err.contains(part)), "{}", said.err);
    assert_eq!(folder.json("inspect x.mercer")["takes_new_classes"], false);
    folder.refused(1, "eval z.csv --learner krls", &["line 302", "is a third class", "--task regression"]);
    folder.refused(1, "eval c.csv --learner krls --task regression", &["line 2", "colour"]);
    folder.refused(1, "eval c.csv --learner krls --task class --target a,b", &["label"]);
}

#[test]
fn softmax_is_for_text_where_there_is_a_choice() {
    let entry = catalogue::find("nons-ald").unwrap();
    if entry.keys.iter().all(|key| key.name != "loss") {
        return;
    }
    let folder = Folder::new().with("c.csv", csv(&colours(120)));
    let report = folder.json("eval c.csv --learner nons-ald");
    assert!(report["accuracy"].as_f64().unwrap() > 0.5 && report["log_loss"].is_f64());
}
