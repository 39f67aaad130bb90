//! The contract of a regression learner, checked the same way on every one of them.
//!
//! [`check_regressor`] takes a function that makes the learner and runs the whole suite; a violation panics with the
//! learner's name and what it did. What it demands: predicting is pure and agrees with the prequential step to rounding;
//! the same seed gives the same path; clones and learners restored from their serialised form go on bit for bit; every
//! refused example is refused with the right error and leaves no trace; huge numbers never panic and never leave a
//! prediction that is not finite; a step at fixed dictionary size allocates nothing. [`check_forecaster`] demands the same of a
//! forecaster, and of missing outputs that they never enter its state.

mod forecaster;

use mercer_core::Validate;
use mercer_kernels::AnyKernel;
use mercer_learners::{AnyRegressor, Error, Regressor, Scratch};

use crate::alloc::allocations_during;
use crate::oracle::Example;
use crate::streams;

pub use forecaster::check_forecaster;

/// The learner under test, as programs that choose at run time hold it.
pub type Subject = AnyRegressor<AnyKernel>;

/// What a learner does by definition, where learners differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The dictionary stops growing: a step then allocates nothing.
    Bounded,
    /// Every example is kept: only predictions allocate nothing.
    GrowsWithStream,
}

/// Runs the suite on the learner that `make` makes for inputs of dimension 3. With a `normalised` kernel, `k(x, x) ≤ 1` as
/// the papers assume, predictions must also stay of the size of the targets on hostile streams.
///
/// # Panics
/// When the learner breaks its contract.
pub fn check_regressor(name: &str, memory: Memory, normalised: bool, make: &dyn Fn() -> Subject) {
    let stream = streams::smooth_noisy(17, 160, 3, 0.1);
    predicting_is_pure(name, make(), &stream);
    same_seed_same_path(name, make, &stream);
    copies_go_on_bit_for_bit(name, make(), &stream);
    blocks_equal_one_by_one(name, make);
    refusals_leave_no_trace(name, make(), &stream);
    huge_numbers_are_survived(name, make, &stream);
    hostile_streams_stay_finite(name, normalised, make);
    nothing_is_allocated(name, memory, make(), &stream);
}

fn learn(name: &str, learner: &mut Subject, stream: &[Example]) -> Vec<u64> {
    stream
        .iter()
        .map(|(x, y)| match learner.predict_then_update(x, *y) {
            Ok(prediction) => prediction.to_bits(),
            Err(error) => panic!("{name}: refused an ordinary example: {error}"),
        })
        .collect()
}

fn predicting_is_pure(name: &str, mut learner: Subject, stream: &[Example]) {
    let mut undisturbed = learner.clone();
    let mut scratch = Scratch::default();
    assert_eq!(learner.dimension(), 3, "{name}: dimension");
    for (x, y) in stream {
        for other in [&stream[0].0, &stream[9].0, x] {
            let first = learner.predict_with(other, &mut scratch).map(f64::to_bits);
            assert_eq!(first, learner.predict(other).map(f64::to_bits), "{name}: two predictions of one input differ");
        }
        let predicted = learner.predict_with(x, &mut scratch).expect("an ordinary input");
        let prequential = undisturbed.predict_then_update(x, *y).expect("an ordinary example");
        // The prequential step may take what it needs from its one pass over the state: equal to rounding.
        let rounding = 1e-12 * prequential.abs().max(1.0);
        assert!(
            (predicted - prequential).abs() <= rounding,
            "{name}: {predicted} when asked, {prequential} in the step"
        );
        assert_eq!(learner.update(x, *y), Ok(()), "{name}: update");
    }
}

fn same_seed_same_path(name: &str, make: &dyn Fn() -> Subject, stream: &[Example]) {
    let (mut a, mut b) = (make(), make());
    assert_eq!(learn(name, &mut a, stream), learn(name, &mut b, stream), "{name}: two equal learners differ");
    assert_eq!(a.dictionary_size(), b.dictionary_size(), "{name}: dictionary sizes differ");
}

