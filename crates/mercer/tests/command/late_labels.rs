//! Rows whose labels are not there, or come later.

use crate::support::{Folder, noise};

/// Rows of a number and a target, or a text and a class; those in `without` lack it.
fn csv(without: &[u64], class: bool) -> String {
    let row = |t: u64| {
        let (x, y) = (noise(t), 3.0 * noise(t) + noise(t + 900) / 50.0);
        let target = if without.contains(&t) {
            String::new()
        } else if class {
            ["low", "high"][usize::from(y > 0.0)].to_owned()
        } else {
            y.to_string()
        };
        format!("{},{x},{target}\n", if class { ["Ulm", "Bonn"][(t % 2) as usize] } else { "1" })
    };
    (0..60).map(row).fold("a,x,y\n".to_owned(), |text, row| text + &row)
}

#[test]
fn a_row_without_a_target_is_predicted_and_not_learnt() {
    for class in [false, true] {
        let folder = Folder::new().with("t.csv", csv(&[], class)).with("part.csv", csv(&[3, 7], class));
        let learnt: String = csv(&[], class)
            .lines()
            .enumerate()
            .filter(|(at, _)| ![4, 8].contains(at))
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        let folder = folder.with("known.csv", learnt);
        folder.run("train t.csv --learner krls --kernel gaussian:1 --scale standard --out m.mercer");
        std::fs::copy(folder.path("m.mercer"), folder.path("n.mercer")).unwrap();
        let part = folder.run("predict part.csv --model m.mercer --learn");
        let known = folder.run("predict known.csv --model n.mercer --learn");
        assert_eq!(part.code, Some(0), "{}", part.err);
        let lines: Vec<&str> = part.out.lines().collect();
        assert!(lines.len() == 61 && lines.iter().all(|line| !line.is_empty()), "{}", part.out);
        // The other rows are answered and learnt as if these were not there.
        let others: Vec<&str> =
            lines.iter().enumerate().filter(|(at, _)| ![4, 8].contains(at)).map(|(_, line)| *line).collect();
        assert_eq!(others, known.out.lines().collect::<Vec<_>>());
        assert!(std::fs::read(folder.path("m.mercer")).unwrap() == std::fs::read(folder.path("n.mercer")).unwrap());
        let told =
            "mercer: 2 rows without a target were predicted and not learnt, the first: part.csv, line 5 (row 4)\n";
        assert!(part.err.ends_with(told), "{}", part.err);
        assert!(!known.err.contains("without a target"), "{}", known.err);
        // A model learns from rows that have one; what is no target is no gap.
        let refused = folder.run("train part.csv --learner krls --out o.mercer");
        assert!(refused.code == Some(1) && refused.err.contains("the target is missing"), "{}", refused.err);
        if !class {
            let folder = folder.with("odd.csv", "a,x,y\n1,2,oops\n");
            let odd = folder.run("predict odd.csv --model m.mercer --learn");
            assert!(odd.code == Some(1) && odd.err.contains("\"oops\" is not a number"), "{}", odd.err);
        }
    }
}

/// The predictions, without the numbers of their rows and a header.
fn predictions(text: &str) -> Vec<String> {
    let last = |line: &str| line.rsplit(',').next().unwrap().to_owned();
    text.lines().filter(|line| !line.contains("prediction")).map(last).collect()
}

