//! The streams: where they are, and whether they are the ones that the peers saw.
//!
//! A stream is the file `NAME.csv.gz` (or `NAME.csv`) with its target, a number or a class, last,
//! in the folder that the environment variable `MERCER_QUALITY` names or else in one called
//! `quality` beside a folder of data sets. Rows are learnt in the order of the file.
//! `crates/experiments/quality/streams.csv` has their shapes and digests.
//! `crates/experiments/quality/classes.py` makes `class_susy.csv` and `class_segments.csv`.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mercer_datasets::Registry;
use mercer_readers::{Dataset, ReadOptions, read_all};

/// The environment variable that names the folder.
pub(crate) const VARIABLE: &str = "MERCER_QUALITY";

const LIST: &str = include_str!("../../quality/streams.csv");

/// A stream of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QualityStream {
    /// The file's name without its endings.
    pub(crate) name: &'static str,
    /// True if the target is a class.
    pub(crate) of_classes: bool,
    /// True if the rows are in the order of time; those of the others were permuted.
    pub(crate) in_time: bool,
    /// The digest of the file that the peers saw.
    pub(crate) sha256: &'static str,
}

/// All of them, in the order of the list.
pub(crate) static STREAMS: LazyLock<Vec<QualityStream>> = LazyLock::new(|| {
    let stream = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        match cells[..] {
            [name, target, order, _, _, sha256] => {
                Some(QualityStream { name, of_classes: target == "class", in_time: order == "time", sha256 })
            }
            _ => None,
        }
    };
    LIST.lines().skip(1).filter_map(stream).collect()
});

impl QualityStream {
    /// Its file in the folder, if it is there.
    pub(crate) fn find(&self, folder: &Path) -> Option<PathBuf> {
        let paths = ["csv.gz", "csv"].map(|ending| folder.join(format!("{}.{ending}", self.name)));
        paths.into_iter().find(|path| path.is_file())
    }
}

/// The folder of the streams, if there is one.
pub fn folder(registry: &Registry) -> Option<PathBuf> {
    let holds = |folder: &PathBuf| STREAMS.iter().any(|stream| stream.find(folder).is_some());
    folder_of(registry, VARIABLE, "quality", holds)
}

/// The first folder that holds what is looked for: the one that an environment variable names, or
/// that of this name beside a folder of data sets.
pub(super) fn folder_of(
    registry: &Registry,
    variable: &str,
    name: &str,
    holds: impl Fn(&PathBuf) -> bool,
) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = registry.folders().iter().filter_map(|folder| Some(folder.parent()?.join(name)));
    named.into_iter().chain(beside).find(holds)
}

/// A table to learn, and the stream that it is.
pub(super) struct LoadedStream {
    pub(super) name: String,
    /// None of the bundled set, which has an order of its own.
    pub(super) stream: Option<QualityStream>,
    pub(super) table: Dataset,
}

impl LoadedStream {
    /// Order of the rows.
    pub(super) fn order(&self) -> &'static str {
        match self.stream {
            Some(stream) if stream.in_time => "time",
            Some(_) => "permuted",
            None => "its own",
        }
    }
}

/// Tables to learn, then the names of the streams that are missing.
pub(super) type StreamTables = (Vec<LoadedStream>, Vec<&'static str>);

/// The streams of numbers in the folder, or the bundled diamonds without one.
pub(super) fn load(plan: &Plan, rows: usize) -> Result<StreamTables> {
    let (mut loaded, missing) = find(plan, false, rows)?;
    if loaded.is_empty() {
        const NAME: &str = "diamonds";
        let mut table = plan.registry.open(NAME)?.permuted(seed_of(plan.seed, "quality / diamonds"));
        table.truncate(rows);
        loaded.push(LoadedStream { name: format!("{NAME} (bundled)"), stream: None, table });
    }
    Ok((loaded, missing))
}

/// The streams of classes in the folder.
pub(super) fn load_classes(plan: &Plan, rows: usize) -> Result<StreamTables> {
    find(plan, true, rows)
}

fn find(plan: &Plan, of_classes: bool, rows: usize) -> Result<StreamTables> {
    let (mut loaded, mut missing) = (Vec::new(), Vec::new());
    for stream in STREAMS.iter().filter(|stream| stream.of_classes == of_classes) {
        match plan.quality.as_deref().and_then(|folder| stream.find(folder)) {
            Some(path) => {
                let mut table = read_all(path, &ReadOptions::default())?;
                table.truncate(rows);
                loaded.push(LoadedStream { name: stream.name.to_owned(), stream: Some(*stream), table });
            }
            None => missing.push(stream.name),
        }
    }
    Ok((loaded, missing))
}

/// Table of the time of a row of each stream.
pub(super) fn times<'a>(rows: impl Iterator<Item = (&'a LoadedStream, f64)>) -> Result<Table> {
    let mut table = Table::with("stream | µs a row ~3");
    for (loaded, microseconds) in rows {
        table.push(row![loaded.name.clone(), microseconds])?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_reads() {
        assert_eq!((STREAMS.len(), LIST.lines().count() - 1), (20, 20));
        let count = |of_classes, in_time| {
            STREAMS.iter().filter(|stream| (stream.of_classes, stream.in_time) == (of_classes, in_time)).count()
        };
        assert_eq!([count(false, false), count(false, true), count(true, false), count(true, true)], [10, 4, 5, 1]);
        assert!(STREAMS.iter().all(|stream| stream.sha256.len() == 64));
    }

    #[test]
    fn a_folder_without_streams_is_none() {
        let empty = tempfile::tempdir().unwrap();
        let registry = Registry::load_from(vec![empty.path().join("datasets")]).unwrap();
        if std::env::var_os(VARIABLE).is_none() {
            assert_eq!(folder(&registry), None);
            std::fs::create_dir(empty.path().join("quality")).unwrap();
            assert_eq!(folder(&registry), None);
            std::fs::write(empty.path().join("quality/casp.csv.gz"), "").unwrap();
            assert_eq!(folder(&registry), Some(empty.path().join("quality")));
        }
    }
}
