//! One model a group, and labels that come by id.

use std::fmt::Write as _;

use crate::support::Folder;

/// Rows of three groups, of which `b` and `c` come later: `group,x,y`.
fn rows() -> Vec<String> {
    let name = |t: usize| match t % 5 {
        1 if t > 20 => "b",
        3 if t > 40 => "c",
        _ => "a",
    };
    let row = |t: usize| {
        let (x, level) = ((t as f64 * 0.37).sin(), f64::from(name(t).as_bytes()[0] - b'a'));
        format!("{},{x:.6},{:.6}", name(t), x * x + 2.0 * level * x)
    };
    (0..120).map(row).collect()
}

fn csv<'a>(rows: impl IntoIterator<Item = &'a String>) -> String {
    rows.into_iter().fold("group,x,y\n".to_owned(), |text, row| text + row + "\n")
}

const LEARNER: &str = "--learner krls --kernel gaussian:1 --set lambda=0.1";

/// The last cells of lines below a header, as numbers.
fn numbers(text: &str) -> Vec<f64> {
    text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

/// A group is predicted as by a model that has learnt the rows of all before its first, and then
/// its own.
#[test]
fn a_group_begins_from_the_common_model_and_goes_its_own_way() {
    let all = rows();
    let folder = Folder::new().with("t.csv", csv(&all));
    folder.run(&format!("eval t.csv {LEARNER} --group group -o e.csv"));
    let evaluated = numbers(&folder.read("e.csv"));
    let folder = ["a", "b", "c"].iter().fold(folder, |folder, name| {
        let is_own = |row: &&String| row.starts_with(name);
        let own: Vec<usize> = (0..all.len()).filter(|t| is_own(&&all[*t])).collect();
        let folder =
            folder.with("before.csv", csv(&all[..own[0].max(1)])).with("own.csv", csv(own.iter().map(|t| &all[*t])));
        folder.run(&format!("train before.csv {LEARNER} --ignore group --out {name}.mercer"));
        // Of the first group of all, the first row is known already.
        let own = if own[0] == 0 { own[1..].to_vec() } else { own };
        let folder = folder.with("own.csv", csv(own.iter().map(|t| &all[*t])));
        let alone = numbers(&folder.run(&format!("predict own.csv --model {name}.mercer --learn")).out);
        for (t, expected) in own.iter().zip(alone) {
            assert!((evaluated[*t] - expected).abs() < 1e-9, "{name}, row {t}: {} and not {expected}", evaluated[*t]);
        }
        folder
    });
    let report = folder.json(&format!("eval t.csv {LEARNER} --group group"));
    let groups = report["groups"].as_array().unwrap();
    let rows: Vec<u64> = groups.iter().map(|group| group["rows"].as_u64().unwrap()).collect();
    assert_eq!((rows.iter().sum::<u64>(), groups[0]["group"].as_str()), (120, Some("a")));
    let whole: f64 = groups.iter().map(|group| group["mse"].as_f64().unwrap() * group["rows"].as_f64().unwrap()).sum();
    assert!((whole / 120.0 - report["mse"].as_f64().unwrap()).abs() < 1e-12);
    // The command is of one mind: train tells the score of eval, and its file has the groups.
    let trained = folder.run(&format!("train t.csv {LEARNER} --group group --out g.mercer"));
    let mse = report["mse"].as_f64().unwrap();
    assert!(trained.out.contains(&format!("mean squared error {mse:.6}")), "{} {mse}", trained.out);
    let facts = folder.json("inspect g.mercer");
    assert_eq!(
        (facts["group_column"].as_str(), facts["groups"].to_string()),
        (Some("group"), r#"["a","b","c"]"#.into())
    );
    // Each row by the model of its group, others by the common one.
    let folder = folder.with("new.csv", "x,group\n0.5,b\n0.5,c\n0.5,d\n0.5,\n0.5,a\n");
    let made = folder.run("predict new.csv --model g.mercer");
    let answers = numbers(&made.out);
    assert!(answers[2] == answers[3] && answers[0] != answers[1] && answers[1] != answers[2], "{answers:?}");
    assert!(made.err.contains("2 rows of groups without a model used the common one"), "{}", made.err);
    assert!(made.err.contains(r#"line 4 (row 3), group "d""#), "{}", made.err);
}

#[test]
fn groups_are_bounded_and_the_others_are_told() {
    let folder = Folder::new().with("t.csv", csv(&rows()));
    let report = folder.run(&format!("eval t.csv {LEARNER} --group group --max-groups 2"));
    assert!(
        report.out.contains("rows of groups without a model, of which there are 2 (--max-groups)"),
        "{}",
        report.out
    );
    assert!(report.out.contains("(the common model)"), "{}", report.out);
    let trained = folder.run(&format!("train t.csv {LEARNER} --group group --max-groups 2 --out g.mercer"));
    assert!(
        trained.err.contains("--max-groups") && trained.out.contains("2 groups"),
        "{} {}",
        trained.out,
        trained.err
    );
    // A run that goes on keeps its groups.
    folder.run(&format!("train t.csv {LEARNER} --group group -n 70 --out h.mercer"));
    folder.run(&format!("train t.csv {LEARNER} --group group --out h.mercer --resume"));
    folder.run(&format!("train t.csv {LEARNER} --group group --out i.mercer"));
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("h.mercer") == bytes("i.mercer"));
    let other = folder.run(&format!("train t.csv {LEARNER} --out h.mercer --resume"));
    assert!(other.code == Some(1) && other.err.contains("column of groups is column 1"), "{}", other.err);
    folder.refused(1, &format!("eval t.csv {LEARNER} --group shop"), &["shop", "\"group\""]);
    folder.refused(2, &format!("eval t.csv {LEARNER} --group y"), &["--group is the target"]);
    folder.refused(2, &format!("eval diamonds {LEARNER} --group x"), &["--group is for files"]);
    folder.refused(2, &format!("eval t.csv {LEARNER} --max-groups 3"), &["--group"]);
}

/// Classes of groups are those of the whole, also where a group meets them in another order.
#[test]
fn groups_have_classes() {
    let mut text = "group,x,y\n".to_owned();
    for t in 0..200 {
        let (group, side) = (["u", "v"][t / 7 % 2], t * 7 % 3);
        let class = ["red", "green", "blue"][if group == "u" { side } else { 2 - side }];
        let _ = writeln!(text, "{group},{side},{class}");
    }
    let folder = Folder::new().with("t.csv", text);
    let learner = "--learner krls --kernel gaussian:0.5";
    let accuracy =
        |options: &str| folder.json(&format!("eval t.csv {learner} {options}"))["accuracy"].as_f64().unwrap();
    let (own, common) = (accuracy("--group group"), accuracy("--ignore group"));
    assert!(own > 0.9 && common < 0.7, "{own} {common}");
    folder.run(&format!("train t.csv {learner} --group group --out g.mercer"));
    let folder = folder.with("new.csv", "group,x\nu,0\nv,0\nu,2\nv,2\n");
    let made = folder.run("predict new.csv --model g.mercer");
    let classes: Vec<&str> = made.out.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(classes, ["red", "blue", "blue", "red"], "{}", made.out);
}

/// A label that comes by id just before the row by which a delay would have shown it.
#[test]
fn labels_by_id_are_learnt_when_their_lines_come() {
    let all = rows();
    let cells = |t: usize| all[t].split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut text = "id,group,x,y\n".to_owned();
    let plain = all.iter().fold("x,y\n".to_owned(), |text, row| text + row.split_once(',').unwrap().1 + "\n");
    for t in 0..all.len() + 3 {
        if t >= 3 {
            let _ = writeln!(text, "r{},,,{}", t - 3, cells(t - 3)[2]);
        }
        if t < all.len() {
            let _ = writeln!(text, "r{t},{},{},", cells(t)[0], cells(t)[1]);
        }
    }
    let folder = Folder::new().with("ids.csv", &text).with("plain.csv", plain);
    let late = folder.json(&format!("eval plain.csv {LEARNER} --label-delay 2"));
    let options = format!("{LEARNER} --ignore group --label-id id");
    let by_id = folder.json(&format!("eval ids.csv {options}"));
    assert!((late["mse"].as_f64().unwrap() - by_id["mse"].as_f64().unwrap()).abs() < 1e-12, "{late} {by_id}");
    assert_eq!((&late["rows"], &late["second_half"]["rmse"]), (&by_id["rows"], &by_id["second_half"]["rmse"]));
    // The model is the same, too, and so are the answers of predict --learn.
    let trained = folder.run(&format!("train ids.csv {options} --out m.mercer"));
    assert!(trained.out.contains("120 rows learnt"), "{} {}", trained.out, trained.err);
    folder.run(&format!("train plain.csv {LEARNER} --out p.mercer"));
    let [ours, theirs] =
        ["m", "p"].map(|model| numbers(&folder.run(&format!("predict plain.csv --model {model}.mercer")).out));
    assert!(ours.iter().zip(&theirs).all(|(ours, theirs)| (ours - theirs).abs() < 1e-9));
    // Labels without a row, rows without a label, and rows that are too many.
    let odd = "id,group,x,y\n1,a,0.1,\n9,,,4\n2,a,0.2,\n2,a,0.3,\n,a,0.4,\n1,,,0.5\n5,a,0.7,0.49\n";
    let folder = folder.with("odd.csv", odd);
    let said = folder.run("predict odd.csv --model m.mercer --learn --label-id id");
    for what in [
        "1 row got no label",
        "1 label came without a row that waits, the first: odd.csv, line 3",
        "1 row had the id of one that waits",
        "1 row had neither a target nor an id",
    ] {
        assert!(said.err.contains(what), "{what}: {}", said.err);
    }
    assert_eq!(said.out.lines().filter(|line| line.is_empty()).count(), 2, "{}", said.out);
    let few = folder.run(&format!("train ids.csv {options} --max-kept 2 --out few.mercer"));
    assert!(few.err.contains("were forgotten") && few.err.contains("--max-kept"), "{}", few.err);
    folder.refused(2, "predict odd.csv --model m.mercer --label-id id", &["add --learn"]);
    folder.refused(
        2,
        &format!("train ids.csv {options} --resume --out m.mercer"),
        &["--label-id does not go with --resume"],
    );
    folder.refused(2, &format!("eval ids.csv {options} --label-delay 3"), &["--label-delay"]);
}
