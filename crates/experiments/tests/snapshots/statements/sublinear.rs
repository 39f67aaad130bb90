//! Identities and lemmas of the paper on sublinear computational complexity.

use crate::decay::Regime;
use crate::hindsight::Hindsight;
use mercer_learners::{AogdAld, AogdAldParams, prequential};
use mercer_testkit::oracle::gaussian;
use nalgebra::{DMatrix, DVector};

use super::{breaks, largest, matrix};

/// Points in the plane, and their kernel matrix.
fn stream(count: usize) -> DMatrix<f64> {
    let points = matrix(1, 2, count);
    let kernel = gaussian(0.7);
    let column = |i: usize| points.column(i).iter().copied().collect::<Vec<f64>>();
    DMatrix::from_fn(count, count, |i, j| kernel(&column(i), &column(j)))
}

/// The rows and columns of a kernel matrix.
fn part(kernel: &DMatrix<f64>, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns.len(), |i, j| kernel[(rows[i], columns[j])])
}

#[test]
fn lemma_d1() {
    let (x, alpha) = (matrix(2, 4, 6), 0.3);
    let outer = &x * x.transpose() + alpha * DMatrix::<f64>::identity(4, 4);
    let inner = x.transpose() * &x + alpha * DMatrix::<f64>::identity(6, 6);
    let inverse = inner.try_inverse().unwrap();
    let left = &x * x.transpose() * outer.clone().try_inverse().unwrap();
    let same = |inverse: &DMatrix<f64>| (&left - &x * inverse * x.transpose()).norm() < 1e-12;
    assert!(same(&inverse));
    let right = (DMatrix::identity(4, 4) - &x * inverse * x.transpose()) / alpha;
    assert!((outer.try_inverse().unwrap() - right).norm() < 1e-12);
    let more = x.transpose() * &x + (alpha + 0.01) * DMatrix::<f64>::identity(6, 6);
    breaks("another α", same(&more.try_inverse().unwrap()));
}

#[test]
fn lemma_g1_and_the_offline_bound() {
    let (count, alpha) = (150, 0.02);
    let kernel = stream(count);
    let mut kept: Vec<usize> = Vec::new();
    // Of each point the dictionary of its epoch and the coefficients of its projection on it.
    let mut projections: Vec<(usize, DVector<f64>)> = Vec::new();
    for t in 0..count {
        let project = |kept: &[usize]| {
            let k = DVector::from_fn(kept.len(), |i, _| kernel[(kept[i], t)]);
            let beta = part(&kernel, kept, kept).cholesky().map_or(DVector::zeros(0), |factor| factor.solve(&k));
            let rest = kernel[(t, t)] - beta.dot(&k);
            (beta, rest)
        };
        let (beta, rest) = project(&kept);
        if rest > alpha {
            kept.push(t);
            projections.push((kept.len(), project(&kept).0));
        } else {
            assert!(rest > -1e-12 && rest <= alpha);
            projections.push((kept.len(), beta));
        }
    }
    assert!(kept.len() > 10 && kept.len() < count / 2, "{}", kept.len());
    let whole = part(&kernel, &kept, &kept);
    for (t, (size, beta)) in projections.iter().enumerate() {
        for (other, (other_size, gamma)) in projections.iter().enumerate() {
            let shown = (beta.transpose() * whole.view((0, 0), (*size, *other_size)) * gamma)[0];
            assert!(kernel[(t, other)] - shown <= alpha.sqrt() + 1e-12);
        }
    }
    // The whole stream on the last dictionary.
    let all: Vec<usize> = (0..count).collect();
    let cross = part(&kernel, &all, &kept);
    let approximation = &cross * whole.try_inverse().unwrap() * cross.transpose();
    let error = largest(&(&kernel - approximation));
    assert!(error <= count as f64 * alpha, "{error}");
    // Half of the dictionary leaves more than α of some value.
    let half = &kept[..kept.len() / 2];
    let cross = part(&kernel, &all, half);
    let shown = &cross * part(&kernel, half, half).try_inverse().unwrap() * cross.transpose();
    breaks("half of the dictionary", (0..count).all(|t| kernel[(t, t)] - shown[(t, t)] <= alpha));
}

