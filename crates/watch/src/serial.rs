//! Removal of serial dependence: rows of a stream to rows that are nearly exchangeable.
//!
//! The first rows show what is to be taken out (rank tests at 1 % in all):
//!
//! | dependence of | taken out by |
//! |---|---|
//! | levels, or a season of `s` rows | least squares on the lags 1, 2, 3 and `s`, `s ± 1`: predict, then learn |
//! | sizes | division by the size that three moving means of `\|e\|` foretell |
//! | what is left | means of `e` and of `ln(\|e\| + 0.1)` over blocks, doubled to 1/16 of the first rows |
//!
//! Levels and sizes are taken out of the columns that show this dependence alone: of a column of
//! few values, what is foretold would move the values while it is learnt. Every number that leaves
//! comes from rows before it and its own.

use std::collections::VecDeque;
use std::fmt;

use mercer_core::{Inconsistent, Validate};

use crate::dependence::{Dependence, dependence, is_seasonal, of_columns, season};

/// Residuals that the regressions need before they are tested.
const WARM: usize = 20;
/// A column that the past foretells, such as the hour of the day, has nine errors in ten below this
/// part of a deviation.
const FORETOLD: f64 = 0.05;
/// Errors of such a column count as none below this.
const BROKEN: f64 = 0.25;
/// A standardised value is kept within `±FAR`, so that squares of products are finite.
const FAR: f64 = 1e8;

/// Removal of a kind of serial dependence that the first rows showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TakenOut {
    /// Levels follow those of the last three rows.
    Level,
    /// The same, and those of a season before.
    Season(usize),
    /// Sizes follow the last sizes.
    Size,
    /// Rows are taken together, so many at a time.
    Blocks(usize),
}

impl fmt::Display for TakenOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level => f.write_str("level"),
            Self::Season(rows) => write!(f, "level and a season of {rows} rows"),
            Self::Size => f.write_str("size"),
            Self::Blocks(rows) => write!(f, "blocks of {rows} rows"),
        }
    }
}

/// Least squares with a ridge of .01, one row at a time, without forgetting.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Regression {
    inverse: Vec<f64>,
    weights: Vec<f64>,
    gain: Vec<f64>,
}

impl Regression {
    /// Of so many inputs, with `inverse = prior · I`.
    fn new(inputs: usize, prior: f64) -> Self {
        let inverse = (0..inputs * inputs).map(|i| if i % (inputs + 1) == 0 { prior } else { 0.0 }).collect();
        Self { inverse, weights: vec![0.0; inputs], gain: vec![0.0; inputs] }
    }

    fn predict(&self, u: &[f64]) -> f64 {
        self.weights.iter().zip(u).map(|(w, u)| w * u).sum()
    }

    /// `k = Pu/(1 + uᵀPu)`, `w ← w + e k`, `P ← P − k (Pu)ᵀ`.
    fn learn(&mut self, u: &[f64], error: f64) {
        let n = u.len();
        for (gain, row) in self.gain.iter_mut().zip(self.inverse.chunks_exact(n)) {
            *gain = row.iter().zip(u).map(|(p, u)| p * u).sum();
        }
        let scale = 1.0 + self.gain.iter().zip(u).map(|(k, u)| k * u).sum::<f64>();
        for i in 0..n {
            let k = self.gain[i] / scale;
            self.weights[i] += k * error;
            for j in 0..n {
                self.inverse[i * n + j] -= k * self.gain[j];
            }
        }
    }
}

/// Rates of the moving means of sizes.
const RATES: [f64; 3] = [0.2, 0.07, 0.02];

/// Size of the next error of a column, foretold by moving means over 5, 14 and 50 rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SizeFilter {
    mean: f64,
    moving: [f64; RATES.len()],
    regression: Regression,
}

impl SizeFilter {
    fn new(mean: f64) -> Self {
        Self { mean, moving: RATES.map(|_| mean), regression: Regression::new(1 + RATES.len(), 10.0) }
    }

    fn take_out(&mut self, error: f64) -> f64 {
        let (mean, floor) = (self.mean, 0.1 * self.mean + 1e-12);
        let log = |size: f64| ((size + floor) / (mean + floor)).ln();
        let [fast, middle, slow] = self.moving.map(log);
        let inputs = [1.0, fast, middle, slow];
        let foretold = self.regression.predict(&inputs);
        self.regression.learn(&inputs, log(error.abs()) - foretold);
        for (moving, rate) in self.moving.iter_mut().zip(RATES) {
            *moving += rate * (error.abs() - *moving);
        }
        error / foretold.clamp(-50.0, 50.0).exp()
    }
}

