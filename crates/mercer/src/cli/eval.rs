//! `mercer eval`: one prequential pass.

use std::io::{self, IsTerminal};
use std::iter;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use mercer::catalogue::{self, Context, Entry};
use mercer::{AnyKernel, AnyRegressor, Error, Regressor, Score};

use super::failure::Failure;
use super::feed::{Chunk, Feed};
use super::memory;
use super::notes::{Outcome, Watch};
use super::output::{self, Predictions, number};
use super::report::{Parameters, Report};
use super::trace::{Checkpoint, Trace};
use super::{EvalArguments, FIRST_ROWS, ScaleChoice};

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let entry = catalogue::find(&arguments.common.learner)?;
    let settings = entry.settings(arguments.common.set.iter().map(String::as_str))?;
    let inputs: Vec<&Path> =
        iter::once(arguments.common.data.as_path()).chain(arguments.common.scale_from.as_deref()).collect();
    let create = |path| Predictions::create(path, &inputs, "t,target,prediction\n");
    let mut predictions = arguments.predictions.as_deref().map(create).transpose()?;
    let mut feed = Feed::open(arguments, settings.needs_rounds())?;
    let mut chunk = Chunk::default();
    feed.fill(&mut chunk)?;
    let (dimension, rounds) = (feed.dimension(), feed.rounds());
    memory::check(entry, &arguments.common.data.display().to_string(), feed.at_least(), dimension)?;
    let first = &chunk.features[..chunk.features.len().min(FIRST_ROWS * dimension)];
    let (kernel, spec) = arguments.common.kernel(entry, dimension, first)?;
    let mut built = settings.build(kernel, &Context { rounds, dimension, seed: arguments.common.seed, rows: first })?;
    built.learner.set_threads(arguments.threads.into());
    let bound = entry.bound.and_then(|key| built.parameters.iter().find(|(name, _)| *name == key)).cloned();

    let unscaled = arguments.common.scale == ScaleChoice::None;
    let mut pass = Pass::new(entry, built.learner, unscaled, Ends { block: feed.block(), rounds: feed.length() });
    let bar = progress(rounds);
    while !chunk.targets.is_empty() {
        pass.learn(&chunk, &feed)?;
        if let Some(file) = &mut predictions {
            let first = pass.score.rounds() - chunk.targets.len() + 1;
            for (index, (target, prediction)) in chunk.targets.iter().zip(&pass.predictions).enumerate() {
                file.write(&format!("{},{},{}\n", first + index, number(*target), number(*prediction)))?;
            }
        }
        bar.inc(chunk.targets.len() as u64);
        bar.set_message(pass.learner.dictionary_size().to_string());
        feed.fill(&mut chunk)?;
    }
    bar.finish_and_clear();

    let Pass { learner, score, trace, seconds, watch, .. } = pass;
    let dictionary_size = learner.dictionary_size();
    let bound = bound.as_ref().filter(|_| unscaled).map(|(key, value)| (*key, value));
    let notes = watch.notes(&Outcome { entry, kernel: &spec, bound, score: &score, dictionary_size });
    let (n, seconds) = (score.rounds(), seconds.as_secs_f64());
    let report = Report {
        learner: entry.name,
        kernel: spec,
        parameters: Parameters(built.parameters),
        n,
        d: dimension,
        mse: score.mse(),
        mae: score.mae(),
        error_rate: score.error_rate(),
        dictionary_size,
        seconds,
        seconds_per_example: seconds / n as f64,
        checkpoints: trace.checkpoints(),
        notes,
    };
    let text = if arguments.json { report.json()? } else { report.text(&arguments.common.data.display().to_string()) };
    if let Some(file) = predictions {
        file.finish()?;
    }
    output::print(&text)
}

/// Where blocks end.
#[derive(Clone, Copy)]
struct Ends {
    block: usize,
    rounds: Option<usize>,
}

impl Ends {
    /// Rows of the next block after `learnt` rows, `left` of which are at hand: it ends at the next checkpoint at the latest, so that
    /// the dictionary's size there is known.
    fn next(self, learnt: usize, left: usize) -> usize {
        let checkpoint = self.rounds.map(|rounds| Trace::next_checkpoint(rounds, learnt));
        let until = checkpoint.map_or(usize::MAX, |checkpoint| checkpoint.saturating_sub(learnt).max(1));
        self.block.min(left).min(until)
    }
}

