//! Operator learners saved in mid-stream and restored go on bit for bit, and huge numbers leave
//! nothing that is not finite.

use mercer_core::Validate;
use mercer_kernels::AnyKernel;
use mercer_koopman::{
    Budget, DenseSogd, DenseSogdParams, DictionaryShape, OperatorLearner, Sogd, SogdParams, StepSchedule,
};
use mercer_testkit::streams;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Inputs of dimension 2, outputs of dimension 1.
fn pairs(seed: u64, count: usize) -> Vec<([f64; 2], [f64; 1])> {
    streams::smooth_noisy(seed, count, 2, 0.1).into_iter().map(|(x, y)| ([x[0], x[1]], [y])).collect()
}

fn check<T>(mut learner: T) -> Outcome
where
    T: OperatorLearner<AnyKernel, AnyKernel> + Validate + Clone + serde::Serialize + serde::de::DeserializeOwned,
{
    let pairs = pairs(41, 120);
    for (x, x_plus) in &pairs[..61] {
        learner.update(x, x_plus)?;
    }
    // A refused pair between saving and going on leaves no trace either.
    let mut restored: T = serde_json::from_str(&serde_json::to_string(&learner)?)?;
    restored.validate()?;
    let mut copy = learner.clone();
    assert!(restored.update(&[0.0, f64::NAN], &[0.0]).is_err());
    for (x, x_plus) in &pairs[61..] {
        let step = learner.update(x, x_plus)?;
        assert_eq!(step, restored.update(x, x_plus)?);
        assert_eq!(step, copy.update(x, x_plus)?);
    }
    let bits = |learner: &T| learner.operator().weights().iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&learner), bits(&restored));
    assert_eq!(bits(&learner), bits(&copy));
    for huge in [1e100, -1e200, f64::MAX, 5e-324] {
        // Refused or learnt, the operator stays finite.
        let _ = learner.update(&[huge, 0.1], &[0.1]);
        let _ = learner.update(&[0.1, 0.2], &[huge]);
        assert!(learner.operator().hs_norm().is_finite(), "after {huge}");
    }
    learner.update(&[0.1, 0.2], &[0.3])?;
    Ok(())
}

#[test]
fn sparse() -> Outcome {
    let kernel: AnyKernel = "mix:0.4*gaussian:0.3+0.6*laplace:0.8".parse()?;
    for shape in [DictionaryShape::Paired, DictionaryShape::Rectangular] {
        let step = StepSchedule::Power { eta: 1.0, exponent: 0.6, offset: 3.0 };
        let params = SogdParams::default().step(step).lambda(0.1).budget(Budget::EtaSquared(0.4)).shape(shape);
        check(Sogd::new(kernel.clone(), 2, kernel.clone(), 1, params)?)?;
    }
    Ok(())
}

#[test]
fn dense() -> Outcome {
    let kernel: AnyKernel = "gaussian:0.5".parse()?;
    let params = DenseSogdParams::default().lambda(0.1);
    check(DenseSogd::new(kernel.clone(), 2, kernel, 1, params)?)
}
