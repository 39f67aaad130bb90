//! Ridge regression on few examples, solved anew in every round: SW-KRLS on the last of them,
//! FB-KRLS on those that matter most.
//!
//! Both predict `kᵀα`, `α = (K + λΩ⁻¹)⁻¹ỹ`. FB-KRLS adds the example, and beyond `M` drops the one
//! with the least `|α_i|/[(K + λΩ⁻¹)⁻¹]_ii`, the first of several; with `η_y > 0` the stored labels
//! move before: `ỹ_i += η_y ω k(d_i, x)(y − ỹ_i)`.

use nalgebra::{DMatrix, DVector, Dyn, LU};

use super::dense::{bordered, kernel_vector, without};
use super::{KernelFn, Trace, WeightedExample};

/// The examples that count, with their labels, and the matrix `K + λΩ⁻¹` of their points.
struct RetainedExamples<'a> {
    kernel: KernelFn<'a>,
    lambda: f64,
    points: Vec<Vec<f64>>,
    labels: Vec<f64>,
    rounds: Vec<usize>,
    matrix: DMatrix<f64>,
    /// The factors of the matrix, once they are asked for after a change.
    factors: Option<LU<f64, Dyn, Dyn>>,
}

impl<'a> RetainedExamples<'a> {
    fn new(kernel: KernelFn<'a>, lambda: f64) -> Self {
        let (points, labels, rounds) = (Vec::new(), Vec::new(), Vec::new());
        Self { kernel, lambda, points, labels, rounds, matrix: DMatrix::zeros(0, 0), factors: None }
    }

    fn factors(&mut self) -> &LU<f64, Dyn, Dyn> {
        self.factors.get_or_insert_with(|| self.matrix.clone().lu())
    }

    fn alpha(&mut self) -> DVector<f64> {
        let labels = DVector::from_column_slice(&self.labels);
        self.factors().solve(&labels).expect("the oracle met a singular matrix")
    }

    fn predict(&mut self, x: &[f64]) -> f64 {
        if self.points.is_empty() {
            return 0.0;
        }
        kernel_vector(&self.points, x, self.kernel).dot(&self.alpha())
    }

    fn push(&mut self, round: usize, WeightedExample { x, y, weight }: &WeightedExample) {
        let border = kernel_vector(&self.points, x, self.kernel);
        let matrix = std::mem::replace(&mut self.matrix, DMatrix::zeros(0, 0));
        self.matrix = bordered(matrix, &border, (self.kernel)(x, x) + self.lambda / weight);
        self.points.push(x.clone());
        self.labels.push(y[0]);
        self.rounds.push(round);
        self.factors = None;
    }

    fn remove(&mut self, index: usize) {
        self.matrix = without(std::mem::replace(&mut self.matrix, DMatrix::zeros(0, 0)), index);
        self.points.remove(index);
        self.labels.remove(index);
        self.rounds.remove(index);
        self.factors = None;
    }
}

/// SW-KRLS by its definition, on a window of so many examples.
pub fn sw_krls(stream: &[WeightedExample], kernel: KernelFn, lambda: f64, window: usize) -> Trace {
    let (mut trace, mut kept) = (Trace::default(), RetainedExamples::new(kernel, lambda));
    for (t, example) in stream.iter().enumerate() {
        trace.predictions.push(kept.predict(&example.x));
        if example.weight > 0.0 {
            kept.push(t, example);
        }
        if kept.points.len() > window {
            kept.remove(0);
        }
    }
    trace.dictionary = kept.rounds;
    trace
}

/// FB-KRLS by its definition, on a budget of so many examples.
pub fn fb_krls(stream: &[WeightedExample], kernel: KernelFn, lambda: f64, budget: usize, eta_y: f64) -> Trace {
    let (mut trace, mut kept) = (Trace::default(), RetainedExamples::new(kernel, lambda));
    for (t, example) in stream.iter().enumerate() {
        trace.predictions.push(kept.predict(&example.x));
        if example.weight == 0.0 {
            continue;
        }
        for (label, point) in kept.labels.iter_mut().zip(&kept.points) {
            *label += eta_y * example.weight * kernel(point, &example.x) * (example.y[0] - *label);
        }
        kept.push(t, example);
        if kept.points.len() > budget {
            let inverse = kept.factors().try_inverse().expect("the oracle met a singular matrix");
            let alpha = kept.alpha();
            let significance = |i: usize| alpha[i].abs() / inverse[(i, i)];
            let least = (0..=budget).fold(0, |least, i| if significance(i) < significance(least) { i } else { least });
            kept.remove(least);
        }
    }
    trace.dictionary = kept.rounds;
    trace
}
