//! The signals that filters are shown: two chaotic series to be forecast one step ahead, and a
//! nonlinear channel that changes.

use crate::prelude::*;
use mercer_streams::{Ar1, Lorenz};

/// Rows in order, each with a target.
pub(super) struct Signal {
    pub(super) dimension: usize,
    /// Row by row.
    pub(super) inputs: Vec<f64>,
    pub(super) targets: Vec<f64>,
}

impl Signal {
    /// A series, scaled to mean 0 and variance 1: the target is a value, the input the `lags`
    /// values before it, the oldest first.
    fn of_series(mut series: Vec<f64>, lags: usize) -> Self {
        let n = series.len() as f64;
        let centre = series.iter().sum::<f64>() / n;
        let spread = (series.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n).sqrt();
        series.iter_mut().for_each(|x| *x = (*x - centre) / spread);
        let inputs = series.windows(lags + 1).flat_map(|window| window[..lags].iter().copied()).collect();
        Self { dimension: lags, inputs, targets: series[lags..].to_vec() }
    }

    /// The signal behind the first `rows` rows.
    pub(super) fn after(&self, rows: usize) -> Self {
        let inputs = self.inputs[rows * self.dimension..].to_vec();
        Self { dimension: self.dimension, inputs, targets: self.targets[rows..].to_vec() }
    }

    /// The mean squared error of a forecast that repeats the last value of the input.
    pub(super) fn persistence(&self) -> f64 {
        let errors = self.inputs.chunks(self.dimension).zip(&self.targets).map(|(x, y)| y - x[self.dimension - 1]);
        errors.map(|e| e * e).sum::<f64>() / self.targets.len() as f64
    }
}

/// The series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignalSeries {
    /// `ẋ = 0.2 x(t − 30)/(1 + x(t − 30)¹⁰) − 0.1 x`, sampled every 6 units of time, ten lags: as
    /// the book of Liu, Príncipe and Haykin has it.
    MackeyGlass,
    /// The first coordinate of Lorenz's system, sampled every 0.05, five lags.
    Lorenz,
}

impl SignalSeries {
    pub(super) const ALL: [Self; 2] = [Self::MackeyGlass, Self::Lorenz];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MackeyGlass => "Mackey–Glass",
            Self::Lorenz => "Lorenz",
        }
    }

    /// The width of the Gaussian for all filters, in standard deviations of the series.
    pub(super) fn width(self) -> f64 {
        match self {
            Self::MackeyGlass => 2.0,
            Self::Lorenz => 1.0,
        }
    }

    /// This many rows of the series from a start of this seed.
    pub(super) fn rows(self, rows: usize, seed: u64) -> Result<Signal> {
        match self {
            Self::MackeyGlass => {
                let lags = 10;
                Ok(Signal::of_series(mackey_glass(rows + lags, seed), lags))
            }
            Self::Lorenz => {
                let (lags, lorenz) = (5, Lorenz::default());
                let states = lorenz.trajectory(lorenz.on_the_attractor(seed)?, rows + lags - 1)?;
                Ok(Signal::of_series(states.iter().map(|state| state[0]).collect(), lags))
            }
        }
    }
}

/// Runge–Kutta steps of 0.1 with the delayed value between two steps taken as their mean; 1000
/// units of time are dropped. The past of the start is a constant from 0.9 to 1.5. Sums and
/// products only: a chaotic series would show another last digit of a machine's `powf`.
fn mackey_glass(values: usize, seed: u64) -> Vec<f64> {
    const STEP: f64 = 0.1;
    const DELAY: usize = 300;
    const EVERY: usize = 60;
    const DROPPED: usize = 10_000;
    let slope = |x: f64, delayed: f64| {
        let square = delayed * delayed;
        let fourth = square * square;
        0.2 * delayed / (1.0 + fourth * fourth * square) - 0.1 * x
    };
    // The multiples of the golden ratio's fraction spread evenly.
    let spread = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1u64 << 53) as f64;
    let mut past = vec![0.9 + 0.6 * spread; DELAY + 1];
    let steps = DROPPED + values * EVERY;
    past.reserve(steps);
    for k in 0..steps {
        let (x, from, to) = (past[k + DELAY], past[k], past[k + 1]);
        let between = 0.5 * (from + to);
        let k1 = slope(x, from);
        let k2 = slope(x + 0.5 * STEP * k1, between);
        let k3 = slope(x + 0.5 * STEP * k2, between);
        let k4 = slope(x + STEP * k3, to);
        past.push(x + STEP / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4));
    }
    past[DELAY + 1 + DROPPED..].iter().copied().step_by(EVERY).take(values).collect()
}

