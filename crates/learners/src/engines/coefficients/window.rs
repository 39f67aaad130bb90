//! A window of samples: the last examples with their kernel rows against the dictionary.
//!
//! Learners that correct the errors of several examples at once share it. The rows follow the
//! dictionary as points join and leave: a joining point costs a kernel value for each sample, `pd`
//! multiply-adds, and a leaving one `O(pJ)` moves. `p(J + d + 2)` numbers of memory.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::GrowingCholesky;
use mercer_simd::dot;

use super::SampleView;
use crate::engines::update::{Coefficients, finite};
use crate::{Error, Growth};

/// The last samples, oldest first.
///
/// While [`learn`](Self::learn) runs, the window may hold one sample more than its order: the
/// oldest, which is not looked at.
///
/// # Invariants
/// One input, target, weight and row for each sample, at most `order` between rounds; a row has a
/// kernel value for each kept point.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SampleWindow {
    order: usize,
    inputs: Points,
    targets: Vec<f64>,
    weights: Vec<f64>,
    rows: Vec<AlignedVec>,
    #[cfg_attr(feature = "serde", serde(skip))]
    spare: Option<AlignedVec>,
    #[cfg_attr(feature = "serde", serde(skip))]
    joining: AlignedVec,
}

impl SampleWindow {
    /// An empty window of `order ≥ 1` samples, for inputs of dimension `dimension`; `name` is that
    /// of the parameter.
    pub(crate) fn new(name: &'static str, order: usize, dimension: usize) -> Result<Self, ParameterError> {
        let order = ParameterError::at_least_one(name, order)?;
        let (targets, weights, rows) = (Vec::new(), Vec::new(), Vec::new());
        let inputs = Points::new(dimension);
        Ok(Self { order, inputs, targets, weights, rows, spare: None, joining: AlignedVec::new() })
    }

    /// Learns an example: it enters, `find` moves the coefficients by what the window says of the
    /// old ones, and they become the learner's.
    ///
    /// # Errors
    /// That of `find`, or [`ExampleError::Diverged`]; window and coefficients are then what they
    /// were.
    pub(crate) fn learn<K: Kernel>(
        &mut self,
        alpha: &mut Coefficients,
        seen: &mut SampleView<'_, K>,
        moved: &mut Move,
        find: impl FnOnce(&Self, &AlignedVec, &mut AlignedVec) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let joins = seen.answer.growth().is_some();
        self.enter(seen, joins)?;
        moved.begin(alpha, joins);
        let found = find(self, &alpha.vectors()[0], &mut moved.next).and_then(|()| moved.check());
        if found.is_ok() {
            moved.carry_out(alpha);
            self.settle();
        } else {
            self.take_back(joins);
        }
        found
    }

    /// Takes the example in as the last sample. If it joins the dictionary, all rows gain its
    /// kernel values, the coordinates of the probe too.
    fn enter<K: Kernel>(&mut self, seen: &mut SampleView<'_, K>, joins: bool) -> Result<(), Error> {
        let SampleView { basis, x, probe, target, .. } = seen;
        if joins {
            basis.kernel().row(&self.inputs, x, &mut self.joining);
            if !self.joining.iter().all(|value| value.is_finite()) {
                return Err(ExampleError::KernelOverflow.into());
            }
            self.rows.iter_mut().zip(self.joining.iter()).for_each(|(row, k)| row.push(*k));
            let own = probe.self_value();
            probe.coordinates_mut().push(own);
        }
        let mut row = self.spare.take().unwrap_or_default();
        row.assign(probe.coordinates());
        self.rows.push(row);
        self.inputs.push(x);
        self.targets.push(target.y[0]);
        self.weights.push(target.weight);
        Ok(())
    }

    /// Ends a round that was learnt.
    fn settle(&mut self) {
        if self.rows.len() > self.order {
            self.inputs.remove(0);
            self.targets.remove(0);
            self.weights.remove(0);
            self.spare = Some(self.rows.remove(0));
        }
    }

    /// Ends a round that was refused: the window is what it was.
    fn take_back(&mut self, joined: bool) {
        self.inputs.remove(self.rows.len() - 1);
        self.targets.pop();
        self.weights.pop();
        self.spare = self.rows.pop();
        if joined {
            self.rows.iter_mut().for_each(|row| row.resize(row.len() - 1));
        }
    }

    /// Point `index` leaves the dictionary.
    pub(crate) fn leave(&mut self, index: usize) {
        self.rows.iter_mut().for_each(|row| row.remove(index));
    }

    /// The most samples that it holds.
    pub(crate) fn order(&self) -> usize {
        self.order
    }

