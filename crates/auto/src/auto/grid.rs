//! The members of [`Auto`](super::Auto) on dictionaries.

use mercer_experts::AnyDetector;
use mercer_kernels::Gaussian;
use mercer_learners::{Error, Eviction, Fogd, FogdParams, Krls, KrlsParams, Removal, Restarting, one_of};

use super::nearest::with_outputs;

const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
const RIDGES: [f64; 2] = [0.03, 0.3];
const THRESHOLD: f64 = 1e-3;
/// Share of a quick plan for learners on random features, each of these widths as much. A
/// dictionary has the rest, or two where each holds so many points.
const FORGETTING_SHARE: f64 = 0.3;
const FORGETTING_WIDTHS: [f64; 2] = [0.5, 2.0];
const STEP: f64 = 0.3;
const TWO_OF: usize = 60;

one_of! {
    /// A learner of the grid. Files hold the numbers that all learners have in the registry.
    pub(super) enum GridLearner<K> {
        7 Fogd(Fogd),
        9 Krls(Krls<K>) via on_dictionary,
        47 Restarting(Restarting<GridLearner<K>>),
    }
}

/// The points `J` of each dictionary that so many multiply-adds allow: `25J² + 6J(d + 20) =
/// budget`, where an exponential costs as much as twenty multiply-adds. Three dictionaries have two
/// updates each; three more, which exchange their points, belong to one member each.
fn most_points(width: usize, budget: f64) -> usize {
    points([25.0, 6.0 * (width as f64 + 20.0)], budget)
}

/// The largest `J ≥ 1` with `aJ² + bJ ≤ budget`.
fn points([a, b]: [f64; 2], budget: f64) -> usize {
    let points = ((b * b + 4.0 * a * budget.max(0.0)).sqrt() - b) / (2.0 * a);
    (points as usize).max(1)
}

/// The points of each dictionary of a quick plan, `2J² + J(d + 2m + 18)` multiply-adds with `m`
/// outputs, and whether there are two.
fn quick_points((width, outputs): (usize, usize), budget: f64) -> (usize, bool) {
    let of = |share: f64| points([2.0, (width + 2 * outputs) as f64 + 18.0], share * (1.0 - FORGETTING_SHARE) * budget);
    if of(0.5) >= TWO_OF { (of(0.5), true) } else { (of(1.0), false) }
}

/// Rows that fill any dictionary of such a budget.
pub(super) fn filling(width: usize, budget: f64) -> usize {
    points([2.0, width as f64 + 20.0], budget)
}

type Members = Vec<(String, GridLearner<Gaussian>)>;

/// A learner on a dictionary of so many points.
fn krls(
    (width, outputs): (usize, usize),
    [sigma, lambda]: [f64; 2],
    points: usize,
    eviction: Eviction,
) -> Result<Krls<Gaussian>, Error> {
    let params = KrlsParams::default().nu(THRESHOLD).lambda(lambda).max_dictionary(Some(points));
    with_outputs(Krls::new(Gaussian::new(sigma)?, width, params.eviction(eviction))?, outputs)
}

/// The same, which starts anew when its loss has risen.
fn restarting(krls: Krls<Gaussian>) -> GridLearner<Gaussian> {
    Restarting::new(GridLearner::from(krls), AnyDetector::default()).into()
}

/// The members that `budget` multiply-adds allow, for rows whose distances have the median `unit`.
pub(super) fn grid(shape: (usize, usize), unit: f64, budget: f64) -> Result<Members, Error> {
    let points = most_points(shape.0, budget);
    let mut members = Vec::new();
    for sigma in WIDTHS.map(|width| width * unit) {
        for lambda in RIDGES {
            let krls = krls(shape, [sigma, lambda], points, Eviction::Never)?;
            members.push((format!("krls sigma={sigma:.3} lambda={lambda}"), krls.into()));
        }
        let krls = krls(shape, [sigma, RIDGES[0]], points, Eviction::LeastSignificant(Removal::Marginalise))?;
        members.push((format!("restart krls sigma={sigma:.3} lambda={}", RIDGES[0]), restarting(krls)));
    }
    Ok(members)
}

/// The members of a quick plan: few, and each learns blocks. Dictionaries stay as they are once
/// they are full.
pub(super) fn quick_grid(shape: (usize, usize), unit: f64, budget: f64) -> Result<Members, Error> {
    let (points, two) = quick_points(shape, budget);
    let mut members = Vec::new();
    for sigma in WIDTHS[1..].iter().rev().map(|width| width * unit).take(1 + usize::from(two)) {
        let krls = krls(shape, [sigma, RIDGES[0]], points, Eviction::Never)?;
        members.push((format!("restart krls sigma={sigma:.3} lambda={}", RIDGES[0]), restarting(krls)));
    }
    let (d, m) = (shape.0 as f64, shape.1 as f64);
    let each = FORGETTING_SHARE * budget / FORGETTING_WIDTHS.len() as f64;
    let frequencies = ((each / (d + 22.0 + 2.0 * m)) as usize).max(1);
    for sigma in FORGETTING_WIDTHS.map(|width| width * unit) {
        let params = FogdParams::default().sigma(sigma).features(frequencies).step(STEP);
        members.push((format!("fogd sigma={sigma:.3}"), with_outputs(Fogd::new(shape.0, params)?, shape.1)?.into()));
    }
    Ok(members)
}
