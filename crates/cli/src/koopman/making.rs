//! The options that make a learner, which a saved one knows.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use mercer_kernels::{AnyKernel, KernelSpec};
use mercer_koopman::{
    Budget, BudgetTest, DictionaryShape, Error, OperatorSums, OperatorSumsParams, Sogd, SogdParams, StepSchedule,
};
use mercer_session::model::{AnyOperator, Operator};

use super::KoopmanMethod;
use super::pairs::{self, PairChunk, PairLayout};
use crate::arguments::median_kernel;
use crate::arguments::{count, typed};
use crate::report::failure::Failure;
use crate::report::output::number;

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
    /// Kernel on x: gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA,
    /// polynomial:DEGREE,OFFSET, linear, mix:0.4*gaussian:0.4+0.6*gaussian:0.7, or median [default:
    /// median]
    ///
    /// `median` is the Gaussian whose width is the median distance between the first 200 rows.
    #[arg(long, value_name = "SPEC", conflicts_with = "model")]
    kernel: Option<KernelSpec>,
    /// Kernel on x⁺, which is that on x unless given (with --kernel median and an action in x, its
    /// own median)
    #[arg(long, value_name = "SPEC", conflicts_with = "model")]
    output_kernel: Option<KernelSpec>,
    /// Step size η; a step is stable while η(k(x,x) + λ) < 2 [default: 1.5, falling; 0.3 where
    /// constant]
    #[arg(long, value_name = "E", conflicts_with = "model")]
    eta: Option<f64>,
    /// constant: η in every round, which leaves noise of its own size in every eigenvalue;
    /// power:A,R: η/(t + R)^A in round t = 1, 2, …, which converges for A between ½ and 1 [default:
    /// power:0.6,10, constant where --eta is given]
    #[arg(long, value_name = "constant|power:A,R", value_parser = schedule, conflicts_with = "model")]
    eta_schedule: Option<EtaSchedule>,
    /// Regulariser λ ≥ 0; it makes every eigenvalue smaller, the first below 1 [default: 0]
    #[arg(long, value_name = "L", conflicts_with = "model")]
    lambda: Option<f64>,
    /// Budget ε ≥ 0: a pair is kept if leaving it out would move the operator by more; the smaller,
    /// the larger the dictionary [default: 0.1 η² with the η of the first round]
    #[arg(long, value_name = "EPS", conflicts_with = "model")]
    budget: Option<f64>,
    /// constant: ε in every round; eta-squared: ε η² with the round's η [default: constant]
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "model")]
    budget_schedule: Option<BudgetSchedule>,
    /// Quantity that is compared with the budget: the norm of the change, its square, or
    /// (output-ald) the norm of what x⁺ alone adds [default: norm]
    #[arg(long, value_name = "TEST", conflicts_with = "model")]
    budget_test: Option<Test>,
    /// paired: x and x⁺ are kept together, except for a side that repeats what is kept;
    /// rectangular: each on its own account [default: paired]
    #[arg(long, value_name = "SHAPE", conflicts_with = "model")]
    dictionary_shape: Option<KernelShape>,
    /// A point whose squared distance to the span of those kept is at most TOL·k(x,x) is never
    /// kept, 0 ≤ TOL < 1 [default: 1e-6]
    #[arg(long, value_name = "TOL", conflicts_with = "model")]
    rank_guard: Option<f64>,
    /// Most points kept, or none for no limit: a step costs time and memory in the square of it
    /// [default: 1000]
    #[arg(long, value_name = "N|none", value_parser = most, conflicts_with = "model")]
    max_dictionary: Option<Most>,
}

pub(super) fn positive(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0).ok_or("give a number above 0")
}

#[derive(Clone, Copy)]
enum EtaSchedule {
    Constant,
    Power { exponent: f64, offset: f64 },
}

