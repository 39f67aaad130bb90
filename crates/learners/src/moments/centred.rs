//! Sums about the mean, for linear features with an intercept.
//!
//! `Σ ω(x − x̄)(x − x̄)ᵀ` from raw sums loses all digits where a column lies far from 0 against its
//! spread. So a block of rows is centred about its own mean, and two sets of sums join as Chan,
//! Golub and LeVeque (1983) do: `S = S_a + S_b + (ω_a ω_b/ω) δδᵀ` with `δ = x̄_b − x̄_a`.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::OuterProducts;
use mercer_simd::axpy;

use super::sums::MomentSums;
use crate::example::{Target, Targets};

/// A weight below this part of those that were added and taken back is rounding.
const NOTHING: f64 = 1e-13;

/// The means that sums are about.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Means {
    /// `x̄`
    pub(super) inputs: AlignedVec,
    /// `ȳ` of each output.
    pub(super) targets: Vec<f64>,
}

impl Means {
    pub(super) fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { inputs: AlignedVec::zeros(inputs), targets: vec![0.0; outputs] }
    }
}

impl Validate for Means {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.inputs.validate()?;
        self.targets.validate()
    }
}

impl MomentSums {
    /// The sums of one block of examples, about its mean: `features` are inputs and 1, and become
    /// deviations of the inputs from their mean.
    pub(super) fn centred_block(
        &self,
        features: &mut [AlignedVec],
        targets: Targets<'_>,
        weights: &[f64],
        outer: &mut OuterProducts,
    ) -> Option<Self> {
        let (p, outputs) = (self.gram.dimension(), self.outputs());
        let mut means = Means::zeros(p, outputs);
        let mut block = self.empty();
        block.weight = weights.iter().sum();
        block.count = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
        let first = weights.iter().position(|weight| *weight > 0.0)?;
        // About the first row, a column that does not vary has deviations of exactly 0.
        let mut origin = features[first].clone();
        origin.resize(p);
        for (z, weight) in features.iter_mut().zip(weights) {
            z.resize(p);
            axpy(-1.0, origin.lanes(), z.lanes_mut());
            axpy(weight / block.weight, z.lanes(), means.inputs.lanes_mut());
        }
        features.iter_mut().for_each(|z| axpy(-1.0, means.inputs.lanes(), z.lanes_mut()));
        axpy(1.0, origin.lanes(), means.inputs.lanes_mut());
        block.gram.add_outer_products(weights, features, outer);
        let base = targets.get(first).y.to_vec();
        let mut shifts = vec![0.0; outputs];
        for (z, Target { y, weight }) in features.iter().zip(targets.iter()) {
            // Most targets of classes are those of the first row, and add nothing.
            for (output, (y, base)) in y.iter().zip(&base).enumerate().filter(|(_, (y, base))| y != base) {
                let away = y - base;
                axpy(weight * away, z.lanes(), block.cross[output].lanes_mut());
                shifts[output] += weight * away;
                block.squares[output] += weight * away * away;
            }
        }
        for (output, base) in base.iter().enumerate() {
            let shift = shifts[output];
            block.totals[output] = block.weight * base + shift;
            block.squares[output] = (block.squares[output] - shift * shift / block.weight).max(0.0);
            means.targets[output] = base + shift / block.weight;
        }
        block.means = Some(means);
        Some(block)
    }

    /// `self ← self + factor · other`, both about their means.
    pub(super) fn join(&mut self, factor: f64, other: &Self, outer: &mut OuterProducts) {
        let (Some(ours), Some(theirs)) = (&mut self.means, &other.means) else { return };
        let (a, b) = (self.weight, factor * other.weight);
        let all = a + b;
        let nothing = all.abs() <= NOTHING * a.abs().max(b.abs());
        self.count += factor * other.count;
        if nothing {
            let count = self.count;
            *self = Self { count, ..self.empty() };
            return;
        }
        let mut delta = theirs.inputs.clone();
        axpy(-1.0, ours.inputs.lanes(), delta.lanes_mut());
        axpy(b / all, delta.lanes(), ours.inputs.lanes_mut());
        let between = a * b / all;
        self.gram.add(factor, &other.gram);
        self.gram.add_outer_products(&[between], std::slice::from_ref(&delta), outer);
        for output in 0..self.cross.len() {
            let away = theirs.targets[output] - ours.targets[output];
            ours.targets[output] += b / all * away;
            axpy(factor, other.cross[output].lanes(), self.cross[output].lanes_mut());
            axpy(between * away, delta.lanes(), self.cross[output].lanes_mut());
            self.squares[output] += factor * other.squares[output] + between * away * away;
            self.totals[output] += factor * other.totals[output];
        }
        self.weight = all;
    }
}
