//! Tail shares: the share of the last values that lie at or above one.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};

/// Values of a window below which a rank alone is told.
const ENOUGH: usize = 200;
/// Levels of the quantiles through which the tail goes.
const LEVELS: [f64; 4] = [0.8, 0.9, 0.95, 0.975];
/// Values for each one that tells the scale of the tail: of `m` the spacings that make `σ` weigh as
/// much as `m/15`.
const FOR_ONE: f64 = 15.0;

/// Share of values at or above `value`, by the `sorted` values of a window of `m`.
///
/// Below the top tenth, and in windows of fewer than 200, it is the rank `(m − i + ½)/(m + 1)`,
/// where `i` values are smaller. Beyond, it is a generalised Pareto tail through the quantiles
/// .80, .90, .95 and .975,
///
/// ```text
/// ξ = 15/m + ½ log₂((q₄ − q₃)/(q₂ − q₁)) in [15/m, ½],   g = (2^ξ − 1)/ξ
/// σ = ½ ((q₃ − q₂)/g + (q₄ − q₃)/(g 2^ξ)),               share = 0.1 (1 + ξ (v − q₂)/σ)^(−1/ξ)
/// ```
///
/// so that as many as 2 % of anomalies in the window do not hide the next one. A scale that `k`
/// values tell makes an exponential tail `(1 + x/k)^(−k)`, therefore the `15/m`: without it
/// small shares come too often while a window has few values.
pub(crate) fn tail_share(sorted: &[f64], value: f64) -> f64 {
    let m = sorted.len();
    let below = sorted.partition_point(|other| *other < value);
    if m < ENOUGH || (below as f64) < 0.9 * m as f64 {
        return (m as f64 - below as f64 + 0.5) / (m as f64 + 1.0);
    }
    let q = LEVELS.map(|level| sorted[(m as f64 * level) as usize]);
    let gaps = [q[1] - q[0], q[2] - q[1], q[3] - q[2]].map(|gap| gap.max(1e-12));
    let xi = (FOR_ONE / m as f64 + (0.5 * (gaps[2] / gaps[0]).log2()).max(0.0)).min(0.5);
    let g = (xi.exp2() - 1.0) / xi;
    let sigma = 0.5 * (gaps[1] / g + gaps[2] / g * (-xi).exp2());
    0.1 * (1.0 + xi * (value - q[1]) / sigma).powf(-1.0 / xi)
}

/// The last values of a stream, in order of size too.
///
/// # Invariants
/// `sorted` holds the numbers of `recent`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TailWindow {
    size: usize,
    sorted: Vec<f64>,
    recent: VecDeque<f64>,
}

impl TailWindow {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, sorted: Vec::with_capacity(size), recent: VecDeque::with_capacity(size + 1) }
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// [`tail_share`] among the values of the window.
    pub(crate) fn share(&self, value: f64) -> f64 {
        tail_share(&self.sorted, value)
    }

    /// Takes a finite value in, and drops the oldest of a full window. `O(size)` moves.
    pub(crate) fn push(&mut self, value: f64) {
        let Self { size, sorted, recent } = self;
        let place = sorted.partition_point(|other| *other < value);
        recent.push_back(value);
        let oldest = if recent.len() > *size { recent.pop_front() } else { None };
        let Some(oldest) = oldest else { return sorted.insert(place, value) };
        let left = sorted.partition_point(|other| *other < oldest);
        // What lies between the two moves by one.
        if left < place {
            sorted.copy_within(left + 1..place, left);
            sorted[place - 1] = value;
        } else {
            sorted.copy_within(place..left, place + 1);
            sorted[place] = value;
        }
    }
}

impl Validate for TailWindow {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.recent.validate()?;
        let mut values: Vec<f64> = self.recent.iter().copied().collect();
        values.sort_unstable_by(f64::total_cmp);
        let holds = values == self.sorted && values.len() <= self.size;
        Inconsistent::require(holds, "window of scores", "its values in order are its values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_continuous_falls_and_is_that_of_the_law() {
        // Quantiles of the exponential and of a Pareto law with shape 1/4.
        let laws: [fn(f64) -> f64; 2] = [|tail| -tail.ln(), |tail| 4.0 * (tail.powf(-0.25) - 1.0)];
        for law in laws {
            let sorted: Vec<f64> = (0..4096).map(|i| law(1.0 - (f64::from(i) + 0.5) / 4096.0)).collect();
            for tail in [0.5, 0.11, 0.09, 0.03, 0.001] {
                let share = tail_share(&sorted, law(tail));
                assert!((share / tail - 1.0).abs() < 0.06, "{tail}: {share}");
            }
            assert!(tail_share(&sorted, law(1e-5)) < 1.3e-5);
        }
    }

    #[test]
    fn two_in_a_hundred_anomalies_do_not_hide_the_next() {
        let mut sorted: Vec<f64> = (0..1004).map(|i| -(1.0 - (f64::from(i) + 0.5) / 1004.0).ln()).collect();
        sorted.extend([30.0; 20]);
        assert!(tail_share(&sorted, 30.0) < 1e-3);
        let rank = 20.5 / 1025.0;
        assert!(rank > 0.01, "a rank alone would hide it");
    }

    #[test]
    fn a_window_forgets_the_oldest() {
        let mut window = TailWindow::new(3);
        for (value, sorted) in [
            (3.0, &[3.0][..]),
            (1.0, &[1.0, 3.0]),
            (2.0, &[1.0, 2.0, 3.0]),
            (5.0, &[1.0, 2.0, 5.0]),
            (2.0, &[2.0, 2.0, 5.0]),
            (0.0, &[0.0, 2.0, 5.0]),
            (0.0, &[0.0, 0.0, 2.0]),
            (7.0, &[0.0, 0.0, 7.0]),
            (7.0, &[0.0, 7.0, 7.0]),
        ] {
            window.push(value);
            assert_eq!(window.sorted, sorted);
            assert_eq!(window.validate(), Ok(()));
        }
        window.sorted[0] = 0.5;
        assert!(window.validate().is_err());
    }
}
