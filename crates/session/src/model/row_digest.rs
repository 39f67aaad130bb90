//! By what the rows of a run are known again when it is resumed.

use mercer_encoding::{Cell, Cells, parse_truth};
use serde::{Deserialize, Serialize};

/// Rows that were met, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowDigest {
    /// How many.
    pub rows: u64,
    /// A CRC-32 of all their numbers.
    pub fingerprint: u32,
}

impl RowDigest {
    /// The same with one row more, which is told in two parts: features and target, a row and
    /// nothing, a state and its successor.
    #[must_use]
    pub fn after(self, row: [&[f64]; 2]) -> Self {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.fingerprint);
        let mut bytes = [0; 128];
        for values in row.into_iter().flat_map(|part| part.chunks(16)) {
            for (bytes, value) in bytes.chunks_exact_mut(8).zip(values) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
            hasher.update(&bytes[..8 * values.len()]);
        }
        Self { rows: self.rows + 1, fingerprint: hasher.finalize() }
    }

    /// The same with one row of a table more: all its cells, and beside them the numbers of its
    /// target and its weight.
    #[must_use]
    pub fn after_cells(self, record: &(impl Cells + ?Sized), numbers: &[f64]) -> Self {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.fingerprint);
        for column in 0..record.width() {
            // A text ends with its length, so that two cells are not taken for others.
            match record.cell(column) {
                Cell::Missing => hasher.update(&[0]),
                // The same row counts as the same in every format.
                Cell::Number(value) | Cell::Numeral(value, _) => hasher.update(&tagged(1, value.to_le_bytes())),
                Cell::Integer(value) => hasher.update(&tagged(1, (value as f64).to_le_bytes())),
                Cell::Truth(truth) => hasher.update(&[4, u8::from(truth)]),
                Cell::TimeOfDay(value) => hasher.update(&tagged(5, value.to_le_bytes())),
                Cell::Duration(value) => hasher.update(&tagged(6, value.to_le_bytes())),
                Cell::Instant(value) | Cell::LocalTime(value) => hasher.update(&tagged(2, value.to_le_bytes())),
                Cell::List(list) => {
                    hasher.update(list.text().as_bytes());
                    hasher.update(&tagged(7, (list.text().len() as u64).to_le_bytes()));
                }
                Cell::Text(text) if let Some(truth) = parse_truth(text) => hasher.update(&[4, u8::from(truth)]),
                Cell::Text(text) => {
                    hasher.update(text.as_bytes());
                    hasher.update(&tagged(3, (text.len() as u64).to_le_bytes()));
                }
            }
        }
        Self { rows: self.rows, fingerprint: hasher.finalize() }.after([numbers, &[]])
    }
}

fn tagged(tag: u8, value: [u8; 8]) -> [u8; 9] {
    let mut bytes = [tag; 9];
    bytes[1..].copy_from_slice(&value);
    bytes
}
