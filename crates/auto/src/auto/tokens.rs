//! [`Auto`] on rows with tokens: words, categories, members of lists.
//!
//! Three members learn the tokens of a row: [`Coin`], [`DiagonalKalman`] and [`Pairs`]. `auto`
//! takes the numbers of the row and, beside them, what the words say: for each output the sums of
//! weights over its texts (no numbers, no bins, no constant) of the first two, before the row is
//! learnt. So its Gaussian processes see numbers and words work together. Of numbers a polynomial
//! aggregation mixes the four, each within the targets seen. Of classes the members minimise the
//! logistic loss, and their logits are mixed (`logits.rs`); so is that of the share that `auto`
//! predicts.
//!
//! The members see targets in a unit of their own, the mean and deviation of the first 16 rows and
//! then of the first 256, when they are made anew and learn the rows so far again. Until the 16th
//! row `auto` is alone. A member that refuses a row does not learn it.
//!
//! Cost: that of `auto`; about 10 multiply-adds a token and an output, and 6 a product of two, of
//! which there are `budget/1000` a row at most.

use mercer_core::{Inconsistent, TokenRow, Validate, check_input};
use mercer_experts::{Aggregation, Rule, square_loss_regret};
use mercer_learners::mixture::LARGEST_REGRET;
use mercer_learners::{
    Blocks, Coin, CoinParams, DiagonalKalman, DiagonalKalmanParams, Error, Growth, Input, Loss, Pairs, PairsParams,
    Problem, Regressor, RegressorExt, Scratch, Shape, Target, Tokens, Variance, predict_input,
};

use super::logits::{LogitMixture, logit};
use super::scales::{Affine, weighted};
use super::{Auto, AutoParams};
use crate::local::with_column;

/// Rows after which the unit of the targets is found.
const STAGES: [usize; 2] = [16, 256];
/// Members: `auto` and those of tokens.
const MEMBERS: usize = 4;
/// Multiply-adds of the budget for a product of tokens.
const A_PRODUCT: usize = 1000;

/// [`Auto`] beside members that learn tokens.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutoWithTokens {
    dimension: usize,
    auto: Auto,
    /// What stands where among the inputs of `auto`.
    inputs: Vec<Source>,
    members: TokenMembers,
    /// The units of the targets; none before the 16th row.
    units: Vec<Affine>,
    /// The first rows, until the last stage.
    head: Option<Head>,
    mixer: Mixer,
    /// The least and the largest target so far.
    range: Option<[f64; 2]>,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: Memory,
}

/// What mixes the members.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Mixer {
    /// Of numbers, a polynomial aggregation.
    Numbers(Aggregation),
    /// Of classes, their logits.
    Classes(LogitMixture),
}

