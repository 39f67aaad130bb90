//! Recursive least squares in square-root (information) form: a triangular `R` with `RᵀR = V`, and
//! `U = R⁻ᵀS`.
//!
//! Rows `(φ, y)` come one by one: `V = diag(prior) + Σ φφᵀ`, `S = Σ φyᵀ`. The prediction at a row
//! is `ŷ = SᵀV⁻¹φ = Uᵀv` with `v = R⁻ᵀφ`, and `τ = 1 + φᵀV⁻¹φ = 1 + ‖v‖²` comes with it. Neither
//! `V` nor an inverse is ever formed, so the relative error grows with `cond(R) = √cond(V)`: an
//! explicit inverse is lost where this has half of its digits left.
//!
//! **One pass.** What is stored is `R = D^{½}L` with the diagonal of `L` one, as inverse pivots
//! `1/d_j` and rows `l_j`, and the rows `c_j` of `D^{−½}U`: square roots are taken only when
//! somebody asks for `R`. Eliminating row after row of `L` from the new row leaves the residual
//! `r`. With `p_j = r_j`, `τ_j = τ_{j−1} + p_j²/d_j` (`τ_0 = 1`) and `β_j = p_j/(d_jτ_j)`, row `j`
//! becomes `l_j + β_j r`, `d_j` becomes `d_jτ_j/τ_{j−1}`, and `c_j` follows as one more column.
//! These are the Givens rotations of `R_j` and `r/√τ_{j−1}` with both normalisations put off; the
//! dependent chain has one fused multiply-add a row, and the division is done for eight rows at
//! once. Taking a row back is the same with `τ_j = τ_{j−1} − p_j²/d_j` (Gill, Golub, Murray and
//! Saunders 1974, methods C1 and C2).
//!
//! **Waiting.** Where the factor does not fit the first level of cache, writing it costs more than
//! the arithmetic. Every second row of [`SquareRootRls::predict_then_update`] waits: it is
//! eliminated, which reads the factor, and the pass of the next row makes the rotations of both,
//! one after the other on each tile. Bit for bit the factor and the predictions are those of rows
//! that go in one by one. A row is calm, and may wait, if it does not outweigh what came before in
//! any eight coordinates.
//!
//! **Leading block.** The factor of the first `n'` coordinates is the leading `n' × n'` block of
//! `R`, its `U` the first `n'` rows of `U`: one factor serves all of them, and one pass over the
//! whole yields the prediction of a leading block on its way.

use std::borrow::Cow;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, LANES, Lane};

use crate::NotPositiveDefinite;

mod factor;
mod outputs;
mod rotations;
#[cfg(feature = "serde")]
mod stored;
mod sweep;

use factor::{Factor, Outlook, PendingRow};
use outputs::{Outputs, groups};
use sweep::{Passing, SweepPrediction};

/// An update that would leave the range of numbers; the factor is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the update leaves the range of numbers (1 + φᵀV⁻¹φ = {tau}); nothing was changed")]
pub struct OutOfRange {
    /// `1 + φᵀV⁻¹φ`, as far as it could be computed.
    pub tau: f64,
}

/// Scratch memory of [`SquareRootRls`]; grows to the factor's size and is then reused.
#[derive(Clone, Debug, Default)]
pub struct SquareRootScratch {
    row: Moving,
    waiting: Moving,
    prediction: PredictionSums,
    /// The factor before a step that may have to be undone.
    before: Option<Box<Factor>>,
}

/// Memory of what is left of a row, padded.
#[derive(Clone, Debug, Default)]
struct Moving {
    entries: AlignedVec,
    outputs: Vec<Outputs>,
}

/// Memory of a prediction: so far, and at the end of the leading block.
#[derive(Clone, Debug, Default)]
struct PredictionSums {
    all: Vec<Outputs>,
    at_leading: Vec<Outputs>,
}

/// Triangular `R` (`n × n`, positive diagonal) and `U` (`n × m`) of a regularised least-squares
/// problem that takes and gives back rows.
///
/// Two are equal, and are written alike, when they are once no row waits.
#[derive(Clone, Debug)]
pub struct SquareRootRls {
    factor: Factor,
    /// The last row, if it `waits`: learnt, but not yet in the factor. It is calm.
    waiting: PendingRow,
    waits: bool,
    /// True if the last row was calm, so that the next may be.
    calm: bool,
}

impl PartialEq for SquareRootRls {
    fn eq(&self, other: &Self) -> bool {
        self.settled() == other.settled()
    }
}

