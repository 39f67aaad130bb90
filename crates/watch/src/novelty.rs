//! How new a row is: four parts, each seen before the row is learnt, a p-value, and the column to
//! blame.
//!
//! | part | what it is | it sees |
//! |---|---|---|
//! | margin | `Σ −ln` of the two-sided tail share of each value | far out in one column |
//! | Mahalanobis | `(1, z)ᵀ (C + .01 I)⁻¹ (1, z)` | dependence that is broken |
//! | isolation | minus the share of rows in the same cells of 100 partitions of 16 points | gaps between clusters |
//! | neighbours | mean distance to the 5 nearest of the last 1024 rows | a local change of density |
//!
//! Columns are scaled without values beyond four deviations, and bent beyond, anew when rows have
//! doubled; from a uniform sample of 1024 rows. Each part becomes `−ln` of its tail share among its
//! last 1024, and the score is the largest and half of the second. `p` is the tail share of the
//! score among the last 1024: a window holds its level under drift, where a sample of all rows does
//! not. What is frequent is not novel: beyond 2 % of anomalies few are found, unless clean rows
//! come first and [`freeze`](Novelty::freeze) is called.
//!
//! Cost: `1280 d + d²` multiply-adds a row, and 1/32 of an inverse. Memory: `3300 d + d²` numbers.

mod christoffel;
mod isolation;
mod margins;
mod neighbours;
mod scaling;

use std::collections::VecDeque;

use mercer_core::{Inconsistent, ParameterError, Validate, parameters};

use crate::LARGEST;
use crate::error::Error;
use crate::random::Random;
use crate::tail::TailWindow;
use christoffel::Christoffel;
use isolation::{Isolated, Isolation};
use margins::Margins;
use neighbours::{Nearest, Neighbours};
use scaling::RowScale;

/// Rows before the first score.
const START: u64 = 256;
/// Scores before their tail shares count.
const ENOUGH: usize = 40;

/// Rows, or rows of a reference, before newness is told.
pub const FEWEST_ROWS: u64 = START + ENOUGH as u64;

parameters! {
    /// Parameters of [`Novelty`].
    #[derive(Copy)]
    pub struct NoveltyParams {
        /// Rows and scores remembered, `≥ 256`.
        window: usize = 1024,
        /// Of the kept rows and the partitions.
        seed: u64 = 0,
    }
}

/// Newness of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Newness {
    /// The score: in natural logarithms of tail shares.
    pub score: f64,
    /// Share of rows of late that were at least as new.
    pub p: f64,
    /// `−ln` of the tail share of margin, Mahalanobis, isolation and neighbours.
    pub parts: [f64; 4],
    /// Share of each column in what is new, 1 in sum.
    pub shares: Vec<f64>,
}

/// Scores of how new rows of numbers are, some of which may be missing (NaN).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Novelty {
    params: NoveltyParams,
    columns: usize,
    rows: u64,
    frozen: bool,
    /// A uniform sample of all rows.
    sample: Vec<Vec<f64>>,
    recent: VecDeque<Vec<f64>>,
    random: Random,
    ground: Option<Box<Ground>>,
    parts: [TailWindow; 4],
    scores: TailWindow,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

/// The rows that a new one is compared with.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Ground {
    scale: RowScale,
    margins: Margins,
    christoffel: Christoffel,
    isolation: Isolation,
    neighbours: Neighbours,
    /// Row in which all is made anew, and the row in which margins are.
    renewal: u64,
    next_margins: u64,
}

/// Memory that is used again.
#[derive(Clone, Debug, Default)]
struct Work {
    row: Vec<f64>,
    z: Vec<f64>,
    isolated: Isolated,
    nearest: Nearest,
    blame: Vec<f64>,
}

