//! Rows that `mercer serve` has accepted survive kills, full disks and files in its way.

#![cfg(all(unix, feature = "serve"))]

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Service;
use crate::support::{Folder, csv, examples};

/// `m.mercer` has learnt the first 100 of 200 rows, which are `all.csv`.
fn trained() -> Folder {
    let all = csv(&examples(200));
    let first: String = all.lines().take(101).map(|line| format!("{line}\n")).collect();
    let folder = Folder::new().with("all.csv", all).with("first.csv", first);
    folder.done("train first.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    folder
}

/// The rows behind the first 100.
fn rows() -> Vec<Value> {
    examples(200).iter().skip(100).map(|(x, y)| json!([x[0], x[1], x[2], y])).collect()
}

/// Kills it, and clears away its lock, which others would take over.
fn kill(folder: &Folder, mut service: Service) {
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    for name in folder.names().iter().filter(|name| name.ends_with(".lock")) {
        fs::remove_file(folder.path(name)).unwrap();
    }
}

/// The model is that of a run over all rows.
fn is_whole(folder: &Folder) {
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out whole.mercer --quiet");
    assert!(fs::read(folder.path("m.mercer")).unwrap() == fs::read(folder.path("whole.mercer")).unwrap());
}

#[test]
fn a_killed_service_with_a_journal_loses_nothing() {
    for options in ["", "--journal-sync row", "--checkpoint 7"] {
        let folder = trained();
        let arguments = format!("--model m.mercer --journal rows.journal {options}");
        let mut at = 0;
        for part in rows().chunks(20) {
            let service = Service::start(&folder, &arguments);
            for row in &part[..5] {
                at += 1;
                assert_eq!(service.learn(&json!({ "row": row }))["rows"].as_u64(), Some(100 + at), "{options}");
            }
            service.learn(&json!({ "rows": part[5..] }));
            at += 15;
            kill(&folder, service);
        }
        let service = Service::start(&folder, &arguments);
        assert_eq!(service.get("/health").json()["rows"].as_u64(), Some(200), "{options}");
        let (code, said) = service.end("-TERM");
        assert_eq!((code, fs::metadata(folder.path("rows.journal")).unwrap().len()), (Some(0), 40), "{said}");
        is_whole(&folder);
    }
}

/// The rows behind a refused row of a request were not learnt, and are not later.
#[test]
fn rows_behind_a_refused_one_are_not_learnt_from_a_journal() {
    let lines = |t: usize| format!("{},{}\n", t % 7, ["red", "blue"][t % 2]);
    let folder = Folder::new().with("first.csv", "a,kind\n".to_owned() + &(0..20).map(lines).collect::<String>());
    folder.done("train first.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    for (checkpoint, last) in [("", false), ("--checkpoint 22", false), ("", true)] {
        let arguments = format!("--model m.mercer --max-classes 2 --journal rows.journal {checkpoint}");
        let service = Service::start(&folder, &arguments);
        let before = service.get("/health").json()["rows"].as_u64().unwrap();
        let rows = json!([[1, "red"], [2, "blue"], [3, "pink"], [4, "red"], [5, "red"]]);
        assert_eq!(service.post("/learn", &json!({ "rows": rows })).json()["learnt"].as_u64(), Some(2));
        if !last {
            service.learn(&json!({ "rows": [[1, "blue"]] }));
        }
        kill(&folder, service);
        let service = Service::start(&folder, &arguments);
        let rows = service.get("/health").json()["rows"].as_u64();
        assert_eq!(rows, Some(before + if last { 2 } else { 3 }), "{checkpoint}");
        service.end("-TERM");
    }
}

/// Rows that were only half written were not accepted, and others follow them.
#[test]
fn a_journal_that_ends_in_the_midst_of_rows_is_gone_on_from() {
    let folder = trained();
    let journal = folder.path("rows.journal");
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    service.learn(&json!({ "rows": rows()[..50] }));
    let whole = fs::read(&journal).unwrap();
    service.learn(&json!({ "rows": rows()[50..60] }));
    let longer = fs::read(&journal).unwrap();
    kill(&folder, service);
    let model = fs::read(folder.path("m.mercer")).unwrap();
    for length in (0..whole.len()).step_by(97).chain(whole.len()..longer.len()) {
        fs::write(folder.path("m.mercer"), &model).unwrap();
        fs::write(&journal, &longer[..length]).unwrap();
        if length % 50 == 0 || length == longer.len() - 1 {
            let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
            let met = service.get("/health").json()["rows"].as_u64();
            assert_eq!(met, Some(if length < whole.len() { 100 } else { 150 }), "{length}");
            service.learn(&json!({ "row": [0, 0, 0, 0] }));
            kill(&folder, service);
            let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
            assert_eq!(service.get("/health").json()["rows"].as_u64(), met.map(|met| met + 1));
            kill(&folder, service);
        }
    }
    // Damage elsewhere is told.
    let mut damaged = longer.clone();
    damaged[60] ^= 1;
    fs::write(folder.path("m.mercer"), &model).unwrap();
    fs::write(&journal, &damaged).unwrap();
    let serve = "serve --addr 127.0.0.1:0 --model m.mercer --journal rows.journal";
    folder.refused(1, serve, &["rows.journal: is damaged at byte 40"]);
    assert_eq!(fs::read(&journal).unwrap(), damaged);
}

#[test]
fn a_journal_belongs_to_one_model_and_one_service() {
    let folder = trained().with("note.txt", "not a journal");
    fs::copy(folder.path("m.mercer"), folder.path("same.mercer")).unwrap();
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    service.learn(&json!({ "rows": rows()[..10] }));
    let with = |model: &str, journal: &str| format!("serve --addr 127.0.0.1:0 --model {model} --journal {journal}");
    folder.refused(1, &with("same.mercer", "rows.journal"), &["rows.journal: is the journal of another process"]);
    kill(&folder, service);
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out other.mercer --quiet");
    folder.refused(
        1,
        &with("other.mercer", "rows.journal"),
        &["rows.journal: its rows end at row 110", "has met 200 rows", "another model"],
    );
    folder.refused(1, &with("m.mercer", "note.txt"), &["note.txt: is there already and is no journal"]);
    folder.refused(1, &with("m.mercer", "."), &["is not a file"]);
    folder.refused(2, &with("m.mercer", "rows.journal --journal-sync soon"), &["give row", "1s"]);
    folder.refused(2, "serve --model m.mercer --journal-sync row", &["--journal"]);
    assert_eq!(folder.read("note.txt"), "not a journal");
    // The journal still has the rows for whom they belong to.
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    service.learn(&json!({ "rows": rows()[10..] }));
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("10 rows of the journal were learnt"), "{said}");
    is_whole(&folder);
}

