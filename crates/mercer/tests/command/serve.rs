//! `mercer serve` as its clients meet it: bytes on a socket.

#![cfg(all(unix, feature = "serve"))]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Service, parse, read_to_end, request};
use crate::support::{Folder, csv, examples};

/// `all.csv` with 200 rows, and `m.mercer` that has learnt the first 100 of them, which are
/// `first.csv`.
fn trained(options: &str) -> Folder {
    let all = csv(&examples(200));
    let first: String = all.lines().take(101).map(|line| format!("{line}\n")).collect();
    let folder = Folder::new().with("all.csv", all).with("first.csv", first);
    folder.done(&format!("train first.csv --learner krls --kernel gaussian:0.7 {options} --out m.mercer --quiet"));
    folder
}

/// The rows of `examples` as objects, from one on.
fn objects(rows: usize, from: usize) -> Vec<Value> {
    let table = examples(rows);
    table.iter().skip(from).map(|(x, y)| json!({ "a": x[0], "b": x[1], "c": x[2], "y": y })).collect()
}

#[test]
fn what_is_served_and_learnt_is_what_a_file_would_have_taught() {
    for options in ["", "--intervals 0.9 --scale standard", "--set lambda=0.1 --intervals 0.8"] {
        let folder = trained(options);
        let share = if options.contains("0.9") { " --intervals 0.9" } else { "" };
        let rest: String = folder
            .read("all.csv")
            .lines()
            .enumerate()
            .filter(|(at, _)| *at == 0 || *at > 100)
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        let folder = folder.with("rest.csv", rest);
        std::fs::copy(folder.path("m.mercer"), folder.path("file.mercer")).unwrap();
        let told = folder.done(&format!("predict rest.csv --model file.mercer --learn --quiet{share}"));
        let expected: Vec<Vec<f64>> =
            told.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();

        let service = Service::start(&folder, "--model m.mercer");
        let rows = objects(200, 100);
        let mut got = Vec::new();
        for row in &rows[..30] {
            let predicted = service.predict(&json!({ "row": row }));
            let learnt = service.learn(&json!({ "row": row }));
            let [asked, prequential] = [&predicted, &learnt].map(|told| told["prediction"].as_f64().unwrap());
            assert!((asked - prequential).abs() <= 1e-12, "{asked} when asked, {prequential} when learning");
            assert_eq!(learnt["rows"].as_u64(), Some(101 + got.len() as u64));
            got.push(learnt);
        }
        // The rest in batches, as objects and as arrays.
        let learnt = service.learn(&json!({ "rows": rows[30..60] }));
        got.extend(learnt["predictions"].as_array().unwrap().iter().cloned());
        let arrays: Vec<Value> = rows[60..].iter().map(|row| json!([row["a"], row["b"], row["c"], row["y"]])).collect();
        let learnt = service.learn(&json!({ "rows": arrays }));
        got.extend(learnt["predictions"].as_array().unwrap().iter().cloned());
        for (got, expected) in got.iter().zip(&expected) {
            assert_eq!(got["prediction"].as_f64(), Some(expected[0]), "{options}");
            if !share.is_empty() {
                assert_eq!([&got["lower"], &got["upper"]].map(Value::as_f64), [Some(expected[1]), Some(expected[2])]);
            }
        }
        assert_eq!(got.len(), expected.len());
        // The download is the file that the end writes.
        let answer = service.get("/model");
        assert!(answer.status == 200 && answer.head.contains("filename=\"m.mercer\""), "{}", answer.head);
        service.ends_well();
        assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("file.mercer")).unwrap());
        assert_eq!(folder.names(), ["all.csv", "file.mercer", "first.csv", "m.mercer", "rest.csv"]);
    }
}

