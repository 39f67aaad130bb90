//! A mixture that sets itself up: what a user without tuning gets.
//!
//! Features and targets come as they are. From the first rows it learns a scaling (features to mean 0 and deviation 1,
//! clipped at ±4; targets likewise, without clipping; values far outside of the others do not count), takes the median distance `m` of the scaled rows as the unit of widths, and
//! runs a mixture ([`Mixture`]) over this grid in scaled units:
//!
//! | members | width | regulariser | size |
//! |---|---|---|---|
//! | [`NonsAld`], `α = 10⁻³`, `U = Y = max |y|` of the first rows | `½m, m, 2m` | `μ = 1` | `J` points at most |
//! | [`Krls`] with a ridge, `ν = 10⁻³` (ridge regression on the same dictionaries) | `½m, m, 2m` | `λ = 0.03, 0.3` | the same |
//! | [`PkawvTaylor`] | `m, 2m` | `λ = 0.03, 0.3` | the highest degree `M ≤ 6` whose `r = C(d + M, M)` fits |
//!
//! **Honest.** A prediction uses nothing but the rows before it. The scaling is learnt anew after 16, 64, 256 and 1024 rows and is
//! fixed from then on; each time the mixture is made anew and replays, one by one and predicting before it learns, the rows seen so
//! far (of which 1024 at most are kept). Until the first time the prediction is the mean of the targets.
//! The four rounds that do this cost as much as the rows they replay. A feature that later wanders out of the range of the first 1024
//! rows is clipped there: streams in the order of a feature, or with one that grows without bound, are better given as differences.
//!
//! **Budget.** A round costs about `budget` multiply-adds at most (but for those four), whatever the dimension and the length of
//! the stream: half of it sets the largest dictionary `J` (three of them, each with three updates: `15J² + 12Jd`), half the degree of the four Taylor members (`8r²`).
//! The count is of operations and not of seconds, so that a run can be repeated.
//!
//! The kernel is Gaussian. Memory: `5 budget/8` numbers or so, and `1024 d` until the scaling is fixed.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{Gaussian, TaylorFeatures, weighted_median_width};

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
/// Scaled features are clipped here: a feature far outside what was seen says little, and Taylor features need it near.
const CLIP: f64 = 4.0;
/// Quartile ranges beyond the quartiles where a value counts as an error of measurement: such as a −9999 for a missing one.
const FAR: f64 = 10.0;
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
        budget: usize = 1_000_000,
    }
}

