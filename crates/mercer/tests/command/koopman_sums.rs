//! `mercer koopman` by exact sums: right without options, on data as they are.
//!
//! The faults that a test here is named by, of the command when gradient descent was the default:
//! (1) a constant step left noise in all eigenvalues; (2) the width came from the first rows of a
//! path; (3) far forecasts were worse than the mean; (4) help led to a regulariser that biases;
//! (5) units of columns mattered; (6) an operator without a point was no failure; (7) nothing told
//! how good it is; (8) pairs led across gaps and seams; (9) inputs reached one step; (10) delays
//! had to be guessed, and forecasts from the end were not to be had; (11) noise of measurement made
//! eigenvalues small; (12) JSON told no kernel and no scale, and eigenfunctions were not written;
//! (13) the dictionary grew as the step fell; (14) a column alone was refused; (15) the report
//! spoke of the machinery first.

use serde_json::Value;

use crate::support::{Folder, noise};

/// x⁺ = 0.85 x + noise, of variance 1.
fn autoregressive(n: u64, unit: f64) -> Vec<f64> {
    let mut x = 0.0;
    let deviation = (12.0_f64 * (1.0 - 0.85_f64.powi(2))).sqrt();
    (0..n)
        .map(|t| {
            x = 0.85 * x + deviation * noise(t);
            x * unit
        })
        .collect()
}

