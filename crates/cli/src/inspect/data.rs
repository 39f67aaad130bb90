//! `mercer inspect DATA`: what the columns of a table are, and what `mercer eval` does with each.

use std::collections::BTreeMap;

use mercer_datasets::Registry;
use mercer_encoding::{Column, EncodingError, EncodingOptions, Face, Overrides, Schema, Transform, Use};
use mercer_readers::{ColumnChoice, DataError, ReadOptions, Record, RowReader, TargetColumn};

use super::{InspectArguments, told};
use crate::arguments::common::whole;
use crate::arguments::dialect;
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::encoded_rows::{self, Head, Looking};
use crate::data::reading::{for_files, refuse_for_named};
use crate::data::source::Source;
use crate::model::store;
use crate::report::facts::{Facts, ToldColumn};
use crate::report::failure::Failure;

/// The facts about the data that the arguments name; `None` if they name what can only be a model
/// file.
pub(super) fn facts(arguments: &InspectArguments) -> Result<Option<Facts>, Failure> {
    let InspectArguments { file, target, kinds, ignore, dialect, .. } = arguments;
    let of_files = for_files(target.is_some(), dialect, ignore, false);
    let given = of_files.or(kinds.first().map(|_| "--as"));
    let shown = file.display();
    if store::is_model(file) {
        return match given {
            None => Ok(None),
            Some(option) => {
                Err(Failure::usage(format!("{shown}: {option} is for data, and this is a model file; leave it out")))
            }
        };
    }
    let source = Source::resolve(file)?;
    let overrides = encoded_rows::overrides(kinds, arguments.zone.zone.as_ref(), &source)?;
    let records = match source {
        Source::Named(name) => {
            refuse_for_named(name, of_files)?;
            RowReader::of_table(&Registry::load()?.open(name)?)?
        }
        Source::File(_) if dialect.told(file, ReadOptions::default()).format.is_none() => return Ok(None),
        Source::File(_) | Source::StandardInput => open(arguments, &overrides)?,
    };
    tell(records, arguments, &overrides, &source.to_string()).map(Some)
}

/// The records of a file, or of standard input.
fn open(arguments: &InspectArguments, overrides: &Overrides) -> Result<RowReader, Failure> {
    let InspectArguments { file, target, dialect, .. } = arguments;
    let mut mentioned = Looking { overrides: overrides.clone(), ..Looking::default() }.mentioned();
    mentioned.extend(target.iter().flat_map(|target| match target {
        TargetColumn::Several(choices) => choices.clone(),
        one => one.choice().into_iter().collect(),
    }));
    let unread = whole(&arguments.ignore);
    let plain = ReadOptions { mentioned, unread, later_keys: true, ..ReadOptions::default() };
    let reader = RowReader::records(file, &dialect.told(file, plain)).map_err(refused)?;
    dialect::tell_doubt(reader.doubt());
    Ok(reader)
}

/// The failure for a file that is refused, without ways to mend it that this command does not have.
fn refused(error: DataError) -> Failure {
    match error {
        DataError::DimensionUnknown { file } => Failure::usage(format!(
            "{file}: a libsvm stream tells its number of features only at its end; give a file instead"
        )),
        error => error.into(),
    }
}

/// A column as [`Overrides`] name it.
pub(crate) fn number(choice: &ColumnChoice, width: usize, names: Option<&[String]>) -> String {
    match choice.place(width, names) {
        Some(place) => format!("#{}", place + 1),
        // Whoever looks for it tells that it is not there.
        None => choice.text(),
    }
}

/// The targets, as [`Overrides`] name columns.
pub(crate) fn aside(target: Option<&TargetColumn>, width: usize, names: Option<&[String]>) -> Vec<String> {
    let choice = |choice: &ColumnChoice| number(choice, width, names);
    match target {
        // A single column is no target, since there would be nothing to predict it from.
        None | Some(TargetColumn::Last) if width > 1 => vec![format!("#{width}")],
        None | Some(TargetColumn::Last | TargetColumn::None) => Vec::new(),
        Some(TargetColumn::Several(choices)) => choices.iter().map(choice).collect(),
        Some(one) => one.choice().iter().map(choice).collect(),
    }
}