#[test]
fn classes_are_served_with_their_probabilities() {
    let rows = |from: usize, to: usize| -> Vec<(f64, f64, &str)> {
        let table = examples(to);
        let kind = |x: &[f64]| ["red", "green", "blue"][usize::from(x[0] > 0.0) + usize::from(x[1] > 0.0)];
        table.iter().skip(from).map(|(x, _)| (x[0], x[1], kind(x))).collect()
    };
    let text = |rows: &[(f64, f64, &str)]| {
        "a,b,kind\n".to_owned() + &rows.iter().map(|(a, b, kind)| format!("{a},{b},{kind}\n")).collect::<String>()
    };
    let folder = Folder::new().with("first.csv", text(&rows(0, 80))).with("rest.csv", text(&rows(80, 120)));
    folder.done("train first.csv --learner krls --kernel gaussian:0.7 --set lambda=0.1 --out m.mercer --quiet");
    std::fs::copy(folder.path("m.mercer"), folder.path("file.mercer")).unwrap();
    let told = folder.done("predict rest.csv --model file.mercer --learn --quiet");
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("prediction,p_blue,p_green,p_red"));
    let service = Service::start(&folder, "--model m.mercer");
    for ((a, b, kind), line) in rows(80, 120).into_iter().zip(lines) {
        let learnt = service.learn(&json!({ "row": { "a": a, "b": b, "kind": kind } }));
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(learnt["prediction"].as_str(), Some(cells[0]));
        for (class, cell) in ["blue", "green", "red"].into_iter().zip(&cells[1..]) {
            assert_eq!(learnt["probabilities"][class].as_f64(), cell.parse().ok());
        }
    }
    let refused = service.post("/learn", &json!({ "row": [0, 0, "v".repeat(300)] }));
    assert!(refused.status == 422 && refused.error().contains("give a name of 256 at most"), "{}", refused.body);
    // A class that nobody has heard of becomes one.
    service.learn(&json!({ "row": [0, 0, "violet"] }));
    let told = service.predict(&json!({ "rows": [[0, 0]] }));
    assert!(told["predictions"][0]["probabilities"]["violet"].as_f64().unwrap() > 0.0, "{told}");
    let refused = service.post("/learn", &json!({ "row": [0, 0, " "] }));
    assert!(refused.status == 422 && refused.error().contains("is an empty text"), "{}", refused.body);
    service.ends_well();
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(121));
    let service = Service::start(&folder, "--model m.mercer --max-classes 4");
    let refused = service.post("/learn", &json!({ "rows": [[0, 0, "violet"], [0, 0, "pink"]] }));
    assert!(refused.status == 422 && refused.error().starts_with("rows[1]: there are 4 classes"), "{}", refused.body);
    service.ends_well();
}

/// The logs and the model on one full disk: what was acknowledged stays in memory until there is
/// room.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_room_for_words_or_the_model_ends_nothing() {
    let folder = trained("");
    let program = env!("CARGO_BIN_EXE_mercer");
    let line = format!(
        "trap '' XFSZ; ulimit -S -f 1; exec {program} serve --model m.mercer --addr 127.0.0.1:0 --checkpoint 1 --access-log /dev/full"
    );
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new("sh");
    let mut service = Service::spawn(command.args(["-c", &line]).current_dir(folder.path("")).stderr(full));
    for at in 1..=3 {
        assert_eq!(service.learn(&json!({ "row": [0.1, 0.2, 0.3, 0.4] }))["rows"].as_u64(), Some(100 + at));
    }
    let health = service.get("/health");
    assert_eq!((health.status, health.json()["status"].as_str()), (503, Some("unsaved")));
    assert_eq!(service.get("/model").status, 200);
    while service.get("/metrics").body.contains("mercer_log_lost_total 0\n") {}
    let limit = ["--fsize=unlimited", "--pid", &service.child.id().to_string()].map(str::to_owned);
    if Command::new("prlimit").args(limit).status().is_ok_and(|status| status.success()) {
        service.learn(&json!({ "row": [0.1, 0.2, 0.3, 0.4] }));
        assert_eq!(service.get("/health").status, 200);
        assert!(Command::new("kill").arg(service.child.id().to_string()).status().unwrap().success());
        assert_eq!(service.child.wait().unwrap().code(), Some(0));
        assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(104));
    }
}

