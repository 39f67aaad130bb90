//! `mercer train`: one pass over a stream, kept in a model file.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::iter;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::Args;
use mercer::catalogue::{self, Built, Context, Settings, Value};
use mercer::data::{Example, Scaling, Targets};
use mercer::model::{ClassProgress, Classification, Description, Progress, Regression, Seen};
use mercer::{KernelSpec, Regressor};

use super::bad_rows::{BadRows, OnError};
use super::classes::Fresh;
use super::failure::Failure;
use super::input::{Kind, Wanted};
use super::learning::{Learning, with_numbers};
use super::lock::ModelLock;
use super::memory;
use super::notes::{self, Outcome, Watch};
use super::output::{self, digits, number};
use super::rows::{Kept, Origin, Reading, Row, Rows};
use super::saving::{Fact, Saving, check_same, parameter_facts, refuse_same_file};
use super::source::{Learned, Source};
use super::stop::Stop;
use super::table::Table;
use super::trained::{Answer, Trained};
use super::{CommonArguments, FIRST_ROWS, count, every, pipe, store};

/// Learn from a stream of examples, one by one, and save the model
///
/// Every example is predicted before it is learnt; what that cost is told on stderr at rows 1, 2, 4, 8, … The model is written when
/// the stream ends, and also when SIGINT or SIGTERM ends it early: with --resume the same command goes on from there, exactly.
///
/// Learning begins with the first row, unless the first 256 settle something: the width of --kernel median, or a value `auto` that looks
/// at the data. They are then gathered first.
///
/// Whether the target is a class is settled by the first rows, too. Where learning begins with the first row of a pipe, the target is a
/// number unless --task class is given.
///
/// With --intervals the model keeps intervals that `mercer predict --intervals` tells and, with --learn, goes on calibrating.
///
/// With --scale the model keeps the ranges, and what `mercer predict` tells is in the target's own units.
///
/// DATA is as for `mercer eval`: a file, `-` for standard input, or the name of a known data set.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    common: CommonArguments,
    /// How many rows will be learnt, for a formula in T; no more than a number in that formula
    #[arg(long, value_name = "N", value_parser = count)]
    rows: Option<NonZeroUsize>,
    /// The file of the model
    #[arg(long, value_name = "OUT")]
    model: PathBuf,
    /// Write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every)]
    checkpoint: Option<NonZeroU64>,
    /// Go on from OUT, if it is there: DATA and all options must be those of the run that wrote it
    #[arg(long)]
    resume: bool,
    /// What becomes of rows that cannot be read or learnt: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// No table on stderr
    #[arg(long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer train train.csv --learner krls --kernel gaussian:2 --scale paper01 --model krls.mercer
  tail -f log.ndjson | mercer train - --format ndjson --learner auto --model live.mercer --checkpoint 10000 --on-error skip
  mercer train big.csv.gz --learner nons-ald --model m.mercer --checkpoint 1000000 --resume
";

pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let _lock = ModelLock::take("--model", &arguments.model)?;
    let saved = match arguments.resume && arguments.model.exists() {
        true => Some(store::load_trained(&arguments.model)?),
        false => None,
    };
    let inputs: Vec<&Path> =
        iter::once(&*arguments.common.data).chain(arguments.common.scale_from.as_deref()).collect();
    refuse_same_file("--model", &arguments.model, &inputs)?;
    arguments.on_error.check(&inputs, ("--model", &Some(arguments.model.clone())))?;
    store::check_place("--model", &arguments.model)?;
    let stop = Stop::listen()?;
    let entry = catalogue::find(&arguments.common.learner)?;
    let settings = Settings::new(entry, arguments.common.set.iter().map(String::as_str))?;
    let survey = Survey::make(arguments, settings.needs_rounds())?;
    let common = &arguments.common;
    let wanted = Wanted::of(common);
    // The first rows settle the kernel's width and whatever else looks at data; nobody waits for them otherwise.
    let median = matches!(common.kernel, KernelSpec::Median) && !entry.autonomous;
    let looks = settings.needs_rows() || median;
    let at_once = pipe::is_one(&common.data) && !looks && !wanted.is_told();
    let reading = Reading {
        data: &common.data,
        dialect: &common.dialect,
        target: common.target.clone(),
        weight: common.weight.clone(),
        ignore: &common.ignore,
        names: (&[], None),
        dimension: survey.dimension.or(arguments.common.dimension.map(usize::from)),
        features_alone: false,
        targets: if at_once { Targets::Numbers } else { wanted.targets() },
        wanted,
    };
    let mut rows = Rows::open(&reading, stop.clone(), || ())?;
    rows.kind().check(entry, wanted, rows.shown())?;
    let dimension = rows.columns().dimension;
    arguments.common.check_dimension(rows.shown(), dimension)?;
    if let Some(learned) = &survey.learned {
        learned.columns.check(&learned.shown, rows.columns(), rows.shown())?;
        learned.check_outputs(rows.kind(), rows.shown())?;
    }
    let scaling = survey
        .learned
        .zip(arguments.common.scale.scheme())
        .map(|(learned, scheme)| Scaling::new(learned.ranges, scheme));

    let limit = arguments.common.limit.map_or(usize::MAX, usize::from);
    let looked_at = if looks { FIRST_ROWS.min(limit) } else { 0 };
    let mut ahead: VecDeque<Kept> = VecDeque::new();
    let mut example = Example::default();
    let (mut first, mut weights) = (Vec::new(), Vec::new());
    while first.len() < looked_at * dimension {
        let Some(row) = rows.next(&mut example)? else { break };
        if let Row::Good = row {
            let mut scaled = example.features.clone();
            if scaling.as_ref().is_none_or(|scaling| scaling.row(&mut scaled).is_ok()) {
                first.extend(scaled);
                weights.push(example.weight);
            }
        }
        ahead.push_back(Kept::of(&rows, row, &example));
    }
    if looks && stop.requested() {
        return Err(Failure::because(
            "ended by a signal before the first rows could settle the kernel; nothing was saved",
        ));
    }
    let (kernel, spec) = common.kernel(entry, dimension, &first, &weights)?;
    let rounds = survey.rounds.or_else(|| rows.length()).map(|rounds| rounds.min(limit));
    match rounds {
        Some(rounds) => memory::check(entry, rows.shown(), rounds, dimension)?,
        None if !arguments.quiet => {
            if let Some(remark) = memory::remark(entry, dimension) {
                eprintln!("mercer: {remark}");
            }
        }
        None => {}
    }
    let (kind, seed) = (rows.kind(), common.seed);
    let (outputs, classes) = (kind.outputs(), kind.is_class());
    let context = Context { rounds, dimension, seed, rows: &first, outputs, classes };
    let build = |more: Option<&str>| -> Result<Built, Failure> {
        let settings = Settings::new(entry, common.set.iter().map(String::as_str).chain(more))?;
        Ok(settings.build(kernel.clone(), &context)?)
    };
    let describe = |parameters: &[(&'static str, Value)]| {
        let targets = rows.columns().targets();
        Description {
            learner: entry.name.to_owned(),
            kernel: spec.clone(),
            parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect(),
            seed,
            features: rows.columns().features().to_vec(),
            target_name: targets.first().cloned(),
            target: common.target.clone().unwrap_or_default(),
            target_names: if targets.len() > 1 { targets.to_vec() } else { Vec::new() },
            weight: common.weight.clone(),
        }
    };
    let (fresh, parameters) = match kind {
        Kind::Numbers(_) => {
            let Built { learner, parameters } = build(None)?;
            let intervals = common.intervals.make(&learner)?;
            let description = describe(&parameters);
            let model = Regression { description, scaling, progress: Progress::default(), intervals, learner };
            (Trained::Numbers(model.into()), parameters)
        }
        Kind::Class(two) => {
            common.intervals.refuse_for_classes()?;
            let Fresh { classifier, labels, parameters } = Fresh::make(entry, two, build)?;
            let (description, progress) = (describe(&parameters), ClassProgress::default());
            let model = Classification { description, labels, scaling, progress, classifier };
            (Trained::Classes(model.into()), parameters)
        }
    };
    let (model, known) = match saved {
        Some(saved) => {
            check_resumable(&arguments.model, &saved, &fresh)?;
            (saved, true)
        }
        None => (fresh, false),
    };

    let bad = BadRows::new(&arguments.on_error)?;
    let table = Table::new(arguments.quiet, classes, model.scaling().is_some(), model.standing());
    let goal = if known { model.seen() } else { Seen::default() };
    let saving = Saving::new("--model", arguments.model.clone(), arguments.checkpoint);
    let saving = saving.resuming(rows.shown(), Seen::default(), goal);
    let (watch, weighted, answer) = (Watch::default(), rows.are_weighted(), Answer::default());
    let mut learning = Learning { model, bad, table, saving, watch, weighted, answer };
    let ended = loop {
        if stop.requested() || learning.model.standing().rounds == limit {
            break Ok(());
        }
        let taken = match ahead.pop_front() {
            Some(mut kept) => {
                let (row, mut example) = (kept.row.clone(), std::mem::take(&mut kept.example));
                take(&mut learning, row, &mut example, &kept)
            }
            None => match rows.next(&mut example) {
                Ok(Some(row)) => take(&mut learning, row, &mut example, &rows),
                Ok(None) => break Ok(()),
                Err(failure) => Err(failure),
            },
        };
        if taken.is_err() {
            break taken;
        }
    };
    learning.saving.end(ended, &stop, || learning.model.to_bytes())?;
    learning.report();
    let bound = entry.bound.filter(|_| learning.model.scaling().is_none());
    let bound = parameters.iter().find(|(key, _)| Some(*key) == bound).map(|(key, value)| (*key, value));
    let dictionary_size = learning.model.dictionary_size();
    let notes = match &learning.model {
        Trained::Numbers(model) => {
            let (kernel, score) = (model.description.kernel.as_str(), &model.progress.score);
            learning.watch.notes(&Outcome { entry, kernel, bound, score, dictionary_size })
        }
        Trained::Classes(model) => {
            let crowded = notes::crowded(entry, model.progress.learnt as usize, dictionary_size);
            crowded.into_iter().chain(notes::majority(&model.progress.score)).collect()
        }
    };
    let mut text = summary(&learning, &arguments.model, stop.requested());
    for note in notes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Note: {note}");
    }
    output::print(&text)
}

