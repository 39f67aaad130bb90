//! Columns of later files that the first lacks: they are left out, which a person should know.

use std::path::Path;

use mercer_readers::{ReadOptions, RowReader};

use crate::data::source::Source;
use crate::report::verbosity;

/// The names of all columns of a file that are not ignored; none where there are no names, or it
/// cannot be read, which is told elsewhere.
fn names(path: &Path, options: &ReadOptions) -> Vec<String> {
    let reader = match Source::resolve(path) {
        Ok(Source::File(path)) => RowReader::records(path, options).ok(),
        _ => None,
    };
    reader.and_then(|reader| reader.feature_names().map(<[String]>::to_vec)).unwrap_or_default()
}

/// Tells which columns of other files are left out because the first has none of their names.
pub(super) fn tell(first: &Path, others: &[impl AsRef<Path>], options: impl Fn(&Path) -> ReadOptions) {
    let known = names(first, &options(first));
    if known.is_empty() {
        return;
    }
    let (mut told, mut files) = (None, 0);
    for path in others.iter().map(AsRef::as_ref) {
        let mut found = names(path, &options(path));
        found.retain(|name| !known.contains(name));
        if !found.is_empty() {
            files += 1;
            told.get_or_insert((path, found));
        }
    }
    let Some((path, found)) = told else { return };
    let more = if files > 1 { format!(" (so have {} more files)", files - 1) } else { String::new() };
    verbosity::remark(format!(
        "{}: has columns that {} lacks, and they are left out: {}{more}",
        path.display(),
        first.display(),
        found.join(", ")
    ));
}
