//! The contract of a forecaster.

use mercer_core::ExampleError;
use mercer_forecast::Error;
use mercer_forecast::{AnyForecaster, ForecastScratch, Forecaster};

use crate::alloc::allocations_during;
use crate::streams;

type TestSeries = [(Vec<f64>, Vec<f64>)];

/// Runs the suite on the forecaster that `make` makes. Its warm-up and its windows should be a few
/// dozen rows at most, and its lags limited to what some hundred rows ask for, so that the suite
/// sees what comes after.
///
/// # Panics
/// When the forecaster breaks its contract.
pub fn check_forecaster(name: &str, make: &dyn Fn() -> AnyForecaster) {
    check_late_forecaster(name, 300, make);
}

/// The same, of a forecaster whose state has its size only after so many rows.
///
/// # Panics
/// When the forecaster breaks its contract.
pub fn check_late_forecaster(name: &str, rows: usize, make: &dyn Fn() -> AnyForecaster) {
    let (outputs, inputs) = (make().outputs(), make().inputs());
    let series = streams::integrating(23, 420, outputs, inputs);
    predicting_is_pure(name, make(), &series);
    copies_go_on_bit_for_bit(name, make, &series);
    refusals_leave_no_trace(name, make(), &series);
    huge_numbers_are_survived(name, make, &series);
    missing_outputs_are_predicted(name, make, &series);
    monotony_is_survived(name, make);
    nothing_is_allocated(name, make(), &series);
    memory_does_not_grow(name, rows / 50, make());
}

/// The bits of all predictions.
fn follow(name: &str, forecaster: &mut AnyForecaster, series: &TestSeries) -> Vec<u64> {
    let (mut prediction, mut bits) = (vec![0.0; forecaster.outputs()], Vec::new());
    for (input, output) in series {
        let step = forecaster.predict_then_observe(input, output, &mut prediction);
        assert_eq!(step, Ok(()), "{name}: refused an ordinary row at {}", forecaster.time());
        assert!(prediction.iter().all(|value| value.is_finite()), "{name}: predicts {prediction:?}");
        bits.extend(prediction.iter().map(|value| value.to_bits()));
    }
    bits
}

fn predicting_is_pure(name: &str, mut forecaster: AnyForecaster, series: &TestSeries) {
    let mut undisturbed = forecaster.clone();
    let (m, mut scratch) = (forecaster.outputs(), ForecastScratch::default());
    let (mut asked, mut prequential) = (vec![0.0; m], vec![0.0; m]);
    // The last output, and the largest step from one to the next.
    let (mut last, mut steps) = (vec![0.0; m], vec![0.0f64; m]);
    for (k, (input, output)) in series.iter().enumerate() {
        assert_eq!((forecaster.time(), forecaster.outputs()), (k, m), "{name}: time");
        let now = if forecaster.feed_through() { input.as_slice() } else { &[] };
        forecaster.predict_with(now, &mut asked, &mut scratch).expect("an ordinary input");
        assert_eq!(Ok(&asked), forecaster.predict(now).as_ref(), "{name}: two predictions of one row differ");
        if !forecaster.warmed_up() {
            let near = |(a, (b, step)): (&f64, (&f64, &f64))| (a - b).abs() <= step + 1e-14 * b.abs();
            let is_near = asked.iter().zip(last.iter().zip(&steps)).all(near);
            assert!(is_near, "{name}: the warm-up predicts {asked:?} for the last output {last:?}");
        }
        undisturbed.predict_then_observe(input, output, &mut prequential).expect("an ordinary row");
        for (a, b) in asked.iter().zip(&prequential) {
            // The prequential step may take what it needs from its one pass over the state: equal
            // to rounding.
            assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{name}: {a} when asked, {b} in the step {k}");
        }
        assert_eq!(forecaster.observe(input, output), Ok(()), "{name}: observe");
        if k > 0 {
            steps
                .iter_mut()
                .zip(output.iter().zip(&last))
                .for_each(|(step, (y, last))| *step = step.max((y - last).abs()));
        }
        last.copy_from_slice(output);
    }
    assert!(forecaster.warmed_up(), "{name}: the suite needs a shorter warm-up");
    let mut wrong = vec![0.0; m + 1];
    let refused = forecaster.predict_with(&series[0].0, &mut wrong, &mut scratch);
    assert!(matches!(refused, Err(Error::Example(ExampleError::Outputs { .. }))), "{name}: {refused:?}");
}

