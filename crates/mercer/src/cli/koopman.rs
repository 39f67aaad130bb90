//! `mercer koopman`: learns the operator of a dynamical system from pairs of a state and its successor.

mod making;
mod pairs;
#[cfg(feature = "plots")]
mod picture;
mod queries;
mod report;
mod sums;
mod sums_report;
mod trajectory;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mercer::koopman::{Error, Verdict};
use mercer::model::{AnyOperator, Operator};
use mercer::readers::ColumnChoice;

use super::dialect::Dialect;
use super::eval::progress;
use super::failure::Failure;
use super::output::{self, Predictions};
use super::plot::PlotArguments;
use super::saving::{Fact, SaveArguments, Saving, check_same, parameter_facts};
use super::stop::Stop;
use super::{count, store};
use making::Making;
use pairs::{Chunk, Layout, Pairs};
use queries::Queries;
use report::{Eigenvalue, Report, Run};

/// Learn the Koopman operator of a dynamical system from pairs of a state and its successor
///
/// PAIRS is a CSV or TSV file (with or without a header), JSON, each also compressed by gzip or zstd, Parquet or Arrow, or `-` for
/// standard input. A row is
/// `x…, x⁺…`: the numbers of a state, then those of the state that follows it; with --input-dim x may carry an action behind the
/// state. With --trajectory a row is a state alone, and the row behind it is its successor. Rows are learnt in their order, one by one, and only some of them are kept: the dictionary.
///
/// By default (sums) the operator is that of exact least squares, in one pass and bounded memory: units, kernel width and regulariser are
/// chosen, and every eigenvalue is told with its spread, its residual and whether it is reliable, every forecast with an interval. The
/// stochastic gradient descent of the paper (--method sogd) costs less a pair; its constant step leaves noise in every eigenvalue.
///
/// Prints what was learnt: the size of the dictionary, the operator's Hilbert–Schmidt norm, its leading eigenvalues (those of
/// the Koopman operator, which acts on functions of the state), and with --predict the forecasts of given states.
///
/// With --save the operator is kept in a file, and --model goes on with it: pairs are counted on, and the outcome is that of one run over
/// all of them. The same file may be both. Without PAIRS the operator of --model is told, and forecasts with it, but learns nothing.
#[derive(Args)]
#[command(allow_negative_numbers = true, after_help = EXAMPLES)]
pub(crate) struct KoopmanArguments {
    /// A file, or `-` for standard input; may be left out with --model, whose operator is then told as it is
    #[arg(required_unless_present = "model")]
    pairs: Option<PathBuf>,
    /// How the operator is learnt [default: sums; sogd where one of its options, --save, --model or --plot is given]
    #[arg(long, value_name = "METHOD")]
    method: Option<Method>,
    #[command(flatten)]
    making: Making,
    /// PAIRS is a trajectory: a row is a state, and the row behind it is its successor; by sums, one column always is one, and gaps of
    /// --time and rows with missing cells cut it
    #[arg(long, conflicts_with_all = ["state_dim", "input_dim"])]
    trajectory: bool,
    /// Take K successive rows of a trajectory together as a state, the oldest first, where one row does not tell all of it [default: chosen by sums, 1 by sogd]
    #[arg(long, value_name = "K", requires = "trajectory", value_parser = count)]
    delay: Option<NonZeroUsize>,
    /// The column, by name or by number from 1, by which the rows must be in order of time; it is no part of a state
    #[arg(long, value_name = "NAME|INDEX")]
    time: Option<ColumnChoice>,
    /// By sums: the time from a state to its successor, in which time scales and periods are told [default: the usual difference of
    /// --time, or 1]
    #[arg(long, value_name = "T", value_parser = positive)]
    step_time: Option<f64>,
    /// By sums: a pair weighs half after this many further pairs
    #[arg(long, value_name = "H", value_parser = positive)]
    half_life: Option<f64>,
    /// By sums: write the eigenfunctions at the points kept to this CSV file: x…, then real and imaginary part of each
    #[arg(long, value_name = "OUT.csv")]
    eigenfunctions: Option<PathBuf>,
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
    /// Forecast the states that follow these: a file whose rows are x…, with an action and several --steps by sums also the actions of
    /// the further steps
    #[arg(long, value_name = "QUERIES.csv")]
    predict: Option<PathBuf>,
    /// How many steps ahead to forecast [default: 1; from the end of a trajectory, by sums, all of 10]
    #[arg(long, value_name = "N", value_parser = count)]
    steps: Option<NonZeroUsize>,
    /// Write the forecasts to this CSV file, a row for each query or step, instead of printing them (--json prints them in any case)
    #[arg(long, value_name = "OUT.csv")]
    predictions: Option<PathBuf>,
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
  mercer koopman pairs.csv --kernel mix:0.4*gaussian:0.4+0.6*gaussian:0.7 --eta 0.3 --budget 0.0081 --eigen 4 --json
  mercer koopman trajectory.csv --trajectory --delay 3
  mercer koopman moves.csv --state-dim 3 --input-dim 4 --predict queries.csv
  zcat log.csv.gz | mercer koopman - --format csv --method sogd --eta 1.5 --eta-schedule power:0.6,10
  mercer koopman monday.csv --save week.mercer
  mercer koopman tuesday.csv --model week.mercer --save week.mercer
  mercer koopman --model week.mercer --eigen 4 --predict queries.csv
";

fn positive(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0).ok_or("give a number above 0")
}

