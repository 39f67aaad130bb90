//! From the cells of a record to tokens, for learners that take them.
//!
//! | column | tokens |
//! |---|---|
//! | number | its value in deviations from the running mean, within ±20; one of 16 bins of the head |
//! | time | weekday, month and hour where the head shows variation; the days as a number |
//! | category, text | the whole cell; from two words on, a block of words and one of neighbours, the latter by half |
//! | list | its members as a block of words, each whole; the names of an object with their numbers, and `name=text` |
//! | a gap in any of them, an empty list | one for gaps |
//!
//! A word is a run of letters, digits and `_`, in lower case, or one other sign. In a block with
//! counts `n` a word has the number `(1 + ln n)/(Σ(1 + ln n)²)^¼`. The first 1,000 words or
//! members of a cell are taken. A value in a column of lists is a list of one.
//!
//! All but numbers and their bins are texts. The factors of products are bins of eight, parts of
//! times, gaps, cells of one word, and words, whose squares sum to 1 a cell.

use std::collections::BTreeMap;

use mercer_core::{Calendar, Cell, Cells, Entry, Inconsistent, KeyHash, List, Token, TokenRow, Validate, mixed};

use crate::key::Key;
use crate::moments::RunningMoments;
use crate::notation::{Notation, is_gap};
use crate::sample::RecordSample;
use crate::schema::{Column, Kind, TimeParts, Use};
use crate::words::{list_of, words};

/// Deviations from the mean that a number has at most.
const FARTHEST: f64 = 20.0;
/// Bins of a number as a token, and as a factor.
const BINS: [usize; 2] = [16, 8];
/// Words of a cell that are taken.
const MOST_WORDS: usize = 1000;
/// Keys whose texts are kept, and their bytes at most.
const MOST_NAMES: usize = 10_000;
const LONGEST_NAME: usize = 64;
/// So many rows tell them, and then one of so many.
const NAMED_ROWS: u64 = 4096;
const A_NAMED_ROW: u64 = 16;
/// The share of neighbours.
const NEIGHBOURS: f64 = 0.5;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The tokens of the columns of a table, with statistics that move row by row.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TokenEncoding {
    columns: Vec<TokenColumn>,
    names: TokenNames,
    sample: RecordSample,
}

/// The texts of the first keys, with the places of their columns.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct TokenNames {
    texts: BTreeMap<u64, (u32, String)>,
    /// Rows met.
    rows: u64,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum TokenColumn {
    Nothing,
    Number(KeyHash, Notation, Spread),
    Time(KeyHash, Notation, TimeParts, Spread),
    Text(KeyHash, Notation),
    List(KeyHash),
    /// A number or a text, each as it comes.
    Late(KeyHash, Spread),
}

/// The spread of a number: its running moments, and the edges of its bins.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Spread {
    moments: RunningMoments,
    edges: [Vec<f64>; 2],
}

/// The tokens of a row so far.
struct Parts<'a> {
    texts: &'a mut Vec<Token>,
    numbers: &'a mut Vec<Token>,
    factors: &'a mut Vec<Token>,
    /// Names to be filled, with the place of the column.
    names: Option<(&'a mut TokenNames, usize)>,
}

impl Parts<'_> {
    /// Keeps the text of a key where names are kept.
    fn named(&mut self, key: u64, text: &str) {
        if let Some((names, column)) = &mut self.names
            && names.texts.len() < MOST_NAMES
            && text.len() <= LONGEST_NAME
        {
            names.texts.entry(key).or_insert_with(|| (*column as u32, text.to_owned()));
        }
    }

    fn both(&mut self, key: u64) {
        self.pair(key, 1.0);
    }

    fn pair(&mut self, key: u64, value: f64) {
        self.texts.push(Token { key, value });
        self.factors.push(Token { key, value });
    }
}

impl TokenEncoding {
    /// The tokens of the columns of a schema.
    pub(crate) fn new(columns: &[Column]) -> Self {
        let columns = columns.iter().map(TokenColumn::new).collect();
        Self { columns, names: TokenNames::default(), sample: RecordSample::default() }
    }

