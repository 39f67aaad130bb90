//! Every learner against its definition, written from the paper's dense formulas in
//! `mercer-testkit`: the same prediction in every round, on easy and on hostile streams.

use mercer_core::ExampleError;
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points, TaylorFeatures};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Fogd, FogdParams, KernelAwv, KernelKrr, KernelRidgeParams,
    Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, NewtonSteps, Nogd, NogdParams, NonsAld, NonsAldParams,
    NystromParams, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrFrozen, PkrrNystrom, PkrrTaylor, ProsNKons, Regressor,
    RegressorExt, SketchedKons, SketchedKonsParams, TaylorParams,
};
use mercer_sparsify::Probe;
use mercer_testkit::oracle::{self, Example, Trace};
use mercer_testkit::streams;
use nalgebra::{DMatrix, DVector};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::common;

type TestResult = Result<(), Box<dyn std::error::Error>>;

const SIGMA: f64 = 0.8;

fn kernel() -> Gaussian {
    Gaussian::new(SIGMA).expect("a positive width")
}

/// The learner's own kernel values, bit for bit: at small thresholds a last-bit difference of the
/// exponential alone moves predictions by 1e-10.
fn same_kernel(x: &[f64], z: &[f64]) -> f64 {
    let mut row = AlignedVec::new();
    kernel().row(&Points::from_rows(x.len(), x), z, &mut row);
    row[0]
}

/// The streams that every oracle with a well-conditioned dictionary takes.
fn all_streams(count: usize) -> Vec<(&'static str, Vec<Example>)> {
    vec![
        ("smooth", streams::smooth_noisy(1, count, 2, 0.1)),
        ("near duplicates", streams::near_duplicates(2, count, 2)),
        ("exact duplicates", streams::exact_duplicates(3, count, 2, count / 4)),
        ("constant column", streams::constant_column(4, count, 3)),
        ("far away", streams::far_away(5, count, 2)),
    ]
}

/// Runs the learner and demands the oracle's predictions, and its dictionary size when it is that
/// of the learner.
fn check(
    name: &str,
    mut learner: impl Regressor,
    stream: &[Example],
    trace: &Trace,
    tolerance: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut worst: f64 = 0.0;
    for ((x, y), expected) in stream.iter().zip(&trace.predictions) {
        let pure = learner.predict(x)?;
        let prediction = learner.predict_then_update(x, *y)?;
        common::same(name, pure, prediction);
        worst = worst.max((prediction - expected).abs() / expected.abs().max(1.0));
    }
    assert!(worst <= tolerance, "{name}: predictions differ from the oracle's by {worst:e}");
    Ok(())
}

#[test]
fn nons_ald_equals_the_literal_svd_algorithm() -> TestResult {
    for (name, stream) in all_streams(160) {
        // A radius that binds and one that does not; thresholds down to where the literal basis
        // still exists.
        for (mu, alpha, radius) in [(1.0, 1e-2, 0.3), (0.1, 1e-3, 1.0), (5.0, 1e-5, 0.5)] {
            let max_dictionary = (alpha == 1e-5).then_some(25);
            let expected = oracle::nons_ald_svd(
                &stream,
                &same_kernel,
                oracle::NonsAldParams { mu, alpha, radius, label_bound: 1.0, max_dictionary },
            );
            let params = NonsAldParams::default()
                .steps(NewtonSteps::Printed)
                .mu(mu)
                .alpha(alpha)
                .radius(radius)
                .label_bound(1.0)
                .max_dictionary(max_dictionary);
            let mut learner = NonsAld::new(kernel(), stream[0].0.len(), params)?;
            check(&format!("{name}, alpha {alpha}"), learner.clone(), &stream, &expected, 1e-10)?;
            for (x, y) in &stream {
                learner.update(x, *y)?;
            }
            assert_eq!(learner.dictionary_size(), expected.dictionary.len(), "{name}: dictionary size");
            for (j, t) in expected.dictionary.iter().enumerate() {
                assert_eq!(learner.basis().points().point(j), stream[*t].0, "{name}: kept point {j}");
            }
        }
    }
    Ok(())
}

