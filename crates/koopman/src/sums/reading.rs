//! An operator read off the sums: choices, intervals, modes.

use super::blocks::{Group, MOST_BLOCKS, Sums, sum};
use super::calibration::Calibration;
use super::candidate::Candidate;
use super::choice::{self, RidgeScore, forecast_scores, spectrum_scores};
use super::controlled;
use super::forecaster::Forecaster;
use super::judge::{SystemFacts, function_bias, judge};
use super::mode_shapes::ShapeSums;
use super::modes::{Mode, Spectrum, of_least_residual, put_in_order, spectrum};
use super::operator_model::{Choice, LATER, OperatorModel, quality};
use super::scale::ColumnScale;
use super::stretch::PairStretch;
use super::{CandidateScores, GROUPS, OperatorSums};
use crate::Error;

/// A system is deterministic up to this part of the variance, and of the error of no change.
const DETERMINISTIC: [f64; 2] = [0.01, 0.25];

/// Steps ahead on which iterated forecasts are compared with means; they must be no worse, by this
/// factor, or nearly exact, up to this part of the variance: a small difference on some pairs is
/// then no reason to go on by means, which are far from exact on others. A deterministic system is
/// iterated for ever; chaos for so many steps at least, and the part of the variance that is its
/// error in one step is this at most.
const AHEAD: [usize; 8] = [1, 2, 3, 5, 8, 12, 16, 20];
const FEWEST_ITERATED: usize = 5;
const DETERMINISTIC_CHAOS: f64 = 1e-3;
const ALIKE: f64 = 1.05;
const NEARLY_EXACT: f64 = 1e-4;
/// Breaks of a path that is still one record.
const MOST_BREAKS: u64 = 2;
impl OperatorSums {
    /// Chooses width and ridge, and reads the operator off the sums. `modes` are wanted at most,
    /// and intervals for up to `horizon` steps.
    ///
    /// # Errors
    /// When there are fewer than 10 pairs, or equations or an eigen-decomposition fail.
    pub fn model(&self, modes: usize, horizon: usize) -> Result<OperatorModel, Error> {
        self.read_off(modes, horizon, true)
    }

