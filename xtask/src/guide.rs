//! `cargo xtask guide`: runs the commands whose output GUIDE.md shows, compares it, and writes the
//! pictures that they make into docs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{product, root};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The built command; without it one is built in release mode
    #[arg(long)]
    program: Option<PathBuf>,
    /// Compare the pictures, too, and write none
    #[arg(long)]
    check: bool,
}

/// Files that the commands make, and where GUIDE.md shows them.
const PICTURES: [(&str, &str); 2] = [("bakery.png", "docs/watch.png"), ("why.png", "docs/explain.png")];

/// A command, and what it prints; nothing where the guide does not show it.
struct Shown {
    command: String,
    output: String,
}

/// Runs the commands in the order of the guide, in one folder.
///
/// # Errors
/// When a command fails or prints something else than the guide says.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (program, root) = (product::given_or_built(arguments.program.as_deref())?, root());
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("docs"))?;
    fs::copy(root.join("docs/bakery.py"), folder.path().join("docs/bakery.py"))?;
    let programs = program.parent().context("the command lies in a folder")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path)))?;
    let shown = shown(&fs::read_to_string(root.join("GUIDE.md"))?);
    ensure!(!shown.is_empty(), "GUIDE.md shows no command with its output");
    for Shown { command, output } in &shown {
        let ran = Command::new("sh").args(["-c", command]).current_dir(folder.path()).env("PATH", &path).output()?;
        let said = String::from_utf8_lossy(&ran.stdout);
        ensure!(ran.status.success(), "$ {command}\n{}", String::from_utf8_lossy(&ran.stderr));
        ensure!(
            output.is_empty() || said.trim() == output.trim(),
            "$ {command}\nprints\n{said}\nthe guide says\n{output}"
        );
    }
    for (made, picture) in PICTURES {
        let (made, kept) = (fs::read(folder.path().join(made)).with_context(|| made.to_owned())?, root.join(picture));
        if arguments.check {
            ensure!(fs::read(&kept)? == made, "{picture} is another picture now: cargo xtask guide writes it");
        } else {
            fs::write(&kept, made)?;
        }
    }
    println!("{} commands print what GUIDE.md shows and draw {} pictures", shown.len(), PICTURES.len());
    Ok(())
}

/// The lines after `$ ` of blocks of text, with the lines up to the next.
fn shown(guide: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            inside = kind == "text";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            found.push(Shown { command: command.to_owned(), output: String::new() });
        } else if let Some(last) = found.last_mut().filter(|_| inside) {
            last.output.push_str(line);
            last.output.push('\n');
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_lines_up_to_the_next() {
        let guide = "```sh\n$ not this\n```\n```text\n$ a > b\n$ c\nd\n\ne\n```\nnot this\n```text\n$ f\n```\n";
        let found: Vec<(String, String)> = shown(guide).into_iter().map(|one| (one.command, one.output)).collect();
        let expected = [("a > b", ""), ("c", "d\n\ne\n"), ("f", "")];
        assert_eq!(found, expected.map(|(command, output)| (command.to_owned(), output.to_owned())));
    }
}
