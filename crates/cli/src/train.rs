//! `mercer train`: one pass over a stream, kept in a model file.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::Args;
use mercer_encoding::Scale;
use mercer_kernels::KernelSpec;
use mercer_learners::intervals::IntervalScale;
use mercer_readers::Targets;
use mercer_registry::catalogue::{self, Entry, Settings};
use mercer_session::model::{Classes, Description, Numbers, RowDigest, Task, Taught};
use mercer_session::notes::{Face, of_session};
use mercer_session::{Groups, LabelDelay, Row, Session};

use crate::arguments::dialect::{kept_gaps, known_gaps};
use crate::arguments::task::TaskOptions;
use crate::arguments::{CommonArguments, every};
use crate::data::bad_rows::{BadRows, OnError};
use crate::data::encoded_rows::{EncodedRows, Looking, Oddities, RunningEncoding};
use crate::data::pipe;
use crate::data::reading::Reading;
use crate::data::rows::{NextRow, Origin, RowKind, TimedSource};
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::limits::first_rows;
use crate::model::construction::{Construction, FreshLearner, Premises};
use crate::model::learning::Learning;
use crate::model::lock;
use crate::model::memory;
use crate::model::saving::{Fact, Saving, check_same, parameter_facts, refuse_same_file};
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::notes::{Alarm, texts};
use crate::report::output::{self, digits};
use crate::report::verbosity;

/// Learn from a stream of examples, one by one, and save the model
///
/// Every example is predicted before it is learnt; what that cost is told on stderr at rows 1, 2,
/// 4, 8, … The model is written when the stream ends, and also when SIGINT, SIGTERM or SIGHUP ends
/// it early: with --resume the same command goes on from there, exactly.
///
/// Learning begins with the first row, unless the first 256 settle something: the width of --kernel
/// median, or a value `auto` that looks at the data. They are then gathered first.
///
/// Whether the target is a class is settled by the first rows, too. Where learning begins with the
/// first row of a pipe, the target is a number unless --task class is given.
///
/// With --intervals the model keeps intervals that `mercer predict --intervals` tells and, with
/// --learn, goes on calibrating.
///
/// With --scale the model keeps the scales, and what `mercer predict` tells is in the target's own
/// units. A table with columns that are not numbers, or with gaps, is encoded; the model keeps what
/// the columns are and how they become numbers.
///
/// DATA is as for `mercer eval`: a file, `-` for standard input, or the name of a known data set.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    common: CommonArguments,
    /// The file of the model
    #[arg(short, long, alias = "model", value_name = "FILE")]
    out: PathBuf,
    /// Write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every)]
    checkpoint: Option<NonZeroU64>,
    /// Go on from the file of --out, if it is there: DATA and all options must be those of the run
    /// that wrote it
    #[arg(long)]
    resume: bool,
    /// What becomes of rows that cannot be read or learnt: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
}

const EXAMPLES: &str = "\
Examples:
  mercer train train.csv --learner 'krls kernel=gaussian:2' --scale standard --out krls.mercer
  tail -f log.ndjson | mercer train - --format ndjson --learner auto --out live.mercer --checkpoint 10000 --on-error skip
  mercer train big.csv.gz --learner nons-ald --out m.mercer --checkpoint 1000000 --resume
";

pub(crate) fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let _lock = lock::take("--out", &arguments.out)?;
    let saved = match arguments.resume && arguments.out.exists() {
        true => Some(store::load_trained(&arguments.out)?),
        false => None,
    };
    let common = &arguments.common;
    common.groups.labels.check(&[("--resume", arguments.resume), ("--permute", common.permute.is_some())])?;
    let inputs = [common.data.as_path()];
    refuse_same_file("--out", &arguments.out, &inputs)?;
    arguments.on_error.check(&inputs, ("--out", &Some(arguments.out.clone())))?;
    store::check_place("--out", &arguments.out)?;
    let stop = Stop::listen()?;
    let mut plan = TrainPlan::of(arguments, &stop)?;
    let beginning = plan.begin(&stop)?;
    let made = plan.construct(arguments, &beginning)?;
    let alarm = Alarm::new(plan.entry, &made.parameters, (&made.kernel, plan.rows.input().shown()), plan.scaled);
    let fresh = plan.model(common, made)?;
    let (model, goal) = match saved {
        Some(saved) => {
            check_resumable(&arguments.out, &saved, &fresh)?;
            let goal = saved.progress.seen();
            (saved, goal)
        }
        None => (fresh, RowDigest::default()),
    };
    let saving = Saving::new("--out", arguments.out.clone(), arguments.checkpoint);
    let saving = saving.resuming(plan.rows.input().shown(), RowDigest::default(), goal);
    let bad = BadRows::new(&arguments.on_error)?.behind(&model.description.own);
    let mut learning = Learning::new(model, bad, saving, plan.rows.input().is_weighted(), Oddities::default());
    learning = learning.with_delay(common.label_delay)?.with_ids(&common.groups.labels);
    let ended = plan.pass(&mut learning, beginning.ahead, alarm, &stop);
    learning.end(ended, &stop)?;
    learning.report();
    let mut text = summary(&learning, &arguments.out, stop.requested());
    for note in notes(&learning).into_iter().chain(plan.rows.input().order_note()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Note: {note}");
    }
    output::print(&text)
}

