//! The engine of the dictionary columns of the grid: a [`NewtonBasis`], an [`Admission`] rule and a [`LinearUpdate`].

use std::marker::PhantomData;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_sparsify::{Admission, NewtonBasis, Probe, TOGETHER};

use crate::regression::regressor::{check_block, check_example, check_input};
use crate::regression::update::LinearUpdate;
use crate::{Error, Regressor, Scratch};

/// Below so many points a block that keeps most of what comes gains nothing: to bring its coordinates up to date costs what solving for
/// them together spares.
const WORTH_A_GROUP: usize = 80;

/// When a kept point begins to act.
pub trait GrowthTiming {
    /// Whether the point is part of the basis when its own example is learnt.
    const BEFORE_STEP: bool;
    /// Makes the update fit a basis that gained a point after the step; `n` coordinates from now on.
    fn after_step(update: &mut impl LinearUpdate, n: usize);
}

/// The point joins first, then the example is learnt in the enlarged basis (NONS-ALD, AOGD-ALD, KRLS).
#[derive(Clone, Copy, Debug, Default)]
pub struct GrowThenStep;

/// The example is learnt in the old basis; from the next round on there is one more coordinate (CON-KONS).
#[derive(Clone, Copy, Debug, Default)]
pub struct StepThenGrow;

/// The example is learnt in the old basis; then the update starts anew in the enlarged one (PROS-N-KONS).
#[derive(Clone, Copy, Debug, Default)]
pub struct StepThenRestart;

impl GrowthTiming for GrowThenStep {
    const BEFORE_STEP: bool = true;
    fn after_step(_: &mut impl LinearUpdate, _: usize) {}
}

impl GrowthTiming for StepThenGrow {
    const BEFORE_STEP: bool = false;
    fn after_step(update: &mut impl LinearUpdate, _: usize) {
        update.grow();
    }
}

impl GrowthTiming for StepThenRestart {
    const BEFORE_STEP: bool = false;
    fn after_step(update: &mut impl LinearUpdate, n: usize) {
        update.restart(n);
    }
}

/// A linear update on the orthonormal coordinates of a growing dictionary.
///
/// A round costs `Jd` for the kernel row, `½J²` for the coordinates and what the update costs (multiply-adds); memory is
/// `Jd + ½J²` and the update's. At a fixed size nothing is allocated.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnDictionary<K, A, U, T> {
    basis: NewtonBasis<K>,
    admission: A,
    update: U,
    max_dictionary: Option<usize>,
    timing: PhantomData<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: Memory,
}

/// Memory of a step or of a block, taken out while in use.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// Probes, [`TOGETHER`] at a time.
    probes: Vec<[Probe; TOGETHER]>,
    /// Coordinates of rounds that the update takes at once.
    coordinates: Vec<AlignedVec>,
}

impl Memory {
    fn make_room(&mut self, groups: usize) {
        let groups = groups.max(self.probes.len());
        self.probes.resize_with(groups, Default::default);
        self.coordinates.resize_with(groups * TOGETHER, AlignedVec::new);
    }
}

impl<K: Kernel + Validate, A: Admission + Validate, U: LinearUpdate + Validate, T> Validate
    for OnDictionary<K, A, U, T>
{
    fn validate(&self) -> Result<(), Inconsistent> {
        self.basis.validate()?;
        self.admission.validate()?;
        self.update.validate()?;
        let fits = self.update.coordinates() == self.basis.len() && self.admission.fits(self.basis.len());
        Inconsistent::require(fits, "learner on a dictionary", "it has a coordinate for each kept point")
    }
}

impl<K: Kernel, A: Admission, U: LinearUpdate, T: GrowthTiming> OnDictionary<K, A, U, T> {
    /// An empty dictionary for inputs of dimension `dimension` that never exceeds `max_dictionary` points.
    pub fn from_parts(kernel: K, dimension: usize, admission: A, update: U, max_dictionary: Option<usize>) -> Self {
        Self {
            basis: NewtonBasis::new(kernel, dimension),
            admission,
            update,
            max_dictionary,
            timing: PhantomData,
            memory: Memory::default(),
        }
    }

