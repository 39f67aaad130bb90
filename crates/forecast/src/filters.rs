//! Fixed filters: the leading eigenvectors of two Hankel matrices.
//!
//! | bank | matrix | is |
//! |---|---|---|
//! | [`Hankel::Slip`] | `H_ij = (1 + (−1)^{i+j}) / (2(i + j − 1))` | `½ ∫_{−1}^1 v(x)v(x)ᵀ dx` |
//! | [`Hankel::Wave`] | `Z_ij = 2 / ((i + j)³ − (i + j))` | `∫_0^1 (1 − x)² v(x)v(x)ᵀ dx` |
//!
//! with `v(x) = (1, x, x², …)`. Filter `j` is `σ_j^{1/4} φ_j`. The eigenvalues fall exponentially,
//! so a matrix of any length has a numerical rank of some dozens. Short matrices are decomposed as
//! they are. Of long ones the integral is taken by the trapezoidal rule in a variable that sends
//! both ends to infinity; its nodes span the range, and only their Gram matrix, whose entries are
//! geometric sums, is decomposed.
//!
//! Filters whose eigenvalue is below 1e−14 of the first are rounding and are left out.

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_linalg_incremental::SymmetricEigen;
use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::Error;

/// Length up to which the matrix itself is decomposed.
const SHORT: usize = 256;
/// Eigenvalues below this share of the first are rounding.
const LEAST_EIGENVALUE: f64 = 1e-14;
/// Step of the quadrature and how far it reaches: both leave errors of the order of a double's
/// rounding.
const STEP: f64 = 1.0 / 7.0;
const REACH: f64 = 24.0;

/// A Hankel matrix whose eigenvectors are filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hankel {
    /// Rashidinejad, Jiao and Russell 2020.
    Slip,
    /// Hazan, Singh and Zhang 2017.
    Wave,
}

impl Hankel {
    fn entry(self, i: usize, j: usize) -> f64 {
        let s = (i + j + 2) as f64;
        match self {
            Self::Slip if (i + j).is_multiple_of(2) => 1.0 / (s - 1.0),
            Self::Slip => 0.0,
            Self::Wave => 2.0 / (s * s * s - s),
        }
    }

    /// Nodes of the quadrature, `(x, 1 − |x|, weight)`.
    fn nodes(self) -> Vec<(f64, f64, f64)> {
        let half = (REACH / STEP) as i32;
        (-half..=half)
            .map(|i| {
                let u = f64::from(i) * STEP;
                // tanh u and its distance from ±1, which is not formed as a difference.
                let short = 2.0 / ((2.0 * u.abs()).exp() + 1.0);
                match self {
                    Self::Slip => (u.tanh(), short, 0.5 * STEP * short * (2.0 - short)),
                    Self::Wave => {
                        let (x, rest) = (1.0 / (1.0 + (-2.0 * u).exp()), 1.0 / (1.0 + (2.0 * u).exp()));
                        (x, rest, STEP * 2.0 * x * rest * rest * rest)
                    }
                }
            })
            .collect()
    }

    /// At most `rank` pairs `(σ_j, φ_j)` of the matrix of size `length`, largest first.
    pub(super) fn eigenpairs(self, length: usize, rank: usize) -> Result<Vec<(f64, Vec<f64>)>, Error> {
        let eigen = if length <= SHORT {
            SymmetricEigen::new(length, |i, j| self.entry(i, j)).map_err(|_| ExampleError::Diverged)?
        } else {
            self.by_quadrature(length)?
        };
        let least = eigen.values[0] * LEAST_EIGENVALUE;
        Ok(eigen.values.into_iter().zip(eigen.vectors).take(rank).take_while(|(value, _)| *value > least).collect())
    }

    fn by_quadrature(self, length: usize) -> Result<SymmetricEigen, Error> {
        let nodes = self.nodes();
        let gram = |a: usize, b: usize| {
            let ((x, x_rest, x_weight), (y, y_rest, y_weight)) = (nodes[a], nodes[b]);
            (x_weight * y_weight).sqrt() * geometric_sum(x, x_rest, y, y_rest, length)
        };
        let eigen = SymmetricEigen::new(nodes.len(), gram).map_err(|_| ExampleError::Diverged)?;
        let kept = eigen.values.iter().take_while(|value| **value > eigen.values[0] * LEAST_EIGENVALUE).count();
        let mut vectors = vec![vec![0.0; length]; kept];
        for (value, (vector, own)) in eigen.values.iter().zip(vectors.iter_mut().zip(&eigen.vectors)) {
            for ((x, _, weight), own) in nodes.iter().zip(own) {
                let mut term = (weight / value).sqrt() * own;
                for entry in vector.iter_mut() {
                    *entry += term;
                    term *= x;
                }
            }
        }
        Ok(SymmetricEigen { values: eigen.values[..kept].to_vec(), vectors })
    }
}

/// `Σ_{i<n} (xy)^i`, with `1 − |x|` and `1 − |y|` given.
fn geometric_sum(x: f64, x_rest: f64, y: f64, y_rest: f64, n: usize) -> f64 {
    let power = (n as f64 * ((-x_rest).ln_1p() + (-y_rest).ln_1p())).min(0.0);
    if x * y < 0.0 {
        let sign = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        (1.0 - sign * power.exp()) / (1.0 + (x * y).abs())
    } else {
        // 1 − xy = (1 − x) + x(1 − y), which does not cancel.
        -power.exp_m1() / (x_rest + (1.0 - x_rest) * y_rest)
    }
}

