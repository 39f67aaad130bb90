//! The files that arguments name: themselves, by patterns, or as those of a folder.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Component, Path, PathBuf};

use glob::MatchOptions;
use mercer_readers::StoredObject;

use crate::data::source::refuse_address;
use crate::report::failure::Failure;
use crate::report::output::FileKey;

/// As shells have it: `*` stays in a folder, and hidden files are not meant.
const AS_SHELLS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// The files that arguments name. A pattern (`*`, `?`, `[a-z]`, `**` for any folders) is replaced
/// by what it matches, a folder by the files in it and its folders that belong here, in the order
/// of names; in folders, and behind `**`, names that begin with `_` are notes of engines.
pub(crate) fn expand(arguments: &[PathBuf], belongs: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        refuse_address(argument)?;
        let is_stored = StoredObject::is_address(argument);
        // On the web a question mark begins a query, which is refused when it is opened.
        let wild: &[char] = if text.starts_with("http") && is_stored { &['*'] } else { &['*', '?', '['] };
        if argument.is_dir() || is_stored && text.ends_with('/') {
            let found = within(argument, is_stored, &belongs)?;
            if found.is_empty() {
                return Err(Failure::because(format!("{text}: is a folder without a file to read")));
            }
            paths.extend(found);
        } else if text.contains(wild) && !argument.exists() {
            let found = if is_stored { matching_stored(&text)? } else { named(&text, &belongs)? };
            if found.is_empty() {
                return Err(Failure::because(format!("{text}: no file is named so")));
            }
            paths.extend(found);
        } else if text.contains('{') && text.contains(',') && !argument.exists() {
            return Err(Failure::because(format!(
                "{text}: there is no such file; braces are no pattern here, but to most shells, which want them without quotes"
            )));
        } else {
            paths.push(argument.clone());
        }
    }
    if let Some((before, path)) = repeated(&paths, FileKey::of) {
        let also = if before == path { String::new() } else { format!(" (also as {})", before.display()) };
        return Err(Failure::usage(format!("{}: is given twice{also}; give each file once", path.display())));
    }
    Ok(paths)
}

/// The files of a folder, and of its folders, that belong here.
fn within(folder: &Path, is_stored: bool, belongs: &impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let text = folder.to_string_lossy();
    let all = format!("{}/**/*", glob::Pattern::escape(text.trim_end_matches('/')));
    let mut found = if is_stored { listed(&text)? } else { matching(&all)? };
    let is_file = |path: &Path| is_stored || path.is_file();
    found.retain(|path| is_file(path) && belongs(path) && !is_noted(path.strip_prefix(folder).unwrap_or(path)));
    Ok(found)
}

/// Whether a folder's notes are meant, or what is hidden in it: engines keep there what is not
/// finished, which holds rows of other files again.
fn is_noted(path: &Path) -> bool {
    path.iter().any(|part| part.to_string_lossy().starts_with(['_', '.']) && part != "." && part != "..")
}

/// The files that a pattern names: those that it matches, and those of the folders that it matches.
fn named(pattern: &str, belongs: &impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let deep = pattern.contains("**");
    // What `**` alone matches are folders.
    let all = if pattern.ends_with("**") { format!("{pattern}/*") } else { pattern.to_owned() };
    let is_fixed = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let fixed: PathBuf = Path::new(pattern).components().take_while(is_fixed).collect();
    let behind = |path: &Path| path.strip_prefix(&fixed).unwrap_or(path).to_owned();
    let speaks_of_notes = is_noted(&behind(Path::new(pattern)));
    let mut files = Vec::new();
    for path in matching(&all)? {
        let is_folder = path.is_dir();
        match is_noted(&behind(&path)) && !speaks_of_notes {
            true if deep || is_folder || !belongs(&path) => {}
            _ if !is_folder => files.push(path),
            // Behind `**` the files of a folder are matched themselves.
            _ if deep => {}
            _ => files.extend(within(&path, false, belongs)?),
        }
    }
    if pattern.ends_with("**") {
        files.retain(|path| belongs(path));
    }
    Ok(files)
}

/// The first path that is one of those before it, or has the key of one.
fn repeated<K: Eq + Hash>(paths: &[PathBuf], key: impl Fn(&Path) -> Option<K>) -> Option<(&Path, &Path)> {
    let (mut names, mut keys) = (HashMap::new(), HashMap::new());
    paths.iter().map(PathBuf::as_path).find_map(|path| {
        let before = names.insert(path, path);
        let before = before.or_else(|| keys.insert(key(path)?, path));
        before.map(|before| (before, path))
    })
}

/// The objects below an address, in the order of names.
fn listed(address: &str) -> Result<Vec<PathBuf>, Failure> {
    StoredObject::list(address).map_err(|error| Failure::because(format!("{address}: cannot be listed ({error})")))
}

/// Those below the folders without a star that a pattern matches.
fn matching_stored(address: &str) -> Result<Vec<PathBuf>, Failure> {
    let pattern = glob::Pattern::new(address).map_err(|error| no_pattern(address, &error))?;
    let fixed = address.split(['*', '?', '[']).next().unwrap_or(address);
    let all = listed(&fixed[..fixed.rfind('/').map_or(0, |end| end + 1)])?;
    Ok(all.into_iter().filter(|path| pattern.matches_with(&path.to_string_lossy(), AS_SHELLS)).collect())
}

fn no_pattern(pattern: &str, error: &glob::PatternError) -> Failure {
    Failure::usage(format!("{pattern}: is no pattern ({error})"))
}

/// What a pattern matches, in the order of names.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = glob::glob_with(pattern, AS_SHELLS).map_err(|error| no_pattern(pattern, &error))?;
    found
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::because(format!("{}: cannot be listed ({})", error.path().display(), error.error())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_path_is_looked_at_once_however_many_there_are() {
        let paths: Vec<PathBuf> = (0..100_000).map(|part| format!("part-{part}.csv").into()).collect();
        let looked = Cell::new(0_u32);
        let key = |path: &Path| {
            looked.set(looked.get() + 1);
            path.to_str().map(str::to_owned)
        };
        assert!(repeated(&paths, key).is_none());
        assert_eq!(looked.get(), 100_000);
    }

    #[test]
    fn a_file_of_two_names_is_met_again() {
        let paths = ["a.csv", "b.csv", "./a.csv", "none"].map(PathBuf::from);
        let key = |path: &Path| path.file_name().filter(|name| *name != "none").map(std::ffi::OsStr::to_owned);
        assert_eq!(repeated(&paths, key), Some((Path::new("a.csv"), Path::new("./a.csv"))));
        // What is no file is repeated by its name alone.
        let twice = ["none", "other/none", "none"].map(PathBuf::from);
        assert_eq!(repeated(&twice, key), Some((Path::new("none"), Path::new("none"))));
        assert_eq!(repeated(&twice[..2], key), None);
    }
}
