//! The data and the learner, which `eval` and `train` are told alike.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use mercer_encoding::{Scale, ScaledTargets};
use mercer_experts::Outliers;
use mercer_kernels::{AnyKernel, Gaussian, KernelSpec, weighted_median_width};
use mercer_learners::intervals::IntervalScale;
use mercer_learners::{Loss, RegressorExt};
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{self, Entry};
use mercer_session::LabelDelay;

use super::{count, seed};
use crate::arguments::dialect::Dialect;
use crate::arguments::groups::GroupArguments;
use crate::arguments::intervals::IntervalArguments;
use crate::arguments::task::TaskChoice;
use crate::arguments::zone::ZoneArguments;
use crate::report::failure::Failure;

/// Columns of a list, in which names in quotes were cut at their commas.
pub(crate) fn whole(pieces: &[ColumnChoice]) -> Vec<ColumnChoice> {
    let mut columns: Vec<ColumnChoice> = Vec::new();
    let mut open: Option<String> = None;
    for piece in pieces {
        let text = match open.take() {
            Some(before) => format!("{before},{}", piece.text()),
            None if piece.text().starts_with('"') => piece.text(),
            None => {
                columns.push(piece.clone());
                continue;
            }
        };
        match text.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            Some(name) => columns.push(ColumnChoice::Name(name.to_owned())),
            None => open = Some(text),
        }
    }
    columns.extend(open.map(ColumnChoice::Name));
    columns
}

/// The data and the learner, which `eval` and `train` are told alike.
#[derive(Args)]
pub(crate) struct CommonArguments {
    /// A file, `-` for standard input, or a data set's name
    pub(crate) data: PathBuf,
    /// The learner, with settings if they are to be others than usual: NAME or 'NAME KEY=VALUE …',
    /// where kernel=SPEC may be one of them; `mercer learners` lists them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) learner: String,
    /// gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET,
    /// linear, mix:0.4*gaussian:0.4+0.6*gaussian:0.7, or median
    ///
    /// `median` is the Gaussian whose width is the median distance between the first rows, 200 at
    /// most, as the learner sees them; they are waited for before the first is learnt. The learner
    /// auto chooses its kernels itself.
    #[arg(long, value_name = "SPEC", default_value = "median")]
    pub(crate) kernel: KernelSpec,
    /// Set a parameter of the learner; may be given several times
    ///
    /// VALUE is a number; auto where a rule finds it in the data; or none. `mercer learners NAME`
    /// tells the keys.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Scale the data row by row: standard, robust, range or none
    ///
    /// `standard` scales features by their running mean and deviation, `robust` by their running
    /// median and quartiles, and `range` by their running range. They begin with the first 256
    /// rows. Targets are learnt in scaled units; predictions, intervals and errors are in the
    /// target's own.
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub(crate) scale: Scale,
    /// Treatment of rows whose targets are implausible numbers: keep, weigh or skip
    ///
    /// A target is implausible more than ten times the range of late beyond that range, until as
    /// many follow as the logarithm of the distance: wrong values are, a stream that has moved is
    /// not. An exact value that comes again and again so far out is a mark such as -9999, and is
    /// not learnt; a level that is left within some 50 rows is forgotten. `skip` predicts such a
    /// row and does not learn it, `weigh` learns it with a weight that makes it pull no harder than
    /// one as far beyond the range as that is wide, and `keep` learns it as it is. What was done is
    /// told. A model keeps the way in which it was trained.
    #[arg(long, value_name = "HOW", default_value = "weigh")]
    pub(crate) outliers: Outliers,
    /// Learn only the first N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Shuffle the rows before --limit counts them; the same seed gives the same order everywhere
    ///
    /// All rows are read into memory first. Those of standard input may have 1 GiB of text. It is
    /// for files that are in the order of something else than time: sorted by class, by target or
    /// by a feature (docs/order-of-rows.md).
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub(crate) permute: Option<u64>,
    /// Learn each row when its label has come: behind so many further rows, or so much later by the
    /// first column of times, such as 100, 36h or 7d
    ///
    /// Each row is predicted and scored by what is known when it comes, and so are the running mean
    /// and the last value beside it. The labels that are still to come at the end are learnt then.
    #[arg(long, value_name = "ROWS|TIME")]
    pub(crate) label_delay: Option<LabelDelay>,
    #[command(flatten)]
    pub(crate) groups: GroupArguments,
    /// Seed of learners that draw
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    pub(crate) seed: u64,
    /// Which column is the target, by name or by number from 1, or several with commas between; the
    /// last unless given
    #[arg(long, value_name = "NAME|INDEX,…")]
    pub(crate) target: Option<TargetColumn>,
    /// Which column holds weights, by name or by number from 1
    ///
    /// A weight is a number of at least 0: a row of weight 2 counts like two rows, a row of weight
    /// 0 is predicted and neither learnt nor scored. Scores are weighted means.
    #[arg(long, value_name = "NAME|INDEX")]
    pub(crate) weight: Option<ColumnChoice>,
    #[command(flatten)]
    pub(crate) intervals: IntervalArguments,
    /// Kind of the target: a class or a number
    ///
    /// Unless given, a target that holds text, or nothing but 0 and 1, is a class. A target of -1
    /// and 1 is a number unless the learner only classifies. The first 256 rows decide.
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskChoice>,
    /// Columns that are neither features nor the target, by name or by number from 1, with commas
    /// between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) ignore: Vec<ColumnChoice>,
    /// The columns that are features, by name or by number from 1, with commas between; all others
    /// are ignored
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) only: Vec<ColumnChoice>,
    /// Kind of the values of a column of a file: number, duration, category, mean, time, text or
    /// identifier; may be given several times
    ///
    /// Data with columns that are not numbers, or with empty cells, in their first 256 rows are
    /// encoded: categories are one-hot (hashed when there are many; as `mean` they are one number,
    /// the mean target of the rows before, of classes the share of the first), times become cyclic
    /// parts and elapsed years, a gap becomes the running mean with a mark beside it, texts and
    /// identifiers are ignored, and numbers stay as they are unless --scale says otherwise. `mercer
    /// inspect` tells what is found.
    #[arg(long = "as", value_name = "NAME=KIND")]
    pub(crate) kinds: Vec<String>,
    #[command(flatten)]
    pub(crate) zone: ZoneArguments,
    /// Number of features in a row; only LIBSVM from a pipe needs it
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) dimension: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) dialect: Dialect,
}

