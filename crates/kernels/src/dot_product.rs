//! Kernels of the inner product `xᵀz`.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, Simd};

use crate::kernel::{Kernel, KernelError};
use crate::named::{NamedKernel, Text};
use crate::points::Points;
use crate::row::{RowProfile, fill};

fn inner_product(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| x * z).sum()
}

/// Largest degree of a polynomial kernel: an evaluation multiplies as often.
const LARGEST_DEGREE: u32 = 1000;

/// The polynomial kernel `(xᵀz + c)ᵐ` with integer degree `1 ≤ m ≤ 1000` and offset `c ≥ 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Polynomial {
    degree: u32,
    offset: f64,
}

impl Polynomial {
    /// The kernel `(xᵀz + offset)^degree`.
    ///
    /// # Errors
    /// [`KernelError::Degree`] when `degree` is 0 or above 1000, [`KernelError::Offset`] when
    /// `offset` is negative or not finite.
    pub fn new(degree: u32, offset: f64) -> Result<Self, KernelError> {
        if !(1..=LARGEST_DEGREE).contains(&degree) {
            return Err(KernelError::Degree(degree));
        }
        if !offset.is_finite() || offset < 0.0 {
            return Err(KernelError::Offset(offset));
        }
        Ok(Self { degree, offset })
    }

    /// The degree `m`.
    #[must_use]
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// The offset `c`.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl NamedKernel for Polynomial {
    fn read(text: &Text<'_>) -> Result<Self, KernelError> {
        let (degree, offset) = text.parameters.split_once(',').unwrap_or((text.parameters, "0"));
        Self::new(text.number(degree)?, text.number(offset)?)
    }

    fn parameters(&self) -> String {
        format!("{},{}", self.degree, self.offset)
    }
}

impl Validate for Polynomial {
    fn validate(&self) -> Result<(), Inconsistent> {
        let in_range = Self::new(self.degree, self.offset).is_ok();
        Inconsistent::require(in_range, "polynomial kernel", "degree and offset are in their ranges")
    }
}

impl RowProfile for Polynomial {
    #[inline(always)]
    fn accumulate<S: Simd>(self, simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64 {
        simd.mul_add(x, z, sum)
    }
    #[inline(always)]
    fn finish<S: Simd>(self, simd: S, sum: S::F64) -> S::F64 {
        let base = simd.add(sum, simd.splat(self.offset));
        (1..self.degree).fold(base, |power, _| simd.mul(power, base))
    }
}

impl Kernel for Polynomial {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        let base = inner_product(x, z) + self.offset;
        (1..self.degree).fold(base, |power, _| power * base)
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        self.evaluate(x, x)
    }
    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        fill(*self, points, offset, x, row);
    }
}

/// The linear kernel `xᵀz`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Linear;

impl NamedKernel for Linear {
    fn read(text: &Text<'_>) -> Result<Self, KernelError> {
        if text.parameters.is_empty() { Ok(Self) } else { Err(KernelError::Unknown(text.spec.to_owned())) }
    }

    fn parameters(&self) -> String {
        String::new()
    }
}

impl Validate for Linear {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl RowProfile for Linear {
    #[inline(always)]
    fn accumulate<S: Simd>(self, simd: S, sum: S::F64, x: S::F64, z: S::F64) -> S::F64 {
        simd.mul_add(x, z, sum)
    }
    #[inline(always)]
    fn finish<S: Simd>(self, _: S, sum: S::F64) -> S::F64 {
        sum
    }
}

impl Kernel for Linear {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        inner_product(x, z)
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        inner_product(x, x)
    }
    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        fill(*self, points, offset, x, row);
    }
}
