//! The options that make a learner, which a saved one knows.

use std::num::NonZeroUsize;

use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use mercer_kernels::{AnyKernel, KernelSpec};
use mercer_koopman::{
    Budget, BudgetTest, DictionaryShape, Error, OperatorSums, OperatorSumsParams, Sogd, SogdParams, StepSchedule,
};
use mercer_registry::catalogue::nearest;
use mercer_session::model::{AnyOperator, Operator};

use super::KoopmanMethod;
use super::pairs::{self, PairChunk, PairLayout};
use crate::arguments::median_kernel;
use crate::arguments::{count, typed};
use crate::report::failure::Failure;
use crate::report::output::number;

/// Options that make a learner; a saved one has them already.
#[derive(Args)]
pub(super) struct Making {
    /// Numbers of a state, and so of x⁺; half of the columns unless given
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "model")]
    state_dim: Option<NonZeroUsize>,
    /// Numbers of x when it carries an action behind the state, or of the action alone; the number
    /// of columns tells which
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "model")]
    input_dim: Option<NonZeroUsize>,
    /// By sums: a pair weighs half after this many further pairs
    #[arg(long, value_name = "H", value_parser = positive, conflicts_with = "model")]
    pub(super) half_life: Option<f64>,
    /// Set a parameter of --method sogd; may be given several times
    ///
    /// kernel=SPEC on x: gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA,
    /// polynomial:DEGREE,OFFSET, linear, mix:0.4*gaussian:0.4+0.6*gaussian:0.7, or median, the
    /// Gaussian whose width is the median distance between the first 200 rows [median].
    /// output_kernel=SPEC on x⁺ [that on x; with kernel=median and an action in x its own median].
    /// eta=E: step size η; a step is stable while η(k(x,x) + λ) < 2 [1.5 where it falls, 0.3
    /// where it is constant]. eta_schedule=constant: η in every round, which leaves noise of
    /// its own size in every eigenvalue; power:A,R: η/(t + R)^A in round t = 1, 2, …, which
    /// converges for A between ½ and 1 [power:0.6,10, constant where eta is set]. lambda=L:
    /// regulariser λ ≥ 0; it makes every eigenvalue smaller, the first below 1 [0]. budget=EPS:
    /// a pair is kept if leaving it out would move the operator by more than ε ≥ 0 [0.1 η² with
    /// the η of the first round]. budget_schedule=constant or eta-squared: ε or ε η² with the
    /// round's η [constant]. budget_test=norm, squared or output-ald: the norm of the change,
    /// its square, or the norm of what x⁺ alone adds is compared with ε [norm].
    /// dictionary_shape=paired or rectangular: x and x⁺ are kept together, except for a side
    /// that repeats what is kept, or each on its own account [paired]. rank_guard=TOL: a point
    /// whose squared distance to the span of those kept is at most TOL·k(x,x) is never kept, 0
    /// ≤ TOL < 1 [1e-6]. max_dictionary=N or none: most points kept; a step costs time and
    /// memory in the square of them [1000].
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "model")]
    set: Vec<String>,
    #[command(flatten)]
    keys: SetKeys,
}

/// Keys of `--set` as options, which are refused with the way to write them: the nearest option by
/// letters would be another one.
struct SetKeys;

impl FromArgMatches for SetKeys {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), clap::Error> {
        Ok(())
    }
}

impl Args for SetKeys {
    fn augment_args(command: Command) -> Command {
        let refused = |option: &'static str| {
            let way = format!(
                "sums choose their features themselves; the descent takes --method sogd --set {}=VALUE",
                Descent::key(option)
            );
            Arg::new(option).long(option).hide(true).value_parser(UnknownArgumentValueParser::suggest(way))
        };
        command.args(Descent::OPTIONS.map(refused))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

pub(super) fn positive(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0).ok_or("give a number above 0")
}

#[derive(Clone, Copy)]
enum EtaSchedule {
    Constant,
    Power { exponent: f64, offset: f64 },
}

impl EtaSchedule {
    fn parse(text: &str) -> Option<Self> {
        if text == "constant" {
            return Some(Self::Constant);
        }
        let (exponent, offset) = text.strip_prefix("power:")?.split_once(',')?;
        Some(Self::Power { exponent: exponent.trim().parse().ok()?, offset: offset.trim().parse().ok()? })
    }
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
enum KernelShape {
    Paired,
    Rectangular,
}

/// Parameters of the stochastic gradient descent, as `--set` gives them.
struct Descent {
    kernel: KernelSpec,
    output_kernel: Option<KernelSpec>,
    eta: Option<f64>,
    eta_schedule: Option<EtaSchedule>,
    lambda: f64,
    budget: Option<f64>,
    budget_schedule: BudgetSchedule,
    budget_test: Test,
    dictionary_shape: KernelShape,
    rank_guard: f64,
    max_dictionary: Option<usize>,
}

impl Default for Descent {
    fn default() -> Self {
        Self {
            kernel: KernelSpec::Median,
            output_kernel: None,
            eta: None,
            eta_schedule: None,
            lambda: 0.0,
            budget: None,
            budget_schedule: BudgetSchedule::Constant,
            budget_test: Test::Norm,
            dictionary_shape: KernelShape::Paired,
            rank_guard: 1e-6,
            max_dictionary: Some(1000),
        }
    }
}

impl Descent {
    /// Its keys, as one would write options.
    const OPTIONS: [&str; 11] = [
        "kernel",
        "output-kernel",
        "eta",
        "eta-schedule",
        "lambda",
        "budget",
        "budget-schedule",
        "budget-test",
        "dictionary-shape",
        "rank-guard",
        "max-dictionary",
    ];

