//! Oracles against one another, wherever theory says that two of them are the same algorithm.

use nalgebra::{DMatrix, DVector};

use super::*;
use crate::streams;

/// Largest difference of two lists of predictions, on the scale `1 + |prediction|`.
fn gap(left: &[f64], right: &[f64]) -> f64 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(a, b)| (a - b).abs() / (1.0 + a.abs().max(b.abs()))).fold(0.0, f64::max)
}

#[track_caller]
fn assert_agree(left: &[f64], right: &[f64], tolerance: f64) {
    let gap = gap(left, right);
    assert!(gap <= tolerance, "predictions differ by {gap:e}, allowed {tolerance:e}");
    assert!(left.iter().any(|p| p.abs() > 1e-3), "predictions are all but zero: nothing was compared");
}

/// `d` unit vectors, each with a target, then random points: with the linear kernel everything
/// after round d is exact.
fn axes_then_random(seed: u64, dimension: usize, count: usize, scale: f64) -> Vec<Example> {
    let mut stream: Vec<Example> = (0..dimension)
        .map(|i| {
            let mut axis = vec![0.0; dimension];
            axis[i] = 1.0;
            (axis, 0.3 * (i as f64 + 1.0))
        })
        .collect();
    stream.extend(streams::smooth_noisy(seed, count, dimension, 0.2));
    for (_, y) in &mut stream {
        *y *= scale;
    }
    stream
}

/// Online Newton steps in `R^d` on the inputs themselves; steps and projections start at round
/// `from`.
fn primal_newton(stream: &[Example], from: usize, regulariser: f64, step: f64, clip: f64) -> (Vec<f64>, usize) {
    let d = stream[0].0.len();
    let mut a = DMatrix::identity(d, d) * regulariser;
    let mut w = DVector::<f64>::zeros(d);
    let mut projections = 0;
    let mut predictions = Vec::new();
    for (x, y) in &stream[from..] {
        let x = DVector::from_column_slice(x);
        let z = w.dot(&x);
        if z.abs() > clip {
            let direction = a.clone().try_inverse().unwrap() * &x;
            w -= &direction * ((z - clip * z.signum()) / x.dot(&direction));
            projections += 1;
        }
        let prediction = w.dot(&x);
        predictions.push(prediction);
        let g = 2.0 * (prediction - y);
        a += &x * x.transpose() * (step * g * g);
        w -= a.clone().try_inverse().unwrap() * &x * g;
    }
    (predictions, projections)
}

#[test]
fn nons_that_keeps_every_point_is_kons() {
    let kernel = gaussian(0.4);
    let stream = streams::smooth_noisy(21, 40, 3, 0.2);
    let params = NonsAldParams { mu: 0.8, alpha: 1e-9, radius: 20.0, label_bound: 1.0, max_dictionary: None };
    let nons = nons_ald_svd(&stream, &kernel, params);
    let kons = kons(&stream, &kernel, 0.8, 1.0 / (4.0 * 401.0), None);
    assert_eq!(nons.dictionary.len(), 40);
    assert_agree(&nons.predictions, &kons.predictions, 1e-12);
}

/// On points already in the dictionary NONS and KONS are the same algorithm, so a stream of repeats
/// agrees whatever α.
#[test]
fn nons_on_repeats_of_its_dictionary_is_kons() {
    let kernel = gaussian(0.5);
    let stream = streams::exact_duplicates(22, 60, 2, 8);
    let params = NonsAldParams { mu: 1.5, alpha: 1e-9, radius: 8.0, label_bound: 1.0, max_dictionary: None };
    let nons = nons_ald_svd(&stream, &kernel, params);
    let kons = kons(&stream, &kernel, 1.5, 1.0 / (4.0 * 65.0), None);
    assert_eq!(nons.dictionary, (0..8).collect::<Vec<_>>());
    assert_agree(&nons.predictions, &kons.predictions, 1e-12);
}

