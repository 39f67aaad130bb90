//! A mixture that sets itself up.
//!
//! Features and targets come as they are. From the first rows it learns a scaling and takes the
//! median distance `m` of the scaled rows as the unit of widths. Two parts learn side by side:
//!
//! - **ahead** (`auto/ahead.rs`), a [`Mixture`](mercer_learners::Mixture) of learners on
//!   dictionaries with widths around `m` and on random features (`auto/grid.rs`), and linear
//!   members (`auto/linear.rs`), with a quarter of the budget; they are few, and learn blocks;
//! - **the window** (`auto/nearest.rs`), Gaussian processes on the 8 to 32 examples nearest to the
//!   input, of the last `N`, in up to four metrics (Vecchia 1988; Gramacy and Apley 2015; Datta et
//!   al. 2016), and [`Fogd`](mercer_learners::Fogd) with two steps. A budget that has no room for
//!   it gives all to the first part.
//!
//! Mixtures weigh all members (`auto/weights.rs`); of classes, four of them are mixed once more by
//! log loss (`auto/classes.rs`).
//!
//! **Honest.** A prediction uses nothing but the rows before it. Scaling and ranks are learnt anew
//! after 16, 64, 256 and 1024 rows and are fixed from then on; each time both parts are made anew
//! and replay the rows so far, predicting each before they learn it. Until the first time the
//! prediction is the mean of the targets.
//!
//! **Inputs that never vary cost nothing.** An input counts from the row in which it first varies.
//! Features and outputs may join at any time. Several outputs have scalings of their own.
//!
//! Cost: about `budget` multiply-adds a round whatever the dimension and the length of the stream,
//! except at the four stages and where relevance is learnt anew at doublings. `docs/auto.md` has
//! memory, members, the plans of the budget, and how each was chosen.

mod ahead;
mod blocks;
mod classes;
mod closed;
mod grid;
mod linear;
mod logits;
mod metrics;
mod nearest;
mod plan;
mod polynomial;
mod ranks;
mod scales;
mod search;
mod series;
mod speed;
mod stage;
mod tokens;
mod weights;

use mercer_core::{Inconsistent, ParameterError, TokenUse, Validate, check_input, cost};
use mercer_experts::Rule;
use mercer_kernels::weighted_median_width;

use mercer_learners::catalogue::{
    BuildError, Context, Entry, Learner, ParameterType, Parameters, Takes, Value, Values,
};
use mercer_learners::mixture::squared_error;
use mercer_learners::{
    Blocks, Error, Expert, Growth, Problem, Regressor, Rows, Scratch, Target, Targets, Tokens, Variance, parameters,
};

use self::ahead::{Ahead, FeatureBlock};
use self::classes::{ClassViews, VIEWS};
pub use self::closed::{ClosedForm, ClosedMember, ClosedPart};
use self::nearest::Nearest;
use self::plan::{Past, Size};
pub use self::polynomial::Polynomial;
use self::scales::{Affine, ScaledRows, Scales, weighted};
use self::stage::Stage;
pub use self::tokens::AutoWithTokens;
use crate::local::with_column;

/// Rows after which the scaling is learnt anew.
const STAGES: [usize; 4] = [16, 64, 256, 1024];
/// Multiply-adds a round at most, which is seconds.
const LARGEST_BUDGET: u64 = 1_000_000_000_000;

parameters! {
    /// Parameters of [`Auto`].
    #[derive(Copy)]
    pub struct AutoParams {
        /// how losses become weights: exponential, Bernstein or polynomial aggregation
        rule: Rule = Rule::MlPoly => "" "ewa, boa or ml-poly",
        /// nearest examples in a prediction of the processes on a window of the stream; 0 leaves
        /// them out
        neighbours: usize = 32 => "k" WHOLE,
        /// multiply-adds a row, which set the members' sizes, or a time a row such as 50us,
        /// measured on this machine
        budget: usize = 2_000_000 => "" "a whole number ≥ 1000, or a time such as 50us".time(budget_of_time),
        /// numbers in a target
        outputs: usize = 1 => context outputs,
    }
}

/// A mixture of learners on dictionaries and of Gaussian processes on the nearest examples that
/// chooses scaling, widths and regularisers itself.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Auto {
    dimension: usize,
    params: AutoParams,
    /// The first rows and targets, as they came, while they may be needed again.
    rows: Vec<f64>,
    targets: Vec<f64>,
    /// Their weights; none while all are 1.
    weights: Vec<f64>,
    /// `None` before the first stage.
    mixture: Option<Stage>,
    /// Views of classes, while all targets are −1 or 1.
    classes: Option<ClassViews>,
    loss: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: BlockMemory,
}

