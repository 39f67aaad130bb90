//! Removal of a point from a factor, of its coordinate from an inverse, against dense matrices.

use mercer_core::Validate;
use mercer_linalg_incremental::{AlignedVec, GrowingCholesky, Removal, Rotations, SymmetricMatrix};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Sizes on both sides of the borders of tiles and of the groups of panels that go together.
const SIZES: [usize; 16] = [1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 63, 64, 65, 130];

fn vector(rng: &mut ChaCha8Rng, n: usize) -> AlignedVec {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dense(v: &AlignedVec) -> DVector<f64> {
    DVector::from_column_slice(v)
}

fn lower(factor: &GrowingCholesky) -> DMatrix<f64> {
    let n = factor.dimension();
    DMatrix::from_fn(n, n, |i, j| factor.entry(i, j))
}

fn full(inverse: &SymmetricMatrix) -> DMatrix<f64> {
    let n = inverse.dimension();
    DMatrix::from_fn(n, n, |i, j| inverse.entry(i, j))
}

/// A lower triangle with pivots between `least` and 2.
fn factor(rng: &mut ChaCha8Rng, n: usize, least: f64) -> GrowingCholesky {
    let mut factor = GrowingCholesky::new();
    for i in 0..n {
        let row = vector(rng, i);
        factor.append(&row, rng.random_range(least..2.0));
    }
    factor
}

/// A covariance with `deferred` updates that wait.
fn inverse(rng: &mut ChaCha8Rng, n: usize, deferred: usize) -> SymmetricMatrix {
    let mut p = SymmetricMatrix::scaled_identity(n, 1.5);
    let mut c = AlignedVec::new();
    for _ in 0..n + 3 {
        p.rank_one(0.7, &vector(rng, n), &mut c).expect("an update");
    }
    p.flush();
    for _ in 0..deferred {
        p.rank_one(0.4, &vector(rng, n), &mut c).expect("an update");
    }
    p
}

/// The product of the rotations, built from what they make of unit vectors: row `k` of `Gᵀ` is
/// `apply` of each.
fn transposed(rotations: &Rotations) -> DMatrix<f64> {
    let n = rotations.dimension();
    DMatrix::from_columns(
        &(0..n)
            .map(|j| {
                let mut unit = AlignedVec::zeros(n);
                unit[j] = 1.0;
                rotations.apply(&mut unit);
                dense(&unit)
            })
            .collect::<Vec<_>>(),
    )
}

fn assert_close(a: &DMatrix<f64>, b: &DMatrix<f64>, tolerance: f64) {
    assert_eq!(a.shape(), b.shape());
    let error = (a - b).iter().fold(0.0, |most: f64, e| most.max(e.abs()));
    let scale = b.iter().fold(1.0, |most: f64, e| most.max(e.abs()));
    assert!(error <= tolerance * scale, "differs by {error:e} of {scale:e}");
}

fn padding_is_zero(v: &AlignedVec) -> bool {
    v.lanes().iter().flat_map(|lane| lane.0).skip(v.len()).all(|value| value.to_bits() == 0)
}

fn check_removal(rng: &mut ChaCha8Rng, mut factor: GrowingCholesky, i: usize) {
    let n = factor.dimension();
    let before = lower(&factor);
    let k = &before * before.transpose();
    let expected = k.clone().remove_row(i).remove_column(i);
    let mut phi = vector(rng, n);
    let row: DVector<f64> = &before * dense(&phi);
    let last: AlignedVec = (0..n).map(|j| before[(i, j)]).collect();

    let mut rotations = Rotations::new();
    factor.remove(i, &mut rotations);
    assert_eq!(factor.validate(), Ok(()), "row {i} of {n}");
    assert_eq!((factor.dimension(), rotations.dimension(), rotations.first()), (n - 1, n, i));
    assert_eq!((rotations.len(), rotations.is_empty()), (n - 1 - i, n - 1 == i));
    let l = lower(&factor);
    assert_close(&(&l * l.transpose()), &expected, 1e-14);
    // Rows and columns before the point are as they were, bit for bit.
    assert_eq!(l.view((0, 0), (i, i)), before.view((0, 0), (i, i)));

    // The rotations are orthogonal, and L without its row times them is [L' 0].
    let turn = transposed(&rotations);
    assert_close(&(&turn * turn.transpose()), &DMatrix::identity(n, n), 1e-14);
    let widened = l.clone().insert_column(n - 1, 0.0);
    assert_close(&(before.clone().remove_row(i) * turn.transpose()), &widened, 1e-14);

    // Coordinates follow: the first n − 1 belong to the same kernel row without the point.
    rotations.apply(&mut phi);
    let solution = &l * dense(&phi).rows(0, n - 1);
    assert_close(&DMatrix::from_columns(&[solution]), &DMatrix::from_columns(&[row.remove_row(i)]), 1e-14);

    // Put in again at the end, the point has the coordinates that it had, rotated.
    let mut again = last;
    rotations.apply(&mut again);
    let pivot = again[n - 1];
    again.resize(n - 1);
    assert!(padding_is_zero(&again));
    factor.append(&again, pivot.abs());
    assert_eq!(factor.validate(), Ok(()));
    let order: Vec<usize> = (0..n).filter(|j| *j != i).chain([i]).collect();
    let l = lower(&factor);
    assert_close(&(&l * l.transpose()), &DMatrix::from_fn(n, n, |a, b| k[(order[a], order[b])]), 1e-14);
}

#[test]
fn any_row_of_a_factor_goes() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for n in SIZES {
        for i in (0..n).filter(|i| n < 34 || i % 8 < 2 || i % 8 == 7) {
            let l = factor(&mut rng, n, 0.1);
            check_removal(&mut rng, l, i);
        }
    }
}

