//! Recursive least squares in square-root (information) form: a triangular `R` with `RᵀR = V`, and `U = R⁻ᵀS`.
//!
//! Rows `(φ, y)` come one by one: `V = diag(prior) + Σ φφᵀ`, `S = Σ φyᵀ`. The prediction at a row is `ŷ = SᵀV⁻¹φ = Uᵀv` with
//! `v = R⁻ᵀφ`, and `τ = 1 + φᵀV⁻¹φ = 1 + ‖v‖²` comes with it. Neither `V` nor an inverse is ever formed, so the relative error grows with
//! `cond(R) = √cond(V)`: an explicit inverse is lost where this has half of its digits left.
//!
//! **One pass.** What is stored is `R = D^{½}L` with the diagonal of `L` one, as inverse pivots `1/d_j` and rows `l_j`, and the rows `c_j` of
//! `D^{−½}U`: square roots are taken only when somebody asks for `R`. Eliminating row after row of `L` from the new row leaves the
//! residual `r`. With `p_j = r_j`, `τ_j = τ_{j−1} + p_j²/d_j` (`τ_0 = 1`) and `β_j = p_j/(d_jτ_j)`, row `j` becomes `l_j + β_j r`, `d_j` becomes
//! `d_jτ_j/τ_{j−1}`, and `c_j` follows as one more column. These are the Givens rotations of `R_j` and `r/√τ_{j−1}` with both normalisations put
//! off; the dependent chain has one fused multiply-add a row, and the division is done for eight rows at once. Taking a row back is
//! the same with `τ_j = τ_{j−1} − p_j²/d_j` (Gill, Golub, Murray and Saunders 1974, methods C1 and C2).
//!
//! **Leading block.** The factor of the first `n'` coordinates is the leading `n' × n'` block of `R`, its `U` the first `n'` rows of `U`:
//! one factor serves all of them, and one pass over the whole yields the prediction of a leading block on its way.
//!
//! Layout: block `b` of eight rows holds its tiles of eight columns from the diagonal on, row by row; the `c_j` beside it in tiles of
//! eight rows and eight outputs. A pass reads and writes memory front to back.

use mercer_simd::{AlignedVec, LANES, Lane, dispatch, dot};
use mercer_state::{Inconsistent, Validate};

use crate::NotPositiveDefinite;
use crate::tiles::{Tile, ZERO_TILE, are_blocks, split};

mod sweep;

use sweep::{Leading, Solve, Sweep};

/// Squares of rows and sums of squares stay below this, so that no product of two intermediate numbers overflows.
const LARGEST_SQUARE: f64 = 1e250;

/// Up to this ratio of the trace of `V` to its least pivot, rounding cannot make `τ` grow by itself: the ratio of what is lost in an entry of the
/// row to the pivot that it meets, squared, is about `1e-32` times this. Beyond it a step is checked after it was made.
const TAME: f64 = 1e30;

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
    /// What has been predicted so far.
    sums: AlignedVec,
    /// The same at the end of the leading block.
    prediction: AlignedVec,
    /// The outputs, padded.
    outputs: AlignedVec,
    /// The factor before a step that may have to be undone.
    before: Option<Box<SquareRootRls>>,
}

/// Triangular `R` (`n × n`, positive diagonal) and `U` (`n × m`) of a regularised least-squares problem that takes and gives
/// back rows.
///
/// # Invariants
/// `L` is upper triangular with unit diagonal. Rows past `n` are those of the identity, columns past `n` and outputs past `m` are
/// zero. `largest` bounds the trace of `V` and `Σ‖y‖²`, `smallest` the least eigenvalue of `V` from below.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SquareRootRls {
    n: usize,
    m: usize,
    tiles: Vec<Tile>,
    inverse_pivots: AlignedVec,
    coefficients: Vec<Tile>,
    largest: [f64; 2],
    smallest: f64,
}

