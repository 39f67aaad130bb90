//! Aggregation rules against their definitions, and their regret bounds on adversarial streams.

use mercer_experts::{Aggregation, Error, Rule, square_loss_regret};
use mercer_testkit::oracle;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Losses of one round, shown the weights: an adversary.
type Adversary = Box<dyn FnMut(usize, &[f64]) -> Vec<f64>>;

fn adversaries(experts: usize) -> Vec<(&'static str, Adversary)> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut noisy = ChaCha8Rng::seed_from_u64(2);
    let mut scales = ChaCha8Rng::seed_from_u64(3);
    let mut outliers = ChaCha8Rng::seed_from_u64(4);
    vec![
        (
            "coins",
            Box::new(move |_, _: &[f64]| (0..experts).map(|_| f64::from(random.random_bool(0.5))).collect())
                as Adversary,
        ),
        (
            "a good expert in noise",
            Box::new(move |_, _: &[f64]| {
                (0..experts).map(|k| noisy.random::<f64>() - if k == 1 { 0.2 } else { 0.0 }).collect()
            }),
        ),
        (
            "the leader is wrong",
            Box::new(move |t, _: &[f64]| {
                (0..experts)
                    .map(|k| if t == 0 { 0.5 * f64::from(k == 0) } else { f64::from(k == (t + 1) % 2) })
                    .collect()
            }),
        ),
        (
            "the heaviest is charged",
            Box::new(move |_, weights: &[f64]| {
                let heaviest = (0..experts).max_by(|i, j| weights[*i].total_cmp(&weights[*j])).unwrap_or(0);
                (0..experts).map(|k| f64::from(k == heaviest)).collect()
            }),
        ),
        (
            "growing scale",
            Box::new(move |t, _: &[f64]| {
                let scale = 1.05_f64.powi(t as i32);
                (0..experts).map(|_| scale * scales.random::<f64>()).collect()
            }),
        ),
        (
            "quiet, then outliers",
            Box::new(move |t, _: &[f64]| {
                let scale = if t % 97 == 96 { 100.0 } else { f64::from(t > 20) };
                (0..experts).map(|_| scale * outliers.random::<f64>()).collect()
            }),
        ),
    ]
}

