//! KRLS-T as published (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012): the recursion with
//! the explicit inverse `Q = (K + jI)⁻¹`, and the mean `μ` and covariance `Σ` of the function at
//! the kept points.
//!
//! First: `Q = 1/κ_j`, `μ = yκ_j/(κ_j + σ²)`, `Σ = κ_j − κ_j²/(κ_j + σ²)`, `num = y²/(κ_j + σ²)`,
//! `den = 1`, where `κ_j = k(x, x) + j`. Then forget (b2p): `Σ ← λΣ + (1−λ)(K + jI)`, `μ ← √λ μ`;
//! (ui): `Σ ← Σ/λ`. Predict: `q = Qk`, `m = qᵀμ`, `γ² = κ_j − kᵀq`, `h = Σq`, `s_f = γ² + qᵀh`,
//! `s_y = σ²/ω + s_f`. Add: `Q ← [Q 0; 0 0] + [q; −1][q; −1]ᵀ/γ²`,
//! `μ ← [μ; m] + (y − m)/s_y [h; s_f]`, `Σ ← [Σ h; hᵀ s_f] − [h; s_f][h; s_f]ᵀ/s_y`,
//! `num += λ(y − m)²/s_y`, `den += λ`. Beyond `M` points drop `argmin |(Qμ)_i/Q_ii|`, from `Q` by
//! its Schur complement.
//!
//! The recursion of `Q` is a witness for jitters that are not small, because it loses digits; `Q`
//! can be inverted anew instead.

use nalgebra::{DMatrix, DVector};

use super::dense::{bordered, kernel_vector, without};
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`krls_t`].
#[derive(Clone, Copy, Debug)]
pub struct KrlsTParams {
    /// Forgetting `λ`.
    pub forgetting: f64,
    /// Variance `σ²` of the noise.
    pub noise: f64,
    /// Jitter `j`.
    pub jitter: f64,
    /// Budget `M`.
    pub max_dictionary: usize,
    /// True if it forgets back to the prior, and not by injected uncertainty.
    pub back_to_prior: bool,
    /// True if `Q` is inverted anew in every round, and not recursed.
    pub anew: bool,
}

/// Trace of one pass of [`krls_t`].
#[derive(Clone, Debug, Default)]
pub struct KrlsTTrace {
    /// Predictions and the dictionary at the end.
    pub trace: Trace,
    /// The variance `s₀² s_y` of each prediction for weight 1; none in the first round.
    pub variances: Vec<Option<f64>>,
}

/// The point without which predictions change least.
fn least_significant(inverse: &DMatrix<f64>, mean: &DVector<f64>) -> usize {
    let alpha = inverse * mean;
    let significance = |i: usize| (alpha[i] / inverse[(i, i)]).abs();
    (0..mean.len()).fold(0, |least, i| if significance(i) < significance(least) { i } else { least })
}

/// Forgetting back to the prior, or by injected uncertainty.
fn forget(covariance: &mut DMatrix<f64>, mean: &mut DVector<f64>, prior: &DMatrix<f64>, params: &KrlsTParams) {
    let forgetting = params.forgetting;
    if params.back_to_prior {
        *covariance = &*covariance * forgetting + prior * (1.0 - forgetting);
        *mean *= forgetting.sqrt();
    } else {
        *covariance /= forgetting;
    }
}

/// KRLS-T by the recursion of its paper.
pub fn krls_t(stream: &[WeightedExample], kernel: KernelFn, params: KrlsTParams) -> KrlsTTrace {
    let KrlsTParams { forgetting, noise, jitter, max_dictionary, anew, .. } = params;
    let mut made = KrlsTTrace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let (mut inverse, mut covariance) = (DMatrix::<f64>::zeros(0, 0), DMatrix::<f64>::zeros(0, 0));
    let mut mean = DVector::<f64>::zeros(0);
    // `K + jI`.
    let mut prior = DMatrix::<f64>::zeros(0, 0);
    let (mut num, mut den) = (0.0, 0.0);
    // Forgetting waits for the next round.
    let mut fresh = false;
    for (t, WeightedExample { x, y, weight }) in stream.iter().enumerate() {
        let n = points.len();
        if std::mem::take(&mut fresh) {
            forget(&mut covariance, &mut mean, &prior, &params);
        }
        let own = kernel(x, x) + jitter;
        let k = kernel_vector(&points, x, kernel);
        let mut q = &inverse * &k;
        if anew && n > 0 {
            let factor = prior.clone().cholesky().expect("the oracle met a singular matrix");
            inverse = factor.inverse();
            // A product with an inverse would lose digits.
            q = factor.solve(&k);
        }
        let m = if n > 0 { q.dot(&mean) } else { 0.0 };
        let residual = if n > 0 { own - k.dot(&q) } else { own };
        let h = &covariance * &q;
        let s_f = if n > 0 { residual + q.dot(&h) } else { residual };
        made.trace.predictions.push(m);
        made.variances.push((den > 0.0).then(|| num / den * (noise + s_f)));
        if *weight == 0.0 {
            continue;
        }
        let (s_y, e) = (noise / weight + s_f, y[0] - m);
        let direction = q.clone().push(-1.0);
        inverse = inverse.resize(n + 1, n + 1, 0.0) + &direction * direction.transpose() / residual;
        let gain = h.clone().push(s_f);
        covariance = bordered(covariance, &h, s_f) - &gain * gain.transpose() / s_y;
        prior = bordered(prior, &k, own);
        mean = mean.push(m) + &gain * (e / s_y);
        let counts = if den > 0.0 { forgetting } else { 1.0 };
        num += counts * e * e / s_y;
        den += counts;
        points.push(x.clone());
        made.trace.dictionary.push(t);
        fresh = true;
        if points.len() > max_dictionary {
            let least = least_significant(&inverse, &mean);
            let column = inverse.column(least).clone_owned();
            inverse = without(&inverse - &column * column.transpose() / column[least], least);
            covariance = without(covariance, least);
            prior = without(prior, least);
            mean = mean.remove_row(least);
            points.remove(least);
            made.trace.dictionary.remove(least);
        }
    }
    made
}
