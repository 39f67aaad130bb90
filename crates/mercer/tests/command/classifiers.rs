//! Learners that do nothing but classify, from the command line.

use mercer::catalogue::{self, Entry};

use crate::support::{Folder, examples, timeless};

fn classifiers() -> impl Iterator<Item = &'static Entry> {
    catalogue::entries().iter().filter(|entry| !entry.takes.numbers())
}

/// Rows of two features with the class that they have; `names` are those of the two.
fn csv(rows: usize, names: [&str; 2]) -> String {
    let table = examples(rows);
    let line = |(x, _): (&[f64], f64)| format!("{},{},{}\n", x[0], x[1], names[usize::from(x[0] + 0.5 * x[1] > 0.1)]);
    std::iter::once("a,b,y\n".to_owned()).chain(table.iter().map(line)).collect()
}

/// The cells of a file of predictions.
fn cells(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn there_are_nine() {
    let names: Vec<&str> = classifiers().map(|entry| entry.name).collect();
    assert_eq!(
        names,
        ["perceptron", "rbp", "forgetron", "projectron", "projectron++", "bpa-s", "pa", "bogd", "pegasos"]
    );
}

/// Signs, 0 and 1, and text are the same two classes.
#[test]
fn signs_and_names_are_classes() {
    let folder = Folder::new()
        .with("signs.csv", csv(300, ["-1", "1"]))
        .with("bits.csv", csv(300, ["0", "1"]))
        .with("names.csv", csv(300, ["no", "yes"]));
    for Entry { name, .. } in classifiers() {
        let run = |file: &str, options: &str| {
            let report = folder.json(&format!("eval {file}.csv --learner {name} --predictions {file}.out {options}"));
            (timeless(report), folder.read(&format!("{file}.out")))
        };
        let (report, text) = run("signs", "");
        assert!(report["accuracy"].as_f64().unwrap() > 0.8, "{name}: {}", report["accuracy"]);
        assert!(report["second_half"]["accuracy"].as_f64().unwrap() > 0.85 && report["auc"].is_f64(), "{name}");
        assert!(report["log_loss"].is_null() && report["mse"].is_null(), "{name}");
        assert!(text.starts_with("t,target,prediction,score\n1,"), "{name}: {text}");
        for row in cells(&text) {
            assert_eq!(row[3].parse::<f64>().unwrap() >= 0.0, row[2] == "1", "{name}: {row:?}");
        }
        let (of_bits, bits) = run("bits", "");
        assert_eq!(of_bits["accuracy"], report["accuracy"], "{name}");
        for (row, expected) in cells(&bits).iter().zip(cells(&text)) {
            let bit = |sign: &str| if sign == "1" { "1" } else { "0" };
            assert_eq!(row[1..3], [bit(&expected[1]), bit(&expected[2])], "{name}");
            assert_eq!(row[3], expected[3], "{name}");
        }
        // A name that was not met is not predicted.
        let (_, names) = run("names", "");
        for (row, expected) in cells(&names).iter().zip(cells(&text)).skip(20) {
            let shown = |sign: &str| if sign == "1" { "yes" } else { "no" };
            assert_eq!([&row[1], &row[2]], [shown(&expected[1]), shown(&expected[2])], "{name}");
            assert_eq!(row[3].parse::<f64>(), expected[3].parse::<f64>(), "{name}");
        }
        for options in ["--block 7", "--block 1", "--permute 3 --block 1", "--permute 3 --block 50"] {
            let (again, text) = run("signs", options);
            if !options.contains("permute") {
                assert_eq!(again["accuracy"], report["accuracy"], "{name} {options}");
            }
            assert_eq!(text.lines().count(), 301, "{name} {options}");
        }
    }
}

/// `score` is the margin before the row is learnt, and a score of 0 is learnt as a mistake.
#[test]
fn the_score_of_the_perceptron_is_its_sum() {
    let text = csv(120, ["-1", "1"]);
    let folder = Folder::new().with("d.csv", &text);
    folder.done("eval d.csv --learner perceptron --kernel gaussian:0.7 --predictions p.csv --columns score,size,loss");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let mut kept: Vec<&[f64]> = Vec::new();
    for (row, made) in rows.iter().zip(cells(&folder.read("p.csv"))) {
        let kernel = |d: &[f64]| (-((d[0] - row[0]).powi(2) + (d[1] - row[1]).powi(2)) / (2.0 * 0.7 * 0.7)).exp();
        let f: f64 = kept.iter().map(|d| d[2] * kernel(d)).sum();
        if row[2] * f <= 0.0 {
            kept.push(row);
        }
        let [score, size, loss] = [2, 3, 4].map(|place| made[place].parse::<f64>().unwrap());
        assert!((score - f).abs() < 1e-12 && size == kept.len() as f64, "{made:?}: {f}");
        assert!((loss - (1.0 - row[2] * f).max(0.0)).abs() < 1e-12, "{made:?}");
    }
}

#[test]
fn other_targets_are_refused_in_words() {
    let numbers = examples(40).iter().map(|(x, y)| format!("{},{y}\n", x[0])).collect::<String>();
    let three = (0..40).map(|t| format!("{},{}\n", t % 7, ["a", "b", "c"][t % 3])).collect::<String>();
    let folder = Folder::new()
        .with("numbers.csv", format!("a,y\n{numbers}"))
        .with("three.csv", format!("a,y\n{three}"))
        .with("two.csv", csv(40, ["-1", "1"]))
        .with("counts.csv", csv(40, ["3", "4"]));
    for Entry { name, .. } in classifiers() {
        let only = format!("{name} only classifies");
        let mend = "take a learner for numbers, such as krls";
        let number = [&*only, "the target is a number", "say --task class", mend];
        folder.refused(2, &format!("eval numbers.csv --learner {name}"), &number);
        folder.refused(2, &format!("train numbers.csv --learner {name} --out m.mercer --quiet"), &number);
        let told = [&*only, "leave out --task regression", mend];
        folder.refused(2, &format!("eval two.csv --learner {name} --task regression"), &told);
        let several = [&*only, "several numbers", "give one target"];
        folder.refused(2, &format!("eval two.csv --learner {name} --target b,y"), &several);
        folder.refused(1, &format!("eval three.csv --learner {name}"), &["\"c\" is a third class", "such as krls"]);
        // Numbers that are names.
        let report = folder.json(&format!("eval counts.csv --learner {name} --task class"));
        assert!(report["accuracy"].is_f64(), "{name}");
    }
    folder.refused(2, "eval diamonds --learner pa", &["diamonds: the target is a number, and pa only classifies"]);
    for kernel in ["linear", "polynomial:2,1"] {
        let parts = [&format!("bpa-s cannot use the kernel {kernel}"), "k(x,x) = 1", "gaussian:SIGMA"];
        folder.refused(2, &format!("eval two.csv --learner bpa-s --kernel {kernel}"), &parts);
    }
}

#[test]
fn one_class_a_late_one_and_huge_values() {
    let one: String = csv(80, ["1", "1"]);
    let mut late = csv(400, ["1", "1"]);
    late.push_str(&csv(60, ["-1", "1"])["a,b,y\n".len()..]);
    let mut once = csv(80, ["-1", "-1"]);
    once.push_str("0.3,0.2,1\n");
    let huge = "1e308,-1e308,1\n-1e308,1e308,-1\n1e308,1e308,1\n-1e308,-1e308,-1\n0.1,0.2,1\n";
    let folder =
        Folder::new().with("one.csv", one).with("late.csv", late).with("once.csv", once).with("huge.csv", huge);
    for Entry { name, .. } in classifiers() {
        let accuracy = |options: &str| {
            let report = folder.json(&format!("eval {options} --learner {name}"));
            report["accuracy"].as_f64().unwrap()
        };
        assert!(accuracy("one.csv") == 1.0, "{name}");
        assert!(accuracy("late.csv") > 0.9 && accuracy("once.csv") > 0.9, "{name}");
        assert!(accuracy("huge.csv") <= 1.0, "{name}");
        if name != &"bpa-s" {
            let overflows = ["huge.csv, line 1 (row 1)", "overflows"];
            folder.refused(1, &format!("eval huge.csv --learner {name} --kernel polynomial:3,1"), &overflows);
        }
    }
}

#[test]
fn a_model_goes_on_bit_for_bit() {
    let text = csv(240, ["no", "yes"]);
    let part = |from: usize, to: usize| {
        let rows = text.lines().skip(1 + from).take(to - from);
        std::iter::once("a,b,y").chain(rows).map(|line| format!("{line}\n")).collect::<String>()
    };
    let folder = Folder::new().with("all.csv", &text).with("first.csv", part(0, 150)).with("rest.csv", part(150, 240));
    for entry in classifiers() {
        let name = entry.name;
        let budget = if entry.key("budget").is_some() { "--set budget=12" } else { "" };
        let learner = format!("--learner {name} {budget} --kernel gaussian:0.6 --seed 4 --quiet");
        folder.done(&format!("train all.csv {learner} --out all.mercer"));
        folder.done(&format!("train first.csv {learner} --out m.mercer"));
        let made = folder.done("predict rest.csv --model m.mercer --learn --quiet");
        assert!(made.starts_with("prediction,score\n"), "{name}: {made}");
        let [all, resumed] = ["all.mercer", "m.mercer"].map(|file| std::fs::read(folder.path(file)).unwrap());
        assert!(all == resumed, "{name}: the files differ");
        assert_eq!(folder.json("inspect m.mercer")["takes_new_classes"], false, "{name}");
    }
}

/// The seed draws the points that leave; the other learners draw nothing.
#[test]
fn only_rbp_and_bogd_draw() {
    let folder = Folder::new().with("d.csv", csv(300, ["-1", "1"]));
    for entry in classifiers() {
        let budget = if entry.key("budget").is_some() { "--set budget=4" } else { "" };
        let scores = |seed: u32| {
            let options = format!("--learner {} {budget} --seed {seed} --columns score", entry.name);
            folder.done(&format!("eval d.csv {options} --predictions p.csv"));
            folder.read("p.csv")
        };
        let (one, two) = (scores(1), scores(2));
        assert_eq!(one, scores(1), "{}", entry.name);
        assert_eq!(one != two, ["rbp", "bogd"].contains(&entry.name), "{}", entry.name);
    }
}
