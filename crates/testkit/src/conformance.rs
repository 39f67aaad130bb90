//! The contract of a regression learner, checked the same way on every one of them.
//!
//! [`check_regressor`] takes a function that makes the learner and runs the whole suite; a
//! violation panics with the learner's name and what it did. What it demands: predicting is pure
//! and agrees with the prequential step to rounding; the same seed gives the same path; clones and
//! learners restored from their serialised form go on bit for bit; every refused example is refused
//! with the right error and leaves the serialised state as it was, one by one and in blocks; an
//! example of weight 0 does the same; huge numbers never panic and never leave a state that is not
//! valid; inputs grow or are refused; a step at fixed dictionary size allocates nothing. It works
//! for any number of outputs and any loss. [`check_forecaster`] demands the same of a forecaster,
//! and of missing outputs that they never enter its state.

mod belief;
mod forecaster;
mod growth;
mod refusals;
mod weights;

use mercer_core::{ExampleError, Validate};
use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Loss, Regressor, RegressorExt, Rows, Scratch, Target, Targets};
use mercer_registry::AnyRegressor;

use crate::alloc::allocations_during;
use crate::oracle::Example;
use crate::streams;

pub use forecaster::{check_forecaster, check_late_forecaster};

/// The learner under test, as programs that choose at run time hold it.
pub type Subject = AnyRegressor<AnyKernel>;

/// Memory of a learner by definition, where learners differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The dictionary stops growing: a step then allocates nothing.
    Bounded,
    /// Every example is kept: only predictions allocate nothing.
    GrowsWithStream,
}

/// Runs the suite on the learner that `make` makes for inputs of dimension 3. With a `normalised`
/// kernel, `k(x, x) ≤ 1` as the papers assume, predictions must also stay of the size of the
/// targets on hostile streams.
///
/// # Panics
/// When the learner breaks its contract.
pub fn check_regressor(name: &str, memory: Memory, normalised: bool, make: &dyn Fn() -> Subject) {
    let learner = make();
    let stream = TestRow::from_stream(&learner, &streams::smooth_noisy(17, 160, 3, 0.1));
    predicting_is_pure(name, make(), &stream);
    same_seed_same_path(name, make, &stream);
    copies_go_on_bit_for_bit(name, make(), &stream);
    wrappers_do_the_same(name, make, &stream);
    blocks_equal_one_by_one(name, make);
    weights::nothing_is_learnt_with_weight_zero(name, make, &stream);
    weights::weighted_blocks_equal_one_by_one(name, make, &stream);
    belief::variances_come_with_the_prediction(name, make(), &stream);
    refusals::refusals_leave_no_trace(name, make, &stream);
    refusals::refused_rows_end_blocks(name, make, &stream);
    refusals::huge_numbers_are_survived(name, make, &stream);
    growth::inputs_grow_or_stay(name, make, &stream);
    hostile_streams_stay_finite(name, normalised, make);
    nothing_is_allocated(name, memory, make(), &stream);
}

/// Learners go from thread to thread.
const fn shared_between_threads<T: Send + Sync>() {}
const _: () = shared_between_threads::<Subject>();

/// An example with a target that the learner takes.
#[derive(Clone, Debug)]
pub(crate) struct TestRow {
    x: Vec<f64>,
    y: Vec<f64>,
    weight: f64,
}

impl TestRow {
    /// The examples of a stream with targets for this learner, of weight 1.
    fn from_stream(learner: &Subject, stream: &[Example]) -> Vec<Self> {
        stream.iter().map(|(x, y)| Self { x: x.clone(), y: target(learner, *y), weight: 1.0 }).collect()
    }

    fn weighted(&self, weight: f64) -> Self {
        Self { weight, ..self.clone() }
    }

    fn target(&self) -> Target<'_> {
        Target::weighted(&self.y, self.weight)
    }
}