/// The rows, and what is known of them before the first is read.
struct TrainPlan {
    entry: &'static Entry,
    rows: TimedSource,
    scaled: bool,
    limit: usize,
    /// How late labels come, if they do.
    delay: Option<LabelDelay>,
    /// Whether the first rows settle something.
    looks: bool,
}

/// Rows that were read before the first is learnt.
#[derive(Default)]
struct FirstRows {
    ahead: VecDeque<NextRow>,
    /// The numbers of the good ones as the model will have them, and their weights.
    numbers: Vec<f64>,
    weights: Vec<f64>,
}

impl TrainPlan {
    fn of(arguments: &TrainArguments, stop: &Stop) -> Result<Self, Failure> {
        let common = &arguments.common;
        let entry = catalogue::find(&common.learner)?;
        let settings = Settings::new(entry, common.set.iter().map(String::as_str))?;
        let wanted = TaskOptions::from_arguments(common);
        // The first rows settle the kernel's width and whatever else looks at data; nobody waits
        // for them otherwise.
        let median = matches!(common.kernel, KernelSpec::Median) && !entry.autonomous;
        let looks = settings.needs_rows() || median;
        let at_once = pipe::is_one(&common.data) && common.permute.is_none() && !looks && !wanted.is_told();
        let skips = arguments.on_error != OnError::Stop;
        let looking = Looking { skips, at_once, ..Looking::of(common, &Source::resolve(&common.data)?)? };
        let mut reading = Reading::from_options(common, &common.data, wanted, looking);
        if at_once {
            reading.options.targets = Targets::Numbers;
        }
        let mut rows = TimedSource::open(&reading, stop.clone(), || ())?;
        rows.watch_order();
        rows.input().kind().check(entry, wanted, rows.input().shown())?;
        rows.input().kind().tell(wanted, rows.input().shown());
        common.check_dimension(rows.input().shown(), rows.input().columns().dimension)?;
        let limit = common.limit.map_or(usize::MAX, usize::from);
        let scaled = common.scale != Scale::None;
        Ok(Self { entry, rows, scaled, limit, delay: common.label_delay, looks })
    }

    /// Reads the first rows, if they settle something.
    fn begin(&mut self, stop: &Stop) -> Result<FirstRows, Failure> {
        let (mut beginning, mut sample) = (FirstRows::default(), Row::default());
        let dimension = self.rows.input().columns().dimension;
        let looked_at = if self.looks { first_rows(dimension).min(self.limit) } else { 0 };
        // What the model will learn of these rows, row by row.
        let (encoding, kind) = (self.rows.input().encoding().cloned(), self.rows.input().kind());
        let mut moving = encoding.map(|encoding| RunningEncoding::new(encoding, kind));
        if let (Some(moving), Some(delay)) = (&mut moving, self.delay) {
            moving.delay(delay);
        }
        while beginning.numbers.len() < looked_at * dimension {
            let Some(row) = self.rows.next(&mut sample)? else { break };
            if let RowKind::Good = row {
                let Row { example, record, .. } = &mut sample;
                let mut scaled = example.features.clone();
                let taken = match &mut moving {
                    None => true,
                    Some(moving) => moving.take(record, example, &mut scaled).is_ok(),
                };
                if taken {
                    beginning.numbers.extend(scaled);
                    beginning.weights.push(example.weight);
                }
            }
            beginning.ahead.push_back(NextRow::new(&self.rows, row, &sample));
        }
        if self.looks && stop.requested() {
            return Err(Failure::because(
                "ended by a signal before the first rows could settle the kernel; nothing was saved",
            ));
        }
        Ok(beginning)
    }