#[test]
fn near_duplicates_and_extreme_pivots_go_as_well() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for n in [2, 9, 30, 65] {
        for i in [0, n / 2, n - 1] {
            let l = factor(&mut rng, n, 1e-9);
            check_removal(&mut rng, l, i);
        }
    }
    // Squares of these entries are out of range.
    for size in [1e-200, 1e200] {
        let mut l = GrowingCholesky::new();
        l.append(&AlignedVec::new(), size);
        l.append(&AlignedVec::from_slice(&[3.0 * size]), 4.0 * size);
        l.remove(0, &mut Rotations::new());
        assert!((l.entry(0, 0) / (5.0 * size) - 1.0).abs() < 1e-15);
        assert_eq!(l.validate(), Ok(()));
    }
}

#[test]
fn an_inverse_follows_the_rotations() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for (case, n) in SIZES.into_iter().enumerate() {
        for i in (0..n).filter(|i| n < 34 || i % 8 < 2 || i % 8 == 7) {
            let mut rotations = Rotations::new();
            factor(&mut rng, n, 0.1).remove(i, &mut rotations);
            let turn = transposed(&rotations);
            let p = inverse(&mut rng, n, (case + i) % 9);
            let expected = &turn * full(&p) * turn.transpose();
            for how in [Removal::Marginalise, Removal::Condition] {
                let mut p = p.clone();
                p.rotate(&rotations);
                assert_eq!(p.validate(), Ok(()));
                assert_close(&full(&p), &expected, 1e-14);
                // What both triangles hold is the same, and products see it.
                let x = vector(&mut rng, n);
                let mut y = AlignedVec::new();
                p.product(&x, &mut y);
                assert_close(
                    &DMatrix::from_columns(&[dense(&y)]),
                    &DMatrix::from_columns(&[&expected * dense(&x)]),
                    1e-13,
                );
                assert!((p.quadratic(&x) - dense(&x).dot(&dense(&y))).abs() < 1e-12);

                // Without rotations updates may wait still, and are rounded otherwise when they are
                // applied.
                p.flush();
                let rotated = full(&p);
                let mut last = vector(&mut rng, n + 5);
                let corner = p.drop_last(how, &mut last);
                assert_eq!(p.validate(), Ok(()));
                assert_eq!(corner, rotated[(n - 1, n - 1)]);
                assert_eq!(dense(&last), rotated.column(n - 1).rows(0, n - 1));
                assert!(padding_is_zero(&last));
                let mut left: DMatrix<f64> = rotated.view((0, 0), (n - 1, n - 1)).into_owned();
                if how == Removal::Condition {
                    left -= dense(&last) * dense(&last).transpose() / corner;
                }
                assert_close(&full(&p), &left, 1e-15);
                // The matrix goes on: it grows, is multiplied and updated.
                p.grow(0.5);
                let mut left = left.insert_row(n - 1, 0.0).insert_column(n - 1, 0.0);
                left[(n - 1, n - 1)] = 0.5;
                let s = p.multiply(&x, &mut y);
                assert!((s - (&left * dense(&x)).dot(&dense(&x))).abs() < 1e-12);
                p.subtract(1.0 / (1.0 + s), &y);
                p.flush();
                left -= dense(&y) * dense(&y).transpose() / (1.0 + s);
                assert_close(&full(&p), &left, 1e-14);
                assert_eq!(p.validate(), Ok(()));
            }
        }
    }
}

