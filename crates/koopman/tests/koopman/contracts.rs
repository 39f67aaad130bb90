//! Contracts of every learner: refusals change nothing, blocks equal single steps, a step at fixed
//! size allocates nothing.

use mercer_core::ExampleError;
use mercer_kernels::{Gaussian, Linear};
use mercer_koopman::Error;
use mercer_koopman::{
    Budget, DenseSogd, DenseSogdParams, DictionaryShape, OperatorLearner, Sogd, SogdParams, StepSchedule, Verdict,
};
use mercer_testkit::alloc::allocations_during;

use crate::support::{Outcome, autoregressive_pairs, planar_pairs};

fn learner(shape: DictionaryShape) -> Result<Sogd<Gaussian>, Box<dyn std::error::Error>> {
    let params = SogdParams::default().budget(Budget::Constant(0.03)).lambda(0.01).shape(shape);
    Ok(Sogd::on_states(Gaussian::new(0.5)?, 2, params)?)
}

#[test]
fn a_refused_pair_changes_nothing() -> Outcome {
    let pairs = planar_pairs(5, 40);
    let mut learner = learner(DictionaryShape::Paired)?;
    for (x, x_plus) in &pairs[..20] {
        learner.update(x, x_plus)?;
    }
    let mut untouched = learner.clone();
    let fine = [0.1, 0.2];
    assert!(matches!(
        learner.update(&[0.1], &fine),
        Err(Error::Example(ExampleError::Dimension { expected: 2, got: 1 }))
    ));
    assert!(matches!(
        learner.update(&fine, &[0.1; 3]),
        Err(Error::Example(ExampleError::Dimension { expected: 2, got: 3 }))
    ));
    assert!(matches!(
        learner.update(&fine, &[f64::NAN, 0.0]),
        Err(Error::Example(ExampleError::NonFiniteInput { index: 0, .. }))
    ));
    assert!(matches!(
        learner.update(&[0.0, f64::INFINITY], &fine),
        Err(Error::Example(ExampleError::NonFiniteInput { index: 1, .. }))
    ));
    assert!(learner.learn_block(&[0.0; 8], &[0.0; 6], &mut Vec::new()).is_err());
    assert_eq!(learner.rounds(), 20);
    for (x, x_plus) in &pairs[20..] {
        assert_eq!(learner.update(x, x_plus)?, untouched.update(x, x_plus)?);
    }
    assert_eq!(learner.operator().weights(), untouched.operator().weights());
    Ok(())
}

#[test]
fn an_unstable_or_diverging_step_is_refused_in_words() -> Outcome {
    let params = SogdParams::default().step(StepSchedule::Constant(2.5));
    let words = Sogd::on_states(Gaussian::new(1.0)?, 1, params).err().map(|error| error.to_string());
    assert!(words.is_some_and(|words| words.contains("unstable") && words.contains("below 2")));
    // A kernel without a bound is refused at the input that is too large.
    let mut linear = Sogd::on_states(Linear, 1, SogdParams::default().rank_guard(0.0))?;
    linear.update(&[1.0], &[0.5])?;
    let before = linear.operator().weights();
    assert!(matches!(linear.update(&[3.0], &[1.5]), Err(Error::UnstableStep { .. })));
    assert!(matches!(linear.update(&[1e200], &[1.5]), Err(Error::Example(ExampleError::KernelOverflow))));
    assert_eq!(linear.operator().weights(), before);
    let dense = DenseSogdParams::default().step(StepSchedule::Constant(0.3)).lambda(-1.0);
    assert!(DenseSogd::new(Linear, 1, Linear, 1, dense).is_err());
    for params in [
        SogdParams::default().lambda(f64::NAN),
        SogdParams::default().rank_guard(-0.1),
        SogdParams::default().budget(Budget::Constant(-1.0)),
        SogdParams::default().max_dictionary(Some(0)),
        SogdParams::default().step(StepSchedule::Constant(0.0)),
    ] {
        assert!(matches!(Sogd::on_states(Gaussian::new(1.0)?, 1, params), Err(Error::Parameter(_))));
    }
    Ok(())
}

