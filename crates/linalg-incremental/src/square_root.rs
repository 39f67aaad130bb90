//! Recursive least squares in square-root (information) form: a triangular `R` with `RᵀR = V`, and `U = R⁻ᵀS`.
//!
//! Rows `(φ, y)` come one by one: `V = diag(prior) + Σ φφᵀ`, `S = Σ φyᵀ`. The prediction at a row is `ŷ = SᵀV⁻¹φ = Uᵀv` with
//! `v = R⁻ᵀφ`, and `τ = 1 + φᵀV⁻¹φ = 1 + ‖v‖²` comes with it. Neither `V` nor an inverse is ever formed, so the relative error grows with
//! `cond(R) = √cond(V)`: an explicit inverse is lost where this has half of its digits left.
//!
//! **One pass.** Eliminating row `j` of `R` from the new row leaves a residual `r`; with `v_j = r_j/R_jj` and `τ_j = τ_{j−1} + v_j²`
//! the row of the updated factor is `R_j ← √(τ_{j−1}/τ_j) R_j + v_j/√(τ_{j−1}τ_j) · r`, `r` as it was before eliminating `j`. That is
//! the Givens rotation of `R_j` and `r/√τ_{j−1}`, with the normalisation of `r` put off, so that square roots and divisions are no
//! part of the dependent chain and are done eight at a time. `U` is carried along as further columns. Subtracting a row is the same with
//! `τ_j = τ_{j−1} − v_j²` (Gill, Golub, Murray and Saunders 1974, method C).
//!
//! **Leading block.** The factor of the first `n'` coordinates is the leading `n' × n'` block of `R`, its `U` the first `n'` rows of `U`:
//! one factor serves all of them, and one pass over the whole yields the prediction of a leading block on its way.
//!
//! Layout: block `b` of eight rows holds its tiles of eight columns from the diagonal on, row by row; `U` beside it in tiles of eight
//! rows and eight outputs. A pass reads and writes memory front to back.

use mercer_simd::{AlignedVec, LANES, Lane, dispatch, dot};

use crate::NotPositiveDefinite;
use crate::tiles::{Tile, ZERO_TILE, split};

mod sweep;

use sweep::{Solve, Sweep};

/// Squares of rows and sums of squares stay below this, so that no product of two intermediate numbers overflows.
const LARGEST_SQUARE: f64 = 1e250;

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
    /// What is left of the row.
    residual: AlignedVec,
    /// `Σ v_k U_k` so far.
    sums: AlignedVec,
    /// The same at the end of the leading block: the prediction.
    leading: AlignedVec,
    /// The outputs, padded.
    outputs: AlignedVec,
}

/// Triangular `R` (`n × n`, positive diagonal) and `U` (`n × m`) of a regularised least-squares problem that takes and gives
/// back rows.
///
/// # Invariants
/// `R` is upper triangular; `reciprocals` holds `1/R[i, i]`. Rows of `R` past `n` are those of the identity, columns past `n` and columns of
/// `U` past `m` are zero. `largest` bounds the trace of `V` and of `ΣyyᵀI`, `smallest` the least eigenvalue of `V` from below.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SquareRootRls {
    n: usize,
    m: usize,
    tiles: Vec<Tile>,
    reciprocals: AlignedVec,
    u: Vec<Tile>,
    largest: [f64; 2],
    smallest: f64,
}

impl SquareRootRls {
    /// `V = diag(prior)`, `S = 0`: `n = prior.len()` coordinates, `m` outputs.
    ///
    /// # Panics
    /// If `m` is zero or a number of the prior is not positive and finite.
    #[must_use]
    pub fn new(prior: &[f64], m: usize) -> Self {
        assert!(m > 0, "at least one output");
        let n = prior.len();
        let blocks = n.div_ceil(LANES);
        let mut rls = Self {
            n,
            m,
            tiles: vec![ZERO_TILE; blocks * (blocks + 1) / 2],
            reciprocals: AlignedVec::zeros(blocks * LANES),
            u: vec![ZERO_TILE; blocks * m.div_ceil(LANES)],
            largest: [0.0; 2],
            smallest: 0.0,
        };
        rls.restart(prior);
        rls
    }

    /// Forgets every row: `V = diag(prior)`, `S = 0`, keeping the memory.
    ///
    /// # Panics
    /// If `prior` has not `n` numbers, or one is not positive and finite.
    pub fn restart(&mut self, prior: &[f64]) {
        assert_eq!(prior.len(), self.n, "the prior has one number for each coordinate");
        assert!(prior.iter().all(|p| *p > 0.0 && p.is_finite()), "a prior is positive and finite");
        self.tiles.fill(ZERO_TILE);
        self.u.fill(ZERO_TILE);
        for i in 0..self.reciprocals.len() {
            let root = prior.get(i).map_or(1.0, |p| p.sqrt());
            let (b, row) = split(i);
            let diagonal = self.block_start(b);
            self.tiles[diagonal][row].0[row] = root;
            self.reciprocals[i] = 1.0 / root;
        }
        self.largest = [prior.iter().sum(), 0.0];
        self.smallest = prior.iter().copied().fold(f64::INFINITY, f64::min);
    }

