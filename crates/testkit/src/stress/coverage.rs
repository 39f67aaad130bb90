//! Shares of rows that intervals hold, on eight kinds of series and tables, before a stress and
//! from 500 rows behind it.
//!
//! The stress is an outage of ten −9999 and then, in a series, a level 1000 higher. A share is
//! right if it is within [`WITHIN`] of what was asked for. An interval also holds its own forecast.

use std::fmt;

use mercer_encoding::ScaledTargets;
use mercer_experts::{ConformalIntervals, IntervalParams, Outliers};
use mercer_forecast::{AnyForecaster, Detail, Forecaster, Periods, SeasonParams, Seasons};
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::{Scratch, Target};
use mercer_registry::catalogue::{self, Context, Settings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{RECOVERY, StressResult, series};
use crate::streams::normal;

/// The shares that intervals are asked for.
pub const ASKED: [f64; 3] = [0.8, 0.9, 0.95];

/// Distance of a share from what was asked for that is right.
pub const WITHIN: f64 = 0.03;

/// First rows, which are not counted.
const FIRST: usize = 500;

/// Values of an outage.
const OUTAGE: usize = 10;

/// A kind of series or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageKind {
    /// White noise around 10.
    Noise,
    /// A wave of 12 rows with an autoregression of 0.6.
    Season,
    /// A random walk.
    Walk,
    /// Student's t with three degrees of freedom.
    HeavyTails,
    /// A wave with exponential noise.
    Skewed,
    /// Noise that is three times as large in every other 500 rows.
    ChangingNoise,
    /// A table with noise that grows with an input.
    Table,
    /// A table with a target that drifts.
    DriftingTable,
}

impl CoverageKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Noise,
        Self::Season,
        Self::Walk,
        Self::HeavyTails,
        Self::Skewed,
        Self::ChangingNoise,
        Self::Table,
        Self::DriftingTable,
    ];

    /// What has intervals for it.
    #[must_use]
    pub fn subjects(self) -> [&'static str; 2] {
        if self.is_table() { ["krls", "auto"] } else { ["Seasons", "Experts"] }
    }

    fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::DriftingTable)
    }

    /// The input and the value of row `t`; `walk` is the state of the noise.
    fn row(self, t: usize, walk: &mut f64, generator: &mut ChaCha8Rng) -> ([f64; 2], f64) {
        let x = [generator.random::<f64>(), generator.random::<f64>()];
        let noise = normal(generator);
        let time = t as f64;
        let wave = 10.0 + 2.0 * (std::f64::consts::TAU * time / 12.0).sin();
        let y = match self {
            Self::Noise => 10.0 + noise,
            Self::Season => {
                *walk = 0.6 * *walk + noise;
                wave + *walk
            }
            Self::Walk => {
                *walk += noise;
                *walk
            }
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| normal(generator).powi(2)).sum();
                10.0 + noise / (squares / 3.0).sqrt()
            }
            Self::Skewed => wave - (1.0 - generator.random::<f64>()).ln(),
            Self::ChangingNoise => 10.0 + if (t / 500).is_multiple_of(2) { noise } else { 3.0 * noise },
            Self::Table => (3.0 * x[0]).sin() + (0.02 + 0.2 * x[1]) * noise,
            Self::DriftingTable => (3.0 * x[0] + time / 2000.0).sin() * (2.0 * x[1] + 0.5).cos() + 0.05 * noise,
        };
        (x, y)
    }
}

/// A share of intervals that are asked for `asked`.
#[derive(Clone, Debug)]
pub struct HeldShare {
    /// The series or table.
    pub kind: CoverageKind,
    /// The forecaster or learner.
    pub subject: &'static str,
    /// The share that was asked for.
    pub asked: f64,
    /// Shares before and after the stress.
    pub held: [f64; 2],
    /// Predictions outside of their own intervals.
    pub outside: usize,
}

impl HeldShare {
    /// True if both shares are right, and every interval holds its prediction.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.outside == 0 && self.held.iter().all(|held| (held - self.asked).abs() <= WITHIN)
    }
}

impl fmt::Display for HeldShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, subject, asked, held: [before, after], outside } = self;
        let mark = if self.is_right() { "" } else { "**" };
        write!(f, "| {kind:?} | {subject} | {asked} | {mark}{before:.3}{mark} | {mark}{after:.3}{mark} | {outside} |")
    }
}

/// A prediction with the ends of its interval, made before its row is learnt.
trait Bounded {
    fn step(&mut self, x: [f64; 2], y: f64) -> StressResult<(f64, [f64; 2])>;
}

struct BoundedForecaster {
    forecaster: AnyForecaster,
    around: ConformalIntervals,
    tail: f64,
}