impl CommonArguments {
    /// Refuses data of another dimension than they were said to have.
    pub(crate) fn check_dimension(&self, shown: &str, dimension: usize) -> Result<(), Failure> {
        match self.dimension.map(usize::from).filter(|said| *said != dimension) {
            Some(said) => Err(Failure::because(format!(
                "{shown}: has {dimension} features, but --dimension says {said}; correct it, or leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// A learner with scaled targets, where numbers are scaled and its loss has units.
    pub(crate) fn behind_scales(
        &self,
        learner: AnyRegressor<AnyKernel>,
    ) -> Result<ScaledTargets<AnyRegressor<AnyKernel>>, Failure> {
        if self.scale == Scale::None || learner.loss() != Loss::SQUARED {
            return Ok(ScaledTargets::unscaled(learner));
        }
        ScaledTargets::new(learner).map_err(|error| Failure::because(error.to_string()))
    }

    /// The units of the errors of intervals.
    pub(crate) fn interval_scale(&self) -> IntervalScale {
        let entry = catalogue::find(&self.learner);
        self.intervals.scale(entry.is_ok_and(|entry| entry.autonomous))
    }

    /// The kernel, and how it is told; `rows` are the first, `dimension` numbers each, with their
    /// weights if there are any.
    pub(crate) fn kernel(
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
pub(crate) fn median_kernel(dimension: usize, rows: &[f64], weights: &[f64]) -> Result<AnyKernel, Failure> {
    let gaussian = Gaussian::new(weighted_median_width(dimension, rows, weights));
    gaussian.map(AnyKernel::Gaussian).map_err(|error| Failure::because(format!("--kernel median: {error}")))
}