#[test]
fn a_block_gives_the_same_bits_as_single_steps() -> Outcome {
    let pairs = planar_pairs(6, 203);
    let (xs, xs_plus): (Vec<f64>, Vec<f64>) = (
        pairs.iter().flat_map(|pair| pair.0.clone()).collect(),
        pairs.iter().flat_map(|pair| pair.1.clone()).collect(),
    );
    for shape in [DictionaryShape::Paired, DictionaryShape::Rectangular] {
        let (mut one_by_one, mut in_blocks) = (learner(shape)?, learner(shape)?);
        let mut steps = Vec::new();
        in_blocks.learn_block(&xs, &xs_plus, &mut steps)?;
        for ((x, x_plus), step) in pairs.iter().zip(&steps) {
            assert_eq!(one_by_one.update(x, x_plus)?, *step);
        }
        assert_eq!(steps.len(), 203);
        assert!(one_by_one.operator().inputs().len() > 20);
        assert_eq!(one_by_one.operator().weights(), in_blocks.operator().weights());
        // A bad row ends the block; what came before it is learnt.
        let mut broken = xs.clone();
        broken[2 * 5] = f64::NAN;
        steps.clear();
        assert!(learner(shape)?.learn_block(&broken, &xs_plus, &mut steps).is_err());
        assert_eq!(steps.len(), 5);
    }
    Ok(())
}

#[test]
fn a_step_at_fixed_size_allocates_nothing() -> Outcome {
    let mut learner = learner(DictionaryShape::Paired)?;
    let pairs = planar_pairs(7, 3000);
    for (x, x_plus) in &pairs {
        learner.update(x, x_plus)?;
    }
    let size = learner.operator().inputs().len();
    let mut discarded = 0;
    for (x, x_plus) in &pairs {
        let before = learner.operator().inputs().len();
        let mut outcome = Err(ExampleError::Diverged.into());
        let allocations = allocations_during(|| outcome = learner.update(x, x_plus));
        if outcome?.verdict == Verdict::Discard {
            assert_eq!(allocations, 0, "with {before} points");
            discarded += 1;
        }
    }
    assert!(discarded > 2900 && size > 20, "{discarded} discarded at {size} points");
    Ok(())
}

/// Repeated states, a chain of three states, clipped states, and pairs that are new on one side
/// only.
#[test]
fn dependent_points_are_kept_out_and_counted() -> Outcome {
    let params = SogdParams::default().budget(Budget::Constant(0.0)).rank_guard(1e-6);
    let kernel = Gaussian::new(0.7)?;
    let mut chain = Sogd::on_states(kernel, 1, params)?;
    for t in 0..2000_u32 {
        let state = |t: u32| [f64::from(t * t % 3)];
        chain.update(&state(t), &state(t + 1))?;
    }
    assert!(chain.operator().inputs().len() <= 3 && chain.operator().hs_norm().is_finite());
    // What rounding leaves of a residual exceeds a budget of zero now and then.
    assert!(chain.forced_rejections() > 0);

    let mut clipped = Sogd::on_states(kernel, 1, params)?;
    for (x, x_plus) in autoregressive_pairs(8, 3000) {
        clipped.update(&[x[0].clamp(-0.5, 0.5)], &[x_plus[0].clamp(-0.5, 0.5)])?;
    }
    assert!(clipped.operator().hs_norm().is_finite() && clipped.operator().inputs().len() < 15);

    // One input, many outputs: the input is a repetition, and each new output is kept alone.
    for shape in [DictionaryShape::Paired, DictionaryShape::Rectangular] {
        let mut fan = Sogd::on_states(kernel, 1, params.shape(shape))?;
        for t in 0..500_u32 {
            fan.update(&[0.0], &[f64::from(t % 5) * 2.0])?;
        }
        assert_eq!((fan.operator().inputs().len(), fan.operator().outputs().len()), (1, 5), "{shape:?}");
    }
    Ok(())
}

#[test]
fn a_box_of_a_learner_is_one() -> Outcome {
    fn learn(learner: &mut impl OperatorLearner<Gaussian, Gaussian>) -> Result<u64, Error> {
        learner.update(&[0.1, 0.2], &[0.2, 0.1])?;
        learner.learn_block(&[0.3, 0.2, 0.1, 0.0], &[0.1, 0.3, 0.2, 0.1], &mut Vec::new())?;
        Ok(learner.rounds())
    }
    let mut boxed: Box<dyn OperatorLearner<Gaussian, Gaussian>> = Box::new(learner(DictionaryShape::Paired)?);
    assert_eq!(learn(&mut boxed)?, 3);
    let dimension = std::thread::spawn(move || boxed.operator().input_dimension());
    assert_eq!(dimension.join().map_err(|_| "a panic")?, 2);
    Ok(())
}