/// Somebody puts another file where the model was.
#[test]
fn a_file_in_the_place_of_the_model_is_left_alone() {
    let folder = trained("").with("other", "another file");
    let service = Service::start(&folder, "--model m.mercer --checkpoint 1");
    // One that was removed is written again.
    std::fs::remove_file(folder.path("m.mercer")).unwrap();
    service.learn(&json!({ "row": [0, 0, 0, 0] }));
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(101));
    std::fs::rename(folder.path("other"), folder.path("m.mercer")).unwrap();
    service.learn(&json!({ "row": [0, 0, 0, 0] }));
    assert_eq!((service.get("/health").status, folder.read("m.mercer").as_str()), (503, "another file"));
    std::fs::remove_file(folder.path("m.mercer")).unwrap();
    service.learn(&json!({ "row": [0, 0, 0, 0] }));
    assert_eq!(service.get("/health").status, 200);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("m.mercer: another file was put there"), "{said}");
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(103));
}

/// Categories, dates and gaps, by name and in order, with a weight.
#[test]
fn tables_are_served_with_any_cell() {
    let row = |t: usize| {
        let size = if t % 9 == 4 { Value::Null } else { json!(40 + t * 37 % 80) };
        let date = format!("2024-{:02}-{:02}", 1 + t / 28 % 12, 1 + t % 28);
        let (city, price) = (["Ulm", "Bonn", "Kiel"][t % 3], 100 * (1 + t % 3) + 2 * (t * 37 % 80));
        json!({ "day": date, "city": city, "size": size, "w": 1 + t % 2, "price": price })
    };
    let lines = |from: usize, to: usize| (from..to).map(|t| format!("{}\n", row(t))).collect::<String>();
    let folder = Folder::new().with("first.ndjson", lines(0, 120)).with("rest.ndjson", lines(120, 180));
    let told = folder.run(
        "train first.ndjson --learner krls --set lambda=0.1 --scale standard --target price --weight w --out m.mercer --quiet",
    );
    assert_eq!(told.code, Some(0), "{}", told.err);
    std::fs::copy(folder.path("m.mercer"), folder.path("file.mercer")).unwrap();
    let told = folder.piped(b"", "predict rest.ndjson --model file.mercer --learn --quiet");
    assert_eq!((told.code, told.err.as_str()), (Some(0), ""));
    let service = Service::start(&folder, "--model m.mercer");
    for (t, line) in (120..180).zip(told.out.lines()) {
        let expected: Value = serde_json::from_str(line).unwrap();
        let row = row(t);
        let learnt = if t % 2 == 0 {
            service.learn(&json!({ "row": row }))
        } else {
            // As the file has its columns, the target and the weight behind the others.
            let values = ["city", "day", "size", "price", "w"].map(|name| row[name].clone());
            service.learn(&json!({ "row": values }))
        };
        assert_eq!(learnt["prediction"], expected["prediction"], "{t}");
    }
    let answer = service.predict(&json!({ "row": { "day": null, "city": "Rom", "size": "?" }, "variance": true }));
    assert!(answer["prediction"].is_f64() && answer["variance"].is_f64(), "{answer}");
    let refused = service.post("/predict", &json!({ "row": { "day": null, "city": "Rom" } }));
    assert_eq!(refused.error(), "row: \"size\" is missing; give a value, or null if there is none");
    let refused = service.post("/predict", &json!({ "row": [["Rom"], null, 1] }));
    assert_eq!(refused.error(), "row: \"city\" is an array; give a number, a text or null");
    service.ends_well();
    assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("file.mercer")).unwrap());
}

