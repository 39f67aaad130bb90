//! Targets behind scales: their own units, stages, and the learner that would have known the scale
//! from the start.

use mercer_core::{ExampleError, Validate};
use mercer_encoding::{EncodingError, Implausible, ScaledTargets, TargetScale};
use mercer_experts::Outliers;
use mercer_kernels::Gaussian;
use mercer_learners::{
    Error, Fogd, FogdParams, Krls, KrlsParams, Loss, NonsAld, NonsAldParams, Regressor, RegressorExt, Rows, Scratch,
    Target, Targets,
};
use proptest::prelude::*;

type Learner = Krls<Gaussian>;

fn krls() -> Learner {
    Krls::new(Gaussian::new(0.3).unwrap(), 1, KrlsParams::default().lambda(0.1)).unwrap()
}

fn nons_ald() -> NonsAld<Gaussian> {
    NonsAld::new(Gaussian::new(0.3).unwrap(), 1, NonsAldParams::default()).unwrap()
}

fn input(t: usize) -> f64 {
    (t * 37 % 101) as f64 / 101.0
}

fn price(t: usize) -> f64 {
    1e6 + 3e5 * (6.0 * input(t)).sin()
}

/// Mean squared error over rounds 300 to 600, in units of the variance of the targets.
fn error(learner: &mut impl Regressor, target: impl Fn(usize) -> f64) -> f64 {
    let (mut squares, mut rounds) = (0.0, 0.0);
    for t in 0..600 {
        let made = learner.predict_then_update(&[input(t)], target(t)).unwrap();
        if t >= 300 {
            squares += (made - target(t)).powi(2);
            rounds += 1.0;
        }
    }
    let mean = (0..600).map(&target).sum::<f64>() / 600.0;
    let variance = (0..600).map(|t| (target(t) - mean).powi(2)).sum::<f64>() / 600.0;
    squares / rounds / variance
}

#[test]
fn prices_work_with_a_bounded_learner() {
    assert!(error(&mut nons_ald(), price) > 1.0, "its predictions stay within 1");
    let mut scaled = ScaledTargets::new(nons_ald()).unwrap();
    assert!(error(&mut scaled, price) < 0.01);
    assert!(scaled.is_settled() && (scaled.scales()[0].scale() / 3e5 - 1.0).abs() < 0.01);
}

#[test]
fn units_do_not_matter() {
    let plain = error(&mut ScaledTargets::new(nons_ald()).unwrap(), |t| (price(t) - 1e6) / 3e5);
    for (unit, offset) in [(1e-9, 0.0), (1e9, 1e12), (-4.0, 1.0)] {
        let made = error(&mut ScaledTargets::new(nons_ald()).unwrap(), |t| offset + unit * (price(t) - 1e6) / 3e5);
        assert!((made / plain - 1.0).abs() < 1e-3, "{unit}: {made} {plain}");
    }
}

/// The formula, from sorted targets.
#[test]
fn scales_by_hand() {
    let of = |targets: &[f64]| TargetScale::from_targets(targets.iter().copied());
    let scale = of(&[3.0, 1.0, 7.0, 2.0]);
    assert_eq!([1.0, 4.0, 7.0].map(|y| scale.apply(y)), [-1.0, 0.0, 1.0]);
    assert_eq!([-1.0, 0.0, 1.0].map(|z| scale.undo(z)), [1.0, 4.0, 7.0]);
    // An error of measurement: −9999 lies further than 10 quartile ranges from the others.
    assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -9999.0]), of(&[1.0, 7.0]));
    // Constants, and what only rounding tells apart.
    assert_eq!(
        [of(&[5.0; 4]).scale(), of(&[-5.0]).scale(), of(&[0.0; 3]).scale(), of(&[]).scale()],
        [5.0, 5.0, 1.0, 1.0]
    );
    assert_eq!(of(&[0.3, 0.1 + 0.2]).scale(), 0.3);
    assert_eq!(of(&[-1.7e308, 1.7e308]).apply(1.7e308), 1.0);
}

/// After the last stage it is the learner that had known the scale of the first 256 targets from
/// the start, bit for bit.
#[test]
fn what_is_settled_had_known_the_scale_from_the_start() {
    let mut scaled = ScaledTargets::new(krls()).unwrap();
    let mut knowing = ScaledTargets::fixed(krls(), vec![TargetScale::from_targets((0..256).map(price))]).unwrap();
    for t in 0..400 {
        let made =
            [&mut scaled, &mut knowing].map(|learner| learner.predict_then_update(&[input(t)], price(t)).unwrap());
        assert_eq!(scaled.validate(), Ok(()));
        if t >= 256 {
            assert_eq!(made[0].to_bits(), made[1].to_bits());
        } else if t < 16 {
            let mean = if t == 0 { 0.0 } else { (0..t).map(price).sum::<f64>() / t as f64 };
            assert!((made[0] - mean).abs() < 1e-6);
        }
    }
}

