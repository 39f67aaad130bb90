//! Examples that are refused, and numbers near the end of their range: the state stays what it was,
//! and valid.

use mercer_core::{ExampleError, Validate};
use mercer_learners::{Error, Loss, RegressorExt, Scratch};
use serde_json::Value;

use super::{Subject, TestRow, bits, close, learn, learn_together, predict, state, step};

/// Demands that `after` is `before`. A refused step may have carried out the changes of an inverse
/// that a pass was to make next anyway: what such a matrix holds is compared by what the learner
/// does.
fn unchanged(what: &str, after: &Subject, before: &Subject, next: &[TestRow]) {
    let (now, then) = (state(after), state(before));
    if now == then {
        return;
    }
    let [mut now, mut then] = [now, then].map(|text| serde_json::from_str::<Value>(&text).expect("JSON"));
    leave_out_passes(&mut now, &mut then);
    assert!(now == then, "{what}: a refused example left a trace in the state");
    let (mut after, mut before) = (after.clone(), before.clone());
    for row in next {
        let [a, b] = [&mut after, &mut before].map(|learner| step(learner, row).map(|scores| bits(&scores)));
        assert_eq!(a, b, "{what}: a refused example left a trace");
    }
}

/// Takes out of both what a pass over an inverse changes, where the changes were complete before.
fn leave_out_passes(now: &mut Value, then: &mut Value) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            let full = then.get("deferred").and_then(Value::as_u64).is_some_and(|deferred| deferred == 8);
            if full && now.get("deferred").and_then(Value::as_u64) == Some(0) {
                for key in ["tiles", "deferred", "gains", "us"] {
                    now.remove(key);
                    then.remove(key);
                }
            }
            now.iter_mut().zip(then.iter_mut()).for_each(|((_, now), (_, then))| leave_out_passes(now, then));
        }
        (Value::Array(now), Value::Array(then)) => {
            now.iter_mut().zip(then.iter_mut()).for_each(|(now, then)| leave_out_passes(now, then));
        }
        _ => {}
    }
}

type ErrorCheck = fn(&Error) -> bool;

/// Rows that no learner takes, in whatever state it is.
fn wrong(learner: &Subject, good: &TestRow) -> Vec<(&'static str, TestRow, ErrorCheck)> {
    let with = |change: &dyn Fn(&mut TestRow)| {
        let mut row = good.clone();
        change(&mut row);
        row
    };
    let mut cases: Vec<(&'static str, TestRow, ErrorCheck)> = vec![
        ("a weight of NaN", good.weighted(f64::NAN), |e| matches!(e, Error::Parameter(_))),
        ("a negative weight", good.weighted(-1.0), |e| matches!(e, Error::Parameter(_))),
        ("an infinite weight", good.weighted(f64::INFINITY), |e| matches!(e, Error::Parameter(_))),
    ];
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for weight in [1.0, 0.0] {
            let input = with(&|row| (row.x[1], row.weight) = (bad, weight));
            cases.push(("an input", input, |e| {
                matches!(e, Error::Example(ExampleError::NonFiniteInput { index: 1, .. }))
            }));
            let target = with(&|row| (row.y[0], row.weight) = (bad, weight));
            cases.push(("a target", target, |e| matches!(e, Error::Example(ExampleError::NonFiniteTarget(_)))));
        }
        let last = with(&|row| *row.y.last_mut().expect("a target has a number") = bad);
        cases.push(("the last target", last, |e| matches!(e, Error::Example(ExampleError::NonFiniteTarget(_)))));
    }
    let none_of_the_loss = match learner.loss() {
        Loss::Softmax(_) => vec![-1.0, 0.5, learner.outputs() as f64],
        Loss::Poisson(_) => vec![-1.0],
        loss if loss.is_margin() => vec![0.0, 0.5, 2.0],
        _ => vec![],
    };
    for bad in none_of_the_loss {
        cases.push(("a target of another loss", with(&|row| row.y[0] = bad), |e| matches!(e, Error::Target { .. })));
    }
    cases
}

