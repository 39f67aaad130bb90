//! Mixtures of learners against their members run alone, and against the rules' definitions.

use mercer_auto::{Auto, AutoParams};
use mercer_core::ExampleError;
use mercer_experts::Rule;
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::{
    AogdAld, AogdAldParams, Blocks, Error, Fogd, FogdParams, Growth, Krls, KrlsParams, Mixture, NonsAld, NonsAldParams,
    PkawvTaylor, Problem, Regressor, RegressorExt, Rows, Scratch, Target, Targets, TaylorParams, Tokens, Variance,
};
use mercer_registry::AnyRegressor;
use mercer_testkit::oracle::{self, Example};
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;
type Member = AnyRegressor<Gaussian>;

fn nons(sigma: f64, mu: f64) -> Member {
    let params = NonsAldParams::default().mu(mu).max_dictionary(Some(30));
    NonsAld::new(Gaussian::new(sigma).expect("a width"), 2, params).expect("valid").into()
}

fn krls(sigma: f64, lambda: f64) -> Member {
    let params = KrlsParams::default().lambda(lambda).max_dictionary(Some(30));
    Krls::new(Gaussian::new(sigma).expect("a width"), 2, params).expect("valid").into()
}

fn pkawv(lambda: f64) -> Member {
    PkawvTaylor::new(2, TaylorParams::default().degree(4).lambda(lambda)).expect("valid").into()
}

/// Overflows within some hundred rounds.
fn diverging() -> Member {
    Fogd::new(2, FogdParams::default().features(20).step(3.0)).expect("valid").into()
}

fn members() -> Vec<Member> {
    vec![nons(0.8, 1.0), krls(0.8, 0.1), nons(0.8, 5.0), pkawv(0.1), krls(0.3, 0.1), krls(0.8, 2.0)]
}

fn mixture(members: &[Member], rule: Rule) -> Mixture<Member> {
    let named = members.iter().enumerate().map(|(k, member)| (format!("{k} {}", member.name()), member.clone()));
    Mixture::new(named, rule).expect("members of one dimension")
}

/// Predictions of each member alone, clipped to the targets seen and 0; `None` from the row on that
/// it refuses.
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
                _ => oracle::ml_poly(&history),
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

/// Three kinds of learners, none with a largest dictionary, keep one; the steps are those of the
/// members alone, bit for bit.
#[test]
fn gradient_newton_and_least_squares_steps_share_a_dictionary() -> TestResult {
    let kernel = Gaussian::new(0.8)?;
    let aogd = |radius, growth_limit| -> Result<Member, Error> {
        Ok(AogdAld::new(kernel, 2, AogdAldParams::default().radius(radius).growth_limit(growth_limit))?.into())
    };
    let nons = NonsAld::new(kernel, 2, NonsAldParams::default().max_dictionary(None))?;
    let krls = KrlsParams::default().lambda(0.1).max_dictionary(None);
    let shared = [aogd(2.0, None)?, nons.into(), aogd(0.5, None)?, Krls::new(kernel, 2, krls)?.into()];
    let mut members = shared.to_vec();
    // It will keep everything one day, so it has its own.
    members.push(aogd(2.0, Some(20))?);
    let stream = streams::smooth_noisy(12, 300, 2, 0.1);
    let (xs, ys) = flat(&stream);
    let mut mixture = mixture(&members, Rule::MlPoly);
    mixture.learn_block(&xs, &ys, &mut Vec::new())?;
    let mut losses = vec![0.0; members.len()];
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for (x, y) in &stream {
        for (member, loss) in members.iter_mut().zip(&mut losses) {
            *loss += (member.predict_then_update(x, *y)?.clamp(low, high) - y).powi(2);
        }
        (low, high) = (low.min(*y), high.max(*y));
    }
    assert_eq!(mixture.members().map(|expert| expert.cumulative_loss).collect::<Vec<_>>(), losses);
    let sizes: Vec<usize> = members.iter().map(Regressor::dictionary_size).collect();
    assert_eq!(sizes[..4], [sizes[0]; 4]);
    assert_eq!(mixture.dictionary_size(), sizes[0] + sizes[4]);
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
    assert_eq!(mixture.learn_block(&xs, &ys, &mut predictions), Err(ExampleError::Diverged.into()));
    let refused = predictions.len();
    assert!((10..1400).contains(&refused), "{refused}");
    assert!(mixture.members().all(|expert| expert.active && expert.weight == 0.5));
    let (x, y) = &stream[refused];
    let before = mixture.predict(x)?;
    assert_eq!(mixture.predict_then_update(x, *y), Err(ExampleError::Diverged.into()));
    assert_eq!(mixture.predict(x)?.to_bits(), before.to_bits());
    Ok(())
}

