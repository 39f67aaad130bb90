//! The members of [`Auto`](super::Auto) on dictionaries.

use mercer_experts::AnyDetector;
use mercer_kernels::Gaussian;
use mercer_learners::{Error, Fogd, FogdParams, Krls, KrlsParams, Restarting, one_of};

use super::nearest::with_outputs;

/// Widths of the dictionaries, in the median distance; where there is one, it has the first.
const WIDTHS: [f64; 2] = [2.0, 1.0];
const RIDGE: f64 = 0.03;
const THRESHOLD: f64 = 1e-3;
/// Share of the budget for learners on random features, each of these widths as much. A
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

/// The largest `J ≥ 1` with `aJ² + bJ ≤ budget`.
fn points([a, b]: [f64; 2], budget: f64) -> usize {
    let points = ((b * b + 4.0 * a * budget.max(0.0)).sqrt() - b) / (2.0 * a);
    (points as usize).max(1)
}

/// The points of each dictionary, `2J² + J(d + 2m + 18)` multiply-adds with `m`
/// outputs, and whether there are two.
fn most_points((width, outputs): (usize, usize), budget: f64) -> (usize, bool) {
    let of = |share: f64| points([2.0, (width + 2 * outputs) as f64 + 18.0], share * (1.0 - FORGETTING_SHARE) * budget);
    if of(0.5) >= TWO_OF { (of(0.5), true) } else { (of(1.0), false) }
}

/// Rows that fill any dictionary of such a budget.
pub(super) fn filling(width: usize, budget: f64) -> usize {
    points([2.0, width as f64 + 20.0], budget)
}

type Members = Vec<(String, GridLearner<Gaussian>)>;

/// A learner on a dictionary of so many points.
fn krls((width, outputs): (usize, usize), sigma: f64, points: usize) -> Result<Krls<Gaussian>, Error> {
    let params = KrlsParams::default().nu(THRESHOLD).lambda(RIDGE).max_dictionary(Some(points));
    with_outputs(Krls::new(Gaussian::new(sigma)?, width, params)?, outputs)
}

/// The same, which starts anew when its loss has risen.
fn restarting(krls: Krls<Gaussian>) -> GridLearner<Gaussian> {
    Restarting::new(GridLearner::from(krls), AnyDetector::default()).into()
}

/// The members that `budget` multiply-adds allow, for rows whose distances have the median `unit`:
/// few, and each learns blocks. Dictionaries stay as they are once they are full.
pub(super) fn grid(shape: (usize, usize), unit: f64, budget: f64) -> Result<Members, Error> {
    let (points, two) = most_points(shape, budget);
    let mut members = Vec::new();
    for sigma in WIDTHS.map(|width| width * unit).into_iter().take(1 + usize::from(two)) {
        let krls = krls(shape, sigma, points)?;
        members.push((format!("restart krls sigma={sigma:.3} lambda={RIDGE}"), restarting(krls)));
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
