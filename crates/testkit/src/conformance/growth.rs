//! Inputs that gain features, and outputs that come late.

use mercer_core::{ExampleError, Validate};
use mercer_learners::{Error, RegressorExt};

use super::{Subject, TestRow, bits, learn, learn_together, state, step};

fn padded(row: &TestRow, with: f64) -> TestRow {
    let mut row = row.clone();
    row.x.extend([with, -with]);
    row
}

/// `grow` is refused and changes nothing, or the learner goes on: zeros in the new features change
/// no prediction.
pub(super) fn inputs_grow_or_stay(name: &str, make: &dyn Fn() -> Subject, rows: &[TestRow]) {
    for cut in [0, 1, 50, 110] {
        let mut learner = make();
        learn(name, &mut learner, &rows[..cut]);
        let mut narrow = learner.clone();
        let before = state(&learner);
        assert_eq!(learner.grow(0).is_ok(), learner.clone().grow(2).is_ok(), "{name}: no features");
        match learner.grow(2) {
            Err(Error::FixedInputs) => {
                assert_eq!(state(&learner), before, "{name}: growth was refused and left a trace");
                assert_eq!(learner.dimension(), 3, "{name}: growth was refused and changed the dimension");
                learn(name, &mut learner, &rows[cut..cut + 20]);
                return;
            }
            grown => assert_eq!(grown, Ok(()), "{name}: growth after {cut} rows"),
        }
        assert_eq!((learner.dimension(), learner.validate()), (5, Ok(())), "{name}: grown after {cut} rows");
        let refused = step(&mut learner, &rows[cut]);
        assert_eq!(
            refused,
            Err(ExampleError::Dimension { expected: 5, got: 3 }.into()),
            "{name}: grown after {cut} rows"
        );
        if name.contains("auto") {
            // It chooses anew what it is made of; a test of its own tells what it is then.
            learn(name, &mut learner, &rows[..50].iter().map(|row| padded(row, row.x[0])).collect::<Vec<_>>());
            assert_eq!(learner.validate(), Ok(()), "{name}: learnt after growth");
            continue;
        }
        let zeros: Vec<TestRow> = rows[cut..cut + 40].iter().map(|row| padded(row, 0.0)).collect();
        let (expected, got) = (learn(name, &mut narrow, &rows[cut..cut + 40]), learn(name, &mut learner, &zeros));
        assert_eq!(bits(&got), bits(&expected), "{name}: zeros in new features change predictions");
        let some: Vec<TestRow> = rows[..50].iter().map(|row| padded(row, row.x[0])).collect();
        learn(name, &mut learner, &some);
        assert_eq!(learn_together(&mut learner, &some, &mut Vec::new()), Ok(()), "{name}: a block after growth");
        assert_eq!(learner.validate(), Ok(()), "{name}: learnt after growth");
    }
}
