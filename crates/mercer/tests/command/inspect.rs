//! `inspect`: what is told of a file is what the file says, and harms no terminal.

use mercer::model::{Description, Model, VERSION};
use serde_json::Value;

use crate::support::Folder;

/// The version that is told is that of the file, whatever the version this program writes.
#[test]
fn inspect_tells_the_format_of_the_file() {
    let golden = |name: &str| format!("{}/tests/golden/{name}.mercer", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new().with("a.csv", "a,y\n1,2\n");
    folder.done("train a.csv --learner krls --model new.mercer --quiet");
    let new = u64::from(VERSION);
    for (file, version) in [(golden("krls"), 1), (golden("series-2"), 2), ("new.mercer".to_owned(), new)] {
        let facts: Value = serde_json::from_str(&folder.done_with(&["inspect", &file, "--json"])).unwrap();
        assert_eq!(facts["format"].as_u64(), Some(version), "{file}");
        let line = format!("format               {version}\n");
        assert!(folder.done_with(&["inspect", &file]).contains(&line), "{file}");
    }
}

/// A name may hold what a terminal takes for a command: to clear the screen, to set its title.
#[test]
fn names_of_a_file_do_not_command_the_terminal() {
    let evil = ["\u{1b}[2J", "b\u{9b}31m", "c\r\nd\u{7f}"];
    let Model::Prediction(mut model) = Model::from_bytes(include_bytes!("../golden/series-2.mercer")).unwrap() else {
        panic!("another kind")
    };
    model.method = evil[0].to_owned();
    model.columns = evil[1..].iter().map(|name| (*name).to_owned()).collect();
    model.parameters.push((evil[0].to_owned(), format!("\"{}\"", evil[1])));
    let description = Description { learner: evil[0].to_owned(), kernel: evil[1].to_owned(), ..Description::default() };
    let Model::Regression(mut learner) = Model::from_bytes(include_bytes!("../golden/krls.mercer")).unwrap() else {
        panic!("another kind")
    };
    learner.description = Description {
        features: vec![evil[0].to_owned(), evil[1].to_owned()],
        target_name: Some(evil[2].to_owned()),
        parameters: vec![(evil[2].to_owned(), evil[0].to_owned())],
        ..description
    };
    let folder = Folder::new()
        .with("p.mercer", model.to_bytes().unwrap())
        .with("r.mercer", learner.to_bytes().unwrap())
        .with("next.csv", "1,2\n2,3\n3,5\n");
    let commands = [
        "inspect p.mercer",
        "inspect p.mercer --json",
        "inspect r.mercer",
        "inspect r.mercer --json",
        "forecast next.csv --model p.mercer",
    ];
    for command in commands {
        let text = folder.done(command);
        let raw: Vec<char> = text.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(raw.is_empty(), "{command}: {raw:?} in {text}");
        assert!(text.contains("[2J") && text.contains("31m"), "{command}: {text}");
    }
    assert_eq!(folder.json("inspect r.mercer")["target"].as_str(), Some(evil[2]), "JSON gives back the name itself");
}