    /// Another column, behind the others.
    pub(crate) fn push(&mut self, column: &Column) {
        self.columns.push(TokenColumn::new(column));
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Finds the edges of bins in the head of a table.
    pub(crate) fn look<R: Cells>(&mut self, head: &[R]) {
        for (place, column) in self.columns.iter_mut().enumerate() {
            let mut values: Vec<f64> = head.iter().filter_map(|record| column.number(record.cell(place))).collect();
            values.sort_unstable_by(f64::total_cmp);
            if let Some(spread) = column.spread_mut() {
                spread.edges = BINS.map(|bins| edges(&values, bins));
            }
        }
    }

    /// Fills a row with the tokens of a record, by the statistics of the rows before.
    pub(crate) fn encode(&self, record: &(impl Cells + ?Sized), row: &mut TokenRow) {
        row.fill(|[texts, numbers, factors]| {
            let mut parts = Parts { texts, numbers, factors, names: None };
            for (place, column) in self.columns.iter().enumerate() {
                column.encode(record.cell(place), &mut parts);
            }
        });
    }

    /// The texts of keys that are kept, with the places of their columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = (u64, usize, &str)> {
        self.names.texts.iter().map(|(key, (column, text))| (*key, *column as usize, text.as_str()))
    }

    /// The cells of a sample of the records that were kept.
    pub(crate) fn sample(&self) -> impl Iterator<Item = Vec<Cell<'_>>> {
        self.sample.records(self.columns.len())
    }

    /// A record was learnt that is no part of the head alone.
    pub(crate) fn keep(&mut self, record: &(impl Cells + ?Sized)) {
        let Self { sample, columns, .. } = self;
        sample.take(record, |place| columns.get(place).is_some_and(|column| !matches!(column, TokenColumn::Nothing)));
    }

    /// Adds the sample of another shard of the table.
    pub(crate) fn merge_sample(&mut self, other: &Self) {
        self.sample.merge(&other.sample);
    }

    /// Keeps the texts of a record.
    fn keep_names(&mut self, record: &(impl Cells + ?Sized)) {
        let [texts, numbers, factors] = &mut [const { Vec::new() }; 3];
        for (place, column) in self.columns.iter().enumerate() {
            if let TokenColumn::Text(..) | TokenColumn::List(_) | TokenColumn::Late(..) = column {
                let names = Some((&mut self.names, place));
                column.encode(record.cell(place), &mut Parts { texts, numbers, factors, names });
            }
        }
    }

    /// Moves the statistics by a record.
    pub(crate) fn learn(&mut self, record: &(impl Cells + ?Sized)) {
        let TokenNames { texts, rows } = &mut self.names;
        *rows += 1;
        if texts.len() < MOST_NAMES && (*rows <= NAMED_ROWS || rows.is_multiple_of(A_NAMED_ROW)) {
            self.keep_names(record);
        }
        for (place, column) in self.columns.iter_mut().enumerate() {
            let value = column.number(record.cell(place));
            if let (Some(value), Some(spread)) = (value, column.spread_mut()) {
                spread.moments.observe(value);
            }
        }
    }
}

impl TokenColumn {
    fn new(column: &Column) -> Self {
        let (key, notation) = (KeyHash::new(&column.name), column.notation.clone());
        match (column.used, column.kind) {
            (Use::SetAside | Use::Unwanted | Use::Identifier | Use::Text, _) => Self::Nothing,
            (Use::Late, _) => Self::Late(key, Spread::default()),
            (_, Kind::Time) => Self::Time(key, notation, column.time, Spread::default()),
            (_, Kind::List) => Self::List(key),
            (_, Kind::Text | Kind::Mean) => Self::Text(key, notation),
            _ if column.is_category() => Self::Text(key, notation),
            _ => Self::Number(key, notation, Spread::default()),
        }
    }

    /// The number of a cell: of times, days.
    fn number(&self, cell: Cell<'_>) -> Option<f64> {
        match self {
            Self::Number(_, notation, _) => notation.number(cell),
            Self::Time(_, notation, ..) => notation.instant(cell).map(|instant| instant / DAY),
            Self::Late(..) => cell.number(),
            Self::Nothing | Self::Text(..) | Self::List(_) => None,
        }
    }