/// An input of `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Source {
    /// A number of the row.
    Number(usize),
    /// What the words say by coin betting, of an output.
    Coin(usize),
    /// The same by the filter.
    Kalman(usize),
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct TokenMembers {
    coin: Coin,
    kalman: DiagonalKalman,
    pairs: Pairs,
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Head {
    rows: Vec<TokenRow>,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

/// Memory of a row.
#[derive(Clone, Debug, Default)]
struct Memory {
    inputs: Vec<f64>,
    made: Vec<f64>,
    target: Vec<f64>,
    regrets: Vec<f64>,
    scratch: Scratch,
}

impl Mixer {
    fn loss(&self) -> Loss {
        match self {
            Self::Numbers(_) => Loss::SQUARED,
            Self::Classes(_) => Loss::LOGISTIC,
        }
    }

    /// Turns what `auto` made into logits where these are mixed.
    fn take_dense(&self, made: &mut [f64]) {
        if let Self::Classes(_) = self {
            made.iter_mut().for_each(|made| *made = logit(*made));
        }
    }
}

impl TokenMembers {
    fn new(outputs: usize, budget: usize, loss: Loss) -> Result<Self, Error> {
        let most = (budget / A_PRODUCT).max(1);
        Ok(Self {
            coin: Coin::new(0, CoinParams::default().outputs(outputs).loss(loss))?,
            kalman: DiagonalKalman::new(0, DiagonalKalmanParams::default().outputs(outputs).loss(loss))?,
            pairs: Pairs::new(0, PairsParams::default().outputs(outputs).loss(loss).most(most))?,
        })
    }

    fn all(&self) -> [&dyn Regressor; MEMBERS - 1] {
        [&self.coin, &self.kalman, &self.pairs]
    }

    fn all_mut(&mut self) -> [&mut dyn Regressor; MEMBERS - 1] {
        [&mut self.coin, &mut self.kalman, &mut self.pairs]
    }
}

/// The input of a member.
fn of_tokens(row: &TokenRow) -> Input<'_> {
    Input { numbers: &[], tokens: Some(row) }
}

impl AutoWithTokens {
    /// A learner for rows of `dimension` numbers with tokens.
    ///
    /// # Errors
    /// As [`Auto::new`].
    pub fn new(dimension: usize, params: AutoParams) -> Result<Self, Error> {
        let mixer = Mixer::Numbers(Aggregation::new(MEMBERS, Rule::MlPoly)?);
        Self::with_mixer(dimension, params, mixer)
    }

    /// A learner of classes, as targets ±1 under the logistic loss.
    ///
    /// # Errors
    /// As [`Auto::new`].
    pub fn of_classes(dimension: usize, params: AutoParams) -> Result<Self, Error> {
        Self::with_mixer(dimension, params, Mixer::Classes(LogitMixture::new()))
    }

    fn with_mixer(dimension: usize, params: AutoParams, mixer: Mixer) -> Result<Self, Error> {
        let outputs = params.outputs;
        let numbers = (0..dimension).map(Source::Number);
        let scores = (0..outputs).flat_map(|output| [Source::Coin(output), Source::Kalman(output)]);
        Ok(Self {
            dimension,
            auto: Auto::new(dimension + 2 * outputs, params)?,
            inputs: numbers.chain(scores).collect(),
            members: TokenMembers::new(outputs, params.budget, mixer.loss())?,
            units: Vec::new(),
            head: Some(Head::default()),
            mixer,
            range: None,
            memory: Memory::default(),
        })
    }

    /// The learner of the numbers, and of what the words say.
    #[must_use]
    pub fn auto(&self) -> &Auto {
        &self.auto
    }

    /// Shares of the mixture: of `auto`, coin betting, the filter and the products.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        match &self.mixer {
            Mixer::Numbers(aggregation) => aggregation.weights(),
            Mixer::Classes(mixture) => mixture.weights(),
        }
    }

    fn outputs(&self) -> usize {
        self.auto.params.outputs
    }

    /// Fills the inputs of `auto`.
    fn fill(&self, numbers: &[f64], row: &TokenRow, inputs: &mut Vec<f64>, sums: &mut Vec<f64>) {
        let outputs = self.outputs();
        sums.clear();
        sums.resize(2 * outputs, 0.0);
        let (coin, kalman) = sums.split_at_mut(outputs);
        self.members.coin.sum(row.texts(), coin);
        self.members.kalman.sum(row.texts(), kalman);
        let value = |source: &Source| match *source {
            Source::Number(place) => numbers[place],
            Source::Coin(output) => coin[output],
            Source::Kalman(output) => kalman[output],
        };
        inputs.clear();
        inputs.extend(self.inputs.iter().map(value));
        // What overflows says nothing.
        inputs.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
    }

    /// Puts what a member made in the targets' own units, within the targets seen; logits stay.
    fn undo(&self, made: &mut [f64]) {
        if let Mixer::Classes(_) = self.mixer {
            return;
        }
        let [low, high] = self.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        made.iter_mut().zip(&self.units).for_each(|(made, unit)| *made = unit.undo(*made).clamp(low, high));
    }

    /// `scores ←` the mixture of what the members made, row by row.
    fn mix(&self, made: &[f64], scores: &mut [f64]) {
        match &self.mixer {
            Mixer::Classes(mixture) => mixture.mix(made, scores),
            Mixer::Numbers(aggregation) => {
                if aggregation.mix(made, scores).is_err() {
                    scores.copy_from_slice(&made[..scores.len()]);
                }
            }
        }
    }

    /// Lets the members of tokens learn a row; what each predicted goes behind that of `auto`.
    fn learn_tokens(&mut self, row: &TokenRow, target: Target<'_>, made: &mut [f64], scaled: &mut Vec<f64>) {
        if self.units.is_empty() {
            return;
        }
        scaled.clear();
        scaled.extend(target.y.iter().zip(&self.units).map(|(y, unit)| unit.apply(*y)));
        let outputs = scaled.len();
        let Self { members, memory, .. } = self;
        for (member, made) in members.all_mut().into_iter().zip(made[outputs..].chunks_exact_mut(outputs)) {
            let target = Target::weighted(scaled, target.weight);
            if member.learn_input(of_tokens(row), target, made).is_err()
                && predict_input(member, of_tokens(row), &mut memory.scratch, made).is_err()
            {
                made.fill(f64::NAN);
            }
        }
        made[outputs..].chunks_exact_mut(outputs).for_each(|made| self.undo(made));
    }

    /// Keeps a row; at a stage the units are found, and the members learn the rows so far anew.
    fn keep(&mut self, row: &TokenRow, target: Target<'_>) {
        let outputs = self.outputs();
        let Some(head) = &mut self.head else { return };
        head.rows.push(row.clone());
        head.targets.extend_from_slice(target.y);
        head.weights.push(target.weight);
        if !STAGES.contains(&head.rows.len()) {
            return;
        }
        let head = std::mem::take(head);
        let column = |output: usize| head.targets.iter().skip(output).step_by(outputs).copied();
        self.units = match &self.mixer {
            Mixer::Classes(_) => vec![Affine { centre: 0.0, scale: 1.0 }; outputs],
            Mixer::Numbers(_) => {
                (0..outputs).map(|output| Affine::fit(weighted(column(output), &head.weights))).collect()
            }
        };
        // The parameters were in range before.
        if let Ok(members) = TokenMembers::new(outputs, self.auto.params.budget, self.mixer.loss()) {
            self.members = members;
        }
        let (mut scaled, mut made) = (Vec::new(), vec![0.0; MEMBERS * outputs]);
        for ((row, y), weight) in head.rows.iter().zip(head.targets.chunks_exact(outputs)).zip(&head.weights) {
            self.learn_tokens(row, Target::weighted(y, *weight), &mut made, &mut scaled);
        }
        self.head = (Some(&head.rows.len()) != STAGES.last()).then_some(head);
    }

    /// One round of the mixture, all members having learnt the row.
    fn score(&mut self, made: &[f64], target: Target<'_>, scores: &mut [f64], regrets: &mut Vec<f64>) {
        self.mix(made, scores);
        let aggregation = match &mut self.mixer {
            Mixer::Classes(mixture) => return mixture.learn(made, scores, target),
            Mixer::Numbers(aggregation) => aggregation,
        };
        let regret = |made: &[f64]| {
            let told = made.iter().all(|made| made.is_finite());
            if told { target.weight * square_loss_regret(scores, target.y, made) } else { 0.0 }
        };
        regrets.clear();
        regrets.extend(made.chunks_exact(scores.len()).map(regret));
        if regrets.iter().all(|regret| regret.abs() <= LARGEST_REGRET) {
            let learnt = aggregation.learn(regrets);
            debug_assert!(learnt.is_ok(), "finite regrets of all members are learnt");
        }
        let range = self.range.unwrap_or([f64::INFINITY, f64::NEG_INFINITY]);
        self.range = Some(target.y.iter().fold(range, |[low, high], y| [low.min(*y), high.max(*y)]));
    }

    fn learn(
        &mut self,
        input: Input<'_>,
        target: Target<'_>,
        scores: &mut [f64],
        memory: &mut Memory,
    ) -> Result<(), Error> {
        let none = TokenRow::default();
        let row = input.tokens.unwrap_or(&none);
        let Memory { inputs, made, target: scaled, regrets, .. } = memory;
        self.fill(input.numbers, row, inputs, made);
        let outputs = scores.len();
        made.clear();
        made.resize(MEMBERS * outputs, f64::NAN);
        self.auto.step(inputs, target, &mut made[..outputs])?;
        self.mixer.take_dense(&mut made[..outputs]);
        self.learn_tokens(row, target, made, scaled);
        self.score(made, target, scores, regrets);
        self.keep(row, target);
        Ok(())
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let output = self.outputs();
        let mut auto = self.auto.clone();
        auto.reshape(Growth::Output { like })?;
        auto.reshape(Growth::Inputs(2))?;
        let mut members = self.members.clone();
        members.all_mut().into_iter().try_for_each(|member| member.reshape(Growth::Output { like }))?;
        if let Some(head) = &mut self.head {
            head.targets = with_column(&head.targets, output, like);
        }
        if !self.units.is_empty() {
            let unit = like.and_then(|like| self.units.get(like)).copied();
            self.units.push(unit.unwrap_or(Affine { centre: 0.0, scale: 1.0 }));
        }
        self.inputs.extend([Source::Coin(output), Source::Kalman(output)]);
        (self.auto, self.members) = (auto, members);
        Ok(())
    }
}