/// Filters `σ_j^{1/4} φ_j` applied to the past of several channels.
///
/// # Invariants
/// Group `g` holds `length` lanes: filters `8g … 8g + 7` at distances 1, 2, … from the present;
/// filters past `rank` are zero.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Bank {
    rank: usize,
    length: usize,
    lanes: Vec<Lane>,
}

impl Validate for Bank {
    fn validate(&self) -> Result<(), Inconsistent> {
        let whole = self.length > 0 && self.rank.div_ceil(LANES).checked_mul(self.length) == Some(self.lanes.len());
        Inconsistent::require(whole, "bank of filters", "it has one number for each distance of each filter")?;
        self.lanes.validate()
    }
}

impl Bank {
    pub(super) fn new(hankel: Hankel, length: usize, rank: usize) -> Result<Self, Error> {
        let pairs = hankel.eigenpairs(length, rank)?;
        let mut lanes = vec![Lane::ZERO; pairs.len().div_ceil(LANES) * length];
        for (j, (value, vector)) in pairs.iter().enumerate() {
            for (lane, entry) in lanes[j / LANES * length..].iter_mut().zip(vector) {
                lane.0[j % LANES] = value.powf(0.25) * entry;
            }
        }
        Ok(Self { rank: pairs.len(), length, lanes })
    }

    /// Number of filters.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Distances that a filter reaches.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// `features[rank · channel + j] = Σ_s filter_j(s) past[t − s]` for the `channels` numbers of
    /// every row of `past`, oldest first. `rank · T` multiply-adds a channel, `T` rows at most.
    pub(super) fn apply(&self, past: &[f64], channels: usize, features: &mut [f64]) {
        dispatch(Convolve { bank: self, past: past.chunks_exact(channels).rev(), features });
    }

    /// The same with the newest row first.
    pub(super) fn apply_newest_first(&self, past: &[f64], channels: usize, features: &mut [f64]) {
        dispatch(Convolve { bank: self, past: past.chunks_exact(channels), features });
    }
}

struct Convolve<'a, P> {
    bank: &'a Bank,
    /// Rows of all channels, newest first.
    past: P,
    features: &'a mut [f64],
}

impl<'a, P: Iterator<Item = &'a [f64]> + Clone> Op for Convolve<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { bank, past, features } = self;
        for (channel, features) in features.chunks_exact_mut(bank.rank.max(1)).enumerate() {
            for (filters, features) in bank.lanes.chunks_exact(bank.length).zip(features.chunks_mut(LANES)) {
                // Four by four, so that the sums stay in registers.
                let (mut sums, mut past) = ([simd.splat(0.0); 4], past.clone());
                let (fours, last) = filters.as_chunks::<4>();
                for four in fours {
                    for k in 0..4 {
                        let Some(row) = past.next() else { break };
                        sums[k] = simd.mul_add(simd.load(&four[k]), simd.splat(row[channel]), sums[k]);
                    }
                }
                for k in 0..3 {
                    if let (Some(filter), Some(row)) = (last.get(k), past.next()) {
                        sums[k] = simd.mul_add(simd.load(filter), simd.splat(row[channel]), sums[k]);
                    }
                }
                let mut sum = Lane::ZERO;
                simd.store(simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3])), &mut sum);
                features.copy_from_slice(&sum.0[..features.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_and_the_matrix_itself_agree() -> Result<(), Error> {
        for hankel in [Hankel::Slip, Hankel::Wave] {
            let direct = SymmetricEigen::new(SHORT, |i, j| hankel.entry(i, j)).expect("finite");
            let by_quadrature = hankel.by_quadrature(SHORT)?;
            for j in 0..12 {
                let value = (direct.values[j], by_quadrature.values[j]);
                assert!((value.0 - value.1).abs() < 1e-13 * direct.values[0], "{hankel:?}: eigenvalue {j}: {value:?}");
                let (a, b) = (&direct.vectors[j], &by_quadrature.vectors[j]);
                let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                // An eigenvector is known as well as its eigenvalue stands out of rounding.
                assert!(
                    (cosine.abs() - 1.0).abs() < 1e-13 * direct.values[0] / value.0,
                    "{hankel:?}: eigenvector {j}: {cosine}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn long_filters_satisfy_the_eigenvalue_equation() -> Result<(), Error> {
        let (hankel, length) = (Hankel::Slip, 3000);
        for (value, vector) in hankel.eigenpairs(length, 8)? {
            for i in [0, 1, 17, 2999] {
                let product: f64 = (0..length).map(|j| hankel.entry(i, j) * vector[j]).sum();
                assert!((product - value * vector[i]).abs() < 1e-13, "row {i} of eigenvalue {value}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_bank_is_a_convolution() -> Result<(), Error> {
        let bank = Bank::new(Hankel::Slip, 5, 3)?;
        let pairs = Hankel::Slip.eigenpairs(5, 3)?;
        let past: Vec<f64> = (0..16).map(|i| f64::from(i * i % 7)).collect();
        for rows in [0, 1, 3, 8] {
            let past = &past[..2 * rows];
            let mut features = vec![f64::NAN; 6];
            bank.apply(past, 2, &mut features);
            for channel in 0..2 {
                for (j, (value, vector)) in pairs.iter().enumerate() {
                    let sum: f64 = (1..=rows.min(5)).map(|s| vector[s - 1] * past[(rows - s) * 2 + channel]).sum();
                    assert!((features[channel * 3 + j] - value.powf(0.25) * sum).abs() < 1e-13);
                }
            }
        }
        Ok(())
    }
}
