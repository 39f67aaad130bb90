//! Sums that add up, against the textbook's matrices and against brute force.

use mercer_forecast::TotalShares;

use crate::season::noise;

/// Errors of a total and three parts that go together.
fn errors(rows: usize) -> Vec<Vec<f64>> {
    let mut noise = noise(21);
    let row = |_| {
        let (common, own) = (noise(), [noise(), 2.0 * noise(), 0.5 * noise()]);
        let parts = [own[0] + common, own[1] + common, own[2] - 0.5 * common];
        [0.6 * parts.iter().sum::<f64>() + 0.4 * noise(), parts[0], parts[1], parts[2]].to_vec()
    };
    (0..rows).map(row).collect()
}

type Matrix = Vec<Vec<f64>>;

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, b)| x * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// By Gauss and Jordan.
fn inverse(a: &Matrix) -> Matrix {
    let n = a.len();
    let mut rows: Matrix = a.clone();
    for (i, row) in rows.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for i in 0..n {
        let pivot = rows[i][i];
        rows[i].iter_mut().for_each(|x| *x /= pivot);
        for k in (0..n).filter(|k| *k != i) {
            let factor = rows[k][i];
            for c in 0..2 * n {
                rows[k][c] -= factor * rows[i][c];
            }
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// `W` as the papers write it.
fn covariance(errors: &[Vec<f64>]) -> (Matrix, f64) {
    let (t, n) = (errors.len() as f64, errors[0].len());
    let w: Matrix =
        (0..n).map(|i| (0..n).map(|j| errors.iter().map(|e| e[i] * e[j]).sum::<f64>() / t).collect()).collect();
    let (mut doubt, mut size) = (0.0, 0.0);
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let scale = (w[i][i] * w[j][j]).sqrt();
            let r = w[i][j] / scale;
            doubt += errors.iter().map(|e| (e[i] * e[j] / scale - r).powi(2)).sum::<f64>() / (t * (t - 1.0));
            size += r * r;
        }
    }
    let lambda = (doubt / size).min(1.0);
    let shrunk = |i: usize, j: usize| if i == j { w[i][j] } else { (1.0 - lambda) * w[i][j] };
    ((0..n).map(|i| (0..n).map(|j| shrunk(i, j)).collect()).collect(), lambda)
}

#[test]
fn reconciled_forecasts_are_those_of_the_paper() {
    let errors = errors(60);
    let shares = TotalShares::from_errors(3, &errors);
    let (w, lambda) = covariance(&errors);
    assert!((shares.shrinkage() - lambda).abs() < 1e-12 && lambda > 0.01 && lambda < 0.9, "{lambda}");
    // ỹ = S (Sᵀ W⁻¹ S)⁻¹ Sᵀ W⁻¹ ŷ
    let s: Matrix = vec![vec![1.0; 3], vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
    let forecast: Matrix = [25.0, 10.0, 7.0, 4.0].map(|y| vec![y]).to_vec();
    let weighed = product(&transposed(&s), &inverse(&w));
    let parts = product(&inverse(&product(&weighed, &s)), &product(&weighed, &forecast));
    let (mut total, mut found) = (25.0, [10.0, 7.0, 4.0]);
    shares.reconcile(&mut total, &mut found);
    for (found, truth) in found.iter().zip(&parts) {
        assert!((found - truth[0]).abs() < 1e-10, "{found} {truth:?}");
    }
    assert!((total - found.iter().sum::<f64>()).abs() < 1e-12, "{total}");
    assert!((total - 21.0).abs() > 0.1 && (total - 25.0).abs() > 0.1, "{total}");
}

/// No other way to share the miss has smaller errors, on average, where `W` is the truth.
#[test]
fn no_other_share_is_better() {
    let errors = errors(4000);
    let shares = TotalShares::from_errors(3, &errors);
    let cost = |shares: [f64; 3]| -> f64 {
        let one = |e: &Vec<f64>| {
            let miss = e[0] - e[1] - e[2] - e[3];
            let parts = [0, 1, 2].map(|i| e[i + 1] - shares[i] * miss);
            parts.iter().map(|e| e * e).sum::<f64>() + parts.iter().sum::<f64>().powi(2)
        };
        errors.iter().map(one).sum()
    };
    // What each part takes of a miss of 1.
    let mut taken = [0.0; 3];
    shares.reconcile(&mut 1.0, &mut taken);
    let least = cost(taken.map(|taken| -taken));
    for i in 0..3 {
        for by in [-0.05, 0.05] {
            let mut other = taken.map(|taken| -taken);
            other[i] += by;
            assert!(cost(other) > least, "share {i} by {by}");
        }
    }
    // It is better than the sum of the parts, and than the parts as they are.
    assert!(cost([0.0; 3]) > 1.05 * least);
}

#[test]
fn few_errors_are_unrelated_and_none_are_alike() {
    let (mut total, mut parts) = (10.0, [3.0, 4.0]);
    TotalShares::bottom_up(2).reconcile(&mut total, &mut parts);
    assert_eq!((total, parts), (7.0, [3.0, 4.0]));
    // Without errors the total is as uncertain as all parts: it takes half of the miss.
    let (mut total, mut parts) = (10.0, [3.0, 4.0]);
    TotalShares::from_errors(2, &[vec![f64::NAN, 1.0, 1.0]]).reconcile(&mut total, &mut parts);
    assert_eq!((total, parts), (8.5, [3.75, 4.75]));
    // By hand: variances 4, 1 and 3 share a miss of 3 as 4 : 1 : 3.
    let (mut total, mut parts) = (10.0, [3.0, 4.0]);
    TotalShares::from_errors(2, &vec![vec![2.0, 1.0, 3.0_f64.sqrt()]; 4]).reconcile(&mut total, &mut parts);
    assert!((total - 8.5).abs() < 1e-12 && (parts[0] - 3.375).abs() < 1e-12 && (parts[1] - 5.125).abs() < 1e-12);
}
