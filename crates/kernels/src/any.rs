//! A kernel named when the program runs.

use std::fmt;
use std::str::FromStr;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::AlignedVec;

use crate::dot_product::{Linear, Polynomial};
use crate::kernel::{Kernel, KernelError};
use crate::kernel_mixture::KernelMixture;
use crate::named::{NamedKernel, Text};
use crate::points::Points;
use crate::stationary::{Gaussian, Laplace, Matern32, Matern52};

/// Makes of the table the enum and what is said of each kind. A row is the variant, the type, the
/// name with its parameters in words, and an example.
macro_rules! kernels {
    ($($variant:ident($type:ty) = $name:literal $words:literal, $example:literal;)*) => {
        /// One of the kernels of this crate; parses from and prints as `SPEC`, so that reading back
        /// gives the same kernel.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum AnyKernel {
            $(
                #[doc = concat!("`", $name, $words, "`")]
                $variant($type),
            )*
        }

        impl AnyKernel {
            /// A kernel of each kind, as it is written.
            pub const EXAMPLES: &'static [&'static str] = &[$($example),*];

            fn inner(&self) -> &dyn Kernel {
                match self { $(Self::$variant(kernel) => kernel,)* }
            }

            /// The name, and the parameters as they are written.
            fn written(&self) -> (&'static str, String) {
                match self { $(Self::$variant(kernel) => ($name, kernel.parameters()),)* }
            }
        }

        impl Validate for AnyKernel {
            fn validate(&self) -> Result<(), Inconsistent> {
                match self { $(Self::$variant(kernel) => kernel.validate(),)* }
            }
        }

        impl FromStr for AnyKernel {
            type Err = KernelError;

            fn from_str(spec: &str) -> Result<Self, KernelError> {
                let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
                match name.trim() {
                    $($name => NamedKernel::read(&Text { spec, parameters, example: $example }).map(Self::$variant),)*
                    _ => Err(KernelError::Unknown(spec.to_owned())),
                }
            }
        }
    };
}

kernels! {
    Gaussian(Gaussian) = "gaussian" ":SIGMA", "gaussian:1.5";
    Laplace(Laplace) = "laplace" ":SIGMA", "laplace:1.5";
    Matern32(Matern32) = "matern32" ":SIGMA", "matern32:1.5";
    Matern52(Matern52) = "matern52" ":SIGMA", "matern52:1.5";
    Polynomial(Polynomial) = "polynomial" ":DEGREE,OFFSET", "polynomial:2,1";
    Linear(Linear) = "linear" "", "linear";
    Mixture(KernelMixture<AnyKernel>) = "mix" ":WEIGHT*KERNEL+WEIGHT*KERNEL", "mix:0.4*gaussian:0.4+0.6*gaussian:0.7";
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
        let (name, parameters) = self.written();
        write!(f, "{name}{}{parameters}", if parameters.is_empty() { "" } else { ":" })
    }
}

impl NamedKernel for KernelMixture<AnyKernel> {
    fn read(text: &Text<'_>) -> Result<Self, KernelError> {
        let terms = split_terms(text.parameters).map(|term| {
            let (weight, kernel) = term.split_once('*').unwrap_or(("", term));
            // A mixture inside a mixture could not be told from a longer one: there is no bracket.
            if kernel.trim_start().starts_with("mix") {
                return Err(KernelError::Unknown(kernel.to_owned()));
            }
            Ok((text.number(weight)?, kernel.parse()?))
        });
        Self::new(terms.collect::<Result<_, _>>()?)
    }

    fn parameters(&self) -> String {
        let terms: Vec<String> = self.terms().iter().map(|(weight, kernel)| format!("{weight}*{kernel}")).collect();
        terms.join("+")
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
///
/// All rules are here: who does not know a rule cannot choose a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum KernelSpec {
    /// `median`: a Gaussian whose width is the [median distance](crate::median_width) of the first
    /// rows.
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
        let further = ["laplace:0.25", "matern52:0.1", "polynomial:3,0.5", "median"];
        for spec in AnyKernel::EXAMPLES.iter().copied().chain(further) {
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