/// A conditioned covariance is the inverse of the information matrix without the row and column.
#[test]
fn conditioning_takes_a_row_off_the_inverse() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    for n in [2, 8, 9, 21] {
        let mut p = inverse(&mut rng, n, 3);
        let a = full(&p).try_inverse().expect("regular");
        p.drop_last(Removal::Condition, &mut AlignedVec::new());
        let expected = a.view((0, 0), (n - 1, n - 1)).into_owned().try_inverse().expect("regular");
        assert_close(&full(&p), &expected, 1e-12);
    }
}

#[test]
fn forgetting_goes_back_to_the_prior() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for n in [0, 1, 8, 13, 40] {
        for deferred in [0, 3, 8] {
            let mut p = inverse(&mut rng, n, deferred);
            let before = full(&p);
            p.discount_to_prior(0.9, 2.0);
            assert_eq!(p.validate(), Ok(()));
            assert_close(&full(&p), &(&before * 0.9 + DMatrix::identity(n, n) * 0.2), 1e-15);
            let mut scaled = p.clone();
            scaled.scale(0.25);
            assert_close(&full(&scaled), &(full(&p) * 0.25), 1e-15);
            p.discount_to_prior(0.0, 3.0);
            p.flush();
            assert_close(&full(&p), &(DMatrix::identity(n, n) * 3.0), 1e-15);
            assert_eq!(p.validate(), Ok(()));
        }
    }
}

/// A dictionary at work for long: points come and go, coordinates and inverse follow, and nothing
/// drifts.
#[test]
fn a_long_run_of_removals_does_not_drift() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    // Points are vectors in 20 dimensions with a ridge: K = X Xᵀ + I.
    let (budget, features) = (18, 20);
    let mut points: Vec<DVector<f64>> = Vec::new();
    let (mut factor, mut rotations) = (GrowingCholesky::new(), Rotations::new());
    // The prior of coordinates is the identity, which every rotation leaves alone.
    let (mut p, mut last, mut phi) = (SymmetricMatrix::new(), AlignedVec::new(), AlignedVec::new());
    for round in 0..2000 {
        if points.len() == budget {
            let i = rng.random_range(0..budget);
            points.remove(i);
            factor.remove(i, &mut rotations);
            p.rotate(&rotations);
            assert!((p.drop_last(Removal::Marginalise, &mut last) - 1.0).abs() < 1e-12, "round {round}");
        }
        let x = DVector::from_fn(features, |_, _| rng.random_range(-1.0..1.0));
        let k: AlignedVec = points.iter().map(|z| z.dot(&x)).collect();
        factor.forward_solve(&k, &mut phi);
        let pivot = (1.0 + x.dot(&x) - phi.iter().map(|v| v * v).sum::<f64>()).sqrt();
        factor.append(&phi, pivot);
        p.grow(1.0);
        points.push(x);
    }
    let l = lower(&factor);
    let n = points.len();
    let k = DMatrix::from_fn(n, n, |a, b| points[a].dot(&points[b]) + f64::from(u8::from(a == b)));
    assert_close(&(&l * l.transpose()), &k, 1e-12);
    assert_close(&full(&p), &DMatrix::identity(n, n), 1e-12);
    assert_eq!((factor.validate(), p.validate()), (Ok(()), Ok(())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rows_go_until_none_is_left(seed in 0u64..1000, n in 1usize..70) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut l = factor(&mut rng, n, 0.1);
        let mut k = lower(&l) * lower(&l).transpose();
        let (mut rotations, mut phi) = (Rotations::new(), vector(&mut rng, n));
        let mut row: Vec<f64> = (lower(&l) * dense(&phi)).iter().copied().collect();
        while l.dimension() > 0 {
            let i = rng.random_range(0..l.dimension());
            l.remove(i, &mut rotations);
            prop_assert!(l.validate().is_ok());
            k = k.remove_row(i).remove_column(i);
            assert_close(&(lower(&l) * lower(&l).transpose()), &k, 1e-13);
            rotations.apply(&mut phi);
            phi.resize(l.dimension());
            row.remove(i);
            let expected = DVector::from_column_slice(&row);
            prop_assert!((lower(&l) * dense(&phi) - expected).iter().all(|e| e.abs() < 1e-12));
        }
    }
}