    fn parse(pairs: &[String]) -> Result<Self, Failure> {
        let mut made = Self::default();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(Failure::usage(format!("--set {pair}: is not KEY=VALUE; {}", Self::known())));
            };
            let (key, value) = (key.trim(), value.trim());
            let refused = |why: String| Failure::usage(format!("--set {key}={value}: {why}"));
            let number = || value.parse().map_err(|_| refused("give a number".to_owned()));
            match key {
                "kernel" => made.kernel = kernel(value).map_err(refused)?,
                "output_kernel" => made.output_kernel = Some(kernel(value).map_err(refused)?),
                "eta" => made.eta = Some(number()?),
                "eta_schedule" => {
                    let other = || "give constant, or power:A,R with two numbers, such as power:0.75,30".to_owned();
                    made.eta_schedule = Some(EtaSchedule::parse(value).ok_or_else(other).map_err(refused)?);
                }
                "lambda" => made.lambda = number()?,
                "budget" => made.budget = Some(number()?),
                "budget_schedule" => made.budget_schedule = word(value).map_err(refused)?,
                "budget_test" => made.budget_test = word(value).map_err(refused)?,
                "dictionary_shape" => made.dictionary_shape = word(value).map_err(refused)?,
                "rank_guard" => made.rank_guard = number()?,
                "max_dictionary" if value == "none" => made.max_dictionary = None,
                "max_dictionary" => {
                    let other = |_| refused("give a whole number of at least 1, or none".to_owned());
                    made.max_dictionary = Some(value.parse::<NonZeroUsize>().map_err(other)?.into());
                }
                _ => {
                    let meant = nearest(&key.replace('_', "-"), &Self::OPTIONS);
                    let meant = meant.map_or(String::new(), |option| format!(" (is {} meant?)", Self::key(option)));
                    return Err(refused(format!("there is no such key{meant}; {}", Self::known())));
                }
            }
        }
        Ok(made)
    }

    fn known() -> String {
        format!("the keys are {}", Self::OPTIONS.map(Self::key).join(", "))
    }

    fn key(option: &str) -> String {
        option.replace('-', "_")
    }

    fn step(&self) -> StepSchedule {
        match self.eta_schedule {
            Some(EtaSchedule::Constant) => StepSchedule::Constant(self.eta.unwrap_or(0.3)),
            Some(EtaSchedule::Power { exponent, offset }) => StepSchedule::given(self.eta, Some((exponent, offset))),
            None => StepSchedule::given(self.eta, None),
        }
    }

    /// The budget's number.
    fn budget(&self) -> f64 {
        let constant = self.budget_schedule == BudgetSchedule::Constant;
        self.budget.unwrap_or_else(|| if constant { self.step().usual_budget() } else { 0.1 })
    }

    fn params(&self) -> SogdParams {
        let budget = match self.budget_schedule {
            BudgetSchedule::Constant => Budget::Constant(self.budget()),
            BudgetSchedule::EtaSquared => Budget::EtaSquared(self.budget()),
        };
        let test = match self.budget_test {
            Test::Norm => BudgetTest::Norm,
            Test::Squared => BudgetTest::Squared,
            Test::OutputAld => BudgetTest::OutputAld,
        };
        let shape = match self.dictionary_shape {
            KernelShape::Paired => DictionaryShape::Paired,
            KernelShape::Rectangular => DictionaryShape::Rectangular,
        };
        SogdParams::default()
            .step(self.step())
            .lambda(self.lambda)
            .budget(budget)
            .test(test)
            .shape(shape)
            .rank_guard(self.rank_guard)
            .max_dictionary(self.max_dictionary)
    }

    /// True if the first rows settle a kernel.
    fn looks(&self) -> bool {
        let median = |spec: &KernelSpec| matches!(spec, KernelSpec::Median);
        median(&self.kernel) || self.output_kernel.as_ref().is_some_and(median)
    }

    /// The parameters as they could be set.
    fn words(&self) -> [(&'static str, String); 9] {
        let (eta, eta_schedule) = match self.step() {
            StepSchedule::Power { eta, exponent, offset } => {
                (eta, format!("power:{},{}", number(exponent), number(offset)))
            }
            step => (step.at(1), "constant".to_owned()),
        };
        [
            ("eta", number(eta)),
            ("eta_schedule", eta_schedule),
            ("lambda", number(self.lambda)),
            ("budget", number(self.budget())),
            ("budget_schedule", typed(&self.budget_schedule)),
            ("budget_test", typed(&self.budget_test)),
            ("dictionary_shape", typed(&self.dictionary_shape)),
            ("rank_guard", number(self.rank_guard)),
            ("max_dictionary", self.max_dictionary.map_or("none".to_owned(), |most| most.to_string())),
        ]
    }

    /// The kernels on x and on x⁺.
    fn kernels(&self, layout: &PairLayout, first: &PairChunk) -> Result<(AnyKernel, AnyKernel), Failure> {
        let on_outputs = || median_kernel(layout.state_dimension, &first.outputs, &[]);
        let input = match &self.kernel {
            KernelSpec::Given(kernel) => kernel.clone(),
            KernelSpec::Median => median_kernel(layout.input_dimension, &first.inputs, &[])?,
        };
        let output = match (&self.output_kernel, &self.kernel) {
            (Some(KernelSpec::Given(kernel)), _) => kernel.clone(),
            (Some(KernelSpec::Median), _) => on_outputs()?,
            (None, KernelSpec::Median) if layout.input_dimension != layout.state_dimension => on_outputs()?,
            (None, _) => input.clone(),
        };
        Ok((input, output))
    }
}

