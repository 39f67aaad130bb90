//! Forecasters × stresses, as [learners](super) are.
//!
//! A series has two columns: `y = 10 + 2 sin(2πt/12)` with an autoregression of 0.6 of standard
//! normal noise, and `z`, standard normal. Forecasts of one step are scored where a value is there
//! and right. A forecast also lies inside its own interval of 0.9, and that interval covers 0.9 of
//! the scored values, within 0.03 and three standard deviations of the count. The prediction that a
//! forecaster tells when it learns a row is the one that it made before the row was there.

use std::collections::VecDeque;

use mercer_forecast::{
    AnyForecaster, ConformalIntervals, Discounted, DiscountedParams, EpochSchedule, Error, ForecastMixture,
    ForecastScratch, Forecaster, GridParams, GuardedForecaster, IntervalParams, LastValue, LinearExtrapolation, Opf,
    OpfParams, Periods, ScaledForecaster, ScaledParams, SeasonParams, Seasons, Slip, SlipParams, SpectralFilter,
    SpectralParams, WindowedSlip, WindowedSlipParams,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{BEHIND, RECOVERY, StressResult, Undisturbed, Verdict, WINDOW, median};
use crate::streams::normal;

/// What is done to a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeriesStress {
    /// So many values of −9999 in a row in `y`, the last at the middle.
    Run(usize),
    /// Five of them every 500 rows.
    Runs,
    /// One value of this size at the middle.
    Wrong(f64),
    /// One of this size in a row of the beginning.
    Early(usize, f64),
    /// `y` moves by this at the middle, and stays.
    Level(f64),
    /// `y` moves by this, and back after so many rows, at the middle.
    Step(f64, usize),
    /// So many first values are 0.
    Zeros(usize),
    /// So many first values are 0, then one is this.
    Start(usize, f64),
    /// This share of `y` is missing.
    Gaps(f64),
    /// `z` is always missing.
    Empty,
    /// `z` is missing until the middle.
    Late,
}

impl SeriesStress {
    /// One with the same series where there is no stress.
    fn undisturbed(self) -> Self {
        match self {
            Self::Start(zeros, _) => Self::Start(zeros, 0.0),
            Self::Gaps(_) => Self::Gaps(0.0),
            _ => Self::Run(0),
        }
    }
}

/// The stresses of series, with their names.
pub const STRESSES: [(&str, SeriesStress); 18] = [
    ("3 × −9999", SeriesStress::Run(3)),
    ("10 × −9999", SeriesStress::Run(10)),
    ("30 × −9999", SeriesStress::Run(30)),
    ("5 × −9999 every 500", SeriesStress::Runs),
    ("one 1e9", SeriesStress::Wrong(1e9)),
    ("−9999 in row 1", SeriesStress::Early(0, -9999.0)),
    ("1e9 in row 2", SeriesStress::Early(1, 1e9)),
    ("level + 3e3", SeriesStress::Level(3e3)),
    ("level + 3e5", SeriesStress::Level(3e5)),
    ("level + 1e6", SeriesStress::Level(1e6)),
    ("3e3 for 40 rows", SeriesStress::Step(3e3, 40)),
    ("300 zeros", SeriesStress::Zeros(300)),
    ("20 zeros, −9999", SeriesStress::Start(20, -9999.0)),
    ("300 zeros, 1e6", SeriesStress::Start(300, 1e6)),
    ("80 % gaps", SeriesStress::Gaps(0.8)),
    ("97 % gaps", SeriesStress::Gaps(0.97)),
    ("empty column", SeriesStress::Empty),
    ("late column", SeriesStress::Late),
];

/// The forecasters of the matrix: those of [`AnyForecaster`] that know no system, behind scales as
/// the command makes them.
#[must_use]
pub fn subjects() -> Vec<&'static str> {
    let known = ["KalmanPredictor", "LinearExtrapolation", "Scaled", "Guarded"];
    AnyForecaster::NAMES.iter().copied().filter(|name| !known.contains(name)).collect()
}