/// With the linear kernel, once the axes are kept, NONS, KONS and CON are online Newton steps in
/// `R^d`, projections included.
#[test]
fn newton_steps_with_active_projections_are_the_primal_ones() {
    let d = 3;
    let stream = axes_then_random(23, d, 60, 4.0);
    let (mu, limit) = (1.0, 0.7);

    let eta = 1.0 / (4.0 * (limit * limit + 1.0));
    let (primal, projections) = primal_newton(&stream, 0, mu, eta, limit);
    assert!(projections > 5, "only {projections} projections");
    let params = NonsAldParams { mu, alpha: 1e-9, radius: limit, label_bound: 1.0, max_dictionary: None };
    let nons = nons_ald_svd(&stream, &linear(), params);
    assert_eq!(nons.dictionary, [0, 1, 2]);
    assert_agree(&nons.predictions, &primal, 1e-12);
    assert_agree(&kons(&stream, &linear(), mu, eta, Some(limit)).predictions, &primal, 1e-12);

    let (primal, projections) = primal_newton(&stream, d, mu, 1.0 / (16.0 * limit * limit), limit);
    assert!(projections > 5, "only {projections} projections");
    let params = ProsConParams { alpha: mu, clip: limit, max_dictionary: Some(d), ..ProsConParams::default() };
    for oracle in [con_kons, pros_n_kons] {
        // The axes are orthogonal: a step made before an axis is kept moves nothing, except for
        // those on x₁, which there are none.
        let trace = oracle(&stream, &linear(), params, &[0.0, 0.0]);
        assert_eq!(trace.dictionary, [0, 1, 2]);
        assert_agree(&trace.predictions[d..], &primal, 1e-12);
    }
}

/// Predictions do not depend on the orthonormal basis: NONS-ALD in Newton coordinates, where
/// `Q = [I; 0]`, is NONS-ALD by SVD.
#[test]
fn nons_by_svd_is_nons_in_newton_coordinates() {
    for (sigma, alpha, stream) in [
        (1.5, 1e-3, streams::smooth_noisy(43, 300, 3, 0.2)),
        (1.5, 1e-6, streams::near_duplicates(44, 200, 3)),
        (0.5, 1e-7, streams::near_duplicates(44, 100, 6)), // here both points of a pair are kept
        (1.0, 1e-7, streams::exact_duplicates(45, 200, 3, 40)),
        (1.5, 1e-5, streams::constant_column(46, 200, 4)),
        (1.5, 1e-4, streams::far_away(47, 200, 2)),
    ] {
        let kernel = gaussian(sigma);
        let params = NonsAldParams { mu: 1.0, alpha, radius: 0.4, label_bound: 1.0, max_dictionary: None };
        let trace = nons_ald_svd(&stream, &kernel, params);
        let newton = nons_in_newton_coordinates(&stream, &kernel, params);
        assert!(trace.predictions.iter().any(|p| p.abs() == 0.4), "no projection was active");
        assert_eq!(trace.dictionary, newton.dictionary);
        assert_agree(&trace.predictions, &newton.predictions, 1e-11);
    }
}

fn nons_in_newton_coordinates(stream: &[Example], kernel: KernelFn, params: NonsAldParams) -> Trace {
    let NonsAldParams { mu, alpha, radius, label_bound, .. } = params;
    let eta = 1.0 / (4.0 * (radius * radius + label_bound * label_bound));
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut a = DMatrix::zeros(0, 0);
    let mut w = DVector::zeros(0);
    for (t, (x, y)) in stream.iter().enumerate() {
        let mut phi = DVector::zeros(0);
        if !points.is_empty() {
            let l = gram(&points, kernel).cholesky().unwrap().l();
            phi = l.solve_lower_triangular(&dense::kernel_vector(&points, x, kernel)).unwrap();
        }
        let z: f64 = w.dot(&phi);
        if z.abs() > radius {
            let direction = dense::solve(&a, &phi);
            w -= &direction * ((z - z.signum() * radius) / phi.dot(&direction));
        }
        let prediction = z.clamp(-radius, radius);
        trace.predictions.push(prediction);
        let delta = (kernel(x, x) - phi.norm_squared()).max(0.0);
        if delta > alpha {
            let j = points.len();
            points.push(x.clone());
            trace.dictionary.push(t);
            phi = phi.push(delta.sqrt());
            w = w.push(0.0);
            a = a.resize(j + 1, j + 1, 0.0);
            a[(j, j)] = mu;
        }
        let g: f64 = 2.0 * (prediction - y);
        a += &phi * phi.transpose() * (eta * g * g);
        w -= dense::solve(&a, &phi) * g;
    }
    trace
}