/// How an operator is learnt.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    /// Exact least squares on a sparse dictionary: units, width and regulariser are chosen; spreads and intervals
    Sums,
    /// The sparse stochastic gradient descent of the paper; with a constant step its eigenvalues do not converge
    Sogd,
}

impl KoopmanArguments {
    /// The first option given that only the paper's learner has.
    fn of_sogd(&self) -> Option<&'static str> {
        let given = [
            ("--save", self.model.save.is_some()),
            ("--model", self.model.model.is_some()),
            ("--weights", self.weights.is_some()),
            ("--dictionary", self.dictionary.is_some()),
            ("--plot", self.plot.plot.is_some()),
        ];
        self.making.given().or(given.into_iter().find(|option| option.1).map(|option| option.0))
    }

    /// The first option given that only exact sums have.
    fn of_sums(&self) -> Option<&'static str> {
        let given = [
            ("--half-life", self.half_life.is_some()),
            ("--step-time", self.step_time.is_some()),
            ("--eigenfunctions", self.eigenfunctions.is_some()),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }

    fn method(&self) -> Result<Method, Failure> {
        let other = |option: &str, method: &str| {
            Failure::usage(format!("{option} is an option of --method {method} alone; leave one of them out"))
        };
        let (sums, sogd) = (self.of_sums(), self.of_sogd());
        match (self.method, sums, sogd) {
            (Some(Method::Sums), _, Some(option)) => Err(other(option, "sogd")),
            (Some(Method::Sogd), Some(option), _) => Err(other(option, "sums")),
            (Some(method), ..) => Ok(method),
            (None, Some(sums), Some(sogd)) => Err(Failure::usage(format!(
                "{sums} is an option of --method sums, {sogd} one of --method sogd; leave one of them out"
            ))),
            (None, _, Some(_)) => Ok(Method::Sogd),
            (None, _, None) => Ok(Method::Sums),
        }
    }
}

pub(crate) fn run(arguments: &KoopmanArguments) -> Result<(), Failure> {
    match arguments.method()? {
        Method::Sums => sums::run(arguments),
        Method::Sogd => run_sogd(arguments),
    }
}

