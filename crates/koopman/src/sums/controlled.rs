//! The spectrum of `A` in `x⁺ ≈ a + Ax + Bu`, where `x` carries inputs `u` (DMD with control:
//! Proctor, Brunton and Kutz 2016).
//!
//! At a fixed input the state goes on by `A`. It is that of least squares on the linear features,
//! of which every learner has the sums, whatever forecasts are made with. `A` has a spectrum of its
//! own only where inputs are not told by the state: under `u = Kx` without noise `A` and `A + B'K`
//! fit alike.

use mercer_linalg_incremental::{GeneralEigen, Matrix, SymmetricEigen};

use super::blocks::{Group, Sums, sum};
use super::choice::{solve, without};
use super::modes::{LEADING, Mode, Spectrum, Vector, spread};
use super::verdict::{Reason, Reliability};
use crate::Error;

/// Directions with a variance below this part of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-10;
/// Inputs of which the state tells all but this part of the variance leave `A` open.
const TOLD: f64 = 1e-6;
/// Spreads below this are rounding.
const ROUNDING: f64 = 1e-9;

/// The modes of `A` by the sums of `groups` on the linear features `[1, x, u]`, of which `x` has
/// `state` numbers, and by `C` over all pairs. `O(blocks · p³)`.
///
/// # Errors
/// When equations or an eigenvalue iteration fail.
pub(crate) fn spectrum(groups: &[Group<'_>], next: &Matrix, state: usize, count: usize) -> Result<Spectrum, Error> {
    if groups.is_empty() {
        return Ok(Spectrum::default());
    }
    let total = sum(groups);
    let p = total.gram.rows();
    let fitted = |sums: &Sums| solve(sums, p, 0.0, 1..1 + state);
    let own = |fit: &Matrix| Matrix::from_fn(state, state, |i, j| fit.entry(1 + i, j));
    let fit = fitted(&total)?;
    let mut left_out = Vec::with_capacity(groups.len());
    for group in groups {
        // Blocks without which the state does not vary tell nothing.
        if let Ok(fit) = fitted(&without(&total, &group.sums())) {
            left_out.push(GeneralEigen::values(&own(&fit))?);
        }
    }
    let mean = |j: usize| total.gram.entry(0, j) / total.weight;
    let covariance = |i: usize, j: usize| total.gram.entry(i, j) / total.weight - mean(i) * mean(j);
    let around = Matrix::from_fn(state, state, |i, j| covariance(1 + i, 1 + j));
    // C − MᵀA, which is the covariance of what the fit misses.
    let seen = Matrix::from_fn(p, state, |i, j| total.cross.entry(i, 1 + j) / total.weight);
    let explained = fit.transposed_times(&seen);
    let missed = Matrix::from_fn(state, state, |i, j| {
        next.entry(1 + i, 1 + j) / total.weight - 0.5 * (explained.entry(i, j) + explained.entry(j, i))
    });
    let told = largest_correlation(
        &around,
        &Matrix::from_fn(p - 1 - state, p - 1 - state, |i, j| covariance(1 + state + i, 1 + state + j)),
        &Matrix::from_fn(state, p - 1 - state, |i, j| covariance(1 + i, 1 + state + j)),
    )?;
    let pairs = GeneralEigen::new(&own(&fit), count.max(LEADING))?;
    let mut spectrum = Spectrum { blocks: left_out.len(), ..Spectrum::default() };
    for (value, (re, im)) in pairs.values.iter().zip(pairs.re.iter().zip(&pairs.im)) {
        let vector = Vector { re, im };
        let (norm, rest) = (vector.form(&around).0, vector.form(&missed).0);
        if norm <= NEGLIGIBLE {
            // A function that does not vary.
            continue;
        }
        let spread = spread(*value, &left_out).max(ROUNDING);
        let (reliability, reason) = match value.modulus() <= 3.0 * spread {
            _ if told > 1.0 - TOLD => (Reliability::Unknown, Reason::InputsFollow),
            true => (Reliability::Unreliable, Reason::WithinSpread),
            // Above 1 as well: inputs may hold what would run away.
            false => (Reliability::Reliable, Reason::SpreadAlone),
        };
        let residual = (rest / norm).max(0.0).sqrt();
        spectrum.modes.push(Mode { value: *value, spread, residual, reliability, reason });
        let lift = |part: &[f64]| -> Vec<f64> {
            let constant = -part.iter().enumerate().map(|(i, w)| w * mean(1 + i)).sum::<f64>();
            let whole = std::iter::once(constant).chain(part.iter().copied());
            whole.chain(std::iter::repeat_n(0.0, p - 1 - state)).map(|w| w / norm.sqrt()).collect()
        };
        spectrum.functions.push([lift(re), lift(im)]);
    }
    Ok(spectrum)
}

/// The square of the largest correlation of a combination of `x` with one of `u`.
///
/// # Errors
/// When an eigenvalue iteration fails.
fn largest_correlation(x: &Matrix, u: &Matrix, between: &Matrix) -> Result<f64, Error> {
    let product = whitening(x)?.transposed_times(&between.times(&whitening(u)?));
    let n = product.columns();
    let square = product.transposed_times(&product);
    Ok(SymmetricEigen::new(n, |i, j| square.entry(i, j))?.values.first().copied().unwrap_or(0.0))
}

/// Columns that have variance 1 and no correlation.
fn whitening(covariance: &Matrix) -> Result<Matrix, Error> {
    let n = covariance.rows();
    let SymmetricEigen { values, vectors } = SymmetricEigen::new(n, |i, j| covariance.entry(i, j))?;
    let most = values.first().copied().unwrap_or(0.0);
    let rank = values.iter().filter(|value| **value > NEGLIGIBLE * most).count();
    Ok(Matrix::from_fn(n, rank, |i, r| vectors[r][i] / values[r].sqrt()))
}
