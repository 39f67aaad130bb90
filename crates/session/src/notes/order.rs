//! The order of the rows: classes or targets in blocks, and columns that run one way.
//!
//! A learner that sees one row after the other learns the last of them best. Rows that are sorted
//! by their class, their target or a feature then make a model of the last block, and their scores
//! say little of other rows. Two statistics tell such an order, each over all rows, in `O(1)` a
//! column:
//!
//! - **Blocks.** `K` values with shares `p_k` in `n` rows change `E = n(1 − Σ p_k²)` times from one
//!   row to the next in a random order. They come in blocks where they change less than `4K` times,
//!   and at most `E/20` times, `E` being 20 or more; or where each value is one block, and there
//!   are at most `E/4`. Of a random order this is less likely than 1e−9. Streams whose classes
//!   last, such as prices that rise or fall, change more often than `4K` times.
//! - **One way.** A column rises, or falls, in all but one of 200 steps that change it, of which
//!   there are 20 or more. A random walk turns in every second step, and a trend with noise in each
//!   third or fourth.
//!
//! Time is an order, too, and then it is no fault: a column of times that rises explains it. Where
//! it falls, the newest rows come first, and the past is predicted from the future.

use std::collections::HashMap;

use mercer_encoding::Face;

use super::face::FaceWords;
use super::{Cause, Note, digits};

/// Changes of a column, and random changes of a target, of which something can be said.
const FEWEST: u64 = 20;
/// One of so many steps may turn back. Blocks have so many times fewer changes than rows in a
/// random order, and those of sorted values so many.
const A_TURN: u64 = 200;
const FEWER: f64 = 20.0;
const A_BLOCK: f64 = 4.0;
/// Changes a value that blocks may have.
const CHANGES_A_VALUE: u64 = 4;
/// Values of a target that are counted: classes, and numbers.
const MOST_CLASSES: usize = 1 << 12;
const MOST_NUMBERS: usize = 64;
/// Columns that are looked at.
const MOST_COLUMNS: usize = 1 << 12;
/// The word for a way.
const FALLS: &str = "falls";
/// Columns that a note names.
const NAMED: usize = 3;

/// The target of a row.
#[derive(Clone, Copy, Debug)]
pub enum OrderTarget<'a> {
    /// The first of its targets.
    Number(f64),
    /// Its class.
    Class(&'a str),
}

/// Watches the order of rows. `O(columns that may run one way)` a row, and bounded memory.
#[derive(Clone, Debug, Default)]
pub struct RowOrder {
    rows: u64,
    columns: Vec<Direction>,
    /// The columns that may run one way.
    left: Vec<usize>,
    target: Direction,
    blocks: Blocks,
}

/// The steps of a column.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    last: Option<f64>,
    up: u64,
    down: u64,
}

impl Direction {
    fn observe(&mut self, value: f64) {
        if let Some(last) = self.last.replace(value) {
            self.up += u64::from(value > last);
            self.down += u64::from(value < last);
        }
    }

    /// True if it may still run one way.
    fn is_open(&self) -> bool {
        self.up.min(self.down) <= 4 + (self.up + self.down) / 20
    }

    /// The word for the way that it runs, if it runs one way.
    fn way(&self) -> Option<&'static str> {
        let changes = self.up + self.down;
        let one_way = changes >= FEWEST && self.up.min(self.down) <= changes / A_TURN;
        one_way.then_some(if self.up > self.down { "rises" } else { FALLS })
    }
}

/// The values of a target, and how often it changes.
#[derive(Clone, Debug, Default)]
struct Blocks {
    classes: HashMap<String, usize>,
    numbers: HashMap<u64, usize>,
    counts: Vec<u64>,
    last: usize,
    changes: u64,
    /// There are more values than are counted.
    many: bool,
}

