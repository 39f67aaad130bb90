//! `mercer eval`: one prequential pass.

pub(crate) mod arguments;
mod classes;
mod feed;
mod numbers;
#[cfg(feature = "plots")]
pub(crate) mod picture;
pub(crate) mod scaled_table;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mercer_core::ExampleError;
use mercer_encoding::Scale;
use mercer_learners::intervals::IntervalScale;
use mercer_learners::{Error, Regressor, RegressorExt};
use mercer_registry::catalogue::{self, Entry, Settings, Value};
use mercer_session::LabelDelay;
use mercer_session::notes::{self, Face, LearningFacts};

use crate::arguments::task::{Kind, TaskOptions};
use crate::data::stop::Stop;
use crate::eval::feed::{ExampleChunk, ExampleFeed, Names};
use crate::limits::first_rows;
use crate::model::cells::{self, AnswerCell, AnswerCells, Offer};
use crate::model::classes::quoted;
use crate::model::construction::{Construction, FreshLearner, Premises};
use crate::model::memory;
use crate::report::evaluation::{CurvePoint, EvalReport, Parameters, WindowScores};
use crate::report::failure::Failure;
use crate::report::notes::{Alarm, texts, written};
use crate::report::output::{self, Predictions, number};
use crate::report::scores::{Metric, Scores};
use crate::report::trace::{Checkpoint, Trace};
use crate::report::verbosity;
use classes::{ClassRounds, Refusal};
use numbers::NumberRounds;

use arguments::EvalArguments;

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let entry = catalogue::find(&common.learner)?;
    Settings::new(entry, common.set.iter().map(String::as_str))?;
    cells::check(&arguments.columns, common.intervals.wanted())?;
    let inputs = [common.data.as_path()];
    let create = |path| Predictions::create(path, &inputs, "");
    let predictions = arguments.predictions.as_deref().map(create).transpose()?;
    output::refuse_same_places(&[("--predictions", &arguments.predictions), ("--plot", &arguments.plot.plot)])?;
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs)?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;
    // A run that writes nothing is ended by a signal as any other.
    let stop = if predictions.is_some() || arguments.plot.plot.is_some() { Stop::listen()? } else { Stop::never() };
    let opened = ExampleFeed::open(arguments, &stop);
    // A signal is what ended input that seems to be too short.
    ended(&stop, arguments, 0)?;
    let mut feed = opened?;
    let mut chunk = ExampleChunk::default();
    let filled = feed.fill(&mut chunk);
    ended(&stop, arguments, 0)?;
    filled?;
    let Construction { learner, kernel, parameters } = construct(arguments, entry, &feed, &chunk)?;
    let followed = Metric::followed(arguments.scores.metric, feed.kind().is_class(), common.intervals.wanted())?;
    let unscaled = common.scale == Scale::None;
    // Nothing is known before the first label.
    let late = if let Some(LabelDelay::Rows(rows)) = common.label_delay { rows } else { 0 };
    let skip = arguments.scores.skipped(entry).max(if entry.autonomous { late + 1 } else { 0 });
    let ends = Ends { block: feed.block(), rounds: feed.length() };
    let mut pass = EvalPass::new(entry, Scoring::of(arguments, learner)?, unscaled, skip, ends);
    #[cfg(feature = "plots")]
    if plot.is_some() {
        pass.gathered = Some(picture::PictureData::new(&pass.body));
    }
    let written = predictions.map(|file| pass.cells(arguments, &feed).map(|cells| (file, cells))).transpose()?;
    if let Scoring::Numbers(_) = &pass.body {
        let shown = common.data.display().to_string();
        let mut alarm = Alarm::new(entry, &parameters, (&kernel, &shown), !unscaled);
        chunk.targets.chunks(feed.kind().outputs()).for_each(|targets| alarm.hear(targets));
    }
    let predictions = pass.over(arguments, &mut feed, chunk, written, &stop)?;
    check_skip(skip, pass.rounds)?;
    let report = pass.report(arguments, &feed, followed, (kernel, parameters));
    let text = if arguments.json { report.json()? } else { report.text(&common.data.display().to_string()) };
    #[cfg(feature = "plots")]
    if let (Some(plot), Some(gathered)) = (plot, &pass.gathered) {
        let about = picture::PictureFacts {
            learner: entry.name,
            data: &common.data.display().to_string(),
            targets: feed.columns().targets(),
            followed,
            window: report.window,
            skipped: skip,
            trace: pass.trace.records(),
            scores: &report.scores,
        };
        plot.finish(&picture::draw(gathered, &pass.body, &about))?;
    }
    predictions.map_or(Ok(()), Predictions::finish)?;
    output::print(&text)
}

