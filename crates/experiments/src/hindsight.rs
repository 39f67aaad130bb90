//! The best function in hindsight, and the effective dimension of a stream.
//!
//! `min_f Σ (f(x_t) − y_t)² + λ‖f‖²` over the whole stream, which is what regret is measured
//! against. Points are kept until every `k(x_t, ·)` lies within squared distance 1e−9 of their
//! span, then all are written in orthonormal coordinates `φ_t` of it, and the problem is ridge
//! regression on `φ`, diagonalised once: with `Σ φφᵀ = V diag(a) Vᵀ` and `b = Vᵀ Σ φ_t y_t` the
//! solution for every λ is `b_i/(λ + a_i)`. The `a_i` are the kernel matrix's eigenvalues to within
//! 1e−9 T, and `f` restricted to the span is `f` to within 3e−5 ‖f‖ at every point of the stream.
//! `O(TJ² + J³)` time, `O(TJ)` memory.

use anyhow::Result;
use mercer_kernels::{AlignedVec, Kernel};
use mercer_linalg_incremental::{SymmetricEigen, SymmetricMatrix};
use mercer_readers::Dataset;
use mercer_simd::dot;
use mercer_sparsify::{Admission, Ald, NewtonBasis, Probe};

use crate::stats;

/// Squared distance of `k(x, ·)` to the span that counts as none.
const TOLERANCE: f64 = 1e-9;

/// A function of the family `f_λ`, by its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// `Σ (f(x_t) − y_t)²`
    pub loss: f64,
    /// `‖f‖²`
    pub squared_norm: f64,
}

/// A stream's kernel matrix and targets, diagonalised.
#[derive(Clone, Debug)]
pub struct Hindsight {
    eigenvalues: Vec<f64>,
    /// `b = Vᵀ Σ φ_t y_t`
    projections: Vec<f64>,
    squared_targets: f64,
}

impl Fit {
    /// `Σ (f(x_t) − y_t)² + λ‖f‖²`
    pub fn objective(&self, lambda: f64) -> f64 {
        self.loss + lambda * self.squared_norm
    }
}

/// Points that the ALD rule keeps: from whose span every `k(x_t, ·)` is at most this squared
/// distance away.
pub(crate) fn spanning<'a, K: Kernel>(
    kernel: K,
    dimension: usize,
    points: impl IntoIterator<Item = &'a [f64]>,
    tolerance: f64,
) -> Result<NewtonBasis<K>> {
    let mut basis = NewtonBasis::new(kernel, dimension);
    let (mut rule, mut probe) = (Ald::new(tolerance)?, Probe::default());
    for x in points {
        basis.probe(x, &mut probe);
        if let Some(new_coordinate) = rule.admits(&basis, x, &probe) {
            basis.append(x, probe.coordinates(), new_coordinate);
        }
    }
    Ok(basis)
}

/// The exact ridge leverage scores `τ_t = [K(K + μI)⁻¹]_tt = φ_tᵀ(Σ φφᵀ + μI)⁻¹φ_t` of a stream's
/// points, for `μ > 0`; their sum is the effective dimension.
pub fn leverage_scores(kernel: &(impl Kernel + Clone), stream: &Dataset, mu: f64) -> Result<Vec<f64>> {
    let basis = spanning(kernel.clone(), stream.dimension(), stream.iter().map(|(x, _)| x), TOLERANCE)?;
    let mut inverse = SymmetricMatrix::scaled_identity(basis.len(), 1.0 / mu);
    let (mut probe, mut c) = (Probe::default(), AlignedVec::new());
    for (x, _) in stream.iter() {
        basis.probe(x, &mut probe);
        let squared = inverse.multiply(probe.coordinates(), &mut c);
        inverse.subtract(1.0 / (1.0 + squared), &c);
    }
    let score = |(x, _)| {
        basis.probe(x, &mut probe);
        inverse.quadratic(probe.coordinates())
    };
    Ok(stream.iter().map(score).collect())
}

/// The part of the kernel matrix of these inputs that coordinates `φ_t` leave out: the largest
/// eigenvalue, by modulus, of `K − ΦΦᵀ`. If they are orthonormal on a subspace with projection `P`,
/// this is `‖(I − P)C^{1/2}‖²`. Shorter coordinate vectors count as padded with zeros. `O(n³)`.
pub fn neglected(kernel: &impl Kernel, inputs: &[&[f64]], coordinates: &[Vec<f64>]) -> Result<f64> {
    let eigen = SymmetricEigen::new(inputs.len(), |s, t| {
        kernel.evaluate(inputs[s], inputs[t]) - stats::dot(&coordinates[s], &coordinates[t])
    })?;
    Ok(eigen.values.iter().fold(0.0, |most: f64, value| most.max(value.abs())))
}

