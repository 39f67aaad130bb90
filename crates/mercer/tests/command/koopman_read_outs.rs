//! What `mercer koopman` reads off modes: shapes, lags, sets, and the spectrum under an action.

use serde_json::Value;

use crate::support::{Folder, noise};

fn numbers(of: &Value) -> Vec<f64> {
    of.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// A turning pair with noise; the second column has another unit and another origin.
fn turning(rows: u64) -> String {
    let ((c, s), mut x) = ((0.95 * 0.3_f64.cos(), 0.95 * 0.3_f64.sin()), [0.5, 0.5]);
    let mut text = "level,flow\n".to_owned();
    for t in 0..rows {
        text += &format!("{},{}\n", x[0], 100.0 * x[1] + 3.0);
        x = [c * x[0] - s * x[1] + 0.3 * noise(2 * t), s * x[0] + c * x[1] + 0.3 * noise(2 * t + 1)];
    }
    text
}

/// A chain on −1, 0 and 1.
fn chain(rows: u64) -> String {
    const P: [[f64; 3]; 3] = [[0.9, 0.08, 0.02], [0.1, 0.7, 0.2], [0.02, 0.18, 0.8]];
    let mut at = 0;
    let mut text = "s\n".to_owned();
    for t in 0..rows {
        text += &format!("{}\n", at as i32 - 1);
        let mut u = noise(t) + 0.5;
        at = (0..2)
            .find(|to| {
                u -= P[at][*to];
                u < 0.0
            })
            .unwrap_or(2);
    }
    text
}

#[test]
fn modes_have_shapes_by_name_and_tables_have_a_hundred_columns() {
    let folder = Folder::new().with("osc.csv", turning(3000));
    let report = folder.json("koopman osc.csv --trajectory");
    for key in ["names", "shape_names"] {
        assert_eq!(report[key], serde_json::json!(["level", "flow"]), "{report}");
    }
    let turning = report["modes"].as_array().unwrap().iter().find(|mode| mode["im"].as_f64() > Some(0.0)).unwrap();
    let part = |j: usize| numbers(&turning["shape"][j]);
    let size = |j: usize| part(j)[0].hypot(part(j)[1]);
    // A quarter of a turn apart, in the units of the columns.
    assert!((size(1) / size(0) / 100.0 - 1.0).abs() < 0.15, "{turning}");
    let product = (part(0)[0] * part(1)[0] + part(0)[1] * part(1)[1]) / size(0) / size(1);
    assert!(product.abs() < 0.15, "{turning}");
    let held = |key: &str| report["reconstruction"][key].as_f64().unwrap();
    assert!(held("state_error") < 0.05 && (held("step_error") - 0.1).abs() < 0.04, "{report}");
    let text = folder.done("koopman osc.csv --trajectory --lags 1,2,10 --sets 3 --predictions p.csv");
    let table = &text[text.find("  mode ").unwrap()..];
    for line in table.lines() {
        assert!(line.chars().count() <= 100, "{}: {line}", line.chars().count());
    }
    for words in ["amplitude", "shapes", "flow", "°", "weights at rest", "power of lag 1", "agrees"] {
        assert!(table.contains(words), "{words}: {text}");
    }
}

#[test]
fn lags_tell_time_scales_and_whether_powers_agree() {
    let folder =
        Folder::new().with("osc.csv", turning(6000)).with("some.csv", turning(500)).with("few.csv", turning(40));
    let report = folder.json("koopman osc.csv --trajectory --lags 1,2,4 --eigen 4 --step-time 0.5");
    let lags = report["lags"].as_array().unwrap();
    let first: Vec<&Value> = lags.iter().filter(|mode| mode["mode"] == 1).collect();
    assert_eq!(first.iter().map(|mode| mode["lag"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 4], "{report}");
    for mode in first {
        let (lag, part) = (mode["lag"].as_f64().unwrap(), |key: &str| mode[key].as_f64().unwrap());
        let power = (0.95_f64.powf(lag) * (0.3 * lag).cos(), 0.95_f64.powf(lag) * (0.3 * lag).sin());
        assert!((part("re") - power.0).hypot(part("im") - power.1) < 4.0 * part("spread") + 0.01, "{mode}");
        assert!((part("time_scale") - -0.5 / 0.95_f64.ln()).abs() < 2.0, "{mode}");
        assert_eq!(mode["agrees"], true, "{mode}");
    }
    if cfg!(feature = "plots") {
        folder.done("koopman some.csv --trajectory --lags 1,4 --plot p.svg");
        let picture = folder.read("p.svg");
        assert!(picture.contains("Implied time scales") && picture.contains("mode 1"), "{picture}");
    }
    assert_eq!(folder.json("koopman some.csv --trajectory")["lags"], serde_json::json!([]));
    folder.refused(1, "koopman few.csv --trajectory --lags 1,35", &["--lags", "35 steps", "too few"]);
    folder.refused(2, "koopman few.csv --trajectory --lags 0", &["--lags"]);
    folder.refused(2, "koopman osc.csv --trajectory --lags 2 --method sogd", &["--lags", "--method sums"]);
    folder.refused(2, "koopman osc.csv --state-dim 1 --input-dim 0 --lags 2", &["--input-dim"]);
}

#[test]
fn sets_have_weights_jumps_and_committors_and_states_their_set() {
    let folder = Folder::new().with("chain.csv", chain(6000)).with("q.csv", "s\n-1\n0\n1\n");
    let options = "--sets 3 --predict q.csv --eigenfunctions f.csv";
    let report = folder.json(&format!("koopman chain.csv --delay 1 {options}"));
    let weights = numbers(&report["sets"]["weights"]);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights.windows(2).all(|two| two[0] >= two[1]));
    let table = folder.read("f.csv");
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|cell| *cell == name).unwrap();
    let cell = |row: usize, name: &str| -> f64 {
        table.lines().nth(1 + row).unwrap().split(',').nth(column(name)).unwrap().parse().unwrap()
    };
    // The set of each state; jumps from one to the other are those of the chain.
    let set = [0, 1, 2].map(|row| cell(row, "set") as usize);
    let jumps: Vec<Vec<f64>> = report["sets"]["jumps"].as_array().unwrap().iter().map(numbers).collect();
    for (i, j, jump) in [(0, 0, 0.9), (0, 1, 0.08), (1, 2, 0.2), (2, 2, 0.8)] {
        assert!((jumps[set[i] - 1][set[j] - 1] - jump).abs() < 0.05, "{jumps:?} {set:?}");
    }
    let report = folder.json(&format!("koopman chain.csv --delay 1 {options} --committor {},{}", set[0], set[2]));
    let told = numbers(&report["sets"]["committor"]);
    // 0.2 of 0.3 leaves the middle one to the right.
    assert!((told[set[1] - 1] - 2.0 / 3.0).abs() < 0.1 && told[set[0] - 1] == 0.0, "{report}");
    let table = folder.read("f.csv");
    let last: Vec<f64> = table.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(last[0] < 1e-6 && (last[1] - told[set[1] - 1]).abs() < 1e-6 && last[2] > 1.0 - 1e-6, "{table}");
    folder.refused(2, "koopman chain.csv --delay 1 --sets 9", &["--sets", "9 sets", "3"]);
    folder.refused(2, "koopman chain.csv --delay 1 --sets 3 --committor 1,4", &["--committor", "1 to 3"]);
    folder.refused(2, "koopman chain.csv --delay 1 --sets 3 --committor 1", &["--committor", "1,2"]);
    folder.refused(2, "koopman chain.csv --committor 1,2", &["--sets"]);
}