#[test]
fn lemma_h1() {
    let kernel = stream(12);
    let all: Vec<usize> = (0..12).collect();
    let coefficients = matrix(3, 12, 1);
    let (small, large) = (&all[..5], &all[..6]);
    let coordinates = |kept: &[usize]| {
        let factor = part(&kernel, kept, kept).cholesky().unwrap().l();
        let inverse = factor.try_inverse().unwrap();
        let values = part(&kernel, kept, &all);
        (&inverse * &values * &coefficients, &inverse * values, inverse)
    };
    let ((w, phi, inverse), (w_next, _, inverse_next)) = (coordinates(small), coordinates(large));
    let carried = &inverse * part(&kernel, small, large) * inverse_next.transpose();
    assert!((&w - &carried * &w_next).norm() < 1e-12);
    // To leave out the last coordinate is not to carry.
    breaks("coordinates of another basis", (&w - carried.columns(0, 5) * w_next.rows(1, 5)).norm() < 1e-12);
    // Within the strip of the function's norm.
    let norm = (coefficients.transpose() * &kernel * &coefficients)[0].sqrt();
    assert!((w.transpose() * phi).iter().all(|value| value.abs() <= norm + 1e-12));
}

#[test]
fn lemma_h2() {
    let (u, mu) = (matrix(4, 5, 60), 0.4);
    let mut v = mu * DMatrix::<f64>::identity(5, 5);
    let mut sum = 0.0;
    for column in u.column_iter() {
        v += column * column.transpose();
        sum += column.dot(&(v.clone().try_inverse().unwrap() * column));
    }
    let bound = (v.determinant() / mu.powi(5)).ln();
    assert!(sum <= bound && bound < 2.0 * sum, "{sum} {bound}");
    breaks("the root of the ratio", sum <= 0.5 * bound);
}

#[test]
fn lemma_h3() {
    let (b, mu) = (matrix(5, 4, 9), 0.7);
    let a = mu * DMatrix::<f64>::identity(4, 4) + &b * b.transpose();
    // Any basis of a larger space in which the old one is orthonormal.
    let q = matrix(6, 5, 4).qr().q();
    let grown = |carried: DMatrix<f64>| {
        let grown = mu * DMatrix::<f64>::identity(5, 5) + &q * carried * q.transpose();
        (grown.determinant() / a.determinant() - mu).abs() < 1e-12
    };
    assert!(grown(&a - mu * DMatrix::identity(4, 4)));
    breaks("A with its regulariser", grown(a.clone()));
}

/// True if the Newton step on projected gradients is what kernel values alone say of it, with
/// `lag` steps less in the matrix of each step.
fn is_written_by_kernels(lag: usize) -> bool {
    let (dimension, mu, eta, alpha) = (4, 0.5, 0.2_f64, 0.5);
    let inputs = matrix(7, dimension, 40);
    let targets = matrix(8, 40, 1);
    let mut kept: Vec<DVector<f64>> = Vec::new();
    let mut a = mu * DMatrix::<f64>::identity(dimension, dimension);
    let mut f = DVector::<f64>::zeros(dimension);
    let mut same = true;
    let (mut past, mut shortened): (Vec<(f64, DVector<f64>)>, usize) = (Vec::new(), 0);
    for t in 0..40 {
        let x: DVector<f64> = inputs.column(t).into();
        // By kernel values alone: each step with the matrix of its own time.
        let mut by_kernels = 0.0;
        for tau in 0..past.len() {
            let (g, projected) = &past[tau];
            let columns: Vec<DVector<f64>> =
                past[..=tau - lag.min(tau)].iter().map(|(g, p)| eta.sqrt() * *g * p).collect();
            let columns = DMatrix::from_columns(&columns);
            let inner = columns.transpose() * &columns + mu * DMatrix::identity(columns.ncols(), columns.ncols());
            let second = projected.transpose() * &columns * inner.try_inverse().unwrap() * columns.transpose() * &x;
            by_kernels += (g * second[0] - g * projected.dot(&x)) / mu;
        }
        same &= (by_kernels - f.dot(&x)).abs() < 1e-10;
        let mut projected = DVector::zeros(dimension);
        if !kept.is_empty() {
            let basis = DMatrix::from_columns(&kept);
            projected = &basis * (basis.transpose() * &basis).try_inverse().unwrap() * basis.transpose() * &x;
        }
        let rest = (&x - &projected).norm_squared();
        shortened += usize::from(rest > 0.01 && rest <= alpha);
        if rest > alpha {
            kept.push(x.clone());
            projected = x.clone();
        }
        let g = 2.0 * (f.dot(&x) - targets[t]);
        let gradient = g * &projected;
        a += eta * &gradient * gradient.transpose();
        f -= a.clone().try_inverse().unwrap() * &gradient;
        past.push((g, projected));
    }
    assert!(shortened > 0, "no gradient was projected");
    same
}