fn run_sogd(arguments: &KoopmanArguments) -> Result<(), Failure> {
    if arguments.predict.is_none() && (arguments.steps.is_some() || arguments.predictions.is_some()) {
        return Err(Failure::usage("--steps and --predictions need the states of --predict"));
    }
    let steps = arguments.steps.map_or(1, usize::from);
    let KoopmanArguments { making, model: kept, .. } = arguments;
    let inputs: Vec<&Path> =
        [&arguments.pairs, &arguments.predict].into_iter().flatten().map(PathBuf::as_path).collect();
    output::refuse_same_places(&[
        ("--weights", &arguments.weights),
        ("--dictionary", &arguments.dictionary),
        ("--predictions", &arguments.predictions),
        ("--save", &kept.save),
        ("--plot", &arguments.plot.plot),
    ])?;
    if inputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
        return Err(Failure::usage(
            "--predict must be a file when PAIRS is standard input, which can be read only once",
        ));
    }
    if arguments.pairs.is_none() && kept.save.is_some() {
        return Err(Failure::usage("--save keeps what was learnt from PAIRS; give them, or leave --save out"));
    }
    let _lock = kept.lock()?;
    let start = kept.model.as_deref().map(|path| store::load_operator(path).map(|model| (path, model))).transpose()?;
    let saved = kept.resumed().map(|path| store::load_operator(path).map(|model| (path, model))).transpose()?;
    let stop = kept.prepare(&inputs)?;
    let files = Files::create(arguments, &inputs)?;
    // What would be left of these files is cleared away.
    let stop = if kept.save.is_none() && files.are_wanted() { Stop::listen()? } else { stop };
    #[cfg(feature = "plots")]
    let plot = arguments.plot.create(&inputs.iter().copied().chain(kept.model.as_deref()).collect::<Vec<_>>())?;
    #[cfg(not(feature = "plots"))]
    arguments.plot.refuse()?;

    let known = start.as_ref().map(|(path, model)| (*path, Layout::of_model(model)));
    let open = |path: &PathBuf| Pairs::open(path, arguments, known.as_ref(), stop.clone());
    let mut pairs = arguments.pairs.as_ref().map(open).transpose()?;
    let layout = match (&pairs, known) {
        (Some(pairs), _) => pairs.layout().clone(),
        (None, Some((_, layout))) => layout,
        // The parser sees to it that one of them is there.
        (None, None) => return Err(Failure::usage("give PAIRS, or --model")),
    };
    refuse_action(layout.acts(), true, arguments)?;
    let queries = arguments
        .predict
        .as_deref()
        .map(|path| Queries::read(path, arguments.dialect.clone(), layout.input_dimension))
        .transpose()?;
    let mut chunk = Chunk::default();
    let looks = start.is_none() && making.looks();
    if let Some(pairs) = &mut pairs {
        pairs.fill(&mut chunk, looks)?;
    }
    if looks && stop.requested() {
        return Err(Failure::because(
            "ended by a signal before the first rows could settle the kernel; nothing was saved",
        ));
    }
    let fresh = match start {
        Some((_, model)) => model,
        None => making.build(&layout, &chunk)?,
    };
    let before = fresh.seen();
    let model = match saved {
        Some((path, saved)) => check_resumable(path, saved, &fresh)?,
        None => fresh,
    };
    let shown =
        arguments.pairs.as_ref().or(kept.model.as_ref()).map_or(String::new(), |path| path.display().to_string());
    let mut saving = kept.saving(&shown, before, model.seen());
    let mut pass = Pass::new(model);
    if let Some(pairs) = &mut pairs {
        let ended = pass.learn_all(chunk, pairs, &mut saving);
        match &saving {
            Some(saving) => saving.end(ended, &stop, || pass.model.to_bytes())?,
            None => ended?,
        }
        if saving.is_none() && files.are_wanted() {
            let told = format!("{} pairs were learnt, and no file was written", pass.learnt);
            stop.failure().map_err(|failure| failure.with(&told))?;
        }
    }

    let learner = &pass.model.learner;
    let operator = learner.inner().operator();
    let read_off = |error: Error| Failure::because(format!("{shown}: {error}"));
    if operator.inputs().is_empty() && learner.inner().rounds() > 0 && arguments.predict.is_none() {
        return Err(Failure::because(format!(
            "{shown}: no pair was kept, so the operator is empty: its units are too small for this kernel and budget; scale the \
             columns, lower --budget, or take --method sums, which scales them"
        )));
    }
    let wanted = arguments.eigen.unwrap_or(if layout.acts() { 0 } else { 10 });
    let mut eigenvalues = if wanted == 0 { Vec::new() } else { operator.eigenvalues().map_err(read_off)? };
    eigenvalues.truncate(wanted);
    let forecasts = queries.map(|queries| queries.forecast(operator, steps)).transpose();
    let forecasts = forecasts.map_err(read_off)?;
    let kept_rounds = report::kept(&learner.kept_rounds());
    let report = Report {
        n: learner.inner().rounds(),
        dictionary_size: kept_rounds.len(),
        dictionary_indices: kept_rounds,
        hs_norm: operator.hs_norm(),
        forced_rejections: learner.forced_rejections(),
        full_rejections: pass.full,
        eigenvalues: eigenvalues.into_iter().map(Eigenvalue::from).collect(),
        seconds: pass.seconds.as_secs_f64(),
        predictions: forecasts,
    };

    files.finish(&report, learner, &layout)?;
    #[cfg(feature = "plots")]
    if let Some(plot) = plot {
        plot.finish(&picture::draw(operator, &layout, &shown).map_err(read_off)?)?;
    }
    output::print(&if arguments.json {
        super::report::json(&report)?
    } else {
        let run = Run { data: &shown, learnt: pass.learnt, one_sided: pass.one_sided, stopped: stop.requested() };
        report.text(&run, operator, &layout, arguments.predictions.is_none())
    })
}

/// The files that are asked for beside the report.
struct Files {
    weights: Option<Predictions>,
    dictionary: Option<Predictions>,
    predictions: Option<Predictions>,
}

