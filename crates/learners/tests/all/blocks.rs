//! A stream learnt in blocks, whatever their sizes, gives the predictions of one row at a time.

use mercer_experts::Rule;
use mercer_kernels::{Gaussian, RandomFourier};
use mercer_learners::update::{Awv, GrowingUpdate, LeastSquares, LinearUpdate};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Fogd, FogdParams, KernelAwv, KernelKrr, KernelRidgeParams,
    Krls, KrlsParams, Mixture, NonsAld, NonsAldParams, NystromParams, OnFeatures, PkawvFrozen, PkawvTaylor, PkrrTaylor,
    Regressor, RegressorExt, Rows, Scratch, Target, Targets, TaylorParams,
};
use mercer_registry::AnyRegressor;
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const ROWS: usize = 700;

/// Inputs in the unit square, every third one near an earlier one; the targets leave the learners'
/// bounds now and then, so that projections are made.
fn stream(seed: u64, dimension: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for t in 0..ROWS {
        let near = (t % 3 == 2).then(|| rng.random_range(0..t));
        let x: Vec<f64> = (0..dimension)
            .map(|i| match near {
                Some(earlier) => xs[earlier * dimension + i] + rng.random_range(-1e-3..1e-3),
                None => rng.random_range(-1.0..1.0),
            })
            .collect();
        let wave: f64 = x.iter().enumerate().map(|(i, x)| ((i + 2) as f64 * x).sin()).sum();
        ys.push(1.5 * wave + rng.random_range(-0.2..0.2));
        xs.extend(x);
    }
    (xs, ys)
}

type Make = fn(usize) -> Result<Box<dyn Regressor>, Error>;
type Maker = Box<dyn Fn() -> Result<Box<dyn Regressor>, Error>>;

/// Learners whose blocked pass only looks ahead: no bit of a prediction may change.
const LOOK_AHEAD: [&str; 4] = ["aogd-ald", "aogd-ald past its limit", "kernel-awv", "kernel-krr"];

