//! Sparse stochastic operator gradient descent (\[K\] Algorithm 1).
//!
//! The problem is `min_U ½ E‖k_Y(x⁺, ·) − U k_X(x, ·)‖² + ½ λ‖U‖²_HS`; a step with the pair
//! `(x_t, x_t⁺)` is (\[K\] eqs. 22 and 29–32)
//!
//! ```text
//! Ũ = (1 − λη_t) U + η_t (k_Y(x_t⁺, ·) − U k_X(x_t, ·)) ⊗ k_X(x_t, ·)
//! U ← Ũ                          if the pair is kept,
//! U ← projection of Ũ            on the dictionaries as they are, otherwise.
//! ```
//!
//! **In orthonormal coordinates.** With Gram matrices `G_X = L_X L_Xᵀ`, `G_Y = L_Y L_Yᵀ`,
//! coordinates `z_x = L_X⁻¹k_X(x)`, `z_y = L_Y⁻¹k_Y(x⁺)` and residuals `δ_X = k(x,x) − ‖z_x‖²`,
//! `δ_Y` alike, the state is `A = L_Yᵀ W L_X`:
//!
//! 1. `r = η(z_y − A z_x)`;
//! 2. matching pursuit decides from `‖r‖²`, `δ_X`, `δ_Y`, `k(x,x)` and `η` ([`MatchingPursuit`]);
//! 3. `A ← (1−λη)A + r z_xᵀ`, where a point that is kept adds a row (column) of zeros to `A` and
//!    the entry `η√δ_Y` to `r` (`√δ_X` to `z_x`).
//!
//! Leaving those entries out *is* the projection. So a step is two kernel rows (`2md`), two
//! triangular solves (`m²`) and one pass over `A` (`2m²`, multiply-adds), without the Gram formulas
//! of the appendix of \[K\] (`O(m³)`, or `O(m²)` through explicit inverses that lose `cond(G)`,
//! which reaches 1e14). Memory: `m²` for `A` (up to 2.25 times that while it grows), `m²` for the
//! two factors, `2md`.
//!
//! A step contracts when `η(k(x,x) + λ) < 2` (the proof of boundedness asks for `η(κ + 2λ) ≤ 2`); a
//! longer one is refused.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate, check_input, parameters};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_linalg_incremental::StateMatrix;
use mercer_simd::{axpy, dot, scale};
use mercer_sparsify::{Candidate, MatchingPursuit, NewtonBasis, Probe, SOLVES_TOGETHER, Verdict};

use crate::Error;
use crate::learner::check_pairs;
use crate::step_schedule::check_stability;
use crate::{Budget, BudgetTest, DictionaryShape, KernelOperator, OperatorLearner, OperatorStep, StepSchedule};

parameters! {
    /// Parameters of [`Sogd`].
    #[derive(Copy)]
    pub struct SogdParams {
        /// Step size `η_t`; a step needs `η_t(k(x, x) + λ) < 2`.
        step: StepSchedule = StepSchedule::Constant(0.3),
        /// Regulariser `λ ≥ 0`.
        lambda: f64 = 0.0,
        /// Sparsification budget `ε_t ≥ 0`.
        budget: Budget = Budget::EtaSquared(0.1),
        /// Quantity that is compared with the budget.
        test: BudgetTest = BudgetTest::Norm,
        /// Shape of the two dictionaries: they grow together or apart.
        shape: DictionaryShape = DictionaryShape::Paired,
        /// A point with `δ ≤ rank_guard · k(x, x)` counts as dependent and is not kept, in
        /// `[0, 1)`.
        rank_guard: f64 = 1e-6,
        /// Largest dictionary of either side; `None` leaves the size to the budget.
        max_dictionary: Option<usize> = Some(1000),
    }
}

/// Sparse stochastic operator gradient descent: `K` is the kernel on inputs, `L` that on outputs.
///
/// Caveat: with a constant step the iterates stay in a ball around `U_λ` whose squared radius is
/// proportional to `η`, and what the budget discards adds up; both shrink with
/// [`StepSchedule::Power`] and [`Budget::EtaSquared`](crate::Budget::EtaSquared). On a chain of two
/// states with the eigenvalue −½, a step of 0.3 shows it at −0.5 ± 0.17; along a path, where `x` is
/// the `x⁺` learnt last, the mean is off by a part of the step as well (−0.59 there). Steps
/// `10/(t + 20)` come within 0.01 of it in 30,000 pairs.
///
/// Finite chains, and paired dictionaries: of a pair one side of which repeats what is kept, the
/// new side is kept alone, so that a chain's states are all found. What remains out of reach are
/// pairs with a side that is no repetition but dependent to the rank guard; when
/// [`Verdict::OneSided`] comes often, [`DictionaryShape::Rectangular`] keeps their new sides.
///
/// # Invariants
/// `input_rounds` and `output_rounds` name the round of each point of the operator's dictionaries.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sogd<K, L = K> {
    operator: KernelOperator<K, L>,
    pursuit: MatchingPursuit,
    step: StepSchedule,
    lambda: f64,
    rounds: u64,
    forced_rejections: u64,
    input_rounds: Vec<u64>,
    output_rounds: Vec<u64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: StepMemory,
}

