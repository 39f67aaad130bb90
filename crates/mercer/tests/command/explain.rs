//! `mercer explain`: effects that add up to the prediction, whatever the learner.

use std::fs;

use serde_json::Value;

use super::support::{Folder, noise, object};

pub(crate) fn table(rows: u64) -> String {
    let mut table = "a,b,c,colour,kind,y\n".to_owned();
    for t in 0..rows {
        let [a, b, c, u] = [0, 1, 2, 3].map(|j| noise(4 * t + j));
        let colour = ["red", "green", "blue"][(t * 7 % 11 % 3) as usize];
        let y = 2.0 * a + b * c + if colour == "red" { 1.0 } else { 0.0 };
        table += &format!("{a},{b},{c},{colour},{},{y}\n", if y + 0.1 * u > 0.3 { "high" } else { "low" });
    }
    table
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The effects of each row, which add up to its prediction.
fn effects(report: &Value) -> Vec<Vec<(String, f64)>> {
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let effects = row["effects"].as_object().unwrap();
        let effects: Vec<(String, f64)> = effects.iter().map(|(name, effect)| (name.clone(), number(effect))).collect();
        let sum = number(&report["base"]) + effects.iter().map(|(_, effect)| effect).sum::<f64>();
        let prediction = number(&row["prediction"]);
        assert!((sum - prediction).abs() < 1e-9 * prediction.abs().max(1.0), "{sum} and {prediction}");
        effects
    })
    .collect()
}

#[test]
fn effects_add_up_to_the_prediction_of_every_learner() {
    let folder = Folder::new().with("t.csv", table(400));
    for (learner, exact) in [
        ("krls", true),
        ("krls --kernel mix:0.5*gaussian:1+0.5*gaussian:3", true),
        ("krls --kernel linear", true),
        ("nons-ald", true),
        ("knlms", true),
        ("fogd", true),
        ("con-kons", true),
        ("kernel-krr", true),
        ("sw-krls", true),
        ("fb-krls", true),
        ("kogd", true),
        ("krls-t", true),
        ("krmc", true),
        ("mxklms", true),
        ("restart", true),
        ("robust", true),
        ("krls --kernel laplace:3", false),
        ("pkawv-taylor", false),
        ("auto", false),
    ] {
        let scale = if learner == "auto" { "" } else { "--scale standard" };
        let words = format!("train t.csv --target y --ignore kind --learner {learner} {scale} --out m.mercer");
        let said = folder.run(&words);
        assert_eq!(said.code, Some(0), "{words}: {}", said.err);
        let report = object(&folder.run("explain t.csv --model m.mercer -n 3 --json").out);
        let told = effects(&report);
        assert!(told.len() == 3 && told[0].len() == 4, "{learner}: {told:?}");
        assert_eq!(report["rows"][0]["standard_error"].is_null(), exact, "{learner}");
        // The prediction is that of `mercer predict`.
        let predicted = folder.run("predict t.csv --model m.mercer").out;
        let first: f64 = predicted.lines().nth(1).unwrap().parse().unwrap();
        assert!((first - number(&report["rows"][0]["prediction"])).abs() < 1e-9 * first.abs().max(1.0), "{learner}");
    }
}

#[test]
fn a_linear_function_has_the_effects_of_its_slopes() {
    let folder = Folder::new().with("t.csv", table(400));
    let said = folder.run("fit t.csv --target y --ignore kind,colour --learner ridge --out r.mercer");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let report = object(&folder.run("explain t.csv --model r.mercer -n 4 --json").out);
    let told = effects(&report);
    assert!(report["rows"][0]["standard_error"].is_null());
    let inputs: Vec<f64> =
        folder.read("t.csv").lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    let effect = |row: usize| told[row].iter().find(|(name, _)| name == "a").unwrap().1;
    let slope = |row: usize| (effect(row) - effect(0)) / (inputs[row] - inputs[0]);
    assert!((slope(1) - slope(2)).abs() < 1e-9 && (slope(3) - 2.0).abs() < 0.3, "{} {}", slope(1), slope(3));
    // One that bends is none.
    folder.run("fit t.csv --target y --ignore kind,colour --learner pkrr-taylor --kernel gaussian:2 --out c.mercer");
    let report = object(&folder.run("explain t.csv --model c.mercer -n 1 --json").out);
    assert!(!report["rows"][0]["standard_error"].is_null());
    effects(&report);
}

