//! Effects of texts, lists and many categories: the same at every door, and Shapley's.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::support::{Folder, noise, object};

/// What a run prints that succeeds, whatever it remarks.
fn done(folder: &Folder, words: &str) -> String {
    let said = folder.run(words);
    assert_eq!(said.code, Some(0), "{words}: {}", said.err);
    said.out
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A row of a text, a list, one of many categories, and a number.
fn row(t: usize) -> Value {
    let word = ["lovely", "awful", "plain", "dull"][t % 4];
    let place = ["the shop", "a train, late", "we saw it"][t % 3];
    let tags: Vec<&str> = ["new", "old", "red", "big"]
        .into_iter()
        .enumerate()
        .filter(|(k, _)| t >> k & 1 == 1)
        .map(|(_, tag)| tag)
        .collect();
    let price = (100.0 * (2.0 + noise(t as u64))).round() / 100.0;
    let (text, city) = (format!("{place} was {word} {word}"), format!("c{}", t * t % 91));
    json!({ "text": text, "tags": tags, "city": city, "price": price })
}

/// What is learnt of a row: words, tags and the number, and a word together with a tag.
fn target(row: &Value) -> f64 {
    let has = |name: &str, word: &str| f64::from(u8::from(row[name].to_string().contains(word)));
    let both = has("text", "dull") * has("tags", "old");
    3.0 * has("text", "lovely") - 2.0 * has("text", "awful") + has("tags", "red") + number(&row["price"]) - 2.0 * both
}

/// Rows with what they are learnt for, as objects.
fn lines(rows: impl Iterator<Item = Value>) -> String {
    rows.fold(String::new(), |mut text, mut row| {
        let y = target(&row);
        (row["y"], row["kind"]) = (json!(y), json!(if y > 3.0 { "good" } else { "bad" }));
        let _ = writeln!(text, "{row}");
        text
    })
}

fn folder() -> Folder {
    Folder::new().with("t.ndjson", lines((0..400).map(row))).with("one.ndjson", lines((17..18).map(row)))
}

/// The largest difference of two sets of effects; infinite where they are of other columns.
fn apart(one: &Map<String, Value>, other: &Map<String, Value>) -> f64 {
    if !one.keys().eq(other.keys()) {
        return f64::INFINITY;
    }
    one.iter().map(|(name, effect)| (number(effect) - number(&other[name])).abs()).fold(0.0, f64::max)
}

/// The effects of what a door told, which add up to its prediction.
fn effects(told: &Value, base: &Value, prediction: f64) -> Map<String, Value> {
    let effects = told["effects"].as_object().unwrap().clone();
    let sum = number(base) + effects.values().map(number).sum::<f64>();
    assert!((sum - prediction).abs() < 1e-9, "{sum} and {prediction}: {told}");
    effects
}

/// The effects that `explain` and `predict --explain` tell of the first row of a file.
fn of_commands(folder: &Folder, file: &str) -> Map<String, Value> {
    let told = object(&done(folder, &format!("explain {file} --model m.mercer --json")));
    let explained = effects(&told["rows"][0], &told["base"], number(&told["rows"][0]["prediction"]));
    let line = done(folder, &format!("predict {file} --model m.mercer --explain 9"));
    let predicted: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let made = predicted["prediction"].as_f64().unwrap_or_else(|| number(&predicted["score"]));
    assert_eq!(number(&predicted["other_effects"]), 0.0);
    let mut beside = effects(&predicted, &predicted["base"], made);
    assert!(apart(&explained, &beside) <= 1e-12, "{explained:?} and {beside:?}");
    assert_eq!(predicted["standard_error"].is_null(), told["rows"][0]["standard_error"].is_null());
    // An effect that is another is seen.
    beside["text"] = json!(number(&beside["text"]) + 1e-9);
    assert!(apart(&explained, &beside) > 1e-12);
    beside.remove("text");
    assert_eq!(apart(&explained, &beside), f64::INFINITY);
    explained
}

#[test]
fn all_doors_tell_the_same_effects_of_words() {
    let folder = folder();
    for (learner, exact) in [("coin", true), ("diagonal-kalman", true), ("pairs", false), ("auto", false)] {
        for (target, left) in [("y", "kind"), ("kind", "y")] {
            done(
                &folder,
                &format!("train t.ndjson --target {target} --ignore {left} --learner {learner} --out m.mercer"),
            );
            let explained = of_commands(&folder, "one.ndjson");
            let told = object(&done(&folder, "explain one.ndjson --model m.mercer --json"));
            assert_eq!(told["rows"][0]["standard_error"].is_null(), exact, "{learner}: {told}");
            assert_eq!(explained.len(), 4, "{learner}: {explained:?}");
            if learner != "pairs" {
                assert!(
                    number(&explained["text"]).abs() > number(&explained["city"]).abs(),
                    "{learner}: {explained:?}"
                );
            }
            // The rows that it is compared with are the model's.
            std::fs::write(folder.path("more.ndjson"), lines([17, 3, 8].into_iter().map(row))).unwrap();
            assert_eq!(apart(&explained, &of_commands(&folder, "more.ndjson")), 0.0, "{learner}");
            #[cfg(all(unix, feature = "serve"))]
            served(&folder, &explained, left);
        }
    }
}

/// `/explain` tells the same, and others once the model has learnt rows without the column `left`.
#[cfg(all(unix, feature = "serve"))]
fn served(folder: &Folder, explained: &Map<String, Value>, left: &str) {
    let service = crate::http::Service::start(folder, "--model m.mercer");
    let ask = || service.post("/explain", &json!({ "row": row(17) })).json();
    let told = ask();
    let made = service.predict(&json!({ "row": row(17) }));
    let made = made["prediction"].as_f64().unwrap_or_else(|| number(&made["score"]));
    assert!(apart(explained, &effects(&told, &told["base"], made)) <= 1e-12, "{explained:?} and {told}");
    for t in 0..30 {
        let mut lesson = row(17 + t);
        (lesson["y"], lesson["kind"]) = (json!(40.0), json!("bad"));
        lesson.as_object_mut().unwrap().remove(left);
        service.learn(&json!({ "row": lesson }));
    }
    let later = ask();
    let later = effects(&later, &later["base"], number(&later["prediction"]));
    assert!(apart(explained, &later) > 1e-12, "another model has other effects");
}

/// For each row of a background, the rows that have the cells of `shown` in a set of three columns.
fn mixed(shown: &Value, background: &[Value], names: [&'static str; 3]) -> impl Iterator<Item = Value> {
    background.iter().flat_map(move |other| {
        (0..8).map(move |set: usize| {
            let mut mixed = other.clone();
            let known = names.iter().enumerate().filter(|(j, _)| set >> j & 1 == 1);
            known.for_each(|(_, name)| mixed[name] = shown[name].clone());
            mixed
        })
    })
}

/// Shapley's values over all sets of three columns, from the predictions of these rows; then the
/// prediction where none is known, and what each adds alone.
fn over_all_sets(made: &[f64]) -> ([f64; 3], f64, [f64; 3]) {
    let value = |set: usize| 8.0 * made.iter().skip(set).step_by(8).sum::<f64>() / made.len() as f64;
    let effect = |j: usize| -> f64 {
        let without = (0..8usize).filter(|set| set >> j & 1 == 0);
        let share = |set: usize| [2.0, 1.0, 2.0][set.count_ones() as usize] / 6.0;
        without.map(|set| share(set) * (value(set | 1 << j) - value(set))).sum()
    };
    ([0, 1, 2].map(effect), value(0), [0, 1, 2].map(|j| value(1 << j) - value(0)))
}

/// The predictions of the rows of a file of objects.
fn predictions(folder: &Folder, file: &str) -> Vec<f64> {
    let told = done(folder, &format!("predict {file} --model m.mercer"));
    told.lines().map(|line| number(&serde_json::from_str::<Value>(line).unwrap()["prediction"])).collect()
}

/// Of a background whose absent columns stay together.
fn check_all_sets(folder: &Folder, names: [&str; 3], learner: &str, exact: bool) {
    let (effects, base, alone) = over_all_sets(&predictions(folder, "mixed.ndjson"));
    let explain = "explain one.ndjson --model m.mercer --background b.ndjson --permutations 1500 --json";
    let told = object(&done(folder, explain));
    let row = &told["rows"][0];
    assert_eq!(row["standard_error"].is_null(), exact, "{learner}: {told}");
    assert!((number(&told["base"]) - base).abs() < 1e-9, "{learner}: {told}");
    for (effect, name) in effects.into_iter().zip(names) {
        let told = number(&row["effects"][name]);
        let within = row["standard_error"][name].as_f64().map_or(1e-9, |error| 5.0 * error + 0.02);
        assert!((told - effect).abs() < within, "{learner}, {name}: {told} and {effect} within {within}");
    }
    // Where columns act together, what one adds alone is another number, and is seen to be.
    let apart = effects.iter().zip(alone).map(|(effect, alone)| (effect - alone).abs()).fold(0.0, f64::max);
    let is_sum = matches!(learner, "coin" | "diagonal-kalman" | "krls --kernel linear");
    assert_eq!(apart < 1e-9, is_sum, "{learner}: {apart}");
}

fn folder_of_three(names: [&'static str; 3], of: impl Fn(Value) -> Value) -> Folder {
    let (shown, background) = (of(row(21)), (0..15).map(|t| of(row(7 * t))).collect::<Vec<_>>());
    Folder::new()
        .with("t.ndjson", lines((0..400).map(row).map(&of)))
        .with("mixed.ndjson", lines(mixed(&shown, &background, names)))
        .with("b.ndjson", lines(background.iter().cloned()))
        .with("one.ndjson", lines(std::iter::once(shown)))
}

#[test]
fn effects_of_words_are_those_over_all_sets() {
    let names = ["text", "tags", "price"];
    let folder = folder_of_three(names, |of| json!({ "text": of["text"], "tags": of["tags"], "price": of["price"] }));
    for (learner, exact) in [("coin", true), ("diagonal-kalman", true), ("pairs", false), ("auto", false)] {
        done(&folder, &format!("train t.ndjson --target y --ignore kind --learner {learner} --out m.mercer"));
        check_all_sets(&folder, names, learner, exact);
    }
}

/// Numbers and a category of few values: sums of products by quadrature, affine functions by their
/// slopes, others and `auto` by orders.
#[test]
fn effects_of_numbers_are_those_over_all_sets() {
    let names = ["a", "b", "kind of"];
    let folder = folder_of_three(names, |of| {
        let text = of["text"].as_str().unwrap();
        let b = text.len() as f64 / 10.0 + noise(text.len() as u64);
        let kind = ["x", "y", "z"][text.len() % 3];
        let [tags, price] = [&of["tags"], &of["price"]];
        json!({ "a": price, "b": b, "kind of": kind, "text": text, "tags": tags, "price": price })
    });
    let ignored = "--target y --ignore kind,text,tags,price";
    for (learner, exact) in [
        ("krls", true),
        ("krls --kernel mix:0.5*gaussian:1+0.5*gaussian:3", true),
        ("krls --kernel linear", true),
        ("fogd", true),
        ("knlms", true),
        ("krls --kernel laplace:3", false),
        ("auto", false),
    ] {
        let scale = if learner == "auto" { "" } else { "--scale standard" };
        done(&folder, &format!("train t.ndjson {ignored} --learner {learner} {scale} --out m.mercer"));
        check_all_sets(&folder, names, learner, exact);
    }
}

#[test]
fn shards_that_add_up_keep_rows_of_both() {
    let folder = Folder::new()
        .with("a.ndjson", lines((0..150).map(row)))
        .with("b.ndjson", lines((150..300).map(row)))
        .with("one.ndjson", lines((17..18).map(row)));
    let train = "--target y --ignore kind,price --learner diagonal-kalman --scale none --out";
    done(&folder, &format!("train a.ndjson {train} a.mercer"));
    done(&folder, &format!("train b.ndjson {train} b.mercer"));
    done(&folder, "merge a.mercer b.mercer --out m.mercer");
    let both = of_commands(&folder, "one.ndjson");
    std::fs::copy(folder.path("a.mercer"), folder.path("m.mercer")).unwrap();
    assert!(apart(&both, &of_commands(&folder, "one.ndjson")) > 1e-9, "the filters differ");
}

/// Rows of pairs, the columns of each 7 apart.
fn sparse(rows: usize) -> String {
    (0..rows).fold(String::new(), |mut text, t| {
        let (one, two) = (1 + t % 5, 0.5 * (t % 3) as f64 + 0.5);
        let _ = writeln!(text, "{} {}:1 {}:{two} 4000000000:{}", one as f64 - 2.0 * two, one, 7 + one, t % 2 + 1);
        text
    })
}

#[test]
fn sparse_rows_have_the_effects_of_what_is_not_zero() {
    let folder = Folder::new().with("t.libsvm", sparse(80));
    // The first row, and the same without each of its columns.
    let first = "0 1:1 8:0.5 4000000000:1\n";
    let less = format!("{first}0 8:0.5 4000000000:1\n0 1:1 4000000000:1\n0 1:1 8:0.5\n");
    std::fs::write(folder.path("less.libsvm"), less).unwrap();
    for learner in ["coin", "diagonal-kalman"] {
        done(&folder, &format!("train t.libsvm --learner {learner} --out m.mercer"));
        let told = object(&done(&folder, "explain less.libsvm --model m.mercer --json"));
        assert!(
            told["rows"][0]["standard_error"].is_null() && told["notes"].as_array().is_none_or(Vec::is_empty),
            "{told}"
        );
        let f: Vec<f64> =
            done(&folder, "predict less.libsvm --model m.mercer").lines().map(|line| line.parse().unwrap()).collect();
        let found = effects(&told["rows"][0], &told["base"], f[0]);
        for (place, name) in ["1", "8", "4000000000"].into_iter().enumerate() {
            assert!((number(&found[name]) - (f[0] - f[place + 1])).abs() < 1e-9, "{learner}, {name}: {found:?}");
        }
        assert!(found.len() == 3 && number(&found["8"]) < -0.1, "{found:?}");
        assert_eq!(told["rows"][3]["effects"].as_object().unwrap().len(), 2);
        // The strongest beside a prediction, of which rows have one, two or three.
        let lines = done(&folder, "predict less.libsvm --model m.mercer --explain 3");
        let names: Vec<&str> = lines.lines().next().unwrap().split(',').collect();
        let place = names.iter().position(|name| *name == "column_1").unwrap();
        let cells: Vec<&str> = lines.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(cells[place + 1].parse::<f64>().unwrap(), number(&found[cells[place]]));
        assert!(lines.lines().last().unwrap().contains(",,"), "{lines}");
        let text = done(&folder, "explain less.libsvm --model m.mercer");
        assert!(text.contains("4000000000"), "{text}");
        #[cfg(all(unix, feature = "serve"))]
        {
            let service = crate::http::Service::start(&folder, "--model m.mercer --read-only");
            let row = json!({ "pairs": { "1": 1.0, "8": 0.5, "4000000000": 1.0 } });
            let told = service.post("/explain", &json!({ "row": row })).json();
            assert_eq!(apart(&found, &effects(&told, &told["base"], f[0])), 0.0, "{told}");
        }
    }
    folder.refused(2, "explain t.libsvm --model m.mercer --background 3", &["--background", "an absent column is 0"]);
}

#[test]
fn sparse_rows_of_other_learners_are_refused_by_name() {
    let folder = Folder::new().with("t.libsvm", sparse(80));
    for learner in ["pairs", "auto"] {
        done(&folder, &format!("train t.libsvm --learner {learner} --out m.mercer"));
        for command in ["explain t.libsvm --model m.mercer", "predict t.libsvm --model m.mercer --explain 2"] {
            folder.refused(1, command, &[learner, "no sum over their columns", "train coin or diagonal-kalman"]);
        }
    }
    done(&folder, "train t.libsvm --learner coin --set loss=poisson --out m.mercer --scale none --on-error skip");
    folder.refused(1, "explain t.libsvm --model m.mercer", &["row 1", "is no sum over the columns", "poisson"]);
}