/// A target made of the number `y`, for the loss and the outputs of this learner.
fn target(learner: &Subject, y: f64) -> Vec<f64> {
    let (loss, outputs) = (learner.loss(), learner.outputs());
    let number = |k: usize| if k == 0 { y } else { y * (1.0 - 0.4 * k as f64) - 0.1 * k as f64 };
    match loss {
        Loss::Softmax(_) => vec![(number(0).abs() * 7.0).floor() % outputs as f64],
        Loss::Poisson(_) => (0..outputs).map(|k| number(k).abs()).collect(),
        loss if loss.is_margin() => (0..outputs).map(|k| if number(k) < 0.0 { -1.0 } else { 1.0 }).collect(),
        _ => (0..outputs).map(number).collect(),
    }
}

/// One prequential step.
fn step(learner: &mut (impl Regressor + ?Sized), row: &TestRow) -> Result<Vec<f64>, Error> {
    let mut scores = vec![0.0; learner.outputs()];
    learner.learn(&row.x, row.target(), &mut scores).map(|()| scores)
}

fn predict(learner: &(impl Regressor + ?Sized), x: &[f64], scratch: &mut Scratch) -> Result<Vec<f64>, Error> {
    let mut scores = vec![0.0; learner.outputs()];
    learner.predict_into(x, scratch, &mut scores).map(|()| scores)
}

/// Learns ordinary rows; the predictions.
fn learn(name: &str, learner: &mut (impl Regressor + ?Sized), rows: &[TestRow]) -> Vec<f64> {
    let mut all = Vec::new();
    for row in rows {
        match step(learner, row) {
            Ok(scores) => all.extend(scores),
            Err(error) => panic!("{name}: refused an ordinary example: {error}"),
        }
    }
    all
}

/// Learns rows together, and appends the predictions.
fn learn_together(
    learner: &mut (impl Regressor + ?Sized),
    rows: &[TestRow],
    predictions: &mut Vec<f64>,
) -> Result<(), Error> {
    let xs: Vec<f64> = rows.iter().flat_map(|row| row.x.clone()).collect();
    let ys: Vec<f64> = rows.iter().flat_map(|row| row.y.clone()).collect();
    let weights: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let weights = if weights.iter().all(|weight| *weight == 1.0) { &[] } else { &weights[..] };
    let width = learner.loss().target_width(learner.outputs());
    let dimension = learner.dimension();
    learner.learn_rows(Rows::new(&xs, dimension, Targets::new(&ys, weights, width)?)?, predictions)
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// The serialised state.
fn state(learner: &Subject) -> String {
    serde_json::to_string(learner).expect("a learner serialises")
}

/// Demands one prediction made in two ways: by kernel coefficients, which move it by at most 1e-12
/// of `‖w‖ √k(x,x)` (below 10 on these streams), and by coordinates.
#[track_caller]
fn equal_to_rounding(what: &str, got: &[f64], expected: &[f64]) {
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-11 * b.abs().max(1.0), "{what}: {a} for {b}");
    }
}

/// Demands predictions that agree to `1e-10`.
fn close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}: a prediction for each row");
    for (t, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{what}: {a} for {b} at number {t}");
    }
}

