//! `mercer koopman`: learns the operator of a dynamical system from pairs of a state and its successor.

mod pairs;
mod queries;
mod report;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mercer::data::Format;
use mercer::learners::operator::{
    Budget, BudgetTest, DictionaryShape, OperatorLearner, Sogd, SogdParams, StepSize, Verdict,
};
use mercer::{AnyKernel, Error, Gaussian, KernelSpec, median_width};

use super::count;
use super::eval::progress;
use super::failure::Failure;
use super::output::{self, Predictions};
use pairs::{Chunk, Pairs};
use queries::Queries;
use report::{Eigenvalue, Report};

/// Learn the Koopman operator of a dynamical system from pairs of a state and its successor
///
/// PAIRS is a CSV or TSV file (with or without a header) or NDJSON, each also gzipped, or `-` for standard input. A row is
/// `x…, x⁺…`: the numbers of a state, then those of the state that follows it; with --input-dim x may carry an action behind the
/// state. Rows are learnt in their order, one by one, and only some of them are kept: the dictionary.
///
/// Prints what was learnt: the size of the dictionary, the operator's Hilbert–Schmidt norm, its leading eigenvalues (those of
/// the Koopman operator, which acts on functions of the state), and with --predict the forecasts of given states.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct KoopmanArguments {
    /// A file, or `-` for standard input
    pairs: PathBuf,
    /// Numbers of a state, and so of x⁺; half of the columns unless given
    #[arg(long, value_name = "N", value_parser = count)]
    state_dim: Option<NonZeroUsize>,
    /// Numbers of x when it carries an action behind the state, or of the action alone; the number of columns tells which
    #[arg(long, value_name = "N", value_parser = count)]
    input_dim: Option<NonZeroUsize>,
    /// Kernel on x: gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, polynomial:DEGREE,OFFSET, linear,
    /// mix:0.4*gaussian:0.4+0.6*gaussian:0.7, or median
    ///
    /// `median` is the Gaussian whose width is the median distance between the first 200 rows.
    #[arg(long, value_name = "SPEC", default_value = "median")]
    kernel: KernelSpec,
    /// Kernel on x⁺, which is that on x unless given (with --kernel median and an action in x, its own median)
    #[arg(long, value_name = "SPEC")]
    output_kernel: Option<KernelSpec>,
    /// Step size η; a step is stable while η(k(x,x) + λ) < 2
    #[arg(long, value_name = "E", default_value_t = 0.3)]
    eta: f64,
    /// constant: η in every round; power:A,R: η/(t + R)^A in round t = 1, 2, …
    #[arg(long, value_name = "constant|power:A,R", default_value = "constant", value_parser = schedule)]
    eta_schedule: Schedule,
    /// Regulariser λ ≥ 0
    #[arg(long, value_name = "L", default_value_t = 0.0)]
    lambda: f64,
    /// Budget ε ≥ 0: a pair is kept if leaving it out would move the operator by more; the smaller, the larger the dictionary
    /// [default: 0.1 η²]
    #[arg(long, value_name = "EPS")]
    budget: Option<f64>,
    /// constant: ε in every round; eta-squared: ε η² with the round's η
    #[arg(long, value_name = "SCHEDULE", default_value = "constant")]
    budget_schedule: BudgetSchedule,
    /// What is compared with the budget: the norm of the change, its square, or (output-ald) the norm of what x⁺ alone adds
    #[arg(long, value_name = "TEST", default_value = "norm")]
    budget_test: Test,
    /// paired: x and x⁺ are kept together; rectangular: each on its own account
    #[arg(long, value_name = "SHAPE", default_value = "paired")]
    dictionary_shape: Shape,
    /// A point whose squared distance to the span of those kept is at most TOL·k(x,x) is never kept, 0 ≤ TOL < 1
    #[arg(long, value_name = "TOL", default_value_t = 1e-6)]
    rank_guard: f64,
    /// Most points kept, or none for no limit: a step costs time and memory in the square of it
    #[arg(long, value_name = "N|none", default_value = "1000", value_parser = most)]
    max_dictionary: Most,
    /// How many eigenvalues to tell, by modulus; 0 for none [default: 10, none when x carries an action]
    #[arg(long, value_name = "K")]
    eigen: Option<usize>,
    /// Write the weights W of `U = Σ W_ij k(x_i⁺, ·) ⊗ k(x_j, ·)` to this file: numbers alone, a row for each x⁺ kept, a column
    /// for each x kept
    #[arg(long, value_name = "OUT.csv")]
    weights: Option<PathBuf>,
    /// Write the pairs kept to this CSV file: index (row of PAIRS from 0), x…, x⁺…; a side that is not kept is empty
    #[arg(long, value_name = "OUT.csv")]
    dictionary: Option<PathBuf>,
    /// Forecast the states that follow these: a file whose rows are x…
    #[arg(long, value_name = "QUERIES.csv")]
    predict: Option<PathBuf>,
    /// How many steps ahead to forecast
    #[arg(long, value_name = "N", default_value = "1", requires = "predict", value_parser = count)]
    steps: NonZeroUsize,
    /// Write the forecasts to this CSV file, a row for each query, instead of printing them (--json prints them in any case)
    #[arg(long, value_name = "OUT.csv", requires = "predict")]
    predictions: Option<PathBuf>,
    /// csv, tsv or ndjson; the file's name tells it unless given, standard input needs it
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  mercer koopman pairs.csv --kernel gaussian:0.5
  mercer koopman pairs.csv --kernel mix:0.4*gaussian:0.4+0.6*gaussian:0.7 --eta 0.3 --budget 0.0081 --eigen 4 --json
  mercer koopman moves.csv --state-dim 3 --input-dim 4 --predict queries.csv
  zcat log.csv.gz | mercer koopman - --format csv --eta 2 --eta-schedule power:0.75,30 --lambda 0.1