    /// The dictionary.
    pub fn basis(&self) -> &NewtonBasis<K> {
        &self.basis
    }

    /// The linear learner on its coordinates.
    pub fn linear(&self) -> &U {
        &self.update
    }

    /// The linear learner on its coordinates, to change.
    pub(crate) fn linear_mut(&mut self) -> &mut U {
        &mut self.update
    }

    /// The linear learner, without its dictionary.
    pub(crate) fn into_linear(self) -> U {
        self.update
    }

    /// The same dictionary under another update.
    pub(crate) fn map_update<V>(self, map: impl FnOnce(U) -> V) -> OnDictionary<K, A, V, T> {
        let Self { basis, admission, update, max_dictionary, timing, memory } = self;
        OnDictionary { basis, admission, update: map(update), max_dictionary, timing, memory }
    }

    /// Whether both are empty and will keep the same points of every stream.
    pub(crate) fn keeps_the_points_of<V>(&self, other: &OnDictionary<K, A, V, T>) -> bool
    where
        K: PartialEq,
        A: PartialEq,
    {
        self.basis.is_empty()
            && other.basis.is_empty()
            && self.basis.kernel() == other.basis.kernel()
            && self.basis.dimension() == other.basis.dimension()
            && self.admission == other.admission
            && self.max_dictionary == other.max_dictionary
    }

    /// The coordinates of `x`, in `scratch`.
    pub(crate) fn coordinates<'s>(&self, x: &[f64], scratch: &'s mut Scratch) -> Result<&'s AlignedVec, Error> {
        check_input(x, self.basis.dimension())?;
        self.basis.probe(x, &mut scratch.probe);
        if scratch.probe.is_finite() { Ok(scratch.probe.coordinates()) } else { Err(Error::KernelOverflow) }
    }

    /// Asks the rule, unless the dictionary is full or the point is the zero function of a non-stationary kernel.
    fn admits(&mut self, probe: &Probe) -> Option<f64> {
        let has_room = self.max_dictionary.is_none_or(|max| self.basis.len() < max);
        if has_room && probe.self_value() > 0.0 { self.admission.admits(probe) } else { None }
    }

    /// The example is learnt in the basis before or after it joins, as `T` says, and the prediction made before returned;
    /// a refused step changes nothing.
    fn learn(&mut self, x: &[f64], y: f64, probe: &mut Probe) -> Result<f64, Error> {
        if !probe.is_finite() {
            return Err(Error::KernelOverflow);
        }
        if T::BEFORE_STEP {
            let growth = self.admits(probe);
            self.step(x, y, growth, probe)
        } else {
            // Before the first point there is nothing to step on: the prediction is 0.
            let first = self.basis.is_empty();
            let prediction = if first { 0.0 } else { self.update.step(probe.coordinates_mut(), None, y)? };
            if let Some(new_coordinate) = self.admits(probe) {
                self.basis.append(x, probe.coordinates(), new_coordinate);
                T::after_step(&mut self.update, self.basis.len());
            }
            Ok(prediction)
        }
    }

    /// The step, in the basis that `x` has joined when there is growth.
    fn step(&mut self, x: &[f64], y: f64, growth: Option<f64>, probe: &mut Probe) -> Result<f64, Error> {
        let coordinates = probe.coordinates_mut();
        let prediction = self.update.step(coordinates, growth, y)?;
        if let Some(new_coordinate) = growth {
            // The step pushed the new coordinate; the factor's row is the old ones and the pivot.
            coordinates.resize(self.basis.len());
            self.basis.append(x, coordinates, new_coordinate);
        }
        Ok(prediction)
    }

    /// Learns examples one by one, probes and all.
    fn learn_alone(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        for (x, y) in xs.chunks_exact(self.dimension().max(1)).zip(ys) {
            predictions.push(self.predict_then_update(x, *y)?);
        }
        Ok(())
    }

    /// Learns examples whose probes are made, one by one.
    fn learn_each(
        &mut self,
        xs: &[f64],
        ys: &[f64],
        memory: &mut Memory,
        predictions: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let d = self.dimension();
        for ((x, y), probe) in xs.chunks_exact(d.max(1)).zip(ys).zip(memory.probes.as_flattened_mut()) {
            check_example(x, *y, d)?;
            self.basis.catch_up(x, probe);
            predictions.push(self.learn(x, *y, probe)?);
        }
        Ok(())
    }

    /// Learns examples whose probes are made, those between two kept points at once: whether a point is kept depends on its
    /// probe alone, so it is known before anything is learnt.
    fn learn_runs(
        &mut self,
        xs: &[f64],
        ys: &[f64],
        memory: &mut Memory,
        predictions: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let d = self.dimension();
        let mut first = 0;
        while first < ys.len() {
            // The run ends with its last example, or before one that is kept or refused.
            let mut end = first;
            let mut kept = None;
            let mut refused = Ok(());
            let probes = memory.probes.as_flattened_mut();
            while end < ys.len() && kept.is_none() {
                let (x, probe) = (&xs[end * d..(end + 1) * d], &mut probes[end]);
                refused = check_example(x, ys[end], d);
                if refused.is_err() {
                    break;
                }
                self.basis.catch_up(x, probe);
                if !probe.is_finite() {
                    refused = Err(Error::KernelOverflow);
                    break;
                }
                kept = self.admits(probe).map(|growth| (end, growth));
                end += usize::from(kept.is_none());
            }
            for (probe, coordinates) in probes[first..end].iter_mut().zip(&mut memory.coordinates) {
                std::mem::swap(probe.coordinates_mut(), coordinates);
            }
            let coordinates = &mut memory.coordinates[..end - first];
            self.update.learn_block(coordinates, &ys[first..end], predictions)?;
            refused?;
            if let Some((at, growth)) = kept {
                let x = &xs[at * d..(at + 1) * d];
                predictions.push(self.step(x, ys[at], Some(growth), &mut probes[at])?);
                end += 1;
            }
            first = end;
        }
        Ok(())
    }
}

