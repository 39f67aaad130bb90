//! Steps a second of Mercer and of other libraries on the same stream, in the same run.
//!
//! A peer is a program that `MERCER_PEER_NAME` names, a command and its first arguments with blanks
//! between. It is called with `version`, and prints a line; and with a learner (`krls` or `fogd`)
//! and the file of a [stream](mercer_benches::peer), and prints the steps a second of its fastest
//! batch of 64 examples, or `none` if it has no such learner. One that is not named is not
//! installed, as far as this run knows, and its column says so. How to make the programs is told in
//! `benches/README.md`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use mercer_benches::peer;
use mercer_benches::stream::AnchorStream;

/// Points kept, or random frequencies.
const SIZES: [usize; 4] = [50, 100, 200, 500];

/// Each program is timed so often, in turn; the best counts.
const TURNS: usize = 2;

/// The peers: what the column is called, and the variable that names the program.
const PEERS: [(&str, &str); 4] = [
    ("dlib", "MERCER_PEER_DLIB"),
    ("river", "MERCER_PEER_RIVER"),
    ("scikit-learn", "MERCER_PEER_SKLEARN"),
    ("KAFBOX (Octave)", "MERCER_PEER_KAFBOX"),
];

/// What is timed: a learner of ours, and the same of the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerLearner {
    Krls,
    Fogd,
}

impl PeerLearner {
    const ALL: [Self; 2] = [Self::Krls, Self::Fogd];

    /// What a program is told.
    fn key(self) -> &'static str {
        match self {
            Self::Krls => "krls",
            Self::Fogd => "fogd",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Krls => "recursive least squares, points kept",
            Self::Fogd => "gradient steps, random frequencies",
        }
    }

    /// Ours, in blocks or row by row.
    fn rate(self, stream: &AnchorStream, blocks: bool) -> Result<f64> {
        match self {
            Self::Krls => peer::rate(peer::krls(stream, peer::BIAS)?, &stream.examples, blocks),
            Self::Fogd => peer::rate(peer::fogd(stream)?, &stream.examples, blocks),
        }
    }
}

/// A program of another library.
#[derive(Debug)]
struct Peer {
    name: &'static str,
    /// The command and its first arguments; none if it is not installed.
    program: Option<Vec<String>>,
    version: String,
}

