//! `mercer koopman`: learns the operator of a dynamical system from pairs of a state and its
//! successor.

mod descent;
mod making;
mod mode_table;
mod pairs;
mod parts;
mod pass;
#[cfg(feature = "plots")]
mod picture;
mod queries;
mod read_outs;
mod report;
mod row_doubts;
mod sums;
mod sums_report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use mercer_koopman::{Error, OperatorLearner, Trajectory};
use mercer_readers::ColumnChoice;
use mercer_session::model::Operator;

use crate::arguments::count;
use crate::arguments::dialect::Dialect;
use crate::arguments::zone::ZoneArguments;
use crate::data::stop::Stop;
use crate::model::saving::{Fact, SaveArguments, check_same, parameter_facts};
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::output::{self, Predictions};
use crate::report::plot::PlotArguments;
use making::{Making, positive};
#[cfg(feature = "plots")]
use mercer_koopman::LagMode;
use pairs::{PairChunk, PairStream};
pub(super) use pairs::{PairLayout, open as open_rows};
use pass::KoopmanPass;
#[cfg(feature = "plots")]
use picture::Subject;
use queries::Queries;
use read_outs::ReadOuts;
pub(super) use read_outs::{SetArguments, SetColumns};
#[cfg(feature = "serve")]
pub(super) use sums::findings;
#[cfg(feature = "serve")]
pub(super) use sums_report::COVERAGE;

/// Steps of a forecast from the end of the data, unless told.
const STEPS: usize = 10;
/// Eigenvalues, unless told.
pub(super) const MODES: usize = 10;
/// Why forecasts of single rows end after one step where x carries an action.
pub(super) const ONE_STEP: &str =
    "--steps: with an action in x a forecast reaches one step, since later actions are not known; leave --steps out";

