//! Display of a file's text in messages: on one line, and not too long.

use std::fmt;

/// Text from a file, cut to a length that leaves the message readable.
pub(super) struct Cut<'a>(pub(super) &'a str);

/// Number of characters of a value that a message shows.
const SHOWN: usize = 40;

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().take(SHOWN) {
            // In double quotes an apostrophe is itself.
            if c == '\'' { write!(f, "{c}")? } else { write!(f, "{}", c.escape_debug())? }
        }
        if self.0.chars().nth(SHOWN).is_some() { write!(f, "…") } else { Ok(()) }
    }
}

/// The same in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Cut(self.0))
    }
}

/// Names in quotes, cut after a dozen.
pub(super) struct NameList<'a>(pub(super) &'a [String]);

impl fmt::Display for NameList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LISTED: usize = 12;
        for (position, name) in self.0.iter().take(LISTED).enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{}", Quoted(name))?;
        }
        if self.0.len() > LISTED { write!(f, ", …") } else { Ok(()) }
    }
}

/// A list of columns, by name where there are names.
pub(super) struct ColumnList<'a>(pub(super) usize, pub(super) Option<&'a [String]>);

impl fmt::Display for ColumnList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(names) = self.1 else {
            return write!(f, "{} columns without names, counted from 1", self.0);
        };
        write!(f, "{} columns, counted from 1: {}{}", self.0, NameList(names), remedy_of_commas(names))
    }
}

/// How a name with a comma is told, behind a list of names with such a one: a comma stands between
/// two names otherwise.
#[must_use]
pub fn remedy_of_commas(names: &[String]) -> String {
    let name = names.iter().find(|name| name.contains(','));
    name.map_or(String::new(), |name| {
        format!("; a name with a comma is told in quotes, '\"{}\"', or by its number", Cut(name))
    })
}

pub(super) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// A file's name as messages show it: control characters escaped, so that a message stays one line.
pub fn shown_path(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    if text.chars().any(char::is_control) { text.escape_debug().to_string() } else { text }
}
