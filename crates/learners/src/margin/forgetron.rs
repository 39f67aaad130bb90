//! The self-tuned Forgetron: the perceptron on a budget whose points fade before they leave (Dekel,
//! Shalev-Shwartz and Singer 2008).
//!
//! A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the
//! example, and counts `M ← M + ω`. If there are then more than `B` points, all coefficients are
//! multiplied by `φ` and the oldest point `r` leaves. With `s = |α_r|`, `μ = sign(α_r) f(d_r)`, `x`
//! being part of `f`, and `Ψ(φ) = (sφ)² + 2sφ(1 − φμ)` what its removal may cost, `φ` is the
//! largest number in `(0, 1]` with `Q + Ψ(φ) ≤ 15M/32`; then `Q ← Q + Ψ(φ)`. As
//! `(s² − 2sμ)φ² + 2sφ + (Q − 15M/32)` is negative at 0, that is 1 or its first root. `Jd + J`
//! multiply-adds a round and `Jd + 2J` more where a point leaves, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Basis, EveryPoint};

use super::{Margin, check_budget, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`Forgetron`].
    #[derive(Copy)]
    pub struct ForgetronParams {
        /// most points kept
        budget: usize = 500 => "B" COUNT,
    }
}

/// The self-tuned Forgetron.
pub type Forgetron<K> = OnCoefficients<K, EveryPoint, SelfTunedDecay>;

impl<K: Kernel> Forgetron<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When the budget is 0.
    pub fn new(kernel: K, dimension: usize, params: ForgetronParams) -> Result<Self, Error> {
        params.check()?;
        let budget = params.budget;
        let update = SelfTunedDecay { budget, mistakes: 0.0, damage: 0.0, oldest: Vec::new() };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// A mistake is kept with `ωy`; when that is one too many all coefficients shrink, as little as the
/// removal of the oldest allows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SelfTunedDecay {
    budget: usize,
    /// `M`
    mistakes: f64,
    /// `Q`
    damage: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    oldest: Vec<f64>,
}

/// The largest `φ` in `(0, 1]` with `aφ² + bφ + c ≤ 0`, for `b ≥ 0` and `c < 0`.
fn largest_share(a: f64, b: f64, c: f64) -> f64 {
    if a + b + c <= 0.0 {
        return 1.0;
    }
    // (−b + √(b² − 4ac))/2a without cancellation, and −c/b for a = 0.
    (-2.0 * c / (b + (b * b - 4.0 * a * c).max(0.0).sqrt())).min(1.0)
}

impl Validate for SelfTunedDecay {
    fn validate(&self) -> Result<(), Inconsistent> {
        check_budget(self.budget)?;
        self.damage.validate()?;
        Inconsistent::non_negative(self.mistakes, "count of mistakes")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for SelfTunedDecay {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        let margin = Margin::compute(alpha, probe.row(), target, scores)?;
        if !margin.is_mistake() {
            return Ok(());
        }
        let own = coefficient(margin.weight * margin.y)?;
        let mistakes = finite(self.mistakes + margin.weight)?;
        if basis.len() >= self.budget {
            self.oldest.resize(basis.dimension(), 0.0);
            basis.points().copy_point(0, &mut self.oldest);
            let with_newest = probe.row()[0];
            basis.kernel().row(basis.points(), &self.oldest, probe.coordinates_mut());
            let (r, mut f) = (alpha.vectors()[0][0], [0.0]);
            alpha.values(probe.coordinates(), &mut f);
            let (s, mu) = (r.abs(), r.signum() * (f[0] + own * with_newest));
            // `Q ≤ 15M/32` before the round, but for rounding: of squares of weights that is much.
            let c = (self.damage - 15.0 / 32.0 * mistakes).min(-15.0 / 32.0 * margin.weight);
            let share = finite(largest_share(s * s - 2.0 * s * mu, 2.0 * s, c))?;
            let faded = s * share;
            self.damage = finite(self.damage + faded * faded + 2.0 * faded * (1.0 - share * mu))?;
            alpha.scale(share);
            alpha.push(&[share * own]);
            leaving.push(0);
        } else {
            alpha.push(&[own]);
        }
        self.mistakes = mistakes;
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        points <= self.budget
    }
}

#[doc(hidden)]
pub const FORGETRON: Learner<Forgetron<AnyKernel>> = Entry {
    name: "forgetron",
    summary: "perceptron on a budget: points fade, the oldest leaves",
    keys: ForgetronParams::KEYS,
    time: cost!(2.0 B d, 3.0 B),
    memory: cost!(1.0 B d, 2.0 B),
    source: "Dekel et al. 2008",
    takes: Takes::SIGNS,
    advice: "two classes; drift, with a bound on mistakes",
    start: "`budget=500`",
    trial: &["budget=5"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Forgetron::new(kernel, context.dimension, values.parameters(context)?)?));

#[cfg(test)]
mod tests {
    use super::largest_share;

    #[test]
    fn the_share_is_the_largest_that_is_allowed() {
        for a in [-3.0, -1.0, -1e-14, 0.0, 1e-14, 0.5, 4.0] {
            for b in [0.0, 0.1, 1.0, 3.0] {
                for c in [-1e-9, -0.2, -0.9, -5.0] {
                    let share = largest_share(a, b, c);
                    let at = |phi: f64| a * phi * phi + b * phi + c;
                    assert!(share > 0.0 && share <= 1.0 && at(share) <= 1e-12, "{a} {b} {c}: {share}");
                    let larger = (1..=1000).map(|i| share + (1.0 - share) * f64::from(i) / 1000.0);
                    assert!(share == 1.0 || larger.into_iter().all(|phi| at(phi) > 0.0), "{a} {b} {c}: {share}");
                }
            }
        }
    }
}
