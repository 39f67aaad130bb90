//! Kernels of the distance `‖x − z‖`, with `k(x, x) = 1`.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, Simd, exp_lane};

use crate::kernel::{Kernel, KernelError};
use crate::named::{NamedKernel, Text};
use crate::points::Points;
use crate::row::{RowProfile, fill, squared_difference};

/// Scaled distances above this are cut to it: every kernel here is 0 from there on, and `∞ · 0`
/// never arises.
const FAR: f64 = 1e4;

fn squared_distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum()
}

/// The widths whose squares, and the inverses of these, are numbers.
pub(crate) const WIDTHS: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

/// The width, if neither its square nor the inverse of it leaves the range of numbers.
pub(crate) fn width(sigma: f64) -> Result<f64, KernelError> {
    if WIDTHS.contains(&sigma) { Ok(sigma) } else { Err(KernelError::Width(sigma)) }
}

/// `min(√squared · rate, FAR)`
#[inline(always)]
fn scaled_distance<S: Simd>(simd: S, squared: S::F64, rate: f64) -> S::F64 {
    let scaled = simd.mul(simd.sqrt(squared), simd.splat(rate));
    let far = simd.splat(FAR);
    simd.select_less(far, scaled, far, scaled)
}

#[inline(always)]
fn exp_of_minus<S: Simd>(simd: S, r: S::F64) -> S::F64 {
    exp_lane(simd, simd.sub(simd.splat(0.0), r))
}

/// Implements a stationary kernel: its type, its scalar profile and its vector profile of the
/// squared distance.
macro_rules! stationary {
    ($(#[$doc:meta])* $name:ident, |$sigma:ident| $rate:expr,
     scalar |$rate_s:ident, $squared:ident| $scalar:expr,
     vector |$simd:ident, $rate_v:ident, $sum:ident| $vector:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name {
            sigma: f64,
        }

        impl $name {
            /// The kernel of width `sigma > 0`, in the units of the inputs.
            ///
            /// # Errors
            /// [`KernelError::Width`] when `sigma` is not a positive number, or one too small or
            /// too large to be squared.
            pub fn new(sigma: f64) -> Result<Self, KernelError> {
                width(sigma).map(|sigma| Self { sigma })
            }

            /// The width.
            #[must_use]
            pub fn sigma(&self) -> f64 {
                self.sigma
            }

            fn rate(&self) -> f64 {
                let $sigma = self.sigma;
                $rate
            }
        }

        impl NamedKernel for $name {
            fn read(text: &Text<'_>) -> Result<Self, KernelError> {
                Self::new(text.number(text.parameters)?)
            }

            fn parameters(&self) -> String {
                self.sigma.to_string()
            }
        }

        impl Validate for $name {
            fn validate(&self) -> Result<(), Inconsistent> {
                Inconsistent::positive(self.sigma, "width of a kernel")
            }
        }

        impl RowProfile for $name {
            #[inline(always)]
            fn accumulate<S: Simd>(self, simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64 {
                squared_difference(simd, sum, x, z)
            }
            #[inline(always)]
            fn finish<S: Simd>(self, $simd: S, $sum: S::F64) -> S::F64 {
                let $rate_v = self.rate();
                $vector
            }
        }

        impl Kernel for $name {
            fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
                let ($rate_s, $squared) = (self.rate(), squared_distance(x, z));
                $scalar
            }
            fn self_value(&self, _: &[f64]) -> f64 {
                1.0
            }
            fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
                fill(*self, points, offset, x, row);
            }
        }
    };
}

stationary!(
    /// The Gaussian kernel `exp(−‖x − z‖²/2σ²)`.
    Gaussian, |sigma| -0.5 / (sigma * sigma),
    scalar |rate, squared| (rate * squared).exp(),
    vector |simd, rate, sum| exp_lane(simd, simd.mul(simd.splat(rate), sum))
);

stationary!(
    /// The Laplace (exponential, Matérn-1/2) kernel `exp(−‖x − z‖/σ)`, with the Euclidean distance.
    Laplace, |sigma| 1.0 / sigma,
    scalar |rate, squared| (-rate * squared.sqrt()).exp(),
    vector |simd, rate, sum| exp_of_minus(simd, scaled_distance(simd, sum, rate))
);

stationary!(
    /// The Matérn-3/2 kernel `(1 + r) e⁻ʳ` with `r = √3 ‖x − z‖/σ`.
    Matern32, |sigma| 3f64.sqrt() / sigma,
    scalar |rate, squared| {
        let r = (rate * squared.sqrt()).min(FAR);
        (1.0 + r) * (-r).exp()
    },
    vector |simd, rate, sum| {
        let r = scaled_distance(simd, sum, rate);
        simd.mul(simd.add(simd.splat(1.0), r), exp_of_minus(simd, r))
    }
);

stationary!(
    /// The Matérn-5/2 kernel `(1 + r + r²/3) e⁻ʳ` with `r = √5 ‖x − z‖/σ`.
    Matern52, |sigma| 5f64.sqrt() / sigma,
    scalar |rate, squared| {
        let r = (rate * squared.sqrt()).min(FAR);
        (1.0 + r + r * r / 3.0) * (-r).exp()
    },
    vector |simd, rate, sum| {
        let r = scaled_distance(simd, sum, rate);
        let polynomial = simd.mul_add(simd.mul(r, simd.splat(1.0 / 3.0)), r, simd.add(simd.splat(1.0), r));
        simd.mul(polynomial, exp_of_minus(simd, r))
    }
);
