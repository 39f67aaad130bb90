//! The coefficients of an update: a vector for each output.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::Rotations;
use mercer_simd::{axpy, dot};

use super::LARGEST_STEP;

/// `W`, by columns: one vector of `n` coefficients for each of `m ≥ 1` outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Coefficients(Vec<AlignedVec>);

impl Coefficients {
    /// Zeros: `n` for each of `outputs ≥ 1` outputs.
    #[must_use]
    pub fn zeros(outputs: usize, n: usize) -> Self {
        Self(vec![AlignedVec::zeros(n); outputs.max(1)])
    }

    /// Coefficients of one output.
    #[must_use]
    pub fn from_vector(w: AlignedVec) -> Self {
        Self(vec![w])
    }

    /// One vector an output, all of one length; at least one.
    pub(crate) fn from_vectors(vectors: Vec<AlignedVec>) -> Self {
        if vectors.is_empty() { Self::zeros(1, 0) } else { Self(vectors) }
    }

    /// Number of outputs `m`.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.0.len()
    }

    /// Number of coordinates `n`.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.0[0].len()
    }

    /// The vectors.
    #[must_use]
    pub fn vectors(&self) -> &[AlignedVec] {
        &self.0
    }

    /// The vectors, to change; they keep one length.
    pub(crate) fn vectors_mut(&mut self) -> &mut [AlignedVec] {
        &mut self.0
    }

    /// `scores ← Wᵀφ`
    #[inline]
    pub fn values(&self, phi: &AlignedVec, scores: &mut [f64]) {
        for (score, w) in scores.iter_mut().zip(&self.0) {
            *score = dot(w.lanes(), phi.lanes());
        }
    }

    /// `W ← W + c stepsᵀ`
    #[inline]
    pub fn add(&mut self, steps: &[f64], c: &AlignedVec) {
        for (step, w) in steps.iter().zip(&mut self.0) {
            axpy(*step, c.lanes(), w.lanes_mut());
        }
    }

    /// Adds `steps` to coefficient `index`, one number an output.
    ///
    /// # Panics
    /// If there is no such coefficient.
    pub fn add_to(&mut self, index: usize, steps: &[f64]) {
        self.0.iter_mut().zip(steps).for_each(|(w, step)| w[index] += step);
    }

    /// `‖W‖²`
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.0.iter().map(|w| dot(w.lanes(), w.lanes())).sum()
    }

    /// Gains a coordinate, 0 in every output.
    pub fn grow(&mut self) {
        self.0.iter_mut().for_each(|w| w.push(0.0));
    }

    /// Gains a coordinate with these coefficients, one an output.
    pub fn push(&mut self, coefficients: &[f64]) {
        self.0.iter_mut().zip(coefficients).for_each(|(w, value)| w.push(*value));
    }

    /// `W ← factor · W`
    pub fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|w| mercer_simd::scale(factor, w));
    }

    /// Takes coefficient `index` of every output out; the others keep their order.
    ///
    /// # Panics
    /// If there is no such coefficient.
    pub fn remove(&mut self, index: usize) {
        self.0.iter_mut().for_each(|w| w.remove(index));
    }

    /// The coefficients of an output, to change.
    ///
    /// # Panics
    /// If there is no such output.
    pub fn of_output(&mut self, output: usize) -> &mut [f64] {
        &mut self.0[output]
    }

    /// Zeros again, `n` for each output.
    pub(crate) fn restart(&mut self, n: usize) {
        self.0.iter_mut().for_each(|w| {
            w.resize(0);
            w.resize(n);
        });
    }

    /// Brings a coordinate last; [`drop_last`](Self::drop_last) takes it out.
    pub(crate) fn rotate(&mut self, rotations: &Rotations) {
        self.0.iter_mut().for_each(|w| rotations.apply(w));
    }

    /// Drops the last coordinate, and moves the others of output `k` by `−along · w_k` where `w_k`
    /// is what it held.
    pub(crate) fn drop_last(&mut self, along: Option<&AlignedVec>) {
        for w in &mut self.0 {
            let n = w.len().saturating_sub(1);
            let last = w.get(n).copied().unwrap_or(0.0);
            w.resize(n);
            // A move out of the range of numbers is not made: a removal cannot fail.
            let fits = |along: &AlignedVec| along.iter().all(|c| (last * c).abs() < LARGEST_STEP);
            if let Some(along) = along.filter(|along| fits(along)) {
                axpy(-last, along.lanes(), w.lanes_mut());
            }
        }
    }

    /// Gains an output, a copy of `like` or zero.
    pub(crate) fn add_output(&mut self, like: Option<usize>) {
        let fresh = || AlignedVec::zeros(self.coordinates());
        let added = like.and_then(|like| self.0.get(like)).cloned().unwrap_or_else(fresh);
        self.0.push(added);
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Coefficients {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let vectors = Vec::<AlignedVec>::deserialize(deserializer)?;
        if vectors.is_empty() {
            return Err(serde::de::Error::custom("a learner has at least one output"));
        }
        Ok(Self(vectors))
    }
}

impl Validate for Coefficients {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.0.validate()?;
        let n = self.0.first().map(|w| w.len());
        let same = n.is_some() && self.0.iter().all(|w| Some(w.len()) == n);
        Inconsistent::require(same, "coefficients", "there is at least one output, and all have as many")
    }
}