#[test]
fn several_outputs_have_scales_of_their_own() {
    let mut scaled = {
        let params = KrlsParams::default().lambda(0.1).outputs(2);
        ScaledTargets::new(Krls::new(Gaussian::new(0.3).unwrap(), 1, params).unwrap()).unwrap()
    };
    let mut scores = [0.0; 2];
    let mut squares = [0.0; 2];
    for t in 0..600 {
        let y = [price(t), 1e-3 * (5.0 * input(t)).cos()];
        scaled.learn(&[input(t)], Target::new(&y), &mut scores).unwrap();
        if t >= 300 {
            squares.iter_mut().zip(scores.iter().zip(y)).for_each(|(sum, (made, y))| *sum += (made - y).powi(2));
        }
    }
    assert!(squares[0] / 300.0 < 0.01 * 4.5e10 && squares[1] / 300.0 < 0.01 * 5e-7, "{squares:?}");
    assert!(scaled.predict(&[0.0]).is_err(), "two outputs");
}

#[test]
fn only_the_squared_loss_has_units() {
    let learner = Fogd::new(1, FogdParams::default().loss(Loss::HINGE)).unwrap();
    assert_eq!(ScaledTargets::new(learner.clone()).unwrap_err(), EncodingError::Loss { loss: "hinge" });
    assert!(ScaledTargets::fixed(learner.clone(), vec![TargetScale::from_targets([1.0])]).is_err());
    assert!(ScaledTargets::fixed(krls(), vec![]).is_err());
    // Unscaled it is the learner itself.
    let (mut plain, mut unscaled) = (learner.clone(), ScaledTargets::unscaled(learner));
    for t in 0..50 {
        let y = if input(t) > 0.5 { 1.0 } else { -1.0 };
        let made = [plain.predict_then_update(&[input(t)], y), unscaled.predict_then_update(&[input(t)], y)];
        assert_eq!(made[0], made[1]);
    }
    assert_eq!(unscaled.loss(), Loss::HINGE);
}

#[test]
fn constants_and_jumps_stay_finite() {
    for list in [[5.0; 300], [0.0; 300]] {
        let mut scaled = ScaledTargets::new(nons_ald()).unwrap();
        for (t, y) in list.into_iter().enumerate() {
            scaled.update(&[input(t)], y).unwrap();
        }
        assert!((scaled.predict(&[0.5]).unwrap() - list[0]).abs() < 1e-9);
        // The learner may refuse it, as it would any number whose square overflows.
        let _ = scaled.update(&[0.5], 1e308);
        scaled.update(&[0.5], 1e100).unwrap();
        assert!(scaled.predict(&[0.5]).unwrap().is_finite());
        assert_eq!(scaled.validate(), Ok(()));
    }
}

#[test]
fn refused_examples_leave_no_trace() {
    for taught in [0, 10, 100, 300] {
        let mut scaled = ScaledTargets::new(krls()).unwrap();
        for t in 0..taught {
            scaled.update(&[input(t)], price(t)).unwrap();
        }
        let before = format!("{scaled:?}");
        assert!(matches!(scaled.update(&[f64::NAN], 1.0), Err(Error::Example(ExampleError::NonFiniteInput { .. }))));
        assert!(
            matches!(scaled.update(&[0.0], f64::INFINITY), Err(Error::Example(ExampleError::NonFiniteTarget(y))) if y == f64::INFINITY)
        );
        assert!(scaled.update(&[0.0, 0.0], 1.0).is_err());
        let mut scores = [0.0];
        scaled.learn(&[0.1], Target::weighted(&[7.0], 0.0), &mut scores).unwrap();
        assert_eq!(scores[0], scaled.predict_with(&[0.1], &mut Scratch::default()).unwrap());
        let mut made = Vec::new();
        let targets = Targets::numbers(&[1.0, f64::NAN, 2.0]);
        let rows = Rows::new(&[0.1, 0.2, 0.3], 1, targets).unwrap();
        let mut rehearsal = scaled.clone();
        assert!(matches!(rehearsal.learn_rows(rows, &mut made), Err(Error::Example(ExampleError::NonFiniteTarget(_)))));
        assert_eq!(made.len(), 1);
        scaled.set_threads(1);
        // What is skipped in files is only memory.
        let shown = |text: &str| text.split("work:").next().map(str::to_owned);
        assert_eq!(shown(&format!("{scaled:?}")), shown(&before));
    }
}

