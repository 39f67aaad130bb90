//! Long, odd and spoilt streams: every learner against a window of the last rows.
//!
//! A [stream](STREAMS) has two inputs, of the order of 1 unless they grow, and a target of the
//! order of 1 with noise 0.05. A [subject](subjects) is a learner with settings, as `mercer eval
//! --learner` takes it, on the Gaussian kernel of width 0.3, without scales and with the command's
//! screen for wrong targets. Its score is the root mean squared error over the second half, as a
//! multiple of that of ridge regression on the last 200 rows (`sw-krls`). Wrong targets themselves
//! are not scored.

use anyhow::Result;
use mercer::catalogue::{self, Context, Entry, Settings};
use mercer::notes::{Cause, Face, LearningFacts, Watch};
use mercer::{AnyKernel, AnyRegressor, Regressor, RegressorExt};
use mercer_encoding::ScaledTargets;
use mercer_experts::Outliers;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The kinds of streams.
pub const STREAMS: [&str; 12] = [
    "stationary",
    "corner then all",
    "constant then moving",
    "growing inputs",
    "growing targets",
    "wandering centre",
    "zeros then signal",
    "near duplicates",
    "wrong targets",
    "switching",
    "drift",
    "vanishing class",
];

/// The learner that others are compared with.
pub const REFERENCE: &str = "sw-krls window=200 lambda=0.1";

/// The mean of the targets so far, beside the learners.
pub const MEAN: &str = "running mean";

/// Learners that the guide offers where a stream changes, jumps or is spoilt, and where it says so.
pub const OFFERED: [(&str, &[&str]); 14] = [
    ("krls forgetting=0.99 forgets=exponential", &["stationary", "corner then all", "zeros then signal", "drift"]),
    ("fogd", &["corner then all", "zeros then signal", "drift"]),
    ("restart learner=(krls lambda=0.1)", &["stationary", "zeros then signal", "switching"]),
    (EXPERTS, &["stationary", "corner then all", "zeros then signal", "wrong targets", "switching", "drift"]),
    ("krls max_dictionary=100 removal=oldest", &["stationary", "corner then all", "wandering centre"]),
    ("krls max_dictionary=100 removal=random", &["stationary", "corner then all", "wandering centre"]),
    ("sw-krls window=100", &["stationary", "wandering centre", "wrong targets", "switching", "drift"]),
    ("krls-t max_dictionary=100", &["switching", "drift"]),
    ("knlms max_dictionary=100", &["drift"]),
    ("qklms max_dictionary=100", &["drift"]),
    ("qklms-fb max_dictionary=100", &["drift"]),
    ("krmc max_dictionary=100", &["wrong targets"]),
    ("robust learner=(krls lambda=0.1)", &["stationary", "corner then all", "wrong targets"]),
    (
        "auto",
        &[
            "stationary",
            "corner then all",
            "constant then moving",
            "wandering centre",
            "near duplicates",
            "wrong targets",
            "switching",
            "drift",
        ],
    ),
];

const EXPERTS: &str = "experts rule=ewa share=auto members=(krls lambda=0.1; krls lambda=0.1 forgetting=0.99 \
                       forgets=prior; fogd; restart learner=(krls lambda=0.1))";

/// A row, and whether its target is right.
struct SoakRow {
    x: [f64; 2],
    y: f64,
    right: bool,
}

