//! What a table is, by its first rows.

use std::collections::HashSet;

use mercer_core::TokenUse;
use mercer_encoding::{Column, Encoding, EncodingError, Face, Kind as ColumnKind, Overrides, Scale, Schema, Use};
use mercer_readers::{Cell, ColumnChoice, DataError, Format, ReadOptions, Record, RowReader, Targets};
use mercer_session::Row;

use super::records::{TargetPlace, is_marked};
use super::{
    EncodedRows, Head, LabelColumns, Looking, RunningEncoding, TargetColumns, check_target, kind, targets,
    with_notation,
};
use crate::arguments::dialect;
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::source::no_column;
use crate::report::failure::Failure;

/// What is found in the first rows of a table.
pub(super) struct TableHead {
    pub(super) encoding: Encoding,
    beside: TargetColumns,
    /// The places of the columns that name groups and ids.
    group: Option<usize>,
    label_id: Option<usize>,
}

/// What a table is, by its first rows.
pub(super) enum TableKind {
    /// Its columns are to be encoded.
    Encoded(Box<TableHead>),
    /// They are read as numbers as they are; with what they are, if all can be read so.
    Numbers(Option<Schema>),
}

/// The places of the columns that are no features.
struct RoleColumns {
    targets: Vec<usize>,
    weight: Option<usize>,
    ignored: Vec<usize>,
    group: Option<usize>,
    label_id: Option<usize>,
}

impl RoleColumns {
    /// `None` if the targets, the weight or an ignored column are not there: whoever reads numbers
    /// tells why.
    fn find(
        shown: &str,
        records: &RowReader,
        options: &ReadOptions,
        looking: &Looking,
    ) -> Result<Option<Self>, Failure> {
        let (width, names) = (records.columns().len(), records.feature_names());
        let Some(targets) = targets(&options.target, width, names) else { return Ok(None) };
        let weight = options.weight.as_ref().map(|choice| choice.place(width, names));
        if weight.is_some_and(|place| place.is_none_or(|place| targets.contains(&place))) {
            return Ok(None);
        }
        let weight = weight.flatten();
        let ignored: Option<Vec<usize>> = options.ignore.iter().map(|choice| choice.place(width, names)).collect();
        let Some(ignored) = ignored else { return Ok(None) };
        let place = |role: Option<&ColumnChoice>, option: &str| {
            let Some(choice) = role else { return Ok(None) };
            let place = choice.place(width, names);
            let place = place.ok_or_else(|| no_column(shown, option, choice, records.columns()))?;
            if targets.contains(&place) || weight == Some(place) {
                return Err(Failure::usage(format!(
                    "{shown}: {option} is the target or the weight; give another column"
                )));
            }
            Ok(Some(place))
        };
        let group = place(looking.group.as_ref(), "--group")?;
        let label_id = place(looking.label_id.as_ref(), "--label-id")?;
        Ok(Some(Self { targets, weight, ignored, group, label_id }))
    }

    /// True if no cell of a row but a target, a weight or an ignored one is anything but a number.
    fn are_beside_numbers(&self, row: &Record) -> bool {
        let unused: HashSet<&usize> = self.targets.iter().chain(&self.weight).chain(&self.ignored).collect();
        (0..row.len()).filter(|column| !unused.contains(column)).all(|column| row.cell(column).number().is_some())
    }

    /// What the user says of columns, and what these are.
    fn overrides(&self, looking: &Looking, records: &RowReader) -> Overrides {
        let number = |place: &usize| format!("#{}", place + 1);
        let aside = self.targets.iter().chain(&self.weight).chain(&self.group).chain(&self.label_id);
        let told = looking.overrides.clone().aside(aside.map(number));
        told.ignore(self.ignored.iter().map(number)).marks(dialect::number_marks(records))
    }
}

impl TableHead {
    pub(super) fn over(self, shown: String, records: RowReader) -> EncodedRows {
        let Self { encoding, beside, group, label_id } = self;
        let (record, sample) = (Record::new(), Row::default());
        let moving = RunningEncoding::new(encoding, beside.kind);
        EncodedRows { shown, records, record, map: None, moving, beside, group, label_id, odd: None, sample }
    }

