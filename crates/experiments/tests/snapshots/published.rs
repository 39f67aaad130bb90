//! The authors' own programs, by recorded traces.
//!
//! Li and Liao publish their programs in R (github.com/JunfLi-TJU/OKR, commit 0e5f2fb). Each was
//! run once on the rows of [`row`], in their order, with a Gaussian of width 0.7 and one
//! repetition; all else is as published, except for 12 points in place of 600 in NOGD. Recorded
//! are predictions of some rounds. The first target is 0: the published NONS-ALD makes no step in
//! the first round.

use mercer_kernels::Gaussian;
use mercer_learners::{AogdAld, AogdAldParams, Nogd, NogdParams, NonsAld, NonsAldParams, Regressor, RegressorExt};

const ROUNDS: usize = 120;

/// Row `t`, from 1: two features and a target.
fn row(t: usize) -> ([f64; 2], f64) {
    let x = [(0.7 * t as f64).sin(), (1.3 * t as f64).cos()];
    (x, if t == 1 { 0.0 } else { 0.5 + 0.4 * (2.0 * x[0]).sin() * x[1] })
}

/// Our predictions, before the row is learnt.
fn trace(learner: &mut dyn Regressor) -> Vec<f64> {
    (1..=ROUNDS).map(row).map(|(x, y)| learner.predict_then_update(&x, y).unwrap()).collect()
}

fn compare(ours: &[f64], theirs: &[(usize, f64)]) {
    for (t, value) in theirs {
        assert!((ours[t - 1] - value).abs() < 1e-9, "round {t}: {} and {value}", ours[t - 1]);
    }
}

/// With one line of the published program mended: while the dictionary does not grow, it steps with
/// the inverse of `A` from before the round (`vt <- wt - A_gt`), where Algorithm 3 has that of the
/// round's own `A`.
#[test]
fn nons_ald_is_the_published_program_with_its_step_mended() {
    let params = NonsAldParams::default().mu(1.0).alpha(25.0 / ROUNDS as f64).radius(1.0).label_bound(1.0);
    let mut learner = NonsAld::new(Gaussian::new(0.7).unwrap(), 2, params.max_dictionary(None)).unwrap();
    let theirs = [
        (14, 0.291332459624465),
        (20, 0.648583948940855),
        (40, 0.269152915801713),
        (60, 0.776454365009986),
        (80, 0.537537581011715),
        (100, 0.44470958465425),
        (120, 0.803424741645531),
    ];
    compare(&trace(&mut learner), &theirs);
    assert_eq!(learner.dictionary_size(), 11);
}

#[test]
fn aogd_ald_is_the_published_program() {
    let growth_limit = Some(AogdAldParams::growth_limit_for(2, ROUNDS));
    let params = AogdAldParams::default().radius(2.0).alpha(25.0 / ROUNDS as f64).growth_limit(growth_limit);
    let mut learner = AogdAld::new(Gaussian::new(0.7).unwrap(), 2, params).unwrap();
    let theirs = [
        (14, 0.113455238867975),
        (20, 0.819869945709478),
        (40, 0.36213413405653),
        (60, 0.84683645037376),
        (80, 0.638233925846741),
        (100, 0.312360678837909),
        (120, 0.783755765274418),
    ];
    compare(&trace(&mut learner), &theirs);
    assert_eq!(learner.dictionary_size(), 11);
}

/// Up to its switch. There the published program carries the function over by `V` where `Vᵀ`
/// belongs (its line `tem <- D*V`), which scrambles what was learnt.
#[test]
fn nogd_is_the_published_program_until_its_switch() {
    let params = NogdParams::default().budget(12).rank(12).step(10.0 / (ROUNDS as f64).sqrt()).radius(None);
    let mut learner = Nogd::new(Gaussian::new(0.7).unwrap(), 2, params).unwrap();
    let ours = trace(&mut learner);
    compare(&ours, &[(5, 0.534241367853498), (8, 1.37475409247783), (11, 0.615701228870618)]);
    let after = -0.419079476358142;
    assert!((ours[12] - after).abs() > 0.1, "{} and {after}", ours[12]);
}