/// A mixture of NONS-ALD, KRLS and PKAWV that chooses scaling, widths and regularisers itself.
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
    /// in the first 16 all predicted the mean.
    pub fn members(&self) -> impl Iterator<Item = Expert<'_>> {
        self.mixture.iter().flat_map(|mixture| {
            let unit = mixture.scaling.target.scale * mixture.scaling.target.scale;
            mixture.experts.members().zip(&mixture.carried).map(move |(expert, carried)| Expert {
                cumulative_loss: carried + unit * expert.cumulative_loss,
                ..expert
            })
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
        for (prediction, Target { y, weight }) in predictions.iter().zip(rows.targets().iter()) {
            let prediction = stage.scaling.target.undo(*prediction);
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

    fn stage(&mut self) -> Result<Stage, Error> {
        let scaling = Scales::of(self.dimension, &self.rows, &self.targets, &self.weights);
        let Work { rows, targets, predictions, .. } = &mut self.work;
        scaling.rows(&self.rows, self.targets.len(), rows);
        targets.clear();
        targets.extend(self.targets.iter().map(|y| scaling.target.apply(*y)));
        predictions.clear();
        let unit = weighted_median_width(self.dimension, rows, &self.weights);
        let members = grid(self.dimension, unit, targets, self.params.budget)?;
        let mut experts = Mixture::new(members, self.params.rule)?;
        experts.set_threads(self.threads);
        let past = Rows::new(rows, self.dimension, Targets::new(targets, &self.weights, 1)?)?;
        experts.learn_rows(past, predictions)?;
        let unit = scaling.target.scale * scaling.target.scale;
        let before: Vec<f64> = self.members().map(|expert| expert.cumulative_loss).collect();
        let carried = experts
            .members()
            .enumerate()
            .map(|(k, expert)| before.get(k).copied().unwrap_or(self.loss) - unit * expert.cumulative_loss);
        let carried = carried.collect();
        Ok(Stage { scaling, experts, carried })
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

/// `v ↦ (v − centre)/scale`
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Affine {
    centre: f64,
    scale: f64,
}

impl Affine {
    /// Mean and standard deviation of values with weights; a constant has scale 1.
    fn of(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        // In units of the largest, so that nothing overflows or vanishes.
        let unit = values.clone().fold(0.0, |unit: f64, (v, _)| unit.max(v.abs()));
        if unit == 0.0 {
            return Self { centre: 0.0, scale: 1.0 };
        }
        let count: f64 = values.clone().map(|(_, weight)| weight).sum();
        let mean = values.clone().map(|(v, weight)| weight * (v / unit)).sum::<f64>() / count;
        let squares = values.map(|(v, weight)| weight * (v / unit - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        let scale = deviation * unit;
        // A deviation of rounding errors is none.
        if deviation > 1e-12 && scale.is_normal() {
            Self { centre: mean * unit, scale }
        } else {
            Self { centre: mean * unit, scale: 1.0 }
        }
    }

    /// [`of`](Self::of) the values that lie near the others.
    fn of_most(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut sorted: Vec<(f64, f64)> = values.collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (low, high) = (sorted[sorted.len() / 4].0, sorted[sorted.len() - 1 - sorted.len() / 4].0);
        let far = FAR * (high - low);
        let near = |v: &(f64, f64)| far == 0.0 || (low - far..=high + far).contains(&v.0);
        Self::of(sorted.iter().copied().filter(near))
    }

    fn apply(self, value: f64) -> f64 {
        let difference = value - self.centre;
        if difference.is_finite() { difference / self.scale } else { value / self.scale - self.centre / self.scale }
    }

    fn undo(self, value: f64) -> f64 {
        self.centre + self.scale * value
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Scales {
    features: Vec<Affine>,
    target: Affine,
}

impl Scales {
    fn of(dimension: usize, rows: &[f64], targets: &[f64], weights: &[f64]) -> Self {
        let column = |j: usize| rows.iter().skip(j).step_by(dimension).copied();
        let features = (0..dimension).map(|j| Affine::of_most(weighted(column(j), weights)));
        Self { features: features.collect(), target: Affine::of_most(weighted(targets.iter().copied(), weights)) }
    }

    /// Scales `count` inputs.
    fn rows(&self, xs: &[f64], count: usize, scaled: &mut Vec<f64>) {
        scaled.clear();
        let d = self.features.len();
        for x in (0..count).map(|row| &xs[row * d..(row + 1) * d]) {
            scaled.extend(x.iter().zip(&self.features).map(|(v, affine)| affine.apply(*v).clamp(-CLIP, CLIP)));
        }
    }
}

/// Values with their weights, 1 where there are none.
fn weighted<'a>(
    values: impl Iterator<Item = f64> + Clone + 'a,
    weights: &'a [f64],
) -> impl Iterator<Item = (f64, f64)> + Clone + 'a {
    values.zip(weights.iter().copied().chain(std::iter::repeat(1.0)))
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
        let Some(Stage { scaling, experts, carried }) = &self.mixture else { return Ok(()) };
        experts.validate()?;
        let fits = experts.dimension() == self.dimension
            && scaling.features.len() == self.dimension
            && carried.len() == experts.members().len();
        Inconsistent::require(fits, WHAT, "its scaling has an entry for each feature")?;
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
        self.mixture.as_ref().map_or(0, |mixture| mixture.experts.dictionary_size())
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension)?;
        let Some(stage) = &self.mixture else {
            scores[0] = self.mean();
            return Ok(());
        };
        let mut scaled = std::mem::take(&mut scratch.numbers);
        stage.scaling.rows(x, 1, &mut scaled);
        let predicted = stage.experts.predict_into(&scaled, scratch, scores);
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
    summary: "mixture of NONS-ALD, KRLS and PKAWV that chooses scaling, widths and regularisers itself",
    keys: &[
        keys::rule(|| AutoParams::default().rule.into()),
        keys::count(
            "budget",
            "",
            || AutoParams::default().budget.into(),
            "multiply-adds a row, which set the members' sizes",
        )
        .ranging("a whole number ≥ 1000"),
    ],
    time: cost!(1.0 budget),
    memory: cost!(0.625 budget),
    source: "experts as in Jézéquel et al. 2019, section 3.1",
    autonomous: true,
    takes: Takes::SQUARED,
    advice: "nothing is known; data unscaled",
    start: "`budget=1e6`",
    trial: &["budget=2000"],
    make: |_, context, values| {
        let params = AutoParams::default().rule(values.named("rule")?).budget(values.count("budget")?);
        Ok(Auto::new(context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