fn copies_go_on_bit_for_bit(name: &str, mut learner: Subject, stream: &[Example]) {
    for cut in [0, 1, 37, 90] {
        let mut learner = learner.clone();
        learn(name, &mut learner, &stream[..cut]);
        let text = serde_json::to_string(&learner).expect("a learner serialises");
        let mut restored: Subject = serde_json::from_str(&text).expect("a learner reads back");
        assert_eq!(restored.validate(), Ok(()), "{name}: a learner saved at {cut} is called inconsistent");
        let mut clone = learner.clone();
        let expected = learn(name, &mut learner, &stream[cut..]);
        assert_eq!(learn(name, &mut clone, &stream[cut..]), expected, "{name}: a clone at {cut} goes on differently");
        assert_eq!(
            learn(name, &mut restored, &stream[cut..]),
            expected,
            "{name}: restored at {cut}, it goes on differently"
        );
    }
    learn(name, &mut learner, stream);
}

fn blocks_equal_one_by_one(name: &str, make: &dyn Fn() -> Subject) {
    for stream in [streams::smooth_noisy(18, 150, 3, 0.1), streams::near_duplicates(19, 150, 3)] {
        let xs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
        let ys: Vec<f64> = stream.iter().map(|(_, y)| *y).collect();
        let expected: Vec<f64> = learn(name, &mut make(), &stream).into_iter().map(f64::from_bits).collect();
        for size in [1, 2, 3, 4, 5, 7, 64, 150] {
            let (mut learner, mut predictions) = (make(), Vec::new());
            for (xs, ys) in xs.chunks(3 * size).zip(ys.chunks(size)) {
                assert_eq!(learner.learn_block(xs, ys, &mut predictions), Ok(()), "{name}: a block of {size}");
            }
            for (t, (a, b)) in predictions.iter().zip(&expected).enumerate() {
                let scale = b.abs().max(1.0);
                assert!((a - b).abs() <= 1e-10 * scale, "{name}: blocks of {size} predict {a} for {b} at row {t}");
            }
            assert_eq!(predictions.len(), expected.len(), "{name}: a prediction for each row");
        }
    }
    // A row refused in mid-block: those before it are learnt, those after it are not.
    let (mut learner, mut predictions) = (make(), Vec::new());
    let xs = [0.1, 0.2, 0.3, 0.4, f64::NAN, 0.6, 0.7, 0.8, 0.9, 0.0, 0.1, 0.2];
    let refused = learner.learn_block(&xs, &[0.5; 4], &mut predictions);
    assert!(matches!(refused, Err(Error::NonFiniteInput { index: 1, .. })), "{name}: {refused:?}");
    assert_eq!(predictions.len(), 1, "{name}: rows learnt before the refused one");
    let mut single = make();
    learn(name, &mut single, &[(vec![0.1, 0.2, 0.3], 0.5)]);
    assert_eq!(learner.predict(&[0.3; 3]), single.predict(&[0.3; 3]), "{name}: a refused block row left a trace");
    assert!(matches!(learner.learn_block(&[0.0; 5], &[0.0; 2], &mut predictions), Err(Error::Block { .. })), "{name}");
}

fn refusals_leave_no_trace(name: &str, mut learner: Subject, stream: &[Example]) {
    let (head, tail) = stream.split_at(80);
    let mut untouched = learner.clone();
    learn(name, &mut learner, head);
    learn(name, &mut untouched, head);
    let refuse = |learner: &mut Subject, x: &[f64], y: f64, expected: &dyn Fn(&Error) -> bool| {
        match learner.predict_then_update(x, y) {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: {x:?} -> {y} gave {other:?}"),
        }
        match learner.update(x, y) {
            Err(error) if expected(&error) => {}
            other => panic!("{name}: update with {x:?} -> {y} gave {other:?}"),
        }
    };
    refuse(&mut learner, &[0.0; 2], 0.0, &|e| matches!(e, Error::Dimension { expected: 3, got: 2 }));
    refuse(&mut learner, &[0.0; 4], 0.0, &|e| matches!(e, Error::Dimension { expected: 3, got: 4 }));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refuse(&mut learner, &[0.0, bad, 0.0], 0.0, &|e| matches!(e, Error::NonFiniteInput { index: 1, .. }));
        refuse(&mut learner, &[0.0; 3], bad, &|e| matches!(e, Error::NonFiniteTarget(_)));
        assert!(matches!(learner.predict(&[bad, 0.0, 0.0]), Err(Error::NonFiniteInput { index: 0, .. })), "{name}");
    }
    assert!(matches!(learner.predict(&[]), Err(Error::Dimension { expected: 3, got: 0 })), "{name}");
    assert_eq!(
        learn(name, &mut learner, tail),
        learn(name, &mut untouched, tail),
        "{name}: a refused example left a trace"
    );
}

