//! Linear learners of tokens, literally: every weight from the list of all that its token has seen.
//!
//! A row is a list of tokens with numbers; token 0 is in every row by the caller's choice. `q` is
//! the mean over the first 256 rows of `Σx²`, of the rows so far until then, this one included.
//! Numbers are within 20 root mean squares of the rows before.
//!
//! Coin betting (Orabona and Tommasi 2017, Algorithm 1 with `q` for `α`): `w = θ (L + R) / (L max(G
//! + L, qL))` with `θ = Σg`, `L = max|g|` (at least 1e-8), `G = Σ|g|` over the gradients `g` of the
//! token, and the reward `R`, never below 0. The filter: `S = 1/(q/10 + Λ)` with `Λ` the sum of
//! what the rows told, at most `9q/10`.

use super::weighted::loss_gradient;

/// A row of tokens, its target and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenExample {
    /// Tokens, each once, with their numbers.
    pub tokens: Vec<(usize, f64)>,
    /// `y`
    pub y: Vec<f64>,
    /// `ω`
    pub weight: f64,
}

/// The stream with numbers within 20 root mean squares of the rows before, and the mean square up
/// to each row, itself included. Rows of weight 0 are in no mean behind them.
fn cut(stream: &[TokenExample]) -> (Vec<TokenExample>, Vec<f64>) {
    let mean = |kept: &[f64]| kept.iter().sum::<f64>() / kept.len() as f64;
    let (mut kept, mut rows, mut means): (Vec<f64>, Vec<TokenExample>, Vec<f64>) = Default::default();
    for row in stream {
        let most = if kept.is_empty() || mean(&kept) == 0.0 { f64::MAX } else { 20.0 * mean(&kept).sqrt() };
        let tokens: Vec<(usize, f64)> = row.tokens.iter().map(|(token, x)| (*token, x.max(-most).min(most))).collect();
        let before = kept.len();
        if before < 256 {
            kept.push(tokens.iter().map(|(_, x)| x * x).sum());
        }
        means.push(mean(&kept));
        if row.weight == 0.0 {
            kept.truncate(before);
        }
        rows.push(TokenExample { tokens, ..row.clone() });
    }
    (rows, means)
}

fn count(stream: &[TokenExample]) -> usize {
    stream.iter().flat_map(|row| row.tokens.iter().map(|(token, _)| token + 1)).max().unwrap_or(0)
}

/// Coin betting; the predictions, row by row. `unit` divides numbers by the root of the mean
/// square, which is then 1. Under the loss `squared` slopes are errors within `±reach`.
pub fn coin(stream: &[TokenExample], loss: &str, reach: f64, unit: bool) -> Vec<f64> {
    let (stream, means) = cut(stream);
    let m = stream[0].y.len().max(1);
    // For each token and output: its gradients and its reward.
    let mut seen: Vec<Vec<(Vec<f64>, f64)>> = vec![vec![(Vec::new(), 0.0); m]; count(&stream)];
    let weight = |(gradients, reward): &(Vec<f64>, f64), q: f64| {
        if gradients.is_empty() {
            return 0.0;
        }
        let theta: f64 = gradients.iter().sum();
        let largest = gradients.iter().fold(1e-8_f64, |largest, g| largest.max(g.abs()));
        let sum: f64 = gradients.iter().map(|g| g.abs()).sum();
        theta * (largest + reward) / (largest * (sum + largest).max(q * largest))
    };
    // The weights as they were left by the last row of each token.
    let mut weights = vec![vec![0.0; m]; seen.len()];
    let mut predictions = Vec::new();
    for (row, mean) in stream.iter().zip(means) {
        let (factor, q) = if unit && mean > 0.0 { (1.0 / mean.sqrt(), 1.0) } else { (1.0, mean) };
        let z: Vec<f64> =
            (0..m).map(|k| row.tokens.iter().map(|(token, x)| weights[*token][k] * (x * factor)).sum()).collect();
        predictions.extend_from_slice(&z);
        if row.weight == 0.0 {
            continue;
        }
        let slopes = match loss {
            "squared" => z.iter().zip(&row.y).map(|(z, y)| (z - y).max(-reach).min(reach)).collect(),
            _ => loss_gradient(loss, &z, &row.y),
        };
        for (token, x) in &row.tokens {
            for k in 0..m {
                let g = -row.weight * slopes[k] * x * factor;
                let own = &mut seen[*token][k];
                own.0.push(g);
                own.1 = (own.1 + g * weights[*token][k]).max(0.0);
                weights[*token][k] = weight(own, q);
            }
        }
    }
    predictions
}

