//! Mixtures of learners against their members run alone, and against the rules' definitions.

use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::experts::Rule;
use mercer_learners::{
    AnyRegressor, Auto, AutoParams, Error, Experts, Fogd, FogdParams, Krls, KrlsParams, NonsAld, NonsAldParams,
    PkawvTaylor, Regressor, TaylorParams,
};
use mercer_testkit::oracle::{self, Example};
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;
type Member = AnyRegressor<Gaussian>;

fn nons(sigma: f64, mu: f64) -> Member {
    let params = NonsAldParams { mu, max_dictionary: Some(30), ..NonsAldParams::default() };
    NonsAld::new(Gaussian::new(sigma).expect("a width"), 2, params).expect("valid").into()
}

fn krls(sigma: f64, lambda: f64) -> Member {
    let params = KrlsParams { lambda, max_dictionary: Some(30), ..KrlsParams::default() };
    Krls::new(Gaussian::new(sigma).expect("a width"), 2, params).expect("valid").into()
}

fn pkawv(lambda: f64) -> Member {
    PkawvTaylor::new(2, TaylorParams { degree: 4, lambda, ..TaylorParams::default() }).expect("valid").into()
}

/// Overflows within some hundred rounds.
fn diverging() -> Member {
    Fogd::new(2, FogdParams { features: 20, step: 3.0, ..FogdParams::default() }).expect("valid").into()
}

fn members() -> Vec<Member> {
    vec![nons(0.8, 1.0), krls(0.8, 0.1), nons(0.8, 5.0), pkawv(0.1), krls(0.3, 0.1), krls(0.8, 2.0)]
}

fn mixture(members: &[Member], rule: Rule) -> Experts<Gaussian> {
    let named = members.iter().enumerate().map(|(k, member)| (format!("{k} {}", member.name()), member.clone()));
    Experts::new(named, rule).expect("members of one dimension")
}

/// What each member predicts alone, clipped to the targets seen and 0; `None` from the row on that it refuses.
fn alone(members: &[Member], stream: &[Example]) -> Vec<Vec<Option<f64>>> {
    let mut members: Vec<Option<Member>> = members.iter().cloned().map(Some).collect();
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    let mut rows = Vec::new();
    for (x, y) in stream {
        let row = members.iter_mut().map(|slot| {
            let prediction = slot.as_ref()?.predict(x).ok()?.clamp(low, high);
            if slot.as_mut()?.update(x, *y).is_err() {
                *slot = None;
            }
            Some(prediction)
        });
        rows.push(row.collect());
        (low, high) = (low.min(*y), high.max(*y));
    }
    rows
}

fn flat(stream: &[Example]) -> (Vec<f64>, Vec<f64>) {
    (stream.iter().flat_map(|(x, _)| x.clone()).collect(), stream.iter().map(|(_, y)| *y).collect())
}

#[test]
fn the_mixture_is_the_definition_on_members_run_alone() -> TestResult {
    let stream = streams::smooth_noisy(1, 200, 2, 0.1);
    let members = members();
    let alone = alone(&members, &stream);
    for rule in Rule::ALL {
        let mut mixture = mixture(&members, rule);
        let (mut history, mut losses): (Vec<Vec<f64>>, _) = (Vec::new(), vec![0.0; members.len()]);
        for ((x, y), row) in stream.iter().zip(&alone) {
            let weights = match (rule, history.is_empty()) {
                (_, true) => vec![1.0 / members.len() as f64; members.len()],
                (Rule::Ewa, _) => oracle::ada_hedge(&history),
                (Rule::Boa, _) => oracle::boa(&history),
                (Rule::MlPoly, _) => oracle::ml_poly(&history),
            };
            let predictions: Vec<f64> = row.iter().copied().collect::<Option<_>>().ok_or("a member failed")?;
            let expected: f64 = weights.iter().zip(&predictions).map(|(p, prediction)| p * prediction).sum();
            assert!((mixture.predict(x)? - expected).abs() < 1e-9, "{rule}, round {}", history.len());
            assert!((mixture.predict_then_update(x, *y)? - expected).abs() < 1e-9, "{rule}, round {}", history.len());
            history.push(predictions.iter().map(|p| 2.0 * (expected - y) * (expected - p)).collect());
            losses.iter_mut().zip(&predictions).for_each(|(loss, p)| *loss += (p - y).powi(2));
        }
        for (expert, loss) in mixture.members().zip(&losses) {
            assert!((expert.cumulative_loss - loss).abs() < 1e-9 * loss, "{}", expert.name);
        }
        let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((mixture.regret() - (mixture.cumulative_loss() - best)).abs() < 1e-9);
    }
    Ok(())
}