#[test]
fn rows_of_weight_0_are_only_predicted_and_refused_rows_stop_a_block() -> TestResult {
    let (xs, ys) = flat(&streams::smooth_noisy(14, 300, 2, 0.1));
    let mut weights: Vec<f64> = (0..ys.len()).map(|t| [1.0, 2.5, 0.0, 0.5][t % 4]).collect();
    weights[17..23].fill(0.0);
    let members = members();
    let (mut one_by_one, mut expected) = (mixture(&members, Rule::Boa), Vec::new());
    for ((x, y), weight) in xs.chunks(2).zip(&ys).zip(&weights) {
        let (mut made, predicted) = ([0.0], one_by_one.predict(x)?);
        let (before, loss) = (one_by_one.dictionary_size(), one_by_one.cumulative_loss());
        one_by_one.learn(x, Target::weighted(&[*y], *weight), &mut made)?;
        if *weight == 0.0 {
            assert_eq!(
                (made[0], before, loss),
                (predicted, one_by_one.dictionary_size(), one_by_one.cumulative_loss())
            );
        }
        expected.push(made[0]);
    }
    let near = |made: &[f64]| made.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
    for threads in [1, 3] {
        let (mut blocked, mut made) = (mixture(&members, Rule::Boa), Vec::new());
        blocked.set_threads(threads);
        blocked.learn_rows(Rows::new(&xs, 2, Targets::new(&ys, &weights, 1)?)?, &mut made)?;
        assert!(made.len() == ys.len() && near(&made));
        // Each way of spoiling a row leaves what was learnt before it, and the rest of the rows can
        // follow.
        for spoil in 0..3 {
            let (mut bad_xs, mut bad_ys, mut bad_weights) = (xs.clone(), ys.clone(), weights.clone());
            match spoil {
                0 => bad_xs[2 * 101] = f64::NAN,
                1 => bad_ys[101] = f64::INFINITY,
                _ => bad_weights[101] = -1.0,
            }
            let (mut blocked, mut made) = (mixture(&members, Rule::Boa), Vec::new());
            let rows = Rows::new(&bad_xs, 2, Targets::new(&bad_ys, &bad_weights, 1)?)?;
            assert!(blocked.learn_rows(rows, &mut made).is_err());
            assert_eq!(made.len(), 101);
            let rows = Rows::new(&xs, 2, Targets::new(&ys, &weights, 1)?)?;
            blocked.learn_rows(rows.range(101, ys.len()), &mut made)?;
            assert!(made.len() == ys.len() && near(&made), "row spoilt in way {spoil}");
        }
    }
    Ok(())
}

/// A learner of a user's own: the mean of the targets so far, plus what makes it predict NaN from a
/// round on.
#[derive(Clone, Debug)]
struct Mean {
    sum: f64,
    count: f64,
    nan_from: f64,
}

impl Regressor for Mean {
    fn problem(&self) -> Problem {
        Problem::squared(2, 1)
    }

    fn dictionary_size(&self) -> usize {
        0
    }

    fn predict_into(&self, _: &[f64], _: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        scores[0] = if self.count >= self.nan_from { f64::NAN } else { self.sum / self.count.max(1.0) };
        Ok(())
    }

    fn step(&mut self, x: &[f64], Target { y, weight }: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.predict_into(x, &mut Scratch::default(), scores)?;
        self.sum += weight * y[0];
        self.count += weight;
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        Err(growth.refused())
    }
}

impl mercer_learners::Member for Mean {
    type Group = Self;
}

