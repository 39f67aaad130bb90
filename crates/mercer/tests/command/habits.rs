//! Habits of every command of a system: completions, manual pages, help, options from a file, more
//! or less said, exit codes.

use std::fs;
use std::process::Command;

use crate::support::{Folder, csv, examples, object};

#[test]
fn shells_get_completions_of_commands_options_and_learners() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.done(&format!("completions {shell}"));
        // The last two complete no values.
        let learner = if ["powershell", "elvish"].contains(&shell) { "learner" } else { "nons-ald" };
        for part in ["eval", "koopman", "scale-from", learner, "completions"] {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
    folder.refused(2, "completions csh", &["csh", "bash", "mercer completions --help"]);
    folder.refused(2, "completions", &["<SHELL>"]);
    // Bash itself reads them.
    let folder = folder.with("mercer.bash", Folder::new().done("completions bash"));
    let script = "source mercer.bash && COMP_WORDS=(mercer ev) COMP_CWORD=1 && _mercer mercer ev mercer && echo \"${COMPREPLY[@]}\"";
    let asked = Command::new("bash").args(["-c", script]).current_dir(folder.path("")).output();
    if let Ok(said) = asked.as_ref().map(|output| String::from_utf8_lossy(&output.stdout)) {
        assert_eq!(said.trim(), "eval");
    }
}

#[test]
fn manual_pages_are_printed_or_written() {
    let folder = Folder::new();
    let page = folder.done("man");
    assert!(page.contains(".TH mercer 1") && page.contains("mercer\\-eval(1)"), "{page}");
    folder.done("man .");
    let names = folder.names();
    for name in ["mercer.1", "mercer-eval.1", "mercer-train.1", "mercer-completions.1"] {
        assert!(names.iter().any(|one| one == name), "{name} in {names:?}");
    }
    assert_eq!(folder.read("mercer.1"), page);
    let eval = folder.read("mercer-eval.1");
    assert!(eval.contains("\\-\\-scale") && eval.contains("Exit codes") && eval.contains("\\-\\-config"));
    folder.refused(1, "man nowhere", &["nowhere", "is not a folder", "make it"]);
}

#[test]
fn help_is_a_command_and_an_option() {
    let folder = Folder::new();
    assert_eq!(folder.done("help train"), folder.done("train --help"));
    assert_eq!(folder.done("help"), folder.done("--help"));
    folder.refused(2, "help trian", &["trian"]);
    for help in ["--help", "eval --help", "inspect --help", "train --help"] {
        let help = folder.done(help);
        for part in ["Exit codes:", "the arguments cannot be right", "128+N", "--quiet", "--config"] {
            assert!(help.contains(part), "{part}: {help}");
        }
        assert!(!help.contains('\u{1b}'), "colours are for terminals");
    }
}

#[test]
fn a_file_has_the_options_of_the_command_line() {
    let config = "learner = \"krls\"\nkernel = \"gaussian:0.5\"\nlimit = 100\nignore = [\"a\"]\njson = true\nset = { lambda = 0.1, nu = 1e-2 }\n";
    let folder = Folder::new().with("d.csv", csv(&examples(300))).with("c.toml", config);
    let folder = folder
        .with("list.toml", "learner = \"krls\"\nset = [\"lambda=0.1\", \"nu=0.01\"]\nquiet = true\njson = false\n");
    let of = |arguments: &str| {
        let report: serde_json::Value = serde_json::from_str(&folder.done(arguments)).unwrap();
        crate::support::timeless(report)
    };
    let asked = "eval d.csv --learner krls --kernel gaussian:0.5 --limit 100 --ignore a --json --set nu=0.01";
    assert_eq!(of("eval d.csv --config c.toml"), of(&format!("{asked} --set lambda=0.1")));
    assert_eq!(of("--config=c.toml eval d.csv"), of(&format!("{asked} --set lambda=0.1")));
    // The command line wins, key by key.
    let asked = asked.replace("--limit 100", "--limit 50").replace("--ignore a", "--ignore b");
    let won = "eval --config c.toml d.csv --limit 50 --set=lambda=2 --ignore=b";
    assert_eq!(of(won), of(&format!("{asked} --set lambda=2")));
    let text = folder.done("eval d.csv --config list.toml");
    assert!(text.contains("lambda=0.1") && text.contains("nu=0.01"), "{text}");
    // What the file says is told to those who want to know.
    let said = folder.run("-v eval d.csv --config c.toml");
    assert!(
        said.code == Some(0) && said.err.contains("c.toml: ") && said.err.contains("--learner=krls"),
        "{}",
        said.err
    );
    let said = folder.run("eval d.csv --config list.toml -v");
    assert!(said.err.contains("kernel gaussian:"), "the command line wins: {}", said.err);
}

