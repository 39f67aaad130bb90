//! Rows a second of Mercer and of other libraries on the same stream, in the same run.
//!
//! A peer is given as `NAME=PROGRAM`, where PROGRAM is a command and its first arguments with
//! blanks between. It is called with `version`, and prints a line; and with a task and the file of
//! a [stream](mercer_benches::peer), and prints the rows a second of its fastest batch, or `none`
//! if it has no such task. What the tasks are, and how to make the programs, is told in
//! `benches/README.md`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use mercer_benches::peer::{self, Work};

/// A kind of job: its heading, what its sizes are, what is timed, and the sizes.
struct Family {
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    works: &'static [(Work, &'static str)],
    sizes: &'static [usize],
}

const BOTH: &[(Work, &str)] = &[(Work::Learn, "steps"), (Work::Predict, "predictions")];

const FAMILIES: [Family; 4] = [
    Family {
        key: "krls",
        title: "Recursive least squares on kept points",
        unit: "points",
        works: BOTH,
        sizes: &[50, 100, 200, 500],
    },
    Family {
        key: "fogd",
        title: "Gradient steps on random features",
        unit: "frequencies",
        works: BOTH,
        sizes: &[50, 100, 200, 500],
    },
    Family {
        key: "series",
        title: "The next row of a series with a season",
        unit: "rows before",
        works: &[(Work::Learn, "forecasts")],
        sizes: &[200, 500, 1000],
    },
    Family {
        key: "operator",
        title: "Operators between Gaussians on kept states",
        unit: "states",
        works: BOTH,
        sizes: &[50, 100, 200, 500],
    },
];

/// The sizes of the families that the README shows.
const SHOWN: [(&str, usize); 3] = [("krls", 100), ("krls", 500), ("fogd", 200)];

/// Seconds that each job of ours is timed.
const SECONDS: f64 = 1.0;

/// A program of another library.
#[derive(Debug)]
struct Peer {
    name: String,
    /// The command and its first arguments; none if it is not installed.
    program: Vec<String>,
    version: String,
}

impl Peer {
    fn find(given: &str) -> Result<Self> {
        let (name, program) = given.split_once('=').with_context(|| format!("{given} is not NAME=PROGRAM"))?;
        let program: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        let peer = Self { name: name.to_owned(), program, version: String::new() };
        let version = if peer.program.is_empty() { String::new() } else { peer.call(&["version"])? };
        Ok(Self { version, ..peer })
    }

