//! The members of [`Auto`](super::Auto) on dictionaries.

use mercer_experts::AnyDetector;
use mercer_kernels::Gaussian;
use mercer_learners::{Error, Eviction, Krls, KrlsParams, Removal, Restarting, one_of};

use super::nearest::with_outputs;

const WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
const RIDGES: [f64; 2] = [0.03, 0.3];
const THRESHOLD: f64 = 1e-3;

one_of! {
    /// A learner of the grid. Files hold the numbers that all learners have in the registry.
    pub(super) enum GridLearner<K> {
        9 Krls(Krls<K>) via on_dictionary,
        47 Restarting(Restarting<GridLearner<K>>),
    }
}

/// The points `J` of each dictionary that so many multiply-adds allow: `25J² + 6J(d + 20) =
/// budget`, where an exponential costs as much as twenty multiply-adds. Three dictionaries have two
/// updates each; three more, which exchange their points, belong to one member each.
pub(super) fn most_points(width: usize, budget: f64) -> usize {
    let half = 3.0 * (width as f64 + 20.0);
    let points = ((half * half + 25.0 * budget.max(0.0)).sqrt() - half) / 25.0;
    (points as usize).max(1)
}

/// The members that `budget` multiply-adds allow, for rows whose distances have the median `unit`.
pub(super) fn grid(
    (width, outputs): (usize, usize),
    unit: f64,
    budget: f64,
) -> Result<Vec<(String, GridLearner<Gaussian>)>, Error> {
    let max_dictionary = Some(most_points(width, budget));
    let krls = |sigma, lambda, eviction| {
        let params = KrlsParams::default().nu(THRESHOLD).lambda(lambda).max_dictionary(max_dictionary);
        with_outputs(Krls::new(Gaussian::new(sigma)?, width, params.eviction(eviction))?, outputs)
    };
    let mut members = Vec::new();
    for sigma in WIDTHS.map(|width| width * unit) {
        for lambda in RIDGES {
            let krls = krls(sigma, lambda, Eviction::Never)?;
            members.push((format!("krls sigma={sigma:.3} lambda={lambda}"), krls.into()));
        }
        let krls = krls(sigma, RIDGES[0], Eviction::LeastSignificant(Removal::Marginalise))?;
        let restarting = Restarting::new(GridLearner::from(krls), AnyDetector::default());
        members.push((format!("restart krls sigma={sigma:.3} lambda={}", RIDGES[0]), restarting.into()));
    }
    Ok(members)
}