fn copies_go_on_bit_for_bit(name: &str, make: &dyn Fn() -> AnyForecaster, series: &TestSeries) {
    for cut in [0, 1, 17, 100, 250] {
        let mut forecaster = make();
        follow(name, &mut forecaster, &series[..cut]);
        let text = serde_json::to_string(&forecaster).expect("a forecaster serialises");
        let mut restored: AnyForecaster = serde_json::from_str(&text).expect("a forecaster reads back");
        let mut clone = forecaster.clone();
        let expected = follow(name, &mut forecaster, &series[cut..]);
        assert_eq!(follow(name, &mut clone, &series[cut..]), expected, "{name}: a clone at {cut} goes on differently");
        let ours = follow(name, &mut restored, &series[cut..]);
        assert_eq!(ours, expected, "{name}: restored at {cut}, it goes on differently");
        assert_eq!(follow(name, &mut make(), series)[cut * make().outputs()..], expected[..], "{name}: not repeatable");
    }
}

fn refusals_leave_no_trace(name: &str, mut forecaster: AnyForecaster, series: &TestSeries) {
    let (m, q) = (forecaster.outputs(), forecaster.inputs());
    let mut untouched = forecaster.clone();
    for part in series.chunks(140) {
        let mut prediction = vec![0.0; m];
        let mut refuse = |input: &[f64], output: &[f64], expected: &dyn Fn(&Error) -> bool| match forecaster
            .predict_then_observe(input, output, &mut prediction)
        {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: {input:?}, {output:?} gave {other:?}"),
        };
        let (u, y) = (vec![0.5; q], vec![0.5; m]);
        refuse(&u, &vec![0.0; m + 1], &|e| matches!(e, Error::Example(ExampleError::Outputs { .. })));
        refuse(&vec![0.0; q + 1], &y, &|e| matches!(e, Error::Example(ExampleError::Dimension { .. })));
        for bad in [f64::INFINITY, f64::NEG_INFINITY] {
            let mut output = y.clone();
            output[m - 1] = bad;
            refuse(&u, &output, &|e| matches!(e, Error::Example(ExampleError::NonFiniteTarget(_))));
        }
        for bad in [f64::NAN, f64::INFINITY].into_iter().filter(|_| q > 0) {
            let mut input = u.clone();
            input[q - 1] = bad;
            refuse(&input, &y, &|e| matches!(e, Error::Example(ExampleError::NonFiniteInput { .. })));
        }
        let (ours, theirs) = (follow(name, &mut forecaster, part), follow(name, &mut untouched, part));
        assert_eq!(ours, theirs, "{name}: a refused row left a trace");
    }
}

fn huge_numbers_are_survived(name: &str, make: &dyn Fn() -> AnyForecaster, series: &TestSeries) {
    for value in [1e308, -1e154, 1e99, -1e50, 1e-308, 5e-324] {
        for cut in [0, 3, 200] {
            let mut forecaster = make();
            follow(name, &mut forecaster, &series[..cut]);
            let mut before = forecaster.clone();
            let (u, mut prediction) = (vec![0.5; forecaster.inputs()], vec![0.0; forecaster.outputs()]);
            let step = forecaster.predict_then_observe(&u, &vec![value; prediction.len()], &mut prediction);
            if step.is_err() {
                let (a, b) = (&series[cut..cut + 5], &series[cut..cut + 5]);
                assert_eq!(
                    follow(name, &mut forecaster, a),
                    follow(name, &mut before, b),
                    "{name}: {value:e} left a trace"
                );
                continue;
            }
            for (input, output) in &series[cut..cut + 60] {
                // A row may be refused while the huge number is a lag; no prediction may be
                // anything but a number.
                let _ = forecaster.predict_then_observe(input, output, &mut prediction);
                match forecaster.predict(input) {
                    Ok(own) => assert!(own.iter().all(|y| y.is_finite()), "{name}: predicts {own:?} after {value:e}"),
                    Err(error) => assert_eq!(error, Error::Example(ExampleError::Diverged), "{name}: after {value:e}"),
                }
            }
        }
    }
}

