//! Identities and lemmas of the paper on online prediction with forgetting.

use mercer_forecast::{Forecaster, Forgetting, InputParams, KalmanPredictor, Opf, OpfParams, StateSpace};
use mercer_streams::LinearSystem;
use nalgebra::{DMatrix, DVector};

use super::{breaks, largest, matrix};

/// `y_{k−1}, …, y_{k−p}` of a series of rows.
fn lags(rows: &[Vec<f64>], k: usize, p: usize) -> DVector<f64> {
    DVector::from_iterator(p * rows[0].len(), (1..=p).flat_map(|a| rows[k - a].iter().copied()))
}

fn tracked(steps: usize, seed: u64) -> Vec<Vec<f64>> {
    let outputs = LinearSystem::tracking().simulate(steps, seed).unwrap().outputs;
    outputs.iter().map(<[f64]>::to_vec).collect()
}

/// `D` of `p` lags of `m` outputs.
fn scaling(p: usize, m: usize, gamma: f64) -> DMatrix<f64> {
    DMatrix::from_diagonal(&DVector::from_fn(p * m, |i, _| gamma.powi((i / m) as i32)))
}

#[test]
fn equations_17_and_18() {
    let (p, gamma, lambda) = (6, 0.5, 1.0);
    let rows = tracked(60, 1);
    let d = scaling(p, 3, gamma);
    let inverse_squared = (&d * &d).try_inverse().unwrap();
    let (mut scaled, mut plain) = (lambda * DMatrix::<f64>::identity(3 * p, 3 * p), lambda * &inverse_squared);
    let mut sum = DMatrix::<f64>::zeros(3, 3 * p);
    for k in p..59 {
        let (z, y) = (lags(&rows, k, p), DVector::from_row_slice(&rows[k]));
        let forgotten = &d * &z;
        scaled += &forgotten * forgotten.transpose();
        plain += &z * z.transpose();
        sum += y * z.transpose();
    }
    let z = lags(&rows, 59, p);
    let g = &sum * plain.clone().try_inverse().unwrap();
    let by_forgetting = &sum * &d * scaled.try_inverse().unwrap() * (&d * &z);
    let same = |g: &DMatrix<f64>| (&by_forgetting - g * &z).norm() < 1e-6 * (g * &z).norm();
    // G is where the gradient of Σ‖y − Gz‖² + λ‖GD⁻¹‖² vanishes.
    let is_least = |g: &DMatrix<f64>| (g * &plain - &sum).norm() < 1e-8 * sum.norm();
    assert!(same(&g) && is_least(&g));
    // λ‖G‖², without the forgetting.
    let unscaled = &plain - lambda * &inverse_squared + lambda * DMatrix::<f64>::identity(3 * p, 3 * p);
    let ordinary = &sum * unscaled.try_inverse().unwrap();
    breaks("ordinary ridge regression", same(&ordinary) || is_least(&ordinary));
}

/// Standard normal numbers.
fn normals(seed: u64, count: usize) -> Vec<f64> {
    let uniforms = mercer_testkit::streams::uniforms(seed, 2 * count);
    let pair = |p: &[f64]| (-2.0 * (1.0 - p[0]).ln()).sqrt() * (std::f64::consts::TAU * p[1]).cos();
    uniforms.chunks_exact(2).map(pair).collect()
}

#[test]
fn lemma_1() {
    let (n, steps, runs, delta) = (3, 200, 400, 0.3);
    // For vectors of so many deviations.
    let failures = |deviations: f64| {
        let outside = |run: &u64| {
            let numbers = normals(*run, n * steps);
            numbers.chunks_exact(n).enumerate().any(|(k, x)| {
                let norm = x.iter().map(|v| (deviations * v).powi(2)).sum::<f64>().sqrt();
                norm > (n as f64).sqrt() + (4.0 * ((k + 1) as f64 / delta).ln()).sqrt()
            })
        };
        (0..runs).filter(outside).count()
    };
    let most = std::f64::consts::PI.powi(2) * delta / 6.0 * runs as f64;
    assert!((failures(1.0) as f64) < most);
    breaks("twice the deviations", (failures(2.0) as f64) < most);
}

#[test]
fn lemmas_2_and_3() {
    // Of rows of so many deviations: the least eigenvalue over k, and the exponent of the largest.
    let ends = |seed: u64, deviations: f64| {
        let mut rows = tracked(8001, seed);
        rows.iter_mut().flatten().for_each(|value| *value *= deviations);
        let gram = |k: usize| {
            let p = (2.5 * (k as f64).ln()).ceil() as usize;
            let mut gram = DMatrix::<f64>::zeros(3 * p, 3 * p);
            for t in p..=k {
                let z = lags(&rows, t, p);
                gram.ger(1.0, &z, &z, 1.0);
            }
            gram.symmetric_eigenvalues()
        };
        let [early, late] = [1000, 8000].map(gram);
        let least = (early.min() / 1000.0).min(late.min() / 8000.0);
        (least, (late.max() / early.max()).ln() / 8f64.ln())
    };
    for seed in 0..3 {
        let (least, exponent) = ends(seed, 1.0);
        // σ_R = 1, and κ = 2: the exponent is at most 5, and above that of a system that is stable.
        assert!(least >= 0.25 && (2.0..=5.0).contains(&exponent), "{least} {exponent}");
    }
    breaks("a third of the noise", ends(0, 1.0 / 3.0).0 >= 0.25);
}

