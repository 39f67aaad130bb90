//! Keys of JSON objects that come late.

use std::fmt::Write as _;

use crate::support::{Folder, noise};

/// 400 rows, four of which have a key more; of a table of numbers, or one with texts.
fn rows(late: bool, texts: bool) -> String {
    (0..400_u64).fold(String::new(), |mut text, t| {
        let city = if texts { format!("\"city\":\"{}\",", ["Ulm", "Bonn"][(t % 2) as usize]) } else { String::new() };
        let more = if late && t >= 300 && t % 25 == 0 { format!("\"extra\":{t},") } else { String::new() };
        writeln!(text, "{{{city}\"x\":{},{more}\"y\":{}}}", noise(t), noise(t) + noise(t + 500) / 9.0).unwrap();
        text
    })
}

const TOLD: &str = "late.ndjson, line 301: the key \"extra\" is in none of the first rows, by which the columns are known; it is left out";
const COUNTED: &str = "mercer: key \"extra\": left out of 4 rows, since it came late\n";

#[test]
fn a_key_that_comes_late_is_left_out_told_and_counted() {
    for texts in [false, true] {
        let folder = Folder::new().with("late.ndjson", rows(true, texts)).with("good.ndjson", rows(false, texts));
        let learner = "--learner krls --kernel gaussian:1";
        for (command, more) in [
            ("eval", "--json"),
            ("train", "--out m.mercer"),
            ("train", "--permute 3 --out m.mercer"),
            ("tune", "--json --limit 400"),
        ] {
            let late = folder.run(&format!("{command} late.ndjson {learner} {more}"));
            let good = folder.run(&format!("{command} good.ndjson {learner} {more}"));
            assert_eq!(late.code, Some(0), "{command}: {}", late.err);
            assert!(late.err.contains(TOLD) && late.err.contains(COUNTED), "{command}: {}", late.err);
            assert!(!good.err.contains("left out"), "{command}: {}", good.err);
            if command == "train" {
                assert_eq!(late.out, good.out);
            }
        }
        // The count stays where there are to be no remarks.
        let quiet = folder.run(&format!("eval late.ndjson {learner} --quiet"));
        assert_eq!((quiet.code, &*quiet.err), (Some(0), COUNTED));
        // What is to be left out is nothing to tell; a name that is wrong is.
        let ignored = folder.run(&format!("eval late.ndjson {learner} --ignore extra"));
        assert!(ignored.code == Some(0) && !ignored.err.contains("extra"), "{}", ignored.err);
        let wrong = folder.run(&format!("eval late.ndjson {learner} --ignore extr"));
        assert!(wrong.err.ends_with("mercer: key \"extr\": was to be left out, and no row has it\n"), "{}", wrong.err);
    }
}

#[test]
fn a_model_predicts_and_learns_rows_with_a_late_key() {
    let folder = Folder::new().with("late.ndjson", rows(true, true)).with("good.ndjson", rows(false, true));
    folder.run("train good.ndjson --learner krls --out m.mercer");
    std::fs::copy(folder.path("m.mercer"), folder.path("n.mercer")).unwrap();
    for learn in ["", "--learn"] {
        let late = folder.run(&format!("predict late.ndjson --model m.mercer {learn}"));
        let good = folder.run(&format!("predict good.ndjson --model n.mercer {learn}"));
        assert_eq!((late.code, late.out), (good.code, good.out));
        assert!(late.err.contains(TOLD) && late.err.contains(COUNTED), "{}", late.err);
    }
}
