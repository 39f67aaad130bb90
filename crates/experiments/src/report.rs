//! Report that an experiment hands back: words, tables and pictures in reading order.
//!
//! Saved, each table is a file and each picture two, the second with the series behind it; shown,
//! all of it is a section of a page ([`mod@crate::html`]). Written as JSON, a report reads back as
//! it was, so that a finished one can be [kept].

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mercer_plots::write_whole;
use serde::{Deserialize, Serialize};

use crate::figure::{self, Figure, Panels};
use crate::judgement::{ComparisonKind, Outcome};
use crate::table::{Table, TableVerdict};

pub mod conduct;
pub mod edition;
pub mod kept;
pub mod provenance;
pub mod tally;

/// A picture with one pair of axes or several.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// One pair of axes.
    Figure(Box<Figure>),
    /// A grid of them.
    Panels(Panels),
}

impl Picture {
    /// Every series behind it, a row a point.
    pub fn data(&self) -> Result<Table> {
        match self {
            Self::Figure(figure) => figure::table(&figure.rows()),
            Self::Panels(panels) => figure::table(&panels.rows()),
        }
    }

    /// Description of the picture for people who do not see it.
    pub fn words(&self) -> String {
        match self {
            Self::Figure(figure) => figure.words(),
            Self::Panels(panels) => panels.words(),
        }
    }

    /// The same picture from less data, for keeping.
    fn thinned(&self) -> Self {
        match self {
            Self::Figure(figure) => Self::Figure(Box::new(figure.thinned())),
            Self::Panels(panels) => Self::Panels(panels.thinned()),
        }
    }

    /// As SVG text.
    pub fn svg(&self) -> Result<String> {
        Ok(match self {
            Self::Figure(figure) => figure.svg()?,
            Self::Panels(panels) => panels.svg()?,
        })
    }
}

impl From<Figure> for Picture {
    fn from(figure: Figure) -> Self {
        Self::Figure(Box::new(figure))
    }
}

impl From<Panels> for Picture {
    fn from(panels: Panels) -> Self {
        Self::Panels(panels)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportBlock {
    Words(String),
    Remark(Remark),
    Guard { name: String, acted: u64, of: u64 },
    Table { stem: String, caption: String, table: Table },
    Picture { stem: String, caption: String, picture: Picture },
}

/// Why something printed was not reproduced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// Its outcome: it differs or was not run.
    pub outcome: Outcome,
    /// Its subject, in a few words.
    pub subject: String,
    /// Why, in Markdown.
    pub why: String,
    /// Kind and number of the comparisons that could not be made, if it was not run.
    pub missing: Option<(ComparisonKind, usize)>,
}

/// The result of one experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    title: String,
    blocks: Vec<ReportBlock>,
}

impl Report {
    /// A report without content.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// A paragraph, or several, of Markdown.
    pub fn words(&mut self, words: impl Into<String>) {
        self.blocks.push(ReportBlock::Words(words.into()));
    }

    /// Where we differ from what is printed (`subject`, a few words) and why (Markdown). The first
    /// page of the whole report repeats it.
    pub fn differs(&mut self, subject: impl Into<String>, why: impl Into<String>) {
        self.remark(Outcome::Differs, subject.into(), why.into(), None);
    }

    /// [`differs`](Self::differs), if a verdict of `table` says so.
    pub fn differs_where(&mut self, table: &Table, subject: &str, why: &str) {
        if table.judged().iter().any(|judged| judged.outcome == Outcome::Differs) {
            self.differs(subject, why);
        }
    }

    /// Adds that `subject` (a few words) was not run and why (Markdown), with the kind and the
    /// number of the comparisons that were not made. The first page of the whole report repeats it.
    pub fn not_run(&mut self, kind: ComparisonKind, count: usize, subject: impl Into<String>, why: impl Into<String>) {
        self.remark(Outcome::NotRun, subject.into(), why.into(), Some((kind, count)));
    }

    /// [`not_run`](Self::not_run) of claims on data that are missing, `each` on one of them, if any
    /// are.
    pub fn lacks(&mut self, missing: &[&str], each: usize, why: &str) {
        if !missing.is_empty() {
            self.not_run(ComparisonKind::Claim, missing.len() * each, missing.join(", "), why);
        }
    }

    /// Names the data sets that are not on this machine, if there are any.
    pub fn absent(&mut self, missing: &[&str]) {
        if !missing.is_empty() {
            self.words(format!("Not on this machine: {}.", missing.join(", ")));
        }
    }

    fn remark(&mut self, outcome: Outcome, subject: String, why: String, missing: Option<(ComparisonKind, usize)>) {
        self.blocks.push(ReportBlock::Remark(Remark { outcome, subject, why, missing }));
    }

    /// Adds how often a guard of ours (a cap, a floor, a threshold) acted, of so many times that it
    /// could have.
    pub fn guard(&mut self, name: impl Into<String>, acted: u64, of: u64) {
        self.blocks.push(ReportBlock::Guard { name: name.into(), acted, of });
    }