/// Rows of a series with a gap, one after the other.
#[test]
fn a_series_is_forecast_and_goes_on() {
    let value = |t: usize| (t as f64 / 5.0).sin();
    let cells = |t: usize| [value(t), value(t + 3) / 2.0];
    let lines = |from: usize, to: usize| {
        let line = |t: usize| match (t, cells(t)) {
            (90, [a, _]) => format!("{a},\n"),
            (_, [a, b]) => format!("{a},{b}\n"),
        };
        "a,b\n".to_owned() + &(from..to).map(line).collect::<String>()
    };
    let folder = Folder::new().with("first.csv", lines(0, 80)).with("rest.csv", lines(80, 120));
    folder.done("forecast first.csv --method opf --gamma 0.5 --t-init 20 --intervals 0.9 --out m.mercer");
    std::fs::copy(folder.path("m.mercer"), folder.path("file.mercer")).unwrap();
    folder.done("forecast rest.csv --model file.mercer --out file.mercer --predictions out.csv");
    let expected: Vec<Vec<f64>> = folder
        .read("out.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let service = Service::start(&folder, "--model m.mercer");
    for (t, expected) in (80..120).zip(&expected) {
        let [a, b] = cells(t);
        let b = if t == 90 { Value::Null } else { json!(b) };
        let foretold = service.predict(&json!({}));
        let learnt = if t % 2 == 0 {
            service.learn(&json!({ "row": [a, b] }))
        } else {
            service.learn(&json!({ "row": { "b": b, "a": a } }))
        };
        assert_eq!(learnt["rows"].as_u64(), Some(t as u64 + 1));
        for (name, of) in [("prediction", [1, 2]), ("lower", [3, 5]), ("upper", [4, 6])] {
            assert_eq!(learnt[name], json!(of.map(|column| expected[column])), "{t} {name}");
            assert_eq!(foretold["predictions"][0][name], learnt[name], "{t} {name}");
        }
    }
    let ahead = service.predict(&json!({ "steps": 3 }));
    assert_eq!(ahead["predictions"].as_array().map(Vec::len), Some(3));
    // Only the next row has intervals that were calibrated.
    assert!(ahead["predictions"][0]["lower"][0].is_f64() && ahead["predictions"][2]["lower"][0].is_null(), "{ahead}");
    for (path, body, part) in [
        ("/predict", "{\"steps\":0}", "give a whole number from 1 to 1000"),
        ("/predict", "{\"steps\":1.5}", "steps is 1.5"),
        ("/predict", "{\"row\":[1,2]}", "\"row\" is not known here; send {\"steps\": H}"),
        ("/predict", "{\"steps\":1001}", "give a whole number from 1 to 1000"),
        ("/learn", "{\"row\":[1]}", "it has 1 values and needs 2"),
        ("/learn", "{\"row\":{\"a\":1}}", "\"b\" is missing"),
        ("/learn", "{\"row\":[1,\"x\"]}", "\"b\" is a text"),
    ] {
        let answer = service.post_text(path, body, "");
        assert!(answer.status == 422 && answer.error().contains(part), "{path} {body}: {}", answer.body);
    }
    assert_eq!(service.get("/").status, 200);
    service.ends_well();
    assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("file.mercer")).unwrap());

    // Of many columns fewer steps.
    let folder = folder.with("wide.csv", "1,2,3,4\n".repeat(30));
    folder.done("forecast wide.csv --t-init 5 --out wide.mercer");
    let service = Service::start(&folder, "--model wide.mercer");
    let refused = service.post("/predict", &json!({ "steps": 501 }));
    assert!(refused.status == 422 && refused.error().contains("from 1 to 500"), "{}", refused.body);
    service.ends_well();
}

