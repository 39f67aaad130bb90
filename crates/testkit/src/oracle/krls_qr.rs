//! KRLS as what it is: batch least squares in the span of an ALD dictionary, solved anew by QR each
//! round.
//!
//! Engel et al. (2004) replace the feature of round s by its projection on the dictionary *of that
//! round*, `φ̂_s`, and minimise `Σ_{s≤t} (y_s − ⟨φ̂_s, f⟩)²` over f in the span of the present
//! dictionary. In Newton coordinates (`K_S = LLᵀ`, `φ(x) = L⁻¹k_S(x)`) appending a point leaves the
//! old coordinates alone and adds one, so the row of round s is
//! - `[φᵀ, √δ, 0, …, 0]` if the point was admitted: its own projection is itself, δ being its ALD
//!   residual;
//! - `[φᵀ, 0, …, 0]` if it was not, in the coordinates of its time.
//!
//! An admitted point's row is the only one so far with a nonzero last entry, so the solution passes
//! through its target exactly. With λ > 0 the rows `√λ I` with target 0 are put underneath, which
//! adds `λ‖f‖²`. The test is `δ > ν` on the squared distance, and the first point is admitted by
//! the same test (`δ = k(x,x)`).

use nalgebra::{DMatrix, DVector};

use super::weighted::{lower_factor, newton_coordinates_by};
use super::{Example, KernelFn, Trace};

/// KRLS by batch QR: every prediction comes from a least-squares problem with all the rows so far.
///
/// # Panics
/// If the Gram matrix of the kept points is not numerically positive definite.
pub fn krls_qr(stream: &[Example], kernel: KernelFn, nu: f64, lambda: f64, max_dictionary: Option<usize>) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut lower = lower_factor(&points, kernel);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut targets: Vec<f64> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let (mut row, delta) = newton_coordinates_by(&lower, &points, x, kernel);
        let prediction = match points.len() {
            0 => 0.0,
            n => DVector::from_column_slice(&row).dot(&least_squares(&rows, &targets, n, lambda)),
        };
        trace.predictions.push(prediction);

        if delta > nu && max_dictionary.is_none_or(|most| points.len() < most) {
            row.push(delta.sqrt());
            points.push(x.clone());
            lower = lower_factor(&points, kernel);
            trace.dictionary.push(t);
        }
        rows.push(row);
        targets.push(*y);
    }
    trace
}

fn least_squares(rows: &[Vec<f64>], targets: &[f64], width: usize, lambda: f64) -> DVector<f64> {
    let extra = if lambda > 0.0 { width } else { 0 };
    let matrix = DMatrix::from_fn(rows.len() + extra, width, |i, j| match rows.get(i) {
        Some(row) => row.get(j).copied().unwrap_or(0.0),
        None if i - rows.len() == j => lambda.sqrt(),
        None => 0.0,
    });
    let mut right_side = DVector::from_fn(rows.len() + extra, |i, _| targets.get(i).copied().unwrap_or(0.0));
    let qr = matrix.qr();
    qr.q_tr_mul(&mut right_side);
    qr.r().solve_upper_triangular(&right_side.rows(0, width)).expect("admitted rows make the columns independent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// One kept point x₁ and x₂ at distance 1 (κ = exp(−½)) never admitted: rows 1 and κ, so
    /// `w = (y₁ + κy₂)/(1 + κ²)` after two rounds; with λ the denominator gains λ.
    #[test]
    fn three_rounds_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 0.5), (vec![1.0], -0.25), (vec![0.0], 0.0)];
        for lambda in [0.0, 0.3] {
            let trace = krls_qr(&stream, &gaussian(1.0), 0.99, lambda, None);
            let second = kappa * 0.5 / (1.0 + lambda);
            let third = (0.5 - 0.25 * kappa) / (1.0 + kappa * kappa + lambda);
            assert_eq!(trace.dictionary, [0]);
            for (got, want) in trace.predictions.iter().zip([0.0, second, third]) {
                assert!((got - want).abs() < 1e-15, "{got} against {want}");
            }
        }
    }
}
