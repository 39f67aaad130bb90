//! Simulated systems and streams whose truth is known.
//!
//! Learners are tried on them: the spectrum, the noiseless target or the transition matrix behind a
//! stream is known, so that what is learnt can be laid beside it. The crate knows neither kernels
//! nor learners.
//!
//! | what | where |
//! |---|---|
//! | streams with a known spectrum | [`Simulation`], [`Decay`], [`gaussian_spectrum`], [`circle_spectrum`] |
//! | linear stochastic systems, with or without inputs | [`LinearSystem`], [`Run`] |
//! | dynamical systems, as pairs of successive states | [`Pairs`]: [`FourWells`], [`Duffing`], [`Lorenz`], [`Ar1`], [`FiniteChain`], [`Pendulum`] |
//!
//! Every simulation takes a seed. Its parts draw from ChaCha8 streams of their own, so that a
//! longer run begins like a shorter one.
//!
//! The feature `serde` serialises simulations, systems and what they give.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod error;
mod linear_system;
mod random;
mod spectrum;
mod synthetic;
mod systems;

pub use error::StreamError;
pub use linear_system::{LinearSystem, Run, SimulatedSeries, SystemMatrices};
pub use random::Draws;
pub use spectrum::{Decay, circle_spectrum, gaussian_spectrum};
pub use synthetic::{Simulated, Simulation};
pub use systems::{Ar1, Duffing, FiniteChain, FourWells, Lorenz, Pairs, Pendulum, PendulumState, rk4};