#[test]
fn bad_requests_are_told_how_to_mend_them() {
    let folder = trained("");
    let service = Service::start(&folder, "--model m.mercer --max-rows 3 --max-body 2000");
    let many = format!("[{}]", "[1,2,3],".repeat(4).trim_end_matches(','));
    let nested = "[".repeat(900);
    for (path, status, body, parts) in [
        ("/predict", 400, "", &["not JSON", "{\"row\": ROW}"][..]),
        ("/predict", 400, "{\"row\":", &["not JSON"]),
        ("/predict", 400, &nested, &["not JSON"]),
        ("/predict", 400, "{\"row\":[1e400,1,1]}", &["not JSON", "number out of range"]),
        ("/predict", 400, "\u{0}", &["not JSON"]),
        ("/predict", 422, "[1,2,3]", &["the body is an array"]),
        ("/predict", 422, "{}", &["neither row nor rows"]),
        ("/predict", 422, "{\"row\":[1,2,3],\"rows\":[]}", &["both row and rows"]),
        ("/predict", 422, "{\"rows\":{}}", &["rows is an object"]),
        ("/predict", 422, "{\"row\":[1,2,3],\"x\":1}", &["\"x\" is not known"]),
        ("/predict", 422, "{\"row\":[1,2,3],\"variance\":1}", &["variance is 1"]),
        ("/learn", 422, "{\"row\":[1,2,3,4],\"variance\":true}", &["\"variance\" is not known"]),
        ("/predict", 422, "{\"row\":7}", &["row: it is 7"]),
        ("/predict", 422, "{\"row\":[1,2]}", &["row: it has 2 values and needs 3: 3 features"]),
        ("/learn", 422, "{\"row\":[1,2,3]}", &["it has 3 values and needs 4: 3 features, then the target"]),
        ("/predict", 422, "{\"row\":{\"a\":1,\"b\":2}}", &["row: \"c\" is missing"]),
        ("/learn", 422, "{\"row\":{\"a\":1,\"b\":2,\"c\":3}}", &["the target \"y\" is missing"]),
        ("/predict", 422, "{\"rows\":[[1,2,3],[1,\"2\",3]]}", &["rows[1]: \"b\" is a text"]),
        ("/predict", 422, "{\"row\":[1,null,3]}", &["row: \"b\" is null"]),
        ("/predict", 422, "{\"row\":[1,1e101,3]}", &["\"b\" is 1e+101; give a number within ±1e100"]),
        ("/predict", 422, &format!("{{\"rows\":{many}}}"), &["there are 4 rows; send 3 at most"]),
        ("/predict", 413, &format!("{{\"row\":[{}1]}}", "1,".repeat(2000)), &["larger than 2000 bytes"]),
        ("/nowhere", 404, "{}", &["nothing at this path"]),
        ("/health", 405, "{}", &["/health takes GET, HEAD"]),
    ] {
        let answer = service.post_text(path, body, "");
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
        for part in parts {
            assert!(answer.error().contains(part), "{path} {body}: {part:?} is not in {}", answer.body);
        }
    }
    let answer = service.get("/learn");
    assert!(answer.status == 405 && answer.head.contains("allow: POST"), "{}", answer.head);
    let answer =
        service.raw(b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    assert_eq!((answer.status, answer.error().contains("Content-Type: application/json")), (415, true));
    // Of a batch the rows before the bad one may be learnt only if all can be read.
    let refused = service.post("/learn", &json!({ "rows": [[0, 0, 0, 0], [0, 0, 0]] }));
    assert_eq!((refused.status, refused.json().get("learnt")), (422, None));
    assert_eq!(service.get("/health").json()["learnt"].as_u64(), Some(0));
    service.ends_well();
    assert_eq!(folder.json("inspect m.mercer")["rows"].as_u64(), Some(100));
}

/// A request that is no HTTP is answered or closed, and others go on being served.
#[test]
fn malformed_slow_and_half_closed_requests_end_within_bounds() {
    let folder = trained("");
    let service =
        Service::start(&folder, "--model m.mercer --timeout 1 --max-connections 4 --max-head 8192 --max-body 1024");
    let status = |bytes: &[u8]| service.raw(bytes).status;
    assert_eq!(status(b"\x16\x03\x01 this is no HTTP\r\n\r\n"), 400);
    assert_eq!(status(b"GET / HTTP/9.9\r\n\r\n"), 400);
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(20_000));
    assert_eq!(status(long.as_bytes()), 431);
    assert_eq!(status(b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n"), 400);
    // Chunks are as good as a length, and as bounded.
    let chunked = "POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    assert_eq!(status(format!("{chunked}15\r\n{{\"row\":[0.1,0.2,0.3]}}\r\n0\r\n\r\n").as_bytes()), 200);
    let flood = format!("{chunked}{}", format!("800\r\n{}\r\n", "x".repeat(0x800)).repeat(2));
    assert_eq!(status(format!("{flood}0\r\n\r\n").as_bytes()), 413);
    // A client that closes its side once it has asked is answered.
    let mut stream = service.connect();
    stream.write_all(&request("/predict", "{\"row\":[0.1,0.2,0.3]}", "")).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&mut stream).status, 200);
    // One that closes it in the midst of a head or a body is not waited for.
    for bytes in [
        &b"POST /predict HT"[..],
        b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{",
    ] {
        let start = Instant::now();
        let mut stream = service.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut said = Vec::new();
        drop(stream.read_to_end(&mut said));
        assert!(said.is_empty() || parse(&said).status == 400, "{}", String::from_utf8_lossy(&said));
        assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    }
    // Slow heads are closed, slow bodies are told so; idle connections end, too.
    let within = |bytes: &[u8], expected: Option<u16>| {
        let start = Instant::now();
        let mut stream = service.connect();
        stream.write_all(bytes).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        assert_eq!((!said.is_empty()).then(|| parse(&said).status), expected, "{}", String::from_utf8_lossy(&said));
        assert!(
            (Duration::from_millis(900)..Duration::from_secs(10)).contains(&start.elapsed()),
            "{:?}",
            start.elapsed()
        );
    };
    thread::scope(|scope| {
        scope.spawn(|| within(b"", None));
        scope.spawn(|| within(b"GET / HTTP/1.1\r\nhost: ", None));
        let slow = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{\"row\"";
        scope.spawn(|| within(slow, Some(408)));
    });
    // Whoever asks and asks and never reads is cut off.
    let mut stream = service.connect();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let start = Instant::now();
    let page = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    while stream.write_all(&page).is_ok() {}
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    drop(stream);
    // Four may be connected; the fifth is told to come again.
    let held: Vec<TcpStream> = (0..4).map(|_| service.connect()).collect();
    thread::sleep(Duration::from_millis(200));
    let mut stream = service.connect();
    let answer = read_to_end(&mut stream);
    assert!(answer.status == 503 && answer.head.contains("retry-after"), "{}", answer.head);
    drop(held);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(service.get("/health").status, 200);
    let metrics = service.get("/metrics").body;
    assert!(metrics.contains("mercer_connections_refused_total 1\n"), "{metrics}");
    assert!(!metrics.contains("status=\"5xx\""), "{metrics}");
    service.ends_well();
}

#[test]
fn only_those_who_know_the_token_learn() {
    let folder = trained("");
    let body = "{\"row\":[0,0,0,0]}";
    let service = Service::start_with(&folder, "--model m.mercer", Some("s3cret"));
    for (headers, status) in [
        ("", 401),
        ("authorization: Bearer s3cre\r\n", 401),
        ("authorization: Bearer s3crets\r\n", 401),
        ("authorization: Basic s3cret\r\n", 401),
        ("authorization: bearer s3cret\r\n", 200),
    ] {
        let answer = service.post_text("/learn", body, headers);
        assert_eq!(answer.status, status, "{headers}: {}", answer.body);
        assert!(status != 401 || answer.head.contains("www-authenticate: Bearer"), "{}", answer.head);
    }
    assert_eq!(service.post_text("/predict", "{\"row\":[0,0,0]}", "").status, 200);
    let document = service.get("/openapi.json").json();
    assert_eq!(document["components"]["securitySchemes"]["token"]["scheme"].as_str(), Some("bearer"));
    service.ends_well();

    // Without a token a name that leads here is not enough: a page from elsewhere could have made
    // it.
    let service = Service::start(&folder, "--model m.mercer");
    let named = |host: &str| {
        let text = String::from_utf8(request("/learn", body, ""))
            .unwrap()
            .replace("host: localhost", &format!("host: {host}"));
        service.raw(text.as_bytes()).status
    };
    assert_eq!(["evil.example", "localhost:80", "127.0.0.1:80"].map(named), [403, 200, 200]);
    service.ends_well();

    // Others may reach this address, so nobody may learn.
    let output =
        folder.command(&["serve", "--model", "m.mercer", "--addr", "0.0.0.0:0"]).env_remove("MERCER_TOKEN").output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("or give --open to let everybody read"), "{said}");
    let mut command = folder.command(&["serve", "--model", "m.mercer", "--addr", "0.0.0.0:0", "--open"]);
    let mut service = Service::spawn(command.env_remove("MERCER_TOKEN").stderr(Stdio::piped()));
    service.address = SocketAddr::from(([127, 0, 0, 1], service.address.port()));
    let answer = service.post_text("/learn", body, "");
    assert!(answer.status == 403 && answer.error().contains("MERCER_TOKEN"), "{}", answer.body);
    assert!(service.get("/openapi.json").json()["paths"].get("/learn").is_none());
    let (code, said) = service.end("-INT");
    assert!(code == Some(0) && said.contains("/learn is closed") && said.contains("MERCER_TOKEN"), "{said}");

    let mut command = folder.command(&["serve", "--model", "m.mercer", "--addr", "127.0.0.1:0"]);
    let output = command.env("MERCER_TOKEN", "").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.starts_with("mercer: MERCER_TOKEN: is empty"), "{said}");
}

