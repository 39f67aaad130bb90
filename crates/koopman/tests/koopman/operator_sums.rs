//! Exact sums against the formulas on the data themselves, and against systems whose spectrum is
//! known.

use mercer_core::Validate;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_koopman::{Error, OperatorModel, OperatorSums, OperatorSumsParams};
use mercer_linalg_incremental::Matrix;
use mercer_testkit::alloc::allocations_during;
use mercer_testkit::oracle::Pair;

use crate::support::{Outcome, autoregressive_pairs, path, planar_pairs};

fn learnt(pairs: &[Pair], params: OperatorSumsParams) -> Result<OperatorSums, Error> {
    let state = pairs[0].1.len();
    let mut learner = OperatorSums::new(state, pairs[0].0.len() - state, params)?;
    for (x, x_plus) in pairs {
        learner.update(x, x_plus)?;
    }
    Ok(learner)
}

fn model(pairs: &[Pair]) -> Result<OperatorModel, Error> {
    learnt(pairs, OperatorSumsParams::default())?.model(12, 1)
}

/// A damped pendulum from ten states, without noise.
fn pendulum(count: usize, units: [f64; 2]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for start in 0..10 {
        let mut x = [1.5 * (f64::from(start) * 0.7).sin(), (f64::from(start) * 1.9).cos()];
        for _ in 0..count / 10 {
            let before = vec![x[0] * units[0], x[1] * units[1]];
            for _ in 0..50 {
                let force = -x[0].sin() - 0.2 * x[1];
                x = [x[0] + 0.002 * x[1], x[1] + 0.002 * force];
            }
            pairs.push((before, vec![x[0] * units[0], x[1] * units[1]]));
        }
    }
    pairs
}

/// `[1, x, z(x)]` in scaled units by the Gram matrix of the dictionary, of which `z = L⁻¹k(x)`.
struct Features {
    means: Vec<f64>,
    deviations: Vec<f64>,
    kernel: Option<AnyKernel>,
    points: Vec<Vec<f64>>,
    factor: Vec<Vec<f64>>,
}

impl Features {
    fn new(pairs: &[Pair], kernel: Option<AnyKernel>, dictionary: &[Vec<f64>]) -> Self {
        let n = pairs.len() as f64;
        let d = pairs[0].0.len();
        let means: Vec<f64> = (0..d).map(|j| pairs.iter().map(|pair| pair.0[j]).sum::<f64>() / n).collect();
        let square = |j: usize| pairs.iter().map(|pair| (pair.0[j] - means[j]).powi(2)).sum::<f64>() / n;
        let deviations = (0..d).map(|j| square(j).sqrt()).collect();
        let mut features = Self { means, deviations, kernel, points: Vec::new(), factor: Vec::new() };
        for point in dictionary {
            let x = features.scaled(point);
            let z = features.coordinates(&x);
            let rest = features.between(&x, &x) - z.iter().map(|z| z * z).sum::<f64>();
            features.factor.push([z, vec![rest.sqrt()]].concat());
            features.points.push(x);
        }
        features
    }

    fn scaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().enumerate().map(|(j, x)| (x - self.means[j]) / self.deviations[j]).collect()
    }

    fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        self.kernel.as_ref().map_or(0.0, |kernel| kernel.evaluate(a, b))
    }

    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = Vec::new();
        for (point, row) in self.points.iter().zip(&self.factor) {
            let known: f64 = row.iter().zip(&z).map(|(l, z)| l * z).sum();
            z.push((self.between(point, x) - known) / row[z.len()]);
        }
        z
    }

    fn evaluate(&self, x: &[f64]) -> Vec<f64> {
        let x = self.scaled(x);
        let z = self.coordinates(&x);
        [vec![1.0], x, z].concat()
    }
}