#[test]
fn theorem_4_1() {
    assert!(is_written_by_kernels(0));
    breaks("the matrix of the step before", is_written_by_kernels(1));
}

#[test]
fn theorem_4_9() {
    let (b, bound) = (matrix(9, 5, 8), 0.5);
    let a = 0.1 * DMatrix::<f64>::identity(5, 5) + &b * b.transpose();
    let (phi, outside) = (matrix(10, 5, 1), 3.0 * matrix(10, 5, 1));
    let inverse = a.clone().try_inverse().unwrap();
    let predicted = outside.dot(&phi);
    let excess = predicted.signum() * (predicted.abs() - bound).max(0.0);
    let w = &outside - excess * (&inverse * &phi) / phi.dot(&(&inverse * &phi));
    assert!(excess != 0.0 && (w.dot(&phi).abs() - bound).abs() < 1e-12);
    let distance = |v: &DMatrix<f64>| (v - &outside).dot(&(&a * (v - &outside)));
    let is_nearest = |w: &DMatrix<f64>| {
        (0..200).all(|seed| {
            let v = w + matrix(100 + seed, 5, 1);
            let clamped = v.dot(&phi).clamp(-bound, bound);
            let v = &v + (clamped - v.dot(&phi)) / phi.dot(&phi) * &phi;
            distance(&v) >= distance(w) - 1e-12
        })
    };
    assert!(is_nearest(&w));
    // Along φ, which is nearest in the plain norm.
    breaks("the plain projection", is_nearest(&(&outside - excess / phi.dot(&phi) * &phi)));
}

#[test]
fn theorem_3_2() {
    for regime in [Regime::EXPONENTIAL, Regime::MATERN_32, Regime::MATERN_52] {
        for rounds in [200, 800] {
            let (stream, kernel) = (regime.stream(rounds, 3).unwrap(), regime.kernel().unwrap());
            let hindsight = Hindsight::new(&kernel, &stream).unwrap();
            for radius in [1.0, 2.0] {
                let growth = Some(AogdAldParams::growth_limit_for(stream.dimension(), rounds));
                let params = AogdAldParams::default().radius(radius).alpha(1.0 / rounds as f64).growth_limit(growth);
                let mut learner = AogdAld::new(kernel.clone(), stream.dimension(), params).unwrap();
                let score = prequential(&mut learner, stream.iter(), |_| {}).unwrap();
                let best = hindsight.within(radius).loss;
                let regret = score.cumulative_loss() - best;
                let bound = 9.0 * radius * best.sqrt() + 3.0 * radius + 81.0 * radius * radius;
                assert!(regret <= bound, "{} {rounds} {radius}: {regret} {bound}", regime.name);
                assert!(regret > 0.0);
                // The bound is loose by its constants: it tells from what grows like the rounds.
                breaks("ten times the worst loss", 10.0 * rounds as f64 * radius.powi(2) - best <= bound);
            }
        }
    }
}