impl Hindsight {
    /// Diagonalises a stream under a kernel.
    pub fn new(kernel: &(impl Kernel + Clone), stream: &Dataset) -> Result<Self> {
        let basis = spanning(kernel.clone(), stream.dimension(), stream.iter().map(|(x, _)| x), TOLERANCE)?;
        let mut probe = Probe::default();
        let (rounds, size) = (stream.len(), basis.len());
        let mut columns = vec![AlignedVec::zeros(rounds); size];
        for (t, (x, _)) in stream.iter().enumerate() {
            basis.probe(x, &mut probe);
            for (column, value) in columns.iter_mut().zip(probe.coordinates().iter()) {
                column[t] = *value;
            }
        }
        let product = |i: usize, j: usize| dot(columns[i].lanes(), columns[j].lanes());
        let eigen = SymmetricEigen::new(size, product)?;
        let targets = AlignedVec::from_slice(stream.targets());
        let moments: Vec<f64> = columns.iter().map(|column| dot(column.lanes(), targets.lanes())).collect();
        let projections = eigen.vectors.iter().map(|v| v.iter().zip(&moments).map(|(v, m)| v * m).sum()).collect();
        Ok(Self {
            eigenvalues: eigen.values.iter().map(|value| value.max(0.0)).collect(),
            projections,
            squared_targets: dot(targets.lanes(), targets.lanes()),
        })
    }

    /// The kernel matrix's eigenvalues, falling, as far as they exceed what was neglected.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// `d_eff(μ) = tr K(K + μI)⁻¹`
    pub fn effective_dimension(&self, mu: f64) -> f64 {
        self.eigenvalues.iter().map(|a| a / (a + mu)).sum()
    }

    /// `ln det(I + K/λ) = Σ ln(1 + λ_k/λ)`
    pub fn log_determinant(&self, lambda: f64) -> f64 {
        self.eigenvalues.iter().map(|a| (a / lambda).ln_1p()).sum()
    }

    /// `f_λ`, for `λ > 0`.
    pub fn ridge(&self, lambda: f64) -> Fit {
        let (mut loss, mut squared_norm) = (self.squared_targets, 0.0);
        for (a, b) in self.eigenvalues.iter().zip(&self.projections) {
            let w = b / (lambda + a);
            loss += w * (a * w - 2.0 * b);
            squared_norm += w * w;
        }
        Fit { loss, squared_norm }
    }

    /// The best `f` with `‖f‖ ≤ radius`: the ridge solution on the sphere, found by bisection of
    /// `ln λ`, or the least regularised one that the arithmetic allows (`λ = 10⁻⁹ λ₁`) if that lies
    /// inside.
    pub fn within(&self, radius: f64) -> Fit {
        let largest = self.eigenvalues.first().copied().unwrap_or(0.0).max(1.0);
        let (mut low, mut high) = ((1e-9 * largest).ln(), (1e9 * largest).ln());
        let free = self.ridge(low.exp());
        if free.squared_norm <= radius * radius {
            return free;
        }
        for _ in 0..100 {
            let middle = low.midpoint(high);
            if self.ridge(middle.exp()).squared_norm > radius * radius { low = middle } else { high = middle }
        }
        self.ridge(high.exp())
    }
}

#[cfg(test)]
mod tests {
    use mercer_kernels::{Gaussian, Matern52};
    use mercer_linalg_incremental::GrowingCholesky;

    use super::*;
    use crate::decay::Regime;

