//! A type that contains itself is saved as deep as it can be read back, and no deeper.

use mercer::core::DEEPEST;
use mercer::experts::{AnyDetector, Rule};
use mercer::forecast::{AnyForecaster, ForecastMixture, LastValue, ScaledForecaster, ScaledParams};
use mercer::kernels::KernelMixture;
use mercer::model::{self, Model, ModelError, Prediction};
use mercer::{AnyKernel, AnyRegressor, Krls, KrlsParams, Mixture, Restarting};

/// `inner` inside so many mixtures.
fn kernel(levels: usize) -> AnyKernel {
    let gaussian: AnyKernel = "gaussian:0.5".parse().unwrap();
    (0..levels).fold(gaussian, |inner, _| AnyKernel::Mixture(KernelMixture::new(vec![(0.5, inner)]).unwrap()))
}

/// Mixtures and learners that start anew, in turn.
fn learner(levels: usize, kernel: AnyKernel) -> AnyRegressor<AnyKernel> {
    let krls = Krls::new(kernel, 1, KrlsParams::default()).unwrap().into();
    (0..levels).fold(krls, |inner, level| match level % 2 {
        0 => Mixture::new([(level.to_string(), inner)], Rule::MlPoly).unwrap().into(),
        _ => Restarting::new(inner, AnyDetector::default()).into(),
    })
}

/// Mixtures and scales in turn.
fn forecaster(levels: usize) -> Model {
    let last: AnyForecaster = LastValue::new(1).into();
    let forecaster = (0..levels).fold(last, |inner, level| match level % 2 {
        0 => ForecastMixture::new(vec![inner], Rule::MlPoly).unwrap().into(),
        _ => ScaledForecaster::new(inner, ScaledParams::default().rows(3).shared(false)).unwrap().into(),
    });
    Model::Prediction(Box::new(Prediction::new(Vec::new(), forecaster)))
}

fn refused(saved: Result<Vec<u8>, ModelError>) {
    let error = saved.unwrap_err();
    assert!(matches!(error, ModelError::Inconsistent(_)), "{error}");
    assert!(error.to_string().contains("at most 16 mixtures or scales are one inside the other"), "{error}");
}

#[test]
fn what_is_saved_can_be_read_back() {
    assert_eq!(DEEPEST, 16);
    // Kernels in kernels, learners in learners, and both together.
    for (learners, kernels) in [(0, DEEPEST), (DEEPEST, 0), (6, DEEPEST - 6)] {
        let bytes = model::to_bytes(&learner(learners, kernel(kernels))).unwrap();
        assert!(model::from_bytes(&bytes).is_ok(), "{learners} learners and {kernels} kernels");
        refused(model::to_bytes(&learner(learners + 1, kernel(kernels))));
        refused(model::to_bytes(&learner(learners, kernel(kernels + 1))));
    }
    let bytes = forecaster(DEEPEST).to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes).is_ok());
    refused(forecaster(DEEPEST + 1).to_bytes());
    refused(forecaster(DEEPEST + 2).to_bytes());
}
