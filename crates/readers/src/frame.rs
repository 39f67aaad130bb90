//! Frames around the cells of a table as terminals print it, which are taken away line by line.

/// Takes the lines and bars that psql, MySQL, DuckDB, sqlite and Markdown draw away from a line;
/// false if nothing is left of it. Bars separate the cells.
pub(crate) fn undo(line: &mut Vec<u8>) -> bool {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if is_rule(text) || is_count(text) {
        line.clear();
        return false;
    }
    let bars = text.replace(['│', '┃', '║'], "|");
    let inner = bars.strip_prefix('|').unwrap_or(&bars);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    *line = format!("{inner}\n").into_bytes();
    true
}

pub(crate) fn has_bar(line: &str) -> bool {
    line.contains(['|', '│', '┃', '║'])
}

/// True for a character of the box drawings of Unicode.
pub(crate) fn is_drawn(c: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&c)
}

/// True for a line of dashes, with marks where columns meet.
pub(crate) fn is_rule(line: &str) -> bool {
    let is_dash = |c: char| matches!(c, '-' | '=' | '─' | '━' | '═');
    let alone = line.chars().all(|c| is_dash(c) || is_drawn(c) || matches!(c, '+' | '|' | ':' | ' '));
    let runs = line.split(|c| !is_dash(c)).filter(|run| !run.is_empty());
    // Few dashes may be gaps.
    alone && runs.clone().next().is_some() && runs.clone().all(|run| run.chars().count() > 2)
}

/// True for the line behind a table that counts its rows: `(300 rows)`, `300 rows in set`.
fn is_count(line: &str) -> bool {
    let Some((number, rest)) = line.trim_start_matches('(').split_once(' ') else { return false };
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with("row")
}