/// Row `t` of `rows` of a stream.
fn row(stream: &str, t: usize, rows: usize, generator: &mut ChaCha8Rng) -> SoakRow {
    let part = t as f64 / rows as f64;
    let first = |share: f64| part < share;
    let mut uniform = || generator.random::<f64>();
    let mut x = [uniform(), uniform()];
    let noise = 0.05 * 12.0_f64.sqrt() * (uniform() - 0.5);
    let surface = |x: [f64; 2]| (3.0 * x[0]).sin() * (2.0 * x[1] + 0.5).cos();
    let other = |x: [f64; 2]| (2.0 * x[0] * x[1] - 1.0).tanh();
    let clean = match stream {
        "corner then all" if first(0.1) => {
            x = x.map(|x| 0.25 * x);
            surface(x)
        }
        "constant then moving" if first(0.4) => {
            x = [0.5; 2];
            surface(x)
        }
        "growing inputs" => {
            let y = surface(x);
            x = x.map(|x| x * 10.0_f64.powf(part));
            y
        }
        "growing targets" => surface(x) * 1000.0_f64.powf(part),
        "wandering centre" => {
            x = x.map(|x| x + 6.0 * part);
            surface(x)
        }
        "zeros then signal" if first(0.1) => return SoakRow { x: [0.0; 2], y: 0.0, right: true },
        "near duplicates" => {
            x = x.map(|x| (4.0 * x).floor() / 4.0 + 1e-9 * x);
            surface(x)
        }
        "wrong targets" if t % 997 == 500 => return SoakRow { x, y: 1e6 * x[0].signum(), right: false },
        "switching" => surface(x) * if ((8.0 * part) as usize).is_multiple_of(2) { 1.0 } else { -1.0 },
        "drift" => {
            let (sine, cosine) = (8.0 * std::f64::consts::PI * part).sin_cos();
            cosine * surface(x) + sine * other(x)
        }
        "vanishing class" => {
            while (1.0 / 3.0..2.0 / 3.0).contains(&part) && surface(x) > 0.0 {
                x = [uniform(), uniform()];
            }
            return SoakRow { x, y: 1_f64.copysign(surface(x) + noise), right: true };
        }
        _ => surface(x),
    };
    let scale = if stream == "growing targets" { 1000.0_f64.powf(part) } else { 1.0 };
    SoakRow { x, y: clean + scale * noise, right: true }
}

/// Sizes that let a hundred thousand rows pass in seconds, for keys of that name.
const SIZES: [(&str, &str); 6] = [
    ("max_dictionary", "max_dictionary=100"),
    ("budget", "budget=100"),
    ("window", "window=50"),
    ("tau", "tau=100"),
    ("features", "features=100"),
    ("rank", "rank=50"),
];

/// All learners of numbers whose memory is bounded, with their settings of change, and what is
/// [offered](OFFERED).
#[must_use]
pub fn subjects() -> Vec<String> {
    let bounded = |entry: &&Entry| entry.takes.numbers() && (entry.growth.is_none());
    let mut all = Vec::new();
    for entry in catalogue::entries().iter().filter(bounded) {
        let sizes = SIZES.iter().filter(|(key, _)| entry.name != "auto" && entry.key(key).is_some());
        let base = sizes.fold(entry.name.to_owned(), |base, (_, set)| format!("{base} {set}"));
        if entry.key("removal").is_some() {
            all.extend(
                ["oldest", "random", "smallest", "least-significant"].map(|way| format!("{base} removal={way}")),
            );
        }
        if entry.key("forgets").is_some() {
            let ways = ["directional", "exponential", "prior"];
            all.extend(ways.map(|way| format!("{base} forgetting=0.999 forgets={way}")));
        }
        if entry.key("rule").is_some() && entry.key("forgetting").is_some() {
            all.extend(["b2p", "ui"].map(|rule| format!("{base} forgetting=0.99 rule={rule}")));
        }
        all.push(base);
    }
    all.extend(OFFERED.iter().map(|(subject, _)| (*subject).to_owned()));
    all.extend([REFERENCE, MEAN].map(str::to_owned));
    all.sort();
    all.dedup();
    all
}

/// The pairs of a subject's settings: a value in parentheses, which may hold spaces, is one.
fn pairs(settings: &str) -> Vec<String> {
    let (mut pairs, mut depth) = (vec![String::new()], 0);
    for c in settings.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match pairs.last_mut() {
            Some(pair) if c != ' ' || depth > 0 => pair.push(c),
            _ => pairs.push(String::new()),
        }
    }
    let bare = |pair: String| match pair.split_once("=(") {
        Some((key, value)) => format!("{key}={}", value.strip_suffix(')').unwrap_or(value)),
        None => pair,
    };
    pairs.into_iter().filter(|pair| !pair.is_empty()).map(bare).collect()
}

/// Outcome of a subject on a stream.
pub struct SoakOutcome {
    /// The root mean squared error over the second half.
    pub error: f64,
    /// Why something was remarked on.
    pub causes: Vec<Cause>,
}

/// A subject behind the command's screen for wrong targets, with what is to be said of it.
struct Subject {
    entry: &'static Entry,
    parameters: Vec<(String, String)>,
    learner: ScaledTargets<AnyRegressor<AnyKernel>>,
    watch: Watch,
}

/// The kernel as it is written.
const KERNEL: &str = "gaussian:0.3";