    fn spread_mut(&mut self) -> Option<&mut Spread> {
        match self {
            Self::Number(_, _, spread) | Self::Time(_, _, _, spread) | Self::Late(_, spread) => Some(spread),
            Self::Nothing | Self::Text(..) | Self::List(_) => None,
        }
    }

    fn encode(&self, cell: Cell<'_>, parts: &mut Parts<'_>) {
        match self {
            Self::Nothing => {}
            Self::Number(key, notation, spread) => match notation.number(cell) {
                Some(value) => spread.encode(value, *key, parts),
                None => other(cell, *key, parts),
            },
            Self::Late(key, spread) => match cell.number() {
                Some(value) => spread.encode(value, *key, parts),
                None => text(cell, *key, parts),
            },
            Self::Time(key, notation, time, spread) => match notation.instant(cell) {
                Some(instant) => {
                    spread.encode(instant / DAY, *key, parts);
                    let Calendar { of_day, of_week, of_year, .. } = Calendar::from_instant(instant);
                    let shares = [(time.hour, "hour", 24.0 * of_day), (time.weekday, "weekday", 7.0 * of_week)];
                    let month = (time.season, "month", 12.0 * of_year);
                    for (_, name, at) in shares.into_iter().chain([month]).filter(|(varies, ..)| *varies) {
                        parts.both(key.part(name).number(at as u64).key());
                    }
                }
                None => other(cell, *key, parts),
            },
            Self::Text(key, Notation::Network) => match Notation::network(cell) {
                Some(network) => text(Cell::Text(&network), *key, parts),
                None => text(Cell::Missing, *key, parts),
            },
            Self::Text(key, _) => text(cell, *key, parts),
            Self::List(key) => list(cell, *key, parts),
        }
    }
}

impl Spread {
    fn encode(&self, value: f64, key: KeyHash, parts: &mut Parts<'_>) {
        let deviation = self.moments.deviation();
        if deviation > 0.0 {
            let z = ((value - self.moments.mean()) / deviation).clamp(-FARTHEST, FARTHEST);
            parts.numbers.push(Token { key: key.part("z").key(), value: z });
        }
        let bins = [("bin", &mut *parts.numbers), ("coarse bin", &mut *parts.factors)];
        for ((name, list), edges) in bins.into_iter().zip(&self.edges) {
            let bin = edges.partition_point(|edge| *edge <= value);
            list.push(Token { key: key.part(name).number(bin as u64).key(), value: 1.0 });
        }
    }
}

/// A cell of no number in a column of numbers.
fn other(cell: Cell<'_>, key: KeyHash, parts: &mut Parts<'_>) {
    match Key::from_cell(cell) {
        Some(value) if !is_gap(cell) => {
            let key = key.part("other").part(value.as_str()).key();
            parts.texts.push(Token { key, value: 1.0 });
        }
        _ => parts.both(key.part("gap").key()),
    }
}

/// A category or a text.
fn text(cell: Cell<'_>, key: KeyHash, parts: &mut Parts<'_>) {
    if let Cell::List(_) = cell {
        return list(cell, key, parts);
    }
    let value = Key::from_cell(cell);
    let value = value.as_ref().map(Key::as_str).filter(|value| !value.trim().is_empty());
    let Some(value) = value else { return parts.both(key.part("gap").key()) };
    let whole = key.part("=").part(value).key();
    parts.named(whole, value);
    parts.texts.push(Token { key: whole, value: 1.0 });
    let of_words = key.part("w");
    let lower = value.to_lowercase();
    let mut keys: Vec<u64> = Vec::new();
    for word in words(&lower).take(MOST_WORDS) {
        keys.push(of_words.part(word).key());
        parts.named(of_words.part(word).key(), word);
    }
    if keys.len() < 2 {
        return parts.factors.push(Token { key: whole, value: 1.0 });
    }
    let next = key.part("b").key();
    let pair = |pair: &[u64]| mixed(next ^ pair[0].wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(pair[1]));
    let mut neighbours: Vec<u64> = keys.windows(2).map(pair).collect();
    block(&mut neighbours, |key, value, _| parts.texts.push(Token { key, value: NEIGHBOURS * value }));
    block(&mut keys, |key, value, unit| {
        parts.texts.push(Token { key, value });
        parts.factors.push(Token { key, value: unit });
    });
}

