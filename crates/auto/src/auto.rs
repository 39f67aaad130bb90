//! A mixture that sets itself up.
//!
//! Features and targets come as they are. From the first rows it learns a scaling and takes the
//! median distance `m` of the scaled rows as the unit of widths. Two parts learn side by side:
//!
//! - **the grid** (`auto/grid.rs`), a [`Mixture`] of learners on dictionaries with widths around
//!   `m`, with a quarter of the budget;
//! - **the window** (`auto/nearest.rs`), Gaussian processes on the 8 to 32 examples nearest to the
//!   input, of the last `N`, in up to five metrics (Vecchia 1988; Gramacy and Apley 2015; Datta et
//!   al. 2016), and [`Fogd`](mercer_learners::Fogd) with three steps. A budget that has no room for
//!   it gives all to the grid.
//!
//! Mixtures weigh them: one remembers all rounds, one the last two thousand, a third weighs the
//! two.
//!
//! **Honest.** A prediction uses nothing but the rows before it. Scaling and ranks are learnt anew
//! after 16, 64, 256 and 1024 rows and are fixed from then on; each time both parts are made anew
//! and replay the rows so far, predicting each before they learn it. Until the first time the
//! prediction is the mean of the targets.
//!
//! **Several outputs** have scalings of their own and all else in common. Features may join until
//! the scaling is fixed, outputs at any time.
//!
//! Cost: about `budget` multiply-adds a round whatever the dimension and the length of the stream,
//! except at the four stages and where relevance is learnt anew at doublings. Memory: `5 budget/16`
//! numbers for the grid without a window, `budget/10` with one; `MN(3d + 6)` for a window of `N`
//! examples in `M` metrics, and `1024 d` until the scaling is fixed.
//!
//! `docs/auto.md` has the members, the plans of the budget, and how each was chosen.

mod grid;
mod metrics;
mod nearest;
mod plan;
mod ranks;
mod scales;
mod search;
mod series;
mod speed;
mod standing;
mod watch;
mod weights;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate, check_input, cost};
use mercer_experts::Rule;
use mercer_kernels::{Gaussian, weighted_median_width};

use mercer_learners::catalogue::{
    BuildError, Context, Entry, Learner, ParameterType, Parameters, Takes, Value, Values,
};
use mercer_learners::mixture::squared_error;
use mercer_learners::{
    Blocks, Error, Expert, Growth, Mixture, Problem, Regressor, RegressorExt, Rows, Scratch, Target, Targets, Variance,
    learn_one_by_one, parameters,
};

use self::grid::{GridLearner, grid, learn_in_pieces, threads_of_grid};
use self::metrics::Row;
use self::nearest::Nearest;
use self::plan::{Past, Size};
use self::scales::{Affine, Scales, weighted};
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
    loss: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

#[cfg(feature = "serde")]
fn one() -> usize {
    1
}

