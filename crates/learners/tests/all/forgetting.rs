//! Forgetting over a hundred memories equals least squares solved anew, whatever the stream visits.

use mercer_kernels::Gaussian;
use mercer_learners::basis::Identity;
use mercer_learners::update::{Forgetting, GrowingUpdate, LeastSquares};
use mercer_learners::{
    Eviction, Krls, KrlsParams, KrlsT, KrlsTParams, KrlsTRule, OnFeatures, Regressor, RegressorExt, Scratch, Target,
};
use mercer_linalg_incremental::Removal;
use mercer_sparsify::Probe;
use nalgebra::{DMatrix, DVector};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const MEMORIES: f64 = 100.0;

/// Numbers in `[−1, 1)` that look drawn.
fn noise(t: usize, salt: usize) -> f64 {
    let mut z = (t as u64 * 0x9E37_79B9 + salt as u64 + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{what}: {value} for {expected}");
}

/// `argmin Σ γ^{t−s} ω (y − wᵀφ)² + r‖w‖²` by QR, over the rounds that count.
fn weighted_fit(rows: &[(Vec<f64>, f64, f64)], gamma: f64, ridge: f64) -> DVector<f64> {
    let n = rows.last().map_or(0, |(phi, ..)| phi.len());
    let first = rows.len().saturating_sub((40.0 / -gamma.ln()) as usize);
    let (some, count) = (&rows[first..], rows.len() - first);
    let root = |i: usize| (gamma.powi((count - 1 - i) as i32) * some[i].2).sqrt();
    let matrix = DMatrix::from_fn(count + n, n, |i, j| match some.get(i) {
        Some((phi, ..)) => root(i) * phi[j],
        None => f64::from(u8::from(i - count == j)) * ridge.sqrt(),
    });
    let targets = DVector::from_fn(count + n, |i, _| some.get(i).map_or(0.0, |(_, y, _)| root(i) * y));
    let qr = matrix.qr();
    qr.r().solve_upper_triangular(&qr.q().tr_mul(&targets)).expect("a ridge or independent columns")
}

/// Plain features at two scales, weights, two outputs: exciting all the time.
#[test]
fn it_is_weighted_least_squares_on_exciting_streams() -> TestResult {
    for gamma in [0.98, 0.99, 0.999] {
        for unit in [1.0, 1e-6] {
            let lambda = 0.1 * unit * unit;
            let update = LeastSquares::<mercer_learners::update::Ridge>::new(lambda, gamma)?;
            let mut update = update.forgetting_by(Forgetting::Exponential)?.with_outputs(2);
            update.restart(5)?;
            let mut learner = OnFeatures::from_parts(Identity::new(5, false), update)?;
            let mut rows = Vec::new();
            let rounds = (MEMORIES / (1.0 - gamma)) as usize;
            for t in 0..rounds {
                let x: Vec<f64> = (0..5).map(|j| unit * noise(t, j)).collect();
                let drift = (t as f64 * (1.0 - gamma)).sin();
                let y = unit * (x[0] / unit - drift * x[1] / unit + 0.1 * noise(t, 9));
                let weight = 1.0 + (t % 3) as f64;
                learner.learn(&x, Target::weighted(&[y, -2.0 * y], weight), &mut [0.0; 2])?;
                rows.push((x, y, weight));
            }
            let w = weighted_fit(&rows, gamma, 1e-6 * lambda);
            for (j, w) in w.iter().enumerate() {
                for (output, factor) in [(0, 1.0), (1, -2.0)] {
                    let value = learner.linear().weights().vectors()[output][j];
                    close(&format!("γ = {gamma}, unit {unit}, w[{j}]"), value, factor * w, 1e-6);
                }
            }
        }
    }
    Ok(())
}

/// On a growing dictionary; with and without a ridge.
#[test]
fn krls_is_weighted_least_squares_on_its_dictionary() -> TestResult {
    for (gamma, lambda) in [(0.98, 0.1), (0.99, 0.1), (0.99, 0.0), (0.999, 0.01)] {
        let params = KrlsParams::default().nu(1e-2).lambda(lambda).forgetting(gamma).forgets(Forgetting::Exponential);
        let mut learner = Krls::new(Gaussian::new(1.0)?, 2, params)?;
        let stream: Vec<_> = (0..(MEMORIES / (1.0 - gamma)) as usize)
            .map(|t| {
                let x = [noise(t, 0), noise(t, 1)];
                (x, 2.0 * x[0] - x[1] + 0.05 * noise(t, 2))
            })
            .collect();
        stream.iter().try_for_each(|(x, y)| learner.update(x, *y))?;
        let mut probe = Probe::default();
        let mut coordinates = |x: &[f64]| {
            learner.basis().probe(x, &mut probe);
            probe.coordinates().to_vec()
        };
        let rows: Vec<_> = stream.iter().map(|(x, y)| (coordinates(x), *y, 1.0)).collect();
        let w = weighted_fit(&rows, gamma, 1e-6 * lambda);
        for x in [[0.0, 0.0], [0.7, -0.3], [-0.9, 0.9]] {
            let expected = DVector::from_vec(coordinates(&x)).dot(&w);
            close(&format!("γ = {gamma}, λ = {lambda} at {x:?}"), learner.predict(&x)?, expected, 1e-5);
        }
    }
    Ok(())
}

/// A hundred memories at one place. The rounds before then count nothing against those, and yet are
/// all that is known elsewhere: `w ← w + Pφ(y − wᵀφ)/φᵀPφ`, the limit of the weighted fit. The
/// floor may keep a millionth of the ridge.
#[test]
fn what_is_not_visited_stays_as_it_was() -> TestResult {
    for gamma in [0.98, 0.99, 0.999] {
        for constant in [[0.0; 3], [0.3, -0.2, 0.5]] {
            let mut update: LeastSquares = LeastSquares::new(0.1, gamma)?.forgetting_by(Forgetting::Exponential)?;
            update.restart(3)?;
            let mut learner = OnFeatures::from_parts(Identity::new(3, false), update)?;
            for t in 0..(5.0 / (1.0 - gamma)) as usize {
                let x = [noise(t, 0), noise(t, 1), noise(t, 2)];
                learner.update(&x, 2.0 * x[0] - x[1] + 0.05 * noise(t, 3))?;
            }
            let weights = |learner: &OnFeatures<_, LeastSquares>| learner.linear().weights().vectors()[0].to_vec();
            let phi = DVector::from_column_slice(&constant);
            let before = DVector::from_vec(weights(&learner));
            let p = DMatrix::from_fn(3, 3, |i, j| learner.linear().inverse().entry(i, j));
            let c = &p * &phi;
            let s = phi.dot(&c);
            let expected = if s > 0.0 { &before + &c * ((0.7 - before.dot(&phi)) / s) } else { before };
            for _ in 0..(MEMORIES / (1.0 - gamma)) as usize {
                learner.update(&constant, if s > 0.0 { 0.7 } else { 0.0 })?;
            }
            for (value, expected) in weights(&learner).into_iter().zip(expected.iter()) {
                close(&format!("γ = {gamma}, {constant:?}"), value, *expected, 1e-5);
            }
            // And it learns what comes then.
            for t in 0..(20.0 / (1.0 - gamma)) as usize {
                let x = [noise(t, 0), noise(t, 1), noise(t, 2)];
                learner.update(&x, x[2] - x[1])?;
            }
            for (value, expected) in weights(&learner).into_iter().zip([0.0, -1.0, 1.0]) {
                close(&format!("γ = {gamma}, after {constant:?}"), value, expected, 1e-6);
            }
        }
    }
    Ok(())
}

/// Something once in fifty rows, nothing otherwise.
#[test]
fn sparse_streams() -> TestResult {
    for gamma in [0.98, 0.99, 0.999] {
        let mut update: LeastSquares = LeastSquares::new(0.1, gamma)?.forgetting_by(Forgetting::Exponential)?;
        update.restart(3)?;
        let mut learner = OnFeatures::from_parts(Identity::new(3, false), update)?;
        let mut rows = Vec::new();
        for t in 0..(MEMORIES / (1.0 - gamma)) as usize {
            let mut x = vec![0.0; 3];
            if t % 50 == 0 {
                x[(t / 50) % 3] = 1.0 + noise(t, 1);
            }
            let y = x[0] - 3.0 * x[2] + if t % 50 == 0 { 0.1 * noise(t, 2) } else { 0.0 };
            learner.update(&x, y)?;
            rows.push((x, y, 1.0));
        }
        let w = weighted_fit(&rows, gamma, 1e-6 * 0.1);
        for (value, expected) in learner.linear().weights().vectors()[0].iter().zip(w.iter()) {
            close(&format!("γ = {gamma}"), *value, *expected, 1e-4);
        }
    }
    Ok(())
}

/// All ways of forgetting, on a budget and off it, after a hundred memories that are exciting, at
/// one place for the most part, or begin with zeros. The targets deviate by 1.29, their noise by
/// 0.03. To be conditioned on 0 is to `P` as if a coefficient had been measured without error;
/// directional forgetting does not take that back, so points that leave in this way cost the most.
#[test]
fn all_that_forget_stay_good() -> TestResult {
    let kernel = Gaussian::new(1.0)?;
    for gamma in [0.98, 0.99, 0.999] {
        let rounds = (MEMORIES / (1.0 - gamma)) as usize;
        let krls = KrlsParams::default().nu(1e-2).lambda(0.1).forgetting(gamma);
        let mut learners: Vec<(String, Box<dyn Regressor>)> = Vec::new();
        for forgets in [Forgetting::Directional, Forgetting::Exponential, Forgetting::ToPrior] {
            let params = krls.forgets(forgets);
            learners.push((format!("{forgets:?}"), Box::new(Krls::new(kernel, 2, params)?)));
            for how in [Removal::Marginalise, Removal::Condition] {
                let evicted = params.max_dictionary(Some(12)).eviction(Eviction::Oldest(how));
                learners.push((format!("{forgets:?}, {how:?}"), Box::new(Krls::new(kernel, 2, evicted)?)));
            }
        }
        for rule in [KrlsTRule::BackToPrior, KrlsTRule::UncertaintyInjection] {
            let params = KrlsTParams::default().forgetting(gamma).rule(rule).max_dictionary(Some(15));
            learners.push((format!("{rule:?}"), Box::new(KrlsT::new(kernel, 2, params)?)));
        }
        for stream in ["exciting", "one place", "zeros first"] {
            for (name, learner) in &mut learners {
                let mut errors = Vec::new();
                for t in 0..rounds {
                    let idle = match stream {
                        "one place" => t > rounds / 20 && t < rounds * 9 / 10,
                        "zeros first" => t < rounds / 2,
                        _ => false,
                    };
                    let x = if idle { [0.0; 2] } else { [noise(t, 0), noise(t, 1)] };
                    let y = if idle { 0.0 } else { 2.0 * x[0] - x[1] + 0.05 * noise(t, 2) };
                    let prediction = learner.predict_then_update(&x, y)?;
                    if t > rounds * 98 / 100 {
                        errors.push(prediction - y);
                    }
                }
                let deviation = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
                let bound = if name == "Directional, Condition" { 1.29 } else { 0.25 };
                assert!(deviation < bound, "{name}, γ = {gamma}, {stream}: errors of {deviation}");
            }
        }
    }
    Ok(())
}

/// After a long stretch without an error the variance is smaller, and not 0.
#[test]
fn variances_do_not_vanish() -> TestResult {
    for forgets in [Forgetting::Directional, Forgetting::Exponential, Forgetting::ToPrior] {
        let params = KrlsParams::default().nu(1e-2).lambda(0.1).forgetting(0.99).forgets(forgets);
        let mut learner = Krls::new(Gaussian::new(1.0)?, 2, params)?;
        for t in 0..1000 {
            let x = [noise(t, 0), noise(t, 1)];
            learner.update(&x, 2.0 * x[0] - x[1] + 0.3 * noise(t, 2))?;
        }
        let noise_of = |learner: &Krls<Gaussian>| {
            let mut variance = [0.0];
            learner
                .predict_variance_into(&[0.0, 0.0], &mut Scratch::default(), &mut [0.0], &mut variance)
                .map(|_| variance[0])
        };
        let before = noise_of(&learner)?;
        (0..20_000).try_for_each(|_| learner.update(&[0.0, 0.0], 0.0))?;
        let after = noise_of(&learner)?;
        assert!(after > 1e-4 * before && after < before, "{forgets:?}: {before}, then {after}");
    }
    Ok(())
}