    /// `β = (K + λI)⁻¹y` by a growing factor, straight from the definition.
    fn dense(kernel: &impl Kernel, stream: &Dataset, lambda: f64) -> (Fit, f64) {
        let n = stream.len();
        let k = |i: usize, j: usize| kernel.evaluate(stream.row(i), stream.row(j));
        let mut factor = GrowingCholesky::new();
        let mut row = AlignedVec::new();
        for i in 0..n {
            let column: AlignedVec = (0..i).map(|j| k(i, j)).collect();
            factor.forward_solve(&column, &mut row);
            let pivot = k(i, i) + lambda - dot(row.lanes(), row.lanes());
            factor.append(&row, pivot.sqrt());
        }
        let solve = |b: &AlignedVec| {
            let (mut half, mut x) = (AlignedVec::new(), AlignedVec::new());
            factor.forward_solve(b, &mut half);
            factor.backward_solve(&half, &mut x);
            x
        };
        let beta = solve(&AlignedVec::from_slice(stream.targets()));
        let values: Vec<f64> = (0..n).map(|i| (0..n).map(|j| k(i, j) * beta[j]).sum()).collect();
        let loss = values.iter().zip(stream.targets()).map(|(f, y)| (f - y).powi(2)).sum();
        let squared_norm = values.iter().zip(beta.iter()).map(|(f, b)| f * b).sum();
        // tr K(K + λI)⁻¹ = n − λ tr (K + λI)⁻¹
        let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<AlignedVec>();
        let trace: f64 = (0..n).map(|i| solve(&unit(i))[i]).sum();
        (Fit { loss, squared_norm }, n as f64 - lambda * trace)
    }

    #[test]
    fn ridge_and_effective_dimension_are_their_definitions() {
        let stream = Regime::MATERN_52.stream(150, 2).unwrap();
        let kernel = Matern52::new(1.0).unwrap();
        let hindsight = Hindsight::new(&kernel, &stream).unwrap();
        for lambda in [0.01, 1.0, 30.0] {
            let (fit, dimension) = dense(&kernel, &stream, lambda);
            let ours = hindsight.ridge(lambda);
            assert!((ours.loss - fit.loss).abs() < 1e-5 * fit.loss, "{lambda}: {ours:?} {fit:?}");
            assert!((ours.squared_norm - fit.squared_norm).abs() < 1e-5 * fit.squared_norm);
            assert!((hindsight.effective_dimension(lambda) - dimension).abs() < 1e-5 * dimension);
        }
    }

    #[test]
    fn leverage_scores_and_the_determinant_are_their_definitions() {
        let stream = Regime::MATERN_32.stream(60, 5).unwrap();
        let kernel: mercer_kernels::AnyKernel = Regime::MATERN_32.kernel().unwrap();
        let (mu, n) = (0.7, stream.len());
        let k = |i: usize, j: usize| kernel.evaluate(stream.row(i), stream.row(j));
        let eigen = SymmetricEigen::new(n, k).unwrap();
        let scores = leverage_scores(&kernel, &stream, mu).unwrap();
        for (t, score) in scores.iter().enumerate() {
            let dense: f64 = eigen.values.iter().zip(&eigen.vectors).map(|(a, v)| v[t] * v[t] * a / (a + mu)).sum();
            assert!((score - dense).abs() < 1e-7, "round {t}: {score} against {dense}");
        }
        let hindsight = Hindsight::new(&kernel, &stream).unwrap();
        assert!((scores.iter().sum::<f64>() - hindsight.effective_dimension(mu)).abs() < 1e-7);
        let determinant: f64 = eigen.values.iter().map(|a| 1.0 + a.max(0.0) / mu).product();
        assert!((hindsight.log_determinant(mu) - determinant.ln()).abs() < 1e-6);
    }

    #[test]
    fn what_one_coordinate_neglects_by_hand() {
        // x₁ kept, κ = k(x₁, x₂): K − ΦΦᵀ has the one entry 1 − κ².
        let kernel = Gaussian::new(1.0).unwrap();
        let kappa = (-0.5f64).exp();
        let rest = neglected(&kernel, &[&[0.0], &[1.0]], &[vec![1.0], vec![kappa]]).unwrap();
        assert!((rest - (1.0 - kappa * kappa)).abs() < 1e-15);
    }

    #[test]
    fn the_ball_holds_its_best_function() {
        let stream = Regime::EXPONENTIAL.stream(300, 4).unwrap();
        let hindsight = Hindsight::new(&Gaussian::new(1.0).unwrap(), &stream).unwrap();
        let tight = hindsight.within(0.1);
        assert!((tight.squared_norm.sqrt() - 0.1).abs() < 1e-9);
        let wide = hindsight.within(1e6);
        assert!(wide.loss < tight.loss && wide.squared_norm < 1e12);
        // The noise alone leaves T·NOISE²/3.
        let noise = 300.0 * crate::decay::NOISE.powi(2) / 3.0;
        assert!((0.7 * noise..1.2 * noise).contains(&hindsight.within(1.0).loss));
    }
}
