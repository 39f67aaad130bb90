//! Forecasters as experts: a mixture that competes with the best of them, so that `γ` and `β` need
//! not be known.
//!
//! The mixture predicts `ŷ = Σ w_k ŷ_k`; the weights are learnt from the linearised regrets
//! `2⟨ŷ − y, ŷ − ŷ_k⟩` of the square loss (see [`crate::experts`]). Nothing is learnt while an
//! expert still warms up, or of a missing output; each expert puts its own prediction in the place
//! of what is missing, so that a forecast several steps ahead is the mixture of theirs. An expert
//! that refuses an observation (its update would leave the range of numbers) is dropped for good,
//! unless every one does: then the mixture refuses it as they do, and nothing is changed.
//! [`ForecastMixture::sharing`] lets it follow a system that changes.
//!
//! Cost: that of the experts.

use mercer_core::{Inconsistent, ParameterError, Validate, parameters, validate_nested};

use crate::Error;
use crate::forecaster::{check_observation, check_prediction};
use crate::{Epoch, EpochSchedule, ForecastScratch, Forecaster, Forgetting, InputParams, Opf, OpfParams};
use mercer_experts::{Aggregation, Rule, Share};

parameters! {
    /// Parameters of [`ForecastMixture::grid`]: one [`Opf`] for each `γ` and `β`. The defaults of
    /// the schedule and of `λ` are those of \[Q\] §5.
    pub struct GridParams {
        /// Epochs and lags; its `β` is used when `betas` is empty.
        schedule: EpochSchedule = EpochSchedule::default(),
        /// Regulariser `λ`, between 1e−40 and 1e40.
        lambda: f64 = 1.0,
        /// The factors `γ` tried.
        gammas: Vec<f64> = vec![0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0],
        /// The `β` tried; empty for the schedule's alone.
        betas: Vec<f64> = Vec::new(),
        /// True if an expert forgets inputs as it does outputs. Otherwise all forget them as
        /// [`InputParams::forgetting`] says.
        gamma_for_inputs: bool = true,
        /// Rule that turns regrets into weights.
        rule: Rule = Rule::MlPoly,
    }
}

/// A mixture of forecasters of the same series.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "F: serde::Deserialize<'de>")))]
pub struct ForecastMixture<F> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    experts: Vec<F>,
    aggregation: Aggregation,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: MixtureWork,
}

#[derive(Clone, Debug, Default)]
struct MixtureWork {
    predictions: Vec<f64>,
    regrets: Vec<f64>,
    /// The experts that refused the observation.
    refused: Vec<usize>,
}

impl ForecastMixture<Opf> {
    /// [`Opf`] for `outputs` numbers over a grid.
    ///
    /// ```
    /// use mercer_forecast::{ForecastMixture, Forecaster, GridParams, Opf};
    ///
    /// // Nothing is known of the system: a grid of forgetting factors, weighted by what each is worth.
    /// let mut forecaster = ForecastMixture::<Opf>::grid(1, &GridParams::default())?;
    /// let (mut prediction, mut squares) = ([0.0], 0.0);
    /// for k in 0..1000 {
    ///     let y = [(0.05 * f64::from(k)).sin() + (0.31 * f64::from(k)).cos()];
    ///     forecaster.predict_then_observe(&[], &y, &mut prediction)?;
    ///     if k >= 500 {
    ///         squares += (prediction[0] - y[0]).powi(2);
    ///     }
    /// }
    /// assert!(squares / 500.0 < 1e-4, "{squares}");
    /// let ahead = forecaster.forecast(7, &[])?; // the next seven outputs
    /// assert_eq!(ahead.len(), 7);
    /// # Ok::<(), mercer_forecast::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter is outside its range, or the grid is empty.
    pub fn grid(outputs: usize, params: &GridParams) -> Result<Self, Error> {
        Self::on_grid(params, |params, _| Opf::new(outputs, params))
    }