impl Validate for SquareRootRls {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.factor.validate()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for SquareRootRls {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.settled().serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for SquareRootRls {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Factor::deserialize(deserializer).map(Self::from)
    }
}

impl From<Factor> for SquareRootRls {
    fn from(factor: Factor) -> Self {
        Self { factor, waiting: PendingRow::default(), waits: false, calm: true }
    }
}

impl SquareRootRls {
    /// From this many coordinates on a calm row of the prequential step waits for the next. Below,
    /// the factor is in the first level of cache or not far beyond it, where writing is cheap.
    pub const WORTH_WAITING: usize = 136;

    /// `V = diag(prior)`, `S = 0`: `n = prior.len()` coordinates, `m` outputs.
    ///
    /// # Panics
    /// If `m` is zero or a number of the prior is not positive and finite.
    #[must_use]
    pub fn new(prior: &[f64], m: usize) -> Self {
        assert!(m > 0, "at least one output");
        check_prior(prior);
        Self::from(Factor::new(prior, m))
    }

    /// Forgets every row: `V = diag(prior)`, `S = 0`, keeping the memory.
    ///
    /// # Panics
    /// If `prior` has not `n` numbers, or one is not positive and finite.
    pub fn restart(&mut self, prior: &[f64]) {
        assert_eq!(prior.len(), self.dimension(), "the prior has one number for each coordinate");
        check_prior(prior);
        self.factor.restart(prior);
        self.waits = false;
    }

    /// Number of coordinates `n`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.factor.n
    }

