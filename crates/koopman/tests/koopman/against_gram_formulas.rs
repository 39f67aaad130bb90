//! Every convention against the oracle: the same decisions, and the same numbers to 1e−8.

use std::collections::BTreeSet;

use mercer_kernels::{AnyKernel, Gaussian, Laplace, Product};
use mercer_koopman::{
    Budget, BudgetTest, DenseSogd, DenseSogdParams, DictionaryShape, OperatorLearner, Sogd, SogdParams, StepSchedule,
};
use mercer_testkit::oracle::{
    DenseOperator, OperatorTest, OperatorTrace, Pair, SogdParams as OracleParams, dense_sogd, sparse_sogd,
};

use crate::support::{Outcome, assert_eigenfunctions, assert_same_operator, kernel_fn, path, planar_pairs};

/// The oracle's pass with the learner's parameters.
fn oracle_pass(
    pairs: &[Pair],
    input_kernel: &dyn Fn(&[f64], &[f64]) -> f64,
    output_kernel: &dyn Fn(&[f64], &[f64]) -> f64,
    params: SogdParams,
) -> OperatorTrace {
    let oracle_params = OracleParams {
        eta: &|round| params.step.at(round),
        budget: &|eta| params.budget.at(eta),
        lambda: params.lambda,
        test: match params.test {
            BudgetTest::Squared => OperatorTest::Squared,
            BudgetTest::OutputAld => OperatorTest::OutputAld,
            _ => OperatorTest::Norm,
        },
        rectangular: params.shape == DictionaryShape::Rectangular,
        rank_guard: params.rank_guard,
        max_dictionary: params.max_dictionary,
    };
    sparse_sogd(pairs, input_kernel, output_kernel, oracle_params)
}

/// Feeds the pairs to the learner and compares every decision and error.
fn assert_same_pass<K: mercer_kernels::Kernel, L: mercer_kernels::Kernel>(
    learner: &mut Sogd<K, L>,
    pairs: &[Pair],
    expected: &OperatorTrace,
    case: &str,
) -> Outcome {
    for (t, (x, x_plus)) in pairs.iter().enumerate() {
        let error = learner.update(x, x_plus)?.error.ok_or("no error given")?;
        let squared = expected.squared_errors[t];
        assert!((error * error - squared).abs() < 1e-8, "{case}: round {t}: {} against {squared}", error * error);
    }
    let rounds = |rounds: &[u64]| rounds.iter().map(|t| *t as usize).collect::<Vec<_>>();
    assert_eq!(rounds(learner.input_rounds()), expected.inputs, "{case}");
    assert_eq!(rounds(learner.output_rounds()), expected.outputs, "{case}");
    assert_eq!(learner.forced_rejections(), expected.forced_rejections, "{case}");
    Ok(())
}

fn conventions() -> Vec<SogdParams> {
    let mut all = Vec::new();
    for step in [StepSchedule::Constant(0.3), StepSchedule::Power { eta: 2.0, exponent: 0.5, offset: 10.0 }] {
        for test in [BudgetTest::Norm, BudgetTest::Squared, BudgetTest::OutputAld] {
            // The square of an error below 1 is smaller: its budget has to be, too.
            let budgets = match test {
                BudgetTest::Squared => [Budget::Constant(0.004), Budget::EtaSquared(0.05)],
                _ => [Budget::Constant(0.06), Budget::EtaSquared(0.8)],
            };
            for budget in budgets {
                for shape in [DictionaryShape::Paired, DictionaryShape::Rectangular] {
                    for (lambda, rank_guard, max_dictionary) in
                        [(0.0, 1e-6, None), (0.15, 0.1, None), (0.05, 1e-6, Some(12))]
                    {
                        all.push(
                            SogdParams::default()
                                .step(step)
                                .lambda(lambda)
                                .budget(budget)
                                .test(test)
                                .shape(shape)
                                .rank_guard(rank_guard)
                                .max_dictionary(max_dictionary),
                        );
                    }
                }
            }
        }
    }
    all
}

/// Results of the cases of a test.
#[derive(Default)]
struct Tally {
    sizes: BTreeSet<(usize, usize)>,
    forced: u64,
    complex_eigenfunctions: usize,
}

