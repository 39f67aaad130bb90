//! Large weights against the limit of many small steps, and what they must not do.

use crate::common::{TestResult, kernel};
use mercer_learners::{
    Fogd, FogdParams, Klms, KlmsParams, Knlms, KnlmsParams, Kogd, KogdParams, Loss, Nogd, NogdParams, Qklms,
    QklmsParams, Regressor, RegressorExt, Scratch, Target,
};

/// Rows that are learnt before the heavy one.
fn taught<L: Regressor>(mut learner: L, target: impl Fn(f64) -> Vec<f64>) -> Result<L, mercer_learners::Error> {
    let mut scores = vec![0.0; learner.outputs()];
    for t in 0..40 {
        let x = f64::from(t * 37 % 41) / 20.0 - 1.0;
        learner.learn(&[x, 0.5 * x], Target::weighted(&target(x), 1.0), &mut scores)?;
    }
    Ok(learner)
}

/// The predictions near a row after it was learnt with a weight: at once, and as a row of weight 10
/// with many rows of what is left.
fn both<L: Regressor + Clone>(
    learner: &L,
    y: &[f64],
    weight: f64,
    steps: u32,
) -> Result<[Vec<f64>; 2], mercer_learners::Error> {
    let (x, mut scores) = ([0.3, -0.2], vec![0.0; learner.outputs()]);
    let (mut at_once, mut step_by_step) = (learner.clone(), learner.clone());
    at_once.learn(&x, Target::weighted(y, weight), &mut scores)?;
    step_by_step.learn(&x, Target::weighted(y, weight.min(10.0)), &mut scores)?;
    for _ in 0..steps {
        step_by_step.learn(&x, Target::weighted(y, (weight - 10.0).max(0.0) / f64::from(steps)), &mut scores)?;
    }
    let mut near = |learner: &L| -> Result<Vec<f64>, mercer_learners::Error> {
        let mut made = Vec::new();
        for x in [x, [0.0, 0.0], [-0.7, 0.4]] {
            learner.predict_into(&x, &mut Scratch::default(), &mut scores)?;
            made.extend_from_slice(&scores);
        }
        Ok(made)
    };
    Ok([near(&at_once)?, near(&step_by_step)?])
}

fn agree(what: &str, [at_once, limit]: &[Vec<f64>; 2], tolerance: f64) {
    for (made, limit) in at_once.iter().zip(limit) {
        assert!((made - limit).abs() <= tolerance * limit.abs().max(1.0), "{what}: {made} and {limit}");
    }
}

/// Every loss with targets on both sides of its kinks.
fn losses() -> Vec<(Loss, usize, Vec<Vec<f64>>)> {
    let numbers = || vec![vec![2.5], vec![-0.4]];
    let signs = || vec![vec![1.0], vec![-1.0]];
    let parse = |name: &str| name.parse::<Loss>().expect("a loss");
    let mut all: Vec<_> = ["squared", "absolute", "huber:0.4", "epsilon:0.2", "quantile:0.8"]
        .map(|name| (parse(name), 1, numbers()))
        .into_iter()
        .chain(["logistic", "hinge", "squared-hinge"].map(|name| (parse(name), 1, signs())))
        .collect();
    all.push((parse("squared"), 2, vec![vec![2.5, -1.0]]));
    all.push((parse("poisson"), 1, vec![vec![0.0], vec![7.0]]));
    all.push((Loss::SOFTMAX, 3, vec![vec![0.0], vec![2.0]]));
    all
}

fn target_of(loss: Loss, outputs: usize, x: f64) -> Vec<f64> {
    match loss {
        loss if loss.is_softmax() => vec![if x > 0.0 { 1.0 } else { 2.0 }],
        loss if loss.is_margin() => vec![1_f64.copysign(x)],
        loss if loss.name() == "poisson" => vec![x.abs()],
        _ => vec![x.sin(); outputs],
    }
}

