//! Rows in the numbers that a metric looks at, and what would have predicted them best.

use mercer_simd::LANES;

use crate::local::relevance::{Examples, NEIGHBOURS, Relevance};
use crate::local::{NeighbourMemory, Neighbours, Process, TARGETS};

/// Rows from which relevance is learnt.
pub(super) const LEAST_ROWS: usize = 256;
/// So many rows between two examples always count for at least a share [`PACE`] of the mean squared
/// distance, in the metric of time.
pub(super) const ROWS_OF_TIME: f64 = 1000.0;
pub(super) const PACE: f64 = 0.2;
/// Nearest examples of a prediction that is compared.
const NEIGHBOURS_JUDGED: usize = 16;
/// Times that the nearest examples are sought anew, in the metric learnt so far.
const TURNS: usize = 2;
/// Least noise of the Laplace processes.
const ROUGH: f64 = 0.1;

/// Rows that a search looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Rows whose likelihood is climbed.
    pub(super) sample: usize,
    /// Rows that are predicted to compare, half of all at most.
    pub(super) judged: usize,
}

impl Effort {
    /// Multiply-adds of a search for each row of the sample, where half as many are judged, in
    /// windows of so many rows.
    pub(super) fn cost(rows: usize, (width, outputs): (usize, usize)) -> f64 {
        let found = rows as f64 * width as f64;
        let climbed = TURNS as f64 * (found + Relevance::cost(width, outputs));
        let judged = 2.0 * (found + cost_of_processes((width, outputs), NEIGHBOURS_JUDGED));
        // Beginnings for scaled features, for the time and for ranks.
        5.0 * (climbed + 0.5 * judged)
    }
}

/// Rows in the order of time, in the numbers that a metric looks at, with scaled targets.
#[derive(Clone, Debug)]
pub(super) struct OrderedRows {
    /// Numbers of a row, and targets.
    pub(super) shape: (usize, usize),
    pub(super) rows: Vec<f64>,
    pub(super) targets: Vec<f64>,
    /// Inverse weights, one a row.
    pub(super) spreads: Vec<f64>,
    /// True if the first number is the number of the row.
    pub(super) timed: bool,
}

impl OrderedRows {
    pub(super) fn len(&self) -> usize {
        self.spreads.len()
    }

    /// Row `t` with its targets and its inverse weight.
    pub(super) fn example(&self, t: usize) -> (&[f64], &[f64], f64) {
        let (d, m) = self.shape;
        (&self.rows[t * d..(t + 1) * d], &self.targets[t * m..(t + 1) * m], self.spreads[t])
    }

    pub(super) fn without_time(&self) -> Self {
        let (width, outputs) = self.shape;
        let rows = self.rows.chunks_exact(width).flat_map(|row| row[1..].iter().copied()).collect();
        let (targets, spreads) = (self.targets.clone(), self.spreads.clone());
        Self { shape: (width - 1, outputs), rows, targets, spreads, timed: false }
    }

    /// The relevance that would have predicted the last rows best, of those from which and to which
    /// the likelihood leads.
    pub(super) fn relevance(&self, mut begins: Vec<Relevance>, effort: Effort) -> Relevance {
        if self.len() < LEAST_ROWS || self.shape.0 == usize::from(self.timed) {
            return begins.swap_remove(0);
        }
        let within = |weights: &mut [f64]| {
            if self.timed {
                keep_pace(weights);
            }
        };
        let climb = |from: Relevance, _| from.learn(&self.examples(&from, effort.sample), within);
        let found = begins.into_iter().flat_map(|begin| [begin.clone(), (0..TURNS).fold(begin, climb)]);
        let mut found: Vec<_> = found.map(|relevance| (self.loss(&relevance, effort), relevance)).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.swap_remove(0).1
    }