/// Rows in a file that nobody finds would be lost by a kill.
#[test]
fn a_journal_that_was_removed_is_begun_anew() {
    let folder = trained().with("other", "another file");
    let arguments = "--model m.mercer --journal rows.journal --checkpoint-time 1h";
    let service = Service::start(&folder, arguments);
    let learn = |service: &Service| service.post("/learn", &json!({ "row": [0, 0, 0, 0] }));
    fs::remove_file(folder.path("rows.journal")).unwrap();
    // It was empty.
    assert_eq!(learn(&service).status, 200);
    fs::remove_file(folder.path("rows.journal")).unwrap();
    let refused = learn(&service);
    assert!(refused.status == 503 && refused.error().contains("was removed, and is begun anew"), "{}", refused.body);
    // The model is saved before long.
    while learn(&service).status != 200 {
        std::thread::sleep(Duration::from_millis(50));
    }
    fs::rename(folder.path("rows.journal"), folder.path("moved.journal")).unwrap();
    fs::rename(folder.path("other"), folder.path("rows.journal")).unwrap();
    let refused = learn(&service);
    assert!(refused.status == 503 && refused.error().contains("another file was put there"), "{}", refused.body);
    fs::rename(folder.path("moved.journal"), folder.path("rows.journal")).unwrap();
    assert_eq!(learn(&service).json()["rows"].as_u64(), Some(103));
    kill(&folder, service);
    let service = Service::start(&folder, arguments);
    assert_eq!(service.get("/health").json()["rows"].as_u64(), Some(103));
    service.end("-TERM");
}

