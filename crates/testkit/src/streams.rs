//! Seeded streams for tests: one pleasant, the others each built around one thing that breaks
//! careless code.
//!
//! A stream of examples is a `Vec<(Vec<f64>, f64)>`, inputs in `[-1, 1]^d` (except for
//! [`far_away`]), targets near `[-1, 1]`; [`integrating`] is a series for forecasters. The same
//! arguments give the same stream on every platform up to the last bit of `sin` and `exp`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::oracle::Example;

/// Uniform random points in `[-1, 1]^dimension` with target [`smooth_target`] plus `noise` times a
/// standard normal.
pub fn smooth_noisy(seed: u64, count: usize, dimension: usize, noise: f64) -> Vec<Example> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let x = uniform_point(&mut generator, dimension);
            let y = noisy_target(&mut generator, &x, noise);
            (x, y)
        })
        .collect()
}

/// Every second point lies 1e-3 away from the one before it, in a random direction; noise 0.1.
///
/// The Gram matrix of a dictionary that keeps both has eigenvalues near 1e-6.
pub fn near_duplicates(seed: u64, count: usize, dimension: usize) -> Vec<Example> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut stream: Vec<Example> = Vec::with_capacity(count);
    for t in 0..count {
        let x = if t % 2 == 0 {
            uniform_point(&mut generator, dimension)
        } else {
            let direction: Vec<f64> = normals(&mut generator, dimension);
            let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
            stream[t - 1].0.iter().zip(&direction).map(|(x, v)| x + 1e-3 * v / length).collect()
        };
        let y = noisy_target(&mut generator, &x, 0.1);
        stream.push((x, y));
    }
    stream
}

/// The points are drawn from only `distinct` different ones, each first seen in turn and then
/// repeated at random; noise 0.1.
///
/// # Panics
/// If `distinct` is zero.
pub fn exact_duplicates(seed: u64, count: usize, dimension: usize, distinct: usize) -> Vec<Example> {
    assert!(distinct > 0, "a stream needs at least one distinct point");
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let pool: Vec<Vec<f64>> = (0..distinct).map(|_| uniform_point(&mut generator, dimension)).collect();
    (0..count)
        .map(|t| {
            let index = if t < distinct { t } else { generator.random_range(0..distinct) };
            let y = noisy_target(&mut generator, &pool[index], 0.1);
            (pool[index].clone(), y)
        })
        .collect()
}

/// As [`smooth_noisy`] with noise 0.1, but the last column is 0 throughout, as scaling leaves a
/// constant column.
pub fn constant_column(seed: u64, count: usize, dimension: usize) -> Vec<Example> {
    let mut stream = smooth_noisy(seed, count, dimension, 0.1);
    for (x, _) in &mut stream {
        if let Some(last) = x.last_mut() {
            *last = 0.0;
        }
    }
    stream
}

/// As [`smooth_noisy`] with noise 0.1, but every fifth point is moved by 1e3 along every axis, each
/// time in a new place: a Gaussian kernel between it and any other point is exactly 0.
pub fn far_away(seed: u64, count: usize, dimension: usize) -> Vec<Example> {
    let mut stream = smooth_noisy(seed, count, dimension, 0.1);
    for (t, (x, _)) in stream.iter_mut().enumerate() {
        if t % 5 == 4 {
            for value in x.iter_mut() {
                *value += 1e3 * (t + 1) as f64;
            }
        }
    }
    stream
}

/// The last `dimension` values of a Hénon map, scaled to `[-1, 1]`, with the next one as target:
/// inputs on a thin set, each a shift of the one before.
pub fn embedded(seed: u64, count: usize, dimension: usize) -> Vec<Example> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let start = uniform_point(&mut generator, 2);
    let (mut before, mut now) = (0.1 * start[0], 0.1 * start[1]);
    let mut series = Vec::with_capacity(count + dimension + 50);
    while series.len() < count + dimension + 50 {
        (before, now) = (now, 1.0 - 1.4 * now * now + 0.3 * before);
        series.push(now / 1.3);
    }
    series[50..].windows(dimension + 1).map(|w| (w[..dimension].to_vec(), w[dimension])).take(count).collect()
}

/// As [`smooth_noisy`] with noise 0.05; from the middle on the target has the other sign and lies
/// 0.3 higher.
pub fn switching(seed: u64, count: usize, dimension: usize) -> Vec<Example> {
    let mut stream = smooth_noisy(seed, count, dimension, 0.05);
    for (_, y) in &mut stream[count / 2..] {
        *y = 0.3 - *y;
    }
    stream
}