#[test]
fn section_c6() {
    for seed in 0..5 {
        let rows = tracked(700, seed);
        for gamma in [0.49698, 1.0] {
            let (p, d) = (11, scaling(11, 3, gamma));
            let mut gram = (&d * &d).try_inverse().unwrap();
            let mut most = 0.0f64;
            for k in p..700 {
                let z = lags(&rows, k, p);
                if k > 60 {
                    let ratio = 1.0 + z.dot(&gram.clone().cholesky().unwrap().solve(&z));
                    if k == 100 {
                        // It is the norm of the lemma squared.
                        let root = gram.clone().cholesky().unwrap().l().try_inverse().unwrap();
                        let next = &gram + &z * z.transpose();
                        assert!((largest(&(&root * next * root.transpose())) - ratio).abs() < 1e-6 * ratio);
                    }
                    most = most.max(ratio);
                }
                gram.ger(1.0, &z, &z, 1.0);
            }
            assert!(most < 20.0, "{seed} {gamma}: {most}");
            // A lag that jumps to a hundred times its largest value is no such row.
            let jump =
                100.0 * (p..700).map(|k| lags(&rows, k, p)).max_by(|a, b| a.norm().total_cmp(&b.norm())).unwrap();
            breaks("a row from elsewhere", 1.0 + jump.dot(&gram.cholesky().unwrap().solve(&jump)) < 20.0);
        }
    }
}

/// The regret is the squared distance from the Kalman filter, and twice a sum of products with the
/// innovations.
#[test]
fn equation_20() {
    let (y, kalman, ours) = (matrix(1, 3, 40), matrix(2, 3, 40), matrix(3, 3, 40));
    let regret = (&y - &ours).norm_squared() - (&y - &kalman).norm_squared();
    let martingale = (&kalman - &ours).dot(&(&y - &kalman));
    let adds_up = |twice: f64| (regret - (&ours - &kalman).norm_squared() - twice * martingale).abs() < 1e-12;
    assert!(adds_up(2.0));
    breaks("the martingale once", adds_up(1.0));
}

/// The exponent `s` of `regret ~ (log N)^s`, by least squares over the ends of epochs.
fn exponent_of_logarithm(ends: &[usize], regrets: &[f64]) -> f64 {
    let x: Vec<f64> = ends.iter().map(|end| (*end as f64).ln().ln()).collect();
    let y: Vec<f64> = regrets.iter().map(|regret| regret.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    products / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Against the Kalman filter that knows system and inputs, the regret grows no faster than log³N,
/// the bound of Theorem 1, by an exponent that is fitted over four ends of epochs; a forecaster
/// that is not told the inputs has more than twice the regret.
#[test]
fn section_f1() {
    const ENDS: [usize; 5] = [480, 960, 1920, 3840, 7680];
    let mut matrices = LinearSystem::integrating_tracker().matrices().clone();
    (matrices.inputs, matrices.b, matrices.d) = (1, vec![0.5, 1.0, 0.3], vec![0.0]);
    let system = LinearSystem::new(matrices.clone()).unwrap();
    let space = StateSpace { a: matrices.a, b: matrices.b, c: matrices.c, d: matrices.d, q: matrices.q, r: matrices.r };
    let mut sums = [[0.0; 2]; ENDS.len()];
    for seed in 0..8 {
        let mut kalman = KalmanPredictor::new(&space).unwrap();
        let forgetting = Forgetting::Scalar(kalman.closed_loop_radius());
        let params = OpfParams::default().forgetting(forgetting.clone());
        let told = InputParams::default().count(1).forgetting(forgetting);
        let mut opf = Opf::with_inputs(1, &told, &params).unwrap();
        let mut blind = Opf::new(1, &params).unwrap();
        let run = system.simulate(ENDS[ENDS.len() - 1] + 1, seed).unwrap();
        let mut regret = [0.0; 2];
        for (k, (y, u)) in run.outputs.iter().zip(run.inputs.unwrap().iter()).enumerate() {
            let (mut best, mut own, mut other) = ([0.0], [0.0], [0.0]);
            kalman.predict_then_observe(u, y, &mut best).unwrap();
            opf.predict_then_observe(u, y, &mut own).unwrap();
            blind.predict_then_observe(&[], y, &mut other).unwrap();
            if k > 60 {
                for (sum, prediction) in regret.iter_mut().zip([own[0], other[0]]) {
                    *sum += (prediction - y[0]).powi(2) - (best[0] - y[0]).powi(2);
                }
            }
            for (row, at) in sums.iter_mut().zip(ENDS) {
                if k == at {
                    row.iter_mut().zip(regret).for_each(|(sum, regret)| *sum += regret);
                }
            }
        }
    }
    let regrets = sums.map(|[own, _]| own);
    let [last, without] = sums[ENDS.len() - 1];
    let order = exponent_of_logarithm(&ENDS, &regrets);
    assert!(order <= 3.0, "(log N)^{order}: {regrets:?}");
    assert!(without > 2.0 * last, "{without} {last}");
    let power = ENDS.map(|end| (end as f64).powf(0.5));
    breaks("a regret like the root of N", exponent_of_logarithm(&ENDS, &power) <= 3.0);
}
