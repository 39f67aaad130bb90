//! A kernel named when the program runs.

use std::fmt;
use std::str::FromStr;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::AlignedVec;

use crate::dot_product::{Linear, Polynomial};
use crate::kernel::{Kernel, KernelError};
use crate::kernel_mixture::KernelMixture;
use crate::points::Points;
use crate::stationary::{Gaussian, Laplace, Matern32, Matern52};

/// One of the kernels of this crate; parses from and prints as `SPEC`, so that reading back gives the same kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum AnyKernel {
    /// `gaussian:SIGMA`
    Gaussian(Gaussian),
    /// `laplace:SIGMA`
    Laplace(Laplace),
    /// `matern32:SIGMA`
    Matern32(Matern32),
    /// `matern52:SIGMA`
    Matern52(Matern52),
    /// `polynomial:DEGREE,OFFSET`
    Polynomial(Polynomial),
    /// `linear`
    Linear(Linear),
    /// `mix:WEIGHT*KERNEL+WEIGHT*KERNEL`
    Mixture(KernelMixture<AnyKernel>),
}

impl AnyKernel {
    fn inner(&self) -> &dyn Kernel {
        match self {
            Self::Gaussian(kernel) => kernel,
            Self::Laplace(kernel) => kernel,
            Self::Matern32(kernel) => kernel,
            Self::Matern52(kernel) => kernel,
            Self::Polynomial(kernel) => kernel,
            Self::Linear(kernel) => kernel,
            Self::Mixture(kernel) => kernel,
        }
    }
}

impl Validate for AnyKernel {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Gaussian(kernel) => kernel.validate(),
            Self::Laplace(kernel) => kernel.validate(),
            Self::Matern32(kernel) => kernel.validate(),
            Self::Matern52(kernel) => kernel.validate(),
            Self::Polynomial(kernel) => kernel.validate(),
            Self::Linear(kernel) => kernel.validate(),
            Self::Mixture(kernel) => kernel.validate(),
        }
    }
}

impl Kernel for AnyKernel {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        self.inner().evaluate(x, z)
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        self.inner().self_value(x)
    }
    fn row(&self, points: &Points, x: &[f64], row: &mut AlignedVec) {
        self.inner().row(points, x, row);
    }
    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        self.inner().row_of_part(points, offset, x, row);
    }
}

