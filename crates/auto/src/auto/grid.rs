//! The members of [`Auto`](super::Auto) on dictionaries or Taylor features, and how they learn
//! beside its window.

use mercer_experts::AnyDetector;
use mercer_kernels::{Gaussian, TaylorFeatures};
use mercer_learners::{
    Error, Eviction, Krls, KrlsParams, Mixture, NonsAld, NonsAldParams, PkawvTaylor, RegressorExt, Removal, Restarting,
    Rows, TaylorParams, learn_one_by_one, one_of,
};

use super::nearest::with_outputs;

const DICTIONARY_WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
const TAYLOR_WIDTHS: [f64; 2] = [1.0, 2.0];
const RIDGES: [f64; 2] = [0.03, 0.3];
const THRESHOLD: f64 = 1e-3;
/// So wide that a Gaussian's Taylor features of degree 1 are the scaled features themselves.
const LINEAR_WIDTH: f64 = 30.0;
/// Those of Bayesian linear regression where a linear function of scaled features explains 95 % and
/// 5 % of the variance: `900·2d λ = d(1 − R²)/R²`.
const LINEAR_RIDGES: [f64; 2] = [3e-5, 1e-2];
/// What two linear members may cost, or else one, as shares of the grid's.
const LINEAR_SHARES: [f64; 2] = [0.2, 0.6];
const HIGHEST_DEGREE: usize = 6;
/// Rows that the grid learns before the windows look at them.
pub(super) const PIECE: usize = 64;

one_of! {
    /// A learner of the grid. Files hold the numbers that all learners have in the registry.
    pub(super) enum GridLearner<K> {
        4 NonsAld(NonsAld<K>) via on_dictionary,
        9 Krls(Krls<K>) via on_dictionary,
        12 PkawvTaylor(PkawvTaylor),
        47 Restarting(Restarting<GridLearner<K>>),
    }
}

/// The window has a thread of its own.
pub(super) fn threads_of_grid(threads: usize, beside_window: bool) -> usize {
    if beside_window { threads.saturating_sub(1).max(1) } else { threads }
}

/// Lets the grid learn rows in pieces of [`PIECE`], and hands the predictions of each to `take`, in
/// order; `beside`, the grid learns the next piece on a thread of its own meanwhile. The pieces are
/// the same, so threads change no bit.
pub(super) fn learn_in_pieces(
    experts: &mut Mixture<GridLearner<Gaussian>>,
    rows: Rows<'_>,
    predictions: &mut Vec<f64>,
    beside: bool,
    mut take: impl FnMut(&[f64]),
) -> Result<(), Error> {
    let pieces = (0..rows.len()).step_by(PIECE).map(|first| rows.range(first, rows.len().min(first + PIECE)));
    let mut learn = |piece: Rows<'_>, made: &mut Vec<f64>| {
        made.clear();
        if piece.len() == 1 { learn_one_by_one(experts, piece, made) } else { experts.learn_rows(piece, made) }
    };
    if !beside || rows.len() <= PIECE {
        for piece in pieces {
            let learnt = learn(piece, predictions);
            take(predictions);
            learnt?;
        }
        return Ok(());
    }
    std::thread::scope(|scope| {
        // The one ahead need not wait, but the other is to have its rows in the cache still.
        let (send, receive) = std::sync::mpsc::sync_channel(2);
        scope.spawn(move || {
            for piece in pieces {
                let mut made = Vec::new();
                let learnt = learn(piece, &mut made);
                let stop = learnt.is_err();
                if send.send((made, learnt)).is_err() || stop {
                    break;
                }
            }
        });
        receive.into_iter().try_for_each(|(made, learnt)| {
            take(&made);
            learnt
        })
    })
}

/// Members that start anew after a change, each on a dictionary of its own.
fn restarting_widths(beside_window: bool) -> &'static [f64] {
    // A window holds the last examples, and wide kernels know something after few rows.
    if beside_window { &DICTIONARY_WIDTHS[1..] } else { &DICTIONARY_WIDTHS }
}