/// Standard normal numbers.
fn white(n: usize, seed: u64) -> Result<Vec<f64>> {
    Ok(Ar1 { coefficient: 0.0, deviation: 1.0 }.pairs(n, seed)?.outputs().to_vec())
}

/// Impulse responses of the channel before and after the change.
const CHANNELS: [[f64; 5]; 2] = [[1.0, -0.3817, -0.1411, 0.5789, 0.191], [1.0, -0.0870, 0.9852, -0.2826, -0.1711]];

/// Noise of the channel: 20 dB below an output of variance 1.
pub(super) const CHANNEL_NOISE: f64 = 0.1;

/// A linear filter of five taps, then tanh, then white noise of deviation [`CHANNEL_NOISE`]; white
/// normal numbers go in. From row `rows/2` on the taps are others. The input of the filter that
/// identifies it is the last five numbers.
pub(super) fn channel(rows: usize, seed: u64) -> Result<Signal> {
    let dimension = CHANNELS[0].len();
    let (sent, noise) = (white(rows + dimension - 1, seed)?, white(rows, seed ^ 0x6e_6f_69_73_65)?);
    let mut inputs = Vec::with_capacity(rows * dimension);
    let mut targets = Vec::with_capacity(rows);
    for (t, (window, noise)) in sent.windows(dimension).zip(&noise).enumerate() {
        let taps = &CHANNELS[usize::from(t >= rows / 2)];
        // The newest number meets the first tap.
        let through: f64 = window.iter().rev().zip(taps).map(|(x, tap)| x * tap).sum();
        targets.push(through.tanh() + CHANNEL_NOISE * noise);
        inputs.extend_from_slice(window);
    }
    Ok(Signal { dimension, inputs, targets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_scaled_and_lagged() {
        for series in SignalSeries::ALL {
            let signal = series.rows(500, 3).unwrap();
            assert_eq!((signal.targets.len(), signal.inputs.len()), (500, 500 * signal.dimension));
            // A row's last input is the target of the row before.
            let last = |row: usize| signal.inputs[(row + 1) * signal.dimension - 1];
            assert!((1..500).all(|row| last(row) == signal.targets[row - 1]));
            assert!(signal.targets.iter().all(|y| y.abs() < 5.0));
            assert!(signal.persistence() > 0.01, "{}", series.name());
            assert_ne!(signal.targets, series.rows(500, 4).unwrap().targets);
        }
    }

    /// The equation's rest point is 1: `0.2/(1 + 1) = 0.1`.
    #[test]
    fn mackey_glass_stays_in_its_range() {
        let values = mackey_glass(1000, 5);
        assert!(values.iter().all(|x| (0.1..1.6).contains(x)));
        assert!(values.iter().any(|x| *x < 0.5) && values.iter().any(|x| *x > 1.2));
    }

    #[test]
    fn the_channel_changes_in_the_middle() {
        let signal = channel(400, 1).unwrap();
        let error = |rows: std::ops::Range<usize>, taps: &[f64; 5]| {
            let count = rows.len() as f64;
            let square = |t: usize| {
                let window = signal.inputs[5 * t..5 * t + 5].iter().rev();
                (signal.targets[t] - window.zip(taps).map(|(x, tap)| x * tap).sum::<f64>().tanh()).powi(2)
            };
            rows.map(square).sum::<f64>() / count
        };
        assert!(error(0..200, &CHANNELS[0]) < 0.015 && error(200..400, &CHANNELS[1]) < 0.015);
        assert!(error(200..400, &CHANNELS[0]) > 0.1);
    }
}
