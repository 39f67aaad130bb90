//! Mixtures and `Auto` with several outputs: one weight a member, learnt from the losses of all
//! outputs.

use mercer_auto::{Auto, AutoParams};
use mercer_experts::{Aggregation, Rule, square_loss_regret};
use mercer_kernels::Gaussian;
use mercer_learners::{
    Classifier, Error, Fogd, FogdParams, Krls, KrlsParams, Mixture, NonsAld, NonsAldParams, PkawvTaylor, Regressor,
    RegressorExt, Rows, Scratch, Target, Targets, TaylorParams,
};
use mercer_registry::AnyRegressor;
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;
type Member = AnyRegressor<Gaussian>;

/// Three outputs of a smooth stream, the last in another unit.
fn stream(rows: usize) -> Vec<(Vec<f64>, [f64; 3])> {
    let smooth = streams::smooth_noisy(5, rows, 2, 0.1);
    smooth.into_iter().map(|(x, y)| (x.clone(), [y, x[0] * x[1] - 0.2 * y, 1e4 + 1e3 * (x[1] - y)])).collect()
}

fn members() -> Result<Vec<Member>, Error> {
    let krls = |lambda| {
        let params = KrlsParams::default().lambda(lambda).max_dictionary(Some(30)).outputs(3);
        Krls::new(Gaussian::new(0.8)?, 2, params)
    };
    let fogd = FogdParams::default().features(30).step(0.01).outputs(3);
    let taylor = TaylorParams::default().degree(4).lambda(0.3).outputs(3);
    Ok(vec![krls(0.1)?.into(), Fogd::new(2, fogd)?.into(), krls(3.0)?.into(), PkawvTaylor::new(2, taylor)?.into()])
}

fn named(members: Vec<Member>) -> impl Iterator<Item = (String, Member)> {
    members.into_iter().enumerate().map(|(k, member)| (k.to_string(), member))
}

#[test]
fn weights_learn_the_losses_of_all_outputs() -> TestResult {
    let stream = stream(200);
    for rule in Rule::ALL {
        let mut mixture = Mixture::new(named(members()?), rule)?;
        let mut blocked = mixture.clone();
        let (mut alone, mut weights) = (members()?, Aggregation::new(4, rule)?);
        let (mut low, mut high, mut made_by_one) = (0.0_f64, 0.0_f64, Vec::new());
        assert_eq!(mixture.outputs(), 3);
        for (x, y) in &stream {
            let mut predictions = vec![[0.0; 3]; 4];
            for (member, made) in alone.iter_mut().zip(&mut predictions) {
                member.learn(x, Target::new(y), made)?;
                made.iter_mut().for_each(|made| *made = made.clamp(low, high));
            }
            let expected: [f64; 3] =
                std::array::from_fn(|o| (0..4).map(|k| weights.weights()[k] * predictions[k][o]).sum());
            let (mut told, mut made) = ([0.0; 3], [0.0; 3]);
            mixture.predict_into(x, &mut Scratch::default(), &mut told)?;
            mixture.learn(x, Target::new(y), &mut made)?;
            for o in 0..3 {
                let unit = 1.0 + expected[o].abs();
                assert!((made[o] - expected[o]).abs() < 1e-12 * unit && (told[o] - expected[o]).abs() < 1e-12 * unit);
            }
            let regrets: Vec<f64> = predictions.iter().map(|p| square_loss_regret(&made, y, p)).collect();
            weights.learn(&regrets)?;
            (low, high) = y.iter().fold((low, high), |(low, high), y| (low.min(*y), high.max(*y)));
            made_by_one.extend(made);
        }
        let inputs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
        let ys: Vec<f64> = stream.iter().flat_map(|(_, y)| *y).collect();
        let mut made = Vec::new();
        blocked.learn_rows(Rows::new(&inputs, 2, Targets::new(&ys, &[], 3)?)?, &mut made)?;
        assert_eq!(made.len(), made_by_one.len());
        for (a, b) in made.iter().zip(&made_by_one) {
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{rule}: {a} in a block, {b} alone");
        }
    }
    Ok(())
}

#[test]
fn members_that_can_gain_an_output_do_and_the_others_leave() -> TestResult {
    let nons = || NonsAld::new(Gaussian::new(0.8)?, 2, NonsAldParams::default().max_dictionary(Some(20)));
    let krls = |lambda: f64| {
        Krls::new(Gaussian::new(0.8)?, 2, KrlsParams::default().nu(1e-2).lambda(lambda).max_dictionary(Some(20)))
    };
    // The first three share a dictionary.
    let members: Vec<Member> = vec![nons()?.into(), krls(0.1)?.into(), krls(1.0)?.into(), nons()?.into()];
    let mut mixture = Mixture::new(named(members), Rule::default())?;
    let smooth = streams::smooth_noisy(5, 120, 2, 0.1);
    for (x, y) in &smooth[..60] {
        mixture.predict_then_update(x, *y)?;
    }
    mixture.add_output(Some(0))?;
    let active: Vec<bool> = mixture.members().map(|member| member.active).collect();
    assert_eq!(active, [false, true, true, false]);
    let mut made = [0.0; 2];
    for (x, y) in &smooth[60..] {
        mixture.predict_into(x, &mut Scratch::default(), &mut made)?;
        assert!(made[0] == made[1], "both have learnt the same");
        mixture.learn(x, Target::new(&[*y, *y]), &mut made)?;
    }
    let mut fixed = Mixture::new(named(vec![nons()?.into(), nons()?.into()]), Rule::default())?;
    fixed.predict_then_update(&smooth[0].0, smooth[0].1)?;
    let before = format!("{fixed:?}");
    assert_eq!(fixed.add_output(None), Err(Error::FixedOutputs));
    assert_eq!(format!("{fixed:?}"), before);
    Ok(())
}