/// What a stage makes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stage {
    scaling: Scales,
    experts: Mixture<GridLearner<Gaussian>>,
    /// Losses of the members before this stage, less those of the replay.
    carried: Vec<f64>,
    /// What predicts beside the grid, where the budget has room for it.
    nearest: Option<Box<Nearest>>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    rows: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    predictions: Vec<f64>,
    prediction: Vec<f64>,
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
            loss: 0.0,
            threads: 1,
            work: Work::default(),
        })
    }

    /// The members, none before the first 16 rows. Their losses are in the units of the targets,
    /// over all rounds of the stream; in the first 16 all predicted the mean. Those of the windows
    /// and of what forgets are as replayed when the scaling was learnt; while a metric rests, its
    /// members are charged the mixture's. With several outputs all losses are of scaled targets,
    /// and as replayed.
    pub fn members(&self) -> impl Iterator<Item = Expert<'_>> {
        self.mixture.iter().flat_map(|mixture| {
            let unit = mixture.unit();
            let share = mixture.nearest.as_ref().map_or(1.0, |nearest| nearest.weight_of_grid());
            let grid = mixture.experts.members().zip(&mixture.carried).map(move |(expert, carried)| Expert {
                cumulative_loss: carried + unit * expert.cumulative_loss,
                weight: share * expert.weight,
                ..expert
            });
            let others = mixture.nearest.iter().flat_map(|nearest| nearest.others());
            grid.chain(others.map(move |(name, weight, loss)| Expert {
                name,
                weight,
                cumulative_loss: unit * loss,
                active: true,
            }))
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
                *score = Affine::of(weighted(targets.copied(), &self.weights)).centre;
            }
        }
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

    /// Whether the scaling is fixed; no row is kept then.
    fn is_settled(&self) -> bool {
        self.targets.is_empty() && self.mixture.is_some()
    }

    /// Learns rows of positive weight that are fit to be learnt and cross no stage.
    fn learn_good(&mut self, rows: Rows<'_>, mut take: impl FnMut(&[f64])) -> Result<(), Error> {
        let mut prediction = std::mem::take(&mut self.work.prediction);
        prediction.resize(self.params.outputs, 0.0);
        let Some(mut stage) = self.mixture.take() else {
            for row in 0..rows.len() {
                self.mean(&mut prediction);
                take(&prediction);
                self.loss += rows.target(row).weight * squared_error(&prediction, rows.target(row).y);
                self.keep(rows.range(row, row + 1));
            }
            self.work.prediction = prediction;
            return Ok(());
        };
        let Work { rows: scaled, targets, weights, predictions, .. } = &mut self.work;
        stage.scaling.rows(rows.inputs(), rows.len(), scaled);
        targets.clear();
        weights.clear();
        for Target { y, weight } in rows.targets().iter() {
            targets.extend(y.iter().zip(&stage.scaling.targets).map(|(y, affine)| affine.apply(*y)));
            weights.push(weight);
        }
        // A target that is not finite when scaled is refused, and leaves no trace.
        let outputs = self.params.outputs;
        let fit = targets.iter().position(|y| !y.is_finite()).unwrap_or(targets.len()) / outputs;
        let scaled = Targets::new(&targets[..fit * outputs], &weights[..fit], outputs)
            .and_then(|targets| Rows::new(&scaled[..fit * self.dimension], self.dimension, targets))?;
        let Stage { scaling, experts, nearest, .. } = &mut stage;
        let (mut made, beside) = (0, self.threads > 1 && nearest.is_some());
        let mut learnt = learn_in_pieces(experts, scaled, predictions, beside, |predictions| {
            for grid in predictions.chunks_exact(outputs) {
                prediction.copy_from_slice(grid);
                let target = rows.target(made);
                if let Some(nearest) = nearest {
                    let input = Row { raw: rows.input(made), scaled: scaled.input(made) };
                    nearest.round(input, grid, scaled.target(made), &mut prediction);
                }
                scaling.undo(&mut prediction);
                take(&prediction);
                self.loss += target.weight * squared_error(&prediction, target.y);
                made += 1;
            }
        });
        if fit < rows.len() {
            learnt = learnt.and(Err(ExampleError::Diverged.into()));
        }
        self.work.prediction = prediction;
        let settled = self.targets.is_empty();
        self.mixture = Some(stage);
        if !settled {
            self.keep(rows.range(0, made));
        }
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

    /// What it would be if inputs had had further features from the first row on, as 0: it learns
    /// its rows again.
    fn widen(&mut self, added: usize) -> Result<(), Error> {
        let (d, outputs) = (self.dimension, self.params.outputs);
        let mut wide = Self::new(d + added, self.params)?;
        wide.set_threads(self.threads);
        let (mut x, mut scores) = (vec![0.0; d + added], vec![0.0; outputs]);
        for (row, y) in self.targets.chunks_exact(outputs).enumerate() {
            x[..d].copy_from_slice(&self.rows[row * d..(row + 1) * d]);
            wide.learn(&x, Target::weighted(y, self.weights.get(row).copied().unwrap_or(1.0)), &mut scores)?;
        }
        *self = wide;
        Ok(())
    }

    /// What the processes on the nearest examples may cost, if they have room.
    fn size(&self) -> Option<Size> {
        Nearest::size(0.75 * self.params.budget as f64, (self.dimension, self.params.outputs), self.params.neighbours)
    }

    fn stage(&mut self) -> Result<Stage, Error> {
        let outputs = self.params.outputs;
        let scaling = Scales::of((self.dimension, outputs), &self.rows, &self.targets, &self.weights);
        let (size, kept) = (self.size(), self.kept());
        let Work { rows, targets, predictions, .. } = &mut self.work;
        scaling.rows(&self.rows, kept, rows);
        scaling.targets(&self.targets, targets);
        predictions.clear();
        let unit = weighted_median_width(self.dimension, rows, &self.weights);
        let members = grid((self.dimension, outputs), unit, targets, self.params.budget, size.is_some())?;
        let mut experts = Mixture::new(members, self.params.rule)?.recovering();
        experts.set_threads(threads_of_grid(self.threads, size.is_some()));
        let past = Rows::new(rows, self.dimension, Targets::new(targets, &self.weights, outputs)?)?;
        experts.learn_rows(past, predictions)?;
        let nearest = size.map(|size| {
            let (dimension, raw, weights) = (self.dimension, &self.rows, &self.weights);
            let past = Past { dimension, outputs, raw, scaled: rows, targets, weights, predictions };
            let before = self.mixture.as_ref().and_then(|stage| stage.nearest.as_deref());
            Nearest::learn(unit, size, self.params.rule, past, before).map(Box::new)
        });
        let nearest = nearest.transpose()?;
        let mut stage = Stage { scaling, experts, carried: Vec::new(), nearest };
        let before: Vec<f64> = self.members().map(|expert| expert.cumulative_loss).collect();
        let carried = stage.experts.members().enumerate().map(|(k, expert)| {
            let carried = before.get(k).copied().unwrap_or(self.loss) - stage.unit() * expert.cumulative_loss;
            if outputs == 1 { carried } else { 0.0 }
        });
        stage.carried = carried.collect();
        Ok(stage)
    }
}

