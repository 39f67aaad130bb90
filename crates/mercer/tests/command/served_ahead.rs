//! `mercer serve` of forecasts that are told what is to come, and of operators.

#![cfg(all(unix, feature = "serve"))]

use serde_json::{Value, json};

use crate::http::Service;
use crate::support::{Folder, noise, object};
use crate::times::day_after;

/// Inputs act on their own row: a forecast is told those of the rows to come.
#[test]
fn a_series_with_known_inputs_is_forecast_from_those_of_the_rows_to_come() {
    let promotion = |t: usize| f64::from(u8::from(t % 9 == 4));
    let line = |t: usize| format!("{},{}\n", 50.0 + (t % 7) as f64 + 30.0 * promotion(t), promotion(t));
    let lines = |from: usize, to: usize| "sold,promotion\n".to_owned() + &(from..to).map(line).collect::<String>();
    let folder = Folder::new()
        .with("first.csv", lines(0, 150))
        .with("all.csv", lines(0, 160))
        .with("next.csv", "promotion\n0\n1\n0\n");
    let options = "--known promotion --season 7 --intervals 0.9";
    folder.done(&format!("forecast first.csv {options} --out m.mercer"));
    let report = folder.json(&format!("forecast all.csv {options} --future next.csv"));
    let service = Service::start(&folder, "--model m.mercer");
    for t in 150..160 {
        let cells = [50.0 + (t % 7) as f64 + 30.0 * promotion(t), promotion(t)];
        service.learn(&json!({ "row": { "sold": cells[0], "promotion": cells[1] } }));
    }
    let ahead = service.predict(&json!({ "steps": 3, "inputs": [[0], [1], [0]] }));
    for (k, row) in report["forecast"].as_array().unwrap().iter().enumerate() {
        assert_eq!(ahead["predictions"][k]["prediction"], row[0], "{ahead}");
    }
    for (body, part) in [
        (json!({ "steps": 3 }), "needs the inputs of 3 rows to come, and 0 are known; send them as \"inputs\""),
        (json!({ "steps": 2, "inputs": [[0]] }), "needs the inputs of 2 rows to come, and 1 are known"),
        (json!({ "steps": 1, "inputs": [[0], [1]] }), "at most 1 rows; send {\"steps\": H, \"inputs\": [ROW, ...]}"),
        (json!({ "inputs": [[0, 1]] }), "inputs[0] is no row"),
        (json!({ "inputs": [["x"]] }), "\"promotion\" is a text; give a number"),
    ] {
        let refused = service.post("/predict", &body);
        assert!(refused.status == 422 && refused.error().contains(part), "{body}: {}", refused.body);
    }
    assert_eq!(service.get("/openapi.json").status, 200);
    service.ends_well();
}

/// A series that has times goes on with them: missing rows are put in, and forecasts have times.
#[test]
fn a_series_with_times_is_served_with_them() {
    let sold = |day: usize| 50 + 10 * (day % 7) + day / 3;
    let line = |day: usize| format!("2024-{:02}-{:02},{}\n", 1 + day / 28, 1 + day % 28, sold(day));
    // A calendar of 28 days ends with the first month.
    let lines = |days: &[usize]| "day,sold\n".to_owned() + &days.iter().map(|day| line(*day)).collect::<String>();
    let days = |from: usize, to: usize| (from..to).collect::<Vec<_>>();
    let folder = Folder::new()
        .with("first.csv", lines(&days(0, 20)))
        .with("all.csv", lines(&[days(0, 21), vec![24, 25]].concat()))
        .with("later.csv", lines(&[26]));
    let options = "--season 7 --intervals 0.9 --steps 3";
    let forecast = |arguments: &str| object(&folder.run(&format!("forecast {arguments} --json")).out);
    forecast(&format!("first.csv {options} --out m.mercer"));
    let report = forecast(&format!("all.csv {options} --out whole.mercer"));
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    let refused = |row: serde_json::Value, part: &str| {
        let refused = service.post("/learn", &json!({ "row": row }));
        assert!(refused.status == 422 && refused.error().contains(part), "{row}: {}", refused.body);
    };
    service.learn(&json!({ "row": { "sold": sold(20) } }));
    refused(json!({ "sold": 1, "day": "2024-01-21" }), "\"day\": 2024-01-21 is not behind that of the row before");
    refused(json!({ "sold": 1, "day": "soon" }), "\"day\": soon is no time; write it like that of the row before");
    refused(json!({ "sold": 1, "day": "2024-01-22 2B:00" }), "2B:00 is no time; the hour that comes twice");
    refused(json!({ "sold": 1, "day": "2028-01-21" }), "are put in at most");
    // The journal counts the rows of requests: after it is read again, the second is not taken for
    // one of those that were put in.
    let rows = json!([{ "day": "2024-01-25", "sold": sold(24) }, [sold(25)]]);
    let told = service.learn(&json!({ "rows": rows }));
    assert_eq!(told["rows"], 23, "{told}");
    let ahead = service.predict(&json!({ "steps": 3 }));
    assert_eq!((&ahead["times"], &ahead["times"][0]), (&report["times"], &"2024-01-27".into()));
    for (k, row) in report["forecast"].as_array().unwrap().iter().enumerate() {
        assert_eq!(ahead["predictions"][k]["prediction"], row[0], "{ahead}");
    }
    service.end("-KILL");
    let service = Service::start(&folder, "--model m.mercer --journal rows.journal");
    assert_eq!(service.predict(&json!({ "steps": 3 })), ahead);
    let (code, said) = service.end("-TERM");
    assert!(code == Some(0) && said.contains("3 rows of the journal were learnt"), "{said}");
    let [served, whole] =
        ["m.mercer", "whole.mercer"].map(|model| forecast(&format!("later.csv --model {model} --steps 3")));
    assert_eq!((&served["forecast"], &served["times"]), (&whole["forecast"], &whole["times"]));
    assert_eq!((&served["time"], &served["times"][0]), (&whole["time"], &"2024-01-28".into()));
}

