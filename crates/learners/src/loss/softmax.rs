//! The softmax loss: many classes with probabilities `p_k = e^{z_k}/Σ_j e^{z_j}`.

/// `ln Σ_k e^{z_k} − z_y` for the class `y`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Softmax;

impl Softmax {
    /// `−ln p_class`
    #[must_use]
    pub fn value(self, scores: &[f64], class: usize) -> f64 {
        let top = largest(scores);
        let sum: f64 = scores.iter().map(|z| (z - top).exp()).sum();
        sum.ln() + top - scores.get(class).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// `p`, in place of the scores.
    pub fn probabilities(self, scores: &mut [f64]) {
        let top = largest(scores);
        scores.iter_mut().for_each(|z| *z = (*z - top).exp());
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|p| *p /= sum);
    }

    /// `gradient ← p − e_class`; its entries sum to zero.
    pub fn gradient(self, scores: &[f64], class: usize, gradient: &mut [f64]) {
        gradient.copy_from_slice(scores);
        self.probabilities(gradient);
        if let Some(g) = gradient.get_mut(class) {
            *g -= 1.0;
        }
    }

    /// `scores ← ` where `dz = −∂ℓ/∂z da` leads, by steps of the midpoint rule. There is no closed
    /// form. Probabilities go as `1/a`, so steps grow with what is behind them: the scores are off
    /// by some thousandths.
    pub(crate) fn flow(self, scores: &mut [f64], class: usize, amount: f64) {
        let (mut half, mut gradient) = (scores.to_vec(), scores.to_vec());
        let mut done = 0.0;
        while done < amount {
            let step = 0.05_f64.max(0.05 * done).min(amount - done);
            self.gradient(scores, class, &mut gradient);
            half.iter_mut().zip(&*scores).zip(&gradient).for_each(|((half, z), g)| *half = z - 0.5 * step * g);
            self.gradient(&half, class, &mut gradient);
            scores.iter_mut().zip(&gradient).for_each(|(z, g)| *z -= step * g);
            // At the end of the range of numbers a step no longer moves the sum.
            done = if done + step > done { done + step } else { amount };
        }
    }

    /// `κ = 1/(1 + (m − 1)e^{2U})` with `ℓ(z') ≥ ℓ(z) + gᵀ(z' − z) + ½κ‖z' − z‖²` for `m` scores
    /// within `±bound = ±U` whose sums are equal.
    ///
    /// The Hessian is `diag(p) − ppᵀ`, and for `v` that sums to zero
    /// `vᵀHv = min_c Σ p_k (v_k − c)² ≥ min_k p_k ‖v‖²`; the smallest probability within the bound
    /// is `κ`. Gradients sum to zero, so steps on one shared matrix leave the sum of the scores
    /// alone.
    #[must_use]
    pub fn curvature(self, bound: f64, outputs: usize) -> f64 {
        1.0 / (1.0 + (outputs as f64 - 1.0) * (2.0 * bound).exp())
    }
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
