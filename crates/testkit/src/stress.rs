//! Learners × stresses: what one row, or a run of rows, leaves behind in every learner.
//!
//! A cell of the matrix is a learner of the [catalogue](subjects) under a [stress](STRESSES). The
//! stream is that of `soak`: two inputs, a smooth target of the order of 1 with noise 0.05, the
//! Gaussian kernel of width 0.3, the command's screen for wrong targets. It has a middle, where the
//! stress is over (weights go on to the end). The cell holds if the median absolute error of the
//! [`SCORED`] right rows that begin 500 rows behind the middle is at most three times that of the
//! same stream without the stress, or 1.1 times that of the mean of the last 200 targets
//! where this is larger, and if no prediction on the way was a million times as large as the right
//! targets. A row may instead be refused by name: with a remedy, and not as a divergence.
//!
//! Learners of classes are scored by their mistakes, of which a stress may add one in
//! five rows, and meet the stresses of weights and inputs.
//! [`series`] has the same for forecasters, [`coverage`] the shares that intervals hold.

pub mod coverage;
pub mod series;
mod table;

use std::collections::VecDeque;
use std::sync::Mutex;

use mercer_core::ExampleError;
use mercer_encoding::ScaledTargets;
use mercer_experts::Outliers;
use mercer_kernels::AnyKernel;
use mercer_learners::{Error, RegressorExt, Target};
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{self, Context, Entry, Settings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use table::{Matrix, MatrixParams};

/// The result of a run that could not even begin.
pub type StressResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Rows whose errors are scored.
pub const SCORED: usize = 300;

/// Rows behind the middle before they are.
const RECOVERY: usize = 500;

/// Rows of a stream after its middle.
pub const BEHIND: usize = RECOVERY + SCORED;

/// Targets in the mean that a learner is compared with.
const WINDOW: usize = 200;

/// How far the share of right classes may fall.
const FALL: f64 = 0.2;

/// Size of a prediction that never holds, where targets are of the order of 1.
const EXPLODED: f64 = 1e6;

/// What is done to the stream of a learner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stress {
    /// From a quarter of the stream on, every so-many-th row has this weight.
    Weights(f64, usize),
    /// So many targets of −9999 in a row, the last at the middle.
    Run(usize),
    /// Two classes, inside of a circle and outside, and from a quarter of the stream on, every
    /// so-many-th row has this weight.
    ClassWeights(f64, usize),
    /// Five targets of −9999 every 500 rows.
    Runs,
    /// So many different targets of the order of 1e6 in a row, the last at the middle.
    Wild(usize),
    /// One target of this size at the middle.
    Wrong(f64),
    /// So many first targets are 0, then one is this.
    Start(usize, f64),
    /// An input is 0 until the middle, then once this, then it moves.
    Late(f64),
    /// An input is once this at the middle.
    Input(f64),
    /// All inputs are the same until the middle.
    Alike,
    /// The regulariser has this value, and 1e-8 without the stress.
    Ridge(f64),
}

impl Stress {
    /// One with the same stream and learner where there is no stress.
    fn undisturbed(self) -> Self {
        match self {
            Self::Start(zeros, _) => Self::Start(zeros, 0.0),
            Self::Late(_) => Self::Late(0.0),
            Self::ClassWeights(..) => Self::ClassWeights(1.0, 1),
            Self::Ridge(_) => Self::Ridge(0.0),
            _ => Self::Run(0),
        }
    }
}

/// Outcomes without a stress of the learners of a matrix, by column and stress: many stresses have
/// the same.
struct Undisturbed<S, O>(Mutex<Vec<((usize, S), O)>>);

impl<S: Copy + PartialEq, O: Clone> Undisturbed<S, O> {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The outcome, which is made where it is not known.
    fn find(&self, key: (usize, S), make: impl FnOnce() -> StressResult<O>) -> StressResult<O> {
        let known = || Some(self.0.lock().ok()?.iter().find(|(known, _)| *known == key)?.1.clone());
        if let Some(known) = known() {
            return Ok(known);
        }
        let made = make()?;
        self.0.lock().into_iter().for_each(|mut all| all.push((key, made.clone())));
        Ok(made)
    }
}