/// With an action the modes are those of the state at a fixed one, also beyond 1.
#[test]
fn an_action_leaves_the_state_its_own_spectrum() {
    let (mut text, mut x) = ("level,valve,level_next\n".to_owned(), 0.1);
    let mut follows = text.clone();
    for t in 0..2000 {
        let valve = 2.0 * noise(2 * t) - 0.6 * x;
        let next = 1.05 * x + 0.5 * valve + 0.1 * noise(2 * t + 1);
        text += &format!("{x},{valve},{next}\n");
        follows += &format!("{x},{},{next}\n", -0.6 * x);
        x = next;
    }
    let folder = Folder::new().with("moves.csv", text).with("follows.csv", follows);
    let report = folder.json("koopman moves.csv --input-dim 1");
    let mode = &report["modes"][0];
    let part = |key: &str| mode[key].as_f64().unwrap();
    assert!((part("re") - 1.05).abs() < 3.0 * part("spread") && part("spread") < 0.02, "{report}");
    assert_eq!((&mode["reliable"], &report["names"]), (&Value::Bool(true), &serde_json::json!(["level", "valve"])));
    assert_eq!(report["reconstruction"]["step_error"], Value::Null);
    let text = folder.done("koopman follows.csv --input-dim 1");
    assert!(text.contains("the state tells the inputs") && text.contains("vary the inputs"), "{text}");
    folder.refused(2, "koopman moves.csv --input-dim 1 --lags 2", &["--lags", "action"]);
}