fn column(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn damped(t: u32) -> f64 {
    0.998_f64.powi(i32::try_from(t).unwrap()) * (0.5 * f64::from(t)).cos()
}

fn mode(report: &Value, i: usize) -> (f64, f64, f64) {
    let part = |key: &str| report["modes"][i][key].as_f64().unwrap();
    (part("re"), part("im"), part("spread"))
}

/// Faults 1, 2, 6, 7, 12 and 14: without options the second eigenvalue is right within its spread,
/// whatever the units, and the report says how good it is.
#[test]
fn a_column_alone_is_a_trajectory_with_right_eigenvalues_in_any_unit() {
    for unit in [1.0, 1e-6, 1e6] {
        let folder = Folder::new().with("x.csv", column(&autoregressive(6000, unit)));
        let report = folder.json("koopman x.csv");
        let (re, im, spread) = mode(&report, 1);
        assert!((re - 0.85).abs() < 3.0 * spread + 0.01 && im == 0.0 && spread < 0.03, "{report}");
        assert_eq!((mode(&report, 0).0 * 1e9).round() / 1e9, 1.0, "{report}");
        let scale = report["modes"][1]["time_scale"].as_f64().unwrap();
        assert!((scale + 1.0 / re.ln()).abs() < 1e-9, "{report}");
        let share = |key: &str| report["held_out"][key].as_f64().unwrap();
        assert!(share("error") < share("no_change") && share("error") < 0.32 && share("mean") == 1.0, "{report}");
        assert_eq!((report["method"].as_str(), report["deterministic"].as_bool()), (Some("sums"), Some(false)));
        assert_eq!(report["delay"].as_u64(), Some(1));
        let choice = &report["mode_choice"];
        assert!(choice["ridge"].as_f64() > Some(0.0) && choice.get("kernel").is_some(), "{report}");
        let units = report["units"][0].as_f64().unwrap();
        assert!((units / unit - 1.0).abs() < 0.2, "{report}");
    }
}

/// Faults 3 and 10: forecasts go on from the end, and far ahead they are the mean.
#[test]
fn forecasts_go_on_from_the_end_with_intervals() {
    let folder = Folder::new().with("x.csv", format!("level\n{}", column(&autoregressive(6000, 1.0))));
    let last = autoregressive(6000, 1.0)[5999];
    let report = folder.json("koopman x.csv --steps 40");
    let rows = report["predictions"].as_array().unwrap();
    let row = |k: usize| rows[k][0].as_f64().unwrap();
    assert!((row(0) - 0.85 * last).abs() < 0.06 && row(39).abs() < 0.1 && rows.len() == 40, "{report}");
    let half = |k: usize| report["half_widths"][k][0].as_f64().unwrap();
    // 0.9 of the noise, which is even, is within 0.9 of its half range.
    let noise = 0.9 * 0.5 * (12.0_f64 * (1.0 - 0.85_f64.powi(2))).sqrt();
    assert!((half(0) / noise - 1.0).abs() < 0.1 && (half(39) - 1.645).abs() < 0.35, "{report}");
    let text = folder.done("koopman x.csv --predictions out.csv");
    let lines = folder.read("out.csv");
    assert_eq!((lines.lines().next(), lines.lines().count()), (Some("step,level,level_lower,level_upper"), 11));
    // Fault 15.
    for word in ["± spread", "time scale", "residual", "reliable", "one-step error", "no change"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("forced") && !text.contains("level_lower"), "{text}");
}

/// Delays are chosen, and a noiseless wave is found to be deterministic.
#[test]
fn delays_are_chosen_and_a_wave_is_iterated() {
    let folder = Folder::new()
        .with("wave.csv", (0..600).map(|t| format!("{}\n", damped(t))).collect::<String>())
        .with("ones.csv", "1,1\n".repeat(200));
    let report = folder.json("koopman wave.csv --steps 30 --step-time 0.1");
    assert_eq!((report["delay"].as_u64(), report["deterministic"].as_bool()), (Some(2), Some(true)), "{report}");
    for (k, row) in report["predictions"].as_array().unwrap().iter().enumerate() {
        let truth = damped(600 + u32::try_from(k).unwrap());
        assert!((row[0].as_f64().unwrap() - truth).abs() < 1e-3, "{k}: {report}");
    }
    let found = report["modes"].as_array().unwrap().iter().any(|mode| {
        let part = |key: &str| mode[key].as_f64().unwrap();
        let near = part("im") > 0.0 && (part("modulus") - 0.998).abs() < 1e-4;
        near && (part("period") - 0.1 * std::f64::consts::TAU / 0.5).abs() < 1e-3 && mode["reliable"] == true
    });
    assert!(found, "{report}");
    assert_eq!(folder.json("koopman wave.csv --delay 3")["delay"].as_u64(), Some(3));
    folder.refused(2, "koopman ones.csv --delay 2", &["--delay", "add it"]);
    folder.refused(2, "koopman wave.csv --delay 2 --state-dim 1", &["--delay", "--state-dim"]);
    let ones = folder.json("koopman ones.csv --trajectory --delay 2");
    assert_eq!(ones["eigenvalues"].as_array().unwrap().len(), 1, "{ones}");
}

/// Faults 5 and 8: columns of other units, constant columns, gaps of time and missing cells.
#[test]
fn gaps_cut_the_trajectory_and_columns_have_their_own_units() {
    let values = autoregressive(3000, 1.0);
    let row = |t: usize, time: usize| format!("{time},{},{},7\n", values[t], 1e4 * values[(t + 1500) % 3000]);
    let gapless: String = (0..2000).map(|t| row(t, t)).collect();
    let gap: String = (2000..3000).map(|t| row(t, t + 5000)).collect();
    let header = "t,a,b,c\n";
    let folder = Folder::new()
        .with("gap.csv", format!("{header}{gapless}{gap}"))
        .with("hole.csv", format!("{header}{gapless}2000,,1,7\n{gap}"));
    let report = folder.json("koopman gap.csv --trajectory --time t --delay 2");
    // Each part has two rows fewer pairs than rows.
    assert_eq!((report["pairs"].as_u64(), report["cuts"].as_u64()), (Some(2996), Some(1)), "{report}");
    assert_eq!(report["step_time"].as_f64(), Some(1.0));
    let units: Vec<f64> = report["units"].as_array().unwrap().iter().map(|unit| unit.as_f64().unwrap()).collect();
    assert!((units[1] / units[0] / 1e4 - 1.0).abs() < 0.2 && units[2] == 1.0, "{units:?}");
    let hole = folder.json("koopman hole.csv --trajectory --time t --delay 1");
    assert_eq!((hole["pairs"].as_u64(), hole["cuts"].as_u64()), (Some(2998), Some(1)), "{hole}");
}

/// Fault 9: the inputs of the coming steps are given beside the first.
#[test]
fn forecasts_with_inputs_reach_many_steps() {
    let (mut text, mut state) = ("s,u,s_next\n".to_owned(), 0.3);
    for t in 0..800 {
        let next = 0.5 * state + noise(t);
        text += &format!("{state},{},{next}\n", noise(t));
        state = next;
    }
    let folder = Folder::new().with("moves.csv", text).with("q.csv", "0.2,0.3,-0.1,0.4\n").with("one.csv", "0.2,0.3\n");
    let report = folder.json("koopman moves.csv --input-dim 1 --predict q.csv --steps 3");
    assert!((report["predictions"][0][0].as_f64().unwrap() - 0.45).abs() < 1e-3, "{report}");
    // The state at a fixed input.
    assert_eq!(report["eigenvalues"].as_array().unwrap().len(), 1);
    let (re, im, spread) = mode(&report, 0);
    assert!((re - 0.5).abs() < 4.0 * spread && spread < 0.1 && im == 0.0, "{report}");
    folder.refused(1, "koopman moves.csv --input-dim 1 --predict one.csv --steps 3", &["one.csv: has 2 columns", "4"]);
    // Fault 14: the way out is named.
    folder.refused(1, "koopman moves.csv", &["3 columns", "--trajectory", "--input-dim"]);
}

/// With linear dynamics forecasts from any state are right (findings on kernels without constants).
#[test]
fn a_linear_map_is_found_in_any_unit() {
    for unit in [1e6, 1e-6] {
        let rows: String = (0..2000)
            .map(|t| {
                let (x, y) = (unit * noise(2 * t), unit * noise(2 * t + 1));
                format!("{x},{y},{},{}\n", 0.9 * x, 0.5 * y)
            })
            .collect();
        let folder = Folder::new().with("map.csv", rows).with("q.csv", format!("{unit},0\n0,{unit}\n"));
        let report = folder.json("koopman map.csv --predict q.csv");
        for (forecast, truth) in report["predictions"].as_array().unwrap().iter().zip([[0.9, 0.0], [0.0, 0.5]]) {
            for (value, truth) in forecast.as_array().unwrap().iter().zip(truth) {
                assert!((value.as_f64().unwrap() / unit - truth).abs() < 1e-3, "{report}");
            }
        }
        for truth in [0.9, 0.5] {
            let near = |mode: &Value| (mode["re"].as_f64().unwrap() - truth).abs() < 1e-3;
            assert!(report["modes"].as_array().unwrap().iter().any(near), "{truth}: {report}");
        }
    }
}

/// Faults 4 and 13, by the paper's learner without options: the second eigenvalue is near (the
/// constant step gave 0.3 to 0.65), the dictionary stays small, and a linear kernel is not centred.
#[test]
fn descent_without_options_converges_and_stays_small() {
    let rows = |t: u64| format!("{},{},{},{}\n", noise(t), noise(t + 9999), 0.9 * noise(t), 0.5 * noise(t + 9999));
    let folder = Folder::new()
        .with("x.csv", column(&autoregressive(20_000, 1.0)))
        .with("map.csv", (0..2000).map(rows).collect::<String>())
        .with("q.csv", "1,0\n0,1\n");
    let report = folder.json("koopman x.csv --trajectory --method sogd");
    let second = report["eigenvalues"][1]["re"].as_f64().unwrap();
    assert!((second - 0.85).abs() < 0.06, "{report}");
    assert!(report["dictionary_size"].as_u64().unwrap() < 60, "{report}");
    let report = folder.json("koopman map.csv --method sogd --set kernel=linear --set eta=0.5 --predict q.csv");
    for (forecast, truth) in report["predictions"].as_array().unwrap().iter().zip([[0.9, 0.0], [0.0, 0.5]]) {
        for (value, truth) in forecast.as_array().unwrap().iter().zip(truth) {
            assert!((value.as_f64().unwrap() - truth).abs() < 1e-6, "{report}");
        }
    }
}

/// Faults 4 and 6 and what does not go together.
#[test]
fn refusals_name_a_remedy_and_help_tells_what_biases() {
    let folder = Folder::new()
        .with("few.csv", "1\n2\n3\n")
        .with("tiny.csv", "1e-9,2e-9\n2e-9,1e-9\n".repeat(50))
        .with("x.csv", column(&autoregressive(200, 1.0)));
    folder.refused(1, "koopman few.csv", &["few.csv: 2 pairs are too few", "10", "give more data"]);
    folder.refused(
        1,
        "koopman tiny.csv --method sogd --set kernel=linear",
        &["the operator is empty", "--method sums"],
    );
    folder.refused(2, "koopman x.csv --method sums --set eta=0.1", &["--set", "--method sogd"]);
    folder.refused(2, "koopman x.csv --method sogd --set eta=0.1 --half-life 100", &["--half-life", "--method sums"]);
    let help = folder.done("koopman --help");
    assert!(!help.contains("--lambda 0.1") && help.contains("it makes every eigenvalue smaller"), "{help}");
    let eigen = folder.done("koopman x.csv --eigenfunctions f.csv");
    assert!(eigen.contains("method"), "{eigen}");
    assert!(folder.read("f.csv").starts_with("x1,re1,im1,"));
}

/// A report without what is told of the run alone.
fn of_the_model(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("seconds").unwrap();
    report
}

/// Sums go on to the last bit, before and behind the pairs that settle scale and widths, and so
/// does the trajectory.
#[test]
fn half_and_half_is_one_uninterrupted_run() {
    let values = autoregressive(5200, 1.0);
    let part = |rows: std::ops::Range<usize>| -> String {
        let row = |t: usize| format!("{},{}\n", 10 * t, values[t]);
        std::iter::once("t,level\n".to_owned()).chain(rows.map(row)).collect()
    };
    let folder = Folder::new()
        .with("all.csv", part(0..5200))
        .with("first.csv", part(0..2600))
        .with("second.csv", part(2600..5200))
        .with("broken.csv", part(0..4500) + "45000,x\n")
        .with("wide.csv", part(0..5200).replace(',', ",7,").replace("t,7,level", "t,level,more"))
        .with("other.csv", part(1..5200));
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let whole = of_the_model(folder.json("koopman all.csv --time t --out whole.mercer"));
    assert_eq!((whole["pairs"].as_u64(), whole["step_time"].as_f64()), (Some(5199), Some(10.0)), "{whole}");
    folder.done("koopman first.csv --time t --out m.mercer");
    let report = folder.json("koopman second.csv --time t --model m.mercer --out m.mercer");
    assert_eq!(of_the_model(report), whole);
    assert!(read("m.mercer") == read("whole.mercer"), "the files differ");
    // Without pairs nothing is learnt, and all is told, the forecast from the end as well.
    assert_eq!(of_the_model(folder.json("koopman --model m.mercer")), whole);
    let facts = folder.json("inspect m.mercer");
    assert_eq!((facts["learnt"].as_u64(), facts["delay"].as_u64()), (Some(5199), Some(1)), "{facts}");
    // A run that a bad row ended is resumed.
    let stopped = folder.run("koopman broken.csv --time t --out s.mercer --checkpoint 1000");
    assert_eq!(stopped.code, Some(1), "{}", stopped.err);
    assert_eq!(folder.json("inspect s.mercer")["learnt"].as_u64(), Some(4499));
    folder.done("koopman all.csv --time t --out s.mercer --resume");
    assert!(read("s.mercer") == read("whole.mercer"), "the files differ");
    for (code, arguments, parts) in [
        (1, "other.csv --time t --out s.mercer --resume", &["rows are not those that s.mercer has learnt"][..]),
        (1, "all.csv --time t --half-life 99 --out s.mercer --resume", &["its half_life is none, not 99"]),
        (1, "all.csv --time t --trajectory --method sogd --out s.mercer --resume", &["its method is sums, not sogd"]),
        (1, "wide.csv --quiet --model m.mercer", &["wide.csv: has 2 columns", "a trajectory of 1"]),
        (2, "all.csv --time t --model m.mercer --method sogd", &["another method", "leave --method out"]),
        (2, "all.csv --time t --model m.mercer --trajectory --delay 2", &["--delay 2", "states of 1 rows"]),
        (2, "all.csv --model m.mercer --half-life 3", &["--model", "--half-life"]),
    ] {
        folder.refused(code, &format!("koopman {arguments}"), parts);
    }
}

/// Fault 8: several trajectories in one file do not join at the seams.
#[test]
fn groups_are_trajectories_of_their_own() {
    let values = autoregressive(3000, 1.0);
    let row = |t: usize, group: &str, time: usize| format!("{group},{time},{}\n", values[t]);
    let apart: String = (0..3000).map(|t| row(t, ["a", "b", "c"][t / 1000], t % 1000)).collect();
    let mixed: String = (0..3000).map(|t| row(t, ["a", "b", "c"][t % 3], t)).collect();
    let header = "run,t,x\n";
    let folder =
        Folder::new().with("apart.csv", format!("{header}{apart}")).with("mixed.csv", header.to_owned() + &mixed);
    let report = folder.json("koopman apart.csv --group run --time t");
    assert_eq!((report["pairs"].as_u64(), report["cuts"].as_u64()), (Some(2997), Some(2)), "{report}");
    assert_eq!(report["units"].as_array().unwrap().len(), 1, "{report}");
    folder.refused(
        1,
        "koopman mixed.csv --group run --quiet",
        &["0 pairs are too few", "cut", "--group", "stand together"],
    );
    folder.refused(1, "koopman apart.csv --time t", &["apart.csv, line 2, column 1 (\"run\")", "not a number"]);
    folder.refused(1, "koopman apart.csv --group nothing", &["--group", "nothing", "run"]);
    folder.refused(2, "koopman apart.csv --group run --state-dim 1", &["--group", "--state-dim"]);
}

/// Fault 2: the first rows are of one of two sets, between which a path goes three times in a
/// thousand steps.
#[test]
fn a_slow_switch_is_found() {
    let mut side = 1.0;
    let rows = (0..12_000).map(|t| {
        side *= if t > 400 && noise(t + 70_000) > 0.497 { -1.0 } else { 1.0 };
        side + 0.4 * noise(t)
    });
    let folder = Folder::new().with("x.csv", column(&rows.collect::<Vec<_>>()));
    let report = folder.json("koopman x.csv");
    let (re, im, spread) = mode(&report, 1);
    assert!((re - 0.994).abs() < 3.0 * spread + 0.003 && im == 0.0 && spread < 0.005, "{report}");
    assert_eq!(report["modes"][1]["reliable"].as_bool(), Some(true), "{report}");
}

/// Fault 11: noise of half a deviation on each measurement.
#[test]
fn noise_of_measurement_is_told_and_taken_out() {
    let clean = autoregressive(8000, 1.0);
    let noisy: Vec<f64> = clean.iter().zip(90_000..).map(|(x, t)| x + 0.5 * 12_f64.sqrt() * noise(t)).collect();
    let folder = Folder::new().with("clean.csv", column(&clean)).with("noisy.csv", column(&noisy));
    assert_eq!(folder.json("koopman clean.csv")["instruments"].as_bool(), Some(false));
    let report = folder.json("koopman noisy.csv --trajectory --delay 1");
    let (re, _, spread) = mode(&report, 1);
    assert!(report["instruments"] == true && (re - 0.85).abs() < 3.0 * spread + 0.02, "{report}");
    let text = folder.done("koopman noisy.csv --trajectory --delay 1");
    assert!(text.contains("Note: the states are measured with noise"), "{text}");
}

/// Parts that were learnt apart add up to what one run over all of them has learnt.
#[test]
fn parts_are_learnt_apart_and_added_up() {
    let values = autoregressive(9000, 1.0);
    let part = |rows: std::ops::Range<usize>| "level\n".to_owned() + &column(&values[rows]);
    let folder = Folder::new()
        .with("all.csv", part(0..9000))
        .with("first.csv", part(0..5000))
        .with("second.csv", part(5000..7000))
        .with("third.csv", part(7000..9000))
        .with("few.csv", part(0..100));
    folder.done("koopman first.csv --delay 1 --out m.mercer");
    folder.done("koopman second.csv --fork m.mercer --out 2.mercer");
    folder.done("koopman third.csv --fork m.mercer --out 3.mercer");
    let merged = folder.json("koopman --model m.mercer --merge 2.mercer,3.mercer --out all.mercer");
    let whole = folder.json("koopman all.csv --delay 1");
    // Two pairs lead across the seams.
    assert_eq!((merged["pairs"].as_u64(), whole["pairs"].as_u64()), (Some(8997), Some(8999)), "{merged}");
    for k in 0..3 {
        let (a, b) = (mode(&merged, k), mode(&whole, k));
        assert!((a.0 - b.0).abs() < 0.003 + b.2, "{merged} {whole}");
    }
    assert_eq!(of_the_model(folder.json("koopman --model all.mercer")), of_the_model(merged));
    folder.done("koopman few.csv --delay 1 --out few.mercer");
    folder.done("koopman first.csv --method sogd --trajectory --out sogd.mercer");
    for (arguments, parts) in [
        ("few.csv --fork few.mercer", &["few.mercer", "too few", "4096"][..]),
        ("few.csv --fork sogd.mercer", &["sogd.mercer", "--method sums"]),
        ("--model m.mercer --merge few.mercer", &["few.mercer", "--fork"]),
        ("--model m.mercer --merge sogd.mercer", &["sogd.mercer", "--method sums"]),
    ] {
        folder.refused(1, &format!("koopman {arguments}"), parts);
    }
}