/// The stresses of learners, with their names.
pub const STRESSES: [(&str, Stress); 23] = [
    ("weight 30, every 2nd", Stress::Weights(30.0, 2)),
    ("weight 100, every 10th", Stress::Weights(100.0, 10)),
    ("weight 1e4, every 10th", Stress::Weights(1e4, 10)),
    ("weight 1e12, every 10th", Stress::Weights(1e12, 10)),
    ("weight 1e17, every 10th", Stress::Weights(1e17, 10)),
    ("class weight 30, every 2nd", Stress::ClassWeights(30.0, 2)),
    ("class weight 1000, every 2nd", Stress::ClassWeights(1000.0, 2)),
    ("3 × −9999", Stress::Run(3)),
    ("10 × −9999", Stress::Run(10)),
    ("30 × −9999", Stress::Run(30)),
    ("5 × −9999 every 500", Stress::Runs),
    ("10 wild in a row", Stress::Wild(10)),
    ("30 wild in a row", Stress::Wild(30)),
    ("one 1e9", Stress::Wrong(1e9)),
    ("20 zeros, −9999", Stress::Start(20, -9999.0)),
    ("60 zeros, 1e9", Stress::Start(60, 1e9)),
    ("300 zeros, 1e6", Stress::Start(300, 1e6)),
    ("late input, 1e9", Stress::Late(1e9)),
    ("input 1e9", Stress::Input(1e9)),
    ("input 1e100", Stress::Input(1e100)),
    ("one input at first", Stress::Alike),
    ("ridge 1e-10", Stress::Ridge(1e-10)),
    ("ridge 1e-14", Stress::Ridge(1e-14)),
];

/// Keys of a regulariser, in the learners in which they are one.
const REGULARISERS: [(&str, &[&str]); 3] = [
    (
        "lambda",
        &[
            "krls",
            "kernel-awv",
            "kernel-krr",
            "pkawv-taylor",
            "pkrr-taylor",
            "pkawv-nystrom",
            "pkrr-nystrom",
            "sw-krls",
            "fb-krls",
            "ex-krls",
            "krmc",
        ],
    ),
    ("mu", &["kons", "sketched-kons", "nons-ald"]),
    ("alpha", &["pros-n-kons", "con-kons"]),
];

/// Sizes that let long streams pass in seconds, for keys of that name.
const SIZES: [(&str, &str); 6] = [
    ("max_dictionary", "max_dictionary=100"),
    ("budget", "budget=100"),
    ("window", "window=50"),
    ("tau", "tau=100"),
    ("features", "features=100"),
    ("rank", "rank=50"),
];

/// Learners that keep every point until they are full, and learn nothing from others then.
const KEEPS_EVERY: [&str; 5] = ["klms", "lkapa", "nlkapa", "mxklms", "ex-krls"];

/// A learner in the matrix.
#[derive(Clone, Debug)]
pub struct StressSubject {
    /// As it is called.
    pub name: String,
    entry: &'static Entry,
    settings: Vec<String>,
    /// True if its memory grows, so that its streams are short.
    pub grows: bool,
}

