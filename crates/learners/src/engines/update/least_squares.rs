//! Recursive least squares on coordinates that grow.
//!
//! `W` minimises `Σ_s ω_s ‖y_s − Wᵀφ_s‖² + λ‖W‖²` over the rounds so far, every `φ_s` padded by
//! zeros, `ω_s` being weights, with `P = (Σ ω φφᵀ + λI)⁻¹`. A round in the span: `c = Pφ`,
//! `s = φᵀc`, `w_k ← w_k + ω c e_k/(1+ωs)` for each output, `P ← P − ω ccᵀ/(1+ωs)`. A round whose
//! example is kept, without prior (`λ = 0`): the new coordinate interpolates, `w ← [w; e/√δ]`, and
//! `P` is bordered by `[−c/√δ; (1/ω+s)/δ]`, the limit `λ → 0` of the step with a prior. Reads and
//! writes `P` once: `1½n²` multiply-adds, and `2n` for each output.
//!
//! **Forgetting** `γ < 1`: see [`Forgetting`].

mod blocks;

use std::marker::PhantomData;

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations, SymmetricMatrix};
use mercer_simd::{axpy, dot, scale};

use crate::Error;
use crate::engines::update::block::BlockRounds;
use crate::engines::update::information::Information;
use crate::engines::update::readout::{Readout, Ridge, read};
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LinearBlocks, LinearUpdate, LinearVariance, NormalEquations, NormalSystem,
    Residuals, finite, in_range, make_room, move_in_range, remove_coordinate,
};
use crate::example::{Problem, Target};

/// Largest `ω φᵀPφ` of an example, under the largest variance of `P`.
const MOST_INFORMATION: f64 = (1_u64 << 36) as f64;

/// The way in which a factor `γ < 1` forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Forgetting {
    /// Only what is known in the direction of `φ` is discounted (Kulhavý 1987):
    /// `φᵀPφ ← (s/(1+ωs))/γ`, by the same rank-one pass with gain `(γω − (1−γ)/s)/(γ(1+ωs))`. A
    /// round that would raise the trace of `P` above the sum of what the prior or the kept points
    /// put there forgets nothing, so `P` cannot wind up. No further cost.
    #[default]
    Directional,
    /// Every round is discounted: the fit minimises `Σ γ^{t−s} ω_s (…)²` and the ridge fades as the
    /// rounds do, to `10⁻⁶ λ`. Below that it draws towards the coefficients as they are: directions
    /// that the stream does not visit keep their values. `P ← P/γ` multiplies rounding errors by
    /// `1/γ` each round, so `P` is inverted anew each memory or so. At most `2n²` a round more
    /// where `n` is at most four memories, and `½n²` numbers.
    Exponential,
    /// Back to the prior (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012):
    /// `P ← γP + (1−γ)I/λ` and `W ← √γ W` after each round. Needs a ridge. `½n²` a round more.
    ToPrior,
}

/// A coordinate whose square is above the ridge by this factor leaves nothing of the prior to
/// rounding: `1/λ − gain·c²` would cancel, and the step without a prior is its limit.
const OUTWEIGHS: f64 = 1e14;

/// Recursive least squares with ridge `λ ≥ 0` and forgetting `γ ∈ (0, 1]`, predicting by the
/// [`Readout`] `F`.
///
/// # Invariants
/// With forgetting, `trace` is the trace of `p` up to rounding and never above `trace_limit`;
/// without, neither is used.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeastSquares<F = Ridge> {
    w: Coefficients,
    p: SymmetricMatrix,
    ridge: f64,
    forgetting: f64,
    trace: f64,
    trace_limit: f64,
    /// The largest `‖φ‖²` of an example so far.
    reach: f64,
    readout: PhantomData<F>,
    forgets: Forgetting,
    residuals: Residuals,
    /// There when it forgets exponentially.
    information: Option<Box<Information>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
    /// `φᵀPφ` of the last step, with the coordinate that it brought.
    #[cfg_attr(feature = "serde", serde(skip))]
    uncertainty: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    errors: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    block: BlockRounds,
}

