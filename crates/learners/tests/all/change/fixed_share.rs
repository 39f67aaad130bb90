//! Fixed share in a mixture.

use mercer_experts::{Aggregation, Rule, Share};
use mercer_learners::{Krls, KrlsParams, Mixture, RegressorExt};
use mercer_registry::AnyRegressor;
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// The mixture's regrets go to an aggregation with the share.
#[test]
fn mixtures_share() -> TestResult {
    let members = |lambda: f64| -> Result<(String, AnyRegressor<mercer_kernels::Gaussian>), mercer_learners::Error> {
        let params = KrlsParams::default().lambda(lambda).max_dictionary(Some(20));
        Ok((lambda.to_string(), Krls::new(mercer_kernels::Gaussian::new(0.8)?, 2, params)?.into()))
    };
    for rule in [Rule::Ewa, Rule::Boa] {
        let members = [members(0.01)?, members(1.0)?, members(100.0)?];
        let mut alone = members.clone().map(|(_, member)| member);
        let mut mixture = Mixture::new(members, rule)?.sharing(Share::Fixed(0.05))?;
        let mut aggregation = Aggregation::new(3, rule)?.sharing(Share::Fixed(0.05))?;
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for (x, y) in streams::smooth_noisy(4, 150, 2, 0.1) {
            let made: Vec<f64> = alone
                .iter_mut()
                .map(|member| member.predict_then_update(&x, y).map(|made| made.clamp(low, high)))
                .collect::<Result<_, _>>()?;
            let mut expected = [0.0];
            aggregation.mix(&made, &mut expected)?;
            let mixed = mixture.predict_then_update(&x, y)?;
            assert!((mixed - expected[0]).abs() < 1e-12, "{rule}: {mixed} for {expected:?}");
            aggregation.learn(&made.iter().map(|own| 2.0 * (mixed - y) * (mixed - own)).collect::<Vec<_>>())?;
            (low, high) = (low.min(y), high.max(y));
        }
        assert!(mixture.members().all(|member| member.weight > 0.0));
    }
    Ok(())
}