/// The forecaster of that name, of so many outputs, with the command's defaults.
///
/// # Errors
/// When there is no such one.
pub(super) fn made(name: &str, outputs: usize) -> StressResult<AnyForecaster> {
    const LAMBDA: f64 = 0.01;
    let schedule = EpochSchedule { beta: 2.5, t_init: 60, max_lags: None };
    let inner: AnyForecaster = match name {
        "Opf" => Opf::new(outputs, &OpfParams::default().schedule(schedule).lambda(LAMBDA))?.into(),
        "Discounted" => {
            Discounted::new(outputs, &DiscountedParams::default().schedule(schedule).lambda(LAMBDA).alpha(0.99))?.into()
        }
        "Slip" => Slip::new(outputs, &SlipParams::default().lambda(LAMBDA))?.into(),
        "WindowedSlip" => {
            WindowedSlip::new(outputs, &WindowedSlipParams::default().schedule(schedule).lambda(LAMBDA))?.into()
        }
        "SpectralFilter" => SpectralFilter::new(outputs, &SpectralParams::default())?.into(),
        "LastValue" => LastValue::new(outputs).into(),
        "LinearExtrapolation" => LinearExtrapolation::new(outputs).into(),
        "Experts" => ForecastMixture::<Opf>::grid(outputs, &GridParams::default().schedule(schedule).lambda(LAMBDA))?
            .recovering()
            .into(),
        "Seasons" => {
            return Ok(Seasons::new(outputs, 0, &SeasonParams::default().periods(Periods::Given(vec![12])))?.into());
        }
        other => return Err(format!("the matrix does not know how to make {other}").into()),
    };
    let scaled: AnyForecaster = ScaledForecaster::new(inner, ScaledParams::default())?.into();
    Ok(GuardedForecaster::new(scaled)?.into())
}

/// The values of row `t`, NaN where one is missing, and which are right.
fn row(
    stress: SeriesStress,
    stressed: bool,
    t: usize,
    middle: usize,
    generator: &mut ChaCha8Rng,
    noise: &mut f64,
) -> ([f64; 2], bool) {
    *noise = 0.6 * *noise + normal(generator);
    let mut y = 10.0 + 2.0 * (std::f64::consts::TAU * t as f64 / 12.0).sin() + *noise;
    let mut z = normal(generator);
    let missing = generator.random::<f64>();
    let mut right = true;
    let mut wrong = |value| {
        right = false;
        value
    };
    match stress {
        SeriesStress::Start(zeros, _) | SeriesStress::Zeros(zeros)
            if t < zeros && (stressed || stress != SeriesStress::Zeros(zeros)) =>
        {
            y = 0.0;
        }
        _ if !stressed => {}
        SeriesStress::Run(count) if (middle - count..middle).contains(&t) => y = wrong(-9999.0),
        SeriesStress::Runs if t % 500 >= 495 => y = wrong(-9999.0),
        SeriesStress::Wrong(value) if t + 1 == middle => y = wrong(value),
        SeriesStress::Early(row, value) if t == row => y = wrong(value),
        SeriesStress::Start(zeros, value) if t == zeros => y = wrong(value),
        SeriesStress::Level(by) if t >= middle => y += by,
        SeriesStress::Step(by, rows) if (middle - rows..middle).contains(&t) => y += by,
        SeriesStress::Gaps(share) if missing < share => y = f64::NAN,
        SeriesStress::Empty => z = f64::NAN,
        SeriesStress::Late if t < middle => z = f64::NAN,
        _ => {}
    }
    ([y, z], right)
}

/// Scores of a forecaster.
#[derive(Clone, Debug)]
pub(super) struct SeriesOutcome {
    error: f64,
    mean: f64,
    /// Share of the scored values inside of their intervals, and their number.
    coverage: (f64, usize),
    /// Forecasts outside of their own intervals.
    outside: usize,
    /// Predictions told with a row that were others before it.
    peeked: usize,
}

/// True if a prediction is the one that was made before its row.
fn is_same(before: f64, told: f64) -> bool {
    (before - told).abs() <= 1e-9 * before.abs().max(1.0)
}

/// The interval of 0.9 around a prediction.
fn interval(forecaster: &AnyForecaster, around: &ConformalIntervals, output: usize, made: f64) -> Option<(f64, f64)> {
    match forecaster {
        AnyForecaster::Seasons(seasons) => {
            Some((seasons.quantile(output, 0.05, 1, made), seasons.quantile(output, 0.95, 1, made)))
        }
        _ => Some((made - around.radius(output), made + around.radius(output))),
    }
}