";

#[derive(Clone, Copy)]
enum Schedule {
    Constant,
    Power { exponent: f64, offset: f64 },
}

fn schedule(text: &str) -> Result<Schedule, String> {
    if text == "constant" {
        return Ok(Schedule::Constant);
    }
    let numbers = text.strip_prefix("power:").and_then(|numbers| numbers.split_once(','));
    let parsed = numbers.and_then(|(a, r)| Some((a.trim().parse().ok()?, r.trim().parse().ok()?)));
    let Some((exponent, offset)) = parsed else {
        return Err("give constant, or power:A,R with two numbers, such as power:0.75,30".to_owned());
    };
    Ok(Schedule::Power { exponent, offset })
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum BudgetSchedule {
    Constant,
    EtaSquared,
}

#[derive(Clone, Copy, ValueEnum)]
enum Test {
    Norm,
    Squared,
    OutputAld,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    Paired,
    Rectangular,
}

/// A number of points, or no limit.
#[derive(Clone, Copy)]
struct Most(Option<usize>);

fn most(text: &str) -> Result<Most, &'static str> {
    match text {
        "none" => Ok(Most(None)),
        _ => count(text).map(|most| Most(Some(most.into()))).map_err(|_| "give a whole number of at least 1, or none"),
    }
}

impl KoopmanArguments {
    fn params(&self) -> SogdParams {
        let step = match self.eta_schedule {
            Schedule::Constant => StepSize::Constant(self.eta),
            Schedule::Power { exponent, offset } => StepSize::Power { eta: self.eta, exponent, offset },
        };
        let budget = match (self.budget, self.budget_schedule) {
            (Some(epsilon), BudgetSchedule::Constant) => Budget::Constant(epsilon),
            (Some(b), BudgetSchedule::EtaSquared) => Budget::EtaSquared(b),
            (None, _) => Budget::EtaSquared(0.1),
        };
        let test = match self.budget_test {
            Test::Norm => BudgetTest::Norm,
            Test::Squared => BudgetTest::Squared,
            Test::OutputAld => BudgetTest::OutputAld,
        };
        let shape = match self.dictionary_shape {
            Shape::Paired => DictionaryShape::Paired,
            Shape::Rectangular => DictionaryShape::Rectangular,
        };
        let (rank_guard, max_dictionary) = (self.rank_guard, self.max_dictionary.0);
        SogdParams { step, lambda: self.lambda, budget, test, shape, rank_guard, max_dictionary }
    }

    /// The kernels on x and on x⁺.
    fn kernels(&self, pairs: &Pairs, first: &Chunk) -> Result<(AnyKernel, AnyKernel), Failure> {
        let median = |dimension, rows: &[f64]| {
            let gaussian = Gaussian::new(median_width(dimension, rows));
            gaussian.map(AnyKernel::Gaussian).map_err(|error| Failure::because(format!("--kernel median: {error}")))
        };
        let on_outputs = || median(pairs.state_dimension(), &first.outputs);
        let input = match &self.kernel {
            KernelSpec::Given(kernel) => kernel.clone(),
            KernelSpec::Median => median(pairs.input_dimension(), &first.inputs)?,
        };
        let output = match (&self.output_kernel, &self.kernel) {
            (Some(KernelSpec::Given(kernel)), _) => kernel.clone(),
            (Some(KernelSpec::Median), _) => on_outputs()?,
            (None, KernelSpec::Median) if pairs.input_dimension() != pairs.state_dimension() => on_outputs()?,
            (None, _) => input.clone(),
        };
        Ok((input, output))
    }
}

