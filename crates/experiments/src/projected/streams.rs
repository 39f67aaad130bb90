//! Figures 2 and 4: average loss or error rate, and time, against the round, on large streams.
//!
//! Every learner of section 4 learns each data set at hand in one prequential pass over a random
//! order, in blocks (the same predictions as one by one, to rounding). On data the paper projects
//! kernel ridge regression. At the papers' size a pass ends after five minutes of learning, as in
//! the paper; what such an end gives depends on the machine and is marked. The reduced run has no
//! clock: it ends passes after a number of rows that depends on the learner alone.

use std::time::Instant;

use mercer_core::ExampleError;
use mercer_datasets::Registry;
use mercer_kernels::TaylorFeatures;
use mercer_learners::{Error, Regressor, RegressorExt, Score};
use mercer_readers::{Dataset, Ranges, Scaling, Scheme};

use super::methods::{KernelForecaster, MOST_BYTES, ProjectedMethod};
use crate::judgement::{PrintedValue, Tolerance};
use crate::prelude::*;

/// Seconds of learning that a pass may take at the papers' size.
const SECONDS: f64 = 300.0;

/// Rows that are learnt together.
const BLOCK: usize = 256;

/// Points of a curve.
const POINTS: usize = 60;

/// Forecaster that the paper projects on data.
const ON_DATA: KernelForecaster = KernelForecaster::Ridge;

/// The learners, in the order of pictures and tables.
const METHODS: [ProjectedMethod; 7] = [
    ProjectedMethod::Taylor(2),
    ProjectedMethod::Taylor(3),
    ProjectedMethod::Taylor(4),
    ProjectedMethod::Nystrom,
    ProjectedMethod::ProsNKons,
    ProjectedMethod::Fogd,
    ProjectedMethod::Whole,
];

/// Longest stream of the reduced run.
const REDUCED_ROWS: usize = 60_000;

/// Multiply-adds of a pass of the reduced run on Taylor features.
const REDUCED_WORK: usize = 200_000_000_000;

/// A data set and how it is learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProjectedStream {
    /// Name in tables.
    pub(crate) name: &'static str,
    /// Ending of its picture's name.
    stem: &'static str,
    dataset: &'static str,
    /// Scaled to `[−1, 1]`, or as the file has it.
    scaled: bool,
    sigma: f64,
}

impl ProjectedStream {
    const fn scaled(name: &'static str) -> Self {
        Self { name, stem: name, dataset: name, scaled: true, sigma: 1.0 }
    }

    fn load(&self, registry: &Registry) -> Result<Dataset> {
        let mut table = registry.open(self.dataset)?;
        if self.scaled {
            Scaling::new(Ranges::from_table(&table), Scheme::PAPER11).apply(&mut table)?;
        }
        Ok(table)
    }
}

/// The streams, in the order of the report; the bundled one is always there.
pub(crate) const STREAMS: [ProjectedStream; 8] = [
    ProjectedStream::scaled("casp"),
    ProjectedStream { name: "ijcnn1, LIBSVM's scaling", stem: "ijcnn1", dataset: "ijcnn1", scaled: false, sigma: 1.0 },
    ProjectedStream { name: "ijcnn1, [−1, 1]", stem: "ijcnn1_ranges", dataset: "ijcnn1", scaled: true, sigma: 1.0 },
    ProjectedStream::scaled("cod_rna_train"),
    ProjectedStream::scaled("cod_rna"),
    ProjectedStream { sigma: 4.0, ..ProjectedStream::scaled("susy_11k_low8") },
    ProjectedStream { sigma: 4.0, ..ProjectedStream::scaled("susy") },
    ProjectedStream::scaled("diamonds"),
];

/// An average loss (regression) or error rate (classification) at the end of a stream that is
/// expected.
struct ExpectedLoss {
    stream: &'static str,
    method: ProjectedMethod,
    value: f64,
    /// Decimals to which it is known.
    decimals: u8,
}

impl ExpectedLoss {
    /// 2%, or half a unit of the last known decimal where that is more: a value known as 0.11 may
    /// be 0.114.
    fn tolerance(&self) -> f64 {
        let half_unit = 0.5 * 10f64.powi(-i32::from(self.decimals));
        (half_unit / self.value).max(0.02)
    }
}

