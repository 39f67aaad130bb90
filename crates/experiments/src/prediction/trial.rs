//! A known system, one run of it, and what a forecaster's predictions cost there.

use crate::prelude::*;
use mercer_forecast::{Forecaster, KalmanPredictor, StateSpace};
use mercer_streams::LinearSystem;

/// A system with its steady-state Kalman predictor.
pub(super) struct SystemModel {
    system: LinearSystem,
    kalman: KalmanPredictor,
}

impl SystemModel {
    pub(super) fn new(system: LinearSystem) -> Result<Self> {
        let own = system.matrices();
        let space = StateSpace {
            a: own.a.clone(),
            b: own.b.clone(),
            c: own.c.clone(),
            d: own.d.clone(),
            q: own.q.clone(),
            r: own.r.clone(),
        };
        let kalman = KalmanPredictor::new(&space)?;
        Ok(Self { system, kalman })
    }

    /// m.
    pub(super) fn outputs(&self) -> usize {
        self.system.outputs()
    }

    /// ρ(A − LC).
    pub(super) fn radius(&self) -> f64 {
        self.kalman.closed_loop_radius()
    }

    /// The observability rows `C(A − LC)^power`, m × n.
    pub(super) fn faded(&self, power: usize) -> Vec<f64> {
        let own = self.system.matrices();
        let (n, m) = (own.states, own.outputs);
        let closed = self.closed_loop();
        let mut rows = own.c.clone();
        for _ in 0..power {
            rows = product(&rows, &closed, m, n, n);
        }
        rows
    }

    /// The blocks `C(A − LC)^{a−1}L` of lags a = 1 … `lags`, each m × m.
    pub(super) fn markov(&self, lags: usize) -> Vec<Vec<f64>> {
        let own = self.system.matrices();
        let (n, m) = (own.states, own.outputs);
        let closed = self.closed_loop();
        let mut rows = own.c.clone();
        let mut blocks = Vec::with_capacity(lags);
        for _ in 0..lags {
            blocks.push(product(&rows, self.kalman.gain(), m, n, m));
            rows = product(&rows, &closed, m, n, n);
        }
        blocks
    }

    /// The covariance of the innovations, `R̄ = CPCᵀ + R`.
    pub(super) fn innovation_covariance(&self) -> Vec<f64> {
        let own = self.system.matrices();
        let (n, m) = (own.states, own.outputs);
        let cp = product(&own.c, self.kalman.error_covariance(), m, n, n);
        let mut sum = own.r.clone();
        for i in 0..m {
            for j in 0..m {
                sum[i * m + j] += (0..n).map(|k| cp[i * n + k] * own.c[j * n + k]).sum::<f64>();
            }
        }
        sum
    }

    /// A − LC.
    fn closed_loop(&self) -> Vec<f64> {
        let own = self.system.matrices();
        let correction = product(self.kalman.gain(), &own.c, own.states, own.outputs, own.states);
        own.a.iter().zip(correction).map(|(a, lc)| a - lc).collect()
    }
}

/// `left` (rows × inner) times `right` (inner × columns).
fn product(left: &[f64], right: &[f64], rows: usize, inner: usize, columns: usize) -> Vec<f64> {
    let mut result = vec![0.0; rows * columns];
    for i in 0..rows {
        for k in 0..inner {
            for j in 0..columns {
                result[i * columns + j] += left[i * inner + k] * right[k * columns + j];
            }
        }
    }
    result
}

/// One run: y_0 … y_N, and what the Kalman predictor made of it.
pub(super) struct PredictionTrial {
    m: usize,
    n: usize,
    outputs: Vec<f64>,
    /// ŷ_k.
    kalman: Vec<f64>,
    /// x̂_k.
    states: Vec<f64>,
}

impl PredictionTrial {
    /// The run of repetition `repetition` up to k = `last`; a longer one begins like a shorter one.
    pub(super) fn run(model: &SystemModel, last: usize, experiment_seed: u64, repetition: usize) -> Result<Self> {
        let seed = seed_of(experiment_seed, &format!("linear system / repetition {repetition}"));
        let outputs = model.system.simulate(last + 1, seed)?.outputs.values().to_vec();
        let (m, n) = (model.outputs(), model.system.matrices().states);
        let mut predictor = model.kalman.clone();
        let (mut kalman, mut states) = (vec![0.0; outputs.len()], Vec::with_capacity((last + 1) * n));
        for (y, prediction) in outputs.chunks_exact(m).zip(kalman.chunks_exact_mut(m)) {
            states.extend_from_slice(predictor.state());
            predictor.predict_then_observe(&[], y, prediction)?;
        }
        Ok(Self { m, n, outputs, kalman, states })
    }

