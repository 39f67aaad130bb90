//! `mercer eval`: one prequential pass.

mod cells;
mod classes;
pub(crate) mod held;
mod numbers;
#[cfg(feature = "plots")]
pub(crate) mod picture;

use std::fmt::Write as _;
use std::iter;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use mercer::catalogue::{self, Built, Context, Entry, Settings, Value};
use mercer::core::ExampleError;
use mercer::{Error, Regressor, RegressorExt};

use super::classes::{Fresh, quoted};
use super::failure::Failure;
use super::feed::{Chunk, Feed, Names};
use super::memory;
use super::notes::{self, Alarm, Outcome};
use super::output::{self, Predictions, number};
use super::report::{Parameters, Progress, Report, Window};
use super::scores::{Metric, Scores};
use super::stop::Stop;
use super::task::{Kind, Wanted};
use super::trace::{Checkpoint, Trace};
use super::voice;
use super::{EvalArguments, FIRST_ROWS, ScaleChoice};
use cells::{Cell, Cells, Offer};
use classes::{Classes, Refusal};
use numbers::Numbers;

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let entry = catalogue::find(&common.learner)?;
    let settings = Settings::new(entry, common.set.iter().map(String::as_str))?;
    cells::check(&arguments.columns, common.intervals.wanted())?;
    let inputs: Vec<&Path> = iter::once(common.data.as_path()).chain(common.scale_from.as_deref()).collect();
    let create = |path| Predictions::create(path, &inputs, "");
    let mut predictions = arguments.predictions.as_deref().map(create).transpose()?;
    output::refuse_same_places(&[("--predictions", &arguments.predictions), ("--plot", &arguments.plot.plot)])?;
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs)?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;
    // A run that writes nothing is ended by a signal as any other.
    let stop = if predictions.is_some() || arguments.plot.plot.is_some() { Stop::listen()? } else { Stop::never() };
    let opened = Feed::open(arguments, settings.needs_rounds(), &stop);
    // A signal is what ended input that seems to be too short.
    ended(&stop, arguments, 0)?;
    let mut feed = opened?;
    let mut chunk = Chunk::default();
    let filled = feed.fill(&mut chunk);
    ended(&stop, arguments, 0)?;
    filled?;
    let (dimension, rounds, kind) = (feed.dimension(), feed.rounds(), feed.kind());
    kind.check(entry, Wanted::of(common), &common.data.display().to_string())?;
    let rows = feed.counted(memory::most_rows(entry, dimension));
    memory::check(entry, &common.data.display().to_string(), rows, dimension)?;
    let facts = Facts::of(dimension, rounds, kind, Some(&chunk));
    let Begun { body, spec, parameters } = Begun::of(arguments, entry, &facts)?;
    voice::more(|| {
        let (shown, block) = (common.data.display(), feed.block());
        let target = kind.words(feed.columns().targets());
        format!("{shown}: {dimension} features, {target}, kernel {spec}, blocks of {block}")
    });
    let bound = entry.bound.and_then(|key| parameters.iter().find(|(name, _)| *name == key)).cloned();

    let asked = &arguments.scores;
    let followed = Metric::followed(asked.metric, kind, common.intervals.wanted())?;
    let (unscaled, skip) = (common.scale == ScaleChoice::None, asked.skipped(entry));
    let mut pass = Pass::new(entry, body, unscaled, skip, Ends { block: feed.block(), rounds: feed.length() });
    #[cfg(feature = "plots")]
    if plot.is_some() {
        pass.gathered = Some(picture::Gathered::new(&pass.body));
    }
    let plan = match &mut predictions {
        None => None,
        Some(file) => {
            let plan = pass.cells(arguments, &feed)?;
            file.write(&plan.header())?;
            Some(plan)
        }
    };
    if let Body::Numbers(_) = &pass.body {
        let shown = common.data.display().to_string();
        let mut alarm = Alarm::new(entry, &parameters, (&spec, &shown), !unscaled);
        chunk.targets.chunks(kind.outputs()).for_each(|targets| alarm.hear(targets));
    }
    let bar = progress(rounds);
    let mut lines = String::new();
    while chunk.len() > 0 {
        pass.learn(&chunk, feed.names())?;
        if let (Some(file), Some(plan)) = (&mut predictions, &plan) {
            lines.clear();
            pass.write(&mut lines, plan, &chunk, feed.names());
            file.write(&lines)?;
        }
        bar.inc(chunk.len() as u64);
        bar.set_message(pass.body.dictionary_size().to_string());
        ended(&stop, arguments, pass.rounds)?;
        feed.fill(&mut chunk)?;
    }
    bar.finish_and_clear();
    ended(&stop, arguments, pass.rounds)?;

    let Pass {
        body,
        trace,
        seconds,
        rounds: n,
        #[cfg(feature = "plots")]
        gathered,
        ..
    } = pass;
    let scored = body.scored();
    check_skip(skip, n)?;
    let window = asked.window.map_or((n / 10).max(1), usize::from);
    let dictionary_size = body.dictionary_size();
    let bound = bound.as_ref().filter(|_| unscaled).map(|(key, value)| (*key, value));
    let mut notes = body.notes(entry, &spec, bound, n);
    if skip > asked.skip {
        notes.push(format!(
            "{} does not predict the first row, for nothing is known before it; it is not scored",
            entry.name
        ));
    }
    notes.extend(feed.left_out());
    let (columns, counts) = feed.facts().unzip();
    let seconds = seconds.as_secs_f64();
    let (_, second_half) = body.between(scored / 2, scored, true);
    let (rows, last) = body.between(scored.saturating_sub(window), scored, true);
    let progress = |Checkpoint { t, cumulative_loss, dictionary_size }| {
        let until = t - skip.min(t);
        let score = |from: usize| followed.of(&body.between(from, until, followed == Metric::Auc).1);
        let (window_score, score) = (score(until.saturating_sub(window)), score(0));
        Progress { t, cumulative_loss, dictionary_size, window_score, score }
    };
    let checkpoints = trace.checkpoints().into_iter().map(progress).collect();
    let outputs = match &body {
        Body::Numbers(numbers) => numbers.outputs(feed.columns().targets()),
        Body::Classes(_) => Vec::new(),
    };
    let report = Report {
        learner: entry.name,
        kernel: spec,
        parameters: Parameters(parameters),
        n,
        d: dimension,
        scores: body.scores(),
        second_half,
        last_window: Window { rows, scores: last },
        outputs,
        dictionary_size,
        seconds,
        seconds_per_example: seconds / n as f64,
        checkpoints,
        task: if matches!(body, Body::Classes(_)) { "class" } else { "regression" },
        columns,
        counts,
        notes,
        asked: asked.metric,
        followed,
        skipped: skip,
        window,
    };
    let text = if arguments.json { report.json()? } else { report.text(&common.data.display().to_string()) };
    #[cfg(feature = "plots")]
    if let (Some(plot), Some(gathered)) = (plot, &gathered) {
        let about = picture::About {
            learner: entry.name,
            data: &common.data.display().to_string(),
            targets: feed.columns().targets(),
            followed,
            window,
            skipped: skip,
            trace: trace.records(),
            scores: &report.scores,
        };
        plot.finish(&picture::draw(gathered, &body, &about))?;
    }
    if let Some(file) = predictions {
        file.finish()?;
    }
    output::print(&text)
}