/// The learner for the rows of a feed, the first of which are in `chunk`.
fn construct(
    arguments: &EvalArguments,
    entry: &'static Entry,
    feed: &ExampleFeed,
    chunk: &ExampleChunk,
) -> Result<Construction, Failure> {
    let (common, dimension, kind) = (&arguments.common, feed.dimension(), feed.kind());
    let shown = common.data.display().to_string();
    kind.check(entry, TaskOptions::from_arguments(common), &shown)?;
    let rows = feed.counted(memory::most_rows(entry, dimension));
    memory::check(entry, &shown, rows, dimension)?;
    let made = Construction::new(common, entry, &premises(dimension, kind, Some(chunk)))?;
    verbosity::more(|| {
        let target = kind.words(feed.columns().targets());
        format!("{shown}: {dimension} features, {target}, kernel {}, blocks of {}", made.kernel, feed.block())
    });
    Ok(made)
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

/// The premises of data whose first rows are in a chunk, if there is one.
fn premises(dimension: usize, kind: Kind, first: Option<&ExampleChunk>) -> Premises<'_> {
    let (rows, weights) = first.map_or((&[][..], &[][..]), |chunk| {
        let count = chunk.len().min(first_rows(dimension));
        (&chunk.features[..count * dimension], &chunk.weights[..count.min(chunk.weights.len())])
    });
    let tokens = first.is_some_and(|chunk| !chunk.tokens.is_empty());
    Premises { dimension, kind, rows, weights, tokens }
}

/// Where blocks end.
#[derive(Clone, Copy)]
struct Ends {
    block: usize,
    rounds: Option<usize>,
}

impl Ends {
    /// Rows of the next block after `learnt` rows, `left` of which are at hand: it ends at the next
    /// checkpoint at the latest, so that the dictionary's size there is known.
    fn next(self, learnt: usize, left: usize) -> usize {
        let checkpoint = self.rounds.map(|rounds| Trace::next_checkpoint(rounds, learnt));
        let until = checkpoint.map_or(usize::MAX, |checkpoint| checkpoint.saturating_sub(learnt).max(1));
        self.block.min(left).min(until)
    }
}

/// The learner and its scores.
enum Scoring {
    Numbers(Box<NumberRounds>),
    Classes(Box<ClassRounds>),
}

impl Scoring {
    fn of(arguments: &EvalArguments, learner: FreshLearner) -> Result<Self, Failure> {
        let common = &arguments.common;
        match learner {
            FreshLearner::Numbers(mut learner) => {
                learner.set_threads(arguments.threads.into());
                let learner = common.behind_scales(learner)?.screening(common.outliers);
                let scale = common.interval_scale();
                let intervals = common.intervals.make(&learner, scale)?;
                let told = arguments.columns.iter().any(|column| column == "variance");
                let variances = scale != IntervalScale::Error || told;
                Ok(Self::Numbers(NumberRounds::new(learner, intervals, variances).into()))
            }
            FreshLearner::Classes(mut classifier, labels) => {
                classifier.learner_mut().set_threads(arguments.threads.into());
                Ok(Self::Classes(ClassRounds::new(*classifier, labels).into()))
            }
        }
    }

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

    /// Over the scored rounds after `after` and not after `until`, with the area under the curve of
    /// classes if it is wanted; and how many they are.
    fn between(&self, after: usize, until: usize, area: bool) -> (usize, Scores) {
        match self {
            Self::Numbers(numbers) => numbers.between(after, until),
            Self::Classes(classes) => classes.between(after, until, area),
        }
    }