/// Rows of another shape, which no block can hold.
fn misshapen(good: &TestRow) -> Vec<(&'static str, TestRow, ErrorCheck)> {
    let with = |change: &dyn Fn(&mut TestRow)| {
        let mut row = good.clone();
        change(&mut row);
        row
    };
    vec![
        ("a short input", with(&|row| row.x.truncate(2)), |e| {
            matches!(e, Error::Example(ExampleError::Dimension { expected: 3, got: 2 }))
        }),
        ("a long input", with(&|row| row.x.push(0.0)), |e| {
            matches!(e, Error::Example(ExampleError::Dimension { expected: 3, got: 4 }))
        }),
        ("no input", with(&|row| row.x.clear()), |e| {
            matches!(e, Error::Example(ExampleError::Dimension { expected: 3, got: 0 }))
        }),
        ("no target", with(&|row| row.y.clear()), |e| {
            matches!(e, Error::Example(ExampleError::Outputs { got: 0, .. }))
        }),
        ("a long target", with(&|row| row.y.push(0.0)), |e| matches!(e, Error::Example(ExampleError::Outputs { .. }))),
    ]
}

pub(super) fn refusals_leave_no_trace(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    for cut in [0, 1, 17, 80] {
        let mut learner = make();
        learn(name, &mut learner, &rows[..cut]);
        let before = learner.clone();
        let text = state(&before);
        let cases = wrong(&learner, &rows[cut]).into_iter().chain(misshapen(&rows[cut]));
        for (what, row, expected) in cases {
            match step(&mut learner, &row) {
                Err(error) if expected(&error) => {}
                other => panic!("{name}: {what} in {row:?} gave {other:?}"),
            }
            if row.y.len() == 1 && row.weight == 1.0 && learner.outputs() == 1 && learner.loss() != Loss::SOFTMAX {
                let other = learner.update(&row.x, row.y[0]);
                assert!(other.as_ref().is_err_and(expected), "{name}: update with {what} gave {other:?}");
            }
            // None of these reaches the state.
            assert_eq!(state(&learner), text, "{name}: {what} left a trace after {cut} rows");
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = predict(&learner, &[bad, 0.0, 0.0], &mut Scratch::default());
            assert!(
                matches!(refused, Err(Error::Example(ExampleError::NonFiniteInput { index: 0, .. }))),
                "{name}: {refused:?}"
            );
        }
        let refused = predict(&learner, &[], &mut Scratch::default());
        assert!(
            matches!(refused, Err(Error::Example(ExampleError::Dimension { expected: 3, got: 0 }))),
            "{name}: {refused:?}"
        );
    }
}

/// The rows before a refused one are learnt, those after it are not.
pub(super) fn refused_rows_end_blocks(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let weights = [1.0, 0.5, 0.0, 2.0, 1.0, 0.0];
    for (head, size, places) in [(0, 6, vec![0, 1, 4]), (50, 40, vec![0, 3, 5, 17, 39])] {
        let mut at_head = make();
        learn(name, &mut at_head, &rows[..head]);
        let block = rows[head..head + size].iter().enumerate();
        let block: Vec<TestRow> = block.map(|(t, row)| row.weighted(weights[t % weights.len()])).collect();
        for place in places {
            for (what, row, expected) in wrong(&at_head, &rows[head + place]) {
                let (mut single, mut together) = (at_head.clone(), at_head.clone());
                let mut spoilt = block.clone();
                spoilt[place] = row;
                let mut predictions = Vec::new();
                let refused = learn_together(&mut together, &spoilt, &mut predictions);
                assert!(refused.as_ref().is_err_and(expected), "{name}: {what} in a block gave {refused:?}");
                let made = learn(name, &mut single, &block[..place]);
                close(&format!("{name}: {what} at row {place} of a block"), &predictions, &made);
                assert_eq!(together.validate(), Ok(()), "{name}: {what} at row {place} of a block");
                let [a, b] = [&together, &single].map(|learner| {
                    let scores =
                        |row: &TestRow| predict(learner, &row.x, &mut Scratch::default()).expect("an ordinary input");
                    rows[100..103].iter().flat_map(scores).collect::<Vec<_>>()
                });
                close(&format!("{name}: after {what} at row {place} of a block"), &a, &b);
            }
        }
    }
}

