//! Single wrong values are held back, and streams that change are not.

use mercer_core::Validate;
use mercer_experts::{OutlierScreen, Outliers};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

/// About normal: a sum of twelve uniform values.
fn normals(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0)
}

/// Heavy tails: `exp` of a normal value with deviation 1.5, squared distances of which have no
/// bound.
fn heavy(seed: u64) -> impl Iterator<Item = f64> {
    normals(seed).map(|z| (1.5 * z).exp())
}

/// The rows of those that did not pass.
fn held_back(values: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut screen = OutlierScreen::default();
    let held = values.enumerate().filter(|(_, value)| screen.observe(*value) < 1.0).map(|(row, _)| row).collect();
    assert_eq!(screen.validate(), Ok(()));
    held
}

#[test]
fn ordinary_streams_pass() {
    for seed in 0..20 {
        assert_eq!(held_back(normals(seed).take(20_000)), [0; 0]);
        let walk = normals(seed).scan(0.0, |at, step| {
            *at += step;
            Some(*at)
        });
        assert_eq!(held_back(walk.take(20_000)), [0; 0]);
        assert_eq!(held_back((0..2000).map(|t| 1.3_f64.powi(t))), [0; 0]);
        assert!(held_back(heavy(seed).take(20_000)).len() <= 2);
    }
}

/// The first value after a constant waits for a second, and the nearer of both is the unit.
#[test]
fn a_constant_is_left_by_two_values() {
    let after = |first: &[f64]| held_back([&[7.0; 5000], first, &[8.0, 6.5, 7.0, 8.5]].concat().into_iter());
    assert_eq!(after(&[1e9, 1e9, 1e9]), [5000], "a second of its kind confirms a value");
    assert_eq!(after(&[9.0]), [5000]);
    assert_eq!(after(&[-9999.0]), [5000]);
    assert_eq!(after(&[9.0, -9999.0]), [5000, 5001]);
    let mut screen = OutlierScreen::default();
    (0..20).for_each(|_| assert_eq!(screen.observe(0.0), 1.0));
    assert!(screen.leaves(-9999.0) && !screen.leaves(0.0));
    assert_eq!((screen.observe(-9999.0), screen.waiting()), (0.0, Some(-9999.0)));
    assert_eq!((screen.share(0.0), screen.observe(0.5)), (1.0, 1.0));
    assert_eq!((screen.waiting(), screen.range()), (None, Some((0.0, 0.5))));
    assert!(screen.is_mark(-9999.0) && screen.share(-9999.0) == 0.0);
}

/// One exact value is no new level, however often it comes; several are one.
#[test]
fn marks_never_pass() {
    for count in [3, 30, 3000] {
        let values = normals(9).take(6000).enumerate();
        let spoilt = values.map(|(t, value)| if (1000..1000 + count).contains(&t) { -9999.0 } else { value });
        assert_eq!(held_back(spoilt), (1000..1000 + count).collect::<Vec<_>>());
    }
    let values = normals(9).take(6000).enumerate();
    let levels = values.map(|(t, value)| if t < 1000 { value } else { 1e4 + value.round() });
    assert!(held_back(levels).len() < 20, "a level of whole numbers passes");
}

#[test]
fn one_wrong_value_is_held_back_whatever_its_size() {
    for row in [5, 5000, 60_000] {
        for size in [1e3, 1e6, 1e9, 1e60, 1e300, -1e3, -9999.0, f64::MAX] {
            let values = normals(7).take(row + 3000).enumerate();
            let spoilt = values.map(|(t, value)| if t == row { size } else { value });
            assert_eq!(held_back(spoilt), [row], "{size:e} in row {row}");
        }
    }
}

#[test]
fn one_in_sixty_stays_held_back_and_alternating_signs_do_not_help() {
    let rows = |t: usize| t > 20 && t.is_multiple_of(60);
    let spoilt = normals(3)
        .take(50_000)
        .enumerate()
        .map(|(t, value)| if rows(t) { if t % 120 == 0 { 1e9 } else { -1e40 } } else { value });
    let expected: Vec<usize> = (0..50_000).filter(|t| rows(*t)).collect();
    assert_eq!(held_back(spoilt), expected);
}

#[test]
fn a_shift_passes_after_as_many_rows_as_its_logarithm() {
    for shift in [1e2, 1e4, 1e6, 1e12, -1e60] {
        let values = normals(5).take(4000).enumerate();
        let shifted = values.map(|(t, value)| if t >= 2000 { value + shift * (1.0 + 1e-3 * value) } else { value });
        let held = held_back(shifted);
        let allowed = (shift.abs() / 10.0).log10().ceil() as usize;
        assert!(held.len() <= allowed && held.iter().all(|row| *row < 2000 + allowed), "{shift:e}: {held:?}");
    }
}

#[test]
fn neither_unit_nor_zero_matters() {
    let spoilt = |t: usize, value: f64| if t % 100 == 50 { 512.0 * value } else { value };
    let values: Vec<f64> = normals(11).take(3000).enumerate().map(|(t, value)| spoilt(t, value)).collect();
    let held = held_back(values.iter().copied());
    assert!(!held.is_empty());
    assert_eq!(held_back(values.iter().map(|value| 1024.0 * value)), held);
    assert_eq!(held_back(values.iter().map(|value| -value)), held);
}

#[test]
fn what_passed_wrongly_is_forgotten() {
    let mut screen = OutlierScreen::default();
    screen.observe(1e9);
    normals(1).take(2000).for_each(|value| assert_eq!(screen.observe(value), 1.0));
    assert!(screen.observe(1e6) < 1.0);
}

#[test]
fn a_whole_sequence_is_judged_from_both_ends() {
    for row in 0..40 {
        let values: Vec<f64> =
            normals(2).take(40).enumerate().map(|(t, value)| if t == row { 1e9 } else { value }).collect();
        let found: Vec<usize> = (0..40).filter(|t| OutlierScreen::implausible(&values)[*t]).collect();
        assert_eq!(found, [row]);
    }
}

#[test]
fn the_weight_left_brings_a_value_to_the_width_of_the_range() {
    let mut screen = OutlierScreen::default();
    (0..100).for_each(|t| assert_eq!(screen.observe(f64::from(t % 2)), 1.0));
    // The range is [0, 1], and 11 the edge.
    assert_eq!((screen.share(11.0), screen.share(101.0)), (1.0, 0.1));
    let weights = Outliers::ALL.map(|outliers| outliers.weight(screen.share(101.0)));
    assert_eq!(weights, [1.0, 0.01, 0.0]);
    assert_eq!(Outliers::ALL.map(|outliers| outliers.weight(1.0)), [1.0; 3]);
    assert_eq!(Outliers::ALL.map(|outliers| outliers.name().parse()), Outliers::ALL.map(Ok));
    assert!("clip".parse::<Outliers>().is_err());
}
