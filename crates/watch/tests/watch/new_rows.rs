//! Newness: what is found, at which level, with which column.

use mercer_watch::{Novelty, NoveltyParams};
use rand::RngExt;

use crate::streams::{autoregression, generator, independent};

/// Share of rows with a p-value below each level.
fn levels(rows: &[Vec<f64>]) -> [f64; 3] {
    let mut novelty = Novelty::new(rows[0].len(), NoveltyParams::default()).expect("parameters in range");
    let values: Vec<f64> =
        rows.iter().filter_map(|row| novelty.learn(row).expect("as many columns")).map(|new| new.p).collect();
    [0.05, 0.01, 0.001].map(|level| values.iter().filter(|p| **p < level).count() as f64 / values.len() as f64)
}

#[test]
fn p_values_hold_their_levels_and_do_so_under_drift() {
    let still = independent(3, 6000, 5);
    let mut drifting = autoregression(4, 6000, 5, 0.5);
    drifting.iter_mut().enumerate().for_each(|(t, row)| row[1] *= 1.0 + t as f64 / 3000.0);
    for rows in [still, drifting] {
        let [five, one, tenth] = levels(&rows);
        assert!(
            (0.035..0.07).contains(&five) && (0.005..0.018).contains(&one) && tenth < 0.004,
            "{five} {one} {tenth}"
        );
    }
}

#[test]
fn a_broken_dependence_and_a_far_value_are_new_in_their_column() {
    let (mut rng, mut right) = (generator(6), 0);
    let mut rows = independent(5, 4000, 6);
    rows.iter_mut().for_each(|row| row[4] = row[0] + row[1] + 0.2 * row[4]);
    let mut marked = Vec::new();
    for t in (600..4000).step_by(100) {
        let column = rng.random_range(0..6);
        rows[t][column] = if column == 4 { -rows[t][4] - 2.0 * rows[t][4].signum() } else { 6.0 };
        marked.push((t, column));
    }
    let mut novelty = Novelty::new(6, NoveltyParams::default()).expect("parameters in range");
    let news: Vec<_> = rows.iter().map(|row| novelty.learn(row).expect("six columns")).collect();
    let mut found = 0;
    for (t, column) in &marked {
        let new = news[*t].as_ref().expect("rows enough");
        found += usize::from(new.p < 0.005);
        right += usize::from(new.shares.iter().all(|share| *share <= new.shares[*column]));
    }
    assert!(found >= 27 && right >= 31, "{found} found and {right} right of {}", marked.len());
}

#[test]
fn a_gap_where_none_were_is_new() {
    let mut novelty = Novelty::new(3, NoveltyParams::default()).expect("parameters in range");
    independent(8, 1000, 3).iter().for_each(|row| drop(novelty.learn(row)));
    let new = novelty.score(&[0.1, f64::NAN, 0.2]).expect("three columns").expect("rows enough");
    assert!(new.p < 0.02 && new.shares == [0.0, 1.0, 0.0], "{new:?}");
}

#[test]
fn the_middle_of_a_ring_is_new_though_no_column_is() {
    let mut rng = generator(1);
    let mut novelty = Novelty::new(2, NoveltyParams::default()).expect("parameters in range");
    for _ in 0..2000 {
        let (angle, radius) = (std::f64::consts::TAU * rng.random::<f64>(), 1.0 + 0.05 * rng.random::<f64>());
        novelty.learn(&[radius * angle.cos(), radius * angle.sin()]).expect("two columns");
    }
    let p = |row: &[f64]| novelty.score(row).expect("two columns").expect("rows enough").p;
    assert!(p(&[0.0, 0.0]) < 1e-4 && p(&[0.6, 0.8]) > 0.1);
}

/// What is frequent is not novel, unless clean rows came first.
#[test]
fn frozen_on_clean_rows_it_finds_what_is_frequent() {
    let mut frozen = Novelty::new(4, NoveltyParams::default()).expect("parameters in range");
    independent(2, 1500, 4).iter().for_each(|row| drop(frozen.learn(row)));
    let mut moving = frozen.clone();
    frozen.freeze();
    let mut found = [0, 0];
    let mut rows = independent(12, 1000, 4);
    rows.iter_mut().step_by(5).for_each(|row| row[0] += 6.0);
    for (t, row) in rows.iter().enumerate() {
        for (novelty, found) in [&mut frozen, &mut moving].into_iter().zip(&mut found) {
            let new = novelty.learn(row).expect("four columns").expect("rows enough");
            *found += usize::from(t % 5 == 0 && new.p < 0.001);
        }
    }
    assert!(found[0] > 180 && found[1] < 100, "{found:?}");
    assert_eq!(frozen.rows(), 1500);
}