#[test]
fn a_killed_service_loses_what_came_after_its_last_checkpoint() {
    let folder = trained("");
    let rows = objects(200, 100);
    let mut service = Service::start(&folder, "--model m.mercer --checkpoint 10");
    for row in &rows[..37] {
        service.learn(&json!({ "row": row }));
    }
    folder.refused(1, "predict all.csv --model m.mercer --learn", &["is learning this model"]);
    folder.refused(1, "serve --model m.mercer --addr 127.0.0.1:0", &["is learning this model"]);
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(130));
    // What follows is as if nothing had happened.
    let service = Service::start(&folder, "--model m.mercer --checkpoint 10");
    service.learn(&json!({ "rows": rows[30..] }));
    service.ends_well();
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out whole.mercer --quiet");
    assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("whole.mercer")).unwrap());
}

/// A request whose body is still coming when the signal comes is answered, and what it taught is
/// saved.
#[test]
fn requests_in_progress_are_finished() {
    let folder = trained("");
    let service = Service::start(&folder, "--model m.mercer");
    let mut stream = service.connect();
    let whole = request("/learn", "{\"row\":[0.1,0.2,0.3,0.4]}", "");
    let (begin, rest) = whole.split_at(whole.len() - 5);
    stream.write_all(begin).unwrap();
    thread::sleep(Duration::from_millis(200));
    assert!(Command::new("kill").arg(service.child.id().to_string()).status().unwrap().success());
    thread::sleep(Duration::from_millis(300));
    assert!(TcpStream::connect(service.address).is_err());
    stream.write_all(rest).unwrap();
    let answer = read_to_end(&mut stream);
    assert_eq!((answer.status, answer.json()["rows"].as_u64()), (200, Some(101)), "{}", answer.body);
    let mut service = service;
    assert_eq!(service.child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(101));
    assert_eq!(folder.names(), ["all.csv", "first.csv", "m.mercer"]);
}

