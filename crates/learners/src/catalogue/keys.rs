//! Keys that several learners have. Each takes its default from the parameters of the learner that has it.

use super::{BuildError, Context, Default, Find, Key, Kind, Look, OfTime, Rule, SearchRange, Value, Values};
use crate::basis::Eviction;
use crate::loss::Loss;

pub(crate) const POSITIVE: &str = "a number > 0";
pub(crate) const NOT_NEGATIVE: &str = "a number ≥ 0";
pub(crate) const COUNT: &str = "a whole number ≥ 1";
pub(crate) const COUNT_OR_NONE: &str = "a whole number ≥ 1, or none";
pub(crate) const FIRST_ROWS: &str = "the first rows";

/// A key that is a number, with the usual values of the rarer fields.
pub(crate) const fn number(
    name: &'static str,
    symbol: &'static str,
    default: Default,
    range: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        symbol,
        default,
        range,
        meaning,
        kind: Kind::Number,
        none: None,
        auto: None,
        for_classes: None,
        without_data: None,
        of_time: None,
    }
}

pub(crate) const fn count(name: &'static str, symbol: &'static str, default: Default, meaning: &'static str) -> Key {
    Key { kind: Kind::Count, ..number(name, symbol, default, COUNT, meaning) }
}

pub(crate) const fn name(
    name: &'static str,
    names: &'static [&'static str],
    default: Default,
    range: &'static str,
    meaning: &'static str,
) -> Key {
    Key { kind: Kind::Name(names), ..number(name, "", default, range, meaning) }
}

/// Good values of a key lie from `low` to `high`, orders of magnitude apart.
pub(crate) const fn search(key: &'static str, low: f64, high: f64) -> SearchRange {
    SearchRange { key, low, high, logarithmic: true }
}

/// The same for a key whose values are spread evenly.
pub(crate) const fn search_evenly(key: &'static str, low: f64, high: f64) -> SearchRange {
    SearchRange { logarithmic: false, ..search(key, low, high) }
}

impl Key {
    /// Also `auto`, which is this expression.
    pub(crate) const fn or_auto(self, formula: &'static str, source: &'static str) -> Self {
        Self { auto: Some(Rule { formula, source, look: None }), ..self }
    }

    /// Also `auto`, which is found in the data.
    pub(crate) const fn or_found(
        self,
        formula: &'static str,
        source: &'static str,
        [needs_rounds, needs_rows]: [bool; 2],
        find: Find,
    ) -> Self {
        Self { auto: Some(Rule { formula, source, look: Some(Look { needs_rounds, needs_rows, find }) }), ..self }
    }

    /// Also `none`, which means this; `range` says so.
    pub(crate) const fn or_none(self, meaning: &'static str, range: &'static str) -> Self {
        Self { none: Some(meaning), range, ..self }
    }

