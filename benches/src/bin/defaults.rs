//! Every learner of the catalogue with its defaults, over streams of any unit: where is it worse
//! than the mean?
//!
//! Each stream, a file whose last column is the target, is learnt three times: as it is (as
//! `mercer eval FILE --learner NAME` learns it), with running scales (features by running mean and
//! deviation, the target by [`ScaledTargets`]), and with features and target scaled by mean and
//! deviation of the whole file. The kernel is the Gaussian with the median distance of the first
//! rows, settings are defaults. A score is the squared error over the last half as a share of that
//! of the running mean; one above 1 is worse than the mean. A learner that diverges has the score
//! infinity. Files of classes that are words or 0 and 1 are left out, and learners that only
//! classify.
//!
//! `cargo run --release -p mercer-benches --bin defaults -- [--rows N] [--learner 'NAME KEY=VALUE
//! …']… [--each] FILES|FOLDERS…`

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result};
use clap::Parser;
use mercer::catalogue::{self, Context, Entry, Settings};
use mercer::{AnyKernel, AnyRegressor, Gaussian, Regressor, RegressorExt, median_width};
use mercer_encoding::{RunningMoments, ScaledTargets};
use mercer_readers::{Dataset, ReadOptions, read_all};

/// As many first rows as the command looks at.
const FIRST_ROWS: usize = 256;

/// Scores of all learners with their defaults.
#[derive(Parser)]
struct Arguments {
    /// Files, or folders of files NAME.csv.gz
    #[arg(required = true)]
    streams: Vec<PathBuf>,
    /// Learn only the first N rows
    #[arg(long, default_value_t = 2000)]
    rows: usize,
    /// Only this learner, with these settings; may be given several times
    #[arg(long = "learner")]
    learners: Vec<String>,
    /// Only these scales
    #[arg(long = "scale")]
    scales: Vec<String>,
    /// Print every score
    #[arg(long)]
    each: bool,
}

/// Scaling of a stream.
#[derive(Clone, Copy)]
enum StreamScaling {
    Not,
    Running,
    Whole,
}

const SCALES: [(&str, StreamScaling); 3] =
    [("none", StreamScaling::Not), ("running", StreamScaling::Running), ("whole", StreamScaling::Whole)];

/// A learner and its settings.
struct DefaultMethod {
    name: String,
    entry: &'static Entry,
    pairs: Vec<String>,
}

impl DefaultMethod {
    fn read(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let entry = catalogue::find(words.next().context("a learner needs a name")?)?;
        Ok(Self { name: text.to_owned(), entry, pairs: words.map(str::to_owned).collect() })
    }

    fn build(&self, dimension: usize, rows: &[f64]) -> Result<AnyRegressor<AnyKernel>> {
        let kernel = AnyKernel::Gaussian(Gaussian::new(median_width(dimension, rows))?);
        let context = Context { dimension, rows, ..Context::default() };
        let settings = Settings::new(self.entry, self.pairs.iter().map(String::as_str))?;
        Ok(settings.build(kernel, &context)?.learner)
    }

    /// The score on a stream.
    fn score(&self, table: &Dataset, scaled: StreamScaling) -> Result<f64> {
        let dimension = table.dimension();
        let head = table.len().min(FIRST_ROWS);
        match scaled {
            StreamScaling::Not => {
                let mut learner = self.build(dimension, &table.features()[..head * dimension])?;
                Ok(share(&mut learner, table, |_, _| ()))
            }
            StreamScaling::Whole => {
                let table = whole(table)?;
                let mut learner = self.build(dimension, &table.features()[..head * dimension])?;
                Ok(share(&mut learner, &table, |_, _| ()))
            }
            StreamScaling::Running => {
                let mut moments = vec![RunningMoments::default(); dimension];
                let observe = |moments: &mut [RunningMoments], x: &[f64]| {
                    moments.iter_mut().zip(x).for_each(|(moments, x)| moments.observe(*x));
                };
                table.iter().take(head).for_each(|(x, _)| observe(&mut moments, x));
                let rows: Vec<f64> = table.iter().take(head).flat_map(|(x, _)| scale(&moments, x)).collect();
                let mut learner = ScaledTargets::new(self.build(dimension, &rows)?)?;
                Ok(share(&mut learner, table, |t, x| {
                    if t >= head {
                        observe(&mut moments, x);
                    }
                    let scaled = scale(&moments, x);
                    x.copy_from_slice(&scaled);
                }))
            }
        }
    }
}

/// Features in units of their deviations.
fn scale(moments: &[RunningMoments], x: &[f64]) -> Vec<f64> {
    let scaled = |(moments, x): (&RunningMoments, &f64)| match moments.deviation() {
        0.0 => 0.0,
        deviation => (x - moments.mean()) / deviation,
    };
    moments.iter().zip(x).map(scaled).collect()
}

