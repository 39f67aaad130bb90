//! Reference of a controller that knows the pendulum: dynamic programming on a grid.
//!
//! `V(θ, ω) = max_u { r(θ, ω, u) + γ V(θ⁺, ω⁺) }` on equally spaced angles (periodic) and
//! velocities, bilinear between them, with the torques and the discount of the learnt controllers.
//! A sweep costs four multiply-adds a cell and torque; successors are computed once.

use std::f64::consts::{PI, TAU};

use mercer_streams::{Pendulum, PendulumState};

/// No value moves by more than this in the last sweep.
const TOLERANCE: f64 = 1e-3;

/// The value function of the pendulum itself.
#[derive(Clone, Debug)]
pub(super) struct ValueFunction {
    angles: usize,
    velocities: usize,
    /// Row by row: one row a velocity.
    values: Vec<f64>,
    torques: Vec<f64>,
    discount: f64,
}

/// Where a state lies in the grid: four cells and how much each counts.
#[derive(Clone, Copy, Debug)]
struct GridPlace {
    cells: [u32; 4],
    shares: [f64; 4],
}

impl ValueFunction {
    /// Solved on `angles` by `velocities` cells to a change of [`TOLERANCE`].
    pub(super) fn solve(angles: usize, velocities: usize, torques: Vec<f64>, discount: f64) -> Self {
        let values = vec![0.0; angles * velocities];
        let mut reference = Self { angles, velocities, values, torques, discount };
        let moves: Vec<(f64, GridPlace)> = (0..reference.values.len())
            .flat_map(|cell| {
                let state = reference.state(cell);
                reference.torques.iter().map(move |u| (state, *u))
            })
            .map(|(state, u)| (state.reward(u), reference.place(&state.after(u))))
            .collect();
        let mut next = reference.values.clone();
        loop {
            let mut change = 0.0_f64;
            for ((value, old), moves) in
                next.iter_mut().zip(&reference.values).zip(moves.chunks_exact(reference.torques.len()))
            {
                *value = moves
                    .iter()
                    .map(|(reward, place)| reward + discount * reference.at(place))
                    .fold(f64::NEG_INFINITY, f64::max);
                change = change.max((*value - old).abs());
            }
            std::mem::swap(&mut reference.values, &mut next);
            if change <= TOLERANCE {
                return reference;
            }
        }
    }

    /// The best torque in this state.
    pub(super) fn torque(&self, state: &PendulumState) -> f64 {
        let mut best = (0.0, f64::NEG_INFINITY);
        for u in &self.torques {
            let value = state.reward(*u) + self.discount * self.at(&self.place(&state.after(*u)));
            if value > best.1 {
                best = (*u, value);
            }
        }
        best.0
    }

    /// The value of this state.
    pub(super) fn value(&self, state: &PendulumState) -> f64 {
        self.at(&self.place(state))
    }

    fn state(&self, cell: usize) -> PendulumState {
        let (column, row) = (cell % self.angles, cell / self.angles);
        let limit = Pendulum::LARGEST_VELOCITY;
        PendulumState {
            angle: -PI + TAU * column as f64 / self.angles as f64,
            velocity: -limit + 2.0 * limit * row as f64 / (self.velocities - 1) as f64,
        }
    }

    fn place(&self, state: &PendulumState) -> GridPlace {
        let limit = Pendulum::LARGEST_VELOCITY;
        let x = (state.wrapped_angle() + PI) / TAU * self.angles as f64;
        let y = (state.velocity + limit) / (2.0 * limit) * (self.velocities - 1) as f64;
        // The last row has nothing above it.
        let (column, row) = (x.floor(), y.floor().min((self.velocities - 2) as f64));
        let (across, up) = (x - column, y - row);
        let (left, below) = (column as usize % self.angles, row as usize * self.angles);
        let (right, above) = ((left + 1) % self.angles, below + self.angles);
        GridPlace {
            cells: [below + left, below + right, above + left, above + right].map(|cell| cell as u32),
            shares: [(1.0 - across) * (1.0 - up), across * (1.0 - up), (1.0 - across) * up, across * up],
        }
    }

    fn at(&self, place: &GridPlace) -> f64 {
        place.cells.iter().zip(&place.shares).map(|(cell, share)| share * self.values[*cell as usize]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> ValueFunction {
        ValueFunction::solve(41, 41, (-4..=4).map(|i| f64::from(i) / 2.0).collect(), 0.95)
    }

    #[test]
    fn between_cells_a_linear_function_is_exact() {
        let mut reference = small();
        let plane = |state: &PendulumState| 3.0 + state.wrapped_angle() - 2.0 * state.velocity;
        reference.values = (0..reference.values.len()).map(|cell| plane(&reference.state(cell))).collect();
        for (angle, velocity) in [(0.3, -7.95), (-2.9, 8.0), (2.7, 0.01), (0.3 + TAU, -8.0)] {
            let state = PendulumState { angle, velocity };
            assert!((reference.value(&state) - plane(&state)).abs() < 1e-9, "{state:?}");
        }
    }

    #[test]
    fn values_satisfy_the_equation_and_the_symmetry() {
        let reference = small();
        for cell in (0..reference.values.len()).step_by(97) {
            let state = reference.state(cell);
            let best = |u: &f64| state.reward(*u) + 0.95 * reference.value(&state.after(*u));
            let right = reference.torques.iter().map(best).fold(f64::NEG_INFINITY, f64::max);
            assert!((reference.values[cell] - right).abs() < 0.95 * TOLERANCE + 1e-12);
        }
        let at = |angle, velocity| PendulumState { angle, velocity };
        assert!((reference.value(&at(1.0, 2.0)) - reference.value(&at(-1.0, -2.0))).abs() < 0.1);
        assert!(reference.value(&at(0.0, 0.0)) > -0.5);
        // Hanging still, either side will do; falling slowly to the right, it pushes to the left.
        assert_eq!(reference.torque(&at(0.1, 0.3)), -2.0);
    }
}