/// Learn the Koopman operator of a dynamical system from pairs of a state and its successor
///
/// PAIRS is a CSV or TSV file (with or without a header), JSON, each also compressed by gzip or
/// zstd, Parquet or Arrow, or `-` for standard input. A row is `x…, x⁺…`: the numbers of a state,
/// then those of the state that follows it; with --input-dim x may carry an action behind the
/// state. With --trajectory a row is a state alone, and the row behind it is its successor. Rows
/// are learnt in their order, one by one, and only some of them are kept: the dictionary.
///
/// By default (sums) the operator is that of exact least squares, in one pass and bounded memory:
/// units, kernel width and regulariser are chosen, and every eigenvalue is told with its spread,
/// its residual and whether it is reliable (yes, no or cannot tell) and why, every forecast with an
/// interval. Along a trajectory a mode is reliable if pairs that it was not fitted to have its
/// correlation at lags of L and 2L steps, L being 2 or the rows of a state, both halves of the
/// pairs its eigenvalue, and where as many points are kept as may be half of these, too. The
/// stochastic gradient descent of the paper (--method sogd) costs less a pair and is less exact; a
/// constant step (eta alone) leaves noise in every eigenvalue, and lambda makes all of them
/// smaller.
///
/// Prints what was learnt: the size of the dictionary, the operator's Hilbert–Schmidt norm, its
/// leading eigenvalues (those of the Koopman operator, which acts on functions of the state), and
/// with --predict the forecasts of given states.
///
/// With --out the operator is kept in a file, and --model goes on with it: pairs are counted on,
/// and the outcome is that of one run over all of them; a trajectory goes on with the row behind
/// the model's last. The same file may be both. Without PAIRS the operator of --model is told, and
/// forecasts with it, but learns nothing.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct KoopmanArguments {
    /// A file, or `-` for standard input; may be left out with --model, whose operator is then told
    /// as it is
    #[arg(required_unless_present = "model")]
    pairs: Option<PathBuf>,
    /// Method by which the operator is learnt [default: that of --model, or else sums]
    #[arg(long, value_name = "METHOD")]
    method: Option<KoopmanMethod>,
    #[command(flatten)]
    making: Making,
    /// PAIRS is a trajectory: a row is a state, and the row behind it is its successor; by sums,
    /// one column always is one. Gaps of --time and rows with missing cells cut it; with --model it
    /// goes on where the model's ended
    #[arg(long, conflicts_with_all = ["state_dim", "input_dim"])]
    trajectory: bool,
    /// Take K successive rows of a trajectory together as a state, the oldest first, where one row
    /// does not tell all of it [default: chosen by sums, 1 by sogd]
    #[arg(long, value_name = "K", conflicts_with_all = ["state_dim", "input_dim"], value_parser = count)]
    delay: Option<NonZeroUsize>,
    /// The column, by name or by number from 1, that tells several trajectories apart: where it
    /// changes, another one begins. Rows of one must stand together
    #[arg(long, value_name = "NAME|INDEX", conflicts_with_all = ["state_dim", "input_dim"])]
    group: Option<ColumnChoice>,
    /// Columns that are no part of a state, by name or by number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    /// Kind of a column, against what the first rows show: number takes one that counts the rows
    #[arg(long = "as", value_name = "NAME=KIND")]
    kinds: Vec<String>,
    /// The column, by name or by number from 1, by which the rows must be in order of time, within
    /// a group; it is no part of a state
    #[arg(long, value_name = "NAME|INDEX")]
    time: Option<ColumnChoice>,
    #[command(flatten)]
    zone: ZoneArguments,
    /// By sums: the time from a state to its successor, in which time scales and periods are told
    /// [default: the usual difference of --time, or 1]
    #[arg(long, value_name = "T", value_parser = positive)]
    step_time: Option<f64>,
    /// By sums: write the eigenfunctions at the states of --predict, or else at the points kept, or
    /// at the latest states where linear features keep none, to this CSV file: x…, then real and
    /// imaginary part of each; with --sets also the set of each state, memberships and committor
    #[arg(long, value_name = "OUT.csv")]
    eigenfunctions: Option<PathBuf>,
    #[command(flatten)]
    read_outs: ReadOuts,
    /// Number of eigenvalues to tell, by modulus; 0 for none. When x carries an action they are
    /// those of A in the best x⁺ = a + Ax + Bu, by sums alone [default: 10, none by sogd with an
    /// action]
    #[arg(long, value_name = "K")]
    eigen: Option<usize>,
    /// Write the weights W of `U = Σ W_ij k(x_i⁺, ·) ⊗ k(x_j, ·)` to this file: numbers alone, a
    /// row for each x⁺ kept, a column for each x kept
    #[arg(long, value_name = "OUT.csv")]
    weights: Option<PathBuf>,
    /// Write the pairs kept to this CSV file: index (row of PAIRS from 0), x…, x⁺…; a side that is
    /// not kept is empty
    #[arg(long, value_name = "OUT.csv")]
    dictionary: Option<PathBuf>,
    /// Forecast the states that follow these: a file whose rows are x…, with an action and several
    /// --steps by sums also the actions of the further steps
    #[arg(long, value_name = "QUERIES.csv")]
    predict: Option<PathBuf>,
    /// Number of steps ahead to forecast [default: 1; from the end of a trajectory, by sums, all of
    /// 10]
    #[arg(long, value_name = "N", value_parser = count)]
    steps: Option<NonZeroUsize>,
    /// Write the forecasts to this CSV file, a row for each query or step, instead of printing them
    /// (--json prints them in any case)
    #[arg(long, value_name = "OUT.csv")]
    predictions: Option<PathBuf>,
    /// By sums: learn PAIRS with the scale and dictionaries of this model but without what it has
    /// learnt, so that parts of the data can be learnt apart, and --merge adds them up
    #[arg(long, value_name = "MODEL", conflicts_with = "model")]
    fork: Option<PathBuf>,
    /// By sums: add to --model what these models have learnt that were begun by --fork, with commas
    /// between; PAIRS may be left out
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',', requires = "model")]
    merge: Vec<PathBuf>,
    #[command(flatten)]
    plot: PlotArguments,
    #[command(flatten)]
    dialect: Dialect,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: SaveArguments,
}

const EXAMPLES: &str = "\
Examples:
  mercer koopman pairs.csv
  mercer koopman series.csv --time t --steps 24
  mercer koopman pairs.csv --method sogd --set kernel=mix:0.4*gaussian:0.4+0.6*gaussian:0.7 --set eta=0.3 --eigen 4 --json
  mercer koopman trajectory.csv --trajectory --delay 3
  mercer koopman trajectory.csv --trajectory --lags 1,2,5,10
  mercer koopman trajectory.csv --trajectory --sets 3 --committor 1,2 --predict states.csv --eigenfunctions sets.csv
  mercer koopman moves.csv --state-dim 3 --input-dim 4 --predict queries.csv
  zcat log.csv.gz | mercer koopman - --format csv --method sogd
  mercer koopman runs.csv --group run --time t --half-life 100000
  mercer koopman monday.csv --out week.mercer
  mercer koopman tuesday.csv --model week.mercer --out week.mercer
  mercer koopman --model week.mercer --eigen 4 --predict queries.csv
  mercer koopman north.csv --fork week.mercer --out north.mercer
  mercer koopman --model week.mercer --merge north.mercer,south.mercer --out all.mercer
