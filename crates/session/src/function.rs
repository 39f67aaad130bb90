//! Learners as the functions that they have learnt: sums of kernels at points, of waves, and linear
//! ones, with their coefficients.

use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points, RandomFourier};
use mercer_learners::FixedMap;
use mercer_learners::basis::Identity;
use mercer_learners::update::LinearUpdate;
use mercer_registry::AnyRegressor;
use mercer_sparsify::{Basis, NewtonBasis};

/// `Σ_i α_i k(c_i, x)`
#[derive(Clone, Debug)]
pub struct Expansion<'a> {
    /// `k`
    pub kernel: &'a AnyKernel,
    /// The points `c_i`.
    pub points: &'a Points,
    /// Their coefficients.
    pub alpha: AlignedVec,
}

/// `Σ_r a_r cos(w_rᵀx) + b_r sin(w_rᵀx)`
#[derive(Clone, Debug, PartialEq)]
pub struct Waves {
    /// The frequencies `w_r`.
    pub frequencies: Vec<Vec<f64>>,
    /// `a_r`
    pub cosines: Vec<f64>,
    /// `b_r`
    pub sines: Vec<f64>,
}

/// `offset + Σ_j w_j (x_j − c_j)`
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// The value at `c`.
    pub offset: f64,
    /// `w`
    pub slopes: Vec<f64>,
    /// `c`
    pub centres: Vec<f64>,
}

/// A part of the function that a learner has learnt.
#[derive(Clone, Debug)]
pub enum FunctionPart<'a> {
    /// Kernels at points.
    Expansion(Expansion<'a>),
    /// Random Fourier features.
    Waves(Waves),
    /// A linear function.
    Affine(Affine),
}

/// The outputs of a learner, summed with the weights of `aim`, as parts that add up to them before
/// they are kept within a [`bound`]; none where it is no such sum. `O(J² + Jd)`.
#[must_use]
pub fn function_parts<'a>(learner: &'a AnyRegressor<AnyKernel>, aim: &[f64]) -> Option<Vec<FunctionPart<'a>>> {
    match learner {
        AnyRegressor::Restarting(learner) => return function_parts(learner.learner(), aim),
        AnyRegressor::Robust(learner) => return function_parts(learner.learner(), aim),
        AnyRegressor::Fogd(learner) => {
            return waves(learner.feature_map(), learner.linear(), aim).map(|part| vec![FunctionPart::Waves(part)]);
        }
        AnyRegressor::PkrrFixed(learner) => match learner.feature_map() {
            FixedMap::Fourier(map) => {
                return waves(map, learner.linear(), aim).map(|part| vec![FunctionPart::Waves(part)]);
            }
            FixedMap::Identity(map) => {
                return affine(map, learner.linear(), aim).map(|part| vec![FunctionPart::Affine(part)]);
            }
            _ => {}
        },
        _ => {}
    }
    Some(expansions(learner, aim)?.into_iter().map(FunctionPart::Expansion).collect())
}

/// The `C` of a learner that keeps each of its predictions in `[−C, C]`.
#[must_use]
pub fn bound(learner: &AnyRegressor<AnyKernel>) -> Option<f64> {
    match learner {
        AnyRegressor::Restarting(learner) => bound(learner.learner()),
        AnyRegressor::Robust(learner) => bound(learner.learner()),
        AnyRegressor::NonsAld(learner) => Some(learner.linear().bound()),
        AnyRegressor::ProsNKons(learner) => Some(learner.linear().bound()),
        AnyRegressor::ConKons(learner) => Some(learner.linear().bound()),
        _ => None,
    }
}

/// Random features with a linear update; none where it has no coefficients for each weight of
/// `aim`.
pub(crate) fn waves(map: &RandomFourier, update: &impl LinearUpdate, aim: &[f64]) -> Option<Waves> {
    let (count, w) = (map.frequencies(), summed(update.coefficients()?.vectors(), aim)?);
    let scale = 1.0 / (count as f64).sqrt();
    // Eight cosines, then their eight sines.
    let of_lane = |behind: usize| (0..count).map(|r| scale * w[r / 8 * 16 + r % 8 + behind]).collect();
    let frequencies = (0..count).map(|r| map.frequency(r)).collect();
    Some(Waves { frequencies, cosines: of_lane(0), sines: of_lane(8) })
}

fn affine(map: &Identity, update: &impl LinearUpdate, aim: &[f64]) -> Option<Affine> {
    let w = summed(update.coefficients()?.vectors(), aim)?;
    let d = w.len() - usize::from(map.has_intercept());
    let offset = if map.has_intercept() { w[d] } else { 0.0 };
    let unit = |j: usize| map.units().get(j).copied().unwrap_or((0.0, 1.0));
    let slopes = (0..d).map(|j| w[j] * unit(j).1).collect();
    Some(Affine { offset, slopes, centres: (0..d).map(|j| unit(j).0).collect() })
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
                Some(vec![Expansion { kernel: basis.kernel(), points: basis.points(), alpha }])
            })*
            _ => None,
        }
    };
}

/// The outputs of a learner, summed with the weights of `aim`, as expansions that add up; none
/// where it is no such sum.
fn expansions<'a>(learner: &'a AnyRegressor<AnyKernel>, aim: &[f64]) -> Option<Vec<Expansion<'a>>> {
    let of_ridge = |(kernel, points, vectors): (&'a AnyKernel, &'a Points, &[AlignedVec])| {
        Some(vec![Expansion { kernel, points, alpha: summed(vectors, aim)? }])
    };
    match learner {
        AnyRegressor::KernelKrr(learner) => of_ridge(learner.expansion()?),
        AnyRegressor::SwKrls(learner) => of_ridge(learner.ridge().expansion()?),
        AnyRegressor::FbKrls(learner) => of_ridge(learner.ridge().expansion()?),
        AnyRegressor::Kogd(learner) => {
            let function = learner.expansion();
            let alpha = summed(&function.scaled_coefficients(), aim)?;
            Some(vec![Expansion { kernel: function.kernel(), points: function.points(), alpha }])
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
) -> Option<Vec<Expansion<'a>>> {
    let mut alpha = AlignedVec::new();
    basis.coefficients(&summed(linear.coefficients()?.vectors(), aim)?, &mut alpha);
    Some(vec![Expansion { kernel, points: basis.points(), alpha }])
}

/// Several kernels at the same points, whose parts have these weights.
fn of_several<'a>(
    kernels: &'a [AnyKernel],
    points: &'a Points,
    vectors: &[AlignedVec],
    weights: &[f64],
    aim: &[f64],
) -> Option<Vec<Expansion<'a>>> {
    let [aim] = aim else { return None };
    let parts = kernels.iter().zip(vectors).zip(weights);
    Some(
        parts
            .map(|((kernel, vector), weight)| {
                let alpha = vector.iter().map(|a| aim * weight * a).collect();
                Expansion { kernel, points, alpha }
            })
            .collect(),
    )
}

/// The sum of the vectors of the outputs with these weights.
pub(crate) fn summed(vectors: &[AlignedVec], weights: &[f64]) -> Option<AlignedVec> {
    let mut sum = AlignedVec::zeros(vectors.first()?.len());
    for (vector, weight) in vectors.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(vector.iter()).for_each(|(sum, w)| *sum += weight * w);
    }
    (vectors.len() == weights.len()).then_some(sum)
}
