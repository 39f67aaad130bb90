//! Model that was learnt: choice, modes and forecasts.

use std::ops::Range;

use mercer_kernels::AnyKernel;
use mercer_sparsify::Probe;

use super::blocks::{Group, sum};
use super::calibration::Calibration;
use super::features::Features;
use super::forecaster::{ForecastMemory, Forecaster};
use super::mode_shapes::{ModeShapes, ShapeSums};
use super::modes::{Mode, Spectrum};
use super::scale::ColumnScale;
use crate::Error;
use crate::kernel_operator::check_dimension;

/// Steps ahead at which errors are told beside those of one step.
pub(crate) const LATER: [usize; 2] = [5, 20];

/// A kernel and a ridge with the size of the dictionary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// The kernel in scaled units; `None` when the linear features alone are best.
    pub kernel: Option<AnyKernel>,
    /// `λ` on the coordinates of the dictionary, relative to features of norm 1.
    pub ridge: f64,
    /// Points of the dictionary.
    pub size: usize,
}

/// Quality of forecasts of one step, as parts of the variance of the newest row of a state: sums
/// over its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Quality {
    /// The error on held-out pairs.
    pub held_out: f64,
    /// The error of the forecast that nothing changes.
    pub no_change: f64,
    /// The error of the mean: 1, or 0 of states that are constant.
    pub mean: f64,
}