/// Readers and learners at once: every answer is that of a model between two rows, and nothing is
/// lost.
#[test]
fn many_clients_at_once_lose_nothing() {
    let folder = trained("");
    let service = Service::start(&folder, "--model m.mercer");
    let (clients, each) = (16_u32, 20_u32);
    thread::scope(|scope| {
        for client in 0..clients {
            let service = &service;
            scope.spawn(move || {
                for at in 0..each {
                    let x = f64::from(client * each + at) / f64::from(clients * each);
                    let learnt = service.learn(&json!({ "row": [x, -x, x / 2.0, x] }));
                    assert!(learnt["prediction"].is_f64() && learnt["rows"].as_u64() > Some(100));
                    let predicted = service.predict(&json!({ "rows": [[x, -x, x / 2.0], [x, x, x]] }));
                    assert_eq!(predicted["predictions"].as_array().map(Vec::len), Some(2));
                }
            });
        }
    });
    let learnt = u64::from(clients * each);
    let metrics = service.get("/metrics").body;
    for line in [
        format!("mercer_learnt_total {learnt}"),
        format!("mercer_predictions_total {}", 2 * learnt),
        format!("mercer_rows {}", 100 + learnt),
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line}: {metrics}");
    }
    let points = service.get("/curve").json()["points"].as_array().unwrap().clone();
    assert!(points.len() > 30 && points.iter().all(|point| point["loss"].is_f64()), "{points:?}");
    service.ends_well();
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(100 + learnt));
}

