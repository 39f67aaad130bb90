//! What stands above the first record of a delimited text: the separator, and comments.

use crate::cells::Cells;
use crate::dialect::Separator;
use crate::error::{DataError, DialectError};
use crate::header::lossy;
use crate::lines::Lines;
use crate::separator::is_value;

/// What stands above the first record.
pub(crate) struct Beginning {
    /// The separator, where the first line tells it.
    pub(crate) hint: Option<Separator>,
    pub(crate) comment: Option<Comment>,
}

/// Comments above the first record, the last of them.
pub(crate) struct Comment(String);

/// Goes to the first record that is no comment and no hint.
pub(crate) fn to_first_record(lines: &mut Lines) -> Result<Beginning, DataError> {
    let mut beginning = Beginning { hint: None, comment: None };
    while lines.advance()? {
        if beginning.hint.is_none() && beginning.comment.is_none() {
            beginning.hint = hint(lines)?;
            if beginning.hint.is_some() {
                continue;
            }
        }
        if !lines.text().starts_with(b"#") {
            return Ok(beginning);
        }
        beginning.comment = Some(Comment(lossy(lines.text())));
    }
    let file = lines.file().to_owned();
    Err(if beginning.comment.is_some() {
        DialectError::OnlyComments { file }.into()
    } else {
        DataError::Empty { file }
    })
}

/// The separator that a line such as `sep=;` tells, as spreadsheets write it.
fn hint(lines: &Lines) -> Result<Option<Separator>, DataError> {
    let text = String::from_utf8_lossy(lines.text());
    let told = text.trim_matches('"');
    let told = told.get(..4).filter(|key| key.eq_ignore_ascii_case("sep=")).map(|_| &told[4..]);
    let Some(symbol) = told.and_then(|told| told.chars().next()) else { return Ok(None) };
    let alone = told.is_some_and(|told| told.chars().all(|other| other == symbol));
    if !alone || symbol.is_alphanumeric() {
        return Ok(None);
    }
    match symbol.to_string().parse() {
        Ok(separator) => Ok(Some(separator)),
        Err(_) => Err(DialectError::UnknownHint { line: lines.line(), text: text.into_owned() }.into()),
    }
}

impl Comment {
    /// The names that it holds for the columns of a first record, if it is a header behind a `#`.
    pub(crate) fn names(&self, separator: Separator, first: &Cells) -> Option<Vec<String>> {
        if first.len() < 2 || !first.iter().any(|cell| is_value(cell) && !cell.trim_ascii().is_empty()) {
            return None;
        }
        let text = self.0.trim_start_matches('#').trim_start();
        let mut names = Cells::default();
        let texts = names.whole(text.as_bytes(), separator) && names.iter().all(|cell| !is_value(cell));
        (texts && names.len() == first.len()).then(|| names.iter().map(lossy).collect())
    }
}
