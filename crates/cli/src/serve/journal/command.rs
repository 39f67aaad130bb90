//! `mercer journal`: what is in the journal of a service, whole or damaged.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mercer_serve::{Row, Value};
use serde_json::{Value as Json, json};

use super::file::no_journal;
use super::frames::{self, Rest, RowFrame};
use crate::report::failure::Failure;
use crate::report::output;
use crate::report::verbosity;

/// See what is in the journal of mercer serve, or print its rows, also of one that is damaged
///
/// The file is only read. A service that starts with its journal learns these rows by itself; only
/// a journal that is refused, since it is damaged or of another model, needs these commands.
#[derive(Args)]
pub(crate) struct JournalCommand {
    #[command(subcommand)]
    what: JournalAsked,
}

#[derive(Subcommand)]
enum JournalAsked {
    /// Print a line for each request: where it stands, and which rows of the model it holds
    List(JournalPlace),
    /// Print each row that can be read as a line of JSON, which POST /learn takes
    ///
    /// Rows that the model has met already are left out with --from.
    Rescue {
        #[command(flatten)]
        place: JournalPlace,
        /// Begin behind so many rows of the model, as mercer inspect tells them
        #[arg(long, value_name = "ROWS", default_value_t = 0)]
        from: u64,
    },
}

#[derive(Args)]
struct JournalPlace {
    /// The journal
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// All frames that can be read, and the places of the first bytes that cannot.
struct Readable {
    frames: Vec<RowFrame>,
    marks: Vec<u64>,
    damaged: Vec<usize>,
}

pub(crate) fn run(arguments: &JournalCommand) -> Result<(), Failure> {
    match &arguments.what {
        JournalAsked::List(place) => {
            let found = read(&place.file)?;
            output::print(&list(&found))
        }
        JournalAsked::Rescue { place, from } => {
            let found = read(&place.file)?;
            let rows = rows(&found.frames, *from);
            output::print(&text(&rows))?;
            let frames = found.frames.iter().map(|frame| frame.rows.len()).sum::<usize>();
            verbosity::remark(format!(
                "{}: {frames} rows can be read, and {} were printed",
                place.file.display(),
                rows.len()
            ));
            for at in found.damaged {
                verbosity::say(format!("{}: is damaged or cut off at byte {at}", place.file.display()));
            }
            Ok(())
        }
    }
}

fn read(path: &Path) -> Result<Readable, Failure> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::because(format!("{}: cannot be read ({error})", path.display())))?;
    let contents = frames::read(&bytes).map_err(|why| no_journal(path, &why))?;
    let mut found = Readable {
        marks: contents.marks.into_iter().flatten().map(|place| place.met).collect(),
        frames: contents.frames,
        damaged: Vec::new(),
    };
    if contents.rest != Rest::Nothing {
        found.damaged.push(contents.end);
        found.frames.extend(frames::behind(&bytes, contents.end));
    }
    Ok(found)
}

fn list(found: &Readable) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for met in &found.marks {
        let _ = writeln!(text, "a save began behind row {met}");
    }
    let mut damaged = found.damaged.iter().peekable();
    for RowFrame { at, place, rows } in &found.frames {
        while let Some(place) = damaged.next_if(|place| *place < at) {
            let _ = writeln!(text, "byte {place}: damaged");
        }
        let last = place.met + rows.len() as u64;
        let _ = writeln!(text, "byte {at}: rows {} to {last}", place.met + 1);
    }
    damaged.for_each(|place| _ = writeln!(text, "byte {place}: damaged or cut off"));
    text
}

/// The rows that were learnt behind so many: of a frame those before the next.
fn rows(frames: &[RowFrame], from: u64) -> Vec<&Row> {
    let mut found = Vec::new();
    for (frame, next) in frames.iter().zip(frames.iter().skip(1).map(Some).chain([None])) {
        let end = next.map_or(u64::MAX, |next| next.place.met);
        let learnt = frame.rows.iter().zip(frame.place.met..end).filter(|(_, at)| *at >= from);
        found.extend(learnt.map(|(row, _)| row));
    }
    found
}

/// Bodies of POST /learn. Rows have a weight where one of them is not 1.
fn text(rows: &[&Row]) -> String {
    let weighted = rows.iter().any(|row| row.weight != 1.0);
    let line = |row: &&Row| {
        let weight = Value::Number(row.weight);
        let cells = row.values.iter().chain(&row.targets).chain(weighted.then_some(&weight));
        json!({ "row": cells.map(cell).collect::<Vec<_>>() }).to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

fn cell(value: &Value) -> Json {
    match value {
        Value::Missing => Json::Null,
        Value::Number(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::Truth(truth) => json!(truth),
        Value::List(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}