    /// Remarks on the result of a learner with these settings, whose targets may be scaled.
    fn notes(&self, entry: &Entry, kernel: &str, parameters: &[(String, String)], scaled: bool) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => {
                let (rounds, learner) = (numbers.score.rounds(), numbers.learner.learner());
                let facts = LearningFacts { entry, kernel, parameters, scaled, learner, rounds };
                numbers.implausible().into_iter().chain(texts(numbers.watch.notes(&facts, Face::Command))).collect()
            }
            Self::Classes(classes) => {
                let crowded = notes::crowded(entry, classes.score.rounds(), self.dictionary_size(), Face::Command);
                let majority = notes::majority(Some(entry), &classes.score, Face::Command);
                texts(crowded.into_iter().chain(majority).chain(notes::alike_classes(classes.labels())))
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
    fn learn(&mut self, chunk: &ExampleChunk, names: &Names, from: usize, to: usize) -> (usize, Result<(), Refusal>) {
        match self {
            Self::Numbers(numbers) => {
                let (learnt, ended) = numbers.learn(chunk, from, to);
                (learnt, ended.map_err(Refusal::Learner))
            }
            Self::Classes(classes) => classes.learn(chunk, names, from, to),
        }
    }

    /// Takes in row `index` of the chunk, and scores it if it counts; gives the loss so far:
    /// squared errors, or mistakes. So many points are kept after it.
    fn record(&mut self, chunk: &ExampleChunk, index: usize, counts: bool, size: usize) -> f64 {
        match self {
            Self::Numbers(numbers) => {
                numbers.record(chunk, index, counts, size);
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
struct EvalPass {
    entry: &'static Entry,
    body: Scoring,
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
    gathered: Option<picture::PictureData>,
}

impl EvalPass {
    fn new(entry: &'static Entry, body: Scoring, unscaled: bool, skip: usize, ends: Ends) -> Self {
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
    fn cells(&self, arguments: &EvalArguments, feed: &ExampleFeed) -> Result<AnswerCells, Failure> {
        let (has_variance, has_intervals) = match &self.body {
            Scoring::Numbers(numbers) => (numbers.learner.has_variance(), numbers.has_intervals()),
            Scoring::Classes(_) => (false, false),
        };
        let (classes, has_probabilities) = match &self.body {
            Scoring::Numbers(_) => (Vec::new(), false),
            // Whoever names the columns needs no list of classes.
            Scoring::Classes(classes) => {
                let names = if arguments.columns.is_empty() { feed.survey()? } else { Vec::new() };
                (names, classes.classifier.has_probabilities())
            }
        };
        let targets = feed.columns().targets();
        let (kind, classes) = (feed.kind(), &*classes);
        AnswerCells::plan(
            &arguments.columns,
            &Offer { kind, targets, classes, has_probabilities, has_variance, has_intervals },
        )
    }

    /// Goes over all rows, of which `chunk` has the first, and writes their predictions.
    fn over(
        &mut self,
        arguments: &EvalArguments,
        feed: &mut ExampleFeed,
        mut chunk: ExampleChunk,
        mut written: Option<(Predictions, AnswerCells)>,
        stop: &Stop,
    ) -> Result<Option<Predictions>, Failure> {
        if let Some((file, cells)) = &mut written {
            file.write(&format!("t,{}\n", cells.header()))?;
        }
        let (bar, mut lines) = (verbosity::rows_bar(feed.rounds()), String::new());
        while chunk.len() > 0 {
            self.learn(&chunk, feed.names())?;
            if let Some((file, cells)) = &mut written {
                lines.clear();
                self.write(&mut lines, cells, &chunk, feed.names());
                file.write(&lines)?;
            }
            bar.inc(chunk.len() as u64);
            bar.set_message(self.body.dictionary_size().to_string());
            ended(stop, arguments, self.rounds)?;
            feed.fill(&mut chunk)?;
        }
        bar.finish_and_clear();
        ended(stop, arguments, self.rounds)?;
        Ok(written.map(|(file, _)| file))
    }

    /// What is to be told of all rows.
    fn report(
        &self,
        arguments: &EvalArguments,
        feed: &ExampleFeed,
        followed: Metric,
        (kernel, parameters): (String, Vec<(&'static str, Value)>),
    ) -> EvalReport {
        let Self { entry, body, skip, rounds: n, .. } = self;
        let (asked, n, skip, scored) = (&arguments.scores, *n, *skip, body.scored());
        let window = asked.window.map_or((n / 10).max(1), usize::from);
        let mut notes = self.notes(&kernel, &parameters);
        if skip > asked.skip {
            let first = if skip == 1 {
                "first row, for nothing is known before it; it is".to_owned()
            } else {
                format!("first {skip} rows, for no label is known before them; they are")
            };
            notes.push(format!("{} does not predict the {first} not scored", entry.name));
        }
        notes.extend(feed.order_note().into_iter().chain(feed.left_out()));
        let (columns, counts) = feed.facts().unzip();
        let seconds = self.seconds.as_secs_f64();
        let (_, second_half) = body.between(scored / 2, scored, true);
        let (rows, last) = body.between(scored.saturating_sub(window), scored, true);
        let progress = |Checkpoint { t, cumulative_loss, dictionary_size }| {
            let until = t - skip.min(t);
            let score = |from: usize| followed.value(&body.between(from, until, followed == Metric::Auc).1);
            let (window_score, score) = (score(until.saturating_sub(window)), score(0));
            CurvePoint { t, cumulative_loss, dictionary_size, window_score, score }
        };
        let (task, outputs) = match body {
            Scoring::Numbers(numbers) => ("regression", numbers.outputs(feed.columns().targets())),
            Scoring::Classes(_) => ("class", Vec::new()),
        };
        EvalReport {
            learner: entry.name,
            kernel,
            parameters: Parameters(parameters),
            rows: n,
            features: feed.dimension(),
            scores: body.scores(),
            second_half,
            last_window: WindowScores { rows, scores: last },
            outputs,
            dictionary_size: body.dictionary_size(),
            seconds,
            seconds_per_example: seconds / n as f64,
            checkpoints: self.trace.checkpoints().into_iter().map(progress).collect(),
            task,
            why: feed.kind().why(TaskOptions::from_arguments(&arguments.common)),
            columns,
            counts,
            notes,
            asked: asked.metric,
            followed,
            skipped: skip,
            window,
        }
    }

    /// Remarks on the result.
    fn notes(&self, kernel: &str, parameters: &[(&'static str, Value)]) -> Vec<String> {
        self.body.notes(self.entry, kernel, &written(parameters), !self.unscaled)
    }

    /// Predicts and learns a chunk, block by block; the clock runs only here. Then its rows are
    /// scored.
    fn learn(&mut self, chunk: &ExampleChunk, names: &Names) -> Result<(), Failure> {
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
    fn record(
        &mut self,
        chunk: &ExampleChunk,
        names: &Names,
        index: usize,
        dictionary_size: usize,
    ) -> Result<(), Failure> {
        let cumulative_loss = self.body.record(chunk, index, self.rounds >= self.skip, dictionary_size);
        self.rounds += 1;
        if let (false, Scoring::Numbers(numbers)) = (cumulative_loss.is_finite(), &self.body) {
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
    fn write(&self, lines: &mut String, cells: &AnswerCells, chunk: &ExampleChunk, names: &Names) {
        let before = self.rounds - chunk.len();
        for index in 0..chunk.len() {
            // Writing to a string cannot fail.
            let _ = write!(lines, "{}", before + index + 1);
            for (_, cell) in cells.named() {
                lines.push(',');
                if let Some(text) = self.cell(cell, chunk, names, index) {
                    lines.push_str(&text);
                }
            }
            lines.push('\n');
        }
    }

    /// The text of a cell; a value that does not exist yet has none.
    fn cell(&self, cell: &AnswerCell, chunk: &ExampleChunk, names: &Names, index: usize) -> Option<String> {
        match (cell, &self.body) {
            (AnswerCell::Size, _) => Some(self.sizes[index].to_string()),
            (AnswerCell::Target(output), Scoring::Numbers(numbers)) => {
                Some(number(numbers.targets(chunk, index)[*output]))
            }
            (AnswerCell::Prediction(output), Scoring::Numbers(numbers)) => {
                Some(number(numbers.predictions(index)[*output]))
            }
            (AnswerCell::Loss, Scoring::Numbers(numbers)) => Some(number(numbers.loss(chunk, index))),
            (AnswerCell::Variance(output), Scoring::Numbers(numbers)) => numbers.variance(index, *output).map(number),
            (AnswerCell::Lower(output), Scoring::Numbers(numbers)) => {
                numbers.interval(index, *output).map(|[low, _]| number(low))
            }
            (AnswerCell::Upper(output), Scoring::Numbers(numbers)) => {
                numbers.interval(index, *output).map(|[_, high]| number(high))
            }
            (AnswerCell::Score | AnswerCell::Probability(_), Scoring::Numbers(_))
            | (AnswerCell::Variance(_) | AnswerCell::Lower(_) | AnswerCell::Upper(_), Scoring::Classes(_)) => None,
            (AnswerCell::Target(_), Scoring::Classes(_)) => {
                names.texts().get(chunk.targets[index] as usize).map(quoted)
            }
            (AnswerCell::Prediction(_), Scoring::Classes(classes)) => classes.prediction(index).map(quoted),
            (AnswerCell::Loss, Scoring::Classes(classes)) => classes.loss(index).map(number),
            (AnswerCell::Score, Scoring::Classes(classes)) => classes.z(index).map(number),
            (AnswerCell::Probability(class), Scoring::Classes(classes)) => {
                classes.probability(index, class).map(number)
            }
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
