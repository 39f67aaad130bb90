//! `cargo xtask bench-report`: every operation as a share of the machine's roofs, and a few
//! learners beside other libraries, into `benches/results`; the table of speed in the README is
//! that of the report.
//!
//! Takes some twenty minutes once built, on one core; three without other libraries. What the
//! columns mean, and how to get the other libraries, is in `benches/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use xshell::{Shell, cmd};

use crate::root;

/// The README's table stands between these lines, below a sentence that links to its report.
const MARKERS: [&str; 2] = ["<!-- speed: cargo xtask bench-report -->", "<!-- /speed -->"];

/// Programs of `benches/peers/speed.py`: what is imported, the program, and its name.
const PROGRAMS: [(&str, &str, &str); 11] = [
    ("numpy", "numpy", "numpy in blocks"),
    ("river", "river", "river"),
    ("sklearn", "sklearn", "scikit-learn"),
    ("sklearn", "sklearn-blocks", "scikit-learn, 64 rows together"),
    ("vowpalwabbit", "vw", "Vowpal Wabbit, given the features"),
    ("statsforecast", "ets", "statsforecast AutoETS, refitted"),
    ("statsforecast", "ets-forward", "statsforecast AutoETS, fitted once"),
    ("statsforecast", "theta", "statsforecast AutoTheta, refitted"),
    ("statsforecast", "arima", "statsforecast AutoARIMA, refitted"),
    ("deeptime", "deeptime", "deeptime EDMD, all at once"),
    ("pydmd", "pydmd", "PyDMD kernel EDMD, all at once"),
];

#[derive(Args)]
pub(crate) struct Arguments {
    /// Date in the name of the report, as 2026-11-21 [default: today, UTC]
    #[arg(long)]
    date: Option<String>,
    /// The Python whose packages are timed
    #[arg(long, default_value = "python3")]
    python: String,
    /// A folder of C++ headers that has dlib's, if the compiler does not find them by itself
    #[arg(long)]
    dlib: Option<PathBuf>,
    /// A program of another library, as NAME=PROGRAM; once for each
    #[arg(long, value_name = "NAME=PROGRAM")]
    peer: Vec<String>,
    /// Small sizes, one short turn, a report in target/peers and no table: whether all programs
    /// work
    #[arg(long)]
    rehearse: bool,
}

/// Builds and runs the reporter, and puts its table into the README.
///
/// # Errors
/// When it does not build, or cannot write its results.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    let root = root().canonicalize()?;
    shell.change_dir(&root);
    let mut peers = dlib(&shell, &root, arguments)?;
    peers.extend(pythons(&shell, &root, &arguments.python));
    peers.extend(arguments.peer.iter().cloned());
    let mut words = vec!["--peer".to_owned(); 2 * peers.len()];
    words.iter_mut().skip(1).step_by(2).zip(peers).for_each(|(word, peer)| *word = peer);
    if let Some(date) = &arguments.date {
        words.extend(["--date".to_owned(), date.clone()]);
    }
    if arguments.rehearse {
        let short = "--rounds 1 --milliseconds 1 --turns 1 --largest 200 --out target/peers";
        words.extend(short.split(' ').map(str::to_owned));
    }
    cmd!(shell, "cargo run --release --quiet --package mercer-benches --bin report -- {words...}").run()?;
    if arguments.rehearse {
        return Ok(());
    }
    let report = newest(&root.join("benches/results"))?;
    let readme = root.join("README.md");
    let text = fs::read_to_string(&readme).with_context(|| format!("reading {}", readme.display()))?;
    let name = report.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let table = table_of(&fs::read_to_string(&report)?).with_context(|| format!("{name} has no table of peers"))?;
    let Some(written) = with_table(&text, &name, &table) else {
        bail!("README.md: no {} … {}", MARKERS[0], MARKERS[1])
    };
    fs::write(&readme, written).with_context(|| format!("writing {}", readme.display()))
}

/// The programs in Python; those without their package are named alone.
fn pythons(shell: &Shell, root: &Path, python: &str) -> Vec<String> {
    let script = root.join("benches/peers/speed.py");
    let program = |(package, key, name): (&str, &str, &str)| {
        let found = cmd!(shell, "{python} -c").arg(format!("import {package}")).quiet().ignore_stderr().run().is_ok();
        let program = if found { format!("{python} {} {key}", script.display()) } else { String::new() };
        format!("{name}={program}")
    };
    PROGRAMS.into_iter().map(program).collect()
}