impl Tokens for AutoWithTokens {
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(input.numbers, self.dimension)?;
        let none = TokenRow::default();
        let (row, outputs) = (input.tokens.unwrap_or(&none), scores.len());
        let (mut inputs, mut made) = (scratch.lend(self.inputs.len()), scratch.lend(MEMBERS * outputs));
        self.fill(input.numbers, row, &mut inputs, &mut made);
        made.clear();
        made.resize(MEMBERS * outputs, f64::NAN);
        let predicted = self.auto.predict_into(&inputs, scratch, &mut made[..outputs]);
        self.mixer.take_dense(&mut made[..outputs]);
        if predicted.is_ok() && !self.units.is_empty() {
            for (member, made) in self.members.all().into_iter().zip(made[outputs..].chunks_exact_mut(outputs)) {
                if predict_input(member, of_tokens(row), scratch, made).is_err() {
                    made.fill(f64::NAN);
                }
                self.undo(made);
            }
        }
        self.mix(&made, scores);
        scratch.take_back(inputs);
        scratch.take_back(made);
        predicted
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut memory = std::mem::take(&mut self.memory);
        let learnt = self.learn(input, target, scores, &mut memory);
        self.memory = memory;
        learnt
    }

    /// The weights of coin betting and of the filter by their shares, by halves where neither has
    /// one: then their sums speak as inputs of `auto` alone.
    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        let TokenMembers { coin, kalman, .. } = &self.members;
        let weights = [coin.weight(key, output), kalman.weight(key, output)];
        let [_, coin, kalman, _] = *self.weights() else { return None };
        let shares = if coin == 0.0 && kalman == 0.0 { [0.5; 2] } else { [coin, kalman] };
        let sum = shares.iter().zip(weights).filter_map(|(share, weight)| Some(share * weight?)).sum::<f64>();
        (weights != [None; 2]).then(|| sum * self.units.get(output).map_or(1.0, |unit| unit.scale))
    }
}

