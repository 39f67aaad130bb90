//! Finished experiments on disk, a compressed file each.
//!
//! A run keeps its own in the folder `kept` of its output: while program, machine, plan and data
//! are the same, they stand for a run. The repository keeps results at the papers' size in `full`
//! of this crate (`cargo xtask reproduce --full --keep`): they are shown where a run is smaller or
//! lacks data, with the commit, the machine and the date they come from. A
//! [fingerprint](Experiment::fingerprint) of the experiment's sources tells whether these have
//! changed since; the commit tells the rest. In `full`, tables keep every digit, pictures keep
//! [`DIGITS`] digits and of long lines the points that are drawn.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use mercer_plots::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::experiment::Experiment;
use crate::judgement::Outcome;
use crate::report::Report;
use crate::report::provenance::{Moment, Provenance};
use crate::report::tally::Tally;

/// Digits that a number of a picture keeps in `full`.
pub const DIGITS: usize = 5;

/// A finished experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptReport {
    /// Its name.
    pub experiment: String,
    /// The fingerprint of its sources when it ran.
    pub sources: String,
    /// The program, the machine, the plan and the data.
    pub provenance: Provenance,
    /// When it finished.
    pub finished: Moment,
    /// Seconds that it took.
    pub seconds: f64,
    /// Its report.
    pub report: Report,
}

impl KeptReport {
    /// True if the experiment's sources are those that made it.
    pub fn is_current(&self, experiment: &Experiment) -> bool {
        self.sources == experiment.fingerprint()
    }

    /// The command that made it.
    pub fn command(&self) -> String {
        self.provenance.plan.command(&[&self.experiment])
    }

    /// Numbers of its comparisons by outcome.
    pub fn tally(&self) -> Tally {
        Tally::of_report(&self.report)
    }
}

/// Where results at the papers' size are kept: in the sources of this crate.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("full")
}

/// The file of an experiment.
pub fn place(folder: &Path, experiment: &str) -> PathBuf {
    folder.join(format!("{experiment}.json.gz"))
}

/// Kept report of the experiment of this name.
pub fn load(folder: &Path, experiment: &str) -> Result<Option<KeptReport>> {
    let path = place(folder, experiment);
    if !path.exists() {
        return Ok(None);
    }
    let read = || -> Result<KeptReport> {
        let kept: KeptReport = serde_json::from_reader(GzDecoder::new(BufReader::new(File::open(&path)?)))?;
        ensure!(kept.experiment == experiment, "it holds the experiment {:?}", kept.experiment);
        Ok(kept)
    };
    let words = || format!("{}: unreadable; run the experiment again, or restore the file with git", path.display());
    read().map(Some).with_context(words)
}

/// Keeps a result of a run, in place of an earlier one.
pub fn store(folder: &Path, kept: &KeptReport) -> Result<()> {
    write(folder, &kept.experiment, serde_json::to_value(kept))
}

/// Keeps a result at the papers' size, in place of an earlier one.
pub fn store_full(folder: &Path, kept: &KeptReport) -> Result<()> {
    ensure!(
        kept.provenance.plan.is_papers(),
        "only a run with --full and without --seeds is kept; run the experiment so"
    );
    // One that cannot be read is no loss.
    let earlier = load(folder, &kept.experiment).ok().flatten();
    if let Some(earlier) = earlier.filter(|earlier| earlier.sources == kept.sources) {
        let [now, then] = [kept, &earlier].map(|kept| kept.tally().any(Outcome::NotRun));
        ensure!(
            now <= then,
            "this run could not make {now} comparisons, and the kept result lacks only {then}; it stays. Fetch the data (cargo \
             xtask datasets) and run again"
        );
    }
    let thin = KeptReport { report: kept.report.clone().thinned(), ..kept.clone() };
    let mut whole = serde_json::to_value(thin);
    if let Some(blocks) = whole.as_mut().ok().and_then(|whole| whole.pointer_mut("/report/blocks")?.as_array_mut()) {
        blocks.iter_mut().filter_map(|block| block.get_mut("picture")).for_each(shorten);
    }
    write(folder, &kept.experiment, whole)
}

fn write(folder: &Path, experiment: &str, whole: serde_json::Result<Value>) -> Result<()> {
    let path = place(folder, experiment);
    let packed = || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        serde_json::to_writer(&mut encoder, &whole?)?;
        encoder.finish()
    };
    let done = packed().and_then(|bytes| write_whole(&path, &bytes));
    done.with_context(|| format!("cannot write {}; check the folder and the space left", path.display()))
}

