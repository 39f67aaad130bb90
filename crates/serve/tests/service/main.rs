//! A small model behind the server, as its clients meet it: bytes on a socket.

mod described;
mod shared;
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mercer_serve::{Access, Limits, Options, Scope, ServeError, Tokens};
use serde_json::{Value as Json, json};

use support::{FORECAST, Mean, Notes, Service, post};

#[test]
fn rows_are_predicted_and_learnt_in_order() {
    let service = Service::start(Mean::default(), Options { checkpoint: 2.try_into().ok(), ..Options::default() });
    assert_eq!(service.post("/predict", r#"{"row":[1,"x"]}"#), (200, json!({ "prediction": null })));
    // What a cell is read as that is read otherwise than it stands.
    let told = |count: u64| {
        let counts = json!({ "gaps": 0, "misfits": 0, "hashed": count, "otherwise": 0 });
        let mut column = counts.clone();
        column["name"] = "kind".into();
        (json!([column]), counts)
    };
    for (body, predicted, count) in [
        (r#"{"row":[1,"new"]}"#, json!({ "prediction": null }), 1),
        (
            r#"{"rows":[[1,"new"],[1,"x"],[2,"new"]]}"#,
            json!({ "predictions": vec![json!({ "prediction": null }); 3] }),
            2,
        ),
    ] {
        let mut expected = predicted;
        (expected["columns"], expected["counts"]) = told(count);
        assert_eq!(service.post("/predict", body), (200, expected));
    }
    let learnt = service.post("/learn", r#"{"row":{"a":1,"kind":null,"y":4,"w":0.5}}"#);
    assert_eq!(learnt, (200, json!({ "prediction": null, "rows": 1 })));
    let learnt = service.post("/learn", r#"{"rows":[[1,true,6,1],{"a":1,"y":1,"w":1}]}"#);
    let told = json!({ "predictions": [{ "prediction": 2.0 }, { "prediction": 4.0 }], "rows": 3 });
    assert_eq!(learnt, (200, told));
    let predicted = service.post("/predict", r#"{"rows":[{"a":0}],"variance":true}"#);
    assert_eq!(predicted, (200, json!({ "predictions": [{ "prediction": 3.0, "variance": 0.5 }] })));
    // What is refused is told with its place, and those before it are learnt.
    let (status, told) = service.post("/learn", r#"{"rows":[[1,1,3,1],[1,1,13,1],[1,1,3,1]]}"#);
    assert_eq!((status, &told["learnt"], &told["error"]), (422, &json!(1), &json!("rows[1]: 13 brings bad luck")));
    assert_eq!(service.get("/model").2, json!(4));
    let (_, _, health) = service.get("/health");
    assert_eq!((&health["rows"], &health["learnt"], &health["dictionary_size"]), (&json!(4), &json!(4), &json!(1)));
    let (_, _, metrics) = service.get("/metrics");
    for line in ["mercer_learnt_total 4\n", "mercer_predictions_total 6\n", "mercer_checkpoints_total 2\n"] {
        assert!(metrics.as_str().unwrap().contains(line), "{line}: {metrics}");
    }
    let (ended, saved) = service.end();
    assert!(ended.is_ok());
    assert_eq!(saved, ["2", "4"]);
}

#[test]
fn a_series_is_forecast() {
    let service = Service::start(Mean { series: true, ..Mean::default() }, Options::default());
    assert_eq!(service.post("/learn", r#"{"row":[7]}"#), (200, json!({ "prediction": null, "rows": 1 })));
    let told = json!({ "predictions": [{ "prediction": 7.0 }, { "prediction": 7.0 }] });
    assert_eq!(service.post("/predict", r#"{"steps":2}"#), (200, told));
    assert_eq!(service.post("/predict", r#"{"steps":6}"#).0, 422);
    // A forecast is made from a copy, and learning does not wait for it.
    thread::scope(|scope| {
        let foretold = scope.spawn(|| service.post("/predict", r#"{"steps":1}"#));
        thread::sleep(FORECAST / 3);
        let begun = Instant::now();
        service.post("/learn", r#"{"row":[null]}"#);
        assert!(begun.elapsed() < FORECAST / 2, "{:?}", begun.elapsed());
        assert_eq!(foretold.join().unwrap(), (200, json!({ "predictions": [{ "prediction": 7.0 }] })));
    });
    assert_eq!(service.end().1, ["2"]);
}

#[test]
fn a_disk_that_is_full_ends_nothing() {
    let service = Service::start(Mean::default(), Options { checkpoint: 1.try_into().ok(), ..Options::default() });
    service.full.store(1, Ordering::Relaxed);
    assert_eq!(service.post("/learn", r#"{"row":[1,1,1,1]}"#).0, 200);
    assert_eq!(service.get("/health").2["status"], "unsaved");
    assert_eq!(service.post("/learn", r#"{"row":[1,1,1,1]}"#).0, 200);
    assert_eq!(service.get("/health").2["status"], "ok");
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    assert_eq!(service.end().1, ["2", "3"]);

    let service = Service::start(Mean::default(), Options::default());
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    service.full.store(9, Ordering::Relaxed);
    let (ended, saved) = service.end();
    assert!(matches!(&ended, Err(ServeError::Save(why)) if why.to_string().contains("full")), "{ended:?}");
    assert!(saved.is_empty());
}

#[test]
fn a_model_that_fails_ends_the_service_unsaved() {
    let service = Service::start(Mean::default(), Options::default());
    assert_eq!(service.post("/learn", r#"{"row":[1,1,666,1]}"#).0, 503);
    let (ended, saved) = service.end();
    assert!(matches!(ended, Err(ServeError::Learner)) && saved.is_empty());
}

#[test]
fn a_closed_service_says_why() {
    let access = Access { closed: Some("only to be looked at".to_owned()), ..Access::default() };
    let service = Service::start(Mean::default(), Options { access, ..Options::default() });
    let (status, told) = service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    assert_eq!((status, &told["error"]), (403, &json!("only to be looked at")));
    assert!(service.get("/openapi.json").2["paths"].get("/learn").is_none());
    assert!(service.end().1.is_empty());
}

#[test]
fn what_was_learnt_is_saved_in_time_and_at_once_when_it_is_to_end() {
    let options = Options { checkpoint_time: Some(Duration::from_millis(100)), ..Options::default() };
    let service = Service::start(Mean::default(), options);
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(*service.saved.lock().unwrap(), ["1"]);
    assert_eq!(service.end().1, ["1"]);

    // A client that takes its time holds up the end, but not the saving.
    let service = Service::start(Mean::default(), Options { drain: Duration::from_secs(3), ..Options::default() });
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    let whole = post("/learn", r#"{"row":[1,1,1,1]}"#, "");
    let mut slow = TcpStream::connect(service.address).unwrap();
    let mut never = TcpStream::connect(service.address).unwrap();
    slow.write_all(&whole[..whole.len() - 5]).unwrap();
    never.write_all(&whole[..whole.len() - 5]).unwrap();
    thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    service.stop.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(*service.saved.lock().unwrap(), ["1"]);
    slow.write_all(&whole[whole.len() - 5..]).unwrap();
    let mut told = String::new();
    slow.read_to_string(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 200"), "{told}");
    assert_eq!(service.end().1, ["1", "2"]);
    assert!((Duration::from_secs(3)..Duration::from_secs(6)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

#[test]
fn columns_that_the_model_does_not_have_are_told_once_and_counted() {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let log = |_, text: &str| TOLD.lock().unwrap().push(text.to_owned());
    let service = Service::start(Mean::default(), Options { log, ..Options::default() });
    let counted = || {
        let text = service.get("/metrics").2;
        let mut lines = text.as_str().unwrap().lines();
        lines.find_map(|line| line.strip_prefix("mercer_unknown_values_total ")?.parse::<u64>().ok())
    };
    for body in [r#"{"row":{"a":1,"y":1,"w":1}}"#, r#"{"row":[1,1,1]}"#] {
        service.post("/learn", body);
    }
    assert_eq!((counted(), TOLD.lock().unwrap().len()), (Some(0), 0));
    for _ in 0..3 {
        assert_eq!(service.post("/learn", r#"{"rows":[{"a":1,"y":1,"w":1,"b":2,"c":3}]}"#).0, 200);
    }
    assert_eq!(service.post("/predict", r#"{"row":{"a":1,"y":1,"b":2}}"#).0, 200);
    assert_eq!(counted(), Some(7));
    let told = TOLD.lock().unwrap();
    assert!(
        told.len() == 2 && told[0].starts_with("the model has no column \"b\"; it is left out of all rows"),
        "{told:?}"
    );
}

#[test]
fn requests_are_read_strictly() {
    let service = Service::start(Mean::default(), Options { refuse_unknown: true, ..Options::default() });
    for (path, body, status, part) in [
        ("/learn", r#"{"row":{"a":1,"a":2,"y":1,"w":1}}"#, 400, "\"a\" is there twice"),
        ("/learn", r#"{"row":[1,1,1,1],"row":[1,1,1,1]}"#, 400, "\"row\" is there twice"),
        ("/predict", r#"{"row":{"a":1,"b":2}}"#, 422, "\"b\" is no column of this model"),
    ] {
        let (got, told) = service.post(path, body);
        assert!(got == status && told["error"].as_str().unwrap().contains(part), "{body}: {told}");
    }
    // The target is a column, and need not be taken out to predict.
    assert_eq!(service.post("/predict", r#"{"row":{"a":1,"y":2}}"#).0, 200);
    for (headers, body, status) in [
        ("content-encoding: br\r\n", "{}", 415),
        ("content-encoding: gzip\r\n", "{}", 400),
        ("content-encoding: identity\r\n", r#"{"row":[1,1]}"#, 200),
        ("host: localhost\r\n", r#"{"row":[1,1]}"#, 400),
    ] {
        let (got, _, told) = service.raw(&post("/predict", body, headers));
        assert_eq!(got, status, "{headers}: {told}");
    }
    let waiting = "POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n\
                   content-length: 99999999\r\n\r\n";
    assert_eq!(service.raw(waiting.as_bytes()).0, 413);
    // What is no request is told so, and counted.
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(40_000));
    for (bytes, status) in [("this is no HTTP\r\n\r\n", 400), (&*long, 431)] {
        let (got, head, told) = service.raw(bytes.as_bytes());
        assert!(got == status && told["error"].is_string(), "{head} {told}");
        assert!(head.contains("content-type: application/json") && head.contains("connection: close"), "{head}");
    }
    let document = service.get("/openapi.json").2;
    let paths = document["paths"].as_object().unwrap().keys().map(String::as_str);
    for path in paths.chain(["/rollback", "/snapshot", "/nothing"]) {
        for (host, status) in [("", 400), ("host: a b\r\n", 400), ("host:\r\n", 400), ("host: evil.example\r\n", 403)] {
            let asked = format!("GET {path} HTTP/1.1\r\n{host}connection: close\r\n\r\n");
            let (got, _, told) = service.raw(asked.as_bytes());
            assert!(got == status && told["error"].is_string(), "{path} {host}: {got} {told}");
        }
    }
    let (_, _, metrics) = service.get("/metrics");
    let line = "mercer_requests_total{method=\"other\",path=\"other\",status=\"4xx\"} 6\n";
    assert!(metrics.as_str().unwrap().contains(line), "{metrics}");
    service.end().0.unwrap();
}

#[test]
fn remarks_of_the_model_are_metrics() {
    let service = Service::start(Mean::default(), Options::default());
    let learn = |rows: usize| service.post("/learn", &json!({ "rows": vec![json!([1, 1, 3, 1]); rows] }).to_string()).0;
    let told = || service.get("/metrics").2.as_str().unwrap().contains("mercer_remark{cause=\"many_rows\"} 1\n");
    assert!(learn(500) == 200 && !told());
    assert!(learn(100) == 200 && told());
    service.end().0.unwrap();
}

#[test]
fn the_model_is_closed_to_those_who_do_not_know_the_token() {
    let access =
        Access { tokens: Tokens::new(vec![(Scope::Admin, "s3cret".to_owned())]), loopback: true, ..Access::default() };
    let service = Service::start(Mean::default(), Options { access, ..Options::default() });
    let with = |path: &str, headers: &str| {
        service
            .raw(format!("GET {path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n{headers}\r\n").as_bytes())
            .0
    };
    assert_eq!(with("/model", ""), 401);
    assert_eq!(with("/model", "authorization: Bearer secret\r\n"), 401);
    assert_eq!(with("/model", "authorization: Bearer s3cret\r\n"), 200);
    assert_eq!(with("/health", ""), 200);
    service.end().0.unwrap();
}

#[test]
fn every_path_of_a_closed_service_wants_the_token() {
    let access =
        Access { tokens: Tokens::new(vec![(Scope::Admin, "s3cret".to_owned())]), all: true, ..Access::default() };
    let service = Service::start(Mean::default(), Options { access, ..Options::default() });
    for path in ["/", "/health", "/metrics", "/openapi.json", "/curve", "/model", "/health/live", "/nothing"] {
        assert_eq!(service.get(path).0, 401, "{path}");
    }
    let predict = |headers: &str| service.raw(&post("/predict", r#"{"row":[1,1]}"#, headers)).0;
    assert_eq!([predict(""), predict("authorization: Bearer s3cret\r\n")], [401, 200]);
    service.end().0.unwrap();
}

#[test]
fn a_body_in_gzip_is_unpacked_within_the_bounds() {
    let limits = Limits { body: 4096, ..Limits::default() };
    let service = Service::start(Mean::default(), Options { limits, ..Options::default() });
    let send = |body: &str, cut: usize| {
        let mut packed = flate2::read::GzEncoder::new(body.as_bytes(), flate2::Compression::best());
        let mut bytes = Vec::new();
        packed.read_to_end(&mut bytes).unwrap();
        bytes.truncate(bytes.len() - cut);
        let mut whole = post("/predict", &"x".repeat(bytes.len()), "content-encoding: gzip\r\n");
        whole.truncate(whole.len() - bytes.len());
        service.raw(&[whole, bytes].concat())
    };
    let spaces = |count: usize| r#"{"row":[1,1]}"#.to_owned() + &" ".repeat(count);
    assert_eq!(send(&spaces(0), 0).2, json!({ "prediction": null }));
    assert_eq!([send(&spaces(4000), 0).0, send(&spaces(4000), 9).0, send(&spaces(1 << 20), 0).0], [200, 400, 413]);
    service.end().0.unwrap();
}

#[test]
fn labels_come_later() {
    let limits = Limits { kept_rows: 3, ..Limits::default() };
    let service = Service::start(Mean::default(), Options { limits, ..Options::default() });
    let (_, told) = service.post("/predict", r#"{"rows":[[1,"a"],[1,"a"],[1,"a"],[1,"a"]],"keep":true}"#);
    let ids: Vec<&str> = (0..4).map(|at| told["predictions"][at]["id"].as_str().unwrap()).collect();
    let label = |id: &str, target: Json| json!({ "label": { "id": id, "target": target } }).to_string();
    let learn = |id: &str, target: Json| service.post("/learn", &label(id, target));
    let (status, told) = learn(ids[0], json!(3));
    let why = told["error"].as_str().unwrap();
    assert!(status == 410 && why.contains("waits no longer") && why.contains("more than 3 rows"), "{told}");
    assert_eq!(learn(ids[1], json!(4)), (200, json!({ "prediction": null, "rows": 1 })));
    assert_eq!([learn(ids[1], json!(4)).0, learn("7-7", json!(4)).0], [410, 404]);
    // A row that the model refuses waits on.
    assert_eq!(learn(ids[2], json!(13)).0, 422);
    for (label, part) in [
        (json!({ "id": ids[2] }), "no target"),
        (json!({ "id": ids[2], "target": [1, 2] }), "2 values"),
        (json!({ "id": ids[2], "target": "x" }), "the target \"y\""),
        (json!({ "id": ids[2], "target": 1, "weight": -1 }), "the weight"),
        (json!({ "id": ids[2], "target": 1, "a": 1 }), "\"a\" is not known"),
        (json!(7), "it is 7"),
    ] {
        let (status, told) = service.post("/learn", &json!({ "labels": [label] }).to_string());
        assert!(status == 422 && told["error"].as_str().unwrap().contains(part), "{told}");
    }
    let both = json!({ "labels": [{ "id": ids[2], "target": 6, "weight": 0.5 }, { "id": ids[3], "target": 5 }] });
    let (status, told) = service.post("/learn", &both.to_string());
    assert_eq!((status, &told["rows"]), (200, &json!(3)));
    let (_, _, metrics) = service.get("/metrics");
    for line in ["mercer_kept_rows 0\n", "mercer_kept_expired_total 1\n", "mercer_learnt_total 3\n"] {
        assert!(metrics.as_str().unwrap().contains(line), "{line}: {metrics}");
    }
    service.end().0.unwrap();
}

#[test]
fn a_model_goes_back_to_its_snapshot() {
    let service = Service::start(Mean::default(), Options::default());
    assert_eq!(service.post("/snapshot", "").0, 403);
    service.end().0.unwrap();
    let access = Access { tokens: Tokens::new(vec![(Scope::Admin, "s3cret".to_owned())]), ..Access::default() };
    let service = Service::start(Mean::default(), Options { access, ..Options::default() });
    let token = "authorization: Bearer s3cret\r\n";
    let post = |path: &str, body: &str| {
        let (status, _, told) = service.raw(&post(path, body, token));
        (status, told)
    };
    let learn = || post("/learn", r#"{"row":[1,1,7,1]}"#);
    assert_eq!(service.post("/rollback", "").0, 401);
    let none = (409, json!({ "error": "there is no snapshot" }));
    assert_eq!(post("/rollback", ""), none);
    learn();
    assert_eq!(post("/snapshot", ""), (200, json!({ "rows": 1 })));
    learn();
    // What cannot be saved is not gone back from.
    service.full.store(1, Ordering::Relaxed);
    assert_eq!(post("/rollback", "").0, 409);
    assert_eq!(service.get("/health").2["rows"], 2);
    assert_eq!(post("/rollback", ""), (200, json!({ "rows": 1 })));
    assert_eq!(service.get("/health").2["rows"], 1);
    assert_eq!(post("/predict", r#"{"row":[1,1]}"#).1["prediction"], 10.0);
    learn();
    assert_eq!(service.end().1, ["2", "1", "2"]);
}

#[test]
fn health_is_a_status() {
    let service = Service::start(Mean::default(), Options { checkpoint: 1.try_into().ok(), ..Options::default() });
    for path in ["/health", "/health/live", "/health/ready"] {
        assert_eq!((service.get(path).0, &service.get(path).2["status"]), (200, &json!("ok")), "{path}");
    }
    service.full.store(1, Ordering::Relaxed);
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    assert_eq!(["/health", "/health/live", "/health/ready"].map(|path| service.get(path).0), [503, 200, 200]);
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    assert_eq!(service.get("/health").0, 200);
    service.end().0.unwrap();
}

#[test]
fn rows_are_in_the_journal_before_they_are_learnt_and_until_they_are_saved() {
    let (told, full): (Arc<Mutex<Vec<String>>>, Arc<AtomicBool>) = Default::default();
    let notes = Notes { told: Arc::clone(&told), full: Arc::clone(&full) };
    let options = Options { checkpoint: 3.try_into().ok(), ..Options::default() };
    let service = Service::start_with(Mean::default(), options, Some(Box::new(notes)));
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    service.post("/learn", r#"{"rows":[[1,1,1,1],[1,1,13,1]]}"#);
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    full.store(true, Ordering::Relaxed);
    let (status, head, body) = service.raw(&post("/learn", r#"{"row":[1,1,1,1]}"#, ""));
    assert!(status == 503 && head.contains("retry-after: 11"), "{head}");
    assert_eq!(body["error"], "the journal is full; nothing of this request was learnt, so send it again");
    full.store(false, Ordering::Relaxed);
    // A disk that refuses the model leaves the journal as it is.
    service.full.store(1, Ordering::Relaxed);
    service.post("/learn", r#"{"rows":[[1,1,1,1],[1,1,1,1]]}"#);
    service.post("/learn", r#"{"row":[1,1,1,1]}"#);
    assert_eq!(service.end().1, ["3", "6"]);
    let expected = "row 0, row 1, row 2, row 2, save at 3, clear, row 3, row 4, row 5, save at 6, save at 6, clear";
    assert_eq!(told.lock().unwrap().join(", "), expected);
}

#[test]
fn what_would_wait_too_long_is_to_be_asked_again() {
    let options = |wait| {
        let limits = Limits { wait: Duration::from_millis(wait), ..Limits::default() };
        Options { limits, threads: NonZeroUsize::new(1), ..Options::default() }
    };
    let service = Service::start(Mean::default(), options(300));
    // A row that takes half a second, then two of them; the next would have to wait.
    service.post("/learn", r#"{"row":[1,1,500,1]}"#);
    thread::scope(|scope| {
        let first = scope.spawn(|| service.post("/learn", r#"{"rows":[[1,1,500,1],[1,1,500,1]]}"#));
        thread::sleep(Duration::from_millis(100));
        let (status, head, _) = service.raw(&post("/learn", r#"{"row":[1,1,1,1]}"#, ""));
        assert!(status == 503 && head.contains("retry-after: 2"), "{head}");
        assert_eq!(service.get("/health/live").0, 200);
        assert_eq!(first.join().unwrap().0, 200);
    });
    assert_eq!(service.post("/learn", r#"{"row":[1,1,1,1]}"#).1["rows"], 4);
    service.end().0.unwrap();

    let service = Service::start(Mean { series: true, ..Mean::default() }, options(100));
    thread::scope(|scope| {
        let first = scope.spawn(|| service.post("/predict", r#"{"steps":1}"#));
        thread::sleep(FORECAST / 6);
        let (status, head, _) = service.raw(&post("/predict", r#"{"steps":1}"#, ""));
        assert!(status == 503 && head.contains("retry-after: 1"), "{head}");
        assert_eq!(first.join().unwrap().0, 200);
    });
    service.end().0.unwrap();
}

#[test]
fn the_rows_of_a_request_are_learnt_for_a_bounded_time() {
    let limits = Limits { learning: Duration::from_millis(100), ..Limits::default() };
    let service = Service::start(Mean::default(), Options { limits, ..Options::default() });
    let rows = json!({ "rows": vec![[1, 1, 500, 1]; 4] }).to_string();
    thread::scope(|scope| {
        let first = scope.spawn(|| service.raw(&post("/learn", &rows, "")));
        thread::sleep(Duration::from_millis(50));
        // Others see the model between two rows.
        assert_eq!([service.get("/health").0, service.post("/predict", r#"{"row":[1,1]}"#).0], [200, 200]);
        let (status, head, told) = first.join().unwrap();
        assert!(status == 503 && head.contains("retry-after: 1"), "{head}");
        assert_eq!(told["learnt"], 1);
        assert!(
            told["error"].as_str().unwrap().contains("the first 1 were learnt, so send the others again"),
            "{told}"
        );
    });
    assert_eq!(service.get("/health").2["rows"], 1);
    service.end().0.unwrap();
}

/// An answer that is longer than a piece, and what it holds as far as it was sent.
#[test]
fn long_answers_are_sent_in_pieces() {
    let limits = Limits { body: 1 << 21, rows: 1 << 20, ..Limits::default() };
    let model = Mean { more: 5 << 20, ..Mean::default() };
    let service = Service::start(model, Options { limits, ..Options::default() });
    let sent = |bytes: &[u8]| {
        let (_, head, body) = service.raw(bytes);
        (head, body.as_str().unwrap().to_owned())
    };
    let rows = |last: u32| format!(r#"{{"rows":[{}[{last},1]]}}"#, "[1,1],".repeat(100_000));
    let (head, body) = sent(&post("/predict", &rows(1), ""));
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("transfer-encoding: chunked"), "{head}");
    let whole = |mut rest: &str| {
        let mut whole = String::new();
        while let Some((size, chunk)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            whole += &chunk[..size.min(chunk.len())];
            rest = chunk.get(size + 2..).unwrap_or_default();
        }
        (whole, body.ends_with("\r\n0\r\n\r\n"))
    };
    let (text, ended) = whole(&body);
    let told: Json = serde_json::from_str(&text).unwrap();
    assert!(ended && told["predictions"].as_array().unwrap().len() == 100_001);
    // What is refused when an answer has begun cuts it off.
    let (head, body) = sent(&post("/predict", &rows(13), ""));
    assert!(head.starts_with("HTTP/1.1 200") && !body.ends_with("0\r\n\r\n"), "{head}");
    let (head, body) = sent(b"GET /model HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert!(head.contains(&format!("content-length: {}", 1 + (5 << 20))) && body.len() == 1 + (5 << 20), "{head}");
    service.end().0.unwrap();
}
