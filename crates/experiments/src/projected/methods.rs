//! The learners of the paper's experiments (section 4), at its settings.
//!
//! Gaussian kernel of a given width, `λ = 1`; KORS with `μ = 1`, `β = 1`, `ε = ½`; FOGD with
//! `D = 1000` and `η = 1/√n`. For PROS-N-KONS the Newton step's regulariser is `λ` and the clip 1,
//! the largest target.

use crate::learners::{fogd, nystrom, pros_n_kons, taylor_params};
use crate::prelude::*;
use mercer_kernels::Gaussian;
use mercer_learners::{
    KernelAwv, KernelKrr, KernelRidgeParams, PkawvNystrom, PkawvTaylor, PkrrNystrom, PkrrTaylor, Regressor,
};

/// The ridge of all experiments of section 4.
pub(crate) const LAMBDA: f64 = 1.0;

/// `D` of FOGD.
pub(crate) const FEATURES: usize = 1000;

/// Bytes that one learner's matrix may take.
pub(crate) const MOST_BYTES: u64 = 500_000_000;

/// A learner of section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectedMethod {
    /// On Taylor features of this degree `M`.
    Taylor(usize),
    /// On a KORS dictionary.
    Nystrom,
    /// PROS-N-KONS.
    ProsNKons,
    /// FOGD.
    Fogd,
    /// On all points.
    Whole,
}

/// The forecaster that projections approximate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelForecaster {
    /// Kernel-AWV, against an adversary.
    Awv,
    /// Kernel ridge regression, on data: Kernel-AWV without the last term of (3).
    Ridge,
}

impl ProjectedMethod {
    /// Its name in pictures and tables.
    pub(crate) fn name(self, forecaster: KernelForecaster) -> String {
        let (projected, whole) = match forecaster {
            KernelForecaster::Awv => ("PKAWV", "Kernel-AWV"),
            KernelForecaster::Ridge => ("PKRR", "Kernel ridge"),
        };
        match self {
            Self::Taylor(degree) => format!("{projected}-Taylor, M = {degree}"),
            Self::Nystrom => format!("{projected}-Nyström"),
            Self::ProsNKons => "PROS-N-KONS".into(),
            Self::Fogd => "FOGD".into(),
            Self::Whole => whole.into(),
        }
    }

    /// The learner for `rounds` inputs of dimension `d` and a kernel of width `sigma`.
    pub(crate) fn build(
        self,
        forecaster: KernelForecaster,
        d: usize,
        rounds: usize,
        sigma: f64,
        seed: u64,
    ) -> Result<Box<dyn Regressor>> {
        let (kernel, ridge) = (Gaussian::new(sigma)?, KernelRidgeParams::default().lambda(LAMBDA));
        let (features, points) =
            (|degree| taylor_params(sigma, degree, LAMBDA, MOST_BYTES), nystrom(LAMBDA, 1.0, seed));
        Ok(match (self, forecaster) {
            (Self::Taylor(degree), KernelForecaster::Awv) => Box::new(PkawvTaylor::new(d, features(degree))?),
            (Self::Taylor(degree), KernelForecaster::Ridge) => Box::new(PkrrTaylor::new(d, features(degree))?),
            (Self::Nystrom, KernelForecaster::Awv) => Box::new(PkawvNystrom::new(kernel, d, points)?),
            (Self::Nystrom, KernelForecaster::Ridge) => Box::new(PkrrNystrom::new(kernel, d, points)?),
            (Self::ProsNKons, _) => Box::new(pros_n_kons(kernel, d, LAMBDA, 1.0, seed)?),
            (Self::Fogd, _) => Box::new(fogd(d, sigma, FEATURES, 1.0, rounds, seed)?),
            (Self::Whole, KernelForecaster::Awv) => Box::new(KernelAwv::new(kernel, d, ridge)?),
            (Self::Whole, KernelForecaster::Ridge) => Box::new(KernelKrr::new(kernel, d, ridge)?),
        })
    }
}
