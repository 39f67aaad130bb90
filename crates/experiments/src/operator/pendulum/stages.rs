//! Learning in stages: two episodes, then value iteration on what has been learnt, then a look at
//! how well its policy does.

use crate::prelude::*;
use std::f64::consts::PI;

use mercer_kernels::{Gaussian, Points, Product};
use mercer_koopman::{
    Budget, OperatorLearner, Policy, Sogd, SogdParams, StepSchedule, ValueIterationParams, value_iteration,
};
use mercer_streams::{Pairs, Pendulum, PendulumState};

/// Episodes a stage.
pub(super) const EPISODES: usize = 2;
/// Torques, equally spaced.
const TORQUES: usize = 25;
pub(super) const DISCOUNT: f64 = 0.99;
/// Where value iteration stops; scores do not see a smaller change.
const TOLERANCE: f64 = 0.1;
/// Sweeps at most. Estimated weights are not all positive, so that the iteration need not contract;
/// 0.99⁴⁰⁰ is 0.02.
pub(super) const SWEEPS: usize = 400;

/// Kernel, step and budget of a learner. The kernel is a Gaussian with a width for each kind of
/// coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PendulumSetting {
    pub(super) name: &'static str,
    /// Width for sin θ and cos θ.
    pub(super) angle_width: f64,
    pub(super) velocity_width: f64,
    pub(super) torque_width: f64,
    pub(super) step: StepSchedule,
    pub(super) budget: Budget,
}

/// Size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Stages of two episodes.
    pub(crate) stages: usize,
    /// Episodes by which a stage is judged.
    pub(crate) judged_by: usize,
    /// Episodes by which the last stage is judged.
    pub(crate) last_judged_by: usize,
    /// Angles, and as many velocities, of the reference.
    pub(crate) reference: usize,
    /// Cells a side of the value maps.
    pub(crate) cells: usize,
}

/// State of a learner after a stage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StageView {
    pub(super) size: usize,
    pub(super) seen: usize,
    /// The sum of rewards of each episode, by starting point.
    pub(super) scores: Vec<f64>,
    pub(super) sweeps: usize,
    /// Pairs that the rank guard kept out.
    pub(super) forced: u64,
    /// The value function on [`value_grid`].
    pub(super) values: Vec<f64>,
}

/// Angles and velocities, cut into `cells` by `cells`.
pub(super) fn value_grid(cells: usize) -> Grid {
    let limit = Pendulum::LARGEST_VELOCITY;
    Grid { x_range: (-PI, PI), y_range: (-limit, limit), columns: cells, rows: cells }
}

pub(super) fn torques() -> Vec<f64> {
    let at = |i: usize| Pendulum::LARGEST_TORQUE * (2.0 * i as f64 / (TORQUES - 1) as f64 - 1.0);
    (0..TORQUES).map(at).collect()
}

/// Where the episodes start by which all policies are judged.
pub(super) fn starts(count: usize, seed: u64) -> Vec<PendulumState> {
    let mut episodes = Pendulum::new(seed);
    (0..count).map(|_| episodes.start()).collect()
}

/// The sum of rewards of one episode.
pub(super) fn score(start: PendulumState, mut torque: impl FnMut(&PendulumState) -> Result<f64>) -> Result<f64> {
    let (mut state, mut sum) = (start, 0.0);
    for _ in 0..Pendulum::EPISODE {
        let u = torque(&state)?;
        sum += state.reward(u);
        state = state.after(u);
    }
    Ok(sum)
}

impl PendulumSetting {
    /// A state as the kernel sees it, in units of its widths.
    fn seen(&self, state: &PendulumState) -> [f64; 3] {
        let [sin, cos, velocity] = state.observed();
        [sin / self.angle_width, cos / self.angle_width, velocity / self.velocity_width]
    }

    fn unseen(&self, seen: &[f64]) -> PendulumState {
        let width = self.angle_width;
        PendulumState::from_observed([seen[0] * width, seen[1] * width, seen[2] * self.velocity_width])
    }

    /// The reward that value iteration maximises.
    fn reward(&self) -> impl Fn(&[f64], &[f64]) -> f64 {
        |state, action| self.unseen(state).reward(action[0] * self.torque_width)
    }

