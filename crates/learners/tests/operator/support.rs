//! Streams, and the comparison of an operator with its oracle.

use mercer_kernels::Kernel;
use mercer_learners::operator::KernelOperator;
use mercer_testkit::oracle::{DenseOperator, Pair};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A noisy nonlinear map of the plane, one trajectory.
pub(crate) fn planar_pairs(seed: u64, count: usize) -> Vec<Pair> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = move || rng.random::<f64>() - 0.5;
    let mut x = vec![0.3, -0.2];
    (0..count)
        .map(|_| {
            let next =
                vec![0.8 * x[0] - 0.6 * x[1] + 0.6 * noise(), 0.5 * (2.0 * x[0]).sin() + 0.7 * x[1] + 0.6 * noise()];
            (std::mem::replace(&mut x, next.clone()), next)
        })
        .collect()
}

pub(crate) fn autoregressive_pairs(seed: u64, count: usize) -> Vec<Pair> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The sum of twelve uniform numbers is close enough to a normal one.
    let mut noise = move || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mut x = 0.0;
    (0..count)
        .map(|_| {
            let next = 0.8 * x + 0.6 * noise();
            (vec![std::mem::replace(&mut x, next)], vec![next])
        })
        .collect()
}

/// Every read-out of `operator` against the same from weights and Gram matrices.
pub(crate) fn assert_same_operator<K: Kernel, L: Kernel>(
    operator: &KernelOperator<K, L>,
    oracle: &DenseOperator,
    case: &str,
) -> Outcome {
    let columns = oracle.inputs.len();
    let weights = operator.weights();
    let largest = oracle.weights.amax().max(1.0);
    for (index, weight) in weights.iter().enumerate() {
        let expected = oracle.weights[(index / columns, index % columns)];
        assert!((weight - expected).abs() < 1e-8 * largest, "{case}: weight {index}: {weight} against {expected}");
    }
    let norm = oracle.hs_inner(oracle).max(0.0).sqrt();
    assert!((operator.hs_norm() - norm).abs() < 1e-8, "{case}: norm {} against {norm}", operator.hs_norm());
    if operator.input_dimension() != operator.output_dimension() {
        return Ok(());
    }
    let mut expected = oracle.eigenvalues();
    for value in operator.eigenvalues()?.iter().filter(|value| value.modulus() > 1e-3) {
        // Equal moduli may come in either order: each is matched with the nearest of those left.
        let nearest = (0..expected.len())
            .min_by(|&i, &j| {
                let distance = |k: usize| (expected[k].re - value.re).hypot(expected[k].im - value.im);
                distance(i).total_cmp(&distance(j))
            })
            .ok_or("more eigenvalues than expected")?;
        let expected = expected.remove(nearest);
        let distance = (expected.re - value.re).hypot(expected.im - value.im);
        assert!(distance < 1e-8, "{case}: eigenvalue {value:?} against {expected}");
    }
    let g = |x: &[f64]| x[0] + 0.3 * x[x.len() - 1] * x[0];
    let powers = operator.powers(&operator.observe(g), 4)?;
    for (n, coefficients) in powers.iter().enumerate() {
        for start in [-0.4, 0.1, 0.6] {
            let x = vec![start; operator.input_dimension()];
            let (value, expected) = (operator.evaluate(coefficients, &x)?, oracle.forecast(&g, n + 1, &x));
            assert!((value - expected).abs() < 1e-8, "{case}: forecast {n}: {value} against {expected}");
        }
    }
    Ok(())
}

pub(crate) fn kernel_fn(kernel: &impl Kernel) -> impl Fn(&[f64], &[f64]) -> f64 + '_ {
    move |x, z| kernel.evaluate(x, z)
}