const fn expected(stream: &'static str, method: ProjectedMethod, value: f64, decimals: u8) -> ExpectedLoss {
    ExpectedLoss { stream, method, value, decimals }
}

/// The paper prints curves and no numbers. These were found at its settings by an independent
/// program of ours: that ours agrees with it shows nothing of the paper. Error rates are known to
/// two digits.
const EXPECTED: [ExpectedLoss; 6] = [
    expected("casp", ProjectedMethod::Taylor(2), 0.240, 3),
    expected("casp", ProjectedMethod::Taylor(3), 0.230, 3),
    expected("casp", ProjectedMethod::Fogd, 0.249, 3),
    expected("cod_rna_train", ProjectedMethod::Taylor(2), 0.059, 3),
    expected("cod_rna_train", ProjectedMethod::Taylor(3), 0.052, 3),
    expected("cod_rna_train", ProjectedMethod::Fogd, 0.11, 2),
];

/// Limits of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limits {
    rows: usize,
    /// Rows of Taylor features, and of the learners whose cost nobody knows beforehand, are cut.
    reduced: bool,
    seconds: Option<f64>,
}

impl Limits {
    /// Rows of a pass over a stream of `rounds` rows.
    fn rows(&self, method: ProjectedMethod, d: usize, rounds: usize) -> usize {
        let most = match method {
            // ½t² numbers.
            ProjectedMethod::Whole if !self.reduced => ((MOST_BYTES / 4) as f64).sqrt() as usize,
            ProjectedMethod::Whole => 2000,
            ProjectedMethod::Nystrom | ProjectedMethod::ProsNKons if self.reduced => 6000,
            ProjectedMethod::Taylor(degree) if self.reduced => {
                let features = TaylorFeatures::count(d, degree) as usize;
                (REDUCED_WORK / (2 * features * features)).max(BLOCK)
            }
            _ => usize::MAX,
        };
        rounds.min(self.rows).min(most)
    }
}

/// The state of a pass after some round.
#[derive(Clone, Copy, Debug)]
struct PassState {
    t: f64,
    loss: f64,
    error_rate: Option<f64>,
    seconds: f64,
}

/// Why a pass ended.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Stream,
    Rows,
    Time,
    Diverged,
    Refused(String),
}

#[derive(Clone, Debug)]
struct StreamPass {
    rounds: usize,
    size: usize,
    curve: Vec<PassState>,
    end: End,
}

/// A stream, a method and a repetition.
#[derive(Clone, Copy, Debug)]
struct StreamTask {
    stream: usize,
    method: ProjectedMethod,
    repetition: usize,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(REDUCED_ROWS, usize::MAX);
    let limits = Limits { rows, reduced: !plan.full, seconds: plan.full.then_some(SECONDS) };
    let repetitions = plan.repetitions_or(1, 1);
    let (there, missing) = plan.available(&STREAMS, |stream| stream.dataset);
    let tables: Vec<Dataset> = there.iter().map(|stream| stream.load(&plan.registry)).collect::<Result<_, _>>()?;
    let methods = (0..tables.len()).flat_map(|stream| METHODS.map(|method| (stream, method)));
    let tasks = methods
        .flat_map(|(stream, method)| (0..repetitions).map(move |repetition| StreamTask { stream, method, repetition }));
    let name = |StreamTask { stream, method, repetition }: &StreamTask| {
        format!("streams / {} / {} / {}", there[*stream].name, method.name(ON_DATA), repetition + 1)
    };
    let done = plan.each(tasks, name, |task, own| {
        let StreamTask { stream, method, repetition } = *task;
        let seed = seed_of(plan.seed, &format!("{} / permutation {}", there[stream].dataset, repetition + 1));
        let table = tables[stream].permuted(seed);
        let rows = limits.rows(method, table.dimension(), table.len());
        let learner = method.build(ON_DATA, table.dimension(), table.len().min(limits.rows), there[stream].sigma, own);
        match learner {
            Ok(mut learner) => pass(learner.as_mut(), &table, rows, limits.seconds),
            // Features that fit no memory: the words hold their number and their bytes.
            Err(error) if error.is::<Error>() => Ok(StreamPass::refused(error.to_string())),
            Err(error) => Err(error),
        }
    })?;
    report(&there, &missing, &tables, &done, limits)
}

