//! The pendulum that is to be swung up, with the dynamics of the Gym collection.
//!
//! State: the angle θ (0 is upright) and the angular velocity ω, at most 8 either way. An action is
//! a torque u, at most 2 either way: too weak to lift the pendulum in one go. A step of `dt = 0.05`
//! is semi-implicit Euler,
//!
//! `ω⁺ = clip(ω + ((3g/2l) sin θ + (3/ml²) u) dt)`, `θ⁺ = θ + ω⁺ dt`, with g = 10, m = l = 1,
//!
//! and its reward, from the state before the step, is `−(θ² + 0.1 ω² + 0.001 u²)`, θ wrapped to
//! [−π, π]. An episode has 200 steps and starts at θ uniform on [−π, π], ω uniform on [−1, 1].

use std::f64::consts::{PI, TAU};

use rand_chacha::ChaCha8Rng;

use crate::random::{NOISE_STREAM, START_STREAM, generator, symmetric};

const GRAVITY: f64 = 10.0;
const INTERVAL: f64 = 0.05;

/// An angle and an angular velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PendulumState {
    /// θ in radians, 0 upright, not wrapped.
    pub angle: f64,
    /// ω in radians a unit of time, within ±8.
    pub velocity: f64,
}

impl PendulumState {
    /// θ wrapped to [−π, π).
    #[must_use]
    pub fn wrapped_angle(&self) -> f64 {
        (self.angle + PI).rem_euclid(TAU) - PI
    }

    /// `(sin θ, cos θ, ω)`, which is how a controller sees the state.
    #[must_use]
    pub fn observed(&self) -> [f64; 3] {
        let (sin, cos) = self.angle.sin_cos();
        [sin, cos, self.velocity]
    }

    /// The state that is so observed.
    #[must_use]
    pub fn from_observed([sin, cos, velocity]: [f64; 3]) -> Self {
        Self { angle: sin.atan2(cos), velocity }
    }

    /// The state after a torque, which is clipped to ±[`Pendulum::LARGEST_TORQUE`].
    #[must_use]
    pub fn after(&self, torque: f64) -> Self {
        let torque = torque.clamp(-Pendulum::LARGEST_TORQUE, Pendulum::LARGEST_TORQUE);
        let acceleration = 1.5 * GRAVITY * self.angle.sin() + 3.0 * torque;
        let limit = Pendulum::LARGEST_VELOCITY;
        let velocity = (self.velocity + acceleration * INTERVAL).clamp(-limit, limit);
        Self { angle: self.angle + velocity * INTERVAL, velocity }
    }

    /// Reward of a torque in this state: at most 0.
    #[must_use]
    pub fn reward(&self, torque: f64) -> f64 {
        let torque = torque.clamp(-Pendulum::LARGEST_TORQUE, Pendulum::LARGEST_TORQUE);
        -(self.wrapped_angle().powi(2) + 0.1 * self.velocity.powi(2) + 0.001 * torque.powi(2))
    }
}

/// Episodes of the task: where they start, and random torques, by seed.
#[derive(Clone, Debug)]
pub struct Pendulum {
    starts: ChaCha8Rng,
    torques: ChaCha8Rng,
}

impl Pendulum {
    /// Largest torque either way.
    pub const LARGEST_TORQUE: f64 = 2.0;
    /// Largest angular velocity either way.
    pub const LARGEST_VELOCITY: f64 = 8.0;
    /// Steps of an episode.
    pub const EPISODE: usize = 200;

    /// The episodes of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { starts: generator(seed, START_STREAM), torques: generator(seed, NOISE_STREAM) }
    }

    /// Where the next episode starts.
    pub fn start(&mut self) -> PendulumState {
        PendulumState { angle: PI * symmetric(&mut self.starts), velocity: symmetric(&mut self.starts) }
    }

    /// A torque uniform on what is allowed.
    pub fn random_torque(&mut self) -> f64 {
        Self::LARGEST_TORQUE * symmetric(&mut self.torques)
    }

    /// An event of this probability, from the stream of the torques.
    pub fn happens(&mut self, probability: f64) -> bool {
        (symmetric(&mut self.torques) + 1.0) / 2.0 < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_by_hand() {
        let state = PendulumState { angle: PI / 2.0, velocity: 1.0 };
        // ω⁺ = 1 + (15 + 3·1)·0.05 = 1.9; θ⁺ = π/2 + 1.9·0.05.
        let next = state.after(1.0);
        assert!((next.velocity - 1.9).abs() < 1e-14 && (next.angle - PI / 2.0 - 0.095).abs() < 1e-14);
        assert!((state.reward(1.0) + PI * PI / 4.0 + 0.1 + 0.001).abs() < 1e-14);
        assert_eq!(state.after(9.0), state.after(2.0));
        let fast = PendulumState { angle: 1.0, velocity: 7.9 };
        assert_eq!(fast.after(2.0).velocity, 8.0);
        let round = PendulumState { angle: 7.0, velocity: 0.0 };
        assert!((round.wrapped_angle() - (7.0 - TAU)).abs() < 1e-14);
        let same = PendulumState::from_observed(round.observed());
        assert!((same.angle - round.wrapped_angle()).abs() < 1e-14);
    }

    #[test]
    fn upright_is_the_best_place_and_hanging_earns_least() {
        assert_eq!(PendulumState { angle: 0.0, velocity: 0.0 }.reward(0.0), 0.0);
        let hanging = PendulumState { angle: PI, velocity: 0.0 };
        assert!((hanging.reward(0.0) + PI * PI).abs() < 1e-12);
        // Too weak to lift it: the steady angle is where 15 sin θ = 6, and a constant torque never
        // passes the horizontal.
        let mut state = hanging;
        for _ in 0..Pendulum::EPISODE {
            state = state.after(2.0);
            assert!((state.angle - PI).abs() < PI / 2.0, "{state:?}");
        }
    }

    #[test]
    fn a_seed_is_its_episodes() {
        let (mut one, mut same, mut other) = (Pendulum::new(1), Pendulum::new(1), Pendulum::new(2));
        let starts: Vec<_> = (0..100).map(|_| one.start()).collect();
        assert!(starts.iter().all(|state| state.angle.abs() <= PI && state.velocity.abs() <= 1.0));
        // Torques do not disturb the starts.
        assert!(starts.iter().all(|start| same.random_torque().abs() <= 2.0 && same.start() == *start));
        assert_ne!(other.start(), starts[0]);
        let often = (0..1000).filter(|_| one.happens(0.2)).count();
        assert!((150..250).contains(&often), "{often}");
    }
}