/// The held-out error of the state over eight parts, as a part of its variance, row by row.
fn held_out(pairs: &[Pair], features: &Features, ridge: f64) -> Result<f64, Box<dyn std::error::Error>> {
    let (n, d, state) = (pairs.len(), pairs[0].0.len(), pairs[0].1.len());
    let length = n.div_ceil(16);
    let rows: Vec<[Vec<f64>; 2]> =
        pairs.iter().map(|(x, next)| [features.evaluate(x), features.scaled(next)]).collect();
    let p = rows[0][0].len();
    // Two blocks make a part; the last is shorter.
    let part = |i: usize| (i / length) / 2;
    let mut squared = 0.0;
    for out in 0..8 {
        let learnt: Vec<usize> = (0..n).filter(|i| part(*i) != out).collect();
        let mean =
            |f: &dyn Fn(&[Vec<f64>; 2]) -> f64| learnt.iter().map(|i| f(&rows[*i])).sum::<f64>() / learnt.len() as f64;
        let gram = Matrix::from_fn(p, p, |i, j| {
            let diagonal = if i <= d { 1e-10 } else { ridge };
            mean(&|row| row[0][i] * row[0][j]) + if i == j { diagonal } else { 0.0 }
        });
        let cross = Matrix::from_fn(p, state, |i, j| mean(&|row| row[0][i] * row[1][j]));
        let operator = gram.solve(&cross)?;
        for row in (0..n).filter(|i| part(*i) == out).map(|i| &rows[i]) {
            for j in 0..state {
                let forecast: f64 = operator.column(j).iter().zip(&row[0]).map(|(m, f)| m * f).sum();
                squared += (forecast - row[1][j]).powi(2);
            }
        }
    }
    let mut variance = 0.0;
    for j in 0..state {
        let mean = rows.iter().map(|row| row[1][j]).sum::<f64>() / n as f64;
        variance += rows.iter().map(|row| (row[1][j] - mean).powi(2)).sum::<f64>();
    }
    Ok(squared / variance)
}

#[test]
fn the_score_from_sums_is_the_error_on_held_out_rows() -> Outcome {
    // Of noisy pairs the linear features are best for a forecast: no dictionary is needed.
    let noisy = autoregressive_pairs(3, 512);
    let linear = learnt(&noisy, OperatorSumsParams::default().max_dictionary(0))?.model(12, 1)?;
    let oracle = held_out(&noisy, &Features::new(&noisy, None, &[]), 0.1)?;
    assert!((linear.quality().held_out / oracle - 1.0).abs() < 1e-9, "{:?} {oracle}", linear.quality());
    assert!(!linear.is_deterministic() && linear.dictionary().is_empty());
    // Of a pendulum whose force is an input the dictionary is that of the forecast: modes are
    // linear.
    let mut exact = pendulum(640, [1.0, 1.0]);
    exact.iter_mut().for_each(|(x, _)| x.push(-x[0].sin()));
    let model = model(&exact)?;
    let choice = model.forecast_choice();
    assert!(model.is_deterministic() && choice.kernel.is_some() && model.spectrum_choice().kernel.is_none());
    let points: Vec<Vec<f64>> = model.dictionary().into_iter().map(|point| point.point).collect();
    let features = Features::new(&exact, choice.kernel.clone(), &points);
    let oracle = held_out(&exact, &features, choice.ridge)?;
    let ratio = model.quality().held_out / oracle;
    // Errors of 1e-10 of the variance from sums of 1.
    assert!((0.5..2.0).contains(&ratio) && oracle < 1e-6, "{oracle} {ratio}");
    Ok(())
}

/// Functions and residuals by their definition, on the pairs.
#[test]
fn eigenfunctions_have_unit_norm_and_the_residual_they_are_said_to_have() -> Outcome {
    for pairs in [planar_pairs(4, 900), pendulum(900, [1.0, 1.0]), autoregressive_pairs(5, 700)] {
        let model = model(&pairs)?;
        let values = |which: fn(&Pair) -> &Vec<f64>| -> Result<Vec<Vec<[f64; 2]>>, Error> {
            pairs.iter().map(|pair| model.eigenfunctions(which(pair))).collect()
        };
        let (now, next) = (values(|pair| &pair.0)?, values(|pair| &pair.1)?);
        for (k, mode) in model.modes().iter().enumerate() {
            let (mut norm, mut residual) = (0.0, 0.0);
            for (f, g) in now.iter().zip(&next) {
                let ([a, b], [c, d]) = (f[k], g[k]);
                let image = [mode.value.re * a - mode.value.im * b, mode.value.re * b + mode.value.im * a];
                norm += a * a + b * b;
                residual += (c - image[0]).powi(2) + (d - image[1]).powi(2);
            }
            assert!((norm / pairs.len() as f64 - 1.0).abs() < 1e-6, "{k}: {norm}");
            let residual = (residual / norm).sqrt();
            assert!((residual - mode.residual).abs() < 1e-5 + 1e-4 * residual, "{k}: {residual} {mode:?}");
        }
    }
    Ok(())
}