/// Learners, the input dimension, and the least dictionary that reaches the code of whole blocks.
fn subjects() -> [(&'static str, usize, usize, Make); 13] {
    [
        ("nons-ald", 2, 130, |d| {
            let params = NonsAldParams::default().alpha(0.02);
            Ok(Box::new(NonsAld::new(Gaussian::new(0.12)?, d, params)?))
        }),
        ("krls", 2, 130, |d| {
            let params = KrlsParams::default().nu(0.02).lambda(0.0);
            Ok(Box::new(Krls::new(Gaussian::new(0.12)?, d, params)?))
        }),
        ("krls with a ridge", 2, 130, |d| {
            let params = KrlsParams::default().nu(0.02).lambda(0.1);
            Ok(Box::new(Krls::new(Gaussian::new(0.12)?, d, params)?))
        }),
        ("aogd-ald", 2, 130, |d| {
            let params = AogdAldParams::default().alpha(0.02);
            Ok(Box::new(AogdAld::new(Gaussian::new(0.12)?, d, params)?))
        }),
        ("aogd-ald past its limit", 2, 300, |d| {
            let params = AogdAldParams::default().alpha(0.02).growth_limit(Some(120));
            Ok(Box::new(AogdAld::new(Gaussian::new(0.12)?, d, params)?))
        }),
        ("con-kons", 2, 20, |d| Ok(Box::new(ConKons::new(Gaussian::new(0.12)?, d, ConKonsParams::default())?))),
        ("fogd", 2, 100, |d| Ok(Box::new(Fogd::new(d, FogdParams::default().sigma(0.3))?))),
        ("kernel-awv", 2, ROWS, |d| {
            Ok(Box::new(KernelAwv::new(Gaussian::new(0.12)?, d, KernelRidgeParams::default())?))
        }),
        ("kernel-krr", 2, ROWS, |d| {
            Ok(Box::new(KernelKrr::new(Gaussian::new(0.12)?, d, KernelRidgeParams::default().lambda(0.1))?))
        }),
        ("pkawv, frozen", 2, 130, |d| {
            let params = NystromParams::default().mu(0.05);
            Ok(Box::new(PkawvFrozen::new(Gaussian::new(0.12)?, d, &stream(1, d).0, params)?))
        }),
        ("a mixture", 2, 330, |d| Ok(Box::new(mixture(d)?))),
        ("pkawv-taylor", 6, 210, |d| Ok(Box::new(PkawvTaylor::new(d, TaylorParams::default().degree(4))?))),
        ("pkrr-taylor", 6, 462, |d| Ok(Box::new(PkrrTaylor::new(d, TaylorParams::default().degree(5).lambda(0.1))?))),
    ]
}

/// Newton steps and least squares on one dictionary, and a learner of another kind.
fn mixture(d: usize) -> Result<Mixture<AnyRegressor<Gaussian>>, Error> {
    let kernel = Gaussian::new(0.12)?;
    let nons = NonsAldParams::default().alpha(0.02);
    let krls = KrlsParams::default().nu(0.02).lambda(0.1).max_dictionary(nons.max_dictionary);
    let members: [AnyRegressor<Gaussian>; 4] = [
        NonsAld::new(kernel, d, nons)?.into(),
        Krls::new(kernel, d, krls)?.into(),
        NonsAld::new(kernel, d, nons.mu(3.0))?.into(),
        Fogd::new(d, FogdParams::default().sigma(0.3).features(100))?.into(),
    ];
    Mixture::new(members.into_iter().enumerate().map(|(k, member)| (k.to_string(), member)), Rule::Boa)
}

/// The members that take a row go on when another refuses it in the midst of a block.
#[test]
fn a_member_dropped_within_a_block_leaves_the_others_as_one_by_one() -> Result<(), Error> {
    let d = 2;
    let (xs, mut ys) = stream(2, d);
    // Its square overflows: least squares alone can do without.
    let wild = ROWS - 40;
    ys[wild] = 1e200;
    let (mut single, mut blocked) = (mixture(d)?, mixture(d)?);
    let mut expected = Vec::new();
    for (x, y) in xs.chunks(d).zip(&ys) {
        expected.push(single.predict_then_update(x, *y)?);
    }
    let mut predictions = Vec::new();
    for (xs, ys) in xs.chunks(100 * d).zip(ys.chunks(100)) {
        blocked.learn_block(xs, ys, &mut predictions)?;
    }
    let active =
        |experts: &Mixture<AnyRegressor<Gaussian>>| experts.members().map(|member| member.active).collect::<Vec<_>>();
    assert_eq!(active(&blocked), [false, true, false, false]);
    assert_eq!(active(&blocked), active(&single));
    assert_eq!(blocked.dictionary_size(), single.dictionary_size());
    let scale = |t: usize| if t > wild { 1e200 } else { 1.0 };
    for (t, (p, q)) in predictions.iter().zip(&expected).enumerate() {
        assert!((p - q).abs() <= 1e-10 * q.abs().max(scale(t)), "{p} for {q} at row {t}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn blocks_of_any_size_equal_one_by_one(
        seed in 0u64..1000, sizes in prop::collection::vec(1usize..=257, 1..12),
    ) {
        for (name, dimension, least, make) in subjects() {
            let (xs, ys) = stream(seed, dimension);
            let mut single = make(dimension).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let mut blocked = make(dimension).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let expected: Vec<f64> = xs
                .chunks(dimension)
                .zip(&ys)
                .map(|(x, y)| single.predict_then_update(x, *y))
                .collect::<Result<_, _>>()
                .map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
            let mut predictions = Vec::new();
            let mut first = 0;
            for size in sizes.iter().cycle() {
                let end = (first + size).min(ROWS);
                let learnt = blocked.learn_block(&xs[first * dimension..end * dimension], &ys[first..end], &mut predictions);
                prop_assert_eq!(learnt, Ok(()), "{}", name);
                first = end;
                if first == ROWS {
                    break;
                }
            }
            prop_assert_eq!(single.dictionary_size(), blocked.dictionary_size(), "{}", name);
            prop_assert!(single.dictionary_size() >= least, "{name} keeps {}", single.dictionary_size());
            if LOOK_AHEAD.contains(&name) {
                prop_assert!(predictions == expected, "{name}: other bits");
            }
            for (t, (a, b)) in predictions.iter().zip(&expected).enumerate() {
                prop_assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{name}: {a} for {b} at row {t}");
            }
        }
    }
}

/// Dimensions above 1,500 take the longest blocks.
#[test]
fn the_longest_blocks_equal_one_by_one() -> Result<(), Error> {
    let (d, rows) = (4, 200);
    let (xs, ys) = stream(3, d);
    let (xs, ys) = (&xs[..rows * d], &ys[..rows]);
    let map = RandomFourier::draw(d, 0.5, 800, 7)?;
    let mut update = LeastSquares::<Awv>::new(1.0, 1.0)?;
    update.restart(map.dimension())?;
    assert_eq!((map.dimension(), update.block_size()), (1600, 64));
    let mut single = OnFeatures::from_parts(map, update)?;
    let mut blocked = single.clone();
    let expected: Vec<f64> =
        xs.chunks(d).zip(ys).map(|(x, y)| single.predict_then_update(x, *y)).collect::<Result<_, _>>()?;
    let mut predictions = Vec::new();
    // Whole blocks, a part of one, and rows too few for one.
    for rows in [0..133, 133..136, 136..200] {
        blocked.learn_block(&xs[rows.start * d..rows.end * d], &ys[rows], &mut predictions)?;
    }
    assert_eq!(predictions.len(), rows);
    for (t, (p, q)) in predictions.iter().zip(&expected).enumerate() {
        assert!((p - q).abs() <= 1e-10 * q.abs().max(1.0), "round {t}: {p} for {q}");
    }
    Ok(())
}

/// Bound on the agreement of blocks: ε times the condition number of `λI + Σ φφᵀ`, at most `1 + Σ
/// ‖φ‖²/λ`. That is no longer within 1e-10.
#[test]
fn small_ridges_agree_to_the_condition_number() -> Result<(), Error> {
    let d = 6;
    let (xs, ys) = stream(5, d);
    for lambda in [1e-4, 1e-6, 1e-8] {
        let mut single = PkawvTaylor::new(d, TaylorParams::default().degree(4).lambda(lambda))?;
        let mut blocked = single.clone();
        let mut expected = Vec::new();
        for (x, y) in xs.chunks(d).zip(&ys) {
            expected.push(single.predict_then_update(x, *y)?);
        }
        let mut predictions = Vec::new();
        blocked.learn_block(&xs, &ys, &mut predictions)?;
        // The features are at most 1 long, k(x, x) being 1.
        let condition = 1.0 + ROWS as f64 / lambda;
        let gap = predictions.iter().zip(&expected).map(|(p, q)| (p - q).abs() / q.abs().max(1.0)).fold(0.0, f64::max);
        assert!(gap <= f64::EPSILON * condition, "lambda {lambda:e}: {gap:e} apart");
    }
    Ok(())
}

/// The second thread starts from sums instead of rounds: the same predictions to rounding, and the
/// same state afterwards.
#[test]
fn two_threads_predict_as_one() -> Result<(), Error> {
    let d = 3;
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for t in 0..4000 {
        let x: [f64; 3] = std::array::from_fn(|i| ((t * (i + 2)) as f64 * 0.37).sin());
        ys.push((2.0 * x[0] - x[1] * x[2]).sin() + 0.1 * (t as f64).cos());
        xs.extend(x);
    }
    let params = TaylorParams::default().sigma(1.2).degree(3).lambda(0.5);
    let mut one = PkawvTaylor::new(d, params)?;
    // Not from the very beginning.
    one.learn_block(&xs[..300], &ys[..100], &mut Vec::new())?;
    let mut two = one.clone();
    two.set_threads(2);
    let (mut expected, mut predictions) = (Vec::new(), Vec::new());
    for (xs, ys) in [(&xs[300..9000], &ys[100..3000]), (&xs[9000..], &ys[3000..])] {
        one.learn_block(xs, ys, &mut expected)?;
        two.learn_block(xs, ys, &mut predictions)?;
    }
    assert_eq!(predictions.len(), expected.len());
    for (t, (p, q)) in predictions.iter().zip(&expected).enumerate() {
        assert!((p - q).abs() <= 1e-10 * q.abs().max(1.0), "round {t}: {p} for {q}");
    }
    assert!(predictions != expected, "both went the same way: the second thread had nothing to do");
    // A row that is refused ends the block where one thread would.
    let mut spoilt = ys.clone();
    spoilt[3500] = f64::NAN;
    let (mut expected, mut predictions) = (Vec::new(), Vec::new());
    assert!(one.learn_block(&xs, &spoilt, &mut expected).is_err());
    assert!(two.learn_block(&xs, &spoilt, &mut predictions).is_err());
    assert_eq!((expected.len(), predictions.len()), (3500, 3500));
    Ok(())
}

/// Three outputs with weights, 0 among them, on dictionaries that reach the code of whole blocks; a
/// row in the midst is refused.
#[test]
fn weighted_rows_of_several_outputs_equal_one_by_one() -> Result<(), Error> {
    let (d, m, refused) = (2, 3, 650);
    let (xs, numbers) = stream(4, d);
    let mut ys: Vec<f64> = numbers.iter().flat_map(|y| [*y, 0.5 - y, y * y]).collect();
    let weights: Vec<f64> = (0..ROWS).map(|t| [1.0, 0.3, 0.0, 2.5, 1.0][t % 5]).collect();
    ys[refused * m + 1] = f64::NAN;
    let krls = KrlsParams::default().nu(0.02).lambda(0.1).outputs(m);
    let taylor = TaylorParams::default().degree(15).lambda(0.1).outputs(m);
    let learners: [(&str, Maker); 3] = [
        ("krls", Box::new(move || Ok(Box::new(Krls::new(Gaussian::new(0.12)?, 2, krls)?)))),
        (
            "krls that forgets",
            Box::new(move || Ok(Box::new(Krls::new(Gaussian::new(0.12)?, 2, krls.forgetting(0.999))?))),
        ),
        ("pkawv-taylor", Box::new(move || Ok(Box::new(PkawvTaylor::new(2, taylor.clone())?)))),
    ];
    for (name, make) in learners {
        let (mut single, mut blocked) = (make()?, make()?);
        let mut expected = Vec::new();
        for t in 0..refused {
            let mut scores = [0.0; 3];
            single.learn(&xs[t * d..][..d], Target::weighted(&ys[t * m..][..m], weights[t]), &mut scores)?;
            expected.extend(scores);
        }
        let all = Rows::new(&xs, d, Targets::new(&ys, &weights, m)?)?;
        let (mut predictions, mut first, mut outcome) = (Vec::new(), 0, Ok(()));
        while outcome.is_ok() {
            outcome = blocked.learn_rows(all.range(first, (first + 150).min(ROWS)), &mut predictions);
            first += 150;
        }
        assert!(outcome.is_err() && blocked.dictionary_size() >= 130, "{name}: {}", blocked.dictionary_size());
        assert_eq!((predictions.len(), blocked.dictionary_size()), (refused * m, single.dictionary_size()), "{name}");
        for (t, (p, q)) in predictions.iter().zip(&expected).enumerate() {
            assert!((p - q).abs() <= 1e-10 * q.abs().max(1.0), "{name}: {p} for {q} at number {t}");
        }
        // What is left behind is the state before the refused row.
        let mut scratch = Scratch::default();
        for x in stream(6, d).0.chunks(d).take(40) {
            let (mut p, mut q) = ([0.0; 3], [0.0; 3]);
            blocked.predict_into(x, &mut scratch, &mut p)?;
            single.predict_into(x, &mut scratch, &mut q)?;
            for (p, q) in p.iter().zip(&q) {
                assert!((p - q).abs() <= 1e-10 * q.abs().max(1.0), "{name}: {p} for {q} afterwards");
            }
        }
    }
    Ok(())
}