impl Peer {
    fn find((name, variable): (&'static str, &str)) -> Result<Self> {
        let words = std::env::var(variable).unwrap_or_default();
        let program: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if program.is_empty() {
            return Ok(Self { name, program: None, version: "not installed".to_owned() });
        }
        let peer = Self { name, program: Some(program), version: String::new() };
        let version =
            peer.call(&["version"]).with_context(|| format!("{variable} names a program that does not work"))?;
        Ok(Self { version, ..peer })
    }

    /// What the program prints.
    fn call(&self, arguments: &[&str]) -> Result<String> {
        let Some([program, first @ ..]) = self.program.as_deref() else { bail!("{} is not installed", self.name) };
        let output = Command::new(program).args(first).args(arguments).output();
        let output = output.with_context(|| format!("starting {program}"))?;
        if !output.status.success() {
            bail!("{}: {program}: {}", self.name, String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Its steps a second; `None` if it has no such learner, or is not installed.
    fn rate(&self, learner: PeerLearner, file: &Path) -> Result<Option<f64>> {
        if self.program.is_none() {
            return Ok(None);
        }
        let file = file.to_str().context("the folder for temporary files has a name that is not UTF-8")?;
        let said = self.call(&[learner.key(), file])?;
        if said == "none" {
            return Ok(None);
        }
        let rate = said.parse().with_context(|| format!("{} printed {said:?} instead of a number", self.name))?;
        Ok(Some(rate))
    }
}

/// A line of the table.
#[derive(Debug)]
struct PeerRow {
    learner: PeerLearner,
    size: usize,
    /// In blocks, and row by row.
    ours: [f64; 2],
    theirs: Vec<Option<f64>>,
}

/// The comparison.
#[derive(Debug)]
pub(crate) struct Peers {
    peers: Vec<Peer>,
    rows: Vec<PeerRow>,
}

impl Peers {
    /// Times everything; the streams are written to `folder`.
    ///
    /// # Errors
    /// When a program that is named does not work.
    pub(crate) fn measure(folder: &Path) -> Result<Self> {
        let peers: Vec<Peer> = PEERS.into_iter().map(Peer::find).collect::<Result<_>>()?;
        let mut rows = Vec::new();
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        for size in SIZES {
            let file = folder.join(format!("peers-{size}.bin"));
            peer::write(&file, size)?;
            let stream = peer::read(&file)?;
            for learner in PeerLearner::ALL {
                let mut row = PeerRow { learner, size, ours: [0.0; 2], theirs: vec![None; peers.len()] };
                for _ in 0..TURNS {
                    for (best, blocks) in row.ours.iter_mut().zip([true, false]) {
                        *best = best.max(learner.rate(&stream, blocks)?);
                    }
                    for (best, peer) in row.theirs.iter_mut().zip(&peers) {
                        let rate = peer.rate(learner, &file)?;
                        *best = best.map_or(rate, |best| Some(rate.map_or(best, |rate| best.max(rate))));
                    }
                }
                rows.push(row);
            }
            std::fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
        }
        rows.sort_by_key(|row| row.learner != PeerLearner::Krls);
        Ok(Self { peers, rows })
    }

    /// The section of the report. The lines of its table are also those of the README's.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "\n## Peers\n\nSteps a second, each a prediction and then an update, of the fastest batch of 64 examples on one core; \
                        the better of two runs of each program in turn, on the same stream.\n\n"
            .to_owned();
        text += "| learner | size | Mercer, in blocks | Mercer, row by row |";
        for peer in &self.peers {
            let state = if peer.program.is_some() { peer.version.as_str() } else { "not installed" };
            // Writing to a string cannot fail.
            let _ = write!(text, " {}, {state} |", peer.name);
        }
        text += "\n|---|---:|---:|---:|";
        text += &"---:|".repeat(self.peers.len());
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "| {} | {} |", row.learner.words(), row.size);
            for rate in row.ours.iter().map(|rate| Some(*rate)).chain(row.theirs.iter().copied()) {
                let _ = write!(text, " {} |", rate.map_or_else(|| "–".to_owned(), grouped));
            }
            text.push('\n');
        }
        text
    }
}

/// Three digits that count, in groups of three: 1,290,000.
fn grouped(rate: f64) -> String {
    let unit = 10f64.powf((rate.max(1.0).log10().floor() - 2.0).max(0.0));
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
        for (rate, shown) in
            [(1_294_321.0, "1,290,000"), (786.4, "786"), (27_456.0, "27,500"), (4.4, "4"), (999_999.0, "1,000,000")]
        {
            assert_eq!(grouped(rate), shown);
        }
    }

    #[test]
    fn a_peer_that_is_not_there_says_so() {
        let peer = |name, program: Option<&str>| Peer {
            name,
            program: program.map(|word| vec![word.to_owned()]),
            version: "1.0".to_owned(),
        };
        let row = PeerRow { learner: PeerLearner::Krls, size: 50, ours: [2e6, 1e6], theirs: vec![None, Some(1e5)] };
        let table = Peers { peers: vec![peer("a", None), peer("b", Some("p"))], rows: vec![row] }.markdown();
        assert!(table.contains("| a, not installed | b, 1.0 |"), "{table}");
        assert!(table.ends_with("| 50 | 2,000,000 | 1,000,000 | – | 100,000 |\n"), "{table}");
        assert!(Peer::find(("none", "MERCER_PEER_THAT_NOBODY_SETS")).unwrap().program.is_none());
    }
}