    /// The modes of least squares alone, with spreads of chance alone: what is compared across lags
    /// must be made alike at each of them, with or without a path. Beside each what its function
    /// leaves of the eigenvalue.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub(crate) fn plain_modes(&self, count: usize) -> Result<Vec<(Mode, f64)>, Error> {
        let Spectrum { modes, function_bias, .. } = self.read_off(count, 1, false)?.spectrum;
        Ok(modes.into_iter().zip(function_bias).collect())
    }

    /// The squared errors of forecasts of the newest row of the state so many steps ahead, on
    /// held-out pairs, as parts of its variance: what a number of delays is chosen by. Of steps
    /// that no path of the pairs is long enough for there is none.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn held_out_errors(&self, steps: &[usize]) -> Result<Vec<f64>, Error> {
        let most = steps.iter().copied().max().unwrap_or(1);
        let model = self.read_off(0, most, false)?;
        Ok(steps.iter().filter_map(|step| model.held_out_error(*step)).collect())
    }

    /// `judged` unless modes are plain ones.
    fn read_off(&self, modes: usize, horizon: usize, judged: bool) -> Result<OperatorModel, Error> {
        let (settled, pending) = self.read()?;
        let columns = self.newest();
        let mut scored = Vec::with_capacity(settled.candidates.len());
        for candidate in &settled.candidates {
            scored.push(self.score(candidate, &pending, &columns)?);
        }
        let of_forecast = |i: &usize| -scored[*i].forecast.value;
        let forecast = best(scored.len(), of_forecast).ok_or(Error::Singular(mercer_linalg_incremental::Singular))?;
        // The first candidate has the linear features alone: what is no worse is the better one.
        let linear = scored[0].forecast.is_as_small_as(&scored[forecast].forecast, 1.0);
        let forecast = if linear { 0 } else { forecast };
        let of_forecast = &settled.candidates[forecast];
        let alone = of_forecast.alone(&pending);
        let groups = of_forecast.groups(GROUPS, alone.as_ref());
        let (quality, variance) = quality(&groups, &columns, scored[forecast].forecast.value);
        let told = quality.held_out <= DETERMINISTIC[0] && quality.held_out <= DETERMINISTIC[1] * quality.no_change;
        let iterating = (&settled.scale, of_forecast, scored[forecast].forecast.ridge);
        let iterates = match (variance == 0.0, told) {
            (true, _) => usize::MAX,
            (false, true) => self.iterated_steps(iterating, &groups, variance)?,
            (false, false) => 0,
        };
        let deterministic =
            iterates == usize::MAX || (iterates >= FEWEST_ITERATED && quality.held_out <= DETERMINISTIC_CHAOS);
        let own = (forecast, scored[forecast].forecast.ridge);
        let (spectral, ridge) = of_modes(&settled.candidates, (&scored, own), deterministic, &pending)?;
        let chosen = [forecast, spectral].map(|i| &settled.candidates[i]);
        let with_modes = if self.dimension == self.state { chosen[1] } else { &settled.candidates[0] };
        let range = settled.scale.range(&self.range);
        let fit = |sums: &Sums| Forecaster::new(&chosen[0].features, &range, own.1, iterates, sums);
        let told = if judged { horizon.max(LATER[LATER.len() - 1]) } else { horizon };
        let calibration = self.calibrate(&settled.scale, &groups, told, &fit)?;
        let (norm, spectrum, shapes) = match self.dimension == self.state {
            true => self.spectrum(chosen[1], &pending, ridge, (deterministic, judged), modes)?,
            false => self.controlled(with_modes, &pending, (modes, chosen[1].features.len()))?,
        };
        Ok(OperatorModel {
            scale: settled.scale.clone(),
            state: self.state,
            rounds: self.rounds,
            deterministic,
            quality,
            variance,
            newest: columns.start - 1..columns.end - 1,
            choices: [choice_of(chosen[0], own.1), choice_of(with_modes, ridge)],
            norm,
            forecaster: fit(&sum(&groups))?,
            calibration,
            horizon,
            latest: if chosen[1].features.kernel().is_none() { self.recent.rows() } else { Vec::new() },
            spectral: chosen[1].features.clone(),
            spectrum,
            shapes,
        })
    }

    pub(super) fn score(
        &self,
        candidate: &Candidate,
        pending: &PairStretch,
        columns: &std::ops::Range<usize>,
    ) -> Result<CandidateScores, Error> {
        let alone = candidate.alone(pending);
        let groups = candidate.groups(GROUPS, alone.as_ref());
        let scores = forecast_scores(&groups, candidate.features.leading(), columns);
        let nothing = RidgeScore::none();
        let forecast = scores.into_iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(nothing);
        let spectrum = match self.dimension == self.state {
            true => {
                let (folds, next) = candidate.folds(alone.as_ref());
                spectrum_scores(&sum(&groups), &folds, &next)?
            }
            false => Vec::new(),
        };
        let spectrum = spectrum.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
        Ok(CandidateScores { forecast, spectrum })
    }

    /// The norm in `L²` and the modes.
    fn spectrum(
        &self,
        candidate: &Candidate,
        pending: &PairStretch,
        ridge: f64,
        (deterministic, judged): (bool, bool),
        modes: usize,
    ) -> Result<(f64, Spectrum, ShapeSums), Error> {
        let alone = candidate.alone(pending);
        let groups = candidate.groups(MOST_BLOCKS, alone.as_ref());
        let (folds, next) = candidate.folds(alone.as_ref());
        let total = sum(&groups);
        let (leading, p) = (candidate.features.leading(), candidate.features.len());
        let operator = choice::solve(&total, leading, ridge, 0..p)?;
        let norm = choice::norm(&total, &next, leading, ridge, &operator)?;
        let newest = self.newest();
        let facts = SystemFacts {
            fit: (leading, ridge),
            deterministic,
            full: candidate.features.is_full(),
            delay: self.params.delay,
            newest: (newest.start, newest.end),
            path: self.params.half_life.is_none() && self.breaks <= MOST_BREAKS,
        };
        let mut spectrum = spectrum(&operator, &groups, &next, (deterministic, judged), modes)?;
        if judged && modes > 0 {
            spectrum.vamp2 = Some(choice::vamp2(&total, &folds, &next, (ridge, modes))?);
        }
        if judged {
            judge(&mut spectrum, &groups, facts)?;
        } else {
            if deterministic {
                put_in_order(&mut spectrum);
            }
            // Without modes the forecasts alone are wanted.
            if modes > 0 {
                spectrum.function_bias = function_bias(&spectrum, &groups, facts);
            }
        }
        let shapes = ShapeSums::new(&spectrum, &total, newest);
        Ok((norm, spectrum, shapes))
    }

    /// The modes of `A` where `x` carries inputs, on linear features, as functions of so many
    /// features; there is no norm.
    fn controlled(
        &self,
        candidate: &Candidate,
        pending: &PairStretch,
        (modes, features): (usize, usize),
    ) -> Result<(f64, Spectrum, ShapeSums), Error> {
        let alone = candidate.alone(pending);
        let groups = candidate.groups(MOST_BLOCKS, alone.as_ref());
        let next = candidate.folds(alone.as_ref()).1;
        let mut spectrum = controlled::spectrum(&groups, &next, self.state, modes)?;
        let shapes = ShapeSums::new(&spectrum, &sum(&groups), self.newest());
        spectrum.functions.iter_mut().flatten().for_each(|function| function.resize(features, 0.0));
        Ok((0.0, spectrum, shapes))
    }

    /// The steps up to which forecasts are no worse iterated than as means, on held-out pairs; all
    /// where no path of the pairs shows the end of it.
    fn iterated_steps(
        &self,
        (scale, candidate, ridge): (&ColumnScale, &Candidate, f64),
        groups: &[Group<'_>],
        variance: f64,
    ) -> Result<usize, Error> {
        let range = scale.range(&self.range);
        let most = AHEAD[AHEAD.len() - 1];
        let errors = |iterates: usize| {
            let fit = |sums: &Sums| Forecaster::new(&candidate.features, &range, ridge, iterates, sums);
            self.calibrate(scale, groups, most, &fit)
        };
        let (iterated, means) = (errors(usize::MAX)?, errors(0)?);
        let newest = self.newest();
        let columns = newest.start - 1..newest.end - 1;
        let worse = |step: &&usize| {
            let [iterated, means] = [&iterated, &means].map(|errors| errors.mean_square(*step - 1, columns.clone()));
            iterated.zip(means).is_some_and(|(a, b)| a > (ALIKE * b).max(NEARLY_EXACT * variance))
        };
        Ok(AHEAD.iter().find(worse).map_or(usize::MAX, |step| step - 1))
    }

    fn calibrate(
        &self,
        scale: &ColumnScale,
        groups: &[Group<'_>],
        horizon: usize,
        fit: &impl Fn(&Sums) -> Result<Forecaster, Error>,
    ) -> Result<Calibration, Error> {
        let (d, width) = (self.dimension, self.recent.width());
        let mut scaled = Vec::with_capacity(self.recent.len() * width);
        for pair in self.recent.rows().chunks_exact(width) {
            scale.push(&pair[..d], &mut scaled);
            scale.push(&pair[d..], &mut scaled);
        }
        Calibration::new(&scaled, (width, self.state), groups, horizon, fit)
    }
}

fn choice_of(candidate: &Candidate, ridge: f64) -> Choice {
    let size = candidate.features.len() - candidate.features.leading();
    Choice { kernel: candidate.features.kernel().cloned(), ridge, size }
}

/// The candidate whose modes are told, with its ridge; `own` are those of forecasts.
fn of_modes(
    candidates: &[Candidate],
    (scored, own): (&[CandidateScores], (usize, f64)),
    deterministic: bool,
    pending: &PairStretch,
) -> Result<(usize, f64), Error> {
    let of_spectrum = |i: &usize| scored[*i].spectrum.as_ref().map_or(f64::NEG_INFINITY, |score| -score.value);
    match best(scored.len(), of_spectrum) {
        Some(_) if deterministic => {
            let ridges: Vec<f64> = scored.iter().map(|scored| scored.forecast.ridge).collect();
            of_least_residual(candidates, &ridges, own.0, pending)
        }
        Some(best) => Ok((best, scored[best].spectrum.as_ref().map_or(own.1, |score| score.ridge))),
        None => Ok(own),
    }
}

/// The index of the largest value; the first of equal ones.
fn best(count: usize, value: impl Fn(&usize) -> f64) -> Option<usize> {
    let larger = |best: usize, i: usize| if value(&i) > value(&best) { i } else { best };
    (0..count).reduce(larger).filter(|best| value(best).is_finite())
}