fn huge_numbers_are_survived(name: &str, make: &dyn Fn() -> Subject, stream: &[Example]) {
    let huge = [1e308, -1e308, 1e154, 1e-308, 5e-324, -1e200];
    for (i, value) in huge.into_iter().enumerate() {
        let mut learner = make();
        learn(name, &mut learner, &stream[..20]);
        for (x, y) in [
            (vec![value, 0.1, 0.2], 0.3),
            (vec![0.1, 0.2, 0.3], value),
            (vec![value; 3], value),
            (vec![value, -value, value], -value),
        ] {
            let before = learner.clone();
            match learner.predict(&x) {
                Ok(prediction) => assert!(prediction.is_finite(), "{name}: predicts {prediction} at {x:?}"),
                Err(error) => assert_eq!(error, Error::KernelOverflow, "{name}: at {x:?}"),
            }
            if learner.predict_then_update(&x, y).is_err() {
                let (mut a, mut b) = (learner.clone(), before);
                let (x, y) = &stream[21 + i];
                assert_eq!(
                    a.predict_then_update(x, *y).map(f64::to_bits),
                    b.predict_then_update(x, *y).map(f64::to_bits),
                    "{name}: an overflow left a trace"
                );
            }
            for (x, _) in &stream[20..25] {
                match learner.predict(x) {
                    Ok(prediction) => assert!(prediction.is_finite(), "{name}: predicts {prediction} after {value:e}"),
                    Err(error) => assert_eq!(error, Error::KernelOverflow, "{name}: after {value:e}"),
                }
            }
        }
    }
}

fn hostile_streams_stay_finite(name: &str, normalised: bool, make: &dyn Fn() -> Subject) {
    for (kind, stream) in [
        ("near duplicates", streams::near_duplicates(5, 120, 3)),
        ("exact duplicates", streams::exact_duplicates(6, 120, 3, 7)),
        ("a constant column", streams::constant_column(7, 120, 3)),
        ("far points", streams::far_away(8, 120, 3)),
        ("one point", vec![(vec![0.5; 3], 0.5); 60]),
        ("constant zero", vec![(vec![0.0; 3], 0.0); 60]),
    ] {
        let mut learner = make();
        for (x, y) in stream {
            match learner.predict_then_update(&x, y) {
                Ok(prediction) => {
                    let bound = if normalised { 10.0 } else { f64::MAX };
                    assert!(prediction.abs() <= bound, "{name} on {kind}: predicts {prediction}");
                }
                Err(Error::Diverged | Error::KernelOverflow) if !normalised => {}
                Err(error) => panic!("{name} on {kind}: {error}"),
            }
        }
    }
}

fn nothing_is_allocated(name: &str, memory: Memory, mut learner: Subject, stream: &[Example]) {
    learn(name, &mut learner, stream);
    let mut scratch = Scratch::default();
    let predict = |learner: &Subject, scratch: &mut Scratch| {
        stream.iter().filter(|(x, _)| learner.predict_with(x, scratch).is_err()).count()
    };
    assert_eq!(predict(&learner, &mut scratch), 0, "{name}: a prediction fails");
    let allocated = allocations_during(|| {
        predict(&learner, &mut scratch);
    });
    assert_eq!(allocated, 0, "{name}: predictions allocate");
    if memory == Memory::Bounded {
        // A first round on known points lets every buffer reach its size.
        learn(name, &mut learner, stream);
        let size = learner.dictionary_size();
        let allocated = allocations_during(|| {
            for (x, y) in stream {
                let _ = learner.predict_then_update(x, *y);
            }
        });
        assert_eq!(learner.dictionary_size(), size, "{name}: the dictionary still grows; the check needs a fixed one");
        assert_eq!(allocated, 0, "{name}: {allocated} allocations in {} steps of fixed size", stream.len());
    }
}