fn schedule(text: &str) -> Result<EtaSchedule, String> {
    if text == "constant" {
        return Ok(EtaSchedule::Constant);
    }
    let numbers = text.strip_prefix("power:").and_then(|numbers| numbers.split_once(','));
    let parsed = numbers.and_then(|(a, r)| Some((a.trim().parse().ok()?, r.trim().parse().ok()?)));
    let Some((exponent, offset)) = parsed else {
        return Err("give constant, or power:A,R with two numbers, such as power:0.75,30".to_owned());
    };
    Ok(EtaSchedule::Power { exponent, offset })
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

/// A number of points, or no limit.
#[derive(Clone, Copy)]
struct Most(Option<usize>);

fn most(text: &str) -> Result<Most, &'static str> {
    match text {
        "none" => Ok(Most(None)),
        _ => count(text).map(|most| Most(Some(most.into()))).map_err(|_| "give a whole number of at least 1, or none"),
    }
}

impl Making {
    /// The first option given that only this learner has.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--kernel", self.kernel.is_some()),
            ("--output-kernel", self.output_kernel.is_some()),
            ("--eta", self.eta.is_some()),
            ("--eta-schedule", self.eta_schedule.is_some()),
            ("--lambda", self.lambda.is_some()),
            ("--budget", self.budget.is_some()),
            ("--budget-schedule", self.budget_schedule.is_some()),
            ("--budget-test", self.budget_test.is_some()),
            ("--dictionary-shape", self.dictionary_shape.is_some()),
            ("--rank-guard", self.rank_guard.is_some()),
            ("--max-dictionary", self.max_dictionary.is_some()),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }

    /// True if dimensions are told.
    pub(super) fn has_dimensions(&self) -> bool {
        self.state_dim.is_some() || self.input_dim.is_some()
    }

    /// Numbers of x and of x⁺ in rows of `columns` numbers.
    pub(super) fn dimensions(&self, shown: &str, columns: usize) -> Result<(usize, usize), Failure> {
        pairs::dimensions(shown, columns, self.state_dim.map(usize::from), self.input_dim.map(usize::from))
    }

    fn kernel(&self) -> &KernelSpec {
        self.kernel.as_ref().unwrap_or(&KernelSpec::Median)
    }

    fn step(&self) -> StepSchedule {
        match self.eta_schedule {
            Some(EtaSchedule::Constant) => StepSchedule::Constant(self.eta.unwrap_or(0.3)),
            Some(EtaSchedule::Power { exponent, offset }) => StepSchedule::given(self.eta, Some((exponent, offset))),
            None => StepSchedule::given(self.eta, None),
        }
    }

    fn lambda(&self) -> f64 {
        self.lambda.unwrap_or(0.0)
    }

    fn test(&self) -> Test {
        self.budget_test.unwrap_or(Test::Norm)
    }

    fn shape(&self) -> KernelShape {
        self.dictionary_shape.unwrap_or(KernelShape::Paired)
    }

    fn rank_guard(&self) -> f64 {
        self.rank_guard.unwrap_or(1e-6)
    }

    fn max_dictionary(&self) -> Option<usize> {
        self.max_dictionary.map_or(Some(1000), |most| most.0)
    }

    fn params(&self) -> SogdParams {
        let budget = match self.budget() {
            (epsilon, BudgetSchedule::Constant) => Budget::Constant(epsilon),
            (b, BudgetSchedule::EtaSquared) => Budget::EtaSquared(b),
        };
        let test = match self.test() {
            Test::Norm => BudgetTest::Norm,
            Test::Squared => BudgetTest::Squared,
            Test::OutputAld => BudgetTest::OutputAld,
        };
        let shape = match self.shape() {
            KernelShape::Paired => DictionaryShape::Paired,
            KernelShape::Rectangular => DictionaryShape::Rectangular,
        };
        let (rank_guard, max_dictionary) = (self.rank_guard(), self.max_dictionary());
        SogdParams::default()
            .step(self.step())
            .lambda(self.lambda())
            .budget(budget)
            .test(test)
            .shape(shape)
            .rank_guard(rank_guard)
            .max_dictionary(max_dictionary)
    }

    /// The budget's number and how it goes with η.
    fn budget(&self) -> (f64, BudgetSchedule) {
        let schedule = self.budget_schedule.unwrap_or(BudgetSchedule::Constant);
        let usual = if schedule == BudgetSchedule::Constant { self.step().usual_budget() } else { 0.1 };
        (self.budget.unwrap_or(usual), schedule)
    }

    /// True if the first rows settle something, so that they must be there before one is learnt.
    pub(super) fn looks(&self, method: KoopmanMethod) -> bool {
        let median = |spec: &KernelSpec| matches!(spec, KernelSpec::Median);
        method == KoopmanMethod::Sogd && (median(self.kernel()) || self.output_kernel.as_ref().is_some_and(median))
    }

    /// The learner, untrained.
    pub(super) fn build(
        &self,
        method: KoopmanMethod,
        layout: &PairLayout,
        first: &PairChunk,
    ) -> Result<Operator, Failure> {
        match method {
            KoopmanMethod::Sums => self.build_sums(layout),
            KoopmanMethod::Sogd => self.build_sogd(layout, first),
        }
    }

    fn build_sums(&self, layout: &PairLayout) -> Result<Operator, Failure> {
        let (d, state) = (layout.input_dimension, layout.state_dimension);
        let params = OperatorSumsParams::default().half_life(self.half_life);
        let sums = OperatorSums::new(state, d - state, params).map_err(|error| usage(&error))?;
        let half_life = self.half_life.map_or("none".to_owned(), number);
        let parameters = vec![("half_life".to_owned(), half_life)];
        Ok(Operator { parameters, ..Operator::new(layout.file_names(), AnyOperator::Sums(Box::new(sums))) })
    }

    fn build_sogd(&self, layout: &PairLayout, first: &PairChunk) -> Result<Operator, Failure> {
        let (input_kernel, output_kernel) = self.kernels(layout, first)?;
        let (d, d_plus) = (layout.input_dimension, layout.state_dimension);
        let learner =
            Sogd::new(input_kernel, d, output_kernel, d_plus, self.params()).map_err(|error| usage(&error))?;
        let parameters = self.words().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let learner = AnyOperator::Sparse(Box::new(learner));
        Ok(Operator { parameters, ..Operator::new(layout.file_names(), learner) })
    }

    /// The parameters as they could be typed.
    fn words(&self) -> [(&'static str, String); 9] {
        let (eta, eta_schedule) = match self.step() {
            StepSchedule::Power { eta, exponent, offset } => {
                (eta, format!("power:{},{}", number(exponent), number(offset)))
            }
            step => (step.at(1), "constant".to_owned()),
        };
        let (budget, budget_schedule) = self.budget();
        [
            ("eta", number(eta)),
            ("eta_schedule", eta_schedule),
            ("lambda", number(self.lambda())),
            ("budget", number(budget)),
            ("budget_schedule", typed(&budget_schedule)),
            ("budget_test", typed(&self.test())),
            ("dictionary_shape", typed(&self.shape())),
            ("rank_guard", number(self.rank_guard())),
            ("max_dictionary", self.max_dictionary().map_or("none".to_owned(), |most| most.to_string())),
        ]
    }

    /// The kernels on x and on x⁺.
    fn kernels(&self, layout: &PairLayout, first: &PairChunk) -> Result<(AnyKernel, AnyKernel), Failure> {
        let on_outputs = || median_kernel(layout.state_dimension, &first.outputs, &[]);
        let input = match self.kernel() {
            KernelSpec::Given(kernel) => kernel.clone(),
            KernelSpec::Median => median_kernel(layout.input_dimension, &first.inputs, &[])?,
        };
        let output = match (&self.output_kernel, self.kernel()) {
            (Some(KernelSpec::Given(kernel)), _) => kernel.clone(),
            (Some(KernelSpec::Median), _) => on_outputs()?,
            (None, KernelSpec::Median) if layout.input_dimension != layout.state_dimension => on_outputs()?,
            (None, _) => input.clone(),
        };
        Ok((input, output))
    }
}

/// A parameter that the learner refuses.
fn usage(error: &Error) -> Failure {
    Failure::usage(format!("{error}; see mercer koopman --help"))
}