/// The row: learnt, refused, or known already.
fn take(learning: &mut Learning, row: Row, example: &mut Example, origin: &impl Origin) -> Result<(), Failure> {
    let saving = &mut learning.saving;
    let known = match &row {
        Row::Good => with_numbers(example, learning.weighted, |numbers| saving.knows(numbers))?,
        Row::Bad(_) => saving.knows([&[], &[f64::NAN]])?,
    };
    match row {
        _ if known => Ok(()),
        Row::Good => learning.learn(origin, example).map(drop),
        Row::Bad(why) => learning.unreadable(why, origin),
    }
}

/// What is to be known of the data before they are learnt.
#[derive(Default)]
struct Survey {
    learned: Option<Learned>,
    /// `T`
    rounds: Option<usize>,
    /// d of a format that does not tell.
    dimension: Option<usize>,
}

impl Survey {
    /// `formula` is the first key whose value depends on T.
    fn make(arguments: &TrainArguments, formula: Option<&str>) -> Result<Self, Failure> {
        let promised = arguments.rows.map(usize::from);
        let scheme = arguments.common.scale.scheme();
        if arguments.common.scale_from.is_some() && scheme.is_none() {
            return Err(Failure::usage(
                "--scale-from tells the ranges but not where they go; add --scale paper01 or paper11",
            ));
        }
        let skip = arguments.on_error != OnError::Stop;
        let learned = |path: &Path| Learned::from(path, &arguments.common, skip);
        let of_file = arguments.common.scale_from.as_deref().map(learned).transpose()?;
        let named = matches!(Source::of(&arguments.common.data)?, Source::Named(_));
        let needs_rounds = formula.filter(|_| promised.is_none() && !named);
        let reason = match needs_rounds {
            Some(key) => Some(format!("T in the value of {key}")),
            None => (scheme.is_some() && of_file.is_none()).then(|| "--scale without --scale-from".to_owned()),
        };
        let mut survey = Self { rounds: promised, ..Self::default() };
        if let Some(reason) = reason {
            if pipe::is_one(&arguments.common.data) {
                let mend = if needs_rounds.is_some() { "say it with --rows N" } else { "add --scale-from FILE" };
                return Err(Failure::usage(format!(
                    "{}: {reason} needs to see the stream before it is learnt; {mend}, or give a file",
                    arguments.common.data.display()
                )));
            }
            let all = learned(&arguments.common.data)?;
            survey.rounds = promised.or(Some(all.rows));
            survey.learned = scheme.is_some().then_some(all);
        }
        survey.learned = of_file.or(survey.learned);
        survey.dimension = survey.learned.as_ref().map(|learned| learned.columns.dimension);
        Ok(survey)
    }
}

