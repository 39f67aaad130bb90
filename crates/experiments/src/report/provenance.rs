//! Where numbers come from: the program, the machine, the plan and the data.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mercer_datasets::sha256_file;
use mercer_readers::DataError;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::quality::{series, streams};

/// All that the numbers of one run depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program.
    pub program: Program,
    /// The machine, on which times depend.
    pub machine: Machine,
    /// The request.
    pub plan: Request,
    /// The files found for the data sets of the manifest, in its order, and for the streams of the
    /// comparison of quality.
    pub data: Vec<DataFile>,
    /// The data sets of the manifest that were not found.
    pub absent: Vec<String>,
}

/// The program that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The commit of the repository it is run from, "… with local changes" if files under version
    /// control differ from it.
    pub commit: String,
    /// The sha256 of the program's own file.
    pub sha256: String,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Its cores, as far as this program may use them.
    pub cores: usize,
    /// The operating system and the kind of processor.
    pub system: String,
}

/// Request for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The papers' size, or the reduced one.
    pub full: bool,
    /// Permutations or repetitions; `None` is each experiment's own number.
    pub repetitions: Option<usize>,
    /// The seed.
    pub seed: u64,
    /// Threads, on which times depend.
    pub threads: usize,
}

/// A file of data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// The data set's name.
    pub name: String,
    /// The sha256 of the file found; `None` for one compiled into the program.
    pub sha256: Option<String>,
    /// True if that is the manifest's; `None` if the manifest has none.
    pub as_listed: Option<bool>,
}

impl Provenance {
    /// Provenance of this program on this machine with this plan. Reads every data file found once,
    /// and asks `git` for the commit.
    pub fn collect(plan: &Plan) -> Result<Self, DataError> {
        let (mut data, mut absent) = (Vec::new(), Vec::new());
        for entry in plan.registry.entries() {
            let name = entry.name.clone();
            if let Some(path) = plan.registry.locate(&name) {
                let digest = sha256_file(&path)?;
                let as_listed = entry.sha256.as_ref().map(|listed| listed.eq_ignore_ascii_case(&digest));
                data.push(DataFile { name, sha256: Some(digest), as_listed });
            } else if plan.registry.is_available(&name) {
                data.push(DataFile { name, sha256: None, as_listed: Some(true) });
            } else {
                absent.push(name);
            }
        }
        for (name, path) in series::files(&plan.registry) {
            data.push(DataFile {
                name: format!("forecast/{name}"),
                sha256: Some(sha256_file(&path)?),
                as_listed: None,
            });
        }
        if let Some(folder) = &plan.quality {
            for stream in streams::STREAMS.iter() {
                if let Some(path) = stream.find(folder) {
                    let digest = sha256_file(&path)?;
                    let (name, as_listed) = (format!("quality/{}", stream.name), Some(stream.sha256 == digest));
                    data.push(DataFile { name, sha256: Some(digest), as_listed });
                }
            }
        }
        Ok(Self { program: Program::this()?, machine: Machine::this(), plan: Request::from_plan(plan), data, absent })
    }
}

impl Program {
    /// True if its commit holds all that it was built from.
    pub fn is_clean(&self) -> bool {
        !self.commit.is_empty() && self.commit.chars().all(|c| c.is_ascii_hexdigit())
    }

    fn this() -> Result<Self, DataError> {
        let own = std::env::current_exe();
        let own = own.map_err(|source| DataError::Io { file: "the program's own file".to_owned(), source })?;
        Ok(Self { commit: commit().unwrap_or_else(|| "unknown".to_owned()), sha256: sha256_file(&own)? })
    }
}

impl Machine {
    fn this() -> Self {
        let unknown = || "unknown processor".to_owned();
        Self {
            processor: processor().unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

impl Request {
    fn from_plan(plan: &Plan) -> Self {
        Self { full: plan.full, repetitions: plan.repetitions, seed: plan.seed, threads: plan.threads }
    }

    /// True if it is the papers' own: their size, and each experiment's own number of repetitions.
    pub fn is_papers(&self) -> bool {
        self.full && self.repetitions.is_none()
    }

    /// The command that runs these experiments (all, if none is named) as they were run; threads
    /// are left to the machine.
    pub fn command(&self, only: &[&str]) -> String {
        let mut command = "cargo xtask reproduce".to_owned();
        if !only.is_empty() {
            command += &format!(" --only {}", only.join(","));
        }
        if self.full {
            command += " --full";
        }
        if let Some(repetitions) = self.repetitions {
            command += &format!(" --seeds {repetitions}");
        }
        command + &format!(" --seed {}", self.seed)
    }
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // Results kept from earlier runs are no part of the program.
    let sources = [":/", ":(exclude,top)crates/experiments/full"];
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", sources[0], sources[1]])?;
    Some(if changed.is_empty() { commit } else { format!("{commit} with local changes") })
}

/// Output of git about the repository this program was built from, while it is there.
fn git(arguments: &[&str]) -> Option<String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A moment in seconds since 1970, shown as `2026-11-21 15:26 UTC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(pub u64);

impl Moment {
    /// This one.
    pub fn now() -> Self {
        Self(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_second(self.0 as i64).map_err(|_| fmt::Error)?;
        moment.strftime("%Y-%m-%d %H:%M UTC").fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_by_the_calendar() {
        let shown = |seconds| Moment(seconds).to_string();
        assert_eq!(shown(0), "1970-01-01 00:00 UTC");
        assert_eq!(shown(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(shown(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(shown(1_798_761_599), "2026-12-31 23:59 UTC");
        assert_eq!(shown(4_107_542_400), "2100-03-01 00:00 UTC");
    }

    #[test]
    fn commands_repeat_what_was_asked() {
        let mut asked = Request { full: false, repetitions: None, seed: 1, threads: 2 };
        assert_eq!(asked.command(&["table3"]), "cargo xtask reproduce --only table3 --seed 1");
        asked.full = true;
        assert!(asked.is_papers());
        asked.repetitions = Some(4);
        assert!(!asked.is_papers());
        assert_eq!(asked.command(&[]), "cargo xtask reproduce --full --seeds 4 --seed 1");
    }

    #[test]
    fn this_program_has_a_digest() {
        let registry = mercer_datasets::Registry::load_from(Vec::new()).unwrap();
        let plan = Plan::reduced(registry, 3, 1);
        let provenance = Provenance::collect(&plan).unwrap();
        assert_eq!(provenance.program.sha256.len(), 64);
        assert_eq!(provenance.plan.seed, 3);
        assert!(provenance.data.iter().any(|file| file.name == "diamonds" && file.sha256.is_none()));
        assert!(provenance.absent.contains(&"year".to_owned()));
    }
}