fn predicting_is_pure(name: &str, mut learner: Subject, rows: &[TestRow]) {
    let mut undisturbed = learner.clone();
    let mut scratch = Scratch::default();
    assert_eq!(learner.dimension(), 3, "{name}: dimension");
    for (t, row) in rows.iter().enumerate() {
        let before = (t % 40 == 1).then(|| state(&learner));
        for other in [&rows[0].x, &rows[9].x, &row.x] {
            let first = predict(&learner, other, &mut scratch).map(|scores| bits(&scores));
            let second = predict(&learner, other, &mut Scratch::default()).map(|scores| bits(&scores));
            assert_eq!(first, second, "{name}: two predictions of one input differ");
            let copy = predict(&learner.clone(), other, &mut scratch).map(|scores| bits(&scores));
            assert_eq!(first, copy, "{name}: a copy predicts otherwise");
        }
        if let Some(before) = before {
            assert_eq!(state(&learner), before, "{name}: a prediction changed the learner");
        }
        let predicted = predict(&learner, &row.x, &mut scratch).expect("an ordinary input");
        let prequential = step(&mut undisturbed, row).expect("an ordinary example");
        // The prequential step may take what it needs from its one pass over the state: equal to
        // rounding.
        equal_to_rounding(&format!("{name}: when asked"), &predicted, &prequential);
        if learner.outputs() == 1 && row.y.len() == 1 && learner.loss() != Loss::SOFTMAX {
            assert_eq!(learner.predict(&row.x).map(f64::to_bits), Ok(predicted[0].to_bits()), "{name}: predict");
            assert_eq!(learner.update(&row.x, row.y[0]), Ok(()), "{name}: update");
        } else {
            step(&mut learner, row).expect("an ordinary example");
        }
    }
    assert_eq!(state(&learner), state(&undisturbed), "{name}: predictions left a trace");
}

fn same_seed_same_path(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let (mut a, mut b) = (make(), make());
    assert_eq!(bits(&learn(name, &mut a, rows)), bits(&learn(name, &mut b, rows)), "{name}: two equal learners differ");
    assert_eq!(a.dictionary_size(), b.dictionary_size(), "{name}: dictionary sizes differ");
}

fn copies_go_on_bit_for_bit(name: &str, mut learner: Subject, rows: &[TestRow]) {
    for cut in [0, 1, 37, 90] {
        let mut learner = learner.clone();
        learn(name, &mut learner, &rows[..cut]);
        let saved = postcard::to_stdvec(&learner).expect("a learner serialises");
        let mut restored: Subject = postcard::from_bytes(&saved).expect("a learner reads back");
        assert_eq!(restored.validate(), Ok(()), "{name}: a learner saved at {cut} is called inconsistent");
        let mut clone = learner.clone();
        let expected = bits(&learn(name, &mut learner, &rows[cut..]));
        let cloned = bits(&learn(name, &mut clone, &rows[cut..]));
        assert_eq!(cloned, expected, "{name}: a clone at {cut} goes on differently");
        let read = bits(&learn(name, &mut restored, &rows[cut..]));
        assert_eq!(read, expected, "{name}: restored at {cut}, it goes on differently");
    }
    learn(name, &mut learner, rows);
}

/// Boxes and references of learners are learners, and nothing is lost on the way.
fn wrappers_do_the_same(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let (mut plain, mut boxed, mut lent) = (make(), Box::new(make()) as Box<dyn Regressor>, make());
    let facts =
        |learner: &dyn Regressor| (learner.dimension(), learner.dictionary_size(), learner.outputs(), learner.loss());
    let (alone, together) = rows.split_at(60);
    let expected = bits(&learn(name, &mut plain, alone));
    assert_eq!(bits(&learn(name, &mut boxed, alone)), expected, "{name}: a box learns differently");
    assert_eq!(bits(&learn(name, &mut &mut lent, alone)), expected, "{name}: a reference learns differently");
    let [mut expected, mut of_box, mut of_reference] = [const { Vec::new() }; 3];
    assert_eq!(learn_together(&mut plain, together, &mut expected), Ok(()), "{name}: a block");
    assert_eq!(learn_together(&mut boxed, together, &mut of_box), Ok(()), "{name}: a block of a box");
    assert_eq!(learn_together(&mut &mut lent, together, &mut of_reference), Ok(()), "{name}: a block of a reference");
    assert!(bits(&of_box) == bits(&expected) && bits(&of_reference) == bits(&expected), "{name}: blocks of wrappers");
    assert_eq!(facts(&boxed), facts(&plain), "{name}: a box tells other facts");
    assert_eq!(facts(&&mut lent), facts(&plain), "{name}: a reference tells other facts");
    assert_eq!(boxed.add_output(None), plain.add_output(None), "{name}: an output of a box");
    assert_eq!(boxed.grow(1), plain.grow(1), "{name}: growth of a box");
    assert_eq!(facts(&boxed), facts(&plain), "{name}: a box tells other facts after it grew");
}

