//! What programs in texts have in common.

/// A number that every reader of doubles reads back as the same.
pub(crate) fn double(number: f64) -> String {
    format!("{number:?}")
}

/// Numbers with commas between.
pub(crate) fn doubles(numbers: &[f64]) -> String {
    listed(numbers.iter().map(|number| double(*number)))
}

/// Texts with commas between.
pub(crate) fn listed(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(", ")
}