#[test]
fn the_command_line_wins_in_every_form_of_an_option() {
    let config = "learner = \"krls lambda=0.1 kernel=gaussian:0.5\"\nlimit = 100\nseparator = \",\"\npredictions = \"c.out\"\nset = { nu = 0.01 }\n";
    let folder = Folder::new().with("d.csv", csv(&examples(300))).with("c.toml", config);
    let folder = folder.with("d.tsv", csv(&examples(300)).replace(',', "|"));
    let parameters = |arguments: &str| {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
        let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        (report["rows"].as_u64(), report["kernel"].as_str().unwrap().to_owned(), report["parameters"].to_string())
    };
    for (options, n, kernel, set) in [
        ("", 100, "gaussian:0.5", ["\"lambda\":0.1", "\"nu\":0.01"]),
        ("-n 50", 50, "gaussian:0.5", ["\"lambda\":0.1", "\"nu\":0.01"]),
        ("-n50", 50, "gaussian:0.5", ["\"lambda\":0.1", "\"nu\":0.01"]),
        ("--limit=50", 50, "gaussian:0.5", ["\"lambda\":0.1", "\"nu\":0.01"]),
        ("--kernel gaussian:2 --set lambda=3", 100, "gaussian:2", ["\"lambda\":3", "\"nu\":0.01"]),
        ("--set=nu=0.5", 100, "gaussian:0.5", ["\"lambda\":0.1", "\"nu\":0.5"]),
    ] {
        let (got, used, parameters) = parameters(&format!("eval d.csv --config c.toml --json -q {options}"));
        assert_eq!((got, &*used), (Some(n), kernel), "{options}");
        assert!(set.iter().all(|one| parameters.contains(one)), "{options}: {parameters}");
    }
    for output in ["-o x.out", "-ox.out", "--out x.out", "--predictions=x.out"] {
        let _ = std::fs::remove_file(folder.path("x.out"));
        let _ = std::fs::remove_file(folder.path("c.out"));
        parameters(&format!("eval d.csv --config c.toml --json -q {output}"));
        assert_eq!((folder.path("x.out").exists(), folder.path("c.out").exists()), (true, false), "{output}");
    }
    parameters("eval d.tsv --config c.toml --json -q --format csv -d |");
    // A learner of the command line has its own settings; another name of an option is one, too.
    let folder = Folder::new()
        .with("d.csv", csv(&examples(60)))
        .with("c.toml", "set = { nu = 0.01 }\nkernel = \"linear\"\nout = \"c.mercer\"\n");
    let said = folder
        .command(&["train", "d.csv", "--config", "c.toml", "--learner", "krls nu=0.5 kernel=gaussian:1"])
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let about = folder.done("inspect c.mercer");
    assert!(about.contains("gaussian:1") && about.contains("nu=0.5"), "{about}");
    folder.refused(2, "train d.csv --config c.toml", &["auto has no key \"nu\""]);
}

#[test]
fn files_of_options_that_cannot_be_right_are_refused() {
    let folder = Folder::new().with("d.csv", csv(&examples(30)));
    for (text, parts) in [
        ("learnr = \"krls\"\n", &["c.toml", "\"learnr\"", "is learner meant?", "permute"][..]),
        ("config = \"c.toml\"\n", &["\"config\""]),
        ("learner = true\n", &["learner takes a text or a number"]),
        ("learner = [\"krls\"]\n", &["learner takes one value"]),
        ("json = 1\n", &["json must be true or false"]),
        ("set = [\"lambda\"]\n", &["set must be a table"]),
        ("set = { lambda = [1] }\n", &["lambda takes one value"]),
        ("limit = -3\n", &["--limit", "-3", "mercer eval --help"]),
        ("limit = 3\nlimit\n", &["c.toml, line 2: is not TOML"]),
        ("[eval]\nlimit = 3\n", &["\"eval\""]),
    ] {
        let folder = Folder::new().with("d.csv", csv(&examples(30))).with("c.toml", text);
        folder.refused(2, "eval d.csv --config c.toml", parts);
    }
    folder.refused(
        1,
        "eval d.csv --learner krls --config none.toml",
        &["none.toml: cannot be read", "another --config"],
    );
    folder.refused(2, "eval d.csv --config", &["--config"]);
}

