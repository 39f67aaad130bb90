//! The page of messages shows what the command says: each block of commands is run by a shell, and
//! what it prints on stderr is the block below. `MERCER_BLESS=1` writes these.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::Folder;

/// The output of a shell on stderr for these lines, with the built command first on its path.
fn told(lines: &str) -> String {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_mercer")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = [program.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-c", lines]).env("PATH", std::env::join_paths(places).unwrap());
    let output = shell.current_dir(folder.path("")).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn each_message_is_that_of_its_commands() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/troubleshooting.md");
    let page = fs::read_to_string(&file).unwrap();
    let (mut made, mut rest, mut blocks) = (String::new(), page.as_str(), 0);
    while let Some((before, after)) = rest.split_once("```sh\n") {
        let (lines, after) = after.split_once("```\n").unwrap();
        let (gap, after) = after.split_once("```text\n").unwrap();
        assert_eq!(gap, "\n", "below the block {lines}");
        let (_, after) = after.split_once("```\n").unwrap();
        let told = told(lines);
        assert!(told.starts_with("mercer: ") && told.ends_with('\n'), "{lines}{told}");
        made.push_str(&format!("{before}```sh\n{lines}```\n\n```text\n{told}```\n"));
        (rest, blocks) = (after, blocks + 1);
    }
    made.push_str(rest);
    assert!(blocks > 10, "{blocks} blocks");
    if std::env::var_os("MERCER_BLESS").is_some() {
        fs::write(&file, made).unwrap();
    } else {
        assert_eq!(page, made, "MERCER_BLESS=1 writes the page anew");
    }
}