impl Blocks {
    fn observe(&mut self, target: OrderTarget<'_>) {
        if self.many {
            return;
        }
        let next = self.counts.len();
        let (place, most) = match target {
            OrderTarget::Number(value) => (*self.numbers.entry(value.to_bits()).or_insert(next), MOST_NUMBERS),
            OrderTarget::Class(class) => {
                let known = self.classes.get(class).copied();
                (known.unwrap_or_else(|| *self.classes.entry(class.to_owned()).or_insert(next)), MOST_CLASSES)
            }
        };
        if place == next {
            self.counts.push(0);
        }
        self.counts[place] += 1;
        self.changes += u64::from(next > 0 && place != self.last);
        self.last = place;
        self.many = self.counts.len() > most || self.changes > CHANGES_A_VALUE * most as u64;
    }

    /// Changes that a random order has, where this one has blocks.
    fn expected(&self, rows: u64) -> Option<f64> {
        let n = rows as f64;
        let alike: f64 = self.counts.iter().map(|&count| (count as f64 / n).powi(2)).sum();
        let (expected, values) = (n * (1.0 - alike), self.counts.len() as u64);
        let changes = self.changes as f64;
        let sorted = self.changes + 1 == values && changes <= expected / A_BLOCK;
        let few = self.changes < CHANGES_A_VALUE * values && (sorted || changes <= expected / FEWER);
        (!self.many && values > 1 && expected >= FEWEST as f64 && few).then_some(expected)
    }
}

impl RowOrder {
    /// Takes note of a row of so many columns: the number of a column, if it has one, and the
    /// target.
    pub fn observe(&mut self, columns: usize, number: impl Fn(usize) -> Option<f64>, target: Option<OrderTarget<'_>>) {
        if self.columns.len() < columns.min(MOST_COLUMNS) {
            self.left.extend(self.columns.len()..columns.min(MOST_COLUMNS));
            self.columns.resize(columns.min(MOST_COLUMNS), Direction::default());
        }
        self.rows += 1;
        for &column in &self.left {
            if let Some(value) = number(column) {
                self.columns[column].observe(value);
            }
        }
        if self.rows.is_multiple_of(64) {
            self.left.retain(|column| self.columns[*column].is_open());
        }
        if let Some(target) = target {
            if let OrderTarget::Number(value) = target {
                self.target.observe(value);
            }
            self.blocks.observe(target);
        }
    }

    /// The remark on an order that no column explains. `name` gives the name of a column that is a
    /// feature, and `is_time` is true of one that holds the times of the rows.
    #[must_use]
    pub fn note(
        &self,
        name: impl Fn(usize) -> Option<String>,
        is_time: impl Fn(usize) -> bool,
        face: Face,
    ) -> Option<Note> {
        let one_way = || self.left.iter().filter_map(|&column| Some((column, self.columns[column].way()?)));
        if let Some((column, way)) = one_way().find(|(column, _)| is_time(*column)) {
            let name = name(column).filter(|_| way == FALLS)?;
            let text = format!(
                "column {name:?} falls from the first row to the last: the newest rows come first, so the model knows the \
                 oldest best; sort the rows by it, the oldest first"
            );
            return Some(Note::new(Cause::OrderOfRows, text));
        }
        let what = if let Some(way) = self.target.way() {
            format!("the target {way} from the first row to the last")
        } else if let Some(expected) = self.blocks.expected(self.rows) {
            let what = if self.blocks.numbers.is_empty() { "classes" } else { "targets" };
            format!(
                "{what} come in blocks ({} in {} rows, and some {} in a random order)",
                changes(self.blocks.changes),
                self.rows,
                digits(expected.round())
            )
        } else {
            let running = || one_way().filter_map(|(column, way)| Some((name(column)?, way)));
            let (first, way) = running().next()?;
            let rest: Vec<String> = running().skip(1).map(|(name, way)| format!("{name:?} {way}")).collect();
            let more = if rest.len() < NAMED { rest.join(", ") } else { format!("so do {} more", rest.len()) };
            let more = if more.is_empty() { more } else { format!(" ({more})") };
            format!("column {first:?} {way} from the first row to the last{more}")
        };
        let remedy = face.pick("shuffle the rows (--permute 1)", "shuffle the rows");
        Some(Note::new(
            Cause::OrderOfRows,
            format!(
                "{what}, so the model knows the last rows best and its scores say little; unless this is the order of time, \
                 {remedy}: docs/order-of-rows.md"
            ),
        ))
    }
}

