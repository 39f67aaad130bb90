//! `mercer predict`: a line out for each row in, from a model file that may go on learning.

mod effects;
mod lines;
mod operator;

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::Args;
use mercer_learners::intervals::IntervalScale;
use mercer_readers::{ColumnChoice, Format, ReadOptions, TargetColumn, Targets};
use mercer_session::model::{Description, Model, Task};
use mercer_session::notes::alike_names;
use mercer_session::{LabelDelay, Row, RowPrediction, Session, predicts_late};

use crate::arguments::common::whole;
use crate::arguments::dialect::{Dialect, known_gaps};
use crate::arguments::groups::LabelArguments;
use crate::arguments::intervals;
use crate::arguments::task::TaskChoice;
use crate::arguments::task::{Kind, TaskOptions};
use crate::arguments::zone::ZoneArguments;
use crate::arguments::{count, every};
use crate::data::bad_rows::{BadRows, OnError};
use crate::data::encoded_rows::ColumnSource;
use crate::data::reading::{Reading, Reads, for_files};
use crate::data::rows::{Origin, RowKind, TimedSource};
use crate::data::source::{Source, TableColumns};
use crate::data::stop::Stop;
use crate::model::groups::CommonAnswers;
use crate::model::learning::Learning;
use crate::model::lock;
use crate::model::saving::Saving;
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::output::number;
use crate::report::replies::{LineStyle, Replies};
use crate::report::verbosity;
use effects::{EffectColumns, RowEffects};
use lines::AnswerLines;
use operator::OperatorArguments;

/// Predict row by row with a model that `mercer train` has saved
///
/// One line out for each row in, in the target's own units: a number for CSV, TSV and LIBSVM (below
/// the line `prediction` when DATA has a header), {"prediction":…} for JSON objects. The name of a
/// file tells its format: .csv, .ndjson, .jsonl, .json, .parquet, .arrow or .feather. Several
/// targets, and classes with their probabilities p_CLASS, have several columns below a line with
/// their names; the classes are those that the model knew at the start. Lines are handed on
/// whenever no input is at hand, so a program may write a row and wait for its answer. A bad row
/// that is left out is answered by an empty line, or null.
///
/// SIGINT, SIGTERM and SIGHUP end the rows: with --learn the model is written and the run has
/// succeeded; without, the exit code is 128 and the signal's number, and no file of predictions
/// appears.
///
/// DATA has the columns of the training data. Where both have names the columns are found by them,
/// in any order and among any others; the target may be missing, or hold anything, unless --learn
/// is given. A model of a table with columns of any kind takes a column that is not there as one of
/// missing cells, and a category that is new as one of those that share numbers; it says so once.
///
/// A model of `mercer koopman` by sums answers with the state that is expected to follow, and with
/// --eigen and --sets by functions and sets at each row. DATA then has the columns of x, or of a
/// trajectory, where a row of which the state before it is not known has no answer.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArguments {
    /// A file, `-` for standard input, or a data set's name
    data: PathBuf,
    /// The file of the model
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Learn each row after it was predicted; the model's file is written when the rows end, or a
    /// signal ends them
    ///
    /// A row without its target is predicted and not learnt; how many they were is told at the end.
    #[arg(long)]
    learn: bool,
    /// With --learn, learn each row when its label has come: behind so many further rows, or so
    /// much later by the first column of times, such as 100, 36h or 7d
    ///
    /// Each row is predicted by what is known when it comes. Labels that are still to come at the
    /// end are learnt then.
    #[arg(long, value_name = "ROWS|TIME", requires = "learn")]
    label_delay: Option<LabelDelay>,
    #[command(flatten)]
    labels: LabelArguments,
    /// With --learn, write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every, requires = "learn")]
    checkpoint: Option<NonZeroU64>,
    /// Add the ends of intervals that hold this share of the targets, such as 0.9, in the columns
    /// lower and upper
    ///
    /// The model must have been trained with the same --intervals; or, with --learn, intervals that
    /// it does not have yet begin to learn with the first row, and are kept in its file. An end
    /// that does not exist yet is empty, or null.
    #[arg(long, value_name = "SHARE")]
    intervals: Option<f64>,
    /// Add the base and the N strongest effects of columns on each prediction: base, and column_1,
    /// effect_1, … with the sum of all others in other_effects
    ///
    /// base + effects = prediction, of classes the score of two (the column score) or of the class
    /// that is predicted; `mercer explain` tells what they mean, and tells all of them. Where
    /// effects are sampled, standard_error_1, … follow. JSON has base, effects by column,
    /// other_effects, and standard_error by column or null. Where groups have models, the one that
    /// answers is explained.
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "learn")]
    explain: Option<NonZeroUsize>,
    /// With --explain, the target whose prediction is explained, where there are several
    #[arg(long, value_name = "NAME", requires = "explain")]
    output: Option<String>,
    /// With --explain, orders of the columns, where effects are sampled
    #[arg(long, value_name = "N", default_value = "200", value_parser = count, requires = "explain")]
    permutations: NonZeroUsize,
    /// Write the lines to this file instead of stdout; it appears when they are complete
    #[arg(short = 'o', long, alias = "out", value_name = "OUT")]
    predictions: Option<PathBuf>,
    /// What becomes of rows that cannot be read or predicted: stop, skip, or quarantine=FILE
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// Which column is the target, if not that of the training data
    #[arg(long, value_name = "NAME|INDEX")]
    target: Option<TargetColumn>,
    /// With --learn, which column holds weights, if not that of the training data; without, a
    /// column of weights that is to be left out where columns have no names
    #[arg(long, value_name = "NAME|INDEX")]
    weight: Option<ColumnChoice>,
    /// Columns that are not looked at, by name or by number from 1, with commas between; not needed
    /// where columns are found by name
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    #[command(flatten)]
    operator: OperatorArguments,
    #[command(flatten)]
    zone: ZoneArguments,
    #[command(flatten)]
    dialect: Dialect,
}

