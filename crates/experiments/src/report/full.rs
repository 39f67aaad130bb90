//! Results at the papers' size, kept in the repository and shown where a run is reduced or lacks the data.
//!
//! `cargo xtask reproduce --full --keep` writes one file an experiment, `full/NAME.json.gz` in the folder of this crate: the report as
//! compressed JSON, with the commit, the machine, the plan, the data and the date of its run. Tables keep every digit. Pictures keep
//! [`DIGITS`] digits of each number, and of long lines the points that are drawn; no eye can tell the difference. A result counts as current while the experiment's
//! [`version`](crate::experiment::Experiment::version) is the one it was made with.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::experiment::Experiment;
use crate::report::Report;
use crate::report::provenance::{Moment, Provenance};
use crate::report::tally::Tally;
use crate::verdict::Outcome;
use mercer_plots::write_whole;

/// Digits that a number of a picture keeps.
pub const DIGITS: usize = 5;

/// Raised whenever the file's form changes.
const FORM: u32 = 1;

/// What an experiment gave at the papers' size, and where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FullResult {
    /// The form of the file.
    form: u32,
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's version when it ran.
    pub version: u32,
    /// The program, the machine, the plan and the data.
    pub provenance: Provenance,
    /// When it finished.
    pub finished: Moment,
    /// How many seconds it took.
    pub seconds: f64,
    /// What it handed back.
    pub report: Report,
}

/// Why a full result could not be kept or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FullError {
    /// The file is there but cannot be read or decompressed.
    #[error("{path:?}: {source}; restore the file with git, or run the experiment with --full --keep", path = path.display().to_string())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not what this program writes.
    #[error(
        "{path:?} is damaged ({source}); restore the file with git, or run the experiment with --full --keep",
        path = path.display().to_string()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file is of another form than this program writes.
    #[error("{path:?} has form {got}, and this program reads form {FORM}; run the experiment with --full --keep", path = path.display().to_string())]
    Form {
        /// The file.
        path: PathBuf,
        /// Its form.
        got: u32,
    },
    /// The file holds the result of another experiment than its name says.
    #[error("{path:?} holds the experiment {got:?}; give the file the name of its experiment", path = path.display().to_string())]
    Name {
        /// The file.
        path: PathBuf,
        /// The experiment in it.
        got: String,
    },
    /// The plan is not the papers' own.
    #[error("only a run with --full and without --seeds is kept; run the experiment so")]
    NotFull,
    /// What is kept already made comparisons that this run could not make.
    #[error(
        "this run could not make {now} comparisons, and the kept result lacks only {kept}; it stays. Fetch the data (cargo xtask \
         datasets) and run again"
    )]
    Poorer {
        /// Comparisons that this run could not make.
        now: usize,
        /// Comparisons that the kept result could not make.
        kept: usize,
    },
    /// The file could not be written.
    #[error("cannot write {path:?}: {source}; check the folder and the space left", path = path.display().to_string())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl FullResult {
    /// What `experiment` gave in a run at the papers' size.
    ///
    /// # Errors
    /// [`FullError::NotFull`] unless the run was one.
    pub fn new(
        experiment: &Experiment,
        provenance: &Provenance,
        (finished, seconds): (Moment, f64),
        report: Report,
    ) -> Result<Self, FullError> {
        if !provenance.plan.is_papers() {
            return Err(FullError::NotFull);
        }
        let (experiment, version) = (experiment.name.to_owned(), experiment.version);
        let (provenance, report) = (provenance.clone(), report.thinned());
        Ok(Self { form: FORM, experiment, version, provenance, finished, seconds, report })
    }

    /// Whether it is what `experiment` would give now: made by the same version of it, at the papers' size.
    #[must_use]
    pub fn is_current(&self, experiment: &Experiment) -> bool {
        self.version == experiment.version && self.provenance.plan.is_papers()
    }

    /// The command that made it.
    #[must_use]
    pub fn command(&self) -> String {
        self.provenance.plan.command(&[&self.experiment])
    }

    /// How many of its comparisons came to what.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of_report(&self.report)
    }
}

/// Where full results are kept: in the sources of this crate.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("full")
}

/// The file of an experiment.
#[must_use]
pub fn place(folder: &Path, experiment: &str) -> PathBuf {
    folder.join(format!("{experiment}.json.gz"))
}