/// Refuses a saved model that is not one of the run that would begin now.
fn check_resumable(path: &Path, saved: &Trained, fresh: &Trained) -> Result<(), Failure> {
    let (old, new) = (saved.description(), fresh.description());
    let kinds = [saved.kind(), fresh.kind()].map(|kind| kind.to_string());
    let seeds = [old.seed, new.seed].map(|seed| seed.to_string());
    let intervals = [saved, fresh].map(Trained::intervals_told);
    let facts = [
        Fact { name: "kind", saved: &kinds[0], now: &kinds[1] },
        Fact { name: "learner", saved: &old.learner, now: &new.learner },
        Fact { name: "kernel", saved: &old.kernel, now: &new.kernel },
        Fact { name: "share of intervals", saved: &intervals[0], now: &intervals[1] },
    ];
    let seed = Fact { name: "seed", saved: &seeds[0], now: &seeds[1] };
    let facts = facts.into_iter().chain(parameter_facts(&old.parameters, &new.parameters)).chain([seed]);
    let columns = |model: &Trained| (model.dimension(), model.outputs());
    let told = Description { parameters: old.parameters.clone(), ..new.clone() };
    let otherwise = if *old != told || columns(saved) != columns(fresh) {
        Some("its columns are other ones")
    } else {
        (saved.scaling() != fresh.scaling()).then_some("its scaling is another one")
    };
    check_same(path, facts, otherwise)
}

fn summary(learning: &Learning, path: &Path, stopped: bool) -> String {
    let (standing, size) = (learning.model.standing(), learning.model.dictionary_size());
    let (learnt, mse) = (standing.rounds, standing.loss / standing.weight);
    let loss = match (&learning.model, learning.model.scaling()) {
        _ if learnt == 0 => String::new(),
        (Trained::Classes(model), _) => {
            let (classes, accuracy) = (model.labels.len(), digits(model.progress.score.accuracy()));
            format!(", {classes} classes, accuracy {accuracy}")
        }
        (Trained::Numbers(_), None) => format!(", mean squared error {}", number(mse)),
        (Trained::Numbers(model), Some(_)) if model.learner.outputs() > 1 => {
            format!(", mean squared error {} in scaled units", number(mse))
        }
        (Trained::Numbers(_), Some(scaling)) => {
            let own = number(mse * scaling.target_unit().powi(2));
            format!(", mean squared error {} in scaled units ({own} in the target's own)", number(mse))
        }
    };
    let plural = if learnt == 1 { "" } else { "s" };
    let stopped = if stopped { "; ended by a signal, --resume goes on from here" } else { "" };
    format!(
        "{}: {} with {learnt} row{plural} learnt{loss}, dictionary size {size}{stopped}\n",
        path.display(),
        learning.model.description().learner
    )
}
