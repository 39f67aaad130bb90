//! The steady-state Kalman predictor of a known system: what the others are measured against.
//!
//! ```text
//! ŷ_k = C x̂_k + D u_k,   x̂_{k+1} = A x̂_k + B u_k + L (y_k − ŷ_k),   L = A P Cᵀ (C P Cᵀ + R)⁻¹
//! P = A P Aᵀ + Q − A P Cᵀ (C P Cᵀ + R)⁻¹ C P Aᵀ
//! ```
//!
//! (\[Q\] (3), (5), with the gain at its limit; `x̂_0 = 0`.) The Riccati equation is solved by
//! structure-preserving doubling, which squares the closed loop in every step and so converges when
//! unit eigenvalues of `A` make the plain recursion crawl (Chu, Fan, Lin and Wang 2004), then
//! polished by steps of the recursion.
//!
//! Cost a step: `s² + 2sm + sq + mq` multiply-adds, `s` states. Where an output is missing its
//! innovation is zero, so that the state moves by what was seen alone; the gain is not adapted to
//! that.

use mercer_core::{ExampleError, Inconsistent, Validate};

use crate::Error;
use crate::forecaster::{check_observation, check_prediction, impute};
use crate::lag_regression::RegressionMemory;
use crate::matrix::Matrix;
use crate::{Epoch, ForecastScratch, Forecaster};

/// Doublings after which a solution that exists has long been found, and steps of polishing.
const DOUBLINGS: usize = 64;
const POLISHING: usize = 8;

/// A linear system `x_{k+1} = A x_k + B u_k + w_k`, `y_k = C x_k + D u_k + v_k`, `w ~ (0, Q)`,
/// `v ~ (0, R)`; matrices row by row.
///
/// Sizes follow from the matrices: `s` states from `q`, `m` outputs from `r`, inputs from `b` and
/// `d`.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateSpace {
    /// `A`, `s × s`.
    pub a: Vec<f64>,
    /// `B`, `s × q`; empty without inputs, or when inputs act at once only.
    pub b: Vec<f64>,
    /// `C`, `m × s`.
    pub c: Vec<f64>,
    /// `D`, `m × q`; empty when no input acts at once.
    pub d: Vec<f64>,
    /// `Q`, `s × s`, positive semidefinite.
    pub q: Vec<f64>,
    /// `R`, `m × m`, positive definite.
    pub r: Vec<f64>,
}

/// The steady-state Kalman predictor.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KalmanPredictor {
    model: StateSpace,
    states: usize,
    outputs: usize,
    inputs: usize,
    gain: Vec<f64>,
    error_covariance: Vec<f64>,
    closed_loop_radius: f64,
    state: Vec<f64>,
    time: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: RegressionMemory,
}

impl Validate for KalmanPredictor {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "Kalman predictor";
        let StateSpace { a, b, c, d, q, r } = &self.model;
        let (s, m, i) = (self.states, self.outputs, self.inputs);
        [s, m, i].into_iter().try_for_each(|size| Inconsistent::size(size, WHAT))?;
        let optional = |matrix: &[f64], size: usize| matrix.is_empty() || matrix.len() == size;
        let fits = m > 0
            && [a.len(), q.len(), self.error_covariance.len()] == [s * s; 3]
            && [c.len(), self.gain.len()] == [m * s; 2]
            && r.len() == m * m
            && optional(b, s * i)
            && optional(d, m * i)
            && self.state.len() == s;
        Inconsistent::require(fits, WHAT, "its matrices fit together")?;
        [a, b, c, d, q, r, &self.gain, &self.error_covariance, &self.state].into_iter().try_for_each(Vec::validate)?;
        Inconsistent::require(self.time < usize::MAX / 4, WHAT, "its time can be counted")?;
        self.closed_loop_radius.validate()
    }
}