/// Rounds every number that is not whole to [`DIGITS`] digits.
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().and_then(|v| format!("{v:.*e}", DIGITS - 1).parse().ok());
            if let Some(short) = short.and_then(Number::from_f64) {
                *number = short;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(all) => all.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::figure::Figure;
    use crate::judgement::ComparisonKind;
    use crate::papers::experiments;
    use crate::report::ReportBlock;
    use crate::report::provenance::{Machine, Program, Request};
    use crate::table::{Format, Table};

    /// Most bytes that all files of `full` together may have.
    const MOST: u64 = 1_000_000;

    fn full(missing: usize) -> KeptReport {
        let mut table = Table::new().numbers("error", Format::Shortest);
        table.push(vec![(1.0 / 3.0).into()]).unwrap();
        let mut report = Report::new("Table 3");
        report.table("table3", "Errors", table);
        let line = Figure::new("").line("J", &[1.0, 123_456.0], &[std::f64::consts::PI, f64::NAN]);
        report.picture("growth", "Growth", line);
        if missing > 0 {
            report.not_run(ComparisonKind::Printed, missing, "year", "It is not here.");
        }
        let provenance = Provenance {
            program: Program { commit: "c".into(), sha256: "s".into() },
            machine: Machine { processor: "p".into(), cores: 2, system: "s".into() },
            plan: Request { full: true, repetitions: None, seed: 1, threads: 1 },
            data: Vec::new(),
            absent: Vec::new(),
        };
        let (experiment, sources) = ("table3".into(), "a".into());
        KeptReport { experiment, sources, provenance, finished: Moment(7), seconds: 12.0, report }
    }

    #[test]
    fn a_full_result_is_read_back_with_tables_exact_and_pictures_short() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load(folder.path(), "table3").unwrap().is_none());
        store_full(folder.path(), &full(0)).unwrap();
        let back = load(folder.path(), "table3").unwrap().unwrap();
        assert_eq!((back.finished, back.seconds), (Moment(7), 12.0));
        assert_eq!(back.command(), "cargo xtask reproduce --only table3 --full --seed 1");
        assert_eq!(back.report.find_table("table3").unwrap().csv(), "error\n0.3333333333333333\n");
        let picture = |kept: &KeptReport| {
            let pictures = kept.report.blocks().iter().filter_map(|block| match block {
                ReportBlock::Picture { picture, .. } => Some(picture.data().unwrap().csv()),
                _ => None,
            });
            pictures.collect::<String>().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(picture(&back), [",line,J,,1,3.1416,,,", ",line,J,,123460,NaN,,,"]);
        store(folder.path(), &full(0)).unwrap();
        let back = load(folder.path(), "table3").unwrap().unwrap();
        assert_eq!(picture(&back), picture(&full(0)));
        let small =
            Provenance { plan: Request { full: false, ..back.provenance.plan.clone() }, ..back.provenance.clone() };
        let refused = store_full(folder.path(), &KeptReport { provenance: small, ..back });
        assert!(refused.unwrap_err().to_string().contains("without --seeds"));
    }

    #[test]
    fn a_run_that_lacks_more_data_does_not_replace() {
        let folder = tempfile::tempdir().unwrap();
        store_full(folder.path(), &full(3)).unwrap();
        let error = store_full(folder.path(), &full(4)).unwrap_err().to_string();
        assert!(error.contains("could not make 4 comparisons, and the kept result lacks only 3;"), "{error}");
        store_full(folder.path(), &KeptReport { sources: "b".into(), ..full(4) }).unwrap();
        store_full(folder.path(), &full(0)).unwrap();
        assert_eq!(load(folder.path(), "table3").unwrap().unwrap().tally().any(Outcome::NotRun), 0);
    }

    #[test]
    fn what_is_no_result_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = place(folder.path(), "table3");
        fs::write(&path, "{").unwrap();
        let told = || format!("{:#}", load(folder.path(), "table3").unwrap_err());
        assert!(told().contains("restore the file with git"));
        write(folder.path(), "table3", Ok(serde_json::json!({ "form": 1 }))).unwrap();
        assert!(told().contains("missing field"));
        store(folder.path(), &KeptReport { experiment: "lemma31".into(), ..full(0) }).unwrap();
        fs::rename(place(folder.path(), "lemma31"), &path).unwrap();
        assert!(told().contains("it holds the experiment \"lemma31\""));
    }

    /// The files of this repository: each is of a known experiment, reads, draws, and says where it
    /// comes from.
    #[test]
    fn the_kept_files_are_full_results_of_known_experiments() {
        let Ok(entries) = fs::read_dir(folder()) else { return };
        let mut bytes = 0;
        for entry in entries {
            let entry = entry.unwrap();
            let file = entry.file_name().into_string().unwrap();
            let name = file.strip_suffix(".json.gz").unwrap_or_else(|| panic!("full/{file}: no kept result"));
            assert!(
                experiments().any(|experiment| experiment.name == name),
                "full/{file}: no experiment has this name"
            );
            let full = load(&folder(), name).unwrap().unwrap();
            assert!(full.provenance.plan.is_papers(), "full/{file}: not at the papers' size");
            assert!(full.provenance.program.is_clean(), "full/{file}: from sources that no commit has");
            for block in full.report.blocks() {
                if let ReportBlock::Picture { picture, .. } = block {
                    picture.svg().unwrap();
                }
            }
            bytes += entry.metadata().unwrap().len();
        }
        assert!(bytes <= MOST, "{bytes} bytes of full results, more than {MOST}");
    }
}
