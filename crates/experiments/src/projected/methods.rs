//! The learners of the paper's experiments (section 4), at its settings.
//!
//! Gaussian kernel of a given width, `λ = 1`; KORS with `μ = 1`, `β = 1`, `ε = ½`; FOGD with
//! `D = 1000` and `η = 1/√n`. For PROS-N-KONS the Newton step's regulariser is `λ` and the clip 1,
//! the largest target.

use crate::learners::{fogd, nystrom, pros_n_kons, taylor};
use crate::prelude::*;
use mercer_kernels::Gaussian;
use mercer_learners::{KernelAwv, KernelKrr, KernelRidgeParams, PkawvNystrom, Regressor};

/// The ridge of all experiments of section 4.
pub(crate) const LAMBDA: f64 = 1.0;

/// `D` of FOGD.
pub(crate) const FEATURES: usize = 1000;

/// Bytes that one learner's matrix may take.
pub(crate) const MOST_BYTES: u64 = 500_000_000;

/// A learner of section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectedMethod {
    /// PKAWV on Taylor features of this degree `M`.
    Taylor(usize),
    /// PKAWV on a KORS dictionary.
    Nystrom,
    /// PROS-N-KONS.
    ProsNKons,
    /// FOGD.
    Fogd,
    /// Kernel-AWV, which keeps all points.
    Whole,
    /// Kernel ridge regression, which keeps all points: Kernel-AWV without the last term of (3).
    Ridge,
}

impl ProjectedMethod {
    /// In the order of pictures and tables.
    pub(crate) const ALL: [Self; 8] = [
        Self::Taylor(2),
        Self::Taylor(3),
        Self::Taylor(4),
        Self::Nystrom,
        Self::ProsNKons,
        Self::Fogd,
        Self::Whole,
        Self::Ridge,
    ];

    /// Its name in pictures and tables.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Taylor(degree) => format!("PKAWV-Taylor, M = {degree}"),
            Self::Nystrom => "PKAWV-Nyström".into(),
            Self::ProsNKons => "PROS-N-KONS".into(),
            Self::Fogd => "FOGD".into(),
            Self::Whole => "Kernel-AWV".into(),
            Self::Ridge => "Kernel ridge".into(),
        }
    }

    /// The learner for `rounds` inputs of dimension `d` and a kernel of width `sigma`.
    pub(crate) fn build(self, d: usize, rounds: usize, sigma: f64, seed: u64) -> Result<Box<dyn Regressor>> {
        let kernel = Gaussian::new(sigma)?;
        Ok(match self {
            Self::Taylor(degree) => Box::new(taylor(d, sigma, degree, LAMBDA, MOST_BYTES)?),
            Self::Nystrom => Box::new(PkawvNystrom::new(kernel, d, nystrom(LAMBDA, 1.0, seed))?),
            Self::ProsNKons => Box::new(pros_n_kons(kernel, d, LAMBDA, 1.0, seed)?),
            Self::Fogd => Box::new(fogd(d, sigma, FEATURES, 1.0, rounds, seed)?),
            Self::Whole => Box::new(KernelAwv::new(kernel, d, KernelRidgeParams::default().lambda(LAMBDA))?),
            Self::Ridge => Box::new(KernelKrr::new(kernel, d, KernelRidgeParams::default().lambda(LAMBDA))?),
        })
    }
}