/// Memory of a step, reused from step to step.
#[derive(Clone, Debug, Default)]
struct StepMemory {
    inputs: [Probe; SOLVES_TOGETHER],
    outputs: [Probe; SOLVES_TOGETHER],
    residual: AlignedVec,
}

impl<K: Kernel + Clone> Sogd<K> {
    /// A learner whose inputs and outputs are states of dimension `dimension` with one kernel.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on_states(kernel: K, dimension: usize, params: SogdParams) -> Result<Self, Error> {
        Self::new(kernel.clone(), dimension, kernel, dimension, params)
    }
}

impl<K: Kernel, L: Kernel> Sogd<K, L> {
    /// A learner for inputs `x` of dimension `input_dimension` (a state, or state and action) and
    /// outputs `x⁺` of dimension `output_dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the first step would be unstable at the origin
    /// (with a stationary kernel: everywhere).
    pub fn new(
        input_kernel: K,
        input_dimension: usize,
        output_kernel: L,
        output_dimension: usize,
        params: SogdParams,
    ) -> Result<Self, Error> {
        let SogdParams { step, lambda, budget, test, shape, rank_guard, max_dictionary } = params;
        let step = step.checked()?;
        ParameterError::non_negative("lambda", lambda)?;
        check_stability(step.at(1), input_kernel.self_value(&vec![0.0; input_dimension]), lambda)?;
        let operator = KernelOperator::in_newton_coordinates(
            NewtonBasis::new(input_kernel, input_dimension),
            NewtonBasis::new(output_kernel, output_dimension),
            StateMatrix::new(),
        );
        Ok(Self {
            operator,
            pursuit: MatchingPursuit::new(test, shape, budget, rank_guard, max_dictionary)?,
            step,
            lambda,
            rounds: 0,
            forced_rejections: 0,
            input_rounds: Vec::new(),
            output_rounds: Vec::new(),
            memory: StepMemory::default(),
        })
    }

    /// Pairs whose error exceeded the budget, but which the rank guard kept out.
    #[must_use]
    pub fn forced_rejections(&self) -> u64 {
        self.forced_rejections
    }

    /// Rounds, counted from 0, whose `x` is in the input dictionary: oldest first.
    #[must_use]
    pub fn input_rounds(&self) -> &[u64] {
        &self.input_rounds
    }

    /// Rounds, counted from 0, whose `x⁺` is in the output dictionary: oldest first.
    #[must_use]
    pub fn output_rounds(&self) -> &[u64] {
        &self.output_rounds
    }

    /// The operator, without the means to learn on.
    #[must_use]
    pub fn into_operator(self) -> KernelOperator<K, L> {
        self.operator
    }

    fn check_pair(&self, x: &[f64], x_plus: &[f64]) -> Result<(), Error> {
        check_input(x, self.operator.input_dimension())?;
        Ok(check_input(x_plus, self.operator.output_dimension())?)
    }

    /// Steps 1 to 3 of the head of this file for a pair whose probes are up to date; a refused step
    /// changes nothing.
    fn learn(
        &mut self,
        pair: (&[f64], &[f64]),
        input: &mut Probe,
        output: &mut Probe,
        r: &mut AlignedVec,
    ) -> Result<OperatorStep, Error> {
        if !input.is_finite() || !output.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        let eta = self.step.at(self.rounds + 1);
        check_stability(eta, input.self_value(), self.lambda)?;
        // 1. r = η(z_y − A z_x); the pass that multiplies applies the step before this one.
        self.operator.core.multiply(input.coordinates(), r);
        scale(-eta, r);
        axpy(eta, output.coordinates().lanes(), r.lanes_mut());
        // 2.
        let candidate = Candidate {
            residual_norm_squared: dot(r.lanes(), r.lanes()),
            input_residual: input.residual(),
            output_residual: output.residual(),
            input_self_value: input.self_value(),
            output_self_value: output.self_value(),
            eta,
        };
        let squared_error = candidate.squared_error();
        if !squared_error.is_finite() {
            return Err(ExampleError::Diverged.into());
        }
        let verdict = self.pursuit.decide(&candidate, self.input_rounds.len(), self.output_rounds.len());
        // 3.
        let z = input.coordinates_mut();
        if let Verdict::Admit { output: true, .. } = verdict {
            let new_coordinate = candidate.output_residual.sqrt();
            self.operator.output.append(pair.1, output.coordinates(), new_coordinate);
            self.operator.core.grow_row();
            r.push(eta * new_coordinate);
            self.output_rounds.push(self.rounds);
        }
        if let Verdict::Admit { input: true, .. } = verdict {
            let new_coordinate = candidate.input_residual.sqrt();
            self.operator.input.append(pair.0, z, new_coordinate);
            self.operator.core.grow_column();
            z.push(new_coordinate);
            self.input_rounds.push(self.rounds);
        }
        self.operator.core.decay_and_add(1.0 - self.lambda * eta, r, z);
        self.rounds += 1;
        self.forced_rejections += u64::from(verdict.is_forced_rejection());
        Ok(OperatorStep {
            verdict,
            eta,
            budget: self.pursuit.budget().at(eta),
            error: Some(squared_error.sqrt()),
            loss: Some(candidate.residual_norm_squared / (eta * eta) + candidate.output_residual),
        })
    }
}