impl Validate for SquareRootRls {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "square-root factor";
        Inconsistent::size(self.n, WHAT)?;
        Inconsistent::size(self.m, WHAT)?;
        self.inverse_pivots.validate()?;
        let blocks = self.blocks();
        let whole = self.m > 0
            && are_blocks(self.tiles.len(), blocks)
            && self.coefficients.len() == blocks * self.m.div_ceil(LANES)
            && self.inverse_pivots.len() == blocks * LANES;
        Inconsistent::require(whole, WHAT, "it has one number for each entry, and outputs beside it")?;
        self.tiles.as_flattened().validate()?;
        self.coefficients.as_flattened().validate()?;
        self.largest.validate()?;
        self.smallest.validate()?;
        let positive = self.inverse_pivots.iter().all(|inverse| *inverse > 0.0) && self.smallest >= 0.0;
        Inconsistent::require(positive, WHAT, "its pivots are positive")?;
        for i in 0..blocks * LANES {
            let (b, row) = split(i);
            let diagonal = &self.tiles[self.block_start(b)][row].0;
            let unit = diagonal[row] == 1.0 && diagonal[..row].iter().all(|value| *value == 0.0);
            Inconsistent::require(unit, WHAT, "it is triangular with a unit diagonal")?;
        }
        Ok(())
    }
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
            inverse_pivots: AlignedVec::zeros(blocks * LANES),
            coefficients: vec![ZERO_TILE; blocks * m.div_ceil(LANES)],
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
        self.coefficients.fill(ZERO_TILE);
        for i in 0..self.inverse_pivots.len() {
            let (b, row) = split(i);
            let diagonal = self.block_start(b);
            self.tiles[diagonal][row].0[row] = 1.0;
            self.inverse_pivots[i] = prior.get(i).map_or(1.0, |p| 1.0 / p);
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
        self.unit_entry(i, j) / self.inverse_pivots[i].sqrt()
    }

    /// `U[i, output]`.
    ///
    /// # Panics
    /// If `i ≥ n` or `output ≥ m`.
    #[must_use]
    pub fn output_entry(&self, i: usize, output: usize) -> f64 {
        assert!(i < self.n && output < self.m, "entry ({i}, {output}) of U, {} × {}", self.n, self.m);
        self.coefficient(i, output) / self.inverse_pivots[i].sqrt()
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
        let tau = self.solve(leading, scratch);
        prediction.copy_from_slice(&scratch.prediction[..self.m]);
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
        let tau = self.step(row, outputs, leading, scratch)?;
        prediction.copy_from_slice(&scratch.prediction[..self.m]);
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
        self.step(row, outputs, self.n, scratch)
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

    /// `V ← factor V`, `S ← factor S`: what came before counts less. `O(n)`. No pivot is let below `least_pivot`, so that directions in
    /// which nothing comes any more do not vanish.
    ///
    /// # Panics
    /// If `factor` or `least_pivot` is not positive.
    pub fn scale(&mut self, factor: f64, least_pivot: f64) {
        assert!(factor > 0.0 && least_pivot > 0.0, "a factor {factor} and a least pivot {least_pivot}");
        for inverse in &mut self.inverse_pivots[..self.n] {
            *inverse = (*inverse / factor).min(1.0 / least_pivot);
        }
        // A pivot that was lifted adds to the trace.
        let lifted = self.n as f64 * least_pivot;
        self.largest = [self.largest[0] * factor + lifted, self.largest[1] * factor];
        self.smallest *= factor;
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
                let known: f64 = (i + 1..leading).map(|j| self.unit_entry(i, j) * x[j]).sum();
                x[i] = self.coefficient(i, output) - known;
            }
        }
    }

    /// `ln det V` of the leading block. `O(n')`.
    ///
    /// # Panics
    /// If `leading > n`.
    #[must_use]
    pub fn log_determinant(&self, leading: usize) -> f64 {
        -self.inverse_pivots[..leading].iter().map(|inverse| inverse.ln()).sum::<f64>()
    }

    fn blocks(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// Index of the first tile of block `b`, the one on the diagonal: blocks `0, 1, …` hold `B, B − 1, …` tiles.
    fn block_start(&self, b: usize) -> usize {
        b * self.blocks() - b * b.saturating_sub(1) / 2
    }

    /// `L[i, j]`, zero below the diagonal.
    fn unit_entry(&self, i: usize, j: usize) -> f64 {
        let ((b, row), (q, column)) = (split(i), split(j));
        if j < i { 0.0 } else { self.tiles[self.block_start(b) + q - b][row].0[column] }
    }

    /// `c_i` of one output.
    fn coefficient(&self, i: usize, output: usize) -> f64 {
        let ((b, row), (o, column)) = (split(i), split(output));
        self.coefficients[b * self.m.div_ceil(LANES) + o][row].0[column]
    }

    fn check(&self, row: &AlignedVec, leading: usize) {
        assert_eq!(row.len(), self.n, "a row has one entry for each coordinate");
        assert!(leading <= self.n, "a leading block of {leading} in a factor of dimension {}", self.n);
    }

    /// Adds a row, if everything stays in range. Bounds that cost `O(n)` settle it for all but extreme numbers; with those the step is
    /// made, looked at, and undone if need be.
    fn step(
        &mut self,
        row: &AlignedVec,
        outputs: &[f64],
        leading: usize,
        scratch: &mut SquareRootScratch,
    ) -> Result<f64, OutOfRange> {
        let squares = [dot(row.lanes(), row.lanes()), outputs.iter().map(|y| y * y).sum::<f64>()];
        let largest = [self.largest[0] + squares[0], self.largest[1] + squares[1]];
        let bound = squares[0] / self.smallest;
        let fits = largest[0] < LARGEST_SQUARE && largest[1] < LARGEST_SQUARE;
        if !fits {
            return Err(OutOfRange { tau: bound });
        }
        let steepest = self.inverse_pivots.iter().copied().fold(0.0, f64::max);
        let tame = bound < LARGEST_SQUARE && largest[0] * steepest < TAME;
        if !tame {
            self.keep(scratch);
        }
        let tau = self.sweep(row, outputs, 1.0, leading, scratch);
        if !tame && !self.is_in_range(&scratch.prediction) {
            self.undo(scratch);
            return Err(OutOfRange { tau });
        }
        self.largest = largest;
        Ok(tau)
    }

    /// Remembers the factor; allocates the first time.
    fn keep(&self, scratch: &mut SquareRootScratch) {
        match scratch.before.as_mut().filter(|before| (before.n, before.m) == (self.n, self.m)) {
            Some(before) => {
                before.tiles.copy_from_slice(&self.tiles);
                before.inverse_pivots.copy_from_slice(&self.inverse_pivots);
                before.coefficients.copy_from_slice(&self.coefficients);
            }
            None => scratch.before = Some(Box::new(self.clone())),
        }
    }

    /// Puts the remembered factor back.
    fn undo(&mut self, scratch: &mut SquareRootScratch) {
        if let Some(before) = &mut scratch.before {
            std::mem::swap(&mut self.tiles, &mut before.tiles);
            std::mem::swap(&mut self.inverse_pivots, &mut before.inverse_pivots);
            std::mem::swap(&mut self.coefficients, &mut before.coefficients);
        }
    }

    /// Whether squares of all numbers, and of a prediction, are numbers.
    fn is_in_range(&self, prediction: &[f64]) -> bool {
        let root = LARGEST_SQUARE.sqrt();
        let within = |tiles: &[Tile]| tiles.iter().flatten().flat_map(|lane| &lane.0).all(|x| x.abs() < root);
        let pivots = self.inverse_pivots.iter().all(|e| (1.0 / LARGEST_SQUARE..LARGEST_SQUARE).contains(e));
        pivots && prediction.iter().all(|y| y.abs() < root) && within(&self.coefficients) && within(&self.tiles)
    }

    /// `τ` of the whole factor.
    fn trial(&self, row: &AlignedVec, scratch: &mut SquareRootScratch) -> f64 {
        scratch.start(self, row.lanes());
        self.solve(self.n, scratch)
    }

    fn solve(&self, leading: usize, scratch: &mut SquareRootScratch) -> f64 {
        dispatch(Solve {
            tiles: &self.tiles,
            blocks: self.blocks(),
            inverse_pivots: self.inverse_pivots.lanes(),
            coefficients: &self.coefficients,
            residual: scratch.residual.lanes_mut(),
            leading: Leading {
                size: leading,
                sums: scratch.sums.lanes_mut(),
                prediction: scratch.prediction.lanes_mut(),
            },
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
            inverse_pivots: self.inverse_pivots.lanes_mut(),
            coefficients: &mut self.coefficients,
            residual: scratch.residual.lanes_mut(),
            outputs: scratch.outputs.lanes(),
            sign,
            leading: Leading {
                size: leading,
                sums: scratch.sums.lanes_mut(),
                prediction: scratch.prediction.lanes_mut(),
            },
        })
    }
}

impl SquareRootScratch {
    fn start(&mut self, rls: &SquareRootRls, row: &[Lane]) {
        self.residual.resize(row.len() * LANES);
        self.residual.lanes_mut().copy_from_slice(row);
        for vector in [&mut self.sums, &mut self.prediction, &mut self.outputs] {
            vector.resize(rls.m.div_ceil(LANES) * LANES);
            vector.fill(0.0);
        }
    }
}
