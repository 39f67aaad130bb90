//! The machine that a number was measured on.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use mercer_simd::Level;

/// The machine, the compiler and the state of the repository.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) caches: String,
    pub(crate) level: String,
    pub(crate) cores: usize,
    pub(crate) rustc: String,
    pub(crate) commit: String,
}

impl Machine {
    /// This machine; what cannot be found out is "unknown".
    pub(crate) fn this() -> Self {
        Self {
            cpu: cpu().unwrap_or_else(|| format!("unknown {}", std::env::consts::ARCH)),
            caches: caches().unwrap_or_else(|| "unknown".to_owned()),
            level: Level::available().last().map_or_else(String::new, |level| format!("{level:?}")),
            cores: cores(),
            rustc: output("rustc", &["--version"]).unwrap_or_else(|| "unknown".to_owned()),
            commit: commit().unwrap_or_else(|| "unknown".to_owned()),
        }
    }

    /// The processor's name as part of a file name.
    pub(crate) fn slug(&self) -> String {
        let lower = self.cpu.to_lowercase().replace("(r)", "").replace("(tm)", "");
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        words.join("-")
    }
}

/// The name, with the family and model that tell apart virtual machines of the same name.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let name = field("model name")?;
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => Some(format!("{name} family {family} model {model}")),
        _ => Some(name),
    }
}

/// All of them, not only those this process is pinned to.
fn cores() -> usize {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let listed = text.lines().filter(|line| line.starts_with("processor")).count();
    if listed > 0 { listed } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

fn caches() -> Option<String> {
    let sizes: Vec<String> = (0..8)
        .filter_map(|i| {
            let file =
                |name| std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{name}")).ok();
            let (level, kind, size) = (file("level")?, file("type")?, file("size")?);
            (kind.trim() != "Instruction").then(|| format!("L{} {}", level.trim(), size.trim()))
        })
        .collect();
    (!sizes.is_empty()).then(|| sizes.join(", "))
}

/// The commit, marked when files under version control differ from it.
fn commit() -> Option<String> {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changed = output("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit} with local changes") })
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The date of the system clock in UTC, as `2026-11-21`.
pub(crate) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut days = seconds / 86_400;
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}
