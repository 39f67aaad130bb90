//! Plain code, as one writes it without thinking about the machine: scalar loops with the standard
//! library's `exp`, `sin` and `cos`.
//!
//! They are compiled as the rest (optimised, for the baseline instruction set), so the compiler may
//! vectorise what it can.

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

/// Least squares by Givens rotations of a full square array `R` and of `U`, one after the other.
#[derive(Clone, Debug)]
pub struct PlainGivens {
    n: usize,
    outputs: usize,
    factor: Vec<f64>,
    projected: Vec<f64>,
    row: Vec<f64>,
    targets: Vec<f64>,
}

impl PlainGivens {
    /// `V = prior · I`.
    #[must_use]
    pub fn new(n: usize, outputs: usize, prior: f64) -> Self {
        let factor = (0..n * n).map(|i| if i % (n + 1) == 0 { prior.sqrt() } else { 0.0 }).collect();
        Self { n, outputs, factor, projected: vec![0.0; n * outputs], row: vec![0.0; n], targets: vec![0.0; outputs] }
    }

    /// Rotates a row into the factor; predicts nothing.
    pub fn update(&mut self, row: &[f64], outputs: &[f64]) {
        self.row.copy_from_slice(row);
        self.targets.copy_from_slice(outputs);
        for j in 0..self.n {
            let (a, b) = (self.factor[j * self.n + j], self.row[j]);
            let length = (a * a + b * b).sqrt();
            let (cosine, sine) = (a / length, b / length);
            let own = &mut self.factor[j * self.n + j..(j + 1) * self.n];
            for (r, x) in own.iter_mut().zip(&mut self.row[j..]) {
                (*r, *x) = (cosine * *r + sine * *x, cosine * *x - sine * *r);
            }
            let own = &mut self.projected[j * self.outputs..(j + 1) * self.outputs];
            for (u, y) in own.iter_mut().zip(&mut self.targets) {
                (*u, *y) = (cosine * *u + sine * *y, cosine * *y - sine * *u);
            }
        }
    }

    /// `ŷ = Uᵀ R⁻ᵀ row`
    pub fn predict(&mut self, row: &[f64], prediction: &mut [f64]) {
        self.row.copy_from_slice(row);
        prediction.fill(0.0);
        for j in 0..self.n {
            let own = &self.factor[j * self.n + j..(j + 1) * self.n];
            let v = self.row[j] / own[0];
            self.row[j..].iter_mut().zip(own).for_each(|(rest, r)| *rest -= v * r);
            let own = &self.projected[j * self.outputs..(j + 1) * self.outputs];
            prediction.iter_mut().zip(own).for_each(|(sum, u)| *sum += v * u);
        }
    }
}

/// Least squares by the Sherman–Morrison formula on the inverse.
#[derive(Clone, Debug)]
pub struct PlainShermanMorrison {
    n: usize,
    inverse: Vec<f64>,
    coefficients: Vec<f64>,
    gain: Vec<f64>,
}

impl PlainShermanMorrison {
    /// `V = prior · I`.
    #[must_use]
    pub fn new(n: usize, outputs: usize, prior: f64) -> Self {
        let inverse = (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 / prior } else { 0.0 }).collect();
        Self { n, inverse, coefficients: vec![0.0; n * outputs], gain: vec![0.0; n] }
    }

    /// Predicts, then learns.
    pub fn predict_then_update(&mut self, row: &[f64], outputs: &[f64], prediction: &mut [f64]) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for (gain, own) in self.gain.iter_mut().zip(self.inverse.chunks_exact(self.n)) {
            *gain = dot(own, row);
        }
        let pivot = 1.0 + dot(&self.gain, row);
        for (gain, own) in self.gain.iter().zip(self.inverse.chunks_exact_mut(self.n)) {
            let share = gain / pivot;
            own.iter_mut().zip(&self.gain).for_each(|(entry, gain)| *entry -= share * gain);
        }
        let targets = prediction.iter_mut().zip(outputs);
        for ((prediction, y), own) in targets.zip(self.coefficients.chunks_exact_mut(self.n)) {
            *prediction = dot(own, row);
            let share = (y - *prediction) / pivot;
            own.iter_mut().zip(&self.gain).for_each(|(entry, gain)| *entry += share * gain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_least_squares_is_the_engines() -> anyhow::Result<()> {
        let series = crate::catalogue::series(120);
        let mut engine = mercer_linalg_incremental::SquareRootRls::new(&[0.5; 12], 3);
        let (mut givens, mut formula) = (PlainGivens::new(12, 3, 0.5), PlainShermanMorrison::new(12, 3, 0.5));
        let (mut ours, mut rotated, mut theirs) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        let mut scratch = mercer_linalg_incremental::SquareRootScratch::default();
        for t in 4..120 {
            let row: AlignedVec = (1..=4).flat_map(|a| series[t - a]).collect();
            engine.predict_then_update(&row, &series[t], 12, &mut ours, &mut scratch)?;
            givens.predict(&row, &mut rotated);
            givens.update(&row, &series[t]);
            formula.predict_then_update(&row, &series[t], &mut theirs);
            for i in 0..3 {
                assert!((ours[i] - rotated[i]).abs() < 1e-12 && (ours[i] - theirs[i]).abs() < 1e-12);
            }
        }
        Ok(())
    }

    use crate::DIMENSION;
    use crate::stream::{AnchorStream, WIDTH};
    use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
    use mercer_learners::{Fogd, FogdParams, RegressorExt};

    #[test]
    fn the_plain_loops_compute_what_the_library_computes() -> anyhow::Result<()> {
        let stream = AnchorStream::new(30, 1);
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
        let mut ours = Fogd::new(DIMENSION, FogdParams::default().features(20))?;
        let frequencies = (0..20).flat_map(|j| ours.feature_map().frequency(j)).collect();
        let mut plain = PlainFogd::new(frequencies, DIMENSION, FogdParams::default().step);
        for (x, y) in &stream.examples {
            let (a, b) = (ours.predict_then_update(x, *y)?, plain.predict_then_update(x, *y));
            assert!((a - b).abs() < 1e-12);
        }
        Ok(())
    }
}