/// A learner that clips its predictions is an expansion where it does not.
#[test]
fn a_prediction_that_is_clipped_is_explained_as_it_is() {
    let text: String = (0..300).map(|t| format!("{},{}\n", noise(t), 9.0 * noise(t))).collect();
    let folder = Folder::new().with("t.csv", format!("a,y\n{text}"));
    folder.run("train t.csv --learner con-kons --kernel gaussian:1 --set clip=1 --scale none --out m.mercer");
    let report = object(&folder.run("explain t.csv --model m.mercer --json").out);
    effects(&report);
    let predictions: Vec<f64> =
        report["rows"].as_array().unwrap().iter().map(|row| number(&row["prediction"])).collect();
    assert!(predictions.iter().any(|made| made.abs() == 1.0), "some are clipped");
}

#[test]
fn sampled_effects_come_near_the_exact_ones() {
    let folder = Folder::new().with("t.csv", table(400));
    let train = "train t.csv --target y --ignore kind --scale standard --learner";
    folder.run(&format!("{train} krls --kernel gaussian:3 --out m.mercer"));
    let exact = effects(&object(&folder.run("explain t.csv --model m.mercer -n 2 --json --background 20").out));
    let independent = effects(&object(&folder.run("explain t.csv --model m.mercer -n 2 --json").out));
    for (one, other) in exact.iter().flatten().zip(independent.iter().flatten()) {
        assert!((one.1 - other.1).abs() < 0.5, "{one:?} and {other:?}");
    }
    let largest =
        |effects: &[(String, f64)]| effects.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap().0.clone();
    assert!(exact.iter().chain(&independent).any(|effects| largest(effects) == "a"));
}

#[test]
fn classes_are_explained_on_their_score() {
    let folder = Folder::new().with("t.csv", table(400));
    folder.run("train t.csv --target kind --ignore y --learner krls --scale standard --out m.mercer");
    let report = object(&folder.run("explain t.csv --model m.mercer -n 4 --json").out);
    effects(&report);
    assert!(report["class"] == "high" || report["class"] == "low", "{report}");
    folder.run("train t.csv --target colour --learner krls --scale standard --out c.mercer");
    let said = folder.run("explain t.csv --model c.mercer");
    assert!(said.err.contains("say with --class"), "{}", said.err);
    let report = object(&folder.run("explain t.csv --model c.mercer --class red -n 2 --json").out);
    effects(&report);
    assert_eq!(report["class"], "red");
}

#[test]
fn the_text_has_base_effects_and_a_picture() {
    let folder = Folder::new().with("t.csv", table(300));
    folder.run("train t.csv --target y --ignore kind --learner krls --scale standard --out m.mercer");
    let said = folder.run("explain t.csv --model m.mercer --top 2 --plot why.svg -n 30");
    assert!(said.out.contains("row 1: ") && said.out.contains("2 others") && said.out.contains("base"), "{}", said.out);
    let said = folder.run("explain t.csv --model m.mercer --top 3 -n 1");
    assert!(said.out.contains("1 other ") && !said.out.contains("others"), "{}", said.out);
    assert!(folder.read("why.svg").contains("from the base to its prediction"));
    let said = folder.run("explain t.csv --model m.mercer --class x");
    assert!(said.code == Some(2) && said.err.contains("--class is for classes"), "{}", said.err);
}

/// The effects on one of several targets are those of a model of this target alone, because they
/// share no weights.
#[test]
fn one_of_several_targets_is_explained() {
    let lines =
        table(300).lines().skip(1).map(|line| format!("{line},{}\n", 1.0 + line.len() as f64)).collect::<String>();
    let folder = Folder::new().with("t.csv", format!("a,b,c,colour,kind,y,z\n{lines}"));
    for (targets, model) in [("y,z", "two.mercer"), ("z", "z.mercer")] {
        let ignored = if targets == "z" { "kind,y" } else { "kind" };
        let words =
            format!("train t.csv --target {targets} --ignore {ignored} --learner krls --scale standard --out {model}");
        let said = folder.run(&words);
        assert_eq!(said.code, Some(0), "{}", said.err);
    }
    let report = object(&folder.run("explain t.csv --model two.mercer --output z -n 3 --json").out);
    assert_eq!(report["output"], "z");
    let alone = object(&folder.run("explain t.csv --model z.mercer -n 3 --json").out);
    for (one, other) in effects(&report).iter().flatten().zip(effects(&alone).iter().flatten()) {
        assert!(one.0 == other.0 && (one.1 - other.1).abs() < 1e-9, "{one:?} and {other:?}");
    }
    let other = effects(&object(&folder.run("explain t.csv --model two.mercer --output y -n 3 --json").out));
    assert!(other != effects(&report));
    // Beside the predictions, the effects on the same one.
    folder.run("predict t.csv --model two.mercer --explain 4 --output z -o z.ndjson");
    let beside: Value = serde_json::from_str(folder.read("z.ndjson").lines().next().unwrap()).unwrap();
    assert_eq!((&beside["base"], &beside["effects"]), (&report["base"], &report["rows"][0]["effects"]));
    assert!(folder.run("explain t.csv --model two.mercer --output z -n 1").out.contains("on the prediction of z"));
    folder.refused(2, "explain t.csv --model two.mercer", &["predicts y, z", "--output"]);
    folder.refused(2, "explain t.csv --model two.mercer --output w", &["no \"w\"", "y, z"]);
    folder.refused(2, "explain t.csv --model z.mercer --output z", &["one number", "leave it out"]);
}