impl<F> LeastSquares<F> {
    /// No coordinates yet, one output. Without a ridge a coordinate can only come with an example
    /// ([`LinearUpdate::step`]).
    ///
    /// # Errors
    /// When the ridge is negative or so small that `1/λ` overflows, or `forgetting` not in
    /// `(0, 1]`.
    pub fn new(ridge: f64, forgetting: f64) -> Result<Self, ParameterError> {
        let remembers = forgetting > 0.0 && forgetting <= 1.0;
        let invertible = ridge == 0.0 || (1.0 / ridge).is_finite();
        ParameterError::require(invertible, "lambda", "0 or so large that its reciprocal is finite", ridge)?;
        Ok(Self {
            w: Coefficients::zeros(1, 0),
            p: SymmetricMatrix::new(),
            ridge: ParameterError::non_negative("lambda", ridge)?,
            forgetting: ParameterError::require(remembers, "forgetting", "a number in (0, 1]", forgetting)?,
            trace: 0.0,
            trace_limit: 0.0,
            reach: 0.0,
            readout: PhantomData,
            forgets: Forgetting::default(),
            residuals: Residuals::default(),
            information: None,
            c: AlignedVec::new(),
            uncertainty: 0.0,
            errors: Vec::new(),
            block: BlockRounds::default(),
        })
    }

    /// The same, forgetting in this way.
    ///
    /// # Errors
    /// When it needs a ridge and there is none.
    pub fn forgetting_by(self, forgets: Forgetting) -> Result<Self, ParameterError> {
        let possible = forgets != Forgetting::ToPrior || self.ridge > 0.0;
        ParameterError::require(possible, "lambda", "positive to forget back to the prior", self.ridge)?;
        let discounts = forgets == Forgetting::Exponential && self.forgetting < 1.0;
        let information = discounts.then(|| Box::new(Information::new(self.ridge)));
        Ok(Self { forgets, information, ..self })
    }

    /// The same with so many outputs, at least one, all of them 0.
    #[must_use]
    pub fn with_outputs(self, outputs: usize) -> Self {
        Self { w: Coefficients::zeros(outputs, self.w.coordinates()), ..self }
    }

    /// The same going on from coefficients `w` and `P`.
    pub(crate) fn with_state(self, w: Coefficients, p: SymmetricMatrix) -> Self {
        Self { w, p, ..self }
    }

    /// The same after rounds of this weight together whose `Σ ω e²/(1 + ωs)` were these, one an
    /// output.
    pub(crate) fn with_residuals(self, sums: &[f64], weight: f64) -> Self {
        Self { residuals: Residuals::from_sums(sums, weight), ..self }
    }

    /// The weight of the rounds whose errors are known, if there are any.
    pub(crate) fn weight_of_residuals(&self) -> Option<f64> {
        self.residuals.weight()
    }

    /// The ridge `λ`.
    pub(crate) fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The forgetting factor `γ`.
    pub(crate) fn forgetting(&self) -> f64 {
        self.forgetting
    }

    /// `φᵀPφ` as the last step with a ridge found it, with the coordinate that it brought.
    pub(crate) fn uncertainty(&self) -> f64 {
        self.uncertainty
    }

    /// The coefficients.
    #[must_use]
    pub fn weights(&self) -> &Coefficients {
        &self.w
    }

    /// `P`, the inverse of the (discounted) normal matrix.
    #[must_use]
    pub fn inverse(&self) -> &SymmetricMatrix {
        &self.p
    }

    /// Upper bound of the entries on the diagonal of `P`. No entry of `Pφ` exceeds the root of
    /// `φᵀPφ` times the root of this.
    fn largest_variance(&self) -> f64 {
        let wound_up = self.forgetting < 1.0 && self.forgets != Forgetting::ToPrior;
        if self.ridge > 0.0 && !wound_up { 1.0 / self.ridge } else { self.trace.max(0.0) }
    }

    /// Largest weight of an example with this `‖φ‖²`: a larger one would fix its prediction no
    /// better, but drown in rounding what `P` knows of it. Examples with small features have no
    /// larger one than others, as weights are there to be compared.
    pub(crate) fn heaviest(&self, squared: f64) -> f64 {
        (MOST_INFORMATION / (self.largest_variance() * squared.max(self.reach))).max(1.0)
    }

    /// A coordinate can come before its example: its variance is `1/λ`.
    fn has_prior(&self) -> Result<(), ParameterError> {
        let rule = "positive, or a coordinate has no variance before its example";
        ParameterError::require(self.ridge > 0.0, "lambda", rule, self.ridge).map(drop)
    }

