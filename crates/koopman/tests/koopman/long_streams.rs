//! A hundred thousand steps on AR(1): what the budget costs, and that nothing blows up.

use mercer_kernels::{Gaussian, Points};
use mercer_koopman::{
    Budget, DenseSogd, DenseSogdParams, KernelOperator, OperatorLearner, Sogd, SogdParams, StepSchedule, batch,
};
use mercer_testkit::alloc::allocations_during;

use crate::support::{Outcome, autoregressive_pairs};

/// `U_λ` of `x⁺ = 0.8x + 0.6ξ` as a chain on 161 points of [−5, 5].
fn exact(kernel: Gaussian, lambda: f64) -> Result<KernelOperator<Gaussian>, mercer_koopman::Error> {
    let states: Vec<f64> = (0..161).map(|i| -5.0 + f64::from(i) / 16.0).collect();
    let mut transitions = Vec::with_capacity(161 * 161);
    for x in &states {
        let row: Vec<f64> = states.iter().map(|y| (-0.5 * ((y - 0.8 * x) / 0.6).powi(2)).exp()).collect();
        let sum: f64 = row.iter().sum();
        transitions.extend(row.iter().map(|p| p / sum));
    }
    let mut weights = vec![1.0 / 161.0; 161];
    for _ in 0..500 {
        weights = (0..161).map(|j| (0..161).map(|i| weights[i] * transitions[i * 161 + j]).sum()).collect();
    }
    batch::finite_chain(kernel, Points::from_rows(1, &states), &transitions, &weights, lambda)
}

#[test]
fn a_diminishing_budget_costs_less_than_a_hundredth() -> Outcome {
    let (kernel, lambda) = (Gaussian::new(0.8)?, 0.1);
    let reference = exact(kernel, lambda)?;
    let step = StepSchedule::Power { eta: 2.0, exponent: 0.5, offset: 30.0 };
    let sparse = SogdParams::default().step(step).lambda(lambda).budget(Budget::EtaSquared(0.1)).rank_guard(1e-6);
    let full = sparse.budget(Budget::Constant(0.0)).rank_guard(1e-12);
    let (mut sparse, mut full) = (Sogd::on_states(kernel, 1, sparse)?, Sogd::on_states(kernel, 1, full)?);
    for (t, (x, x_plus)) in autoregressive_pairs(11, 100_000).iter().enumerate() {
        sparse.update(x, x_plus)?;
        full.update(x, x_plus)?;
        if [1000, 10_000, 99_999].contains(&t) {
            let errors = (sparse.operator().hs_distance(&reference)?, full.operator().hs_distance(&reference)?);
            assert!(errors.0.is_finite() && (errors.0 / errors.1 - 1.0).abs() < 0.01, "round {t}: {errors:?}");
        }
    }
    let size = |learner: &Sogd<Gaussian>| learner.operator().inputs().len() + learner.operator().outputs().len();
    let sizes = (size(&sparse), size(&full));
    assert!(sizes.0 < sizes.1 && sizes.1 < 120, "{sizes:?}");
    assert!(sparse.operator().hs_distance(&reference)? < 0.3 * reference.hs_norm());
    Ok(())
}

/// Equation (28) itself, which keeps all points, over 3,000 steps.
#[test]
fn a_zero_budget_is_the_dense_learner() -> Outcome {
    let (kernel, lambda) = (Gaussian::new(0.8)?, 0.1);
    let reference = exact(kernel, lambda)?;
    let step = StepSchedule::Power { eta: 2.0, exponent: 0.5, offset: 30.0 };
    let full = SogdParams::default().step(step).lambda(lambda).budget(Budget::Constant(0.0)).rank_guard(1e-12);
    let sparse = full.budget(Budget::EtaSquared(0.1)).rank_guard(1e-6);
    let (mut full, mut sparse) = (Sogd::on_states(kernel, 1, full)?, Sogd::on_states(kernel, 1, sparse)?);
    let mut dense = DenseSogd::new(kernel, 1, kernel, 1, DenseSogdParams::default().step(step).lambda(lambda))?;
    for (t, (x, x_plus)) in autoregressive_pairs(12, 3000).iter().enumerate() {
        full.update(x, x_plus)?;
        sparse.update(x, x_plus)?;
        dense.update(x, x_plus)?;
        if [600, 2999].contains(&t) {
            let (distance, norm) = (full.operator().hs_distance(dense.operator())?, dense.operator().hs_norm());
            assert!(distance < 1e-4 * norm, "round {t}: {distance} of {norm}");
            let errors = (sparse.operator().hs_distance(&reference)?, dense.operator().hs_distance(&reference)?);
            assert!((errors.0 / errors.1 - 1.0).abs() < 0.01, "round {t}: {errors:?}");
        }
    }
    Ok(())
}

/// Memory is that of the dictionary: a stream ten times as long holds no more once the dictionary
/// has ceased to grow.
#[test]
fn memory_does_not_grow_with_the_stream() -> Outcome {
    let params = SogdParams::default().lambda(0.1).max_dictionary(Some(12));
    let mut learner = Sogd::on_states(Gaussian::new(0.8)?, 1, params)?;
    let pairs = autoregressive_pairs(13, 100_000);
    for (x, x_plus) in &pairs[..10_000] {
        learner.update(x, x_plus)?;
    }
    let size = learner.operator().inputs().len();
    let mut outcome = Ok(());
    let allocations = allocations_during(|| {
        outcome = pairs[10_000..].iter().try_for_each(|(x, x_plus)| learner.update(x, x_plus).map(drop));
    });
    outcome?;
    assert_eq!((allocations, learner.operator().inputs().len()), (0, size));
    assert!(learner.operator().hs_norm().is_finite() && size == 12, "{size}");
    Ok(())
}