    /// N.
    pub(super) fn last(&self) -> usize {
        self.outputs.len() / self.m - 1
    }

    /// m.
    pub(super) fn dimension(&self) -> usize {
        self.m
    }

    /// y_k.
    pub(super) fn output(&self, k: usize) -> &[f64] {
        &self.outputs[k * self.m..(k + 1) * self.m]
    }

    /// x̂_k.
    pub(super) fn state(&self, k: usize) -> &[f64] {
        &self.states[k * self.n..(k + 1) * self.n]
    }

    /// e_k = y_k − ŷ_k into `innovation`.
    pub(super) fn innovation(&self, k: usize, innovation: &mut [f64]) {
        let kalman = &self.kalman[k * self.m..(k + 1) * self.m];
        for ((e, y), prediction) in innovation.iter_mut().zip(self.output(k)).zip(kalman) {
            *e = y - prediction;
        }
    }

    /// `‖y_k − prediction‖² − ‖y_k − ŷ_k‖²`.
    pub(super) fn excess(&self, k: usize, prediction: &[f64]) -> f64 {
        let kalman = &self.kalman[k * self.m..(k + 1) * self.m];
        let squared = |y: f64, other: f64| (y - other) * (y - other);
        let terms = self.output(k).iter().zip(prediction).zip(kalman);
        terms.map(|((y, ours), theirs)| squared(*y, *ours) - squared(*y, *theirs)).sum()
    }

    /// The regret `R_k` of a forecaster at each of `marks` (rising, none after N), summed from k =
    /// `from` on. What `look` is shown of every k is the forecaster before it observes, and its
    /// prediction.
    pub(super) fn regret_watched<F: Forecaster + ?Sized>(
        &self,
        forecaster: &mut F,
        from: usize,
        marks: &[usize],
        mut look: impl FnMut(usize, &[f64]),
    ) -> Result<Vec<f64>> {
        let mut prediction = vec![0.0; self.m];
        let (mut regret, mut curve) = (0.0, Vec::with_capacity(marks.len()));
        let mut marks = marks.iter().copied().peekable();
        for k in 0..=self.last() {
            forecaster.predict_then_observe(&[], self.output(k), &mut prediction)?;
            if k >= from {
                regret += self.excess(k, &prediction);
            }
            look(k, &prediction);
            if marks.next_if_eq(&k).is_some() {
                curve.push(regret);
            }
        }
        Ok(curve)
    }

    /// The same unwatched.
    pub(super) fn regret<F: Forecaster + ?Sized>(
        &self,
        forecaster: &mut F,
        from: usize,
        marks: &[usize],
    ) -> Result<Vec<f64>> {
        self.regret_watched(forecaster, from, marks, |_, _| {})
    }
}

/// Results of `look` on a run for each of so many seeds.
pub(super) fn trials<O: Send>(
    plan: &Plan,
    model: &SystemModel,
    last: usize,
    seeds: usize,
    name: &str,
    look: impl Fn(&PredictionTrial) -> Result<O> + Sync,
) -> Result<Vec<O>> {
    let work = |seed: &usize, _| look(&PredictionTrial::run(model, last, plan.seed, *seed)?);
    let runs = plan.each(0..seeds, |seed| format!("{name} / {seed}"), work)?;
    Ok(runs.0.into_iter().map(|(_, outcome)| outcome).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markov_blocks_and_fading_state_make_the_prediction() {
        let model = SystemModel::new(LinearSystem::slow_decay()).unwrap();
        let trial = PredictionTrial::run(&model, 60, 1, 0).unwrap();
        let (p, k) = (20, 50);
        let (blocks, rows) = (model.markov(p), model.faded(p));
        let mut innovation = vec![0.0; 3];
        trial.innovation(k, &mut innovation);
        for i in 0..3 {
            let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            // (7): y_k = Σ_a G_a y_{k−a} + C(A − LC)^p x̂_{k−p} + e_k.
            let window: f64 = (1..=p).map(|a| dot(&blocks[a - 1][3 * i..3 * i + 3], trial.output(k - a))).sum();
            let total = window + dot(&rows[3 * i..3 * i + 3], trial.state(k - p)) + innovation[i];
            assert!((total - trial.output(k)[i]).abs() < 1e-9, "{total}");
        }
    }
}
