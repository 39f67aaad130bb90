//! Square-root least squares against dense QR of all rows.

use mercer_linalg_incremental::{AlignedVec, SquareRootRls, SquareRootScratch};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// Rows and outputs of a problem, and what a dense solver says of them.
struct Problem {
    prior: Vec<f64>,
    rows: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

impl Problem {
    /// `t` rows whose columns differ in scale by up to `spread`.
    fn random(seed: u64, n: usize, m: usize, t: usize, spread: f64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = move || rng.random_range(-1.0..1.0);
        let prior = (0..n).map(|_| 0.1 + draw() * draw()).map(f64::abs).collect();
        let rows = (0..t).map(|_| (0..n).map(|j| draw() * spread.powf(j as f64 / n as f64)).collect()).collect();
        let outputs = (0..t).map(|_| (0..m).map(|_| draw()).collect()).collect();
        Self { prior, rows, outputs }
    }

    fn m(&self) -> usize {
        self.outputs[0].len()
    }

    /// The engine after all rows.
    fn engine(&self) -> SquareRootRls {
        let mut rls = SquareRootRls::new(&self.prior, self.m());
        for (row, outputs) in self.rows.iter().zip(&self.outputs) {
            rls.update(&AlignedVec::from_slice(row), outputs, &mut SquareRootScratch::default()).expect("in range");
        }
        rls
    }