#[test]
fn spectra_and_forecasts_of_known_systems() -> Outcome {
    // 1, 0.8, 0.64, 0.512, …, and 0.8ᵏ x.
    let learner = learnt(&autoregressive_pairs(1, 10_000), OperatorSumsParams::default())?;
    let linear = learner.model(12, 3)?;
    for (mode, truth) in linear.modes().iter().zip([1.0, 0.8, 0.64, 0.512]) {
        let near = 3.0 * mode.spread + 0.005;
        assert!((mode.value.re - truth).abs() < near && mode.value.im == 0.0 && mode.is_reliable(), "{mode:?}");
        assert!(mode.spread < 0.05, "{mode:?}");
    }
    assert!(linear.modes().iter().any(|mode| !mode.is_reliable()));
    let forecasts = linear.forecast(&[1.5], &[], 3)?;
    for (state, truth) in forecasts.iter().zip([1.2, 0.96, 0.768]) {
        assert!((state[0] - truth).abs() < 0.05, "{forecasts:?}");
    }
    // 90 of 100 within 1.645 deviations of the noise, which are 0.6, then 0.6 √(1 + 0.64), ….
    let mut variance = 0.0;
    for step in 1..=3 {
        variance = 0.64 * variance + 0.36;
        let half = linear.half_widths(step, 0.9)[0].ok_or("enough errors")?;
        assert!((half / (1.645 * f64::sqrt(variance)) - 1.0).abs() < 0.15, "{step}: {half}");
    }
    assert_eq!(linear.half_widths(4, 0.9), [None]);
    // A chain of two states: 1 and 0.7; from 1 to 0.8 and 0.66.
    let chain = model(&path([0.0, 1.0], [[0.9, 0.1], [0.2, 0.8]], 8000, 2))?;
    assert!((chain.modes()[0].value.re - 1.0).abs() < 1e-9, "{:?}", chain.modes());
    assert!((chain.modes()[1].value.re - 0.7).abs() < 0.03, "{:?}", chain.modes());
    let forecasts = chain.forecast(&[1.0], &[], 2)?;
    assert!((forecasts[0][0] - 0.8).abs() < 0.02 && (forecasts[1][0] - 0.66).abs() < 0.03, "{forecasts:?}");
    Ok(())
}

#[test]
fn a_deterministic_system_is_iterated_and_units_do_not_matter() -> Outcome {
    let pairs = pendulum(1000, [1.0, 1.0]);
    let (plain, scaled) = (model(&pairs)?, model(&pendulum(1000, [1e-6, 1e6]))?);
    assert!(plain.is_deterministic() && scaled.is_deterministic());
    let mut x = [0.7, -0.4];
    let forecasts = plain.forecast(&x, &[], 20)?;
    let others = scaled.forecast(&[x[0] * 1e-6, x[1] * 1e6], &[], 20)?;
    for (forecast, other) in forecasts.iter().zip(&others) {
        for _ in 0..50 {
            let force = -x[0].sin() - 0.2 * x[1];
            x = [x[0] + 0.002 * x[1], x[1] + 0.002 * force];
        }
        for j in 0..2 {
            assert!((forecast[j] - x[j]).abs() < 2e-3, "{forecast:?} {x:?}");
            assert!((other[j] * [1e6, 1e-6][j] - x[j]).abs() < 2e-3, "{other:?} {x:?}");
        }
    }
    for (a, b) in plain.modes().iter().zip(scaled.modes()).take(3) {
        assert!((a.value.re - b.value.re).abs() < 1e-3 && a.is_reliable(), "{a:?} {b:?}");
    }
    // e^{(−0.1 ± i√0.99) 0.1}
    let truth = (-0.01_f64).exp() * (0.1 * 0.99_f64.sqrt()).cos();
    assert!(plain.modes().iter().any(|mode| (mode.value.re - truth).abs() < 3e-3), "{:?}", plain.modes());
    // A series that is constant.
    let ones = model(&vec![(vec![1.0, 1.0], vec![1.0, 1.0]); 50])?;
    assert_eq!((ones.modes().len(), ones.forecast(&[1.0, 1.0], &[], 5)?[4].clone()), (1, vec![1.0, 1.0]));
    assert!((ones.modes()[0].value.re - 1.0).abs() < 1e-9);
    Ok(())
}

