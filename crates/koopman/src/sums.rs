//! The Koopman operator of exact least squares on a sparse dictionary.
//!
//! For pairs `(x, x⁺)` with features `φ = φ(x)`, `φ⁺ = φ(x⁺)` the operator is
//! `M = (G + R)⁻¹ A` with `G = Σ φφᵀ`, `A = Σ φφ⁺ᵀ`: `φ⁺ ≈ Mᵀφ`, and `Mv = μv` gives the
//! eigenfunction `f = vᵀφ` (extended dynamic mode decomposition: Williams, Kevrekidis and Rowley
//! 2015). Features are `[1, x, z(x)]` with orthonormal coordinates `z` on a bounded dictionary of a
//! Gaussian kernel of one of five widths, or of a polynomial one. The sums are kept for all of them
//! at once; kernel, ridge, spread and intervals come from them, without a second look at the data.
//!
//! **Cost.** A pair costs `O(md + p²)` a kernel, `p = 1 + d + m`, as matrix products over 64 pairs.
//! Memory: `5p²` numbers for each of 16 blocks and each kernel, whatever the length of the stream.
//! After 4,096 and 16,384 pairs the kernels that others beat by more than chance are dropped.
//! [`OperatorSums::model`] costs `O(p³)` some hundred times, about a second.
//!
//! **Inputs.** Where `x` carries inputs behind the state, `φ⁺` is `[1, x⁺]`: there are forecasts,
//! and the modes are those of `A` in the best `x⁺ ≈ a + Ax + Bu`.
//!
//! **Caveats.** The units are those of the first 4,096 pairs. With a half-life they are found anew
//! where 64 pairs in a row lie beyond a hundred deviations of them. Noise of measurement makes the
//! moduli of eigenvalues too small; along a trajectory it is noticed and taken out, if it is large.
//! Along a path a mode is reliable only if held-out pairs have its correlation at two lags and both
//! halves of them its eigenvalue, and if half of the points of a full dictionary have it, too.

mod blocks;
mod calibration;
mod candidate;
mod choice;
mod controlled;
mod features;
mod forecaster;
mod judge;
mod lag_test;
mod mode_shapes;
mod modes;
mod operator_model;
mod reading;
mod recent;
mod resolution;
mod scale;
mod sets;
mod stationarity;
mod stretch;
mod validity;
mod verdict;

use std::borrow::Cow;

use mercer_core::{ExampleError, ParameterError, check_input, parameters};
use mercer_kernels::{AnyKernel, Gaussian, Polynomial, median_width};

use crate::Error;
use blocks::MOST_BLOCKS;
use candidate::{Candidate, StretchMemory};
use choice::RidgeScore;
use features::Features;
use judge::first_lag;
pub use mode_shapes::ModeShapes;
pub use modes::Mode;
pub use operator_model::{Choice, DictionaryPoint, OperatorModel, Quality};
use recent::RecentPairs;
use scale::ColumnScale;
pub use sets::MetastableSets;
use stretch::PairStretch;
pub use verdict::{Reason, Reliability};

/// Pairs after which scale and widths are settled.
const BUFFER: usize = 4096;
/// Pairs that are added to the sums together.
const TOGETHER: usize = 64;
/// Rows whose median distance is the width 1.
const MEDIAN_ROWS: usize = 200;
/// Widths that are tried, as multiples of the median distance.
const WIDTHS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
/// Degrees of polynomials that are tried: the largest with so many monomials at most.
const DEGREES: std::ops::RangeInclusive<u32> = 2..=5;
const MONOMIALS: usize = 60;
/// Groups of pairs that a forecast is scored on in turn.
const GROUPS: usize = 8;
/// Pairs after which candidates are dropped that others beat, in forecasts and as a spectrum, by
/// more than so many standard errors; the sums of all of them are in half as many blocks before.
const RACES: [(u64, f64); 2] = [(BUFFER as u64, 3.0), (16_384, 1.0)];
/// Fewest pairs that an operator can be read from.
const FEWEST: u64 = 10;
parameters! {
    /// Parameters of [`OperatorSums`].
    #[derive(Copy)]
    pub struct OperatorSumsParams {
        /// Most points of a dictionary; 0 leaves the linear features alone.
        max_dictionary: usize = 100,
        /// A pair weighs half after this many further pairs; `None` forgets nothing.
        half_life: Option<f64> = None,
        /// Successive rows that a state is made of, the newest last: forecasts are judged by the
        /// newest alone, and modes are tested at lags where states share no row.
        delay: usize = 1,
    }
}