    /// The same for a system with inputs.
    ///
    /// # Errors
    /// When a parameter is outside its range, or the grid is empty.
    pub fn grid_with_inputs(outputs: usize, inputs: &InputParams, params: &GridParams) -> Result<Self, Error> {
        Self::on_grid(params, |opf, gamma| {
            let own = Forgetting::Scalar(gamma);
            let forgetting = if params.gamma_for_inputs { own } else { inputs.forgetting.clone() };
            Opf::with_inputs(outputs, &inputs.clone().forgetting(forgetting), opf)
        })
    }

    fn on_grid(params: &GridParams, make: impl Fn(&OpfParams, f64) -> Result<Opf, Error>) -> Result<Self, Error> {
        let betas = if params.betas.is_empty() { &[params.schedule.beta][..] } else { &params.betas };
        let mut experts = Vec::with_capacity(betas.len() * params.gammas.len());
        for (beta, gamma) in betas.iter().flat_map(|beta| params.gammas.iter().map(move |gamma| (*beta, *gamma))) {
            let schedule = EpochSchedule { beta, ..params.schedule };
            experts.push(make(
                &OpfParams::default().schedule(schedule).lambda(params.lambda).forgetting(Forgetting::Scalar(gamma)),
                gamma,
            )?);
        }
        Self::new(experts, params.rule)
    }
}

impl<F> ForecastMixture<F> {
    /// The same mixture with each expert put in another type.
    pub(super) fn map<G>(self, change: impl FnMut(F) -> G) -> ForecastMixture<G> {
        let experts = self.experts.into_iter().map(change).collect();
        ForecastMixture { experts, aggregation: self.aggregation, work: self.work }
    }
}

impl<F: Forecaster> ForecastMixture<F> {
    /// A mixture of `experts`, of equal weight to begin with.
    ///
    /// # Errors
    /// When there is none, or they differ in what they predict, in their inputs or in how far they
    /// are.
    pub fn new(experts: Vec<F>, rule: Rule) -> Result<Self, Error> {
        let aggregation = Aggregation::new(experts.len(), rule)?;
        let system = |expert: &F| (expert.outputs(), expert.inputs(), expert.feed_through(), expert.time());
        let same = experts.iter().filter(|expert| system(expert) == system(&experts[0])).count();
        ParameterError::require(
            same == experts.len(),
            "experts",
            "forecasters of one system at one time",
            same as f64,
        )?;
        Ok(Self { experts, aggregation, work: MixtureWork::default() })
    }

    /// The same mixture, in which all experts get a share of the weight after each round, so that
    /// it follows a best expert that changes: see [`Aggregation::sharing`].
    ///
    /// # Errors
    /// When the share is not in `[0, 1)`, or not 0 under [`Rule::MlPoly`].
    pub fn sharing(self, share: Share) -> Result<Self, ParameterError> {
        Ok(Self { aggregation: self.aggregation.sharing(share)?, ..self })
    }

    /// The same mixture, in which no round decides the weights for good: see
    /// [`Aggregation::recovering`].
    #[must_use]
    pub fn recovering(self) -> Self {
        Self { aggregation: self.aggregation.recovering(), ..self }
    }

    /// The weights of the next mixture; they sum to 1.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.aggregation.weights()
    }

    /// The experts; one that was dropped stays as it was then.
    #[must_use]
    pub fn experts(&self) -> &[F] {
        &self.experts
    }

    fn actives(&self) -> impl Iterator<Item = (usize, &F)> {
        self.experts.iter().enumerate().filter(|(k, _)| self.aggregation.is_active(*k))
    }

    /// An expert that is still there.
    fn representative(&self) -> &F {
        self.actives().map(|(_, expert)| expert).next().unwrap_or(&self.experts[0])
    }
}