impl KalmanPredictor {
    /// The predictor of a system, at `x̂_0 = 0`.
    ///
    /// # Errors
    /// When the matrices do not fit together or hold numbers that are not finite, or no stable
    /// filter exists.
    pub fn new(model: &StateSpace) -> Result<Self, Error> {
        let (states, outputs) = (model.q.len().isqrt().max(1), model.r.len().isqrt().max(1));
        let inputs = if model.b.is_empty() { model.d.len() / outputs } else { model.b.len() / states };
        let needed = |matrix: &[f64], size: usize| if matrix.is_empty() { 0 } else { size };
        for (name, matrix, expected) in [
            ("Q", &model.q, states * states),
            ("R", &model.r, outputs * outputs),
            ("A", &model.a, states * states),
            ("C", &model.c, outputs * states),
            ("B", &model.b, needed(&model.b, states * inputs.max(1))),
            ("D", &model.d, needed(&model.d, outputs * inputs.max(1))),
        ] {
            let got = matrix.iter().filter(|value| value.is_finite()).count();
            if got != expected || matrix.len() != expected {
                return Err(Error::Shape { name, expected, got });
            }
        }
        let (a, c) = (Matrix::new(states, states, &model.a), Matrix::new(outputs, states, &model.c));
        let (q, r) = (Matrix::new(states, states, &model.q), Matrix::new(outputs, outputs, &model.r));
        let filter = Riccati { a, c, q: q.symmetrised(), r: r.symmetrised() };
        let (covariance, gain) = filter.solve().ok_or(Error::NoStableFilter)?;
        let closed_loop_radius = filter.a.minus(&gain.times(&filter.c)).spectral_radius();
        if closed_loop_radius.is_nan() || closed_loop_radius >= 1.0 {
            return Err(Error::NoStableFilter);
        }
        Ok(Self {
            model: model.clone(),
            states,
            outputs,
            inputs,
            gain: gain.values,
            error_covariance: covariance.values,
            closed_loop_radius,
            state: vec![0.0; states],
            time: 0,
            work: RegressionMemory::default(),
        })
    }

    /// The gain `L`, `s × m`.
    #[must_use]
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }

    /// The covariance `P` of `x_k − x̂_k`, `s × s`.
    #[must_use]
    pub fn error_covariance(&self) -> &[f64] {
        &self.error_covariance
    }

    /// `ρ(A − LC)`, the rate at which the past is forgotten: the `γ` of \[Q\].
    #[must_use]
    pub fn closed_loop_radius(&self) -> f64 {
        self.closed_loop_radius
    }

    /// The state `x̂_k` from which the next output is predicted.
    #[must_use]
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    fn output_of(&self, input: &[f64], prediction: &mut [f64]) {
        prediction.fill(0.0);
        add_product(&self.model.c, &self.state, prediction);
        if !self.model.d.is_empty() {
            add_product(&self.model.d, input, prediction);
        }
    }
}

