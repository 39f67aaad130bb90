//! Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and
//! Rudi 2019, eq. 3).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the
//! variant of section 4 and of Zhdanov and Kalnishkan (2013), leaves the last term out. With the
//! factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and
//! `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row `[vᵀ, √(s + λ)]`,
//! `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the
//! square of the stream's length**. With weights the factor is that of `K + λΩ⁻¹`, so `ω` weighs
//! its example's squared error. `λ/ω` counts as [`LEAST_WEIGHTED`]` k(x,x)` at least,
//! and so does `λ` as [`LEAST_RIDGE`]` k(x,x)`. A block solves for [`SOLVES_TOGETHER`] inputs in
//! one read of the factor, once it is large enough, and then for the points that joined among them:
//! `O(t)` more a round, and the same bits.

use std::marker::PhantomData;

use mercer_core::{ExampleError, Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_linalg_incremental::{GrowingCholesky, Rotations, SOLVES_TOGETHER};
use mercer_simd::dot;

use crate::engines::basis::kernel_coefficients::KernelCoefficients;
use crate::engines::update::{Awv, Coefficients, Readout, Residuals, Ridge, finite, in_range};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::{Rows, Target};
use crate::learner::{check_input, check_scores, learn_in_order, learn_one_by_one};
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

/// Points from which on inputs are solved for together: the factor of fewer stays in the first
/// level of cache.
const WORTH_A_GROUP: usize = 80;

/// Least ridge of an example, in units of `k(x,x)`: with less, rounding would decide what the
/// factor is.
const LEAST_RIDGE: f64 = 1.0 / (1_u64 << 41) as f64;

/// The same where a weight makes it less than `λ`: many such examples fit their noise.
const LEAST_WEIGHTED: f64 = 1.0 / (1_u64 << 30) as f64;

parameters! {
    /// Parameters of [`KernelAwv`] and [`KernelKrr`].
    #[derive(Copy)]
    pub struct KernelRidgeParams {
        /// ridge
        lambda: f64 = 1.0 => "λ" POSITIVE.search(0.0001, 10.0),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Least squares over all points, predicting by the [`Readout`] `F`.
///
/// # Invariants
/// `factor` is `L` with `L Lᵀ = K + λI` over `points`, and `q = L⁻¹Y`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelRidge<K, F> {
    kernel: K,
    lambda: f64,
    points: Points,
    factor: GrowingCholesky,
    q: Coefficients,
    readout: PhantomData<F>,
    residuals: Residuals,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
    #[cfg_attr(feature = "serde", serde(skip))]
    group: InputGroup,
    /// New entries of `q`, one an output.
    #[cfg_attr(feature = "serde", serde(skip))]
    entries: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    kernel_coefficients: KernelCoefficients,
}

/// Memory of inputs that are solved for together.
#[derive(Clone, Debug, Default)]
struct InputGroup {
    rows: [AlignedVec; SOLVES_TOGETHER],
    solutions: [AlignedVec; SOLVES_TOGETHER],
    /// Kernel values with the points that joined since.
    joined: AlignedVec,
}

/// The Azoury–Warmuth–Vovk forecaster over all points.
pub type KernelAwv<K> = KernelRidge<K, Awv>;

/// Online kernel ridge regression over all points.
pub type KernelKrr<K> = KernelRidge<K, Ridge>;

impl<K, F> KernelRidge<K, F> {
    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// The factor `L`.
    pub(crate) fn factor(&self) -> &GrowingCholesky {
        &self.factor
    }

    /// `q = L⁻¹Y`
    pub(crate) fn solved_targets(&self) -> &Coefficients {
        &self.q
    }

    /// `q = L⁻¹Y`, to change.
    pub(crate) fn solved_targets_mut(&mut self) -> &mut Coefficients {
        self.kernel_coefficients.clear();
        &mut self.q
    }
}

impl<K: Kernel, F: Readout> KernelRidge<K, F> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KernelRidgeParams) -> Result<Self, Error> {
        params.check()?;
        Ok(Self {
            kernel,
            lambda: params.lambda,
            points: Points::new(dimension),
            factor: GrowingCholesky::new(),
            q: Coefficients::zeros(params.outputs, 0),
            readout: PhantomData,
            residuals: Residuals::default(),
            scratch: Scratch::default(),
            group: InputGroup::default(),
            entries: Vec::new(),
            kernel_coefficients: KernelCoefficients::default(),
        })
    }

    /// Takes point `index` out: what is left is the fit to the others. At most `2n²` multiply-adds.
    ///
    /// # Panics
    /// If there is no such point.
    pub(crate) fn remove(&mut self, index: usize, rotations: &mut Rotations) {
        self.kernel_coefficients.clear_points();
        self.factor.remove(index, rotations);
        self.q.rotate(rotations);
        self.q.drop_last(None);
        self.points.remove(index);
    }

    /// `s`, leaving `ŷ_KRR` in `scores`, `v` in the first vector of `scratch` and `k(x_t)` in the
    /// second.
    pub(crate) fn solve(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<f64, Error> {
        let [v, row, _] = &mut scratch.vectors;
        self.kernel.row(&self.points, x, row);
        self.factor.forward_solve(row, v);
        self.measure(x, v, scores)
    }

    /// The kernel, the points and `α = (K + λI)⁻¹Y`, one vector an output; none where predictions
    /// are more than the values of that expansion. `O(n²)` after a change.
    #[must_use]
    pub fn expansion(&self) -> Option<(&K, &Points, &[AlignedVec])> {
        Some((&self.kernel, &self.points, self.alphas(usize::MAX)?))
    }

    /// `α = (K + λI)⁻¹Y`, where predictions are its values alone and it costs no more than to solve
    /// for `inputs` inputs, or one.
    fn alphas(&self, inputs: usize) -> Option<&[AlignedVec]> {
        let pays = F::OF_VALUES && self.q.outputs() <= inputs.max(1);
        let dictionary = (&self.kernel, &self.points);
        pays.then(|| self.kernel_coefficients.get(&self.factor, dictionary, self.q.vectors().iter()))?
    }

    /// `s` of `x`, `v` being known, and `ŷ_KRR` in `scores`.
    fn measure(&self, x: &[f64], v: &AlignedVec, scores: &mut [f64]) -> Result<f64, Error> {
        let s = (self.kernel.self_value(x) - dot(v.lanes(), v.lanes())).max(0.0);
        self.q.values(v, scores);
        let finite = s.is_finite() && scores.iter().all(|z| z.is_finite());
        if finite { Ok(s) } else { Err(ExampleError::KernelOverflow.into()) }
    }

    /// The entry `√(s + λ/ω)` that an example adds to the diagonal of the factor.
    pub(crate) fn pivot(&self, x: &[f64], weight: f64, s: f64) -> Result<f64, Error> {
        let own = self.kernel.self_value(x);
        let least = self.lambda.min(LEAST_WEIGHTED * own).max(LEAST_RIDGE * own);
        finite((s + (self.lambda / weight).max(least)).sqrt())
    }

    /// Turns the values of the fit into predictions.
    fn read(&self, s: f64, scores: &mut [f64]) {
        let divisor = F::divisor(|| s / self.lambda);
        scores.iter_mut().for_each(|z| *z /= divisor);
    }

    /// Learns a target at `x`, whose `v`, `ŷ_KRR` and `s` these are, and gives the prediction; a
    /// refused step changes nothing.
    pub(crate) fn join(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        v: &AlignedVec,
        s: f64,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        if target.weight == 0.0 {
            self.read(s, scores);
            return Ok(());
        }
        let pivot = self.pivot(x, target.weight, s)?;
        self.entries.clear();
        for (y, z) in target.y.iter().zip(&*scores) {
            let entry = (y - z) / pivot;
            // Entries of this size add up, and are rotated, without leaving the range of numbers.
            in_range(entry)?;
            self.entries.push(entry);
        }
        self.kernel_coefficients.clear();
        // The new entry of q squared is e²/(s + λ/ω).
        self.residuals.record(1.0, target.weight, self.entries.iter().map(|entry| self.lambda * entry * entry));
        self.factor.append(v, pivot);
        self.q.push(&self.entries);
        self.points.push(x);
        self.read(s, scores);
        Ok(())
    }

    /// Learns [`SOLVES_TOGETHER`] rows whose solutions, and kernel values with the points before
    /// the first of them, are in `group`.
    fn learn_group(
        &mut self,
        rows: Rows<'_>,
        group: &mut InputGroup,
        joined: &mut Points,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let known = self.points.len();
        let InputGroup { rows: kernel_rows, solutions, joined: values } = group;
        for (i, (x, target)) in rows.iter().enumerate() {
            let (row, v) = (&mut kernel_rows[i], &mut solutions[i]);
            self.problem().check(x, target)?;
            self.kernel.row(joined, x, values);
            values.iter().for_each(|value| row.push(*value));
            self.factor.forward_solve_from(known, row, v);
            learn_in_order(1, self.outputs(), scores, |_, made| {
                let s = self.measure(x, v, made)?;
                self.join(x, target, v, s, made)
            })?;
            if target.weight > 0.0 {
                joined.push(x);
            }
        }
        Ok(())
    }
}

impl<K: Validate, F> Validate for KernelRidge<K, F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.kernel.validate()?;
        Inconsistent::positive(self.lambda, "ridge")?;
        self.points.validate()?;
        self.factor.validate()?;
        self.q.validate()?;
        self.residuals.validate()?;
        let known = self.residuals.fits(self.q.outputs());
        Inconsistent::require(known, "kernel ridge regression", "it has residuals of each output, or of none")?;
        let fits = [self.factor.dimension(), self.q.coordinates()] == [self.points.len(); 2];
        Inconsistent::require(fits, "kernel ridge regression", "its factor has a row for each point")
    }
}