#[test]
fn features_may_appear_late_also_before_the_scales_are_fixed() {
    let mut late = ScaledTargets::new(krls()).unwrap();
    let wide = Krls::new(Gaussian::new(0.3).unwrap(), 2, KrlsParams::default().lambda(0.1)).unwrap();
    let mut early = ScaledTargets::new(wide).unwrap();
    for t in 0..300 {
        if t == 20 {
            late.grow(1).unwrap();
        }
        let x = [input(t), if t < 20 { 0.0 } else { input(t + 1) }];
        let made =
            [late.predict_then_update(&x[..late.dimension()], price(t)), early.predict_then_update(&x, price(t))];
        assert_eq!(made[0], made[1], "{t}");
        assert_eq!(late.validate(), Ok(()));
    }
}

proptest! {
    /// Rows one by one and in blocks: the same scales, bit for bit, and the same predictions to
    /// rounding.
    #[test]
    fn blocks_agree_with_one_by_one(cuts in prop::collection::vec(1..90_usize, 1..12), zero in 0..7_usize) {
        let (mut one, mut many) = (ScaledTargets::new(krls()).unwrap(), ScaledTargets::new(krls()).unwrap());
        let mut first = 0;
        for cut in cuts {
            let xs: Vec<f64> = (first..first + cut).map(input).collect();
            let ys: Vec<f64> = (first..first + cut).map(price).collect();
            let weights: Vec<f64> = (first..first + cut).map(|t| if t % 7 == zero { 0.0 } else { 1.0 + (t % 3) as f64 }).collect();
            let rows = Rows::new(&xs, 1, Targets::new(&ys, &weights, 1).unwrap()).unwrap();
            let mut blocked = Vec::new();
            many.learn_rows(rows, &mut blocked).unwrap();
            for (made, (x, target)) in blocked.iter().zip(rows.iter()) {
                let mut score = [0.0];
                one.learn(x, target, &mut score).unwrap();
                prop_assert!((made - score[0]).abs() < 1e-3, "{} {}", made, score[0]);
            }
            prop_assert_eq!(one.scales(), many.scales());
            first += cut;
        }
    }
}

/// The variance and the noise of a learner that sees scaled targets, in squared units of the
/// target.
#[test]
fn variances_are_in_units_of_the_target() {
    let mut scaled = ScaledTargets::new(krls()).unwrap();
    let (mut scratch, mut made, mut variance) = (Scratch::default(), [0.0], [0.0]);
    assert!(scaled.has_variance() && scaled.noise(0).is_none());
    for t in 0..400 {
        if t == 10 {
            let told = scaled.predict_variance_into(&[0.5], &mut scratch, &mut made, &mut variance).unwrap();
            let mean = (0..10).map(price).sum::<f64>() / 10.0;
            assert!(!told && variance[0].is_nan() && (made[0] / mean - 1.0).abs() < 1e-12);
        }
        scaled.update(&[input(t)], price(t)).unwrap();
    }
    let unit = scaled.scales()[0].scale();
    let (mut inner_made, mut inner) = ([0.0], [0.0]);
    for x in [0.1, 0.5, 0.9] {
        assert!(scaled.predict_variance_into(&[x], &mut scratch, &mut made, &mut variance).unwrap());
        let learner = scaled.learner();
        assert!(learner.predict_variance_into(&[x], &mut scratch, &mut inner_made, &mut inner).unwrap());
        assert_eq!(made[0], scaled.scales()[0].undo(inner_made[0]));
        assert!((variance[0] / (unit * unit * inner[0]) - 1.0).abs() < 1e-14);
    }
    let noise = scaled.noise(0).unwrap() / scaled.learner().noise(0).unwrap();
    assert!((noise / (unit * unit) - 1.0).abs() < 1e-14);
    let mut plain = ScaledTargets::unscaled(krls());
    plain.update(&[0.5], 1.0).unwrap();
    assert_eq!(plain.noise(0), plain.learner().noise(0));
}

/// Predictions of rows whose target in `row` is `size`, one by one or in blocks.
fn spoilt(learner: &ScaledTargets<Learner>, (row, size): (usize, f64), block: usize) -> Vec<f64> {
    let targets: Vec<f64> = (0..700).map(|t| if t == row { size } else { price(t) / 1e6 }).collect();
    let inputs: Vec<f64> = (0..700).map(input).collect();
    let (mut learner, mut made) = (learner.clone(), Vec::new());
    for (inputs, targets) in inputs.chunks(block).zip(targets.chunks(block)) {
        let rows = Rows::new(inputs, 1, Targets::new(targets, &[], 1).unwrap()).unwrap();
        learner.learn_rows(rows, &mut made).unwrap();
    }
    let found = Implausible { rows: 1, first: row as u64 + 1, target: size, mark: None };
    assert_eq!(learner.implausible(), (row < 700).then_some(found));
    assert_eq!(learner.validate(), Ok(()));
    made
}