#[test]
fn more_or_less_is_said() {
    let folder = Folder::new().with("d.csv", csv(&examples(300)));
    let train = "train d.csv --learner krls --out m.mercer";
    let [usual, quiet, verbose] =
        [train, &format!("{train} -q"), &format!("-v {train}")].map(|arguments| folder.run(arguments));
    assert!(usual.err.contains("average loss") && !usual.err.contains("target a number"));
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    assert!(verbose.err.contains("3 features, target a number (y), kernel gaussian:"), "{}", verbose.err);
    let failed = folder.run("eval none.csv --learner krls --quiet");
    assert!(failed.code == Some(1) && failed.err.starts_with("mercer: "), "failures are said in any case");
    folder.refused(2, "eval d.csv --learner krls -q -v", &["--quiet", "--verbose"]);
    // With an option in front the command is still the one whose help tells more.
    folder.refused(2, "-q eval", &["<DATA>", "mercer eval --help"]);
}

/// `--learner 'NAME KEY=VALUE …'` says what `--set` and `--kernel` say, in every command; what both
/// say is refused.
#[test]
fn a_learner_is_named_with_its_settings() {
    let rows: String = (0..60).map(|t| format!("{},{}\n", t % 7, t * 3 % 11)).collect();
    let folder = Folder::new().with("a.csv", &rows);
    let apart = "--learner krls --set lambda=0.1 --set nu=0.01 --kernel gaussian:2";
    let (joined, at_once) = (
        ["--learner", "krls lambda=0.1  kernel=gaussian:2 nu=0.01"],
        "--learner=krls nu=0.01 kernel=gaussian:2 lambda=0.1",
    );
    let timeless = |text: &str| {
        let mut facts = object(text);
        facts["seconds"].take();
        facts["seconds_per_example"].take();
        facts
    };
    let expected = timeless(&folder.done(&format!("eval a.csv {apart} --json")));
    assert_eq!(timeless(&folder.done_with(&["eval", "a.csv", joined[0], joined[1], "--json"])), expected);
    assert_eq!(timeless(&folder.done_with(&["eval", "a.csv", at_once, "--json"])), expected);
    folder.done(&format!("train a.csv {apart} --out apart.mercer --quiet"));
    folder.done_with(&["train", "a.csv", joined[0], joined[1], "-o", "joined.mercer", "--quiet"]);
    assert_eq!(fs::read(folder.path("apart.mercer")).unwrap(), fs::read(folder.path("joined.mercer")).unwrap());
    folder.done("fit a.csv --learner ridge --set lambda=2 --out apart.mercer --json");
    folder.done_with(&["fit", "a.csv", "--learner", "ridge lambda=2", "-o", "joined.mercer", "--json"]);
    assert_eq!(fs::read(folder.path("apart.mercer")).unwrap(), fs::read(folder.path("joined.mercer")).unwrap());
    let tuned = ["tune", "a.csv", "--learner", "fogd features=5", "--trials", "4", "--json", "-n", "50"];
    let tuned = object(&folder.done_with(&tuned));
    assert!(tuned["command"].as_str().unwrap().contains("--set features=5"), "{tuned}");
    assert_eq!(tuned["rows"], 50);
    let twice = ["eval", "a.csv", "--learner", "krls nu=0.1", "--set", "nu=0.2"];
    let failed = folder.command(&twice).output().unwrap();
    assert!(String::from_utf8(failed.stderr).unwrap().contains("nu"), "{twice:?}");
    assert_eq!(failed.status.code(), Some(2));
    let twice = ["eval", "a.csv", "--learner", "krls kernel=gaussian:1", "--kernel", "gaussian:2"];
    assert_eq!(folder.command(&twice).output().unwrap().status.code(), Some(2));
}

/// The old names of what is written still work; the separator and the number of rows have letters.
#[test]
fn what_is_written_is_out_in_every_command() {
    let folder = Folder::new().with("a.csv", "1;2\n2;4\n3;6\n4;8\n").with("s.csv", "1\n2\n3\n4\n5\n");
    folder.done("train a.csv -d semicolon --learner krls --model old.mercer --quiet");
    folder.done("train a.csv --separator semicolon --learner krls --out new.mercer --quiet");
    assert_eq!(fs::read(folder.path("old.mercer")).unwrap(), fs::read(folder.path("new.mercer")).unwrap());
    folder.done("forecast s.csv --save old.mercer --json");
    folder.done("forecast s.csv -o new.mercer --json");
    assert_eq!(fs::read(folder.path("old.mercer")).unwrap(), fs::read(folder.path("new.mercer")).unwrap());
    folder.done("eval a.csv -d semicolon -n 3 --learner krls -o out.csv --json");
    assert_eq!(folder.read("out.csv").lines().count(), 4);
}
