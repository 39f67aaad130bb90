//! Controls that have no mode but the constant, or few.

use mercer_streams::Draws;

use super::systems::{Sample, products, turn};

/// Rows that do not depend on each other.
pub(crate) const INDEPENDENT: [&str; 6] = ["normal", "categories", "exponential", "heavy", "shuffled", "still"];
/// Records that are their own time scale.
pub(crate) const WANDERING: [&str; 4] = ["walk", "walk3", "counter", "trend"];
/// Controls that have some modes: those of a wave, and of the volatility.
pub(crate) const OTHERS: [&str; 2] = ["sine", "garch"];

/// `n` pairs of the control in states of `delay` rows.
pub(crate) fn control(name: &str, delay: usize, n: usize, draws: &mut Draws) -> Sample {
    let count = n + delay;
    let mut at = [0.0; 3];
    let mut rows: Vec<Vec<f64>> = (0..count).map(|t| row(name, (t, count), &mut at, draws)).collect();
    if name == "shuffled" {
        for i in (1..rows.len()).rev() {
            let other = ((0.5 + 0.5 * draws.symmetric()) * (i + 1) as f64) as usize;
            rows.swap(i, other.min(i));
        }
    }
    let harmonics = (1..=6).flat_map(|k| [turn(1.0, 0.1 * f64::from(k)), turn(1.0, -0.1 * f64::from(k))]);
    // The variance of a GARCH process dies out by 0.99 a step.
    let truth = match name {
        "sine" => harmonics.collect(),
        "garch" => products(&[[0.99, 0.0]], 6),
        _ => Vec::new(),
    };
    Sample { paths: vec![rows], delay, truth, leading: 0 }
}

/// Row `t` of `count`, and the state behind it.
fn row(name: &str, (t, count): (usize, usize), at: &mut [f64; 3], draws: &mut Draws) -> Vec<f64> {
    let e = draws.normal();
    let u = 0.5 + 0.5 * draws.symmetric();
    let time = t as f64;
    match name {
        "categories" => vec![(4.0 * u).floor()],
        "exponential" => vec![-(1.0 - u).max(1e-12).ln()],
        "heavy" => vec![student(1.5, draws)],
        "shuffled" => {
            at[0] = 0.9 * at[0] + e;
            vec![at[0]]
        }
        "still" => vec![e, 3.0],
        "walk" => {
            at[0] += e;
            vec![at[0]]
        }
        "walk3" => {
            at.iter_mut().for_each(|x| *x += draws.normal());
            at.to_vec()
        }
        "counter" => vec![time, e],
        "trend" => vec![10.0 * time / count as f64 + e],
        "sine" => vec![(0.1 * time).sin() + 0.5 * e],
        "garch" => {
            let volatility: f64 = 0.1 + 0.9 * at[0];
            let y = volatility.sqrt() * e;
            at[0] = 0.11 * y * y + 0.88 * at[0];
            vec![y]
        }
        _ => vec![e],
    }
}

/// A number of Student's distribution, by the polar method (Bailey 1994).
fn student(freedom: f64, draws: &mut Draws) -> f64 {
    loop {
        let (u, v) = (draws.symmetric(), draws.symmetric());
        let w = u * u + v * v;
        if w > 0.0 && w <= 1.0 {
            return u * (freedom * (w.powf(-2.0 / freedom) - 1.0) / w).sqrt();
        }
    }
}