fn missing_outputs_are_predicted(name: &str, make: &dyn Fn() -> AnyForecaster, series: &TestSeries) {
    let m = make().outputs();
    let spoilt: Vec<(Vec<f64>, Vec<f64>)> = series
        .iter()
        .enumerate()
        .map(|(k, (input, output))| {
            let gone = |i: usize| k % 9 == 4 && i == k % m || (130..150).contains(&k);
            let kept = output.iter().enumerate().map(|(i, y)| if gone(i) { f64::NAN } else { *y });
            (input.clone(), kept.collect())
        })
        .collect();
    let mut forecaster = make();
    follow(name, &mut forecaster, &spoilt[..130]);
    // Several steps ahead are predictions of rows that are missing.
    let inputs: Vec<f64> = spoilt[130..140].iter().flat_map(|(input, _)| input.clone()).collect();
    let ahead = forecaster.forecast(10, &inputs).expect("a forecast");
    let missed = follow(name, &mut forecaster, &spoilt[130..140]);
    assert_eq!(
        ahead.iter().map(|y| y.to_bits()).collect::<Vec<_>>(),
        missed,
        "{name}: a forecast is not what is missed"
    );
    follow(name, &mut forecaster, &spoilt[140..]);
    // From the first row on nothing at all.
    let nothing: Vec<(Vec<f64>, Vec<f64>)> =
        series.iter().map(|(input, _)| (input.clone(), vec![f64::NAN; m])).collect();
    follow(name, &mut make(), &nothing);
}

/// Constant series, and series that are zero until late.
fn monotony_is_survived(name: &str, make: &dyn Fn() -> AnyForecaster) {
    let (m, q) = (make().outputs(), make().inputs());
    for level in [0.0, 3.0, -1e6, 1e-9] {
        let series = vec![(vec![0.0; q], vec![level; m]); 300];
        let mut forecaster = make();
        follow(name, &mut forecaster, &series);
        follow(name, &mut forecaster, &streams::integrating(3, 100, m, q));
    }
}

fn nothing_is_allocated(name: &str, mut forecaster: AnyForecaster, series: &TestSeries) {
    let (m, mut scratch) = (forecaster.outputs(), ForecastScratch::default());
    let mut prediction = vec![0.0; m];
    follow(name, &mut forecaster, &series[..350]);
    forecaster.predict_with(&series[0].0, &mut prediction, &mut scratch).expect("an ordinary input");
    let missing = vec![f64::NAN; m];
    forecaster.predict_then_observe(&series[0].0, &missing, &mut prediction).expect("a missing row");
    let epochs = forecaster.epochs().len();
    let allocated = allocations_during(|| {
        for (input, output) in &series[350..390] {
            let _ = forecaster.predict_with(input, &mut prediction, &mut scratch);
            let _ = forecaster.predict_then_observe(input, output, &mut prediction);
        }
        let _ = forecaster.predict_then_observe(&series[0].0, &missing, &mut prediction);
    });
    assert_eq!(forecaster.epochs().len(), epochs, "{name}: an epoch begins where none should");
    assert_eq!(allocated, 0, "{name}: {allocated} allocations in 41 steps of an epoch");
}

/// The state is no larger after 3000 rows than from piece `first` of 50 rows on, except for the
/// list of epochs.
fn memory_does_not_grow(name: &str, first: usize, mut forecaster: AnyForecaster) {
    let series = streams::integrating(5, 3000, forecaster.outputs(), forecaster.inputs());
    // One number of a serialised state, or a little more, a comma.
    let numbers = |forecaster: &AnyForecaster| {
        serde_json::to_string(forecaster).expect("a forecaster serialises").matches(',').count()
    };
    let (mut early, mut late) = (0, 0);
    for (k, row) in series.chunks(50).enumerate() {
        follow(name, &mut forecaster, row);
        match k {
            k if (first..first + 6).contains(&k) => early = early.max(numbers(&forecaster)),
            54.. => late = late.max(numbers(&forecaster)),
            _ => {}
        }
    }
    // Three facts an epoch, of every expert.
    let slack = 3
        * forecaster.epochs().len()
        * serde_json::to_string(&forecaster).map_or(0, |text| text.matches("\"epochs\"").count());
    assert!(late <= early + slack, "{name}: {early} numbers early, {late} after 3000 rows");
}
