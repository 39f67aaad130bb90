//! Kernel online row sampling: keep a point with a probability proportional to its ridge leverage
//! score.
//!
//! With the kept points `S`, weights `w_i = 1/√p_i` and `S` also for the diagonal of weights, the
//! score of `x` is `τ = (1 + ε) e/(e + γ)` with `e = k(x,x) − k_SᵀS (S K_S S + γI)⁻¹ S k_S`, and
//! `x` is kept with probability `p = min(βτ, 1)` (Calandriello, Lazaric and Valko 2017). The
//! listing of Jézéquel et al. (2019) prints the weights as `1/p`, which underestimates the scores.
//!
//! In the orthonormal coordinates of the dictionary, `k_S = Φφ` and `K_S = ΦΦᵀ`, this is
//! `e = δ + γ φᵀ(C + γI)⁻¹φ` with `C = Σ w_i² φ_iφ_iᵀ` over the kept points: a sum of terms that
//! are not negative, of the size of the span however many points are kept. A decision costs `½J²`
//! multiply-adds, a kept point `1½J²` more. The coin may keep a point that is in the span already
//! (any kernel of finite rank comes to that): it counts in `C`, but adds no coordinate.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_linalg_incremental::{Removal, Rotations, SymmetricMatrix};
use mercer_simd::AlignedVec;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::admission::{Admission, Answer, coordinate_above};
use crate::basis::Orthonormal;
use crate::probe::Probe;

/// A residual up to this share of `k(x, x)` counts as zero: the point is in the span. A coordinate
/// divides what rounding left of its residual by the root of it, and the next one that small
/// inherits the error; without a bound coordinates overflow in the end. For pairs of points 1e-5
/// apart under a Gaussian, 1e-9 keeps predictions within 1e-6 of those of the whole kernel, where
/// 1e-10 already loses them in the second digit.
const IN_SPAN: f64 = 1e-9;

/// A residual up to so many times what rounding may have put into it counts as zero, too. A stream
/// that moves along a line brings points that extrapolate from those kept, with coefficients of 10⁷
/// and more, and its dictionary then loses all digits within some dozen points although no residual
/// is below 10⁻⁹. On the stream of this file's test, 1, 10, 100 and 1,000 all hold and keep 137,
/// 134, 129 and 125 points; without the rule the squared norm of a point's coordinates comes to
/// exceed `k(x, x)` by 9.8.
const ABOVE_ROUNDING: f64 = 100.0;

/// ChaCha8 stream of the coins, apart from other draws with the same seed.
const STREAM: u64 = 0x6b6f_7273;

/// Ridge-leverage-score sampling; the first point is kept without a coin, with weight 1.
///
/// # Invariants
/// `inverse` is `(C + γI)⁻¹` in the coordinates of the dictionary, which gains those that the
/// decisions return and no other; `uniform` is the coin of the next decision.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kors {
    gamma: f64,
    beta: f64,
    epsilon: f64,
    inverse: SymmetricMatrix,
    kept: usize,
    uniform: f64,
    rng: ChaCha8Rng,
    /// `(C + γI)⁻¹φ` of a kept point.
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
}

/// Decision of [`Kors`] about a point.
#[derive(Clone, Copy, Debug)]
pub struct KorsDecision {
    /// `φᵀ(C + γI)⁻¹φ`
    explained: f64,
    /// The squared weight `1/p` the point enters with, if it is kept.
    squared_weight: Option<f64>,
    /// The coordinate it adds, if it does.
    coordinate: Option<f64>,
}

impl From<KorsDecision> for Answer {
    fn from(decision: KorsDecision) -> Self {
        decision.coordinate.into()
    }
}

impl Kors {
    /// A sampler with regularisation `gamma > 0` (larger keeps fewer), oversampling `beta > 0` and
    /// accuracy `epsilon ≥ 0`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(gamma: f64, beta: f64, epsilon: f64, seed: u64) -> Result<Self, ParameterError> {
        let (gamma, beta) = (ParameterError::positive("gamma", gamma)?, ParameterError::positive("beta", beta)?);
        let epsilon = ParameterError::non_negative("epsilon", epsilon)?;
        // Coordinates are divided by γ.
        ParameterError::require(gamma >= f64::MIN_POSITIVE, "gamma", "a number above 2.3e-308", gamma)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let uniform = rng.random();
        Ok(Self { gamma, beta, epsilon, inverse: SymmetricMatrix::new(), kept: 0, uniform, rng, c: AlignedVec::new() })
    }

    /// The uniform number in `[0, 1)` that decides next.
    #[must_use]
    pub fn uniform(&self) -> f64 {
        self.uniform
    }

    /// Number of points kept, those included that were in the span and added no coordinate.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept
    }
}

