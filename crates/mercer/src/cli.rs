//! The command line: arguments and help; each command is a file of its own.

mod bad_rows;
mod cells;
mod classes;
mod compare;
mod config;
mod construction;
mod dialect;
mod encoded_rows;
mod eval;
mod eval_options;
mod facts;
mod failure;
mod feature_columns;
mod feed;
mod fit;
mod forecast;
mod input;
mod inspect;
mod intervals;
mod koopman;
mod learned_ranges;
mod learners;
mod learning;
mod lock;
mod manual;
mod memory;
mod merge;
mod moments;
mod notes;
mod opening;
mod output;
mod pipe;
mod plain;
mod plot;
mod predict;
mod reading;
mod replies;
mod report;
mod rows;
mod sample;
mod saving;
mod scores;
#[cfg(feature = "serve")]
mod serve;
mod source;
mod stop;
mod store;
mod stretches;
mod table;
mod task;
mod timed_series;
mod trace;
mod train;
mod trained_model;
mod tune;
mod verbosity;

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Command as Parsed, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use mercer::catalogue::{self, Entry, split};
use mercer::encoding::{Scale, ScaledTargets, TargetScale};
use mercer::experts::Outliers;
use mercer::kernels::weighted_median_width;
use mercer::learners::intervals::IntervalScale;
use mercer::readers::{ColumnChoice, Scheme, TargetColumn};
use mercer::{AnyKernel, AnyRegressor, Gaussian, KernelSpec, Loss, RegressorExt};

use bad_rows::OnError;
use compare::CompareArguments;
use dialect::Dialect;
use failure::Failure;
use forecast::ForecastArguments;
use inspect::InspectArguments;
use intervals::IntervalArguments;
use koopman::KoopmanArguments;
use manual::{CompletionsArguments, ManArguments};
use plot::PlotArguments;
use predict::PredictArguments;
use scores::ScoreArguments;
use train::TrainArguments;
use tune::TuneArguments;
use verbosity::Verbosity;

/// Rows that rules may look at before the first is learnt, and numbers that these have at most.
const FIRST_ROWS: usize = 256;
const FIRST_NUMBERS: usize = 1 << 21;

/// Those of so many columns: of wide rows there are fewer, so that they fit into the memory.
fn first_rows(columns: usize) -> usize {
    FIRST_ROWS.min(FIRST_NUMBERS / columns.max(1)).max(2)
}

/// Online learning with kernels on streams of examples.
#[derive(Parser)]
#[command(name = "mercer", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    habits: Habits,
}

/// What every command takes.
#[derive(Args)]
struct Habits {
    /// Say nothing on stderr but failures, and rows that were left out
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Everywhere")]
    quiet: bool,
    /// Say on stderr also what was found and chosen
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    verbose: bool,
    /// Take options from this file; those of the command line win
    ///
    /// A line is the long name of an option and its value, such as `learner = "krls"` or
    /// `limit = 1000`; true or false where an option has no value; a list where it may be given
    /// several times. `set` may be a table: `set = { lambda = 0.1 }`.
    #[arg(long, global = true, value_name = "FILE.toml", help_heading = "Everywhere")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Run several learners over the same rows, and print their scores side by side
    Compare(CompareArguments),
    Completions(CompletionsArguments),
    Eval(Box<EvalArguments>),
    Fit(Box<fit::FitArguments>),
    Forecast(Box<ForecastArguments>),
    Inspect(InspectArguments),
    Koopman(Box<KoopmanArguments>),
    Learners(LearnersArguments),
    Man(ManArguments),
    Merge(merge::MergeArguments),
    Predict(Box<PredictArguments>),
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArguments>),
    Train(Box<TrainArguments>),
    /// Find good settings of a learner for these data, and print the command that has them
    Tune(TuneArguments),
}

impl Habits {
    fn level(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Usual,
        }
    }
}