/// An operator forecasts what the command does, from a state or from the end of a trajectory.
#[test]
fn an_operator_of_exact_sums_is_served_as_it_is() {
    let value = |t: u32| f64::from(t * t % 17) / 17.0 + (f64::from(t) / 3.0).sin();
    let path: String = (0..400).map(|t| format!("{}\n", value(t))).collect();
    let pairs: String = (0..400).map(|t| format!("{},{}\n", value(t), 0.5 * value(t) + 1.0)).collect();
    let folder =
        Folder::new().with("path.csv", format!("level\n{path}")).with("pairs.csv", pairs).with("q.csv", "0.3\n");
    folder.done("koopman path.csv --delay 2 --out path.mercer");
    folder.done("koopman pairs.csv --out pairs.mercer");
    let report = folder.json("koopman --model path.mercer --steps 4");
    let service = Service::start(&folder, "--model path.mercer");
    let ahead = service.predict(&json!({ "steps": 4 }));
    for (k, row) in report["predictions"].as_array().unwrap().iter().enumerate() {
        assert_eq!(ahead["predictions"][k]["prediction"], row[0], "{ahead}");
        assert!(ahead["predictions"][k]["lower"].as_f64() < row[0].as_f64(), "{ahead}");
    }
    let refused = service.post("/learn", &json!({ "row": [1.0] }));
    assert!(refused.status == 422 && refused.error().contains("mercer koopman --model FILE"), "{}", refused.body);
    // The service knows a model that was asked for as many modes, and intervals of more steps.
    let modes = service.get("/modes").json();
    let keys = ["modes", "names", "units", "shape_names", "reconstruction", "vamp2", "wanders", "delay", "pairs"];
    for key in keys.into_iter().chain(["held_out", "deterministic"]) {
        assert_eq!(modes[key], report[key], "{modes}");
    }
    // Errors at 5 and 20 steps are there, and others than that of one step.
    let later = modes["held_out"]["later"].as_array().unwrap();
    assert_eq!(later.iter().map(|later| later["step"].as_u64()).collect::<Vec<_>>(), [Some(5), Some(20)], "{modes}");
    assert!(later.iter().all(|later| later["error"] != modes["held_out"]["error"]), "{modes}");
    assert!(modes["modes"][0]["reason"].is_string() && modes.get("seconds").is_none(), "{modes}");
    service.ends_well();
    let report = folder.json("koopman --model pairs.mercer --predict q.csv");
    let service = Service::start(&folder, "--model pairs.mercer");
    let told = service.predict(&json!({ "row": [0.3] }));
    assert_eq!(told["prediction"], report["predictions"][0][0], "{told}");
    let told = service.post("/functions", &json!({ "rows": [[0.3]] })).json();
    folder.done("koopman --model pairs.mercer --predict q.csv --eigenfunctions f.csv --predictions p.csv");
    let line = folder.read("f.csv").lines().nth(1).unwrap_or_default().to_owned();
    let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
    let numbers = |parts: &Value| [0, 1].map(|k| parts[k].as_f64().unwrap());
    let parts: Vec<f64> = told["functions"][0].as_array().unwrap().iter().flat_map(numbers).collect();
    assert_eq!((cells[0], &cells[1..]), (0.3, &parts[..]), "{told}");
    for (body, part) in [
        (json!({ "rows": [[0.3, 1.0]] }), "rows[0] is no state"),
        (json!({ "rows": [[0.3]], "committor": [1, 2] }), "committor needs sets"),
        (json!({ "rows": [[0.3]], "sets": 0 }), "0 is no count"),
        (json!({ "rows": [[0.3]], "set": 2 }), "\"set\" is not known"),
    ] {
        let refused = service.post("/functions", &body);
        assert!(refused.status == 422 && refused.error().contains(part), "{}", refused.body);
    }
    service.ends_well();
}

