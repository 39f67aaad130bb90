//! Batch estimates of the same operators, for comparison.
//!
//! Over `n` pairs with Gram matrix `G_X`, the minimiser of
//! `1/2n Σ‖k_Y(x_i⁺, ·) − U k_X(x_i, ·)‖² + ½ λ‖U‖²` is `U_λ` with `W = (G_X + nλI)⁻¹`
//! ([`regularised`]; Song et al. 2009). Kernel EDMD (Williams, Rowley and Kevrekidis 2015) takes
//! the pseudo-inverse of `G_X` instead ([`kernel_edmd`]). Between the spans of landmarks, with
//! coordinates `Z_X` and `Z_Y` (a row a pair) in their Newton bases, the minimiser is
//! `A = Z_YᵀZ_X (Z_XᵀZ_X + nλI)⁻¹` ([`nystrom_edmd`]; Meanti et al. 2023), a batch answer of the
//! size of a sparse learner's. On a finite chain the covariances are known and `U_λ` is exact
//! ([`finite_chain`]): with transition probabilities `P` and weights `D = diag(π)` of the states,
//! `C_XX = Φ D Φᵀ` and `C_X⁺X = Φ PᵀD Φᵀ` give `W (G D + λI) = PᵀD`.

use mercer_core::{ExampleError, ParameterError, check_input};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{Matrix, StateMatrix, SymmetricEigen};
use mercer_sparsify::{Admission, Ald, NewtonBasis, Probe};

use crate::Error;
use crate::KernelOperator;
use crate::kernel_operator::{check_dimension, check_values};

/// Landmarks closer to the span of the earlier ones than this (squared, in units of `k(x,x)`) add
/// nothing and are skipped.
const DEPENDENT: f64 = 1e-12;

/// Pairs that enter a matrix product of [`nystrom_edmd`] together.
const BLOCK: usize = 256;

/// The minimiser `U_λ` of the regularised empirical risk: `W = (G_X + nλI)⁻¹`. `O(n³)`.
///
/// # Errors
/// When the numbers of inputs and outputs differ, `lambda` is not positive, a number is not finite,
/// or the system is singular to rounding.
pub fn regularised<K: Kernel, L: Kernel>(
    input_kernel: K,
    inputs: Points,
    output_kernel: L,
    outputs: Points,
    lambda: f64,
) -> Result<KernelOperator<K, L>, Error> {
    ParameterError::positive("lambda", lambda)?;
    let n = check_batch(&inputs, &outputs)?;
    let mut system = gram(&input_kernel, &inputs);
    for i in 0..n {
        system.column_mut(i)[i] += n as f64 * lambda;
    }
    let weights = system.solve_positive_definite(&identity(n))?;
    KernelOperator::from_weights(input_kernel, inputs, output_kernel, outputs, weights.values())
}

/// Kernel EDMD: `W = G_X⁺`, the pseudo-inverse without the eigenvalues below `tolerance` times the
/// largest. `O(n³)`.
///
/// # Errors
/// When the numbers of inputs and outputs differ, `tolerance` is not in `[0, 1)`, or a number is
/// not finite.
pub fn kernel_edmd<K: Kernel, L: Kernel>(
    input_kernel: K,
    inputs: Points,
    output_kernel: L,
    outputs: Points,
    tolerance: f64,
) -> Result<KernelOperator<K, L>, Error> {
    ParameterError::require((0.0..1.0).contains(&tolerance), "tolerance", "a number in [0, 1)", tolerance)?;
    let n = check_batch(&inputs, &outputs)?;
    let gram = gram(&input_kernel, &inputs);
    let SymmetricEigen { values, vectors } = SymmetricEigen::new(n, |i, j| gram.entry(i, j))?;
    let least = tolerance * values[0];
    let kept = values.iter().take_while(|value| **value > least && **value > 0.0).count();
    let vectors = Matrix::from_fn(n, kept, |i, j| vectors[j][i]);
    let scaled = Matrix::from_fn(n, kept, |i, j| vectors.entry(i, j) / values[j]);
    let weights = scaled.times_transposed(&vectors);
    KernelOperator::from_weights(input_kernel, inputs, output_kernel, outputs, weights.values())
}