/// What is kept of the experiment of this name, current or not.
///
/// # Errors
/// [`FullError`] when the file is there but is not a full result of this experiment.
pub fn load(folder: &Path, experiment: &str) -> Result<Option<FullResult>, FullError> {
    /// Read alone first: a file of another form may not read at all.
    #[derive(Deserialize)]
    struct Label {
        form: u32,
    }
    let path = place(folder, experiment);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FullError::Read { path, source }),
    };
    let mut text = Vec::new();
    if let Err(source) = GzDecoder::new(bytes.as_slice()).read_to_end(&mut text) {
        return Err(FullError::Read { path, source });
    }
    let damaged = |source| FullError::Damaged { path: path.clone(), source };
    let Label { form } = serde_json::from_slice(&text).map_err(damaged)?;
    if form != FORM {
        return Err(FullError::Form { path, got: form });
    }
    let full: FullResult = serde_json::from_slice(&text).map_err(damaged)?;
    if full.experiment != experiment {
        return Err(FullError::Name { path, got: full.experiment });
    }
    Ok(Some(full))
}

/// Keeps a full result in place of an earlier one.
///
/// # Errors
/// [`FullError::Poorer`] when the earlier one, of the same version, made more comparisons; [`FullError::Write`]. The earlier one is
/// then still there.
pub fn store(folder: &Path, full: &FullResult) -> Result<(), FullError> {
    let path = place(folder, &full.experiment);
    // One that cannot be read is no loss.
    let earlier = load(folder, &full.experiment).ok().flatten();
    if let Some(earlier) = earlier.filter(|earlier| earlier.version == full.version) {
        let [now, kept] = [full, &earlier].map(|full| full.tally().any(Outcome::NotRun));
        if now > kept {
            return Err(FullError::Poorer { now, kept });
        }
    }
    let done = compressed(full).and_then(|bytes| write_whole(&path, &bytes));
    done.map_err(|source| FullError::Write { path, source })
}

