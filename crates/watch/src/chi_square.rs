//! Quantiles of the chi-square law, for the tests of dependence.

/// Value that `chi²` with `degrees` degrees of freedom exceeds with probability `tail`, by
/// bisection.
pub(crate) fn quantile(degrees: usize, tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while exceedance(degrees, high) > tail {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if exceedance(degrees, middle) > tail { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// `Q(k/2, x/2)`: from `Q(½, z) = erfc √z` or `Q(1, z) = e⁻ᶻ` by `Q(a + 1, z) = Q(a, z) + zᵃ
/// e⁻ᶻ/Γ(a + 1)`.
fn exceedance(degrees: usize, x: f64) -> f64 {
    let z = 0.5 * x;
    let odd = degrees % 2 == 1;
    let (mut share, mut a) = if odd { (erfc_root(z), 0.5) } else { ((-z).exp(), 1.0) };
    // z^a e^−z/Γ(a + 1)
    let mut term = if odd { 2.0 * (z / std::f64::consts::PI).sqrt() * (-z).exp() } else { z * (-z).exp() };
    while a < 0.5 * degrees as f64 - 0.25 {
        share += term;
        a += 1.0;
        term *= z / a;
    }
    share
}

/// `erfc √z`: a series below 2, beyond a continued fraction.
fn erfc_root(z: f64) -> f64 {
    let scale = (z / std::f64::consts::PI).sqrt() * (-z).exp();
    if z < 2.0 {
        // erf √z = 2 √(z/π) e⁻ᶻ Σ (2z)ⁿ/(1·3·…·(2n + 1))
        let (mut term, mut sum) = (1.0, 1.0);
        for n in 1..60 {
            term *= 2.0 * z / f64::from(2 * n + 1);
            sum += term;
        }
        return 1.0 - 2.0 * scale * sum;
    }
    let fraction = (1..=60).rev().fold(0.0, |rest, k| 0.5 * f64::from(k) / (z.sqrt() + rest));
    (-z).exp() / std::f64::consts::PI.sqrt() / (z.sqrt() + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [(1, 0.05, 3.841459), (1, 0.001, 10.827566), (2, 0.05, 5.991465), (3, 0.01, 11.344867)];
        for (degrees, tail, value) in table.into_iter().chain([(8, 0.01, 20.090235), (7, 0.0001, 29.877504)]) {
            assert!((quantile(degrees, tail) - value).abs() < 1e-5, "{degrees}: {}", quantile(degrees, tail));
        }
    }
}
