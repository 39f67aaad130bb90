//! How near inputs are to each other and to what a learner keeps, as a kernel sees it.

use std::slice;

use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_learners::{Eviction, FeatureMap};
use mercer_registry::AnyRegressor;
use mercer_simd::dot;
use mercer_sparsify::Basis;

/// A kernel value below this share of `k(x, x)` is that of inputs far from each other.
const FAR: f64 = 0.1;

/// Where Taylor features hold less than this share of `k(x, x)`, they are useless.
const HELD: f64 = 0.5;

/// How many of some inputs are far from what is kept.
pub(super) struct FarRows {
    pub(super) far: usize,
    pub(super) what: Anchor,
}

/// What a learner keeps.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Points(usize),
    Centre,
}

impl Anchor {
    pub(super) fn points(self) -> Option<usize> {
        if let Self::Points(points) = self { Some(points) } else { None }
    }
}

/// The kernels and the points of a learner with a dictionary.
fn dictionary(learner: &AnyRegressor<AnyKernel>) -> Option<(&[AnyKernel], &Points)> {
    use AnyRegressor as L;
    macro_rules! dictionaries {
        ($($on_basis:ident)*) => {
            match learner {
                $(L::$on_basis(learner) => Some((slice::from_ref(learner.basis().kernel()), learner.basis().points())),)*
                L::FbKrls(learner) => {
                    let (kernel, points, _) = learner.ridge().expansion()?;
                    Some((slice::from_ref(kernel), points))
                }
                L::Nogd(learner) => Some((slice::from_ref(learner.kernel()), learner.points())),
                L::MknlmsCs(learner) => Some((learner.kernels(), learner.points())),
                L::Mxklms(learner) => Some((learner.kernels(), learner.points())),
                L::Robust(robust) => dictionary(robust.learner()),
                L::Restarting(restarting) => dictionary(restarting.learner()),
                _ => None,
            }
        };
    }
    dictionaries!(NonsAld ProsNKons ConKons Krls Knlms Qklms QklmsFb Klms FbKlms Kap Lkapa Nlkapa KlmsCsl1 KlmsCsal1 ExKrls)
}

/// Whether the oldest points leave: rows of a while ago are then far by design.
fn by_age(learner: &AnyRegressor<AnyKernel>) -> bool {
    let eviction = match learner {
        AnyRegressor::Krls(learner) => learner.eviction(),
        AnyRegressor::NonsAld(learner) => learner.eviction(),
        AnyRegressor::Robust(robust) => return by_age(robust.learner()),
        AnyRegressor::Restarting(restarting) => return by_age(restarting.learner()),
        _ => return false,
    };
    matches!(eviction, Eviction::Oldest(_) | Eviction::Random { .. })
}

/// How many of these inputs are far from all points of a learner, or from the centre of its
/// features; `None` of learners that keep neither, or no point for good, and on a kernel by which
/// no two inputs are far.
pub(super) fn beyond(learner: &AnyRegressor<AnyKernel>, inputs: &[Vec<f64>]) -> Option<FarRows> {
    match learner {
        AnyRegressor::PkawvTaylor(learner) => return Some(lost(learner.feature_map(), inputs)),
        AnyRegressor::PkrrTaylor(learner) => return Some(lost(learner.feature_map(), inputs)),
        _ => {}
    }
    let (kernels, points) = told_apart(learner, inputs)?;
    let mut row = AlignedVec::new();
    let mut is_far = |x: &&Vec<f64>| {
        kernels.iter().all(|kernel| {
            kernel.row(points, x, &mut row);
            row.iter().all(|value| *value < FAR)
        })
    };
    Some(FarRows { far: inputs.iter().filter(|x| is_far(x)).count(), what: Anchor::Points(points.len()) })
}

/// The kernels and the points of a learner whose points do not leave by age, where the kernels tell
/// that inputs are far.
fn told_apart<'a>(learner: &'a AnyRegressor<AnyKernel>, inputs: &[Vec<f64>]) -> Option<(&'a [AnyKernel], &'a Points)> {
    let (kernels, points) = dictionary(learner).filter(|_| !by_age(learner))?;
    let fits = |x: &Vec<f64>| x.len() == points.dimension() && kernels.iter().all(|kernel| bounded(kernel, x));
    (!points.is_empty() && inputs.iter().all(fits)).then_some((kernels, points))
}

/// How many points of a learner are far from all of these inputs, and how many it has: see
/// [`beyond`].
pub(super) fn gone(learner: &AnyRegressor<AnyKernel>, inputs: &[Vec<f64>]) -> Option<(usize, usize)> {
    let (kernels, points) = told_apart(learner, inputs)?;
    let (mut nearest, mut row) = (vec![0.0_f64; points.len()], AlignedVec::new());
    for (kernel, x) in kernels.iter().flat_map(|kernel| inputs.iter().map(move |x| (kernel, x))) {
        kernel.row(points, x, &mut row);
        nearest.iter_mut().zip(row.iter()).for_each(|(nearest, value)| *nearest = nearest.max(*value));
    }
    Some((nearest.iter().filter(|value| **value < FAR).count(), points.len()))
}

/// How many inputs have little of themselves in the features.
fn lost<F: FeatureMap>(map: &F, inputs: &[Vec<f64>]) -> FarRows {
    let (mut features, mut work) = (AlignedVec::new(), AlignedVec::new());
    let mut is_lost = |x: &&Vec<f64>| {
        x.len() == map.input_dimension() && {
            map.map(x, &mut features, &mut work);
            dot(features.lanes(), features.lanes()) < HELD
        }
    };
    FarRows { far: inputs.iter().filter(|x| is_lost(x)).count(), what: Anchor::Centre }
}

/// Whether the kernel has the value 1, to a jitter, of an input with itself, and so less of others.
fn bounded(kernel: &AnyKernel, x: &[f64]) -> bool {
    (kernel.self_value(x) - 1.0).abs() < 1e-3
}

/// The median kernel value of successive inputs that differ.
pub(super) fn alike(kernel: &AnyKernel, inputs: &[Vec<f64>]) -> Option<f64> {
    let differ = |pair: &&[Vec<f64>]| pair[0] != pair[1] && pair[0].len() == pair[1].len() && bounded(kernel, &pair[0]);
    let pairs = inputs.windows(2).filter(differ);
    let mut values: Vec<f64> = pairs.map(|pair| kernel.evaluate(&pair[0], &pair[1])).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