    fn oldest(&self) -> usize {
        self.rows.len().saturating_sub(self.order)
    }

    /// The rows of the samples in the window, the one that entered included.
    pub(crate) fn rows(&self) -> &[AlignedVec] {
        &self.rows[self.oldest()..]
    }

    /// Their weights.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights[self.oldest()..]
    }

    /// `errors ← y_j − f(x_j)` for the samples in the window. Points that `alpha` does not know yet
    /// count as 0.
    pub(crate) fn errors(&self, alpha: &AlignedVec, errors: &mut AlignedVec) {
        errors.resize(self.rows().len());
        let samples = self.targets[self.oldest()..].iter().zip(self.rows());
        for (error, (y, row)) in errors.iter_mut().zip(samples) {
            *error = y - dot(row.lanes(), alpha.lanes());
        }
    }

    /// The same, each multiplied by its weight, of which no more counts than `most` or 1.
    pub(crate) fn weighted_errors(&self, alpha: &AlignedVec, most: f64, errors: &mut AlignedVec) {
        self.errors(alpha, errors);
        errors.iter_mut().zip(self.weights()).for_each(|(error, weight)| *error *= weight.min(most.max(1.0)));
    }

    /// Inputs have more features, 0 in the samples; there is one output.
    pub(crate) fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                self.inputs.grow(added);
                Ok(())
            }
            Growth::Output { .. } => Err(growth.refused()),
        }
    }

    /// True if it belongs to so many kept points.
    pub(crate) fn fits(&self, points: usize) -> bool {
        self.rows.iter().all(|row| row.len() == points)
    }

    /// True if its samples are the last kept points, or all of them.
    pub(crate) fn ends(&self, points: usize) -> bool {
        self.fits(points) && self.rows.len() == self.order.min(points)
    }

    /// True if its inputs are of this dimension.
    pub(crate) fn fits_inputs(&self, dimension: usize) -> bool {
        self.inputs.dimension() == dimension
    }
}

impl Validate for SampleWindow {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.inputs.validate()?;
        self.targets.validate()?;
        self.rows.validate()?;
        self.weights.iter().try_for_each(|weight| Inconsistent::positive(*weight, "weight of a sample"))?;
        let samples = self.rows.len();
        let whole = [self.inputs.len(), self.targets.len(), self.weights.len()].iter().all(|len| *len == samples);
        let sound = whole && (1..=self.order).contains(&samples.max(1));
        Inconsistent::require(
            sound,
            "window of samples",
            "it has an input, a target, a weight and a row for each sample",
        )
    }
}

/// Where kernel coefficients of one output go in a round, for updates that look at all of them
/// before they move.
#[derive(Clone, Debug, Default)]
pub(crate) struct Move {
    pub(crate) next: AlignedVec,
}

impl Move {
    /// Begins from the coefficients, and 0 for the point that joins.
    pub(crate) fn begin(&mut self, alpha: &Coefficients, joins: bool) {
        self.next.assign(&alpha.vectors()[0]);
        if joins {
            self.next.push(0.0);
        }
    }

    /// Refuses coefficients that have left the range of numbers. Squares in range keep predictions
    /// in range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        finite(dot(self.next.lanes(), self.next.lanes())).map(drop)
    }

    /// Makes the move.
    pub(crate) fn carry_out(&mut self, alpha: &mut Coefficients) {
        std::mem::swap(&mut alpha.vectors_mut()[0], &mut self.next);
    }
}

/// Solves `(εI + G) z = e` for a Gram matrix `G` of the samples, by Cholesky. `p³/6 + p²`
/// multiply-adds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solver {
    factor: GrowingCholesky,
    column: AlignedVec,
    row: AlignedVec,
}

impl Solver {
    /// `e ← (εI + G)⁻¹ e` with `ε > 0`; `gram(i, j)` gives the entries with `j ≤ i`.
    pub(crate) fn solve(
        &mut self,
        eps: f64,
        gram: impl Fn(usize, usize) -> f64,
        e: &mut AlignedVec,
    ) -> Result<(), Error> {
        let Self { factor, column, row } = self;
        factor.clear();
        for i in 0..e.len() {
            column.resize(i);
            column.iter_mut().enumerate().for_each(|(j, entry)| *entry = gram(i, j));
            factor.forward_solve(column, row);
            let rest = finite(gram(i, i) - dot(row.lanes(), row.lanes()))?;
            // No pivot is below √ε but by rounding, for G has no negative eigenvalue.
            factor.append(row, finite((rest + eps).max(eps).sqrt())?);
        }
        factor.forward_solve(e, row);
        factor.backward_solve(row, e);
        e.iter().try_for_each(|value| finite(*value).map(drop))
    }
}
