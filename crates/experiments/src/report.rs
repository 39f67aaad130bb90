//! What an experiment hands back: words, tables and pictures in reading order.
//!
//! Saved, each table is three files and each picture two; shown, all of it is one Markdown section that refers to them.

use std::path::{Path, PathBuf};

use crate::figure::{Figure, FigureError, Panels, Saved};
use crate::table::{Table, TableError};

/// Why a report could not be made or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A picture could not be drawn or written.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// A table could not be filled or written.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// A picture with one pair of axes or several.
#[derive(Clone, Debug)]
pub enum Picture {
    /// One pair of axes.
    Figure(Box<Figure>),
    /// A grid of them.
    Panels(Panels),
}

impl Picture {
    fn save(&self, dir: &Path, stem: &str) -> Result<Saved, FigureError> {
        match self {
            Self::Figure(figure) => figure.save(dir, stem),
            Self::Panels(panels) => panels.save(dir, stem),
        }
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

#[derive(Clone, Debug)]
enum Block {
    Words(String),
    Table { stem: String, caption: String, table: Table },
    Picture { stem: String, caption: String, picture: Picture },
}

/// The result of one experiment.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    blocks: Vec<Block>,
}

impl Report {
    /// A report without content.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// A paragraph, or several, of Markdown.
    pub fn words(&mut self, words: impl Into<String>) {
        self.blocks.push(Block::Words(words.into()));
    }

    /// A table that will be saved under `stem`.
    pub fn table(&mut self, stem: impl Into<String>, caption: impl Into<String>, table: Table) {
        self.blocks.push(Block::Table { stem: stem.into(), caption: caption.into(), table });
    }

    /// A picture that will be saved under `stem`.
    pub fn picture(&mut self, stem: impl Into<String>, caption: impl Into<String>, picture: impl Into<Picture>) {
        self.blocks.push(Block::Picture { stem: stem.into(), caption: caption.into(), picture: picture.into() });
    }

    /// The table of this stem.
    #[must_use]
    pub fn find_table(&self, stem: &str) -> Option<&Table> {
        self.blocks.iter().find_map(|block| match block {
            Block::Table { stem: own, table, .. } if own == stem => Some(table),
            _ => None,
        })
    }

    /// Writes every table (Markdown, CSV, text) and picture (SVG, PNG) into `dir` and gives the files' paths.
    ///
    /// # Errors
    /// [`ReportError`] of the first that cannot be drawn or written; those before it are written.
    pub fn save(&self, dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
        let mut files = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Words(_) => {}
                Block::Table { stem, table, .. } => {
                    table.save(dir, stem)?;
                    files.extend(["md", "csv", "txt"].map(|ending| dir.join(format!("{stem}.{ending}"))));
                }
                Block::Picture { stem, picture, .. } => {
                    let Saved { svg, png } = picture.save(dir, stem)?;
                    files.extend([svg, png]);
                }
            }
        }
        Ok(files)
    }

    /// A Markdown section with everything in it; pictures by their names, as [`Report::save`] gives them.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n", self.title);
        for block in &self.blocks {
            text.push('\n');
            match block {
                Block::Words(words) => text += &format!("{}\n", words.trim_end()),
                Block::Table { caption, table, .. } => text += &format!("**{caption}**\n\n{}", table.markdown()),
                Block::Picture { stem, caption, .. } => text += &format!("![{caption}]({stem}.png)\n\n*{caption}*\n"),
            }
        }
        text
    }
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
        assert_eq!(files.len(), 5);
        assert!(files.iter().all(|file| file.is_file()));
        let text = report.markdown();
        assert!(text.starts_with("## Sizes\n\nSmall ones.\n\n**Sizes of dictionaries**\n\n|"), "{text}");
        assert!(text.ends_with("![How they grow](growth.png)\n\n*How they grow*\n"), "{text}");
        assert!(report.find_table("sizes").is_some() && report.find_table("growth").is_none());
    }
}