#[test]
fn members_on_one_dictionary_are_counted_once_and_learn_as_alone() -> TestResult {
    for stream in [streams::smooth_noisy(2, 300, 2, 0.1), streams::near_duplicates(3, 300, 2)] {
        let members = members();
        let alone = alone(&members, &stream);
        let (xs, ys) = flat(&stream);
        let mut mixture = mixture(&members, Rule::MlPoly);
        for (xs, ys) in xs.chunks(2 * 37).zip(ys.chunks(37)) {
            mixture.learn_block(xs, ys, &mut Vec::new())?;
        }
        for (k, expert) in mixture.members().enumerate() {
            let loss: f64 = alone.iter().zip(&ys).filter_map(|(row, y)| Some((row[k]? - y).powi(2))).sum();
            assert!((expert.cumulative_loss - loss).abs() <= 1e-9 * loss, "{}: {loss}", expert.name);
        }
        let size = |mut member: Member| {
            stream.iter().for_each(|(x, y)| assert_eq!(member.update(x, *y), Ok(())));
            member.dictionary_size()
        };
        // Widths 0.8 and 0.3, and the Taylor features.
        let expected = size(nons(0.8, 1.0)) + size(krls(0.3, 0.1)) + size(pkawv(0.1));
        assert_eq!(mixture.dictionary_size(), expected);
    }
    Ok(())
}

#[test]
fn a_member_that_diverges_is_dropped_and_the_mixture_goes_on() -> TestResult {
    let stream = streams::smooth_noisy(4, 1500, 2, 0.05);
    let members = [diverging(), nons(0.8, 1.0), krls(0.8, 0.1)];
    let alone = alone(&members, &stream);
    let failed = alone.iter().position(|row| row[0].is_none()).ok_or("the step should be too large")?;
    assert!((10..1400).contains(&failed), "{failed}");
    for rule in Rule::ALL {
        let mut one_by_one = mixture(&members, rule);
        let expected: Vec<f64> =
            stream.iter().map(|(x, y)| one_by_one.predict_then_update(x, *y)).collect::<Result<_, _>>()?;
        let dropped = one_by_one.members().next().ok_or("three members")?;
        assert!(!dropped.active && dropped.weight == 0.0, "{rule}: {dropped:?}");
        assert!(dropped.cumulative_loss.is_finite());
        assert!(one_by_one.regret() < 12.0, "{rule}: {}", one_by_one.regret());
        let (xs, ys) = flat(&stream);
        for (size, threads) in [(1, 1), (13, 1), (64, 2), (1500, 3)] {
            let (mut blocked, mut predictions) = (mixture(&members, rule), Vec::new());
            blocked.set_threads(threads);
            for (xs, ys) in xs.chunks(2 * size).zip(ys.chunks(size)) {
                blocked.learn_block(xs, ys, &mut predictions)?;
            }
            let worst = predictions.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(predictions.len() == expected.len() && worst < 1e-9, "{rule}, blocks of {size}: {worst:e}");
        }
    }
    Ok(())
}

#[test]
fn an_example_that_all_refuse_changes_nothing() -> TestResult {
    let stream = streams::smooth_noisy(5, 1500, 2, 0.05);
    let (xs, ys) = flat(&stream);
    let (mut mixture, mut predictions) = (mixture(&[diverging(), diverging()], Rule::Boa), Vec::new());
    assert_eq!(mixture.learn_block(&xs, &ys, &mut predictions), Err(Error::Diverged));
    let refused = predictions.len();
    assert!((10..1400).contains(&refused), "{refused}");
    assert!(mixture.members().all(|expert| expert.active && expert.weight == 0.5));
    let (x, y) = &stream[refused];
    let before = mixture.predict(x)?;
    assert_eq!(mixture.predict_then_update(x, *y), Err(Error::Diverged));
    assert_eq!(mixture.predict(x)?.to_bits(), before.to_bits());
    Ok(())
}

#[test]
fn mixtures_need_members_of_one_dimension() {
    let none: [(String, Member); 0] = [];
    assert!(matches!(Experts::new(none, Rule::Ewa), Err(Error::Parameter(_))));
    let other: Member = PkawvTaylor::new(3, TaylorParams::default()).map(Into::into).expect("valid");
    let both = [("a".to_owned(), nons(1.0, 1.0)), ("b".to_owned(), other)];
    assert!(matches!(Experts::new(both, Rule::Ewa), Err(Error::Dimension { expected: 2, got: 3 })));
}

#[test]
fn threads_change_no_bit() -> TestResult {
    let (xs, ys) = flat(&streams::smooth_noisy(6, 900, 2, 0.1));
    let run = |threads: usize| -> Result<Vec<u64>, Error> {
        let mut auto = Auto::new(2, AutoParams { budget: 20_000, ..AutoParams::default() })?;
        auto.set_threads(threads);
        let mut predictions = Vec::new();
        for (xs, ys) in xs.chunks(2 * 100).zip(ys.chunks(100)) {
            auto.learn_block(xs, ys, &mut predictions)?;
        }
        Ok(predictions.into_iter().map(f64::to_bits).collect())
    };
    let one = run(1)?;
    assert_eq!(one, run(2)?);
    assert_eq!(one, run(5)?);
    Ok(())
}

fn auto(dimension: usize, stream: &[Example]) -> Result<(Auto, Vec<f64>), Error> {
    let mut auto = Auto::new(dimension, AutoParams { budget: 50_000, ..AutoParams::default() })?;
    let predictions = stream.iter().map(|(x, y)| auto.predict_then_update(x, *y)).collect::<Result<_, _>>()?;
    Ok((auto, predictions))
}