/// Plays `rounds` rounds; returns the regrets of every round, with the weights they were made with.
fn play(rule: Rule, adversary: &mut Adversary, experts: usize, rounds: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut aggregation = Aggregation::new(experts, rule).expect("experts");
    let (mut history, mut weights) = (Vec::new(), Vec::new());
    for t in 0..rounds {
        let p = aggregation.weights().to_vec();
        assert!(p.iter().all(|p| *p >= 0.0) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{rule}: {p:?}");
        let losses = adversary(t, &p);
        let mean: f64 = p.iter().zip(&losses).map(|(p, l)| p * l).sum();
        let regrets: Vec<f64> = losses.iter().map(|l| mean - l).collect();
        aggregation.learn(&regrets).expect("finite");
        history.push(regrets);
        weights.push(p);
    }
    weights.push(aggregation.weights().to_vec());
    (history, weights)
}

#[test]
fn weights_are_those_of_the_definitions() {
    for rule in Rule::ALL {
        for experts in [2, 3, 7] {
            for (name, mut adversary) in adversaries(experts) {
                let (history, weights) = play(rule, &mut adversary, experts, 150);
                for t in 1..=history.len() {
                    let expected = match rule {
                        Rule::Ewa => oracle::ada_hedge(&history[..t]),
                        Rule::Boa => oracle::boa(&history[..t]),
                        _ => oracle::ml_poly(&history[..t]),
                    };
                    for (p, q) in weights[t].iter().zip(&expected) {
                        assert!((p - q).abs() < 1e-9, "{rule}, {name}, round {t}: {:?} not {expected:?}", weights[t]);
                    }
                }
            }
        }
    }
}

/// The bound of the rule's source on `R_k`, from the path alone.
fn bound(rule: Rule, history: &[Vec<f64>], weights: &[Vec<f64>], k: usize) -> f64 {
    let experts = history[0].len();
    let log_experts = (experts as f64).ln();
    let (scaled, ranges) = oracle::scaled_regrets(history);
    let range = ranges[ranges.len() - 1];
    let squares = |k: usize| scaled.iter().map(|r| r[k] * r[k]).sum::<f64>();
    match rule {
        Rule::Ewa => {
            let variance: f64 =
                history.iter().zip(weights).map(|(r, p)| r.iter().zip(p).map(|(r, p)| p * r * r).sum::<f64>()).sum();
            let spread = history.iter().fold(0.0, |spread: f64, r| {
                let (low, high) = r.iter().fold((f64::MAX, f64::MIN), |(low, high), r| (r.min(low), r.max(high)));
                spread.max(high - low)
            });
            2.0 * (variance * log_experts).sqrt() + spread * (4.0 / 3.0 * log_experts + 2.0)
        }
        Rule::Boa => {
            // ln(K W)/η_k + Σ η_{k,s−1} r̄_{k,s}² + b, with W ≤ 1 + Σ_s Σ_j (η_{j,s−1}/η_{j,s} −
            // 1)/(eK).
            let first = ranges.iter().position(|range| *range > 0.0).unwrap_or(0);
            let rate = |t: usize, k: usize| oracle::boa_rate(&scaled[..=t], ranges[t], k);
            let mass = 1.0
                + (first + 1..history.len())
                    .map(|t| (0..experts).map(|j| rate(t - 1, j) / rate(t, j) - 1.0).sum::<f64>())
                    .sum::<f64>()
                    / (std::f64::consts::E * experts as f64);
            let second: f64 = (first + 1..history.len()).map(|t| rate(t - 1, k) * scaled[t][k] * scaled[t][k]).sum();
            (log_experts + mass.ln()) / rate(history.len() - 1, k) + second + range
        }
        _ => {
            let least = ranges.iter().copied().find(|range| *range > 0.0).unwrap_or(1.0);
            let potential: f64 = (0..experts).map(|j| ((range * range + squares(j)) / (least * least)).log2()).sum();
            ((range * range + squares(k)) * potential).sqrt() + range
        }
    }
}

#[test]
fn regret_stays_within_the_bounds() {
    for rule in Rule::ALL {
        for experts in [2, 10] {
            for (name, mut adversary) in adversaries(experts) {
                let (history, weights) = play(rule, &mut adversary, experts, 600);
                for k in 0..experts {
                    let regret: f64 = history.iter().map(|r| r[k]).sum();
                    let bound = bound(rule, &history, &weights, k);
                    assert!(regret <= bound + 1e-9, "{rule}, {name}, {experts} experts: {regret} against {bound}");
                }
                if rule == Rule::Ewa {
                    let worst =
                        (0..experts).map(|k| history.iter().map(|r| r[k]).sum::<f64>()).fold(f64::MIN, f64::max);
                    let gap = oracle::ada_hedge_with_gap(&history).1;
                    assert!(worst <= 2.0 * gap * (1.0 + 1e-9), "{name}: {worst} above twice the gap {gap}");
                }
            }
        }
    }
}

#[test]
fn regret_against_a_steady_winner_stays_constant() {
    for rule in Rule::ALL {
        let mut regrets = Vec::new();
        for rounds in [400, 4000] {
            let mut stream: Adversary = Box::new(|_, _: &[f64]| vec![0.5, 0.3, 0.9]);
            let (history, _) = play(rule, &mut stream, 3, rounds);
            regrets.push(history.iter().map(|r| r[1]).sum::<f64>());
        }
        assert!(regrets[1] < regrets[0] + 0.1 && regrets[1] < 2.5, "{rule}: {regrets:?}");
    }
}

#[test]
fn weights_do_not_depend_on_the_scale_of_the_losses() {
    for rule in Rule::ALL {
        for scale in [1e-60, 1024.0, 1e60] {
            let mut random = ChaCha8Rng::seed_from_u64(5);
            let mut plain = Aggregation::new(4, rule).expect("experts");
            let mut scaled = plain.clone();
            for _ in 0..100 {
                let regrets: Vec<f64> = (0..4).map(|_| random.random::<f64>() - 0.5).collect();
                plain.learn(&regrets).expect("finite");
                scaled.learn(&regrets.iter().map(|r| r * scale).collect::<Vec<_>>()).expect("finite");
            }
            for (p, q) in plain.weights().iter().zip(scaled.weights()) {
                assert!((p - q).abs() < 1e-9, "{rule} × {scale:e}: {p} and {q}");
            }
        }
    }
}

#[test]
fn an_expert_that_overflows_is_dropped_and_the_rest_compete_anew() -> TestResult {
    for rule in Rule::ALL {
        let mut aggregation = Aggregation::new(3, rule)?;
        let mut mixture = [0.0];
        let mut loss = 0.0;
        for t in 0..700 {
            let target = [(0.1 * t as f64).sin()];
            // Expert 0 diverges by a factor 10 a round, expert 1 is nearly right, expert 2 is
            // wrong.
            let predictions = [10_f64.powi(t), target[0] + 0.01, -target[0]];
            aggregation.mix(&predictions, &mut mixture)?;
            if t >= 500 {
                loss += (mixture[0] - target[0]).powi(2);
            }
            let regrets: Vec<f64> = predictions.iter().map(|p| square_loss_regret(&mixture, &target, &[*p])).collect();
            aggregation.learn(&regrets)?;
        }
        assert!(!aggregation.is_active(0) && aggregation.weights()[0] == 0.0, "{rule}");
        assert!(aggregation.weights()[1] > 0.9, "{rule}: {:?}", aggregation.weights());
        assert!(loss / 200.0 < 0.01, "{rule}: {}", loss / 200.0);
    }
    Ok(())
}

#[test]
fn dropping_keeps_the_weights_of_the_others_in_proportion() -> TestResult {
    for rule in Rule::ALL {
        let mut aggregation = Aggregation::new(3, rule)?;
        for t in 0..40 {
            let p = aggregation.weights().to_vec();
            let losses = [0.5, f64::from(t % 2), f64::from((t + 1) % 3) * 0.6];
            let mean: f64 = p.iter().zip(losses).map(|(p, l)| p * l).sum();
            aggregation.learn(&losses.map(|l| mean - l))?;
        }
        let before = aggregation.weights().to_vec();
        aggregation.drop_expert(0)?;
        let rest = before[1] + before[2];
        let expected = if rest > 0.0 { [0.0, before[1] / rest, before[2] / rest] } else { [0.0, 0.5, 0.5] };
        for (p, q) in aggregation.weights().iter().zip(expected) {
            assert!((p - q).abs() < 1e-12, "{rule}: {:?} not {expected:?}", aggregation.weights());
        }
        // Its regrets are not read any more.
        aggregation.learn(&[f64::NAN, 0.1, -0.1])?;
        assert_eq!(aggregation.weights()[0], 0.0);
        aggregation.drop_expert(2)?;
        let last = aggregation.clone();
        assert_eq!(aggregation.drop_expert(1), Err(Error::NoExpertLeft));
        assert_eq!(aggregation.learn(&[0.0, f64::NAN, 0.0]), Err(Error::NoExpertLeft));
        assert_eq!(aggregation.learn(&[0.0]), Err(Error::Experts { expected: 3, got: 1 }));
        assert_eq!(aggregation, last, "{rule}: changed by what it refused");
        assert_eq!(aggregation.weights(), [0.0, 1.0, 0.0]);
    }
    Ok(())
}

#[test]
fn mixtures_leave_out_what_is_not_finite() -> TestResult {
    let aggregation = Aggregation::new(3, Rule::Ewa)?;
    let mut mixture = [0.0; 2];
    aggregation.mix(&[1.0, 2.0, f64::NAN, 0.0, 3.0, 6.0], &mut mixture)?;
    assert_eq!(mixture, [2.0, 4.0]);
    let refused = aggregation.mix(&[f64::NAN; 6], &mut mixture);
    assert_eq!(refused, Err(Error::NoExpertLeft));
    assert!(Aggregation::new(0, Rule::Boa).is_err() && Rule::named("hedge").is_none());
    assert_eq!(["ewa", "boa", "ml-poly"].map(Rule::named), Rule::ALL.map(Some));
    Ok(())
}
