//! How near inputs are to each other and to the points of a dictionary, as a kernel sees it.

use mercer::kernels::AlignedVec;
use mercer::sparsify::Basis;
use mercer::{AnyKernel, AnyRegressor, Eviction, Kernel, Points};

/// A kernel value below this share of `k(x, x)` is that of inputs far from each other.
const FAR: f64 = 0.1;

/// How many of these inputs are far from all points of a learner whose points stay; `None` of
/// others, and on a kernel by which no two inputs are far.
pub(crate) fn far(learner: &AnyRegressor<AnyKernel>, inputs: &[Vec<f64>]) -> Option<usize> {
    macro_rules! on_points {
        (never leave: $($stays:ident)*; may leave: $($leaves:ident)*) => {
            match learner {
                $(AnyRegressor::$stays(learner) => count(learner.basis().kernel(), learner.basis().points(), inputs),)*
                $(AnyRegressor::$leaves(learner) if learner.eviction() == Eviction::Never => {
                    count(learner.basis().kernel(), learner.basis().points(), inputs)
                })*
                _ => None,
            }
        };
    }
    on_points!(never leave: ConKons Knlms Qklms Klms Lkapa Nlkapa ExKrls; may leave: Krls NonsAld)
}

fn count<K: Kernel>(kernel: &K, points: &Points, inputs: &[Vec<f64>]) -> Option<usize> {
    let mut row = AlignedVec::new();
    let mut is_far = |x: &&Vec<f64>| {
        kernel.row(points, x, &mut row);
        row.iter().all(|value| *value < FAR)
    };
    let fits = |x: &Vec<f64>| x.len() == points.dimension() && bounded(kernel, x);
    (!points.is_empty() && inputs.iter().all(fits)).then(|| inputs.iter().filter(|x| is_far(x)).count())
}

/// Whether the kernel has the value 1, to a jitter, of an input with itself, and so less of others.
fn bounded<K: Kernel>(kernel: &K, x: &[f64]) -> bool {
    (kernel.self_value(x) - 1.0).abs() < 1e-3
}

/// The median kernel value of successive inputs that differ.
pub(crate) fn alike(kernel: &AnyKernel, inputs: &[Vec<f64>]) -> Option<f64> {
    let differ = |pair: &&[Vec<f64>]| pair[0] != pair[1] && pair[0].len() == pair[1].len() && bounded(kernel, &pair[0]);
    let pairs = inputs.windows(2).filter(differ);
    let mut values: Vec<f64> = pairs.map(|pair| kernel.evaluate(&pair[0], &pair[1])).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
