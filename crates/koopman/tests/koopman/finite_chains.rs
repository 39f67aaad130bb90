//! Chains of finitely many states, whose operator is known: pairs are soon new on one side only,
//! then on none.

use mercer_kernels::Gaussian;
use mercer_koopman::{DictionaryShape, Eigenvalue, OperatorLearner, Sogd, SogdParams, StepSchedule, Verdict};
use mercer_testkit::oracle::Pair;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::{Outcome, path};

const SHAPES: [DictionaryShape; 2] = [DictionaryShape::Paired, DictionaryShape::Rectangular];

/// From 0 to 0 or 1, evenly, and from 1 to 0: eigenvalues 1 and −½.
fn two_states(steps: usize, seed: u64) -> Vec<Pair> {
    path([0.0, 1.0], [[0.5, 0.5], [1.0, 0.0]], steps, seed)
}

/// `P g`
fn apply<const N: usize>(transition: [[f64; N]; N], g: [f64; N]) -> [f64; N] {
    transition.map(|row| row.iter().zip(g).map(|(p, g)| p * g).sum())
}

/// Whatever comes first, either shape finds the chain when its steps diminish.
#[test]
fn steps_that_diminish_find_the_transition_matrix() -> Outcome {
    // The second chain goes round: the other eigenvalues have the sum 0.2 − 1 and the product
    // 0.5975.
    let (two, three) = ([[0.5, 0.5], [1.0, 0.0]], [[0.1, 0.8, 0.1], [0.05, 0.05, 0.9], [0.85, 0.1, 0.05]]);
    for shape in SHAPES {
        for seed in 0..6 {
            let (states, pairs) = ([0.0, 1.0], two_states(30_000, seed));
            assert_finds(shape, states, two, &[(1.0, 0.0), (-0.5, 0.0)], &pairs)?;
            let states = [-1.0, 0.2, 1.5];
            let pairs = path(states, three, 60_000, seed);
            let im = (0.5975_f64 - 0.4 * 0.4).sqrt();
            assert_finds(shape, states, three, &[(1.0, 0.0), (-0.4, im), (-0.4, -im)], &pairs)?;
        }
    }
    Ok(())
}

fn assert_finds<const N: usize>(
    shape: DictionaryShape,
    states: [f64; N],
    transition: [[f64; N]; N],
    eigenvalues: &[(f64, f64)],
    pairs: &[Pair],
) -> Outcome {
    let step = StepSchedule::Power { eta: 10.0, exponent: 1.0, offset: 20.0 };
    let mut learner = Sogd::on_states(Gaussian::new(0.7)?, 1, SogdParams::default().step(step).shape(shape))?;
    for (x, x_plus) in pairs {
        learner.update(x, x_plus)?;
    }
    let operator = learner.operator();
    assert_eq!((operator.inputs().len(), operator.outputs().len()), (N, N), "{shape:?}");
    assert_eq!(learner.forced_rejections(), 0, "{shape:?}");
    for (Eigenvalue { re, im }, expected) in operator.eigenvalues()?.iter().zip(eigenvalues) {
        assert!((re - expected.0).hypot(im - expected.1) < 0.03, "{shape:?}: {re} + {im}i for {expected:?}");
    }
    let mut expected = states;
    for (n, coefficients) in operator.powers(&operator.observe(|x| x[0]), 3)?.iter().enumerate() {
        expected = apply(transition, expected);
        for (state, expected) in states.iter().zip(expected) {
            let forecast = operator.evaluate(coefficients, &[*state])?;
            assert!((forecast - expected).abs() < 0.03, "{shape:?}: {n} from {state}: {forecast} for {expected}");
        }
    }
    Ok(())
}

/// The result of a constant step has a spread of the order of √η that does not fall with time: at η
/// = 0.3 it is that of a mean over the last few draws from state 0. An eigenvalue of −½ is seen at
/// −0.35 as well as at −0.65, and is right in the mean over time. (The pairs are drawn one by one:
/// along a path, where x is the x⁺ learnt last, the mean has a bias of the order of η as well.)
#[test]
fn a_constant_step_is_right_in_the_mean_alone() -> Outcome {
    for shape in SHAPES {
        let mut learner = Sogd::on_states(Gaussian::new(0.7)?, 1, SogdParams::default().shape(shape))?;
        let (mut rng, mut seen) = (ChaCha8Rng::seed_from_u64(5), Vec::new());
        for t in 0..40_000 {
            let (stays, x) = (rng.random::<bool>(), f64::from(u8::from(rng.random::<bool>())));
            learner.update(&[x], &[if x > 0.5 || stays { 0.0 } else { 1.0 }])?;
            if t >= 1000 && t % 3 == 0 {
                let values = learner.operator().eigenvalues()?;
                assert!(values.iter().any(|value| (value.re - 1.0).abs() < 1e-6), "{values:?}");
                seen.push(values.iter().map(|value| value.re).fold(f64::INFINITY, f64::min));
            }
        }
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let spread = (seen.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / seen.len() as f64).sqrt();
        assert!((mean + 0.5).abs() < 0.02 && (0.1..0.3).contains(&spread), "{shape:?}: {mean} ± {spread}");
    }
    Ok(())
}

/// The limit of pairs: on a fine grid under a wide kernel, a point that is no repetition is soon
/// dependent to the guard, and takes the new side of its pair with it.
#[test]
fn on_a_fine_grid_rectangular_dictionaries_keep_what_pairs_cannot() -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    // x in 33 places of [−1, 1], and x⁺ anywhere.
    let pairs: Vec<Pair> = (0..3000)
        .map(|_| {
            let x = (rng.random_range(0..33) as f64) / 16.0 - 1.0;
            (vec![x], vec![6.0 * x * x + rng.random::<f64>() - 3.0])
        })
        .collect();
    let mut forced = Vec::new();
    for shape in SHAPES {
        let mut learner = Sogd::on_states(Gaussian::new(1.0)?, 1, SogdParams::default().shape(shape))?;
        let mut one_sided = 0;
        for (x, x_plus) in &pairs {
            one_sided += u64::from(learner.update(x, x_plus)?.verdict == Verdict::OneSided);
        }
        assert_eq!(learner.forced_rejections(), one_sided, "{shape:?}");
        forced.push(one_sided);
    }
    assert!(forced[0] > 100 && forced[1] == 0, "{forced:?}");
    Ok(())
}