const EXAMPLES: &str = "\
Examples:
  mercer predict new.csv --model krls.mercer > predictions.csv
  tail -f live.csv | mercer predict - --format csv --model live.mercer --learn --checkpoint 10000
  mercer predict new.csv --model krls.mercer --explain 3 -o why.parquet
  mercer predict new.csv --model krls.mercer --on-error quarantine=bad.csv
  mercer predict states.csv --model operator.mercer --steps 5 --eigen 4 --sets 2
";

pub(crate) fn run(arguments: &PredictArguments) -> Result<(), Failure> {
    let inputs: [&Path; 2] = [&arguments.data, &arguments.model];
    // Lines for stdout go there anyway.
    let predictions = arguments.predictions.clone().filter(|path| path != Path::new("-"));
    LineStyle::of_file(predictions.as_deref(), false)?;
    arguments.on_error.check(&inputs, ("--predictions", &predictions))?;
    if arguments.labels.label_id.is_some() && !arguments.learn {
        return Err(Failure::usage("--label-id: labels that come later are learnt; add --learn, or leave it out"));
    }
    let _lock = arguments.learn.then(|| lock::take("--model", &arguments.model)).transpose()?;
    let mut model = match store::load(&arguments.model)?.model {
        Model::Operator(operator) => return operator::run(arguments, predictions.as_deref(), &operator),
        model => store::trained(&arguments.model, model)?,
    };
    arguments.operator.refuse(&arguments.model)?;
    arguments.zone.check_known(&arguments.model.display(), model.encoding.as_ref())?;
    if let Some(share) = arguments.intervals {
        with_intervals(&mut model, share, arguments)?;
    }
    if arguments.learn {
        store::check_place("--model", &arguments.model)?;
    }
    let stop = Stop::listen()?;
    let replies = Replies::create(predictions.as_deref(), &inputs)?;
    let reading = reading(&arguments.rows(), &model);
    let idle = replies.clone();
    let opened = TimedSource::open(&reading, stop.clone(), move || idle.flush());
    // Before the first row came.
    stop.failure()?;
    let rows = opened?;
    check_rows(arguments, &model, &rows)?;
    let style = LineStyle::of_file(predictions.as_deref(), rows.input().are_objects())?;
    let effects = arguments.explain.map(|top| EffectColumns::of(&model, &rows, top, arguments)).transpose()?;
    let lines = AnswerLines::of(&model, style, arguments.intervals.is_some(), effects.as_ref());
    let headed = lines.several || !rows.input().columns().features().is_empty();
    replies.begin(style, headed.then(|| lines.cells.header()).as_deref());
    #[cfg(feature = "arrow")]
    if let LineStyle::Columnar(format) = style {
        replies.begin_columns(format, &lines.columns(model.classes().is_some()))?;
    }
    let bad = BadRows::new(&arguments.on_error)?;
    if arguments.learn {
        let saving = Saving::new("--model", arguments.model.clone(), arguments.checkpoint);
        let (weighted, odd) = (rows.input().is_weighted(), rows.oddities());
        let learning = Learning::new(model, bad, saving, weighted, odd).with_delay(arguments.label_delay)?;
        let learning = learning.with_ids(&arguments.labels);
        learn(learning, rows, &replies, &lines)
    } else {
        predict((&model, effects.as_ref()), bad, rows, &replies, &lines, &stop)
    }
}

