//! Options of a reader: format, target column, header, dimension.

use crate::choice::{ColumnChoice, TargetColumn};
use crate::dialect::{Decimal, Marks, Separator, Thousands, named};
use crate::format::Format;

named!(
    Header: Detect = "auto", Present = "yes", Absent = "no";
    "does not say whether there is a header; say yes, no or auto"
);

/// Treatment of a cell without a value: an empty one, NaN, a JSON `null` or an absent key.
///
/// A blank line is no row, with one exception: in a CSV or TSV table of one column and no target, a
/// blank line between two rows is a row whose cell is empty. Blank lines before the first row and
/// behind the last are none; write `NaN` or `""` there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Missing {
    /// It is refused with its place: the table is complete.
    #[default]
    Refuse,
    /// It is read as NaN, in features and targets alike, for whoever knows what to do about it.
    /// Infinities are still refused, as are the absent keys of a first row, which nothing
    /// announces.
    Nan,
}

/// Role of the first row of a CSV or TSV file: names or values.
///
/// Lines that begin with `#` are comments, unless they have as many cells as the table has columns,
/// which must be two or more. Behind a row that begins so, only a line of one cell is a comment. A
/// line that has as many, stands straight above a first row with numbers and is text alone holds
/// the names of the columns, except under `Absent`.
///
/// [`RowReader::records`](crate::RowReader::records), whose cells may hold anything, looks at up to
/// eight records more under `Detect`: a name is a text above values that are not text. Without one
/// a first record of text alone is a header, unless one of its cells is there again in its column;
/// any other first record is data. Where that is in doubt, the reader's `doubt` says so.
///
/// Names may be numbers. A first record of several years in order, alone or beside text, is a
/// header unless the numbers of a record below are years, too; whole numbers that rise
/// evenly are one above records that all have fractions. The reader's `doubt` says so.
///
/// `Detect` looks at the first row alone otherwise: it is a header if it has text and no number,
/// data if it has no text (an empty cell or `nan` is not text: it is refused as data, with its
/// place). A row with both is refused rather than guessed, since guessing either swallows a spoilt
/// row of data or refuses a good header: name every column, mend the cell, or say which it is.
/// Asking for the target by a name that stands in the first row says it too.
///
/// A target that may be a label ([`Targets`]) is text in rows of data as well. If the first row has
/// numbers, and text for the label alone, the lines behind it are looked at, as for
/// [`Targets::Auto`]: the row is data if its label is there again, a header if the target is always
/// a number there, and refused otherwise.
///
/// A record that repeats the header is refused as
/// [`RepeatedHeader`](crate::DataError::RepeatedHeader). A record straight below it that has words
/// above numbers and no number, as units are, is refused as [`Units`](crate::DataError::Units).
///
/// A first line `sep=;`, as spreadsheets write it, tells the separator and is no row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Header {
    /// Look at the first row.
    #[default]
    Detect,
    /// The first row is a header.
    Present,
    /// The first row is data.
    Absent,
}

/// Reading of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Targets {
    /// As a number: anything else is refused.
    #[default]
    Numbers,
    /// As a label: any text or number, of one target. The text is made [canonical](crate::Labels);
    /// an empty cell is refused. The labels of LIBSVM are numbers.
    Labels,
    /// As a label if the first rows hold a target that is no number, and otherwise as a number.
    /// Several targets are numbers.
    ///
    /// Up to 256 lines, or one megabyte, are read ahead, so that a stream has to bring that many,
    /// or its end, before the reader opens.
    /// [`RowReader::target_head`](crate::RowReader::target_head) says what they held. A target that
    /// is no number and comes after them is refused with its place.
    Auto,
}