#[test]
fn krls_equals_batch_least_squares() -> TestResult {
    for (name, stream) in all_streams(120) {
        for nu in [1e-2, 1e-3, 1e-4] {
            let expected = oracle::krls_qr(&stream, &same_kernel, nu, 0.0, None);
            let learner = Krls::new(kernel(), stream[0].0.len(), KrlsParams::default().nu(nu).lambda(0.0))?;
            check(&format!("{name}, nu {nu}"), learner, &stream, &expected, 1e-10)?;
        }
        for lambda in [0.1, 2.0] {
            let expected = oracle::krls_qr(&stream, &same_kernel, 1e-3, lambda, Some(12));
            let params = KrlsParams::default().nu(1e-3).lambda(lambda).forgetting(1.0).max_dictionary(Some(12));
            let learner = Krls::new(kernel(), stream[0].0.len(), params)?;
            check(&format!("{name}, lambda {lambda}"), learner, &stream, &expected, 1e-10)?;
        }
    }
    Ok(())
}

/// At ν = 1e-5 the coordinates of two correct Cholesky factors differ by more than 1e-10 of a
/// prediction already, so the recursion is compared with a QR of all rows in the learner's own
/// coordinates.
#[test]
fn krls_recursion_equals_a_qr_of_all_rows_in_its_coordinates() -> TestResult {
    for (name, stream) in all_streams(150) {
        for nu in [1e-2, 1e-3, 1e-4, 1e-5] {
            let d = stream[0].0.len();
            let mut learner = Krls::new(kernel(), d, KrlsParams::default().nu(nu).lambda(0.0))?;
            let (mut rows, mut targets, mut probe) = (Vec::<Vec<f64>>::new(), Vec::new(), Probe::default());
            let mut worst: f64 = 0.0;
            for (x, y) in &stream {
                learner.basis().probe(x, &mut probe);
                let mut row = probe.coordinates().to_vec();
                let width = row.len();
                let prediction = learner.predict_then_update(x, *y)?;
                if width > 0 {
                    let matrix = DMatrix::from_fn(rows.len(), width, |i, j| rows[i].get(j).copied().unwrap_or(0.0));
                    let qr = matrix.qr();
                    let right = qr.q().tr_mul(&DVector::from_column_slice(&targets));
                    let w = qr.r().solve_upper_triangular(&right).ok_or("a singular least-squares problem")?;
                    let expected: f64 = w.iter().zip(&row).map(|(w, phi)| w * phi).sum();
                    worst = worst.max((prediction - expected).abs() / expected.abs().max(1.0));
                }
                if learner.dictionary_size() > width {
                    row.push(learner.basis().factor().entry(width, width));
                }
                rows.push(row);
                targets.push(*y);
            }
            assert!(worst <= 1e-10, "{name}, nu {nu}: predictions differ from batch QR by {worst:e}");
        }
    }
    Ok(())
}

#[test]
fn krls_equals_engels_recursion_while_that_holds() -> TestResult {
    for (name, stream) in all_streams(120) {
        let expected = oracle::krls_engel(&stream, &same_kernel, 1e-2);
        let learner = Krls::new(kernel(), stream[0].0.len(), KrlsParams::default().nu(1e-2).lambda(0.0))?;
        check(name, learner, &stream, &expected, 1e-8)?;
    }
    Ok(())
}

#[test]
fn aogd_ald_equals_its_functions_in_the_rkhs() -> TestResult {
    for (name, stream) in all_streams(120) {
        for (radius, alpha, growth_limit) in [(2.0, 1e-3, None), (0.4, 1e-2, None), (1.0, 1e-3, Some(9))] {
            let expected = oracle::aogd_ald(&stream, &same_kernel, radius, alpha, growth_limit);
            let params = AogdAldParams::default().radius(radius).alpha(alpha).growth_limit(growth_limit);
            let learner = AogdAld::new(kernel(), stream[0].0.len(), params)?;
            check(&format!("{name}, radius {radius}"), learner, &stream, &expected, 1e-10)?;
        }
    }
    Ok(())
}

