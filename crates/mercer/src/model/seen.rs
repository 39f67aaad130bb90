//! By what the rows of a run are known again when it is resumed.

/// Rows that were met, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How many.
    pub rows: u64,
    /// A CRC-32 of all their numbers.
    pub fingerprint: u32,
}

impl Seen {
    /// The same with one row more, which is told in two parts: features and target, a row and nothing, a state and its successor.
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
}
