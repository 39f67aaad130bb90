//! Faults that `mercer serve` stands: saves that fail at the start, damaged journals, changed
//! options, two signals, files that are touched, rows off the grid of a series, idle clients. Each
//! fails where the old behaviour comes back.

#![cfg(all(unix, feature = "serve"))]

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Answer, Service, read_to_end};
use crate::support::{Folder, csv, examples};

/// `m.mercer` has learnt 100 rows.
fn trained() -> Folder {
    let folder = Folder::new().with("rows.csv", csv(&examples(100)));
    folder.done("train rows.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    folder
}

fn kill(folder: &Folder, mut service: Service) {
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    for name in folder.names().iter().filter(|name| name.ends_with(".lock")) {
        fs::remove_file(folder.path(name)).unwrap();
    }
}

fn learn(service: &Service, y: f64) -> Answer {
    service.post("/learn", &json!({ "row": [0.1, 0.2, 0.3, y] }))
}

fn rows(service: &Service) -> Option<u64> {
    service.get("/health").json()["rows"].as_u64()
}

fn length(folder: &Folder, name: &str) -> u64 {
    fs::metadata(folder.path(name)).unwrap().len()
}

/// A service whose files may have so many blocks of 512 bytes: larger writes fail as on a full
/// disk.
fn on_a_full_disk(folder: &Folder, blocks: u32, arguments: &str) -> Service {
    let program = env!("CARGO_BIN_EXE_mercer");
    let script = format!(
        "trap '' XFSZ; ulimit -f {blocks}; exec {program} serve --addr 127.0.0.1:0 --model m.mercer {arguments}"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path("")).env_remove("MERCER_TOKEN");
    Service::spawn(command.stdin(Stdio::null()).stderr(Stdio::piped()))
}

/// The journal is shortened by a good save alone, and not by a start whose first save failed.
#[test]
fn a_start_that_cannot_save_keeps_the_journal() {
    let folder = trained();
    let arguments = "--journal r.journal --checkpoint-time 1s";
    let service = Service::start(&folder, &format!("--model m.mercer {arguments}"));
    (0..3).for_each(|y| assert_eq!(learn(&service, y.into()).status, 200));
    kill(&folder, service);
    let before = length(&folder, "r.journal");
    for signal in ["-KILL", "-TERM"] {
        let service = on_a_full_disk(&folder, 2, arguments);
        std::thread::sleep(Duration::from_millis(1200));
        let health = service.get("/health");
        assert_eq!((health.status, health.json()["status"].as_str()), (503, Some("unsaved")));
        assert_eq!((rows(&service), length(&folder, "r.journal")), (Some(103), before), "{signal}");
        let (code, said) = service.end(signal);
        assert!(code != Some(0) && said.contains("the journal keeps its rows"), "{said}");
    }
    let service = Service::start(&folder, "--model m.mercer --journal r.journal");
    assert_eq!(rows(&service), Some(103));
    assert_eq!(service.end("-TERM").0, Some(0));
    assert_eq!(length(&folder, "r.journal"), 40);
}

/// A journal that refuses every row makes the service unready, is told once, and heals by itself.
#[test]
fn a_journal_without_room_is_told() {
    let folder = trained();
    let service = on_a_full_disk(&folder, 2, "--journal r.journal --checkpoint-time 1h");
    let statuses: Vec<u16> = (0..40).map(|y| learn(&service, y.into()).status).collect();
    assert!(statuses.contains(&200) && statuses.ends_with(&[503, 503]), "{statuses:?}");
    assert_eq!(["/health", "/health/ready", "/health/live"].map(|path| service.get(path).status), [503, 503, 200]);
    let (_, said) = service.end("-TERM");
    assert_eq!(said.matches("no row is learnt until it can be").count(), 1, "{said}");
}

#[test]
fn a_damaged_journal_is_left_alone_and_its_rows_are_printed() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --journal r.journal");
    (0..6).for_each(|y| assert_eq!(learn(&service, y.into()).status, 200));
    kill(&folder, service);
    let whole = fs::read(folder.path("r.journal")).unwrap();
    let frame = (whole.len() - 40) / 6;
    // The first byte of the length of the second frame, and one of its body.
    for at in [40 + frame, 40 + frame + 20] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(folder.path("r.journal"), &damaged).unwrap();
        let serve = "serve --addr 127.0.0.1:0 --model m.mercer --journal r.journal";
        folder.refused(1, serve, &[&format!("r.journal: is damaged at byte {}", 40 + frame), "4 rows can be read"]);
        assert!(fs::read(folder.path("r.journal")).unwrap() == damaged);
        let run = folder.run("journal rescue r.journal");
        assert_eq!((run.code, run.out.lines().count()), (Some(0), 5), "{}", run.err);
        assert_eq!(run.out.lines().nth(1), Some(r#"{"row":[0.1,0.2,0.3,2.0]}"#));
        assert_eq!(folder.run("journal rescue r.journal --from 103").out.lines().count(), 3);
        let list = folder.done("journal list r.journal");
        assert!(
            list.contains(&format!("byte {}: damaged\n", 40 + frame)) && list.contains("rows 106 to 106"),
            "{list}"
        );
    }
    // An end that a crash has left is kept in a file of its own, and the others are learnt.
    fs::write(folder.path("r.journal"), &whole[..whole.len() - 3]).unwrap();
    let service = Service::start(&folder, "--model m.mercer --journal r.journal");
    assert_eq!(rows(&service), Some(105));
    assert_eq!(length(&folder, "r.journal.torn"), frame as u64 - 3);
    let (_, said) = service.end("-TERM");
    assert!(said.contains("they are kept in r.journal.torn"), "{said}");
    folder.refused(1, "journal list rows.csv", &["rows.csv: is there already and is no journal"]);
}

/// Rows that were answered are learnt whatever the options are then, and refused ones are not.
#[test]
fn options_do_not_change_what_a_journal_holds() {
    for (before, after) in [("", "--target-range 0:1"), ("--target-range 0:1", ""), ("--input-range 0:1", "")] {
        let folder = trained();
        let service = Service::start(&folder, &format!("--model m.mercer --journal r.journal {before}"));
        let good = [0.3, 5.0, 0.2].iter().filter(|y| learn(&service, **y).status == 200).count() as u64;
        let many = json!({ "rows": [[0.1, 0.2, 0.3, 0.5], [0.1, 9.0, 0.3, 9.0], [0.1, 0.2, 0.3, 0.5]] });
        let answer = service.post("/learn", &many);
        let learnt = answer.json()["learnt"].as_u64().unwrap_or(3);
        assert_eq!((answer.status, learnt), if before.is_empty() { (200, 3) } else { (422, 1) });
        kill(&folder, service);
        let service = Service::start(&folder, &format!("--model m.mercer --journal r.journal {after}"));
        assert_eq!(rows(&service), Some(100 + good + learnt), "{before} then {after}");
        assert_eq!(service.end("-TERM").0, Some(0));
    }
}

/// A row that the options refuse begins no group either.
#[test]
fn a_refused_row_begins_no_group() {
    let folder = trained();
    fs::create_dir(folder.path("g")).unwrap();
    let service = Service::start(&folder, "--model m.mercer --groups g --target-range 0:1");
    let learn = |y: f64| service.post("/learn?group=a", &json!({ "row": [0.1, 0.2, 0.3, y] })).status;
    assert_eq!((learn(5.0), fs::read_dir(folder.path("g")).unwrap().count()), (422, 0));
    assert_eq!(learn(0.5), 200);
    assert!(folder.path("g/a.mercer").exists());
    service.ends_well();
}

#[test]
fn inputs_and_weights_are_bounded() {
    let folder = Folder::new().with("rows.csv", "a,y,w\n".to_owned() + &"0.5,0.5,1\n0.1,0.1,2\n".repeat(20));
    folder.done("train rows.csv --learner krls --kernel linear --weight w --target y --out m.mercer --quiet");
    let service = Service::start(&folder, "--model m.mercer --input-range -10:10 --max-weight 5");
    let learn = |row: Value| service.post("/learn", &json!({ "row": row }));
    for (row, part) in
        [(json!([1e100, 0.5, 1]), "outside --input-range -10:10"), (json!([1, 1, 6]), "above --max-weight 5")]
    {
        let answer = learn(row);
        assert!(answer.status == 422 && answer.error().contains(part), "{}", answer.body);
    }
    assert_eq!(learn(json!([1, 1, 5])).status, 200);
    assert_eq!(service.end("-TERM").0, Some(0));
    folder.refused(2, "serve --model m.mercer --max-weight 0", &["--max-weight"]);
}

/// A group of processes is often told twice.
#[test]
fn a_second_signal_does_not_prevent_the_save() {
    for pause in [0, 1, 20, 80] {
        let folder = trained();
        let service = Service::start(&folder, "--model m.mercer");
        assert_eq!(learn(&service, 0.5).status, 200);
        let id = service.child.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(pause));
        assert_eq!(service.end("-TERM").0, Some(0));
        assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(101), "{pause} ms");
    }
}