    /// The learner for these rows.
    fn construct(&self, arguments: &TrainArguments, beginning: &FirstRows) -> Result<Construction, Failure> {
        let Self { entry, rows, limit, .. } = self;
        let dimension = rows.input().columns().dimension;
        match rows.input().length() {
            Some(length) => memory::check(entry, rows.input().shown(), length.min(*limit), dimension)?,
            None => memory::remark(entry, dimension).iter().for_each(verbosity::remark),
        }
        let FirstRows { numbers, weights, .. } = beginning;
        // Rows without a number are tokens.
        let tokens = dimension == 0 || rows.input().encoding().is_some_and(mercer_encoding::Encoding::has_tokens);
        let premises = Premises { dimension, kind: rows.input().kind(), rows: numbers, weights, tokens };
        let made = Construction::new(&arguments.common, entry, &premises)?;
        verbosity::more(|| {
            let target = rows.input().kind().words(rows.input().columns().targets());
            format!("{}: {dimension} features, {target}, kernel {}", rows.input().shown(), made.kernel)
        });
        Ok(made)
    }

    /// The model that has learnt no row.
    fn model(&self, common: &CommonArguments, made: Construction) -> Result<Session, Failure> {
        let rows = &self.rows;
        let (encoding, targets) = (rows.input().encoding().cloned(), rows.input().columns().targets());
        let Construction { learner, kernel, parameters } = made;
        let column = rows.input().encoded().and_then(EncodedRows::group);
        let groups = column.map(|column| Groups::new(column, common.groups.max_groups as usize));
        let description = Description {
            learner: self.entry.name.to_owned(),
            kernel,
            parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect(),
            seed: common.seed,
            // The schema of a table has the names of its columns.
            features: if encoding.is_some() { Vec::new() } else { rows.input().columns().features().to_vec() },
            target_name: targets.first().cloned(),
            target: common.target.clone().unwrap_or_default(),
            target_names: if targets.len() > 1 { targets.to_vec() } else { Vec::new() },
            weight: common.weight.clone(),
            marks: rows.input().marks(),
            own: kept_gaps(common.dialect.gaps()),
        };
        let task = match learner {
            FreshLearner::Numbers(learner) => {
                let intervals = common.intervals.make(&learner, common.interval_scale())?;
                let learner = common.behind_scales(learner)?;
                Task::Numbers(Box::new(Numbers { intervals, ..Numbers::new(learner.screening(common.outliers)) }))
            }
            FreshLearner::Classes(classifier, labels) => Task::Classes(Box::new(Classes::new(*classifier, labels))),
        };
        Ok(Session { description, encoding, groups, ..Session::plain(task) })
    }

    /// Has all rows learnt, of which `ahead` has the first.
    fn pass(
        &mut self,
        learning: &mut Learning,
        mut ahead: VecDeque<NextRow>,
        mut alarm: Alarm,
        stop: &Stop,
    ) -> Result<(), Failure> {
        let mut sample = Row::default();
        // Rows that a saved model has learnt are read again, whatever the limit.
        while !stop.requested() && (!learning.saving.has_caught_up() || learning.rounds() != self.limit) {
            if let Some(mut kept) = ahead.pop_front() {
                let (row, mut sample) = (kept.row.clone(), std::mem::take(&mut kept.sample));
                alarm.hear(&sample.example.targets);
                take(learning, row, &mut sample, &kept)?;
                continue;
            }
            let Some(row) = self.rows.next(&mut sample)? else { break };
            learning.model.description.marks = self.rows.input().marks();
            alarm.hear(&sample.example.targets);
            take(learning, row, &mut sample, &self.rows)?;
        }
        self.rows.report_left_out();
        learning.learn_rest()
    }
}

/// Remarks on what was learnt.
fn notes(learning: &Learning) -> Vec<String> {
    let Learning { model, watch, .. } = learning;
    let of_result = of_session(model, watch, Face::Command);
    learning.implausible_note().into_iter().chain(texts(of_result)).collect()
}