/// CON against itself in other coordinates: the functions are followed in H, as coefficients on the
/// dictionary, with `A⁻¹` applied through the raw steps `(g_s, P_s k(x_s,·))` that it is made of,
/// and no basis anywhere.
#[test]
fn con_with_growth_in_the_middle_needs_no_basis() {
    let kernel = gaussian(0.6);
    let n = 50;
    let stream = streams::smooth_noisy(24, n, 2, 0.2);
    let params = ProsConParams {
        alpha: 0.5,
        clip: 0.6,
        kors: KorsParams { gamma: 0.2, ..KorsParams::default() },
        max_dictionary: None,
    };
    let trace = con_kons(&stream, &kernel, params, &streams::uniforms(25, n));
    let size = trace.dictionary.len();
    assert!(size > 4 && size < 40 && trace.dictionary[size - 1] > 10, "dictionary {:?}", trace.dictionary);

    // Functions are coefficient vectors on the final dictionary, zero-padded: inner products by its
    // Gram matrix K.
    let points: Vec<Vec<f64>> = trace.dictionary.iter().map(|t| stream[*t].0.clone()).collect();
    let k = gram(&points, &kernel);
    let step = 1.0 / (16.0 * params.clip * params.clip);
    let mut f = DVector::<f64>::zeros(size);
    let mut spikes: Vec<(f64, DVector<f64>)> = Vec::new();
    // A⁻¹v for A = αI + Σ c_s b_s b_sᵀ, from (αI + ...)u = v by the rank-many unknowns ⟨b_s, u⟩.
    let apply_inverse = |spikes: &[(f64, DVector<f64>)], v: &DVector<f64>| -> DVector<f64> {
        let m = spikes.len();
        if m == 0 {
            return v / params.alpha;
        }
        let system = DMatrix::from_fn(m, m, |i, j| {
            let inner = spikes[i].1.dot(&(&k * &spikes[j].1)) * spikes[j].0;
            if i == j { params.alpha + inner } else { inner }
        });
        let right = DVector::from_fn(m, |i, _| spikes[i].1.dot(&(&k * v)));
        let inner = system.lu().solve(&right).unwrap();
        let mut rest = v.clone();
        for (s, (c, b)) in spikes.iter().enumerate() {
            rest -= b * (c * inner[s]);
        }
        rest / params.alpha
    };
    for (t, (x, y)) in stream.iter().enumerate().skip(1) {
        let known = trace.dictionary.iter().filter(|s| **s < t).count();
        let (_, beta) = dense::ald(&points[..known], x, &kernel);
        let b = beta.resize_vertically(size, 0.0);
        let value = |f: &DVector<f64>| f.dot(&(&k * &b));
        if value(&f).abs() > params.clip {
            let direction = apply_inverse(&spikes, &b);
            let excess = value(&f) - params.clip * value(&f).signum();
            f -= &direction * (excess / value(&direction));
        }
        let prediction = value(&f);
        assert!(
            (prediction - trace.predictions[t]).abs() < 1e-10,
            "round {t}: {prediction} against {}",
            trace.predictions[t]
        );
        let g = 2.0 * (prediction - y);
        spikes.push((step * g * g, b.clone()));
        f -= apply_inverse(&spikes, &b) * g;
    }
}