";

/// Methods by which an operator is learnt.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum KoopmanMethod {
    /// Exact least squares on a sparse dictionary: units, width and regulariser are chosen; spreads
    /// and intervals
    Sums,
    /// The sparse stochastic gradient descent of the paper
    Sogd,
}

impl KoopmanMethod {
    fn from_model(model: &Operator) -> Self {
        if model.learner.sums().is_some() { Self::Sums } else { Self::Sogd }
    }
}

impl KoopmanArguments {
    /// The first option given that only the paper's learner has.
    fn of_sogd(&self) -> Option<&'static str> {
        let given = [
            ("--set", self.making.sets()),
            ("--weights", self.weights.is_some()),
            ("--dictionary", self.dictionary.is_some()),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }

    /// The first option given that only exact sums have.
    fn of_sums(&self) -> Option<&'static str> {
        let given = [
            ("--half-life", self.making.half_life.is_some()),
            ("--step-time", self.step_time.is_some()),
            ("--eigenfunctions", self.eigenfunctions.is_some()),
            ("--fork", self.fork.is_some()),
            ("--merge", !self.merge.is_empty()),
        ];
        given.into_iter().chain(self.read_outs.given()).find(|option| option.1).map(|option| option.0)
    }

    /// That of the model, if there is one, or of the options.
    fn method(&self, model: Option<&(&Path, Operator)>) -> Result<KoopmanMethod, Failure> {
        let other = |option: &str, method: &str| {
            Failure::usage(format!("{option} is an option of --method {method} alone; say that, or leave {option} out"))
        };
        let (sums, sogd) = (self.of_sums(), self.of_sogd());
        let known = model.map(|(path, model)| (path, KoopmanMethod::from_model(model)));
        match known {
            Some((path, of)) if self.method.is_some_and(|method| method != of) => {
                let path = path.display();
                return Err(Failure::usage(format!("{path}: was learnt by another method; leave --method out")));
            }
            _ => {}
        }
        match (self.method.or(known.map(|known| known.1)).unwrap_or(KoopmanMethod::Sums), sums, sogd) {
            (KoopmanMethod::Sums, _, Some(option)) => Err(other(option, "sogd")),
            (KoopmanMethod::Sogd, Some(option), _) => Err(other(option, "sums")),
            (method, ..) => Ok(method),
        }
    }

    /// The files that are read, if the options go together.
    fn inputs(&self) -> Result<Vec<&Path>, Failure> {
        output::refuse_same_places(&[
            ("--weights", &self.weights),
            ("--dictionary", &self.dictionary),
            ("--eigenfunctions", &self.eigenfunctions),
            ("--predictions", &self.predictions),
            ("--out", &self.model.out),
            ("--plot", &self.plot.plot),
        ])?;
        let inputs: Vec<&Path> = [&self.pairs, &self.predict].into_iter().flatten().map(PathBuf::as_path).collect();
        if inputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
            return Err(Failure::usage(
                "--predict must be a file when PAIRS is standard input, which can be read only once",
            ));
        }
        if self.pairs.is_none() && self.merge.is_empty() && self.model.out.is_some() {
            return Err(Failure::usage("--out keeps what was learnt from PAIRS; give them, or leave --out out"));
        }
        Ok(inputs)
    }

    /// Steps of a forecast; only sums go on from the end of a trajectory.
    fn steps(&self, goes_on: bool) -> Result<usize, Failure> {
        if self.predict.is_none() && !goes_on && (self.steps.is_some() || self.predictions.is_some()) {
            return Err(Failure::usage(
                "--steps and --predictions need states to go on from: give them with --predict, or by sums a --trajectory",
            ));
        }
        Ok(self.steps.map_or(if goes_on && self.predict.is_none() { STEPS } else { 1 }, usize::from))
    }
}

