//! Collects the heads of the files that register learners: formulas, symbols, and what differs from
//! the source. The classes of Python have them in their documentation.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

const SOURCES: [&str; 2] = ["../learners/src", "../auto/src"];

fn main() -> io::Result<()> {
    let mut table = String::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        collect(Path::new(source), &mut table)?;
    }
    let place = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&place).join("heads.rs"), format!("&[\n{table}]\n"))
}

/// Appends the names of the entries in the files of a folder, each with the head of its file.
fn collect(folder: &Path, table: &mut String) -> io::Result<()> {
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.is_dir() {
            collect(&path, table)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path)?;
            let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
            let head: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            let value =
                |line: &'_ str| line.trim_start().strip_prefix("name: \"")?.strip_suffix("\",").map(str::to_owned);
            for name in text.lines().filter_map(value) {
                let _ = writeln!(table, "    ({name:?}, {:?}),", head.join("\n"));
            }
        }
    }
    Ok(())
}