    /// The best torque by a policy, and the value of the state.
    fn act(&self, policy: &Policy<Gaussian>, state: &PendulumState) -> Result<(f64, f64)> {
        let (action, value) = policy.greedy(&self.seen(state), self.reward())?;
        Ok((policy.actions().point(action)[0] * self.torque_width, value))
    }

    fn learner(&self) -> Result<Sogd<Product<Gaussian, Gaussian>, Gaussian>> {
        let unit = Gaussian::new(1.0)?;
        let params = SogdParams::default().step(self.step).budget(self.budget).max_dictionary(None);
        Ok(Sogd::new(Product::new(unit, unit, 3), 4, unit, 3, params)?)
    }

    /// All stages.
    pub(super) fn learn_in_stages(&self, size: &Size, starts: &[PendulumState], seed: u64) -> Result<Vec<StageView>> {
        let mut episodes = Pendulum::new(seed);
        let (mut learner, mut steps) = (self.learner()?, Vec::new());
        let scaled: Vec<f64> = torques().iter().map(|u| u / self.torque_width).collect();
        let actions = Points::from_rows(1, &scaled);
        let mut sights = Vec::with_capacity(size.stages);
        for stage in 0..size.stages {
            let pairs = self.collect(&mut episodes);
            steps.clear();
            learner.learn_block(pairs.inputs(), pairs.outputs(), &mut steps)?;
            let params = ValueIterationParams::default().discount(DISCOUNT).sweeps(SWEEPS).tolerance(TOLERANCE);
            let solved = value_iteration(learner.operator(), &actions, self.reward(), params)?;
            let judged_by = if stage + 1 == size.stages { size.last_judged_by } else { size.judged_by };
            let own = |start: &PendulumState| score(*start, |state| Ok(self.act(&solved, state)?.0));
            let scores: Result<Vec<f64>> = starts.iter().take(judged_by).map(own).collect();
            let value = |[angle, velocity]: &[f64; 2]| {
                Ok(self.act(&solved, &PendulumState { angle: *angle, velocity: *velocity })?.1)
            };
            let values: Result<Vec<f64>> = value_grid(size.cells).centres().iter().map(value).collect();
            sights.push(StageView {
                size: learner.operator().inputs().len(),
                seen: learner.rounds() as usize,
                scores: scores?,
                sweeps: solved.sweeps,
                forced: learner.forced_rejections(),
                values: values?,
            });
        }
        Ok(sights)
    }

    /// The pairs of one stage.
    fn collect(&self, episodes: &mut Pendulum) -> Pairs {
        let mut pairs = Pairs::new(4, 3);
        for _ in 0..EPISODES {
            let mut state = episodes.start();
            for _ in 0..Pendulum::EPISODE {
                let torque = episodes.random_torque();
                let next = state.after(torque);
                let [sin, cos, velocity] = self.seen(&state);
                pairs.push(&[sin, cos, velocity, torque / self.torque_width], &self.seen(&next));
                state = next;
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: PendulumSetting = PendulumSetting {
        name: "",
        angle_width: 0.5,
        velocity_width: 2.0,
        torque_width: 4.0,
        step: StepSchedule::Constant(0.5),
        budget: Budget::Constant(0.1),
    };

    #[test]
    fn a_state_seen_in_units_of_widths_comes_back() {
        let state = PendulumState { angle: -2.0, velocity: 3.0 };
        let seen = SETTING.seen(&state);
        assert!((seen[2] - 1.5).abs() < 1e-15 && (seen[0] - 2.0 * (-2.0_f64).sin()).abs() < 1e-15);
        let back = SETTING.unseen(&seen);
        assert!((back.angle + 2.0).abs() < 1e-14 && (back.velocity - 3.0).abs() < 1e-14);
        assert!((SETTING.reward()(&seen, &[0.25]) - state.reward(1.0)).abs() < 1e-12);
    }

    #[test]
    fn an_episode_upright_costs_nothing_and_one_that_hangs_costs_all() {
        let at = |angle| PendulumState { angle, velocity: 0.0 };
        assert_eq!(score(at(0.0), |_| Ok(0.0)).unwrap(), 0.0);
        let hanging = score(at(-PI), |_| Ok(0.0)).unwrap();
        assert!((hanging + 200.0 * PI * PI).abs() < 1e-6, "{hanging}");
    }

    #[test]
    fn torques_reach_from_end_to_end() {
        let torques = torques();
        assert_eq!((torques[0], torques[12], torques[24]), (-2.0, 0.0, 2.0));
    }
}