/// The row: learnt, refused, or known already.
fn take(learning: &mut Learning, row: RowKind, sample: &mut Row, origin: &impl Origin) -> Result<(), Failure> {
    let (saving, weighted) = (&mut learning.saving, learning.weighted);
    let known = match &row {
        RowKind::Good => saving.knows_after(|met| sample.digest(met, weighted))?,
        RowKind::Bad(_) => saving.knows([&[], &[f64::NAN]])?,
    };
    match row {
        _ if known => Ok(()),
        RowKind::Good => learning.learn(origin, sample).map(drop),
        RowKind::Bad(why) => learning.unreadable(why, origin),
    }
}

/// The share of its intervals, and how they are scaled.
fn intervals_told(model: &Session) -> String {
    model.intervals().map_or("none".to_owned(), |intervals| {
        let local = if intervals.scale() == IntervalScale::Error { "" } else { " (local)" };
        format!("{}{local}", output::number(intervals.coverage()))
    })
}

/// Refuses a saved model that is not one of the run that would begin now.
fn check_resumable(path: &Path, saved: &Session, fresh: &Session) -> Result<(), Failure> {
    let (old, new) = (&saved.description, &fresh.description);
    let kinds = [saved.task.kind(), fresh.task.kind()].map(|kind| kind.to_string());
    let seeds = [old.seed, new.seed].map(|seed| seed.to_string());
    let intervals = [saved, fresh].map(intervals_told);
    let outliers = [saved, fresh].map(|model| model.screened().map_or("keep", |learner| learner.outliers().name()));
    let groups = [saved, fresh].map(|model| {
        let told = |groups: &Groups<Task>| format!("column {}, {} at most", groups.column + 1, groups.most);
        model.groups.as_ref().map_or_else(|| "none".to_owned(), told)
    });
    let facts = [
        Fact { name: "column of groups", saved: &groups[0], now: &groups[1] },
        Fact { name: "kind", saved: &kinds[0], now: &kinds[1] },
        Fact { name: "learner", saved: &old.learner, now: &new.learner },
        Fact { name: "kernel", saved: &old.kernel, now: &new.kernel },
        Fact { name: "share of intervals", saved: &intervals[0], now: &intervals[1] },
        Fact { name: "way with outliers", saved: outliers[0], now: outliers[1] },
    ];
    let seed = Fact { name: "seed", saved: &seeds[0], now: &seeds[1] };
    let facts = facts.into_iter().chain(parameter_facts(&old.parameters, &new.parameters)).chain([seed]);
    let columns = |model: &Session| (model.dimension(), model.outputs());
    let (parameters, own) = (old.parameters.clone(), old.own.clone());
    let told = Description { parameters, own, marks: old.marks, ..new.clone() };
    let encoded =
        |model: &Session| model.encoding.as_ref().map(|one| (one.schema().clone(), one.transform().options()));
    let otherwise = if known_gaps(&old.own) != known_gaps(&new.own) {
        Some("other values stand for none (--gap)")
    } else if *old != told || columns(saved) != columns(fresh) {
        Some("its columns are other ones")
    } else {
        (encoded(saved) != encoded(fresh)).then_some("its columns are encoded in another way")
    };
    check_same(path, facts, otherwise)
}

fn summary(learning: &Learning, path: &Path, stopped: bool) -> String {
    let (standing, size) = (learning.model.running_score(), learning.model.dictionary_size());
    let (learnt, mse) = (standing.rounds, standing.loss / standing.weight);
    let loss = match &learning.model.task {
        // No row that counts.
        _ if standing.weight == 0.0 => String::new(),
        Task::Classes(task) => {
            format!(", {} classes, accuracy {}", task.labels.len(), digits(task.score.accuracy()))
        }
        Task::Numbers(_) => format!(", mean squared error {}", digits(mse)),
    };
    let plural = if learnt == 1 { "" } else { "s" };
    let models = learning.model.groups.as_ref().map_or_else(String::new, |groups| {
        let count = groups.models.len();
        format!(", {count} group{}", if count == 1 { "" } else { "s" })
    });
    let stopped = if stopped { "; ended by a signal, --resume goes on from here" } else { "" };
    format!(
        "{}: {} with {learnt} row{plural} learnt{loss}, dictionary size {size}{models}{stopped}\n",
        path.display(),
        learning.model.description.learner
    )
}