#[test]
fn kogd_equals_its_functions_in_the_rkhs() -> TestResult {
    for (name, stream) in all_streams(120) {
        for radius in [0.3, 2.0] {
            let expected = oracle::kogd(&stream, &same_kernel, radius);
            let learner = Kogd::new(kernel(), stream[0].0.len(), KogdParams::default().radius(radius))?;
            check(name, learner, &stream, &expected, 1e-10)?;
        }
    }
    Ok(())
}

#[test]
fn kons_equals_its_dense_dual_form() -> TestResult {
    for (name, stream) in all_streams(80) {
        for (mu, clip) in [(1.0, None), (0.2, Some(0.4))] {
            let expected = oracle::kons(&stream, &same_kernel, mu, 0.125, clip);
            let learner = Kons::new(
                kernel(),
                stream[0].0.len(),
                KonsParams::default().mu(mu).eta(0.125).clip(clip).steps(NewtonSteps::Printed),
            )?;
            check(&format!("{name}, mu {mu}"), learner, &stream, &expected, 1e-10)?;
        }
    }
    Ok(())
}

/// The uniforms that the seeded ChaCha8 of a learner draws.
fn coins(seed: u64, stream: u64, count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    (0..count).map(|_| rng.random()).collect()
}

#[test]
fn sketched_kons_equals_its_dense_form_for_the_same_coins() -> TestResult {
    for (name, stream) in all_streams(80) {
        for seed in [3, 4] {
            let uniforms = coins(seed, 0x736b_6f6e, stream.len());
            let expected = oracle::sketched_kons(
                &stream,
                &same_kernel,
                oracle::SketchedKonsParams { mu: 0.5, eta: 0.125, gamma: 0.2, beta: 1.5 },
                &uniforms,
            );
            let params = SketchedKonsParams::default()
                .steps(NewtonSteps::Printed)
                .mu(0.5)
                .eta(0.125)
                .gamma(0.2)
                .beta(1.5)
                .seed(seed);
            let learner = SketchedKons::new(kernel(), stream[0].0.len(), params)?;
            assert_eq!(learner.curvature().uniform().to_bits(), uniforms[0].to_bits());
            let mut to_the_end = learner.clone();
            stream.iter().try_for_each(|(x, y)| to_the_end.update(x, *y))?;
            assert_eq!(to_the_end.curved_rounds(), expected.dictionary.len(), "{name}");
            check(name, learner, &stream, &expected, 1e-10)?;
        }
    }
    Ok(())
}

#[test]
fn pros_and_con_equal_their_literal_forms_for_the_same_coins() -> TestResult {
    // Near duplicates are left out: the coin may keep both of a pair, and the literal basis does
    // not exist then.
    for (name, stream) in all_streams(200).into_iter().filter(|(name, _)| !name.contains("duplicates")) {
        for (gamma, clip) in [(2.0, 1.0), (0.5, 0.3)] {
            for seed in [1, 2] {
                let uniforms = coins(seed, 0x6b6f_7273, stream.len());
                let literal = oracle::ProsConParams {
                    alpha: 0.7,
                    clip,
                    kors: oracle::KorsParams { gamma, epsilon: 0.5, beta: 1.0 },
                    max_dictionary: Some(18),
                };
                let params = ConKonsParams::default()
                    .steps(NewtonSteps::Printed)
                    .alpha(0.7)
                    .gamma(gamma)
                    .beta(1.0)
                    .epsilon(0.5)
                    .clip(clip)
                    .max_dictionary(Some(18))
                    .seed(seed);
                let d = stream[0].0.len();
                let expected = oracle::pros_n_kons(&stream, &same_kernel, literal, &uniforms);
                check(&format!("PROS {name}"), ProsNKons::new(kernel(), d, params.into())?, &stream, &expected, 1e-9)?;
                let expected = oracle::con_kons(&stream, &same_kernel, literal, &uniforms);
                check(&format!("CON {name}"), ConKons::new(kernel(), d, params)?, &stream, &expected, 1e-9)?;
            }
        }
    }
    Ok(())
}