/// The second signal cuts the drain short.
#[test]
fn a_second_signal_ends_what_a_client_holds_up() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --drain 60s");
    assert_eq!(learn(&service, 0.5).status, 200);
    let mut slow = service.connect();
    slow.write_all(
        b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n",
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    let id = service.child.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(service.end("-TERM").0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(101));
}

#[test]
fn a_file_with_the_same_bytes_is_the_same_file() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --checkpoint 1");
    let bytes = fs::read(folder.path("m.mercer")).unwrap();
    // As `touch` does, and a copy that is put back.
    fs::remove_file(folder.path("m.mercer")).unwrap();
    fs::write(folder.path("m.mercer"), bytes).unwrap();
    assert_eq!((learn(&service, 0.5).status, service.get("/health").status), (200, 200));
    service.ends_well();
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(101));
}

#[test]
fn each_file_of_a_service_has_a_place_of_its_own() {
    let folder = trained();
    fs::create_dir(folder.path("g")).unwrap();
    for (arguments, parts) in [
        ("--access-log m.mercer", ["--model", "--access-log"]),
        ("--access-log ./m.mercer", ["--model", "--access-log"]),
        ("--journal r.j --access-log r.j", ["--journal", "--access-log"]),
        ("--journal m.mercer", ["--model", "--journal"]),
        ("--access-log m.mercer.snapshot", ["--access-log", "snapshot"]),
        ("--rescue .", ["--model", "--rescue"]),
        ("--groups g --access-log g/a.mercer", ["--access-log", "--groups"]),
        ("--groups . ", ["--model", "--groups"]),
    ] {
        folder.refused(2, &format!("serve --addr 127.0.0.1:0 --model m.mercer {arguments}"), &parts);
    }
}