impl Novelty {
    /// For rows of so many columns.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(columns: usize, params: NoveltyParams) -> Result<Self, ParameterError> {
        ParameterError::at_least_one("columns", columns)?;
        let window = params.window;
        ParameterError::require(window >= START as usize, "window", "256 rows or more", window as f64)?;
        let part = || TailWindow::new(window);
        Ok(Self {
            params,
            columns,
            rows: 0,
            frozen: false,
            sample: Vec::new(),
            recent: VecDeque::new(),
            random: Random::new(params.seed, Random::ROWS),
            ground: None,
            parts: [part(), part(), part(), part()],
            scores: part(),
            work: Work::default(),
        })
    }

    /// How new a row is, which is not learnt; `None` while there are too few rows to tell.
    ///
    /// # Errors
    /// [`Error::Columns`]
    pub fn score(&self, row: &[f64]) -> Result<Option<Newness>, Error> {
        self.check(row)?;
        let mut work = Work::default();
        work.take(row);
        Ok(self.measure(&mut work).and_then(|raw| self.newness(self.mixed(raw), &work)))
    }

    /// How new a row is, which is then learnt unless [frozen](Self::freeze); `None` while there are
    /// too few rows to tell.
    ///
    /// # Errors
    /// [`Error::Columns`]; the row is then not taken.
    pub fn learn(&mut self, row: &[f64]) -> Result<Option<Newness>, Error> {
        self.check(row)?;
        let mut work = std::mem::take(&mut self.work);
        work.take(row);
        let measured = self.measure(&mut work).map(|raw| (raw, self.mixed(raw)));
        let new = measured.and_then(|(_, mixed)| self.newness(mixed, &work));
        if !self.frozen {
            if let Some((raw, (_, score))) = measured {
                self.parts.iter_mut().zip(raw).for_each(|(window, value)| window.push(value));
                self.scores.push(score);
            }
            self.take(&work);
        }
        self.work = work;
        Ok(new)
    }

    /// Rows from now on are scored by those so far, and not learnt.
    pub fn freeze(&mut self) {
        self.frozen = true;
    }

    /// Columns of a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows learnt.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    fn check(&self, row: &[f64]) -> Result<(), Error> {
        let (expected, got) = (self.columns, row.len());
        if expected == got { Ok(()) } else { Err(Error::Columns { expected, got }) }
    }

    /// The four parts, with the cells, the nearest rows and the blame left in `work`.
    fn measure(&self, work: &mut Work) -> Option<[f64; 4]> {
        let Ground { scale, margins, christoffel, isolation, neighbours, .. } = self.ground.as_deref()?;
        let Work { row, z, isolated, nearest, blame } = work;
        scale.scaled(row, z);
        blame.resize(self.columns, 0.0);
        let margin: f64 = row.iter().enumerate().map(|(j, value)| margins.surprise(j, *value)).sum();
        let distance = christoffel.distance(z, blame);
        Some([margin, distance, isolation.distance(z, isolated), neighbours.distance(z, nearest)])
    }

    /// `−ln` of the tail share of each part, and the score.
    fn mixed(&self, raw: [f64; 4]) -> ([f64; 4], f64) {
        let mut parts = [0.0; 4];
        for ((part, window), value) in parts.iter_mut().zip(&self.parts).zip(raw) {
            if window.len() >= ENOUGH {
                *part = -window.share(value).ln();
            }
        }
        let mut sorted = parts;
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        (parts, sorted[0] + 0.5 * sorted[1] + 1e-9 * raw[1])
    }

    fn newness(&self, (parts, score): ([f64; 4], f64), work: &Work) -> Option<Newness> {
        let enough = self.scores.len() >= ENOUGH && self.parts[0].len() >= ENOUGH;
        let p = enough.then(|| self.scores.share(score))?;
        Some(Newness { score, p, parts, shares: self.shares(parts, work) })
    }

    /// Shares of the columns, by the part that is largest.
    fn shares(&self, parts: [f64; 4], work: &Work) -> Vec<f64> {
        let Some(ground) = self.ground.as_deref() else { return Vec::new() };
        let mut shares = work.blame.clone();
        let largest = parts.iter().copied().fold(0.0, f64::max);
        let surprise = |j: usize| ground.margins.surprise(j, work.row[j]);
        let gap = (0..self.columns).filter(|j| work.row[*j].is_nan());
        let gap = gap.max_by(|a, b| surprise(*a).total_cmp(&surprise(*b)));
        if let Some(gap) = gap.filter(|gap| (0..self.columns).all(|j| surprise(j) <= surprise(*gap))) {
            shares.fill(0.0);
            shares[gap] = 1.0;
        } else if parts[2].max(parts[3]) == largest && parts[0].max(parts[1]) < largest {
            ground.neighbours.blame(&work.z, &work.nearest, &mut shares);
        }
        let sum: f64 = shares.iter().sum();
        let all = shares.len() as f64;
        shares.iter_mut().for_each(|share| *share = if sum > 0.0 { *share / sum } else { 1.0 / all });
        shares
    }

    /// Learns a row that was measured.
    fn take(&mut self, work: &Work) {
        let row = &work.row;
        self.rows += 1;
        let size = self.params.window;
        if self.sample.len() < size {
            self.sample.push(row.clone());
        } else {
            let place = self.random.below(self.rows as usize);
            if let Some(kept) = self.sample.get_mut(place) {
                kept.clone_from(row);
            }
        }
        let mut oldest = if self.recent.len() == size { self.recent.pop_front() } else { None }.unwrap_or_default();
        oldest.clone_from(row);
        self.recent.push_back(oldest);
        let Some(ground) = &mut self.ground else {
            if self.rows == START {
                self.renew();
            }
            return;
        };
        ground.christoffel.learn(&work.z);
        ground.isolation.count(&work.isolated, 1.0);
        ground.neighbours.push(&work.z);
        if self.rows >= ground.renewal {
            self.renew();
        } else if self.rows >= ground.next_margins {
            ground.margins = Margins::new(&self.sample, self.columns);
            ground.next_margins = self.rows + (self.rows / 8).max(16);
        }
    }

    /// Makes scales, moments, partitions and margins anew.
    fn renew(&mut self) {
        let (columns, weight) = (self.columns, self.rows as f64 / self.sample.len() as f64);
        let scale = RowScale::new(&self.sample, columns);
        let scaled = |row: &Vec<f64>| {
            let mut z = Vec::new();
            scale.scaled(row, &mut z);
            z
        };
        let rows: Vec<Vec<f64>> = self.sample.iter().map(scaled).collect();
        let mut neighbours = Neighbours::new(self.params.window, columns);
        self.recent.iter().for_each(|row| neighbours.push(&scaled(row)));
        self.ground = Some(Box::new(Ground {
            margins: Margins::new(&self.sample, columns),
            christoffel: Christoffel::new(&rows, weight, columns),
            isolation: Isolation::new(&rows, weight, columns, &mut self.random),
            neighbours,
            scale,
            renewal: 2 * self.rows,
            next_margins: self.rows + 16,
        }));
    }
}

