//! Kernel matching pursuit on an operator: is a pair of a stream worth a place in the two
//! dictionaries?
//!
//! A step of stochastic operator gradient descent adds the rank-one operator `v ⊗ k_X(x, ·)` with
//! `v = η(k_Y(x⁺, ·) − U k_X(x, ·))`. In the orthonormal coordinates of the dictionaries `v` has
//! the coordinates `r`, and `η√δ_Y` in the direction that `x⁺` would add; `k_X(x, ·)` has `z_x`,
//! and `√δ_X`. Leaving the new directions out costs, in the Hilbert–Schmidt norm (\[K\] eqs.
//! 30–31),
//!
//! ```text
//! neither kept        e² = ‖r‖² δ_X + η² δ_Y k(x, x)
//! x alone kept        e² = η² δ_Y k(x, x)
//! x⁺ alone kept       e² = (‖r‖² + η² δ_Y) δ_X
//! ```
//!
//! so that the test of the paper, a least-squares problem in `m²` unknowns, is `O(1)` once the
//! step's product is known.
//!
//! What the tests compare, see [`BudgetTest`]: eq. (31) puts the *norm* `e` beside the budget `ε`;
//! Algorithm 1 and the appendix of the paper put the square there; and the appendix prints an error
//! without its input side, `η² δ_Y k(x, x)`.
//!
//! The rank guard counts a point as dependent when `δ ≤ tol · k(x, x)`, whatever the error: with a
//! budget that diminishes, a point that is new by rounding only would enter with a pivot near zero
//! and blow up everything solved with it. A pair that the guard keeps out although its error
//! exceeds the budget is a *forced rejection*; [`Verdict`] tells it apart, so that it can be
//! counted.
//!
//! (\[K\] is Hou, Sanjari, Dahlin, Koppel and Bose, *Nonparametric sparse online learning of the
//! Koopman operator*.)

use mercer_core::{Inconsistent, ParameterError, Validate};

/// Quantity that is compared with the budget `ε`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum BudgetTest {
    /// The norm of the error, `e > ε` (\[K\] eq. 31).
    #[default]
    Norm,
    /// Its square, `e² > ε` (\[K\] Algorithm 1).
    Squared,
    /// The norm of the output side alone, `η √(δ_Y k(x, x)) > ε` (the error that the appendix of
    /// \[K\] prints).
    OutputAld,
}

/// Shape of the two dictionaries: they grow together or apart.
///
/// In a chain of finitely many states `x` or `x⁺` is soon a state that is kept already. A paired
/// dictionary keeps such a pair all the same, by the side that is new: the other one, within 1e−12
/// of the span, would add a row of zeros and nothing else. What lies between, dependent to the
/// guard but no repetition, is kept out whole; where that happens often (states on a fine grid, a
/// wide kernel), [`DictionaryShape::Rectangular`] keeps the new side and paired dictionaries do
/// not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DictionaryShape {
    /// `x` and `x⁺` are kept together or not at all, as in the paper. Only of a pair of which one
    /// side is in the span already, as a repeated state is, the other is kept alone.
    #[default]
    Paired,
    /// Each side is kept on its own account: the one side that brings the error within the budget,
    /// or both.
    Rectangular,
}

/// A point with `δ ≤ REPEATED · k(x, x)` is in the span except for rounding: a repetition of what
/// is kept.
const REPEATED: f64 = 1e-12;

/// The budget `ε_t` from round to round.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Budget {
    /// `ε_t = ε ≥ 0`
    Constant(f64),
    /// `ε_t = b η_t²` with `b ≥ 0`, as the convergence proofs ask (\[K\] Assumption 3).
    EtaSquared(f64),
}

impl Budget {
    /// `ε_t` of a round with the step size `eta`.
    #[must_use]
    pub fn at(self, eta: f64) -> f64 {
        match self {
            Self::Constant(epsilon) => epsilon,
            Self::EtaSquared(b) => b * eta * eta,
        }
    }
}