/// Every decision, error and read-out of a pass with each of these parameters.
fn assert_same_passes(kernel: &str, pairs: &[Pair], all: &[SogdParams], tally: &mut Tally) -> Outcome {
    let kernel: AnyKernel = kernel.parse()?;
    let evaluate = kernel_fn(&kernel);
    for params in all {
        let case = format!("{kernel} {params:?}");
        let expected = oracle_pass(pairs, &evaluate, &evaluate, *params);
        let mut learner = Sogd::on_states(kernel.clone(), pairs[0].0.len(), *params)?;
        assert_same_pass(&mut learner, pairs, &expected, &case)?;
        let oracle = DenseOperator::from_trace(&expected, pairs, &evaluate, &evaluate);
        assert_same_operator(learner.operator(), &oracle, &case)?;
        tally.complex_eigenfunctions += assert_eigenfunctions(learner.operator(), &oracle, true, &case)?;
        tally.sizes.insert((expected.inputs.len(), expected.outputs.len()));
        tally.forced += expected.forced_rejections;
    }
    Ok(())
}

#[test]
fn every_convention_schedule_and_kernel() -> Outcome {
    let (pairs, mut tally) = (planar_pairs(1, 70), Tally::default());
    for kernel in
        ["gaussian:0.5", "mix:0.4*gaussian:0.3+0.6*laplace:0.8", "matern32:0.6", "matern52:0.6", "laplace:0.7"]
    {
        assert_same_passes(kernel, &pairs, &conventions(), &mut tally)?;
    }
    // The cases are not all the same: some keep a dozen, some most of the pairs, some more on one
    // side.
    let Tally { sizes, forced, complex_eigenfunctions } = tally;
    assert!(sizes.len() > 15, "{sizes:?}");
    assert!(sizes.iter().any(|(x, y)| x != y), "{sizes:?}");
    assert!(forced > 100, "{forced} forced rejections");
    assert!(complex_eigenfunctions > 100, "{complex_eigenfunctions} of them");
    Ok(())
}

/// A kernel of finite rank, six in the plane: soon every point is in the span. Its values are
/// bounded on these states alone.
#[test]
fn a_polynomial_kernel() -> Outcome {
    let (pairs, mut tally) = (planar_pairs(1, 70), Tally::default());
    let small = |x: &[f64]| x.iter().map(|x| 0.4 * x).collect::<Vec<f64>>();
    let pairs: Vec<Pair> = pairs.iter().map(|(x, x_plus)| (small(x), small(x_plus))).collect();
    let all: Vec<SogdParams> =
        conventions().into_iter().map(|params| params.rank_guard(params.rank_guard.max(1e-3))).collect();
    assert_same_passes("polynomial:2,1", &pairs, &all, &mut tally)?;
    assert!(tally.sizes.iter().all(|(x, y)| (1..=6).contains(x) && (1..=6).contains(y)), "{:?}", tally.sizes);
    Ok(())
}

/// Repeated states: pairs that are new on one side, then on none.
#[test]
fn a_finite_chain_in_every_convention() -> Outcome {
    let mut tally = Tally::default();
    for seed in 0..4 {
        let transition = [[0.6, 0.4, 0.0, 0.0], [0.1, 0.2, 0.5, 0.2], [0.7, 0.0, 0.2, 0.1], [0.0, 0.5, 0.0, 0.5]];
        let pairs = path([-0.8, 0.1, 1.2, 2.5], transition, 60, seed);
        assert_same_passes("gaussian:0.7", &pairs, &conventions(), &mut tally)?;
    }
    assert!(tally.sizes.contains(&(4, 4)), "{:?}", tally.sizes);
    Ok(())
}