#[test]
fn auto_does_not_look_ahead_and_does_not_mind_the_units() -> TestResult {
    let stream = streams::smooth_noisy(7, 1200, 2, 0.1);
    let (_, predictions) = auto(2, &stream)?;
    for cut in [15, 16, 17, 200, 1023, 1025] {
        let (_, prefix) = auto(2, &stream[..cut])?;
        assert_eq!(prefix, predictions[..cut], "the rows after {cut} changed what was predicted before");
    }
    let raw: Vec<Example> = stream.iter().map(|(x, y)| (vec![1e4 * x[0] - 3e4, 1e-3 * x[1]], 5e5 + 2e4 * y)).collect();
    let (_, in_units) = auto(2, &raw)?;
    for (t, (a, b)) in in_units.iter().zip(&predictions).enumerate().skip(1) {
        assert!(((a - 5e5) / 2e4 - b).abs() < 1e-5, "round {t}: {a} is not {b}");
    }
    Ok(())
}

#[test]
fn auto_competes_with_the_best_of_its_grid() -> TestResult {
    for (name, stream) in [
        ("smooth", streams::smooth_noisy(8, 3000, 3, 0.3)),
        ("near duplicates", streams::near_duplicates(9, 3000, 3)),
        ("a constant column", streams::constant_column(10, 3000, 3)),
        ("far points", streams::far_away(11, 3000, 3)),
    ] {
        let (auto, predictions) = auto(3, &stream)?;
        let loss: f64 = predictions.iter().zip(&stream).map(|(p, (_, y))| (p - y).powi(2)).sum();
        assert!((auto.cumulative_loss() - loss).abs() < 1e-9 * loss);
        assert_eq!(auto.members().count(), 13);
        let best = auto.members().map(|expert| expert.cumulative_loss).fold(f64::INFINITY, f64::min);
        assert!(loss <= 1.05 * best, "{name}: {loss} against {best}");
    }
    Ok(())
}

#[test]
fn auto_is_not_misled_by_a_wrong_cell() -> TestResult {
    let clean = streams::smooth_noisy(13, 3000, 3, 0.1);
    let later = |stream: &[Example]| -> Result<f64, Error> {
        let (_, predictions) = auto(3, stream)?;
        Ok(predictions.iter().zip(stream).skip(1500).map(|(p, (_, y))| (p - y).powi(2)).sum())
    };
    let loss = later(&clean)?;
    for wrong in [-9999.0, 100.0, 1e300] {
        let mut stream = clean.clone();
        stream[1000].0[1] = wrong;
        let misled = later(&stream)?;
        assert!(misled <= 1.05 * loss, "{wrong} among the first rows: {misled} instead of {loss}");
    }
    Ok(())
}

#[test]
fn auto_survives_what_cannot_be_scaled() -> TestResult {
    for wild in [1e308, -1e308, 1e-308] {
        let mut stream = streams::smooth_noisy(12, 400, 2, 0.1);
        for t in [3, 40, 41, 100, 300] {
            stream[t].0[0] = wild;
        }
        stream[50].1 = wild;
        let mut auto = Auto::new(2, AutoParams::default())?;
        for (x, y) in &stream {
            match auto.predict_then_update(x, *y) {
                Ok(prediction) => assert!(prediction.is_finite(), "{prediction}"),
                Err(error) => assert_eq!(error, Error::Diverged),
            }
            assert!(auto.predict(&[0.1, 0.2])?.is_finite());
        }
    }
    let params = AutoParams { budget: 10, ..AutoParams::default() };
    assert_eq!(
        Auto::new(2, params).map(drop).map_err(|error| error.to_string()),
        Err("budget must be at least 1000, got 10".to_owned())
    );
    // A dimension whose Taylor features do not fit the budget has the dictionaries alone.
    let mut wide = Auto::new(500, AutoParams { budget: 1000, ..AutoParams::default() })?;
    for t in 0..40 {
        wide.update(&vec![f64::from(t % 7); 500], f64::from(t % 7))?;
    }
    assert_eq!(wide.members().count(), 9);
    Ok(())
}

/// The conformance suite wants members of several kinds on kernels chosen at run time.
#[test]
fn members_may_have_kernels_of_any_kind() -> TestResult {
    let members = ["gaussian:1", "laplace:1", "polynomial:2,1"].map(|spec| {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        let learner = Krls::new(kernel, 2, KrlsParams { lambda: 0.1, ..KrlsParams::default() }).expect("valid");
        (spec.to_owned(), AnyRegressor::from(learner))
    });
    let mut mixture = Experts::new(members, Rule::MlPoly)?;
    for (x, y) in streams::smooth_noisy(13, 100, 2, 0.1) {
        mixture.update(&x, y)?;
    }
    // The polynomial overflows here, which the others do not mind: it is left out, and out for good once it learns.
    assert!(mixture.predict(&[1e200, 0.0])?.is_finite());
    mixture.update(&[1e200, 0.0], 0.3)?;
    let active: Vec<bool> = mixture.members().map(|expert| expert.active).collect();
    assert_eq!(active, [true, true, false]);
    Ok(())
}