/// Rows with a number in an input, the target or the weight.
fn huge_rows(rows: &[TestRow], i: usize, value: f64, y: impl Fn(f64) -> Vec<f64>) -> Vec<TestRow> {
    let known = rows[0].x.clone();
    let all = [
        (vec![value, 0.1, 0.2], rows[22].y.clone(), 1.0),
        (vec![0.1, 0.2, 0.3], y(value), 1.0),
        // In the span of what is known, and far from it.
        (known.clone(), y(value), 1.0),
        (known.clone(), y(-value), 2.0),
        (vec![3.0, -3.0, 2.0 + i as f64], y(-value), 1.0),
        (vec![value; 3], y(value), 1.0),
        (vec![value, -value, value], y(-value), 1.0),
        (known, rows[23].y.clone(), value.abs()),
        (vec![-4.0, 3.0, 1.0], rows[24].y.clone(), value.abs()),
    ];
    all.into_iter().map(|(x, y, weight)| TestRow { x, y, weight }).collect()
}

/// A prediction is of numbers, or refused because the kernel overflows.
fn predicts_or_overflows(place: &str, learner: &Subject, x: &[f64]) {
    match predict(learner, x, &mut Scratch::default()) {
        Ok(scores) => assert!(scores.iter().all(|score| score.is_finite()), "{place}: {scores:?}"),
        Err(error) => assert_eq!(error, Error::Example(ExampleError::KernelOverflow), "{place}"),
    }
}

/// Inputs, targets and weights near the end of their range: no panic, no trace of what is refused,
/// and a state that can be saved.
pub(super) fn huge_numbers_are_survived(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let huge = [1e308, -1e308, 1e154, 1e-308, 5e-324, -1e200];
    for (i, value) in huge.into_iter().enumerate() {
        for head in [0, 1, 20] {
            let mut learner = make();
            learn(name, &mut learner, &rows[..head]);
            let loss = learner.loss();
            let numbers = !(loss.is_margin() || loss == Loss::SOFTMAX);
            let y = |value: f64| -> Vec<f64> {
                let plain = &rows[25].y;
                let value = if matches!(loss, Loss::Poisson(_)) { value.abs() } else { value };
                if numbers { vec![value; plain.len()] } else { plain.clone() }
            };
            for row in huge_rows(rows, i, value, y) {
                let before = learner.clone();
                predicts_or_overflows(&format!("{name}, at {row:?}"), &learner, &row.x);
                let mut together = before.clone();
                match step(&mut learner, &row) {
                    Ok(scores) => {
                        assert!(scores.iter().all(|score| score.is_finite()), "{name}: {scores:?} at {row:?}");
                    }
                    Err(error) => {
                        assert!(
                            matches!(error, Error::Example(ExampleError::KernelOverflow | ExampleError::Diverged)),
                            "{name}: {error} at {row:?}"
                        );
                        unchanged(&format!("{name}, {row:?}"), &learner, &before, &rows[30..33]);
                    }
                }
                assert_eq!(learner.validate(), Ok(()), "{name}: after {row:?}");
                // The same row amid a block: refused there, or all are learnt. No row of weight 0
                // goes another way.
                let mut block = rows[26..32].to_vec();
                block[3] = row.weighted(0.0);
                block[4] = row.clone();
                let learnt = learn_together(&mut together, &block, &mut Vec::new());
                assert!(
                    matches!(
                        learnt,
                        Ok(()) | Err(Error::Example(ExampleError::KernelOverflow | ExampleError::Diverged))
                    ),
                    "{name}: {learnt:?}"
                );
                assert_eq!(together.validate(), Ok(()), "{name}: after a block with {row:?}");
                for row in &rows[20..25] {
                    predicts_or_overflows(&format!("{name}, after {value:e}"), &learner, &row.x);
                }
            }
        }
    }
}
