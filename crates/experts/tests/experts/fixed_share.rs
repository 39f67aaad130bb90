//! Fixed share against its formula and its bounds.

use mercer_experts::{Aggregation, Rule, Share};
use mercer_testkit::oracle;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const RULES: [Rule; 2] = [Rule::Ewa, Rule::Boa];
const SHARES: [Share; 4] = [Share::Fixed(1e-3), Share::Fixed(0.1), Share::Fixed(0.9), Share::Decreasing];

/// `α` after round `t`, which counts from 0.
fn part(share: Share, t: usize) -> f64 {
    match share {
        Share::Fixed(share) => share,
        _ => 1.0 / (t as f64 + 2.0),
    }
}

fn shared(weights: &[f64], part: f64) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter().map(|v| (1.0 - part) * v / total + part / weights.len() as f64).collect()
}

/// Weights after each round, and AdaHedge's `Δ`: `v_k ∝ p_k^{η′/η} exp(η′r_k)` with `η = ln K/Δ`,
/// then the share.
fn ewa(history: &[Vec<f64>], share: Share) -> (Vec<Vec<f64>>, f64) {
    let experts = history[0].len();
    let (mut p, mut gap, mut all) = (vec![1.0 / experts as f64; experts], 0.0, Vec::new());
    for (t, regrets) in history.iter().enumerate() {
        let eta = (experts as f64).ln() / gap;
        let mean: f64 = p.iter().zip(regrets).map(|(p, r)| p * r).sum();
        let top = regrets.iter().copied().fold(f64::MIN, f64::max);
        let mix = if gap == 0.0 {
            top
        } else {
            top + p.iter().zip(regrets).map(|(p, r)| p * (eta * (r - top)).exp()).sum::<f64>().ln() / eta
        };
        gap += (mix - mean).max(0.0);
        let next = (experts as f64).ln() / gap;
        let v: Vec<f64> = if gap == 0.0 {
            vec![1.0; experts]
        } else {
            p.iter().zip(regrets).map(|(p, r)| p.powf(next / eta) * (next * (r - top)).exp()).collect()
        };
        p = shared(&v, part(share, t));
        all.push(p.clone());
    }
    (all, gap)
}

/// Weights after each round: `q_k ← (Kq_k)^{η′_k/η_k} exp(η′_k(r̄_k − η_k r̄_k²))`, then the share,
/// and `p_k ∝ η′_k q_k`.
fn boa(history: &[Vec<f64>], share: Share) -> Vec<Vec<f64>> {
    let experts = history[0].len();
    let (scaled, ranges) = oracle::scaled_regrets(history);
    let rate = |t: usize, k: usize| oracle::boa_rate(&scaled[..=t], ranges[t], k);
    let (mut q, mut all) = (vec![1.0 / experts as f64; experts], Vec::new());
    for t in 0..history.len() {
        if ranges[t] == 0.0 {
            all.push(q.clone());
            continue;
        }
        let moved = |k: usize| {
            if t == 0 || ranges[t - 1] == 0.0 {
                return 1.0;
            }
            let (before, r) = (rate(t - 1, k), scaled[t][k]);
            (experts as f64 * q[k]).powf(rate(t, k) / before) * (rate(t, k) * (r - before * r * r)).exp()
        };
        q = shared(&(0..experts).map(moved).collect::<Vec<_>>(), part(share, t));
        let tilted: Vec<f64> = (0..experts).map(|k| rate(t, k) * q[k]).collect();
        let total: f64 = tilted.iter().sum();
        all.push(tilted.iter().map(|p| p / total).collect());
    }
    all
}

/// Losses between 0 and 1; expert `segment % experts` is the best of its segment. A first round
/// without a difference.
fn segments(seed: u64, experts: usize, length: usize, count: usize) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut loss = |t: usize, k: usize| {
        let level = if (t / length) % experts == k { 0.0 } else { 0.5 };
        if t == 0 { 0.3 } else { level + 0.5 * random.random::<f64>() }
    };
    (0..length * count).map(|t| (0..experts).map(|k| loss(t, k)).collect()).collect()
}

/// The regrets of every round, and the weights after it.
fn play(aggregation: &mut Aggregation, losses: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let round = |losses: &Vec<f64>| {
        let mean: f64 = aggregation.weights().iter().zip(losses).map(|(p, l)| p * l).sum();
        let regrets: Vec<f64> = losses.iter().map(|l| mean - l).collect();
        aggregation.learn(&regrets).expect("finite");
        (regrets, aggregation.weights().to_vec())
    };
    losses.iter().map(round).unzip()
}