#[test]
fn a_large_weight_is_the_limit_of_many_small_steps() -> TestResult {
    for (loss, outputs, targets) in losses() {
        let of = |x: f64| target_of(loss, outputs, x);
        let params = FogdParams::default().features(30).step(0.1).loss(loss).outputs(outputs);
        let fogd = taught(Fogd::new(2, params)?, of)?;
        let params = NogdParams::default().budget(10).rank(10).step(0.1).loss(loss).outputs(outputs);
        let nogd = taught(Nogd::new(kernel(), 2, params)?, of)?;
        let tolerance = if loss.is_softmax() { 3e-3 } else { 1e-3 };
        for (weight, y) in [12.0, 60.0].into_iter().flat_map(|weight| targets.iter().map(move |y| (weight, y))) {
            agree(&format!("fogd, {loss}, {weight}, {y:?}"), &both(&fogd, y, weight, 20_000)?, tolerance);
            agree(&format!("nogd, {loss}, {weight}, {y:?}"), &both(&nogd, y, weight, 20_000)?, tolerance);
        }
    }
    Ok(())
}

#[test]
fn filters_of_one_point_take_it_so_too() -> TestResult {
    let of = |x: f64| vec![x.sin()];
    let qklms = taught(Qklms::new(kernel(), 2, QklmsParams::default().epsilon(0.5))?, of)?;
    let exact = taught(Qklms::new(kernel(), 2, QklmsParams::default().epsilon(0.0))?, of)?;
    let knlms = taught(Knlms::new(kernel(), 2, KnlmsParams::default())?, of)?;
    let klms = taught(Klms::new(kernel(), 2, KlmsParams::default())?, of)?;
    for weight in [12.0, 60.0] {
        agree("qklms", &both(&qklms, &[2.5], weight, 20_000)?, 1e-3);
        agree("qklms that keeps it", &both(&exact, &[2.5], weight, 20_000)?, 1e-3);
        agree("knlms", &both(&knlms, &[2.5], weight, 20_000)?, 1e-3);
        // The same function, whose copies have points of their own.
        let [[at_once, _], [expected, _]] = [both(&klms, &[2.5], weight, 1)?, both(&exact, &[2.5], weight, 1)?];
        agree("klms", &[at_once, expected], 1e-12);
    }
    Ok(())
}

/// A weight of 1e12 sent predictions to ±3e8, and one that shortens all later steps ruins as much.
#[test]
fn a_weight_of_any_size_moves_predictions_to_their_target() -> TestResult {
    for (loss, outputs, targets) in losses() {
        let of = |x: f64| target_of(loss, outputs, x);
        let fogd = taught(Fogd::new(2, FogdParams::default().features(30).loss(loss).outputs(outputs))?, of)?;
        let kogd = taught(Kogd::new(kernel(), 2, KogdParams::default().radius(50.0).loss(loss).outputs(outputs))?, of)?;
        for y in &targets {
            for weight in [1e3, 1e12] {
                for made in [both(&fogd, y, weight, 0)?, both(&kogd, y, weight, 0)?] {
                    assert!(made[0].iter().all(|made| made.abs() < 60.0), "{loss}, {weight}: {made:?}");
                }
            }
        }
        let [mut heavy, mut calm] = [kogd.clone(), kogd.clone()];
        heavy.learn(&[0.3, -0.2], Target::weighted(&targets[0], 1e12), &mut vec![0.0; outputs])?;
        calm.learn(&[0.3, -0.2], Target::weighted(&targets[0], 10.0), &mut vec![0.0; outputs])?;
        let first = |learner: &Kogd<_>| -> Result<Vec<f64>, mercer_learners::Error> {
            let (mut learner, mut scores) = (learner.clone(), vec![0.0; outputs]);
            let x = [0.9, 0.9];
            learner.predict_into(&x, &mut Scratch::default(), &mut scores)?;
            let before = scores.clone();
            learner.learn(&x, Target::weighted(targets.last().expect("a target"), 1.0), &mut vec![0.0; outputs])?;
            learner.predict_into(&x, &mut Scratch::default(), &mut scores)?;
            Ok(scores.iter().zip(before).map(|(after, before)| (after - before).abs()).collect())
        };
        let [moved, usual]: [f64; 2] = [first(&heavy)?.iter().sum(), first(&calm)?.iter().sum()];
        assert!(moved >= 0.01 * usual, "{loss}: steps have become as short as {moved}, where {usual} was usual");
    }
    Ok(())
}