/// A row between two others would shift the season, and a leap behind it would lock the series.
#[test]
fn rows_off_the_grid_of_a_series_are_refused() {
    let hour = |at: usize| format!("2024-01-{:02}T{:02}:00:00", 1 + at / 24, at % 24);
    let line = |at: usize| format!("{},{}\n", hour(at), at * 7 % 13);
    let folder = Folder::new().with("s.csv", "t,v\n".to_owned() + &(0..240).map(line).collect::<String>());
    folder.done("forecast s.csv --time t --out s.mercer");
    let service = Service::start(&folder, "--model s.mercer");
    let learn = |time: &str, v: f64| service.post("/learn", &json!({ "row": { "t": time, "v": v } }));
    assert_eq!(learn(&hour(240), 1.0).status, 200);
    for (time, part) in [
        ("2024-01-11T00:30:00", "is no time of a row of this series, which has 2024-01-11T01:00 next"),
        ("2204-01-11T03:00:00", "rows"),
        ("2024-01-11T00:00:00", "is not behind"),
    ] {
        let answer = learn(time, 1.0);
        assert!(answer.status == 422 && answer.error().contains(part), "{time}: {}", answer.body);
    }
    assert_eq!(learn(&hour(241), 3.0).json()["rows"].as_u64(), Some(242));
    // Missing rows are put in as before.
    assert_eq!(learn(&hour(245), 3.0).status, 200);
    assert_eq!(service.end("-TERM").0, Some(0));
}

