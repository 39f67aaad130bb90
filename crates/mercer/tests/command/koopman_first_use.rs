//! `mercer koopman` on files as they lie about: what is not taken as it was meant is told with what
//! takes it so.

use crate::support::{Folder, noise, object};

/// Two tanks every ten minutes, with a unit, decimal commas, gaps and a remark.
fn tanks() -> String {
    let mut text = "Tank;Timestamp;Temperature [°C];Valve %;Remark\n".to_owned();
    for tank in 0..2_u64 {
        let mut x = 0.0;
        for t in 0..200_u64 {
            x = 0.9 * x + noise(1000 * tank + t);
            let (minute, cell) = (10 * t, if t % 40 == 7 { "n/a".to_owned() } else { format!("{:.2}", 20.0 + x) });
            let (day, hour, minute) = (1 + minute / 1440, minute / 60 % 24, minute % 60);
            let remark = if t == 50 { "sensor off" } else { "ok" };
            text += &format!(
                "tank {tank};{day:02}.{:02}.2024 {hour:02}:{minute:02};{};{} %;{remark}\n",
                3 + tank,
                cell.replace('.', ","),
                50 + t * t % 7
            );
        }
    }
    text
}

#[test]
fn texts_are_left_out_or_name_trajectories_and_times_have_a_unit() {
    let counted: String = (0..200).map(|t| format!("{},{}\n", 0.5 * f64::from(t), noise(t as u64))).collect();
    let folder = Folder::new().with("tanks.csv", tanks()).with("counted.csv", format!("clock,y\n{counted}"));
    for options in ["--trajectory", "--group Tank --time Timestamp"] {
        let parts = ["not a number", "leave the column out; --ignore does, and --group takes one"];
        let said = folder.run(&format!("koopman tanks.csv {options}"));
        assert!(said.code == Some(1) && parts.iter().all(|part| said.err.contains(part)), "{}", said.err);
    }
    let told = "koopman tanks.csv --group Tank --time Timestamp --ignore Remark";
    // Beside what is told of the columns.
    let done = |line: &str| {
        let said = folder.run(line);
        assert_eq!(said.code, Some(0), "{}", said.err);
        said.out
    };
    let text = done(told);
    for part in ["a step is               600 seconds\n", "time scales and periods are in seconds,", "cut at gaps"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = object(&done(&format!("{told} --json")));
    assert_eq!(report["shape_names"], serde_json::json!(["Temperature [°C]", "Valve %"]));
    // Numbers have no unit that is known, nor has a time that was told.
    let text = done("koopman counted.csv --trajectory --time clock");
    assert!(text.contains("a step is               0.5 units of time\n"), "{text}");
    let text = done(&format!("{told} --step-time 10"));
    assert!(text.contains("a step is               10 units of time\n"), "{text}");
    folder.refused(1, "koopman tanks.csv --ignore Nothing", &["Nothing"]);
}

/// Rows of two numbers are pairs unless one says otherwise; a path of two numbers shows that it is
/// none, and pairs in any order do not.
#[test]
fn states_that_were_taken_as_pairs_are_told() {
    let at = |t: usize| [(0.1 * t as f64).cos(), (0.1 * t as f64).sin()];
    let states: String = (0..300).map(|t| format!("{},{}\n", at(t)[0], at(t)[1])).collect();
    let pair = |t: usize| format!("{},{}\n", at(t)[0] + at(t)[1], at(t + 3)[0] + at(t + 3)[1]);
    let in_order: String = (0..300).map(|t| pair(3 * t)).collect();
    let shuffled: String = (0..300).map(|t| pair(t * 7919 % 300)).collect();
    let folder = Folder::new().with("states.csv", states).with("order.csv", in_order).with("shuffled.csv", shuffled);
    let note = "each row is nearer to the next one than its x to its x⁺";
    assert!(folder.done("koopman states.csv").contains(note));
    for line in ["states.csv --trajectory", "states.csv --state-dim 1", "order.csv", "shuffled.csv"] {
        let text = folder.done(&format!("koopman {line}"));
        assert!(!text.contains(note), "{line}: {text}");
    }
}

#[test]
fn a_clock_with_a_unit_is_no_state() {
    let row = |t: u32| {
        let turn = 0.3 * f64::from(t);
        format!("{:.2},{:.6},{:.6}\n", 0.05 * f64::from(t), turn.cos(), turn.sin())
    };
    let rows: String = (0..400).map(row).collect();
    let folder = Folder::new().with("t.csv", format!("t [s],x,v\n{rows}")).with("u.csv", format!("t [m],x,v\n{rows}"));
    let said = folder.run("koopman t.csv --trajectory");
    assert!(said.err.contains("column \"t [s]\": left out, for it counts rows or time"), "{}", said.err);
    assert!(said.out.contains("x of 2 and x⁺ of 2 numbers") && !said.out.contains("wanders"), "{}", said.out);
    let other = folder.done("koopman u.csv --trajectory");
    assert!(other.contains("x of 3 and x⁺ of 3 numbers") && other.contains("wanders"), "{other}");
}

/// Advice is that of what the data are: more delays help no walk, and pairs have none.
#[test]
fn notes_advise_what_can_help() {
    let (mut walk, mut white, mut pairs) = (String::new(), String::new(), String::new());
    let mut at = 0.0;
    for t in 0..800 {
        at += 0.01 + noise(t);
        walk += &format!("{at}\n");
        white += &format!("{}\n", noise(5000 + t));
        pairs += &format!("{},{}\n", noise(7000 + t), noise(9000 + t));
    }
    let folder = Folder::new().with("walk.csv", walk).with("white.csv", white).with("pairs.csv", pairs);
    let [of_walk, of_delay, of_pairs] =
        ["nothing changes, as of a random walk", "more pairs, or --delay, may help", "more pairs may help"];
    for (line, told) in [("walk.csv", of_walk), ("white.csv --delay 5", of_delay), ("pairs.csv", of_pairs)] {
        let text = folder.done(&format!("koopman {line}"));
        for words in [of_walk, of_delay, of_pairs] {
            assert_eq!(text.contains(words), words == told, "{line}, {words}: {text}");
        }
    }
}

/// Two damped turns of 40 rows each, with days, the number of the run, and what is measured.
fn turns() -> Vec<String> {
    let row = |t: u32| {
        let (run, s) = (1 + t / 40, f64::from(t % 40));
        let [x, v] = [(0.3 * s).cos(), (0.3 * s).sin()].map(|wave| 0.98_f64.powf(s) * wave * f64::from(run));
        format!("2024-{:02}-{:02},{run},{x},{v}\n", 1 + t / 28, 1 + t % 28)
    };
    (0..160).map(row).collect()
}

#[test]
fn rows_with_the_newest_first_are_refused_and_numbers_of_runs_told() {
    let (rows, head) = (turns(), "day,run,x,v\n");
    let folder = Folder::new()
        .with("up.csv", format!("{head}{}", rows.concat()))
        .with("down.csv", format!("{head}{}", rows.iter().rev().map(String::as_str).collect::<String>()))
        .with("alone.csv", format!("day,x\n{}", rows.iter().rev().map(|row| alone(row)).collect::<String>()));
    let why = [
        "line 3",
        "\"day\"",
        "before that of the row before",
        "sort the rows by time",
        "--ignore \"day\"",
        "--group NAME",
    ];
    folder.refused(1, "koopman down.csv --trajectory --delay 1", &why);
    folder.refused(1, "koopman alone.csv --delay 1", &why);
    // Pairs of rows have no order, and what is asked for is done.
    assert_eq!(folder.run("koopman down.csv --trajectory --delay 1 --ignore day").code, Some(0));
    assert_eq!(folder.run("koopman down.csv --state-dim 1 --input-dim 2").code, Some(0));
    let notes =
        |words: &str| object(&folder.run(&format!("koopman up.csv --delay 1 --json {words}")).out)["notes"].to_string();
    let runs = "rises by one, as numbers of trajectories do";
    assert!(notes("--trajectory").contains(runs), "{}", notes("--trajectory"));
    for words in ["--trajectory --ignore run", "--group run"] {
        assert!(!notes(words).contains(runs), "{words}: {}", notes(words));
    }
}

/// The day and the first number of a row.
fn alone(row: &str) -> String {
    let cells: Vec<&str> = row.trim().split(',').collect();
    format!("{},{}\n", cells[0], cells[2])
}