impl StreamPass {
    fn refused(words: String) -> Self {
        Self { rounds: 0, size: 0, curve: Vec::new(), end: End::Refused(words) }
    }

    fn last(&self) -> Option<&PassState> {
        self.curve.last()
    }
}

fn pass(learner: &mut dyn Regressor, table: &Dataset, rows: usize, seconds: Option<f64>) -> Result<StreamPass> {
    let d = table.dimension();
    let (mut score, mut curve, mut predictions) = (Score::default(), Vec::new(), Vec::with_capacity(BLOCK));
    let mut end = if rows == table.len() { End::Stream } else { End::Rows };
    let mut elapsed = 0.0;
    'stream: for until in log_spaced(1, rows, POINTS + 1) {
        while score.rounds() < until {
            let first = score.rounds();
            let last = until.min(first + BLOCK);
            predictions.clear();
            let start = Instant::now();
            let learnt = learner.learn_block(
                &table.features()[first * d..last * d],
                &table.targets()[first..last],
                &mut predictions,
            );
            elapsed += start.elapsed().as_secs_f64();
            for (prediction, y) in predictions.iter().zip(&table.targets()[first..last]) {
                score.record(*prediction, *y);
            }
            match learnt {
                Ok(()) => {}
                Err(Error::Example(ExampleError::Diverged)) => {
                    end = End::Diverged;
                    break 'stream;
                }
                Err(error) => return Err(error.into()),
            }
            if seconds.is_some_and(|most| elapsed > most) && score.rounds() < rows {
                end = End::Time;
                curve.push(checkpoint(&score, elapsed));
                break 'stream;
            }
        }
        if curve.last().is_none_or(|last: &PassState| last.t < until as f64) {
            curve.push(checkpoint(&score, elapsed));
        }
    }
    Ok(StreamPass { rounds: score.rounds(), size: learner.dictionary_size(), curve, end })
}

fn checkpoint(score: &Score, seconds: f64) -> PassState {
    PassState { t: score.rounds() as f64, loss: score.mse(), error_rate: score.error_rate(), seconds }
}

const INTRODUCTION: &str = "σ = 1 (SUSY: 4), λ = 1; KORS μ = 1, β = 1, ε = ½; FOGD D = 1000, η = 1/√n; PROS-N-KONS with \
α = λ and C = 1. As in the paper, projections on data are of kernel ridge regression (PKRR). Kernel ridge regression itself, whose memory grows with the square of the rounds, ends where ½t² numbers pass 0.5 GB; Taylor features whose matrix \
passes it are not run. Random order; average loss is Σ(ŷ − y)²/t, a wrong sign is an error. \
ijcnn1 scaled to [−1, 1] lies far from the origin (‖x‖²/2σ² is about d/2), where Taylor features of low degree vanish: they predict \
the majority and no more, while LIBSVM's own scaling is learnt well. The paper prints curves; the expected values were found beforehand at its settings; a verdict allows 2 %, or half a unit of the \
last known digit where that is more (FOGD's error rate of 11 % on cod_rna_train). Losses at the ends of passes of different \
length cannot be compared: an average falls as a pass goes on.";