/// A list, typed or written; any other value is a list of one.
fn list(cell: Cell<'_>, key: KeyHash, parts: &mut Parts<'_>) {
    let (of_words, of_names) = (key.part("w"), key.part("k"));
    let mut members = Vec::new();
    let mut take = |entry: Entry<'_>| match entry {
        Entry::Name(name) if name.trim().is_empty() => {}
        Entry::Name(name) => {
            let name = name.trim().to_lowercase();
            members.push(of_words.part(&name).key());
            parts.named(of_words.part(&name).key(), &name);
        }
        Entry::Number(name, value) => {
            parts.pair(of_names.part(&name).key(), value);
            parts.named(of_names.part(&name).key(), &name);
        }
        Entry::Text(name, text) => {
            let key = of_names.part(&name).part(&text).key();
            parts.pair(key, 1.0);
            parts.named(key, &format!("{name}={text}"));
        }
    };
    let read = list_of(cell);
    let one = Key::from_cell(cell);
    let one = one.as_ref().map(Key::as_str).filter(|one| !one.trim().is_empty());
    match (read, one) {
        (Some(list), _) => list.entries().take(MOST_WORDS).for_each(&mut take),
        (None, Some(one)) => take(Entry::Name(one.into())),
        (None, None) => {}
    }
    if members.is_empty() && !read.is_some_and(List::has_pairs) {
        return parts.both(key.part("gap").key());
    }
    block(&mut members, |key, value, unit| {
        parts.texts.push(Token { key, value });
        parts.factors.push(Token { key, value: unit });
    });
}

/// Hands each key of a block to `take`, with `w/(Σw²)^¼` and `w/(Σw²)^½`, `w = 1 + ln n`.
fn block(keys: &mut [u64], mut take: impl FnMut(u64, f64, f64)) {
    keys.sort_unstable();
    let runs = || keys.chunk_by(|one, next| one == next);
    let weight = |run: &[u64]| 1.0 + (run.len() as f64).ln();
    let root = runs().map(|run| weight(run).powi(2)).sum::<f64>().sqrt();
    runs().for_each(|run| take(run[0], weight(run) / root.sqrt(), weight(run) / root));
}

/// The inner edges of so many bins with as many of the values each.
fn edges(values: &[f64], bins: usize) -> Vec<f64> {
    let Some(last) = values.len().checked_sub(1) else { return Vec::new() };
    let quantile = |bin: usize| {
        let at = last as f64 * bin as f64 / bins as f64;
        let low = at.floor() as usize;
        let (below, above) = (values[low], values[(low + 1).min(last)]);
        // Each is weighed before they are added, lest the difference overflow.
        let share = at - low as f64;
        (1.0 - share) * below + share * above
    };
    let mut edges: Vec<f64> = (1..bins).map(quantile).collect();
    edges.dedup();
    edges
}

impl Validate for TokenEncoding {
    fn validate(&self) -> Result<(), Inconsistent> {
        let known = self.names.texts.values().all(|(column, _)| (*column as usize) < self.columns.len());
        Inconsistent::require(known, "names of tokens", "each is of a column")?;
        self.sample.validate()?;
        for column in &self.columns {
            let (TokenColumn::Number(_, _, spread) | TokenColumn::Time(_, _, _, spread) | TokenColumn::Late(_, spread)) =
                column
            else {
                continue;
            };
            spread.moments.validate()?;
            for (edges, bins) in spread.edges.iter().zip(BINS) {
                edges.validate()?;
                let rises = edges.is_sorted() && edges.len() < bins;
                Inconsistent::require(rises, "bins of a number", "their edges rise")?;
            }
        }
        Ok(())
    }
}