impl Stage {
    /// What a squared error of a scaled target is in the target's unit; 1 where there are several.
    fn unit(&self) -> f64 {
        if let [target] = self.scaling.targets[..] { target.scale * target.scale } else { 1.0 }
    }

    /// Gains an output, a copy of output `like` or zero; nothing is changed where one of its parts
    /// cannot.
    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut experts = self.experts.clone();
        experts.add_output(like)?;
        if let Some(nearest) = &mut self.nearest {
            nearest.add_output(like)?;
        }
        self.experts = experts;
        let like = like.and_then(|like| self.scaling.targets.get(like)).copied();
        self.scaling.targets.push(like.unwrap_or(Affine { centre: 0.0, scale: 1.0 }));
        Ok(())
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
        let Some(Stage { scaling, experts, carried, nearest }) = &self.mixture else { return Ok(()) };
        experts.validate()?;
        let fits = experts.dimension() == self.dimension
            && experts.outputs() == outputs
            && scaling.targets.len() == outputs
            && scaling.features.len() == self.dimension
            && carried.len() == experts.members().len();
        Inconsistent::require(fits, WHAT, "its scaling has an entry for each feature and output")?;
        if let Some(nearest) = nearest {
            nearest.validate()?;
            let fits = nearest.dimension() == self.dimension && nearest.outputs() == outputs;
            Inconsistent::require(fits, WHAT, "its windows fit its features and outputs")?;
        }
        scaling.features.iter().chain(&scaling.targets).try_for_each(|affine| {
            affine.centre.validate()?;
            Inconsistent::positive(affine.scale, "scale of a column")
        })
    }
}

impl Regressor for Auto {
    fn problem(&self) -> Problem {
        Problem::squared(self.dimension, self.params.outputs)
    }