impl Work {
    fn take(&mut self, row: &[f64]) {
        self.row.clear();
        self.row.extend(row.iter().map(|value| value.clamp(-LARGEST, LARGEST)));
    }
}

impl Validate for Novelty {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "scores of new rows";
        let (columns, window) = (self.columns, self.params.window);
        Inconsistent::require(Self::new(columns, self.params).is_ok(), WHAT, "its parameters are in range")?;
        let mut rows = self.sample.iter().chain(&self.recent);
        let held = rows.all(|row| row.len() == columns) && self.sample.len() <= window && self.recent.len() <= window;
        let rows = self.rows < u64::MAX / 4 && self.sample.len() as u64 == self.rows.min(window as u64);
        Inconsistent::require(held && rows, WHAT, "its rows have its columns")?;
        self.parts.validate()?;
        self.scores.validate()?;
        let Some(Ground { scale, margins, christoffel, isolation, neighbours, .. }) = self.ground.as_deref() else {
            return Inconsistent::require(self.rows < START, WHAT, "it has a ground once there are rows");
        };
        let sound = scale.is_sound(columns)
            && margins.columns() == columns
            && christoffel.is_sound(columns)
            && isolation.is_sound(columns)
            && neighbours.is_sound(columns);
        Inconsistent::require(sound, WHAT, "its parts have its columns")
    }
}