    /// Number of coordinates `n`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.n
    }

    /// Number of outputs `m`.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.m
    }

    /// `R[i, j]` (zero below the diagonal).
    ///
    /// # Panics
    /// If `i ≥ n` or `j ≥ n`.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(i.max(j) < self.n, "entry ({i}, {j}) of a factor of dimension {}", self.n);
        let ((b, row), (q, column)) = (split(i), split(j));
        if j < i { 0.0 } else { self.tiles[self.block_start(b) + q - b][row].0[column] }
    }

    /// `U[i, output]`.
    ///
    /// # Panics
    /// If `i ≥ n` or `output ≥ m`.
    #[must_use]
    pub fn output_entry(&self, i: usize, output: usize) -> f64 {
        assert!(i < self.n && output < self.m, "entry ({i}, {output}) of U, {} × {}", self.n, self.m);
        let ((b, row), (o, column)) = (split(i), split(output));
        self.u[b * self.m.div_ceil(LANES) + o][row].0[column]
    }

    /// `ŷ = Uᵀ R⁻ᵀ φ` for the leading block of `leading` coordinates; returns `τ = 1 + φᵀV⁻¹φ`. Entries of `row` past the block are not
    /// used. `½n'²` multiply-adds, one read of the block.
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
        assert_eq!(prediction.len(), self.m, "one prediction for each output");
        let lanes = leading.div_ceil(LANES);
        scratch.start(self, &row.lanes()[..lanes]);
        let tau = dispatch(Solve {
            tiles: &self.tiles,
            blocks: self.blocks(),
            reciprocals: self.reciprocals.lanes(),
            u: &self.u,
            residual: scratch.residual.lanes_mut(),
            sums: scratch.sums.lanes_mut(),
            leading,
            at_leading: scratch.leading.lanes_mut(),
        });
        prediction.copy_from_slice(&scratch.leading[..self.m]);
        tau
    }

    /// The prequential step: predicts at `row` with the leading block, as [`predict`](Self::predict) would bit for bit, and adds the
    /// row to the whole factor, in one pass over it; returns `τ` of the leading block as it was before. `1½n²` multiply-adds.
    ///
    /// # Errors
    /// [`OutOfRange`] when a number would overflow or is not finite; nothing is changed (and `prediction` means nothing).
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
        assert_eq!(prediction.len(), self.m, "one prediction for each output");
        self.certify(row, outputs, scratch)?;
        let tau = self.sweep(row, outputs, 1.0, leading, scratch);
        prediction.copy_from_slice(&scratch.leading[..self.m]);
        Ok(tau)
    }

    /// Adds a row: `V ← V + φφᵀ`, `S ← S + φyᵀ`; returns `τ = 1 + φᵀV⁻¹φ` as it was before. Leading zeros of the row cost nothing.
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
        self.check(row, self.n);
        self.certify(row, outputs, scratch)?;
        Ok(self.sweep(row, outputs, 1.0, self.n, scratch))
    }

    /// Takes a row back: `V ← V − φφᵀ`, `S ← S − φyᵀ`. Two passes, `2n²` multiply-adds.
    ///
    /// The digits lost are those of `1/(1 − φᵀV⁻¹φ)`: a row that alone knew a direction leaves little of what the prior knew of it.
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
        self.check(row, self.n);
        let pivot = 2.0 - self.trial(row, scratch);
        if pivot.is_nan() || pivot <= least_pivot.max(f64::EPSILON) || !outputs.iter().all(|y| y.is_finite()) {
            return Err(NotPositiveDefinite { pivot });
        }
        self.sweep(row, outputs, -1.0, self.n, scratch);
        Ok(())
    }

    /// `V ← factor² V`, `S ← factor² S`, that is `R ← factor R`, `U ← factor U`: what came before counts less. The diagonal of `R` is not
    /// let below `least_pivot`, so that directions in which nothing comes any more do not vanish.
    pub fn scale(&mut self, factor: f64, least_pivot: f64) {
        for tile in self.tiles.iter_mut().chain(&mut self.u) {
            for lane in tile {
                for value in &mut lane.0 {
                    *value *= factor;
                }
            }
        }
        for i in 0..self.reciprocals.len() {
            let (b, row) = split(i);
            let diagonal = self.block_start(b);
            let pivot = &mut self.tiles[diagonal][row].0[row];
            *pivot = if i < self.n { pivot.max(least_pivot) } else { 1.0 };
            self.reciprocals[i] = 1.0 / *pivot;
        }
        // A pivot that was lifted adds to the trace.
        let lifted = self.n as f64 * least_pivot * least_pivot;
        self.largest = [self.largest[0] * factor * factor + lifted, self.largest[1] * factor * factor];
        self.smallest *= factor * factor;
    }

    /// The coefficients `V⁻¹S = R⁻¹U` of the leading block, column by column (`n'` numbers for each output).
    ///
    /// # Panics
    /// If `leading > n` or `coefficients` has not `n'm` numbers.
    pub fn coefficients(&self, leading: usize, coefficients: &mut [f64]) {
        assert!(leading <= self.n, "a leading block of {leading} in a factor of dimension {}", self.n);
        assert_eq!(coefficients.len(), leading * self.m, "a coefficient for each coordinate and output");
        for (output, x) in coefficients.chunks_exact_mut(leading.max(1)).enumerate() {
            for i in (0..leading).rev() {
                let known: f64 = (i + 1..leading).map(|j| self.entry(i, j) * x[j]).sum();
                x[i] = (self.output_entry(i, output) - known) * self.reciprocals[i];
            }
        }
    }

    /// `ln det V` of the leading block. `O(n')`.
    ///
    /// # Panics
    /// If `leading > n`.
    #[must_use]
    pub fn log_determinant(&self, leading: usize) -> f64 {
        (0..leading).map(|i| 2.0 * self.entry(i, i).ln()).sum()
    }

    fn blocks(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// Index of the first tile of block `b`, the one on the diagonal: blocks `0, 1, …` hold `B, B − 1, …` tiles.
    fn block_start(&self, b: usize) -> usize {
        b * self.blocks() - b * b.saturating_sub(1) / 2
    }

    fn check(&self, row: &AlignedVec, leading: usize) {
        assert_eq!(row.len(), self.n, "a row has one entry for each coordinate");
        assert!(leading <= self.n, "a leading block of {leading} in a factor of dimension {}", self.n);
    }

    /// Whether adding the row keeps everything in range. Bounds that cost `O(n)` settle it for all but extreme numbers; those are tried.
    fn certify(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        scratch: &mut SquareRootScratch,
    ) -> Result<(), OutOfRange> {
        let squares = [dot(row.lanes(), row.lanes()), outputs.iter().map(|y| y * y).sum::<f64>()];
        let largest = [self.largest[0] + squares[0], self.largest[1] + squares[1]];
        let fits = largest[0] < LARGEST_SQUARE && largest[1] < LARGEST_SQUARE;
        let bound = squares[0] / self.smallest;
        let certified = fits && bound < LARGEST_SQUARE;
        let tau = if certified || !fits { bound } else { self.trial(row, scratch) };
        if fits && tau < LARGEST_SQUARE {
            self.largest = largest;
            Ok(())
        } else {
            Err(OutOfRange { tau })
        }
    }

    /// `τ` of the whole factor.
    fn trial(&self, row: &AlignedVec, scratch: &mut SquareRootScratch) -> f64 {
        scratch.start(self, row.lanes());
        dispatch(Solve {
            tiles: &self.tiles,
            blocks: self.blocks(),
            reciprocals: self.reciprocals.lanes(),
            u: &self.u,
            residual: scratch.residual.lanes_mut(),
            sums: scratch.sums.lanes_mut(),
            leading: self.n,
            at_leading: scratch.leading.lanes_mut(),
        })
    }

    fn sweep(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        sign: f64,
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> f64 {
        assert_eq!(outputs.len(), self.m, "a row has m outputs");
        scratch.start(self, row.lanes());
        scratch.outputs[..self.m].copy_from_slice(outputs);
        dispatch(Sweep {
            tiles: &mut self.tiles,
            reciprocals: self.reciprocals.lanes_mut(),
            u: &mut self.u,
            residual: scratch.residual.lanes_mut(),
            outputs: scratch.outputs.lanes(),
            sums: scratch.sums.lanes_mut(),
            sign,
            leading,
            at_leading: scratch.leading.lanes_mut(),
        })
    }
}

impl SquareRootScratch {
    fn start(&mut self, rls: &SquareRootRls, row: &[Lane]) {
        self.residual.resize(row.len() * LANES);
        self.residual.lanes_mut().copy_from_slice(row);
        for vector in [&mut self.sums, &mut self.leading, &mut self.outputs] {
            vector.resize(rls.m.div_ceil(LANES) * LANES);
            vector.fill(0.0);
        }
    }
}
