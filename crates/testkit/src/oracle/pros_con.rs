//! PROS-N-KONS and CON-KONS, literally: online Newton steps on a KORS dictionary (Calandriello et
//! al. 2017a).
//!
//! In the SVD basis of the dictionary: `A ← A + g²/(16C²) φφᵀ`, `w ← w − A⁻¹ g φ`, and `w`
//! projected in the norm of A onto `|wᵀφ(x_{t+1})| ≤ C`. The two differ only when the dictionary
//! changes:
//! - PROS restarts, `A = αI`, `w = 0`;
//! - CON carries, `A ← αI + Q(A − αI)Qᵀ`, `w ← Qw`. (Li & Liao's A.1 prints `QAQᵀ`, which is
//!   singular in the new direction; this is the mended form.)
//!
//! A round, as settled: project for `x_t` (the paper does not in the round after a change, where
//! CON would predict beyond `C`); predict; step in the old basis; then KORS decides on `x_t`, which
//! acts from the next round on. The first point is forced in with weight 1: no coin, prediction 0,
//! no step. `uniforms` are used in order, one a decision, so the first belongs to the second round.

use nalgebra::{DMatrix, DVector};

use super::kors::{KorsParams, Sampler};
use super::nons_ald::{newton_step, project};
use super::svd_basis::{SvdBasis, carry, carry_weights};
use super::{Example, KernelFn, Trace};

/// Parameters of [`pros_n_kons`] and [`con_kons`].
#[derive(Clone, Copy, Debug)]
pub struct ProsConParams {
    /// Regulariser α > 0 of the Newton step.
    pub alpha: f64,
    /// C > 0, the bound on predictions.
    pub clip: f64,
    /// Parameters by which the dictionary is sampled.
    pub kors: KorsParams,
    /// The most points to keep.
    pub max_dictionary: Option<usize>,
}

impl Default for ProsConParams {
    fn default() -> Self {
        Self { alpha: 1.0, clip: 1.0, kors: KorsParams::default(), max_dictionary: None }
    }
}

/// PROS-N-KONS: restart at every change of the dictionary.
///
/// # Panics
/// If the kept points are numerically dependent, or the uniforms run out.
pub fn pros_n_kons(stream: &[Example], kernel: KernelFn, params: ProsConParams, uniforms: &[f64]) -> Trace {
    run(stream, kernel, params, uniforms, |_, _, change| {
        let j = change.nrows();
        (DMatrix::identity(j, j) * params.alpha, DVector::zeros(j))
    })
}

/// CON-KONS: carry everything over at every change of the dictionary.
///
/// # Panics
/// If the kept points are numerically dependent, or the uniforms run out.
pub fn con_kons(stream: &[Example], kernel: KernelFn, params: ProsConParams, uniforms: &[f64]) -> Trace {
    run(stream, kernel, params, uniforms, |a, w, change| (carry(a, change, params.alpha), carry_weights(w, change)))
}

/// `at_change` gives `A` and `w` after a change of the dictionary, from those before and `Q`.
fn run(
    stream: &[Example],
    kernel: KernelFn,
    params: ProsConParams,
    uniforms: &[f64],
    at_change: impl Fn(&DMatrix<f64>, &DVector<f64>, &DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>),
) -> Trace {
    let step = 1.0 / (16.0 * params.clip * params.clip);
    let mut trace = Trace::default();
    let Some((first, _)) = stream.first() else {
        return trace;
    };
    let mut sampler = Sampler { kernel, params: params.kors, points: Vec::new(), weights: Vec::new() };
    sampler.keep(first, 1.0);
    trace.predictions.push(0.0);
    trace.dictionary.push(0);
    let mut basis = SvdBasis::new(kernel, vec![first.clone()]);
    let mut a = DMatrix::identity(1, 1) * params.alpha;
    let mut w = DVector::zeros(1);
    let mut coins = uniforms.iter();

    for (t, (x, y)) in stream.iter().enumerate().skip(1) {
        let phi = basis.coordinates(x);
        project(&mut w, &a, &phi, params.clip);
        let prediction = w.dot(&phi);
        trace.predictions.push(prediction);
        newton_step(&mut w, &mut a, &phi, 2.0 * (prediction - y), step);

        if params.max_dictionary.is_some_and(|most| basis.len() >= most) {
            continue;
        }
        let probability = sampler.probability(sampler.score(x));
        if *coins.next().expect("one uniform a decision") < probability {
            sampler.keep(x, probability);
            let larger = basis.enlarged(x);
            (a, w) = at_change(&a, &w, &larger.change_from(&basis));
            basis = larger;
            trace.dictionary.push(t);
        }
    }
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    const NEVER: f64 = 1.0; // no probability exceeds it

    /// Only x₁ kept, one coordinate, C = 1, α = 1, the point repeated with y = ½.
    ///
    /// Round 1: 0, no step. Round 2: w = 0, ŷ = 0, g = −1, A = 1 + 1/16 = 17/16, w = 16/17.
    /// Round 3: ŷ = 16/17, g = 15/17, A = 17/16 + (15/17)²/16, w = 16/17 − (15/17)/A.
    #[test]
    fn four_rounds_by_hand() {
        let stream = vec![(vec![0.0], 0.5); 4];
        let g = 15.0 / 17.0_f64;
        let fourth = 16.0 / 17.0 - g / ((17.0 + g * g) / 16.0);
        for oracle in [pros_n_kons, con_kons] {
            let trace = oracle(&stream, &gaussian(1.0), ProsConParams::default(), &[NEVER; 3]);
            assert_eq!(trace.dictionary, [0]);
            for (got, want) in trace.predictions.iter().zip([0.0, 0.0, 16.0 / 17.0, fourth]) {
                assert!((got - want).abs() < 1e-15, "{got} against {want}");
            }
        }
    }

    /// A large target drives w past C: round 3 is projected onto C = 1 exactly, whether or not the
    /// second round accepts its point. Where it does, PROS begins anew.
    #[test]
    fn every_round_is_projected() {
        let stream = [(vec![0.0], 0.0), (vec![0.5], 3.0), (vec![0.0], 0.0), (vec![0.0], 0.0)];
        // Round 2: φ = κ = exp(−1/8), g = −6, A = 1 + 36κ²/16, w = 6κ/A, beyond C on x₁ in round 3.
        let kappa = (-0.125_f64).exp();
        assert!(6.0 * kappa / (1.0 + 36.0 * kappa * kappa / 16.0) > 1.0);
        for coin in [NEVER, 0.0] {
            let trace = con_kons(&stream, &gaussian(1.0), ProsConParams::default(), &[coin, NEVER, NEVER]);
            assert!((trace.predictions[2] - 1.0).abs() < 1e-14, "{}", trace.predictions[2]);
        }
        let restarted = pros_n_kons(&stream, &gaussian(1.0), ProsConParams::default(), &[0.0, NEVER, NEVER]);
        assert_eq!(restarted.predictions[2], 0.0);
    }
}
