//! Changes and rises are told soon, with the right column, and seldom without a change.

use mercer_watch::{Change, ChangeParams, RiseParams, Rises, ScoreKind, Slopes, TakenOut};

use crate::streams::{alarms, autoregression, generator, independent, mixed, normals, odd};

/// Streams of 20 columns that change in row 3000: the median delay of five seeds, and the columns.
fn delays(change: impl Fn(&mut Vec<f64>, &[f64])) -> (u64, Vec<(usize, ScoreKind)>) {
    let mut found: Vec<(u64, usize, ScoreKind)> = (0..5)
        .map(|seed| {
            let mut rows = independent(seed, 4500, 20);
            let noise = independent(100 + seed, 4500, 1);
            rows.iter_mut().zip(noise).skip(3000).for_each(|(row, noise)| change(row, &noise));
            let alarms = alarms(&rows, ChangeParams::default());
            let alarm = alarms.iter().find(|alarm| alarm.row > 3000).expect("an alarm");
            let top = (0..20).max_by(|a, b| alarm.shares[*a].total_cmp(&alarm.shares[*b])).expect("columns");
            (alarm.row - 3000, top, alarm.kind)
        })
        .collect();
    found.sort_by_key(|found| found.0);
    (found[2].0, found.iter().map(|found| (found.1, found.2)).collect())
}

#[test]
fn a_level_and_a_spread_are_found_in_their_column() {
    let (delay, found) = delays(|row, _| row[3] += 1.0);
    assert!(delay <= 45 && found.iter().filter(|found| found.0 == 3).count() >= 4, "{delay}: {found:?}");
    let (delay, found) = delays(|row, _| row[7] *= 1.5);
    assert!(delay <= 136 && found.iter().filter(|found| found.0 == 7).count() >= 4, "{delay}: {found:?}");
}

#[test]
fn a_correlation_is_found_in_its_pair() {
    let (delay, found) = delays(|row, _| row[3] = 0.8 * row[4] + 0.6 * row[3]);
    assert!(delay <= 81, "{delay}: {found:?}");
    let right = |found: &&(usize, ScoreKind)| matches!(found.0, 3 | 4) && found.1 != ScoreKind::Column;
    assert!(found.iter().filter(right).count() >= 4, "{found:?}");
}

#[test]
fn gaps_that_come_are_a_change_of_their_column() {
    let mut rows = independent(1, 1300, 4);
    rows[1000..].iter_mut().step_by(3).for_each(|row| row[2] = f64::NAN);
    let alarm = alarms(&rows, ChangeParams::default()).swap_remove(0);
    assert!((1000..1060).contains(&alarm.row) && alarm.shares[2] > 0.9, "{alarm:?}");
    assert!((995..=1005).contains(&alarm.since), "{alarm:?}");
}

/// In the short: 20,000 rows each at one alarm in 1000, where 20 are due, and 40 are not.
#[test]
fn false_alarms_come_as_seldom_as_promised() {
    let params = ChangeParams::default().rows_to_a_false_alarm(1000.0);
    let count =
        |stream: fn(u64) -> Vec<Vec<f64>>| -> usize { (0..4).map(|seed| alarms(&stream(seed), params).len()).sum() };
    let found = [
        count(|seed| independent(seed, 5000, 4)),
        count(|seed| odd(seed, 5000)),
        count(|seed| autoregression(seed, 5000, 3, 0.9)),
    ];
    assert!(found.iter().all(|found| (2..=28).contains(found)), "{found:?}");
}

/// A column of few values shows the smallest move of what is foretold of it. What its neighbours
/// depend on is not taken out of it, and what a change of another foretells begins anew. 18 alarms
/// are due without a change, and 8 behind one.
#[test]
fn a_category_beside_a_season_or_a_change_gives_no_more_alarms() {
    let seeds = 0..40;
    let still: usize = seeds.clone().map(|seed| alarms(&mixed(seed, 4600), ChangeParams::default()).len()).sum();
    assert!(still <= 31, "{still}");
    let behind = |seed| {
        let mut rows = mixed(seed, 4600);
        rows[2600..].iter_mut().for_each(|row| row[1] += 2.0);
        let alarms = alarms(&rows, ChangeParams::default());
        alarms.iter().filter(|alarm| alarm.row > 2600).count() - 1
    };
    let behind: usize = seeds.map(behind).sum();
    assert!(behind <= 17, "{behind}");
}

#[test]
fn dependence_is_taken_out_and_told() {
    let mut change = Change::new(2, ChangeParams::default()).expect("parameters in range");
    for (t, row) in autoregression(4, 3000, 2, 0.9).into_iter().enumerate() {
        let season = 4.0 * (std::f64::consts::TAU * t as f64 / 48.0).sin();
        change.learn(&row.iter().map(|value| value + season).collect::<Vec<_>>()).expect("two columns");
    }
    let taken = change.taken_out();
    assert!(taken[0] == TakenOut::Season(48), "{taken:?}");
    // With it left in alarms come all the time.
    let rows = autoregression(4, 3000, 2, 0.9);
    assert!(alarms(&rows, ChangeParams::default().independent(true)).len() > 3);
}

