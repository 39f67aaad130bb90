//! `mercer fit`: ridge regressions that are sums over rows, from many files at once, in shards that
//! merge.

mod checkpoint;
mod extra;
mod files;
mod frozen;
mod parts;
mod pass;
mod spool;
mod stamps;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use mercer_encoding::Scale;
use mercer_kernels::{KernelSpec, Points};
use mercer_learners::FeatureMap;
use mercer_readers::{ColumnChoice, TargetColumn};
use mercer_registry::catalogue::nearest;
use mercer_session::fit::{FitError, FitSpec};
use mercer_session::model::{Model, Moments, PartSource};
use serde_json::{Map, Value, json};

use crate::arguments::dialect::{Dialect, kept_gaps};
use crate::arguments::median_kernel;
use crate::arguments::task::TaskChoice;
use crate::arguments::zone::ZoneArguments;
use crate::arguments::{count, seed};
use crate::data::bad_rows::{OnError, left_out};
use crate::model::lock;
use crate::model::store;
use crate::report::facts::Facts;
use crate::report::failure::Failure;
use crate::report::verbosity;
use checkpoint::FitCheckpoint;
use files::{FilePart, Files};
use parts::Joined;

/// Rows of `--scale-from` from which a median width is taken.
const FIRST_ROWS: usize = 256;
/// Features above which it is not tried to say how good a fit is, because that costs 10r³.
const MOST_TOLD: usize = 2000;

/// Sum up many files for a ridge regression on fixed features: one pass, any number of machines
///
/// The file that is written holds sums over rows: those of several shards are joined by
/// `mercer merge`, and `mercer predict` predicts with it. The sums do not depend on --threads;
/// those of shards, once merged, are those of one pass to rounding (1e-9).
///
/// Learners: ridge (the inputs themselves), pkrr-taylor and pkawv-taylor (Taylor features of a
/// Gaussian kernel), pkrr-fourier (random frequencies), pkrr-frozen (points given by --points, any
/// kernel).
///
/// The columns are numbers, without gaps. Where they are not, --scale-from FILE tells how they
/// become numbers: that is learnt from FILE alone, as `mercer train` learns it from a stream, and
/// every row of every shard is encoded by it. Shards of different FILEs do not merge.
///
/// A target of text is a class: the sums have an output for each class, and the fit is least
/// squares on targets of 1 and -1. Shards that met different classes merge. The first 256 rows of
/// the first file decide for all files.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(super) struct FitArguments {
    /// Files, patterns such as 'day/**/part-*.parquet', folders, names of data sets, or - for
    /// standard input; all with the same columns
    ///
    /// Columns are found by their names, in any order. A file without a row is passed over.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// ridge, pkrr-taylor, pkawv-taylor, pkrr-fourier or pkrr-frozen, as NAME or 'NAME KEY=VALUE …'
    #[arg(long, value_name = "NAME")]
    learner: String,
    /// The kernel: gaussian:SIGMA, any other for pkrr-frozen, or median, the median distance
    /// between the first rows of --scale-from
    #[arg(long, value_name = "SPEC", default_value = "median")]
    kernel: KernelSpec,
    /// Set a parameter of the learner; may be given several times
    ///
    /// lambda=NUMBER or auto (the ridge of the least generalised cross-validation, chosen when a
    /// prediction is asked for); intercept=1 for ridge; degree=2 and centre=none for Taylor
    /// features; features=100 for random frequencies.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Scale every column by what --scale-from holds of it: standard (mean and deviation), robust
    /// (median and quartiles), range or none
    #[arg(long, value_name = "HOW", default_value = "none")]
    scale: Scale,
    /// The file that tells how the columns of all shards are scaled and encoded
    ///
    /// Every shard must be given the same file: the first one, or a sample of the rows. A category
    /// that it does not hold is hashed later.
    #[arg(long, value_name = "FILE")]
    scale_from: Option<PathBuf>,
    /// Kind of the values of a column of --scale-from: number, category, time, text or identifier;
    /// may be given several times
    #[arg(long = "as", value_name = "NAME=KIND", requires = "scale_from")]
    kinds: Vec<String>,
    #[command(flatten)]
    zone: ZoneArguments,
    /// The points of pkrr-frozen: a file with the columns of the data, in their own units
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Seed of random frequencies
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Which column is the target, by name or by number from 1, or several with commas between; the
    /// last unless given
    #[arg(long, value_name = "NAME|INDEX,…")]
    target: Option<TargetColumn>,
    /// Kind of the target: a class or a number
    ///
    /// Unless given, a target that holds text is a class, and numbers are numbers, also 0 and 1:
    /// the choice must be the same for all shards.
    #[arg(long, value_name = "TASK")]
    task: Option<TaskChoice>,
    /// Which column holds weights, by name or by number from 1
    #[arg(long, value_name = "NAME|INDEX")]
    weight: Option<ColumnChoice>,
    /// Columns that are neither features nor the target, by name or by number from 1, with commas
    /// between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
    /// Take only shard I of N: the rows of all files are cut into N contiguous parts, which are
    /// counted from 0
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// The name by which `mercer merge` knows these rows again, so that they count once; unless
    /// given, the paths and contents of the files
    #[arg(long, value_name = "NAME")]
    part: Option<String>,
    /// Threads; the sums are the same for any number
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    threads: NonZeroUsize,
    /// The file of the sums
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Leave a file of the same shard and the same options as it is, and go on from a --checkpoint
    /// of it, so that a run that was interrupted can be begun again
    #[arg(long)]
    resume: bool,
    /// Keep the sums so far in FILE.checkpoint beside --out: behind a file, or some row groups of
    /// Parquet, once so many seconds have passed since the last time; 0 is behind each
    ///
    /// With --resume a run goes on from there, if the files are as they were, to the same sums to
    /// the bit.
    #[arg(long, value_name = "SECONDS")]
    checkpoint: Option<u64>,
    /// What becomes of rows that cannot be read: stop, or skip, which leaves them out and counts
    /// them
    #[arg(long, value_name = "HOW", default_value = "stop")]
    on_error: OnError,
    #[command(flatten)]
    dialect: Dialect,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer fit 'part-*.parquet' --learner pkrr-taylor --kernel gaussian:4 --target y --threads 8 --out all.mercer
  mercer fit 'part-*.parquet' --learner pkrr-fourier --kernel gaussian:4 --set features=500 --shard 0/3 --out part0.mercer
  mercer fit 'part-*.csv' --learner pkrr-fourier --kernel gaussian:4 --target species --out classes.mercer
  mercer fit 'part-*.csv' --learner ridge --scale standard --scale-from part-0.csv --target price --out prices.mercer
  mercer merge part0.mercer part1.mercer part2.mercer --out all.mercer
  mercer predict new.csv --model all.mercer > predictions.csv
