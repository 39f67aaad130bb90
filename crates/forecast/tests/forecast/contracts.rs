//! The contract of `mercer_testkit::conformance`, on every forecaster, and what forecasters promise
//! beyond it.

use std::collections::BTreeSet;

use mercer_experts::Rule;
use mercer_forecast::Error;
use mercer_forecast::{
    AnyForecaster, Detail, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, Forecaster, Forgetting,
    GridParams, GuardedForecaster, InputParams, KalmanPredictor, LastValue, LinearExtrapolation, Opf, OpfParams,
    Periods, ScaledForecaster, ScaledParams, SeasonParams, Seasons, Slip, SlipParams, SpectralFilter, SpectralParams,
    SpectralRule, StateSpace, WindowedSlip, WindowedSlipParams,
};
use mercer_testkit::conformance::{check_forecaster, check_late_forecaster};
use mercer_testkit::streams;

use crate::TestResult;

const SCHEDULE: EpochSchedule = EpochSchedule { beta: 1.5, t_init: 20, max_lags: Some(9) };

fn opf(gamma: f64) -> OpfParams {
    OpfParams::default().schedule(SCHEDULE).lambda(0.5).forgetting(Forgetting::Scalar(gamma))
}

fn inputs(feed_through: bool) -> InputParams {
    InputParams::default().count(2).forgetting(Forgetting::Scalar(0.8)).feed_through(feed_through)
}

type Row = (Vec<f64>, Vec<f64>);
type Make = Box<dyn Fn() -> AnyForecaster>;

/// One of each kind at least.
fn subjects() -> Vec<(String, Make)> {
    fn add(all: &mut Vec<(String, Make)>, name: &str, make: impl Fn() -> AnyForecaster + 'static) {
        all.push((name.to_owned(), Box::new(make)));
    }
    let mut all = Vec::new();
    add(&mut all, "OPF", || Opf::new(2, &opf(0.6)).expect("valid").into());
    add(&mut all, "OPF with inputs", || Opf::with_inputs(2, &inputs(false), &opf(0.6)).expect("valid").into());
    add(&mut all, "OPF with feed-through", || Opf::with_inputs(1, &inputs(true), &opf(1.0)).expect("valid").into());
    for discount_regulariser in [false, true] {
        add(&mut all, "discounted", move || {
            let params = DiscountedParams::default()
                .schedule(SCHEDULE)
                .lambda(0.5)
                .alpha(0.98)
                .discount_regulariser(discount_regulariser);
            Discounted::new(2, &params).expect("valid").into()
        });
    }
    add(&mut all, "SLIP", || {
        let params = SlipParams::default().t_init(20).lambda(0.5).rank(4).horizon(30);
        Slip::with_inputs(2, 1, true, &params).expect("valid").into()
    });
    add(&mut all, "windowed SLIP", || {
        let params = WindowedSlipParams::default().schedule(SCHEDULE).lambda(0.5).rank(4);
        WindowedSlip::with_inputs(2, 1, false, &params).expect("valid").into()
    });
    for rule in [SpectralRule::Ridge { lambda: 0.5 }, SpectralRule::Gradient { rate: 1e-3, radius: 2.0 }] {
        add(&mut all, "spectral filtering", move || {
            let params = SpectralParams::default().t_init(20).rank(4).horizon(30).rule(rule);
            SpectralFilter::new(2, &params).expect("valid").into()
        });
    }
    add(&mut all, "Kalman", || {
        let model = StateSpace {
            a: vec![1.0, 1.0, 0.0, 0.9],
            b: vec![0.0, 1.0],
            c: vec![1.0, 0.0],
            d: vec![0.5],
            q: vec![0.1, 0.0, 0.0, 0.1],
            r: vec![1.0],
        };
        KalmanPredictor::new(&model).expect("valid").into()
    });
    add(&mut all, "last value", || LastValue::new(2).into());
    add(&mut all, "linear extrapolation", || LinearExtrapolation::new(2).into());
    for rule in [Rule::MlPoly, Rule::Boa] {
        add(&mut all, "experts", move || {
            let params = GridParams::default().schedule(SCHEDULE).gammas(vec![0.4, 0.7, 1.0]).rule(rule);
            ForecastMixture::<Opf>::grid(2, &params).expect("valid").into()
        });
    }
    for (periods, detail, m, q) in
        [(vec![], Detail::Full, 1, 0), (vec![7], Detail::Light, 2, 1), (vec![4, 12], Detail::Full, 1, 2)]
    {
        add(&mut all, "season mixtures", move || {
            let params = SeasonParams::default().periods(Periods::Given(periods.clone())).detail(detail).horizons(5);
            Seasons::new(m, q, &params).expect("valid").into()
        });
    }
    for shared in [false, true] {
        add(&mut all, "scaled OPF with feed-through", move || {
            let inner: AnyForecaster = Opf::with_inputs(2, &inputs(true), &opf(0.6)).expect("valid").into();
            ScaledForecaster::new(inner, ScaledParams::default().rows(21).shared(shared)).expect("valid").into()
        });
    }
    add(&mut all, "scaled experts", || {
        let params = GridParams::default().schedule(SCHEDULE).gammas(vec![0.4, 1.0]);
        let inner: AnyForecaster = ForecastMixture::<Opf>::grid(2, &params).expect("valid").into();
        ScaledForecaster::new(inner, ScaledParams::default().rows(21).shared(false)).expect("valid").into()
    });
    add(&mut all, "guarded experts", || {
        let params = GridParams::default().schedule(SCHEDULE).gammas(vec![0.4, 1.0]);
        let inner: AnyForecaster = ForecastMixture::<Opf>::grid(2, &params).expect("valid").into();
        GuardedForecaster::new(inner).expect("valid").into()
    });
    add(&mut all, "guarded OPF with feed-through, behind scales", || {
        let inner: AnyForecaster = Opf::with_inputs(2, &inputs(true), &opf(0.6)).expect("valid").into();
        let scaled: AnyForecaster =
            ScaledForecaster::new(inner, ScaledParams::default().rows(21)).expect("valid").into();
        GuardedForecaster::new(scaled).expect("valid").into()
    });
    for kind in ["mixture of mixtures", "mixture behind scales twice", "mixture of all"] {
        add(&mut all, kind, move || nested(kind).expect("valid"));
    }
    all
}