/// The learner: see the [table of learners](crate).
///
/// # Invariants
/// Until scale and widths are settled `pending` holds all pairs, fewer than 4096, and there is no
/// candidate; then it holds fewer than 64 pairs, which are not yet in the sums.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OperatorSums {
    dimension: usize,
    state: usize,
    params: OperatorSumsParams,
    rounds: u64,
    pending: Vec<f64>,
    recent: RecentPairs,
    settled: Option<SettledSums>,
    /// Least and largest of each number of a state.
    range: Vec<[f64; 2]>,
    /// Pairs that do not begin where the one before led to.
    breaks: u64,
    /// True if it is the fork of another one, whose candidates must be its own.
    forked: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    stretch: PairStretch,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: StretchMemory,
}

/// Scale and candidates that the first pairs settle, and the sums.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SettledSums {
    scale: ColumnScale,
    candidates: Vec<Candidate>,
}

impl SettledSums {
    /// True if each of these pairs has a state that is far from those that settled the units.
    fn left(&self, pairs: &[f64], width: usize) -> bool {
        pairs.chunks_exact(width).all(|pair| self.scale.is_far(&pair[..self.scale.dimension()]))
    }
}

/// The scores of one candidate.
struct CandidateScores {
    forecast: RidgeScore,
    spectrum: Option<RidgeScore>,
}

