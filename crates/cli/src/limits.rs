//! The number of rows that are looked at first.

/// Rows that rules may look at before the first is learnt, and numbers that these have at most.
pub(crate) const FIRST_ROWS: usize = 256;
pub(crate) const FIRST_NUMBERS: usize = 1 << 21;

/// The number of first rows for so many columns: of wide rows there are fewer, so that they fit
/// into the memory.
pub(crate) fn first_rows(columns: usize) -> usize {
    FIRST_ROWS.min(FIRST_NUMBERS / columns.max(1)).max(2)
}
