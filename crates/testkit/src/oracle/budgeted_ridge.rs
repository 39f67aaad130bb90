//! Ridge regression on few examples, solved anew in every round: SW-KRLS on the last of them,
//! FB-KRLS on those that matter most.
//!
//! Both predict `kᵀα`, `α = (K + λΩ⁻¹)⁻¹ỹ`. FB-KRLS adds the example, and beyond `M` drops the one
//! with the least `|α_i|/[(K + λΩ⁻¹)⁻¹]_ii`, the first of several; with `η_y > 0` the stored labels
//! move before: `ỹ_i += η_y ω k(d_i, x)(y − ỹ_i)`.

use nalgebra::{DMatrix, DVector};

use super::dense::{gram, kernel_vector, solve};
use super::{KernelFn, Trace, WeightedExample};

/// The examples that count, with their labels and weights.
#[derive(Default)]
struct RetainedExamples {
    points: Vec<Vec<f64>>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    rounds: Vec<usize>,
}

impl RetainedExamples {
    fn matrix(&self, kernel: KernelFn, lambda: f64) -> DMatrix<f64> {
        let noise = DVector::from_iterator(self.weights.len(), self.weights.iter().map(|weight| lambda / weight));
        gram(&self.points, kernel) + DMatrix::from_diagonal(&noise)
    }

    fn alpha(&self, kernel: KernelFn, lambda: f64) -> DVector<f64> {
        solve(&self.matrix(kernel, lambda), &DVector::from_column_slice(&self.labels))
    }

    fn predict(&self, x: &[f64], kernel: KernelFn, lambda: f64) -> f64 {
        if self.points.is_empty() {
            return 0.0;
        }
        kernel_vector(&self.points, x, kernel).dot(&self.alpha(kernel, lambda))
    }

    fn push(&mut self, round: usize, example: &WeightedExample) {
        self.points.push(example.x.clone());
        self.labels.push(example.y[0]);
        self.weights.push(example.weight);
        self.rounds.push(round);
    }

    fn remove(&mut self, index: usize) {
        self.points.remove(index);
        self.labels.remove(index);
        self.weights.remove(index);
        self.rounds.remove(index);
    }
}

/// SW-KRLS by its definition, on a window of so many examples.
pub fn sw_krls(stream: &[WeightedExample], kernel: KernelFn, lambda: f64, window: usize) -> Trace {
    let (mut trace, mut kept) = (Trace::default(), RetainedExamples::default());
    for (t, example) in stream.iter().enumerate() {
        trace.predictions.push(kept.predict(&example.x, kernel, lambda));
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
    let (mut trace, mut kept) = (Trace::default(), RetainedExamples::default());
    for (t, example) in stream.iter().enumerate() {
        trace.predictions.push(kept.predict(&example.x, kernel, lambda));
        if example.weight == 0.0 {
            continue;
        }
        for (label, point) in kept.labels.iter_mut().zip(&kept.points) {
            *label += eta_y * example.weight * kernel(point, &example.x) * (example.y[0] - *label);
        }
        kept.push(t, example);
        if kept.points.len() > budget {
            let inverse = kept.matrix(kernel, lambda).try_inverse().expect("the oracle met a singular matrix");
            let alpha = kept.alpha(kernel, lambda);
            let significance = |i: usize| alpha[i].abs() / inverse[(i, i)];
            let least = (0..=budget).fold(0, |least, i| if significance(i) < significance(least) { i } else { least });
            kept.remove(least);
        }
    }
    trace.dictionary = kept.rounds;
    trace
}