/// Refuses to leave out all of the rows.
fn check_skip(skip: usize, rows: usize) -> Result<(), Failure> {
    if skip < rows {
        return Ok(());
    }
    Err(Failure::because(if skip == 1 {
        "one row is learnt before the first is scored, and there is no other; give more rows".to_owned()
    } else {
        format!("--skip {skip} leaves none of the {rows} rows to be scored; give less")
    }))
}

/// The end of a run to which a signal has come.
fn ended(stop: &Stop, arguments: &EvalArguments, rounds: usize) -> Result<(), Failure> {
    stop.failure().map_err(|failure| match &arguments.predictions {
        Some(path) => failure.with(&format!("{rounds} rows were learnt, and {} was not written", path.display())),
        None => failure,
    })
}

/// What a learner has to know of the data before it is made.
#[derive(Clone, Copy)]
struct Facts<'a> {
    dimension: usize,
    /// T, if it is known.
    rounds: Option<usize>,
    kind: Kind,
    /// The first rows, and their weights if there are any.
    rows: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Facts<'a> {
    /// Of data whose first rows are in a chunk, if there is one.
    fn of(dimension: usize, rounds: Option<usize>, kind: Kind, first: Option<&'a Chunk>) -> Self {
        let (rows, weights) = first.map_or((&[][..], &[][..]), |chunk| {
            let count = chunk.len().min(FIRST_ROWS);
            (&chunk.features[..count * dimension], &chunk.weights[..count.min(chunk.weights.len())])
        });
        Self { dimension, rounds, kind, rows, weights }
    }
}