/// The scalars of a round on which the decision rests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// `‖r‖²`, the squared norm of the step's output side within the dictionary.
    pub residual_norm_squared: f64,
    /// `δ_X`, the squared distance of `k_X(x, ·)` to the span of the input dictionary.
    pub input_residual: f64,
    /// `δ_Y`, the squared distance of `k_Y(x⁺, ·)` to the span of the output dictionary.
    pub output_residual: f64,
    /// `k_X(x, x)`
    pub input_self_value: f64,
    /// `k_Y(x⁺, x⁺)`
    pub output_self_value: f64,
    /// The step size `η_t`.
    pub eta: f64,
}

impl Candidate {
    /// `e²`, what discarding the pair costs in the squared Hilbert–Schmidt norm.
    #[must_use]
    pub fn squared_error(&self) -> f64 {
        self.residual_norm_squared * self.input_residual + self.squared_error_without_output()
    }

    /// `η² δ_Y k(x, x)`, what remains when `x` is kept and `x⁺` is not.
    #[must_use]
    pub fn squared_error_without_output(&self) -> f64 {
        self.eta * self.eta * self.output_residual * self.input_self_value
    }

    /// `(‖r‖² + η² δ_Y) δ_X`, what remains when `x⁺` is kept and `x` is not.
    #[must_use]
    pub fn squared_error_without_input(&self) -> f64 {
        (self.residual_norm_squared + self.eta * self.eta * self.output_residual) * self.input_residual
    }
}

/// Verdict on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Verdict {
    /// The error is within the budget: the step is projected on the dictionaries as they are.
    Discard,
    /// `x` or `x⁺` or both join.
    Admit {
        /// True if `x` joins the input dictionary.
        input: bool,
        /// True if `x⁺` joins the output dictionary.
        output: bool,
    },
    /// The error exceeds the budget, but both points are dependent to the rank guard: a forced
    /// rejection.
    Dependent,
    /// The error exceeds the budget, but the dictionary has reached its largest size.
    Full,
    /// A forced rejection of which one side is new: the other is dependent to the rank guard
    /// without being a repetition, and a paired dictionary keeps neither.
    OneSided,
}

impl Verdict {
    /// True if the rank guard kept out what the budget would have kept.
    #[must_use]
    pub fn is_forced_rejection(self) -> bool {
        matches!(self, Self::Dependent | Self::OneSided)
    }
}

/// Kernel matching pursuit: a pure function of the [`Candidate`], the budget and the sizes of the
/// dictionaries.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MatchingPursuit {
    test: BudgetTest,
    shape: DictionaryShape,
    budget: Budget,
    rank_guard: f64,
    max_dictionary: Option<usize>,
}

impl Validate for MatchingPursuit {
    fn validate(&self) -> Result<(), Inconsistent> {
        let again = Self::new(self.test, self.shape, self.budget, self.rank_guard, self.max_dictionary);
        Inconsistent::require(again.is_ok(), "matching pursuit", "its parameters are in their ranges")
    }
}

impl MatchingPursuit {
    /// The test with the given conventions; neither dictionary ever exceeds `max_dictionary`
    /// points.
    ///
    /// # Errors
    /// When the budget is negative or not finite, or `rank_guard` outside `[0, 1)`.
    pub fn new(
        test: BudgetTest,
        shape: DictionaryShape,
        budget: Budget,
        rank_guard: f64,
        max_dictionary: Option<usize>,
    ) -> Result<Self, ParameterError> {
        match budget {
            Budget::Constant(epsilon) => ParameterError::non_negative("budget", epsilon)?,
            Budget::EtaSquared(b) => ParameterError::non_negative("budget", b)?,
        };
        ParameterError::require((0.0..1.0).contains(&rank_guard), "rank_guard", "a number in [0, 1)", rank_guard)?;
        if let Some(most) = max_dictionary {
            ParameterError::at_least_one("max_dictionary", most)?;
        }
        Ok(Self { test, shape, budget, rank_guard, max_dictionary })
    }