impl Validate for Kors {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.gamma, "regulariser of leverage scores")?;
        Inconsistent::positive(self.beta, "oversampling of leverage scores")?;
        Inconsistent::non_negative(self.epsilon, "accuracy of leverage scores")?;
        Inconsistent::require((0.0..1.0).contains(&self.uniform), "coin", "it is at least 0 and below 1")?;
        self.inverse.validate()
    }
}

impl<B: Orthonormal> Admission<B> for Kors {
    type Decision = KorsDecision;

    const HAS_STATE: bool = true;

    fn fits(&self, points: usize) -> bool {
        self.inverse.dimension() == points
    }

    fn decide(&self, basis: &B, _: &[f64], probe: &Probe) -> KorsDecision {
        let explained = self.inverse.quadratic(probe.coordinates());
        let e = probe.residual() + self.gamma * explained;
        let score = (1.0 + self.epsilon) * e / (e + self.gamma);
        let probability = (self.beta * score).min(1.0);
        let squared_weight = if self.inverse.dimension() == 0 {
            Some(1.0)
        } else {
            // Out of the range of numbers, a score says nothing.
            (score.is_finite() && self.uniform < probability).then(|| 1.0 / probability)
        };
        let threshold = IN_SPAN * probe.self_value();
        let coordinate = squared_weight
            .and_then(|_| coordinate_above(threshold, probe))
            .filter(|_| probe.residual() > ABOVE_ROUNDING * basis.rounding(probe));
        KorsDecision { explained, squared_weight, coordinate }
    }

    fn commit(&mut self, probe: &Probe, decision: KorsDecision) {
        if self.inverse.dimension() > 0 {
            self.uniform = self.rng.random();
        }
        let KorsDecision { mut explained, squared_weight, coordinate } = decision;
        let Some(weight) = squared_weight else { return };
        self.kept += 1;
        let mut c = std::mem::take(&mut self.c);
        self.inverse.multiply(probe.coordinates(), &mut c);
        if let Some(new) = coordinate {
            self.inverse.grow(1.0 / self.gamma);
            c.push(new / self.gamma);
            explained += new * new / self.gamma;
        }
        self.inverse.subtract(weight / (1.0 + weight * explained), &c);
        self.c = c;
    }

