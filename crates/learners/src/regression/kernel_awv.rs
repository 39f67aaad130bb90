//! Kernel-AWV and Kernel-KRR: least squares over all points of the stream (Jézéquel, Gaillard and Rudi 2019, eq. 3).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the whole space; KRR, the variant of section 4 and of
//! Zhdanov and Kalnishkan (2013), leaves the last term out. With the factor `L Lᵀ = K + λI`, `v = L⁻¹k(x_t)` and
//! `q = L⁻¹Y`: `ŷ_KRR = vᵀq` and `ŷ_AWV = ŷ_KRR/(1 + s/λ)`, `s = k(x_t,x_t) − ‖v‖²`. The factor gains the row
//! `[vᵀ, √(s + λ)]`, `q` the entry `(y − vᵀq)/√(s + λ)`. `td + ½t²` multiply-adds a round: **memory grows with the square of
//! the stream's length**. A block solves for [`TOGETHER`] inputs in one read of the factor, once it is large enough, and then for the
//! points that joined among them: `O(t)` more a round, and the same bits.

use std::marker::PhantomData;
use std::ops::Range;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{GrowingCholesky, TOGETHER};
use mercer_simd::dot;

use crate::regression::regressor::{check_block, check_example, check_input};
use crate::regression::update::{Awv, Forecast, Ridge, finite};
use crate::{Error, ParameterError, Regressor, Scratch};

/// Points from which on inputs are solved for together: the factor of fewer stays in the first level of cache.
const WORTH_A_GROUP: usize = 80;

/// Parameters of [`KernelAwv`] and [`KernelKrr`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelRidgeParams {
    /// Ridge `λ > 0`.
    pub lambda: f64,
}

impl Default for KernelRidgeParams {
    fn default() -> Self {
        Self { lambda: 1.0 }
    }
}

/// Least squares over all points, predicting by the [`Forecast`] `F`.
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
    q: AlignedVec,
    forecast: PhantomData<F>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
    #[cfg_attr(feature = "serde", serde(skip))]
    group: Group,
}

/// Memory of inputs that are solved for together.
#[derive(Clone, Debug, Default)]
struct Group {
    rows: [AlignedVec; TOGETHER],
    solutions: [AlignedVec; TOGETHER],
    /// Kernel values with the points that joined since.
    joined: AlignedVec,
}

/// The Azoury–Warmuth–Vovk forecaster over all points.
pub type KernelAwv<K> = KernelRidge<K, Awv>;

/// Online kernel ridge regression over all points.
pub type KernelKrr<K> = KernelRidge<K, Ridge>;

impl<K: Kernel, F: Forecast> KernelRidge<K, F> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KernelRidgeParams) -> Result<Self, Error> {
        Ok(Self {
            kernel,
            lambda: ParameterError::positive("lambda", params.lambda)?,
            points: Points::new(dimension),
            factor: GrowingCholesky::new(),
            q: AlignedVec::new(),
            forecast: PhantomData,
            scratch: Scratch::default(),
            group: Group::default(),
        })
    }

    /// `ŷ_KRR` and `s`, leaving `v` in `scratch.features`.
    fn solve(&self, x: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), Error> {
        let Scratch { features: v, work: row, .. } = scratch;
        self.kernel.row(&self.points, x, row);
        self.factor.forward_solve(row, v);
        self.measure(x, v)
    }

    /// `ŷ_KRR` and `s` of `x`, `v` being known.
    fn measure(&self, x: &[f64], v: &AlignedVec) -> Result<(f64, f64), Error> {
        let s = (self.kernel.self_value(x) - dot(v.lanes(), v.lanes())).max(0.0);
        let z = dot(v.lanes(), self.q.lanes());
        if z.is_finite() && s.is_finite() { Ok((z, s)) } else { Err(Error::KernelOverflow) }
    }

    /// Learns `y` at `x`, whose `v`, `ŷ_KRR` and `s` these are, and returns the prediction; a refused step changes nothing.
    fn join(&mut self, x: &[f64], y: f64, v: &AlignedVec, (z, s): (f64, f64)) -> Result<f64, Error> {
        let pivot = (s + self.lambda).sqrt();
        let entry = finite((y - z) / pivot)?;
        self.factor.append(v, pivot);
        self.q.push(entry);
        self.points.push(x);
        Ok(F::forecast(z, || s / self.lambda))
    }

    /// Learns these rows one by one.
    fn learn_each(
        &mut self,
        xs: &[f64],
        ys: &[f64],
        rows: Range<usize>,
        predictions: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let d = self.dimension();
        for i in rows {
            predictions.push(self.predict_then_update(&xs[i * d..(i + 1) * d], ys[i])?);
        }
        Ok(())
    }

    /// Learns [`TOGETHER`] rows whose solutions, and kernel values with the points before the first of them, are in `group`.
    fn learn_group(
        &mut self,
        xs: &[f64],
        ys: &[f64],
        group: &mut Group,
        joined: &mut Points,
        predictions: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let (d, known) = (self.dimension(), self.points.len());
        let Group { rows, solutions, joined: values } = group;
        for (i, y) in ys.iter().enumerate() {
            let (x, row, v) = (&xs[i * d..(i + 1) * d], &mut rows[i], &mut solutions[i]);
            check_example(x, *y, d)?;
            self.kernel.row(joined, x, values);
            values.iter().for_each(|value| row.push(*value));
            self.factor.forward_solve_from(known, row, v);
            let measured = self.measure(x, v)?;
            predictions.push(self.join(x, *y, v, measured)?);
            joined.push(x);
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
        let fits = [self.factor.dimension(), self.q.len()] == [self.points.len(); 2];
        Inconsistent::require(fits, "kernel ridge regression", "its factor has a row for each point")
    }
}

impl<K: Kernel, F: Forecast> Regressor for KernelRidge<K, F> {
    fn dimension(&self) -> usize {
        self.points.dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.points.len()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        let (z, s) = self.solve(x, scratch)?;
        Ok(F::forecast(z, || s / self.lambda))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let solved = self.solve(x, &mut scratch);
        let learnt = solved.and_then(|solved| self.join(x, y, &scratch.features, solved));
        self.scratch = scratch;
        learnt
    }

    /// Looks ahead: see the module.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension();
        check_block(xs, ys, d)?;
        let alone = WORTH_A_GROUP.saturating_sub(self.points.len()).min(ys.len());
        let whole = alone + (ys.len() - alone) / TOGETHER * TOGETHER;
        self.learn_each(xs, ys, 0..alone, predictions)?;
        let mut joined = Points::with_capacity(d, TOGETHER);
        let mut group = std::mem::take(&mut self.group);
        let mut learnt = Ok(());
        for first in (alone..whole).step_by(TOGETHER) {
            let (xs, ys) = (&xs[first * d..(first + TOGETHER) * d], &ys[first..first + TOGETHER]);
            for (i, row) in group.rows.iter_mut().enumerate() {
                self.kernel.row(&self.points, &xs[i * d..(i + 1) * d], row);
            }
            self.factor.forward_solve_together(group.rows.each_ref(), group.solutions.each_mut());
            joined.clear();
            learnt = self.learn_group(xs, ys, &mut group, &mut joined, predictions);
            if learnt.is_err() {
                break;
            }
        }
        self.group = group;
        learnt?;
        self.learn_each(xs, ys, whole..ys.len(), predictions)
    }
}
