//! `--only`: the columns that are features, told instead of those that are not.

use mercer::readers::{ColumnChoice, Header, ReadOptions, TargetColumn};

use super::failure::Failure;
use super::opening::Opening;

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
    let place = |choice: &ColumnChoice| match choice {
        ColumnChoice::Index(number) => (1..=columns.len()).contains(number).then(|| number - 1),
        ColumnChoice::Name(name) if reader.is_named() => columns.iter().position(|column| column == name),
        ColumnChoice::Name(_) => None,
    };
    let mut kept = Vec::new();
    for choice in only {
        kept.push(place(choice).ok_or_else(|| {
            let columns: Vec<String> = columns.iter().map(|column| format!("{column:?}")).collect();
            Failure::because(format!(
                "{shown}: --only {choice}: there is no such column; the columns are {}",
                columns.join(", ")
            ))
        })?);
    }
    let mut beside: Vec<ColumnChoice> = options.weight.iter().cloned().collect();
    match &options.target {
        TargetColumn::Last => kept.extend(columns.len().checked_sub(1)),
        TargetColumn::None => {}
        TargetColumn::Name(name) => beside.push(ColumnChoice::Name(name.clone())),
        TargetColumn::Index(number) => beside.push(ColumnChoice::Index(*number)),
        TargetColumn::Several(choices) => beside.extend(choices.iter().cloned()),
    }
    kept.extend(beside.iter().filter_map(place));
    let ignored =
        (0..columns.len()).filter(|column| !kept.contains(column)).map(|column| ColumnChoice::Index(column + 1));
    Ok(ReadOptions { header, ignore: options.ignore.iter().cloned().chain(ignored).collect(), ..options.clone() })
}