/// Every learner of the catalogue, and the removing and forgetting forms of some.
///
/// # Errors
/// When a setting is not one.
pub fn subjects() -> Vec<StressSubject> {
    let mut all = Vec::new();
    for entry in catalogue::entries() {
        let sizes = SIZES.iter().filter(|(key, _)| entry.name != "auto" && entry.key(key).is_some());
        let mut base: Vec<String> = sizes.map(|(_, set)| (*set).to_owned()).collect();
        match entry.name {
            "auto" => base.extend(["budget=300000", "neighbours=8"].map(str::to_owned)),
            "experts" => {
                base.push("members=nons-ald max_dictionary=50; krls max_dictionary=50; fogd features=50".into());
            }
            // Every point is kept until the dictionary is full, and others teach nothing after.
            name if KEEPS_EVERY.contains(&name) => base = vec!["max_dictionary=700".into()],
            "restart" | "robust" => base.push("learner=krls max_dictionary=100".into()),
            _ => {}
        }
        let by_settings = ["experts", "restart", "robust"].contains(&entry.name);
        let grows = entry.growth.is_some() && !by_settings || KEEPS_EVERY.contains(&entry.name);
        let mut push = |name: String, more: Option<&str>| {
            let settings = base.iter().map(String::as_str).chain(more).map(str::to_owned).collect();
            all.push(StressSubject { name, entry, settings, grows });
        };
        push(entry.name.to_owned(), None);
        if entry.key("removal").is_some() && !grows {
            push(format!("{} removal=oldest", entry.name), Some("removal=oldest"));
        }
    }
    all
}

/// A row of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StressRow {
    x: [f64; 2],
    y: f64,
    weight: f64,
    /// False if its target is wrong on purpose.
    right: bool,
}

/// Row `t` of a stream whose middle is `middle`; `stressed` or not.
fn row(stress: Stress, stressed: bool, t: usize, middle: usize, generator: &mut ChaCha8Rng) -> StressRow {
    let mut uniform = || generator.random::<f64>();
    let mut x = [uniform(), uniform()];
    let noise = 0.05 * 12.0_f64.sqrt() * (uniform() - 0.5);
    if matches!(stress, Stress::Late(_)) && t < middle {
        x[1] = 0.0;
    }
    if stressed && stress == Stress::Alike && t < middle {
        x = [0.5; 2];
    }
    let mut row = StressRow { x, y: (3.0 * x[0]).sin() * (2.0 * x[1] + 0.5).cos() + noise, weight: 1.0, right: true };
    match stress {
        Stress::Start(zeros, _) if t < zeros => row.y = 0.0,
        // As many rows inside of the circle as outside.
        Stress::ClassWeights(..) => row.y = 0.16 - (x[0] - 0.5).powi(2) - (x[1] - 0.5).powi(2) + 0.2 * noise,
        _ => {}
    }
    let wrong = |y| StressRow { y, right: false, ..row };
    match stress {
        _ if !stressed => {}
        Stress::Weights(weight, every) | Stress::ClassWeights(weight, every)
            if 4 * t >= middle && t.is_multiple_of(every) =>
        {
            row.weight = weight;
        }
        Stress::Run(count) if (middle - count..middle).contains(&t) => row = wrong(-9999.0),
        Stress::Wild(count) if (middle - count..middle).contains(&t) => row = wrong(1e6 * (x[0] - 0.5)),
        Stress::Runs if t % 500 >= 495 => row = wrong(-9999.0),
        Stress::Wrong(value) if t + 1 == middle => row = wrong(value),
        Stress::Start(zeros, value) if t == zeros => row = wrong(value),
        Stress::Late(value) if t == middle => row = StressRow { x: [x[0], value], right: false, ..row },
        Stress::Input(value) if t + 1 == middle => row = StressRow { x: [x[0], value], right: false, ..row },
        _ => {}
    }
    row
}

/// A learner as the matrix sees it.
pub trait Stepper {
    /// Predicts a row, then learns it.
    ///
    /// # Errors
    /// When the row is refused.
    fn step(&mut self, x: [f64; 2], y: f64, weight: f64) -> Result<f64, Error>;
}

impl Stepper for ScaledTargets<AnyRegressor<AnyKernel>> {
    fn step(&mut self, x: [f64; 2], y: f64, weight: f64) -> Result<f64, Error> {
        let mut score = [0.0];
        self.learn(&x, Target::weighted(&[y], weight), &mut score)?;
        Ok(score[0])
    }
}

impl StressSubject {
    /// True if it learns nothing but classes.
    #[must_use]
    pub fn classifies(&self) -> bool {
        !self.entry.takes.numbers()
    }