impl OperatorSums {
    /// A learner of states of `state` numbers, with `inputs` numbers behind the state in `x`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(state: usize, inputs: usize, params: OperatorSumsParams) -> Result<Self, Error> {
        let state = ParameterError::at_least_one("state_dimension", state)?;
        if let Some(half_life) = params.half_life {
            ParameterError::positive("half_life", half_life)?;
        }
        let most = params.max_dictionary;
        ParameterError::require(
            most <= mercer_core::LARGEST_SIZE,
            "max_dictionary",
            "a size of this world",
            most as f64,
        )?;
        let delay = ParameterError::at_least_one("delay", params.delay)?;
        ParameterError::require(state.is_multiple_of(delay), "delay", "a divisor of the state", delay as f64)?;
        let dimension = state + inputs;
        Ok(Self {
            dimension,
            state,
            params,
            rounds: 0,
            pending: Vec::new(),
            recent: RecentPairs::new(dimension + state),
            settled: None,
            range: vec![[f64::INFINITY, f64::NEG_INFINITY]; state],
            breaks: 0,
            forked: false,
            stretch: PairStretch::default(),
            memory: StretchMemory::default(),
        })
    }

    /// Numbers of `x`.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.dimension
    }

    /// Numbers of a state, and so of `x⁺`.
    #[must_use]
    pub fn output_dimension(&self) -> usize {
        self.state
    }

    /// Pairs learnt so far, less those that were taken back.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &OperatorSumsParams {
        &self.params
    }

    /// Learns one pair. Below the capacity of its memory it allocates nothing.
    ///
    /// # Errors
    /// When `x` or `x⁺` has another dimension, a number that is not finite or one that is too large
    /// to be squared. The learner is then as it was.
    pub fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<(), Error> {
        check_input(x, self.dimension)?;
        check_input(x_plus, self.state)?;
        let scale = self.settled.as_ref().map(|settled| &settled.scale);
        check_numbers(x, scale)?;
        check_numbers(x_plus, scale)?;
        self.pending.extend_from_slice(x);
        self.pending.extend_from_slice(x_plus);
        self.rounds += 1;
        let pairs = self.pending.len() / self.recent.width();
        if self.settled.is_none() && pairs == BUFFER {
            match self.settle() {
                Ok(settled) => self.settled = Some(settled),
                Err(error) => {
                    self.pending.truncate((pairs - 1) * self.recent.width());
                    self.rounds -= 1;
                    return Err(error);
                }
            }
            self.note(x, x_plus);
            self.pending.clear();
            self.pending.shrink_to(self.together() * self.recent.width());
            self.race();
            return Ok(());
        }
        self.note(x, x_plus);
        let together = self.together();
        match &mut self.settled {
            Some(settled)
                if pairs == together
                    && self.params.half_life.is_some()
                    && settled.left(&self.pending, self.recent.width()) =>
            {
                // Units, widths and dictionaries of before mean nothing here, and all of it fades.
                (self.settled, self.rounds, self.forked) = (None, pairs as u64, false);
                self.range = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.state];
                let (d, width) = (self.dimension, self.recent.width());
                let pending = std::mem::take(&mut self.pending);
                pending.chunks_exact(width).for_each(|pair| self.widen_range(&pair[..d], &pair[d..]));
                (self.pending, self.breaks) = (pending, 0);
            }
            Some(settled) if pairs == together => {
                let first = self.rounds - pairs as u64;
                self.stretch.fill(&settled.scale, self.state, first, &self.pending);
                for candidate in &mut settled.candidates {
                    candidate.take(&self.stretch, self.params.half_life, &mut self.memory);
                }
                self.pending.clear();
                self.race();
            }
            _ => {}
        }
        Ok(())
    }

    /// Keeps a pair for calibration, and widens the range by it.
    fn note(&mut self, x: &[f64], x_plus: &[f64]) {
        let leads_on = self.recent.ends_with(&x[..self.state]);
        self.breaks += u64::from(self.rounds > 1 && !leads_on);
        self.recent.push(x, x_plus);
        self.widen_range(x, x_plus);
    }

    fn widen_range(&mut self, x: &[f64], x_plus: &[f64]) {
        for ([least, most], (now, next)) in self.range.iter_mut().zip(x.iter().zip(x_plus)) {
            *least = least.min(now.min(*next));
            *most = most.max(now.max(*next));
        }
    }

    /// Pairs that are added to the sums together: more where lags are long.
    fn together(&self) -> usize {
        TOGETHER.max((4 * first_lag(self.params.delay)).next_multiple_of(TOGETHER))
    }

    /// The numbers of the newest row of a state, as features.
    fn newest(&self) -> std::ops::Range<usize> {
        1 + self.state - self.state / self.params.delay..1 + self.state
    }

    /// Drops the candidates that others beat both in forecasts and as a spectrum; none if they
    /// cannot be scored, or this is not the time.
    fn race(&mut self) {
        let time = RACES.into_iter().find(|(rounds, _)| *rounds == self.rounds && !self.forked);
        let (Some(settled), Some((_, errors))) = (&self.settled, time) else { return };
        let (columns, nothing) = (self.newest(), PairStretch::default());
        let score = |candidate| self.score(candidate, &nothing, &columns);
        let Ok(scored) = settled.candidates.iter().map(score).collect::<Result<Vec<CandidateScores>, _>>() else {
            return;
        };
        let least = |of: fn(&CandidateScores) -> Option<&RidgeScore>| {
            scored.iter().filter_map(of).min_by(|a, b| a.value.total_cmp(&b.value))
        };
        let scores: [fn(&CandidateScores) -> Option<&RidgeScore>; 2] =
            [|scored| Some(&scored.forecast), |scored| scored.spectrum.as_ref()];
        let stays = |candidate: &CandidateScores| {
            let holds = |of: &fn(&CandidateScores) -> Option<&RidgeScore>| {
                of(candidate).zip(least(*of)).is_some_and(|(own, least)| own.is_as_small_as(least, errors))
            };
            scores.iter().any(holds)
        };
        // The first is nearly free.
        let mut stay: Vec<bool> = scored.iter().enumerate().map(|(i, scored)| i == 0 || stays(scored)).collect();
        stay.reverse();
        if let Some(settled) = &mut self.settled {
            settled.candidates.retain(|_| stay.pop().unwrap_or(true));
        }
    }

    /// Scale, widths and sums of the pairs at hand.
    fn settle(&self) -> Result<SettledSums, Error> {
        let (d, width) = (self.dimension, self.recent.width());
        let pairs = self.pending.len() / width;
        let xs: Vec<f64> = self.pending.chunks_exact(width).flat_map(|pair| &pair[..d]).copied().collect();
        let scale = ColumnScale::from_rows(&xs, d);
        let mut spaced = Vec::with_capacity(MEDIAN_ROWS * d);
        let rows = pairs.min(MEDIAN_ROWS);
        for row in (0..rows).map(|i| i * pairs / rows) {
            scale.push(&xs[row * d..(row + 1) * d], &mut spaced);
        }
        let median = median_width(d, &spaced);
        // Candidates that will be dropped have half as many blocks.
        let blocks = if pairs == BUFFER { MOST_BLOCKS / 2 } else { MOST_BLOCKS };
        let length = pairs.div_ceil(blocks).max(1);
        let mut all = PairStretch::default();
        let first = self.rounds - pairs as u64;
        all.fill(&scale, self.state, first, &self.pending);
        let (mut candidates, mut stretch, mut memory) = (Vec::new(), PairStretch::default(), StretchMemory::default());
        for (kernel, most) in self.kernels(median)? {
            let mut candidate =
                Candidate::new(Features::new(kernel, d, most), self.state, length, first_lag(self.params.delay));
            candidate.grow(&all, &mut memory);
            for (i, pairs) in self.pending.chunks(length * width).enumerate() {
                stretch.fill(&scale, self.state, first + (i * length) as u64, pairs);
                candidate.take(&stretch, self.params.half_life, &mut memory);
            }
            candidates.push(candidate);
        }
        Ok(SettledSums { scale, candidates })
    }

    /// The kernels that are tried with the size of their dictionaries, none of the first.
    fn kernels(&self, median: f64) -> Result<Vec<(AnyKernel, usize)>, Error> {
        let (d, most) = (self.dimension, self.params.max_dictionary);
        let gaussian = |factor: f64| match Gaussian::new(factor * median) {
            Ok(kernel) => Ok(AnyKernel::Gaussian(kernel)),
            Err(_) => Err(ExampleError::KernelOverflow),
        };
        let mut kernels = vec![(gaussian(1.0)?, 0)];
        if most == 0 {
            return Ok(kernels);
        }
        for factor in WIDTHS {
            kernels.push((gaussian(factor)?, most));
        }
        // Monomials up to the degree g: (d + 1)…(d + g)/g!
        let count = |degree: u32| (1..=degree as usize).fold(1, |count: usize, i| count.saturating_mul(d + i) / i);
        let degree = DEGREES.rev().find(|degree| count(*degree) <= MONOMIALS.min(most));
        if let Some(degree) = degree
            && let Ok(kernel) = Polynomial::new(degree, d as f64)
        {
            kernels.push((AnyKernel::Polynomial(kernel), count(degree)));
        }
        Ok(kernels)
    }

    /// The same scale and dictionaries without a pair, to learn another part of the data; what both
    /// have learnt can be [merged](Self::merge). The dictionaries take no further point.
    ///
    /// # Errors
    /// When nothing is settled yet, before 4,096 pairs.
    pub fn fork(&self) -> Result<Self, Error> {
        let settled = self.settled.as_ref().ok_or(Error::TooFewPairs { got: self.rounds, needed: BUFFER as u64 })?;
        let empty = |candidate: &Candidate| candidate.emptied(BUFFER / MOST_BLOCKS);
        let settled =
            SettledSums { scale: settled.scale.clone(), candidates: settled.candidates.iter().map(empty).collect() };
        let mut fork = Self::new(self.state, self.dimension - self.state, self.params)?;
        (fork.settled, fork.forked) = (Some(settled), true);
        Ok(fork)
    }

    /// Adds what another learner of the same scale and dictionaries has learnt. With a half-life
    /// the pairs of both weigh what they weigh in each: the latest of each count as much. `O(p²)`.
    ///
    /// # Errors
    /// When it has other ones, or another half-life or delay; nothing is changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.combine(1.0, other)
    }

    /// Takes back what another learner has learnt that was merged before. Sums over all pairs are
    /// then as if it had never come; which blocks of them it was in is not known, and each loses
    /// its share. `O(p²)`.
    ///
    /// # Errors
    /// As [`merge`](Self::merge), when it has learnt as many pairs as this one or more, and with a
    /// half-life, since what was merged has faded since.
    pub fn retract(&mut self, other: &Self) -> Result<(), Error> {
        if let Some(half_life) = self.params.half_life {
            let requirement = "none where pairs are taken back, since they have faded";
            return Err(ParameterError { name: "half_life", requirement, value: half_life }.into());
        }
        if other.rounds >= self.rounds {
            return Err(Error::TooFewPairs { got: self.rounds, needed: other.rounds + 1 });
        }
        self.combine(-1.0, other)
    }

    fn combine(&mut self, sign: f64, other: &Self) -> Result<(), Error> {
        let (Some(ours), Some(theirs)) = (&self.settled, &other.settled) else { return Err(Error::OtherFeatures) };
        let has = |of: &SettledSums, candidate: &Candidate| of.partner(candidate).is_some();
        // One of them may have dropped some.
        let alike = ours.scale == theirs.scale
            && self.params == other.params
            && self.state == other.state
            && ours.candidates.iter().filter(|candidate| has(theirs, candidate)).count()
                == ours.candidates.len().min(theirs.candidates.len());
        if !alike {
            return Err(Error::OtherFeatures);
        }
        // What is not yet in the sums must be there now.
        let mut other_stretch = PairStretch::default();
        let first = other.rounds - (other.pending.len() / other.recent.width()) as u64;
        other_stretch.fill(&theirs.scale, other.state, first, &other.pending);
        let mut theirs = theirs.clone();
        if other_stretch.len() > 0 {
            let memory = &mut self.memory;
            theirs.candidates.iter_mut().for_each(|candidate| candidate.learn(&other_stretch, 1.0, memory));
        }
        self.flush();
        if let Some(settled) = &mut self.settled {
            settled.candidates.retain(|candidate| has(&theirs, candidate));
            for ours in &mut settled.candidates {
                if let Some(theirs) = theirs.partner(ours) {
                    ours.combine(sign, theirs);
                }
            }
        }
        self.recent.clear();
        for ([least, most], theirs) in self.range.iter_mut().zip(&other.range) {
            (*least, *most) = (least.min(theirs[0]), most.max(theirs[1]));
        }
        self.breaks += other.breaks + 1;
        self.rounds = if sign > 0.0 { self.rounds + other.rounds } else { self.rounds - other.rounds };
        Ok(())
    }

    /// Adds the pending pairs to the sums, without a further point.
    fn flush(&mut self) {
        let first = self.rounds - (self.pending.len() / self.recent.width()) as u64;
        if let Some(settled) = &mut self.settled
            && !self.pending.is_empty()
        {
            self.stretch.fill(&settled.scale, self.state, first, &self.pending);
            let memory = &mut self.memory;
            settled.candidates.iter_mut().for_each(|candidate| candidate.learn(&self.stretch, 1.0, memory));
            self.pending.clear();
        }
    }

    /// The candidates with all pairs in their sums but those that are given beside them.
    fn read(&self) -> Result<(Cow<'_, SettledSums>, PairStretch), Error> {
        if self.rounds < FEWEST {
            return Err(Error::TooFewPairs { got: self.rounds, needed: FEWEST });
        }
        let mut pending = PairStretch::default();
        match &self.settled {
            None => Ok((Cow::Owned(self.settle()?), pending)),
            Some(settled) => {
                let first = self.rounds - (self.pending.len() / self.recent.width()) as u64;
                pending.fill(&settled.scale, self.state, first, &self.pending);
                Ok((Cow::Borrowed(settled), pending))
            }
        }
    }
}

impl SettledSums {
    /// The candidate of the same features.
    fn partner(&self, of: &Candidate) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.features.is_like(&of.features))
    }
}

/// Refuses numbers whose squares overflow.
fn check_numbers(x: &[f64], scale: Option<&ColumnScale>) -> Result<(), ExampleError> {
    if x.iter().all(|x| x.abs() < 1e140) && scale.is_none_or(|scale| scale.fits(x)) {
        Ok(())
    } else {
        Err(ExampleError::KernelOverflow)
    }
}
