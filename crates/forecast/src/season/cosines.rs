//! Random cosines of lags: features of a Gaussian kernel whose lengths grow with the distance of a
//! lag.
//!
//! `2 √(2/D) cos(wᵀf + b)` with `w_l = g_l γ^{d_l} / ‖γ^d‖`, `g ~ N(0, 1)`, `b` uniform (Rahimi and
//! Recht 2007).

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch, sincos_lane, sincos_quarter_turns};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::coordinates::ln;

/// `D` cosines of a number of lags.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cosines {
    /// In quarter turns: the phases, and then the frequencies of each lag, `D` padded to whole
    /// lanes.
    quarter_turns: AlignedVec,
    count: usize,
}

impl Cosines {
    /// Draws `count` cosines for lags of these weights from ChaCha8.
    pub(super) fn draw(weights: &[f64], count: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let padded = count.next_multiple_of(LANES);
        let mut quarter_turns = AlignedVec::zeros(padded * (1 + weights.len()));
        quarter_turns[..count].fill_with(|| 4.0 * uniform());
        for (row, weight) in quarter_turns[padded..].chunks_exact_mut(padded).zip(weights) {
            // Box and Muller, in quarter turns.
            row[..count].fill_with(|| {
                let radius = (-2.0 * ln(uniform())).sqrt();
                radius * cosine(4.0 * uniform()) * weight / norm * std::f64::consts::FRAC_2_PI
            });
        }
        Self { quarter_turns, count }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The features of lags that were not weighted yet. `work` is scratch memory.
    pub(super) fn features(&self, lags: &[f64], features: &mut [f64], work: &mut AlignedVec) {
        work.resize(self.count);
        dispatch(CosineFeatures { turns: self.quarter_turns.lanes(), lags, features: work.lanes_mut() });
        let scale = 2.0 * (2.0 / self.count as f64).sqrt();
        for (feature, cosine) in features.iter_mut().zip(&**work) {
            *feature = scale * cosine;
        }
    }
}

/// The cosine of an angle in quarter turns.
fn cosine(angle: f64) -> f64 {
    let (mut sin, mut cos) = ([Lane::ZERO], [Lane::ZERO]);
    sincos_quarter_turns(&[Lane([angle; LANES])], &mut sin, &mut cos);
    cos[0].0[0]
}

struct CosineFeatures<'a> {
    turns: &'a [Lane],
    lags: &'a [f64],
    features: &'a mut [Lane],
}

impl Op for CosineFeatures<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let lanes = self.features.len();
        for (i, feature) in self.features.iter_mut().enumerate() {
            let mut angle = simd.load(&self.turns[i]);
            for (l, lag) in self.lags.iter().enumerate() {
                angle = simd.mul_add(simd.splat(*lag), simd.load(&self.turns[(l + 1) * lanes + i]), angle);
            }
            simd.store(sincos_lane(simd, angle).1, feature);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_cosines_by_their_formula() {
        let weights = [1.0, 0.5, 0.25];
        let cosines = Cosines::draw(&weights, 21, 7);
        assert_eq!(cosines, Cosines::draw(&weights, 21, 7));
        assert_ne!(cosines, Cosines::draw(&weights, 21, 8));
        let lags = [0.3, -1.2, 4.0];
        let (mut features, mut work) = ([0.0; 21], AlignedVec::new());
        cosines.features(&lags, &mut features, &mut work);
        for (j, feature) in features.iter().enumerate() {
            let turns = |row: usize| cosines.quarter_turns[24 * row + j] * std::f64::consts::FRAC_PI_2;
            let angle = turns(0) + (0..3).map(|l| turns(l + 1) * lags[l]).sum::<f64>();
            assert!((feature - 2.0 * (2.0_f64 / 21.0).sqrt() * angle.cos()).abs() < 1e-12);
        }
    }

    /// A product of two feature vectors, divided by 4, is near the kernel `exp(−‖(f −
    /// f')w‖²/2‖w‖²)`.
    #[test]
    fn products_approach_the_kernel() {
        let weights = [1.0, 0.5];
        let cosines = Cosines::draw(&weights, 4000, 1);
        let (mut a, mut b, mut work) = (vec![0.0; 4000], vec![0.0; 4000], AlignedVec::new());
        cosines.features(&[0.2, 0.1], &mut a, &mut work);
        cosines.features(&[1.0, -0.7], &mut b, &mut work);
        let product = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / 4.0;
        let distance = (0.8_f64.powi(2) + (0.8_f64 * 0.5).powi(2)) / 1.25;
        assert!((product - (-distance / 2.0).exp()).abs() < 0.05, "{product}");
    }
}