fn changes(count: u64) -> String {
    format!("{count} change{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note on rows of one column, none of which has times.
    fn note(rows: impl IntoIterator<Item = (f64, &'static str)>) -> Option<String> {
        let mut order = RowOrder::default();
        rows.into_iter().for_each(|(x, class)| order.observe(1, |_| Some(x), Some(OrderTarget::Class(class))));
        order.note(|_| Some("x".to_owned()), |_| false, Face::Command).map(|note| note.text)
    }

    /// Numbers that look random, the same on every machine.
    fn hashed(i: u64) -> f64 {
        (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64
    }

    #[test]
    fn blocks_and_one_way() {
        let class = |i: u64| ["a", "b", "c"][i as usize];
        let sorted = note((0..150).map(|i| (hashed(i), class(i / 50)))).unwrap_or_default();
        assert!(
            sorted.starts_with("classes come in blocks (2 changes in 150 rows, and some 100 in a random order), so"),
            "{sorted}"
        );
        // Two files, each sorted.
        assert!(note((0..300).map(|i| (hashed(i), class(i % 150 / 50)))).is_some());
        // A rare class behind all others.
        assert!(note((0..1000).map(|i| (hashed(i), class(i / 980)))).is_some());
        assert_eq!(note((0..150).map(|i| (hashed(i), class(i % 3)))), None);
        // Classes that last, but come again and again.
        assert_eq!(note((0..900).map(|i| (hashed(i), class(i / 20 % 3)))), None);
        let rising = note((0..40).map(|i| ((i * i) as f64, class(i % 3)))).unwrap_or_default();
        assert!(rising.starts_with("column \"x\" rises from the first row to the last, so"), "{rising}");
        assert!(note((0..400).map(|i| (-(i as f64), class(i % 3)))).is_some_and(|note| note.contains("\"x\" falls")));
        // Too few to tell, and a trend with noise.
        assert_eq!(note((0..15).map(|i| (i as f64, class(i % 3)))), None);
        assert_eq!(note((0..900).map(|i| (i as f64 + hashed(i) % 8.0, class(i % 3)))), None);
    }

    #[test]
    fn times_explain_an_order() {
        let mut order = RowOrder::default();
        for i in 0..100 {
            let target = if i < 50 { "works" } else { "broken" };
            order.observe(
                2,
                |column| Some(if column == 0 { i as f64 } else { hashed(i) }),
                Some(OrderTarget::Class(target)),
            );
        }
        let name = |column: usize| Some(["when", "x"][column].to_owned());
        assert!(order.note(name, |_| false, Face::Command).is_some());
        assert_eq!(order.note(name, |column| column == 0, Face::Command), None);
        // The newest rows come first.
        let mut backwards = RowOrder::default();
        (0..100).for_each(|i| backwards.observe(1, |_| Some(f64::from(-i)), None));
        let told = backwards.note(name, |column| column == 0, Face::Command).map(|note| note.text).unwrap_or_default();
        assert!(told.starts_with("column \"when\" falls from the first row to the last: the newest"), "{told}");
        // A column of times in another order explains nothing.
        assert!(order.note(name, |column| column == 1, Face::Command).is_some());
    }

    #[test]
    fn targets_of_numbers() {
        let told = |values: &mut dyn Iterator<Item = f64>| {
            let mut order = RowOrder::default();
            values.for_each(|y| order.observe(0, |_| None, Some(OrderTarget::Number(y))));
            order.note(|_| None, |_| false, Face::Command).map(|note| note.text).unwrap_or_default()
        };
        assert!(told(&mut (0..60).map(|i| f64::from(i).sqrt())).starts_with("the target rises"));
        assert!(told(&mut (0..60).map(|i| f64::from(i / 12))).starts_with("targets come in blocks"));
        assert_eq!(told(&mut (0..600).map(hashed)), "");
        // A walk.
        let walk = (0..2000).scan(0.0, |sum, i| {
            *sum += hashed(i) % 2.0 - 0.4;
            Some(*sum)
        });
        assert_eq!(told(&mut walk.map(f64::abs)), "");
    }
}