impl Subject {
    fn new(subject: &str) -> Result<Self> {
        let (name, settings) = subject.split_once(' ').unwrap_or((subject, ""));
        let settings = pairs(settings);
        let (entry, kernel) = (catalogue::find(name)?, KERNEL.parse()?);
        let context = Context { dimension: 2, ..Context::default() };
        let built = Settings::new(entry, settings.iter().map(String::as_str))?.build(kernel, &context)?;
        let parameters = built.parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect();
        let learner = ScaledTargets::unscaled(built.learner).screening(Outliers::Weigh);
        Ok(Self { entry, parameters, learner, watch: Watch::default() })
    }

    /// Predicts a row, then learns it.
    fn learn(&mut self, x: [f64; 2], y: f64) -> Result<f64> {
        let made = self.learner.predict_then_update(&x, y)?;
        self.watch.record(&x, &[made], &[y], 1.0, self.learner.dictionary_size());
        Ok(made)
    }

    fn causes(&self) -> Vec<Cause> {
        let Self { entry, parameters, learner, watch } = self;
        let (learner, rounds) = (learner.learner(), watch.rounds());
        let facts = LearningFacts { entry, kernel: KERNEL, parameters, scaled: false, learner, rounds };
        let notes = watch.notes(&facts, Face::Command).into_iter().map(|note| note.cause);
        notes.chain(self.learner.implausible().map(|_| Cause::ImplausibleTarget)).collect()
    }
}

/// Outcome of a subject on a stream.
///
/// # Errors
/// When the subject cannot be made, or diverges.
pub fn outcome(subject: &str, stream: &str, rows: usize) -> Result<SoakOutcome> {
    let mut learner = if subject == MEAN { None } else { Some(Subject::new(subject)?) };
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let (mut squares, mut count, mut mean) = (0.0, 0.0, 0.0);
    for t in 0..rows {
        let SoakRow { x, y, right } = row(stream, t, rows, &mut generator);
        let made = match &mut learner {
            Some(learner) => learner.learn(x, y)?,
            None => mean,
        };
        mean += (y - mean) / (t + 1) as f64;
        if 2 * t >= rows && right {
            squares += (made - y) * (made - y);
            count += 1.0;
        }
    }
    let causes = learner.map_or(Vec::new(), |learner| learner.causes());
    Ok(SoakOutcome { error: f64::sqrt(squares / count), causes })
}

/// Learners that must recover from one wrong target.
pub const RECOVERING: [&str; 3] = [EXPERTS, "restart learner=(krls lambda=0.1)", "auto"];

/// Rows, counted from 0, of one wrong target.
pub const PLACES: [usize; 3] = [5, 5000, 60_000];

/// Its sizes.
pub const WRONG: [f64; 3] = [1e6, 1e9, 1e60];

/// The mean absolute error over 2000 rows from 500 rows behind `place` on, of a stationary stream
/// in which the target there is `wrong`.
///
/// # Errors
/// When the subject cannot be made, or diverges.
pub fn after(subject: &str, place: usize, wrong: Option<f64>) -> Result<f64> {
    let rows = place + 2501;
    let (mut learner, mut generator) = (Subject::new(subject)?, ChaCha8Rng::seed_from_u64(2));
    let mut sum = 0.0;
    for t in 0..rows {
        let SoakRow { x, y, .. } = row("stationary", t, rows, &mut generator);
        let made = learner.learn(x, wrong.filter(|_| t == place).unwrap_or(y))?;
        sum += if t > place + 500 { (made - y).abs() } else { 0.0 };
    }
    Ok(sum / 2000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_near_a_window_of_the_last_rows() -> Result<()> {
        let rows = 4000;
        for (subject, streams) in OFFERED {
            for stream in streams {
                let error = outcome(subject, stream, rows)?.error;
                let reference = outcome(REFERENCE, stream, rows)?.error;
                assert!(error < 3.0 * reference, "{subject}, {stream}: {error}, and {reference} of {REFERENCE}");
            }
        }
        Ok(())
    }

    #[test]
    fn nothing_explodes_and_what_is_worse_than_the_mean_is_told() -> Result<()> {
        for stream in STREAMS {
            let mean = outcome(MEAN, stream, 600)?.error;
            for subject in subjects() {
                let SoakOutcome { error, causes } = outcome(&subject, stream, 600)?;
                assert!(error < 10.0 * mean, "{subject}, {stream}: {error}, and {mean} of the mean");
                let told = error <= 1.1 * mean || !causes.is_empty();
                assert!(told, "{subject}, {stream}: {error}, {mean} of the mean, and no remark");
            }
        }
        Ok(())
    }
}