/// Outputs with the same targets are the same, in whatever units; one that joins begins as a copy.
#[test]
fn auto_learns_several_outputs_and_takes_in_others() -> TestResult {
    let smooth = streams::smooth_noisy(5, 1500, 2, 0.1);
    for (budget, neighbours) in [(50_000, 0), (200_000, 8)] {
        for joins in [0, 10, 100, 1100] {
            let params = AutoParams::default().budget(budget).neighbours(neighbours).outputs(2);
            let mut auto = Auto::new(2, params)?;
            let mut made = vec![0.0; 2];
            let (mut loss, mut of_zero) = (0.0, 0.0);
            for (t, (x, y)) in smooth.iter().enumerate() {
                if t == joins {
                    auto.add_output(Some(1))?;
                    made.push(0.0);
                }
                let targets = [*y, 1e4 + 1e3 * y, 1e4 + 1e3 * y];
                auto.learn(x, Target::new(&targets[..made.len()]), &mut made)?;
                if t > 0 {
                    let unit = (made[1] - 1e4) / 1e3;
                    assert!((unit - made[0]).abs() < 1e-6, "row {t}: {made:?}");
                    assert!(made.len() == 2 || (made[1] - made[2]).abs() < 1e-7 * made[1], "row {t}: {made:?}");
                }
                if t >= 750 {
                    loss += (made[0] - y).powi(2);
                    of_zero += y * y;
                }
            }
            assert!(loss < 0.1 * of_zero, "{loss} of {of_zero}");
        }
    }
    Ok(())
}

/// Classes that follow one another for a while, told apart by their inputs in part.
fn classes(rows: usize) -> Vec<(Vec<f64>, usize)> {
    let smooth = streams::smooth_noisy(6, rows, 2, 0.1);
    let class = |t: usize, x: &[f64]| if x[0] > 0.5 { 2 } else { (t / 25 + usize::from(x[1] > 0.3)) % 3 };
    // Numbered as they are met.
    let mut met = Vec::new();
    let mut number = |class: usize| {
        met.iter().position(|other| *other == class).unwrap_or_else(|| {
            met.push(class);
            met.len() - 1
        })
    };
    smooth.into_iter().enumerate().map(|(t, (x, _))| (x.clone(), number(class(t, &x)))).collect()
}