#[test]
fn fogd_equals_explicit_features() -> TestResult {
    for (name, stream) in all_streams(120).into_iter().filter(|(name, _)| *name != "far away") {
        let params = FogdParams::default().sigma(SIGMA).features(37).step(0.2).seed(11);
        let learner = Fogd::new(stream[0].0.len(), params)?;
        let frequencies: Vec<Vec<f64>> = (0..37).map(|j| learner.feature_map().frequency(j)).collect();
        let expected = oracle::fogd(&stream, &frequencies, 0.2);
        check(name, learner, &stream, &expected, 1e-12)?;
    }
    Ok(())
}

#[test]
fn nogd_equals_functions_then_eigen_features() -> TestResult {
    for (name, stream) in all_streams(120) {
        for (budget, rank, radius) in [(12, 12, None), (20, 6, None), (12, 5, Some(0.5))] {
            let expected = oracle::nogd(&stream, &same_kernel, oracle::NogdParams { budget, rank, step: 0.2, radius });
            let params = NogdParams::default().budget(budget).rank(rank).step(0.2).radius(radius);
            let learner = Nogd::new(kernel(), stream[0].0.len(), params)?;
            check(&format!("{name}, rank {rank}"), learner, &stream, &expected, 1e-9)?;
        }
    }
    Ok(())
}

#[test]
fn kernel_awv_and_krr_equal_the_minimisation_that_defines_them() -> TestResult {
    for (name, stream) in all_streams(80) {
        for lambda in [0.05, 1.0] {
            let d = stream[0].0.len();
            let trace = |vovk| Trace {
                predictions: oracle::kernel_ridge(&stream, &same_kernel, lambda, vovk),
                dictionary: Vec::new(),
            };
            let params = KernelRidgeParams::default().lambda(lambda);
            check(name, KernelAwv::new(kernel(), d, params)?, &stream, &trace(true), 1e-10)?;
            check(name, KernelKrr::new(kernel(), d, params)?, &stream, &trace(false), 1e-10)?;
        }
    }
    Ok(())
}

#[test]
fn taylor_learners_equal_kernel_ridge_with_the_truncated_kernel() -> TestResult {
    let features = TaylorFeatures::new(SIGMA, 3, vec![0.1, -0.2], 1 << 20)?;
    let truncated = |x: &[f64], z: &[f64]| {
        let (mut a, mut b) = (AlignedVec::new(), AlignedVec::new());
        features.map(x, &mut a);
        features.map(z, &mut b);
        a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
    };
    let stream = streams::smooth_noisy(6, 80, 2, 0.1);
    let params = TaylorParams::default().sigma(SIGMA).degree(3).lambda(0.3).centre(Some(vec![0.1, -0.2]));
    for vovk in [true, false] {
        let predictions = oracle::kernel_ridge(&stream, &truncated, 0.3, vovk);
        let mut worst: f64 = 0.0;
        let mut learner: Box<dyn Regressor> = if vovk {
            Box::new(PkawvTaylor::new(2, params.clone())?)
        } else {
            Box::new(PkrrTaylor::new(2, params.clone())?)
        };
        for ((x, y), expected) in stream.iter().zip(&predictions) {
            let pure = learner.predict(x)?;
            worst = worst.max((learner.predict_then_update(x, *y)? - expected).abs()).max((pure - expected).abs());
        }
        assert!(worst < 1e-12, "vovk {vovk}: {worst:e}");
    }
    Ok(())
}