/// A turn of 0.3 without noise: by its two harmonics it is linear, and by their sum it is not.
#[test]
fn a_fundamental_stands_before_its_harmonics_and_exact_data_need_no_dictionary() -> Outcome {
    let turn = |t: u32| 0.3 * f64::from(t);
    let pairs = |state: &dyn Fn(u32) -> Vec<f64>| (0..2000).map(|t| (state(t), state(t + 1))).collect::<Vec<Pair>>();
    let linear = model(&pairs(&|t| vec![turn(t).sin(), turn(t + 1).sin()]))?;
    assert_eq!(linear.forecast_choice().kernel, None);
    let bent = model(&pairs(&|t| [f64::cos, f64::sin].map(|f| f(turn(t)) + 0.3 * f(2.0 * turn(t))).to_vec()))?;
    assert!(bent.forecast_choice().kernel.is_some() && bent.is_deterministic());
    for (model, count) in [(&linear, 3), (&bent, 7)] {
        for (k, mode) in model.modes()[..count].iter().enumerate() {
            let angle = mode.value.im.atan2(mode.value.re).abs();
            assert!(
                (angle - 0.3 * k.div_ceil(2) as f64).abs() < 1e-6 && mode.is_reliable(),
                "{k}: {:?}",
                model.modes()
            );
        }
    }
    Ok(())
}

/// x⁺ = 0.5 x + u: the inputs of the coming steps are given.
#[test]
fn inputs_steer_the_forecast() -> Outcome {
    let mut x = 0.3;
    let mut pairs = Vec::new();
    for t in 0..600 {
        let u = 0.5 * (f64::from(t) * 1.3).sin();
        let next = 0.5 * x + u;
        pairs.push((vec![x, u], vec![next]));
        x = next;
    }
    let model = model(&pairs)?;
    // The one mode is that of the state at fixed inputs.
    let [mode] = model.modes() else { return Err("one mode".into()) };
    assert!((mode.value.re - 0.5).abs() < 1e-6, "{mode:?}");
    let forecasts = model.forecast(&[0.2, 0.3], &[-0.1, 0.4], 3)?;
    for (state, truth) in forecasts.iter().zip([0.4, 0.1, 0.45]) {
        assert!((state[0] - truth).abs() < 1e-4, "{forecasts:?}");
    }
    assert_eq!(model.forecast(&[0.2, 0.3], &[-0.1], 3), Err(Error::Values { expected: 2, got: 1 }));
    Ok(())
}

#[test]
fn parts_add_up_and_are_taken_back() -> Outcome {
    let pairs = planar_pairs(11, 14_000);
    let first = learnt(&pairs[..6000], OperatorSumsParams::default())?;
    let mut parts = [first.fork()?, first.fork()?];
    for (part, pairs) in parts.iter_mut().zip([&pairs[6000..9990], &pairs[9990..]]) {
        for (x, x_plus) in pairs {
            part.update(x, x_plus)?;
        }
    }
    let mut both = first.clone();
    both.merge(&parts[0])?;
    let before = both.model(12, 1)?;
    both.merge(&parts[1])?;
    assert_eq!(both.rounds(), 14_000);
    assert!(both.validate().is_ok());
    let truth = learnt(&pairs, OperatorSumsParams::default())?.model(12, 1)?;
    // The constant is exact.
    let model = both.model(12, 1)?;
    assert!((model.modes()[0].value.re - 1.0).abs() < 1e-12 && model.modes()[0].spread < 1e-12);
    for (a, b) in model.modes().iter().zip(truth.modes()).skip(1).take(2) {
        assert!((a.value.re - b.value.re).abs() < 0.01 && (a.spread / b.spread - 1.0).abs() < 1.0, "{a:?} {b:?}");
    }
    both.retract(&parts[1])?;
    for (a, b) in both.model(12, 1)?.modes().iter().zip(before.modes()).take(4) {
        assert!((a.value.re - b.value.re).abs() < 1e-9, "{a:?} {b:?}");
    }
    let strange = learnt(&planar_pairs(12, 5000), OperatorSumsParams::default())?;
    assert_eq!(both.merge(&strange), Err(Error::OtherFeatures));
    assert!(both.retract(&both.clone()).is_err());
    Ok(())
}