/// Inputs and outputs of `outputs` coupled double integrators with noise in state and output, which
/// grow like `t^1.5`; the `inputs` numbers of an input, uniform in `[-1, 1]`, push all of them and
/// show in the outputs at once.
pub fn integrating(seed: u64, count: usize, outputs: usize, inputs: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut states = vec![(0.0, 0.0); outputs];
    (0..count)
        .map(|_| {
            let u = uniform_point(&mut generator, inputs);
            let (push, noise) = (u.iter().sum::<f64>(), normals(&mut generator, 3 * outputs));
            let y = states.iter().zip(noise.chunks_exact(3)).map(|((place, _), e)| place + 0.4 * push + 0.5 * e[0]);
            let y: Vec<f64> = y.collect();
            let mut left = 0.0;
            for ((place, speed), e) in states.iter_mut().zip(noise.chunks_exact(3)) {
                *place += *speed + 0.3 * e[1];
                *speed += 0.2 * push + 0.1 * e[2] + 0.05 * left;
                left = e[1];
            }
            (u, y)
        })
        .collect()
}

/// The noiseless target of the streams: `½ sin(3 Σ x_i/√d) + ½ exp(−‖x‖²) − ¼`.
pub fn smooth_target(x: &[f64]) -> f64 {
    let mean_direction = x.iter().sum::<f64>() / (x.len() as f64).sqrt();
    let square = x.iter().map(|v| v * v).sum::<f64>();
    0.5 * (3.0 * mean_direction).sin() + 0.5 * (-square).exp() - 0.25
}

/// `count` uniforms on `[0, 1)`, for the oracles that toss coins.
pub fn uniforms(seed: u64, count: usize) -> Vec<f64> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| generator.random::<f64>()).collect()
}

/// `features` frequency vectors from `N(0, I/σ²)`, for the Fourier oracle.
pub fn frequencies(seed: u64, features: usize, dimension: usize, sigma: f64) -> Vec<Vec<f64>> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    (0..features).map(|_| normals(&mut generator, dimension).into_iter().map(|v| v / sigma).collect()).collect()
}

/// A standard normal number by the formula of Box and Muller.
pub fn normal(generator: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (generator.random(), generator.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn uniform_point(generator: &mut ChaCha8Rng, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|_| generator.random_range(-1.0..1.0)).collect()
}

fn normals(generator: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(generator)).collect()
}

fn noisy_target(generator: &mut ChaCha8Rng, x: &[f64], noise: f64) -> f64 {
    let normal: f64 = StandardNormal.sample(generator);
    smooth_target(x) + noise * normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(x: &[f64], z: &[f64]) -> f64 {
        x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn the_same_seed_gives_the_same_stream_and_another_seed_another() {
        assert_eq!(smooth_noisy(1, 20, 3, 0.1), smooth_noisy(1, 20, 3, 0.1));
        assert_ne!(smooth_noisy(1, 20, 3, 0.1), smooth_noisy(2, 20, 3, 0.1));
    }

    #[test]
    fn near_duplicates_are_a_thousandth_apart() {
        for pair in near_duplicates(3, 20, 4).chunks(2) {
            let gap = distance(&pair[0].0, &pair[1].0);
            assert!((gap - 1e-3).abs() < 1e-12, "gap {gap}");
        }
    }

    #[test]
    fn exact_duplicates_use_no_more_points_than_asked_for() {
        let stream = exact_duplicates(4, 50, 2, 6);
        for (t, (x, _)) in stream.iter().enumerate() {
            let earlier = stream[..t].iter().any(|(z, _)| z == x);
            assert_eq!(earlier, t >= 6, "round {t}");
        }
    }

    #[test]
    fn the_constant_column_is_zero_and_the_others_are_not() {
        for (x, _) in constant_column(5, 10, 3) {
            assert!(x[2] == 0.0 && x[0] != 0.0 && x[1] != 0.0);
        }
    }

    #[test]
    fn far_points_are_far_from_every_other() {
        let stream = far_away(6, 20, 2);
        for t in [4, 9, 14, 19] {
            for (s, (x, _)) in stream.iter().enumerate() {
                assert!(s == t || distance(x, &stream[t].0) > 1e3);
            }
        }
    }
}