/// Refuses rows that the model does not fit.
fn check_rows(arguments: &PredictArguments, model: &Session, rows: &TimedSource) -> Result<(), Failure> {
    let path = arguments.model.display();
    if model.encoding.is_none() {
        check_columns(model, rows, &arguments.model)?;
        if arguments.labels.label_id.is_some() {
            return Err(Failure::usage(format!(
                "{path}: was trained on rows of plain numbers, which keep no ids; train it with --label-id, too"
            )));
        }
    }
    let (theirs, ours) = (rows.input().kind().outputs(), model.outputs());
    if arguments.learn && theirs != ours {
        return Err(Failure::because(format!(
            "{path}: predicts {ours} targets and {} has {theirs}; say with --target which they are",
            rows.input().shown()
        )));
    }
    Ok(())
}

/// What the arguments say of rows for a model.
pub(crate) struct RowsForModel<'a> {
    pub(crate) data: &'a Path,
    /// True if rows are learnt, too.
    pub(crate) learn: bool,
    pub(crate) target: &'a Option<TargetColumn>,
    pub(crate) weight: &'a Option<ColumnChoice>,
    pub(crate) ignore: &'a [ColumnChoice],
    /// The column by which labels find their rows.
    pub(crate) label_id: &'a Option<ColumnChoice>,
    pub(crate) dialect: &'a Dialect,
}

impl PredictArguments {
    fn rows(&self) -> RowsForModel<'_> {
        let Self { data, learn, target, weight, ignore, dialect, labels, .. } = self;
        RowsForModel { data, learn: *learn, target, weight, ignore, label_id: &labels.label_id, dialect }
    }
}

