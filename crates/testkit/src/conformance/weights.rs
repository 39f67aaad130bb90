//! Weights: an example of weight 0 is predicted and leaves no trace, and blocks with weights are
//! their rows.

use mercer_core::Validate;
use mercer_learners::{Regressor, RegressorExt};

use super::{Subject, TestRow, bits, close, learn, learn_together, state, step};

/// Block sizes below, at and above what learners take together.
const SIZES: [usize; 7] = [1, 2, 3, 4, 7, 33, 160];

/// The rows at even places with weight 0, and the others.
fn interleaved(rows: &[TestRow]) -> (Vec<TestRow>, Vec<TestRow>) {
    // Runs of one, two and three, so that groups begin and end with them.
    let idle = |t: usize| [true, false, false, true, true, false, true, true, true, false, false, false][t % 12];
    let mixed = rows.iter().enumerate().map(|(t, row)| if idle(t) { row.weighted(0.0) } else { row.clone() });
    let learnt = rows.iter().enumerate().filter(|(t, _)| !idle(*t)).map(|(_, row)| row.clone());
    (mixed.collect(), learnt.collect())
}

/// One by one and in blocks: nothing changes at a row of weight 0, and the others go on as if it
/// were not there.
pub(super) fn nothing_is_learnt_with_weight_zero(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let (mixed, learnt) = interleaved(rows);
    let (mut single, mut without) = (make(), make());
    let outputs = single.outputs();
    let mut expected = Vec::new();
    for row in &mixed {
        let before = (row.weight == 0.0).then(|| state(&single));
        let made = step(&mut single, row).expect("an ordinary example");
        if let Some(before) = before {
            assert_eq!(state(&single), before, "{name}: an example of weight 0 left a trace");
            assert_eq!(step(&mut single, &row.weighted(-0.0)).map(|scores| bits(&scores)), Ok(bits(&made)), "{name}");
        }
        expected.extend(made);
    }
    let of_learnt = |predictions: &[f64]| -> Vec<f64> {
        let kept = predictions.chunks(outputs).zip(&mixed).filter(|(_, row)| row.weight > 0.0);
        kept.flat_map(|(scores, _)| scores.to_vec()).collect()
    };
    let plain = learn(name, &mut without, &learnt);
    assert_eq!(bits(&of_learnt(&expected)), bits(&plain), "{name}: rows of weight 0 change other predictions");
    assert_eq!(state(&single), state(&without), "{name}: rows of weight 0 left a trace");
    for size in SIZES {
        let (mut learner, mut predictions) = (make(), Vec::new());
        for (first, rows) in mixed.chunks(size).enumerate() {
            let idle: Vec<TestRow> = rows.iter().map(|row| row.weighted(0.0)).collect();
            let before = state(&learner);
            if first < 6 || size > 30 {
                assert_eq!(learn_together(&mut learner, &idle, &mut Vec::new()), Ok(()), "{name}: a block of weight 0");
                assert_eq!(state(&learner), before, "{name}: a block of {size} rows of weight 0 left a trace");
            }
            assert_eq!(learn_together(&mut learner, rows, &mut predictions), Ok(()), "{name}: a block of {size}");
        }
        close(&format!("{name}: blocks of {size}, some of weight 0"), &predictions, &expected);
        assert_eq!(learner.dictionary_size(), single.dictionary_size(), "{name}: blocks of {size}");
        assert_eq!(learner.validate(), Ok(()), "{name}: blocks of {size}");
    }
}

/// Weights of many sizes, 0 among them.
pub(super) fn weighted_blocks_equal_one_by_one(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    let weights = [1.0, 0.5, 2.0, 0.0, 1e-3, 3.0, 0.25];
    let rows: Vec<TestRow> = rows.iter().enumerate().map(|(t, row)| row.weighted(weights[t % weights.len()])).collect();
    let mut single = make();
    let expected = learn(name, &mut single, &rows);
    for size in SIZES {
        let (mut learner, mut predictions) = (make(), Vec::new());
        for rows in rows.chunks(size) {
            assert_eq!(learn_together(&mut learner, rows, &mut predictions), Ok(()), "{name}: a block of {size}");
        }
        close(&format!("{name}: weighted blocks of {size}"), &predictions, &expected);
        assert_eq!(learner.dictionary_size(), single.dictionary_size(), "{name}: blocks of {size}");
    }
}