fn compressed(full: &FullResult) -> io::Result<Vec<u8>> {
    let mut whole = serde_json::to_value(full)?;
    if let Some(blocks) = whole.pointer_mut("/report/blocks").and_then(Value::as_array_mut) {
        blocks.iter_mut().filter_map(|block| block.get_mut("picture")).for_each(shorten);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut encoder, &whole)?;
    encoder.flush()?;
    encoder.finish()
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
    use super::*;
    use crate::figure::Figure;
    use crate::judgement::Kind;
    use crate::papers::experiments;
    use crate::report::Block;
    use crate::report::provenance::{Asked, Machine, Program};
    use crate::table::{Format, Table};

    /// Most bytes that all kept files together may have.
    const MOST: u64 = 1_000_000;

    fn full(missing: usize) -> FullResult {
        let mut table = Table::new().numbers("error", Format::Shortest);
        table.push(vec![(1.0 / 3.0).into()]).unwrap();
        let mut report = Report::new("Table 3");
        report.table("table3", "Errors", table);
        let line = Figure::new("").line("J", &[1.0, 123_456.0], &[std::f64::consts::PI, f64::NAN]);
        report.picture("growth", "Growth", line);
        if missing > 0 {
            report.not_run(Kind::Printed, missing, "year", "It is not here.");
        }
        let experiment = experiments().next().unwrap();
        let provenance = Provenance {
            program: Program { commit: "c".into(), sha256: "s".into() },
            machine: Machine { processor: "p".into(), cores: 2, system: "s".into() },
            plan: Asked { full: true, repetitions: None, seed: 1, threads: 1 },
            data: Vec::new(),
            absent: Vec::new(),
        };
        FullResult::new(experiment, &provenance, (Moment(7), 12.0), report).unwrap()
    }

    #[test]
    fn a_full_result_is_read_back_with_tables_exact_and_pictures_short() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load(folder.path(), "table3").unwrap().is_none());
        store(folder.path(), &full(0)).unwrap();
        let back = load(folder.path(), "table3").unwrap().unwrap();
        assert_eq!((back.finished, back.seconds, back.version), (Moment(7), 12.0, full(0).version));
        assert_eq!(back.command(), "cargo xtask reproduce --only table3 --full --seed 1");
        assert_eq!(back.report.find_table("table3").unwrap().csv(), "error\n0.3333333333333333\n");
        let picture = back.report.blocks().iter().find_map(|block| match block {
            Block::Picture { picture, .. } => Some(picture.data().unwrap().csv()),
            _ => None,
        });
        let rows: Vec<String> = picture.unwrap().lines().skip(1).map(str::to_owned).collect();
        assert_eq!(rows, [",line,J,,1,3.1416,,,", ",line,J,,123460,NaN,,,"]);
    }

    #[test]
    fn another_version_or_a_smaller_plan_is_not_current() {
        let experiment = experiments().next().unwrap();
        let full = full(0);
        assert!(full.is_current(experiment));
        assert!(!full.is_current(&Experiment { version: experiment.version + 1, ..*experiment }));
        for plan in [
            Asked { full: false, ..full.provenance.plan.clone() },
            Asked { repetitions: Some(2), ..full.provenance.plan.clone() },
        ] {
            let provenance = Provenance { plan, ..full.provenance.clone() };
            let small = FullResult { provenance: provenance.clone(), ..full.clone() };
            assert!(!small.is_current(experiment));
            let refused = FullResult::new(experiment, &provenance, (Moment(7), 12.0), full.report.clone());
            assert!(matches!(refused, Err(FullError::NotFull)));
        }
    }

    #[test]
    fn a_run_that_lacks_more_data_does_not_replace() {
        let folder = tempfile::tempdir().unwrap();
        store(folder.path(), &full(3)).unwrap();
        let error = store(folder.path(), &full(4)).unwrap_err();
        assert!(matches!(error, FullError::Poorer { now: 4, kept: 3 }), "{error}");
        store(folder.path(), &FullResult { version: full(4).version + 1, ..full(4) }).unwrap();
        store(folder.path(), &full(0)).unwrap();
        assert_eq!(load(folder.path(), "table3").unwrap().unwrap().tally().any(Outcome::NotRun), 0);
    }

    #[test]
    fn what_is_no_full_result_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = place(folder.path(), "table3");
        let write = |text: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(text.as_bytes()).unwrap();
            fs::write(&path, encoder.finish().unwrap()).unwrap();
        };
        fs::write(&path, "{").unwrap();
        assert!(matches!(load(folder.path(), "table3"), Err(FullError::Read { .. })));
        write("{");
        assert!(matches!(load(folder.path(), "table3"), Err(FullError::Damaged { .. })));
        write(r#"{"form": 99}"#);
        assert!(matches!(load(folder.path(), "table3"), Err(FullError::Form { got: 99, .. })));
        store(folder.path(), &FullResult { experiment: "lemma31".into(), ..full(0) }).unwrap();
        fs::rename(place(folder.path(), "lemma31"), &path).unwrap();
        assert!(matches!(load(folder.path(), "table3"), Err(FullError::Name { .. })));
    }

    /// The files of this repository: each is of a known experiment, reads, draws, and says where it comes from.
    #[test]
    fn the_kept_files_are_full_results_of_known_experiments() {
        let Ok(entries) = fs::read_dir(folder()) else { return };
        let mut bytes = 0;
        for entry in entries {
            let entry = entry.unwrap();
            let file = entry.file_name().into_string().unwrap();
            let name = file.strip_suffix(".json.gz").unwrap_or_else(|| panic!("full/{file}: no kept result"));
            let experiment = experiments().find(|experiment| experiment.name == name);
            let experiment = experiment.unwrap_or_else(|| panic!("full/{file}: there is no experiment of this name"));
            let full = load(&folder(), name).unwrap().unwrap();
            assert!(full.version <= experiment.version, "full/{file}: of a version that is not there yet");
            assert!(full.provenance.plan.is_papers(), "full/{file}: not at the papers' size");
            assert!(full.provenance.program.is_clean(), "full/{file}: from sources that no commit has");
            for block in full.report.blocks() {
                if let Block::Picture { picture, .. } = block {
                    picture.parts().unwrap();
                }
            }
            bytes += entry.metadata().unwrap().len();
        }
        assert!(bytes <= MOST, "{bytes} bytes of full results, more than {MOST}");
    }
}