/// Noise moves the peak of a weak season by one or two rows, and columns without a season hide it
/// in the mean over all. The noisy fall of the autocorrelations of a trend or of a long season has
/// small peaks at short lags.
#[test]
fn the_length_of_a_season_is_that_of_the_season() {
    let taken = |seed: u64, part: &dyn Fn(usize, usize) -> f64| {
        let mut change = Change::new(8, ChangeParams::default()).expect("parameters in range");
        for (t, row) in independent(seed, 1200, 8).into_iter().enumerate() {
            let moved: Vec<f64> = row.iter().enumerate().map(|(j, value)| value + part(t, j)).collect();
            change.learn(&moved).expect("eight columns");
        }
        change.taken_out()[0]
    };
    let wave = |rows: f64, t: usize, j: usize| (std::f64::consts::TAU * t as f64 / rows + j as f64).sin();
    for seed in 0..12 {
        let day = taken(seed, &|t, j| if j < 2 { 1.3 * wave(24.0, t, j) } else { 0.0 });
        assert_eq!(day, TakenOut::Season(24), "{seed}");
        assert_eq!(taken(seed, &|t, _| 0.02 * t as f64), TakenOut::Level, "{seed}");
        let long = taken(seed, &|t, j| 2.0 * wave(150.0, t, j));
        assert!(matches!(long, TakenOut::Season(140..=160)), "{seed}: {long:?}");
    }
}

#[test]
fn risen_errors_are_told_and_fallen_ones_are_not() {
    let mut rng = generator(2);
    let mut told = |sizes: [f64; 3]| -> Vec<u64> {
        let mut rises = Rises::new(RiseParams::default()).expect("parameters in range");
        let sizes = sizes.into_iter().flat_map(|size| std::iter::repeat_n(size, 1500));
        let mut losses = sizes.zip(normals(&mut rng, 4500)).map(|(size, noise)| size * noise.abs());
        std::iter::from_fn(|| losses.next().map(|loss| rises.learn(loss))).flatten().map(|rise| rise.row).collect()
    };
    assert_eq!(told([4.0, 2.0, 1.0]), [0; 0]);
    let rise = told([1.0, 1.0, 3.0]);
    assert!(rise.len() == 1 && (3000..3040).contains(&rise[0]), "{rise:?}");
}

#[test]
fn the_slope_that_changed_is_to_blame() {
    let mut rng = generator(9);
    let mut slopes = Slopes::new(4);
    for _ in 0..1000 {
        let row = normals(&mut rng, 5);
        assert_eq!(slopes.learn(&row[..4], row[4]), None);
    }
    slopes.rise();
    let found = (0..64).find_map(|_| {
        let row = normals(&mut rng, 5);
        slopes.learn(&row[..4], row[4] - 1.2 * row[2])
    });
    let shares = found.expect("64 rows are enough");
    assert!(shares[2] > 0.6 && !slopes.is_explaining(), "{shares:?}");
}

#[test]
fn rows_of_another_width_leave_no_trace() {
    let mut change = Change::new(2, ChangeParams::default()).expect("parameters in range");
    assert!(change.learn(&[1.0]).is_err());
    assert_eq!(change.rows(), 0);
    assert!(Change::new(0, ChangeParams::default()).is_err());
    assert!(Change::new(2, ChangeParams::default().burn_in(10)).is_err());
    assert!(Rises::new(RiseParams::default().rows_to_a_false_alarm(0.5)).is_err());
}

/// The largest numbers there are do no harm.
#[test]
fn hostile_values_are_values() {
    let mut rows = independent(5, 1200, 3);
    for (t, row) in rows.iter_mut().enumerate().skip(300).step_by(37) {
        row[t % 3] = [f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -1e300][t % 5];
    }
    let mut change = Change::new(3, ChangeParams::default()).expect("parameters in range");
    for row in &rows {
        change.learn(row).expect("three columns");
        assert!(change.evidence().is_finite());
    }
}

/// A column that the past foretells, such as the hour, does not blind the others.
#[test]
fn an_hour_and_regular_gaps_do_no_harm() {
    let mut rows = independent(3, 2500, 3);
    for (t, row) in rows.iter_mut().enumerate() {
        row.push((t % 24) as f64);
        if t % 50 == 7 {
            row[0] = f64::NAN;
        }
        if t >= 2000 {
            row[1] += 1.0;
        }
    }
    let found = alarms(&rows, ChangeParams::default());
    let alarm = found.iter().find(|alarm| alarm.row > 2000).expect("the change is found");
    assert!(alarm.row < 2080 && alarm.shares[1] > 0.8, "{found:?}");
}
