//! Simulated dynamical systems, as streams of pairs of a state and the state that follows it.
//!
//! An operator learner is fed with pairs `(x, x⁺)`; the systems of this folder are those by which
//! such learners are known:
//!
//! | system | state | step |
//! |---|---|---|
//! | [`FourWells`] | ℝ² | overdamped Langevin dynamics in a potential with four wells, Euler–Maruyama |
//! | [`Duffing`] | ℝ² | the unforced Duffing oscillator, two regions of attraction, Runge–Kutta |
//! | [`Lorenz`] | ℝ³ | Lorenz's three equations of 1963, Runge–Kutta |
//! | [`Ar1`] | ℝ | `x⁺ = ax + sξ`, ξ standard normal, exact |
//! | [`FiniteChain`] | a finite set of points | a transition matrix, exact; also that of [`Ar1`] on a grid |
//! | [`Pendulum`] | angle and velocity | the swing-up task of the Gym collection, with an action and a reward |
//!
//! Every simulation has a seed: starting points and noise come from separate ChaCha8 streams of it,
//! so that a longer run begins like a shorter one wherever the system itself allows.

mod ar1;
mod chain;
mod duffing;
mod four_wells;
mod integrate;
mod lorenz;
mod pairs;
mod pendulum;

pub use ar1::Ar1;
pub use chain::FiniteChain;
pub use duffing::Duffing;
pub use four_wells::FourWells;
pub use integrate::rk4;
pub use lorenz::Lorenz;
pub use pairs::Pairs;
pub use pendulum::{Pendulum, PendulumState};