impl Regressor for AutoWithTokens {
    fn problem(&self) -> Problem {
        let shape = Shape { inputs: self.dimension, outputs: self.outputs() };
        Problem { shape, loss: self.mixer.loss() }
    }

    fn dictionary_size(&self) -> usize {
        let tokens: usize = self.members.all().into_iter().map(Regressor::dictionary_size).sum();
        self.auto.dictionary_size() + tokens
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.predict_input(x.into(), scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.step_input(x.into(), target, scores)
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        Some(self)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        Some(self)
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                self.auto.reshape(growth)?;
                self.inputs.extend((self.dimension..self.dimension + added).map(Source::Number));
                self.dimension += added;
                Ok(())
            }
            Growth::Output { like } => self.add_output(like),
        }
    }
}

impl Validate for AutoWithTokens {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner of numbers and tokens";
        self.auto.validate()?;
        match &self.mixer {
            Mixer::Numbers(aggregation) => aggregation.validate()?,
            Mixer::Classes(mixture) => mixture.validate()?,
        }
        let TokenMembers { coin, kalman, pairs } = &self.members;
        coin.validate()?;
        kalman.validate()?;
        pairs.validate()?;
        let outputs = self.outputs();
        let shape = Shape { inputs: 0, outputs };
        let shaped = |member: &dyn Regressor| member.problem() == Problem { shape, loss: self.mixer.loss() };
        Inconsistent::require(self.members.all().into_iter().all(shaped), WHAT, "its members have its outputs")?;
        let whole = self.auto.dimension == self.inputs.len() && self.weights().len() == MEMBERS;
        let known = |source: &Source| match *source {
            Source::Number(place) => place < self.dimension,
            Source::Coin(output) | Source::Kalman(output) => output < outputs,
        };
        Inconsistent::require(whole && self.inputs.iter().all(known), WHAT, "its inputs are known")?;
        let sound = |unit: &Affine| unit.centre.is_finite() && unit.scale > 0.0 && unit.scale.is_finite();
        let units = self.units.is_empty() || self.units.len() == outputs;
        Inconsistent::require(units && self.units.iter().all(sound), WHAT, "each target has a unit")?;
        let ordered = |[low, high]: [f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        Inconsistent::require(self.range.is_none_or(ordered), WHAT, "targets have a range")?;
        let Some(Head { rows, targets, weights }) = &self.head else { return Ok(()) };
        targets.validate()?;
        let fits = rows.len() < STAGES[1] && targets.len() == rows.len() * outputs && weights.len() == rows.len();
        let weighed = weights.iter().all(|weight| *weight > 0.0 && weight.is_finite());
        Inconsistent::require(fits && weighed, WHAT, "it keeps its first rows until the last stage")?;
        Inconsistent::require((rows.len() < STAGES[0]) == self.units.is_empty(), WHAT, "units come with the 16th row")
    }
}
