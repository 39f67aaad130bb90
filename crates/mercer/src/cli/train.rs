//! `mercer train`: one pass over a stream, kept in a model file.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::iter;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::Args;
use mercer::catalogue::{self, Built, Context};
use mercer::data::Scaling;
use mercer::model::{Description, Progress, Regression, Seen};
use mercer::{KernelSpec, Regressor};

use super::bad_rows::{BadRows, OnError};
use super::failure::Failure;
use super::learning::Learning;
use super::memory;
use super::notes::{Outcome, Watch};
use super::output::{self, number};
use super::rows::{Kept, Origin, Reading, Row, Rows};
use super::saving::{Fact, Saving, check_same, parameter_facts, refuse_same_file};
use super::source::{Learned, Source};
use super::stop::Stop;
use super::table::Table;
use super::{CommonArguments, FIRST_ROWS, count, every, pipe, store};

/// Learn from a stream of examples, one by one, and save the model
///
/// Every example is predicted before it is learnt; what that cost is told on stderr at rows 1, 2, 4, 8, … The model is written when
/// the stream ends, and also when SIGINT or SIGTERM ends it early: with --resume the same command goes on from there, exactly.
///
/// Learning begins with the first row, unless the first 256 settle something: the width of --kernel median, or a value `auto` that looks
/// at the data. They are then gathered first.
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
    let saved = match arguments.resume && arguments.model.exists() {
        true => Some(store::load_regression(&arguments.model)?),
        false => None,
    };
    let inputs: Vec<&Path> =
        iter::once(&*arguments.common.data).chain(arguments.common.scale_from.as_deref()).collect();
    refuse_same_file("--model", &arguments.model, &inputs)?;
    arguments.on_error.check(&inputs, ("--model", &Some(arguments.model.clone())))?;
    store::check_place("--model", &arguments.model)?;
    let stop = Stop::listen()?;
    let entry = catalogue::find(&arguments.common.learner)?;
    let settings = entry.settings(arguments.common.set.iter().map(String::as_str))?;
    let survey = Survey::make(arguments, settings.needs_rounds())?;
    let reading = Reading {
        data: &arguments.common.data,
        format: arguments.common.format,
        target: arguments.common.target.as_ref(),
        ignore: &arguments.common.ignore,
        names: (&[], None),
        dimension: survey.dimension.or(arguments.common.dimension.map(usize::from)),
        features_alone: false,
    };
    let mut rows = Rows::open(&reading, stop.clone(), || ())?;
    let dimension = rows.columns().dimension;
    arguments.common.check_dimension(rows.shown(), dimension)?;
    if let Some(learned) = &survey.learned {
        learned.columns.check(&learned.shown, rows.columns(), rows.shown())?;
    }
    let scaling = survey
        .learned
        .zip(arguments.common.scale.scheme())
        .map(|(learned, scheme)| Scaling::new(learned.ranges, scheme));

    // The first rows settle the kernel's width and whatever else looks at data; nobody waits for them otherwise.
    let limit = arguments.common.limit.map_or(usize::MAX, usize::from);
    let median = matches!(arguments.common.kernel, KernelSpec::Median) && !entry.autonomous;
    let looks = settings.needs_rows() || median;
    let wanted = if looks { FIRST_ROWS.min(limit) } else { 0 };
    let mut ahead: VecDeque<Kept> = VecDeque::new();
    let mut features = Vec::new();
    let mut first = Vec::new();
    while first.len() < wanted * dimension {
        let Some(row) = rows.next(&mut features)? else { break };
        if let Row::Good(_) = row {
            let mut scaled = features.clone();
            let fits = scaling.as_ref().is_none_or(|scaling| scaling.row(&mut scaled).is_ok());
            first.extend(fits.then_some(scaled).into_iter().flatten());
        }
        ahead.push_back(Kept::of(&rows, row, &features));
    }
    if looks && stop.requested() {
        return Err(Failure::because(
            "ended by a signal before the first rows could settle the kernel; nothing was saved",
        ));
    }
    let (kernel, spec) = arguments.common.kernel(entry, dimension, &first)?;
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
    let context = Context { rounds, dimension, seed: arguments.common.seed, rows: &first };
    let Built { learner, parameters } = settings.build(kernel, &context)?;
    let description = Description {
        learner: entry.name.to_owned(),
        kernel: spec,
        parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect(),
        seed: arguments.common.seed,
        features: rows.columns().features().to_vec(),
        target_name: rows.columns().target().map(str::to_owned),
        target: arguments.common.target.clone().unwrap_or_default(),
    };
    let fresh = Regression { description, scaling, progress: Progress::default(), learner };
    let (model, known) = match saved {
        Some(saved) => {
            check_resumable(&arguments.model, &saved, &fresh)?;
            (saved, true)
        }
        None => (fresh, false),
    };

    let bad = BadRows::new(&arguments.on_error)?;
    let table = Table::new(arguments.quiet, model.scaling.is_some(), &model.progress.score);
    let goal = if known { model.progress.seen() } else { Seen::default() };
    let saving = Saving::new("--model", arguments.model.clone(), arguments.checkpoint);
    let saving = saving.resuming(rows.shown(), Seen::default(), goal);
    let mut learning = Learning { model, bad, table, saving, watch: Watch::default() };
    let ended = loop {
        if stop.requested() || learning.progress().score.rounds() == limit {
            break Ok(());
        }
        let taken = match ahead.pop_front() {
            Some(mut kept) => {
                let (row, mut features) = (kept.row.clone(), std::mem::take(&mut kept.features));
                take(&mut learning, row, &mut features, &kept)
            }
            None => match rows.next(&mut features) {
                Ok(Some(row)) => take(&mut learning, row, &mut features, &rows),
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
    let bound = entry.bound.filter(|_| learning.model.scaling.is_none());
    let bound = parameters.iter().find(|(key, _)| Some(*key) == bound).map(|(key, value)| (*key, value));
    let Regression { description, progress, learner, .. } = &learning.model;
    let (kernel, score) = (description.kernel.as_str(), &progress.score);
    let dictionary_size = learner.dictionary_size();
    let notes = learning.watch.notes(&Outcome { entry, kernel, bound, score, dictionary_size });
    let mut text = summary(&learning, &arguments.model, stop.requested());
    for note in notes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Note: {note}");
    }
    output::print(&text)
}

/// The row: learnt, refused, or known already.
fn take(learning: &mut Learning, row: Row, features: &mut [f64], origin: &impl Origin) -> Result<(), Failure> {
    let known = match &row {
        Row::Good(target) => learning.saving.knows([features, &[*target]])?,
        Row::Bad(_) => learning.saving.knows([&[], &[f64::NAN]])?,
    };
    match row {
        _ if known => Ok(()),
        Row::Good(target) => learning.learn(origin, features, target).map(drop),
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
fn check_resumable(path: &Path, saved: &Regression, fresh: &Regression) -> Result<(), Failure> {
    let (old, new) = (&saved.description, &fresh.description);
    let seeds = [old.seed, new.seed].map(|seed| seed.to_string());
    let facts = [
        Fact { name: "learner", saved: &old.learner, now: &new.learner },
        Fact { name: "kernel", saved: &old.kernel, now: &new.kernel },
    ];
    let seed = Fact { name: "seed", saved: &seeds[0], now: &seeds[1] };
    let facts = facts.into_iter().chain(parameter_facts(&old.parameters, &new.parameters)).chain([seed]);
    let otherwise = if old != new || saved.learner.dimension() != fresh.learner.dimension() {
        Some("its columns are other ones")
    } else {
        (saved.scaling != fresh.scaling).then_some("its scaling is another one")
    };
    check_same(path, facts, otherwise)
}

fn summary(learning: &Learning, path: &Path, stopped: bool) -> String {
    let progress = learning.progress();
    let (learnt, size) = (progress.score.rounds(), learning.model.learner.dictionary_size());
    let mse = progress.score.mse();
    let loss = match &learning.model.scaling {
        _ if learnt == 0 => String::new(),
        None => format!(", mean squared error {}", number(mse)),
        Some(scaling) => {
            let own = number(mse * scaling.target_unit().powi(2));
            format!(", mean squared error {} in scaled units ({own} in the target's own)", number(mse))
        }
    };
    let plural = if learnt == 1 { "" } else { "s" };
    let stopped = if stopped { "; ended by a signal, --resume goes on from here" } else { "" };
    format!(
        "{}: {} with {learnt} row{plural} learnt{loss}, dictionary size {size}{stopped}\n",
        path.display(),
        learning.model.description.learner
    )
}