/// Forecasters inside forecasters, siblings of different sizes among them, with an input that acts
/// at once.
fn nested(kind: &str) -> Result<AnyForecaster, Error> {
    let opf = |gamma, lags| -> Result<AnyForecaster, Error> {
        let schedule = EpochSchedule { max_lags: Some(lags), ..SCHEDULE };
        Ok(Opf::with_inputs(2, &inputs(true), &opf(gamma).schedule(schedule))?.into())
    };
    let mixture = |members| -> Result<AnyForecaster, Error> { Ok(ForecastMixture::new(members, Rule::MlPoly)?.into()) };
    let scaled = |inner, shared| -> Result<AnyForecaster, Error> {
        Ok(ScaledForecaster::new(inner, ScaledParams::default().rows(21).shared(shared))?.into())
    };
    let slip = SlipParams::default().t_init(20).lambda(0.5).rank(4).horizon(30);
    let inner = mixture(vec![opf(0.4, 9)?, opf(0.7, 3)?, opf(1.0, 5)?])?;
    match kind {
        "mixture of mixtures" => mixture(vec![opf(0.5, 4)?, mixture(vec![inner.clone(), opf(0.8, 6)?])?, inner]),
        "mixture behind scales twice" => scaled(scaled(mixture(vec![inner, opf(0.6, 4)?])?, true)?, false),
        _ => mixture(vec![
            opf(0.5, 4)?,
            scaled(inner, false)?,
            scaled(Slip::with_inputs(2, 2, true, &slip)?.into(), true)?,
            scaled(opf(0.9, 8)?, false)?,
        ]),
    }
}

#[test]
fn every_forecaster_keeps_the_contract() {
    let mut seen = BTreeSet::new();
    for (name, make) in subjects() {
        seen.insert(make().name());
        check_forecaster(&name, &*make);
    }
    // The learner chooses its scales anew until row 1024. Its budget leaves out the window, which
    // would be full much later.
    for (periods, inputs) in [(vec![], 0), (vec![7], 1)] {
        let detail = Detail::WithLearner { budget: 5_000 };
        let params = SeasonParams::default().periods(Periods::Given(periods)).detail(detail).horizons(5);
        let make = || Seasons::new(1, inputs, &params).expect("valid").into();
        check_late_forecaster("season mixtures with a learner", 1100, &make);
    }
    assert_eq!(seen, AnyForecaster::NAMES.iter().copied().collect::<BTreeSet<_>>());
}

