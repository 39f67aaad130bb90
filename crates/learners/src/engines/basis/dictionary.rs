//! The engine of the dictionary columns of the grid: a [`NewtonBasis`], an [`Admission`] rule and a
//! [`LinearUpdate`].

mod blocks;

use std::marker::PhantomData;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_simd::dot;
use mercer_sparsify::{Admission, NewtonBasis, Probe, SOLVES_TOGETHER};

use crate::engines::basis::eviction::{Eviction, Evictor};
use crate::engines::basis::kernel_coefficients::KernelCoefficients;
use crate::engines::basis::timing::GrowthTiming;
use crate::engines::update::GrowingUpdate;
use crate::example::Target;
use crate::learner::{check_input, check_scores};
use crate::{Blocks, Error, Growth, Problem, Regressor, Scratch, Shape, Tokens, Variance};

/// A linear update on the orthonormal coordinates of a growing dictionary.
///
/// A round costs `Jd` for the kernel row, `½J²` for the coordinates and what the update costs
/// (multiply-adds); memory is `Jd + ½J²` and the update's. A prediction costs `Jd`, and `J` for
/// each output; the first after a change `½J²` more for each, for their kernel coefficients `L⁻ᵀw`.
/// Where inputs come one by one and have several outputs, variances, and readouts that need the
/// coordinates, cost a round's coordinates. At a fixed size nothing is allocated. Where an
/// [`Eviction`] rule makes room, a round that keeps a point costs the rotations of factor, update
/// and rule besides: at most `2J²`, and `4J²` where there is a matrix.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnDictionary<K, A, U, T> {
    basis: NewtonBasis<K>,
    admission: A,
    update: U,
    max_dictionary: Option<usize>,
    timing: PhantomData<T>,
    evictor: Evictor,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: DictionaryMemory,
    #[cfg_attr(feature = "serde", serde(skip))]
    rotations: Rotations,
    /// Points removed since the learner was made or read back: probes from before the last removal
    /// are out of date.
    #[cfg_attr(feature = "serde", serde(skip))]
    removals: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    kernel_coefficients: KernelCoefficients,
}

/// Memory of a step or of a block, taken out while in use.
#[derive(Clone, Debug, Default)]
struct DictionaryMemory {
    /// Probes, [`SOLVES_TOGETHER`] at a time.
    probes: Vec<[Probe; SOLVES_TOGETHER]>,
    /// Coordinates of rounds that the update takes at once.
    coordinates: Vec<AlignedVec>,
}

impl DictionaryMemory {
    fn make_room(&mut self, groups: usize) {
        let groups = groups.max(self.probes.len());
        self.probes.resize_with(groups, Default::default);
        self.coordinates.resize_with(groups * SOLVES_TOGETHER, AlignedVec::new);
    }
}

impl<K: Kernel + Validate, A: Admission<NewtonBasis<K>> + Validate, U: GrowingUpdate + Validate, T> Validate
    for OnDictionary<K, A, U, T>
{
    fn validate(&self) -> Result<(), Inconsistent> {
        self.basis.validate()?;
        self.admission.validate()?;
        self.update.validate()?;
        self.evictor.validate()?;
        let points = self.basis.len();
        let fits = self.update.coordinates() == points && self.admission.fits(points) && self.evictor.fits(points);
        Inconsistent::require(fits, "learner on a dictionary", "it has a coordinate for each kept point")
    }
}

impl<K: Kernel, A: Admission<NewtonBasis<K>>, U: GrowingUpdate, T: GrowthTiming> OnDictionary<K, A, U, T> {
    /// An empty dictionary for inputs of dimension `dimension` that never exceeds `max_dictionary`
    /// points.
    ///
    /// # Errors
    /// When no point at all may be kept, the update has coordinates already, or it cannot grow when
    /// `T` says.
    pub fn from_parts(
        kernel: K,
        dimension: usize,
        admission: A,
        update: U,
        max_dictionary: Option<usize>,
    ) -> Result<Self, Error> {
        if let Some(max) = max_dictionary {
            ParameterError::at_least_one("max_dictionary", max)?;
        }
        let coordinates = update.coordinates();
        ParameterError::require(coordinates == 0, "coordinates of the update", "0", coordinates as f64)?;
        T::after_step(&mut update.clone(), 1)?;
        Ok(Self {
            basis: NewtonBasis::new(kernel, dimension),
            admission,
            update,
            max_dictionary,
            timing: PhantomData,
            evictor: Evictor::default(),
            memory: DictionaryMemory::default(),
            rotations: Rotations::new(),
            removals: 0,
            kernel_coefficients: KernelCoefficients::default(),
        })
    }

