//! The Page–Hinkley test: an alarm when values have been above their mean for too long (Page 1954;
//! Mouss et al. 2004).

use mercer_core::{Inconsistent, ParameterError, Validate};

use super::ChangeDetector;
use super::moments::Moments;

/// Deviations that one value may add.
const LARGEST_STEP: f64 = 10.0;

/// A cumulative sum of how far values lie above their mean; `threshold` above its minimum, it tells
/// that the mean has risen.
///
/// With the mean `x̄_t` and the deviation `σ_t` of the values up to `x_t`, a tolerance `α` and a
/// threshold `λ`:
///
/// ```text
/// m_t = m_{t−1} + min((x_t − x̄_t)/σ_t, 10) − α,   M_t = min(M_{t−1}, m_t),   alarm when m_t − M_t > λ
/// ```
///
/// (0 for the quotient where `σ_t` is 0 or rounding, below `10⁻¹² x̄_t`). The sources add
/// `x_t − x̄_t`, in units of the values; the quotient makes `α` and `λ` numbers without a unit. A
/// value enters mean and deviation as ten deviations above the mean before it at most, so that a
/// single wild value is no alarm: it takes more than `λ/10`.
///
/// **False alarms.** For independent values the time between them grows like `e^{θλ}`, where
/// `θ > 0` solves `E exp(θ((x − x̄)/σ − α)) = 1`: 1 for normal values and `α = 0.5`, 0.49 for their
/// squares. With the defaults `α = 0.5`, `λ = 50` that is more than 10¹⁰ rounds.
///
/// `O(1)` time and memory. It remembers all values since it was reset: a mean that first falls, as
/// the loss of a learner does, makes it slower to see a later rise, which [`Adwin`](super::Adwin)
/// is not.
///
/// Sources: E. S. Page, *Continuous inspection schemes*, Biometrika 1954; H. Mouss, D. Mouss, N.
/// Mouss, L. Sefouhi, *Test of Page-Hinkley, an approach for fault detection in an agro-alimentary
/// production system*, Asian Control Conference 2004.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PageHinkley {
    tolerance: f64,
    threshold: f64,
    moments: Moments,
    /// `m_t − M_t`
    statistic: f64,
}

impl Default for PageHinkley {
    /// `α = 0.5`, `λ = 50`
    fn default() -> Self {
        Self { tolerance: Self::TOLERANCE, threshold: Self::THRESHOLD, moments: Moments::EMPTY, statistic: 0.0 }
    }
}

impl PageHinkley {
    /// The default of `α`.
    pub const TOLERANCE: f64 = 0.5;
    /// The default of `λ`.
    pub const THRESHOLD: f64 = 50.0;

    /// A test that has seen nothing.
    ///
    /// # Errors
    /// When the tolerance is negative, the threshold is not positive, or one is not finite.
    pub fn new(tolerance: f64, threshold: f64) -> Result<Self, ParameterError> {
        let tolerance = ParameterError::non_negative("tolerance", tolerance)?;
        let threshold = ParameterError::positive("threshold", threshold)?;
        Ok(Self { tolerance, threshold, ..Self::default() })
    }

    /// `m_t − M_t`
    #[must_use]
    pub fn statistic(&self) -> f64 {
        self.statistic
    }
}

impl ChangeDetector for PageHinkley {
    fn observe(&mut self, value: f64) -> bool {
        let value = self.moments.clip(value);
        self.moments = self.moments.merged(&Moments::from_value(value));
        let deviation = self.moments.deviation();
        let step = if deviation > 0.0 { (value - self.moments.mean()) / deviation } else { 0.0 };
        // The distance from the minimum by itself: the sum would lose digits in a long stream.
        self.statistic = (self.statistic + step.min(LARGEST_STEP) - self.tolerance).max(0.0);
        self.statistic > self.threshold
    }

    fn reset(&mut self) {
        (self.moments, self.statistic) = (Moments::EMPTY, 0.0);
    }
}

impl Validate for PageHinkley {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "Page–Hinkley test";
        Inconsistent::non_negative(self.tolerance, WHAT)?;
        Inconsistent::positive(self.threshold, WHAT)?;
        self.moments.validate()?;
        Inconsistent::non_negative(self.statistic, WHAT)
    }
}