    /// `σ̂²(1 + s)` of each output, `outside` being the squared distance to the span: see
    /// [`Residuals`].
    ///
    /// The prior has the variance `1/λ` in the directions that no coordinate has. Without a prior
    /// they are left out.
    pub(crate) fn variances(&self, s: f64, outside: f64, variances: &mut [f64]) -> bool {
        let unseen = if self.ridge > 0.0 { outside / self.ridge } else { 0.0 };
        self.residuals.variances(s + unseen, variances)
    }

    /// The gain of the rank-one pass for a weight: `ω/(1+ωs)`, or what directional forgetting makes
    /// of it.
    fn gain(&self, s: f64, weight: f64) -> f64 {
        let remember = weight / (1.0 + weight * s);
        if self.forgetting == 1.0 || self.forgets != Forgetting::Directional || s <= 0.0 {
            return remember;
        }
        let forget = (self.forgetting * weight - (1.0 - self.forgetting) / s) / (self.forgetting * (1.0 + weight * s));
        let trace = self.trace - forget * dot(self.c.lanes(), self.c.lanes());
        if trace.is_finite() && trace <= self.trace_limit { forget } else { remember }
    }

    /// Takes note of the residuals of a round with these values of the fit, its errors being
    /// scaled: `ω e²/(1+ωs)`.
    #[inline(always)]
    fn record(&mut self, Target { y, weight }: Target<'_>, values: &[f64]) {
        let squares = self.errors.iter().zip(y).zip(values).map(|((step, y), z)| step * (y - z));
        self.residuals.record(self.forgetting, weight, squares);
    }

    /// Forgets after a round at `phi`, in the ways that concern all directions.
    fn forget(&mut self, phi: &AlignedVec, weight: f64) {
        let keep = self.forgetting;
        match &mut self.information {
            Some(information) => {
                self.p.scale(1.0 / keep);
                self.trace /= keep;
                information.add(phi, weight, keep);
                if information.is_due(keep) && information.invert(self.ridge, &mut self.p) {
                    self.trace = self.p.trace();
                }
            }
            None if self.forgets == Forgetting::ToPrior && keep < 1.0 => {
                self.p.discount_to_prior(keep, 1.0 / self.ridge);
                self.w.vectors_mut().iter_mut().for_each(|w| scale(keep.sqrt(), w));
            }
            _ => {}
        }
    }

    /// `φᵀP` and what else a coordinate brings whose values over the past are known: `a = Fᵀf`,
    /// `‖f‖²` and `fᵀY`, where `F` holds the past coordinates and `f` the new one's, for one
    /// output. `n²` multiply-adds; changes nothing.
    pub(crate) fn enlargement(&self, a: &AlignedVec, squared: f64, cross: f64, c: &mut AlignedVec) -> Enlargement {
        self.p.product(a, c);
        // In exact arithmetic the Schur complement is at least the ridge.
        let schur = (squared + self.ridge - dot(a.lanes(), c.lanes())).max(self.ridge);
        Enlargement { schur, coefficient: (cross - dot(a.lanes(), self.w.vectors()[0].lanes())) / schur }
    }

    /// Gains the coordinate, `c` being what [`enlargement`](Self::enlargement) left.
    pub(crate) fn enlarge(&mut self, c: &mut AlignedVec, by: Enlargement) {
        for w in self.w.vectors_mut() {
            axpy(-by.coefficient, c.lanes(), w.lanes_mut());
            w.push(by.coefficient);
        }
        self.p.subtract(-1.0 / by.schur, c);
        c.iter_mut().for_each(|c| *c *= -1.0 / by.schur);
        self.p.border(c, 1.0 / by.schur);
    }

    /// `(wᵀφ, φᵀPφ)`, the value of the fit and its uncertainty. `½n²`.
    pub(crate) fn fit(&self, phi: &AlignedVec) -> (f64, f64) {
        (dot(self.w.vectors()[0].lanes(), phi.lanes()), self.p.quadratic(phi))
    }

    /// [`fit`](Self::fit) at `[φ; new]` after an enlargement not yet made, `c` being what it left.
    pub(crate) fn fit_enlarged(&self, phi: &AlignedVec, new: f64, c: &AlignedVec, by: Enlargement) -> (f64, f64) {
        let (z, s) = self.fit(phi);
        let along = new - dot(c.lanes(), phi.lanes());
        (z + by.coefficient * along, s + along * along / by.schur)
    }