#[test]
fn weights_are_those_of_the_formula() -> TestResult {
    for rule in RULES {
        for share in SHARES {
            for (experts, length) in [(2, 60), (3, 40), (7, 25)] {
                let mut aggregation = Aggregation::new(experts, rule)?.sharing(share)?;
                assert_eq!(aggregation.share(), share);
                let (history, weights) = play(&mut aggregation, &segments(3, experts, length, 6));
                let expected = if rule == Rule::Ewa { ewa(&history, share).0 } else { boa(&history, share) };
                for (t, (weights, expected)) in weights.iter().zip(&expected).enumerate() {
                    for (p, q) in weights.iter().zip(expected) {
                        assert!((p - q).abs() < 1e-9, "{rule}, {share}, round {t}: {weights:?} not {expected:?}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// The bound that [`Aggregation::sharing`] states, for the sequence of experts `best`.
fn bound(rule: Rule, share: Share, history: &[Vec<f64>], best: &[usize]) -> f64 {
    let (experts, rounds) = (history[0].len(), history.len());
    let log_experts = (experts as f64).ln();
    let price = |t: usize| {
        let part = part(share, t);
        if best[t] == best[t + 1] { (1.0 / (1.0 - part)).ln() } else { (experts as f64 / part).ln() }
    };
    let c: f64 = (0..rounds - 1).map(price).sum();
    if rule == Rule::Ewa {
        return ewa(history, share).1 * (2.0 + c / log_experts);
    }
    let (scaled, ranges) = oracle::scaled_regrets(history);
    let first = ranges.iter().position(|range| *range > 0.0).unwrap_or(0);
    let mut squares = vec![0.0; experts];
    let mut rates: Vec<Vec<f64>> = Vec::new();
    for t in first..rounds {
        squares.iter_mut().zip(&scaled[t]).for_each(|(sum, r)| *sum += r * r);
        rates.push(squares.iter().map(|sum| (0.5 / ranges[t]).min((log_experts / sum).sqrt())).collect());
    }
    let (mut mass, mut second, mut least) = (0.0, 0.0, f64::MAX);
    for (t, pair) in (first + 1..rounds).zip(rates.windows(2)) {
        let grown: f64 = pair[0].iter().zip(&pair[1]).map(|(before, now)| before / now - 1.0).sum();
        mass += (1.0 + grown / (std::f64::consts::E * experts as f64)).ln();
        second += pair[0][best[t]] * scaled[t][best[t]].powi(2);
        least = least.min(pair[1][best[t]]);
    }
    (log_experts + c + mass) / least + second + ranges[rounds - 1]
}

/// With a share the mixture follows the best expert of each segment within the bound; without one
/// it has to make up for the past.
#[test]
fn the_best_expert_of_each_segment_is_followed() -> TestResult {
    for (experts, length, count) in [(2, 1000, 4), (5, 600, 5), (10, 300, 20)] {
        let losses = segments(5, experts, length, count);
        let best: Vec<usize> = (0..losses.len()).map(|t| (t / length) % experts).collect();
        let regret = |history: &[Vec<f64>]| history.iter().zip(&best).map(|(r, k)| r[*k]).sum::<f64>();
        for rule in RULES {
            let without = regret(&play(&mut Aggregation::new(experts, rule)?, &losses).0);
            for share in [Share::Fixed(count as f64 / losses.len() as f64), Share::Decreasing] {
                let (history, _) = play(&mut Aggregation::new(experts, rule)?.sharing(share)?, &losses);
                let (regret, bound) = (regret(&history), bound(rule, share, &history, &best));
                assert!(regret <= bound, "{rule}, {share}, {experts} experts: {regret} against {bound}");
                // BOA's rates fall with the squares of all rounds, so that it follows more slowly.
                let part = if rule == Rule::Ewa { 0.3 } else { 0.7 };
                assert!(
                    regret < part * without,
                    "{rule}, {share}, {experts} experts: {regret} with, {without} without"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn dropped_experts_get_no_share() -> TestResult {
    for rule in RULES {
        let mut aggregation = Aggregation::new(4, rule)?.sharing(Share::Fixed(0.2))?;
        let losses = segments(7, 4, 20, 3);
        play(&mut aggregation, &losses);
        aggregation.drop_expert(1)?;
        let check = |weights: &[f64]| {
            let sum: f64 = weights.iter().sum();
            assert!(weights[1] == 0.0 && (sum - 1.0).abs() < 1e-12, "{rule}: {weights:?}");
            assert!([0, 2, 3].iter().all(|k| weights[*k] >= 0.19 / 3.0), "{rule}: {weights:?}");
        };
        for losses in &losses {
            play(&mut aggregation, std::slice::from_ref(losses));
            check(aggregation.weights());
        }
        // One that fails within a round, too; the others start anew.
        aggregation.learn(&[0.0, 0.0, f64::NAN, 0.0])?;
        assert_eq!(aggregation.weights(), [0.5, 0.0, 0.0, 0.5]);
        play(&mut aggregation, &losses);
        assert_eq!((aggregation.weights()[1], aggregation.weights()[2]), (0.0, 0.0));
    }
    Ok(())
}

#[test]
fn no_share_is_what_it_was() -> TestResult {
    let losses = segments(8, 3, 50, 3);
    for rule in Rule::ALL {
        let mut plain = Aggregation::new(3, rule)?;
        let mut unshared = plain.clone().sharing(Share::Fixed(0.0))?;
        assert_eq!(play(&mut plain, &losses), play(&mut unshared, &losses));
        assert_eq!(plain, unshared);
    }
    let message = |rule, share| Aggregation::new(2, rule).and_then(|new| new.sharing(share)).map_err(|e| e.to_string());
    let refused = message(Rule::MlPoly, Share::Fixed(0.1));
    assert_eq!(refused, Err("share must be 0 under the rule ml-poly; take the rule ewa or boa, got 0.1".to_owned()));
    assert!(message(Rule::Ewa, Share::Fixed(1.0)).is_err());
    Ok(())
}
