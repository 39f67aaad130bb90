//! A column of categories: one-hot up to a size, hashed beyond.

use mercer_core::{Cell, Inconsistent, TruthWords, Validate};

use crate::key::Key;
use crate::schema::{Column, LONGEST_NAME};

use super::{MOST_SLOTS, Oddity, gap_name, tell_gap};

/// Numbers that hashed categories share where no column of the head has more than fit.
const SHARED: usize = 16;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Categories {
    /// The categories with a number of their own in the column's part.
    known: Vec<String>,
    /// The categories that came later, with their places in the [`Pool`].
    late: Vec<(String, usize)>,
    slots: usize,
    /// Numbers of the column's own that other categories are hashed to; 0 where these go to the
    /// pool.
    hashed: usize,
    gaps: bool,
}

/// Numbers for categories that the head does not have, whichever column they come in. Unused ones
/// are 0 and change no distance.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Pool {
    /// The number of places of one category each.
    size: usize,
    used: usize,
    /// The number of places behind them, to which all others are hashed.
    hashed: usize,
}

impl Pool {
    /// For columns of which some may get new categories, with so many numbers at most.
    pub(super) fn new(size: usize, hashed: usize) -> Self {
        Self { size, used: 0, hashed: hashed.min(SHARED) }
    }

    pub(super) fn width(&self) -> usize {
        self.size + self.hashed
    }

    fn take(&mut self) -> Option<usize> {
        (self.used < self.size).then(|| {
            self.used += 1;
            self.used - 1
        })
    }

    /// The names of its numbers, where `late` tells who has which.
    pub(super) fn names(&self, late: impl Iterator<Item = (usize, String)>, names: &mut Vec<String>) {
        let mut own: Vec<String> = (1..=self.size).map(|place| format!("(free {place})")).collect();
        late.for_each(|(place, name)| own[place] = name);
        names.extend(own);
        names.extend((1..=self.hashed).map(|place| format!("(other {place})")));
    }
}

impl Categories {
    /// For a column with so many categories in the head, `most` with a number of their own.
    pub(super) fn new(column: &Column, seen: usize, (most, hashed): (usize, usize), gaps: bool) -> Self {
        let slots = seen.min(most);
        let known: Vec<String> = column.categories.iter().take(slots).map(|(name, _)| name.clone()).collect();
        Self { known, late: Vec::new(), slots, hashed: if seen > most { hashed } else { 0 }, gaps }
    }

    /// The same for a column that comes when there is no pool for it.
    pub(super) fn apart(self, hashed: usize) -> Self {
        Self { hashed: hashed.min(SHARED / 2), ..self }
    }

    /// True if categories that the head does not have go to the pool.
    pub(super) fn shares(&self) -> bool {
        self.hashed == 0
    }

    pub(super) fn width(&self) -> usize {
        self.slots + self.hashed + usize::from(self.gaps)
    }

    pub(super) fn gaps(&self) -> bool {
        self.gaps
    }

    /// The place of the number that tells a gap, if there is one.
    pub(super) fn gap_place(&self) -> Option<usize> {
        self.gaps.then(|| self.slots + self.hashed)
    }

    /// The categories with the places of their numbers, where the column's own begin with `first`
    /// and the pool's with `pool`.
    pub(super) fn places(&self, first: usize, pool: usize) -> Vec<(String, usize)> {
        let own = self.known.iter().enumerate().map(|(slot, name)| (name.clone(), first + slot));
        own.chain(self.late.iter().map(|(name, place)| (name.clone(), pool + place))).collect()
    }

    /// The place of a cell among the categories of the head, the commonest first; behind all for
    /// others; none for a gap.
    pub(super) fn place(&self, cell: Cell<'_>) -> Option<usize> {
        let key = Key::from_cell(cell)?;
        Some(self.slot(self.name(cell, &key)).unwrap_or(self.slots))
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.known.iter().position(|known| known == name)
    }

    /// Puts the numbers of a cell of column `column` in place of zeros: its own, and those that it
    /// adds to the pool's.
    pub(super) fn encode(
        &self,
        cell: Cell<'_>,
        numbers: &mut [f64],
        column: usize,
        (pool, pooled): (&Pool, &mut [f64]),
    ) {
        let Some(key) = Key::from_cell(cell) else { return tell_gap(self.gaps, numbers) };
        let name = self.name(cell, &key);
        if let Some(slot) = self.slot(name) {
            numbers[slot] = 1.0;
        } else if !self.shares() {
            let (place, sign) = hash(name, 0, self.hashed);
            numbers[self.slots + place] = sign;
        } else if let Some((_, place)) = self.late.iter().find(|(known, _)| known == name) {
            pooled[*place] += 1.0;
        } else if pool.hashed > 0 {
            let (place, sign) = hash(name, column, pool.hashed);
            pooled[pool.size + place] += sign;
        }
    }

