//! Growing factors and inverses against dense matrices refactored from scratch.

use mercer_linalg_incremental::{AlignedVec, BlockRecursion, GrowingCholesky, RankOneScratch, SymmetricMatrix};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn vector(rng: &mut ChaCha8Rng, n: usize) -> AlignedVec {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dot(a: &AlignedVec, b: &AlignedVec) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
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

/// A well-conditioned positive definite matrix: `B Bᵀ + n I`.
fn positive(rng: &mut ChaCha8Rng, n: usize) -> DMatrix<f64> {
    let b = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
    &b * b.transpose() + DMatrix::identity(n, n) * n as f64
}

/// The factor of `k` grown row by row, as a dictionary grows it.
fn grown(k: &DMatrix<f64>) -> GrowingCholesky {
    let mut factor = GrowingCholesky::with_capacity(k.nrows());
    let mut row = AlignedVec::new();
    for i in 0..k.nrows() {
        let column: AlignedVec = (0..i).map(|j| k[(i, j)]).collect();
        factor.forward_solve(&column, &mut row);
        let pivot = (k[(i, i)] - row.iter().map(|v| v * v).sum::<f64>()).sqrt();
        factor.append(&row.clone(), pivot);
    }
    factor
}

fn assert_close(a: &DMatrix<f64>, b: &DMatrix<f64>, tolerance: f64) {
    let scale = b.amax().max(1.0);
    assert!((a - b).amax() <= tolerance * scale, "differs by {:e} of {scale:e}", (a - b).amax());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn grown_factor_equals_a_dense_one_and_solves(seed in 0u64..1000, n in 1usize..70) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let k = positive(&mut rng, n);
        let factor = grown(&k);
        let l = lower(&factor);
        assert_close(&(&l * l.transpose()), &k, 1e-14);
        let b = vector(&mut rng, n);
        let mut x = AlignedVec::new();
        factor.forward_solve(&b, &mut x);
        assert_close(&DMatrix::from_columns(&[&l * dense(&x)]), &DMatrix::from_columns(&[dense(&b)]), 1e-14);
        factor.backward_solve(&b, &mut x);
        assert_close(&DMatrix::from_columns(&[l.transpose() * dense(&x)]), &DMatrix::from_columns(&[dense(&b)]), 1e-14);
        let bs: [AlignedVec; 4] = std::array::from_fn(|_| vector(&mut rng, n));
        let mut xs: [AlignedVec; 4] = Default::default();
        factor.forward_solve_together(bs.each_ref(), xs.each_mut());
        for (b, solved) in bs.iter().zip(&xs) {
            factor.forward_solve(b, &mut x);
            prop_assert_eq!(&x, solved);
            // The last entries again, from the first half.
            x.resize(n / 2);
            factor.forward_solve_from(n / 2, b, &mut x);
            prop_assert_eq!(&x, solved);
        }
        prop_assert!(x.lanes().iter().flat_map(|lane| lane.0).skip(n).all(|padding| padding == 0.0));
    }

    #[test]
    fn update_then_downdate_is_the_dense_change_and_back(seed in 0u64..1000, n in 1usize..70) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let k = positive(&mut rng, n);
        let mut factor = grown(&k);
        let (v, mut scratch) = (vector(&mut rng, n), RankOneScratch::default());
        factor.update(&v, &mut scratch);
        let l = lower(&factor);
        let changed = &k + dense(&v) * dense(&v).transpose();
        assert_close(&(&l * l.transpose()), &changed, 1e-14);
        // The inverted diagonal tiles moved along: a solve sees the new factor.
        let mut x = AlignedVec::new();
        factor.forward_solve(&v, &mut x);
        assert_close(&DMatrix::from_columns(&[&l * dense(&x)]), &DMatrix::from_columns(&[dense(&v)]), 1e-13);
        prop_assert!(factor.downdate(&v, &mut scratch).is_ok());
        let l = lower(&factor);
        assert_close(&(&l * l.transpose()), &k, 1e-13);
    }

    #[test]
    fn failed_downdate_leaves_the_factor_bit_for_bit(seed in 0u64..1000, n in 1usize..40) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let k = positive(&mut rng, n);
        let mut factor = grown(&k);
        let before = factor.clone();
        let too_large: AlignedVec = vector(&mut rng, n).iter().map(|v| v + 10.0 * n as f64).collect();
        prop_assert!(factor.downdate(&too_large, &mut RankOneScratch::default()).is_err());
        prop_assert!(factor == before);
        let not_finite: AlignedVec = (0..n).map(|_| f64::NAN).collect();
        prop_assert!(factor.downdate(&not_finite, &mut RankOneScratch::default()).is_err());
        prop_assert!(factor == before);
    }

    #[test]
    fn inverse_follows_updates_and_growth(seed in 0u64..1000, n in 1usize..40, steps in 1usize..30) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut inverse = SymmetricMatrix::scaled_identity(n, 0.5);
        let mut a = DMatrix::identity(n, n) * 2.0;
        let (mut c, mut y) = (AlignedVec::new(), AlignedVec::new());
        for step in 0..steps {
            let x = vector(&mut rng, inverse.dimension());
            prop_assert!(inverse.rank_one(0.7, &x, &mut c).is_ok());
            a += dense(&x) * dense(&x).transpose() * 0.7;
            if step % 3 == 0 {
                // An independent coordinate while an update is still deferred.
                inverse.grow(0.25);
                let m = a.nrows();
                a = a.resize(m + 1, m + 1, 0.0);
                a[(m, m)] = 4.0;
            }
            let z = vector(&mut rng, inverse.dimension());
            let pure = inverse.quadratic(&z);
            inverse.product(&z, &mut c);
            let quadratic = inverse.multiply(&z, &mut y);
            prop_assert!((pure - quadratic).abs() < 1e-13 * quadratic.max(1.0));
            let expected = a.clone().try_inverse().unwrap_or_default();
            assert_close(&full(&inverse), &expected, 1e-12);
            let product = &expected * dense(&z);
            prop_assert!((dense(&y) - &product).amax() < 1e-12);
            prop_assert!((dense(&c) - &product).amax() < 1e-12);
            prop_assert!((quadratic - dense(&z).dot(&product)).abs() < 1e-12);
        }
    }

    #[test]
    fn bordered_inverse_equals_the_inverse_of_the_bordered_matrix(seed in 0u64..1000, n in 1usize..30) {
        // Exact least squares on Newton coordinates: the bordering of KRLS.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let a = positive(&mut rng, n + 1);
        let small = a.view((0, 0), (n, n)).into_owned();
        let big = a.clone().try_inverse().unwrap_or_default();
        let mut inverse = SymmetricMatrix::new();
        let start = small.try_inverse().unwrap_or_default();
        for j in 0..n {
            let column: AlignedVec = (0..j).map(|i| start[(i, j)]).collect();
            inverse.border(&column, start[(j, j)]);
        }
        // [P + ccᵀ/s, −c/s; −cᵀ/s, 1/s] with c = P b and s = a − bᵀ c.
        let b: AlignedVec = (0..n).map(|i| a[(i, n)]).collect();
        let mut c = AlignedVec::new();
        let s = a[(n, n)] - inverse.multiply(&b, &mut c);
        inverse.subtract(-1.0 / s, &c);
        let column: AlignedVec = c.iter().map(|c| -c / s).collect();
        inverse.border(&column, 1.0 / s);
        assert_close(&full(&inverse), &big, 1e-12);
    }

    #[test]
    fn a_block_of_rounds_equals_one_by_one(
        seed in 0u64..1000, n in 1usize..60, rounds in 1usize..=64, done in 0usize..=64, deferred in 0usize..9,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut single = SymmetricMatrix::scaled_identity(n, 1.5);
        let mut c = AlignedVec::new();
        for _ in 0..deferred {
            let x = vector(&mut rng, n);
            prop_assert!(single.rank_one(0.4, &x, &mut c).is_ok());
        }
        let mut w = vector(&mut rng, n);
        let (mut inverse, mut weights) = (single.clone(), w.clone());
        let xs: Vec<AlignedVec> = (0..rounds).map(|_| vector(&mut rng, n)).collect();
        let mut block = BlockRecursion::default();
        block.begin(&mut inverse, std::slice::from_ref(&weights), &xs);
        for (b, x) in xs.iter().enumerate().take(done) {
            // Every fourth round takes information away, and the move is no gradient step: the
            // block must not care.
            let (z, s) = (dot(&w, x), single.multiply(x, &mut c));
            let value = block.value(0);
            prop_assert!((value - z).abs() <= 1e-11 * z.abs().max(1.0), "value {value} for {z}");
            prop_assert!((block.quadratic() - s).abs() <= 1e-11 * s.max(1.0), "quadratic {} for {s}", block.quadratic());
            let weight = if b % 4 == 3 { -0.01 / (1.0 + s) } else { 0.5 };
            let (gain, along) = (weight / (1.0 + weight * s), (0.3 - z) / (1.0 + s));
            single.subtract(gain, &c);
            w.iter_mut().zip(c.iter()).for_each(|(w, c)| *w += along * c);
            block.advance(gain, &[along]);
        }
        block.finish(&mut inverse, std::slice::from_mut(&mut weights));
        assert_close(&full(&inverse), &full(&single), 1e-12);
        prop_assert!(w.iter().zip(weights.iter()).all(|(a, b)| (a - b).abs() <= 1e-11));
        prop_assert!((inverse.trace() - full(&single).trace()).abs() < 1e-11);
    }

    #[test]
    fn outputs_of_a_block_are_blocks_of_their_own(
        seed in 0u64..1000, n in 1usize..60, rounds in 1usize..=64, outputs in 1usize..6, skipped in 0usize..20,
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut shared, mut block) = (SymmetricMatrix::scaled_identity(n, 1.5), BlockRecursion::default());
        let mut ws: Vec<AlignedVec> = (0..outputs).map(|_| vector(&mut rng, n)).collect();
        let mut single = vec![(shared.clone(), BlockRecursion::default()); outputs];
        let mut single_ws = ws.clone();
        // Two blocks, the second in the memory of the first; the last rounds are looked at but not
        // done.
        for _ in 0..2 {
            let xs: Vec<AlignedVec> = (0..rounds).map(|_| vector(&mut rng, n)).collect();
            block.begin(&mut shared, &ws, &xs);
            for ((p, one), w) in single.iter_mut().zip(&single_ws) {
                one.begin(p, std::slice::from_ref(w), &xs);
            }
            for _ in skipped..rounds {
                let s = block.quadratic();
                let (gain, mut alongs) = (1.0 / (1.0 + s), Vec::new());
                prop_assert_eq!(block.values().len(), outputs);
                for (k, (value, (_, one))) in block.values().zip(&mut single).enumerate() {
                    prop_assert_eq!(value, block.value(k));
                    prop_assert!((value - one.value(0)).abs() <= 1e-12 * value.abs().max(1.0));
                    prop_assert_eq!(s, one.quadratic());
                    let along = (0.3 * k as f64 - value) * gain;
                    one.advance(gain, &[along]);
                    alongs.push(along);
                }
                block.advance(gain, &alongs);
            }
            block.finish(&mut shared, &mut ws);
            for (k, (p, one)) in single.iter_mut().enumerate() {
                one.finish(p, std::slice::from_mut(&mut single_ws[k]));
                prop_assert!(full(p) == full(&shared));
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
                prop_assert!(ws[k].iter().zip(single_ws[k].iter()).all(close));
                prop_assert!(ws[k].lanes().iter().flat_map(|lane| lane.0).skip(n).all(|padding| padding == 0.0));
            }
            prop_assert!(ws[0] == single_ws[0]);
        }
    }
}

#[test]
fn indefinite_changes_of_an_inverse_are_refused_untouched() {
    let mut inverse = SymmetricMatrix::scaled_identity(3, 1.0);
    let x = AlignedVec::from_slice(&[1.0, 1.0, 0.0]);
    let mut c = AlignedVec::new();
    assert!(inverse.rank_one(-0.5, &x, &mut c).is_err());
    assert_eq!(full(&inverse), DMatrix::identity(3, 3));
}

#[test]
fn two_rows_by_hand() {
    // K = [4 2; 2 5] = L Lᵀ with L = [2 0; 1 2].
    let factor = grown(&DMatrix::from_row_slice(2, 2, &[4.0, 2.0, 2.0, 5.0]));
    assert_eq!((factor.entry(0, 0), factor.entry(1, 0), factor.entry(1, 1)), (2.0, 1.0, 2.0));
    let mut x = AlignedVec::new();
    factor.forward_solve(&AlignedVec::from_slice(&[2.0, 5.0]), &mut x);
    assert_eq!(*x, [1.0, 2.0]);
    factor.backward_solve(&AlignedVec::from_slice(&[4.0, 2.0]), &mut x);
    assert_eq!(*x, [1.5, 1.0]);
}
