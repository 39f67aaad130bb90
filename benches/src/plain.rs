//! What one writes without thinking about the machine: scalar loops with the standard library's `exp`, `sin` and `cos`.
//!
//! They are compiled as the rest (optimised, for the baseline instruction set), so the compiler may vectorise what it can.

/// A Gaussian kernel row of points stored one after the other: `row[j] ← exp(rate ‖x − z_j‖²)`.
pub fn kernel_row_point_major(points: &[f64], x: &[f64], rate: f64, row: &mut [f64]) {
    for (z, value) in points.chunks_exact(x.len()).zip(row) {
        let squared: f64 = x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum();
        *value = (rate * squared).exp();
    }
}

/// The same of points stored dimension by dimension, `row.len()` numbers each.
pub fn kernel_row_dimension_major(points: &[f64], x: &[f64], rate: f64, row: &mut [f64]) {
    row.fill(0.0);
    for (z, x) in points.chunks_exact(row.len()).zip(x) {
        for (sum, z) in row.iter_mut().zip(z) {
            *sum += (x - z) * (x - z);
        }
    }
    for value in row {
        *value = (rate * *value).exp();
    }
}

/// Fourier online gradient descent with one `sin` and one `cos` call for each frequency.
#[derive(Clone, Debug)]
pub struct PlainFogd {
    frequencies: Vec<f64>,
    dimension: usize,
    features: Vec<f64>,
    w: Vec<f64>,
    step: f64,
}

impl PlainFogd {
    /// The learner with these frequencies, `dimension` numbers each.
    #[must_use]
    pub fn new(frequencies: Vec<f64>, dimension: usize, step: f64) -> Self {
        let coordinates = 2 * frequencies.len() / dimension;
        Self { frequencies, dimension, features: vec![0.0; coordinates], w: vec![0.0; coordinates], step }
    }

    /// Predicts, then learns; returns the prediction.
    pub fn predict_then_update(&mut self, x: &[f64], y: f64) -> f64 {
        let scale = 1.0 / ((self.w.len() / 2) as f64).sqrt();
        for (w, pair) in self.frequencies.chunks_exact(self.dimension).zip(self.features.chunks_exact_mut(2)) {
            let angle: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            pair[0] = angle.cos() * scale;
            pair[1] = angle.sin() * scale;
        }
        let prediction: f64 = self.w.iter().zip(&self.features).map(|(w, z)| w * z).sum();
        let move_by = self.step * 2.0 * (prediction - y);
        for (w, z) in self.w.iter_mut().zip(&self.features) {
            *w -= move_by * z;
        }
        prediction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DIMENSION;
    use crate::stream::{Stream, WIDTH};
    use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
    use mercer_learners::{Fogd, FogdParams, Regressor};

    #[test]
    fn the_plain_loops_compute_what_the_library_computes() -> anyhow::Result<()> {
        let stream = Stream::new(30, 1);
        let rows: Vec<f64> = stream.anchors.iter().flat_map(|(x, _)| *x).collect();
        let columns: Vec<f64> = (0..DIMENSION).flat_map(|i| stream.anchors.iter().map(move |(x, _)| x[i])).collect();
        let (mut ours, mut a, mut b) = (AlignedVec::new(), vec![0.0; 30], vec![0.0; 30]);
        let x = stream.examples[7].0;
        Gaussian::new(WIDTH)?.row(&Points::from_rows(DIMENSION, &rows), &x, &mut ours);
        kernel_row_point_major(&rows, &x, -0.5, &mut a);
        kernel_row_dimension_major(&columns, &x, -0.5, &mut b);
        for j in 0..30 {
            assert!((ours[j] - a[j]).abs() < 1e-14 && (ours[j] - b[j]).abs() < 1e-14);
        }
        let mut ours = Fogd::new(DIMENSION, FogdParams { features: 20, ..FogdParams::default() })?;
        let frequencies = (0..20).flat_map(|j| ours.feature_map().frequency(j)).collect();
        let mut plain = PlainFogd::new(frequencies, DIMENSION, FogdParams::default().step);
        for (x, y) in &stream.examples {
            let (a, b) = (ours.predict_then_update(x, *y)?, plain.predict_then_update(x, *y));
            assert!((a - b).abs() < 1e-12);
        }
        Ok(())
    }
}