fn blocks_equal_one_by_one(name: &str, make: &dyn Fn() -> Subject) {
    for stream in [streams::smooth_noisy(18, 150, 3, 0.1), streams::near_duplicates(19, 150, 3)] {
        let mut single = make();
        let rows = TestRow::from_stream(&single, &stream);
        let expected = learn(name, &mut single, &rows);
        for size in [1, 2, 3, 4, 5, 7, 64, 150] {
            let (mut learner, mut predictions) = (make(), Vec::new());
            for rows in rows.chunks(size) {
                assert_eq!(learn_together(&mut learner, rows, &mut predictions), Ok(()), "{name}: a block of {size}");
            }
            close(&format!("{name}: blocks of {size}"), &predictions, &expected);
            assert_eq!(learner.dictionary_size(), single.dictionary_size(), "{name}: blocks of {size}");
        }
    }
    let mut learner = make();
    if learner.outputs() == 1 && learner.loss() != Loss::SOFTMAX {
        let before = state(&learner);
        let refused = learner.learn_block(&[0.0; 5], &[0.0; 2], &mut Vec::new());
        assert!(matches!(refused, Err(Error::Example(ExampleError::Block { .. }))), "{name}: {refused:?}");
        assert_eq!(learner.learn_block(&[], &[], &mut Vec::new()), Ok(()), "{name}: no rows");
        assert_eq!(state(&learner), before, "{name}: a block without rows left a trace");
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
        for row in TestRow::from_stream(&learner, &stream) {
            match step(&mut learner, &row) {
                Ok(scores) => {
                    let bound = if normalised { 10.0 } else { f64::MAX };
                    let bounded = scores.iter().all(|score| score.abs() <= bound);
                    assert!(bounded, "{name} on {kind}: predicts {scores:?}");
                }
                Err(Error::Example(ExampleError::Diverged | ExampleError::KernelOverflow)) if !normalised => {}
                Err(error) => panic!("{name} on {kind}: {error}"),
            }
        }
        assert_eq!(learner.validate(), Ok(()), "{name} on {kind}");
    }
}

fn nothing_is_allocated(name: &str, memory: Memory, mut learner: Subject, rows: &[TestRow]) {
    learn(name, &mut learner, rows);
    let (mut scratch, mut scores) = (Scratch::default(), vec![0.0; learner.outputs()]);
    let mut variances = scores.clone();
    let mut predict = |learner: &Subject| {
        let mut refused = |row: &&TestRow| {
            learner.predict_into(&row.x, &mut scratch, &mut scores).is_err()
                || learner.predict_variance_into(&row.x, &mut scratch, &mut scores, &mut variances).is_err()
        };
        rows.iter().filter(|row| refused(row)).count()
    };
    assert_eq!(predict(&learner), 0, "{name}: a prediction fails");
    let allocated = allocations_during(|| {
        predict(&learner);
    });
    assert_eq!(allocated, 0, "{name}: predictions allocate");
    if memory == Memory::Bounded {
        // A first round on known points, with weights, lets every buffer reach its size.
        let known: Vec<TestRow> = rows.iter().map(|row| row.weighted(0.5)).collect();
        learn(name, &mut learner, &known);
        let size = learner.dictionary_size();
        let mut refused = 0;
        let allocated = allocations_during(|| {
            for (t, row) in rows.iter().enumerate() {
                let target = Target::weighted(&row.y, [1.0, 0.5, 2.0][t % 3]);
                refused += usize::from(learner.learn(&row.x, target, &mut scores).is_err());
            }
        });
        assert_eq!(refused, 0, "{name}: a weight is refused");
        assert_eq!(learner.dictionary_size(), size, "{name}: the dictionary still grows; the check needs a fixed one");
        assert_eq!(allocated, 0, "{name}: {allocated} allocations in {} steps of fixed size", rows.len());
    }
}