#[test]
fn nystrom_learners_equal_the_projected_minimisation() -> TestResult {
    for (name, stream) in all_streams(80) {
        for (mu, seed) in [(0.3, 1), (0.02, 2)] {
            // The oracle's sampler tosses for the first point too; with u = 0 it keeps it, as the
            // learner does untossed.
            let mut uniforms = vec![0.0];
            uniforms.extend(coins(seed, 0x6b6f_7273, stream.len()));
            let sampler = oracle::KorsParams { gamma: mu, epsilon: 0.5, beta: 1.0 };
            let accepted = oracle::kors(&stream, &same_kernel, sampler, &uniforms).accepted;
            let kept: Vec<Vec<usize>> = (0..stream.len()).map(|t| (0..=t).filter(|&s| accepted[s]).collect()).collect();
            let d = stream[0].0.len();
            let params = NystromParams::default().lambda(0.5).mu(mu).seed(seed);
            let trace = |vovk| Trace {
                predictions: oracle::projected_ridge(&stream, &same_kernel, 0.5, vovk, &kept),
                dictionary: Vec::new(),
            };
            check(&format!("PKAWV {name}"), PkawvNystrom::new(kernel(), d, params)?, &stream, &trace(true), 1e-8)?;
            let mut learner = PkrrNystrom::new(kernel(), d, params)?;
            check(&format!("PKRR {name}"), learner.clone(), &stream, &trace(false), 1e-8)?;
            for (x, y) in &stream {
                learner.update(x, *y)?;
            }
            let spanning = oracle::independent(&stream, &same_kernel, &kept[stream.len() - 1]);
            assert_eq!(learner.dictionary_size(), spanning.len(), "{name}: kept points");
        }
    }
    Ok(())
}

#[test]
fn learners_with_inputs_known_beforehand_equal_the_minimisation_in_the_complete_span() -> TestResult {
    for (name, stream) in all_streams(60) {
        let mut uniforms = vec![0.0];
        uniforms.extend(coins(4, 0x6b6f_7273, stream.len()));
        let sampler = oracle::KorsParams { gamma: 0.05, epsilon: 0.5, beta: 1.0 };
        let dictionary = oracle::kors(&stream, &same_kernel, sampler, &uniforms).dictionary;
        let kept = vec![dictionary; stream.len()];
        let (d, inputs) = (stream[0].0.len(), stream.iter().flat_map(|(x, _)| x.clone()).collect::<Vec<f64>>());
        let params = NystromParams::default().lambda(0.5).mu(0.05).seed(4);
        let awv = PkawvFrozen::new(kernel(), d, &inputs, params)?;
        let ridge = PkrrFrozen::new(kernel(), d, &inputs, params)?;
        assert_eq!(awv.dictionary_size(), oracle::independent(&stream, &same_kernel, &kept[0]).len(), "{name}");
        let learners: [(bool, Box<dyn Regressor>); 2] = [(true, Box::new(awv)), (false, Box::new(ridge))];
        for (vovk, mut learner) in learners {
            let expected = oracle::projected_ridge(&stream, &same_kernel, 0.5, vovk, &kept);
            for ((x, y), expected) in stream.iter().zip(expected) {
                let prediction = learner.predict_then_update(x, *y)?;
                assert!((prediction - expected).abs() < 1e-9, "{name}, vovk {vovk}: {prediction} against {expected}");
            }
        }
    }
    Ok(())
}

#[test]
fn inputs_known_beforehand_are_checked() -> TestResult {
    let params = NystromParams::default();
    let refused = |inputs: &[f64]| PkawvFrozen::new(kernel(), 2, inputs, params).map(drop);
    assert_eq!(refused(&[0.0, 1.0, 2.0]), Err(ExampleError::Dimension { expected: 2, got: 1 }.into()));
    assert!(matches!(refused(&[0.0, f64::NAN]), Err(Error::Example(ExampleError::NonFiniteInput { index: 1, .. }))));
    // Without inputs there is nothing to span: the zero function.
    let mut empty = PkawvFrozen::new(kernel(), 2, &[], params)?;
    assert_eq!(empty.predict_then_update(&[0.5, 0.5], 1.0)?, 0.0);
    Ok(())
}