#[test]
fn looking_changes_nothing_refusals_neither_and_a_pair_allocates_nothing() -> Outcome {
    let pairs = planar_pairs(13, 6000);
    let (mut seen, mut unseen) = (
        OperatorSums::new(2, 0, OperatorSumsParams::default())?,
        OperatorSums::new(2, 0, OperatorSumsParams::default())?,
    );
    for (i, (x, x_plus)) in pairs.iter().enumerate() {
        if [500, 4100, 5000].contains(&i) {
            seen.model(12, 2)?;
            assert!(seen.update(x, &[1.0]).is_err() && seen.update(&[f64::NAN, 0.0], x_plus).is_err());
            assert!(seen.update(&[1e200, 0.0], x_plus).is_err());
        }
        seen.update(x, x_plus)?;
        unseen.update(x, x_plus)?;
    }
    assert_eq!(seen.model(12, 1)?.modes(), unseen.model(12, 1)?.modes());
    let mut refused = Ok(());
    // Blocks end here and there, and new ones begin.
    let counts: Vec<usize> =
        pairs.iter().map(|(x, next)| allocations_during(|| refused = seen.update(x, next))).collect();
    refused?;
    assert!(counts.iter().filter(|count| **count > 0).count() < 12, "{counts:?}");
    Ok(())
}

/// The second eigenvalue of `(½(G + C))⁻¹ ½(A + Aᵀ)` for `φ = [1, x]`, each a mean over some pairs.
/// Of `C` these have the mean, and of its square the difference from `G` over all pairs.
fn forward_and_backward(pairs: &[Pair], of: &[usize]) -> f64 {
    let mean = |of: &[usize], f: &dyn Fn(f64, f64) -> f64| {
        of.iter().map(|i| f(pairs[*i].0[0], pairs[*i].1[0])).sum::<f64>() / of.len() as f64
    };
    let all: Vec<usize> = (0..pairs.len()).collect();
    let centre = mean(&all, &|x, _| x);
    let of_these = |f: &dyn Fn(f64, f64) -> f64| mean(of, &|x, y| f(x - centre, y - centre));
    let ends = mean(&all, &|x, y| (y - centre).powi(2) - (x - centre).powi(2));
    let middle = 0.5 * (of_these(&|x, _| x) + of_these(&|_, y| y));
    let square = of_these(&|x, _| x * x) + 0.5 * ends;
    (of_these(&|x, y| x * y) - middle * middle) / (square - middle * middle)
}

#[test]
fn pairs_count_backward_where_time_has_no_direction() -> Outcome {
    let pairs = autoregressive_pairs(7, 2000);
    let linear = learnt(&pairs, OperatorSumsParams::default().max_dictionary(0))?.model(12, 1)?;
    let all: Vec<usize> = (0..pairs.len()).collect();
    let without = |block: usize| all.iter().copied().filter(|i| i / 125 != block).collect::<Vec<usize>>();
    let left_out: Vec<f64> = (0..16).map(|block| forward_and_backward(&pairs, &without(block))).collect();
    let mean = left_out.iter().sum::<f64>() / 16.0;
    let spread = (15.0 / 16.0 * left_out.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt();
    let truth = forward_and_backward(&pairs, &all);
    let mode = linear.modes()[1];
    assert!(linear.is_reversible() && !linear.has_instruments());
    assert!((mode.value.re - truth).abs() < 1e-9 && (mode.spread - spread).abs() < 1e-9, "{mode:?} {truth} {spread}");
    // On a ring of three states: `stay + forward·ω + back·ω̄` for the third root ω of 1.
    for [stay, forward, back] in [[0.6, 0.2, 0.2], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]] {
        let steps = [[stay, forward, back], [back, stay, forward], [forward, back, stay]];
        let ring = model(&path([0.0, 1.0, 3.0], steps, 3000, 8))?;
        let second = ring.modes()[1].value;
        let (re, im) = (stay - 0.5 * (forward + back), 0.75_f64.sqrt() * (forward - back));
        assert_eq!((ring.is_reversible(), second.im == 0.0), (forward == back, forward == back), "{second:?}");
        assert!((second.re - re).abs() < 0.05 && (second.im.abs() - im).abs() < 0.05, "{second:?} {re} {im}");
    }
    Ok(())
}

