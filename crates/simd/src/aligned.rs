//! Storage: eight `f64` on a cache line, and a growable vector of them.

use std::ops::{Deref, DerefMut};

use mercer_core::{Inconsistent, Validate};

/// Number of `f64` in a [`Lane`].
pub const LANES: usize = 8;

/// Eight `f64` on a 64-byte boundary, so that no vector load ever crosses a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C, align(64))]
pub struct Lane(pub [f64; LANES]);

impl Lane {
    /// Eight zeros.
    pub const ZERO: Self = Self([0.0; LANES]);
}

// SAFETY: `Lane` is `repr(C)` around `[f64; 8]`, whose 64 bytes equal its alignment: no padding,
// every bit pattern valid.
#[allow(unsafe_code, reason = "bytemuck needs the promise that Lane is plain data; it gives safe casts to [f64]")]
unsafe impl bytemuck::Zeroable for Lane {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "bytemuck needs the promise that Lane is plain data; it gives safe casts to [f64]")]
unsafe impl bytemuck::Pod for Lane {}

/// A growable vector of `f64`, stored in whole [`Lane`]s and padded with zeros.
///
/// Invariant: the entries of the last lane past `len` are zero, so that kernels may work on whole
/// lanes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AlignedVec {
    lanes: Vec<Lane>,
    len: usize,
}

impl AlignedVec {
    /// An empty vector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Self { lanes: vec![Lane::ZERO; len.div_ceil(LANES)], len }
    }

    /// A copy of `values`.
    #[must_use]
    pub fn from_slice(values: &[f64]) -> Self {
        let mut vector = Self::zeros(values.len());
        vector.copy_from_slice(values);
        vector
    }

    /// The whole lanes, padding included.
    #[must_use]
    #[inline]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The whole lanes; whoever writes through this keeps the padding zero.
    #[inline]
    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.lanes
    }

    /// Appends one value; allocates only when a lane beyond the capacity begins.
    pub fn push(&mut self, value: f64) {
        if self.len.is_multiple_of(LANES) {
            self.lanes.push(Lane::ZERO);
        }
        self.lanes[self.len / LANES].0[self.len % LANES] = value;
        self.len += 1;
    }

    /// Takes entry `index` out; the others keep their order.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.len, "entry {index} of {}", self.len);
        self.copy_within(index + 1.., index);
        self.resize(self.len - 1);
    }

    /// Sets the length; new entries and the padding become zero, kept entries stay.
    #[inline]
    pub fn resize(&mut self, len: usize) {
        self.lanes.resize(len.div_ceil(LANES), Lane::ZERO);
        if len < self.len && !len.is_multiple_of(LANES) {
            self.lanes[len / LANES].0[len % LANES..].fill(0.0);
        }
        self.len = len;
    }

    /// Makes this a copy of `other`, reusing the allocation.
    pub fn assign(&mut self, other: &Self) {
        self.lanes.clear();
        self.lanes.extend_from_slice(&other.lanes);
        self.len = other.len;
    }
}

impl Deref for AlignedVec {
    type Target = [f64];
    #[inline]
    fn deref(&self) -> &[f64] {
        &bytemuck::cast_slice(&self.lanes)[..self.len]
    }
}

impl DerefMut for AlignedVec {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut bytemuck::cast_slice_mut(&mut self.lanes)[..self.len]
    }
}

impl Validate for Lane {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.0.validate()
    }
}

impl Validate for AlignedVec {
    fn validate(&self) -> Result<(), Inconsistent> {
        let whole = self.lanes.len() == self.len.div_ceil(LANES);
        Inconsistent::require(whole, "vector", "it has as many lanes as its length needs")?;
        self.lanes.validate()?;
        let used = self.len % LANES;
        let padding = self.lanes.last().filter(|_| used > 0).map_or(&[][..], |lane| &lane.0[used..]);
        Inconsistent::require(padding.iter().all(|value| *value == 0.0), "vector", "its padding is zero")
    }
}

impl FromIterator<f64> for AlignedVec {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut vector = Self::new();
        values.into_iter().for_each(|value| vector.push(value));
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_the_invariant_is_seen() {
        let good: AlignedVec = (1..=11).map(f64::from).collect();
        assert_eq!(good.validate(), Ok(()));
        assert!(AlignedVec { len: 17, ..good.clone() }.validate().is_err());
        assert!(AlignedVec { len: 8, ..good.clone() }.validate().is_err());
        assert!(AlignedVec { len: 10, ..good.clone() }.validate().is_err());
        assert!(AlignedVec { len: usize::MAX, ..good.clone() }.validate().is_err());
        let mut infinite = good;
        infinite[3] = f64::INFINITY;
        assert!(infinite.validate().is_err());
    }

    #[test]
    fn padding_stays_zero_through_push_and_resize() {
        let mut v: AlignedVec = (1..=11).map(f64::from).collect();
        assert_eq!((v.len(), v.lanes().len()), (11, 2));
        v.resize(9);
        v.resize(16);
        assert_eq!(v[8..], [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(std::ptr::from_ref(&v.lanes()[0]).align_offset(64), 0);
    }
}
