//! A column of categories: one-hot up to a size, hashed beyond.

use mercer_core::{Cell, Inconsistent, Validate};

use crate::key::Key;
use crate::schema::{Column, LONGEST_NAME};

use super::{MOST_SLOTS, Oddity, gap_name, push_gap};

/// Numbers that are hashed to while every category of the head fits one-hot.
const SPARE: usize = 4;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Categories {
    /// Those with a number of their own.
    known: Vec<String>,
    slots: usize,
    hashed: usize,
    gaps: bool,
}

impl Categories {
    /// For a column with so many categories in the head, `most` with a number of their own.
    pub(super) fn new(column: &Column, seen: usize, (most, hashed): (usize, usize), gaps: bool) -> Self {
        let room = seen.saturating_add((seen / 2).max(2));
        let slots = room.min(most);
        let known = column.categories.iter().take(slots).map(|(name, _)| name.clone()).collect();
        Self { known, slots, hashed: if room <= most { hashed.min(SPARE) } else { hashed }, gaps }
    }

    pub(super) fn width(&self) -> usize {
        self.slots + self.hashed + usize::from(self.gaps)
    }

    pub(super) fn gaps(&self) -> bool {
        self.gaps
    }

    fn slot(&self, name: &str) -> Option<usize> {
        self.known.iter().position(|known| known == name)
    }

    pub(super) fn encode(&self, cell: Cell<'_>, numbers: &mut Vec<f64>) {
        let start = numbers.len();
        numbers.resize(start + self.slots + self.hashed, 0.0);
        let key = Key::of(cell);
        if let Some(key) = &key {
            match self.slot(key.as_str()) {
                Some(slot) => numbers[start + slot] = 1.0,
                None => {
                    let (place, sign) = hash(key.as_str(), self.hashed);
                    numbers[start + self.slots + place] = sign;
                }
            }
        }
        push_gap(self.gaps, key.is_none(), numbers);
    }

    /// A category that is met for the first time gets a number, while there is one.
    pub(super) fn learn(&mut self, cell: Cell<'_>) {
        let Some(key) = Key::of(cell) else { return };
        let name = key.as_str();
        if self.known.len() < self.slots && name.len() <= LONGEST_NAME && self.slot(name).is_none() {
            self.known.push(name.to_owned());
        }
    }

    pub(super) fn oddity(&self, cell: Cell<'_>) -> Option<Oddity> {
        let key = Key::of(cell)?;
        self.slot(key.as_str()).is_none().then_some(Oddity::NewCategory)
    }

    pub(super) fn names(&self, column: &str, names: &mut Vec<String>) {
        names.extend(self.known.iter().map(|known| format!("{column}={known}")));
        names.extend((self.known.len()..self.slots).map(|slot| format!("{column}=(free {})", slot + 1)));
        names.extend((1..=self.hashed).map(|place| format!("{column}=(other {place})")));
        names.extend(self.gaps.then(|| gap_name(column)));
    }

    pub(super) fn words(&self) -> String {
        format!("one-hot ({} of {} categories known), others hashed to {}", self.known.len(), self.slots, self.hashed)
    }
}

/// Place below `places` and sign of a category: FNV-1a, finished by the mixing step of SplitMix64.
fn hash(name: &str, places: usize) -> (usize, f64) {
    let fnv = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = mixed ^ (mixed >> 31);
    ((mixed >> 1) as usize % places, if mixed & 1 == 0 { 1.0 } else { -1.0 })
}

impl Validate for Categories {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "column of categories";
        let sizes = self.slots <= MOST_SLOTS && (1..=MOST_SLOTS).contains(&self.hashed);
        Inconsistent::require(sizes, WHAT, "its sizes are in range")?;
        let known = self.known.len() <= self.slots && self.known.iter().all(|name| name.len() <= LONGEST_NAME);
        Inconsistent::require(known, WHAT, "it knows no more categories than it has room for")
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
            let (place, sign) = hash(&format!("shop {i}"), 32);
            counts[place][usize::from(sign > 0.0)] += 1;
        }
        assert!(counts.iter().flatten().all(|count| (30..240).contains(count)), "{counts:?}");
    }
}