/// How DATA is read for a model.
pub(crate) fn reading<'a>(arguments: &RowsForModel<'a>, model: &'a Session) -> Reading<'a> {
    let classes = model.classes().is_some();
    let task = if classes { TaskChoice::Class } else { TaskChoice::Regression };
    let named = is_data_set(arguments.data);
    let known = |kept: bool| kept && !named;
    let target = arguments.target.clone().or_else(|| known(true).then(|| known_target(&model.description)));
    // A row that is only predicted needs no weight.
    let weight = arguments.weight.clone();
    let weight = weight.or_else(|| model.description.weight.clone().filter(|_| known(arguments.learn)));
    let by_model = model.encoding.as_ref().map(|encoding| ColumnSource {
        encoding,
        kind: if classes { Kind::Class(None) } else { Kind::Numbers(model.outputs()) },
        target: arguments.target.clone().or_else(|| arguments.learn.then(|| known_place(&model.description))),
        weight: weight.clone().or_else(|| model.description.weight.clone().filter(|_| arguments.learn)),
        may_lack: true,
        label_id: arguments.label_id.clone(),
    });
    let gaps = if named { Vec::new() } else { known_gaps(&model.description.own) };
    let dialect = arguments.dialect.clone().with_gaps(gaps);
    let told = dialect.told(arguments.data, ReadOptions::default());
    // LIBSVM puts the target in front of every row.
    let alone = !arguments.learn && told.format != Some(Format::Libsvm);
    let (features, target_name) = known_names(&model.description, arguments.target.is_some());
    let of_target = target.is_some() && by_model.is_none();
    let given = for_files(of_target, &dialect, arguments.ignore, weight.is_some());
    let options = ReadOptions {
        target: target.unwrap_or_default(),
        weight,
        ignore: whole(arguments.ignore),
        features,
        target_name,
        features_alone: alone.then(|| model.dimension()),
        libsvm_dimension: Some(model.dimension()),
        targets: if classes && arguments.learn { Targets::Labels } else { Targets::Numbers },
        marks: model.description.marks,
        // Each row has its answer.
        leave_totals: false,
        unlabelled: arguments.learn,
        ..told
    };
    let wanted = TaskOptions { task: Some(task), ..TaskOptions::default() };
    let named_target = arguments.target.as_ref().filter(|_| !arguments.learn);
    let columns = by_model.map_or(Reads::Numbers(named_target), Reads::Knows);
    Reading { data: arguments.data, options, wanted, columns, given, aloud: true }
}

/// Makes sure that the model has intervals that hold this share.
fn with_intervals(model: &mut Session, share: f64, arguments: &PredictArguments) -> Result<(), Failure> {
    let path = arguments.model.display();
    if model.classes().is_some() {
        return Err(intervals::for_classes());
    }
    match model.intervals() {
        Some(known) if known.coverage() == share => {}
        Some(known) => {
            return Err(Failure::usage(format!(
                "{path}: its intervals hold {0} of the targets; say --intervals {0}, or train it anew",
                number(known.coverage())
            )));
        }
        None if arguments.learn => {
            if let Task::Numbers(task) = &mut model.task {
                let own = predicts_late(task.learner.learner());
                let scale = if own { IntervalScale::Sides } else { IntervalScale::Error };
                task.intervals = Some(intervals::around(&task.learner, share, scale)?);
            }
        }
        None => {
            return Err(Failure::usage(format!(
                "{path}: was trained without intervals; train it with --intervals {}, or add --learn so that it learns them",
                number(share)
            )));
        }
    }
    Ok(())
}

/// Whether DATA is the name of a known data set and no file.
fn is_data_set(data: &Path) -> bool {
    matches!(Source::resolve(data), Ok(Source::Named(_)))
}

/// The target of the training data: by their names if there are several, since these may stand
/// anywhere.
fn known_target(about: &Description) -> TargetColumn {
    match &about.target_names[..] {
        [] => about.target.clone(),
        names => TargetColumn::Several(names.iter().cloned().map(ColumnChoice::Name).collect()),
    }
}

/// The same where columns of any kind are found: a single target by its name, too.
pub(crate) fn known_place(about: &Description) -> TargetColumn {
    let name = about.target_name.clone().filter(|_| about.target_names.is_empty());
    name.map_or_else(|| known_target(about), TargetColumn::Name)
}

/// The names by which columns are found: none if they are not each the name of one. A target that
/// is `told` goes before its name.
fn known_names(about: &Description, told: bool) -> (Vec<String>, Option<String>) {
    let mut sorted: Vec<&String> = about.features.iter().collect();
    sorted.sort();
    let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    let features = if distinct { about.features.clone() } else { Vec::new() };
    (features, about.target_name.clone().filter(|_| !told && about.target_names.is_empty()))
}

/// Refuses columns that are not those of the training data.
pub(crate) fn check_columns(model: &Session, rows: &TimedSource, path: &Path) -> Result<(), Failure> {
    let names = Some(&*model.description.features).filter(|names| !names.is_empty());
    let trained = TableColumns::new(model.dimension(), names, None);
    trained.check_data(&path.display().to_string(), rows.input().columns(), rows.input().shown())
}