/// The second eigenvalue of `(Σφφ⁺ᵀ)⁻¹ Σφ₋φ⁺ᵀ` for `φ = [1, x]`, each a mean; parts of 125 pairs
/// are not joined.
fn by_instruments(pairs: &[Pair]) -> f64 {
    let mean = |of: &[usize], f: &dyn Fn(usize) -> f64| of.iter().map(|i| f(*i)).sum::<f64>() / of.len() as f64;
    let all: Vec<usize> = (0..pairs.len()).collect();
    let joined: Vec<usize> = all.iter().copied().filter(|i| i % 125 != 0).collect();
    let (x, y) = (|i: usize| pairs[i].0[0], |i: usize| pairs[i].1[0]);
    let [a01, a10, a11] = [mean(&all, &y), mean(&all, &x), mean(&all, &|i| x(i) * y(i))];
    let [l01, l10] = [mean(&joined, &y), mean(&joined, &|i| x(i - 1))];
    let l11 = mean(&joined, &|i| x(i - 1) * y(i));
    let determinant = a11 - a01 * a10;
    // Trace and determinant of the product of the inverse and the other.
    let trace = (a11 - a01 * l10 - a10 * l01 + l11) / determinant;
    let product = (l11 - l01 * l10) / determinant;
    0.5 * (trace - (trace * trace - 4.0 * product).sqrt())
}

#[test]
fn noise_of_measurement_is_found_and_taken_out() -> Outcome {
    for seed in 31..36 {
        let clean = autoregressive_pairs(seed, 2000);
        let noise = autoregressive_pairs(seed + 100, 2001);
        let linear = OperatorSumsParams::default().max_dictionary(0);
        assert!(!learnt(&clean, linear)?.model(12, 1)?.has_instruments(), "{seed}");
        // What moves an autoregression from step to step is independent.
        let error = |i: usize| (noise[i].1[0] - 0.8 * noise[i].0[0]) * 0.8;
        let pair = |i: usize| (vec![clean[i].0[0] + error(i)], vec![clean[i].1[0] + error(i + 1)]);
        let noisy: Vec<Pair> = (0..2000).map(pair).collect();
        let model = learnt(&noisy, linear)?.model(12, 1)?;
        let second = model.modes()[1];
        assert!(model.has_instruments() && (second.value.re - by_instruments(&noisy)).abs() < 1e-9, "{second:?}");
        assert!((second.value.re - 0.8).abs() < 3.0 * second.spread + 0.02 && second.is_reliable(), "{second:?}");
        let model = learnt(&noisy, OperatorSumsParams::default())?.model(12, 1)?;
        let second = model.modes()[1];
        assert!(model.has_instruments() && (second.value.re - 0.8).abs() < 0.1, "{second:?}");
    }
    Ok(())
}

/// Products of eigenfunctions of a linear map are polynomials.
#[test]
fn products_of_eigenvalues_are_found_by_polynomials() -> Outcome {
    let model = model(&autoregressive_pairs(51, 8000))?;
    for (mode, truth) in model.modes().iter().zip([1.0, 0.8, 0.64, 0.512, 0.4096]) {
        assert!((mode.value.re - truth).abs() < 3.0 * mode.spread + 0.005, "{mode:?}");
    }
    assert!((model.modes()[0].value.re - 1.0).abs() < 1e-12);
    Ok(())
}

/// The coefficient of a linear map changes from 0.85 to 0.3.
#[test]
fn a_half_life_forgets() -> Outcome {
    let noise = autoregressive_pairs(21, 12_000);
    let mut x = 0.0;
    let pairs = noise.iter().enumerate().map(|(t, (before, next))| {
        let next = if t < 6000 { 0.85 } else { 0.3 } * x + next[0] - 0.8 * before[0];
        (vec![std::mem::replace(&mut x, next)], vec![next])
    });
    let pairs: Vec<Pair> = pairs.collect();
    let second = |half_life| -> Result<f64, Error> {
        let model = learnt(&pairs, OperatorSumsParams::default().half_life(half_life))?.model(12, 1)?;
        Ok(model.modes()[1].value.re)
    };
    let (forgetful, whole) = (second(Some(500.0))?, second(None)?);
    assert!((forgetful - 0.3).abs() < 0.1 && whole > 0.55, "{forgetful} {whole}");
    Ok(())
}

#[test]
fn too_little_is_refused_in_words() -> Outcome {
    let mut learner = OperatorSums::new(1, 0, OperatorSumsParams::default())?;
    assert_eq!(learner.model(12, 1).err(), Some(Error::TooFewPairs { got: 0, needed: 10 }));
    for t in 0..10 {
        learner.update(&[f64::from(t)], &[f64::from(t) * 0.5])?;
    }
    assert!(learner.model(12, 1).is_ok() && learner.fork().is_err());
    assert!(OperatorSums::new(0, 0, OperatorSumsParams::default()).is_err());
    assert!(OperatorSums::new(1, 0, OperatorSumsParams::default().half_life(Some(0.0))).is_err());
    Ok(())
}