/// Products of every two tokens of each row, numbered in the order in which they are met.
pub fn products(stream: &[TokenExample]) -> Vec<TokenExample> {
    let mut numbers: Vec<(usize, usize)> = Vec::new();
    let mut made = Vec::new();
    for row in stream {
        let mut tokens = Vec::new();
        for (place, (one, x)) in row.tokens.iter().enumerate() {
            for (other, z) in &row.tokens[..place] {
                let pair = (*one.min(other), *one.max(other));
                let number = numbers.iter().position(|known| *known == pair).unwrap_or_else(|| {
                    numbers.push(pair);
                    numbers.len() - 1
                });
                tokens.push((number, x * z));
            }
        }
        made.push(TokenExample { tokens, ..row.clone() });
    }
    made
}

/// The diagonal filter, of numbers or (`classes`) of targets ±1; the predictions, row by row.
pub fn diagonal_kalman(stream: &[TokenExample], classes: bool) -> Vec<f64> {
    let (stream, means) = cut(stream);
    let m = stream[0].y.len();
    let mut weights = vec![vec![0.0; m]; count(&stream)];
    let mut told = vec![vec![0.0_f64; m]; weights.len()];
    let (mut noise, mut rows) = (1.0_f64, 10.0_f64);
    let mut predictions = Vec::new();
    for (row, q) in stream.iter().zip(means) {
        let omega = row.weight;
        let s = |told: f64| 1.0 / (q / 10.0 + told).min(q);
        let z: Vec<f64> = (0..m).map(|k| row.tokens.iter().map(|(token, x)| weights[*token][k] * x).sum()).collect();
        predictions.extend_from_slice(&z);
        if omega == 0.0 {
            continue;
        }
        let before = told.clone();
        let of = |k: usize| row.tokens.iter().map(|(token, x)| s(before[*token][k]) * x * x).sum::<f64>();
        for k in 0..m {
            let p = 1.0 / (1.0 + (-z[k]).exp());
            let h = omega * (p * (1.0 - p)).max(1e-3);
            let (v, u) = (noise / omega + of(k), 1.0 + h * of(k));
            let e = (row.y[k] - z[k]).max(-3.0 * v.sqrt()).min(3.0 * v.sqrt());
            for (token, x) in &row.tokens {
                let s = s(before[*token][k]);
                let (gain, more) = if classes {
                    (omega * (0.5 * (1.0 + row.y[k]) - p) / u, h * x * x / (u - h * s * x * x))
                } else {
                    (e / v, x * x / (v - s * x * x))
                };
                weights[*token][k] += s * x * gain;
                told[*token][k] = (before[*token][k] + more).min(0.9 * q);
            }
        }
        let v = noise / omega + of(0);
        let squares = z.iter().zip(&row.y).map(|(z, y)| (y - z) * (y - z)).sum::<f64>() / m as f64;
        rows = (rows + omega).min(1000.0);
        noise = (noise + (omega / rows).min(1.0) * (squares.min(9.0 * v) - noise)).max(1e-3);
    }
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tokens: &[(usize, f64)], y: f64) -> TokenExample {
        TokenExample { tokens: tokens.to_vec(), y: vec![y], weight: 1.0 }
    }

    /// `q = 1`: round 1 has `g = 2`, `θ = G = L = 2`, `w = 2 · 2/(2 · 4) = ½`. Round 2 predicts ½;
    /// `g = 1.5`, `R = ¾`, `θ = G = 3.5`, `w = 3.5 · 2.75/(2 · 5.5) = 0.875`.
    #[test]
    fn bets_by_hand() {
        let made = coin(&[row(&[(0, 1.0)], 2.0), row(&[(0, 1.0)], 2.0), row(&[(0, 1.0)], 2.0)], "squared", 3.0, false);
        assert_eq!(made, [0.0, 0.5, 0.875]);
    }

    /// The recursion of the variances themselves, where every row has the square 2.
    #[test]
    fn told_sums_are_the_recursion_of_variances() {
        let stream: Vec<TokenExample> = (0..60)
            .map(|t| row(&[(t % 3, 1.0), (3 + t % 4, if t % 2 == 0 { 1.0 } else { -1.0 })], (t as f64 * 0.7).sin()))
            .collect();
        let (mut w, mut s) = (vec![0.0; 7], vec![5.0_f64; 7]);
        let (mut noise, mut rows) = (1.0_f64, 10.0);
        let mut expected = Vec::new();
        for TokenExample { tokens, y, .. } in &stream {
            let z: f64 = tokens.iter().map(|(token, x)| w[*token] * x).sum();
            expected.push(z);
            let v = noise + tokens.iter().map(|(token, x)| s[*token] * x * x).sum::<f64>();
            let e = (y[0] - z).clamp(-3.0 * v.sqrt(), 3.0 * v.sqrt());
            for (token, x) in tokens {
                w[*token] += s[*token] * x * e / v;
                s[*token] = (s[*token] - (s[*token] * x).powi(2) / v).max(0.5);
            }
            rows += 1.0;
            noise = (noise + ((y[0] - z).powi(2).min(9.0 * v) - noise) / rows).max(1e-3);
        }
        let made = diagonal_kalman(&stream, false);
        assert!(made.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{made:?} {expected:?}");
    }
}