#[cfg(feature = "serde")]
fn one() -> usize {
    1
}

/// Memory of a block.
#[derive(Clone, Debug, Default)]
struct BlockMemory {
    rows: ScaledRows,
    targets: Vec<f64>,
    weights: Vec<f64>,
    views: Vec<f64>,
}

/// What becomes of the views of rows, and their loss.
struct Scores {
    classes: Option<ClassViews>,
    loss: f64,
}

impl Scores {
    /// The scores of a row, whose target is learnt.
    fn round<'v>(&mut self, views: &'v mut [f64], target: Target<'_>) -> &'v [f64] {
        if let Some(classes) = &mut self.classes {
            classes.round(views, target);
        }
        self.charge(&views[..target.y.len()], target)
    }

    /// The scores of a row that is predicted by the mean.
    fn first<'v>(&mut self, mean: &'v [f64], target: Target<'_>) -> &'v [f64] {
        if let Some(classes) = &mut self.classes {
            classes.count(target);
        }
        self.charge(mean, target)
    }

    fn charge<'v>(&mut self, scores: &'v [f64], target: Target<'_>) -> &'v [f64] {
        // Numbers that are no classes end the views of such.
        self.classes.take_if(|_| !ClassViews::are_of(target));
        self.loss += target.weight * squared_error(scores, target.y);
        scores
    }
}

impl Auto {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When the budget is below 1000 or above 10¹², or there is no output.
    pub fn new(dimension: usize, params: AutoParams) -> Result<Self, Error> {
        let budget = params.budget as f64;
        ParameterError::require(params.budget >= 1000, "budget", "at least 1000", budget)?;
        ParameterError::require(params.budget as u64 <= LARGEST_BUDGET, "budget", "at most 1e12", budget)?;
        ParameterError::require(params.outputs > 0, "outputs", "at least 1", params.outputs as f64)?;
        let kept = STAGES[STAGES.len() - 1];
        Ok(Self {
            dimension,
            params,
            rows: Vec::with_capacity(kept * dimension),
            targets: Vec::with_capacity(kept),
            weights: Vec::new(),
            mixture: None,
            classes: Some(ClassViews::new(params.outputs)),
            loss: 0.0,
            threads: 1,
            work: BlockMemory::default(),
        })
    }