impl Files {
    fn create(arguments: &KoopmanArguments, inputs: &[&Path]) -> Result<Self, Failure> {
        let read: Vec<&Path> = inputs.iter().copied().chain(arguments.model.model.as_deref()).collect();
        let create = |option: &'static str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| Predictions::create_for(option, path, &read, "")).transpose()
        };
        Ok(Self {
            weights: create("--weights", &arguments.weights)?,
            dictionary: create("--dictionary", &arguments.dictionary)?,
            predictions: create("--predictions", &arguments.predictions)?,
        })
    }

    fn are_wanted(&self) -> bool {
        self.weights.is_some() || self.dictionary.is_some() || self.predictions.is_some()
    }

    /// Writes them and puts them in their places.
    fn finish(self, report: &Report, learner: &AnyOperator, layout: &Layout) -> Result<(), Failure> {
        if let Some(mut file) = self.weights {
            report::write_weights(&mut file, learner.inner().operator())?;
            file.finish()?;
        }
        if let Some(mut file) = self.dictionary {
            report::write_dictionary(&mut file, learner, layout)?;
            file.finish()?;
        }
        if let Some(mut file) = self.predictions {
            file.write(&report.forecast_lines(layout))?;
            file.finish()?;
        }
        Ok(())
    }
}

/// The saved model, if it is one of the run that would begin now.
fn check_resumable(path: &Path, saved: Operator, fresh: &Operator) -> Result<Operator, Failure> {
    let kernels = |model: &Operator| {
        let operator = model.learner.inner().operator();
        [operator.input_kernel().to_string(), operator.output_kernel().to_string()]
    };
    let (old, new) = (kernels(&saved), kernels(fresh));
    let facts = ["kernel", "kernel on x⁺"].into_iter().zip(old.iter().zip(&new));
    let facts = facts.map(|(name, (saved, now))| Fact { name, saved, now });
    let facts = facts.chain(parameter_facts(&saved.parameters, &fresh.parameters));
    let same = Layout::of_model(&saved) == Layout::of_model(fresh) && saved.parameters.len() == fresh.parameters.len();
    check_same(path, facts, (!same).then_some("its columns are other ones"))?;
    Ok(saved)
}

/// What makes no sense when x is more than a state.
fn refuse_action(acts: bool, one_step: bool, arguments: &KoopmanArguments) -> Result<(), Failure> {
    if acts && arguments.eigen.is_some_and(|count| count > 0) {
        return Err(Failure::usage(
            "--eigen: with an action in x the operator leads from functions of x⁺ to functions of x, and has no eigenvalues; \
             leave --eigen out",
        ));
    }
    if acts && arguments.plot.plot.is_some() {
        return Err(Failure::usage(
            "--plot: with an action in x the operator has no eigenvalues, which the picture shows; leave --plot out",
        ));
    }
    if acts && one_step && arguments.steps.is_some_and(|steps| usize::from(steps) > 1) {
        return Err(Failure::usage(
            "--steps: with an action in x a forecast reaches one step, since later actions are not known; leave --steps out",
        ));
    }
    Ok(())
}

/// The rounds of this run.
struct Pass {
    model: Operator,
    learnt: u64,
    seconds: Duration,
    /// Pairs that only a full dictionary kept out.
    full: u64,
    /// Pairs that were kept out although one side of them was new.
    one_sided: u64,
}

impl Pass {
    fn new(model: Operator) -> Self {
        Self { model, learnt: 0, seconds: Duration::ZERO, full: 0, one_sided: 0 }
    }

    /// Learns all pairs, of which `chunk` holds the first.
    fn learn_all(&mut self, mut chunk: Chunk, pairs: &mut Pairs, saving: &mut Option<Saving>) -> Result<(), Failure> {
        let bar = progress(None);
        while chunk.rows() > 0 {
            self.learn(&chunk, pairs, saving)?;
            bar.inc(chunk.rows() as u64);
            bar.set_message(self.model.learner.inner().operator().inputs().len().to_string());
            pairs.fill(&mut chunk, false)?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn learn(&mut self, chunk: &Chunk, pairs: &Pairs, saving: &mut Option<Saving>) -> Result<(), Failure> {
        for (index, (x, x_plus)) in chunk.iter(pairs.layout()).enumerate() {
            if let Some(saving) = saving
                && saving.knows([x, x_plus])?
            {
                continue;
            }
            let seen = self.model.seen().after([x, x_plus]);
            // The clock runs only here.
            let start = Instant::now();
            let step = self.model.learner.inner_mut().update(x, x_plus);
            self.seconds += start.elapsed();
            let step = step.map_err(|error| Failure::because(format!("{}: {error}", pairs.place(chunk, index))))?;
            self.model.fingerprint = seen.fingerprint;
            self.learnt += 1;
            self.full += u64::from(step.verdict == Verdict::Full);
            self.one_sided += u64::from(step.verdict == Verdict::OneSided);
            if let Some(saving) = saving {
                saving.checkpoint(seen.rows, || self.model.to_bytes())?;
            }
        }
        Ok(())
    }
}