#[test]
fn epochs_and_their_limit_are_told() -> TestResult {
    let mut opf = Opf::new(1, &opf(0.6))?;
    assert!(opf.epochs().is_empty() && !opf.warmed_up());
    for (_, y) in streams::integrating(1, 700, 1, 0) {
        opf.observe(&[], &y)?;
    }
    let epochs: Vec<(usize, usize, bool)> = opf.epochs().iter().map(|e| (e.start, e.lags, e.saturated)).collect();
    // ⌈1.5 ln T⌉ at 21, 41, 81, 161, 321, 641, nine at most.
    assert_eq!(
        epochs,
        [(21, 5, false), (41, 6, false), (81, 7, false), (161, 8, false), (321, 9, false), (641, 9, true)]
    );
    assert_eq!((opf.lags(), opf.rows_held()), (9, 0));
    Ok(())
}

/// With fewer outputs than lags there is no row yet: the prediction is zero until there is one.
#[test]
fn windows_longer_than_the_series_predict_zero() -> TestResult {
    let schedule = EpochSchedule { beta: 20.0, t_init: 2, max_lags: None };
    let mut opf =
        Opf::new(1, &OpfParams::default().schedule(schedule).lambda(0.1).forgetting(Forgetting::Scalar(0.5)))?;
    let mut prediction = [0.0];
    for k in 0..22 {
        opf.predict_then_observe(&[], &[1.0], &mut prediction)?;
        // Row 22 is the first that 22 lags allow.
        assert_eq!(prediction[0], if (1..=2).contains(&k) { 1.0 } else { 0.0 }, "{k}");
        if k == 3 {
            assert_eq!(opf.lags(), 22);
        }
    }
    for _ in 22..400 {
        opf.predict_then_observe(&[], &[1.0], &mut prediction)?;
    }
    assert!((prediction[0] - 1.0).abs() < 0.05, "{prediction:?}");
    Ok(())
}

#[test]
fn parameters_that_fit_no_memory_or_no_sense_are_refused() {
    let refused = |schedule: EpochSchedule, part: &str| {
        let error = Opf::new(2, &OpfParams::default().schedule(schedule)).err();
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{schedule:?}: {message:?}");
    };
    let good = EpochSchedule::default();
    refused(EpochSchedule { beta: 0.0, ..good }, "beta must be a positive number");
    refused(EpochSchedule { beta: f64::NAN, ..good }, "beta must be a positive number");
    refused(EpochSchedule { beta: 1e9, ..good }, "coordinates must be at most 8192");
    refused(EpochSchedule { beta: 1e300, ..good }, "coordinates must be at most 8192");
    refused(EpochSchedule { max_lags: Some(usize::MAX), ..good }, "coordinates must be at most 8192");
    refused(EpochSchedule { max_lags: Some(0), ..good }, "max_lags must be at least 1");
    refused(EpochSchedule { t_init: 0, ..good }, "t_init must be at least 1");
    refused(EpochSchedule { t_init: usize::MAX, ..good }, "t_init must be at most 2^40");
    assert!(Slip::new(1, &SlipParams::default().horizon(usize::MAX)).is_err());
    assert!(Slip::new(4000, &SlipParams::default()).is_err());
    assert!(Opf::new(0, &OpfParams::default()).is_err());
}

/// A series that integrates twice: outputs of 1e7, and the regression holds.
#[test]
fn twenty_thousand_steps_of_a_series_that_grows() -> TestResult {
    let mut opf = Opf::new(1, &OpfParams::default().forgetting(Forgetting::Scalar(1.0)))?;
    let (mut prediction, mut sum, mut count, mut largest) = ([0.0], 0.0, 0.0, 0.0_f64);
    for (k, (_, y)) in streams::integrating(8, 20_000, 1, 0).iter().enumerate() {
        opf.predict_then_observe(&[], y, &mut prediction)?;
        largest = largest.max(y[0].abs());
        if k >= 10_000 {
            sum += (y[0] - prediction[0]).powi(2);
            count += 1.0;
        }
    }
    // The innovations of this series have a variance near 0.6.
    assert!(largest > 1e4 && sum / count < 1.0, "{largest}: {}", sum / count);
    Ok(())
}

