//! `/explain` and the alarms of a service.

#![cfg(all(unix, feature = "serve"))]

use serde_json::{Value, json};

use crate::explain::table;
use crate::http::Service;
use crate::support::{Folder, noise, object};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The base and all effects of an answer.
fn sum(told: &Value) -> f64 {
    number(&told["base"]) + told["effects"].as_object().unwrap().values().map(number).sum::<f64>()
}

fn explain(service: &Service, body: &Value) -> Value {
    let answer = service.post("/explain", body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

#[test]
fn effects_are_those_of_the_command_and_of_the_model_as_it_is() {
    let folder = Folder::new().with("t.csv", table(300)).with("one.csv", table(1));
    folder.run("train t.csv --target y --ignore kind --learner krls --scale standard --out m.mercer --quiet");
    let told = object(&folder.run("explain one.csv --model m.mercer --json").out);
    let service = Service::start(&folder, "--model m.mercer");
    let cells: Vec<String> = folder.read("one.csv").lines().nth(1).unwrap().split(',').map(str::to_owned).collect();
    let at = |place: usize| cells[place].parse::<f64>().unwrap();
    let row = json!({ "a": at(0), "b": at(1), "c": at(2), "colour": cells[3] });
    let one = explain(&service, &json!({ "row": row }));
    assert_eq!(one["effects"], told["rows"][0]["effects"]);
    assert_eq!((&one["base"], &one["standard_error"]), (&told["base"], &Value::Null));
    let made = number(&service.predict(&json!({ "row": row }))["prediction"]);
    assert!((sum(&one) - made).abs() < 1e-9, "{one} and {made}");
    // Rows, one of them with a gap, and another model once it has learnt.
    let other = json!({ "a": 1.5, "b": -0.2, "c": 0.3, "colour": null });
    let many = explain(&service, &json!({ "rows": [row, other] }));
    assert_eq!(many["explanations"][0], one);
    assert!((sum(&many["explanations"][1]) - number(&many["explanations"][1]["prediction"])).abs() < 1e-9);
    for t in 0..20 {
        service.learn(
            &json!({ "row": { "a": at(0), "b": at(1), "c": at(2), "colour": cells[3], "y": 50.0 + f64::from(t) } }),
        );
    }
    let later = explain(&service, &json!({ "row": row }));
    let made = number(&service.predict(&json!({ "row": row }))["prediction"]);
    assert!((sum(&later) - made).abs() < 1e-9 && later != one, "{later} and {made}");
    for (body, part) in [
        (json!({ "row": row, "keep": true }), "\"keep\" is not known here"),
        (json!({ "rows": vec![row.clone(); 101] }), "send 100 at most"),
        (json!({ "row": [1.0] }), "it has 1 values"),
    ] {
        let answer = service.post("/explain", &body);
        assert!(answer.status == 422 && answer.error().contains(part), "{}", answer.body);
    }
    let document = service.get("/openapi.json").json();
    assert!(document["paths"]["/explain"]["post"].is_object(), "{document}");
    assert!(service.get("/").body.contains("\"explains\":true"));
}

#[test]
fn one_of_several_numbers_is_explained() {
    let folder = Folder::new().with("two.csv", "a,b,y,z\n1,2,3,4\n2,3,4,5\n4,3,1,2\n");
    folder.run("train two.csv --target y,z --learner krls --model two.mercer --quiet");
    let service = Service::start(&folder, "--model two.mercer");
    let row = json!({ "a": 1, "b": 2 });
    let made = service.predict(&json!({ "row": row }));
    for (place, name) in ["y", "z"].into_iter().enumerate() {
        let told = explain(&service, &json!({ "row": row, "output": name }));
        assert_eq!(told["output"], name);
        assert!((sum(&told) - number(&made["prediction"][place])).abs() < 1e-9, "{told} and {made}");
    }
    let wrong = [(json!({ "row": row }), "say with output"), (json!({ "row": row, "output": "w" }), "no \"w\"")];
    for (body, part) in wrong {
        let answer = service.post("/explain", &body);
        assert!(answer.status == 422 && answer.error().contains(part), "{}", answer.body);
    }
}

#[test]
fn what_has_no_effects_is_refused_and_not_in_the_document() {
    let folder = Folder::new().with("s.csv", "y\n1\n2\n3\n2\n1\n2\n3\n2\n1\n");
    folder.run("forecast s.csv --target y --out s.mercer --quiet");
    let service = Service::start(&folder, "--model s.mercer");
    let answer = service.post("/explain", &json!({ "row": { "y": 1 } }));
    assert!(answer.status == 422 && answer.error().contains("numbers or classes"), "{}", answer.body);
    assert!(service.get("/openapi.json").json()["paths"].get("/explain").is_none());
}

#[test]
fn classes_are_explained_on_the_score_that_is_told() {
    let folder = Folder::new().with("t.csv", table(300));
    folder.run("train t.csv --target kind --ignore y --learner krls --scale standard --out m.mercer --quiet");
    let service = Service::start(&folder, "--model m.mercer");
    let row = json!({ "a": 0.4, "b": -0.2, "c": 0.3, "colour": "red" });
    let (told, made) = (explain(&service, &json!({ "row": row })), service.predict(&json!({ "row": row })));
    assert_eq!(told["class"], "low", "the later of high and low");
    assert!((sum(&told) - number(&made["score"])).abs() < 1e-9, "{told} and {made}");
}

/// Alarms of a kind that the metrics count.
fn alarms(service: &Service, kind: &str) -> u64 {
    let text = service.get("/metrics").body;
    let line = format!("mercer_watch_alarms_total{{kind=\"{kind}\"}} ");
    let count = text.lines().find_map(|told| told.strip_prefix(&line));
    count.unwrap_or_else(|| panic!("no {line} in {text}")).parse().unwrap()
}

#[test]
fn alarms_are_counted_by_kind() {
    let rows = |from: u64, to: u64, moved: f64, slope: f64| -> Vec<Value> {
        let row = |t: u64| {
            let [a, b, e] = [0, 1, 2].map(|j| noise(3 * t + j));
            json!({ "a": a, "b": b + moved, "y": slope * a + 0.05 * e })
        };
        (from..to).map(row).collect()
    };
    let text: String =
        rows(0, 300, 0.0, 1.0).iter().map(|row| format!("{},{},{}\n", row["a"], row["b"], row["y"])).collect();
    let folder = Folder::new().with("t.csv", format!("a,b,y\n{text}"));
    folder.run("train t.csv --learner krls --set lambda=0.1 --kernel gaussian:2 --out m.mercer --quiet");
    for (options, watched) in [("--watch", true), ("", false)] {
        let service = Service::start(&folder, &format!("--model m.mercer --read-only {options}"));
        drop(service);
        std::fs::copy(folder.path("m.mercer"), folder.path("copy.mercer")).unwrap();
        let service = Service::start(&folder, &format!("--model copy.mercer {options}"));
        let learn = |rows: Vec<Value>| drop(service.learn(&json!({ "rows": rows })));
        learn(rows(300, 2000, 0.0, 1.0));
        let before = ["rows", "inputs", "errors", "target"].map(|kind| alarms(&service, kind));
        assert!(before.iter().sum::<u64>() <= 1, "{before:?} without a change");
        learn(rows(2000, 2300, 1.5, 1.0));
        assert_eq!(alarms(&service, "inputs") > 0, watched);
        learn(rows(2300, 2600, 1.5, -3.0));
        assert!(alarms(&service, "errors") > before[2], "the slope turned");
    }
    let folder = Folder::new().with("t.csv", "a,y\n1,2\n2,3\n3,4\n");
    folder.run("forecast t.csv --out f.mercer --quiet");
    let said = folder.run("serve --model f.mercer --watch --addr 127.0.0.1:0");
    assert!(said.code == Some(2) && said.err.contains("--watch is for models of rows"), "{}", said.err);
}