/// Each row is predicted by a model of the rows whose labels have come, in every command alike.
#[test]
fn labels_that_come_late_are_learnt_when_they_come() {
    let all = csv(&[], false);
    let folder = Folder::new().with("t.csv", &all);
    let learner = "--learner krls --kernel gaussian:1";
    folder.run(&format!("eval t.csv {learner} --label-delay 7 --columns prediction --predictions e.csv"));
    let evaluated = predictions(&folder.read("e.csv"));
    let (head, rows) = all.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let folder = folder.with("late.csv", head.to_owned() + "\n" + &rows[20..].join("\n") + "\n");
    folder.run(&format!("train t.csv {learner} -n 20 --out live.mercer"));
    let live = folder.run("predict late.csv --model live.mercer --learn --label-delay 7");
    assert_eq!(live.code, Some(0), "{}", live.err);
    let live = predictions(&live.out);
    for row in [8, 20, 30, 59] {
        // Seven rows wait when this one comes.
        folder.run(&format!("train t.csv {learner} -n {} --out known.mercer", row - 7));
        let known = predictions(&folder.run("predict t.csv --model known.mercer").out)[row].clone();
        let close = |text: &str| (text.parse::<f64>().unwrap() - known.parse::<f64>().unwrap()).abs() < 1e-9;
        assert!(close(&evaluated[row]), "eval, row {row}: {} and not {known}", evaluated[row]);
        // The first twenty were known at once.
        assert!(row < 27 || close(&live[row - 20]), "predict, row {row}: {} and not {known}", live[row - 20]);
    }
    // All labels have come at the end.
    folder.run(&format!("train t.csv {learner} --out whole.mercer"));
    let whole = folder.run("predict t.csv --model whole.mercer").out;
    assert_eq!(folder.run("predict t.csv --model live.mercer").out, whole);
    let late = folder.run(&format!("train t.csv {learner} --label-delay 7 --out late.mercer"));
    assert_eq!(folder.run("predict t.csv --model late.mercer").out, whole);
    let mse = folder.json(&format!("eval t.csv {learner} --label-delay 7"))["mse"].as_f64().unwrap();
    assert!(late.out.contains(&format!("mean squared error {mse:.6}")), "{} {mse}", late.out);
    // Without a delay nothing is late.
    let [none, zero] = ["", "--label-delay 0"].map(|delay| folder.json(&format!("eval t.csv {learner} {delay}")));
    assert!((none["mse"].as_f64().unwrap() - zero["mse"].as_f64().unwrap()).abs() < 1e-12);
}

/// Labels of tables, of classes and by the time, with `train` and `eval` of one mind.
#[test]
fn labels_come_late_in_tables_and_by_the_clock() {
    let table = |class: bool| {
        let text = csv(&[], class);
        let clocked = |(t, line): (usize, &str)| match t {
            0 => format!("at,{line}\n"),
            // Two rows an hour.
            t => format!("2024-01-{:02} {:02}:{:02},{line}\n", 1 + t / 48, t % 48 / 2, 30 * (t % 2)),
        };
        text.lines().enumerate().map(clocked).collect::<String>()
    };
    let folder =
        Folder::new().with("n.csv", table(false)).with("c.csv", table(true)).with("plain.csv", csv(&[], false));
    for (file, key, told) in [("n.csv", "mse", "mean squared error "), ("c.csv", "accuracy", "accuracy ")] {
        let scores = ["5", "150m", "2.5h", "1d"].map(|delay| {
            let options = format!("{file} --learner krls --scale standard --label-delay {delay}");
            let found = folder.run(&format!("eval {options} --json"));
            let score = crate::support::object(&found.out)[key].as_f64().unwrap();
            let trained = folder.run(&format!("train {options} --out m.mercer"));
            let shown = trained.out.split(told).nth(1).and_then(|rest| rest.split([',', '\n']).next()).unwrap();
            assert!((shown.parse::<f64>().unwrap() - score).abs() < 1e-5, "{options}: {shown}, {score}");
            score
        });
        // Five rows are two and a half hours, but the fifth of them has come by then.
        assert_eq!(scores[1], scores[2]);
        assert!(scores[0] != scores[3], "{file}: {scores:?}");
    }
    folder.refused(
        2,
        "eval plain.csv --learner krls --label-delay 1d",
        &["needs a column of times", "a number of rows"],
    );
    folder.refused(2, "eval plain.csv --learner krls --label-delay soon", &["a number of rows such as 100", "7d"]);
    // Intervals learn how far the prediction was off that was made when the row came.
    let late = folder.run("train plain.csv --learner krls --intervals 0.8 --label-delay 3 --out i.mercer");
    assert_eq!(late.code, Some(0), "{}", late.err);
    let held = folder.json("inspect i.mercer")["intervals_hold"][0].as_f64().unwrap();
    assert!((0.6..=1.0).contains(&held), "{held}");
    let learnt = folder.run("predict plain.csv --model i.mercer --intervals 0.8 --learn --label-delay 3");
    assert!(learnt.code == Some(0) && learnt.out.starts_with("prediction,lower,upper"), "{}", learnt.err);
    folder.refused(2, "predict plain.csv --model m.mercer --label-delay 3", &["--learn"]);
    // The first rows again, which are all that is asked for.
    for _ in 0..2 {
        let said = folder.run("train plain.csv --learner krls -n 30 --out r.mercer --resume");
        assert!(said.code == Some(0) && said.out.contains("30 rows learnt"), "{} {}", said.out, said.err);
    }
}
