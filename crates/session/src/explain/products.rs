//! Learners as sums of products over their inputs.

use mercer_kernels::{AnyKernel, Complex, Gaussian, Points, shapley_values};
use mercer_registry::AnyRegressor;

use super::Absence;
use crate::function::{Affine, Expansion, FunctionPart, Waves, function_parts};

/// `offset + Σ_j w_j x_j + Σ_i α_i Π_j k_j(x_j, c_ij)`, with what is known of a background.
#[derive(Default)]
pub(super) struct ProductSum {
    offset: f64,
    /// `w`; empty where there is no linear part.
    linear: Vec<f64>,
    gaussian: GaussianTerms,
    fourier: FourierTerms,
    absent: AbsentFactors,
}

/// Gaussian factors `exp(−r_i (x_j − c_ij)²)`; centres row by row.
#[derive(Default)]
struct GaussianTerms {
    weights: Vec<f64>,
    rates: Vec<f64>,
    centres: Vec<f64>,
}

/// Complex factors `exp(i w_ij x_j)`; frequencies row by row.
#[derive(Default)]
struct FourierTerms {
    weights: Vec<Complex>,
    frequencies: Vec<f64>,
}

/// Means of the inputs, and factors of absent players: one set, or one for each background row.
#[derive(Default)]
struct AbsentFactors {
    means: Vec<f64>,
    real: Vec<Vec<f64>>,
    complex: Vec<Vec<Complex>>,
}

/// `1/2σ²`
fn rate(kernel: &Gaussian) -> f64 {
    0.5 / (kernel.sigma() * kernel.sigma())
}

/// The Gaussian terms of a kernel, as weights and rates; none of another kernel.
fn gaussians(kernel: &AnyKernel) -> Option<Vec<(f64, f64)>> {
    match kernel {
        AnyKernel::Gaussian(kernel) => Some(vec![(1.0, rate(kernel))]),
        AnyKernel::Mixture(mixture) => {
            let mut all = Vec::new();
            for (weight, kernel) in mixture.terms() {
                all.extend(gaussians(kernel)?.into_iter().map(|(one, rate)| (weight * one, rate)));
            }
            Some(all)
        }
        _ => None,
    }
}

impl ProductSum {
    /// The sum of the outputs of a learner with the weights of `aim`; none where it is no such sum.
    pub(super) fn of_learner(learner: &AnyRegressor<AnyKernel>, aim: &[f64]) -> Option<Self> {
        let mut made = Self::default();
        for part in function_parts(learner, aim)? {
            match part {
                FunctionPart::Expansion(part) => made.add(&part)?,
                FunctionPart::Waves(part) => made.add_waves(part),
                FunctionPart::Affine(part) => made.add_affine(&part),
            }
        }
        Some(made)
    }

    /// `offset + Σ_j w_j x_j`
    pub(super) fn affine(offset: f64, linear: Vec<f64>) -> Self {
        Self { offset, linear, ..Self::default() }
    }

    /// Adds `Σ_i α_i exp(−‖x − c_i‖²/2σ²)`.
    pub(super) fn add_gaussian(&mut self, kernel: &Gaussian, points: &Points, alpha: &[f64]) {
        let rate = rate(kernel);
        for (i, alpha) in alpha.iter().enumerate() {
            self.gaussian.weights.push(*alpha);
            self.gaussian.rates.push(rate);
            self.gaussian.centres.extend_from_slice(&points.point(i));
        }
    }

    /// Adds waves.
    pub(super) fn add_waves(&mut self, Waves { frequencies, cosines, sines }: Waves) {
        // a cos + b sin is the real part of (a − ib) e^{iwx}.
        let weights = cosines.iter().zip(&sines).map(|(a, b)| Complex { re: *a, im: -b });
        self.fourier.weights.extend(weights);
        self.fourier.frequencies.extend(frequencies.into_iter().flatten());
    }

    fn add_affine(&mut self, Affine { offset, slopes, centres }: &Affine) {
        self.offset += offset - slopes.iter().zip(centres).map(|(w, c)| w * c).sum::<f64>();
        self.linear.resize(slopes.len(), 0.0);
        self.linear.iter_mut().zip(slopes).for_each(|(w, slope)| *w += slope);
    }

    /// Adds an expansion; none where its kernel is no product.
    fn add(&mut self, Expansion { kernel, points, alpha }: &Expansion<'_>) -> Option<()> {
        let centres = (0..points.len()).map(|i| points.point(i));
        if let AnyKernel::Linear(_) = kernel {
            self.linear.resize(points.dimension(), 0.0);
            for (alpha, centre) in alpha.iter().zip(centres) {
                self.linear.iter_mut().zip(centre).for_each(|(w, c)| *w += alpha * c);
            }
            return Some(());
        }
        let (kinds, terms) = (gaussians(kernel)?, &mut self.gaussian);
        for (alpha, centre) in alpha.iter().zip(centres) {
            for (weight, rate) in &kinds {
                terms.weights.push(alpha * weight);
                terms.rates.push(*rate);
                terms.centres.extend_from_slice(&centre);
            }
        }
        Some(())
    }

