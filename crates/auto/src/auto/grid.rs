//! The members of [`Auto`](super::Auto) on dictionaries.

use mercer_experts::AnyDetector;
use mercer_kernels::Gaussian;
use mercer_learners::{Error, Eviction, Krls, KrlsParams, NonsAld, NonsAldParams, Removal, Restarting, one_of};

use super::nearest::with_outputs;

const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
const RIDGES: [f64; 2] = [0.03, 0.3];
const THRESHOLD: f64 = 1e-3;

one_of! {
    /// A learner of the grid. Files hold the numbers that all learners have in the registry.
    pub(super) enum GridLearner<K> {
        4 NonsAld(NonsAld<K>) via on_dictionary,
        9 Krls(Krls<K>) via on_dictionary,
        47 Restarting(Restarting<GridLearner<K>>),
    }
}

/// Members that start anew after a change. A window holds the last examples, and wide kernels know
/// something after few rows.
fn restarting_widths(beside_window: bool) -> &'static [f64] {
    if beside_window { &WIDTHS[1..] } else { &WIDTHS }
}

/// The points `J` of each dictionary that so many multiply-adds allow: `aJ² + bJ(d + 20) = budget`,
/// where an exponential costs as much as twenty multiply-adds. Three dictionaries with three
/// updates each are `a = 15, b = 3`. Members that exchange the points of dictionaries of their own
/// add `a = 5, b = 1` each.
pub(super) fn most_points(width: usize, budget: f64, beside_window: bool) -> usize {
    let own = restarting_widths(beside_window).len() as f64;
    let (a, b) = (15.0 + 5.0 * own, 3.0 + own);
    let half = 0.5 * b * (width as f64 + 20.0);
    let points = ((half * half + a * budget.max(0.0)).sqrt() - half) / a;
    (points as usize).max(1)
}

/// The members that `budget` multiply-adds allow, for scaled targets and rows whose distances have
/// the median `unit`.
pub(super) fn grid(
    (width, outputs): (usize, usize),
    unit: f64,
    targets: &[f64],
    budget: f64,
    beside_window: bool,
) -> Result<Vec<(String, GridLearner<Gaussian>)>, Error> {
    let bound = targets.iter().fold(1.0, |bound: f64, y| bound.max(y.abs()));
    let max_dictionary = Some(most_points(width, budget, beside_window));
    let krls = |sigma, lambda, eviction| {
        let params = KrlsParams::default().nu(THRESHOLD).lambda(lambda).max_dictionary(max_dictionary);
        with_outputs(Krls::new(Gaussian::new(sigma)?, width, params.eviction(eviction))?, outputs)
    };
    let mut members = Vec::new();
    for sigma in WIDTHS.map(|width| width * unit) {
        let params =
            NonsAldParams::default().alpha(THRESHOLD).radius(bound).label_bound(bound).max_dictionary(max_dictionary);
        if outputs == 1 {
            members.push((
                format!("nons-ald sigma={sigma:.3} mu={}", params.mu),
                NonsAld::new(Gaussian::new(sigma)?, width, params)?.into(),
            ));
        }
        for lambda in RIDGES {
            let krls = krls(sigma, lambda, Eviction::Never)?;
            members.push((format!("krls sigma={sigma:.3} lambda={lambda}"), krls.into()));
        }
    }
    for sigma in restarting_widths(beside_window).iter().map(|width| width * unit) {
        let krls = krls(sigma, RIDGES[0], Eviction::LeastSignificant(Removal::Marginalise))?;
        let restarting = Restarting::new(GridLearner::from(krls), AnyDetector::default());
        members.push((format!("restart krls sigma={sigma:.3} lambda={}", RIDGES[0]), restarting.into()));
    }
    Ok(members)
}
