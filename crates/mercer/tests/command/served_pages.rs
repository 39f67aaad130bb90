//! Facts that the page of `mercer serve` has of its model, and what it asks of the service.

#![cfg(all(unix, feature = "serve"))]

use std::fs;

use serde_json::{Value, json};

use crate::http::Service;
use crate::support::{Folder, csv, examples};

/// The facts in the page of a service.
fn facts(service: &Service) -> Value {
    let page = service.get("/").body;
    let (_, rest) = page.split_once("const M = ").unwrap();
    serde_json::from_str(rest.split_once(";\n").unwrap().0).unwrap()
}

fn trained(options: &str) -> Folder {
    let folder = Folder::new().with("all.csv", csv(&examples(100)));
    folder.done(&format!("train all.csv --learner krls --kernel gaussian:0.7 {options} --out m.mercer --quiet"));
    folder
}

/// The share is the one that the model was trained with, of rows and of series.
#[test]
fn the_share_of_the_intervals_is_told() {
    let line = |t: usize| format!("{}\n", (t as f64 * 0.3).sin());
    let series = (0..120).map(line).collect::<String>();
    let folder = Folder::new().with("s.csv", series);
    let forecast = |options: &str| folder.done(&format!("forecast s.csv {options} --out s.mercer"));
    for (options, share) in [("", Value::Null), ("--intervals 0.8", json!(0.8))] {
        let rows = trained(options);
        let service = Service::start(&rows, "--model m.mercer");
        assert_eq!(facts(&service)["share"], share, "{options}");
        let told = service.get("/openapi.json").body.contains("interval that is to hold 80 % of the targets");
        assert_eq!(told, !share.is_null(), "{options}");
        service.ends_well();
        for method in ["--method opf --gamma 0.5 --t-init 20", "--method season --season 21"] {
            forecast(&format!("{method} {options}"));
            let service = Service::start(&folder, "--model s.mercer --read-only");
            let facts = facts(&service);
            assert_eq!((&facts["share"], facts["series"].is_u64()), (&share, true), "{method} {options}");
            service.ends_well();
        }
    }
}

/// The groups that are open are told with the counts that each tells itself.
#[test]
fn open_groups_are_told() {
    let folder = trained("");
    fs::create_dir(folder.path("groups")).unwrap();
    let service = Service::start(&folder, "--model m.mercer --groups groups --max-groups 7");
    assert_eq!(facts(&service)["groups"], true);
    assert_eq!(service.get("/groups").json(), json!({ "groups": [], "most": 7 }));
    for (name, rows) in [("b", 2), ("a", 1)] {
        let rows = vec![[0.1, 0.2, 0.3, 0.4]; rows];
        assert_eq!(service.post(&format!("/learn?group={name}"), &json!({ "rows": rows })).status, 200);
    }
    let told = service.get("/groups").json();
    let counts = |at: usize| ["group", "rows", "learnt", "unsaved"].map(|name| told["groups"][at][name].clone());
    assert_eq!(counts(0), [json!("a"), json!(101), json!(1), json!(false)]);
    assert_eq!(counts(1), [json!("b"), json!(102), json!(2), json!(false)]);
    for group in told["groups"].as_array().unwrap() {
        let health = service.get(&format!("/health?group={}", group["group"].as_str().unwrap())).json();
        for name in ["rows", "learnt", "dictionary_size", "mean_loss"] {
            assert_eq!(group[name], health[name], "{name}");
        }
    }
    service.ends_well();
    let service = Service::start(&folder, "--model m.mercer");
    assert_eq!((facts(&service)["groups"].clone(), service.get("/groups").status), (json!(false), 404));
    service.ends_well();
}
