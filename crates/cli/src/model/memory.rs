//! Check of the memory for a learner that keeps every example.

use std::fs;
use std::path::Path;

use mercer_registry::catalogue::Entry;

use crate::report::failure::Failure;

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

/// A remark on a stream whose length nobody knows: how many rows fill the memory, if that is a
/// number to be met with.
pub(crate) fn remark(entry: &Entry, dimension: usize) -> Option<String> {
    let most = most_rows(entry, dimension)?;
    Some(format!("{} keeps every example; this machine's memory is full after {most} rows at the latest", entry.name))
}

/// So many rows, to a hundredth, and no more fit into the memory, if that is a number to be met
/// with.
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

/// The memory in bytes of the machine, or of the container in it, where the system tells it.
fn total() -> Option<f64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    [machine(), container(read)].into_iter().flatten().reduce(f64::min)
}

fn machine() -> Option<f64> {
    let told = fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// The least limit of the control groups that the process is in, by both versions of them. Within a
/// container the names of the outer groups lead nowhere, and the limit stands at the root.
fn container(read: impl Fn(&Path) -> Option<String>) -> Option<f64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for group in Path::new(group.trim_start_matches('/')).ancestors() {
            // A group without a limit says so in a word.
            let limit = read(&Path::new(root).join(group).join(file)).and_then(|told| told.trim().parse().ok());
            least = least.into_iter().chain(limit).reduce(f64::min);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_a_container_counts() {
        let files = |known: &'static [(&str, &str)]| {
            move |path: &Path| {
                known.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned())
            }
        };
        let limit = container(files(&[
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "2048\n"),
            ("/sys/fs/cgroup/memory.max", "4096\n"),
        ]));
        assert_eq!(limit, Some(2048.0));
        let limit = container(files(&[
            ("/proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/0\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1024\n"),
        ]));
        assert_eq!(limit, Some(1024.0));
        assert_eq!(container(files(&[("/proc/self/cgroup", "0::/\n")])), None);
        assert_eq!(container(files(&[])), None);
    }
}