    /// True if the stress means something to it.
    #[must_use]
    pub fn meets(&self, stress: Stress) -> bool {
        match stress {
            Stress::Ridge(_) => self.regulariser().is_some(),
            Stress::Weights(..) | Stress::Input(_) => true,
            Stress::ClassWeights(..) => !self.classifies(),
            _ => !self.classifies(),
        }
    }

    fn regulariser(&self) -> Option<&'static str> {
        REGULARISERS.iter().find(|(_, names)| names.contains(&self.entry.name)).map(|(key, _)| *key)
    }

    fn make(&self, stress: Stress, stressed: bool) -> StressResult<Box<dyn Stepper>> {
        let mut settings = self.settings.clone();
        if let (Stress::Ridge(value), Some(key)) = (stress, self.regulariser()) {
            settings.push(format!("{key}={:e}", if stressed { value } else { 1e-8 }));
        }
        let classes = self.classifies() || matches!(stress, Stress::ClassWeights(..));
        let context = Context { dimension: 2, classes, ..Context::default() };
        let settings = Settings::new(self.entry, settings.iter().map(String::as_str))?;
        let built = settings.build("gaussian:0.3".parse()?, &context)?;
        let plain = ScaledTargets::unscaled(built.learner);
        Ok(Box::new(if classes { plain } else { plain.screening(Outliers::Weigh) }))
    }
}

/// Outcome of a stream: median absolute errors, or shares of wrong classes.
#[derive(Clone, Copy, Debug)]
pub struct StressOutcome {
    /// Of the learner; infinite where it exploded on the way.
    pub error: f64,
    /// Of the mean of the last targets.
    pub mean: f64,
}

/// Why a cell does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It holds: the error as a multiple of the undisturbed one.
    Held(f64),
    /// The row was refused with a remedy.
    Refused(String),
    /// The stress says nothing to this learner.
    Idle,
    /// It does not hold: the error as a multiple of the undisturbed one.
    Ruined(f64),
    /// It diverged.
    Diverged(String),
}

impl Verdict {
    /// True if the cell is one that fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        matches!(self, Self::Ruined(_) | Self::Diverged(_))
    }

    /// The verdict on an error, beside that without the stress and a constant's.
    #[must_use]
    pub fn new(error: f64, undisturbed: f64, constant: f64) -> Self {
        let ratio = error / undisturbed;
        if error <= (3.0 * undisturbed).max(1.1 * constant) { Self::Held(ratio) } else { Self::Ruined(ratio) }
    }

    /// The verdict on a share of wrong classes, beside that without the stress.
    #[must_use]
    pub fn of_shares(error: f64, undisturbed: f64) -> Self {
        let ratio = error / undisturbed;
        if error <= undisturbed + FALL { Self::Held(ratio) } else { Self::Ruined(ratio) }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Held(ratio) => write!(f, "{ratio:.2}"),
            Self::Refused(_) => f.write_str("refused"),
            Self::Idle => f.write_str("–"),
            Self::Ruined(ratio) if ratio.is_finite() && *ratio < 1e4 => write!(f, "**{ratio:.1}**"),
            Self::Ruined(ratio) if ratio.is_finite() => write!(f, "**{ratio:.0e}**"),
            Self::Ruined(_) => f.write_str("**∞**"),
            Self::Diverged(_) => f.write_str("**diverged**"),
        }
    }
}

/// The median, which half of the values may spoil.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Outcome of a learner on a stream.
///
/// # Errors
/// The first row that is refused.
pub fn outcome(
    learner: &mut dyn Stepper,
    classes: bool,
    stress: Stress,
    stressed: bool,
    middle: usize,
) -> Result<StressOutcome, Error> {
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let (mut errors, mut constants) = (Vec::new(), Vec::new());
    let mut window = VecDeque::new();
    let mut exploded = false;
    for t in 0..middle + BEHIND {
        let StressRow { x, mut y, weight, right } = row(stress, stressed, t, middle, &mut generator);
        if classes {
            y = 1_f64.copysign(y);
        }
        let made = learner.step(x, y, weight)?;
        exploded |= !classes && made.abs() > EXPLODED;
        let mean = window.iter().sum::<f64>() / window.len().max(1) as f64;
        let error = |made: f64| if classes { f64::from(made * y <= 0.0) } else { (made - y).abs() };
        if t >= middle + RECOVERY && right {
            errors.push(error(made));
            constants.push(error(mean));
        }
        if right {
            window.push_back(y);
            window.drain(..window.len().saturating_sub(WINDOW));
        }
    }
    let summary = |values: &mut [f64]| {
        if classes { values.iter().sum::<f64>() / values.len() as f64 } else { median(values) }
    };
    let error = if exploded { f64::INFINITY } else { summary(&mut errors) };
    Ok(StressOutcome { error, mean: summary(&mut constants) })
}

