//! Learners as sums of products over their inputs.

use mercer_kernels::{AlignedVec, AnyKernel, Complex, shapley_values};
use mercer_learners::update::LinearUpdate;
use mercer_registry::AnyRegressor;
use mercer_sparsify::Basis;

use super::Absence;

/// `offset + Σ_i α_i Π_j k_j(x_j, c_ij)`, with what is known of a background.
pub(super) struct ProductSum {
    offset: f64,
    terms: Terms,
    /// Factors of absent players: one set, or one for each background row.
    absent: Absent,
}

/// The weights of the products with what their factors are made of.
enum Terms {
    /// Gaussian factors `exp(−r_i (x_j − c_ij)²)`; centres row by row.
    Gaussian { weights: Vec<f64>, rates: Vec<f64>, centres: Vec<f64> },
    /// Complex factors `exp(i w_ij x_j)`; frequencies row by row.
    Fourier { weights: Vec<Complex>, frequencies: Vec<f64> },
    /// `Σ_j w_j x_j`
    Linear { weights: Vec<f64> },
}

#[derive(Default)]
enum Absent {
    #[default]
    Unknown,
    Real(Vec<Vec<f64>>),
    Complex(Vec<Vec<Complex>>),
    /// Means of the inputs.
    Mean(Vec<f64>),
}

/// Points and coefficients of learners on coordinates or on kernel coefficients.
macro_rules! expanded {
    ($learner:expr, $aim:expr; on coordinates: $($coordinates:ident)*; on coefficients: $($coefficients:ident)*) => {
        match $learner {
            $(AnyRegressor::$coordinates(learner) => {
                let basis = learner.basis();
                let mut alpha = AlignedVec::new();
                basis.coefficients(&summed(learner.linear().coefficients()?.vectors(), $aim)?, &mut alpha);
                Some((basis.kernel(), basis.points(), alpha.to_vec()))
            })*
            $(AnyRegressor::$coefficients(learner) => {
                let basis = learner.basis();
                Some((basis.kernel(), basis.points(), summed(learner.coefficients().vectors(), $aim)?.to_vec()))
            })*
            _ => None,
        }
    };
}

/// The sum of the vectors of the outputs with these weights.
fn summed(vectors: &[AlignedVec], weights: &[f64]) -> Option<AlignedVec> {
    let mut sum = AlignedVec::zeros(vectors.first()?.len());
    for (vector, weight) in vectors.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(vector.iter()).for_each(|(sum, w)| *sum += weight * w);
    }
    (vectors.len() == weights.len()).then_some(sum)
}

