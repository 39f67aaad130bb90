//! Variances: whoever has them tells them with the same prediction, and changes nothing.

use mercer_learners::{RegressorExt, Scratch};

use super::{Subject, TestRow, equal_to_rounding, predict, state, step};

/// A learner says beforehand whether it has variances; once the noise is known they are positive
/// numbers.
pub(super) fn variances_come_with_the_prediction(name: &str, mut learner: Subject, rows: &[TestRow]) {
    let (m, mut scratch) = (learner.outputs(), Scratch::default());
    let (mut scores, mut variances) = (vec![0.0; m], vec![0.0; m]);
    for (t, row) in rows.iter().enumerate() {
        let before = (t % 50 == 3).then(|| state(&learner));
        let told = learner.predict_variance_into(&row.x, &mut scratch, &mut scores, &mut variances);
        let told = told.expect("an ordinary input");
        assert!(!told || learner.has_variance(), "{name}: has a variance and says that it has none");
        assert!(variances.iter().all(|variance| if told { *variance >= 0.0 } else { variance.is_nan() }), "{name}");
        let plain = predict(&learner, &row.x, &mut Scratch::default()).expect("an ordinary input");
        equal_to_rounding(&format!("{name}: with a variance"), &plain, &scores);
        if let Some(before) = before {
            assert_eq!(state(&learner), before, "{name}: telling a variance changed the learner");
        }
        step(&mut learner, row).expect("an ordinary example");
    }
    let told = learner.predict_variance_into(&rows[0].x, &mut scratch, &mut scores, &mut variances);
    // A learner that interpolates every row, having no prior and making room for each, has no idea
    // of the noise.
    let known = learner.has_variance() && (0..m).all(|output| learner.noise(output).is_some());
    assert_eq!(told, Ok(known), "{name}: after {} rows", rows.len());
    if known {
        assert!(variances.iter().all(|variance| *variance > 0.0 && variance.is_finite()), "{name}: {variances:?}");
    }
    let refused = learner.predict_variance_into(&rows[0].x[..1], &mut scratch, &mut scores, &mut variances);
    assert!(refused.is_err(), "{name}: takes another dimension");
}