";

/// One of several shards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shard {
    index: u64,
    of: u64,
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let pair = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match pair {
            Some((index, of)) if index < of && of <= 1 << 32 => Ok(Self { index, of }),
            _ => Err("a shard is I/N with I below N, such as 0/3, 1/3 and 2/3"),
        }
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        let more = match &error {
            FitError::UnknownLearner { name } => {
                nearest(name, &FitSpec::learners()).map(|name| format!(" (did you mean {name}?)"))
            }
            _ => None,
        };
        Self::usage(format!("{error}{}", more.unwrap_or_default()))
    }
}

pub(super) fn run(arguments: &FitArguments) -> Result<(), Failure> {
    let Shard { index, of } = arguments.shard.unwrap_or(Shard { index: 0, of: 1 });
    let skips = check_options(arguments)?;
    let _lock = lock::take("--out", &arguments.out)?;
    store::check_place("--out", &arguments.out)?;
    let files = Files::open(arguments)?;
    check_scale(arguments, &files)?;
    let fresh = begin(arguments, &files)?;
    let stamps = files.stamps();
    let parts = files.shard(index, of)?;
    let sources: Vec<(usize, PartSource)> = parts
        .iter()
        .map(|part| Ok((part.file, files.source(part.file, part.rows.clone())?)))
        .collect::<Result<_, Failure>>()?;
    tell_copies(&sources);
    let mut checkpoint = FitCheckpoint::new(arguments, (index, of))?;
    if arguments.resume && is_done(arguments, &fresh, (index, of), &sources) {
        checkpoint.remove();
        verbosity::remark(format!("{}: holds shard {index}/{of} already", arguments.out.display()));
        return Ok(());
    }
    let began = Instant::now();
    let pieces = files.pieces(&parts);
    let found = if arguments.resume { checkpoint.found(&fresh, &pieces, &sources) } else { None };
    let joined = found.unwrap_or_else(|| Joined::of(&fresh, 0));
    let mut keep = |joined: &Joined| checkpoint.keep(joined, &fresh);
    let of_files = sources.iter().cloned().collect();
    let how = (arguments.threads.into(), skips);
    let joined = parts::sum_up((&files, &pieces, &of_files), &fresh, joined, how, &mut keep)?;
    stamps.check()?;
    tell_left_out(&joined);
    if let Some(frozen) = files.frozen() {
        frozen.report();
    }
    let state = joined.state(&fresh, (index, of))?;
    let seconds = began.elapsed().as_secs_f64();
    drop(store::save("--out", &arguments.out, state.to_bytes())?);
    checkpoint.remove();
    let more = vec![
        ("files", json!(parts.iter().filter(|FilePart { rows, .. }| rows.start < rows.end).count())),
        ("shard", json!(format!("{index}/{of}"))),
        ("seconds", json!(seconds)),
        ("bad_rows", json!(joined.bad)),
    ];
    facts(&state, &arguments.out, of == 1, more)?.print(arguments.json, "")
}

