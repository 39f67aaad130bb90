//! Sums as plain tables: a column each for the moment, the names of its factors and the value, as
//! any engine adds them up.

use std::fs::File;
use std::path::Path;

use mercer_readers::{Cell, Decimal, Format, Header, ReadOptions, Record, RowReader};
use mercer_session::model::{Moments, PartSource, SumTerm, digest_of};

#[cfg(feature = "arrow")]
use crate::model::cells::AnswerValue;
#[cfg(feature = "arrow")]
use crate::report::columnar::{ColumnarFormat, ColumnarRows};
use crate::report::failure::Failure;
use crate::report::output::Aside;
use crate::report::verbosity;

/// The columns of a table of sums.
const COLUMNS: [&str; 4] = ["moment", "a", "b", "value"];

/// How the names of such files end, as they are written.
pub(super) const ENDING: &str = "parquet";

/// Times that a sum about 0 may be larger than that about the mean before it is told: of 16 digits
/// ten are left then.
const FAR: f64 = 1e6;

/// Tables have a header, of which cells may come again below, and numbers as programs write
/// them.
fn options() -> ReadOptions {
    ReadOptions { header: Header::Present, decimal: Some(Decimal::Point), ..ReadOptions::default() }
}

/// Whether a file's name tells a table.
pub(super) fn is_table(path: &Path) -> bool {
    Format::from_path(path).is_some()
}

/// The sums of a table as those of a state of the same fit, known again by the table's name and
/// contents.
pub(super) fn read(path: &Path, like: &Moments) -> Result<Moments, Failure> {
    let shown = path.display();
    let mut reader = RowReader::records(path, &options())?;
    let place = |name: &str| {
        reader.columns().iter().position(|column| column == name).ok_or_else(|| {
            let columns = COLUMNS.join(", ");
            Failure::because(format!("{shown}: has no column {name:?}; a table of sums has the columns {columns}"))
        })
    };
    let places = [place("moment")?, place("a")?, place("b")?, place("value")?];
    let (mut record, mut terms) = (Record::new(), Vec::new());
    while reader.next_record(&mut record)? {
        let text = |cell: Cell<'_>| match cell {
            Cell::Missing => String::new(),
            Cell::Text(text) | Cell::Numeral(_, text) => text.to_owned(),
            other => other.to_string(),
        };
        let [moment, a, b] = [0, 1, 2].map(|column: usize| text(record.cell(places[column])));
        let Some(value) = record.cell(places[3]).number() else {
            let line = terms.len() + 1;
            return Err(Failure::because(format!("{shown}, row {line}: the value is not a number")));
        };
        terms.push(SumTerm { moment, a, b, value });
    }
    let refused = |error: String| Failure::because(format!("{shown}: {error}"));
    let mut state = like.with_sum_terms(terms).map_err(|error| refused(error.to_string()))?;
    let counts_one = like.description.weight.is_none() && like.sums.weight() == like.sums.count();
    if counts_one && state.sums.weight() != state.sums.count() {
        return Err(refused(format!(
            "has {} rows and a weight of {}, and the file of --like has no weights; give sums without weights, or a file that was fitted with --weight",
            state.sums.count(),
            state.sums.weight()
        )));
    }
    let rows = state.sums.count().max(0.0).round() as u64;
    let unread = |error: std::io::Error| refused(format!("cannot be read ({error})"));
    let digest = digest_of(File::open(path).map_err(unread)?).map_err(unread)?;
    let name = path.canonicalize().map_err(unread)?.display().to_string();
    let closed = state.close((0, 1), rows, vec![PartSource::new(name, digest, 0..rows.max(1))]);
    closed.map_err(|error| refused(error.to_string()))?;
    Ok(state)
}

/// Refuses a place where something else than a table of sums would be lost.
pub(super) fn check_place(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let is_empty = path.metadata().is_ok_and(|about| about.len() == 0);
    if path.exists() && !is_empty {
        let columns = RowReader::records(path, &options());
        if !columns.is_ok_and(|reader| reader.columns() == COLUMNS) {
            return Err(Failure::because(format!(
                "{}: is there already and is no table of sums; give another --out, or remove it first",
                path.display()
            )));
        }
    }
    Aside::create_for("--out", path, inputs, "").map(drop)
}

/// Writes the sums of a state as a table.
pub(super) fn write(path: &Path, state: &Moments) -> Result<(), Failure> {
    let terms = state.sum_terms().map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
    let far = state.sums.sums().magnified();
    let far = far.iter().enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other)).filter(|(_, far)| **far > FAR);
    if let Some((column, times)) = far {
        let name = state.description.features.get(column).cloned().unwrap_or_else(|| format!("x{}", column + 1));
        verbosity::remark(format!(
            "{}: column {name:?} lies so far from 0 that its sums lose {:.0} of 16 digits; sum up with --scale standard --scale-from FILE, \
             or merge states as they are",
            path.display(),
            times.log10()
        ));
    }
    let mut file = Aside::create_again("--out", path)?;
    file.write_bytes(&bytes(&terms)?)?;
    file.finish_durably().map(drop)
}

#[cfg(feature = "arrow")]
fn bytes(terms: &[SumTerm]) -> Result<Vec<u8>, Failure> {
    let columns = COLUMNS.map(|name| (name.to_owned(), name != "value"));
    let mut rows = ColumnarRows::new(ColumnarFormat::Parquet, &columns)?;
    for SumTerm { moment, a, b, value } in terms {
        let names = [moment, a, b].map(|name| Some(AnswerValue::Name(name)));
        let [moment, a, b] = names;
        rows.push(&[moment, a, b, Some(AnswerValue::Number(*value))])?;
    }
    rows.finish()
}

#[cfg(not(feature = "arrow"))]
fn bytes(_: &[SumTerm]) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage(
        "this program was built without Parquet, in which sums are written; give --out a name in .mercer",
    ))
}