/// `y ← y + M x`
fn add_product(matrix: &[f64], x: &[f64], y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(matrix.chunks_exact(x.len().max(1))) {
        *y += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

impl Forecaster for KalmanPredictor {
    fn outputs(&self) -> usize {
        self.outputs
    }
    fn inputs(&self) -> usize {
        self.inputs
    }
    fn feed_through(&self) -> bool {
        !self.model.d.is_empty()
    }
    fn time(&self) -> usize {
        self.time
    }
    fn warmed_up(&self) -> bool {
        true
    }
    fn lags(&self) -> usize {
        0
    }
    fn epochs(&self) -> &[Epoch] {
        &[]
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], _: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        self.output_of(input, prediction);
        Ok(())
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        check_observation(self, input, output)?;
        self.output_of(input, prediction);
        let RegressionMemory { kept, sink, .. } = &mut self.work;
        impute(output, prediction, kept)?;
        // Nothing but the innovation is left of the output.
        kept.iter_mut().zip(&*prediction).for_each(|(y, predicted)| *y -= predicted);
        sink.clear();
        sink.resize(self.states, 0.0);
        add_product(&self.model.a, &self.state, sink);
        if !self.model.b.is_empty() {
            add_product(&self.model.b, input, sink);
        }
        add_product(&self.gain, kept, sink);
        if !sink.iter().all(|x| x.is_finite()) {
            return Err(ExampleError::Diverged.into());
        }
        self.state.copy_from_slice(sink);
        self.time += 1;
        Ok(())
    }
    crate::forecaster::by_missing!();
}

/// The Riccati equation of a filter.
struct Riccati {
    a: Matrix,
    c: Matrix,
    q: Matrix,
    r: Matrix,
}

impl Riccati {
    /// `P` and `L` of the solution that makes `A − LC` stable. From `P = 0` the recursion finds it
    /// wherever noise drives all modes that do not decay. A mode that grows and is not driven
    /// (`Q = 0`) stays at 0 from there, although only a positive `P` is stable; from a positive
    /// beginning it goes there.
    fn solve(&self) -> Option<(Matrix, Matrix)> {
        let stable = |(_, gain): &(Matrix, Matrix)| self.a.minus(&gain.times(&self.c)).spectral_radius() < 1.0;
        [0.0, 1.0].into_iter().find_map(|start| self.solve_from(start).filter(stable))
    }

    /// The recursion from `start · I`, if its doubling converges. `2ⁿ` steps take any `X` to
    /// `P + Fᵀ X (I + G X)⁻¹ F`.
    fn solve_from(&self, start: f64) -> Option<(Matrix, Matrix)> {
        let identity = Matrix::identity(self.a.rows);
        let mut f = self.a.transpose();
        let mut g = self.c.transpose().times(&self.r.solve(&self.c)?).symmetrised();
        let mut p = self.q.clone();
        let mut begun: Option<Matrix> = None;
        let mut converged = false;
        for _ in 0..DOUBLINGS {
            let w = identity.plus(&g.times(&p));
            let (wf, wg) = (w.solve(&f)?, w.solve(&g)?);
            let step = f.transpose().times(&p).times(&wf).symmetrised();
            g = g.plus(&f.times(&wg).times(&f.transpose())).symmetrised();
            f = f.times(&wf);
            p = p.plus(&step);
            if !p.norm().is_finite() {
                return None;
            }
            if start == 0.0 {
                converged = step.norm() <= 1e-15 * p.norm();
            } else {
                let carried = identity.plus(&g.scaled(start)).solve(&f)?;
                let now = p.plus(&f.transpose().times(&carried).scaled(start)).symmetrised();
                converged = begun.is_some_and(|before| now.minus(&before).norm() <= 1e-12 * now.norm());
                begun = Some(now);
            }
            if converged {
                break;
            }
        }
        if !converged {
            return None;
        }
        let mut p = begun.unwrap_or(p);
        for _ in 0..POLISHING {
            p = self.step(&p)?;
        }
        let settled = self.step(&p)?.minus(&p).norm() <= 1e-9 * p.norm().max(f64::MIN_POSITIVE);
        settled.then_some(()).and_then(|()| self.gain(&p).map(|gain| (p, gain)))
    }

    /// `A P Cᵀ (C P Cᵀ + R)⁻¹`
    fn gain(&self, p: &Matrix) -> Option<Matrix> {
        let cp = self.c.times(p);
        let innovation = cp.times(&self.c.transpose()).plus(&self.r);
        // `innovation` is symmetric: its solution is the transpose of what is wanted.
        Some(innovation.solve(&cp.times(&self.a.transpose()))?.transpose())
    }

    /// `(A − LC) P (A − LC)ᵀ + L R Lᵀ + Q`, one step of the recursion in the form that keeps `P`
    /// positive.
    fn step(&self, p: &Matrix) -> Option<Matrix> {
        let gain = self.gain(p)?;
        let closed = self.a.minus(&gain.times(&self.c));
        let noise = gain.times(&self.r).times(&gain.transpose());
        Some(closed.times(p).times(&closed.transpose()).plus(&noise).plus(&self.q).symmetrised())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block-diagonal copies of a matrix.
    fn copies(matrix: &[f64], rows: usize, count: usize) -> Vec<f64> {
        let columns = matrix.len() / rows;
        let mut all = vec![0.0; matrix.len() * count * count];
        for (b, (i, j)) in (0..count).flat_map(|b| (0..matrix.len()).map(move |e| (b, (e / columns, e % columns)))) {
            all[(b * rows + i) * columns * count + b * columns + j] = matrix[i * columns + j];
        }
        all
    }

    /// The system of \[Q\] §5.
    fn tracking() -> StateSpace {
        let a = copies(&[1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.9], 3, 3);
        let c = copies(&[1.0, 0.0, 0.0], 1, 3);
        let q = (0..81).map(|e| ((e / 9) % 3 == e % 9 % 3, (e / 9) / 3 == e % 9 / 3));
        let q = q
            .map(|(same, block)| {
                if !same {
                    0.0
                } else if block {
                    1.0
                } else {
                    0.2
                }
            })
            .collect();
        StateSpace { a, c, q, r: copies(&[1.0], 1, 3), ..StateSpace::default() }
    }

    #[test]
    fn the_closed_loops_of_the_paper() -> Result<(), Error> {
        let kalman = KalmanPredictor::new(&tracking())?;
        assert!((kalman.closed_loop_radius() - 0.49698).abs() < 5e-6, "{}", kalman.closed_loop_radius());
        let slow = StateSpace {
            a: vec![0.98, 0.8, 0.0, 0.0, 0.98, 0.8, 0.0, 0.0, 0.9],
            c: copies(&[1.0], 1, 3),
            q: copies(&[1.0], 1, 3),
            r: copies(&[100.0], 1, 3),
            ..StateSpace::default()
        };
        let kalman = KalmanPredictor::new(&slow)?;
        assert!((kalman.closed_loop_radius() - 0.7783).abs() < 5e-5, "{}", kalman.closed_loop_radius());
        Ok(())
    }

    #[test]
    fn a_scalar_walk_by_hand() -> Result<(), Error> {
        // P = P + 1 − P²/(P + 1): the golden ratio.
        let walk = StateSpace { a: vec![1.0], c: vec![1.0], q: vec![1.0], r: vec![1.0], ..StateSpace::default() };
        let mut kalman = KalmanPredictor::new(&walk)?;
        let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
        assert!((kalman.error_covariance()[0] - golden).abs() < 1e-14);
        assert!((kalman.gain()[0] - 1.0 / golden).abs() < 1e-14);
        let mut prediction = [0.0];
        kalman.predict_then_observe(&[], &[2.0], &mut prediction)?;
        assert_eq!(prediction, [0.0]);
        assert!((kalman.predict(&[])?[0] - 2.0 / golden).abs() < 1e-14);
        // What is not seen does not move the state of a walk.
        kalman.observe(&[], &[f64::NAN])?;
        assert!((kalman.predict(&[])?[0] - 2.0 / golden).abs() < 1e-14);
        Ok(())
    }

    /// `P = 9P/(P + 1)` has the solutions 0 and 8, and `A − LC = 3/(P + 1)`.
    #[test]
    fn a_mode_that_grows_need_not_be_driven() -> Result<(), Error> {
        let growing = StateSpace { a: vec![3.0], c: vec![1.0], q: vec![0.0], r: vec![1.0], ..StateSpace::default() };
        let kalman = KalmanPredictor::new(&growing)?;
        assert!((kalman.error_covariance()[0] - 8.0).abs() < 1e-12, "{:?}", kalman.error_covariance());
        assert!((kalman.closed_loop_radius() - 1.0 / 3.0).abs() < 1e-12);
        // Beside a mode that is driven, and through an output that sees both.
        let both = StateSpace {
            a: vec![3.0, 0.0, 0.0, 0.5],
            c: vec![1.0, 0.0, 0.0, 1.0],
            q: vec![0.0, 0.0, 0.0, 1.0],
            r: vec![1.0, 0.0, 0.0, 1.0],
            ..StateSpace::default()
        };
        let kalman = KalmanPredictor::new(&both)?;
        assert!((kalman.error_covariance()[0] - 8.0).abs() < 1e-10 && kalman.closed_loop_radius() < 0.5);
        Ok(())
    }

    #[test]
    fn inputs_act_where_the_matrices_say() -> Result<(), Error> {
        let model = StateSpace { a: vec![0.5], b: vec![2.0], c: vec![1.0], d: vec![10.0], q: vec![1.0], r: vec![1.0] };
        let mut kalman = KalmanPredictor::new(&model)?;
        assert_eq!((kalman.inputs(), kalman.feed_through()), (1, true));
        assert_eq!(kalman.predict(&[3.0])?, [30.0]);
        kalman.observe(&[3.0], &[30.0])?;
        assert_eq!(kalman.state(), [6.0]);
        Ok(())
    }

    #[test]
    fn models_that_have_no_filter_are_refused() {
        let walk = StateSpace { a: vec![1.0], c: vec![1.0], q: vec![1.0], r: vec![1.0], ..StateSpace::default() };
        let unseen = StateSpace { a: vec![1.1], c: vec![0.0], ..walk.clone() };
        assert!(matches!(KalmanPredictor::new(&unseen), Err(Error::NoStableFilter)));
        let undriven = StateSpace { q: vec![0.0], ..walk.clone() };
        assert!(matches!(KalmanPredictor::new(&undriven), Err(Error::NoStableFilter)));
        let unseen_too = StateSpace { c: vec![0.0], q: vec![0.0], ..unseen };
        assert!(matches!(KalmanPredictor::new(&unseen_too), Err(Error::NoStableFilter)));
        for (name, model) in [
            ("A", StateSpace { a: vec![1.0, 2.0], ..walk.clone() }),
            ("C", StateSpace { c: vec![f64::NAN], ..walk.clone() }),
            ("Q", StateSpace { q: vec![], ..walk.clone() }),
            ("D", StateSpace { b: vec![1.0, 1.0], d: vec![1.0], ..walk }),
        ] {
            assert!(
                matches!(KalmanPredictor::new(&model), Err(Error::Shape { name: own, .. }) if own == name),
                "{name}"
            );
        }
    }
}