#[test]
fn pros_that_accepts_every_point_predicts_nothing() {
    let stream = streams::smooth_noisy(26, 20, 3, 0.2);
    let trace = pros_n_kons(&stream, &gaussian(0.5), ProsConParams::default(), &[0.0; 20]);
    assert_eq!(trace.dictionary.len(), 20);
    assert!(trace.predictions.iter().all(|p| *p == 0.0));
}

#[test]
fn sketching_everything_is_kons() {
    let kernel = gaussian(0.5);
    let stream = streams::near_duplicates(27, 40, 2);
    let params = SketchedKonsParams { mu: 0.9, eta: 0.2, gamma: 1.0, beta: 0.0 };
    let sketched = sketched_kons(&stream, &kernel, params, &streams::uniforms(1, 40));
    let kons = kons(&stream, &kernel, 0.9, 0.2, None);
    assert_eq!(sketched, kons);
}

/// With an empty sketch A = μI, so a step is a gradient step of size 1/μ: NOGD that never reaches
/// its budget.
#[test]
fn sketching_nothing_is_gradient_descent() {
    let kernel = gaussian(0.5);
    let stream = streams::far_away(28, 40, 2);
    let params = SketchedKonsParams { mu: 5.0, eta: 0.2, gamma: 0.0, beta: 0.0 };
    let sketched = sketched_kons(&stream, &kernel, params, &streams::uniforms(1, 40));
    let gradient = nogd(&stream, &kernel, NogdParams { budget: 100, rank: 1, step: 0.2, radius: None });
    assert!(sketched.dictionary.is_empty());
    assert_agree(&sketched.predictions, &gradient.predictions, 1e-14);
}

/// At full rank the switch changes nothing for points that were kept.
#[test]
fn nogd_at_full_rank_does_not_notice_its_switch_on_repeats() {
    let kernel = gaussian(0.5);
    let stream = streams::exact_duplicates(29, 60, 2, 10);
    for radius in [None, Some(0.8)] {
        let switched = nogd(&stream, &kernel, NogdParams { budget: 10, rank: 10, step: 0.2, radius });
        let never = nogd(&stream, &kernel, NogdParams { budget: 100, rank: 1, step: 0.2, radius });
        assert_agree(&switched.predictions, &never.predictions, 1e-12);
    }
}

/// FOGD is gradient descent in the space of the kernel `(1/D) Σ cos(ω·(x − z))`.
#[test]
fn fogd_is_gradient_descent_with_its_own_kernel() {
    let frequencies = streams::frequencies(30, 15, 2, 0.5);
    let stream = streams::smooth_noisy(31, 50, 2, 0.2);
    let cosines = |x: &[f64], z: &[f64]| -> f64 {
        let angle = |w: &Vec<f64>| -> f64 { w.iter().zip(x.iter().zip(z)).map(|(w, (a, b))| w * (a - b)).sum() };
        frequencies.iter().map(|w| angle(w).cos()).sum::<f64>() / frequencies.len() as f64
    };
    let features = fogd(&stream, &frequencies, 0.3);
    let functions = nogd(&stream, &cosines, NogdParams { budget: 100, rank: 1, step: 0.3, radius: None });
    assert_agree(&features.predictions, &functions.predictions, 1e-12);
}

/// With α → 0 every point is kept, and with B₀ = 0 none is tested: AOGD-ALD is KOGD both ways.
#[test]
fn aogd_without_approximation_is_kogd() {
    let kernel = gaussian(0.4);
    for stream in [streams::smooth_noisy(32, 40, 3, 0.2), streams::near_duplicates(33, 40, 3)] {
        let kogd = kogd(&stream, &kernel, 2.0);
        assert_eq!(aogd_ald(&stream, &kernel, 2.0, 1e-9, None), kogd);
        assert_eq!(aogd_ald(&stream, &kernel, 2.0, 1e9, Some(0)), kogd);
    }
}

