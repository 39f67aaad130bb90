//! Arguments of `mercer eval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use mercer_learners::intervals::IntervalScale;

use crate::arguments::alarm_rate::AlarmRate;
use crate::arguments::scores::ScoreArguments;
use crate::arguments::{CommonArguments, count};
use crate::data::bad_rows::OnError;
use crate::limits::first_rows;
use crate::report::plot::PlotArguments;

/// Run a learner over data once: predict, score, learn
///
/// Prints scores of the predictions, each made before its target was shown, over all rows, their
/// second half and the last window, beside those of two baselines: the running mean (for classes
/// the most frequent class so far) and the value of the row before.
///
/// DATA is a CSV or TSV file (with or without a header), JSON (an object a line, or one array),
/// LIBSVM, each also compressed by gzip or zstd, Parquet or Arrow; or `-` for standard input; or,
/// if there is no such file, the name of a known data set such as `diamonds`, which is built in
/// (the others are looked for in the folder $MERCER_DATA, in datasets/cache and in datasets).
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EVAL_EXAMPLES)]
pub(crate) struct EvalArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Threads that a blocked pass may use, those of a mixture for its members; predictions are the
    /// same to rounding
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    pub(crate) threads: NonZeroUsize,
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
    pub(crate) block: BlockSize,
    /// Treatment of rows that cannot be read: stop or skip
    #[arg(long, value_name = "HOW", default_value = "stop")]
    pub(crate) on_error: OnError,
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
    pub(crate) predictions: Option<PathBuf>,
    /// Write t,target and then exactly these columns, with commas between: prediction, score, size,
    /// variance, lower, upper, loss, p_CLASS
    ///
    /// `size` is the number of points after the row was learnt, so rows are then learnt one by one;
    /// `loss` is what the learner minimises, for the row's prediction. `variance` is that of the
    /// target as least-squares learners expect it before it is shown, and takes rows one by one,
    /// too. `lower` and `upper` are the ends of --intervals.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "predictions")]
    pub(crate) columns: Vec<String>,
    /// Watch the rows and the errors, too: alarms beside the scores, as `mercer watch --target` has
    /// them for the learner auto, and marks in the picture
    ///
    /// Rows unlike those before, changes of the inputs and of the target, and errors of these
    /// predictions that have risen. Rows are then learnt one by one.
    #[arg(long, conflicts_with_all = ["label_delay", "label_id"])]
    pub(crate) watch: bool,
    /// With --watch, how often a false alarm may come, of all kinds together: 1/ROWS, or a share
    #[arg(long, value_name = "RATE", default_value = "1/10000", requires = "watch")]
    pub(crate) alarm_rate: AlarmRate,
    #[command(flatten)]
    pub(crate) scores: ScoreArguments,
    #[command(flatten)]
    pub(crate) plot: PlotArguments,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl EvalArguments {
    /// True if a row is learnt before the next is predicted, by all that a session can do.
    pub(crate) fn is_single(&self) -> bool {
        let common = &self.common;
        self.columns.iter().any(|column| column == "variance")
            || common.interval_scale() != IntervalScale::Error
            || common.label_delay.is_some()
            || common.groups.given().is_some()
            || self.watch
    }
}

/// Number of rows that are learnt together.
#[derive(Clone, Copy)]
pub(crate) enum BlockSize {
    Auto,
    Rows(usize),
}

impl BlockSize {
    /// Most rows in a block: they are held in memory, with their predictions.
    pub(crate) const MOST: usize = 1 << 20;

    /// The size for rows of `dimension` features of a stream that is, or is not, standard input.
    pub(crate) fn rows(self, standard_input: bool, threads: NonZeroUsize, dimension: usize) -> usize {
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

const EVAL_EXAMPLES: &str = "\
Examples:
  mercer eval diamonds --learner auto
  mercer eval diamonds --learner nons-ald --scale standard
  mercer eval sensors.csv --learner auto --watch --alarm-rate 1/100000 --plot eval.png
  mercer eval train.csv --learner 'krls kernel=gaussian:2 nu=1e-4' --target price --json
  mercer eval data.csv.gz --learner nons-ald --scale standard --permute 1 --set alpha=0.01
  mercer eval diamonds --learner 'krls lambda=0.1' --scale standard --intervals 0.9 -o out.csv
  mercer eval train.csv --learner experts --scale standard --set 'members=nons-ald; krls lambda=0.1 kernel=gaussian:2'
  zcat log.ndjson.gz | mercer eval - --format ndjson --learner fogd --set features=200
";
