//! The ranges of the columns of a whole file, by which `--scale paper01` and `paper11` scale a
//! table the columns of which are encoded.
//!
//! Numbers, and years of times, go to [−1, 1] by the ranges; numbers that stand for categories,
//! cyclic parts and gaps are within it anyway. Targets go to [0, 1] or [−1, 1].

use mercer_core::ValueRange;
use mercer_encoding::{
    Encoding, EncodingError, EncodingOptions, Kind as ColumnKind, Notation, Scale, Schema, TargetScale, Use,
};
use mercer_readers::{Cell, Record, Scheme};
use mercer_session::Row;

use crate::arguments::task::Kind;

/// A column, how its cells are read, and their range.
#[derive(Clone, Debug)]
struct Seen {
    name: String,
    is_time: bool,
    notation: Notation,
    range: ValueRange,
}

/// The ranges of a table, and where they go.
#[derive(Clone, Debug)]
pub(crate) struct TableRanges {
    scheme: Scheme,
    encoded: bool,
    columns: Vec<Seen>,
    targets: Vec<ValueRange>,
}

impl TableRanges {
    /// No row yet, of a table with that schema.
    pub(crate) fn of_schema(schema: &Schema, kind: Kind, scheme: Scheme) -> Self {
        let columns = schema.columns().iter().map(|column| Seen {
            name: column.name.clone(),
            is_time: column.kind == ColumnKind::Time,
            notation: column.notation.clone(),
            range: ValueRange::NOTHING,
        });
        Self { scheme, encoded: true, columns: columns.collect(), targets: unseen(kind) }
    }

    /// No row yet, of a complete table of numbers.
    pub(crate) fn of_numbers(features: &[String], kind: Kind, scheme: Scheme) -> Self {
        let column = |name: &String| Seen {
            name: name.clone(),
            is_time: false,
            notation: Notation::Plain,
            range: ValueRange::NOTHING,
        };
        let columns = features.iter().map(column);
        Self { scheme, encoded: false, columns: columns.collect(), targets: unseen(kind) }
    }

    /// Whether the table that they are of is encoded. Then so is every table that is scaled by
    /// them.
    pub(crate) fn are_encoded(&self) -> bool {
        self.encoded
    }

    /// Takes in a row of the table: its record, or its numbers where it has none.
    pub(crate) fn observe(&mut self, sample: &Row) {
        let Row { example, record } = sample;
        for (place, Seen { is_time, notation, range, .. }) in self.columns.iter_mut().enumerate() {
            let cell = match example.features.get(place) {
                Some(number) => Cell::Number(*number),
                None if place < record.len() => record.cell(place),
                None => Cell::Missing,
            };
            let value = if *is_time { notation.instant(cell) } else { notation.number(cell) };
            value.iter().for_each(|value| range.observe(*value));
        }
        for (range, target) in self.targets.iter_mut().zip(&example.targets) {
            range.observe(*target);
        }
    }

    /// The encoding of a table with that schema, which has learnt the first rows.
    pub(crate) fn encoding(
        &self,
        mut schema: Schema,
        options: EncodingOptions,
        head: &[Record],
    ) -> Result<Encoding, EncodingError> {
        for place in 0..schema.columns().len() {
            let column = &schema.columns()[place];
            // What has no range is a category, or nothing.
            let (true, Some(_)) = (matches!(column.used, Use::Encoded | Use::SetAside), column.range) else { continue };
            match self.columns.iter().find(|seen| seen.name == column.name).map(|seen| seen.range.ends()) {
                Some(Some((low, high))) => _ = schema.set_range(place, low, high),
                None if column.used == Use::Encoded => {
                    let known: Vec<String> = self.columns.iter().map(|seen| format!("{:?}", seen.name)).collect();
                    return Err(EncodingError::NoColumn { name: column.name.clone(), known: known.join(", ") });
                }
                Some(_) | None => {}
            }
        }
        let scale = if self.scheme == Scheme::PAPER01 { Scale::Paper01 } else { Scale::Paper11 };
        let mut encoding = Encoding::new(schema, options.scale(scale))?;
        encoding.learn_head(head)?;
        Ok(encoding)
    }

    /// How targets are scaled; nothing for classes.
    pub(crate) fn targets(&self) -> Result<Vec<TargetScale>, EncodingError> {
        let scale = |range: &ValueRange| {
            let (low, high) = range.ends().unwrap_or_default();
            if self.scheme == Scheme::PAPER01 {
                TargetScale::unit(low, high)
            } else {
                TargetScale::symmetric(low, high)
            }
        };
        self.targets.iter().map(scale).collect()
    }
}

/// The targets before the first row; classes are not scaled.
fn unseen(kind: Kind) -> Vec<ValueRange> {
    match kind {
        Kind::Numbers(outputs) => vec![ValueRange::NOTHING; outputs],
        Kind::Class(_) => Vec::new(),
    }
}