    /// The members, none before the first 16 rows: those on dictionaries with their shares of the
    /// weight of their mixture, `grid`, and all others. Their losses are in the units of the
    /// targets, over all rounds of the stream; in the first 16 all predicted the mean. With several
    /// outputs they are of scaled targets, as replayed when the scaling was learnt.
    pub fn members(&self) -> impl Iterator<Item = Expert<'_>> {
        self.mixture.iter().flat_map(|stage| {
            let unit = stage.unit();
            let carried = stage.carried.iter();
            carried.zip(stage.members()).map(move |(carried, expert)| Expert {
                cumulative_loss: carried + unit * expert.cumulative_loss,
                ..expert
            })
        })
    }

    /// `Σ ‖ŷ − y‖²`
    #[must_use]
    pub fn cumulative_loss(&self) -> f64 {
        self.loss
    }

    /// `scores ←` the mean of the targets, the prediction before the first stage.
    fn mean(&self, scores: &mut [f64]) {
        scores.fill(0.0);
        if !self.targets.is_empty() {
            for (output, score) in scores.iter_mut().enumerate() {
                let targets = self.targets.iter().skip(output).step_by(self.params.outputs);
                *score = Affine::fit(weighted(targets.copied(), &self.weights)).centre;
            }
        }
    }

    /// Predicts into `scores`, and the variances where they are asked for; whether they are known.
    fn predict_asked(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: Option<&mut [f64]>,
    ) -> Result<bool, Error> {
        let Some(stage) = &self.mixture else {
            self.mean(scores);
            return Ok(false);
        };
        let Some(classes) = &self.classes else { return stage.predict(x, scratch, scores, variances) };
        let mut views = scratch.lend(VIEWS * scores.len());
        let known = stage.predict(x, scratch, &mut views, variances);
        if known.is_ok() {
            classes.score(&mut views);
            scores.copy_from_slice(&views[..scores.len()]);
        }
        scratch.take_back(views);
        known
    }

    /// Rows that are kept.
    fn kept(&self) -> usize {
        self.targets.len() / self.params.outputs
    }

    /// Rows until the next stage, if there is one.
    fn until_stage(&self) -> Option<usize> {
        let seen = self.kept();
        STAGES.into_iter().find(|stage| *stage > seen).map(|stage| stage - seen).filter(|_| !self.is_settled())
    }

    /// True if the scaling is fixed; no row is kept then.
    fn is_settled(&self) -> bool {
        self.targets.is_empty() && self.mixture.is_some()
    }

    /// Learns rows of positive weight that are fit to be learnt and cross no stage.
    fn learn_good(&mut self, rows: Rows<'_>, mut take: impl FnMut(&[f64])) -> Result<(), Error> {
        let outputs = self.params.outputs;
        let mut work = std::mem::take(&mut self.work);
        let mut told = Scores { classes: self.classes.take(), loss: self.loss };
        let mut made = 0;
        work.views.resize(VIEWS * outputs, 0.0);
        let learnt = match self.mixture.take() {
            None => {
                for row in 0..rows.len() {
                    self.mean(&mut work.views[..outputs]);
                    take(told.first(&work.views[..outputs], rows.target(row)));
                    self.loss = told.loss;
                    self.keep(rows.range(row, row + 1));
                }
                Ok(())
            }
            Some(mut stage) => {
                let settled = self.targets.is_empty();
                let learnt = stage.learn(rows, self.threads > 1, &mut work, |views| {
                    take(told.round(views, rows.target(made)));
                    made += 1;
                });
                (self.mixture, self.loss) = (Some(stage), told.loss);
                if !settled {
                    self.keep(rows.range(0, made));
                }
                learnt
            }
        };
        (self.work, self.classes) = (work, told.classes);
        learnt
    }

    /// Keeps rows, and makes the mixture anew when they complete a stage.
    fn keep(&mut self, rows: Rows<'_>) {
        self.rows.extend_from_slice(rows.inputs());
        for Target { y, weight } in rows.targets().iter() {
            if weight != 1.0 || !self.weights.is_empty() {
                self.weights.reserve(STAGES[STAGES.len() - 1].saturating_sub(self.weights.len()));
                self.weights.resize(self.kept(), 1.0);
                self.weights.push(weight);
            }
            self.targets.extend_from_slice(y);
        }
        if STAGES.contains(&self.kept()) {
            // A mixture that cannot be made or learn the past leaves the one before in place.
            if let Ok(stage) = self.stage() {
                self.mixture = Some(stage);
            }
            if self.kept() == STAGES[STAGES.len() - 1] {
                (self.rows, self.targets, self.weights) = (Vec::new(), Vec::new(), Vec::new());
            }
        }
    }

    fn stage(&mut self) -> Result<Stage, Error> {
        let (outputs, kept) = (self.params.outputs, self.kept());
        let before = self.mixture.as_ref();
        let known = before.map(|stage| &stage.scaling);
        let scaling = Scales::fit((self.dimension, outputs), &self.rows, &self.targets, &self.weights, known);
        let BlockMemory { rows, targets, .. } = &mut self.work;
        scaling.rows(&self.rows, self.dimension, rows);
        scaling.targets(&self.targets, targets);
        let (width, weights) = (scaling.live(), &self.weights);
        let unit = weighted_median_width(width, &rows.bent, weights);
        let size = Size::choose((width, outputs), self.params);
        let mut ahead = Ahead::new((width, outputs), unit, rows, size, self.params)?;
        ahead.set_threads(self.threads);
        let given = ahead.len();
        let mut predictions = Vec::with_capacity(kept * given * outputs);
        let block = Rows::new(&rows.bent, width, Targets::new(targets, weights, outputs)?)?;
        ahead.learn_in_pieces(FeatureBlock { rows: block, straight: &rows.straight }, false, |made| {
            predictions.extend_from_slice(made);
        })?;
        let past = Past { width, outputs, given, scaled: rows, targets, weights, predictions: &predictions };
        let before = before.map(|stage| &*stage.nearest);
        let nearest = Box::new(Nearest::learn(unit, size, self.params.rule, past, before)?);
        let mut stage = Stage { scaling, ahead, nearest, carried: Vec::new() };
        let before: Vec<f64> = self.members().map(|expert| expert.cumulative_loss).collect();
        let carried = stage.members().enumerate().map(|(k, expert)| {
            let carried = before.get(k).copied().unwrap_or(self.loss) - stage.unit() * expert.cumulative_loss;
            if outputs == 1 { carried } else { 0.0 }
        });
        stage.carried = carried.collect();
        Ok(stage)
    }
}

