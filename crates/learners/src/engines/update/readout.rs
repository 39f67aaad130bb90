//! Readouts of least squares: ridge regression predicts `wᵀφ`; the forecaster of Azoury, Warmuth
//! and Vovk reckons with the example it is about to see, at target 0 and weight 1, and predicts
//! `wᵀφ/(1 + φᵀPφ)`. They learn the same.

/// Prediction of a least-squares learner: the value of the fit `z = wᵀφ` over a divisor.
pub trait Readout: Clone + Send + Sync {
    /// True if the divisor is always 1.
    const OF_VALUES: bool;

    /// The divisor, where `s` gives `φᵀPφ`.
    fn divisor(s: impl FnOnce() -> f64) -> f64;
}

/// The value of the fit, `z`.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ridge;

/// The forecaster of Azoury, Warmuth and Vovk: `z/(1 + s)`.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Awv;

impl Readout for Ridge {
    const OF_VALUES: bool = true;

    fn divisor(_: impl FnOnce() -> f64) -> f64 {
        1.0
    }
}

impl Readout for Awv {
    const OF_VALUES: bool = false;

    fn divisor(s: impl FnOnce() -> f64) -> f64 {
        1.0 + s()
    }
}

/// Turns values of the fit into predictions.
#[inline]
pub(super) fn read<F: Readout>(scores: &mut [f64], s: impl FnOnce() -> f64) {
    let divisor = F::divisor(s);
    scores.iter_mut().for_each(|z| *z /= divisor);
}
