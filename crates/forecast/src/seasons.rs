//! [`SeasonMixture`]s of several outputs, with known inputs.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_experts::OutlierScreen;

use crate::evidence::Evidence;
use crate::forecaster::{LARGEST, check_inputs, check_observation, check_prediction};
use crate::known::{Effect, InputEffect};
use crate::{Epoch, Error, ForecastParts, ForecastScratch, Forecaster, SeasonMixture, SeasonParams, SharedWeights};

/// A [`SeasonMixture`] for each output. Inputs are known in advance, such as promotions, holidays
/// or prices: the input of a row acts on its outputs. The linear effect of the inputs is learnt
/// beside the mixture and taken off before it. A second mixture knows no inputs, and each number of
/// steps takes from both what they were worth, so that inputs which tell nothing cost little.
///
/// A column that begins late, or is never there, does not change the others. A value far beyond all
/// others is held back, and a new level followed with all that was learnt; where an output leaves a
/// constant, its mixture begins anew.
///
/// ```
/// use mercer_forecast::{Forecaster, Periods, SeasonParams, Seasons};
///
/// let params = SeasonParams::default().periods(Periods::Given(vec![7])).horizons(7);
/// let mut sales = Seasons::new(1, 1, &params)?;
/// for t in 0..200_u32 {
///     let promotion = f64::from(t % 9 == 4);
///     sales.observe(&[promotion], &[50.0 + f64::from(t % 7) + 30.0 * promotion])?;
/// }
/// let ahead = sales.forecast(2, &[0.0, 1.0])?; // a promotion on the second day
/// assert!((ahead[0] - 54.0).abs() < 1.0 && (ahead[1] - 85.0).abs() < 1.0, "{ahead:?}");
/// # Ok::<(), mercer_forecast::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Seasons {
    inputs: usize,
    time: usize,
    columns: Vec<SeasonColumn>,
}

/// An output.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SeasonColumn {
    /// Mixture of the outputs less the effect of their inputs.
    mixture: SeasonMixture,
    /// `None` without inputs.
    known: Option<Box<KnownInputs>>,
    negative: bool,
    /// Values that are implausible by those before them count as missing.
    screen: OutlierScreen,
    /// The number of these values.
    held: u64,
}

/// Facts about the inputs of an output.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct KnownInputs {
    effect: Effect,
    evidence: Evidence,
}

impl SeasonColumn {
    /// What is known of the inputs: nothing while forecasts are the last value.
    fn known(&self) -> Option<&KnownInputs> {
        self.known.as_deref().filter(|_| self.mixture.warmed_up())
    }

    /// The share of the forecast with the inputs, so many steps ahead.
    fn share(&self, step: usize) -> f64 {
        self.known().map_or(1.0, |known| known.evidence.share(step))
    }

    /// 0 while no output was negative.
    fn floor(&self) -> Option<f64> {
        (!self.negative && self.mixture.is_begun()).then_some(0.0)
    }

    fn forecast<'a>(&self, path: &mut [f64], input: impl Fn(usize) -> &'a [f64], scratch: &mut ForecastScratch) {
        self.mixture.forecast_into(path, scratch);
        let floor = self.floor();
        let Some(KnownInputs { effect, evidence }) = self.known() else {
            path.iter_mut().for_each(|y| *y = finish(*y, 0.0, floor));
            return;
        };
        scratch.with_buffer(|without, scratch| {
            without.clear();
            without.resize(path.len(), 0.0);
            evidence.without.forecast_into(without, scratch);
            for (step, (y, without)) in path.iter_mut().zip(&*without).enumerate() {
                let share = evidence.share(step + 1);
                let with = finish(*y, effect.evaluate(input(step)), floor);
                *y = share * with + (1.0 - share) * finish(*without, 0.0, floor);
            }
        });
    }

    /// The parts of a forecast.
    fn parts<'a>(&self, path: &[f64], input: impl Fn(usize) -> &'a [f64]) -> ForecastParts {
        let Some(KnownInputs { effect, evidence }) = self.known() else {
            let mut parts = self.mixture.parts(path);
            parts.inputs = vec![vec![0.0; path.len()]; self.known.as_ref().map_or(0, |known| known.effect.inputs())];
            return parts;
        };
        let each: Vec<Vec<f64>> = (0..path.len()).map(|step| effect.each(input(step))).collect();
        let left: Vec<f64> = path.iter().zip(&each).map(|(y, each)| y - each.iter().sum::<f64>()).collect();
        let mut parts = self.mixture.parts(&left);
        let of_input = |i: usize| each.iter().map(|each| each[i]).collect();
        parts.inputs = (0..effect.inputs()).map(of_input).collect();
        let shares: Vec<f64> = (1..=path.len()).map(|step| evidence.share(step)).collect();
        parts.mix(&evidence.without.parts(path), &shares);
        parts
    }

    /// Learns a row, and returns its prediction.
    fn learn(&mut self, input: &[f64], observed: Option<f64>) -> f64 {
        let constant = self.screen.waiting().and_then(|_| self.screen.range()).map(|(constant, _)| constant);
        let held = observed.is_some_and(|y| self.screen.observe(y) < 1.0);
        self.held += u64::from(held);
        let observed = observed.filter(|_| !held);
        let (by_input, floor) = (self.known().map_or(0.0, |known| known.effect.evaluate(input)), self.floor());
        let left = constant.zip(observed).is_some_and(|(constant, y)| constant != y);
        let leaves = left.then(|| self.mixture.path(1)[0]);
        let share = self.share(1);
        if left {
            self.mixture.begin_anew();
            self.known.iter_mut().for_each(|known| known.evidence.begin_anew());
        }
        let rest = observed.map(|y| (y - by_input).clamp(-LARGEST, LARGEST));
        let counts = rest.map(|rest| self.mixture.counts(rest) + by_input);
        if let Some(KnownInputs { effect, evidence }) = self.known.as_deref_mut() {
            evidence.foretell(&self.mixture, effect.coefficients());
        }
        let made = self.mixture.step(rest);
        let mut prediction = finish(leaves.unwrap_or(made), by_input, floor);
        self.negative |= counts.is_some_and(|y| y < 0.0);
        if let Some(KnownInputs { effect, evidence }) = self.known.as_deref_mut() {
            let gap = evidence.without.gap();
            let without = finish(evidence.without.step(observed), 0.0, floor);
            if leaves.is_none() {
                evidence.learn(counts, (gap, [prediction, without]), |coefficients| {
                    effect.evaluate_by(coefficients, input)
                });
                prediction = share * prediction + (1.0 - share) * without;
            }
            effect.learn(input, counts, self.mixture.periods().first().copied());
        }
        prediction
    }
}

