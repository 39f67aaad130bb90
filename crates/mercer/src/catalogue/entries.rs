//! The entries of the catalogue, one a learner.
//!
//! Defaults are those of the learners' parameter structs, which a test compares; they suit features on [−1, 1] and targets
//! on [0, 1] or [−1, 1].

use mercer_kernels::{AnyKernel, TaylorFeatures};
use mercer_learners::{
    AogdAld, AogdAldParams, Auto, AutoParams, ConKons, Error as LearnerError, Experts, Fogd, FogdParams, KernelAwv,
    KernelKrr, KernelRidgeParams, Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Nogd, NogdParams, NonsAld,
    NonsAldParams, NystromParams, ParameterError, PkawvNystrom, PkawvTaylor, PkrrNystrom, PkrrTaylor, ProsNKons,
    SampledKonsParams, SketchedKons, SketchedKonsParams, TaylorParams,
};

use super::settings::{Context, Value, Values};
use super::{BuildError, Entry, Key, Kind, LookError, Rule};

const POSITIVE: &str = "a number > 0";
const NOT_NEGATIVE: &str = "a number ≥ 0";
const COUNT: &str = "a whole number ≥ 1";
const COUNT_OR_NONE: &str = "a whole number ≥ 1, or none";

const NEEDS_GAUSSIAN: &str = "the width of a Gaussian, so gaussian:SIGMA or median";

/// FOGD's table of frequencies may hold this many numbers (1 GiB), lest a slip of the pen exhaust the memory.
const MOST_FREQUENCIES: usize = 1 << 27;

/// A key that is a number, with the defaults of the rarer fields.
const fn number(
    name: &'static str,
    symbol: &'static str,
    default: &'static str,
    range: &'static str,
    meaning: &'static str,
) -> Key {
    Key { name, symbol, default, range, meaning, kind: Kind::Number, none: None, auto: None }
}

const fn count(name: &'static str, symbol: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { kind: Kind::Count, ..number(name, symbol, default, COUNT, meaning) }
}

const fn expression(formula: &'static str, source: &'static str) -> Rule {
    Rule { formula, source, looks: None }
}

const RADIUS_OF_BALL: Key =
    number("radius", "U", "2", POSITIVE, "radius of the ball of functions (bounds predictions), also sets the steps");
const MAX_DICTIONARY: Key = Key {
    none: Some("the rule alone decides how many points are kept"),
    range: COUNT_OR_NONE,
    ..count("max_dictionary", "", "1000", "most points kept; later ones are only learnt")
};
const ALPHA_OF_ALD: Key = Key {
    auto: Some(expression("25/T", "Li and Liao, section A.1")),
    ..number("alpha", "α", "1e-3", NOT_NEGATIVE, "ALD threshold on the squared distance; larger keeps fewer points")
};
const STEP: Key = Key {
    auto: Some(expression("10/sqrt(T)", "of the grid {1, 10, 100, 1000}/√T in Li and Liao, section A.1")),
    ..number("step", "η", "0.1", POSITIVE, "step of the gradient descent; 1 and more tends to diverge")
};
const MU: Key = number("mu", "μ", "1", POSITIVE, "regulariser: the curvature starts at μI");
const ETA: Key =
    number("eta", "η", "0.125", POSITIVE, "curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y");

const LAMBDA: Key = number("lambda", "λ", "1", POSITIVE, "ridge");

const TAYLOR_KEYS: [Key; 3] = [
    LAMBDA,
    Key {
        kind: Kind::Numbers,
        none: Some("the origin"),
        auto: Some(Rule {
            formula: "the mean of the first rows (256 at most)",
            source: "ours: the paper expands around the origin",
            looks: Some(|_, context, _| mean_of_rows(context).map(Value::Numbers)),
        }),
        range: "a number, d numbers separated by commas, or none",
        ..number("centre", "", "none", "", "where inputs are measured from; those near it need few features")
    },
    Key {
        range: "a whole number ≥ 0",
        auto: Some(Rule {
            formula: "⌈max(8R²/σ², 2 ln(T/min(λ, 1)))⌉, R the largest distance of the first rows from the centre",
            source: "Jézéquel et al. 2019, Theorem 4",
            looks: Some(sufficient_degree),
        }),
        ..count(
            "degree",
            "M",
            "2",
            "degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few",
        )
    },
];

const RULE: Key = Key {
    kind: Kind::Rule,
    range: "ewa, boa or ml-poly",
    ..number("rule", "", "ml-poly", "", "how losses become weights: exponential, Bernstein or polynomial aggregation")
};

