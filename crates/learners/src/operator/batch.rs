//! Batch estimates of the same operators, for comparison. (interface)

use crate::Error;
use crate::operator::KernelOperator;
use mercer_kernels::{Kernel, Points};

/// The minimiser `U_λ` of the regularised empirical risk: `W = (G_X + nλI)⁻¹`. `O(n³)`.
///
/// # Errors
/// When the numbers of inputs and outputs differ, `lambda` is not positive, or the system is singular to rounding.
pub fn regularised<K: Kernel, L: Kernel>(
    input_kernel: K,
    inputs: Points,
    output_kernel: L,
    outputs: Points,
    lambda: f64,
) -> Result<KernelOperator<K, L>, Error> {
    let _ = (input_kernel, inputs, output_kernel, outputs, lambda);
    todo!()
}

/// Kernel EDMD: `W = G_X⁺`, the pseudo-inverse without the eigenvalues below `tolerance` times the largest. `O(n³)`.
///
/// # Errors
/// When the numbers of inputs and outputs differ, or `tolerance` is not in `[0, 1)`.
pub fn kernel_edmd<K: Kernel, L: Kernel>(
    input_kernel: K,
    inputs: Points,
    output_kernel: L,
    outputs: Points,
    tolerance: f64,
) -> Result<KernelOperator<K, L>, Error> {
    let _ = (input_kernel, inputs, output_kernel, outputs, tolerance);
    todo!()
}

/// Nyström EDMD: the minimiser of the regularised empirical risk among the operators between the spans of two sets of
/// landmarks. `O(nm² + m³)` time, `O(m²)` memory.
///
/// # Errors
/// When the numbers of inputs and outputs differ, `lambda` is not positive, or the system is singular to rounding.
pub fn nystrom_edmd<K: Kernel, L: Kernel>(
    input_kernel: K,
    input_landmarks: &Points,
    output_kernel: L,
    output_landmarks: &Points,
    inputs: &Points,
    outputs: &Points,
    lambda: f64,
) -> Result<KernelOperator<K, L>, Error> {
    let _ = (input_kernel, input_landmarks, output_kernel, output_landmarks, inputs, outputs, lambda);
    todo!()
}

/// `U_λ` of a finite chain, exactly: `W(GD + λI) = PᵀD` for the states' Gram matrix `G`, transition probabilities `P` (row-major, rows
/// sum to 1) and weights `D` of the states. `O(n³)`.
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
    let _ = (kernel, states, transitions, weights, lambda);
    todo!()
}