    /// `offset + scale · f`
    pub(super) fn scale(&mut self, offset: f64, scale: f64) {
        self.offset = offset + scale * self.offset;
        self.linear.iter_mut().chain(&mut self.gaussian.weights).for_each(|weight| *weight *= scale);
        for weight in &mut self.fourier.weights {
            (weight.re, weight.im) = (weight.re * scale, weight.im * scale);
        }
    }

    /// The size of the terms at `x`, the unit of rounding.
    pub(super) fn size(&self, x: &[f64]) -> f64 {
        let linear: f64 = self.linear.iter().zip(x).map(|(w, x)| (w * x).abs()).sum();
        let gaussian: f64 = self.gaussian.weights.iter().map(|weight| weight.abs()).sum();
        let fourier: f64 = self.fourier.weights.iter().map(|weight| weight.re.hypot(weight.im)).sum();
        self.offset.abs() + linear + gaussian + fourier
    }

    /// `f(x)`
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let one = vec![0; x.len()];
        let linear: f64 = self.linear.iter().zip(x).map(|(w, x)| w * x).sum();
        let factors = self.gaussian.factors(x, &one, 1);
        let gaussian: f64 = self.gaussian.weights.iter().zip(factors).map(|(weight, factor)| weight * factor).sum();
        let factors = self.fourier.factors(x, &one, 1);
        let fourier: f64 = self.fourier.weights.iter().zip(factors).map(|(weight, factor)| (*weight * factor).re).sum();
        self.offset + linear + gaussian + fourier
    }

    /// Settles what absent columns come to.
    pub(super) fn set_background(&mut self, rows: &[Vec<f64>], players: &[usize], count: usize, absence: Absence) {
        let n = rows.len() as f64;
        let together = absence == Absence::Together;
        let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / n;
        self.absent.means = (0..self.linear.len()).map(mean).collect();
        if !self.gaussian.weights.is_empty() {
            let all = rows.iter().map(|row| self.gaussian.factors(row, players, count));
            let add = |sum: &mut f64, one: f64| *sum += one / n;
            self.absent.real = if together { all.collect() } else { vec![mean_of(all, add)] };
        }
        if !self.fourier.weights.is_empty() {
            let all = rows.iter().map(|row| self.fourier.factors(row, players, count));
            let add = |sum: &mut Complex, one: Complex| (sum.re, sum.im) = (sum.re + one.re / n, sum.im + one.im / n);
            self.absent.complex = if together { all.collect() } else { vec![mean_of(all, add)] };
        }
    }

    /// The base and the effects of all players.
    pub(super) fn explain(&self, x: &[f64], players: &[usize], count: usize) -> (f64, Vec<f64>) {
        let (mut base, mut effects) = (self.offset, vec![0.0; count]);
        for (j, ((w, mean), player)) in self.linear.iter().zip(&self.absent.means).zip(players).enumerate() {
            base += w * mean;
            effects[*player] += w * (x[j] - mean);
        }
        let mut add = |(one, all): (f64, Vec<f64>), n: usize| {
            base += one / n as f64;
            effects.iter_mut().zip(all).for_each(|(sum, effect)| *sum += effect / n as f64);
        };
        let AbsentFactors { real, complex, .. } = &self.absent;
        if !real.is_empty() {
            let present = self.gaussian.factors(x, players, count);
            let weights = &self.gaussian.weights;
            real.iter().for_each(|absent| add(shapley_values(weights, &present, absent, count), real.len()));
        }
        if !complex.is_empty() {
            let present = self.fourier.factors(x, players, count);
            let weights = &self.fourier.weights;
            complex.iter().for_each(|absent| add(shapley_values(weights, &present, absent, count), complex.len()));
        }
        (base, effects)
    }
}

impl GaussianTerms {
    /// The factors of each player, player by player.
    fn factors(&self, x: &[f64], players: &[usize], count: usize) -> Vec<f64> {
        let terms = self.weights.len();
        let mut factors = vec![0.0; count * terms];
        for (i, centre) in self.centres.chunks_exact(x.len().max(1)).enumerate() {
            for ((x, c), player) in x.iter().zip(centre).zip(players) {
                factors[player * terms + i] -= self.rates[i] * (x - c) * (x - c);
            }
        }
        factors.into_iter().map(|exponent: f64| mercer_simd::exp(exponent.max(-700.0))).collect()
    }
}

impl FourierTerms {
    /// The factors of each player, player by player.
    fn factors(&self, x: &[f64], players: &[usize], count: usize) -> Vec<Complex> {
        let terms = self.weights.len();
        let mut angles = vec![0.0; count * terms];
        for (i, frequency) in self.frequencies.chunks_exact(x.len().max(1)).enumerate() {
            for ((x, w), player) in x.iter().zip(frequency).zip(players) {
                angles[player * terms + i] += w * x;
            }
        }
        angles.into_iter().map(Complex::turn).collect()
    }
}

/// The mean of rows of factors.
fn mean_of<T: Copy + Default>(rows: impl Iterator<Item = Vec<T>>, add: impl Fn(&mut T, T)) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for row in rows {
        sums.resize(row.len(), T::default());
        sums.iter_mut().zip(row).for_each(|(sum, one)| add(sum, one));
    }
    sums
}