impl<K: Kernel, F: Readout> Regressor for KernelRidge<K, F> {
    fn problem(&self) -> Problem {
        Problem::squared(self.points.dimension(), self.q.outputs())
    }

    fn dictionary_size(&self) -> usize {
        self.points.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension())?;
        if let Some(alphas) = self.alphas(scratch.inputs_ahead()) {
            let row = &mut scratch.vectors[1];
            self.kernel.row(&self.points, x, row);
            scores.iter_mut().zip(alphas).for_each(|(score, alpha)| *score = dot(alpha.lanes(), row.lanes()));
            let finite = self.kernel.self_value(x).is_finite();
            return if finite { check_scores(scores) } else { Err(ExampleError::KernelOverflow.into()) };
        }
        let s = self.solve(x, scratch, scores)?;
        self.read(s, scores);
        Ok(())
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let solved = self.solve(x, &mut scratch, scores);
        let learnt = solved.and_then(|s| self.join(x, target, &scratch.vectors[0], s, scores));
        self.scratch = scratch;
        learnt
    }

    fn variance(&self) -> Option<&dyn Variance> {
        Some(self)
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
                self.points.grow(added);
                Ok(())
            }
            Growth::Output { like } => {
                self.kernel_coefficients.clear();
                self.q.add_output(like);
                self.residuals.add_output(like);
                Ok(())
            }
        }
    }
}