    /// Output of the program.
    fn call(&self, arguments: &[&str]) -> Result<String> {
        let Some((program, first)) = self.program.split_first() else { bail!("{} is not installed", self.name) };
        let output = Command::new(program).args(first).args(arguments).output();
        let output = output.with_context(|| format!("starting {program}"))?;
        if !output.status.success() {
            bail!("{}: {program}: {}", self.name, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Its rows a second; `None` if it has no such task, or is not installed.
    fn rate(&self, task: &str, file: &Path) -> Result<Option<f64>> {
        if self.program.is_empty() {
            return Ok(None);
        }
        let file = file.to_str().context("the folder for temporary files has a name that is not UTF-8")?;
        let said = self.call(&[task, file])?;
        // Versions and warnings of libraries may come first.
        let last = said.lines().last().unwrap_or_default();
        if last == "none" {
            return Ok(None);
        }
        let rate = last.parse().with_context(|| format!("{} printed {said:?} instead of a number", self.name))?;
        Ok(Some(rate))
    }
}

/// Measurements of one place: a column of the tables.
#[derive(Debug)]
struct PeerColumn {
    key: &'static str,
    size: usize,
    heading: String,
    /// Ours in blocks and row by row, and then the peers'.
    rates: Vec<Option<f64>>,
}

/// The comparison.
#[derive(Debug)]
pub(crate) struct Peers {
    peers: Vec<Peer>,
    columns: Vec<PeerColumn>,
}

impl Peers {
    /// Times everything `turns` times in turn; the best counts. The streams are written to
    /// `folder`. With a `largest` size, only the sizes up to it.
    ///
    /// # Errors
    /// When a program that is named does not work.
    pub(crate) fn measure(given: &[String], folder: &Path, turns: usize, largest: Option<usize>) -> Result<Self> {
        let peers: Vec<Peer> = given.iter().map(|peer| Peer::find(peer)).collect::<Result<_>>()?;
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let mut columns = Vec::new();
        for family in &FAMILIES {
            for &size in family.sizes.iter().filter(|size| largest.is_none_or(|largest| **size <= largest)) {
                let file = folder.join(format!("{}-{size}.bin", family.key));
                let write = if family.key == "series" { peer::write_series } else { peer::write };
                write(&file, size)?;
                for &(work, words) in family.works {
                    let heading = format!("{words}: {size} {}", family.unit);
                    eprintln!("{}, {heading}", family.title);
                    let rates = rates(family.key, work, &file, &peers, turns)?;
                    columns.push(PeerColumn { key: family.key, size, heading, rates });
                }
                std::fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
            }
        }
        Ok(Self { peers, columns })
    }

    /// The section of the report. Its first table is also the README's.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "\n## Peers\n\nRows a second of the fastest batch of 64 on one core, the best of each program's turns, on the same stream. \
                        A step is a prediction and then an update.\n\n"
            .to_owned();
        let shown: Vec<_> = self.columns.iter().filter(|column| SHOWN.contains(&(column.key, column.size))).collect();
        text += &self.table(&shown, true);
        for family in &FAMILIES {
            let columns: Vec<_> = self.columns.iter().filter(|column| column.key == family.key).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n### {}\n\n{}", family.title, self.table(&columns, false));
        }
        let missing: Vec<&str> =
            self.peers.iter().filter(|peer| peer.program.is_empty()).map(|peer| peer.name.as_str()).collect();
        if !missing.is_empty() {
            let _ = writeln!(text, "\nNot installed: {}.", missing.join(", "));
        }
        text
    }

    /// A line for each program that has a number in one of the columns.
    fn table(&self, columns: &[&PeerColumn], families: bool) -> String {
        let mut text = "| program |".to_owned();
        for column in columns {
            let family = FAMILIES.iter().find(|family| families && family.key == column.key);
            let title = family.map_or_else(String::new, |family| format!("{}, ", family.title.to_lowercase()));
            let _ = write!(text, " {title}{} |", column.heading);
        }
        let _ = writeln!(text, "\n|---|{}", "---:|".repeat(columns.len()));
        let ours = ["**Mercer**, in blocks", "**Mercer**, row by row"].map(str::to_owned);
        let theirs = self.peers.iter().map(|peer| format!("{}, {}", peer.name, peer.version));
        for (line, name) in ours.into_iter().chain(theirs).enumerate() {
            let rates: Vec<_> = columns.iter().map(|column| column.rates[line]).collect();
            if rates.iter().any(Option::is_some) {
                let cells = rates.into_iter().map(|rate| rate.map_or_else(|| "–".to_owned(), grouped));
                let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
            }
        }
        text
    }
}

/// All programs on one file, in turns.
fn rates(key: &str, work: Work, file: &Path, peers: &[Peer], turns: usize) -> Result<Vec<Option<f64>>> {
    let task = if work == Work::Predict { format!("{key}-predict") } else { key.to_owned() };
    let mut best = vec![None; 2 + peers.len()];
    for turn in 0..turns {
        for (program, best) in best.iter_mut().enumerate().filter(|(_, best)| turn == 0 || best.is_some()) {
            let rate = match program.checked_sub(2) {
                None => ours(key, work, file, program == 0),
                Some(peer) => peers[peer].rate(&task, file),
            };
            *best = rate?.into_iter().chain(*best).reduce(f64::max);
        }
    }
    Ok(best)
}

/// Ours, in blocks or row by row; the series has no blocks.
fn ours(key: &str, work: Work, file: &Path, blocks: bool) -> Result<Option<f64>> {
    if key == "series" {
        return if blocks { Ok(None) } else { peer::series_rate(file, SECONDS).map(Some) };
    }
    let stream = peer::read(file)?;
    let rate = match key {
        "krls" => peer::rate(peer::krls(&stream, peer::BIAS)?, &stream.examples, work, blocks, SECONDS),
        "fogd" => peer::rate(peer::fogd(&stream)?, &stream.examples, work, blocks, SECONDS),
        _ => peer::operator_rate(&stream, work, blocks, SECONDS),
    };
    rate.map(Some)
}

/// Three digits that count, in groups of three: 1,290,000.
fn grouped(rate: f64) -> String {
    if rate < 10.0 {
        return format!("{rate:.2}");
    }
    let unit = 10f64.powf((rate.log10().floor() - 2.0).max(0.0));
    let digits = format!("{:.0}", (rate / unit).round() * unit);
    let first = digits.len() % 3;
    let groups = (first > 0).then(|| digits[..first].to_owned()).into_iter();
    let rest = digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    groups.chain(rest).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits_in_groups() {
        for (rate, shown) in [
            (1_294_321.0, "1,290,000"),
            (786.4, "786"),
            (27_456.0, "27,500"),
            (4.417, "4.42"),
            (999_999.0, "1,000,000"),
        ] {
            assert_eq!(grouped(rate), shown);
        }
    }

    #[test]
    fn a_peer_that_is_not_there_says_so() {
        let peer = |name: &str, program: &[&str]| Peer {
            name: name.to_owned(),
            program: program.iter().map(|word| (*word).to_owned()).collect(),
            version: "1.0".to_owned(),
        };
        let rates = vec![Some(2e6), Some(1e6), None, Some(1e5)];
        let column = PeerColumn { key: "krls", size: 500, heading: "steps: 500 points".to_owned(), rates };
        let report = Peers { peers: vec![peer("a", &[]), peer("b", &["p"])], columns: vec![column] }.markdown();
        let summary = "| program | recursive least squares on kept points, steps: 500 points |\n|---|---:|\n\
                       | **Mercer**, in blocks | 2,000,000 |\n| **Mercer**, row by row | 1,000,000 |\n| b, 1.0 | 100,000 |\n";
        assert!(report.contains(summary), "{report}");
        assert!(report.ends_with("\nNot installed: a.\n"), "{report}");
        assert!(Peer::find("none=").unwrap().program.is_empty() && Peer::find("none").is_err());
    }
}