/// A learner that has learnt nothing yet, with its kernel and its parameters.
struct Begun {
    body: Body,
    spec: String,
    parameters: Vec<(&'static str, Value)>,
}

impl Begun {
    fn of(arguments: &EvalArguments, entry: &'static Entry, facts: &Facts<'_>) -> Result<Self, Failure> {
        let common = &arguments.common;
        let Facts { dimension, rounds, kind, rows, weights } = *facts;
        let (kernel, spec) = common.kernel(entry, dimension, rows, weights)?;
        let (outputs, classes) = (kind.outputs(), kind.is_class());
        let context = Context { rounds, dimension, seed: common.seed, rows, outputs, classes };
        let build = |more: Option<&str>| -> Result<Built, Failure> {
            let settings = Settings::new(entry, common.set.iter().map(String::as_str).chain(more))?;
            let built = settings.build(kernel.clone(), &context)?;
            notes::tell_measured(&settings, &built);
            Ok(built)
        };
        let (body, parameters) = match kind {
            Kind::Numbers(_) => {
                let Built { mut learner, parameters } = build(None)?;
                learner.set_threads(arguments.threads.into());
                let learner = common.scale.around(learner)?.screening(arguments.outliers);
                let intervals = common.intervals.make(&learner)?;
                let variances =
                    common.intervals.are_local() || arguments.columns.iter().any(|column| column == "variance");
                (Body::Numbers(Numbers::new(learner, intervals, variances).into()), parameters)
            }
            Kind::Class(two) => {
                common.intervals.refuse_for_classes()?;
                let Fresh { mut classifier, labels, parameters } = Fresh::make(entry, two, build)?;
                classifier.learner_mut().set_threads(arguments.threads.into());
                (Body::Classes(Classes::new(classifier, labels).into()), parameters)
            }
        };
        Ok(Self { body, spec, parameters })
    }
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

/// The learner and its scores.
enum Body {
    Numbers(Box<Numbers>),
    Classes(Box<Classes>),
}

impl Body {
    fn dictionary_size(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.learner.dictionary_size(),
            Self::Classes(classes) => classes.classifier.learner().dictionary_size(),
        }
    }

    /// Rounds that are scored.
    fn scored(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.scored(),
            Self::Classes(classes) => classes.scored(),
        }
    }

    /// Over all rounds.
    fn scores(&self) -> Scores {
        match self {
            Self::Numbers(numbers) => numbers.scores(),
            Self::Classes(classes) => classes.scores(),
        }
    }

    /// Over the scored rounds after `after` and not after `until`, with the area under the curve of classes if it is wanted; and how many they
    /// are.
    fn between(&self, after: usize, until: usize, area: bool) -> (usize, Scores) {
        match self {
            Self::Numbers(numbers) => numbers.between(after, until),
            Self::Classes(classes) => classes.between(after, until, area),
        }
    }

    /// Remarks on the result of so many rounds; `bound` is the key that bounds predictions, if targets may be beyond it.
    fn notes(&self, entry: &Entry, kernel: &str, bound: Option<(&str, &Value)>, rounds: usize) -> Vec<String> {
        let dictionary_size = self.dictionary_size();
        match self {
            Self::Numbers(numbers) => {
                let outcome = Outcome { entry, kernel, bound, score: &numbers.score, dictionary_size };
                numbers.implausible().into_iter().chain(numbers.watch.notes(&outcome)).collect()
            }
            Self::Classes(classes) => {
                let crowded = notes::crowded(entry, rounds, dictionary_size);
                crowded.into_iter().chain(notes::majority(&classes.score)).collect()
            }
        }
    }

    fn begin(&mut self) {
        match self {
            Self::Numbers(numbers) => numbers.begin(),
            Self::Classes(classes) => classes.begin(),
        }
    }