    /// The same, where a point leaves by this rule when one joins a dictionary of `max_dictionary`
    /// points. Without that bound no point ever leaves.
    #[must_use]
    pub fn evicting(self, eviction: Eviction) -> Self {
        Self { evictor: Evictor::new(eviction, &self.basis), ..self }
    }

    /// Which point leaves a full dictionary.
    pub fn eviction(&self) -> Eviction {
        self.evictor.rule()
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
        self.kernel_coefficients.clear();
        &mut self.update
    }

    /// The linear learner, without its dictionary.
    pub(crate) fn into_linear(self) -> U {
        self.update
    }

    /// The same dictionary under another update.
    pub(crate) fn map_update<V>(self, map: impl FnOnce(U) -> V) -> OnDictionary<K, A, V, T> {
        let Self { basis, admission, update, max_dictionary, timing, evictor, memory, rotations, removals, .. } = self;
        let (update, kernel_coefficients) = (map(update), KernelCoefficients::default());
        OnDictionary {
            basis,
            admission,
            update,
            max_dictionary,
            timing,
            evictor,
            memory,
            rotations,
            removals,
            kernel_coefficients,
        }
    }

    /// True if both are empty and will keep the same points of every stream.
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
            // The rules that look at coefficients remove other points under another update.
            && [self.evictor.rule(), other.evictor.rule()] == [Eviction::Never; 2]
    }

    /// Takes point `index` out of the dictionary, and its direction out of what was learnt, as
    /// `how` says. `O(J²)`, and nothing is allocated once the learner has removed a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn remove(&mut self, index: usize, how: Removal) {
        self.kernel_coefficients.clear_points();
        self.evictor.leaves(&self.basis, index);
        self.basis.remove(index, &mut self.rotations);
        self.update.remove(&self.rotations, how);
        self.admission.remove(index, &self.rotations);
        self.removals += 1;
    }

    /// Keeps a point, and removes one when that is one too many.
    fn keep(&mut self, x: &[f64], probe: &Probe, new_coordinate: f64) -> Result<(), Error> {
        self.evictor.joins(&self.basis, probe.coordinates(), new_coordinate);
        self.basis.append(x, probe.coordinates(), new_coordinate);
        T::after_step(&mut self.update, self.basis.len())?;
        if self.max_dictionary.is_some_and(|max| self.basis.len() > max)
            && let Some((index, how)) = self.evictor.choose(&self.basis, self.update.coefficients())
        {
            self.remove(index, how);
        }
        Ok(())
    }

    /// Brings a probe of `x` up to date that was made after `removals` removals.
    fn refresh(&self, x: &[f64], probe: &mut Probe, removals: u64) {
        if self.removals == removals {
            self.basis.catch_up(x, probe);
        } else {
            self.basis.probe(x, probe);
        }
    }

    /// The coordinates of `x`, in `scratch`.
    pub(crate) fn coordinates<'s>(&self, x: &[f64], scratch: &'s mut Scratch) -> Result<&'s AlignedVec, Error> {
        check_input(x, self.basis.dimension())?;
        self.basis.probe(x, &mut scratch.probe);
        if scratch.probe.is_finite() {
            Ok(scratch.probe.coordinates())
        } else {
            Err(ExampleError::KernelOverflow.into())
        }
    }

    /// The kernel coefficients of each function of the update, where they cost no more than the
    /// coordinates of `inputs` inputs, or one; `None` where these have to be computed.
    fn alphas(&self, inputs: usize) -> Option<&[AlignedVec]> {
        let (update, most) = (self.update.by_values()?, inputs.max(1));
        let few = update.function(0).is_some() && update.function(most).is_none();
        let functions = (0..most).map_while(|index| update.function(index));
        let dictionary = (self.basis.kernel(), self.basis.points());
        few.then(|| self.kernel_coefficients.get(self.basis.factor(), dictionary, functions))?
    }

    /// `values ←` those of all functions of the update at `x` by their kernel coefficients, `Jd`
    /// and `J` for each; `false` where coordinates have to be computed.
    pub(crate) fn values_by_coefficients(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        values: &mut [f64],
    ) -> Result<bool, Error> {
        let alphas = self.alphas(scratch.inputs_ahead()).filter(|alphas| alphas.len() == values.len());
        let Some(alphas) = alphas else { return Ok(false) };
        check_input(x, self.basis.dimension())?;
        let row = &mut scratch.vectors[0];
        self.basis.kernel().row(self.basis.points(), x, row);
        values.iter_mut().zip(alphas).for_each(|(value, alpha)| *value = dot(alpha.lanes(), row.lanes()));
        if self.basis.kernel().self_value(x).is_finite() {
            Ok(values.iter().all(|value| value.is_finite()))
        } else {
            Err(ExampleError::KernelOverflow.into())
        }
    }

    /// Asks the rule, unless the dictionary is full and stays as it is, or the point is the zero
    /// function of a non-stationary kernel.
    fn decide(&self, x: &[f64], probe: &Probe) -> Option<A::Decision> {
        let makes_room = self.evictor.rule() != Eviction::Never;
        let has_room = makes_room || self.max_dictionary.is_none_or(|max| self.basis.len() < max);
        (has_room && probe.self_value() > 0.0).then(|| self.admission.decide(&self.basis, x, probe))
    }

    /// The example is learnt in the basis before or after it joins, as `T` says, and the prediction
    /// made before given; a refused step changes nothing.
    fn learn_probed(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        probe: &mut Probe,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        if !probe.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        if target.weight == 0.0 {
            self.update.predict(probe.coordinates(), scores);
            return check_scores(scores);
        }
        self.kernel_coefficients.clear();
        if T::BEFORE_STEP {
            let decision = self.decide(x, probe);
            return self.step_with(x, target, decision, probe, scores);
        }
        // Before the first point there is nothing to step on: the score is 0.
        if self.basis.is_empty() {
            scores.fill(0.0);
            self.update.loss().predictions(scores);
        } else {
            self.update.step(probe.coordinates_mut(), None, target, scores)?;
        }
        if let Some(decision) = self.decide(x, probe) {
            self.admission.commit(probe, decision);
            if let Some(new_coordinate) = decision.into().growth() {
                self.keep(x, probe, new_coordinate)?;
            }
        }
        Ok(())
    }

    /// The step, in the basis that `x` has joined when the decision says so; it is carried out when
    /// the step has been made.
    fn step_with(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        decision: Option<A::Decision>,
        probe: &mut Probe,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let growth = decision.and_then(|decision| decision.into().growth());
        self.update.step(probe.coordinates_mut(), growth, target, scores)?;
        let growth = growth.filter(|_| self.update.coordinates() > self.basis.len());
        // The step pushed the new coordinate; rule and factor want the old ones and the pivot.
        probe.coordinates_mut().resize(self.basis.len());
        if let Some(decision) = decision {
            self.admission.commit(probe, decision);
        }
        if let Some(new_coordinate) = growth {
            self.keep(x, probe, new_coordinate)?;
        }
        Ok(())
    }

    /// Points kept since there were `points` in the dictionary and `removals` had left it.
    fn kept_since(&self, points: usize, removals: u64) -> usize {
        self.basis.len() + (self.removals - removals) as usize - points
    }
}