    /// The budget `ε_t`.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The decision on a pair; `inputs` and `outputs` are the sizes of the dictionaries before it.
    /// `O(1)`.
    #[must_use]
    pub fn decide(&self, candidate: &Candidate, inputs: usize, outputs: usize) -> Verdict {
        let epsilon = self.budget.at(candidate.eta);
        let exceeds = |squared_error: f64| match self.test {
            BudgetTest::Squared => squared_error > epsilon,
            BudgetTest::Norm | BudgetTest::OutputAld => squared_error.sqrt() > epsilon,
        };
        let without_output = candidate.squared_error_without_output();
        let error = match self.test {
            BudgetTest::OutputAld => without_output,
            BudgetTest::Norm | BudgetTest::Squared => candidate.squared_error(),
        };
        if !exceeds(error) {
            return Verdict::Discard;
        }
        let input_is_new = self.is_new(candidate.input_residual, candidate.input_self_value);
        let output_is_new = self.is_new(candidate.output_residual, candidate.output_self_value);
        let (input, output) = match self.shape {
            DictionaryShape::Paired => {
                let input_is_there = is_repeated(candidate.input_residual, candidate.input_self_value);
                let output_is_there = is_repeated(candidate.output_residual, candidate.output_self_value);
                (input_is_new && (output_is_new || output_is_there), output_is_new && (input_is_new || input_is_there))
            }
            DictionaryShape::Rectangular => {
                let without_input = candidate.squared_error_without_input();
                let (input_suffices, output_suffices) = (!exceeds(without_output), !exceeds(without_input));
                match (input_is_new, output_is_new) {
                    // Either would do: the one that leaves less.
                    (true, true) if input_suffices && output_suffices => {
                        (without_output <= without_input, without_output > without_input)
                    }
                    (true, true) => (!output_suffices, !input_suffices),
                    one_side => one_side,
                }
            }
        };
        let has_room = |size: usize| self.max_dictionary.is_none_or(|most| size < most);
        match (input && has_room(inputs), output && has_room(outputs)) {
            _ if !input && !output && (input_is_new || output_is_new) => Verdict::OneSided,
            _ if !input && !output => Verdict::Dependent,
            (false, false) => Verdict::Full,
            fitting if self.shape == DictionaryShape::Paired && fitting != (input, output) => Verdict::Full,
            (input, output) => Verdict::Admit { input, output },
        }
    }

    /// True if the rank guard lets a point with this residual in; ties count as dependent.
    fn is_new(&self, residual: f64, self_value: f64) -> bool {
        residual > self.rank_guard * self_value
    }
}

