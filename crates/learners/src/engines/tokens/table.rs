//! A table with a place for each key: numbers that an update keeps, found by hashing.
//!
//! Places come in the order in which keys are met, up to a bound. Keys that come when it is full
//! share places with each other, a sixteenth as many as there are; those met before keep theirs.
//! Memory is `8 + 8w` bytes a place of `w` numbers, and about 10 for the index. A file has the keys
//! and the numbers, and the index is made of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mercer_core::{Inconsistent, ParameterError, Token, Validate, mixed};

/// One of so many places more is shared.
const A_SHARED: usize = 16;

/// The numbers of a place: some for each output, and some that all outputs have in common. Those of
/// a kind stand together, one an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlaceLayout {
    /// Outputs.
    pub outputs: usize,
    /// Numbers an output.
    pub each: usize,
    /// Numbers of all outputs in common, behind the others.
    pub common: usize,
}

impl PlaceLayout {
    /// Numbers of a place.
    #[must_use]
    pub fn width(&self) -> usize {
        self.outputs * self.each + self.common
    }
}

/// Keys with their numbers.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "SavedTable"))]
pub struct TokenTable {
    layout: PlaceLayout,
    /// Places that have a key of their own, at most.
    most: usize,
    keys: Vec<u64>,
    states: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    index: Index,
}

type Index = HashMap<u64, u32, BuildHasherDefault<KeyHasher>>;

/// A table in a file.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct SavedTable {
    layout: PlaceLayout,
    most: usize,
    keys: Vec<u64>,
    states: Vec<f64>,
}

#[cfg(feature = "serde")]
impl From<SavedTable> for TokenTable {
    fn from(SavedTable { layout, most, keys, states }: SavedTable) -> Self {
        let index = keys.iter().copied().zip(0..).collect();
        Self { layout, most, keys, states, index }
    }
}

/// Keys are hashes.
#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = mixed(self.0 ^ u64::from(*byte)));
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl TokenTable {
    /// A table of at most `most` keys, without any.
    ///
    /// # Errors
    /// When `most` is 0 or above 2²⁴.
    pub fn new(layout: PlaceLayout, most: usize) -> Result<Self, ParameterError> {
        let in_range = (1..=Self::MOST).contains(&most);
        ParameterError::require(in_range, "places", "a whole number from 1 to 2^24", most as f64)?;
        Ok(Self { layout, most, keys: Vec::new(), states: Vec::new(), index: Index::default() })
    }

    /// Most places of a table.
    pub const MOST: usize = 1 << 24;

    /// Places.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys in the order of their places.
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The numbers of a place.
    #[must_use]
    pub fn layout(&self) -> PlaceLayout {
        self.layout
    }

    pub(crate) fn width(&self) -> usize {
        self.layout.width()
    }

    /// The place of a key, or the one that it shares; `None` where there is none yet.
    #[must_use]
    pub fn find(&self, key: u64) -> Option<usize> {
        self.own(key).or_else(|| self.in_common(key))
    }

    /// The place of a key.
    fn own(&self, key: u64) -> Option<usize> {
        self.index.get(&key).map(|place| *place as usize)
    }

    /// The place that a key without one shares.
    pub(crate) fn in_common(&self, key: u64) -> Option<usize> {
        if self.len() < self.most { None } else { self.own(self.key_in_common(key)) }
    }

    /// Fills `places` anew with the place of each token, if its key has one.
    pub(crate) fn find_all(&self, tokens: &[Token], places: &mut Vec<Option<usize>>) {
        places.clear();
        places.extend(tokens.iter().map(|token| self.own(token.key)));
    }

    /// Gives the tokens for which there is no room the keys of places in common; true if there are
    /// any.
    pub(crate) fn redirect(&self, tokens: &mut [Token]) -> bool {
        let mut room = self.most.saturating_sub(self.len());
        if room >= tokens.len() {
            return false;
        }
        let mut some = false;
        for token in tokens.iter_mut().filter(|token| !self.index.contains_key(&token.key)) {
            if room == 0 {
                (token.key, some) = (self.key_in_common(token.key), true);
            }
            room = room.saturating_sub(1);
        }
        some
    }

    fn key_in_common(&self, key: u64) -> u64 {
        let shared = (self.most / A_SHARED).max(1) as u64;
        mixed((key % shared) ^ 0x5a5a_0000_0000_0000)
    }

    /// The place of a key, made of zeros where it is new.
    pub(crate) fn place(&mut self, key: u64) -> usize {
        if let Some(place) = self.own(key) {
            return place;
        }
        let place = self.keys.len();
        self.keys.push(key);
        self.states.resize(self.states.len() + self.layout.width(), 0.0);
        // At most 2²⁴ and a sixteenth of it.
        self.index.insert(key, place as u32);
        place
    }

    /// The numbers of a place.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn state(&self, place: usize) -> &[f64] {
        let width = self.layout.width();
        &self.states[place * width..(place + 1) * width]
    }

    pub(crate) fn state_mut(&mut self, place: usize) -> &mut [f64] {
        let width = self.layout.width();
        &mut self.states[place * width..(place + 1) * width]
    }

    /// Joins the numbers of each key with those of another table, zeros where a key is in one
    /// alone. Keys for which there is no room are joined into places in common.
    pub(crate) fn join(&mut self, other: &Self, join: impl Fn(&mut [f64], &[f64])) {
        let none = vec![0.0; self.layout.width()];
        for place in 0..self.len() {
            let theirs = other.index.get(&self.keys[place]).map(|place| other.state(*place as usize));
            join(self.state_mut(place), theirs.unwrap_or(&none));
        }
        for (place, key) in other.keys.iter().enumerate() {
            if !self.index.contains_key(key) {
                let mut token = [Token { key: *key, value: 0.0 }];
                self.redirect(&mut token);
                let own = self.place(token[0].key);
                join(self.state_mut(own), other.state(place));
            }
        }
    }

    /// Gives every place the numbers of one more output, the last: those of output `like`, or
    /// zeros.
    pub(crate) fn add_output(&mut self, layout: PlaceLayout, like: Option<usize>) {
        let PlaceLayout { outputs, each, common } = self.layout;
        let like = like.filter(|like| *like < outputs);
        let mut states = Vec::with_capacity(self.len() * layout.width());
        for state in self.states.chunks_exact(self.layout.width()) {
            for kind in state[..outputs * each].chunks_exact(outputs) {
                states.extend_from_slice(kind);
                states.push(like.map_or(0.0, |like| kind[like]));
            }
            states.extend_from_slice(&state[outputs * each..]);
        }
        debug_assert_eq!(layout, PlaceLayout { outputs: outputs + 1, each, common });
        (self.states, self.layout) = (states, layout);
    }
}

impl Validate for TokenTable {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "table of tokens";
        let PlaceLayout { outputs, each, common } = self.layout;
        let small = outputs.max(each).max(common) < 1 << 20;
        Inconsistent::require(small && self.width() > 0, WHAT, "a place has some numbers")?;
        let room = (1..=Self::MOST).contains(&self.most) && self.len() <= self.most + (self.most / A_SHARED).max(1);
        Inconsistent::require(room, WHAT, "it has no more places than it may")?;
        let whole = self.len().checked_mul(self.width()) == Some(self.states.len());
        Inconsistent::require(whole, WHAT, "each key has its numbers")?;
        Inconsistent::require(self.index.len() == self.len(), WHAT, "each key has one place")?;
        self.states.validate()
    }
}
