//! Kernels go over their operands in one order where registers are few and in another where they
//! are many: the same bits.

use mercer_linalg_incremental::{
    AlignedVec, BlockRecursion, GrowingCholesky, Removal, Rotations, SquareRootRls, SquareRootScratch, StateMatrix,
    SymmetricMatrix,
};
use mercer_simd::{Level, prefer};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn vector(rng: &mut ChaCha8Rng, n: usize) -> AlignedVec {
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Results of a scenario with each of the instruction sets and orders of this machine.
fn assert_same(scenario: impl Fn() -> Vec<f64>) {
    let bits = |level| {
        prefer(Some(level));
        scenario().into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let levels = Level::available();
    assert!(levels.len() > 1, "{levels:?}");
    let expected = bits(levels[0]);
    for level in levels {
        assert!(bits(level) == expected, "{level:?}");
    }
    prefer(None);
}

/// Below and above what one chunk of tiles holds, with last blocks of every width.
const SIZES: [usize; 9] = [1, 4, 8, 13, 31, 60, 129, 150, 166];

#[test]
fn products_and_deferred_updates() {
    for n in SIZES {
        assert_same(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let (mut p, mut c) = (SymmetricMatrix::scaled_identity(n, 1.5), AlignedVec::new());
            let mut seen = Vec::new();
            for _ in 0..21 {
                let x = vector(&mut rng, n);
                seen.push(p.quadratic(&x));
                let s = p.multiply(&x, &mut c);
                seen.extend_from_slice(&c);
                p.subtract(1.0 / (1.0 + s), &c);
            }
            p.flush();
            seen.extend((0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| p.entry(i, j)));
            seen
        });
    }
}

#[test]
fn blocks() {
    for n in SIZES {
        for rounds in [3, 16, 45] {
            assert_same(|| {
                let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
                let mut p = SymmetricMatrix::scaled_identity(n, 1.5);
                let mut ws = [AlignedVec::zeros(n), AlignedVec::zeros(n)];
                let (mut block, mut seen) = (BlockRecursion::default(), Vec::new());
                for _ in 0..2 {
                    let phis: Vec<_> = (0..rounds).map(|_| vector(&mut rng, n)).collect();
                    block.begin(&mut p, &ws, &phis);
                    for _ in 0..rounds {
                        let (z, s) = ([block.value(0), block.value(1)], block.quadratic());
                        seen.extend([z[0], z[1], s]);
                        block.advance(1.0 / (1.0 + s), &[(0.3 - z[0]) / (1.0 + s), (0.7 - z[1]) / (1.0 + s)]);
                    }
                    block.finish(&mut p, &mut ws);
                    seen.extend(ws.iter().flat_map(|w| w.iter()));
                }
                seen.extend((0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| p.entry(i, j)));
                seen
            });
        }
    }
}

#[test]
fn triangular_solves() {
    for n in SIZES {
        assert_same(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let mut factor = GrowingCholesky::new();
            for i in 0..n {
                let mut row = vector(&mut rng, i);
                row.iter_mut().for_each(|value| *value /= n as f64);
                factor.append(&row, rng.random_range(0.5..1.5));
            }
            let right: [AlignedVec; 4] = std::array::from_fn(|_| vector(&mut rng, n));
            let mut together: [AlignedVec; 4] = Default::default();
            factor.forward_solve_together(right.each_ref(), together.each_mut());
            let mut seen = Vec::new();
            for (right, together) in right.iter().zip(&together) {
                let (mut forward, mut backward) = (AlignedVec::new(), AlignedVec::new());
                factor.forward_solve(right, &mut forward);
                factor.backward_solve(right, &mut backward);
                assert_eq!(*forward, **together);
                seen.extend(forward.iter().chain(backward.iter()));
            }
            seen
        });
    }
}

#[test]
fn removals() {
    for n in SIZES {
        assert_same(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let mut factor = GrowingCholesky::new();
            let (mut p, mut c) = (SymmetricMatrix::scaled_identity(n, 1.5), AlignedVec::new());
            for i in 0..n {
                factor.append(&vector(&mut rng, i), rng.random_range(0.5..1.5));
                p.rank_one(0.7, &vector(&mut rng, n), &mut c).expect("an update");
            }
            let (mut rotations, mut phi) = (Rotations::new(), vector(&mut rng, n));
            factor.remove(n / 3, &mut rotations);
            rotations.apply(&mut phi);
            p.rotate(&rotations);
            let mut seen = phi.to_vec();
            seen.push(p.drop_last(Removal::Condition, &mut c));
            p.discount_to_prior(0.9, 1.5);
            p.flush();
            for (i, j) in (0..n - 1).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                seen.extend([factor.entry(i, j), p.entry(i, j)]);
            }
            seen
        });
    }
}

#[test]
fn square_roots() {
    for n in SIZES {
        for m in [1, 5] {
            assert_same(|| {
                let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
                let mut factor = SquareRootRls::new(&vec![1.0; n], m);
                let (mut scratch, mut prediction, mut seen) = (SquareRootScratch::default(), vec![0.0; m], Vec::new());
                for round in 0..9 {
                    let mut row = vector(&mut rng, n);
                    if round % 4 == 3 {
                        // Steep: it outweighs what came before.
                        row.iter_mut().for_each(|value| *value *= 1e3);
                    }
                    let outputs = vector(&mut rng, m);
                    let tau = factor.predict_then_update(&row, &outputs, n, &mut prediction, &mut scratch);
                    seen.push(tau.expect("in range"));
                    seen.extend_from_slice(&prediction);
                }
                factor.settle();
                seen.extend((0..n).flat_map(|i| (i..n).map(move |j| (i, j))).map(|(i, j)| factor.entry(i, j)));
                seen
            });
        }
    }
}

#[test]
fn state_matrices() {
    assert_same(|| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (rows, columns) = (53, 38);
        let (mut a, mut y, mut seen) = (StateMatrix::from_fn(rows, columns, |_, _| 0.1), AlignedVec::new(), Vec::new());
        for _ in 0..5 {
            let (x, u) = (vector(&mut rng, columns), vector(&mut rng, rows));
            a.multiply(&x, &mut y);
            seen.extend_from_slice(&y);
            a.decay_and_add(0.9, &u, &x);
            a.transposed_product(&u, &mut y);
            seen.extend_from_slice(&y);
        }
        seen
    });
}