/// True if a point with this residual is in the span already.
fn is_repeated(residual: f64, self_value: f64) -> bool {
    residual <= REPEATED * self_value
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: Candidate = Candidate {
        residual_norm_squared: 0.04,
        input_residual: 0.5,
        output_residual: 0.25,
        input_self_value: 1.0,
        output_self_value: 1.0,
        eta: 0.2,
    };

    fn pursuit(test: BudgetTest, shape: DictionaryShape, epsilon: f64) -> Result<MatchingPursuit, ParameterError> {
        MatchingPursuit::new(test, shape, Budget::Constant(epsilon), 1e-6, Some(5))
    }

    #[test]
    fn the_three_tests_by_hand() -> Result<(), ParameterError> {
        // e² = 0.04 · 0.5 + 0.04 · 0.25 = 0.03; the output side alone is 0.01.
        assert!((EVEN.squared_error() - 0.03).abs() < 1e-16);
        let admits = Verdict::Admit { input: true, output: true };
        for (test, below, above) in [
            (BudgetTest::Norm, 0.173, 0.174),
            (BudgetTest::Squared, 0.0299, 0.0301),
            (BudgetTest::OutputAld, 0.099, 0.101),
        ] {
            assert_eq!(pursuit(test, DictionaryShape::Paired, below)?.decide(&EVEN, 0, 0), admits);
            assert_eq!(pursuit(test, DictionaryShape::Paired, above)?.decide(&EVEN, 0, 0), Verdict::Discard);
        }
        Ok(())
    }

    #[test]
    fn the_guard_forces_and_the_ceiling_holds() -> Result<(), ParameterError> {
        let paired = pursuit(BudgetTest::Norm, DictionaryShape::Paired, 0.01)?;
        let dependent = Candidate { input_residual: 1e-6, ..EVEN };
        assert_eq!(paired.decide(&dependent, 0, 0), Verdict::OneSided);
        assert!(Verdict::OneSided.is_forced_rejection() && Verdict::Dependent.is_forced_rejection());
        assert!(!Verdict::Discard.is_forced_rejection() && !Verdict::Full.is_forced_rejection());
        assert_eq!(paired.decide(&EVEN, 5, 5), Verdict::Full);
        // A point that is the zero function is never new.
        assert!(!paired.is_new(0.0, 0.0));
        Ok(())
    }

    #[test]
    fn of_a_pair_with_a_repeated_side_the_other_is_kept() -> Result<(), ParameterError> {
        let paired = pursuit(BudgetTest::Norm, DictionaryShape::Paired, 0.01)?;
        let (x_again, x_plus_again) =
            (Candidate { input_residual: 1e-13, ..EVEN }, Candidate { output_residual: 0.0, ..EVEN });
        let (x_plus_alone, x_alone) =
            (Verdict::Admit { input: false, output: true }, Verdict::Admit { input: true, output: false });
        assert_eq!(paired.decide(&x_again, 3, 3), x_plus_alone);
        assert_eq!(paired.decide(&x_plus_again, 3, 3), x_alone);
        // Dependent to the guard, but not a repetition.
        assert_eq!(paired.decide(&Candidate { input_residual: 1e-9, ..EVEN }, 3, 3), Verdict::OneSided);
        let both_again = Candidate { input_residual: 0.0, output_residual: 1e-13, ..EVEN };
        assert_eq!(
            pursuit(BudgetTest::Norm, DictionaryShape::Paired, 0.0)?.decide(&both_again, 3, 3),
            Verdict::Dependent
        );
        // What is not wanted needs no room; what is wanted does, and nothing is kept by halves.
        assert_eq!(paired.decide(&x_again, 5, 4), x_plus_alone);
        assert_eq!(paired.decide(&x_again, 4, 5), Verdict::Full);
        assert_eq!(paired.decide(&EVEN, 5, 4), Verdict::Full);
        Ok(())
    }

    #[test]
    fn a_rectangular_dictionary_takes_the_side_that_is_needed() -> Result<(), ParameterError> {
        let decide = |candidate: &Candidate, epsilon| {
            pursuit(BudgetTest::Norm, DictionaryShape::Rectangular, epsilon).map(|p| p.decide(candidate, 3, 3))
        };
        // Keeping x leaves √0.01, keeping x⁺ leaves √0.025.
        assert_eq!(decide(&EVEN, 0.12)?, Verdict::Admit { input: true, output: false });
        assert_eq!(decide(&EVEN, 0.16)?, Verdict::Admit { input: true, output: false });
        assert_eq!(decide(&EVEN, 0.05)?, Verdict::Admit { input: true, output: true });
        let known_input = Candidate { input_residual: 0.0, ..EVEN };
        assert_eq!(decide(&known_input, 0.05)?, Verdict::Admit { input: false, output: true });
        let known_both = Candidate { input_residual: 1e-7, output_residual: 1e-7, ..EVEN };
        assert_eq!(decide(&known_both, 1e-9)?, Verdict::Dependent);
        Ok(())
    }

    #[test]
    fn budgets_and_bad_parameters() {
        assert!((Budget::EtaSquared(2.0).at(0.3) - 0.18).abs() < 1e-16);
        let new =
            |budget, guard, most| MatchingPursuit::new(BudgetTest::Norm, DictionaryShape::Paired, budget, guard, most);
        assert!(new(Budget::Constant(-1.0), 0.0, None).is_err());
        assert!(new(Budget::EtaSquared(f64::NAN), 0.0, None).is_err());
        assert!(new(Budget::Constant(0.1), 1.0, None).is_err());
        assert!(new(Budget::Constant(0.1), 0.0, Some(0)).is_err());
    }
}
