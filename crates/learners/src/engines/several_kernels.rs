//! The engine of learners with several kernels: one set of points, and for each kernel a vector of
//! coefficients.
//!
//! `y_p(x) = Σ_i A_ip k_p(d_i, x)` is what kernel `p` of `P` says; an update combines these parts
//! to the prediction and moves `A`. A round costs `PJd` for the kernel rows and `O(PJ)` for the
//! rest; memory is `Jd + PJ`.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_simd::dot;

use crate::engines::update::Coefficients;
use crate::example::Target;
use crate::learner::{check_input, check_scores};
use crate::{Blocks, Error, Growth, Problem, Regressor, Scratch, Tokens, Variance};

/// An example as a [`MultikernelUpdate`] sees it.
pub struct SeenByKernels<'a> {
    /// A kernel row for each kernel. The update may change them.
    pub rows: &'a mut [AlignedVec],
    /// `k_p(x, x)` for each kernel.
    pub self_values: &'a [f64],
    /// `y_p(x)` for each kernel.
    pub parts: &'a [f64],
    /// `f(x)`, finite.
    pub prediction: f64,
    /// Its target, of positive weight.
    pub target: Target<'a>,
    /// True if the dictionary is full: `x` cannot join.
    pub is_full: bool,
    /// The place of the kept point that `x` equals, if there is one.
    pub same: Option<usize>,
}

/// An update of the coefficients of several kernels. It minimises the squared loss of one output.
pub trait MultikernelUpdate: Clone + Send + Sync {
    /// `f(x)`, made of `y_p(x)` for each kernel.
    fn combine(&self, parts: &[f64]) -> f64;

    /// Learns the example. `a` has a vector for each kernel. An update that keeps `x` appends a
    /// coefficient to each; the point then joins the dictionary.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`](mercer_core::ExampleError::Diverged) when the step is not finite;
    /// `self` and `a` are unchanged.
    fn step(&mut self, a: &mut Coefficients, seen: SeenByKernels<'_>) -> Result<(), Error>;

    /// True if its state is that of so many kernels, for updates that have one: the answer when it
    /// was read back.
    fn fits(&self, kernels: usize) -> bool;
}

/// A sum of kernel expansions on one growing dictionary, one for each of several kernels.
///
/// A round costs `PJd` for the kernel rows and what the update costs; memory is `Jd + PJ`. At a
/// fixed size nothing is allocated.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnSeveralKernels<K, U> {
    kernels: Vec<K>,
    points: Points,
    a: Coefficients,
    update: U,
    max_dictionary: Option<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: InputMemory,
}

/// Values computed for an input; their memory is reused from round to round.
#[derive(Clone, Debug, Default)]
struct InputMemory {
    rows: Vec<AlignedVec>,
    self_values: Vec<f64>,
    parts: Vec<f64>,
}

impl<K: Kernel, U: MultikernelUpdate> OnSeveralKernels<K, U> {
    /// An untrained learner for inputs of dimension `dimension` that never exceeds `max_dictionary`
    /// points.
    ///
    /// # Errors
    /// Without a kernel, or when no point at all may be kept.
    pub fn from_parts(
        kernels: Vec<K>,
        dimension: usize,
        update: U,
        max_dictionary: Option<usize>,
    ) -> Result<Self, Error> {
        let count = ParameterError::at_least_one("the number of kernels", kernels.len())?;
        if let Some(max) = max_dictionary {
            ParameterError::at_least_one("max_dictionary", max)?;
        }
        let (points, a) = (Points::new(dimension), Coefficients::zeros(count, 0));
        Ok(Self { kernels, points, a, update, max_dictionary, memory: InputMemory::default() })
    }

    /// The kernels.
    #[must_use]
    pub fn kernels(&self) -> &[K] {
        &self.kernels
    }

    /// The kept points, in order of insertion.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// `A`: the coefficients of the points, a vector for each kernel.
    #[must_use]
    pub fn coefficients(&self) -> &Coefficients {
        &self.a
    }

    /// The state of the update.
    pub(crate) fn state(&self) -> &U {
        &self.update
    }

    fn learn_seen(&mut self, x: &[f64], target: Target<'_>, memory: &mut InputMemory) -> Result<f64, Error> {
        let count = self.kernels.len();
        memory.rows.resize_with(count, AlignedVec::new);
        memory.self_values.resize(count, 0.0);
        memory.parts.resize(count, 0.0);
        for (p, kernel) in self.kernels.iter().enumerate() {
            kernel.row(&self.points, x, &mut memory.rows[p]);
            memory.self_values[p] = kernel.self_value(x);
            memory.parts[p] = dot(self.a.vectors()[p].lanes(), memory.rows[p].lanes());
        }
        check_scores(&memory.self_values)?;
        let prediction = self.update.combine(&memory.parts);
        check_scores(&[prediction])?;
        let seen = SeenByKernels {
            rows: &mut memory.rows,
            self_values: &memory.self_values,
            parts: &memory.parts,
            prediction,
            target,
            same: self.points.position(x),
            is_full: self.max_dictionary.is_some_and(|max| self.points.len() >= max),
        };
        self.update.step(&mut self.a, seen)?;
        if self.a.coordinates() > self.points.len() {
            self.points.push(x);
        }
        Ok(prediction)
    }
}

impl<K: Validate, U: MultikernelUpdate + Validate> Validate for OnSeveralKernels<K, U> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner with several kernels";
        Inconsistent::require(!self.kernels.is_empty(), WHAT, "it has a kernel")?;
        self.kernels.iter().try_for_each(Validate::validate)?;
        self.points.validate()?;
        self.a.validate()?;
        self.update.validate()?;
        let fits = self.a.outputs() == self.kernels.len() && self.update.fits(self.kernels.len());
        Inconsistent::require(fits, WHAT, "it has coefficients for each kernel")?;
        let fits = self.a.coordinates() == self.points.len();
        Inconsistent::require(fits, WHAT, "it has a coefficient for each kept point")
    }
}

impl<K: Kernel, U: MultikernelUpdate> Regressor for OnSeveralKernels<K, U> {
    fn problem(&self) -> Problem {
        Problem::squared(self.points.dimension(), 1)
    }

    fn dictionary_size(&self) -> usize {
        self.points.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.points.dimension())?;
        let Scratch { vectors: [row, ..], numbers: parts, .. } = scratch;
        parts.clear();
        for (kernel, a) in self.kernels.iter().zip(self.a.vectors()) {
            kernel.row(&self.points, x, row);
            parts.push(dot(a.lanes(), row.lanes()));
        }
        scores[0] = self.update.combine(parts);
        check_scores(scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut memory = std::mem::take(&mut self.memory);
        let learnt = self.learn_seen(x, target, &mut memory);
        self.memory = memory;
        scores[0] = learnt?;
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
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
                self.points.grow(added);
                Ok(())
            }
            Growth::Output { .. } => Err(growth.refused()),
        }
    }
}