/// A file whose last row is off the grid is gone on from by rows on it.
#[test]
fn a_series_that_ends_off_its_grid_goes_on() {
    let line = |at: usize| format!("2024-01-{:02}T{:02}:00:00,{}\n", 1 + at / 24, at % 24, at * 7 % 13);
    let rows = "t,v\n".to_owned() + &(0..300).map(line).collect::<String>() + "2024-01-13T11:30:00,4\n";
    let folder = Folder::new().with("s.csv", rows);
    drop(folder.run("forecast s.csv --time t --out s.mercer --quiet"));
    let service = Service::start(&folder, "--model s.mercer");
    let answer = service.post("/learn", &json!({ "row": { "t": "2024-01-13T11:40:00", "v": 1 } }));
    assert!(answer.status == 422 && answer.error().contains("2024-01-13T12:00 next"), "{}", answer.body);
    let told = service.post("/predict", &json!({ "steps": 1 })).json();
    assert_eq!(told["times"], json!(["2024-01-13T12:00"]));
    assert_eq!(service.post("/learn", &json!({ "row": { "t": "2024-01-13T12:00:00", "v": 1 } })).status, 200);
    assert_eq!(service.end("-TERM").0, Some(0));
}

/// Idle clients hold no place that another needs, and probes have a door of their own.
#[test]
fn idle_clients_make_room() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --max-connections 8");
    let idle: Vec<TcpStream> = (0..8).map(|_| service.connect()).collect();
    std::thread::sleep(Duration::from_millis(1100));
    let begun = Instant::now();
    for _ in 0..8 {
        assert_eq!(service.get("/health/live").status, 200);
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
    // Those that were closed see the end.
    let mut first = &idle[0];
    assert_eq!(std::io::Read::read(&mut first, &mut [0]).unwrap(), 0);
    service.ends_well();
}

#[test]
fn probes_see_the_end_before_the_port_closes() {
    let folder = trained();
    let probes = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let arguments = format!("--model m.mercer --closed --health-addr {probes} --lame-duck 1s");
    let mut service = Service::start_with(&folder, &arguments, Some("s3cret"));
    let probe = |path: &str| {
        let mut stream = TcpStream::connect(probes).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).unwrap();
        read_to_end(&mut stream).status
    };
    assert_eq!(["/health", "/health/live", "/health/ready", "/model"].map(probe), [200, 200, 200, 404]);
    assert_eq!(service.get("/health").status, 401);
    assert!(Command::new("kill").arg(service.child.id().to_string()).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(probe("/health/ready"), 503);
    // Requests are still taken.
    assert_eq!(service.get("/health").status, 401);
    assert_eq!(service.child.wait().unwrap().code(), Some(0));
}

/// Large requests of many clients together take no more memory than is given.
#[test]
fn large_requests_share_a_bounded_memory() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --max-memory 2097152 --max-wait 0.1s --max-rows 100000");
    let body = json!({ "rows": vec![json!([0.1, 0.2, 0.3]); 60_000] }).to_string();
    // The rows of one alone are more than that.
    let answer = service.post_text("/predict", &body, "");
    assert!(answer.status == 503 && answer.error().contains("large requests"), "{}", answer.body);
    let free = |service: &Service| {
        let metrics = service.get("/metrics").body;
        metrics.lines().find_map(|line| line.strip_prefix("mercer_request_memory_free_bytes ")?.parse().ok())
    };
    assert_eq!(free(&service), Some(2_097_152));
    assert_eq!(
        service.predict(&json!({ "rows": vec![json!([0.1, 0.2, 0.3]); 1000] }))["predictions"].as_array().map(Vec::len),
        Some(1000)
    );
    assert_eq!(free(&service), Some(2_097_152));
    service.ends_well();
}

