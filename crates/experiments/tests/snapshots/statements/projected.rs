//! Identities and lemmas of the paper on projections.

use mercer_kernels::{AlignedVec, TaylorFeatures};
use mercer_testkit::oracle::gaussian;
use nalgebra::{DMatrix, DVector};

use super::{breaks, largest, matrix};

#[test]
fn lemma_10() {
    let b = matrix(1, 5, 9);
    let v = DMatrix::<f64>::identity(5, 5) + &b * b.transpose();
    let u = 0.5 * matrix(2, 5, 1);
    let left = u.dot(&(v.clone().try_inverse().unwrap() * &u));
    let holds = |sign: f64| {
        let right = 1.0 - (&v - sign * &u * u.transpose()).determinant() / v.determinant();
        (left - right).abs() < 1e-12
    };
    assert!(holds(1.0));
    breaks("a sum in place of the difference", holds(-1.0));
}

/// The features of degree up to `degree` at a point.
fn features(x: &[f64], degree: usize) -> Vec<f64> {
    let map = TaylorFeatures::new(1.0, degree, vec![0.0; x.len()], 1 << 30).unwrap();
    let mut features = AlignedVec::new();
    map.map(x, &mut features);
    features.to_vec()
}

/// The least norm of a function that interpolates `g_k` on a grid grows to the norm of `g_k` as the
/// grid becomes fine; products alike.
#[test]
fn lemma_11() {
    let grid: Vec<f64> = (0..80).map(|i| -4.0 + 0.1 * f64::from(i)).collect();
    let kernel = gaussian(1.0);
    let gram = DMatrix::from_fn(80, 80, |i, j| kernel(&[grid[i]], &[grid[j]]));
    let eigen = gram.symmetric_eigen();
    let values: Vec<Vec<f64>> = grid.iter().map(|x| features(&[*x], 4)).collect();
    // Of functions that are so many times g_k.
    let are_orthonormal = |times: f64| {
        (0..16).all(|pair| {
            let (k, l, mut product) = (pair / 4, pair % 4, 0.0);
            for (i, value) in eigen.eigenvalues.iter().enumerate().filter(|(_, value)| **value > 1e-11) {
                let along = |k: usize| (0..80).map(|t| eigen.eigenvectors[(t, i)] * times * values[t][k]).sum::<f64>();
                product += along(k) * along(l) / value;
            }
            (product - f64::from(u8::from(k == l))).abs() < 1e-3
        })
    };
    assert!(are_orthonormal(1.0));
    breaks("functions that are one per cent longer", are_orthonormal(1.01));
}

#[test]
fn lemma_13() {
    let kernel = gaussian(1.0);
    let (mut tight, mut below) = (0, 0);
    for degree in 0..8 {
        for seed in 0..20 {
            let points = matrix(50 + seed, 2, 2);
            let (x, z): (Vec<f64>, Vec<f64>) =
                (points.column(0).iter().copied().collect(), points.column(1).iter().copied().collect());
            let norm = |v: &[f64]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
            let radius = norm(&x).max(norm(&z));
            let shown: f64 = features(&x, degree).iter().zip(features(&z, degree)).map(|(a, b)| a * b).sum();
            let factorial: f64 = (1..=degree + 1).map(|i| i as f64).product();
            let bound = radius.powi(2 * degree as i32 + 2) / factorial;
            let error = (kernel(&x, &z) - shown).abs();
            assert!(error <= bound + 1e-15, "{degree}: {error} {bound}");
            tight += usize::from(error > bound / 20.0);
            below += usize::from(error <= bound / 20.0 + 1e-15);
        }
    }
    assert!(tight > 20, "the bound is far from every error: {tight}");
    breaks("a twentieth of the bound", below == 160);
}

