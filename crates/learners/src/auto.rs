//! A mixture that sets itself up: what a user without tuning gets.
//!
//! Features and targets come as they are. From the first rows it learns a scaling (features to mean 0 and deviation 1,
//! clipped at ±4; targets likewise, without clipping; values far outside of the others do not count) and takes the median distance `m` of
//! the scaled rows as the unit of widths. Two parts learn side by side, each with half of the budget, and a mixture weighs them.
//!
//! **The grid** ([`Mixture`]), on dictionaries:
//!
//! | members | width | regulariser | size |
//! |---|---|---|---|
//! | [`NonsAld`], `α = 10⁻³`, `U = Y = max |y|` of the first rows | `½m, m, 2m` | `μ = 1` | `J` points at most |
//! | [`Krls`] with a ridge, `ν = 10⁻³` (ridge regression on the same dictionaries) | `½m, m, 2m` | `λ = 0.03, 0.3` | the same |
//! | [`PkawvTaylor`] | `m, 2m` | `λ = 0.03, 0.3` | the highest degree `M ≤ 6` whose `r = C(d + M, M)` fits |
//!
//! **The window**: Gaussian processes on the 32 examples nearest to the input, of the last `N` (Vecchia 1988; Gramacy and Apley 2015; Datta et
//! al. 2016), which learn rough functions that a dictionary of `J` points cannot hold; and [`Fogd`](crate::Fogd) with three steps, which follows
//! changes. The features are weighed by the marginal likelihood of the first rows; nearness is measured once between their ranks, and once between
//! scaled features and the time. Half of the processes learn what grid and FOGD leave of the target. `auto/nearest.rs` has the table.
//!
//! **Honest.** A prediction uses nothing but the rows before it. Scaling, ranks and the weights of features are learnt anew after 16, 64, 256 and
//! 1024 rows (the weights from 256 on) and are
//! fixed from then on; each time both parts are made anew and replay, one by one and predicting before they learn, the rows seen so
//! far (of which 1024 at most are kept). Until the first time the prediction is the mean of the targets.
//! The four rounds that do this cost as much as the rows they replay, and the last two some `6·10⁹` multiply-adds for the weights of features.
//! A feature that later wanders out of the range of the first 1024
//! rows is clipped there: streams in the order of a feature, or with one that grows without bound, are better given as differences.
//!
//! **Budget.** A round costs about `budget` multiply-adds at most (but for those four), whatever the dimension and the length of
//! the stream. Of the grid's half, half sets the largest dictionary `J` (three of them, each with three updates: `15J² + 12Jd`), half the degree of
//! the four Taylor members (`8r²`). The other half sets the window `N`: `2N(d + 1)` and the processes. Where that leaves fewer than 128 rows the grid
//! has the whole budget. The count is of operations and not of seconds, so that a run can be repeated.
//!
//! **Choices.** The members, their regularisers and kernels were chosen on the fourteen regression streams of the project's comparison of quality (casp, calhousing,
//! diamonds, ccpp, cpusmall, elevators, bank, parkinson, year, ailerons; two synthetic drifts, elec2 and elevators in time order); none depends on a
//! stream by name.
//!
//! Memory: `5 budget/16` numbers for the grid, `2N(d + 4)` for the window, and `1024 d` until the scaling is fixed.

mod nearest;
mod ranks;
mod scales;

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{Gaussian, TaylorFeatures, weighted_median_width};

use self::nearest::{Nearest, Past, Row, Size};
use self::scales::{Affine, Scales, weighted};
use crate::aggregation::Rule;
use crate::catalogue::{Entry, Takes, keys};
use crate::learner::{Rows, Target, Targets, check_example, check_input};
use crate::mixture::{Expert, Mixture};
use crate::parameters::parameters;
use crate::{
    AnyRegressor, Error, Krls, KrlsParams, NonsAld, NonsAldParams, ParameterError, PkawvTaylor, Regressor, Scratch,
    TaylorParams,
};

/// Rows after which the scaling is learnt anew.
const STAGES: [usize; 4] = [16, 64, 256, 1024];
const DICTIONARY_WIDTHS: [f64; 3] = [0.5, 1.0, 2.0];
const TAYLOR_WIDTHS: [f64; 2] = [1.0, 2.0];
const RIDGES: [f64; 2] = [0.03, 0.3];
const THRESHOLD: f64 = 1e-3;
const HIGHEST_DEGREE: usize = 6;
/// Multiply-adds a round at most, which is seconds.
const LARGEST_BUDGET: u64 = 1_000_000_000_000;