/// The rounds so far.
struct Pass {
    entry: &'static Entry,
    learner: AnyRegressor<AnyKernel>,
    unscaled: bool,
    ends: Ends,
    score: Score,
    trace: Trace,
    /// The predictions of the last chunk.
    predictions: Vec<f64>,
    seconds: Duration,
    watch: Watch,
}

impl Pass {
    fn new(entry: &'static Entry, learner: AnyRegressor<AnyKernel>, unscaled: bool, ends: Ends) -> Self {
        let (score, trace, seconds) = (Score::default(), Trace::new(), Duration::ZERO);
        Self { entry, learner, unscaled, ends, score, trace, predictions: Vec::new(), seconds, watch: Watch::default() }
    }

    /// Predicts, scores and learns a chunk, block by block; the clock runs only here.
    fn learn(&mut self, chunk: &Chunk, feed: &Feed) -> Result<(), Failure> {
        self.predictions.clear();
        let d = feed.dimension();
        let start = Instant::now();
        let mut first = 0;
        while first < chunk.targets.len() {
            let rows = self.ends.next(self.score.rounds(), chunk.targets.len() - first);
            let (features, targets) =
                (&chunk.features[first * d..(first + rows) * d], &chunk.targets[first..first + rows]);
            let learnt = if rows == 1 {
                self.learner.predict_then_update(features, targets[0]).map(|made| self.predictions.push(made))
            } else {
                self.learner.learn_block(features, targets, &mut self.predictions)
            };
            let dictionary_size = self.learner.dictionary_size();
            for index in first..self.predictions.len() {
                self.record(chunk, feed, index, dictionary_size)?;
            }
            if let Err(error) = learnt {
                return Err(self.stopped(&feed.place(chunk, self.predictions.len()), &error));
            }
            first += rows;
        }
        self.seconds += start.elapsed();
        Ok(())
    }

    /// Scores row `index` of the chunk.
    fn record(&mut self, chunk: &Chunk, feed: &Feed, index: usize, dictionary_size: usize) -> Result<(), Failure> {
        let (prediction, y) = (self.predictions[index], chunk.targets[index]);
        self.score.record(prediction, y);
        let cumulative_loss = self.score.cumulative_loss();
        if !cumulative_loss.is_finite() {
            let (place, target, prediction) = (feed.place(chunk, index), number(y), number(prediction));
            return Err(Failure::because(format!(
                "{place}: the squared error overflows (target {target}, prediction {prediction}); {}",
                self.mending()
            )));
        }
        self.trace.record(Checkpoint { t: self.score.rounds(), cumulative_loss, dictionary_size });
        self.watch.record(prediction, y);
        Ok(())
    }

    /// Why the learner did not take an example, and what to change.
    fn stopped(&self, place: &str, error: &Error) -> Failure {
        let name = self.entry.name;
        Failure::because(match error {
            Error::Diverged => {
                format!("{place}: {name} diverged: its update is not a finite number; {}", self.mending())
            }
            Error::KernelOverflow if self.unscaled => format!("{place}: {name}: {error}; {SCALING}"),
            _ => format!("{place}: {name}: {error}"),
        })
    }

    fn mending(&self) -> String {
        let scaling = self.unscaled.then_some(SCALING);
        let ways: Vec<&str> = scaling.into_iter().chain(self.entry.remedy).collect();
        if ways.is_empty() { "check the data for values far from all others".to_owned() } else { ways.join(", or ") }
    }
}

/// What mends most of what unscaled data do.
const SCALING: &str = "scale the data (--scale paper01)";

/// A bar for a person who waits at a terminal.
pub(crate) fn progress(rounds: Option<usize>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (length, template) = match rounds {
        Some(rounds) => {
            (Some(rounds as u64), "{bar:40} {human_pos}/{human_len} rows, {per_sec}, {eta} left, dictionary {msg}")
        }
        None => (None, "{spinner} {human_pos} rows, {per_sec}, dictionary {msg}"),
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    // A run that fails takes its bar away before it says why.
    let bar = bar.with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