/// The rest of a request is not learnt from the journal, since it is sent again.
#[test]
fn a_request_is_learnt_for_a_bounded_time() {
    let folder = trained();
    let arguments = "--model m.mercer --journal rows.journal --max-learn 0s";
    let service = Service::start(&folder, arguments);
    let refused = service.post("/learn", &json!({ "rows": rows() }));
    let why = refused.error();
    assert!(refused.status == 503 && why.contains("send the others again"), "{}", refused.body);
    let learnt = refused.json()["learnt"].as_u64().unwrap();
    kill(&folder, service);
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    assert_eq!(service.get("/health").json()["rows"].as_u64(), Some(100 + learnt));
    service.learn(&json!({ "rows": rows()[learnt as usize..] }));
    service.end("-TERM");
    is_whole(&folder);
}

/// Root may write everywhere, unless that right is taken from the service.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_becomes_read_only_ends_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = trained();
    let mut command = folder.unprivileged("serve --model m.mercer --addr 127.0.0.1:0 --checkpoint 1");
    let service = Service::spawn(command.stderr(Stdio::piped()));
    let turn = |mode| fs::set_permissions(folder.path(""), fs::Permissions::from_mode(mode)).unwrap();
    let mut statuses = [0; 3];
    for (mode, status) in [0o755, 0o555, 0o755].into_iter().zip(&mut statuses) {
        turn(mode);
        service.learn(&json!({ "row": [0, 0, 0, 0] }));
        *status = service.get("/health").status;
    }
    assert_eq!(statuses, [200, 503, 200]);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("m.mercer: cannot be written"), "{said}");
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(103));
}

/// The rows of a series, whose state is another.
#[test]
fn a_series_has_a_journal_as_well() {
    let line = |t: usize| format!("{}\n", (t as f64 / 5.0).sin());
    let lines = |from: usize, to: usize| "a\n".to_owned() + &(from..to).map(line).collect::<String>();
    let folder = Folder::new().with("first.csv", lines(0, 80)).with("all.csv", lines(0, 100));
    folder.done("forecast first.csv --method opf --gamma 0.5 --t-init 20 --out m.mercer");
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    for t in 80..100 {
        service.learn(&json!({ "row": [(t as f64 / 5.0).sin()] }));
    }
    kill(&folder, service);
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    assert_eq!(service.get("/health").json()["rows"].as_u64(), Some(100));
    kill(&folder, service);
    folder.done("forecast all.csv --method opf --gamma 0.5 --t-init 20 --out whole.mercer");
    assert!(fs::read(folder.path("m.mercer")).unwrap() == fs::read(folder.path("whole.mercer")).unwrap());
}

#[test]
fn a_model_that_cannot_be_saved_in_its_place_is_saved_in_another() {
    let folder = trained().with("other", "another file");
    fs::create_dir(folder.path("rescue")).unwrap();
    let service = Service::start(&folder, "--model m.mercer --checkpoint 1 --rescue rescue");
    fs::rename(folder.path("other"), folder.path("m.mercer")).unwrap();
    service.learn(&json!({ "row": [0, 0, 0, 0] }));
    assert_eq!(service.get("/health").status, 503);
    assert_eq!(folder.json("inspect rescue/m.mercer")["learnt"].as_u64(), Some(101));
    service.learn(&json!({ "row": [0, 0, 0, 0] }));
    let (code, said) = service.end("-TERM");
    assert!(code == Some(1) && said.contains("it is saved in rescue/m.mercer"), "{said}");
    assert_eq!(folder.json("inspect rescue/m.mercer")["learnt"].as_u64(), Some(102));
    let serve = "serve --addr 127.0.0.1:0 --model rescue/m.mercer --rescue rescue";
    folder.refused(2, serve, &["--model and --rescue name the same file"]);
    let serve = "serve --addr 127.0.0.1:0 --model m.mercer --rescue rescue";
    folder.refused(1, serve, &["rescue/m.mercer: is there already", "give another --rescue"]);
    folder.refused(1, "serve --model rescue/m.mercer --rescue nowhere", &["nowhere/m.mercer: cannot be written"]);
}

