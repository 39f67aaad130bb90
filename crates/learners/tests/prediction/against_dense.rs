//! Every prediction against a QR of all rows so far.

use mercer_learners::prediction::{
    Discounted, DiscountedParams, Forecaster, Forgetting, InputParams, Opf, OpfParams, Schedule, Slip, SlipParams,
    WindowedSlip, WindowedSlipParams,
};
use mercer_testkit::{oracle, streams};

use crate::TestResult;

/// Largest difference to the dense predictions, relative to the prediction (or to 1 where that is smaller).
fn distance(
    forecaster: &mut dyn Forecaster,
    series: &[(Vec<f64>, Vec<f64>)],
    params: oracle::LagRegressionParams,
) -> Result<f64, Box<dyn std::error::Error>> {
    let outputs: Vec<Vec<f64>> = series.iter().map(|(_, y)| y.clone()).collect();
    let inputs: Vec<Vec<f64>> = series.iter().map(|(u, _)| u.clone()).collect();
    let inputs = if forecaster.inputs() == 0 { &[][..] } else { &inputs };
    let dense = oracle::lag_regression(&outputs, inputs, forecaster.feed_through(), params);
    let (mut prediction, mut largest) = (vec![0.0; forecaster.outputs()], 0.0_f64);
    for ((u, y), dense) in series.iter().zip(&dense) {
        forecaster.predict_then_observe(u, y, &mut prediction)?;
        for (a, b) in prediction.iter().zip(dense) {
            let gap = (a - b).abs() / b.abs().max(1.0);
            largest = if gap.is_nan() { f64::INFINITY } else { largest.max(gap) };
        }
    }
    Ok(largest)
}

/// `γI`
fn multiple(gamma: f64, size: usize) -> Vec<f64> {
    (0..size * size).map(|i| if i % (size + 1) == 0 { gamma } else { 0.0 }).collect()
}

/// γ in (0.5, 0.6, 1), λ = 0.1, one output and three, on series that grow; several epochs, through rebuilding and taking back.
#[test]
fn opf() -> TestResult {
    for outputs in [1, 3] {
        // A limit of few lags makes the remembered beginning short, so that later epochs take rows back one by one.
        for (beta, t_init, max_lags, count) in [(2.5, 20, None, 330), (1.5, 5, Some(10), 400)] {
            let schedule = Schedule { beta, t_init, max_lags };
            let series = streams::integrating(1, count, outputs, 0);
            for gamma in [0.5, 0.6, 1.0] {
                let params = OpfParams { schedule, lambda: 0.1, forgetting: Forgetting::Scalar(gamma) };
                let features = oracle::forgetting(&multiple(gamma, outputs), &[]);
                let dense = oracle::LagRegressionParams {
                    beta: Some(beta),
                    t_init,
                    lambda: 0.1,
                    alpha: 1.0,
                    features: &features,
                };
                let gap = distance(&mut Opf::new(outputs, &params)?, &series, dense)?;
                println!("m = {outputs}, γ = {gamma}, T_init = {t_init}: {gap:e}");
                assert!(gap < 1e-8, "m = {outputs}, γ = {gamma}, β = {beta}: {gap:e}");
            }
        }
    }
    Ok(())
}

#[test]
fn opf_with_inputs() -> TestResult {
    let schedule = Schedule { beta: 2.0, t_init: 15, max_lags: None };
    let series = streams::integrating(2, 260, 2, 2);
    for feed_through in [false, true] {
        for (gamma, gamma_input) in [(0.5, 0.8), (1.0, 1.0)] {
            let params = OpfParams { schedule, lambda: 0.1, forgetting: Forgetting::Scalar(gamma) };
            let inputs = InputParams { count: 2, forgetting: Forgetting::Scalar(gamma_input), feed_through };
            let features = oracle::forgetting(&multiple(gamma, 2), &multiple(gamma_input, 2));
            let dense = oracle::LagRegressionParams {
                beta: Some(2.0),
                t_init: 15,
                lambda: 0.1,
                alpha: 1.0,
                features: &features,
            };
            let gap = distance(&mut Opf::with_inputs(2, &inputs, &params)?, &series, dense)?;
            assert!(gap < 1e-8, "feed-through {feed_through}, γ = {gamma}: {gap:e}");
        }
    }
    Ok(())
}