impl<F: Forecaster + Clone + Validate> Validate for ForecastMixture<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "mixture of forecasters";
        validate_nested(|| self.experts.validate())?;
        self.aggregation.validate()?;
        let whole = self.experts.len() == self.aggregation.weights().len();
        Inconsistent::require(whole, WHAT, "each expert has a weight")?;
        let system = |expert: &F| (expert.outputs(), expert.inputs(), expert.feed_through());
        let same = self.experts.iter().all(|expert| system(expert) == system(&self.experts[0]));
        let time = self.representative().time();
        let together = self.actives().all(|(_, expert)| expert.time() == time);
        Inconsistent::require(same && together, WHAT, "its experts are of one system at one time")?;
        Inconsistent::require(self.outputs() > 0, WHAT, "it has an output")
    }
}

impl<F: Forecaster + Clone> Forecaster for ForecastMixture<F> {
    fn outputs(&self) -> usize {
        self.experts[0].outputs()
    }
    fn inputs(&self) -> usize {
        self.experts[0].inputs()
    }
    fn feed_through(&self) -> bool {
        self.experts[0].feed_through()
    }
    fn time(&self) -> usize {
        self.representative().time()
    }
    /// When every expert is.
    fn warmed_up(&self) -> bool {
        self.actives().all(|(_, expert)| expert.warmed_up())
    }
    /// The largest number of any expert.
    fn lags(&self) -> usize {
        self.actives().map(|(_, expert)| expert.lags()).max().unwrap_or(0)
    }
    /// Epochs of the expert with the most lags.
    fn epochs(&self) -> &[Epoch] {
        let longest = self.actives().map(|(_, expert)| expert).max_by_key(|expert| expert.lags());
        longest.map_or(&[], |expert| expert.epochs())
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        let m = prediction.len();
        scratch.with_buffer(|predictions, scratch| {
            predictions.resize(self.experts.len() * m, 0.0);
            let mut refusal = mercer_experts::Error::NoExpertLeft.into();
            for ((k, expert), own) in self.experts.iter().enumerate().zip(predictions.chunks_exact_mut(m)) {
                if self.aggregation.is_active(k)
                    && let Err(error) = expert.predict_with(input, own, scratch)
                {
                    // The mixture leaves out what is not finite.
                    own.fill(f64::NAN);
                    refusal = error;
                }
            }
            self.aggregation.mix(predictions, prediction).map_err(|error| match error {
                mercer_experts::Error::NoExpertLeft => refusal,
                error => error.into(),
            })
        })
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        check_observation(self, input, output)?;
        let m = prediction.len();
        let learns = self.warmed_up() && !output.iter().all(|y| y.is_nan());
        let MixtureWork { predictions, regrets, refused } = &mut self.work;
        predictions.clear();
        predictions.resize(self.experts.len() * m, 0.0);
        refused.clear();
        refused.reserve(self.experts.len());
        let (mut taken, mut refusal) = (0, mercer_experts::Error::NoExpertLeft.into());
        for (k, (expert, own)) in self.experts.iter_mut().zip(predictions.chunks_exact_mut(m)).enumerate() {
            if !self.aggregation.is_active(k) {
                continue;
            }
            match expert.predict_then_observe(input, output, own) {
                Ok(()) => taken += 1,
                Err(error) => {
                    refused.push(k);
                    refusal = error;
                }
            }
        }
        if taken == 0 {
            return Err(refusal);
        }
        for k in refused.iter() {
            self.aggregation.drop_expert(*k)?;
        }
        self.aggregation.mix(predictions, prediction)?;
        if !learns {
            return Ok(());
        }
        regrets.clear();
        regrets.extend(predictions.chunks_exact(m).map(|own| {
            let terms = prediction.iter().zip(output).zip(own).filter(|((_, y), _)| !y.is_nan());
            2.0 * terms.map(|((mixed, y), own)| (mixed - y) * (mixed - own)).sum::<f64>()
        }));
        // Where every regret is beyond the range of numbers, the round teaches the weights nothing;
        // the experts have taken it.
        match self.aggregation.learn(regrets) {
            Err(mercer_experts::Error::NoExpertLeft) => Ok(()),
            learnt => Ok(learnt?),
        }
    }
    crate::forecaster::by_missing!();
}