impl<K: Kernel, A: Admission<NewtonBasis<K>>, U: GrowingUpdate, T: GrowthTiming> Regressor
    for OnDictionary<K, A, U, T>
{
    fn problem(&self) -> Problem {
        Problem {
            shape: Shape { inputs: self.basis.dimension(), outputs: self.update.outputs() },
            loss: self.update.loss(),
        }
    }

    fn dictionary_size(&self) -> usize {
        self.basis.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        if let (true, Some(update)) = (self.values_by_coefficients(x, scratch, scores)?, self.update.by_values()) {
            update.read(scores);
        } else {
            self.update.predict(self.coordinates(x, scratch)?, scores);
        }
        check_scores(scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut memory = std::mem::take(&mut self.memory);
        memory.make_room(1);
        let probe = &mut memory.probes[0][0];
        self.basis.probe(x, probe);
        let learnt = self.learn_probed(x, target, probe, scores);
        self.memory = memory;
        learnt
    }

    fn variance(&self) -> Option<&dyn Variance> {
        self.update.variance().map(|_| self as &dyn Variance)
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                self.basis.grow(added);
                Ok(())
            }
            Growth::Output { like } => {
                self.kernel_coefficients.clear();
                self.update.add_output(like)
            }
        }
    }
}

impl<K: Kernel, A: Admission<NewtonBasis<K>>, U: GrowingUpdate, T: GrowthTiming> Variance for OnDictionary<K, A, U, T> {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        self.update.noise(output)
    }

    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        self.coordinates(x, scratch)?;
        let (phi, outside) = (scratch.probe.coordinates(), scratch.probe.residual().max(0.0));
        let known = self.update.predict_variance(phi, outside, scores, variances);
        check_scores(scores).map(|()| known)
    }
}