fn report(
    streams: &[ProjectedStream],
    missing: &[ProjectedStream],
    tables: &[Dataset],
    done: &StreamRuns,
    limits: Limits,
) -> Result<Report> {
    let mut report = Report::new("Figures 2 and 4: loss, error rate and time on large streams");
    report.words(INTRODUCTION);
    report.words(match limits.seconds {
        Some(seconds) => format!(
            "A pass ends after {seconds:.0} s of learning on this machine; the results that depend on that are marked †."
        ),
        None => "Reduced: passes end after a number of rows that depends on the learner and not on the clock.".into(),
    });
    report.absent(&missing.iter().map(|stream| stream.name).collect::<Vec<_>>());
    let mut table = Table::with(
        "stream | learner | rows # | ended by | average loss ~4 | error rate ~3 | J or r .0 | \
             µs a row ~3",
    );
    let mut verdicts = Table::with("stream | learner | expected ~3 | measured ~4 | verdict");
    for (index, stream) in streams.iter().enumerate() {
        for method in METHODS {
            let passes = passes_of(done, index, method);
            table.push(row(stream, method, &passes))?;
            let Some(wanted) = EXPECTED.iter().find(|e| e.stream == stream.name && e.method == method) else {
                continue;
            };
            let value = |pass: &&StreamPass| pass.last().map_or(f64::NAN, |last| last.error_rate.unwrap_or(last.loss));
            let values: Vec<f64> = passes.iter().map(value).collect();
            let verdict = if passes.iter().all(|pass| pass.end == End::Stream) {
                let tolerance = Tolerance { relative: wanted.tolerance(), standard_errors: None, size: 0.0 };
                let printed = PrintedValue { mean: wanted.value, std: 0.0, runs: 1, decimals: wanted.decimals };
                tolerance.judge(&values, &printed)
            } else {
                Judgement::not_run(ComparisonKind::Claim, "a part of the stream only")
            };
            let measured: Cell = Summary::from_samples(&values).into();
            let name = method.name(ON_DATA);
            verdicts.push(row![
                stream.name,
                name,
                wanted.value,
                measured,
                // The expected value is this project's: the paper prints curves.
                Judgement { kind: ComparisonKind::Claim, ..verdict }
            ])?;
        }
    }
    report.table("streams_expected", "Whole streams beside what is expected", verdicts);
    report.table("streams", "Every pass at its end", table);
    for (index, stream) in streams.iter().enumerate() {
        let title = format!("{}: n = {}, d = {}", stream.name, tables[index].len(), tables[index].dimension());
        let caption =
            format!("{}: average {}, and seconds of learning, against the round", stream.name, measure(done, index));
        report.picture(format!("streams_{}", stream.stem), caption, panels(title, done, index));
    }
    Ok(report)
}

type StreamRuns = Runs<StreamTask, StreamPass>;

fn passes_of(done: &StreamRuns, stream: usize, method: ProjectedMethod) -> Vec<&StreamPass> {
    done.outcomes_where(|task| task.stream == stream && task.method == method)
}

fn row(stream: &ProjectedStream, method: ProjectedMethod, passes: &[&StreamPass]) -> Vec<Cell> {
    let lasts: Vec<&PassState> = passes.iter().filter_map(|pass| pass.last()).collect();
    let errors: Vec<f64> = lasts.iter().filter_map(|last| last.error_rate).collect();
    let end = match passes.iter().map(|pass| &pass.end).find(|end| **end != End::Stream) {
        None => "stream".to_owned(),
        Some(End::Refused(words)) => format!("not run: {words}"),
        Some(End::Time) => "time †".to_owned(),
        Some(End::Diverged) => "divergence".to_owned(),
        Some(End::Rows | End::Stream) => "rows".to_owned(),
    };
    if lasts.is_empty() {
        let mut cells = vec![stream.name.into(), method.name(ON_DATA).into(), Cell::Empty, end.into()];
        cells.resize(8, Cell::Empty);
        return cells;
    }
    row![
        stream.name,
        method.name(ON_DATA),
        mean_of(passes, |pass| pass.rounds as f64).round(),
        end,
        Summary::from_samples(&all_of(&lasts, |last| last.loss)),
        Summary::from_samples(&errors),
        mean_of(passes, |pass| pass.size as f64),
        mean_of(&lasts, |last| 1e6 * last.seconds / last.t)
    ]
}

/// Classification is shown by its errors.
fn measure(done: &StreamRuns, stream: usize) -> &'static str {
    let mut lasts = done.outcomes_where(|task| task.stream == stream).into_iter().filter_map(StreamPass::last);
    if lasts.any(|last| last.error_rate.is_some()) { "error rate" } else { "loss" }
}