/// The Gaussian terms of a kernel, as weights and rates; none of another kernel.
fn gaussians(kernel: &AnyKernel) -> Option<Vec<(f64, f64)>> {
    match kernel {
        AnyKernel::Gaussian(kernel) => Some(vec![(1.0, 0.5 / (kernel.sigma() * kernel.sigma()))]),
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
        let terms = match learner {
            AnyRegressor::Fogd(learner) => {
                let (map, vectors) = (learner.feature_map(), learner.linear().coefficients()?.vectors());
                let (count, w) = (map.frequencies(), summed(vectors, aim)?);
                let scale = 1.0 / (count as f64).sqrt();
                // Eight cosines, then their eight sines: a cos + b sin is the real part of (a − ib)
                // e^{iwx}.
                let weight = |r: usize| {
                    let place = r / 8 * 16 + r % 8;
                    Complex { re: scale * w[place], im: -scale * w[place + 8] }
                };
                let frequencies = (0..count).flat_map(|r| map.frequency(r)).collect();
                Terms::Fourier { weights: (0..count).map(weight).collect(), frequencies }
            }
            _ => {
                let (kernel, points, alpha) = expanded! {
                    learner, aim;
                    on coordinates: NonsAld ProsNKons ConKons Krls Projectron ProjectronPlus;
                    on coefficients: Knlms Qklms Klms Kap Norma FbKlms Lkapa Nlkapa KlmsCsl1 KlmsCsal1 KapSm QklmsFb
                        Perceptron Rbp Forgetron BpaS Pa Bogd Pegasos
                }?;
                let centres = || (0..points.len()).map(|i| points.point(i));
                if let AnyKernel::Linear(_) = kernel {
                    let mut weights = vec![0.0; points.dimension()];
                    for (alpha, centre) in alpha.iter().zip(centres()) {
                        weights.iter_mut().zip(centre).for_each(|(w, c)| *w += alpha * c);
                    }
                    Terms::Linear { weights }
                } else {
                    let kinds = gaussians(kernel)?;
                    let mut made = (Vec::new(), Vec::new(), Vec::new());
                    for (alpha, centre) in alpha.iter().zip(centres()) {
                        for (weight, rate) in &kinds {
                            made.0.push(alpha * weight);
                            made.1.push(*rate);
                            made.2.extend_from_slice(&centre);
                        }
                    }
                    Terms::Gaussian { weights: made.0, rates: made.1, centres: made.2 }
                }
            }
        };
        Some(Self { offset: 0.0, terms, absent: Absent::Unknown })
    }

    /// `offset + scale · f`
    pub(super) fn scale(&mut self, offset: f64, scale: f64) {
        self.offset = offset;
        match &mut self.terms {
            Terms::Gaussian { weights, .. } | Terms::Linear { weights } => {
                weights.iter_mut().for_each(|weight| *weight *= scale);
            }
            Terms::Fourier { weights, .. } => weights.iter_mut().for_each(|weight| {
                (weight.re, weight.im) = (weight.re * scale, weight.im * scale);
            }),
        }
    }

    /// `Σ |α|`, the unit of rounding.
    pub(super) fn size(&self) -> f64 {
        self.offset.abs()
            + match &self.terms {
                Terms::Gaussian { weights, .. } => weights.iter().map(|weight| weight.abs()).sum::<f64>(),
                Terms::Fourier { weights, .. } => weights.iter().map(|weight| weight.re.hypot(weight.im)).sum(),
                Terms::Linear { weights } => weights.iter().map(|weight| weight.abs()).sum(),
            }
    }

    /// `f(x)`
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let one = vec![0; x.len()];
        let sum: f64 = match &self.terms {
            Terms::Gaussian { weights, .. } => {
                weights.iter().zip(self.real_factors(x, &one, 1)).map(|(weight, factor)| weight * factor).sum()
            }
            Terms::Fourier { weights, .. } => {
                weights.iter().zip(self.complex_factors(x, &one, 1)).map(|(weight, factor)| (*weight * factor).re).sum()
            }
            Terms::Linear { weights } => weights.iter().zip(x).map(|(weight, x)| weight * x).sum(),
        };
        self.offset + sum
    }

    /// Gaussian factors of each player, player by player.
    fn real_factors(&self, x: &[f64], players: &[usize], count: usize) -> Vec<f64> {
        let Terms::Gaussian { weights, rates, centres } = &self.terms else { return Vec::new() };
        let terms = weights.len();
        let mut factors = vec![0.0; count * terms];
        for (i, centre) in centres.chunks_exact(x.len().max(1)).enumerate() {
            for ((x, c), player) in x.iter().zip(centre).zip(players) {
                factors[player * terms + i] -= rates[i] * (x - c) * (x - c);
            }
        }
        factors.into_iter().map(|exponent: f64| mercer_simd::exp(exponent.max(-700.0))).collect()
    }

    /// Complex factors of each player, player by player.
    fn complex_factors(&self, x: &[f64], players: &[usize], count: usize) -> Vec<Complex> {
        let Terms::Fourier { weights, frequencies } = &self.terms else { return Vec::new() };
        let terms = weights.len();
        let mut angles = vec![0.0; count * terms];
        for (i, frequency) in frequencies.chunks_exact(x.len().max(1)).enumerate() {
            for ((x, w), player) in x.iter().zip(frequency).zip(players) {
                angles[player * terms + i] += w * x;
            }
        }
        angles.into_iter().map(Complex::turn).collect()
    }

    /// Settles what absent columns come to.
    pub(super) fn set_background(&mut self, rows: &[Vec<f64>], players: &[usize], count: usize, absence: Absence) {
        let n = rows.len() as f64;
        let together = absence == Absence::Together;
        self.absent = match &self.terms {
            Terms::Linear { weights } => {
                let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / n;
                Absent::Mean((0..weights.len()).map(mean).collect())
            }
            Terms::Gaussian { .. } => {
                let all = rows.iter().map(|row| self.real_factors(row, players, count));
                Absent::Real(if together { all.collect() } else { vec![mean_of(all, |sum, one| *sum += one / n)] })
            }
            Terms::Fourier { .. } => {
                let all = rows.iter().map(|row| self.complex_factors(row, players, count));
                let add =
                    |sum: &mut Complex, one: Complex| (sum.re, sum.im) = (sum.re + one.re / n, sum.im + one.im / n);
                Absent::Complex(if together { all.collect() } else { vec![mean_of(all, add)] })
            }
        };
    }

    /// The base and the effects of all players.
    pub(super) fn explain(&self, x: &[f64], players: &[usize], count: usize) -> (f64, Vec<f64>) {
        let mut mean = (0.0, vec![0.0; count]);
        let mut add = |(base, effects): (f64, Vec<f64>), n: usize| {
            mean.0 += base / n as f64;
            mean.1.iter_mut().zip(effects).for_each(|(sum, effect)| *sum += effect / n as f64);
        };
        match (&self.terms, &self.absent) {
            (Terms::Gaussian { weights, .. }, Absent::Real(rows)) => {
                let present = self.real_factors(x, players, count);
                rows.iter().for_each(|absent| add(shapley_values(weights, &present, absent, count), rows.len()));
            }
            (Terms::Fourier { weights, .. }, Absent::Complex(rows)) => {
                let present = self.complex_factors(x, players, count);
                rows.iter().for_each(|absent| add(shapley_values(weights, &present, absent, count), rows.len()));
            }
            (Terms::Linear { weights }, Absent::Mean(means)) => {
                let mut effects = vec![0.0; count];
                for (j, player) in players.iter().enumerate() {
                    effects[*player] += weights[j] * (x[j] - means[j]);
                }
                add((weights.iter().zip(means).map(|(weight, mean)| weight * mean).sum(), effects), 1);
            }
            _ => {}
        }
        (self.offset + mean.0, mean.1)
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