    fn remove(&mut self, _: usize, rotations: &Rotations) {
        // C of the coordinates that are left is a block of C, and its inverse is the inverse
        // conditioned on zero.
        self.inverse.rotate(rotations);
        self.inverse.drop_last(Removal::Condition, &mut self.c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewtonBasis;
    use mercer_kernels::{AnyKernel, Gaussian, Kernel, Points};
    use mercer_linalg_incremental::GrowingCholesky;
    use mercer_simd::dot;

    type TestResult = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn far_points_are_kept_and_repeated_points_count_without_a_coordinate() -> TestResult {
        // A far point has e = k(x,x) = 1, so τ = 1.5/(1 + γ) > 1 at γ = 0.4 and it is kept whatever
        // the coin. Kept with weight 1 it explains itself: φᵀ(C + γI)⁻¹φ = 1/1.4. Kept again with
        // p = τ = 1.5 e/(e + γ), e = 0.4/1.4, it adds 1/p to C.
        let mut basis = NewtonBasis::new(Gaussian::new(0.1)?, 1);
        let (mut rule, mut probe) = (Kors::new(0.4, 1.0, 0.5, 3)?, Probe::default());
        let mut explained = vec![vec![]; 4];
        for t in 0..400 {
            let x = [(t % 4) as f64 * 10.0];
            basis.probe(&x, &mut probe);
            let decision = rule.decide(&basis, &x, &probe);
            Admission::<NewtonBasis<Gaussian>>::commit(&mut rule, &probe, decision);
            if let Some(new_coordinate) = decision.coordinate {
                assert!(t < 4);
                basis.append(&x, probe.coordinates(), new_coordinate);
            }
            basis.probe(&x, &mut probe);
            let now = rule.inverse.quadratic(probe.coordinates());
            if explained[t % 4].last().is_none_or(|last| now < last - 1e-9) {
                explained[t % 4].push(now);
            }
        }
        let score = 0.625;
        for explained in explained {
            // Kept n times, e/(e + γ) is about 1/(n + 1 + …): the expected number grows like √t,
            // far below t.
            assert!((3..50).contains(&explained.len()), "{explained:?}");
            assert!((explained[0] - 1.0 / 1.4).abs() < 1e-12);
            assert!((explained[1] - 1.0 / (1.4 + 1.0 / score)).abs() < 1e-12);
        }
        assert_eq!(basis.len(), 4);
        Ok(())
    }

    /// `e` over all kept points, in the span or not, by the factor of `S K_S S + γI`, and how well
    /// it is known: the kept points in the span have residuals of up to `IN_SPAN k(x, x)` that the
    /// rule takes for zero.
    fn check_scores(kernel: &AnyKernel, tolerance: f64) -> Result<(usize, usize), Box<dyn std::error::Error>> {
        let gamma = 0.05;
        let mut basis = NewtonBasis::new(kernel.clone(), 2);
        let (mut rule, mut probe) = (Kors::new(gamma, 2.0, 0.5, 9)?, Probe::default());
        let (mut kept, mut weights, mut factor) = (Points::new(2), Vec::new(), GrowingCholesky::new());
        let (mut row, mut solved) = (AlignedVec::new(), AlignedVec::new());
        for t in 0..300 {
            let t = f64::from(t);
            let x = [(1.7 * t).sin(), (0.9 * t + 1.0).cos()];
            basis.probe(&x, &mut probe);
            let decision = rule.decide(&basis, &x, &probe);
            let e = probe.residual() + gamma * decision.explained;
            kernel.row(&kept, &x, &mut row);
            row.iter_mut().zip(&weights).for_each(|(value, weight)| *value *= weight);
            factor.forward_solve(&row, &mut solved);
            let literal = kernel.self_value(&x) - dot(solved.lanes(), solved.lanes());
            assert!((e - literal).abs() < tolerance, "round {t}: {e} against {literal}");
            Admission::<NewtonBasis<AnyKernel>>::commit(&mut rule, &probe, decision);
            if let Some(squared) = decision.squared_weight {
                let weight: f64 = squared.sqrt();
                solved.iter_mut().for_each(|v| *v *= weight);
                factor.append(&solved, (squared * literal + gamma).sqrt());
                kept.push(&x);
                weights.push(weight);
            }
            if let Some(new_coordinate) = decision.coordinate {
                basis.append(&x, probe.coordinates(), new_coordinate);
            }
        }
        assert_eq!(rule.kept(), kept.len());
        Ok((basis.len(), kept.len()))
    }

    #[test]
    fn coordinates_stay_coordinates_on_a_stream_along_a_line() -> TestResult {
        // Each kept point extrapolates from those before it. Taken for what they are to within
        // rounding, ‖φ(x)‖² ≤ k(x, x).
        let kernel = Gaussian::new(60.0)?;
        let mut basis = NewtonBasis::new(kernel, 1);
        let (mut rule, mut probe) = (Kors::new(1.0, 1.0, 0.5, 0)?, Probe::default());
        for t in 0..3000 {
            let x = [f64::from(t)];
            basis.probe(&x, &mut probe);
            let squared = dot(probe.coordinates().lanes(), probe.coordinates().lanes());
            assert!(squared <= 1.0 + 1e-3, "round {t}: {squared}");
            let decision = rule.decide(&basis, &x, &probe);
            Admission::<NewtonBasis<Gaussian>>::commit(&mut rule, &probe, decision);
            if let Some(new) = decision.coordinate {
                basis.append(&x, probe.coordinates(), new);
            }
        }
        assert!(basis.len() > 80, "{} points span the line", basis.len());
        Ok(())
    }

    #[test]
    fn scores_are_those_of_the_weighted_gram_matrix() -> TestResult {
        let (coordinates, kept) = check_scores(&"gaussian:0.3".parse()?, 1e-9)?;
        assert!(coordinates > 40 && coordinates <= kept, "{coordinates} of {kept}");
        // Six monomials up to degree 2 in two variables.
        let (coordinates, kept) = check_scores(&"polynomial:2,0.5".parse()?, 1e-9)?;
        assert!(coordinates == 6 && kept > 12, "{coordinates} of {kept}");
        // So wide that all points nearly coincide.
        let (coordinates, kept) = check_scores(&"gaussian:300".parse()?, 1e-9)?;
        assert!(coordinates < 8 && kept > coordinates, "{coordinates} of {kept}");
        Ok(())
    }
}