const NYSTROM_KEYS: [Key; 4] = [
    LAMBDA,
    number("mu", "μ", "1", POSITIVE, "regulariser of the leverage scores; larger keeps fewer points"),
    Key {
        auto: Some(expression("12*ln(T/0.05)", "Jézéquel et al. 2019, Proposition 5 with δ = 0.05")),
        ..number("beta", "β", "1", POSITIVE, "oversampling of the leverage scores; larger keeps more points")
    },
    number("epsilon", "ε", "0.5", NOT_NEGATIVE, "accuracy of the leverage scores"),
];

const SAMPLED_KEYS: [Key; 6] = [
    number("alpha", "α", "5", POSITIVE, "regulariser: the curvature starts at αI"),
    number("gamma", "γ", "1", POSITIVE, "regulariser of the leverage scores; larger keeps fewer points"),
    number("beta", "β", "1", POSITIVE, "oversampling of the leverage scores; larger keeps more points"),
    number("epsilon", "ε", "0.5", NOT_NEGATIVE, "accuracy of the leverage scores"),
    number("clip", "C", "1", POSITIVE, "bound on the predictions, also sets the curvature 1/(16C²)"),
    MAX_DICTIONARY,
];

pub(super) static ENTRIES: [Entry; 18] = [
    Entry {
        name: "kogd",
        summary: "kernelised online gradient descent; every example is kept",
        keys: &[RADIUS_OF_BALL],
        time: "td",
        memory: "td",
        growth: Some("every example is kept"),
        source: "Zinkevich 2003; Li and Liao, eqs. 2–3",
        bound: Some("radius"),
        remedy: None,
        autonomous: false,
        build: |kernel, context, values| {
            let params = KogdParams { radius: values.number("radius") };
            Ok(Kogd::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "aogd-ald",
        summary: "approximated online gradient descent on an ALD dictionary",
        keys: &[
            RADIUS_OF_BALL,
            ALPHA_OF_ALD,
            Key {
                none: Some("never; the dictionary stays as large as alpha makes it"),
                auto: Some(expression("(sqrt(d^2+4*d*T)-d)/2", "Li and Liao, Theorem 3.2")),
                range: "a whole number ≥ 0, or none",
                ..count("max_dictionary", "B₀", "none", "points from which on every example is kept; 0 is kogd")
            },
        ],
        time: "Jd + ½J²",
        memory: "Jd + ½J²",
        growth: Some("past max_dictionary every example is kept; with none it does not grow with the stream"),
        source: "Li and Liao, Algorithm 1",
        bound: Some("radius"),
        remedy: None,
        autonomous: false,
        build: |kernel, context, values| {
            let growth_limit = values.optional_count("max_dictionary");
            let params = AogdAldParams { radius: values.number("radius"), alpha: values.number("alpha"), growth_limit };
            Ok(AogdAld::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "kons",
        summary: "kernelised online Newton step; every example is kept",
        keys: &[
            MU,
            ETA,
            Key {
                none: Some("predictions are not bounded"),
                range: "a number > 0, or none",
                ..number("clip", "C", "none", POSITIVE, "bound on the predictions")
            },
        ],
        time: "td + ½t²",
        memory: "td + ½t²",
        growth: Some("every example is kept, and memory and time grow with the square of their number"),
        source: "Calandriello et al. 2017b; Li and Liao, Algorithm 2",
        bound: Some("clip"),
        remedy: Some("raise mu"),
        autonomous: false,
        build: |kernel, context, values| {
            let clip = values.optional_number("clip");
            let params = KonsParams { mu: values.number("mu"), eta: values.number("eta"), clip };
            Ok(Kons::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "sketched-kons",
        summary: "kernelised online Newton step whose curvature takes only some rounds",
        keys: &[
            MU,
            ETA,
            number(
                "gamma",
                "γ",
                "0.1",
                "a number from 0 to 1",
                "smallest probability that a round enters the curvature",
            ),
            number("beta", "β", "1", POSITIVE, "oversampling of the leverage scores; larger enters more rounds"),
        ],
        time: "td + ½J²",
        memory: "td + ½J²",
        growth: Some("every example is kept; J counts the rounds in the curvature, at least the share gamma of them"),
        source: "Calandriello et al. 2017b",
        bound: None,
        remedy: Some("raise mu"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = SketchedKonsParams {
                mu: values.number("mu"),
                eta: values.number("eta"),
                gamma: values.number("gamma"),
                beta: values.number("beta"),
                seed: context.seed,
            };
            Ok(SketchedKons::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "nons-ald",
        summary: "Nyström online Newton step on an ALD dictionary",
        keys: &[
            MU,
            ALPHA_OF_ALD,
            number("radius", "U", "1", POSITIVE, "bound on the predictions"),
            number("label_bound", "Y", "1", POSITIVE, "bound on the targets; with U sets the curvature 1/(4(U² + Y²))"),
            MAX_DICTIONARY,
        ],
        time: "Jd + 2J²",
        memory: "Jd + J²",
        growth: None,
        source: "Li and Liao, Algorithm 3",
        bound: Some("radius"),
        remedy: Some("raise mu"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = NonsAldParams {
                mu: values.number("mu"),
                alpha: values.number("alpha"),
                radius: values.number("radius"),
                label_bound: values.number("label_bound"),
                max_dictionary: dictionary(values)?,
            };
            Ok(NonsAld::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "pros-n-kons",
        summary: "online Newton step on a KORS dictionary, restarted when a point is kept",
        keys: &SAMPLED_KEYS,
        time: "Jd + 2½J²",
        memory: "Jd + 1½J²",
        growth: None,
        source: "Calandriello et al. 2017a",
        bound: Some("clip"),
        remedy: Some("raise alpha"),
        autonomous: false,
        build: |kernel, context, values| {
            Ok(ProsNKons::new(kernel, context.dimension, sampled(context, values)?)?.into())
        },
    },
    Entry {
        name: "con-kons",
        summary: "online Newton step on a KORS dictionary, carried on when a point is kept",
        keys: &SAMPLED_KEYS,
        time: "Jd + 2½J²",
        memory: "Jd + 1½J²",
        growth: None,
        source: "Calandriello et al. 2017a; Li and Liao, section A.1",
        bound: Some("clip"),
        remedy: Some("raise alpha"),
        autonomous: false,
        build: |kernel, context, values| Ok(ConKons::new(kernel, context.dimension, sampled(context, values)?)?.into()),
    },
    Entry {
        name: "fogd",
        summary: "Fourier online gradient descent on random features of a Gaussian kernel",
        keys: &[count("features", "D", "400", "random frequencies; each gives a cosine and a sine"), STEP],
        time: "Dd + 4D",
        memory: "Dd + 2D",
        growth: None,
        source: "Lu et al. 2016",
        bound: None,
        remedy: Some("take a smaller step"),
        autonomous: false,
        build: |kernel, context, values| {
            let AnyKernel::Gaussian(gaussian) = kernel else {
                return Err(BuildError::Kernel(NEEDS_GAUSSIAN));
            };
            let features = values.count("features");
            if features.saturating_mul(context.dimension) > MOST_FREQUENCIES {
                return Err(BuildError::TooLarge("that many frequencies take more than 1 GiB"));
            }
            let (sigma, step) = (gaussian.sigma(), values.number("step"));
            Ok(Fogd::new(context.dimension, FogdParams { sigma, features, step, seed: context.seed })?.into())
        },
    },
    Entry {
        name: "nogd",
        summary: "Nyström online gradient descent on the features of the first points",
        keys: &[
            count("budget", "B", "400", "points kept, the first ones; then features are made of them, once, in B³"),
            count("rank", "k", "400", "features made of them; above the budget it is the budget"),
            STEP,
            Key {
                none: Some("the function is not bounded"),
                range: "a number > 0, or none",
                ..number("radius", "U", "none", POSITIVE, "radius of the ball of functions (bounds predictions)")
            },
        ],
        time: "Bd + Bk",
        memory: "Bd + Bk",
        growth: None,
        source: "Lu et al. 2016",
        bound: Some("radius"),
        remedy: Some("take a smaller step"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = NogdParams {
                budget: values.count("budget"),
                rank: values.count("rank"),
                step: values.number("step"),
                radius: values.optional_number("radius"),
            };
            Ok(Nogd::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "krls",
        summary: "kernel recursive least squares on an ALD dictionary",
        keys: &[
            number("nu", "ν", "1e-3", NOT_NEGATIVE, "ALD threshold on the squared distance; larger keeps fewer points"),
            number("lambda", "λ", "0", NOT_NEGATIVE, "ridge; 0 is Engel's algorithm"),
            number(
                "forgetting",
                "",
                "1",
                "a number above 0, at most 1",
                "weight of the past a round; 1 forgets nothing",
            ),
            MAX_DICTIONARY,
        ],
        time: "Jd + 2J²",
        memory: "Jd + J²",
        growth: None,
        source: "Engel et al. 2004",
        bound: None,
        remedy: Some("raise lambda or nu"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = KrlsParams {
                nu: values.number("nu"),
                lambda: values.number("lambda"),
                forgetting: values.number("forgetting"),
                max_dictionary: dictionary(values)?,
            };
            Ok(Krls::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "kernel-awv",
        summary: "Azoury–Warmuth–Vovk forecaster over all points",
        keys: &[LAMBDA],
        time: "td + ½t²",
        memory: "td + ½t²",
        growth: Some("every example is kept, and memory and time grow with the square of their number"),
        source: "Jézéquel et al. 2019, eq. 3",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = KernelRidgeParams { lambda: values.number("lambda") };
            Ok(KernelAwv::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "kernel-krr",
        summary: "online kernel ridge regression over all points",
        keys: &[LAMBDA],
        time: "td + ½t²",
        memory: "td + ½t²",
        growth: Some("every example is kept, and memory and time grow with the square of their number"),
        source: "Zhdanov and Kalnishkan 2013; Jézéquel et al. 2019, section 4",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            let params = KernelRidgeParams { lambda: values.number("lambda") };
            Ok(KernelKrr::new(kernel, context.dimension, params)?.into())
        },
    },
    Entry {
        name: "pkawv-taylor",
        summary: "Azoury–Warmuth–Vovk forecaster on Taylor features of a Gaussian kernel",
        keys: &TAYLOR_KEYS,
        time: "2r²",
        memory: "½r²",
        growth: None,
        source: "Jézéquel et al. 2019, section 3.1, Algorithm 1",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            Ok(PkawvTaylor::new(context.dimension, taylor(&kernel, context, values)?)?.into())
        },
    },
    Entry {
        name: "pkrr-taylor",
        summary: "online ridge regression on Taylor features of a Gaussian kernel",
        keys: &TAYLOR_KEYS,
        time: "1½r²",
        memory: "½r²",
        growth: None,
        source: "Jézéquel et al. 2019, section 4",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            Ok(PkrrTaylor::new(context.dimension, taylor(&kernel, context, values)?)?.into())
        },
    },
    Entry {
        name: "pkawv-nystrom",
        summary: "Azoury–Warmuth–Vovk forecaster on the span of a KORS dictionary, over the whole past",
        keys: &NYSTROM_KEYS,
        time: "Jd + 3J²",
        memory: "t(d + J)",
        growth: Some("past inputs and coordinates are stored, and projected anew, in t(d + 2J), when a point is kept"),
        source: "Jézéquel et al. 2019, section 3.2, Algorithm 2",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            Ok(PkawvNystrom::new(kernel, context.dimension, nystrom(context, values))?.into())
        },
    },
    Entry {
        name: "pkrr-nystrom",
        summary: "online ridge regression on the span of a KORS dictionary, over the whole past",
        keys: &NYSTROM_KEYS,
        time: "Jd + 3J²",
        memory: "t(d + J)",
        growth: Some("past inputs and coordinates are stored, and projected anew, in t(d + 2J), when a point is kept"),
        source: "Jézéquel et al. 2019, section 4",
        bound: None,
        remedy: Some("raise lambda"),
        autonomous: false,
        build: |kernel, context, values| {
            Ok(PkrrNystrom::new(kernel, context.dimension, nystrom(context, values))?.into())
        },
    },
    Entry {
        name: "experts",
        summary: "mixture of learners that competes with the best of them",
        keys: &[
            Key {
                kind: Kind::Members,
                range: "NAME KEY=VALUE …; NAME …, with kernel=SPEC among the settings",
                ..number(
                    "members",
                    "",
                    "nons-ald;krls;aogd-ald",
                    "",
                    "the learners; nons-ald, krls and aogd-ald that differ in neither kernel, threshold nor max_dictionary share a dictionary",
                )
            },
            RULE,
        ],
        time: "the members'",
        memory: "the members'",
        growth: Some(
            "as the members' does; nons-ald and krls keep 1000 points at most, aogd-ald what its threshold admits",
        ),
        source: "de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014",
        bound: None,
        remedy: Some("replace the members that diverge"),
        autonomous: false,
        build: |kernel, context, values| {
            let members = values.members().iter().map(|member| member.build(&kernel, context));
            let members: Vec<_> =
                members.collect::<Result<_, _>>().map_err(|error| BuildError::Member(error.into()))?;
            Ok(Experts::new(members, values.rule("rule"))?.into())
        },
    },
    Entry {
        name: "auto",
        summary: "mixture of NONS-ALD, KRLS and PKAWV that chooses scaling, widths and regularisers itself",
        keys: &[
            RULE,
            Key {
                range: "a whole number ≥ 1000",
                ..count("budget", "", "1000000", "multiply-adds a row, which set the members' sizes")
            },
        ],
        time: "budget",
        memory: "⅝ budget",
        growth: None,
        source: "experts as in Jézéquel et al. 2019, section 3.1",
        bound: None,
        remedy: None,
        autonomous: true,
        build: |_, context, values| {
            let params = AutoParams { rule: values.rule("rule"), budget: values.count("budget") };
            Ok(Auto::new(context.dimension, params)?.into())
        },
    },
];

fn taylor(kernel: &AnyKernel, context: &Context<'_>, values: &Values<'_>) -> Result<TaylorParams, BuildError> {
    let AnyKernel::Gaussian(gaussian) = kernel else { return Err(BuildError::Kernel(NEEDS_GAUSSIAN)) };
    let (degree, lambda) = (values.count("degree"), values.number("lambda"));
    let centre = values.numbers("centre", context.dimension);
    Ok(TaylorParams { sigma: gaussian.sigma(), degree, lambda, centre, ..TaylorParams::default() })
}

const FIRST_ROWS: &str = "the first rows";

fn mean_of_rows(context: &Context<'_>) -> Result<Vec<f64>, LookError> {
    let Context { rows, dimension, .. } = *context;
    let count = rows.len() / dimension.max(1);
    if count == 0 {
        return Err(LookError::NeedsData(FIRST_ROWS));
    }
    // Each row is divided before it is added, so that the sum of finite numbers is finite.
    let mean = |j| rows.iter().skip(j).step_by(dimension).map(|value| value / count as f64).sum();
    Ok((0..dimension).map(mean).collect())
}

fn sufficient_degree(kernel: &AnyKernel, context: &Context<'_>, values: &Values<'_>) -> Result<Value, LookError> {
    let AnyKernel::Gaussian(gaussian) = kernel else { return Err(BuildError::Kernel(NEEDS_GAUSSIAN).into()) };
    let lambda = ParameterError::positive("lambda", values.number("lambda"));
    let lambda = lambda.map_err(|error| BuildError::Learner(error.into()))?;
    let Context { rows, dimension, .. } = *context;
    let rounds = context.rounds.ok_or(LookError::NeedsData("T, the number of rows"))?;
    if rows.is_empty() {
        return Err(LookError::NeedsData(FIRST_ROWS));
    }
    let centre = values.numbers("centre", dimension).unwrap_or_else(|| vec![0.0; dimension]);
    let squared = |row: &[f64]| row.iter().zip(&centre).map(|(x, c)| (x - c) * (x - c)).sum::<f64>();
    let radius = rows.chunks_exact(dimension.max(1)).map(squared).fold(0.0, f64::max).sqrt();
    Ok(Value::Whole(TaylorFeatures::sufficient_degree(radius, gaussian.sigma(), rounds, lambda)))
}

fn nystrom(context: &Context<'_>, values: &Values<'_>) -> NystromParams {
    NystromParams {
        lambda: values.number("lambda"),
        mu: values.number("mu"),
        beta: values.number("beta"),
        epsilon: values.number("epsilon"),
        seed: context.seed,
    }
}

/// `max_dictionary` of the learners that would learn nothing without a point.
fn dictionary(values: &Values<'_>) -> Result<Option<usize>, BuildError> {
    match values.optional_count("max_dictionary") {
        Some(0) => {
            let error = ParameterError { name: "max_dictionary", requirement: COUNT_OR_NONE, value: 0.0 };
            Err(LearnerError::from(error).into())
        }
        limit => Ok(limit),
    }
}

fn sampled(context: &Context<'_>, values: &Values<'_>) -> Result<SampledKonsParams, BuildError> {
    Ok(SampledKonsParams {
        alpha: values.number("alpha"),
        gamma: values.number("gamma"),
        beta: values.number("beta"),
        epsilon: values.number("epsilon"),
        clip: values.number("clip"),
        max_dictionary: dictionary(values)?,
        seed: context.seed,
    })
}
