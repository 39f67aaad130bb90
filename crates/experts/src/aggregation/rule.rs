//! The rules of aggregation by name.

/// Rule that turns regrets into weights. `R_k = Σ r_k` and `V_k = Σ r_k²` over the rounds so far,
/// and `b_t = max_{s≤t,k} |r_{k,s}|`.
///
/// | rule | weights | regret against expert `k` |
/// |---|---|---|
/// | [`Ewa`](Self::Ewa) | `p_k ∝ exp(ηR_k)`, `η = ln K/Δ`, `Δ = Σ δ_t` | `2√(V ln K) + S(4/3 ln K + 2)` |
/// | [`Boa`](Self::Boa) | `p_k ∝ η_k exp(η_k Σ(r̄_k − η_k r̄_k²))`, `η_k = min(1/2b, √(ln K/V̄_k))` | `O(√(V̄_k) (√ln K + ln ln T/√ln K) + b ln K)` |
/// | [`MlPoly`](Self::MlPoly) | `p_k ∝ (R̄_k)₊/(b² + V̄_k)` | `√((b² + V̄_k) Σ_j log₂((b² + V̄_j)/b_1²)) + b` |
///
/// *EWA* is AdaHedge: `δ_t = (1/η) ln Σ p_k exp(η(r_k − Σ_j p_j r_j))` is the mixability gap of the
/// round, `V` sums the variances of `r` under the weights and `S` is the largest spread
/// `max r − min r` (de Rooij et al. 2014, Algorithm 1, Lemma 3 and Theorem 6). With `Δ = 0` the
/// rate is infinite: the leaders share the weight. *BOA* is Wintenberger 2017 with a rate for each
/// expert, and in its sum each `r̄_{k,s}²` is weighted by the rate of its round, that before it.
/// *ML-Poly* is Gaillard, Stoltz and van Erven 2014; with no positive `R̄_k` the weights are
/// uniform.
///
/// BOA and ML-Poly are stated for a known range. Here they see `r̄ = r·b_{t−1}/b_t`, so that no
/// value leaves the range known before its round; since `Σ_t (b_t − b_{t−1}) = b_T` this costs one
/// `b_T` over the whole stream, and in place of the range's square ML-Poly takes `b_t²`. (That is
/// our completion; the papers double or assume the range.)
///
/// Sources: S. de Rooij, T. van Erven, P. Grünwald, W. Koolen, *Follow the leader if you can, hedge
/// if you must*, JMLR 2014; O. Wintenberger, *Optimal learning with Bernstein online aggregation*,
/// Machine Learning 2017, Section 2.3; P. Gaillard, G. Stoltz, T. van Erven, *A second-order bound
/// with excess losses*, COLT 2014, Section 3; M. Herbster, M. Warmuth, *Tracking the best expert*,
/// Machine Learning 1998; N. Cesa-Bianchi, P. Gaillard, G. Lugosi, G. Stoltz, *Mirror descent meets
/// fixed share (and feels no regret)*, NIPS 2012.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Rule {
    /// Exponential weights with AdaHedge's rate.
    Ewa,
    /// Bernstein online aggregation, a rate an expert.
    Boa,
    /// Polynomial weights, a rate an expert.
    #[default]
    MlPoly,
}

mercer_core::names!(pub Rule { Ewa = "ewa", Boa = "boa", MlPoly = "ml-poly" });

impl Rule {
    /// True if a share of the weight means something: its weights are exponential.
    pub(super) fn shares(self) -> bool {
        self != Self::MlPoly
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
