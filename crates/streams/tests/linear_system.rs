//! Simulated linear systems against their own matrices, and the named systems against what is known
//! of them.

use mercer_streams::{LinearSystem, SystemMatrices};
use nalgebra::DMatrix;

/// ρ(A − LC) of the steady-state Kalman predictor, by iterating the Riccati recursion.
fn predictor_radius(system: &LinearSystem) -> f64 {
    let SystemMatrices { states: n, outputs: m, a, c, q, r, .. } = system.matrices();
    let a = DMatrix::from_row_slice(*n, *n, a);
    let c = DMatrix::from_row_slice(*m, *n, c);
    let (q, r) = (DMatrix::from_row_slice(*n, *n, q), DMatrix::from_row_slice(*m, *m, r));
    let (mut p, mut gain) = (q.clone(), DMatrix::zeros(*n, *m));
    for _ in 0..5000 {
        let innovation = &c * &p * c.transpose() + &r;
        gain = &a * &p * c.transpose() * innovation.try_inverse().unwrap();
        p = &a * &p * a.transpose() + &q - &gain * &c * &p * a.transpose();
    }
    (a - gain * c).complex_eigenvalues().iter().map(|value| value.norm()).fold(0.0, f64::max)
}

#[test]
fn the_papers_systems_have_the_papers_radii() {
    for (system, expected, decimals) in
        [(LinearSystem::tracking(), 0.49698, 5), (LinearSystem::slow_decay(), 0.7783, 4)]
    {
        let radius = predictor_radius(&system);
        assert!((radius - expected).abs() < 0.5 * 10f64.powi(-decimals), "{radius}");
        // The constant systems went past the checks of `new`; these pass them.
        assert_eq!(LinearSystem::new(system.matrices().clone()).unwrap(), system);
    }
    let tracker = LinearSystem::integrating_tracker();
    assert_eq!(LinearSystem::new(tracker.matrices().clone()).unwrap(), tracker);
}

/// A small system with everything in it.
fn driven() -> SystemMatrices {
    SystemMatrices {
        states: 2,
        outputs: 1,
        inputs: 2,
        a: vec![0.5, 0.25, 0.0, -0.5],
        b: vec![1.0, 0.0, 0.5, 2.0],
        c: vec![1.0, -1.0],
        d: vec![0.0, 3.0],
        q: vec![0.0; 4],
        r: vec![0.0],
    }
}

#[test]
fn a_system_without_noise_is_its_recursion() {
    let system = LinearSystem::new(driven()).unwrap();
    let mut run = system.start(1);
    let mut y = [0.0];
    let mut outputs = Vec::new();
    for u in [[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]] {
        run.step(&u, &mut y).unwrap();
        outputs.push(y[0]);
    }
    // x: (0, 0), (1, 0.5), (0.625, 1.75), ….
    assert_eq!(outputs, [0.0, 0.5 + 3.0, 0.625 - 1.75 - 3.0]);
    assert_eq!(run.state(), [0.3125 + 0.4375 + 2.0, -0.875 + 1.0 - 2.0]);
    let refused = run.step(&[1.0], &mut y).unwrap_err().to_string();
    assert_eq!(refused, "the input: dimension 1 where 2 is needed; use data of the same columns");
    assert!(run.step(&[0.0, 0.0], &mut [0.0, 0.0]).is_err());
}

#[test]
fn noise_has_the_covariances_asked_for() {
    // A = 0 and C = I: outputs are v_k + w_{k−1}, of covariance Q + R, white.
    let (q, r) = (vec![2.0, 1.0, 1.0, 3.0], vec![1.0, -0.5, -0.5, 0.25]);
    let system = LinearSystem::new(SystemMatrices {
        states: 2,
        outputs: 2,
        a: vec![0.0; 4],
        c: vec![1.0, 0.0, 0.0, 1.0],
        q: q.clone(),
        r: r.clone(),
        ..SystemMatrices::default()
    })
    .unwrap();
    let steps = 40_000;
    let outputs = system.simulate(steps, 5).unwrap().outputs;
    for i in 0..2 {
        for j in 0..2 {
            let sum: f64 = outputs.iter().skip(1).map(|y| y[i] * y[j]).sum();
            let lagged: f64 = outputs.iter().zip(outputs.iter().skip(1)).map(|(y, next)| y[i] * next[j]).sum();
            let expected = q[2 * i + j] + r[2 * i + j];
            assert!((sum / steps as f64 - expected).abs() < 0.06, "{i} {j}: {}", sum / steps as f64);
            assert!((lagged / steps as f64).abs() < 0.06);
        }
    }
}

#[test]
fn a_seed_is_a_run() {
    let system = LinearSystem::tracking();
    let long = system.simulate(40, 3).unwrap();
    assert!(long.inputs.is_none());
    let short = system.simulate(25, 3).unwrap();
    assert_eq!(short.outputs.values(), &long.outputs.values()[..75]);
    assert_ne!(system.simulate(40, 4).unwrap(), long);
    // Inputs leave the noise alone.
    let noisy = SystemMatrices { q: vec![1.0, 0.0, 0.0, 1.0], r: vec![1.0], ..driven() };
    let deaf = SystemMatrices { b: vec![0.0; 4], d: vec![0.0; 2], ..noisy.clone() };
    let alone = SystemMatrices { inputs: 0, b: Vec::new(), d: Vec::new(), ..noisy.clone() };
    let outputs = |matrices| LinearSystem::new(matrices).unwrap().simulate(30, 8).unwrap().outputs;
    assert_eq!(outputs(deaf), outputs(alone));
    let driven = LinearSystem::new(noisy).unwrap().simulate(30, 8).unwrap();
    let inputs = driven.inputs.unwrap();
    assert_eq!((inputs.len(), inputs.dimension()), (30, 2));
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let message = |matrices| LinearSystem::new(matrices).unwrap_err().to_string();
    assert_eq!(message(SystemMatrices::default()), "states must be at least 1, got 0");
    assert_eq!(
        message(SystemMatrices { b: vec![1.0], ..driven() }),
        "the matrix B has 1 entries; it must have 2 rows of 2 finite numbers"
    );
    assert!(message(SystemMatrices { a: vec![f64::NAN; 4], ..driven() }).starts_with("the matrix A has 4 entries;"));
    for q in [vec![1.0, 0.5, 0.4, 1.0], vec![1.0, 2.0, 2.0, 1.0], vec![0.0, 1.0, 1.0, 0.0], vec![-1.0, 0.0, 0.0, 1.0]] {
        assert_eq!(
            message(SystemMatrices { q, ..driven() }),
            "the matrix Q is not a covariance; it must be symmetric and positive semidefinite"
        );
    }
    let singular = SystemMatrices { q: vec![4.0, 2.0, 2.0, 1.0], ..driven() };
    assert!(LinearSystem::new(singular).is_ok());
}