/// Refuses options that contradict one another; true if rows that cannot be read are left out.
fn check_options(arguments: &FitArguments) -> Result<bool, Failure> {
    if arguments.scale != Scale::None && arguments.scale_from.is_none() {
        return Err(Failure::usage(format!(
            "--scale {} needs a file that settles it for all shards; say with --scale-from FILE which one",
            arguments.scale
        )));
    }
    if let (Some(zone), None) = (&arguments.zone.zone, &arguments.scale_from) {
        return Err(Failure::usage(format!(
            "--zone {}: times are read by what --scale-from holds of their column; say with --scale-from FILE which file tells",
            zone.name()
        )));
    }
    let skips = arguments.on_error.skips()?;
    if skips && arguments.shard.is_some() {
        return Err(Failure::usage(
            "--shard counts all rows, and --on-error skip leaves some out; give each machine files of its own",
        ));
    }
    Ok(skips)
}

/// Refuses a file of `--scale-from` that settles nothing.
fn check_scale(arguments: &FitArguments, files: &Files) -> Result<(), Failure> {
    let needed = arguments.scale != Scale::None || matches!(arguments.kernel, KernelSpec::Median);
    match (&arguments.scale_from, files.frozen(), needed) {
        (Some(path), None, false) => Err(Failure::usage(format!(
            "{}: its columns are numbers as they are, and --scale-from does not say how to scale them; add --scale standard, robust or range",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Tells if a file looks like a copy of another: both count.
fn tell_copies(sources: &[(usize, PartSource)]) {
    let mut sorted: Vec<&PartSource> = sources.iter().map(|(_, source)| source).collect();
    // Those of the same contents and the same file name become neighbours, whatever their number.
    sorted.sort_by_key(|source| (source.digest, Path::new(&source.name).file_name()));
    if let Some(&[one, copy]) = sorted.windows(2).find(|pair| pair[0].is_copy_of(pair[1])) {
        verbosity::remark(copy_told(one, copy));
    }
}

/// What is told of two files of which one may be a copy.
pub(super) fn copy_told(one: &PartSource, copy: &PartSource) -> String {
    format!("{} and {} have the same contents and count as two; leave one out if it is a copy", one.name, copy.name)
}

/// Tells how many rows could not be read.
fn tell_left_out(joined: &Joined) {
    match &joined.first_bad {
        Some(first) => verbosity::say(left_out(joined.bad, first)),
        None if joined.bad > 0 => {
            verbosity::say(format!("bad rows that were left out before the run was interrupted: {}", joined.bad));
        }
        None => {}
    }
}

/// The state before the first row.
fn begin(arguments: &FitArguments, files: &Files) -> Result<Moments, Failure> {
    let (d, outputs) = (files.dimension(), files.outputs());
    // An encoding has learnt the file already.
    let looks = files.frozen().is_none() || matches!(arguments.kernel, KernelSpec::Median);
    let reference = arguments.scale_from.as_deref().filter(|_| looks);
    let pairs = arguments.set.iter().map(String::as_str);
    let spec = FitSpec::new(&arguments.learner, None, [], arguments.seed)?;
    let kernel = match (&arguments.kernel, reference) {
        _ if !spec.has_kernel() => None,
        (KernelSpec::Given(kernel), _) => Some(kernel.clone()),
        (KernelSpec::Median, Some(path)) => Some(median_kernel(d, &files.first_rows(path, FIRST_ROWS)?, &[])?),
        (KernelSpec::Median, None) => {
            return Err(Failure::usage(
                "a median width would differ from shard to shard; give --kernel gaussian:SIGMA, or --scale-from FILE to take it from",
            ));
        }
    };
    let spec = FitSpec::new(&arguments.learner, kernel, pairs, arguments.seed)?;
    let points = arguments.points.as_deref().map(|path| points(path, files)).transpose()?;
    if points.is_some() && !spec.needs_points() {
        return Err(Failure::usage(format!("{} takes no points; leave --points out", spec.learner())));
    }
    let mut state = match files.are_classes() {
        true => spec.start_classes(d, points.as_ref())?,
        false => spec.start(d, outputs, points.as_ref())?,
    };
    if let Some(frozen) = files.frozen() {
        state.encoding = Some(frozen.encoding().clone());
    }
    let about = &mut state.description;
    about.features = files.features().to_vec();
    about.target = arguments.target.clone().unwrap_or_default();
    about.target_name = files.targets().first().cloned();
    about.target_names = if outputs > 1 { files.targets().to_vec() } else { Vec::new() };
    about.weight = arguments.weight.clone();
    about.marks = files.marks()?;
    about.own = kept_gaps(arguments.dialect.gaps());
    Ok(state)
}

/// The points of a file.
fn points(path: &std::path::Path, files: &Files) -> Result<Points, Failure> {
    let mut points = Points::new(files.dimension());
    let rows = files.first_rows(path, usize::MAX)?;
    rows.chunks_exact(files.dimension().max(1)).for_each(|row| points.push(row));
    Ok(points)
}

/// True if the file holds just this shard of the same fit, from files that are as they were.
fn is_done(
    arguments: &FitArguments,
    state: &Moments,
    (index, of): (u64, u64),
    sources: &[(usize, PartSource)],
) -> bool {
    let Ok(loaded) = store::load(&arguments.out) else { return false };
    let Model::Moments(there) = loaded.model else { return false };
    let about = |source: &PartSource| (source.name.clone(), source.digest, source.first);
    let same = matches!(&there.parts[..], [part] if (part.shard, part.of) == (index, of)
        && part.sources.iter().map(about).eq(sources.iter().map(|(_, source)| about(source))));
    same && there.check_same(state).is_ok() && there.lambda == state.lambda
}

/// A description of the sums, and of the quality of the fit where that is cheap.
pub(super) fn facts(
    state: &Moments,
    out: &std::path::Path,
    judged: bool,
    more: Vec<(&'static str, Value)>,
) -> Result<Facts, Failure> {
    let (about, sums, mut facts) = (&state.description, &state.sums, Facts::default());
    let r = sums.sums().features();
    let parameters = about.parameters.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    facts.tell("learner", about.learner.as_str());
    facts.tell("kernel", about.kernel.as_str());
    facts.tell("parameters", parameters.collect::<Map<_, _>>());
    facts.tell("rows", state.rows());
    facts.tell("weight", sums.weight());
    facts.tell("features", sums.feature_map().input_dimension());
    facts.tell("coordinates", r);
    facts.tell("outputs", sums.outputs());
    if let Some(classes) = &state.classes {
        facts.tell("classes", classes.names().to_vec());
    }
    more.into_iter().for_each(|(name, fact)| facts.tell(name, fact));
    if judged && r <= MOST_TOLD && sums.weight() > 0.0 {
        let point = state.point().map_err(|error| Failure::because(format!("{}: {error}", out.display())))?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mse: Vec<f64> = point.residuals.iter().map(|rss| rss / sums.weight()).collect();
        facts.tell("lambda", point.lambda);
        facts.tell("effective_dimension", point.effective_dimension);
        facts.tell("mse", mean(&mse));
        facts.tell("r2", mean(&point.r2));
        facts.tell("gcv", mean(&point.gcv));
    }
    Ok(facts)
}
