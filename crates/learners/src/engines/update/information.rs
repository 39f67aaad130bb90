//! The discounted normal matrix of exponential forgetting, from which `P` is inverted anew.
//!
//! With `A = Σ γ^{t−s} ω φφᵀ + Λ` the matrix of the fit is `P = A⁻¹`. An error of `A` fades as its
//! round does. An error of the recursion of `P` grows by `1/γ` a round in every direction that the
//! stream does not visit, and no digit is left when `γ^{−t}` reaches `1/ε`. `P` is therefore
//! inverted anew each memory of `−1/ln γ` rounds, or each `n` rounds up to four memories: `n³`
//! then, at most `n²` a round where `n` is at most four memories. The error `E` of the coefficients
//! follows `A_t E_t = γ A_{t−1} E_{t−1}`: with the right `P` it does not grow.
//!
//! **Floor.** The ridge `Λ` begins as `λI` and fades. At `10⁻⁶ λ` (or where `A` would be singular
//! to rounding) it stays, and draws towards the coefficients of the time. Without it nothing would
//! be known to rounding, in the end, of a direction that the stream has left.
//!
//! `A` is kept over `γ` to the rounds since the last inversion, so that a round costs `½n²`.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{GrowingCholesky, Removal, Rotations, SymmetricMatrix};
use mercer_simd::dot;

use super::in_range;
use crate::Error;

/// The ridge fades to this share of `λ`.
const LEAST_SHARE: f64 = 1e-6;

/// The ridge is at least this share of the trace of `A`.
const LEAST_OF_TRACE: f64 = 1e-12;

/// Matrices whose trace is outside of this range and that of its reciprocal are not inverted.
const LARGEST_TRACE: f64 = 1e290;

/// The matrix `A`.
///
/// # Invariants
/// The matrix meant is `a` times `scale`, and `ridge · scale · I` is a part of it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Information {
    a: SymmetricMatrix,
    scale: f64,
    rounds: u64,
    ridge: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    factor: GrowingCholesky,
    #[cfg_attr(feature = "serde", serde(skip))]
    inverse: SymmetricMatrix,
    #[cfg_attr(feature = "serde", serde(skip))]
    vectors: [AlignedVec; 2],
}

impl Information {
    /// No coordinates yet.
    pub(crate) fn new(ridge: f64) -> Self {
        Self {
            a: SymmetricMatrix::new(),
            scale: 1.0,
            rounds: 0,
            ridge,
            factor: GrowingCholesky::new(),
            inverse: SymmetricMatrix::new(),
            vectors: Default::default(),
        }
    }

    /// Refuses a round with which `A` would leave the range of numbers.
    pub(crate) fn takes(&self, phi: &AlignedVec, growth: Option<f64>, weight: f64) -> Result<(), Error> {
        let squared = dot(phi.lanes(), phi.lanes()) + growth.map_or(0.0, |new| new * new);
        in_range(weight / self.scale * squared)
    }

    /// Takes a round in and discounts all of them. `½n²`.
    pub(crate) fn add(&mut self, phi: &AlignedVec, weight: f64, keep: f64) {
        self.a.subtract(-weight / self.scale, phi);
        self.scale *= keep;
        self.rounds += 1;
    }

    /// True if it is time to invert anew.
    pub(crate) fn is_due(&self, keep: f64) -> bool {
        let memory = -1.0 / keep.ln();
        self.rounds as f64 >= (self.a.dimension() as f64).min(4.0 * memory).max(memory)
    }

    /// `P ← A⁻¹`. False, and `P` as it was, where that cannot be done in the range of numbers.
    pub(crate) fn invert(&mut self, lambda: f64, p: &mut SymmetricMatrix) -> bool {
        self.a.scale(self.scale);
        self.ridge *= self.scale;
        (self.scale, self.rounds) = (1.0, 0);
        let trace = self.a.trace();
        let mut floor = (LEAST_SHARE * lambda).max(LEAST_OF_TRACE * trace);
        if !(trace < LARGEST_TRACE && floor > 1.0 / LARGEST_TRACE) {
            return false;
        }
        // The first floor is enough, unless removals have cost digits.
        for _ in 0..4 {
            let missing = floor - self.ridge;
            if missing > 0.0 {
                self.a.add_to_diagonal(missing);
                self.ridge = floor;
            }
            if self.a.invert(&mut self.factor, &mut self.inverse, &mut self.vectors).is_ok() {
                std::mem::swap(p, &mut self.inverse);
                return true;
            }
            floor *= 1e3;
        }
        false
    }

    /// Gains a coordinate with this ridge; 0 where its example alone determines it.
    pub(crate) fn grow(&mut self, ridge: f64) {
        self.a.grow(ridge / self.scale);
        self.ridge = self.ridge.min(ridge / self.scale);
    }

    /// Loses a coordinate. What is integrated out of `A⁻¹` is conditioned on in `A`, and the other
    /// way round.
    pub(crate) fn remove(&mut self, c: &mut AlignedVec, rotations: &Rotations, how: Removal) {
        let dual = match how {
            Removal::Marginalise => Removal::Condition,
            Removal::Condition => Removal::Marginalise,
        };
        self.a.rotate(rotations);
        self.a.drop_last(dual, c);
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self, n: usize, ridge: f64) {
        (self.scale, self.rounds, self.ridge) = (1.0, 0, ridge);
        self.a.restart(n, ridge);
    }

    /// Number of coordinates.
    pub(crate) fn coordinates(&self) -> usize {
        self.a.dimension()
    }
}

impl Validate for Information {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.a.validate()?;
        Inconsistent::non_negative(self.ridge, "ridge of the normal matrix")?;
        let scaled = self.scale > 0.0 && self.scale <= 1.0;
        Inconsistent::require(scaled, "normal matrix", "its scale is above 0 and at most 1")
    }
}