/// Inputs `(state, action)` with a product kernel, outputs states with another kernel.
#[test]
fn several_input_spaces() -> Outcome {
    let pairs: Vec<Pair> = planar_pairs(2, 80)
        .into_iter()
        .enumerate()
        .map(|(t, (mut x, x_plus))| {
            x.push(((t * 7 % 5) as f64 - 2.0) * 0.5);
            (x, x_plus)
        })
        .collect();
    let input_kernel = Product::new(Gaussian::new(0.6)?, Gaussian::new(0.8)?, 2);
    let output_kernel = Laplace::new(1.0)?;
    for shape in [DictionaryShape::Paired, DictionaryShape::Rectangular] {
        let params = SogdParams::default().lambda(0.05).budget(Budget::Constant(0.09)).shape(shape);
        let (on_inputs, on_outputs) = (kernel_fn(&input_kernel), kernel_fn(&output_kernel));
        let expected = oracle_pass(&pairs, &on_inputs, &on_outputs, params);
        let mut learner = Sogd::new(input_kernel.clone(), 3, output_kernel, 2, params)?;
        assert_same_pass(&mut learner, &pairs, &expected, "state and action")?;
        let oracle = DenseOperator::from_trace(&expected, &pairs, &on_inputs, &on_outputs);
        assert_same_operator(learner.operator(), &oracle, "state and action")?;
        let operator = learner.operator();
        let g = |x: &[f64]| x[0] - x[1];
        let (x, values) = ([0.2, 0.1, -0.5], operator.observe(g));
        let expected = oracle.forecast(&g, 1, &x);
        let by_embedding: f64 = operator.embedding(&x)?.iter().zip(&values).map(|(a, g)| a * g).sum();
        let by_pull_back = operator.evaluate(&operator.pull_back(&values)?, &x)?;
        assert!((by_embedding - expected).abs() < 1e-8 && (by_pull_back - expected).abs() < 1e-8);
        // More than one step needs a policy.
        assert!(operator.powers(&values, 2).is_err() && operator.eigenvalues().is_err());
    }
    Ok(())
}

#[test]
fn dense_sogd_is_equation_28() -> Outcome {
    let pairs = planar_pairs(3, 70);
    let kernel: AnyKernel = "gaussian:0.5".parse()?;
    let evaluate = kernel_fn(&kernel);
    for (step, lambda) in
        [(StepSchedule::Constant(0.4), 0.0), (StepSchedule::Power { eta: 1.0, exponent: 0.75, offset: 2.0 }, 0.3)]
    {
        let mut learner =
            DenseSogd::new(kernel.clone(), 2, kernel.clone(), 2, DenseSogdParams::default().step(step).lambda(lambda))?;
        for (x, x_plus) in &pairs {
            learner.update(x, x_plus)?;
        }
        let oracle = DenseOperator {
            inputs: pairs.iter().map(|pair| pair.0.clone()).collect(),
            outputs: pairs.iter().map(|pair| pair.1.clone()).collect(),
            weights: dense_sogd(&pairs, &evaluate, &|round| step.at(round), lambda),
            input_kernel: &evaluate,
            output_kernel: &evaluate,
        };
        assert_same_operator(learner.operator(), &oracle, "dense")?;
        assert!(assert_eigenfunctions(learner.operator(), &oracle, false, "dense")? > 0);
        assert_eq!(learner.rounds(), 70);
    }
    Ok(())
}

#[test]
fn inner_products_of_two_operators() -> Outcome {
    let pairs = planar_pairs(4, 60);
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let evaluate = kernel_fn(&kernel);
    let mut learnt = Vec::new();
    for (budget, lambda) in [(0.05, 0.0), (0.1, 0.2)] {
        let params = SogdParams::default().budget(Budget::Constant(budget)).lambda(lambda);
        let expected = oracle_pass(&pairs, &evaluate, &evaluate, params);
        let mut learner = Sogd::on_states(kernel.clone(), 2, params)?;
        assert_same_pass(&mut learner, &pairs, &expected, "inner products")?;
        learnt.push((learner.into_operator(), DenseOperator::from_trace(&expected, &pairs, &evaluate, &evaluate)));
    }
    let ((a, dense_a), (b, dense_b)) = (&learnt[0], &learnt[1]);
    let expected = dense_a.hs_inner(dense_b);
    assert!((a.hs_inner(b)? - expected).abs() < 1e-8 && (b.hs_inner(a)? - expected).abs() < 1e-8);
    let distance = (dense_a.hs_inner(dense_a) + dense_b.hs_inner(dense_b) - 2.0 * expected).sqrt();
    assert!((a.hs_distance(b)? - distance).abs() < 1e-8);
    assert!(a.hs_distance(a)? < 1e-7);
    Ok(())
}