/// The points `J` of each dictionary that the grid's share of the budget allows:
/// `aJ² + bJ(d + 20) = share`, where an exponential costs as much as twenty multiply-adds. Three
/// dictionaries with up to three updates each are `a = 15, b = 3`. A member that exchanges the
/// points of a dictionary of its own adds `a = 5, b = 1`.
pub(super) fn most_points(dimension: usize, share: f64, beside_window: bool) -> usize {
    let own = restarting_widths(beside_window).len() as f64;
    let (a, b) = (15.0 + 5.0 * own, 3.0 + own);
    let half = 0.5 * b * (dimension as f64 + 20.0);
    let points = ((half * half + a * share).sqrt() - half) / a;
    (points as usize).max(1)
}

/// The regularisers of the linear members, and the multiply-adds of a round that they take of the
/// grid's share: `2r²` each with `r = d + 1`.
fn linear_ridges(dimension: usize, share: f64) -> (&'static [f64], f64) {
    let cost = 2.0 * (dimension as f64 + 1.0).powi(2);
    let plans = [LINEAR_RIDGES.as_slice(), &LINEAR_RIDGES[..1]].into_iter().zip(LINEAR_SHARES);
    let mut plans = plans.map(|(ridges, most)| (ridges, ridges.len() as f64 * cost, most * share));
    plans.find(|(_, cost, most)| cost <= most).map_or((&[], 0.0), |(ridges, cost, _)| (ridges, cost))
}

/// The members, for scaled targets and rows whose distances have the median `unit`.
pub(super) fn grid(
    (dimension, outputs): (usize, usize),
    unit: f64,
    targets: &[f64],
    budget: usize,
    beside_window: bool,
) -> Result<Vec<(String, GridLearner<Gaussian>)>, Error> {
    let bound = targets.iter().fold(1.0, |bound: f64, y| bound.max(y.abs()));
    let share = budget as f64 * if beside_window { 0.25 } else { 0.5 };
    let (linear_ridges, linear_cost) = linear_ridges(dimension, share);
    let max_dictionary = Some(most_points(dimension, share - linear_cost, beside_window));
    let krls = |sigma, lambda, eviction| {
        let params = KrlsParams::default().nu(THRESHOLD).lambda(lambda).max_dictionary(max_dictionary);
        with_outputs(Krls::new(Gaussian::new(sigma)?, dimension, params.eviction(eviction))?, outputs)
    };
    let mut members = Vec::new();
    for width in DICTIONARY_WIDTHS {
        let sigma = width * unit;
        let params =
            NonsAldParams::default().alpha(THRESHOLD).radius(bound).label_bound(bound).max_dictionary(max_dictionary);
        if outputs == 1 {
            members.push((
                format!("nons-ald sigma={sigma:.3} mu={}", params.mu),
                NonsAld::new(Gaussian::new(sigma)?, dimension, params)?.into(),
            ));
        }
        for lambda in RIDGES {
            let krls = krls(sigma, lambda, Eviction::Never)?;
            members.push((format!("krls sigma={sigma:.3} lambda={lambda}"), krls.into()));
        }
    }
    for width in restarting_widths(beside_window) {
        let (sigma, lambda) = (width * unit, RIDGES[0]);
        let krls = krls(sigma, lambda, Eviction::LeastSignificant(Removal::Marginalise))?;
        let restarting = Restarting::new(GridLearner::from(krls), AnyDetector::default());
        members.push((format!("restart krls sigma={sigma:.3} lambda={lambda}"), restarting.into()));
    }
    for lambda in linear_ridges {
        let params = TaylorParams::default().sigma(LINEAR_WIDTH * unit).degree(1).lambda(*lambda);
        let linear = with_outputs(PkawvTaylor::new(dimension, params)?, outputs)?;
        members.push((format!("linear lambda={lambda}"), linear.into()));
    }
    if beside_window {
        return Ok(members);
    }
    let fits = |degree: &usize| 8.0 * (TaylorFeatures::count(dimension, *degree) as f64).powi(2) <= share;
    // Without a degree that fits, the dictionaries must do.
    let Some(degree) = (1..=HIGHEST_DEGREE).take_while(fits).last() else { return Ok(members) };
    for width in TAYLOR_WIDTHS {
        let sigma = width * unit;
        for lambda in RIDGES {
            let params = TaylorParams::default().sigma(sigma).degree(degree).lambda(lambda);
            members.push((
                format!("pkawv-taylor sigma={sigma:.3} degree={degree} lambda={lambda}"),
                with_outputs(PkawvTaylor::new(dimension, params)?, outputs)?.into(),
            ));
        }
    }
    Ok(members)
}
