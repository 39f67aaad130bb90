//! Weights of expert aggregation, recomputed from the whole history of regrets
//! `r_{k,s} = ℓ(ŷ_s) − ℓ(ŷ_{k,s})`.
//!
//! De Rooij et al. 2014 (AdaHedge), Wintenberger 2017 (BOA), Gaillard, Stoltz and van Erven 2014
//! (ML-Poly), written as sums from the first round on. BOA and ML-Poly see each round scaled to the
//! range known before it; with a range that is known from the first nonzero round on that scaling
//! is the identity except for that round, which only sets the range.

/// AdaHedge: `η_t = ln K/Δ_{t−1}`, `Δ` the sum of mixability gaps
/// `δ_s = ⟨p_s, ℓ_s⟩ + (1/η_s) ln Σ p_{k,s} exp(−η_s ℓ_{k,s})`.
///
/// The losses are the negative regrets: a shift common to all experts changes neither weights nor
/// gaps.
#[must_use]
pub fn ada_hedge(history: &[Vec<f64>]) -> Vec<f64> {
    ada_hedge_with_gap(history).0
}

/// The weights of [`ada_hedge`], and `Δ`.
#[must_use]
pub fn ada_hedge_with_gap(history: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let experts = history[0].len();
    let mut gap = 0.0;
    let mut cumulative = vec![0.0; experts];
    let mut weights = vec![1.0 / experts as f64; experts];
    for regrets in history {
        let losses: Vec<f64> = regrets.iter().map(|r| -r).collect();
        let mean: f64 = weights.iter().zip(&losses).map(|(p, l)| p * l).sum();
        let least = cumulative.iter().copied().fold(f64::INFINITY, f64::min);
        cumulative.iter_mut().zip(&losses).for_each(|(sum, l)| *sum += l);
        let mix = if gap == 0.0 {
            cumulative.iter().copied().fold(f64::INFINITY, f64::min) - least
        } else {
            let eta = (experts as f64).ln() / gap;
            -weights.iter().zip(&losses).map(|(p, l)| p * (-eta * l).exp()).sum::<f64>().ln() / eta
        };
        gap += (mean - mix).max(0.0);
        let least = cumulative.iter().copied().fold(f64::INFINITY, f64::min);
        weights = if gap == 0.0 {
            cumulative.iter().map(|sum| f64::from(*sum == least)).collect()
        } else {
            let eta = (experts as f64).ln() / gap;
            cumulative.iter().map(|sum| (-eta * (sum - least)).exp()).collect()
        };
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|p| *p /= total);
    }
    (weights, gap)
}

/// The regrets of every round scaled by `b_{s−1}/b_s`, and the ranges
/// `b_s = max_{u≤s,k} |r_{k,u}|`.
#[must_use]
pub fn scaled_regrets(history: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let ranges: Vec<f64> = (1..=history.len())
        .map(|t| history[..t].iter().flatten().fold(0.0, |range: f64, r| range.max(r.abs())))
        .collect();
    let scaled = (0..history.len())
        .map(|s| {
            let before = if s == 0 { 0.0 } else { ranges[s - 1] };
            let factor = if ranges[s] > 0.0 { before / ranges[s] } else { 1.0 };
            history[s].iter().map(|r| r * factor).collect()
        })
        .collect();
    (scaled, ranges)
}

/// BOA's rate of expert `k` after the rounds of `scaled`: `min(1/(2b), √(ln K/Σ r̄²))`.
#[must_use]
pub fn boa_rate(scaled: &[Vec<f64>], range: f64, k: usize) -> f64 {
    let squares: f64 = scaled.iter().map(|r| r[k] * r[k]).sum();
    let log_experts = scaled.first().map_or(0.0, |r| (r.len() as f64).ln());
    (1.0 / (2.0 * range)).min((log_experts / squares).sqrt())
}

/// BOA: `p_k ∝ η_k exp(η_k Σ_s (r̄_{k,s} − η_{k,s−1} r̄_{k,s}²))`.
#[must_use]
pub fn boa(history: &[Vec<f64>]) -> Vec<f64> {
    let experts = history[0].len();
    let (scaled, ranges) = scaled_regrets(history);
    let range = ranges[ranges.len() - 1];
    if range == 0.0 {
        return vec![1.0 / experts as f64; experts];
    }
    let mut weights: Vec<f64> = (0..experts)
        .map(|k| {
            let sum: f64 = (1..history.len())
                .filter(|s| ranges[s - 1] > 0.0)
                .map(|s| scaled[s][k] - boa_rate(&scaled[..s], ranges[s - 1], k) * scaled[s][k] * scaled[s][k])
                .sum();
            let eta = boa_rate(&scaled, range, k);
            eta * (eta * sum).exp()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|p| *p /= total);
    weights
}

/// ML-Poly: `p_k ∝ (Σ r̄_k)₊/(b² + Σ r̄_k²)`, uniform when no sum is positive.
#[must_use]
pub fn ml_poly(history: &[Vec<f64>]) -> Vec<f64> {
    let experts = history[0].len();
    let (scaled, ranges) = scaled_regrets(history);
    let range = ranges[ranges.len() - 1];
    let mut weights: Vec<f64> = (0..experts)
        .map(|k| {
            let sum: f64 = scaled.iter().map(|r| r[k]).sum();
            let squares: f64 = scaled.iter().map(|r| r[k] * r[k]).sum();
            if sum > 0.0 { sum / (range * range + squares) } else { 0.0 }
        })
        .collect();
    let total: f64 = weights.iter().sum();
    if total == 0.0 {
        return vec![1.0 / experts as f64; experts];
    }
    weights.iter_mut().for_each(|p| *p /= total);
    weights
}