impl<K: Kernel, A: Admission, U: LinearUpdate, T: GrowthTiming> Regressor for OnDictionary<K, A, U, T> {
    fn dimension(&self) -> usize {
        self.basis.dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.basis.len()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        Ok(self.update.predict(self.coordinates(x, scratch)?))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let mut memory = std::mem::take(&mut self.memory);
        memory.make_room(1);
        let probe = &mut memory.probes[0][0];
        self.basis.probe(x, probe);
        let learnt = self.learn(x, y, probe);
        self.memory = memory;
        learnt
    }

    /// Looks ahead: the coordinates of [`TOGETHER`] inputs come from one read of the factor, and are brought up to date when
    /// a point is kept among them; updates that take several rounds at once get those between two kept points. A small dictionary
    /// that keeps most of what comes learns one by one, as long as it does.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension();
        check_block(xs, ys, d)?;
        let (mut first, mut kept) = (0, TOGETHER);
        while ys.len() - first >= TOGETHER {
            let before = self.dictionary_size();
            if before < WORTH_A_GROUP && 2 * kept > TOGETHER {
                let rows = first..first + TOGETHER;
                self.learn_alone(&xs[rows.start * d..rows.end * d], &ys[rows], predictions)?;
                (first, kept) = (first + TOGETHER, self.dictionary_size() - before);
                continue;
            }
            let at_once = if T::BEFORE_STEP { self.update.block_size() } else { 1 };
            let groups = (at_once.min(ys.len() - first) / TOGETHER).max(1);
            let rows = first..first + groups * TOGETHER;
            let (xs, ys) = (&xs[rows.start * d..rows.end * d], &ys[rows]);
            let mut memory = std::mem::take(&mut self.memory);
            memory.make_room(groups);
            for (group, probes) in memory.probes[..groups].iter_mut().enumerate() {
                let input = |i| &xs[(group * TOGETHER + i) * d..][..d];
                self.basis.probe_together(std::array::from_fn(input), probes);
            }
            let learnt = if at_once > 1 {
                self.learn_runs(xs, ys, &mut memory, predictions)
            } else {
                self.learn_each(xs, ys, &mut memory, predictions)
            };
            self.memory = memory;
            learnt?;
            first += groups * TOGETHER;
            kept = self.dictionary_size() - before;
        }
        self.learn_alone(&xs[first * d..], &ys[first..], predictions)
    }
}