/// The mean size of one effect is that effect once more; the JSON is the same object for any number
/// of rows.
#[test]
fn means_over_rows_are_told_of_more_than_one() {
    let folder = Folder::new().with("t.csv", table(300));
    folder.run("train t.csv --target y --ignore kind --learner krls --scale standard --out m.mercer");
    let [one, two] = [1, 2].map(|n| folder.run(&format!("explain t.csv --model m.mercer -n {n}")).out);
    assert!(one.contains("row 1: ") && !one.contains("Mean size") && !one.contains("\n\n\n"), "{one}");
    assert_eq!(one.matches("colour").count(), 1, "{one}");
    assert!(two.contains("Mean size of the effects in 2 rows\n"), "{two}");
    let [one, two] = [1, 2].map(|n| object(&folder.run(&format!("explain t.csv --model m.mercer -n {n} --json")).out));
    assert_eq!(one["base"], two["base"]);
    assert_eq!(one["rows"][0], two["rows"][0]);
}

fn comments(rows: usize) -> Vec<(String, String, f64)> {
    let row = |t: usize| {
        let word = ["lovely", "awful", "plain"][t % 3];
        let rest = ["the shop", "a train, late", "we saw it", "today"][t % 4];
        let price = 1.0 + (noise(t as u64) + 1.0) * 2.0;
        (format!("{rest} {word} {word}"), format!("{price:.2}"), [3.0, -3.0, 0.0][t % 3] + price)
    };
    (0..rows).map(row).collect()
}

/// Of two columns each pair of orders has both, so that the means over the background are Shapley's
/// values, which are computed here from the predictions of rows with the cells of two.
#[test]
fn words_have_the_effects_that_their_cells_have() {
    let rows = comments(400);
    let line = |(text, price): (&str, &str)| format!("\"{text}\",{price},0\n");
    let table: String = rows.iter().map(|(text, price, y)| format!("\"{text}\",{price},{y}\n")).collect();
    let folder = Folder::new().with("t.csv", format!("text,price,y\n{table}"));
    let (shown, background) = (&rows[9], &rows[..20]);
    let mixed = background.iter().flat_map(|(text, price, _)| {
        [(&*shown.0, &**price), (text, price), (&shown.0, &shown.1), (text, &shown.1)].map(line)
    });
    let mixed: String = mixed.collect();
    fs::write(folder.path("mixed.csv"), format!("text,price,y\n{mixed}")).unwrap();
    let one = format!("text,price,y\n{}", line((&shown.0, &shown.1)));
    fs::write(folder.path("one.csv"), one).unwrap();
    let first: String = background.iter().map(|(text, price, _)| line((text, price))).collect();
    fs::write(folder.path("b.csv"), format!("text,price,y\n{first}")).unwrap();
    for learner in ["coin", "diagonal-kalman", "pairs", "auto"] {
        let said = folder.run(&format!("train t.csv --target y --learner {learner} --out m.mercer"));
        assert_eq!(said.code, Some(0), "{learner}: {}", said.err);
        let report = object(&folder.run("explain one.csv --model m.mercer --background b.csv --json").out);
        let told = effects(&report).remove(0);
        let predicted = folder.run("predict mixed.csv --model m.mercer").out;
        let f: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        let mean = |effect: &dyn Fn(&[f64]) -> f64| f.chunks(4).map(effect).sum::<f64>() / 20.0;
        let text = mean(&|f| 0.5 * (f[0] - f[1] + f[2] - f[3]));
        let price = mean(&|f| 0.5 * (f[3] - f[1] + f[2] - f[0]));
        for (name, expected) in [("text", text), ("price", price)] {
            let effect = told.iter().find(|(told, _)| told == name).unwrap().1;
            assert!((effect - expected).abs() < 1e-9, "{learner}, {name}: {effect}, {expected}");
        }
        // Row 9 is lovely, as one in three is.
        assert!(learner == "pairs" || text > 1.0, "{learner}: {text}");
    }
}
