//! `mercer inspect DATA`: what the columns of a table are, and what `mercer eval` does with each.

use mercer::datasets::Registry;
use mercer::encoding::{EncodingError, EncodingOptions, Look, Overrides, Transform, Use};
use mercer::readers::{Cell, ColumnChoice, DataError, ReadOptions, Record, RecordReader, TargetColumn};
use serde_json::Value;

use super::super::FIRST_ROWS;
use super::super::dialect;
use super::super::encoded;
use super::super::failure::Failure;
use super::super::input::refuse_for_named;
use super::super::source::Source;
use super::super::store;
use super::{Facts, InspectArguments, told};

/// Rows that decide what the columns are: as many as for `mercer eval`.
const HEAD: u64 = FIRST_ROWS as u64;

/// What was seen of a table.
struct Head {
    look: Look,
    /// Columns that are targets, and kinds that are told.
    overrides: Overrides,
    /// Rows that cannot be read, and why the first cannot.
    bad: u64,
    first_bad: Option<String>,
    /// Whether there are no more rows.
    whole: bool,
}

/// What is to be said of the data that the arguments name; nothing if they name what can only be a model file.
pub(super) fn facts(arguments: &InspectArguments) -> Result<Option<Facts>, Failure> {
    let InspectArguments { file, target, kinds, dialect, .. } = arguments;
    let given = dialect.given().or(target.as_ref().map(|_| "--target")).or(kinds.first().map(|_| "--as"));
    let shown = file.display();
    if store::is_model(file) {
        return match given {
            None => Ok(None),
            Some(option) => {
                Err(Failure::usage(format!("{shown}: {option} is for data, and this is a model file; leave it out")))
            }
        };
    }
    let source = Source::of(file)?;
    let overrides = encoded::overrides(kinds, &source)?;
    let head = match source {
        Source::Named(name) => {
            refuse_for_named(name, target.is_some(), dialect, &[], false)?;
            of_named(name)?
        }
        Source::File(_) if dialect.told(file, ReadOptions::default()).format.is_none() => return Ok(None),
        Source::File(_) | Source::StandardInput => of_file(arguments, &source.to_string(), overrides)?,
    };
    let refused = |error: EncodingError| Failure::because(format!("{source}: {error}"));
    tell(head).map(Some).map_err(refused)
}

/// The first rows of a file, or of standard input.
fn of_file(arguments: &InspectArguments, shown: &str, overrides: Overrides) -> Result<Head, Failure> {
    let InspectArguments { file, target, dialect, .. } = arguments;
    let plain = ReadOptions { later_keys: true, ..ReadOptions::default() };
    let mut reader = RecordReader::open(file, &dialect.told(file, plain)).map_err(refused)?;
    dialect::tell_doubt(reader.doubt());
    let width = reader.columns().len();
    let look = if reader.is_named() { Look::new(reader.columns()) } else { Ok(Look::unnamed(width)) };
    let encoding = |error: EncodingError| Failure::because(format!("{shown}: {error}"));
    let mut head = Head {
        look: look.map_err(encoding)?,
        overrides: overrides.aside(aside(target.as_ref(), width)),
        bad: 0,
        first_bad: None,
        whole: false,
    };
    let mut record = Record::new();
    loop {
        let read = reader.next_record(&mut record);
        dialect::tell_remark(reader.take_remark());
        match read {
            Ok(false) => head.whole = true,
            Ok(true) if head.look.rows() + head.bad < HEAD => {
                head.look.observe(&record).map_err(encoding)?;
                continue;
            }
            Err(error) if error.concerns_one_row() && head.look.rows() + head.bad < HEAD => {
                head.bad += 1;
                head.first_bad.get_or_insert_with(|| error.to_string());
                continue;
            }
            Err(error) if !error.concerns_one_row() => return Err(refused(error)),
            Ok(true) | Err(_) => {}
        }
        return Ok(head);
    }
}

/// What was wrong with a file, without ways to mend it that this command does not have.
fn refused(error: DataError) -> Failure {
    match error {
        DataError::DimensionUnknown { file } => Failure::usage(format!(
            "{file}: a libsvm stream tells its number of features only at its end; give a file instead"
        )),
        error => error.into(),
    }
}

/// The first rows of a data set with a name.
fn of_named(name: &str) -> Result<Head, Failure> {
    let table = Registry::load()?.open(name)?;
    let targets = if table.classes().is_some() { 1 } else { table.outputs() };
    let width = table.dimension() + targets;
    let names: Vec<String> =
        [table.feature_names(), table.target_names()].into_iter().flatten().flatten().cloned().collect();
    let refused = |error: EncodingError| Failure::because(format!("{name}: {error}"));
    let mut look = if names.len() == width { Look::new(&names).map_err(refused)? } else { Look::unnamed(width) };
    let rows = table.len().min(HEAD as usize);
    for row in 0..rows {
        let mut record: Record = table.row(row).iter().map(|&value| Cell::Number(value)).collect();
        match table.label(row) {
            Some(label) => record.push(Cell::Text(label)),
            None => table.targets_of(row).iter().for_each(|&value| record.push(Cell::Number(value))),
        }
        look.observe(&record).map_err(refused)?;
    }
    let overrides = Overrides::default().aside((table.dimension() + 1..=width).map(|number| format!("#{number}")));
    Ok(Head { look, overrides, bad: 0, first_bad: None, whole: rows == table.len() })
}

/// The targets, as [`Overrides`] name columns.
fn aside(target: Option<&TargetColumn>, width: usize) -> Vec<String> {
    let choice = |choice: &ColumnChoice| match choice {
        ColumnChoice::Name(name) => name.clone(),
        ColumnChoice::Index(number) => format!("#{number}"),
    };
    match target {
        // A single column is no target, since there would be nothing to predict it from.
        None | Some(TargetColumn::Last) if width > 1 => vec![format!("#{width}")],
        None | Some(TargetColumn::Last | TargetColumn::None) => Vec::new(),
        Some(TargetColumn::Name(name)) => vec![name.clone()],
        Some(TargetColumn::Index(number)) => vec![format!("#{number}")],
        Some(TargetColumn::Several(choices)) => choices.iter().map(choice).collect(),
    }
}

fn tell(head: Head) -> Result<Facts, EncodingError> {
    let Head { look, overrides, bad, first_bad, whole } = head;
    let mut notes: Vec<String> = first_bad.into_iter().collect();
    let schema = match look.clone().finish(&overrides) {
        // The columns are told nevertheless.
        Err(EncodingError::NothingLeft) => look.finish(&Overrides::default())?,
        schema => schema?,
    };
    let transform = match Transform::new(&schema, EncodingOptions::default()) {
        Ok(transform) => Some(transform),
        Err(error) => {
            notes.push(error.to_string());
            None
        }
    };
    let columns = schema.columns().iter().enumerate().map(|(place, column)| {
        let treatment = transform.as_ref().and_then(|transform| transform.treatment(place));
        let target = (column.used == Use::SetAside).then(|| "the target".to_owned());
        told(column, treatment.or(target))
    });
    let columns: Vec<Value> = columns.collect();
    Ok(Facts(vec![
        ("kind", "data".into()),
        ("rows_looked_at", schema.rows().into()),
        ("all_rows", whole.into()),
        ("bad_rows", bad.into()),
        ("columns", columns.into()),
        ("needs_encoding", transform.as_ref().map(|transform| !transform.is_identity()).into()),
        ("inputs", transform.as_ref().map(Transform::dimension).into()),
        ("notes", notes.into()),
    ]))
}