    /// Number of outputs `m`.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.factor.m
    }

    /// Puts the row that waits, if any, into the factor; what the two mean is the same. Allocates.
    pub fn settle(&mut self) {
        if self.waits {
            let row = std::mem::take(&mut self.waiting.row);
            let mut scratch = SquareRootScratch { row, ..SquareRootScratch::default() };
            scratch.prediction.start(self.outputs());
            self.factor.sweep(None, 1.0, self.dimension(), &mut scratch);
            self.waits = false;
        }
    }

    /// The factor once no row waits.
    fn settled(&self) -> Cow<'_, Factor> {
        if !self.waits {
            return Cow::Borrowed(&self.factor);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled.factor)
    }

    /// `R[i, j]` (zero below the diagonal). `O(n²)` while a row waits: [`settle`](Self::settle)
    /// first to read many.
    ///
    /// # Panics
    /// If `i ≥ n` or `j ≥ n`.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        let n = self.dimension();
        assert!(i.max(j) < n, "entry ({i}, {j}) of a factor of dimension {n}");
        let factor = self.settled();
        factor.unit_entry(i, j) / factor.inverse_root(i)
    }

    /// `U[i, output]`, at the cost of an [`entry`](Self::entry).
    ///
    /// # Panics
    /// If `i ≥ n` or `output ≥ m`.
    #[must_use]
    pub fn output_entry(&self, i: usize, output: usize) -> f64 {
        let (n, m) = (self.dimension(), self.outputs());
        assert!(i < n && output < m, "entry ({i}, {output}) of U, {n} × {m}");
        let factor = self.settled();
        factor.coefficient(i, output) / factor.inverse_root(i)
    }

    /// `ŷ = Uᵀ R⁻ᵀ φ` for the leading block of `leading` coordinates; returns `τ = 1 + φᵀV⁻¹φ`.
    /// Entries of `row` past the block are not used. `½n'²` multiply-adds (thrice as many while a
    /// row waits), one read of the block.
    ///
    /// # Panics
    /// If `row` has not `n` entries, `prediction` not `m`, or `leading > n`.
    pub fn predict(
        &self,
        row: &AlignedVec,
        leading: usize,
        prediction: &mut [f64],
        scratch: &mut SquareRootScratch,
    ) -> f64 {
        self.check(row, leading);
        assert_eq!(prediction.len(), self.outputs(), "one prediction for each output");
        scratch.start(&row.lanes()[..leading.div_ceil(LANES)], &[], self.outputs());
        let passed = self.factor.solve(self.waits.then_some(&self.waiting), leading, scratch);
        prediction.copy_from_slice(&scratch.prediction.at_leading.as_flattened()[..prediction.len()]);
        passed.tau
    }

    /// The prequential step: predicts at `row` with the leading block, as
    /// [`predict`](Self::predict) would bit for bit, and adds the row to the whole factor; returns
    /// `τ` of the leading block as it was before. `n²` multiply-adds in one pass; a row that waits
    /// for the next costs `½n²` and makes that one's `2n²`.
    ///
    /// # Errors
    /// [`OutOfRange`] when a number would overflow or is not finite; nothing is changed (and
    /// `prediction` means nothing).
    ///
    /// # Panics
    /// If `row` has not `n` entries, `outputs` or `prediction` not `m`, or `leading > n`.
    pub fn predict_then_update(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        leading: usize,
        prediction: &mut [f64],
        scratch: &mut SquareRootScratch,
    ) -> Result<f64, OutOfRange> {
        self.check(row, leading);
        assert_eq!(prediction.len(), self.outputs(), "one prediction for each output");
        let tau = self.step(row, outputs, leading, true, scratch)?;
        prediction.copy_from_slice(&scratch.prediction.at_leading.as_flattened()[..prediction.len()]);
        Ok(tau)
    }

    /// Adds a row: `V ← V + φφᵀ`, `S ← S + φyᵀ`; returns `τ = 1 + φᵀV⁻¹φ` as it was before. The row
    /// does not wait, and its leading zeros cost nothing.
    ///
    /// # Errors
    /// As [`predict_then_update`](Self::predict_then_update).
    ///
    /// # Panics
    /// If `row` has not `n` entries or `outputs` not `m`.
    pub fn update(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        scratch: &mut SquareRootScratch,
    ) -> Result<f64, OutOfRange> {
        self.check(row, self.dimension());
        self.step(row, outputs, self.dimension(), false, scratch)
    }

    /// Takes a row back: `V ← V − φφᵀ`, `S ← S − φyᵀ`. Two passes, `1½n²` multiply-adds.
    ///
    /// The digits lost are those of `1/(1 − φᵀV⁻¹φ)`: a row that alone knew a direction leaves
    /// little of what the prior knew of it.
    ///
    /// # Errors
    /// [`NotPositiveDefinite`] when `1 − φᵀV⁻¹φ` is not above `least_pivot`; nothing is changed.
    ///
    /// # Panics
    /// If `row` has not `n` entries or `outputs` not `m`.
    pub fn downdate(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        least_pivot: f64,
        scratch: &mut SquareRootScratch,
    ) -> Result<(), NotPositiveDefinite> {
        let n = self.dimension();
        self.check(row, n);
        assert_eq!(outputs.len(), self.outputs(), "a row has m outputs");
        self.settle();
        scratch.start(row.lanes(), outputs, self.outputs());
        let pivot = 2.0 - self.factor.solve(None, n, scratch).tau;
        if pivot.is_nan() || pivot <= least_pivot.max(f64::EPSILON) || !outputs.iter().all(|y| y.is_finite()) {
            return Err(NotPositiveDefinite { pivot });
        }
        scratch.start(row.lanes(), outputs, self.outputs());
        self.factor.sweep(None, -1.0, n, scratch);
        self.factor.bound_pivots();
        Ok(())
    }

    /// `V ← factor V`, `S ← factor S`: what came before counts less. `O(n)`. No pivot is let below
    /// `least_pivot`, so that directions in which nothing comes any more do not vanish.
    ///
    /// # Panics
    /// If `factor` or `least_pivot` is not positive.
    pub fn scale(&mut self, factor: f64, least_pivot: f64) {
        assert!(factor > 0.0 && least_pivot > 0.0, "a factor {factor} and a least pivot {least_pivot}");
        self.settle();
        self.factor.scale(factor, least_pivot);
    }

    /// The coefficients `V⁻¹S = R⁻¹U` of the leading block, column by column (`n'` numbers for each
    /// output).
    ///
    /// # Panics
    /// If `leading > n` or `coefficients` has not `n'm` numbers.
    pub fn coefficients(&self, leading: usize, coefficients: &mut [f64]) {
        let (n, m) = (self.dimension(), self.outputs());
        assert!(leading <= n, "a leading block of {leading} in a factor of dimension {n}");
        assert_eq!(coefficients.len(), leading * m, "a coefficient for each coordinate and output");
        let factor = self.settled();
        for (output, x) in coefficients.chunks_exact_mut(leading.max(1)).enumerate() {
            for i in (0..leading).rev() {
                let known: f64 = (i + 1..leading).map(|j| factor.unit_entry(i, j) * x[j]).sum();
                x[i] = factor.coefficient(i, output) - known;
            }
        }
    }

    /// `ln det V` of the leading block. `O(n')`, and `O(n²)` while a row waits.
    ///
    /// # Panics
    /// If `leading > n`.
    #[must_use]
    pub fn log_determinant(&self, leading: usize) -> f64 {
        self.settled().log_determinant(leading)
    }

    fn check(&self, row: &AlignedVec, leading: usize) {
        let n = self.dimension();
        assert_eq!(row.len(), n, "a row has one entry for each coordinate");
        assert!(leading <= n, "a leading block of {leading} in a factor of dimension {n}");
    }

    /// Adds a row, if everything stays in range.
    fn step(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        leading: usize,
        may_wait: bool,
        scratch: &mut SquareRootScratch,
    ) -> Result<f64, OutOfRange> {
        assert_eq!(outputs.len(), self.outputs(), "a row has m outputs");
        let Outlook { tau: bound, largest, fits, tame } = self.factor.outlook(row, outputs);
        if !fits {
            return Err(OutOfRange { tau: bound });
        }
        scratch.start(row.lanes(), outputs, self.outputs());
        if !tame {
            return self.checked_step(largest, leading, scratch);
        }
        if may_wait && self.calm && !self.waits && self.dimension() >= Self::WORTH_WAITING {
            let passed = self.factor.solve_to_wait(&mut self.waiting, leading, scratch);
            (self.waits, self.calm) = (passed.calm, passed.calm);
            if passed.calm {
                self.factor.bound(largest);
                return Ok(passed.tau);
            }
            scratch.start(row.lanes(), outputs, self.outputs());
        }
        let passed = self.factor.sweep(self.waits.then_some(&mut self.waiting), 1.0, leading, scratch);
        (self.waits, self.calm) = (false, passed.calm);
        self.factor.bound(largest);
        Ok(passed.tau)
    }

    /// The step is made, looked at, and undone if need be.
    fn checked_step(
        &mut self,
        largest: [f64; 2],
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> Result<f64, OutOfRange> {
        self.settle();
        self.keep(scratch);
        let passed = self.factor.sweep(None, 1.0, leading, scratch);
        if !self.factor.is_in_range(&scratch.prediction.at_leading) {
            if let Some(before) = &mut scratch.before {
                std::mem::swap(&mut self.factor, before);
            }
            return Err(OutOfRange { tau: passed.tau });
        }
        self.calm = passed.calm;
        self.factor.bound(largest);
        Ok(passed.tau)
    }

    /// Remembers the factor; allocates the first time.
    fn keep(&self, scratch: &mut SquareRootScratch) {
        match scratch.before.as_mut().filter(|before| before.has_shape_of(&self.factor)) {
            Some(before) => before.copy_from(&self.factor),
            None => scratch.before = Some(Box::new(self.factor.clone())),
        }
    }
}