pub(crate) fn run(arguments: &KoopmanArguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> = std::iter::once(arguments.pairs.as_path()).chain(arguments.predict.as_deref()).collect();
    refuse_same_places(arguments)?;
    if inputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        return Err(Failure::usage(
            "--predict must be a file when PAIRS is standard input, which can be read only once",
        ));
    }
    let create = |option: &'static str, path: &Option<PathBuf>| {
        path.as_deref().map(|path| Predictions::create_for(option, path, &inputs, "")).transpose()
    };
    let weights = create("--weights", &arguments.weights)?;
    let dictionary = create("--dictionary", &arguments.dictionary)?;
    let predictions = create("--predictions", &arguments.predictions)?;

    let mut pairs = Pairs::open(arguments)?;
    let acts = pairs.input_dimension() != pairs.state_dimension();
    refuse_action(acts, arguments)?;
    let queries = arguments.predict.as_deref().map(|path| Queries::read(path, arguments, &pairs)).transpose()?;
    let mut chunk = Chunk::default();
    pairs.fill(&mut chunk)?;
    let (input_kernel, output_kernel) = arguments.kernels(&pairs, &chunk)?;
    let specs = (input_kernel.to_string(), output_kernel.to_string());
    let (d, d_plus) = (pairs.input_dimension(), pairs.state_dimension());
    let learner = Sogd::new(input_kernel, d, output_kernel, d_plus, arguments.params());
    let mut pass = Pass::new(learner.map_err(|error| usage(&error))?);
    let bar = progress(None);
    while chunk.rows() > 0 {
        pass.learn(&chunk, &pairs)?;
        bar.inc(chunk.rows() as u64);
        bar.set_message(pass.learner.operator().inputs().len().to_string());
        pairs.fill(&mut chunk)?;
    }
    bar.finish_and_clear();

    let Pass { learner, seconds, full } = pass;
    let operator = learner.operator();
    let shown = arguments.pairs.display().to_string();
    let read_off = |error: Error| Failure::because(format!("{shown}: {error}"));
    let kept = report::kept(learner.input_rounds(), learner.output_rounds());
    let wanted = arguments.eigen.unwrap_or(if acts { 0 } else { 10 });
    let mut eigenvalues = if wanted == 0 { Vec::new() } else { operator.eigenvalues().map_err(read_off)? };
    eigenvalues.truncate(wanted);
    let forecasts = queries.map(|queries| queries.forecast(operator, arguments.steps.into())).transpose();
    let forecasts = forecasts.map_err(read_off)?;
    let report = Report {
        n: learner.rounds(),
        dictionary_size: kept.len(),
        dictionary_indices: kept,
        hs_norm: operator.hs_norm(),
        forced_rejections: learner.forced_rejections(),
        eigenvalues: eigenvalues.into_iter().map(Eigenvalue::from).collect(),
        seconds: seconds.as_secs_f64(),
        predictions: forecasts,
    };

    if let Some(mut file) = weights {
        report::write_weights(&mut file, operator)?;
        file.finish()?;
    }
    if let Some(mut file) = dictionary {
        report::write_dictionary(&mut file, &learner, &pairs)?;
        file.finish()?;
    }
    let asked_for = predictions.is_some();
    if let Some(mut file) = predictions {
        file.write(&report.forecast_lines(&pairs))?;
        file.finish()?;
    }
    output::print(&if arguments.json {
        super::report::json(&report)?
    } else {
        report.text(&shown, &pairs, &specs, full, !asked_for)
    })
}

/// One file cannot hold two results.
fn refuse_same_places(arguments: &KoopmanArguments) -> Result<(), Failure> {
    let wanted = [
        ("--weights", &arguments.weights),
        ("--dictionary", &arguments.dictionary),
        ("--predictions", &arguments.predictions),
    ];
    for (i, (option, path)) in wanted.iter().enumerate() {
        if let Some((other, _)) = wanted[..i].iter().find(|(_, before)| path.is_some() && before == path) {
            return Err(Failure::usage(format!("{other} and {option} name the same file; give each its own")));
        }
    }
    Ok(())
}

/// What makes no sense when x is more than a state.
fn refuse_action(acts: bool, arguments: &KoopmanArguments) -> Result<(), Failure> {
    if acts && arguments.eigen.is_some_and(|count| count > 0) {
        return Err(Failure::usage(
            "--eigen: with an action in x the operator leads from functions of x⁺ to functions of x, and has no eigenvalues; \
             leave --eigen out",
        ));
    }
    if acts && usize::from(arguments.steps) > 1 {
        return Err(Failure::usage(
            "--steps: with an action in x a forecast reaches one step, since later actions are not known; leave --steps out",
        ));
    }
    Ok(())
}

/// A parameter that the learner refuses.
fn usage(error: &Error) -> Failure {
    Failure::usage(format!("{error}; see mercer koopman --help"))
}

/// The rounds so far.
struct Pass {
    learner: Sogd<AnyKernel>,
    seconds: Duration,
    /// Pairs that only a full dictionary kept out.
    full: u64,
}

impl Pass {
    fn new(learner: Sogd<AnyKernel>) -> Self {
        Self { learner, seconds: Duration::ZERO, full: 0 }
    }

    /// Learns a chunk; the clock runs only here.
    fn learn(&mut self, chunk: &Chunk, pairs: &Pairs) -> Result<(), Failure> {
        let start = Instant::now();
        for (index, (x, x_plus)) in chunk.iter(pairs).enumerate() {
            let step = self
                .learner
                .update(x, x_plus)
                .map_err(|error| Failure::because(format!("{}: {error}", pairs.place(chunk, index))))?;
            self.full += u64::from(step.verdict == Verdict::Full);
        }
        self.seconds += start.elapsed();
        Ok(())
    }
}
