//! Rows that sum up those above them, as spreadsheets have them at the end of a table.

use mercer_core::Cell;

use crate::record::Record;

/// Names of such rows.
const WORDS: [&str; 24] = [
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sub-total",
    "sum",
    "sums",
    "summe",
    "zwischensumme",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "somme",
    "total général",
    "sous-total",
    "totale",
    "suma",
    "total general",
    "totaal",
    "итого",
    "всего",
    "合计",
    "合計",
    "总计",
];

/// The first cell of a record that calls it a sum, with its text.
pub(crate) fn find(record: &Record) -> Option<(usize, &str)> {
    let mut cells = record.cells().enumerate();
    cells.find_map(|(place, cell)| match cell {
        Cell::Text(text) if is_word(text) => Some((place, text)),
        _ => None,
    })
}

fn is_word(text: &str) -> bool {
    let text = text.trim_end_matches([':', ' ']);
    WORDS.iter().any(|word| text.len() == word.len() && text.chars().flat_map(char::to_lowercase).eq(word.chars()))
}
