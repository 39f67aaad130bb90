//! The Poisson loss: counts with mean `eᶻ`.

use super::PointwiseLoss;

/// `eᶻ − yz`, the negative log-likelihood of a count `y` of mean `eᶻ` less `ln y!`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Poisson;

impl PointwiseLoss for Poisson {
    const TARGETS: &'static str = "numbers of at least 0";

    fn value(self, z: f64, y: f64) -> f64 {
        z.exp() - y * z
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        z.exp() - y
    }

    /// `u = e^{−z}` obeys `du = (1 − yu) da`, so `u = u₀e^{−ya} + (1 − e^{−ya})/y`; in logarithms.
    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        let kept = -z - y * amount;
        let gained = if y > 0.0 { (-(-y * amount).exp_m1() / y).ln() } else { amount.ln() };
        let (large, small) = if kept > gained { (kept, gained) } else { (gained, kept) };
        -(large + (small - large).exp().ln_1p())
    }

    fn takes(self, y: f64) -> bool {
        y.is_finite() && y >= 0.0
    }

    fn prediction(self, z: f64) -> f64 {
        z.exp()
    }
}