/// Standardises columns by the first rows, and takes out what dependence these show.
///
/// # Invariants
/// `history` has the last `max(lags)` standardised rows, the oldest first; one place for a
/// regression a column where there are lags.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SerialFilter {
    scales: Vec<(f64, f64)>,
    /// Columns from which dependence is taken out: those behind are marks of gaps.
    values: usize,
    lags: Vec<usize>,
    /// Of columns that depend on their past: what has few values, and is by itself, keeps them.
    levels: Vec<Option<Regression>>,
    /// True for columns that the past foretells.
    foretold: Vec<bool>,
    sizes: Vec<Option<SizeFilter>>,
    history: VecDeque<Vec<f64>>,
    block: usize,
    gathered: usize,
    out: Vec<f64>,
    taken_out: Vec<TakenOut>,
}

/// A value in deviations from the mean, at most [`FAR`]; a gap is the mean.
fn standardised(value: f64, (mean, scale): (f64, f64)) -> f64 {
    if value.is_nan() { 0.0 } else { ((value - mean) / scale).clamp(-FAR, FAR) }
}

impl SerialFilter {
    /// Standardises by these rows, the first columns of which are `values`, and takes nothing out.
    pub(crate) fn standardising(rows: &[Vec<f64>], values: usize) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let scale = |j: usize| {
            let there = || rows.iter().map(|row| row[j]).filter(|value| !value.is_nan());
            let n = there().count().max(1) as f64;
            let mean = there().map(|value| value / n).sum::<f64>();
            let square = there().map(|value| (value - mean) / n.sqrt()).map(|part| part * part).sum::<f64>();
            (mean, square.sqrt().min(f64::MAX) + 1e-12)
        };
        Self {
            scales: (0..width).map(scale).collect(),
            values,
            lags: Vec::new(),
            levels: Vec::new(),
            foretold: vec![false; values],
            sizes: Vec::new(),
            history: VecDeque::new(),
            block: 1,
            gathered: 0,
            out: vec![0.0; width],
            taken_out: Vec::new(),
        }
    }

    /// Takes the level out if these rows, by which it standardises, show that it depends.
    pub(crate) fn fit_level(&mut self, rows: &[Vec<f64>]) {
        let (places, shown) = self.tested(&self.standardised(rows), 1);
        let (found, _) = of_columns(&shown);
        // Columns without dependence would hide the season of one among many.
        let dependent = shown.iter().zip(&found).filter(|(_, found)| found.level > 1.0);
        let dependent: Vec<Vec<f64>> = dependent.map(|(column, _)| column.clone()).collect();
        let season = season(if dependent.is_empty() { &shown } else { &dependent });
        let depends = |(column, found): (&Vec<f64>, &Dependence)| {
            found.level > 1.0 || season.is_some_and(|season| is_seasonal(column, season))
        };
        let depend: Vec<bool> = shown.iter().zip(&found).map(depends).collect();
        if !depend.contains(&true) {
            return;
        }
        self.lags = vec![1, 2, 3];
        self.lags.extend(season.iter().flat_map(|s| [*s, s + 1, s - 1]));
        self.levels = vec![None; self.values];
        for (place, _) in places.into_iter().zip(depend).filter(|(_, depends)| *depends) {
            self.levels[place] = Some(Regression::new(self.lags.len() + 1, 100.0));
        }
        self.taken_out.push(season.map_or(TakenOut::Level, TakenOut::Season));
    }

    /// Takes out sizes and what is left, as these first rows show them after the level: as many as
    /// were standardised by, and as many as it [loses](Self::lost).
    pub(crate) fn fit_rest(&mut self, rows: &[Vec<f64>]) {
        let lost = self.lost();
        let wanted = rows.len() - lost;
        let warm = WARM.min(wanted - 1);
        let mut left = self.clone().all(rows);
        if lost > 0 {
            let later = &left[wanted / 2..];
            let small = |j: usize| later.iter().filter(|row| row[j].abs() < FORETOLD).count();
            self.foretold = (0..self.values).map(|j| 10 * small(j) >= 9 * later.len()).collect();
        }
        let (places, shown) = self.tested(&left[warm..], 1);
        let (found, shared) = of_columns(&shown);
        let depend: Vec<bool> = found.iter().map(|found| found.size > 1.0 || shared > 1.0).collect();
        if depend.contains(&true) {
            let mean = |j: usize| left.iter().map(|row| row[j].abs()).sum::<f64>() / wanted as f64;
            self.sizes = vec![None; self.values];
            for (place, _) in places.into_iter().zip(depend).filter(|(_, depends)| *depends) {
                self.sizes[place] = Some(SizeFilter::new(mean(place)));
            }
            self.taken_out.push(TakenOut::Size);
            left = self.clone().all(rows);
        }
        while dependence(&self.tested(&left[warm..], self.block).1).largest() > 1.0 && self.block < wanted / 16 {
            self.block *= 2;
        }
        if self.block > 1 {
            self.out = vec![0.0; 2 * self.scales.len()];
            self.taken_out.push(TakenOut::Blocks(self.block));
        }
    }

    /// Columns of every so manyth row, with their places, without those that say nothing of
    /// dependence.
    fn tested(&self, rows: &[Vec<f64>], every: usize) -> (Vec<usize>, Vec<Vec<f64>>) {
        let column = |j: usize| -> Vec<f64> { rows.iter().step_by(every).map(|row| row[j]).collect() };
        let columns = (0..self.values).filter(|j| !self.foretold[*j]).map(|j| (j, column(j)));
        columns.filter(|(_, column)| column.iter().any(|value| *value != column[0])).unzip()
    }

    fn standardised(&self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let one = |row: &Vec<f64>| row.iter().zip(&self.scales).map(|(x, scale)| standardised(*x, *scale)).collect();
        rows.iter().map(one).collect()
    }

    /// All that comes out for these rows.
    pub(crate) fn all(&mut self, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
        rows.iter().filter_map(|row| self.push(row).map(<[f64]>::to_vec)).collect()
    }

    /// Takes a row; what comes out, if something does.
    pub(crate) fn push(&mut self, row: &[f64]) -> Option<&[f64]> {
        let (lost, width) = (self.lost(), self.scales.len());
        if self.gathered == 0 {
            self.out.fill(0.0);
        }
        let full = self.history.len() == lost;
        let mut kept = if lost > 0 && full { self.history.pop_front().unwrap_or_default() } else { Vec::new() };
        let oldest = kept.clone();
        kept.clear();
        let mut inputs = [1.0; 7];
        for (j, value) in row.iter().enumerate() {
            let z = standardised(*value, self.scales[j]);
            if lost > 0 {
                kept.push(z);
            }
            if !full {
                continue;
            }
            let mut error = z;
            if let Some(Some(level)) = self.levels.get_mut(j) {
                let inputs = &mut inputs[..=self.lags.len()];
                for (input, lag) in inputs[1..].iter_mut().zip(&self.lags) {
                    *input = if *lag == lost { oldest[j] } else { self.history[lost - 1 - lag][j] };
                }
                error = z - level.predict(inputs);
                level.learn(inputs, error);
                if self.foretold[j] && error.abs() < BROKEN {
                    error = 0.0;
                }
            }
            if let Some(Some(size)) = self.sizes.get_mut(j) {
                error = size.take_out(error);
            }
            self.out[j] += error / self.block as f64;
            if self.block > 1 {
                self.out[width + j] += (error.abs() + 0.1).ln() / self.block as f64;
            }
        }
        if lost > 0 {
            self.history.push_back(kept);
        }
        if !full {
            return None;
        }
        self.gathered = (self.gathered + 1) % self.block;
        (self.gathered == 0).then_some(&*self.out)
    }

    /// Rows at the beginning for which nothing comes out: the longest lag.
    pub(crate) fn lost(&self) -> usize {
        self.lags.iter().copied().max().unwrap_or(0)
    }

    /// Rows that become one.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    pub(crate) fn taken_out(&self) -> &[TakenOut] {
        &self.taken_out
    }

    /// Columns that go in.
    pub(crate) fn width(&self) -> usize {
        self.scales.len()
    }
}

