//! `--only`: the columns that are features, told instead of those that are not.

use mercer_readers::{ColumnChoice, Header, ReadOptions, TargetColumn};

use crate::data::opening::Opening;
use crate::data::source::no_column;
use crate::report::failure::Failure;

/// The options with all columns ignored but these, the targets and the weight.
pub(crate) fn applied(opening: &Opening, options: &ReadOptions, only: &[ColumnChoice]) -> Result<ReadOptions, Failure> {
    if only.is_empty() {
        return Ok(options.clone());
    }
    // Naming a column says that there is a header.
    let named = only.iter().any(|choice| matches!(choice, ColumnChoice::Name(_)));
    let header = if named && options.header == Header::Detect { Header::Present } else { options.header };
    let reader = opening.records(&ReadOptions { header, ignore: Vec::new(), ..options.clone() })?;
    let shown = opening.shown();
    let columns = reader.columns();
    let names = reader.is_named().then_some(columns);
    let place = |choice: &ColumnChoice| choice.place(columns.len(), names);
    let mut kept = Vec::new();
    for choice in only {
        kept.push(place(choice).ok_or_else(|| no_column(shown, "--only", choice, columns))?);
    }
    let mut beside: Vec<ColumnChoice> = options.weight.iter().cloned().collect();
    match &options.target {
        TargetColumn::Last => kept.extend(columns.len().checked_sub(1)),
        TargetColumn::None => {}
        TargetColumn::Several(choices) => beside.extend(choices.iter().cloned()),
        one => beside.extend(one.choice()),
    }
    kept.extend(beside.iter().filter_map(place));
    // Whoever reads the target refuses a name that is there twice.
    let called: Vec<String> = beside.iter().map(ColumnChoice::text).collect();
    kept.extend((0..columns.len()).filter(|column| called.contains(&columns[*column])));
    let ignored =
        (0..columns.len()).filter(|column| !kept.contains(column)).map(|column| ColumnChoice::Index(column + 1));
    Ok(ReadOptions { header, ignore: options.ignore.iter().cloned().chain(ignored).collect(), ..options.clone() })
}