fn tell(
    mut records: RowReader,
    arguments: &InspectArguments,
    overrides: &Overrides,
    shown: &str,
) -> Result<Facts, Failure> {
    let of_columns = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
    let mut head = look(&mut records, shown)?;
    if let (Some(twice), false) = (&head.twice, overrides.kinds.is_empty()) {
        return Err(of_columns(twice.clone()));
    }
    let ColumnFacts { schema, kind, target } =
        columns(&records, &mut head, arguments, overrides).map_err(of_columns)?;
    let mut notes: Vec<String> = head.first_bad.iter().map(ToString::to_string).collect();
    let transform = match Transform::new(&schema, EncodingOptions::default()) {
        Ok(transform) => Some(transform),
        Err(error) => {
            notes.push(error.to_string());
            None
        }
    };
    match &head.twice {
        Some(twice) if schema.needs_encoding() => return Err(of_columns(twice.clone())),
        Some(twice) => notes.push(twice.to_string()),
        None => {}
    }
    // As whoever learns it would refuse it.
    if let Some(target) = target.map(|target| &schema.columns()[target]) {
        let refused = encoded_rows::check_target(target, schema.rows(), TaskOptions::default(), shown).err();
        notes.extend(refused.map(|failure| failure.to_string()));
    }
    let task = kind.map(|kind| if matches!(kind, Kind::Class(_)) { "class" } else { "regression" });
    let all = || schema.columns().iter().enumerate();
    let is_told =
        |(place, column): &(usize, &Column)| arguments.json || *place < MOST_TOLD || column.used == Use::SetAside;
    let treated = |column| treated(transform.as_ref(), column, schema.rows());
    let columns: Vec<ToldColumn> = all().filter(is_told).map(treated).collect();
    let mut facts = Facts::default();
    facts.tell("kind", "data");
    facts.tell("rows_looked_at", schema.rows());
    facts.tell("all_rows", head.whole);
    facts.tell("bad_rows", head.bad);
    facts.tell("task", task);
    if let Some(why) = kind.and_then(|kind| kind.why(TaskOptions::default())) {
        facts.tell("task_why", why);
    }
    facts.tell_columns(columns);
    let others = all().filter(|column| !is_told(column)).map(|(_, column)| column);
    if let Some(others) = counted(others) {
        facts.tell("more_columns", format!("{others}; --json tells all"));
    }
    facts.tell("needs_encoding", transform.as_ref().map(|transform| !transform.is_identity()));
    facts.tell("features", transform.as_ref().map(Transform::dimension));
    notes.extend(head.whole.then(|| records.left_out()).into_iter().flatten());
    facts.tell("notes", notes);
    Ok(facts)
}

/// A column with what becomes of it.
fn treated(transform: Option<&Transform>, (place, column): (usize, &Column), rows: u64) -> ToldColumn {
    let treatment = transform.and_then(|transform| transform.treatment(place));
    let target = (column.used == Use::SetAside).then(|| "the target".to_owned());
    told(column, treatment.or(target), rows)
}

/// The first rows, of which at least one can be read.
fn look(records: &mut RowReader, shown: &str) -> Result<Head, Failure> {
    // Nothing is enough.
    let head = Head::of(records, None, |_| false).map_err(refused)?;
    let Some(mut head) = head else { return Err(Failure::because(format!("{shown}: has no rows"))) };
    // Of rows that cannot be read nothing is known.
    if let Some(why) = head.first_bad.take_if(|_| head.rows.is_empty()) {
        return Err(refused(why));
    }
    if !head.whole {
        head.whole = match encoded_rows::next(records, &mut Record::new()) {
            Ok(more) => !more,
            Err(error) if error.concerns_one_row() => false,
            Err(error) => return Err(refused(error)),
        };
    }
    Ok(head)
}

/// Columns that are told one by one, unless the answer is for a program.
const MOST_TOLD: usize = 1000;

/// How many columns there are of each kind; `None` without any.
fn counted<'a>(columns: impl Iterator<Item = &'a Column>) -> Option<String> {
    let mut kinds = BTreeMap::new();
    columns.for_each(|column| *kinds.entry(column.kind.to_string()).or_insert(0_usize) += 1);
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} of kind {kind}")).collect();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

/// What the columns of a table are, and what its target is.
struct ColumnFacts {
    schema: Schema,
    kind: Option<Kind>,
    /// The place of the target, if the user names one alone.
    target: Option<usize>,
}

fn columns(
    records: &RowReader,
    head: &mut Head,
    arguments: &InspectArguments,
    overrides: &Overrides,
) -> Result<ColumnFacts, EncodingError> {
    let target = arguments.target.as_ref();
    let (width, names) = (records.columns().len(), records.feature_names());
    let ignored = whole(&arguments.ignore);
    let ignored = ignored.iter().map(|choice| number(choice, width, names));
    let overrides = overrides.clone().aside(aside(target, width, names)).ignore(ignored);
    let overrides = overrides.marks(dialect::number_marks(records));
    let mut schema = head.schema(&overrides)?;
    let targets = encoded_rows::targets(target.unwrap_or(&TargetColumn::Last), width, names).filter(|_| width > 1);
    if let Some([target]) = targets.as_deref() {
        schema.doubt_codes(*target);
    }
    let targets = targets.map(|targets| encoded_rows::with_notation(targets, schema.columns(), Some));
    let kind = targets.as_ref().and_then(|targets| encoded_rows::kind(&head.rows, targets, TaskOptions::default()));
    schema.take_words(&overrides);
    if let (Some(kind), Some(targets)) = (kind, &targets)
        && encoded_rows::has_means(kind, targets, &schema)
    {
        schema.take_means(&overrides, EncodingOptions::default().categories);
    }
    let named = target.and(targets).filter(|targets| targets.len() == 1);
    Ok(ColumnFacts { schema, kind, target: named.map(|targets| targets[0].0) })
}