fn mean(nan_from: f64) -> Mean {
    Mean { sum: 0.0, count: 0.0, nan_from }
}

#[test]
fn learners_of_a_users_own_take_part() -> TestResult {
    let stream = streams::smooth_noisy(15, 200, 2, 0.1);
    // The same in boxes as among the learners of this crate, bit for bit: each learns alone here.
    let ours = [nons(0.8, 1.0), krls(0.3, 0.1), pkawv(0.1)];
    let mut known = mixture(&ours, Rule::MlPoly);
    let boxed = ours.map(|member| (member.name().to_owned(), Box::new(member) as Box<dyn Regressor>));
    let mut boxed = Mixture::new(boxed, Rule::MlPoly)?;
    for (x, y) in &stream {
        assert_eq!(known.predict_then_update(x, *y)?.to_bits(), boxed.predict_then_update(x, *y)?.to_bits());
    }
    // One kind of them, which clones; the one that predicts NaN is out from then on.
    let members = [mean(f64::INFINITY), mean(50.0)].map(|member| ("mean".to_owned(), member));
    for size in [1, 30] {
        let (xs, ys) = flat(&stream);
        let (mut both, mut predictions) = (Mixture::new(members.clone(), Rule::MlPoly)?.clone(), Vec::new());
        for (xs, ys) in xs.chunks(2 * size).zip(ys.chunks(size)) {
            both.learn_block(xs, ys, &mut predictions)?;
        }
        assert_eq!(both.members().map(|member| member.active).collect::<Vec<_>>(), [true, false]);
        let mut alone = mean(f64::INFINITY);
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for ((x, y), prediction) in stream.iter().zip(&predictions) {
            assert!((alone.predict_then_update(x, *y)?.clamp(low, high) - prediction).abs() < 1e-12);
            (low, high) = (low.min(*y), high.max(*y));
        }
    }
    let mut nan = Mixture::new([("mean".to_owned(), mean(0.0))], Rule::Ewa)?;
    assert_eq!(nan.predict(&[0.0, 0.0]), Err(ExampleError::Diverged.into()));
    assert_eq!(nan.update(&[0.0, 0.0], 1.0), Err(ExampleError::Diverged.into()));
    Ok(())
}

#[test]
fn inputs_grow_when_all_members_can() -> TestResult {
    let (mut with_taylor, mut without) = (mixture(&members(), Rule::Boa), mixture(&members()[..3], Rule::Boa));
    for (x, y) in streams::smooth_noisy(16, 60, 2, 0.1) {
        with_taylor.update(&x, y)?;
        without.update(&x, y)?;
    }
    let (before, x) = (with_taylor.predict(&[0.1, 0.2])?, [0.1, 0.2, 0.0]);
    assert_eq!(with_taylor.grow(1), Err(Error::FixedInputs));
    assert_eq!(with_taylor.predict(&[0.1, 0.2])?.to_bits(), before.to_bits());
    let before = without.predict(&x[..2])?;
    without.grow(1)?;
    assert_eq!(without.dimension(), 3);
    assert!((without.predict(&x)? - before).abs() < 1e-12);
    without.update(&[0.1, 0.2, 0.3], 0.5)?;
    Ok(())
}

#[test]
fn mixtures_need_members_of_one_dimension() {
    let none: [(String, Member); 0] = [];
    assert!(matches!(Mixture::new(none, Rule::Ewa), Err(Error::Parameter(_))));
    let other: Member = PkawvTaylor::new(3, TaylorParams::default()).map(Into::into).expect("valid");
    let both = [("a".to_owned(), nons(1.0, 1.0)), ("b".to_owned(), other)];
    assert!(matches!(
        Mixture::new(both, Rule::Ewa),
        Err(Error::Example(ExampleError::Dimension { expected: 2, got: 3 }))
    ));
    let mut two = krls(1.0, 1.0);
    assert_eq!(two.add_output(None), Ok(()));
    let both = [("a".to_owned(), nons(1.0, 1.0)), ("b".to_owned(), two)];
    assert!(matches!(
        Mixture::new(both, Rule::Ewa),
        Err(Error::Example(ExampleError::Outputs { expected: 1, got: 2 }))
    ));
}