/// True if AWV in `Q^{exponent}v` is AWV in the span of functions `v` that are not orthonormal:
/// kernel functions at six centres.
fn embeds(exponent: f64) -> bool {
    let (kernel, lambda) = (gaussian(0.8), 0.3);
    let at = |m: &DMatrix<f64>, i: usize| m.column(i).iter().copied().collect::<Vec<f64>>();
    let (centres, inputs, targets) = (matrix(3, 2, 6), matrix(4, 2, 30), matrix(5, 30, 1));
    let q = DMatrix::from_fn(6, 6, |i, j| kernel(&at(&centres, i), &at(&centres, j)));
    let eigen = q.clone().symmetric_eigen();
    let root = &eigen.eigenvectors
        * DMatrix::from_diagonal(&eigen.eigenvalues.map(|v| v.powf(exponent)))
        * eigen.eigenvectors.transpose();
    let (mut plain, mut embedded) = (lambda * &q, lambda * DMatrix::<f64>::identity(6, 6));
    let (mut plain_sum, mut embedded_sum) = (DVector::<f64>::zeros(6), DVector::<f64>::zeros(6));
    let mut same = true;
    for t in 0..30 {
        let v = DVector::from_fn(6, |i, _| kernel(&at(&centres, i), &at(&inputs, t)));
        let phi = &root * &v;
        plain += &v * v.transpose();
        embedded += &phi * phi.transpose();
        // The best function of the span, by its coefficients, and AWV in the embedding.
        let direct = plain.clone().try_inverse().unwrap() * &plain_sum;
        let awv = embedded.clone().try_inverse().unwrap() * &embedded_sum;
        same &= (direct.dot(&v) - awv.dot(&phi)).abs() < 1e-9;
        plain_sum += targets[t] * &v;
        embedded_sum += targets[t] * &phi;
    }
    same
}

#[test]
fn a_general_basis() {
    assert!(embeds(-0.5));
    breaks("the functions as they are", embeds(0.0));
}

/// The regret of PKAWV on growing subspaces of R⁶ less `λ‖f‖²`, the sum that bounds it with `λ²`
/// below the last term, and with `λ`.
fn theorem_9_on(
    inputs: &DMatrix<f64>,
    targets: &[f64],
    lambda: f64,
    sizes: impl Fn(usize) -> usize,
) -> (f64, f64, f64) {
    let (dimension, rounds) = (inputs.nrows(), inputs.ncols());
    let identity = DMatrix::<f64>::identity(dimension, dimension);
    let projection = |t: usize| match sizes(t).min(dimension) {
        0 => DMatrix::zeros(dimension, dimension),
        size => {
            let q = inputs.columns(0, size).into_owned().qr().q();
            &q * q.transpose()
        }
    };
    let (mut c, mut sum) = (DMatrix::<f64>::zeros(dimension, dimension), DVector::<f64>::zeros(dimension));
    let (mut loss, mut by_square, mut as_printed) = (0.0, 0.0, 0.0);
    for t in 0..rounds {
        let (x, y): (DVector<f64>, f64) = (inputs.column(t).into(), targets[t]);
        c += &x * x.transpose();
        let p = projection(t);
        let inverse = (&p * &c * &p + lambda * &identity).try_inverse().unwrap();
        let predicted = (&p * &inverse * &p * &sum).dot(&x);
        loss += (predicted - y).powi(2);
        sum += y * &x;
        let next = if t + 1 == rounds { identity.clone() } else { projection(t + 1) };
        let step = &next - &p;
        let mu = largest(&(&step * &c * &step));
        let first = y * y * (&p * &x).dot(&(&inverse * &p * &x));
        let rest = (mu + lambda) * mu * (t + 1) as f64;
        by_square += first + rest / (lambda * lambda);
        as_printed += first + rest / lambda;
    }
    // The best of `L(f) + λ‖f‖²`.
    let best = (c + lambda * identity).try_inverse().unwrap() * &sum;
    let squares: f64 = targets.iter().map(|y| y * y).sum();
    (loss - (squares - best.dot(&sum)), by_square, as_printed)
}

#[test]
fn theorem_9() {
    for seed in 0..20 {
        for lambda in [0.1, 1.0, 10.0] {
            let (inputs, targets) = (matrix(200 + seed, 6, 50), matrix(300 + seed, 50, 1));
            let (regret, bound, _) = theorem_9_on(&inputs, targets.as_slice(), lambda, |t| (t + 1) / 4);
            assert!(regret <= bound + 1e-12, "{seed} {lambda}: {regret} {bound}");
        }
    }
    // As printed, without λ‖f‖²: one direction, targets 1 and f = 1, which loses nothing.
    let (rounds, lambda) = (20, 100.0);
    let (regret, _, as_printed) = theorem_9_on(&DMatrix::from_element(1, rounds, 1.0), &[1.0; 20], lambda, |_| 1);
    let best = 20.0 - 20.0 * 20.0 / (20.0 + lambda);
    let against_one = regret + best;
    breaks("the bound as printed", against_one <= as_printed);
    assert!(against_one <= as_printed + lambda, "{against_one} {as_printed}");
}