/// A service tells its forecasts by the keys of the command: by their parts, the effects of inputs,
/// scenarios, and the rows that lay outside of their bands.
#[test]
fn a_series_is_told_by_the_keys_of_the_command() {
    let promotion = |t: usize| f64::from(u8::from(t * t % 11 == 4));
    let sold = |t: usize| {
        let odd = if t == 171 { 60.0 } else { 0.0 };
        50.0 + (t % 7) as f64 + 30.0 * promotion(t) + odd + noise(t as u64)
    };
    let line = |t: usize| format!("{},{},{}\n", day_after("2024-01-01", t), promotion(t), sold(t));
    let lines = |rows: std::ops::Range<usize>| "day,promotion,sold\n".to_owned() + &rows.map(line).collect::<String>();
    let folder = Folder::new()
        .with("first.csv", lines(0..160))
        .with("later.csv", lines(160..180))
        .with("plan.csv", "promotion\n0\n1\n")
        .with("bold.csv", "promotion\n1\n1\n");
    folder.done("forecast first.csv --time day --known promotion --season 7 --intervals 0.9 --out m.mercer");
    let options = "--future plan.csv --future bold.csv --parts p.csv --anomaly-share 0.99";
    let report = folder.json(&format!("forecast later.csv --time day --model m.mercer {options}"));
    let service = Service::start(&folder, "--model m.mercer");
    let rows: Vec<Value> = (160..180)
        .map(|t| json!({ "day": day_after("2024-01-01", t), "promotion": promotion(t), "sold": sold(t) }))
        .collect();
    let learnt = service.learn(&json!({ "rows": rows }));
    let flags: Vec<Option<bool>> = (0..20).map(|k| learnt["predictions"][k]["anomaly"].as_bool()).collect();
    assert_eq!(flags, (160..180).map(|t| Some(t == 171)).collect::<Vec<_>>(), "{learnt}");
    let plans = json!({ "plan": [[0], [1]], "bold": [[1], [1]] });
    let asked = json!({ "steps": 2, "scenarios": plans, "parts": true, "input_effects": true, "anomalies": true });
    let told = service.predict(&asked);
    for key in ["parts", "input_effects", "anomalies", "times"] {
        assert!(told[key].is_array() || told[key].is_object(), "{key}: {told}");
        if key != "parts" {
            assert_eq!(told[key], report[key], "{key}");
        }
    }
    assert_eq!(told["anomalies"]["rows"][0]["time"], "2024-06-20", "{told}");
    for name in ["plan", "bold"] {
        let (ours, theirs) = (&told["scenarios"][name], &report["scenarios"][name]);
        assert_eq!((&ours["parts"], &ours["times"]), (&theirs["parts"], &theirs["times"]), "{name}");
        for step in 0..2 {
            let row = &ours["predictions"][step];
            assert_eq!(row["prediction"], theirs["forecast"][step][0], "{name}");
            assert_eq!(json!([row["lower"], row["upper"]]), theirs["forecast_intervals"][step][0], "{name}");
        }
    }
    // Without inputs of their own the rows to come are those of the first scenario by name.
    let without = service.predict(&json!({ "steps": 2, "inputs": [[1], [1]], "parts": true }));
    assert_eq!((&told["predictions"], &told["parts"]), (&without["predictions"], &without["parts"]));
    assert!(without["scenarios"].is_null() && without["anomalies"].is_null() && without["input_effects"].is_null());
    for (body, part) in [
        (json!({ "parts": 1, "inputs": [[0]] }), "parts is 1; give true or false"),
        (json!({ "scenarios": [[0]] }), "scenarios is an array; give an object of inputs"),
        (json!({ "scenarios": { "a": [[0, 1]] } }), "scenarios[\"a\"][0] is no row"),
        (
            json!({ "steps": 2, "scenarios": { "a": [[0]] } }),
            "scenario \"a\": a forecast 2 steps ahead needs the inputs",
        ),
        (
            json!({ "steps": 900, "scenarios": { "a": [[0]], "b": [[0]] } }),
            "scenarios are 2 of 900 steps; give 1 at most",
        ),
        (json!({ "effects": true }), "\"effects\" is not known here; send {\"steps\": H"),
    ] {
        let refused = service.post("/predict", &body);
        assert!(refused.status == 422 && refused.error().contains(part), "{body}: {}", refused.body);
    }
    let form = service.get("/openapi.json").json();
    let answer = &form["components"]["schemas"];
    assert!(answer.to_string().contains("input_effects"), "{answer}");
    service.ends_well();
}

/// Only season mixtures know parts.
#[test]
fn other_forecasters_refuse_to_tell_parts() {
    let line = |t: usize| format!("{}\n", (t as f64 * 0.3).sin());
    let folder = Folder::new().with("s.csv", (0..120).map(line).collect::<String>());
    folder.done("forecast s.csv --method experts --out m.mercer");
    let service = Service::start(&folder, "--model m.mercer");
    for key in ["parts", "input_effects", "anomalies", "scenarios"] {
        let refused = service.post("/predict", &json!({ key: true }));
        assert!(refused.status == 422 && refused.error().contains("is not known here"), "{}", refused.body);
    }
    let learnt = service.learn(&json!({ "row": [0.5] }));
    assert!(learnt["anomaly"].is_null() && learnt["prediction"].is_number(), "{learnt}");
    service.ends_well();
}
