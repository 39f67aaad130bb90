//! The ranges of the columns of a whole file, by which `--scale paper01` and `paper11` scale a
//! table the columns of which are encoded.
//!
//! Numbers, and years of times, go to [−1, 1] by the ranges; numbers that stand for categories,
//! cyclic parts and gaps are within it anyway. Targets go to [0, 1] or [−1, 1].

use mercer::encoding::{
    Encoding, EncodingError, EncodingOptions, Kind as ColumnKind, Scale, Schema, TargetScale, Use, parse_instant,
};
use mercer::readers::{Cell, Record, Scheme};

use super::Sample;
use crate::cli::task::Kind;

/// The smallest and the largest value of a column, if there was any.
type Range = Option<(f64, f64)>;

/// The ranges of a table, and where they go.
#[derive(Clone, Debug)]
pub(crate) struct TableRanges {
    scheme: Scheme,
    encoded: bool,
    columns: Vec<(String, ColumnKind, Range)>,
    targets: Vec<Range>,
}

impl TableRanges {
    /// No row yet, of a table with that schema.
    pub(crate) fn of_schema(schema: &Schema, kind: Kind, scheme: Scheme) -> Self {
        let columns = schema.columns().iter().map(|column| (column.name.clone(), column.kind, None));
        Self { scheme, encoded: true, columns: columns.collect(), targets: unseen(kind) }
    }

    /// No row yet, of a complete table of numbers.
    pub(crate) fn of_numbers(features: &[String], kind: Kind, scheme: Scheme) -> Self {
        let columns = features.iter().map(|name| (name.clone(), ColumnKind::Number, None));
        Self { scheme, encoded: false, columns: columns.collect(), targets: unseen(kind) }
    }

    /// Whether the table that they are of is encoded. Then so is every table that is scaled by
    /// them.
    pub(crate) fn are_encoded(&self) -> bool {
        self.encoded
    }

    /// Takes in a row of the table: its record, or its numbers where it has none.
    pub(crate) fn observe(&mut self, sample: &Sample) {
        let Sample { example, record } = sample;
        for (place, (_, kind, range)) in self.columns.iter_mut().enumerate() {
            let cell = match example.features.get(place) {
                Some(number) => Cell::Number(*number),
                None if place < record.len() => record.cell(place),
                None => Cell::Missing,
            };
            match (*kind, cell) {
                (ColumnKind::Time, Cell::Instant(value)) => widen(range, value),
                (ColumnKind::Time, Cell::Text(text)) => parse_instant(text).iter().for_each(|at| widen(range, *at)),
                (ColumnKind::Time, _) => {}
                (_, cell) => cell.number().iter().for_each(|number| widen(range, *number)),
            }
        }
        for (range, target) in self.targets.iter_mut().zip(&example.targets) {
            widen(range, *target);
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
            match self.columns.iter().find(|(name, _, _)| *name == column.name) {
                Some((_, _, Some((low, high)))) => _ = schema.set_range(place, *low, *high),
                None if column.used == Use::Encoded => {
                    let known: Vec<String> = self.columns.iter().map(|(name, _, _)| format!("{name:?}")).collect();
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
        let scale = |range: &Range| {
            let (low, high) = range.unwrap_or_default();
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
fn unseen(kind: Kind) -> Vec<Range> {
    match kind {
        Kind::Numbers(outputs) => vec![None; outputs],
        Kind::Class(_) => Vec::new(),
    }
}

fn widen(range: &mut Range, value: f64) {
    *range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
}