    /// Learns rows `from..to` of a chunk; tells how many of the chunk were learnt, and why no more.
    fn learn(&mut self, chunk: &Chunk, names: &Names, from: usize, to: usize) -> (usize, Result<(), Refusal>) {
        match self {
            Self::Numbers(numbers) => {
                let (learnt, ended) = numbers.learn(chunk, from, to);
                (learnt, ended.map_err(Refusal::Learner))
            }
            Self::Classes(classes) => classes.learn(chunk, names, from, to),
        }
    }

    /// Takes in row `index` of the chunk, and scores it if it counts; gives the loss so far: squared errors, or mistakes.
    fn record(&mut self, chunk: &Chunk, index: usize, counts: bool) -> f64 {
        match self {
            Self::Numbers(numbers) => {
                numbers.record(chunk, index, counts);
                numbers.score.cumulative_loss()
            }
            Self::Classes(classes) => {
                classes.record(chunk, index, counts);
                classes.score.mistakes()
            }
        }
    }
}

/// The rounds so far.
struct Pass {
    entry: &'static Entry,
    body: Body,
    unscaled: bool,
    /// Rows at the beginning that are not scored.
    skip: usize,
    ends: Ends,
    rounds: usize,
    trace: Trace,
    /// The sizes of the dictionary after the rows of the last chunk: those of their blocks.
    sizes: Vec<usize>,
    seconds: Duration,
    /// What the picture shows, if one is wanted.
    #[cfg(feature = "plots")]
    gathered: Option<picture::Gathered>,
}

impl Pass {
    fn new(entry: &'static Entry, body: Body, unscaled: bool, skip: usize, ends: Ends) -> Self {
        let (trace, sizes, seconds) = (Trace::new(), Vec::new(), Duration::ZERO);
        Self {
            entry,
            body,
            unscaled,
            skip,
            ends,
            rounds: 0,
            trace,
            sizes,
            seconds,
            #[cfg(feature = "plots")]
            gathered: None,
        }
    }

    /// The columns of the predictions.
    fn cells(&self, arguments: &EvalArguments, feed: &Feed) -> Result<Cells, Failure> {
        let (has_variance, has_intervals) = match &self.body {
            Body::Numbers(numbers) => (numbers.learner.has_variance(), numbers.has_intervals()),
            Body::Classes(_) => (false, false),
        };
        let (classes, has_probabilities) = match &self.body {
            Body::Numbers(_) => (Vec::new(), false),
            // Whoever names the columns needs no list of classes.
            Body::Classes(classes) => {
                let names = if arguments.columns.is_empty() { feed.survey()? } else { Vec::new() };
                (names, classes.classifier.has_probabilities())
            }
        };
        let targets = feed.columns().targets();
        let (kind, classes) = (feed.kind(), &*classes);
        Cells::plan(
            &arguments.columns,
            &Offer { kind, targets, classes, has_probabilities, has_variance, has_intervals },
        )
    }

    /// Predicts and learns a chunk, block by block; the clock runs only here. Then its rows are scored.
    fn learn(&mut self, chunk: &Chunk, names: &Names) -> Result<(), Failure> {
        self.body.begin();
        self.sizes.clear();
        let start = Instant::now();
        let mut refused = None;
        while self.sizes.len() < chunk.len() && refused.is_none() {
            let first = self.sizes.len();
            let rows = self.ends.next(self.rounds + first, chunk.len() - first);
            let (learnt, ended) = self.body.learn(chunk, names, first, first + rows);
            self.sizes.resize(learnt, self.body.dictionary_size());
            refused = ended.err();
        }
        self.seconds += start.elapsed();
        for index in 0..self.sizes.len() {
            self.record(chunk, names, index, self.sizes[index])?;
        }
        match refused {
            Some(refusal) => Err(self.stopped(&names.place(chunk, self.sizes.len()), &refusal)),
            None => Ok(()),
        }
    }