    fn border(&mut self, corner: f64) {
        self.trace += corner;
        self.trace_limit += corner;
    }
}

/// A coordinate over the past, as the normal equations see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enlargement {
    /// Schur complement of the new diagonal entry of `A`.
    pub(crate) schur: f64,
    /// The new coefficient.
    pub(crate) coefficient: f64,
}

impl<F> Validate for LeastSquares<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.p.validate()?;
        Inconsistent::non_negative(self.ridge, "ridge")?;
        let remembers = self.forgetting > 0.0 && self.forgetting <= 1.0;
        Inconsistent::require(remembers, "forgetting", "it is above 0 and at most 1")?;
        let prior = self.forgets != Forgetting::ToPrior || self.ridge > 0.0;
        Inconsistent::require(prior, "forgetting", "it needs a ridge to go back to the prior")?;
        Inconsistent::non_negative(self.reach, "largest square of an input")?;
        Inconsistent::require(!self.trace.is_nan() && !self.trace_limit.is_nan(), "trace", "it is a number")?;
        self.residuals.validate()?;
        let fits = self.p.dimension() == self.w.coordinates();
        Inconsistent::require(fits, "least-squares learner", "its matrix has a row for each coefficient")?;
        let discounts = self.forgets == Forgetting::Exponential && self.forgetting < 1.0;
        let told = match &self.information {
            Some(information) => discounts && information.coordinates() == self.w.coordinates(),
            None => !discounts,
        };
        Inconsistent::require(told, "least-squares learner", "it has a normal matrix if it forgets exponentially")?;
        self.information.validate()?;
        let known = self.residuals.fits(self.w.outputs());
        Inconsistent::require(known, "least-squares learner", "it has residuals of each output, or of none")
    }
}

impl<F: Readout> LeastSquares<F> {
    /// Fits a row by its new coordinate alone, whose prior is wide beside it: its error vanishes.
    /// `s` is the variance before, `squared` the square of the row.
    fn fit_new(&mut self, new: f64, (s, squared, weight): (f64, f64, f64), scores: &mut [f64]) -> Result<(), Error> {
        let corner = finite((1.0 / weight + s) / (new * new))?;
        in_range(corner)?;
        self.errors.iter().try_for_each(|e| in_range(e / new))?;
        self.uncertainty = s + new * new / self.ridge;
        self.reach = self.reach.max(squared.min(f64::MAX));
        self.residuals.record(self.forgetting, 0.0, scores.iter().map(|_| 0.0));
        read::<F>(scores, || s);
        for (w, e) in self.w.vectors_mut().iter_mut().zip(&self.errors) {
            w.push(e / new);
        }
        self.c.iter_mut().for_each(|c| *c *= -1.0 / new);
        self.p.border(&self.c, corner);
        self.border(corner);
        self.information.iter_mut().for_each(|information| information.grow(0.0));
        Ok(())
    }
}

impl<F: Readout> LinearUpdate for LeastSquares<F> {
    fn problem(&self) -> Problem {
        Problem::squared(self.w.coordinates(), self.w.outputs())
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.w)
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.w.values(phi, scores);
        read::<F>(scores, || self.p.quadratic(phi));
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let squared = dot(phi.lanes(), phi.lanes()) + growth.map_or(0.0, |new| new * new);
        let target = Target { weight: target.weight.min(self.heaviest(squared)), ..target };
        let Target { y, weight } = target;
        self.w.values(phi, scores);
        make_room(&mut self.errors, scores.len());
        for ((e, y), z) in self.errors.iter_mut().zip(y).zip(&*scores) {
            *e = finite(y - z)?;
        }
        if let Some(information) = &self.information {
            information.takes(phi, growth, weight)?;
        }
        let mut s = finite(self.p.multiply(phi, &mut self.c))?;
        let largest = self.largest_variance();
        match growth {
            Some(new) if self.ridge == 0.0 || new * new > OUTWEIGHS * self.ridge => {
                self.fit_new(new, (s, squared, weight), scores)?;
                phi.push(new);
                self.forget(phi, weight);
                return Ok(());
            }
            Some(new) => {
                let grown = s + finite(new * new / self.ridge)?;
                scale_errors(&mut self.errors, weight, grown, largest)?;
                self.record(target, scores);
                read::<F>(scores, || s);
                s = grown;
                self.grow()?;
                self.c.push(new / self.ridge);
                phi.push(new);
            }
            None => {
                scale_errors(&mut self.errors, weight, s, largest)?;
                self.record(target, scores);
                read::<F>(scores, || s);
            }
        }
        self.uncertainty = s;
        self.reach = self.reach.max(squared.min(f64::MAX));
        let gain = self.gain(s, weight);
        self.w.add(&self.errors, &self.c);
        if self.forgetting < 1.0 {
            self.trace -= gain * dot(self.c.lanes(), self.c.lanes());
        }
        self.p.subtract(gain, &self.c);
        self.forget(phi, weight);
        Ok(())
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        F::OF_VALUES.then_some(self as &dyn ByValues)
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        Some(self)
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        Some(self)
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        if self.forgetting == 1.0 { Some(self) } else { None }
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.w.add_output(like);
        self.residuals.add_output(like);
        Ok(())
    }
}

