//! Read-outs with a known answer: losses, many functions at once, value iteration.

use mercer_kernels::{Gaussian, Kernel, Points, Product};
use mercer_koopman::Error;
use mercer_koopman::{
    DenseSogd, DenseSogdParams, KernelOperator, OperatorLearner, Sogd, SogdParams, ValueIterationParams,
    value_iteration,
};

use crate::support::{Outcome, planar_pairs};

#[test]
fn the_loss_is_the_same_in_both_frames_and_in_the_step() -> Outcome {
    let (kernel, pairs) = (Gaussian::new(0.5)?, planar_pairs(31, 60));
    let mut sparse = Sogd::on_states(kernel, 2, SogdParams::default())?;
    let mut dense = DenseSogd::new(kernel, 2, kernel, 2, DenseSogdParams::default())?;
    for (t, (x, x_plus)) in pairs.iter().enumerate() {
        let (by_read_out, in_dense) = (sparse.operator().loss(x, x_plus)?, dense.operator().loss(x, x_plus)?);
        let in_step = sparse.update(x, x_plus)?.loss.ok_or("no loss given")?;
        dense.update(x, x_plus)?;
        assert!((by_read_out - in_step).abs() < 1e-12, "round {t}: {by_read_out} against {in_step}");
        // The budget is small: the operators are close, and so are the losses.
        assert!((by_read_out - in_dense).abs() < 0.02, "round {t}: {by_read_out} against {in_dense}");
    }
    Ok(())
}

#[test]
fn many_functions_at_many_points() -> Outcome {
    let pairs = planar_pairs(32, 50);
    let mut learner = Sogd::on_states(Gaussian::new(0.5)?, 2, SogdParams::default())?;
    for (x, x_plus) in &pairs {
        learner.update(x, x_plus)?;
    }
    let operator = learner.operator();
    let powers = operator.powers(&operator.observe(|x| x[1]), 3)?;
    let functions: Vec<&[f64]> = powers.iter().map(Vec::as_slice).collect();
    let grid: Vec<f64> = (0..11).flat_map(|i| [f64::from(i) * 0.1 - 0.5, 0.05 * f64::from(i)]).collect();
    let points = Points::from_rows(2, &grid);
    let values = operator.evaluate_all(&functions, &points)?;
    for (function, values) in functions.iter().zip(&values) {
        for (p, value) in values.iter().enumerate() {
            assert!((value - operator.evaluate(function, &points.point(p))?).abs() < 1e-12);
        }
    }
    assert!(matches!(operator.evaluate_all(&[&[1.0]], &points), Err(Error::Values { .. })));
    assert!(operator.observe(|_| 1.0).len() == operator.outputs().len());
    assert!(matches!(operator.pull_back(&[f64::NAN]), Err(Error::Values { .. })));
    Ok(())
}

/// Five cells in a row, steps to the left and right, reward 1 at the right end: values known in
/// closed form.
#[test]
fn value_iteration_solves_a_corridor() -> Outcome {
    let (cells, discount) = (5, 0.9);
    let (mut inputs, mut outputs) = (Points::new(2), Points::new(1));
    for cell in 0..cells {
        for action in [-1, 1] {
            inputs.push(&[f64::from(cell), f64::from(action)]);
            outputs.push(&[f64::from((cell + action).clamp(0, cells - 1))]);
        }
    }
    // Kernels so narrow that the points are orthogonal; weights far from 1, as after small steps.
    let kernel = Product::new(Gaussian::new(0.05)?, Gaussian::new(0.05)?, 1);
    let n = inputs.len();
    let weights: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 0.01 } else { 0.0 }).collect();
    let operator = KernelOperator::from_weights(kernel, inputs, Gaussian::new(0.05)?, outputs, &weights)?;
    let actions = Points::from_rows(1, &[-1.0, 0.3, 1.0]);
    let reward = |state: &[f64], _: &[f64]| if state[0] > 3.5 { 1.0 } else { 0.0 };
    let params = ValueIterationParams::default().discount(discount).tolerance(1e-12);
    let policy = value_iteration(&operator, &actions, reward, params)?;
    for cell in 0..cells {
        // Staying at the right end earns 1/(1 − γ); cell c is 4 − c steps away.
        let expected = discount.powi(cells - 1 - cell) / (1.0 - discount);
        let (action, value) = policy.greedy(&[f64::from(cell)], reward)?;
        assert!((value - expected).abs() < 1e-9, "cell {cell}: {value} against {expected}");
        assert_eq!(action, 2, "cell {cell}: always to the right; 0.3 is an action of which nothing is known");
        assert_eq!(policy.continuation(&[f64::from(cell)])?.len(), 3);
    }
    assert_eq!(policy.values.len(), n);
    // Without the division the future counts for a hundredth: the corridor is worth almost nothing.
    let myopic = value_iteration(&operator, &actions, reward, params.normalised(false))?;
    assert!(myopic.greedy(&[0.0], reward)?.1 < 1e-6);
    assert!(value_iteration(&operator, &Points::new(1), reward, params).is_err());
    assert!(value_iteration(&operator, &actions, |_, _| f64::NAN, params).is_err());
    assert!(value_iteration(&operator, &actions, reward, params.discount(1.0)).is_err());
    assert!((operator.input_kernel().self_value(&[0.0, 0.0]) - 1.0).abs() < 1e-15);
    Ok(())
}