/// The quality of forecasts with the held-out squared error `held_out`, and the variance itself.
pub(crate) fn quality(groups: &[Group<'_>], columns: &Range<usize>, held_out: f64) -> (Quality, f64) {
    let total = sum(groups);
    let mean = |value: f64| value / total.weight;
    let (mut variance, mut no_change) = (0.0, 0.0);
    for j in columns.clone() {
        let square = mean(total.squares[j]);
        // The first feature is 1.
        let centred = square - mean(total.cross.entry(0, j)).powi(2);
        // Of a constant only rounding is left.
        variance += if centred > 1e-14 * square { centred } else { 0.0 };
        no_change += (square + mean(total.gram.entry(j, j)) - 2.0 * mean(total.cross.entry(j, j))).max(0.0);
    }
    let part = |error: f64| if variance > 0.0 { error / variance } else { 0.0 };
    (Quality { held_out: part(held_out), no_change: part(no_change), mean: part(variance) }, variance)
}

/// A point of a dictionary.
#[derive(Clone, Debug, PartialEq)]
pub struct DictionaryPoint {
    /// The round of the pair that it came from, counted from 0.
    pub round: u64,
    /// Where it is.
    pub point: Vec<f64>,
}

/// An operator as it was learnt: made by [`OperatorSums::model`](super::OperatorSums::model).
#[derive(Clone, Debug)]
pub struct OperatorModel {
    pub(crate) scale: ColumnScale,
    pub(crate) state: usize,
    pub(crate) rounds: u64,
    pub(crate) deterministic: bool,
    pub(crate) quality: Quality,
    /// That of the newest row of a state, and the numbers of a state that are the newest row.
    pub(crate) variance: f64,
    pub(crate) newest: Range<usize>,
    pub(crate) choices: [Choice; 2],
    pub(crate) norm: f64,
    pub(crate) forecaster: Forecaster,
    pub(crate) calibration: Calibration,
    /// Steps that intervals were asked for.
    pub(crate) horizon: usize,
    pub(crate) spectral: Features,
    pub(crate) spectrum: Spectrum,
    pub(crate) shapes: ShapeSums,
    /// The latest pairs, flat, if the modes have no dictionary.
    pub(crate) latest: Vec<f64>,
}

impl OperatorModel {
    /// Pairs that it was learnt from.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// True if the newest row is told by the state before it but for less than a hundredth of its
    /// variance, and forecasts of 20 steps are no worse iterated than as means; or but for less
    /// than a thousandth, and those of 5 steps. Forecasts iterate for as many of 20 steps as that
    /// is no worse.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// Quality of forecasts of one step.
    #[must_use]
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// The squared error of forecasts of the newest row `step` steps ahead (from 1), on the latest
    /// pairs by what the others say, as a part of its variance; one step is judged on all pairs.
    /// `None` where no path is that long, or [`model`](super::OperatorSums::model) was not asked
    /// for this horizon; for 20 steps it always is.
    #[must_use]
    pub fn held_out_error(&self, step: usize) -> Option<f64> {
        let later = || self.calibration.mean_square(step.checked_sub(1)?, self.newest.clone());
        match step {
            1 => Some(self.quality.held_out),
            _ => later().map(|error| if self.variance > 0.0 { error / self.variance } else { 0.0 }),
        }
    }

    /// Steps ahead, each with its [`held_out_error`](Self::held_out_error): 5 and 20, as far as
    /// paths are that long.
    #[must_use]
    pub fn later_errors(&self) -> Vec<(usize, f64)> {
        LATER.into_iter().filter_map(|step| Some((step, self.held_out_error(step)?))).collect()
    }

    /// Choice that forecasts are made with.
    #[must_use]
    pub fn forecast_choice(&self) -> &Choice {
        &self.choices[0]
    }

    /// Choice that the modes are read from.
    #[must_use]
    pub fn spectrum_choice(&self) -> &Choice {
        &self.choices[1]
    }

    /// Hilbert–Schmidt norm of the operator of the modes in `L²`, whose square sums the squared
    /// singular values; 0 where `x` carries inputs.
    #[must_use]
    pub fn hs_norm(&self) -> f64 {
        self.norm
    }

    /// The unit in which each number of `x` was learnt: its deviation.
    #[must_use]
    pub fn units(&self) -> &[f64] {
        self.scale.deviations()
    }

    /// The modes: by decreasing modulus, for a deterministic system the reliable ones first, and of
    /// one modulus the slow ones. Where `x` carries inputs they are those of `A` in the best
    /// `x⁺ ≈ a + Ax + Bu`, without the constant.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.spectrum.modes
    }

    /// The shapes of the `count` leading modes in the newest row of a state, and how much of it
    /// they hold; of a pair that the count cuts both are held. `O(count³)`.
    ///
    /// # Errors
    /// When their functions depend on each other.
    pub fn mode_shapes(&self, count: usize) -> Result<ModeShapes, Error> {
        let modes = self.modes();
        self.shapes.shapes(&modes[..count.min(modes.len())], &self.scale)
    }

    /// The VAMP-2 score on held-out pairs of as many singular functions as modes were asked for: at
    /// most their number, and the constant has 1 of it. It compares columns, delays and settings.
    /// `None` where `x` carries inputs, or no mode was asked for.
    #[must_use]
    pub fn vamp2(&self) -> Option<f64> {
        self.spectrum.vamp2
    }

    /// True if the modes come from two-stage least squares, because the states are measured with
    /// noise or do not tell the whole state: those of least squares have too small a modulus.
    #[must_use]
    pub fn has_instruments(&self) -> bool {
        self.spectrum.instruments
    }

    /// True if the record wanders or has a trend, so that its time scales are its own length:
    /// differences may be what is stationary.
    #[must_use]
    pub fn wanders(&self) -> bool {
        self.spectrum.wanders
    }

    /// True if the pairs look the same when time runs backward, so that modes come from a
    /// self-adjoint operator.
    #[must_use]
    pub fn is_reversible(&self) -> bool {
        self.spectrum.reversible
    }

    /// Blocks that were left out in turn for the spread of a mode.
    #[must_use]
    pub fn jackknife_blocks(&self) -> usize {
        self.spectrum.blocks
    }

    /// The dictionary of the modes.
    #[must_use]
    pub fn dictionary(&self) -> Vec<DictionaryPoint> {
        let points = self.spectral.dictionary();
        points.map(|(round, point)| DictionaryPoint { round, point: self.scale.undo(&point) }).collect()
    }

    /// Where eigenfunctions can be shown: at the points of the dictionary, or at the latest states
    /// where linear features keep none.
    #[must_use]
    pub fn places(&self) -> Vec<Vec<f64>> {
        let latest = self.latest.chunks_exact(self.scale.dimension() + self.state);
        let latest = latest.map(|pair| pair[..self.scale.dimension()].to_vec());
        self.dictionary().into_iter().map(|point| point.point).chain(latest).collect()
    }

    /// Real and imaginary part of each mode's eigenfunction at `x`; their mean square modulus is 1.
    /// `O(p²)`.
    ///
    /// # Errors
    /// When `x` has another dimension or a number that is not finite.
    pub fn eigenfunctions(&self, x: &[f64]) -> Result<Vec<[f64; 2]>, Error> {
        let scaled = self.scaled(x)?;
        let (mut probe, mut features) = (Probe::default(), Vec::new());
        self.spectral.evaluate(&scaled, &mut probe, &mut features);
        let value = |part: &Vec<f64>| part.iter().zip(&features).map(|(c, f)| c * f).sum();
        Ok(self.spectrum.functions.iter().map(|parts| parts.each_ref().map(value)).collect())
    }

    /// The expected states 1, …, `steps` steps after `x`. Where `x` carries inputs, `x` has those
    /// of the first step and `inputs` is row-major with those of the steps behind it, so that it
    /// reaches `1 + rows` steps at most; otherwise `inputs` is empty. `O(p²)` a step.
    ///
    /// # Errors
    /// When `x` has another dimension or a number that is not finite, or there are not as many
    /// inputs as the steps need.
    pub fn forecast(&self, x: &[f64], inputs: &[f64], steps: usize) -> Result<Vec<Vec<f64>>, Error> {
        let width = self.scale.dimension() - self.state;
        let needed = width * steps.saturating_sub(1);
        if inputs.len() < needed {
            return Err(Error::Values { expected: needed, got: inputs.len() });
        }
        let scaled = self.scaled(x)?;
        let mut rows = Vec::with_capacity(steps);
        for inputs in inputs.chunks_exact(width.max(1)).take(steps.saturating_sub(1)) {
            // The scale of inputs is behind that of the state.
            let whole = [&x[..self.state], inputs].concat();
            rows.push(self.scaled(&whole)?.split_off(self.state));
        }
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let mut path = vec![Vec::new(); steps];
        self.forecaster.path(&scaled, &rows, &mut path, &mut ForecastMemory::default());
        Ok(path.iter().map(|state| self.scale.undo(state)).collect())
    }

    /// Half the width of the interval that holds each coordinate of the state `step` steps ahead
    /// (from 1) with probability `coverage`; `None` where too few stretches are that long, or
    /// [`model`](super::OperatorSums::model) was not asked for this horizon.
    #[must_use]
    pub fn half_widths(&self, step: usize, coverage: f64) -> Vec<Option<f64>> {
        let units = self.scale.deviations().iter().take(self.state).enumerate();
        let asked = step <= self.horizon;
        let width = |j| self.calibration.half_width(step.checked_sub(1)?, j, coverage).filter(|_| asked);
        units.map(|(j, unit)| width(j).map(|width| width * unit)).collect()
    }

    fn scaled(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        check_dimension(x.len(), self.scale.dimension())?;
        super::check_numbers(x, Some(&self.scale))?;
        let mut scaled = Vec::with_capacity(x.len());
        self.scale.push(x, &mut scaled);
        Ok(scaled)
    }
}