    /// Another default when classes are learnt.
    pub(crate) const fn for_classes(self, default: fn(&Context<'_>) -> Value) -> Self {
        Self { for_classes: Some(default), ..self }
    }

    /// What a default of `auto` is where nothing is known of the data.
    pub(crate) const fn or_unseen(self, value: Default) -> Self {
        Self { without_data: Some(value), ..self }
    }

    /// Also a time, which stands for a value found by measurement.
    pub(crate) const fn or_time(self, measured: OfTime) -> Self {
        Self { of_time: Some(measured), ..self }
    }

    pub(crate) const fn ranging(self, range: &'static str) -> Self {
        Self { range, ..self }
    }

    pub(crate) const fn of_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
}

/// The loss; of classes it is logistic for two, softmax for more.
pub(crate) const fn loss(default: Default, range: &'static str) -> Key {
    const MEANING: &str = "what is minimised; with classes the default is logistic, softmax for more than two";
    number("loss", "", default, range, MEANING)
        .of_kind(Kind::Loss)
        .for_classes(|context| if context.outputs > 1 { Loss::SOFTMAX.into() } else { Loss::LOGISTIC.into() })
}

pub(crate) const ALL_LOSSES: &str = "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, \
                                     squared-hinge or softmax";

pub(crate) const fn radius_of_ball(default: Default) -> Key {
    number(
        "radius",
        "U",
        default,
        POSITIVE,
        "radius of the ball of functions (bounds predictions), also sets the steps",
    )
}

pub(crate) const fn max_dictionary(default: Default) -> Key {
    count("max_dictionary", "", default, "most points kept")
        .or_none("the rule alone decides how many points are kept", COUNT_OR_NONE)
}

pub(crate) const fn budget(default: Default) -> Key {
    count("budget", "B", default, "most points kept")
}

/// The rule for a full dictionary.
pub(crate) const fn removal() -> Key {
    const MEANING: &str = "which point leaves when the dictionary is full; never keeps the first ones";
    name(
        "removal",
        &Eviction::NAMES,
        || "never".into(),
        "never, oldest, random, smallest or least-significant",
        MEANING,
    )
}

/// What [`removal`] says.
pub(crate) fn eviction(context: &Context<'_>, values: &Values<'_>) -> Result<Eviction, BuildError> {
    let name: String = values.named("removal")?;
    Eviction::named(&name, context.seed).ok_or(BuildError::OtherKind("removal"))
}

pub(crate) const fn alpha_of_ald(default: Default) -> Key {
    number("alpha", "α", default, NOT_NEGATIVE, "ALD threshold on the squared distance; larger keeps fewer points")
        .or_auto("25/T", "Li and Liao, section A.1")
}

pub(crate) const fn step(default: Default) -> Key {
    number("step", "η", default, POSITIVE, "step of the gradient descent; 1 and more tends to diverge")
        .or_auto("10/sqrt(T)", "of the grid {1, 10, 100, 1000}/√T in Li and Liao, section A.1")
}

pub(crate) const fn mu(default: Default) -> Key {
    number("mu", "μ", default, POSITIVE, "regulariser: the curvature starts at μI")
}

pub(crate) const fn eta(default: Default) -> Key {
    number("eta", "η", default, POSITIVE, "curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y")
}

pub(crate) const fn lambda(default: Default) -> Key {
    number("lambda", "λ", default, POSITIVE, "ridge")
}

pub(crate) const fn oversampling(default: Default) -> Key {
    number("beta", "β", default, POSITIVE, "oversampling of the leverage scores; larger keeps more points")
}

pub(crate) const fn accuracy(default: Default) -> Key {
    number("epsilon", "ε", default, NOT_NEGATIVE, "accuracy of the leverage scores")
}

pub(crate) const fn rule(default: Default) -> Key {
    const RULES: &[&str] = &["ewa", "boa", "ml-poly"];
    let meaning = "how losses become weights: exponential, Bernstein or polynomial aggregation";
    name("rule", RULES, default, "ewa, boa or ml-poly", meaning)
}

/// The distance at which inputs share a point, in the unit of the inputs; `unseen` is that of the parameters.
pub(crate) const fn radius_of_quantisation(unseen: Default) -> Key {
    number("epsilon", "ε", || "auto".into(), NOT_NEGATIVE, "inputs this near share a point")
        .or_found(
            "the median distance of the first rows (200 at most) to their nearest; 0 if all are the same",
            "ours: the papers choose by hand",
            [false, true],
            |_, context, _| nearest_of_rows(context).map(Value::Number),
        )
        .or_unseen(unseen)
}

/// The median over the first rows of the distance to the nearest row that is another, 0 where there is none.
fn nearest_of_rows(context: &Context<'_>) -> Result<f64, BuildError> {
    const ROWS: usize = 200;
    let Context { rows, dimension, .. } = *context;
    let rows: Vec<&[f64]> = rows.chunks_exact(dimension.max(1)).take(ROWS).collect();
    if rows.is_empty() {
        return Err(BuildError::NeedsData(FIRST_ROWS));
    }
    let distance = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt();
    let nearest = |x: &&[f64]| {
        let others = rows.iter().map(|z| distance(x, z)).filter(|distance| *distance > 0.0);
        others.fold(f64::INFINITY, f64::min)
    };
    let mut nearest: Vec<f64> = rows.iter().map(nearest).filter(|distance| distance.is_finite()).collect();
    nearest.sort_unstable_by(f64::total_cmp);
    Ok(nearest.get(nearest.len() / 2).copied().unwrap_or(0.0))
}

/// The mean of the first rows.
pub(crate) fn mean_of_rows(context: &Context<'_>) -> Result<Vec<f64>, BuildError> {
    let Context { rows, dimension, .. } = *context;
    let count = rows.len() / dimension.max(1);
    if count == 0 {
        return Err(BuildError::NeedsData(FIRST_ROWS));
    }
    // Each row is divided before it is added, so that the sum of finite numbers is finite.
    let mean = |j| rows.iter().skip(j).step_by(dimension).map(|value| value / count as f64).sum();
    Ok((0..dimension).map(mean).collect())
}