fn panels(title: String, done: &StreamRuns, stream: usize) -> Panels {
    let rates = measure(done, stream) == "error rate";
    let label = if rates { "error rate up to t" } else { "average loss up to t" };
    let height = |point: &PassState| point.error_rate.filter(|_| rates).unwrap_or(point.loss);
    let mut quality = Figure::new("").x_label("round t").y_label(label).log_x().log_y();
    let mut time = Figure::new("").x_label("round t").y_label("seconds of learning").log_x().log_y();
    let (mut lowest, mut highest) = (f64::INFINITY, 0.0f64);
    for method in METHODS {
        let passes = passes_of(done, stream, method);
        // Passes cut by the clock differ in length: what all have is drawn.
        let points = passes.iter().map(|pass| pass.curve.len()).min().unwrap_or(0);
        // The first rounds of all look alike: half of the errors.
        let places: Vec<usize> = (0..points).filter(|i| passes[0].curve[*i].t >= 10.0).collect();
        if places.is_empty() {
            continue;
        }
        let samples = |of: &dyn Fn(&PassState) -> f64| -> Vec<Vec<f64>> {
            places.iter().map(|i| passes.iter().map(|pass| of(&pass.curve[*i])).collect()).collect()
        };
        let rounds: Vec<f64> = places.iter().map(|i| passes[0].curve[*i].t).collect();
        let band = Band::range(&samples(&height));
        for (t, value) in rounds.iter().zip(&band.mean) {
            if *t >= 100.0 {
                (lowest, highest) = (lowest.min(*value), highest.max(*value));
            }
        }
        quality = band.draw(quality, method.name(ON_DATA), &rounds);
        let seconds: Vec<f64> = all_of(&samples(&|point| point.seconds), |values| mean(values));
        time = time.line(method.name(ON_DATA), &rounds, &seconds);
    }
    if lowest < highest {
        quality = quality.y_range(0.9 * lowest, highest);
    }
    Panels::new(title, 2).panel(quality).panel(time)
}

#[cfg(test)]
mod tests {
    use mercer_streams::Simulation;

    use super::*;

    fn one_pass(rows: usize, seconds: Option<f64>) -> StreamPass {
        let table = Simulation { rows: 600, noise: 0.1, width: 1.0, seed: 1 }.cube(2).unwrap().dataset;
        let mut learner = ProjectedMethod::Taylor(2).build(ON_DATA, 2, 600, 1.0, 1).unwrap();
        pass(learner.as_mut(), &table, rows, seconds).unwrap()
    }

    #[test]
    fn a_pass_ends_with_its_stream_its_rows_or_its_time() {
        assert_eq!(one_pass(600, None).end, End::Stream);
        let in_time = one_pass(600, Some(1e9));
        assert_eq!((in_time.end.clone(), in_time.rounds), (End::Stream, 600));
        let cut = one_pass(300, None);
        assert_eq!((cut.end.clone(), cut.rounds, cut.last().unwrap().t), (End::Rows, 300, 300.0));
        // No pass takes less than no time; what was learnt by then is kept.
        let late = one_pass(600, Some(0.0));
        assert_eq!((late.end.clone(), late.rounds), (End::Time, 1));
        let stream = ProjectedStream::scaled("casp");
        let cells = row(&stream, ProjectedMethod::Taylor(2), &[&late]);
        assert_eq!(cells[3], Cell::Text("time †".into()));
    }

    #[test]
    fn features_that_fit_no_memory_are_refused_with_their_number_and_bytes() {
        let refusal = ProjectedMethod::Taylor(4).build(ON_DATA, 22, 100, 1.0, 1).map(drop).unwrap_err().to_string();
        assert!(refusal.contains("14950") && refusal.contains("894010000"), "{refusal}");
        let cells = row(&ProjectedStream::scaled("casp"), ProjectedMethod::Taylor(4), &[&StreamPass::refused(refusal)]);
        assert!(matches!(&cells[3], Cell::Text(words) if words.starts_with("not run: 14950")), "{cells:?}");
    }

    #[test]
    fn the_reduced_run_counts_operations_and_the_full_one_bytes() {
        let full = Limits { rows: usize::MAX, reduced: false, seconds: Some(SECONDS) };
        let reduced = Limits { rows: REDUCED_ROWS, reduced: true, seconds: None };
        assert_eq!(full.rows(ProjectedMethod::Taylor(3), 22, 141_691), 141_691);
        assert_eq!(full.rows(ProjectedMethod::Whole, 9, 45_730), 11_180);
        assert_eq!(reduced.rows(ProjectedMethod::Taylor(3), 22, 141_691), 18_903);
        assert_eq!(reduced.rows(ProjectedMethod::Fogd, 22, 141_691), REDUCED_ROWS);
    }

    #[test]
    fn a_value_known_to_two_digits_is_known_to_half_a_unit() {
        let of = |value, decimals| expected("casp", ProjectedMethod::Fogd, value, decimals).tolerance();
        assert_eq!(of(0.240, 3), 0.02);
        assert!((of(0.11, 2) - 0.005 / 0.11).abs() < 1e-15);
    }
}