    /// A category that is met for the first time gets a number, while there is one.
    pub(super) fn learn(&mut self, cell: Cell<'_>, pool: &mut Pool) {
        let Some(key) = Key::from_cell(cell) else { return };
        let name = self.name(cell, &key);
        if name.len() > LONGEST_NAME || self.is_known(name) {
            return;
        }
        let name = name.to_owned();
        if self.known.len() < self.slots {
            self.known.push(name);
        } else if self.shares()
            && let Some(place) = pool.take()
        {
            self.late.push((name, place));
        }
    }

    /// The name by which a cell is known: that of its text, or of the truth value that it is.
    fn name<'a>(&'a self, cell: Cell<'_>, key: &'a Key<'_>) -> &'a str {
        let name = key.as_str();
        if self.is_known(name) {
            return name;
        }
        let truth = || {
            let words = TruthWords::find(self.all())?;
            let told = words.text(words.read(cell)?);
            self.all().find(|known| *known == told)
        };
        truth().unwrap_or(name)
    }

    fn all(&self) -> impl Iterator<Item = &str> + Clone {
        self.known.iter().chain(self.late.iter().map(|(name, _)| name)).map(String::as_str)
    }

    fn is_known(&self, name: &str) -> bool {
        self.slot(name).is_some() || self.late.iter().any(|(known, _)| known == name)
    }

    pub(super) fn oddity(&self, cell: Cell<'_>) -> Option<Oddity> {
        let Some(key) = Key::from_cell(cell) else { return Some(Oddity::Gap) };
        (!self.is_known(self.name(cell, &key))).then_some(Oddity::NewCategory)
    }

    pub(super) fn names(&self, column: &str, names: &mut Vec<String>) {
        names.extend(self.known.iter().map(|known| format!("{column}={known}")));
        names.extend((self.known.len()..self.slots).map(|slot| format!("{column}=(free {})", slot + 1)));
        names.extend((1..=self.hashed).map(|place| format!("{column}=(other {place})")));
        names.extend(self.gaps.then(|| gap_name(column)));
    }

    /// The names of the numbers that it has in the pool, with their places.
    pub(super) fn late_names<'a>(&'a self, column: &'a str) -> impl Iterator<Item = (usize, String)> + 'a {
        self.late.iter().map(move |(name, place)| (*place, format!("{column}={name}")))
    }

    pub(super) fn words(&self) -> String {
        let known = self.known.len() + self.late.len();
        match self.hashed {
            0 => format!("one-hot ({known} categories), later ones too while there is room"),
            hashed => format!("one-hot ({known} categories), others hashed to {hashed}"),
        }
    }
}

/// Place below `places` and sign of a category: FNV-1a, finished by the mixing step of SplitMix64.
fn hash(name: &str, column: usize, places: usize) -> (usize, f64) {
    let start = 0xcbf2_9ce4_8422_2325_u64.wrapping_add((column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let fnv = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = mixed ^ (mixed >> 31);
    ((mixed >> 1) as usize % places, if mixed & 1 == 0 { 1.0 } else { -1.0 })
}

impl Validate for Categories {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "column of categories";
        let sizes = self.slots <= MOST_SLOTS && self.hashed <= MOST_SLOTS;
        Inconsistent::require(sizes, WHAT, "its sizes are in range")?;
        let known = self.known.len() <= self.slots && self.all().all(|name| name.len() <= LONGEST_NAME);
        Inconsistent::require(known, WHAT, "it knows no more categories than it has room for")
    }
}

impl Pool {
    /// Checks that the places of late categories are its own.
    pub(super) fn validate<'a>(&self, mut columns: impl Iterator<Item = &'a Categories>) -> Result<(), Inconsistent> {
        let sizes = self.used <= self.size && self.size <= MOST_SLOTS && self.hashed <= SHARED;
        let places = columns.all(|column| column.late.iter().all(|(_, place)| *place < self.used));
        Inconsistent::require(sizes && places, "pool of categories", "it has the places that are taken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5000 categories on 32 signed places: none is empty, none has three times its share.
    #[test]
    fn hashes_are_spread() {
        let mut counts = [[0; 2]; 32];
        for i in 0..5000 {
            let (place, sign) = hash(&format!("shop {i}"), 0, 32);
            counts[place][usize::from(sign > 0.0)] += 1;
        }
        assert!(counts.iter().flatten().all(|count| (30..240).contains(count)), "{counts:?}");
    }
}