parameters! {
    /// Parameters of [`Auto`].
    #[derive(Copy)]
    pub struct AutoParams {
        /// How the members' losses become weights.
        rule: Rule = Rule::default(),
        /// Multiply-adds a round, at least 1000.
        budget: usize = 2_000_000,
        /// Nearest examples that the processes on a window of the stream look at, 0 for none.
        #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<4, _, _>"))]
        neighbours: usize = 32,
    }
}

/// A mixture of learners on dictionaries and of Gaussian processes on the nearest examples that chooses scaling, widths and regularisers itself.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Auto {
    dimension: usize,
    params: AutoParams,
    /// The first rows and targets, as they came, while they may be needed again.
    rows: Vec<f64>,
    targets: Vec<f64>,
    /// Their weights; none while all are 1.
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<3, _, _>"))]
    weights: Vec<f64>,
    /// `None` before the first stage.
    mixture: Option<Stage>,
    loss: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "crate::mixture::one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

/// What a stage makes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stage {
    scaling: Scales,
    experts: Mixture<AnyRegressor<Gaussian>>,
    /// Losses of the members before this stage, less those of the replay.
    carried: Vec<f64>,
    /// What predicts beside the grid, where the budget has room for it.
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<4, _, _>"))]
    nearest: Option<Box<Nearest>>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    rows: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    predictions: Vec<f64>,
}