/// Options to read a file. The default reads what the file's name tells, target last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReadOptions {
    /// The format; `None` is what the name tells. Standard input has no name, so it needs one.
    pub format: Option<Format>,
    /// The target column. LIBSVM fixes its own, so there it must be `Last`.
    pub target: TargetColumn,
    /// Columns that are neither features nor the target; what their cells hold is not looked at.
    /// The target that is [`Last`](TargetColumn::Last) is the last of the others.
    pub ignore: Vec<ColumnChoice>,
    /// Columns that stay in records and are not looked at: their cells have no value.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unread: Vec<ColumnChoice>,
    /// The features by name, in this order, wherever they stand; columns that are neither among
    /// them nor the target are not looked at. A file without names, or an empty list, has all its
    /// columns as features. An NDJSON file then says nothing of its columns.
    pub features: Vec<String>,
    /// Names that columns may have: a first record that holds one of them is a header. They choose
    /// no columns.
    pub known: Vec<String>,
    /// Columns that a person speaks of: the name of one in a first record makes it a header, unless
    /// it is a number that may tell the place of a column.
    #[cfg_attr(feature = "serde", serde(default))]
    pub mentioned: Vec<ColumnChoice>,
    /// True if later rows of JSON objects may have keys that the first lacks: the names in `known`;
    /// or without any, the keys of up to 256 lines, or one megabyte, that are read ahead, so that a
    /// stream has to bring that many, or its end, before the reader opens. Such keys stand before
    /// the last key of the first row.
    #[cfg_attr(feature = "serde", serde(default))]
    pub later_keys: bool,
    /// The target's name in a file whose features are found by name; `target` tells it otherwise.
    pub target_name: Option<String>,
    /// The number of features of rows that are read as features alone: a column more is the target,
    /// which is not looked at.
    pub features_alone: Option<usize>,
    /// Presence of a header in a CSV or TSV file.
    pub header: Header,
    /// Separator between the cells of a CSV or TSV file. `None` is a tab for TSV, and for CSV what
    /// its first record shows, or if that leaves a doubt its first two.
    #[cfg_attr(feature = "serde", serde(default))]
    pub separator: Option<Separator>,
    /// Mark before the fraction of a number in a CSV or TSV file. `None` is what the first number
    /// shows that can be read in one way alone; a later one with the other mark is refused. Where
    /// `1.234` and `1,234` stand alone, they are refused; beside commas as separators the former
    /// has a fraction.
    #[cfg_attr(feature = "serde", serde(default))]
    pub decimal: Option<Decimal>,
    /// Mark between the thousands of a number in a CSV or TSV file. `None` is the one of point and
    /// comma that is not the decimal mark, and blanks and apostrophes in columns that otherwise
    /// hold numbers. `take_remark` of a reader tells when one was found.
    #[cfg_attr(feature = "serde", serde(default))]
    pub thousands: Option<Thousands>,
    /// Marks known from files of the same origin, such as those that a model was trained on. They
    /// settle what a file leaves in doubt.
    #[cfg_attr(feature = "serde", serde(default))]
    pub marks: Marks,
    /// Values that stand for none, in every column, beside those of
    /// [`is_gap_mark`](crate::is_gap_mark): `-999`, `unknown`. A text stands for the number that it
    /// is as well.
    #[cfg_attr(feature = "serde", serde(default))]
    pub gaps: Vec<String>,
    /// True if records that sum up others are left out, and told. Whoever answers each row keeps
    /// them: they are told alone.
    #[cfg_attr(feature = "serde", serde(default))]
    pub leave_totals: bool,
    /// True if a row may lack its target, which is then NaN, or an empty label, whatever `missing`
    /// says of features.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unlabelled: bool,
    /// Treatment of cells without a value. LIBSVM cannot have any: what is absent there is 0.
    pub missing: Missing,
    /// The number of features of a LIBSVM file; `None` is its largest index, found in a first pass.
    /// With 0 a row's pairs are [tokens](crate::Example::tokens), of any index, in one pass. Other
    /// formats ignore it.
    pub libsvm_dimension: Option<usize>,
    /// True if the pairs of a LIBSVM file may be tokens: they are where its first 256 rows have an
    /// index above 1,024 and less than a tenth of the cells up to it, and the number of features is
    /// not told.
    #[cfg_attr(feature = "serde", serde(default))]
    pub libsvm_tokens: bool,
    /// Reading of the target: as a number or as a label.
    #[cfg_attr(feature = "serde", serde(default))]
    pub targets: Targets,
    /// The seed of a random order of the rows, the same as that of
    /// [`permutation`](crate::permutation). They are all read into memory first; those of standard
    /// input, or of another reader, may have 1 GiB of text at most.
    #[cfg_attr(feature = "serde", serde(default))]
    pub permute: Option<u64>,
    /// The column of the weights, which is neither a feature nor the target. A weight is a finite
    /// number of at least 0. LIBSVM has none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub weight: Option<ColumnChoice>,
}

#[cfg(feature = "arrow")]
impl ReadOptions {
    /// True if they name this column.
    pub(crate) fn speaks_of(&self, name: &str) -> bool {
        let targets: &[ColumnChoice] = if let TargetColumn::Several(choices) = &self.target { choices } else { &[] };
        let target = self.target.choice();
        let choices = [&self.ignore, &self.unread, &self.mentioned, targets].into_iter().flatten();
        choices.chain(&self.weight).chain(&target).any(|choice| choice.text() == name)
            || self.features.iter().chain(&self.known).chain(&self.target_name).any(|known| known == name)
    }
}

impl ReadOptions {
    /// The options that concern records, which take no notice of targets and weights.
    pub(crate) fn of_records(&self) -> Self {
        let target = match &self.target {
            TargetColumn::Several(choices) => choices.clone(),
            one => one.choice().into_iter().collect(),
        };
        Self {
            target: TargetColumn::None,
            target_name: None,
            features_alone: None,
            missing: Missing::Nan,
            targets: Targets::Numbers,
            weight: None,
            mentioned: self.mentioned.iter().chain(&self.weight).cloned().chain(target).collect(),
            ..self.clone()
        }
    }
}