fn check_prior(prior: &[f64]) {
    assert!(prior.iter().all(|p| *p > 0.0 && p.is_finite()), "a prior is positive and finite");
}

impl SquareRootScratch {
    /// For a prediction of `m` outputs at `row`, which may be added.
    fn start(&mut self, row: &[Lane], outputs: &[f64], m: usize) {
        self.row.start(row, outputs);
        self.prediction.start(m);
    }
}

impl Moving {
    fn start(&mut self, entries: &[Lane], outputs: &[f64]) {
        self.entries.resize(entries.len() * LANES);
        self.entries.lanes_mut().copy_from_slice(entries);
        self.outputs.clear();
        self.outputs.resize(groups(outputs.len()), Outputs::default());
        self.outputs.as_flattened_mut()[..outputs.len()].copy_from_slice(outputs);
    }

    fn assign(&mut self, other: &Self) {
        self.entries.assign(&other.entries);
        self.outputs.clone_from(&other.outputs);
    }

    fn started(&mut self, row: &Self) -> Passing<'_> {
        self.assign(row);
        self.passing()
    }

    /// The row once it was started.
    fn passing(&mut self) -> Passing<'_> {
        Passing { entries: self.entries.lanes_mut(), outputs: &mut self.outputs }
    }
}

impl PredictionSums {
    fn start(&mut self, m: usize) {
        for sums in [&mut self.all, &mut self.at_leading] {
            sums.clear();
            sums.resize(groups(m), Outputs::default());
        }
    }

    fn caught_at(&mut self, leading: usize) -> SweepPrediction<'_> {
        SweepPrediction { leading, sums: &mut self.all, at_leading: &mut self.at_leading }
    }
}