impl Validate for SerialFilter {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "removal of serial dependence";
        let width = self.scales.len();
        self.scales.validate()?;
        let scaled = self.scales.iter().all(|(_, scale)| *scale > 0.0);
        let lags = self.lags.len() <= 6 && self.lags.iter().all(|lag| *lag > 0) && self.lost() < 1 << 24;
        Inconsistent::require(scaled && lags, WHAT, "its scales and lags are in range")?;
        let levels = self.levels.len() == if self.lags.is_empty() { 0 } else { self.values };
        let sizes = (self.sizes.is_empty() || self.sizes.len() == self.values) && self.values <= width;
        let sizes = sizes && self.foretold.len() == self.values;
        let fits = |regression: &Regression, inputs: usize| {
            regression.inverse.len() == inputs * inputs
                && regression.weights.len() == inputs
                && regression.gain.len() == inputs
        };
        let levels = levels && self.levels.iter().flatten().all(|level| fits(level, self.lags.len() + 1));
        let sizes = sizes && self.sizes.iter().flatten().all(|size| fits(&size.regression, 1 + RATES.len()));
        Inconsistent::require(levels && sizes, WHAT, "it has a regression for each column")?;
        let history = self.history.len() <= self.lost() && self.history.iter().all(|row| row.len() == width);
        let out = self.out.len() == if self.block > 1 { 2 * width } else { width };
        Inconsistent::require(history && out && self.gathered < self.block, WHAT, "it has rows of its columns")
    }
}