    pub(super) fn in_head(
        shown: &str,
        mut records: RowReader,
        options: &ReadOptions,
        looking: &Looking,
        wanted: TaskOptions,
    ) -> Result<TableKind, Failure> {
        let Some(roles) = RoleColumns::find(shown, &records, options, looking)? else {
            return Ok(TableKind::Numbers(None));
        };
        // Whoever reads numbers tells what cannot be read.
        let joins = roles.label_id.map(|id| LabelColumns { id, targets: roles.targets.clone() });
        let head = match Head::of(&mut records, joins.as_ref(), |first| {
            looking.at_once && looking.overrides.zone.is_none() && roles.are_beside_numbers(first)
        }) {
            Err(error @ DataError::Container(_)) => return Err(error.into()),
            head => head.ok().flatten(),
        };
        // Where most rows cannot be read, the first one is no measure for them.
        let Some(head) = head.filter(|head| head.bad <= head.rows.len()) else {
            return Ok(TableKind::Numbers(None));
        };
        let overrides = roles.overrides(looking, &records);
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
        if let (Some(twice), false) = (&head.twice, looking.overrides.kinds.is_empty()) {
            return Err(refused(twice.clone()));
        }
        let mut schema = match head.look.finish(&overrides) {
            // Whoever reads numbers tells that there are none.
            Err(EncodingError::NothingLeft) => return Ok(TableKind::Numbers(None)),
            Err(error) => return Err(refused(error)),
            Ok(schema) => schema,
        };
        if let ([target], Targets::Auto, false) = (&roles.targets[..], wanted.targets(), wanted.is_told()) {
            schema.doubt_codes(*target);
        }
        let targets = with_notation(roles.targets.clone(), schema.columns(), Some);
        if let ([(target, _)], Targets::Auto) = (&targets[..], wanted.targets()) {
            check_target(&schema.columns()[*target], schema.rows(), wanted, shown)?;
        }
        let acts = roles.group.is_some()
            || roles.label_id.is_some()
            || targets.iter().any(is_marked)
            || is_encoded(&schema, &head.rows, options, looking);
        if !acts && looking.options.scale == Scale::None {
            return Ok(TableKind::Numbers(Some(schema)));
        }
        if let Some(twice) = head.twice {
            return Err(refused(twice));
        }
        let Some(kind) = kind(&head.rows, &targets, wanted) else { return Ok(TableKind::Numbers(None)) };
        let encoding = encoding(schema, (kind, &targets), &overrides, looking, &head.rows).map_err(refused)?;
        let RoleColumns { weight, group, label_id, .. } = roles;
        let beside = TargetColumns { targets, weight, kind, may_lack: label_id.is_some() };
        Ok(TableKind::Encoded(Self { encoding, beside, group, label_id }.into()))
    }
}

/// The encoding of a schema, with what it learns of the first rows.
fn encoding(
    mut schema: Schema,
    (kind, targets): (Kind, &[TargetPlace]),
    overrides: &Overrides,
    looking: &Looking,
    rows: &[Record],
) -> Result<Encoding, EncodingError> {
    if looking.options.tokens != TokenUse::Never {
        schema.take_words(overrides);
    }
    if looking.running && has_means(kind, targets, &schema) {
        schema.take_means(overrides, looking.options.categories);
    }
    let mut encoding = Encoding::new(schema, looking.options)?;
    encoding.learn_head(rows)?;
    Ok(encoding)
}

/// True if the columns beside the target are not read as numbers as they are.
fn is_encoded(schema: &Schema, rows: &[Record], options: &ReadOptions, looking: &Looking) -> bool {
    let types = !matches!(options.format, Some(Format::Csv | Format::Tsv));
    !looking.overrides.kinds.is_empty()
        || are_texts(schema, rows, types)
        || schema.needs_encoding() && !(looking.skips && are_numbers(schema, rows))
}

/// True if some numbers are texts to the reader: in digits of other scripts and programs, or, where
/// the format has `types`, in quotes.
fn are_texts(schema: &Schema, rows: &[Record], types: bool) -> bool {
    let is_text = |column: &Column, cell: Cell<'_>| {
        let Cell::Text(text) = cell else { return false };
        match text.parse::<f64>() {
            Ok(number) => types && number.is_finite(),
            Err(_) => column.notation.is_plain() && column.notation.number(cell).is_some(),
        }
    };
    let columns = schema.columns().iter().enumerate();
    let mut numbers = columns.filter(|(_, column)| column.kind == ColumnKind::Number && column.used != Use::Unwanted);
    numbers.any(|(place, column)| rows.iter().any(|row| is_text(column, row.cell(place))))
}

/// Whether the columns beside the target hold numbers for the most part, where they have values.
fn are_numbers(schema: &Schema, rows: &[Record]) -> bool {
    let is_other = |column: &Column| matches!(column.used, Use::SetAside | Use::Unwanted | Use::Late);
    schema.columns().iter().enumerate().filter(|(_, column)| !is_other(column)).all(|(place, _)| {
        let cells = || rows.iter().map(|row| row.cell(place)).filter(|cell| *cell != Cell::Missing);
        let numbers = cells().filter(|cell| cell.number().is_some()).count();
        2 * numbers > cells().count()
    })
}

/// Whether the targets are such that the means of one are a measure of a row: numbers, or two
/// classes.
pub(crate) fn has_means(kind: Kind, targets: &[TargetPlace], schema: &Schema) -> bool {
    let [(target, _)] = targets else { return false };
    !kind.is_class() || schema.columns()[*target].distinct == 2
}
