//! `forecast --out` and `--model`: a forecaster that was kept goes on as if it had never been put
//! away.

use crate::forecast::{METHODS, csv, driven, track, without_seconds};
use crate::support::Folder;

/// The header with rows `from..to`.
fn part(text: &str, from: usize, to: usize) -> String {
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let rows = lines.skip(from).take(to - from);
    std::iter::once(header).chain(rows).map(|line| format!("{line}\n")).collect()
}

fn body(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

/// Every way in which the command makes a forecaster of two outputs.
fn makings() -> Vec<String> {
    let mut all: Vec<String> = METHODS.iter().map(|method| format!("--method {method}")).collect();
    all.extend(
        [
            "",
            "--gamma 0.7",
            "--gamma 0.6 --t-init 30 --intervals 0.8",
            "--inputs left --gamma 0.8 --intervals 0.9",
            "--inputs right",
        ]
        .map(str::to_owned),
    );
    all
}

#[test]
fn half_and_half_is_one_uninterrupted_run() {
    let mut rows = track(500);
    // A gap in either half, and one over the cut.
    for k in [120, 121, 249, 250, 251, 400] {
        rows[k][1] = f64::NAN;
    }
    let text = csv(&rows).replace("NaN", "");
    let whole_inputs = csv(&track(500));
    for making in makings() {
        let text = if making.contains("--inputs") { &whole_inputs } else { &text };
        let folder = Folder::new()
            .with("all.csv", text)
            .with("first.csv", part(text, 0, 250))
            .with("second.csv", part(text, 250, 500));
        let whole = without_seconds(
            folder.json(&format!("forecast all.csv {making} --predictions whole.csv --out whole.mercer")),
        );
        folder.json(&format!("forecast first.csv {making} --predictions first.out --out half.mercer"));
        let half = std::fs::read(folder.path("half.mercer")).unwrap();
        let from_half = "--model half.mercer --predictions second.out --out end.mercer";
        let second = without_seconds(folder.json(&format!("forecast second.csv {from_half}")));
        // The lines are those of one run, the errors too, and so is the file.
        let (first_lines, second_lines) = (folder.read("first.out"), folder.read("second.out"));
        assert_eq!(folder.read("whole.csv"), first_lines + body(&second_lines), "{making}");
        assert_eq!(second, whole, "{making}");
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(read("end.mercer") == read("whole.mercer"), "{making}: the files differ");
        assert!(read("half.mercer") == half, "{making}: the file of --model was written");

        // The same from pipes, a line out for each line in, the file written over itself.
        let streamed = |text: &str, arguments: &str| {
            let said = folder.piped(text.as_bytes(), &format!("forecast - --format csv {arguments}"));
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{making}");
            said.out
        };
        let all_lines = streamed(text, &making);
        let first_lines = streamed(&part(text, 0, 250), &format!("{making} --out m.mercer"));
        let second_lines = streamed(&part(text, 250, 500), "--model m.mercer --out m.mercer");
        assert_eq!(all_lines, first_lines + body(&second_lines), "{making}");
        assert!(read("m.mercer") == read("whole.mercer"), "{making}: the files differ");
    }
}

#[test]
fn a_resumed_run_writes_the_file_of_an_uninterrupted_one() {
    let text = csv(&track(400));
    let other = text.replacen("\n", "\n1,1\n", 1);
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("begun.csv", part(&text, 0, 273))
        .with("broken.csv", part(&text, 0, 157) + "1,x\n")
        .with("other.csv", other)
        .with("later.csv", part(&text, 300, 400));
    let making = "--intervals 0.9 --t-init 40";
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    folder.json(&format!("forecast all.csv {making} --out whole.mercer --predictions whole.csv"));
    folder.json(&format!("forecast begun.csv {making} --out m.mercer --checkpoint 50"));
    folder.json(&format!("forecast all.csv {making} --out m.mercer --resume --predictions rest.csv"));
    assert!(read("m.mercer") == read("whole.mercer"));
    // Only rows that are new are told.
    let whole = folder.read("whole.csv");
    assert_eq!(folder.read("rest.csv"), part(&whole, 273, 400));
    // Nothing is left to observe.
    folder.json(&format!("forecast all.csv {making} --out m.mercer --resume"));
    assert!(read("m.mercer") == read("whole.mercer"));
    // A run that a bad row stops keeps what it has where checkpoints were asked for.
    let stopped = folder.run(&format!("forecast broken.csv {making} --out s.mercer --checkpoint 1000"));
    assert_eq!(stopped.code, Some(1));
    assert_eq!(folder.json("inspect s.mercer")["observed"].as_u64(), Some(157));
    folder.json(&format!("forecast all.csv {making} --out s.mercer --resume"));
    assert!(read("s.mercer") == read("whole.mercer"));
    // Resumed behind a model that was begun elsewhere.
    folder.json(&format!("forecast all.csv {making} --out z.mercer"));
    folder.json("forecast later.csv --model z.mercer --out twice.mercer");
    let begun = folder.path("begun2.csv");
    std::fs::write(&begun, part(&folder.read("later.csv"), 0, 60)).unwrap();
    folder.json("forecast begun2.csv --model z.mercer --out part.mercer");
    folder.json("forecast later.csv --model z.mercer --out part.mercer --resume");
    assert!(read("part.mercer") == read("twice.mercer"));

    for (arguments, parts) in [
        (format!("other.csv {making}"), &["first 400 rows are not those that m.mercer has learnt"][..]),
        (format!("begun.csv {making}"), &["first 400 rows are not those"]),
        ("all.csv --t-init 40 --intervals 0.8".to_owned(), &["its intervals is 0.9, not 0.8"]),
        ("all.csv --t-init 40".to_owned(), &["its parameters are other ones"]),
        (format!("all.csv {making} --method opf --gamma 0.5"), &["its method is experts, not opf"]),
        (format!("all.csv {making} --lambda 2"), &["its lambda is \"auto\", not 2.0"]),
    ] {
        folder.refused(1, &format!("forecast {arguments} --out m.mercer --resume"), parts);
    }
    folder.refused(2, "forecast later.csv --model z.mercer --out z.mercer --resume", &["a file of its own"]);
}

#[test]
fn the_model_knows_its_columns_and_is_told() {
    let text = driven();
    let swapped: String = text.lines().map(|line| line.rsplit(',').collect::<Vec<_>>().join(",") + "\n").collect();
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("first.csv", part(&text, 0, 300))
        .with("second.csv", part(&text, 300, 600))
        .with("bare.csv", body(&part(&text, 300, 600)))
        .with("swapped.csv", swapped)
        .with("wide.csv", "1,2,3\n");
    folder.json("forecast first.csv --gamma 0.9 --inputs valve --out m.mercer");
    let facts = folder.json("inspect m.mercer");
    assert_eq!((facts["kind"].as_str(), facts["method"].as_str()), (Some("prediction"), Some("opf")));
    assert_eq!(facts["parameters"]["gamma"].as_f64(), Some(0.9));
    assert_eq!(facts["columns"], serde_json::json!(["level", "valve"]));
    assert_eq!((facts["observed"].as_u64(), facts["inputs"].as_u64()), (Some(300), Some(1)));
    assert!(facts["mse"].as_f64().unwrap() < 0.2, "{facts}");
    let named = folder.json("forecast second.csv --model m.mercer --predictions named.csv");
    // Without names, columns are taken for those of the model, and called so.
    let bare = folder.json("forecast bare.csv --model m.mercer --predictions bare.out");
    assert_eq!(without_seconds(named), without_seconds(bare));
    assert_eq!(folder.read("named.csv"), folder.read("bare.out"));
    assert!(folder.read("bare.out").starts_with("k,level\n300,"));
    let text = folder.done("forecast second.csv --model m.mercer");
    assert!(text.contains("600 rows of 1 output") && text.contains("300, behind 300 that the model had"), "{text}");

    folder.refused(1, "forecast swapped.csv --model m.mercer", &["m.mercer: has a column \"valve\" where swapped.csv"]);
    folder.refused(1, "forecast wide.csv --model m.mercer", &["m.mercer: has 2 columns and wide.csv has 3"]);
    folder.refused(1, "forecast all.csv --model all.csv", &["all.csv: is not a model file"]);
    folder.refused(1, "predict all.csv --model m.mercer", &["kind prediction", "mercer forecast uses it"]);
    folder.refused(2, "forecast all.csv --model m.mercer --steps 2", &["--steps"]);
    folder.refused(
        2,
        "forecast all.csv --model m.mercer --gamma 0.5",
        &["--model", "cannot be used with", "'--gamma <G|auto>'"],
    );
    folder.refused(2, "forecast all.csv --model m.mercer --inputs valve", &["cannot be used with", "--inputs"]);
    folder.refused(
        1,
        "forecast all.csv --model m.mercer --predictions m.mercer",
        &["m.mercer: is a file that is read"],
    );
    folder.refused(2, "forecast all.csv --checkpoint 5", &["--out"]);
    folder.refused(2, "forecast all.csv --resume", &["--out"]);
    folder.refused(2, "forecast all.csv --out all.csv", &["all.csv: is read, so give another --out"]);
    folder.refused(2, "forecast all.csv --out o --predictions o", &["--predictions and --out name the same file"]);
    folder.refused(1, "forecast all.csv --out nowhere/m", &["make the folder nowhere", "another --out"]);
    let folder = folder.with("none.csv", "valve,level\n");
    folder.refused(1, "forecast none.csv --model m.mercer --out again.mercer", &["has a header and no row"]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_stream_with_its_forecaster_saved() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let text = csv(&track(300));
    let folder = Folder::new().with("all.csv", &text);
    folder.json("forecast all.csv --t-init 20 --out whole.mercer");
    let arguments = "forecast - --format csv --t-init 20 --out m.mercer --checkpoint 1000";
    let mut child = folder
        .command(&arguments.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // The last line is cut off in the middle, and must not be observed.
    write!(stdin, "{}1.5,2", part(&text, 0, 120)).unwrap();
    stdin.flush().unwrap();
    let mut lines = BufReader::new(stdout).lines();
    for _ in 0..121 {
        lines.next().unwrap().unwrap();
    }
    let sent = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(stdin);
    assert!(lines.next().is_none());
    assert_eq!(folder.json("inspect m.mercer")["observed"].as_u64(), Some(120));
    folder.json("forecast all.csv --t-init 20 --out m.mercer --resume");
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(read("m.mercer") == read("whole.mercer"));
}