#[test]
fn calibrated_probabilities_are_better_and_the_same_in_blocks() -> TestResult {
    let rows = classes(900);
    let krls = KrlsParams::default().lambda(0.1).max_dictionary(Some(30));
    let plain = Classifier::new(Krls::new(Gaussian::new(0.5)?, 2, krls)?)?;
    let run = |mut classifier: Classifier<Krls<Gaussian>>, block: usize| -> Result<(Vec<f64>, f64), Error> {
        let (mut told, mut loss) = (Vec::new(), 0.0);
        for block in rows.chunks(block) {
            let inputs: Vec<f64> = block.iter().flat_map(|(x, _)| x.clone()).collect();
            let classes: Vec<usize> = block.iter().map(|(_, class)| *class).collect();
            classifier.learn_rows(&inputs, &classes, &[], |row, classifier, scores| {
                let mut p = scores.to_vec();
                classifier.probabilities(&mut p);
                let most = classifier.choice(scores);
                assert!(most.is_none_or(|most| p.iter().all(|other| *other <= p[most])), "{p:?}");
                loss -= p.get(classes[row]).copied().unwrap_or(0.0).clamp(1e-6, 1.0 - 1e-6).ln();
                told.extend(p);
            })?;
        }
        Ok((told, loss))
    };
    let (one_by_one, loss) = run(plain.clone().calibrated(), 1)?;
    let (_, plain_loss) = run(plain.clone(), 1)?;
    assert!(loss < 0.8 * plain_loss, "{loss} of {plain_loss}");
    for block in [7, 300] {
        let (blocked, _) = run(plain.clone().calibrated(), block)?;
        assert_eq!(blocked.len(), one_by_one.len());
        assert!(blocked.iter().zip(&one_by_one).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    Ok(())
}

#[test]
fn threads_beside_the_window_change_no_bit() -> TestResult {
    let smooth = streams::smooth_noisy(5, 1600, 2, 0.1);
    let inputs: Vec<f64> = smooth.iter().flat_map(|(x, _)| x.clone()).collect();
    let ys: Vec<f64> = smooth.iter().map(|(_, y)| *y).collect();
    let run = |threads: usize, block: usize| -> Result<Vec<f64>, Error> {
        let mut auto = Auto::new(2, AutoParams::default().budget(200_000).neighbours(8))?;
        auto.set_threads(threads);
        let mut made = Vec::new();
        for (xs, ys) in inputs.chunks(2 * block).zip(ys.chunks(block)) {
            auto.learn_block(xs, ys, &mut made)?;
        }
        Ok(made)
    };
    let one = run(1, 400)?;
    assert_eq!(one, run(2, 400)?);
    assert_eq!(one, run(3, 400)?);
    for (a, b) in one.iter().zip(run(1, 1)?) {
        assert!((a - b).abs() < 1e-9, "{a} in blocks, {b} alone");
    }
    Ok(())
}

/// The variance of a mixture is that of the mixture of its members' distributions; that of `Auto`
/// follows noise that depends on the input.
#[test]
fn mixtures_tell_variances() -> TestResult {
    let krls = |lambda: f64| {
        let params = KrlsParams::default().nu(1e-3).lambda(lambda).max_dictionary(Some(25));
        Krls::new(Gaussian::new(0.8)?, 2, params)
    };
    let fogd = || Fogd::new(2, FogdParams::default().features(30).step(0.01));
    let mut mixture = Mixture::new(named(vec![krls(0.1)?.into(), fogd()?.into(), krls(2.0)?.into()]), Rule::default())?;
    let (mut a, mut b, mut c) = (krls(0.1)?, krls(2.0)?, fogd()?);
    let mut bounds = (0.0_f64, 0.0_f64);
    for (x, y) in &streams::smooth_noisy(5, 200, 2, 0.1) {
        let p: Vec<f64> = mixture.members().map(|member| member.weight).collect();
        let (mut scratch, mut made, mut variance) = (Scratch::default(), [0.0], [0.0]);
        let known = mixture.predict_variance_into(x, &mut scratch, &mut made, &mut variance)?;
        let mut own = [[0.0; 2]; 2];
        for (learner, own) in [&a, &b].into_iter().zip(&mut own) {
            let (mut mean, mut variance) = ([0.0], [0.0]);
            learner.predict_variance_into(x, &mut scratch, &mut mean, &mut variance)?;
            *own = [mean[0].clamp(bounds.0, bounds.1), variance[0]];
        }
        let other = c.predict(x)?.clamp(bounds.0, bounds.1);
        let mean = p[0] * own[0][0] + p[1] * other + p[2] * own[1][0];
        let apart =
            p[0] * (own[0][0] - mean).powi(2) + p[1] * (other - mean).powi(2) + p[2] * (own[1][0] - mean).powi(2);
        let expected = (p[0] * own[0][1] + p[2] * own[1][1]) / (p[0] + p[2]) + apart;
        assert!((made[0] - mean).abs() < 1e-12);
        assert!(!known && variance[0].is_nan() || (variance[0] - expected).abs() < 1e-12 * expected, "{variance:?}");
        mixture.predict_then_update(x, *y)?;
        a.update(x, *y)?;
        b.update(x, *y)?;
        c.update(x, *y)?;
        bounds = (bounds.0.min(*y), bounds.1.max(*y));
    }

    // Five times the noise where the first feature is positive.
    let rows = streams::smooth_noisy(9, 2500, 2, 0.0);
    let noise = streams::smooth_noisy(10, 2500, 2, 1.0);
    for (budget, neighbours) in [(50_000, 0), (1_500_000, 32)] {
        let mut auto = Auto::new(2, AutoParams::default().budget(budget).neighbours(neighbours))?;
        let mut seen = [[0.0; 2]; 2];
        for (t, ((x, y), (_, e))) in rows.iter().zip(&noise).enumerate() {
            let side = usize::from(x[0] > 0.0);
            let (mut made, mut variance) = ([0.0], [0.0]);
            let known = auto.predict_variance_into(x, &mut Scratch::default(), &mut made, &mut variance)?;
            let y = 100.0 * (y + [0.2, 1.0][side] * (e - y));
            if t >= 1500 {
                assert!(known && auto.noise(0).is_some_and(|noise| noise > 0.0));
                seen[side][0] += variance[0];
                seen[side][1] += (made[0] - y).powi(2);
            }
            let mut told = [0.0];
            auto.learn(x, Target::new(&[y]), &mut told)?;
            assert!((told[0] - made[0]).abs() < 1e-6, "the same prediction with a variance");
        }
        if neighbours > 0 {
            for [told, met] in seen {
                assert!(told < 2.0 * met && met < 2.0 * told, "variance {told}, errors {met}");
            }
        }
    }
    Ok(())
}