impl<F: Readout> ByValues for LeastSquares<F> {
    fn function(&self, index: usize) -> Option<&AlignedVec> {
        self.w.vectors().get(index)
    }

    fn read(&self, _: &mut [f64]) {}
}

impl<F: Readout> LinearVariance for LeastSquares<F> {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        self.residuals.noise(output)
    }

    fn predict_with_variance(&self, phi: &AlignedVec, outside: f64, scores: &mut [f64], variances: &mut [f64]) -> bool {
        let s = self.p.quadratic(phi);
        self.w.values(phi, scores);
        read::<F>(scores, || s);
        self.variances(s, outside, variances)
    }
}

impl<F: Readout> NormalSystem for LeastSquares<F> {
    fn normal_equations(&self) -> Option<NormalEquations> {
        let a = self.p.inverted().ok()?;
        let products = self.w.vectors().iter().map(|w| {
            let mut b = AlignedVec::new();
            a.product(w, &mut b);
            b
        });
        let b = products.collect();
        Some(NormalEquations { a, b })
    }

    fn solve(&mut self, NormalEquations { a, b }: &NormalEquations) -> bool {
        let Ok(p) = a.inverted() else { return false };
        for (w, b) in self.w.vectors_mut().iter_mut().zip(b) {
            p.product(b, w);
        }
        self.p = p;
        self.residuals = Residuals::default();
        true
    }

    fn residuals(&mut self) -> &mut Residuals {
        &mut self.residuals
    }
}

impl<F: Readout> GrowingUpdate for LeastSquares<F> {
    fn grow(&mut self) -> Result<(), Error> {
        self.has_prior()?;
        self.w.grow();
        self.p.grow(1.0 / self.ridge);
        self.information.iter_mut().for_each(|information| information.grow(self.ridge));
        self.border(1.0 / self.ridge);
        Ok(())
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        if let Some(information) = &mut self.information {
            information.remove(&mut self.c, rotations, how);
        }
        let corner = remove_coordinate(&mut self.w, &mut self.p, &mut self.c, rotations, how);
        let conditioned = if how == Removal::Condition { corner * dot(self.c.lanes(), self.c.lanes()) } else { 0.0 };
        self.trace -= corner + conditioned;
        // A share of what the prior or the kept points put there left with the point.
        let n = self.w.coordinates() as f64;
        self.trace_limit = (self.trace_limit * n / (n + 1.0)).max(self.trace);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        if n > 0 {
            self.has_prior()?;
        }
        self.w.restart(n);
        self.residuals = Residuals::default();
        self.information.iter_mut().for_each(|information| information.restart(n, self.ridge));
        (self.trace, self.trace_limit, self.reach) = (0.0, 0.0, 0.0);
        self.p.restart(n, 1.0 / self.ridge);
        (0..n).for_each(|_| self.border(1.0 / self.ridge));
        Ok(())
    }
}

/// Turns errors into steps along `Pφ`, `e ← ωe/(1+ωs)`, unless one is too long.
#[inline(always)]
fn scale_errors(errors: &mut [f64], weight: f64, s: f64, largest: f64) -> Result<(), Error> {
    errors.iter_mut().try_for_each(|e| {
        *e = weight * *e / (1.0 + weight * s);
        move_in_range(*e, s, largest)
    })
}