    fn dictionary_size(&self) -> usize {
        self.mixture.as_ref().map_or(0, |mixture| {
            mixture.experts.dictionary_size() + mixture.nearest.as_ref().map_or(0, |nearest| nearest.len())
        })
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension)?;
        let Some(stage) = &self.mixture else {
            self.mean(scores);
            return Ok(());
        };
        let mut scaled = std::mem::take(&mut scratch.numbers);
        stage.scaling.rows(x, 1, &mut scaled);
        let predicted = stage.experts.predict_into(&scaled, scratch, scores);
        if let (Ok(()), Some(nearest)) = (&predicted, &stage.nearest) {
            nearest.predict(Row { raw: x, scaled: &scaled }, scratch, scores);
        }
        scratch.numbers = scaled;
        predicted?;
        stage.scaling.undo(scores);
        Ok(())
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

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(_) if self.is_settled() => Err(growth.refused()),
            Growth::Inputs(0) => Ok(()),
            Growth::Inputs(added) => self.widen(added),
            Growth::Output { like } => {
                if let Some(stage) = &mut self.mixture {
                    stage.add_output(like)?;
                }
                self.targets = with_column(&self.targets, self.params.outputs, like);
                self.params.outputs += 1;
                Ok(())
            }
        }
    }
}

impl Variance for Auto {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        let stage = self.mixture.as_ref()?;
        let scaled =
            stage.nearest.as_ref().map_or_else(|| stage.experts.noise(output), |nearest| nearest.noise(output));
        scaled.map(|noise| noise * stage.scaling.targets[output].scale.powi(2))
    }

    /// That of the errors at the nearest examples, or where there is no window that of the grid.
    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        check_input(x, self.dimension)?;
        variances.fill(f64::NAN);
        let Some(stage) = &self.mixture else { return self.predict_into(x, scratch, scores).map(|()| false) };
        let mut scaled = std::mem::take(&mut scratch.numbers);
        stage.scaling.rows(x, 1, &mut scaled);
        let known = match &stage.nearest {
            None => stage.experts.predict_variance_into(&scaled, scratch, scores, variances),
            Some(nearest) => stage.experts.predict_into(&scaled, scratch, scores).map(|()| {
                let row = Row { raw: x, scaled: &scaled };
                nearest.predict(row, scratch, scores);
                nearest.variances(row, scratch, variances)
            }),
        };
        scratch.numbers = scaled;
        let known = known?;
        stage.scaling.undo(scores);
        variances
            .iter_mut()
            .zip(&stage.scaling.targets)
            .for_each(|(variance, target)| *variance *= target.scale.powi(2));
        Ok(known)
    }
}

impl Blocks for Auto {
    /// Blocks end where a stage does; within them the members learn in their blocked passes.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let (mut first, problem) = (0, self.problem());
        while first < rows.len() {
            let most = self.until_stage().unwrap_or(usize::MAX).min(rows.len() - first);
            let learnable = |row: usize| {
                let (x, target) = (rows.input(row), rows.target(row));
                target.weight != 0.0 && problem.check(x, target).is_ok()
            };
            let end = (first..first + most).find(|row| !learnable(*row)).unwrap_or(first + most);
            if end == first {
                // It is refused, or only predicted.
                learn_one_by_one(self, rows.range(first, first + 1), scores)?;
                first += 1;
            } else {
                self.learn_good(rows.range(first, end), |made| scores.extend_from_slice(made))?;
                first = end;
            }
        }
        Ok(())
    }

    fn limit_threads(&mut self, threads: usize) {
        self.threads = threads;
        if let Some(stage) = &mut self.mixture {
            stage.experts.set_threads(threads_of_grid(threads, stage.nearest.is_some()));
        }
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
    advice: "nothing is known; data unscaled",
    start: "`budget=2e6`",
    trial: &["budget=2000"],
    ..Entry::PLAIN
}
.made_by(|_, context, values| Ok(Auto::new(context.dimension, values.parameters(context)?)?));