pub(crate) fn run(arguments: &KoopmanArguments) -> Result<(), Failure> {
    let (kept, inputs) = (&arguments.model, arguments.inputs()?);
    ZoneArguments::check_used(arguments.zone.zone.as_ref(), &"without --time", arguments.time.is_some())?;
    let _lock = kept.lock()?;
    let load = |path| store::load_operator(path).map(|model| (path, model));
    let start = match (&arguments.fork, kept.model.as_deref()) {
        (Some(path), _) => Some((path.as_path(), parts::fork(path)?)),
        (None, model) => model.map(load).transpose()?,
    };
    let saved = kept.resumed().map(load).transpose()?;
    let method = arguments.method(start.as_ref())?;
    let stop = kept.prepare(&inputs)?;
    let files = ExtraFiles::create(arguments, &inputs)?;
    // What would be left of these files is cleared away.
    let stop = if kept.out.is_none() && files.are_wanted() { Stop::listen()? } else { stop };
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs.iter().copied().chain(kept.model.as_deref()).collect::<Vec<_>>())?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;
    let start = match start {
        Some((path, model)) => Some((path, parts::merge(model, &arguments.merge)?)),
        None => None,
    };
    let learnt = learn(arguments, method, [start, saved], &stop)?;
    if kept.out.is_none() && files.are_wanted() {
        let told = format!("{} pairs were learnt, and no file was written", learnt.pass.learnt);
        stop.failure().map_err(|failure| failure.with(&told))?;
    }
    #[cfg(feature = "plots")]
    let draw = |subject: Result<Subject<'_>, Error>, lags: &[LagMode]| match plot {
        Some(plot) => {
            let drawn = subject.and_then(|subject| picture::draw(&subject, lags, &learnt.layout, &learnt.shown));
            plot.finish(&drawn.map_err(|error| learnt.failure(&error))?)
        }
        None => Ok(()),
    };
    match (learnt.pass.model.learner.sums(), learnt.pass.model.learner.descent()) {
        (Some(sums), _) => {
            let start = Instant::now();
            let modes = arguments.eigen.unwrap_or(MODES);
            let model = sums.model(modes, learnt.steps).map_err(|error| sums::unread(&learnt, &error))?;
            let read = arguments.read_outs.read(&learnt, &model, modes)?;
            #[cfg(feature = "plots")]
            draw(Ok(Subject::of_sums(&model)), &read.lags)?;
            sums::tell(arguments, &learnt, (&model, read), learnt.pass.seconds + start.elapsed(), files)
        }
        (None, Some(descent)) => {
            let operator = descent.operator();
            #[cfg(feature = "plots")]
            draw(Subject::of_descent(operator), &[])?;
            descent::tell(arguments, &learnt, operator, files)
        }
        (None, None) => Ok(()),
    }
}

/// The operator that was learnt, and the request about it.
struct Learnt {
    pass: KoopmanPass,
    layout: PairLayout,
    /// The name of the data for messages.
    shown: String,
    /// Steps of a forecast, from the queries or from the end of a trajectory.
    steps: usize,
    queries: Option<Queries>,
    /// The usual step of time, if a column tells it, and whether it is in seconds.
    step_time: Option<f64>,
    in_seconds: bool,
    /// What rows look like that they were not taken for.
    doubt: Option<String>,
    /// Pairs that were left out because they miss a number.
    left_out: u64,
    stopped: bool,
}

impl Learnt {
    fn failure(&self, error: &Error) -> Failure {
        Failure::because(format!("{}: {error}", self.shown))
    }
}

/// Learns PAIRS from where the model `start` is, or from where `saved` is after the same rows.
fn learn(
    arguments: &KoopmanArguments,
    method: KoopmanMethod,
    [start, saved]: [Option<(&Path, Operator)>; 2],
    stop: &Stop,
) -> Result<Learnt, Failure> {
    let KoopmanArguments { making, model: kept, .. } = arguments;
    let open = |path| PairStream::open(path, arguments, method, start.as_ref(), saved.as_ref(), stop.clone());
    let mut pairs = arguments.pairs.as_ref().map(|path| open(path)).transpose()?;
    let layout = match (&pairs, &start) {
        (Some(pairs), _) => pairs.layout().clone(),
        (None, Some((_, model))) => PairLayout::of_model(model),
        // The parser sees to it that one of them is there.
        (None, None) => return Err(Failure::usage("give PAIRS, or --model")),
    };
    refuse_action(layout.acts(), method == KoopmanMethod::Sogd, arguments)?;
    let known = start.as_ref().and_then(|(_, model)| model.trajectory.as_ref());
    let is_trajectory = pairs.as_ref().map_or(known, PairStream::trajectory).is_some();
    let steps = arguments.steps(is_trajectory && method == KoopmanMethod::Sums)?;
    let further = (steps - 1) * (layout.input_dimension - layout.state_dimension);
    let width = layout.input_dimension + if method == KoopmanMethod::Sums { further } else { 0 };
    let queries = arguments.predict.as_deref().map(|path| Queries::read(path, arguments.dialect.clone(), width));
    let queries = queries.transpose()?;
    let mut chunk = PairChunk::default();
    let looks = start.is_none() && making.looks(method)?;
    if let Some(pairs) = &mut pairs {
        pairs.fill(&mut chunk, looks)?;
    }
    if looks && stop.requested() {
        return Err(Failure::because(
            "ended by a signal before the first rows could settle the kernel; nothing was saved",
        ));
    }
    let delay = pairs.as_ref().and_then(PairStream::trajectory).map_or(1, Trajectory::delay);
    let fresh = start.map_or_else(|| making.build(method, &layout, (&chunk, delay)), |(_, model)| Ok(model))?;
    let before = fresh.seen();
    let model = match saved {
        Some((path, saved)) => check_resumable(path, saved, &fresh)?,
        None => fresh,
    };
    let shown =
        arguments.pairs.as_ref().or(kept.model.as_ref()).map_or(String::new(), |path| path.display().to_string());
    let mut saving = kept.saving(&shown, before, model.seen());
    let mut pass = KoopmanPass { scan: arguments.read_outs.scan(model.learner.sums())?, ..KoopmanPass::new(model) };
    let (mut step_time, mut left_out) = (pass.model.trajectory.as_ref().and_then(Trajectory::step), 0);
    let ended = pairs.as_mut().map_or(Ok(()), |pairs| pass.learn_all(chunk, pairs, &mut saving));
    match &saving {
        Some(saving) => saving.end(ended, stop, || pass.model.to_bytes())?,
        None => ended?,
    }
    if let Some(pairs) = &pairs {
        (step_time, left_out) = (pairs.step().or(step_time), pairs.left_out());
    }
    let in_seconds = pairs.as_ref().is_some_and(PairStream::is_in_seconds);
    let doubt = pairs.as_ref().and_then(PairStream::doubt);
    let stopped = stop.requested();
    Ok(Learnt { pass, layout, shown, steps, queries, step_time, in_seconds, doubt, left_out, stopped })
}