    /// Calls `see` with each of the last `seen` rows, in the order of time, its point and a window
    /// of all rows before it.
    fn replay(
        &self,
        relevance: &Relevance,
        neighbours: usize,
        seen: usize,
        mut see: impl FnMut(usize, &[f64], &Neighbours),
    ) {
        let rates = rates(relevance);
        let mut window = Neighbours::new(self.shape, self.len(), neighbours, processes(relevance.noise));
        let (mut point, mut memory) = (Vec::new(), NeighbourMemory::default());
        for t in 0..self.len() {
            let (x, y, spread) = self.example(t);
            point.clear();
            point.extend(x.iter().zip(&rates).map(|(value, rate)| value * rate));
            if t + seen >= self.len() {
                window.arrange(&mut memory);
                see(t, &point, &window);
            }
            window.push(&point, [y; TARGETS], 1.0 / spread);
        }
    }

    /// The last `sample` rows with the nearest examples before them.
    fn examples(&self, relevance: &Relevance, sample: usize) -> Examples {
        let (mut examples, mut memory) = (Examples::new(self.shape), NeighbourMemory::default());
        self.replay(relevance, NEIGHBOURS, sample, |t, point, window| {
            if t >= NEIGHBOURS {
                examples.push(window.nearest(point, &mut memory).map(|place| self.example(place)), self.example(t));
            }
        });
        examples
    }

    /// Loss of the best of the processes over the last rows. Errors that are large for scaled
    /// targets count by their logarithm, so that the rows around a change do not decide.
    fn loss(&self, relevance: &Relevance, effort: Effort) -> f64 {
        let (mut losses, mut memory) = ([0.0; LANES / 2], NeighbourMemory::default());
        self.replay(relevance, NEIGHBOURS_JUDGED, effort.judged.min(self.len() / 2), |t, point, window| {
            let (_, y, spread) = self.example(t);
            window.means(point, &mut memory);
            for (means, y) in memory.means().chunks_exact(LANES).zip(y) {
                losses.iter_mut().zip(means).for_each(|(loss, mean)| *loss += (mean - y).powi(2).ln_1p() / spread);
            }
        });
        losses.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Makes the time, which is first, so relevant that rows from before a change are soon far away,
/// however near they are otherwise: [`ROWS_OF_TIME`] count for a share of the mean squared
/// distance, which is `2 Σ w_j` for scaled features.
fn keep_pace(weights: &mut [f64]) {
    let Some((time, features)) = weights.split_first_mut() else { return };
    *time = time.max(PACE * 2.0 * features.iter().sum::<f64>() / ROWS_OF_TIME.powi(2));
}

/// Multiply-adds of the eight processes: their systems, and exponentials that cost as much as
/// twenty each. Two processes share a system and its exponentials, so that rounds take less than
/// this; the plans were chosen by it.
pub(super) fn cost_of_processes((d, m): (usize, usize), neighbours: usize) -> f64 {
    let (k, d, m) = (neighbours as f64, d as f64, m as f64);
    let solutions = k * k * k / 6.0 + (1.0 + 0.5 * m) * k * k;
    LANES as f64 * (solutions + 20.0 * (0.5 * k * k + k)) + 0.5 * k * k * d
}

/// `√w_j`
pub(super) fn rates(relevance: &Relevance) -> Vec<f64> {
    relevance.weights.iter().map(|weight| weight.sqrt()).collect()
}

/// The eight processes of a metric in which the length of Matérn 3/2 is 1, with this noise.
pub(super) fn processes(noise: f64) -> [Process; LANES] {
    let rough = noise.max(ROUGH);
    std::array::from_fn(|lane| {
        let (length, noise, smooth) = match lane % 4 {
            0 => (1.0, noise, true),
            1 => (2.0, rough, false),
            2 => (1.0, 3.0 * rough, false),
            _ => (2.0, 2.0 * noise, true),
        };
        let rate = if smooth { 3.0_f64.sqrt() } else { 1.0 } / length;
        Process { rate, smooth: f64::from(u8::from(smooth)), noise, target: u8::from(lane >= LANES / 2) }
    })
}
