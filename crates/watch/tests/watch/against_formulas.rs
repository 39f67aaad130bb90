//! The detector and the parts of newness, row by row, against their definitions.

use mercer_testkit::oracle::{RankOptions, bets_on_ranks, newness_parts, tail_share};
use mercer_watch::{Change, ChangeParams, Novelty, NoveltyParams};

use crate::streams::independent;

#[test]
fn the_evidence_is_the_sum_of_shiryaev_and_roberts() {
    let params = ChangeParams::default().burn_in(128).independent(true).rows_to_a_false_alarm(1e9);
    // Values with ties; one column, and that of its gaps, which is constant and wins nothing.
    let mut rows = independent(3, 900, 1);
    rows.iter_mut().for_each(|row| row[0] = (4.0 * row[0]).round());
    rows[700..].iter_mut().for_each(|row| row[0] += 1.0);
    let mut change = Change::new(1, params).expect("parameters in range");
    let values: Vec<f64> = rows.iter().map(|row| row[0]).collect();
    let bets = |values: &[f64]| bets_on_ranks(values, 128, RankOptions::default());
    let (column, gaps) = (bets(&values), bets(&vec![0.0; 900]));
    for (t, row) in rows.iter().enumerate() {
        assert_eq!(change.learn(row), Ok(None));
        assert_eq!(change.is_watching(), t >= 127);
        if t >= 128 {
            let expected = 0.5 * (column[t - 128] + gaps[t - 128]);
            let off = (change.evidence() / expected - 1.0).abs();
            assert!(off < 1e-9, "row {t}: {} and {expected}", change.evidence());
            // What never changes wins nothing.
            assert!((gaps[t - 128] - (t - 127) as f64).abs() < 1e-9, "row {t}: {}", gaps[t - 128]);
        }
    }
}

/// The inverse is up to 32 rows old, and the margins up to an eighth of all.
#[test]
fn the_parts_of_newness_are_their_formulas() {
    let mut rows = independent(7, 500, 3);
    rows.iter_mut().for_each(|row| row[2] = 0.9 * row[0] + 0.1 * row[2]);
    rows[480] = vec![9.0, 0.0, -9.0];
    let mut novelty = Novelty::new(3, NoveltyParams::default()).expect("parameters in range");
    let (mut ranked, mut next, mut raw) = (256, 272, Vec::<[f64; 3]>::new());
    for (t, row) in rows.iter().enumerate() {
        let new = novelty.learn(row).expect("three columns");
        if t >= next {
            (ranked, next) = (next, next + (next / 8).max(16));
        }
        if t < 256 {
            assert_eq!(new, None);
            continue;
        }
        let parts = newness_parts(&rows, t, 256, t / 32 * 32, ranked);
        if raw.len() >= 40 {
            let new = new.expect("rows enough");
            for (k, place) in [0, 1, 3].into_iter().enumerate() {
                let past: Vec<f64> = raw.iter().map(|parts| parts[k]).collect();
                let expected = -tail_share(&past, parts[k]).ln();
                let off = (new.parts[place] - expected).abs();
                assert!(off < 1e-6 * expected.max(1.0), "row {t}, part {place}: {} and {expected}", new.parts[place]);
            }
            let mut sorted = new.parts;
            sorted.sort_by(|a, b| b.total_cmp(a));
            assert!((new.score - sorted[0] - 0.5 * sorted[1]).abs() < 1e-5);
            assert_eq!(new.p < 0.02, t == 480 || new.p < 0.02);
            assert!((new.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        raw.push(parts);
    }
}
