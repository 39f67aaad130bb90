//! The parts of a formula, which add up.

use mercer_kernels::AnyKernel;
use mercer_session::function::{Affine, Expansion, FunctionPart, Waves};

/// Scaled distances above this are cut to it, as the kernels of Mercer do.
pub(crate) const FAR: f64 = 1e4;

/// A part of a formula of inputs `x`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// Kernels at points.
    Kernels(KernelTerms),
    /// Waves of random frequencies.
    Waves(Waves),
    /// A linear function.
    Affine(Affine),
}

/// `Σ_i w_i k(c_i, x)`
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTerms {
    /// `k`
    pub profile: Profile,
    /// `w`
    pub weights: Vec<f64>,
    /// The points `c_i`.
    pub centres: Vec<Vec<f64>>,
}

/// A kernel: of `s = ‖c − x‖²`, of `r = rate √s`, or of `p = cᵀx`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// `exp(−rate s)`
    Gaussian {
        /// `1/2σ²`
        rate: f64,
    },
    /// `exp(−r)`
    Laplace {
        /// `1/σ`
        rate: f64,
    },
    /// `(1 + r) exp(−r)`
    Matern32 {
        /// `√3/σ`
        rate: f64,
    },
    /// `(1 + r + r²/3) exp(−r)`
    Matern52 {
        /// `√5/σ`
        rate: f64,
    },
    /// `(p + offset)^degree`
    Polynomial {
        /// A whole number.
        degree: u32,
        /// At least 0.
        offset: f64,
    },
}

impl Profile {
    /// True of a kernel of the distance.
    pub(crate) fn is_of_distance(self) -> bool {
        !matches!(self, Self::Polynomial { .. })
    }

    fn value(self, centre: &[f64], x: &[f64]) -> f64 {
        let squared = || centre.iter().zip(x).map(|(c, x)| (c - x) * (c - x)).sum::<f64>();
        let far = |rate: f64| (rate * squared().sqrt()).min(FAR);
        match self {
            Self::Gaussian { rate } => (-rate * squared()).exp(),
            Self::Laplace { rate } => (-far(rate)).exp(),
            Self::Matern32 { rate } => (1.0 + far(rate)) * (-far(rate)).exp(),
            Self::Matern52 { rate } => {
                let r = far(rate);
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
            Self::Polynomial { degree, offset } => {
                let product: f64 = centre.iter().zip(x).map(|(c, x)| c * x).sum();
                (product + offset).powf(f64::from(degree))
            }
        }
    }
}

/// The parts of a formula that a part of a learner is; none of what is not known here.
pub(crate) fn parts_of(part: FunctionPart<'_>) -> Option<Vec<Part>> {
    match part {
        FunctionPart::Waves(waves) => Some(vec![Part::Waves(waves)]),
        FunctionPart::Affine(affine) => Some(vec![Part::Affine(affine)]),
        FunctionPart::Expansion(Expansion { kernel, points, alpha }) => {
            let centres: Vec<Vec<f64>> = (0..points.len()).map(|i| points.point(i)).collect();
            let mut parts = Vec::new();
            add_kernels(kernel, &alpha, &centres, &mut parts)?;
            Some(parts)
        }
    }
}

/// Adds `Σ_i w_i k(c_i, x)`, one part for each kernel of a mixture.
fn add_kernels(kernel: &AnyKernel, weights: &[f64], centres: &[Vec<f64>], parts: &mut Vec<Part>) -> Option<()> {
    let profile = match kernel {
        AnyKernel::Gaussian(kernel) => Profile::Gaussian { rate: 0.5 / (kernel.sigma() * kernel.sigma()) },
        AnyKernel::Laplace(kernel) => Profile::Laplace { rate: 1.0 / kernel.sigma() },
        AnyKernel::Matern32(kernel) => Profile::Matern32 { rate: 3f64.sqrt() / kernel.sigma() },
        AnyKernel::Matern52(kernel) => Profile::Matern52 { rate: 5f64.sqrt() / kernel.sigma() },
        AnyKernel::Polynomial(kernel) => Profile::Polynomial { degree: kernel.degree(), offset: kernel.offset() },
        AnyKernel::Linear(_) => {
            let d = centres.first().map_or(0, Vec::len);
            let slope = |j: usize| centres.iter().zip(weights).map(|(c, w)| w * c[j]).sum();
            let slopes = (0..d).map(slope).collect();
            parts.push(Part::Affine(Affine { offset: 0.0, slopes, centres: vec![0.0; d] }));
            return Some(());
        }
        AnyKernel::Mixture(mixture) => {
            return mixture.terms().iter().try_for_each(|(share, kernel)| {
                let weights: Vec<f64> = weights.iter().map(|weight| share * weight).collect();
                add_kernels(kernel, &weights, centres, parts)
            });
        }
        _ => return None,
    };
    parts.push(Part::Kernels(KernelTerms { profile, weights: weights.to_vec(), centres: centres.to_vec() }));
    Some(())
}

impl Part {
    /// The value at inputs `x`, and the size of its terms, the unit of rounding.
    pub(crate) fn value(&self, x: &[f64]) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        let mut add = |term: f64| {
            sum += term;
            size += f64::abs(term);
        };
        match self {
            Self::Kernels(KernelTerms { profile, weights, centres }) => {
                weights.iter().zip(centres).for_each(|(w, c)| add(w * profile.value(c, x)));
            }
            Self::Waves(Waves { frequencies, cosines, sines }) => {
                for ((w, a), b) in frequencies.iter().zip(cosines).zip(sines) {
                    let angle: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
                    add(a * angle.cos());
                    add(b * angle.sin());
                }
            }
            Self::Affine(Affine { offset, slopes, centres }) => {
                add(*offset);
                slopes.iter().zip(centres).zip(x).for_each(|((w, c), x)| add(w * (x - c)));
            }
        }
        (sum, size)
    }

    /// The points of its kernels.
    pub(crate) fn centres(&self) -> &[Vec<f64>] {
        if let Self::Kernels(terms) = self { &terms.centres } else { &[] }
    }

    /// True if input `j` matters though it is always 0.
    pub(crate) fn needs(&self, j: usize) -> bool {
        match self {
            Self::Kernels(terms) => terms.profile.is_of_distance() && terms.centres.iter().any(|c| c[j] != 0.0),
            Self::Waves(_) => false,
            Self::Affine(affine) => affine.slopes[j] * affine.centres[j] != 0.0,
        }
    }

    /// Keeps these inputs alone.
    pub(crate) fn keep(&mut self, inputs: &[usize]) {
        let kept = |all: &mut Vec<f64>| *all = inputs.iter().map(|j| all[*j]).collect();
        match self {
            Self::Kernels(terms) => terms.centres.iter_mut().for_each(kept),
            Self::Waves(waves) => waves.frequencies.iter_mut().for_each(kept),
            Self::Affine(affine) => {
                kept(&mut affine.slopes);
                kept(&mut affine.centres);
            }
        }
    }

    /// All its numbers.
    pub(crate) fn numbers(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Self::Kernels(terms) => Box::new(terms.weights.iter().chain(terms.centres.iter().flatten()).copied()),
            Self::Waves(waves) => {
                let weights = waves.cosines.iter().chain(&waves.sines);
                Box::new(weights.chain(waves.frequencies.iter().flatten()).copied())
            }
            Self::Affine(affine) => {
                Box::new([affine.offset].into_iter().chain(affine.slopes.iter().chain(&affine.centres).copied()))
            }
        }
    }
}