#[test]
fn the_rest_is_there() {
    let folder = trained("");
    let before = std::fs::read(folder.path("m.mercer")).unwrap();
    let service = Service::start(&folder, "--model m.mercer --read-only");
    let page = service.get("/");
    assert!(page.status == 200 && page.head.contains("content-security-policy: default-src 'none'"), "{}", page.head);
    assert!(page.body.contains("\"krls\"") && !page.body.contains("/*MODEL*/null") && !page.body.contains("src="));
    let document = service.get("/openapi.json").json();
    assert_eq!(document["openapi"].as_str(), Some("3.1.0"));
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["RowByName"]["required"], json!(["a", "b", "c"]));
    assert_eq!(schemas["Row"]["oneOf"][1]["maxItems"].as_u64(), Some(3));
    let refused = service.post("/learn", &json!({ "row": [0, 0, 0, 0] }));
    assert!(refused.status == 403 && refused.error().contains("--read-only"), "{}", refused.body);
    // Whoever only reads locks nothing.
    folder.done("predict all.csv --model m.mercer --learn --quiet");
    std::fs::write(folder.path("m.mercer"), before).unwrap();
    assert!(service.raw(b"HEAD /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").body.is_empty());
    assert_eq!(service.end("-TERM").0, Some(0));

    // A token closes the file of the model, whoever may learn.
    let service = Service::start_with(&folder, "--model m.mercer --read-only", Some("s3cret"));
    assert_eq!(["/model", "/health"].map(|path| service.get(path).status), [401, 200]);
    service.ends_well();

    let folder = folder.with("wide.csv", ("0,".repeat(600) + "1\n").repeat(3));
    folder.done("train wide.csv --learner klms --header no --task regression --out wide.mercer --quiet");
    folder.refused(1, "serve --model wide.mercer --max-body 1024", &["has 600 columns", "raise --max-body"]);
    folder.refused(1, "serve --model none.mercer", &["none.mercer"]);
    folder.refused(2, "serve --model m.mercer --addr localhost", &["--addr", "such as 127.0.0.1:8080"]);
    folder.refused(2, "serve --model m.mercer --max-head 100", &["8192"]);
    folder.refused(2, "serve --model m.mercer --drain 5", &["--drain", "such as 30s"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    folder.refused(
        1,
        &format!("serve --model m.mercer --addr {}", taken.local_addr().unwrap()),
        &["cannot be listened on", "--addr"],
    );
    let folder = folder.with("pairs.csv", "0,0.1\n0.5,0.6\n1,1.1\n");
    folder.done("koopman pairs.csv --method sogd --state-dim 1 --set kernel=gaussian:1 --out k.mercer");
    folder.refused(1, "serve --model k.mercer", &["k.mercer", "mercer koopman uses it"]);
}