impl Auto {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When the budget is below 1000 or above 10¹².
    pub fn new(dimension: usize, params: AutoParams) -> Result<Self, Error> {
        let budget = params.budget as f64;
        ParameterError::require(params.budget >= 1000, "budget", "at least 1000", budget)?;
        ParameterError::require(params.budget as u64 <= LARGEST_BUDGET, "budget", "at most 1e12", budget)?;
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

    /// The members, none before the first 16 rows. Their losses are in the units of the targets, over all rounds of the stream;
    /// in the first 16 all predicted the mean. Those of the windows and of what forgets are as replayed when the scaling was learnt.
    pub fn members(&self) -> impl Iterator<Item = Expert<'_>> {
        self.mixture.iter().flat_map(|mixture| {
            let unit = mixture.scaling.target.scale * mixture.scaling.target.scale;
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

    /// `Σ (ŷ − y)²`
    #[must_use]
    pub fn cumulative_loss(&self) -> f64 {
        self.loss
    }

    /// The mean of the targets, the prediction before the first stage.
    fn mean(&self) -> f64 {
        if self.targets.is_empty() {
            0.0
        } else {
            Affine::of(weighted(self.targets.iter().copied(), &self.weights)).centre
        }
    }

    /// Rows until the next stage, if there is one.
    fn until_stage(&self) -> Option<usize> {
        let seen = self.targets.len();
        STAGES.into_iter().find(|stage| *stage > seen).map(|stage| stage - seen).filter(|_| !self.is_settled())
    }

    /// Whether the scaling is fixed; no row is kept then.
    fn is_settled(&self) -> bool {
        self.targets.is_empty() && self.mixture.is_some()
    }

    /// Learns rows of positive weight that are fit to be learnt and cross no stage.
    fn learn_good(&mut self, rows: Rows<'_>, mut take: impl FnMut(f64)) -> Result<(), Error> {
        let Some(mut stage) = self.mixture.take() else {
            for row in 0..rows.len() {
                let (prediction, Target { y, weight }) = (self.mean(), rows.target(row));
                take(prediction);
                self.loss += weight * (prediction - y[0]).powi(2);
                self.keep(rows.range(row, row + 1));
            }
            return Ok(());
        };
        let Work { rows: scaled, targets, weights, predictions } = &mut self.work;
        stage.scaling.rows(rows.inputs(), rows.len(), scaled);
        targets.clear();
        weights.clear();
        for Target { y, weight } in rows.targets().iter() {
            targets.push(stage.scaling.target.apply(y[0]));
            weights.push(weight);
        }
        predictions.clear();
        // A target that is not finite when scaled is refused, and leaves no trace.
        let fit = targets.iter().position(|y| !y.is_finite()).unwrap_or(targets.len());
        let scaled = Targets::new(&targets[..fit], &weights[..fit], 1)
            .and_then(|targets| Rows::new(&scaled[..fit * self.dimension], self.dimension, targets))?;
        let mut learnt = if fit == 1 {
            let mut made = [0.0];
            let learnt = stage.experts.learn(scaled.input(0), scaled.target(0), &mut made);
            predictions.extend(learnt.is_ok().then_some(made[0]));
            learnt
        } else {
            stage.experts.learn_rows(scaled, predictions)
        };
        if fit < targets.len() {
            learnt = learnt.and(Err(Error::Diverged));
        }
        for (row, prediction) in predictions.iter().enumerate() {
            let Target { y, weight } = rows.target(row);
            let prediction = match &mut stage.nearest {
                Some(nearest) => {
                    let input = Row { raw: rows.input(row), scaled: scaled.input(row) };
                    nearest.round(input, *prediction, scaled.target(row).y[0], weight)
                }
                None => *prediction,
            };
            let prediction = stage.scaling.target.undo(prediction);
            take(prediction);
            self.loss += weight * (prediction - y[0]).powi(2);
        }
        let made = predictions.len();
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
                self.weights.resize(self.targets.len(), 1.0);
                self.weights.push(weight);
            }
            self.targets.push(y[0]);
        }
        if STAGES.contains(&self.targets.len()) {
            // A mixture that cannot be made or learn the past leaves the one before in place.
            if let Ok(stage) = self.stage() {
                self.mixture = Some(stage);
            }
            if self.targets.len() == STAGES[STAGES.len() - 1] {
                (self.rows, self.targets, self.weights) = (Vec::new(), Vec::new(), Vec::new());
            }
        }
    }

    /// What the processes on the nearest examples may cost, if they have room: half of the budget.
    fn size(&self) -> Option<Size> {
        Size::within(0.5 * self.params.budget as f64, self.dimension, self.params.neighbours)
    }

    /// The multiply-adds of the grid.
    fn grid_budget(&self) -> usize {
        if self.size().is_some() { self.params.budget / 2 } else { self.params.budget }
    }

    fn stage(&mut self) -> Result<Stage, Error> {
        let scaling = Scales::of(self.dimension, &self.rows, &self.targets, &self.weights);
        let (size, budget) = (self.size(), self.grid_budget());
        let Work { rows, targets, predictions, .. } = &mut self.work;
        scaling.rows(&self.rows, self.targets.len(), rows);
        targets.clear();
        targets.extend(self.targets.iter().map(|y| scaling.target.apply(*y)));
        predictions.clear();
        let unit = weighted_median_width(self.dimension, rows, &self.weights);
        let members = grid(self.dimension, unit, targets, budget)?;
        let mut experts = Mixture::new(members, self.params.rule)?;
        experts.set_threads(self.threads);
        let past = Rows::new(rows, self.dimension, Targets::new(targets, &self.weights, 1)?)?;
        experts.learn_rows(past, predictions)?;
        let nearest = size.map(|size| {
            let past = Past { raw: &self.rows, scaled: rows, targets, weights: &self.weights, predictions };
            Nearest::learn(self.dimension, unit, size, self.params.rule, past).map(Box::new)
        });
        let nearest = nearest.transpose()?;
        let unit = scaling.target.scale * scaling.target.scale;
        let before: Vec<f64> = self.members().map(|expert| expert.cumulative_loss).collect();
        let carried = experts
            .members()
            .enumerate()
            .map(|(k, expert)| before.get(k).copied().unwrap_or(self.loss) - unit * expert.cumulative_loss);
        let carried = carried.collect();
        Ok(Stage { scaling, experts, carried, nearest })
    }
}

/// The members, for scaled targets and rows whose distances have the median `unit`.
fn grid(
    dimension: usize,
    unit: f64,
    targets: &[f64],
    budget: usize,
) -> Result<Vec<(String, AnyRegressor<Gaussian>)>, Error> {
    let bound = targets.iter().fold(1.0, |bound: f64, y| bound.max(y.abs()));
    let share = budget as f64 / 2.0;
    // 15J² + 12Jd = share
    let d = dimension as f64;
    let points = ((36.0 * d * d + 15.0 * share).sqrt() - 6.0 * d) / 15.0;
    let max_dictionary = Some((points as usize).max(1));
    let mut members = Vec::new();
    for width in DICTIONARY_WIDTHS {
        let sigma = width * unit;
        let kernel = Gaussian::new(sigma)?;
        let params =
            NonsAldParams::default().alpha(THRESHOLD).radius(bound).label_bound(bound).max_dictionary(max_dictionary);
        members.push((
            format!("nons-ald sigma={sigma:.3} mu={}", params.mu),
            NonsAld::new(kernel, dimension, params)?.into(),
        ));
        for lambda in RIDGES {
            let params = KrlsParams::default().nu(THRESHOLD).lambda(lambda).max_dictionary(max_dictionary);
            members
                .push((format!("krls sigma={sigma:.3} lambda={lambda}"), Krls::new(kernel, dimension, params)?.into()));
        }
    }
    let fits = |degree: &usize| 8.0 * (TaylorFeatures::count(dimension, *degree) as f64).powi(2) <= share;
    // Without a degree that fits, the dictionaries must do.
    let Some(degree) = (1..=HIGHEST_DEGREE).take_while(fits).last() else { return Ok(members) };
    for width in TAYLOR_WIDTHS {
        let sigma = width * unit;
        for lambda in RIDGES {
            let params = TaylorParams::default().sigma(sigma).degree(degree).lambda(lambda);
            members.push((
                format!("pkawv-taylor sigma={sigma:.3} degree={degree} lambda={lambda}"),
                PkawvTaylor::new(dimension, params)?.into(),
            ));
        }
    }
    Ok(members)
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
        let kept = self.targets.len();
        let whole = kept < STAGES[STAGES.len() - 1] && self.rows.len() == kept * self.dimension;
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
            && scaling.features.len() == self.dimension
            && carried.len() == experts.members().len();
        Inconsistent::require(fits, WHAT, "its scaling has an entry for each feature")?;
        if let Some(nearest) = nearest {
            nearest.validate()?;
            Inconsistent::require(nearest.dimension() == self.dimension, WHAT, "its windows fit its features")?;
        }
        scaling.features.iter().chain([&scaling.target]).try_for_each(|affine| {
            affine.centre.validate()?;
            Inconsistent::positive(affine.scale, "scale of a column")
        })
    }
}

