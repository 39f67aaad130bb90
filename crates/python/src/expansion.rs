//! What a learner keeps, as `f(x) = Σ α_j k(x_j, x)`.

use mercer::kernels::AlignedVec;
use mercer::learners::update::LinearUpdate;
use mercer::sparsify::Basis;
use mercer::{AnyKernel, AnyRegressor, Points};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::arrays;

/// The points of a learner on a dictionary; and for each output their coefficients, where it has
/// some.
pub(crate) type Expansion<'a> = (&'a Points, Vec<Vec<f64>>);

/// Takes learners on orthonormal coordinates of their points, and learners on kernel coefficients.
macro_rules! expanded {
    ($learner:expr; on coordinates: $($coordinates:ident)*; on coefficients: $($coefficients:ident)*) => {
        match $learner {
            $(AnyRegressor::$coordinates(learner) => {
                let basis = learner.basis();
                let vectors = learner.linear().coefficients().map_or(&[][..], |all| all.vectors());
                let solved = vectors.iter().map(|w| {
                    let mut alpha = AlignedVec::new();
                    basis.coefficients(w, &mut alpha);
                    alpha.to_vec()
                });
                Some((basis.points(), solved.collect()))
            })*
            $(AnyRegressor::$coefficients(learner) => {
                let vectors = learner.coefficients().vectors();
                Some((learner.basis().points(), vectors.iter().map(|alpha| alpha.to_vec()).collect()))
            })*
            _ => None,
        }
    };
}

/// The expansion of a learner; none of one that keeps no points, has several kernels, or is made of
/// others.
pub(crate) fn expansion(learner: &AnyRegressor<AnyKernel>) -> Option<Expansion<'_>> {
    expanded! {
        learner;
        on coordinates: NonsAld ProsNKons ConKons Krls Projectron ProjectronPlus;
        on coefficients: Knlms Qklms Klms Kap Norma FbKlms Lkapa Nlkapa KlmsCsl1 KlmsCsal1 KapSm QklmsFb Perceptron Rbp
            Forgetron BpaS Pa Bogd Pegasos ExKrls
    }
}

/// An expansion as arrays: a row a point; and a row an output.
pub(crate) fn told<'py>(
    py: Python<'py>,
    (points, coefficients): Expansion<'_>,
) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
    Ok([arrays::points(py, points)?, arrays::columns(py, coefficients.concat(), points.len())?])
}