/// The cells of a table behind its header.
fn cells(table: &str) -> Vec<Vec<String>> {
    table.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn predict_tells_states_functions_and_intervals_of_rows_found_by_name() {
    let text = turning(1500);
    let rows: Vec<&str> = text.lines().skip(700).take(4).collect();
    let (mut named, mut objects, mut windows) = ("flow,z,level\n".to_owned(), String::new(), "a,b,c,d\n".to_owned());
    for row in &rows {
        let (level, flow) = row.split_once(',').unwrap();
        named += &format!("{flow},7,{level}\n");
        objects += &format!("{{\"flow\":{flow},\"level\":{level}}}\n");
    }
    rows.windows(2).for_each(|two| windows += &format!("{},{}\n", two[0], two[1]));
    let folder = Folder::new().with("osc.csv", text).with("rows.csv", named).with("rows.ndjson", objects);
    let folder = folder.with("windows.csv", windows).with("other.csv", "level,x\n1,2\n").with("wide.csv", "1,2,3\n");
    folder.done("koopman osc.csv --trajectory --delay 2 --out m.mercer");
    let told = "koopman --model m.mercer --steps 3 --predict windows.csv --predictions p.csv --eigenfunctions f.csv";
    let report = folder.json(told);
    folder.done("predict rows.csv --model m.mercer --steps 3 --eigen 4 --intervals 0.9 -o a.csv");
    let answers = folder.read("a.csv");
    let header = "prediction_level,prediction_flow,lower_level,upper_level,lower_flow,upper_flow,re1,im1,";
    assert!(answers.starts_with(header), "{answers}");
    let (answers, states, functions) = (cells(&answers), cells(&folder.read("p.csv")), cells(&folder.read("f.csv")));
    // No state ends with the first row.
    assert!(answers.len() == 4 && answers[0].iter().all(String::is_empty), "{answers:?}");
    let half_widths = numbers(&report["half_widths"][0]);
    for (i, answer) in answers[1..].iter().enumerate() {
        assert_eq!(answer[..2], states[i][2..], "{i}");
        assert_eq!(answer[6..], functions[i][4..12], "{i}");
        let number = |j: usize| answer[j].parse::<f64>().unwrap();
        for j in 0..2 {
            let half = half_widths[2 + j];
            assert!((number(3 + 2 * j) - number(j) - half).abs() < 1e-9 * half && half > 0.0, "{answer:?}");
        }
    }
    let lines = folder.done("predict rows.ndjson --model m.mercer --steps 3");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({"prediction_level": null, "prediction_flow": null}));
    let first = lines[1]["prediction_level"].as_f64().unwrap();
    assert_eq!(Ok(first), answers[1][0].parse::<f64>());

    folder.refused(1, "predict other.csv --model m.mercer", &["other.csv: has no column \"flow\"", "m.mercer"]);
    folder.refused(1, "predict wide.csv --model m.mercer", &["wide.csv: has 3 columns", "a state of m.mercer has 2"]);
    folder.refused(2, "predict rows.csv --model m.mercer --learn", &["--learn", "m.mercer is an operator"]);
    assert_eq!(folder.run("train osc.csv --target flow --learner krls -n 100 --out l.mercer").code, Some(0));
    folder.refused(2, "predict osc.csv --model l.mercer --eigen 2", &["--eigen is for operators", "l.mercer"]);
    folder.done("koopman osc.csv --trajectory --method sogd --out s.mercer");
    folder.refused(1, "predict osc.csv --model s.mercer", &["gradient descent", "mercer koopman --predict"]);
}

#[test]
fn predict_tells_the_sets_of_rows_and_which_is_reached_first() {
    let folder = Folder::new().with("chain.csv", chain(6000)).with("q.csv", "s\n-1\n0\n1\n");
    folder.done("koopman chain.csv --delay 1 --out m.mercer");
    let sets = "--sets 3 --committor 1,2";
    folder.done(&format!("koopman --model m.mercer {sets} --predict q.csv --eigenfunctions f.csv --predictions p.csv"));
    let answers = folder.done(&format!("predict q.csv --model m.mercer {sets}"));
    assert!(answers.starts_with("prediction,set,member1,member2,member3,committor\n"), "{answers}");
    let (answers, states, functions) = (cells(&answers), cells(&folder.read("p.csv")), cells(&folder.read("f.csv")));
    for i in 0..3 {
        assert_eq!(answers[i][..1], states[i], "{i}");
        assert_eq!(answers[i][1..], functions[i][functions[i].len() - 5..], "{i}");
    }
    folder.refused(2, "predict q.csv --model m.mercer --sets 9", &["--sets", "9 sets"]);
}