impl Regressor for Auto {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn dictionary_size(&self) -> usize {
        self.mixture.as_ref().map_or(0, |mixture| {
            mixture.experts.dictionary_size() + mixture.nearest.as_ref().map_or(0, |nearest| nearest.len())
        })
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension)?;
        let Some(stage) = &self.mixture else {
            scores[0] = self.mean();
            return Ok(());
        };
        let mut scaled = std::mem::take(&mut scratch.numbers);
        stage.scaling.rows(x, 1, &mut scaled);
        let mut predicted = stage.experts.predict_into(&scaled, scratch, scores);
        if let (Ok(()), Some(nearest)) = (&mut predicted, &stage.nearest) {
            scores[0] = nearest.predict(Row { raw: x, scaled: &scaled }, scores[0], scratch);
        }
        scratch.numbers = scaled;
        predicted?;
        scores[0] = stage.scaling.target.undo(scores[0]);
        Ok(())
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let weights = [target.weight];
        let rows = Rows::new(x, self.dimension, Targets::new(target.y, &weights, 1)?)?;
        self.learn_good(rows, |made| scores[0] = made)
    }

    /// Blocks end where a stage does; within them the members learn in their blocked passes.
    fn learn_rows(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let mut first = 0;
        while first < rows.len() {
            let most = self.until_stage().unwrap_or(usize::MAX).min(rows.len() - first);
            let learnable = |row: usize| {
                let (x, target) = (rows.input(row), rows.target(row));
                target.weight != 0.0 && check_example(self, x, target).is_ok()
            };
            let end = (first..first + most).find(|row| !learnable(*row)).unwrap_or(first + most);
            if end == first {
                // It is refused, or only predicted.
                let mut made = [0.0];
                self.learn(rows.input(first), rows.target(first), &mut made)?;
                scores.push(made[0]);
                first += 1;
            } else {
                self.learn_good(rows.range(first, end), |made| scores.push(made))?;
                first = end;
            }
        }
        Ok(())
    }

    fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        if let Some(stage) = &mut self.mixture {
            stage.experts.set_threads(threads);
        }
    }
}

pub(crate) const AUTO: Entry = Entry {
    name: "auto",
    summary: "mixture of dictionaries and nearest examples that chooses scaling, widths and regularisers itself",
    keys: &[
        keys::rule(|| AutoParams::default().rule.into()),
        keys::count(
            "budget",
            "",
            || AutoParams::default().budget.into(),
            "multiply-adds a row, which set the members' sizes",
        )
        .ranging("a whole number ≥ 1000"),
        keys::count(
            "neighbours",
            "k",
            || AutoParams::default().neighbours.into(),
            "nearest examples in a prediction of the processes on a window of the stream; 0 leaves them out",
        )
        .ranging("a whole number ≥ 0"),
    ],
    time: cost!(1.0 budget),
    memory: cost!(1.0 budget),
    source: "experts as in Jézéquel et al. 2019, section 3.1",
    autonomous: true,
    takes: Takes::SQUARED,
    advice: "nothing is known; data unscaled",
    start: "`budget=2e6`",
    trial: &["budget=2000"],
    make: |_, context, values| {
        let params = AutoParams::default().rule(values.named("rule")?).budget(values.count("budget")?);
        let params = params.neighbours(values.count("neighbours")?);
        Ok(Auto::new(context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