/// Nyström EDMD: the minimiser of the regularised empirical risk among the operators between the
/// spans of two sets of landmarks; dependent landmarks are skipped. `O(nm² + m³)` time, `O(m²)`
/// memory.
///
/// # Errors
/// When the numbers of inputs and outputs differ, `lambda` is not positive, dimensions do not fit,
/// a number is not finite, or the system is singular to rounding.
pub fn nystrom_edmd<K: Kernel, L: Kernel>(
    input_kernel: K,
    input_landmarks: &Points,
    output_kernel: L,
    output_landmarks: &Points,
    inputs: &Points,
    outputs: &Points,
    lambda: f64,
) -> Result<KernelOperator<K, L>, Error> {
    ParameterError::positive("lambda", lambda)?;
    let n = check_batch(inputs, outputs)?;
    check_dimension(inputs.dimension(), input_landmarks.dimension())?;
    check_dimension(outputs.dimension(), output_landmarks.dimension())?;
    let input = basis_of(input_kernel, input_landmarks)?;
    let output = basis_of(output_kernel, output_landmarks)?;
    let mut covariance = Matrix::from_fn(input.len(), input.len(), |i, j| if i == j { n as f64 * lambda } else { 0.0 });
    let mut cross = Matrix::zeros(input.len(), output.len());
    for first in (0..n).step_by(BLOCK) {
        let range = first..n.min(first + BLOCK);
        let z_x = coordinates(&input, inputs, range.clone());
        let z_y = coordinates(&output, outputs, range);
        covariance.add_times_transposed(&z_x, &z_x);
        cross.add_times_transposed(&z_x, &z_y);
    }
    let transposed = covariance.solve_positive_definite(&cross)?;
    let core = StateMatrix::from_fn(output.len(), input.len(), |i, j| transposed.entry(j, i));
    Ok(KernelOperator::in_newton_coordinates(input, output, core))
}

/// `U_λ` of a finite chain, exactly: `W(GD + λI) = PᵀD` for the states' Gram matrix `G`, transition
/// probabilities `P` (row-major, rows sum to 1) and weights `D` of the states. `O(n³)`.
///
/// # Errors
/// When the numbers do not fit together, or the system is singular to rounding.
pub fn finite_chain<K: Kernel + Clone>(
    kernel: K,
    states: Points,
    transitions: &[f64],
    weights: &[f64],
    lambda: f64,
) -> Result<KernelOperator<K>, Error> {
    ParameterError::positive("lambda", lambda)?;
    let n = check_batch(&states, &states)?;
    check_values(transitions, n * n)?;
    check_values(weights, n)?;
    let gram = gram(&kernel, &states);
    // Transposed: (D G + λI) Wᵀ = D P.
    let system = Matrix::from_fn(n, n, |i, j| weights[i] * gram.entry(i, j) + if i == j { lambda } else { 0.0 });
    let right = Matrix::from_fn(n, n, |i, j| weights[i] * transitions[i * n + j]);
    // Wᵀ by columns is W by rows.
    let solution = system.solve(&right)?;
    KernelOperator::from_weights(kernel.clone(), states.clone(), kernel, states, solution.values())
}

/// The number of pairs; every coordinate is finite.
fn check_batch(inputs: &Points, outputs: &Points) -> Result<usize, Error> {
    if inputs.len() != outputs.len() || inputs.is_empty() {
        return Err(Error::Pairs { inputs: inputs.len(), outputs: outputs.len() });
    }
    for points in [inputs, outputs] {
        for i in 0..points.len() {
            check_input(&points.point(i), points.dimension())?;
        }
    }
    Ok(inputs.len())
}

fn gram(kernel: &impl Kernel, points: &Points) -> Matrix {
    let (mut row, n) = (AlignedVec::new(), points.len());
    let mut gram = Matrix::zeros(n, n);
    for j in 0..n {
        kernel.row(points, &points.point(j), &mut row);
        gram.column_mut(j).copy_from_slice(&row);
    }
    gram
}

fn identity(n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
}

fn basis_of<K: Kernel>(kernel: K, landmarks: &Points) -> Result<NewtonBasis<K>, Error> {
    let mut basis = NewtonBasis::new(kernel, landmarks.dimension());
    let mut probe = Probe::default();
    for i in 0..landmarks.len() {
        let point = landmarks.point(i);
        check_input(&point, landmarks.dimension())?;
        basis.probe(&point, &mut probe);
        if !probe.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        if let Some(new_coordinate) = Ald::new(DEPENDENT * probe.self_value())?.admits(&basis, &point, &probe) {
            basis.append(&point, probe.coordinates(), new_coordinate);
        }
    }
    Ok(basis)
}

/// The coordinates of some of the points, one column a point.
fn coordinates<K: Kernel>(basis: &NewtonBasis<K>, points: &Points, range: std::ops::Range<usize>) -> Matrix {
    let (mut probe, mut point) = (Probe::default(), vec![0.0; points.dimension()]);
    let mut columns = Matrix::zeros(basis.len(), range.len());
    for (j, i) in range.enumerate() {
        points.copy_point(i, &mut point);
        basis.probe(&point, &mut probe);
        columns.column_mut(j).copy_from_slice(probe.coordinates());
    }
    columns
}