/// A scaled forecaster is one that was told the columns over their scales, and columns in other
/// units are predicted in them, bit for bit.
#[test]
fn scales_are_those_of_the_first_rows() -> TestResult {
    const ROWS: usize = 21;
    let mut series = streams::integrating(9, 300, 2, 2);
    series[7].1[1] = f64::NAN;
    series[50].1[0] = f64::NAN;
    let plain = || Opf::with_inputs(2, &inputs(true), &opf(0.6));
    // √ of the mean squared change, by hand, over the values that are there.
    let scale = |values: Vec<f64>| {
        let present: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let changes = present.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
        (changes / (present.len() - 1) as f64).sqrt()
    };
    let of = |pick: &dyn Fn(&Row) -> f64| scale(series[..ROWS].iter().map(pick).collect());
    let scales = [of(&|row| row.1[0]), of(&|row| row.1[1]), of(&|row| row.0[0]), of(&|row| row.0[1])];
    let units = [2f64.powi(-30), 2f64.powi(12), 2f64.powi(3), 2f64.powi(-9)];

    let mut scaled = ScaledForecaster::new(plain()?, ScaledParams::default().rows(ROWS).shared(false))?;
    let (mut other, mut told) = (scaled.clone(), plain()?);
    let (mut ours, mut theirs, mut dense) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for (k, (u, y)) in series.iter().enumerate() {
        let by = |values: &[f64], by: &[f64], sign: i32| -> Vec<f64> {
            values.iter().zip(by).map(|(value, by)| value * by.powi(sign)).collect()
        };
        scaled.predict_then_observe(u, y, &mut ours)?;
        other.predict_then_observe(&by(u, &units[2..], 1), &by(y, &units[..2], 1), &mut theirs)?;
        told.predict_then_observe(&by(u, &scales[2..], -1), &by(y, &scales[..2], -1), &mut dense)?;
        assert_eq!(by(&ours, &units[..2], 1), theirs, "{k}");
        for ((a, b), scale) in ours.iter().zip(&dense).zip(&scales) {
            assert!((a - b * scale).abs() < 1e-9 * a.abs().max(1.0), "{k}: {a} for {}", b * scale);
        }
    }
    for (a, b) in scaled.scales().iter().zip(&scales) {
        assert!((a - b).abs() < 1e-12 * b, "{a} for {b}");
    }
    assert_eq!(scaled.time(), 300);

    // One scale for all outputs, the smallest; a column that never moves and one of zeros.
    let mut shared = ScaledForecaster::new(plain()?, ScaledParams::default().rows(4).shared(true))?;
    for k in 0..4 {
        shared.observe(&[0.0, 8.0], &[f64::from(k), 2.0 * f64::from(k)])?;
    }
    assert_eq!(shared.scales(), [1.0, 1.0, 1.0, 8.0 / 1024.0 / 1024.0]);
    let refused = ScaledForecaster::new(shared, ScaledParams::default().rows(4).shared(true));
    assert!(refused.is_err_and(|error| error.to_string().contains("observed nothing")));
    Ok(())
}

/// A forecaster of any kind behind one face: it forecasts several steps, clones, goes to another
/// thread, and is an expert of a mixture and the inside of wrappers.
#[test]
fn a_box_of_any_forecaster_is_one() -> TestResult {
    let mut boxed: Vec<Box<dyn Forecaster>> = vec![Box::new(LastValue::new(1)), Box::new(LinearExtrapolation::new(1))];
    boxed.push(Box::new(Seasons::new(1, 0, &SeasonParams::default().periods(Periods::Given(vec![4])))?));
    boxed.push(Box::new(ForecastMixture::new(boxed.clone(), Rule::Ewa)?));
    boxed.push(Box::new(GuardedForecaster::new(boxed[2].clone())?));
    for mut forecaster in boxed {
        let before = forecaster.clone();
        for t in 0..100 {
            forecaster.observe(&[], &[f64::from(t % 4)])?;
        }
        assert_eq!((before.time(), forecaster.time()), (0, 100));
        let alone = forecaster.forecast(6, &[])?;
        let elsewhere = std::thread::spawn(move || forecaster.forecast(6, &[])).join().map_err(|_| "a panic")??;
        assert_eq!((alone.len(), &alone), (6, &elsewhere));
    }
    Ok(())
}