fn outcome(
    name: &str,
    stress: SeriesStress,
    stressed: bool,
    middle: usize,
) -> StressResult<Result<SeriesOutcome, Error>> {
    let mut forecaster = made(name, 2)?;
    let mut around = ConformalIntervals::new(2, IntervalParams::default().coverage(0.9))?;
    let mut generator = ChaCha8Rng::seed_from_u64(3);
    let (mut errors, mut constants, mut windows) = (Vec::new(), Vec::new(), [VecDeque::new(), VecDeque::new()]);
    let (mut noise, mut exploded, mut inside, mut outside) = (0.0, false, 0, 0);
    // Gaps leave few values to be scored.
    let end = middle + BEHIND + if let SeriesStress::Gaps(_) = stress { 2000 } else { 0 };
    let (mut largest, mut peeked, mut scratch) = (100.0_f64, 0, ForecastScratch::default());
    for t in 0..end {
        let (values, right) = row(stress, stressed, t, middle, &mut generator, &mut noise);
        let scored = t >= middle + RECOVERY;
        let mut prediction = [0.0; 2];
        let mut made_before = [0.0; 2];
        let foretold = forecaster.predict_with(&[], &mut made_before, &mut scratch);
        let intervals =
            scored.then(|| [0, 1].map(|output| interval(&forecaster, &around, output, made_before[output])));
        if let Err(error) = forecaster.predict_then_observe(&[], &values, &mut prediction) {
            return Ok(Err(error));
        }
        let same = foretold.is_err() || made_before.iter().zip(&prediction).all(|(a, b)| is_same(*a, *b));
        peeked += usize::from(!same);
        for (output, (y, made)) in values.into_iter().zip(prediction).enumerate() {
            exploded |= made.abs() > 10.0 * largest;
            let window = &mut windows[output];
            largest = if y.is_nan() { largest } else { largest.max(y.abs()) };
            if y.is_nan() || (output == 0 && !right) {
                continue;
            }
            if let Some(intervals) = &intervals {
                let mean = window.iter().sum::<f64>() / window.len().max(1) as f64;
                errors.push((made - y).abs());
                constants.push((mean - y).abs());
                if let Some((low, high)) = intervals[output] {
                    inside += usize::from((low..=high).contains(&y));
                    outside += usize::from(!(low..=high).contains(&made));
                }
            }
            window.push_back(y);
            window.drain(..window.len().saturating_sub(WINDOW));
        }
        around.observe(&prediction, &values)?;
    }
    let error = if exploded { f64::INFINITY } else { median(&mut errors) };
    let coverage = (f64::from(u32::try_from(inside)?) / errors.len() as f64, errors.len());
    Ok(Ok(SeriesOutcome { error, mean: median(&mut constants), coverage, outside, peeked }))
}

/// The cell of a forecaster under a stress, in that column, and what is wrong with its intervals.
///
/// # Errors
/// When the forecaster cannot be made, or fails without a stress.
pub(super) fn cell(
    (column, name): (usize, &str),
    stress: SeriesStress,
    middle: usize,
    known: &Undisturbed<SeriesStress, SeriesOutcome>,
) -> StressResult<(Verdict, Option<String>)> {
    let usual = stress.undisturbed();
    let undisturbed = known.find((column, usual), || Ok(outcome(name, usual, false, middle)??))?;
    let stressed = match outcome(name, stress, true, middle)? {
        Ok(stressed) => stressed,
        Err(error) => return Ok((Verdict::Diverged(error.to_string()), None)),
    };
    let (share, count) = stressed.coverage;
    let allowed = 0.03 + 3.0 * (0.09 / count as f64).sqrt();
    let wrong = if stressed.peeked > 0 {
        Some(format!("{} predictions are others than those that were made before their rows", stressed.peeked))
    } else if stressed.outside > 0 {
        Some(format!("{} forecasts outside of their own intervals", stressed.outside))
    } else {
        ((share - 0.9).abs() > allowed).then(|| format!("{share:.2} of {count} values covered"))
    };
    Ok((Verdict::new(stressed.error, undisturbed.error, stressed.mean), wrong))
}