impl Bounded for BoundedForecaster {
    fn step(&mut self, _: [f64; 2], y: f64) -> StressResult<(f64, [f64; 2])> {
        let made = self.forecaster.predict(&[])?[0];
        let reach = self.around.radius(0);
        let ends = match &self.forecaster {
            AnyForecaster::Seasons(seasons) => [self.tail, 1.0 - self.tail].map(|p| seasons.quantile(0, p, 1, made)),
            _ => [made - reach, made + reach],
        };
        self.forecaster.observe(&[], &[y])?;
        self.around.observe(&[made], &[y])?;
        Ok((made, ends))
    }
}

struct BoundedLearner {
    learner: ScaledTargets<mercer_registry::AnyRegressor<mercer_kernels::AnyKernel>>,
    around: LearnerIntervals,
    scratch: Scratch,
}

impl Bounded for BoundedLearner {
    fn step(&mut self, x: [f64; 2], y: f64) -> StressResult<(f64, [f64; 2])> {
        let (mut made, mut reach) = ([0.0], [0.0; 2]);
        let Self { learner, around, scratch } = self;
        around.learn(learner, &x[..], Target::weighted(&[y], 1.0), scratch, &mut made, &mut reach)?;
        Ok((made[0], [made[0] - reach[0], made[0] + reach[1]]))
    }
}

fn made(subject: &str, coverage: f64) -> StressResult<Box<dyn Bounded>> {
    let params = IntervalParams::default().coverage(coverage);
    if let Some(entry) = catalogue::entries().iter().find(|entry| entry.name == subject) {
        let wanted: &[&str] =
            if subject == "auto" { &["budget=300000", "neighbours=8"] } else { &["max_dictionary=50"] };
        let built = Settings::new(entry, wanted.iter().copied())?
            .build("gaussian:0.3".parse()?, &Context { dimension: 2, ..Context::default() })?;
        let learner = ScaledTargets::unscaled(built.learner).screening(Outliers::Weigh);
        let scale = if subject == "auto" { IntervalScale::Sides } else { IntervalScale::Error };
        let around = LearnerIntervals::new(1, params, scale)?;
        return Ok(Box::new(BoundedLearner { learner, around, scratch: Scratch::default() }));
    }
    let forecaster = if subject == "Seasons" {
        let params = SeasonParams::default().periods(Periods::Given(vec![12])).detail(Detail::Light).coverage(coverage);
        Seasons::new(1, 0, &params)?.into()
    } else {
        series::made(subject, 1)?
    };
    let around = ConformalIntervals::new(1, params)?;
    Ok(Box::new(BoundedForecaster { forecaster, around, tail: (1.0 - coverage) / 2.0 }))
}

/// The shares of a subject on a kind, over so many rows before the stress and after it.
///
/// # Errors
/// When the subject cannot be made, or refuses a row.
pub fn held(kind: CoverageKind, subject: &'static str, asked: f64, rows: usize) -> StressResult<HeldShare> {
    let mut bounded = made(subject, asked)?;
    let (mut generator, mut walk) = (ChaCha8Rng::seed_from_u64(11), 0.0);
    let outage = FIRST + rows;
    let again = outage + OUTAGE + RECOVERY;
    let (mut inside, mut outside) = ([0; 2], 0);
    for t in 0..again + rows {
        let (x, mut y) = kind.row(t, &mut walk, &mut generator);
        if t >= outage {
            let level = if kind.is_table() { 0.0 } else { 1000.0 };
            y = if t < outage + OUTAGE { -9999.0 } else { y + level };
        }
        let (made, [low, high]) = bounded.step(x, y)?;
        let part = usize::from(t >= outage);
        if (FIRST..outage).contains(&t) || t >= again {
            inside[part] += u32::from((low..=high).contains(&y));
            outside += usize::from(!(low..=high).contains(&made));
        }
    }
    Ok(HeldShare { kind, subject, asked, held: inside.map(|inside| f64::from(inside) / rows as f64), outside })
}

/// All shares, on so many threads.
///
/// # Errors
/// As [`held`].
pub fn all(rows: usize, threads: usize) -> StressResult<Vec<HeldShare>> {
    let mut wanted = Vec::new();
    for kind in CoverageKind::ALL {
        for subject in kind.subjects() {
            wanted.extend(ASKED.map(|asked| (kind, subject, asked)));
        }
    }
    let each = wanted.len().div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        let parts: Vec<_> = wanted
            .chunks(each)
            .map(|part| {
                let of = |wanted: &(_, _, f64)| held(wanted.0, wanted.1, wanted.2, rows);
                scope.spawn(move || part.iter().map(of).collect::<StressResult<Vec<_>>>())
            })
            .collect();
        let mut shares = Vec::new();
        for part in parts {
            shares.extend(part.join().map_err(|_| "a run panicked")??);
        }
        Ok(shares)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_share_is_one() {
        let share = |held, outside| HeldShare { kind: CoverageKind::Noise, subject: "", asked: 0.9, held, outside };
        assert!(share([0.9, 0.88], 0).is_right());
        assert!(
            !share([0.9, 0.86], 0).is_right() && !share([0.94, 0.9], 0).is_right() && !share([0.9; 2], 1).is_right()
        );
    }
}