impl fmt::Display for AnyKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian(kernel) => write!(f, "gaussian:{}", kernel.sigma()),
            Self::Laplace(kernel) => write!(f, "laplace:{}", kernel.sigma()),
            Self::Matern32(kernel) => write!(f, "matern32:{}", kernel.sigma()),
            Self::Matern52(kernel) => write!(f, "matern52:{}", kernel.sigma()),
            Self::Polynomial(kernel) => write!(f, "polynomial:{},{}", kernel.degree(), kernel.offset()),
            Self::Linear(_) => f.write_str("linear"),
            Self::Mixture(mixture) => {
                f.write_str("mix:")?;
                for (i, (weight, kernel)) in mixture.terms().iter().enumerate() {
                    write!(f, "{}{weight}*{kernel}", if i == 0 { "" } else { "+" })?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for AnyKernel {
    type Err = KernelError;

    fn from_str(spec: &str) -> Result<Self, KernelError> {
        let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
        let number = |value: &str, example| {
            value.trim().parse::<f64>().map_err(|_| KernelError::NotANumber {
                spec: spec.to_owned(),
                value: value.to_owned(),
                example,
            })
        };
        match name.trim() {
            "gaussian" => Ok(Self::Gaussian(Gaussian::new(number(parameters, "gaussian:1.5")?)?)),
            "laplace" => Ok(Self::Laplace(Laplace::new(number(parameters, "laplace:1.5")?)?)),
            "matern32" => Ok(Self::Matern32(Matern32::new(number(parameters, "matern32:1.5")?)?)),
            "matern52" => Ok(Self::Matern52(Matern52::new(number(parameters, "matern52:1.5")?)?)),
            "polynomial" => {
                let example = "polynomial:2,1";
                let (degree, offset) = parameters.split_once(',').unwrap_or((parameters, "0"));
                let degree = degree.trim().parse().map_err(|_| KernelError::NotANumber {
                    spec: spec.to_owned(),
                    value: degree.to_owned(),
                    example,
                })?;
                Ok(Self::Polynomial(Polynomial::new(degree, number(offset, example)?)?))
            }
            "linear" if parameters.is_empty() => Ok(Self::Linear(Linear)),
            "mix" => {
                let example = "mix:0.4*gaussian:0.4+0.6*gaussian:0.7";
                let terms = split_terms(parameters).map(|term| {
                    let (weight, kernel) = term.split_once('*').unwrap_or(("", term));
                    // A mixture inside a mixture could not be told from a longer one: there is no bracket.
                    if kernel.trim_start().starts_with("mix") {
                        return Err(KernelError::Unknown(kernel.to_owned()));
                    }
                    Ok((number(weight, example)?, kernel.parse()?))
                });
                Ok(Self::Mixture(KernelMixture::new(terms.collect::<Result<_, _>>()?)?))
            }
            _ => Err(KernelError::Unknown(spec.to_owned())),
        }
    }
}

/// Splits at each `+` that is not the sign of an exponent, as in `1e+3`.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let is_border = |i: usize| {
        bytes[i] == b'+'
            && !(i >= 2 && matches!(bytes[i - 1], b'e' | b'E') && matches!(bytes[i - 2], b'0'..=b'9' | b'.'))
    };
    let mut start = 0;
    let mut ends: Vec<usize> = (0..bytes.len()).filter(|&i| is_border(i)).collect();
    ends.push(bytes.len());
    ends.into_iter().map(move |end| {
        let term = &text[start..end];
        start = end + 1;
        term
    })
}

/// A kernel, or the rule that finds one from the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum KernelSpec {
    /// `median`: a Gaussian whose width is the [median distance](crate::median_width) of the first rows.
    #[default]
    Median,
    /// A kernel given in full.
    Given(AnyKernel),
}

impl FromStr for KernelSpec {
    type Err = KernelError;
    fn from_str(spec: &str) -> Result<Self, KernelError> {
        if spec.trim() == "median" { Ok(Self::Median) } else { spec.parse().map(Self::Given) }
    }
}

impl fmt::Display for KernelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Median => f.write_str("median"),
            Self::Given(kernel) => kernel.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_back_as_printed() {
        for spec in [
            "gaussian:1.5",
            "laplace:0.25",
            "matern32:2",
            "matern52:0.1",
            "polynomial:3,0.5",
            "linear",
            "mix:0.4*gaussian:0.4+0.6*gaussian:0.7",
            "median",
        ] {
            assert_eq!(spec.parse::<KernelSpec>().map(|k| k.to_string()).as_deref(), Ok(spec));
        }
        let exponents = "mix:1e+2*gaussian:1e-1+2*linear".parse::<AnyKernel>().map(|k| k.to_string());
        assert_eq!(exponents.as_deref(), Ok("mix:100*gaussian:0.1+2*linear"));
    }

    #[test]
    fn broken_specs_say_what_is_wrong() {
        let error = |spec: &str| spec.parse::<AnyKernel>().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error("gaussian:-1").contains("positive"));
        assert!(error("gaussian").contains("gaussian:1.5"));
        assert!(error("gaussian:abc").contains("abc"));
        assert!(error("rbf:1").contains("no kernel is called \"rbf:1\""));
        assert!(error("polynomial:0,1").contains("at least 1"));
        assert!(error("polynomial:2,-1").contains("≥ 0"));
        assert!(error("mix:").contains("not a number"));
        assert!(error("mix:-1*linear").contains("weight"));
        assert!(error("linear:3").contains("no kernel"));
    }
}
