//! One step of the two integrators.

use rand_chacha::ChaCha8Rng;

use crate::random::standard_normal;

/// The classical Runge–Kutta step of order four for `ẋ = field(x)`: error O(dt⁵) a step.
pub fn rk4<const D: usize>(field: impl Fn(&[f64; D]) -> [f64; D], state: &mut [f64; D], dt: f64) {
    let shifted = |slope: &[f64; D], by: f64| -> [f64; D] { std::array::from_fn(|i| state[i] + by * slope[i]) };
    let k1 = field(state);
    let k2 = field(&shifted(&k1, dt / 2.0));
    let k3 = field(&shifted(&k2, dt / 2.0));
    let k4 = field(&shifted(&k3, dt));
    for i in 0..D {
        state[i] += dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

/// The Euler–Maruyama step for `dX = drift(X) dt + σ dB`: weak error O(dt²) a step.
pub(super) fn euler_maruyama<const D: usize>(
    drift: impl Fn(&[f64; D]) -> [f64; D],
    sigma: f64,
    state: &mut [f64; D],
    dt: f64,
    noise: &mut ChaCha8Rng,
) {
    let slope = drift(state);
    for (x, slope) in state.iter_mut().zip(slope) {
        *x += slope * dt + sigma * dt.sqrt() * standard_normal(noise);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::random::{NOISE_STREAM, generator};

    /// The harmonic oscillator turns by t; halving the step divides the error by 2⁴.
    #[test]
    fn runge_kutta_is_of_order_four() {
        let error = |steps: usize| {
            let mut state = [1.0, 0.0];
            (0..steps).for_each(|_| rk4(|x| [x[1], -x[0]], &mut state, 2.0 / steps as f64));
            (state[0] - 2f64.cos()).hypot(state[1] + 2f64.sin())
        };
        let ratio = error(20) / error(40);
        assert!((ratio - 16.0).abs() < 1.0, "{ratio}");
        assert!(error(200) < 1e-9);
    }

    /// Ornstein–Uhlenbeck: the variance at rest is σ²/(2θ), for the scheme itself σ²/(2θ − θ²dt).
    #[test]
    fn euler_maruyama_has_the_variance_of_its_scheme() {
        let (mut state, mut noise, dt) = ([0.0], generator(3, NOISE_STREAM), 0.1);
        let mut squares = 0.0;
        for _ in 0..200_000 {
            euler_maruyama(|x| [-x[0]], 1.0, &mut state, dt, &mut noise);
            squares += state[0] * state[0];
        }
        let expected = 1.0 / (2.0 - dt);
        // About 200000·dt/2 independent values: a relative standard error of √(2/10⁴).
        assert!((squares / 200_000.0 / expected - 1.0).abs() < 0.05, "{}", squares / 200_000.0);
    }
}