fn learn(mut learning: Learning, mut rows: TimedSource, replies: &Replies, lines: &AnswerLines) -> Result<(), Failure> {
    let mut sample = Row::default();
    let before = learning.model.progress.rows;
    let ended = loop {
        let learnt = match rows.next(&mut sample) {
            Ok(Some(RowKind::Good)) => {
                let marks = &mut learning.model.description.marks;
                *marks = marks.or(rows.input().marks());
                learning.learn(&rows, &mut sample)
            }
            Ok(Some(RowKind::Bad(why))) => learning.unreadable(why, &rows).map(|()| false),
            Ok(None) => break Ok(()),
            Err(failure) => Err(failure),
        };
        match learnt {
            Ok(learnt) => {
                if !lines.answer(replies, &learning.model, learnt.then_some(&learning.answer), None) {
                    break Ok(());
                }
            }
            Err(failure) => break Err(failure),
        }
    };
    // What was answered was learnt, and is kept whatever ended the rows.
    let ended = ended.and(learning.learn_rest());
    let aside = learning.put_aside();
    let saved = learning.saving.save(learning.model.to_bytes()).and(aside);
    let met = learning.model.progress.rows - before;
    if ended.is_err() && saved.is_ok() && met > 0 {
        let rows = if met == 1 { "1 row was".to_owned() } else { format!("{met} rows were") };
        verbosity::say(format!("{rows} learnt before the run stopped, and the model keeps them"));
    }
    let replied = finish(replies, ended);
    learning.report();
    let alike = alike_names(&learning.model).map(|note| note.text);
    learning.implausible_note().into_iter().chain(alike).for_each(verbosity::remark);
    replied.and(saved)
}

fn predict(
    (model, columns): (&Session, Option<&EffectColumns>),
    mut bad: BadRows,
    mut rows: TimedSource,
    replies: &Replies,
    lines: &AnswerLines,
    stop: &Stop,
) -> Result<(), Failure> {
    // The model stays as it is: preparing pays however much it costs.
    let (mut sample, mut answer) = (Row::default(), RowPrediction::for_rows(usize::MAX));
    let (mut odd, mut common) = (rows.oddities(), CommonAnswers::default());
    let mut effects = columns.map(|columns| RowEffects::new(columns, model));
    let ended = loop {
        let row = match rows.next(&mut sample) {
            Ok(Some(row)) => row,
            Ok(None) => break stop.failure(),
            Err(failure) => break Err(failure),
        };
        let made = match row {
            RowKind::Good => {
                if let Some(encoding) = &model.encoding {
                    odd.tell(encoding, &sample.record, || rows.place());
                }
                let made = model.predict(&mut sample, &mut answer);
                let made = made.map_err(|why| why.to_string()).and_then(|()| match &mut effects {
                    Some(effects) => effects.explain(&sample, &answer),
                    None => Ok(()),
                });
                made.map_err(|why| format!("{}: {why}", rows.place()))
            }
            RowKind::Bad(why) => Err(why),
        };
        let taken =
            made.as_ref().map_or_else(|why| bad.take(why.clone(), &rows).and_then(|()| bad.put_aside()), |()| Ok(()));
        if let Err(failure) = taken {
            break Err(failure);
        }
        if made.is_ok() {
            common.take(&answer.group, || rows.place());
        }
        if !lines.answer(replies, model, made.is_ok().then_some(&answer), effects.as_ref()) {
            break Ok(());
        }
    };
    let replied = finish(replies, ended);
    model.groups.iter().filter_map(|groups| common.line(groups)).for_each(verbosity::say);
    if let Some(encoding) = &model.encoding {
        odd.report_new(encoding);
    }
    if let Some(report) = bad.report() {
        verbosity::say(report);
    }
    replied
}

/// What was answered on stdout stays; a file of answers that are not complete does not appear.
fn finish(replies: &Replies, ended: Result<(), Failure>) -> Result<(), Failure> {
    match ended {
        Ok(()) => replies.finish(),
        Err(failure) => {
            replies.flush();
            Err(failure)
        }
    }
}
