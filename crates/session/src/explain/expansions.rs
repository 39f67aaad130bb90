//! Learners as sums of kernels at points.

use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_learners::FixedMap;
use mercer_learners::update::LinearUpdate;
use mercer_registry::AnyRegressor;
use mercer_sparsify::{Basis, NewtonBasis};

/// `Σ_i α_i k(c_i, x)`
pub(super) struct Expanded<'a> {
    pub(super) kernel: &'a AnyKernel,
    pub(super) points: &'a Points,
    pub(super) alpha: AlignedVec,
}

/// Learners on coordinates of their points or on kernel coefficients.
macro_rules! expanded {
    ($learner:expr, $aim:expr; on coordinates: $($coordinates:ident)*; on coefficients: $($coefficients:ident)*) => {
        match $learner {
            $(AnyRegressor::$coordinates(learner) => {
                let basis = learner.basis();
                on_coordinates((basis, basis.kernel()), learner.linear(), $aim)
            })*
            $(AnyRegressor::$coefficients(learner) => {
                let (basis, alpha) = (learner.basis(), summed(learner.coefficients().vectors(), $aim)?);
                Some(vec![Expanded { kernel: basis.kernel(), points: basis.points(), alpha }])
            })*
            _ => None,
        }
    };
}

/// The outputs of a learner, summed with the weights of `aim`, as expansions that add up; none
/// where it is no such sum.
pub(super) fn expansions<'a>(learner: &'a AnyRegressor<AnyKernel>, aim: &[f64]) -> Option<Vec<Expanded<'a>>> {
    let of_ridge = |(kernel, points, vectors): (&'a AnyKernel, &'a Points, &[AlignedVec])| {
        Some(vec![Expanded { kernel, points, alpha: summed(vectors, aim)? }])
    };
    match learner {
        AnyRegressor::KernelKrr(learner) => of_ridge(learner.expansion()?),
        AnyRegressor::SwKrls(learner) => of_ridge(learner.ridge().expansion()?),
        AnyRegressor::FbKrls(learner) => of_ridge(learner.ridge().expansion()?),
        AnyRegressor::Kogd(learner) => {
            let function = learner.expansion();
            let alpha = summed(&function.scaled_coefficients(), aim)?;
            Some(vec![Expanded { kernel: function.kernel(), points: function.points(), alpha }])
        }
        AnyRegressor::KrlsT(learner) => {
            let basis = learner.basis();
            on_coordinates((basis, basis.kernel().plain()), learner.linear(), aim)
        }
        AnyRegressor::Krmc(learner) => {
            let basis = learner.learner().basis();
            on_coordinates((basis, basis.kernel()), learner.learner().linear(), aim)
        }
        AnyRegressor::PkrrFrozen(learner) => {
            let basis = learner.feature_map();
            on_coordinates((basis, basis.kernel()), learner.linear(), aim)
        }
        AnyRegressor::PkrrFixed(learner) => match learner.feature_map() {
            FixedMap::Nystrom(basis) => on_coordinates((basis, basis.kernel()), learner.linear(), aim),
            _ => None,
        },
        AnyRegressor::MknlmsCs(learner) => {
            let vectors = learner.coefficients().vectors();
            of_several(learner.kernels(), learner.points(), vectors, &vec![1.0; vectors.len()], aim)
        }
        AnyRegressor::Mxklms(learner) => {
            let vectors = learner.coefficients().vectors();
            of_several(learner.kernels(), learner.points(), vectors, &learner.weights(), aim)
        }
        _ => expanded! {
            learner, aim;
            on coordinates: NonsAld ProsNKons ConKons Krls Projectron ProjectronPlus;
            on coefficients: Knlms Qklms Klms Kap Norma FbKlms Lkapa Nlkapa KlmsCsl1 KlmsCsal1 KapSm QklmsFb
                Perceptron Rbp Forgetron BpaS Pa Bogd Pegasos ExKrls
        },
    }
}

/// A linear update on the coordinates of points.
fn on_coordinates<'a, K: Kernel>(
    (basis, kernel): (&'a NewtonBasis<K>, &'a AnyKernel),
    linear: &impl LinearUpdate,
    aim: &[f64],
) -> Option<Vec<Expanded<'a>>> {
    let mut alpha = AlignedVec::new();
    basis.coefficients(&summed(linear.coefficients()?.vectors(), aim)?, &mut alpha);
    Some(vec![Expanded { kernel, points: basis.points(), alpha }])
}

/// Several kernels at the same points, whose parts have these weights.
fn of_several<'a>(
    kernels: &'a [AnyKernel],
    points: &'a Points,
    vectors: &[AlignedVec],
    weights: &[f64],
    aim: &[f64],
) -> Option<Vec<Expanded<'a>>> {
    let [aim] = aim else { return None };
    let parts = kernels.iter().zip(vectors).zip(weights);
    Some(
        parts
            .map(|((kernel, vector), weight)| {
                let alpha = vector.iter().map(|a| aim * weight * a).collect();
                Expanded { kernel, points, alpha }
            })
            .collect(),
    )
}

/// The sum of the vectors of the outputs with these weights.
pub(super) fn summed(vectors: &[AlignedVec], weights: &[f64]) -> Option<AlignedVec> {
    let mut sum = AlignedVec::zeros(vectors.first()?.len());
    for (vector, weight) in vectors.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(vector.iter()).for_each(|(sum, w)| *sum += weight * w);
    }
    (vectors.len() == weights.len()).then_some(sum)
}