/// On exact repeats ALD holds with residual 0 and the projected gradient is the gradient; past B₀
/// repeats are kept too.
#[test]
fn aogd_on_repeats_is_kogd() {
    let kernel = gaussian(0.5);
    let stream = streams::exact_duplicates(34, 60, 2, 8);
    let kogd = kogd(&stream, &kernel, 0.7);
    let projected = aogd_ald(&stream, &kernel, 0.7, 1e-9, None);
    assert_eq!(projected.dictionary.len(), 8);
    assert_agree(&projected.predictions, &kogd.predictions, 1e-12);
    let limited = aogd_ald(&stream, &kernel, 0.7, 1e-9, Some(5));
    assert_eq!(limited.dictionary.len(), 60);
    assert_agree(&limited.predictions, &kogd.predictions, 1e-12);
}

#[test]
fn engels_recursion_solves_the_least_squares_problem() {
    let kernel = gaussian(0.5);
    for stream in [
        streams::smooth_noisy(35, 300, 2, 0.2),
        streams::near_duplicates(36, 200, 3),
        streams::exact_duplicates(37, 200, 2, 20),
        streams::constant_column(38, 200, 3),
        streams::far_away(39, 100, 2),
    ] {
        let qr = krls_qr(&stream, &kernel, 1e-2, 0.0, None);
        let engel = krls_engel(&stream, &kernel, 1e-2);
        assert_eq!(qr.dictionary, engel.dictionary);
        assert_agree(&qr.predictions, &engel.predictions, 1e-8);
    }
}

/// KRLS with λ that keeps every point is kernel ridge regression on the points so far.
#[test]
fn krls_that_keeps_every_point_is_batch_ridge_regression() {
    let kernel = gaussian(0.3);
    let stream = streams::smooth_noisy(40, 40, 2, 0.2);
    let krls = krls_qr(&stream, &kernel, 1e-12, 0.1, None);
    assert_eq!(krls.dictionary.len(), 40);
    for t in 1..40 {
        let fit = batch_krr(&stream[..t], &kernel, 0.1);
        let prediction: f64 = fit.coefficients.iter().zip(&stream).map(|(c, (x, _))| c * kernel(x, &stream[t].0)).sum();
        assert!((prediction - krls.predictions[t]).abs() < 1e-11, "round {t}");
    }
}

/// With the linear kernel, once d points are kept, KRLS is ordinary least squares on the inputs.
#[test]
fn krls_with_the_linear_kernel_is_ordinary_least_squares() {
    let d = 4;
    let stream = streams::smooth_noisy(41, 60, d, 0.3);
    let krls = krls_qr(&stream, &linear(), 1e-9, 0.0, None);
    assert_eq!(krls.dictionary, [0, 1, 2, 3]);
    for t in d..60 {
        let x = DMatrix::from_fn(t, d, |i, j| stream[i].0[j]);
        let y = DVector::from_fn(t, |i, _| stream[i].1);
        let w = x.svd(true, true).solve(&y, 1e-12).unwrap();
        let prediction = w.dot(&DVector::from_column_slice(&stream[t].0));
        assert!((prediction - krls.predictions[t]).abs() < 1e-9, "round {t}");
    }
}

/// A full dictionary admits nothing more, and the learner goes on.
#[test]
fn a_dictionary_stops_at_its_limit() {
    let kernel = gaussian(0.3);
    let stream = streams::smooth_noisy(42, 40, 2, 0.2);
    let nons = NonsAldParams { alpha: 1e-3, max_dictionary: Some(5), ..NonsAldParams::default() };
    let pros = ProsConParams { max_dictionary: Some(5), ..ProsConParams::default() };
    let coins = [0.0; 40];
    let traces = [
        nons_ald_svd(&stream, &kernel, nons),
        krls_qr(&stream, &kernel, 1e-3, 0.0, Some(5)),
        con_kons(&stream, &kernel, pros, &coins),
        pros_n_kons(&stream, &kernel, pros, &coins),
    ];
    for trace in traces {
        assert_eq!(trace.dictionary, [0, 1, 2, 3, 4]);
        assert_eq!(trace.predictions.len(), 40);
        assert!(trace.predictions[39].is_finite() && trace.predictions[39] != trace.predictions[38]);
    }
}
