//! The batch estimates: their defining equations, and where they must agree with each other.

use mercer_kernels::{Gaussian, Kernel, Linear, Points};
use mercer_koopman::{Budget, OperatorLearner, Sogd, SogdParams, StepSchedule, batch};

use crate::support::{Outcome, planar_pairs};

fn points(rows: &[Vec<f64>]) -> Points {
    Points::from_rows(rows[0].len(), &rows.concat())
}

#[test]
fn the_regularised_weights_invert_the_gram_matrix() -> Outcome {
    let (inputs, outputs): (Vec<_>, Vec<_>) = planar_pairs(21, 30).into_iter().unzip();
    let (kernel, lambda, n) = (Gaussian::new(0.5)?, 0.02, 30);
    let operator = batch::regularised(kernel, points(&inputs), kernel, points(&outputs), lambda)?;
    let weights = operator.weights();
    for i in 0..n {
        for j in 0..n {
            let product: f64 = (0..n)
                .map(|k| {
                    let gram = kernel.evaluate(&inputs[k], &inputs[j]) + if k == j { 30.0 * lambda } else { 0.0 };
                    weights[i * n + k] * gram
                })
                .sum();
            assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
        }
    }
    assert!(batch::regularised(kernel, points(&inputs), kernel, points(&outputs[1..]), lambda).is_err());
    assert!(batch::regularised(kernel, points(&inputs), kernel, points(&outputs), 0.0).is_err());
    Ok(())
}

#[test]
fn nystrom_with_every_landmark_is_the_full_estimate() -> Outcome {
    let (inputs, outputs): (Vec<_>, Vec<_>) = planar_pairs(22, 300).into_iter().unzip();
    let (inputs, outputs, kernel, lambda) = (points(&inputs), points(&outputs), Gaussian::new(0.5)?, 1e-3);
    let full = batch::regularised(kernel, inputs.clone(), kernel, outputs.clone(), lambda)?;
    let nystrom = batch::nystrom_edmd(kernel, &inputs, kernel, &outputs, &inputs, &outputs, lambda)?;
    assert!(full.hs_distance(&nystrom)? < 1e-4 * full.hs_norm());
    // The more landmarks, the closer.
    let mut last = full.hs_norm();
    for stride in [20, 6, 2] {
        let some: Vec<Vec<f64>> = (0..300).step_by(stride).map(|i| inputs.point(i)).collect();
        let few = batch::nystrom_edmd(kernel, &points(&some), kernel, &points(&some), &inputs, &outputs, lambda)?;
        let distance = few.hs_distance(&full)?;
        assert!(distance > 1e-6 && distance < 0.8 * last, "every {stride}th: {distance} after {last}");
        last = distance;
    }
    Ok(())
}

/// A chain whose pairs come in exact proportion: the data's `U_λ` is the chain's.
#[test]
fn a_finite_chain_is_the_estimate_of_its_own_frequencies() -> Outcome {
    let states = [vec![0.0], vec![1.0], vec![2.5]];
    // Stationary (¼, ½, ¼): twelve pairs (i, j), counts π_i P_ij.
    let counts = [[1, 2, 0], [2, 2, 2], [0, 2, 1]];
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let (mut transitions, mut weights) = (Vec::new(), Vec::new());
    for (i, row) in counts.iter().enumerate() {
        let total: usize = row.iter().sum();
        weights.push(total as f64 / 12.0);
        for (j, count) in row.iter().enumerate() {
            transitions.push(*count as f64 / total as f64);
            for _ in 0..*count {
                inputs.push(states[i].clone());
                outputs.push(states[j].clone());
            }
        }
    }
    let (kernel, lambda) = (Gaussian::new(0.9)?, 0.05);
    let chain = batch::finite_chain(kernel, points(&states), &transitions, &weights, lambda)?;
    let data = batch::regularised(kernel, points(&inputs), kernel, points(&outputs), lambda)?;
    assert!(chain.hs_distance(&data)? < 1e-7);
    // And a small step leads there.
    let params = SogdParams::default()
        .step(StepSchedule::Power { eta: 4.0, exponent: 1.0, offset: 20.0 })
        .lambda(lambda)
        .budget(Budget::Constant(0.0));
    let mut learner = Sogd::on_states(kernel, 1, params)?;
    for t in 0..60_000 {
        let k = (t * 5) % 12;
        learner.update(&inputs[k], &outputs[k])?;
    }
    let distance = learner.operator().hs_distance(&chain)?;
    assert!(distance < 0.02 * chain.hs_norm(), "{distance} of {}", chain.hs_norm());
    Ok(())
}

/// On linear observables of a linear map, kernel EDMD finds the map.
#[test]
fn kernel_edmd_of_a_linear_map() -> Outcome {
    let inputs: Vec<Vec<f64>> = (0..12).map(|i| vec![(i as f64).sin(), (2.3 * i as f64).cos()]).collect();
    let outputs: Vec<Vec<f64>> = inputs.iter().map(|x| vec![0.9 * x[0], 0.4 * x[1]]).collect();
    let operator = batch::kernel_edmd(Linear, points(&inputs), Linear, points(&outputs), 1e-10)?;
    let pairs = operator.eigen(3)?;
    let moduli: Vec<f64> = pairs.values.iter().map(|value| value.modulus()).collect();
    assert!((moduli[0] - 0.9).abs() < 1e-10 && (moduli[1] - 0.4).abs() < 1e-10 && moduli[2] < 1e-7, "{moduli:?}");
    let values = operator.evaluate_real_parts(&pairs, &Points::from_rows(2, &[1.0, 0.0, 0.0, 1.0, 2.0, 5.0]))?;
    // f₀ ∝ first coordinate, f₁ ∝ second.
    assert!((values[0][2] / values[0][0] - 2.0).abs() < 1e-8 && (values[0][1] / values[0][0]).abs() < 1e-8);
    assert!((values[1][2] / values[1][1] - 5.0).abs() < 1e-8 && (values[1][0] / values[1][1]).abs() < 1e-8);
    Ok(())
}