#[test]
fn each_group_is_kept_in_a_file_of_its_own() {
    let folder = trained();
    fs::create_dir(folder.path("groups")).unwrap();
    let arguments = "--model m.mercer --groups groups --journal rows.journal";
    let service = Service::start(&folder, arguments);
    for (at, row) in rows().iter().enumerate() {
        let name = ["odd", "all"][usize::from(at % 2 == 0)];
        let answer = service.post(&format!("/learn?group={name}"), &json!({ "row": row }));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let other = service.post("/learn?group=all", &json!({ "row": row }));
        assert_eq!(other.status, 200);
    }
    folder.refused(1, "serve --addr 127.0.0.1:0 --model groups/odd.mercer", &["groups/odd.mercer"]);
    // A kill takes no row of a group.
    kill(&folder, service);
    for name in fs::read_dir(folder.path("groups")).unwrap().flatten() {
        if name.path().extension().is_some_and(|end| end == "lock") {
            fs::remove_file(name.path()).unwrap();
        }
    }
    let service = Service::start(&folder, arguments);
    let rows = |query: &str| service.get(&format!("/health{query}")).json()["rows"].as_u64();
    assert_eq!([rows(""), rows("?group=odd"), rows("?group=all")], [Some(100), Some(150), Some(250)]);
    assert_eq!(service.get("/health?group=none").status, 404);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("50 rows of the journal were learnt"), "{said}");
    assert_eq!(folder.json("inspect groups/odd.mercer")["learnt"].as_u64(), Some(150));
    folder.refused(1, "serve --model m.mercer --groups nowhere", &["nowhere: is no folder"]);
}

#[test]
fn a_closed_service_keeps_a_log_and_goes_back_to_its_snapshot() {
    let folder = trained();
    let arguments = "--model m.mercer --closed --access-log access.log --target-range -5:5 --journal rows.journal";
    let token = "authorization: Bearer s3cret\r\n";
    let service = Service::start_with(&folder, arguments, Some("s3cret"));
    assert_eq!([service.get("/health").status, service.get("/").status], [401, 401]);
    let post = |path: &str, body: &str| service.post_text(path, body, token);
    assert_eq!(post("/snapshot", "").json(), json!({ "rows": 100 }));
    let first = fs::read(folder.path("m.mercer")).unwrap();
    let refused = post("/learn", "{\"row\":[0,0,0,6]}");
    assert!(
        refused.status == 422 && refused.error().contains("6 lies outside --target-range -5:5"),
        "{}",
        refused.body
    );
    let id = post("/predict", "{\"row\":[0,0,0],\"keep\":true}").json()["id"].as_str().unwrap().to_owned();
    let label = json!({ "labels": [{ "id": id, "target": 0.5 }] }).to_string();
    assert_eq!(post("/learn", &label).json()["rows"].as_u64(), Some(101));
    assert_eq!(post("/rollback", "").json(), json!({ "rows": 100 }));
    assert!(fs::read(folder.path("m.mercer")).unwrap() == first);
    assert_eq!(fs::metadata(folder.path("rows.journal")).unwrap().len(), 40);
    post("/learn", "{\"row\":[0,0,0,1]}");
    let metrics = post_get(&service, "/metrics", token);
    for line in
        ["mercer_rows 101\n", "mercer_checkpoints_total 2\n", "mercer_kept_rows 0\n", "mercer_build_info{version="]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    service.ends_well();
    let log = folder.read("access.log");
    let told: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((told.len(), &told[0]["status"], &told[3]["path"]), (9, &json!(401), &json!("/learn")), "{log}");
    folder.refused(2, "serve --model m.mercer --closed", &["--closed", "MERCER_TOKEN"]);
    folder.refused(2, "serve --model m.mercer --target-range 5:1", &["the smaller first"]);
    folder.refused(1, "serve --model m.mercer --access-log nowhere/log", &["nowhere/log: cannot be written"]);
}

fn post_get(service: &Service, path: &str, headers: &str) -> String {
    let text = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    service.raw(text.as_bytes()).body
}
