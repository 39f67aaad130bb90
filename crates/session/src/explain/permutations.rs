//! Shapley values by permutations of the columns (Štrumbelj and Kononenko 2014).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::{Absence, Explanation};

/// A number below `bound`.
pub(super) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// From a background row to `x`, one column after the other in a random order and then in the
/// opposite one: each pair is a sample of every effect. Background rows are taken in turn, so
/// that their mean prediction is the base. The effects add up exactly. `put` gives a row the
/// column of another.
pub(super) fn sampled<R: Clone, E>(
    (x, prediction): (&R, f64),
    count: usize,
    (background, absence): (&[R], Absence),
    (permutations, rng): (usize, &mut ChaCha8Rng),
    put: impl Fn(&mut R, &R, usize),
    mut value: impl FnMut(&R) -> Result<f64, E>,
) -> Result<Explanation, E> {
    let pairs = permutations.div_ceil(2);
    let mut order: Vec<usize> = (0..count).collect();
    let (mut sums, mut squares, mut base) = (vec![0.0; count], vec![0.0; count], 0.0);
    let mut rows = vec![0; count];
    for pair in 0..pairs {
        for last in (1..count).rev() {
            order.swap(last, below(rng, last + 1));
        }
        match absence {
            Absence::Together => rows.fill(pair % background.len()),
            Absence::Independent => rows.fill_with(|| below(rng, background.len())),
        }
        let mut start = background[rows.first().copied().unwrap_or(0)].clone();
        (0..count).for_each(|player| put(&mut start, &background[rows[player]], player));
        let first = value(&start)?;
        base += first / pairs as f64;
        let mut sample = vec![0.0; count];
        for forwards in [true, false] {
            let (mut z, mut last) = (start.clone(), first);
            for place in 0..count {
                let player = order[if forwards { place } else { count - 1 - place }];
                put(&mut z, x, player);
                // The last is the prediction itself.
                let now = if place + 1 == count { prediction } else { value(&z)? };
                sample[player] += 0.5 * (now - last);
                last = now;
            }
        }
        for ((sum, square), sample) in sums.iter_mut().zip(&mut squares).zip(sample) {
            *sum += sample;
            *square += sample * sample;
        }
    }
    let n = pairs as f64;
    let effects: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
    let error = |(square, mean): (&f64, &f64)| ((square / n - mean * mean).max(0.0) / (n - 1.0).max(1.0)).sqrt();
    let standard_errors = squares.iter().zip(&effects).map(error).collect();
    Ok(Explanation { prediction, base, effects, standard_errors, names: Vec::new() })
}