/// Run a learner over data once: predict, score, learn
///
/// Prints scores of the predictions, each made before its target was shown, over all rows, their
/// second half and the last window, beside those of two baselines: the running mean (for classes
/// the most frequent class so far) and the value of the row before. With --scale paper01 or paper11
/// errors and predictions are in scaled units.
///
/// DATA is a CSV or TSV file (with or without a header), JSON (an object a line, or one array),
/// LIBSVM, each also compressed by gzip or zstd, Parquet or Arrow; or `-` for standard input; or,
/// if there is no such file, the name of a known data set such as `diamonds`, which is built in
/// (the others are looked for in the folder $MERCER_DATA, in datasets/cache and in datasets).
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EVAL_EXAMPLES)]
struct EvalArguments {
    #[command(flatten)]
    common: CommonArguments,
    /// Shuffle the rows before --limit counts them; the same seed gives the same order everywhere
    #[arg(long, value_name = "SEED", value_parser = seed)]
    permute: Option<u64>,
    /// Threads that a blocked pass may use, those of a mixture for its members; predictions are the
    /// same to rounding
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    threads: NonZeroUsize,
    /// Rows that are known ahead and learnt together, 1 for row by row; the predictions are the
    /// same to rounding
    ///
    /// To rounding: about 2e-16 times the condition number of the matrix that the learner inverts,
    /// below 1e-10 unless lambda or mu is very small against the data.
    ///
    /// `auto` is 256 for files and data sets, up to 131072 with more than one thread (a second one
    /// pays from 50 rows a feature on), and 1 for standard input, whose rows may come slowly.
    /// Blocks end where checkpoints are, so that the dictionary's size there is known; past the
    /// 65,536th row of a stream whose length nobody knows, a checkpoint tells the size at the end
    /// of its block.
    #[arg(long, value_name = "B", default_value = "auto")]
    block: BlockSize,
    /// How many rows DATA has, for standard input where T, --scale or --permute need to know
    #[arg(long, value_name = "N", value_parser = count)]
    rows: Option<NonZeroUsize>,
    /// What becomes of rows that cannot be read: stop or skip
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    /// Write every prediction to this CSV file: t,target,prediction; it appears when the run is
    /// complete
    ///
    /// With several targets the columns are t,target_NAME…,prediction_NAME…. For classes
    /// `prediction` is the class; p_CLASS…, the probabilities, follow where the learner has them,
    /// and `score` for two classes: positive for 1, +1 or the later label in sorted order. With
    /// --intervals `lower` and `upper` follow the predictions. A value that does not exist yet is
    /// empty. The classes of a file are looked up before the run; from standard input those of the
    /// first 256 rows have columns.
    #[arg(short = 'o', long, alias = "out", value_name = "OUT.csv")]
    predictions: Option<PathBuf>,
    /// Write t,target and then exactly these columns, with commas between: prediction, score, size,
    /// variance, lower, upper, loss, p_CLASS
    ///
    /// `size` is the number of points after the row was learnt, so rows are then learnt one by one;
    /// `loss` is what the learner minimises, for the row's prediction. `variance` is that of the
    /// target as least-squares learners expect it before it is shown, and takes rows one by one,
    /// too. `lower` and `upper` are the ends of --intervals.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "predictions")]
    columns: Vec<String>,
    #[command(flatten)]
    scores: ScoreArguments,
    #[command(flatten)]
    plot: PlotArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The data and the learner, which `eval` and `train` are told alike.
#[derive(Args)]
struct CommonArguments {
    /// A file, `-` for standard input, or a data set's name
    data: PathBuf,
    /// The learner, with settings if they are to be others than usual: NAME or 'NAME KEY=VALUE …',
    /// where kernel=SPEC may be one of them; `mercer learners` lists them
    #[arg(long, value_name = "NAME")]
    learner: String,
    /// gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET,
    /// linear, mix:0.4*gaussian:0.4+0.6*gaussian:0.7, or median
    ///
    /// `median` is the Gaussian whose width is the median distance between the first rows, 200 at
    /// most, as the learner sees them; they are waited for before the first is learnt. The learner
    /// auto chooses its kernels itself.
    #[arg(long, value_name = "SPEC", default_value = "median")]
    kernel: KernelSpec,
    /// Set a parameter of the learner; may be given several times
    ///
    /// VALUE is a number; a formula in T (rows that are learnt: all of DATA, or --limit of them)
    /// and d (features), with + - * / ^ ( ) sqrt ln exp min max, such as alpha=25/T; auto where a
    /// paper gives a rule; or none. `mercer learners NAME` tells the keys. A formula in T needs the
    /// length of the stream: a file is then read beforehand, standard input needs --rows.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Scale the data: standard, robust or range row by row; paper01 or paper11 by the ranges of
    /// all of DATA
    ///
    /// `standard` scales features by their running mean and deviation, `robust` by their running
    /// median and quartiles, and `range` by their running range. They begin with the first 256
    /// rows. Targets are learnt in scaled units; predictions, intervals and errors are in the
    /// target's own.
    ///
    /// `paper01` and `paper11` scale features to [−1, 1] and the target to [0, 1] or [−1, 1], each
    /// column by its range in DATA, which is then read beforehand, or in --scale-from. Errors are
    /// then in scaled units. Of a table with columns that are encoded, numbers, times and targets
    /// are scaled so; categories are 0 or 1.
    #[arg(long, value_name = "HOW", default_value = "none")]
    scale: ScaleChoice,
    /// Scale by the ranges of this file (or data set) instead, so that DATA need not be read
    /// beforehand
    #[arg(long, value_name = "FILE")]
    scale_from: Option<PathBuf>,
    /// What becomes of rows whose targets are implausible numbers: keep, weigh or skip
    ///
    /// A target is implausible more than ten times the range of late beyond that range, until as
    /// many follow as the logarithm of the distance: wrong values are, a stream that has moved is
    /// not. `skip` predicts such a row and does not learn it, `weigh` learns it with a weight that
    /// makes it pull no harder than one as far beyond the range as that is wide, and `keep` learns
    /// it as it is. What was done is told. A model keeps the way in which it was trained.
    #[arg(long, value_name = "HOW", default_value = "weigh")]
    outliers: Outliers,
    /// Learn only the first N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    limit: Option<NonZeroUsize>,
    /// Seed of learners that draw
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Which column is the target, by name or by number from 1, or several with commas between; the
    /// last unless given
    #[arg(long, value_name = "NAME|INDEX,…")]
    target: Option<TargetColumn>,
    /// Which column holds weights, by name or by number from 1
    ///
    /// A weight is a number of at least 0: a row of weight 2 counts like two rows, a row of weight
    /// 0 is predicted and neither learnt nor scored. Scores are weighted means.
    #[arg(long, value_name = "NAME|INDEX")]
    weight: Option<ColumnChoice>,
    #[command(flatten)]
    intervals: IntervalArguments,
    /// Whether the target is a class or a number
    ///
    /// Unless given, a target that holds text, or nothing but 0 and 1, is a class. A target of -1
    /// and 1 is a number unless the learner only classifies. The first 256 rows decide.
    #[arg(long, value_name = "TASK")]
    task: Option<TaskChoice>,
    /// Columns that are neither features nor the target, by name or by number from 1, with commas
    /// between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    /// The columns that are features, by name or by number from 1, with commas between; all others
    /// are ignored
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    only: Vec<ColumnChoice>,
    /// What the values of a column of a file are: number, category, mean, time, text or identifier;
    /// may be given several times
    ///
    /// Data with columns that are not numbers, or with empty cells, in their first 256 rows are
    /// encoded: categories are one-hot (hashed when there are many; as `mean` they are one number,
    /// the mean target of the rows before, of classes the share of the first), times become cyclic
    /// parts and elapsed years, a gap becomes the running mean with a mark beside it, texts and
    /// identifiers are ignored, and numbers stay as they are unless --scale says otherwise. `mercer
    /// inspect` tells what is found.
    #[arg(long = "as", value_name = "NAME=KIND")]
    kinds: Vec<String>,
    /// How many features a row has, which only LIBSVM from a pipe does not tell
    #[arg(long, value_name = "N", value_parser = count)]
    dimension: Option<NonZeroUsize>,
    #[command(flatten)]
    dialect: Dialect,
}

impl CommonArguments {
    /// Refuses data of another dimension than they were said to have.
    fn check_dimension(&self, shown: &str, dimension: usize) -> Result<(), Failure> {
        match self.dimension.map(usize::from).filter(|said| *said != dimension) {
            Some(said) => Err(Failure::because(format!(
                "{shown}: has {dimension} features, but --dimension says {said}; correct it, or leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// The units of the errors of intervals.
    fn interval_scale(&self) -> IntervalScale {
        let entry = catalogue::find(&self.learner);
        self.intervals.scale(entry.is_ok_and(|entry| entry.autonomous))
    }

    /// The kernel, and how it is told; `rows` are the first, `dimension` numbers each, with their
    /// weights if there are any.
    fn kernel(
        &self,
        entry: &Entry,
        dimension: usize,
        rows: &[f64],
        weights: &[f64],
    ) -> Result<(AnyKernel, String), Failure> {
        let kernel = match &self.kernel {
            KernelSpec::Given(_) if entry.autonomous => {
                return Err(Failure::usage(format!("{} chooses its kernels itself; leave --kernel out", entry.name)));
            }
            KernelSpec::Given(kernel) => kernel.clone(),
            KernelSpec::Median => median_kernel(dimension, rows, weights)?,
        };
        let spec = if entry.autonomous { "auto".to_owned() } else { kernel.to_string() };
        Ok((kernel, spec))
    }
}

/// The Gaussian whose width is the median distance of the first rows. Rows of weight 0 do not
/// count, pairs count by the product of their weights.
fn median_kernel(dimension: usize, rows: &[f64], weights: &[f64]) -> Result<AnyKernel, Failure> {
    let gaussian = Gaussian::new(weighted_median_width(dimension, rows, weights));
    gaussian.map(AnyKernel::Gaussian).map_err(|error| Failure::because(format!("--kernel median: {error}")))
}

const EVAL_EXAMPLES: &str = "\
Examples:
  mercer eval diamonds --learner auto
  mercer eval diamonds --learner nons-ald --scale paper01
  mercer eval train.csv --learner 'krls kernel=gaussian:2 nu=1e-4' --target price --json
  mercer eval data.csv.gz --learner nons-ald --scale paper01 --permute 1 --set alpha=25/T
  mercer eval diamonds --learner 'krls lambda=0.1' --scale paper01 --intervals 0.9 -o out.csv
  mercer eval train.csv --learner experts --scale paper01 --set 'members=nons-ald; krls lambda=0.1 kernel=gaussian:2'
  zcat log.ndjson.gz | mercer eval - --format ndjson --learner fogd --set features=200
";

/// List the learners with their parameters, cost and source
#[derive(Args)]
struct LearnersArguments {
    /// Tell all of this one
    name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the target is.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum TaskChoice {
    /// One of several classes
    Class,
    /// A number
    Regression,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ScaleChoice {
    None,
    Standard,
    Robust,
    Range,
    Paper01,
    Paper11,
}

impl ScaleChoice {
    fn scheme(self) -> Option<Scheme> {
        match self {
            Self::None | Self::Standard | Self::Robust | Self::Range => None,
            Self::Paper01 => Some(Scheme::PAPER01),
            Self::Paper11 => Some(Scheme::PAPER11),
        }
    }

    /// A learner with scaled targets, where numbers are scaled row by row and its loss has units.
    fn around(self, learner: AnyRegressor<AnyKernel>) -> Result<ScaledTargets<AnyRegressor<AnyKernel>>, Failure> {
        if self.online().is_none() || learner.loss() != Loss::SQUARED {
            return Ok(ScaledTargets::unscaled(learner));
        }
        ScaledTargets::new(learner).map_err(|error| Failure::because(error.to_string()))
    }

    /// A learner whose targets are scaled by ranges of a whole file.
    fn fixed(
        self,
        learner: AnyRegressor<AnyKernel>,
        scales: &[TargetScale],
    ) -> Result<ScaledTargets<AnyRegressor<AnyKernel>>, Failure> {
        let made = ScaledTargets::fixed(learner, scales.to_vec());
        made.map_err(|error| Failure::usage(format!("--scale {} of columns that are encoded: {error}", typed(&self))))
    }

    /// How numbers are scaled row by row.
    fn online(self) -> Option<Scale> {
        match self {
            Self::Standard => Some(Scale::Standard),
            Self::Robust => Some(Scale::Robust),
            Self::Range => Some(Scale::Range),
            Self::None | Self::Paper01 | Self::Paper11 => None,
        }
    }
}

/// How many rows are learnt together.
#[derive(Clone, Copy)]
enum BlockSize {
    Auto,
    Rows(usize),
}

impl BlockSize {
    /// Most rows in a block: they are held in memory, with their predictions.
    const MOST: usize = 1 << 20;

    /// The size for rows of `dimension` features of a stream that is, or is not, standard input.
    fn rows(self, standard_input: bool, threads: NonZeroUsize, dimension: usize) -> usize {
        match self {
            Self::Rows(rows) => rows,
            Self::Auto if standard_input => 1,
            // 64 MiB at most.
            Self::Auto if threads.get() > 1 => ((1 << 23) / (dimension + 1)).clamp(first_rows(dimension), 1 << 17),
            Self::Auto => first_rows(dimension),
        }
    }
}

impl FromStr for BlockSize {
    type Err = &'static str;

    fn from_str(size: &str) -> Result<Self, Self::Err> {
        match (size, size.parse()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(rows)) if (1..=Self::MOST).contains(&rows) => Ok(Self::Rows(rows)),
            _ => Err("a block is auto or a whole number of rows from 1 to 1048576"),
        }
    }
}

fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 1, in digits")
}

fn skipped(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 0, in digits")
}

fn every(text: &str) -> Result<NonZeroU64, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 1, in digits")
}

fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 0, in digits")
}

/// The name of a choice as it is typed.
fn typed(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// Ends every long help.
const EXIT_CODES: &str = "\
Exit codes:
  0      done
  1      it did not work: data, files, a learner that diverged
  2      the arguments cannot be right
  128+N  ended by signal N, with nothing to be kept
";

/// The command line, with what its definition by types leaves out.
fn command() -> Parsed {
    let command = Arguments::command().after_help(EXIT_CODES);
    command.mut_subcommands(|one| {
        let examples = one.get_after_help().map_or(String::new(), |help| format!("{help}\n"));
        one.after_long_help(examples + EXIT_CODES)
    })
}

/// The words of a command line in which a learner that is given with settings,
/// `--learner 'NAME KEY=VALUE …'`, has them in options of their own: `--kernel SPEC` for
/// kernel=SPEC, and `--set KEY=VALUE`.
fn spelled_out(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut all, mut follows, mut ended) = (Vec::new(), false, false);
    for word in words {
        ended |= word == "--";
        let spec = word.to_str().filter(|_| !ended);
        let spec = if follows { spec } else { spec.and_then(|word| word.strip_prefix("--learner=")) };
        follows = !ended && word == "--learner";
        let Some(spec) = spec else {
            all.push(word);
            continue;
        };
        let mut parts = split(spec, char::is_whitespace).filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or_default();
        all.push(if word == spec { name.into() } else { format!("--learner={name}").into() });
        all.extend(parts.map(|part| match part.strip_prefix("kernel=") {
            Some(kernel) => format!("--kernel={kernel}").into(),
            None => format!("--set={part}").into(),
        }));
    }
    all
}

/// Says why a run failed.
pub(crate) use verbosity::complain;

pub(crate) fn run() -> Result<(), Failure> {
    let (words, taken) = config::with_file(std::env::args_os().collect(), &mut command())?;
    let words = spelled_out(words);
    let parsed = command().try_get_matches_from(words).and_then(|matches| Arguments::from_arg_matches(&matches));
    let Arguments { command: asked, habits } = match parsed {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return Err(Failure::from_clap(&error)),
        // Help and version are asked for, and belong on stdout.
        Err(error) => return output::print(&verbosity::styled(&error.render())),
    };
    verbosity::set(habits.level());
    taken.inspect(|taken| verbosity::more(|| taken.clone()));
    match asked {
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, command()),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Koopman(arguments) => koopman::run(&arguments),
        Command::Forecast(arguments) => forecast::run(&arguments),
        Command::Learners(arguments) => learners::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Man(arguments) => manual::man(&arguments, command()),
        Command::Predict(arguments) => predict::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
    }
}