/// A forecast with the effect of its input.
fn finish(forecast: f64, by_input: f64, floor: Option<f64>) -> f64 {
    (forecast + by_input).clamp(-LARGEST, LARGEST).max(floor.unwrap_or(f64::NEG_INFINITY))
}

impl Seasons {
    /// A mixture for each of `outputs` columns, with `inputs` known numbers a row.
    ///
    /// # Errors
    /// When a parameter is outside its range, or there is no output.
    pub fn new(outputs: usize, inputs: usize, params: &SeasonParams) -> Result<Self, ParameterError> {
        ParameterError::at_least_one("outputs", outputs)?;
        ParameterError::require(inputs <= MOST_INPUTS, "inputs", "at most 1000", inputs as f64)?;
        let known = (inputs > 0).then(|| {
            let evidence = Evidence::new(params)?;
            Ok::<_, ParameterError>(Box::new(KnownInputs { effect: Effect::new(inputs), evidence }))
        });
        let column = SeasonColumn {
            mixture: SeasonMixture::new(params.clone())?,
            known: known.transpose()?,
            negative: false,
            screen: OutlierScreen::default(),
            held: 0,
        };
        Ok(Self { inputs, time: 0, columns: vec![column; outputs] })
    }

    /// Values that were taken for wrong, and counted as missing.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.columns.iter().map(|column| column.held + column.mixture.surprises().0 as u64).sum()
    }

    /// Times that an output left its level for another one, which was followed.
    #[must_use]
    pub fn shifts(&self) -> u64 {
        self.columns.iter().map(|column| column.mixture.surprises().1 as u64).sum()
    }

    /// The mixture of an output.
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn mixture(&self, output: usize) -> &SeasonMixture {
        &self.columns[output].mixture
    }

    /// Seasons that an output has at most.
    #[must_use]
    pub fn most_seasons(&self) -> usize {
        self.columns.iter().map(|column| column.mixture.params().periods.most()).max().unwrap_or(0)
    }

    /// Begins with the weights of other series: see [`SeasonMixture::begin_like`].
    pub fn begin_like(&mut self, shared: &SharedWeights) {
        for SeasonColumn { mixture, known, .. } in &mut self.columns {
            let without = known.iter_mut().map(|known| &mut known.evidence.without);
            std::iter::once(mixture).chain(without).for_each(|mixture| mixture.begin_like(shared));
        }
    }

    /// Distance of the quantile of `p` from the forecast of an output `step ≥ 1` steps ahead.
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn offset(&self, output: usize, p: f64, step: usize) -> f64 {
        let column = &self.columns[output];
        let with = column.mixture.offset(p, step);
        let Some(KnownInputs { evidence, .. }) = column.known() else { return with };
        let share = evidence.share(step);
        share * with + (1.0 - share) * evidence.without.offset(p, step)
    }

    /// The effect of each input on an output: see [`InputEffect`].
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn effects(&self, output: usize) -> Vec<InputEffect> {
        let column = &self.columns[output];
        let Some(known) = &column.known else { return Vec::new() };
        let told = known.effect.told(column.share(1)).into_iter();
        told.map(|effect| effect.beside(self.mean(output))).collect()
    }

    /// The mean of the values of an output, the effects of inputs among them: see
    /// [`SeasonMixture::mean`].
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn mean(&self, output: usize) -> f64 {
        let column = &self.columns[output];
        column.known.as_ref().map_or(&column.mixture, |known| &known.evidence.without).mean()
    }

    /// The parts of the forecast of the next `path.len()` rows of an output, whose inputs are given
    /// row after row: those of [`SeasonMixture::parts`], and the effect of each input. Those of the
    /// mixtures with the inputs and without have the shares that their forecasts have.
    ///
    /// # Errors
    /// When there are not as many inputs, or one is not finite.
    ///
    /// # Panics
    /// When there is no such output.
    pub fn parts(&self, output: usize, path: &[f64], inputs: &[f64]) -> Result<ForecastParts, Error> {
        let q = self.inputs;
        if inputs.len() != path.len() * q {
            return Err(ExampleError::Dimension { expected: path.len() * q, got: inputs.len() }.into());
        }
        inputs.chunks_exact(q.max(1)).try_for_each(|input| check_inputs(input, q))?;
        Ok(self.columns[output].parts(path, |step| &inputs[step * q..][..q]))
    }

    /// The ends of the interval around a forecast of an output that holds this share of the values:
    /// the quantiles of `(1 ∓ share)/2`.
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn band(&self, output: usize, share: f64, step: usize, forecast: f64) -> [f64; 2] {
        [0.5 - share / 2.0, 0.5 + share / 2.0].map(|p| self.quantile(output, p, step, forecast))
    }

    /// 0 while the output was never negative: no forecast and no quantile is below.
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn floor(&self, output: usize) -> Option<f64> {
        self.columns[output].floor()
    }

    /// The quantile of `p` around the forecast of an output, as [`SeasonMixture::quantile`].
    ///
    /// # Panics
    /// When there is no such output.
    #[must_use]
    pub fn quantile(&self, output: usize, p: f64, step: usize, forecast: f64) -> f64 {
        (forecast + self.offset(output, p, step)).max(self.floor(output).unwrap_or(f64::NEG_INFINITY))
    }
}

