//! `mercer eval`: one prequential pass.

pub(crate) mod arguments;
mod classes;
mod feed;
mod numbers;
mod pass;
#[cfg(feature = "plots")]
pub(crate) mod picture;
mod rounds;
pub(crate) mod scaled_table;
mod scoring;
mod writing;

use mercer_encoding::Scale;
use mercer_registry::catalogue::{self, Entry, Settings};
use mercer_session::{AlarmKind, Groups, LabelDelay, WatchChoices};

use crate::arguments::task::{Kind, TaskOptions};
use crate::data::encoded_rows::RunningEncoding;
use crate::data::stop::Stop;
use crate::eval::feed::{ExampleChunk, ExampleFeed};
use crate::limits::first_rows;
use crate::model::cells;
use crate::model::construction::{Construction, Premises};
use crate::model::memory;
use crate::model::watching::SessionWatch;
use crate::report::failure::Failure;
use crate::report::notes::Alarm;
use crate::report::output::{self, Predictions};
use crate::report::scores::Metric;
use crate::report::verbosity;

use arguments::EvalArguments;
use pass::{Ends, EvalPass, EvalRoad};
use scoring::Scoring;

pub(crate) fn run(arguments: &EvalArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let entry = catalogue::find(&common.learner)?;
    Settings::new(entry, common.set.iter().map(String::as_str))?;
    cells::check(&arguments.columns, common.intervals.wanted())?;
    common.groups.labels.check(&[("--permute", common.permute.is_some())])?;
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
    let made = construct(arguments, entry, &feed, &chunk)?;
    let (kernel, parameters) = (made.kernel.clone(), made.parameters.clone());
    let followed = Metric::followed(arguments.scores.metric, feed.kind().is_class(), common.intervals.wanted())?;
    let shown = common.data.display().to_string();
    // Nothing is known before the first label.
    let late = if let Some(LabelDelay::Rows(rows)) = common.label_delay { rows } else { 0 };
    let skip = arguments.scores.skipped(entry).max(if entry.autonomous { late + 1 } else { 0 });
    let ends = Ends { block: feed.block(), rounds: feed.length() };
    let groups = feed.group().map(|column| Groups::new(column, common.groups.max_groups as usize));
    let road = EvalRoad { encoding: feed.encoding().cloned(), groups, ends, skip, aloud: true };
    let mut pass = EvalPass::new(arguments, entry, made, road)?;
    #[cfg(feature = "plots")]
    if plot.is_some() {
        pass.gathered = Some(picture::PictureData::new(&pass.scoring));
    }
    let written = predictions.map(|file| pass.cells(arguments, &feed).map(|cells| (file, cells))).transpose()?;
    pass.watching = watched(arguments, &feed)?;
    if let Scoring::Numbers(_) = &pass.scoring {
        let mut alarm = Alarm::new(entry, &parameters, (&kernel, &shown), common.scale != Scale::None);
        chunk.targets.chunks(feed.kind().outputs()).for_each(|targets| alarm.hear(targets));
    }
    let predictions = pass.over(arguments, &mut feed, chunk, written, &stop)?;
    check_skip(skip, pass.count)?;
    let report = pass.report(arguments, &feed, followed, (kernel, parameters));
    let text = if arguments.json { report.json()? } else { report.text(&shown) };
    #[cfg(feature = "plots")]
    if let (Some(plot), Some(gathered)) = (plot, &pass.gathered) {
        let (targets, trace) = (feed.columns().targets(), pass.trace.records());
        let about = picture::PictureFacts { data: &shown, targets, trace, report: &report };
        plot.finish(&picture::draw(gathered, &pass.scoring, &about))?;
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
    let mut first = ExampleChunk::default();
    let premises = match feed.encoding() {
        None => premises(dimension, kind, Some(chunk)),
        Some(encoding) => {
            let mut running = RunningEncoding::new(encoding.clone(), kind);
            common.label_delay.into_iter().for_each(|delay| running.delay(delay));
            first.clone_from(chunk);
            first.encode(&mut running, feed.names());
            premises(dimension, kind, Some(&first))
        }
    };
    let made = Construction::new(common, entry, &premises)?;
    verbosity::more(|| {
        let target = kind.words(feed.columns().targets());
        format!("{shown}: {dimension} features, {target}, kernel {}, blocks of {}", made.kernel, feed.block())
    });
    Ok(made)
}

/// What watches the rows of a feed, if they are to be watched.
fn watched(arguments: &EvalArguments, feed: &ExampleFeed) -> Result<Option<SessionWatch>, Failure> {
    if !arguments.watch {
        return Ok(None);
    }
    let shown = arguments.common.data.display();
    if feed.kind().outputs() > 1 {
        return Err(Failure::usage(format!("{shown}: --watch is for one target; say with --target which it is")));
    }
    let choices = WatchChoices {
        rows_to_a_false_alarm: arguments.alarm_rate.rows,
        kinds: AlarmKind::ALL.to_vec(),
        seed: arguments.common.seed,
        ..WatchChoices::default()
    };
    let made = match feed.encoding() {
        Some(encoding) => SessionWatch::of_table(encoding.schema(), feed.target(), choices),
        None => SessionWatch::of_numbers(feed.columns().features(), feed.dimension(), choices),
    };
    made.map(Some).map_err(|why| Failure::because(format!("{shown}: {why}")))
}

/// Refuses to leave out all of the rows.
fn check_skip(skip: usize, rows: usize) -> Result<(), Failure> {
    if skip < rows {
        return Ok(());
    }
    Err(Failure::because(if rows == 0 {
        "no row is left to be scored; the first that was left out is told above".to_owned()
    } else if skip == 1 {
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