/// The files that are asked for beside the report.
struct ExtraFiles {
    weights: Option<Predictions>,
    dictionary: Option<Predictions>,
    eigenfunctions: Option<Predictions>,
    predictions: Option<Predictions>,
}

impl ExtraFiles {
    fn create(arguments: &KoopmanArguments, inputs: &[&Path]) -> Result<Self, Failure> {
        let read: Vec<&Path> = inputs.iter().copied().chain(arguments.model.model.as_deref()).collect();
        let create = |option: &'static str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| Predictions::create_table(option, path, &read, "")).transpose()
        };
        Ok(Self {
            weights: create("--weights", &arguments.weights)?,
            dictionary: create("--dictionary", &arguments.dictionary)?,
            eigenfunctions: create("--eigenfunctions", &arguments.eigenfunctions)?,
            predictions: create("--predictions", &arguments.predictions)?,
        })
    }

    fn are_wanted(&self) -> bool {
        [&self.weights, &self.dictionary, &self.eigenfunctions, &self.predictions].into_iter().any(Option::is_some)
    }
}

/// The saved model, if it is one of the run that would begin now.
fn check_resumable(path: &Path, saved: Operator, fresh: &Operator) -> Result<Operator, Failure> {
    let said = |model: &Operator| match model.learner.descent().map(OperatorLearner::operator) {
        Some(operator) => {
            ["sogd".to_owned(), operator.input_kernel().to_string(), operator.output_kernel().to_string()]
        }
        None => ["sums".to_owned(), String::new(), String::new()],
    };
    let (old, new) = (said(&saved), said(fresh));
    let facts = ["method", "kernel", "kernel on x⁺"].into_iter().zip(old.iter().zip(&new));
    let facts = facts.map(|(name, (saved, now))| Fact { name, saved, now });
    let facts = facts.chain(parameter_facts(&saved.parameters, &fresh.parameters));
    let same =
        PairLayout::of_model(&saved) == PairLayout::of_model(fresh) && saved.parameters.len() == fresh.parameters.len();
    check_same(path, facts, (!same).then_some("its columns are other ones"))?;
    Ok(saved)
}

/// Refuses requests that make no sense when x is more than a state.
fn refuse_action(acts: bool, one_step: bool, arguments: &KoopmanArguments) -> Result<(), Failure> {
    if acts && one_step && arguments.eigen.is_some_and(|count| count > 0) {
        return Err(Failure::usage(
            "--eigen: with an action in x the operator leads from functions of x⁺ to functions of x, and has no eigenvalues; \
             leave --eigen out, or take --method sums, which tells those at fixed actions",
        ));
    }
    if acts && arguments.plot.plot.is_some() {
        return Err(Failure::usage(
            "--plot: the picture shows functions of a state alone, and x carries an action; leave --plot out",
        ));
    }
    if acts && one_step && arguments.steps.is_some_and(|steps| usize::from(steps) > 1) {
        return Err(Failure::usage(ONE_STEP));
    }
    Ok(())
}