#[test]
fn threads_change_no_bit() -> TestResult {
    let (xs, ys) = flat(&streams::smooth_noisy(6, 900, 2, 0.1));
    let run = |threads: usize| -> Result<Vec<u64>, Error> {
        let mut auto = Auto::new(2, AutoParams::default().budget(20_000))?;
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

/// The grid alone.
fn auto(dimension: usize, stream: &[Example]) -> Result<(Auto, Vec<f64>), Error> {
    auto_within(AutoParams::default().budget(50_000).neighbours(0), dimension, stream)
}

/// With a window of some thousand examples, of which eight make a prediction.
fn windowed(dimension: usize, stream: &[Example]) -> Result<(Auto, Vec<f64>), Error> {
    auto_within(AutoParams::default().budget(200_000).neighbours(8), dimension, stream)
}

fn auto_within(params: AutoParams, dimension: usize, stream: &[Example]) -> Result<(Auto, Vec<f64>), Error> {
    let mut auto = Auto::new(dimension, params)?;
    let predictions = stream.iter().map(|(x, y)| auto.predict_then_update(x, *y)).collect::<Result<_, _>>()?;
    Ok((auto, predictions))
}

#[test]
fn auto_does_not_look_ahead_and_does_not_mind_the_units() -> TestResult {
    let stream = streams::smooth_noisy(7, 1200, 2, 0.1);
    for auto in [auto, windowed] {
        let (_, predictions) = auto(2, &stream)?;
        for cut in [15, 16, 17, 200, 256, 1023, 1025] {
            let (_, prefix) = auto(2, &stream[..cut])?;
            assert_eq!(prefix, predictions[..cut], "the rows after {cut} changed what was predicted before");
        }
        let raw: Vec<Example> =
            stream.iter().map(|(x, y)| (vec![1e4 * x[0] - 3e4, 1e-3 * x[1]], 5e5 + 2e4 * y)).collect();
        let (_, in_units) = auto(2, &raw)?;
        for (t, (a, b)) in in_units.iter().zip(&predictions).enumerate().skip(1) {
            assert!(((a - 5e5) / 2e4 - b).abs() < 1e-5, "round {t}: {a} is not {b}");
        }
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
        assert_eq!(auto.members().count(), 8);
        let best = auto.members().map(|expert| expert.cumulative_loss).fold(f64::INFINITY, f64::min);
        assert!(loss <= 1.05 * best, "{name}: {loss} against {best}");
    }
    Ok(())
}

/// The second half of the rows lies up to six times as far out as the first 1000, and the target
/// bends there as it does within.
#[test]
fn auto_goes_on_where_features_leave_the_range_of_the_first_rows() -> TestResult {
    let stream: Vec<Example> = streams::smooth_noisy(15, 6000, 2, 0.0)
        .into_iter()
        .enumerate()
        .map(|(t, (x, _))| {
            let x: Vec<f64> = x.iter().map(|x| x * (1.0 + t as f64 / 1000.0)).collect();
            let y = (2.0 * x[0]).sin() + 0.3 * x[1];
            (x, y)
        })
        .collect();
    let (_, predictions) = windowed(2, &stream)?;
    let late = predictions.iter().zip(&stream).skip(3000);
    let (loss, spread) =
        late.fold((0.0, 0.0), |(loss, spread), (made, (_, y))| (loss + (made - y).powi(2), spread + y * y));
    assert!(loss < 0.02 * spread, "{}", loss / spread);
    Ok(())
}

/// A target that jumps over the plane is learnt from the nearest examples.
#[test]
fn auto_learns_rough_targets_from_its_window() -> TestResult {
    let stream: Vec<Example> = streams::smooth_noisy(14, 4000, 2, 0.0)
        .into_iter()
        .map(|(x, _)| {
            let cell = (4.0 * x[0]).floor() + 3.0 * (4.0 * x[1]).floor();
            let y = (7.0 * cell).sin();
            (x, y)
        })
        .collect();
    let later = |(auto, predictions): (Auto, Vec<f64>)| {
        let loss: f64 = predictions.iter().zip(&stream).skip(2000).map(|(p, (_, y))| (p - y).powi(2)).sum();
        (auto, loss)
    };
    let (_, without) = later(auto(2, &stream)?);
    let (auto, with) = later(windowed(2, &stream)?);
    assert!(with < 0.7 * without, "{with} with a window, {without} without");
    assert_eq!(auto.members().count(), 8 + 34);
    assert!((auto.members().map(|member| member.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    Ok(())
}

/// The target is another one from row 4000 on: members start anew, and soon predict as after as
/// many rows from the beginning.
#[test]
fn auto_is_back_soon_after_a_change() -> TestResult {
    let mut stream = streams::smooth_noisy(16, 8000, 2, 0.05);
    for (x, y) in &mut stream[4000..] {
        *y = (3.0 * x[1] - x[0]).cos() - *y;
    }
    let loss = |predictions: &[f64], rows: std::ops::Range<usize>| -> f64 {
        rows.map(|t| (predictions[t] - stream[t].1).powi(2)).sum()
    };
    for (name, auto) in [("grid", auto as fn(_, &[Example]) -> _), ("window", windowed)] {
        let (learner, predictions) = auto(2, &stream)?;
        let (_, anew) = auto(2, &stream[4000..])?;
        let after = loss(&predictions, 4500..8000);
        let alone: f64 = (500..4000).map(|t| (anew[t] - stream[4000 + t].1).powi(2)).sum();
        assert!(after < 1.15 * alone, "{name}: {after} after a change, {alone} from the beginning");
        let restarting = learner.members().filter(|member| member.name.starts_with("restart"));
        let weight: f64 = restarting.map(|member| member.weight).sum();
        assert!(weight > 0.1, "{name}: {weight}");
    }
    Ok(())
}

/// The nearest of the last examples follow a target that switches, which no member that keeps all
/// it has seen does.
#[test]
fn windows_of_auto_follow_what_changes() -> TestResult {
    let (auto, _) = windowed(2, &streams::switching(15, 4000, 2))?;
    let best = |of: fn(&str) -> bool| {
        auto.members().filter(|member| of(member.name)).map(|m| m.cumulative_loss).fold(f64::INFINITY, f64::min)
    };
    let of_windows = best(|name| name.starts_with("near by time"));
    let kept = best(|name| name.starts_with("krls") || name.starts_with("linear"));
    assert!(of_windows < 0.7 * kept, "{of_windows} near by time, {kept} on dictionaries that keep all");
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
                Err(error) => assert_eq!(error, Error::Example(ExampleError::Diverged)),
            }
            assert!(auto.predict(&[0.1, 0.2])?.is_finite());
        }
    }
    let params = AutoParams::default().budget(10);
    assert_eq!(
        Auto::new(2, params).map(drop).map_err(|error| error.to_string()),
        Err("budget must be at least 1000, got 10".to_owned())
    );
    // A dimension for which the budget buys no window and no ridge regression.
    let mut wide = Auto::new(500, AutoParams::default().budget(1000))?;
    for t in 0..40 {
        wide.update(&vec![f64::from(t % 7); 500], f64::from(t % 7))?;
    }
    assert_eq!(wide.members().count(), 5);
    Ok(())
}

/// The conformance suite wants members of several kinds on kernels chosen at run time.
#[test]
fn members_may_have_kernels_of_any_kind() -> TestResult {
    let members = ["gaussian:1", "laplace:1", "polynomial:2,1"].map(|spec| {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        let learner = Krls::new(kernel, 2, KrlsParams::default().lambda(0.1)).expect("valid");
        (spec.to_owned(), AnyRegressor::from(learner))
    });
    let mut mixture = Mixture::new(members, Rule::MlPoly)?;
    for (x, y) in streams::smooth_noisy(13, 100, 2, 0.1) {
        mixture.update(&x, y)?;
    }
    // The polynomial overflows here, which the others do not mind: it is left out, and out for good
    // once it learns.
    assert!(mixture.predict(&[1e200, 0.0])?.is_finite());
    mixture.update(&[1e200, 0.0], 0.3)?;
    let active: Vec<bool> = mixture.members().map(|expert| expert.active).collect();
    assert_eq!(active, [true, true, false]);
    Ok(())
}