/// A challenger learns the same rows, answers nobody, and is found to be better.
#[test]
fn a_challenger_learns_beside_the_model() {
    let all = csv(&examples(600));
    let folder = trained().with("all.csv", &all);
    // A model that hardly learns, and a good one beside it.
    folder.done("train rows.csv --learner klms --kernel gaussian:0.7 --set eta=0.01 --out poor.mercer --quiet");
    let service = Service::start(&folder, "--model poor.mercer --shadow m.mercer --journal r.journal");
    assert_eq!(service.get("/compare").json()["better"], "undecided");
    let row = |line: &str| json!(line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>());
    let many: Vec<Value> = all.lines().skip(101).map(row).collect();
    assert_eq!(service.post("/learn", &json!({ "rows": many })).status, 200);
    let told = service.get("/compare").json();
    assert_eq!((&told["better"], &told["rows"]), (&json!("challenger"), &json!(500)), "{told}");
    let metrics = service.get("/metrics").body;
    assert!(metrics.contains("\nmercer_compared_rows 500\n") && metrics.contains("\nmercer_loss_difference_lower "));
    // A kill takes no row of either: both learn the journal.
    kill(&folder, service);
    let service = Service::start(&folder, "--model poor.mercer --shadow m.mercer --journal r.journal");
    assert_eq!(service.end("-TERM").0, Some(0));
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out whole.mercer --quiet");
    assert!(fs::read(folder.path("m.mercer")).unwrap() == fs::read(folder.path("whole.mercer")).unwrap());
    let other = "a,b,y\n".to_owned() + &"1,2,3\n4,5,6\n".repeat(20);
    let folder = folder.with("other.csv", other);
    folder.done("train other.csv --learner krls --kernel gaussian:1 --out other.mercer --quiet");
    let serve = "serve --addr 127.0.0.1:0 --model m.mercer --shadow";
    folder.refused(1, &format!("{serve} other.mercer"), &["other.mercer: takes other rows than --model"]);
    folder.refused(2, &format!("{serve} m.mercer"), &["--model and --shadow name the same file"]);
}

#[test]
fn tokens_are_exchanged_while_the_service_runs() {
    let folder = trained().with("tokens", "# who may what\nread r1\nlearn l1\n");
    let service = Service::start(&folder, "--model m.mercer --token-file tokens --log json");
    let learn = |token: &str| {
        let header = format!("authorization: Bearer {token}\r\n");
        service.post_text("/learn", "{\"row\":[0,0,0,0]}", &header).status
    };
    assert_eq!(["r1", "l1", "l2"].map(learn), [403, 200, 401]);
    fs::write(folder.path("tokens"), "learn l2\n").unwrap();
    let begun = Instant::now();
    while learn("l2") != 200 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(learn("l1"), 401);
    // A file that is none leaves the tokens as they are.
    fs::write(folder.path("tokens"), "l3\n").unwrap();
    std::thread::sleep(Duration::from_millis(1300));
    assert_eq!(learn("l2"), 200);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("line 1 is no token") && !said.contains("l3"), "{said}");
    folder.refused(1, "serve --model m.mercer --token-file tokens", &["tokens: line 1 is no token"]);
}

/// A service that only reads serves a new file within a second, and keeps the old one where the new
/// one cannot be read.
#[test]
fn a_replica_reads_the_model_anew() {
    let folder = trained();
    let service = Service::start(&folder, "--model m.mercer --read-only");
    let before = fs::read(folder.path("m.mercer")).unwrap();
    folder.done("predict rows.csv --model m.mercer --learn --quiet");
    let begun = Instant::now();
    while rows(&service) != Some(200) {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    }
    let put = |bytes: &[u8]| {
        fs::write(folder.path("new"), bytes).unwrap();
        fs::rename(folder.path("new"), folder.path("m.mercer")).unwrap();
    };
    put(&before);
    assert_eq!(service.post("/reload", &json!({})).json(), json!({ "rows": 100 }));
    put(b"half a file");
    let refused = service.post("/reload", &json!({}));
    assert!(refused.status == 409 && refused.error().contains("m.mercer"), "{}", refused.body);
    assert_eq!(rows(&service), Some(100));
    let id = service.child.id().to_string();
    put(&before);
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(service.get("/health").status, 200);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("the model was read anew, and has met 200 rows"), "{said}");
}