/// dlib by its own loops, and on the OpenBLAS of the Python package `scipy-openblas32`, built if
/// the compiler finds the headers.
///
/// # Errors
/// When its program does not build although the headers are there.
fn dlib(shell: &Shell, root: &Path, arguments: &Arguments) -> Result<Vec<String>> {
    let headers = &arguments.dlib.as_ref().map(|folder| format!("-I{}", folder.display()));
    let has = cmd!(shell, "g++ -fsyntax-only -x c++ {headers...} -").stdin("#include <dlib/revision.h>\n");
    if has.quiet().ignore_stderr().run().is_err() {
        return Ok(["dlib, own loops=", "dlib, OpenBLAS="].map(str::to_owned).to_vec());
    }
    let (source, folder) = (root.join("benches/peers/dlib.cpp"), root.join("target/peers"));
    shell.create_dir(&folder)?;
    let own = folder.join("dlib");
    let options = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG"];
    cmd!(shell, "g++ {options...} {headers...} {source} -o {own} -pthread").run()?;
    let python = &arguments.python;
    let told = "import scipy_openblas32 as b; print(b.get_lib_dir())";
    let library = cmd!(shell, "{python} -c {told}").quiet().ignore_stderr().read();
    let blas = match library {
        Ok(library) => {
            let program = folder.join("dlib-openblas");
            let link = [format!("-L{library}"), "-lscipy_openblas".to_owned(), format!("-Wl,-rpath,{library}")];
            cmd!(shell, "g++ {options...} -DPEER_OPENBLAS {headers...} {source} -o {program} -pthread {link...}")
                .run()?;
            // The library knows the processor; a kernel that somebody chose for an older one slows
            // it.
            format!("env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS=1 {}", program.display())
        }
        Err(_) => String::new(),
    };
    Ok(vec![format!("dlib, own loops={}", own.display()), format!("dlib, OpenBLAS={blas}")])
}

/// Adds a fault if the README's table is not that of the report which it links to.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn violations(root: &Path, found: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root.join("README.md")).context("reading README.md")?;
    let Some(part) = part(&text) else {
        found.push(format!("README.md: the table of speed stands between {} and {}", MARKERS[0], MARKERS[1]));
        return Ok(());
    };
    let name = part.split("(benches/results/").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let report = fs::read_to_string(root.join("benches/results").join(name)).unwrap_or_default();
    if table_of(&report).is_none_or(|table| lines_of(part) != table) {
        found.push(
            "README.md: its table of speed is not that of the report it links to; run cargo xtask bench-report"
                .to_owned(),
        );
    }
    Ok(())
}

/// The report that was written last.
fn newest(folder: &Path) -> Result<PathBuf> {
    let mut reports = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            reports.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    reports.into_iter().max().map(|(_, path)| path).context("there is no report")
}

/// Text between the markers.
fn part(readme: &str) -> Option<&str> {
    readme.split_once(MARKERS[0])?.1.split_once(MARKERS[1]).map(|(part, _)| part)
}

/// The first table below the heading of the peers.
fn table_of(report: &str) -> Option<String> {
    let table = lines_of(report.split_once("\n## Peers\n")?.1.split("\n### ").next()?);
    (!table.is_empty()).then_some(table)
}

/// Its lines that are a table.
fn lines_of(text: &str) -> String {
    text.lines().filter(|line| line.starts_with('|')).flat_map(|line| [line, "\n"]).collect()
}

/// The README with the table of the report of this name; `None` without markers.
fn with_table(readme: &str, name: &str, table: &str) -> Option<String> {
    let old = part(readme)?;
    let new = format!(
        "\nRows a second on one core and the same stream, all from [one run on one machine](benches/results/{name}).\n\
         A step is a prediction and then an update.\n\n{table}"
    );
    let both = |part: &str| format!("{}{part}{}", MARKERS[0], MARKERS[1]);
    Some(readme.replacen(&both(old), &both(&new), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readmes_table_is_that_of_the_report() {
        let report =
            "# Benches\n\n| a |\n\n## Peers\n\nWords.\n\n| J | dlib |\n|---|---|\n| 50 | 1 |\n\n### More\n\n| b |\n";
        let readme = format!("# M\n\n{}\nold\n\n| x |\n{}\n\nMore.\n", MARKERS[0], MARKERS[1]);
        let table = table_of(report).unwrap();
        let written = with_table(&readme, "r.md", &table).unwrap();
        let end = "(benches/results/r.md).\nA step is a prediction and then an update.\n\n| J | dlib |\n|---|---|\n| 50 | 1 |\n<!--";
        assert!(written.contains(end), "{written}");
        assert!(written.starts_with("# M\n") && written.ends_with("\n\nMore.\n") && !written.contains("old"));
        assert_eq!(lines_of(part(&written).unwrap()), table);
        assert_eq!(with_table("none", "r.md", &table), None);
    }
}