impl<K: Kernel + Validate, L: Kernel + Validate> Validate for Sogd<K, L> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "operator learner";
        self.operator.validate()?;
        self.pursuit.validate()?;
        self.step.validate()?;
        Inconsistent::non_negative(self.lambda, "regulariser")?;
        let orthonormal = self.operator.input.is_orthonormal() && self.operator.output.is_orthonormal();
        Inconsistent::require(orthonormal, WHAT, "its coordinates are orthonormal")?;
        for (kept, points) in
            [(&self.input_rounds, self.operator.inputs()), (&self.output_rounds, self.operator.outputs())]
        {
            let fits = kept.len() == points.len() && kept.iter().all(|round| *round < self.rounds);
            Inconsistent::require(fits, WHAT, "each point has a round of the past")?;
        }
        // Rounds are counted on.
        Inconsistent::require(self.rounds < u64::MAX / 2, WHAT, "its rounds can be counted")?;
        Inconsistent::require(self.forced_rejections <= self.rounds, WHAT, "its rejections are of the past")
    }
}

impl<K: Kernel, L: Kernel> OperatorLearner<K, L> for Sogd<K, L> {
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error> {
        self.check_pair(x, x_plus)?;
        // The memory is taken out while in use.
        let mut memory = std::mem::take(&mut self.memory);
        let StepMemory { inputs: [input, ..], outputs: [output, ..], residual } = &mut memory;
        self.operator.input.probe(x, input);
        self.operator.output.probe(x_plus, output);
        let learnt = self.learn((x, x_plus), input, output, residual);
        self.memory = memory;
        learnt
    }

    /// Looks [`SOLVES_TOGETHER`] pairs ahead: their coordinates come from one read of the factors,
    /// and are brought up to date when a point is kept among them. The same bits as one by one.
    fn learn_block(&mut self, xs: &[f64], xs_plus: &[f64], steps: &mut Vec<OperatorStep>) -> Result<(), Error> {
        let (d, d_plus) = (self.operator.input_dimension(), self.operator.output_dimension());
        let rows = check_pairs(xs, d, xs_plus, d_plus)?;
        let whole = rows / SOLVES_TOGETHER * SOLVES_TOGETHER;
        for first in (0..whole).step_by(SOLVES_TOGETHER) {
            let pairs: [(&[f64], &[f64]); SOLVES_TOGETHER] = std::array::from_fn(|i| {
                let row = first + i;
                (&xs[row * d..(row + 1) * d], &xs_plus[row * d_plus..(row + 1) * d_plus])
            });
            let mut memory = std::mem::take(&mut self.memory);
            let StepMemory { inputs, outputs, residual } = &mut memory;
            self.operator.input.probe_together(pairs.map(|pair| pair.0), inputs);
            self.operator.output.probe_together(pairs.map(|pair| pair.1), outputs);
            let mut learnt = Ok(());
            for ((pair, input), output) in pairs.iter().zip(inputs).zip(outputs) {
                self.operator.input.catch_up(pair.0, input);
                self.operator.output.catch_up(pair.1, output);
                learnt = self
                    .check_pair(pair.0, pair.1)
                    .and_then(|()| self.learn(*pair, input, output, residual))
                    .map(|step| steps.push(step));
                if learnt.is_err() {
                    break;
                }
            }
            self.memory = memory;
            learnt?;
        }
        for row in whole..rows {
            steps.push(self.update(&xs[row * d..(row + 1) * d], &xs_plus[row * d_plus..(row + 1) * d_plus])?);
        }
        Ok(())
    }

    fn operator(&self) -> &KernelOperator<K, L> {
        &self.operator
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}