/// The table with features and target of mean 0 and deviation 1.
fn whole(table: &Dataset) -> Result<Dataset> {
    let mut moments = vec![RunningMoments::default(); table.dimension() + 1];
    for (x, y) in table.iter() {
        moments.iter_mut().zip(x.iter().chain([&y])).for_each(|(moments, value)| moments.observe(*value));
    }
    let (of_target, of_features) = moments.split_last().context("no columns")?;
    let features = table.iter().flat_map(|(x, _)| scale(of_features, x)).collect();
    let targets = table.iter().flat_map(|(_, y)| scale(std::slice::from_ref(of_target), &[y])).collect();
    Ok(Dataset::new(table.name(), table.dimension(), features, targets)?)
}

/// The error over the last half as a share of the running mean's; infinite for a learner that
/// diverges. `prepare` sees a row before it is learnt.
fn share(learner: &mut impl Regressor, table: &Dataset, mut prepare: impl FnMut(usize, &mut [f64])) -> f64 {
    let (mut loss, mut of_mean, mut sum) = (0.0, 0.0, 0.0);
    let mut x = vec![0.0; table.dimension()];
    for (t, (row, y)) in table.iter().enumerate() {
        x.copy_from_slice(row);
        prepare(t, &mut x);
        let Ok(prediction) = learner.predict_then_update(&x, y) else { return f64::INFINITY };
        if 2 * t >= table.len() {
            loss += (prediction - y).powi(2);
            of_mean += (sum / t as f64 - y).powi(2);
        }
        sum += y;
    }
    let share = loss / of_mean;
    if share.is_finite() { share } else { f64::INFINITY }
}

/// The streams of the files, and those of folders, in the order of their names.
fn streams(arguments: &Arguments) -> Result<Vec<Dataset>> {
    let mut files = Vec::new();
    for path in &arguments.streams {
        if path.is_dir() {
            let inside: Vec<PathBuf> =
                path.read_dir()?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
            files.extend(inside.into_iter().filter(|path| path.extension().is_some_and(|end| end == "gz")));
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    let mut streams = Vec::new();
    for file in files {
        let mut table = read_all(&file, &ReadOptions::default())?;
        table.truncate(arguments.rows);
        let zero_one = table.targets().iter().all(|y| *y == 0.0 || *y == 1.0);
        if table.classes().is_none() && !zero_one {
            streams.push(table.renamed(short(&file)));
        }
    }
    Ok(streams)
}

fn short(file: &Path) -> String {
    let name = file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or(&name).to_owned()
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let streams = streams(&arguments)?;
    let methods: Vec<DefaultMethod> = if arguments.learners.is_empty() {
        let numbers = catalogue::entries().iter().filter(|entry| entry.takes.numbers());
        numbers.map(|entry| DefaultMethod::read(entry.name)).collect::<Result<_>>()?
    } else {
        arguments.learners.iter().map(|text| DefaultMethod::read(text)).collect::<Result<_>>()?
    };
    let wanted = |name: &str| arguments.scales.is_empty() || arguments.scales.iter().any(|scale| scale == name);
    for (scale, scaled) in SCALES.into_iter().filter(|(name, _)| wanted(name)) {
        println!(
            "\nscale {scale}\n{:<34} {:>7} {:>8} {:>8}  streams where it is worse than the mean",
            "learner", "median", "largest", "worse"
        );
        for method in &methods {
            let score = |table: &Dataset| method.score(table, scaled).map(|score| (table.name().to_owned(), score));
            let (left, right) = streams.split_at(streams.len() / 2);
            let mut scores: Vec<(String, f64)> = thread::scope(|scope| {
                let other = scope.spawn(|| right.iter().map(score).collect::<Result<Vec<_>>>());
                let mut scores = left.iter().map(score).collect::<Result<Vec<_>>>()?;
                scores.extend(other.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??);
                anyhow::Ok(scores)
            })?;
            if arguments.each {
                scores.iter().for_each(|(stream, score)| println!("{scale},{},{stream},{score:.5}", method.name));
            }
            scores.sort_by(|a, b| b.1.total_cmp(&a.1));
            let worse: Vec<String> = scores
                .iter()
                .take_while(|(_, score)| *score > 1.0)
                .map(|(stream, score)| format!("{stream} {score:.3}"))
                .collect();
            let (median, largest) = (scores[scores.len() / 2].1, scores[0].1);
            println!("{:<34} {median:>7.3} {largest:>8.3} {:>8}  {}", method.name, worse.len(), worse.join(", "));
        }
    }
    Ok(())
}