/// Most inputs: each regression of an effect holds their square.
const MOST_INPUTS: usize = 1000;

impl Validate for Seasons {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "season mixtures";
        let sizes = !self.columns.is_empty() && self.inputs <= MOST_INPUTS;
        Inconsistent::require(sizes, WHAT, "there is one for each output")?;
        for column in &self.columns {
            column.mixture.validate()?;
            column.screen.validate()?;
            let same = column.mixture.time() == self.time && column.known.is_some() == (self.inputs > 0);
            Inconsistent::require(same, WHAT, "they have seen the same rows")?;
            for KnownInputs { effect, evidence } in column.known.iter().map(AsRef::as_ref) {
                effect.validate(self.inputs)?;
                evidence.validate(self.inputs)?;
                let same = evidence.without.time() == self.time;
                Inconsistent::require(same, WHAT, "that without inputs has seen the same rows")?;
            }
        }
        Ok(())
    }
}

impl Forecaster for Seasons {
    fn outputs(&self) -> usize {
        self.columns.len()
    }
    fn inputs(&self) -> usize {
        self.inputs
    }
    fn feed_through(&self) -> bool {
        self.inputs > 0
    }
    fn time(&self) -> usize {
        self.time
    }
    fn warmed_up(&self) -> bool {
        self.columns.iter().any(|column| column.mixture.warmed_up())
    }
    /// The longest period, or 1.
    fn lags(&self) -> usize {
        self.columns.iter().filter_map(|column| column.mixture.periods().last()).copied().max().unwrap_or(1)
    }
    fn epochs(&self) -> &[Epoch] {
        &[]
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        for (column, prediction) in self.columns.iter().zip(prediction) {
            column.forecast(std::slice::from_mut(prediction), |_| input, scratch);
        }
        Ok(())
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        check_observation(self, input, output)?;
        for ((column, y), prediction) in self.columns.iter_mut().zip(output).zip(prediction) {
            *prediction = column.learn(input, Some(*y).filter(|y| !y.is_nan()));
        }
        self.time += 1;
        Ok(())
    }

    fn forecast(&self, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, Error> {
        let (m, q) = (self.outputs(), self.inputs);
        if inputs.len() != steps * q {
            return Err(ExampleError::Dimension { expected: steps * q, got: inputs.len() }.into());
        }
        inputs.chunks_exact(q.max(1)).try_for_each(|input| check_inputs(input, q))?;
        let (mut scratch, mut path) = (ForecastScratch::default(), vec![0.0; steps]);
        let mut predictions = vec![0.0; steps * m];
        for (output, column) in self.columns.iter().enumerate() {
            column.forecast(&mut path, |step| &inputs[step * q..][..q], &mut scratch);
            predictions.iter_mut().skip(output).step_by(m).zip(&path).for_each(|(to, from)| *to = *from);
        }
        Ok(predictions)
    }
    fn boxed(&self) -> Box<dyn Forecaster> {
        Box::new(self.clone())
    }
}