#[test]
fn opf_with_matrices() -> TestResult {
    let schedule = Schedule { beta: 2.0, t_init: 15, max_lags: None };
    let (own, of_inputs) = (vec![0.6, 0.2, -0.1, 0.5], vec![0.7]);
    let params = OpfParams { schedule, lambda: 0.1, forgetting: Forgetting::Matrix(own.clone()) };
    let inputs = InputParams { count: 1, forgetting: Forgetting::Matrix(of_inputs.clone()), feed_through: true };
    for count in [0, 1] {
        let series = streams::integrating(3, 260, 2, count);
        let features = oracle::forgetting(&own, if count == 0 { &[] } else { &of_inputs });
        let dense =
            oracle::LagRegressionParams { beta: Some(2.0), t_init: 15, lambda: 0.1, alpha: 1.0, features: &features };
        let mut opf = if count == 0 { Opf::new(2, &params)? } else { Opf::with_inputs(2, &inputs, &params)? };
        let gap = distance(&mut opf, &series, dense)?;
        assert!(gap < 1e-8, "{count} inputs: {gap:e}");
    }
    Ok(())
}

/// What is missing makes no row, and its prediction stands in for it.
#[test]
fn opf_with_missing_outputs() -> TestResult {
    let mut series = streams::integrating(4, 260, 2, 0);
    for k in (3..260).step_by(11) {
        series[k].1[k % 2] = f64::NAN;
    }
    for (_, y) in &mut series[100..110] {
        y.fill(f64::NAN);
    }
    let schedule = Schedule { beta: 2.0, t_init: 15, max_lags: None };
    let params = OpfParams { schedule, lambda: 0.1, forgetting: Forgetting::Scalar(0.6) };
    let features = oracle::forgetting(&multiple(0.6, 2), &[]);
    let dense =
        oracle::LagRegressionParams { beta: Some(2.0), t_init: 15, lambda: 0.1, alpha: 1.0, features: &features };
    let gap = distance(&mut Opf::new(2, &params)?, &series, dense)?;
    assert!(gap < 1e-8, "{gap:e}");
    Ok(())
}

/// (16): rows are discounted, λ is not.
#[test]
fn discounted() -> TestResult {
    let schedule = Schedule { beta: 2.0, t_init: 15, max_lags: None };
    let series = streams::integrating(5, 260, 2, 0);
    let features = oracle::forgetting(&multiple(1.0, 2), &[]);
    for alpha in [0.9, 0.99, 1.0] {
        let params = DiscountedParams { schedule, lambda: 0.1, alpha, discount_regulariser: false };
        let dense =
            oracle::LagRegressionParams { beta: Some(2.0), t_init: 15, lambda: 0.1, alpha, features: &features };
        let gap = distance(&mut Discounted::new(2, &params)?, &series, dense)?;
        assert!(gap < 1e-8, "α = {alpha}: {gap:e}");
    }
    Ok(())
}

#[test]
fn slip_over_the_whole_past_and_over_a_window() -> TestResult {
    let series = streams::integrating(6, 100, 2, 0);
    let schedule = Schedule { beta: 3.0, t_init: 15, max_lags: None };
    for rank in [1, 3, 6] {
        let features = oracle::slip_filters(rank);
        let dense =
            |beta| oracle::LagRegressionParams { beta, t_init: 15, lambda: 0.1, alpha: 1.0, features: &features };
        let windowed = WindowedSlipParams { schedule, lambda: 0.1, rank };
        let gap = distance(&mut WindowedSlip::new(2, &windowed)?, &series, dense(Some(3.0)))?;
        assert!(gap < 1e-8, "windowed, k = {rank}: {gap:e}");
        let full = SlipParams { t_init: 15, lambda: 0.1, rank, horizon: 100 };
        let gap = distance(&mut Slip::new(2, &full)?, &series, dense(None))?;
        assert!(gap < 1e-8, "k = {rank}: {gap:e}");
    }
    Ok(())
}