impl Validate for Auto {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner that chooses itself";
        Inconsistent::size(self.dimension, WHAT)?;
        Inconsistent::require(
            (1000..=LARGEST_BUDGET).contains(&(self.params.budget as u64)),
            WHAT,
            "its budget is in range",
        )?;
        Inconsistent::size(self.params.outputs, WHAT)?;
        Inconsistent::require(self.params.outputs > 0, WHAT, "it has an output")?;
        let (kept, outputs) = (self.kept(), self.params.outputs);
        let whole = self.targets.len() == kept * outputs
            && kept < STAGES[STAGES.len() - 1]
            && self.rows.len() == kept * self.dimension;
        Inconsistent::require(whole, WHAT, "it keeps rows with their targets until the last stage")?;
        let weighed = (self.weights.is_empty() || self.weights.len() == kept)
            && self.weights.iter().all(|weight| *weight > 0.0 && weight.is_finite());
        Inconsistent::require(weighed, WHAT, "rows have a weight each, or none has")?;
        self.rows.validate()?;
        self.targets.validate()?;
        Inconsistent::require(self.loss >= 0.0, WHAT, "its loss is not negative")?;
        let viewed = self.classes.as_ref().is_none_or(|classes| classes.fits(outputs));
        Inconsistent::require(viewed, WHAT, "its views of classes have its outputs")?;
        self.classes.as_ref().map_or(Ok(()), Validate::validate)?;
        let Some(stage) = &self.mixture else { return Ok(()) };
        let Stage { scaling, ahead, nearest, carried } = stage;
        scaling.validate()?;
        ahead.validate()?;
        nearest.validate()?;
        let width = scaling.live();
        let fits = scaling.fits(self.dimension, outputs)
            && ahead.fits(width, outputs)
            && nearest.fits(width, outputs, ahead.len())
            && carried.len() == stage.members().count();
        Inconsistent::require(fits, WHAT, "its parts fit the features and outputs")
    }
}

impl Regressor for Auto {
    fn problem(&self) -> Problem {
        Problem::squared(self.dimension, self.params.outputs)
    }

    fn dictionary_size(&self) -> usize {
        self.mixture.as_ref().map_or(0, |stage| stage.ahead.grid.dictionary_size() + stage.nearest.len())
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension)?;
        self.predict_asked(x, scratch, scores, None).map(drop)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let weights = [target.weight];
        let rows = Rows::new(x, self.dimension, Targets::new(target.y, &weights, self.params.outputs)?)?;
        self.learn_good(rows, |made| scores.copy_from_slice(made))
    }

    fn variance(&self) -> Option<&dyn Variance> {
        Some(self)
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                let before = self.dimension;
                self.dimension += added;
                if let Some(stage) = &mut self.mixture {
                    stage.scaling.grow(before..self.dimension);
                }
                let mut wider = Vec::with_capacity(STAGES[STAGES.len() - 1] * self.dimension);
                for row in 0..self.kept() {
                    wider.extend_from_slice(&self.rows[row * before..(row + 1) * before]);
                    wider.resize(wider.len() + added, 0.0);
                }
                self.rows = wider;
                Ok(())
            }
            Growth::Output { like } => {
                if let Some(stage) = &mut self.mixture {
                    stage.add_output(like)?;
                }
                self.targets = with_column(&self.targets, self.params.outputs, like);
                if let Some(classes) = &mut self.classes {
                    classes.add_output(like);
                }
                self.params.outputs += 1;
                Ok(())
            }
        }
    }
}

impl Variance for Auto {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        let stage = self.mixture.as_ref()?;
        stage.nearest.noise(output).map(|noise| noise * stage.scaling.targets[output].scale.powi(2))
    }

    /// That of the errors at the nearest examples, or where there is no window the mean error's.
    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        check_input(x, self.dimension)?;
        variances.fill(f64::NAN);
        self.predict_asked(x, scratch, scores, Some(variances))
    }
}

/// The budget that takes so many microseconds a row on this machine.
fn budget_of_time(microseconds: f64, context: &Context<'_>, values: &Values<'_>) -> Result<Value, BuildError> {
    let params = AutoParams::default().neighbours(values.read("neighbours", context)?).outputs(context.outputs);
    Ok(Auto::budget_within(microseconds, context.dimension, params)?.to_value())
}

/// `auto` in the catalogue.
pub const AUTO: Learner<Auto> = Entry {
    name: "auto",
    summary: "mixture of dictionaries and nearest examples that chooses scaling, widths and regularisers itself",
    keys: AutoParams::KEYS,
    time: cost!(1.0 budget),
    memory: cost!(1.0 budget),
    source: "experts as in Jézéquel et al. 2019, section 3.1",
    autonomous: true,
    takes: Takes::SQUARED_OUTPUTS,
    tokens: TokenUse::WithTexts,
    advice: "nothing is known; data unscaled",
    start: "`budget=2e6`",
    trial: &["budget=2000"],
    ..Entry::PLAIN
}
.made_by(|_, context, values| Ok(Auto::new(context.dimension, values.parameters(context)?)?));
