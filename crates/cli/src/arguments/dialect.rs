//! Options for the form of DATA, where it is not detected.

use std::path::Path;

use clap::Args;
use mercer_encoding::NumberMarks;
use mercer_readers::{Decimal, Format, Header, Marks, ReadOptions, RowReader, Separator, Thousands};
use mercer_session::model::{GAPS, Own};
use serde_json::Value;

use crate::report::verbosity;

/// Options that every command that reads DATA has.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Dialect {
    /// csv, tsv, ndjson (json), libsvm, parquet, arrow, fixed or xlsx; without it the file's name
    /// tells, standard input needs it
    ///
    /// csv has commas, semicolons, tabs, bars or blanks between its cells: its first rows tell.
    /// Each format of text may be compressed by gzip or zstd.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Separator of the cells in a csv or tsv file: comma, semicolon, tab, bar, spaces, or the
    /// character itself, as in ~, :: or \\x1f [default: the first rows tell]
    #[arg(short = 'd', long, value_name = "SEPARATOR")]
    separator: Option<Separator>,
    /// Mark before the fraction of a number in a csv or tsv file: point or comma [default: the
    /// first number that can be read in one way alone tells]
    #[arg(long, value_name = "MARK")]
    decimal: Option<Decimal>,
    /// Mark between the thousands of a number in a csv or tsv file: point, comma, blank, apostrophe
    /// or none [default: what cannot be mistaken, which is said on stderr]
    #[arg(long, value_name = "MARK")]
    thousands: Option<Thousands>,
    /// Names in the first row of a csv or tsv file: yes, no, or auto, which looks and tells on
    /// stderr what it took if in doubt [default: auto]
    #[arg(long, value_name = "WHEN")]
    header: Option<Header>,
    /// A value that stands for none, such as -999 or unknown, in every column; may be given several
    /// times
    ///
    /// Empty cells, NA, NaN, null, None, - and the like are gaps without being told. A model
    /// remembers what was told when it was trained.
    #[arg(long = "gap", value_name = "TEXT", allow_hyphen_values = true)]
    gaps: Vec<String>,
    /// Keep rows that sum up others (Total, Subtotal, Summe), which are left out otherwise
    #[arg(long)]
    keep_totals: bool,
}

impl Dialect {
    /// The options with what is told here; `path` is the file that they are for.
    pub(crate) fn told(&self, path: &Path, options: ReadOptions) -> ReadOptions {
        let Self { format, separator, decimal, thousands, header, gaps, keep_totals } = self;
        let format = format.or_else(|| Format::from_path(path));
        let (separator, decimal, thousands) = (*separator, *decimal, *thousands);
        let (gaps, leave_totals) = (gaps.clone(), !keep_totals);
        let header = header.unwrap_or_default();
        ReadOptions { format, separator, decimal, thousands, header, gaps, leave_totals, ..options }
    }

    /// The values that stand for none.
    pub(crate) fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// The same with more of them.
    pub(crate) fn with_gaps(mut self, more: Vec<String>) -> Self {
        self.gaps.extend(more);
        self
    }

    /// The same for another file than DATA, whose own name goes before the format that is told of
    /// DATA.
    pub(crate) fn beside(self, path: &Path) -> Self {
        Self { format: Format::from_path(path).or(self.format), ..self }
    }

    /// The first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let Self { format, separator, decimal, thousands, header, gaps, keep_totals } = self;
        let given = [
            ("--format", format.is_some()),
            ("--separator", separator.is_some()),
            ("--decimal", decimal.is_some()),
            ("--thousands", thousands.is_some()),
            ("--header", header.is_some()),
            ("--gap", !gaps.is_empty()),
            ("--keep-totals", *keep_totals),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

/// The entry in which a model keeps the values that stand for none.
pub(crate) fn kept_gaps(gaps: &[String]) -> Own {
    if gaps.is_empty() { Own::new() } else { vec![(GAPS.to_owned(), Value::from(gaps).to_string())] }
}

/// The values that stand for none in the data of a model.
pub(crate) fn known_gaps(own: &Own) -> Vec<String> {
    let kept = own.iter().find(|(key, _)| key == GAPS);
    kept.and_then(|(_, text)| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The marks that are told, or that a file has shown so far, for the numbers of its columns that
/// have something around them.
pub(crate) fn number_marks(reader: &RowReader) -> NumberMarks {
    let Marks { decimal, thousands } = reader.marks();
    let decimal = decimal.map(|mark| match mark {
        Decimal::Point => '.',
        Decimal::Comma => ',',
    });
    let group = thousands.map(|mark| match mark {
        Thousands::Point => Some('.'),
        Thousands::Comma => Some(','),
        Thousands::Blank => Some(' '),
        Thousands::Apostrophe => Some('\''),
        Thousands::Nothing => None,
    });
    NumberMarks { decimal, group }
}

/// Tells a person what was taken where the file leaves a doubt.
pub(crate) fn tell_doubt(doubt: Option<&str>) {
    if let Some(doubt) = doubt {
        verbosity::remark(doubt);
    }
}

/// Tells a person what was found in a file; once, however often that is read.
pub(crate) fn tell_remarks(reader: &mut RowReader) {
    while let Some(remark) = reader.take_remark() {
        // Lines that are left out are told though there are to be no remarks.
        let tell = if remark.leaves_out() { verbosity::say_once } else { verbosity::once };
        tell(remark.to_string());
    }
}