    /// `QR` of `[√prior; rows]` with its first `leading` columns: the least-squares coefficients,
    /// `leading × m`.
    fn coefficients(&self, leading: usize) -> DMatrix<f64> {
        let (n, t, m) = (leading, self.rows.len(), self.m());
        let a = DMatrix::from_fn(n + t, n, |i, j| match i.checked_sub(n) {
            Some(i) => self.rows[i][j],
            None => {
                if i == j {
                    self.prior[i].sqrt()
                } else {
                    0.0
                }
            }
        });
        let b = DMatrix::from_fn(n + t, m, |i, j| i.checked_sub(n).map_or(0.0, |i| self.outputs[i][j]));
        let qr = a.qr();
        qr.r().solve_upper_triangular(&(qr.q().transpose() * b)).expect("the prior makes it regular")
    }
}

fn relative(a: f64, b: f64, scale: f64) -> f64 {
    (a - b).abs() / scale.max(f64::MIN_POSITIVE)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn predictions_of_every_leading_block_equal_a_dense_solve(
        seed in 0u64..1000, n in 1usize..45, m in 1usize..11, t in 0usize..60, spread in prop::sample::select(vec![1.0, 1e3]),
    ) {
        let problem = Problem::random(seed, n, m, t + 1, spread);
        let (last_row, last_outputs) = (problem.rows[t].clone(), problem.outputs[t].clone());
        let before = Problem { rows: problem.rows[..t].to_vec(), outputs: problem.outputs.clone(), prior: problem.prior.clone() };
        let engine = before.engine();
        let row = AlignedVec::from_slice(&last_row);
        let mut scratch = SquareRootScratch::default();
        let mut prediction = vec![0.0; m];
        for leading in [1, n / 3, n / 2, n.saturating_sub(1), n].into_iter().filter(|l| *l > 0) {
            let tau = engine.predict(&row, leading, &mut prediction, &mut scratch);
            let x = before.coefficients(leading);
            let phi = DVector::from_column_slice(&last_row[..leading]);
            let expected = x.transpose() * &phi;
            for o in 0..m {
                let scale = (0..leading).map(|j| (x[(j, o)] * phi[j]).abs()).sum::<f64>();
                prop_assert!(relative(prediction[o], expected[o], scale) < 1e-10, "{} for {}", prediction[o], expected[o]);
            }
            let v = DMatrix::from_fn(leading, leading, |i, j| {
                before.rows.iter().map(|r| r[i] * r[j]).sum::<f64>() + if i == j { problem.prior[i] } else { 0.0 }
            });
            let dense_tau = 1.0 + phi.dot(&v.clone().cholesky().expect("positive definite").solve(&phi));
            prop_assert!(relative(tau, dense_tau, dense_tau) < 1e-7, "tau {tau} for {dense_tau}");
            let mut coefficients = vec![0.0; leading * m];
            engine.coefficients(leading, &mut coefficients);
            let scale = x.amax();
            prop_assert!(coefficients.iter().zip(x.iter()).all(|(a, b)| relative(*a, *b, scale) < 1e-7));

            // The fused step predicts the same bits and adds the same row.
            let (mut fused, mut apart) = (engine.clone(), engine.clone());
            let mut again = vec![0.0; m];
            let fused_tau = fused.predict_then_update(&row, &last_outputs, leading, &mut again, &mut scratch).expect("in range");
            prop_assert_eq!(fused_tau.to_bits(), tau.to_bits());
            prop_assert!(again.iter().zip(&prediction).all(|(a, b)| a.to_bits() == b.to_bits()));
            apart.update(&row, &last_outputs, &mut scratch).expect("in range");
            prop_assert_eq!(fused, apart);
        }
    }

    #[test]
    fn taking_a_row_back_equals_never_having_had_it(seed in 0u64..1000, n in 1usize..40, m in 1usize..4) {
        let with = Problem::random(seed, n, m, 2 * n + 4, 1.0);
        let mut engine = with.engine();
        let taken = seed as usize % with.rows.len();
        let mut scratch = SquareRootScratch::default();
        let row = AlignedVec::from_slice(&with.rows[taken]);
        engine.downdate(&row, &with.outputs[taken], 0.0, &mut scratch).expect("other rows remain");
        let keep = |i: &usize| *i != taken;
        let without = Problem {
            rows: (0..with.rows.len()).filter(keep).map(|i| with.rows[i].clone()).collect(),
            outputs: (0..with.rows.len()).filter(keep).map(|i| with.outputs[i].clone()).collect(),
            prior: with.prior,
        };
        let rebuilt = without.engine();
        for i in 0..n {
            for j in i..n {
                prop_assert!((engine.entry(i, j) - rebuilt.entry(i, j)).abs() < 1e-10 * rebuilt.entry(i, i).max(1.0));
            }
            for o in 0..m {
                prop_assert!((engine.output_entry(i, o) - rebuilt.output_entry(i, o)).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn by_hand() {
    // V = 4, then V = 4 + 9 = 13, S = 3·5.
    let mut rls = SquareRootRls::new(&[4.0], 1);
    let (mut scratch, mut prediction) = (SquareRootScratch::default(), [0.0]);
    let row = AlignedVec::from_slice(&[3.0]);
    assert_eq!(rls.update(&row, &[5.0], &mut scratch).expect("in range"), 1.0 + 9.0 / 4.0);
    assert!((rls.entry(0, 0) - 13.0_f64.sqrt()).abs() < 1e-15);
    let tau = rls.predict(&AlignedVec::from_slice(&[2.0]), 1, &mut prediction, &mut scratch);
    assert!((prediction[0] - 30.0 / 13.0).abs() < 1e-15 && (tau - (1.0 + 4.0 / 13.0)).abs() < 1e-15);
    assert!((rls.log_determinant(1) - 13.0_f64.ln()).abs() < 1e-15);
    // V and S are quartered: the same coefficient.
    rls.scale(0.25, 1e-100);
    assert!((rls.entry(0, 0) - 13.0_f64.sqrt() / 2.0).abs() < 1e-15);
    let mut coefficient = [0.0];
    rls.coefficients(1, &mut coefficient);
    assert!((coefficient[0] - 15.0 / 13.0).abs() < 1e-15);
    rls.scale(0.5, 100.0);
    assert_eq!(rls.entry(0, 0), 10.0);
}

#[test]
fn refusals_leave_no_trace() {
    let problem = Problem::random(3, 12, 2, 30, 1.0);
    let mut engine = problem.engine();
    let before = engine.clone();
    let mut scratch = SquareRootScratch::default();
    for value in [f64::NAN, f64::INFINITY, 1e200] {
        let row: AlignedVec = (0..12).map(|i| if i == 5 { value } else { 1.0 }).collect();
        assert!(engine.update(&row, &[1.0, 2.0], &mut scratch).is_err());
        assert!(engine.update(&AlignedVec::zeros(12), &[1.0, value], &mut scratch).is_err());
        assert_eq!(engine, before, "after {value}");
    }
    let foreign: AlignedVec = (0..12).map(|i| if i == 5 { 50.0 } else { 0.0 }).collect();
    let refused = engine.downdate(&foreign, &[0.0, 0.0], 0.0, &mut scratch).expect_err("such a row was never added");
    assert!(refused.pivot <= 0.0);
    assert!(
        engine.downdate(&AlignedVec::from_slice(&problem.rows[0]), &problem.outputs[0], 1.0, &mut scratch).is_err()
    );
    assert_eq!(engine, before);
}

/// Thousands of steps at a condition number that an explicit inverse does not survive: the lags of
/// a twice integrated walk, predicted as a dense QR of all rows predicts.
#[test]
fn a_long_run_stays_at_the_dense_solution() {
    let (n, t) = (16, 4000);
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut speed, mut place, mut series) = (0.0, 0.0, Vec::new());
    for _ in 0..t + n {
        speed += rng.random_range(-1.0..1.0);
        place += speed;
        series.push(place);
    }
    let lags = |k: usize| (1..=n).map(|a| series[k - a]).collect::<Vec<f64>>();
    let problem = Problem {
        prior: vec![1.0; n],
        rows: (n..t + n - 1).map(lags).collect(),
        outputs: (n..t + n - 1).map(|k| vec![series[k]]).collect(),
    };
    let last = lags(t + n - 1);
    let mut prediction = [0.0];
    let row = AlignedVec::from_slice(&last);
    problem.engine().predict(&row, n, &mut prediction, &mut SquareRootScratch::default());
    let x = problem.coefficients(n);
    let expected: f64 = (0..n).map(|j| x[(j, 0)] * last[j]).sum();
    assert!((prediction[0] - expected).abs() < 1e-9 * expected.abs(), "{} for {expected}", prediction[0]);
}

/// Rows that differ by more than all digits: the step is refused and undone, or leaves a factor
/// that predicts numbers.
#[test]
fn spikes_leave_numbers() {
    let (n, mut refused) = (36, 0);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for spike in [1e20, 1e60, 1e99] {
        let mut engine = SquareRootRls::new(&vec![0.5; n], 1);
        let (mut scratch, mut prediction) = (SquareRootScratch::default(), [0.0]);
        let mut window = AlignedVec::zeros(n);
        for t in 0..400 {
            let (y, u) = (if t == 200 { spike } else { rng.random_range(-1.0..1.0) }, rng.random_range(-1.0..1.0));
            let before = engine.clone();
            if engine.predict_then_update(&window, &[y], n, &mut prediction, &mut scratch).is_err() {
                assert_eq!(engine, before, "a refused step of spike {spike} left a trace");
                refused += 1;
            } else {
                assert!(prediction[0].is_finite() && engine.log_determinant(n).is_finite(), "{spike} at {t}");
            }
            for i in (2..n).rev() {
                window[i] = 0.7 * window[i - 2];
            }
            (window[0], window[1]) = (y, u);
        }
        assert!(spike > 1e30 || refused == 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Where every second row waits for the next, nothing else differs: the same bits as when each
    /// goes in at once.
    #[test]
    fn waiting_leaves_no_trace(seed in 0u64..1000, n in 136usize..180, m in 1usize..11, leading in 1usize..180) {
        let leading = leading.min(n);
        let t = 2 * n;
        let mut problem = Problem::random(seed, n, m, t, 1.0);
        for (k, row) in problem.rows.iter_mut().enumerate() {
            match k % 16 {
                // Rows that begin with zeros, are zero, or outweigh what came before.
                5 => row[..n / 3].fill(0.0),
                9 => row.fill(0.0),
                12 => row.iter_mut().for_each(|value| *value *= 1e4),
                _ => {}
            }
        }
        let mut waiting = SquareRootRls::new(&problem.prior, m);
        let mut prompt = waiting.clone();
        let mut scratch = SquareRootScratch::default();
        let mut predictions = [vec![0.0; m], vec![0.0; m], vec![0.0; m]];
        let [ahead, made, expected] = &mut predictions;
        for (k, (row, outputs)) in problem.rows.iter().zip(&problem.outputs).enumerate() {
            let row = AlignedVec::from_slice(row);
            if k % 7 == 6 {
                let tau = waiting.update(&row, outputs, &mut scratch).expect("in range");
                prop_assert_eq!(tau.to_bits(), prompt.update(&row, outputs, &mut scratch).expect("in range").to_bits());
                continue;
            }
            let taus = [
                waiting.predict(&row, leading, ahead, &mut scratch),
                waiting.predict_then_update(&row, outputs, leading, made, &mut scratch).expect("in range"),
                prompt.predict_then_update(&row, outputs, leading, expected, &mut scratch).expect("in range"),
            ];
            prompt.settle();
            prop_assert!(taus.iter().all(|tau| tau.to_bits() == taus[2].to_bits()), "{taus:?} at {k}");
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert!(bits(ahead) == bits(expected) && bits(made) == bits(expected), "row {k}");
            prop_assert!(waiting == prompt, "after row {k}");
            if k % 50 == 49 {
                // Reading and what is not a row find the factor of all rows.
                prop_assert_eq!(waiting.entry(n / 2, n - 1).to_bits(), prompt.entry(n / 2, n - 1).to_bits());
                prop_assert_eq!(waiting.log_determinant(n).to_bits(), prompt.log_determinant(n).to_bits());
                waiting.downdate(&row, outputs, 0.0, &mut scratch).expect("it was added");
                prompt.downdate(&row, outputs, 0.0, &mut scratch).expect("it was added");
                waiting.scale(0.99, 1e-100);
                prompt.scale(0.99, 1e-100);
            }
        }
    }
}

/// Scratch memory carries nothing from one engine to another, whatever their shapes.
#[test]
fn scratch_memory_is_shared() {
    let (many, few) = (Problem::random(1, 9, 4, 30, 1.0), Problem::random(2, 7, 3, 30, 1.0));
    let (mut engines, mut scratch) =
        ([SquareRootRls::new(&many.prior, 4), SquareRootRls::new(&few.prior, 3)], SquareRootScratch::default());
    for t in 0..30 {
        for (engine, problem) in engines.iter_mut().zip([&many, &few]) {
            engine
                .update(&AlignedVec::from_slice(&problem.rows[t]), &problem.outputs[t], &mut scratch)
                .expect("in range");
        }
    }
    assert_eq!(engines, [many.engine(), few.engine()]);
}

/// The same as the dense solver, while a row waits and when none does.
#[test]
fn rows_that_wait_are_learnt() {
    let (n, m) = (140, 3);
    let problem = Problem::random(8, n, m, 402, 1.0);
    let (mut scratch, mut prediction) = (SquareRootScratch::default(), vec![0.0; m]);
    for t in [400, 401] {
        let before = Problem {
            prior: problem.prior.clone(),
            rows: problem.rows[..t].to_vec(),
            outputs: problem.outputs[..t].to_vec(),
        };
        let mut engine = SquareRootRls::new(&before.prior, m);
        for (row, outputs) in before.rows.iter().zip(&before.outputs) {
            let row = AlignedVec::from_slice(row);
            engine.predict_then_update(&row, outputs, n, &mut prediction, &mut scratch).expect("in range");
        }
        engine.predict(&AlignedVec::from_slice(&problem.rows[t]), n, &mut prediction, &mut scratch);
        let x = before.coefficients(n);
        for o in 0..m {
            let terms = || (0..n).map(|j| x[(j, o)] * problem.rows[t][j]);
            let (expected, scale) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            assert!((prediction[o] - expected).abs() < 1e-11 * scale, "{} for {expected}", prediction[o]);
        }
    }
}