impl<K: Kernel, F: Readout> Variance for KernelRidge<K, F> {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        self.residuals.noise(output)
    }

    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        check_input(x, self.dimension())?;
        let s = self.solve(x, scratch, scores)?;
        self.read(s, scores);
        Ok(self.residuals.variances(s / self.lambda, variances))
    }
}

impl<K: Kernel, F: Readout> Blocks for KernelRidge<K, F> {
    /// Looks ahead: see the module.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let alone = WORTH_A_GROUP.saturating_sub(self.points.len()).min(rows.len());
        let whole = alone + (rows.len() - alone) / SOLVES_TOGETHER * SOLVES_TOGETHER;
        learn_one_by_one(self, rows.range(0, alone), scores)?;
        let mut joined = Points::with_capacity(self.dimension(), SOLVES_TOGETHER);
        let mut group = std::mem::take(&mut self.group);
        let mut learnt = Ok(());
        for first in (alone..whole).step_by(SOLVES_TOGETHER) {
            let some = rows.range(first, first + SOLVES_TOGETHER);
            for (i, row) in group.rows.iter_mut().enumerate() {
                self.kernel.row(&self.points, some.input(i), row);
            }
            self.factor.forward_solve_together(group.rows.each_ref(), group.solutions.each_mut());
            joined.clear();
            learnt = self.learn_group(some, &mut group, &mut joined, scores);
            if learnt.is_err() {
                break;
            }
        }
        self.group = group;
        learnt?;
        learn_one_by_one(self, rows.range(whole, rows.len()), scores)
    }

    /// It learns on one.
    fn limit_threads(&mut self, _: usize) {}
}

#[doc(hidden)]
pub const KERNEL_AWV: Learner<KernelAwv<AnyKernel>> = Entry {
    name: "kernel-awv",
    summary: "Azoury–Warmuth–Vovk forecaster over all points",
    keys: KernelRidgeParams::KEYS,
    time: cost!(1.0 t d, 0.5 t t),
    memory: cost!(1.0 t d, 0.5 t t),
    growth: Some("every example is kept, and memory and time grow with the square of their number"),
    source: "Jézéquel et al. 2019, eq. 3",
    remedy: Some("raise lambda"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "yardstick against any data; some thousand rows",
    start: "`lambda=0.1`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(KernelAwv::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const KERNEL_KRR: Learner<KernelKrr<AnyKernel>> = Entry {
    name: "kernel-krr",
    summary: "online kernel ridge regression over all points",
    source: "Zhdanov and Kalnishkan 2013; Jézéquel et al. 2019, section 4",
    advice: "yardstick on independent data; some thousand rows",
    ..KERNEL_AWV.entry
}
.made_by(|kernel, context, values| Ok(KernelKrr::new(kernel, context.dimension, values.parameters(context)?)?));
