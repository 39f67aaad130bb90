//! The files that arguments name: themselves, by patterns, or as those of a folder.

use std::path::{Path, PathBuf};

use glob::MatchOptions;

use crate::data::source::refuse_address;
use crate::report::failure::Failure;
use crate::report::output::same_file;

/// As shells have it: `*` stays in a folder, and hidden files are not meant.
const AS_SHELLS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that arguments name. A pattern (`*`, `?`, `[a-z]`, `**` for any folders) is replaced
/// by what it matches, a folder by the files in it and its folders that belong here, in the order
/// of names; in folders, names that begin with `_` are notes of engines.
pub(crate) fn expand(arguments: &[PathBuf], belongs: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        refuse_address(argument)?;
        if argument.is_dir() {
            let all = format!("{}/**/*", glob::Pattern::escape(text.trim_end_matches('/')));
            let is_noted = |path: &Path| {
                let within = path.strip_prefix(argument).unwrap_or(path);
                within.iter().any(|part| part.to_string_lossy().starts_with('_'))
            };
            let found = matching(&all)?.into_iter().filter(|path| path.is_file() && belongs(path) && !is_noted(path));
            let found: Vec<PathBuf> = found.collect();
            if found.is_empty() {
                return Err(Failure::because(format!("{text}: is a folder without a file to read")));
            }
            paths.extend(found);
        } else if text.contains(['*', '?']) && !argument.exists() {
            let found = matching(&text)?;
            if found.is_empty() {
                return Err(Failure::because(format!("{text}: no file is named so")));
            }
            paths.extend(found);
        } else {
            paths.push(argument.clone());
        }
    }
    for (i, path) in paths.iter().enumerate() {
        let same = |before: &&PathBuf| *before == path || same_file(before, path);
        if let Some(before) = paths[..i].iter().find(same) {
            let also = if before == path { String::new() } else { format!(" (also as {})", before.display()) };
            return Err(Failure::usage(format!("{}: is given twice{also}; give each file once", path.display())));
        }
    }
    Ok(paths)
}

/// What a pattern matches, in the order of names.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |why: String| Failure::usage(format!("{pattern}: {why}"));
    let found = glob::glob_with(pattern, AS_SHELLS).map_err(|error| wrong(format!("is no pattern ({error})")))?;
    found
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::because(format!("{}: cannot be listed ({})", error.path().display(), error.error())))
}
