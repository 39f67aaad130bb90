//! Streams, and the comparison of an operator with its oracle.

use mercer_kernels::Kernel;
use mercer_koopman::KernelOperator;
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

/// A path of `steps` pairs from state 0, by the rows of `transition`.
pub(crate) fn path<const N: usize>(states: [f64; N], transition: [[f64; N]; N], steps: usize, seed: u64) -> Vec<Pair> {
    let (mut rng, mut at) = (ChaCha8Rng::seed_from_u64(seed), 0);
    (0..steps)
        .map(|_| {
            let mut left = rng.random::<f64>();
            let next = (0..N - 1).find(|&j| {
                left -= transition[at][j];
                left < 0.0
            });
            let before = std::mem::replace(&mut at, next.unwrap_or(N - 1));
            (vec![states[before]], vec![states[at]])
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

/// `Kf = μf` for the leading eigenpairs, `K` by weights and Gram matrices; of a learnt operator
/// `‖f‖ = 1` besides. Counts the eigenvalues that are not real.
pub(crate) fn assert_eigenfunctions<K: Kernel, L: Kernel>(
    operator: &KernelOperator<K, L>,
    oracle: &DenseOperator,
    learnt: bool,
    case: &str,
) -> Result<usize, Box<dyn std::error::Error>> {
    let pairs = operator.eigen(6)?;
    let at = |coefficients: &[f64], x: &[f64]| -> f64 {
        oracle.inputs.iter().zip(coefficients).map(|(z, c)| c * (oracle.input_kernel)(z, x)).sum()
    };
    let mut complex = 0;
    for ((value, re), im) in pairs.values.iter().zip(&pairs.re).zip(&pairs.im) {
        for x in [[0.1, -0.3], [0.6, 0.2], [-0.5, 0.0]] {
            let x = &x[..operator.input_dimension()];
            let moved = |part: &[f64]| oracle.forecast(&|y| at(part, y), 1, x);
            let (f, g) = (at(re, x), at(im, x));
            let wrong = (moved(re) - (value.re * f - value.im * g)).hypot(moved(im) - (value.im * f + value.re * g));
            assert!(wrong < 1e-8, "{case}: {value:?}: Kf and μf differ by {wrong} where f is {f} + {g}i");
        }
        if learnt {
            let square = |part: &[f64]| -> f64 { oracle.inputs.iter().zip(part).map(|(x, c)| c * at(part, x)).sum() };
            let norm = (square(re) + square(im)).sqrt();
            assert!((norm - 1.0).abs() < 1e-8, "{case}: {value:?}: a function of norm {norm}");
        }
        complex += usize::from(value.im.abs() > 1e-3);
    }
    Ok(complex)
}

pub(crate) fn kernel_fn(kernel: &impl Kernel) -> impl Fn(&[f64], &[f64]) -> f64 + '_ {
    move |x, z| kernel.evaluate(x, z)
}
