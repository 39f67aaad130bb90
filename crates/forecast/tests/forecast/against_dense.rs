//! Every prediction against a QR of all rows so far.

use mercer_experts::Rule;
use mercer_forecast::{
    AnyForecaster, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, Forecaster, Forgetting, GridParams,
    InputParams, LastValue, Opf, OpfParams, ScaledForecaster, ScaledParams, Slip, SlipParams, SpectralFilter,
    SpectralParams, SpectralRule, WindowedSlip, WindowedSlipParams,
};
use mercer_testkit::{oracle, streams};

use crate::TestResult;

/// Largest difference to the dense predictions, relative to the prediction (or to 1 where that is
/// smaller).
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

/// γ in (0.5, 0.6, 1), λ = 0.1, one output and three, on series that grow; several epochs, through
/// rebuilding and taking back.
#[test]
fn opf() -> TestResult {
    for outputs in [1, 3] {
        // A limit of few lags makes the remembered beginning short, so that later epochs take rows
        // back one by one.
        for (beta, t_init, max_lags, count) in [(2.5, 20, None, 330), (1.5, 5, Some(10), 400)] {
            let schedule = EpochSchedule { beta, t_init, max_lags };
            let series = streams::integrating(1, count, outputs, 0);
            for gamma in [0.5, 0.6, 1.0] {
                let params = OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Scalar(gamma));
                let features = oracle::forgetting(&multiple(gamma, outputs), &[]);
                let dense = oracle::LagRegressionParams {
                    beta: Some(beta),
                    t_init,
                    lambda: 0.1,
                    alpha: 1.0,
                    discount_lambda: false,
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
    let schedule = EpochSchedule { beta: 2.0, t_init: 15, max_lags: None };
    let series = streams::integrating(2, 260, 2, 2);
    for feed_through in [false, true] {
        for (gamma, gamma_input) in [(0.5, 0.8), (1.0, 1.0)] {
            let params = OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Scalar(gamma));
            let inputs =
                InputParams::default().count(2).forgetting(Forgetting::Scalar(gamma_input)).feed_through(feed_through);
            let features = oracle::forgetting(&multiple(gamma, 2), &multiple(gamma_input, 2));
            let dense = oracle::LagRegressionParams {
                beta: Some(2.0),
                t_init: 15,
                lambda: 0.1,
                alpha: 1.0,
                discount_lambda: false,
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
    let schedule = EpochSchedule { beta: 2.0, t_init: 15, max_lags: None };
    let (own, of_inputs) = (vec![0.6, 0.2, -0.1, 0.5], vec![0.7]);
    let params = OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Matrix(own.clone()));
    let inputs = InputParams::default().count(1).forgetting(Forgetting::Matrix(of_inputs.clone())).feed_through(true);
    for count in [0, 1] {
        let series = streams::integrating(3, 260, 2, count);
        let features = oracle::forgetting(&own, if count == 0 { &[] } else { &of_inputs });
        let dense = oracle::LagRegressionParams {
            beta: Some(2.0),
            t_init: 15,
            lambda: 0.1,
            alpha: 1.0,
            discount_lambda: false,
            features: &features,
        };
        let mut opf = if count == 0 { Opf::new(2, &params)? } else { Opf::with_inputs(2, &inputs, &params)? };
        let gap = distance(&mut opf, &series, dense)?;
        assert!(gap < 1e-8, "{count} inputs: {gap:e}");
    }
    Ok(())
}

/// A missing output makes no row, and its prediction stands in for it.
#[test]
fn opf_with_missing_outputs() -> TestResult {
    let mut series = streams::integrating(4, 260, 2, 0);
    for k in (3..260).step_by(11) {
        series[k].1[k % 2] = f64::NAN;
    }
    for (_, y) in &mut series[100..110] {
        y.fill(f64::NAN);
    }
    let schedule = EpochSchedule { beta: 2.0, t_init: 15, max_lags: None };
    let params = OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Scalar(0.6));
    let features = oracle::forgetting(&multiple(0.6, 2), &[]);
    let dense = oracle::LagRegressionParams {
        beta: Some(2.0),
        t_init: 15,
        lambda: 0.1,
        alpha: 1.0,
        discount_lambda: false,
        features: &features,
    };
    let gap = distance(&mut Opf::new(2, &params)?, &series, dense)?;
    assert!(gap < 1e-8, "{gap:e}");
    Ok(())
}

/// (16): rows are discounted, and λ with them or not.
#[test]
fn discounted() -> TestResult {
    let schedule = EpochSchedule { beta: 2.0, t_init: 15, max_lags: None };
    let series = streams::integrating(5, 260, 2, 0);
    let features = oracle::forgetting(&multiple(1.0, 2), &[]);
    for (alpha, discount_lambda) in [(0.9, false), (0.99, false), (1.0, false), (0.95, true), (0.99, true)] {
        let params = DiscountedParams::default()
            .schedule(schedule)
            .lambda(0.1)
            .alpha(alpha)
            .discount_regulariser(discount_lambda);
        let dense = oracle::LagRegressionParams {
            beta: Some(2.0),
            t_init: 15,
            lambda: 0.1,
            alpha,
            discount_lambda,
            features: &features,
        };
        let gap = distance(&mut Discounted::new(2, &params)?, &series, dense)?;
        assert!(gap < 1e-8, "α = {alpha}, λ discounted {discount_lambda}: {gap:e}");
    }
    Ok(())
}

/// Over the whole past and over a window, with inputs and without, and with feed-through.
#[test]
fn slip() -> TestResult {
    let schedule = EpochSchedule { beta: 3.0, t_init: 15, max_lags: None };
    for (rank, inputs, feed_through) in [(1, 0, false), (3, 0, false), (6, 0, false), (3, 2, false), (4, 1, true)] {
        let series = streams::integrating(6, 100, 2, inputs);
        let features = oracle::slip_filters(rank);
        let dense = |beta| oracle::LagRegressionParams {
            beta,
            t_init: 15,
            lambda: 0.1,
            alpha: 1.0,
            discount_lambda: false,
            features: &features,
        };
        let windowed = WindowedSlipParams::default().schedule(schedule).lambda(0.1).rank(rank);
        let mut windowed = WindowedSlip::with_inputs(2, inputs, feed_through, &windowed)?;
        let gap = distance(&mut windowed, &series, dense(Some(3.0)))?;
        assert!(gap < 1e-8, "windowed, k = {rank}, {inputs} inputs: {gap:e}");
        let full = SlipParams::default().t_init(15).lambda(0.1).rank(rank).horizon(100);
        let gap = distance(&mut Slip::with_inputs(2, inputs, feed_through, &full)?, &series, dense(None))?;
        assert!(gap < 1e-8, "k = {rank}, {inputs} inputs: {gap:e}");
    }
    Ok(())
}

#[test]
fn spectral_filtering_by_ridge() -> TestResult {
    for (rank, inputs, feed_through) in [(1, 0, false), (5, 0, false), (4, 2, false), (3, 1, true)] {
        let series = streams::integrating(7, 100, 2, inputs);
        let features = oracle::spectral_filters(rank);
        let dense = oracle::LagRegressionParams {
            beta: None,
            t_init: 15,
            lambda: 0.1,
            alpha: 1.0,
            discount_lambda: false,
            features: &features,
        };
        let params =
            SpectralParams::default().t_init(15).rank(rank).horizon(100).rule(SpectralRule::Ridge { lambda: 0.1 });
        let gap = distance(&mut SpectralFilter::with_inputs(2, inputs, feed_through, &params)?, &series, dense)?;
        assert!(gap < 1e-8, "k = {rank}, {inputs} inputs: {gap:e}");
    }
    Ok(())
}

/// A ball that holds the coefficients, and one that never does, on a series of bounded size.
#[test]
fn spectral_filtering_by_gradients() -> TestResult {
    let outputs: Vec<Vec<f64>> =
        (0..120).map(f64::from).map(|k| vec![(0.3 * k).sin() + 0.2 * (1.7 * k).cos(), (0.11 * k).cos()]).collect();
    let features = oracle::spectral_filters(3);
    for (rate, radius) in [(0.02, 10.0), (0.05, 0.6)] {
        let params =
            SpectralParams::default().t_init(15).rank(3).horizon(120).rule(SpectralRule::Gradient { rate, radius });
        let mut filter = SpectralFilter::new(2, &params)?;
        let dense = oracle::spectral_gradient(&outputs, 15, &features, rate, radius);
        let mut prediction = [0.0; 2];
        for (y, dense) in outputs.iter().zip(&dense) {
            filter.predict_then_observe(&[], y, &mut prediction)?;
            for (a, b) in prediction.iter().zip(dense) {
                assert!((a - b).abs() < 1e-10, "{a} for {b}");
            }
        }
    }
    Ok(())
}

/// The mixture over γ and β, from forecasters run on their own and weights recomputed from all
/// regrets in every step.
#[test]
fn a_grid_of_experts() -> TestResult {
    let (gammas, betas, schedule) =
        ([0.4, 0.8, 1.0], [1.0, 2.5], EpochSchedule { beta: 9.0, t_init: 15, max_lags: None });
    let series = streams::integrating(8, 200, 2, 0);
    for rule in Rule::ALL {
        let params = GridParams::default()
            .schedule(schedule)
            .lambda(0.1)
            .gammas(gammas.to_vec())
            .betas(betas.to_vec())
            .rule(rule);
        let mut grid = ForecastMixture::grid(2, &params)?;
        let mut alone = Vec::new();
        for beta in betas {
            let schedule = EpochSchedule { beta, ..schedule };
            for gamma in gammas {
                let params = OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Scalar(gamma));
                alone.push(Opf::new(2, &params)?);
            }
        }
        assert_eq!(grid.experts().len(), alone.len());
        let (mut history, mut prediction): (Vec<Vec<f64>>, _) = (Vec::new(), [0.0; 2]);
        for (k, (_, y)) in series.iter().enumerate() {
            let weights = if history.is_empty() {
                vec![1.0 / alone.len() as f64; alone.len()]
            } else {
                match rule {
                    Rule::Ewa => oracle::ada_hedge(&history),
                    Rule::Boa => oracle::boa(&history),
                    _ => oracle::ml_poly(&history),
                }
            };
            let learns = alone[0].warmed_up();
            let mut own = vec![[0.0; 2]; alone.len()];
            for (opf, own) in alone.iter_mut().zip(&mut own) {
                opf.predict_then_observe(&[], y, own)?;
            }
            let mixed = [0, 1].map(|i| weights.iter().zip(&own).map(|(w, own)| w * own[i]).sum::<f64>());
            grid.predict_then_observe(&[], y, &mut prediction)?;
            for (a, b) in prediction.iter().zip(mixed) {
                assert!((a - b).abs() < 1e-8 * b.abs().max(1.0), "{rule}, row {k}: {a} for {b}");
            }
            if learns {
                let regret = |own: &[f64; 2]| (0..2).map(|i| 2.0 * (mixed[i] - y[i]) * (mixed[i] - own[i])).sum();
                history.push(own.iter().map(regret).collect());
            }
        }
        // The mixture tells the epochs of the longest window.
        assert_eq!(grid.epochs(), alone[3].epochs());
    }
    Ok(())
}

/// Where every expert refuses a row, so does the mixture, and nothing is changed; where one does,
/// it alone goes.
#[test]
fn experts_that_refuse() -> TestResult {
    let series = streams::integrating(9, 60, 1, 0);
    // To a scale of 1e-90 a number of 1e20 is beyond the range.
    let narrow = || -> Result<AnyForecaster, Box<dyn std::error::Error>> {
        let mut scaled = ScaledForecaster::new(
            AnyForecaster::from(LastValue::new(1)),
            ScaledParams::default().rows(2).shared(false),
        )?;
        for y in [0.0, 1e-90] {
            scaled.observe(&[], &[y])?;
        }
        Ok(scaled.into())
    };
    let wide = || -> Result<AnyForecaster, Box<dyn std::error::Error>> {
        let mut last = LastValue::new(1);
        for y in [0.0, 1e-90] {
            last.observe(&[], &[y])?;
        }
        Ok(last.into())
    };
    let mut mixture = ForecastMixture::new(vec![narrow()?, narrow()?, narrow()?], Rule::MlPoly)?;
    for _ in 0..3 {
        assert!(mixture.observe(&[], &[1e20]).is_err());
        assert_eq!((mixture.time(), mixture.weights()), (2, &[1.0 / 3.0; 3][..]));
    }
    let mut mixture = ForecastMixture::new(vec![narrow()?, wide()?, narrow()?], Rule::MlPoly)?;
    mixture.observe(&[], &[1e20])?;
    assert_eq!((mixture.time(), mixture.weights()), (3, &[0.0, 1.0, 0.0][..]));
    for (_, y) in &series {
        mixture.observe(&[], y)?;
    }
    assert_eq!(mixture.predict(&[])?, series[59].1);
    Ok(())
}