    /// Acts of its guards, in words.
    pub fn guards(&self) -> impl Iterator<Item = String> {
        self.blocks.iter().filter_map(|block| match block {
            ReportBlock::Guard { name, acted, of } => Some(guard_words(name, *acted, *of)),
            _ => None,
        })
    }

    /// A table that will be saved under `stem`.
    pub fn table(&mut self, stem: impl Into<String>, caption: impl Into<String>, table: Table) {
        self.blocks.push(ReportBlock::Table { stem: stem.into(), caption: caption.into(), table });
    }

    /// A picture that will be saved under `stem`.
    pub fn picture(&mut self, stem: impl Into<String>, caption: impl Into<String>, picture: impl Into<Picture>) {
        self.blocks.push(ReportBlock::Picture { stem: stem.into(), caption: caption.into(), picture: picture.into() });
    }

    /// The table of this stem.
    pub fn find_table(&self, stem: &str) -> Option<&Table> {
        self.blocks.iter().find_map(|block| match block {
            ReportBlock::Table { stem: own, table, .. } if own == stem => Some(table),
            _ => None,
        })
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The same with pictures from less data.
    pub(crate) fn thinned(mut self) -> Self {
        for block in &mut self.blocks {
            if let ReportBlock::Picture { picture, .. } = block {
                *picture = picture.thinned();
            }
        }
        self
    }

    pub(crate) fn blocks(&self) -> &[ReportBlock] {
        &self.blocks
    }

    /// Remarks on what differs or was not run, and why, as far as it says so.
    pub fn remarks(&self) -> impl Iterator<Item = &Remark> {
        self.blocks.iter().filter_map(|block| match block {
            ReportBlock::Remark(remark) => Some(remark),
            _ => None,
        })
    }

    /// The verdicts of all its tables.
    pub fn judged(&self) -> Vec<TableVerdict> {
        let tables = self.blocks.iter().filter_map(|block| match block {
            ReportBlock::Table { table, .. } => Some(table),
            _ => None,
        });
        tables.flat_map(Table::judged).collect()
    }

    /// Writes every table (CSV) and picture (SVG, and `…_series.csv` with its points) into `dir`
    /// and gives the files' paths.
    pub fn save(&self, dir: &Path) -> Result<Vec<PathBuf>> {
        let mut files = self.pictures()?;
        files.extend(self.blocks.iter().filter_map(|block| match block {
            ReportBlock::Table { stem, table, .. } => Some((format!("{stem}.csv"), table.csv())),
            _ => None,
        }));
        for (stem, picture) in self.drawn() {
            files.push((series_file(stem), picture.data()?.csv()));
        }
        save(dir, files)
    }

    fn drawn(&self) -> impl Iterator<Item = (&str, &Picture)> {
        self.blocks.iter().filter_map(|block| match block {
            ReportBlock::Picture { stem, picture, .. } => Some((stem.as_str(), picture)),
            _ => None,
        })
    }

    /// The names and texts of its pictures as SVG files.
    pub fn pictures(&self) -> Result<Vec<(String, String)>> {
        self.drawn().map(|(stem, picture)| Ok((format!("{stem}.svg"), picture.svg()?))).collect()
    }
}

/// Writes files of these names and texts into a folder, each as a whole or not at all.
pub(crate) fn save(dir: &Path, files: Vec<(String, String)>) -> Result<Vec<PathBuf>> {
    let write = |(name, text): (String, String)| {
        let path = dir.join(name);
        let done = write_whole(&path, text.as_bytes());
        done.with_context(|| format!("cannot write {}; check the folder and the space left", path.display()))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

pub(crate) fn guard_words(name: &str, acted: u64, of: u64) -> String {
    format!("Guard: {name} acted {acted} times in {of}.")
}

/// The name of the file with the series behind a picture.
pub(crate) fn series_file(stem: &str) -> String {
    format!("{stem}_series.csv")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Format;

    #[test]
    fn a_report_is_files_and_a_section() {
        let mut table = Table::new().numbers("J", Format::Shortest);
        table.push(vec![28usize.into()]).unwrap();
        let mut report = Report::new("Sizes");
        report.words("Small ones.");
        report.table("sizes", "Sizes of dictionaries", table);
        report.picture("growth", "How they grow", Figure::new("").line("J", &[1.0, 2.0], &[1.0, 2.0]));
        let folder = tempfile::tempdir().unwrap();
        let files = report.save(folder.path()).unwrap();
        assert_eq!(files.len(), 3);
        let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("growth_series.csv").lines().nth(2), Some(",line,J,,2,2,,,"));
        assert_eq!(read("sizes.csv"), "J\n28\n");
        assert!(files.iter().all(|file| file.is_file()));
        report.differs("sizes", "Ours\nare larger.");
        let written = serde_json::to_string(&report).unwrap();
        let back: Report = serde_json::from_str(&written).unwrap();
        assert_eq!((serde_json::to_string(&back).unwrap(), back.remarks().count()), (written, 1));
        assert!(report.find_table("sizes").is_some() && report.find_table("growth").is_none());
    }
}
