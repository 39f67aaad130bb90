//! A service that several use: groups with a model each, keys, tokens, and clients that speak in
//! tensors.

use std::sync::{Arc, Mutex};

use mercer_serve::{Access, Limits, Options, Scope, Tokens};
use serde_json::{Value as Json, json};

use crate::support::{Each, Mean, Service, post};

fn with_groups(most: usize) -> (Service, Arc<Mutex<Vec<String>>>) {
    let groups = Each::default();
    let saved = Arc::clone(&groups.saved);
    let options = Options { limits: Limits { groups: most, ..Limits::default() }, ..Options::default() };
    (Service::start_groups(Mean::default(), options, None, Some(Box::new(groups))), saved)
}

/// A row with this target.
fn row_of(y: f64) -> String {
    json!({ "row": [1, 1, y, 1] }).to_string()
}

#[test]
fn each_group_has_a_model_of_its_own() {
    let (service, saved) = with_groups(2);
    let learn = |path: &str, y: f64| service.post(path, &row_of(y));
    let predict = |path: &str| service.post(path, r#"{"row":[1,1]}"#);
    assert_eq!(predict("/predict?group=a").0, 404);
    for (path, rows) in [("/learn?group=a", 1), ("/learn?group=a", 2), ("/learn", 1), ("/learn?group=b-1", 2)] {
        // A group begins with the model of all as it is.
        assert_eq!(learn(path, 2.0).1["rows"], rows, "{path}");
    }
    assert_eq!([learn("/learn?group=../a", 1.0).0, predict("/predict?group=").0], [400, 400]);
    let (_, _, metrics) = service.get("/metrics?group=a");
    assert!(metrics.as_str().unwrap().contains("mercer_learnt_total 2\n"), "{metrics}");
    let (_, _, metrics) = service.get("/metrics");
    assert!(metrics.as_str().unwrap().contains("mercer_group_rows{group=\"b-1\"} 2\n"), "{metrics}");
    assert_eq!(service.get("/health?group=b-1").2["rows"], 2);
    assert_eq!(service.get("/health").2["groups"], json!({ "open": 2, "most": 2 }));
    assert_eq!(service.end().1, ["1"]);
    let mut saved = std::mem::take(&mut *saved.lock().unwrap());
    saved.sort();
    assert_eq!(saved, ["a 2", "b-1 2"]);

    let (service, _) = with_groups(2);
    let (status, told) = service.post("/learn?group=bad", &row_of(1.0));
    assert_eq!((status, &told["error"]), (409, &json!("the group bad cannot be opened: its file is damaged")));
    service.end().0.unwrap();
    let service = Service::start(Mean::default(), Options::default());
    assert_eq!(service.get("/health?group=a").0, 400);
    service.end().0.unwrap();
}

/// The answer of a key is told again, whatever the client saw of it, and nothing is learnt twice.
#[test]
fn a_request_with_a_key_is_learnt_once() {
    let service = Service::start(Mean::default(), Options::default());
    let learn = |key: &str, body: &str| {
        let (status, head, told) = service.raw(&post("/learn", body, &format!("idempotency-key: {key}\r\n")));
        (status, head.contains("idempotent-replayed: true"), told)
    };
    let first = learn("a", &row_of(1.0));
    assert_eq!((first.0, first.1, &first.2["rows"]), (200, false, &json!(1)));
    assert_eq!(learn("a", &row_of(1.0)), (200, true, first.2));
    assert_eq!(learn("b", &row_of(1.0)).2["rows"], 2);
    let other = learn("a", &row_of(2.0));
    assert!(other.0 == 422 && other.2["error"].as_str().unwrap().contains("another body"), "{other:?}");
    // What was refused may be sent again, and what was learnt in part may not.
    assert_eq!([learn("c", &row_of(13.0)).1, learn("c", &row_of(13.0)).1], [false, false]);
    let half = r#"{"rows":[[1,1,2,1],[1,1,13,1]]}"#;
    let told = learn("d", half);
    assert_eq!((told.0, &told.2["learnt"]), (422, &json!(1)));
    assert_eq!(learn("d", half), (422, true, told.2));
    assert_eq!(learn("", &row_of(1.0)).0, 400);
    assert_eq!(service.get("/health").2["rows"], 3);
    service.end().0.unwrap();
}

/// Tokens for reading, learning and replacing, which may change.
#[test]
fn tokens_are_good_for_what_they_say() {
    let all = |names: [&str; 3]| {
        let scopes = [Scope::Read, Scope::Learn, Scope::Admin];
        scopes.into_iter().zip(names).map(|(scope, name)| (scope, name.to_owned())).collect::<Vec<_>>()
    };
    let tokens = Tokens::new(all(["r", "l", "a"]));
    let access = Access { tokens: tokens.clone(), all: true, ..Access::default() };
    let service = Service::start(Mean::default(), Options { access, ..Options::default() });
    let asks = |token: &str| {
        let header = format!("authorization: Bearer {token}\r\n");
        let get = format!("GET /model HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}\r\n");
        let [learnt, kept] = ["/learn", "/snapshot"].map(|path| service.raw(&post(path, &row_of(1.0), &header)).0);
        [service.raw(get.as_bytes()).0, learnt, kept]
    };
    assert_eq!(["r", "l", "a", "x"].map(asks), [[200, 403, 403], [200, 200, 403], [200, 200, 200], [401; 3]]);
    tokens.set(all(["r2", "l2", "a2"]));
    assert_eq!(["r", "l2"].map(asks), [[401; 3], [200, 200, 403]]);
    tokens.set(Vec::new());
    assert_eq!(asks("l2"), [401; 3]);
    service.end().0.unwrap();
}

/// Clients of KServe and MLflow speak in tensors.
#[test]
fn tensors_are_predicted() {
    let service = Service::start(Mean { rows: 2, sum: 3.0, ..Mean::default() }, Options::default());
    let infer =
        |inputs: Json| service.post("/v2/models/model/infer", &json!({ "id": "7", "inputs": inputs }).to_string());
    let output = json!({ "name": "y", "datatype": "FP64", "shape": [3], "data": [1.5, 1.5, 1.5] });
    let expected = json!({ "id": "7", "model_name": "model", "outputs": [output] });
    let a = json!({ "name": "a", "shape": [3, 1], "datatype": "FP32", "data": [1, 2, 3] });
    let kind = json!({ "name": "kind", "shape": [3], "datatype": "BYTES", "data": ["x", "y", "z"] });
    let both = json!({ "name": "input", "shape": [3, 2], "datatype": "FP64", "data": [[1, 1], [2, 2], [3, 3]] });
    for inputs in [json!([a]), json!([kind, a]), json!([both])] {
        assert_eq!(infer(inputs.clone()), (200, expected.clone()), "{inputs}");
    }
    for (inputs, part) in [
        (json!([]), "no inputs"),
        (json!([kind]), "\"a\" is missing"),
        (json!([a, a]), "is there twice"),
        (json!([{ "name": "b", "shape": [1], "datatype": "FP64", "data": [1] }]), "is no column"),
        (json!([{ "name": "a", "shape": [2], "datatype": "FP64", "data": [1] }]), "has 1 values and the shape [2]"),
        (json!([{ "name": "a", "shape": [1], "datatype": "FP16", "data": [1] }]), "takes one of FP64"),
        (json!([{ "name": "a", "shape": [1], "datatype": "FP64", "data": [13] }]), "bad luck"),
    ] {
        let (status, told) = infer(inputs.clone());
        assert!(status == 422 && told["error"].as_str().unwrap().contains(part), "{inputs}: {told}");
    }
    for path in ["/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/model", "/v2/models/model/ready"] {
        assert_eq!(service.get(path).0, 200, "{path}");
    }
    assert_eq!(service.get("/v2/models/model").2["inputs"][1]["datatype"], "BYTES");
    assert_eq!(
        ["/v2/models/other", "/v2/models/MODEL", "/v2/models/model/x"].map(|path| service.get(path).0),
        [404; 3]
    );
    let (_, head, _) =
        service.raw(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-request-id: abc\r\nconnection: close\r\n\r\n");
    assert!(head.contains("x-request-id: abc"), "{head}");
    service.end().0.unwrap();
}

/// Intervals are tensors of their own, and of all tensors those are told that a client names.
#[test]
fn tensors_are_those_that_are_asked_for() {
    let service = Service::start(Mean { rows: 2, sum: 3.0, intervals: true, ..Mean::default() }, Options::default());
    let input = json!([{ "name": "a", "shape": [1], "datatype": "FP64", "data": [1] }]);
    let infer = |more: Json| {
        let mut body = json!({ "inputs": input });
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        service.post("/v2/models/model/infer", &body.to_string())
    };
    let tensors = |outputs: &[(&str, f64)]| {
        let tensor =
            |(name, value): &(&str, f64)| json!({ "name": name, "datatype": "FP64", "shape": [1], "data": [value] });
        json!({ "model_name": "model", "outputs": outputs.iter().map(tensor).collect::<Vec<_>>() })
    };
    let all = (200, tensors(&[("y", 1.5), ("y_lower", 0.5), ("y_upper", 2.5)]));
    assert_eq!(infer(json!({})), all);
    assert_eq!(infer(json!({ "outputs": [], "parameters": {} })), all);
    let two = json!({ "outputs": [{ "name": "y_upper", "parameters": {} }, { "name": "y" }] });
    assert_eq!(infer(two), (200, tensors(&[("y_upper", 2.5), ("y", 1.5)])));
    for (more, part) in [
        (json!({ "outputs": [{ "name": "z" }] }), "\"z\" is no output of this model, which has y, y_lower, y_upper"),
        (json!({ "outputs": [{ "name": "y" }, { "name": "y" }] }), "\"y\" is there twice"),
        (json!({ "outputs": [{}] }), "has no name"),
        (json!({ "outputs": "y" }), "takes an array"),
        (json!({ "id": 7 }), "the id is 7"),
        (json!({ "output": [] }), "\"output\" is not known"),
    ] {
        let (status, told) = infer(more.clone());
        assert!(status == 422 && told["error"].as_str().unwrap().contains(part), "{more}: {told}");
    }
    let model = service.get("/v2/models/model").2;
    let names: Vec<&Json> = model["outputs"].as_array().unwrap().iter().map(|of| &of["name"]).collect();
    assert_eq!(names, ["y", "y_lower", "y_upper"]);
    for (path, told) in [
        ("/v2/health/live", json!({ "live": true, "status": "ok" })),
        ("/v2/health/ready", json!({ "ready": true, "status": "ok" })),
        ("/v2/models/model/ready", json!({ "name": "model", "ready": true, "status": "ok" })),
    ] {
        assert_eq!(service.get(path).2, told, "{path}");
    }
    service.end().0.unwrap();
}

/// The one unused for longest is saved and closed for another, and opened again when it is asked.
#[test]
fn groups_make_room_for_others() {
    let (service, saved) = with_groups(2);
    let learn = |name: &str| service.post(&format!("/learn?group={name}"), &row_of(2.0));
    for name in ["a", "b", "a", "c", "a", "b", "c", "a"] {
        assert_eq!(learn(name).0, 200, "{name}");
    }
    assert_eq!(learn("b").1["rows"], 3);
    assert_eq!(saved.lock().unwrap().join(", "), "b 1, c 1, a 3, b 2, c 2");
    let (_, _, metrics) = service.get("/metrics");
    assert!(metrics.as_str().unwrap().contains("mercer_groups_closed_total 5\n"), "{metrics}");
    service.end().0.unwrap();
}

/// Nothing else than an accepted row of a permitted request begins a group.
#[test]
fn a_group_begins_with_a_row_that_is_learnt() {
    let (service, saved) = with_groups(2);
    let learn = |headers: &str, body: &str| service.raw(&post("/learn?group=a", body, headers)).0;
    let row = row_of(2.0);
    assert_eq!(service.get("/learn?group=a").0, 405);
    assert_eq!(service.get("/nothing?group=a").0, 404);
    for (headers, body, status) in [
        ("", "no JSON", 400),
        ("", r#"{"row":[1]}"#, 422),
        ("", &*row_of(13.0), 422),
        ("", r#"{"rows":[]}"#, 422),
        ("", r#"{"label":{"id":"0-0","target":1}}"#, 404),
        ("content-encoding: br\r\n", &row, 415),
        ("origin: http://evil.example\r\n", &row, 403),
        ("origin: null\r\n", &row, 403),
        ("sec-fetch-site: cross-site\r\n", &row, 403),
        ("transfer-encoding: gzip, chunked\r\n", &row, 501),
        ("expect: x\r\n", &row, 417),
    ] {
        let got = learn(headers, body);
        assert!(got == status || headers.starts_with("transfer") && got == 400, "{headers}{body}: {got}");
    }
    for query in ["?groups=a", "?Group=a", "?group%3Da", "?group=a&x=1", "?x", "?group=a&group=b"] {
        assert_eq!(service.post(&format!("/learn{query}"), &row).0, 400, "{query}");
    }
    assert_eq!(service.get("/health/live?group=a").0, 400);
    assert_eq!((service.get("/health").2["rows"].clone(), service.get("/health?group=a").0), (json!(0), 404));
    assert_eq!(learn("origin: http://localhost\r\n", &row), 200);
    service.end().0.unwrap();
    assert_eq!(saved.lock().unwrap().join(", "), "a 1");
}
