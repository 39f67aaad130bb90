//! A mixture that sets itself up: what a user without tuning gets.
//!
//! Features and targets come as they are. From the first rows it learns a scaling (features to mean 0 and deviation 1,
//! clipped at ±4; targets likewise, without clipping; values far outside of the others do not count), takes the median distance `m` of the scaled rows as the unit of widths, and
//! runs a mixture ([`Experts`]) over this grid in scaled units:
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

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{Gaussian, TaylorFeatures, median_width};

use super::{Expert, Experts};
use crate::experts::Rule;
use crate::regression::regressor::{check_block, check_example, check_input};
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
const LARGEST_BUDGET: usize = 1_000_000_000_000;

/// Parameters of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutoParams {
    /// How the members' losses become weights.
    pub rule: Rule,
    /// Multiply-adds a round, at least 1000.
    pub budget: usize,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self { rule: Rule::default(), budget: 1_000_000 }
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
    /// `None` before the first stage.
    mixture: Option<Mixture>,
    loss: f64,
    #[cfg_attr(feature = "serde", serde(skip, default = "super::one"))]
    threads: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

/// What a stage makes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Mixture {
    scaling: Scaling,
    experts: Experts<Gaussian>,
    /// Losses of the members before this stage, less those of the replay.
    carried: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    rows: Vec<f64>,
    targets: Vec<f64>,
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
        ParameterError::require(params.budget <= LARGEST_BUDGET, "budget", "at most 1e12", budget)?;
        let kept = STAGES[STAGES.len() - 1];
        Ok(Self {
            dimension,
            params,
            rows: Vec::with_capacity(kept * dimension),
            targets: Vec::with_capacity(kept),
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
        if self.targets.is_empty() { 0.0 } else { Affine::of(self.targets.iter().copied()).centre }
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

    /// Learns rows that are fit to be learnt and cross no stage.
    fn learn(&mut self, xs: &[f64], ys: &[f64], mut take: impl FnMut(f64)) -> Result<(), Error> {
        let Some(mut mixture) = self.mixture.take() else {
            let d = self.dimension;
            for (i, y) in ys.iter().enumerate() {
                let prediction = self.mean();
                take(prediction);
                self.loss += (prediction - y).powi(2);
                self.keep(&xs[i * d..(i + 1) * d], &[*y]);
            }
            return Ok(());
        };
        let Work { rows, targets, predictions } = &mut self.work;
        mixture.scaling.rows(xs, rows);
        targets.clear();
        targets.extend(ys.iter().map(|y| mixture.scaling.target.apply(*y)));
        predictions.clear();
        // A target that is not finite when scaled is refused, and leaves no trace.
        let fit = targets.iter().position(|y| !y.is_finite()).unwrap_or(targets.len());
        let d = self.dimension;
        let mut learnt = Ok(());
        if fit == 1 {
            learnt = mixture.experts.predict_then_update(&rows[..d], targets[0]).map(|made| predictions.push(made));
        } else if fit > 1 {
            learnt = mixture.experts.learn_block(&rows[..fit * d], &targets[..fit], predictions);
        }
        if fit < targets.len() {
            learnt = learnt.and(Err(Error::Diverged));
        }
        for (prediction, y) in predictions.iter().zip(ys) {
            let prediction = mixture.scaling.target.undo(*prediction);
            take(prediction);
            self.loss += (prediction - y).powi(2);
        }
        let made = predictions.len();
        let settled = self.targets.is_empty();
        self.mixture = Some(mixture);
        if !settled {
            self.keep(&xs[..made * d], &ys[..made]);
        }
        learnt
    }

    /// Keeps rows, and makes the mixture anew when they complete a stage.
    fn keep(&mut self, xs: &[f64], ys: &[f64]) {
        self.rows.extend_from_slice(xs);
        self.targets.extend_from_slice(ys);
        if STAGES.contains(&self.targets.len()) {
            // A mixture that cannot be made or learn the past leaves the one before in place.
            if let Ok(mixture) = self.stage() {
                self.mixture = Some(mixture);
            }
            if self.targets.len() == STAGES[STAGES.len() - 1] {
                (self.rows, self.targets) = (Vec::new(), Vec::new());
            }
        }
    }

    fn stage(&mut self) -> Result<Mixture, Error> {
        let scaling = Scaling::of(self.dimension, &self.rows, &self.targets);
        let Work { rows, targets, predictions } = &mut self.work;
        scaling.rows(&self.rows, rows);
        targets.clear();
        targets.extend(self.targets.iter().map(|y| scaling.target.apply(*y)));
        predictions.clear();
        let mut experts = Experts::new(grid(self.dimension, rows, targets, self.params.budget)?, self.params.rule)?;
        experts.set_threads(self.threads);
        experts.learn_block(rows, targets, predictions)?;
        let unit = scaling.target.scale * scaling.target.scale;
        let before: Vec<f64> = self.members().map(|expert| expert.cumulative_loss).collect();
        let carried = experts
            .members()
            .enumerate()
            .map(|(k, expert)| before.get(k).copied().unwrap_or(self.loss) - unit * expert.cumulative_loss);
        let carried = carried.collect();
        Ok(Mixture { scaling, experts, carried })
    }
}

/// The members, for scaled rows and targets.
fn grid(
    dimension: usize,
    rows: &[f64],
    targets: &[f64],
    budget: usize,
) -> Result<Vec<(String, AnyRegressor<Gaussian>)>, Error> {
    let unit = median_width(dimension, rows);
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
        let params = NonsAldParams { mu: 1.0, alpha: THRESHOLD, radius: bound, label_bound: bound, max_dictionary };
        members.push((
            format!("nons-ald sigma={sigma:.3} mu={}", params.mu),
            NonsAld::new(kernel, dimension, params)?.into(),
        ));
        for lambda in RIDGES {
            let params = KrlsParams { nu: THRESHOLD, lambda, forgetting: 1.0, max_dictionary };
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
            let params = TaylorParams { sigma, degree, lambda, ..TaylorParams::default() };
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
    /// Mean and standard deviation of the values; a constant has scale 1.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        // In units of the largest, so that nothing overflows or vanishes.
        let unit = values.clone().fold(0.0, |unit: f64, v| unit.max(v.abs()));
        if unit == 0.0 {
            return Self { centre: 0.0, scale: 1.0 };
        }
        let count = values.clone().count() as f64;
        let mean = values.clone().map(|v| v / unit).sum::<f64>() / count;
        let deviation = (values.map(|v| (v / unit - mean).powi(2)).sum::<f64>() / count).sqrt();
        let scale = deviation * unit;
        // A deviation of rounding errors is none.
        if deviation > 1e-12 && scale.is_normal() {
            Self { centre: mean * unit, scale }
        } else {
            Self { centre: mean * unit, scale: 1.0 }
        }
    }

    /// [`of`](Self::of) the values that lie near the others.
    fn of_most(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[sorted.len() / 4], sorted[sorted.len() - 1 - sorted.len() / 4]);
        let far = FAR * (high - low);
        let near = |v: &f64| far == 0.0 || (low - far..=high + far).contains(v);
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
struct Scaling {
    features: Vec<Affine>,
    target: Affine,
}

impl Scaling {
    fn of(dimension: usize, rows: &[f64], targets: &[f64]) -> Self {
        let column = |j: usize| Affine::of_most(rows.iter().skip(j).step_by(dimension).copied());
        Self { features: (0..dimension).map(column).collect(), target: Affine::of_most(targets.iter().copied()) }
    }

    fn rows(&self, xs: &[f64], scaled: &mut Vec<f64>) {
        scaled.clear();
        for x in xs.chunks_exact(self.features.len().max(1)) {
            scaled.extend(x.iter().zip(&self.features).map(|(v, affine)| affine.apply(*v).clamp(-CLIP, CLIP)));
        }
    }
}

impl Validate for Auto {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner that chooses itself";
        Inconsistent::size(self.dimension, WHAT)?;
        Inconsistent::require((1000..=LARGEST_BUDGET).contains(&self.params.budget), WHAT, "its budget is in range")?;
        let kept = self.targets.len();
        let whole = kept < STAGES[STAGES.len() - 1] && self.rows.len() == kept * self.dimension;
        Inconsistent::require(whole, WHAT, "it keeps rows with their targets until the last stage")?;
        self.rows.validate()?;
        self.targets.validate()?;
        Inconsistent::require(self.loss >= 0.0, WHAT, "its loss is not negative")?;
        let Some(Mixture { scaling, experts, carried }) = &self.mixture else { return Ok(()) };
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

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension)?;
        let Some(mixture) = &self.mixture else { return Ok(self.mean()) };
        let mut scaled = std::mem::take(&mut scratch.scaled);
        mixture.scaling.rows(x, &mut scaled);
        let prediction = mixture.experts.predict_with(&scaled, scratch);
        scratch.scaled = scaled;
        Ok(mixture.scaling.target.undo(prediction?))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension)?;
        let mut prediction = 0.0;
        self.learn(x, &[y], |made| prediction = made)?;
        Ok(prediction)
    }

    /// Blocks end where a stage does; within them the members learn in their blocked passes.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension;
        check_block(xs, ys, d)?;
        let mut first = 0;
        while first < ys.len() {
            let most = self.until_stage().unwrap_or(usize::MAX).min(ys.len() - first);
            let row = |i: usize| check_example(&xs[i * d..(i + 1) * d], ys[i], d);
            let fit = (first..first + most).find(|i| row(*i).is_err()).unwrap_or(first + most);
            if fit == first {
                return row(first);
            }
            self.learn(&xs[first * d..fit * d], &ys[first..fit], |prediction| predictions.push(prediction))?;
            first = fit;
        }
        Ok(())
    }

    fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        if let Some(mixture) = &mut self.mixture {
            mixture.experts.set_threads(threads);
        }
    }
}
