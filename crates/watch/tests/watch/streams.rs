//! Seeded streams with and without changes.

use mercer_watch::{Alarm, Change, ChangeParams};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(&mut *rng)).collect()
}

/// Independent normal rows.
pub(crate) fn independent(seed: u64, rows: usize, columns: usize) -> Vec<Vec<f64>> {
    let mut rng = generator(seed);
    (0..rows).map(|_| normals(&mut rng, columns)).collect()
}

/// Autoregression: each value is `part` of the one before it, and noise.
pub(crate) fn autoregression(seed: u64, rows: usize, columns: usize, part: f64) -> Vec<Vec<f64>> {
    let mut rng = generator(seed);
    let mut state = vec![0.0; columns];
    let mut next = || {
        let noise = normals(&mut rng, columns);
        state.iter_mut().zip(noise).for_each(|(value, noise)| *value = part * *value + noise);
        state.clone()
    };
    (0..200).for_each(|_| drop(next()));
    (0..rows).map(|_| next()).collect()
}

/// Counts, flags and heavy tails.
pub(crate) fn odd(seed: u64, rows: usize) -> Vec<Vec<f64>> {
    let mut rng = generator(seed);
    let row = |_| {
        let [a, b] = [rng.random::<f64>(), rng.random::<f64>()];
        vec![(-5.0 * a.ln()).floor(), f64::from(u8::from(b < 0.03)), (rng.random::<f64>() - 0.5).tan().powi(3)]
    };
    (0..rows).map(row).collect()
}

/// A number with a season of 24 rows that follows its past, one that does not, and a category of
/// three.
pub(crate) fn mixed(seed: u64, rows: usize) -> Vec<Vec<f64>> {
    let mut rng = generator(seed);
    let numbers = autoregression(1000 + seed, rows, 1, 0.8).into_iter().zip(independent(2000 + seed, rows, 1));
    let season = |t: usize| 4.0 * (std::f64::consts::TAU * t as f64 / 24.0).sin();
    let row = |(t, (follows, free)): (usize, (Vec<f64>, Vec<f64>))| {
        vec![season(t) + follows[0], free[0], f64::from(rng.random_range(0..3_u8))]
    };
    numbers.enumerate().map(row).collect()
}

pub(crate) fn alarms(rows: &[Vec<f64>], params: ChangeParams) -> Vec<Alarm> {
    let mut change = Change::new(rows[0].len(), params).expect("parameters in range");
    rows.iter().filter_map(|row| change.learn(row).expect("as many columns")).collect()
}
