//! Whether a learner that keeps every example fits into this machine's memory.

use std::fs;

use mercer::catalogue::Entry;

use super::failure::Failure;

/// Bytes of a number.
const NUMBER: f64 = 8.0;

/// Refuses a run of so many rows, or more, that cannot end.
pub(crate) fn check(entry: &Entry, shown: &str, rows: usize, dimension: usize) -> Result<(), Failure> {
    let needed = NUMBER * entry.least_numbers(rows, dimension);
    match total().filter(|total| needed > *total) {
        None => Ok(()),
        Some(total) => Err(Failure::because(format!(
            "{shown}: {} keeps every example, which takes at least {} for {rows} rows of {dimension} features, and this machine \
             has {}; learn fewer rows (--limit N), or take a learner whose memory does not grow (mercer learners)",
            entry.name,
            shown_bytes(needed),
            shown_bytes(total)
        ))),
    }
}

/// A remark on a stream whose length nobody knows: how many rows fill the memory, if that is a number to be met with.
pub(crate) fn remark(entry: &Entry, dimension: usize) -> Option<String> {
    let most = most_rows(entry, dimension)?;
    Some(format!("{} keeps every example; this machine's memory is full after {most} rows at the latest", entry.name))
}

/// So many rows, to a hundredth, and no more fit into the memory, if that is a number to be met with.
pub(crate) fn most_rows(entry: &Entry, dimension: usize) -> Option<usize> {
    const FEW: usize = 10_000_000;
    let total = total()?;
    let fits = |rows: &usize| NUMBER * entry.least_numbers(*rows, dimension) <= total;
    if fits(&FEW) {
        return None;
    }
    let (mut low, mut high) = (0, FEW);
    while high - low > 1 + low / 100 {
        let middle = low.midpoint(high);
        if fits(&middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn shown_bytes(bytes: f64) -> String {
    format!("{:.1} GiB", bytes / (1u64 << 30) as f64)
}

/// The machine's memory in bytes, where the system tells it.
fn total() -> Option<f64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}