#[test]
fn one_wrong_target_of_any_size_leaves_no_trace() {
    let learners = [ScaledTargets::unscaled(krls()), ScaledTargets::new(krls()).unwrap()];
    for learner in learners.map(|learner| learner.screening(Outliers::Skip)) {
        let undisturbed = spoilt(&learner, (700, 0.0), 1);
        for row in [0, 3, 5, 63, 300, 600] {
            for size in [1e3, -9999.0, 1e60] {
                for block in [1, 50] {
                    let made = spoilt(&learner, (row, size), block);
                    let later = made[650..].iter().zip(&undisturbed[650..]).map(|(a, b)| (a - b).abs());
                    assert!(later.fold(0.0, f64::max) < 0.02, "{size} in {row}, blocks of {block}");
                }
            }
        }
    }
}

/// Runs of wrong targets, equal or all different, and a constant that one leaves: what is learnt of
/// them is dropped when the targets return, in blocks as row by row.
#[test]
fn a_run_of_wrong_targets_leaves_no_trace() {
    type Spoils = fn(usize) -> Option<f64>;
    let marks: Spoils = |t| (300..330).contains(&t).then_some(-9999.0);
    let wild: Spoils = |t| (300..330).contains(&t).then_some(1e6 * (input(t) - 0.3));
    let often: Spoils = |t| (t % 100 >= 95).then_some(-9999.0);
    let constant: Spoils = |t| (t <= 100).then_some(if t == 100 { 1e6 } else { 1.0 });
    let plain: Spoils = |_| None;
    for (spoils, rows) in [(marks, 30), (wild, 30), (often, 35), (constant, 1), (plain, 0)] {
        for learner in [ScaledTargets::unscaled(krls()), ScaledTargets::new(krls()).unwrap()] {
            let mut made = [Vec::new(), Vec::new()];
            for (made, block) in made.iter_mut().zip([1, 50]) {
                let mut learner = learner.clone().screening(Outliers::Weigh);
                let targets: Vec<f64> = (0..700).map(|t| spoils(t).unwrap_or_else(|| price(t) / 1e6)).collect();
                let inputs: Vec<f64> = (0..700).map(input).collect();
                for (inputs, targets) in inputs.chunks(block).zip(targets.chunks(block)) {
                    let rows = Rows::new(inputs, 1, Targets::new(targets, &[], 1).unwrap()).unwrap();
                    learner.learn_rows(rows, made).unwrap();
                    assert_eq!(learner.validate(), Ok(()));
                }
                assert_eq!(learner.implausible().map_or(0, |found| found.rows), rows);
                assert_eq!(learner.waiting(), None);
            }
            assert!(made[0].iter().zip(&made[1]).all(|(a, b)| (a - b).abs() < 1e-9));
            let errors = (600..700).filter(|t| spoils(*t).is_none()).map(|t| (made[0][t] - price(t) / 1e6).abs());
            let worst = errors.fold(0.0, f64::max);
            assert!(worst < 0.1, "{rows} rows: {worst}");
        }
    }
}

/// A first value after a constant is learnt once a second confirms it.
#[test]
fn what_leaves_a_constant_is_learnt_late() {
    let mut learner = ScaledTargets::unscaled(krls()).screening(Outliers::Weigh);
    let target = |t: usize| if t == 40 || t >= 50 { 1.0 + (t % 3) as f64 } else { 0.0 };
    for t in 0..60 {
        learner.update(&[t as f64], target(t)).unwrap();
        let waits = (40..50).contains(&t);
        assert_eq!(learner.waiting().is_some(), waits, "row {t}");
        assert_eq!(learner.predict(&[40.0]).unwrap() > 0.5, t >= 50, "row {t}");
    }
    assert_eq!(learner.implausible(), None);
}

#[test]
fn weighed_targets_pull_as_one_at_the_edge() {
    let kept = |outliers| {
        let made = spoilt(&ScaledTargets::unscaled(krls()).screening(outliers), (600, 1e9), 1);
        made[601..].iter().fold(0.0, |most: f64, made| most.max(made.abs()))
    };
    assert!(kept(Outliers::Skip) < 1.4 && kept(Outliers::Weigh) < 2.5);
    let plain = ScaledTargets::unscaled(krls());
    assert_eq!(plain.clone().screening(Outliers::Keep).outliers(), plain.outliers());
}