    /// Scores row `index` of the chunk.
    fn record(&mut self, chunk: &Chunk, names: &Names, index: usize, dictionary_size: usize) -> Result<(), Failure> {
        let cumulative_loss = self.body.record(chunk, index, self.rounds >= self.skip);
        self.rounds += 1;
        if let (false, Body::Numbers(numbers)) = (cumulative_loss.is_finite(), &self.body) {
            let shown = |values: &[f64]| values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" ");
            let place = names.place(chunk, index);
            let (target, prediction) = (shown(numbers.targets(chunk, index)), shown(numbers.predictions(index)));
            return Err(Failure::because(format!(
                "{place}: the squared error overflows (target {target}, prediction {prediction}); {}",
                self.mending()
            )));
        }
        #[cfg(feature = "plots")]
        if let Some(gathered) = self.gathered.as_mut().filter(|_| self.rounds > self.skip) {
            gathered.take(&self.body, chunk, index, self.rounds);
        }
        self.trace.record(Checkpoint { t: self.rounds, cumulative_loss, dictionary_size });
        Ok(())
    }

    /// Writes the lines of a chunk that was learnt.
    fn write(&self, lines: &mut String, cells: &Cells, chunk: &Chunk, names: &Names) {
        let before = self.rounds - chunk.len();
        for index in 0..chunk.len() {
            // Writing to a string cannot fail.
            let _ = write!(lines, "{}", before + index + 1);
            for cell in cells.iter() {
                lines.push(',');
                if let Some(text) = self.cell(cell, chunk, names, index) {
                    lines.push_str(&text);
                }
            }
            lines.push('\n');
        }
    }

    /// The text of a cell; a value that does not exist yet has none.
    fn cell(&self, cell: &Cell, chunk: &Chunk, names: &Names, index: usize) -> Option<String> {
        match (cell, &self.body) {
            (Cell::Size, _) => Some(self.sizes[index].to_string()),
            (Cell::Target(output), Body::Numbers(numbers)) => Some(number(numbers.targets(chunk, index)[*output])),
            (Cell::Prediction(output), Body::Numbers(numbers)) => Some(number(numbers.predictions(index)[*output])),
            (Cell::Loss, Body::Numbers(numbers)) => Some(number(numbers.loss(chunk, index))),
            (Cell::Variance(output), Body::Numbers(numbers)) => numbers.variance(index, *output).map(number),
            (Cell::Lower(output), Body::Numbers(numbers)) => {
                numbers.interval(index, *output).map(|[low, _]| number(low))
            }
            (Cell::Upper(output), Body::Numbers(numbers)) => {
                numbers.interval(index, *output).map(|[_, high]| number(high))
            }
            (Cell::Score | Cell::Probability(_), Body::Numbers(_))
            | (Cell::Variance(_) | Cell::Lower(_) | Cell::Upper(_), Body::Classes(_)) => None,
            (Cell::Target(_), Body::Classes(_)) => names.texts().get(chunk.targets[index] as usize).map(quoted),
            (Cell::Prediction(_), Body::Classes(classes)) => classes.prediction(index).map(quoted),
            (Cell::Loss, Body::Classes(classes)) => classes.loss(index).map(number),
            (Cell::Score, Body::Classes(classes)) => classes.z(index).map(number),
            (Cell::Probability(class), Body::Classes(classes)) => classes.probability(index, class).map(number),
        }
    }

    /// Why the learner did not take an example, and what to change.
    fn stopped(&self, place: &str, refusal: &Refusal) -> Failure {
        let name = self.entry.name;
        let error = match refusal {
            Refusal::Learner(error) => error,
            Refusal::Label(why) => return Failure::because(format!("{place}: {why}")),
        };
        Failure::because(match error {
            Error::Example(ExampleError::Diverged) => {
                format!("{place}: {name} diverged: its update is not a finite number; {}", self.mending())
            }
            Error::Example(ExampleError::KernelOverflow) if self.unscaled => {
                format!("{place}: {name}: {error}; {SCALING}")
            }
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
const SCALING: &str = "scale the data (--scale standard)";

/// A bar for a person who waits at a terminal.
pub(crate) fn progress(rounds: Option<usize>) -> ProgressBar {
    const LEFT: &str = "{bar:40} {human_pos}/{human_len} rows, {per_sec}, {eta} left, dictionary {msg}";
    const SO_FAR: &str = "{spinner} {human_pos} rows, {per_sec}, dictionary {msg}";
    voice::bar(rounds.map(|rounds| rounds as u64), if rounds.is_some() { LEFT } else { SO_FAR })
}