fn kernel(spec: &str) -> Result<KernelSpec, String> {
    spec.parse().map_err(|error: mercer_kernels::KernelError| error.to_string())
}

/// One of the words of an enum.
fn word<T: ValueEnum>(value: &str) -> Result<T, String> {
    let names = || T::value_variants().iter().filter_map(T::to_possible_value);
    T::from_str(value, false)
        .map_err(|_| format!("give {}", names().map(|one| one.get_name().to_owned()).collect::<Vec<_>>().join(" or ")))
}

impl Making {
    /// True if a parameter of the descent is set.
    pub(super) fn sets(&self) -> bool {
        !self.set.is_empty()
    }

    /// True if dimensions are told.
    pub(super) fn has_dimensions(&self) -> bool {
        self.state_dim.is_some() || self.input_dim.is_some()
    }

    /// Numbers of x and of x⁺ in rows of `columns` numbers.
    pub(super) fn dimensions(&self, shown: &str, columns: usize) -> Result<(usize, usize), Failure> {
        pairs::dimensions(shown, columns, self.state_dim.map(usize::from), self.input_dim.map(usize::from))
    }

    /// True if the first rows settle something, so that they must be there before one is learnt.
    pub(super) fn looks(&self, method: KoopmanMethod) -> Result<bool, Failure> {
        Ok(method == KoopmanMethod::Sogd && Descent::parse(&self.set)?.looks())
    }

    /// The learner, untrained.
    pub(super) fn build(
        &self,
        method: KoopmanMethod,
        layout: &PairLayout,
        (first, delay): (&PairChunk, usize),
    ) -> Result<Operator, Failure> {
        match method {
            KoopmanMethod::Sums => self.build_sums(layout, delay),
            KoopmanMethod::Sogd => self.build_sogd(layout, first),
        }
    }

    fn build_sums(&self, layout: &PairLayout, delay: usize) -> Result<Operator, Failure> {
        let (d, state) = (layout.input_dimension, layout.state_dimension);
        let params = OperatorSumsParams::default().half_life(self.half_life).delay(delay);
        let sums = OperatorSums::new(state, d - state, params).map_err(|error| usage(&error))?;
        let half_life = self.half_life.map_or("none".to_owned(), number);
        let parameters = vec![("half_life".to_owned(), half_life)];
        Ok(Operator { parameters, ..Operator::new(layout.file_names(), AnyOperator::Sums(Box::new(sums))) })
    }

    fn build_sogd(&self, layout: &PairLayout, first: &PairChunk) -> Result<Operator, Failure> {
        let descent = Descent::parse(&self.set)?;
        let (input_kernel, output_kernel) = descent.kernels(layout, first)?;
        let (d, d_plus) = (layout.input_dimension, layout.state_dimension);
        let learner =
            Sogd::new(input_kernel, d, output_kernel, d_plus, descent.params()).map_err(|error| usage(&error))?;
        let parameters = descent.words().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let learner = AnyOperator::Sparse(Box::new(learner));
        Ok(Operator { parameters, ..Operator::new(layout.file_names(), learner) })
    }
}

/// A parameter that the learner refuses.
fn usage(error: &Error) -> Failure {
    Failure::usage(format!("{error}; see mercer koopman --help"))
}