/// The cell of a learner under a stress, in that column.
fn cell(
    (column, subject): (usize, &StressSubject),
    stress: Stress,
    middle: usize,
    known: &Undisturbed<Stress, StressOutcome>,
) -> StressResult<Verdict> {
    if !subject.meets(stress) {
        return Ok(Verdict::Idle);
    }
    let classes = subject.classifies() || matches!(stress, Stress::ClassWeights(..));
    let usual = stress.undisturbed();
    let undisturbed = known
        .find((column, usual), || Ok(outcome(&mut *subject.make(usual, false)?, classes, usual, false, middle)?))?;
    let mut learner = match subject.make(stress, true) {
        Ok(learner) => learner,
        Err(refused) => return Ok(Verdict::Refused(refused.to_string())),
    };
    Ok(match outcome(&mut *learner, classes, stress, true, middle) {
        Ok(StressOutcome { error, .. }) if classes => Verdict::of_shares(error, undisturbed.error),
        Ok(StressOutcome { error, mean }) => Verdict::new(error, undisturbed.error, mean),
        Err(Error::Example(error @ (ExampleError::Diverged | ExampleError::KernelOverflow))) => {
            Verdict::Diverged(error.to_string())
        }
        Err(refused) => Verdict::Refused(refused.to_string()),
    })
}

/// Middle of the stream of a learner, for streams of so many rows.
#[must_use]
pub fn middle(subject: &StressSubject, rows: usize) -> usize {
    let longest = if KEEPS_EVERY.contains(&subject.entry.name) { 1400 } else { 2000 };
    rows.min(if subject.grows { longest } else { rows }).saturating_sub(BEHIND).max(600)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predicts the mean of all targets so far.
    #[derive(Default)]
    struct RunningMean(f64, f64);

    impl Stepper for RunningMean {
        fn step(&mut self, _: [f64; 2], y: f64, weight: f64) -> Result<f64, Error> {
            let made = self.0;
            self.1 += weight;
            self.0 += weight * (y - self.0) / self.1;
            Ok(made)
        }
    }

    /// Doubles its prediction with every heavy row.
    struct Exploding(f64);

    impl Stepper for Exploding {
        fn step(&mut self, _: [f64; 2], _: f64, weight: f64) -> Result<f64, Error> {
            self.0 *= if weight > 1.0 { 2.0 } else { 1.0 };
            Ok(self.0)
        }
    }

    fn judged(make: impl Fn() -> Box<dyn Stepper>, stress: Stress) -> Verdict {
        let error = |stressed| outcome(&mut *make(), false, stress, stressed, 600).unwrap();
        Verdict::new(error(true).error, error(false).error, error(true).mean)
    }

    #[test]
    fn controls_fail_where_they_must() {
        let mean = || Box::new(RunningMean::default()) as Box<dyn Stepper>;
        assert!(!judged(mean, Stress::Weights(30.0, 2)).fails());
        assert!(judged(mean, Stress::Run(10)).fails(), "a mean without a screen is ruined by sentinels");
        assert!(judged(|| Box::new(Exploding(0.1)), Stress::Weights(30.0, 2)).fails());
        assert!(Verdict::of_shares(0.48, 0.2).fails() && !Verdict::of_shares(0.28, 0.2).fails());
    }
}
